"""``pvbench judge check``: a dozen rendered clips with known answers, and how many of them a judge gets right.

The clips come from the simulator, so what is wrong with each is known exactly.  They test that a judge sees, counts,
reads the rubric and uses both ends of the scale; they do not calibrate it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pvbench_suite.dimensions import Registry
from pvbench_suite.errors import JudgeFailed, Unmeasurable
from pvbench_suite.judge.protocol import Judge
from pvbench_suite.simulate.lab import Lab
from pvbench_suite.simulate.motion import rolling
from pvbench_suite.simulate.raycast import View
from pvbench_suite.simulate.scene import Actor, World
from pvbench_suite.simulate.shade import Painter, render
from pvbench_suite.simulate.violations import VIOLATIONS
from pvbench_suite.video.types import Clip, Video

_SECONDS, _FPS, _RADIUS = 4.0, 4, 0.3
#: "The judge says that it cannot be observed", as an expected answer.
NOT_OBSERVABLE = 0
HIGH, LOW = frozenset({4, 5}), frozenset({1, 2})


@dataclass(frozen=True)
class Known:
    """One clip with a known answer: any of `answers` is right (`NOT_OBSERVABLE` among them or alone)."""

    name: str
    dimension: str
    prompt: str
    answers: frozenset[int]
    make: Callable[[], World]

    @property
    def wanted(self) -> str:
        """The right answers in words."""
        if self.answers == {NOT_OBSERVABLE}:
            return "not observable"
        return " or ".join(str(a) for a in sorted(self.answers, reverse=True))

    def clip(self) -> Clip:
        """Return the rendered clip."""
        return _rendered(self.make)


@dataclass(frozen=True)
class Checked:
    """What the judge said of a known clip: its answer in words, its reason, and whether it is right."""

    known: Known
    answer: str
    reason: str
    right: bool


@cache
def _rendered(make: Callable[[], World]) -> Clip:
    world = make()
    painter = Painter(world, View.regular(world, *world.hw))
    frames = np.stack([render(world, world.state(t), painter)[0] for t in range(len(world.times))])
    return Clip(frames, world.times, world.hw)


def _ball(lab: Lab, name: str, color: str, depth: float, start: float = -1.2, speed: float = 0.6) -> Actor:
    """Return a ball that rolls to the right."""
    way = speed * lab.times
    floor = np.full_like(way, -_RADIUS)
    where = np.stack([start + way, floor, np.full_like(way, depth)], axis=-1)
    return Actor(lab.ball(name, _RADIUS, color), where, rolling(way, _RADIUS, (1.0, 0.0)))


def _lab() -> Lab:
    return Lab(seed=11, seconds=_SECONDS, fps=_FPS)


def rolls() -> World:
    """Return a red ball that rolls across the floor."""
    lab = _lab()
    return lab.world([_ball(lab, "ball", "red", 0.0)])


def three() -> World:
    """Return three red balls that roll one behind the other."""
    lab = _lab()
    return lab.world([_ball(lab, f"ball_{k}", "red", 0.1, -1.9 + 0.9 * k, 0.4) for k in range(3)])


def hangs() -> World:
    """Return a red ball that stays in mid-air with nothing near it, turning slowly."""
    lab = _lab()
    body = lab.ball("ball", _RADIUS, "red")
    return lab.world([Actor(body, (0.0, -1.4, 0.0), rolling(0.3 * lab.times, _RADIUS, (1.0, 0.0)))])


def _broken(name: str) -> Callable[[], World]:
    def make() -> World:
        return VIOLATIONS[name](rolls(), 1.0, 0)

    return make


@cache
def known() -> tuple[Known, ...]:
    """Return the dozen clips with their right answers."""
    roll = "A red ball rolls from left to right across the floor of a room."
    return (
        Known("ball there", "IF-01", roll, HIGH, rolls),
        Known("dog missing", "IF-01", "A white dog sleeps in the middle of a room.", LOW, rolls),
        Known("three of three", "IF-02", "Three red balls roll across the floor of a room.", HIGH, three),
        Known("one of three", "IF-02", "Three red balls roll across the floor of a room.", LOW, rolls),
        Known("red, not blue", "IF-03", "A blue ball rolls across the floor of a room.", LOW, rolls),
        Known("ball stays", "R15", roll, HIGH, rolls),
        Known("ball vanishes", "R15", roll, LOW, _broken("vanish")),
        Known("size kept", "R06", roll, HIGH, rolls),
        Known("ball grows", "R06", roll, LOW, _broken("scale")),
        Known("light jumps", "R08", roll, LOW, _broken("light_jump")),
        Known("ball hangs in the air", "R25", "A red ball in a room.", LOW, hangs),
        Known("no style stated", "IF-09", "A ball rolls across a floor.", frozenset({NOT_OBSERVABLE}), rolls),
    )


def digest_of(video: Video) -> str:
    """Return the sha256 of a known clip's pixels."""
    clip = next(k for k in known() if k.name == video.id).clip()
    return hashlib.sha256(clip.frames.tobytes()).hexdigest()


def video_of(case: Known) -> Video:
    """Return a known clip as a video with a prompt of its own."""
    return Video(case.name, Path(case.name), "known", "t2v", prompt=case.prompt)


def check(judge: Judge, registry: Registry) -> list[Checked]:
    """Return what `judge` says of each known clip.

    Raises
    ------
    NotPerceived
        If the judge does not answer.
    """
    return [_checked(judge, registry, case) for case in known()]


def _checked(judge: Judge, registry: Registry, case: Known) -> Checked:
    try:
        verdict: Any = judge(video_of(case), case.clip, None, registry.get(case.dimension))
    except Unmeasurable as unseen:
        return Checked(case, "not observable", unseen.detail, NOT_OBSERVABLE in case.answers)
    except JudgeFailed as failed:
        return Checked(case, "no verdict", str(failed), False)
    return Checked(case, str(verdict.score), verdict.reason, verdict.score in case.answers)


def lines(results: list[Checked]) -> list[str]:
    """Return the table of a check, and the agreement."""
    out = [f"{'clip':<22} {'dim':<6} {'right':<15} {'judge':<15} reason"]
    for r in results:
        mark = "" if r.right else "  <- wrong"
        out.append(
            f"{r.known.name:<22} {r.known.dimension:<6} {r.known.wanted:<15} {r.answer:<15} {r.reason[:60]}{mark}"
        )
    right = sum(r.right for r in results)
    return [*out, f"agreement: {right} of {len(results)} known answers"]
