"""Small worlds drawn with numpy, whose truth is known: what the tests of the embedded profile look at.

A world is a textured background, textured discs on given paths, and posts before them.  Places are (x, y) in pixels
with centres on integers, times in seconds.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import av
import cv2
import numpy as np
import pytest

from pvbench_suite.perception.embedded import PROFILE
from pvbench_suite.video.types import Clip

Path = Callable[[float], tuple[float, float]]

ORANGE, BLUE, GREEN, GREY, YELLOW = (225, 120, 40), (40, 90, 200), (50, 160, 80), (120, 118, 122), (220, 200, 60)


def always(_: float) -> bool:
    """Return true: a disc that is there at every time."""
    return True


@dataclass(frozen=True)
class Disc:
    """A textured disc: where its centre is at each time, its radius [px], its colour, and when it exists."""

    path: Path
    radius: float = 14.0
    colour: tuple[int, int, int] = ORANGE
    exists: Callable[[float], bool] = always
    #: Where a string ends that it hangs on, if it does.
    pivot: tuple[float, float] | None = None


@dataclass(frozen=True)
class World:
    """Discs before a background and behind posts (x from, x to), filmed for `seconds` at `fps`."""

    discs: tuple[Disc, ...]
    posts: tuple[tuple[int, int], ...] = ()
    size: tuple[int, int] = (240, 320)
    fps: float = 24.0
    seconds: float = 2.5
    noise: float = 0.0
    floor: int | None = None
    #: Horizontal shift of the camera at each time [px].
    pan: Callable[[float], float] = field(default=lambda _: 0.0)
    #: Gain of the exposure at each time.
    gain: Callable[[float], float] = field(default=lambda _: 1.0)
    #: Ellipses of soft shadow: centre at each time.
    shadows: tuple[Path, ...] = ()
    #: How much of the light a shadow takes at its centre, per channel: tinted where another lamp fills it.
    dark: tuple[float, float, float] = (0.3, 0.3, 0.3)
    seed: int = 7


def texture(
    size: tuple[int, int], colour: tuple[int, int, int], contrast: float, grain: float, seed: int
) -> np.ndarray:
    """Return a smooth random picture (h, w, 3) around `colour`."""
    rng = np.random.default_rng(seed)
    field_ = cv2.GaussianBlur(rng.standard_normal(size), (0, 0), grain)
    field_ *= contrast / field_.std()
    return np.asarray(np.array(colour, dtype=float) + field_[..., None])


def stamps(world: World) -> np.ndarray:
    """Return the timestamps (T,) of the frames of `world`."""
    return np.arange(round(world.seconds * world.fps)) / world.fps


def film(world: World) -> tuple[Clip, np.ndarray, np.ndarray]:
    """Return the clip of `world`, the visible masks (T, N, h, w) and the true centres (T, N, 2), NaN where absent."""
    h, w = world.size
    wide = texture((h, w + 400), (150, 148, 140), 12.0, 3.0, world.seed)
    if world.floor is not None:
        wide[world.floor :] = texture((h - world.floor, w + 400), (105, 95, 85), 8.0, 3.0, world.seed + 1)
    post = texture((h, w), (70, 75, 90), 10.0, 2.0, world.seed + 2)
    skins = [texture((120, 120), d.colour, 18.0, 2.5, 50 + k) for k, d in enumerate(world.discs)]
    rng = np.random.default_rng(world.seed + 3)
    yy, xx = np.mgrid[:h, :w].astype(float)
    times = stamps(world)
    frames, masks, centres = (
        [],
        np.zeros((len(times), len(world.discs), h, w), bool),
        np.full((len(times), len(world.discs), 2), np.nan),
    )
    for t, now in enumerate(times):
        shift = 200 + world.pan(now)
        image = cv2.warpAffine(wide, np.float32([[1, 0, -shift], [0, 1, 0]]), (w, h), borderMode=cv2.BORDER_REFLECT)
        for shadow in world.shadows:
            x, y = shadow(now)
            image = image * (
                1 - np.array(world.dark) * np.exp(-(((xx - x) / 14) ** 2 + ((yy - y) / 6) ** 2))[..., None]
            )
        for n, disc in enumerate(world.discs):
            if not disc.exists(now):
                continue
            x, y = disc.path(now)
            centres[t, n] = (x, y)
            if disc.pivot is not None:
                cv2.line(
                    image,
                    (round(disc.pivot[0]), round(disc.pivot[1])),
                    (round(x), round(y)),
                    (60, 55, 50),
                    2,
                    cv2.LINE_AA,
                )
            alpha = np.clip(disc.radius + 0.5 - np.hypot(xx - x, yy - y), 0, 1)[..., None]
            skin = cv2.warpAffine(
                skins[n], np.float32([[1, 0, x - 60], [0, 1, y - 60]]), (w, h), borderMode=cv2.BORDER_REFLECT
            )
            image = image * (1 - alpha) + skin * alpha
            masks[t, :n] &= alpha[..., 0] < 0.5
            masks[t, n] = alpha[..., 0] >= 0.5
        for low, high in world.posts:
            image[:, low:high] = post[:, low:high]
            masks[t, :, :, low:high] = False
        image = image * world.gain(now) + world.noise * rng.standard_normal((h, w, 3))
        frames.append(np.clip(np.rint(image), 0, 255).astype(np.uint8))
    return Clip(np.stack(frames), times, world.size), masks, centres


def turned(
    world: World, camera: Callable[[float], np.ndarray], near: Callable[[float], float] | None = None, margin: int = 160
) -> tuple[Clip, np.ndarray, np.ndarray, np.ndarray]:
    """Return `world` as a moving camera sees it: clip, masks (T, N, h, w), centres (T, N, 2) [px of the image], camera.

    `camera` gives the homography (3, 3) from the places of the world to pixels at each time; the fourth result are its
    values (T, 3, 3).  `near` is the shift [px] against the rest of a fence of posts that stands nearer (parallax).
    """
    h, w = world.size
    noise, rng = world.noise, np.random.default_rng(world.seed + 4)

    def moved(path: Path) -> Path:
        return lambda t: (path(t)[0] + margin, path(t)[1] + margin)

    wide = replace(
        world,
        size=(h + 2 * margin, w + 2 * margin),
        discs=tuple(replace(d, path=moved(d.path)) for d in world.discs),
        floor=None if world.floor is None else world.floor + margin,
        noise=0.0,
    )
    clip, seen, centres = film(wide)
    inset = np.array([[1.0, 0.0, -margin], [0.0, 1.0, -margin], [0.0, 0.0, 1.0]])
    fence = texture(wide.size, (90, 80, 70), 14.0, 2.0, world.seed + 5)
    columns = (np.arange(wide.size[1]) % 90 < 28)[None, :, None]
    frames, masks, models = [], np.zeros((len(clip.times), len(world.discs), h, w), bool), []
    for t, now in enumerate(clip.times):
        model = camera(now) @ inset
        image = cv2.warpPerspective(clip.frames[t].astype(np.float32), model, (w, h), flags=cv2.INTER_CUBIC)
        if near is not None:
            nearer = np.array([[1.0, 0.0, near(now)], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) @ model
            cover = cv2.warpPerspective((columns * np.ones((*wide.size, 3))).astype(np.float32), nearer, (w, h))
            image = image * (1 - cover) + cover * cv2.warpPerspective(fence.astype(np.float32), nearer, (w, h))
        frames.append(np.clip(np.rint(image + noise * rng.standard_normal(image.shape)), 0, 255).astype(np.uint8))
        for n in range(len(world.discs)):
            masks[t, n] = cv2.warpPerspective(seen[t, n].astype(np.float32), model, (w, h)) >= 0.5
        models.append(camera(now))
        there = np.concatenate([centres[t], np.ones((len(world.discs), 1))], axis=1) @ model.T
        centres[t] = there[:, :2] / there[:, 2:]
    return Clip(np.stack(frames), clip.times, world.size), masks, centres, np.stack(models)


def coded(clip: Clip, crf: int = 28) -> Clip:
    """Return `clip` after H.264 at quality `crf`, as a generator's clips come."""
    store = io.BytesIO()
    rate = round(1 / float(np.median(np.diff(clip.times))))
    with av.open(store, "w", format="mp4") as out:
        stream = out.add_stream("libx264", rate=rate, options={"crf": str(crf), "preset": "veryfast"})
        stream.height, stream.width, stream.pix_fmt = clip.frames.shape[1], clip.frames.shape[2], "yuv420p"
        for frame in clip.frames:
            out.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        out.mux(stream.encode())
    store.seek(0)
    with av.open(store) as source:
        frames = [f.to_ndarray(format="rgb24") for f in source.decode(video=0)]
    assert len(frames) == len(clip.frames)
    return Clip(np.stack(frames), clip.times, clip.hw)


def perceive(clip: Clip, *products: str) -> dict[str, Any]:
    """Return the `products` of the embedded profile for `clip`, with all that they read."""
    made: dict[str, Any] = {}

    def make(product: str) -> None:
        provider = PROFILE.providers[product]
        for need in provider.needs:
            if need not in made:
                make(need)
        made[product] = provider(clip, {need: made[need] for need in provider.needs})

    for product in products:
        if product not in made:
            make(product)
    return made


def owners(record: Any, truth: np.ndarray) -> list[int]:
    """Return, per frame, which object of the masks `record` covers most of the true mask (T, h, w); -1 for none."""
    out = []
    for t in range(len(truth)):
        best, owner = 0, -1
        for n in range(len(record.names)):
            if record.confidence[t, n] >= 0.1:
                shared = int(np.count_nonzero(record.dense(t, n) & truth[t]))
                if shared > best:
                    best, owner = shared, n
        out.append(owner)
    return out


def overlap(record: Any, n: int, truth: np.ndarray) -> np.ndarray:
    """Return the intersection over union (T,) of object `n` with the true mask (T, h, w); NaN where neither is."""
    out = np.full(len(truth), np.nan)
    for t in range(len(truth)):
        mask = record.dense(t, n)
        union = np.count_nonzero(mask | truth[t])
        if union:
            out[t] = np.count_nonzero(mask & truth[t]) / union
    return out


def shown(record: Any, clip: Clip, truth: np.ndarray) -> np.ndarray:
    """Return the rows of `truth` (T, ...) of the frames that `record` kept: repeated frames are dropped."""
    return truth[np.searchsorted(clip.times, record.times - 1e-9)]


def objects(record: Mapping[str, Any] | Any) -> list[int]:
    """Return the indices of the objects of the masks `record` that pass the object gate."""
    return [n for n in range(len(record.names)) if record.confidence[:, n].max() >= 0.1]


@pytest.mark.parametrize("place", [(100.0, 80.0), (100.3, 80.6)])
def test_a_drawn_disc_lies_where_its_path_says(place):
    """The centroid of the drawn mask is the path's place: the truth that the other tests compare with."""
    clip, masks, centres = film(World((Disc(lambda _: place),), seconds=0.1))
    rows, columns = np.nonzero(masks[0, 0])
    assert np.allclose([columns.mean(), rows.mean()], centres[0, 0], atol=0.3)
    assert clip.frames.shape == (2, 240, 320, 3)


def test_a_post_hides_what_is_behind_it():
    """The visible mask ends at the post: the truth for states and for masks behind an occluder."""
    _, masks, _ = film(World((Disc(lambda _: (100.0, 80.0)),), posts=((100, 140),), seconds=0.1))
    assert masks[0, 0, :, :100].any()
    assert not masks[0, 0, :, 100:].any()
