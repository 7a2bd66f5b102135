"""Product `flow`: forward and backward flow of frame pairs about 1/12 s apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.embedded.dense_flow import Field, Image, covered, thin, two_way, unchanged, unmatched
from pvbench_suite.perception.embedded.frames import Floats, Indices, distinct, shrink
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Flow
from pvbench_suite.video.types import Clip

#: Working size [px], time between the frames of a pair [s], fewest pairs, pairs per second.
LONGEST, GAP, LEAST, RATE = 320, 1 / 12, 8, 4.0


def pairs(times: Floats, gap: float = GAP, least: int = LEAST, rate: float = RATE) -> tuple[Indices, Indices]:
    """Return the first and second frames (M,) of pairs about `gap` [s] apart, spread evenly over the clip.

    Parameters
    ----------
    times : (T,) float
        True timestamps [s], ascending, at least two.
    gap : float
        Wanted time between the frames of a pair [s]; the second is the frame nearest to it.
    least : int
        Fewest pairs, as far as the clip has them.
    rate : float
        Pairs per second of a long clip.
    """
    last = int(np.searchsorted(times, times[-1] - 0.75 * gap, side="right"))
    first = np.arange(max(last, 1))
    wanted = max(least, round(rate * float(times[-1] - times[0])))
    if len(first) > wanted:
        first = np.unique(np.linspace(0, len(first) - 1, wanted).round().astype(np.intp))
    second = np.array([max(k + 1, int(np.abs(times - times[k] - gap).argmin())) for k in first], dtype=np.intp)
    return first.astype(np.intp), second


@dataclass(frozen=True)
class DisFlow:
    """Classical flow with luma; works under a moving camera too."""

    name: str = "embedded-flow@1"
    product: str = "flow"
    needs: tuple[str, ...] = ()
    parameters: ClassVar[Mapping[str, Parameter]] = {"longest": LONGEST, "gap": GAP, "least": LEAST, "rate": RATE}

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Flow:
        """Return the flow of pairs spread evenly over `clip`.

        The flow is NaN where a pixel has no counterpart: background that is about to be covered (it stood still
        before, and
        nothing of the second frame comes from it) or was just uncovered, and whatever resembles nothing (a blurred
        hand).

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
        first, second = pairs(times)
        flows = [_pair(clip, kept, int(a), int(b)) for a, b in zip(first, second, strict=True)]
        forward, backward, luma0, luma1 = (np.stack([f[i] for f in flows]) for i in range(4))
        return Flow(
            times[first],
            kept[first].astype(np.int64),
            kept[second].astype(np.int64),
            forward.astype(np.float16),
            backward.astype(np.float16),
            luma0.astype(np.uint8),
            luma1.astype(np.uint8),
            clip.hw,
        )


def _image(clip: Clip, index: int) -> Image:
    """Return frame `index` as YCrCb (h, w, 3) on the working grid."""
    return np.asarray(shrink(cv2.cvtColor(clip.frames[index], cv2.COLOR_RGB2YCrCb), LONGEST), dtype=np.float32)


def _pair(clip: Clip, kept: Indices, first: int, second: int) -> tuple[Field, Field, Image, Image]:
    """Return the flow forth and back between two of the `kept` frames, and their luma."""
    images = [_image(clip, kept[k]) for k in range(first, second + 1)]
    a, b = images[0], images[-1]
    steps = [np.asarray(np.rint(i[..., 0]), dtype=np.uint8) for i in images]
    forth, back, still_a, still_b, noise = two_way(a, b, steps)
    gone, new = covered(back) & ~still_a, covered(forth) & ~still_b
    step = second - first
    if first - step >= 0:
        gone &= unchanged(a, _image(clip, kept[first - step]), noise)
    if second + step < len(kept):
        new &= unchanged(b, _image(clip, kept[second + step]), noise)
    forth[gone | thin(forth) | unmatched(a, b, forth, noise)] = np.nan
    back[new | thin(back) | unmatched(b, a, back, noise)] = np.nan
    return forth, back, a[..., 0], b[..., 0]
