"""The embedded profile on rendered clips: pixels in, the dimension tests' own code in between, numbers out.

Conventions
-----------
A clip is rendered, encoded as MP4, decoded as any user's file and perceived by the profile; nothing of its ground truth
is used.  Its prompt is none, so that objects have no names and gravity no metric.  Doses are those of
`pvbench_suite.simulate.violations`, in [0, 1].  Every clip is measured on all dimensions of this module, one file each.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import multiprocessing
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pvbench_suite import __version__, suite
from pvbench_suite.calibrate.run import FORMAT, Progress, cuts_of, one_thread, write
from pvbench_suite.calibrate.summary import Run, summarise
from pvbench_suite.dimensions import Registry, load
from pvbench_suite.errors import NotPerceived, Unmeasurable, UserError
from pvbench_suite.files import write_atomic
from pvbench_suite.measurement import Measurement
from pvbench_suite.perception import profiles
from pvbench_suite.perception.types import Record
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


class Sight:
    """The products of one clip by the embedded profile, each made once."""

    def __init__(self, clip: Clip) -> None:
        self._clip = clip
        self._made: dict[str, Record] = {}

    def get(self, product: str) -> Record:
        """Return a product; raises `NotPerceived` where the profile has none for this clip."""
        profile = profiles.load("embedded")
        if product not in profile.providers:
            raise NotPerceived(f"no {product}", profile.remedy)
        if product not in self._made:
            provider = profile.providers[product]
            self._made[product] = provider(self._clip, {need: self.get(need) for need in provider.needs})
        return self._made[product]

    def optional(self, product: str) -> Record | None:
        """Return a product, or None where there is none."""
        try:
            return self.get(product)
        except NotPerceived:
            return None


def measure(identifier: str, sight: Sight) -> Run:
    """Return what the dimension's own test hands in for a clip, or the reason why it does not."""
    taken: list[Measurement] = []
    offered = {"optional": sight.optional, "perceive": sight.get, "brief": Brief(None), "grade": taken.append}
    test = dimension_test(identifier)
    try:
        wanted = {n: offered[n] if n in offered else sight.get(n) for n in inspect.signature(test).parameters}
        test(**wanted)
    except Unmeasurable as error:
        return error.reason
    except NotPerceived:
        return NOT_PERCEIVED
    return taken[0].value


@cache
def _code() -> str:
    """Return 12 hex digits over all code that a clip's numbers depend on."""
    package = Path(__file__).parents[1]
    rooms = ("physics", "perceptual", "perception", "feeds", "simulate", "video")
    files = sorted(path for room in rooms for path in (package / room).rglob("*.py"))
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _key(shot: Shot) -> str:
    return hashlib.sha256(json.dumps([asdict(shot), _code()], sort_keys=True).encode()).hexdigest()[:16]


def stored(shot: Shot, folder: Path) -> dict[str, Run] | None:
    """Return the runs of a clip by dimension, or None where its file is missing or of other code."""
    try:
        content = json.loads((folder / shot.file).read_text(encoding="utf-8"))
        runs: Any = content["runs"] if content["key"] == _key(shot) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return runs if isinstance(runs, dict) else None


def perform(shot: Shot, folder: Path) -> None:
    """Render, perceive and measure one clip on every dimension, and write its file."""
    sight = Sight(clip_of(shot))
    runs = {identifier: measure(identifier, sight) for identifier in dict.fromkeys(s.dimension for s in SCENES)}
    content = {"key": _key(shot), "shot": asdict(shot), "runs": runs}
    write_atomic(folder / shot.file, json.dumps(content, allow_nan=False).encode())


def _shots(scene: Scene, quick: bool, seed: int) -> list[list[Shot]]:
    """Return the clips of a scene, dose by dose; lawful ones have seeds of their own."""
    lawful, each = (3, 2) if quick else (8, 4)
    counts = [lawful] + [each] * (len(scene.doses) - 1)
    return [
        [
            Shot(scene.world, scene.seconds, scene.violation if dose else "", dose, 1000 * seed + 40 * index + k)
            for k in range(count)
        ]
        for index, (dose, count) in enumerate(zip(scene.doses, counts, strict=True))
    ]


def calibrate_embedded(
    output: Path,
    registry: Registry,
    dimensions: Sequence[str] = (),
    quick: bool = False,
    seed: int = 1,
    workers: int = 1,
    progress: Progress = lambda done, total, name: None,
) -> dict[str, Any]:
    """Calibrate the embedded profile on rendered clips; write and return the same as `run.calibrate`.

    Raises
    ------
    UserError
        If the profile does not claim one of the dimensions.
    """
    claimed = list(dict.fromkeys(scene.dimension for scene in SCENES))
    for wrong in (d for d in dimensions if d not in claimed):
        raise UserError(f"the embedded profile is not calibrated for {wrong!r}; it is for {', '.join(claimed)}")
    scenes = [s for s in SCENES if not dimensions or s.dimension in dimensions]
    plan = {scene.name: _shots(scene, quick, seed) for scene in scenes}
    held = {
        name: [Shot(name, 2.0, "", 0.0, 1000 * seed + 900 + k) for k in range(1 if quick else 4)] for name in LAWFUL
    }
    shots = list(dict.fromkeys(s for groups in plan.values() for group in groups for s in group))
    shots += [s for group in held.values() for s in group]
    _perform_all(shots, output / "clips", workers, progress)
    content = _collect(scenes, plan, held, output / "clips", registry, seed, quick)
    write(content, output, registry)
    return content


def _perform_all(shots: Sequence[Shot], folder: Path, workers: int, progress: Progress) -> None:
    """Measure the clips that have no file yet."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [shot for shot in shots if stored(shot, folder) is None]
    done = len(shots) - len(missing)
    progress(done, len(shots), "resumed")
    if workers <= 1:
        for shot in missing:
            perform(shot, folder)
            done += 1
            progress(done, len(shots), shot.world)
        return
    with one_thread(), ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(perform, shot, folder): shot for shot in missing}
        for future in as_completed(futures):
            future.result()
            done += 1
            progress(done, len(shots), futures[future].world)


def _collect(
    scenes: Sequence[Scene],
    plan: dict[str, list[list[Shot]]],
    held: dict[str, list[Shot]],
    folder: Path,
    registry: Registry,
    seed: int,
    quick: bool,
) -> dict[str, Any]:
    """Return the content of ``calibration.json`` from the files of the clips."""
    rows, worlds = [], []
    for scene in scenes:
        runs = [[_run(s, folder, scene.dimension) for s in group] for group in plan[scene.name]]
        found = summarise(scene.doses, runs, *cuts_of(registry, scene.dimension), seed)
        head = {"name": scene.name, "dimension": scene.dimension, "profile": "embedded", "noise": "rendered"}
        rows.append({**head, "violation": f"{scene.words} ({scene.world})", **found, "note": ""})
    for identifier in dict.fromkeys(s.dimension for s in scenes):
        for world, shots in held.items():
            runs = [[_run(s, folder, identifier) for s in shots]]
            found = summarise((0.0,), runs, *cuts_of(registry, identifier), seed)
            median, measured = found["doses"][0]["value"], found["doses"][0]["n"]
            kept = {k: found[k] for k in ("floor", "lawful_share_at_5", "unmeasurable", "runs", "interval")}
            head = {"name": f"{identifier}/{world}", "dimension": identifier, "profile": "embedded"}
            tail = {"kind": "lawful", **kept, "median": median, "measured": measured, "note": ""}
            worlds.append({**head, "noise": "rendered", **tail})
    meta: dict[str, Any] = {"format": FORMAT, "suite": __version__, "code": _code(), "seed": seed, "quick": quick}
    return {**meta, "rows": rows, "worlds": worlds}


def _run(shot: Shot, folder: Path, identifier: str) -> Run:
    runs = stored(shot, folder)
    assert runs is not None  # `_perform_all` has just made it
    return runs[identifier]
