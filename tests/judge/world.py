"""Clips, videos and a service against the test server."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from pvbench_suite.dimensions import load
from pvbench_suite.judge.service import Ask, JudgeService
from pvbench_suite.judge.settings import Settings, settings_from
from pvbench_suite.video.types import Clip, Video
from tests.judge.server import MODEL, Server

REGISTRY = load()
#: A few judged dimensions without evidence.
PLAIN = ("IF-01", "IF-02", "R04", "R10", "BC-01")


def clip(sign: str = "", seconds: float = 2.0, fps: int = 24) -> Clip:
    """Return a real picture that moves, with a sign in it if there are words for one."""
    small = np.random.default_rng(3).integers(0, 255, (9, 16, 3), dtype=np.uint8)
    frame = np.asarray(cv2.resize(small, (320, 180), interpolation=cv2.INTER_CUBIC))
    count = round(seconds * fps)
    frames = np.stack([np.roll(frame, 2 * k, axis=1) for k in range(count)])
    for picture in frames if sign else ():
        cv2.rectangle(picture, (10, 60), (310, 110), (255, 255, 255), -1)
        cv2.putText(picture, sign, (16, 92), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (0, 0, 0), 2)
    return Clip(frames, np.arange(count) / fps, (360, 640))


CLIP = clip()


def video(name: str = "clip", prompt: str | None = "A red ball rolls over a table.", **given: Any) -> Video:
    return Video(name, Path(f"{name}.mp4"), "model", "t2v", prompt=prompt, **given)


def digest(one: Video) -> str:
    return hashlib.sha256(one.id.encode()).hexdigest()


def settings(server: Server | str, **given: Any) -> Settings:
    """Return settings for quick tests: one retry of the client, answers within five seconds."""
    url = server if isinstance(server, str) else server.url
    changes = {k: given.pop(k) for k in ("retries", "timeout", "tries", "max_tokens") if k in given}
    found = settings_from(url=url, model=MODEL, **({"concurrency": 4} | given))
    assert found is not None
    return replace(found, **({"retries": 1, "timeout": 5.0} | changes))


@contextmanager
def service(server: Server | str, cache: Path, **given: Any) -> Iterator[JudgeService]:
    """Run a judge while the block lasts."""
    extra = {k: given.pop(k) for k in ("share", "workers") if k in given}
    found = JudgeService(settings(server, **given), digest, lambda _: [cache], **extra)
    try:
        yield found
    finally:
        found.close()
        if "share" not in extra:
            found.remove()


def ask(judge: JudgeService, name: str = "clip", dimension: str = "R04", **given: Any) -> Any:
    """Return the verdict on one dimension."""
    prompt = given.pop("prompt", "A red ball rolls over a table.")
    return judge(
        video(name, prompt), given.pop("clip", CLIP), given.pop("group", None), REGISTRY.get(dimension), **given
    )


def planned(names: list[str], dimensions: tuple[str, ...] = PLAIN, made: list[str] | None = None) -> list[Ask]:
    """Return planned judgements; `made` notes whose frames were asked for."""

    def give(name: str) -> Any:
        def make() -> Clip:
            if made is not None:
                made.append(name)
            return CLIP

        return make

    return [Ask(video(n), give(n), None, REGISTRY.get(d)) for n in names for d in dimensions]
