"""How a row is said in one line: in the terminal, in Allure, in messages."""

from __future__ import annotations

from pvbench_suite.results import Row

#: Physical violations first: how grave a wrong result of a layer is.
SEVERITIES = {"L3": "critical", "L2": "normal", "L1": "normal"}


def line(row: Row) -> str:
    """Return the one line that a person reads about a pair."""
    state, reason, message = row["state"], row["reason"], row["message"]
    if state == "scored" and row["value"] is not None:
        return f"{row['dimension']} {row['value']:.4g} {row['unit']} scores {row['score']}"
    if state == "scored":
        return f"{row['dimension']} scores {row['score']}" + (f" ({reason})" if reason else "")
    detail = message if message and message != reason else ""
    return f"{state}: {reason}" + (f": {detail}" if detail else "")


def title(row: Row, name: str) -> str:
    """Return what a reader sees in a list: dimension, video, and the score or the state."""
    outcome = f"{row['score']} of 5" if row["state"] == "scored" else row["state"]
    return f"{row['dimension']} {name}: {outcome} ({row['model']} {row['modality']} {row['video']})"
