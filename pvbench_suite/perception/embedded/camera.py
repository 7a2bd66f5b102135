"""Whether the clip is one shot, and how the camera moves before the static background.

What this profile cannot look through, it refuses here.

Conventions
-----------
Whether the camera stands still is asked of corners of the middle frame in frames about 1/8 s apart.  Where the picture
has too little texture to show a camera motion, the camera counts as still: nothing says otherwise.  A camera that
pans, tilts, rolls, zooms or shakes is followed by one homography per frame (`egomotion.py`), which is exact where it
only turns and zooms, or where the background is flat; a camera that travels through a scene with depth is refused.
Motion is in percent of the diagonal.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.embedded.corners import CELLS_LEAST, Points, corners, follow, normalized
from pvbench_suite.perception.embedded.egomotion import Egomotion, applied, egomotion
from pvbench_suite.perception.embedded.frames import Bytes, Floats, Indices, distinct, luma, shrink
from pvbench_suite.perception.embedded.shots import cut
from pvbench_suite.video.types import Clip

#: Working size [px], and the interval between tested frames [s].
LONGEST, STEP = 480, 0.125
#: A corner within this distance of its place has not moved [px]; a model that fits within this is agreed to [px].
STILL, AGREE = 0.7, 1.5
#: A frame is still when this share of the corners is, or when the agreed motion is below this [% of the diagonal].
STILL_SHARE, STILL_MOTION, AGREE_SHARE = 0.15, 0.4, 0.12
#: This share of the frames may disagree (an object before the lens, a flash).
FRAMES_ASTRAY = 0.05
#: A moving camera is followed when a frame's background agrees in this share of the cells ...
FOLLOWED = 0.5
#: ... and when in most frames (70th percentile) and in a bad one (90th) no more of the corners found are elsewhere.
APART, APART_WORST = 0.2, 0.35
#: Largest canvas that the frames may spread over, in areas of a frame; least and largest change of scale.
SPREAD, ZOOM = 6.0, 2.5

PARALLAX = "the camera moves through a scene with depth (parallax)"
REMEDY = "use a profile with depth and cameras, for example --pv-perception reference"


def _agreed(points: Points, there: Points, size: tuple[int, int]) -> tuple[float, int]:
    """Return the motion of the frame's corners [% of the diagonal] under the best affine model, and how many agree."""
    if len(points) < 8:
        return np.inf, 0
    model, inliers = cv2.estimateAffine2D(points, there, ransacReprojThreshold=AGREE)
    if model is None:
        return np.inf, 0
    h, w = size
    frame = np.array([[0, 0], [w, 0], [0, h], [w, h]], dtype=float)
    shift = frame @ model[:, :2].T + model[:, 2] - frame
    return float(100.0 * np.linalg.norm(shift, axis=1).max() / np.hypot(h, w)), int(inliers.sum())


def _normalized(clip: Clip, index: int) -> Bytes:
    return normalized(luma(shrink(clip.frames[index], LONGEST)))


def _astray(clip: Clip, kept: Indices) -> float:
    """Return the share of the tested frames in which the background is not where it is in the reference frame."""
    times = clip.times[kept]
    tested = kept[
        np.unique(np.searchsorted(times, np.arange(times[0], times[-1] + 1e-9, STEP)).clip(max=len(kept) - 1))
    ]
    reference = _normalized(clip, int(kept[len(kept) // 2]))
    points, cell = corners(reference)
    cells = len(np.unique(cell))
    if cells < CELLS_LEAST:
        return 0.0
    astray = 0
    for order in (tested[tested >= kept[len(kept) // 2]], tested[tested < kept[len(kept) // 2]][::-1]):
        guess = points.copy()
        for k in order:
            there, found = follow(reference, _normalized(clip, int(k)), points, guess)
            guess = np.where(found[:, None], there, guess)
            still = found & (np.linalg.norm(there - points, axis=1) < STILL)
            spread = len(np.unique(cell[still])) >= cells / 4
            if spread and still.sum() >= STILL_SHARE * len(points):
                continue
            motion, agreed = _agreed(points[found], there[found], reference.shape)
            astray += not (motion <= STILL_MOTION and agreed >= AGREE_SHARE * len(points))
    return astray / max(len(tested), 1)


def _unfit(motion: Egomotion | None, size: tuple[int, int]) -> str:
    """Return why the frames of a moving camera cannot be laid on one picture, or an empty text where they can."""
    if motion is None:
        return "the camera moves before too little texture to follow"
    lost = motion.agreed < FOLLOWED
    apart = motion.apart[~lost]
    if np.mean(lost) < 0.5 and (np.percentile(apart, 70) > APART or np.percentile(apart, 90) > APART_WORST):
        return PARALLAX
    if np.mean(lost) > FRAMES_ASTRAY:
        return "the camera moves or the picture changes, and nothing that stands still can be followed"
    h, w = size
    frame = np.array([[0, 0], [w, 0], [w, h], [0, h]], dtype=float)
    outlines = np.stack([applied(m, frame) for m in motion.to_reference])
    sides = np.linalg.norm(outlines - np.roll(outlines, 1, axis=1), axis=-1) / [h, w, h, w]
    span = np.ptp(outlines.reshape(-1, 2), axis=0)
    if not np.isfinite(span).all() or span.prod() > SPREAD * h * w or sides.max() > ZOOM or sides.min() < 1.0 / ZOOM:
        return "the camera turns or zooms too far for one picture plane"
    return ""


@lru_cache(maxsize=1)
def _view(clip: Clip) -> tuple[str, Floats | None]:
    """Return why `clip` cannot be looked through (or an empty text), and the homographies of a moving camera."""
    kept = distinct(clip)
    if len(kept) < 2:
        return "", None
    when = cut(clip, kept)
    if when is not None:
        return f"the clip is cut at {when:.2f} s", None
    if _astray(clip, kept) <= FRAMES_ASTRAY:
        return "", None
    images = [_normalized(clip, int(k)) for k in kept]
    motion = egomotion(images, max(1, round(STEP / float(np.median(np.diff(clip.times[kept]))))))
    what = _unfit(motion, (images[0].shape[0], images[0].shape[1]))
    return what, None if motion is None or what else motion.to_reference


def to_reference(clip: Clip) -> Floats | None:
    """Return the homographies (K, 3, 3) from the distinct frames of `clip` to its middle one; None = a still camera.

    They map homogeneous pixels (x, y, 1) of the working grid, long side `LONGEST`.

    Raises
    ------
    NotPerceived
        With what is wrong and the profile that could see it: the clip is cut, or the camera moves in a way that no
        homography describes.
    """
    what, motion = _view(clip)
    if what:
        raise NotPerceived(what, REMEDY)
    return motion
