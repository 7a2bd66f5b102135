"""Penetration of bodies and planes, as the feed hands it to R24."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.feeds.gaps import penetrations
from pvbench_suite.physics.worst import worst
from tests.feeds.made import NOTHING, bodies, brief, clock, contacts, filmed, still_camera

T = clock(3.0)
FLOOR = np.array([[0.0, -1.0, 0.0, 1.0]])
#: 2 standard errors of a radius that is known to 3 %, and of two.
ONE, TWO = 0.06, 0.06 * np.sqrt(2)


def dip(least: float, far: float = 1.0) -> np.ndarray:
    """Return a gap (T,) that falls from `far` to `least`, stays there for half a second, and grows again."""
    return np.interp(T, [0.0, 1.25, 1.75, 3.0], [far, least, least, far])


def at(x: np.ndarray, y: float = 0.0, z: float = 5.0) -> np.ndarray:
    """Return a path (T, 3)."""
    return np.stack(np.broadcast_arrays(x, y, z), axis=-1)


def turned(*vectors: tuple[float, float, float]) -> np.ndarray:
    """Return orientations (T, N, 3, 3) that do not change."""
    R = np.stack([Rotation.from_rotvec(v).as_matrix() for v in vectors])
    return np.broadcast_to(R, (len(T), *R.shape))


def measured(made, record=None, said=NOTHING, camera=None):
    """Return the worst measurement."""
    found = penetrations(made, contacts(T, len(made.names)) if record is None else record, camera, said)
    return worst(lambda k: found[k](), len(found))


def test_two_balls_overlap_by_their_gap() -> None:
    """Half a radius deep reads 0.5 less what the radii may hide; a touch reads 0."""
    for overlap in (0.0, 0.5):
        still = at(np.zeros_like(T))
        m = measured(bodies(T, [at(0.4 + dip(-0.2 * overlap)), still]))
        assert m.value == pytest.approx(max(0.0, overlap - TWO), abs=2e-3)


@pytest.mark.parametrize("shape", ["sphere", "box"])
def test_bodies_sink_into_a_plane(shape: str) -> None:
    """A ball of 0.2 m and a cube of the same half extent sink half of that into the floor."""
    x = at(np.zeros_like(T))
    x[:, 1] = 1.0 - 0.2 - dip(-0.1)
    changes = {} if shape == "sphere" else {"half": np.full((1, 3), 0.2), "R": turned((0, 0, 0))}
    made = bodies(T, [x], shape, **changes)
    assert measured(made, contacts(T, 1, planes=FLOOR)).value == pytest.approx(0.5 - ONE, abs=2e-3)


def test_a_tilted_box_stands_on_its_edge_and_a_drum_rolls_on_its_mantle() -> None:
    """Tilted by 45 deg a cube reaches down by root 2; a drum on its side does not, however it has rolled."""
    x = at(np.zeros_like(T))
    cube = {"half": np.full((1, 3), 0.2), "R": turned((0, 0, np.pi / 4))}
    record = contacts(T, 1, planes=FLOOR)
    for sunk in (0.0, 0.1):
        x[:, 1] = 1.0 - 0.2 * np.sqrt(2) - dip(-sunk)
        assert measured(bodies(T, [x], "box", **cube), record).value == pytest.approx(
            max(0.0, sunk / 0.2 - ONE), abs=2e-3
        )
    lying = Rotation.from_rotvec(np.outer(2.0 * T, [0, 0, 1])) * Rotation.from_rotvec([np.pi / 2, 0, 0])
    x[:, 1] = 1.0 - 0.2 - dip(0.0)
    drum = {"half": np.array([[0.2, 0.5, 0.2]]), "R": lying.as_matrix()[:, None]}
    assert measured(bodies(T, [x], "cylinder", **drum), record).value == 0.0


def test_a_ball_sinks_into_a_box_and_a_box_into_a_box() -> None:
    """The thinner body's half-thickness is the unit; boxes turned by 45 deg meet edge on."""
    half = np.array([[0.2, 0.2, 0.2], [0.5, 0.3, 0.4]])
    still = at(np.zeros_like(T))
    mixed = bodies(T, [at(0.7 + dip(-0.1)), still], shape=("sphere", "box"), half=half, R=turned((0, 0, 0), (0, 0, 0)))
    se = 0.06 * np.hypot(0.2, 0.3) / 0.2
    assert measured(mixed).value == pytest.approx(0.5 - se, abs=2e-3)
    reach = 0.2 * np.sqrt(2)
    for sunk in (0.0, 0.1):
        both = bodies(
            T,
            [at(0.5 + reach + dip(-sunk)), still],
            shape=("box", "box"),
            half=half,
            R=turned((0, 0, np.pi / 4), (0, 0, 0)),
        )
        assert measured(both).value == pytest.approx(max(0.0, sunk / 0.2 - se), abs=2e-3)


def test_only_known_surfaces_are_tested_and_two_fixed_bodies_never() -> None:
    """A duck has no signed distance; a post on the floor is not a collision; no pair at all says so."""
    x = at(0.4 + dip(-0.1))
    half = {"half": np.full((2, 3), 0.2), "R": turned((0, 0, 0), (0, 0, 0))}
    ducks = bodies(T, [x, at(np.zeros_like(T))], "other", **half)
    with pytest.raises(Unmeasurable, match="no_object"):
        penetrations(ducks, contacts(T, 2, planes=FLOOR), None, NOTHING)
    balls = bodies(T, [x, at(np.zeros_like(T))])
    fixed = [{"name": f"ball_{k}", "fixed": True} for k in range(2)]
    with pytest.raises(Unmeasurable, match="no_object"):
        penetrations(balls, contacts(T, 2, planes=FLOOR), None, brief(*fixed))
    assert len(penetrations(balls, contacts(T, 2, planes=FLOOR), None, brief(fixed[0]))) == 2
    soft = brief({"name": "ball_0", "body": "soft"})
    assert len(penetrations(balls, contacts(T, 2, planes=FLOOR), None, soft)) == 1


def test_depth_noise_counts_along_the_ray_and_not_along_the_optical_axis() -> None:
    """A ball 45 deg below a level camera: depth noise of 0.5 % moves its height as much as its depth.

    The optical axis is parallel to the floor, and says that depth has no part in the height.
    """
    rng = np.random.default_rng(2)
    far = np.full_like(T, 2.0) * (1 + 0.005 * rng.normal(size=len(T)))
    x = np.stack([np.zeros_like(T), far, far], axis=-1)
    x[:, 1:] += dip(0.0)[:, None] * [-1.0, 0.0]
    record = contacts(T, 1, planes=np.array([[0.0, -1.0, 0.0, 2.2]]))
    found = penetrations(bodies(T, [x]), record, still_camera(T), NOTHING)
    assert found[0]().spread > 0.12
    level = np.stack([np.zeros_like(T), np.full_like(T, 0.05), far], axis=-1)
    level[:, 1] += 0.1 - dip(0.0)
    record = contacts(T, 1, planes=np.array([[0.0, -1.0, 0.0, 0.35]]))
    assert penetrations(bodies(T, [level]), record, still_camera(T), NOTHING)[0]().spread < 0.05


@pytest.mark.parametrize(("name", "violation"), [("thud", "sink"), ("pucks", "pass_through")])
def test_filmed_bodies_that_sink_or_pass_through_are_charged_and_lawful_ones_never(name: str, violation: str) -> None:
    """A ball and the floor of the room; two pucks, which are drums: their boxes' corners do not count.

    A hit that is over within the median of 0.125 s is no contact to the kernel, but not provably none.
    """
    _, _, made = filmed(name, violation)
    found = penetrations(made["bodies"], made["contacts"], made["cameras"], NOTHING)
    assert worst(lambda k: found[k](), len(found)).value > 0.5
    _, _, made = filmed(name)
    outcomes = [outcome(f) for f in penetrations(made["bodies"], made["contacts"], made["cameras"], NOTHING)]
    assert set(outcomes) <= {0.0, "no_motion", "not provably no_contact"}


def outcome(measure) -> float | str:
    """Return a measurement's value or its reason."""
    try:
        return measure().value
    except Unmeasurable as error:
        return error.reason if error.detectable or error.reason != "no_contact" else "not provably no_contact"
