"""Compares a folder with what a run needs: missing, extra, doubled, wrong size, length or rate, unreadable.

Conventions
-----------
By default only headers, packets and the first frame are read, so that 1,200 clips take seconds; `deep` decodes every
frame, which also finds damage inside.  A first frame is compared with its reference image where the manifest has one.
Either way the decoder runs in the worker process.  The protocol's own checks are in `pvbench_suite.video.protocol` and
can be imported from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pvbench_suite.errors import BrokenVideo, UserError
from pvbench_suite.video.isolate import probe_isolated
from pvbench_suite.video.manifest import Manifest
from pvbench_suite.video.match import SuiteLike
from pvbench_suite.video.protocol import (
    PAPER,
    Expected,
    length_warning,
    protocol_warnings,
    rate_warning,
    size_warning,
    vfr_warning,
)
from pvbench_suite.video.reference import look
from pvbench_suite.video.types import Probe, Video

__all__ = ["PAPER", "CheckReport", "Expected", "check", "protocol_warnings"]

Told = tuple[tuple[Video, str], ...]
_SHOWN = 5


@dataclass(frozen=True)
class CheckReport:
    """What a check found; each of the pairs holds a video and one clause.

    `ambiguous` are names that fit several groups or files that answer the same one, one line each; `warnings` are
    remarks on a file itself (several video streams, repaired timestamps); `references` say of each I2V video with a
    reference how its first frame relates to it; `probes` are by video id and modality.
    """

    manifest: Manifest
    matched: tuple[Video, ...] = ()
    unmatched: tuple[Video, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    extra: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()
    wrong_size: Told = ()
    wrong_length: Told = ()
    wrong_rate: Told = ()
    variable_rate: Told = ()
    unreadable: Told = ()
    warnings: Told = ()
    references: Told = ()
    probes: dict[tuple[str, str], Probe] = field(default_factory=dict, repr=False)

    @property
    def clean(self) -> bool:
        """Return whether no video is missing, ambiguous or unreadable, and no reference unreadable or another picture.

        Deviations from the protocol may be there, crops among them.
        """
        strange = any(label.startswith(("other", "reference")) for _, label in self.references)
        return not (self.missing or self.ambiguous or self.unreadable or strange)

    def to_rows(self) -> list[dict[str, str | None]]:
        """Return one plain row per finding: kind, modality, group, video, path, detail."""
        rows = [_row("matched", v) for v in self.matched] + [_row("unmatched", v) for v in self.unmatched]
        rows += [
            {"kind": "missing", "modality": m, "group": g, "video": None, "path": None, "detail": "no file"}
            for g, m in self.missing
        ]
        for kind, texts in (("extra", self.extra), ("ambiguous", self.ambiguous)):
            rows += [
                {"kind": kind, "modality": None, "group": None, "video": None, "path": None, "detail": text}
                for text in texts
            ]
        for kind, told in self._findings():
            rows += [_row(kind, video, clause) for video, clause in told]
        return rows

    def lines(self) -> list[str]:
        """Return the report for people: counts, and the first few of each kind."""
        lines = [f"{len(self.matched)} videos match a group, {len(self.unmatched)} have none"]
        named = [f"{group} ({modality})" for group, modality in self.missing]
        for kind, texts in (("missing", named), ("extra", self.extra), ("ambiguous", self.ambiguous)):
            lines += _listed(kind, list(texts))
        for kind, told in self._findings():
            texts = [f"{video.modality}/{video.id}: {clause}" for video, clause in told]
            # People look references through one by one.
            lines += _listed(kind.replace("_", " "), texts, len(texts) if kind == "reference" else _SHOWN)
        return [*lines, *(f"note: {note}" for note in self.manifest.notes)]

    def _findings(self) -> tuple[tuple[str, Told], ...]:
        return (
            ("unreadable", self.unreadable),
            ("wrong_size", self.wrong_size),
            ("wrong_length", self.wrong_length),
            ("wrong_rate", self.wrong_rate),
            ("variable_rate", self.variable_rate),
            ("warning", self.warnings),
            ("reference", self.references),
        )


def _row(kind: str, video: Video, detail: str | None = None) -> dict[str, str | None]:
    where = str(video.path)
    return {
        "kind": kind,
        "modality": video.modality,
        "group": video.group,
        "video": video.id,
        "path": where,
        "detail": detail,
    }


def _listed(kind: str, texts: list[str], most: int = _SHOWN) -> list[str]:
    if not texts:
        return []
    rest = [f"  ... and {len(texts) - most} more"] if len(texts) > most else []
    return [f"{kind}: {len(texts)}", *(f"  {text}" for text in texts[:most]), *rest]


def _reference(video: Video) -> str:
    """Return how the first frame of a readable video relates to its reference, or what is wrong with the image."""
    try:
        return look(video).label
    except BrokenVideo as error:
        return str(error)


def check(
    manifest: Manifest,
    suite: SuiteLike | None = None,
    expect: Expected = PAPER,
    *,
    deep: bool = False,
    reader: Callable[[Video], Probe] | None = None,
) -> CheckReport:
    """Return how a model's folder differs from what a run needs.

    Parameters
    ----------
    manifest : Manifest
        From `discover`, best with ``strict=False``, so that ambiguous and doubled names are listed and not raised.
    suite : SuiteLike, optional
        The suite that the manifest was made with; groups that it does not have are counted as unmatched.
    expect : Expected
        What the videos should be like.
    deep : bool
        Decode every frame, not only the first.
    reader : callable, optional
        Reads one video; by default `probe_isolated`.
    """
    probes: dict[tuple[str, str], Probe] = {}
    unreadable = []
    for video in manifest.videos:
        try:
            probe = reader(video) if reader else probe_isolated(video.path, fps=video.fps, full=deep)
            probes[video.id, video.modality] = probe
        except (BrokenVideo, UserError) as error:
            unreadable.append((video, str(error)))
    readable = [
        (video, probes[video.id, video.modality]) for video in manifest.videos if (video.id, video.modality) in probes
    ]
    has_group = {v: v.group is not None and (suite is None or suite.get(v.group) is not None) for v in manifest.videos}

    def told(clause: Callable[[Probe], str | None]) -> Told:
        return tuple((video, text) for video, probe in readable if (text := clause(probe)))

    return CheckReport(
        manifest,
        matched=tuple(v for v in manifest.videos if has_group[v]),
        unmatched=tuple(v for v in manifest.videos if not has_group[v]),
        missing=manifest.missing,
        extra=tuple(path.as_posix() for path in manifest.extra),
        ambiguous=manifest.faults,
        wrong_size=told(lambda probe: size_warning(probe, expect)),
        wrong_length=told(lambda probe: length_warning(probe, expect)),
        wrong_rate=told(lambda probe: rate_warning(probe, expect)),
        variable_rate=told(vfr_warning),
        unreadable=tuple(unreadable),
        references=tuple((video, _reference(video)) for video, _ in readable if video.reference is not None),
        warnings=tuple((video, clause) for video, probe in readable for clause in probe.warnings),
        probes=probes,
    )
