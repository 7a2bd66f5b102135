"""Rendered clips for the embedded profile, and what a dimension's own test says of one.

Conventions
-----------
A clip is rendered, encoded as MP4, decoded as any user's file and perceived by the profile; nothing of its ground truth
is used.  Its prompt is none, so that objects have no names and gravity no metric.  Doses are those of
`pvbench_suite.simulate.violations`, in [0, 1].
"""

from __future__ import annotations

import importlib.util
import inspect
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pvbench_suite import suite
from pvbench_suite.calibrate.eyes import Eyes
from pvbench_suite.calibrate.summary import Run
from pvbench_suite.dimensions import load
from pvbench_suite.errors import NotPerceived, Unmeasurable, UserError
from pvbench_suite.measurement import Measurement
from pvbench_suite.prompts.brief import Brief
from pvbench_suite.simulate.lab import Lab
from pvbench_suite.simulate.mp4 import write_mp4
from pvbench_suite.simulate.raycast import View
from pvbench_suite.simulate.scene import World
from pvbench_suite.simulate.shade import Painter, render
from pvbench_suite.simulate.worlds import build
from pvbench_suite.video.decode import decode
from pvbench_suite.video.types import Clip

#: What a profile without that product, or that cannot see the video, counts as; no reason of a kernel.
NOT_PERCEIVED = "not_perceived"
_DOSES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Scene:
    """A violation in a rendered world: length [s], doses, and what it is called in the table."""

    name: str
    dimension: str
    world: str
    seconds: float
    violation: str
    words: str
    doses: tuple[float, ...] = _DOSES


SCENES = (
    Scene("R15_vanish", "R15", "roll", 2.0, "vanish", "ball gone in the open, 1 = 40 % of the clip"),
    Scene("R16_teleport", "R16", "projectile", 2.0, "teleport", "jump back, 1 = 2.2 sizes"),
    Scene("R16_kick", "R16", "slide", 2.0, "kick", "velocity step, 1 = 8 sizes a second"),
    Scene("R17_boil", "R17", "roll", 2.0, "boil", "orientation drawn anew, 1 = by 170 deg"),
    Scene("R21_change", "R21", "bounce", 2.5, "gravity_change", "every other flight lighter, 1 = by 60 %"),
    Scene("PTQ-03_flicker", "PTQ-03", "slide", 2.0, "flicker", "brightness pumps, 1 = full"),
    Scene("PTQ-04_judder", "PTQ-04", "roll", 2.0, "judder", "every other frame off in time, in frames",
          (0.0, 0.2, 0.4, 0.6, 0.8)),
)  # fmt: skip

#: Lawful worlds before a still camera that none of the scenes uses.
LAWFUL = ("high_bounce", "pendulum", "pucks", "hide", "air_collision", "approach")


@dataclass(frozen=True, slots=True)
class Shot:
    """One clip: its world, length [s], violation and dose, and seed."""

    world: str
    seconds: float
    violation: str
    dose: float
    seed: int

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.world}-{self.violation or 'lawful'}-{self.dose:g}-{self.seed}.json"


def filmed(world: World) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the pictures (T, H, W, 3) of a world, and no truth."""
    painter = Painter(world, View.regular(world, *world.hw))
    return np.stack([render(world, world.state(t), painter)[0] for t in range(len(world.times))])


def clip_of(shot: Shot) -> Clip:
    """Return the clip as a user's file would be decoded."""
    lab = Lab(shot.seed, shot.seconds, violation=shot.violation if shot.dose > 0.0 else "", dose=shot.dose)
    frames = filmed(build(shot.world, lab))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        write_mp4(path, frames, lab.fps)
        return decode(path)


@cache
def dimension_test(identifier: str) -> Callable[..., None]:
    """Return the function of a dimension's test, from the suite's own folder."""
    dimension = load().get(identifier)
    folder = suite.root() / "dimensions" / load().domains[dimension.domain].folder
    path = folder / f"{dimension.stem}.py"
    spec = importlib.util.spec_from_file_location(f"pvbench_calibrated.{dimension.stem}", path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path}: the test of {identifier} cannot be read")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., None] = getattr(module, dimension.stem)
    return found


def _no_judge(identifier: str) -> None:
    """Return no verdict: the measurement of a judged dimension is what is calibrated."""


def measure(identifier: str, sight: Eyes) -> Run:
    """Return what the dimension's own test hands in for a clip, or the reason why it does not."""
    taken: list[Measurement] = []
    offered = {
        "optional": sight.optional,
        "perceive": sight.get,
        "brief": Brief(None),
        "grade": taken.append,
        "judged": _no_judge,
    }
    test = dimension_test(identifier)
    try:
        wanted = {n: offered[n] if n in offered else sight.get(n) for n in inspect.signature(test).parameters}
        test(**wanted)
    except Unmeasurable as error:
        return error.reason
    except NotPerceived:
        return NOT_PERCEIVED
    return taken[0].value
