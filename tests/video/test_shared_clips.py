"""Every clip of ``../shared/videos`` ends as its manifest says: decoded to so many frames, or broken in one line."""

from __future__ import annotations

import csv
import tracemalloc

import numpy as np
import pytest

from pvbench_suite.errors import BrokenVideo
from pvbench_suite.video.decode import decode_with_probe, probe
from tests.shared import SHARED, shared

LIST = SHARED / "videos" / "manifest.csv"
ROWS = list(csv.DictReader(LIST.open(encoding="utf-8"))) if LIST.is_file() else []

#: What must be in the message of each file that is broken.
BROKEN = {
    "audio_only_mp4.mp4": "no video stream (only audio)",
    "decord_corrupted.mp4": "invalid data after 28 of 50 frames",
    "der_text.mp4": "is no video that FFmpeg can open",
    "der_truncated_60k.mp4": "cut off: 60,000 of 167,048 bytes",
    "invalid_userdata.mp4": "no frame decodes, the header claims 5544 frames, 231.3 s",
    "unknown_codec_ac4.mp4": "no video stream",
    "zero_bytes.webm": "is empty (0 bytes)",
}
#: The manifest's probe could not open it, since its metadata is no UTF-8; the pictures are sound.
FRAMES = {"desks_nonutf8_meta.3gp": 71}
#: As displayed, where that differs from the coded size in the manifest: turned, or with pixels that are not square.
SIZE = {
    "decord_rot90.mov": (568, 320),
    "sar_16_9.mp4": (480, 1138),
    "carphone_pristine.mp4": (144, 193),
    "carphone_distorted.mp4": (144, 193),
    "desks_nonutf8_meta.3gp": (288, 384),
}
ROTATION = {"decord_rot90.mov": 90, "decord_rot180.mov": 180}
#: No time between frames, or its rate is the manifest's average over dropped frames.
NO_RATE = {"der_projectile_vfr_drop.mp4", "exo_slowmo_vfr.mp4", "flv_fps1000.flv"}


def test_there_are_clips_to_look_at():
    shared("videos", "manifest.csv")
    assert len(ROWS) == 76


@pytest.mark.parametrize("row", ROWS, ids=[str(k) for k in range(len(ROWS))])
def test_a_clip_ends_as_its_manifest_says(row):
    path = shared("videos", *row["file"].split("/"))
    if path.name in BROKEN:
        with pytest.raises(BrokenVideo) as caught:
            decode_with_probe(path)
        assert str(caught.value).startswith(f"{path.name}: ")
        assert BROKEN[path.name] in str(caught.value)
        assert "\n" not in str(caught.value)
        return
    found, clip = decode_with_probe(path)
    expected = FRAMES.get(path.name) or int(row["frames"])
    assert found.frames == len(clip.frames) == len(clip.times) == expected
    assert clip.hw == found.hw == (SIZE.get(path.name) or (int(row["h"]), int(row["w"])))
    assert max(clip.frames.shape[1:3]) <= 640
    assert clip.times[0] == 0
    assert np.all(np.diff(clip.times) > 0)
    assert found.rotation == ROTATION.get(path.name, 0)
    if row["vfr"]:
        assert found.vfr == (row["vfr"] == "True")
    if row["seconds"]:
        assert found.seconds == pytest.approx(float(row["seconds"]), abs=0.03)
    if row["fps"] and expected > 1 and path.name not in NO_RATE:
        assert found.rate == pytest.approx(float(row["fps"]), rel=0.005)


def test_the_other_rates_are_those_of_the_usual_step():
    """A dropped frame does not lower the rate, and an average that reads 1000 is not believed."""
    hostile = shared("videos", "hostile")
    assert probe(hostile / "der_projectile_vfr_drop.mp4", full=False).rate == pytest.approx(30, rel=0.001)
    assert probe(hostile / "flv_fps1000.flv", full=False).rate == pytest.approx(29.97, rel=0.005)


def test_two_streams_are_told():
    found = probe(shared("videos", "hostile", "nasa_two_streams.mp4"), full=False)
    assert "2 video streams (320x180, 480x270), read the first marked default" in found.warnings


def test_a_long_large_clip_needs_the_memory_of_its_working_frames():
    path = shared("videos", "real", "mor_string_pendulum.webm")
    tracemalloc.start()
    try:
        _, clip = decode_with_probe(path, long_side=160)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert clip.frames.shape == (474, 128, 160, 3)
    assert peak < 1.1 * clip.frames.nbytes + 5e6
