"""Which paths are bodies, and how sure that is.

Conventions
-----------
The confidence of an object is a product of shares in [0, 1]: how steady its area and its look are, how solid its shape,
how long it is seen, and how much of all that moves in the clip the accepted objects explain together.  An object below
0.10 (the object gate of the benchmark) stays in the record because it may hide others, and is never judged itself.
"""

from __future__ import annotations

import itertools

import cv2
import numpy as np

from pvbench_suite.perception.embedded.background import Scene
from pvbench_suite.perception.embedded.blobs import Region, shape_match, solidity, unlike
from pvbench_suite.perception.embedded.frames import Floats
from pvbench_suite.perception.embedded.stitching import summary
from pvbench_suite.perception.embedded.tracking import Path

#: The object gate of the benchmark, and the confidence of what is recorded but not judged.
GATE, UNSURE = 0.10, 0.05
#: A path needs this many frames and this long [s] to be recorded at all.
FRAMES, SECONDS = 5, 0.2
#: An object moves when it travels this share of its diameter, and this many pixels, within this time [s].
MOVES, PIXELS, TRAVEL = 0.5, 2.0, 0.5
#: What rests, or may hide something, must have this share of the picture.
LARGE = 1e-3
#: Explained share of what moves at which the clip is not understood at all, and fully.
EXPLAINED = (0.35, 0.65)
#: Pieces of paths per second at which the clip is not understood at all, and fully: hands, leaves and water break up.
BIRTHS = (12.0, 7.0)


def _ramp(x: float, low: float, high: float) -> float:
    """Return 0 at `low`, 1 at `high`, linear between (either may be the larger)."""
    return float(np.clip((x - low) / (high - low), 0.0, 1.0))


def quality(path: Path, pace: float) -> float:
    """Return how much `path` looks like one solid body, in [0, 1]."""
    times = sorted(path.seen)
    whole: list[Region] = [path.seen[t] for t in times if path.seen[t].whole] or [path.seen[t] for t in times]
    areas = np.array([r.area for r in whole], dtype=float)
    change = float(np.median(np.abs(np.diff(np.log(areas))))) if len(areas) > 1 else 1.0
    pick = whole[:: max(1, len(whole) // 25)]
    look, _ = summary(path)
    strange = float(np.median([unlike(r.look, look) for r in pick]))
    solid = float(np.median([solidity(r) for r in pick]))
    parts = len(whole) / len(times)
    shape = float(np.median([shape_match(a, b) for a, b in itertools.pairwise(pick)])) if len(pick) > 1 else 0.0
    return (
        _ramp(shape, 0.62, 0.76)
        * _ramp(change, 0.35, 0.1)
        * _ramp(strange, 0.5, 0.3)
        * _ramp(solid, 0.6, 0.8)
        * _ramp(len(times) * pace, 0.0, 0.4)
        * _ramp(parts, 0.1, 0.4)
    )


def moves(path: Path, pace: float) -> bool:
    """Return whether `path` travels: for half a second it goes somewhere at a good part of its diameter per second.

    The typical step counts, not the sum of the steps: a patch that breaks and merges jumps, a body travels.
    """
    times = np.array(sorted(path.seen))
    places = np.array([path.seen[t].centre for t in times])
    steps = np.diff(places, axis=0) / np.diff(times)[:, None]
    span = min(max(3, round(TRAVEL / pace)), len(steps))
    if span < 3:
        return False
    windows = np.lib.stride_tricks.sliding_window_view(steps, span, axis=0)
    way = np.linalg.norm(np.median(windows, axis=-1), axis=-1).max() * span
    _, area = summary(path)
    return bool(way >= max(PIXELS, MOVES * 2.0 * np.sqrt(area / np.pi)))


def steady(path: Path, pace: float, pixels: int) -> bool:
    """Return whether `path` is a large body at rest that was there for a while: same place, same shape."""
    areas = np.array([r.area for r in path.seen.values()], dtype=float)
    spread = float(np.median(np.abs(areas - np.median(areas))) / np.median(areas))
    large = np.median(areas) >= LARGE * pixels
    return bool(large and len(areas) * pace >= 0.5 and spread < 0.08 and solidity(path.shape) > 0.85)


def soft_shadow(world: Scene, path: Path) -> bool:
    """Return whether `path` is a dim patch without an edge: the background shows through, only darker."""
    times = sorted(path.seen)
    votes = []
    for t in times[:: max(1, len(times) // 7)]:
        region = path.seen[t]
        mask = region.paste(world.background.shape[:2])
        dim, _ = world.difference(t)
        ratio = 1.0 + dim / np.maximum(world.background[..., 0], 1.0)
        colour = world.stack[t][mask].astype(np.float32)[:, 1:]
        still = (world.background[mask][:, 1:] - 128.0) * np.clip(ratio[mask], 0, 1)[:, None] + 128.0
        tint = np.sqrt(np.sum(((colour - still) / world.threshold[mask][:, 1:]) ** 2, axis=-1))
        depth = -dim[mask]
        dimmed = float(np.mean((depth > 0) & (ratio[mask] > 0.5) & (tint < 1.2)))
        rim = mask & ~(cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0)
        steep = cv2.magnitude(cv2.Sobel(dim, cv2.CV_32F, 1, 0), cv2.Sobel(dim, cv2.CV_32F, 0, 1)) / 8.0
        votes.append(dimmed > 0.6 and float(steep[rim].mean()) < 0.35 * max(float(depth.mean()), 1.0))
    return float(np.mean(votes)) > 0.5


def judged(world: Scene, paths: list[Path], found: list[list[Region]], pace: float) -> list[tuple[Path, float]]:
    """Return the paths worth recording with their confidence, the surest first decided, in order of appearance."""
    least = max(FRAMES, round(SECONDS / pace))
    long = [p for p in paths if len(p.seen) >= least]
    pixels = world.background.shape[0] * world.background.shape[1]
    moving = np.array([moves(p, pace) for p in long], dtype=bool)
    body = [m or steady(p, pace, pixels) for p, m in zip(long, moving, strict=True)]
    sure = np.array([quality(p, pace) if b else 0.0 for p, b in zip(long, body, strict=True)])
    shade = np.array([soft_shadow(world, p) for p in long], dtype=bool)
    mass = np.array([float(sum(r.area for r in p.seen.values())) for p in long])
    bodies = (sure >= GATE) & ~shade
    # a lone dim patch may be a dark body; beside bodies that make more of the motion it is their shadow
    sure[shade & (mass < mass[bodies].sum())] = 0.0
    total = sum(r.area for regions in found for r in regions)
    known = _ramp(float(mass[(sure >= GATE) & moving].sum()) / max(total, 1), *EXPLAINED)
    known *= _ramp(len(paths) / max(pace * len(found), 1.0), *BIRTHS)
    out = [(p, float(s * known)) for p, s in zip(long, sure, strict=True)]
    return [(p, s if s >= GATE else UNSURE) for p, s in out if s >= GATE or summary(p)[1] >= LARGE * pixels]


def confidences(paths: list[tuple[Path, float]], frames: int) -> Floats:
    """Return the confidence (T, N) per frame: the object's where it is seen, 0 where it is not."""
    out = np.zeros((frames, len(paths)))
    for n, (path, sure) in enumerate(paths):
        out[sorted(path.seen), n] = sure
    return out
