"""Small drawings for a judge: curves over time with the cuts as lines, and a strip of states per object.

Conventions
-----------
Time runs to the right, from 0 to the end of the clip.  Drawings are RGB on white, the same bytes for the same numbers
under one build of OpenCV; what identifies a drawing is its numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

Drawing = NDArray[np.uint8]
Color = tuple[int, int, int]

_WIDTH, _LEFT, _RIGHT, _TOP = 640, 130, 16, 22
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_INK: Color = (40, 40, 40)
_FAINT: Color = (205, 205, 205)
#: Told apart by people with any colour vision, on white.
COLORS: tuple[Color, ...] = ((0, 114, 178), (213, 94, 0), (0, 130, 100), (170, 70, 150))


@dataclass(frozen=True, eq=False)
class Sketch:
    """A drawing that is drawn when it is needed: the function and what it is given."""

    function: Callable[..., Drawing]
    given: tuple[Any, ...]

    def draw(self) -> Drawing:
        """Return the drawing (h, w, 3) uint8 RGB."""
        return self.function(*self.given)

    @property
    def digest(self) -> str:
        """The sha256 (hex) of what is drawn, numbers rounded to a ten-thousandth."""
        content = json.dumps([self.function.__name__, _rounded(self.given)])
        return hashlib.sha256(content.encode()).hexdigest()


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [[str(k), _rounded(v)] for k, v in value.items()]
    if isinstance(value, np.ndarray):
        return np.round(value.astype(float), 4).tolist()
    if isinstance(value, (list, tuple)):
        return [_rounded(v) for v in value]
    return round(value, 4) if isinstance(value, float) else value


def _sheet(height: int) -> Drawing:
    return np.full((height, _WIDTH, 3), 255, dtype=np.uint8)


def _write(sheet: Drawing, text: str, x: int, y: int, color: Color = _INK) -> None:
    cv2.putText(sheet, text, (x, y), _FONT, 0.4, color, 1, cv2.LINE_AA)


def _across(times: NDArray[np.float64], end: float) -> NDArray[np.float64]:
    """Return the x [px] of times [s]."""
    return _LEFT + times / max(end, 1e-9) * (_WIDTH - _LEFT - _RIGHT)


def _clock(sheet: Drawing, end: float, bottom: int) -> None:
    """Write the time below the drawing, at most six marks at whole or half seconds."""
    step = next((s for s in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0) if end / s <= 6.0), max(end / 5.0, 0.5))
    for time in np.arange(0.0, end + 1e-9, step):
        x = round(float(_across(np.array(time), end)))
        cv2.line(sheet, (x, _TOP), (x, bottom), _FAINT, 1)
        _write(sheet, f"{time:g} s", x - 10, bottom + 16)


def curves(series: Mapping[str, tuple[ArrayLike, ArrayLike]], cuts: Sequence[float], unit: str, end: float) -> Drawing:
    """Return curves over time, each (times [s], values), with one faint line per cut.

    Missing values break a curve.  The vertical scale ends a little above the highest cut or value.
    """
    height, bottom = 240, 205
    sheet = _sheet(height)
    data = {name: (np.asarray(t, dtype=float), np.asarray(v, dtype=float)) for name, (t, v) in series.items()}
    finite = [v[np.isfinite(v)] for _, v in data.values()]
    top = 1.05 * max([*cuts, *(float(v.max()) for v in finite if v.size)])
    _clock(sheet, end, bottom)

    def up(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return bottom - values / top * (bottom - _TOP)

    for cut in cuts:
        y = round(float(up(np.array(cut))))
        cv2.line(sheet, (_LEFT, y), (_WIDTH - _RIGHT, y), _FAINT, 1)
        _write(sheet, f"{cut:g} {unit}", _LEFT - 66, y + 4, (120, 120, 120))
    for k, (name, (times, values)) in enumerate(data.items()):
        color = COLORS[k % len(COLORS)]
        _write(sheet, name, 6, 40 + 18 * k, color)
        known = np.isfinite(values)
        points = np.stack([_across(times, end), up(np.where(known, values, 0.0))], axis=-1).round().astype(np.int32)
        for run in _runs(known):
            cv2.polylines(sheet, [points[run].reshape(-1, 1, 2)], False, color, 2, cv2.LINE_AA)
    return sheet


def _runs(known: NDArray[np.bool_]) -> list[slice]:
    edges = np.diff(np.concatenate([[0], known.astype(np.int8), [0]]))
    starts, stops = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
    return [slice(int(a), int(b)) for a, b in zip(starts, stops, strict=True)]


def strip(rows: Mapping[str, Sequence[tuple[float, float, Color]]], legend: Mapping[str, Color], end: float) -> Drawing:
    """Return one bar per row, made of (start [s], stop [s], color), and a legend above them."""
    height = 24
    bottom = _TOP + 12 + height * len(rows)
    sheet = _sheet(bottom + 26)
    x = 6
    for name, color in legend.items():
        cv2.rectangle(sheet, (x, 6), (x + 10, 16), color, -1)
        _write(sheet, name, x + 14, 15)
        x += 26 + 8 * len(name)
    _clock(sheet, end, bottom)
    for k, (name, parts) in enumerate(rows.items()):
        y = _TOP + 8 + height * k
        _write(sheet, name[:16], 6, y + 13)
        for start, stop, color in parts:
            a, b = (round(float(_across(np.array(s), end))) for s in (start, stop))
            cv2.rectangle(sheet, (a, y), (max(b - 1, a), y + 16), color, -1)
    return sheet
