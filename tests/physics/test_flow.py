"""R17: flow back against flow forth, and the range map that finds hidden pixels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.flow import flow_inconsistency, occlusion, sample
from tests.physics.bodies import few, reason

M, H, W = 10, 24, 32
HW = (H, W)


def pan(dx: float, dy: float = 0.0) -> np.ndarray:
    """Return a uniform flow (M, H, W, 2)."""
    return np.broadcast_to([dx, dy], (M, H, W, 2)).astype(float)


@few
@given(st.floats(0, 1), st.floats(-4, 4), st.floats(3, 5))
def test_a_return_flow_that_is_short_or_long_reads_the_shortfall(e: float, dy: float, dx: float) -> None:
    """Short by e: e; too long by e: e / (1 + e); none: 1; the same way: 1."""
    f = pan(dx, dy)
    assert flow_inconsistency(f, -(1 - e) * f, hw720=HW).value == pytest.approx(e, abs=1e-9)
    assert flow_inconsistency(f, -(1 + e) * f, hw720=HW).value == pytest.approx(e / (1 + e), abs=1e-9)
    assert flow_inconsistency(f, 0 * f, hw720=HW).value == pytest.approx(1.0)
    assert flow_inconsistency(f, f, hw720=HW).value == pytest.approx(1.0)


def test_a_broken_region_reads_its_own_value_and_is_not_diluted() -> None:
    """Under a pan, 6 % of the frame with a return flow short by a half reads a half, not 3 %."""
    f, regions = pan(3.0), np.zeros((M, H, W), dtype=int)
    regions[:, 6:12, 8:16] = 7
    b = -f.copy()
    b[:, 6:12, 11:19] *= 0.5
    m = flow_inconsistency(f, b, regions=regions, hw720=HW)
    assert m.value == pytest.approx(0.5)
    assert m.evidence["region"] == 7
    assert m.evidence["pairs"].shape == (2, M)
    assert m.evidence["regions"] == [0, 7]
    assert flow_inconsistency(f, b, hw720=HW).value < 0.06


@few
@given(st.integers(0, 10**6))
def test_mirror_time_and_region_labels_do_not_matter(seed: int) -> None:
    """Exchanged sides, reversed order of the pairs and other labels give the same."""
    rng = np.random.default_rng(seed)
    f = pan(3.0, 1.0) + 0.05 * rng.normal(size=(M, H, W, 2))
    b = -f * rng.uniform(0.5, 1.0, size=(M, 1, 1, 1))
    regions = np.broadcast_to(rng.integers(0, 3, size=(H, W)), (M, H, W))
    wanted = flow_inconsistency(f, b, regions=regions, hw720=HW).value
    flip = [-1.0, 1.0]
    mirrored = flow_inconsistency(f[:, :, ::-1] * flip, b[:, :, ::-1] * flip, None, regions[:, :, ::-1], HW)
    assert mirrored.value == pytest.approx(wanted, abs=1e-9)
    assert flow_inconsistency(f[::-1], b[::-1], None, 5 + 2 * regions[::-1], HW).value == pytest.approx(
        wanted, abs=1e-9
    )


def test_resolution_scales_the_threshold() -> None:
    """1.9 px at the reference size is still; in an array of half the size 1.9 px is motion."""
    f = pan(1.9)
    assert reason(lambda: flow_inconsistency(f, -0.5 * f, hw720=HW))[0] == "no_motion"
    assert flow_inconsistency(f, -0.5 * f, hw720=(2 * H, 2 * W)).value == pytest.approx(0.5)


def test_the_range_map_finds_what_a_moving_block_covers() -> None:
    """A block moves 4 px to the right over still ground: the ground that it covers is hidden, no more and no less."""
    back = np.zeros((H, W, 2))
    back[8:16, 14:22, 0] = -4.0
    back[8:16, 10:14, 0] = 30.0  # the uncovered ground comes from nowhere: its flow leaves the frame
    hidden = occlusion(back)
    wanted = np.zeros((H, W), dtype=bool)
    wanted[8:16, 18:22] = True
    assert np.array_equal(hidden, wanted)
    f = np.zeros((M, H, W, 2))
    f[:, 8:16, 10:18, 0] = 4.0
    backs = np.broadcast_to(back, f.shape)
    moving = flow_inconsistency(f, backs, occlusion(backs), hw720=HW)
    assert moving.value == pytest.approx(0.0, abs=1e-9)
    assert flow_inconsistency(f, backs, hw720=HW).value > 0.2


@few
@given(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9))
def test_the_range_map_conserves_weight(dx: float, dy: float) -> None:
    """A uniform shift of a fraction of a pixel hides nothing inside the frame."""
    assert not occlusion(np.broadcast_to([dx, dy], (H, W, 2)))[1:-1, 1:-1].any()


def test_a_list_that_hides_most_of_the_motion_is_refused() -> None:
    """Hidden pixels are left out unless that leaves less than half of what moves."""
    f = pan(3.0)
    b = -f.copy()
    b[:, :10] = 0.0
    occ = np.zeros((M, H, W), dtype=bool)
    occ[:, :10] = True
    assert flow_inconsistency(f, b, occ, hw720=HW).value == pytest.approx(0.0, abs=1e-9)
    b[:, :16] = 0.0
    occ[:, :16] = True
    assert flow_inconsistency(f, b, occ, hw720=HW).value == pytest.approx(16 / 24)


def test_bilinear_samples_are_exact_on_a_ramp_and_missing_outside() -> None:
    """A linear field is met exactly; a missing neighbour of weight 0 does no harm."""
    y, x = np.mgrid[:5, :6].astype(float)
    field = 2 * x - 3 * y
    at_x, at_y = np.array([0.0, 1.25, 5.0, 5.01, -0.1, np.nan]), np.array([0.0, 2.5, 4.0, 1.0, 1.0, 1.0])
    got = sample(field, at_x, at_y)
    assert got[:3] == pytest.approx([0.0, -5.0, -2.0])
    assert np.isnan(got[3:]).all()
    field[3, 2] = np.nan
    assert sample(field, np.array([2.0, 2.0]), np.array([2.0, 2.5]))[0] == pytest.approx(-2.0)
    assert np.isnan(sample(field, np.array([2.0]), np.array([2.5]))[0])


def test_noise_is_neither_motion_nor_inconsistency() -> None:
    """White noise of a still scene stays below 4 sd; that of a moving one is removed to a hundredth."""
    rng = np.random.default_rng(0)
    noise = [0.8 * rng.normal(size=(M, H, W, 2)) for _ in range(2)]
    assert reason(lambda: flow_inconsistency(noise[0], noise[1], hw720=HW)) == ("no_motion", False)
    assert reason(lambda: flow_inconsistency(0.2 * noise[0], 0.2 * noise[1], hw720=HW)) == ("no_motion", True)
    f = pan(6.0)
    moving = flow_inconsistency(f + 0.3 * noise[0], -f + 0.3 * noise[1], hw720=HW)
    assert moving.value < 0.01


def test_motion_that_is_too_small_or_too_brief_is_not_called_absent() -> None:
    """It was not seen to be missing: 0.13 % of the frame that move, or six pairs, are no event that did not happen."""
    still = pan(0.0)
    small, brief = still.copy(), still.copy()
    small[:, 10, 10] = 3.0
    brief[:6] = 3.0
    for f in (small, brief):
        assert reason(lambda f=f: flow_inconsistency(f, -f, hw720=HW)) == ("no_motion", False)
    assert reason(lambda: flow_inconsistency(still, still, hw720=HW)) == ("no_motion", True)


def test_motion_cannot_be_excluded_where_flow_is_missing() -> None:
    """A body without flow in seven pairs is too noisy to tell; in six pairs it may not have moved at all."""
    f = pan(0.0)
    f[:7, 8:12, 8:12] = np.nan
    assert reason(lambda: flow_inconsistency(f, 0 * pan(1.0), hw720=HW))[0] == "too_noisy"
    f[6] = 0.0
    assert reason(lambda: flow_inconsistency(f, 0 * pan(1.0), hw720=HW)) == ("no_motion", True)


def test_each_reason_is_given() -> None:
    """The first check that holds is the reason."""
    f = pan(3.0)
    assert reason(lambda: flow_inconsistency(None, f))[0] == "no_object"
    assert reason(lambda: flow_inconsistency(f, f[..., :1]))[0] == "bad_shape"
    assert reason(lambda: flow_inconsistency(f, f, regions=np.zeros((2, 2))))[0] == "bad_shape"
    assert reason(lambda: flow_inconsistency(f[:6], f[:6]))[0] == "too_few_frames"
    assert reason(lambda: flow_inconsistency(f, f * np.nan))[0] == "all_nan"
    assert reason(lambda: flow_inconsistency(0 * f, 0 * f)) == ("no_motion", True)
