"""`Run`: everything that one process of a run knows; built on the controller, handed to workers as plain JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from pvbench_suite import __version__
from pvbench_suite.dimensions import Dimension, Registry, load
from pvbench_suite.errors import NotPerceived, UserError
from pvbench_suite.judge import Settings, configured
from pvbench_suite.judge.service import JudgeService
from pvbench_suite.perception import profiles
from pvbench_suite.perception.cache import Cache
from pvbench_suite.perception.engine import Perception
from pvbench_suite.perception.protocol import Profile
from pvbench_suite.planning import Planned, blank_row
from pvbench_suite.plugin.clips import Clips
from pvbench_suite.plugin.options import ModelDir, Options
from pvbench_suite.plugin.references import References, mark
from pvbench_suite.prompts.loader import Suite
from pvbench_suite.results import Row
from pvbench_suite.video.types import Video

Key = tuple[str, str, str]
T = TypeVar("T")


def key_of(video: Video) -> Key:
    """Return (model, modality, id): what names a video within a run."""
    return (video.model, video.modality, video.id)


@dataclass(frozen=True)
class Job:
    """One video of the run: what is planned for it, what is still to do, and its digest (None: not hashed)."""

    planned: Planned
    todo: tuple[str, ...]
    digest: str | None

    @property
    def video(self) -> Video:
        """The video."""
        return self.planned.video

    def __repr__(self) -> str:
        return repr(self.video)


@dataclass
class Run:
    """The jobs of a run and the means to do them."""

    options: Options
    suite: Suite
    jobs: dict[Key, Job] = field(default_factory=dict)
    judge: JudgeService | None = None

    @cached_property
    def registry(self) -> Registry:
        """The 46 dimensions."""
        return load()

    @cached_property
    def idle_stems(self) -> frozenset[str]:
        """The file names (without suffix) of dimensions for which no video is planned."""
        planned = {identifier for job in self.jobs.values() for identifier in job.planned.dimensions}
        return frozenset(d.stem for d in self.registry.dimensions if d.id not in planned)

    @cached_property
    def profile(self) -> Profile:
        """Who perceives."""
        return profiles.load(self.options.profile)

    def hire(self, settings: Settings | None, share: Path | None, workers: int) -> None:
        """Make the judge of this process, if one is asked for."""
        self.judge = configured(settings, self.digest, self.folders_of, share=share, workers=workers)

    def folders_of(self, video: Video) -> list[Path]:
        """Return the cache folders of the model that a video is of."""
        return self.cache_folders(next(m for m in self.options.models if m.name == video.model))

    def folder(self, model: ModelDir) -> Path:
        """Return where the journal and reports of a model go."""
        base = self.options.report_dir / model.name if self.options.report_dir else model.path / "pvbench"
        return base / self.profile.name

    def cache_folders(self, model: ModelDir) -> list[Path]:
        """Return the cache folders of a model; the first is written, all are read."""
        beside = self.folder(model).parent / "cache"
        return self._once(("folders", model.name), lambda: cache_folders(model.path, self.options.cache_dir, beside))

    def _once(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """Return what `make` gave when it was asked for `key` first: rows are made by the ten thousand."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast(T, self._kept[key])

    @cached_property
    def _kept(self) -> dict[tuple[object, ...], object]:
        return {}

    @cached_property
    def _perceptions(self) -> dict[str, Perception]:
        return {}

    @cached_property
    def clips(self) -> Clips:
        """The decoder's front: one clip in memory, broken files remembered."""
        return Clips(self.options.limits)

    @cached_property
    def references(self) -> References:
        """The reference images of the I2V videos."""
        return References(self.options.limits)

    def perception(self, model: str) -> Perception:
        """Return the perception of a model's videos."""
        if model not in self._perceptions:
            found = next(m for m in self.options.models if m.name == model)
            cache = Cache(self.cache_folders(found))
            self._perceptions[model] = Perception(self.profile, cache, self.clips.get, self.digest)
        return self._perceptions[model]

    def digest(self, video: Video) -> str:
        """Return the sha256 of a video of the run."""
        digest = self.jobs[key_of(video)].digest
        if digest is None:
            raise RuntimeError(f"{video!r} was not hashed: a collect-only run perceives nothing")
        return digest

    def scorer(self, dimension: Dimension) -> str:
        """Return "cuts", or the id of the judge that scores `dimension` ("no-judge" where none is configured)."""
        if dimension.paradigm == "i" or (dimension.paradigm == "ii" and self.judge is None):
            return "cuts"
        return self.judge.id(dimension) if self.judge else "no-judge"

    def providers(self, dimension: Dimension) -> dict[str, str]:
        """Return product -> provider identity for what `dimension` may read under this profile."""
        if self.judge is None and dimension.paradigm == "iii":
            return {}
        return self._identities(dimension.needs + dimension.optional)

    def _identities(self, products: tuple[str, ...]) -> dict[str, str]:
        from pvbench_suite.perception.cache import identity

        made = [p for p in sorted(products) if p in self.profile.providers]
        return self._once(("identities", products), lambda: {p: identity(self.profile, p) for p in made})

    def require_claim(self, dimension: Dimension) -> None:
        """Raise `NotPerceived` if the profile does not claim a numeric dimension."""
        claims = self.profile.claims
        if self.scorer(dimension) == "cuts" and claims is not None and dimension.id not in claims:
            raise NotPerceived(
                f"the profile {self.profile.name!r} ({self.profile.limits}) does not claim {dimension.id}",
                self.profile.remedy,
            )

    def row(self, planned: Planned, dimension: Dimension, digest: str | None) -> Row:
        """Return the row of a pair before its outcome.

        Its `brief` names the reference image as well where the dimension is judged beside it: another image, another
        question.
        """
        row = blank_row(
            planned,
            dimension,
            profile=self.profile.name,
            providers=self.providers(dimension),
            scorer=self.scorer(dimension),
            digest=digest,
            suite=__version__,
            thresholds=self._once(("thresholds", dimension.id), dimension.digest),
        )
        image = planned.video.reference if dimension.expectation == "reference" else None
        if (
            image is not None
            and row["brief"] is not None
            and (named := self._once(("image", image), lambda: mark(image)))
        ):
            row["brief"] += f"+{named}"
        return row

    def to_text(self) -> str:
        """Return the jobs as JSON for a worker."""
        return json.dumps([_job_to_plain(job) for job in self.jobs.values()])

    def load_text(self, text: str) -> None:
        """Take the jobs that the controller sent."""
        jobs = [_job_from_plain(plain, self.suite) for plain in json.loads(text)]
        self.jobs = {key_of(job.video): job for job in jobs}


def _job_to_plain(job: Job) -> dict[str, Any]:
    video = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(job.video).items()}
    return {"video": video, "dimensions": job.planned.dimensions, "todo": job.todo, "digest": job.digest}


def _job_from_plain(plain: Mapping[str, Any], suite: Suite) -> Job:
    fields = dict(plain["video"])
    fields["path"] = Path(fields["path"])
    fields["reference"] = Path(fields["reference"]) if fields["reference"] else None
    fields["dimensions"] = tuple(fields["dimensions"]) if fields["dimensions"] is not None else None
    video = Video(**fields)
    group = suite.get(video.group) if video.group else None
    return Job(Planned(video, group, tuple(plain["dimensions"])), tuple(plain["todo"]), plain["digest"])


def cache_folders(model: Path, given: Path | None, beside: Path | None) -> list[Path]:
    """Return the cache folders of a model's folder: the one `given`, else its own, else the one `beside` the reports.

    Raises
    ------
    UserError
        If the model's folder is read-only and neither is given.
    """
    own = model / "pvbench" / "cache"
    if given is not None:
        return [given, own]
    if writable(model):
        return [own]
    if beside is None:
        raise UserError(f"{model}: is read-only; say where products go with --cache-dir DIR")
    return [beside, own]


def writable(folder: Path) -> bool:
    """Return whether `folder` may be written; a folder without any write bit is read-only, for root as well."""
    import os

    return os.access(folder, os.W_OK) and bool(folder.stat().st_mode & 0o222)
