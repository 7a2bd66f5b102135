"""Point tracks: background size under a drifting gauge, and the two sources of 3D points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pvbench_suite.errors import NotPerceived
from pvbench_suite.feeds import points
from pvbench_suite.physics.motion import motion_disagreement
from pvbench_suite.physics.rigid import rigidity
from tests.feeds.made import FPS, filmed


def drifting(made, by: float = 0.2):
    """Return the tracks of a filmed world whose reconstruction grows by exp(`by`) over the clip, and its size (T,)."""
    tracks = made["tracks"]
    s = np.exp(np.linspace(0, by, len(tracks.times)) + 0.02 * np.sin(2 * tracks.times))
    return replace(tracks, xyz=tracks.xyz * s[:, None, None]), s


@pytest.mark.parametrize("world", ["slide", "dolly"])
@pytest.mark.parametrize("violation", ["", "stretch"])
def test_a_drifting_gauge_does_not_change_rigidity(world: str, violation: str) -> None:
    """R18 of the first object is the same with every 3D point multiplied by a slowly varying scale.

    To 0.005: the kernel smooths lengths and not the background's size, which lags at the ends of a clip that drifts.
    """
    _, _, made = filmed(world, violation)
    values = []
    for tracks in (made["tracks"], drifting(made)[0]):
        cloud, scale = points.xyz(tracks)[:, tracks.of(0)], points.background_size(tracks)
        values.append(rigidity(cloud, None, scale, made["cameras"].centres, 1 / FPS).value)
    assert values[1] == pytest.approx(values[0], abs=5e-3)
    assert (values[0] > 0.05) == (violation == "stretch")


def test_the_background_size_is_the_gauge() -> None:
    """Up to one factor, and constant where the gauge is."""
    _, _, made = filmed("slide")
    tracks, s = drifting(made)
    ratio = points.background_size(tracks) / s
    assert ratio / ratio[0] == pytest.approx(np.ones(len(s)), abs=1e-3)
    assert points.background_size(made["tracks"]) == pytest.approx(np.ones(len(s)), abs=1e-3)


def test_points_that_come_and_go_do_not_bend_the_background_size() -> None:
    """Each point is seen for a third of the clip, as under a pan; each pair's own median hid most of the drift."""
    _, _, made = filmed("slide")
    tracks, s = drifting(made)
    n, frames = tracks.xyz.shape[1], len(s)
    start = np.linspace(-frames // 6, frames - frames // 6, n).astype(int)
    seen = (np.arange(frames)[:, None] >= start) & (np.arange(frames)[:, None] < start + frames // 3)
    passing = replace(tracks, visible=tracks.visible & seen)
    ratio = points.background_size(passing) / s
    assert np.nanmax(ratio) / np.nanmin(ratio) < 1.03


def test_a_few_background_points_that_are_not_static_do_not_bend_it_either() -> None:
    """One in five drifts away; medians do not care."""
    _, _, made = filmed("slide")
    tracks, s = drifting(made)
    xyz = np.array(tracks.xyz)
    wild = tracks.of(-1)[::5]
    xyz[:, wild] += np.linspace(0, 2, len(s))[:, None, None] * np.random.default_rng(0).normal(size=(len(wild), 3))
    ratio = points.background_size(replace(tracks, xyz=xyz)) / s
    assert ratio / np.median(ratio) == pytest.approx(np.ones(len(s)), abs=0.02)


def test_few_points_or_planar_tracks_have_no_background_size() -> None:
    """Fewer than 8 background points tell nothing, and planar tracks have no 3D points at all."""
    _, _, made = filmed("slide")
    tracks = made["tracks"]
    owner = np.where(np.cumsum(tracks.owner == -1) > 7, 0, tracks.owner)
    assert points.background_size(replace(tracks, owner=owner)) is None
    assert points.background_size(replace(tracks, xyz=None)) is None
    with pytest.raises(NotPerceived):
        points.xyz(replace(tracks, xyz=None))
    with pytest.raises(NotPerceived):
        points.unprojected(replace(tracks, z=None), made["cameras"])


@pytest.mark.parametrize("world", ["slide", "orbit"])
def test_depth_cameras_and_image_points_give_the_tracked_points(world: str) -> None:
    """Both sources come from the same truth, so they agree to the rounding of the records, and are missing alike."""
    _, _, made = filmed(world)
    one, other = points.xyz(made["tracks"]), points.unprojected(made["tracks"], made["cameras"])
    assert (np.isnan(one) == np.isnan(other)).all()
    assert np.nanmax(np.abs(one - other)) < 2e-3
    assert (np.isfinite(one).all(axis=-1) == made["tracks"].visible).all()


def test_a_depth_that_stands_still_disagrees_with_the_tracked_motion() -> None:
    """A ball that rolls toward the camera at 1.35 m/s against a depth that stays at its first value."""
    _, _, made = filmed("approach", seconds=2.0)
    tracks, cameras = made["tracks"], made["cameras"]
    flat = replace(
        tracks,
        z=np.broadcast_to(tracks.z[np.isfinite(tracks.z).argmax(axis=0), np.arange(tracks.z.shape[1])], tracks.z.shape),
    )
    values = [
        motion_disagreement(
            points.xyz(t), points.unprojected(t, cameras), t.owner == -1, cameras.centres, 1 / FPS
        ).value
        for t in (tracks, flat)
    ]
    assert values[0] < 0.02
    assert values[1] > 0.8
