"""How the camera turned, zoomed or shook: one homography per frame that lays its background on a reference frame's.

Conventions
-----------
Images are normalized luma (h, w) on the working grid.  A homography (3, 3) maps homogeneous pixels (x, y, 1) of a frame
to those of the reference frame.  Each frame is laid on the *key* frame that shows most of the same scene, never on its
neighbour, so that errors do not add up: the reference frame is the first key, and a new one is taken where less than
half of it is still in view.  Nothing is drawn by lot from a shared generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.corners import CELLS_LEAST, Points, corners, follow
from pvbench_suite.perception.embedded.frames import Bytes, Floats

#: A corner this near to where the model puts it agrees; one this far off moves, or stands at another depth [px].
AGREE, APART = 1.5, 2.0
#: Fewest corners that make a model, and the fewest that make one with perspective.
LEAST, PERSPECTIVE = 12, 30
#: A homography is believed where it fits better than a similarity by this factor.
BETTER = 0.9
#: Share of the cells in view that must agree for a frame to be laid, and share of a key in view that makes a new one.
LAID, NEW_KEY = 0.4, 0.5
#: Nothing is followed this near to the edge of what both frames show [px].
MARGIN = 10


@dataclass(frozen=True, eq=False)
class Key:
    """A frame that others are laid on: its image, its corners (P, 2) with their cells (P,), and its homography."""

    image: Bytes
    points: Points
    cells: NDArray[np.intp]
    to_reference: Floats


@dataclass(frozen=True, eq=False)
class Egomotion:
    """The homographies (T, 3, 3) of the frames, and how well each is known.

    `agreed` (T,) is the share of the cells in view whose corners are where the model puts them, 0 where a frame could
    not be laid (its homography is then that between its neighbours'); `apart` (T,) the share of the corners found
    again that are elsewhere; `error` (T,) the median distance of those that agree [px].
    """

    to_reference: Floats
    agreed: Floats
    apart: Floats
    error: Floats


@dataclass(frozen=True, eq=False)
class _Fit:
    model: Floats
    agreed: float
    apart: float
    error: float


def applied(model: Floats, points: NDArray[np.floating]) -> Floats:
    """Return the points (..., 2) after the homography `model` (3, 3) [px]."""
    p = np.asarray(points, dtype=float) @ model[:, :2].T + model[:, 2]
    return np.asarray(p[..., :2] / p[..., 2:])


def _solved(p: Floats, q: Floats, weight: Floats, perspective: bool) -> Floats:
    """Return the least-squares homography (8 free numbers) or similarity (4) that takes `p` (n, 2) to `q` (n, 2)."""
    x, y, one, zero = p[:, 0], p[:, 1], np.ones(len(p)), np.zeros(len(p))
    if perspective:
        top = np.stack([x, y, one, zero, zero, zero, -x * q[:, 0], -y * q[:, 0]], axis=1)
        low = np.stack([zero, zero, zero, x, y, one, -x * q[:, 1], -y * q[:, 1]], axis=1)
    else:
        top, low = np.stack([x, -y, one, zero], axis=1), np.stack([y, x, zero, one], axis=1)
    root = np.sqrt(np.concatenate([weight, weight]))
    c = np.linalg.lstsq(np.concatenate([top, low]) * root[:, None], np.concatenate(list(q.T)) * root, rcond=None)[0]
    if perspective:
        return np.append(c, 1.0).reshape(3, 3)
    return np.array([[c[0], -c[1], c[2]], [c[1], c[0], c[3]], [0.0, 0.0, 1.0]])


def fitted(there: Points, here: Points) -> Floats | None:
    """Return the homography (3, 3) that takes the points `there` (n, 2) to `here`, blind to those that disagree.

    A similarity is taken where it fits as well: it says more about where there are no corners.
    """
    if len(there) < LEAST:
        return None
    start, inliers = cv2.findHomography(there, here, cv2.USAC_MAGSAC, AGREE, maxIters=2000, confidence=0.999)
    if start is None or int(inliers.sum()) < LEAST:
        return None
    # around the origin at the scale of the picture, where the equations are well conditioned
    middle, scale = here.mean(axis=0), max(float(np.ptp(here, axis=0).max()), 1.0)
    norm = np.array([[1 / scale, 0, -middle[0] / scale], [0, 1 / scale, -middle[1] / scale], [0, 0, 1]])
    p, q = applied(norm, there), applied(norm, here)
    models, rms = [], []
    for perspective in (False, True):
        model = norm @ start @ np.linalg.inv(norm)
        for _ in range(6):
            off = np.linalg.norm(applied(model, p) - q, axis=1) * scale
            weight = np.clip(1.0 - (off / (2.0 * AGREE)) ** 2, 0.0, None) ** 2
            if np.count_nonzero(weight) < (PERSPECTIVE if perspective else LEAST):
                break
            model = _solved(p, q, weight, perspective)
        else:
            near = off < AGREE
            models.append(np.linalg.inv(norm) @ model @ norm)
            # corners that a poorer model loses count against it
            rms.append(float(np.sqrt(np.mean(off[near] ** 2)) / max(np.mean(near), 1e-3)) if near.any() else np.inf)
    if not models:
        return None
    best = 1 if len(models) == 2 and rms[1] < BETTER * rms[0] else 0
    return np.asarray(models[best] / models[best][2, 2])


def _sound(model: Floats) -> bool:
    """Return whether a homography can be a camera's: no mirror, no change of scale beyond a factor of four."""
    scale = float(np.linalg.det(model[:2, :2]))
    return bool(np.isfinite(model).all() and 1 / 16 < scale < 16)


def _beside(key: Key, image: Bytes, model: Floats) -> tuple[Points, NDArray[np.intp], Points, NDArray[np.bool_]]:
    """Return the corners of `key` that `image` shows after `model`, their cells, where they are then, and if found."""
    h, w = image.shape
    warped = cv2.warpPerspective(image, model, (w, h), borderValue=128)
    shown = cv2.warpPerspective(np.full((h, w), 255, np.uint8), model, (w, h), flags=cv2.INTER_NEAREST)
    inner = cv2.erode(shown, np.ones((2 * MARGIN + 1,) * 2, np.uint8))
    x, y = np.rint(key.points).astype(int).T
    view = inner[np.clip(y, 0, h - 1), np.clip(x, 0, w - 1)] > 0
    points, cells = key.points[view], key.cells[view]
    if len(points) < LEAST:
        return points, cells, points, np.zeros(len(points), dtype=bool)
    there, found = follow(key.image, warped, points, points)
    return points, cells, there, found


def _laid(key: Key, image: Bytes, guess: Floats) -> _Fit | None:
    """Return the homography that lays `image` on `key`, near `guess`, or None where none can be found."""
    h, w = image.shape
    frame = np.array([[0, 0], [w, 0], [0, h], [w, h]], dtype=float)
    model = guess
    for _ in range(2):
        points, cells, there, found = _beside(key, image, model)
        rest = fitted(there[found], points[found])
        if rest is None:
            return None
        off = np.linalg.norm(applied(rest, there) - points, axis=1)
        model = rest @ model
        model = model / model[2, 2]
        if not _sound(model):
            return None
        if float(np.abs(applied(rest, frame) - frame).max()) < 2.0:
            break
    good = found & (off < AGREE)
    agreed = len(np.unique(cells[good])) / max(len(np.unique(cells)), 1)
    apart = float(np.mean(off[found] > APART))
    return _Fit(np.asarray(model), agreed, apart, float(np.median(off[good])) if good.any() else np.inf)


def _parting(images: Sequence[Bytes], models: Floats, stride: int) -> Floats:
    """Return, per frame (T,), the share of fresh corners that part from the background within `stride` frames.

    The corners of a key that stand at another depth are lost on a long way; on a short one they are followed.
    """
    out = np.zeros(len(images))
    for a in range(0, len(images) - stride, stride):
        key = _key(images[a], np.eye(3))
        step = np.linalg.inv(models[a]) @ models[a + stride]
        points, _, there, found = _beside(key, images[a + stride], step / step[2, 2])
        if np.count_nonzero(found) >= LEAST:
            off = np.linalg.norm(there[found] - points[found], axis=1)
            out[a : a + stride + 1] = np.mean(off > APART)
    return out


def _in_view(key: Key, model: Floats, size: tuple[int, ...]) -> float:
    """Return the share of the corners of `key` that a frame with homography `model` to the reference shows."""
    if not len(key.points):
        return 0.0
    place = applied(np.linalg.inv(model) @ key.to_reference, key.points)
    inside = (place > MARGIN).all(axis=1) & (place[:, 0] < size[1] - MARGIN) & (place[:, 1] < size[0] - MARGIN)
    return float(np.mean(inside))


def _shifted(a: Bytes, b: Bytes) -> Floats:
    """Return the translation (3, 3) from `b` to `a` by phase correlation: a first guess after a fast pan."""
    window = cv2.createHanningWindow((a.shape[1], a.shape[0]), cv2.CV_32F)
    (dx, dy), _ = cv2.phaseCorrelate(b.astype(np.float32), a.astype(np.float32), window)
    return np.array([[1.0, 0.0, dx], [0.0, 1.0, dy], [0.0, 0.0, 1.0]])


def _key(image: Bytes, model: Floats) -> Key:
    points, cells = corners(image)
    return Key(image, points, cells, model)


def _best(keys: Sequence[Key], image: Bytes, guesses: Sequence[Floats]) -> _Fit | None:
    """Return the best fit of `image` to the reference that begins from one of `guesses`, or None."""
    best: _Fit | None = None
    for guess in guesses:
        key = max(keys, key=lambda k: _in_view(k, guess, image.shape))
        fit = _laid(key, image, np.linalg.inv(key.to_reference) @ guess)
        if fit is not None and (best is None or fit.agreed > best.agreed):
            model = key.to_reference @ fit.model
            best = _Fit(model / model[2, 2], fit.agreed, fit.apart, fit.error)
        if best is not None and best.agreed >= 2 * LAID:
            break
    return best


def _walk(images: Sequence[Bytes], order: Sequence[int], keys: list[Key], fits: dict[int, _Fit]) -> None:
    """Lay the frames `order`, each beginning from where the one before was, and add the keys that this needs."""
    size = (images[0].shape[0], images[0].shape[1])
    last, before = keys[0].to_reference, keys[0].to_reference
    previous = images[order[0]] if order else None
    for t in order:
        ahead = last @ np.linalg.inv(before) @ last
        guesses = [last, ahead]
        if previous is not None:
            guesses.append(last @ _shifted(previous, images[t]))
        best = _best(keys, images[t], guesses)
        if (best is None or best.agreed < LAID) and previous is not None:
            # the scene itself has changed since the keys: the frame before shows most of what this one does
            keys.append(_key(previous, last))
            best = _best(keys[-1:], images[t], guesses)
        if best is None or best.agreed < LAID:
            continue
        fits[t] = best
        before, last, previous = last, best.model, images[t]
        if max(_in_view(k, last, size) for k in keys) < NEW_KEY:
            keys.append(_key(images[t], last))


def egomotion(images: Sequence[Bytes], stride: int = 3) -> Egomotion | None:
    """Return the camera's motion over `images` (T of (h, w)); None where the middle one has too little texture.

    Parallax is sought between frames `stride` apart as well as against the keys.
    """
    middle = len(images) // 2
    reference = _key(images[middle], np.eye(3))
    if len(np.unique(reference.cells)) < CELLS_LEAST:
        return None
    keys, fits = [reference], {middle: _Fit(np.eye(3), 1.0, 0.0, 0.0)}
    _walk(images, range(middle + 1, len(images)), keys, fits)
    _walk(images, range(middle - 1, -1, -1), keys, fits)
    frames = np.arange(len(images))
    known = np.array(sorted(fits))
    path = np.stack([fits[t].model for t in known])
    between = np.stack([np.interp(frames, known, path[:, i, j]) for i in range(3) for j in range(3)], axis=-1)
    none = _Fit(np.eye(3), 0.0, 1.0, np.inf)
    all_ = [fits.get(t, none) for t in range(len(images))]
    models = between.reshape(-1, 3, 3)
    return Egomotion(
        models,
        np.array([f.agreed for f in all_]),
        np.maximum([f.apart for f in all_], _parting(images, models, stride)),
        np.array([f.error for f in all_]),
    )
