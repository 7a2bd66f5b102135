"""`Settings`: where the judge is, how it is asked, and what of that belongs to its identity.

The key of a server is never a setting: it is read from the environment where the client is made, and nowhere kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from pvbench_suite.dimensions import Dimension
from pvbench_suite.errors import UserError
from pvbench_suite.perception.cache import DECODE_SPEC

#: The judge's weights of the paper, and what this suite takes as well.
DEFAULT_MODEL = "Qwen/Qwen3.8-27B"
ALTERNATIVES = ("Qwen/Qwen3.5-9B", "OpenGVLab/InternVL3_5-8B-HF")

#: In place of a URL: the model runs in this process.
IN_PROCESS = "transformers"
#: Raised when the wording of a request or the reading of an answer changes, so that old judgements do not count.
REQUEST_SCHEMA = 1
KEY_VARIABLES = ("PVBENCH_JUDGE_API_KEY", "OPENAI_API_KEY")

FRAMES_PER_SECOND = 2.0
LEAST_FRAMES = 16
LONG_SIDE = 640
JPEG_QUALITY = 90
TOP_TOKENS = 10


@dataclass(frozen=True)
class Settings:
    """How a run asks its judge.

    Parameters
    ----------
    url : str
        Base URL of an OpenAI-compatible server, ``transformers`` for a model in this process, or empty in a dry run.
    model : str
        Name of the model; in this process it may end in ``@revision``.
    revision : str
        What the server says of the model's weights, where it says anything.
    concurrency : int
        Requests under way at a time, over all workers.
    max_requests : int or None
        Most HTTP requests of the run, retries included, over all workers.
    frames : int
        Most frames of a request.
    dry_run : bool
        Estimate, and ask nothing.
    timeout : float
        Longest wait for one answer [s].
    retries : int
        How often the client library repeats a request that failed (429, 5xx, timeout, closed connection).
    tries : int
        How many answers are asked for until one is valid.
    max_tokens : int
        Longest answer.
    seed : int
        Seed of the decoder, where the backend takes one.
    """

    url: str
    model: str = DEFAULT_MODEL
    revision: str = ""
    concurrency: int = 8
    max_requests: int | None = None
    frames: int = 32
    dry_run: bool = False
    timeout: float = 180.0
    retries: int = 6
    tries: int = 3
    max_tokens: int = 2048
    seed: int = 0

    @property
    def kind(self) -> str:
        """The kind of backend: ``transformers`` or ``http``."""
        return IN_PROCESS if self.url == IN_PROCESS else "http"

    @property
    def least_frames(self) -> int:
        """Fewest frames of a request, where the clip has as many."""
        return min(LEAST_FRAMES, self.frames)

    def id(self, dimension: Dimension) -> str:
        """Return the judge's id for one dimension: ``http:Qwen/Qwen3.8-27B@main#1f2e3d4c5b``.

        The digest covers rubric, wording, sampling and decoding; the place of the server is no part of it.
        """
        rubric = dimension.rubric.model_dump(mode="json") if dimension.rubric else None
        content = {
            "rubric": rubric,
            "schema": REQUEST_SCHEMA,
            "sampling": [FRAMES_PER_SECOND, self.least_frames, self.frames, LONG_SIDE, JPEG_QUALITY, DECODE_SPEC],
            "decode": {"temperature": 0, "seed": self.seed, "max_tokens": self.max_tokens, "tries": self.tries},
        }
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:10]
        return f"{self.name}#{digest}"

    @property
    def name(self) -> str:
        """The judge without the digest of a dimension: backend, model, revision."""
        return f"{self.kind}:{_plain(self.model)}" + (f"@{_plain(self.revision)}" if self.revision else "")

    def to_plain(self) -> dict[str, Any]:
        """Return the settings as plain values, for a worker; there is no key among them."""
        return asdict(self)


def judge_name(scorer: str) -> str:
    """Return who scored, without the digest of rubric and sampling: what the ids of one judge have in common."""
    return scorer.rpartition("#")[0] or scorer


def _plain(text: str) -> str:
    """Return a model's name without what would break a table, a line or the id itself."""
    return re.sub(r"[^A-Za-z0-9_./:@+-]", "_", text)[:120]


def api_key() -> str | None:
    """Return the server's key from the environment, or None.

    Raises
    ------
    UserError
        If it cannot be sent in a header; the message does not show it.
    """
    for variable in KEY_VARIABLES:
        value = os.environ.get(variable, "").strip()
        if value:
            if not re.fullmatch(r"[\x21-\x7e]+", value):
                raise UserError(f"{variable}: holds characters that a header cannot carry")
            return value
    return None


def redacted(text: str) -> str:
    """Return `text` without the key and without control characters, at most 300 characters: safe in rows and logs."""
    for variable in KEY_VARIABLES:
        value = os.environ.get(variable, "").strip()
        if value:
            text = text.replace(value, "[key]")
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).split())[:300]


def _whole(text: str | int | None, option: str, least: int, most: int, default: int | None) -> int | None:
    if text is None or text == "":
        return default
    try:
        value = int(str(text))
    except ValueError:
        raise UserError(f"{option} {text}: is not a whole number") from None
    if not least <= value <= most:
        raise UserError(f"{option} {text}: must be {least} to {most}")
    return value


def _base_url(text: str) -> str:
    """Return the base URL as the client takes it; a URL without a path gets ``/v1``."""
    if text.strip() == IN_PROCESS:
        return IN_PROCESS
    try:
        parts = urlsplit(text.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = parts = None
    # The text is not shown from here on: it may hold a password.
    if parts is None or parts.scheme not in ("http", "https") or not host:
        raise UserError(f"--pv-judge-url: needs http://HOST[:PORT][/PATH], https://... or {IN_PROCESS}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UserError(f"--pv-judge-url: must not hold a user, a key, a ? or a #; put the key into {KEY_VARIABLES[0]}")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/') or '/v1'}"


def settings_from(
    url: str | None = None,
    model: str | None = None,
    concurrency: str | int | None = None,
    max_requests: str | int | None = None,
    frames: str | int | None = None,
    dry_run: bool = False,
) -> Settings | None:
    """Return the checked settings, or None where no judge is asked for; the arguments are the options' raw values.

    Raises
    ------
    UserError
        At the first value that cannot be used, in one line.
    """
    given = {"model": model, "concurrency": concurrency, "max-requests": max_requests, "frames": frames}
    if not url and not dry_run:
        for name, value in given.items():
            if value not in (None, ""):
                raise UserError(f"--pv-judge-{name} {value}: says how to ask, but not whom; give --pv-judge-url=URL")
        return None
    if model and not re.fullmatch(r"[^\s\x00-\x1f\x7f]{1,200}", model):
        raise UserError("--pv-judge-model: is a name without blanks, at most 200 characters")
    return Settings(
        url=_base_url(url) if url else "",
        model=model or DEFAULT_MODEL,
        concurrency=_whole(concurrency, "--pv-judge-concurrency", 1, 1024, 8) or 8,
        max_requests=_whole(max_requests, "--pv-judge-max-requests", 1, 10**9, None),
        frames=_whole(frames, "--pv-judge-frames", 2, 256, 32) or 32,
        dry_run=dry_run,
    )
