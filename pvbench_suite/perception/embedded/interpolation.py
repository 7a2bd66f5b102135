"""Product `interpolation`: how far the middle of three frames is from what flow makes of its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from pvbench_suite.perception.embedded.dense_flow import Field, flow_between, warp
from pvbench_suite.perception.embedded.frames import Bytes, distinct, luma, shrink
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Interpolation
from pvbench_suite.video.types import Clip

#: Working size [px]; most triples of a clip; least change of the outer frames that is motion [levels]; least share moving.
LONGEST, TRIPLES, CHANGE, SHARE = 480, 150, 8.0, 2e-4


def between(a: Bytes, b: Bytes, ab: Field, ba: Field, at: float) -> Field:
    """Return the frame (h, w) at the share `at` of the time from luma `a` to `b`, by flow from both sides.

    Each flow is carried to the middle by its own motion (two rounds of fixed point), both frames are drawn there, and where
    they disagree the one whose flow is consistent with its return wins.
    """
    h, w = a.shape
    to_a, to_b = -at * ab, (1.0 - at) * ab
    back_a, back_b = at * ba, -(1.0 - at) * ba
    for _ in range(2):
        to_b = (1.0 - at) * warp(ab, -at / max(1.0 - at, 1e-3) * to_b)
        back_a = at * warp(ba, -(1.0 - at) / max(at, 1e-3) * back_a)
    to_a, back_b = -at / max(1.0 - at, 1e-3) * to_b, -(1.0 - at) / max(at, 1e-3) * back_a
    forth = (warp(a, to_a), warp(b, to_b))
    return_ = (warp(a, back_a), warp(b, back_b))
    made = []
    for one, two in (forth, return_):
        made.append(((1.0 - at) * one + at * two, cv2.blur(np.abs(one - two), (5, 5))))
    weight = [1.0 / (1.0 + m[1]) ** 2 for m in made]
    out = (made[0][0] * weight[0] + made[1][0] * weight[1]) / (weight[0] + weight[1])
    return np.asarray(out.reshape(h, w), dtype=np.float32)


def triple(before: Bytes, middle: Bytes, after: Bytes, at: float) -> tuple[float, float]:
    """Return the mean error of the interpolated middle frame and the mean change of the outer two, over moving pixels."""
    outer = cv2.absdiff(before, after).astype(np.float32)
    moving = cv2.blur(outer, (3, 3)) > CHANGE
    if moving.mean() < SHARE:
        return float("nan"), float("nan")
    made = between(before, after, flow_between(before, after), flow_between(after, before), at)
    error = np.abs(made - middle)
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
            a, b, c = (shrink(luma(clip.frames[kept[j]]), LONGEST) for j in (k - 1, k, k + 1))
            at = float((times[k] - times[k - 1]) / (times[k + 1] - times[k - 1]))
            error[i], outer[i] = triple(a, b, c, at)
        return Interpolation(times[middle], error, outer, clip.hw)
