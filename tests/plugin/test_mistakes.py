"""Every mistake of a user is one line and exit 4, with and without -n 2; in other projects the plugin is inert."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.plugin.world import ROOT, arguments, group, prompts, video


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one video."""
    folder = tmp_path_factory.mktemp("runs") / "wan"
    video(folder / "t2v" / "clip.mp4")
    return folder


def error_of(pytester: pytest.Pytester, *options: str) -> str:
    """Return the one line of an exit with status 4."""
    result = pytester.runpytest_subprocess(*options)
    text = "\n".join(result.outlines + result.errlines)
    assert result.ret == 4, text
    assert "Traceback" not in text
    assert "INTERNALERROR" not in text
    (line,) = [line for line in result.errlines if line.startswith("ERROR: ")]
    return line


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "n2"])
def test_no_folder(pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    """A path that is not there is named."""
    assert "nowhere: the folder is not there" in error_of(pytester, *arguments("nowhere"), *workers)


def test_an_empty_folder(pytester: pytest.Pytester) -> None:
    """A folder without a video is an error, never an empty green run."""
    pytester.mkdir("empty")
    assert "no video" in error_of(pytester, *arguments(pytester.path / "empty"))


def test_no_video_matches_names_the_three_nearest(pytester: pytest.Pytester, model: Path) -> None:
    """With prompts given, videos that match none are a mistake in the names."""
    file = prompts(pytester.path / "mine.jsonl", [group(f"q00{k}", ["R16"]) for k in range(5)])
    message = error_of(pytester, *arguments(model), f"--pv-prompts={file}")
    assert message.count("q00") == 3


def test_two_files_for_one_group_and_seed(pytester: pytest.Pytester) -> None:
    """Which of the two is meant cannot be guessed."""
    folder = pytester.path / "m"
    file = prompts(folder / "groups.jsonl", [group("s001", ["R16"])])
    video(folder / "t2v" / "s001.mp4")
    video(folder / "t2v" / "s001.webm.mp4").rename(folder / "t2v" / "s001.mov")
    message = error_of(pytester, *arguments(folder), f"--pv-prompts={file}")
    assert "s001.mp4" in message
    assert "s001.mov" in message


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--pv-perception=magic", "choose from"),
        ("--pv-modality=v2v", "choose from t2v, i2v, both"),
        ("--pv-scope=some", "choose from targeted, all"),
        ("--pv-subset=tiny", "choose from mini, core, full"),
        ("--pv-limit=few", "is not a whole number"),
        ("--pv-limit=0", "must be at least 1"),
        ("--pv-layout=magic", "magic"),
        ("--pv-prompts=none.jsonl", "is not there"),
        ("--pv-gate=R2>=x", "write NAME>=NUMBER"),
        ("--pv-gate=R99>=20", "nearest are"),
    ],
)
def test_an_unknown_value(pytester: pytest.Pytester, model: Path, option: str, says: str) -> None:
    """The line says what is allowed."""
    assert says in error_of(pytester, *arguments(model), option)


def test_two_models_of_one_name(pytester: pytest.Pytester, model: Path) -> None:
    """Rows of two models must not mix."""
    other = pytester.path / "wan"
    video(other / "t2v" / "s001.mp4")
    assert "give one another name" in error_of(pytester, *arguments(model, other))


def test_dimensions_without_a_model(pytester: pytest.Pytester) -> None:
    """The bare command says what to pass."""
    message = error_of(pytester, str(ROOT / "dimensions"), f"--rootdir={ROOT}", f"-c={ROOT / 'pyproject.toml'}")
    assert "--model-dir=PATH" in message


def test_a_foreign_rootdir(pytester: pytest.Pytester, model: Path) -> None:
    """With another project's rootdir the remedy is named."""
    pytester.makeini("[pytest]\n")
    message = error_of(pytester, str(ROOT / "dimensions"), f"--rootdir={pytester.path}", f"--model-dir={model}")
    assert "pvbench run" in message


def test_a_read_only_folder_needs_a_report_dir(pytester: pytest.Pytester, model: Path) -> None:
    """Nothing is written where there is no write bit, not even by root."""
    model.chmod(0o555)
    try:
        assert "--pv-report-dir" in error_of(pytester, *arguments(model))
        result = pytester.runpytest_subprocess(
            *arguments(model), f"--pv-report-dir={pytester.path / 'out'}", "-k", "R16"
        )
        assert result.ret == 0
        assert (pytester.path / "out" / "wan" / "simulator" / "results.jsonl").is_file()
        assert [p.name for p in model.iterdir()] == ["t2v"]
    finally:
        model.chmod(0o755)


def test_the_plugin_is_inert_in_other_projects(pytester: pytest.Pytester) -> None:
    """Loaded by name, it changes nothing as long as no model is given."""
    pytester.makepyfile("import pytest\n@pytest.mark.parametrize('video', [1, 2])\ndef test_x(video): assert video")
    result = pytester.runpytest_subprocess("-p", "pvbench_suite.plugin")
    result.assert_outcomes(passed=2)
    assert "pvbench" not in result.stdout.str().replace("pvbench_suite", "")


def test_a_model_folder_inside_another_project_runs_neither_its_conftest_nor_its_ini(pytester: pytest.Pytester) -> None:
    """The training repository is data, not code."""
    pytester.makeconftest("raise SystemExit('the conftest of the training repository ran')")
    pytester.makeini("[pytest]\naddopts = --no-such-option\n")
    folder = pytester.path / "train" / "runs" / "x"
    video(folder / "t2v" / "clip.mp4")
    result = pytester.runpytest_subprocess(*arguments(folder), "-k", "R16")
    assert result.ret == 0
    assert "training repository" not in result.stdout.str() + result.stderr.str()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = pytester.run(
        "env", f"PYTHONPATH={environment['PYTHONPATH']}", os.sys.executable, "-m", "pvbench_suite.cli",
        "run", str(folder), "--", "-k", "R16", "--pv-perception=simulator",
    )  # fmt: skip
    assert ran.ret == 0
