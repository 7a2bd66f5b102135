"""``pvbench doctor``: what this installation can do."""

from __future__ import annotations

import importlib.util
import platform
from importlib.metadata import PackageNotFoundError, version

from pvbench_suite import __version__, suite
from pvbench_suite.dimensions import load
from pvbench_suite.perception import profiles

BASE = (
    "numpy",
    "scipy",
    "pandas",
    "pytest",
    "pytest-xdist",
    "allure-pytest",
    "av",
    "opencv-python-headless",
    "safetensors",
)
OPTIONAL = {"openai": "judge", "torch": "perception", "transformers": "perception", "ray": "ray"}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def lines() -> list[str]:
    """Return one line per fact."""
    registry = load()
    out = [
        f"pvbench-suite {__version__}, Python {platform.python_version()} on {platform.system()} {platform.machine()}",
        f"suite: {suite.root()} ({len(registry.dimensions)} dimensions in {len(registry.domains)} domains)",
        "base: " + ", ".join(f"{name} {_version(name)}" for name in BASE),
    ]
    for name, extra in OPTIONAL.items():
        there = importlib.util.find_spec(name) is not None
        out.append(f"{name}: {_version(name) if there else f'not installed (pip install pvbench-suite[{extra}])'}")
    for name in sorted(profiles.PROFILES):
        profile = profiles.load(name)
        claims = (
            "all dimensions whose products are there" if profile.claims is None else ", ".join(sorted(profile.claims))
        )
        out.append(f"profile {name}: {profile.limits}; claims {claims}")
    return out
