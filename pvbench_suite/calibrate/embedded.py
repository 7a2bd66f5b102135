"""The embedded profile on rendered clips: pixels in, the dimension tests' own code in between, numbers out.

Conventions
-----------
As `rendered`.  Every clip is measured on all dimensions of the scenes, and has one file; a file of other code or
another seed is made anew.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from pvbench_suite import __version__
from pvbench_suite.calibrate.eyes import Eyes
from pvbench_suite.calibrate.rendered import LAWFUL, SCENES, Scene, Shot, clip_of, measure
from pvbench_suite.calibrate.run import FORMAT, Progress, cuts_of, one_thread, write
from pvbench_suite.calibrate.summary import Run, summarise
from pvbench_suite.dimensions import Registry
from pvbench_suite.errors import UserError
from pvbench_suite.files import write_atomic
from pvbench_suite.perception import profiles


@cache
def _code() -> str:
    """Return 12 hex digits over all code that a clip's numbers depend on."""
    package = Path(__file__).parents[1]
    rooms = ("physics", "perceptual", "perception", "feeds", "simulate", "video")
    files = sorted(path for room in rooms for path in (package / room).rglob("*.py"))
    digest = hashlib.sha256()
    for path in [*files, *sorted(Path(__file__).parent.glob("*.py"))]:
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
    sight = Eyes(profiles.load("embedded"), clip_of(shot))
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
