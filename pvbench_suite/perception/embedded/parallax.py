"""Whether an object only seems to move because the camera travels and it stands nearer than the background.

Conventions
-----------
Places are (x, y) [px] of the canvas.  What stands nearer than the background goes against the camera: its place is
``a - k c(t)``, c(t) the place on the canvas of one pixel of the frame and k > 0 the same at all times.  A body that
rolls steadily against a steady pan looks the same, and cannot be told from it.
"""

from __future__ import annotations

import numpy as np

from pvbench_suite.perception.embedded.canvas import Canvas
from pvbench_suite.perception.embedded.egomotion import applied
from pvbench_suite.perception.embedded.tracking import Path

#: Share of the path's variance that the camera's path explains, least k, and least way of the path in diameters.
EXPLAINED, RATIO, WAY = 0.95, 0.05, 0.3


def against_camera(path: Path, canvas: Canvas) -> bool:
    """Return whether `path` is the camera's own path, turned round and scaled."""
    times = [t for t in sorted(path.seen) if path.seen[t].whole]
    if len(times) < 5:
        return False
    places = np.array([path.seen[t].centre for t in times])
    pixel = np.mean(
        [applied(np.linalg.inv(canvas.to_canvas[t]), p) for t, p in zip(times, places, strict=True)], axis=0
    )
    camera = np.array([applied(canvas.to_canvas[t], pixel) for t in times])
    x, c = places - places.mean(axis=0), camera - camera.mean(axis=0)
    if np.ptp(x, axis=0).max() < WAY * path.shape.diameter or not (c**2).sum() > 0:
        return False
    k = -float((x * c).sum() / (c**2).sum())
    left = float(((x + k * c) ** 2).sum() / (x**2).sum())
    return k > RATIO and left <= 1.0 - EXPLAINED
