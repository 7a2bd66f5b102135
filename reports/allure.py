"""Allure results from rows: one file per row, a summary entry per dimension, domain and layer, and the settings.

Conventions
-----------
The files are those of Allure 2 and 3 (``*-result.json``); ``allurerc.json`` is Allure 3's configuration, which alone
knows its categories and its tree.  Ids are made of what identifies a pair, so that a history is kept over runs;
measured values are excluded parameters and never part of it.  No text of a row is Markdown or HTML to Allure:
descriptions come from the registry, everything else is shown as it is.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pvbench_suite import __version__
from pvbench_suite.dimensions import Dimension, Registry
from pvbench_suite.files import write_atomic
from pvbench_suite.results import Row
from pvbench_suite.stats.cells import Cell, Result, Summary
from pvbench_suite.wording import SEVERITIES, line, measured, places, shown, title
from reports.text import number, percent, span

STATUS = {
    "scored": "passed",
    "unmeasurable": "skipped",
    "not_perceived": "skipped",
    "missing_video": "skipped",
    "pending": "unknown",
    "judge_failed": "failed",
    "broken_video": "failed",
    "error": "broken",
}

#: Allure sorts what has no score by these: the message of a pair begins with its state (`line`).  The expressions are
#: written without flags, which Java and JavaScript spell differently, and match the whole message, as Allure 2 asks.
CATEGORIES = (
    ("error", ["broken", "failed"], "error"),
    ("broken_video: cannot be decoded", ["broken", "failed"], "broken_video"),
    ("judge_failed: no valid verdict", ["broken", "failed"], "judge_failed"),
    ("not_perceived: a model or judge is missing", ["skipped"], "not_perceived"),
    ("missing_video: a group has no file", ["skipped"], "missing_video"),
    ("unmeasurable: nothing there to measure", ["skipped"], "unmeasurable"),
    ("pending: not run yet", ["unknown"], "pending"),
)

#: Labels that a reader of Allure 3 need not see twice (Allure 2 makes its suites of some of them).
REPEATED = ("parentSuite", "suite", "subSuite", "framework", "language", "package")

#: What identifies a pair: shown as parameters, and made into its id in the history.
IDENTITY = ("model", "modality", "video", "profile", "scorer")

_SPACE = uuid.UUID("a3a1f1d8-52c1-4f57-9d0e-0d8c9e6f1c11")


def _md5(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest()


def _labels(where: Mapping[str, str], severity: str, tags: Iterable[str]) -> list[dict[str, str]]:
    """Return the labels: the same tree for Allure's behaviors and for its suites, so that every view shows it."""
    suites = zip(("parentSuite", "suite", "subSuite"), where.values(), strict=True)
    values = [*where.items(), *suites, ("severity", severity), ("framework", "pvbench")]
    return [{"name": name, "value": value} for name, value in [*values, *(("tag", tag) for tag in tags)]]


def _description(dimension: Dimension) -> str:
    """Return what the dimension scores and by which cuts, of the suite's own words only."""
    if dimension.cuts is None:
        return dimension.scored
    sign = "above" if dimension.direction == "larger" else "below"
    unit = "" if dimension.unit in (None, "1") else f" {dimension.unit}"
    cuts = ", ".join(f"{cut:g}" for cut in dimension.cuts)
    return f"{dimension.scored} Scores 5, 4, 3, 2 {sign} {cuts}{unit}, else 1."


def _parameters(row: Row) -> list[dict[str, Any]]:
    """Return what is shown of a row: the outcome first, for Allure folds away all but eight; then who and by what."""
    outcome = {
        "score": "" if row["score"] is None else f"{row['score']} of 5",
        "value": measured(row),
        "n": row["n"],
        "reason": row["reason"],
        # The judge's words, or what was seen where an event stayed away: Allure shows no message of what passed.
        "why": row["message"] if row["state"] == "scored" else "",
    }
    own = [{"name": name, "value": shown(row[name])} for name in IDENTITY if row[name]]
    evidence = {
        "spread": None if row["spread"] is None else f"{row['spread']:.4g}",
        "assumed": ", ".join(row["assumed"]),
        "providers": ", ".join(f"{product} by {who}" for product, who in sorted(row["providers"].items())),
        "warnings": "; ".join(row["warnings"]),
        "seed": row["seed"],
        "thresholds": row["thresholds"],
    }
    return [*_excluded(outcome), *own, *_excluded(evidence)]


def _excluded(values: Mapping[str, object]) -> list[dict[str, Any]]:
    """Return parameters that are no part of the id in the history, without those that do not exist."""
    kept = {name: shown(value) for name, value in values.items() if value not in (None, "", "-")}
    return [{"name": name, "value": value, "excluded": True} for name, value in kept.items()]


def result(row: Row, registry: Registry, stop: int) -> dict[str, Any]:
    """Return the Allure result of one row; `stop` is when it ended [ms since 1970]."""
    dimension = registry.get(row["dimension"])
    domain = registry.domains[dimension.domain]
    where = places(dimension, domain)
    full = f"dimensions.{domain.folder}.{dimension.stem}#{dimension.stem}"
    identity = "|".join([full, *(str(row[name]) for name in IDENTITY)])
    outcome = f"score {row['score']}" if row["state"] == "scored" else row["state"]
    tags = (outcome, shown(row["model"]), row["modality"])
    return {
        "uuid": str(uuid.uuid5(_SPACE, _md5(identity))),
        "historyId": _md5(identity),
        "testCaseId": _md5(full),
        "fullName": full,
        "name": title(row, dimension.name),
        "description": _description(dimension),
        "status": STATUS[row["state"]],
        "statusDetails": {"message": line(row)},
        "stage": "finished",
        "start": stop - round(1000 * (row["seconds"] or 0)),
        "stop": stop,
        "labels": _labels(where, SEVERITIES[domain.layer], tags),
        "titlePath": list(where.values()),
        "parameters": _parameters(row),
    }


def _mean(cell: Cell, found: Result, stop: int) -> dict[str, Any]:
    """Return a summary entry, so that a mean can be seen in Allure."""
    mean = cell.by_dimension
    model = shown(found.model)
    where = {
        "epic": "summary",
        "feature": "overall" if cell.kind == "overall" else f"{cell.kind} means",
        "story": f"{model} {found.modality}, {found.profile}",
    }
    values = {
        "score": number(mean.score),
        "95 % interval": span(mean.low, mean.high),
        "coverage": f"{cell.scored} of {cell.planned} pairs, {percent(cell.coverage)}",
        "worst case": number(mean.worst_case),
        "measured only": number(mean.measured_only),
        "notes": "; ".join(cell.flags),
    }
    interval = "" if mean.low is None else f" {values['95 % interval']}"
    worst = "" if mean.worst_case is None else f", worst case {values['worst case']}"
    score = "no score" if mean.score is None else f"{values['score']} of 100"
    name = cell.name if cell.kind == "overall" else f"{cell.key} {cell.name}"
    text = f"{name}: {score}{interval}, coverage {percent(cell.coverage)}{worst} ({model} {found.modality})"
    identity = f"summary|{cell.kind}|{cell.key}|{found.model}|{found.modality}|{found.profile}"
    own = {"model": model, "modality": found.modality, "profile": found.profile}
    return {
        "uuid": str(uuid.uuid5(_SPACE, _md5(identity))),
        "historyId": _md5(identity),
        "testCaseId": _md5(f"summary|{cell.key}"),
        "fullName": f"summary.{cell.kind}.{cell.key}",
        "name": text,
        "status": "skipped" if mean.score is None else "passed",
        "statusDetails": {"message": shown(values["notes"]) or text},
        "stage": "finished",
        "start": stop,
        "stop": stop,
        "labels": _labels(where, "normal", ("summary", model, found.modality)),
        "titlePath": list(where.values()),
        "parameters": [*_excluded(values), *({"name": n, "value": v} for n, v in own.items())],
    }


def summaries(summary: Summary, stop: int) -> list[dict[str, Any]]:
    """Return one entry per planned dimension, domain and layer, and overall, of every result."""
    out = []
    for found in summary.results:
        cells = [found.overall, *found.layers.values(), *found.domains.values(), *found.dimensions.values()]
        out += [_mean(cell, found, stop) for cell in cells if cell.planned]
    return out


def environment(rows: Sequence[Row]) -> str:
    """Return ``environment.properties``: who was scored by what."""
    facts: dict[str, Iterable[str]] = {
        "suite": [__version__],
        "models": {row["model"] for row in rows},
        "modalities": {row["modality"] for row in rows},
        "profiles": {row["profile"] for row in rows},
        "scorers": {row["scorer"] for row in rows if row["scorer"]},
        "providers": {provider for row in rows for provider in row["providers"].values()},
        "videos": [str(len({(row["model"], row["modality"], row["video"]) for row in rows}))],
    }
    return "".join(f"{key} = {_property(', '.join(sorted(values)))}\n" for key, values in facts.items())


def _property(value: str) -> str:
    """Return a value of a Java property file in ASCII: Allure 2 reads Latin-1, Allure 3 UTF-8."""
    # JSON's escapes are those of properties: \\uXXXX, and a backslash before any other character.
    return json.dumps(shown(value))[1:-1]


def categories() -> list[dict[str, Any]]:
    """Return the categories by state, as Allure 2 reads them from ``categories.json``."""
    return [{"name": n, "matchedStatuses": s, "messageRegex": rf"^{state}(:[\s\S]*)?$"} for n, s, state in CATEGORIES]


def settings() -> dict[str, Any]:
    """Return ``allurerc.json``: title, tree, order and categories, which Allure 3 takes from its configuration only."""
    options = {"groupBy": ["epic", "feature", "story"], "defaultSortBy": "name,asc"}
    worst = {
        "name": "score 1",
        "matchers": {"statuses": ["passed"], "labels": {"tag": "^score 1$"}},
        "groupBy": [{"label": "story"}],
        "groupByMessage": False,
    }
    return {
        "name": "PVBench",
        "plugins": {"awesome": {"options": options}},
        "hideLabels": list(REPEATED),
        "categories": [*categories(), worst],
    }


def write_frame(rows: Sequence[Row], summary: Summary, registry: Registry, out: Path, stop: int) -> list[Path]:
    """Write what stands beside the pairs: environment, settings, categories, summary entries; return the files."""
    files = {
        "environment.properties": environment(rows),
        "categories.json": json.dumps(categories(), indent=1),
        "allurerc.json": json.dumps(settings(), indent=1),
    }
    for entry in summaries(summary, stop):
        files[f"{entry['uuid']}-result.json"] = json.dumps(entry, ensure_ascii=False)
    return _write(files, out)


def write_rows(rows: Iterable[Row], registry: Registry, out: Path, stop: int) -> list[Path]:
    """Write one result file per row; return the files."""
    entries = [result(row, registry, stop) for row in rows]
    return _write({f"{e['uuid']}-result.json": json.dumps(e, ensure_ascii=False) for e in entries}, out)


def _write(files: Mapping[str, str], out: Path) -> list[Path]:
    for name, content in files.items():
        write_atomic(out / name, content.encode())
    return [out / name for name in files]
