"""R21: flights under gravities that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.gravity import Flight, gravity_error
from tests.physics.bodies import ar1, few, reason, world

G = 9.81
DOWN = (0.0, 1.0, 0.0)


def flight(
    a: tuple[float, float, float] = (0, G, 0), seconds: float = 1.0, fps: float = 24.0, v: float = -4.0
) -> Flight:
    """Return a throw with the constant acceleration `a`."""
    t = np.arange(round(seconds * fps) + 1) / fps
    u = t[:, None]
    return Flight(t + 3.0, np.array([0.0, 0, 6]) + u * [1.5, v, 0.3] + 0.5 * u * u * np.array(a))


@pytest.mark.parametrize("fps", [12, 24, 30, 60])
@pytest.mark.parametrize("share", [0.0, 0.185, 0.66, 1.0, 1.3, 2.0])
def test_a_metric_reads_the_lack_of_gravity(fps: float, share: float) -> None:
    """At k times the true gravity the error is |1 - k|."""
    m = gravity_error([flight((0, share * G, 0), fps=fps)], DOWN, G)
    assert m.value == pytest.approx(abs(1 - share), abs=1e-5)
    assert m.assumed == ("metric",)


@pytest.mark.parametrize("degrees", [5, 20, 40])
def test_a_tilt_reads_its_chord_with_a_metric_and_its_tangent_without(degrees: float) -> None:
    """2 sin(th/2) against true gravity, tan(th) against the part along the given direction."""
    th = np.radians(degrees)
    tilted = flight((G * np.sin(th), G * np.cos(th), 0))
    assert gravity_error([tilted], DOWN, G).value == pytest.approx(2 * np.sin(th / 2), abs=1e-5)
    free = gravity_error([tilted], DOWN)
    assert free.value == pytest.approx(np.tan(th), abs=1e-5)
    assert free.evidence["tests"] == "direction and constancy only"
    assert gravity_error([tilted]).value == pytest.approx(0, abs=1e-5)


def test_without_a_metric_flights_are_compared_with_their_median() -> None:
    """Two flights agree and a third at 0.6 g is off by 0.4 of the median; a hover is off by 1."""
    pair = [flight(), flight(v=-3.0)]
    assert gravity_error([*pair, flight((0, 0.6 * G, 0))], DOWN).value == pytest.approx(0.4, abs=1e-5)
    assert gravity_error([*pair, flight((0, 0, 0), v=0.0)], DOWN).value == pytest.approx(1.0, abs=1e-5)
    assert gravity_error([flight((0, -G, 0))], DOWN).value == 2.0
    assert gravity_error([flight((0, 0, 0))], DOWN, diameter=0.2).value == 1.0


def test_an_object_held_in_mid_air_has_no_gravity() -> None:
    """An airborne object that does not move at all reads 1, with and without a metric."""
    held = Flight(np.arange(24) / 24, np.tile([0.0, 1.0, 5.0], (24, 1)))
    assert gravity_error([held], DOWN, G).value == pytest.approx(1.0)
    assert gravity_error([held], DOWN, diameter=0.2).value == 1.0
    assert gravity_error([held], diameter=0.2).value == 1.0


@few
@given(st.integers(0, 10**6))
def test_scale_world_reversed_time_and_order_do_not_matter(seed: int) -> None:
    """Noisy flights with rays keep their value under a similarity, backwards, and in any order."""
    rng = np.random.default_rng(seed)
    flights = []
    for a in ((0, G, 0), (1.0, 0.8 * G, 0), (0, G, 0.5)):
        t, path, _ = flight(a)
        noisy = path + rng.normal(0, 0.003, path.shape)
        flights.append(Flight(t, noisy, noisy))
    value = gravity_error(flights, DOWN).value
    scale, turn, shift = world(seed)
    moved = [Flight(t, scale * X @ turn.T + shift, rays @ turn.T) for t, X, rays in flights]
    assert gravity_error(moved, turn @ DOWN).value == pytest.approx(value, rel=1e-4)
    back = [Flight(-t[::-1], X[::-1], rays[::-1]) for t, X, rays in flights]
    assert gravity_error(back, DOWN).value == pytest.approx(value, rel=1e-4)
    assert gravity_error(flights[::-1], DOWN).value == pytest.approx(value, rel=1e-4)


def test_noise_lowers_sensitivity_and_not_the_score() -> None:
    """Twenty lawful flights under noise read at most 0.03; outliers and lost frames change little."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        t, path, _ = flight()
        noisy = path + rng.normal(0, 0.01, path.shape)
        noisy[rng.random(len(t)) < 0.1] = np.nan
        noisy[12] = [0.0, 5.0, 0.0]
        assert gravity_error([Flight(t, noisy)], DOWN, G).value < 0.03
        weak = noisy - 0.5 * (t - 3.0)[:, None] ** 2 * [0, 0.5 * G, 0]
        assert gravity_error([Flight(t, weak)], DOWN, G).value == pytest.approx(0.5, abs=0.12)


def test_a_lawful_flight_has_the_same_floor_at_every_frame_rate() -> None:
    """With 1 % of slow depth noise 60 fps read no more than twice 12 fps; one factor for all rates gave six times."""
    means = []
    for fps in (12, 24, 30, 60):
        values = []
        for seed in range(25):
            found = []
            for k in range(2):
                t, path, _ = flight(fps=fps)
                tracked = np.random.default_rng([seed, k]).normal(0, 0.002, np.shape(path))
                seen = path * (1.0 + ar1(len(t), 0.01, fps, 100 * seed + k)) + tracked
                found.append(Flight(t, seen, seen))
            values.append(gravity_error(found, DOWN).value)
        means.append(float(np.mean(values)))
    assert max(means) < 2.0 * min(means)
    assert max(means) < 0.015


@pytest.mark.parametrize("slope", [4.0, -8.0])
def test_a_gravity_that_changes_within_the_flight_reads_its_rms(slope: float) -> None:
    """A ramp b of the acceleration reads b T/sqrt(12)/g, less what its own third differences pass off as noise."""
    t = np.arange(49) / 24
    u = (t - 1.0)[:, None]
    ramp = Flight(t, [0, 0, 6.0] + 0.5 * u * u * [0, G, 0] + u**3 / 6 * [0, slope, 0])
    m = gravity_error([ramp], DOWN, G)
    assert m.value == pytest.approx(abs(slope) * 2.0 / np.sqrt(12) / G, rel=0.03)
    assert m.value <= abs(slope) * 2.0 / np.sqrt(12) / G


def test_one_short_bad_flight_counts_in_full_when_it_is_significant() -> None:
    """A flight at 0.7 g beside a long lawful one reads 0.3, not their mean; drowned in noise it reads less."""
    rng = np.random.default_rng(11)
    long, short = flight(seconds=2.0), flight((0, 0.7 * G, 0), seconds=0.5)
    clear = [Flight(f.t, f.X + rng.normal(0, 6e-3, np.shape(f.X))) for f in (long, short)]
    m = gravity_error(clear, DOWN, G)
    assert m.value == pytest.approx(0.3, abs=0.06)
    assert m.evidence["significant"].tolist() == [False, True]
    hidden = [Flight(f.t, f.X + rng.normal(0, 0.05, np.shape(f.X))) for f in (long, short)]
    assert gravity_error(hidden, DOWN, G).value < 0.1


def test_light_objects_are_exempt_flight_by_flight() -> None:
    """A flight whose speed passes 0.32 of the terminal speed is not judged; the others are."""
    slow, fast = flight((0, G, 0), v=-1.0, seconds=0.5), flight((0, 0.3 * G, 0), v=-40.0)
    assert gravity_error([slow, fast], DOWN, G, terminal_speed=30.0).value == pytest.approx(0, abs=1e-5)
    assert reason(lambda: gravity_error([fast], DOWN, G, terminal_speed=30.0))[0] == "exempt"


def test_reasons() -> None:
    """No flight, no usable flight and too much noise are told apart; a bad metric is the caller's mistake."""
    good = flight()
    assert reason(lambda: gravity_error(None))[0] == "no_object"
    assert reason(lambda: gravity_error([])) == ("no_airborne", True)
    assert reason(lambda: gravity_error([Flight([], [])]))[0] == "no_airborne"
    assert reason(lambda: gravity_error([Flight(good.t, np.asarray(good.X) * np.nan)]))[0] == "all_nan"
    assert reason(lambda: gravity_error([Flight(good.t[:7], good.X[:7])]))[0] == "no_airborne"  # type: ignore[index]
    assert reason(lambda: gravity_error([Flight(good.t[1:], good.X)]))[0] == "bad_shape"  # type: ignore[index]
    assert reason(lambda: gravity_error([good], (0, 0, 0)))[0] == "bad_shape"
    noise = np.random.default_rng(8).normal(0, 3.0, (25, 3))
    assert reason(lambda: gravity_error([Flight(good.t, noise)], DOWN, G))[0] == "too_noisy"
    with pytest.raises(ValueError, match="positive"):
        gravity_error([good], DOWN, 0.0)


def test_an_allowance_is_taken_off_each_flight_and_nothing_else() -> None:
    """In the picture plane a lawful fall bends a little; a fall at 0.4 g against the others still shows."""
    t = np.arange(24) / 24.0

    def fall(g: float) -> Flight:
        return Flight(t, np.stack([t, 0.5 * g * t * t, np.zeros_like(t)], axis=-1))

    down = (0.0, 1.0, 0.0)
    plain = gravity_error([fall(10.0), fall(10.0), fall(4.0)], down).value
    assert plain == pytest.approx(0.6, abs=1e-6)
    assert gravity_error([fall(10.0), fall(10.0), fall(4.0)], down, allowance=0.2).value == pytest.approx(0.4, abs=1e-6)
    assert gravity_error([fall(10.0), fall(9.0)], down, allowance=0.2).value == 0.0
