"""Reference images in a run: a remark in the rows, no score changed, and one line for what cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pvbench_suite.dimensions import load
from pvbench_suite.errors import NotPerceived
from pvbench_suite.plugin.references import References
from pvbench_suite.video.types import DEFAULT_LIMITS, Video
from tests.plugin.world import arguments, group, prompts, rows, video
from tests.video.making import write_image

IF_10 = load().get("IF-10")


def first_picture(seed: int) -> np.ndarray:
    """Return the picture that `tests.plugin.world.video` begins with."""
    return np.random.default_rng(seed).integers(0, 255, (48, 64, 3), dtype=np.uint8)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Three I2V clips, and T2V clips that owe no IF-10; a reference that fits, another picture, and text."""
    names = ("s001", "s002", "s003")
    prompts(tmp_path / "m" / "groups.jsonl", [group(n, ("IF-10", "R16"), "motion") for n in names])
    for seed, name in enumerate(names):
        video(tmp_path / "m" / "i2v" / f"{name}.mp4", seed)
    video(tmp_path / "m" / "t2v" / "s003.mp4", 7)
    (tmp_path / "refs").mkdir()
    write_image(tmp_path / "refs" / "s001.png", first_picture(0))
    write_image(tmp_path / "refs" / "s002.png", first_picture(5))
    (tmp_path / "refs" / "s003.png").write_text("no image")
    return tmp_path / "m"


def test_rows_say_what_differs_and_keep_their_state(pytester: pytest.Pytester, model: Path) -> None:
    """The remark stands in every row of the video; IF-10 is planned for I2V alone; states are as without references."""
    plain = pytester.runpytest_subprocess(*arguments(model))
    before = {key: row["state"] for key, row in rows(model).items()}
    result = pytester.runpytest_subprocess(
        *arguments(model), f"--pv-references={model.parent / 'refs'}", "--pv-no-resume"
    )
    assert plain.ret == result.ret == 0
    found = rows(model)
    assert {key: row["state"] for key, row in found.items()} == before
    remarks = {
        name: [w for w in found[name, "IF-10"]["warnings"] if "reference" in w] for name in ("s001", "s002", "s003")
    }
    assert remarks["s001"] == []
    assert remarks["s002"][0].startswith("first frame against the reference: other picture (similarity ")
    assert remarks["s003"][0].startswith("reference s003.png: is no image that FFmpeg can open (")
    assert {row["modality"] for row in found.values() if row["dimension"] == "IF-10"} == {"i2v"}


def test_another_image_makes_another_question(pytester: pytest.Pytester, model: Path) -> None:
    """The row of IF-10 names its image; no other row does."""
    given = (*arguments(model), f"--pv-references={model.parent / 'refs'}")
    pytester.runpytest_subprocess(*given)
    before = rows(model)
    write_image(model.parent / "refs" / "s001.png", first_picture(8))
    pytester.runpytest_subprocess(*given)
    changed = {key for key, row in rows(model).items() if row["brief"] != before[key]["brief"]}
    assert changed == {("s001", "IF-10")}


def test_a_remark_is_found_once_and_again_with_another_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept beside the products of the video, under the digest of the image."""
    clip = Video("a", video(tmp_path / "a.mp4", 1), "m", "i2v", "a")
    clip = Video(**{**{f: getattr(clip, f) for f in clip.__slots__}, "reference": tmp_path / "a.png"})
    write_image(tmp_path / "a.png", first_picture(2))
    (said,) = References(DEFAULT_LIMITS).warnings(clip, "ab" * 32, tmp_path / "cache")
    assert "other picture" in said
    looks = []
    monkeypatch.setattr("pvbench_suite.plugin.references.look", lambda *_: looks.append(1))
    assert References(DEFAULT_LIMITS).warnings(clip, "ab" * 32, tmp_path / "cache") == [said]
    assert looks == []
    monkeypatch.undo()
    write_image(tmp_path / "a.png", first_picture(1))
    assert References(DEFAULT_LIMITS).warnings(clip, "ab" * 32, tmp_path / "cache") == []


def test_without_an_image_what_needs_one_is_not_perceived(tmp_path: Path) -> None:
    """So it is tried again when the image is there; other dimensions do not mind."""
    clip = Video("a", tmp_path / "a.mp4", "m", "i2v", "a")
    references = References(DEFAULT_LIMITS)
    assert references.warnings(clip, "ab" * 32, tmp_path) == []
    references.require(clip, load().get("R16"))
    with pytest.raises(NotPerceived, match=r"no reference image is there; give --pv-references DIR"):
        references.require(clip, IF_10)
    broken = Video("a", tmp_path / "a.mp4", "m", "i2v", "a", reference=tmp_path / "gone.png")
    (said,) = references.warnings(broken, "ab" * 32, tmp_path)
    assert said.startswith("reference gone.png: cannot be read")
    with pytest.raises(NotPerceived, match="gone"):
        references.require(broken, IF_10)


def test_a_file_in_place_of_the_folder_is_one_line(pytester: pytest.Pytester, model: Path) -> None:
    """Exit 4, and what was expected."""
    result = pytester.runpytest_subprocess(*arguments(model), f"--pv-references={model / 'groups.jsonl'}")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--pv-references *groups.jsonl: is a file, not a folder of images <group id>.png"])
