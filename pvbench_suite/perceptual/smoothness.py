"""PTQ-04: how far the middle of three frames is from what its neighbours suggest.

Conventions
-----------
A triple is three successive frames at their true timestamps.  The provider interpolates the middle one from its
neighbours; the kernel compares.  Luma is 0 to 255.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import absent
from pvbench_suite.physics.series import (
    MAD,
    Floats,
    enough_frames,
    flags,
    given,
    of_shape,
    smooth,
    time_statistic,
)

#: Smallest change between the outer frames that is motion when no mask is given, above compression noise [luma].
_CHANGE = 8.0
#: A triple counts when this share of the frame moves, and a clip when this many triples count.
_SHARE, _TRIPLES = 0.002, 7
#: Least image motion in percent of the diagonal.
_MOTION = 1.0


def triple_errors(
    before: ArrayLike | None,
    middle: ArrayLike | None,
    after: ArrayLike | None,
    interpolated: ArrayLike | None,
    moving: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the interpolation error and the outer difference of each triple over its moving pixels.

    Parameters
    ----------
    before, middle, after : (K, H, W) float
        Luma of the three frames, 0 to 255; NaN where missing.
    interpolated : (K, H, W) float
        The middle frame made from the outer two.
    moving : (K, H, W) bool, optional
        Pixels that move (None: those whose outer frames differ by more than 8).

    Returns
    -------
    error : (K,) float
        Mean absolute error of the interpolated frame over the moving pixels; NaN where fewer than 0.2 % move.
    difference : (K,) float
        Mean absolute difference of the outer frames over them.

    Raises
    ------
    Unmeasurable
        no_object, bad_shape.
    """
    a, b, c, made = (given(x, "frames") for x in (before, middle, after, interpolated))
    of_shape(a, (None, None, None), "before")
    for x, name in ((b, "middle"), (c, "after"), (made, "interpolated")):
        of_shape(x, a.shape, name)
    outer, wrong = np.abs(c - a), np.abs(made - b)
    finite = np.isfinite(outer) & np.isfinite(wrong)
    with np.errstate(invalid="ignore"):
        moves = (outer > _CHANGE) if moving is None else flags(moving, a.shape, "moving")
    moves = np.asarray(moves & finite)
    count = moves.sum(axis=(1, 2))
    enough = count >= max(1.0, _SHARE * a.shape[1] * a.shape[2])
    sums = [np.where(moves, x, 0.0).sum(axis=(1, 2)) for x in (wrong, outer)]
    error, difference = (np.where(enough, s / np.maximum(count, 1), np.nan) for s in sums)
    return error, difference


def motion_smoothness(
    error: ArrayLike | None, difference: ArrayLike | None, dt: float = 1 / 24, motion: float | None = None
) -> Measurement:
    """Return PTQ-04: how badly frames can be interpolated from their neighbours, relative to the motion.

    Parameters
    ----------
    error, difference : (K,) float
        Per triple, as `triple_errors` gives them, in any one unit; NaN where too little moves, the error alone where
        something changes that cannot be interpolated.
    dt : float
        Time between successive triples [s].
    motion : float, optional
        Image motion in percent of the diagonal (None: not tested).  A still clip earns nothing here.

    Returns
    -------
    Measurement
        TS over triples of error / difference, >= 0; `n` is the number of triples.  Evidence: ``triples`` (NaN where
        too little moves or can be interpolated).

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames (fewer than 7 triples), no_motion, too_noisy (something changes in 7
        triples, but can be interpolated in fewer).

    References
    ----------
    Spec ``perceptual.md`` PTQ-04.
    """
    wrong, outer = given(error, "error"), given(difference, "difference")
    of_shape(wrong, (None,), "error")
    of_shape(outer, wrong.shape, "difference")
    enough_frames(len(wrong), least=_TRIPLES, what="triples")
    if motion is not None and not motion >= _MOTION:
        raise absent("no_motion", f"{motion:.2g} % of the diagonal")
    with np.errstate(invalid="ignore"):
        valid, moves = np.isfinite(wrong) & (outer > 0), int((outer > 0).sum())
    ratio = np.where(valid, wrong / np.where(valid, outer, 1.0), np.nan)
    if valid.sum() < _TRIPLES <= moves:
        raise Unmeasurable("too_noisy", f"what changes can be interpolated in {int(valid.sum())} of {moves} triples")
    if valid.sum() < _TRIPLES:
        raise Unmeasurable("no_motion", f"something moves in {int(valid.sum())} of {len(ratio)} triples")
    kept = ratio[valid]
    return Measurement(
        value=time_statistic(smooth(ratio, dt), dt),
        n=int(valid.sum()),
        spread=float(MAD * np.median(np.abs(kept - np.median(kept)))),
        evidence={"triples": ratio},
    )
