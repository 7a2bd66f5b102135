"""The records are exact: they agree with the closed form and with each other."""

from __future__ import annotations

import numpy as np
import pytest

from pvbench_suite.simulate.film import shoot
from pvbench_suite.simulate.motion import GRAVITY
from pvbench_suite.simulate.truth import PRODUCTS, records
from pvbench_suite.simulate.worlds import WORLDS, build
from tests.simulate.small import filmed, lab


def unproject(uv: np.ndarray, z: np.ndarray, K: np.ndarray, Tcw: np.ndarray) -> np.ndarray:
    """Return world points of image points with depth, for one frame."""
    camera = np.stack([(uv[:, 0] - K[0, 2]) / K[0, 0] * z, (uv[:, 1] - K[1, 2]) / K[1, 1] * z, z], axis=-1)
    return camera @ Tcw[:3, :3].T + Tcw[:3, 3]


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_every_world_has_every_record_and_its_objects_in_sight(name: str) -> None:
    _, film, made = filmed(name)
    assert tuple(made) == PRODUCTS
    bodies, masks = made["bodies"], made["masks"]
    assert bodies.present[0].all(), "the first frame shows every object"
    assert np.median(masks.area(), axis=0).min() > 0.004
    assert film.frames.std() > 10


def test_two_renders_give_the_same_bytes() -> None:
    _, film, first = filmed("bounce", seconds=0.7)
    world = build("bounce", lab(seconds=0.7))
    again = shoot(world)
    assert again.frames.tobytes() == film.frames.tobytes()
    second = records(world, again)
    for product, record in first.items():
        for field in record.array_fields():
            a, b = getattr(record, field), getattr(second[product], field)
            assert (a is None and b is None) or np.asarray(a).tobytes() == np.asarray(b).tobytes(), (product, field)


def test_a_falling_ball_accelerates_by_g_along_down() -> None:
    _, _, made = filmed("high_bounce", seconds=0.5)
    path, down, dt = made["bodies"].centre[:, 0].astype(float), made["contacts"].down, 1 / 12
    acceleration = np.diff(path, n=2, axis=0) / dt**2
    np.testing.assert_allclose(acceleration, np.tile(GRAVITY * down, (len(path) - 2, 1)), atol=2e-3)


def test_the_ball_touches_the_recorded_plane_at_the_recorded_time() -> None:
    world, _, made = filmed("high_bounce", seconds=1.0)
    plane, when = made["contacts"].planes[0], float(made["contacts"].when[0])
    gap = made["bodies"].centre[:, 0] @ plane[:3] + plane[3] - 0.2
    assert gap.min() > -1e-5
    before = made["bodies"].times < when
    rest = gap[0] - 0.5 * GRAVITY * made["bodies"].times[before] ** 2
    np.testing.assert_allclose(gap[before], rest, atol=1e-5)
    assert gap[0] == pytest.approx(0.5 * GRAVITY * when**2, rel=1e-4)
    assert world.airborne[:, 0].all()


def test_momentum_is_kept_in_a_collision_of_unequal_pucks() -> None:
    _, _, made = filmed("unequal_pucks", seconds=1.6)
    times, when, x = made["bodies"].times, float(made["contacts"].when[0]), made["bodies"].centre[..., 0].astype(float)
    speeds = [np.polyfit(times[side], x[side], 1)[0] for side in (times < when, times > when)]
    before, after = (s[0] + 3.0 * s[1] for s in speeds)
    assert after == pytest.approx(before, rel=1e-4)
    assert speeds[1][0] < 0 < speeds[1][1]


@pytest.mark.parametrize("name", ["spin", "roll", "tumble"])
def test_distances_between_tracked_points_of_a_rigid_body_are_kept(name: str) -> None:
    tracks = filmed(name)[2]["tracks"]
    mine = tracks.of(0)
    assert len(mine) == 40
    d = np.linalg.norm(tracks.xyz[:, mine, None] - tracks.xyz[:, None, mine], axis=-1)
    assert np.nanmax(np.nanmax(d, axis=0) - np.nanmin(d, axis=0)) < 1e-4
    assert tracks.visible[:, mine].mean() > 0.4


@pytest.mark.parametrize("name", ["orbit", "approach", "overlap"])
def test_tracks_depth_and_cameras_place_every_point_where_its_record_says(name: str) -> None:
    _, _, made = filmed(name)
    tracks, cameras = made["tracks"], made["cameras"]
    for t in range(len(tracks.times)):
        seen = tracks.visible[t]
        x = unproject(tracks.uv[t, seen], tracks.z[t, seen], cameras.K, cameras.Tcw[t])
        np.testing.assert_allclose(x, tracks.xyz[t, seen], atol=2e-4)


def test_still_points_do_not_move_while_the_camera_does() -> None:
    tracks = filmed("orbit")[2]["tracks"]
    still = tracks.xyz[:, tracks.of(-1)]
    assert np.nanmax(np.nanmax(still, axis=0) - np.nanmin(still, axis=0)) < 1e-4


def test_the_depth_record_is_the_depth_at_the_tracks() -> None:
    """Off edges, the depth of the grid cell is that of the track in it, up to the slope within a cell."""
    _, _, made = filmed("slide")
    tracks, depth = made["tracks"], made["depth"]
    h, w = depth.z.shape[1:]
    off = []
    for t in range(len(tracks.times)):
        seen = np.flatnonzero(tracks.visible[t])
        j = np.clip(((tracks.uv[t, seen, 0] + 0.5) * w / 160).astype(int), 0, w - 1)
        i = np.clip(((tracks.uv[t, seen, 1] + 0.5) * h / 90).astype(int), 0, h - 1)
        off.append(np.abs(depth.z[t, i, j] / tracks.z[t, seen] - 1))
    assert np.median(np.concatenate(off)) < 0.01


@pytest.mark.parametrize("name", ["slide", "roll"])
def test_flow_sends_a_pixel_to_where_the_track_in_it_goes(name: str) -> None:
    _, _, made = filmed(name)
    tracks, flow = made["tracks"], made["flow"]
    h, w = flow.forward.shape[1:3]
    errors = []
    for m, (a, b) in enumerate(zip(flow.frame0, flow.frame1, strict=True)):
        both = np.flatnonzero(tracks.visible[a] & tracks.visible[b] & (tracks.owner == 0))
        x = (tracks.uv[a, both] + 0.5) * w / 160 - 0.5
        j, i = np.clip(np.rint(x), 0, [w - 1, h - 1]).astype(int).T
        moved = (tracks.uv[b, both] - tracks.uv[a, both]) * w / 160
        errors.append(np.abs(flow.forward[m, i, j] - moved).max(axis=1))
    every = np.concatenate(errors)
    assert every.size > 20
    assert np.percentile(every, 80) < 0.5, "within the change of flow over a cell"


def test_flow_of_a_moving_camera_is_that_of_depth_and_poses() -> None:
    _, _, made = filmed("orbit")
    flow, depth, cameras = made["flow"], made["depth"], made["cameras"]
    h, w = depth.z.shape[1:]
    a, b = int(flow.frame0[3]), int(flow.frame1[3])
    u, v = np.meshgrid(np.arange(w), np.arange(h))
    uv = np.stack([u.ravel(), v.ravel()], axis=-1).astype(float)
    x = unproject(uv, depth.z[a].ravel().astype(float), depth.K, cameras.Tcw[a])
    local = (x - cameras.Tcw[b, :3, 3]) @ cameras.Tcw[b, :3, :3]
    there = local @ depth.K.T
    expected = (there[:, :2] / there[:, 2:] - uv).reshape(h, w, 2)
    np.testing.assert_allclose(flow.forward[3], expected, atol=0.02)


def test_normals_of_the_floor_point_up_and_all_face_the_camera() -> None:
    world, film, made = filmed("slide")
    normals, up = made["normals"], -made["contacts"].down
    assert len(normals.times) >= 8
    floor = (film.grid[0].id == -1).reshape(normals.normals.shape[1:3])
    np.testing.assert_allclose(normals.normals[0][floor], np.tile(up, (floor.sum(), 1)), atol=1e-3)
    depth = made["depth"]
    v, u = np.mgrid[: depth.z.shape[1], : depth.z.shape[2]]
    rays = np.stack([u, v, np.ones_like(u)], axis=-1) @ np.linalg.inv(depth.K).T
    assert ((normals.normals[0].astype(float) * rays).sum(axis=-1) < 0).all()
    assert world.twist is None


def test_what_passes_behind_is_hidden_and_comes_back() -> None:
    _, _, made = filmed("hide", seconds=2.0)
    present = made["bodies"].present
    assert present[:, 1].all()
    assert present[0, 0]
    assert present[-1, 0]
    assert 2 < (~present[:, 0]).sum() < 12
    assert np.isnan(made["bodies"].centre[~present[:, 0], 0]).all()


def test_the_nearer_of_two_overlapping_bodies_is_recorded_in_front() -> None:
    ordering = filmed("overlap", seconds=2.0)[2]["ordering"]
    told = ordering.cue[:, 0, 1]
    assert (told == 1).sum() >= 8
    assert (told != -1).all()
    assert (ordering.cue == -np.swapaxes(ordering.cue, 1, 2)).all()
    assert (ordering.depth[told == 1, 0] < ordering.depth[told == 1, 1]).all()


def test_shading_is_that_of_the_light_and_shadows_point_away_from_it() -> None:
    world, _, made = filmed("lamp")
    shading = made["shading"]
    light = world.light @ world.view[0]
    expected = 0.35 + 0.65 * np.maximum((shading.normals * light[:, None]).sum(axis=-1), 0)
    seen = np.isfinite(shading.shading)
    assert seen.mean() > 0.5
    np.testing.assert_allclose(shading.shading[seen], expected[seen], atol=1e-5)
    level = -light + (light @ shading.up)[:, None] * shading.up
    cosine = (
        (level * shading.shadow).sum(axis=1) / np.linalg.norm(level, axis=1) / np.linalg.norm(shading.shadow, axis=1)
    )
    np.testing.assert_allclose(cosine, 1.0, atol=1e-5)


def test_an_interpolated_frame_of_smooth_motion_is_close_to_the_real_one() -> None:
    made = filmed("slide")[2]["interpolation"]
    assert np.nanmedian(made.error / made.outer) < 0.2


def test_nothing_moves_in_a_still_room() -> None:
    _, film, made = filmed("still")
    assert (film.frames == film.frames[0]).all()
    assert not made["flow"].forward.astype(float).any() or np.abs(made["flow"].forward).max() < 1e-3
    assert np.isnan(made["interpolation"].error).all()
