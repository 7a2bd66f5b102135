"""WorldScore: ``worldscore_output/{static,dynamic}/<style>/.../<instance>/frames/*.png``.

The frames are what it scores; their rate is that of ``videos/output.mp4`` beside them: one model has one.  An instance
with an ``input_image.png`` is image-to-video.

Source: haoyi-duan/WorldScore, README, "Output Format".
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from pvbench_suite.errors import BrokenVideo
from pvbench_suite.video.container import open_container
from pvbench_suite.video.layouts.base import Context, Found, Layout, Reading, read_json, string
from pvbench_suite.video.tree import Tree
from pvbench_suite.video.types import DEFAULT_LIMITS

_KINDS = ("static", "dynamic")


def _instances(tree: Tree) -> list[PurePosixPath]:
    """Return the instance folders: those with frames, or with only a video, below static or dynamic."""
    frames = {folder.parent for folder in tree.frame_folders if folder.name == "frames"}
    videos = {path.parent.parent for path in tree.videos if path.parent.name == "videos" and path.stem == "output"}
    return sorted(p for p in frames | videos if any(part in _KINDS for part in p.parts))


def _rate(tree: Tree, instances: Iterable[PurePosixPath]) -> float | None:
    """Return the rate [frame/s] of the first readable output video."""
    for instance in instances:
        try:
            with open_container(tree.root / instance / "videos" / "output.mp4", DEFAULT_LIMITS) as source:
                if source.nominal_step is not None:
                    return 1.0 / source.nominal_step
        except BrokenVideo:
            continue
    return None


def _prompt(tree: Tree, instance: PurePosixPath) -> str | None:
    data = read_json(tree.root / instance / "image_data.json")
    if text := string(data, "prompt", "caption"):
        return text
    parts = data.get("prompt_list") if isinstance(data, dict) else None
    return " ".join(p for p in parts if isinstance(p, str)) or None if isinstance(parts, list) else None


def _detect(tree: Tree, context: Context) -> str | None:
    count = len(_instances(tree))
    return f"{count} instances with frames/ or videos/output.mp4 below static/ or dynamic/" if count else None


def _read(tree: Tree, context: Context) -> Reading:
    instances = _instances(tree)
    frames = {folder.parent for folder in tree.frame_folders if folder.name == "frames"}
    rate = context.fps if context.fps is not None else _rate(tree, instances)
    reading = Reading()
    images = set(tree.images)
    for instance in instances:
        start = max(k for k, part in enumerate(instance.parts) if part in _KINDS)
        image = instance / "input_image.png"
        reading.found.append(
            Found(
                instance / "frames" if instance in frames else instance / "videos" / "output.mp4",
                "-".join(instance.parts[start:]),
                "i2v" if image in images else "t2v",
                prompt=_prompt(tree, instance),
                reference=tree.root / image if image in images else None,
                fps=rate if instance in frames else None,
            )
        )
    if frames and rate is not None:
        source = "as given" if context.fps is not None else "that of the first videos/output.mp4"
        reading.notes.append(f"frames are taken at {rate:g} per second, {source}")
    return reading


WORLDSCORE = Layout("worldscore", _detect, _read)
