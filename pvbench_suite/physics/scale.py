"""R06 companion: an object keeps its size relative to the static background.

Conventions
-----------
Sizes have depth taken out (for example the median over pairs of tracked points of their distance in the world) and any
unit; a size at or below 0 is missing.  The value is a natural logarithm: 0.1 is about 10 %.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import theilslopes

from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import enough_frames, given, of_shape, some_finite, some_positive
from pvbench_suite.physics.robust import timestamps
from pvbench_suite.physics.series import MAD, median_dt, smooth, time_statistic


def scale_drift(t: ArrayLike | None, size: ArrayLike | None, background: ArrayLike | None = None) -> Measurement:
    """Return how far an object's size strays from its median, as the log ratio held for long enough to count.

    Parameters
    ----------
    t : (T,) float
        Timestamps [s].
    size : (T,) float
        Size of the object, any unit.
    background : (T,) float, optional
        The same for the static background, which removes a common drift of the reconstruction; None: constant.

    Returns
    -------
    Measurement
        TS of the absolute log size ratio, from 0, smaller is better; `n` is the number of valid frames.  The caller
        applies the pose gate of R03 first.

    Raises
    ------
    Unmeasurable
        ``no_object``, ``bad_shape``, ``too_few_frames``, ``all_nan``, ``zero_depth``.

    References
    ----------
    Spec ``physics.md``, R06 companion.
    """
    s = given(size, "size")
    of_shape(s, (None,), "size")
    times = timestamps(t, len(s))
    base = np.ones(len(s)) if background is None else of_shape(given(background, "background"), (len(s),), "background")
    enough_frames(len(s))
    some_finite(s, base, times)
    some_positive(s, base)
    valid = (s > 0) & (base > 0) & np.isfinite(times)
    enough_frames(int(valid.sum()), what="frames with a size")
    m = np.full(len(s), np.nan)
    m[valid] = np.log(s[valid]) - np.log(base[valid])
    m -= np.median(m[valid])
    dt = median_dt(times)
    series = smooth(m, dt)
    slope = float(theilslopes(m[valid], times[valid])[0])
    spread = MAD * float(np.median(np.abs(m[valid])))
    evidence = {"t": times, "log_size": series, "slope": slope}
    return Measurement(time_statistic(np.abs(series), dt), int(valid.sum()), spread, evidence)
