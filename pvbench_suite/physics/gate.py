"""The object gate: is there an object to measure at all (spec ``physics.md`` section 0).

Conventions
-----------
One value per frame; a frame without a detection has confidence 0 or NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.physics.checks import Bools, given, of_shape

#: Least confidence of a detection and least median share of the frame that it covers; both from PVBench.
CONFIDENCE, AREA = 0.10, 0.001


def object_gate(confidence: ArrayLike | None, area: ArrayLike | None) -> Bools:
    """Return the frames (T,) in which an object counts as seen, when it is large enough to be measured.

    Parameters
    ----------
    confidence : (T,) float
        Confidence of the detection, in [0, 1].
    area : (T,) float
        Area of the object's mask as a share of the frame, in [0, 1].

    Returns
    -------
    (T,) bool
        Frames with a confidence of at least 0.10.

    Raises
    ------
    Unmeasurable
        ``no_object`` when no frame has that confidence, ``too_small`` when the median area over the frames that have
        it is below 0.1 % of the frame, ``bad_shape``.

    References
    ----------
    PVBench, appendix D.

    Examples
    --------
    >>> object_gate([0.9, 0.05, 0.8], [0.02, 0.0, 0.02]).tolist()
    [True, False, True]
    """
    c = given(confidence, "confidence")
    of_shape(c, (None,), "confidence")
    a = of_shape(given(area, "area"), (len(c),), "area")
    seen = np.asarray(np.nan_to_num(c, nan=0.0) >= CONFIDENCE)
    if not seen.any():
        raise Unmeasurable("no_object", f"no detection with a confidence of {CONFIDENCE:g}")
    share = float(np.median(np.nan_to_num(a[seen], nan=0.0)))
    if share < AREA:
        raise Unmeasurable("too_small", f"{share:.2%} of the frame")
    return seen
