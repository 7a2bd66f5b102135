"""Object states and image motion on filmed worlds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pvbench_suite.feeds.bodies import motion, motion_error, path, rays, states
from pvbench_suite.physics.permanence import HIDDEN, NEVER_FOUND, OUT, SEEN, UNEXPLAINED, unexplained_absence
from tests.feeds.made import FPS, filmed


def of(made):
    """Return the states of a filmed world."""
    return states(made["bodies"], made["masks"], made["depth"])


def test_a_ball_behind_a_pillar_is_hidden_and_nothing_else() -> None:
    """Hidden exactly while the record does not see it, seen before and after."""
    _, film, made = filmed("hide")
    ball = of(made)[:, 0]
    seen = made["bodies"].present[:, 0]
    assert 3 <= (~seen).sum() < len(seen) - 10
    assert (ball[seen] == SEEN).all()
    assert (ball[~seen] == HIDDEN).all()
    assert (film.seen[~seen, 0] < film.cover[~seen, 0]).all()
    assert unexplained_absence(of(made), 1 / FPS, motion(made["bodies"])).value == 0.0


def test_a_ball_that_vanishes_in_the_open_is_unexplained_from_then_on() -> None:
    """The share of frames of R15 is the share of the clip in which the world does not show it."""
    world, _, made = filmed("roll", "vanish")
    gone = ~world.shown[:, world.objects[0]]
    assert ((of(made)[:, 0] == UNEXPLAINED) == gone).all()
    assert unexplained_absence(of(made), 1 / FPS, motion(made["bodies"])).value == pytest.approx(gone.mean())


def test_a_ball_that_rolls_out_of_the_picture_is_out() -> None:
    """From the frame in which more than half of it lies outside; none of its absence is unexplained."""
    _, _, made = filmed("roll", seconds=5.5)
    ball = of(made)[:, 0]
    assert OUT in ball
    assert UNEXPLAINED not in ball


def test_a_lost_identity_is_an_absence_and_a_body_never_found_has_no_state() -> None:
    """Present means seen with its identity kept: the pixels alone do not explain it."""
    _, _, made = filmed("roll")
    present = made["bodies"].present.copy()
    present[20:40, 0] = False
    other = {**made, "bodies": replace(made["bodies"], present=present)}
    assert (of(other)[20:40, 0] == UNEXPLAINED).all()
    assert np.isnan(path(other["bodies"], 0)[20:40]).all()
    none = np.zeros_like(present)
    two = np.concatenate([present, none], axis=1)
    b = made["bodies"]
    doubled = {k: np.concatenate([getattr(b, k)] * 2, axis=1) for k in ("centre", "uv", "radius", "z")}
    bodies = replace(
        b, **doubled, present=two, diameter=np.tile(b.diameter, 2), names=("ball", "ghost"), shape=("sphere",) * 2,
        R=None, half=None,
    )  # fmt: skip
    assert (states(bodies, made["masks"], made["depth"])[:, 1] == NEVER_FOUND).all()


def test_rays_point_from_the_camera_to_the_object() -> None:
    """Unit, along centre less camera; none without cameras."""
    _, _, made = filmed("roll")
    line = rays(made["bodies"], made["cameras"], 0)
    assert line is not None
    assert np.linalg.norm(line, axis=1) == pytest.approx(np.ones(len(line)))
    assert np.cross(line, path(made["bodies"], 0) - made["cameras"].centres) == pytest.approx(0.0, abs=1e-5)
    assert rays(made["bodies"], None, 0) is None


def test_motion_is_that_of_the_fastest_object_and_of_the_background() -> None:
    """A ball that rolls moves, a still room does not, and a camera that follows an object moves the background."""
    _, _, made = filmed("roll")
    uv = np.asarray(made["bodies"].uv[:, 0], dtype=float)
    away = 100 * np.linalg.norm(uv[-1] - uv[0]) / np.hypot(*made["bodies"].hw)
    # 5-95 % of the way, of medians that lag at both ends.
    assert 0.8 * away < motion(made["bodies"], made["tracks"]) < away
    _, _, still = filmed("still")
    assert motion(still["bodies"], still["tracks"]) == 0.0
    assert motion_error(still["bodies"], still["tracks"]) < 0.1
    _, _, panned = filmed("dolly")
    followed = replace(panned["bodies"], uv=np.full_like(panned["bodies"].uv, 40.0))
    assert motion(followed) == 0.0
    assert motion(followed, panned["tracks"]) > 2.0


def test_noise_that_hides_motion_is_told_as_its_error() -> None:
    """A still ball with 3 px of jitter on 160 columns does not move, and nobody knows that it does not."""
    _, _, still = filmed("still")
    uv = still["bodies"].uv + np.random.default_rng(1).normal(size=still["bodies"].uv.shape) * 3
    shaken = replace(still["bodies"], uv=uv)
    assert motion(shaken) == 0.0
    assert 3.0 * motion_error(shaken) > 1.0


def test_states_under_a_camera_that_moves() -> None:
    """The world of the orbit keeps both exhibits in view: every state is seen."""
    _, _, made = filmed("orbit")
    assert (of(made) == SEEN).all()
