"""Drawings of the dimensions of motion: R15, R16, R17, R18, R19, R20."""

from __future__ import annotations

import numpy as np

from pvbench_suite.plots.geometric import Evidence, array, frames, marked
from pvbench_suite.plots.svg import COLORS, Axes

#: States of an object with their colors.
_STATES = {0: ("seen", "#009e73"), 1: ("hidden", "#56b4e9"), 2: ("out", "#bbbbbb"), 3: ("unexplained", "#d55e00")}


def permanence(evidence: Evidence) -> list[Axes]:
    """Return R15: the timeline of every object's state."""
    states = np.atleast_2d(np.asarray(evidence["states"], dtype=int))
    count = states.shape[1]
    ticks = [(float(n), f"object {n}") for n in range(count)]
    panel = Axes("states over time", "frame", x_limits=(0.0, float(len(states))), y_limits=(-0.6, count - 0.4))
    panel.y_ticks = ticks
    for code, (word, color) in _STATES.items():
        for n in range(count):
            here = np.concatenate([[False], states[:, n] == code, [False]])
            edges = np.flatnonzero(here[1:] != here[:-1])
            for start, stop in zip(edges[::2], edges[1::2], strict=True):
                panel.block(float(start), float(stop), n - 0.35, n + 0.35, color)
        panel.line([np.nan], [np.nan], color, label=word)
    return [panel]


def trajectory(evidence: Evidence) -> list[Axes]:
    """Return R16: the path across the image with the worst instant, and every proven step."""
    t, path = array(evidence, "t"), array(evidence, "path")
    left = Axes("path (x right, y down)", "x", "y", equal=True, y_down=True)
    left.line(path[:, 0], path[:, 1]).points(path[:, 0], path[:, 1], radius=1.6)
    at, steps = array(evidence, "instants"), array(evidence, "steps")
    when = float(evidence["worst_time"])
    if steps.max(initial=0.0) > 0.0:
        near = np.abs(t - when).argsort()[:2]
        left.points(path[near, 0], path[near, 1], COLORS[1], 5.0, "largest step")
    right = Axes("proven steps", "time [s]", "diameters").points(at, steps, label="step")
    return [left, marked(right, array(evidence, "contacts"), COLORS[2])]


def rotation(evidence: Evidence) -> list[Axes]:
    """Return R20: every step of the orientation, as fitted and as proven."""
    at = array(evidence, "instants")
    panel = Axes(f"steps of the orientation, noise {float(evidence['noise_deg']):.2g} deg", "time [s]", "deg")
    panel.points(at, array(evidence, "raw_angles"), "#bbbbbb", label="fitted")
    panel.points(at, array(evidence, "angles"), label="proven")
    return [marked(panel, array(evidence, "contacts"), COLORS[2])]


def flow(evidence: Evidence) -> list[Axes]:
    """Return R17: the share of the flow that does not return, by region."""
    pairs, regions = np.atleast_2d(array(evidence, "pairs")), list(evidence["regions"])
    panel = Axes("flow that does not return", "pair of frames", "share of the motion", y_limits=(0.0, 1.05))
    for k, (name, series) in enumerate(zip(regions, pairs, strict=True)):
        panel.line(frames(series), series, COLORS[k % len(COLORS)], label=f"region {name}" if k < 4 else "")
    return [panel]


def rigidity(evidence: Evidence) -> list[Axes]:
    """Return R18: strain of the point pairs over time, and its parts."""
    series = array(evidence, "strain")
    left = Axes("strain of point pairs", "frame", "log").line(frames(series), series)
    names = ("shape_only", "scale_only", "worst_point")
    parts = [float(evidence[name]) for name in names]
    right = Axes("parts of it", "", "log", x_ticks=[(float(k), n.replace("_", " ")) for k, n in enumerate(names)])
    return [left, right.bars(np.arange(3), parts, COLORS[2], 0.6)]


def motion(evidence: Evidence) -> list[Axes]:
    """Return R19: disagreement of the two sources, and how many points move."""
    series, movers = array(evidence, "intervals"), array(evidence, "movers")
    left = Axes("two sources, displacements over a second", "interval", "difference over motion")
    right = Axes("points that move", "interval", "share", y_limits=(0.0, 1.05))
    return [left.line(frames(series), series), right.line(frames(movers), movers, COLORS[2])]
