"""A calibration is resumed, does not depend on its workers, and writes what its documentation says."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pvbench_suite.calibrate import runs
from pvbench_suite.calibrate.cli import app
from pvbench_suite.calibrate.run import calibrate, jobs
from pvbench_suite.calibrate.runs import Job, key, perform, stored
from pvbench_suite.dimensions import load
from pvbench_suite.errors import UserError

JOB = Job("row", "R01", "mid", 1, True)


def test_a_job_is_made_once_and_made_anew_when_its_key_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with the right key is kept, one that is broken or of another seed is not."""
    path = perform(JOB, tmp_path)
    first = path.read_bytes()
    made = []
    real = runs.outcome
    monkeypatch.setattr(runs, "outcome", lambda *a: made.append(a) or real(*a))
    assert perform(JOB, tmp_path).read_bytes() == first
    assert made == []
    path.write_text("{half of a fi")
    assert perform(JOB, tmp_path).read_bytes() == first
    assert len(made) == sum(JOB.counts()) == 32
    other = Job("row", "R01", "mid", 2, True)
    assert key(other) != key(JOB)
    assert stored(path, key(other)) is None
    assert perform(other, tmp_path).read_bytes() != first


def test_the_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    """One process and two spawned ones write the same bytes."""
    contents = []
    for workers in (1, 2):
        out = tmp_path / str(workers)
        calibrate(out, load(), ["R01"], ["mid"], quick=True, workers=workers)
        contents.append((out / "calibration.json").read_bytes())
    assert contents[0] == contents[1]


def test_the_file_has_what_its_documentation_says(tmp_path: Path) -> None:
    """Rows, worlds, table and plot of a dimension, each complete; every documented field is there and no other."""
    seen: list[tuple[int, int]] = []
    calibrate(tmp_path, load(), ["R24"], ["low", "mid"], quick=True, progress=lambda d, n, _: seen.append((d, n)))
    content = json.loads((tmp_path / "calibration.json").read_text())
    assert seen[-1] == (14, 14)
    assert [r["name"] for r in content["rows"] if r["noise"] == "mid"] == ["R24", "R24_floor"]
    page = (Path(__file__).parents[2] / "docs" / "calibration.md").read_text(encoding="utf-8")
    for entry in (content, *content["rows"], *content["worlds"], *content["rows"][0]["doses"]):
        for field in entry:
            assert f"`{field}`" in page, field
    (row,) = (r for r in content["rows"] if (r["name"], r["noise"]) == ("R24", "mid"))
    assert row["dimension"] == "R24"
    assert [d["dose"] for d in row["doses"]] == [0.0, 0.05, 0.1, 0.2, 0.4, 0.8]
    assert row["doses"][0]["n"] <= 12
    assert {w["kind"] for w in content["worlds"]} == {"lawful", "static"}
    table = (tmp_path / "calibration.md").read_text()
    assert "R24 (penetration [smaller radii])" in table
    assert "R24/static (static)" in table
    ET.fromstring((tmp_path / "plots" / "R24.svg").read_text())


def test_a_wrong_name_is_a_mistake_that_a_person_can_repair(tmp_path: Path) -> None:
    """Unknown dimensions and levels are named with what there is."""
    with pytest.raises(UserError, match="no closed-form world for 'R99'; there are worlds for R01, R02"):
        jobs(["R99"], ["mid"], 0, True)
    with pytest.raises(UserError, match="no noise level 'loud'; choose low, mid, high"):
        jobs([], ["loud"], 0, True)
    with pytest.raises(UserError, match="cannot be read"):
        CliRunner().invoke(
            app, ["physics", "-o", str(tmp_path), "--against", str(tmp_path / "none.md")], catch_exceptions=False
        )


def test_the_command_compares_with_a_table(tmp_path: Path) -> None:
    """A table that asks for the impossible finds the row worse; one that asks for nothing does not."""
    head = "| dimension (violation) | floor low/mid/high | share5 low/mid/high |\n|---|---|---|\n"
    for floor, worse in (("1/2/1", 1), ("1/0.5/1", 0)):
        table = tmp_path / "table.md"
        table.write_text(head + f"| R01 (flipped) | {floor} | 1.00/1.00/1.00 |\n")
        command = ["physics", "-o", str(tmp_path / "out"), "--dimension", "R01", "--noise", "mid", "--quick"]
        result = CliRunner().invoke(app, [*command, "--workers", "1", "--against", str(table)], catch_exceptions=False)
        assert result.exit_code == 0
        assert f"1 rows and levels compared, {worse} numbers are worse" in result.output
        assert f"{worse} numbers are worse" in (tmp_path / "out" / "against.md").read_text()
