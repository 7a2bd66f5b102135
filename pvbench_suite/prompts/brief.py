"""`Brief`: what a prompt's group says of the scene, as the dimension tests ask for it.

Names of perceived objects are matched with the group's `objects` by name; where a profile gives its objects names of
its own ("moving_1"), nothing is known of them, and the named assumptions of the dimension stand ("rigid",
"undriven", "earth").
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.prompts.schema import Group, Object

#: Standard gravity at the surface of the earth [m/s^2].
EARTH_GRAVITY = 9.80665


class Brief:
    """Answers for one video; `group` is None for a video that belongs to none."""

    def __init__(self, group: Group | None) -> None:
        self.group = group

    def object(self, name: str) -> Object | None:
        """Return what the prompt says of the object called `name`, or None."""
        objects = self.group.objects if self.group else ()
        return next((o for o in objects if o.name == name), None)

    def offers(self, needed: Sequence[str]) -> bool:
        """Return whether the group states what a dimension requires ("soft": a soft, nearly incompressible body)."""
        objects = self.group.objects if self.group else ()
        return all(need != "soft" or any(o.body == "soft" and o.incompressible for o in objects) for need in needed)

    def rigid(self, names: Sequence[str]) -> list[int]:
        """Return the indices of the objects that are rigid, or of which nothing else is said.

        Fixed ones count: a moving camera sees their shape from changing sides.
        """
        said = [self.object(name) for name in names]
        return [k for k, o in enumerate(said) if o is None or o.body == "rigid"]

    def soft(self, names: Sequence[str]) -> list[int]:
        """Return the indices of the soft, nearly incompressible objects."""
        said = [self.object(name) for name in names]
        return [k for k, o in enumerate(said) if o is not None and o.body == "soft" and o.incompressible]

    def free(self, names: Sequence[str]) -> list[int]:
        """Return the indices of the objects that are neither fixed nor driven all the time nor self-propelled."""
        driven = {d.object for d in self.group.expect.driven if d.until == "always"} if self.group else set()
        out = []
        for k, name in enumerate(names):
            said = self.object(name)
            if name not in driven and (said is None or not (said.fixed or said.self_propelled)):
                out.append(k)
        return out

    def movable(self, names: Sequence[str]) -> list[int]:
        """Return the indices of the objects that are not fixed."""
        said = [self.object(name) for name in names]
        return [k for k, o in enumerate(said) if o is None or not o.fixed]

    def lasting(self, names: Sequence[str]) -> list[int]:
        """Return the indices of the objects that the prompt does not let appear, vanish, split or merge."""
        changing = {t.object for t in self.group.expect.transforms} if self.group else set()
        return [k for k, name in enumerate(names) if name not in changing]

    def symmetry(self, name: str) -> NDArray[np.float64] | None:
        """Return the rotations (G, 3, 3) about the object's own y axis that leave it looking the same, or None.

        Only stated n-fold symmetries have a finite group; an axis or sphere of symmetry has no orientation to follow.
        """
        said = self.object(name)
        if said is None or said.fold is None:
            return None
        angles = 2.0 * np.pi * np.arange(said.fold) / said.fold
        return np.asarray(Rotation.from_rotvec(np.outer(angles, [0.0, 1.0, 0.0])).as_matrix())

    def oriented(self, name: str) -> bool:
        """Return whether the object's orientation can be followed.

        It cannot with a stated sphere or axis of symmetry, nor with an n-fold one whose n is not said.
        """
        said = self.object(name)
        return said is None or said.symmetry not in ("axis", "sphere", "n-fold")

    def mass_ratio(self, first: str, second: str) -> float | None:
        """Return m_first / m_second where the prompt gives both masses, else None."""
        a, b = self.object(first), self.object(second)
        return a.mass / b.mass if a and b and a.mass and b.mass else None

    def gravity(self, name: str, size: float) -> float | None:
        """Return g [world units/s^2] for an object of longest extent `size` [world units]; None without a metric.

        A metric needs the prompt's size in meters and real time; slow motion gives none.

        Raises
        ------
        Unmeasurable
            ``exempt`` where the prompt says that there is no gravity.
        """
        if self.group is not None and self.group.expect.g_scale == 0.0:
            raise Unmeasurable("exempt", "the prompt says that there is no gravity")
        scale = self._scale(name, size)
        return None if self.group is None or scale is None else EARTH_GRAVITY * self.group.expect.g_scale * scale

    def terminal_speed(self, name: str, size: float) -> float | None:
        """Return the terminal speed [world units/s] of a light object where the prompt gives it, else None.

        Raises
        ------
        Unmeasurable
            ``exempt`` where the object is light and no metric tells how fast it really is.
        """
        said = self.object(name)
        if said is None or not said.terminal_speed:
            return None
        if (scale := self._scale(name, size)) is None:
            raise Unmeasurable("exempt", "the object is light, and how fast it really moves is not known")
        return said.terminal_speed * scale

    def _scale(self, name: str, size: float) -> float | None:
        """Return the world units per meter where size and time are known, for an object of extent `size`."""
        said = self.object(name)
        if self.group is None or said is None or not said.size_m or not self.group.expect.real_time:
            return None
        return size / said.size_m if math.isfinite(size) and size > 0.0 else None

    @property
    def light_moves(self) -> bool:
        """Whether the prompt says that the light moves."""
        return self.group is not None and self.group.expect.light == "moves"

    def demands(self, dimension: str) -> bool:
        """Return whether the absence of this dimension's event counts (`event_absent`)."""
        return self.group is not None and self.group.demands(dimension)
