"""The measurement of a profile: truth against itself is perfect, known faults give known numbers, and one run."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

from pvbench_suite.calibrate import perception
from pvbench_suite.calibrate.cli import app
from pvbench_suite.calibrate.embedded import _shots
from pvbench_suite.calibrate.perceived import cameras, events, objects, points
from pvbench_suite.calibrate.perceived.compare import measure, measure_frames
from pvbench_suite.calibrate.perceived.metrics import values
from pvbench_suite.calibrate.perceived.stage import FRESH, Staged, Take, joined, moved, shown, stage, takes
from pvbench_suite.calibrate.perceived.tally import Tally
from pvbench_suite.calibrate.rendered import SCENES
from pvbench_suite.errors import UserError
from pvbench_suite.perception.protocol import Profile
from pvbench_suite.perception.simulator import Truth
from pvbench_suite.perception.types import Masks, Record
from pvbench_suite.simulate.truth import records
from pvbench_suite.video.types import Clip

BALL = Take("lawful", "bounce", 0.75, 1.0, FRESH)


@cache
def bounce() -> tuple[Staged, dict[str, Any]]:
    """Return a ball that bounces once, filmed, and its true records; not to be written to."""
    staged = stage(BALL)
    return staged, dict(records(staged.world, staged.film))


def numbers(tally: Tally) -> dict[str, float]:
    """Return the values of one clip."""
    return {name: found["value"] for name, found in values([tally.content()], with_interval=False).items()}


def compared(**changed: Record) -> dict[str, float]:
    """Return the numbers of the bouncing ball's true records, some of them changed."""
    staged, truth = bounce()
    made, tally = truth | changed, Tally()
    who = objects.measure_masks(tally, staged, made["masks"])
    objects.measure_bodies(tally, staged, made["bodies"], who)
    events.measure_contacts(tally, staged, made["contacts"], who)
    points.measure_tracks(tally, staged, made["tracks"], who)
    points.measure_flow(tally, staged, made["flow"])
    cameras.measure_cameras(tally, staged, made["cameras"])
    cameras.measure_depth(tally, staged, made["depth"])
    return numbers(tally)


def dense(masks: Masks) -> np.ndarray:
    """Return the masks (T, N, h, w)."""
    return np.array([[masks.dense(t, n) for n in range(len(masks.names))] for t in range(len(masks.times))])


def test_truth_against_itself_is_perfect() -> None:
    """Every share is 1 or 0 as it should be, and every error below the rounding of the records."""
    found = compared()
    for name in ("iou", "iou_given", "iou_p05", "recall"):
        assert found[f"masks.{name}"] == 1.0
    for name in ("masks.switches", "masks.false", "tracks.moving_lost", "tracks.still_lost", "tracks.still_hidden"):
        assert found[name] == 0.0
    for name in ("present_precision", "present_recall", "centre_given"):
        assert found[f"bodies.{name}"] == 1.0
    for name in ("recall", "precision", "partner", "airborne_precision", "airborne_recall"):
        assert found[f"contacts.{name}"] == 1.0
    assert found["contacts.timing_ms_p95"] == pytest.approx(0.0, abs=1e-6)
    assert found["contacts.down_deg_p95"] == pytest.approx(0.0, abs=1e-5)
    assert found["bodies.centre_px_p95"] < 1e-3
    assert found["bodies.size_p95"] < 0.03
    assert found["bodies.place_p95"] < 1e-5
    assert found["tracks.moving_px_p95"] < 1e-2
    assert found["tracks.still_px_p95"] < 1e-2
    assert found["tracks.moving_owner"] == found["tracks.still_owner"] == 1.0
    assert found["flow.moving_px_p95"] < 0.02
    assert found["flow.still_px_p95"] < 0.01
    assert found["cameras.angle_deg_p95"] == pytest.approx(0.0, abs=1e-6)
    assert found["depth.relative_p95"] < 1e-3


def test_shifted_masks_and_bodies_are_off_by_the_shift() -> None:
    """Centres 3 px to the right, radii a tenth larger, masks moved by 3 px."""
    _, truth = bounce()
    masks, bodies = truth["masks"], truth["bodies"]
    aside = Masks.from_dense(masks.times, np.roll(dense(masks), 3, axis=-1), masks.names, masks.hw)
    wide = replace(bodies, uv=bodies.uv + np.array([3.0, 0.0]), radius=1.1 * bodies.radius)
    found = compared(masks=aside, bodies=wide)
    assert found["bodies.centre_px_median"] == pytest.approx(3.0, abs=1e-3)
    assert found["bodies.size_median"] == pytest.approx(0.1, abs=0.02)
    shared = np.logical_and(dense(masks), dense(aside)).sum() / np.logical_or(dense(masks), dense(aside)).sum()
    assert found["masks.iou"] == pytest.approx(shared, abs=0.01)


def test_strangers_are_told_apart() -> None:
    """The ball's shadow, a patch of wall and a piece of the ball are false objects, each of its kind."""
    staged, truth = bounce()
    masks, W = truth["masks"], staged.world.hw[1]
    ball = dense(masks)
    shadow = np.zeros_like(ball)
    shadow[...] = _moving_shadow(staged)[:, None]
    ghost = np.zeros_like(ball)
    ghost[:, :, 5:25, W // 2 : W // 2 + 20] = True
    piece = ball & (np.arange(W) % 2 == 0)
    every = np.concatenate([ball, shadow, ghost, piece], axis=1)
    found = compared(masks=Masks.from_dense(masks.times, every, ("ball", "a", "b", "c"), masks.hw))
    assert [found[f"masks.{kind}"] for kind in ("false", "shadow", "ghost", "piece")] == [3.0, 1.0, 1.0, 1.0]
    assert found["masks.iou"] == 1.0
    unsure = np.array([1.0, 0.05, 0.05, 0.05])[None].repeat(len(ball), axis=0)
    again = compared(masks=Masks.from_dense(masks.times, every, ("ball", "a", "b", "c"), masks.hw, unsure))
    assert again["masks.false"] == 0.0


def _moving_shadow(staged: Staged) -> np.ndarray:
    """Return the shadow (T, H, W) that the first frames do not all share, on the ground."""
    painter = objects.Painter(staged.world, objects.View.regular(staged.world, *staged.world.hw))
    dark = np.stack(
        [painter.surface(staged.world.state(t)).shadow.reshape(staged.world.hw) for t in range(len(staged.world.times))]
    )
    return (dark & ~dark.all(axis=0)) & ~np.isin(staged.film.ids, staged.world.objects)


def test_late_contacts_and_wrong_flights_are_counted() -> None:
    """A contact 20 ms late is found; one 100 ms late is both missed and false; half the flight is half the recall."""
    _, truth = bounce()
    contacts = truth["contacts"]
    assert len(contacts.when) >= 1
    late = compared(contacts=replace(contacts, when=contacts.when + 0.02))
    assert late["contacts.recall"] == 1.0
    assert late["contacts.timing_ms_median"] == pytest.approx(20.0)
    missed = compared(contacts=replace(contacts, when=contacts.when + 0.1))
    assert missed["contacts.recall"] == missed["contacts.precision"] == 0.0
    flies = contacts.airborne.copy()
    flies[::2] = False
    half = compared(contacts=replace(contacts, airborne=flies, driven=np.ones_like(flies), down=np.eye(3)[0]))
    assert half["contacts.airborne_recall"] == pytest.approx(0.5, abs=0.06)
    assert half["contacts.airborne_precision"] == 1.0
    assert half["contacts.driven_precision"] == 0.0
    assert half["contacts.down_deg_median"] == pytest.approx(90.0)


def test_contacts_at_the_ends_or_out_of_sight_are_not_asked_for() -> None:
    """Two frames from the start, and while the ball is gone: neither missed nor, where they are named, false."""
    staged, truth = bounce()
    when = float(staged.world.contacts[0][0])
    early = replace(staged, world=replace(staged.world, contacts=((2 / 24, 0, -1), (when, 0, -1))))
    named = replace(truth["contacts"], when=np.array([2 / 24, when]), first=np.zeros(2, int), second=-np.ones(2, int))
    shown_ = staged.world.shown.copy()
    shown_[staged.world.times > when - 0.1, 0] = False
    film = replace(staged.film, seen=np.where(shown_[:, :1], staged.film.seen, 0))
    gone = replace(staged, film=film)
    for stage_, contacts, counted in ((early, named, 1), (early, truth["contacts"], 1), (gone, truth["contacts"], 0)):
        tally = Tally()
        events.measure_contacts(tally, stage_, contacts, objects.Who({"ball": 0}))
        assert tally.sums["contacts.recall"] == [counted, counted]
        assert tally.sums["contacts.precision"] == [counted, counted]


def test_drifting_points_and_wrong_flow_are_off_by_what_was_added() -> None:
    """A drift of 4 px a second, and 2 px of flow (1 px of its grid), on every point."""
    _, truth = bounce()
    tracks, flow = truth["tracks"], truth["flow"]
    start = tracks.times[tracks.visible.argmax(axis=0)]
    drift = 4.0 * (tracks.times[:, None] - start)
    moved_on = replace(tracks, uv=tracks.uv + drift[..., None] * np.array([1.0, 0.0], dtype=np.float32))
    forward = flow.forward + np.array([1.0, 0.0], dtype=np.float16)
    forward[:, :, ::2] = np.nan
    found = compared(tracks=moved_on, flow=replace(flow, forward=forward))
    longest = 4.0 * float(tracks.times[-1])
    assert 0.4 * longest < found["tracks.still_px_median"] < 0.7 * longest
    assert found["tracks.still_px_p95"] == pytest.approx(longest, rel=0.1)
    assert found["flow.still_px_median"] == pytest.approx(2.0, abs=0.02)
    assert found["flow.still_missing"] == pytest.approx(0.5, abs=0.01)


def test_a_turning_camera_is_held_still_by_its_own_homographies() -> None:
    """K R K^-1 lays each frame on the first; the identity leaves the whole turn."""
    staged = stage(replace(BALL, camera="pan", seconds=0.5))
    world, truth = staged.world, records(staged.world, staged.film)
    K = truth["cameras"].K
    turn = np.einsum("ji,tjk->tik", world.view[0], world.view)
    found = {}
    for name, H in (("right", K @ turn @ np.linalg.inv(K)), ("none", np.broadcast_to(np.eye(3), turn.shape))):
        tally = Tally()
        cameras.measure_stabilisation(tally, staged, replace(truth["masks"], stabilisation=H))
        found[name] = numbers(tally)["masks.steady_px_p95"]
    assert found["right"] < 0.05
    assert found["none"] > 20.0


def test_repeats_are_told_from_other_frames() -> None:
    """Two of four repeats left out with one frame too many: recall 1/2, precision 2/3."""
    staged, _ = bounce()
    source = np.arange(18)
    source[[3, 7, 11, 15]] -= 1
    held = replace(staged, source=source)
    tally = Tally()
    measure_frames(tally, held, np.delete(staged.clip.times, [3, 7, 9]))
    found = numbers(tally)
    assert found["frames.repeat_recall"] == pytest.approx(0.5)
    assert found["frames.repeat_precision"] == pytest.approx(2 / 3)
    assert found["frames.dropped"] == pytest.approx(1 / 14)


def test_repeats_show_each_frame_in_order() -> None:
    """Pulldown keeps the length in seconds; held frames come in twos; chance never moves the first."""
    source, fps = shown("pulldown", 48, 1)
    assert (len(source), fps) == (60, 30)
    assert np.abs(source / 24 - np.arange(60) / 30).max() < 1 / 24
    assert np.count_nonzero(np.diff(source) == 0) == 12
    assert shown("held", 6, 1)[0].tolist() == [0, 0, 2, 2, 4, 4]
    drops, _ = shown("drops", 48, 1)
    assert drops[0] == 0
    assert 0 < np.count_nonzero(np.diff(drops) == 0) < 20
    assert shown("", 5, 1)[0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("camera", ["hand", "pan", "slide"])
def test_a_moved_camera_starts_near_and_leaves_bodies_alone(camera: str) -> None:
    """Only eye and view change, and they stay a camera."""
    world = bounce()[0].world
    other = moved(world, camera, 5)
    assert np.array_equal(other.centre, world.centre)
    assert not np.allclose(other.view[-1], other.view[0]) or not np.allclose(other.eye[-1], other.eye[0])
    assert other.view[-1] @ other.view[-1].T == pytest.approx(np.eye(3), abs=1e-5)


def test_seeds_are_fresh_and_every_form_is_planned() -> None:
    """Neither the demo's seeds (2 to 49) nor those of calibrate physics come up, and no seed comes up twice."""
    full, quick = takes(False, 1), takes(True, 1)
    seeds = {t.seed for t in full}
    used = {shot.seed for scene in SCENES for group in _shots(scene, False, 1) for shot in group}
    assert len(seeds) == len(full)
    assert min(seeds) >= FRESH > max(used)
    assert {t.group for t in quick} == {t.group for t in full}
    assert set(quick) <= set(full)


def test_a_joined_clip_has_both_worlds() -> None:
    """The halves are two rooms with a cut between them."""
    clip = joined(Take("joined", "roll", 0.5, 1.0, FRESH, second="pucks"))
    change = np.abs(np.diff(clip.luma().astype(float), axis=0)).mean(axis=(1, 2))
    assert len(clip.frames) == 12
    assert change.argmax() == 5
    assert change[5] > 5 * np.median(change)


def test_one_clip_from_pixels_to_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short roll: seen, compared, written, and resumed without another look."""
    take = Take("lawful", "roll", 1.0, 1.0, FRESH + 7)
    monkeypatch.setattr(perception, "takes", lambda quick, seed: [take])
    content = perception.calibrate_perception(tmp_path, quick=True)
    assert json.loads((tmp_path / "perception.json").read_text()) == content
    group = content["groups"][0]
    assert (group["group"], group["clips"]) == ("lawful", 1)
    assert group["values"]["clips.perceived"]["value"] == 1.0
    assert group["values"]["masks.iou"]["value"] > 0.5
    assert content["not_given"] == [p for p in ("cameras", "depth") if p not in content["given"]]
    page = (tmp_path / "perception.md").read_text()
    assert "| roll | lawful | 1/1 |" in page
    assert "Nothing was refused." in page
    assert (tmp_path / "drift.svg").read_text().startswith("<svg")
    monkeypatch.setattr(perception, "measure", lambda take, profile: pytest.fail("measured again"))
    assert perception.calibrate_perception(tmp_path, quick=True) == content


def test_refusals_are_listed_with_their_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A joined clip is cut; it counts as not perceived, and in no other number."""
    take = Take("joined", "roll", 1.0, 1.0, FRESH + 8, second="pucks")
    monkeypatch.setattr(perception, "takes", lambda quick, seed: [take])
    content = perception.calibrate_perception(tmp_path, quick=True)
    found = content["groups"][0]
    assert {name: v["value"] for name, v in found["values"].items()} == {"clips.cut_found": 1.0}
    assert "cut" in next(iter(found["refused"]["masks"]))
    assert "cut" in (tmp_path / "perception.md").read_text().split("## Refusals")[1]


@dataclass(frozen=True)
class Broken:
    """A provider with a fault."""

    product: str = "masks"
    name: str = "broken@1"
    needs: tuple[str, ...] = ()
    parameters: ClassVar[dict[str, Any]] = {}

    def __call__(self, clip: Clip, records: Any) -> Any:
        """Break down."""
        raise ZeroDivisionError("by nothing")


def test_a_provider_that_breaks_down_is_a_refusal_with_its_error() -> None:
    """One clip with a fault of the profile does not end the measurement, and does not pass for seen."""
    truth = {p: Truth(p) for p in ("bodies", "depth")}
    profile = Profile("broken", {"masks": Broken(), **truth}, None, "breaks")
    found = measure(replace(BALL, seconds=0.25), profile)
    assert found["refused"] == {"masks": "error: ZeroDivisionError: by nothing"}
    assert found["sums"] == {"clips.perceived": [0.0, 1.0], "clips.cut_false": [0.0, 1.0]}


def test_a_profile_that_stands_on_truth_is_handed_it_and_not_measured_on_it() -> None:
    """Contacts made from true masks are compared; the masks are not."""
    profile = Profile("standing", {"masks": Truth("masks"), "contacts": Echo()}, None, "stands on truth")
    found = measure(BALL, profile)
    assert not found["refused"]
    assert "masks.iou" not in found["sums"]
    assert found["sums"]["contacts.recall"] == [1.0, 1.0]


@dataclass(frozen=True)
class Echo:
    """A provider of contacts that knows them."""

    product: str = "contacts"
    name: str = "echo@1"
    needs: tuple[str, ...] = ("masks",)
    parameters: ClassVar[dict[str, Any]] = {}

    def __call__(self, clip: Clip, records: Any) -> Any:
        """Return the true contacts of the bouncing ball, after a look at the masks."""
        assert records["masks"].names == ("ball",)
        return bounce()[1]["contacts"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--profile", "simulator"], "truth itself"),
        (["--profile", "nobody"], "unknown"),
        (["--world", "moon"], "unknown"),
        (["--physics", "nowhere.json"], "--physics"),
    ],
)
def test_wrong_names_are_one_line(tmp_path: Path, words: list[str], message: str) -> None:
    """A mistake is found before anything is rendered."""
    result = CliRunner().invoke(app, ["perception", *words, "-o", str(tmp_path / "out")])
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_code_that_changes_under_the_measurement_ends_it(tmp_path: Path) -> None:
    """Counts of two codes are never put together."""
    with pytest.raises(UserError, match="code changed"):
        perception.perform(BALL, "embedded", tmp_path, "000000000000")


def test_a_blank_clip_gives_numbers_of_nothing() -> None:
    """A profile that sees nothing has missed everything and made nothing up."""
    staged, truth = bounce()
    masks = truth["masks"]
    nothing = Masks.from_dense(masks.times, np.zeros((len(masks.times), 0, *staged.world.hw), dtype=bool), (), masks.hw)
    tally = Tally()
    who = objects.measure_masks(tally, staged, nothing)
    found = numbers(tally)
    assert who.of == {}
    assert (found["masks.iou"], found["masks.recall"], found["masks.false"]) == (0.0, 0.0, 0.0)
    assert found["masks.iou_given"] is None
