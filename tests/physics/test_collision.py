"""R24: balls that touch, sink in, or pass through each other and through planes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.physics.collision import gap_penetration, plane_penetration, sphere_penetration
from pvbench_suite.physics.robust import regularise_depth
from pvbench_suite.physics.series import sd3
from tests.physics.bodies import FPS, ar1, few, reason, world

RI, RJ = 0.2, 0.3
#: 2 standard errors from radii that are known to 3 %, in smaller radii.
KNOWN = 2 * 0.03 * math.hypot(RI, RJ) / RI


def meeting(overlap: float, fps: float = 24, hold: float = 0.4) -> np.ndarray:
    """Return distances (T,) of two centres that meet, stay `overlap` smaller radii deep for `hold` s, and part."""
    out = np.linspace(1.0, 0.0, round(fps))
    deep = RI + RJ - overlap * RI
    return np.concatenate([deep + out, np.full(round(hold * fps), deep), deep + out[::-1]])


def balls(distance: np.ndarray, along: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return centres of two balls at these distances; both drift."""
    way = np.array([1.0, 0.0, 0.0]) if along is None else along
    middle = np.linspace(0, 1, len(distance))[:, None] * [0.2, 0.5, 0.1] + [0, 0, 5.0]
    return middle + 0.5 * distance[:, None] * way, middle - 0.5 * distance[:, None] * way


@pytest.mark.parametrize("fps", FPS)
def test_an_overlap_reads_its_depth_less_what_the_radii_may_hide(fps: int) -> None:
    """Overlap p in smaller radii reads p - 2 SE at every frame rate; a touch reads 0."""
    for p in (0.0, 0.4, 0.9):
        m = sphere_penetration(*balls(meeting(p, fps)), RI, RJ, dt=1 / fps)
        assert m.value == pytest.approx(max(0.0, p - KNOWN), abs=1e-9)
        assert m.evidence["overlap"] == pytest.approx(p, abs=1e-9)


@few
@given(st.integers(0, 10**6))
def test_world_scale_exchange_mirror_and_time_do_not_matter(seed: int) -> None:
    """Any similarity of the world, either ball first, reversed time and a mirror give the same."""
    ci, cj = balls(meeting(0.5))
    scale, turn, shift = world(seed)
    wanted = 0.5 - KNOWN
    a, b = (scale * c @ turn.T + shift for c in (ci, cj))
    axis = turn @ [0, 0, 1.0]
    for value in (
        sphere_penetration(a, b, scale * RI, scale * RJ, axis=axis).value,
        sphere_penetration(cj, ci, RJ, RI).value,
        sphere_penetration(ci[::-1], cj[::-1], RI, RJ).value,
        sphere_penetration(ci * [-1, 1, 1], cj * [-1, 1, 1], RI, RJ).value,
    ):
        assert value == pytest.approx(wanted, abs=1e-9)


def test_a_ghost_shows_no_response_and_a_bounce_its_own() -> None:
    """Passing through leaves the velocity as it is (1); an elastic head-on hit turns it round (-1)."""
    x = np.linspace(-1.2, 1.2, 60)
    off = np.stack([x, 0.1 + 0 * x, 0 * x], axis=-1) + np.array([0, 0, 5.0])
    ghost = sphere_penetration(off, np.broadcast_to([0, 0, 5.0], off.shape), RI, RJ)
    assert ghost.evidence["response"] == pytest.approx(1.0, abs=0.05)
    assert ghost.value > 1.0
    back = np.abs(x) + RI + RJ
    bounce = sphere_penetration(*balls(back), RI, RJ)
    # The deepest frame lies half a frame off the contact, which costs an eighth of the reversal.
    assert bounce.evidence["response"] == pytest.approx(-1.0, abs=0.2)
    assert bounce.value == 0.0


def test_a_plane_and_a_general_body_are_measured_alike() -> None:
    """The signed distance of a ball's centre to a plane, or of any two surfaces, takes the place of the centres."""
    height = meeting(0.5) - RJ
    assert plane_penetration(height, RI).value == pytest.approx(0.5 - 0.06, abs=1e-9)
    assert gap_penetration(meeting(0.5) - RI - RJ, RI, RJ).value == pytest.approx(0.5 - KNOWN, abs=1e-9)


def test_depth_error_counts_only_along_the_depth_axis() -> None:
    """Centres across the axis keep their value, along it they are too noisy."""
    distance = meeting(0.5)
    across = sphere_penetration(*balls(distance), RI, RJ, depth_sd=0.02)
    assert across.value == pytest.approx(0.5 - KNOWN, abs=1e-9)
    along = balls(distance, np.array([0.0, 0.0, 1.0]))
    assert reason(lambda: sphere_penetration(*along, RI, RJ, depth_sd=0.02))[0] == "too_noisy"
    slight = sphere_penetration(*along, RI, RJ, depth_sd=0.001).value
    assert slight == pytest.approx(0.5 - 2 * math.hypot(0.03 * math.hypot(RI, RJ), 0.004) / RI, abs=1e-9)


def test_events_that_stayed_away_are_told_apart_from_noise() -> None:
    """Far: no contact; still: no motion; noise never earns either as a demanded event."""
    far = balls(meeting(-2.0))
    assert reason(lambda: sphere_penetration(*far, RI, RJ)) == ("no_contact", True)
    still = balls(np.full(60, RI + RJ))
    assert reason(lambda: sphere_penetration(*still, RI, RJ)) == ("no_motion", True)
    rng = np.random.default_rng(0)
    shaky = balls(RI + RJ + 0.12 * RI * rng.normal(size=96))
    assert reason(lambda: sphere_penetration(*shaky, RI, RJ))[0] == "too_noisy"
    distant = balls(meeting(-2.0) + 0.4 * RI * rng.normal(size=len(meeting(-2.0))))
    assert reason(lambda: sphere_penetration(*distant, RI, RJ)) == ("no_contact", False)


def test_two_balls_that_lie_still_do_not_meet_because_their_depths_wander() -> None:
    """The line of centres wanders with the depths, and its error is taken where it is large."""
    rest, t = np.tile([[-0.14, 0.05, 4.0], [0.14, -0.05, 4.03]], (72, 1, 1)), np.arange(72) / 24
    for seed in range(80):
        a, b = (rest[:, n] * (1 + ar1(72, 0.02, 24, 2 * seed + n)) for n in (0, 1))
        sd = float(sd3(a[:, 2] - b[:, 2]))
        a, b = regularise_depth(t, a), regularise_depth(t, b)
        found, _ = reason(lambda a=a, b=b, sd=sd: sphere_penetration(a, b, 0.15, 0.15, depth_sd=sd))
        assert found in ("no_motion", "too_noisy")


def test_each_perception_reason_is_given() -> None:
    """The first check that holds is the reason."""
    ci, cj = balls(meeting(0.5))
    assert reason(lambda: sphere_penetration(None, cj, RI, RJ))[0] == "no_object"
    assert reason(lambda: sphere_penetration(ci, cj[:9], RI, RJ))[0] == "bad_shape"
    assert reason(lambda: sphere_penetration(ci[:7], cj[:7], RI, RJ))[0] == "too_few_frames"
    assert reason(lambda: sphere_penetration(ci * np.nan, cj, RI, RJ))[0] == "all_nan"
    for radii in ((0.0, RJ), (RI, 0.0), (math.nan, RJ)):
        assert reason(lambda r=radii: sphere_penetration(ci, cj, *r))[0] == "zero_depth"
    assert reason(lambda: plane_penetration(meeting(0.5), 0.0))[0] == "zero_depth"
    gone = np.where(np.arange(len(ci))[:, None] < 7, ci, np.nan)
    assert reason(lambda: sphere_penetration(gone, cj, RI, RJ))[0] == "too_few_frames"


def test_a_bounce_between_two_frames_is_no_event_that_stayed_away() -> None:
    """A fast ball touches between two samples: the contact could not have been seen, so nothing is charged."""
    t = np.arange(48) / 24.0
    height = 0.17 + np.abs(1.3 - 5.2 * np.abs(t - 1.02))
    with pytest.raises(Unmeasurable, match="no_contact") as fast:
        plane_penetration(height, 0.17)
    assert not fast.value.detectable
    with pytest.raises(Unmeasurable, match="no_contact") as far:
        plane_penetration(1.0 + 0.3 * np.sin(t), 0.17)
    assert far.value.detectable
