"""The changes of a clip that should not matter, on arguments of each kind (see `tests.physics.subjects`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from tests.physics.clips import SECONDS, Kwargs, dt_of
from tests.physics.subjects import SUBJECTS, Subject

MIRROR = np.diag([-1.0, 1.0, 1.0])


def times(fps: float = 24.0) -> np.ndarray:
    """Return the frame times of a whole clip."""
    return np.arange(round(SECONDS * fps)) / fps


def _mapped(subject: Subject, kwargs: Kwargs, by: dict[str, Callable]) -> Kwargs:
    """Return the arguments, those of a kind in `by` changed by its function."""
    return {k: by.get(subject.kinds.get(k, ""), lambda x: x)(v) for k, v in kwargs.items()}


def scale(subject: Subject, seed: int) -> Kwargs:
    """Return the clip in another unit of length."""
    k = float(np.exp(np.random.default_rng(seed).normal(0.0, 2.0)))

    def cameras(x: np.ndarray) -> np.ndarray:
        return np.concatenate([np.concatenate([x[:, :3, :3], k * x[:, :3, 3:]], 2), x[:, 3:]], 1)

    grown = {kind: (lambda x: k * x) for kind in ("points", "length", "depth", "depth_field")}
    return _mapped(subject, subject.make(times()), {**grown, "cameras": cameras})


def world(subject: Subject, seed: int) -> Kwargs:
    """Return the clip in another frame of the world."""
    R = Rotation.random(random_state=seed).as_matrix()
    shift = 5.0 * np.random.default_rng(seed).normal(size=3)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, shift
    by = {"points": lambda x: x @ R.T + shift, "directions": lambda x: x @ R.T, "turns": lambda x: R @ x}
    return _mapped(subject, subject.make(times()), {**by, "cameras": lambda x: T @ x})


def mirror(subject: Subject, seed: int) -> Kwargs:
    """Return the clip with left and right exchanged."""
    clip = subject.make(times())
    width = (
        clip["hw"][1] if "hw" in clip else next((np.shape(v)[2] for k, v in clip.items() if _is_field(subject, k)), 0)
    )

    def intrinsics(k: np.ndarray) -> np.ndarray:
        return np.array([[k[0, 0], 0, width - 1 - k[0, 2]], k[1], k[2]])

    def cameras(x: np.ndarray) -> np.ndarray:
        S = np.diag([-1.0, 1.0, 1.0, 1.0])
        return S @ x @ S

    flip = {"points": lambda x: x @ MIRROR, "directions": lambda x: x @ MIRROR, "turns": lambda x: MIRROR @ x @ MIRROR}
    fields = {"field": lambda x: x[:, :, ::-1], "depth_field": lambda x: x[:, :, ::-1]}
    vectors = {"vectors": lambda x: x[:, :, ::-1] @ np.diag([-1.0, *np.ones(x.shape[-1] - 1)])}
    pixels = {"pixels": lambda x: np.stack([width - 1 - x[..., 0], x[..., 1]], -1)}
    image = {"moments": lambda x: x * [[1, -1], [-1, 1]], "image_direction": lambda x: x * [-1, 1]}
    return _mapped(subject, clip, {**flip, **fields, **vectors, **pixels, **image, "K": intrinsics, "cameras": cameras})


def _is_field(subject: Subject, name: str) -> bool:
    return subject.kinds.get(name, "") in ("field", "vectors")


def order(subject: Subject, seed: int) -> Kwargs:
    """Return the clip with its objects, points or regions numbered otherwise."""
    clip = subject.make(times())
    if "regions" in clip:
        return {**clip, "regions": 7 - 3 * clip["regions"]}
    count = np.shape(clip[subject.points[0]])[1]
    perm = np.random.default_rng(seed).permutation(count)
    for name in subject.points:
        x = np.asarray(clip[name])
        clip[name] = x[perm] if x.ndim == 1 else x[:, perm][:, :, perm] if name == "cues" else x[:, perm]
    return clip


def reversal(subject: Subject, seed: int) -> Kwargs:
    """Return the film backwards."""
    t = times()
    by: dict[str, Callable] = {"t": lambda x: t[-1] - x[::-1], "times": lambda x: (t[-1] - np.asarray(x))[::-1]}
    clip = _mapped(subject, subject.make(t), by)
    return {k: v[::-1] if _per_frame(subject, k, v, t) else v for k, v in clip.items()}


def _per_frame(subject: Subject, name: str, value: object, t: np.ndarray) -> bool:
    return subject.kinds.get(name) not in ("t", "times") and np.ndim(value) >= 1 and len(value) in (len(t), len(t) - 2)  # type: ignore[arg-type]


def start(subject: Subject, seed: int) -> Kwargs:
    """Return the clip with a container that does not begin at 0."""
    shift = float(np.random.default_rng(seed).uniform(-50.0, 50.0))
    return _mapped(subject, subject.make(times()), {kind: (lambda x: x + shift) for kind in ("t", "times")})


def resolution(subject: Subject, seed: int) -> Kwargs:
    """Return the clip at another size of the frame."""
    k = float(np.random.default_rng(seed).choice([0.5, 2.0, 3.0]))
    if any(_is_field(subject, name) for name in subject.kinds):
        return subject.make(times(), size=2)
    by: dict[str, Callable] = {kind: (lambda x: k * x) for kind in ("pixels", "focal", "pixel_length")}
    by |= {"K": lambda x: np.diag([k, k, 1.0]) @ x, "moments": lambda x: k * k * x}
    return _mapped(subject, subject.make(times()), {**by, "hw": lambda x: tuple(k * side for side in x)})


def rate(subject: Subject, seed: int) -> Kwargs:
    """Return the same motion at another frame rate."""
    return subject.make(times([12.0, 30.0, 60.0][seed % 3]))


def dropped(subject: Subject, seed: int) -> Kwargs:
    """Return the clip with a tenth of its frames lost, the others at their true times."""
    t = times()
    return subject.make(t[np.random.default_rng(seed).random(len(t)) > 0.1])


def duplicated(subject: Subject, seed: int) -> Kwargs:
    """Return 16 pictures a second in a container of 24 frames, what repeats removed: each at the time it is shown."""
    taken = times(16.0)
    shown = np.ceil(24.0 * taken - 1e-9) / 24.0
    clip = subject.make(taken)
    return {k: shown if subject.kinds.get(k) == "t" else dt_of(shown) if k == "dt" else v for k, v in clip.items()}


def shuffled(subject: Subject, seed: int) -> Kwargs:
    """Return a lawful clip with its pictures in no order."""
    t = times()
    perm = np.random.default_rng(seed).permutation(len(t))
    clip = subject.make(t, fault=0.0)
    short = np.argsort(np.argsort(perm[(perm > 0) & (perm < len(t) - 1)]))
    picked = {len(t): perm, len(t) - 2: short}
    return {k: np.asarray(v)[picked[len(v)]] if _per_frame(subject, k, v, t) else v for k, v in clip.items()}


#: The changes that leave the value as it is, by the name under which docs/physics.md has them.
CHANGES: dict[str, Callable[[Subject, int], Kwargs]] = {
    "scale": scale, "world": world, "rate": rate, "resolution": resolution, "start": start, "mirror": mirror,
    "order": order, "dropped": dropped, "duplicated": duplicated, "reversal": reversal,
}  # fmt: skip


#: Kinds of arguments that a change needs; a kernel that takes none of them does not see it.
_NEEDS = {
    "scale": {"points", "length", "depth", "cameras", "depth_field"},
    "world": {"points", "directions", "turns", "cameras"},
    "resolution": {"pixels", "K", "moments", "vectors"},
    "start": {"t"},
    "mirror": {"points", "directions", "turns", "pixels", "vectors", "moments"},
}


def sees(subject: Subject, change: str) -> bool:
    """Return whether a change reaches any argument of a kernel."""
    if change == "order":
        return bool(subject.points)
    return change not in _NEEDS or bool(_NEEDS[change] & set(subject.kinds.values()))


def matrix() -> dict[str, dict[str, str]]:
    """Return by kernel and change: ``exact``, ``x %`` (the tolerance), ``-`` (not seen), or why it does not hold."""
    table: dict[str, dict[str, str]] = {}
    for name, subject in SUBJECTS.items():
        table[name] = {}
        for change in CHANGES:
            tolerance = subject.tolerance.get(change)
            held = "exact" if tolerance is None else f"{100 * tolerance:g} %"
            table[name][change] = subject.breaks.get(change, held) if sees(subject, change) else "-"
    return table
