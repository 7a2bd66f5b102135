"""Order of depth from points that drop out, against the simulator's order of drawing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.perception.derived.ordering import cues
from pvbench_suite.physics.depth_order import depth_order
from tests.perception.derived_worlds import FULL, derived, provide

SEEDS = [-1, 0]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "least"), [("overlap", 0.8), ("hide", 0.4), ("sundial", 0.5)])
def test_cues_are_those_of_the_drawing(name: str, least: float, seed: int) -> None:
    """No cue is contrary to the truth, and at least that share of the frames with a true cue has one."""
    made = derived(name, hw=FULL, seed=seed)
    found, true = made.ordering.cue, made.truth["ordering"].cue
    assert (found[true != 0] != -true[true != 0]).all()
    assert (found[true != 0] == true[true != 0]).mean() >= least
    assert (found == -np.swapaxes(found, 1, 2)).all()
    assert depth_order(made.ordering.depth, found).value == 1.0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_far_box_that_is_drawn_over_a_near_one_is_seen_to_be(seed: int) -> None:
    """The masks and the tracks say that the box is in front; its depth says that it is not."""
    made = derived("overlap", "depth_swap", hw=FULL, seed=seed)
    found, true = made.ordering.cue, made.truth["ordering"].cue
    assert (found[true != 0] != -true[true != 0]).all()
    assert depth_order(made.ordering.depth, found).value == 0.0


def test_the_cue_does_not_come_from_the_depth_under_test() -> None:
    """Any other depth gives the same cues; flat depth then reads one half, and not nothing."""
    made = derived("overlap", hw=FULL)
    depth = made.read["depth"]
    flat = replace(depth, z=np.full_like(depth.z, 5.0))
    again = provide({**made.read, "depth": flat}, "ordering", contacts=made.contacts)
    assert (again.cue == made.ordering.cue).all()
    assert depth_order(again.depth, again.cue).value == 0.5
    assert (cues(made.read["masks"], made.read["tracks"]) == made.ordering.cue).all()


def test_bodies_that_meet_or_pass_apart_have_no_order() -> None:
    """Two pucks that touch cover nothing of each other: no cue, and R01 is not measured."""
    made = derived("pucks", hw=FULL)
    assert not made.ordering.cue.any()
    with pytest.raises(Unmeasurable, match="no_cue"):
        depth_order(made.ordering.depth, made.ordering.cue)


def test_a_cue_at_a_contact_is_taken_out() -> None:
    """Frames within a tenth of a second of a contact of the pair have none; others keep theirs."""
    made = derived("overlap", hw=FULL)
    middle = made.bodies.times[np.flatnonzero(made.ordering.cue[:, 0, 1])[5]]
    met = replace(made.contacts, when=np.array([middle]), first=np.array([0]), second=np.array([1]))
    again = provide(made.read, "ordering", contacts=met)
    near = np.abs(made.bodies.times - middle) <= 0.1
    assert not again.cue[near].any()
    assert (again.cue[~near] == made.ordering.cue[~near]).all()


def test_depths_are_those_of_the_drawn_surfaces() -> None:
    """Within the boxes' own thickness of the median depth of the truth, which is not taken at the shared boundary."""
    made = derived("overlap", hw=FULL)
    assert made.ordering.depth == pytest.approx(made.truth["ordering"].depth, abs=0.6)
