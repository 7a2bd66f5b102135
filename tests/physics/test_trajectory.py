"""R16: steps of a path, on motions whose steps are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.trajectory import trajectory_continuity
from tests.physics.bodies import FPS, few, reason, world

DIAMETER = 0.3


def clip(fps: float = 24.0, seconds: float = 4.0) -> np.ndarray:
    """Return frame times."""
    return np.arange(round(seconds * fps)) / fps


def thrown(t: np.ndarray) -> np.ndarray:
    """Return a throw across the view, 5 units away."""
    return np.stack([t - 2.0, 0.4 * t * t - t, 5.0 + 0.1 * t], axis=1)


def stepped(t: np.ndarray, jump: float, speed: float, at: float = 2.0) -> np.ndarray:
    """Return the throw with a jump, and a velocity step from there on, in two oblique directions."""
    late = t > at + 0.5 * t[1]
    along, across = np.array([0.6, 0.8, 0.0]), np.array([0.8, -0.6, 0.0])
    s = np.maximum(0.0, t - at - 0.5 * t[1])
    return thrown(t) + late[:, None] * jump * along + s[:, None] * speed * across


@pytest.mark.parametrize("fps", FPS)
@pytest.mark.parametrize(("jump", "speed"), [(0.0, 0.0), (0.15, 0.0), (0.0, 1.2), (0.3, 0.6)])
def test_a_step_reads_its_size_at_every_frame_rate(fps: float, jump: float, speed: float) -> None:
    """The value is the root of the squares of the jump and of a quarter second of the velocity step."""
    t = clip(fps)
    m = trajectory_continuity(t, stepped(t, jump, speed), DIAMETER)
    assert m.value == pytest.approx(np.hypot(jump, 0.25 * speed) / DIAMETER, rel=0.02, abs=1e-4)
    if jump or speed:
        assert m.evidence["worst_time"] == pytest.approx(2.0 + 0.5 / fps, abs=1e-6)


@few
@given(st.integers(0, 10**6))
def test_scale_world_and_reversed_time_do_not_matter(seed: int) -> None:
    """With noise and rays, a similarity of the world and the film run backwards give the same value."""
    rng = np.random.default_rng(seed)
    t = clip()
    path = stepped(t, 0.3, 0.5) + rng.normal(0, 0.002, (len(t), 3))
    rays = path + rng.normal(0, 0.002, path.shape)
    value = trajectory_continuity(t, path, DIAMETER, rays).value
    assert value > 0.5
    scale, turn, shift = world(seed)
    moved = scale * path @ turn.T + shift
    # Spikes are sought per axis, and the axes across the ray are picked from the world's: a frame may differ.
    assert trajectory_continuity(t, moved, scale * DIAMETER, rays @ turn.T).value == pytest.approx(value, rel=0.05)
    assert trajectory_continuity(t, path[::-1], DIAMETER, rays[::-1]).value == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("fps", [12, 24, 60])
def test_noise_alone_proves_nothing(fps: float) -> None:
    """Ten noisy throws, swings and circles without a step all read 0."""
    t = clip(fps)
    for seed in range(10):
        noise = np.random.default_rng(seed).normal(0, 0.004, (len(t), 3))
        circle = np.stack([np.cos(1.5 * t), np.sin(1.5 * t), 5 + 0 * t], axis=1)
        assert trajectory_continuity(t, thrown(t) + noise, DIAMETER).value == 0
        assert trajectory_continuity(t, circle + noise, DIAMETER).value < 0.02


def test_a_bounce_is_free_at_its_contact_and_charged_without() -> None:
    """A velocity step of 2 at a contact reads 0; without the contact a quarter second of it; a jump there is seen."""
    t = clip()
    bounce = thrown(t) * [1, 0, 1] + np.abs(t - 2.02)[:, None] * [0.0, -1.0, 0.0]
    assert trajectory_continuity(t, bounce, DIAMETER, contacts=[2.02]).value < 0.02
    assert trajectory_continuity(t, bounce, DIAMETER).value == pytest.approx(0.5 / DIAMETER, rel=0.05)
    jump = bounce + (t > 2.02)[:, None] * [0.3, 0, 0]
    expected = (0.3 - 2.0 / 24) / DIAMETER
    assert trajectory_continuity(t, jump, DIAMETER, contacts=[2.02]).value == pytest.approx(expected, rel=0.1)


def test_depth_noise_along_the_ray_does_not_hide_a_sideways_step() -> None:
    """With rays a sideways jump of one diameter keeps most of its value under noise of half a diameter in depth."""
    rng = np.random.default_rng(4)
    t = clip()
    path = thrown(t) + (t > 2.0)[:, None] * [0.0, 0.3, 0.0]
    rays = path / np.linalg.norm(path, axis=1, keepdims=True)
    noisy = path + rng.normal(0, 0.03, (len(t), 1)) * rays + rng.normal(0, 0.001, path.shape)
    assert trajectory_continuity(t, noisy, DIAMETER, rays).value > 0.9
    deep = thrown(t) + (t > 2.0)[:, None] * 0.1 * rays + rng.normal(0, 0.03, (len(t), 1)) * rays
    assert trajectory_continuity(t, deep, DIAMETER, rays).value == 0


def test_a_still_object_has_not_moved_and_much_noise_is_not_proof_of_it() -> None:
    """no_motion is detectable while three standard errors are below half a diameter, and not above."""
    t = clip()
    still = np.tile([0.0, 0.0, 5.0], (len(t), 1))
    noise = np.random.default_rng(5).normal(size=still.shape)
    for amount, seen in ((0.0, True), (0.02, True), (0.2, False)):
        assert reason(lambda: trajectory_continuity(t, still + amount * noise, DIAMETER)) == ("no_motion", seen)  # noqa: B023


def test_reasons() -> None:
    """Each kind of missing input has its own reason."""
    t = clip()
    path = thrown(t)
    assert reason(lambda: trajectory_continuity(t, [], DIAMETER))[0] == "no_object"
    assert reason(lambda: trajectory_continuity(t, path, None))[0] == "no_object"
    assert reason(lambda: trajectory_continuity(t[1:], path, DIAMETER))[0] == "bad_shape"
    assert reason(lambda: trajectory_continuity(t, path[:, :2], DIAMETER))[0] == "bad_shape"
    assert reason(lambda: trajectory_continuity(t[:7], path[:7], DIAMETER))[0] == "too_few_frames"
    assert reason(lambda: trajectory_continuity(t, path * np.nan, DIAMETER))[0] == "all_nan"
    assert reason(lambda: trajectory_continuity(t, path, 0.0))[0] == "zero_depth"
    assert reason(lambda: trajectory_continuity(t, path, DIAMETER, noise_sd=(0.1, 0.1)))[0] == "too_noisy"
    assert (
        reason(lambda: trajectory_continuity(t, path, DIAMETER, contacts=np.arange(0, 4, 0.2)))[0] == "too_few_frames"
    )


def test_lost_frames_change_nothing() -> None:
    """A fifth of the frames lost, marked by NaN or left out of the container, give the same step."""
    t = clip()
    path = stepped(t, 0.3, 0.0)
    keep = np.random.default_rng(6).random(len(t)) > 0.2
    keep[[48, 49]] = True
    holes = np.where(keep[:, None], path, np.nan)
    assert trajectory_continuity(t, holes, DIAMETER).value == pytest.approx(1.0, rel=0.02)
    assert trajectory_continuity(t[keep], path[keep], DIAMETER).value == pytest.approx(1.0, rel=0.02)
