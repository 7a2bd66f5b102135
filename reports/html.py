"""``report.html``: one page without scripts and without anything from outside.

Conventions
-----------
The template engine escapes everything; no text of a row is ever marked safe.  A content security policy in the page
forbids scripts and any request, so that even a slip could load nothing.  Bars are drawn by the template from numbers
only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from pvbench_suite.dimensions import Registry
from pvbench_suite.results import Row, latest
from pvbench_suite.stats.cells import Summary
from pvbench_suite.stats.ranking import Board
from pvbench_suite.stats.sample import STATES
from reports import text
from reports.clips import failures, worst_clips
from reports.leaderboard import ahead
from reports.view import Block, blocks, dimension_lines, outline

#: How many remedies, warnings and assumptions are listed.
LISTED = 12


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    helpers = {
        "number": text.number,
        "signed": text.signed,
        "span": text.span,
        "share": text.share,
        "percent": text.percent,
        "clean": text.clean,
    }
    environment.filters.update(helpers)
    environment.globals.update(helpers)
    return environment.get_template("page.html.jinja")


def html_page(summary: Summary, boards: Sequence[Board], rows: Sequence[Row], registry: Registry) -> str:
    """Return the page.

    Parameters
    ----------
    summary : Summary
        What `pvbench_suite.stats.aggregate.summarize` made of `rows`.
    boards : sequence of Board
        Leaderboards of the same rows.
    rows : sequence of dict
        The rows, for the tables of single clips.
    registry : Registry
        Says what each dimension scores.
    """
    counted = latest(rows)
    profiles = sorted({result.profile for result in summary.results})
    sections = [
        {
            "profile": profile,
            "mark": f"p{place}",
            "boards": [board for board in boards if board.profile == profile],
            "blocks": [_block(block, counted) for block in blocks(summary) if block.profile == profile],
        }
        for place, profile in enumerate(profiles)
    ]
    return _template().render(
        sections=sections,
        suites=sorted({suite for result in summary.results for suite in result.suites}),
        states=STATES,
        scored={d.id: d.scored for d in registry.dimensions},
        not_applicable=summary.not_applicable,
        ahead=ahead,
        listed=LISTED,
    )


def _block(block: Block, rows: Sequence[Row]) -> dict[str, object]:
    """Return what the template needs of one model in one profile."""
    own = [r for r in rows if str(r.get("model")) == block.model and str(r.get("profile")) == block.profile]
    return {
        "block": block,
        "outline": outline(block),
        "dimensions": dimension_lines(block),
        "clips": worst_clips(own),
        "failures": failures(own),
    }
