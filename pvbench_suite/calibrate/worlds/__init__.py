"""All closed-form worlds of the calibration, by name.

`ROWS` are violations with doses; `HELD` are lawful and static worlds that set no cut, by ``dimension/name``.
"""

from __future__ import annotations

from pvbench_suite.calibrate.worlds import dense, falls, impacts, looks, paths, scene, solids, staged
from pvbench_suite.calibrate.worlds.base import Case, Draw, Held, Row

__all__ = ["HELD", "ROWS", "Case", "Draw", "Held", "Row"]

_MODULES = (scene, dense, solids, looks, paths, falls, impacts, staged)

#: Every violation, in order of dimension.
ROWS: dict[str, Row] = {r.name: r for r in sorted((r for m in _MODULES for r in m.ROWS), key=lambda r: r.dimension)}
#: Every lawful or static world that set no cut, in order of dimension.
HELD: dict[str, Held] = {
    f"{h.dimension}/{h.name}": h for h in sorted((h for m in _MODULES for h in m.HELD), key=lambda h: h.dimension)
}
