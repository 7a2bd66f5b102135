"""Allure results from rows: one file per row, a summary entry per dimension, domain and layer, and the categories.

Conventions
-----------
The files are those of Allure 2 and 3 (``*-result.json``).  Ids are made of what identifies a pair, so that a history
is kept over
runs; measured values are excluded parameters and never part of it.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pvbench_suite import __version__
from pvbench_suite.dimensions import LAYER_NAMES, Registry
from pvbench_suite.files import write_atomic
from pvbench_suite.results import Row
from pvbench_suite.stats.cells import Cell, Summary
from pvbench_suite.wording import SEVERITIES, line, title

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

#: Allure sorts what did not pass by these; messages are those of `line` and of allure-pytest.
CATEGORIES = (
    ("unmeasurable: nothing there to measure", ["skipped"], r"(?s)^(Skipped: |Failed: )?unmeasurable.*"),
    ("not_perceived: a model or judge is missing", ["skipped"], r"(?s)^(Skipped: |Failed: )?not_perceived.*"),
    ("missing_video: a group has no file", ["skipped"], r"(?s)^missing_video.*"),
    ("broken_video: cannot be decoded", ["failed", "broken"], r"(?s)^(Skipped: |Failed: )?broken_video.*"),
    ("judge_failed: no valid verdict", ["failed", "broken"], r"(?s)^(Skipped: |Failed: )?judge_failed.*"),
    ("error", ["broken", "failed"], r"(?s).*"),
)

_SPACE = uuid.UUID("a3a1f1d8-52c1-4f57-9d0e-0d8c9e6f1c11")


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _labels(registry: Registry, dimension: str) -> list[dict[str, str]]:
    found = registry.get(dimension)
    domain = registry.domains[found.domain]
    values = {
        "epic": f"{domain.layer} {LAYER_NAMES[domain.layer]}",
        "feature": f"{domain.code} {domain.name}",
        "story": f"{found.id} {found.name}",
        "severity": SEVERITIES[domain.layer],
        "framework": "pvbench",
        "suite": found.stem,
    }
    return [{"name": name, "value": value} for name, value in values.items()]


def result(row: Row, registry: Registry, stop: int) -> dict[str, Any]:
    """Return the Allure result of one row; `stop` is when it ended [ms since 1970]."""
    names = ("model", "modality", "video", "profile")
    dimension = registry.get(row["dimension"])
    full = f"dimensions.{registry.domains[dimension.domain].folder}.{dimension.stem}#{dimension.stem}"
    identity = "|".join([full, *(str(row[name]) for name in names), str(row["scorer"])])
    parameters: list[dict[str, Any]] = [{"name": name, "value": str(row[name])} for name in names]
    for key in ("score", "value", "unit", "n", "spread", "reason", "scorer"):
        if row[key] not in (None, ""):
            parameters.append({"name": key, "value": str(row[key]), "excluded": True})
    return {
        "uuid": str(uuid.uuid5(_SPACE, identity)),
        "historyId": _md5(identity),
        "testCaseId": _md5(full),
        "fullName": full,
        "name": title(row, dimension.name),
        "status": STATUS[row["state"]],
        "statusDetails": {"message": line(row)},
        "stage": "finished",
        "start": stop - round(1000 * (row["seconds"] or 0)),
        "stop": stop,
        "labels": _labels(registry, row["dimension"]),
        "parameters": parameters,
    }


def _mean(cell: Cell, model: str, modality: str, profile: str, registry: Registry, stop: int) -> dict[str, Any]:
    """Return a summary entry, so that a mean can be seen in Allure."""
    mean = cell.by_dimension
    shown = "no score" if mean.score is None else f"{mean.score:.1f}"
    spread = "" if mean.low is None or mean.high is None else f" [{mean.low:.1f}, {mean.high:.1f}]"
    coverage = "" if cell.coverage is None else f", coverage {100 * cell.coverage:.0f} %"
    worst = "" if mean.worst_case is None else f", worst case {mean.worst_case:.1f}"
    identity = f"summary|{cell.kind}|{cell.key}|{model}|{modality}|{profile}"
    labels = [{"name": "epic", "value": "summary"}, {"name": "feature", "value": f"{cell.kind} means"}]
    labels += [{"name": "story", "value": f"{model} {modality}"}, {"name": "framework", "value": "pvbench"}]
    text = f"{cell.key} {cell.name}: {shown}{spread}{coverage}{worst} ({model} {modality}, {profile})"
    return {
        "uuid": str(uuid.uuid5(_SPACE, identity)),
        "historyId": _md5(identity),
        "testCaseId": _md5(f"summary|{cell.key}"),
        "fullName": f"summary.{cell.kind}.{cell.key}",
        "name": text,
        "status": "skipped" if mean.score is None else "passed",
        "statusDetails": {"message": "; ".join(cell.flags) or text},
        "stage": "finished",
        "start": stop,
        "stop": stop,
        "labels": labels,
        "parameters": [
            {"name": n, "value": v} for n, v in (("model", model), ("modality", modality), ("profile", profile))
        ],
    }


def summaries(summary: Summary, registry: Registry, stop: int) -> list[dict[str, Any]]:
    """Return one entry per planned dimension, domain and layer, and overall, of every result."""
    out = []
    for found in summary.results:
        cells = [found.overall, *found.layers.values(), *found.domains.values(), *found.dimensions.values()]
        planned = [cell for cell in cells if cell.planned]
        out += [_mean(cell, found.model, found.modality, found.profile, registry, stop) for cell in planned]
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
    clean = {key: ", ".join(sorted(values)).replace("\\", "\\\\").replace("\n", " ") for key, values in facts.items()}
    return "".join(f"{key} = {value}\n" for key, value in clean.items())


def write_frame(rows: Sequence[Row], summary: Summary, registry: Registry, out: Path, stop: int) -> list[Path]:
    """Write what stands beside the pairs: environment, categories, summary entries; return the files."""
    categories = [{"name": n, "matchedStatuses": s, "messageRegex": r} for n, s, r in CATEGORIES]
    files = {"environment.properties": environment(rows), "categories.json": json.dumps(categories, indent=1)}
    for entry in summaries(summary, registry, stop):
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
