"""Dense products of the embedded profile: true motion where the pictures show it, and nothing claimed elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import numpy as np
import pytest

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.feeds import dense
from pvbench_suite.perception.embedded.flow import DisFlow, picture
from pvbench_suite.perception.embedded.flow_gaps import chaotic, sliding, thin
from pvbench_suite.perception.embedded.interpolation import FlowInterpolation, triple
from pvbench_suite.perception.types import Flow, Interpolation
from pvbench_suite.perceptual.smoothness import motion_smoothness
from pvbench_suite.physics.flow import flow_inconsistency
from pvbench_suite.physics.series import median_dt
from pvbench_suite.video.types import Clip

FPS, HW, SIDE = 24, (180, 320), 60


def texture(hw: tuple[int, int], seed: int, grain: float = 2.0) -> np.ndarray:
    """Return a smooth random picture (h, w) of 60 to 190 levels."""
    field = cv2.GaussianBlur(np.random.default_rng(seed).standard_normal(hw), (0, 0), grain)
    return np.asarray(125 + 65 * np.clip(field / (2.5 * field.std()), -1, 1), dtype=np.float32)


def square(x: float, y: float, seed: int = 1) -> np.ndarray:
    """Return a picture (180, 320) of a textured square at (x, y) [px] before a textured wall."""
    out = texture(HW, 0)
    shift = np.array([[1.0, 0.0, x], [0.0, 1.0, y]])
    body = cv2.warpAffine(texture((SIDE, SIDE), seed), shift, HW[::-1], flags=cv2.INTER_LINEAR)
    cover = cv2.warpAffine(np.ones((SIDE, SIDE), np.float32), shift, HW[::-1], flags=cv2.INTER_LINEAR)
    return np.asarray(out * (1 - cover) + body * cover)


def clip(pictures: Sequence[np.ndarray], scale: float = 1.0) -> Clip:
    """Return the grey `pictures` (h, w) at 24 frames a second, shrunk to `scale`."""
    small = [cv2.resize(p, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) for p in pictures]
    frames = np.repeat(np.clip(np.rint(np.stack(small)), 0, 255).astype(np.uint8)[..., None], 3, axis=-1)
    return Clip(frames, np.arange(len(frames)) / FPS, frames.shape[1:3])


def moved(path: Callable[[int], float], n: int = 11) -> list[np.ndarray]:
    """Return pictures of the square at (path(k), 60) for `n` frames."""
    return [square(path(k), 60.0) for k in range(n)]


def flow_of(c: Clip) -> Flow:
    """Return the record of flow."""
    return DisFlow()(c, {})


def r17(flow: Flow) -> float:
    """Return R17 of the whole picture."""
    hidden = dense.hidden(flow)
    return flow_inconsistency(flow.forward, flow.backward, hidden, dt=median_dt(flow.times)).value


def smoothness(c: Clip) -> float:
    """Return PTQ-04."""
    made: Interpolation = FlowInterpolation()(c, {})
    return motion_smoothness(made.error, made.outer, 1 / FPS).value


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_flow_of_a_moving_square_is_its_motion_whatever_the_resolution(scale: float) -> None:
    """A small picture is doubled: the same grid, and the same motion on it; the wall is still; forth and back agree."""
    flow = flow_of(clip(moved(lambda k: 40 + 5.0 * k), scale))
    assert flow.forward.shape[1:3] == HW
    for k in range(len(flow.times)):
        f, x = np.asarray(flow.forward[k], dtype=float), 40 + 5 * int(flow.frame0[k])
        way = 5.0 * (flow.frame1[k] - flow.frame0[k])
        body = f[65:115, x + 5 : x + SIDE - 5]
        assert np.nanmedian(np.hypot(body[..., 0] - way, body[..., 1])) < 0.3
        assert np.isfinite(body).mean() > 0.95
        assert np.nanpercentile(np.abs(f[:50]), 99) < 0.3
    assert r17(flow) < 0.05


def test_pictures_are_brought_to_one_grid_but_tiny_ones_are_only_doubled() -> None:
    """The long side is 320 px, unless that were more than twice the picture."""
    wide = np.zeros((1, 90, 160), dtype=np.float32)
    assert picture(clip(wide), 0).shape == (180, 320, 3)
    assert picture(clip(wide, 0.25), 0).shape == (44, 80, 3)
    assert picture(clip(np.zeros((1, 640, 480), dtype=np.float32)), 0).shape == (320, 240, 3)


def test_a_string_is_not_claimed_but_the_body_that_it_carries_is() -> None:
    """Moving structures of two pixels are thinner than what is matched; a disc of 30 is not."""
    flow = np.zeros((120, 160, 2), dtype=np.float32)
    flow[:60, 80:82] = [3.0, 0.0]
    disc = (np.hypot(*np.meshgrid(np.arange(160) - 81, np.arange(120) - 75)) < 15).astype(bool)
    flow[disc] = [3.0, 0.0]
    found = thin(flow)
    assert found[:55, 80:82].all()
    assert not found[disc].any()


def test_matches_that_jump_from_pixel_to_pixel_are_chance() -> None:
    """Random flow is chaotic; a pan, a zoom and the edge of a moving body are not, but for a rim."""
    y, x = np.mgrid[:120, :160].astype(np.float32)
    smooth = np.dstack([3 + 0.05 * (x - 80), 0.05 * (y - 60)])
    assert not chaotic(smooth).any()
    smooth[40:80, 60:100] = [-4.0, 0.0]
    assert chaotic(smooth).mean() < 0.01
    rough = np.random.default_rng(0).normal(0, 3, (120, 160, 2)).astype(np.float32)
    assert chaotic(rough).mean() > 0.95


@pytest.mark.parametrize("turn", [0.0, 30.0, 75.0])
def test_motion_along_a_straight_bare_edge_cannot_be_seen(turn: float) -> None:
    """On stripes only motion across them is known; with a texture on them, or on flat ground, nothing is refused."""
    y, x = np.mgrid[:120, :160].astype(np.float32)
    c, s = np.cos(np.deg2rad(turn)), np.sin(np.deg2rad(turn))
    stripes = 125 + 60 * np.sin((c * x + s * y) / 3)
    along, across = np.zeros((2, 120, 160, 2), dtype=np.float32)
    along[:], across[:] = [-3 * s, 3 * c], [3 * c, 3 * s]
    for picture_, flow, wanted in (
        (stripes, along, True),
        (stripes, across, False),
        (texture((120, 160), 3), along, False),
        (np.full((120, 160), 90.0, np.float32), along, False),
    ):
        image = np.repeat(picture_.astype(np.float32)[..., None], 3, axis=-1)
        assert (sliding(image, flow)[10:-10, 10:-10] == wanted).mean() > 0.98


def test_a_patch_that_is_drawn_anew_each_frame_has_no_flow_and_no_verdict() -> None:
    """Like water: PTQ-04 says that it cannot tell, not that something is wrong and not that nothing moves."""
    c = clip([square(130.0, 60.0, seed=2 + k) for k in range(11)])
    missing = np.isnan(np.asarray(flow_of(c).forward, dtype=float)).any(axis=-1)
    assert missing[:, 60:120, 130:190].mean() > 0.4
    assert missing.mean() < 0.08
    with pytest.raises(Unmeasurable) as error:
        smoothness(c)
    assert error.value.reason == "too_noisy"


def test_even_motion_is_smooth_and_a_middle_frame_off_in_time_is_not() -> None:
    """Every other frame late by half of a frame shows the texture 2.5 px off, and the outer frames differ by 10 px.

    Noise blurred by s = 2 px differs from itself d px off by sqrt(1 - exp(-(d / 2 s)^2)) of its most.
    """
    assert smoothness(clip(moved(lambda k: 40 + 5.0 * k))) < 0.12
    near, far = (np.sqrt(1 - np.exp(-((d / 4.0) ** 2))) for d in (2.5, 10.0))
    assert smoothness(clip(moved(lambda k: 40 + 5.0 * (k + 0.5 * (k % 2))))) == pytest.approx(near / far, abs=0.06)


def test_motion_that_turns_round_is_smooth() -> None:
    """At the turn the outer frames show the body in one place, and what little they differ by is no motion."""
    swing = clip(moved(lambda k: 130 + 40 * np.sin(2 * np.pi * k / 30), 32))
    assert smoothness(swing) < 0.2


def test_the_middle_frame_has_no_say_in_what_is_compared() -> None:
    """Whatever stands in the middle, the same pixels are charged; a foreign one is charged in full."""
    a, b, c = (np.repeat(square(x, 60.0)[..., None], 3, axis=-1) for x in (60.0, 64.0, 68.0))
    error, outer = triple(a, b, c, 0.5)
    worse, same = triple(a, 0 * b, c, 0.5)
    assert same == outer
    assert error < 0.1 * outer
    assert worse > outer
