"""What a codec leaves behind a moving object: a faint smear at rest where the object was.

A skipped block is not drawn again when the object has left it, so a trace of its colour stays until the next key frame.
"""

from __future__ import annotations

import cv2
import numpy as np

from pvbench_suite.perception.embedded.background import Mask, Scene
from pvbench_suite.perception.embedded.tracking import Path

#: A smear differs from the background by fewer thresholds than this, and by less than this share of what made it.
FAINT, SHARE = 2.5, 0.35
#: It lies on what the other object covered before (share of its pixels), and wanders less than this [diameters].
COVERED, WANDERS = 0.8, 0.5


def strength(world: Scene, path: Path) -> float:
    """Return how much `path` typically differs from the background [thresholds]."""
    times = sorted(path.seen)
    size = world.background.shape[:2]
    pick = times[:: max(1, len(times) // 7)]
    return float(np.median([np.median(world.difference(t)[1][path.seen[t].paste(size)]) for t in pick]))


def _trail(world: Scene, path: Path, until: int) -> Mask:
    """Return all that `path` covered before frame `until`, and a little around it."""
    out = np.zeros(world.background.shape[:2], dtype=bool)
    for t, region in path.seen.items():
        if t < until:
            r, c = region.corner
            out[r : r + region.mask.shape[0], c : c + region.mask.shape[1]] |= region.mask
    return cv2.dilate(out.astype(np.uint8), np.ones((7, 7), np.uint8)) > 0


def left_behind(world: Scene, path: Path, others: list[Path]) -> bool:
    """Return whether `path` is a smear that one of `others` left where it was."""
    places = np.array([r.centre for r in path.seen.values()])
    wanders = float(np.linalg.norm(places - np.median(places, axis=0), axis=1).max())
    if wanders > WANDERS * path.shape.diameter:
        return False
    own = strength(world, path)
    if own >= FAINT:
        return False
    born = min(path.seen)
    here = path.seen[born].paste(world.background.shape[:2])
    for other in others:
        if other is not path and min(other.seen) < born and own < SHARE * strength(world, other):
            trail = _trail(world, other, born)
            if np.count_nonzero(here & trail) >= COVERED * np.count_nonzero(here):
                return True
    return False
