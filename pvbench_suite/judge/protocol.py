"""`Judge` and `Verdict`: who scores 1..5 by a rubric, and what a valid answer is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pvbench_suite.dimensions import Dimension
from pvbench_suite.errors import JudgeFailed, Unmeasurable
from pvbench_suite.prompts.schema import Group
from pvbench_suite.video.types import Clip, Video

if TYPE_CHECKING:
    from pvbench_suite.judge.evidence import Evidence

#: How much of an answer a row keeps [characters].
LONGEST_RAW = 4_000

#: What a pair says where no judge is configured.
REMEDY = "add a judge: --pv-judge-url=URL of any OpenAI-compatible server, --pv-judge-model=NAME (docs/judge.md)"


@dataclass(frozen=True)
class Verdict:
    """A valid answer: an integer score 1..5 with its reason, and what a reader needs to check it.

    Parameters
    ----------
    score : int
        1 to 5; nothing else is a verdict.
    reason : str
        The judge's words, without control characters.
    raw : str
        The answer as it came.
    tokens_in, tokens_out : int or None
        Tokens of all tries as the backend counts them; None where it does not.
    seconds : float or None
        Time from question to answer, over all tries [s].
    tries : int
        How many answers were asked for until one was valid.
    expected : float or None
        Score weighted by the probabilities of its token, in [1, 5]; None without log probabilities.
    entropy : float or None
        Entropy of those probabilities [bits], in [0, log2 5].
    frames : tuple of int
        Numbers of the frames that the judge cites.
    evidence : tuple of str
        The measured lines that it was given.
    cached : bool
        Whether it was asked in an earlier run.
    """

    score: int
    reason: str
    raw: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float | None = None
    tries: int = 1
    expected: float | None = None
    entropy: float | None = None
    frames: tuple[int, ...] = ()
    evidence: tuple[str, ...] = ()
    cached: bool = False

    def __post_init__(self) -> None:
        if type(self.score) is not int or not 1 <= self.score <= 5:
            raise ValueError(f"a verdict's score is an integer 1..5, got {self.score!r}")

    def to_row(self) -> dict[str, Any]:
        """Return what the row of the pair keeps under the key ``judge``, as plain values."""
        return {
            "raw": self.raw[:LONGEST_RAW],
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "seconds": self.seconds,
            "tries": self.tries,
            "expected": self.expected,
            "entropy": self.entropy,
            "frames": list(self.frames),
            "evidence": list(self.evidence),
            "cached": self.cached,
        }


class NotObservable(Unmeasurable):
    """The judge says that the video does not show what the rubric asks; `judge` is for the row's key of that name."""

    def __init__(self, detail: str, judge: dict[str, Any]) -> None:
        super().__init__("not_observable", detail)
        self.judge = judge


class NoVerdict(JudgeFailed):
    """The judge answered, but never validly; `judge` is for the row's key of that name."""

    def __init__(self, message: str, judge: dict[str, Any]) -> None:
        super().__init__(message)
        self.judge = judge


class Judge(Protocol):
    """Scores one video on one dimension."""

    def id(self, dimension: Dimension) -> str:
        """Return backend, model, revision and a digest of rubric, sampling and decoding: part of a row's identity."""

    def __call__(
        self,
        video: Video,
        clip: Clip | Callable[[], Clip],
        group: Group | None,
        dimension: Dimension,
        evidence: Evidence | None = None,
    ) -> Verdict:
        """Return the verdict.

        Parameters
        ----------
        video : Video
            The video; its `prompt` counts where it has no group.
        clip : Clip or callable
            Its frames, or what gives them; a callable is called only if the judge has to be asked.
        group : Group or None
            The prompt group.
        dimension : Dimension
            A dimension with a rubric.
        evidence : Evidence, optional
            What was measured.

        Raises
        ------
        Unmeasurable
            ``not_observable``, when the judge says so.
        JudgeFailed
            When there is no valid verdict after the retries.
        NotPerceived
            When the judge does not answer at all, or may not be asked any more.
        """
