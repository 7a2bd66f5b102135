"""The demo: two "models", lawful and violating, that answer the same 24 prompt groups in T2V and I2V.

Conventions
-----------
The prompts stand in ``demo_groups.jsonl``.  A violating clip is its lawful twin, of the same seed, with one law broken;
`SCENES` says which, and which dimensions must lose points by it.  T2V and I2V of a group differ by their seed.
Rendering is resumable: a clip whose video and records are there is skipped.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import cv2

from pvbench_suite.errors import UserError
from pvbench_suite.files import write_atomic
from pvbench_suite.perception import simulator
from pvbench_suite.perception.types import Record
from pvbench_suite.simulate.film import first_frame, shoot
from pvbench_suite.simulate.lab import Lab
from pvbench_suite.simulate.mp4 import write_mp4
from pvbench_suite.simulate.truth import PRODUCTS, records
from pvbench_suite.simulate.worlds import build
from pvbench_suite.video.digest import digest
from pvbench_suite.video.types import MODALITIES, Modality

Store = Callable[[Path, Path, Mapping[str, Record]], None]
Stored = Callable[[Path, Path], bool]

MODELS = ("lawful", "violating")


@dataclass(frozen=True)
class Scene:
    """One group of the demo: its world, length [s], violation and dose, and the dimensions that it must lower."""

    world: str
    seconds: float
    violation: str
    lowers: tuple[str, ...]
    dose: float = 1.0
    scale: float = 1.0


#: What happens in each group.  Group d024 also asks for R19, which nothing here can lower: its two sources, the
#: tracker's own 3D points and those from depth and camera, come from one truth and agree by construction.
SCENES: Mapping[str, Scene] = MappingProxyType(
    {
        "d001": Scene("high_bounce", 2.5, "gravity", ("R21",)),
        "d002": Scene("low_bounce", 2.5, "energy_gain", ("R23",)),
        "d003": Scene("projectile", 2.0, "teleport", ("R16",)),
        "d004": Scene("pendulum", 3.0, "energy_gain", ("R23",)),
        "d005": Scene("pucks", 2.0, "momentum_loss", ("R22",)),
        "d006": Scene("unequal_pucks", 2.0, "momentum_loss", ("R22",)),
        "d007": Scene("air_collision", 2.0, "pass_through", ("R24",)),
        "d008": Scene("thud", 2.0, "sink", ("R24",)),
        "d009": Scene("spin", 2.5, "rotation", ("R20",)),
        "d010": Scene("tumble", 2.0, "stretch", ("R18",), scale=3.0),
        "d011": Scene("hide", 2.5, "vanish", ("R15",)),
        "d012": Scene("orbit", 2.5, "drift", ("R05",)),
        "d013": Scene("dolly", 2.5, "drift", ("R05",)),
        "d014": Scene("overlap", 2.5, "depth_swap", ("R01",)),
        "d015": Scene("squash", 2.5, "volume", ("R11",)),
        "d016": Scene("lamp", 2.5, "light_jump", ("R08",)),
        "d017": Scene("sundial", 2.5, "shadow_turn", ("R08",)),
        "d018": Scene("bounce", 2.5, "gravity_change", ("R21",)),
        "d019": Scene("roll", 2.0, "boil", ("R17",)),
        "d020": Scene("slide", 2.0, "flicker", ("PTQ-03",)),
        "d021": Scene("roll", 2.0, "judder", ("PTQ-04",), dose=0.8),
        "d022": Scene("slide", 2.0, "kick", ("R16",)),
        "d023": Scene("spin", 2.5, "scale", ("R18", "R03")),
        "d024": Scene("approach", 2.0, "normals", ("R02",)),
    }
)

#: The dimensions that the violation of each group must lower.
DEMO_TARGETS: Mapping[str, tuple[str, ...]] = MappingProxyType({group: s.lowers for group, s in SCENES.items()})


@dataclass(frozen=True)
class Job:
    """One clip to render into `out`."""

    out: Path
    model: str
    modality: Modality
    group: str

    @property
    def folder(self) -> Path:
        """The model's folder."""
        return self.out / self.model

    @property
    def video(self) -> Path:
        """Where the clip goes."""
        return self.folder / self.modality / f"{self.group}.mp4"

    @property
    def beside(self) -> Path:
        """Where it stands until its records are stored."""
        return self.video.with_name(f".{self.group}.part.mp4")

    @property
    def reference(self) -> Path:
        """The first frame that the I2V clips of the group start from."""
        return self.out / "references" / f"{self.group}.png"


def lab_of(group: str, modality: Modality, lawful: bool) -> Lab:
    """Return the lab of a clip; T2V and I2V differ by their seed, lawful and violating by the violation alone."""
    scene = SCENES[group]
    seed = 2 * int(group[1:]) + MODALITIES.index(modality)
    violation, dose = ("", 0.0) if lawful else (scene.violation, scene.dose)
    return Lab(seed, scene.seconds, scale=scene.scale, violation=violation, dose=dose)


def groups_jsonl(groups: Sequence[str] | None = None) -> bytes:
    """Return the prompt groups of the demo as JSONL, all of them or those named."""
    lines = files("pvbench_suite.simulate").joinpath("demo_groups.jsonl").read_bytes().splitlines(keepends=True)
    wanted = set(SCENES if groups is None else groups)
    return b"".join(line for line, group in zip(lines, SCENES, strict=True) if group in wanted)


def render_clip(job: Job) -> Mapping[str, Record]:
    """Render one clip beside its place, with the reference image of an I2V clip; return its records."""
    lab = lab_of(job.group, job.modality, job.model == "lawful")
    name = SCENES[job.group].world
    world = build(name, lab)
    film = shoot(world)
    write_mp4(job.beside, film.frames, lab.fps)
    if job.modality == "i2v" and not job.reference.is_file():
        picture = first_frame(build(name, lab_of(job.group, "i2v", lawful=True)))
        done, png = cv2.imencode(".png", picture[..., ::-1])
        if not done:
            raise UserError(f"{job.reference}: the reference image could not be encoded")
        write_atomic(job.reference, png.tobytes())
    return records(world, film)


def in_cache(model: Path, video: Path) -> bool:
    """Return whether every record of a video stands in the cache of its model's folder."""
    return simulator.stored(model / "pvbench" / "cache", digest(video), PRODUCTS)


def render_demo(
    out: Path,
    *,
    store: Store,
    models: Sequence[str] = MODELS,
    workers: int = 2,
    progress: Callable[[int, int, str], None] | None = None,
    clips: Sequence[str] | None = None,
    stored: Stored = in_cache,
) -> None:
    """Render the demo: videos, prompts, reference images and, through `store`, ground truth.

    Parameters
    ----------
    out : Path
        The folder; gets ``<model>/{t2v,i2v}/<group>.mp4``, ``groups.jsonl`` and ``references/<group>.png``.
    store : callable
        Takes (model folder, video, records by product), in this process.  The video stands under a temporary name
        then and is renamed afterwards, so a clip in its place has its records.
    models : sequence of str
        "lawful", "violating", or both.
    workers : int
        Processes that render.
    progress : callable, optional
        Called in this process with (clips done, clips in all, name of the clip).
    clips : sequence of str, optional
        Group ids; all if not given.
    stored : callable
        Takes (model folder, video); whether the records of a clip that is there are too.

    Raises
    ------
    UserError
        If a model or a group is unknown.
    """
    chosen = list(SCENES if clips is None else clips)
    for name, known in [*((m, MODELS) for m in models), *((g, tuple(SCENES)) for g in chosen)]:
        if name not in known:
            raise UserError(f"the demo has no {name!r}; choose {', '.join(known)}")
    write_atomic(out / "groups.jsonl", groups_jsonl(chosen))
    jobs = [Job(out, model, modality, group) for group in chosen for modality in MODALITIES for model in models]
    for done, job in enumerate(_finished(jobs, store, stored, workers), 1):
        if progress is not None:
            progress(done, len(jobs), f"{job.model} {job.modality} {job.group}")


def _ready(job: Job, stored: Stored) -> bool:
    reference = job.modality == "t2v" or job.reference.is_file()
    return reference and job.video.is_file() and stored(job.folder, job.video)


def _finished(jobs: Sequence[Job], store: Store, stored: Stored, workers: int) -> Iterator[Job]:
    """Yield each job when its clip and records are in place; few at a time wait, since records are large."""
    missing = []
    for job in jobs:
        if _ready(job, stored):
            yield job
        else:
            missing.append(job)
            job.video.parent.mkdir(parents=True, exist_ok=True)
    if not missing:
        return
    todo = iter(missing)
    with ProcessPoolExecutor(max(1, workers), mp_context=multiprocessing.get_context("spawn")) as pool:
        running: dict[Future[Mapping[str, Record]], Job] = {}
        while True:
            for job in islice(todo, max(1, workers) + 1 - len(running)):
                running[pool.submit(render_clip, job)] = job
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                store(job.folder, job.beside, future.result())
                job.beside.replace(job.video)
                yield job
