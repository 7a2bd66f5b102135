"""Allure 3 makes HTML of the suite's results, and a browser shows what a person should see."""

from __future__ import annotations

import functools
import json
import subprocess
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pvbench_suite.dimensions import load
from pvbench_suite.results import settled
from reports.allure import write_rows
from tests.browser.chrome import Chrome

IMAGE = "<img src=x onerror=\"alert(1);document.title='taken'\">"
LINK = "[here](javascript:alert(2)) **bold**"

R16 = ("L3 physical", "KP kinematic persistence", "R16 trajectory continuity")

#: Counts what must not be there if hostile text is only text.
HARM = """[document.querySelectorAll('img[src=x]').length, document.title == 'taken',
  [...document.querySelectorAll('a')].filter(a => a.href.startsWith('javascript:')).length]"""

DESCRIPTION = "[...document.querySelectorAll('iframe')].map(e => e.srcdoc || e.contentDocument.body.innerText).join()"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without writing a log."""

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(allure: str, tiny: Path) -> Iterator[str]:
    """Return the address of Allure's HTML of the tiny run, with two pairs of hostile names added."""
    rows = settled(tiny / "m" / "pvbench" / "simulator")
    scored = next(r for r in rows if r["state"] == "scored" and r["dimension"] == "R16")
    broken = {"state": "broken_video", "score": None, "value": None, "reason": "broken", "message": f"{IMAGE} {LINK}"}
    hostile = [{**scored, "model": IMAGE, "scorer": LINK}, {**scored, "video": LINK, **broken}]
    write_rows(hostile, load(), tiny / "allure", 1)
    made = tiny / "html"
    command = [allure, "generate", "allure", "--config", "allure/allurerc.json", "--output", str(made)]
    ran = subprocess.run(command, cwd=tiny, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(made)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()


def click(chrome: Chrome, kind: str, text: str) -> None:
    """Click the first element of a kind (Allure's test ids) that holds a text."""
    chrome.wait(text)
    elements = f"[...document.querySelectorAll('[data-testid={kind}]')]"
    chrome.evaluate(f"{elements}.find(e => e.innerText.includes({json.dumps(text)})).click()")


def unfold(chrome: Chrome, site: str, *branches: str, leaf: str) -> str:
    """Open the report and its tree down to a leaf (what failed is unfolded already), and return what is shown."""
    shown = chrome.open(site, branches[0])
    for branch, below in zip(branches, [*branches[1:], leaf], strict=True):
        if below not in shown:
            click(chrome, "tree-section-title", branch)
        shown = chrome.wait(below)
    return shown


def test_the_tree_shows_layer_domain_dimension_and_score(chrome: Chrome, site: str) -> None:
    """The behaviors unfold from layer to pair; the pair's title shows its score; the environment stands above."""
    shown = unfold(chrome, site, *R16, leaf="R16 trajectory continuity: 5 of 5 (m t2v s001)")
    assert "R16 trajectory continuity: 1 of 5 (m t2v s002)" in shown
    order = [shown.index(f"\n{text}\n") for text in ("models", "profiles", "L2 perceptual", *R16, "summary")]
    assert order == sorted(order)


def test_a_pair_shows_its_outcome_first_and_what_it_means(chrome: Chrome, site: str) -> None:
    """Score and value lead the parameters without quotes, severity and category stand in the head, cuts below."""
    unfold(chrome, site, *R16, leaf="1 of 5 (m t2v s002)")
    click(chrome, "tree-leaf-title", "1 of 5 (m t2v s002)")
    shown = chrome.wait("Parameters", "diameters", "Critical", "Category: score 1", "Description")
    lines = shown.splitlines()
    assert lines[lines.index("Parameters") + 2 :][:3] == ["score", "1 of 5", "value"]
    assert "<lambda>" not in shown
    # Allure keeps a description in a frame of its own.
    assert "Scores 5, 4, 3, 2 below 0.15" in chrome.evaluate(DESCRIPTION)


def test_the_summary_shows_means(chrome: Chrome, site: str) -> None:
    """A domain's mean is an entry of its own, with interval, coverage and worst case."""
    mean = "KP kinematic persistence: 50.0 of 100 ["
    shown = unfold(chrome, site, "summary", "domain means", "m t2v, simulator", leaf=mean)
    assert "], coverage 100 %, worst case 50.0 (m t2v)" in shown[shown.index(mean) :][:120]


def test_categories_are_the_states(chrome: Chrome, site: str) -> None:
    """What has no score is sorted by state, and the lowest scores are found in one place."""
    chrome.open(site, "Categories")
    click(chrome, "nav-tab-categories", "Categories")
    shown = chrome.wait("broken_video: cannot be decoded", "not_perceived: a model or judge is missing", "score 1")
    assert "Product errors" not in shown


def test_hostile_names_are_text(chrome: Chrome, site: str) -> None:
    """Markup in the names of models, videos and scorers, and in messages, is shown and does nothing."""
    for title in (f"5 of 5 ({IMAGE} t2v s001)", f"broken_video (m t2v {LINK})"):
        unfold(chrome, site, *R16, leaf=title)
        assert chrome.evaluate(HARM) == [0, False, 0]
        click(chrome, "tree-leaf-title", title)
        chrome.wait("Parameters", title, LINK)
        assert chrome.evaluate(HARM) == [0, False, 0]
    assert not [text for text in chrome.noise if "alert" in text]
