"""The suite's own report.html in a browser: numbers, no script, nothing from outside, light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from pvbench_suite.dimensions import load
from pvbench_suite.results import settled
from reports.build import build
from tests.browser.chrome import Chrome

EVIL = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"

#: Contrast of each visible text with what is behind it (WCAG 2.2), lowest first, with the text.
CONTRAST = """(() => {
  const rgb = c => c.match(/[\\d.]+/g).map(Number);
  const linear = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = c => { const [r, g, b] = c.map(v => linear(v / 255));
    return .2126 * r + .7152 * g + .0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const own = e => [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim());
  return [...document.body.querySelectorAll('*')].filter(e => own(e) && e.getClientRects().length && !e.closest('svg'))
    .map(e => { const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
      return [(a + .05) / (b + .05), e.innerText.slice(0, 40)]; }).sort((x, y) => x[0] - y[0]).slice(0, 3);
})()"""


def scheme(chrome: Chrome, name: str) -> None:
    """Let the browser prefer light or dark pages."""
    chrome("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])


@pytest.fixture
def page(tiny: Path) -> str:
    """Return the address of the report of the tiny run."""
    return (tiny / "m" / "pvbench" / "simulator" / "report.html").as_uri()


def test_numbers_are_visible(chrome: Chrome, page: str) -> None:
    """The mean of a 5 and a 1 is 50.0, beside it the two of two pairs; the worst clip is named."""
    shown = chrome.open(page, "PVBench report", "KP kinematic persistence")
    row = next(line for line in shown.splitlines() if line.startswith("KP kinematic persistence"))
    after = shown[shown.index(row) :][:200].split()
    assert "50.0" in after
    assert "2/2" in after
    assert "s002" in shown


def test_nothing_runs_and_nothing_is_asked_for(chrome: Chrome, page: str) -> None:
    """The page has no script, makes no request but its own, and the console stays empty."""
    chrome.open(page, "PVBench report")
    assert chrome.requests == [page]
    assert chrome.noise == []
    assert chrome.evaluate("document.scripts.length") == 0


@pytest.mark.parametrize("name", ["light", "dark"])
def test_text_is_readable(chrome: Chrome, page: str, name: str) -> None:
    """In both schemes every text has a contrast of 4.5 or more with its ground, light or dark as asked for."""
    scheme(chrome, name)
    chrome.open(page, "PVBench report")
    ground = chrome.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (min(ground) > 200) if name == "light" else (max(ground) < 60)
    lowest = chrome.evaluate(CONTRAST)
    assert lowest[0][0] >= 4.5, lowest


def test_a_narrow_window_scrolls_tables_not_the_page(chrome: Chrome, page: str) -> None:
    """On a telephone's width nothing sticks out of the page."""
    chrome("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
    chrome.open(page, "PVBench report")
    width = chrome.evaluate("document.documentElement.scrollWidth")
    chrome("Emulation.clearDeviceMetricsOverride")
    assert width <= 400


def test_hostile_names_are_text(chrome: Chrome, tiny: Path, tmp_path: Path) -> None:
    """Markup in a name is shown as it is written."""
    rows = [{**row, "model": EVIL} for row in settled(tiny / "m" / "pvbench" / "simulator")]
    build(rows, load(), tmp_path)
    chrome.open((tmp_path / "report.html").as_uri(), EVIL)
    assert chrome.evaluate("[document.images.length, document.scripts.length, document.title]") == [
        0,
        0,
        "PVBench report",
    ]
