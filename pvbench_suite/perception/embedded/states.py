"""Why an object is not seen, from pixels alone: hidden, out of the frame, or unexplained.

Conventions
-----------
States are those of R15: 0 seen, 1 hidden, 2 out of the frame, 3 unexplained, -1 for what is no object.  Without depth,
what hides is known by what it does to the picture of the object.  A static occluder cuts it from the leading side while
its trailing side moves on; another object covers it; the border of the frame cuts it.  A loss in the open, or a fading,
is unexplained; appearing is the same, read backwards.  Lengths are in pixels of the mask grid.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.frames import Floats
from pvbench_suite.perception.embedded.sightings import VELOCITY, Sightings
from pvbench_suite.perception.stretches import runs
from pvbench_suite.perception.types import Bodies, Masks
from pvbench_suite.physics.permanence import HIDDEN, NEVER_FOUND, OUT, SEEN, UNEXPLAINED

States = NDArray[np.int8]

#: How far back a cut may show [s].
CUT_TIME = 0.2
#: The leading side must fall behind by this share of the diameter, the trailing side by at most this.
LEADING, TRAILING = 0.2, 0.3
#: The mask and the moved, cut-off mask of before overlap this well (intersection over union).
TRUNCATED = 0.6
#: A moving occluder covers this share of the predicted disc.
COVERS = 0.5
#: Above this many diameters per frame an occluder may cut no picture at all.
FAST = 1.0
#: Two ends of a gap belong together when they meet within this many diameters.
MEET = 1.5


def object_states(bodies: Bodies, masks: Masks) -> States:
    """Return the state of every object in every frame, (T, N) int8.

    Parameters
    ----------
    bodies : Bodies
        Where each object is seen (`uv`, `radius`, `present`).
    masks : Masks
        The masks of the same objects in the same frames; those below the object gate only hide others.

    Returns
    -------
    (T, N) int8
        0 seen, 1 hidden, 2 out of the frame, 3 unexplained, -1 for what was never found as an object.
    """
    present = np.asarray(bodies.present, dtype=bool)
    states = np.full(present.shape, NEVER_FOUND, dtype=np.int8)
    for n in np.flatnonzero(present.any(axis=0)):
        one = _Object(bodies, masks, int(n))
        states[:, n] = np.where(present[:, n], SEEN, UNEXPLAINED)
        for run in runs(~present[:, n]):
            states[run, n] = one.explained(run.start, run.stop)
    return states


class _Object(Sightings):
    """The sightings of one object, and the causes of its losses."""

    def explained(self, start: int, stop: int) -> States:
        """Return the states of the frames from `start` to `stop`, in which the object is not seen."""
        before, after = start - 1 if start > 0 else None, stop if stop < len(self.times) else None
        causes = [self.cause(t, side) for t, side in ((before, -1), (after, 1)) if t is not None]
        path = self.path(before, after, np.arange(start, stop))
        out = np.full(stop - start, UNEXPLAINED, dtype=np.int8)
        if causes and all(c == OUT for c in causes):
            out[:] = OUT
        elif all(c != UNEXPLAINED for c in causes) or self.one_path(causes, before, after):
            out[:] = HIDDEN
        for k, t in enumerate(range(start, stop)):
            if self.outside(path[k]):
                out[k] = OUT
            elif out[k] == UNEXPLAINED and self.covered(t, path[k], COVERS):
                out[k] = HIDDEN
        return out

    def path(self, before: int | None, after: int | None, frames: NDArray[np.intp]) -> Floats:
        """Return the expected centres (K, 2) in `frames`: linear between sightings, at constant velocity beyond."""
        if before is not None and after is not None:
            at = [self.times[before], self.times[after]]
            ends = np.stack([self.uv[before], self.uv[after]])
            return np.stack([np.interp(self.times[frames], at, ends[:, c]) for c in (0, 1)], axis=-1)
        end, side = (before, -1) if before is not None else (after, 1)
        assert end is not None
        return np.asarray(self.uv[end] + (self.times[frames] - self.times[end])[:, None] * self.velocity(end, side))

    def cause(self, t: int, side: int) -> int:
        """Return what ended the sightings at `t` (side -1) or began them (+1): OUT, HIDDEN or UNEXPLAINED."""
        if self.border[t]:
            return OUT
        if self.cut(t, side):
            return HIDDEN
        beyond = t - side
        place = self.uv[t] - side * self.step * self.velocity(t, side)
        if self.outside(place):
            return OUT
        carriers = [m for m in self.others() if self.larger(beyond, m)]
        return HIDDEN if self.covered(beyond, place, COVERS / 2, carriers) else UNEXPLAINED

    def cut(self, t: int, side: int) -> bool:
        """Return whether the picture was cut from its leading side when the object went (or came, read backwards)."""
        near = self.seen[(side * (self.seen - t) >= 0) & (np.abs(self.times[self.seen] - self.times[t]) <= VELOCITY)]
        whole = near[self.whole[near]]
        v = -side * self.velocity(t, side)
        speed = float(np.linalg.norm(v))
        if len(whole) < 2 or speed * VELOCITY < 0.3 * self.radius:
            return False
        u, anchor = v / speed, int(whole[np.argmin(np.abs(whole - t))])
        lead0, trail0 = self.extent(anchor, u)
        late = [k for k in near if not self.whole[k] and abs(self.times[k] - self.times[t]) <= CUT_TIME]
        for k in late:
            way = speed * abs(self.times[k] - self.times[anchor])
            lead, trail = self.extent(int(k), u)
            behind = lead0 + way - lead >= LEADING * 2 * self.radius
            if (
                behind
                and trail0 + way - trail <= TRAILING * 2 * self.radius
                and self.truncated(anchor, int(k), u, way, lead)
            ):
                return True
        return False

    def truncated(self, anchor: int, k: int, u: Floats, way: float, lead: float) -> bool:
        """Return whether the mask of frame `k` is that of `anchor` moved on by `way` and cut off at `lead`.

        No other object may be at the cut.  A body that fades shrinks on all sides; one that goes behind something keeps
        its width.
        """
        rows, columns = np.nonzero(self.masks.dense(anchor, self.n))
        x, y = np.rint(columns + way * u[0]).astype(int), np.rint(rows + way * u[1]).astype(int)
        keep = (
            (x >= 0)
            & (y >= 0)
            & (x < self.masks.grid[1])
            & (y < self.masks.grid[0])
            & (x * u[0] + y * u[1] <= lead + 1)
        )
        expected = np.zeros(self.masks.grid, dtype=bool)
        expected[y[keep], x[keep]] = True
        here = self.masks.dense(k, self.n)
        around = cv2.dilate(here.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
        if any(self.masks.confidence[k, m] > 0 and (self.masks.dense(k, m) & around).any() for m in self.others()):
            return False
        return bool(np.count_nonzero(here & expected) >= TRUNCATED * np.count_nonzero(here | expected))

    def one_path(self, causes: list[int], before: int | None, after: int | None) -> bool:
        """Return whether the gap lies on one path, and an end is explained or the object too fast to be seen cut."""
        if before is None or after is None or not self.meets(before, after):
            return False
        return HIDDEN in causes or self.fast(before, after)

    def meets(self, before: int, after: int) -> bool:
        """Return whether the sightings on both sides of a gap lie on one path."""
        gap = self.times[after] - self.times[before]
        v1, v2 = self.velocity(before, -1), self.velocity(after, 1)
        miss = self.uv[after] - self.uv[before] - 0.5 * (v1 + v2) * gap
        return float(np.linalg.norm(miss)) <= MEET * 2.0 * self.radius + 0.25 * gap * float(np.linalg.norm(v1 - v2))

    def fast(self, before: int, after: int) -> bool:
        """Return whether the object moves by so much per frame that no picture of it need be cut."""
        v = 0.5 * (self.velocity(before, -1) + self.velocity(after, 1))
        return float(np.linalg.norm(v)) * self.step >= FAST * 2.0 * self.radius
