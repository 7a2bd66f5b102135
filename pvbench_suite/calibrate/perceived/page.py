"""A measurement of a profile as a Markdown page and a drawing, and the claims that a calibration bears out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pvbench_suite.calibrate.perceived.metrics import METRICS
from pvbench_suite.calibrate.perceived.points import LATER
from pvbench_suite.calibrate.perceived.tally import Pool
from pvbench_suite.errors import UserError
from pvbench_suite.perception.protocol import Profile
from pvbench_suite.plots.svg import COLORS, Axes, figure

#: A dimension is claimed only where violating clips rank below lawful ones this well.
AUC = 0.9
#: Columns of the table of worlds.
_BRIEF = (
    ("masks.iou", "mask IoU"), ("masks.recall", "recall"), ("masks.switches", "switches"), ("masks.false", "false"),
    ("bodies.centre_px_median", "centre px"), ("tracks.moving_px_median", "track px"),
    ("tracks.still_px_p95", "ground px 95 %"), ("flow.moving_px_median", "flow px"), ("contacts.recall", "contacts"),
    ("contacts.precision", "contacts right"), ("contacts.airborne_recall", "flight"),
    ("contacts.airborne_precision", "flight right"),
)  # fmt: skip

Entry = Mapping[str, Any]


def claims(path: Path, profile: Profile) -> list[dict[str, Any]]:
    """Return for each row of a ``calibration.json`` of the profile whether it bears the profile's claim out.

    Each has `dimension`, `scene`, `violation`, `auc`, `low`, `high`, `claimed` (by the profile) and `met` (AUC of at
    least 0.9; null without an AUC).

    Raises
    ------
    UserError
        If the file is none, or holds no row of this profile.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        mine = [row for row in rows if row["profile"] == profile.name]
        found = [_claim(row, profile) for row in mine]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"--physics {path}: no calibration.json ({type(error).__name__}: {error})") from None
    if not found:
        made = f"pvbench calibrate physics --profile {profile.name} -o DIR"
        raise UserError(f"--physics {path}: no row of the profile {profile.name!r}; it is made by: {made}")
    return found


def _claim(row: Entry, profile: Profile) -> dict[str, Any]:
    # A row whose lawful clips are all unmeasurable has no interval at all.
    low, high = row["interval"].get("auc", (None, None))
    return {
        "dimension": row["dimension"],
        "scene": row["name"],
        "violation": row["violation"],
        "auc": row["auc"],
        "low": low,
        "high": high,
        "claimed": profile.claims is None or row["dimension"] in profile.claims,
        "met": None if row["auc"] is None else row["auc"] >= AUC,
    }


def _short(x: float | None) -> str:
    return "-" if x is None else f"{x:.3g}"


def _head(names: Sequence[str]) -> list[str]:
    return ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]


def _cell(result: Entry | None) -> str:
    """Return a value with its interval and what it counts."""
    if result is None or result["value"] is None:
        return "-"
    ends = "" if result["low"] is None else f" [{_short(result['low'])}, {_short(result['high'])}]"
    return f"{_short(result['value'])}{ends} ({result['n']})"


def _summary(groups: Sequence[Entry]) -> list[str]:
    """Return the table of all numbers by group of clips."""
    lines = _head(["number", "unit", *(f"{g['group']} ({g['clips']} clips)" for g in groups)])
    for metric in METRICS:
        cells = [_cell(g["values"].get(metric.name)) for g in groups]
        if any(cell != "-" for cell in cells):
            better = "up" if metric.better == "larger" else "down"
            lines.append("| " + " | ".join([f"`{metric.name}` {metric.words} ({better})", metric.unit, *cells]) + " |")
    return lines


def _worlds(worlds: Sequence[Entry]) -> list[str]:
    """Return the table of the main numbers by world."""
    lines = _head(["clips", "group", "perceived", *(title for _, title in _BRIEF)])
    for world in worlds:
        values = world["values"]
        seen = values.get("clips.perceived")
        count = f"{round(seen['value'] * seen['n'])}/{seen['n']}" if seen else "-"
        cells = [world["name"], world["group"], count]
        cells += [_short(values[name]["value"]) if name in values else "-" for name, _ in _BRIEF]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _refusals(worlds: Sequence[Entry]) -> list[str]:
    """Return the table of what was not given, and why."""
    lines = _head(["clips", "group", "not given", "why"])
    for world in worlds:
        why: dict[tuple[str, int], list[str]] = {}
        for product, reasons in world["refused"].items():
            for reason, count in reasons.items():
                why.setdefault((reason, count), []).append(product)
        for (reason, count), products in why.items():
            cells = [world["name"], world["group"], ", ".join(products), f"{reason} ({count} of {world['clips']})"]
            lines.append("| " + " | ".join(cells) + " |")
    return lines if len(lines) > 2 else ["Nothing was refused."]


def _claims(rows: Sequence[Entry]) -> list[str]:
    """Return the table of claims against the calibration."""
    words = {True: "yes", False: "no", None: "not measured"}
    lines = _head(["dimension", "scene", "violation", "AUC [95 %]", f"AUC >= {AUC}", "claimed"])
    for row in rows:
        auc = f"{_short(row['auc'])} [{_short(row['low'])}, {_short(row['high'])}]"
        cells = [row["dimension"], row["scene"], row["violation"], auc, words[row["met"]], words[row["claimed"]]]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def markdown(content: Mapping[str, Any]) -> str:
    """Return the whole measurement as a Markdown page."""
    form = "quick form" if content["quick"] else "full form"
    lines = [
        f"# Perception: the profile `{content['profile']}` against the renderer's truth",
        "",
        f"Suite {content['suite']}, {form}, seed {content['seed']}, code {content['code']}. {content['limits']}.",
        f"Not given by this profile: {', '.join(content['not_given']) or 'nothing'}."
        + (f" Truth by itself, and not measured: {', '.join(content['truth'])}." if content["truth"] else ""),
        "Brackets are 95 % intervals by a bootstrap over clips, parentheses what was counted. "
        "Clips that are refused count in `clips.perceived` and under Refusals, and in no other number.",
        "",
        "## Summary",
        "",
        *_summary(content["groups"]),
        "",
        "## By world",
        "",
        *_worlds(content["worlds"]),
        "",
        "## Refusals",
        "",
        *_refusals(content["worlds"]),
    ]
    if content["claims"] is not None:
        lines += ["", "## Claims", "", *_claims(content["claims"])]
    return "\n".join(lines) + "\n"


def drift(clips: Sequence[Mapping[str, Any]]) -> str:
    """Return the drawing (SVG) of the tracks' error against the time since a point's start, on lawful clips."""
    panels = []
    for name, title in (("moving", "points on moving bodies"), ("still", "points on still ground")):
        panel = Axes(title, "time since the point's start [s]", "error [px]")
        pools = [
            Pool.of([c["samples"][k] for c in clips if k in c["samples"] and c["take"]["group"] == "lawful"])
            for k in (f"tracks.{name}_px@{late:g}" for late in LATER)
        ]
        for (p, label), color in zip(((0.5, "median"), (0.95, "95th percentile")), COLORS, strict=False):
            panel.line(LATER, [pool.quantile(p) for pool in pools], color, label=label)
            panel.points(LATER, [pool.quantile(p) for pool in pools], color)
        panels.append(panel)
    return figure(panels, "Drift of tracks on lawful clips", columns=2)
