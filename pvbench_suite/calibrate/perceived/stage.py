"""The clips that a profile is shown: a world, filmed with its truth, encoded and decoded as any user's file.

Conventions
-----------
Seeds start at `FRESH`, which neither the demo nor ``calibrate physics`` comes to.  Clip frame k shows world frame
``source[k]``; without repeats the two agree.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pvbench_suite.calibrate.rendered import filmed
from pvbench_suite.calibrate.views import handheld, sliding, still
from pvbench_suite.perception.types import Bodies, Contacts
from pvbench_suite.simulate import truth
from pvbench_suite.simulate.demo import SCENES
from pvbench_suite.simulate.film import Film, shoot
from pvbench_suite.simulate.lab import Lab
from pvbench_suite.simulate.motion import eased
from pvbench_suite.simulate.mp4 import write_mp4
from pvbench_suite.simulate.scene import World
from pvbench_suite.simulate.vectors import product, quantise, rotations
from pvbench_suite.simulate.worlds import WORLDS, build
from pvbench_suite.video.decode import decode
from pvbench_suite.video.types import Clip

Group = Literal["lawful", "violating", "moving camera", "repeated frames", "joined"]
Indices = NDArray[np.intp]

#: The first seed; `calibrate physics` would come to it with --seed 10000.
FRESH = 10_000_000
GROUPS: tuple[Group, ...] = ("lawful", "violating", "moving camera", "repeated frames", "joined")

#: Length [s] and scale of each world, as the demo shows it.
_FORM = dict.fromkeys(WORLDS, (2.0, 1.0)) | {s.world: (s.seconds, s.scale) for s in SCENES.values()}
#: Worlds that the camera moves in by itself.
_CAMERA_WORLDS = ("orbit", "dolly")
#: Violations whose truth is as well defined as a lawful world's.
_VIOLATING = (
    ("roll", "vanish"), ("projectile", "teleport"), ("slide", "kick"), ("slide", "flicker"), ("roll", "boil"),
    ("bounce", "gravity_change"), ("unequal_pucks", "momentum_loss"), ("overlap", "depth_swap"),
)  # fmt: skip
_MOVING = (
    ("orbit", ""), ("dolly", ""), ("roll", "hand"), ("bounce", "hand"), ("roll", "pan"), ("projectile", "pan"),
    ("pucks", "slide"),
)  # fmt: skip
#: 24 frames a second shown at 30, every second frame held, and single frames held by chance.
_REPEATED = (("roll", "pulldown"), ("bounce", "held"), ("projectile", "drops"))
_JOINED = (("roll", "bounce"), ("projectile", "pucks"), ("still", "hide"))
#: How many clips of each kind the full form has; the quick form has one.
_CLIPS: dict[Group, int] = {"lawful": 3, "violating": 2, "moving camera": 2, "repeated frames": 3, "joined": 3}


@dataclass(frozen=True, slots=True)
class Take:
    """One clip: its world, length [s], scale, seed, and what is done to it.

    `camera` is hand, pan, slide or empty; `repeats` is pulldown, held, drops or empty; `second` is the world that
    follows after a cut, or empty.
    """

    group: Group
    world: str
    seconds: float
    scale: float
    seed: int
    violation: str = ""
    camera: str = ""
    repeats: str = ""
    second: str = ""

    @property
    def name(self) -> str:
        """World and what is done to it, for tables."""
        extra = self.violation or self.camera or self.repeats or self.second
        return f"{self.world} + {extra}" if extra else self.world

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name.replace(' + ', '-')}-{self.seed}.json"


@dataclass(frozen=True, eq=False)
class Staged:
    """A clip with its world, its film and the world frame `source` (clip frames,) that each of its frames shows."""

    world: World
    film: Film
    clip: Clip
    source: Indices

    @cached_property
    def bodies(self) -> Bodies:
        """The true bodies, in world frames."""
        return truth.bodies(self.world, self.film)

    @cached_property
    def contacts(self) -> Contacts:
        """The true contacts, in world frames."""
        return truth.contacts(self.world)

    def frames(self, times: ArrayLike) -> Indices:
        """Return the world frames (K,) that a record's `times` (K,) [s] of the clip show."""
        near = np.abs(self.clip.times[None, :] - np.asarray(times, dtype=float)[:, None]).argmin(axis=1)
        return np.asarray(self.source[near], dtype=np.intp)


def takes(quick: bool, seed: int) -> list[Take]:
    """Return all clips of a measurement, group by group."""
    counts, base = dict.fromkeys(GROUPS, 1) if quick else _CLIPS, FRESH + 1000 * seed
    plan: list[tuple[Group, str, dict[str, Any]]] = [("lawful", w, {}) for w in WORLDS if w not in _CAMERA_WORLDS]
    plan += [("violating", w, {"violation": v}) for w, v in _VIOLATING]
    plan += [("moving camera", w, {"camera": c}) for w, c in _MOVING]
    plan += [("repeated frames", w, {"repeats": r}) for w, r in _REPEATED]
    plan += [("joined", w, {"second": s}) for w, s in _JOINED]
    return [
        Take(group, world, *_FORM[world], base + 10 * index + k, **what)
        for index, (group, world, what) in enumerate(plan)
        for k in range(counts[group])
    ]


def stage(take: Take) -> Staged:
    """Return the clip of a take with its truth."""
    world = moved(build(take.world, _lab(take)), take.camera, take.seed)
    film = shoot(world)
    source, fps = shown(take.repeats, len(world.times), take.seed)
    return Staged(world, film, _coded(film.frames[source], fps), source)


def joined(take: Take) -> Clip:
    """Return a clip of two worlds, a cut between them; there is no one truth."""
    half = take.seconds / 2.0
    first = build(take.world, Lab(take.seed, half, scale=take.scale))
    second = build(take.second, Lab(take.seed + 500, half))
    return _coded(np.concatenate([filmed(first), filmed(second)]), 24)


def _lab(take: Take) -> Lab:
    dose = 1.0 if take.violation else 0.0
    return Lab(take.seed, take.seconds, scale=take.scale, violation=take.violation, dose=dose)


def _coded(frames: NDArray[np.uint8], fps: int) -> Clip:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        write_mp4(path, frames, fps)
        return decode(path)


def shown(repeats: str, frames: int, seed: int) -> tuple[Indices, int]:
    """Return which world frame each clip frame shows, and the clip's rate [frame/s]; worlds have 24."""
    each = np.arange(frames, dtype=np.intp)
    if repeats == "pulldown":
        return np.arange(frames * 5 // 4, dtype=np.intp) * 4 // 5, 30
    if repeats == "held":
        return each - each % 2, 24
    if repeats == "drops":
        held = np.random.default_rng([seed, 23]).random(frames) < 0.15
        held[0] = False
        return np.maximum.accumulate(np.where(held, 0, each)), 24
    return each, 24


def moved(world: World, camera: str, seed: int) -> World:
    """Return the world seen by a camera in a hand, one that turns by 12 deg, or one that slides by 0.5 m."""
    if not camera:
        return world
    t = world.times
    view = still(len(t))
    if camera == "hand":
        view = handheld(t, np.random.default_rng([seed, 29]))
    elif camera == "slide":
        view = sliding(t, (0.5, 0.0, 0.0))
    else:
        angle = np.radians(12.0) * (eased(t, 0.0, float(t[-1])) - 0.5)
        view = replace(view, R=np.asarray(rotations((0.0, 1.0, 0.0), angle)))
    eye = world.eye + np.einsum("tij,tj->ti", world.view, view.eye)
    turned = np.stack([product(a, b) for a, b in zip(world.view, view.R, strict=True)])
    return replace(world, eye=quantise(eye), view=quantise(turned))
