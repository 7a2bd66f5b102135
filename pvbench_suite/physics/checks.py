"""The checks that every numeric kernel makes first, in the order of spec ``physics.md`` section 0.

Conventions
-----------
NaN and infinite values are missing; depths, sizes and diameters that are not positive are missing too.  Each check
raises `Unmeasurable` with its fixed reason, and its caller keeps the order: no_object, bad_shape, too_few_frames,
all_nan, zero_depth, too_small, then the gates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pvbench_suite.errors import Unmeasurable

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: The fewest frames, or valid frames, that most dimensions accept.
LEAST_FRAMES = 8


def given(x: ArrayLike | None, name: str = "input") -> Floats:
    """Return `x` as a float array in which every missing sample is NaN.

    Parameters
    ----------
    x : array_like or None
        Numbers of any shape; None and empty arrays mean that the object was not found.
    name : str
        What the array is, for the message.

    Raises
    ------
    Unmeasurable
        ``no_object`` when `x` is None or holds no element, ``bad_shape`` when it is ragged.
    """
    if x is None:
        raise Unmeasurable("no_object", f"{name} is None")
    try:
        array = np.array(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise Unmeasurable("bad_shape", f"{name} is not a rectangular array of numbers") from error
    if array.size == 0:
        raise Unmeasurable("no_object", f"{name} is empty")
    array[~np.isfinite(array)] = np.nan
    return array


def of_shape(x: Floats, shape: Sequence[int | None], name: str = "input") -> Floats:
    """Return `x` unchanged when its shape is `shape`, where None stands for any length.

    Raises
    ------
    Unmeasurable
        ``bad_shape``, with the shape that was wanted and the one that came.
    """
    if x.ndim != len(shape) or any(w is not None and w != n for w, n in zip(shape, x.shape, strict=True)):
        wanted = ", ".join("any" if w is None else str(w) for w in shape)
        raise Unmeasurable("bad_shape", f"{name} is {x.shape}, wanted ({wanted})")
    return x


def flags(x: ArrayLike | None, shape: Sequence[int], name: str = "flags") -> Bools:
    """Return `x` as booleans of `shape`; None means true everywhere and a missing flag is false.

    Raises
    ------
    Unmeasurable
        ``bad_shape`` when `x` has another shape.
    """
    if x is None:
        return np.ones(shape, dtype=np.bool_)
    try:
        array = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise Unmeasurable("bad_shape", f"{name} is not a rectangular array of flags") from error
    of_shape(array, shape, name)
    return np.asarray((array != 0) & ~np.isnan(array), dtype=np.bool_)


def enough_frames(n: int, least: int = LEAST_FRAMES, what: str = "frames") -> None:
    """Pass when there are at least `least` of `what`.

    Raises
    ------
    Unmeasurable
        ``too_few_frames``.
    """
    if n < least:
        raise Unmeasurable("too_few_frames", f"{n} {what}, at least {least} are needed")


def some_finite(*arrays: Floats) -> None:
    """Pass when every array holds at least one finite value.

    Raises
    ------
    Unmeasurable
        ``all_nan``.
    """
    if not all(bool(np.isfinite(a).any()) for a in arrays):
        raise Unmeasurable("all_nan", "no finite value")


def some_positive(*arrays: Floats) -> None:
    """Pass when every array (of depths, sizes or diameters) holds at least one value above 0.

    Raises
    ------
    Unmeasurable
        ``zero_depth``.
    """
    if not all(bool((a > 0).any()) for a in arrays):
        raise Unmeasurable("zero_depth", "no positive depth or size")


def absent(reason: str, detail: str, *tests: tuple[float, float]) -> Unmeasurable:
    """Return the `Unmeasurable` for an event that did not happen, marked by whether it would have been seen.

    Parameters
    ----------
    reason : str
        An event reason, such as ``no_motion``.
    detail : str
        One clause for people.
    tests : pairs of float
        Standard error of each tested quantity, and its gate in the same unit.  The event counts as detectable when 3
        standard errors are below the gate in every one of them.
    """
    return Unmeasurable(reason, detail, detectable=all(3.0 * error < gate for error, gate in tests))
