"""Free flight, gravity in world units, and terminal speed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.feeds import bodies as feed
from pvbench_suite.physics.gravity import gravity_error
from pvbench_suite.simulate.motion import GRAVITY, bounces
from tests.feeds.made import DOWN, NOTHING, bodies, brief, clock, contacts, filmed, still_camera
from tests.physics.bodies import reason


def bouncing(seconds: float = 3.0, restitution: float = 0.9):
    """Return times, path (T, 3) and contact events of a ball that bounces 5 m before the camera."""
    t = clock(seconds)
    path = bounces(1.2, 0.0, seconds, restitution)
    x = np.stack([0.2 * t - 0.4, 1.0 - path.height(t), np.full_like(t, 5.0)], axis=-1)
    return t, x, [(when, 0, -1) for when in path.contacts if when < t[-1]]


def test_flights_are_cut_at_contacts_and_not_where_the_ball_is_unseen() -> None:
    """Every frame is in one flight; the unseen ones are missing samples; no flight spans a contact."""
    t, x, events = bouncing()
    x[5:9] = np.nan
    found = feed.flights(bodies(t, [x]), contacts(t, 1, events), None, 0)
    assert sum(len(f.t) for f in found) == len(t)
    assert len(found) == len(events) + 1
    for flight in found:
        assert not any(flight.t[0] < when <= flight.t[-1] for when, _, _ in events)
    assert np.isnan(found[0].X[5:9]).all()
    assert np.isfinite(found[0].X[9:]).all()


def test_a_profile_that_does_not_call_unseen_frames_airborne_gives_the_same_flights() -> None:
    """Short gaps without sight of the ball are bridged; a contact in the gap, or a second of it, ends the flight."""
    t, x, events = bouncing()
    x[5:9] = np.nan
    record = contacts(t, 1, events)
    record.airborne[5:9] = False
    assert len(feed.flights(bodies(t, [x]), record, None, 0)) == len(events) + 1
    y = x.copy()
    hit = int(np.searchsorted(t, events[0][0]))
    y[hit - 2 : hit + 2] = np.nan
    gone = contacts(t, 1, events)
    gone.airborne[hit - 2 : hit + 2] = False
    assert len(feed.flights(bodies(t, [y]), gone, None, 0)) == len(events) + 1
    y[20:45], long = np.nan, contacts(t, 1)
    long.airborne[20:45] = False
    assert [len(f.t) for f in feed.flights(bodies(t, [y]), long, None, 0)] == [20, len(t) - 45]


def test_a_seen_frame_on_the_ground_or_in_a_hand_ends_a_flight() -> None:
    """Only absence is bridged, never a ball that is seen to be supported or held."""
    t, x, _ = bouncing()
    landed, held = contacts(t, 1), contacts(t, 1)
    landed.airborne[10] = False
    held.driven[10] = True
    for record in (landed, held):
        assert [len(f.t) for f in feed.flights(bodies(t, [x]), record, None, 0)] == [10, len(t) - 11]


@pytest.mark.parametrize("late", [-0.4, 0.0, 0.4])
def test_a_filmed_bounce_has_no_gravity_error_even_with_contacts_off_by_less_than_a_frame(late: float) -> None:
    """The records of the simulator, with contact times as a detector would give them."""
    _, _, made = filmed("bounce")
    record = replace(made["contacts"], when=made["contacts"].when + late / 24)
    ball = brief({"name": "ball", "size_m": 0.4})
    found = feed.flights(made["bodies"], record, made["cameras"], 0)
    g = ball.gravity("ball", feed.extent(made["bodies"], 0))
    assert g == pytest.approx(GRAVITY, rel=1e-5)
    assert gravity_error(found, record.down, g, 0.4).value == pytest.approx(0.0, abs=1e-3)
    assert all(f.rays is not None for f in found)


def test_gravity_in_world_units_follows_the_stated_size_and_place() -> None:
    """A 0.4 m ball that is 2 units long makes g 5 times 9.8; the moon a sixth of it."""
    said = {"name": "ball", "size_m": 0.4}
    assert brief(said).gravity("ball", 2.0) == pytest.approx(5 * GRAVITY)
    assert brief(said, g_scale=0.165).gravity("ball", 2.0) == pytest.approx(0.165 * 5 * GRAVITY)


def test_without_a_metric_there_is_no_gravity_in_world_units() -> None:
    """Slow motion, no stated size, an unknown object, a body that was never found, no prompt at all."""
    said = {"name": "ball", "size_m": 0.4}
    assert brief(said, real_time=False).gravity("ball", 2.0) is None
    assert brief({"name": "ball"}).gravity("ball", 2.0) is None
    assert brief(said).gravity("moving_1", 2.0) is None
    assert brief(said).gravity("ball", float("nan")) is None
    assert brief(said).gravity("ball", 0.0) is None
    assert NOTHING.gravity("ball", 2.0) is None


def test_weightless_scenes_and_light_things_of_unknown_speed_are_exempt() -> None:
    """Without gravity nothing has to fall; a feather in slow motion falls at no speed that is known."""
    afloat = brief({"name": "ball", "size_m": 0.4}, g_scale=0.0)
    assert reason(lambda: afloat.gravity("ball", 2.0))[0] == "exempt"
    feather = {"name": "ball", "size_m": 0.1, "terminal_speed": 1.5}
    assert brief(feather).terminal_speed("ball", 0.2) == pytest.approx(3.0)
    assert reason(lambda: brief(feather, real_time=False).terminal_speed("ball", 0.2))[0] == "exempt"
    assert reason(lambda: brief({**feather, "size_m": None}).terminal_speed("ball", 0.2))[0] == "exempt"
    assert brief({"name": "ball"}, real_time=False).terminal_speed("ball", 0.2) is None


def test_the_terminal_speed_exempts_a_flight_that_gets_near_it() -> None:
    """A ball that falls at up to 4.9 m/s is judged at 20 m/s of terminal speed and exempt at 10."""
    t, x, events = bouncing()
    found = feed.flights(bodies(t, [x]), contacts(t, 1, events), still_camera(t), 0)
    light = [brief({"name": "ball_0", "size_m": 0.4, "terminal_speed": v}) for v in (20.0, 10.0)]
    speeds = [b.terminal_speed("ball_0", 0.4) for b in light]
    assert gravity_error(found, DOWN, GRAVITY, 0.4, speeds[0]).value == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(Unmeasurable, match="exempt"):
        gravity_error(found, DOWN, GRAVITY, 0.4, speeds[1])


def test_the_longest_extent_of_a_box_is_its_stated_size() -> None:
    """A box of half extents (0.1, 0.3, 0.2) is 0.6 long, whatever its diameter says."""
    t, x, _ = bouncing(1.0)
    box = bodies(t, [x, x], half=np.array([[0.1, 0.3, 0.2], [np.nan] * 3]))
    assert feed.extent(box, 0) == pytest.approx(0.6)
    assert feed.extent(box, 1) == pytest.approx(0.4)
