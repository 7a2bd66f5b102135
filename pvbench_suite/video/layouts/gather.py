"""From what a layout found to `Video` records: groups matched, ids given, faults collected, for all alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pvbench_suite.errors import ModelDirError
from pvbench_suite.video.layouts.base import Context, Found, Reading
from pvbench_suite.video.layouts.native import resolve
from pvbench_suite.video.match import Ambiguous
from pvbench_suite.video.names import MAX_ID, shown, unique_ids
from pvbench_suite.video.types import MODALITIES, Video


@dataclass(slots=True)
class Gathered:
    """The videos, what was left over, and what is wrong with names (one line each)."""

    videos: list[Video] = field(default_factory=list)
    extra: list[PurePosixPath] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Matched:
    """A found file with the group it answers."""

    found: Found
    group: str | None
    seed: int | None


def gather(found: Reading | Sequence[Found], root: Path, context: Context, taken: Sequence[str] = ()) -> Gathered:
    """Return the videos of what a layout found, in its order; `taken` are ids that others have.

    Raises
    ------
    ModelDirError
        If a folder of frames has no rate.
    """
    result = Gathered()
    matched = _without_doubles(_match(found.found if isinstance(found, Reading) else found, context, result), result)
    ids: dict[int, str] = {}
    for modality in MODALITIES:
        ours = [k for k, item in enumerate(matched) if item.found.modality == modality]
        fixed = {k: name for k in ours if (name := _group_id(matched[k])) is not None}
        free = [k for k in ours if k not in fixed]
        labels = [(matched[k].found.label, matched[k].found.path.as_posix()) for k in free]
        ids |= fixed | dict(zip(free, unique_ids(labels, [*fixed.values(), *taken]), strict=True))
    result.videos = [_video(item, ids[k], root, context) for k, item in enumerate(matched)]
    _note_prompts(result, matched, context)
    return result


def _match(found: Sequence[Found], context: Context, result: Gathered) -> list[_Matched]:
    """Return the found files with their groups; files that must answer one and do not are extra."""
    matched = []
    for item in found:
        group, seed = item.group, item.seed
        if group is None and item.readings and context.suite is not None:
            try:
                hit = resolve(context.texts if item.by_prompt else context.ids, item.readings)
            except Ambiguous as error:
                result.faults.append(f"{shown(item.path)}: {error}")
                continue
            if hit is not None:
                # A name that answers a group says itself whether its number is a seed; a list's own seed wins.
                group, seed = hit[0], hit[1] if item.by_prompt or item.seed is None else item.seed
        if group is None and item.must_match:
            result.extra.append(item.path)
        else:
            matched.append(_Matched(item, group, seed))
    return matched


def _without_doubles(matched: Sequence[_Matched], result: Gathered) -> list[_Matched]:
    """Return the first of each (group, seed, modality) and of each file; the others are faults that name both."""
    first: dict[tuple[object, ...], _Matched] = {}
    kept = []
    for item in matched:
        path, modality = item.found.path, item.found.modality
        what = f"group {item.group}" + (f", seed {item.seed}" if item.seed is not None else "") + f", {modality}"
        answer = ("answer", item.group, item.seed, modality)
        if ("path", path, modality) in first:
            result.faults.append(f"{shown(path)!r} is listed twice")
        elif item.group is not None and answer in first:
            other = first[answer].found.path
            result.faults.append(f"two files for {what}: {shown(other)!r} and {shown(path)!r}; remove one")
        else:
            kept.append(item)
            first[answer if item.group is not None else ("none", path)] = item
            first["path", path, modality] = item
    return kept


def _group_id(item: _Matched) -> str | None:
    """Return the id of a video that answers a group, or None where it would be too long or has no group."""
    if item.group is None:
        return None
    text = item.group if item.seed is None else f"{item.group}.s{item.seed}"
    return text if len(text) <= MAX_ID else None


def _video(item: _Matched, name: str, root: Path, context: Context) -> Video:
    found = item.found
    path = root / found.path
    if found.fps is None and path.is_dir():
        raise ModelDirError(
            f'{shown(found.path)}: a folder of frames needs its rate; write a manifest.jsonl with "path" and "fps"'
        )
    known = context.suite.get(item.group) if context.suite is not None and item.group is not None else None
    told = found.prompt if known is None or not found.by_prompt else None
    return Video(
        id=name,
        path=path,
        model=context.model,
        modality=found.modality,
        group=item.group,
        seed=item.seed,
        prompt=told or (known.prompt if known is not None else None),
        reference=found.reference,
        fps=found.fps if path.is_dir() else None,
        dimensions=found.dimensions,
    )


def _note_prompts(result: Gathered, matched: Sequence[_Matched], context: Context) -> None:
    """Note how many lists state another prompt than the suite: an enhanced one, or a group taken by mistake."""
    if context.suite is None:
        return
    known = {group.id: " ".join(group.prompt.split()) for group in context.suite.groups}
    differ = [
        item
        for item in matched
        if item.group in known
        and item.found.prompt
        and not item.found.by_prompt
        and " ".join(item.found.prompt.split()) != known[item.group]
    ]
    if differ:
        first = shown(differ[0].found.path, 60)
        result.notes.append(f"{len(differ)} prompts differ from the suite's (the first is that of {first})")
