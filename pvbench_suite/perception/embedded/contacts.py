"""Product `contacts`: who touches what and when, and who flies freely, from planar paths.

Conventions
-----------
Image +y is down.  A contact is a kink of the path (`kinks`) with a cause that the picture shows (`obstacles`): another
object that was closing in, the floor under what came down, or an outline, motion or the border of the frame at the side
from which the object is pushed.  A kink without one is no contact: it is for R16 to charge.  Contacts and flight
(`flight`) come from what the object does beside other things, never from how well a parabola fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from pvbench_suite.perception.embedded.flight import TOUCH, airborne, gap
from pvbench_suite.perception.embedded.kinks import SIDE, SIGMAS, Kink, kinks
from pvbench_suite.perception.embedded.masks import understood
from pvbench_suite.perception.embedded.obstacles import CLOSING, GAIN, STEP, collided, floored, obstructed, passive
from pvbench_suite.perception.protocol import Parameter
from pvbench_suite.perception.types import Bodies, Contacts, Masks
from pvbench_suite.video.types import Clip


def _partner(bodies: Bodies, masks: Masks, n: int, kink: Kink) -> int:
    """Return the object that touches `n` at the kink and can have pushed it, or -1."""
    around = range(max(0, kink.frame - 2), min(len(bodies.times), kink.frame + 2))
    best, nearest = -1, TOUCH
    for m in range(len(bodies.names)):
        if m != n and bodies.present[:, m].any():
            apart = min((_apart(bodies, masks, n, m, t) for t in around), default=float("inf"))
            if apart <= nearest and collided(bodies, n, m, kink):
                best, nearest = m, apart
    return best


def _apart(bodies: Bodies, masks: Masks, n: int, m: int, t: int) -> float:
    """Return the gap between two objects in frame `t` in smaller radii: of their outlines, or if nearer of discs."""
    discs = gap(bodies, n, m, t)
    one, two = masks.dense(t, n), masks.dense(t, m)
    if not (bodies.present[t, [n, m]].all() and one.any() and two.any()):
        return discs
    away = cv2.distanceTransform((~one).astype(np.uint8), cv2.DIST_L2, 5)
    radius = float(np.sqrt(min(np.count_nonzero(one), np.count_nonzero(two)) / np.pi))
    return min(discs, (float(away[two].min()) - 1.0) / radius)


@dataclass(frozen=True)
class PlanarContacts:
    """Contact candidates, flight and gravity's direction (image down) from planar paths."""

    name: str = "embedded-contacts@2"
    product: str = "contacts"
    needs: tuple[str, ...] = ("bodies", "masks")
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "side": SIDE, "sigmas": SIGMAS, "gain": GAIN, "touch": TOUCH, "step": STEP, "closing": CLOSING,
    }  # fmt: skip

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Contacts:
        """Return the contacts of the bodies."""
        bodies: Bodies = records["bodies"]
        masks: Masks = records["masks"]
        times = np.asarray(bodies.times, dtype=float)
        T, N = bodies.present.shape
        when: list[tuple[float, int, int]] = []
        fly = np.zeros((T, N), dtype=bool)
        for n in range(N):
            if not np.isfinite(bodies.diameter[n]):
                continue
            mine = []
            for kink in kinks(times, np.asarray(bodies.centre[:, n, :2], dtype=float), float(bodies.diameter[n])):
                partner = _partner(bodies, masks, n, kink)
                if partner >= 0 or _surface(clip, masks, bodies, n, kink):
                    mine.append(kink.when)
                    when.append((kink.when, n, partner))
            fly[:, n] = airborne(bodies, n, mine)
        pairs = _once(sorted(when))
        driven = np.zeros((T, N), dtype=bool)
        return Contacts(
            times,
            np.array([w for w, _, _ in pairs], dtype=float),
            np.array([i for _, i, _ in pairs], dtype=np.int64),
            np.array([j for _, _, j in pairs], dtype=np.int64),
            fly,
            driven,
            bodies.names,
            down=np.array([0.0, 1.0, 0.0]),
            down_source="image axis",
        )


def _surface(clip: Clip, masks: Masks, bodies: Bodies, n: int, kink: Kink) -> bool:
    """Return whether the surroundings can have made the kink; the background is looked at only where it decides."""
    if not passive(kink):
        return False
    return floored(kink) or obstructed(*understood(clip), masks, bodies, n, kink)


def _once(found: list[tuple[float, int, int]]) -> list[tuple[float, int, int]]:
    """Return contacts with those of one pair within a tenth of a second counted once."""
    out: list[tuple[float, int, int]] = []
    for when, i, j in found:
        pair = {i, j}
        if j >= 0 and any(abs(when - w) < 0.1 and {a, b} == pair for w, a, b in out):
            continue
        out.append((when, i, j))
    return out
