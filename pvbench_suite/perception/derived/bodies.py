"""Product `bodies`: world centres, sizes and orientations from masks, depth, cameras and tracked points.

A ball's centre is exact (`balls`).  Of any other body only the side toward the camera is seen: its centre is put two
thirds of the radius of a disc of its area behind the median of its visible surface, along its mask's mean direction,
which is a ball's; a body that is deeper or flatter is off along the ray by the difference, about constantly while it
does not turn.  Where tracked points tell the pose, the centre is one point of the body, so that a turn does not move
it.  A box is known by its faces (`boxes`), and has its true centre.  What is hidden in part or cut by the frame is
present, but its centre is missing, save a ball's, whose visible part tells it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pvbench_suite.perception.derived import outline as outlines_
from pvbench_suite.perception.derived.balls import POINTS, ROUND, STRAY, balls
from pvbench_suite.perception.derived.boxes import FLAT, box
from pvbench_suite.perception.derived.outline import GATE, PIXELS, Outline, half_angle
from pvbench_suite.perception.derived.poses import poses
from pvbench_suite.perception.derived.scene import Floats, Scene, scene
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.stretches import USUAL, usual
from pvbench_suite.perception.types import Bodies, Tracks
from pvbench_suite.video.types import Clip

#: A mask with less than this share of the object's usual solid angle shows a part of it.
PART = 0.8
#: A ball's visible surface lies on average two thirds of its radius before its centre.
DEEP = 2.0 / 3.0
#: Poses that cover this share of the frames that show all of an object place it.
KNOWN = 0.8


class _Body(NamedTuple):
    """One body: world centres (T, 3), diameter, shape, R (T, 3, 3), half extents (3,)."""

    centre: Floats
    diameter: float
    shape: str
    R: Floats
    half: Floats


@dataclass(frozen=True)
class SurfaceBodies:
    """Centres, sizes and poses of the masked objects."""

    name: str = "derived-bodies@1"
    product: str = "bodies"
    needs: tuple[str, ...] = ("masks", "depth", "cameras", "tracks")
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "gate": GATE, "pixels": PIXELS, "round": ROUND, "stray": STRAY, "points": POINTS, "part": PART, "usual": USUAL,
        "deep": DEEP, "known": KNOWN, "flat": FLAT,
    }  # fmt: skip

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Bodies:
        """Return the bodies of the masks."""
        seen = scene(records["masks"], records["depth"], records["cameras"])
        outline = outlines_.outlines(seen)
        made = [_body(seen, outline, records["tracks"], n) for n in range(len(seen.names))]
        return _record(seen, outline, made)


def _body(seen: Scene, outline: Outline, tracks: Tracks, n: int) -> _Body:
    """Return the body of object `n`."""
    T = len(seen.times)
    pose = poses(_points(tracks, n)) if tracks.xyz is not None else None
    R = np.full((T, 3, 3), np.nan) if pose is None else pose[0]
    found = balls(seen, outline, n)
    if found is not None:
        local, radius, _ = found
        return _Body(_to_world(seen, local), 2.0 * radius, "sphere", R, np.full(3, radius))
    local, size = _blob(seen, outline, n)
    centre = _to_world(seen, local)
    diameter = float(np.nanmedian(size)) if np.isfinite(size).any() else np.nan
    unknown = np.full(3, np.nan)
    both = 0 if pose is None else np.isfinite(pose[1][:, 0] + centre[:, 0]).sum()
    if pose is None or both == 0 or both < KNOWN * np.isfinite(centre[:, 0]).sum():
        return _Body(centre, diameter, "other", R, unknown)
    p = pose[1]
    solid = box(seen, outline, n, R, p)
    if solid is not None:
        turned = R @ solid.axes
        return _Body(p + R @ solid.centre, 2.0 * float(solid.half.max()), "box", turned, solid.half)
    own = np.einsum("tji,tj->ti", R, centre - p)
    middle = np.nanmedian(own, axis=0)
    return _Body(p + R @ middle, diameter, "other", R, unknown)


def _points(tracks: Tracks, n: int) -> Floats:
    """Return the world points (T, P, 3) of object `n`, NaN where they are not visible."""
    mine = tracks.of(n)
    visible = np.asarray(tracks.visible[:, mine], dtype=bool)
    return np.where(visible[..., None], np.asarray(tracks.xyz)[:, mine].astype(float), np.nan)


def _blob(seen: Scene, outline: Outline, n: int) -> tuple[Floats, Floats]:
    """Return the centres (T, 3) in the cameras' frames and longest extents (T,) of a body of unknown shape.

    Frames that do not show all of it are NaN.
    """
    whole = outline.seen[:, n] & ~outline.cut[:, n] & ~outline.hidden[:, n]
    omega = np.where(whole, outline.omega[:, n], np.nan)
    whole &= outline.omega[:, n] >= PART * usual(omega, seen.times)
    centre, size = np.full((len(whole), 3), np.nan), np.full(len(whole), np.nan)
    for t in np.flatnonzero(whole).tolist():
        points = seen.surface(t, n)
        if not len(points):
            continue
        front = float(np.median(np.linalg.norm(points, axis=1)))
        angle = float(np.sin(half_angle(outline.omega[t, n])))
        far = front / (1.0 - DEEP * angle)
        size[t], centre[t] = far * longest(seen.rim(t, n)), far * outline.axis[t, n]
    return centre, size


def longest(rim: Floats) -> float:
    """Return the longest extent that points `rim` (k, 3) of an outline show, as a share of their distance."""
    unit = rim / np.linalg.norm(rim, axis=1, keepdims=True)
    some = unit[np.linspace(0, len(unit) - 1, min(200, len(unit))).astype(int)]
    return float(np.sqrt(np.maximum(2.0 - 2.0 * (some @ some.T), 0.0)).max())


def _to_world(seen: Scene, local: Floats) -> Floats:
    return np.stack([seen.world(t, local[t]) for t in range(len(local))])


def _record(seen: Scene, outline: Outline, made: list[_Body]) -> Bodies:
    """Return the record of the bodies."""
    T, N = outline.seen.shape
    scale = np.array([seen.masks.hw[1] / seen.masks.grid[1], seen.masks.hw[0] / seen.masks.grid[0]])
    centre = np.stack([b.centre for b in made], axis=1) if N else np.zeros((T, 0, 3))
    centre[~outline.seen] = np.nan
    uv, z = np.full((T, N, 2), np.nan), np.full((T, N), np.nan)
    for t in range(T):
        uv[t], z[t] = seen.pixels(t, centre[t])
    diameter = np.array([b.diameter for b in made])
    disc = np.stack([_disc(seen, outline, made[n], n, z[:, n]) for n in range(N)], axis=1) if N else np.zeros((T, 0))
    return Bodies(
        seen.times, centre, (uv + 0.5) * scale - 0.5, disc * scale[0], z, outline.seen.copy(), diameter, seen.names,
        tuple(b.shape for b in made), seen.masks.hw,
        R=np.stack([b.R for b in made], axis=1) if N else np.zeros((T, 0, 3, 3)),
        half=np.stack([b.half for b in made]) if N else np.zeros((0, 3)),
    )  # fmt: skip


def _disc(seen: Scene, outline: Outline, body: _Body, n: int, z: Floats) -> Floats:
    """Return the radius (T,) [px of the masks' grid] of a disc of the extent of object `n`, known where its depth is.

    A ball's own; of anything else the disc of its area where all of it shows, at the depth of the frame.
    """
    if body.shape == "sphere":
        return np.asarray(0.5 * body.diameter * seen.K[0, 0] / z)
    area = np.sqrt(outline.spot[:, n] / np.pi)
    whole = outline.seen[:, n] & ~outline.cut[:, n] & ~outline.hidden[:, n] & np.isfinite(z)
    return np.asarray(np.median((area * z)[whole]) / z if whole.any() else np.where(np.isfinite(z), area, np.nan))
