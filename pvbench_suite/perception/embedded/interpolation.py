"""Product `interpolation`: how far the middle of three frames is from what flow makes of its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from pvbench_suite.perception.embedded.dense_flow import Field, Image, Mask, two_way, warp
from pvbench_suite.perception.embedded.flow import LONGEST, picture
from pvbench_suite.perception.embedded.frames import distinct
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Interpolation
from pvbench_suite.video.types import Clip

#: Most triples of a clip; least change [levels] and least flow [px] between the outer frames that is motion; least
#: share of the frame that moves.  Below one pixel the flow's error and the codec's noise are a fifth of the motion.
TRIPLES, CHANGE, MOVES, SHARE = 32, 8.0, 1.0, 5e-4
#: Flow explains a pixel when the outer frames differ along it by less than this share of what they differ in place,
#: and a triple when it explains this share of the change.
EXPLAINED, ENOUGH = 0.33, 0.25

Way = tuple[Field, Field]


def ways(ab: Field, ba: Field, at: float) -> tuple[Way, Way]:
    """Return, by each direction's flow, the ways (h, w, 2) [px] from the pixels of the middle frame to both others.

    The middle is at the share `at` of the time; each flow is carried there along its own motion (fixed point).
    """
    left, right = max(at, 1e-3), max(1.0 - at, 1e-3)
    forth, back = ab.copy(), ba.copy()
    for _ in range(3):
        forth, back = warp(ab, -left * forth), warp(ba, -right * back)
    return (-left * forth, right * forth), (left * back, -right * back)


def between(a: Image, b: Image, both: tuple[Way, Way], at: float) -> tuple[Image, Image]:
    """Return the frame (h, w, c) at the share `at` of the time from `a` to `b`, and how far these differ along `both`.

    Both frames are fetched along each way, and where they disagree (an edge of a moving body, something covered) the
    way whose two fetches agree better weighs more.  The difference (h, w) is of the luma, on the better way [levels].
    """
    made, weight, apart = [], [], []
    for to_a, to_b in both:
        one, two = warp(a, to_a), warp(b, to_b)
        off = np.abs(one - two)
        made.append((1.0 - at) * one + at * two)
        weight.append((1.0 / (1.0 + cv2.blur(off.sum(axis=-1), (3, 3))) ** 2)[..., None])
        apart.append(cv2.blur(off[..., 0], (5, 5)))
    mean = (made[0] * weight[0] + made[1] * weight[1]) / (weight[0] + weight[1])
    return np.asarray(mean, dtype=np.float32), np.asarray(np.minimum(*apart), dtype=np.float32)


def triple(before: Image, middle: Image, after: Image, at: float) -> tuple[float, float]:
    """Return the mean error of the interpolated middle frame and the mean change of the outer two, over moving pixels.

    Images are (h, w, 3) YCrCb; values are of the luma [levels].  Only pixels whose motion the flow explains are
    compared, and what is explained is judged by the outer frames alone: the middle one has no say in whether it is
    charged.  Both are NaN where next to nothing changes, or only by motion too slow to tell; the error alone where flow
    explains too little of what does (liquids, a light that flickers).
    """
    outer = np.abs(after[..., 0] - before[..., 0])
    changed = cv2.blur(outer, (3, 3)) > CHANGE
    if changed.mean() < SHARE:
        return float("nan"), float("nan")
    steps = [np.asarray(np.rint(i[..., 0]), dtype=np.uint8) for i in (before, after)]
    forth, back, *_ = two_way(before, after, steps)
    both = ways(forth, back, at)
    made, apart = between(before, after, both, at)
    explained: Mask = apart < EXPLAINED * np.maximum(cv2.blur(outer, (5, 5)), 0.5 * CHANGE)
    moving: Mask = changed & (np.maximum(*(np.hypot(*np.moveaxis(b - a, -1, 0)) for a, b in both)) > MOVES)
    if moving.mean() < SHARE:
        unseen = (changed & ~explained).mean() >= SHARE
        return float("nan"), float(outer[changed].mean()) if unseen else float("nan")
    known = moving & explained
    if known.mean() < SHARE or outer[known].sum() < ENOUGH * outer[moving].sum():
        return float("nan"), float(outer[moving].mean())
    return float(np.abs(made[..., 0] - middle[..., 0])[known].mean()), float(outer[known].mean())


@dataclass(frozen=True)
class FlowInterpolation:
    """Interpolates the middle frame of triples of distinct frames by DIS flow at its true time."""

    name: str = "embedded-interpolation@2"
    product: str = "interpolation"
    needs: tuple[str, ...] = ()
    parameters: ClassVar[Mapping[str, Parameter]] = {"longest": LONGEST, "triples": TRIPLES}

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Interpolation:
        """Return the residual of every triple (of `TRIPLES` spread evenly, in a long clip)."""
        cv2.setNumThreads(1)
        kept = distinct(clip)
        times = np.asarray(clip.times[kept], dtype=float)
        middle = np.arange(1, max(len(kept) - 1, 1))
        if len(middle) > TRIPLES:
            middle = np.unique(np.linspace(1, len(kept) - 2, TRIPLES).round().astype(np.intp))
        error, outer = np.full(len(middle), np.nan), np.full(len(middle), np.nan)
        for i, k in enumerate(middle):
            a, b, c = (picture(clip, int(kept[j])) for j in (k - 1, k, k + 1))
            at = float((times[k] - times[k - 1]) / (times[k + 1] - times[k - 1]))
            error[i], outer[i] = triple(a, b, c, at)
        return Interpolation(times[middle], error, outer, clip.hw)
