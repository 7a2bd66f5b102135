"""The README's table of dimensions, made from the registry so that it cannot go stale unseen."""

from __future__ import annotations

from pvbench_suite.dimensions import Dimension, Registry
from pvbench_suite.errors import UserError
from reports.text import markdown, table

BEGIN = "<!-- dimensions:begin -->"
END = "<!-- dimensions:end -->"

_PARADIGMS = {"i": "numbers", "ii": "numbers, or judge with numbers", "iii": "judge"}


def dimension_table(registry: Registry) -> str:
    """Return the Markdown table of all dimensions, in order of domain and id, without the markers."""
    head = ["id", "dimension", "domain", "scored by", "what is scored", "cuts for 5, 4, 3, 2"]
    rows = [
        [
            d.id,
            markdown(d.name),
            f"{d.domain} ({d.layer})",
            _PARADIGMS[d.paradigm],
            markdown(d.scored, 1000) + (" I2V only." if "t2v" not in d.modalities else ""),
            _cuts(d),
        ]
        for d in registry.dimensions
    ]
    return "\n".join(table(head, rows, left=len(head))) + "\n"


def _cuts(dimension: Dimension) -> str:
    if dimension.cuts is None:
        return ""
    sign = "above" if dimension.direction == "larger" else "below"
    unit = "" if dimension.unit in (None, "1") else str(dimension.unit)
    return f"{sign} {', '.join(f'{cut:g}' for cut in dimension.cuts)} {markdown(unit)}".rstrip()


def with_table(text: str, registry: Registry) -> str:
    """Return `text` with a fresh table between the two markers.

    Raises
    ------
    UserError
        If the markers are not there exactly once, in order.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise UserError(f"the text needs {BEGIN} and {END} once each, in this order")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{dimension_table(registry)}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    from pathlib import Path

    from pvbench_suite.dimensions import load

    page = Path(__file__).resolve().parent.parent / "README.md"
    page.write_text(with_table(page.read_text(encoding="utf-8"), load()), encoding="utf-8")
