"""Product `masks`: moving objects before a still background, with their identities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import cv2
import numpy as np

from pvbench_suite.perception.embedded.background import LONGEST, Scene, foreground, scene
from pvbench_suite.perception.embedded.blobs import regions
from pvbench_suite.perception.embedded.camera import require_static
from pvbench_suite.perception.embedded.frames import distinct
from pvbench_suite.perception.embedded.ghosts import repaired
from pvbench_suite.perception.embedded.objects import GATE, UNSURE, confidences, judged
from pvbench_suite.perception.embedded.stitching import joined
from pvbench_suite.perception.embedded.tracking import follow
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Masks
from pvbench_suite.video.types import Clip

#: Name of the layer of everything that moves and is not understood.
OTHER = "other motion"


@lru_cache(maxsize=1)
def understood(clip: Clip) -> Scene:
    """Return the scene of `clip` with its repaired background, remembered for the clip seen last."""
    kept = distinct(clip)
    return repaired(scene(clip, kept), pace_of(clip))


def pace_of(clip: Clip) -> float:
    """Return the median time between the distinct frames of `clip` [s] (1/24 for a single frame)."""
    steps = np.diff(clip.times[distinct(clip)])
    return float(np.median(steps)) if steps.size else 1 / 24


@dataclass(frozen=True)
class MovingMasks:
    """Background model, regions, association over time; see `background`, `ghosts`, `tracking`, `objects`."""

    name: str = "embedded-masks@1"
    product: str = "masks"
    needs: tuple[str, ...] = ()
    parameters: ClassVar[Mapping[str, Parameter]] = {"longest": LONGEST}

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Masks:
        """Return the moving objects of `clip`, in order of appearance; those below 0.10 may only hide others.

        Raises
        ------
        NotPerceived
            If the camera moves or the clip is cut.
        """
        cv2.setNumThreads(1)
        require_static(clip)
        kept, pace = distinct(clip), pace_of(clip)
        world = understood(clip)
        found = [regions(foreground(world, t), world.stack[t]) for t in range(len(kept))]
        objects = judged(world, joined(follow(found, world.stack, pace), pace), found, pace)
        sure = [(path, share) for path, share in objects if share >= GATE]
        size = (world.background.shape[0], world.background.shape[1])
        dense = np.zeros((len(kept), len(sure) + (len(sure) < len(objects)), *size), dtype=bool)
        for n, (path, _) in enumerate(sure):
            for t, region in path.seen.items():
                dense[t, n] = region.paste(size)
        names = [f"object {n + 1}" for n in range(len(sure))]
        confidence = np.zeros(dense.shape[:2], dtype=np.float32)
        confidence[:, : len(sure)] = confidences(sure, len(kept))
        if len(sure) < len(objects):
            # what moves but is no body that could be followed: one layer, which may hide others
            for path, share in objects:
                if share < GATE:
                    for t, region in path.seen.items():
                        dense[t, -1] |= region.paste(size)
            dense[:, -1] &= ~dense[:, :-1].any(axis=1)
            names.append(OTHER)
            confidence[:, -1] = np.where(dense[:, -1].any(axis=(1, 2)), UNSURE, 0.0)
        times = np.asarray(clip.times[kept], dtype=float)
        return Masks.from_dense(times, dense, tuple(names), clip.hw, confidence)
