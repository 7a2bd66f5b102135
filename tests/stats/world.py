"""Rows for tests: one by hand, or a whole run with every state in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from pvbench_suite.dimensions import load

REGISTRY = load()
JUDGE = "http qwen3.8-27b rubric 12ab"


def row(dimension: str = "R22", group: str | None = "s001", score: int | None = 3, **more: Any) -> dict[str, Any]:
    """Return a row, scored by cuts unless `more` says otherwise; a judged dimension is scored by `JUDGE`."""
    d = REGISTRY.get(dimension)
    found: dict[str, Any] = {
        "schema": 1,
        "suite": "0.1.0",
        "dimension": dimension,
        "model": "wan",
        "modality": "t2v",
        "group": group,
        "video": group,
        "seed": None,
        "video_sha256": "0" * 64,
        "state": "scored" if score is not None else "unmeasurable",
        "reason": "" if score is not None else "no_motion",
        "value": 0.25 if score is not None and d.numeric else None,
        "unit": d.unit,
        "score": score,
        "n": 4,
        "spread": 0.01,
        "assumed": [],
        "scorer": "cuts" if d.numeric else JUDGE,
        "providers": {"bodies": "classic@1"},
        "thresholds": d.digest(),
        "profile": "embedded",
        "attempt": 1,
        "seconds": 0.5,
        "targeted": True,
        "tags": [],
        "warnings": [],
        "message": "",
        "brief": None,
    }
    return {**found, **more}


def absent(dimension: str = "R22", group: str = "s001", **more: Any) -> dict[str, Any]:
    """Return a row that is scored 1 because the demanded event did not happen."""
    return row(dimension, group, 1, value=None, reason="event_absent: no_collision", **more)


def state(name: str, dimension: str = "R22", group: str = "s001", **more: Any) -> dict[str, Any]:
    """Return a row without a score, in the given state."""
    return {**row(dimension, group, None), "state": name, "reason": name, **more}


def scores(dimension: str, values: list[int], **more: Any) -> list[dict[str, Any]]:
    """Return one scored row for each value, each of its own group."""
    return [row(dimension, f"s{k + 1:03d}", value, **more) for k, value in enumerate(values)]


def run(
    model: str = "wan2.2",
    modality: str = "t2v",
    groups: int = 12,
    seed: int = 0,
    judged: bool = True,
    shift: float = 0.0,
) -> list[dict[str, Any]]:
    """Return a run in which every dimension is planned for every group and every state occurs."""
    generator = np.random.default_rng(seed)
    rows = []
    for d in REGISTRY.dimensions:
        if modality not in d.modalities:
            continue
        for k in range(groups):
            score = int(np.clip(round(generator.normal(3 + shift, 1.1)), 1, 5))
            new = row(d.id, f"s{k + 1:03d}", score, model=model, modality=modality, targeted=k % 3 == 0)
            new["tags"] = ["occlusion"] if k % 4 == 0 else []
            if d.layer == "L2":
                new["still"] = k == 1
            kind = generator.random()
            if not judged and not d.numeric:
                lack = {"reason": "no judge is configured", "message": "give --pv-judge-url", "scorer": "no-judge"}
                new.update(state="not_perceived", score=None, **lack)
            elif kind < 0.06:
                new.update(state="unmeasurable", score=None, value=None, reason="no_motion")
            elif kind < 0.09:
                new.update(state="missing_video", score=None, value=None, reason="no file")
            elif kind < 0.12 and d.numeric:
                new.update(score=1, value=None, reason="event_absent: no_contact")
            rows.append(new)
    return rows
