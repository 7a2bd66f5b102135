"""Product `tracks`: corners followed through the clip, forward and back, owned by the moving object they lie on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.camera import to_reference
from pvbench_suite.perception.embedded.corners import Points, follow
from pvbench_suite.perception.embedded.frames import Bytes, distinct, luma, shrink, to_full
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Masks, Tracks
from pvbench_suite.video.types import Clip

#: Working size [px]; corners sought on the background and on each object; how often new ones are sought [s].
LONGEST, BACKGROUND, PER_OBJECT, RENEW = 480, 80, 30, 0.5


@dataclass(frozen=True)
class KltTracks:
    """Pyramidal Lucas-Kanade, checked forward and back; a point is lost for good when the check fails."""

    name: str = "embedded-tracks@1"
    product: str = "tracks"
    needs: tuple[str, ...] = ("masks",)
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "longest": LONGEST, "background": BACKGROUND, "per_object": PER_OBJECT, "renew": RENEW,
    }  # fmt: skip

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Tracks:
        """Return the tracks [px of the image]; under a moving camera those of the background move too.

        Raises
        ------
        NotPerceived
            As the masks.
        """
        cv2.setNumThreads(1)
        to_reference(clip)
        masks: Masks = records["masks"]
        kept = distinct(clip)
        images = [shrink(luma(clip.frames[k]), LONGEST) for k in kept]
        step = float(np.median(np.diff(masks.times))) if len(kept) > 1 else RENEW
        every = max(1, round(RENEW / step))
        paths: list[NDArray[np.float64]] = []
        owners: list[int] = []
        alive: list[int] = []
        for t, image in enumerate(images):
            alive = _advanced(images, t, paths, alive) if t else []
            if t % every == 0:
                labels = cv2.resize(masks.labels(t), (image.shape[1], image.shape[0]), interpolation=cv2.INTER_NEAREST)
                fresh = _sought(image, labels, paths, owners, alive, t, len(images))
                alive += fresh
        return _record(clip, masks, images, paths, owners)


def _advanced(images: list[Bytes], t: int, paths: list[NDArray[np.float64]], alive: list[int]) -> list[int]:
    """Follow the points that are alive into frame `t`; return those that still are."""
    if not alive:
        return []
    here: Points = np.array([paths[k][t - 1] for k in alive], dtype=np.float32)
    before = np.array([paths[k][t - 2] if t > 1 else paths[k][t - 1] for k in alive])
    guess = np.where(np.isfinite(before), 2.0 * here - before, here).astype(np.float32)
    there, ok = follow(images[t - 1], images[t], here, guess)
    for k, place, good in zip(alive, there, ok, strict=True):
        if good:
            paths[k][t] = place
    return [k for k, good in zip(alive, ok, strict=True) if good]


def _sought(
    image: Bytes, labels: NDArray[np.int32], paths: list[NDArray[np.float64]], owners: list[int], alive: list[int],
    t: int, frames: int,
) -> list[int]:  # fmt: skip
    """Start new points on objects and background that have too few; return their indices."""
    fresh: list[int] = []
    taken = [paths[k][t] for k in alive]
    for label in range(int(labels.max()) + 1):
        here = (labels == label).astype(np.uint8)
        zone = cv2.erode(here, np.ones((3, 3), np.uint8)) if label else cv2.erode(here, np.ones((9, 9), np.uint8))
        for x, y in taken:
            cv2.circle(zone, (round(float(x)), round(float(y))), 4, 0, -1)
        have = sum(owners[k] == label - 1 for k in alive)
        want = (PER_OBJECT if label else BACKGROUND) - have
        found = cv2.goodFeaturesToTrack(image, want, 0.01, 5, mask=zone) if want > 0 and zone.any() else None
        for point in () if found is None else found[:, 0]:
            path = np.full((frames, 2), np.nan)
            path[t] = point
            paths.append(path)
            owners.append(label - 1)
            fresh.append(len(paths) - 1)
    return fresh


def _record(
    clip: Clip, masks: Masks, images: list[Bytes], paths: list[NDArray[np.float64]], owners: list[int]
) -> Tracks:
    """Return the record; where a point is lost its place is NaN and it is not visible."""
    grid = (images[0].shape[0], images[0].shape[1])
    uv = np.stack(paths, axis=1) if paths else np.zeros((len(images), 0, 2))
    full = to_full(uv, grid, clip.hw) if uv.size else uv
    visible = np.asarray(np.isfinite(full).all(axis=-1), dtype=bool)
    return Tracks(
        np.asarray(masks.times),
        full.astype(np.float32),
        visible,
        np.array(owners, dtype=np.int64),
        masks.names,
        clip.hw,
    )
