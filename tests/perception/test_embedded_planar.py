"""The embedded profile's planar bodies, contacts, states and tracks against the truth of rendered worlds."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from pvbench_suite.perception.embedded import PROFILE
from pvbench_suite.perception.embedded.flight import airborne
from pvbench_suite.perception.embedded.kinks import kinks
from pvbench_suite.perception.embedded.obstacles import passive
from pvbench_suite.perception.embedded.states import object_states
from pvbench_suite.perception.types import Bodies
from pvbench_suite.simulate import truth
from pvbench_suite.simulate.demo import SCENES, lab_of
from pvbench_suite.simulate.film import shoot
from pvbench_suite.simulate.worlds import build
from pvbench_suite.video.types import Clip


@cache
def perceived(group: str, lawful: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the profile sees of a demo clip (before compression), and the truth."""
    lab = lab_of(group, "t2v", lawful)
    world = build(SCENES[group].world, lab)
    film = shoot(world)
    clip = Clip(film.frames, world.times, world.hw)
    seen: dict[str, Any] = {}
    for product in ("masks", "bodies", "contacts"):
        seen[product] = PROFILE.providers[product](clip, seen)
    seen["clip"] = clip
    return seen, dict(truth.records(world, film))


def main_object(bodies: Bodies) -> int:
    """Return the object that is seen longest, the largest of equals."""
    return max(range(len(bodies.names)), key=lambda n: (int(bodies.present[:, n].sum()), float(bodies.diameter[n])))


VANISH = next(g for g, s in SCENES.items() if s.violation == "vanish")
KICK = next(g for g, s in SCENES.items() if s.violation == "kick")
#: A ball that falls and bounces.
FALL = "d001"


def test_centres_are_those_of_the_truth() -> None:
    """The median error of the centre is below one pixel, and the size within a tenth."""
    seen, true = perceived(FALL, True)
    n = main_object(seen["bodies"])
    mine, real = seen["bodies"].uv[:, n], true["bodies"].uv[:, 0]
    error = np.linalg.norm(mine - real, axis=-1)
    assert np.nanmedian(error) < 1.0
    assert np.isfinite(error).mean() > 0.8
    assert seen["bodies"].diameter[n] == pytest.approx(2 * np.median(true["bodies"].radius[:, 0]), rel=0.1)


def test_bounces_are_found_in_time_and_flight_lies_between_them() -> None:
    """Every bounce with flight on both sides is found within a frame and a half; nothing on the ground flies."""
    seen, true = perceived(FALL, True)
    n = main_object(seen["bodies"])
    found = seen["contacts"].of(n)
    last = true["contacts"].times[-1]
    real = [w for w in true["contacts"].when if 0.25 < w < last - 0.25]
    apart = [w for k, w in enumerate(real) if all(abs(w - other) > 0.45 for j, other in enumerate(real) if j != k)]
    assert apart, "the world has bounces far enough apart"
    assert all(np.abs(found - when).min() < 1.6 / 24 for when in apart)
    flying = seen["contacts"].airborne[:, n]
    assert (flying & ~true["contacts"].airborne[:, 0]).mean() <= 0.1
    assert flying.mean() > 0.5


def test_a_vanished_object_is_unexplained_and_a_hidden_one_is_not() -> None:
    """Gone in the open counts, gone behind a post does not."""
    seen, _ = perceived(VANISH, False)
    n = main_object(seen["bodies"])
    state = object_states(seen["bodies"], seen["masks"])[:, n]
    assert 0.3 < (state == 3).mean() < 0.5
    seen, _ = perceived(VANISH, True)
    states = object_states(seen["bodies"], seen["masks"])
    assert (states[:, main_object(seen["bodies"])] == 3).sum() == 0


def test_a_kick_in_the_open_is_no_contact() -> None:
    """A velocity that grows without anything near cannot come from a surface at rest."""
    seen, _ = perceived(KICK, False)
    n = main_object(seen["bodies"])
    assert len(seen["contacts"].of(n)) == 0


def test_a_parabola_has_no_kink_and_a_bounce_has_one() -> None:
    """The bend of a fall is no contact."""
    t = np.arange(48) / 24.0
    fall = np.stack([40 * t, 300 * t * t], axis=-1)
    assert kinks(t, fall, 20.0) == []
    fold = np.where(t < 1.0, 300 * t * t, 300 - 480 * (t - 1) + 300 * (t - 1) ** 2)
    (kink,) = kinks(t, np.stack([40 * t, fold], axis=-1), 20.0)
    assert kink.when == pytest.approx(1.0, abs=0.03)
    assert passive(kink)


@pytest.mark.parametrize("path", ["level", "slope", "rising", "swing", "rest"])
def test_what_is_carried_is_not_airborne(path: str) -> None:
    """Rolling, sliding down a slope, being lifted, swinging and resting are no free flight."""
    t = np.arange(48) / 24.0
    x, y = {
        "level": (120 * t, 0 * t),
        "slope": (60 * t * t, 40 * t * t),
        "rising": (10 * t, -60 * t * t),
        "swing": (120 * np.sin(3 * t), 120 * np.cos(3 * t)),
        "rest": (0 * t, 0 * t),
    }[path]
    uv = np.stack([x, y], axis=-1)[:, None]
    ones, yes = np.ones((48, 1)), np.ones((48, 1), dtype=bool)
    centre = np.concatenate([uv, 0 * uv[..., :1]], axis=-1)
    bodies = Bodies(
        t, centre, uv, 10 * ones, np.nan * ones, yes, np.array([20.0]), ("a",), ("other",), (480, 640), planar=True
    )
    assert not airborne(bodies, 0, []).any()


def test_tracks_of_the_background_stand_still_and_those_of_the_ball_go_with_it() -> None:
    """Points are owned by what they lie on."""
    seen, _ = perceived(KICK, True)
    tracks = PROFILE.providers["tracks"](seen["clip"], seen)
    still = tracks.uv[:, tracks.of(-1)]
    assert np.nanmedian(np.nanmax(np.linalg.norm(still - np.nanmedian(still, axis=0), axis=-1), axis=0)) < 0.5
    ball = main_object(seen["bodies"])
    mine = tracks.of(ball)
    assert len(mine) >= 5
    offset = np.linalg.norm(tracks.uv[:, mine] - seen["bodies"].uv[:, ball][:, None], axis=-1)
    assert np.nanmedian(offset) < seen["bodies"].diameter[ball]


def test_the_same_clip_gives_the_same_records() -> None:
    """Nothing is drawn by lot."""
    seen, _ = perceived(FALL, True)
    bodies = PROFILE.providers["bodies"](seen["clip"], seen)
    again = PROFILE.providers["contacts"](seen["clip"], {"bodies": bodies, "masks": seen["masks"]})
    np.testing.assert_array_equal(again.airborne, seen["contacts"].airborne)
    np.testing.assert_array_equal(again.when, seen["contacts"].when)
