"""The measured numbers of docs/perception.md: ``python -m tests.perception.derived_table [takes]`` (2 if not given).

Every world is filmed anew with seeds that no test uses, without noise and with 1 % of depth noise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache

import numpy as np

from pvbench_suite.calibrate.rendered import filmed as pictures
from pvbench_suite.perception.derived import PROFILE
from pvbench_suite.physics.light import light_from_shading
from pvbench_suite.video.types import Clip
from tests.perception.derived_worlds import FPS, FULL, Derived, derived, matched

IMPACTS = ("bounce", "high_bounce", "low_bounce", "projectile", "air_collision", "pucks", "unequal_pucks")
QUIET = ("roll", "slide", "pendulum", "spin", "tumble", "hide", "slope", "lift", "beside")
FIRST = 101
#: Length of a clip [s]; the ramp ends, and the plate leaves the picture.
SECONDS = {"slope": 1.2, "lift": 1.2}


def angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the angles between rows [deg]."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    cosine = (a * b).sum(axis=-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


@cache
def run(name: str, take: int) -> tuple[Derived, Derived]:
    """Return what is derived of a world without noise and with it, from one film."""
    seconds = SECONDS.get(name, 2.0)
    clear, noisy = (derived(name, hw=FULL, take=FIRST + take, seed=seed, seconds=seconds) for seed in (-1, take))
    return clear, noisy


def late(made: Derived) -> np.ndarray:
    """Return which contacts of the truth (C,) lie within 3 frames of an end of the clip."""
    when, end = made.truth["contacts"].when, made.read["bodies"].times[-1]
    return np.array([w > end - 3.5 / FPS or w < 3.5 / FPS for w in when], dtype=bool)


def contacts(made: list[Derived]) -> str:
    """Return recall, false contacts and the error of time."""
    errors, missed, false, near = [], 0, 0, 0
    for clip in made:
        found, lost, alone = matched(clip.contacts, clip.truth["contacts"])
        errors += found
        missed, false, near = missed + lost, false + alone, near + int(late(clip).sum())
    seen = len(errors) + missed
    rms, most = float(np.sqrt(np.mean(np.square(errors)))), float(np.abs(errors).max())
    return (
        f"{len(errors)} of {seen} found ({near} lie within 3 frames of an end), {false} false; "
        f"error {rms:.2f} frames rms, {most:.2f} at most"
    )


def quiet(made: list[Derived]) -> str:
    """Return false contacts and false flights where there are none."""
    false = sum(len(clip.contacts.when) for clip in made)
    flights = np.mean(
        [
            clip.contacts.airborne[:, 0][~clip.truth["contacts"].airborne[:, 0]].mean()
            for clip in made
            if not clip.truth["contacts"].airborne[:, 0].all()
        ]
    )
    return f"{false} false contacts in {len(made)} clips; {100 * flights:.1f} % of supported frames called flight"


def flights(made: list[Derived]) -> str:
    """Return the share of flying frames that are called so."""
    right = [(clip.contacts.airborne & clip.truth["contacts"].airborne).sum() for clip in made]
    return (
        f"{100 * sum(right) / sum(clip.truth['contacts'].airborne.sum() for clip in made):.1f} % of flying frames found"
    )


def centres(made: list[Derived]) -> str:
    """Return the errors of centre and size in diameters."""
    along, across, size = [], [], []
    for clip in made:
        for n in range(len(clip.bodies.names)):
            true = np.asarray(clip.truth["bodies"].centre[:, n], dtype=float)
            ray = true / np.linalg.norm(true, axis=1, keepdims=True)
            off, wide = clip.bodies.centre[:, n] - true, float(clip.truth["bodies"].diameter[n])
            part = (off * ray).sum(axis=1)
            along.append(np.nanmedian(part) / wide)
            across.append(np.nanpercentile(np.linalg.norm(off - part[:, None] * ray, axis=1), 95) / wide)
            size.append(clip.bodies.diameter[n] / wide - 1.0)
    return (
        f"along the ray {np.mean(along):+.3f} +- {np.std(along):.3f}, across {np.mean(across):.3f} (95th percentile), "
        f"diameter {100 * np.mean(size):+.1f} %"
    )


def down(made: list[Derived]) -> str:
    """Return the error of gravity's direction."""
    off = [float(angle(clip.contacts.down, clip.truth["contacts"].down)) for clip in made]
    return f"{np.median(off):.2f} deg median, {max(off):.2f} at most"


def pivots(made: list[Derived]) -> str:
    """Return the error of the pivot."""
    off = [np.linalg.norm(clip.contacts.pivot[0] - clip.truth["contacts"].pivot[0]) / 0.66 for clip in made]
    return f"{np.isfinite(off).sum()} of {len(off)} found, off by {100 * np.nanmax(off):.1f} % of the string at most"


def order(made: list[Derived]) -> str:
    """Return how many cues are found and how many are wrong."""
    found, wrong, true = 0, 0, 0
    for clip in made:
        a, b = clip.ordering.cue, clip.truth["ordering"].cue
        true += int((b > 0).sum())
        found, wrong = found + int(((a == b) & (b > 0)).sum()), wrong + int(((a == -b) & (b > 0)).sum())
    return f"{found} of {true} cues found, {wrong} contrary"


def shadows(made: list[Derived]) -> str:
    """Return the errors of the main shadow's direction and of the light."""
    off, light, known = [], [], []
    for clip in made:
        film = Clip(pictures(clip.world), clip.world.times, clip.world.hw)
        record = PROFILE.providers["shading"](film, {**clip.read, "bodies": clip.bodies})
        true = clip.truth["shading"]
        seen = np.isfinite(record.shadow[:, 0])
        known.append(seen.mean())
        off.append(angle(record.shadow[seen], true.shadow[seen]))
        light.append(
            angle(*(light_from_shading(r.normals.astype(float), r.shading.astype(float))[0] for r in (record, true)))
        )
    return (
        f"shadow seen in {100 * np.mean(known):.0f} % of the frames, off by {np.median(np.concatenate(off)):.1f} deg "
        f"(95th percentile {np.percentile(np.concatenate(off), 95):.1f}); light off by "
        f"{np.nanmedian(np.concatenate(light)):.1f} deg ({np.nanpercentile(np.concatenate(light), 95):.1f})"
    )


ROWS: tuple[tuple[str, tuple[str, ...], Callable[[list[Derived]], str]], ...] = (
    ("Impacts", IMPACTS, contacts),
    ("No impact, no flight", QUIET, quiet),
    ("Flight", (*IMPACTS[:5], "tumble"), flights),
    ("Balls: centre and size [diameters]", (*IMPACTS[:5], "roll", "pendulum"), centres),
    ("Boxes", ("slide", "spin", "tumble"), centres),
    ("Other bodies (pucks)", ("pucks", "unequal_pucks"), centres),
    ("Gravity's direction", ("bounce", "pucks", "roll", "orbit", "dolly"), down),
    ("Pivot", ("pendulum",), pivots),
    ("Order", ("overlap", "hide", "sundial"), order),
    ("Light and shadow", ("sundial", "lamp"), shadows),
)


def main() -> None:
    """Print the table."""
    takes = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    sys.stdout.write("| what | worlds | without noise | depth noise of 1 % |\n|---|---|---|---|\n")
    for name, worlds, measure in ROWS:
        made = [run(world, take) for world in worlds for take in range(takes)]
        cells = [measure([pair[noise] for pair in made]) for noise in (0, 1)]
        sys.stdout.write(f"| {name} | {', '.join(worlds)} | {cells[0]} | {cells[1]} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
