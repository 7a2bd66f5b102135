"""What the fixtures hand out: products, the judge, and the one place that takes a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pvbench_suite.dimensions import Dimension
from pvbench_suite.errors import NotPerceived
from pvbench_suite.judge import Verdict
from pvbench_suite.judge.evidence import Evidence, gather, kept
from pvbench_suite.judge.protocol import REMEDY
from pvbench_suite.judge.service import Ask
from pvbench_suite.measurement import Measurement
from pvbench_suite.perception.cache import Cache
from pvbench_suite.plugin.keys import RESULT, RUN
from pvbench_suite.plugin.run import Job, Run
from pvbench_suite.video.decode import decode_isolated
from pvbench_suite.video.types import Clip


def perceive(config: pytest.Config, job: Job) -> Callable[[str], Any]:
    """Return a function that gives a product of the job's video by name.

    It raises `NotPerceived` where the profile does not have the product.
    """
    perception = config.stash[RUN].perception(job.video.model)
    return lambda product: perception.get(job.video, product)


def optional(get: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return `get` with None in place of `NotPerceived`."""

    def give(product: str) -> Any:
        try:
            return get(product)
        except NotPerceived:
            return None

    return give


def judge(config: pytest.Config, job: Job) -> Callable[[str], Verdict]:
    """Return a function that asks the judge about the job's video on one dimension.

    It raises `NotPerceived` where no judge is configured.
    """
    run = config.stash[RUN]

    def ask(identifier: str) -> Verdict:
        if run.judge is None:
            raise NotPerceived("no judge is configured", REMEDY)
        dimension = run.registry.get(identifier)
        found = gather(dimension, optional(perceive(config, job)), job.planned.group)
        return run.judge(job.video, lambda: run.clips.get(job.video), job.planned.group, dimension, found)

    return ask


def judged(config: pytest.Config, job: Job) -> Callable[[str], Verdict | None]:
    """Return a function that gives the judge's verdict on measured evidence, or None where no judge is configured."""
    run = config.stash[RUN]
    ask = judge(config, job)
    return lambda identifier: None if run.judge is None else ask(identifier)


def ahead(run: Run, job: Job, dimension: Dimension) -> Ask:
    """Return a planned judgement to be asked in the background, where it must not touch the clip of the tests."""
    profile, digest, group = run.profile, job.digest or "", job.planned.group
    folders = run.folders_of(job.video)

    def clip() -> Clip:
        return decode_isolated(job.video.path, limits=run.clips.limits, fps=job.video.fps)[1]

    def evidence() -> Evidence | None:
        return gather(dimension, kept(profile, Cache(folders), digest), group)

    return Ask(job.video, clip, group, dimension, evidence)


def grade(item: pytest.Item) -> Callable[[Measurement | Verdict], None]:
    """Return the function that takes the result of the pair of `item`, once."""

    def take(result: Measurement | Verdict) -> None:
        __tracebackhide__ = True
        if not isinstance(result, (Measurement, Verdict)):
            raise TypeError(f"grade() takes a Measurement or a Verdict, got a {type(result).__name__}")
        if RESULT in item.stash:
            raise RuntimeError("grade() was called twice: a pair has one result")
        item.stash[RESULT] = result

    return take
