"""A digest is that of the bytes; the index reads a file again only when it has changed."""

from __future__ import annotations

import hashlib
import json
import os
import time

import pytest

from pvbench_suite.errors import ModelDirError
from pvbench_suite.video import digest as module
from pvbench_suite.video.digest import DigestIndex, digest


@pytest.fixture
def reads(monkeypatch):
    """The list of paths that were read in full."""
    read = []
    monkeypatch.setattr(module, "digest", lambda path: read.append(path.name) or digest(path))
    return read


def settled(path, content=b"video"):
    """Write a file that has been left alone for a while."""
    path.write_bytes(content)
    os.utime(path, ns=(0, time.time_ns() - 10**10))
    return path


def test_a_digest_is_the_sha256_of_the_bytes(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"abc")
    assert digest(tmp_path / "a.mp4") == hashlib.sha256(b"abc").hexdigest()


def test_a_folder_of_frames_is_its_names_and_bytes(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    for folder in (a, b):
        folder.mkdir()
        (folder / "0.png").write_bytes(b"0")
        (folder / "1.png").write_bytes(b"1")
    assert digest(a) == digest(b)
    (b / ".hidden.png").write_bytes(b"x")
    (b / "notes.txt").write_bytes(b"x")
    assert digest(a) == digest(b)
    (b / "1.png").rename(b / "2.png")
    renamed = digest(b)
    assert renamed != digest(a)
    (b / "2.png").write_bytes(b"2")
    assert digest(b) not in (renamed, digest(a))


def test_bytes_do_not_move_between_frames_unnoticed(tmp_path):
    for name, parts in (("a", (b"xy", b"z")), ("b", (b"x", b"yz"))):
        (tmp_path / name).mkdir()
        for k, part in enumerate(parts):
            (tmp_path / name / f"{k}.png").write_bytes(part)
    assert digest(tmp_path / "a") != digest(tmp_path / "b")


def test_what_cannot_be_read_is_one_line(tmp_path):
    with pytest.raises(ModelDirError, match="No such file"):
        digest(tmp_path / "none.mp4")
    os.mkfifo(tmp_path / "pipe.mp4")
    with pytest.raises(ModelDirError, match="no regular file"):
        digest(tmp_path / "pipe.mp4")
    with pytest.raises(ModelDirError, match="No such file"):
        DigestIndex(tmp_path / "index.json").get(tmp_path / "none.mp4")


def test_a_known_file_is_not_read_again_in_the_next_run(tmp_path, reads):
    path = settled(tmp_path / "a.mp4")
    for _ in range(2):
        index = DigestIndex(tmp_path / "deep" / "index.json")
        assert index.get(path) == hashlib.sha256(b"video").hexdigest()
        index.save()
    assert reads == ["a.mp4"]


def test_a_renamed_file_is_known(tmp_path, reads):
    index = DigestIndex(tmp_path / "index.json")
    index.get(settled(tmp_path / "a.mp4"))
    (tmp_path / "a.mp4").rename(tmp_path / "b.mp4")
    index.get(tmp_path / "b.mp4")
    assert reads == ["a.mp4"]


@pytest.mark.parametrize("change", ["size", "mtime", "inode"])
def test_a_changed_file_is_read_again(tmp_path, reads, change):
    path = settled(tmp_path / "a.mp4")
    stamp = path.stat().st_mtime_ns
    index = DigestIndex(tmp_path / "index.json")
    index.get(path)
    if change == "size":
        path.write_bytes(b"video, longer")
        os.utime(path, ns=(0, stamp))
    elif change == "mtime":
        path.write_bytes(b"VIDEO")
        os.utime(path, ns=(0, stamp + 1000))
    else:
        (tmp_path / "new").write_bytes(b"VIDEO")
        os.utime(tmp_path / "new", ns=(0, stamp))
        (tmp_path / "new").replace(path)
    assert index.get(path) == digest(path)
    assert len(reads) == 2


def test_a_file_that_may_still_be_written_is_not_remembered(tmp_path, reads):
    (tmp_path / "a.mp4").write_bytes(b"just now")
    index = DigestIndex(tmp_path / "index.json")
    index.get(tmp_path / "a.mp4")
    index.get(tmp_path / "a.mp4")
    index.save()
    assert len(reads) == 2
    assert not (tmp_path / "index.json").exists()


def test_a_folder_of_frames_is_remembered_until_a_frame_changes(tmp_path, reads):
    folder = tmp_path / "frames"
    folder.mkdir()
    for k in range(2):
        settled(folder / f"{k}.png", bytes([k]))
    os.utime(folder, ns=(0, time.time_ns() - 10**10))
    index = DigestIndex(tmp_path / "index.json")
    first = index.get(folder)
    assert index.get(folder) == first
    assert reads == ["frames"]
    settled(folder / "1.png", b"other")
    assert index.get(folder) != first


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"version": 1}', b'{"version": 1, "sha256": {"a": "no"}}', b"\xff" * 9]
)
def test_a_damaged_index_is_ignored_and_replaced(tmp_path, content):
    file = tmp_path / "index.json"
    file.write_bytes(content)
    path = settled(tmp_path / "a.mp4")
    index = DigestIndex(file)
    index.get(path)
    index.save()
    assert list(json.loads(file.read_text())["sha256"].values()) == [digest(path)]


def test_two_processes_do_not_lose_each_others_digests(tmp_path):
    one, two = DigestIndex(tmp_path / "index.json"), DigestIndex(tmp_path / "index.json")
    one.get(settled(tmp_path / "a.mp4", b"a"))
    two.get(settled(tmp_path / "b.mp4", b"b"))
    one.save()
    two.save()
    assert len(json.loads((tmp_path / "index.json").read_text())["sha256"]) == 2
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("tmp")] == []


def test_no_place_for_the_index_is_no_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    index = DigestIndex(tmp_path / "file" / "index.json")
    index.get(settled(tmp_path / "a.mp4"))
    index.save()
