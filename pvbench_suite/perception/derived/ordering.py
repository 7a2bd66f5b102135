"""Product `ordering`: who covers whom, from tracked points that drop out behind another object, and the depths tested.

A point of an object that is lost while its object's other points go on is looked for where these put it.  If another
object's mask is there, that one covers it.  So the cue comes from 2D tracks and masks alone: the depth that R01 tests
takes no part.  There is none for bodies that meet, within a tenth of a second of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from scipy.ndimage import binary_dilation, binary_erosion

from pvbench_suite.perception.derived.scene import Bools, Floats, Scene, scene
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Contacts, Masks, Ordering, Tracks
from pvbench_suite.video.types import Clip

#: Fewest points that are lost behind another object, and how much more often than the other way round.
LOST, CLEAR = 2, 3.0
#: Fewest points by which the others of an object tell where a lost one is; longest time that it was not seen [s].
FEWEST, LONGEST = 3, 1.5
#: No cue this close to a contact of the two [s].
MEETING = 0.1
#: The band of the boundary in which depth is read [px of a frame of 720 rows], and fewest cells of it.
BAND, CELLS = 5, 6


@dataclass(frozen=True)
class DropOutOrdering:
    """Order of depth by occlusion: points of one object drop out where the mask of another is."""

    name: str = "derived-ordering@1"
    product: str = "ordering"
    needs: tuple[str, ...] = ("masks", "depth", "cameras", "tracks", "contacts")
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "lost": LOST, "clear": CLEAR, "fewest": FEWEST, "longest": LONGEST, "meeting": MEETING, "band": BAND,
        "cells": CELLS,
    }  # fmt: skip

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Ordering:
        """Return cues and depths of the masked objects."""
        seen = scene(records["masks"], records["depth"], records["cameras"])
        cue = cues(records["masks"], records["tracks"])
        _without_meetings(cue, seen.times, records["contacts"])
        return Ordering(seen.times, cue, _depths(seen), seen.names)


def cues(masks: Masks, tracks: Tracks) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Return the cue (T, N, N) of every pair and frame: +1 the first is in front, -1 behind, 0 unknown."""
    T, N = np.shape(masks.confidence)
    lost = np.zeros((T, N, N), dtype=int)
    where = [_expected(tracks, n) for n in range(N)]
    frame = np.abs(np.asarray(tracks.times)[None, :] - np.asarray(masks.times)[:, None]).argmin(axis=1)
    scale = np.array([masks.grid[1] / masks.hw[1], masks.grid[0] / masks.hw[0]])
    for t in range(T):
        dense = [masks.dense(t, n) for n in range(N)]
        inner = [np.asarray(binary_erosion(m)) for m in dense]
        for a, b in permutations(range(N), 2):
            if dense[a].any() and dense[b].any():
                xy = (where[a][frame[t]] + 0.5) * scale - 0.5
                lost[t, a, b] = _inside(inner[b], xy)
    cue = np.zeros((T, N, N), dtype=np.int8)
    behind = (lost >= LOST) & (lost >= CLEAR * np.swapaxes(lost, 1, 2))
    cue[behind] = -1
    cue[np.swapaxes(behind, 1, 2)] = 1
    return cue


def _expected(tracks: Tracks, n: int) -> Floats:
    """Return where the lost points of object `n` are expected (T, P, 2) [px], NaN where they are seen or not known.

    The picture of the object moves by an affine map of its points from the last frame, or the next, that saw the point.
    """
    mine = tracks.of(n)
    uv, visible = np.asarray(tracks.uv[:, mine], dtype=float), np.asarray(tracks.visible[:, mine], dtype=bool)
    out = np.full(uv.shape, np.nan)
    times = np.asarray(tracks.times, dtype=float)
    for p in range(len(mine)):
        sighted = np.flatnonzero(visible[:, p])
        for t in np.flatnonzero(~visible[:, p]) if len(sighted) else ():
            s = sighted[np.abs(times[sighted] - times[t]).argmin()]
            common = visible[s] & visible[t]
            if abs(times[s] - times[t]) <= LONGEST and common.sum() >= FEWEST:
                out[t, p] = _carried(uv[s, common], uv[t, common], uv[s, p])
    return out


def _carried(before: Floats, after: Floats, x: Floats) -> Floats:
    """Return where the affine map of points `before` (k, 2) to `after` puts `x` (2,); a shift where they are too few.

    A map is trusted where the points spread over an area; a line of them tells a shift only.
    """
    spread = np.linalg.svd(before - before.mean(axis=0), compute_uv=False)
    if len(before) < 6 or spread[1] < 0.2 * spread[0]:
        return np.asarray(x + np.median(after - before, axis=0))
    design = np.column_stack([before, np.ones(len(before))])
    return np.asarray(np.append(x, 1.0) @ np.linalg.lstsq(design, after, rcond=None)[0])


def _inside(mask: Bools, xy: Floats) -> int:
    """Return how many of the points `xy` (P, 2) [px] lie in a mask (h, w)."""
    known = xy[np.isfinite(xy).all(axis=1)]
    column, row = np.rint(known).astype(int).T
    h, w = mask.shape
    inside = (row >= 0) & (row < h) & (column >= 0) & (column < w)
    return int(mask[row[inside], column[inside]].sum())


def _without_meetings(cue: np.ndarray[Any, np.dtype[np.int8]], times: Floats, contacts: Contacts) -> None:
    """Take out the cues of pairs that are in contact, in place."""
    for when, i, j in zip(contacts.when, contacts.first, contacts.second, strict=True):
        if j >= 0:
            near = np.abs(times - when) <= MEETING
            cue[near, i, j] = cue[near, j, i] = 0


def _depths(seen: Scene) -> Floats:
    """Return the depth (T, N) of each object: the median of a band inside the boundary that it shares with another.

    Where it borders on none, the median over its mask.
    """
    T, N = np.shape(seen.masks.confidence)
    out = np.full((T, N), np.nan)
    reach = max(1, round(BAND * seen.cells[0] / 720))
    for t in range(T):
        z = seen.depth(t)
        wide = [np.asarray(binary_dilation(seen.covered(t, n) > 0, iterations=reach + 1)) for n in range(N)]
        for n in range(N):
            mine = seen.inside(t, n) & np.isfinite(z)
            others = np.any([wide[m] for m in range(N) if m != n], axis=0) if N > 1 else np.zeros_like(mine)
            band = mine & others
            chosen = band if band.sum() >= CELLS else mine
            if chosen.any():
                out[t, n] = float(np.median(z[chosen]))
    return out
