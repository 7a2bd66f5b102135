"""One clip: what the profile gives or refuses, held against the truth.

Conventions
-----------
The profile sees the decoded pixels and nothing else.  A provider that is itself the simulator's truth is handed that
truth, and its product is not compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from pvbench_suite.calibrate.eyes import Eyes
from pvbench_suite.calibrate.perceived import cameras, events, objects, points
from pvbench_suite.calibrate.perceived.stage import Staged, Take, joined, stage
from pvbench_suite.calibrate.perceived.tally import Tally
from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.protocol import Profile
from pvbench_suite.perception.simulator import Truth
from pvbench_suite.simulate import truth

#: What is compared, in the order in which it is asked for; on violating clips, the first four.
PRODUCTS = ("masks", "bodies", "tracks", "contacts", "flow", "cameras", "depth")
#: What is asked for where only frames, cuts and masks are looked at.
_FEW = ("masks",)
#: A reason that reports a cut.
_CUT = re.compile(r"\b(cuts?|shots)\b")


def _asked(profile: Profile, take: Take) -> list[str]:
    """Return the products of `profile` that are compared on a take."""
    wanted: dict[str, tuple[str, ...]] = {"repeated frames": _FEW, "joined": _FEW, "violating": PRODUCTS[:4]}
    made = [p for p in wanted.get(take.group, PRODUCTS) if p in profile.providers]
    return [p for p in made if not isinstance(profile.providers[p], Truth)]


def measure(take: Take, profile: Profile) -> dict[str, Any]:
    """Return the counts of one clip: `sums`, `samples`, and `refused` (product -> why it is not given)."""
    tally, refused = Tally(), {}
    staged = None if take.group == "joined" else stage(take)
    clip = joined(take) if staged is None else staged.clip
    eyes = Eyes(profile, clip, cache(lambda: truth.records(staged.world, staged.film)) if staged is not None else None)
    records: dict[str, Any] = {}
    for product in _asked(profile, take):
        try:
            records[product] = eyes.get(product)
        except NotPerceived as reason:
            refused[product] = reason.what
        except Exception as error:  # a provider that breaks down on a clip must show, not end the rest
            refused[product] = f"error: {type(error).__name__}: {error}"
    tally.share(f"clips.cut_{'found' if staged is None else 'false'}", [any(map(_CUT.search, refused.values()))])
    if staged is not None:
        tally.add("clips.perceived", "masks" not in refused, 1)
        _compare(tally, staged, records, eyes)
    return {**tally.content(), "refused": refused}


def _compare(tally: Tally, staged: Staged, records: Mapping[str, Any], eyes: Eyes) -> None:
    """Count what the records of one clip say against its truth."""
    timed = next((records[p] for p in ("masks", "tracks", "bodies") if p in records), None)
    if timed is not None:
        measure_frames(tally, staged, np.asarray(timed.times, dtype=float))
    who = None
    if "masks" in records:
        who = objects.measure_masks(tally, staged, records["masks"])
        cameras.measure_stabilisation(tally, staged, records["masks"])
    elif isinstance(eyes.profile.providers.get("masks"), Truth):
        names = truth.names(staged.world)
        who = objects.Who({name: n for n, name in enumerate(names)})
    if who is not None and "bodies" in records:
        objects.measure_bodies(tally, staged, records["bodies"], who)
    if who is not None and "contacts" in records:
        events.measure_contacts(tally, staged, records["contacts"], who)
    if "tracks" in records:
        points.measure_tracks(tally, staged, records["tracks"], who)
    if "flow" in records:
        points.measure_flow(tally, staged, records["flow"])
    if "cameras" in records:
        cameras.measure_cameras(tally, staged, records["cameras"])
    if "depth" in records:
        cameras.measure_depth(tally, staged, records["depth"])


def measure_frames(tally: Tally, staged: Staged, times: np.ndarray[Any, Any]) -> None:
    """Count the repeated frames that a record at `times` (K,) [s] leaves out, and the others that it does."""
    kept = np.zeros(len(staged.source), dtype=bool)
    kept[np.abs(staged.clip.times[None, :] - times[:, None]).argmin(axis=1)] = True
    repeats = np.concatenate([[False], np.diff(staged.source) == 0])
    if repeats.any():
        tally.share("frames.repeat_recall", ~kept[repeats])
        tally.share("frames.repeat_precision", repeats[~kept])
    tally.share("frames.dropped", ~kept[~repeats])
