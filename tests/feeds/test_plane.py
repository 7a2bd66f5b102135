"""Falls in the picture plane: perspective is undone by the object's own size, and a real fault is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.feeds.plane import LENS, PLANAR_BEND, bend, mildest, perspective, readings
from pvbench_suite.measurement import Measurement
from pvbench_suite.perception.types import Bodies, Contacts
from pvbench_suite.physics.gravity import gravity_error

HW = (480, 640)
G = 9.81


def seen_from_above(pitch: float, fewer: float = 1.0, noise: float = 0.0) -> tuple[Bodies, Contacts]:
    """Return the records of a ball of 0.1 m that falls 1.8 m twice before a camera that looks down by `pitch` [deg].

    The second fall is at `fewer` g; `noise` is the scatter of the width, as a share.
    """
    t = np.arange(72) / 36.0
    since = np.where(t < 1.0, t, t - 1.0)
    # in slow motion: a second of the clip is 0.6 s
    height = 1.9 - 0.5 * np.where(t < 1.0, G, fewer * G) * (0.6 * since) ** 2
    x, y, z = 0.3 * t - 0.3, 0.9 - height, np.full_like(t, 3.0)
    c, s = np.cos(np.radians(pitch)), np.sin(np.radians(pitch))
    deep, low = z * c + y * s, y * c - z * s
    focal = 600.0
    # the middle of the fall is in the middle of the picture
    uv = np.stack([focal * x / deep + 319.5, focal * (low - low.mean()) / deep + 239.5], axis=-1)
    width = focal * 0.05 / deep * (1.0 + noise * np.random.default_rng(4).standard_normal(len(t)))
    ones, yes = np.ones((len(t), 1)), np.ones((len(t), 1), dtype=bool)
    centre = np.concatenate([uv, 0 * ones], axis=-1)[:, None]
    bodies = Bodies(
        t, centre, uv[:, None], width[:, None], np.nan * ones, yes, np.array([20.0]), ("ball",), ("other",), HW,
        planar=True, across=width[:, None],
    )  # fmt: skip
    contacts = Contacts(
        t, np.array([1.0 - 1 / 72]), np.array([0]), np.array([-1]), yes, ~yes, ("ball",), down=np.array([0.0, 1.0, 0.0])
    )
    return bodies, contacts


def error(bodies: Bodies, contacts: Contacts, allowance: float = 0.0) -> float:
    """Return R21 of the ball as its test takes it."""
    worlds = readings(bodies, contacts, None, 0)
    return mildest(lambda f: gravity_error(f, contacts.down, None, 20.0, None, allowance), worlds).value


def plain(bodies: Bodies, contacts: Contacts) -> float:
    """Return R21 of the ball in the picture plane alone."""
    return gravity_error(readings(bodies, contacts, None, 0)[0], contacts.down, None, 20.0).value


@pytest.mark.parametrize("pitch", [20.0, 35.0])
def test_a_fall_filmed_from_above_is_lawful_once_its_perspective_is_undone(pitch: float) -> None:
    """The picture plane alone charges it; the plane that the ball's size shows does not, nor does a noisy size."""
    assert plain(*seen_from_above(pitch)) > 0.1
    assert error(*seen_from_above(pitch)) < 0.03
    assert error(*seen_from_above(pitch, noise=0.01), LENS) < 0.03


@pytest.mark.parametrize("fewer", [0.7, 0.5])
def test_a_fall_that_is_lighter_than_another_still_shows(fewer: float) -> None:
    """The same camera sees both falls: no perspective makes the second one lighter than the first."""
    assert error(*seen_from_above(20.0, fewer), LENS) > 0.5 * (1.0 - fewer) - LENS - 0.05


@settings(deadline=None, max_examples=20)
@given(st.floats(0.3, 3.0))
def test_the_size_of_the_object_does_not_matter(size: float) -> None:
    """Only how the width changes along the way counts."""
    bodies, contacts = seen_from_above(25.0)
    other = replace(bodies, across=size * bodies.across)
    np.testing.assert_allclose(perspective(other, contacts, 0), perspective(bodies, contacts, 0), rtol=1e-6)


def test_without_a_steady_width_there_is_one_reading_and_a_larger_allowance() -> None:
    """A turning box has no width of its own; a record without widths, and one with depth, have none either."""
    bodies, contacts = seen_from_above(25.0, noise=0.2)
    assert perspective(bodies, contacts, 0) is None
    assert len(readings(bodies, contacts, None, 0)) == 1
    assert bend(bodies, contacts, 0) == PLANAR_BEND
    bare = replace(seen_from_above(25.0)[0], across=None)
    assert perspective(bare, contacts, 0) is None
    assert bend(replace(bare, planar=False), contacts, 0) == 0.0


def test_the_allowance_is_that_of_the_lens_only_where_the_perspective_is_known_and_g_is_not() -> None:
    """Gravity from a size in the picture carries the errors of that size and of the camera's tilt."""
    bodies, contacts = seen_from_above(25.0)
    assert bend(bodies, contacts, 0) == LENS
    assert bend(bodies, contacts, 0, metric=True) == PLANAR_BEND


def test_the_mildest_world_counts_and_a_reason_only_where_none_can_be_measured() -> None:
    """Lawful in one of the worlds is lawful."""
    found = {1: Measurement(0.4, 1), 2: Measurement(0.1, 1)}

    def measure(flights: list) -> Measurement:  # type: ignore[type-arg]
        if len(flights) not in found:
            raise Unmeasurable("too_noisy", str(len(flights)))
        return found[len(flights)]

    assert mildest(measure, [[1], [1, 2], []]).value == 0.1
    with pytest.raises(Unmeasurable, match="3"):
        mildest(measure, [[1, 2, 3], [1, 2, 3, 4]])
