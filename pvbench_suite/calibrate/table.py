"""The calibration as a Markdown table, one line per violation with the three noise levels side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Entry = Mapping[str, Any]


def short(x: float | None) -> str:
    """Return a number with three digits, or a dash."""
    return "-" if x is None else f"{x:.3g}"


def _levels(entries: Sequence[Entry], what: Callable[[Entry], str]) -> str:
    return " / ".join(what(e) for e in entries)


def _grouped(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Return the entries of each name together, in order."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for e in entries:
        groups.setdefault((e["profile"], e["name"]), []).append(e)
    return list(groups.values())


def _counts(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in reasons.items()) or "0"


def _doses(entry: Entry) -> str:
    return ", ".join(f"{d['dose']:g}: {short(d['value'])} ({d['score'] or '-'})" for d in entry["doses"])


def _ranged(entry: Entry, name: str) -> str:
    low, high = entry["interval"].get(name, (None, None))
    return f"{short(entry[name])} [{short(low)}, {short(high)}]"


def _middle(entries: Sequence[Entry]) -> Entry:
    return next((e for e in entries if e["noise"] == "mid"), entries[len(entries) // 2])


def rows(entries: Sequence[Entry]) -> list[str]:
    """Return the lines of the dose-response table."""
    if not entries:
        return []
    head = ["row (violation)", "noise", "floor [95 %]", "lawful at 5", "Spearman", "AUC", "smallest dose"]
    lines = _head([*head, "doses: median (score) at mid noise", "not measurable"])
    for group in _grouped(entries):
        middle = _middle(group)
        cells = [
            f"{middle['name']} ({middle['violation']})",
            _levels(group, lambda e: str(e["noise"])),
            _levels(group, lambda e: _ranged(e, "floor")),
            _levels(group, lambda e: short(e["lawful_share_at_5"])),
            _levels(group, lambda e: short(e["spearman"])),
            _levels(group, lambda e: short(e["auc"])),
            _levels(group, lambda e: short(e["smallest_dose"])),
            _doses(middle),
            _levels(group, lambda e: _counts(e["unmeasurable"])),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def worlds(entries: Sequence[Entry]) -> list[str]:
    """Return the lines of the table of lawful and static worlds."""
    if not entries:
        return []
    lines = _head(["world", "noise", "measured", "95th percentile (R01: 5th)", "lawful at 5", "not measurable"])
    for group in _grouped(entries):
        cells = [
            f"{group[0]['name']}{' (static)' if group[0]['kind'] == 'static' else ''}",
            _levels(group, lambda e: str(e["noise"])),
            _levels(group, lambda e: f"{e['measured']}/{e['runs']}"),
            _levels(group, lambda e: short(e["floor"])),
            _levels(group, lambda e: short(e["lawful_share_at_5"])),
            _levels(group, lambda e: _counts(e["unmeasurable"])),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _head(names: Sequence[str]) -> list[str]:
    return ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]


def markdown(content: Mapping[str, Any]) -> str:
    """Return the whole calibration as a Markdown page."""
    form = "quick form" if content["quick"] else "full form"
    lines = [
        "# Calibration",
        "",
        f"Suite {content['suite']}, {form}, seed {content['seed']}, code {content['code']}. "
        "Floors: 95th percentile on lawful runs (5th where larger is better), with bootstrap intervals. "
        "Smallest dose: the least whose 5th percentile clears the floor.",
        "",
        "## Dose-response",
        "",
        *rows(content["rows"]),
    ]
    notes = {f"{e['name']}: {e['note']}": None for e in [*content["rows"], *content["worlds"]] if e["note"]}
    if notes:
        lines += ["", "Notes:", "", *(f"- {note}" for note in notes)]
    if content["worlds"]:
        lines += ["", "## Lawful and static worlds that set no cut", "", *worlds(content["worlds"])]
    return "\n".join(lines) + "\n"
