"""R07 companion: position and rotation together."""

from __future__ import annotations

import numpy as np
import pytest

from pvbench_suite.physics.pose import pose_jump
from pvbench_suite.physics.rotation import exp
from tests.physics.bodies import points, reason

T = np.arange(96) / 24
PATH = np.stack([T - 2, 0.2 * T, 5 + 0 * T], axis=1)
POSES = exp(T[:, None] * [0.0, 1.0, 0.4])
LATE = T > 2.01


def turned(degrees: float, axis: tuple[float, float, float]) -> np.ndarray:
    """Return the spin with a jump about a world axis, after which it spins on about its own axis in the world."""
    unit = np.array(axis) / np.linalg.norm(axis)
    s = T - 2.0 - 0.5 / 24
    spin = exp(s[:, None] * [0.0, 1.0, 0.4])
    return np.where(LATE[:, None, None], spin @ exp(np.radians(degrees) * unit), spin)


def rms_displacement(degrees: float, axis: tuple[float, float, float], shift: float) -> float:
    """Return the rms displacement of points on a sphere of diameter 1 turned and shifted at once."""
    sphere = 0.5 * points(20_000, seed=1)
    unit = np.array(axis) / np.linalg.norm(axis)
    moved = sphere @ exp(np.radians(degrees) * unit).T + [shift, 0, 0]
    return float(np.sqrt(np.square(moved - sphere).sum(axis=1).mean()))


@pytest.mark.parametrize("axis", [(0, 1, 0.4), (1, 0, 0), (1, 1, 1), (0.3, -0.2, 1)])
@pytest.mark.parametrize(("degrees", "shift"), [(0, 0.5), (40, 0.0), (110, 0.0), (60, 0.7)])
def test_it_is_the_rms_displacement_of_a_sphere(degrees: float, shift: float, axis: tuple[float, float, float]) -> None:
    """A jump about any axis, on the spin or off it, reads what the points of a sphere move."""
    path = 0.4 * shift * LATE[:, None] * [1.0, 0, 0] + PATH
    m = pose_jump(T, path, turned(degrees, axis), 0.4)
    assert m.value == pytest.approx(rms_displacement(degrees, axis, shift), rel=0.03)
    assert m.evidence["position"] == pytest.approx(shift, abs=0.01)
    assert m.evidence["rotation_deg"] == pytest.approx(degrees, abs=0.03 * degrees + 0.1)


def test_reversed_time_and_units_do_not_matter() -> None:
    """The film backwards and another unit give the same value."""
    poses = turned(60, (1, 0, 0))
    value = pose_jump(T, PATH, poses, 0.4).value
    assert pose_jump(T, PATH[::-1], poses[::-1], 0.4).value == pytest.approx(value, rel=0.01)
    assert pose_jump(T, 30 * PATH, poses, 12.0).value == pytest.approx(value)


def test_reasons() -> None:
    """A still part counts 0, a still body has no pose change, other reasons of either part pass on."""
    still, fixed = np.tile(PATH[0], (96, 1)), np.tile(np.eye(3), (96, 1, 1))
    assert pose_jump(T, still, POSES, 0.4).value == pytest.approx(0, abs=1e-3)
    assert pose_jump(T, PATH, fixed, 0.4).value == pytest.approx(0, abs=1e-3)
    assert reason(lambda: pose_jump(T, still, fixed, 0.4)) == ("no_pose_change", True)
    noise = np.random.default_rng(0).normal(0, np.radians(5), (96, 3))
    assert reason(lambda: pose_jump(T, still, exp(noise), 0.4)) == ("no_pose_change", False)
    assert reason(lambda: pose_jump(T, PATH, POSES, None))[0] == "no_object"
    assert reason(lambda: pose_jump(T, PATH, POSES * np.nan, 0.4))[0] == "all_nan"
    assert reason(lambda: pose_jump(T, PATH[:, :2], POSES * np.nan, 0.4))[0] == "bad_shape"
