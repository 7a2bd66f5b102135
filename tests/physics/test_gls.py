"""The robust generalised least-squares fit, against ordinary fits and known noise."""

from __future__ import annotations

import numpy as np
import pytest

from pvbench_suite.physics.gls import robust_fit
from pvbench_suite.physics.robust import Noise, covariances

U = np.linspace(-0.5, 0.5, 24)
DESIGN = np.stack([np.ones(24), U, 0.5 * U * U], axis=1)
TRUE = np.array([[1.0, 2, 3], [0.5, -1, 0], [0, 9.81, 0.2]])


def whitener(sd: float, n: int = 24) -> np.ndarray:
    """Return the whitener of one sd on every axis."""
    return np.tile(np.eye(3) / sd, (n, 1, 1))


def test_exact_data_give_their_parameters() -> None:
    """A parabola is found to rounding and every frame is kept."""
    fit = robust_fit(DESIGN, DESIGN @ TRUE, whitener(1e-9))
    assert fit.parameters == pytest.approx(TRUE, abs=1e-8)
    assert fit.kept.all()


def test_the_covariance_is_that_of_least_squares() -> None:
    """With one sd it is sd^2 (B'B)^-1 per axis, at most a little more for the excess of the residuals."""
    x = DESIGN @ TRUE + np.random.default_rng(0).normal(0, 0.01, (24, 3))
    fit = robust_fit(DESIGN, x, whitener(0.01))
    plain = 1e-4 * np.linalg.inv(DESIGN.T @ DESIGN)
    ratio = fit.block(2)[0, 0] / plain[2, 2]
    assert 1.0 - 1e-9 <= ratio < 1.6
    assert fit.block(2) == pytest.approx(np.eye(3) * fit.block(2)[0, 0], abs=1e-12)


def test_scatter_of_repeated_fits_matches_the_covariance() -> None:
    """Over 200 noisy flights the acceleration scatters as its covariance says, along the ray and across it."""
    rng = np.random.default_rng(1)
    rays = np.tile([0.0, 0.0, 1.0], (24, 1))
    _, white = covariances(Noise(0.01, 0.1), rays, 24)
    noise = rng.normal(size=(200, 24, 3)) * [0.01, 0.01, 0.1]
    fits = [robust_fit(DESIGN, DESIGN @ TRUE + e, white) for e in noise]
    scatter = np.std([fit.parameters[2] for fit in fits], axis=0)
    stated = np.sqrt(np.mean([np.diag(fit.block(2)) for fit in fits], axis=0))
    assert scatter / stated == pytest.approx(np.ones(3), abs=0.2)


@pytest.mark.parametrize("at", [0, 7, 23])
def test_a_gross_outlier_goes(at: int) -> None:
    """One frame 150 sd off, also at the end where its leverage is large, is removed and changes nothing."""
    x = DESIGN @ TRUE + np.random.default_rng(2).normal(0, 0.01, (24, 3))
    clean = robust_fit(DESIGN, x, whitener(0.01))
    x[at, 1] += 1.5
    fit = robust_fit(DESIGN, x, whitener(0.01))
    assert np.nonzero(~fit.kept)[0].tolist() == [at]
    error = np.sqrt(np.diag(clean.block(2)))
    assert np.abs(fit.parameters[2] - clean.parameters[2]).max() < 2.0 * error.max()


def test_at_most_a_fifth_of_the_frames_goes() -> None:
    """Of 24 frames with 8 gross outliers 4 are removed; the rest inflate the covariance instead of hiding."""
    x = DESIGN @ TRUE + np.random.default_rng(3).normal(0, 0.01, (24, 3))
    calm = robust_fit(DESIGN, x, whitener(0.01))
    x[::3] += np.random.default_rng(4).normal(0, 3, (8, 3))
    fit = robust_fit(DESIGN, x, whitener(0.01))
    assert (~fit.kept).sum() <= 4
    assert fit.block(2)[1, 1] > 10 * calm.block(2)[1, 1]


def test_an_outlier_that_may_not_go_is_held_down() -> None:
    """Of 9 frames only one may go; a second outlier of 30 sd moves the level by less than half its share."""
    design = np.ones((9, 1))
    x = np.random.default_rng(5).normal(0, 0.01, (9, 3))
    clean = robust_fit(design, x, whitener(0.01, 9)).parameters[0]
    x[2, 0] += 0.4
    x[6, 1] += 0.3
    fit = robust_fit(design, x, whitener(0.01, 9))
    assert np.nonzero(~fit.kept)[0].tolist() == [2]
    assert abs(fit.parameters[0, 1] - clean[1]) < 0.5 * 0.3 / 8
