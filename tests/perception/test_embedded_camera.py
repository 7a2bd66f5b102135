"""A moving camera before a static background, shot cuts and repeated frames, against drawn truth."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter1d

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.embedded import PROFILE
from pvbench_suite.perception.embedded.blobs import region_of
from pvbench_suite.perception.embedded.camera import to_reference
from pvbench_suite.perception.embedded.canvas import canvas_of
from pvbench_suite.perception.embedded.corners import normalized
from pvbench_suite.perception.embedded.egomotion import applied, egomotion, fitted
from pvbench_suite.perception.embedded.frames import distinct_frames
from pvbench_suite.perception.embedded.parallax import against_camera
from pvbench_suite.perception.embedded.shots import cut
from pvbench_suite.perception.embedded.tracking import born
from pvbench_suite.video.types import Clip
from tests.perception.test_embedded_worlds import BLUE, Disc, World, coded, film, objects, overlap, perceive, turned

SIZE = (240, 320)
CORNERS = np.array([[0.0, 0.0], [320.0, 0.0], [0.0, 240.0], [320.0, 240.0]])
TREMOR = gaussian_filter1d(np.random.default_rng(5).standard_normal((200, 3)), 2.0, axis=0)
TREMOR /= TREMOR.std(axis=0)


def look(dx: float = 0.0, dy: float = 0.0, roll: float = 0.0, zoom: float = 1.0, tip: float = 0.0) -> np.ndarray:
    """Return the homography (3, 3) of a camera turned by `dx`, `dy` [px], rolled [deg], zoomed, and tipped [1/px]."""
    c, s = zoom * np.cos(np.deg2rad(roll)), zoom * np.sin(np.deg2rad(roll))
    to = np.array([[1.0, 0.0, -160.0], [0.0, 1.0, -120.0], [0.0, 0.0, 1.0]])
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [tip, 0.0, 1.0]])
    return np.asarray(np.array([[1.0, 0.0, 160.0 - dx], [0.0, 1.0, 120.0 - dy], [0.0, 0.0, 1.0]]) @ turn @ to)


def shaken(t: float) -> np.ndarray:
    """A hand that trembles by three pixels and a third of a degree."""
    x, y, r = TREMOR[round(24 * t)]
    return look(3.0 * x, 3.0 * y, 0.3 * r)


CAMERAS = {
    "pan": lambda t: look(60.0 * (t - 0.75)),
    "tilt": lambda t: look(0.0, 45.0 * (t - 0.75)),
    "zoom": lambda t: look(zoom=1.0 + 0.3 * t),
    "roll": lambda t: look(roll=10.0 * (t - 0.75)),
    "shake": shaken,
    "perspective": lambda t: look(50.0 * (t - 0.75), tip=3e-4 * (t - 0.75)),
}


def flight(t: float) -> tuple[float, float]:
    """A throw that stays in the frame."""
    return 110.0 + 60.0 * t, 70.0 + 120.0 * (t - 0.6) ** 2


def seen(camera, crf: int | None = None, disc: Disc | None = None):
    """Return IoU (T,) and the errors of centres (T,) and corners (T,) [px] in the plane of the reference frame."""
    body = disc or Disc(flight)
    clip, truth, _, models = turned(World((body,), seconds=1.5, noise=1.0), camera)
    if crf is not None:
        clip = coded(clip, crf)
    made = perceive(clip, "bodies")
    masks, bodies = made["masks"], made["bodies"]
    assert len(objects(masks)) == 1, masks.names
    n, rows = objects(masks)[0], np.searchsorted(clip.times, masks.times - 1e-9)
    reference = models[rows][len(rows) // 2]
    place = np.array([applied(reference, np.array(body.path(t))) for t in masks.times])
    error = np.linalg.norm(bodies.centre[:, n, :2] - place, axis=1)
    laid = zip(masks.stabilisation, models[rows], strict=True)
    corner = [np.linalg.norm(applied(s, CORNERS) - applied(reference @ np.linalg.inv(m), CORNERS), axis=1).max()
              for s, m in laid]  # fmt: skip
    return overlap(masks, n, truth[rows, 0]), error, np.array(corner)


@pytest.mark.parametrize("name", sorted(CAMERAS))
def test_a_turning_camera_is_seen_through(name):
    """Pan, tilt, zoom, roll, shake: one object, cut out well, on the path that it has before the background."""
    found, error, corner = seen(CAMERAS[name])
    assert np.nanmedian(found) > 0.9, found
    assert np.nanmedian(error) < 0.6
    assert np.nanpercentile(error, 90) < 1.2
    assert np.isfinite(error).mean() > 0.9
    assert corner.max() < 0.6


def test_a_turning_camera_is_seen_through_a_codec():
    """H.264 at a low quality costs a pixel, not the object."""
    found, error, corner = seen(CAMERAS["pan"], 26)
    assert np.nanmedian(found) > 0.8, found
    assert np.nanmedian(error) < 1.0
    assert corner.max() < 2.0


def test_a_camera_that_follows_the_disc_does_not_lose_it():
    """The disc hangs still in the picture while the world goes by."""
    found, error, _ = seen(lambda t: look(90.0 * (t - 0.75)), disc=Disc(lambda t: (160.0 + 90.0 * (t - 0.75), 110.0)))
    assert np.nanmedian(found) > 0.9
    assert np.nanmedian(error) < 0.6


def test_a_turning_camera_alone_moves_nothing():
    """A world at rest has no objects under a pan."""
    clip, *_ = turned(World((), seconds=1.2, noise=1.0), CAMERAS["pan"])
    masks = perceive(clip, "masks")["masks"]
    assert masks.stabilisation is not None
    assert objects(masks) == []


def test_a_still_camera_has_no_stabilisation():
    """What stands still is not resampled."""
    clip, _, _ = film(World((Disc(flight),), seconds=1.0))
    assert perceive(clip, "masks")["masks"].stabilisation is None


@pytest.mark.parametrize("speed", [30.0, 70.0])
def test_a_camera_that_travels_past_something_near_is_refused(speed):
    """No homography lays both the wall and the fence before it: parallax is said, with a remedy."""
    clip, *_ = turned(
        World((Disc(flight),), seconds=1.5, noise=1.0),
        lambda t: look(speed * (t - 0.75)),
        near=lambda t: -0.6 * speed * (t - 0.75),
    )
    with pytest.raises(NotPerceived, match=r"parallax.*reference"):
        PROFILE.providers["masks"](clip, {})


@pytest.mark.parametrize(("k", "mirrored"), [(0.5, True), (0.0, False), (-0.6, False)])
def test_what_goes_against_a_shaking_camera_stands_near(k, mirrored):
    """A path that is the camera's own turned round is parallax; one of its own, or none, is not."""
    shift = np.stack([look(-6.0 * x, -6.0 * y) for x, y, _ in TREMOR[:40]])
    canvas = canvas_of(shift, SIZE)
    image = np.zeros((*canvas.size, 3), np.uint8)
    path = None
    for t in range(40):
        own = np.array([2.0 * t, 0.0]) if k == 0.0 else np.zeros(2)
        x, y = np.array([150.0, 120.0]) - k * 6.0 * TREMOR[t, :2] + own
        mask = np.zeros(canvas.size, np.uint8)
        cv2.circle(mask, (round(16 * x), round(16 * y)), 160, 1, -1, shift=4)
        region = region_of(mask > 0, image)
        if path is None:
            path = born(t, region)
        path.add(t, region)
    assert against_camera(path, canvas) == mirrored


@settings(max_examples=15, deadline=None)
@given(
    st.floats(-40, 40), st.floats(-30, 30), st.floats(-12, 12), st.floats(0.7, 1.4), st.floats(-4e-4, 4e-4),
    st.integers(0, 1000),
)  # fmt: skip
def test_a_homography_is_found_among_strangers(dx, dy, roll, zoom, tip, seed):
    """A third of the pairs go elsewhere; the model of the others is found to a tenth of a pixel."""
    rng, model = np.random.default_rng(seed), look(dx, dy, roll, zoom, tip)
    there = rng.uniform([0, 0], [320, 240], (120, 2))
    here = applied(model, there) + 0.05 * rng.standard_normal((120, 2))
    here[:40] += rng.uniform(8, 30, (40, 2))
    found = fitted(there.astype(np.float32), here.astype(np.float32))
    assert found is not None
    assert np.abs(applied(found, CORNERS) - applied(model, CORNERS)).max() < 0.5


def test_a_long_pan_does_not_drift():
    """Over more than a frame's width, through several key frames, the error stays below a pixel."""
    clip, _, _, models = turned(World((), seconds=2.0, noise=1.0), lambda t: look(170.0 * (t - 1.0)), margin=220)
    images = [normalized(cv2.cvtColor(f, cv2.COLOR_RGB2GRAY)) for f in clip.frames]
    motion = egomotion(images)
    reference = models[len(models) // 2]
    for found, model in zip(motion.to_reference, models, strict=True):
        assert np.abs(applied(found, CORNERS) - applied(reference @ np.linalg.inv(model), CORNERS)).max() < 1.0


def test_the_same_moving_clip_gives_the_same_bytes():
    """Nothing is drawn by lot, and the state of OpenCV's own generator does not matter."""
    clip, *_ = turned(World((Disc(flight),), seconds=1.0, noise=1.0), shaken)
    first = perceive(clip, "masks")["masks"]
    cv2.setRNGSeed(123)
    again = perceive(Clip(clip.frames.copy(), clip.times.copy(), clip.hw), "masks")["masks"]
    assert first.counts.tobytes() == again.counts.tobytes()
    assert first.stabilisation.tobytes() == again.stabilisation.tobytes()


def shots(swap: slice | None = None) -> Clip:
    """Return one shot of 30 frames, with the frames `swap` of another scene in their place."""
    one, _, _ = film(World((Disc(flight),), seconds=1.25))
    frames = one.frames.copy()
    if swap is not None:
        frames[swap] = 255 - film(World((Disc(flight, colour=BLUE),), seconds=1.25, seed=91))[0].frames[swap]
    return Clip(frames, one.times, one.hw)


def test_a_cut_is_refused_and_its_time_is_named():
    """Two shots in one clip have no common background."""
    clip = shots(slice(15, None))
    assert cut(clip, np.arange(30)) == pytest.approx(15 / 24)
    with pytest.raises(NotPerceived, match=r"cut at 0\.6[23] s"):
        to_reference(clip)


@pytest.mark.parametrize("length", [1, 2])
def test_a_flash_is_no_cut(length):
    """What was before comes back."""
    assert cut(shots(slice(15, 15 + length)), np.arange(30)) is None


def test_an_exposure_jump_is_no_cut():
    """All of the picture gets brighter by the same."""
    clip = shots()
    frames = clip.frames.astype(int)
    frames[15:] += 40
    assert cut(Clip(np.clip(frames, 0, 255).astype(np.uint8), clip.times, clip.hw), np.arange(30)) is None


@pytest.mark.parametrize("crf", [None, 20])
def test_every_second_frame_of_doubled_content_is_dropped(crf):
    """12 frames/s of content in 24: the repeats go, also after a codec, and the times stay true."""
    one, _, _ = film(World((Disc(lambda t: (40.0 + 100.0 * t, 110.0)),), fps=12.0, noise=0.0))
    double = Clip(np.repeat(one.frames, 2, axis=0), np.arange(2 * len(one.times)) / 24.0, one.hw)
    kept = distinct_frames(double if crf is None else coded(double, crf))
    assert np.array_equal(kept, np.arange(0, len(double.times), 2))


def test_a_small_thing_that_moves_is_no_repeat():
    """A ball of a thousandth of the picture changes the whole hardly, but a block enough."""
    clip, _, _ = film(World((Disc(lambda t: (30.0 + 90.0 * t, 110.0), 5.0),)))
    assert len(distinct_frames(clip)) == len(clip.times)


def test_a_short_freeze_is_dropped():
    """Three frames that repeat one are no frames of their own."""
    clip, _, _ = film(World((Disc(lambda t: (40.0 + 100.0 * t, 110.0)),), seconds=1.5))
    frames = clip.frames.copy()
    frames[11:13] = frames[10]
    kept = distinct_frames(Clip(frames, clip.times, clip.hw))
    assert set(range(len(frames))) - set(kept.tolist()) == {11, 12}
