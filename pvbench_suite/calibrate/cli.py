"""The commands ``pvbench calibrate physics`` and ``pvbench calibrate perception``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pvbench_suite.calibrate import against as comparison
from pvbench_suite.calibrate.noise import LEVELS
from pvbench_suite.calibrate.run import calibrate
from pvbench_suite.dimensions import Registry, load
from pvbench_suite.errors import UserError
from pvbench_suite.files import write_atomic

app = typer.Typer(no_args_is_help=True, help="Measure how the dimensions answer to known faults at known noise.")
out = Console(highlight=False, soft_wrap=True)


@app.callback()
def _calibrate() -> None:
    """Measure how the dimensions answer to known faults at known noise."""


@app.command()
def physics(
    output: Annotated[Path, typer.Option("-o", "--output", help="folder of the results; what it has is resumed")],
    dimension: Annotated[list[str] | None, typer.Option(help="only this dimension (R22); may be given again")] = None,
    profile: Annotated[Literal["simulator", "embedded"], typer.Option(help="whose records are measured")] = "simulator",
    noise: Annotated[list[str] | None, typer.Option(help=f"{', '.join(LEVELS)}; may be given again; all")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="two fifths of the runs")] = False,
    workers: Annotated[int, typer.Option(help="processes", min=1)] = 2,
    seed: Annotated[int, typer.Option(help="of all runs", min=0)] = 1,
    against: Annotated[Path | None, typer.Option(help="a table like physics_evidence.md to compare with")] = None,
) -> None:
    """Write dose-response of the numeric physical dimensions: calibration.json, a table, and a plot for each."""
    registry = load()
    names = dimension or []
    reference = comparison.read(against) if against is not None else None
    if profile == "embedded" and noise:
        raise UserError("--noise: the embedded profile sees pixels as they are; leave the option out")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out) as progress:
        task = progress.add_task("calibrating", total=None)

        def step(done: int, total: int, name: str) -> None:
            progress.update(task, completed=done, total=total, description=f"calibrating {escape(name)}")

        if profile == "embedded":
            from pvbench_suite.calibrate.embedded import calibrate_embedded

            content = calibrate_embedded(output, registry, names, quick, seed, workers, step)
        else:
            content = calibrate(output, registry, names, noise or tuple(LEVELS), quick, seed, workers, step)
    out.print(f"{len(content['rows'])} rows in {escape(str(output / 'calibration.json'))}, table in calibration.md")
    if reference is not None and against is not None:
        _compare(content, reference, against, output, registry)


@app.command()
def perception(
    output: Annotated[Path, typer.Option("-o", "--output", help="folder of the results; what it has is resumed")],
    profile: Annotated[str, typer.Option(help="whose records are held against the truth")] = "embedded",
    world: Annotated[list[str] | None, typer.Option(help="only clips of this world; may be given again")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="one clip where the full form has two or three")] = False,
    seed: Annotated[int, typer.Option(help="of all clips", min=0)] = 1,
    workers: Annotated[int, typer.Option(help="processes", min=1)] = 2,
    physics: Annotated[
        Path | None, typer.Option(help="calibration.json of calibrate physics: says which claims it bears out")
    ] = None,
) -> None:
    """Measure a perception profile on fresh rendered clips: perception.json, perception.md, drift.svg."""
    from pvbench_suite.calibrate.perception import calibrate_perception, chosen

    chosen(profile, world or [])
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out) as progress:
        task = progress.add_task("measuring", total=None)

        def step(done: int, total: int, name: str) -> None:
            progress.update(task, completed=done, total=total, description=f"measuring {escape(name)}")

        content = calibrate_perception(output, profile, world or [], quick, seed, workers, physics, step)
    clips = sum(group["clips"] for group in content["groups"])
    out.print(f"{clips} clips in {escape(str(output / 'perception.json'))}, tables in perception.md")


def _compare(
    content: dict[str, Any], reference: comparison.Reference, against: Path, output: Path, registry: Registry
) -> None:
    """Write and print which rows are worse than in the table."""
    larger = frozenset(d.id for d in registry.dimensions if d.direction == "larger")
    findings = comparison.compare(content["rows"], reference, larger)
    compared = sum(row["name"] in reference for row in content["rows"])
    write_atomic(output / "against.md", comparison.markdown(findings, compared, against).encode())
    beyond = sum(finding.beyond for finding in findings)
    out.print(f"{compared} rows and levels compared, {len(findings)} numbers are worse, {beyond} beyond chance:")
    for finding in findings:
        out.print(escape(f"  {finding.line()}"))
