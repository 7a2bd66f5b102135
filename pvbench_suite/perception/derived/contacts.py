"""Product `contacts`: impacts, free flight, what is driven, gravity's direction and the surfaces that are touched.

Flight and drive come from what is beside a body, never from how well a parabola fits: a body flies while it is away
from every plane that reaches below or beside it, from every other body, from whatever else is next to it in the picture
at its depth, and does not hang.  Where its place is not known it does not fly.  It is driven on a slope, and while it
stays with another body that moves; a driver that is not seen is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.ndimage import median_filter

from pvbench_suite.perception.derived import gaps, hanging, impacts, surroundings
from pvbench_suite.perception.derived.gaps import Bodily
from pvbench_suite.perception.derived.scene import Bools, Floats, scene
from pvbench_suite.perception.derived.surroundings import Plane, Surroundings
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.stretches import runs
from pvbench_suite.perception.types import Contacts
from pvbench_suite.video.types import Clip

#: A contact that lasts this long [s] supports or drives; one shorter than `BRIEF` [s] at an impact ends no flight.
LASTING, BRIEF = 0.3, 0.15
#: Cosine of the slope from which it drives (10 deg).
SLOPE = 0.985
#: A body moves when it covers this many radii while it is with another.
MOVES = 0.5

Event = tuple[float, int, int]


@dataclass(frozen=True)
class GapContacts:
    """Contacts from gaps and kinks of the bodies, and what is beside them."""

    name: str = "derived-contacts@1"
    product: str = "contacts"
    needs: tuple[str, ...] = ("masks", "depth", "cameras", "bodies")
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "touch": gaps.TOUCH, "depth": gaps.DEPTH, "beside": gaps.BESIDE, "sure": gaps.SURE, "side": impacts.SIDE,
        "sigmas": impacts.SIGMAS, "speed": impacts.SPEED, "approach": impacts.APPROACH, "better": impacts.BETTER,
        "lasting": LASTING, "brief": BRIEF, "slope": SLOPE, "moves": MOVES, "stray": hanging.STRAY,
        "swing": hanging.SWING, "near": hanging.NEAR, "seen": hanging.SEEN, "behind": hanging.DEPTH,
        "planes": surroundings.PLANES, "thick": surroundings.THICK, "share": surroundings.SHARE,
        "along": surroundings.ALONG, "cloud": surroundings.CLOUD, "frames": surroundings.FRAMES,
        "trials": surroundings.TRIALS, "upright": surroundings.UPRIGHT,
    }  # fmt: skip

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Contacts:
        """Return the contacts of the bodies."""
        seen = scene(records["masks"], records["depth"], records["cameras"])
        bodily, around = Bodily(seen, records["bodies"]), surroundings.surroundings(seen)
        return _State(bodily, around).record()


class _State:
    """The contact state of one clip as it is worked out."""

    def __init__(self, bodily: Bodily, around: Surroundings) -> None:
        self.bodily, self.around = bodily, around
        self.times = bodily.seen.times
        T, N = bodily.centre.shape[:2]
        self.events: list[Event] = []
        self.near, self.driven = np.zeros((T, N), dtype=bool), np.zeros((T, N), dtype=bool)
        self.pivot = np.stack([hanging.pivot(bodily, n, around) for n in range(N)]) if N else np.zeros((0, 3))
        self.touched: list[Plane] = [p for p in around.planes if self._plane(p)]
        for i, j in combinations(range(N), 2):
            self._pair(i, j)

    def record(self) -> Contacts:
        """Return the record."""
        bodily, N = self.bodily, self.near.shape[1]
        fly = np.zeros_like(self.near)
        hangs = np.asarray(np.isfinite(self.pivot).all(axis=1))
        for n in range(N):
            if hangs[n]:
                continue
            beside = median_filter(bodily.beside(n, self.around).astype(np.uint8), self._frames(0.2)) > 0
            mine = [when for when, i, j in self.events if n in (i, j)]
            fly[:, n] = bodily.known(n) & ~beside & ~self._settled(self.near[:, n], mine)
        events = sorted(self.events)
        planes = [p.equation for p in self.touched]
        return Contacts(
            self.times,
            np.array([when for when, _, _ in events], dtype=float),
            np.array([i for _, i, _ in events], dtype=np.int64),
            np.array([j for _, _, j in events], dtype=np.int64),
            fly,
            self.driven,
            bodily.bodies.names,
            down=self.around.down,
            planes=np.stack(planes) if planes else np.zeros((0, 4)),
            pivot=self.pivot,
            down_source=self.around.source,
        )

    def _frames(self, seconds: float) -> int:
        """Return the odd number of frames nearest to that time, at least 1."""
        dt = float(np.median(np.diff(self.times))) if len(self.times) > 1 else 1.0
        return 2 * int(seconds / dt / 2.0) + 1

    def _plane(self, plane: Plane) -> bool:
        """Take in what a plane does to every body; return whether it is a surface that bodies touch and stay above."""
        touched, crossed = False, False
        for n in range(self.near.shape[1]):
            gap, tolerance = self.bodily.to_plane(n, plane)
            # What is wholly behind a surface is past its edge, like a cup behind the front of its table.
            behind = np.isfinite(gap) & (gap < -2.0 * self.bodily.radius[n] - tolerance)
            gap = np.where(behind, np.nan, gap)
            closed = np.isfinite(gap) & (gap <= tolerance)
            self.near[:, n] |= closed
            touched |= bool(closed.any())
            hits = impacts.impacts(self.times, gap, tolerance, float(self.bodily.radius[n]), self.bodily.blur(n))
            self.events += [(hit.when, n, -1) for hit in hits]
            if plane.equation[:3] @ -self.around.down < SLOPE:
                level = plane.equation[:3] @ -self.around.down > 0.3
                self.driven[:, n] |= _lasting(_filled(closed, self._frames(0.1)), self._frames(LASTING)) & level
            # Beyond its edge a table bounds nothing: what is seen below its height there speaks against it.
            beyond = np.isnan(gap) & (plane.above(self.bodily.centre[:, n]) < -self.bodily.radius[n])
            crossed |= bool(beyond.any())
        return touched and not crossed

    def _pair(self, i: int, j: int) -> None:
        """Take in what two bodies do to each other."""
        gap, tolerance = self.bodily.between(i, j)
        closed = np.isfinite(gap) & (gap <= tolerance)
        # Side by side in the picture, two bodies fly only where they are surely apart in depth.
        beside = self.bodily.adjoin(i, j)
        sure = self.bodily.between(i, j, gaps.SURE * gaps.DEPTH)[0] > tolerance if beside.any() else ~beside
        near = closed | (beside & ~sure)
        self.near[:, i] |= near
        self.near[:, j] |= near
        for run in runs(_filled(_touching(gap, tolerance), self._frames(0.1))):
            for hit in self._hits(i, j, run, gap, tolerance):
                # The windows of two runs may see the same impact.
                if not any((i, j) == pair[1:] and abs(hit.when - pair[0]) < 0.1 for pair in self.events):
                    self.events.append((hit.when, i, j))
        stays = _lasting(_filled(closed, self._frames(0.1)), self._frames(LASTING))
        self.near[:, i] |= stays
        self.near[:, j] |= stays
        for run in runs(stays):
            both = [self._covers(n, run) for n in (i, j)]
            if all(both):
                self.driven[run, i] = self.driven[run, j] = True

    def _hits(self, i: int, j: int, run: slice, gap: Floats, tolerance: float) -> list[impacts.Impact]:
        """Return the impacts of two bodies in and about a run of frames in which they are in touch.

        They are kinks of the way along the direction in which the two came together, across the ray: along one
        direction a body that passes through another goes on at its speed, while their distance turns.
        """
        first, reach = run.start, self._frames(2.0 * impacts.SIDE)
        apart = self.bodily.centre[:, i] - self.bodily.centre[:, j]
        before = apart[max(0, first - self._frames(0.2)) : first + 1]
        before = before[np.isfinite(before).all(axis=1)]
        if not len(before) or not np.isfinite(apart[first]).all():
            return []
        way, line = before.mean(axis=0), self.bodily.line[first, j]
        across = way - (way @ line) * line
        way = across if np.linalg.norm(across) > 0.3 * np.linalg.norm(way) else way
        series = apart @ (way / np.linalg.norm(way))
        # About the touch the way and the gap change alike.
        limit = np.full(len(gap), series[first] - gap[first] + tolerance)
        series[: max(0, first - reach)] = np.nan
        series[run.stop + reach :] = np.nan
        size, blur = float(self.bodily.radius[[i, j]].min()), max(self.bodily.blur(i), self.bodily.blur(j))
        return impacts.impacts(self.times, series, limit, size, blur)

    def _covers(self, n: int, run: slice) -> bool:
        """Return whether body `n` moves by more than half a radius in a run of frames."""
        x = self.bodily.centre[run, n]
        x = x[np.isfinite(x).all(axis=1)]
        if len(x) < 3:
            return False
        way = x[-3:].mean(axis=0) - x[:3].mean(axis=0)
        line = self.bodily.line[run, n]
        line = line[np.isfinite(line).all(axis=1)].mean(axis=0)
        across = way - (way @ line) * line
        return bool(np.linalg.norm(across) > MOVES * self.bodily.radius[n])

    def _settled(self, near: Bools, when: list[float]) -> Bools:
        """Return the frames (T,) of contact but for the brief ones at an impact, in which a body still flies."""
        out = near.copy()
        for run in runs(near):
            brief = run.stop - run.start <= self._frames(BRIEF)
            inside = [w for w in when if self.times[run.start] - 0.05 <= w <= self.times[run.stop - 1] + 0.05]
            # At the clip's ends it is not seen how long a contact lasts.
            if brief and inside and run.start > 0 and run.stop < len(near):
                out[run] = False
        return out


def _touching(gap: Floats, tolerance: float) -> Bools:
    """Return the frames (T,) in which two bodies are in touch, or may have been between that frame and the next."""
    known = np.where(np.isfinite(gap), gap, np.nan)
    step = np.abs(np.diff(known, prepend=np.nan, append=np.nan))
    fastest = np.nan_to_num(np.fmax(step[:-1], step[1:]))
    with np.errstate(invalid="ignore"):
        return np.asarray(known <= tolerance + 0.6 * fastest)


def _filled(x: Bools, frames: int) -> Bools:
    """Return `x` with the gaps of at most `frames` frames between true ones filled: a pixel ends nothing."""
    out = x.copy()
    for run in runs(~x):
        if run.start > 0 and run.stop < len(x) and run.stop - run.start <= frames:
            out[run] = True
    return out


def _lasting(x: Bools, frames: int) -> Bools:
    """Return the frames of the runs of at least `frames` true frames."""
    out = np.zeros_like(x)
    for run in runs(x):
        out[run] = run.stop - run.start >= frames
    return out
