"""The closed-form paths obey the laws that they claim to obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.simulate.motion import GRAVITY, bounces, collide, rolling, swing

FINE = np.linspace(0.0, 2.0, 4001)


def test_a_ball_dropped_from_rest_falls_by_half_g_t_squared() -> None:
    path = bounces(1.5, 0.0, 2.0, 0.8)
    t = FINE[path.contacts[0] > FINE]
    np.testing.assert_allclose(path.height(t), 1.5 - 0.5 * GRAVITY * t**2, atol=1e-12)
    assert path.contacts[0] == pytest.approx(np.sqrt(2 * 1.5 / GRAVITY))


def test_each_bounce_reaches_the_square_of_the_restitution_of_the_height_before() -> None:
    path = bounces(1.0, 0.0, 3.0, 0.8)
    t = np.linspace(0.0, 3.0, 30001)
    tops = [path.height(t[(t >= f.start) & (t <= f.end)]).max() for f in path.flights[:3]]
    np.testing.assert_allclose(tops, [1.0, 0.64, 0.64**2], rtol=1e-5)


def test_a_ball_of_low_restitution_comes_to_rest_on_the_floor() -> None:
    path = bounces(1.0, 0.0, 3.0, 0.2)
    assert len(path.contacts) == 2
    assert path.height(np.array([2.5]))[0] == 0.0
    assert not path.airborne(np.array([2.5]))[0]


def test_a_sinking_ball_enters_the_floor_without_a_corner_in_its_path() -> None:
    path = bounces(1.0, 0.0, 2.0, 0.5, dwell=0.2)
    c, h = path.contacts[0], 1e-6
    before, after = path.height(np.array([c - h, c])), path.height(np.array([c, c + h]))
    assert np.diff(before)[0] / h == pytest.approx(np.diff(after)[0] / h, rel=1e-3)
    assert path.height(FINE).min() < -0.2


def test_a_pendulum_solves_its_equation_of_motion_at_a_large_amplitude() -> None:
    length = 0.7
    theta = swing(FINE, length, np.radians(60.0))
    h = FINE[1]
    acceleration = (theta[2:] - 2 * theta[1:-1] + theta[:-2]) / h**2
    np.testing.assert_allclose(acceleration, -GRAVITY / length * np.sin(theta[1:-1]), atol=1e-3)
    assert theta[0] == pytest.approx(np.radians(60.0))


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.1, 10), st.floats(0, 1))
def test_collisions_keep_momentum_and_never_gain_energy(v1: float, v2: float, ratio: float, e: float) -> None:
    w1, w2 = collide(v1, v2, ratio, e)
    assert ratio * w1 + w2 == pytest.approx(ratio * v1 + v2, abs=1e-9)
    assert ratio * w1**2 + w2**2 <= ratio * v1**2 + v2**2 + 1e-9
    assert w2 - w1 == pytest.approx(e * (v1 - v2), abs=1e-9)


def test_a_rolling_ball_does_not_slip() -> None:
    """The material point at the contact is at rest: its place in the lab changes in second order only."""
    radius, heading, way = 0.3, (0.6, 0.8), np.array([1.0, 1.0 + 1e-2])
    R = rolling(way, radius, heading)
    centre = np.array([heading[0] * way, [-radius] * 2, heading[1] * way]).T
    material = R[0].T @ np.array([0.0, radius, 0.0])
    first, second = (c + r @ material for c, r in zip(centre, R, strict=True))
    assert np.linalg.norm(second - first) < 0.02 * np.linalg.norm(centre[1] - centre[0])
