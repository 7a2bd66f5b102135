"""`Perception`: the read-through access to every product of the run's videos."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.cache import Cache, identity
from pvbench_suite.perception.protocol import Profile
from pvbench_suite.perception.types import LEARNED, Record
from pvbench_suite.video.types import Clip, Video


class Perception:
    """Hands out products: from memory for the current video, from the cache, or made on the spot.

    Parameters
    ----------
    profile : Profile
        Which providers make what.
    cache : Cache
        Where products are kept.
    clip : callable
        Decodes a video (once; the caller remembers the current one).
    digest : callable
        Gives the sha256 of a video's bytes.
    """

    def __init__(
        self, profile: Profile, cache: Cache, clip: Callable[[Video], Clip], digest: Callable[[Video], str]
    ) -> None:
        self.profile = profile
        self.cache = cache
        self._clip = clip
        self._digest = digest
        self._video: Video | None = None
        self._memory: dict[str, Record | NotPerceived] = {}
        self._lazy: Any = None

    def identities(self, products: tuple[str, ...]) -> dict[str, str]:
        """Return product -> provider identity for those of `products` that the profile has."""
        return {p: identity(self.profile, p) for p in sorted(products) if p in self.profile.providers}

    def get(self, video: Video, product: str) -> Any:
        """Return the record `product` of `video`.

        Raises
        ------
        NotPerceived
            If the profile has no provider for it, or the provider cannot see this video; says the remedy.
        BrokenVideo
            If the file has to be decoded and cannot be.
        """
        if video != self._video:
            # One clip object per video: providers remember what they worked out for the clip seen last.
            self._video, self._memory, self._lazy = video, {}, _Lazy(lambda: self._clip(video))
        if product not in self._memory:
            try:
                self._memory[product] = self._make(video, product)
            except NotPerceived as reason:
                self._memory[product] = reason
        found = self._memory[product]
        if isinstance(found, NotPerceived):
            raise found
        return found

    def _make(self, video: Video, product: str) -> Record:
        provider = self.profile.providers.get(product)
        if provider is None:
            learned = LEARNED.get(product)
            remedy = f"it needs {learned}, which no profile of this version has" if learned else self.profile.remedy
            raise NotPerceived(f"the profile {self.profile.name!r} does not make {product!r}", remedy)
        digest, who = self._digest(video), identity(self.profile, product)
        record = self.cache.load(digest, product, who)
        if record is None:
            inputs: Mapping[str, Record] = {need: self.get(video, need) for need in provider.needs}
            record = provider(self._lazy, inputs)
            self.cache.store(digest, who, record)
        return record


class _Lazy:
    """A `Clip` that is decoded when its first attribute is read, so that shipped ground truth needs no decoding."""

    def __init__(self, make: Callable[[], Clip]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        return getattr(self._make(), name)
