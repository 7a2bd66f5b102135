"""Perception records: what a provider returns and a dimension test unpacks.

Conventions
-----------
Letters: T frames, N objects, P points, C contacts, M sampled frames or frame pairs, h and w rows and columns of a
working
grid.  World = first camera: x right, y down, z forward, any scale unless `metric`.  Image points are ``(x, y)`` in
pixels of
the full frame `hw` = (H, W) [px], centres on integers.  Times are container timestamps [s].  A missing number is NaN; a
missing array is None.  Records are frozen, checked on construction, and hold nothing but arrays, strings, numbers and
bools, so that the cache can write them without knowing them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, get_type_hints

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as rle_codec

from pvbench_suite.errors import PVBenchError

Array = NDArray[Any]

#: Raised in cache keys: a change of any record's meaning must change this.
SCHEMA_VERSION = 1


class RecordError(PVBenchError):
    """A record's arrays do not have the promised shapes; says wanted and got."""


@dataclass(frozen=True, eq=False)
class Record:
    """Base of all records: checks the shapes that the subclass promises in `shapes`."""

    #: Field name -> dimension letters; equal letters must agree, digits are literal.
    shapes: ClassVar[dict[str, str]] = {}
    product: ClassVar[str] = ""

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        if hasattr(self, "names"):
            sizes["N"] = len(self.names)
        for name, letters in self.shapes.items():
            array = getattr(self, name)
            if array is None:
                continue
            wanted = letters.split()
            got = np.shape(array)
            if len(got) != len(wanted) or any(
                size != (int(letter) if letter.isdigit() else sizes.setdefault(letter, size))
                for letter, size in zip(wanted, got, strict=True)
            ):
                known = " ".join(str(sizes.get(letter, letter)) for letter in wanted)
                raise RecordError(f"{type(self).__name__}.{name}: wanted shape ({letters}) = ({known}), got {got}")

    @classmethod
    def array_fields(cls) -> tuple[str, ...]:
        """Return the names of the fields that hold arrays (or None)."""
        return tuple(cls.shapes)

    @classmethod
    def plain_fields(cls) -> tuple[str, ...]:
        """Return the names of the fields that hold strings, numbers, bools or tuples of them."""
        hints = get_type_hints(cls)
        return tuple(f.name for f in fields(cls) if f.name not in cls.shapes and f.name in hints)


_BATCH = 200


def _encode(mask: NDArray[np.bool_]) -> bytes:
    """Return the compressed COCO run-length string of one (h, w) mask."""
    encoded: Any = rle_codec.encode(np.asfortranarray(mask, dtype=np.uint8))
    return bytes(encoded["counts"])


@dataclass(frozen=True, eq=False)
class Masks(Record):
    """Object masks as COCO run lengths, one per frame and object (empty where the object is not seen).

    `counts` holds all compressed RLE strings end to end; string k = t N + n spans ``offsets[k]:offsets[k+1]``.
    `confidence` is the detector's, in [0, 1], 0 where there is no detection.  `stabilisation` are homographies from the
    pixels of each frame to those of a reference frame [px of the full frames], in which the static background stands
    still; None where the camera does, or where its motion is known otherwise (`Cameras`).
    """

    times: Array
    counts: Array
    offsets: Array
    confidence: Array
    grid: tuple[int, int]
    hw: tuple[int, int]
    names: tuple[str, ...]
    stabilisation: Array | None = None

    product = "masks"
    shapes = {"times": "T", "counts": "B", "offsets": "K", "confidence": "T N", "stabilisation": "T 3 3"}

    @classmethod
    def from_dense(
        cls, times: Array, dense: Array, names: tuple[str, ...], hw: tuple[int, int],
        confidence: Array | None = None, stabilisation: Array | None = None,
    ) -> Masks:  # fmt: skip
        """Return the record of `dense` (T, N, h, w) bool masks."""
        frames, objects, h, w = dense.shape
        strings = [_encode(dense[t, n]) for t in range(frames) for n in range(objects)]
        offsets = np.concatenate([[0], np.cumsum([len(s) for s in strings], dtype=np.int64)]).astype(np.int64)
        seen = dense.any(axis=(2, 3))
        certain = confidence if confidence is not None else np.asarray(seen, dtype=np.float32)
        counts = np.frombuffer(b"".join(strings), dtype=np.uint8)
        return cls(times, counts, offsets, certain, (h, w), hw, names, stabilisation)

    def dense(self, t: int, n: int) -> NDArray[np.bool_]:
        """Return the (h, w) bool mask of object `n` in frame `t`."""
        return np.asarray(rle_codec.decode(self._rle(t, n))).astype(bool)

    def _rle(self, t: int, n: int) -> Any:
        k = t * len(self.names) + n
        raw = self.counts[self.offsets[k] : self.offsets[k + 1]].tobytes()
        return {"size": list(self.grid), "counts": raw}

    def area(self) -> NDArray[np.float64]:
        """Return the area of each mask as a share of the frame, (T, N) in [0, 1]."""
        frames, objects = self.confidence.shape
        strings = [self._rle(t, n) for t in range(frames) for n in range(objects)]
        # pycocotools 2.0.11 keeps the number of masks in a byte under numpy 2: never hand it more than 255.
        parts = [rle_codec.area(strings[k : k + _BATCH]) for k in range(0, len(strings), _BATCH)]
        areas = np.concatenate([np.asarray(part, dtype=float) for part in parts]) if parts else np.zeros(0)
        return areas.reshape(frames, objects) / (self.grid[0] * self.grid[1])

    def labels(self, t: int) -> NDArray[np.int32]:
        """Return the (h, w) label map of frame `t`: 0 = background, n + 1 = object n (the later wins an overlap)."""
        out = np.zeros(self.grid, dtype=np.int32)
        for n in range(len(self.names)):
            out[self.dense(t, n)] = n + 1
        return out

    def moments(self, n: int) -> NDArray[np.float64]:
        """Return the second central moments (T, 2, 2) [px^2 of the full frame] of object `n`; NaN where unseen."""
        scale = np.array([self.hw[1] / self.grid[1], self.hw[0] / self.grid[0]])
        out = np.full((len(self.times), 2, 2), np.nan)
        for t in range(len(self.times)):
            rows, columns = np.nonzero(self.dense(t, n))
            if len(rows) >= 3:
                out[t] = np.cov(np.stack([columns, rows]) * scale[:, None], bias=True)
        return out


@dataclass(frozen=True, eq=False)
class Depth(Record):
    """Depth along the optical axis on a grid that spans the frame; `K` is for the pixels of that grid."""

    times: Array
    z: Array
    K: Array
    hw: tuple[int, int]
    metric: bool = False

    product = "depth"
    shapes = {"times": "T", "z": "T h w", "K": "3 3"}

    def at(self, times: Array) -> NDArray[np.float64]:
        """Return depth (M, h, w) of the frames nearest to `times` (M,) [s]."""
        index = np.abs(self.times[None, :] - np.asarray(times)[:, None]).argmin(axis=1)
        return np.asarray(self.z[index], dtype=float)


@dataclass(frozen=True, eq=False)
class Normals(Record):
    """Unit surface normals in the camera frame at some frames, on the grid of the depth; `valid` where known."""

    times: Array
    normals: Array
    hw: tuple[int, int]
    valid: Array | None = None

    product = "normals"
    shapes = {"times": "M", "normals": "M h w 3", "valid": "M h w"}


@dataclass(frozen=True, eq=False)
class Cameras(Record):
    """Pinhole `K` for the full frame [px] and camera-to-world poses per frame."""

    times: Array
    K: Array
    Tcw: Array
    hw: tuple[int, int]

    product = "cameras"
    shapes = {"times": "T", "K": "3 3", "Tcw": "T 4 4"}

    @property
    def centres(self) -> NDArray[np.float64]:
        """Camera centres in the world, (T, 3)."""
        return np.asarray(self.Tcw[:, :3, 3], dtype=float)


@dataclass(frozen=True, eq=False)
class Tracks(Record):
    """Points followed through the clip.

    `uv` (T, P, 2) [px], `visible` (T, P) bool, `owner` (P,) index into `names`, -1 = static background.  `z` (T, P)
    depth at
    the point and `xyz` (T, P, 3) world points are None where the profile is planar.  `xyz` comes from the tracker's own
    depth; R19 compares it with `z`, cameras and `uv`.
    """

    times: Array
    uv: Array
    visible: Array
    owner: Array
    names: tuple[str, ...]
    hw: tuple[int, int]
    z: Array | None = None
    xyz: Array | None = None

    product = "tracks"
    shapes = {"times": "T", "uv": "T P 2", "visible": "T P", "owner": "P", "z": "T P", "xyz": "T P 3"}

    def of(self, n: int) -> NDArray[np.intp]:
        """Return the indices of the points of object `n` (-1: background)."""
        return np.flatnonzero(self.owner == n)


@dataclass(frozen=True, eq=False)
class Flow(Record):
    """Forward and backward optical flow of frame pairs about 1/12 s apart [px of the grid], with the luma they join.

    `frame0`, `frame1` are indices of the pair in the clip.  `luma0`, `luma1` are 0..255.
    """

    times: Array
    frame0: Array
    frame1: Array
    forward: Array
    backward: Array
    luma0: Array
    luma1: Array
    hw: tuple[int, int]

    product = "flow"
    shapes = {
        "times": "M",
        "frame0": "M",
        "frame1": "M",
        "forward": "M h w 2",
        "backward": "M h w 2",
        "luma0": "M h w",
        "luma1": "M h w",
    }


@dataclass(frozen=True, eq=False)
class Bodies(Record):
    """One row per object and frame: where it is, how large, how turned.

    `centre` (T, N, 3) world, `uv` (T, N, 2) [px], `radius` (T, N) [px] of a disc of the same extent, `z` (T, N) depth,
    `present` (T, N) bool = seen with its identity kept, `diameter` (N,) in world units.  `R` (T, N, 3, 3) object to
    world
    and `half` (N, 3) half extents are None without a pose.  `shape` names each body's shape for its symmetry
    ("sphere", "box", "cylinder", "other").  `planar`: world = image plane in pixels, z = 0; depth unknown (NaN).
    `across` (T, N), planar worlds: half width of the silhouette across the motion [px of the world]; None: unknown.
    """

    times: Array
    centre: Array
    uv: Array
    radius: Array
    z: Array
    present: Array
    diameter: Array
    names: tuple[str, ...]
    shape: tuple[str, ...]
    hw: tuple[int, int]
    R: Array | None = None
    half: Array | None = None
    planar: bool = False
    across: Array | None = None

    product = "bodies"
    shapes = {
        "times": "T",
        "centre": "T N 3",
        "uv": "T N 2",
        "radius": "T N",
        "z": "T N",
        "present": "T N",
        "diameter": "N",
        "R": "T N 3 3",
        "half": "N 3",
        "across": "T N",
    }

    def rays(self, cameras: Cameras | None) -> NDArray[np.float64] | None:
        """Return unit rays (T, N, 3) from the camera centres to the objects; None for a planar world."""
        if self.planar or cameras is None:
            return None
        line = self.centre - cameras.centres[:, None, :]
        return np.asarray(line / np.linalg.norm(line, axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Contacts(Record):
    """Who touches whom and when, who flies freely, who is driven, and which way is down.

    `when` (C,) [s]; `first`, `second` (C,) indices into `names`, `second` = -1 for the fixed surroundings.  `airborne`
    (T, N) and `driven` (T, N) bool.  `down` (3,) unit direction of gravity in the world, or None; `down_source` says
    where
    from ("truth", "image axis", ...).  `planes` (K, 4): n, d with n.x + d = signed distance to a fixed surface,
    positive
    on the free side.  `pivot` (N, 3) world point of suspension, NaN where none.
    """

    times: Array
    when: Array
    first: Array
    second: Array
    airborne: Array
    driven: Array
    names: tuple[str, ...]
    down: Array | None = None
    planes: Array | None = None
    pivot: Array | None = None
    down_source: str = ""

    product = "contacts"
    shapes = {
        "times": "T",
        "when": "C",
        "first": "C",
        "second": "C",
        "airborne": "T N",
        "driven": "T N",
        "down": "3",
        "planes": "K 4",
        "pivot": "N 3",
    }

    def of(self, n: int) -> NDArray[np.float64]:
        """Return the times [s] of all contacts of object `n`."""
        mine = (self.first == n) | (self.second == n)
        return np.sort(np.asarray(self.when[mine], dtype=float))

    def flights(self, n: int) -> list[slice]:
        """Return the runs of frames in which object `n` flies freely, cut at its contacts."""
        free = np.asarray(self.airborne[:, n], dtype=bool) & ~np.asarray(self.driven[:, n], dtype=bool)
        cut = np.zeros(len(free) + 1, dtype=bool)
        for when in self.of(n):
            cut[int(np.searchsorted(self.times, when))] = True
        runs, start = [], None
        for t in range(len(free) + 1):
            inside = t < len(free) and free[t]
            if start is not None and (not inside or cut[t]):
                runs.append(slice(start, t))
                start = None
            if inside and start is None:
                start = t
        return runs


@dataclass(frozen=True, eq=False)
class Ordering(Record):
    """Which object covers which, with the depth of each.

    `cue` (T, N, N) in {+1 in front, -1 behind, 0 unknown}; `depth` (T, N).

    The cue never comes from the depth that it tests (T-junctions, drop-outs of tracks, the simulator's drawing order).
    """

    times: Array
    cue: Array
    depth: Array
    names: tuple[str, ...]

    product = "ordering"
    shapes = {"times": "T", "cue": "T N N", "depth": "T N"}


@dataclass(frozen=True, eq=False)
class Shading(Record):
    """Shading of the same P scene points in every frame, and cast shadows.

    `normals` (T, P, 3) world unit normals, `shading` (T, P) at any gain (NaN: in shadow or unseen); `shadow` (T, 3)
    from base
    to tip of the main cast shadow, NaN rows where none; `up` (3,).
    """

    times: Array
    normals: Array
    shading: Array
    up: Array
    shadow: Array | None = None

    product = "shading"
    shapes = {"times": "T", "normals": "T P 3", "shading": "T P", "up": "3", "shadow": "T 3"}


@dataclass(frozen=True, eq=False)
class Interpolation(Record):
    """Residual of an interpolated middle frame, per triple of neighbouring frames.

    `error` (M,) mean absolute error of the middle frame over moving pixels, `outer` (M,) mean absolute difference of
    the outer two over the same pixels, both in levels of 0..255; NaN where nothing moves, the error alone where the
    provider cannot interpolate what moves.
    """

    times: Array
    error: Array
    outer: Array
    hw: tuple[int, int]

    product = "interpolation"
    shapes = {"times": "M", "error": "M", "outer": "M"}


@dataclass(frozen=True, eq=False)
class ClipImage(Record):
    """CLIP embeddings of sampled frames, and of the antonym pairs (positive first) of PTQ-01 and PTQ-02."""

    times: Array
    images: Array
    imaging: Array
    aesthetic: Array
    logit_scale: float

    product = "clip_image"
    shapes = {"times": "M", "images": "M D", "imaging": "K 2 D", "aesthetic": "Q 2 D"}


@dataclass(frozen=True, eq=False)
class Features(Record):
    """DINOv3 features: `subject` (M, D) of its masked crop, `background` (M, P, D) of P places; NaN where unseen."""

    times: Array
    subject: Array
    background: Array

    product = "features"
    shapes = {"times": "M", "subject": "M D", "background": "M P D"}


#: Products that only a learned model makes, and which; no profile of this version has its weights.
LEARNED = {"clip_image": "CLIP", "features": "DINOv3"}

RECORDS: dict[str, type[Record]] = {
    r.product: r
    for r in (
        Masks, Depth, Normals, Cameras, Tracks, Flow, Bodies, Contacts, Ordering, Shading, Interpolation,
        ClipImage, Features,
    )
}  # fmt: skip
