"""The embedded calibration: the dimension tests' own code on pixels alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pvbench_suite.calibrate import embedded
from pvbench_suite.calibrate.embedded import calibrate_embedded
from pvbench_suite.calibrate.eyes import Eyes
from pvbench_suite.calibrate.rendered import NOT_PERCEIVED, SCENES, Shot, clip_of, dimension_test, measure
from pvbench_suite.dimensions import load
from pvbench_suite.errors import UserError
from pvbench_suite.perception import profiles
from pvbench_suite.video.types import Clip


@pytest.fixture(autouse=True)
def marker(pytestconfig: pytest.Config) -> None:
    """Make the plugin's marker known, since the suite's own tests run without the plugin."""
    pytestconfig.addinivalue_line("markers", "dimension(id): the dimension that a test measures")


def test_every_claimed_dimension_has_a_scene_and_no_other() -> None:
    """The scenes cover what the embedded profile claims."""
    assert {scene.dimension for scene in SCENES} == set(profiles.load("embedded").claims or ())


def test_the_measurement_is_the_dimension_tests_own() -> None:
    """The function comes from the suite's folder, whatever dimension is asked for."""
    assert dimension_test("R16").__name__ == "test_r16_trajectory_continuity"
    assert dimension_test("R16").__code__.co_filename.endswith(
        "dimensions/kinematic_persistence/test_r16_trajectory_continuity.py"
    )


def test_a_clip_has_the_decoders_frames_and_nothing_else() -> None:
    """A rendered clip is a plain clip; a blank one gives reasons and no number for what moves."""
    clip = clip_of(Shot("roll", 0.5, "", 0.0, 3))
    assert clip.frames.shape == (12, 180, 320, 3)
    assert np.diff(clip.times) == pytest.approx(np.full(11, 1 / 24), abs=1e-3)
    blank = Eyes(
        profiles.load("embedded"), Clip(np.full((24, 90, 160, 3), 90, dtype=np.uint8), np.arange(24) / 24, (90, 160))
    )
    for identifier in ("R15", "R16", "R21"):
        assert isinstance(measure(identifier, blank), str)
    assert measure("R02", blank) == NOT_PERCEIVED


def test_a_calibration_is_written_from_its_clips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows for each scene, lawful worlds beside them; clips are resumed; unknown dimensions are named."""
    made: list[Shot] = []

    def fake(shot: Shot) -> Clip:
        made.append(shot)
        return Clip(np.zeros((1, 2, 2, 3), dtype=np.uint8), np.zeros(1), (2, 2))

    monkeypatch.setattr(embedded, "clip_of", fake)
    monkeypatch.setattr(embedded, "measure", lambda identifier, _: made[-1].dose + 0.001 * made[-1].seed)
    for _ in range(2):
        content = calibrate_embedded(tmp_path, load(), ["R16"], quick=True)
    assert len(made) == len(set(made)) == 2 * (3 + 4 * 2) + 6
    assert [(r["name"], r["profile"], r["noise"]) for r in content["rows"]] == [
        ("R16_teleport", "embedded", "rendered"),
        ("R16_kick", "embedded", "rendered"),
    ]
    assert content["rows"][0]["auc"] > 0.9
    assert {w["name"] for w in content["worlds"]} >= {"R16/hide", "R16/pendulum"}
    assert json.loads((tmp_path / "calibration.json").read_text())["rows"] == content["rows"]
    with pytest.raises(UserError, match="not calibrated for 'R22'; it is for R15, R16"):
        calibrate_embedded(tmp_path, load(), ["R22"])
