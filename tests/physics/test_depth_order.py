"""R01: the worst object's share of right orders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.depth_order import depth_order
from tests.physics.bodies import few, reason

FRAMES = 40


def ordered(n: int, frames: int = FRAMES) -> tuple[np.ndarray, np.ndarray]:
    """Return depths (T, n) rising with the number of the object, 20 % apart, and every cue."""
    depths = np.tile(2.0 * 1.2 ** np.arange(n), (frames, 1))
    return depths, np.ones((frames, n, n))


def swapped(n: int, share: float) -> np.ndarray:
    """Return depths whose first two objects change places in the first `share` of the frames."""
    depths, _ = ordered(n)
    flip = int(share * FRAMES)
    depths[:flip, [0, 1]] = depths[:flip, [1, 0]]
    return depths


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("n", [2, 3, 6])
def test_a_pair_swapped_for_a_share_of_the_time(n: int, share: float) -> None:
    """Its two objects lose that share of one of their n - 1 pairs."""
    m = depth_order(swapped(n, share), ordered(n)[1])
    assert m.value == pytest.approx(1 - share / (n - 1))
    assert m.n == n * (n - 1) // 2
    if share:
        assert m.evidence["worst_pair"] == (0, 1)
        assert m.evidence["mean_over_pairs"] == pytest.approx(1 - share / m.n)


def test_flat_depth_is_half_right() -> None:
    """Equal depths are ties everywhere, which the evidence says."""
    m = depth_order(np.full((FRAMES, 4), 3.0), ordered(4)[1])
    assert (m.value, m.evidence["share_of_ties"]) == (0.5, 1.0)


@few
@given(st.integers(0, 10**6))
def test_scale_time_and_the_order_of_objects_do_not_matter(seed: int) -> None:
    """Any unit, reversed time and any numbering of the objects give the same value."""
    rng = np.random.default_rng(seed)
    depths, cues = rng.uniform(1, 3, (20, 4)), rng.integers(-1, 2, (20, 4, 4)).astype(float)
    cues = np.triu(cues, 1) - np.swapaxes(np.triu(cues, 1), 1, 2)
    value = depth_order(depths, cues).value
    order = rng.permutation(4)
    assert depth_order(37.0 * depths, cues).value == pytest.approx(value)
    assert depth_order(depths[::-1], cues[::-1]).value == pytest.approx(value)
    assert depth_order(depths[:, order], cues[:, order][:, :, order]).value == pytest.approx(value)


def test_reasons() -> None:
    """Each way to have nothing to compare has its own reason."""
    depths, cues = ordered(3)
    assert reason(lambda: depth_order(None, cues))[0] == "no_object"
    assert reason(lambda: depth_order(depths[:7], cues[:7]))[0] == "too_few_frames"
    assert reason(lambda: depth_order(depths * np.nan, cues))[0] == "all_nan"
    assert reason(lambda: depth_order(-depths, cues))[0] == "zero_depth"
    assert (
        reason(lambda: depth_order(depths, np.tril(cues)[:, :, :] * [[0, 0, 0], [1, 0, 0], [1, 1, 0]]))[0] == "no_cue"
    )
    assert reason(lambda: depth_order(depths[:, :1], cues[:, :1, :1]))[0] == "no_cue"
    cues[4:] = 0
    assert reason(lambda: depth_order(depths, cues))[0] == "too_few_frames"
