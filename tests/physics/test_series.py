"""The shared tools of time series, against plain loops and known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.physics import checks, series
from tests.physics.bodies import FPS, few, reason


def test_windows_are_the_odd_numbers_of_the_text() -> None:
    """0.3 s, 1 s and 0.125 s at 8, 12, 24 and 60 fps have the lengths that the text lists or its formula gives."""
    assert [series.window(0.3, 1 / f) for f in FPS] == [3, 3, 7, 19]
    assert [series.window(1.0, 1 / f) for f in FPS] == [9, 13, 25, 61]
    assert [series.window(0.125, 1 / f) for f in FPS] == [3, 3, 3, 7]


@few
@given(st.integers(0, 10**6), st.sampled_from([3, 7, 19]), st.integers(1, 40))
def test_running_median_equals_a_plain_loop(seed: int, n: int, frames: int) -> None:
    """Windows shrink at the ends, use what is present, and give nothing only where they hold nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(frames, 2))
    x[rng.random(x.shape) < 0.4] = np.nan
    half = (n - 1) // 2
    for k, row in enumerate(series.running_median(x, n)):
        part = x[max(0, k - half) : k + half + 1]
        for c in range(2):
            here = part[:, c][np.isfinite(part[:, c])]
            assert math.isnan(row[c]) if here.size == 0 else row[c] == pytest.approx(np.median(here), abs=1e-15)


@pytest.mark.parametrize("fps", FPS)
def test_a_level_held_half_a_second_counts_in_full_at_every_frame_rate(fps: int) -> None:
    """Half a second in twenty counts; one frame less does not, nor does a run that a missing frame breaks."""
    run = math.ceil(0.5 * fps - 1e-6)
    x = np.zeros(20 * fps)
    x[fps : fps + run] = 1.0
    assert series.time_statistic(x, 1 / fps) == 1.0
    short = x.copy()
    short[fps] = 0.0
    assert series.time_statistic(short, 1 / fps) == 0.0
    broken = x.copy()
    broken[fps + 1] = np.nan
    assert series.time_statistic(broken, 1 / fps) == 0.0


def test_a_tenth_of_the_time_counts_however_it_is_spread() -> None:
    """The 90th percentile sees isolated frames once they fill more than a tenth of the clip."""
    x = np.zeros(100)
    x[::9] = 1.0
    assert series.time_statistic(x, 1 / 24) == 1.0
    x = np.zeros(100)
    x[::12] = 1.0
    assert series.time_statistic(x, 1 / 24) == 0.0


def test_a_series_without_a_value_has_no_statistic() -> None:
    """Nothing is imputed for a series that is missing throughout."""
    with pytest.raises(Unmeasurable, match="all_nan"):
        series.time_statistic(np.full(30, np.nan), 1 / 24)


def test_third_differences_read_white_noise_and_no_quadratic() -> None:
    """`sd3` finds the sd of white noise within 10 %, is 0 for a parabola and 0 with fewer than 5 quadruples."""
    rng = np.random.default_rng(0)
    t = np.linspace(0, 1, 3000)
    parabola = np.stack([t, 3 * t**2], axis=-1)
    assert series.sd3(parabola) == pytest.approx([0, 0], abs=1e-12)
    assert series.sd3(parabola + rng.normal(size=(3000, 2)) * [0.1, 0.3]) == pytest.approx([0.1, 0.3], rel=0.1)
    assert series.sd3(rng.normal(size=7)) == 0.0
    assert series.sd3(rng.normal(size=8)) > 0.0


def test_the_gate_is_the_norm_of_the_ranges() -> None:
    """A line has a 5-95 % range of 0.9 of its length in each component; one wild frame does not matter."""
    x = np.linspace(0, 1, 1001)[:, None] * [3.0, 4.0]
    assert series.gate_range(x, 1 / 24) == pytest.approx(0.9 * 5.0, rel=1e-6)
    x[500] = 1e6
    assert series.gate_range(x, 1 / 24) == pytest.approx(0.9 * 5.0, rel=1e-2)
    assert series.gate_range(np.full((30, 2), np.nan), 1 / 24) == 0.0


def test_motion_is_in_percent_of_the_diagonal_and_ignores_noise() -> None:
    """The largest of the tracks counts; a noisy still track, and one with few frames, count nothing."""
    rng = np.random.default_rng(1)
    pan = np.stack([np.linspace(0, 100, 201), np.zeros(201)], axis=-1)
    still = rng.normal(size=(201, 2)) * 3.0
    brief = np.full((201, 2), np.nan)
    brief[:7] = np.linspace(0, 500, 7)[:, None]
    assert series.motion([still, pan, brief], (300, 400), 1 / 24) == pytest.approx(100 * 90 / 500, rel=1e-6)
    assert series.motion([still], (300, 400), 1 / 24) == 0.0
    assert series.motion([], (300, 400), 1 / 24) == 0.0
    assert series.motion_error([still], (300, 400)) == pytest.approx(100 * 3 * math.sqrt(2) / 500, rel=0.2)
    assert series.motion_error([brief], (300, 400)) == math.inf


@few
@given(st.integers(1, 60), st.integers(0, 10**6))
def test_trimming_keeps_nine_tenths_and_at_least_one(n: int, seed: int) -> None:
    """The vectorized mean of the trimmed rows equals the mean of `trim` over what is present."""
    x = np.random.default_rng(seed).random(n)
    assert len(series.trim(x)) == max(1, 9 * n // 10)
    rows = np.stack([np.append(x, np.nan), np.full(n + 1, np.nan)])
    mean = series.trimmed_mean(rows)
    assert mean[0] == pytest.approx(series.trim(x).mean())
    assert math.isnan(mean[1])


def test_median_interval_ignores_a_dropped_frame() -> None:
    """A gap in the timestamps does not change the frame interval; a clip without time has none."""
    t = np.delete(np.arange(40) / 24, [11, 12])
    assert series.median_dt(t) == pytest.approx(1 / 24)
    assert reason(lambda: series.median_dt([1.0, 1.0, 1.0]))[0] == "too_few_frames"
    assert reason(lambda: series.median_dt([1.0]))[0] == "too_few_frames"


def test_checks_name_what_is_wrong() -> None:
    """Each check raises its own reason, and infinite values are missing."""
    assert reason(lambda: checks.given(None))[0] == "no_object"
    assert reason(lambda: checks.given(np.zeros((5, 0))))[0] == "no_object"
    assert reason(lambda: checks.given([[1.0], [1.0, 2.0]]))[0] == "bad_shape"
    assert reason(lambda: checks.of_shape(np.zeros((3, 2)), (None, 3)))[0] == "bad_shape"
    assert reason(lambda: checks.flags(np.zeros(3), (4,)))[0] == "bad_shape"
    assert reason(lambda: checks.enough_frames(7))[0] == "too_few_frames"
    assert reason(lambda: checks.some_finite(checks.given([np.inf, np.nan])))[0] == "all_nan"
    assert reason(lambda: checks.some_positive(np.array([0.0, -1.0, np.nan])))[0] == "zero_depth"
    assert checks.flags(np.array([1.0, np.nan, 0.0]), (3,)).tolist() == [True, False, False]


def test_an_absent_event_is_detectable_only_below_a_third_of_its_gate() -> None:
    """3 standard errors above any gate make a missing event unproven."""
    assert checks.absent("no_motion", "", (0.3, 1.0)).detectable
    assert not checks.absent("no_motion", "", (0.3, 1.0), (0.4, 1.0)).detectable
