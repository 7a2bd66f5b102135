"""The seven data files in thresholds/, checked as data: what the specification fixes, and what makes a rubric usable.

Conventions
-----------
These checks read the TOML with `tomllib` alone, so that they hold whatever the loader does.  A rubric's words are
its question, look_at, leave_to, not_observable, anchors and examples.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.shared import shared

ROOT = Path(__file__).resolve().parents[2] / "thresholds"


def _words(text: str) -> list[str]:
    return text.split()


#: folder: (code, layer, ids)
DOMAINS = {
    "instruction_following": ("IF", "L1", [f"IF-{n:02d}" for n in range(1, 11)]),
    "causal_commonsense": ("BC", "L1", [f"BC-{n:02d}" for n in range(1, 6)]),
    "perceptual_quality": ("PTQ", "L2", [f"PTQ-{n:02d}" for n in range(1, 7)]),
    "geometric_space": ("GS", "L3", [f"R{n:02d}" for n in range(1, 8)]),
    "material_fields": ("MFS", "L3", [f"R{n:02d}" for n in range(8, 15)]),
    "kinematic_persistence": ("KP", "L3", [f"R{n:02d}" for n in range(15, 21)]),
    "mechanical_conservation": ("MC", "L3", [f"R{n:02d}" for n in range(21, 26)]),
}
PAIRS = _words("""
    IF-01+IF-02 IF-03+IF-09 IF-04+R04 IF-05+BC-01 IF-06+BC-02 IF-07+PTQ-06 IF-08+R05 IF-10+PTQ-05 BC-03+R25 BC-04+BC-05
    PTQ-01+PTQ-02 PTQ-03+R08 PTQ-04+R16 R01+R06 R02+R03 R07+R20 R09+R10 R11+R18 R12+R14 R13+R21 R15+R17 R19+R24 R22+R23
""")
FAMILIES = {"O": "object", "R": "relation", "D": "dynamics"}
KINDS = {"P": "paper", "D": "derived", "S": "suite"}
PRODUCTS = set(
    _words("masks depth normals cameras tracks flow bodies contacts ordering shading interpolation features judge")
) | {"clip_image"}

COMMON = set(
    _words("slug name family paradigm expectation assumes scored pair needs optional modalities rationale sources")
)
NUMBER = {"quantity", "unit", "direction", "cuts"}
RUBRIC = {"question", "anchors", "look_at", "leave_to", "not_observable", "examples"}
SOURCES = {
    "i": {"id", "paradigm", "definition", "cuts"},
    "ii": {"id", "paradigm", "definition", "cuts", "rubric"},
    "iii": {"id", "paradigm", "definition", "rubric"},
}
#: Words on which two annotators need not agree; none may stand in a rubric.
VAGUE = re.compile(
    r"\b(good|better|best|fair(ly)?|bad(ly)?|poor(ly)?|excellent|very|perfect(ly)?|great(ly)?|nice(ly)?|decent|acceptabl[ey]|"
    r"adequate(ly)?|reasonabl[ey]|quite|rather|somewhat|mostly|largely|slight(ly)?|clear(ly)?|obvious(ly)?|noticeabl[ey]|"
    r"significant(ly)?|substantial(ly)?|minor|major|severe(ly)?|plausibl[ey]|implausibl[ey]|realistic(ally)?|unrealistic|"
    r"natural(ly)?|unnatural(ly)?|believabl[ey]|convincing(ly)?|strange(ly)?|weird|appropriate(ly)?|generally|basically|"
    r"subtle|subtly|strong|high quality|low quality)\b",
    re.IGNORECASE,
)
ID = re.compile(r"\b(?:IF|BC|PTQ)-\d+\b|\bR\d+\b")


def _read(folder: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / f"{folder}.toml").read_text(encoding="utf-8"))


TABLES: dict[str, dict[str, Any]] = {k: v for f in DOMAINS for k, v in _read(f).items() if k != "domain"}
NUMERIC = [k for k, v in TABLES.items() if "cuts" in v]
JUDGED = [k for k, v in TABLES.items() if "rubric" in v]
PHYSICAL = [k for k in TABLES if k.startswith("R")]


def _strings(value: Any) -> list[str]:
    """Return every string inside nested tables and lists."""
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [s for part in inside for s in _strings(part)]


def _ladder(cuts: list[float], direction: str) -> bool:
    rising = {"smaller": 1, "larger": -1}[direction]
    return (
        len(cuts) == 4
        and all(isinstance(c, float) for c in cuts)
        and all((b - a) * rising > 0 for a, b in pairwise(cuts))
    )


def test_there_are_seven_files_and_no_others() -> None:
    """A stray table would be a dimension that nobody planned."""
    assert {p.stem for p in ROOT.glob("*.toml")} == set(DOMAINS)


@pytest.mark.parametrize("folder", DOMAINS)
def test_each_file_has_its_domain_and_its_ids_in_order(folder: str) -> None:
    """Counts are 10, 5, 6, 7, 7, 6, 5, so 46 in all and 25 physical."""
    code, layer, ids = DOMAINS[folder]
    data = _read(folder)
    domain = data.pop("domain")
    assert set(domain) == {"code", "name", "layer", "folder"}
    assert (domain["code"], domain["layer"], domain["folder"]) == (code, layer, folder)
    assert list(data) == ids


@pytest.mark.parametrize("folder", DOMAINS)
def test_lines_stay_readable(folder: str) -> None:
    """A diff of a rubric should be readable on one screen."""
    lines = (ROOT / f"{folder}.toml").read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 140
    assert not any(line != line.rstrip() for line in lines)


@pytest.mark.parametrize("key", TABLES)
def test_keys_and_vocabulary_are_exact(key: str) -> None:
    """Every table has the keys of its paradigm and no other; every word comes from its fixed list."""
    t = TABLES[key]
    extra = {"i": NUMBER, "ii": NUMBER | {"rubric"}, "iii": {"rubric"}}[t["paradigm"]]
    companion = {"companion"} if key in {"R06", "R07"} else set()
    assert set(t) == COMMON | extra | companion
    assert set(t["sources"]) == SOURCES[t["paradigm"]]
    assert all(set(s if isinstance(s, list) else [s]) <= set(KINDS.values()) for s in t["sources"].values())
    assert t["family"] in (set(FAMILIES.values()) if key in PHYSICAL else {"none"})
    assert t["modalities"] == (["i2v"] if key == "IF-10" else ["t2v", "i2v"])
    assert t["needs"]
    assert set(t["needs"]) | set(t["optional"]) <= PRODUCTS
    assert not set(t["needs"]) & set(t["optional"])
    assert ("judge" in t["needs"]) == (t["paradigm"] == "iii")
    assert t["expectation"] in {"none", "prompt", "reference", "assumed", "required"}
    allowed = {"assumed": {"rigid", "undriven", "earth"}, "required": {"soft"}}.get(t["expectation"], set())
    assert set(t["assumes"]) <= allowed
    assert bool(t["assumes"]) == bool(allowed)
    assert all(s.strip() == s and s for s in _strings(t))


@pytest.mark.parametrize("key", NUMERIC)
def test_cuts_are_strictly_monotone_in_their_direction(key: str) -> None:
    """Equal or crossed cuts would leave a score that no value can reach."""
    assert _ladder(TABLES[key]["cuts"], TABLES[key]["direction"])
    assert TABLES[key]["unit"]


@pytest.mark.parametrize("key", ["R06", "R07"])
def test_companions_are_complete_numbers(key: str) -> None:
    """R06 and R07 carry the companion numbers R06c and R07c, with cuts of their own."""
    c = TABLES[key]["companion"]
    assert set(c) == {"id", "quantity", "unit", "direction", "cuts", "needs", "rationale"}
    assert c["id"] == f"{key}c"
    assert _ladder(c["cuts"], c["direction"])
    assert set(c["needs"]) <= PRODUCTS


def test_the_23_pairs_are_symmetric_and_those_of_the_specification() -> None:
    """Every dimension is in exactly one pair."""
    assert all(TABLES[t["pair"]]["pair"] == key != t["pair"] for key, t in TABLES.items())
    assert {frozenset(p.split("+")) for p in PAIRS} == {frozenset((k, t["pair"])) for k, t in TABLES.items()}


def test_paradigms_divide_the_dimensions_as_stated() -> None:
    """26 have a rubric, two of them cuts as well."""
    assert (len(TABLES), len(PHYSICAL), len(JUDGED)) == (46, 25, 26)
    assert (
        [k for k, t in TABLES.items() if t["paradigm"] == "ii"] == ["R08", "R15"] == sorted(set(NUMERIC) & set(JUDGED))
    )


@pytest.mark.parametrize("key", JUDGED)
def test_rubric_keys_are_exact(key: str) -> None:
    """A rubric has its six parts, five anchors and two examples."""
    r = TABLES[key]["rubric"]
    assert set(r) == RUBRIC
    assert list(r["anchors"]) == list("54321")
    assert r["question"].endswith("?")
    assert r["question"].count("?") == 1
    assert len(r["examples"]) == 2
    assert all(set(e) == {"video", "score", "why"} for e in r["examples"])


@pytest.mark.parametrize("key", JUDGED)
def test_anchors_differ_in_more_than_a_word(key: str) -> None:
    """Anchors that read alike cannot be told apart by two people."""
    anchors = list(TABLES[key]["rubric"]["anchors"].values())
    assert all(len(a) >= 25 for a in anchors)
    for i, a in enumerate(anchors):
        for b in anchors[i + 1 :]:
            changed = difflib.SequenceMatcher(None, a.split(), b.split(), autojunk=False).ratio()
            assert changed < 0.9, (a, b)


@pytest.mark.parametrize("key", JUDGED)
def test_no_vague_words(key: str) -> None:
    """Anchors name counts, shares and things to point at, never a degree of approval."""
    found = [m.group() for s in _strings(TABLES[key]["rubric"]) if (m := VAGUE.search(s))]
    assert not found


@pytest.mark.parametrize("key", JUDGED)
def test_leave_to_points_at_other_dimensions_that_exist(key: str) -> None:
    """The border to a neighbor is drawn by its id; ids elsewhere in the rubric exist too."""
    r = TABLES[key]["rubric"]
    named = set(ID.findall(r["leave_to"]))
    assert len(named - {key}) >= 1
    assert key not in named
    assert {i for s in _strings(r) for i in ID.findall(s)} <= set(TABLES)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IF-01", "IF-02"),
        ("BC-03", "R25"),
        ("R06", "R07"),
        ("R09", "R10"),
        ("R12", "R14"),
        ("IF-04", "R04"),
        ("IF-05", "BC-01"),
    ],
)
def test_neighbors_draw_the_border_from_both_sides(one: str, other: str) -> None:
    """Where two rubrics meet, each sends the other's business there."""
    assert other in TABLES[one]["rubric"]["leave_to"]
    assert one in TABLES[other]["rubric"]["leave_to"]


@pytest.mark.parametrize("key", JUDGED)
def test_examples_have_two_different_scores(key: str) -> None:
    """Examples of one score would pull every answer there."""
    scores = [e["score"] for e in TABLES[key]["rubric"]["examples"]]
    assert all(type(s) is int and 1 <= s <= 5 for s in scores)
    assert scores[0] != scores[1]


def test_examples_use_the_scale_evenly() -> None:
    """No score has more than half of the 52 examples, and at least four scores occur."""
    scores = [e["score"] for key in JUDGED for e in TABLES[key]["rubric"]["examples"]]
    assert max(map(scores.count, set(scores))) <= len(scores) / 2
    assert len(set(scores)) >= 4


@pytest.mark.parametrize("key", [k for k in JUDGED if not k.startswith("IF")])
def test_absence_never_earns_a_five(key: str) -> None:
    """Without a prompt to hold it to, a clip scores 5 only if the thing under test was seen at least once."""
    r = TABLES[key]["rubric"]
    assert r["anchors"]["5"].startswith("At least one ")
    assert re.search(r"\b(no|none|nothing|neither|not|or)\b", r["not_observable"], re.IGNORECASE)


@pytest.mark.parametrize("key", [k for k in JUDGED if k.startswith("IF")])
def test_a_prompt_without_the_thing_under_test_is_not_observable(key: str) -> None:
    """An instruction that was not given can be neither followed nor broken."""
    start = TABLES[key]["rubric"]["not_observable"]
    assert start.startswith("No reference image is given" if key == "IF-10" else "The prompt ")


def _spec_rows() -> dict[str, list[str]]:
    """Return the cells of the table in dimensions.md by id: slug, name, paradigm, expectation, scored, sources."""
    text = shared("spec", "dimensions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:IF|BC|PTQ)-\d\d|R\d\d) \| (.+) \|$", text, re.MULTILINE)
    return {key: [cell.strip() for cell in rest.split("|")] for key, rest in rows}


def test_rows_agree_with_the_specification() -> None:
    """Slug, name, paradigm, expectation, family and the three sources are those of spec/dimensions.md."""
    rows = _spec_rows()
    assert list(rows) == list(TABLES)
    for key, (slug, name, paradigm, expectation, scored, sources) in rows.items():
        t = TABLES[key]
        assert (t["slug"], t["name"], t["paradigm"], t["expectation"]) == (
            slug,
            name,
            paradigm,
            expectation.split()[0].rstrip(":"),
        )
        assert [t["sources"][k] for k in ("id", "paradigm", "definition")] == [KINDS[s] for s in sources.split()]
        if key in PHYSICAL:
            assert t["family"] == FAMILIES[scored[-2]], key


def test_cuts_agree_with_the_specification() -> None:
    """Cuts are those of physics.md and perceptual.md, number by number."""
    physics = shared("spec", "physics.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^### (R\d\d)(.*?)^\*\*t = ([\d./]+?)\.?\*\*", physics, re.MULTILINE | re.DOTALL)
    wanted = {key: text for key, _, text in blocks}
    perceptual = shared("spec", "perceptual.md").read_text(encoding="utf-8")
    wanted |= dict(re.findall(r"^\| (PTQ-\d\d) \|.*\| ([\d./]+) \|$", perceptual, re.MULTILINE))
    ours = {key: TABLES[key]["cuts"] for key in NUMERIC}
    ours |= {key: TABLES[key]["companion"]["cuts"] for key in ("R06", "R07")}
    assert ours == {key: [float(x) for x in text.split("/")] for key, text in wanted.items()}


def test_only_fifteen_degrees_is_a_cut_of_the_paper() -> None:
    """Every other cut is a choice of the suite and says so."""
    for key in NUMERIC:
        cuts = TABLES[key]["sources"]["cuts"]
        assert cuts == (["suite", "paper", "suite", "suite"] if key == "R02" else "suite")
    assert TABLES["R02"]["cuts"][1] == 15.0
