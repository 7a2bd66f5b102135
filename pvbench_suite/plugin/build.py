"""Builds the run on the controller: prompts, manifests, plan, digests, and what the journals already hold."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from pvbench_suite.errors import ModelDirError, UserError
from pvbench_suite.planning import Ledger, Plan, Planned, plan
from pvbench_suite.plugin.options import ModelDir, Options, checked
from pvbench_suite.plugin.run import Job, Run, key_of, writable
from pvbench_suite.prompts.loader import load
from pvbench_suite.results import Journal, Row, write_plan
from pvbench_suite.video.digest import DigestIndex
from pvbench_suite.video.manifest import Manifest, discover, restrict
from pvbench_suite.video.reference import attach
from pvbench_suite.video.types import MODALITIES, Video


@dataclass
class Book:
    """What the controller keeps of one model: where its results go, its manifest, plan and ledger."""

    model: ModelDir
    folder: Path
    journal: Journal
    manifest: Manifest
    plan: Plan
    ledger: Ledger


@dataclass
class Controller:
    """The controller's side of a run."""

    run: Run
    books: dict[str, Book] = field(default_factory=dict)
    resumed: int = 0
    notes: list[str] = field(default_factory=list)

    def record(self, row: Row) -> None:
        """Append a row that a test produced."""
        book = self.books[row["model"]]
        row["attempt"] = book.ledger.attempt(row)
        book.journal.append([row])


def prompts_file(options: Options) -> Path | None:
    """Return the prompt file of the run: the one given, or the ``groups.jsonl`` in or beside the model folders."""
    if options.prompts:
        return options.prompts
    places = [folder / "groups.jsonl" for m in options.models for folder in (m.path, m.path.parent)]
    found = dict.fromkeys(path for path in places if path.is_file())
    if len(found) > 1:
        raise UserError(f"several prompt files are there ({', '.join(map(str, found))}); choose with --pv-prompts FILE")
    return next(iter(found), None)


def build(config: pytest.Config) -> Controller:
    """Return the controller of a run.

    Raises
    ------
    UserError
        For whatever a person has to repair first.
    """
    options = checked(config, config.invocation_params.dir)
    suite = load(prompts_file(options))
    suite = suite.subset(options.subset) if options.subset != "full" else suite
    run = Run(options, suite)
    controller = Controller(run)
    _hire(config, run)
    if options.gates:
        from pvbench_suite.stats.gates import parse

        parse(options.gates, run.registry)
    hashed = not config.option.collectonly
    for model in options.models:
        book = _open(run, model)
        controller.books[model.name] = book
        controller.notes += [f"{model.name}: {note}" for note in book.manifest.notes]
        _add_jobs(run, book, hashed)
    return controller


def _hire(config: pytest.Config, run: Run) -> None:
    """Make the judge on the controller; its revision is asked for before anything is planned, so that ids are final."""
    tx = getattr(config.option, "tx", None) or []
    if tx and run.options.judge is not None and run.options.judge.dry_run:
        raise UserError("--pv-judge-dry-run: estimates in one process; leave -n out")
    run.hire(run.options.judge, None, max(1, len(tx)))
    if run.judge is not None and not run.judge.settings.dry_run and not config.option.collectonly:
        run.judge.connect()


def _open(run: Run, model: ModelDir) -> Book:
    folder = run.folder(model)
    if not run.options.report_dir and not writable(model.path):
        raise UserError(f"--model-dir {model.path}: is read-only; say where reports go with --pv-report-dir=DIR")
    manifest = _manifest(run, model)
    planned = plan(run.registry, run.suite, manifest.videos, manifest.missing, model.name, run.options.scope)
    journal = Journal(folder / "results.jsonl")
    return Book(model, folder, journal, manifest, planned, Ledger(journal.read()))


def _manifest(run: Run, model: ModelDir) -> Manifest:
    options = run.options
    manifest = discover(model.name, model.path, run.suite, layout=options.layout, modality=options.modality or "both")
    if options.videos:
        manifest = restrict(manifest, options.videos)
    present = {v.modality for v in manifest.videos}
    if options.modality is None:
        manifest = replace(manifest, missing=tuple(m for m in manifest.missing if m[1] in present))
    if not manifest.videos:
        raise ModelDirError(f"--model-dir {model.path}: no video is there ({manifest.why})")
    if options.prompts and not any(v.group for v in manifest.videos):
        names = ", ".join(run.suite.nearest(manifest.videos[0].path.stem))
        raise ModelDirError(
            f"--model-dir {model.path}: none of its {len(manifest.videos)} videos matches a group of "
            f"{options.prompts.name}; "
            f"nearest to {manifest.videos[0].path.name!r}: {names}"
        )
    places = {group.id: k for k, group in enumerate(run.suite)}
    videos = sorted(
        manifest.videos, key=lambda v: (MODALITIES.index(v.modality), places.get(v.group or "", len(places)))
    )
    if options.references is None:
        return replace(manifest, videos=tuple(videos))
    referenced, notes = attach(videos, options.references)
    return replace(manifest, videos=referenced, notes=(*manifest.notes, *notes))


def _add_jobs(run: Run, book: Book, hashed: bool) -> None:
    """Add the jobs of one model to the run; write the plan and the rows of missing videos."""
    cache = run.cache_folders(book.model)[0]
    index = DigestIndex(cache / "digests.json") if hashed else None
    for count, planned in enumerate(p for p in book.plan.videos if p.exists):
        if run.options.limit is not None and count >= run.options.limit:
            break
        digest = index.get(planned.video.path) if index else None
        todo = _todo(run, book, planned, digest) if hashed else planned.dimensions
        run.jobs[key_of(planned.video)] = Job(planned, todo, digest)
    if index:
        index.save()
        missing = [row for p in book.plan.videos if not p.exists for row in _missing(run, p)]
        book.journal.append(row for row in missing if not book.ledger.same(row))
        scorers = {d.id: run.scorer(d) for d in run.registry.dimensions}
        write_plan(book.folder, book.plan.videos, run.profile.name, run.options.modality, scorers)


def _todo(run: Run, book: Book, planned: Planned, digest: str | None) -> tuple[str, ...]:
    if not run.options.resume:
        return planned.dimensions
    rows = ((i, run.row(planned, run.registry.get(i), digest)) for i in planned.dimensions)
    return tuple(i for i, row in rows if not book.ledger.done(row))


def _missing(run: Run, planned: Planned) -> list[Row]:
    rows = []
    for identifier in planned.dimensions:
        row = run.row(planned, run.registry.get(identifier), None)
        row.update(
            state="missing_video", reason="no file", message=f"expected {planned.video.modality}/{planned.video.id}.mp4"
        )
        rows.append(row)
    return rows


def test_id(video: Video) -> str:
    """Return the text between the brackets of a pair's node id: model, modality and video, at most 96 characters."""
    text = re.sub(r"[^A-Za-z0-9_.-]+", "_", f"{video.model}-{video.modality}-{video.id}")
    if len(text) <= 96:
        return text
    import hashlib

    return text[:87] + "." + hashlib.sha256(text.encode()).hexdigest()[:8]
