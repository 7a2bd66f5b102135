"""Any OpenAI-compatible server as a judge: vLLM, SGLang, llama.cpp, transformers serve, a cloud.

The client library does connections, time limits and repetition (429, 5xx, timeouts, closed connections, with backoff).
What a server may refuse (a JSON schema, log probabilities, a seed, the switch that turns thinking off) is left out once
it has refused it, and that is remembered.  No exception of the client leaves this module: its frames hold the key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pvbench_suite.errors import UserError
from pvbench_suite.judge.backend import Answer, CapReached, Refused, Unavailable
from pvbench_suite.judge.request import Request
from pvbench_suite.judge.settings import KEY_VARIABLES, TOP_TOKENS, Settings, api_key, redacted
from pvbench_suite.judge.verdict import schema
from pvbench_suite.judge.wire import answer, listed, loose, part

#: Called before every HTTP request for an answer with whether it is a repeated one; may raise `CapReached`.
Gate = Callable[[bool], None]

_RETRY = "x-stainless-retry-count"
_TOO_LONG = ("context length", "context window", "too long", "too many tokens", "context size", "max_model_len")


@dataclass(frozen=True)
class Ways:
    """What is asked of the server beyond the question.

    `form`: 0 the whole JSON schema, 1 without bounds and lengths, 2 any JSON object, 3 nothing.  `newer`: the limit of
    tokens goes by its newer name.
    """

    form: int = 0
    logprobs: bool = True
    thinking: bool = True
    seed: bool = True
    newer: bool = False

    def less(self, message: str, blind: bool) -> Ways | None:
        """Return the ways without what `message` refuses, or None; `blind`: without the next one if it names none."""
        text = message.lower()
        if "max_completion_tokens" in text and not self.newer:
            return replace(self, newer=True)
        named = {
            "thinking": any(w in text for w in ("chat_template", "enable_thinking")),
            "logprobs": "logprob" in text,
            "seed": "seed" in text,
            "form": any(w in text for w in ("response_format", "json_schema", "json_object", "schema", "grammar")),
        }
        for name, refused in named.items():
            if refused and (left := self._without(name)) is not None:
                return left
        if blind and not any(w in text for w in _TOO_LONG):
            return next((left for name in named if (left := self._without(name)) is not None), None)
        return None

    def _without(self, name: str) -> Ways | None:
        if name == "form":
            return replace(self, form=self.form + 1) if self.form < 3 else None
        return replace(self, **{name: False}) if getattr(self, name) else None


class _Bad(Exception):
    """The server calls the request bad, and how."""


class HttpBackend:
    """Asks a server by its URL.

    Parameters
    ----------
    settings : Settings
        Where and how.
    gate : callable
        Called before every HTTP request for an answer.

    Raises
    ------
    UserError
        If the client library is not installed, or the key cannot be sent.
    """

    def __init__(self, settings: Settings, gate: Gate) -> None:
        self._settings = settings
        self._gate = gate
        self._ways = Ways()
        self._proven = False
        self._openai, self._client = _client(settings, self._before)

    async def _before(self, request: Any) -> None:
        if request.method == "POST":
            self._gate(str(request.headers.get(_RETRY, "0")) not in ("", "0"))

    async def revision(self) -> str:
        """Return the path or revision that the server states for the model, where it lists its models at all."""
        gone: Exception | None = None
        models: list[dict[str, Any]] = []
        # Whoever waits for a run to start should not wait as long as for an answer.
        brief = self._client.with_options(max_retries=1, timeout=min(15.0, self._settings.timeout))
        try:
            raw = await brief.models.with_raw_response.list()
            models = listed(raw.content)
        except self._openai.OpenAIError as error:
            if getattr(error, "status_code", None) not in (404, 405, 501):
                gone = self._gone(error)
        # A server need not list its models.
        if gone is not None and not isinstance(gone, _Bad):
            raise gone
        names = [str(m.get("id")) for m in models]
        model = self._settings.model
        if models and model not in names:
            shown = redacted(", ".join(names[:5]))
            raise Unavailable(
                f"the server has no model {model!r}", f"it has {shown}; choose with --pv-judge-model", lasting=True
            )
        root = next((m.get("root") or m.get("revision") for m in models if m.get("id") == model), None)
        return redacted(root) if isinstance(root, str) and root != model else ""

    async def ask(self, request: Request) -> Answer:
        """Return the answer to `request`; see `Backend.ask`."""
        ways = self._ways
        while True:
            try:
                found = await self._send(request, ways)
            except _Bad as bad:
                left = ways.less(str(bad), blind=not self._proven)
                message = str(bad)
            else:
                # Others may have learned something meanwhile; what the server takes only ever gets less.
                self._ways = ways
                self._proven = True
                return found
            if left is None:
                raise Refused(message)
            ways = left

    async def _send(self, request: Request, ways: Ways) -> Answer:
        failure: Exception
        body = self._body(request, ways)
        try:
            raw = await self._client.chat.completions.with_raw_response.create(**body)
            return answer(raw.content)
        except CapReached as reached:
            failure = CapReached(*reached.args)
        except self._openai.OpenAIError as error:
            failure = self._gone(error)
        except Exception as error:
            failure = Unavailable(f"the client failed with {type(error).__name__}", _LATER)
        # Raised here, outside of the handler, so that no frame of the client hangs on it.
        raise failure

    def _body(self, request: Request, ways: Ways) -> dict[str, Any]:
        limit = "max_completion_tokens" if ways.newer else "max_tokens"
        body: dict[str, Any] = {
            "model": self._settings.model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": [part(p) for p in request.parts]},
            ],
            "temperature": 0,
            limit: self._settings.max_tokens,
        }
        if ways.seed:
            body["seed"] = self._settings.seed
        if ways.logprobs:
            body |= {"logprobs": True, "top_logprobs": TOP_TOKENS}
        if ways.form < 2:
            wanted = {"name": "verdict", "strict": True, "schema": loose(schema(request.frames), ways.form)}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        elif ways.form == 2:
            body["response_format"] = {"type": "json_object"}
        if ways.thinking:
            body["extra_body"] = {"chat_template_kwargs": {"enable_thinking": False}}
        return body

    def _gone(self, error: Any) -> Exception:
        """Return what an exception of the client means, in words that hold neither key nor request."""
        cause = error.__cause__
        if isinstance(cause, CapReached):
            return CapReached(*cause.args)
        status = getattr(error, "status_code", None)
        words = redacted(str(getattr(error, "message", "")))
        if status in (401, 403):
            return Unavailable(
                f"the judge refuses the key (HTTP {status})", f"put the right one into {KEY_VARIABLES[0]}", lasting=True
            )
        if status == 404:
            remedy = "check --pv-judge-url and --pv-judge-model"
            return Unavailable(f"the judge knows no such place or model (HTTP 404: {words})", remedy, lasting=True)
        if status in (408, 409, 429) or (status is not None and status >= 500):
            return Unavailable(f"the judge refuses after {self._settings.retries} retries (HTTP {status})", _LATER)
        if status is not None and 400 <= status < 500:
            return _Bad(f"HTTP {status}: {words}")
        if status is not None:
            return Unavailable(f"the judge answers with HTTP {status}", "check --pv-judge-url", lasting=True)
        what = "in time" if isinstance(error, self._openai.APITimeoutError) else "at all"
        return Unavailable(f"the judge at {self._settings.url} does not answer {what}", _LATER)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


_LATER = "see that the server runs, then run again: what is scored is kept"


def _client(settings: Settings, before: Any) -> tuple[Any, Any]:
    """Return the client library and a client; the key is read here and kept by the client alone."""
    try:
        import openai
    except ImportError:
        raise UserError("a judge by URL needs the openai client: pip install 'pvbench-suite[judge]'") from None
    transport = openai.DefaultAsyncHttpxClient(event_hooks={"request": [before]}, follow_redirects=False)
    client = openai.AsyncOpenAI(
        # Servers of one's own take any key; the client insists on one.
        api_key=api_key() or "none",
        base_url=settings.url,
        timeout=openai.Timeout(settings.timeout, connect=min(10.0, settings.timeout)),
        max_retries=settings.retries,
        http_client=transport,
    )
    return openai, client
