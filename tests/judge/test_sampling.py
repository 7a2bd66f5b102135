"""Frames are chosen by time, both ends in, and encoded the same way each time."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.judge.sampling import frames_of, jpeg, sample
from pvbench_suite.judge.settings import LONG_SIDE
from pvbench_suite.video.types import Clip
from tests.judge.world import CLIP, settings

HERE = "http://host"


def test_ten_seconds_give_two_frames_a_second_and_both_ends() -> None:
    times = np.arange(241) / 24.0
    chosen = sample(times, 32, 16)
    assert len(chosen) == 21
    assert np.allclose(times[chosen], np.arange(21) / 2.0)


@pytest.mark.parametrize(("seconds", "count"), [(1.0, 16), (5.0, 16), (7.0, 16), (12.0, 25), (15.5, 32), (600.0, 32)])
def test_there_are_16_to_32_frames_whatever_the_length(seconds: float, count: int) -> None:
    times = np.linspace(0.0, seconds, 3000)
    chosen = sample(times, 32, 16)
    assert len(chosen) == count
    assert (chosen[0], chosen[-1]) == (0, 2999)


def test_a_short_clip_gives_all_its_frames() -> None:
    assert sample(np.arange(5) / 8.0, 32, 16).tolist() == [0, 1, 2, 3, 4]
    assert sample([0.0], 32, 16).tolist() == [0]


def test_frames_are_chosen_by_time_and_not_by_index() -> None:
    """Half of the frames lie in the first tenth of this clip of variable rate."""
    times = np.concatenate([np.linspace(0.0, 1.0, 100, endpoint=False), np.linspace(1.0, 10.0, 100)])
    chosen = times[sample(times, 32, 16)]
    assert np.abs(np.diff(chosen) - 0.5).max() < 0.1


def test_the_rate_of_the_file_does_not_change_what_is_seen() -> None:
    slow, fast = np.arange(81) / 8.0, np.arange(601) / 60.0
    assert np.allclose(slow[sample(slow, 32, 16)], fast[sample(fast, 32, 16)], atol=1 / 16)


@given(st.lists(st.floats(0.001, 3.0), min_size=1, max_size=200), st.integers(2, 64), st.integers(2, 20))
def test_any_timestamps_give_increasing_frames_with_both_ends(steps: list[float], most: int, least: int) -> None:
    times = np.concatenate([[0.0], np.cumsum(steps)])
    chosen = sample(times, most, min(least, most))
    assert (chosen[0], chosen[-1]) == (0, len(times) - 1)
    assert (np.diff(chosen) > 0).all()
    assert len(chosen) <= max(most, 1)


def test_a_frame_keeps_its_colors_and_its_size() -> None:
    frame = np.zeros((180, 320, 3), dtype=np.uint8)
    frame[..., 0] = 200
    sent = jpeg(frame)
    back = cv2.imdecode(np.frombuffer(sent.data, np.uint8), cv2.IMREAD_COLOR)
    assert sent.hw == back.shape[:2] == (180, 320)
    assert np.abs(back[..., ::-1].astype(int) - frame).max() < 6


@pytest.mark.parametrize("hw", [(720, 1280), (1280, 720), (641, 7), (2000, 1)])
def test_the_long_side_is_capped_and_the_shape_kept(hw: tuple[int, int]) -> None:
    sent = jpeg(np.zeros((*hw, 3), dtype=np.uint8))
    assert max(sent.hw) == LONG_SIDE
    assert all(abs(got - max(1.0, side * LONG_SIDE / max(hw))) <= 0.5 for got, side in zip(sent.hw, hw, strict=True))


def test_equal_clips_give_equal_bytes() -> None:
    first, second = (frames_of(CLIP, settings(HERE)) for _ in range(2))
    assert first == second
    assert first.times[0] == 0.0
    assert first.times[-1] == round(float(CLIP.times[-1]), 3)


def test_the_most_frames_can_be_set_lower_than_the_least() -> None:
    long = Clip(np.zeros((100, 8, 8, 3), dtype=np.uint8), np.arange(100) / 10.0, (8, 8))
    assert len(frames_of(long, settings(HERE, frames=4)).pictures) == 4


def test_tokens_of_a_picture_are_its_patches() -> None:
    assert jpeg(np.zeros((360, 640, 3), dtype=np.uint8)).tokens == 12 * 20
