"""How one picture lies in another: the same, scaled, cropped, stretched, letterboxed, or not there at all.

Conventions
-----------
Pictures are compared in grey, band-passed (what is broader than a twelfth of the frame says little: most scenes are
bright above and dark below) and by normalized cross-correlation, 1 for equal up to brightness and contrast.

`SAME_PICTURE` lies between what ``benchmarks/reference_match.py`` prints: first frames of the demo and of real clips,
re-made as a generator would (scaled, cropped, letterboxed, blurred, noisy, recoloured), against their own reference,
and the best fit of pictures of other scenes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.video.types import First

Grey = NDArray[np.float32]

#: Correlation from which the first frame shows the reference.
SAME_PICTURE = 0.8
#: Long side of the frame at which placements are looked for, and at which the best is made exact [px].
COARSE, FINE = 128, 256
#: How far a crop may zoom in, and the steps of the search.
ZOOM, STEP, FINE_STEP = 2.0, 1.02, 1.0025
#: Differences of correlation that say nothing; the simpler explanation holds.
MARGIN = 0.01
#: Spread of the band-passed grey levels (0..255) below which a picture has nothing to compare.
PLAIN = 1.0
#: Aspects that differ by less are the same: sizes are rounded to multiples of 16 or 32.
ASPECT = 0.03


@dataclass(frozen=True, slots=True)
class Match:
    """How a first frame relates to its reference.

    `kind` is "same", "scaled", "cropped", "stretched", "letterboxed", "other picture" or "too plain to compare";
    `similarity` the correlation of the best placement, -1..1, None where there is nothing to compare; `share` the part
    of the reference that is cut off, or by how much it is stretched, 0..1; `centred` whether a crop is about the
    middle.
    """

    kind: str
    similarity: float | None = None
    share: float = 0.0
    centred: bool = True

    @property
    def label(self) -> str:
        """Return the clause that people read, e.g. "cropped 4 %, off centre"."""
        percent = f" {max(1, round(100 * self.share))} %" if self.kind in ("cropped", "stretched") else ""
        aside = "" if self.centred else ", off centre"
        fit = f" (similarity {self.similarity:.2f})" if self.kind == "other picture" else ""
        return f"{self.kind}{percent}{aside}{fit}"

    @property
    def warning(self) -> str | None:
        """Return the remark for the row of a run, or None where the frame shows the reference as it is."""
        return None if self.kind in ("same", "scaled") else f"first frame against the reference: {self.label}"


def match(reference: First, frame: First) -> Match:
    """Return how `frame` relates to `reference`."""
    whole, here = _grey(reference.image), _grey(frame.image)
    placed = _Placed(whole, here)
    if min(_spread(whole), _spread(here)) < PLAIN:
        return Match("too plain to compare")
    stretch = (frame.hw[1] / frame.hw[0]) / (reference.hw[1] / reference.hw[0])
    same_aspect = abs(stretch - 1) <= ASPECT
    plain = "same" if frame.hw == reference.hw else "scaled"
    change = 1 - min(stretch, 1 / stretch)
    found = [Match(plain if same_aspect else "stretched", placed.whole(), 0.0 if same_aspect else change)]
    if not same_aspect:
        found.append(Match("letterboxed", placed.boxed()))
    if found[0].similarity is not None and not (same_aspect and found[0].similarity > 1 - MARGIN):
        found.append(placed.cropped())
    best = max(f.similarity or 0.0 for f in found)
    if best < SAME_PICTURE:
        return Match("other picture", best)
    return next(f for f in found if (f.similarity or 0.0) >= best - (MARGIN if f is found[0] and same_aspect else 0.0))


def _grey(image: NDArray[np.uint8]) -> Grey:
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), dtype=np.float32)


def _resized(image: Grey, width: int, height: int) -> Grey:
    way = cv2.INTER_AREA if width < image.shape[1] else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, (max(1, width), max(1, height)), interpolation=way), dtype=np.float32)


def _band(image: Grey, long_side: int) -> Grey:
    """Return what is finer than a twelfth of `long_side` and coarser than a pixel."""
    fine = cv2.GaussianBlur(image, (0, 0), 1.0)
    return np.asarray(fine - cv2.GaussianBlur(fine, (0, 0), long_side / 12), dtype=np.float32)


def _spread(image: Grey) -> float:
    height, width = image.shape
    scale = COARSE / max(height, width)
    return float(_band(_resized(image, round(width * scale), round(height * scale)), COARSE).std())


def _best(image: Grey, template: Grey) -> tuple[float, int, int]:
    """Return the highest correlation of `template` in `image`, and its column and row there [px]."""
    _, value, _, place = cv2.minMaxLoc(cv2.matchTemplate(image, template, cv2.TM_CCOEFF_NORMED))
    return float(value), place[0], place[1]


class _Placed:
    """A reference laid over a frame in the ways that generators do."""

    def __init__(self, reference: Grey, frame: Grey) -> None:
        self.reference, self.frame = reference, frame

    def _frame(self, long_side: int) -> tuple[Grey, int, int]:
        height, width = self.frame.shape
        scale = long_side / max(height, width)
        wide, high = max(8, round(width * scale)), max(8, round(height * scale))
        return _resized(self.frame, wide, high), wide, high

    def whole(self) -> float:
        """Return the correlation when all of the reference fills the frame."""
        frame, wide, high = self._frame(COARSE)
        return _best(_band(_resized(self.reference, wide, high), COARSE), _band(frame, COARSE))[0]

    def boxed(self) -> float:
        """Return the correlation when all of the reference stands in the middle of even bars, 0 without such bars."""
        frame, wide, high = self._frame(COARSE)
        height, width = self.reference.shape
        scale = min(wide / width, high / height)
        inner_wide, inner_high = round(width * scale), round(height * scale)
        left, top = (wide - inner_wide) // 2, (high - inner_high) // 2
        bars = (frame[: max(0, top - 1)], frame[:, : max(0, left - 1)])
        if not any(bar.size for bar in bars) or any(bar.size and float(bar.std()) > 4.0 for bar in bars):
            return 0.0
        inside = frame[top : top + inner_high, left : left + inner_wide]
        return _best(_band(_resized(self.reference, inner_wide, inner_high), COARSE), _band(inside, COARSE))[0]

    def cropped(self) -> Match:
        """Return the best placement with a part of the reference outside the frame."""
        steps = int(np.log(ZOOM) / np.log(STEP))
        coarse = max(self._crops([STEP**k for k in range(steps + 1)], COARSE))
        if coarse[0] < SAME_PICTURE - 0.15:  # no finer grid will find it
            return Match("cropped", coarse[0], coarse[2])
        near = [coarse[1] * FINE_STEP**k for k in range(-8, 9)]
        value, _, share, aside = max(self._crops([z for z in near if z >= 1.0] or [1.0], FINE))
        return Match("cropped", max(value, coarse[0]), share, centred=aside <= 0.02)

    def _crops(self, zooms: list[float], long_side: int) -> Iterator[tuple[float, float, float, float]]:
        """Yield (correlation, zoom, share cut off, distance from the centre in frame sides) for each zoom."""
        frame, wide, high = self._frame(long_side)
        template = _band(frame, long_side)
        height, width = self.reference.shape
        cover = max(wide / width, high / height)
        for zoom in zooms:
            across, down = max(wide, round(width * cover * zoom)), max(high, round(height * cover * zoom))
            value, left, top = _best(_band(_resized(self.reference, across, down), long_side), template)
            aside = max(abs(left - (across - wide) / 2) / wide, abs(top - (down - high) / 2) / high)
            yield value, zoom, 1 - wide * high / (across * down), aside
