"""One drawing per numeric dimension, made from the evidence of its `Measurement`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pvbench_suite.measurement import Measurement
from pvbench_suite.plots import geometric, looks, mechanics, motions
from pvbench_suite.plots.svg import Axes, figure

#: The function that draws each dimension, or companion number.
DRAWINGS: Mapping[str, Callable[[Mapping[str, Any]], list[Axes]]] = {
    "R01": geometric.depth_order,
    "R02": geometric.surface,
    "R03": geometric.shape,
    "R05": geometric.multi_view,
    "R06c": geometric.scale,
    "R07c": geometric.pose,
    "R08": looks.light,
    "R11": looks.volume,
    "R15": motions.permanence,
    "R16": motions.trajectory,
    "R17": motions.flow,
    "R18": motions.rigidity,
    "R19": motions.motion,
    "R20": motions.rotation,
    "R21": mechanics.gravity,
    "R22": mechanics.momentum,
    "R23": mechanics.energy,
    "R24": mechanics.collision,
    "PTQ-01": looks.antonyms,
    "PTQ-02": looks.antonyms,
    "PTQ-03": looks.flicker,
    "PTQ-04": looks.smoothness,
    "PTQ-05": looks.similarity,
    "PTQ-06": looks.similarity,
}


def draw(dimension: str, measurement: Measurement, unit: str = "", score: int | None = None) -> str:
    """Return the drawing (SVG text) of what a dimension measured.

    Parameters
    ----------
    dimension : str
        Its id, or that of a companion number (``R06c``).
    measurement : Measurement
        What its kernel returned.
    unit : str
        Unit of the value.
    score : int, optional
        The score 1 to 5 that the value earned.

    Raises
    ------
    KeyError
        If no drawing is known for that dimension.
    """
    panels = DRAWINGS[dimension](measurement.evidence)
    title = f"{dimension}: {measurement.value:.4g} {unit}".rstrip()
    return figure(panels, title if score is None else f"{title}, score {score}", columns=2)
