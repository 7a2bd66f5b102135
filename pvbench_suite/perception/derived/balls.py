"""Balls: which objects are balls, how large, and where their centres are, from outline and visible surface.

Conventions
-----------
Points are in the camera's frame.  A ball of radius r at distance D is seen under the half angle a with sin a = r / D; a
visible point at the angle b from the axis lies at D (cos b - sqrt(sin^2 a - sin^2 b)).  So the outline gives a, and
each visible point gives D: both are exact for a ball, and they disagree for anything else.
"""

from __future__ import annotations

import numpy as np

from pvbench_suite.perception.derived.outline import Outline, half_angle
from pvbench_suite.perception.derived.scene import Floats, Scene

#: A ball's outline shares this much with a disc, and its surface strays by at most this much [radii] (medians).
ROUND, STRAY = 0.88, 0.12
#: An outline this round is a whole ball's.
WHOLE = 0.85
#: Fewest surface points from which a ball of known radius is placed.
POINTS = 12


def distance(points: Floats, axis: Floats, omega: float) -> tuple[float, float]:
    """Return the distance of the ball that shows `points` (k, 3) round `axis`, and their median stray in radii."""
    half = float(half_angle(np.asarray(omega)))
    reach = np.linalg.norm(points, axis=1)
    cosine = points @ axis / reach
    inner = np.sin(half) ** 2 - (1.0 - cosine**2)
    # Near the rim a small error of the angle is a large one of the depth.
    kept = inner > 0.15 * np.sin(half) ** 2
    if kept.sum() < 4:
        return np.nan, np.nan
    share = cosine[kept] - np.sqrt(inner[kept])
    found = float(np.median(reach[kept] / share))
    stray = np.median(np.abs(reach[kept] - found * share))
    return found, float(stray) / (found * float(np.sin(half)))


def place(points: Floats, radius: float) -> Floats:
    """Return the centre (3,) of the ball of `radius` that shows `points` (k, 3); NaN where they are too few.

    Twenty rounds of Gauss-Newton, in which points far off count less.
    """
    if len(points) < POINTS:
        return np.full(3, np.nan)
    middle = points.mean(axis=0)
    centre = middle * (1.0 + 2.0 / 3.0 * radius / np.linalg.norm(middle))
    for _ in range(20):
        way = centre - points
        length = np.linalg.norm(way, axis=1)
        off = length - radius
        scale = 1.4826 * float(np.median(np.abs(off))) + 1e-6 * radius
        root = np.sqrt(np.minimum(1.0, 1.5 * scale / np.maximum(np.abs(off), 1e-12)))
        # The ray is weighted down a little, so that a flat patch does not let the centre slide sideways.
        step, *_ = np.linalg.lstsq(way / length[:, None] * root[:, None], -off * root, rcond=1e-3)
        centre = centre + step
        if np.linalg.norm(step) < 1e-6 * radius:
            break
    return np.asarray(centre)


def balls(scene: Scene, outline: Outline, n: int) -> tuple[Floats, float, np.ndarray] | None:
    """Return the centres (T, 3), the radius, and which frames (T,) show the whole ball; None if `n` is no ball."""
    T = len(scene.times)
    far, stray = np.full(T, np.nan), np.full(T, np.nan)
    clear = outline.seen[:, n] & ~outline.cut[:, n] & ~outline.hidden[:, n]
    for t in np.flatnonzero(clear).tolist():
        far[t], stray[t] = distance(scene.surface(t, n), outline.axis[t, n], float(outline.omega[t, n]))
    known = np.isfinite(far)
    if known.sum() < 4 or np.median(outline.round[known, n]) < ROUND or np.median(stray[known]) > STRAY:
        return None
    sizes = far * np.sin(half_angle(outline.omega[:, n]))
    whole = known & (outline.round[:, n] >= WHOLE)
    radius = float(np.median(sizes[whole])) if whole.any() else float(np.median(sizes[known]))
    # What is smaller than it is, for its distance, shows a part: the floor cuts a ball that sinks.
    whole &= sizes > 0.9 * radius
    centre = outline.axis[:, n] * far[:, None]
    for t in np.flatnonzero(outline.seen[:, n] & ~whole).tolist():
        centre[t] = place(scene.surface(t, n), radius)
    return centre, radius, whole
