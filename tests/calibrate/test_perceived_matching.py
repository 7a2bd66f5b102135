"""Who is who: masks of known overlap, exchanged identities, contacts of known recall and timing."""

from __future__ import annotations

import numpy as np
import pytest

from pvbench_suite.calibrate.perceived.matching import (
    STRANGER,
    Overlap,
    assigned,
    by_clip,
    matched_contacts,
    once,
    switches,
)


def overlap_of(true: np.ndarray, seen: np.ndarray) -> Overlap:
    """Return the overlap of masks (T, N, h, w) and (T, M, h, w)."""
    shared = np.einsum("tnij,tmij->tnm", true.astype(float), seen.astype(float))
    return Overlap(true.sum(axis=(2, 3)).astype(float), seen.sum(axis=(2, 3)).astype(float), shared)


def squares(places: np.ndarray, side: int = 10, hw: tuple[int, int] = (40, 120)) -> np.ndarray:
    """Return masks (T, N, h, w) of squares whose left upper corners are `places` (T, N, 2) as (x, y)."""
    out = np.zeros((*places.shape[:2], *hw), dtype=bool)
    for t, n in np.ndindex(*places.shape[:2]):
        x, y = places[t, n]
        if x >= 0:
            out[t, n, y : y + side, x : x + side] = True
    return out


def two(frames: int = 12) -> np.ndarray:
    """Return the places (T, 2, 2) of two squares that stand apart and slide."""
    t = np.arange(frames)
    return np.stack([np.stack([t, 0 * t], axis=-1), np.stack([60 + t, 20 + 0 * t], axis=-1)], axis=1)


@pytest.mark.parametrize(("shift", "iou"), [(0, 1.0), (2, 80 / 120), (5, 50 / 150), (10, 0.0)])
def test_the_overlap_of_shifted_squares_is_known(shift: int, iou: float) -> None:
    """A square of 10 moved by s shares 10 (10 - s) pixels of 100 + 10 s."""
    places = two()[:, :1]
    overlap = overlap_of(squares(places), squares(places + np.array([shift, 0])))
    assert overlap.iou[:, 0, 0] == pytest.approx(np.full(12, iou))
    assert overlap.whole[0, 0] == pytest.approx(iou)
    assert by_clip(overlap).tolist() == [0 if iou >= 0.1 else -1]


def test_an_empty_record_matches_nothing() -> None:
    """No perceived object: nobody is anybody, and nothing switches."""
    overlap = overlap_of(squares(two()), np.zeros((12, 0, 40, 120), dtype=bool))
    assert by_clip(overlap).tolist() == [-1, -1]
    assert switches(overlap) == 0


def test_the_best_total_wins_over_the_best_single() -> None:
    """Hungarian gives up the best pair where the total is larger without it."""
    assert assigned(np.array([[0.9, 0.8], [0.7, 0.0]]), 0.1).tolist() == [1, 0]
    assert assigned(np.array([[0.05]]), 0.1).tolist() == [-1]


@pytest.mark.parametrize("exchanges", [(), (6,), (4, 8)])
def test_each_exchange_of_two_identities_is_two_switches(exchanges: tuple[int, ...]) -> None:
    """The masks are perfect; only who is called what changes."""
    true = squares(two())
    seen, order = true.copy(), [0, 1]
    for t in range(len(true)):
        if t in exchanges:
            order = order[::-1]
        seen[t] = true[t][order]
    assert switches(overlap_of(true, seen)) == 2 * len(exchanges)


def test_an_identity_that_comes_back_is_no_switch_and_a_new_one_is() -> None:
    """A gap alone costs nothing; a fresh identity after it costs one."""
    true = squares(two()[:, :1])
    same = np.concatenate([true, np.zeros_like(true)], axis=1)
    same[4:7, 0] = False
    fresh = same.copy()
    fresh[7:, 1], fresh[7:, 0] = true[7:, 0], False
    assert switches(overlap_of(true, same)) == 0
    assert switches(overlap_of(true, fresh)) == 1


def test_a_second_mask_that_fits_a_little_better_takes_no_identity_over() -> None:
    """An object keeps the identity that it has while that one still overlaps by half."""
    places = two()[:, :1]
    seen = np.concatenate([squares(places + np.array([2, 0])), squares(places + np.array([1, 0]))], axis=1)
    seen[:6, 1] = False
    assert switches(overlap_of(squares(places), seen)) == 0


def test_contacts_are_found_within_the_gate_with_known_times() -> None:
    """Two of three are found, one of them with the wrong partner; a fourth is false."""
    true = [(0.5, 0, -1), (1.0, 0, 1), (1.6, 1, -1)]
    seen = [(0.52, 0, -1), (0.97, 0, STRANGER), (1.2, 0, 1)]
    found = {f.true: f for f in matched_contacts(true, seen, 1.5 / 24)}
    assert set(found) == {0, 1}
    assert [found[k].late for k in (0, 1)] == pytest.approx([0.02, -0.03])
    assert [found[k].partner for k in (0, 1)] == [True, False]


def test_contacts_match_one_to_one_and_prefer_the_right_partner() -> None:
    """One perceived contact cannot be two true ones; of two candidates the right pair goes first."""
    assert len(matched_contacts([(1.0, 0, -1), (1.02, 0, -1)], [(1.01, 0, -1)], 0.06)) == 1
    best = matched_contacts([(1.0, 0, 1)], [(1.0, 0, -1), (1.05, 1, 0)], 0.06)
    assert [(f.seen, f.partner) for f in best] == [(1, True)]
    assert matched_contacts([(1.0, 0, -1)], [(1.0, 1, -1)], 0.06) == []
    assert matched_contacts([(1.0, 0, -1)], [(1.0, STRANGER, -1)], 0.06) == []


def test_contacts_that_follow_within_the_gate_count_once() -> None:
    """A ball that comes to rest touches many times in one frame; other pairs are told apart."""
    many = [(1.0, 0, -1), (1.02, -1, 0), (1.5, 0, -1), (1.01, 0, 1)]
    assert once(many, 0.06) == [(1.0, 0, -1), (1.01, 0, 1), (1.5, 0, -1)]
