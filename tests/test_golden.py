"""The golden vectors beside the checkout, one test per file, and the runner's own behaviour."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden import __main__ as program
from tests.golden.mapping import CALLS, decode
from tests.golden.runner import failure, load
from tests.shared import SHARED, shared

FILES = sorted(p.name for p in (SHARED / "vectors").glob("*.json")) or ["R01.json"]


@pytest.mark.parametrize("name", FILES)
def test_every_golden_vector_of_the_file_passes(name: str) -> None:
    """Each case of the file gives its closed-form value within its tolerance, or its reason."""
    fn, cases = load(shared("vectors", name))
    assert cases
    failures = [text for text in (failure(fn, case) for case in cases) if text]
    assert not failures, "\n".join(failures)


def test_every_vector_function_is_mapped() -> None:
    """No vector file names a function that the mapping does not know."""
    assert {load(shared("vectors", name))[0] for name in FILES} <= set(CALLS)


def test_null_is_nan_and_ragged_lists_stay_lists() -> None:
    """The decoder turns null into NaN, keeps booleans and leaves ragged lists and records as lists."""
    assert str(decode([[1, None], [2, 3]])) == "[[ 1. nan]\n [ 2.  3.]]"
    assert decode([True, False]).dtype == bool
    assert [part.tolist() for part in decode([[1.0], [2.0, 3.0]])] == [[1.0], [2.0, 3.0]]
    assert decode([{"t": [0, 1]}])[0]["t"].tolist() == [0, 1]
    assert decode(None) is None
    assert decode([]).shape == (0,)


def _folder(tmp_path: Path, expect: dict[str, object]) -> Path:
    kwargs = {"Dn": [[1.0, 2.0]] * 8, "cue": [[[0, 1], [0, 0]]] * 8}
    case = {"id": "one", "kwargs": kwargs, "expect": expect, "closed_form": "ordered"}
    (tmp_path / "R01.json").write_text(json.dumps({"dimension": "R01", "fn": "r01_depth_order", "cases": [case]}))
    return tmp_path


def test_the_program_reports_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of passing vectors ends with the count and exit status 0."""
    assert program.main([str(_folder(tmp_path, {"value": 1.0, "tol": 1e-9}))]) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed\n"


@pytest.mark.parametrize("expect", [{"value": 0.5, "tol": 1e-9}, {"reason": "no_cue"}])
def test_the_program_reports_failures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], expect: dict[str, object]
) -> None:
    """A wrong value or a value in place of a reason is printed and gives exit status 1."""
    assert program.main([str(_folder(tmp_path, expect))]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("one: wanted ")
    assert lines[-1] == "0 passed, 1 failed"


def test_a_broken_file_and_an_empty_folder_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is no vector file is a failed case, and a folder without files is no success."""
    assert program.main([str(tmp_path)]) == 1
    (tmp_path / "x.json").write_text("{")
    assert program.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 1 failed"
