"""The runs of one row at one level of noise: deterministic, kept in one file each, and resumed.

Conventions
-----------
A *job* is a row or a held-out world at one level.  Its file holds the raw outcomes and a key of everything that can
change them, so that a file with another key is made anew.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pvbench_suite.calibrate.noise import LEVELS
from pvbench_suite.calibrate.summary import Run
from pvbench_suite.calibrate.worlds import HELD, ROWS
from pvbench_suite.calibrate.worlds.base import Draw, World
from pvbench_suite.errors import Unmeasurable
from pvbench_suite.files import write_atomic

#: The quick form makes this share of the runs.
_QUICK = 0.4


@dataclass(frozen=True, slots=True)
class Job:
    """One row or held-out world at one level: `kind` says which registry `name` is in."""

    kind: Literal["row", "held"]
    name: str
    noise: str
    seed: int
    quick: bool

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.kind}-{self.name.replace('/', '-')}-{self.noise}.json"

    def doses(self) -> tuple[float, ...]:
        """Return the doses of its runs."""
        return ROWS[self.name].doses if self.kind == "row" else (0.0,)

    def world(self) -> World:
        """Return its world."""
        return ROWS[self.name].world if self.kind == "row" else HELD[self.name].world

    def counts(self) -> list[int]:
        """Return how many runs there are of each dose."""
        if self.kind == "held":
            counts = [HELD[self.name].runs]
        else:
            lawful, each = ROWS[self.name].runs
            counts = [lawful] + [each] * (len(self.doses()) - 1)
        return [max(3, round(_QUICK * n)) for n in counts] if self.quick else counts


@cache
def code_digest() -> str:
    """Return 12 hex digits over the source of the kernels, the worlds and the noise."""
    package = Path(__file__).parents[1]
    files = [*(package / "physics").glob("*.py"), *(package / "calibrate" / "worlds").glob("*.py")]
    files += [package / "calibrate" / name for name in ("noise.py", "views.py", "runs.py")]
    parts = [f"{path.name}\0{path.read_text(encoding='utf-8')}" for path in sorted(files)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def key(job: Job) -> str:
    """Return 16 hex digits over everything that can change the outcomes of `job`."""
    what = {**asdict(job), "counts": job.counts(), "doses": job.doses(), "code": code_digest()}
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


def generators(job: Job, dose: int, count: int) -> Iterator[np.random.Generator]:
    """Yield the private generator of each of `count` runs at the dose of that index."""
    name = zlib.crc32(f"{job.kind}/{job.name}".encode())
    level = list(LEVELS).index(job.noise)
    for k in range(count):
        yield np.random.default_rng(np.random.SeedSequence([job.seed, name, level, dose, k]))


def outcome(world: World, draw: Draw) -> Run:
    """Return the value that one run measures, or the reason why there is none."""
    try:
        return world(draw).measure().value
    except Unmeasurable as error:
        return error.reason


def perform(job: Job, folder: Path) -> Path:
    """Make the runs of `job` and write them to its file in `folder`, unless they are there; return the file."""
    path = folder / job.file
    mark = key(job)
    if stored(path, mark) is not None:
        return path
    level = LEVELS[job.noise]
    runs: list[list[Run]] = []
    for index, (dose, count) in enumerate(zip(job.doses(), job.counts(), strict=True)):
        runs.append([outcome(job.world(), Draw(dose, level, rng)) for rng in generators(job, index, count)])
    content = {"key": mark, "job": asdict(job), "doses": job.doses(), "runs": runs}
    write_atomic(path, json.dumps(content, allow_nan=False).encode())
    return path


def stored(path: Path, mark: str) -> Sequence[Sequence[Run]] | None:
    """Return the runs in the file of a job, or None where there is none with that key."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        runs = content["runs"] if content["key"] == mark else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return runs if isinstance(runs, list) else None
