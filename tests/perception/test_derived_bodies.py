"""Bodies made from masks, depth, cameras and tracks, against the truth of filmed worlds, without and with noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pvbench_suite.feeds.distance import Solid, between, to_plane
from pvbench_suite.perception.derived.balls import distance, place
from pvbench_suite.perception.derived.poses import poses
from pvbench_suite.perception.types import Masks
from pvbench_suite.simulate.vectors import rotations
from tests.perception.derived_worlds import FULL, Derived, derived, filmed, provide

BALLS = ("bounce", "projectile", "pendulum", "air_collision", "roll")


def errors(made: Derived, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors of the centre along the ray and across it (T,) [world units]; the camera is at the origin."""
    true = np.asarray(made.truth["bodies"].centre[:, n], dtype=float)
    ray = true / np.linalg.norm(true, axis=1, keepdims=True)
    off = made.bodies.centre[:, n] - true
    along = (off * ray).sum(axis=1)
    return along, np.linalg.norm(off - along[:, None] * ray, axis=1)


def drift(made: Derived, n: int) -> float:
    """Return by how much the pose strays from the true one over the clip, but for a constant turn of its axes [deg]."""
    both = np.einsum("tji,tjk->tik", np.asarray(made.truth["bodies"].R[:, n], dtype=float), made.bodies.R[:, n])
    both = both[np.isfinite(both).all(axis=(1, 2))]
    assert len(both) >= 40
    cosine = (np.einsum("tij,ij->t", both, both[0]) - 1.0) / 2.0
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).max())


@pytest.mark.parametrize("name", BALLS)
def test_a_ball_is_known_to_a_few_millimeters(name: str) -> None:
    """A ball of 40 cm, 13 px wide: place and size to a percent of its width, its shape, and every frame of it."""
    made = derived(name)
    for n, shape in enumerate(made.bodies.shape):
        along, across = errors(made, n)
        assert shape == "sphere"
        assert np.isfinite(along).all()
        assert np.abs(along).max() < 0.01
        assert across.max() < 0.01
        assert made.bodies.diameter[n] == pytest.approx(made.truth["bodies"].diameter[n], rel=0.01)
        assert made.bodies.radius[:, n] == pytest.approx(made.truth["bodies"].radius[:, n], rel=0.03)


@pytest.mark.parametrize("seed", [0, 1])
def test_noise_of_the_depth_stays_along_the_ray(seed: int) -> None:
    """With 1 % of depth error the ball is off by that along its ray, and no more than before across it."""
    for name in ("bounce", "projectile"):
        along, across = errors(derived(name, seed=seed), 0)
        assert 0.005 * 4.5 < along.std() + abs(along.mean()) < 0.03 * 4.5
        assert across.max() < 0.015


def test_present_means_seen_and_a_hidden_ball_is_not() -> None:
    """Behind the pillar it is absent for the frames of the truth, but for those in which a sliver of it shows."""
    made = derived("hide", hw=FULL)
    true, found = made.truth["bodies"].present[:, 0], made.bodies.present[:, 0]
    assert (found | ~true).all()
    assert (found & ~true).sum() <= 4
    assert (~found).sum() >= 3
    assert made.bodies.present[:, 1].all()


def test_half_a_ball_tells_its_centre() -> None:
    """Half behind the pillar, or sunk into the floor by more than its radius, a ball is where its surface says."""
    made = derived("hide", hw=FULL)
    along, across = errors(made, 0)
    assert np.nanmax(np.abs(along)) < 0.02
    assert np.nanmax(across) < 0.02
    sunk = derived("thud", "sink", hw=FULL)
    along, across = errors(sunk, 0)
    world = sunk.world
    deep = world.centre[:, world.objects[0], 1] > -0.1
    assert deep.sum() >= 2
    assert np.nanmax(np.hypot(along, across)[deep & np.isfinite(along)]) < 0.06
    assert np.isfinite(along[deep]).any()


def test_what_the_frame_cuts_is_present_without_a_centre() -> None:
    """A box on its way out of the picture has no centre in the frames that show a part of it, and is still there."""
    made = derived("rolls_out", seconds=1.5)
    mask, box = made.read["masks"], made.bodies
    cut = np.array([mask.dense(t, 0)[:, 0].any() for t in range(len(box.times))])
    assert cut.sum() >= 2
    assert box.present[cut, 0].all()
    blob = provide({**made.read, "tracks": replace(made.read["tracks"], xyz=None)}, "bodies")
    assert np.isnan(blob.centre[cut, 0]).all()
    assert np.isfinite(blob.centre[~cut & blob.present[:, 0], 0]).all()


@pytest.mark.parametrize("seed", [-1, 0])
@pytest.mark.parametrize("name", ["roll", "tumble", "spin", "slide"])
def test_orientation_follows_the_tracked_points_all_the_way_round(name: str, seed: int) -> None:
    """A ball that rolls twice round, and boxes that turn: the pose strays by less than 1 deg (3 with noise)."""
    assert drift(derived(name, seed=seed), 0) < (1.0 if seed < 0 else 3.0)


@pytest.mark.parametrize("seed", [-1, 0])
@pytest.mark.parametrize("name", ["tumble", "spin", "slide"])
def test_a_box_is_known_by_its_faces(name: str, seed: int) -> None:
    """Half extents within 8 % of the longest, whatever their order, and the centre within 5 % of the longest side."""
    made = derived(name, seed=seed, hw=FULL)
    assert made.bodies.shape == ("box",)
    true = made.truth["bodies"]
    assert np.sort(made.bodies.half[0]) == pytest.approx(np.sort(true.half[0]), abs=0.08 * true.half[0].max())
    along, across = errors(made, 0)
    assert np.median(across) < 0.05 * true.diameter[0]
    if seed < 0:
        assert np.abs(np.median(along)) < 0.05 * true.diameter[0]


def test_a_body_of_unknown_shape_is_off_along_the_ray_by_about_the_same_in_every_frame() -> None:
    """Pucks: 'other'; across the ray within 2 cm; along it a bias below a third of the radius that varies by 5 mm.

    The longest line across it that is seen is a diagonal, up to a tenth longer than its width.
    """
    made = derived("pucks", hw=FULL)
    for n in (0, 1):
        along, across = errors(made, n)
        assert made.bodies.shape[n] == "other"
        assert across.max() < 0.02
        assert abs(along.mean()) < 0.22 / 3
        assert along.std() < 0.005
        assert made.bodies.diameter[n] == pytest.approx(0.44, rel=0.10)


@pytest.mark.parametrize(
    ("name", "i", "j"), [("bounce", 0, None), ("air_collision", 0, 1), ("tumble", 0, None), ("slide", 0, None)]
)
def test_signed_distances_are_those_of_the_true_bodies(name: str, i: int, j: int | None) -> None:
    """Ball and floor, ball and ball, box and floor: derived body and plane against true body and plane, in radii."""
    made = derived(name, hw=FULL)
    plane = made.truth["contacts"].planes[0].astype(float)
    pair = []
    for record in (made.bodies, made.truth["bodies"]):
        solids = [_solid(record, k) for k in ([i] if j is None else [i, j])]
        pair.append(to_plane(solids[0], plane) if j is None else between(*solids))
    size = float(made.truth["bodies"].half[i].min())
    off = np.abs(pair[0] - pair[1]) / size
    assert np.nanmedian(off) < 0.05
    assert np.nanpercentile(off, 95) < 0.15


def _solid(record, n: int) -> Solid:
    R = np.asarray(record.R[:, n], dtype=float)
    half = np.asarray(record.half[n], dtype=float)
    return Solid(record.shape[n], np.asarray(record.centre[:, n], dtype=float), half, R)


def test_the_distance_of_a_ball_follows_from_its_outline_and_any_part_of_its_surface() -> None:
    """In closed form: a ball of 0.3 at 5, aside of the axis, seen on a patch; then placed by its radius alone."""
    centre, radius = np.array([1.2, -0.6, 4.8]), 0.3
    rng = np.random.default_rng(4)
    out = rng.normal(size=(4000, 3))
    points = centre + radius * out / np.linalg.norm(out, axis=1, keepdims=True)
    points = points[((points - centre) * points).sum(axis=1) < -0.02]
    far = float(np.linalg.norm(centre))
    omega = 2.0 * np.pi * (1.0 - np.sqrt(1.0 - (radius / far) ** 2))
    patch = points[points[:, 0] < centre[0]]
    found, stray = distance(patch, centre / far, omega)
    assert found == pytest.approx(far, rel=1e-6)
    assert stray < 1e-6
    assert place(patch, radius) == pytest.approx(centre, abs=1e-5)
    assert np.isnan(place(patch[:5], radius)).all()


def test_poses_need_points_that_are_not_on_a_line() -> None:
    """Four points, or any number on a line, tell no orientation; a turn all the way round is put together."""
    R = rotations((0.2, 1.0, 0.1), np.linspace(0.0, 2.0 * np.pi, 60))
    own = np.random.default_rng(2).normal(size=(40, 3))
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    x = np.einsum("tij,pj->tpi", R, own) + np.array([0.0, 0.0, 5.0])
    x = np.where((x[..., 2] < 5.0)[..., None], x, np.nan)
    found = poses(x)
    assert found is not None
    turned, p, points = found
    assert turned == pytest.approx(np.einsum("tij,kj->tik", R, R[0]), abs=1e-6)
    # The object's own origin is no point of note; each of its points is where it was seen.
    again = np.einsum("tij,pj->tpi", turned, points) + p[:, None]
    assert np.nanmax(np.abs(again - x)) < 1e-5
    assert poses(x[:, :4]) is None
    line = np.linspace(0, 1, 20)[None, :, None] * np.ones((10, 1, 3))
    only = poses(line)
    assert only is not None
    assert np.isfinite(only[1][:, 0]).sum() == 1


def test_a_clip_without_objects_or_with_one_never_seen_gives_a_whole_record() -> None:
    """No object: empty arrays; an object that no mask shows: absent, without size and pose."""
    _, truth = filmed("roll", "", 1.0, (90, 160), 1.0)
    masks = truth["masks"]
    T, (h, w) = len(masks.times), masks.grid
    empty = Masks.from_dense(masks.times, np.zeros((T, 0, h, w), bool), (), masks.hw)
    tracks = replace(truth["tracks"], names=(), owner=np.full(len(truth["tracks"].owner), -1))
    none = provide({**truth, "masks": empty, "tracks": tracks}, "bodies")
    assert none.centre.shape == (T, 0, 3)
    assert provide({**truth, "masks": empty}, "contacts", bodies=none).airborne.shape == (T, 0)
    ghost = Masks.from_dense(masks.times, np.zeros((T, 1, h, w), bool), ("ball",), masks.hw)
    unseen = provide({**truth, "masks": ghost}, "bodies")
    assert not unseen.present.any()
    assert np.isnan(unseen.centre).all()
    assert np.isnan(unseen.diameter).all()
    found = provide({**truth, "masks": ghost}, "contacts", bodies=unseen)
    assert len(found.when) == 0
    assert not found.airborne.any()
