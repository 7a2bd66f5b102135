"""Falls in the picture plane: what perspective and lens do to them, and how far an object's own size undoes it.

Conventions
-----------
A planar profile knows no depth.  A rigid object shows depth all the same: its width across its motion (which motion
blur leaves alone) goes as 1/z, and for a motion in one plane 1/z is an affine function of the place in the picture.
The picture of that plane is undone by dividing the place, from the middle of the picture, by the width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.feeds.bodies import extent, flights
from pvbench_suite.measurement import Measurement
from pvbench_suite.perception.types import Bodies, Cameras, Contacts
from pvbench_suite.physics.gravity import Flight
from pvbench_suite.prompts.brief import Brief

Floats = NDArray[np.float64]

#: Share of g by which a lens bends a fall: a distortion of 1.5 % at the end of a fall from the middle of the picture to
#: its border.
LENS = 0.05
#: The same where the object's width says nothing on the perspective (it turns, or has no steady outline), or where g
#: itself is known only from the object's size in the picture: the real fall `mor_falling_ball`, filmed from above,
#: reads 0.29 in the picture plane and 0.00 once its perspective is undone.
PLANAR_BEND = 0.22
#: Largest scatter of a width that is the object's, as a share of it; fewest frames.
_SCATTER, _FRAMES = 0.05, 8
#: Change of 1/z, as a share, that is expected over one width of the picture: it keeps a direction in which the object
#: hardly moves from being made up.
_TILT = 0.5


def perspective(bodies: Bodies, contacts: Contacts, n: int) -> Floats | None:
    """Return the scale (T,) of the picture at object `n` while it flies, its median 1; None where its size is unknown.

    Unknown: depth is given anyway, the record has no widths, fewer than 8 are known, or they scatter by more than 5 %.
    """
    if not bodies.planar or bodies.across is None:
        return None
    where, width = np.asarray(bodies.centre[:, n, :2], dtype=float), np.asarray(bodies.across[:, n], dtype=float)
    use = np.asarray(contacts.airborne[:, n], dtype=bool) & np.isfinite(width) & np.isfinite(where).all(axis=-1)
    if use.sum() < _FRAMES:
        return None
    usual = float(np.median(width[use]))
    place = where / bodies.hw[1]
    middle = place[use].mean(axis=0)
    design = np.column_stack([np.ones(len(place)), place - middle])
    slope, scatter = _robust(design[use], width[use] / usual)
    scale = design @ slope
    if scatter > _SCATTER or not (scale[use] > 0.5).all():
        return None
    return np.asarray(scale / np.median(scale[use]))


def _robust(design: Floats, y: Floats) -> tuple[Floats, float]:
    """Return the parameters (3,) of a Huber fit with expected tilts, and the scatter of `y` (n,) about it."""
    weight: Floats = np.ones(len(y))
    parameters: Floats = np.zeros(3)
    sigma = 0.02
    for _ in range(12):
        expected = np.diag([0.0, 1.0, 1.0]) * (sigma / _TILT) ** 2
        normal = design.T @ (weight[:, None] * design) + expected
        parameters = np.asarray(np.linalg.solve(normal, design.T @ (weight * y)), dtype=float)
        rest = np.abs(y - design @ parameters)
        sigma = max(1.4826 * float(np.median(rest)), 1e-3)
        weight = np.asarray(np.minimum(1.0, 1.5 * sigma / np.maximum(rest, 1e-9)))
    return parameters, sigma


def readings(bodies: Bodies, contacts: Contacts, cameras: Cameras | None, n: int) -> list[list[Flight]]:
    """Return the flights of object `n` in every world that they may lie in.

    With depth that is one.  A planar profile has two: the picture plane itself, and the plane that the object's own
    size shows, where it shows one.
    """
    found = flights(bodies, contacts, cameras, n)
    scale = perspective(bodies, contacts, n)
    if scale is None:
        return [found]
    middle = np.array([(bodies.hw[1] - 1) / 2, (bodies.hw[0] - 1) / 2, 0.0])
    times = np.asarray(bodies.times, dtype=float)
    undone = []
    for flight in found:
        at = np.searchsorted(times, np.asarray(flight.t, dtype=float))
        undone.append(Flight(flight.t, (np.asarray(flight.X, dtype=float) - middle) / scale[at, None]))
    return [found, undone]


def bend(bodies: Bodies, contacts: Contacts, n: int, metric: bool = False) -> float:
    """Return the share of g that the imaging may still bend a lawful fall of object `n` by; 0 with depth.

    `metric` says that gravity is given in world units.
    """
    if not bodies.planar:
        return 0.0
    return PLANAR_BEND if metric or perspective(bodies, contacts, n) is None else LENS


def fall(bodies: Bodies, contacts: Contacts, n: int, brief: Brief) -> tuple[float | None, float, float | None, float]:
    """Return what a fall of object `n` is held to: g [world units/s^2], diameter, terminal speed, allowance.

    g and the terminal speed are None where the prompt gives no size that would make a metric.
    """
    name, size = bodies.names[n], extent(bodies, n)
    g = brief.gravity(name, size)
    return g, float(bodies.diameter[n]), brief.terminal_speed(name, size), bend(bodies, contacts, n, g is not None)


def mildest(measure: Callable[[list[Flight]], Measurement], worlds: Sequence[list[Flight]]) -> Measurement:
    """Return the smallest measurement over the worlds that flights may lie in: lawful in one of them is lawful.

    Raises
    ------
    Unmeasurable
        That of the first world, where none can be measured.
    """
    found: list[Measurement] = []
    missed: list[Unmeasurable] = []
    for flights_there in worlds:
        try:
            found.append(measure(flights_there))
        except Unmeasurable as error:
            missed.append(error)
    if not found:
        raise missed[0]
    return min(found, key=lambda m: m.value)
