"""Lists of videos are validated, never lead out of the folder, and survive being written and read again."""

from __future__ import annotations

import json

import pytest

from pvbench_suite.errors import ModelDirError
from pvbench_suite.video.manifest import discover, read_videos_file, restrict, write_manifest
from pvbench_suite.video.records import read_list
from tests.video.making import by_id, fill, suite


def listed(folder, *records, name="manifest.jsonl"):
    """Write a JSONL list."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return folder


# manifest.jsonl


def test_a_manifest_says_everything_about_a_video(tmp_path):
    fill(tmp_path, ["clips/a.mp4", "refs/a.png"])
    record = {
        "id": "ball", "path": "clips/a.mp4", "prompt": "A ball.", "modality": "i2v", "seed": 7, "model": "wan",
        "reference_image": "refs/a.png", "dims": ["r22", "IF01", "PTQ-06"], "extra": {"steps": 50},
    }  # fmt: skip
    manifest = discover("wan", listed(tmp_path, record), suite("s001"))
    (video,) = manifest.videos
    assert (manifest.layout, manifest.why) == ("manifest", "manifest.jsonl is there")
    assert (video.id, video.prompt, video.modality, video.seed, video.group) == ("ball", "A ball.", "i2v", 7, None)
    assert video.dimensions == ("R22", "IF-01", "PTQ-06")
    assert video.reference == tmp_path.resolve() / "refs" / "a.png"
    assert manifest.missing == ()


def test_a_manifest_wins_over_what_names_look_like(tmp_path):
    fill(tmp_path, ["t2v/s001.mp4", "t2v/s002.mp4"])
    manifest = discover("wan", listed(tmp_path, {"path": "t2v/s001.mp4"}), suite("s001", "s002"))
    assert manifest.layout == "manifest"
    assert [str(path) for path in manifest.extra] == ["t2v/s002.mp4"]
    assert manifest.missing == (("s002", "t2v"),)


def test_a_record_answers_a_group_by_group_id_or_name(tmp_path):
    fill(tmp_path, ["a.mp4", "b.mp4", "s003.s5.mp4"])
    root = listed(
        tmp_path,
        {"path": "a.mp4", "group": "s001", "seed": 2},
        {"path": "b.mp4", "id": "s002"},
        {"path": "s003.s5.mp4"},
    )
    manifest = discover("wan", root, suite("s001", "s002", "s003", "s004"))
    assert {(v.id, v.group, v.seed) for v in manifest.videos} == {
        ("s001.s2", "s001", 2), ("s002", "s002", None), ("s003.s5", "s003", 5),
    }  # fmt: skip
    assert manifest.missing == (("s004", "t2v"),)


def test_a_group_that_the_suite_lacks_is_an_error_with_the_nearest(tmp_path):
    fill(tmp_path, ["a.mp4"])
    with pytest.raises(ModelDirError, match=r"manifest\.jsonl:1: group: the suite has no 's0011' \(nearest: s001, "):
        discover("wan", listed(tmp_path, {"path": "a.mp4", "group": "s0011"}), suite("s001", "h001"))


def test_another_prompt_than_the_suites_is_noted_and_kept(tmp_path):
    fill(tmp_path, ["s001.mp4"])
    manifest = discover("wan", listed(tmp_path, {"path": "s001.mp4", "prompt": "enhanced"}), suite("s001"))
    assert manifest.videos[0].prompt == "enhanced"
    assert any("1 prompts differ from the suite's" in note for note in manifest.notes)


@pytest.mark.parametrize("path", ["../out.mp4", "/etc/passwd", "a/../../out.mp4", "link.mp4", "deep/link/out.mp4"])
def test_no_path_leads_out_of_the_folder(tmp_path, path):
    fill(tmp_path, ["out.mp4"])
    root = tmp_path / "model"
    fill(root, ["a.mp4", "deep/b.mp4"])
    (root / "link.mp4").symlink_to(tmp_path / "out.mp4")
    (root / "deep" / "link").symlink_to(tmp_path)
    with pytest.raises(ModelDirError, match=r"manifest\.jsonl:1: .* leads out of"):
        discover("wan", listed(root, {"path": path}), None)
    with pytest.raises(ModelDirError, match=r"reference: .* leads out of"):
        discover("wan", listed(root, {"path": "a.mp4", "reference": path}), None)


def test_links_inside_the_folder_are_resolved(tmp_path):
    fill(tmp_path, ["real/a.mp4"])
    (tmp_path / "b.mp4").symlink_to("real/a.mp4")
    manifest = discover("wan", listed(tmp_path, {"path": "b.mp4"}), None)
    assert manifest.videos[0].path == tmp_path.resolve() / "real" / "a.mp4"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r":2: is not JSON at column"),
        ("[1]", r":2: holds a list, not an object"),
        ('{"promt": "x", "path": "a.mp4"}', r":2: promt: is no known key \(nearest: prompt\)"),
        ('{"prompt": "x"}', r":2: path: is required"),
        ('{"path": "a.mp4", "modality": "v2v"}', r":2: modality: Input should be 't2v' or 'i2v'"),
        ('{"path": "a.mp4", "seed": -1}', r":2: seed: "),
        ('{"path": "a.mp4", "fps": NaN}', r":2: NaN is not JSON"),
        ('{"path": "a.mp4", "fps": 0}', r":2: fps: "),
        ('{"path": "a.mp4", "dimensions": ["R2"]}', r":2: dimensions: 'R2' is no dimension id"),
        ('{"path": "a\\u0000.mp4"}', r":2: .* is no path"),
        ("[" * 100_000, r":2: is not JSON"),
    ],
)
def test_a_wrong_line_is_named_with_its_key(tmp_path, line, message):
    fill(tmp_path, ["a.mp4"])
    (tmp_path / "manifest.jsonl").write_text('{"path": "a.mp4"}\n' + line + "\n")
    with pytest.raises(ModelDirError, match=r"^manifest\.jsonl" + message) as caught:
        discover("wan", tmp_path, None)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_file_that_is_not_there_is_missing_with_a_group_and_an_error_without(tmp_path):
    fill(tmp_path, ["s001.mp4", "other.mp4"])
    root = listed(tmp_path, {"path": "s001.mp4"}, {"path": "s002.mp4"})
    manifest = discover("wan", root, suite("s001", "s002"))
    assert manifest.missing == (("s002", "t2v"),)
    assert any("1 of 2 files of manifest.jsonl are not there" in note for note in manifest.notes)
    listed(tmp_path, {"path": "s001.mp4"}, {"path": "othr.mp4"})
    with pytest.raises(ModelDirError, match=r"manifest\.jsonl:2: 'othr\.mp4' is not there .* nearest: other\.mp4"):
        discover("wan", tmp_path, suite("s001", "s002"))


def test_one_file_listed_twice_is_an_error(tmp_path):
    fill(tmp_path, ["a.mp4"])
    with pytest.raises(ModelDirError, match=r"'a.mp4' is listed twice"):
        discover("wan", listed(tmp_path, {"path": "a.mp4"}, {"path": "a.mp4", "id": "b"}), None)


def test_of_several_models_only_the_one_asked_for_is_read(tmp_path):
    fill(tmp_path, ["a.mp4", "b.mp4", "c.mp4"])
    root = listed(tmp_path, {"path": "a.mp4", "model": "wan"}, {"path": "b.mp4", "model": "sana"}, {"path": "c.mp4"})
    assert set(by_id(discover("wan", root, None))) == {"a", "c"}
    with pytest.raises(ModelDirError, match="has the models sana, wan, none named 'other'"):
        discover("other", root, None)
    listed(tmp_path, {"path": "a.mp4", "model": "Wan2.2-14B"})
    assert "manifest.jsonl: calls the model 'Wan2.2-14B'" in discover("wan", root, None).notes


def test_a_folder_of_frames_gets_its_rate_from_the_manifest(tmp_path):
    fill(tmp_path, ["clip/0.png", "clip/1.png"])
    manifest = discover("wan", listed(tmp_path, {"path": "clip", "fps": 12}), None)
    assert manifest.videos[0].fps == 12
    with pytest.raises(ModelDirError, match="needs its rate"):
        discover("wan", listed(tmp_path, {"path": "clip"}), None)


@pytest.mark.parametrize("layout", ["native", "plain"])
def test_a_manifest_written_and_read_again_is_the_same(tmp_path, layout):
    fill(tmp_path, ["t2v/s001.s3.mp4", "i2v/s002.mp4", "t2v/s002.mp4"])
    first = discover("wan", tmp_path, suite("s001", "s002"), layout=layout)
    write_manifest(first, tmp_path / "manifest.jsonl")
    again = discover("wan", tmp_path, suite("s001", "s002"))
    assert again.layout == "manifest"
    if layout == "native":  # a plain reading knows no groups, the suite finds them again
        assert sorted(again.videos, key=repr) == sorted(first.videos, key=repr)
        assert again.missing == first.missing


def test_a_manifest_of_hostile_names_survives(tmp_path):
    fill(tmp_path, ["a\nb.mp4", 'q".mp4', "球.mp4", "car22.mp4", "r" * 250 + ".mp4"])
    first = discover("wan", tmp_path, None)
    write_manifest(first, tmp_path / "manifest.jsonl")
    assert discover("wan", tmp_path, None).videos == first.videos


def test_a_manifest_is_written_above_its_videos_only(tmp_path):
    manifest = discover("wan", fill(tmp_path / "model", ["a.mp4"]), None)
    write_manifest(manifest, tmp_path / "manifest.jsonl")
    assert json.loads((tmp_path / "manifest.jsonl").read_text())["path"] == "model/a.mp4"
    (tmp_path / "other").mkdir()
    with pytest.raises(ModelDirError, match="lies in the model's folder"):
        write_manifest(manifest, tmp_path / "other" / "manifest.jsonl")


# CSV, text and JSON lists


def test_a_csv_of_file_and_prompt_in_the_folder_is_read(tmp_path):
    fill(tmp_path, ["a.mp4", "b, c.mp4"])
    (tmp_path / "prompts.csv").write_text(
        'File,Prompt,note\na.mp4,"A ball, red",x\n"b, c.mp4",B,\n', encoding="utf-8-sig"
    )
    manifest = discover("wan", tmp_path, suite("s001"))
    assert manifest.layout == "csv"
    assert [v.prompt for v in manifest.videos] == ["A ball, red", "B"]


def test_the_columns_of_other_benchmarks_are_known(tmp_path):
    (tmp_path / "v.csv").write_text("videopath,caption\na.mp4,A\n")
    (tmp_path / "v.json").write_text('{"a.mp4": "A"}')
    (tmp_path / "v.jsonl").write_text('{"file": "a.mp4", "caption": "A"}\n')
    for name in ("v.csv", "v.json", "v.jsonl"):
        assert [(r.path, r.prompt) for r in read_videos_file(tmp_path / name)] == [("a.mp4", "A")]


def test_a_text_has_one_path_a_line(tmp_path):
    (tmp_path / "v.txt").write_text("a.mp4\r\n\n sub/b c.mp4\n", encoding="utf-8")
    assert [(line, r.path) for line, r in read_list(tmp_path / "v.txt")] == [(1, "a.mp4"), (3, " sub/b c.mp4")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prompt\nx\n", "the header needs a column 'file'"),
        ("file,prompt\na.mp4,A, B\n", "has 3 cells, the header 2"),
        ('file,prompt\na.mp4,"A\n', "is not CSV"),
        ("file,seed\na.mp4,one\n", "seed: "),
    ],
)
def test_a_wrong_csv_says_where(tmp_path, text, message):
    (tmp_path / "v.csv").write_text(text)
    with pytest.raises(ModelDirError, match=r"^v\.csv:\d+: ") as caught:
        read_list(tmp_path / "v.csv")
    assert message in str(caught.value)


def test_a_list_that_is_no_text_says_so(tmp_path):
    (tmp_path / "v.csv").write_bytes(b"file\n\xff\xfe\n")
    with pytest.raises(ModelDirError, match="is not UTF-8"):
        read_list(tmp_path / "v.csv")
    with pytest.raises(ModelDirError, match="cannot be read: No such file"):
        read_list(tmp_path / "none.csv")


# --pv-videos


@pytest.fixture
def manifest(tmp_path):
    """A native manifest of s001 and s002, with s003 missing and one file left over."""
    fill(tmp_path, ["t2v/s001.mp4", "t2v/s002.mp4", "t2v/left over.mp4"])
    return discover("wan", tmp_path, suite("s001", "s002", "s003"))


@pytest.mark.parametrize("entry", ["t2v/s002.mp4", "s002", "{root}/t2v/s002.mp4"])
def test_a_list_restricts_by_path_or_id(tmp_path, manifest, entry):
    (tmp_path / "v.txt").write_text(entry.format(root=tmp_path.resolve()) + "\n")
    kept = restrict(manifest, tmp_path / "v.txt")
    assert [v.id for v in kept.videos] == ["s002"]
    assert kept.missing == ()
    assert kept.notes[-1] == "1 of 2 videos, by v.txt"


def test_a_list_beside_the_videos_may_use_its_own_paths(tmp_path, manifest):
    (tmp_path / "t2v" / "v.txt").write_text("s001.mp4\n")
    assert [v.id for v in restrict(manifest, tmp_path / "t2v" / "v.txt").videos] == ["s001"]


def test_a_list_adds_what_the_layout_did_not_take_and_tells_more(tmp_path, manifest):
    (tmp_path / "v.csv").write_text("file,prompt,dimensions\nt2v/left over.mp4,A cat,R22;IF-01\nt2v/s001.mp4,Told,\n")
    kept = by_id(restrict(manifest, tmp_path / "v.csv"))
    assert kept["left_over"].prompt == "A cat"
    assert kept["left_over"].dimensions == ("R22", "IF-01")
    assert (kept["s001"].prompt, kept["s001"].group) == ("Told", "s001")


def test_a_listed_group_without_a_file_stays_missing(tmp_path, manifest):
    (tmp_path / "v.txt").write_text("s001\ns003\n")
    kept = restrict(manifest, tmp_path / "v.txt")
    assert ([v.id for v in kept.videos], kept.missing) == (["s001"], (("s003", "t2v"),))


def test_a_listed_name_that_is_nowhere_is_an_error_with_the_nearest(tmp_path, manifest):
    (tmp_path / "v.txt").write_text("s00l\n")
    with pytest.raises(ModelDirError, match=r"v\.txt:1: 's00l' is not there; nearest: s00[12], "):
        restrict(manifest, tmp_path / "v.txt")
    (tmp_path / "v.txt").write_text("\n")
    with pytest.raises(ModelDirError, match="names no video"):
        restrict(manifest, tmp_path / "v.txt")


def test_a_list_does_not_lead_out_of_the_folder(tmp_path, manifest):
    (tmp_path / "v.txt").write_text("../../etc/passwd\n")
    with pytest.raises(ModelDirError, match="leads out of"):
        restrict(manifest, tmp_path / "v.txt")
