"""The SVG elements of one panel: frame, ticks, marks, legend.

Conventions
-----------
Pixels of the drawing, y down.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.plots.svg import _GRID, _INK, Axes, nice_ticks, number, tick_label

Floats = NDArray[np.float64]
Place = Callable[[Floats | float], Floats]


def draw_panel(axes: Axes, left: float, top: float, width: float, height: float) -> str:
    """Return a panel as SVG elements within the rectangle given."""
    x0, x1, y0, y1 = axes.limits()
    if axes.equal:
        x0, x1, y0, y1 = _squared(x0, x1, y0, y1, width / height)

    def across(x: Floats | float) -> Floats:
        return np.asarray(left + width * (x - x0) / (x1 - x0))

    def down(y: Floats | float) -> Floats:
        share = (y - y0) / (y1 - y0)
        return np.asarray(top + height * (share if axes.y_down else 1.0 - share))

    name = f"c{number(left)}-{number(top)}".replace(".", "_")
    # A long title is set smaller, so that it does not run into the next panel.
    size = min(12.5, 1.1 * width / (0.54 * max(1, len(axes.title))))
    parts = [
        f'<text x="{number(left)}" y="{number(top - 22)}" font-size="{number(size)}" fill="{_INK}">'
        f"{escape(axes.title)}</text>",
        f'<clipPath id="{name}"><rect x="{number(left)}" y="{number(top)}" width="{number(width)}" '
        f'height="{number(height)}"/></clipPath>',
    ]
    fills = [m for m in axes.marks if m[0] in ("area", "image")]
    rest = [m for m in axes.marks if m[0] not in ("area", "image")]
    inside = [_mark(m, across, down) for m in fills]
    grid = _ticks(axes, (x0, x1, y0, y1), across, down, (left, top, width, height))
    inside_late = [_mark(m, across, down) for m in rest]
    parts += [f'<g clip-path="url(#{name})">', *inside, "</g>", *grid]
    parts += [f'<g clip-path="url(#{name})">', *inside_late, "</g>", *_legend(axes, left, top - 8)]
    return "\n".join(parts)


def _squared(x0: float, x1: float, y0: float, y1: float, ratio: float) -> tuple[float, float, float, float]:
    """Return ranges of which one unit is as long across as down."""
    wide, high = x1 - x0, y1 - y0
    if wide / high < ratio:
        room = 0.5 * (high * ratio - wide)
        return x0 - room, x1 + room, y0, y1
    room = 0.5 * (wide / ratio - high)
    return x0, x1, y0 - room, y1 + room


def _ticks(
    axes: Axes,
    limits: tuple[float, float, float, float],
    across: Place,
    down: Place,
    box: tuple[float, float, float, float],
) -> list[str]:
    """Return the frame, grid, tick labels and axis labels."""
    x0, x1, y0, y1 = limits
    left, top, width, height = box
    right, bottom = left + width, top + height
    out = []
    for value, words in axes.x_ticks or [(v, tick_label(v)) for v in nice_ticks(x0, x1)]:
        x = number(float(across(value)))
        out.append(f'<line x1="{x}" y1="{number(top)}" x2="{x}" y2="{number(bottom)}" stroke="{_GRID}"/>')
        out.append(f'<text x="{x}" y="{number(bottom + 14)}" text-anchor="middle" fill="{_INK}">{escape(words)}</text>')
    for value, words in axes.y_ticks or [(v, tick_label(v)) for v in nice_ticks(y0, y1)]:
        y = float(down(value))
        out.append(
            f'<line x1="{number(left)}" y1="{number(y)}" x2="{number(right)}" y2="{number(y)}" stroke="{_GRID}"/>'
        )
        out.append(
            f'<text x="{number(left - 5)}" y="{number(y + 4)}" text-anchor="end" fill="{_INK}">{escape(words)}</text>'
        )
    out.append(
        f'<rect x="{number(left)}" y="{number(top)}" width="{number(width)}" height="{number(height)}" fill="none" '
        f'stroke="{_INK}"/>'
    )
    out.append(
        f'<text x="{number(left + width / 2)}" y="{number(bottom + 30)}" text-anchor="middle" fill="{_INK}">'
        f"{escape(axes.x_label)}</text>"
    )
    middle = number(top + height / 2)
    out.append(
        f'<text x="{number(left - 40)}" y="{middle}" text-anchor="middle" fill="{_INK}" '
        f'transform="rotate(-90 {number(left - 40)} {middle})">{escape(axes.y_label)}</text>'
    )
    return out


def _mark(mark: tuple[str, Floats, Floats, str, float, str], across: Place, down: Place) -> str:
    """Return one mark."""
    kind, x, y, color, size, words = mark
    px, py = across(x), down(y)
    fine = np.isfinite(px + py)
    if kind == "text":
        return (
            f'<text x="{number(px[0])}" y="{number(py[0])}" fill="{color}" font-size="{size:g}">{escape(words)}</text>'
        )
    if kind == "image":
        left, right, top, bottom = px.min(), px.max(), py.min(), py.max()
        return (
            f'<image x="{number(left)}" y="{number(top)}" width="{number(right - left)}" '
            f'height="{number(bottom - top)}" preserveAspectRatio="none" href="{words}"/>'
        )
    if kind == "points":
        return "".join(
            f'<circle cx="{number(a)}" cy="{number(b)}" r="{number(size)}" fill="{color}"/>'
            for a, b in zip(px[fine], py[fine], strict=True)
        )
    if kind == "bars":
        return _bars(x[fine], py[fine], float(down(0.0)), across, size, color)
    if kind == "area":
        path = " ".join(f"{number(a)},{number(b)}" for a, b in zip(px[fine], py[fine], strict=True))
        return f'<polygon points="{path}" fill="{color}" fill-opacity="{size:g}"/>'
    dash = ' stroke-dasharray="5 4"' if kind == "dashed" else ""
    drawn = f'<path d="{_path(px, py, fine)}" fill="none" stroke="{color}" stroke-width="{size:g}"{dash}/>'
    return drawn + (_head(px, py, color) if kind == "arrow" else "")


def _path(px: Floats, py: Floats, fine: NDArray[np.bool_]) -> str:
    """Return the path of a line that breaks where a value is missing."""
    steps, pen = [], "M"
    for a, b, ok in zip(px, py, fine, strict=True):
        if ok:
            steps.append(f"{pen}{number(a)} {number(b)}")
        pen = "L" if ok else "M"
    return "".join(steps)


def _bars(x: Floats, py: Floats, zero: float, across: Place, width: float, color: str) -> str:
    """Return bars from the level of 0."""
    left, right = across(x - width / 2), across(x + width / 2)
    return "".join(
        f'<rect x="{number(a)}" y="{number(min(y, zero))}" width="{number(b - a)}" height="{number(abs(zero - y))}" '
        f'fill="{color}"/>'
        for a, b, y in zip(left, right, py, strict=True)
    )


def _head(px: Floats, py: Floats, color: str) -> str:
    """Return the head of an arrow."""
    angle = math.atan2(py[-1] - py[0], px[-1] - px[0])
    if not math.isfinite(angle):
        return ""
    wings = [(px[-1] - 9 * math.cos(angle + s), py[-1] - 9 * math.sin(angle + s)) for s in (0.4, -0.4)]
    tip = f"{number(px[-1])},{number(py[-1])}"
    return f'<polygon points="{tip} {" ".join(f"{number(a)},{number(b)}" for a, b in wings)}" fill="{color}"/>'


def _legend(axes: Axes, left: float, y: float) -> list[str]:
    """Return the legend in one line above the panel."""
    out, x = [], left
    for label, color in axes.labels:
        out.append(f'<rect x="{number(x)}" y="{number(y - 8)}" width="10" height="8" fill="{color}"/>')
        out.append(f'<text x="{number(x + 13)}" y="{number(y)}" fill="{_INK}">{escape(label)}</text>')
        x += 20 + 6.2 * len(label)
    return out
