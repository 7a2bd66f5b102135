"""Ways in which a finished world can break a law: each changes the world, so that picture and records agree.

Conventions
-----------
A violation takes a lawful world and a dose in [0, 1] and returns another world; dose 0 changes nothing.  `subject` is
the index of the body that misbehaves.  Faults set in after the first frames, so that the first frame is always lawful,
except for `normals` and `flicker`.  Violations that belong to one law of motion (gravity, restitution, collisions) are
in `worlds`, since they change the path itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pvbench_suite.simulate.motion import eased
from pvbench_suite.simulate.scene import World
from pvbench_suite.simulate.vectors import Bools, Floats, product, quantise, rotations, split, stacked, turn

Violation = Callable[[World, float, int], World]

_UP = (0.0, 1.0, 0.0)


def _late(world: World, share: float = 0.5) -> Bools:
    """Return the frames after that share of the clip."""
    return np.asarray(world.times >= share * world.times[-1])


def _size(world: World, k: int) -> float:
    return 2.0 * float(max(world.bodies[k].half))


def _moved(world: World, k: int, shift: Floats) -> World:
    centre = world.centre.copy()
    centre[:, k] = quantise(centre[:, k] + shift)
    return replace(world, centre=centre)


def _resized(world: World, k: int, factor: Floats) -> World:
    """Return the world with the half extents of body `k` times `factor` (T, 3), its lowest point kept in place."""
    half, centre = world.half.copy(), world.centre.copy()
    half[:, k] = quantise(half[:, k] * factor)
    if not world.airborne[:, k].any():
        # R[1] holds the downward components of the body's axes, so this is how far its box reaches down.
        reach = np.abs(world.R[:, k, 1]) * (half[:, k] - world.half[:, k])
        centre[:, k, 1] = quantise(centre[:, k, 1] - (reach[:, 0] + reach[:, 1] + reach[:, 2]))
    return replace(world, half=half, centre=centre)


def teleport(world: World, dose: float, subject: int) -> World:
    """Return the world in which the body jumps back by up to 2.2 of its sizes, against its motion, in mid course."""
    way = world.centre[-1, subject] - world.centre[0, subject]
    level = np.array([way[0], 0.0, way[2]])
    back = -level / max(float(np.sqrt(level[0] ** 2 + level[2] ** 2)), 1e-9)
    when = _late(world, 0.32)[:, None]
    return _moved(world, subject, when * (2.2 * dose * _size(world, subject)) * back)


def kick(world: World, dose: float, subject: int) -> World:
    """Return the world in which the body's velocity changes at once by up to 8 sizes a second, with nothing near."""
    since = np.maximum(world.times - 0.5 * world.times[-1], 0.0)[:, None]
    way = world.centre[-1, subject] - world.centre[0, subject]
    speed = 8.0 * dose * _size(world, subject)
    return _moved(world, subject, -np.sign(way[0]) * speed * since * np.array([1.0, 0.0, 0.0]))


def vanish(world: World, dose: float, subject: int) -> World:
    """Return the world in which the body is gone, in the open, for the last part of the clip (up to 40 %)."""
    shown = world.shown.copy()
    shown[:, subject] &= ~_late(world, 1.0 - 0.4 * dose) if dose > 0 else True
    return replace(world, shown=shown)


def stretch(world: World, dose: float, subject: int) -> World:
    """Return the world in which the rigid body grows along its own x by up to exp(0.8), between 45 and 60 %."""
    end = world.times[-1]
    grow = np.exp(0.8 * dose * eased(world.times, 0.45 * end, 0.60 * end))
    ones = np.ones_like(grow)
    return _resized(world, subject, np.stack([grow, ones, ones], axis=-1))


def scale(world: World, dose: float, subject: int) -> World:
    """Return the world in which the rigid body grows all over by up to exp(0.6), steadily."""
    grow = np.exp(0.6 * dose * world.times / world.times[-1])
    return _resized(world, subject, np.stack([grow] * 3, axis=-1))


def volume(world: World, dose: float, subject: int) -> World:
    """Return the world in which the soft body's volume grows by up to exp(0.9) after 55 % of the clip, and stays so."""
    end = world.times[-1]
    grow = np.exp(0.3 * dose * eased(world.times, 0.55 * end, 0.65 * end))
    return _resized(world, subject, np.stack([grow] * 3, axis=-1))


def rotation(world: World, dose: float, subject: int) -> World:
    """Return the world in which the body turns by up to 110 deg about the vertical between two frames."""
    jump = rotations(_UP, np.radians(110.0 * dose))
    R = world.R.copy()
    for t in np.flatnonzero(_late(world)):
        R[t, subject] = quantise(product(jump, R[t, subject]))
    return replace(world, R=R)


def boil(world: World, dose: float, subject: int) -> World:
    """Return the world in which the body's orientation is drawn anew every second frame, by turns of up to 170 deg."""
    rng = np.random.default_rng(subject + 5)
    R, turned = world.R.copy(), np.eye(3)
    for t in range(len(R)):
        if t % 2 == 0 and t > 0:
            axis = 2.0 * rng.random(3) - 1.0
            turned = product(rotations(axis, np.radians(170.0 * dose)), turned)
        R[t, subject] = quantise(product(turned, R[t, subject]))
    return replace(world, R=R)


def light_jump(world: World, dose: float, subject: int) -> World:
    """Return the world in which the light jumps round by up to 100 deg of azimuth, shadows with it, in mid clip."""
    light, late = world.light.copy(), _late(world)
    light[late] = quantise(stacked(turn(rotations(_UP, np.radians(-100.0 * dose)), split(light[late]))))
    return replace(world, light=light, shadow_light=light)


def shadow_turn(world: World, dose: float, subject: int) -> World:
    """Return the world in which cast shadows point up to 90 deg away from where the light sends them."""
    cast, late = world.shadow_light.copy(), _late(world, 0.35)
    cast[late] = quantise(stacked(turn(rotations(_UP, np.radians(90.0 * dose)), split(cast[late]))))
    return replace(world, shadow_light=cast)


def shadow_gone(world: World, dose: float, subject: int) -> World:
    """Return the world without cast shadows for the last part of the clip (up to 70 %)."""
    return replace(world, shadow=world.shadow & ~_late(world, 1.0 - 0.7 * dose))


def depth_swap(world: World, dose: float, subject: int) -> World:
    """Return the world in which the second body is drawn over the nearer first one in a share `dose` of the frames."""
    count = np.arange(len(world.times))
    swapped = np.floor((count + 1) * dose) > np.floor(count * dose)
    return replace(world, over=((world.objects[1], world.objects[0]),), swapped=np.asarray(swapped))


def drift(world: World, dose: float, subject: int) -> World:
    """Return the world whose fixed surroundings slide: props to different sides, walls and floor under their paint."""
    centre, shift = world.centre.copy(), world.shift.copy()
    way = 0.9 * dose * eased(world.times, 0.0, float(world.times[-1]))
    side = 1.0
    for k, body in enumerate(world.bodies):
        if body.role == "scenery":
            centre[:, k, 0] = quantise(centre[:, k, 0] + side * way)
            side = -side
    for k in range(len(world.planes)):
        shift[:, k, 0] = quantise(way if k % 2 else -way)
    return replace(world, centre=centre, shift=shift)


def flicker(world: World, dose: float, subject: int) -> World:
    """Return the world whose picture pumps in brightness by up to 9 % either way, six times a second."""
    return replace(world, gain=quantise(1.0 + 0.09 * dose * np.sin(2.0 * np.pi * 6.0 * world.times + 0.25 * np.pi)))


def normals(world: World, dose: float, subject: int) -> World:
    """Return the world that is shaded as if every surface were turned by up to 45 deg.

    Shape and depth stay lawful.  The record of normals holds the normals that the picture is shaded with, as a reader
    of shading would report them: this is the one violation that lives in the appearance and not in the geometry.
    """
    return replace(world, twist=rotations((0.3, 0.8, 0.5), np.radians(45.0 * dose)))


#: The violations that any world can be given, by name.
VIOLATIONS: dict[str, Violation] = {
    f.__name__: f
    for f in (
        *(teleport, kick, vanish, stretch, scale, volume, rotation, boil, light_jump, shadow_turn, shadow_gone),
        *(depth_swap, drift, flicker, normals),
    )
}
