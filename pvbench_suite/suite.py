"""Where the suite's rooms are: in a checkout beside this package, in a wheel under ``pvbench_suite/_suite``."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from pvbench_suite.errors import UserError

ROOMS = ("conftest.py", "dimensions", "fixtures", "thresholds", "reports", "pyproject.toml")


@cache
def root() -> Path:
    """Return the folder that holds conftest.py, dimensions/, fixtures/, thresholds/ and reports/.

    Raises
    ------
    UserError
        If neither the checkout nor the installed copy is complete.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "_suite", package.parent):
        if all((candidate / room).exists() for room in ROOMS):
            return candidate
    raise UserError(
        f"the suite's rooms ({', '.join(ROOMS)}) are neither in {package / '_suite'} nor in {package.parent}; "
        "reinstall pvbench-suite"
    )


def rooms_on_path() -> Path:
    """Put the suite's root first on `sys.path`, so that ``reports`` and ``fixtures`` are ours, and return it."""
    top = str(root())
    if top in sys.path:
        sys.path.remove(top)
    sys.path.insert(0, top)
    return root()
