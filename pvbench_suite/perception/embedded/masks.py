"""Product `masks`: moving objects before a still background, with their identities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.embedded.background import LONGEST, Scene, scene
from pvbench_suite.perception.embedded.blobs import regions
from pvbench_suite.perception.embedded.camera import PARALLAX, REMEDY, to_reference
from pvbench_suite.perception.embedded.canvas import Canvas, canvas_of, in_full
from pvbench_suite.perception.embedded.frames import distinct, shrink
from pvbench_suite.perception.embedded.ghosts import repaired
from pvbench_suite.perception.embedded.lamp import lit
from pvbench_suite.perception.embedded.objects import GATE, UNSURE, coherent, confidences, judged
from pvbench_suite.perception.embedded.parallax import against_camera
from pvbench_suite.perception.embedded.residue import left_behind
from pvbench_suite.perception.embedded.shadows import foreground
from pvbench_suite.perception.embedded.stitching import joined
from pvbench_suite.perception.embedded.tracking import Path, follow
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Masks
from pvbench_suite.video.types import Clip

Bits = NDArray[np.bool_]

#: Name of the layer of everything that moves and is not understood.
OTHER = "other motion"


@lru_cache(maxsize=1)
def understood(clip: Clip) -> tuple[Scene, Canvas | None]:
    """Return the scene of `clip` with its repaired background, and the canvas of a moving camera.

    It is remembered for the clip seen last.

    Raises
    ------
    NotPerceived
        If the clip is cut, or its camera moves in a way that no homography describes.
    """
    kept, motion = distinct(clip), to_reference(clip)
    h, w = shrink(clip.frames[0], LONGEST).shape[:2]
    canvas = None if motion is None else canvas_of(motion, (h, w))
    return repaired(scene(clip, kept, canvas), pace_of(clip)), canvas


def pace_of(clip: Clip) -> float:
    """Return the median time between the distinct frames of `clip` [s] (1/24 for a single frame)."""
    steps = np.diff(clip.times[distinct(clip)])
    return float(np.median(steps)) if steps.size else 1 / 24


@dataclass(frozen=True)
class MovingMasks:
    """Background model, regions, association over time; see `background`, `ghosts`, `tracking`, `objects`.

    Where the camera moves, all of that happens on the canvas of its reference frame.
    """

    name: str = "embedded-masks@3"
    product: str = "masks"
    needs: tuple[str, ...] = ()
    parameters: ClassVar[Mapping[str, Parameter]] = {"longest": LONGEST}

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Masks:
        """Return the moving objects of `clip`, in order of appearance, and what else moves beside them as one layer.

        The layer has a confidence below the object gate: it may hide others and is never judged.  A clip in which no
        body can be followed (hands, water, a crowd) has no objects.

        Raises
        ------
        NotPerceived
            If the clip is cut, or its camera moves in a way that no homography describes.
        """
        cv2.setNumThreads(1)
        world, canvas = understood(clip)
        kept, pace = distinct(clip), pace_of(clip)
        strange = lit(world, [foreground(world, t) for t in range(len(kept))])
        found = [regions(mask, world.stack[t]) for t, mask in enumerate(strange)]
        pieces = follow(found, world.stack, pace)
        count = len(pieces)
        objects = judged(world, joined(pieces, pace), found, count, pace) if coherent(found, count, pace) > 0 else []
        bodies = [path for path, share in objects if share >= GATE]
        objects = [(path, share) for path, share in objects if not left_behind(world, path, bodies)]
        sure = [(path, share) for path, share in objects if share >= GATE]
        if canvas is not None and any(against_camera(path, canvas) for path, _ in sure):
            raise NotPerceived(PARALLAX, REMEDY)
        unsure = [path for path, share in objects if share < GATE] if sure else []
        dense = _dense(world, canvas, [path for path, _ in sure], unsure)
        names = [f"object {n + 1}" for n in range(len(sure))] + [OTHER] * bool(unsure)
        confidence = np.zeros(dense.shape[:2], dtype=np.float32)
        confidence[:, : len(sure)] = confidences(sure, len(kept))
        if unsure:
            confidence[:, -1] = np.where(dense[:, -1].any(axis=(1, 2)), UNSURE, 0.0)
        times = np.asarray(clip.times[kept], dtype=float)
        motion = None if canvas is None else in_full(canvas.to_reference, canvas.frame, clip.hw)
        return Masks.from_dense(times, dense, tuple(names), clip.hw, confidence, motion)


def _dense(world: Scene, canvas: Canvas | None, paths: list[Path], unsure: list[Path]) -> Bits:
    """Return the masks (T, N, h, w) of `paths` on the grid of the frames, with those of `unsure` as one last layer."""
    size = (world.background.shape[0], world.background.shape[1])
    frame = size if canvas is None else canvas.frame
    dense = np.zeros((len(world.stack), len(paths) + bool(unsure), *frame), dtype=bool)

    def pasted(path: Path, t: int) -> Bits:
        whole = path.seen[t].paste(size)
        return whole if canvas is None else canvas.back(t, whole)

    for n, path in enumerate(paths):
        for t in path.seen:
            dense[t, n] = pasted(path, t)
    # what moves but is no body that could be followed: one layer, which may hide others
    for path in unsure:
        for t in path.seen:
            dense[t, -1] |= pasted(path, t)
    if unsure:
        dense[:, -1] &= ~dense[:, :-1].any(axis=1)
    return dense
