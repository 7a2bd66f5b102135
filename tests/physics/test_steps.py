"""The windows and the step test that R16 and R20 share."""

from __future__ import annotations

import numpy as np
import pytest

from pvbench_suite.physics.steps import (
    Windows,
    can_test,
    contact_times,
    eligible,
    find_windows,
    fit_steps,
    require_testable,
    step_sizes,
)
from tests.physics.bodies import reason


def times(fps: float, n: int = 72) -> np.ndarray:
    """Return `n` frame times."""
    return np.arange(n) / fps


@pytest.mark.parametrize(("fps", "side"), [(8, 5), (12, 5), (24, 6), (30, 8), (60, 15)])
def test_windows_hold_a_quarter_second_or_five_frames(fps: float, side: int) -> None:
    """In the middle of a clip each side has the stated number of samples, also where the edge is a tie (30 fps)."""
    windows = find_windows(times(fps), contact_times(None), 1 / fps)
    middle = 35
    assert windows.split[middle] - windows.low[middle] == side
    assert windows.high[middle] - windows.split[middle] == side
    assert windows.tau[middle] == pytest.approx((middle + 0.5) / fps)


def test_windows_stop_at_contacts() -> None:
    """No window reaches over a contact or to the frames beside it, and the contact is one instant of its own."""
    t, dt = times(24), 1 / 24
    hits = contact_times([35.5 * dt, np.nan])
    used = t[eligible(t, hits, dt)]
    assert len(used) == 70
    windows = find_windows(t, hits, dt)
    assert windows.contact.sum() == 1
    for w in range(len(windows.tau) - 1):
        span = used[windows.low[w] : windows.high[w]]
        assert (span < hits[0]).all() or (span > hits[0]).all()
        assert abs(windows.tau[w] - hits[0]) >= 1.5 * dt - 1e-4
    at = windows.take(windows.contact)
    assert (used[at.split[0] - 1], used[at.split[0]]) == pytest.approx((34 * dt, 37 * dt))
    assert at.split[0] - at.low[0] == at.high[0] - at.split[0] == 6


def test_two_contacts_with_a_frame_between_cannot_be_tested() -> None:
    """Each of two contacts two frames apart is cut by the other, so that neither has four samples a side."""
    t, dt = times(24), 1 / 24
    windows = find_windows(t, contact_times([1.5, 1.5 + 2 * dt]), dt)
    assert not can_test(windows.take(windows.contact)).any()


def test_a_wide_gap_is_no_instant() -> None:
    """Frames more than half a second apart are not compared, also at a contact."""
    t = np.delete(times(24), np.arange(30, 45))
    windows = find_windows(t, contact_times([1.6]), 1 / 24)
    assert not windows.contact.any()
    assert len(windows.tau) == len(t) - 2
    assert reason(lambda: find_windows(np.arange(9.0), contact_times(None), 1.0))[0] == "too_few_frames"


def test_fewer_than_a_third_testable_is_too_few() -> None:
    """Contacts every six frames leave almost nothing to test."""
    windows = find_windows(times(24), contact_times(0.26 + np.arange(11) * 0.25), 1 / 24)
    assert reason(lambda: require_testable(windows))[0] == "too_few_frames"


def fitted(path: np.ndarray, sd: float = 1e-6) -> np.ndarray:
    """Return the step sizes of a path at 24 fps with isotropic noise `sd`."""
    t = times(24, len(path))
    windows = require_testable(find_windows(t, contact_times(None), 1 / 24))

    def coordinates(w: Windows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        index, _ = w.frames()
        eye = np.broadcast_to(np.eye(3), (len(index), 3, 3))
        return path[index], sd**2 * eye, eye / sd

    return step_sizes(fit_steps(t, windows, coordinates), 4.0, 1 / 24)


def test_steps_are_sized_and_smooth_motion_is_not() -> None:
    """A step d reads d, a velocity step V reads V/4, a sine and a quartic read 0."""
    s = times(24) - 1.5 + 0.5 / 24
    none = np.zeros((72, 3))
    late = (s > 0)[:, None]
    assert fitted(none + late * [0.3, 0, 0.4]).max() == pytest.approx(0.5, abs=1e-4)
    assert fitted(none + late * s[:, None] * [0, 2.0, 0]).max() == pytest.approx(0.5, abs=1e-4)
    assert fitted(none + np.sin(2 * s)[:, None]).max() < 1e-3
    assert fitted(none + (s**4)[:, None]).max() < 1e-3


def test_steps_every_five_frames_are_found_with_four_samples_a_side() -> None:
    """The retry with the nearest samples sees steps that the whole window would mix up."""
    path = np.zeros((72, 3))
    path[:, 0] = np.arange(72) // 5
    assert fitted(path, 1e-4).max() == pytest.approx(1.0, rel=0.05)
