"""R07 companion: the jump of a body's pose, position and rotation together.

Conventions
-----------
The value is in object diameters: the rms displacement of the surface of a sphere of that diameter for a step of
position and a step of rotation of the sizes that R16 and R20 find, each its own maximum over the clip.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.rotation_continuity import rotation_continuity
from pvbench_suite.physics.trajectory import trajectory_continuity


def pose_jump(
    t: ArrayLike | None,
    path: ArrayLike | None,
    rotations: ArrayLike | None,
    diameter: float | None,
    rays: ArrayLike | None = None,
    contacts: ArrayLike | None = None,
    group: ArrayLike | None = None,
) -> Measurement:
    r"""Return the largest jump of a body's pose, in diameters.

    .. math:: \sqrt{J_p^2 + \tfrac{2}{3} \sin^2(J_R / 2)}

    Parameters
    ----------
    t : (T,) float
        Timestamps [s].
    path, rotations : (T, 3) and (T, 3, 3) float
        Centre of the body in the world, and body to world.
    diameter : float
        Diameter of the body, in the unit of `path`.
    rays, contacts, group
        As `trajectory_continuity` and `rotation_continuity` take them.

    Returns
    -------
    Measurement
        Value in diameters, from 0, with the two parts ``position`` [diameters] and ``rotation_deg`` in its evidence.

    Raises
    ------
    Unmeasurable
        ``no_pose_change`` when the body neither moves nor turns; every other reason of R16, then of R20.

    References
    ----------
    Spec ``physics.md``, R07 companion.
    """
    moved: Measurement | None = None
    still = turned_not = None
    try:
        moved = trajectory_continuity(t, path, diameter, rays, contacts)
    except Unmeasurable as error:
        if error.reason != "no_motion":
            raise
        still = error
    turned: Measurement | None = None
    try:
        turned = rotation_continuity(t, rotations, contacts, group)
    except Unmeasurable as error:
        if error.reason != "no_rotation":
            raise
        turned_not = error
    if still is not None and turned_not is not None:
        seen = still.detectable and turned_not.detectable
        raise Unmeasurable("no_pose_change", f"{still.detail}, {turned_not.detail}", detectable=seen)
    position = moved.value if moved else 0.0
    angle = turned.value if turned else 0.0
    value = math.hypot(position, math.sqrt(2.0 / 3.0) * math.sin(math.radians(angle) / 2.0))
    evidence: dict[str, object] = {"position": position, "rotation_deg": angle}
    if moved:
        evidence |= {"position_instants": moved.evidence["instants"], "position_steps": moved.evidence["steps"]}
    if turned:
        evidence |= {"rotation_instants": turned.evidence["instants"], "rotation_angles": turned.evidence["angles"]}
    return Measurement(value, max(m.n for m in (moved, turned) if m), None, evidence)
