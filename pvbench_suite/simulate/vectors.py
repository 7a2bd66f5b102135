"""Elementwise vector arithmetic: the floor that the simulator's exactness stands on.

Conventions
-----------
A vector is a tuple of three arrays (or numbers) that broadcast together.  Matrices are (3, 3) arrays; `turn` applies
one to a vector, `unturn` applies its transpose.  Everything below uses only + - * / and sqrt of float64, each
correctly rounded by IEEE 754, in a fixed order: no BLAS, no sums over an axis, no fused operations, no transcendental
function.  What needs a sine is put on the grid of multiples of 2^-20 by `quantise` before anything is computed from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]
Vec = tuple[Any, Any, Any]

_GRID = float(2**20)


def quantise(x: ArrayLike) -> Floats:
    """Return `x` rounded to multiples of 2^-20, so that the last bits of a sine do not matter.

    Examples
    --------
    >>> float(quantise(0.1)) == float(quantise(0.1 + 1e-12))
    True
    """
    return np.asarray(np.rint(np.asarray(x, dtype=np.float64) * _GRID) / _GRID)


def turn(R: Floats, v: Vec) -> Vec:
    """Return the vector R v."""
    return (
        R[0, 0] * v[0] + R[0, 1] * v[1] + R[0, 2] * v[2],
        R[1, 0] * v[0] + R[1, 1] * v[1] + R[1, 2] * v[2],
        R[2, 0] * v[0] + R[2, 1] * v[1] + R[2, 2] * v[2],
    )


def unturn(R: Floats, v: Vec) -> Vec:
    """Return the vector R' v, R' the transpose of R."""
    return turn(R.T, v)


def dot(a: Vec, b: Vec) -> Any:
    """Return the scalar product of two vectors, summed in the order x, y, z."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vec, b: Vec) -> Vec:
    """Return the vector product a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(v: Vec) -> Vec:
    """Return `v` divided by its length."""
    length = np.sqrt(dot(v, v))
    return (v[0] / length, v[1] / length, v[2] / length)


def take(v: Vec, index: Indices) -> Vec:
    """Return the entries `index` of a vector of arrays."""
    return (v[0][index], v[1][index], v[2][index])


def put(v: Vec, index: Indices, values: Vec) -> None:
    """Write `values` into the entries `index` of a vector of arrays, in place."""
    for component, value in zip(v, values, strict=True):
        component[index] = value


def stacked(v: Vec) -> Floats:
    """Return a vector of arrays as one array with a last axis of 3."""
    return np.stack(np.broadcast_arrays(*v), axis=-1).astype(np.float64)


def split(x: Floats) -> Vec:
    """Return an array (..., 3) as a vector of arrays."""
    return (x[..., 0], x[..., 1], x[..., 2])


def product(a: Floats, b: Floats) -> Floats:
    """Return the matrix product a b of two (3, 3) matrices, without BLAS."""
    return np.stack([stacked(turn(a, split(b[:, k]))) for k in range(3)], axis=-1)


def orthonormal(m: Floats) -> Floats:
    """Return the rotation whose first two columns span those of `m` (3, 3), by Gram and Schmidt."""
    x = unit(split(m[:, 0]))
    y = split(m[:, 1])
    along = dot(x, y)
    y = unit((y[0] - along * x[0], y[1] - along * x[1], y[2] - along * x[2]))
    return np.stack([stacked(x), stacked(y), stacked(cross(x, y))], axis=-1)


def rotations(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Return rotations by `angle` (...,) [rad] about one fixed `axis` (3,), as (..., 3, 3), quantised.

    The sine and cosine are the only transcendental functions; the result is put on the grid of `quantise`.
    """
    x, y, z = unit(split(np.asarray(axis, dtype=np.float64)))
    theta = np.asarray(angle, dtype=np.float64)
    c, s = np.cos(theta), np.sin(theta)
    k = 1.0 - c
    rows = [
        [c + x * x * k, x * y * k - z * s, x * z * k + y * s],
        [y * x * k + z * s, c + y * y * k, y * z * k - x * s],
        [z * x * k - y * s, z * y * k + x * s, c + z * z * k],
    ]
    return quantise(np.stack([np.stack(row, axis=-1) for row in rows], axis=-2))


def looking(eye: ArrayLike, target: ArrayLike) -> Floats:
    """Return the camera-to-lab rotation (3, 3) of a level camera at `eye` (3,) looking at `target` (3,), quantised."""
    ahead = unit(split(np.asarray(target, dtype=np.float64) - np.asarray(eye, dtype=np.float64)))
    right = unit(cross((0.0, 1.0, 0.0), ahead))
    return quantise(np.stack([stacked(right), stacked(cross(ahead, right)), stacked(ahead)], axis=-1))
