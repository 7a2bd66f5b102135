"""`Evidence`: what was measured of a video, for a judge to read: numbers with units, and a drawing where it helps.

Conventions
-----------
Evidence comes from perception records through the suite's own kernels and from nowhere else.  A record that is not
there gives no evidence; what a kernel cannot measure is said to be not measured, with the reason.  Names come from
records and prompts and are reduced to plain characters.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pvbench_suite.dimensions import Dimension
from pvbench_suite.errors import NotPerceived, PVBenchError, Unmeasurable
from pvbench_suite.judge.drawing import Sketch
from pvbench_suite.measurement import Measurement
from pvbench_suite.perception.cache import Cache, identity
from pvbench_suite.perception.protocol import Profile
from pvbench_suite.prompts.brief import Brief
from pvbench_suite.prompts.schema import Group

#: Gives a product of the current video by name, or None where there is none.
Get = Callable[[str], Any]

#: Objects that are reported one by one; a scene with more is summed up.
MOST_OBJECTS = 12


class NotReady(PVBenchError):
    """What the evidence reads is not measured yet; the judgement can't be asked ahead."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Measured lines, and a drawing with its caption."""

    lines: tuple[str, ...]
    picture: Sketch | None = None
    caption: str = ""

    @property
    def digest(self) -> str:
        """The sha256 (hex) of lines, caption and drawing."""
        drawn = self.picture.digest if self.picture else None
        return hashlib.sha256(json.dumps([self.lines, self.caption, drawn]).encode()).hexdigest()


def gather(dimension: Dimension, get: Get, group: Group | None) -> Evidence | None:
    """Return what can be measured of a video for a judge of `dimension`, or None.

    Parameters
    ----------
    dimension : Dimension
        Its ``needs``, ``optional`` and its companion's ``needs`` are the products that may be read.
    get : callable
        Gives a product by name, or None.
    group : Group or None
        What the prompt says of the scene.

    Raises
    ------
    NotReady
        What `get` raises so goes through.
    """
    from pvbench_suite.judge.measures import MEASURES

    measure = MEASURES.get(dimension.id)
    if measure is None:
        return None
    allowed = {*dimension.needs, *dimension.optional, *(dimension.companion.needs if dimension.companion else ())}
    try:
        return measure(lambda product: get(product) if product in allowed else None, Brief(group), dimension)
    except Unmeasurable as nothing:
        return Evidence((f"The measurement found nothing that it could measure: {nothing}.",))
    except NotPerceived:
        return None


def kept(profile: Profile, cache: Cache, digest: str) -> Get:
    """Return a `Get` that reads the products of one video from the cache alone, for asking ahead.

    Parameters
    ----------
    profile : Profile
        Who perceives; what it does not make is None.
    cache : Cache
        Read only; one of its own for the background's thread.
    digest : str
        The sha256 of the video's bytes.

    Raises
    ------
    NotReady
        By the returned function, for a product that the profile makes and that is not in the cache yet.
    """

    def get(product: str) -> Any:
        if product not in profile.providers:
            return None
        record = cache.load(digest, product, identity(profile, product))
        if record is None:
            raise NotReady(product)
        return record

    return get


def plain(name: str) -> str:
    """Return a name without anything but letters, digits, dot, hyphen and underscore."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:40]


def each_object(
    names: Sequence[str],
    chosen: Sequence[int],
    measure: Callable[[int], Measurement],
    say: Callable[[Measurement], str],
) -> list[str]:
    """Return one line per chosen object: what `say` makes of its measurement, or why it has none."""
    lines = []
    for n in chosen[:MOST_OBJECTS]:
        try:
            lines.append(f"{plain(names[n])}: {say(measure(n))}")
        except Unmeasurable as nothing:
            lines.append(f"{plain(names[n])}: not measured ({nothing})")
    if len(chosen) > MOST_OBJECTS:
        lines.append(f"{len(chosen) - MOST_OBJECTS} more objects were not reported")
    return lines
