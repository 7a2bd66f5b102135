"""The registry of dimensions, read from ``thresholds/``.

One TOML per domain, one table per dimension.  Everything a report, a test or a person needs to know about a
dimension stands
there; this module only checks and hands it on.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pvbench_suite.errors import ThresholdError, UserError
from pvbench_suite.scoring import Direction

Layer = Literal["L1", "L2", "L3"]
Source = Literal["paper", "derived", "suite"]
Cuts = Annotated[tuple[float, ...], Field(min_length=4, max_length=4)]

LAYER_NAMES: Mapping[str, str] = {"L1": "semantic", "L2": "perceptual", "L3": "physical"}
DOMAIN_ORDER = ("IF", "BC", "PTQ", "GS", "MFS", "KP", "MC")


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Example(_Table):
    """One worked example of a rubric."""

    video: str
    score: Annotated[int, Field(ge=1, le=5)]
    why: str


class Rubric(_Table):
    """What a judge is asked, with five observable anchors."""

    question: str
    anchors: Mapping[Literal["5", "4", "3", "2", "1"], str]
    look_at: str
    leave_to: str
    not_observable: str
    examples: tuple[Example, ...]

    @model_validator(mode="after")
    def _five_anchors(self) -> Rubric:
        if set(self.anchors) != set("12345"):
            raise ValueError("anchors: needs exactly the keys 5, 4, 3, 2, 1")
        return self


class Companion(_Table):
    """A number that stands as evidence beside a judged dimension (R06c, R07c)."""

    id: str
    quantity: str
    unit: Annotated[str, Field(min_length=1)]
    direction: Direction
    cuts: Cuts
    needs: tuple[str, ...]
    rationale: str


class Sources(_Table):
    """Where each part of a dimension comes from."""

    id: Source
    paradigm: Source
    definition: Source
    cuts: Source | tuple[Source, Source, Source, Source] | None = None
    rubric: Source | None = None


class Domain(_Table):
    """One of the seven domains."""

    code: str
    name: str
    layer: Layer
    folder: str


class Dimension(_Table):
    """One of the 46 dimensions: a table of ``thresholds/<domain>.toml``.

    `cuts` (with `quantity`, `unit`, `direction`) map a number to 1..5; `rubric` tells a judge how to score.
    Paradigm i has
    cuts, iii has a rubric, ii has both.
    """

    id: str
    slug: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    name: str
    domain: str
    layer: Layer
    family: Literal["object", "relation", "dynamics", "none"]
    paradigm: Literal["i", "ii", "iii"]
    expectation: Literal["none", "prompt", "reference", "assumed", "required"]
    assumes: tuple[str, ...]
    scored: str
    pair: str
    needs: tuple[str, ...]
    optional: tuple[str, ...]
    modalities: tuple[Literal["t2v", "i2v"], ...]
    sources: Sources
    rationale: str = ""
    quantity: str | None = None
    unit: Annotated[str, Field(min_length=1)] | None = None
    direction: Direction | None = None
    cuts: Cuts | None = None
    rubric: Rubric | None = None
    companion: Companion | None = None

    @model_validator(mode="after")
    def _complete(self) -> Dimension:
        number = [self.quantity, self.unit, self.direction, self.cuts, self.sources.cuts]
        if self.paradigm in ("i", "ii"):
            if any(part is None for part in number):
                raise ValueError("a numeric dimension needs quantity, unit, direction, cuts and sources.cuts")
        elif any(part is not None for part in number):
            raise ValueError("a judged dimension has a rubric, not quantity, unit, direction, cuts or sources.cuts")
        judged = [self.rubric, self.sources.rubric]
        if self.paradigm in ("ii", "iii"):
            if any(part is None for part in judged):
                raise ValueError("a judged dimension needs rubric and sources.rubric")
        elif any(part is not None for part in judged):
            raise ValueError("a purely numeric dimension has no rubric")
        for table in (self, self.companion):
            if table is not None and table.cuts is not None:
                steps = [b - a for a, b in zip(table.cuts, table.cuts[1:], strict=False)]
                if not all(s > 0 for s in steps) and table.direction == "smaller":
                    raise ValueError(f"cuts {list(table.cuts)} must rise strictly when smaller is better")
                if not all(s < 0 for s in steps) and table.direction == "larger":
                    raise ValueError(f"cuts {list(table.cuts)} must fall strictly when larger is better")
        return self

    @property
    def numeric(self) -> bool:
        """Whether a number and cuts can score it."""
        return self.cuts is not None

    @property
    def marker(self) -> str:
        """The id as a pytest marker: ``IF_01``; ``R22`` stays."""
        return self.id.replace("-", "_")

    @property
    def stem(self) -> str:
        """The name of its test file and function: ``test_r22_momentum``."""
        return f"test_{self.id.lower().replace('-', '_')}_{self.slug}"

    def digest(self) -> str:
        """Return 12 hex digits over all that can change a score: cuts, direction, unit, rubric, companion."""
        keys = {"quantity", "unit", "direction", "cuts", "rubric", "companion"}
        return hashlib.sha256(
            json.dumps(self.model_dump(include=keys, mode="json"), sort_keys=True).encode()
        ).hexdigest()[:12]


class Registry:
    """All dimensions in order of domain and id, and their domains."""

    def __init__(self, domains: Mapping[str, Domain], dimensions: tuple[Dimension, ...]) -> None:
        self.domains = domains
        self.dimensions = dimensions
        self._by_id = {d.id: d for d in dimensions}

    def get(self, identifier: str) -> Dimension:
        """Return the dimension of that id (``R22``, ``IF-01``).

        Raises
        ------
        UserError
            If there is none; names the nearest ids.
        """
        try:
            return self._by_id[identifier]
        except KeyError:
            import difflib

            near = difflib.get_close_matches(identifier, self._by_id, n=3, cutoff=0.3)
            raise UserError(f"no dimension {identifier!r}; the nearest are {', '.join(near) or 'none'}") from None

    def of_domain(self, code: str) -> tuple[Dimension, ...]:
        """Return the dimensions of one domain in order."""
        return tuple(d for d in self.dimensions if d.domain == code)

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs (a, b), each once, in order of the first."""
        order = {d.id: k for k, d in enumerate(self.dimensions)}
        return tuple((d.id, d.pair) for d in self.dimensions if order[d.id] < order.get(d.pair, -1))


def _dimension(path: Path, name: str, table: dict[str, Any], domain: Domain) -> Dimension:
    try:
        return Dimension.model_validate({"id": name, "domain": domain.code, "layer": domain.layer, **table})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "table"
        raise ThresholdError(f"{path.name}: [{name}]: {key}: {first['msg']}") from None


def read_domain(path: Path) -> tuple[Domain, tuple[Dimension, ...]]:
    """Return the domain and dimensions of one TOML file.

    Raises
    ------
    ThresholdError
        One line that names file, table and key.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ThresholdError(f"{path.name}: cannot be read as TOML: {error}") from None
    try:
        domain = Domain.model_validate(tables.pop("domain", {}))
    except ValidationError as error:
        first = error.errors()[0]
        raise ThresholdError(f"{path.name}: [domain]: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return domain, tuple(_dimension(path, name, table, domain) for name, table in tables.items())


def read(folder: Path) -> Registry:
    """Return the registry of all TOML files in `folder`, checked as a whole.

    Raises
    ------
    ThresholdError
        If a table is wrong, an id stands twice, or a pair is not mutual.
    """
    parts = [(path, *read_domain(path)) for path in sorted(folder.glob("*.toml"))]
    seen: dict[str, str] = {}
    for path, _, dimensions in parts:
        for dimension in dimensions:
            if dimension.id in seen:
                raise ThresholdError(f"{path.name}: [{dimension.id}]: id: stands in {seen[dimension.id]} already")
            seen[dimension.id] = path.name
    everything = {d.id: d for _, _, dimensions in parts for d in dimensions}
    for dimension in everything.values():
        other = everything.get(dimension.pair)
        if other is None or other.pair != dimension.id:
            raise ThresholdError(
                f"{seen[dimension.id]}: [{dimension.id}]: pair: {dimension.pair!r} does not point back"
            )
    order = {code: k for k, code in enumerate(DOMAIN_ORDER)}
    parts.sort(key=lambda part: order.get(part[1].code, len(order)))
    return Registry({d.code: d for _, d, _ in parts}, tuple(d for _, _, dimensions in parts for d in dimensions))


@cache
def load() -> Registry:
    """Return the suite's own registry (read once per process)."""
    from pvbench_suite import suite

    return read(suite.root() / "thresholds")
