"""A check tells a folder's user everything that a run would stumble over, before it starts."""

from __future__ import annotations

import json

import pytest

from pvbench_suite.errors import BrokenVideo
from pvbench_suite.video.check import Expected, check, protocol_warnings
from pvbench_suite.video.manifest import discover
from pvbench_suite.video.types import Probe
from tests.video.making import damage, fill, pictures, suite, write


def probe(**values):
    """Return the probe of a video that keeps to the protocol, with what a test changes."""
    return Probe(
        **({"hw": (720, 1280), "frames": 240, "seconds": 10.0, "rate": 24.0, "vfr": False, "codec": "h264"} | values)
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, ()),
        ({"hw": (1280, 720)}, ()),
        ({"hw": (480, 832)}, ("size 832x480, not 720p",)),
        ({"seconds": 10.04, "frames": 241}, ()),
        ({"seconds": 5.0}, ("length 5 s, not 10 s",)),
        ({"seconds": None}, ("length unknown, not 10 s",)),
        ({"frames": 1, "seconds": None, "rate": None}, ("one frame, not 10 s",)),
        ({"rate": 59.94}, ()),
        ({"rate": 60.1}, ()),
        ({"rate": 5.0}, ("rate 5 fps, outside 8 to 60 fps",)),
        ({"rate": 120.0}, ("rate 120 fps, outside 8 to 60 fps",)),
        ({"vfr": True}, ("variable rate around 24 fps",)),
        (
            {"hw": (2, 2), "seconds": 0.1, "rate": 1000.0, "vfr": True},
            (
                "size 2x2, not 720p",
                "length 0.1 s, not 10 s",
                "rate 1000 fps, outside 8 to 60 fps",
                "variable rate around 1000 fps",
            ),
        ),
    ],
)
def test_each_deviation_is_one_short_clause(values, expected):
    assert protocol_warnings(probe(**values)) == expected


def test_what_is_expected_can_be_changed_or_left_unchecked():
    assert protocol_warnings(probe(), Expected(short_side=480, seconds=5, rate=16)) == (
        "size 1280x720, not 480p",
        "length 10 s, not 5 s",
        "rate 24 fps, not 16 fps",
    )
    assert protocol_warnings(probe(hw=(2, 2), seconds=1.0), Expected(short_side=None, seconds=None)) == ()


@pytest.fixture
def folder(tmp_path):
    """A folder with every kind of fault."""
    (tmp_path / "t2v").mkdir()
    write(tmp_path / "t2v" / "s001.mp4", pictures(10), fps=10)
    write(tmp_path / "t2v" / "s002.mp4", pictures(5), pts=[0, 10, 20, 40, 50])
    fill(tmp_path / "t2v", ["s003.mp4", "stray.mp4", "MY_CLIP.mp4", "s001.webm"])
    return tmp_path


def report_of(folder, **options):
    groups = suite("s001", "s002", "s003", "s004", "my_clip", "My_clip")
    return check(discover("wan", folder, groups, strict=False), groups, Expected(short_side=48, seconds=1.0), **options)


def test_a_check_finds_every_kind_of_fault_at_once(folder):
    report = report_of(folder)
    assert [v.id for v in report.matched] == ["s001", "s002", "s003"]
    assert report.missing == (("s004", "t2v"), ("my_clip", "t2v"), ("My_clip", "t2v"))
    assert report.extra == ("t2v/stray.mp4",)
    assert len(report.ambiguous) == 2
    assert [(v.id, clause) for v, clause in report.wrong_length] == [("s002", "length 0.6 s, not 1 s")]
    assert report.wrong_size == report.wrong_rate == ()
    assert [v.id for v, _ in report.variable_rate] == ["s002"]
    assert [(v.id, text) for v, text in report.unreadable] == [
        ("s003", "s003.mp4: is no video that FFmpeg can open (invalid data)")
    ]
    assert report.probes["s001", "t2v"].frames == 10
    assert not report.clean


def test_a_report_is_plain_rows_and_short_lines(folder):
    report = report_of(folder)
    rows = report.to_rows()
    assert json.loads(json.dumps(rows)) == rows
    kinds = [row["kind"] for row in rows]
    assert {k: kinds.count(k) for k in set(kinds)} == {
        "matched": 3, "missing": 3, "extra": 1, "ambiguous": 2, "wrong_length": 1, "variable_rate": 1, "unreadable": 1,
    }  # fmt: skip
    assert report.lines()[0] == "3 videos match a group, 0 have none"
    assert "missing: 3" in report.lines()


def test_a_sound_folder_is_clean_though_it_deviates_from_the_protocol(tmp_path):
    write(tmp_path / "s001.mp4", pictures(3))
    report = check(discover("wan", tmp_path, suite("s001")))
    assert report.clean
    assert len(report.wrong_size) == len(report.wrong_length) == 1


def test_a_deep_check_finds_damage_that_a_quick_one_cannot_see(tmp_path):
    damage(write(tmp_path / "a.mp4", pictures(20)))
    manifest = discover("wan", tmp_path, None)
    assert check(manifest).unreadable == ()
    assert len(check(manifest, deep=True).unreadable) == 1


def test_long_lists_are_cut_in_the_lines_and_whole_in_the_rows(tmp_path):
    fill(tmp_path, [f"{k}x.mp4" for k in range(9)])

    def unreadable(video):
        raise BrokenVideo(f"{video.path.name}: no video")

    report = check(discover("wan", tmp_path, None), reader=unreadable)
    assert "  ... and 4 more" in report.lines()
    assert sum(row["kind"] == "unreadable" for row in report.to_rows()) == 9
