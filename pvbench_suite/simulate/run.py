"""``pvbench demo``: renders the demo with progress and puts its ground truth where the suite finds it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pvbench_suite.perception import simulator
from pvbench_suite.perception.types import Record
from pvbench_suite.simulate.demo import render_demo
from pvbench_suite.video.digest import digest


def store(model: Path, video: Path, records: Mapping[str, Record]) -> None:
    """Write the ground truth of `video` into the cache of its model folder."""
    simulator.store(model / "pvbench" / "cache", digest(video), records)


def render(directory: Path, workers: int, console: Console) -> None:
    """Render the demo into `directory`, resuming what is there, with a progress bar."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("rendering", total=None)

        def step(done: int, total: int, name: str) -> None:
            progress.update(task, completed=done, total=total, description=f"rendering {name}")

        render_demo(directory, store=store, workers=workers, progress=step)
    console.print(f"two models in {directory}: lawful and violating, each with t2v/ and i2v/; prompts in groups.jsonl")
    console.print(f"score them: pvbench run {directory}/lawful {directory}/violating -- --pv-perception=simulator")
