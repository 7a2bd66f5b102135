"""Orientation, symmetry, and the image direction of gravity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pvbench_suite.errors import NotPerceived
from pvbench_suite.feeds import bodies as feed
from pvbench_suite.perception.types import Cameras
from pvbench_suite.physics.rotation_continuity import rotation_continuity
from tests.feeds.made import HW, NOTHING, K, bodies, brief, clock, contacts, filmed, still_camera

T = clock(3.0)
AWAY = np.broadcast_to([0.0, 0.0, 5.0], (len(T), 3)).copy()


def spinning(*flips: tuple[int, int, float]) -> np.ndarray:
    """Return orientations (T, 1, 3, 3) of a steady tumble; each flip (from, to, deg) turns about the object's own y."""
    R = Rotation.from_rotvec(np.outer(0.9 * T, [0.3, 0.8, 0.5]))
    own = np.zeros((len(T), 3))
    for start, stop, angle in flips:
        own[start:stop, 1] = np.radians(angle)
    return (R * Rotation.from_rotvec(own)).as_matrix()[:, None]


def jump(R: np.ndarray, said, name: str = "ball_0") -> float:
    """Return R20 of the only body."""
    made = bodies(T, [AWAY], "box", R=R, half=np.full((1, 3), 0.2))
    return rotation_continuity(T, feed.rotations(made, 0), [], said.symmetry(name)).value


def test_a_two_fold_box_may_flip_by_half_a_turn_and_no_other_body_may() -> None:
    """180 deg about its own y for half a second: 0 with the symmetry that the prompt states, a jump without."""
    flipped = spinning((30, 42, 180.0))
    assert jump(flipped, brief({"name": "ball_0", "symmetry": "2-fold"})) == pytest.approx(0.0, abs=0.5)
    assert jump(flipped, brief({"name": "ball_0", "symmetry": "none"})) > 150.0
    assert jump(flipped, NOTHING) > 150.0


def test_an_n_fold_body_may_turn_by_an_nth_and_by_nothing_else() -> None:
    """A 4-fold cube that jumps by 90 deg reads 0; by 45 deg it reads 45; a 3-fold one that jumps by 90 reads 30."""
    four, three = (brief({"name": "ball_0", "symmetry": f"{n}-fold"}) for n in (4, 3))
    assert jump(spinning((30, 72, 90.0)), four) == pytest.approx(0.0, abs=0.5)
    assert jump(spinning((30, 72, 45.0)), four) == pytest.approx(45.0, abs=1.0)
    assert jump(spinning((30, 72, 90.0)), three) == pytest.approx(30.0, abs=1.0)


@pytest.mark.parametrize("n", [2, 3, 4, 12])
def test_the_group_is_a_group_about_the_own_y_axis(n: int) -> None:
    """N rotations with the identity, closed, and y stays in place."""
    group = brief({"name": "a", "symmetry": f"{n}-fold"}).symmetry("a")
    assert group.shape == (n, 3, 3)
    assert group[0] == pytest.approx(np.eye(3))
    assert group @ [0, 1, 0] == pytest.approx(np.tile([0.0, 1.0, 0.0], (n, 1)))
    products = (group[:, None] @ group[None]).reshape(-1, 1, 3, 3)
    assert np.abs(products - group).max(axis=(2, 3)).min(axis=1) == pytest.approx(np.zeros(n * n), abs=1e-9)


def test_what_has_no_orientation_to_follow_is_left_out() -> None:
    """An axis, a sphere, and an n-fold symmetry whose n is not said; soft bodies too; unknown names stay."""
    said = [{"name": f"ball_{k}", "symmetry": s} for k, s in enumerate(["axis", "sphere", "n-fold", "2-fold", "none"])]
    said.append({"name": "ball_5", "body": "soft"})
    made = bodies(T, [AWAY] * 7, "box", R=np.broadcast_to(np.eye(3), (len(T), 7, 3, 3)))
    assert feed.with_pose(made, brief(*said)) == [3, 4, 6]
    assert brief(*said).symmetry("ball_2") is None
    with pytest.raises(NotPerceived):
        feed.with_pose(bodies(T, [AWAY]), NOTHING)


def test_unseen_frames_have_no_orientation_and_the_turn_is_the_largest_from_the_first() -> None:
    """A steady turn of 0.9 rad/s for 3 s about a unit axis."""
    axis = np.array([0.3, 0.8, 0.5]) / np.linalg.norm([0.3, 0.8, 0.5])
    R = Rotation.from_rotvec(np.outer(0.9 * T, axis)).as_matrix()[:, None]
    unseen = AWAY.copy()
    unseen[10:20] = np.nan
    made = bodies(T, [unseen], R=R)
    assert (np.isnan(feed.rotations(made, 0)).all(axis=(1, 2)) == ~made.present[:, 0]).all()
    assert feed.turn(made, 0) == pytest.approx(np.degrees(0.9 * T[-1]))
    assert feed.turn(bodies(T, [AWAY]), 0) is None


@pytest.mark.parametrize("roll", [0.0, 30.0, 90.0, 180.0])
def test_gravity_in_the_picture_follows_the_roll_of_the_camera(roll: float) -> None:
    """A camera rolled by an angle about its own axis sees down turned the other way."""
    Tcw = np.tile(np.eye(4), (len(T), 1, 1))
    Tcw[:, :3, :3] = Rotation.from_rotvec([0, 0, np.radians(roll)]).as_matrix()
    found = feed.image_down(contacts(T, 1), Cameras(T, K, Tcw, HW))
    assert found == pytest.approx([np.sin(np.radians(roll)), np.cos(np.radians(roll))], abs=1e-12)


def test_gravity_in_the_picture_is_down_where_it_is_not_known() -> None:
    """Without gravity or cameras, and for a camera that looks straight down."""
    assert feed.image_down(contacts(T, 1, down=None), still_camera(T)).tolist() == [0.0, 1.0]
    assert feed.image_down(contacts(T, 1), None).tolist() == [0.0, 1.0]
    over = contacts(T, 1, down=np.array([0.0, 0.0, 1.0]))
    assert feed.image_down(over, still_camera(T)).tolist() == [0.0, 1.0]
    tilted = contacts(T, 1, down=np.array([0.0, np.cos(0.5), np.sin(0.5)]))
    assert feed.image_down(tilted, still_camera(T)) == pytest.approx([0.0, 1.0])


def test_filmed_boxes_turn_steadily_and_a_jump_is_seen() -> None:
    """The turntable: 0 and the 110 deg of the violation."""
    for violation, low, high in (("", 0.0, 0.5), ("rotation", 100.0, 120.0)):
        _, _, made = filmed("spin", violation)
        (n,) = feed.with_pose(made["bodies"], NOTHING)
        found = rotation_continuity(made["bodies"].times, feed.rotations(made["bodies"], n), made["contacts"].of(n))
        assert low <= found.value <= high


def test_poses_that_regularise_depth_are_level_and_keep_the_camera_where_it_is() -> None:
    """The forward axis becomes horizontal, y gravity; a camera that looks straight down stays as it is."""
    turn = Rotation.from_rotvec([np.radians(-40.0), 0, 0]) * Rotation.from_rotvec([0, 0.3, 0.1])
    Tcw = np.tile(np.eye(4), (len(T), 1, 1))
    Tcw[:, :3, :3], Tcw[:, :3, 3] = turn.as_matrix(), [1.0, 2.0, 3.0]
    camera, made = Cameras(T, K, Tcw, HW), bodies(T, [AWAY])
    level = feed.level_poses(made, contacts(T, 1), camera)
    assert level[:, :3, 3] == pytest.approx(Tcw[:, :3, 3])
    assert level[0, :3, 1] == pytest.approx([0.0, 1.0, 0.0])
    assert level[0, 1, 2] == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.det(level[0, :3, :3]) == pytest.approx(1.0)
    assert level[0, :3, 2] @ Tcw[0, :3, 2] > 0.7
    above = contacts(T, 1, down=Tcw[0, :3, 2])
    assert feed.level_poses(made, above, camera) == pytest.approx(Tcw)
    assert feed.level_poses(replace(made, planar=True), contacts(T, 1), camera) is None
