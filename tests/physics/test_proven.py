"""The proven part of a vector, against its closed form and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.proven import proven_part, significance
from tests.physics.bodies import few


def case(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a vector, an anisotropic covariance and a rotation."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3)) * np.exp(rng.normal(0, 2, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return rng.normal(size=3) * 5, root @ root.T, turn


@few
@given(st.integers(0, 10**6), st.floats(0.1, 4.0))
def test_isotropic_noise_shortens_the_vector(seed: int, k: float) -> None:
    """With one sd on every axis k of them are taken off the length, down to 0."""
    j, _, _ = case(seed)
    sd = 0.3
    expected = max(0.0, float(np.linalg.norm(j)) - k * sd)
    assert float(proven_part(j, sd**2 * np.eye(3), k)) == pytest.approx(expected, abs=1e-7)


@few
@given(st.integers(0, 10**6))
def test_it_depends_on_no_basis_and_scales_with_the_unit(seed: int) -> None:
    """A rotation changes nothing, a unit multiplies the result."""
    j, c, turn = case(seed)
    value = float(proven_part(j, c, 1.0))
    assert float(proven_part(turn @ j, turn @ c @ turn.T, 1.0)) == pytest.approx(value, rel=1e-6, abs=1e-9)
    assert float(proven_part(100 * j, 1e4 * c, 1.0)) == pytest.approx(100 * value, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("seed", [1, 2, 3, 5])
def test_it_is_the_shortest_vector_in_the_ellipsoid(seed: int) -> None:
    """No point of a dense sample of the ellipsoid's surface is shorter, and the shortest is about as short."""
    j, _, turn = case(seed)
    c = turn @ np.diag([0.25, 1.0, 9.0]) @ turn.T
    k = 0.5 * float(significance(j, c))
    directions = np.random.default_rng(seed).normal(size=(200_000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    surface = np.linalg.norm(j + k * directions @ np.linalg.cholesky(c).T, axis=1)
    value = float(proven_part(j, c, k))
    assert value <= surface.min() <= 1.02 * value


def test_a_sideways_part_is_proven_without_the_unproven_depth() -> None:
    """0.2 sideways is proven though the mismatch of 1 along the ray is not."""
    c = np.diag([1e-6, 1e-6, 1.0])
    assert float(proven_part(np.array([0.2, 0.0, 1.0]), c, 4.0)) == pytest.approx(0.2, abs=0.005)


def test_exact_data_and_nothing_are_legal() -> None:
    """Without noise the whole vector is proven, and a vector of length 0 proves nothing."""
    assert float(proven_part(np.array([3.0, 4.0, 0.0]), np.zeros((3, 3)), 4.0)) == pytest.approx(5.0)
    assert float(proven_part(np.zeros(3), np.zeros((3, 3)), 4.0)) == 0.0
    assert float(significance(np.zeros(3), np.eye(3))) == 0.0


def test_a_batch_equals_its_parts() -> None:
    """Many vectors at once give what each gives alone."""
    cases = [case(seed)[:2] for seed in range(6)]
    together = proven_part(np.array([j for j, _ in cases]), np.array([c for _, c in cases]), 0.7)
    assert together == pytest.approx([float(proven_part(j, c, 0.7)) for j, c in cases])
