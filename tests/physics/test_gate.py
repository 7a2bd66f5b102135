"""The object gate: confidence first, then size."""

from __future__ import annotations

import numpy as np

from pvbench_suite.physics.gate import object_gate
from tests.physics.bodies import reason


def test_frames_with_confidence_are_seen() -> None:
    """The gate tells in which frames the object counts; 0.10 and 0.1 % are enough."""
    assert object_gate([0.1, 0.09, np.nan, 0.9], [0.001, 0.5, 0.5, 0.001]).tolist() == [True, False, False, True]


def test_reasons() -> None:
    """Nothing confident is no object; a small median area over the confident frames is too small."""
    assert reason(lambda: object_gate([0.09] * 9, [0.5] * 9))[0] == "no_object"
    assert reason(lambda: object_gate([], []))[0] == "no_object"
    assert reason(lambda: object_gate([0.9] * 8 + [0.0], [0.0009] * 8 + [0.5]))[0] == "too_small"
    assert reason(lambda: object_gate([0.9] * 9, [np.nan] * 9))[0] == "too_small"
    assert reason(lambda: object_gate([0.9] * 9, [0.5] * 8))[0] == "bad_shape"
