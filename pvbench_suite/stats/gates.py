"""Gates: ``MC>=20``, ``overall>=40``, ``R22>35``, ``physical>=30``, checked on every model, modality and profile.

Conventions
-----------
A gate names a cell, ``>=`` or ``>``, and a number on the percentile scale [0, 100].  ``MC.worst_case>=20`` asks the
same of the worst case.  A gate passes only on a result that is whole: where pairs lack a result for a reason outside
the video (not_perceived, judge_failed, error), or where there is no mean, it is *not decidable*, which is not passed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pvbench_suite.dimensions import LAYER_NAMES, Registry
from pvbench_suite.errors import UserError
from pvbench_suite.stats.cells import Result, Summary
from pvbench_suite.stats.ranking import unranked_reason
from pvbench_suite.stats.sample import INCOMPLETE

Outcome = Literal["passed", "failed", "not decidable"]

_GATE = re.compile(r"\s*([A-Za-z0-9_-]+?)(\.worst_case)?\s*(>=|>)\s*([0-9]+(?:\.[0-9]*)?)\s*")
# Means are sums of quarters over counts: what differs by less than this is equal.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Gate:
    """One demand: a cell's key, an operator, a number on the percentile scale."""

    key: str
    operator: Literal[">=", ">"]
    threshold: float
    worst_case: bool = False

    def __str__(self) -> str:
        return f"{self.key}{'.worst_case' if self.worst_case else ''}{self.operator}{self.threshold:g}"


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate found on one result.

    Parameters
    ----------
    gate : Gate
        The demand.
    model, modality, profile : str
        Whose.
    outcome : {"passed", "failed", "not decidable"}
        Only "passed" is a pass.
    score : float or None
        What was compared with the threshold.
    detectable : float or None
        The smallest difference that a sample like this could show.
    lacking : dict of str to int
        How many pairs are not_perceived, judge_failed or error.
    line : str
        The finding in one line.
    """

    gate: Gate
    model: str
    modality: str
    profile: str
    outcome: Outcome
    score: float | None
    detectable: float | None
    lacking: dict[str, int]
    line: str

    @property
    def passed(self) -> bool:
        """Whether the gate holds."""
        return self.outcome == "passed"


def names(registry: Registry) -> dict[str, str]:
    """Return every name that a gate may use, in lower case, with the key of its cell."""
    found = {"overall": "overall"}
    for layer, name in LAYER_NAMES.items():
        found |= {layer.lower(): layer, name: layer}
    for code, domain in registry.domains.items():
        found |= {code.lower(): code, domain.folder.lower(): code}
    for d in registry.dimensions:
        found |= {d.id.lower(): d.id, d.id.lower().replace("-", ""): d.id, d.slug: d.id}
    return found


def parse(texts: str | Iterable[str], registry: Registry) -> tuple[Gate, ...]:
    """Return the gates in `texts`: one text or several, each with gates separated by commas, semicolons or spaces.

    Raises
    ------
    UserError
        For an unknown name (with the nearest ones), an operator other than >= and >, or a number outside [0, 100].
    """
    known = names(registry)
    joined = texts if isinstance(texts, str) else ",".join(texts)
    # Blanks around an operator belong to the gate; others separate gates.
    parts = re.split(r"[,;\s]+", re.sub(r"\s*([<>=!]+)\s*", r"\1", joined.strip()))
    return tuple(_gate(part, known) for part in parts if part)


def _gate(text: str, known: dict[str, str]) -> Gate:
    found = _GATE.fullmatch(text)
    if found is None:
        raise UserError(
            f"gate {text!r}: write NAME>=NUMBER or NAME>NUMBER, for example MC>=20, with a number from 0 to 100"
        )
    name, worst, operator, number = found.groups()
    if name.lower() not in known:
        near = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.3) or sorted(known)[:3]
        raise UserError(
            f"gate {text!r}: {name!r} is no dimension, domain or layer; the nearest are "
            f"{', '.join(dict.fromkeys(known[n] if n in _codes(known) else n for n in near))}"
        )
    threshold = float(number)
    if not 0.0 <= threshold <= 100.0:
        raise UserError(f"gate {text!r}: the scale goes from 0 to 100")
    return Gate(known[name.lower()], ">" if operator == ">" else ">=", threshold, worst is not None)


def _codes(known: dict[str, str]) -> set[str]:
    """Return the names that are a key in lower case."""
    return {name for name, key in known.items() if name == key.lower()}


def evaluate(gates: Sequence[Gate], summary: Summary) -> tuple[GateResult, ...]:
    """Return what every gate found on every model, modality and profile of `summary`."""
    return tuple(check_gate(gate, result) for gate in gates for result in summary.results)


def check_gate(gate: Gate, result: Result) -> GateResult:
    """Return what one gate found on one result."""
    try:
        cell = result.cell(gate.key)
    except UserError as error:
        return _finding(gate, result, "not decidable", None, None, {}, str(error))
    mean = cell.by_dimension
    score = mean.worst_case if gate.worst_case else mean.score
    lacking = {state: cell.states[state] for state in INCOMPLETE if cell.states[state]}
    reason = unranked_reason(cell)
    # A dimension that is merely unmeasurable leaves a domain partial, not undecidable: the line says so.
    if score is None or (reason and not reason.startswith("partial:")):
        why = reason or "no scored pair"
        return _finding(gate, result, "not decidable", score, mean.detectable, lacking, why)
    above = score - gate.threshold
    held = above >= -_TOLERANCE if gate.operator == ">=" else above > _TOLERANCE
    outcome: Outcome = "passed" if held else "failed"
    note = f"partial: {cell.evaluated} of {cell.of} dimensions" if cell.partial else ""
    return _finding(gate, result, outcome, score, mean.detectable, {}, note)


def _finding(
    gate: Gate,
    result: Result,
    outcome: Outcome,
    score: float | None,
    detectable: float | None,
    lacking: dict[str, int],
    why: str,
) -> GateResult:
    shown = "no score" if score is None else f"{score:.1f}"
    smallest = "not known" if detectable is None else f"{detectable:.1f}"
    # Names may come from a manifest; a line for a terminal holds no control characters.
    whose = "".join(c if c.isprintable() else "?" for c in f"{result.model} {result.modality} ({result.profile})")
    line = (
        f"{outcome}: {gate} on {whose}: {shown}"
        f"{f'; {why}' if why else ''}; smallest difference this sample could show: {smallest}"
    )
    return GateResult(gate, result.model, result.modality, result.profile, outcome, score, detectable, lacking, line)
