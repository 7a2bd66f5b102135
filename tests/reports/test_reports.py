"""The written reports: complete, consistent with the summary, and harmless."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pvbench_suite.errors import UserError
from pvbench_suite.stats.aggregate import summarize
from pvbench_suite.stats.cells import Cell, Comparison, Contrast, Difference, Health, Mean, Result, Summary
from pvbench_suite.stats.ranking import Board, Entry, RankTable, Unranked
from pvbench_suite.stats.sample import STATES
from reports.build import build, write
from reports.clips import failures, worst_clips
from reports.leaderboard import leaderboard_json, leaderboard_markdown, over_runs
from reports.readme import BEGIN, END, dimension_table, with_table
from reports.summary import summary_json, summary_markdown
from reports.terminal import terminal_lines
from tests.stats.world import JUDGE, REGISTRY, absent, row, run, scores, state

NAMES = {"results.csv", "summary.json", "summary.md", "leaderboard.json", "leaderboard.md", "report.html"}
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}\x1b[2J\u202e|`"


class Page(HTMLParser):
    """Collects tags, attributes and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = self.last = ""

    def handle_starttag(self, tag, attrs):
        """Note a tag with its attributes."""
        self.tags.add(tag)
        self.last = tag
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data):
        """Note text, but no style sheet."""
        if self.last != "style":
            self.text += data


def parsed(text):
    """Return the page as the parser sees it."""
    page = Page()
    page.feed(text)
    return page


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Return a folder with the reports over two models, both modalities and every state."""
    rows = [r for m in ("wan2.2", "sana") for mod in ("t2v", "i2v") for r in run(m, mod, groups=5, seed=len(m))]
    rows += [state("judge_failed", "IF-01", "z", model="sana", scorer=JUDGE), state("error", model="sana", group="z")]
    out = tmp_path_factory.mktemp("reports")
    paths = build(rows, REGISTRY, out)
    return out, paths, rows


def test_all_reports_are_written_and_nothing_else(everything):
    """The six files, and no temporary one."""
    out, paths, _ = everything
    assert {p.name for p in paths} == NAMES == {p.name for p in out.iterdir()}


def test_building_again_gives_the_same_bytes_in_any_order(everything, tmp_path):
    """Only the CSV keeps the order of the rows."""
    out, _, rows = everything
    build(rows[::-1], REGISTRY, tmp_path)
    for name in NAMES - {"results.csv"}:
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes(), name


def test_no_report_shows_nan(everything):
    """Numbers that do not exist are blank, null or a dash."""
    out, _, _ = everything
    for name in NAMES:
        assert not re.search(r"(?i)\bnan\b|\binfinity\b|\bnone\b(?! of)", parsed((out / name).read_text()).text), name
    for name in ("summary.json", "leaderboard.json"):
        json.loads((out / name).read_text(), parse_constant=pytest.fail)


def test_no_rows_is_a_report_too(tmp_path):
    """Before the first result there is a page that says so."""
    build([], REGISTRY, tmp_path)
    assert "nothing is planned or scored yet" in (tmp_path / "report.html").read_text()
    assert terminal_lines(summarize([], REGISTRY), 80) == ["no rows: nothing is planned or scored yet"]


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path):
    """A file stands where the folder should be."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="cannot be written"):
        write(tmp_path / "file" / "summary.md", "text")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    """The new text replaces the old one in one step, or not at all."""
    path = write(tmp_path / "summary.md", "old")
    (tmp_path / "leaderboard.md").mkdir()
    with pytest.raises(UserError):
        write(tmp_path / "leaderboard.md", "new")
    assert path.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["leaderboard.md", "summary.md"]


def test_hostile_text_is_shown_and_does_nothing(tmp_path):
    """Scripts, quotes, template code, escapes in every free text of a row, the model's name included."""
    free = {"reason": EVIL, "message": EVIL, "warnings": [EVIL], "assumed": [EVIL], "model": EVIL, "profile": EVIL}
    rows = [row(score=1, video=EVIL, group="a", scorer=EVIL, suite=EVIL, **free)]
    rows += [state(s, "R16", g, **free) for s, g in (("not_perceived", "b"), ("error", "c"), ("unmeasurable", "d"))]
    rows += [row("R15", g, 2, **{**free, "scorer": s}) for g, s in (("a", EVIL), ("b", "cuts"))]
    build(rows, REGISTRY, tmp_path)
    page = parsed((tmp_path / "report.html").read_text())
    assert not page.tags & {"script", "img", "iframe", "object", "link", "form"}
    assert not [a for a in page.attributes if a[0].startswith("on")]
    assert "<script>alert(1)</script>" in page.text
    assert "49" not in re.findall(r"\{\{ 7\*7 \}\}|49", page.text)
    for name in ("summary.md", "leaderboard.md"):
        assert "<script" not in (tmp_path / name).read_text()
    for line in terminal_lines(summarize(rows, REGISTRY), 100):
        assert line.isprintable()


def test_the_page_loads_nothing(everything):
    """No address but the anchor in the page, and a policy that forbids scripts and requests."""
    page = parsed((everything[0] / "report.html").read_text())
    addresses = [v for k, v in page.attributes if k in ("src", "href", "action", "data", "srcset")]
    assert "#read" in addresses
    assert all(address.startswith("#") for address in addresses)
    marks = {v for k, v in page.attributes if k == "id"}
    assert {address[1:] for address in addresses} <= marks, "every anchor is there"
    assert any(k == "content" and v.startswith("default-src 'none'") for k, v in page.attributes)
    assert "script" not in page.tags


def test_the_page_opens_on_scores_and_gives_the_reasons_of_the_ranking_after_them(tmp_path):
    """Two models that cannot be ranked: their means stand first; a pair that never ran has no version of the suite."""
    rows = [row("R16", g, s, model=m) for m, s in (("first", 5), ("second", 2)) for g in "abcdef"]
    rows += [{**row("R21", "a", None, model=m), "state": "pending", "suite": ""} for m in ("first", "second")]
    build(rows, REGISTRY, tmp_path)
    text = " ".join(parsed((tmp_path / "report.html").read_text()).text.split())
    places = [text.index(word) for word in ("KP kinematic persistence", "No model can be ranked", "R16")]
    assert places == sorted(places)
    assert text.count("KP kinematic persistence") == 2
    assert "100.0" in text[: places[1]]
    (suites,) = {r.suites for r in summarize(rows, REGISTRY).results}
    assert len(suites) == 1
    assert "suite ," not in text
    assert "Suite ," not in text


def test_every_mean_of_the_page_stands_with_interval_and_coverage(everything):
    """Each dimension's score, interval and scored / planned of the summary are on the page."""
    out, _, rows = everything
    text = parsed((out / "report.html").read_text()).text
    for result in summarize(rows, REGISTRY).results:
        for cell in (*result.layers.values(), *result.dimensions.values()):
            mean = cell.by_dimension
            if mean.score is not None:
                assert f"{cell.scored}/{cell.planned}" in text
                if mean.low is not None:
                    assert f"[{mean.low:.1f}, {mean.high:.1f}]" in text


def test_profiles_have_sections_of_their_own():
    """No table of a report mixes profiles."""
    text = summary_markdown(summarize([row(score=1), row(profile="reference", score=5)], REGISTRY))
    assert text.index("profile embedded") < text.index("profile reference")
    parts = text.split("## wan, profile reference")
    assert "| R22 momentum conservation | 0.0 | - | 1/1" in parts[0]
    assert "| R22 momentum conservation | 100.0 | - | 1/1" in parts[1]


def test_summary_shows_t2v_beside_i2v_with_the_gap():
    """One line of a dimension has both modalities and their paired difference."""
    text = summary_markdown(summarize(scores("R22", [2] * 6) + scores("R22", [3] * 6, modality="i2v"), REGISTRY))
    (line,) = [line for line in text.splitlines() if line.startswith("| R22")]
    assert re.search(r"\| 25\.0 .*\| 50\.0 .*\+25\.0 ", line)


def test_summary_json_has_its_documented_keys(everything):
    """The keys that docs/results.md names."""
    content = json.loads((everything[0] / "summary.json").read_text())
    assert content["schema"] == 1
    result = content["results"][0]
    cell = result["dimensions"]["R22"]
    for key in (
        "by_dimension",
        "by_domain",
        "scored",
        "planned",
        "coverage",
        "states",
        "reasons",
        "flags",
        "histogram",
    ):
        assert key in cell
    assert set(cell["by_dimension"]) == {"score", "low", "high", "detectable", "worst_case", "measured_only"}
    assert json.loads(summary_json(summarize([], REGISTRY)))["results"] == []


def test_summary_counts_what_does_not_apply(tmp_path):
    """The plan's count is handed on."""
    build([row()], REGISTRY, tmp_path, {"R11": 12})
    assert "R11 12" in (tmp_path / "summary.md").read_text()
    assert json.loads((tmp_path / "summary.json").read_text())["not_applicable"] == {"R11": 12}


@pytest.mark.parametrize("width", [1, 60, 80, 100, 200])
def test_terminal_lines_keep_the_width(everything, width):
    """No line is longer than the terminal (60 columns at least), and all states are counted."""
    lines = terminal_lines(summarize(everything[2], REGISTRY), width)
    assert max(map(len, lines)) <= max(width, 60)
    text = "\n".join(lines)
    assert "judge_failed 1" in text.replace("\n", " ")
    assert "MC" in text


def test_terminal_says_how_to_get_what_was_not_perceived(tmp_path):
    """Count, cause and remedy, and where the journal is."""
    rows = [state("not_perceived", "IF-01", g, reason="no judge", message="give --pv-judge-url") for g in "ab"]
    lines = terminal_lines(summarize(rows, REGISTRY), 100, [tmp_path / "results.jsonl"])
    assert "not perceived (2): no judge; give --pv-judge-url" in lines
    assert lines[-1] == f"journal: {tmp_path / 'results.jsonl'}"


def test_worst_clips_are_ordered_and_give_reasons():
    """Clip a has the mean of 1 and 2, b of 5; a's reasons are the absent event and the judge's words."""
    rows = [absent("R22", "a"), row("R10", "a", 2, message="wood flows"), row("R22", "b", 5), row("R16", "a", None)]
    first, second = worst_clips(rows)
    assert (first.video, first.mean, first.scored, first.planned) == ("a", 12.5, 2, 3)
    assert [f.reason for f in first.lowest] == ["event_absent: no_collision", "wood flows"]
    assert (second.video, second.lowest) == ("b", ())
    assert [c.video for c in worst_clips(rows, limit=1)] == ["a"]


def test_failures_are_grouped():
    """Four equal failures are one line with three names."""
    rows = [state("broken_video", group=g, message="12 of 240 frames") for g in "abcd"] + [row()]
    (found,) = failures(rows)
    assert (found.pairs, found.videos, found.more) == (4, ("a", "b", "c"), 1)


def test_models_of_the_same_name_in_two_runs_stay_apart():
    """Yesterday's and today's checkpoint are two entries."""
    runs = {"monday": scores("R22", [3] * 6), "tuesday": scores("R22", [4] * 6) + scores("R22", [5] * 6, model="other")}
    boards = over_runs(runs, REGISTRY, ("R22",))
    assert [e.model for e in boards[0].tables[0].entries] == ["other", "tuesday/wan", "monday/wan"]
    assert "tuesday/wan" in leaderboard_markdown(boards)
    assert json.loads(leaderboard_json(boards))["boards"][0]["key"] == "R22"


def test_the_readme_table_has_every_dimension_once():
    """46 lines below the head, and rebuilding changes nothing."""
    lines = dimension_table(REGISTRY).splitlines()
    assert len(lines) == 48
    assert [line.split(" | ")[0].strip("| ") for line in lines[2:]] == [d.id for d in REGISTRY.dimensions]
    text = with_table(f"before\n{BEGIN}\nstale\n{END}\nafter", REGISTRY)
    assert "stale" not in text
    assert text.startswith("before\n")
    assert text.endswith(f"{END}\nafter")
    assert with_table(text, REGISTRY) == text


@pytest.mark.parametrize("text", ["", BEGIN, f"{END} {BEGIN}", f"{BEGIN}{BEGIN}{END}"])
def test_a_readme_without_the_markers_is_refused(text):
    """Nothing is written at a guess."""
    with pytest.raises(UserError, match="once each"):
        with_table(text, REGISTRY)


def test_every_key_is_documented(everything):
    """Keys of rows, cells, results, comparisons and boards, all states and flag codes stand in docs/results.md."""
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
    kinds = (Summary, Result, Cell, Mean, Contrast, Health, Comparison, Difference, Board, RankTable, Entry, Unranked)
    keys = {f.name for kind in kinds for f in dataclasses.fields(kind)} | set(everything[2][0]) | set(STATES)
    codes = {f.split(":")[0] for r in summarize(everything[2], REGISTRY).results for f in r.overall.flags}
    assert {key for key in keys | codes if f"`{key}`" not in text} == set()
