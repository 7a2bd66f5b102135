"""Why an object is not seen, from masks alone: hidden, out of the frame, or unexplained, on drawn masks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pvbench_suite.feeds.bodies import motion
from pvbench_suite.perception.embedded.bodies import PlanarBodies
from pvbench_suite.perception.embedded.states import HIDDEN, OUT, SEEN, UNEXPLAINED, object_states
from pvbench_suite.perception.types import Masks
from pvbench_suite.physics.permanence import unexplained_absence
from pvbench_suite.video.types import Clip

SIZE, FRAMES = (120, 200), 48
TIMES = np.arange(FRAMES) / 24.0
YY, XX = np.mgrid[: SIZE[0], : SIZE[1]]
Place = Callable[[float], tuple[float, float]]


def disc(place: tuple[float, float], radius: float) -> np.ndarray:
    """Return the mask of a disc, cut at the frame."""
    return np.hypot(XX - place[0], YY - place[1]) <= radius


def film(*paths: Place, radii: tuple[float, ...] = (9.0,), hidden: np.ndarray | None = None) -> np.ndarray:
    """Return masks (T, N, h, w) of discs on `paths`; later ones lie in front, `hidden` (h, w) before them all."""
    out = np.zeros((FRAMES, len(paths), *SIZE), dtype=bool)
    for t, now in enumerate(TIMES):
        for n, (path, radius) in enumerate(zip(paths, radii, strict=True)):
            out[t, n] = disc(path(now), radius)
            out[t, :n] &= ~out[t, n]
        if hidden is not None:
            out[t, :, hidden] = False
    return out


def states(dense: np.ndarray) -> np.ndarray:
    """Return the states (T, N) of drawn masks; slivers below 20 px are not detected."""
    dense = dense & (dense.sum(axis=(2, 3)) >= 20)[..., None, None]
    names = tuple(f"object {n}" for n in range(dense.shape[1]))
    masks = Masks.from_dense(TIMES, dense, names, SIZE, dense.any(axis=(2, 3)).astype(np.float32))
    clip = Clip(np.zeros((FRAMES, *SIZE, 3), np.uint8), TIMES, SIZE)
    bodies = PlanarBodies()(clip, {"masks": masks})
    assert motion(bodies) > 1.0
    return object_states(bodies, masks)


def across(t: float) -> tuple[float, float]:
    """From left to right in two seconds."""
    return 30.0 + 70.0 * t, 60.0


POST = (XX >= 85) & (XX < 120)


def test_what_vanishes_in_the_open_is_unexplained_from_then_on() -> None:
    """Half of the clip, and R15 reads half."""
    dense = film(across)
    dense[24:] = False
    found = states(dense)
    assert (found[:24] == SEEN).all()
    assert (found[24:] == UNEXPLAINED).all()
    assert unexplained_absence(found, 1 / 24).value == 0.5


def test_what_appears_in_the_open_is_unexplained_until_then() -> None:
    """The same, read backwards."""
    dense = film(across)
    dense[:12] = False
    assert (states(dense)[:12] == UNEXPLAINED).all()


def test_what_goes_behind_a_post_is_hidden_and_comes_back() -> None:
    """The post cuts it from its leading side."""
    found = states(film(across, hidden=POST))
    assert set(np.unique(found)) == {SEEN, HIDDEN}


def test_what_goes_behind_a_post_and_stays_there_is_hidden() -> None:
    """Nobody can say that it does not stand there."""
    found = states(film(across, hidden=XX >= 100))
    assert set(np.unique(found)) == {SEEN, HIDDEN}


def test_what_never_comes_out_where_a_post_ends_was_still_lawfully_hidden_when_it_went() -> None:
    """Vanishing where the path leads behind something is honest ambiguity (spec R15)."""
    dense = film(across, hidden=POST)
    dense[26:] = False
    assert not (states(dense) == UNEXPLAINED).any()


@pytest.mark.parametrize("way", [1, -1])
def test_what_leaves_or_enters_through_the_border_is_out(way: int) -> None:
    """The frame cuts it."""
    found = states(film(lambda t: (100.0 + way * 90.0 * t, 60.0)))
    assert set(np.unique(found)) == {SEEN, OUT}


def test_what_fades_is_not_hidden() -> None:
    """It shrinks on all sides, not from the leading one."""
    dense = film(across)
    for t in range(20, FRAMES):
        dense[t, 0] = disc(across(TIMES[t]), max(9.0 - 0.8 * (t - 19), 0.0))
    assert (states(dense)[33:] == UNEXPLAINED).all()


def test_what_a_larger_object_passes_in_front_of_is_hidden() -> None:
    """A moving occluder explains what it covers."""
    dense = film(lambda t: (90.0, 60.0 + 4.0 * t), lambda t: (20.0 + 80.0 * t, 62.0), radii=(8.0, 20.0))
    found = states(dense)
    assert set(np.unique(found[:, 0])) == {SEEN, HIDDEN}
    assert (found[:, 1] == SEEN).all()


def test_a_detector_that_drops_a_frame_now_and_then_costs_nothing() -> None:
    """R15 bridges what is short and rare."""
    dense = film(across)
    dense[[10, 30]] = False
    assert unexplained_absence(states(dense), 1 / 24).value == 0.0


def test_states_read_backwards_are_those_of_the_reversed_clip() -> None:
    """Appearing is vanishing, read backwards."""
    dense = film(across, hidden=POST)
    dense[40:] = False
    np.testing.assert_array_equal(states(dense[::-1])[::-1], states(dense))
