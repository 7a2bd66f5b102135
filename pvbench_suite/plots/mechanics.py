"""Drawings of the mechanical dimensions: R21, R22, R23, R24."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pvbench_suite.plots.geometric import Evidence, array, frames
from pvbench_suite.plots.svg import COLORS, Axes


def gravity(evidence: Evidence) -> list[Axes]:
    """Return R21: each flight with its parabola, residuals, and accelerations against the reference."""
    down = array(evidence, "down")
    fall = Axes("flights and fitted parabolas", "time [s]", "height (against gravity)")
    rest = Axes("residuals", "time [s]", "distance from the parabola")
    flights = zip(evidence["t"], evidence["path"], evidence["fitted"], evidence["residuals"], strict=True)
    for k, (t, path, fitted, residuals) in enumerate(flights):
        color = COLORS[k % len(COLORS)]
        fall.points(t, -np.asarray(path, dtype=float) @ down, color, 2.2)
        fall.line(t, -np.asarray(fitted, dtype=float) @ down, color)
        rest.line(t, np.asarray(residuals, dtype=float), color)
    along = array(evidence, "a_along")
    bars = Axes("acceleration along gravity", "flight", "world units / s^2").bars(frames(along), along)
    reference = evidence.get("g")
    if reference is not None and math.isfinite(float(reference)):
        bars.dashed([-0.5, len(along) - 0.5], [float(reference)] * 2, COLORS[1], "reference")
    return [fall, rest, bars]


def momentum(evidence: Evidence) -> list[Axes]:
    """Return R22: momentum changes of both bodies, and what is left over, for each collision."""
    ratio = float(evidence["mu"])
    panels = []
    for k, (dvi, dvj) in enumerate(zip(array(evidence, "dvi"), array(evidence, "dvj"), strict=True)):
        angle = float(array(evidence, "angles_deg")[k])
        panel = Axes(
            f"collision {k + 1}: mass ratio {ratio:.3g}, {angle:.3g} deg apart", "x", "y", equal=True, y_down=True
        )
        panel.arrow(0.0, 0.0, ratio * dvi[0], ratio * dvi[1], COLORS[0], "first body")
        panel.arrow(0.0, 0.0, dvj[0], dvj[1], COLORS[2], "second body")
        left = ratio * dvi + dvj
        panels.append(panel.arrow(0.0, 0.0, left[0], left[1], COLORS[1], "left over"))
    return panels[:6]


def energy(evidence: Evidence) -> list[Axes]:
    """Return R23: the energy levels of each chain, with the pair that gained most."""
    panel = Axes("energy levels, bars of two standard errors", "level", "energy (any unit)")
    worst = (int(evidence["chain"]), int(evidence["first"]), int(evidence["second"]))
    for q, (levels, errors) in enumerate(zip(evidence["levels"], evidence["errors"], strict=True)):
        h, s = _floats(levels), _floats(errors)
        color = COLORS[q % len(COLORS)]
        panel.line(frames(h), h, color, label=f"chain {q + 1}").points(frames(h), h, color, 3.5)
        for k in range(len(h)):
            panel.line([k, k], [h[k] - 2.0 * s[k], h[k] + 2.0 * s[k]], color)
        if q == worst[0]:
            ends = list(worst[1:])
            panel.points(ends, h[ends], COLORS[1], 5.0, "largest gain")
    return [panel]


def _floats(values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(values, dtype=np.float64)


def collision(evidence: Evidence) -> list[Axes]:
    """Return R24: the gap of the two surfaces, smoothed and with its error."""
    raw, smooth, error = array(evidence, "gap"), array(evidence, "smoothed"), array(evidence, "error")
    panel = Axes("gap of the surfaces, with 2 standard errors", "frame", "smaller radii")
    panel.band(frames(smooth), smooth - 2.0 * error, smooth + 2.0 * error)
    panel.points(frames(raw), raw, "#999999", 1.8).line(frames(smooth), smooth)
    panel.dashed([0, len(raw) - 1], [0.0, 0.0], COLORS[1], "touch")
    deepest = int(evidence["deepest"])
    return [panel.points([deepest], [smooth[deepest]], COLORS[1], 4.5)]
