"""Charts as SVG text: axes, lines, bands, points, bars, arrows, maps.

Conventions
-----------
Sizes are in pixels of the drawing, y down; data go through the axes' scales, y up.  NaN breaks a line.  All text is
escaped, numbers are rounded, and nothing depends on time or chance, so that equal data give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: Colors of series, told apart without color vision by their lightness (after Okabe and Ito).
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
#: Colors of the scores 5 to 1.
SCORES = ("#d9f0d3", "#eef6d5", "#fff3c4", "#fde0c5", "#f8cccc")
_INK, _GRID = "#333333", "#dddddd"
_MARGIN = (46, 58, 44, 14)  # top, left, bottom, right


def number(x: float) -> str:
    """Return a coordinate with two decimals at most.

    Examples
    --------
    >>> number(3.14159), number(2.0)
    ('3.14', '2')
    """
    return f"{x:.2f}".rstrip("0").rstrip(".")


def tick_label(x: float) -> str:
    """Return a short label of a tick."""
    return "0" if x == 0.0 else f"{x:.4g}"


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers within [low, high], about so many.

    Examples
    --------
    >>> nice_ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-12) / about))
    for factor in (1.0, 2.0, 5.0, 10.0):
        if (high - low) / (factor * step) <= about + 0.5:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass
class Axes:
    """One panel.  Marks are collected and drawn by `svg`, when the ranges are known.

    Parameters
    ----------
    title, x_label, y_label : str
        What it shows, with units.
    equal : bool
        One unit of x is as long as one of y.
    y_down : bool
        Image coordinates: y grows downward.
    y_limits, x_limits : (float, float), optional
        Fixed ranges instead of those of the data.
    x_ticks : sequence of (position, text), optional
        Named ticks.
    """

    title: str
    x_label: str = ""
    y_label: str = ""
    equal: bool = False
    y_down: bool = False
    x_limits: tuple[float, float] | None = None
    y_limits: tuple[float, float] | None = None
    x_ticks: Sequence[tuple[float, str]] | None = None
    y_ticks: Sequence[tuple[float, str]] | None = None
    _marks: list[tuple[str, Floats, Floats, str, float, str]] = field(default_factory=list)
    _labels: list[tuple[str, str]] = field(default_factory=list)

    def _add(self, kind: str, x: ArrayLike, y: ArrayLike, color: str, size: float, text: str, label: str) -> Axes:
        xs, ys = (np.asarray(v, dtype=np.float64).ravel() for v in np.broadcast_arrays(x, y))
        self._marks.append((kind, xs, ys, color, size, text))
        if label:
            self._labels.append((label, color))
        return self

    def line(self, x: ArrayLike, y: ArrayLike, color: str = COLORS[0], width: float = 1.6, label: str = "") -> Axes:
        """Draw a line, broken where a value is missing."""
        return self._add("line", x, y, color, width, "", label)

    def dashed(self, x: ArrayLike, y: ArrayLike, color: str = _INK, label: str = "") -> Axes:
        """Draw a dashed line."""
        return self._add("dashed", x, y, color, 1.2, "", label)

    def points(self, x: ArrayLike, y: ArrayLike, color: str = COLORS[0], radius: float = 2.5, label: str = "") -> Axes:
        """Draw dots."""
        return self._add("points", x, y, color, radius, "", label)

    def bars(self, x: ArrayLike, y: ArrayLike, color: str = COLORS[0], width: float = 0.8, label: str = "") -> Axes:
        """Draw bars from 0, `width` units wide."""
        return self._add("bars", x, y, color, width, "", label)

    def band(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, color: str = COLORS[0]) -> Axes:
        """Fill between two series."""
        x, low, high = (np.asarray(v, dtype=np.float64) for v in (x, low, high))
        fine = np.isfinite(x + low + high)
        outline = np.concatenate([low[fine], high[fine][::-1]])
        return self._add("area", np.concatenate([x[fine], x[fine][::-1]]), outline, color, 0.18, "", "")

    def block(self, left: float, right: float, low: float, high: float, color: str) -> Axes:
        """Fill a rectangle."""
        return self._add("area", [left, right, right, left], [low, low, high, high], color, 1.0, "", "")

    def arrow(self, x: float, y: float, dx: float, dy: float, color: str = COLORS[0], label: str = "") -> Axes:
        """Draw an arrow from a point."""
        return self._add("arrow", [x, x + dx], [y, y + dy], color, 2.0, "", label)

    def text(self, x: float, y: float, words: str, color: str = _INK) -> Axes:
        """Write words at a point."""
        return self._add("text", [x], [y], color, 11.0, words, "")

    def image(self, values: ArrayLike, low: float, high: float) -> Axes:
        """Draw a map (H, W) of numbers from white (`low`) to dark red (`high`); missing ones are grey."""
        from pvbench_suite.plots.raster import data_uri

        grid = np.asarray(values, dtype=np.float64)
        h, w = grid.shape
        return self._add("image", [0.0, w], [0.0, h], "", 0.0, data_uri(grid, low, high), "")

    def limits(self) -> tuple[float, float, float, float]:
        """Return the ranges of x and y that are shown."""
        data = [m for m in self._marks if m[0] != "text"]
        found = [np.concatenate([m[k] for m in data] or [np.empty(0)]) for k in (1, 2)]
        xs, ys = (_padded(v[np.isfinite(v)], share) for v, share in zip(found, (0.03, 0.06), strict=True))
        for _, x, _, _, width, _ in (m for m in data if m[0] == "bars" and len(m[1])):
            xs = (min(xs[0], float(x.min()) - 0.6 * width), max(xs[1], float(x.max()) + 0.6 * width))
            ys = (min(ys[0], 0.0), ys[1])
        return (*(self.x_limits or xs), *(self.y_limits or ys))

    def svg(self, left: float, top: float, width: float, height: float) -> str:
        """Return the panel as SVG elements within the rectangle given."""
        from pvbench_suite.plots.drawing import draw_panel

        return draw_panel(self, left, top, width, height)

    @property
    def marks(self) -> list[tuple[str, Floats, Floats, str, float, str]]:
        """The marks: kind, x, y, color, size, text."""
        return self._marks

    @property
    def labels(self) -> list[tuple[str, str]]:
        """The legend: label and color."""
        return list(dict.fromkeys(self._labels))


def _padded(values: Floats, share: float) -> tuple[float, float]:
    """Return the range of the values with a little room."""
    if values.size == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if high == low == 0.0:
        return -0.05, 1.0
    room = share * (high - low) if high > low else 0.5 * abs(high)
    return low - room, high + room


def figure(panels: Sequence[Axes], title: str = "", columns: int = 2, size: tuple[int, int] = (430, 300)) -> str:
    """Return the panels in rows of `columns` as one SVG document; `size` is that of a panel."""
    columns = min(columns, max(1, len(panels)))
    lines = math.ceil(len(panels) / columns)
    width, head = columns * size[0], 34 if title else 0
    height = head + lines * size[1]
    body = [f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    if title:
        body.append(f'<text x="14" y="22" font-size="15" font-weight="bold" fill="{_INK}">{escape(title)}</text>')
    for k, panel in enumerate(panels):
        top, left, bottom, right = _MARGIN
        x, y = (k % columns) * size[0] + left, head + (k // columns) * size[1] + top
        body.append(panel.svg(x, y, size[0] - left - right, size[1] - top - bottom))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11" role="img" '
        f'aria-label="{escape(title, quote=True)}">\n' + "\n".join(body) + "\n</svg>\n"
    )
