"""The order in which every report shows a summary: profile, model, T2V beside I2V, from the whole to its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pvbench_suite.stats.cells import Cell, Comparison, Difference, Result, Summary


@dataclass(frozen=True, slots=True)
class Block:
    """One model in one profile, with its modalities side by side (T2V first)."""

    profile: str
    model: str
    results: tuple[Result, ...]
    gap: Comparison | None

    def cells(self, key: str) -> list[Cell | None]:
        """Return the cell of each modality, None where a modality has no such dimension."""
        return [dict(_every(result)).get(key) for result in self.results]

    def difference(self, key: str) -> Difference | None:
        """Return I2V minus T2V of a cell, if the model has both."""
        return self.gap.cells.get(key) if self.gap else None


def blocks(summary: Summary) -> list[Block]:
    """Return the blocks of a summary; profiles are never mixed in one."""
    found: dict[tuple[str, str], list[Result]] = {}
    for result in summary.results:
        found.setdefault((result.profile, result.model), []).append(result)
    gaps = {(gap.profile, gap.first): gap for gap in summary.gaps}
    return [
        Block(profile, model, tuple(results), gaps.get((profile, f"{model} T2V")))
        for (profile, model), results in sorted(found.items())
    ]


def _every(result: Result) -> Iterator[tuple[str, Cell]]:
    yield "overall", result.overall
    for cells in (result.layers, result.domains, result.dimensions):
        yield from cells.items()


def outline(block: Block) -> list[tuple[int, str, str]]:
    """Return (depth, key, name) of the whole, the layers and their domains, in reading order."""
    first = block.results[0]
    lines = [(0, "overall", "overall")]
    for layer, cell in first.layers.items():
        lines.append((1, layer, cell.name))
        lines += [(2, code, c.name) for code, c in first.domains.items() if c.parent == layer]
    return lines


def dimension_lines(block: Block) -> list[tuple[str, str]]:
    """Return (key, name) of every dimension of any modality, in the order of the registry."""
    longest = max(block.results, key=lambda r: len(r.dimensions))
    return [(key, cell.name) for key, cell in longest.dimensions.items()]


def kept(block: Block, pick: Callable[[Result], object]) -> list[Result]:
    """Return the results for which `pick` finds something to show."""
    return [result for result in block.results if pick(result)]
