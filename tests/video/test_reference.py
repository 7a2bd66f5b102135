"""A first frame is told from another picture, and what a generator did to the reference is named."""

from __future__ import annotations

import zlib

import cv2
import numpy as np
import pytest

from pvbench_suite.errors import BrokenVideo, UserError
from pvbench_suite.video.check import check
from pvbench_suite.video.manifest import discover
from pvbench_suite.video.placing import match
from pvbench_suite.video.reference import attach, find, look, read_image
from pvbench_suite.video.types import First, Limits, Video
from tests.video.making import suite, write, write_image


def scene(seed, size=(180, 320)):
    """Return a picture of blobs of every size, bright above and dark below as most scenes are."""
    noise = np.random.default_rng(seed)
    image = np.linspace(200, 60, size[0])[:, None, None] * np.ones((*size, 3))
    for _ in range(40):
        place = tuple(int(v) for v in noise.integers(0, size[::-1]))
        cv2.circle(image, place, int(noise.integers(3, 30)), [int(v) for v in noise.integers(0, 255, 3)], -1)
    return image.astype(np.uint8)


def picture(image):
    """Return an image as decoding gives it."""
    return First(np.ascontiguousarray(image), image.shape[:2], still=True)


def related(image, reference=None):
    """Return how an image relates to scene 1 or another reference."""
    return match(picture(scene(1) if reference is None else reference), picture(image))


def test_the_same_picture_is_the_same_at_any_size_color_and_noise():
    one = scene(1)
    assert related(one).label == "same"
    assert related(cv2.resize(one, (224, 128), interpolation=cv2.INTER_AREA)).label == "scaled"
    noise = np.random.default_rng(0).normal(0, 8, one.shape)
    worn = np.clip(0.7 * cv2.GaussianBlur(one, (0, 0), 1.0) + 30 + noise, 0, 255).astype(np.uint8)
    assert related(worn).label == "same"
    assert related(worn).warning is None


@pytest.mark.parametrize("share", [0.1, 0.19, 0.36, 0.51])
def test_a_centre_crop_is_measured_by_the_area_that_is_lost(share):
    keep = np.sqrt(1 - share)
    one = scene(1, (360, 640))
    dy, dx = round(360 * (1 - keep) / 2), round(640 * (1 - keep) / 2)
    cut = cv2.resize(one[dy : 360 - dy, dx : 640 - dx], (320, 180), interpolation=cv2.INTER_AREA)
    found = related(cut, one)
    assert (found.kind, found.centred) == ("cropped", True)
    assert found.share == pytest.approx(share, abs=0.02)


def test_a_crop_says_when_it_is_off_the_centre():
    found = related(scene(1)[:135, :240])
    assert found.label == "cropped 44 %, off centre"


def test_another_aspect_is_a_crop_a_squeeze_or_bars():
    one = scene(1)
    assert related(one[:, 70:250]).label == "cropped 44 %"
    assert related(cv2.resize(one, (180, 180), interpolation=cv2.INTER_AREA)).label == "stretched 44 %"
    boxed = np.zeros((320, 320, 3), np.uint8)
    boxed[70:250] = one
    assert related(boxed).label == "letterboxed"


def test_another_picture_is_named_with_its_similarity():
    labels = [related(scene(seed)) for seed in range(2, 8)]
    assert {found.kind for found in labels} == {"other picture"}
    assert all(found.similarity < 0.6 for found in labels)
    assert "other picture (similarity 0." in labels[0].warning


def test_what_is_plain_is_not_judged():
    assert related(np.full((90, 160, 3), 90, np.uint8)).label == "too plain to compare"
    assert related(scene(1), np.full((90, 160, 3), 90, np.uint8)).similarity is None


@pytest.fixture
def folder(tmp_path):
    """Three I2V videos and references for two of them, one of another scene."""
    for name, seed in (("s001", 1), ("s002", 2), ("s003", 3)):
        (tmp_path / "runs" / "i2v").mkdir(parents=True, exist_ok=True)
        write(tmp_path / "runs" / "i2v" / f"{name}.mp4", [scene(seed), scene(9)])
    (tmp_path / "references").mkdir()
    write_image(tmp_path / "references" / "s001.png", scene(1, (180, 320)))
    write_image(tmp_path / "references" / "s002.png", scene(5))
    return tmp_path


def checked(folder):
    """Return the report of a check with references, and the notes on them."""
    groups = suite("s001", "s002", "s003")
    manifest = discover("wan", folder / "runs", groups, strict=False)
    videos, notes = attach(manifest.videos, folder / "references")
    return check(type(manifest)("wan", manifest.root, "native", "", videos), groups), notes


def test_a_check_compares_each_first_frame_with_its_reference(folder):
    report, notes = checked(folder)
    assert [(v.id, text.split(" (")[0]) for v, text in report.references] == [
        ("s001", "same"),
        ("s002", "other picture"),
    ]
    assert "reference: 2" in report.lines()
    assert [row["kind"] for row in report.to_rows()].count("reference") == 2
    assert not report.clean
    (note,) = notes
    assert note.startswith("references: 1 I2V videos have no image in ")
    assert "(s003.png ...)" in note


def test_only_i2v_videos_with_a_group_get_a_reference(tmp_path):
    write_image(tmp_path / "s001.png", scene(1))
    videos = [
        Video("s001", tmp_path, "m", "t2v", "s001"),
        Video("x", tmp_path, "m", "i2v"),
        Video("y", tmp_path, "m", "i2v", "s001"),
    ]
    found, notes = attach(videos, tmp_path)
    assert [v.reference for v in found] == [None, None, tmp_path / "s001.png"]
    assert notes == ()


def test_links_out_of_the_folder_and_what_is_no_file_are_one_line(tmp_path):
    references = tmp_path / "references"
    references.mkdir()
    write_image(tmp_path / "elsewhere.png", scene(1))
    (references / "link.png").symlink_to(tmp_path / "elsewhere.png")
    (references / "dead.png").symlink_to(tmp_path / "nothing.png")
    (references / "folder.png").mkdir()
    for name, said in (("link", "is a link out of"), ("dead", "is no regular file"), ("folder", "is no regular file")):
        with pytest.raises(UserError, match=rf"^reference {name}\.png: {said}"):
            find(references, name)
    assert find(references, "../elsewhere") is None
    _, notes = attach([Video("link", tmp_path, "m", "i2v", "link")], references)
    assert len(notes) == 1


def bomb(path, side):
    """Write a small PNG whose header and data are of a huge picture of one grey."""
    from struct import pack

    def chunk(name, data):
        return pack(">I", len(data)) + name + data + pack(">I", zlib.crc32(name + data))

    data = zlib.compress(b"\0" * side * (side // 8 + 1), 9)
    header = chunk(b"IHDR", pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", data) + chunk(b"IEND", b""))
    return path


def test_what_is_no_image_or_too_large_is_one_line(tmp_path):
    write(tmp_path / "film.png.mp4", [scene(1)] * 3).rename(tmp_path / "film.png")
    (tmp_path / "text.png").write_text("no image")
    (tmp_path / "empty.png").touch()
    bomb(tmp_path / "bomb.png", 20000)
    assert (tmp_path / "bomb.png").stat().st_size < 100_000
    for name, said in (
        ("film.png", "film.png: is no still image"),
        ("text.png", "text.png: is no image that FFmpeg can open"),
        ("empty.png", r"empty.png: is empty \(0 bytes\)"),
        ("bomb.png", "bomb.png: 20000x20000 is more than .* pixels"),
    ):
        with pytest.raises(BrokenVideo, match=f"^{said}") as caught:
            read_image(tmp_path / name)
        assert "\n" not in str(caught.value)
    write_image(tmp_path / "fine.png", scene(1))
    with pytest.raises(BrokenVideo, match="--pv-max-pixels"):
        read_image(tmp_path / "fine.png", Limits(max_pixels=1000))


def test_a_fault_of_the_image_names_the_image(folder):
    (folder / "references" / "s001.png").write_text("no image")
    video = Video("s001", folder / "runs" / "i2v" / "s001.mp4", "m", "i2v", "s001")
    with pytest.raises(UserError, match="has no reference"):
        look(video)
    report, _ = checked(folder)
    assert report.references[0][1].startswith("reference s001.png: is no ")
    assert not report.clean
