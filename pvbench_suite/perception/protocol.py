"""`Provider`: one perception model, one product."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pvbench_suite.perception.types import Record
from pvbench_suite.video.types import Clip

Parameter = str | int | float | bool


class Provider(Protocol):
    """Makes one product of one video.

    A provider is a value: equal `name` and `parameters` mean equal output on equal input, bit for bit.
    """

    @property
    def name(self) -> str:
        """Name with the revision of code and weights, e.g. ``embedded-dis@1``; part of cache keys and of every row."""

    @property
    def product(self) -> str:
        """The product it makes, a key of `pvbench_suite.perception.types.RECORDS`."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Other products that it reads."""

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Whatever can change the output."""

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Record:
        """Return what the model sees in `clip`, given the `needs` in `records`.

        Raises
        ------
        NotPerceived
            If this video is outside what the provider can see (the message says why).
        """


@dataclass(frozen=True)
class Profile:
    """A named set of providers, at most one per product.

    `claims` are the ids of the dimensions that the profile may score (None: all whose products it has); `limits` is one
    line for headers and reports; `assumed` goes into every row that it makes.
    """

    name: str
    providers: Mapping[str, Provider]
    claims: frozenset[str] | None
    limits: str
    assumed: tuple[str, ...] = ()
    remedy: str = ""
