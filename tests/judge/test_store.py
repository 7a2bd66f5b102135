"""Kept judgements: keyed by content, sealed, and read again by the same parser."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pvbench_suite.judge.backend import Exchange
from pvbench_suite.judge.store import Store, key, relative
from pvbench_suite.judge.verdict import parse
from tests.judge.server import verdict

SHA = "ab" * 32
RAW = verdict(4, frames=(1,))
FOUND = Exchange(RAW, parse(RAW, "stop", 16), 2, 1.5, 1000, None, 3.9, 0.4, "served", "run-1")


def saved(folder: Path, found: Exchange = FOUND) -> Path:
    assert Store([folder]).save(SHA, "judge#1", "question", found, 16)
    (path,) = folder.rglob("*.json")
    return path


def load(*folders: Path, judge: str = "judge#1", question: str = "question", sha: str = SHA) -> Any:
    store = Store(folders)
    return store.load(sha, judge, question), store.notes


def test_a_judgement_comes_back_whole(tmp_path: Path) -> None:
    saved(tmp_path)
    assert load(tmp_path) == (FOUND, [])


def test_a_judgement_is_found_in_any_folder_and_written_to_the_first(tmp_path: Path) -> None:
    saved(tmp_path / "second")
    assert load(tmp_path / "first", tmp_path / "second")[0] == FOUND
    Store([tmp_path / "first", tmp_path / "second"]).save(SHA, "judge#2", "question", FOUND, 16)
    assert load(tmp_path / "first", judge="judge#2")[0] == FOUND
    assert load(tmp_path / "second", judge="judge#2")[0] is None


@pytest.mark.parametrize("other", [{"judge": "judge#2"}, {"question": "other"}, {"sha": "cd" * 32}])
def test_another_judge_question_or_video_is_another_judgement(tmp_path: Path, other: dict[str, str]) -> None:
    saved(tmp_path)
    assert load(tmp_path, **other) == (None, [])


def test_the_place_is_made_of_digests_only(tmp_path: Path) -> None:
    path = saved(tmp_path)
    assert path.relative_to(tmp_path) == relative(SHA, key(SHA, "judge#1", "question"))
    assert path.parts[-3:-1] == ("ab", SHA)


def sealed(content: dict[str, Any]) -> str:
    content.pop("digest", None)
    seal = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return json.dumps({**content, "digest": seal})


@pytest.mark.parametrize(
    "change",
    [
        {"raw": RAW.replace("4", "5")},
        {"raw": "5"},
        {"raw": None},
        {"key": "0" * 64},
        {"schema": 2},
        {"product": "masks"},
        {"frames": 1},
        {"tries": "two"},
        {"tokens_in": -1},
        {"expected": 9.0},
        {"seconds": True},
    ],
)
def test_a_file_is_not_believed_even_if_its_seal_is_right(tmp_path: Path, change: dict[str, Any]) -> None:
    """Whoever rewrites file and seal can still give no answer that the parser would refuse."""
    path = saved(tmp_path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | change))
    assert load(tmp_path)[0] is None or change == {"frames": 16}
    path.write_text(sealed(content | change))
    found, notes = load(tmp_path)
    if change == {"raw": RAW.replace("4", "5")}:
        assert found.parsed.score == 5
    else:
        assert found is None
        assert "does not hold" in notes[0]


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b"\xff", b"{" * 100_000, b'{"digest": 1}'])
def test_a_torn_file_is_noted_and_asked_again(tmp_path: Path, raw: bytes) -> None:
    path = saved(tmp_path)
    path.write_bytes(raw)
    found, notes = load(tmp_path)
    assert found is None
    assert len(notes) == 1
    assert Store([tmp_path]).save(SHA, "judge#1", "question", FOUND, 16)
    assert load(tmp_path)[0] == FOUND


def test_two_judgements_of_one_video_are_two_files(tmp_path: Path) -> None:
    saved(tmp_path)
    Store([tmp_path]).save(SHA, "judge#1", "other", replace(FOUND, tries=1), 16)
    assert len(list(tmp_path.rglob("*.json"))) == 2
