"""The plugin's stash keys, in a module of their own so that every part may import them."""

from __future__ import annotations

import pytest

from pvbench_suite.dimensions import Dimension
from pvbench_suite.judge import Verdict
from pvbench_suite.measurement import Measurement
from pvbench_suite.plugin.build import Controller
from pvbench_suite.plugin.run import Run
from pvbench_suite.results import Row

#: The run, in every process.
RUN = pytest.StashKey[Run]()
#: The controller's side, in the controlling process only.
CONTROLLER = pytest.StashKey[Controller]()
#: How many selected pairs had a result already.
DONE = pytest.StashKey[int]()
#: What a dry run of the judge would cost, line by line.
ESTIMATE = pytest.StashKey[list[str]]()
#: Protocol warnings of an item's video.
WARNINGS = pytest.StashKey[list[str]]()
#: What the `grade` fixture left for the report.
RESULT = pytest.StashKey[Measurement | Verdict]()
#: The settled row of an item.
ROW = pytest.StashKey[Row]()
#: The dimension of an item.
DIMENSION = pytest.StashKey[Dimension]()
