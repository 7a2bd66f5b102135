"""A server per test, and no key or proxy of whoever runs the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.judge.server import Server, serving


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PVBENCH_JUDGE_API_KEY", "OPENAI_API_KEY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as state:
        yield state
