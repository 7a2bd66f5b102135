"""What should not matter does not: every change of a clip on every kernel that sees it, and clips without motion."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pvbench_suite.suite import root
from tests.physics.bodies import few, reason
from tests.physics.changes import CHANGES, matrix, sees, shuffled, times
from tests.physics.subjects import SUBJECTS

CELLS = [(name, c) for name, s in SUBJECTS.items() for c in CHANGES if sees(s, c) and c not in s.breaks]
some = settings(few, max_examples=4)


@cache
def plain(name: str, fault: float = 1.0) -> float:
    """Return the value of a kernel's clip as it is."""
    return SUBJECTS[name].kernel(**SUBJECTS[name].make(times(), fault=fault)).value


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_subject_is_lawful_without_its_fault_and_not_with_it(name: str) -> None:
    """Otherwise a kernel that answers a constant would pass the rest of this page."""
    good, bad = plain(name, 0.0), plain(name)
    assert abs(good - (1.0 if name == "R01" else 0.0)) < (0.11 if name == "PTQ-04" else 0.003)
    assert abs(bad - good) > 0.005


@pytest.mark.parametrize(("name", "change"), CELLS)
@some
@given(seed=st.integers(0, 10**6))
def test_a_change_that_should_not_matter_does_not(name: str, change: str, seed: int) -> None:
    """The value of the changed clip is that of the plain one, within the tolerance that docs/physics.md states."""
    subject = SUBJECTS[name]
    tolerance = subject.tolerance.get(change, 1e-6)
    assert subject.kernel(**CHANGES[change](subject, seed)).value == pytest.approx(plain(name), rel=tolerance, abs=1e-9)


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_static_clip_gets_what_the_definitions_say(name: str) -> None:
    """Only facts of single frames are measured; the others find that their event is absent, and that it would show."""
    subject = SUBJECTS[name]
    clip = subject.make(times(), fault=0.0, still=True)
    if subject.still == "same":
        assert subject.kernel(**clip).value == pytest.approx(plain(name, 0.0), abs=1e-9)
    else:
        found, detectable = reason(lambda: subject.kernel(**clip))
        assert found == subject.still
        assert detectable


@pytest.mark.parametrize("name", SUBJECTS)
@some
@given(seed=st.integers(0, 10**6))
def test_a_shuffled_clip_is_no_motion_that_could_pass(name: str, seed: int) -> None:
    """Facts of single frames stay; whatever follows a motion finds none that leaves its noise."""
    subject = SUBJECTS[name]
    clip = shuffled(subject, seed)
    if subject.shuffled == "same":
        assert subject.kernel(**clip).value == pytest.approx(plain(name, 0.0), abs=1e-9)
    else:
        found, _ = reason(lambda: subject.kernel(**clip))
        assert found in subject.shuffled.split("|")


@pytest.mark.parametrize("name", [n for n, s in SUBJECTS.items() if "duplicated" in s.breaks])
def test_where_judder_costs_sensitivity_it_costs_no_lawful_clip(name: str) -> None:
    """16 pictures in a container of 24 read less of a fault and nothing without one."""
    subject = SUBJECTS[name]
    clip = CHANGES["duplicated"](subject, 0)
    assert 0.0 < subject.kernel(**clip).value < plain(name)
    lawful = subject.make(times(16.0), fault=0.0) | {"t": clip["t"]}
    assert subject.kernel(**lawful).value == pytest.approx(0.0, abs=1e-3)


def test_the_page_of_the_definitions_has_this_matrix() -> None:
    """docs/physics.md says for each kernel what is tested, and no more."""
    page = (root() / "docs" / "physics.md").read_text(encoding="utf-8") if (root() / "docs").is_dir() else ""
    if not page:
        pytest.skip("the docs are not beside this copy of the suite")
    for name, cells in matrix().items():
        assert "| " + " | ".join([name, *cells.values()]) + " |" in page
