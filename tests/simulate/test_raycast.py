"""The ray caster agrees with geometry worked out another way."""

from __future__ import annotations

import numpy as np
import pytest

from pvbench_suite.simulate.lab import Lab
from pvbench_suite.simulate.raycast import View, carry, in_shadow, project
from pvbench_suite.simulate.scene import Actor, World
from pvbench_suite.simulate.shade import normals
from pvbench_suite.simulate.vectors import looking, rotations, split, stacked
from tests.simulate.small import SMALL


def world(*actors: Actor, eye: tuple[float, float, float] = (0.0, -1.0, -4.0)) -> World:
    """Return two frames of a world seen straight ahead."""
    lab = Lab(0, seconds=1.0, fps=2, hw=SMALL)
    eye_ = np.array(eye)
    return lab.world(actors, eye=eye_, view=looking(eye_, eye_ + np.array([0.0, 0.0, 1.0])))


def ball(radius: float = 0.4) -> Actor:
    return Actor(Lab(0).ball("ball", radius, "red"), (0.1, -1.1, 0.0))


def rays(w: World) -> np.ndarray:
    """Return the directions (H, W, 3) of a level camera's pixels."""
    H, W = w.hw
    u, v = np.meshgrid(np.arange(W), np.arange(H))
    cx, cy = w.center_px
    return np.stack([(u - cx) / w.focal, (v - cy) / w.focal, np.ones_like(u)], axis=-1)


def test_the_mask_of_a_sphere_is_the_set_of_rays_that_pass_within_its_radius() -> None:
    w = world(ball())
    hits = View.regular(w, *w.hw).hits(w.state(0))
    d, to = rays(w), w.centre[0, 0] - w.eye[0]
    nearest = np.linalg.norm(np.cross(d, to), axis=-1) / np.linalg.norm(d, axis=-1)
    np.testing.assert_array_equal(hits.id.reshape(w.hw) == 0, nearest < 0.4)


def test_depth_toward_the_centre_of_a_sphere_is_its_distance_less_its_radius() -> None:
    w = world(ball())
    state = w.state(0)
    u, v, z = project(w, state, split(w.centre[:1, 0]))
    hits = View(w, u, v).hits(state)
    distance = np.linalg.norm(w.centre[0, 0] - w.eye[0])
    assert hits.t[0] == pytest.approx(z[0] * (distance - 0.4) / distance, rel=1e-6)


def test_every_hit_lies_on_its_surface_and_projects_to_its_pixel() -> None:
    drum = Actor(Lab(0).drum("drum", 0.3, 0.5, "red"), (-0.9, -1.0, 0.2), rotations((1, 1, 0), 0.7))
    box = Actor(Lab(0).block("box", (0.5, 0.3, 0.2), "red"), (0.9, -1.0, 0.4), rotations((1, 2, 3), 1.1))
    w = world(ball(), drum, box)
    state, view = w.state(0), View.regular(w, *w.hw)
    hits = view.hits(state)
    assert set(range(3)) <= set(hits.id.tolist())
    for k in np.unique(hits.id).tolist():
        index = np.flatnonzero(hits.id == k)
        q = (hits.q[0][index], hits.q[1][index], hits.q[2][index])
        u, v, z = project(w, state, carry(w, state, k, q))
        np.testing.assert_allclose(u, view.u[index], atol=1e-3)
        np.testing.assert_allclose(v, view.v[index], atol=1e-3)
        np.testing.assert_allclose(z, hits.t[index], rtol=1e-5)
        if k >= 0:
            size = np.abs(stacked(q))
            inside = np.linalg.norm(size[:, [0, 2]], axis=1) if w.bodies[k].kind == "cylinder" else size.max(axis=1)
            radius = np.linalg.norm(size, axis=1) if w.bodies[k].kind == "ellipsoid" else np.maximum(inside, size[:, 1])
            np.testing.assert_allclose(radius, 1.0, atol=1e-9)


def test_normals_are_unit_vectors_that_face_the_camera() -> None:
    box = Actor(Lab(0).block("box", (0.5, 0.3, 0.2), "red"), (0.9, -1.0, 0.4), rotations((1, 2, 3), 1.1))
    egg = Actor(ball().body, (-0.5, -1.0, 0.0), half=(0.2, 0.5, 0.3))
    w = world(box, egg)
    state, view = w.state(0), View.regular(w, *w.hw)
    hits, d = view.hits(state), stacked(view.directions(state))
    for k in np.unique(hits.id).tolist():
        index = np.flatnonzero(hits.id == k)
        n = stacked(normals(w, state, k, (hits.q[0][index], hits.q[1][index], hits.q[2][index])))
        np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0, atol=1e-5)
        assert ((n * d[index]).sum(axis=1) < 1e-6).all()


def test_a_bounding_box_on_a_grid_and_on_loose_rays_gives_the_same_hits() -> None:
    w = world(ball())
    grid = View.regular(w, *w.hw)
    a, b = grid.hits(w.state(0)), View(w, grid.u, grid.v).hits(w.state(0))
    assert a.t.tobytes() == b.t.tobytes()
    assert a.id.tobytes() == b.id.tobytes()


def test_the_shadow_of_a_sphere_is_a_cylinder_along_the_light() -> None:
    w = world(ball(), eye=(0.0, -1.0, -4.0))
    state = w.state(0)
    points = np.random.default_rng(0).uniform([-2, -2, -2], [2, 0, 2], (4000, 3))
    dark = in_shadow(w, state, split(points), [0])
    away, light = w.centre[0, 0] - points, state.shadow_light
    along = away @ light
    aside = np.linalg.norm(away - along[:, None] * light, axis=1)
    outside = np.linalg.norm(away, axis=1) > 0.4
    np.testing.assert_array_equal(dark[outside], ((aside < 0.4) & (along > 0))[outside])


def test_a_farther_body_is_drawn_over_a_nearer_one_only_where_the_world_says_so() -> None:
    from dataclasses import replace

    near, far = ball(), Actor(Lab(0).block("box", (0.8, 0.8, 0.2), "blue"), (0.1, -1.1, 1.0))
    w = world(near, far)
    odd = replace(w, over=((1, 0),), swapped=np.array([False, True]))
    lawful, wrong = (View.regular(odd, *w.hw).hits(odd.state(t)) for t in (0, 1))
    assert (lawful.id == 0).sum() > 100
    assert (wrong.id == 0).sum() == 0
    assert (wrong.t[wrong.id == 1] > 4.0).all()
