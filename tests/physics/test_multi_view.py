"""R05: points of a static scene seen by a camera that moves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.multi_view import reprojection_error
from tests.physics.bodies import few, reason, world

HW = (720, 1280)
K = np.array([[1000.0, 0, 640], [0, 1000.0, 360], [0, 0, 1]])
DIAGONAL = float(np.hypot(*HW))


def scene(fps: float = 24.0, dolly: float = 0.6, points: int = 30) -> dict[str, np.ndarray]:
    """Return exact tracks, depths and cameras of a scene 3 to 6 units away, from a camera that shifts and turns."""
    t = np.arange(round(3 * fps)) / fps
    rng = np.random.default_rng(0)
    X = np.stack([rng.uniform(-1, 1, points), rng.uniform(-0.6, 0.6, points), rng.uniform(3, 6, points)], axis=1)
    cameras = np.tile(np.eye(4), (len(t), 1, 1))
    cameras[:, :3, :3] = Rotation.from_rotvec(np.outer(0.03 * t, [0, 1, 0.3])).as_matrix()
    cameras[:, 0, 3] = dolly * (t / 3 - 0.5)
    local = np.einsum("tji,tpj->tpi", cameras[:, :3, :3], X[None] - cameras[:, None, :3, 3])
    pixels = local @ K.T
    return {"tracks": pixels[..., :2] / pixels[..., 2:], "depths": local[..., 2], "cameras": cameras}


def measured(inputs: dict[str, np.ndarray], fps: float = 24.0, **more: object) -> Measurement:
    """Return R05 of a scene."""
    given_: dict[str, object] = {"visible": None, "intrinsics": K, "hw": HW, "dt": 1 / fps, **inputs, **more}
    return reprojection_error(**given_)  # type: ignore[arg-type]


@pytest.mark.parametrize("fps", [12, 24, 60])
def test_a_displaced_third_of_the_points_reads_its_displacement(fps: float) -> None:
    """Ten of thirty points off by 8 px in the last second read 8 px; five points, or a tenth of a second, read 0."""
    inputs = scene(fps, dolly=2.0)
    exact = measured(inputs, fps)
    assert exact.value == pytest.approx(0, abs=1e-9)
    late = np.arange(len(inputs["depths"])) > 2 * fps
    moved = inputs["tracks"].copy()
    moved[np.ix_(late, np.arange(10))] += [8.0, 0.0]
    assert measured({**inputs, "tracks": moved}, fps).value == pytest.approx(8 / DIAGONAL, rel=0.02)
    few_points = inputs["tracks"].copy()
    few_points[np.ix_(late, np.arange(5))] += [8.0, 0.0]
    assert measured({**inputs, "tracks": few_points}, fps).value == pytest.approx(0, abs=1e-6)


def test_a_small_parallax_magnifies_the_fault() -> None:
    """At a parallax below 10 % the error beyond the allowance counts as a tenth over the parallax."""
    inputs = scene(dolly=0.2)
    late = np.arange(72) > 48
    inputs["tracks"][late] += [8.0, 0.0]
    m = measured(inputs)
    assert 0.01 < m.evidence["parallax"] < 0.03
    expected = 0.1 * (m.evidence["error"] - 0.002) / m.evidence["parallax"]
    assert m.value == pytest.approx(expected)
    assert m.value > 2 * m.evidence["error"]


def test_track_noise_widens_the_allowance() -> None:
    """White noise of 2 px per axis is read from the tracks and three times it is allowed."""
    inputs = scene(dolly=0.2)
    inputs["tracks"] = inputs["tracks"] + np.random.default_rng(1).normal(0, 2.0, inputs["tracks"].shape)
    m = measured(inputs)
    assert m.spread == pytest.approx(2 / DIAGONAL, rel=0.05)
    assert m.evidence["allowance"] == pytest.approx(6 / DIAGONAL, rel=0.05)


@few
@given(st.integers(0, 10**6))
def test_scale_world_resolution_order_and_reversal_do_not_matter(seed: int) -> None:
    """One unit for depth and cameras, another world frame, another size of frame: the same value of a faulty clip."""
    inputs = scene()
    inputs["tracks"][50:, :12] += [6.0, -3.0]
    value = measured(inputs).value
    assert value > 0.003
    scale, turn, shift = world(seed)
    cameras = inputs["cameras"].copy()
    cameras[:, :3, :3] = turn @ cameras[:, :3, :3]
    cameras[:, :3, 3] = scale * cameras[:, :3, 3] @ turn.T + shift
    other = measured({"tracks": inputs["tracks"], "depths": scale * inputs["depths"], "cameras": cameras})
    # Component-wise medians of exact points are the points in any frame, so only the parallax moves a little.
    assert other.value == pytest.approx(value, rel=0.02)
    half = np.diag([0.5, 0.5, 1.0]) @ K
    small = measured({**inputs, "tracks": inputs["tracks"] / 2}, intrinsics=half, hw=(360, 640))
    assert small.value == pytest.approx(value)
    assert measured({k: v[::-1] for k, v in inputs.items()}).value == pytest.approx(value)
    order = np.random.default_rng(seed).permutation(30)
    shuffled = {**inputs, "tracks": inputs["tracks"][:, order], "depths": inputs["depths"][:, order]}
    assert measured(shuffled).value == pytest.approx(value)


def test_reasons() -> None:
    """A still or turning camera has no parallax; shaky camera centres could hide one."""
    inputs = scene()
    still = scene(dolly=0.0)
    assert reason(lambda: measured(still)) == ("no_parallax", True)
    shaky = {**still, "cameras": still["cameras"].copy()}
    shaky["cameras"][:, :3, 3] += np.random.default_rng(3).normal(0, 0.01, (72, 3))
    assert reason(lambda: measured(shaky)) == ("no_parallax", False)
    assert reason(lambda: measured(inputs, static=np.arange(30) < 11))[0] == "no_object"
    assert reason(lambda: measured({k: v[:7] for k, v in inputs.items()}))[0] == "too_few_frames"
    assert reason(lambda: measured({**inputs, "depths": inputs["depths"] * np.nan}))[0] == "all_nan"
    assert reason(lambda: measured({**inputs, "depths": -inputs["depths"]}))[0] == "zero_depth"
    assert reason(lambda: measured(inputs, intrinsics=np.zeros((3, 3))))[0] == "bad_shape"
    assert reason(lambda: measured({**inputs, "cameras": 0 * inputs["cameras"]}))[0] == "too_few_frames"
