"""Contacts, flight, driving and the direction of gravity against the truth.

Conventions
-----------
A true contact is asked for where the bodies that make it are seen then, at least 3 frames away from either end of the
clip, since a change of velocity takes as many on either side.  Contacts that are not asked for are neither missed nor
false.
"""

from __future__ import annotations

import numpy as np

from pvbench_suite.calibrate.perceived.matching import FRAMES, Contact, matched_contacts, once
from pvbench_suite.calibrate.perceived.objects import Who, going
from pvbench_suite.calibrate.perceived.stage import Staged
from pvbench_suite.calibrate.perceived.tally import Tally
from pvbench_suite.perception.types import Contacts
from pvbench_suite.simulate.vectors import Floats

#: Contacts this many frames from either end of a clip are not asked for.
_ENDS = 3.0


def measure_contacts(tally: Tally, staged: Staged, contacts: Contacts, who: Who) -> None:
    """Count contacts, free and driven frames, and how far the given direction of gravity is off."""
    truth = staged.contacts
    gate = FRAMES * _step(staged)
    all_true = once(_listed(truth, list(range(len(truth.names)))), gate)
    asked = [c for c in all_true if _seen(staged, c)]
    seen = once(_listed(contacts, who.indices(contacts.names)), 0.0)
    found = matched_contacts(asked, seen, gate)
    others = [c for c in all_true if c not in asked]
    excused = {f.seen for f in matched_contacts(others, seen, gate)} - {f.seen for f in found}
    tally.add("contacts.recall", len(found), len(asked))
    tally.add("contacts.precision", len(found), len(seen) - len(excused))
    tally.sample("contacts.timing_ms", [1000.0 * abs(f.late) for f in found])
    tally.share("contacts.partner", [f.partner for f in found])
    measure_states(tally, staged, contacts, who)
    if contacts.down is not None and truth.down is not None:
        measure_down(tally, np.asarray(contacts.down, dtype=float), np.asarray(truth.down, dtype=float))


def _listed(contacts: Contacts, indices: list[int]) -> list[Contact]:
    """Return the contacts with the true index of each partner."""
    both = zip(contacts.when.tolist(), contacts.first.tolist(), contacts.second.tolist(), strict=True)
    return [(w, indices[a], indices[b] if b >= 0 else -1) for w, a, b in both]


def _step(staged: Staged) -> float:
    return float(np.median(np.diff(staged.world.times)))


def _seen(staged: Staged, contact: Contact) -> bool:
    """Return whether a true contact could be seen: its bodies present then, and not at either end of the clip."""
    when, *pair = contact
    times, step = staged.world.times, _step(staged)
    if not times[0] + _ENDS * step <= when <= times[-1] - _ENDS * step:
        return False
    near = np.flatnonzero(np.abs(times - when) <= step)
    return all(bool(np.asarray(staged.bodies.present)[near, k].all()) for k in pair if k >= 0)


def measure_states(tally: Tally, staged: Staged, contacts: Contacts, who: Who) -> None:
    """Count the frames in which objects are rightly said to fly freely or to be driven.

    Precision counts all objects; recall counts the moving objects in the frames in which they are seen.
    """
    frames, indices = staged.frames(contacts.times), who.indices(contacts.names)
    present = np.asarray(staged.bodies.present)[frames]
    moving = going(staged.world)[list(staged.world.objects)]
    for name in ("airborne", "driven"):
        true = np.asarray(getattr(staged.contacts, name), dtype=bool)[frames]
        said = np.zeros_like(true)
        for m, n in enumerate(indices):
            mine = np.asarray(getattr(contacts, name)[:, m], dtype=bool)
            tally.add(f"contacts.{name}_precision", int((mine & true[:, n]).sum()) if n >= 0 else 0, int(mine.sum()))
            if n >= 0:
                said[:, n] |= mine
        asked = true & present & moving
        tally.add(f"contacts.{name}_recall", int((said & asked).sum()), int(asked.sum()))


def measure_down(tally: Tally, given: Floats, true: Floats) -> None:
    """Count the angle between two directions of gravity [deg]: in space, and as they stand in the picture."""
    for name, size in (("contacts.down_deg", 3), ("contacts.down_image_deg", 2)):
        a, b = given[:size], true[:size]
        cosine = float(a @ b) / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-12)
        tally.sample(name, [np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))])
