"""Dose-response as a drawing: one panel per violation, one line per level of noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pvbench_suite.plots.svg import COLORS, SCORES, Axes, figure
from pvbench_suite.scoring import Direction

_NAN = float("nan")


def _values(entries: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    return [_NAN if e[name] is None else float(e[name]) for e in entries]


def dose_response(
    dimension: str, rows: Sequence[Mapping[str, Any]], cuts: Sequence[float], direction: Direction
) -> str:
    """Return the drawing (SVG) of a dimension's rows of ``calibration.json``.

    Lines are medians with their 5th to 95th percentiles, dashed lines the lawful floors, and the ground is colored by
    score, 5 to 1.
    """
    panels = []
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row for row in rows if row["name"] == name]
        panels.append(_panel(mine, cuts, direction))
    return figure(panels, f"{dimension}: value against dose, by noise of perception", columns=2)


def _panel(rows: Sequence[Mapping[str, Any]], cuts: Sequence[float], direction: Direction) -> Axes:
    """Return the panel of one violation; doses stand at equal steps, since they grow by factors."""
    doses = rows[0]["doses"]
    steps = np.arange(len(doses))
    worst = [v for row in rows for v in _values(row["doses"], "p95") if math.isfinite(v)]
    top = max([*worst, cuts[3] if direction == "smaller" else 1.0]) * 1.05
    panel = Axes(
        f"{rows[0]['name']}: {rows[0]['violation']}",
        "dose",
        "value",
        x_ticks=[(float(k), f"{d['dose']:g}") for k, d in enumerate(doses)],
        x_limits=(-0.3, len(doses) - 0.7),
        y_limits=(0.0, top),
    )
    edges = [0.0, *cuts, top] if direction == "smaller" else [top, *cuts, 0.0]
    for k, color in enumerate(SCORES):
        bottom, above = sorted((min(edges[k], top), min(edges[k + 1], top)))
        if above > bottom:
            panel.block(-0.3, len(doses) - 0.7, bottom, above, color)
    for row, color in zip(rows, COLORS, strict=False):
        median, low, high = (_values(row["doses"], n) for n in ("value", "p05", "p95"))
        panel.band(steps, low, high, color).line(steps, median, color, label=f"{row['noise']} noise")
        panel.points(steps, median, color)
        if row["floor"] is not None:
            panel.dashed([-0.3, len(doses) - 0.7], [row["floor"]] * 2, color)
    return panel
