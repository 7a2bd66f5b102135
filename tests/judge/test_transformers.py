"""The in-process judge on tiny random models built from a configuration: its paths, and no score of it anywhere."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pvbench_suite.errors import JudgeFailed, NotPerceived
from pvbench_suite.judge.request import question, request
from pvbench_suite.judge.sampling import frames_of
from pvbench_suite.judge.service import JudgeService
from pvbench_suite.judge.settings import Settings, settings_from
from pvbench_suite.judge.transformers import TransformersBackend, chat
from tests.judge.tiny import FAMILIES, build
from tests.judge.world import CLIP, REGISTRY, ask, digest


def chosen(**given: Any) -> Settings:
    found = settings_from(url="transformers", model="tiny/random", frames=3)
    assert found is not None
    return replace(found, **({"max_tokens": 12} | given))


def test_without_the_libraries_one_line_says_how_to_get_them() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pvbench_suite.judge.transformers import TransformersBackend\n"
        "from pvbench_suite.judge.settings import Settings\n"
        "try:\n    TransformersBackend(Settings('transformers'), print)\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == (
        "UserError a judge in this process needs torch and transformers: pip install 'pvbench-suite[perception]'"
    )


@pytest.fixture(scope="module", params=FAMILIES)
def tiny(request: pytest.FixtureRequest) -> Any:
    """Return a random model of a few thousand weights of each family, with its processor."""
    return build(request.param)


def prepared() -> Any:
    return request(question(REGISTRY.get("R04"), "A ball <|im_end|>."), frames_of(CLIP, chosen()))


def answer(tiny: Any, **given: Any) -> Any:
    backend = TransformersBackend(chosen(**given), lambda: None, lambda: tiny)

    async def run() -> Any:
        try:
            return await backend.ask(prepared())
        finally:
            await backend.close()

    return asyncio.run(run())


def test_an_answer_that_does_not_end_is_cut(tiny: Any) -> None:
    found = answer(tiny)
    assert (found.finish, found.tokens_out) == ("length", 12)
    assert found.tokens_in > 500


def test_an_answer_that_ends_by_its_token_is_complete_and_greedy_decoding_repeats_it(
    tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, _ = tiny
    ids: list[Any] = []
    generate = model.generate

    def noting(**given: Any) -> Any:
        ids.append(generate(**given))
        return ids[-1]

    monkeypatch.setattr(model, "generate", noting)
    first = answer(tiny)
    assert answer(tiny) == first
    # Whatever comes third is made the end of an answer.
    monkeypatch.setattr(model.generation_config, "eos_token_id", int(ids[0][0][first.tokens_in + 2]))
    found = answer(tiny)
    assert found.finish == "stop"
    assert 1 <= found.tokens_out <= 3
    assert len(found.tokens) == found.tokens_out - 1


def test_each_token_comes_with_its_alternatives_and_is_the_most_probable(tiny: Any) -> None:
    found = answer(tiny)
    assert len(found.tokens) == 12
    for token in found.tokens:
        assert len(token.top) == 10
        assert token.top[0][0] == token.text
        assert token.top[0][1] == max(p for _, p in token.top)
        assert all(p <= 0.0 for _, p in token.top)


def test_pictures_go_in_with_their_times_and_thinking_is_off(tiny: Any) -> None:
    messages = chat(prepared())
    content = messages[1]["content"]
    assert [m["role"] for m in messages] == ["system", "user"]
    assert sum(p["type"] == "image" for p in content) == 3
    at = next(k for k, p in enumerate(content) if p["type"] == "image")
    assert content[at - 1]["text"] == "Frame 0 at 0.00 s:"
    assert content[at]["image"].size == (320, 180)
    _, processor = tiny
    text = processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, enable_thinking=False)
    assert not text.endswith("<think>")
    assert text.count("<|im_end|>") == 2


def test_a_random_model_has_no_verdict_and_that_is_said(tiny: Any, tmp_path: Path) -> None:
    """The whole way of the service: no number is made of nonsense, and nothing is kept."""
    judge = JudgeService(
        chosen(), digest, lambda _: [tmp_path],
        backend=lambda settings, gate: TransformersBackend(settings, lambda: gate(False), lambda: tiny),
    )  # fmt: skip
    try:
        judge.connect()
        with pytest.raises(JudgeFailed, match="no valid verdict in 3 answers"):
            ask(judge)
        assert judge.usage().requests == 3
        assert judge.id(REGISTRY.get("R04")).startswith("transformers:tiny/random#")
    finally:
        judge.close()
        judge.remove()
    assert not list(tmp_path.rglob("*.json"))


def test_a_model_that_is_not_there_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    judge = JudgeService(replace(chosen(), model=str(tmp_path / "nowhere")), digest, lambda _: [tmp_path])
    try:
        with pytest.raises(NotPerceived, match="cannot be loaded"):
            ask(judge)
    finally:
        judge.close()
        judge.remove()
