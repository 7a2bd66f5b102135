"""Product `flow`: forward and backward flow of frame pairs about 1/12 s apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.embedded.dense_flow import Field, Image, two_way
from pvbench_suite.perception.embedded.flow_gaps import covered, unchanged, unknown
from pvbench_suite.perception.embedded.frames import Floats, Indices, distinct, shrink
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Flow
from pvbench_suite.video.types import Clip

#: Working size [px], time between the frames of a pair [s], fewest pairs, pairs per second.
LONGEST, GAP, LEAST, RATE = 320, 1 / 12, 8, 4.0
#: Small pictures are enlarged to the working size by at most this factor, so that the matched neighbourhood, and the
#: motion that the method resolves, span the same part of the picture.
ENLARGED = 2.0


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

    name: str = "embedded-flow@2"
    product: str = "flow"
    needs: tuple[str, ...] = ()
    parameters: ClassVar[Mapping[str, Parameter]] = {"longest": LONGEST, "gap": GAP, "least": LEAST, "rate": RATE}

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Flow:
        """Return the flow of pairs spread evenly over `clip`.

        The flow is NaN where a pixel has no counterpart: background that is about to be covered (it stood still
        before, and nothing of the second frame comes from it) or was just uncovered, whatever resembles nothing (a
        blurred hand), structures thinner than the matched neighbourhood (a string), places where the matches jump
        from pixel to pixel (water), and straight edges that move along themselves.

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


def picture(clip: Clip, index: int) -> Image:
    """Return frame `index` as YCrCb (h, w, 3) [levels] on the working grid, whose long side is `LONGEST` [px].

    Pictures of less than half that size are only doubled.
    """
    colours = cv2.cvtColor(clip.frames[index], cv2.COLOR_RGB2YCrCb)
    h, w = colours.shape[:2]
    k = min(LONGEST / max(h, w), ENLARGED)
    if k <= 1.0:
        return np.asarray(shrink(colours, LONGEST), dtype=np.float32)
    size = (round(k * w), round(k * h))
    return np.asarray(cv2.resize(colours, size, interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def _pair(clip: Clip, kept: Indices, first: int, second: int) -> tuple[Field, Field, Image, Image]:
    """Return the flow forth and back between two of the `kept` frames, and their luma."""
    images = [picture(clip, kept[k]) for k in range(first, second + 1)]
    a, b = images[0], images[-1]
    steps = [np.asarray(np.rint(i[..., 0]), dtype=np.uint8) for i in images]
    forth, back, still_a, still_b, noise = two_way(a, b, steps)
    gone, new = covered(back) & ~still_a, covered(forth) & ~still_b
    step = second - first
    if first - step >= 0:
        gone &= unchanged(a, picture(clip, kept[first - step]), noise)
    if second + step < len(kept):
        new &= unchanged(b, picture(clip, kept[second + step]), noise)
    # judged before any of it is erased
    forth_off, back_off = gone | unknown(a, b, forth, noise), new | unknown(b, a, back, noise)
    forth[forth_off] = np.nan
    back[back_off] = np.nan
    return forth, back, a[..., 0], b[..., 0]
