"""How a row is said in one line: in the terminal, in Allure, in messages.

Conventions
-----------
Names and messages come from videos, manifests, judges and libraries; `shown` makes one harmless line of them.
"""

from __future__ import annotations

from pvbench_suite.dimensions import LAYER_NAMES, Dimension, Domain
from pvbench_suite.results import Row

#: Physical violations first: how grave a wrong result of a layer is.
SEVERITIES = {"L3": "critical", "L2": "normal", "L1": "normal"}


def shown(text: object) -> str:
    """Return `text` on one line; what is not printable (escape sequences, direction marks) becomes ``?``."""
    one = " ".join(str(text).split())
    return one if one.isprintable() else "".join(c if c.isprintable() else "?" for c in one)


def places(dimension: Dimension, domain: Domain) -> dict[str, str]:
    """Return where a dimension stands in a tree of results: epic = layer, feature = domain, story = dimension."""
    return {
        "epic": f"{domain.layer} {LAYER_NAMES[domain.layer]}",
        "feature": f"{domain.code} {domain.name}",
        "story": f"{dimension.id} {dimension.name}",
    }


def measured(row: Row) -> str:
    """Return the measured value with its unit; empty where nothing was measured."""
    if row["value"] is None:
        return ""
    unit = row["unit"] if row["unit"] not in (None, "1") else ""
    return f"{row['value']:.4g} {unit}".rstrip()


def cause(row: Row) -> str:
    """Return why a pair is what it is: the reason and what the message adds to it; empty where there is none."""
    reason, message = shown(row["reason"] or ""), shown(row["message"] or "")
    if not message or not reason:
        return message or reason
    if message.startswith(reason):
        return message
    # The message of an exception repeats what the reason ends with ("event_absent: no_contact", "no_contact: ...").
    detail = message.removeprefix(reason.rpartition(": ")[2]).removeprefix(": ")
    return f"{reason}: {detail}" if detail else reason


def line(row: Row) -> str:
    """Return the one line that a person reads about a pair."""
    if row["state"] == "scored" and row["value"] is not None:
        return f"{row['dimension']} {measured(row)} scores {row['score']}"
    why = cause(row)
    said = f"{row['dimension']} scores {row['score']}" if row["state"] == "scored" else row["state"]
    return f"{said}: {why}" if why else said


def title(row: Row, name: str) -> str:
    """Return what a reader sees in a list: dimension, video, and the score or the state."""
    outcome = f"{row['score']} of 5" if row["state"] == "scored" else row["state"]
    return f"{row['dimension']} {name}: {outcome} ({shown(row['model'])} {row['modality']} {shown(row['video'])})"
