"""Drawings of the geometric dimensions: R01, R02, R03, R05, R06c, R07c.

Conventions
-----------
Each function takes the evidence of a `Measurement` and returns panels; series without timestamps are drawn over the
number of the frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.plots.svg import COLORS, Axes

Evidence = Mapping[str, Any]


def array(evidence: Evidence, name: str) -> NDArray[np.float64]:
    """Return an array of the evidence as floats, missing numbers as NaN; empty where there is none."""
    value = evidence.get(name)
    return np.asarray([] if value is None else value, dtype=np.float64)


def frames(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the number of each entry of a series."""
    return np.arange(len(values), dtype=np.float64)


def marked(panel: Axes, times: NDArray[np.float64], color: str = COLORS[1]) -> Axes:
    """Draw a dashed line at each of the times, as high as the panel's data."""
    for when in times:
        low, high = panel.limits()[2:]
        panel.dashed([when, when], [low, high], color)
    return panel


def depth_order(evidence: Evidence) -> list[Axes]:
    """Return R01: accuracy of the order of each pair, and of each object."""
    pairs, accuracy = array(evidence, "pairs"), array(evidence, "pair_accuracy")
    ticks = [(float(k), f"{int(i)}-{int(j)}") for k, (i, j) in enumerate(pairs)]
    left = Axes("depth order right, by pair", "pair", "share", x_ticks=ticks, y_limits=(0.0, 1.05))
    left.bars(frames(accuracy), accuracy)
    objects = array(evidence, "object_accuracy")
    right = Axes("mean over the pairs of an object (the least is the value)", "object", "share", y_limits=(0.0, 1.05))
    return [left, right.bars(frames(objects), objects, COLORS[2])]


def surface(evidence: Evidence) -> list[Axes]:
    """Return R02: angle of each frame, and the map of the worst frame."""
    series, worst = array(evidence, "frames"), int(evidence["worst_frame"])
    left = Axes("normals against depth", "frame", "mean angle [deg]")
    left.line(frames(series), series).points(frames(series), series).points([worst], [series[worst]], COLORS[1], 4.0)
    grid = array(evidence, "angle_map")
    right = Axes(
        f"frame {worst}: white 0, dark red 45 deg or more, grey not used", "x [px]", "y [px]", equal=True, y_down=True
    )
    right.x_limits, right.y_limits = (0.0, grid.shape[1]), (0.0, grid.shape[0])
    return [left, right.image(grid, 0.0, 45.0)]


def shape(evidence: Evidence) -> list[Axes]:
    """Return R03: distance to the object's own shape, nearest and matched points."""
    near, same = array(evidence, "chamfer"), array(evidence, "matched")
    panel = Axes("distance to the reference shape", "frame", "share of the object's size")
    panel.line(frames(near), near, label="nearest points (value)")
    panel.line(frames(same), same, COLORS[1], label="same points")
    return [marked(panel, np.array([float(evidence["reference"])]), COLORS[2])]


def multi_view(evidence: Evidence) -> list[Axes]:
    """Return R05: reprojection error over time, and the camera's path."""
    errors, centres = array(evidence, "errors"), array(evidence, "camera_centres")
    left = Axes("reprojection error, 80th percentile of the points", "frame", "share of the diagonal")
    left.line(frames(errors), errors, label="error")
    left.dashed([0, len(errors) - 1], [float(evidence["allowance"])] * 2, COLORS[1], "allowance for noise")
    share = float(evidence["parallax"])
    right = Axes(f"camera from above, parallax {share:.1%} of the diagonal", "x", "z (away)", equal=True)
    return [left, right.line(centres[:, 0], centres[:, 2]).points(centres[:1, 0], centres[:1, 2], COLORS[1], 4.0)]


def scale(evidence: Evidence) -> list[Axes]:
    """Return R06c: log size over time."""
    t, size = array(evidence, "t"), array(evidence, "log_size")
    panel = Axes(f"size with depth taken out, slope {float(evidence['slope']):.3g} 1/s", "time [s]", "log size")
    return [panel.line(t, size).dashed(t[[0, -1]], [0.0, 0.0])]


def pose(evidence: Evidence) -> list[Axes]:
    """Return R07c: proven steps of position and of orientation."""
    panels = []
    for what, unit, times, values in (
        ("position", "diameters", "position_instants", "position_steps"),
        ("orientation", "deg", "rotation_instants", "rotation_angles"),
    ):
        t, v = array(evidence, times), array(evidence, values)
        panel = Axes(f"proven steps of the {what}", "time [s]", unit)
        panels.append(panel.points(t, v) if len(t) else panel.text(0.3, 0.5, "not measurable"))
    return panels
