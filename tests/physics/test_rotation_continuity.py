"""R20: steps of a rotation, on the spin axis and off it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pvbench_suite.physics.rotation import exp
from pvbench_suite.physics.rotation_continuity import momentum_wander, rotation_continuity
from tests.physics.bodies import FPS, few, reason

SPIN = np.array([0.2, 1.1, -0.3])


def clip(fps: float = 24.0, seconds: float = 4.0) -> tuple[np.ndarray, np.ndarray]:
    """Return frame times, and times from the middle of the gap in the middle of the clip."""
    n = round(seconds * fps)
    t = np.arange(n) / fps
    return t, t - (n // 2 - 0.5) / fps


def off_axis(angle_to_spin: float) -> np.ndarray:
    """Return a unit axis at an angle [deg] to the spin."""
    along = SPIN / np.linalg.norm(SPIN)
    side = np.cross(along, [1.0, 0, 0])
    side /= np.linalg.norm(side)
    return np.cos(np.radians(angle_to_spin)) * along + np.sin(np.radians(angle_to_spin)) * side


def jumped(fps: float, degrees: float, angle_to_spin: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a spin that turns at once by `degrees`, and then spins on about the same axis in the world."""
    t, s = clip(fps)
    turn = exp(np.radians(degrees) * off_axis(angle_to_spin))
    return t, np.where((s > 0)[:, None, None], exp(s[:, None] * SPIN) @ turn, exp(s[:, None] * SPIN))


@pytest.mark.parametrize("fps", FPS)
@pytest.mark.parametrize("angle_to_spin", [0, 35, 90, 180])
@pytest.mark.parametrize("degrees", [15, 60, 120])
def test_a_jump_reads_its_angle_about_any_axis(fps: float, angle_to_spin: float, degrees: float) -> None:
    """The spin goes on in the world, so that the jump is the only step, whatever its axis."""
    t, poses = jumped(fps, degrees, angle_to_spin)
    m = rotation_continuity(t, poses)
    # A large jump across the spin bends the log coordinates of the window by up to 3.5 %.
    assert m.value == pytest.approx(degrees, rel=0.04 if (degrees, angle_to_spin) == (120, 90) else 0.02)
    assert m.evidence["worst_time"] == pytest.approx(t[len(t) // 2] - 0.5 / fps)


@pytest.mark.parametrize("degrees", [15, 45, 90])
def test_a_jump_across_the_spin_that_carries_the_spin_along(degrees: float) -> None:
    """Where the axis jumps with the body the world's angular velocity turns too: the jump and up to 8 % more."""
    t, s = clip()
    turn = exp(np.radians(degrees) * off_axis(90))
    poses = np.where((s > 0)[:, None, None], turn @ exp(s[:, None] * SPIN), exp(s[:, None] * SPIN))
    assert degrees <= rotation_continuity(t, poses).value <= 1.08 * degrees


@pytest.mark.parametrize("fps", [12, 24, 60])
def test_a_rate_step_on_the_spin_axis_reads_a_quarter_second_of_it(fps: float) -> None:
    """A spin that speeds up by 3 rad/s at once reads 0.75 rad, and 0 at a known contact."""
    t, s = clip(fps)
    rate = SPIN + (s > 0)[:, None] * 3.0 * off_axis(0)
    poses = exp(s[:, None] * rate)
    assert rotation_continuity(t, poses).value == pytest.approx(np.degrees(0.75), rel=0.02)
    contact = t[len(t) // 2] - 0.5 / fps
    assert rotation_continuity(t, poses, [contact]).value < 0.5


@few
@given(st.integers(0, 10**6))
def test_world_body_frame_and_reversed_time_do_not_matter(seed: int) -> None:
    """A noisy jump keeps its value in another world, another body frame and backwards."""
    rng = np.random.default_rng(seed)
    t, poses = jumped(24, 50, 60)
    poses = poses @ exp(rng.normal(0, 0.01, (len(t), 3)))
    value = rotation_continuity(t, poses).value
    assert value == pytest.approx(48, abs=4)
    left, right = Rotation.random(2, random_state=seed).as_matrix()
    assert rotation_continuity(t, left @ poses).value == pytest.approx(value, rel=1e-5)
    # The medians over components depend a little on the body's axes and on where the window's turn starts.
    assert rotation_continuity(t, poses @ right).value == pytest.approx(value, rel=0.03)
    assert rotation_continuity(t, poses[::-1]).value == pytest.approx(value, rel=0.03)


@pytest.mark.parametrize("fps", [12, 24, 60])
def test_lawful_turns_read_nothing_under_noise(fps: float) -> None:
    """Spin, dying spin and rocking with 2 deg of noise read 0."""
    t, _ = clip(fps)
    for seed in range(5):
        noise = exp(np.random.default_rng(seed).normal(0, np.radians(2), (len(t), 3)))
        for angle in (1.2 * t, 4 * (1 - np.exp(-t)), np.radians(40) * np.sin(2 * np.pi * t)):
            assert rotation_continuity(t, exp(angle[:, None] * off_axis(0)) @ noise).value < 0.5


def test_a_symmetric_body_may_be_seen_as_any_of_its_equivalents() -> None:
    """Half-turns of a two-fold body are no steps once the group is given; a real jump still is."""
    t, poses = jumped(24, 40, 90)
    half = exp(np.pi * np.array([0.0, 0, 1]))
    seen = poses.copy()
    seen[20:31] = seen[20:31] @ half
    seen[60:] = seen[60:] @ half
    assert rotation_continuity(t, seen, group=[half]).value == pytest.approx(40, rel=0.02)
    assert rotation_continuity(t, seen).value > 150


def test_angular_momentum_of_a_free_box_stays() -> None:
    """The momentum of a steady spin about a principal axis does not wander; that of a forced turn does."""
    t, _ = clip()
    extents = np.array([1.0, 2.0, 3.0])
    assert momentum_wander(t, exp(t[:, None] * [0.0, 0.0, 2.0]), extents, 1 / 24) == pytest.approx(0, abs=1e-4)
    assert momentum_wander(t, exp(t[:, None] * [1.0, 0.0, 2.0]), extents, 1 / 24) > 5
    assert "momentum_wander_deg" in rotation_continuity(t, exp(t[:, None] * SPIN), extents=extents).evidence


def test_reasons() -> None:
    """A body that does not turn, noise that hides a turn and missing poses are told apart."""
    t, s = clip()
    still = np.tile(np.eye(3), (len(t), 1, 1))
    noise = np.random.default_rng(7).normal(size=(len(t), 3))
    assert reason(lambda: rotation_continuity(t, still)) == ("no_rotation", True)
    assert reason(lambda: rotation_continuity(t, still @ exp(np.radians(2) * noise))) == ("no_rotation", True)
    assert reason(lambda: rotation_continuity(t, still @ exp(np.radians(5) * noise))) == ("no_rotation", False)
    turning = exp(s[:, None] * SPIN)
    assert reason(lambda: rotation_continuity(t, turning @ exp(np.radians(9) * noise)))[0] == "too_noisy"
    assert reason(lambda: rotation_continuity(t, None))[0] == "no_object"
    assert reason(lambda: rotation_continuity(t, turning[:, :2]))[0] == "bad_shape"
    assert reason(lambda: rotation_continuity(t[:7], turning[:7]))[0] == "too_few_frames"
    assert reason(lambda: rotation_continuity(t, turning * np.nan))[0] == "all_nan"
    assert reason(lambda: rotation_continuity(t, -turning))[0] == "too_few_frames"
    assert reason(lambda: rotation_continuity(t, turning, np.arange(0, 4, 0.2)))[0] == "too_few_frames"
