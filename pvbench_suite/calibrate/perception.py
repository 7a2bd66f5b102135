"""A profile measured against the renderer's truth on fresh clips: ``perception.json`` and ``perception.md``.

Conventions
-----------
The profile sees the decoded pixels and nothing else; truth comes in only to compare.  A profile's provider that is
itself the simulator's truth is handed that truth, and its product is not measured.  Every clip has one file with a
key of the take, the profile and the code, so that a second call measures only what is missing or stale.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from pvbench_suite import __version__
from pvbench_suite.calibrate.perceived import metrics, page
from pvbench_suite.calibrate.perceived.compare import PRODUCTS, measure
from pvbench_suite.calibrate.perceived.stage import GROUPS, Take, takes
from pvbench_suite.calibrate.run import Progress, one_thread
from pvbench_suite.errors import UserError
from pvbench_suite.files import write_atomic
from pvbench_suite.perception import profiles
from pvbench_suite.perception.protocol import Profile
from pvbench_suite.perception.simulator import Truth
from pvbench_suite.simulate.worlds import WORLDS

#: Raised when the meaning of a field of ``perception.json`` changes.
FORMAT = 1


@cache
def code() -> str:
    """Return 12 hex digits over all code that a clip's counts depend on."""
    package = Path(__file__).parents[1]
    files = [p for room in ("perception", "simulate", "video") for p in (package / room).rglob("*.py")]
    files += [*(package / "calibrate" / "perceived").glob("*.py"), Path(__file__), package / "calibrate" / "views.py"]
    digest = hashlib.sha256()
    for path in sorted(set(files) - {Path(page.__file__), Path(metrics.__file__)}):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def key(take: Take, profile: str) -> str:
    """Return 16 hex digits over everything that can change a clip's counts."""
    return hashlib.sha256(json.dumps([asdict(take), profile, code()], sort_keys=True).encode()).hexdigest()[:16]


def perform(take: Take, profile: str, folder: Path, expected: str) -> None:
    """Measure one clip and write its file; `expected` is the code that the parent process runs.

    Raises
    ------
    UserError
        If the code changed while the measurement ran.
    """
    if code() != expected:
        raise UserError("the code changed while the measurement ran; run the command again")
    content = {"key": key(take, profile), "take": asdict(take), **measure(take, profiles.load(profile))}
    write_atomic(folder / take.file, json.dumps(content, allow_nan=False).encode())


def stored(take: Take, profile: str, folder: Path) -> dict[str, Any] | None:
    """Return the counts of a clip, or None where its file is missing or of other code."""
    try:
        content: Any = json.loads((folder / take.file).read_text(encoding="utf-8"))
        return content if content["key"] == key(take, profile) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def calibrate_perception(
    output: Path,
    profile: str = "embedded",
    worlds: Sequence[str] = (),
    quick: bool = False,
    seed: int = 1,
    workers: int = 1,
    physics: Path | None = None,
    progress: Progress = lambda done, total, name: None,
) -> dict[str, Any]:
    """Measure a profile; write ``perception.json``, ``perception.md`` and ``drift.svg``; return the first's content.

    Raises
    ------
    UserError
        If the profile or a world is unknown, the profile is truth itself, or `physics` is no ``calibration.json``.
    """
    loaded = chosen(profile, worlds)
    claims = page.claims(physics, loaded) if physics is not None else None
    work = [t for t in takes(quick, seed) if not worlds or t.world in worlds]
    _perform_all(work, profile, output / "takes", workers, progress)
    done = [stored(take, profile, output / "takes") for take in work]
    clips = [clip for clip in done if clip is not None]
    if len(clips) < len(work):
        raise UserError("the code changed while the measurement ran; run the command again")
    head = {"format": FORMAT, "suite": __version__, "code": code(), "seed": seed, "quick": quick}
    content = {**head, **collected(loaded, clips), "claims": claims}
    write_atomic(output / "perception.json", json.dumps(content, indent=1, allow_nan=False).encode())
    write_atomic(output / "perception.md", page.markdown(content).encode())
    write_atomic(output / "drift.svg", page.drift(clips).encode())
    return content


def chosen(profile: str, worlds: Sequence[str]) -> Profile:
    """Return the profile, after a look at the names."""
    known = sorted(set(profiles.PROFILES) - {"simulator"})
    if profile not in known:
        why = "is the truth itself, there is nothing to compare" if profile == "simulator" else "is unknown"
        raise UserError(f"--profile {profile!r} {why}; choose from {', '.join(known)}")
    for wrong in (w for w in worlds if w not in WORLDS):
        raise UserError(f"--world {wrong!r} is unknown; choose from {', '.join(sorted(WORLDS))}")
    return profiles.load(profile)


def _perform_all(work: Sequence[Take], profile: str, folder: Path, workers: int, progress: Progress) -> None:
    """Measure the clips that have no file yet."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [take for take in work if stored(take, profile, folder) is None]
    done = len(work) - len(missing)
    progress(done, len(work), "resumed")
    if workers <= 1:
        for take in missing:
            perform(take, profile, folder, code())
            done += 1
            progress(done, len(work), take.name)
        return
    with one_thread(), ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(perform, take, profile, folder, code()): take for take in missing}
        for future in as_completed(futures):
            future.result()
            done += 1
            progress(done, len(work), futures[future].name)


def collected(profile: Profile, clips: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the profile, the meaning of the numbers, the groups and the worlds of some measured clips."""
    given = {p: isinstance(profile.providers[p], Truth) for p in PRODUCTS if p in profile.providers}
    by_name: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for clip in clips:
        by_name.setdefault((clip["take"]["group"], Take(**clip["take"]).name), []).append(clip)
    return {
        "profile": profile.name,
        "limits": profile.limits,
        "given": [p for p, is_truth in given.items() if not is_truth],
        "truth": [p for p, is_truth in given.items() if is_truth],
        "not_given": [p for p in PRODUCTS if p not in given],
        "metrics": {m.name: {"words": m.words, "unit": m.unit, "better": m.better} for m in metrics.METRICS},
        "groups": [
            {"group": g, **_summary([c for c in clips if c["take"]["group"] == g], True)}
            for g in GROUPS
            if any(c["take"]["group"] == g for c in clips)
        ],
        "worlds": [{"group": g, "name": name, **_summary(mine, False)} for (g, name), mine in by_name.items()],
    }


def _summary(clips: Sequence[Mapping[str, Any]], with_interval: bool) -> dict[str, Any]:
    """Return how many clips there are, why products are refused on how many of them, and their numbers."""
    refused: dict[str, Counter[str]] = {}
    for clip in clips:
        for product, why in clip["refused"].items():
            refused.setdefault(product, Counter())[why] += 1
    reasons = {product: dict(sorted(counts.items())) for product, counts in sorted(refused.items())}
    return {"clips": len(clips), "refused": reasons, "values": metrics.values(clips, with_interval)}
