"""Moving-object masks and identities of the embedded profile, against drawn truth."""

from __future__ import annotations

import numpy as np
import pytest

from pvbench_suite.perception.embedded.frames import distinct_frames
from pvbench_suite.video.types import Clip
from tests.perception.test_embedded_worlds import (
    BLUE,
    GREEN,
    ORANGE,
    Disc,
    World,
    coded,
    film,
    objects,
    overlap,
    owners,
    perceive,
    shown,
)


def falling(t: float) -> tuple[float, float]:
    """A free fall that stays in the frame."""
    return 160.0, 20.0 + 0.5 * 60.0 * t * t


def across(t: float) -> tuple[float, float]:
    """Straight from left to right."""
    return 30.0 + 100.0 * t, 110.0


def check(clip: Clip, truth: np.ndarray, least: float) -> None:
    """Assert that the masks hold exactly one object, that it is the true one, and how well it is cut out."""
    masks = perceive(clip, "masks")["masks"]
    assert len(objects(masks)) == 1, masks.names
    n = objects(masks)[0]
    found = overlap(masks, n, shown(masks, clip, truth)[:, 0])
    assert np.nanmedian(found) > least, found
    assert np.mean(np.nan_to_num(found, nan=1.0) > 0.5) > 0.95, found


def test_a_falling_disc_is_cut_out_in_every_frame():
    """One object, no piece missing, in a textured world."""
    clip, truth, _ = film(World((Disc(falling),)))
    check(clip, truth, 0.85)


@pytest.mark.parametrize("noise", [2.0, 5.0])
def test_sensor_noise_neither_hides_the_disc_nor_adds_objects(noise):
    """White noise of two or five levels is no motion."""
    clip, truth, _ = film(World((Disc(falling),), noise=noise))
    check(clip, truth, 0.75)


def test_a_codec_neither_hides_the_disc_nor_adds_objects():
    """H.264 at a low quality: blocks and ringing are no motion."""
    clip, truth, _ = film(World((Disc(falling),), noise=1.0))
    check(coded(clip, 26), truth, 0.7)


def test_a_flickering_exposure_adds_no_objects():
    """A gain that swings by 8 % is followed, and is no motion."""
    clip, truth, _ = film(World((Disc(across),), gain=lambda t: 1.0 + 0.08 * np.sin(9 * t)))
    check(clip, truth, 0.75)


def test_a_soft_cast_shadow_is_no_object():
    """A shadow that runs along under the disc has no edge and keeps the colour of the ground."""
    clip, truth, _ = film(World((Disc(across),), shadows=(lambda t: (30.0 + 100.0 * t, 190.0),)))
    check(clip, truth, 0.8)


@pytest.mark.parametrize("dark", [(0.2, 0.2, 0.2), (0.2, 0.3, 0.4)])
def test_a_shadow_that_touches_the_disc_is_no_part_of_it(dark):
    """A faint shadow, and the tinted one of a warm lamp beside a cold one, end where the body ends."""
    shadow = (lambda t: (30.0 + 100.0 * t, 126.0),)
    clip, truth, _ = film(World((Disc(across),), shadows=shadow, dark=dark))
    check(clip, truth, 0.75)


@pytest.mark.parametrize("turn", [0.7, 1.6])
def test_a_disc_that_comes_to_rest_stays_seen_and_leaves_no_ghost(turn):
    """Rest for most of the clip: the background must not absorb the disc, nor show it where it began."""

    def path(t: float) -> tuple[float, float]:
        return 40.0 + 120.0 * min(t, turn), 120.0

    clip, truth, _ = film(World((Disc(path),), seconds=3.0))
    check(clip, truth, 0.85)


@pytest.mark.parametrize("start", [0.8, 2.0])
def test_a_disc_that_rests_and_then_moves_is_seen_from_the_first_frame(start):
    """Rest first: the place that it leaves is background, and the disc was there all the time."""

    def path(t: float) -> tuple[float, float]:
        return 60.0 + 110.0 * max(t - start, 0.0), 120.0

    clip, truth, _ = film(World((Disc(path),), seconds=3.0))
    check(clip, truth, 0.85)


@pytest.mark.parametrize("colours", [(ORANGE, BLUE), (ORANGE, ORANGE)])
def test_two_discs_that_cross_keep_their_identities(colours):
    """They pass before each other at different heights of their paths: no switch, whatever their colours."""
    one = Disc(lambda t: (40.0 + 100.0 * t, 100.0), 13.0, colours[0])
    two = Disc(lambda t: (280.0 - 95.0 * t, 108.0), 13.0, colours[1])
    clip, truth, _ = film(World((one, two)))
    masks = perceive(clip, "masks")["masks"]
    assert len(objects(masks)) == 2, masks.names
    first, second = owners(masks, shown(masks, clip, truth)[:, 0]), owners(masks, shown(masks, clip, truth)[:, 1])
    ends = [0, 1, 2, len(first) - 3, len(first) - 2, len(first) - 1]
    assert len({first[k] for k in ends}) == 1, first
    assert len({second[k] for k in ends}) == 1, second
    assert first[0] != second[0]


def test_a_disc_that_passes_behind_a_post_is_one_object():
    """The identity survives the time behind the occluder."""
    clip, truth, _ = film(World((Disc(across, 12.0),), posts=((140, 185),)))
    masks = perceive(clip, "masks")["masks"]
    assert len(objects(masks)) == 1, masks.names
    assert set(owners(masks, shown(masks, clip, truth)[:, 0])) <= {-1, objects(masks)[0]}


def test_a_still_world_has_no_objects():
    """Noise alone moves nothing."""
    clip, _, _ = film(World((Disc(lambda _: (100.0, 100.0)),), noise=3.0))
    assert objects(perceive(clip, "masks")["masks"]) == []


def test_three_discs_are_three_objects():
    """Different sizes and speeds at once, each cut out well."""
    discs = (
        Disc(lambda t: (40.0 + 90.0 * t, 60.0), 10.0, ORANGE),
        Disc(lambda t: (280.0 - 80.0 * t, 120.0), 16.0, BLUE),
        Disc(lambda t: (60.0 + 60.0 * t, 190.0), 20.0, GREEN),
    )
    clip, truth, _ = film(World(discs))
    masks = perceive(clip, "masks")["masks"]
    assert len(objects(masks)) == 3, masks.names
    for k in range(3):
        owner = owners(masks, shown(masks, clip, truth)[:, k])
        assert len(set(owner)) == 1, owner
        assert np.nanmedian(overlap(masks, owner[0], shown(masks, clip, truth)[:, k])) > 0.8


def test_repeated_frames_are_dropped_and_true_times_kept():
    """16 frames/s of content in a 24 frames/s container: every third frame repeats its predecessor."""
    clip, _, _ = film(World((Disc(across),), fps=16.0))
    index = np.floor(np.arange(round(len(clip.times) * 1.5)) / 1.5).astype(int)
    double = Clip(clip.frames[index], np.arange(len(index)) / 24.0, clip.hw)
    kept = distinct_frames(double)
    assert len(kept) == len(clip.times)
    masks = perceive(double, "masks")["masks"]
    assert np.allclose(masks.times, double.times[kept])


def test_a_rest_is_not_taken_for_repeated_frames():
    """A noiseless scene at rest repeats its frames too, but for long: those stay, or half the clip would be lost."""

    def path(t: float) -> tuple[float, float]:
        return 40.0 + 120.0 * min(t, 1.0), 120.0

    clip, _, _ = film(World((Disc(path),)))
    assert len(distinct_frames(clip)) >= len(clip.times) - 1


def test_the_same_clip_gives_the_same_bytes():
    """A provider is a value: equal input, equal output, bit for bit."""
    clip, _, _ = film(World((Disc(falling),), noise=2.0, seconds=1.2))
    again = Clip(clip.frames.copy(), clip.times.copy(), clip.hw)
    a, b = perceive(clip, "contacts", "tracks"), perceive(again, "contacts", "tracks")
    assert a["masks"].counts.tobytes() == b["masks"].counts.tobytes()
    assert a["tracks"].uv.tobytes() == b["tracks"].uv.tobytes()
    assert a["bodies"].centre.tobytes() == b["bodies"].centre.tobytes()
    assert a["contacts"].airborne.tobytes() == b["contacts"].airborne.tobytes()
