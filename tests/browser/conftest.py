"""One tiny run and one browser for the tests that look at pages: skipped, with the reason, where a program is missing.

Allure 3 is a Node program: `pip` cannot install it.  ``PVBENCH_ALLURE`` names its command, else it is searched on the
PATH (``npm install --prefix DIR allure@3.18.0``; the command is ``DIR/node_modules/.bin/allure``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.chrome import Chrome, binary
from tests.plugin.world import arguments, demo


@pytest.fixture(scope="session")
def allure() -> str:
    """Return the command of Allure 3."""
    command = os.environ.get("PVBENCH_ALLURE") or shutil.which("allure")
    if command is None or not Path(command).is_file():
        pytest.skip("Allure 3 is not there: npm install --prefix DIR allure@3.18.0, then set PVBENCH_ALLURE")
    version = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    if not version.strip().startswith("3."):
        pytest.skip(f"{command} is Allure {version.strip() or 'of no known version'}, not 3")
    return str(Path(command).absolute())


@pytest.fixture(scope="session")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Return a headless browser."""
    if binary() is None:
        pytest.skip("no Chromium is there: apt-get install chromium")
    with Chrome(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a real run: the model in ``m`` (two clips, one jumps), its Allure results in ``allure``."""
    folder = tmp_path_factory.mktemp("tiny")
    model = demo(folder / "m", {"s001": 0.0, "s002": 3.0})
    command = [sys.executable, "-m", "pytest", *arguments(model), f"--alluredir={folder / 'allure'}", "-q"]
    environment = {**os.environ, "PYTEST_ADDOPTS": ""}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder
