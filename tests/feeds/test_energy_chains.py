"""Chains of energy levels: bounces, swings, and where they are cut."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.feeds.events import energy_chains, swing_axis
from pvbench_suite.physics.energy import energy_gain
from pvbench_suite.simulate.motion import GRAVITY, bounces, swing
from tests.feeds.made import DOWN, NOTHING, bodies, brief, clock, contacts, filmed, still_camera
from tests.physics.bodies import reason

PIVOT = np.array([0.0, -0.3, 4.5])
LENGTH = 0.66


def bouncing(restitution: float = 0.9, seconds: float = 4.0, pitch: float = 0.0, first: int = 0):
    """Return times, path (T, 3), contact events of ball `first` and the down of a ball that falls from 1.2 m.

    The camera is 5 m away and looks down by `pitch` [deg].
    """
    t = clock(seconds)
    path = bounces(1.2, 0.0, seconds, restitution)
    turn = Rotation.from_rotvec([np.radians(pitch), 0, 0])
    lab = np.stack([0.2 * t - 0.4, -path.height(t), np.zeros_like(t)], axis=-1)
    x = turn.apply(lab) + np.array([0.0, 0.0, 5.0])
    return t, x, [(when, first, -1) for when in path.contacts if when < t[-1]], turn.apply(DOWN)


@pytest.mark.parametrize("pitch", [0.0, 20.0, 45.0])
def test_bounce_levels_are_the_apex_heights_however_steeply_the_camera_looks_down(pitch: float) -> None:
    """Heights fall by the square of the restitution.

    Depth along a pitched axis is no line in time during a flight: made one, it turned a lossless bounce into a gain.
    """
    t, x, events, down = bouncing(0.9, pitch=pitch)
    levels, errors, driven = energy_chains(bodies(t, [x]), contacts(t, 1, events, down=down), still_camera(t), NOTHING)
    assert levels[0] == pytest.approx([1.2 * 0.81**k for k in range(len(levels[0]))], rel=2e-3)
    assert len(levels[0]) == len(errors[0]) == len(driven[0]) + 1 >= 4
    assert not any(driven[0])
    t, x, events, down = bouncing(1.0, pitch=pitch)
    lossless = energy_chains(bodies(t, [x]), contacts(t, 1, events, down=down), still_camera(t), NOTHING)
    assert energy_gain(*lossless).value < 0.003


def test_a_named_floor_is_as_good_as_an_unnamed_one() -> None:
    """A fixed object that the ball bounces on is part of the surroundings, in whichever order they are named."""
    t, x, events, _ = bouncing()
    floor = np.broadcast_to([0.0, 1.0, 5.0], x.shape)
    named = [(when, *((0, 1) if k % 2 else (1, 0))) for k, (when, _, _) in enumerate(events)]
    said = brief({"name": "ball_0"}, {"name": "ball_1", "fixed": True})
    levels, _, driven = energy_chains(bodies(t, [x, floor]), contacts(t, 2, named), None, said)
    alone, _, _ = energy_chains(bodies(t, [x]), contacts(t, 1, events), None, NOTHING)
    assert levels[0] == pytest.approx(alone[0])
    assert not any(driven[0])


def thrown_up_again(by: str):
    """Return the records of a ball that bounces thrice, gets energy at 1.9 s from a hand or a ball, and bounces on."""
    t, x, events, _ = bouncing(0.6, 4.0)
    again = bounces(2.0, 0.0, 2.0, 0.6)
    late = t >= 1.9
    x[late, 1] = -again.height(t[late] - 1.9)
    hits = [e for e in events if e[0] < 1.8] + [(w + 1.9, 0, -1) for w in again.contacts if w < 2.0]
    record = contacts(t, 2, [*hits, (1.9, 1, 0)] if by == "ball" else hits)
    if by == "hand":
        record.driven[(t > 1.8) & (t < 1.9), 0] = True
    elsewhere = np.broadcast_to([2.0, 0.0, 5.0], x.shape)
    return bodies(t, [x, elsewhere]), record


@pytest.mark.parametrize("by", ["hand", "ball"])
def test_energy_from_a_hand_or_from_another_ball_is_no_gain(by: str) -> None:
    """The chain is cut there: one chain per ball, one driven step, and no gain; without the cut it is charged."""
    made, record = thrown_up_again(by)
    levels, errors, driven = energy_chains(made, record, None, NOTHING)
    assert sum(driven[0]) == 1
    assert energy_gain(levels, errors, driven).value == 0.0
    assert energy_gain(levels, errors).value > 1.0
    unknown = thrown_up_again("nobody")
    assert energy_gain(*energy_chains(*unknown, None, NOTHING)).value > 1.0


def test_a_body_that_is_driven_all_the_time_or_fixed_has_no_levels() -> None:
    """The prompt or the record says so; what remains has nothing to compare, and nobody saw it rest either."""
    t, x, events, _ = bouncing()
    held = contacts(t, 1, events, driven=np.ones((len(t), 1), dtype=bool))
    assert reason(lambda: energy_chains(bodies(t, [x]), held, None, NOTHING)) == ("no_transition", False)
    said = brief({"name": "ball_0"}, driven=[{"object": "ball_0", "until": "always"}])
    levels, errors, driven = energy_chains(bodies(t, [x]), contacts(t, 1, events), None, said)
    assert reason(lambda: energy_gain(levels, errors, driven))[0] == "no_object"


def test_a_still_ball_has_provably_no_transition_and_one_impact_is_not_nothing() -> None:
    """Only a body without contact and flight, its height known to its own size, is an event that stayed away."""
    t = clock(2.0)
    x = np.broadcast_to([0.0, 1.0, 5.0], (len(t), 3)).copy()
    resting = {"airborne": np.zeros((len(t), 1), dtype=bool)}
    assert reason(lambda: energy_chains(bodies(t, [x]), contacts(t, 1, **resting), None, NOTHING)) == (
        "no_transition",
        True,
    )
    shaking = x + np.random.default_rng(0).normal(size=x.shape) * [0.0, 0.05, 0.0]
    record = contacts(t, 1, **resting)
    assert reason(lambda: energy_chains(bodies(t, [shaking]), record, None, NOTHING)) == ("no_transition", False)
    # Falls for 0.3 s and stays: two flights would be needed.
    drop = np.minimum(0.5 * GRAVITY * t**2, 0.44)
    x[:, 1] += drop
    landed = contacts(t, 1, [(0.2996, 0, -1)])
    assert reason(lambda: energy_chains(bodies(t, [x]), landed, None, NOTHING)) == ("no_transition", False)


def test_without_a_direction_of_gravity_there_is_no_energy() -> None:
    """Heights need a down; without it the reason is a cue that is missing, not a ball that is."""
    t, x, events, _ = bouncing()
    with pytest.raises(Unmeasurable, match="no_cue"):
        energy_chains(bodies(t, [x]), contacts(t, 1, events, down=None), None, NOTHING)


def swinging(plane: float, growth: float = 0.0, amplitude: float = 30.0):
    """Return records of a pendulum whose plane of swing is turned by `plane` [deg] about the vertical."""
    t = clock(6.0)
    side = LENGTH * np.sin(swing(t, LENGTH, np.radians(amplitude), growth))
    fall = np.sqrt(LENGTH**2 - side**2)
    way = np.radians(plane)
    x = PIVOT + np.stack([side * np.cos(way), fall, side * np.sin(way)], axis=-1)
    record = contacts(t, 1, airborne=np.zeros((len(t), 1), dtype=bool), pivot=PIVOT[None])
    return t, x, record


@pytest.mark.parametrize("plane", [0.0, 30.0, 60.0, 90.0, 180.0])
def test_a_pendulum_has_its_amplitude_in_whatever_plane_it_swings(plane: float) -> None:
    """1 - cos 30 deg in each half swing, also toward the camera, where the depth is no line in time."""
    t, x, record = swinging(plane)
    levels, errors, driven = energy_chains(bodies(t, [x]), record, still_camera(t), NOTHING)
    assert levels[0] == pytest.approx([1 - np.cos(np.radians(30.0))] * len(levels[0]), rel=5e-3)
    assert len(levels[0]) >= 5
    assert energy_gain(levels, errors, driven).value < 0.005


def test_the_noise_of_depth_stays_out_of_a_pendulum_that_is_seen_from_aside() -> None:
    """With 2 % of depth noise the levels of a swing seen from aside are right to 4 %."""
    t, x, record = swinging(20.0)
    noisy = x * (1 + 0.02 * np.random.default_rng(3).normal(size=(len(t), 1)))
    levels, _, _ = energy_chains(bodies(t, [noisy]), record, still_camera(t), NOTHING)
    assert levels[0] == pytest.approx([1 - np.cos(np.radians(30.0))] * len(levels[0]), rel=0.04)


def test_a_pendulum_that_swings_higher_by_itself_gains() -> None:
    """The amplitude grows by exp(0.1 t): energy by exp(0.2 t), from the first level to the last."""
    t, x, record = swinging(0.0, growth=0.1, amplitude=15.0)
    found = energy_gain(*energy_chains(bodies(t, [x]), record, still_camera(t), NOTHING))
    steps = len(found.evidence["levels"][0]) - 1
    half = np.pi * np.sqrt(LENGTH / GRAVITY)
    assert found.value == pytest.approx(np.exp(0.2 * steps * half) - 1, rel=0.05)


def test_a_swing_is_positive_toward_the_side_that_it_reaches_first() -> None:
    """Released on the right the axis points right, on the left it points left; a wild frame does not turn it."""
    angle = np.radians(30) * np.cos(2 * np.pi * np.arange(60) / 30)
    arm = np.stack([np.sin(angle), np.cos(angle), 0 * angle], axis=-1)
    arm[7] += [0.0, 0.0, 3.0]
    right, left = swing_axis(arm, DOWN), swing_axis(arm * [-1, 1, 1], DOWN)
    assert right @ [1, 0, 0] > 0.95
    assert left @ [1, 0, 0] < -0.95
    assert swing_axis(np.full((4, 3), np.nan), DOWN).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(("name", "seconds"), [("bounce", 2.0), ("pendulum", 4.0), ("air_collision", 2.5)])
def test_filmed_lawful_worlds_gain_nothing(name: str, seconds: float) -> None:
    """Exact records of a bounce, a pendulum, and two balls that meet in the air and bounce on."""
    _, _, made = filmed(name, seconds=seconds)
    chains = energy_chains(made["bodies"], made["contacts"], made["cameras"], NOTHING)
    assert energy_gain(*chains).value < 0.01


@pytest.mark.parametrize(("name", "seconds"), [("bounce", 2.0), ("pendulum", 4.0)])
def test_filmed_worlds_that_gain_are_charged(name: str, seconds: float) -> None:
    """A bounce with a restitution above 1, and a pendulum that pumps itself up."""
    _, _, made = filmed(name, "energy_gain", seconds=seconds)
    chains = energy_chains(made["bodies"], made["contacts"], made["cameras"], NOTHING)
    assert energy_gain(*chains).value > 0.3
