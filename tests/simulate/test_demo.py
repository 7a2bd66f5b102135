"""The demo: its prompts fit its worlds, every numeric dimension is asked for, and rendering resumes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from pvbench_suite.errors import UserError
from pvbench_suite.perception.types import Record
from pvbench_suite.prompts.schema import Group
from pvbench_suite.simulate.demo import DEMO_TARGETS, SCENES, groups_jsonl, lab_of, render_demo
from pvbench_suite.simulate.mp4 import write_mp4
from pvbench_suite.simulate.truth import PRODUCTS
from pvbench_suite.simulate.worlds import build

NUMERIC = {f"R{k:02d}" for k in (1, 2, 3, 5, 8, 11, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)}

GROUPS = [Group.model_validate(json.loads(line)) for line in groups_jsonl().splitlines()]


def test_the_groups_are_d001_to_d024_in_order() -> None:
    assert [g.id for g in GROUPS] == [f"d{k:03d}" for k in range(1, 25)] == list(SCENES)


def test_every_numeric_dimension_is_a_target_and_r19_alone_is_never_lowered() -> None:
    asked = {d for g in GROUPS for d in g.dimensions}
    lowered = {d for targets in DEMO_TARGETS.values() for d in targets}
    assert NUMERIC | {"PTQ-03", "PTQ-04"} == asked
    assert asked - lowered == {"R19"}
    assert all(set(DEMO_TARGETS[g.id]) <= set(g.dimensions) for g in GROUPS)


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.id)
def test_a_prompt_states_the_objects_and_sizes_that_its_world_has(group: Group) -> None:
    assert 40 <= len(group.prompt.split()) <= 120
    assert all(item.noun in group.prompt for item in group.objects)
    for modality in ("t2v", "i2v"):
        world = build(SCENES[group.id].world, lab_of(group.id, modality, lawful=True))
        sizes = {world.bodies[k].name: 2 * max(world.bodies[k].half) for k in world.objects}
        assert sizes == pytest.approx({item.name: item.size_m for item in group.objects})
    moves = bool((world.eye != world.eye[0]).any())
    assert moves == (group.expect.camera != "still")
    assert bool((world.light != world.light[0]).any()) == (group.expect.light == "moves")


@pytest.mark.parametrize("group", sorted(SCENES))
def test_twins_share_their_seed_and_modalities_do_not(group: str) -> None:
    lawful, broken = lab_of(group, "t2v", lawful=True), lab_of(group, "t2v", lawful=False)
    assert lawful.seed == broken.seed != lab_of(group, "i2v", lawful=True).seed
    assert broken.violation
    assert not lawful.violation


def test_a_clip_is_rendered_once_with_its_records_and_reference(tmp_path: Path) -> None:
    kept: dict[Path, Mapping[str, Record]] = {}
    steps: list[tuple[int, int, str]] = []

    def store(model: Path, video: Path, records: Mapping[str, Record]) -> None:
        assert video.is_file()
        kept[model / video.parent.name] = records

    def go() -> None:
        render_demo(
            tmp_path,
            store=store,
            models=("lawful",),
            clips=["d022"],
            progress=lambda *step: steps.append(step),
            stored=lambda model, video: (model / video.parent.name) in kept,
        )

    go()
    assert sorted(kept) == [tmp_path / "lawful" / m for m in ("i2v", "t2v")]
    assert all(tuple(records) == PRODUCTS for records in kept.values())
    assert [(done, total) for done, total, _ in steps] == [(1, 2), (2, 2)]
    videos = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.mp4"))
    assert videos == ["lawful/i2v/d022.mp4", "lawful/t2v/d022.mp4"]
    assert json.loads((tmp_path / "groups.jsonl").read_text())["id"] == "d022"
    reference = cv2.imread(str(tmp_path / "references" / "d022.png"))
    with av.open(str(tmp_path / videos[0])) as film:
        first = next(film.decode(video=0)).to_ndarray(format="bgr24")
    assert np.abs(first.astype(int) - reference).mean() < 4
    kept_before, when = dict(kept), (tmp_path / videos[0]).stat().st_mtime_ns
    go()
    assert (tmp_path / videos[0]).stat().st_mtime_ns == when
    assert kept == kept_before
    assert len(steps) == 4


def test_unknown_groups_and_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="d999"):
        render_demo(tmp_path, store=lambda *_: None, clips=["d999"])
    with pytest.raises(UserError, match="better"):
        render_demo(tmp_path, store=lambda *_: None, models=("better",))
    assert not list(tmp_path.iterdir())


def test_a_video_has_the_frames_and_the_rate_that_it_was_given(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 255, (30, 64, 96, 3)).astype(np.uint8)
    write_mp4(tmp_path / "a.mp4", frames, 24)
    with av.open(str(tmp_path / "a.mp4")) as film:
        stream = film.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        times = [float(frame.time) for frame in film.decode(video=0)]
    np.testing.assert_allclose(times, np.arange(30) / 24, atol=1e-6)


def test_one_film_is_encoded_to_the_same_bytes_again_and_again(tmp_path: Path) -> None:
    frames = np.clip(np.cumsum(np.random.default_rng(1).normal(0, 3, (24, 90, 160, 3)), axis=0) + 128, 0, 255)
    for k in range(6):
        write_mp4(tmp_path / f"{k}.mp4", frames.astype(np.uint8), 24)
    assert len({(tmp_path / f"{k}.mp4").read_bytes() for k in range(6)}) == 1
