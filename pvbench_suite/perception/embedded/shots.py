"""Shot cuts: where the picture changes for good from one frame to the next.

A flash, a flicker or a frame torn by a codec changes it too, but what was before comes back.
"""

from __future__ import annotations

import itertools

import numpy as np

from pvbench_suite.perception.embedded.frames import Floats, Indices, luma, shrink
from pvbench_suite.video.types import Clip

#: A cut changes at least this share of the pixels by this many levels, and this many times what the steps around it do.
CUT_SHARE, CUT_FACTOR, CUT_LEVELS = 0.35, 4.0, 12.0
#: Size at which pictures are compared [px], steps on either side with which a step is compared.
LONGEST, AROUND = 64, 4
#: A flash lasts no longer than this [s], nor than this many frames.
FLASH, FLASHED = 0.13, 3


def _share(a: Floats, b: Floats) -> float:
    """Return the share of the pixels that differ between two pictures (h, w) beyond what most of them differ by."""
    d = b - a
    return float(np.mean(np.abs(d - np.median(d)) > CUT_LEVELS))


def cut(clip: Clip, kept: Indices) -> float | None:
    """Return the time [s] of the first frame after a cut among the frames `kept` of `clip`, None in a single shot."""
    small = [luma(shrink(clip.frames[k], LONGEST)).astype(float) for k in kept]
    change = np.array([_share(a, b) for a, b in itertools.pairwise(small)])
    times = clip.times[kept]
    for k in np.flatnonzero(change >= CUT_SHARE):
        around = np.concatenate([change[max(0, k - AROUND) : k], change[k + 1 : k + 1 + AROUND]])
        if around.size and change[k] >= CUT_FACTOR * np.median(around) and _for_good(small, times, int(k)):
            return float(times[k + 1])
    return None


def _for_good(small: list[Floats], times: Floats, k: int) -> bool:
    """Return whether none of the pictures shortly before the step after frame `k` comes back shortly after it."""
    before = [i for i in range(max(0, k - FLASHED), k + 1) if times[k] - times[i] <= FLASH]
    after = [j for j in range(k + 1, min(len(small), k + 2 + FLASHED)) if times[j] - times[k + 1] <= FLASH]
    return all(_share(small[i], small[j]) >= CUT_SHARE for i in before for j in after)
