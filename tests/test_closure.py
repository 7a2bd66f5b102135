"""The rooms agree: 46 files, 46 tables, 7 domains, 23 pairs, each dimension under one name everywhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from pvbench_suite import suite
from pvbench_suite.dimensions import DOMAIN_ORDER, Dimension, load
from pvbench_suite.perception.types import RECORDS

REGISTRY = load()
ROOT = suite.root()
FILES = {path.stem: path for path in (ROOT / "dimensions").glob("*/test_*.py")}


def test_there_are_46_dimensions_in_7_domains_and_25_are_physical() -> None:
    """The counts that the paper fixes."""
    counts = {code: len(REGISTRY.of_domain(code)) for code in DOMAIN_ORDER}
    assert counts == {"IF": 10, "BC": 5, "PTQ": 6, "GS": 7, "MFS": 7, "KP": 6, "MC": 5}
    assert [d.id for d in REGISTRY.dimensions if d.layer == "L3"] == [f"R{k:02}" for k in range(1, 26)]


def test_every_dimension_is_in_exactly_one_pair() -> None:
    """23 pairs cover all 46."""
    pairs = REGISTRY.pairs()
    assert len(pairs) == 23
    assert sorted(i for pair in pairs for i in pair) == sorted(d.id for d in REGISTRY.dimensions)


def test_only_if_10_is_bound_to_a_modality() -> None:
    """T2V evaluates 45 dimensions, I2V 46."""
    assert [d.id for d in REGISTRY.dimensions if d.modalities != ("t2v", "i2v")] == ["IF-10"]
    assert REGISTRY.get("IF-10").modalities == ("i2v",)


def test_there_is_one_test_file_per_table_and_no_other() -> None:
    """File name = id + slug, in the folder of its domain."""
    assert len(FILES) == 46
    wanted = {d.stem: REGISTRY.domains[d.domain].folder for d in REGISTRY.dimensions}
    assert {stem: path.parent.name for stem, path in FILES.items()} == wanted


def _function(dimension: Dimension) -> ast.FunctionDef:
    tree = ast.parse(FILES[dimension.stem].read_text(encoding="utf-8"))
    (function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return function


@pytest.mark.parametrize("dimension", REGISTRY.dimensions, ids=lambda d: d.id)
def test_a_test_file_carries_its_marker_and_asks_for_what_its_table_says(dimension: Dimension) -> None:
    """Marker, function name, `needs` and `optional` agree with the table; the file is at most 20 lines."""
    function = _function(dimension)
    assert function.name == dimension.stem
    assert ast.unparse(function.decorator_list[0]) == f"pytest.mark.dimension('{dimension.id}')"
    arguments = {argument.arg for argument in function.args.args}
    needs = set(dimension.needs)
    if dimension.paradigm == "ii":
        needs -= {"judge"}
    assert arguments & {*RECORDS, "judge"} == needs
    asked = set(re.findall(r'optional\("(\w+)"\)', ast.unparse(function).replace("'", '"')))
    assert asked <= set(dimension.optional), f"add {asked - set(dimension.optional)} to `optional` of [{dimension.id}]"
    assert len(FILES[dimension.stem].read_text(encoding="utf-8").splitlines()) <= 20


@pytest.mark.parametrize("dimension", REGISTRY.dimensions, ids=lambda d: d.id)
def test_a_test_file_begins_with_its_id_and_has_no_branch_or_loop(dimension: Dimension) -> None:
    """A dimension test reads aloud: what is needed, how it is measured, that it is graded."""
    text = FILES[dimension.stem].read_text(encoding="utf-8")
    assert text.startswith(f'"""{dimension.id}: ')
    loops = [n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.If, ast.For, ast.While, ast.Try))]
    assert not loops


def test_the_readme_table_is_fresh() -> None:
    """The README's table of dimensions is what the registry says; `python -m reports.readme` writes it."""
    from reports.readme import BEGIN, END, dimension_table

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    between = text.split(BEGIN)[1].split(END)[0]
    assert between.strip() == dimension_table(REGISTRY).strip(), "run: python -m reports.readme"


def test_no_shared_video_is_in_the_repository() -> None:
    """The licences of the real clips vary: none may be committed."""
    skipped = {".git", ".venv", "venv", "runs", "out"}
    suffixes = {".mp4", ".webm", ".mov", ".gif", ".mkv", ".avi", ".flv", ".3gp"}
    found = [p for p in Path(ROOT).rglob("*") if p.suffix in suffixes and not skipped & set(p.relative_to(ROOT).parts)]
    assert not found
