"""The page of the numbers says what the tables say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pvbench_suite.calibrate.worlds import ROWS
from pvbench_suite.dimensions import load

PAGE = (Path(__file__).parents[2] / "docs" / "physics.md").read_text(encoding="utf-8")


def sections() -> dict[str, str]:
    parts = re.split(r"^## (\S+) ", PAGE, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def numbers() -> dict[str, tuple[float, ...]]:
    found = {}
    for d in load().dimensions:
        if d.cuts is not None:
            found[d.id] = d.cuts
        if d.companion is not None:
            found[d.companion.id] = d.companion.cuts
    return found


@pytest.mark.parametrize("identifier", numbers())
def test_every_number_has_a_section_with_its_cuts_unit_limits_and_assumptions(identifier: str) -> None:
    """A cut that moves must move in the page too."""
    text = sections()[identifier]
    cuts = re.search(r"Cuts (\S+) / (\S+) / (\S+) / (\S+)\.\n", text)
    assert cuts is not None
    assert tuple(map(float, cuts.groups())) == pytest.approx(numbers()[identifier])
    for word in ("- Unit:", "- Gives:", "- Cannot see:", "- Assumes:"):
        assert word in text


@pytest.mark.parametrize("name", ROWS)
def test_every_row_of_the_calibration_stands_in_the_page(name: str) -> None:
    """The measured dose-response is shown where the dimension is explained."""
    assert f"| {name}: {ROWS[name].violation} |" in sections()[ROWS[name].dimension]
