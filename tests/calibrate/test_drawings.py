"""Drawings of measurements and of dose-response are valid, complete and safe."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from pvbench_suite.calibrate.figures import dose_response
from pvbench_suite.calibrate.noise import LEVELS
from pvbench_suite.calibrate.summary import summarise
from pvbench_suite.calibrate.worlds import ROWS
from pvbench_suite.calibrate.worlds.base import Draw
from pvbench_suite.dimensions import load
from pvbench_suite.measurement import Measurement
from pvbench_suite.plots.evidence import DRAWINGS, draw
from pvbench_suite.plots.raster import colored, data_uri
from pvbench_suite.plots.svg import Axes, figure, nice_ticks

SVG = "{http://www.w3.org/2000/svg}"


def test_every_numeric_dimension_has_a_drawing() -> None:
    """The registry's numbers and companions, no more and no less."""
    registry = load()
    wanted = {d.id for d in registry.dimensions if d.numeric}
    wanted |= {d.companion.id for d in registry.dimensions if d.companion is not None}
    assert set(DRAWINGS) == wanted


@pytest.mark.parametrize("name", {r.dimension: r.name for r in reversed(ROWS.values())}.values())
def test_the_evidence_of_each_kernel_can_be_drawn(name: str) -> None:
    """A violating run gives a document without NaN, with at least one panel that has marks."""
    row = ROWS[name]
    measurement = row.world(Draw(row.doses[3], LEVELS["mid"], np.random.default_rng(2))).measure()
    text = draw(row.dimension, measurement, "units", 3)
    root = ET.fromstring(text)
    assert "nan" not in text.split("base64,")[0]
    drawn = {e.tag.removeprefix(SVG) for group in root.findall(f"{SVG}g") for e in group}
    assert drawn & {"path", "circle", "polygon", "rect", "image"}
    assert text == draw(row.dimension, measurement, "units", 3)


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("PTQ-01", {"shares": np.random.default_rng(0).random((5, 3))}),
        ("PTQ-03", {"pairs": [1.0, None, 2.0], "signed": [1.0, None, -2.0], "static": [1.0, 0.1, 1.0]}),
        ("PTQ-04", {"triples": [0.1, float("nan"), 0.3]}),
        ("PTQ-06", {"series": [0.9, 0.8]}),
    ],
)
def test_the_evidence_of_the_perceptual_kernels_can_be_drawn(name: str, evidence: dict[str, object]) -> None:
    """Missing numbers break the line and do not appear."""
    text = draw(name, Measurement(0.5, 3, None, evidence))
    ET.fromstring(text)
    assert "nan" not in text


def test_words_are_escaped() -> None:
    """Markup in a title, a label or a legend is text."""
    hostile = "<script>alert('x')</script>&\""
    panel = Axes(hostile, hostile, hostile).line([0, 1], [0, 1], label=hostile).text(0.5, 0.5, hostile)
    text = figure([panel], hostile)
    ET.fromstring(text)
    assert "<script" not in text


def test_a_line_breaks_where_a_value_is_missing() -> None:
    """Two runs of points make two strokes."""
    text = figure([Axes("t").line([0, 1, 2, 3, 4], [0, 1, np.nan, 1, 0])])
    path = ET.fromstring(text).find(f".//{SVG}path")
    assert path is not None
    assert path.get("d", "").count("M") == 2


def test_panels_without_data_and_constant_data_are_drawn() -> None:
    """No division by zero, whatever the range."""
    for y in ([], [0.0, 0.0], [5.0, 5.0], [np.nan, np.nan]):
        ET.fromstring(figure([Axes("t").line(np.arange(len(y)), y)]))


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.0, 7.5), (1e-6, 3e-6), (0.0, 4321.0)])
def test_ticks_are_round_and_few(low: float, high: float) -> None:
    """Three to seven of them, within the range."""
    ticks = nice_ticks(low, high)
    assert 2 <= len(ticks) <= 7
    assert low - 1e-12 <= ticks[0] <= ticks[-1] <= high + 1e-12


def test_a_map_is_a_png_with_grey_where_it_is_missing() -> None:
    """White at the low end, dark red at the high one."""
    grid = np.array([[0.0, 1.0, np.nan]])
    assert colored(grid, 0.0, 1.0).tolist() == [[[255, 255, 255], [103, 0, 13], [190, 190, 190]]]
    assert data_uri(grid, 0.0, 1.0).startswith("data:image/png;base64,iVBOR")


def test_dose_response_draws_a_panel_for_each_violation() -> None:
    """One line per level, one panel per row, floors dashed."""
    runs = [[0.1, 0.2, 0.3], [1.0, 1.5, 2.5], [3.0, "too_noisy", 5.0]]
    cuts = (0.5, 1.0, 2.0, 4.0)
    rows = [
        {"name": n, "violation": "v", "noise": noise, **summarise((0.0, 1.0, 2.0), runs, cuts, "smaller", 0)}
        for n in ("a", "b")
        for noise in ("low", "mid")
    ]
    text = dose_response("R00", rows, cuts, "smaller")
    root = ET.fromstring(text)
    assert len(root.findall(f".//{SVG}path")) == 8
    assert text.count("mid noise") == 2
    assert [c.tag for c in root].count(f"{SVG}clipPath") == 2
