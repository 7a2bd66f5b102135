"""Rotation helpers: logarithm, symmetry, flips and noise, on known turns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.rotation import (
    are_rotations,
    away_from,
    exp,
    flips,
    log,
    net_turn,
    pose_noise,
    rates,
    resolved,
    transposed,
    without_flips,
)
from tests.physics.bodies import few

T = np.arange(72) / 24
SPIN = exp(T[:, None] * [0.3, 1.2, -0.4])


@few
@given(st.integers(0, 10**6))
def test_exponential_and_logarithm_are_inverse(seed: int) -> None:
    """Rotation vectors shorter than pi come back, in any leading shape."""
    vectors = np.random.default_rng(seed).uniform(-1.7, 1.7, (2, 5, 3))
    assert log(exp(vectors)) == pytest.approx(vectors)
    assert exp(vectors) @ transposed(exp(vectors)) == pytest.approx(np.tile(np.eye(3), (2, 5, 1, 1)), abs=1e-12)


def test_a_steady_turn_has_its_rate_and_no_distance_from_itself() -> None:
    """The body rate of a spin is constant, and every pose lies on the steady turn that starts at any other."""
    assert rates(T, SPIN) == pytest.approx(np.tile([0.3, 1.2, -0.4], (71, 1)))
    away = away_from(T[None], SPIN[None], SPIN[10:11], T[10:11], np.array([[0.3, 1.2, -0.4]]))
    assert np.abs(away).max() < 1e-9


def test_symmetric_poses_are_resolved() -> None:
    """Poses of a four-fold body picked at random among their equivalents give the smooth turn back."""
    group = exp(np.outer(np.arange(1, 4) * np.pi / 2, [0.0, 0, 1]))
    pick = np.random.default_rng(0).integers(0, 4, 72)
    pick[0] = 0
    shuffled = SPIN @ np.concatenate([np.eye(3)[None], group])[pick]
    assert resolved(shuffled, group) == pytest.approx(SPIN)
    assert resolved(shuffled, None) is shuffled


@pytest.mark.parametrize("degrees", [40, 90, 150])
def test_flips_of_one_and_two_frames_are_found(degrees: float) -> None:
    """Exactly the poses off by more than 25 deg are, also next to one another, and a lasting turn is not."""
    rng = np.random.default_rng(1)
    poses = SPIN @ exp(rng.normal(0, 0.02, (72, 3)))
    assert not flips(T, poses).any()
    bad = [8, 30, 31, 60]
    poses[bad] = poses[bad] @ exp(np.radians([degrees, 0.0, 0.0]))
    assert np.nonzero(flips(T, poses))[0].tolist() == bad
    lasting = SPIN.copy()
    lasting[40:] = lasting[40:] @ exp(np.radians([degrees, 0.0, 0.0]))
    assert not flips(T, lasting).any()


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.6, -0.8, 0.0), (-0.3, 0.5, -0.8)])
@pytest.mark.parametrize("degrees", [172, 180])
def test_half_a_turn_is_a_flip_whichever_way_its_logarithm_points(degrees: float, axis: tuple[float, ...]) -> None:
    """Only the wrong pose goes, not its neighbours in its stead, under noise that turns the logarithm over."""
    unit = np.array(axis) / np.linalg.norm(axis)
    for seed in range(20):
        poses = SPIN @ exp(np.random.default_rng(seed).normal(0, 0.04, (72, 3)))
        poses[33] = poses[33] @ exp(np.radians(degrees) * unit)
        assert np.nonzero(flips(T, poses))[0].tolist() == [33]


def test_two_wrong_poses_that_hide_one_another_both_go() -> None:
    """Two frames apart and turned about different axes, one passes the first look and is found in the second."""
    poses = SPIN @ exp(np.random.default_rng(3).normal(0, 0.02, (72, 3)))
    poses[30] = poses[30] @ exp(np.radians([60.0, 0.0, 0.0]))
    poses[32] = poses[32] @ exp(np.radians([-85.0, 85.0, 0.0]))
    assert np.nonzero(flips(T, poses))[0].tolist() == [32]
    assert np.nonzero(~without_flips(T, poses))[0].tolist() == [30, 32]
    lasting = SPIN.copy()
    lasting[40:] = lasting[40:] @ exp(np.radians([70.0, 0.0, 0.0]))
    assert without_flips(T, lasting).all()


def test_noise_is_read_from_a_fast_spin_with_gaps() -> None:
    """Noise of 2 deg per axis is read to 10 % from a body that turns at 3 rad/s, with a fifth of its frames lost."""
    rng = np.random.default_rng(2)
    t = np.arange(1200) / 24
    poses = exp(t[:, None] * [0, 3.0, 0]) @ exp(rng.normal(0, np.radians(2), (1200, 3)))
    keep = rng.random(1200) > 0.2
    assert np.degrees(pose_noise(t[keep], poses[keep], 1 / 24)) == pytest.approx(2, rel=0.1)
    assert pose_noise(T, SPIN, 1 / 24) == pytest.approx(1e-7)


def test_net_turn_and_validity() -> None:
    """A turn to and fro by 60 deg has a net turn near 60; mirrored, skewed and missing matrices are no rotations."""
    rocking = exp(np.radians(30) * np.sin(T * 4)[:, None] * [0.0, 0, 1])
    assert np.degrees(net_turn(rocking)) == pytest.approx(58, abs=3)
    bad = np.stack([np.eye(3), -np.eye(3), np.zeros((3, 3)), np.full((3, 3), np.nan), 1.2 * np.eye(3)])
    assert are_rotations(bad).tolist() == [True, False, False, False, False]
