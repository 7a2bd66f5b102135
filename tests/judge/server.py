"""A real HTTP server that speaks the OpenAI wire format on loopback: well, badly, late, cut, or not at all."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
MODEL = "test/judge"


def verdict(score: Any = 4, observable: Any = True, reason: Any = "the ball is one ball", frames: Any = (0, 1)) -> str:
    """Return an answer by the schema, as text."""
    return json.dumps({"observable": observable, "score": score, "reason": reason, "frames": list(frames)})


def completion(text: str | None, finish: str | None = "stop", logprobs: Any = None, **extra: Any) -> Body:
    """Return the body of a chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    if logprobs is not None:
        choice["logprobs"] = {"content": logprobs}
    usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
    return {"id": "x", "object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage, **extra}


def spelled(text: str, digit: str, shares: dict[str, float]) -> list[Body]:
    """Return log probabilities of `text`, split so that the score `digit` is a token with those alternatives."""
    at = text.index('"score": ') + len('"score": ')
    assert text[at] == digit
    parts = [text[:at], text[at], text[at + 1 :]]

    def entry(token: str, top: dict[str, float]) -> Body:
        tops = [{"token": t, "logprob": math.log(p), "bytes": None} for t, p in top.items()]
        return {"token": token, "logprob": tops[0]["logprob"], "bytes": None, "top_logprobs": tops}

    return [entry(parts[0], {parts[0]: 1.0}), entry(parts[1], shares), entry(parts[2], {parts[2]: 1.0})]


@dataclass
class Reply:
    """What the server sends: a status and a body, after a while; or nothing, by closing the connection."""

    body: Any = None
    status: int = 200
    after: float = 0.0
    closed: bool = False
    headers: dict[str, str] = field(default_factory=dict)


Behave = Callable[[Body, int], Reply]


def well(body: Body, count: int) -> Reply:
    """Answer validly, at once."""
    return Reply(completion(verdict()))


@dataclass
class Server:
    """The running server: what it was sent, and how it behaves (may be replaced at any time)."""

    url: str
    behave: Behave = well
    requests: list[Body] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most: int = 0
    models: Any = field(default_factory=lambda: {"object": "list", "data": [{"id": MODEL, "root": MODEL}]})
    keep: bool = True
    _now: int = 0
    _count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def texts(self) -> list[str]:
        """All text parts of all user messages, one string per request."""
        return ["\n".join(p["text"] for p in r["messages"][1]["content"] if p["type"] == "text") for r in self.requests]

    def enter(self, body: Body, headers: dict[str, str]) -> Reply:
        with self._lock:
            self._now += 1
            self._count += 1
            count = self._count
            self.most = max(self.most, self._now)
            if self.keep:
                self.requests.append(body)
                self.headers.append(headers)
        return self.behave(body, count)

    def leave(self) -> None:
        with self._lock:
            self._now -= 1

    @property
    def count(self) -> int:
        """How many requests for an answer came."""
        return self._count


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Server

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        models = self.state.models
        reply = models if isinstance(models, Reply) else Reply(models)
        self._send(reply)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        raw = self.rfile.read(length)
        body = json.loads(raw) if self.state.keep else {}
        reply = self.state.enter(body, {k.lower(): v for k, v in self.headers.items()})
        try:
            if reply.after:
                time.sleep(reply.after)
        finally:
            self.state.leave()
        self._send(reply)

    def _send(self, reply: Reply) -> None:
        if reply.closed:
            self.close_connection = True
            return
        data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        try:
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.close_connection = True


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that hang up are part of the tests."""


@contextmanager
def serving(behave: Behave = well) -> Iterator[Server]:
    """Run the server while the block lasts."""
    state = Server("", behave)
    handler = type("Handler", (_Handler,), {"state": state})
    server = _Quiet(("127.0.0.1", 0), handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
