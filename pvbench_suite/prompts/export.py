r"""Writes what a video generator needs: prompts, and the file names under which the suite expects the videos.

Conventions
-----------
A video is ``<id>.mp4``, or ``<id>.s<seed>.mp4`` where seeds are given; the reference image of image-to-video is
``<id>.png``.  File names are made from ids only, never from prompts.  Text is UTF-8 with ``\n`` line ends.

``jsonl``
    One object a line with the keys of the row.
``csv``
    A header and one line per row; the t2v table without seeds is itself a valid prompt file (`loader.load`).
``txt``
    ``file name``, a tab, and the prompt in one line; ``cut -f2`` gives the bare prompts.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence

from pvbench_suite.errors import UserError
from pvbench_suite.prompts.reading import shown
from pvbench_suite.prompts.schema import Group

Row = dict[str, str]

MODALITIES = ("t2v", "i2v", "reference")
FORMATS = ("jsonl", "csv", "txt")


def video_name(group_id: str, seed: int | None = None) -> str:
    """Return the expected file name of a group's video."""
    return f"{group_id}.mp4" if seed is None else f"{group_id}.s{seed}.mp4"


def image_name(group_id: str) -> str:
    """Return the expected file name of a group's reference image."""
    return f"{group_id}.png"


def rows(
    groups: Iterable[Group], modality: str, seeds: Sequence[int] = (), files: Mapping[str, str] | None = None
) -> list[Row]:
    """Return one row per video, or per image for ``reference``, in the order of the groups and then of the seeds.

    Parameters
    ----------
    groups : iterable of Group
        For example a `Suite` or its subset.
    modality : {"t2v", "i2v", "reference"}
        ``reference`` gives the first-frame descriptions as prompts for an image generator.
    seeds : sequence of int
        One video per seed; none: one video without a seed in its name.
    files : mapping of id to file name, optional
        Names that a CSV gave (`Suite.files`); they stand where no seed is asked for.

    Raises
    ------
    UserError
        If a modality or seed is unknown, or ``reference`` meets groups without a first frame.
    """
    items = tuple(groups)
    if modality not in MODALITIES:
        raise UserError(f"modality {shown(modality)!r} is unknown; choose {', '.join(MODALITIES)}")
    if any(seed < 0 for seed in seeds) or len(set(seeds)) < len(seeds):
        raise UserError(f"seeds {', '.join(map(str, seeds))}: give each once, from 0 up")
    if modality == "reference":
        return _references(items)
    found = []
    for group in items:
        for seed in seeds or (None,):
            given = (files or {}).get(group.id) if seed is None else None
            row = {"id": group.id, "file": given or video_name(group.id, seed), "prompt": group.prompt}
            if modality == "i2v":
                row |= {"reference": image_name(group.id), "first_frame": group.first_frame or ""}
            found.append(row if seed is None else row | {"seed": str(seed)})
    return found


def _references(groups: tuple[Group, ...]) -> list[Row]:
    """Return one row per reference image; UserError for groups that describe no first frame."""
    if bare := [group.id for group in groups if group.first_frame is None]:
        listed = ", ".join(bare[:3]) + (" ..." if len(bare) > 3 else "")
        raise UserError(f"{len(bare)} of {len(groups)} groups have no first_frame ({listed}); add it, or choose t2v")
    return [{"id": g.id, "file": image_name(g.id), "prompt": g.first_frame or ""} for g in groups]


def render(table: Sequence[Row], form: str) -> str:
    """Return the rows as text of the format; UserError when there is none or the format is unknown."""
    if not table:
        raise UserError("there is no group to export; choose another subset or prompt file")
    if form == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table)
    if form == "csv":
        stream = io.StringIO()
        writer = csv.DictWriter(stream, fieldnames=list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
        return stream.getvalue()
    if form == "txt":
        return "".join(f"{row['file']}\t{' '.join(row['prompt'].split())}\n" for row in table)
    raise UserError(f"format {shown(form)!r} is unknown; choose {', '.join(FORMATS)}")
