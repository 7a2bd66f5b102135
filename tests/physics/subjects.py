"""Every numeric kernel with its faulty clip: what the invariances are tested on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pvbench_suite.measurement import Measurement
from pvbench_suite.perceptual.flicker import flicker
from pvbench_suite.perceptual.smoothness import motion_smoothness
from pvbench_suite.physics.deform import volume_change
from pvbench_suite.physics.depth_order import depth_order
from pvbench_suite.physics.flow import flow_inconsistency
from pvbench_suite.physics.light import light_consistency
from pvbench_suite.physics.motion import motion_disagreement
from pvbench_suite.physics.multi_view import reprojection_error
from pvbench_suite.physics.permanence import object_permanence
from pvbench_suite.physics.pose import pose_jump
from pvbench_suite.physics.rigid import rigidity
from pvbench_suite.physics.rotation_continuity import rotation_continuity
from pvbench_suite.physics.scale import scale_drift
from pvbench_suite.physics.shape import shape_change
from pvbench_suite.physics.surface import normal_error
from pvbench_suite.physics.trajectory import trajectory_continuity
from tests.physics.clips import (
    Kwargs,
    bounces,
    flights,
    pair,
    ptq03,
    ptq04,
    r01,
    r02,
    r03,
    r05,
    r06,
    r07,
    r08,
    r11,
    r15,
    r16,
    r17,
    r19,
    r20,
    r21,
    r22,
    r23,
    r24,
    spheres,
)


@dataclass(frozen=True, eq=False)
class Subject:
    """A kernel, its faulty clip at the times `t` (T,), and of what kind each argument is (see `changes`).

    `points` are the arguments whose second axis counts objects or points; `tolerance` is relative, by change; `breaks`
    says why a change of the list does not hold; `still` and `shuffled` are what a still and a shuffled lawful clip
    give: a reason (or one of several, apart by a bar), or ``same`` for the value of the lawful clip.
    """

    kernel: Callable[..., Measurement]
    make: Callable[..., Kwargs]
    kinds: dict[str, str]
    points: tuple[str, ...] = ()
    tolerance: dict[str, float] = field(default_factory=dict)
    breaks: dict[str, str] = field(default_factory=dict)
    still: str = ""
    shuffled: str = ""


_BODY = {"X": "points", "cam": "points"}
_TIMED = {"t": "t", "contacts": "times"}
#: Judder: a picture of 16 a second is shown up to 1/48 s late in a container of 24, which is noise of the path.
_JUDDER = "judder of the container is noise: sensitivity falls"
SUBJECTS = {
    "R01": Subject(depth_order, r01, {"depths": "depth"}, ("depths", "cues"), {"dropped": 0.03}, {}, "same", "same"),
    "R02": Subject(normal_error, r02, {"depth": "depth_field", "normals": "vectors", "K": "K"}, (), {}, {}, "same",
                   "same"),
    "R03": Subject(shape_change, r03, _BODY, ("X",), {"world": 0.02, "rate": 0.02, "dropped": 0.02, "duplicated": 0.02,
                   "reversal": 0.05}, {}, "no_pose_change", "no_pose_change"),
    "R05": Subject(reprojection_error, r05, {"tracks": "pixels", "depths": "depth", "intrinsics": "K", "hw": "hw",
                   "cameras": "cameras"}, ("tracks", "depths"), {}, {}, "no_parallax", "same"),
    "R06c": Subject(scale_drift, r06, {"t": "t", "size": "length", "background": "length"}, (), {}, {}, "same", "same"),
    "R07c": Subject(pose_jump, r07, {**_TIMED, "path": "points", "diameter": "length", "rays": "directions",
                    "rotations": "turns"}, (), {"rate": 0.01, "dropped": 0.01, "duplicated": 0.2, "reversal": 1e-3}, {},
                    "no_pose_change", "no_pose_change|too_noisy|too_few_frames"),
    "R08": Subject(light_consistency, r08, {"normals": "directions", "up": "directions"}, ("normals", "shading"), {},
                   {}, "no_motion", "same"),
    "R11": Subject(volume_change, r11, {"moments": "moments", "depth": "depth", "focal": "focal",
                   "axis": "image_direction"}, (), {}, {}, "no_deformation", "no_deformation"),
    "R15": Subject(object_permanence, r15, {"uv": "pixels", "z": "depth", "radius": "pixel_length",
                   "depth": "depth_field", "hw": "hw"}, ("present", "uv", "z", "radius"), {"dropped": 0.2}, {},
                   "no_motion", "same"),
    "R16": Subject(trajectory_continuity, r16, {**_TIMED, "path": "points", "diameter": "length", "rays": "directions"},
                   (), {"dropped": 0.01, "duplicated": 0.2}, {}, "no_motion", "no_motion|too_noisy"),
    "R17": Subject(flow_inconsistency, r17, {"forward": "vectors", "back": "vectors", "regions": "field"}, ("regions",),
                   {}, {}, "no_motion", "same"),
    "R18": Subject(rigidity, r03, _BODY, ("X",), {"rate": 0.01, "dropped": 0.02, "duplicated": 0.02}, {}, "no_motion",
                   "no_motion"),
    "R19": Subject(motion_disagreement, r19, {"Xa": "points", "Xb": "points", "cam": "points"}, ("Xa", "Xb", "static"),
                   {}, {}, "no_motion", "no_motion"),
    "R20": Subject(rotation_continuity, r20, {**_TIMED, "rotations": "turns"}, (), {"rate": 0.01, "dropped": 0.02,
                   "duplicated": 0.1, "reversal": 1e-3}, {}, "no_rotation", "no_rotation|too_few_frames"),
    "R21": Subject(flights, r21, {**_TIMED, "path": "points", "rays": "directions", "down": "directions",
                   "diameter": "length"}, (), {"duplicated": 0.2}, {}, "no_airborne", "too_noisy"),
    "R22": Subject(pair, r22, {**_TIMED, "bodies": "points", "rays": "directions", "diameter": "length",
                   "cameras": "cameras"}, ("bodies", "rays"), {"world": 1e-3}, {"duplicated": _JUDDER}, "no_collision",
                   "weak_collision"),
    "R23": Subject(bounces, r23, {**_TIMED, "path": "points", "down": "directions"}, (), {"rate": 0.01, "dropped": 0.01,
                   "duplicated": 0.2}, {"reversal": "losses become gains, rightly"}, "no_transition", "no_transition"),
    "R24": Subject(spheres, r24, {"pair": "points", "radii": "length", "axis": "directions"}, ("pair", "radii"), {}, {},
                   "no_motion", "too_noisy"),
    "PTQ-03": Subject(flicker, ptq03, {"luma0": "field", "luma1": "field", "flow": "vectors"}, (), {}, {}, "same",
                      "same"),
    "PTQ-04": Subject(motion_smoothness, ptq04, {}, (), {}, {}, "no_motion", "same"),
}  # fmt: skip
