"""What -k, -m and node ids select, and how pairs are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.world import ROOT, arguments, group, prompts, video


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain folder: a video named like a dimension, one of a group, one with a hostile name."""
    folder = tmp_path_factory.mktemp("runs") / "wan"
    prompts(folder / "groups.jsonl", [group("s014", ["R22", "R21"]), group("s015", ["IF-01"])])
    for k, name in enumerate(["t2v/s014", "t2v/s015", "i2v/s014", "t2v/s014.s7"]):
        video(folder / f"{name}.mp4", k)
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose file names hold dimension ids, brackets and blanks."""
    folder = tmp_path_factory.mktemp("plain")
    for k, name in enumerate(["car22", "IF-01 take", "a [b] 'c'; 球"]):
        video(folder / f"{name}.mp4", k)
    return folder


def collected(pytester: pytest.Pytester, *options: str) -> list[str]:
    """Return the ids that a collection lists, without the path of the suite."""
    result = pytester.runpytest_subprocess(*options, "--collect-only", "-q")
    return [line.split("dimensions/")[-1] for line in result.outlines if "::" in line]


def test_k_with_an_id_yields_that_dimension_alone(pytester: pytest.Pytester, plain: Path) -> None:
    """Neither car22.mp4 nor 'IF-01 take.mp4' is caught by a dimension's id."""
    found = collected(pytester, *arguments(plain), "--pv-scope=all", "-k", "R22")
    assert len(found) == 3
    assert {line.split("::")[0] for line in found} == {"mechanical_conservation/test_r22_momentum.py"}
    found = collected(pytester, *arguments(plain), "--pv-scope=all", "-k", "BC-01 or BC01")
    assert {line.split("::")[0] for line in found} == {"causal_commonsense/test_bc_01_action_plausibility.py"}


def test_k_with_a_slug_or_a_group(pytester: pytest.Pytester, model: Path) -> None:
    """A slug selects its dimension, a group id its videos."""
    found = collected(pytester, *arguments(model), "-k", "momentum")
    assert [line.split("[")[1] for line in found] == ["wan-t2v-s014]", "wan-t2v-s014.s7]", "wan-i2v-s014]"]
    found = collected(pytester, *arguments(model), "-k", "s015")
    assert all("[wan-t2v-s015]" in line for line in found)
    assert len(found) == 7, "IF-01 and the six perceptual dimensions"


def test_exact_markers(pytester: pytest.Pytester, model: Path) -> None:
    """Dimension, domain and layer are markers; IF-01 also with a hyphen."""

    def stems(expression: str) -> set[str]:
        found = collected(pytester, *arguments(model), "-m", expression)
        return {line.split("::")[1].split("[")[0] for line in found}

    assert stems("physical and not R21") == {"test_r22_momentum"}
    assert stems("IF-01") == stems("IF_01") == {"test_if_01_object_presence"}
    assert len(stems("perceptual")) == len(stems("PTQ")) == 6


def test_a_node_id_selects_one_pair(pytester: pytest.Pytester, model: Path) -> None:
    """Ids are our own and stable."""
    node = f"{ROOT}/dimensions/mechanical_conservation/test_r22_momentum.py::test_r22_momentum[wan-i2v-s014]"
    found = collected(pytester, node, *arguments(model)[1:])
    assert len(found) == 1


def test_items_run_by_video_then_dimension(pytester: pytest.Pytester, model: Path) -> None:
    """A video's pairs stand together, so that it is decoded once."""
    videos = [line.split("[")[1] for line in collected(pytester, *arguments(model))]
    assert videos == sorted(videos, key=list(dict.fromkeys(videos)).index)


def test_collecting_hashes_and_writes_nothing(pytester: pytest.Pytester, model: Path) -> None:
    """A look at the plan leaves the folder as it is."""
    before = sorted(model.rglob("*"))
    assert collected(pytester, *arguments(model))
    assert sorted(model.rglob("*")) == before


def test_scope_all_plans_what_applies(pytester: pytest.Pytester, model: Path) -> None:
    """45 dimensions in T2V less R11 (no soft body is named), and IF-10 only in I2V."""
    found = collected(pytester, *arguments(model), "--pv-scope=all", "-k", "s015")
    assert len(found) == 44
    found = collected(pytester, *arguments(model), "--pv-scope=all", "--pv-modality=i2v", "-k", "s014")
    assert len(found) == 45
    assert any("test_if_10" in line for line in found)
