"""R23: chains that lose or gain energy, and the levels read from a bouncing ball and a pendulum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.energy import bounce_levels, energy_gain, pendulum_levels, robust_polynomial
from tests.physics.bodies import FPS, few, reason, world

G = 9.81


def exact(*chains: list[float], driven: list | None = None) -> float:
    """Return the value for levels that are known exactly."""
    return energy_gain(list(chains), [[0.0] * len(c) for c in chains], driven).value


@few
@given(st.floats(0.0, 0.3), st.integers(1, 4), st.floats(1e-3, 1e3))
def test_a_gain_per_bounce_is_compounded_in_any_unit(gain: float, n: int, unit: float) -> None:
    """Compounded n times, a gain g reads (1 + g)^n - 1; losses read 0; chains may come in any order."""
    chain = [unit * (1 + gain) ** k for k in range(n + 1)]
    wanted = (1 + gain) ** n - 1
    assert exact(chain) == pytest.approx(wanted, abs=1e-12)
    assert exact(chain[::-1]) == 0.0
    assert exact([1.0, 0.5], chain) == exact(chain, [1.0, 0.5]) == pytest.approx(wanted, abs=1e-12)


def test_reversed_time_is_not_the_same() -> None:
    """A lossy chain is lawful, its reverse is not: energy has a direction."""
    assert exact([1.0, 0.8, 0.6]) == 0.0 < exact([0.6, 0.8, 1.0])


def test_errors_hide_what_is_not_proven() -> None:
    """2 standard errors of the ratio are taken off, and micro-bounces are divided by a tenth of the largest."""
    m = energy_gain([[1.0, 1.3]], [[0.02, 0.03]])
    assert m.value == pytest.approx(0.3 - 2 * np.hypot(0.03, 1.3 * 0.02))
    assert energy_gain([[1.0, 1.05]], [[0.02, 0.03]]).value == 0.0
    assert exact([1.0, 0.001, 0.002]) == pytest.approx(0.01)
    assert exact([0.0, 1.0]) == 4.0


def test_driven_steps_cut_the_chain_and_missing_levels_do_not() -> None:
    """Across a drive nothing is compared; a missing level leaves its neighbours to be compared."""
    assert exact([1.0, 3.0, 2.0, 2.6], driven=[[True, False, False]]) == pytest.approx(0.3)
    m = energy_gain([[1.0, np.nan, 1.3]], [[0.0, 0.0, 0.0]])
    assert m.value == pytest.approx(0.3)
    assert (m.evidence["first"], m.evidence["second"]) == (0, 2)


def test_each_reason_is_given() -> None:
    """The first check that holds is the reason."""
    assert reason(lambda: energy_gain(None, None))[0] == "no_object"
    assert reason(lambda: energy_gain([[1.0, 2.0]], None))[0] == "bad_shape"
    assert reason(lambda: energy_gain([[1.0, 2.0]], [[0.0, 0.0]], [[False, True]]))[0] == "bad_shape"
    assert reason(lambda: energy_gain([[np.nan] * 3], [[0.0] * 3]))[0] == "all_nan"
    for chain in ([], [1.0], [0.0, 0.0]):
        assert reason(lambda c=chain: energy_gain([c], [[0.0] * len(c)]))[0] == "no_transition"


def bounce(fps: float, restitution: float, height: float = 1.0, flights: int = 4) -> tuple[np.ndarray, ...]:
    """Return times, heights and contact times of a ball dropped from `height` on to the ground at 0."""
    contacts = [np.sqrt(2 * height / G)]
    speeds = [restitution * np.sqrt(2 * G * height)]
    for _ in range(flights - 1):
        contacts.append(contacts[-1] + 2 * speeds[-1] / G)
        speeds.append(restitution * speeds[-1])
    t = np.arange(0, contacts[-1] + 0.3, 1 / fps)
    y = height - 0.5 * G * t**2
    for contact, speed in zip(contacts, speeds, strict=True):
        s = t - contact
        y = np.where(s > 0, speed * s - 0.5 * G * s**2, y)
    return t, y, np.array(contacts)


@pytest.mark.parametrize("fps", [24, 60])
@pytest.mark.parametrize("restitution", [0.85, 1.0, 1.1])
def test_bounce_heights_go_with_the_square_of_the_restitution(fps: int, restitution: float) -> None:
    """Exact parabolas give exact apex heights, so the chain gains (e^2)^n - 1 or nothing."""
    t, y, contacts = bounce(fps, restitution)
    _, turn, shift = world(fps)
    X = np.stack([t, -y, 5 + 0 * t], axis=-1) @ turn.T + shift
    heights, errors = bounce_levels(t, X, contacts, 3 * turn @ [0, 1, 0])
    assert len(heights) >= 3
    ratios = np.array(heights[1:]) / np.array(heights[:-1])
    assert ratios == pytest.approx(restitution**2, rel=1e-6)
    value = energy_gain([heights], [errors]).value
    assert value == pytest.approx(max(0.0, restitution ** (2 * (len(heights) - 1)) - 1), abs=0.02)


def test_a_resting_or_noisy_ball_has_no_levels() -> None:
    """Less than two flights, nothing that falls, or noise alone give empty lists."""
    t, y, contacts = bounce(24, 0.9)
    X = np.stack([t, -y, 0 * t], axis=-1)
    assert bounce_levels(t, X, [], [0, 1, 0]) == ([], [])
    assert bounce_levels(t, X, contacts, [0, -1, 0]) == ([], [])
    rest = np.stack([t, 0.01 * np.random.default_rng(0).normal(size=len(t)), 0 * t], axis=-1)
    assert bounce_levels(t, rest, contacts, [0, 1, 0]) == ([], [])


@pytest.mark.parametrize("fps", FPS)
def test_pendulum_levels_follow_the_amplitude(fps: int) -> None:
    """A swing of period 4 s whose amplitude shrinks gives 1 - cos of each peak and no gain; growing, it gains."""
    t = np.arange(0, 16, 1 / fps)
    for rate in (-0.03, 0.03):
        levels, errors = pendulum_levels(t, 0.5 * np.exp(rate * t) * np.sin(2 * np.pi * t / 4))
        found = np.arccos(1 - np.array(levels))
        steps = found[1:] / found[:-1]
        assert len(levels) >= 5
        assert steps == pytest.approx(np.exp(2 * rate), rel=5e-3)
        value = energy_gain([levels], [errors]).value
        assert (value == 0.0) if rate < 0 else (value > 0.5)


def test_a_still_pendulum_has_no_levels() -> None:
    """Noise alone, and nothing at all, give empty lists."""
    t = np.arange(0, 8, 1 / 24)
    assert pendulum_levels(t, 0.01 * np.random.default_rng(0).normal(size=len(t))) == ([], [])
    assert pendulum_levels(t, np.full(len(t), np.nan)) == ([], [])


def test_the_robust_fit_ignores_wild_samples_and_gives_their_covariance() -> None:
    """A tenth of wild samples moves the fit by next to nothing; clean data give the usual covariance."""
    s = np.linspace(-0.4, 0.4, 40)
    y = 1 + 2 * s - 5 * s**2
    y[::10] += 3.0
    c, _ = robust_polynomial(s, y, 2)
    assert c == pytest.approx([1, 2, -5], abs=1e-5)
    design = np.vander(s, 3, increasing=True)
    _, v = robust_polynomial(s, np.ones(40), 2)
    assert v == pytest.approx(np.linalg.inv(design.T @ design), rel=1e-6, abs=1e-9)
