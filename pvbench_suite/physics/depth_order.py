"""R01: depth keeps the order of the objects that other cues show.

Conventions
-----------
Depths are positive, in any unit; a depth at or below 0 is missing.  A cue must be independent of the depth under test:
the prompt's stated order, the order of occlusion, or the simulator's truth.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import enough_frames, given, of_shape, some_finite, some_positive
from pvbench_suite.physics.series import MAD

#: Depths closer than this ratio are a tie; the fewest frames in which a pair must be cued.
_BAND, _LEAST = math.log(1.03), 5


def depth_order(depths: ArrayLike | None, cues: ArrayLike | None) -> Measurement:
    """Return the accuracy of the depth order for the object that fares worst.

    Each cued frame of a pair is right (1), wrong (0) or, within 3 %, a tie (1/2); a pair's accuracy is its mean over
    at least 5 frames, an object's the mean over its pairs.

    Parameters
    ----------
    depths : (T, N) float
        Depth of each object: best the median in a 5 px band inside the mask along the boundary shared with the other
        object, or over the whole mask where they are not adjacent.
    cues : (T, N, N) float
        +1 where object i is in front of j, -1 where it is behind, 0 where unknown; only i < j is read.

    Returns
    -------
    Measurement
        Value in [0, 1], larger is better; `n` is the number of pairs, `spread` that of their accuracies.

    Raises
    ------
    Unmeasurable
        ``no_object``, ``bad_shape``, ``too_few_frames``, ``all_nan``, ``zero_depth``, ``no_cue``.

    References
    ----------
    Spec ``physics.md``, R01.
    """
    d = of_shape(given(depths, "depths"), (None, None), "depths")
    frames, objects = d.shape
    c = np.nan_to_num(of_shape(given(cues, "cues"), (frames, objects, objects), "cues"), nan=0.0)
    enough_frames(frames)
    some_finite(d)
    some_positive(d)
    i, j = np.triu_indices(objects, k=1)
    cue = np.sign(c[:, i, j])
    if not cue.any():
        raise Unmeasurable("no_cue", "no pair of objects has a known order")
    with np.errstate(invalid="ignore"):
        heights = np.log(np.where(d > 0, d, np.nan))
    q = cue * (heights[:, j] - heights[:, i])
    observed = (cue != 0) & np.isfinite(q)
    marks = np.where(q > _BAND, 1.0, np.where(q < -_BAND, 0.0, 0.5))
    counts = observed.sum(axis=0)
    enough = counts >= _LEAST
    if not enough.any():
        raise Unmeasurable("too_few_frames", f"no pair is cued in {_LEAST} frames")
    i, j, counts = i[enough], j[enough], counts[enough]
    seen = observed[:, enough]
    pairs = np.where(seen, marks[:, enough], 0.0).sum(axis=0) / counts
    partners = np.bincount(np.append(i, j), minlength=objects)
    totals = np.bincount(np.append(i, j), weights=np.append(pairs, pairs), minlength=objects)
    accuracy = np.divide(totals, partners, out=np.full(objects, np.nan), where=partners > 0)
    worst = int(np.argmin(pairs))
    evidence = {
        "pairs": np.stack([i, j], axis=1),
        "pair_accuracy": pairs,
        "object_accuracy": accuracy,
        "mean_over_pairs": float(pairs.mean()),
        "share_of_ties": float((seen & (marks[:, enough] == 0.5)).sum() / counts.sum()),
        "worst_pair": (int(i[worst]), int(j[worst])),
    }
    spread = MAD * float(np.median(np.abs(pairs - np.median(pairs))))
    return Measurement(float(np.nanmin(accuracy)), len(pairs), spread, evidence)
