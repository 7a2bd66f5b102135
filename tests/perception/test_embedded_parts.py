"""What is seen of a body are parts at times: beside a thin post, or of a thing that turns in its place."""

from __future__ import annotations

import numpy as np
import pytest

from pvbench_suite.perception.embedded.background import Scene
from pvbench_suite.perception.embedded.blobs import merged, region_of
from pvbench_suite.perception.embedded.objects import in_place
from pvbench_suite.perception.embedded.sightings import covered_up
from pvbench_suite.perception.embedded.states import SEEN, UNEXPLAINED, object_states
from pvbench_suite.perception.embedded.tracking import Path, born
from tests.perception.test_embedded_worlds import Disc, World, film, objects, perceive

TIMES = np.arange(48) / 24.0
SIZE = (120, 160)
YY, XX = np.mgrid[: SIZE[0], : SIZE[1]]


def slowly(t: float) -> tuple[float, float]:
    """From left to right past a post, a diameter in 0.7 s."""
    return 120.0 + 40.0 * t, 110.0


def test_a_disc_seen_on_both_sides_of_a_thin_post_is_one_object():
    """It is never gone, and its centre is told only where no part of it is behind the post."""
    clip, _, centres = film(World((Disc(slowly),), posts=((160, 178),)))
    made = perceive(clip, "masks", "bodies")
    assert objects(made["masks"]) == [0]
    assert (object_states(made["bodies"], made["masks"])[:, 0] == SEEN).mean() > 0.95
    error = np.linalg.norm(made["bodies"].uv[:, 0] - centres[:, 0], axis=-1)
    assert np.isfinite(error).sum() > 20
    assert np.nanmax(error) < 2.0


def test_a_double_that_appears_beside_a_disc_is_another_object():
    """Together they are more than the whole: the first is gone without a reason, and the second came without one."""
    first = Disc(lambda t: (60.0 + 40.0 * t, 110.0), exists=lambda t: t < 1.2)
    second = Disc(lambda t: (100.0 + 40.0 * t, 110.0), exists=lambda t: t > 1.0)
    made = perceive(film(World((first, second)))[0], "masks", "bodies")
    found = object_states(made["bodies"], made["masks"])
    assert len(objects(made["masks"])) == 2
    assert ((found == UNEXPLAINED).mean(axis=0) > 0.3).all()


def test_two_parts_make_one_region():
    """The merged region has the pixels and the centroid of both."""
    image = np.full((*SIZE, 3), 128, np.uint8)
    whole = np.hypot(XX - 80, YY - 60) < 15
    one, two = whole & (XX < 76), whole & (XX > 82)
    both = merged(region_of(one, image), region_of(two, image))
    np.testing.assert_array_equal(both.paste(SIZE), one | two)
    rows, columns = np.nonzero(one | two)
    np.testing.assert_allclose(both.centre, [columns.mean(), rows.mean()])
    assert not both.whole


@pytest.mark.parametrize("seconds", [0.3, 0.8, 1.2])
def test_a_dip_of_the_area_is_a_covering_from_its_first_slope_to_its_last(seconds: float):
    """Whether it is short or takes more than a second."""
    depth = np.clip(1.0 - np.abs(TIMES - 1.0) / (seconds / 2), 0.0, 1.0)
    covered = covered_up(TIMES, 400.0 * (1.0 - 0.9 * depth))
    np.testing.assert_array_equal(covered, depth * 0.9 > 0.05 + 1e-9)


@pytest.mark.parametrize(
    "area",
    [
        400.0 * (1.0 - 0.35 * np.sin(6.0 * TIMES) ** 2),
        100.0 * np.exp(1.5 * TIMES),
        400.0 * np.exp(-1.5 * TIMES),
        np.where(TIMES < 1.0, 400.0, 0.0),
    ],
    ids=["turns", "comes", "goes", "is lost"],
)
def test_what_turns_comes_goes_or_is_lost_was_not_covered(area: np.ndarray):
    """A covering is deep, and ends."""
    assert not covered_up(TIMES, area).any()


def piece(x: float, start: int, stop: int, speed: float = 0.5) -> Path:
    """Return the path of a disc of radius 6 that begins at (x, 60) in frame `start` and ends before `stop`."""
    image = np.full((*SIZE, 3), 128, np.uint8)
    at = {t: region_of(np.hypot(XX - x - speed * (t - start), YY - 60) < 6, image) for t in range(start, stop)}
    path = born(start, at[start])
    for t in range(start + 1, stop):
        path.add(t, at[t])
    return path


def turning(*paths: Path) -> bool:
    """Return whether `paths` are taken for pieces of a thing that turns in its place."""
    still = np.full((*SIZE, 3), 128.0, np.float32)
    world = Scene(np.zeros((48, *SIZE, 3), np.uint8), still, np.ones_like(still), np.ones(48))
    return in_place(world, list(paths), [[p.seen[t] for p in paths if t in p.seen] for t in range(48)])


def test_pieces_that_begin_and_end_in_one_spot_are_no_bodies():
    """Sides of a box on a turntable come and go in its midst."""
    pieces = piece(60, 0, 20), piece(72, 12, 48), piece(84, 15, 40)
    assert turning(*pieces)


def test_one_body_that_leaves_the_spot_makes_the_others_count():
    """What appears while another travels has no such excuse."""
    assert not turning(piece(60, 20, 48), piece(72, 12, 48), piece(84, 15, 40), piece(20, 0, 48, speed=2.5))


def test_one_body_that_vanishes_in_the_open_is_not_excused():
    """One piece, or two, are bodies."""
    assert not turning(piece(60, 0, 20))
    assert not turning(piece(60, 0, 20), piece(84, 25, 48))
