"""Tiny model folders for the plugin's tests: real mp4 files, and truth records made of closed-form paths."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np

from pvbench_suite import suite
from pvbench_suite.perception import simulator
from pvbench_suite.perception.types import Bodies, Contacts
from pvbench_suite.results import Journal, latest
from pvbench_suite.video.digest import digest

ROOT = suite.root()
FRAMES = 36
TIMES = np.arange(FRAMES) / 24.0


def video(path: Path, seed: int = 0) -> Path:
    """Write a real mp4 of 36 small frames whose bytes depend on `seed`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = np.random.default_rng(seed).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=24)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for k in range(FRAMES):
            frame = av.VideoFrame.from_ndarray(np.roll(picture, k, axis=1), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def truth(model: Path, file: Path, jump: float = 0.0, still: bool = False, name: str = "ball_1") -> None:
    """Store the truth of one ball of diameter 1 that flies a parabola and jumps by `jump` diameters half way."""
    t = TIMES
    path = np.stack([2.0 * t, -6.0 * t + 4.9 * t * t, np.full_like(t, 10.0)], axis=-1)
    if still:
        path[:] = path[0]
    path[FRAMES // 2 :, 0] += jump
    uv = np.stack([path[:, 0], path[:, 1]], axis=-1) * 4.0 + 24.0
    ones, yes = np.ones((FRAMES, 1)), np.ones((FRAMES, 1), dtype=bool)
    bodies = Bodies(
        t, path[:, None], uv[:, None], ones * 4.0, ones * 10.0, yes, np.ones(1), (name,), ("sphere",), (48, 64)
    )
    nothing, none = np.zeros(0), np.zeros(0, dtype=np.int64)
    contacts = Contacts(t, nothing, none, none, yes, ~yes, (name,), down=np.array([0.0, 1.0, 0.0]), down_source="truth")
    simulator.store(model / "pvbench" / "cache", digest(file), {"bodies": bodies, "contacts": contacts})


def group(identifier: str, dimensions: Sequence[str], *events: str, **keys: Any) -> dict[str, Any]:
    """Return a prompt group about one ball."""
    return {
        "id": identifier, "dimensions": list(dimensions), "prompt": f"A ball flies through {identifier}.",
        "objects": [{"name": "ball_1", "noun": "ball", "body": "rigid", "shape": "sphere"}],
        "expect": {"events": [{"event": e, "objects": ["ball_1"]} for e in events]}, **keys,
    }  # fmt: skip


def prompts(path: Path, groups: Sequence[dict[str, Any]]) -> Path:
    """Write a prompt file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(g) + "\n" for g in groups), encoding="utf-8")
    return path


def demo(folder: Path, jumps: dict[str, float], dimensions: Sequence[str] = ("R16", "R21")) -> Path:
    """Make a model folder with one T2V clip and its truth per entry of `jumps`, and a groups.jsonl in it."""
    prompts(folder / "groups.jsonl", [group(name, dimensions, "motion") for name in jumps])
    for seed, (name, jump) in enumerate(jumps.items()):
        truth(folder, video(folder / "t2v" / f"{name}.mp4", seed), jump)
    return folder


def arguments(*models: Path | str, profile: str = "simulator") -> list[str]:
    """Return the pytest arguments that run the benchmark on `models` from anywhere."""
    return [
        str(ROOT / "dimensions"), f"--rootdir={ROOT}", f"-c={ROOT / 'pyproject.toml'}", "-p", "no:cacheprovider",
        f"--pv-perception={profile}", *[f"--model-dir={m}" for m in models],
    ]  # fmt: skip


def rows(model: Path, profile: str = "simulator") -> dict[tuple[str, str], dict[str, Any]]:
    """Return the rows that count, by (video, dimension)."""
    found = latest(Journal(model / "pvbench" / profile / "results.jsonl").read())
    return {(row["video"], row["dimension"]): row for row in found}


def journal(model: Path, profile: str = "simulator") -> Path:
    """Return the journal of a model."""
    return model / "pvbench" / profile / "results.jsonl"


def stable(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without what may differ between two runs of the same thing."""
    return {k: v for k, v in row.items() if k not in ("seconds", "attempt")}
