"""R06 companion: the size that an object keeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.physics.scale import scale_drift
from tests.physics.bodies import FPS, few, reason


def clip(fps: float, seconds: float = 6.0) -> np.ndarray:
    """Return frame times."""
    return np.arange(round(seconds * fps)) / fps


@pytest.mark.parametrize("fps", FPS)
@pytest.mark.parametrize("growth", [-0.4, 0.1, 0.4])
def test_a_size_held_for_a_second_reads_its_logarithm(fps: float, growth: float) -> None:
    """Growing and shrinking count alike at every frame rate; a tenth of a second does not count."""
    t = clip(fps)
    held = np.where((t > 2) & (t < 3.05), np.exp(growth), 1.0)
    assert scale_drift(t, 3.0 * held).value == pytest.approx(abs(growth))
    assert scale_drift(t, 3.0 * np.where((t > 2) & (t < 2.13), np.exp(growth), 1.0)).value == pytest.approx(0)


@few
@given(st.integers(0, 10**6))
def test_units_a_common_drift_and_reversed_time_do_not_matter(seed: int) -> None:
    """A wandering scale of the whole reconstruction cancels."""
    rng = np.random.default_rng(seed)
    t = clip(24)
    size = np.exp(np.cumsum(rng.normal(0, 0.02, len(t))))
    gauge = np.exp(np.cumsum(rng.normal(0, 0.1, len(t))))
    value = scale_drift(t, size).value
    assert scale_drift(t, 100 * size * gauge, gauge).value == pytest.approx(value)
    assert scale_drift(t, size[::-1]).value == pytest.approx(value)


def test_the_slope_is_evidence() -> None:
    """A log ramp of 0.1 per second has that slope and reads 0.45 of its whole rise."""
    t = clip(24)
    m = scale_drift(t, np.exp(0.1 * t))
    assert m.evidence["slope"] == pytest.approx(0.1)
    assert m.value == pytest.approx(0.45 * 0.6, rel=0.03)


def test_reasons() -> None:
    """A lost object, lost frames and sizes of 0 are told apart."""
    t = clip(24)
    size = np.ones(len(t))
    assert reason(lambda: scale_drift(t, None))[0] == "no_object"
    assert reason(lambda: scale_drift(t, size[:-1]))[0] == "bad_shape"
    assert reason(lambda: scale_drift(t[:7], size[:7]))[0] == "too_few_frames"
    assert reason(lambda: scale_drift(t, size * np.nan))[0] == "all_nan"
    assert reason(lambda: scale_drift(t, 0 * size))[0] == "zero_depth"
    assert reason(lambda: scale_drift(t, size, 0 * size))[0] == "zero_depth"
    size[7:] = np.nan
    assert reason(lambda: scale_drift(t, size))[0] == "too_few_frames"
