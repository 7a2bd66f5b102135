"""Which contacts are collisions of free bodies, and with what velocities."""

from __future__ import annotations

import numpy as np
import pytest

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.feeds.events import collisions
from pvbench_suite.physics.momentum import momentum_error
from tests.feeds.made import FPS, NOTHING, bodies, brief, clock, contacts, filmed, still_camera
from tests.physics.bodies import reason

T = clock(3.0)


def way(start: float, legs: list[tuple[float, float]], t: np.ndarray = T) -> np.ndarray:
    """Return a path (T, 3) along x from `start`, 5 m away: legs (until, speed), each up to its time [s]."""
    x, since = np.full_like(t, start), 0.0
    for until, speed in legs:
        x += speed * np.clip(t - since, 0.0, until - since)
        since = until
    return np.stack([x, np.zeros_like(t), np.full_like(t, 5.0)], axis=-1)


def met(speed: float = 1.0, when: float = 1.5, share: float = 1.0) -> list[np.ndarray]:
    """Return two equal balls of 0.4 m: the first hits the second, which is at rest, and gives it that `share`."""
    first = way(-0.4 - speed * when, [(when, speed), (3.0, 0.0)])
    return [first, way(0.0, [(when, 0.0), (3.0, share * speed)])]


def test_a_head_on_collision_gives_both_velocity_changes_and_the_approach_speed() -> None:
    """The first stops, the second takes over; the records are exact, so momentum error is 0."""
    found = collisions(bodies(T, met()), contacts(T, 2, [(1.5, 0, 1)]), still_camera(T), NOTHING)
    (event,) = found[0]
    assert event.dvi == pytest.approx([-1.0, 0.0, 0.0], abs=1e-6)
    assert event.dvj == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    assert event.vrel == pytest.approx(1.0)
    assert event.pair == (0, 1)
    assert momentum_error(found[0], 1.0).value == pytest.approx(0.0, abs=1e-6)


def test_the_order_in_which_a_contact_names_its_bodies_does_not_matter() -> None:
    """(1, 0) is the pair (0, 1), and a contact that is listed both ways, or twice in a frame, is one collision."""
    record = contacts(T, 2, [(1.5, 1, 0), (1.5 + 0.3 / FPS, 0, 1)])
    found = collisions(bodies(T, met()), record, None, NOTHING)
    assert [len(events) for events in found] == [1]
    assert found[0][0].pair == (0, 1)
    assert found[0][0].dvi == pytest.approx([-1.0, 0.0, 0.0], abs=1e-6)


def test_collisions_of_a_pair_stand_together_and_pairs_apart() -> None:
    """Ball 0 hits ball 1 at 0.75 s and again at 2.25 s; ball 2 hits ball 3 in between."""
    hits = [(0.75, 0, 1), (2.25, 1, 0), (1.5, 2, 3)]
    zero = way(-0.4 - 0.75, [(0.75, 1.0), (1.5, 0.0), (2.25, 2.0), (3.0, 0.5)])
    one = way(0.0, [(0.75, 0.0), (2.25, 1.0), (3.0, 2.5)])
    found = collisions(bodies(T, [zero, one, *met()]), contacts(T, 4, hits), None, NOTHING)
    assert [[e.pair for e in events] for events in found] == [[(0, 1), (0, 1)], [(2, 3)]]
    assert [float(e.vrel) for e in found[0]] == pytest.approx([1.0, 1.0], abs=1e-6)


def test_the_approach_speed_is_that_since_the_contact_before() -> None:
    """Ball 0 came at 3 m/s and was slowed to 1 m/s by a wall 0.15 s before it hit: 1 m/s counts."""
    t = clock(3.0, 60)
    first = way(-0.55 - 3 * 1.35, [(1.35, 3.0), (1.5, 1.0), (3.0, 0.0)], t)
    second = way(0.0, [(1.5, 0.0), (3.0, 1.0)], t)
    record = contacts(t, 2, [(1.35, 0, -1), (1.5, 0, 1)])
    (event,) = collisions(bodies(t, [first, second]), record, None, NOTHING)[0]
    assert event.vrel == pytest.approx(1.0, abs=1e-6)


def test_fixed_bodies_are_no_partners_and_leave_no_collision() -> None:
    """A ball that bounces off a fixed post has not collided with anything free: the kernel says no_collision."""
    said = brief({"name": "ball_0"}, {"name": "ball_1", "fixed": True})
    found = collisions(bodies(T, met()), contacts(T, 2, [(1.5, 0, 1)]), None, said)
    assert found == []
    assert reason(lambda: momentum_error(found)) == ("no_collision", True)


@pytest.mark.parametrize("case", ["always", "self_propelled", "held"])
def test_a_collision_with_a_driven_body_is_left_out_but_is_no_event_that_stayed_away(case: str) -> None:
    """A bat that a hand swings: momentum is the hand's, yet nobody may say that nothing collided."""
    record, said = contacts(T, 2, [(1.5, 0, 1)]), NOTHING
    if case == "always":
        said = brief({"name": "ball_0"}, {"name": "ball_1"}, driven=[{"object": "ball_0", "until": "always"}])
    if case == "self_propelled":
        said = brief({"name": "ball_0", "self_propelled": True}, {"name": "ball_1"})
    if case == "held":
        record.driven[:, 0] = True
    with pytest.raises(Unmeasurable, match="driven") as caught:
        collisions(bodies(T, met()), record, None, said)
    assert caught.value.reason == "no_collision"
    assert not caught.value.detectable


def test_being_touched_in_the_frames_of_the_contact_does_not_make_a_body_driven() -> None:
    """A profile that calls touched bodies driven for a frame or two still has its collision."""
    record = contacts(T, 2, [(1.5, 0, 1)])
    record.driven[35:38] = True
    assert len(collisions(bodies(T, met()), record, None, NOTHING)) == 1
    thrown = contacts(T, 2, [(1.5, 0, 1)])
    thrown.driven[:20, 0] = True  # let go 0.67 s before
    assert len(collisions(bodies(T, met()), thrown, None, NOTHING)) == 1


def test_a_third_contact_in_the_same_frame_spoils_a_collision_and_a_later_one_does_not() -> None:
    """With a third ball behind the second, what the second gains is not what the first lost."""
    third = way(0.4, [(1.5, 0.0), (3.0, 0.0)])
    at_once = contacts(T, 3, [(1.5, 0, 1), (1.5 + 0.5 / FPS, 1, 2)])
    assert reason(lambda: collisions(bodies(T, [*met(), third]), at_once, None, NOTHING)) == ("no_collision", False)
    later = contacts(T, 3, [(1.5, 0, 1), (2.4, 1, 2)])
    assert collisions(bodies(T, [*met(), third]), later, None, NOTHING)[0][0].pair == (0, 1)


def test_a_collision_that_is_seen_from_one_side_only_is_no_event_that_stayed_away() -> None:
    """The second ball is lost as soon as it is hit: too few frames, not no collision."""
    paths = met()
    paths[1][38:] = np.nan
    record = contacts(T, 2, [(1.5, 0, 1)])
    assert reason(lambda: collisions(bodies(T, paths), record, None, NOTHING))[0] == "too_few_frames"
    assert collisions(bodies(T, met()), contacts(T, 2), None, NOTHING) == []


def test_a_support_takes_up_the_vertical_part_unless_both_bodies_fly() -> None:
    """A ball on a table that is hit from above: the push down goes into the table."""
    paths = met()
    paths[0][:, 1] += np.where(T < 1.5, 0.5 * (T - 1.5), 0.0)  # comes down at 0.5 m/s and stays
    flying = contacts(T, 2, [(1.5, 0, 1)])
    (event,) = collisions(bodies(T, paths), flying, None, NOTHING)[0]
    assert event.dvi == pytest.approx([-1.0, -0.5, 0.0], abs=1e-6)
    supported = contacts(T, 2, [(1.5, 0, 1)])
    supported.airborne[:, 1] = False
    (event,) = collisions(bodies(T, paths), supported, None, NOTHING)[0]
    assert event.dvi == pytest.approx([-1.0, 0.0, 0.0], abs=1e-6)
    assert event.vrel == pytest.approx(1.0, abs=1e-6)
    assert momentum_error([event], 1.0).value == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("name", "masses"), [("pucks", (2.0, 2.0)), ("unequal_pucks", (1.0, 3.0))])
def test_filmed_pucks_keep_momentum_with_the_masses_of_the_prompt(name: str, masses: tuple[float, float]) -> None:
    """The mass ratio is first over second; a loss of 90 % of what the second takes is seen."""
    said = brief({"name": "puck_1", "mass": masses[0]}, {"name": "puck_2", "mass": masses[1]})
    ratio = said.mass_ratio("puck_1", "puck_2")
    assert ratio == pytest.approx(masses[0] / masses[1])
    values = []
    for violation in ("", "momentum_loss"):
        _, _, made = filmed(name, violation)
        (events,) = collisions(made["bodies"], made["contacts"], made["cameras"], said)
        values.append(momentum_error(events, ratio).value)
    assert values[0] < 0.02
    assert values[1] > 0.5


def test_the_mass_ratio_needs_both_masses() -> None:
    """One mass, or an object of another name, gives none."""
    said = brief({"name": "a", "mass": 2.0}, {"name": "b"})
    assert said.mass_ratio("a", "b") is None
    assert said.mass_ratio("a", "moving_1") is None
