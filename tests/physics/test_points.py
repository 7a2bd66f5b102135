"""Rigid fits and the size of a point body, against known motions and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pvbench_suite.physics.points import far_pairs, kabsch, object_size
from tests.physics.bodies import few, moving, points, reason


@few
@given(st.integers(0, 10**6))
def test_the_rigid_fit_finds_rotation_and_shift(seed: int) -> None:
    """Exact data give the motion back, batched, with missing points that weigh nothing."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(3, 9, 3))
    turn, shift = Rotation.random(3, random_state=seed).as_matrix(), rng.normal(size=(3, 3))
    b = a @ np.swapaxes(turn, -1, -2) + shift[:, None]
    a[:, 4] = np.nan
    weight = np.isfinite(a).all(axis=-1)
    R, t = kabsch(a, b, weight)
    assert pytest.approx(turn, abs=1e-9) == R
    assert t == pytest.approx(shift, abs=1e-9)


def test_the_rigid_fit_never_mirrors() -> None:
    """A mirrored body is met with a proper rotation."""
    a = points()
    assert np.linalg.det(kabsch(a, a * [1, 1, -1])[0]) == pytest.approx(1.0)


@few
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e-3, 0.3, 3.0]), st.sampled_from([0.0, 0.3, 0.6]))
def test_far_pairs_equal_a_plain_loop(seed: int, noise: float, missing: float) -> None:
    """The short cut by bounds changes nothing, with noise, gaps and outliers."""
    rng = np.random.default_rng(seed)
    frames, n = rng.integers(8, 40), rng.integers(3, 25)
    X = rng.normal(size=(1, n, 3)) + noise * rng.normal(size=(frames, n, 3))
    X[rng.random((frames, n)) < 0.05] += 40.0
    X[rng.random((frames, n)) < missing] = np.nan
    size, distances = 0.0, {}
    for i in range(n):
        for j in range(i + 1, n):
            d = np.linalg.norm(X[:, i] - X[:, j], axis=-1)
            if np.isfinite(d).sum() >= 8:
                distances[i, j] = np.nanmedian(d)
                size = max(size, distances[i, j])
    if not distances:
        assert reason(lambda: far_pairs(X, 0.25))[0] == "too_few_frames"
        return
    i, j, found = far_pairs(X, 0.25)
    assert found == pytest.approx(size, rel=1e-12)
    assert list(zip(i, j, strict=True)) == [pair for pair, d in distances.items() if d >= 0.25 * size]


def test_size_is_the_diagonal_of_a_moving_cube() -> None:
    """Tumbling does not change the size, and points that coincide have none."""
    cube = np.array(np.meshgrid([0, 2], [0, 2], [0, 2]), dtype=float).reshape(3, -1).T
    assert object_size(moving(cube)) == pytest.approx(np.sqrt(12))
    assert reason(lambda: object_size(np.ones((20, 5, 3))))[0] == "zero_depth"
