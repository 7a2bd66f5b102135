"""Product `flow`: forward and backward DIS flow of frame pairs about 1/12 s apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.embedded.dense_flow import flow_between
from pvbench_suite.perception.embedded.frames import Floats, Indices, distinct, luma, shrink
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Flow
from pvbench_suite.video.types import Clip


def pairs(times: Floats, gap: float, least: int, rate: float) -> tuple[Indices, Indices]:
    """Return the first and second frames (M,) of pairs about `gap` [s] apart, spread evenly over the clip.

    Parameters
    ----------
    times : (T,) float
        True timestamps [s], ascending.
    gap : float
        Wanted time between the frames of a pair [s]; the second is the frame nearest to it.
    least : int
        Fewest pairs, as far as the clip has them.
    rate : float
        Pairs per second of a long clip.
    """
    last = int(np.searchsorted(times, times[-1] - 0.75 * gap, side="right"))
    first = np.arange(max(last, min(1, len(times) - 1)))
    wanted = max(least, round(rate * float(times[-1] - times[0])))
    if len(first) > wanted:
        first = np.unique(np.linspace(0, len(first) - 1, wanted).round().astype(np.intp))
    second = np.array([max(k + 1, int(np.abs(times - times[k] - gap).argmin())) for k in first], dtype=np.intp)
    return first, second


@dataclass(frozen=True)
class DisFlow:
    """Dense inverse search flow with luma; works under a moving camera too."""

    name: str = "embedded-flow@1"
    product: str = "flow"
    needs: tuple[str, ...] = ()
    parameters: ClassVar[Mapping[str, Parameter]] = {"longest": 320, "gap": 1 / 12, "least": 8, "rate": 4.0}

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Flow:
        """Return the flow of pairs spread evenly over `clip`.

        Raises
        ------
        NotPerceived
            If the clip has fewer than two different frames.
        """
        cv2.setNumThreads(1)
        kept = distinct(clip)
        if len(kept) < 2:
            raise NotPerceived("the clip has fewer than two different frames", "give a longer video")
        times = np.asarray(clip.times[kept], dtype=float)
        first, second = pairs(times, 1 / 12, 8, 4.0)
        used = {int(k): shrink(luma(clip.frames[kept[k]]), 320) for k in np.unique(np.concatenate([first, second]))}
        one, two = np.stack([used[int(k)] for k in first]), np.stack([used[int(k)] for k in second])
        forward = np.stack([flow_between(a, b) for a, b in zip(one, two, strict=True)])
        backward = np.stack([flow_between(b, a) for a, b in zip(one, two, strict=True)])
        return Flow(
            times[first],
            kept[first].astype(np.int64),
            kept[second].astype(np.int64),
            forward.astype(np.float16),
            backward.astype(np.float16),
            one,
            two,
            clip.hw,
        )
