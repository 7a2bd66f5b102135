"""Background under an object that lingers, shadows that touch the body, and frames at rest, on drawn truth."""

from __future__ import annotations

import numpy as np
import pytest

from pvbench_suite.perception.embedded.background import modelled, thresholds
from pvbench_suite.perception.embedded.frames import distinct_frames
from pvbench_suite.perception.embedded.lamp import lamp, lit
from pvbench_suite.perception.embedded.settled import settled
from pvbench_suite.video.types import Clip
from tests.perception.test_embedded_worlds import (
    BLUE,
    ORANGE,
    Disc,
    World,
    film,
    objects,
    overlap,
    perceive,
    shown,
    texture,
)

SIZE = (60, 90)
YY, XX = np.mgrid[: SIZE[0], : SIZE[1]]


def ground(contrast: float = 12.0) -> np.ndarray:
    """Return a textured ground (h, w, 3) YCrCb."""
    luma = texture(SIZE, (140, 128, 132), contrast, 3.0, 3)
    luma[..., 1:] = (128, 132)
    return luma


def stacked(*images: np.ndarray) -> np.ndarray:
    """Return images with a level of noise as a stack (T, h, w, 3) uint8."""
    rng = np.random.default_rng(1)
    return np.stack([np.clip(np.rint(i + rng.normal(0, 1.0, i.shape)), 0, 255) for i in images]).astype(np.uint8)


def lingering() -> tuple[np.ndarray, np.ndarray]:
    """Return a stack in which a textured patch creeps about one place for 60 % of the time, and the place (h, w)."""
    place = (XX >= 30) & (XX < 50) & (YY >= 20) & (YY < 40)
    skin = texture((200, 200), (120, 105, 150), 25.0, 2.0, 9)
    frames = []
    for t in range(50):
        image = ground()
        if t >= 20:
            image[place] = skin[2 * t : 2 * t + 60, : SIZE[1]][place]
        frames.append(image)
    return stacked(*frames), place


def test_the_ground_under_an_object_that_lingers_is_found() -> None:
    """The median is a mixture that is in no frame; the colour that comes back is the ground's."""
    stack, place = lingering()
    median = np.median(stack, axis=0).astype(np.float32)
    assert np.abs(median - ground())[place].max(axis=-1).mean() > 4.0
    found = settled(stack, median)
    assert np.abs(found - ground())[place].max(axis=-1).mean() < 2.0
    np.testing.assert_array_equal(found[~place], median[~place])


def test_an_object_that_lingers_is_no_noise() -> None:
    """The thresholds under it are those of the ground."""
    stack, place = lingering()
    limit = thresholds(stack, ground().astype(np.float32))
    assert limit[place].max() < 1.5 * limit[~place].max()


def test_a_background_that_is_seen_most_of_the_time_is_left_alone() -> None:
    """Where the median is in half of the frames it stands."""
    stack = stacked(*[ground()] * 30)
    median = np.median(stack, axis=0).astype(np.float32)
    np.testing.assert_array_equal(settled(stack, median), median)


def shaded(contrast: float, body: bool = True) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Return a stack of a body with its shadow at 0.65, the masks of both together, and those of the body."""
    frames, both, bodies = [], [], []
    for t in range(20):
        image, x = ground(contrast), 12 + 3 * t
        shade = (np.abs(XX - x - 12) <= 12) & (np.abs(YY - 40) <= 4)
        image[shade, 0] *= 0.65
        thing = np.hypot(XX - x, YY - 32) <= 11
        if body:
            image[thing] = (95.0, 120.0, 160.0)
        frames.append(image)
        both.append(shade | thing if body else shade)
        bodies.append(thing)
    return stacked(*frames), both, bodies


def test_a_shadow_that_touches_its_body_is_cut_off() -> None:
    """The lamp's share is read to a few percent, and what is left is the body."""
    stack, both, bodies = shaded(14.0)
    world = modelled(stack, ground(14.0).astype(np.float32))
    assert lamp(world, both) == pytest.approx(0.65, abs=0.03)
    for found, truth in zip(lit(world, both), bodies, strict=True):
        assert np.count_nonzero(found & truth) > 0.9 * np.count_nonzero(found | truth)


@pytest.mark.parametrize(("contrast", "body"), [(0.0, True), (14.0, False)])
def test_without_proof_nothing_is_cut_off(contrast: float, body: bool) -> None:
    """On flat ground no pattern shows through; and a scene in which all that moves looks like a shadow keeps it."""
    stack, both, _ = shaded(contrast, body)
    world = modelled(stack, ground(contrast).astype(np.float32))
    for found, truth in zip(lit(world, both), both, strict=True):
        np.testing.assert_array_equal(found, truth)


def test_a_rest_of_a_fifth_of_a_second_is_kept_where_all_other_frames_are_new() -> None:
    """A ball that vanishes five frames before the end takes none of them with it."""
    disc = Disc(lambda t: (30.0 + 100.0 * t, 110.0), exists=lambda t: t < 1.0)
    clip, _, _ = film(World((disc,), seconds=29 / 24))
    assert len(distinct_frames(clip)) == len(clip.times)


def test_content_at_a_third_of_the_frames_is_not_taken_for_rests() -> None:
    """Eight new frames a second in a container of 24."""
    clip, _, _ = film(World((Disc(lambda t: (30.0 + 100.0 * t, 110.0)),), fps=8.0, seconds=2.0))
    index = np.arange(3 * len(clip.times)) // 3
    assert len(distinct_frames(Clip(clip.frames[index], np.arange(len(index)) / 24.0, clip.hw))) == len(clip.times)


def test_a_disc_that_turns_back_slowly_is_one_object_and_leaves_no_ghost() -> None:
    """It covers the place of its turn for most of the clip, never at rest."""

    def path(t: float) -> tuple[float, float]:
        return 60.0 + 90.0 * min(t, 1.0) - 14.0 * max(t - 1.0, 0.0), 110.0

    clip, truth, _ = film(World((Disc(path, colour=BLUE),), noise=1.0))
    masks = perceive(clip, "masks")["masks"]
    assert len(objects(masks)) == 1
    assert np.nanmin(overlap(masks, objects(masks)[0], shown(masks, clip, truth)[:, 0])) > 0.7


def test_one_disc_behind_a_post_while_another_crosses_it_are_two_objects() -> None:
    """No identity is switched, though both look alike and neither is seen for a while."""
    one = Disc(lambda t: (40.0 + 110.0 * t, 90.0), 12.0, ORANGE)
    two = Disc(lambda t: (280.0 - 100.0 * t, 150.0), 12.0, ORANGE)
    clip, truth, _ = film(World((one, two), posts=((150, 185),)))
    masks = perceive(clip, "masks")["masks"]
    assert len(objects(masks)) == 2
    for k in range(2):
        found = [overlap(masks, n, shown(masks, clip, truth)[:, k]) > 0.3 for n in objects(masks)]
        assert sorted(bool(f.any()) for f in found) == [False, True]
