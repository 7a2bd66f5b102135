"""A whole calibration: jobs in parallel, then ``calibration.json``, a table and a plot for each dimension.

Conventions
-----------
Workers are spawned, not forked, and each computes on one thread.  Everything is a function of the seed: the number of
workers and the order in which they end change nothing.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pvbench_suite import __version__
from pvbench_suite.calibrate import figures, table
from pvbench_suite.calibrate.noise import LEVELS
from pvbench_suite.calibrate.runs import Job, code_digest, key, perform, stored
from pvbench_suite.calibrate.summary import summarise
from pvbench_suite.calibrate.worlds import HELD, ROWS
from pvbench_suite.dimensions import Registry
from pvbench_suite.errors import UserError
from pvbench_suite.files import write_atomic
from pvbench_suite.scoring import Direction

#: Raised when the meaning of a field of ``calibration.json`` changes.
FORMAT = 1
#: Variables that keep a worker on one thread.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
#: Rows whose runs take longest, so that they start first.
_HEAVY = ("R02", "R17", "R08", "R05", "R03", "R18")

Progress = Callable[[int, int, str], None]


def cuts_of(registry: Registry, dimension: str) -> tuple[tuple[float, ...], Direction]:
    """Return the cuts and direction of a dimension, or of the companion of that name."""
    for d in registry.dimensions:
        if d.id == dimension and d.cuts is not None and d.direction is not None:
            return d.cuts, d.direction
        if d.companion is not None and d.companion.id == dimension:
            return d.companion.cuts, d.companion.direction
    raise UserError(f"{dimension} has no cuts; the numeric dimensions are listed by: pvbench calibrate physics --help")


def jobs(dimensions: Sequence[str], noises: Sequence[str], seed: int, quick: bool) -> list[Job]:
    """Return the jobs of the dimensions named (none: all), the longest first.

    Raises
    ------
    UserError
        If a dimension has no closed-form world, or a level does not exist.
    """
    known = sorted({r.dimension for r in ROWS.values()})
    for wrong in (d for d in dimensions if d not in known):
        raise UserError(f"no closed-form world for {wrong!r}; there are worlds for {', '.join(known)}")
    for wrong in (n for n in noises if n not in LEVELS):
        raise UserError(f"no noise level {wrong!r}; choose {', '.join(LEVELS)}")
    wanted = set(dimensions or known)
    found = [
        Job("row", name, noise, seed, quick) for name, r in ROWS.items() if r.dimension in wanted for noise in noises
    ]
    found += [
        Job("held", name, noise, seed, quick) for name, h in HELD.items() if h.dimension in wanted for noise in noises
    ]
    return sorted(found, key=lambda job: not job.name.startswith(_HEAVY))


@contextmanager
def one_thread() -> Iterator[None]:
    """Let processes that start within compute on one thread each."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def perform_all(work: Sequence[Job], folder: Path, workers: int, progress: Progress) -> None:
    """Make the runs of all jobs that are not in `folder` yet."""
    folder.mkdir(parents=True, exist_ok=True)
    open_ = [job for job in work if stored(folder / job.file, key(job)) is None]
    done = len(work) - len(open_)
    progress(done, len(work), "resumed")
    if workers <= 1:
        for job in open_:
            perform(job, folder)
            done += 1
            progress(done, len(work), job.name)
        return
    context = multiprocessing.get_context("spawn")
    with one_thread(), ProcessPoolExecutor(workers, mp_context=context) as pool:
        futures = {pool.submit(perform, job, folder): job for job in open_}
        for future in as_completed(futures):
            future.result()
            done += 1
            progress(done, len(work), futures[future].name)


def collect(work: Sequence[Job], folder: Path, registry: Registry) -> dict[str, Any]:
    """Return the content of ``calibration.json`` from the files of the jobs."""
    rows, worlds = [], []
    for job in sorted(work, key=_order):
        runs = stored(folder / job.file, key(job))
        assert runs is not None  # `perform_all` has just made it
        item = ROWS[job.name] if job.kind == "row" else HELD[job.name]
        cuts, direction = cuts_of(registry, item.dimension)
        found = summarise(job.doses(), runs, cuts, direction, job.seed)
        head = {"name": job.name, "dimension": item.dimension, "profile": "simulator", "noise": job.noise}
        if job.kind == "row":
            rows.append({**head, "violation": ROWS[job.name].violation, **found, "note": item.note})
        else:
            worlds.append({**head, "kind": HELD[job.name].kind, **_lawful(found), "note": item.note})
    meta = {"format": FORMAT, "suite": __version__, "code": code_digest(), "seed": work[0].seed if work else 0}
    return {**meta, "quick": bool(work and work[0].quick), "rows": rows, "worlds": worlds}


def _order(job: Job) -> tuple[int, int, int]:
    names = list(ROWS if job.kind == "row" else HELD)
    return job.kind == "held", names.index(job.name), list(LEVELS).index(job.noise)


def _lawful(found: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a summary that a world without a violation has."""
    median = found["doses"][0]["value"]
    kept = {k: found[k] for k in ("floor", "lawful_share_at_5", "unmeasurable", "runs", "interval")}
    return {**kept, "median": median, "measured": found["doses"][0]["n"]}


def calibrate(
    output: Path,
    registry: Registry,
    dimensions: Sequence[str] = (),
    noises: Sequence[str] = tuple(LEVELS),
    quick: bool = False,
    seed: int = 1,
    workers: int = 1,
    progress: Progress = lambda done, total, name: None,
) -> dict[str, Any]:
    """Calibrate the kernels on closed-form worlds and write the results below `output`; return what was written.

    Files: ``calibration.json``, ``calibration.md``, ``plots/<dimension>.svg`` and the raw runs in ``runs/``.
    """
    started = time.monotonic()
    work = jobs(dimensions, noises, seed, quick)
    perform_all(work, output / "runs", workers, progress)
    content = collect(work, output / "runs", registry)
    write(content, output, registry)
    progress(len(work), len(work), f"{time.monotonic() - started:.0f} s")
    return content


def write(content: dict[str, Any], output: Path, registry: Registry) -> None:
    """Write ``calibration.json``, the table and the plots of a calibration below `output`."""
    write_atomic(output / "calibration.json", json.dumps(content, indent=1, allow_nan=False).encode())
    write_atomic(output / "calibration.md", table.markdown(content).encode())
    for dimension in dict.fromkeys(row["dimension"] for row in content["rows"]):
        mine = [row for row in content["rows"] if row["dimension"] == dimension]
        cuts, direction = cuts_of(registry, dimension)
        drawing = figures.dose_response(dimension, mine, cuts, direction)
        write_atomic(output / "plots" / f"{dimension}.svg", drawing.encode())
