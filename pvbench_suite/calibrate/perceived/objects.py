"""Masks and bodies against the truth: who was found, how well, and what was found that is not there.

Conventions
-----------
A true object that never moves is no business of a profile that sees motion: it neither has to be found nor is it
false where it is.  Decor (a string, a turntable) moves but has no name; finding it is not counted either.  A mask
counts in the frames in which its confidence reaches the object gate.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.calibrate.perceived.matching import PIXELS, SAME, STRANGER, Overlap, by_clip, switches
from pvbench_suite.calibrate.perceived.stage import Indices, Staged
from pvbench_suite.calibrate.perceived.tally import Tally
from pvbench_suite.perception.types import Bodies, Masks
from pvbench_suite.simulate.raycast import View
from pvbench_suite.simulate.scene import World
from pvbench_suite.simulate.shade import Painter

Bools = NDArray[np.bool_]

#: Confidence from which on an object is one (the benchmark's object gate).
GATE = 0.10
#: Frames of a false object that are looked at, to say what it is.
_LOOKED = 12


@dataclass(frozen=True, eq=False)
class Who:
    """Which perceived object is which true one: `of` maps perceived names to true indices, `STRANGER` to none."""

    of: dict[str, int]

    def indices(self, names: tuple[str, ...]) -> list[int]:
        """Return the true index of each perceived name, `STRANGER` for what is no true object."""
        return [self.of.get(name, STRANGER) for name in names]


def going(world: World) -> Bools:
    """Return which bodies (B,) move, turn, change or vanish at some time."""
    tracks = (world.centre, world.R, world.half, world.shown)
    return np.array([any(bool((x[:, k] != x[:1, k]).any()) for x in tracks) for k in range(len(world.bodies))])


def measure_masks(tally: Tally, staged: Staged, masks: Masks) -> Who:
    """Count what the masks find, and return who is who."""
    world, frames = staged.world, staged.frames(masks.times)
    sure = np.asarray(masks.confidence) >= GATE
    overlap = overlaps(staged, masks, frames, sure)
    match = by_clip(overlap)
    moving = going(world)[list(world.objects)]
    visible = overlap.true >= PIXELS
    tally.add("masks.switches", switches(_only(overlap, moving)), 1)
    for n in np.flatnonzero(moving):
        seen = np.flatnonzero(visible[:, n])
        iou = overlap.iou[seen, n, match[n]] if match[n] >= 0 else np.zeros(len(seen))
        tally.add("masks.iou", float(iou.sum()), len(seen))
        tally.sample("masks.iou", iou)
        given = overlap.seen[seen, match[n]] > 0 if match[n] >= 0 else np.zeros(len(seen), dtype=bool)
        tally.add("masks.iou_given", float(iou[given].sum()), int(given.sum()))
        tally.share("masks.recall", iou >= SAME)
    for n in np.flatnonzero(~moving):
        tally.share("masks.resting", [match[n] >= 0])
    kinds = strangers(staged, masks, frames, sure, match)
    for kind in ("piece", "shadow", "ghost"):
        tally.add(f"masks.{kind}", kinds.count(kind), 1)
    tally.add("masks.false", sum(kind in ("piece", "shadow", "ghost") for kind in kinds), 1)
    return Who({masks.names[m]: n for n, m in enumerate(match.tolist()) if m >= 0})


def _only(overlap: Overlap, moving: Bools) -> Overlap:
    return Overlap(overlap.true[:, moving], overlap.seen, overlap.shared[:, moving])


def full_size(mask: Bools, hw: tuple[int, int]) -> Bools:
    """Return a mask at the size of the frame."""
    if mask.shape == hw:
        return mask
    return np.asarray(cv2.resize(mask.astype(np.uint8), (hw[1], hw[0]), interpolation=cv2.INTER_NEAREST) > 0)


def overlaps(staged: Staged, masks: Masks, frames: Indices, sure: Bools) -> Overlap:
    """Return the pixels of the true objects and the perceived ones in the frames of the record."""
    objects = staged.world.objects
    true, seen = np.zeros((len(frames), len(objects))), np.zeros((len(frames), len(masks.names)))
    shared = np.zeros((len(frames), len(objects), len(masks.names)))
    for t, frame in enumerate(frames):
        ids = staged.film.ids[frame]
        true[t] = [np.count_nonzero(ids == k) for k in objects]
        for m in np.flatnonzero(sure[t]):
            mask = full_size(masks.dense(t, int(m)), staged.world.hw)
            seen[t, m] = np.count_nonzero(mask)
            shared[t, :, m] = [np.count_nonzero(mask & (ids == k)) for k in objects]
    return Overlap(true, seen, shared)


def strangers(staged: Staged, masks: Masks, frames: Indices, sure: Bools, match: NDArray[np.int64]) -> list[str]:
    """Return for each perceived object that is no true one what most of its pixels show.

    `piece` of a moving object that another one is already, `resting` object, `decor`, cast `shadow`, or `ghost`:
    ground on which there is nothing.
    """
    world = staged.world
    view = View.regular(world, *world.hw)
    painter, moving, found = Painter(world, view), going(world), []
    for m in range(len(masks.names)):
        where = np.flatnonzero(sure[:, m])
        if m in match or not where.size:
            continue
        share = dict.fromkeys(("piece", "resting", "decor", "shadow", "ghost"), 0)
        for t in where[:: max(1, len(where) // _LOOKED)]:
            mask = full_size(masks.dense(int(t), m), world.hw)
            ids = staged.film.ids[frames[t]]
            dark = painter.surface(world.state(int(frames[t]))).shadow.reshape(world.hw)
            for k in np.unique(ids[mask]).tolist():
                count = int(np.count_nonzero(ids[mask] == k))
                if k >= 0 and world.bodies[k].role != "scenery":
                    decor = world.bodies[k].role == "decor"
                    share["decor" if decor else "piece" if moving[k] else "resting"] += count
                else:
                    shade = int(np.count_nonzero(dark[mask & (ids == k)]))
                    share["shadow"] += shade
                    share["ghost"] += count - shade
        found.append(max(share, key=lambda kind: share[kind]))
    return found


def measure_bodies(tally: Tally, staged: Staged, bodies: Bodies, who: Who) -> None:
    """Count how well places, sizes and presence of the moving objects are known.

    The true centre is the image of the body's centre; the true size is the disc with as many pixels as the object
    would cover if nothing stood before it, in frames in which it does not meet the border.
    """
    world, frames = staged.world, staged.frames(bodies.times)
    truth = staged.bodies
    here = np.asarray(truth.present)[frames]
    moving, indices = going(world)[list(world.objects)], who.indices(bodies.names)
    for n in np.flatnonzero(moving).tolist():
        if n not in indices:
            tally.add("bodies.present_recall", 0, int(here[:, n].sum()))
            tally.add("bodies.centre_given", 0, int(here[:, n].sum()))
    for m, n in enumerate(indices):
        there = np.asarray(bodies.present[:, m], dtype=bool)
        if n == STRANGER or not moving[n]:
            continue
        tally.share("bodies.present_precision", here[there, n])
        tally.share("bodies.present_recall", there[here[:, n]])
        off = np.linalg.norm(np.asarray(bodies.uv[:, m], dtype=float) - truth.uv[frames, n], axis=-1)
        tally.share("bodies.centre_given", np.isfinite(off[here[:, n]]))
        tally.sample("bodies.centre_px", off)
        if not bodies.planar:
            place = np.asarray(bodies.centre[:, m], dtype=float) - truth.centre[frames, n]
            tally.sample("bodies.place", np.linalg.norm(place, axis=-1) / float(truth.diameter[n]))
        whole = here[:, n] & ~_bordering(staged, frames, world.objects[n])
        size = np.sqrt(staged.film.cover[frames, n] / np.pi)
        tally.sample("bodies.size", np.abs(np.asarray(bodies.radius)[whole, m] / size[whole] - 1.0))


def _bordering(staged: Staged, frames: Indices, body: int) -> Bools:
    """Return in which frames (K,) the body meets the border of the picture."""
    out = []
    for frame in frames:
        mine = staged.film.ids[frame] == body
        out.append(bool(mine[[0, -1]].any() or mine[:, [0, -1]].any()))
    return np.array(out, dtype=bool)
