"""The judge: 26 dimensions by rubric, with verdicts that can be trusted.

`settings_from` reads the options, `configured` makes the judge of a run from them (or None), `JudgeService` asks it.
Importing this package loads neither the client library nor torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pvbench_suite.judge.protocol import REMEDY, Judge, Verdict
from pvbench_suite.judge.settings import Settings, judge_name, settings_from
from pvbench_suite.video.types import Video

if TYPE_CHECKING:
    from pvbench_suite.judge.service import JudgeService

__all__ = ["REMEDY", "Judge", "Settings", "Verdict", "configured", "judge_name", "settings_from"]


def configured(
    settings: Settings | None = None,
    digest: Callable[[Video], str] | None = None,
    folders: Callable[[Video], Sequence[Path]] | None = None,
    *,
    share: Path | None = None,
    workers: int = 1,
) -> JudgeService | None:
    """Return the judge of a run, or None where none is configured.

    Parameters
    ----------
    settings : Settings, optional
        What `settings_from` returned.
    digest, folders : callable
        The sha256 of a video's bytes, and its cache folders.
    share : Path, optional
        The folder that the workers of the run share; None makes one.
    workers : int
        How many workers share it.
    """
    if settings is None or digest is None or folders is None:
        return None
    from pvbench_suite.judge.service import JudgeService

    return JudgeService(settings, digest, folders, share=share, workers=workers)
