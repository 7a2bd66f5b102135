"""Where every pixel's material goes: the records of flow and of interpolation.

Conventions
-----------
Flow is geometric: the material that a ray meets in one frame is carried to the other frame and projected there, whether
or not it is visible then.  Flow is in pixels of the truth grid.  The interpolated middle frame is what an ideal
interpolator would draw: bodies and camera half way between their places in the neighbours, with the neighbours' colors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.types import Flow, Interpolation
from pvbench_suite.simulate.film import Film, grid_shape
from pvbench_suite.simulate.points import Points, in_lab
from pvbench_suite.simulate.raycast import View, project
from pvbench_suite.simulate.scene import State, World
from pvbench_suite.simulate.vectors import Bools, Floats, Vec, take

_PAIR_SECONDS = 1.0 / 12.0
#: Motion between the outer frames of a triple that counts as moving [px].
_MOVES = 0.5
_FINE = 16.0


def flow(world: World, film: Film, samples: Callable[[World, int], list[int]]) -> Flow:
    """Return the exact flow of frame pairs about 1/12 s apart, both ways, at the starts that `samples` spreads."""
    dt = float(world.times[1] - world.times[0])
    gap = max(1, round(_PAIR_SECONDS / dt))
    first = samples(world, len(world.times) - 1 - gap)
    second = [t + gap for t in first]
    forward = np.stack([_carried(world, film, a, b) for a, b in zip(first, second, strict=True)])
    backward = np.stack([_carried(world, film, b, a) for a, b in zip(first, second, strict=True)])
    return Flow(
        world.times[first],
        np.array(first),
        np.array(second),
        forward=forward.astype(np.float16),
        backward=backward.astype(np.float16),
        luma0=np.stack([_small(film, t) for t in first]),
        luma1=np.stack([_small(film, t) for t in second]),
        hw=world.hw,
    )


def _carried(world: World, film: Film, a: int, b: int) -> Floats:
    """Return the flow (h, w, 2) from frame `a` to frame `b` [px of the grid]."""
    (h, w), (H, W), hits = grid_shape(world), world.hw, film.grid[a]
    u, v, _ = _images(world, world.state(b), Points(hits.id.astype(np.int64), hits.q))
    x, y = (u + 0.5) * (w / W) - 0.5, (v + 0.5) * (h / H) - 0.5
    there = np.stack([x.reshape(h, w), y.reshape(h, w)], axis=-1)
    here = np.stack(np.meshgrid(np.arange(w), np.arange(h)), axis=-1)
    return np.asarray(there - here)


def _images(world: World, state: State, points: Points) -> Vec:
    return project(world, state, in_lab(world, state, points))


def _small(film: Film, t: int) -> NDArray[np.uint8]:
    """Return the luma of frame `t` on the truth grid, the rounded mean of 2 x 2 pixels."""
    y = film.luma(t)
    y = y[: y.shape[0] // 2 * 2, : y.shape[1] // 2 * 2]
    four = y[::2, ::2] + y[1::2, ::2] + y[::2, 1::2] + y[1::2, 1::2]
    return ((four + 2) >> 2).astype(np.uint8)


def interpolation(world: World, film: Film) -> Interpolation:
    """Return how far every second frame is from the one that its neighbours let expect, over moving pixels."""
    view = View.regular(world, *world.hw)
    middle = range(1, len(world.times) - 1, 2)
    found = [_triple(world, film, view, t) for t in middle]
    error, outer = np.array(found, dtype=np.float32).reshape(-1, 2).T
    return Interpolation(world.times[list(middle)], error, outer, world.hw)


def _triple(world: World, film: Film, view: View, t: int) -> tuple[float, float]:
    """Return error and outer difference of the triple about frame `t` [levels]; NaN where nothing moves."""
    before, after = world.state(t - 1), world.state(t + 1)
    hits = view.hits(world.between(t - 1, t + 1))
    around = [film.ids[s].ravel() for s in (t - 1, t, t + 1)]
    loose = np.flatnonzero([not still for still in world.still])
    still = view.key(before) == view.key(after)
    chosen = np.any([np.isin(x, loose) for x in (*around, hits.id)], axis=0) if still else np.ones(hits.t.size, bool)
    index = np.flatnonzero(chosen)
    places = Points(hits.id[index].astype(np.int64), take(hits.q, index))
    one, two = _images(world, before, places), _images(world, after, places)
    moves = np.maximum(np.abs(two[0] - one[0]), np.abs(two[1] - one[1])) > _MOVES
    going = np.unique(places.carrier[moves])
    counted = moves | np.any([np.isin(x[index], going[going >= 0]) for x in around], axis=0)
    if not counted.any():
        return np.nan, np.nan
    y0, y, y1 = (film.luma(s) for s in (t - 1, t, t + 1))
    a, seen_a = _sampled(y0, film.ids[t - 1], one, places)
    b, seen_b = _sampled(y1, film.ids[t + 1], two, places)
    drawn = np.where(seen_a == seen_b, 0.5 * (a + b), np.where(seen_a, a, b))
    # Sixteenths of a level add up exactly, in any order.
    error = np.rint(np.abs(drawn - y.ravel()[index])[counted] * _FINE).astype(np.int64).sum() / _FINE
    outer = np.abs(y0.ravel()[index] - y1.ravel()[index])[counted].sum()
    return float(error) / int(counted.sum()), float(outer) / int(counted.sum())


def _sampled(luma: NDArray[np.int64], ids: NDArray[np.int16], image: Vec, points: Points) -> tuple[Floats, Bools]:
    """Return the luma at image points, bilinear, and whether the points' carriers are seen there."""
    H, W = luma.shape
    u, v = np.clip(image[0], 0.0, W - 1.0), np.clip(image[1], 0.0, H - 1.0)
    i, j = np.minimum(np.floor(v).astype(np.int64), H - 2), np.minimum(np.floor(u).astype(np.int64), W - 2)
    fu, fv = u - j, v - i
    top = luma[i, j] + fu * (luma[i, j + 1] - luma[i, j])
    low = luma[i + 1, j] + fu * (luma[i + 1, j + 1] - luma[i + 1, j])
    seen = ids[np.rint(v).astype(np.int64), np.rint(u).astype(np.int64)] == points.carrier
    seen &= (image[0] > -0.5) & (image[0] < W - 0.5) & (image[1] > -0.5) & (image[1] < H - 0.5)
    return top + fv * (low - top), seen
