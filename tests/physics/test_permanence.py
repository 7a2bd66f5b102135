"""R15: objects that hide, leave, blink or vanish."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.permanence import (
    HIDDEN,
    NEVER_FOUND,
    OUT,
    SEEN,
    UNEXPLAINED,
    object_permanence,
    object_states,
    unexplained_absence,
)
from tests.physics.bodies import few, reason

HW = (90.0, 160.0)


def gone(n: int, *runs: tuple[int, int], objects: int = 1) -> np.ndarray:
    """Return states of `objects`, the first of them unexplained in the given runs of frames."""
    state = np.zeros((n, objects))
    for start, stop in runs:
        state[start:stop, 0] = UNEXPLAINED
    return state


def scene(n: int = 60, speed: float = 1.5) -> dict[str, np.ndarray]:
    """Return one ball of radius 6 px, 5 units away, that crosses the frame before a wall 10 units away."""
    x = 30.0 + speed * np.arange(n)
    return {
        "present": np.ones((n, 1), dtype=bool),
        "uv": np.stack([x, np.full(n, 45.0)], axis=-1)[:, None],
        "z": np.full((n, 1), 5.0),
        "radius": np.full((n, 1), 6.0),
        "depth": np.full((n, 18, 32), 10.0),
    }


def lose(world: dict[str, np.ndarray], frames: slice) -> dict[str, np.ndarray]:
    """Return the world with the object absent, and its values missing, in the given frames."""
    lost = {name: part.astype(float).copy() for name, part in world.items()}
    lost["present"][frames] = 0
    for name in ("uv", "z", "radius"):
        lost[name][frames] = np.nan
    return lost


@pytest.mark.parametrize(("fps", "free"), [(8, 1), (12, 1), (24, 3), (60, 7)])
def test_gaps_up_to_an_eighth_of_a_second_are_bridged(fps: int, free: int) -> None:
    """The longest free gap costs nothing, one frame more costs all of it, at every frame rate."""
    n = 10 * fps
    assert unexplained_absence(gone(n, (n // 2, n // 2 + free)), 1 / fps).value == 0.0
    assert unexplained_absence(gone(n, (n // 2, n // 2 + free + 1)), 1 / fps).value == pytest.approx((free + 1) / n)


def test_blinking_is_not_bridged() -> None:
    """Gaps that are short one by one, but fill more than a fifth of their second, all count."""
    blink = gone(240, *((k, k + 3) for k in range(0, 240, 6)))
    assert unexplained_absence(blink).value == 0.5
    rare = gone(240, *((k, k + 1) for k in range(5, 240, 20)))
    assert unexplained_absence(rare).value == 0.0


@few
@given(st.integers(0, 10**6))
def test_order_of_objects_mirror_and_time_do_not_matter(seed: int) -> None:
    """The worst object counts, wherever it stands in the list; appearing is charged as vanishing is."""
    rng = np.random.default_rng(seed)
    state = np.where(rng.random((120, 5)) < 0.05, UNEXPLAINED, SEEN)
    state[60 : 60 + rng.integers(4, 50), 2] = UNEXPLAINED
    state[:, 4] = NEVER_FOUND
    m = unexplained_absence(state)
    assert unexplained_absence(state[:, rng.permutation(5)]).value == m.value
    assert m.n == 4
    assert m.evidence["shares"][4] is None
    assert m.evidence["object"] == 2


@few
@given(st.integers(1, 55), st.integers(1, 55), st.floats(0.1, 10.0))
def test_vanishing_in_the_open_costs_its_share_forwards_backwards_and_mirrored(a: int, b: int, unit: float) -> None:
    """No wall is nearer and the ball is inside the frame, so every frame of its absence is unexplained."""
    start, stop = min(a, b), max(a, b) + 5
    world = lose(scene(60, 1.2), slice(start, min(stop, 58)))
    wanted = (min(stop, 58) - start) / 60
    mirrored = {**world, "uv": world["uv"] * [-1, 1] + [160, 0], "depth": world["depth"][:, :, ::-1]}
    scaled = {**world, "z": unit * world["z"], "depth": unit * world["depth"]}
    for w in (world, {k: v[::-1] for k, v in world.items()}, mirrored, scaled):
        assert object_permanence(**w, hw=HW).value == pytest.approx(wanted)


def test_a_nearer_surface_hides_and_a_farther_one_does_not() -> None:
    """A surface at 0.94 of the depth over half of the disc hides; at 0.96, missing, or over less, it does not."""
    for depth, cover, hidden in ((4.7, 32, True), (4.8, 32, False), (np.nan, 32, False), (0.0, 32, False)):
        world = lose(scene(60, 0.0), slice(20, 40))
        world["depth"][20:40, :, :cover] = depth
        states = object_states(**world, hw=HW)
        assert set(states[20:40, 0]) == {HIDDEN if hidden else UNEXPLAINED}
        assert set(states[:20, 0]) == {SEEN}
    narrow = lose(scene(60, 0.0), slice(20, 40))
    narrow["depth"][:, :, :5] = 1.0
    assert set(object_states(**narrow, hw=HW)[20:40, 0]) == {UNEXPLAINED}
    narrow["depth"][:, :, 5:6] = 1.0
    assert set(object_states(**narrow, hw=HW)[20:40, 0]) == {HIDDEN}


def test_an_object_that_leaves_keeps_its_velocity() -> None:
    """Unexplained until less than half of its box is inside, then out; the same when it enters."""
    world = lose(scene(60, 3.0), slice(38, 60))
    states = object_states(**world, hw=HW)[:, 0]
    x = 30.0 + 3.0 * np.arange(60)
    assert states[38:].tolist() == np.where(x[38:] > 160, OUT, UNEXPLAINED).tolist()
    back = object_states(**{k: v[::-1] for k, v in world.items()}, hw=HW)[:, 0]
    assert back.tolist() == states[::-1].tolist()


def test_wrong_sightings_do_not_turn_the_path() -> None:
    """The Theil-Sen velocity survives two wild ones among the last ten, and fewer than 3 sightings stand still."""
    world = lose(scene(60, 3.0), slice(38, 60))
    clean = object_states(**world, hw=HW)
    world["uv"][[31, 34], 0] += 60.0
    assert np.array_equal(object_states(**world, hw=HW), clean)
    brief = lose(scene(60, 3.0), slice(2, 60))
    assert set(object_states(**brief, hw=HW)[2:, 0]) == {UNEXPLAINED}


def test_a_still_clip_has_no_motion() -> None:
    """It is known to be still only when 3 standard errors of its motion are below the cut."""
    state = gone(60)
    assert reason(lambda: unexplained_absence(state, motion=0.5)) == ("no_motion", True)
    assert reason(lambda: unexplained_absence(state, motion=0.5, motion_error=1.0)) == ("no_motion", False)
    assert unexplained_absence(state, motion=1.0).value == 0.0


def test_each_perception_reason_is_given() -> None:
    """The first check that holds is the reason."""
    world = scene()
    assert reason(lambda: unexplained_absence(np.full((60, 2), NEVER_FOUND)))[0] == "no_object"
    assert reason(lambda: unexplained_absence(gone(7)))[0] == "too_few_frames"
    assert reason(lambda: unexplained_absence(np.zeros(60)))[0] == "bad_shape"
    assert reason(lambda: object_states(**{**world, "present": world["present"] * 0}, hw=HW))[0] == "no_object"
    assert reason(lambda: object_states(**{**world, "z": world["z"][:9]}, hw=HW))[0] == "bad_shape"
    assert reason(lambda: object_states(**{k: v[:7] for k, v in world.items()}, hw=HW))[0] == "too_few_frames"
    assert reason(lambda: object_states(**{**world, "uv": world["uv"] * np.nan}, hw=HW))[0] == "all_nan"
    assert reason(lambda: object_states(**{**world, "depth": world["depth"] * 0}, hw=HW))[0] == "zero_depth"
    assert reason(lambda: object_states(**{**world, "z": world["z"] * 0}, hw=HW))[0] == "zero_depth"
