"""What the fixtures hand out: products, the judge, and the one place that takes a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pvbench_suite.errors import NotPerceived
from pvbench_suite.judge import Verdict
from pvbench_suite.judge.protocol import REMEDY
from pvbench_suite.measurement import Measurement
from pvbench_suite.plugin.keys import RESULT, RUN
from pvbench_suite.plugin.run import Job


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
        return run.judge(job.video, run.clips.get(job.video), job.planned.group, dimension)

    return ask


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
