"""R22: collisions with known masses, and the velocity change read from a path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.momentum import Collision, momentum_error, velocity_change
from tests.physics.bodies import few, reason, world

X = np.array([1.0, 0, 0])


def turned(degrees: float) -> np.ndarray:
    """Return the x axis turned about z."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])


@pytest.mark.parametrize("ratio", [0.03, 0.5, 1.0, 7.0, 40.0])
@pytest.mark.parametrize("degrees", [0, 20, 90])
def test_a_collision_off_its_line_reads_half_the_angle(ratio: float, degrees: float) -> None:
    """With unknown masses one hit reads sin(al/2) at any mass ratio, and finds the ratio when al is 0."""
    m = momentum_error([Collision(-X, ratio * turned(degrees), 2.0)])
    assert m.value == pytest.approx(np.sin(np.radians(degrees / 2)), abs=1e-4)
    assert m.evidence["angles_deg"][0] == pytest.approx(degrees, abs=1e-4)
    if degrees == 0:
        assert m.evidence["mu"] == pytest.approx(ratio, rel=1e-3)


def test_a_given_ratio_is_held_to() -> None:
    """Right 0, wrong by a factor of 2 a third, no reaction 1, same way 1."""
    assert momentum_error([Collision(-X, 3 * X, 2.0)], 3.0).value == pytest.approx(0, abs=1e-9)
    assert momentum_error([Collision(-X, 3 * X, 2.0)], 6.0).value == pytest.approx(1 / 3, abs=1e-6)
    assert momentum_error([Collision(-X, 0 * X, 2.0)]).value == pytest.approx(1)
    assert momentum_error([Collision(-X, -X, 2.0)]).value == pytest.approx(1)


def test_what_the_standard_errors_leave_open_is_not_charged() -> None:
    """1.5 standard errors of the sum are taken off its length: (0.4 - 1.5 x 0.1) / 2."""
    error = 0.005 * np.eye(3)
    hit = Collision(-X, X + np.array([0, 0.4, 0]), 2.0, error, error)
    expected = (0.4 - 1.5 * 0.1) / (1 + np.hypot(1, 0.4))
    assert momentum_error([hit], 1.0).value == pytest.approx(expected, abs=1e-6)


def test_one_ratio_for_all_hits_of_a_pair_and_one_pair_each() -> None:
    """Two hits with ratios 1 and 3 contradict one another in one pair, not in two."""
    hits = [Collision(-X, X, 2.0, pair="ab"), Collision(-X, 3 * X, 2.0, pair="ab")]
    assert momentum_error(hits).value == pytest.approx(0.2, abs=1e-4)
    apart = [hits[0], hits[1]._replace(pair="ac")]
    assert momentum_error(apart).value == pytest.approx(0, abs=1e-6)
    bad = [*apart, Collision(-X, turned(60), 2.0, pair="bc")]
    assert momentum_error(bad).value == pytest.approx(0.5, abs=1e-4)
    assert momentum_error(bad).evidence["pair"] == "bc"


@few
@given(st.integers(0, 10**6))
def test_units_world_swap_and_reversed_time_do_not_matter(seed: int) -> None:
    """Random hits keep their value in another unit and world, with the bodies exchanged and the film backwards."""
    rng = np.random.default_rng(seed)
    hits = []
    for _ in range(3):
        root = rng.normal(0, 0.05, (2, 3, 3))
        ci, cj = root @ np.swapaxes(root, 1, 2)
        hits.append(Collision(rng.normal(size=3) - 2 * X, rng.normal(size=3) + 2 * X, 2.0, ci, cj))
    value = momentum_error(hits).value
    scale, turn, _ = world(seed)
    square = scale**2

    def moved(c: np.ndarray) -> np.ndarray:
        return square * turn @ c @ turn.T

    other = [
        Collision(scale * turn @ a, scale * turn @ b, scale * v, moved(ci), moved(cj)) for a, b, v, ci, cj, _ in hits
    ]
    assert momentum_error(other).value == pytest.approx(value, abs=1e-4)
    assert momentum_error([Collision(b, a, v, cj, ci) for a, b, v, ci, cj, _ in hits]).value == pytest.approx(
        value, abs=1e-4
    )
    assert momentum_error([h._replace(dvi=-h.dvi, dvj=-h.dvj) for h in hits[::-1]]).value == pytest.approx(
        value, abs=1e-6
    )  # type: ignore[operator]


def test_reasons() -> None:
    """No bodies, no collision, missing numbers and weak hits; only well-measured weakness is detectable."""
    assert reason(lambda: momentum_error(None))[0] == "no_object"
    assert reason(lambda: momentum_error([])) == ("no_collision", True)
    assert reason(lambda: momentum_error([Collision(X * np.nan, X, 2.0)]))[0] == "all_nan"
    assert reason(lambda: momentum_error([Collision(X[:2], X, 2.0)]))[0] == "bad_shape"
    assert reason(lambda: momentum_error([Collision(-0.1 * X, 0.1 * X, 2.0)])) == ("weak_collision", True)
    noisy = Collision(-X, X, 2.0, np.eye(3), np.eye(3))
    assert reason(lambda: momentum_error([noisy])) == ("weak_collision", False)
    with pytest.raises(ValueError, match="positive"):
        momentum_error([Collision(-X, X, 2.0)], -1.0)


def bounced(fps: float, tc: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the path of a ball under gravity that changes its velocity by (0.5, -3, 0.2) at `tc`."""
    t = np.arange(round(3 * fps)) / fps
    s = (t - tc)[:, None]
    return t, np.array([0.0, 0, 6]) + s * [1, 1, 0] + 0.5 * s * s * [0, 2.0, 0] + np.maximum(0, s) * [0.5, -3, 0.2]


@pytest.mark.parametrize("fps", [12, 24, 60])
def test_a_velocity_change_is_read_from_a_path(fps: float) -> None:
    """Exactly from exact data; within its own error from noisy depth, drop-outs and an outlier."""
    t, path = bounced(fps, 1.51)
    dv, _ = velocity_change(t, path, 1.51, 0.3)
    assert dv == pytest.approx([0.5, -3, 0.2], abs=1e-3)
    rng = np.random.default_rng(9)
    noisy = path * (1 + rng.normal(0, 0.004, (len(t), 1))) + rng.normal(0, 0.002, path.shape)
    noisy[rng.random(len(t)) < 0.05] = np.nan
    noisy[int(1.3 * fps)] += 1.0
    dv, c = velocity_change(t, noisy, 1.51, 0.3, noisy)
    assert np.abs(dv - [0.5, -3, 0.2])[:2].max() < 4 * np.sqrt(np.diag(c)[:2].max())
    assert np.sqrt(c[1, 1]) < 0.5


def test_a_velocity_change_stops_at_the_next_contact() -> None:
    """A second bounce 0.3 s later disturbs the first only when it is not named."""
    t, path = bounced(24, 1.51)
    path = path + np.maximum(0, t - 1.81)[:, None] * [0.0, 5.0, 0.0]
    named, _ = velocity_change(t, path, 1.51, 0.3, contacts=[1.51, 1.81])
    assert named == pytest.approx([0.5, -3, 0.2], abs=1e-3)
    unnamed, _ = velocity_change(t, path, 1.51, 0.3)
    assert abs(unnamed[1] + 3) > 0.5


def test_two_balls_that_collide_conserve_momentum() -> None:
    """The whole way from two noisy paths to R22: lawful reads near 0, a reaction 60 deg off does not."""
    rng = np.random.default_rng(10)
    t = np.arange(72) / 24
    s = (t - 1.5)[:, None]
    for degrees in (0, 60):
        changes = []
        for v, dv in (([1.0, 0, 0], -0.8 * X), ([-0.5, 0, 0], 1.6 * turned(degrees))):
            path = np.array([0, 0.0, 5]) + s * v + np.maximum(0, s) * dv
            changes += velocity_change(t, path + rng.normal(0, 0.003, path.shape), 1.5, 0.3, path)
        value = momentum_error([Collision(changes[0], changes[2], 1.5, changes[1], changes[3])]).value
        assert value < 0.05 if degrees == 0 else 0.3 < value <= 0.5
    assert reason(lambda: velocity_change(t[:20], np.zeros((20, 3)), 0.1, 0.3))[0] == "too_few_frames"
