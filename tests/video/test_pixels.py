"""Frames are shown as a viewer would see them: turned, with square pixels, shrunk by areas."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.video.pixels import Orientation, Shaper, display_size, working_size

# Every pixel of this image differs, so each of the eight orientations gives another one.
IMAGE = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


@pytest.mark.parametrize(
    ("turn", "expected", "degrees", "mirrored"),
    [
        (Orientation(), IMAGE, 0, False),
        (Orientation(True, True, False), np.rot90(IMAGE, -1), 90, False),
        (Orientation(False, True, True), np.rot90(IMAGE, 2), 180, False),
        (Orientation(True, False, True), np.rot90(IMAGE, 1), 270, False),
        (Orientation(False, True, False), np.fliplr(IMAGE), 0, True),
        (Orientation(True, True, True), np.rot90(np.fliplr(IMAGE), -1), 90, True),
        (Orientation(False, False, True), np.rot90(np.fliplr(IMAGE), 2), 180, True),
        (Orientation(True, False, False), np.rot90(np.fliplr(IMAGE), 1), 270, True),
    ],
)
def test_degrees_and_mirroring_name_what_is_done_to_the_pixels(turn, expected, degrees, mirrored):
    np.testing.assert_array_equal(turn.apply(IMAGE), expected)
    assert (turn.degrees, turn.mirrored) == (degrees, mirrored)


def test_the_eight_orientations_are_all_different():
    results = {Orientation(*flags).apply(IMAGE).tobytes() for flags in itertools.product([False, True], repeat=3)}
    assert len(results) == 8


def test_pixels_that_are_not_square_stretch_the_axis_that_grows():
    assert display_size(640, 480, Fraction(16, 9))[:2] == (1138, 480)
    assert display_size(640, 480, Fraction(1, 2))[:2] == (640, 960)
    assert display_size(640, 480, Fraction(1)) == (640, 480, None)
    assert display_size(641, 513, Fraction(2565, 2564)) == (641, 513, None)
    assert display_size(640, 480, Fraction(1, 999))[:2] == (640, 480)


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 1000))
def test_the_working_size_never_exceeds_the_long_side_nor_the_frame(width, height, long_side):
    w, h = working_size(width, height, long_side)
    assert 1 <= w <= min(width, long_side) or w == 1
    assert 1 <= h <= min(height, long_side) or h == 1
    if max(width, height) <= long_side:
        assert (w, h) == (width, height)


def test_shrinking_averages_areas():
    """A chessboard of single pixels becomes an even grey, with no bias."""
    av = pytest.importorskip("av")
    board = np.indices((64, 64)).sum(axis=0) % 2 * 200
    frame = av.VideoFrame.from_ndarray(np.repeat(board[..., None], 3, axis=2).astype(np.uint8), format="rgb24")
    image = Shaper(32).image(frame)
    assert image.shape == (32, 32, 3)
    np.testing.assert_allclose(image[2:-2, 2:-2], 100, atol=1)
