"""VBench: ``<prompt>-<i>.mp4``, i from 0; VBench-2.0: ``<Dimension>/<prompt, cut to 180>-<i>.mp4``.

Conventions
-----------
The number after the last ``-`` is an index (kept as the seed) only where the names show it: the same text with index 0,
or all numbers below 5 in a folder full of indices.  Otherwise it belongs to the prompt ("Apollo-11.mp4").  An image of
the prompt's name makes a video image-to-video.

Sources: Vchitect/VBench, ``prompts/README.md`` and ``VBench-2.0/prompts/README.md``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from pvbench_suite.video.layouts.base import Context, Found, Layout, Reading, label_of, modality_of, share
from pvbench_suite.video.match import sanitized
from pvbench_suite.video.tree import Tree

_INDEXED = re.compile(r"(.+)-([0-9]{1,2})", re.DOTALL)
DIMENSIONS = frozenset(
    [
        "subject_consistency",
        "background_consistency",
        "temporal_flickering",
        "motion_smoothness",
        "dynamic_degree",
        "aesthetic_quality",
        "imaging_quality",
        "object_class",
        "multiple_objects",
        "human_action",
        "color",
        "spatial_relationship",
        "scene",
        "appearance_style",
        "temporal_style",
        "overall_consistency",
        "i2v_subject",
        "i2v_background",
        "camera_motion",
    ]
)
DIMENSIONS_2 = frozenset(
    [
        "camera_motion",
        "complex_landscape",
        "complex_plot",
        "composition",
        "diversity",
        "dynamic_attribute",
        "dynamic_spatial_relationship",
        "human_anatomy",
        "human_clothes",
        "human_identity",
        "human_interaction",
        "instance_preservation",
        "material",
        "mechanics",
        "motion_order_understanding",
        "motion_rationality",
        "multi_view_consistency",
        "thermotics",
    ]
)


def split_index(paths: Sequence[PurePosixPath]) -> dict[PurePosixPath, tuple[str, int | None]]:
    """Return (prompt, index or None) of each path, its number read as an index only where its siblings show it."""
    families: dict[tuple[PurePosixPath, str], set[int]] = defaultdict(set)
    matches = {path: _INDEXED.fullmatch(path.stem) for path in paths}
    for path, match in matches.items():
        if match:
            families[path.parent, match[1]].add(int(match[2]))
    usual = share(0 in numbers for numbers in families.values()) >= 0.5
    result: dict[PurePosixPath, tuple[str, int | None]] = {}
    for path, match in matches.items():
        numbers = families[path.parent, match[1]] if match else set()
        if match and (0 in numbers or (usual and max(numbers) < 5)):
            result[path] = match[1], int(match[2])
        else:
            result[path] = path.stem, None
    return result


def _found(tree: Tree, paths: Sequence[PurePosixPath]) -> list[Found]:
    found = []
    for path, (prompt, index) in split_index(paths).items():
        image = tree.images_by_stem.get(prompt)
        match = _INDEXED.fullmatch(path.stem)
        # The suite's own prompts decide where they are known, whatever the siblings show.
        texts = ((match[1], int(match[2])), (path.stem, None)) if match else ((path.stem, None),)
        found.append(
            Found(
                path,
                label_of(path),
                "i2v" if image else modality_of(path),
                texts,
                prompt=prompt,
                seed=index,
                reference=tree.root / image if image else None,
                by_prompt=True,
            )
        )
    return found


def _detect(tree: Tree, context: Context) -> str | None:
    split = split_index(tree.videos)
    indexed = share(index is not None for _, index in split.values())
    sentences = share(" " in prompt for prompt, _ in split.values())
    folders = share(path.parent.name.casefold() in DIMENSIONS for path in tree.videos)
    if indexed >= 0.5 and (sentences >= 0.5 or folders >= 0.5):
        return f"{sum(index is not None for _, index in split.values())} of {len(split)} names are <prompt>-<index>"
    return None


def _read(tree: Tree, context: Context) -> Reading:
    return Reading(_found(tree, tree.videos))


def _in_dimension(path: PurePosixPath) -> bool:
    return sanitized(path.parent.name, ascii_only=True) in DIMENSIONS_2


def _detect_2(tree: Tree, context: Context) -> str | None:
    inside = [path for path in tree.videos if _in_dimension(path)]
    capital = any(path.parent.name[:1].isupper() for path in inside)
    if not capital or len(inside) < len(tree.videos) / 2 or not any(_INDEXED.fullmatch(p.stem) for p in inside):
        return None
    return f"{len({path.parent for path in inside})} folders are named as dimensions of VBench-2.0"


def _read_2(tree: Tree, context: Context) -> Reading:
    inside = [path for path in tree.videos if _in_dimension(path)]
    return Reading(_found(tree, inside), extra=[path for path in tree.videos if not _in_dimension(path)])


VBENCH = Layout("vbench", _detect, _read)
VBENCH2 = Layout("vbench2", _detect_2, _read_2)
