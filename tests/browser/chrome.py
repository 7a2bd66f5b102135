"""Headless Chromium driven over the DevTools protocol, through its pipe: nothing but the standard library.

Conventions
-----------
``--remote-debugging-pipe`` reads JSON messages from file descriptor 3 and writes them to 4, each ended by a NUL.
The browser gets a fresh profile, and no way out of this machine: every name but 127.0.0.1 resolves to nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--hide-scrollbars", "--window-size=1400,1000",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--remote-debugging-pipe",
)  # fmt: skip

NOISE = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening")


def binary() -> str | None:
    """Return the path of Chromium or Chrome, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Chrome:
    """A browser with one page.

    Parameters
    ----------
    profile : Path
        An empty folder for its profile.
    timeout : float
        After so many seconds without an answer, or without the awaited text, a call raises [s].
    """

    def __init__(self, profile: Path, timeout: float = 20.0) -> None:
        program = binary()
        assert program is not None
        self.timeout = timeout
        #: Addresses that the page asked for since the last `open`.
        self.requests: list[str] = []
        #: What the page wrote to its console, dialogs and uncaught errors.
        self.noise: list[str] = []
        self._number = 0
        self._buffer = b""
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        arguments = shlex.join((program, *FLAGS, f"--user-data-dir={profile}"))
        self._process = subprocess.Popen(
            ["bash", "-c", f"exec {arguments} about:blank 3<&{theirs_in} 4>&{theirs_out}"],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._session: str | None = None
        page = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self(f"{domain}.enable")

    def __enter__(self) -> Chrome:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._session = None
            self("Browser.close")
            self._process.wait(self.timeout)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the result of a command of the protocol."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self.timeout
        while True:
            answer = self._read(until)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            self._note(answer)

    def _read(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError(f"no answer of Chromium within {self.timeout} s")
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise EOFError("Chromium ended")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method in NOISE:
            self.noise.append(json.dumps(parameters)[:500])

    def open(self, address: str, *awaited: str) -> str:
        """Open `address`, wait until the page shows every text of `awaited`, and return the text that it shows."""
        self.requests.clear()
        self.noise.clear()
        # A change of the fragment alone would not load the page again.
        self("Page.navigate", url="about:blank")
        self("Page.navigate", url=address)
        return self.wait(*awaited)

    def wait(self, *awaited: str) -> str:
        """Return the text that the page shows once it holds every text of `awaited`."""
        until = time.monotonic() + self.timeout
        while True:
            shown = ""
            # While a page comes or goes there is nothing to ask.
            with contextlib.suppress(RuntimeError):
                shown = str(self.evaluate("document.readyState == 'complete' ? document.body.innerText : ''"))
            missing = [text for text in awaited if text not in shown]
            if shown and not missing:
                return shown
            if time.monotonic() > until:
                raise AssertionError(f"the page never showed {missing}; it shows:\n{shown[:4000]}")
            time.sleep(0.05)

    def evaluate(self, script: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        found = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:500])
        return found["result"].get("value")
