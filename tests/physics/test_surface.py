"""R02: normals implied by depth, on planes and a ball whose normals are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.surface import normal_error, normals_from_depth, window_side
from tests.physics.bodies import few, reason

H, W, FRAMES = 24, 32, 8
K = np.array([[40.0, 0.0, 14.0], [0.0, 44.0, 10.0], [0.0, 0.0, 1.0]])


def rays(height: int = H, width: int = W, k: np.ndarray = K) -> np.ndarray:
    """Return the rays (H, W, 3) of the pixels, with z = 1."""
    v, u = np.mgrid[:height, :width]
    return np.stack([u, v, np.ones_like(u)], axis=-1) @ np.linalg.inv(k).T


def plane(normal: np.ndarray, frames: int = FRAMES) -> tuple[np.ndarray, np.ndarray]:
    """Return depth and normals of a plane 5 units away, seen for `frames` frames."""
    n = normal / np.linalg.norm(normal)
    depth = 5.0 * n[2] / (rays() @ n)
    return np.broadcast_to(depth, (frames, H, W)).copy(), np.broadcast_to(n, (frames, H, W, 3)).copy()


def turned(normals: np.ndarray, degrees: float) -> np.ndarray:
    """Return every normal turned by `degrees` about an axis across it."""
    across = np.cross(normals, [0.3, 1.0, 0.2])
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    return np.cos(np.radians(degrees)) * normals + np.sin(np.radians(degrees)) * across


SLOPE = np.array([0.3, -0.2, -1.0])


@few
@given(st.floats(0, 175), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
def test_a_plane_seen_with_normals_off_by_an_angle_gives_that_angle(angle: float, a: float, b: float) -> None:
    """The fit is exact on planes, with fx != fy and an off-centre principal point, up to and beyond 90 deg."""
    depth, normals = plane(np.array([a, b, -1.0]))
    assert normal_error(depth, turned(normals, angle), K).value == pytest.approx(angle, abs=1e-4)


def test_a_ball_implies_its_own_normals() -> None:
    """Away from the rim the fitted normal of a finely sampled ball is within a degree of the true one."""
    k = np.array([[300.0, 0, 80.0], [0, 300.0, 60.0], [0, 0, 1.0]])
    r = rays(120, 160, k)
    centre = np.array([0.0, 0.0, 6.0])
    q, c = (r * r).sum(-1), r @ centre
    root = c**2 - q * (centre @ centre - 1.0)
    depth = np.where(root > 0, (c - np.sqrt(np.maximum(root, 0))) / q, np.nan)
    truth = r * depth[..., None] - centre
    implied, trusted = normals_from_depth(depth, k)
    facing = trusted & (np.sum(truth * r, axis=-1) < -0.5 * np.linalg.norm(r, axis=-1))
    assert facing.sum() > 3000
    assert np.degrees(np.arccos(np.clip((implied * truth).sum(-1)[facing], -1, 1))).max() < 1.0


@few
@given(st.floats(1e-6, 1e6), st.floats(1e-3, 1e3), st.integers(0, 10**6))
def test_units_lengths_and_frame_order_do_not_matter(unit: float, length: float, seed: int) -> None:
    """The depth factor, the length of the normals and the order of the frames change nothing: R02 is a frame's fact."""
    depth, normals = plane(SLOPE)
    normals[3] = turned(normals[3], 40.0)
    order = np.random.default_rng(seed).permutation(FRAMES)
    assert normal_error(unit * depth[order], length * normals[order], K).value == pytest.approx(5.0, abs=1e-5)


def test_a_mirrored_image_gives_the_same() -> None:
    """Left and right may be exchanged, with the principal point."""
    depth, normals = plane(SLOPE)
    normals = turned(normals, 12.0)
    k = K.copy()
    k[0, 2] = W - 1 - K[0, 2]
    mirrored = normal_error(depth[:, :, ::-1], normals[:, :, ::-1] * [-1, 1, 1], k).value
    assert mirrored == pytest.approx(normal_error(depth, normals, K).value, abs=1e-9)


def test_a_static_clip_is_measured_and_the_evidence_shows_the_worst_frame() -> None:
    """One frame off by 60 deg is named, mapped and counted in the shares."""
    depth, normals = plane(SLOPE)
    normals[5] = turned(normals[5], 60.0)
    m = normal_error(depth, normals, K)
    assert m.value == pytest.approx(60.0 / FRAMES, abs=1e-4)
    assert m.n == FRAMES
    assert m.evidence["worst_frame"] == 5
    assert np.nanmean(m.evidence["angle_map"]) == pytest.approx(60.0, abs=1e-3)
    assert m.evidence["below_30.0"] == pytest.approx(7 / 8)


def test_only_whole_windows_and_masked_pixels_are_used() -> None:
    """A missing pixel removes the 25 windows that touch it; a mask removes the rest of what is wrong."""
    depth, normals = plane(SLOPE)
    depth[:, 12, 16] = 0.0
    wrong = normals.copy()
    wrong[:, 10:15, 14:19] = turned(normals[:, 10:15, 14:19], 50.0)
    wrong[:, :, :6] = turned(normals[:, :, :6], 50.0)
    mask = np.ones(depth.shape, dtype=bool)
    mask[:, :, :6] = False
    assert normal_error(depth, wrong, K, mask).value == pytest.approx(0.0, abs=1e-4)
    assert normal_error(depth, wrong, K).value > 5.0


def test_the_window_is_a_share_of_the_width() -> None:
    """The odd number nearest 2.5 % of the width, the larger of ties, at least 5."""
    assert [window_side(w) for w in (32, 128, 200, 239, 240, 319, 320, 1280)] == [5, 5, 5, 5, 7, 7, 9, 33]


def test_each_reason_is_given() -> None:
    """Perception reasons only: there is no event in R02."""
    depth, normals = plane(SLOPE)
    assert reason(lambda: normal_error(None, normals, K))[0] == "no_object"
    assert reason(lambda: normal_error(depth, normals[..., :2], K))[0] == "bad_shape"
    assert reason(lambda: normal_error(depth[:7], normals[:7], K))[0] == "too_few_frames"
    assert reason(lambda: normal_error(depth * np.nan, normals, K))[0] == "all_nan"
    assert reason(lambda: normal_error(depth, normals, K * np.nan))[0] == "all_nan"
    assert reason(lambda: normal_error(depth * 0, normals, K))[0] == "zero_depth"
    few_pixels = np.zeros(depth.shape, dtype=bool)
    few_pixels[:, 2:12, 2:31] = True
    assert reason(lambda: normal_error(depth, normals, K, few_pixels))[0] == "too_few_frames"
