"""The profiles by name; a profile's module is imported when it is asked for."""

from __future__ import annotations

import importlib

from pvbench_suite.errors import UserError
from pvbench_suite.perception.protocol import Profile

PROFILES = {
    "derived": "pvbench_suite.perception.derived",
    "embedded": "pvbench_suite.perception.embedded",
    "simulator": "pvbench_suite.perception.simulator",
}

#: CPU, no weights, from pixels alone: what runs everywhere.
DEFAULT = "embedded"


def load(name: str) -> Profile:
    """Return the profile called `name`.

    Raises
    ------
    UserError
        If there is none; names those that exist.
    """
    if name not in PROFILES:
        raise UserError(f"--pv-perception {name!r} is unknown; choose from {', '.join(sorted(PROFILES))}")
    profile: Profile = importlib.import_module(PROFILES[name]).PROFILE
    return profile
