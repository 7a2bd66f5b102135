"""What a profile sees of one clip: the engine's reading of products, without cache and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.protocol import Profile
from pvbench_suite.perception.simulator import Truth
from pvbench_suite.perception.types import Record
from pvbench_suite.video.types import Clip


class Eyes:
    """The products of one clip by a profile, each made once; `given` stands for providers that are truth."""

    def __init__(self, profile: Profile, clip: Clip, given: Callable[[], Mapping[str, Record]] | None = None) -> None:
        self.profile, self.clip = profile, clip
        self._given = given
        self._made: dict[str, Record | NotPerceived] = {}

    def get(self, product: str) -> Any:
        """Return a product; raises `NotPerceived` where the profile has none for this clip."""
        if product not in self._made:
            try:
                self._made[product] = self._make(product)
            except NotPerceived as reason:
                self._made[product] = reason
        found = self._made[product]
        if isinstance(found, NotPerceived):
            raise found
        return found

    def _make(self, product: str) -> Record:
        provider = self.profile.providers.get(product)
        if provider is None:
            raise NotPerceived(f"no {product}", self.profile.remedy)
        if isinstance(provider, Truth):
            records = self._given() if self._given is not None else {}
            if product not in records:
                raise NotPerceived(f"no truth of {product} for this clip", self.profile.remedy)
            return records[product]
        return provider(self.clip, {need: self.get(need) for need in provider.needs})

    def optional(self, product: str) -> Record | None:
        """Return a product, or None where there is none."""
        try:
            found: Record = self.get(product)
        except NotPerceived:
            return None
        return found
