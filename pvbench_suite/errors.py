"""Errors and the fixed reasons of the suite.

Two kinds live here.  `UserError` and its children are mistakes that a person can repair; the command line and the
plugin show them as one line (what, where, what to do next) and exit with status 4.  The others are outcomes of one
(video, dimension) pair: each ends the pair in a definite state of spec ``benchmark.md`` and never becomes a number.
"""

from __future__ import annotations

#: Reasons that a demanded event turns into score 1 (`event_absent`) when perception is healthy.
EVENT_REASONS = frozenset(
    {
        "no_motion",
        "no_pose_change",
        "no_deformation",
        "no_rotation",
        "no_airborne",
        "no_collision",
        "no_contact",
        "no_transition",
        "no_parallax",
        "weak_collision",
    }
)

#: Reasons that never become a score: perception could not see what is needed.
PERCEPTION_REASONS = frozenset(
    {
        "no_object",
        "bad_shape",
        "too_small",
        "too_few_frames",
        "all_nan",
        "zero_depth",
        "too_noisy",
        "no_cue",
        "no_light_basis",
        "turning",
        "exempt",
        "no_static_region",
        "not_observable",
    }
)

REASONS = EVENT_REASONS | PERCEPTION_REASONS


class PVBenchError(Exception):
    """Base class of everything that the suite raises on purpose."""


class UserError(PVBenchError):
    """Something that the person at the keyboard can repair; shown as one line, exit status 4."""


class ThresholdError(UserError):
    """A table in ``thresholds/`` is wrong; the message names file, table and key."""


class ModelDirError(UserError):
    """A model directory, manifest or layout cannot be used as given."""


class PromptError(UserError):
    """A prompt file is wrong; the message names file, line and key."""


class Unmeasurable(PVBenchError):
    """The video offers nothing to measure, for one of the fixed `REASONS`.

    Parameters
    ----------
    reason : str
        One of `REASONS`; anything else is a bug and raises `ValueError`.
    detail : str
        One short clause for people ("3 of 8 frames"); never parsed.
    detectable : bool
        True when an event of the demanded size would have been seen (3 standard errors are below the gate).  Only
        then may a missing demanded event count as `event_absent`; otherwise the pair is ``too_noisy``.
    """

    def __init__(self, reason: str, detail: str = "", *, detectable: bool = True) -> None:
        if reason not in REASONS:
            raise ValueError(f"unknown reason {reason!r}; the fixed list is pvbench_suite.errors.REASONS")
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail
        self.detectable = detectable


class NotPerceived(PVBenchError):
    """A perception product, a judge or a kernel that the pair needs is not there.

    `remedy` is one line that says how to get it.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}" if remedy else what)
        self.what = what
        self.remedy = remedy


class BrokenVideo(PVBenchError):
    """The file cannot be decoded, or decodes to fewer frames than it declares."""


class JudgeFailed(PVBenchError):
    """The judge answered, but not with a valid verdict after its retries."""
