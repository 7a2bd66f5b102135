"""Who is who: true objects and perceived ones, frame by frame and over a clip; true events and perceived ones.

Conventions
-----------
T frames, N true objects, M perceived ones.  Overlaps are counts of pixels.  -1 stands for nobody; in a contact it
stands for the fixed surroundings, and `STRANGER` for a perceived object that is no true one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Overlap (intersection over union) from which on a mask in one frame shows that object.
SAME = 0.5
#: Overlap over the whole clip below which two objects are not the same at all.
LEAST = 0.1
#: A true mask is seen from this many pixels on.
PIXELS = 8
#: A contact is found when it is named within this many frames.
FRAMES = 1.5
#: A perceived object that is no true one, as a partner of a contact.
STRANGER = -2

Contact = tuple[float, int, int]


@dataclass(frozen=True, eq=False)
class Overlap:
    """Pixels of true and perceived masks: `true` (T, N), `seen` (T, M), `shared` (T, N, M)."""

    true: Floats
    seen: Floats
    shared: Floats

    @property
    def iou(self) -> Floats:
        """Intersection over union (T, N, M) in [0, 1]; 0 where both are empty."""
        union = self.true[:, :, None] + self.seen[:, None, :] - self.shared
        return np.asarray(self.shared / np.maximum(union, 1.0))

    @property
    def whole(self) -> Floats:
        """Intersection over union (N, M) of the masks through the clip."""
        union = self.true[:, :, None] + self.seen[:, None, :] - self.shared
        return np.asarray(self.shared.sum(axis=0) / np.maximum(union.sum(axis=0), 1.0))


def assigned(gain: Floats, least: float) -> Ints:
    """Return for each row of `gain` (N, M) its column, or -1, so that the total of gains of at least `least` is most.

    Examples
    --------
    >>> assigned(np.array([[0.9, 0.8], [0.7, 0.0]]), 0.1).tolist()
    [1, 0]
    """
    out = np.full(len(gain), -1, dtype=np.int64)
    if gain.size:
        allowed = np.where(gain >= least, gain, 0.0)
        rows, columns = linear_sum_assignment(-allowed)
        good = gain[rows, columns] >= least
        out[rows[good]] = columns[good]
    return out


def by_clip(overlap: Overlap) -> Ints:
    """Return for each true object (N,) the perceived one that it is over the clip, or -1 (Hungarian)."""
    return assigned(overlap.whole, LEAST)


def switches(overlap: Overlap) -> int:
    """Return how often a true object goes on under another identity, as CLEAR MOT counts it.

    In each frame an object keeps the identity it had in the frame before while their masks overlap by `SAME`; the rest
    are assigned by Hungarian.  A switch is an identity that differs from the object's last one, however long ago.  Two
    objects that exchange identities make two switches.

    References
    ----------
    K. Bernardin, R. Stiefelhagen, Evaluating Multiple Object Tracking Performance: The CLEAR MOT Metrics, EURASIP
    Journal on Image and Video Processing (2008).
    """
    iou = overlap.iou
    last = np.full(iou.shape[1], -1, dtype=np.int64)
    now, count = last.copy(), 0
    for t in range(len(iou)):
        gain = np.where((iou[t] >= SAME) & (overlap.true[t] >= PIXELS)[:, None], iou[t], 0.0)
        for n, m in enumerate(now):
            if m >= 0 and gain[n, m] > 0.0:
                kept = gain[n, m]
                gain[n], gain[:, m] = 0.0, 0.0
                gain[n, m] = kept
        now = assigned(gain, SAME)
        count += int(np.count_nonzero((now >= 0) & (last >= 0) & (now != last)))
        last = np.where(now >= 0, now, last)
    return count


def once(contacts: Sequence[Contact], gate: float) -> list[Contact]:
    """Return the contacts in order of time, those of the same pair within `gate` [s] of the one before counted once."""
    out: list[Contact] = []
    for when, a, b in sorted(contacts):
        if not any(when - w <= gate and {a, b} == {c, d} for w, c, d in out):
            out.append((when, a, b))
    return out


@dataclass(frozen=True, slots=True)
class Found:
    """The true contact and the perceived one of a pair, by index; `late` [s] is the latter's time after the former."""

    true: int
    seen: int
    late: float
    partner: bool


def matched_contacts(true: Sequence[Contact], seen: Sequence[Contact], gate: float) -> list[Found]:
    """Return which perceived contact is which true one: within `gate` [s], with a body in common, one to one.

    A pair with the right partner goes before one that is nearer in time.
    """
    gain = np.zeros((len(true), len(seen)))
    for i, (when, a, b) in enumerate(true):
        for j, (at, c, d) in enumerate(seen):
            bodies = {a, b} & {c, d} - {-1, STRANGER}
            if bodies and abs(at - when) <= gate:
                gain[i, j] = 2.0 - abs(at - when) / gate + 2.0 * ({a, b} == {c, d})
    return [
        Found(i, int(j), seen[j][0] - true[i][0], {*true[i][1:]} == {*seen[j][1:]})
        for i, j in enumerate(assigned(gain, 1.0))
        if j >= 0
    ]
