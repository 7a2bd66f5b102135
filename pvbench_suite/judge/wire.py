"""The wire format of an OpenAI-compatible server: requests into it, answers out of it, nothing in them trusted."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

from pvbench_suite.judge.backend import Answer
from pvbench_suite.judge.sampling import Picture
from pvbench_suite.judge.settings import api_key, redacted
from pvbench_suite.judge.verdict import LONGEST_ANSWER, Token


def part(given: str | Picture) -> dict[str, Any]:
    """Return a part of a message: a text, or a picture as a data URL."""
    if isinstance(given, str):
        return {"type": "text", "text": given}
    return {
        "type": "image_url",
        "image_url": {"url": f"data:{given.mime};base64,{base64.b64encode(given.data).decode()}"},
    }


def loose(wanted: dict[str, Any], form: int) -> dict[str, Any]:
    """Return the schema, without bounds and lengths where some servers refuse them."""
    if form == 0:
        return wanted
    bounds = {"minimum", "maximum", "minLength", "maxLength", "maxItems"}
    kept = {k: v for k, v in wanted.items() if k not in bounds}
    return {k: loose(v, form) if isinstance(v, dict) else v for k, v in kept.items()}


def _json(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def listed(body: bytes) -> list[dict[str, Any]]:
    """Return the models that a server lists; empty where it lists none."""
    data = _json(body).get("data")
    return [m for m in data if isinstance(m, dict)] if isinstance(data, list) else []


def answer(body: bytes) -> Answer:
    """Return the answer in the body of a chat completion; nothing in it is trusted to have the right type."""
    found = _json(body)
    choices = found.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    if choice is None:
        return Answer(redacted(body[:4000].decode("utf-8", "replace")), "something that is no chat completion")
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    usage = found.get("usage")
    counts = [usage.get(k) if isinstance(usage, dict) else None for k in ("prompt_tokens", "completion_tokens")]
    tokens_in, tokens_out = (c if type(c) is int and 0 <= c < 10**9 else None for c in counts)
    finish = choice.get("finish_reason")
    return Answer(
        text=_without_key(content) if isinstance(content, str) else None,
        finish=finish if isinstance(finish, str) else None,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens=_tokens(choice.get("logprobs")),
        served=redacted(str(found.get("model") or "")),
    )


def _without_key(text: str) -> str:
    """Return an answer without the key, in case the server sends it back."""
    key = api_key()
    return text[: LONGEST_ANSWER + 1].replace(key, "[key]") if key else text[: LONGEST_ANSWER + 1]


def _tokens(logprobs: Any) -> tuple[Token, ...]:
    """Return the tokens with their alternatives; empty where the server gives none or something else."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    out = []
    for entry in content if isinstance(content, list) else ():
        if not isinstance(entry, dict) or not isinstance(entry.get("token"), str):
            return ()
        tops = entry.get("top_logprobs")
        top = [
            (t["token"], float(t["logprob"]))
            for t in (tops if isinstance(tops, list) else ())
            if isinstance(t, dict) and isinstance(t.get("token"), str) and _is_number(t.get("logprob"))
        ]
        out.append(Token(entry["token"], tuple(top)))
    return tuple(out)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
