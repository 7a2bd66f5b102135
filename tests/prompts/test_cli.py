"""The command line writes results to standard output, mistakes as one line, and exits 0, 1 or 4."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from pvbench_suite.prompts import cli, export
from pvbench_suite.prompts.loader import SUBSETS
from pvbench_suite.prompts.schema import TAGS

from .good import GOOD, PUCKS, changed


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Return a prompt file with the good suite."""
    return write(tmp_path, *GOOD)


def write(folder: Path, *groups: dict[str, Any]) -> Path:
    """Return a JSONL file with these groups."""
    path = folder / "my.jsonl"
    path.write_text("".join(json.dumps(group) + "\n" for group in groups), encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    """Return what the command line did; its exit status must be one of the three."""
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    assert result.exit_code in (0, 1, 4), result.output
    return result


def test_check_of_a_good_file_exits_0_and_tells_notes(good: Path) -> None:
    """Notes do not fail a check."""
    result = run("check", good)
    assert result.exit_code == 0
    assert "note: suite: incomplete: 1 of 230 hybrids [part_totals]" in result.stdout
    assert "4 groups: 0 errors, 6 notes" in result.stderr


def test_check_of_a_bad_suite_exits_1_with_the_findings(tmp_path: Path) -> None:
    """Errors come first, one a line."""
    result = run("check", write(tmp_path, *GOOD, changed(PUCKS, id="s212")))
    assert result.exit_code == 1
    assert result.stdout.startswith("error: s212: shares 100% of its 5-grams with s211")


def test_check_as_json_is_machine_readable(tmp_path: Path) -> None:
    """The findings keep rule, group, message and level."""
    result = run("check", write(tmp_path, changed(PUCKS, prompt="Short.")), "--json")
    assert result.exit_code == 1
    assert {"rule", "group", "message", "level"} == set(json.loads(result.stdout)[0])


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b""])
def test_check_of_an_unreadable_file_exits_4_with_one_line(tmp_path: Path, content: bytes) -> None:
    """The line names the file."""
    path = tmp_path / "my.jsonl"
    path.write_bytes(content)
    result = run("check", path)
    assert result.exit_code == 4
    assert result.stderr.count("\n") == 1
    assert str(path) in result.stderr


def test_check_of_a_missing_file_exits_4(tmp_path: Path) -> None:
    """The path is told."""
    assert run("check", tmp_path / "no.jsonl").exit_code == 4


def test_list_filters_by_dimension_and_tag(good: Path) -> None:
    """One line per group, tab separated, id first."""
    assert [line.split("\t")[0] for line in run("list", "--prompts", good).stdout.splitlines()] == [
        "s211", "s206", "h011", "x001",
    ]  # fmt: skip
    assert run("list", "--prompts", good, "-d", "R22").stdout.startswith("s211\tsingle\tR22\t-\tOn a frosty rink")
    assert run("list", "--prompts", good, "--tag", "embodied").stdout.startswith("h011\t")


def test_list_of_an_unknown_dimension_exits_4_and_names_the_nearest(good: Path) -> None:
    """A slip does not give an empty list."""
    result = run("list", "--prompts", good, "-d", "r22")
    assert result.exit_code == 4
    assert "the nearest is R22" in result.stderr


def test_a_subset_tells_what_is_not_there(good: Path) -> None:
    """Core is cut to what is there, and standard error says how much is not."""
    result = run("list", "--prompts", good, "--subset", "core")
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == ["s211", "s206", "h011"]
    assert "subset core: 66 of 69 groups are not there" in result.stderr


def test_a_subset_of_which_nothing_is_there_exits_4(tmp_path: Path) -> None:
    """Nothing to list is a mistake, not an empty success."""
    result = run("list", "--prompts", write(tmp_path, changed(PUCKS, id="s212")), "--subset", "mini")
    assert result.exit_code == 4
    assert "has none of the 23 groups of subset 'mini'" in result.stderr


def test_show_writes_one_group_with_its_file_name(good: Path) -> None:
    """The JSON can be fed back, but for digest and video."""
    shown = json.loads(run("show", "s211", "--prompts", good).stdout)
    assert shown.pop("video") == "s211.mp4"
    assert len(shown.pop("digest")) == 12
    assert shown["prompt"] == PUCKS["prompt"]


def test_show_of_an_unknown_id_exits_4_and_names_the_nearest(good: Path) -> None:
    """The nearest ids are listed."""
    result = run("show", "s0211", "--prompts", good)
    assert result.exit_code == 4
    assert "the nearest: s211" in result.stderr


def test_export_to_a_file_and_to_standard_output_are_the_same(good: Path, tmp_path: Path) -> None:
    """`--out` writes the bytes that would go to standard output."""
    out = tmp_path / "prompts.txt"
    told = run("export", "--modality", "t2v", "--format", "txt", "--prompts", good, "--seed", 0, "--seed", 1)
    assert told.stdout.splitlines()[1].startswith("s211.s1.mp4\tOn a frosty rink")
    written = run(
        "export", "--modality", "t2v", "--format", "txt", "--prompts", good, "--seed", 0, "--seed", 1, "-o", out
    )
    assert out.read_text("utf-8") == told.stdout
    assert "wrote 8 lines" in written.stderr


def test_export_to_a_place_that_cannot_be_written_exits_4(good: Path, tmp_path: Path) -> None:
    """A folder is no file to write to."""
    result = run("export", "--modality", "i2v", "--prompts", good, "-o", tmp_path)
    assert result.exit_code == 4
    assert "cannot be written" in result.stderr


def test_stats_are_markdown_or_json(good: Path) -> None:
    """Both have the same numbers."""
    assert "- **events**: motion 2" in run("stats", "--prompts", good).stdout
    assert json.loads(run("stats", "--prompts", good, "--json").stdout)["groups"] == 4


def test_schema_is_json(good: Path) -> None:
    """What is shipped as schema.json can be written anew."""
    assert json.loads(run("schema").stdout)["title"] == "PVBench suite prompt group"


def test_the_choices_of_the_command_line_are_those_of_the_modules() -> None:
    """No subset, modality, format or tag is left out."""
    assert tuple(cli.SubsetName) == SUBSETS
    assert tuple(cli.ModalityName) == export.MODALITIES
    assert tuple(cli.FormatName) == export.FORMATS
    assert tuple(cli.TagName) == TAGS
