"""Is there anything that can have pushed an object?  What a kink of its path needs in the picture to be a contact.

Conventions
-----------
Directions are image vectors (x, y), +y down.  A push points away from what makes it, so the place to look at lies on
the far side of the object.  The floor under a falling object need not be seen as an edge: a camera that looks down on
it sees a bounce in the middle of its surface.  Everything else that stops or throws back a body has an outline there,
moves, or lies beyond the border of the frame.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pvbench_suite.perception.embedded.background import Scene
from pvbench_suite.perception.embedded.canvas import Canvas
from pvbench_suite.perception.embedded.egomotion import applied
from pvbench_suite.perception.embedded.frames import Floats
from pvbench_suite.perception.embedded.kinks import Kink
from pvbench_suite.perception.embedded.objects import GATE
from pvbench_suite.perception.embedded.toning import Image
from pvbench_suite.perception.types import Bodies, Masks

#: A passive surface gives back at most this share of the speed.
GAIN = 1.1
#: Largest angle between a floor's push and the vertical: friction is at most as large as the pressure.
CONE = float(np.cos(np.radians(45.0)))
#: Where an outline is sought: this far either side of the contact point, over this half length (in radii); the step of
#: luma or chroma that it makes [levels], and at nine tenths of its length at least this share of it.
DEPTH, LENGTH, STEP, EVEN = 0.5, 0.7, 10.0, 0.4
#: The border of the frame, and what moves beside the object, count within this many radii.
NEAR = 0.25
#: Two bodies: the push is at most this many times the speed at which they close in, and no further from the line of
#: their centres than this angle.
CLOSING, ALONG = 2.2, float(np.cos(np.radians(65.0)))


def passive(kink: Kink) -> bool:
    """Return whether a surface at rest can have made the kink: a bounce off the floor, a stop, or a loss of speed."""
    before, after = float(np.linalg.norm(kink.before)), float(np.linalg.norm(kink.after))
    bounced = kink.before[1] > 0 and kink.after[1] < 0.3 * kink.before[1] and kink.before[1] > 0.3 * before
    return bool(bounced or after <= GAIN * before)


def floored(kink: Kink) -> bool:
    """Return whether a floor can have made the kink: the object came down, and was pushed up."""
    push = kink.push
    return bool(kink.before[1] > 0 and -push[1] >= CONE * float(np.linalg.norm(push)))


def collided(bodies: Bodies, n: int, m: int, kink: Kink) -> bool:
    """Return whether object `m`, which touches `n`, can have pushed it so: they closed in, and it pushes away from it.

    A body that only goes along (its own shadow, a companion) closes in on nothing.
    """
    at = max(0, min(kink.frame, len(bodies.times) - 1))
    near = [t for t in (at - 1, at, at - 2, at + 1) if 0 <= t < len(bodies.times)]
    both = [t for t in near if np.isfinite(bodies.centre[t, [n, m], :2]).all()]
    if not both:
        return True
    line = np.asarray(bodies.centre[both[0], m, :2] - bodies.centre[both[0], n, :2], dtype=float)
    line /= max(float(np.linalg.norm(line)), 1e-9)
    closing = float((kink.before - _velocity(bodies, m, kink.when)) @ line)
    push = float(np.linalg.norm(kink.push))
    return bool(push <= CLOSING * closing and -(kink.push @ line) >= ALONG * push)


def _velocity(bodies: Bodies, m: int, when: float) -> Floats:
    """Return the velocity (2,) of object `m` over the 0.2 s before `when` [px/s]; 0 where it is not known."""
    t, uv = np.asarray(bodies.times, dtype=float), np.asarray(bodies.centre[:, m, :2], dtype=float)
    near = np.flatnonzero((t < when) & (t >= when - 0.21) & np.isfinite(uv).all(axis=-1))
    if len(near) < 2:
        return np.zeros(2)
    s = t[near] - t[near].mean()
    return np.asarray(s @ uv[near] / (s @ s))


def obstructed(world: Scene, canvas: Canvas | None, masks: Masks, bodies: Bodies, n: int, kink: Kink) -> bool:
    """Return whether something at the far side of object `n` can have pushed it: an outline, the border, or motion.

    `world` is the scene of the clip, and `canvas` the way of its frames onto it where the camera moves.
    """
    t = _seen(bodies, n, kink)
    if t is None:
        return True
    mask = masks.dense(t, n)
    away = kink.push / max(float(np.linalg.norm(kink.push)), 1e-9)
    rows, columns = np.nonzero(mask)
    places = np.stack([columns, rows], axis=-1).astype(float)
    centre, radius = places.mean(axis=0), float(np.sqrt(len(rows) / np.pi))
    point = centre + float(((places - centre) @ away).min()) * away
    h, w = mask.shape
    margin = NEAR * radius + 1.0
    if not (margin <= point[0] <= w - 1 - margin and margin <= point[1] <= h - 1 - margin):
        return True
    if _moving_beside(masks, n, t, mask, radius):
        return True
    if canvas is not None:
        ends = applied(canvas.to_canvas[t], np.stack([point, point + radius * away]))
        radius = float(np.linalg.norm(ends[1] - ends[0]))
        point, away = ends[0], (ends[1] - ends[0]) / radius
    return outlined(world.background, point, away, radius)


def _seen(bodies: Bodies, n: int, kink: Kink) -> int | None:
    """Return the frame nearest to the kink in which object `n` is seen, or None when none is within 0.15 s."""
    t = np.asarray(bodies.times, dtype=float)
    there = np.flatnonzero(np.asarray(bodies.present)[:, n] & (np.abs(t - kink.when) <= 0.15))
    return int(there[np.argmin(np.abs(t[there] - kink.when))]) if len(there) else None


def _moving_beside(masks: Masks, n: int, t: int, mask: NDArray[np.bool_], radius: float) -> bool:
    """Return whether motion that is no object of its own (a hand, say) touches object `n` about frame `t`."""
    size = 2 * max(1, round(NEAR * radius)) + 1
    around = cv2.dilate(mask.astype(np.uint8), np.ones((size, size), np.uint8)) > 0
    for k in range(max(0, t - 2), min(len(masks.times), t + 3)):
        for m in range(len(masks.names)):
            unsure = 0 < masks.confidence[k, m] < GATE
            if m != n and unsure and np.count_nonzero(masks.dense(k, m) & around) >= 0.02 * mask.sum():
                return True
    return False


def outlined(background: Image, point: Floats, away: Floats, radius: float) -> bool:
    """Return whether `background` (h, w, 3) has a straight outline at `point` (x, y), across the direction `away`."""
    side = np.array([-away[1], away[0]])
    along = np.linspace(-LENGTH, LENGTH, 15) * radius
    deep = np.arange(-DEPTH * radius - 2.0, DEPTH * radius + 2.01, 0.5)
    where = point + along[:, None, None] * side + deep[None, :, None] * away
    x, y = where[..., 0].astype(np.float32), where[..., 1].astype(np.float32)
    strip = cv2.remap(background, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    step = strip[:, 4:] - strip[:, :-4]  # over two pixels
    for c in range(3):
        mean = step[..., c].mean(axis=0)
        even = np.quantile(step[..., c] * np.sign(mean), 0.1, axis=0)
        if bool(np.any((np.abs(mean) >= STEP) & (even >= EVEN * np.abs(mean)))):
            return True
    return False
