"""Timestamps are repaired without inventing motion, and the rate follows from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.video.timing import rate_of, repair


def test_sound_timestamps_are_kept_as_they_are_from_zero():
    times, warnings = repair([5.0, 5.1, 5.4, 5.5], None)
    np.testing.assert_allclose(times, [0, 0.1, 0.4, 0.5])
    assert warnings == ()


def test_one_missing_timestamp_is_interpolated_and_said():
    times, warnings = repair([0.0, 0.1, None, 0.3, 0.4, 0.5], None)
    np.testing.assert_allclose(times, [0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert warnings == ("1 of 6 timestamps missing or out of order, interpolated",)


def test_one_repeated_timestamp_does_not_shift_those_after_it():
    times, _ = repair([0.0, 0.1, 0.1, 0.3, 0.4, 0.5], None)
    assert times[1] < times[2] < times[3]
    np.testing.assert_allclose(times[3:], [0.3, 0.4, 0.5])


def test_missing_timestamps_at_both_ends_are_continued_at_the_usual_step():
    times, _ = repair([None, *np.arange(10) * 0.2, None], None)
    np.testing.assert_allclose(times, np.arange(12) * 0.2)


def test_a_jump_back_to_zero_in_joined_recordings_keeps_both_parts_whole():
    half = [0.0, 0.1, 0.2, 0.3, 0.4]
    times, warnings = repair(half + half, None)
    np.testing.assert_allclose(times, np.arange(10) * 0.1)
    assert warnings == ("1 of 9 time steps missing or not positive, replaced by 100 ms",)


def test_without_any_timestamp_the_declared_step_counts_with_a_warning():
    times, warnings = repair([None, None, None], 0.04)
    np.testing.assert_allclose(times, [0, 0.04, 0.08])
    assert len(warnings) == 1


def test_neither_timestamps_nor_a_rate_is_an_error():
    with pytest.raises(ValueError, match="no timestamps and no frame rate"):
        repair([None, None], None)


def test_one_frame_needs_neither():
    times, warnings = repair([None], None)
    assert times.tolist() == [0.0]
    assert warnings == ()


@given(st.lists(st.one_of(st.none(), st.floats(-1e4, 1e4)), min_size=1, max_size=60))
def test_repaired_times_always_rise_from_zero(stamps):
    times, _ = repair(stamps, 0.04)
    assert times[0] == 0
    assert len(times) == len(stamps)
    assert np.all(np.isfinite(times))
    assert np.all(np.diff(times) > 0)


@given(st.integers(20, 200), st.integers(1, 240))
def test_millisecond_rounding_is_no_variable_rate(count, fps):
    times = np.round(np.arange(count) / fps, 3)
    rate, vfr = rate_of(times - times[0], tick=0.001)
    assert not vfr
    assert rate == pytest.approx(fps, rel=2 * fps / 1000 / (count - 1) + 1e-9)


def test_a_dropped_frame_is_a_variable_rate_and_leaves_the_rate_alone():
    times = np.delete(np.arange(30) / 30, 10)
    assert rate_of(times, tick=1 / 30) == (pytest.approx(30), True)
    assert rate_of(times, tick=1 / 90000) == (pytest.approx(30), True)


def test_one_frame_has_no_rate():
    assert rate_of(np.zeros(1)) == (None, False)
