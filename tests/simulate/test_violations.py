"""Every violation shows in the records, because the world has it, and dose 0 is the lawful world."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from pvbench_suite.simulate.motion import GRAVITY
from pvbench_suite.simulate.violations import VIOLATIONS
from pvbench_suite.simulate.worlds import OWN, build
from tests.simulate.small import filmed, lab


def states(world: object) -> bytes:
    fields = ("centre", "R", "half", "shown", "shift", "light", "shadow_light", "shadow", "gain", "swapped")
    return b"".join(getattr(world, name).tobytes() for name in fields)


@pytest.mark.parametrize("violation", sorted({*VIOLATIONS, *OWN, "judder"}))
def test_dose_zero_changes_nothing_and_a_full_dose_something(violation: str) -> None:
    name = OWN[violation][0] if violation in OWN else "overlap"
    lawful, none, full = (states(build(name, lab(v, d, 2.0))) for v, d in (("", 0), (violation, 0.0), (violation, 1.0)))
    assert none == lawful
    twisted = build(name, lab(violation, 1.0)).twist is not None
    assert full != lawful or twisted


@pytest.mark.parametrize("violation", sorted({*VIOLATIONS, *OWN} - {"normals", "flicker", "depth_swap"}))
def test_the_first_frame_is_lawful(violation: str) -> None:
    name = OWN[violation][0] if violation in OWN else "overlap"
    lawful, broken = build(name, lab(seconds=2.0)), build(name, lab(violation, 1.0, 2.0))
    for field in ("centre", "R", "half", "shown", "light", "shadow"):
        assert (getattr(lawful, field)[0] == getattr(broken, field)[0]).all(), field


def test_unknown_and_unfitting_violations_are_refused() -> None:
    with pytest.raises(ValueError, match="there is no violation 'levity'"):
        build("roll", lab("levity"))
    with pytest.raises(ValueError, match="no such law"):
        build("roll", lab("momentum_loss"))


@pytest.mark.parametrize("dose", [0.5, 1.0])
def test_gravity_falls_by_65_percent_of_the_dose(dose: float) -> None:
    world = build("high_bounce", lab("gravity", dose, 0.5))
    acceleration = np.diff(world.centre[:, 0, 1], n=2) * 12**2
    np.testing.assert_allclose(acceleration, GRAVITY * (1 - 0.65 * dose), atol=1e-3)


def test_bounces_gain_height_and_swings_gain_angle() -> None:
    world = build("low_bounce", lab("energy_gain", 1.0, 2.4))
    height = -world.centre[:, 0, 1]
    times, hits = world.times, [when for when, _, _ in world.contacts]
    tops = [height[(times > a) & (times < b)].max() for a, b in pairwise(hits)]
    assert tops[0] > height[0]
    bob = build("pendulum", lab("energy_gain", 1.0, 3.0)).centre[:, 0, 0]
    assert np.abs(bob[24:]).max() > 1.3 * np.abs(bob[:12]).max()


def test_a_teleport_is_a_jump_of_2_2_sizes_against_the_motion() -> None:
    lawful, broken = build("projectile", lab(seconds=2.0)), build("projectile", lab("teleport", 1.0, 2.0))
    off = (broken.centre - lawful.centre)[:, 0]
    np.testing.assert_allclose(off[-1], [-0.88, 0, 0], atol=1e-5)
    assert len(np.unique(off[:, 0])) == 2


def test_a_kick_changes_velocity_in_the_open() -> None:
    world = build("slide", lab("kick", 1.0, 2.0))
    speed = np.diff(world.centre[:, 0, 0]) * 12
    assert speed[0] - speed[-1] > 3.0
    assert world.contacts == ()


def test_a_vanished_ball_is_gone_from_picture_masks_bodies_and_tracks() -> None:
    _, film, made = filmed("hide", "vanish", seconds=2.0)
    late = slice(16, None)
    assert not made["bodies"].present[late, 0].any()
    assert (film.seen[late, 0] == 0).all()
    assert not made["tracks"].visible[late][:, made["tracks"].of(0)].any()


@pytest.mark.parametrize(("violation", "least"), [("stretch", 0.2), ("scale", 0.4)])
def test_growth_strains_the_distances_between_tracked_points(violation: str, least: float) -> None:
    tracks = filmed("spin", violation)[2]["tracks"]
    x = tracks.xyz[:, tracks.of(0)]
    d = np.linalg.norm(x[:, :, None] - x[:, None], axis=-1)
    with np.errstate(all="ignore"):
        strain = np.log(np.nanmax(d, axis=0) / np.nanmin(d, axis=0))
    assert np.nanpercentile(strain[np.triu_indices(len(x[0]), 1)], 90) > least


def test_volume_of_the_lump_grows_by_exp_0_9_and_its_mask_with_it() -> None:
    world, film, _ = filmed("squash", "volume", seconds=2.0)
    volume = world.half[:, 0].prod(axis=1)
    np.testing.assert_allclose(volume[[0, -1]] / volume[0], [1, np.exp(0.9)], rtol=1e-4)
    assert film.seen[-6:, 0].mean() > 1.3 * film.seen[:6, 0].mean()


def test_rotation_jumps_once_by_110_degrees() -> None:
    made = filmed("spin", "rotation")[2]["bodies"]
    R = made.R[:, 0].astype(float)
    cosine = (np.einsum("tij,tij->t", R[1:], R[:-1]) - 1) / 2
    angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    assert 100 < angle.max() < 120
    assert np.sort(angle)[-2] < 10


def test_a_boiling_surface_breaks_the_match_of_flow_and_return_flow() -> None:
    def mismatch(violation: str) -> float:
        flow = filmed("roll", violation)[2]["flow"]
        F, B = flow.forward.astype(float), flow.backward.astype(float)
        parts = []
        for k in range(len(F)):
            i, j = np.nonzero(np.hypot(F[k, ..., 0], F[k, ..., 1]) > 0.5)
            y = np.clip(np.rint(i + F[k, i, j, 1]), 0, F.shape[1] - 1).astype(int)
            x = np.clip(np.rint(j + F[k, i, j, 0]), 0, F.shape[2] - 1).astype(int)
            parts.append(np.linalg.norm(F[k, i, j] + B[k, y, x], axis=1).mean())
        return float(np.mean(parts))

    assert mismatch("boil") > 3 * mismatch("")


def test_light_and_shadow_jump_apart_from_what_they_were() -> None:
    jump = filmed("sundial", "light_jump")[2]["shading"]
    turn = filmed("sundial", "shadow_turn")[2]["shading"]
    still = filmed("sundial")[2]["shading"]

    def angle(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.degrees(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))))

    assert angle(jump.shadow[-1], jump.shadow[0]) == pytest.approx(100, abs=0.1)
    assert angle(turn.shadow[-1], turn.shadow[0]) == pytest.approx(90, abs=0.1)
    assert angle(still.shadow[-1], still.shadow[0]) < 0.1
    gone = filmed("sundial", "shadow_gone")[2]["shading"]
    assert np.isnan(gone.shadow[-1]).all()


@pytest.mark.parametrize(("dose", "share"), [(1.0, 1.0), (0.5, 0.5)])
def test_depth_order_is_swapped_in_that_share_of_the_frames(dose: float, share: float) -> None:
    ordering = filmed("overlap", "depth_swap", dose, 2.0)[2]["ordering"]
    told = ordering.cue[:, 0, 1]
    wrong = (told == -1) & (ordering.depth[:, 0] < ordering.depth[:, 1])
    assert wrong.sum() / (told != 0).sum() == pytest.approx(share, abs=0.15)


def test_a_drifting_background_moves_its_points_in_the_world() -> None:
    tracks = filmed("orbit", "drift")[2]["tracks"]
    still = tracks.xyz[:, tracks.of(-1)]
    moved = np.nanmax(np.linalg.norm(np.nanmax(still, axis=0) - np.nanmin(still, axis=0), axis=1))
    assert moved > 0.5


def test_flicker_changes_still_pixels_and_nothing_else() -> None:
    flow = filmed("slide", "flicker")[2]["flow"]
    change = np.abs(flow.luma1.astype(float) - flow.luma0).mean(axis=(1, 2)) / 255
    calm = filmed("slide")[2]["flow"]
    assert change.min() > 0.02 > np.abs(calm.luma1.astype(float) - calm.luma0).mean() / 255
    np.testing.assert_array_equal(flow.forward, calm.forward)


def test_judder_spoils_the_interpolated_frames() -> None:
    ratio = {
        v: np.nanmedian(r.error / r.outer) for v in ("", "judder") for r in [filmed("roll", v)[2]["interpolation"]]
    }
    assert ratio["judder"] > 3 * ratio[""]


def test_normals_turn_by_45_degrees_and_depth_stays() -> None:
    lawful, broken = filmed("slide")[2], filmed("slide", "normals")[2]
    a, b = (x["normals"].normals.astype(float) for x in (lawful, broken))
    angle = np.degrees(np.arccos(np.clip((a * b).sum(axis=-1), -1, 1)))
    assert 20 < angle.mean() < 46
    np.testing.assert_array_equal(lawful["depth"].z, broken["depth"].z)


def test_balls_pass_into_each_other_and_into_the_floor() -> None:
    pair = build("air_collision", lab("pass_through", 1.0, 2.0))
    gap = np.linalg.norm(pair.centre[:, 0] - pair.centre[:, 1], axis=1) - 0.4
    assert gap.min() < -0.2
    lawful = build("air_collision", lab(seconds=2.0))
    assert (np.linalg.norm(lawful.centre[:, 0] - lawful.centre[:, 1], axis=1) - 0.4).min() > -1e-5
    sunk = build("thud", lab("sink", 1.0, 2.0))
    assert (-sunk.centre[:, 0, 1] - 0.2).min() < -0.1
    assert (-build("thud", lab(seconds=2.0)).centre[:, 0, 1] - 0.2).min() > -1e-6


def test_lost_momentum_is_ninety_percent_of_what_the_second_body_should_take() -> None:
    lawful, broken = (build("pucks", lab(v, 1.0, 1.6)).centre[-1, 1, 0] - 0.15 for v in ("", "momentum_loss"))
    assert broken == pytest.approx(0.1 * lawful, rel=1e-3)
