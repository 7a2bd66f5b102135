"""R19: two sources that agree or disagree about the motion of points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.motion import motion_disagreement, similarity
from tests.physics.bodies import FPS, ar1, few, points, reason, world

STATIC = np.arange(14) < 8


def scene(gain: float = 1.0, seconds: float = 3.0, fps: float = 24.0, speed: float = 1.0) -> np.ndarray:
    """Return 8 static and 6 moving points (T, 14, 3) about 6 units away; the moving ones move `gain` times as far."""
    t = np.arange(round(seconds * fps)) / fps
    base = points(14) + np.array([0, 0, 6.0])
    way = speed * t[:, None] * np.array([1.0, 0.2, 0.1])
    X = np.broadcast_to(base, (len(t), 14, 3)).copy()
    X[:, ~STATIC] += gain * way[:, None]
    return X


@pytest.mark.parametrize("fps", FPS)
@pytest.mark.parametrize("gain", [1.0, 1.5, 2.0])
def test_a_gain_reads_its_excess_over_the_mean_at_every_frame_rate(fps: int, gain: float) -> None:
    """Motion (1 + e) times as far reads e / (1 + e / 2)."""
    m = motion_disagreement(scene(1.0, fps=fps), scene(gain, fps=fps), STATIC, dt=1 / fps)
    assert m.value == pytest.approx((gain - 1) / (1 + (gain - 1) / 2), abs=1e-9)


def test_opposite_and_still_sources_read_two() -> None:
    """The worst that can be said is 2."""
    for gain in (-1.0, 0.0):
        assert motion_disagreement(scene(), scene(gain), STATIC).value == pytest.approx(2.0)


@few
@given(st.integers(0, 10**6))
def test_the_trackers_world_the_common_world_and_time_do_not_matter(seed: int) -> None:
    """A similarity of the tracker is removed on the static points; point order, mirror and time change nothing."""
    rng = np.random.default_rng(seed)
    a = scene() + 0.002 * rng.normal(size=(72, 14, 3))
    b = scene(1.4) + 0.002 * rng.normal(size=(72, 14, 3))
    wanted = motion_disagreement(a, b, STATIC).value
    scale, turn, shift = world(seed)
    order = rng.permutation(14)
    assert motion_disagreement(scale * a @ turn.T + shift, b, STATIC).value == pytest.approx(wanted, abs=5e-3)
    assert motion_disagreement(7 * a, 7 * b, STATIC).value == pytest.approx(wanted, rel=1e-9)
    assert motion_disagreement(a[:, order], b[:, order], STATIC[order]).value == pytest.approx(wanted, abs=1e-9)
    assert motion_disagreement(a * [-1, 1, 1], b * [-1, 1, 1], STATIC).value == pytest.approx(wanted, abs=1e-9)
    back = motion_disagreement(a[::-1], b[::-1], STATIC).value
    assert back == pytest.approx(wanted, abs=1e-2)


def test_one_wrong_static_point_of_eight_is_dropped() -> None:
    """The robust alignment leaves a static point out that one source tears away."""
    b = scene()
    b[:, 2] += 3.0
    assert motion_disagreement(scene(), b, STATIC).value < 2e-3


def test_the_similarity_is_found() -> None:
    """Umeyama's fit gives scale, rotation and shift of exact data back, also to a mirrored set without a mirror."""
    scale, turn, shift = world(5)
    a = points()
    s, R, t = similarity(a, scale * a @ turn.T + shift)
    assert s == pytest.approx(scale)
    assert pytest.approx(turn) == R
    assert t == pytest.approx(shift)
    assert np.linalg.det(similarity(a, a * [1, 1, -1])[1]) == pytest.approx(1.0)


def test_a_static_clip_has_no_motion_with_and_without_noise() -> None:
    """Depth noise does not pass for motion, and strong noise leaves the question open."""
    still = scene(0.0)
    assert reason(lambda: motion_disagreement(still, still, STATIC)) == ("no_motion", True)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        noisy = [
            still * (1 + ar1(72, 0.014, 24, seed + k) + 0.014 * rng.normal(size=(72, 14)))[..., None] for k in (0, 9)
        ]
        assert reason(lambda n=noisy: motion_disagreement(*n, STATIC))[0] == "no_motion"
    rough = still * (1 + 0.05 * np.random.default_rng(1).normal(size=(72, 14, 1)))
    assert reason(lambda: motion_disagreement(rough, rough, STATIC)) == ("no_motion", False)


def test_slow_depth_noise_of_two_percent_moves_no_still_clip() -> None:
    """A metre of drift of a far body within a second is its depth error, which third differences hardly see."""
    still = scene(0.0, seconds=5.0)
    for seed in range(40):
        noisy = [still * (1 + ar1(120, 0.02, 24, 2 * seed + k))[..., None] for k in (0, 1)]
        assert reason(lambda n=noisy: motion_disagreement(*n, STATIC))[0] == "no_motion"


def test_too_short_a_clip_to_count_seven_intervals_proves_no_stillness() -> None:
    """1.2 s have 5 intervals of a second: no motion is found, but none could have been."""
    still = scene(0.0, seconds=1.2)
    assert reason(lambda: motion_disagreement(still, still, STATIC)) == ("no_motion", False)


def test_each_perception_reason_is_given() -> None:
    """The first check that holds is the reason."""
    a = scene()
    assert reason(lambda: motion_disagreement(None, a))[0] == "no_object"
    assert reason(lambda: motion_disagreement(a, a, np.ones(14)))[0] == "no_object"
    assert reason(lambda: motion_disagreement(a, a[:9]))[0] == "bad_shape"
    assert reason(lambda: motion_disagreement(a[:24], a[:24]))[0] == "too_few_frames"
    assert reason(lambda: motion_disagreement(a * np.nan, a))[0] == "all_nan"
    assert reason(lambda: motion_disagreement(a, a * 0))[0] == "zero_depth"
