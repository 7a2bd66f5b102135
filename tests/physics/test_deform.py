"""R11: soft bodies that keep or lose their volume."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.deform import volume_change
from tests.physics.bodies import FPS, ar1, during, few, reason

F = 800.0


def mask(along: np.ndarray, across: np.ndarray, depth: np.ndarray, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Return moments (T, 2, 2) [px^2] of a body with these log half-sizes, and its axis at `angle` [rad]."""
    axis, other = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
    sizes = [np.exp(2 * s) * (F / depth) ** 2 for s in (along, across)]
    return sum(s[:, None, None] * np.outer(v, v) for s, v in zip(sizes, (axis, other), strict=True)), axis


def clip(n: int, squash: float = 0.3, swell: float = 0.0, tail: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log half-sizes and depth of a body that squashes to and fro, and swells by e^swell in its last frames."""
    t = np.linspace(0, 4 * np.pi, n)
    q = squash * np.sin(t)
    extra = (during(n, n - tail, n, 1.0) - 1.0) * swell / 3
    return -q + extra, 0.5 * q + extra, 4.0 + np.linspace(0, 2, n)


@few
@given(st.floats(0, 6.2), st.floats(0.01, 100.0), st.floats(0.1, 50.0))
def test_a_squash_that_keeps_the_volume_reads_zero_along_any_axis(angle: float, unit: float, length: float) -> None:
    """exp(-q), exp(q/2), exp(q/2) keeps the volume whatever the axis, its length and the unit of depth."""
    along, across, depth = clip(96)
    moments, axis = mask(along, across, depth, angle)
    assert volume_change(moments, unit * depth, F, length * axis).value == pytest.approx(0.0, abs=1e-9)
    turned, _ = mask(across, along, depth, angle)
    assert volume_change(turned, depth, F, axis).value == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("fps", FPS)
@pytest.mark.parametrize("swell", [0.4, -0.4])
def test_a_change_of_volume_reads_its_logarithm(fps: int, swell: float) -> None:
    """Volume times e^g for an eighth of the clip reads |g| at every frame rate, forwards and backwards."""
    moments, axis = mask(*clip(8 * fps, 0.0, swell, fps), 0.4)
    depth = clip(8 * fps)[2]
    value = volume_change(moments, depth, F, axis, 1 / fps).value
    assert value == pytest.approx(0.4, abs=1e-6)
    assert volume_change(moments[::-1], depth[::-1], F, axis, 1 / fps).value == pytest.approx(value, abs=1e-9)


def test_a_mirrored_image_gives_the_same() -> None:
    """Left and right may be exchanged, with the axis."""
    moments, axis = mask(*clip(96, 0.2, 0.3, 24), 0.7)
    depth = clip(96)[2]
    flipped = moments * [[1, -1], [-1, 1]]
    wanted = volume_change(moments, depth, F, axis).value
    assert volume_change(flipped, depth, F, axis * [-1, 1]).value == pytest.approx(wanted, abs=1e-9)


def test_only_the_milder_hypothesis_counts_and_both_series_are_kept() -> None:
    """A body that only grows wider by h reads h and not 2 h."""
    n = 96
    wide = 0.2 * (during(n, 60, n, 1.0) - 1.0)
    moments, axis = mask(np.zeros(n), wide, np.full(n, 5.0), 0.0)
    m = volume_change(moments, np.full(n, 5.0), F, axis)
    assert m.value == pytest.approx(0.2, abs=1e-9)
    assert np.ptp(m.evidence["v_axis"]) == pytest.approx(0.4)
    assert np.ptp(m.evidence["v_across"]) == pytest.approx(0.2)


def test_an_elongated_body_that_turns_is_not_measured() -> None:
    """Log 2 times sin^2 of the turn is above 0.05 from 16 deg on, and capped at a quarter turn."""
    along, across, depth = clip(96, 0.1)
    moments, axis = mask(along + math.log(2), across, depth, 0.3)
    assert volume_change(moments, depth, F, axis, turn=15.0).value == pytest.approx(0.0, abs=1e-9)
    for turn in (17.0, 90.0, 180.0):
        assert reason(lambda d=turn: volume_change(moments, depth, F, axis, turn=d))[0] == "turning"


def test_a_static_body_does_not_deform_with_and_without_noise() -> None:
    """Noise of mask and depth does not pass for deformation; strong noise leaves the question open."""
    moments, axis = mask(*clip(192, 0.0), 0.3)
    depth = clip(192)[2]
    assert reason(lambda: volume_change(moments, depth, F, axis)) == ("no_deformation", True)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        noisy = moments * np.exp(0.06 * rng.normal(size=(192, 1, 1)))
        z = depth * np.exp(ar1(192, 0.02, 24, seed)[:, 0])
        assert reason(lambda a=noisy, b=z: volume_change(a, b, F, axis))[0] == "no_deformation"
    rough = depth * np.exp(0.1 * np.random.default_rng(5).normal(size=192))
    assert reason(lambda: volume_change(moments, rough, F, axis)) == ("no_deformation", False)


def test_each_perception_reason_is_given() -> None:
    """The first check that holds is the reason."""
    moments, axis = mask(*clip(96), 0.3)
    depth = clip(96)[2]
    assert reason(lambda: volume_change(None, depth, F, axis))[0] == "no_object"
    assert reason(lambda: volume_change(moments, depth[:9], F, axis))[0] == "bad_shape"
    assert reason(lambda: volume_change(moments[:7], depth[:7], F, axis))[0] == "too_few_frames"
    assert reason(lambda: volume_change(moments * np.nan, depth, F, axis))[0] == "all_nan"
    assert reason(lambda: volume_change(moments, depth, F, [0.0, 0.0]))[0] == "all_nan"
    assert reason(lambda: volume_change(moments, -depth, F, axis))[0] == "zero_depth"
    assert reason(lambda: volume_change(moments * 0, depth, F, axis))[0] == "zero_depth"
    gone = np.where(np.arange(96) < 7, depth, 0.0)
    assert reason(lambda: volume_change(moments, gone, F, axis))[0] == "too_few_frames"
