"""Layouts whose names are numbers or keys, as in PhyGenBench, PAI-Bench, EvalCrafter and others.

Conventions
-----------
Numbers count as numbers, padded or not, and a number names its prompt by itself: a missing file never shifts the
others.  Prompts come from the benchmark's list if it lies in the folder.

Sources: the READMEs of OpenGVLab/PhyGenBench, PhyWorldBench, PAI-Bench, NU-World-Model-Embodied-AI/PhyGround,
evalcrafter/EvalCrafter and KaiyueSun98/T2V-CompBench.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import PurePosixPath

from pvbench_suite.video.layouts.base import (
    Context,
    Found,
    Layout,
    Reading,
    label_of,
    modality_of,
    read_json,
    read_lines,
    share,
    string,
)
from pvbench_suite.video.records import inside
from pvbench_suite.video.tree import Tree

_PHYGEN = re.compile(r"output_video_([0-9]{1,6})")
_PHYWORLD = re.compile(r"([0-9]{3,4})-([123])")
_PAI = re.compile(r"(.+?)__([0-9]{1,4})", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,9}")
_PHYGROUND = "phyground.json"


def _json_prompts(tree: Tree, name: str) -> list[str | None]:
    """Return the captions of a JSON list in the root, by position; none where there is no such list."""
    data = read_json(tree.root / name) if tree.has(name) else None
    return [string(entry, "caption", "prompt") for entry in data] if isinstance(data, list) else []


def _detect_phygen(tree: Tree, context: Context) -> str | None:
    count = sum(bool(_PHYGEN.fullmatch(p.stem)) for p in tree.videos)
    return f"{count} names are output_video_<number>" if count and count >= len(tree.videos) / 2 else None


def _read_phygen(tree: Tree, context: Context) -> Reading:
    prompts = _json_prompts(tree, "prompts.json")
    reading = Reading()
    for path in tree.videos:
        match = _PHYGEN.fullmatch(path.stem)
        if match is None:
            reading.extra.append(path)
            continue
        number = int(match[1])  # from 1, as the benchmark writes them
        prompt = prompts[number - 1] if 1 <= number <= len(prompts) else None
        readings = ((prompt, None),) if prompt else ()
        reading.found.append(Found(path, label_of(path), modality_of(path), readings, prompt=prompt, by_prompt=True))
    return reading


def _detect_phyworld(tree: Tree, context: Context) -> str | None:
    if len(tree.videos) < 2 or not all(_PHYWORLD.fullmatch(p.stem) for p in tree.videos):
        return None
    return f"all {len(tree.videos)} names are <number>-<1, 2 or 3>"


def _read_phyworld(tree: Tree, context: Context) -> Reading:
    reading = Reading()
    for path in tree.videos:
        if _PHYWORLD.fullmatch(path.stem):
            reading.found.append(Found(path, label_of(path), modality_of(path), ((path.stem, None),), by_prompt=True))
        else:
            reading.extra.append(path)
    return reading


def _detect_pai(tree: Tree, context: Context) -> str | None:
    count = sum(bool(_PAI.fullmatch(p.stem)) for p in tree.videos)
    return f"{count} names are <id>__<seed>" if count and count >= len(tree.videos) / 2 else None


def _read_pai(tree: Tree, context: Context) -> Reading:
    found = []
    for path in tree.videos:
        match = _PAI.fullmatch(path.stem)
        name, seed = (match[1], int(match[2])) if match else (path.stem, None)
        readings = ((name, seed), (path.stem, None)) if match else ((name, None),)
        found.append(Found(path, label_of(path), modality_of(path), readings, seed=seed, by_prompt=True))
    return Reading(found)


def _detect_phyground(tree: Tree, context: Context) -> str | None:
    return f"{_PHYGROUND} is there" if tree.has(_PHYGROUND) and tree.videos else None


def _read_phyground(tree: Tree, context: Context) -> Reading:
    data = read_json(tree.root / _PHYGROUND) if tree.has(_PHYGROUND) else None
    entries = {string(e, "id_stem"): e for e in data} if isinstance(data, list) else {}
    reading = Reading()
    for path in tree.videos:
        entry = entries.get(path.stem)
        if entries and entry is None:
            reading.extra.append(path)
            continue
        image = string(entry, "first_frame_image")
        reference = inside(tree.root, image, f"{_PHYGROUND}: {path.stem}") if image else None
        here = reference if reference is not None and reference.is_file() else None
        prompt = string(entry, "prompt")
        reading.found.append(
            Found(path, path.stem, "i2v", ((path.stem, None),), prompt, reference=here, by_prompt=True)
        )
    return reading


def _prompts_for(tree: Tree, folder: PurePosixPath) -> list[str]:
    """Return the prompt list of a folder of numbers: ``<folder>.txt``, else the root's only .txt."""
    texts = [p for p in tree.others if p.suffix.lower() == ".txt"]
    own = [p for p in texts if folder.parts and p.stem == folder.name]
    alone = [p for p in texts if p.parent == PurePosixPath()]
    chosen = own or (alone if len(alone) == 1 else [])
    return read_lines(tree.root / chosen[0]) if chosen else []


def _detect_indexed(tree: Tree, context: Context) -> str | None:
    if len(tree.videos) < 2 or share(bool(_NUMBER.fullmatch(p.stem)) for p in tree.videos) < 1:
        return None
    return f"all {len(tree.videos)} names are numbers"


def _read_indexed(tree: Tree, context: Context) -> Reading:
    reading = Reading()
    folders: dict[PurePosixPath, list[PurePosixPath]] = defaultdict(list)
    for path in tree.videos:
        if _NUMBER.fullmatch(path.stem):
            folders[path.parent].append(path)
        else:
            reading.extra.append(path)
    for folder, paths in folders.items():
        prompts = _prompts_for(tree, folder)
        numbers = [int(p.stem) for p in paths]
        # The first number tells whether counting starts at 0 or 1; where both ends are missing, nothing does.
        base = 0 if min(numbers) == 0 else 1 if min(numbers) == 1 or max(numbers) == len(prompts) else None
        if prompts and base is None:
            reading.notes.append(
                f"{folder}: numbers from {min(numbers)}, so prompts cannot be told (count from 0 or 1)"
            )
        for path, number in zip(paths, numbers, strict=True):
            at = number - base if base is not None else -1
            prompt = prompts[at] or None if 0 <= at < len(prompts) else None
            readings = ((prompt, None),) if prompt else ()
            reading.found.append(
                Found(path, label_of(path), modality_of(path), readings, prompt=prompt, by_prompt=True)
            )
    return reading


PHYGENBENCH = Layout("phygenbench", _detect_phygen, _read_phygen)
PHYWORLDBENCH = Layout("phyworldbench", _detect_phyworld, _read_phyworld)
PAI_BENCH = Layout("pai-bench", _detect_pai, _read_pai)
PHYGROUND = Layout("phyground", _detect_phyground, _read_phyground)
INDEXED = Layout("indexed", _detect_indexed, _read_indexed)
