"""Signed distances of simple solids, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from pvbench_suite.feeds.distance import Solid, between, slope, to_plane
from tests.physics.bodies import few

ANGLES = st.floats(-3.0, 3.0)


def solid(shape: str, half: tuple[float, float, float], centre=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)) -> Solid:
    """Return a solid in one frame, turned by a rotation vector [rad]."""
    R = Rotation.from_rotvec(turn).as_matrix()
    return Solid(shape, np.array([centre], dtype=float), np.array(half), R[None])


BOX = (0.5, 0.3, 0.2)
BALL = (0.25, 0.25, 0.25)
QUARTER = np.pi / 4


@pytest.mark.parametrize(
    ("centre", "wanted"),
    [
        ((1.0, 0.0, 0.0), 0.25),  # before a face
        ((0.8, 0.7, 0.0), 0.25),  # beside an edge: 3, 4, 5
        ((0.8, 0.7, 1.4), 1.3 - 0.25),  # beyond a corner: 3, 4, 12, 13
        ((0.45, 0.0, 0.0), -0.05 - 0.25),  # centre inside, 0.05 below the x face and 0.2 below the z faces
    ],
)
def test_a_ball_and_a_box_are_apart_by_the_nearest_face_edge_or_corner(centre, wanted) -> None:
    """Exact outside; inside, the shortest way out is through the nearest face."""
    assert between(solid("sphere", BALL, centre), solid("box", BOX)) == pytest.approx([wanted])


@few
@given(st.tuples(ANGLES, ANGLES, ANGLES), st.tuples(ANGLES, ANGLES, ANGLES))
def test_distances_do_not_depend_on_the_world_nor_on_the_order(turn, shift) -> None:
    """A rigid motion of both bodies, and naming them the other way round, change nothing."""
    R = Rotation.from_rotvec(turn)
    for kind, half in (("sphere", BALL), ("box", (0.4, 0.2, 0.3)), ("cylinder", (0.2, 0.4, 0.2))):
        for place in ((0.9, 0.4, 0.1), (0.3, 0.2, 0.1)):
            a, b = solid(kind, half, place), solid("box", BOX)
            moved = [Solid(s.shape, R.apply(s.centre) + shift, s.half, (R.as_matrix() @ s.R)) for s in (a, b)]
            assert between(*moved) == pytest.approx(between(a, b), abs=1e-9)
            assert between(b, a) == pytest.approx(between(a, b), abs=1e-12)


def test_boxes_face_to_face_and_edge_to_edge_have_their_closed_distances() -> None:
    """Faces, crossed edges, a corner over a face, and depth of overlap."""
    unit = (0.5, 0.5, 0.5)
    still = solid("box", unit)
    assert between(solid("box", unit, (1.3, 0.2, 0.0)), still) == pytest.approx([0.3])
    assert between(solid("box", unit, (0.9, 0.2, 0.0)), still) == pytest.approx([-0.1])
    assert between(solid("box", unit, (1.3, 1.4, 0.0)), still) == pytest.approx([0.5])  # parallel edges, 3-4-5
    assert between(solid("box", unit, (1.2, 1.3, 1.6)), still) == pytest.approx([np.sqrt(0.04 + 0.09 + 0.36)])
    # Two upright edges' worth: boxes turned by 45 deg about x and about y show each other crossed edges along z.
    edge = np.sqrt(0.5)
    crossed = [solid("box", unit, (0, 0, 2 * edge + gap), (QUARTER, 0, 0)) for gap in (0.2, -0.1)]
    other = solid("box", unit, (0, 0, 0), (0, QUARTER, 0))
    assert [float(between(c, other)[0]) for c in crossed] == pytest.approx([0.2, -0.1])
    # A cube on its corner over a face.
    corner = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0].as_rotvec()
    assert between(solid("box", unit, (0, 0, 0.5 + np.sqrt(0.75) + 0.1), corner), still) == pytest.approx([0.1])


def _nearest(a: Solid, b: Solid) -> float:
    """Return the distance of two separate boxes by a bounded minimization over a point in each."""

    def gap(q: np.ndarray) -> float:
        away = a.centre[0] + a.R[0] @ q[:3] - b.centre[0] - b.R[0] @ q[3:]
        return float(away @ away)

    limits = [(-h, h) for h in (*a.half, *b.half)]
    return float(np.sqrt(minimize(gap, np.zeros(6), bounds=limits, tol=1e-14).fun))


def test_separate_boxes_at_random_poses_agree_with_a_search_for_the_nearest_points() -> None:
    """The closed form over features against an optimizer that knows no features."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        a = solid("box", tuple(rng.uniform(0.1, 0.6, 3)), tuple(rng.normal(size=3) * 1.2), tuple(rng.normal(size=3)))
        b = solid("box", tuple(rng.uniform(0.1, 0.6, 3)), (0, 0, 0), tuple(rng.normal(size=3)))
        found, wanted = float(between(a, b)[0]), _nearest(a, b)
        assert max(found, 0.0) == pytest.approx(wanted, abs=2e-5)


def test_overlapping_boxes_part_after_their_depth_and_not_before() -> None:
    """Moved out along any direction by less than the depth they still overlap; some direction parts them at it."""
    rng = np.random.default_rng(8)
    ways = rng.normal(size=(4000, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    for _ in range(5):
        turn, where = tuple(rng.normal(size=3)), rng.normal(size=3) * 0.2
        b = solid("box", (0.4, 0.3, 0.5), turn=tuple(rng.normal(size=3)))
        depth = -float(between(solid("box", BOX, tuple(where), turn), b)[0])
        assert depth > 0

        def moved(share: float, depth=depth, where=where, turn=turn, b=b) -> np.ndarray:
            n = len(ways)
            R = np.broadcast_to(Rotation.from_rotvec(turn).as_matrix(), (n, 3, 3))
            a = Solid("box", where + share * depth * ways, np.array(BOX), R)
            return between(a, Solid("box", np.zeros((n, 3)), b.half, np.broadcast_to(b.R[0], (n, 3, 3))))

        assert (moved(0.99) < 0).all()
        assert (moved(1.05) > 0).any()


def test_cylinders_meet_by_their_mantles_and_by_their_lids() -> None:
    """Upright drums beside and above each other; beyond the rim the distance is that of the two rims."""
    drum = (0.3, 0.5, 0.3)
    still = solid("cylinder", drum)
    assert between(solid("cylinder", drum, (0.8, 0.1, 0.0)), still) == pytest.approx([0.2])
    assert between(solid("cylinder", drum, (0.5, 0.1, 0.0)), still) == pytest.approx([-0.1])
    assert between(solid("cylinder", drum, (0.1, 1.1, 0.0)), still) == pytest.approx([0.1])
    assert between(solid("cylinder", drum, (0.9, 1.4, 0.0)), still) == pytest.approx([0.5])
    assert between(solid("sphere", BALL, (0.6, 0.9, 0.0)), still) == pytest.approx([0.5 - 0.25])
    assert between(solid("sphere", BALL, (0.2, 0.0, 0.0)), still) == pytest.approx([-0.1 - 0.25])
    assert between(solid("cylinder", drum, (0.9, 0.0, 0.0)), solid("box", BOX)) == pytest.approx([0.1])
    assert np.isnan(between(solid("cylinder", drum, (2, 0, 0), (0.0, 0.0, 0.5)), still)).all()
    assert np.isnan(between(solid("cylinder", drum, (2, 0, 0), (0.0, 0.0, 0.5)), solid("box", BOX))).all()


def test_a_tilted_box_reaches_a_plane_with_its_corner_and_a_rolling_drum_with_its_mantle() -> None:
    """A drum on its side is round: whatever its roll, it touches at its radius and not at its box's corner."""
    floor = np.array([0.0, -2.0, 0.0, 0.0])  # not of unit length: height = -y
    for roll in (0.0, 0.3, QUARTER):
        lying = Rotation.from_rotvec([np.pi / 2, 0, 0]) * Rotation.from_rotvec([0, roll, 0])
        drum = solid("cylinder", (0.3, 0.5, 0.3), (0, -0.3, 2), tuple(lying.as_rotvec()))
        assert to_plane(drum, floor) == pytest.approx([0.0], abs=1e-12)
        box = solid("box", BOX, (0, -1.0, 2), (0, 0, roll))
        assert to_plane(box, floor) == pytest.approx([1.0 - 0.5 * np.sin(roll) - 0.3 * np.cos(roll)])
    assert to_plane(solid("sphere", BALL, (0, -0.2, 2), (1, 2, 3)), floor) == pytest.approx([-0.05])


def test_the_slope_is_the_cosine_between_the_shortest_way_and_an_axis() -> None:
    """Before a face the distance follows the axis fully, along it not at all, at an edge by 3/5."""
    box, axis = solid("box", BOX), np.array([[1.0, 0.0, 0.0]])
    assert slope(solid("sphere", BALL, (1.0, 0, 0)), box, axis) == pytest.approx([1.0])
    assert slope(solid("sphere", BALL, (0.0, 0, 1.0)), box, axis) == pytest.approx([0.0], abs=1e-9)
    assert slope(solid("sphere", BALL, (0.8, 0.7, 0.0)), box, axis) == pytest.approx([0.6], abs=1e-3)
