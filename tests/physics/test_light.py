"""R08: lights that stay, step, turn or flicker, and shadows that do not follow them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pvbench_suite.physics.light import light_consistency, light_from_shading
from tests.physics.bodies import few, reason

UP = np.array([0.0, -1.0, 0.0])
HEIGHT = math.radians(40.0)


def lamp(azimuth: np.ndarray | float, n: int = 96) -> np.ndarray:
    """Return light directions (n, 3) 40 deg above the ground, at `azimuth` [rad]."""
    a = np.broadcast_to(azimuth, (n,))
    return np.stack([math.cos(HEIGHT) * np.cos(a), np.full(n, -math.sin(HEIGHT)), math.cos(HEIGHT) * np.sin(a)], -1)


def cast(light: np.ndarray, off: float = 0.0) -> np.ndarray:
    """Return the shadows (n, 3) of a pole under `light`, turned by `off` [rad] on the ground."""
    ground = -(light - (light @ UP)[:, None] * UP)
    return ground @ Rotation.from_rotvec(off * UP).as_matrix().T


def chord(angle: float) -> float:
    """Return the angle [deg] between two directions 40 deg up whose azimuths differ by `angle` [rad]."""
    return math.degrees(2 * math.asin(math.cos(HEIGHT) * math.sin(angle / 2)))


@pytest.mark.parametrize("seconds", [1.5, 2.5, 5.0])
def test_a_step_does_not_hide_behind_itself_in_a_short_clip(seconds: float) -> None:
    """A step shows at every instant within a second: it is no noise of a clip that is hardly longer."""
    n = round(24 * seconds)
    light = lamp(np.radians(71.0) * (np.arange(n) >= n // 2), n)
    found = light_consistency(light=light, dt=1 / 24, light_moves=True)
    assert found.value == pytest.approx(chord(np.radians(71.0)), rel=1e-6)


@few
@given(st.floats(0.1, 3.0), st.sampled_from([8, 12, 24, 60]))
def test_one_step_of_the_azimuth_reads_its_chord(step: float, fps: int) -> None:
    """A step j gives 2 asin(cos el sin(j/2)) at every frame rate, whether or not the light may move."""
    n = 8 * fps
    light = lamp(0.2 + step * (np.arange(n) >= n // 2), n)
    for moves in (False, True):
        m = light_consistency(light=light, dt=1 / fps, light_moves=moves)
        assert m.evidence["step"] == pytest.approx(chord(step), abs=1e-6)
        assert m.value == pytest.approx(chord(step), abs=1e-6)


@few
@given(st.floats(0.2, 1.5), st.sampled_from([8, 12, 24, 60]))
def test_a_turning_light_reads_what_it_turns_in_half_a_second(rate: float, fps: int) -> None:
    """The rate is charged only when the prompt does not expect the light to move."""
    light = lamp(rate * np.arange(8 * fps) / fps, 8 * fps)
    assert light_consistency(light=light, dt=1 / fps).value == pytest.approx(chord(0.5 * rate), rel=1e-6)
    assert light_consistency(light=light, dt=1 / fps, light_moves=True).evidence["rate"] is None


@few
@given(st.floats(-3.0, 3.0))
def test_a_shadow_off_its_light_reads_the_angle_on_the_ground(off: float) -> None:
    """Only the horizontal part counts: a shadow that runs up a slope changes nothing."""
    light = lamp(0.4)
    slope = cast(light, off) + np.random.default_rng(0).normal(size=(96, 1)) * UP
    m = light_consistency(light=light, shadow=slope, dt=1 / 12)
    assert m.value == pytest.approx(abs(math.degrees(off)), abs=1e-5)


@few
@given(st.integers(0, 10**6))
def test_world_gain_and_time_do_not_matter(seed: int) -> None:
    """Turned with its up, brightened per frame, or played backwards, the clip reads the same."""
    rng = np.random.default_rng(seed)
    light = lamp(0.1 * rng.normal(size=96) + (np.arange(96) > 30))
    shadow = cast(light, 0.3)
    wanted = light_consistency(light=light, shadow=shadow, dt=1 / 12)
    turn = Rotation.random(random_state=seed).as_matrix()
    gain = np.exp(rng.normal(size=(96, 1)))
    moved = light_consistency(light=gain * light @ turn.T, shadow=gain * shadow @ turn.T, up=3 * turn @ UP, dt=1 / 12)
    back = light_consistency(light=light[::-1], shadow=shadow[::-1], dt=1 / 12)
    mirror = light_consistency(light=light * [-1, 1, 1], shadow=shadow * [-1, 1, 1], dt=1 / 12)
    for part in ("trend", "step", "rate", "shadow"):
        for other in (back, mirror):
            assert other.evidence[part] == pytest.approx(wanted.evidence[part], abs=1e-6)
        # Component-wise medians of noise follow a turn of the axes only nearly.
        assert moved.evidence[part] == pytest.approx(wanted.evidence[part], abs=0.7)


def shaded(light: np.ndarray, noise: float = 0.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return normals of 120 points all round and their shading under `light`, with ambient light and clipped shade."""
    rng = np.random.default_rng(seed)
    n = rng.normal(size=(120, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    shade = 0.7 * np.maximum(0.0, np.einsum("pi,ti->tp", n, light)) + 0.3
    return np.broadcast_to(n, (*shade.shape, 3)).copy(), shade + noise * rng.normal(size=shade.shape)


def test_the_light_is_found_from_shading_alone() -> None:
    """Exact shading gives the light exactly; a step of the light reads its chord; gain and ambient are free."""
    light = lamp(0.9 * (np.arange(60) >= 30), 60)
    normals, shading = shaded(light)
    found, fitted = light_from_shading(normals, shading)
    assert fitted.all()
    assert found / np.linalg.norm(found, axis=1, keepdims=True) == pytest.approx(light, abs=1e-6)
    gain = np.linspace(0.5, 3.0, 60)[:, None]
    m = light_consistency(normals, gain * shading + gain**2, dt=1 / 12)
    assert m.value == pytest.approx(chord(0.9), abs=1e-3)
    noisy = light_consistency(*shaded(lamp(0.3, 60), 0.03), dt=1 / 12)
    assert noisy.value < 6.0


def test_normals_in_one_plane_give_no_light() -> None:
    """Flat and two-walled scenes leave the light unknown, although noise fills the plane."""
    normals, shading = shaded(lamp(0.3, 40))
    flat = np.zeros_like(normals)
    flat[..., 1] = -1.0
    assert reason(lambda: light_consistency(flat, shading, dt=1 / 12))[0] == "no_light_basis"
    rng = np.random.default_rng(1)
    walls = np.where(np.arange(120)[:, None] % 2, [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]) + 0.1 * rng.normal(
        size=(40, 120, 3)
    )
    assert reason(lambda: light_consistency(walls, shading, dt=1 / 12))[0] == "no_light_basis"


def test_a_vertical_light_leaves_its_shadow_out() -> None:
    """Within 10 deg of the vertical the azimuth is noise, so the shadow is not tested."""
    light = np.broadcast_to([math.sin(math.radians(8)), -math.cos(math.radians(8)), 0.0], (96, 3))
    m = light_consistency(light=light, shadow=np.broadcast_to([0.0, 0.0, 1.0], (96, 3)), dt=1 / 12)
    assert m.value == pytest.approx(0.0, abs=1e-6)
    assert m.evidence["shadow"] is None


def test_a_still_clip_has_no_motion() -> None:
    """It is known to be still only when 3 standard errors of its motion are below the cut."""
    light = lamp(0.0)
    assert reason(lambda: light_consistency(light=light, motion=0.9)) == ("no_motion", True)
    assert reason(lambda: light_consistency(light=light, motion=0.9, motion_error=0.4)) == ("no_motion", False)
    assert reason(lambda: light_consistency(light=light, motion=math.nan))[0] == "no_motion"
    assert light_consistency(light=light, motion=1.0).value == pytest.approx(0.0, abs=1e-6)


def test_each_perception_reason_is_given() -> None:
    """The first check that holds is the reason."""
    light = lamp(0.0)
    assert reason(lambda: light_consistency())[0] == "no_object"
    assert reason(lambda: light_consistency(light=light[:, :2]))[0] == "bad_shape"
    assert reason(lambda: light_consistency(light=light, shadow=np.zeros((3, 3))))[0] == "bad_shape"
    assert reason(lambda: light_consistency(light=light[:7]))[0] == "too_few_frames"
    assert reason(lambda: light_consistency(light=light * np.nan))[0] == "all_nan"
    normals, shading = shaded(lamp(0.0, 20))
    assert reason(lambda: light_consistency(normals[:, :29], shading[:, :29]))[0] == "too_few_frames"
    assert reason(lambda: light_consistency(normals, shading * np.nan))[0] == "all_nan"
