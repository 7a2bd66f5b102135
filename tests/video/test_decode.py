"""Decoding of clips that the tests write: what comes out is what went in, and what is broken says so in one line."""

from __future__ import annotations

import os
import tracemalloc
from fractions import Fraction

import av
import numpy as np
import pytest

from pvbench_suite.errors import BrokenVideo, UserError
from pvbench_suite.video.decode import decode, decode_with_probe, probe
from pvbench_suite.video.pixels import Orientation
from pvbench_suite.video.types import Limits
from tests.video.making import damage, pictures, write, write_image, write_sound


def broken(path, **options):
    """Return the message of the error that decoding `path` raises; it is one line and names the file."""
    with pytest.raises(BrokenVideo) as caught:
        decode(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(path.name[:20])
    return message


def edit_list(path, duration, start):
    """Rewrite the edit list of an MP4: show `duration` (in the movie's time scale) from `start` (in the track's)."""
    data = bytearray(path.read_bytes())
    at = data.index(b"elst") + 4
    assert int.from_bytes(data[at + 4 : at + 8]) == 1
    data[at + 8 : at + 16] = duration.to_bytes(4) + start.to_bytes(4)
    path.write_bytes(data)


def test_a_clip_comes_back_as_it_was_written(tmp_path):
    images = pictures(6)
    path = write(tmp_path / "a.mp4", images)
    found, clip = decode_with_probe(path)
    np.testing.assert_allclose(clip.frames.astype(int), np.stack(images).astype(int), atol=3)
    np.testing.assert_allclose(clip.times, np.arange(6) / 10)
    assert (found.hw, found.frames, found.seconds, found.rate, found.vfr) == (
        (48, 64),
        6,
        0.6,
        pytest.approx(10),
        False,
    )
    assert clip.warnings == ("size 64x48, not 720p", "length 0.6 s, not 10 s")


def test_time_is_the_timestamp_not_the_index(tmp_path):
    path = write(tmp_path / "vfr.mp4", pictures(5), pts=[0, 10, 20, 40, 50])
    found, clip = decode_with_probe(path)
    np.testing.assert_allclose(clip.times, [0, 0.1, 0.2, 0.4, 0.5])
    assert found.vfr
    assert "variable rate around 10 fps" in clip.warnings


def test_a_late_start_is_taken_off(tmp_path):
    assert decode(write(tmp_path / "late.mkv", pictures(3), pts=[50, 60, 70])).times[0] == 0


@pytest.mark.parametrize("mirror", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_the_display_matrix_is_applied(tmp_path, degrees, mirror):
    """The white mark of the upper left corner ends where the container says: turned counter-clockwise and mirrored."""
    images = pictures(2)
    found, clip = decode_with_probe(write(tmp_path / "r.mp4", images, rotation=(degrees, *mirror)))
    expected = np.rot90(images[0], degrees // 90)
    expected = expected[:: -1 if mirror[1] else 1, :: -1 if mirror[0] else 1]
    np.testing.assert_allclose(clip.frames[0].astype(int), expected.astype(int), atol=3)
    assert found.hw == expected.shape[:2]
    assert ("display matrix mirrors, applied" in found.warnings) == any(mirror)
    if not any(mirror):
        assert found.rotation == (360 - degrees) % 360


def test_a_slanted_display_matrix_is_said_and_left_alone(tmp_path):
    found = probe(write(tmp_path / "r.mp4", pictures(2), rotation=(30, False, False)))
    assert found.hw == (48, 64)
    assert "display matrix is no quarter turn, not applied" in found.warnings


def test_no_matrix_is_no_turn():
    assert Orientation().apply(np.zeros((2, 3, 3), np.uint8)).shape == (2, 3, 3)


def test_pixels_that_are_not_square_are_made_square(tmp_path):
    found, clip = decode_with_probe(write(tmp_path / "sar.mp4", pictures(2), aspect=Fraction(4, 3)))
    assert found.hw == (48, 85)
    assert clip.frames.shape == (2, 48, 85, 3)


def test_frames_are_shrunk_to_the_long_side_and_never_enlarged(tmp_path):
    path = write(tmp_path / "big.mp4", pictures(2, (96, 128)))
    found, clip = decode_with_probe(path, long_side=32)
    assert clip.frames.shape == (2, 24, 32, 3)
    assert clip.hw == found.hw == (96, 128)
    assert decode(path, long_side=4000).frames.shape == (2, 96, 128, 3)


def test_odd_sizes_keep_every_row_and_column(tmp_path):
    assert decode(write(tmp_path / "odd.mp4", pictures(3, (37, 51)))).frames.shape == (3, 37, 51, 3)


@pytest.mark.parametrize(("codec", "pix_fmt", "name"), [("libx264", "yuv420p10le", "a.mp4"), ("ffv1", "bgra", "a.mkv")])
def test_deep_and_transparent_formats_become_rgb(tmp_path, codec, pix_fmt, name):
    images = pictures(3)
    clip = decode(write(tmp_path / name, images, codec=codec, pix_fmt=pix_fmt))
    # Chroma is halved in one of them; away from the mark's edge that changes nothing.
    np.testing.assert_allclose(clip.frames[:, 20:, 30:].astype(int), np.stack(images)[:, 20:, 30:].astype(int), atol=3)


def test_transparent_pixels_lie_on_black_and_are_said(tmp_path):
    rgba = np.full((20, 30, 4), 200, np.uint8)
    rgba[:, :15, 3] = 0
    rgba[:, 15:, 3] = 255
    encoder = av.CodecContext.create("png", "w")
    encoder.width, encoder.height, encoder.pix_fmt, encoder.time_base = 30, 20, "rgba", Fraction(1, 25)
    frame = av.VideoFrame.from_ndarray(rgba, format="rgba")
    frame.pts = 0
    (tmp_path / "t.png").write_bytes(b"".join(bytes(p) for p in [*encoder.encode(frame), *encoder.encode()]))
    found, clip = decode_with_probe(tmp_path / "t.png")
    assert clip.frames[0, 0, 0].tolist() == [0, 0, 0]
    assert clip.frames[0, 0, 29].tolist() == [200, 200, 200]
    assert "transparent pixels, shown on black" in found.warnings


def test_a_gif_keeps_its_delays(tmp_path):
    path = write(tmp_path / "a.gif", pictures(4), codec="gif", pix_fmt="rgb8")
    clip = decode(path)
    assert len(clip.frames) == 4
    np.testing.assert_allclose(clip.times, np.arange(4) / 10, atol=0.011)


def test_an_animated_webp_is_composed_frame_by_frame(tmp_path):
    """FFmpeg reads none of it; each frame is decoded as a still, put in its place and timed by its duration."""
    image_module = pytest.importorskip("PIL.Image")
    first = np.zeros((40, 60, 3), np.uint8)
    second = first.copy()
    second[10:20, 30:50] = (250, 0, 0)  # only this part changes, so the second frame is a small one
    frames = [image_module.fromarray(image) for image in (first, second, first)]
    frames[0].save(tmp_path / "a.webp", save_all=True, append_images=frames[1:], duration=[100, 50, 200], lossless=True)
    found, clip = decode_with_probe(tmp_path / "a.webp")
    np.testing.assert_array_equal(clip.frames, np.stack([first, second, first]))
    np.testing.assert_allclose(clip.times, [0, 0.1, 0.15])
    assert found.vfr
    data = (tmp_path / "a.webp").read_bytes()
    (tmp_path / "cut.webp").write_bytes(data[: len(data) - 20])
    assert "cut off" in broken(tmp_path / "cut.webp")


def test_one_frame_is_a_clip_of_one_frame(tmp_path):
    found, clip = decode_with_probe(write(tmp_path / "one.mp4", pictures(1)))
    assert (len(clip.frames), clip.times.tolist(), found.rate, found.vfr) == (1, [0.0], None, False)
    assert found.seconds == pytest.approx(0.1)
    assert "one frame, not 10 s" in clip.warnings


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_a_still_image_is_a_clip_of_one_frame_and_no_length(tmp_path, suffix):
    found, clip = decode_with_probe(write_image(tmp_path / f"still{suffix}", pictures(1)[0]))
    assert len(clip.frames) == 1
    assert found.seconds is None


def test_a_folder_of_frames_is_read_in_the_order_of_its_numbers(tmp_path):
    images = pictures(11)
    for k, image in enumerate(images):
        write_image(tmp_path / f"{k}.png", image)
    found, clip = decode_with_probe(tmp_path, fps=5)
    np.testing.assert_array_equal(clip.frames, np.stack(images))
    np.testing.assert_allclose(clip.times, np.arange(11) / 5)
    assert (found.rate, found.codec, found.warnings) == (pytest.approx(5), "frames", ())


def test_a_gap_in_a_folder_of_frames_is_said(tmp_path):
    for k in (0, 1, 3):
        write_image(tmp_path / f"{k:03d}.jpg", pictures(1)[0])
    assert probe(tmp_path, fps=5).warnings == ("gaps in the numbers of the frames",)


def test_a_folder_of_frames_without_a_rate_is_the_users_to_repair(tmp_path):
    write_image(tmp_path / "0.png", pictures(1)[0])
    with pytest.raises(UserError, match="needs its rate"):
        decode(tmp_path)


def test_a_damaged_image_in_a_folder_is_named(tmp_path):
    write_image(tmp_path / "0.png", pictures(1)[0])
    (tmp_path / "1.png").write_bytes(b"no image")
    assert "1.png" in broken(tmp_path, fps=5)


def test_an_empty_folder_is_broken(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "holds no PNG or JPEG" in broken(tmp_path / "empty", fps=5)


@pytest.mark.parametrize("share", [0.5, 0.97])
def test_an_mp4_cut_short_behind_its_index_has_fewer_frames_than_declared(tmp_path, share):
    path = write(tmp_path / "whole.mp4", pictures(30), container_options={"movflags": "faststart"}, pix_fmt="yuv420p")
    data = path.read_bytes()
    assert len(decode(path).frames) == 30
    (tmp_path / "cut.mp4").write_bytes(data[: int(share * len(data))])
    assert "cut off" in broken(tmp_path / "cut.mp4")


def test_an_mp4_cut_short_before_its_index_cannot_be_opened(tmp_path):
    data = write(tmp_path / "whole.mp4", pictures(30)).read_bytes()
    (tmp_path / "cut.mp4").write_bytes(data[: len(data) // 2])
    assert "cut off" in broken(tmp_path / "cut.mp4")


def test_a_cut_that_takes_no_frame_is_only_said(tmp_path):
    path = write(tmp_path / "whole.mp4", pictures(6), container_options={"movflags": "faststart"})
    with path.open("ab") as stream:
        stream.write((1000).to_bytes(4) + b"mdat" + bytes(20))
    found = probe(path)
    assert found.frames == 6
    assert found.warnings[0].startswith("all frames are there, but the file is cut off: ")


@pytest.mark.parametrize("share", [0.5, 0.97])
def test_a_webm_cut_short_is_broken_though_it_declares_no_number(tmp_path, share):
    path = write(tmp_path / "whole.webm", pictures(40), codec="libvpx-vp9", pix_fmt="yuv420p")
    data = path.read_bytes()
    assert len(decode(path).frames) == 40
    (tmp_path / "cut.webm").write_bytes(data[: int(share * len(data))])
    assert "cut off" in broken(tmp_path / "cut.webm")


def test_a_gif_cut_short_is_broken_and_one_without_its_trailer_is_not(tmp_path):
    path = write(tmp_path / "whole.gif", pictures(6), codec="gif", pix_fmt="rgb8")
    data = path.read_bytes()
    assert data.endswith(b";")
    for share in (0.3, 0.6, 0.95):
        (tmp_path / "cut.gif").write_bytes(data[: int(share * len(data))])
        assert "cut off" in broken(tmp_path / "cut.gif")
    (tmp_path / "short.gif").write_bytes(data[:-1])
    assert len(decode(tmp_path / "short.gif").frames) == 6


def test_a_fragmented_mp4_cut_inside_a_fragment_is_broken(tmp_path):
    flags = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    path = write(tmp_path / "whole.mp4", pictures(40), container_options=flags)
    assert len(decode(path).frames) == 40
    data = path.read_bytes()
    (tmp_path / "cut.mp4").write_bytes(data[: int(0.9 * len(data))])
    assert "cut off" in broken(tmp_path / "cut.mp4")


def test_an_edit_list_hides_frames_without_breaking_the_video(tmp_path):
    path = write(tmp_path / "edit.mp4", pictures(20))
    assert len(decode(path).frames) == 20
    edit_list(path, duration=1000, start=0)  # of 2 s, the first
    clip = decode(path)
    assert 10 <= len(clip.frames) <= 11
    np.testing.assert_allclose(np.diff(clip.times), 0.1)


def test_true_gaps_in_time_do_not_break_a_video(tmp_path):
    stamps = [10 * k for k in range(40) if k % 7]
    path = write(tmp_path / "gaps.mkv", pictures(len(stamps)), pts=stamps)
    assert len(decode(path).frames) == len(stamps)


def test_sound_that_is_longer_does_not_break_a_video(tmp_path):
    flags = {"movflags": "frag_keyframe+empty_moov"}
    assert len(decode(write(tmp_path / "a.mp4", pictures(3), audio=True, container_options=flags)).frames) == 3
    assert len(decode(write(tmp_path / "a.mkv", pictures(3), audio=True)).frames) == 3


def test_damage_in_the_middle_is_broken_not_shorter(tmp_path):
    path = damage(write(tmp_path / "a.mp4", pictures(20)))
    assert broken(path) == "a.mp4: invalid data after 12 of 20 frames"


def test_a_text_named_mp4_is_no_video(tmp_path):
    (tmp_path / "text.mp4").write_text("this is a text\n")
    assert broken(tmp_path / "text.mp4") == "text.mp4: is no video that FFmpeg can open (invalid data)"


def test_a_playlist_that_names_another_file_is_no_video(tmp_path):
    write(tmp_path / "other.mp4", pictures(3))
    (tmp_path / "list.mp4").write_text("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nother.mp4\n#EXT-X-ENDLIST\n")
    (tmp_path / "concat.mp4").write_text("ffconcat version 1.0\nfile other.mp4\n")
    assert "no video" in broken(tmp_path / "list.mp4")
    assert "no video" in broken(tmp_path / "concat.mp4")


def test_an_empty_file_and_a_missing_one_say_so(tmp_path):
    (tmp_path / "empty.webm").touch()
    assert broken(tmp_path / "empty.webm") == "empty.webm: is empty (0 bytes)"
    assert broken(tmp_path / "none.mp4") == "none.mp4: cannot be read: No such file or directory"


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.mp4")
    assert broken(tmp_path / "pipe.mp4") == "pipe.mp4: is no regular file"


def test_sound_alone_is_no_video(tmp_path):
    assert broken(write_sound(tmp_path / "sound.mp4")) == "sound.mp4: no video stream (only audio)"


def test_a_hostile_name_stays_one_short_line(tmp_path):
    path = tmp_path / ("a\nb\x1b[31m'q\"[x] %d " + "n" * 200 + ".mp4")
    path.write_bytes(b"x")
    with pytest.raises(BrokenVideo) as caught:
        decode(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
    assert len(decode(write(tmp_path / "http:%d,'q'\".mp4", pictures(2))).frames) == 2


@pytest.mark.parametrize(
    ("limits", "option"),
    [
        (Limits(max_pixels=1000), "--pv-max-pixels"),
        (Limits(max_frames=5), "--pv-max-frames"),
        (Limits(seconds=0), "--pv-decode-timeout"),
    ],
)
def test_a_limit_names_its_option(tmp_path, limits, option):
    path = write(tmp_path / "a.mp4", pictures(6))
    assert option in broken(path, limits=limits)


def test_a_folder_of_frames_keeps_to_the_limits(tmp_path):
    for k in range(3):
        write_image(tmp_path / f"{k}.png", pictures(1)[0])
    assert "--pv-max-frames" in broken(tmp_path, fps=5, limits=Limits(max_frames=2))
    assert "--pv-max-pixels" in broken(tmp_path, fps=5, limits=Limits(max_pixels=100))


def test_of_several_streams_the_default_is_read_and_that_is_said(tmp_path):
    path = tmp_path / "two.mkv"
    with av.open(str(path), "w") as container:
        streams = [container.add_stream("ffv1", rate=10) for _ in range(2)]
        for stream, size in zip(streams, (32, 64), strict=True):
            stream.width = stream.height = size
            stream.pix_fmt = "bgr0"
        for k in range(3):
            for stream, size in zip(streams, (32, 64), strict=True):
                frame = av.VideoFrame.from_ndarray(np.full((size, size, 3), 40 * k, np.uint8), format="rgb24")
                frame.pts = k
                container.mux(stream.encode(frame))
        for stream in streams:
            container.mux(stream.encode())
    found = probe(path)
    assert found.warnings[0].startswith("2 video streams (32x32, 64x64), read the ")
    assert found.hw == ((32, 32) if "default" in found.warnings[0] else (64, 64))


def test_a_quick_probe_agrees_with_a_full_one(tmp_path):
    paths = [
        write(tmp_path / "a.mp4", pictures(12), pix_fmt="yuv420p", options={"bf": "3"}),
        write(tmp_path / "b.webm", pictures(12), codec="libvpx-vp9", pix_fmt="yuv420p"),
        write(tmp_path / "c.webm", pictures(12), codec="libvpx", pix_fmt="yuv420p"),
        write(tmp_path / "d.mp4", pictures(5), pts=[0, 10, 20, 40, 50], rotation=(90, False, False)),
        write(tmp_path / "e.gif", pictures(4), codec="gif", pix_fmt="rgb8"),
    ]
    for path in paths:
        assert probe(path, full=False) == probe(path), path.name


def test_memory_is_that_of_the_working_frames(tmp_path):
    """A clip of 60 frames of 960x540 at a long side of 96 needs a small part of the 93 MB of its full frames."""
    path = write(tmp_path / "a.mp4", pictures(10, (540, 960)) * 6, pix_fmt="yuv420p", options={"preset": "ultrafast"})
    tracemalloc.start()
    try:
        clip = decode(path, long_side=96)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert clip.frames.nbytes == 60 * 54 * 96 * 3
    assert peak < 6e6


def test_the_same_file_decodes_the_same_twice(tmp_path):
    path = write(tmp_path / "a.mp4", pictures(6), pix_fmt="yuv420p")
    np.testing.assert_array_equal(decode(path).frames, decode(path).frames)
