"""``pvbench perceive``: makes the perception products of a folder ahead of the run, in parallel, into its cache.

Conventions
-----------
A product that is in the cache is not made again, so a run that was stopped goes on where it stood, and the test run
finds what was made here under the same key.  A video that is broken, or that the profile cannot see, costs itself only.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from pvbench_suite.dimensions import load
from pvbench_suite.errors import BrokenVideo, NotPerceived, UserError
from pvbench_suite.perception import profiles
from pvbench_suite.perception.cache import Cache, identity
from pvbench_suite.perception.engine import Perception
from pvbench_suite.plugin.clips import Clips
from pvbench_suite.plugin.options import model_dir
from pvbench_suite.plugin.run import cache_folders
from pvbench_suite.rebuild import suite_of
from pvbench_suite.video.digest import DigestIndex
from pvbench_suite.video.manifest import discover
from pvbench_suite.video.names import shown
from pvbench_suite.video.types import Video


@dataclass(frozen=True)
class Task:
    """One video, its digest, the cache folders, and the products to make of it under a profile."""

    video: Video
    digest: str
    folders: tuple[Path, ...]
    profile: str
    products: tuple[str, ...]


@dataclass
class Outcome:
    """What came of a task: products made and found, why others were refused, and the fault of a broken video."""

    video: Video
    made: tuple[str, ...] = ()
    there: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    broken: str = ""

    def line(self) -> str:
        """Return the outcome for people, empty where everything was there."""
        if self.broken:
            return f"{self.video!r}: {self.broken}"
        texts = [f"made {', '.join(self.made)}"] if self.made else []
        texts += [f"{shown(why)} ({n} products)" for why, n in self.refused.items()]
        return f"{self.video!r}: {'; '.join(texts)}" if texts else ""


def products_of(profile: str, wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the products that a profile makes and some dimension reads, or those of them that are `wanted`.

    Raises
    ------
    UserError
        If the profile is unknown, or makes none of what is wanted.
    """
    makes = profiles.load(profile).providers
    read = {product for d in load().dimensions for product in (*d.needs, *d.optional) if product in makes}
    if unknown := [product for product in wanted if product not in makes]:
        raise UserError(
            f"--product {unknown[0]}: the profile {profile!r} does not make it; it makes {', '.join(sorted(makes))}"
        )
    return tuple(sorted(wanted or read))


def perceive_video(task: Task) -> Outcome:
    """Return what came of one task; the products are in the first cache folder."""
    profile, cache, clips = profiles.load(task.profile), Cache(task.folders), Clips()
    perception = Perception(profile, cache, clips.get, lambda _: task.digest)
    out = Outcome(task.video)
    try:
        clips.warnings(task.video, task.digest, task.folders[0], write=True)
        for product in task.products:
            if cache.find(task.digest, product, identity(profile, product)) is not None:
                out.there += 1
                continue
            try:
                perception.get(task.video, product)
                out.made += (product,)
            except NotPerceived as error:
                out.refused[error.what] += 1
    except BrokenVideo as error:
        out.broken = str(error)
    return out


def tasks(
    text: str, profile: str, products: tuple[str, ...], prompts: Path | None, layout: str, cache: Path | None
) -> list[Task]:
    """Return a task for each video of ``[NAME=]PATH``; errors as in `discover`.

    Raises
    ------
    UserError
        If the folder is read-only and no cache folder is given.
    """
    model = model_dir(text, Path.cwd())
    folders = tuple(cache_folders(model.path, cache, None))
    manifest = discover(model.name, model.path, suite_of(model.path, prompts), layout=layout)
    index = DigestIndex(folders[0] / "digests.json")
    found = [Task(v, index.get(v.path), folders, profile, products) for v in manifest.videos]
    index.save()
    return found


def outcomes(found: Sequence[Task], workers: int) -> Iterator[Outcome]:
    """Yield what comes of the tasks, in their order; each worker is a process of its own."""
    if workers == 1 or len(found) < 2:
        yield from map(perceive_video, found)
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(perceive_video, found)


def total(done: Sequence[Outcome]) -> str:
    """Return the last line: how much was made, was there, was refused, is broken."""
    made, there = sum(len(o.made) for o in done), sum(o.there for o in done)
    refused, broken = sum(o.refused.total() for o in done), sum(bool(o.broken) for o in done)
    return (
        f"{len(done)} videos: {made} products made, {there} were there, {refused} not perceived, {broken} videos broken"
    )
