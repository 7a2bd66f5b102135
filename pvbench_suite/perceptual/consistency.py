"""Consistency of the subject and of the background in feature space (PTQ-05, PTQ-06).

Conventions: M samples in time (4 a second), D features, P patches at corresponding places; NaN rows are missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement

_FIRST_VIEWS = 3


def _unit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def subject_similarity(subject: ArrayLike) -> Measurement:
    """Return the mean over time of (cosine to the first three views' mean + cosine to the view before) / 2.

    Parameters
    ----------
    subject : (M, D) float
        Features of the subject's masked crop.

    Returns
    -------
    Measurement
        Similarity in [-1, 1]; evidence: the ``series`` (M - 1,).

    Raises
    ------
    Unmeasurable
        ``no_object`` without any view of it, ``too_few_frames`` with fewer than 4.

    References
    ----------
    Spec ``perceptual.md`` PTQ-05.
    """
    x = np.atleast_2d(np.asarray(subject, dtype=float))
    x = x[np.isfinite(x).all(axis=1)] if x.size else x.reshape(0, 1)
    if len(x) == 0:
        raise Unmeasurable("no_object", "the subject is in no sampled frame")
    if len(x) <= _FIRST_VIEWS:
        raise Unmeasurable("too_few_frames", f"{len(x)} views of the subject")
    unit = _unit(x)
    first = _unit(unit[:_FIRST_VIEWS].mean(axis=0))
    series = 0.5 * (unit[1:] @ first + (unit[1:] * unit[:-1]).sum(axis=1))
    return Measurement(float(series.mean()), len(series), float(series.std()), {"series": series})


def background_similarity(background: ArrayLike) -> Measurement:
    """Return the mean cosine of matched background patches to the sample before and, where still in view, to the first.

    Parameters
    ----------
    background : (M, P, D) float
        Features of P scene places, NaN where a place is out of view or covered by something that moves.

    Returns
    -------
    Measurement
        Similarity in [-1, 1]; evidence: the ``series`` (M - 1,).

    Raises
    ------
    Unmeasurable
        ``no_static_region`` without a place seen in two successive samples, ``too_few_frames`` with fewer than 4
        samples.

    References
    ----------
    Spec ``perceptual.md`` PTQ-06.
    """
    x = np.asarray(background, dtype=float)
    if len(x) < 4:
        raise Unmeasurable("too_few_frames", f"{len(x)} samples")
    unit = _unit(x)
    before, first = (unit[1:] * unit[:-1]).sum(axis=-1), (unit[1:] * unit[:1]).sum(axis=-1)
    both = np.concatenate([before, first], axis=1)
    counted = np.isfinite(both).sum(axis=1)
    if not counted.any():
        raise Unmeasurable("no_static_region", "no background place is seen in two successive samples")
    series = np.nansum(both, axis=1)[counted > 0] / counted[counted > 0]
    return Measurement(float(series.mean()), len(series), float(series.std()), {"series": series})
