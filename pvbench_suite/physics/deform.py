"""R11: how well a soft, nearly incompressible body keeps its volume while it deforms.

Conventions
-----------
The volume is read from the mask's second moments and the depth, under each of the two ways in which a body can be
symmetric about the axis of deformation; the milder one counts.  Logarithms charge growth and shrinking alike.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import absent
from pvbench_suite.physics.robust import depth_factor
from pvbench_suite.physics.series import (
    MAD,
    Floats,
    enough_frames,
    gate_range,
    given,
    of_shape,
    se3,
    smooth,
    some_finite,
    some_positive,
    time_statistic,
)

#: Least range of the log axis ratio and of the log volume that is a deformation.
_SHAPE_GATE, _VOLUME_GATE = 0.05, 0.10
#: Largest apparent log volume change that a turning rigid body may cause: half of the first cut.
_TURNING = 0.05


def log_lengths(moments: Floats, axis: Floats) -> tuple[Floats, Floats]:
    """Return the log half-lengths of a mask along the image direction `axis` and across it.

    Parameters
    ----------
    moments : (T, 2, 2) float
        Second central moments of the mask [px^2], x then y.
    axis : (2,) float
        Unit direction in the image.

    Returns
    -------
    along, across : (T,) float
        Logs of the standard deviations [log px]; NaN where a moment is missing or not positive.
    """
    across = np.array([-axis[1], axis[0]])
    lengths = []
    for direction in (axis, across):
        variance = np.einsum("i,tij,j->t", direction, moments, direction)
        positive = np.isfinite(variance) & (variance > 0)
        lengths.append(np.where(positive, 0.5 * np.log(np.where(positive, variance, 1.0)), np.nan))
    return lengths[0], lengths[1]


def volume_change(
    moments: ArrayLike | None,
    depth: ArrayLike | None,
    focal: float,
    axis: ArrayLike,
    dt: float = 1 / 24,
    turn: float | None = None,
) -> Measurement:
    r"""Return R11: the change of a deforming body's log volume.

    With :math:`l_a, l_p` the log lengths along and across the axis and :math:`z = \ln(Z/f)`, the volume is
    :math:`l_a + 2 l_p + 3z` when the axis is the axis of symmetry, or :math:`2 l_a + l_p + 3z` when the other is.

    Parameters
    ----------
    moments : (T, 2, 2) float
        Second central moments of the mask [px^2].
    depth : (T,) float
        Depth of the body, any unit; values that are not positive are missing.
    focal : float
        Focal length [px].
    axis : (2,) float
        Image direction of the deformation axis (contact normal or gravity), fixed for the clip, any length.
    dt : float
        Frame interval [s].
    turn : float, optional
        Largest rotation of the body from its first orientation [deg].

    Returns
    -------
    Measurement
        The milder of the two TS(\|v\|) [log], >= 0.  Evidence: ``v_axis`` and ``v_across`` (the two series about their
        medians), ``shape_range``, ``volume_range``.

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames, all_nan, zero_depth, no_deformation, turning.

    References
    ----------
    Spec ``physics.md`` R11.
    """
    sigma, z = given(moments, "moments"), given(depth, "depth")
    of_shape(sigma, (None, 2, 2), "moments")
    of_shape(z, (len(sigma),), "depth")
    a = of_shape(given(axis, "axis"), (2,), "axis")
    enough_frames(len(sigma))
    some_finite(sigma, z)
    if not (np.linalg.norm(a) > 0):
        raise Unmeasurable("all_nan", "the deformation axis has no direction")
    some_positive(sigma, z, np.array([focal], dtype=np.float64))
    along, across = log_lengths(sigma, a / np.linalg.norm(a))
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = 3.0 * np.log(np.where(z > 0, z, np.nan) / focal)
    image = [along + 2.0 * across, 2.0 * along + across]
    valid = np.isfinite(image[0] + distance)
    enough_frames(int(valid.sum()), what="frames with mask and depth")
    ratio = np.where(valid, along - across, np.nan)
    volumes = [np.where(valid, part + distance, np.nan) for part in image]
    ranges = _deformation_gate(ratio, volumes, image, distance, dt)
    tilt = 0.0 if turn is None or not math.isfinite(turn) else math.radians(min(abs(turn), 90.0))
    if abs(float(np.nanmedian(ratio))) * math.sin(tilt) ** 2 > _TURNING:
        raise Unmeasurable("turning", "an elongated body that turns changes its apparent volume")
    series = [smooth(v - np.nanmedian(v), dt) for v in volumes]
    statistics = [time_statistic(np.abs(v), dt) for v in series]
    best = series[int(np.argmin(statistics))]
    return Measurement(
        value=min(statistics),
        n=int(valid.sum()),
        spread=float(MAD * np.nanmedian(np.abs(best - np.nanmedian(best)))),
        evidence={"v_axis": series[0], "v_across": series[1], **ranges},
        assumed=("incompressible", "axis_symmetric"),
    )


def _deformation_gate(
    ratio: Floats, volumes: list[Floats], image: list[Floats], distance: Floats, dt: float
) -> dict[str, float]:
    """Return the ranges of shape and volume, or raise ``no_deformation`` when neither leaves its noise and its gate."""
    shape, shape_se = gate_range(ratio, dt), se3(ratio)
    changes = [gate_range(v, dt) for v in volumes]
    milder = int(np.argmin(changes))
    volume, volume_se = changes[milder], math.hypot(se3(image[milder]), depth_factor(dt) * se3(distance))
    slack = 1.0 - 1e-9
    deforms = shape >= _SHAPE_GATE * slack and shape > 4.0 * shape_se
    swells = volume >= _VOLUME_GATE * slack and volume > 4.0 * volume_se
    if not (deforms or swells):
        detail = f"log axis ratio moves by {shape:.3f}, log volume by {volume:.3f}"
        raise absent("no_deformation", detail, (shape_se, _SHAPE_GATE), (volume_se, _VOLUME_GATE))
    return {"shape_range": shape, "volume_range": volume}
