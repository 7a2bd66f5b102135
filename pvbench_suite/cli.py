"""The command line: ``pvbench demo | run | check | perceive | report | compare | leaderboard | ...``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from pvbench_suite import __version__, suite
from pvbench_suite.calibrate.cli import app as calibrate_app
from pvbench_suite.errors import PVBenchError, UserError
from pvbench_suite.judge.cli import app as judge_app
from pvbench_suite.prompts.cli import app as prompts_app

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Scores folders of generated videos along 46 dimensions of semantic, perceptual and physical plausibility.",
)
app.add_typer(calibrate_app, name="calibrate", help="Dose-response of the dimensions; profiles against the truth.")
app.add_typer(judge_app, name="judge", help="Check judges, compare them with each other and with numbers.")
app.add_typer(prompts_app, name="prompts", help="List, show, export and check prompt groups.")

out = Console(highlight=False, soft_wrap=True)


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and exit 4."""
    try:
        app()
    except UserError as error:
        sys.stderr.write(f"pvbench: {error}\n")
        raise SystemExit(4) from None


@app.command()
def version() -> None:
    """Print the version of the suite."""
    out.print(__version__)


def run_pytest(models: list[str], options: list[str]) -> int:
    """Run the benchmark in a child process with the suite's own rootdir and configuration; return its exit status."""
    top = suite.root()
    command = [
        sys.executable, "-m", "pytest", str(top / "dimensions"), f"--rootdir={top}", f"-c={top / 'pyproject.toml'}",
        "-p", "no:cacheprovider", *[f"--model-dir={m}" for m in models], *options,
    ]  # fmt: skip
    return subprocess.run(command, check=False, env=os.environ.copy()).returncode


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(context: typer.Context) -> None:
    """Score model folders from anywhere: pvbench run [NAME=]DIR... [-- pytest options].

    Everything that begins with a dash is handed to pytest (``--pv-report-dir=out``, ``-n 2``, ``-k R22``).
    """
    models: list[str] = []
    arguments = [a for a in context.args if a != "--"]
    while arguments and not arguments[0].startswith("-"):
        models.append(arguments.pop(0))
    if not models:
        raise UserError("run: pass the folder of videos to score: pvbench run DIR [-- pytest options]")
    raise typer.Exit(run_pytest(models, arguments))


@app.command()
def demo(
    directory: Annotated[Path, typer.Argument(help="where the two demo models go")] = Path("runs/demo"),
    workers: Annotated[int, typer.Option(help="processes that render", min=1)] = max(1, min(4, os.cpu_count() or 1)),
    score: Annotated[str, typer.Option(help="also score with this profile (embedded, simulator)")] = "",
) -> None:
    """Render two demo models, lawful and violating, with exact ground truth; resumable."""
    from pvbench_suite.simulate.run import render

    render(directory, workers, out)
    if score:
        models = [str(directory / name) for name in ("lawful", "violating")]
        raise typer.Exit(run_pytest(models, [f"--pv-perception={score}", "-q", "--tb=line", "-n", str(workers)]))


@app.command()
def report(
    directories: Annotated[list[Path], typer.Argument(help="model, report or journal folders")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="where the common report goes")] = None,
    allure: Annotated[Path | None, typer.Option(help="write Allure results here instead, one file per row")] = None,
) -> None:
    """Rebuild every report from the journals below the given folders."""
    from pvbench_suite.rebuild import rebuild, write_allure

    if allure is not None:
        out.print(f"{write_allure(directories, allure)} files in {escape(str(allure))}")
        return
    for path in rebuild(directories, output):
        out.print(escape(str(path)))


@app.command()
def leaderboard(
    folders: Annotated[list[str], typer.Argument(help="[NAME=]DIR: model, report or journal folders")],
    by: Annotated[list[str] | None, typer.Option(help="rank by overall, L3, MC, R22, ...; repeatable")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="also write it into this folder")] = None,
) -> None:
    """Rank the models of several results, with the paired difference to the next, and say why some have no rank."""
    from pvbench_suite.rebuild import rank

    for line in rank(folders, by or [], output):
        out.print(escape(line))


@app.command()
def perceive(
    folders: Annotated[list[str], typer.Argument(help="[NAME=]DIR: folders of models' videos")],
    profile: Annotated[str, typer.Option(help="who perceives")] = "embedded",
    product: Annotated[list[str] | None, typer.Option(help="only this product; repeatable")] = None,
    workers: Annotated[int, typer.Option("-n", "--workers", help="processes", min=1)] = 1,
    layout: Annotated[str, typer.Option(help="how the folder names its videos")] = "auto",
    prompts: Annotated[Path | None, typer.Option(help="prompt groups (JSONL or CSV)")] = None,
    cache_dir: Annotated[Path | None, typer.Option(help="where products go (default: DIR/pvbench/cache)")] = None,
) -> None:
    """Make the perception products of folders ahead of the run; what is there already is not made again."""
    from pvbench_suite import ahead

    products = ahead.products_of(profile, product or [])
    cache = cache_dir.resolve() if cache_dir else None
    found = [t for f in folders for t in ahead.tasks(f, profile, products, prompts, layout, cache)]
    done = []
    for outcome in ahead.outcomes(found, workers):
        done.append(outcome)
        if line := outcome.line():
            out.print(escape(line))
    out.print(ahead.total(done))
    raise typer.Exit(int(any(outcome.broken for outcome in done)))


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="journal folder or model folder")],
    second: Annotated[Path, typer.Argument(help="the one to compare with")],
) -> None:
    """Compare two results by paired differences on what both scored."""
    from pvbench_suite.rebuild import compare_folders

    for line in compare_folders(first, second):
        out.print(escape(line))


@app.command()
def check(
    directory: Annotated[Path, typer.Argument(help="folder of one model's videos")],
    layout: Annotated[str, typer.Option(help="how the folder names its videos")] = "auto",
    prompts: Annotated[Path | None, typer.Option(help="prompt groups (JSONL or CSV)")] = None,
    write: Annotated[Path | None, typer.Option(help="write the manifest to this file")] = None,
    references: Annotated[Path | None, typer.Option(help="reference images of I2V videos, <group id>.png")] = None,
) -> None:
    """List matched, missing, extra, ambiguous, wrong size, length or rate, and unreadable videos of a folder.

    The first frame of each I2V video is compared with its reference image, where there is one.
    """
    from pvbench_suite.rebuild import check_folder

    lines, clean = check_folder(directory, layout, prompts, write, references)
    for line in lines:
        out.print(escape(line))
    raise typer.Exit(0 if clean else 1)


@app.command()
def doctor() -> None:
    """Say what this installation can do: versions, where the suite is, profiles, optional packages."""
    from pvbench_suite.doctor import lines

    for line in lines():
        out.print(escape(line))


if __name__ == "__main__":
    try:
        main()
    except PVBenchError as error:
        sys.stderr.write(f"pvbench: {error}\n")
        raise SystemExit(1) from None
