"""Contacts and free flight of the embedded profile: against analytic paths, and against drawn worlds."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pvbench_suite.perception.embedded.flight import airborne
from pvbench_suite.perception.embedded.kinks import kinks
from pvbench_suite.perception.embedded.obstacles import collided, floored, outlined, passive
from pvbench_suite.perception.types import Bodies, Contacts
from tests.perception.test_embedded_worlds import BLUE, ORANGE, YELLOW, Disc, World, film, owners, perceive, texture

#: Gravity of the drawn worlds [px/s^2], where their floor carries a disc of 12 px, and how much a bounce gives back.
G, FLOOR, BACK = 420.0, 188.0, 0.8


def bounces(start: float, until: float) -> tuple[np.ndarray, list[tuple[float, float, float]]]:
    """Return the contact times of a fall from `start` px over contact, and (time, height, speed) of each flight."""
    flights, t, v = [(0.0, start, 0.0)], 0.0, 0.0
    t, v = float(np.sqrt(2 * start / G)), float(np.sqrt(2 * start * G))
    times = []
    while t < until:
        times.append(t)
        v *= BACK
        flights.append((t, 0.0, v))
        t += 2 * v / G
    return np.array(times), flights


def height(now: float, flights: list[tuple[float, float, float]]) -> float:
    """Return the height over contact [px] at the time `now`."""
    since, h, v = next(f for f in reversed(flights) if f[0] <= now)
    return h + v * (now - since) - 0.5 * G * (now - since) ** 2


@settings(deadline=None, max_examples=25)
@given(st.sampled_from([24.0, 30.0, 60.0]), st.floats(60.0, 120.0), st.floats(-60.0, 60.0), st.floats(0.0, 1.0))
def test_every_bounce_of_a_path_is_a_kink_within_half_a_frame(fps: float, start: float, level: float, late: float):
    """Recall, timing and false alarms on noiseless paths of any phase."""
    when, flights = bounces(start, 2.5)
    t = np.arange(round(2.5 * fps)) / fps
    y = np.array([FLOOR - height(now + late / fps, flights) for now in t])
    found = kinks(t, np.stack([160 + level * t, y], axis=-1), 24.0)
    real = [w - late / fps for w in when if 0.25 < w - late / fps < t[-1] - 0.25]
    assert len([k for k in found if 0.25 < k.when < t[-1] - 0.25]) == len(real)
    assert all(min(abs(k.when - w) for k in found) < 0.5 / fps for w in real)
    assert all(passive(k) and floored(k) for k in found)


def test_two_kinks_a_fifth_of_a_second_apart_are_two() -> None:
    """A collision in the air, and the floor five frames later."""
    t = np.arange(48) / 24.0
    x = np.where(t < 0.8, 100 * t, 160 - 100 * t)
    y = np.where(t < 1.01, 250 * t * t, 250 * 1.01**2 - 450 * (t - 1.01) + 250 * (t - 1.01) ** 2)
    found = kinks(t, np.stack([x, y], axis=-1), 20.0)
    np.testing.assert_allclose([k.when for k in found], [0.8, 1.01], atol=0.5 / 24)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000))
def test_noise_and_swings_have_no_kinks(seed: int) -> None:
    """A pendulum, a swerve and half a pixel of noise are smooth."""
    t, rng = np.arange(60) / 24.0, np.random.default_rng(seed)
    swing = np.stack([60 * np.sin(4 * t), 200 - 25 * np.sin(4 * t) ** 2], axis=-1)
    assert kinks(t, swing + rng.normal(0, 0.5, swing.shape), 24.0) == []


def test_a_velocity_that_turns_back_needs_something_that_turns_it() -> None:
    """An outline across the push is an obstacle; bare ground, an outline along the push, and a blotch are none."""
    rng_ground = texture((100, 100), (150, 140, 140), 4.0, 3.0, 5).astype(np.float32)
    wall, along = rng_ground.copy(), rng_ground.copy()
    wall[:, 60:] -= 40.0
    along[60:] -= 40.0
    left = np.array([-1.0, 0.0])
    assert outlined(wall, np.array([60.0, 50.0]), left, 12.0)
    assert not outlined(rng_ground, np.array([60.0, 50.0]), left, 12.0)
    assert not outlined(along, np.array([60.0, 50.0]), left, 12.0)


def pair(gap: float) -> Bodies:
    """Return two discs of 10 px; the first moves right towards the second, which rests `gap` px further."""
    t = np.arange(24) / 24.0
    x = np.minimum(50 + 80 * t, 90.0)
    centre = np.stack(
        [np.stack([x, 0 * t + 60, 0 * t], -1), np.stack([0 * t + 110 + gap, 0 * t + 60, 0 * t], -1)], axis=1
    )
    two, yes = np.ones((24, 2)), np.ones((24, 2), dtype=bool)
    return Bodies(
        t, centre, centre[..., :2], 10 * two, np.nan * two, yes, np.array([20.0, 20.0]), ("a", "b"), ("other",) * 2,
        (120, 160), planar=True,
    )  # fmt: skip


def test_a_partner_pushes_away_from_itself_and_no_harder_than_it_closed_in() -> None:
    """A shadow that goes along closes in on nothing; a body cannot pull, nor give back more than it got."""
    bodies = pair(0.0)
    (kink,) = kinks(bodies.times, bodies.centre[:, 0, :2], 20.0)
    assert collided(bodies, 0, 1, kink)
    bodies.centre[:, 1, 0] = bodies.centre[:, 0, 0] + 20.0
    assert not collided(bodies, 0, 1, kink), "it went along"
    bodies.centre[:, 1, 0] = bodies.centre[:, 0, 0].min() - 20.0
    assert not collided(bodies, 0, 1, kink), "it was behind"


def thing(x: np.ndarray, y: np.ndarray, t: np.ndarray) -> Bodies:
    """Return the record of one disc of 10 px on a path."""
    centre = np.stack([x, y, 0 * x], axis=-1)[:, None]
    ones, yes = np.ones((len(t), 1)), np.ones((len(t), 1), dtype=bool)
    return Bodies(
        t, centre, centre[..., :2], 10 * ones, np.nan * ones, yes, np.array([20.0]), ("a",), ("other",), (480, 640),
        planar=True,
    )  # fmt: skip


@settings(deadline=None, max_examples=40)
@given(st.floats(20.0, 60.0), st.floats(-300.0, 300.0), st.booleans())
def test_no_slide_down_a_slope_is_flight(angle: float, speed: float, rolls: bool) -> None:
    """At any speed down or up a slope of 20 to 60 deg, sliding or rolling."""
    t = np.arange(30) / 24.0
    a = 500.0 * np.sin(np.radians(angle)) * (2 / 3 if rolls else 1.0)
    way = speed * t + 0.5 * a * t * t
    x, y = 300 + way * np.cos(np.radians(angle)), 200 + way * np.sin(np.radians(angle))
    assert not airborne(thing(x, y, t), 0, []).any()


@settings(deadline=None, max_examples=40)
@given(st.floats(-200.0, 200.0), st.floats(-250.0, 100.0))
def test_every_throw_is_flight_all_the_way(level: float, up: float) -> None:
    """Whatever its direction, a free fall of 1.2 s is airborne from end to end."""
    t = np.arange(30) / 24.0
    assert airborne(thing(300 + level * t, 250 + up * t + 0.5 * 500 * t * t, t), 0, []).mean() > 0.95


@cache
def bouncing() -> tuple[dict, np.ndarray]:  # type: ignore[type-arg]
    """Return what the profile sees of a disc that bounces on a drawn floor, and the contact times."""
    when, flights = bounces(130.0, 2.5)
    disc = Disc(lambda now: (100.0 + 45.0 * now, FLOOR - height(now, flights)), 12.0)
    clip, _, _ = film(World((disc,), floor=200))
    return perceive(clip, "contacts"), when


def clip_end(seen: dict) -> float:  # type: ignore[type-arg]
    """Return the time of the last frame [s]."""
    return float(seen["contacts"].times[-1])


def test_the_bounces_of_a_drawn_disc_are_found_in_time_and_nothing_else_is() -> None:
    """Recall 1 within half a frame, no false contact, and flight in between."""
    seen, when = bouncing()
    contacts: Contacts = seen["contacts"]
    last = clip_end(seen)
    real = [w for w in when if w < last - 4 / 24]
    assert len([w for w in contacts.when if w < last - 4 / 24]) == len(real)
    assert all(np.abs(contacts.when - w).min() < 0.5 / 24 for w in real)
    assert (contacts.second == -1).all()
    assert contacts.airborne[:, 0].mean() > 0.8


def test_two_drawn_discs_that_collide_in_the_open_touch_each_other_and_keep_their_identities() -> None:
    """One contact of the pair, in time; each is the same object before and after, though both look alike."""
    one = Disc(lambda now: (147.0 + (90.0 if now < 1.0 else -20.0) * (now - 1.0), 120.0), 13.0, ORANGE)
    two = Disc(lambda now: (173.0 + (-30.0 if now < 1.0 else 80.0) * (now - 1.0), 120.0), 13.0, ORANGE)
    clip, truth, _ = film(World((one, two)))
    seen = perceive(clip, "contacts")
    contacts = seen["contacts"]
    assert len(contacts.when) == 1
    assert all({int(i), int(j)} == {0, 1} for i, j in zip(contacts.first, contacts.second, strict=True))
    assert np.abs(contacts.when - 1.0).max() < 0.5 / 24
    for k in range(2):
        assert len(set(owners(seen["masks"], truth[:, k])) - {-1}) == 1


@pytest.mark.parametrize(("posts", "contacts"), [(((230, 320),), 1), ((), 0)])
def test_a_disc_is_thrown_back_by_a_wall_that_is_seen_and_by_nothing_else(posts, contacts) -> None:
    """The same motion before a wall is a contact; in the open it is none, and R16 will charge it."""
    disc = Disc(lambda now: (217.5 - 120.0 * abs(now - 1.2), 100.0), 13.0, YELLOW)
    clip, _, _ = film(World((disc,), posts=posts, seconds=2.2))
    found = perceive(clip, "contacts")["contacts"]
    assert len(found.when) == contacts
    assert np.abs(found.when - 1.2).max(initial=0.0) < 0.5 / 24


def swing(now: float) -> tuple[float, float]:
    """A pendulum of 130 px."""
    angle = 0.6 * np.cos(2.9 * now)
    return 160.0 + 130.0 * float(np.sin(angle)), 20.0 + 130.0 * float(np.cos(angle))


HELD = {
    "rolling": (Disc(lambda now: (40.0 + 90.0 * now, 188.0), 12.0),),
    "down a slope": (Disc(lambda now: (40.0 + 40.0 * now * now, 40.0 + 30.0 * now * now), 12.0),),
    "hanging": (Disc(swing, 12.0, pivot=(160.0, 20.0)),),
    "carried": (
        Disc(lambda now: (60.0 + 80.0 * now, 215.0 - 90.0 * now + 45.0 * now * now), 9.0, BLUE),
        # an arm that comes in from below
        Disc(lambda now: (60.0 + 80.0 * now, 262.0 - 90.0 * now + 45.0 * now * now), 40.0, YELLOW),
    ),
}


@pytest.mark.parametrize("how", list(HELD))
def test_what_is_held_is_not_airborne(how: str) -> None:
    """Rolling, sliding down a slope, hanging on a string, and carried in an arc by an arm."""
    clip, _, _ = film(World(HELD[how], floor=200 if how == "rolling" else None, seconds=2.0))
    seen = perceive(clip, "contacts")
    assert seen["bodies"].present.any()
    assert not seen["contacts"].airborne.any()
