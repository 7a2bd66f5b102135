"""R18: distances between points of bodies that stay rigid or do not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.points import object_size
from pvbench_suite.physics.rigid import choose_pairs, rigidity
from tests.physics.bodies import FPS, ar1, during, few, moving, points, reason, world

GROWTH = 0.2


def grown(fps: float = 24, seconds: float = 8.0, growth: float = GROWTH) -> np.ndarray:
    """Return a body that is e^growth larger for the last two seconds."""
    n = round(seconds * fps)
    scale = np.exp(during(n, n - round(2 * fps), n, growth) - 1.0)
    return moving(scale[:, None, None] * points(), seconds, fps)


@pytest.mark.parametrize("fps", FPS)
def test_uniform_growth_reads_its_logarithm_at_every_frame_rate(fps: int) -> None:
    """A rigid body reads 0; growth by e^g, and shrinking by as much, read g."""
    assert rigidity(moving(points(), 4.0, fps), dt=1 / fps).value == pytest.approx(0.0, abs=1e-9)
    assert rigidity(grown(fps), dt=1 / fps).value == pytest.approx(GROWTH, abs=1e-9)
    assert rigidity(grown(fps, growth=-GROWTH), dt=1 / fps).value == pytest.approx(GROWTH, abs=1e-9)


@few
@given(st.integers(0, 10**6))
def test_scale_world_point_order_mirror_and_time_do_not_matter(seed: int) -> None:
    """R18 is invariant under every one of them, exactly."""
    rng = np.random.default_rng(seed)
    X = grown(12) + 0.01 * rng.normal(size=(96, 20, 3))
    wanted = rigidity(X, cam=np.zeros((96, 3)), dt=1 / 12).value
    scale, turn, shift = world(seed)
    moved = scale * X[:, rng.permutation(20)] @ turn.T + shift
    cam = np.broadcast_to(shift, (96, 3))
    assert rigidity(moved, cam=cam, dt=1 / 12).value == pytest.approx(wanted, rel=1e-9)
    assert rigidity(X * [-1, 1, 1], dt=1 / 12).value == pytest.approx(wanted, rel=1e-9)
    assert rigidity(X[::-1], dt=1 / 12).value == pytest.approx(wanted, rel=1e-9)


def test_a_drifting_scale_of_the_reconstruction_is_removed_by_the_background() -> None:
    """Body and background breathe together: 0 with the background, the breathing without it."""
    X = moving(points())
    gauge = np.exp(np.linspace(0, 0.4, len(X)))
    assert rigidity(X * gauge[:, None, None], background=7.0 * gauge).value == pytest.approx(0.0, abs=2e-3)
    assert rigidity(X * gauge[:, None, None]).value > 0.15


def test_the_evidence_tells_growth_from_strain_and_finds_a_torn_point() -> None:
    """Growth is scale only; one torn point of twenty is trimmed from the value but not from the worst point."""
    m = rigidity(grown())
    assert m.evidence["scale_only"] == pytest.approx(GROWTH)
    assert m.evidence["shape_only"] == pytest.approx(0, abs=1e-9)
    torn = np.broadcast_to(points(), (96, 20, 3)).copy()
    torn[50:, 7] *= 1.8
    m = rigidity(moving(torn))
    assert m.value < 0.03 < 0.2 < m.evidence["worst_point"]
    assert m.evidence["worst_point_index"] == 7


def test_a_stretched_cube_reads_about_a_quarter_of_its_stretch() -> None:
    """0.27 of the log stretch along one axis, from the text."""
    cube = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), dtype=float).reshape(3, -1).T
    stretch = during(96, 70, 96, math.exp(0.12) - 1)[:, None] * [1, 0, 0] + [0, 1, 1]
    assert rigidity(moving(cube * stretch[:, None, :])).value == pytest.approx(0.27 * 0.12, abs=2e-3)


def test_three_hundred_pairs_are_spread_over_all_of_them() -> None:
    """With more than 300 far pairs the k-th used is number floor(k n / 300) in index order."""
    X = moving(points(40))
    every, _, size = choose_pairs(X[:, :20])
    assert len(every) < 300
    assert size == pytest.approx(object_size(X[:, :20]))
    i, j, _ = choose_pairs(X)
    order = i * 40 + j
    assert len(i) == 300
    assert np.all(np.diff(order) > 0)
    assert i[0] == 0
    assert i[-1] > 30


def test_a_static_clip_has_no_motion_with_and_without_noise() -> None:
    """The noise of a still body's depth does not pass for motion."""
    X = moving(points(), still=True)
    assert reason(lambda: rigidity(X)) == ("no_motion", True)
    for seed in range(3):
        noisy = X * (1 + ar1(len(X), 0.02, 24, seed)[:, :, None])
        assert reason(lambda n=noisy: rigidity(n))[0] == "no_motion"
    rough = X * (1 + 0.06 * np.random.default_rng(9).normal(size=(*X.shape[:2], 1)))
    assert reason(lambda: rigidity(rough)) == ("no_motion", False)


def test_each_perception_reason_is_given() -> None:
    """The first check that holds is the reason."""
    X = moving(points())
    assert reason(lambda: rigidity(None))[0] == "no_object"
    assert reason(lambda: rigidity(X[..., :2]))[0] == "bad_shape"
    assert reason(lambda: rigidity(X, background=np.ones(3)))[0] == "bad_shape"
    assert reason(lambda: rigidity(X[:7]))[0] == "too_few_frames"
    assert reason(lambda: rigidity(X * np.nan))[0] == "all_nan"
    assert reason(lambda: rigidity(X * 0))[0] == "zero_depth"
    assert reason(lambda: rigidity(X, background=np.zeros(len(X))))[0] == "zero_depth"
    assert reason(lambda: rigidity(X[:, :5]))[0] == "too_small"
    apart = X.copy()
    for k in range(1, len(X)):
        apart[k, np.arange(20) != k % 20] = np.nan
    assert reason(lambda: rigidity(apart))[0] == "too_few_frames"
