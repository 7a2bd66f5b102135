"""Every layout that users already have is recognized, read without renaming, and says which it is and why."""

from __future__ import annotations

import json
import unicodedata

import pytest

from pvbench_suite.errors import ModelDirError
from pvbench_suite.video.manifest import discover, layout_names
from tests.video.making import Suite, by_id, fill, pictures, suite, write, write_image

LONG = "In a sunlit kitchen a heavy iron pot is pushed slowly across a slightly inclined counter, " * 3


def frames(folder, count=3):
    """Make a folder of frames that layouts look at by name only."""
    fill(folder, [f"{k:03d}.png" for k in range(count)])


# The suite's own layout


def test_native_folders_give_groups_seeds_and_modalities(tmp_path):
    fill(tmp_path, ["t2v/s001.mp4", "t2v/s002.s0.webm", "t2v/s002.s11.mp4", "i2v/S001.MP4", "i2v/other.mp4"])
    manifest = discover("wan", tmp_path, suite("s001", "s002"))
    assert (manifest.layout, manifest.why) == ("native", "4 of 5 names match groups of the suite")
    assert [(v.id, v.group, v.seed, v.modality) for v in manifest.videos] == [
        ("s001", "s001", None, "i2v"),
        ("s001", "s001", None, "t2v"),
        ("s002.s0", "s002", 0, "t2v"),
        ("s002.s11", "s002", 11, "t2v"),
    ]
    assert manifest.videos[1].path == tmp_path.resolve() / "t2v" / "s001.mp4"
    assert manifest.videos[1].prompt == "prompt of s001"
    assert manifest.missing == (("s002", "i2v"),)
    assert [str(path) for path in manifest.extra] == ["i2v/other.mp4"]


@pytest.mark.parametrize(("name", "modality"), [("i2v", "i2v"), ("t2v", "t2v"), ("step_1000", "t2v")])
def test_native_files_may_lie_directly_in_the_folder(tmp_path, name, modality):
    fill(tmp_path / name, ["s001.mp4"])
    manifest = discover("wan", tmp_path / name, suite("s001", "s002"))
    assert manifest.layout == "native"
    assert manifest.videos[0].modality == modality
    assert manifest.missing == (("s002", modality),)


def test_the_modality_asked_for_is_that_of_a_bare_native_folder(tmp_path):
    fill(tmp_path, ["s001.mp4"])
    assert discover("wan", tmp_path, suite("s001"), modality="i2v").videos[0].modality == "i2v"


def test_only_the_modality_asked_for_is_returned_and_owed(tmp_path):
    fill(tmp_path, ["t2v/s001.mp4", "i2v/s001.mp4"])
    manifest = discover("wan", tmp_path, suite("s001", "s002"), modality="i2v")
    assert [v.modality for v in manifest.videos] == ["i2v"]
    assert manifest.missing == (("s002", "i2v"),)
    fill(tmp_path / "bare", ["t2v/s001.mp4"])
    with pytest.raises(ModelDirError, match="has no i2v video"):
        discover("wan", tmp_path / "bare", suite("s001"), modality="i2v")


def test_the_suites_own_output_and_hidden_files_are_no_videos(tmp_path):
    fill(tmp_path, ["t2v/s001.mp4", "pvbench/plots/s002.mp4", ".cache/s002.mp4", "t2v/._s001.mp4"])
    manifest = discover("wan", tmp_path, suite("s001", "s002"))
    assert len(manifest.videos) == 1
    assert manifest.extra == ()


def test_native_asked_for_without_a_match_names_the_three_nearest(tmp_path):
    fill(tmp_path, ["t2v/s0O1.mp4", "t2v/x.mp4"])
    with pytest.raises(
        ModelDirError, match=r"none of 2 names matches .* \(the first is 's0O1'; nearest groups: s001, "
    ):
        discover("wan", tmp_path, suite("s001", "s012", "h001", "x140"), layout="native")
    assert discover("wan", tmp_path, suite("s001")).layout == "plain"


def test_two_files_for_one_group_are_named_both(tmp_path):
    fill(tmp_path, ["t2v/s001.mp4", "t2v/s001.webm"])
    with pytest.raises(ModelDirError, match=r"two files for group s001, t2v: 't2v/s001\.mp4' and 't2v/s001\.webm'"):
        discover("wan", tmp_path, suite("s001"))
    manifest = discover("wan", tmp_path, suite("s001"), strict=False)
    assert len(manifest.videos) == len(manifest.faults) == 1


def test_names_that_differ_in_case_only_are_two_files_for_one_group(tmp_path):
    fill(tmp_path, ["t2v/s001.mp4", "t2v/S001.mp4"])
    with pytest.raises(ModelDirError, match="two files for group s001"):
        discover("wan", tmp_path, suite("s001"))


def test_an_ambiguous_name_lists_the_candidates(tmp_path):
    fill(tmp_path, ["t2v/MY_CLIP.mp4", "t2v/other.mp4"])
    with pytest.raises(ModelDirError, match=r"t2v/MY_CLIP\.mp4: 'MY_CLIP' fits 2 groups: My_clip, my_clip"):
        discover("wan", tmp_path, suite("my_clip", "My_clip", "other"))


def test_ids_of_groups_stay_as_they_are(tmp_path):
    fill(tmp_path, ["t2v/car22.mp4", "t2v/note_r14.mp4"])
    assert [v.id for v in discover("wan", tmp_path, suite("car22")).videos] == ["car22"]


def test_the_file_names_of_a_prompt_list_are_matched(tmp_path):
    own = Suite(suite("one", "two").groups, files={"one": "clips/A ball, falls.mp4", "two": "b.mp4"})
    fill(tmp_path, ["clips/A ball, falls.mp4", "b.mp4", "c.mp4"])
    manifest = discover("wan", tmp_path, own)
    assert {(v.group, v.path.name) for v in manifest.videos} == {("one", "A ball, falls.mp4"), ("two", "b.mp4")}
    assert manifest.layout == "native"


def test_an_empty_modality_folder_is_noted(tmp_path):
    fill(tmp_path, ["t2v/s001.mp4"])
    (tmp_path / "i2v").mkdir()
    assert "i2v/ holds no video" in discover("wan", tmp_path, suite("s001")).notes


# Plain folders and folders of frames


def test_a_plain_folder_takes_every_video_and_owes_nothing(tmp_path):
    fill(tmp_path, ["a.mp4", "deep/er/car22.mov", "I2V/b.gif", "notes.txt", "poster.jpg", "c.webp"])
    manifest = discover("wan", tmp_path, suite("s001"))
    videos = by_id(manifest)
    assert manifest.layout == "plain"
    assert set(videos) == {"a", "deep-er-car.22", "b", "c"}
    assert videos["b"].modality == "i2v"
    assert {v.modality for k, v in videos.items() if k != "b"} == {"t2v"}
    assert {v.group for v in manifest.videos} == {None}
    assert manifest.missing == ()


def test_a_plain_folder_needs_no_suite(tmp_path):
    assert len(discover("wan", fill(tmp_path, ["a.mp4"]), None).videos) == 1


def test_hostile_names_get_safe_ids(tmp_path):
    names = [
        "A_large,_heavy_pot; it's [v1] 'q'.mp4",
        'quote".mp4',
        "line\nbreak.mp4",
        "球が落ちる é ñ.mp4",
        "n" * 251 + ".mp4",
        "--version.mp4",
        "%d.mp4",
    ]
    manifest = discover("wan", fill(tmp_path, names), suite("s001"))
    assert len(by_id(manifest)) == len(names)
    assert all(len(v.id) <= 80 and v.id.isascii() and v.id.isprintable() and " " not in v.id for v in manifest.videos)
    assert {v.path.name for v in manifest.videos} == set(names)


def test_composed_and_decomposed_names_in_one_folder_stay_two_videos(tmp_path):
    names = [unicodedata.normalize(form, "façade.mp4") for form in ("NFC", "NFD")]
    assert len(by_id(discover("wan", fill(tmp_path, names), None))) == 2


def test_a_folder_of_frames_needs_a_rate(tmp_path):
    frames(tmp_path / "clip_1")
    frames(tmp_path / "clip_2" / "frames")
    with pytest.raises(
        ModelDirError, match=r'clip_1: a folder of frames needs its rate; write a manifest.jsonl with "path"'
    ):
        discover("wan", tmp_path, None)
    manifest = discover("wan", tmp_path, None, fps=8)
    assert manifest.layout == "frames"
    assert {(v.id, v.fps) for v in manifest.videos} == {("clip_1", 8), ("clip_2", 8)}


# Other benchmarks


def test_vbench_names_are_prompts_with_an_index(tmp_path):
    names = [f"a cat, it's sitting.-{i}.mp4" for i in range(3)] + ["Apollo-11.mp4", "a dog-0.gif", "a dog-1.gif"]
    manifest = discover("wan", fill(tmp_path, names), suite("s001"))
    assert manifest.layout == "vbench"
    read = {(v.prompt, v.seed) for v in manifest.videos}
    assert read == {("a cat, it's sitting.", i) for i in range(3)} | {("a dog", 0), ("a dog", 1), ("Apollo-11", None)}


def test_vbench_prompts_of_the_users_suite_become_groups(tmp_path):
    own = suite(g1="A fantasy landscape", g2="a fantasy landscape", g3="Apollo-1", g4=LONG)
    names = ["A fantasy landscape-0.mp4", "a fantasy landscape-0.mp4", "Apollo-1.mp4", LONG[:180].strip() + "-0.mp4"]
    manifest = discover("wan", fill(tmp_path, names), own, layout="vbench")
    assert {(v.id, v.group, v.seed) for v in manifest.videos} == {
        ("g1.s0", "g1", 0), ("g2.s0", "g2", 0), ("g3", "g3", None), ("g4.s0", "g4", 0),
    }  # fmt: skip
    assert next(v for v in manifest.videos if v.group == "g4").prompt == LONG
    assert manifest.missing == ()


def test_vbench_with_an_image_of_the_same_name_is_image_to_video(tmp_path):
    fill(tmp_path, ["a red car-0.mp4", "a red car-1.mp4", "images/a red car.png"])
    manifest = discover("wan", tmp_path, None)
    assert {v.modality for v in manifest.videos} == {"i2v"}
    assert manifest.videos[0].reference == tmp_path.resolve() / "images" / "a red car.png"


def test_vbench2_folders_keep_prompts_that_recur_apart(tmp_path):
    prompt = LONG[:180].strip()
    names = [f"{folder}/{prompt}-{i}.mp4" for folder in ("Mechanics", "Multi-View_Consistency") for i in range(3)]
    manifest = discover("wan", fill(tmp_path, [*names, "Thermotics/ice melts-0.mp4", "notes/x.mp4"]), suite("s001"))
    assert manifest.layout == "vbench2"
    assert len(by_id(manifest)) == 7
    assert {v.seed for v in manifest.videos} == {0, 1, 2}
    assert [str(path) for path in manifest.extra] == ["notes/x.mp4"]


def test_worldscore_frames_are_the_video(tmp_path):
    base = tmp_path / "worldscore_output"
    static = base / "static" / "photorealistic" / "indoor" / "dining_spaces" / "000"
    dynamic = base / "dynamic" / "stylized" / "rigid" / "001"
    for instance in (static, dynamic):
        frames(instance / "frames")
        fill(instance, ["input_image.png"])
        (instance / "image_data.json").write_text(json.dumps({"prompt_list": ["A table.", "A door."]}))
    (static / "videos").mkdir()
    write(static / "videos" / "output.mp4", pictures(3), fps=16)
    manifest = discover("wan", tmp_path, suite("s001"))
    assert manifest.layout == "worldscore"
    assert {v.id: (v.path.name, v.modality, v.fps, v.prompt) for v in manifest.videos} == {
        "static-photorealistic-indoor-dining_spaces-000": ("frames", "i2v", 16, "A table. A door."),
        "dynamic-stylized-rigid-001": ("frames", "i2v", 16, "A table. A door."),
    }
    assert "frames are taken at 16 per second, that of the first videos/output.mp4" in manifest.notes


def test_worldscore_without_any_rate_is_an_error(tmp_path):
    frames(tmp_path / "static" / "a" / "b" / "c" / "000" / "frames")
    with pytest.raises(ModelDirError, match="needs its rate"):
        discover("wan", tmp_path, None)


def test_physics_iq_runs_become_seeds_and_descriptions_prompts(tmp_path):
    name = "0001_perspective-left_trimmed-ball-and-block-fall.mp4"
    fill(tmp_path, [f"wan-bpp-run_{k:02d}/{name}" for k in (1, 2)] + ["wan-bpp-run_01/0002_any.mp4"])
    fill(tmp_path, ["0001_testing-videos_30FPS_perspective-left_take-1_trimmed-ball.mp4"])
    (tmp_path / "descriptions.csv").write_text(
        f'scenario,description,category,generated_video_name\nx,"A ball, a block.",Solid,{name}\n', encoding="utf-8"
    )
    manifest = discover("wan", tmp_path, suite("s001"))
    assert manifest.layout == "physics-iq"
    assert [(v.seed, v.prompt, v.modality) for v in manifest.videos] == [
        (1, "A ball, a block.", "i2v"), (1, None, "i2v"), (2, "A ball, a block.", "i2v"),
    ]  # fmt: skip
    assert len(manifest.extra) == 1


def test_phyworldbench_names_are_a_number_and_a_level(tmp_path):
    fill(
        tmp_path,
        ["videos/001-1.mp4", "videos/001-2.mp4", "videos/101-3.mp4", "videos/sampled_frames/001-1/frame_1.png"],
    )
    manifest = discover("wan", tmp_path, suite("s001"))
    assert manifest.layout == "phyworldbench"
    assert {v.seed for v in manifest.videos} == {None}


def test_phygenbench_counts_from_one_in_the_order_of_its_prompts(tmp_path):
    fill(tmp_path, ["output_video_2.mp4", "output_video_10.mp4", "output_video_1.mp4"])
    (tmp_path / "prompts.json").write_text(json.dumps([{"caption": f"caption {k}"} for k in range(1, 11)]))
    manifest = discover("wan", tmp_path, suite("s001"))
    assert manifest.layout == "phygenbench"
    assert [v.prompt for v in manifest.videos] == ["caption 1", "caption 2", "caption 10"]


def test_phyground_reads_prompts_and_first_frames_from_its_list(tmp_path):
    fill(tmp_path, ["collision_156.mp4", "other.mp4", "first/collision_156.jpg"])
    entry = {"id_stem": "collision_156", "prompt": "Two balls collide.", "first_frame_image": "first/collision_156.jpg"}
    (tmp_path / "phyground.json").write_text(json.dumps([entry]))
    manifest = discover("wan", tmp_path, suite("s001"))
    (video,) = manifest.videos
    assert (manifest.layout, video.prompt, video.modality) == ("phyground", "Two balls collide.", "i2v")
    assert video.reference == tmp_path.resolve() / "first" / "collision_156.jpg"
    (tmp_path / "phyground.json").write_text(json.dumps([entry | {"first_frame_image": "../../etc/passwd"}]))
    with pytest.raises(ModelDirError, match="leads out of"):
        discover("wan", tmp_path, suite("s001"))


@pytest.mark.parametrize(
    ("first", "names"), [(0, ["0.mp4", "2.mp4", "10.mp4"]), (1, ["0001.mp4", "0003.mp4", "0011.mp4"])]
)
def test_a_missing_number_does_not_shift_the_prompts_of_the_others(tmp_path, first, names):
    fill(tmp_path, names)
    (tmp_path / "prompt700.txt").write_text("".join(f"prompt {k}\n" for k in range(11)))
    manifest = discover("wan", tmp_path, suite("s001"))
    assert manifest.layout == "indexed"
    assert [v.prompt for v in manifest.videos] == ["prompt 0", "prompt 2", "prompt 10"]


def test_compbench_folders_have_their_own_lists(tmp_path):
    fill(tmp_path, ["action/0001.mp4", "action/0002.mp4", "motion/0001.mp4"])
    (tmp_path / "action.txt").write_text("a1\na2\n")
    (tmp_path / "motion.txt").write_text("m1\n")
    manifest = discover("wan", tmp_path, suite("s001"))
    assert [v.prompt for v in manifest.videos] == ["a1", "a2", "m1"]


def test_numbers_that_start_anywhere_get_no_guessed_prompt(tmp_path):
    fill(tmp_path, ["5.mp4", "6.mp4"])
    (tmp_path / "prompts.txt").write_text("".join(f"prompt {k}\n" for k in range(20)))
    manifest = discover("wan", tmp_path, suite("s001"))
    assert {v.prompt for v in manifest.videos} == {None}
    assert any("prompts cannot be told" in note for note in manifest.notes)


def test_pai_bench_seeds_follow_two_underscores(tmp_path):
    fill(tmp_path, ["robot_arm__0.mp4", "robot_arm__4.mp4", "robot_arm__12.mp4", "no_seed.mp4"])
    manifest = discover("wan", tmp_path, suite("s001"))
    assert manifest.layout == "pai-bench"
    assert [v.seed for v in manifest.videos] == [None, 0, 4, 12]


# The choice itself


def test_every_layout_can_be_asked_for_by_name_and_an_unknown_one_lists_them(tmp_path):
    fill(tmp_path, ["a.mp4"])
    assert discover("wan", tmp_path, None, layout="plain").why == "as asked for"
    with pytest.raises(ModelDirError, match="layout 'vbnch' is unknown; choose auto, manifest, native, csv"):
        discover("wan", tmp_path, None, layout="vbnch")
    with pytest.raises(ModelDirError, match="needs a prompt suite"):
        discover("wan", tmp_path, None, layout="native")


@pytest.mark.parametrize(
    "name", [n for n in layout_names() if n not in ("auto", "plain", "vbench", "pai-bench", "phyground")]
)
def test_a_layout_asked_for_that_does_not_fit_is_an_error_never_an_empty_run(tmp_path, name):
    with pytest.raises(ModelDirError):
        discover("wan", fill(tmp_path, ["some clip.mp4"]), suite("s001"), layout=name)


def test_a_folder_without_videos_says_what_was_expected(tmp_path):
    with pytest.raises(ModelDirError, match="does not exist"):
        discover("wan", tmp_path / "none", None)
    fill(tmp_path, ["readme.txt"])
    with pytest.raises(ModelDirError, match="holds no video"):
        discover("wan", tmp_path, suite("s001"))
    with pytest.raises(ModelDirError, match="is no folder"):
        discover("wan", tmp_path / "readme.txt", None)


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    fill(tmp_path / "outside", ["s001.mp4", "sub/s002.mp4"])
    fill(tmp_path / "model", ["t2v/s003.mp4"])
    (tmp_path / "model" / "t2v" / "s001.mp4").symlink_to(tmp_path / "outside" / "s001.mp4")
    (tmp_path / "model" / "more").symlink_to(tmp_path / "outside" / "sub")
    (tmp_path / "model" / "t2v" / "s002.mp4").symlink_to("s003.mp4")
    (tmp_path / "model" / "t2v" / "s004.mp4").symlink_to("nothing.mp4")
    manifest = discover("wan", tmp_path / "model", suite("s001", "s002", "s003", "s004"))
    assert [v.group for v in manifest.videos] == ["s002", "s003"]
    assert any(note.startswith("2 links not followed") for note in manifest.notes)


def test_a_folder_of_links_alone_says_why_it_holds_nothing(tmp_path):
    fill(tmp_path / "outside", ["s001.mp4"])
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "s001.mp4").symlink_to(tmp_path / "outside" / "s001.mp4")
    with pytest.raises(ModelDirError, match=r"holds no video.*1 links not followed \(s001.mp4 ...\): copy the files"):
        discover("wan", tmp_path / "model", suite("s001"))


def test_a_snapshot_of_the_hugging_face_cache_is_read(tmp_path):
    """Its files are links into the blobs beside the snapshots; no other link out of it is followed."""
    fill(tmp_path / "hub", ["blobs/0a.mp4", "other/0b.mp4"])
    (tmp_path / "hub" / "blobs" / "0a.mp4").rename(tmp_path / "hub" / "blobs" / "0a")
    model = tmp_path / "hub" / "snapshots" / "1f" / "wan"
    model.mkdir(parents=True)
    (model / "s001.mp4").symlink_to("../../../blobs/0a")
    (model / "s002.mp4").symlink_to("../../../other/0b.mp4")
    manifest = discover("wan", model, suite("s001", "s002"))
    assert [v.group for v in manifest.videos] == ["s001"]
    assert any(note.startswith("1 links not followed") for note in manifest.notes)


def test_the_root_itself_may_be_a_link(tmp_path):
    fill(tmp_path / "real", ["s001.mp4"])
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert len(discover("wan", tmp_path / "link", suite("s001")).videos) == 1


def test_a_real_image_is_no_video(tmp_path):
    write_image(tmp_path / "a.png", pictures(1)[0])
    with pytest.raises(ModelDirError, match="holds no video"):
        discover("wan", tmp_path, None)
