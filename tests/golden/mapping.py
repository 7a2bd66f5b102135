"""The one place where the golden vectors' names meet the project's own functions.

Conventions
-----------
A vector's argument is a nested JSON list.  `decode` makes it an array (null is NaN, booleans stay booleans); ragged
lists and lists of records stay lists of decoded parts.  Kernels are imported by name and only when their vector runs,
so that a missing or broken one is a failed case and not a crash of the runner.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

PACKAGE = "pvbench_suite.physics"
Kwargs = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """How one function of the vectors is called here.

    Parameters
    ----------
    module, function : str
        The module below ``pvbench_suite.physics`` and the function in it.
    rename : mapping
        The vectors' argument names to ours; a name that is not listed is passed on unchanged.
    convert : mapping
        The vectors' argument names to a function of the decoded argument, for records and other containers.
    """

    module: str
    function: str
    rename: Mapping[str, str] = field(default_factory=dict)
    convert: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def __call__(self, raw: Kwargs) -> Any:
        """Return what the kernel answers to the vector's arguments `raw`."""
        kernel = getattr(importlib.import_module(f"{PACKAGE}.{self.module}"), self.function)
        kwargs = {}
        for name, value in raw.items():
            decoded = decode(value)
            if decoded is not None and name in self.convert:
                decoded = self.convert[name](decoded)
            kwargs[self.rename.get(name, name)] = decoded
        return kernel(**kwargs)


def decode(value: Any) -> Any:
    """Return a JSON value as the array, list, mapping or scalar that it stands for."""
    if isinstance(value, dict):
        return {key: decode(part) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    if any(isinstance(part, dict) for part in value):
        return [decode(part) for part in value]
    try:
        array = np.array(value)
        if array.dtype.kind in "biuf":
            return array
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        return [decode(part) for part in value]


def records(module: str, name: str) -> Callable[[Any], Any]:
    """Return a converter of a list of mappings into the records `name` of a kernel's module."""

    def convert(parts: Any) -> Any:
        record = getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)
        return [record(**part) for part in parts]

    return convert


def optional_tuple(value: Any) -> tuple[float, ...]:
    """Return an array argument as a tuple of floats."""
    return tuple(float(x) for x in value)


def permanence(raw: Kwargs) -> Any:
    """Return R15 from states, or from sightings and scene depth, whichever the vector gives."""
    kwargs = {name: value for name, value in raw.items() if value is not None or name != "state"}
    if "state" in kwargs or "present" not in kwargs:
        return Call("permanence", "unexplained_absence")({"state": None, **kwargs})
    return Call("permanence", "object_permanence", {"rad": "radius"}, {"hw": optional_tuple})(kwargs)


def penetration(raw: Kwargs) -> Any:
    """Return R24 of two balls, or of a ball and a plane whose distance stands in place of the second centre."""
    if not raw.get("plane", False):
        kwargs = {name: value for name, value in raw.items() if name != "plane"}
        return Call("collision", "sphere_penetration")(kwargs)
    kwargs = {name: value for name, value in raw.items() if name not in {"plane", "ci", "rj", "axis"}}
    return Call("collision", "plane_penetration", {"cj": "distance", "ri": "radius"})(kwargs)


CALLS: dict[str, Callable[[Kwargs], Any]] = {
    "gate_object": Call("gate", "object_gate", {"conf": "confidence", "area_frac": "area"}),
    "r01_depth_order": Call("depth_order", "depth_order", {"Dn": "depths", "cue": "cues"}),
    "r05_reproj": Call(
        "multi_view",
        "reprojection_error",
        {"uv": "tracks", "z": "depths", "vis": "visible", "K": "intrinsics", "Tcw": "cameras"},
        {"hw": optional_tuple},
    ),
    "r06_scale": Call("scale", "scale_drift", {"s": "size", "s_bg": "background"}),
    "r07_pose": Call("pose", "pose_jump", {"X": "path", "R": "rotations", "diam": "diameter"}),
    "r16_continuity": Call(
        "trajectory", "trajectory_continuity", {"X": "path", "diam": "diameter"}, {"noise_sd": optional_tuple}
    ),
    "r20_rotation": Call("rotation_continuity", "rotation_continuity", {"R": "rotations"}),
    "r21_gravity": Call(
        "gravity",
        "gravity_error",
        {"segs": "flights", "ghat": "down", "diam": "diameter", "vt": "terminal_speed"},
        {"segs": records("gravity", "Flight")},
    ),
    "r22_momentum": Call("momentum", "momentum_error", {}, {"events": records("momentum", "Collision")}),
    # --- R02 R03 R08 R11 R15 R17 R18 R19 R23 R24: added by their author below this line ---
    "r02_normals": Call("surface", "normal_error"),
    "r03_chamfer": Call("shape", "shape_change"),
    "r08_light": Call(
        "light",
        "light_consistency",
        {"n": "normals", "S": "shading", "Ldir": "light", "light_move": "light_moves"},
    ),
    "r11_volume": Call("deform", "volume_change", {"Sigma": "moments", "Z": "depth", "f": "focal", "axis_px": "axis"}),
    "r15_permanence": permanence,
    "r17_flow": Call(
        "flow", "flow_inconsistency", {"F": "forward", "B": "back", "occ": "occluded"}, {"hw720": optional_tuple}
    ),
    "r18_rigidity": Call("rigid", "rigidity", {"bg_scale": "background"}),
    "r19_motion": Call("motion", "motion_disagreement"),
    "r23_energy": Call("energy", "energy_gain", {"H": "levels", "se": "errors"}),
    "r24_penetration": penetration,
}
