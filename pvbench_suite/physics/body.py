"""The tracked points of one object, and the pose gate that R03, R06c and R18 share.

Conventions
-----------
World axes of the first camera (x right, y down, z forward), any scale.  Points are the same surface points in every
frame; NaN rows are missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.physics.checks import absent
from pvbench_suite.physics.points import kabsch
from pvbench_suite.physics.robust import depth_factor
from pvbench_suite.physics.series import (
    Bools,
    Floats,
    enough_frames,
    flags,
    gate_range,
    given,
    of_shape,
    se3,
    some_finite,
)

#: Gates on the change of pose: turn of the object or of the view [rad], shift in object sizes.
_TURN, _SHIFT = math.radians(10.0), 0.5
#: Fewest common points for a pose.
_POSE_POINTS = 4


@dataclass(frozen=True, slots=True)
class Body:
    """The tracked points of one object, checked: `X` (T, P, 3), `seen` (T, P), `cam` (T, 3), `reference` frame."""

    X: Floats
    seen: Bools
    cam: Floats
    reference: int


def body(X: ArrayLike | None, vis: ArrayLike | None, cam: ArrayLike | None) -> Body:
    """Return the checked points of one object; a point counts where it is finite and visible.

    Parameters
    ----------
    X : (T, P, 3) float
        Tracked surface points.
    vis : (T, P) bool, optional
        Where the tracker saw them (None: everywhere).
    cam : (T, 3) float, optional
        Camera centres in the same world (None: the origin).

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames (fewer than 8 frames), all_nan, zero_depth (every point at the origin).
    """
    points = of_shape(given(X, "X"), (None, None, 3), "X")
    seen = flags(vis, points.shape[:2], "vis")
    centres = np.zeros((len(points), 3)) if cam is None else of_shape(given(cam, "cam"), (len(points), 3), "cam")
    enough_frames(len(points))
    seen = seen & np.isfinite(points).all(axis=-1)
    points = np.where(seen[..., None], points, np.nan)
    some_finite(points)
    if not np.any(points[seen] != 0.0):
        raise Unmeasurable("zero_depth", "every point lies at the origin")
    return Body(points, seen, centres, int(np.argmax(seen.sum(axis=1))))


def pose_gate(item: Body, size: float, dt: float, reason: str = "no_pose_change") -> dict[str, float]:
    """Return how far the pose changed, or raise when it did not.

    The gate opens when the object turns by 10 deg, shifts by half its size across or along the line of sight, or is
    seen from directions 10 deg apart, each also above 4 standard errors.  Bearings come first because depth noise does
    not move them.

    Parameters
    ----------
    item : Body
        The checked points.
    size : float
        Size l of the object, in world units.
    dt : float
        Frame interval [s].
    reason : str
        The event reason to raise: ``no_pose_change``, or ``no_motion`` for R18.

    Returns
    -------
    dict
        ``turn`` [deg], ``view`` [deg], ``across`` and ``along`` [object sizes].

    Raises
    ------
    Unmeasurable
        `reason`, detectable only when 3 standard errors of all four are below their gates.
    """
    at = item.X[item.reference]
    common = item.seen & item.seen[item.reference]
    posed = common.sum(axis=1) >= _POSE_POINTS
    rotation, shift = kabsch(np.broadcast_to(at, item.X.shape), item.X, common)
    centre = rotation @ np.nanmean(at, axis=0) + shift
    turn = Rotation.from_matrix(rotation).as_rotvec()
    line = centre - item.cam
    distance = np.linalg.norm(line, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        bearing = line / distance[:, None]
    turn[~posed], bearing[~posed], distance[~posed] = np.nan, np.nan, np.nan
    reach = float(np.nanmedian(distance)) if np.isfinite(distance).any() else 0.0
    view, view_se, deep = gate_range(bearing, dt), se3(bearing), depth_factor(dt)
    tests = {
        "turn": (gate_range(turn, dt), deep * se3(turn), _TURN),
        "view": (view, view_se, _TURN),
        "across": (view * reach, view_se * reach, _SHIFT * size),
        "along": (gate_range(distance, dt), deep * se3(distance), _SHIFT * size),
    }
    # Exact data may sit on a gate; a part in a billion keeps it open.
    if not any(g >= gate * (1 - 1e-9) and g > 4.0 * error for g, error, gate in tests.values()):
        detail = f"turns {math.degrees(tests['turn'][0]):.1f} deg, shifts {tests['across'][0] / size:.2f} sizes"
        raise absent(reason, detail, *((error, gate) for _, error, gate in tests.values()))
    return {
        "turn": math.degrees(tests["turn"][0]),
        "view": math.degrees(view),
        "across": tests["across"][0] / size,
        "along": tests["along"][0] / size,
    }
