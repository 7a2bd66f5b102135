"""Drawings of light, soft bodies and the perceptual dimensions: R08, R11, PTQ-01 to PTQ-06."""

from __future__ import annotations

import numpy as np

from pvbench_suite.plots.geometric import Evidence, array, frames
from pvbench_suite.plots.svg import COLORS, Axes


def light(evidence: Evidence) -> list[Axes]:
    """Return R08: the light's direction over time, and the four angles that may be the value."""
    direction = array(evidence, "light")
    azimuth = np.degrees(np.arctan2(direction[:, 0], -direction[:, 2]))
    elevation = np.degrees(np.arcsin(np.clip(-direction[:, 1], -1.0, 1.0)))
    left = Axes("direction of the light", "frame", "deg")
    left.line(frames(azimuth), azimuth, label="azimuth").line(
        frames(elevation), elevation, COLORS[1], label="elevation"
    )
    right = Axes("angles", "frame", "deg")
    for k, name in enumerate(("trend", "rate", "shadow")):
        series = array(evidence, f"{name}_series")
        if len(series):
            right.line(frames(series), series, COLORS[k], label=name)
    # The step's series is a length of a difference of unit vectors; as an angle it compares with the others.
    jump = np.degrees(2.0 * np.arcsin(np.clip(array(evidence, "step_series") / 2.0, 0.0, 1.0)))
    return [left, right.line(frames(jump), jump, COLORS[3], label="step, as fitted")]


def volume(evidence: Evidence) -> list[Axes]:
    """Return R11: log volume by the two hypotheses of symmetry."""
    along, across = array(evidence, "v_axis"), array(evidence, "v_across")
    panel = Axes("log volume about its median", "frame", "log")
    panel.line(frames(along), along, label="symmetric about the axis")
    return [panel.line(frames(across), across, COLORS[1], label="about the other")]


def antonyms(evidence: Evidence) -> list[Axes]:
    """Return PTQ-01 or PTQ-02: the share of the positive text, by frame and pair of texts."""
    shares = np.atleast_2d(array(evidence, "shares"))
    panel = Axes("share of the positive text", "sampled frame", "share", y_limits=(0.0, 1.05))
    for k in range(shares.shape[1]):
        panel.line(frames(shares), shares[:, k], COLORS[k % len(COLORS)], label=f"pair {k + 1}")
    return [panel]


def flicker(evidence: Evidence) -> list[Axes]:
    """Return PTQ-03: change of brightness where nothing moves."""
    values, signed = array(evidence, "pairs"), array(evidence, "signed")
    left = Axes("change of brightness where nothing moves", "pair of frames", "% of 255")
    left.line(frames(values), values, label="absolute").line(frames(signed), signed, COLORS[1], label="mean, with sign")
    static = array(evidence, "static")
    right = Axes("share of the frame that stands still", "pair of frames", "share", y_limits=(0.0, 1.05))
    return [left, right.line(frames(static), static, COLORS[2])]


def smoothness(evidence: Evidence) -> list[Axes]:
    """Return PTQ-04: error of the interpolated middle frame over the difference of its neighbours."""
    series = array(evidence, "triples")
    panel = Axes("middle frame against its neighbours", "triple of frames", "error over difference")
    return [panel.line(frames(series), series).points(frames(series), series, radius=1.6)]


def similarity(evidence: Evidence) -> list[Axes]:
    """Return PTQ-05 or PTQ-06: cosine to the first views and to the one before."""
    series = array(evidence, "series")
    panel = Axes("similarity to the first views and to the view before", "sample", "cosine")
    return [panel.line(frames(series), series).points(frames(series), series)]
