"""Which paths are bodies, and how sure that is.

Conventions
-----------
The confidence of an object is a product of shares in [0, 1]: how steady its area and its look are, how solid its shape,
how long it is seen, and how much of all that moves in the clip the accepted objects explain together.  An object below
0.10 (the object gate of the benchmark) stays in the record because it may hide others, and is never judged itself.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import cv2
import numpy as np

from pvbench_suite.perception.embedded.background import Mask, Scene
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
#: A pattern shows through a shadow when the ratio to it spreads by less than this and is so many times more even than
#: the pattern; the tint stays within this [thresholds].
EVEN, THROUGH, TINT = 0.04, 2.5, 0.6
#: Explained share of what moves at which the clip is not understood at all, and fully.
EXPLAINED = (0.35, 0.65)
#: Pieces of paths per second at which the clip is not understood at all, and fully: hands, leaves and water break up.
BIRTHS = (9.0, 6.5)
#: Regions per frame at which it is not understood at all, and fully.
CROWD = (8.0, 5.5)
#: So many pieces make something that turns in its place; a path leaves a spot by this share of its width: what makes
#: the spot by travelling alone does so after four diameters.
PIECES, LEAVES = 3, 0.85


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


def bordered(world: Scene, path: Path) -> bool:
    """Return whether `path` meets the border of the frame in most of its sightings."""
    h, w = world.background.shape[:2]
    times = sorted(path.seen)
    met = []
    for t in times[:: max(1, len(times) // 15)]:
        r, c = path.seen[t].corner
        bh, bw = path.seen[t].mask.shape
        there = r <= 1 or c <= 1 or r + bh >= h - 1 or c + bw >= w - 1
        if world.shown is not None and not there:
            wide = cv2.dilate(path.seen[t].paste((h, w)).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
            there = bool((wide & ~world.shown[t]).any())
        met.append(there)
    return float(np.mean(met)) > 0.5


def shadow(world: Scene, path: Path) -> bool:
    """Return whether `path` is a cast shadow: the background shows through, only darker.

    Either its pattern is seen to, the ratio to it being far more even than itself (the ground that a shadow has left is
    brighter, where the background holds the shadow), or the patch is dimmed and has no edge.  A flat dark body before a
    flat background of its tint is neither.
    """
    times = sorted(path.seen)
    pick = times[:: max(1, len(times) // 7)]
    looks = [_Dimming.of(world, t, path.seen[t].paste(world.background.shape[:2])) for t in pick]
    ratio, still = np.log(np.concatenate([k.ratio for k in looks])), np.log(np.concatenate([k.still for k in looks]))
    through = _wide(ratio) < EVEN and _wide(still) > THROUGH * _wide(ratio)
    tint = float(np.median([k.tint for k in looks]))
    if through and tint < TINT:
        return True
    return float(np.mean([k.soft for k in looks])) > 0.5


def _wide(x: Floats) -> float:
    """Return the spread of `x` (n,): that of a normal distribution with the same tenth and ninth decile."""
    low, high = np.quantile(x, [0.1, 0.9])
    return float(high - low) / 2.563


@dataclass(frozen=True)
class _Dimming:
    """How one sighting compares with the background.

    `ratio` of luma and luma of the `still` background (n,) away from the outline, median change of `tint` [thresholds],
    and whether the patch is dimmed and without an edge (`soft`).
    """

    ratio: Floats
    still: Floats
    tint: float
    soft: bool

    @classmethod
    def of(cls, world: Scene, t: int, mask: Mask) -> _Dimming:
        """Return the dimming of the pixels `mask` (h, w) of frame `t`."""
        dim, _ = world.difference(t)
        still = np.maximum(world.background[..., 0], 1.0)
        ratio = np.maximum(1.0 + dim / still, 1e-3)
        inner = cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
        colour = world.stack[t][mask].astype(np.float32)[:, 1:]
        plain = (world.background[mask][:, 1:] - 128.0) * np.clip(ratio[mask], 0, 4)[:, None] + 128.0
        tint = np.sqrt(np.sum(((colour - plain) / world.threshold[mask][:, 1:]) ** 2, axis=-1))
        dimmed = float(np.mean((dim[mask] < 0) & (ratio[mask] > 0.5) & (tint < 1.2)))
        steep = cv2.magnitude(cv2.Sobel(dim, cv2.CV_32F, 1, 0), cv2.Sobel(dim, cv2.CV_32F, 0, 1)) / 8.0
        soft = dimmed > 0.6 and float(steep[mask & ~inner].mean()) < 0.35 * max(float(-dim[mask].mean()), 1.0)
        core = inner if np.count_nonzero(inner) >= 8 else mask
        return cls(ratio[core].astype(float), still[core].astype(float), float(np.median(tint)), bool(soft))


def coherent(found: list[list[Region]], pieces: int, pace: float) -> float:
    """Return how little a scene falls to pieces, in [0, 1]: by paths begun per second, and by regions per frame."""
    births = _ramp(pieces / max(pace * len(found), 1.0), *BIRTHS)
    return births * _ramp(float(np.mean([len(r) for r in found])), *CROWD)


def in_place(world: Scene, paths: list[Path], found: list[list[Region]]) -> bool:
    """Return whether `paths` are pieces of something that stays in its place and changes its outline there.

    A thing that turns shows and hides its sides: pieces begin and end in the midst of it, and none of them leaves the
    spot in which something moves.  `found` are the regions of each frame.
    """
    last = len(found) - 1
    broken = [p for p in paths if (min(p.seen) > 0 or max(p.seen) < last) and not bordered(world, p)]
    if len(broken) < PIECES:
        return False
    size = (world.background.shape[0], world.background.shape[1])
    spot = np.zeros(size, dtype=bool)
    for region in itertools.chain.from_iterable(found):
        spot |= region.paste(size)
    width = 2.0 * float(np.sqrt(np.count_nonzero(spot) / np.pi))
    places = [np.array([r.centre for r in p.seen.values()]) for p in paths]
    ways = [np.linalg.norm(at - np.median(at, axis=0), axis=1).max() for at in places]
    return bool(max(ways) < LEAVES * width)


def judged(
    world: Scene, paths: list[Path], found: list[list[Region]], pieces: int, pace: float
) -> list[tuple[Path, float]]:
    """Return the paths worth recording with their confidence, in order of appearance.

    `found` are the regions of each frame and `pieces` the number of paths before they were joined: a scene that falls
    to pieces is not understood, and then none of it is sure.
    """
    least = max(FRAMES, round(SECONDS / pace))
    long = [p for p in paths if len(p.seen) >= least]
    pixels = world.background.shape[0] * world.background.shape[1]
    moving = np.array([moves(p, pace) for p in long], dtype=bool)
    body = [m or steady(p, pace, pixels) for p, m in zip(long, moving, strict=True)]
    solid = np.array([quality(p, pace) for p in long])
    sure = np.where(np.array(body, dtype=bool), solid, 0.0)
    shade = np.array([shadow(world, p) for p in long], dtype=bool)
    mass = np.array([float(sum(r.area for r in p.seen.values())) for p in long])
    bodies = (sure >= GATE) & ~shade
    # a lone dim patch may be a dark body; beside bodies that make more of the motion it is their shadow, and no shadow
    # hides or pushes anything
    cast = shade & (mass < mass[bodies].sum())
    sure[cast] = 0.0
    # what the border cuts (somebody who comes in) grows in its place, and is understood all the same
    cut = np.array([s >= GATE and bordered(world, p) for p, s in zip(long, solid, strict=True)], dtype=bool)
    known = _ramp(float(mass[((sure >= GATE) & moving) | cut].sum()) / max(float(mass.sum()), 1.0), *EXPLAINED)
    known *= coherent(found, pieces, pace)
    if in_place(world, [p for p, s in zip(long, sure, strict=True) if s >= GATE], found):
        known = 0.0
    out = [(p, float(s * known)) for p, s, dark in zip(long, sure, cast, strict=True) if not dark]
    return [(p, s if s >= GATE else UNSURE) for p, s in out if s >= GATE or summary(p)[1] >= LARGE * pixels]


def confidences(paths: list[tuple[Path, float]], frames: int) -> Floats:
    """Return the confidence (T, N) per frame: the object's where it is seen, 0 where it is not."""
    out = np.zeros((frames, len(paths)))
    for n, (path, sure) in enumerate(paths):
        out[sorted(path.seen), n] = sure
    return out
