"""Noise of a track, spikes and regularised depth, against what closed forms say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.physics.robust import (
    Noise,
    covariances,
    depth_factor,
    ray_basis,
    regularise_depth,
    spikes,
    third_differences,
    timestamps,
    track_noise,
    unit,
)
from tests.physics.bodies import ar1, few, reason

DT = 1 / 24


def uneven(seed: int, n: int = 60) -> np.ndarray:
    """Return rising times about one frame apart."""
    return np.cumsum(np.random.default_rng(seed).uniform(0.6, 1.4, n)) * DT


@few
@given(st.integers(0, 10**6))
def test_third_differences_do_not_see_a_parabola(seed: int) -> None:
    """Any quadratic vanishes at uneven times, and a cubic does not."""
    t = uneven(seed)
    path = np.stack([t**2 - 3 * t, 5 * t**2, 1 + t], axis=1)
    assert np.abs(third_differences(t, path, DT)[0]).max() < 1e-9
    assert np.abs(third_differences(t, path**2, DT)[0]).max() > 1e-6


def test_third_differences_keep_to_their_track_and_to_six_frames() -> None:
    """Four samples of two tracks, or that span more than six intervals, are left out."""
    t = np.arange(12.0)
    track = np.repeat([0, 1], 6)
    assert third_differences(t, t[:, None], 1.0, track)[1].tolist() == [0, 1, 2, 6, 7, 8]
    t[6:] += 4
    assert third_differences(t, t[:, None], 1.0)[1].tolist() == [0, 1, 2, 6, 7, 8]


def test_noise_without_rays_is_one_standard_deviation() -> None:
    """White noise of 0.01 per axis on a parabola reads 0.01, on either side of the ray."""
    rng = np.random.default_rng(0)
    t = np.arange(2000) * DT
    noise = track_noise(t, t[:, None] ** 2 + rng.normal(0, 0.01, (2000, 3)), DT, None, 1e-9)
    assert noise.across == noise.along == pytest.approx(0.01, rel=0.05)


def test_noise_along_the_ray_counts_four_times_and_at_least_ten_times_the_other() -> None:
    """Depth noise of 0.1 beside 0.001 across reads 0.4; depth noise of 0.001 reads ten times the noise across."""
    rng = np.random.default_rng(1)
    t = np.arange(2000) * DT
    ray = unit(np.array([0.3, -0.2, 1.0]))
    white = rng.normal(0, 0.001, (2000, 3))
    across = white - (white @ ray)[:, None] * ray
    rays = np.tile(ray * 7.0, (2000, 1))
    deep = track_noise(t, across + rng.normal(0, 0.1, (2000, 1)) * ray, DT, rays, 1e-9)
    assert deep.across == pytest.approx(0.001, rel=0.06)
    assert deep.along == pytest.approx(0.4, rel=0.06)
    flat = track_noise(t, white, DT, rays, 1e-9)
    assert flat.along == pytest.approx(10 * flat.across)
    assert track_noise(t, 0 * white, DT, rays, 1e-9) == (1e-9, 1e-8)


@pytest.mark.parametrize("fps", [8, 12, 24, 30, 60])
def test_slow_depth_noise_is_the_same_noise_at_every_frame_rate(fps: int) -> None:
    """An error of 0.1 that is correlated over half a second reads 0.089 everywhere: 4 times the 0.22 seen at 24 fps."""
    n = max(160 * fps, 9600)
    rays = np.tile([0.0, 0.0, 1.0], (n, 1))
    slow = np.concatenate([np.zeros((n, 2)), ar1(n, 0.1, fps, fps)], axis=1)
    noise = track_noise(np.arange(n) / fps, slow, 1 / fps, rays, 1e-9)
    assert noise.along == pytest.approx(0.0888, rel=0.05)
    assert depth_factor(1 / 24) == pytest.approx(4.0)


def test_noise_of_sparse_frames_is_unknown() -> None:
    """Where no four frames lie within six intervals the noise is not 0 but unmeasurable."""
    t = np.arange(10) * 3 * DT
    assert reason(lambda: track_noise(t, np.zeros((10, 3)), DT, None, 1e-9))[0] == "too_few_frames"


@few
@given(st.integers(0, 10**6))
def test_covariance_and_whitener_belong_together(seed: int) -> None:
    """The whitener turns each frame's covariance into the identity, and the ray carries the larger variance."""
    rays = np.random.default_rng(seed).normal(size=(5, 3))
    covariance, whitener = covariances(Noise(0.01, 0.3), rays, 5)
    assert whitener @ covariance @ whitener == pytest.approx(np.tile(np.eye(3), (5, 1, 1)), abs=1e-9)
    r = unit(rays)
    assert np.einsum("na,nab,nb->n", r, covariance, r) == pytest.approx(np.full(5, 0.09))


@pytest.mark.parametrize("ray", [(0, 0, 1), (0.1, 0.99, 0.1), (3, -2, 1)])
def test_the_ray_basis_is_orthonormal_and_ends_with_the_ray(ray: tuple[float, ...]) -> None:
    """Also for a ray that is almost vertical, where the other helper axis is taken."""
    basis = ray_basis(np.tile(np.array(ray, dtype=float), (4, 1)))
    assert basis @ basis.T == pytest.approx(np.eye(3), abs=1e-12)
    assert basis[2] == pytest.approx(unit(np.array(ray, dtype=float)))
    assert ray_basis(None) == pytest.approx(np.eye(3))


def test_spikes_are_excursions_of_one_or_two_frames_only() -> None:
    """Excursions of one and two frames are found; a longer one, a step and a bounce are not."""
    t = np.arange(72) * DT
    path = np.stack([t, 0 * t, 5 + 0 * t], axis=1)
    jumpy = path.copy()
    jumpy[[10, 30, 31], 1] += 1.0
    assert np.nonzero(spikes(jumpy, None, 0.3))[0].tolist() == [10, 30, 31]
    lasting = path.copy()
    lasting[20:26, 1] += 1.0
    lasting[50:, 0] += 2.0
    assert not spikes(lasting, None, 0.3).any()
    assert not spikes(np.stack([t, np.abs(t - 1.5), 0 * t], axis=1), None, 0.3).any()


def test_regularised_depth_keeps_bearings_and_lines() -> None:
    """A track whose depth is linear stays as it is; noisy depth moves along its own ray only, to the line."""
    t = np.arange(72) * DT
    true = np.stack([np.sin(t), 0.3 * t, 4 + 0.5 * t], axis=1)
    assert regularise_depth(t, true) == pytest.approx(true)
    factor = np.exp(np.random.default_rng(2).normal(0, 0.02, 72))
    factor[40] = 2.0
    noisy = true * factor[:, None]
    mended = regularise_depth(t, noisy)
    assert np.cross(mended, true) == pytest.approx(np.zeros((72, 3)), abs=1e-9)
    assert np.abs(mended[:, 2] / true[:, 2] - 1).max() < 0.03


def test_regularised_depth_is_cut_at_contacts_and_follows_the_camera() -> None:
    """A kink of the depth survives at a contact, is bent without one; a moved camera changes nothing."""
    t = np.arange(48) * DT
    kink = np.stack([0 * t, 0 * t, 3 + np.abs(t - 0.98)], axis=1)
    assert regularise_depth(t, kink, [0.98]) == pytest.approx(kink)
    assert np.abs(regularise_depth(t, kink) - kink).max() > 0.05
    turn = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    cameras = np.tile(np.eye(4), (48, 1, 1))
    cameras[:, :3, :3], cameras[:, :3, 3] = turn, [1.0, 2.0, 3.0]
    world = kink @ turn.T + [1.0, 2.0, 3.0]
    assert regularise_depth(t, world, [0.98], cameras) == pytest.approx(world)


def test_regularised_depth_of_few_samples_is_their_median_and_gaps_stay() -> None:
    """Three depths give their median; a missing frame stays missing."""
    t = np.arange(5) * 0.2
    path = np.array([[0, 0, 2.0], [0, 0, 4.0], [0, 0, 2.0], [np.nan] * 3, [np.nan] * 3])
    mended = regularise_depth(t, path)
    assert mended[:3, 2].tolist() == [2.0, 2.0, 2.0]
    assert np.isnan(mended[3:]).all()


def test_timestamps_must_advance() -> None:
    """A repeated or falling timestamp is a bad shape; a missing one is a missing frame."""
    with pytest.raises(Unmeasurable, match="bad_shape"):
        timestamps([0.0, 0.1, 0.1], 3)
    assert np.isnan(timestamps([0.0, None, 0.2], 3)[1])  # type: ignore[list-item]
