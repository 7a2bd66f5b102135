"""The loader of ``thresholds/``: what is wrong is one line that names file, table and key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pvbench_suite import suite
from pvbench_suite.dimensions import read
from pvbench_suite.errors import ThresholdError, UserError

FOLDER = suite.root() / "thresholds"


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A copy of the suite's tables to break."""
    for path in FOLDER.glob("*.toml"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def broken(folder: Path, name: str, old: str, new: str) -> str:
    """Replace the first `old` of a file, load the folder, and return the error."""
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ThresholdError) as error:
        read(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_an_unknown_key_is_named(tables: Path) -> None:
    """``cutz`` is told with its file and table."""
    assert re.search(
        r"^geometric_space.toml: \[R01\]: cutz: ", broken(tables, "geometric_space.toml", "cuts =", "cutz =")
    )


def test_cuts_must_run_in_the_direction_of_better(tables: Path) -> None:
    """R01 is larger-better, so its cuts fall."""
    message = broken(tables, "geometric_space.toml", 'direction = "larger"', 'direction = "smaller"')
    assert "[R01]" in message
    assert "must rise strictly when smaller is better" in message


def test_a_pair_must_point_back(tables: Path) -> None:
    """A pair is mutual."""
    assert "does not point back" in broken(tables, "mechanical_conservation.toml", 'pair = "R13"', 'pair = "R14"')


def test_a_table_may_stand_once(tables: Path) -> None:
    """An id in two files is an error that names both."""
    message = broken(tables, "mechanical_conservation.toml", "[R21]", "[R20]").splitlines()[0]
    assert "R20" in message


def test_a_missing_anchor_is_an_error(tables: Path) -> None:
    """Every rubric has five anchors."""
    assert "IF-01" in broken(tables, "instruction_following.toml", '\n"5" = ', '\n"6" = ')


def test_broken_toml_is_one_line(tables: Path) -> None:
    """A syntax error names the file."""
    assert broken(tables, "material_fields.toml", "[domain]", "[domain").startswith("material_fields.toml: ")


def test_an_unknown_dimension_names_the_nearest() -> None:
    """A typo gets a suggestion."""
    with pytest.raises(UserError, match=r"no dimension 'R222'; the nearest are R22"):
        read(FOLDER).get("R222")
