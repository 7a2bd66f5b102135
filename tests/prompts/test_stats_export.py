"""The variety report counts what is there; an export can be read back and names files by id."""

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.errors import UserError
from pvbench_suite.prompts import export, stats
from pvbench_suite.prompts.loader import load
from pvbench_suite.prompts.schema import Group

from .good import PUCKS, changed, groups


def test_the_report_counts_the_good_suite() -> None:
    """Numbers that can be counted by hand."""
    data = stats.report(groups())
    assert data["groups"] == 4
    assert data["parts"] == {"single": 2, "hybrid": 1, "supplement": 1}
    assert data["tags"] == {"embodied": 1, "occlusion": 1, "clutter": 0, "camera_motion": 1}
    assert data["cameras"] == {"still": 3, "orbit": 1}
    assert data["events"]["collision"] == 1
    assert data["events"]["light_move"] == 0
    assert data["targets"]["R22"] == 1
    assert data["targets"]["IF-01"] == 0
    assert data["demanded"]["R03"] == 1
    assert data["demanded"]["R16"] == 2
    assert data["distinct nouns"] == 9
    assert data["materials"] == {"wood": 1}
    assert data["in and out"] == {"indoors": 2, "outdoors": 2, "both": 0, "not told": 0}
    assert data["agents"] == {"person by role": 1}
    assert data["words"]["min"] >= 40


def test_the_report_of_nothing_is_empty_and_not_an_error() -> None:
    """An empty suite has no shortest prompt."""
    data = stats.report(())
    assert (data["groups"], data["words"], data["nearest"]) == (0, {}, [])
    assert stats.markdown(data).startswith("# Variety")


def test_the_report_is_plain_json_and_does_not_depend_on_order() -> None:
    """Two runs, and a shuffled file, print the same counts."""
    data, back = stats.report(groups()), stats.report(groups()[::-1])
    assert json.loads(json.dumps(data)) == data
    assert {key: data[key] for key in data if key != "nearest"} == {key: back[key] for key in back if key != "nearest"}


def test_the_likest_pair_comes_first() -> None:
    """A copy is the nearest pair, with share 1, and its 5-grams are the commonest."""
    data = stats.report(groups(changed(PUCKS, id="s212")))
    assert data["nearest"][0] == [1.0, "s211", "s212"]
    assert set(data["commonest 5-grams"].values()) == {2}
    assert "| 100.0% | s211 | s212 |" in stats.markdown(data)


def test_markdown_of_hostile_nouns_stays_text() -> None:
    """A noun cannot open a tag, a link or a table cell."""
    own = Group.model_validate(
        {"id": "a", "prompt": "x", "objects": [{"name": "b", "noun": "<script>|[x](y)\n# h", "body": "rigid"}]}
    )
    told = stats.markdown(stats.report([own]))
    assert "<script>" not in told
    assert "&lt;script>\\|\\[x](y) # h 1" in told


def test_jsonl_and_csv_say_the_same_and_can_be_read_back() -> None:
    """Whatever the format, the rows come back as they were."""
    rows = export.rows(groups(), "i2v", seeds=(0, 7))
    assert [json.loads(line) for line in export.render(rows, "jsonl").splitlines()] == rows
    assert list(csv.DictReader(io.StringIO(export.render(rows, "csv")))) == rows
    assert [row["file"] for row in rows[:2]] == ["s211.s0.mp4", "s211.s7.mp4"]
    assert rows[0]["reference"] == "s211.png"
    assert rows[0]["first_frame"] == PUCKS["first_frame"]


def test_txt_is_one_line_per_video_with_name_tab_prompt() -> None:
    """Line breaks in a user's prompt do not shift the lines."""
    own = [Group(id="a", prompt="One\ttwo\nthree."), Group(id="b", prompt="Four.")]
    assert export.render(export.rows(own, "t2v"), "txt") == "a.mp4\tOne two three.\nb.mp4\tFour.\n"


def test_the_t2v_csv_is_a_prompt_file(tmp_path: Path) -> None:
    """What is exported for t2v loads again with the same ids, prompts and file names."""
    path = tmp_path / "out.csv"
    path.write_text(export.render(export.rows(groups(), "t2v"), "csv"), encoding="utf-8")
    suite = load(path)
    assert [(g.id, g.prompt) for g in suite] == [(g.id, g.prompt) for g in groups()]
    assert suite.files["s211"] == "s211.mp4"


@given(
    st.text(
        st.characters(
            exclude_categories=["Cc", "Cs", "Zl", "Zp"],
            exclude_characters="\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
        ),
        min_size=1,
    )
)
def test_any_prompt_survives_csv_and_jsonl(prompt: str) -> None:
    """Commas, quotes, tabs and any script come back unchanged."""
    if prompt.strip():
        rows = export.rows([Group(id="a", prompt=prompt)], "t2v")
        assert list(csv.DictReader(io.StringIO(export.render(rows, "csv"), newline=""))) == rows
        assert [json.loads(export.render(rows, "jsonl"))] == rows


def test_first_frames_are_prompts_for_an_image_generator() -> None:
    """One image per group, named by id."""
    rows = export.rows(groups(), "reference")
    assert rows[0] == {"id": "s211", "file": "s211.png", "prompt": PUCKS["first_frame"]}


def test_a_group_without_first_frame_is_not_dropped_silently() -> None:
    """The message counts and names such groups."""
    with pytest.raises(UserError, match=r"1 of 5 groups have no first_frame \(mine\)"):
        export.rows([*groups(), Group(id="mine", prompt="x")], "reference")


def test_names_that_a_csv_gave_are_kept() -> None:
    """A user's own file names win where no seed is asked for."""
    own = [Group(id="a", prompt="x")]
    assert export.rows(own, "t2v", files={"a": "old/A 1.mp4"})[0]["file"] == "old/A 1.mp4"
    assert export.rows(own, "t2v", (3,), {"a": "old/A 1.mp4"})[0]["file"] == "a.s3.mp4"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: export.rows(groups(), "v2v"), "modality 'v2v' is unknown; choose t2v, i2v, reference"),
        (lambda: export.rows(groups(), "t2v", (1, 1)), "seeds 1, 1: give each once"),
        (lambda: export.rows(groups(), "t2v", (-1,)), "seeds -1: give each once, from 0 up"),
        (lambda: export.render([], "csv"), "there is no group to export"),
        (lambda: export.render(export.rows(groups(), "t2v"), "xml"), "format 'xml' is unknown"),
    ],
)
def test_a_wrong_request_is_a_user_error(call: object, message: str) -> None:
    """Each message says what to choose instead."""
    with pytest.raises(UserError, match=message):
        call()  # type: ignore[operator]
