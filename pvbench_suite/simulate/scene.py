"""A world of simple bodies, frame by frame: what is where, how it is lit and who looks at it.

Conventions
-----------
The lab frame has x to the right, y down, z away from the first camera, lengths in meters [m], the floor at y = 0, so
that a point at height h has y = -h.  `T` frames, `B` bodies, `K` planes.  A body's material is addressed by `q`, its
coordinates divided by its half extents (the surface of every kind lies within [-1, 1]^3); a plane's by two lengths [m].
A world holds only arrays: its laws, lawful or not, were applied when it was made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.simulate.vectors import Bools, Floats, orthonormal, quantise

Kind = Literal["ellipsoid", "box", "cylinder"]
Role = Literal["object", "scenery", "decor"]
Color = tuple[float, float, float]


@dataclass(frozen=True)
class Paint:
    """Two colors (linear RGB in [0, 1]) mixed in blotches of about `cell` [m]."""

    first: Color
    second: Color
    cell: float
    seed: int = 0


@dataclass(frozen=True)
class Body:
    """A convex body.

    `half` are its half extents [m]; a cylinder's axis is its own y.  An *object* has a name in the records, *scenery*
    is part of the static background, *decor* (a string, a turntable) belongs to neither.  `shape` is the record's word.
    """

    name: str
    kind: Kind
    half: tuple[float, float, float]
    paint: Paint
    role: Role = "object"
    shape: str = "other"


@dataclass(frozen=True)
class Plane:
    """A surface of the room, ``normal . x + offset`` above 0 on the free side, with unit axes `a` and `b` in it."""

    normal: tuple[float, float, float]
    offset: float
    a: tuple[float, float, float]
    b: tuple[float, float, float]
    paint: Paint


@dataclass(frozen=True, eq=False)
class Actor:
    """A body and its path: centre (T, 3) or (3,); what is None stays as it is at rest, seen and supported."""

    body: Body
    centre: ArrayLike
    R: ArrayLike | None = None
    half: ArrayLike | None = None
    airborne: ArrayLike = False
    driven: ArrayLike = False
    pivot: tuple[float, float, float] | None = None


@dataclass(frozen=True, eq=False)
class State:
    """One instant of a world, with the exact numbers that the ray caster uses."""

    eye: Floats
    view: Floats
    centre: Floats
    R: Floats
    half: Floats
    shown: Bools
    shift: Floats
    light: Floats
    shadow_light: Floats
    shadow: bool
    gain: float
    swapped: bool


@dataclass(frozen=True, eq=False)
class World:
    """Poses of everything in every frame, and the events between the frames.

    `eye` (T, 3) and `view` (T, 3, 3) are the camera's place and camera-to-lab rotation; `focal` [px].  `light` (T, 3)
    points to the light that shades, `shadow_light` to the one that casts shadows (they differ in a violating world
    only).  `shift` (T, K, 2) slides the material of the planes [m].  `gain` (T,) multiplies the picture.  `twist` turns
    the normals that are shaded with against the true ones.  `over` lists (a, b): body a is drawn over b, whatever
    their depths, in the frames `swapped` (T,).  `contacts` lists (when [s], body, body or -1 for the fixed
    surroundings).  `surfaces` (S, 4) are the supports that bodies land on.  `pivot` (B, 3) is NaN where there is none.
    `gnomon` is the body whose shadow counts.
    """

    times: Floats
    hw: tuple[int, int]
    focal: float
    eye: Floats
    view: Floats
    bodies: tuple[Body, ...]
    planes: tuple[Plane, ...]
    centre: Floats
    R: Floats
    half: Floats
    shown: Bools
    airborne: Bools
    driven: Bools
    pivot: Floats
    shift: Floats
    light: Floats
    shadow_light: Floats
    shadow: Bools
    gain: Floats
    swapped: Bools
    surfaces: Floats
    ambient: float = 0.35
    twist: Floats | None = None
    over: tuple[tuple[int, int], ...] = ()
    contacts: tuple[tuple[float, int, int], ...] = ()
    gnomon: int = 0

    @property
    def center_px(self) -> tuple[float, float]:
        """The principal point (x, y) [px]: the middle of the frame."""
        return ((self.hw[1] - 1) / 2.0, (self.hw[0] - 1) / 2.0)

    @property
    def objects(self) -> tuple[int, ...]:
        """Indices of the bodies that the records name."""
        return tuple(k for k, body in enumerate(self.bodies) if body.role == "object")

    def index(self, name: str) -> int:
        """Return the index of the body of that name; KeyError if there is none."""
        for k, body in enumerate(self.bodies):
            if body.name == name:
                return k
        raise KeyError(name)

    @cached_property
    def still(self) -> tuple[bool, ...]:
        """For each body whether it never moves, changes or vanishes, and takes no part in an odd order of drawing."""
        tracks: list[Any] = [self.centre, self.R, self.half, self.shown]
        odd = {k for pair in self.over for k in pair}
        return tuple(
            k not in odd and all(bool((x[:, k] == x[:1, k]).all()) for x in tracks) for k in range(len(self.bodies))
        )

    def state(self, t: int) -> State:
        """Return frame `t`."""
        return State(
            eye=self.eye[t],
            view=self.view[t],
            centre=self.centre[t],
            R=self.R[t],
            half=self.half[t],
            shown=self.shown[t],
            shift=self.shift[t],
            light=self.light[t],
            shadow_light=self.shadow_light[t],
            shadow=bool(self.shadow[t]),
            gain=float(self.gain[t]),
            swapped=bool(self.swapped[t]),
        )

    def between(self, s: int, t: int) -> State:
        """Return the instant half way between two frames, as straight lines and even turns would have it."""
        first, last = self.state(s), self.state(t)

        def middle(a: Floats, b: Floats) -> Floats:
            return np.asarray(0.5 * (a + b))

        def halfway(a: Floats, b: Floats) -> Floats:
            return a if bool((a == b).all()) else orthonormal(middle(a, b))

        turns = [halfway(a, b) for a, b in zip(first.R, last.R, strict=True)]
        names = ("eye", "centre", "half", "shift", "light", "shadow_light")
        means: dict[str, Any] = {name: middle(getattr(first, name), getattr(last, name)) for name in names}
        view = halfway(first.view, last.view)
        return replace(first, view=view, R=np.stack(turns), shown=first.shown | last.shown, **means)


def assemble(times: Floats, actors: list[Actor], contacts: list[tuple[float, str, str]], **rest: Any) -> World:
    """Return the world of `actors`; `contacts` name bodies, "" is the fixed surroundings; `rest` are fields of `World`.

    Every pose is put on the grid of `quantise` here.
    """
    T, planes = len(times), rest["planes"]
    bodies = tuple(actor.body for actor in actors)
    names = {body.name: k for k, body in enumerate(bodies)} | {"": -1}

    def tracks(values: list[Any], shape: tuple[int, ...]) -> Any:
        return np.stack([np.broadcast_to(np.asarray(v), (T, *shape)) for v in values], axis=1)

    over_time = {"eye": (3,), "view": (3, 3), "light": (3,)}
    fixed: dict[str, Any] = {
        name: quantise(np.broadcast_to(rest.pop(name), (T, *shape))) for name, shape in over_time.items()
    }
    pivot = np.array([actor.pivot or (np.nan,) * 3 for actor in actors], dtype=np.float64)
    return World(
        times=times,
        bodies=bodies,
        centre=quantise(tracks([actor.centre for actor in actors], (3,))),
        R=quantise(tracks([np.eye(3) if actor.R is None else actor.R for actor in actors], (3, 3))),
        half=quantise(tracks([actor.body.half if actor.half is None else actor.half for actor in actors], (3,))),
        shown=np.ones((T, len(actors)), dtype=np.bool_),
        airborne=tracks([actor.airborne for actor in actors], ()).astype(np.bool_),
        driven=tracks([actor.driven for actor in actors], ()).astype(np.bool_),
        pivot=pivot,
        shift=np.zeros((T, len(planes), 2)),
        shadow_light=fixed["light"],
        shadow=np.ones(T, dtype=np.bool_),
        gain=np.ones(T),
        swapped=np.zeros(T, dtype=np.bool_),
        contacts=tuple((when, names[a], names[b]) for when, a, b in contacts if when <= times[-1]),
        **fixed,
        **rest,
    )
