"""Product `interpolation`: how far the middle of three frames is from what flow makes of its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from pvbench_suite.perception.embedded.dense_flow import Field, Image, two_way, warp
from pvbench_suite.perception.embedded.frames import distinct, shrink
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Interpolation
from pvbench_suite.video.types import Clip

#: Working size [px]; most triples of a clip; least change of the outer frames that is motion [levels]; least share
#: moving.
LONGEST, TRIPLES, CHANGE, SHARE = 320, 32, 8.0, 5e-4


def between(a: Image, b: Image, ab: Field, ba: Field, at: float) -> Image:
    """Return the frame (h, w, c) at the share `at` of the time from `a` to `b`, made by the flow of both directions.

    Each flow is carried to the middle along its own motion (fixed point), both frames are fetched there, and where
    the two
    disagree (an edge of a moving body, something covered) the flow whose two fetches agree better weighs more.
    """
    left, right = max(at, 1e-3), max(1.0 - at, 1e-3)
    forth, back = ab.copy(), ba.copy()
    for _ in range(3):
        forth, back = warp(ab, -left * forth), warp(ba, -right * back)
    made, weight = [], []
    for to_a, to_b in ((-left * forth, right * forth), (left * back, -right * back)):
        one, two = warp(a, to_a), warp(b, to_b)
        off = cv2.blur(np.abs(one - two).sum(axis=-1), (3, 3))
        made.append(right * one + left * two)
        weight.append((1.0 / (1.0 + off) ** 2)[..., None])
    return np.asarray((made[0] * weight[0] + made[1] * weight[1]) / (weight[0] + weight[1]), dtype=np.float32)


def triple(before: Image, middle: Image, after: Image, at: float) -> tuple[float, float]:
    """Return the mean error of the interpolated middle frame and the mean change of the outer two, over moving pixels.

    Images are (h, w, 3) YCrCb; errors are of the luma [levels]; NaN where next to nothing moves.
    """
    outer = np.abs(after[..., 0] - before[..., 0])
    moving = cv2.blur(outer, (3, 3)) > CHANGE
    if moving.mean() < SHARE:
        return float("nan"), float("nan")
    steps = [np.asarray(np.rint(i[..., 0]), dtype=np.uint8) for i in (before, after)]
    forth, back, *_ = two_way(before, after, steps)
    made = between(before, after, forth, back, at)
    error = np.abs(made[..., 0] - middle[..., 0])
    return float(error[moving].mean()), float(outer[moving].mean())


@dataclass(frozen=True)
class FlowInterpolation:
    """Interpolates the middle frame of triples of distinct frames by DIS flow at its true time."""

    name: str = "embedded-interpolation@1"
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
            a, b, c = (_image(clip, int(kept[j])) for j in (k - 1, k, k + 1))
            at = float((times[k] - times[k - 1]) / (times[k + 1] - times[k - 1]))
            error[i], outer[i] = triple(a, b, c, at)
        return Interpolation(times[middle], error, outer, clip.hw)


def _image(clip: Clip, index: int) -> Image:
    """Return frame `index` as YCrCb (h, w, 3) on the working grid."""
    return np.asarray(shrink(cv2.cvtColor(clip.frames[index], cv2.COLOR_RGB2YCrCb), LONGEST), dtype=np.float32)
