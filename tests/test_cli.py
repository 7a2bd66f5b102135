"""The command line, from another folder than the checkout."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.world import demo, video


def pvbench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in `folder`."""
    command = [sys.executable, "-m", "pvbench_suite.cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scored models, one lawful and one that jumps."""
    folder = tmp_path_factory.mktemp("runs")
    for name, jump in (("lawful", 0.0), ("violating", 3.0)):
        demo(folder / name, {f"s00{k}": jump for k in range(1, 7)})
        done = pvbench(folder, "run", name, "--", "-k", "R16 or R21", "--pv-perception=simulator")
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_run_scores_from_any_folder(runs: Path) -> None:
    """`pvbench run DIR` writes what pytest in the checkout writes."""
    summary = json.loads((runs / "lawful" / "pvbench" / "simulator" / "summary.json").read_text(encoding="utf-8"))
    (result,) = summary["results"]
    assert result["dimensions"]["R16"]["by_dimension"]["score"] == 100.0
    assert not list(runs.glob("*.ini"))


def test_run_hands_exit_status_and_options_on(runs: Path) -> None:
    """A red gate is exit 1, a mistake exit 4 with one line."""
    red = pvbench(runs, "run", "violating", "--", "-k", "R16", "--pv-perception=simulator", "--pv-gate", "R16>=50")
    assert red.returncode == 1
    assert "gate failed: R16>=50" in red.stdout
    assert pvbench(runs, "run", "nowhere").returncode == 4
    bare = pvbench(runs, "run")
    assert (bare.returncode, bare.stderr.count("\n")) == (4, 1)


def test_report_rebuilds_everything_from_the_journals(runs: Path) -> None:
    """Deleted reports come back, and a common one over both models."""
    page = runs / "lawful" / "pvbench" / "simulator" / "report.html"
    page.unlink()
    done = pvbench(runs, "report", "lawful", "violating", "-o", "both")
    assert done.returncode == 0
    assert page.is_file()
    board = (runs / "both" / "leaderboard.md").read_text(encoding="utf-8")
    assert "lawful" in board
    assert "violating" in board


def test_report_without_a_journal_says_what_to_do(runs: Path, tmp_path: Path) -> None:
    """One line, exit 4."""
    done = pvbench(tmp_path, "report", str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "pvbench run" in done.stderr


def test_compare_pairs_what_both_scored(runs: Path) -> None:
    """The violating model is lower in R16, with its interval."""
    done = pvbench(runs, "compare", "lawful", "violating")
    assert done.returncode == 0
    (line,) = [line for line in done.stdout.splitlines() if line.strip().startswith("R16")]
    assert "-100.0" in line
    assert "6 pairs: lower" in line


def test_leaderboard_ranks_folders_and_names_mistakes(runs: Path) -> None:
    """The lawful model is first, with the paired difference; what cannot be meant is one line."""
    done = pvbench(runs, "leaderboard", "lawful", "violating", "--by", "R16", "-o", "board")
    assert done.returncode == 0, done.stderr
    ranked = [line.split(" | ")[:2] for line in done.stdout.splitlines() if line.startswith(("| 1 ", "| 2 "))]
    assert ranked == [["| 1", "lawful"], ["| 2", "violating"]]
    assert "+100.0" in done.stdout
    board = json.loads((runs / "board" / "leaderboard.json").read_text(encoding="utf-8"))
    assert [b["key"] for b in board["boards"]] == ["R16"]
    named = pvbench(runs, "leaderboard", "a=lawful", "b=lawful", "--by", "R16")
    assert "a/lawful" in named.stdout
    for arguments, said in ((["lawful", "lawful"], "NAME="), (["lawful", "--by", "R99"], "--by R99")):
        failed = pvbench(runs, "leaderboard", *arguments)
        assert (failed.returncode, failed.stderr.count("\n")) == (4, 1)
        assert said in failed.stderr


def test_perceive_fills_the_cache_once_and_a_broken_file_costs_itself(tmp_path: Path) -> None:
    """What was made is found by the next call and by a run; the broken file is named."""
    model = demo(tmp_path / "m", {"s001": 0.0, "s002": 0.0})
    (model / "t2v" / "s002.mp4").write_bytes(b"no video")
    first = pvbench(tmp_path, "perceive", "m", "--product", "flow")
    assert first.returncode == 1
    assert "m-t2v-s001: made flow" in first.stdout, first.stdout + first.stderr
    assert "s002.mp4: is no video" in first.stdout
    assert first.stdout.splitlines()[-1] == (
        "2 videos: 1 products made, 0 were there, 0 not perceived, 1 videos broken"
    )
    (model / "t2v" / "s002.mp4").unlink()
    second = pvbench(tmp_path, "perceive", "m", "--product", "flow", "-n", "2")
    assert second.returncode == 0
    assert second.stdout.splitlines() == ["1 videos: 0 products made, 1 were there, 0 not perceived, 0 videos broken"]
    header = pvbench(tmp_path, "run", "m", "--", "-k", "R17", "--pv-perception=embedded", "--pv-limit=1")
    assert "pvbench perception: embedded" in header.stdout
    assert re.search(r"cache: [1-9]\d* of", header.stdout)
    unknown = pvbench(tmp_path, "perceive", "m", "--product", "dreams")
    assert (unknown.returncode, unknown.stderr.count("\n")) == (4, 1)


def test_check_lists_what_is_missing_and_writes_the_manifest(tmp_path: Path) -> None:
    """A folder is compared with its prompts."""
    model = demo(tmp_path / "m", {"s001": 0.0, "s002": 0.0})
    (model / "t2v" / "s002.mp4").unlink()
    video(model / "t2v" / "stray.mp4", 9)
    done = pvbench(tmp_path, "check", "m", "--write", "m/manifest.jsonl")
    assert done.returncode == 1
    assert "s002" in done.stdout
    lines = (model / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    assert any(json.loads(line)["id"] == "s001" for line in lines)


def test_doctor_and_version() -> None:
    """They say what is here and never need a model."""
    done = pvbench(Path.cwd(), "doctor")
    assert done.returncode == 0
    assert "46 dimensions in 7 domains" in done.stdout
    assert "profile embedded" in done.stdout
    assert pvbench(Path.cwd(), "version").stdout.strip()


def test_prompts_are_mounted() -> None:
    """`pvbench prompts schema` and friends are there."""
    done = pvbench(Path.cwd(), "prompts", "--help")
    for word in ("list", "show", "export", "check", "stats"):
        assert word in done.stdout
