"""An object that rests for long is not background, and the place that it left is not an object.

Conventions
-----------
Where the picture of a place has two steady states, one of them shows an object.  It is the state with the stronger edge
along the outline of the place: an object brings its outline with it, a bare background does not.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pvbench_suite.perception.embedded.background import Image, Mask, Scene, modelled
from pvbench_suite.perception.embedded.frames import Bytes

#: A state is steady when it holds for this long [s] and in this share of the frames that differ from the background.
STEADY, SHARE = 0.3, 0.6
#: Neighbouring pixels belong together when their states begin and end within this time of each other [s].
TOGETHER = 0.2
#: A state shows the object when it has an edge (half the difference of the states) along this share of the outline, and
#: along so much more of it than the other state.
OUTLINED, MORE = 0.6, 0.2
#: Smallest place that is looked at, as a share of the picture.
SMALLEST = 1e-4


def repaired(world: Scene, pace: float) -> Scene:
    """Return `world` with the objects removed from its background; frames are `pace` [s] apart."""
    for _ in range(2):
        background = world.background.copy()
        changed = False
        for place, frames in steady_places(world, pace):
            changed |= _repair(world, place, frames, background)
        if not changed:
            break
        world = modelled(world.stack, background, world.shown)
    return world


def steady_places(world: Scene, pace: float) -> list[tuple[Mask, NDArray[np.bool_]]]:
    """Return the places (h, w) that hold a second steady state, each with the frames (T,) that show it."""
    stack, h, w = world.stack, *world.background.shape[:2]
    differs = np.stack([world.difference(t)[1] > 1.0 for t in range(len(stack))])
    if world.shown is not None:
        differs &= world.shown
    least = max(2, int(np.ceil(STEADY / pace)))
    pixels = np.flatnonzero(differs.sum(axis=0).ravel() >= least)
    if not pixels.size:
        return []
    on = differs.reshape(len(stack), -1)[:, pixels]
    steady = _steady(stack.reshape(len(stack), -1, 3)[:, pixels], on, world.threshold.reshape(-1, 3)[pixels])
    held = steady.sum(axis=0)
    good = (held >= least) & (held >= SHARE * on.sum(axis=0))
    pixels, steady = pixels[good], steady[:, good]
    if not pixels.size:
        return []
    first = steady.argmax(axis=0)
    last = len(stack) - 1 - steady[::-1].argmax(axis=0)
    labels = _groups(pixels, first, last, (h, w), max(1, round(TOGETHER / pace)))
    places = []
    for label, count in zip(*np.unique(labels, return_counts=True), strict=True):
        if count >= max(9.0, SMALLEST * h * w):
            place = np.zeros(h * w, dtype=bool)
            place[pixels[labels == label]] = True
            shows = steady[:, labels == label].mean(axis=1) >= 0.6
            if shows.sum() >= least:
                places.append((place.reshape(h, w), shows))
    return places


def _steady(values: Bytes, on: Mask, threshold: Image) -> Mask:
    """Return in which frames (T, P) each pixel shows the median of the values (T, P, 3) it has where it is `on`."""
    frames, count = on.shape
    out = np.zeros((frames, count), dtype=bool)
    for start in range(0, count, 8192):
        part = slice(start, start + 8192)
        v = values[:, part].astype(np.int16)
        v[~on[:, part]] = np.iinfo(np.int16).max  # sorted behind all that counts
        middle = on[:, part].sum(axis=0) // 2
        centre = np.take_along_axis(np.sort(v, axis=0), middle[None, :, None], axis=0)[0]
        off = np.abs(values[:, part] - centre) / threshold[None, part]
        out[:, part] = on[:, part] & (off.max(axis=-1) < 0.8)
    return out


def _groups(
    pixels: NDArray[np.intp], first: NDArray[np.intp], last: NDArray[np.intp], size: tuple[int, int], near: int
) -> NDArray[np.int32]:
    """Return a label (P,) per pixel: neighbours whose states begin and end together share it."""
    h, w = size
    index = np.full(h * w, -1, dtype=np.intp)
    index[pixels] = np.arange(len(pixels))
    links = []
    for step, ok in ((1, pixels % w < w - 1), (w, pixels // w < h - 1)):
        a = np.flatnonzero(ok)
        b = index[pixels[a] + step]
        a, b = a[b >= 0], b[b >= 0]
        same = (np.abs(first[a] - first[b]) <= near) & (np.abs(last[a] - last[b]) <= near)
        links.append(np.stack([a[same], b[same]]))
    pairs = np.concatenate(links, axis=1)
    graph = coo_array((np.ones(pairs.shape[1], dtype=np.int8), (pairs[0], pairs[1])), shape=(len(pixels),) * 2)
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int32)


def outlined(image: Image, place: Mask, step: float) -> float:
    """Return the share of the outline of `place` (h, w) across which `image` (h, w, 3) changes by `step` [levels]."""
    kernel = np.ones((3, 3), np.uint8)
    m = place.astype(np.uint8)
    outside = cv2.dilate(m, kernel, iterations=3) - cv2.dilate(m, kernel)
    core = cv2.erode(m, kernel)
    inside = core - cv2.erode(core, kernel, iterations=2) if core.any() else m
    i, o = inside.astype(np.float32), outside.astype(np.float32)
    wi, wo = cv2.blur(i, (9, 9)), cv2.blur(o, (9, 9))
    near = (wi > 0.05) & (wo > 0.05)
    if not near.any():
        return 0.0
    ci = cv2.blur(image * i[..., None], (9, 9)) / np.maximum(wi, 1e-3)[..., None]
    co = cv2.blur(image * o[..., None], (9, 9)) / np.maximum(wo, 1e-3)[..., None]
    return float(np.mean((np.sqrt(np.sum((ci - co) ** 2, axis=-1)) >= step)[near]))


def _repair(world: Scene, place: Mask, shows: NDArray[np.bool_], background: Image) -> bool:
    """Paint the second state of `place` into `background` if the first shows an object; return whether it did."""
    frames = np.flatnonzero(shows)
    pick = frames[np.unique(np.linspace(0, len(frames) - 1, min(15, len(frames))).round().astype(int))]
    ys, xs = np.nonzero(place)
    box = (slice(max(0, ys.min() - 12), ys.max() + 13), slice(max(0, xs.min() - 12), xs.max() + 13))
    here, first = place[box], world.background[box]
    shown = world.stack[pick][:, box[0], box[1]].astype(np.float32)
    second = np.median(shown, axis=0)
    step = 0.5 * float(np.median(np.sqrt(np.sum((second - first) ** 2, axis=-1))[here]))
    now, then = outlined(first, here, step), outlined(second, here, step)
    if now < OUTLINED or now < then + MORE:
        return False
    # around the place only what holds still while it shows: an object that passes is not painted
    calm = (np.median(np.abs(shown - second), axis=0) < world.threshold[box] / 3).all(axis=-1) & (len(pick) >= 5)
    wide = here | (calm & (cv2.dilate(here.astype(np.uint8), np.ones((3, 3), np.uint8), iterations=2) > 0))
    background[box][wide] = second[wide]
    return True
