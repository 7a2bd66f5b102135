"""Follow regions from frame to frame: who is who, through touching, crossing and short losses.

Conventions
-----------
A `Path` is one object: a dictionary frame index -> `Region`.  Its place in the next frame is predicted with constant
velocity.  Where several predictions claim one region, its pixels are shared by look and by predicted shape; an object
that gets little is not seen there, and its prediction goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from pvbench_suite.perception.embedded.background import Mask
from pvbench_suite.perception.embedded.blobs import Region, likelihood, region_of, shape_match, union, unlike
from pvbench_suite.perception.embedded.frames import Bytes, Floats

#: A region further from a prediction than this many diameters (plus the last step) is another object.
REACH = 1.6
#: Most expensive match that is still the same object, in the units of `_cost`.
COST = 1.9
#: An object with less than this share of its area is not seen; with less than `WHOLE` of it, seen in part.
SEEN, WHOLE = 0.2, 0.8
#: A smaller region is the whole object further away when the scaled shapes overlap this well.
SAME_SHAPE = 0.86
#: A path without a sighting for this long is closed [s]; `stitching.py` may join it to a later one.
PATIENCE = 0.3


@dataclass(eq=False)
class Path:
    """One object under construction: its sightings, its last whole shape, and how it moves [px per frame]."""

    seen: dict[int, Region]
    shape: Region
    centre: Floats
    velocity: Floats
    last: int
    areas: list[int] = field(default_factory=list)

    def predicted(self, t: int) -> Floats:
        """Return the centre (x, y) expected in frame `t`."""
        return np.asarray(self.centre + self.velocity * (t - self.last))

    def shift(self, t: int) -> tuple[int, int]:
        """Return by how many rows and columns the last shape must move to its prediction in frame `t`."""
        d = self.predicted(t) - self.shape.centre
        return round(float(d[1])), round(float(d[0]))

    def add(self, t: int, region: Region, centre: Floats | None = None) -> None:
        """Record that the object is seen as `region` in frame `t`, its true centre being `centre` if that is known."""
        place = region.centre if centre is None else centre
        step = (place - self.centre) / max(t - self.last, 1)
        fresh = len(self.seen) < 2
        self.velocity = step if fresh else 0.5 * self.velocity + 0.5 * step
        self.centre, self.last = place, t
        self.seen[t] = region
        if centre is None or region.whole:
            self.areas.append(region.area)
        if region.whole:
            self.shape = region


def born(t: int, region: Region) -> Path:
    """Return a new path that begins with `region` in frame `t`."""
    return Path({t: region}, region, region.centre, np.zeros(2), t, [region.area])


def _cost(path: Path, t: int, region: Region) -> float:
    """Return how badly `region` continues `path`; infinite when it is out of reach."""
    d = float(np.linalg.norm(region.centre - path.predicted(t)))
    young = len(path.seen) < 2
    reach = (REACH + 1.5 * young) * path.shape.diameter + 0.6 * float(np.linalg.norm(path.velocity)) * (t - path.last)
    if d > reach:
        return float(np.inf)
    size = abs(float(np.log(region.area / max(path.shape.area, 1))))
    return d / max(reach, 1.0) + 2.0 * unlike(region.look, path.shape.look) + 0.5 * min(size, 2.0)


def match(paths: list[Path], t: int, found: list[Region]) -> dict[int, int]:
    """Return the best one-to-one assignment path -> region of frame `t`."""
    if not paths or not found:
        return {}
    cost = np.array([[_cost(p, t, r) for r in found] for p in paths])
    rows, columns = linear_sum_assignment(np.where(np.isfinite(cost), cost, 1e3))
    return {int(i): int(j) for i, j in zip(rows, columns, strict=True) if cost[i, j] <= COST}


def _placed(path: Path, t: int, target: Mask) -> Mask:
    """Return the last shape of `path` moved to where it covers `target` (h, w) best, near its prediction."""
    rows, columns = path.shift(t)
    span = 2 + round(0.3 * float(np.abs(path.velocity).max()))
    best, out = -1.0, path.shape.paste(target.shape, (rows, columns))
    for dr in range(-span, span + 1):
        for dc in range(-span, span + 1):
            here = path.shape.paste(target.shape, (rows + dr, columns + dc))
            score = float(np.count_nonzero(here & target)) - 0.05 * float(np.hypot(dr, dc))
            if score > best:
                best, out = score, here
    return out


def share(paths: list[Path], t: int, blob: Mask, image: Bytes) -> list[tuple[Region | None, Floats]]:
    """Return the part of `blob` (h, w) that each of `paths` makes in frame `t` (None: hidden), and its centre."""
    rows, columns = np.nonzero(blob)
    margin = int(max(p.shape.diameter for p in paths)) + 4
    r0, c0 = max(rows.min() - margin, 0), max(columns.min() - margin, 0)
    box = (slice(r0, rows.max() + margin), slice(c0, columns.max() + margin))
    pixels = image[blob]
    uncovered = blob.copy()
    scores, centres = np.empty((len(paths), len(rows))), []
    for i, path in enumerate(paths):
        place = _placed(path, t, uncovered if uncovered.any() else blob)
        uncovered &= ~place
        if place.any():
            y, x = np.nonzero(place)
            centres.append(np.array([x.mean(), y.mean()]))
            inside = cv2.distanceTransform(place[box].astype(np.uint8), cv2.DIST_L2, 3)
            outside = cv2.distanceTransform((~place[box]).astype(np.uint8), cv2.DIST_L2, 3)
            depth = (inside - outside)[rows - r0, columns - c0]
        else:
            centres.append(path.predicted(t))
            depth = np.full(len(rows), -1e3)
        scores[i] = likelihood(path.shape.look, pixels) + np.clip(depth, -8.0, 1.0) * 1.5
    owner = scores.argmax(axis=0)
    out: list[tuple[Region | None, Floats]] = []
    for i, path in enumerate(paths):
        mine = np.zeros(blob.shape, dtype=bool)
        mine[rows[owner == i], columns[owner == i]] = True
        part = mine.sum() / max(path.shape.area, 1)
        region = judged(path, region_of(mine, image)) if part >= SEEN and mine.any() else None
        out.append((region, region.centre if region is not None and region.whole else centres[i]))
    return out


def _claims(path: Path, t: int, labels: NDArray[np.int32], count: int) -> Floats:
    """Return how much of the predicted shape of `path` lies on each of the `count` regions of frame `t`, (count,)."""
    under = labels[path.shape.paste(labels.shape, path.shift(t))].astype(int)
    return np.bincount(under, minlength=count + 1)[1 : count + 1] / max(path.shape.area, 1)


def advance(paths: list[Path], t: int, found: list[Region], image: Bytes) -> list[Path]:
    """Extend `paths` by the regions `found` in frame `t`; return the paths that begin there."""
    size = (image.shape[0], image.shape[1])
    labels = np.zeros(size, dtype=np.int32)
    for j, region in enumerate(found):
        labels[region.paste(size)] = j + 1
    matched = match(paths, t, found)
    groups: dict[int, list[int]] = {j: [i] for i, j in matched.items()}
    for i, path in enumerate(paths):
        if i not in matched and found:
            claim = _claims(path, t, labels, len(found))
            if claim.max() >= 0.3:
                groups.setdefault(int(claim.argmax()), []).append(i)
    for j, members in sorted(groups.items()):
        group = sorted(members, key=lambda i: -len(paths[i].seen))
        if len(group) == 1:
            paths[group[0]].add(t, judged(paths[group[0]], found[j]))
            continue
        parts = share([paths[i] for i in group], t, labels == j + 1, image)
        for i, (part, centre) in zip(group, parts, strict=True):
            if part is not None:
                paths[i].add(t, part, centre)
    return _rest(paths, t, [r for j, r in enumerate(found) if j not in groups], image)


def judged(path: Path, region: Region) -> Region:
    """Return `region` marked as a part when it is much smaller than the object was and not its shape at a new scale."""
    usual = float(np.median(path.areas[-15:])) if path.areas else float(region.area)
    if region.area >= WHOLE * usual or (region.area >= SEEN * usual and shape_match(path.shape, region) >= SAME_SHAPE):
        return region
    return replace(region, whole=False)


def _rest(paths: list[Path], t: int, left: list[Region], image: Bytes) -> list[Path]:
    """Give the regions `left` to the object that broke into them, or begin new paths; return the new ones."""
    fresh = []
    for region in left:
        parent = None
        for path in paths:
            now = path.seen.get(t)
            if now is None or now.area + region.area > 1.25 * path.shape.area or path.last != t:
                continue
            reach = 0.5 * (path.shape.diameter + region.diameter)
            if np.linalg.norm(region.centre - path.centre) < reach and unlike(region.look, path.shape.look) < 0.6:
                parent = path
        if parent is not None:
            parent.add(t, union(parent.seen[t], region, image))
        else:
            fresh.append(born(t, region))
    return fresh


def follow(found: list[list[Region]], stack: Bytes, pace: float) -> list[Path]:
    """Return all paths through the regions `found` of each frame of `stack` (T, h, w, 3), `pace` [s] apart."""
    live: list[Path] = []
    closed: list[Path] = []
    patience = max(2, round(PATIENCE / pace))
    for t, regions in enumerate(found):
        fresh = advance(live, t, regions, stack[t])
        closed += [p for p in live if t - p.last > patience]
        live = [p for p in live if t - p.last <= patience] + fresh
    return sorted(closed + live, key=lambda p: (min(p.seen), p.seen[min(p.seen)].corner))
