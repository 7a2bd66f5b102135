"""PTQ-03: brightness of what stands still."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.perceptual.flicker import flicker, widen
from tests.physics.bodies import few, reason

M, H, W = 12, 24, 32
HW = (H, W)


def scene(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return luma (M, H, W) of a still textured scene, and no flow."""
    luma = np.random.default_rng(seed).uniform(40, 200, size=(H, W))
    return np.broadcast_to(luma, (M, H, W)).copy(), np.zeros((M, H, W, 2))


@few
@given(st.floats(0, 20), st.integers(0, 10**6))
def test_pumping_reads_its_size_in_percent(size: float, seed: int) -> None:
    """A brightness that rises and falls by a levels reads 100 a / 255, whatever the scene, mirrored or reversed."""
    luma, flow = scene(seed)
    lifted = luma + size * np.where(np.arange(M) % 2, 1.0, -1.0)[:, None, None]
    wanted = pytest.approx(100 * size / 255, abs=1e-9)
    assert flicker(luma, lifted, flow, hw720=HW).value == wanted
    assert flicker(luma[:, :, ::-1], lifted[:, :, ::-1], flow, hw720=HW).value == wanted
    assert flicker(lifted[::-1], luma[::-1], flow, hw720=HW).value == wanted


def test_more_noise_reads_more_and_a_clean_scene_reads_nothing() -> None:
    """The value grows with the dose and is 0 without it."""
    luma, flow = scene()
    rng = np.random.default_rng(1)
    values = [flicker(luma, luma + sd * rng.normal(size=luma.shape), flow, hw720=HW).value for sd in (0, 1, 3, 9)]
    assert values[0] == 0.0
    assert np.all(np.diff(values) > 0)
    assert values[2] == pytest.approx(100 * 3 * np.sqrt(2 / np.pi) / 255, rel=0.1)


def test_slow_motion_is_followed_and_fast_motion_left_out() -> None:
    """A ramp that creeps by half a pixel does not flicker; what moves by 1 px at 720p is not static."""
    ramp = np.broadcast_to(5.0 * np.arange(W), (M, H, W)).copy()
    flow = np.zeros((M, H, W, 2))
    flow[..., 0] = 0.5
    assert flicker(ramp, ramp - 2.5, flow, hw720=HW).value == pytest.approx(0.0, abs=1e-9)
    flow[..., 0] = 1.0
    assert reason(lambda: flicker(ramp, ramp, flow, hw720=HW))[0] == "no_static_region"
    flow[..., 0] = 0.5
    assert reason(lambda: flicker(ramp, ramp, flow, hw720=(2 * H, 2 * W)))[0] == "no_static_region"


def test_objects_with_their_margin_and_hidden_pixels_are_left_out() -> None:
    """A flickering object costs nothing, nor does what lies within 5 px of it or is hidden."""
    luma, flow = scene()
    second = luma.copy()
    second[:, 5:12, 5:12] += 50.0
    moving = np.zeros((M, H, W), dtype=bool)
    moving[:, 8:9, 8:9] = True
    hidden = np.zeros((M, H, W), dtype=bool)
    assert flicker(luma, second, flow, moving, hidden, HW).value == 0.0
    second[:, 20, 20] += 80.0
    assert flicker(luma, second, flow, moving, hidden, HW).value > 0.0
    hidden[:, 20, 20] = True
    assert flicker(luma, second, flow, moving, hidden, HW).value == 0.0


def test_a_mask_is_widened_by_a_disc_and_by_a_pixel_at_least() -> None:
    """Radius 5 px covers 81 pixels, and small frames still keep one pixel off."""
    mask = np.zeros((21, 21), dtype=bool)
    mask[10, 10] = True
    assert widen(mask, 5.0).sum() == 81
    assert widen(mask, 0.4).sum() == 9
    assert not widen(np.zeros((4, 4), dtype=bool), 5.0).any()


def test_one_bad_pair_is_forgiven_and_half_a_second_is_not() -> None:
    """The median over pairs removes a single flash; one that lasts 0.5 s counts in full."""
    luma, flow = (np.repeat(part[:1], 80, axis=0) for part in scene())
    second = luma.copy()
    second[30] += 51.0
    assert flicker(luma, second, flow, hw720=HW).value == 0.0
    second[30:36] += 51.0
    assert flicker(luma, second, flow, hw720=HW).value > 19.9


def test_each_reason_is_given() -> None:
    """The first check that holds is the reason."""
    luma, flow = scene()
    assert reason(lambda: flicker(None, luma, flow))[0] == "no_object"
    assert reason(lambda: flicker(luma, luma[:, :3], flow))[0] == "bad_shape"
    assert reason(lambda: flicker(luma[:6], luma[:6], flow[:6]))[0] == "too_few_frames"
    assert reason(lambda: flicker(luma, luma, flow * np.nan))[0] == "all_nan"
    covered = np.ones((M, H, W), dtype=bool)
    covered[:6] = False
    assert reason(lambda: flicker(luma, luma, flow, covered))[0] == "no_static_region"
