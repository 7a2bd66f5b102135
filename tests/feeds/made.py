"""Records for the tests of the feeds: small ones made by hand, and those of filmed worlds, each made once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pvbench_suite.perception.types import Bodies, Cameras, Contacts
from pvbench_suite.prompts.brief import Brief
from pvbench_suite.prompts.schema import Group
from pvbench_suite.simulate.film import Film, shoot
from pvbench_suite.simulate.lab import Lab
from pvbench_suite.simulate.scene import World
from pvbench_suite.simulate.truth import records
from pvbench_suite.simulate.worlds import build

FPS = 24
SMALL = (90, 160)
HW = (720, 1280)
K = np.array([[1200.0, 0.0, 639.5], [0.0, 1200.0, 359.5], [0.0, 0.0, 1.0]])
DOWN = np.array([0.0, 1.0, 0.0])


def clock(seconds: float = 3.0, fps: float = FPS) -> np.ndarray:
    """Return timestamps (T,)."""
    return np.arange(round(seconds * fps)) / fps


def bodies(
    times: np.ndarray, paths: Sequence[np.ndarray], shape: str | tuple[str, ...] = "sphere", **changes: Any
) -> Bodies:
    """Return the record of balls of 0.4 m on `paths` (T, 3) before a camera at the origin; NaN rows are not seen."""
    centre = np.stack(paths, axis=1)
    n, z = centre.shape[1], centre[..., 2]
    uv = centre[..., :2] / z[..., None] * K[0, 0] + K[:2, 2]
    made: dict[str, Any] = {
        "centre": centre,
        "uv": uv,
        "radius": 0.2 * K[0, 0] / z,
        "z": z,
        "present": np.isfinite(centre).all(axis=-1),
        "diameter": np.full(n, 0.4),
        "names": tuple(f"ball_{k}" for k in range(n)),
        "shape": (shape,) * n if isinstance(shape, str) else shape,
        "hw": HW,
    }
    return Bodies(times, **(made | changes))


def contacts(times: np.ndarray, n: int, events: Sequence[tuple[float, int, int]] = (), **changes: Any) -> Contacts:
    """Return the record of `n` balls that fly all the time but for the `events` (when, first, second)."""
    made: dict[str, Any] = {
        "when": np.array([when for when, _, _ in events], dtype=float),
        "first": np.array([i for _, i, _ in events], dtype=int),
        "second": np.array([j for _, _, j in events], dtype=int),
        "airborne": np.ones((len(times), n), dtype=bool),
        "driven": np.zeros((len(times), n), dtype=bool),
        "names": tuple(f"ball_{k}" for k in range(n)),
        "down": DOWN,
    }
    return Contacts(times, **(made | changes))


def still_camera(times: np.ndarray) -> Cameras:
    """Return a camera at the origin that does not move."""
    return Cameras(times, K, np.broadcast_to(np.eye(4), (len(times), 4, 4)), HW)


def brief(*objects: dict[str, Any], **expect: Any) -> Brief:
    """Return what a prompt says that names these objects, rigid balls unless told otherwise."""
    said = [{"noun": "ball", "body": "rigid", **o} for o in objects]
    return Brief(Group.model_validate({"id": "g", "prompt": "A ball.", "objects": said, "expect": expect}))


NOTHING = Brief(None)


@lru_cache(maxsize=32)
def filmed(
    name: str, violation: str = "", dose: float = 1.0, seconds: float = 2.0, fps: int = FPS
) -> tuple[World, Film, dict[str, Any]]:
    """Return a world at 160 x 90 px, its film and its records."""
    scale = 3.0 if name == "tumble" else 1.0
    lab = Lab(3, seconds, fps, SMALL, scale, violation, dose if violation else 0.0)
    world = build(name, lab)
    film = shoot(world)
    return world, film, dict(records(world, film))
