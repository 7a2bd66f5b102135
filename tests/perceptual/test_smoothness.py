"""PTQ-04: middle frames against what their neighbours suggest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.perceptual.smoothness import motion_smoothness, triple_errors
from tests.physics.bodies import FPS, few, reason


@few
@given(st.floats(0, 1.5), st.floats(0.1, 100), st.sampled_from(FPS), st.integers(0, 10**6))
def test_a_constant_share_reads_itself_in_any_unit_and_at_any_speed(e: float, unit: float, fps: int, seed: int) -> None:
    """The error relative to the motion does not depend on the unit, on the speed or on the direction of time."""
    speed = np.random.default_rng(seed).uniform(5, 50, size=4 * fps)
    assert motion_smoothness(unit * e * speed, unit * speed, 1 / fps).value == pytest.approx(e)
    assert motion_smoothness(e * speed[::-1], speed[::-1], 1 / fps).value == pytest.approx(e)


def test_triples_are_read_over_moving_pixels_only() -> None:
    """A patch of 16 pixels moves by 40 levels and is met within 10; the still rest is wrong by 5 and does not count."""
    before, after = np.full((9, 20, 20), 100.0), np.full((9, 20, 20), 100.0)
    after[:, :4, :4] = 140.0
    middle, made = np.full((9, 20, 20), 100.0), np.full((9, 20, 20), 105.0)
    middle[:, :4, :4], made[:, :4, :4] = 120.0, 130.0
    error, difference = triple_errors(before, middle, after, made)
    assert error == pytest.approx(10.0)
    assert difference == pytest.approx(40.0)
    assert motion_smoothness(error, difference).value == pytest.approx(0.25)
    wide = np.zeros((9, 20, 20), dtype=bool)
    wide[:, :4, :8] = True
    error, difference = triple_errors(before, middle, after, made, wide)
    assert error == pytest.approx(7.5)
    assert difference == pytest.approx(20.0)


def test_a_triple_in_which_next_to_nothing_moves_is_left_out() -> None:
    """Fewer than 0.2 % of the pixels give no value, and such a clip has no motion."""
    before = np.zeros((9, 40, 40))
    after = before.copy()
    after[:, 0, :3] = 100.0
    error, difference = triple_errors(before, before, after, before)
    assert np.isnan(error).all()
    assert np.isnan(difference).all()
    after[:, 0, 3] = 100.0
    assert np.isfinite(triple_errors(before, before, after, before)[0]).all()


def test_a_stutter_of_half_a_second_counts_and_one_bad_triple_does_not() -> None:
    """The 0.3 s median removes a single bad triple; half a second of them counts in full."""
    error, difference = np.full(240, 1.0), np.full(240, 10.0)
    error[100] = 9.0
    assert motion_smoothness(error, difference).value == pytest.approx(0.1)
    error[100:112] = 9.0
    assert motion_smoothness(error, difference).value == pytest.approx(0.9)


def test_stillness_earns_nothing() -> None:
    """A still clip has no motion, by its tracks or by its frames."""
    one = np.ones(48)
    assert reason(lambda: motion_smoothness(one, one, motion=0.5))[0] == "no_motion"
    assert reason(lambda: motion_smoothness(0 * one, 0 * one))[0] == "no_motion"
    assert reason(lambda: motion_smoothness(one * np.nan, one * np.nan))[0] == "no_motion"
    assert motion_smoothness(one, one, motion=1.0).value == 1.0


def test_motion_that_cannot_be_interpolated_is_not_stillness() -> None:
    """Something moves in 48 triples and the middle is known in six of them: too noisy; in seven, they are measured."""
    error, outer = np.full(48, np.nan), np.full(48, 10.0)
    error[:6] = 1.0
    assert reason(lambda: motion_smoothness(error, outer))[0] == "too_noisy"
    error[6] = 1.0
    assert motion_smoothness(error, outer).value == pytest.approx(0.1)
    outer[8:] = np.nan
    error[:2] = np.nan
    assert reason(lambda: motion_smoothness(error, outer))[0] == "too_noisy"
    outer[:3] = np.nan
    assert reason(lambda: motion_smoothness(error, outer))[0] == "no_motion"


def test_each_perception_reason_is_given() -> None:
    """The first check that holds is the reason."""
    one = np.ones(48)
    assert reason(lambda: motion_smoothness(None, one))[0] == "no_object"
    assert reason(lambda: motion_smoothness(one, one[:5]))[0] == "bad_shape"
    assert reason(lambda: motion_smoothness(one[:6], one[:6]))[0] == "too_few_frames"
    assert reason(lambda: triple_errors(one, one, one, one))[0] == "bad_shape"
