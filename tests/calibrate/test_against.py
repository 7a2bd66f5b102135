"""Reading an evidence table, and what counts as worse."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pvbench_suite.calibrate.against import compare, markdown, read
from pvbench_suite.calibrate.summary import summarise
from pvbench_suite.calibrate.worlds import ROWS
from pvbench_suite.errors import UserError
from tests.shared import shared

TABLE = """
| dimension (violation) | floor low/mid/high | lawful at 5 | rho low/mid/high | smallest low/mid/high | x | NM l/m/h |
|---|---|---|---|---|---|---|
| R16 (teleport) | 0/0.1/0.2 | >=0.95/1/? | 0.9/0.9/- | 0.1/0.25/- | 0->0 (5) | 0/4/0 |

| world | measured |
|---|---|
| R16 (other) | 0/0/0 |
"""


def entry(**changes: Any) -> dict[str, Any]:
    base = {"name": "R16", "dimension": "R16", "noise": "mid", "runs": 80, "unmeasurable": {}, "floor": 0.1}
    base |= {"lawful_share_at_5": 1.0, "spearman": 0.9, "smallest_dose": 0.25}
    base["doses"] = [{"dose": d} for d in (0.0, 0.1, 0.25, 0.5, 1.0)]
    base["chance"] = {"floor": 0.15, "spearman": 0.1, "lawful_share_at_5": 0.25, "smallest_dose": 1}
    base["interval"] = {
        "floor": [0.05, 0.15], "lawful_share_at_5": [1.0, 1.0], "spearman": [0.85, 0.95], "smallest_dose": [0.1, 0.25],
    }  # fmt: skip
    return {**base, **changes, "interval": {**base["interval"], **changes.get("interval", {})}}


def test_a_table_is_read_by_its_column_names(tmp_path: Path) -> None:
    """Cells hold three levels; a dash is infinite, unknown is left out, a table of worlds is none of this."""
    path = tmp_path / "t.md"
    path.write_text(TABLE)
    found = read(path)
    assert list(found) == ["R16"]
    assert found["R16"]["mid"] == {
        "floor": 0.1, "lawful_share_at_5": 1.0, "spearman": 0.9, "smallest_dose": 0.25, "unmeasurable": 4.0,
    }  # fmt: skip
    assert "lawful_share_at_5" not in found["R16"]["high"]
    assert found["R16"]["low"]["lawful_share_at_5"] == 0.95
    assert found["R16"]["high"]["smallest_dose"] == math.inf
    path.write_text("nothing here")
    with pytest.raises(UserError, match="no table with a column"):
        read(path)


@pytest.mark.parametrize(
    ("changes", "worse"),
    [
        ({}, None),
        ({"floor": 0.3, "interval": {"floor": [0.2, 0.4]}}, "floor"),
        ({"floor": 0.14, "interval": {"floor": [0.09, 0.2]}}, None),
        ({"floor": 0.01, "interval": {"floor": [0.0, 0.02]}}, None),
        ({"interval": {"spearman": [0.7, 0.85]}}, "spearman"),
        ({"interval": {"spearman": [-0.95, -0.91]}}, None),
        ({"interval": {"lawful_share_at_5": [0.7, 0.9]}}, "lawful_share_at_5"),
        ({"smallest_dose": 0.5, "interval": {"smallest_dose": [0.5, 1.0]}}, "smallest_dose"),
        ({"smallest_dose": None, "interval": {"smallest_dose": [None, None]}}, "smallest_dose"),
        ({"smallest_dose": 0.5, "interval": {"smallest_dose": [0.25, 1.0]}}, None),
        ({"unmeasurable": {"too_noisy": 5}}, None),
        ({"unmeasurable": {"too_noisy": 20}}, "unmeasurable"),
    ],
)
def test_a_number_is_worse_when_its_whole_interval_is(
    tmp_path: Path, changes: dict[str, Any], worse: str | None
) -> None:
    """Chance is no finding, a gain is none, and each kind of number has its bad side."""
    path = tmp_path / "t.md"
    path.write_text(TABLE)
    found = compare([entry(**changes)], read(path), frozenset({"R01"}))
    assert [f.what for f in found] == ([worse] if worse else [])
    for finding in found:
        assert "R16 at mid noise" in finding.line()


@pytest.mark.parametrize(
    ("changes", "beyond"),
    [
        ({"floor": 0.24, "interval": {"floor": [0.2, 0.4]}}, False),
        ({"floor": 0.26, "interval": {"floor": [0.2, 0.4]}}, True),
        ({"spearman": 0.82, "interval": {"spearman": [0.7, 0.85]}}, False),
        ({"spearman": -0.7, "interval": {"spearman": [-0.8, -0.6]}}, True),
        ({"lawful_share_at_5": 0.8, "interval": {"lawful_share_at_5": [0.7, 0.9]}}, False),
        ({"lawful_share_at_5": 0.7, "interval": {"lawful_share_at_5": [0.5, 0.9]}}, True),
        ({"smallest_dose": 0.5, "interval": {"smallest_dose": [0.5, 1.0]}}, False),
        ({"smallest_dose": 1.0, "interval": {"smallest_dose": [0.5, 1.0]}}, True),
        ({"smallest_dose": None, "interval": {"smallest_dose": [None, None]}}, True),
        ({"unmeasurable": {"too_noisy": 12}}, False),
        ({"unmeasurable": {"too_noisy": 20}}, True),
    ],
)
def test_the_tables_own_sampling_error_is_counted_apart(tmp_path: Path, changes: dict[str, Any], beyond: bool) -> None:
    """A number may be worse by our interval alone, and within what two equal tables differ by."""
    path = tmp_path / "t.md"
    path.write_text(TABLE)
    (found,) = compare([entry(**changes)], read(path), frozenset({"R01"}))
    assert found.beyond is beyond
    page = markdown([found], 1, path)
    assert f"{int(beyond)} of them beyond chance" in page
    assert "| R16 | mid |" in page


def test_equal_tables_are_beyond_chance_in_one_of_forty_and_worse_by_interval_more_often() -> None:
    """Floors of 30 lawful runs each from one distribution: the second verdict keeps its 2.5 %, the first does not."""
    rng = np.random.default_rng(0)
    worse, beyond, tables = 0, 0, 250
    for k in range(tables):
        theirs, ours = rng.gamma(3.0, 1.0, (2, 30))
        found = summarise((0.0,), [list(ours)], (9.0, 10.0, 11.0, 12.0), "smaller", k)
        row = {"name": "R16", "dimension": "R16", "noise": "mid", **found}
        findings = compare([row], {"R16": {"mid": {"floor": float(np.percentile(theirs, 95))}}}, frozenset())
        worse += len(findings)
        beyond += sum(f.beyond for f in findings)
    assert 0.03 < worse / tables < 0.12
    assert beyond / tables < 0.05


def test_a_lower_floor_is_worse_where_larger_is_better(tmp_path: Path) -> None:
    """The direction of the dimension decides."""
    path = tmp_path / "t.md"
    path.write_text(TABLE)
    low = entry(floor=0.01, interval={"floor": [0.0, 0.02]})
    assert [f.what for f in compare([low], read(path), frozenset({"R16"}))] == ["floor"]


def test_the_evidence_of_the_definitions_has_a_row_for_each_of_ours() -> None:
    """Every row of the bar is calibrated here under its name; what is here and not there is named."""
    reference = read(shared() / "spec" / "physics_evidence.md")
    assert set(reference) - set(ROWS) == set()
    assert set(ROWS) - set(reference) == {"R15_end", "R15_lid", "R20_twist", "R24_floor"}
    assert reference["R24"]["high"]["unmeasurable"] == 32.0
    assert reference["R20_rate"]["mid"]["floor"] == 0.0
