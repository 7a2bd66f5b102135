"""R15: how long an object that is neither hidden nor out of the frame is gone.

Conventions
-----------
Object centres and radii are in pixels of the frame (H, W); the scene depth is a grid that spans the frame, its cell
(i, j) centred at x = (j + 0.5) W/w, y = (i + 0.5) H/h.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import absent
from pvbench_suite.physics.series import (
    Bools,
    Floats,
    enough_frames,
    given,
    of_shape,
    some_finite,
    some_positive,
    window,
)

States = NDArray[np.int8]

#: The states of an object in a frame.
SEEN, HIDDEN, OUT, UNEXPLAINED, NEVER_FOUND = 0, 1, 2, 3, -1
#: A surface hides what lies behind it when its depth is below this share of the object's.
_NEARER = 0.95
#: Longest gap that is bridged [s], and the largest share of the second round it that may be unexplained.
_BRIDGE, _BRIDGE_SHARE = 0.125, 0.20
#: How far back the velocity of an object that left is read [s].
_VELOCITY = 0.4
#: Least image motion in percent of the diagonal.
_MOTION = 1.0


def object_states(
    present: ArrayLike | None,
    uv: ArrayLike | None,
    z: ArrayLike | None,
    radius: ArrayLike | None,
    depth: ArrayLike | None,
    hw: tuple[float, float],
    dt: float = 1 / 24,
) -> States:
    """Return the state of every object in every frame.

    Parameters
    ----------
    present : (T, N) bool
        The object is seen, passed the object gate and kept its identity.
    uv : (T, N, 2) float
        Its centre [px].
    z : (T, N) float
        Its depth, in the unit of `depth`.
    radius : (T, N) float
        Its radius [px].
    depth : (T, h, w) float
        Scene depth; missing or non-positive depth never hides.
    hw : (H, W)
        Size of the frame [px].
    dt : float
        Frame interval [s].

    Returns
    -------
    (T, N) int8
        0 seen, 1 hidden, 2 out of the frame, 3 unexplained, -1 for an object that was never found.

    Raises
    ------
    Unmeasurable
        no_object (nothing was ever found), bad_shape, too_few_frames, all_nan, zero_depth.
    """
    shown = of_shape(given(present, "present"), (None, None), "present") > 0
    centre = of_shape(given(uv, "uv"), (*shown.shape, 2), "uv")
    far, size = (of_shape(given(x, name), shown.shape, name) for x, name in ((z, "z"), (radius, "radius")))
    scene = of_shape(given(depth, "depth"), (len(shown), None, None), "depth")
    frame = of_shape(given(hw, "hw"), (2,), "hw")
    if not shown.any():
        raise Unmeasurable("no_object", "no object was ever found")
    enough_frames(len(shown))
    some_finite(centre, far, size, scene)
    some_positive(scene, far, size, frame)
    states = np.full(shown.shape, NEVER_FOUND, dtype=np.int8)
    for i in np.flatnonzero(shown.any(axis=0)):
        sighted = shown[:, i] & np.isfinite(centre[:, i]).all(axis=-1) & (far[:, i] > 0) & (size[:, i] > 0)
        states[:, i] = np.where(shown[:, i], SEEN, UNEXPLAINED)
        if sighted.any():
            path = predicted_path(centre[:, i], far[:, i], size[:, i], np.asarray(sighted), dt)
            for t in np.flatnonzero(~shown[:, i]):
                states[t, i] = _explain(path[t], scene[t], float(frame[0]), float(frame[1]))
    return states


def predicted_path(centre: Floats, z: Floats, radius: Floats, sighted: Bools, dt: float) -> Floats:
    """Return where an object should be in every frame, as rows of x, y [px], depth and radius [px].

    Between sightings everything is linear in time.  Beyond the first or last one, depth and radius stay and the centre
    keeps its Theil-Sen velocity over the sightings within 0.4 s of that end (fewer than 3: it stays still).
    """
    at = np.flatnonzero(sighted)
    frames = np.arange(len(sighted))
    columns = np.column_stack([centre, z, radius])
    path = np.stack([np.interp(frames, at, columns[at, c]) for c in range(4)], axis=-1)
    reach = math.floor(_VELOCITY / dt + 1e-6)
    for end, beyond in ((at[0], frames < at[0]), (at[-1], frames > at[-1])):
        near = at[np.abs(at - end) <= reach]
        if beyond.any() and near.size >= 3:
            i, j = np.triu_indices(near.size, k=1)
            slopes = (centre[near[j]] - centre[near[i]]) / (near[j] - near[i])[:, None]
            path[beyond, :2] += (frames[beyond] - end)[:, None] * np.median(slopes, axis=0)
    return path


def _explain(where: Floats, scene: Floats, height: float, width: float) -> int:
    """Return why an object predicted at `where` (x, y, z, radius) is not seen in a frame with depth `scene` (h, w)."""
    x, y, z, radius = where
    inside = max(0.0, min(x + radius, width) - max(x - radius, 0.0)) * max(
        0.0, min(y + radius, height) - max(y - radius, 0.0)
    )
    if inside < 0.5 * (2.0 * radius) ** 2:
        return OUT
    rows, columns = scene.shape
    cell_y, cell_x = (np.arange(rows) + 0.5) * height / rows, (np.arange(columns) + 0.5) * width / columns
    i, j = np.flatnonzero(np.abs(cell_y - y) <= radius), np.flatnonzero(np.abs(cell_x - x) <= radius)
    disc = np.square(cell_y[i] - y)[:, None] + np.square(cell_x[j] - x) <= radius**2
    cells = scene[np.ix_(i, j)][disc]
    if cells.size == 0:
        # The nearest cell is the one that contains the centre; cells own their left and upper edges.
        cells = scene[[_cell(y * rows / height, rows)], [_cell(x * columns / width, columns)]]
    with np.errstate(invalid="ignore"):
        nearer = (cells > 0) & (cells < _NEARER * z)
    return HIDDEN if 2 * nearer.sum() >= cells.size else UNEXPLAINED


def _cell(at: float, n: int) -> int:
    """Return the index of the cell of a row of `n` that contains the position `at`, in cells, or is nearest to it."""
    return min(max(math.floor(at), 0), n - 1)


def unbridged(state: States, dt: float) -> Bools:
    """Return the frames (T, N) that stay unexplained after the short gaps of a detector are bridged.

    A run of at most 0.125 s is bridged when unexplained frames fill at most a fifth of the second round its middle, so
    that drop-outs are free and blinking is not.
    """
    lost = np.asarray(state == UNEXPLAINED)
    kept = lost.copy()
    longest, half = math.floor(_BRIDGE / dt + 1e-6), (window(1.0, dt) - 1) // 2
    for i in range(lost.shape[1]):
        edges = np.diff(np.concatenate([[0], lost[:, i].astype(np.int8), [0]]))
        for start, stop in zip(np.flatnonzero(edges > 0), np.flatnonzero(edges < 0), strict=True):
            middle = (start + stop - 1) // 2
            second = lost[max(0, middle - half) : middle + half + 1, i]
            if stop - start <= longest and second.sum() <= _BRIDGE_SHARE * second.size + 1e-9:
                kept[start:stop, i] = False
    return kept


def unexplained_absence(
    state: ArrayLike | None, dt: float = 1 / 24, motion: float | None = None, motion_error: float = 0.0
) -> Measurement:
    """Return R15: the largest share of the clip for which one object is gone without a reason.

    Parameters
    ----------
    state : (T, N) int
        States of `object_states`.
    dt : float
        Frame interval [s].
    motion : float, optional
        Image motion in percent of the diagonal (None: not tested).
    motion_error : float
        Standard error of `motion`; it decides only whether a still clip is a demanded event that stayed away.

    Returns
    -------
    Measurement
        Share of the frames in [0, 1] of the worst object; `n` is the number of objects.  Evidence: ``states``,
        ``shares`` of all objects (None for one never found), their ``mean``, and the worst ``object``.

    Raises
    ------
    Unmeasurable
        no_object, bad_shape, too_few_frames, no_motion.

    References
    ----------
    Spec ``physics.md`` R15.
    """
    values = of_shape(given(state, "state"), (None, None), "state")
    states = np.where(np.isfinite(values), values, NEVER_FOUND).astype(np.int8)
    found = np.asarray((states >= 0).any(axis=0), dtype=np.bool_)
    if not found.any():
        raise Unmeasurable("no_object", "no object was ever found")
    enough_frames(len(states))
    if motion is not None and not motion >= _MOTION:
        raise absent("no_motion", f"{motion:.2g} % of the diagonal", (motion_error, _MOTION))
    shares = np.where(found, unbridged(states, dt).mean(axis=0), -1.0)
    worst = int(np.argmax(shares))
    return Measurement(
        value=float(shares[worst]),
        n=int(found.sum()),
        evidence={
            "states": states,
            "shares": [float(s) if f else None for s, f in zip(shares, found, strict=True)],
            "mean": float(shares[found].mean()),
            "object": worst,
        },
    )


def object_permanence(
    present: ArrayLike | None,
    uv: ArrayLike | None,
    z: ArrayLike | None,
    radius: ArrayLike | None,
    depth: ArrayLike | None,
    hw: tuple[float, float],
    dt: float = 1 / 24,
    motion: float | None = None,
    motion_error: float = 0.0,
) -> Measurement:
    """Return R15 from sightings and scene depth: `unexplained_absence` of `object_states`; see there."""
    states = object_states(present, uv, z, radius, depth, hw, dt)
    return unexplained_absence(states, dt, motion, motion_error)
