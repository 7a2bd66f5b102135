"""R03 and the pose gate: bodies that keep or lose their shape while they move."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.body import body, pose_gate
from pvbench_suite.physics.shape import shape_change
from tests.physics.bodies import FPS, ar1, during, few, moving, points, reason, world

#: Mean of |e x| over a grown unit sphere of l = 2, for the 36 of 40 distances that the trim keeps.
GROWN = 0.1 / 2


def grown(fps: float = 24, seconds: float = 8.0) -> np.ndarray:
    """Return a body that is 10 % larger in the last two seconds."""
    n = round(seconds * fps)
    scale = during(n, n - round(2 * fps), n, 0.1)
    return moving(scale[:, None, None] * points(), seconds, fps)


@pytest.mark.parametrize("fps", FPS)
def test_a_rigid_body_reads_zero_and_a_grown_one_its_growth(fps: int) -> None:
    """Growth e of a unit sphere moves each surface point by e, half of that in sizes, at every frame rate."""
    assert shape_change(moving(points(), 4.0, fps), dt=1 / fps).value == pytest.approx(0.0, abs=1e-9)
    assert shape_change(grown(fps), dt=1 / fps).value == pytest.approx(GROWN, rel=0.02)


@few
@given(st.integers(0, 10**6))
def test_world_scale_point_order_and_mirror_do_not_matter(seed: int) -> None:
    """Any similarity of the world (cameras with it), any order of the points, and a mirrored image give the same."""
    # Noise parts the residuals: among exact ties, which tenth the refit leaves out is not defined.
    X = grown(12) + 0.01 * np.random.default_rng(seed).normal(size=(96, 20, 3))
    wanted = shape_change(X, cam=np.zeros((len(X), 3)), dt=1 / 12).value
    scale, turn, shift = world(seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    cam = np.broadcast_to(shift, (len(X), 3))
    assert shape_change(scale * X[:, order] + shift, cam=cam, dt=1 / 12).value == pytest.approx(wanted, abs=1e-9)
    # The median over time goes by component, so noise follows a turn of the axes only nearly.
    assert shape_change(X @ turn.T, dt=1 / 12).value == pytest.approx(wanted, rel=0.04)
    assert shape_change(X * [-1, 1, 1], dt=1 / 12).value == pytest.approx(wanted, abs=1e-9)


def test_reversed_time_reads_the_same_change_from_the_other_side() -> None:
    """The reference is then a grown frame, so the change is 1/1.1 of it in true sizes and l is still the median."""
    X = grown(12)
    assert shape_change(X[::-1], dt=1 / 12).value == pytest.approx(GROWN, rel=0.05)


def test_missing_and_unseen_points_are_not_invented() -> None:
    """Points that are wrong only while unseen change nothing, and the reference is the fullest frame."""
    X = moving(points())
    vis = np.ones(X.shape[:2], dtype=bool)
    vis[:20, :4] = vis[60:80, 5:9] = False
    torn = np.where(vis[..., None], X, X + 3.0)
    m = shape_change(torn, vis)
    assert m.value == pytest.approx(0.0, abs=1e-9)
    assert m.evidence["reference"] == 20
    assert np.isnan(m.evidence["chamfer"][20])
    assert m.evidence["size"] == pytest.approx(2.0)


def test_a_strain_along_the_surface_shows_in_the_matched_residual() -> None:
    """The nearest neighbour absorbs what the same point does not."""
    dense = points(200, seed=3)
    spin = np.radians(40.0)
    slid = dense @ np.array([[np.cos(spin), 0, np.sin(spin)], [0, 1, 0], [-np.sin(spin), 0, np.cos(spin)]])
    half = np.where(dense[:, 1:2] > 0, slid, dense)
    X = moving(np.stack([dense] * 48 + [half] * 48))
    m = shape_change(X)
    assert np.nanmax(m.evidence["matched"]) > 1.5 * np.nanmax(m.evidence["chamfer"]) > 0


def test_a_static_clip_has_no_pose_change_with_and_without_noise() -> None:
    """Exact or low noise: the event would have been seen; 3 % depth noise of a far body: it would not."""
    X = moving(points(), still=True)
    assert reason(lambda: shape_change(X)) == ("no_pose_change", True)
    for seed in range(3):
        common = ar1(len(X), 0.01, 24, seed)[:, :, None]
        white = 0.006 * np.random.default_rng(seed).normal(size=X.shape[:2])[..., None]
        assert reason(lambda noisy=X * (1 + common + white): shape_change(noisy))[0] == "no_pose_change"
    rough = X * (1 + 0.06 * np.random.default_rng(9).normal(size=(*X.shape[:2], 1)))
    assert reason(lambda: shape_change(rough)) == ("no_pose_change", False)


@pytest.mark.parametrize(("axis", "way", "opens"), [(0, 1.3, True), (0, 0.9, False), (2, 1.3, True), (2, 0.9, False)])
def test_the_gate_opens_at_half_a_size_across_and_along(axis: int, way: float, opens: bool) -> None:
    """A shift whose 5-95 % range is half of l opens it, across the line of sight as well as along it."""
    X = np.broadcast_to(points() + np.array([0, 0, 400.0]), (96, 20, 3)).copy()
    X[:, :, axis] += np.linspace(0, way, 96)[:, None]
    item = body(X, None, None)
    if opens:
        assert max(pose_gate(item, 2.0, 1 / 24).values()) >= 0.5
    else:
        assert reason(lambda: pose_gate(item, 2.0, 1 / 24, "no_motion"))[0] == "no_motion"


def test_a_camera_that_goes_round_opens_the_gate() -> None:
    """A still body seen from directions 22 deg apart is measured, from 8 deg apart it is not."""
    X = moving(points(), still=True)
    for degrees, opens in ((24.0, True), (9.0, False)):
        a = np.radians(np.linspace(0, degrees, len(X)))
        cam = X[0].mean(axis=0) + 5.0 * np.stack([np.sin(a), 0 * a, -np.cos(a)], axis=-1)
        if opens:
            m = shape_change(X, cam=cam)
            assert m.value == pytest.approx(0, abs=1e-9)
            assert m.evidence["view"] == pytest.approx(0.9 * 24, abs=0.3)
        else:
            assert reason(lambda c=cam: shape_change(X, cam=c))[0] == "no_pose_change"


def test_each_perception_reason_is_given() -> None:
    """The first check that holds is the reason."""
    X = moving(points())
    assert reason(lambda: shape_change(np.zeros((20, 0))))[0] == "no_object"
    assert reason(lambda: shape_change(X, np.ones((3, 3))))[0] == "bad_shape"
    assert reason(lambda: shape_change(X, cam=np.zeros((4, 3))))[0] == "bad_shape"
    assert reason(lambda: shape_change(X[:7]))[0] == "too_few_frames"
    assert reason(lambda: shape_change(X, np.zeros(X.shape[:2])))[0] == "all_nan"
    assert reason(lambda: shape_change(X * 0))[0] == "zero_depth"
    assert reason(lambda: shape_change(X[:, :7]))[0] == "too_small"
    gone = X.copy()
    gone[7:, 5:] = np.nan
    assert reason(lambda: shape_change(gone))[0] == "too_few_frames"
