"""Reading an answer by its schema alone: no substring search, no default, no guess.

An answer is valid when it is complete (`finish_reason` is "stop"), holds exactly one JSON object with the four keys of
the schema, and its values are what the schema says.  Around the object only a whole ``<think>...</think>`` block before
it and one code fence about it are tolerated.  Everything else raises `InvalidAnswer`, whose message is of the suite's
own wording: it is told to the judge on the next try and may be shown anywhere.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LONGEST_REASON = 400
#: An answer beyond this is not read [characters].
LONGEST_ANSWER = 65_536

_KEYS = ("observable", "score", "reason", "frames")
_THINKING = re.compile(r"\s*<think>(?:(?!</?think>).)*</think>", re.DOTALL)
_FENCE = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2060-\u2069\ud800-\udfff]")
_SCORE = re.compile(r'"score"\s*:\s*')
#: Least probability that the five scores must hold together for an expectation to mean anything.
_LEAST_MASS = 0.5


class InvalidAnswer(ValueError):
    """The answer is no verdict; the message says why."""


@dataclass(frozen=True)
class Parsed:
    """A valid answer; `score` is None when the judge says that nothing can be observed."""

    observable: bool
    score: int | None
    reason: str
    frames: tuple[int, ...]


@dataclass(frozen=True)
class Token:
    """One token of an answer and its most probable alternatives (text, log probability), itself among them."""

    text: str
    top: tuple[tuple[str, float], ...]


def schema(frames: int) -> dict[str, Any]:
    """Return the JSON schema of an answer about that many frames."""
    cited = {"type": "integer", "minimum": 0, "maximum": max(frames - 1, 0)}
    return {
        "type": "object",
        "properties": {
            "observable": {"type": "boolean"},
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
            "reason": {"type": "string", "minLength": 1, "maxLength": LONGEST_REASON},
            "frames": {"type": "array", "items": cited, "maxItems": max(frames, 1)},
        },
        "required": list(_KEYS),
        "additionalProperties": False,
    }


def parse(text: str | None, finish: str | None, frames: int) -> Parsed:
    """Return the verdict in an answer.

    Parameters
    ----------
    text : str or None
        The answer.
    finish : str or None
        Why the backend stopped; only "stop" is complete.
    frames : int
        How many frames were shown.

    Raises
    ------
    InvalidAnswer
        If it is not complete, not one JSON object, or not by the schema.

    Examples
    --------
    >>> parse('{"observable": true, "score": 4.0, "reason": "a gap", "frames": [3]}', "stop", 16).score
    4
    """
    if finish != "stop":
        cut = "it was cut at the token limit" if finish == "length" else f"it ended by {_show(finish)}, not by stop"
        raise InvalidAnswer(cut)
    if not text or not text.strip():
        raise InvalidAnswer("it was empty")
    if len(text) > LONGEST_ANSWER:
        raise InvalidAnswer(f"it had {len(text)} characters")
    answer = _object(_bare(text))
    return _checked(answer, frames)


def _bare(text: str) -> str:
    """Return the text without one whole reasoning block before it and one code fence about it."""
    if (thought := _THINKING.match(text)) is not None:
        text = text[thought.end() :]
    text = text.strip()
    if (fence := _FENCE.fullmatch(text)) is not None:
        text = fence[1].strip()
    return text


def _object(text: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise InvalidAnswer("a key stood twice")
        return found

    def constant(name: str) -> Any:
        raise InvalidAnswer(f"{name} is no JSON number")

    try:
        answer = json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except InvalidAnswer:
        raise
    except (ValueError, RecursionError):
        raise InvalidAnswer("it was not one JSON object and nothing else") from None
    if not isinstance(answer, dict):
        raise InvalidAnswer(f"it was {_show(answer)}, not a JSON object")
    return answer


def _checked(answer: dict[str, Any], frames: int) -> Parsed:
    if missing := [key for key in _KEYS if key not in answer]:
        raise InvalidAnswer(f"the key {missing[0]} was missing")
    if extra := [key for key in answer if key not in _KEYS]:
        raise InvalidAnswer(f"the key {_show(extra[0])} is none of {', '.join(_KEYS)}")
    observable, reason = answer["observable"], answer["reason"]
    if type(observable) is not bool:
        raise InvalidAnswer(f"observable was {_show(observable)}, not true or false")
    score = _score(answer["score"], observable)
    if type(reason) is not str or not reason.strip():
        raise InvalidAnswer(f"reason was {_show(reason)}, not a text")
    if len(reason) > LONGEST_REASON:
        raise InvalidAnswer(f"reason had {len(reason)} characters, more than {LONGEST_REASON}")
    return Parsed(observable, score, " ".join(_CONTROL.sub(" ", reason).split()), _cited(answer["frames"], frames))


def _score(value: Any, observable: bool) -> int | None:
    """Return a whole score 1..5; None, whatever it says, where nothing is observable and it is whole or null."""
    if not observable and value is None:
        return None
    whole = _whole(value)
    if whole is None or not 1 <= whole <= 5:
        raise InvalidAnswer(f"score was {_show(value)}, not a whole number from 1 to 5")
    return whole if observable else None


def _whole(value: Any) -> int | None:
    """Return a JSON number without a fraction as an int (4.0 is 4), else None; true is no number."""
    if type(value) is int:
        return value
    return int(value) if type(value) is float and math.isfinite(value) and value.is_integer() else None


def _cited(value: Any, frames: int) -> tuple[int, ...]:
    if type(value) is not list or len(value) > max(frames, 1):
        raise InvalidAnswer(f"frames was {_show(value)}, not a list of at most {max(frames, 1)} frame numbers")
    out = []
    for item in value:
        whole = _whole(item)
        if whole is None or not 0 <= whole < frames:
            raise InvalidAnswer(f"frames held {_show(item)}, not a number from 0 to {frames - 1}")
        out.append(whole)
    return tuple(out)


def _show(value: Any) -> str:
    """Return a short form of a value for a message; never longer than a few words, always plain ASCII."""
    if isinstance(value, str):
        return json.dumps(value[:20]) + (" and more" if len(value) > 20 else "")
    if isinstance(value, (list, dict)):
        return f"a {'list' if isinstance(value, list) else 'object'} of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= 24 else text[:24] + "..."


def expectation(tokens: Sequence[Token]) -> tuple[float, float] | None:
    """Return the probability-weighted score in [1, 5] and its entropy [bits], or None.

    They come from the alternatives to the one token that holds the score.  None where there is no such token by
    itself, or where the five scores together have less than half of the probability.
    """
    chosen = _score_token(tokens)
    if chosen is None:
        return None
    mass = [0.0] * 5
    for text, logprob in chosen.top:
        digit = text.strip()
        if digit in ("1", "2", "3", "4", "5") and math.isfinite(logprob) and logprob <= 1e-6:
            mass[int(digit) - 1] += math.exp(min(logprob, 0.0))
    total = sum(mass)
    if not _LEAST_MASS <= total <= 1.0 + 1e-3:
        return None
    shares = [m / total for m in mass]
    mean = sum(k * p for k, p in enumerate(shares, start=1))
    return round(mean, 4), round(sum(p * math.log2(1.0 / p) for p in shares if p > 0.0) + 0.0, 4)


def _score_token(tokens: Sequence[Token]) -> Token | None:
    """Return the token that begins the value of the key ``score`` of the answer's object."""
    text = "".join(token.text for token in tokens)
    # Inside a JSON string the quotes of a key would be escaped, so the key stands once in a valid answer.
    found = list(_SCORE.finditer(text, text.rfind("</think>") + 1))
    if len(found) != 1:
        return None
    at, start = found[0].end(), 0
    for token in tokens:
        stop = start + len(token.text)
        if stop > at:
            alone = token.text.strip() in ("1", "2", "3", "4", "5")
            return token if alone and start + len(token.text) - len(token.text.lstrip()) == at else None
        start = stop
    return None
