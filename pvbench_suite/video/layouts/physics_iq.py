"""Physics-IQ: ``<ID>_<anything>.mp4`` with ID from 0001 to 0198, in the folder or in run folders ``<model>-run_01``.

The run's number is kept as the seed, the text comes from ``descriptions.csv`` if it lies beside.  The benchmark's own
test videos and masks are no videos of the model.

Source: google-deepmind/physics-IQ-benchmark, README.
"""

from __future__ import annotations

import csv
import re
from pathlib import PurePosixPath

from pvbench_suite.errors import ModelDirError
from pvbench_suite.video.layouts.base import Context, Found, Layout, Reading, label_of, share
from pvbench_suite.video.names import shown
from pvbench_suite.video.tree import Tree

_NAME = re.compile(r"([0-9]{4})_.+", re.DOTALL)
_RUN = re.compile(r"run_([0-9]+)$")
_NOT_MODEL = ("_testing-videos_", "_video-masks_", "_conditioning-videos_")
_PROMPTS = "descriptions.csv"


def _is_one(path: PurePosixPath) -> bool:
    match = _NAME.fullmatch(path.stem)
    return bool(match) and 1 <= int(path.stem[:4]) <= 198 and not any(part in path.stem for part in _NOT_MODEL)


def _descriptions(tree: Tree) -> dict[str, str]:
    """Return the texts by the stem of the generated video and by scenario number, from the CSV beside the videos."""
    if not tree.has(_PROMPTS):
        return {}
    texts: dict[str, str] = {}
    try:
        with (tree.root / _PROMPTS).open(encoding="utf-8-sig", newline="") as stream:
            for row in csv.DictReader(stream):
                name, text = row.get("generated_video_name") or "", (row.get("description") or "").strip()
                if text and name:
                    texts[PurePosixPath(name).stem] = text
                    texts.setdefault(name[:4], text)
    except (OSError, ValueError, csv.Error) as error:
        raise ModelDirError(f"{_PROMPTS}: cannot be read: {shown(error)}") from error
    return texts


def _detect(tree: Tree, context: Context) -> str | None:
    ours = [path for path in tree.videos if _is_one(path)]
    told = tree.has(_PROMPTS) or any(
        "perspective-" in p.stem or "trimmed-" in p.stem or _RUN.search(p.parent.name) for p in ours
    )
    if not ours or not told or share(_is_one(path) for path in tree.videos) < 0.5:
        return None
    return f"{len(ours)} of {len(tree.videos)} names begin with a scenario number 0001 to 0198"


def _read(tree: Tree, context: Context) -> Reading:
    texts = _descriptions(tree)
    reading = Reading()
    for path in tree.videos:
        if not _is_one(path):
            reading.extra.append(path)
            continue
        run = _RUN.search(path.parent.name)
        seed = int(run[1]) if run else None
        scenario = path.stem.rpartition("_trimmed-")[2]
        readings = ((scenario, seed), (path.stem, seed))
        prompt = texts.get(path.stem) or texts.get(path.stem[:4])
        reading.found.append(Found(path, label_of(path), "i2v", readings, prompt=prompt, seed=seed, by_prompt=True))
    return reading


PHYSICS_IQ = Layout("physics-iq", _detect, _read)
