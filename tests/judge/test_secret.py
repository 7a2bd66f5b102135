"""The key goes into the header of a request and nowhere else."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

from pvbench_suite.errors import PVBenchError
from pvbench_suite.judge.settings import redacted
from tests.judge.server import Reply, Server, completion, verdict
from tests.judge.world import ask, service

KEY = "sk-test-3f1e9c7d5b"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch, _clean: None) -> None:
    monkeypatch.setenv("PVBENCH_JUDGE_API_KEY", KEY)


def test_the_key_is_sent_in_the_header(server: Server, tmp_path: Path) -> None:
    with service(server, tmp_path) as judge:
        ask(judge)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(server.requests)


def test_without_a_key_a_stand_in_is_sent(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PVBENCH_JUDGE_API_KEY")
    with service(server, tmp_path) as judge:
        ask(judge)
    assert server.headers[0]["authorization"] == "Bearer none"


REPLIES = [
    Reply(completion(verdict(reason=f"my key is {KEY}"))),
    Reply(completion(f"Bearer {KEY}")),
    Reply({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401),
    Reply({"error": {"message": f"bad: {KEY}"}}, 400),
    Reply({"error": {"message": f"bad: {KEY}"}}, 404),
    Reply({"error": {"message": KEY}}, 500, headers={"retry-after-ms": "1"}),
    Reply({"error": KEY}, 307, headers={"location": "http://127.0.0.1:9/v1"}),
    Reply(KEY.encode()),
    Reply(closed=True),
    Reply(completion(verdict()), after=1.0),
]


@pytest.mark.parametrize("reply", REPLIES, ids=range(len(REPLIES)))
def test_the_key_is_in_no_verdict_error_traceback_log_or_file(
    server: Server, tmp_path: Path, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the server does with it, and with every log on and the locals of every frame shown."""
    server.behave = lambda body, n: reply
    caplog.set_level(logging.DEBUG)
    seen: list[Any] = []
    with service(server, tmp_path, retries=1, timeout=0.5) as judge:
        try:
            found = ask(judge)
            seen += [found, found.to_row()]
        except PVBenchError as error:
            seen += [error, getattr(error, "judge", {}), *traceback.format_exception(error)]
            # Below this frame, whose own locals hold what the server was sent.
            below = error.__traceback__.tb_next if error.__traceback__ else None
            locals_too = traceback.TracebackException(type(error), error, below, capture_locals=True)
            seen += list(locals_too.format(chain=True))
        judge.close()
        seen += [judge, judge.settings, *judge.lines()]
        seen += [path.read_text() for path in judge.folder.rglob("*") if path.is_file()]
    seen += [path.read_text() for path in tmp_path.rglob("*.json")]
    seen += [record.getMessage() for record in caplog.records]
    everything = "\n".join(map(repr, seen)) + "\n".join(map(str, seen))
    assert server.count >= 1
    assert KEY not in everything


def test_a_failure_in_a_test_with_locals_shown_does_not_show_the_key(server: Server, tmp_path: Path) -> None:
    """A dimension test that fails because of the judge, under ``pytest --showlocals --tb=long``."""
    server.behave = lambda body, n: Reply({"error": {"message": f"no: {KEY}"}}, 400)
    test = tmp_path / "test_shown.py"
    test.write_text(
        "from pathlib import Path\nfrom tests.judge.world import ask, service\n"
        f"def test_it():\n    with service({server.url!r}, Path({str(tmp_path)!r})) as judge:\n        ask(judge)\n"
    )
    command = [sys.executable, "-m", "pytest", str(test), "-p", "no:cacheprovider", "--showlocals", "--tb=long", "-q"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "refused the request" in ran.stdout
    assert "Authorization" not in ran.stdout + ran.stderr
    assert KEY not in ran.stdout + ran.stderr


def test_redaction_leaves_one_short_plain_line() -> None:
    assert redacted(f"a {KEY}\n\x1b[31mb\u2028c") == "a [key] [31mb c"
    assert len(redacted("x" * 1000)) == 300
