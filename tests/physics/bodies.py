"""Closed-form worlds for the tests of the numeric kernels: moving point bodies, noise, world changes.

World axes are those of the first camera: x right, y down, z forward.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from scipy.spatial.transform import Rotation

from pvbench_suite.errors import Unmeasurable

#: Few, repeatable Hypothesis examples: each one runs a whole kernel.
few = settings(max_examples=10, deadline=None, derandomize=True)

FPS = (8, 12, 24, 60)


def points(n: int = 20, seed: int = 0) -> np.ndarray:
    """Return `n` points on the unit sphere in antipodal pairs, so that their centroid is the origin and l is 2."""
    half = np.random.default_rng(seed).normal(size=(n // 2, 3))
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    return np.concatenate([half, -half])


def moving(shape: np.ndarray, seconds: float = 4.0, fps: float = 24.0, still: bool = False) -> np.ndarray:
    """Return `shape` (P, 3), or a shape per frame (T, P, 3), tumbling and drifting 10 units before the camera."""
    n = round(seconds * fps)
    t = np.arange(n) / fps
    rate, speed = (0.0, 0.0) if still else (0.6, 0.8)
    turn = Rotation.from_rotvec(np.outer(rate * t, [0.2, 0.9, 0.4])).as_matrix()
    centre = np.stack([speed * t - 1.0, 0.2 * speed * t, 10.0 + 0.3 * speed * t], axis=-1)
    body = np.broadcast_to(shape, (n, *shape.shape[-2:]))
    return np.einsum("tij,tpj->tpi", turn, body) + centre[:, None]


def during(n: int, start: int, stop: int, amount: float) -> np.ndarray:
    """Return 1 in every one of `n` frames, and 1 + `amount` in those from `start` to before `stop`."""
    k = np.arange(n)
    return 1.0 + amount * ((k >= start) & (k < stop))


def world(seed: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Return a random similarity: scale, rotation, shift."""
    rng = np.random.default_rng(seed)
    return float(np.exp(rng.normal())), Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3) * 5.0


def ar1(n: int, sd: float, fps: float, seed: int, columns: int = 1) -> np.ndarray:
    """Return noise (n, columns) with a correlation time of 0.5 s, as depth errors have."""
    rng = np.random.default_rng(seed)
    keep = np.exp(-1.0 / (0.5 * fps))
    x = np.empty((n, columns))
    x[0] = rng.normal(size=columns)
    for k in range(1, n):
        x[k] = keep * x[k - 1] + np.sqrt(1 - keep**2) * rng.normal(size=columns)
    return sd * x


def reason(call: Callable[[], Any]) -> tuple[str, bool]:
    """Return the reason for which `call` measures nothing, and whether the event would have been seen."""
    with pytest.raises(Unmeasurable) as caught:
        call()
    return caught.value.reason, caught.value.detectable
