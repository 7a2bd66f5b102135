"""I2V minus T2V of the same model: the paper's paired differences per domain and dimension."""

from __future__ import annotations

from collections.abc import Sequence

from pvbench_suite.dimensions import Registry
from pvbench_suite.errors import UserError
from pvbench_suite.results import Row
from pvbench_suite.stats.cells import Comparison
from pvbench_suite.stats.compare import difference


def modality_gaps(rows: Sequence[Row], registry: Registry) -> tuple[Comparison, ...]:
    """Return I2V minus T2V for each model and profile that has both, over the dimensions of both modalities.

    Where the two were not scored alike there are no cells, and the note says why.
    """
    groups: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        key = (str(row.get("model")), str(row.get("profile")))
        groups.setdefault(key, {}).setdefault(row["modality"], []).append(row)
    gaps = []
    for (model, profile), sides in sorted(groups.items()):
        if not {"t2v", "i2v"} <= sides.keys():
            continue
        names = (f"{model} T2V", f"{model} I2V")
        try:
            gap = difference(sides["t2v"], sides["i2v"], registry, names, "i2v - t2v", profile)
        except UserError as error:
            gap = Comparison(*names, "i2v - t2v", profile, {}, (str(error),))
        gaps.append(gap)
    return tuple(gaps)
