"""The worst of several objects."""

from __future__ import annotations

import pytest

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.worst import worst


def _measure(parts: list[float | str | Unmeasurable]):
    def measure(i: int) -> Measurement:
        part = parts[i]
        if isinstance(part, float):
            return Measurement(part, n=10 + i, spread=0.1 * i, evidence={"own": i}, assumed=("rigid",))
        raise Unmeasurable(part) if isinstance(part, str) else part

    return measure


def test_the_largest_value_is_the_worst_and_the_others_are_named() -> None:
    """The winner keeps its n, spread, evidence and assumptions; every object has a value or a reason."""
    m = worst(_measure([0.2, "no_motion", 0.5, 0.1]), 4)
    assert (m.value, m.n, m.spread, m.assumed) == (0.5, 12, 0.2, ("rigid",))
    assert m.evidence == {
        "own": 2,
        "object": 2,
        "objects": [0.2, None, 0.5, 0.1],
        "reasons": [None, "no_motion", None, None],
    }


def test_the_smallest_value_is_the_worst_where_larger_is_better() -> None:
    """The direction can be turned round."""
    assert worst(_measure([0.2, 0.5]), 2, larger_better=True).value == 0.2


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        (["too_small", "no_motion", "too_small"], ("no_motion", False)),
        (["no_motion", "no_motion"], ("no_motion", True)),
        (["no_motion", Unmeasurable("no_contact", detectable=False), "no_contact"], ("no_contact", False)),
        (["too_small", "all_nan", "all_nan"], ("all_nan", False)),
        ([], ("no_object", True)),
    ],
)
def test_the_reason_of_none_is_the_one_that_tells_most(parts: list, wanted: tuple[str, bool]) -> None:
    """Events come before perception, and count as detectable only when every object was seen well enough."""
    with pytest.raises(Unmeasurable) as caught:
        worst(_measure(parts), len(parts))
    assert (caught.value.reason, caught.value.detectable) == wanted
