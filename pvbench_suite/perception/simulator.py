"""The `simulator` profile: exact ground truth that the renderer stored beside its videos."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.cache import Cache, identity
from pvbench_suite.perception.protocol import Parameter, Profile
from pvbench_suite.perception.types import LEARNED, RECORDS, Record
from pvbench_suite.video.types import Clip

REMEDY = "ground truth comes with rendered videos only: pvbench demo DIR"

#: What a renderer knows; features of a learned model are no truth.
TRUTHS = tuple(product for product in RECORDS if product not in LEARNED)


@dataclass(frozen=True)
class Truth:
    """Finds the ground truth of one product in the cache; never makes it."""

    product: str
    name: str = "simulator-truth@1"
    needs: tuple[str, ...] = ()
    parameters: ClassVar[Mapping[str, Parameter]] = {}

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Record:
        """Raise: what is not in the cache cannot be known from pixels."""
        raise NotPerceived(f"no ground truth {self.product!r} is stored for this video", REMEDY)


PROFILE = Profile(
    name="simulator",
    providers={product: Truth(product) for product in TRUTHS},
    claims=None,
    limits="ground truth of rendered videos",
    remedy=REMEDY,
)


def store(folder: Path, digest: str, records: Mapping[str, Record]) -> None:
    """Write the ground truth of one video (sha256 `digest`) into the cache `folder`."""
    cache = Cache([folder])
    for product in sorted(records):
        cache.store(digest, identity(PROFILE, product), records[product])


def stored(folder: Path, digest: str, products: tuple[str, ...]) -> bool:
    """Return whether all `products` of a video stand in the cache `folder`."""
    cache = Cache([folder])
    return all(cache.find(digest, product, identity(PROFILE, product)) for product in products)
