"""The judge: 26 dimensions by rubric.

Until a backend is configured there is none, and judged pairs are `not_perceived`.
"""

from __future__ import annotations

from pvbench_suite.judge.protocol import Judge, Verdict

__all__ = ["Judge", "Verdict", "configured"]


def configured() -> Judge | None:
    """Return the judge of this run, or None where no backend is configured."""
    return None
