"""The noise of perception is what its table says, and private to a run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pvbench_suite.calibrate.noise import LEVELS, Level, Sensor
from pvbench_suite.calibrate.views import handheld, sliding, still

DT = 1 / 24


def sensor(name: str = "mid", seed: int = 0, bias: float = 0.0) -> Sensor:
    return Sensor(LEVELS[name], np.random.default_rng(seed), DT, bias)


def test_slow_noise_has_unit_spread_and_forgets_within_half_a_second() -> None:
    """The autocorrelation at half a second is 1/e, at any start: the series is stationary."""
    x = sensor().wander(240, 4000)
    assert x.std(axis=1) == pytest.approx(np.ones(240), abs=0.06)
    lag = 12
    assert np.mean(x[lag:] * x[:-lag]) == pytest.approx(math.exp(-1), abs=0.02)


def test_third_differences_see_the_share_of_depth_noise_that_the_definitions_assume() -> None:
    """At 24 fps the white part of the slow noise is 0.22 of its standard deviation, as physics.md says."""
    third = np.diff(sensor().wander(2000, 100), n=3, axis=0)
    assert third.std() / math.sqrt(20) == pytest.approx(0.22, abs=0.01)


@pytest.mark.parametrize("name", LEVELS)
def test_each_level_reads_depth_and_pixels_with_its_own_error(name: str) -> None:
    """Spreads of ln depth, of tracks and of centres are the table's, away from the outliers."""
    level, s = LEVELS[name], sensor(name)
    error = np.log(s.depths(np.full((400, 200), 3.0)) / 3.0)
    assert 1.4826 * np.median(np.abs(error)) == pytest.approx(level.depth, rel=0.05)
    for share in (1.0, 0.5):
        off = s.pixels(np.zeros((400, 200, 2)), share)
        assert 1.4826 * np.median(np.abs(off)) == pytest.approx(share * level.track, rel=0.05)
    assert 1.0 - s.present(1000, 100).mean() == pytest.approx(level.dropout, rel=0.1)
    assert s.strays(1000, 100).mean() == pytest.approx(level.outlier, rel=0.2)


def test_orientations_err_by_the_level_as_a_whole_angle() -> None:
    """The root mean square angle of the error is the level's, outliers apart."""
    s = sensor("mid")
    read = s.turned(np.broadcast_to(np.eye(3), (4000, 3, 3)))
    angle = Rotation.from_matrix(read[np.isfinite(read).all(axis=(1, 2))]).magnitude()
    assert math.sqrt(np.mean(np.square(angle[angle < 0.3]))) == pytest.approx(math.radians(2.0), rel=0.05)


def test_points_of_one_body_share_their_depth_error() -> None:
    """Within a body errors agree to a tenth; two bodies are strangers."""
    owner = np.repeat([0, 1], 20)
    level = Level("quiet", 0.01, 0.0, 0.0, 0.0, 0.0, 0.0)
    error = np.log(Sensor(level, np.random.default_rng(1), DT).depths(np.ones((3000, 40)), owner))
    together = np.corrcoef(error.T)
    assert together[0, 1] > 0.97
    assert abs(together[0, 39]) < 0.3


def test_equal_seeds_give_equal_clips() -> None:
    """A sensor draws from its own generator only."""
    a, b = (sensor(seed=3).centres(np.full((30, 2, 3), 2.0), still(30)).X for _ in range(2))
    assert np.array_equal(a, b, equal_nan=True)
    assert not np.array_equal(a, sensor(seed=4).centres(np.full((30, 2, 3), 2.0), still(30)).X, equal_nan=True)


def test_a_bias_moves_all_depths_alike() -> None:
    """A biased sensor reads every depth too large by the same factor."""
    z = np.full((40, 5), 2.0)
    assert sensor(bias=0.05).depths(z) / sensor().depths(z) == pytest.approx(np.full((40, 5), math.exp(0.05)))


def test_cameras_project_and_lift_back() -> None:
    """What a camera projects it lifts to the same place, moving or not; a pitched one looks down."""
    t = np.arange(24) / 24
    X = np.random.default_rng(0).uniform([-1, -1, 3], [1, 1, 6], (24, 7, 3))
    for view in (still(24, 0.3), sliding(t, (0.5, 0.1, 0.2)), handheld(t, np.random.default_rng(1))):
        uv, z = view.project(X)
        assert view.lift(uv, z) == pytest.approx(X)
        assert view.poses[:, :3, :3] == pytest.approx(view.R)
    assert handheld(t, np.random.default_rng(1)).poses[0] == pytest.approx(np.eye(4))
    assert still(1, 0.3).R[0, :, 2][1] > 0.0
