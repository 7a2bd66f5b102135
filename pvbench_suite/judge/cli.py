"""``pvbench judge``: check, agree, discriminability, health.

Exit status: 0 when all is well, 1 when `check` or `health` has something to call out, 4 when an input cannot be used.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from pvbench_suite.dimensions import load
from pvbench_suite.errors import PVBenchError, UserError
from pvbench_suite.judge.settings import DEFAULT_MODEL, settings_from

EXIT_FINDINGS = 1
EXIT_INPUT = 4

app = typer.Typer(help="The judge: check it, and study how it uses its scale.", no_args_is_help=True)

Url = Annotated[str | None, typer.Option("--pv-judge-url", "--url", metavar="URL", help="OpenAI-compatible server.")]
Model = Annotated[
    str | None, typer.Option("--pv-judge-model", "--model", metavar="NAME", help=f"Default: {DEFAULT_MODEL}.")
]
Concurrency = Annotated[
    str | None, typer.Option("--pv-judge-concurrency", "--concurrency", metavar="N", help="Default: 8.")
]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Model, report or journal folders.")]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="Model, report or journal folder.")]


@contextmanager
def _one_line() -> Iterator[None]:
    """Turn a mistake or a silent judge into one line on standard error and exit status 4."""
    try:
        yield
    except PVBenchError as error:
        typer.echo(f"pvbench judge: {error}", err=True)
        raise typer.Exit(EXIT_INPUT) from None


def _say(lines: list[str]) -> None:
    for line in lines:
        typer.echo(line)


@app.command()
def check(url: Url = None, model: Model = None, concurrency: Concurrency = None) -> None:
    """Ask a judge about a dozen rendered clips with known answers, and write how many it gets right."""
    from pvbench_suite.judge import check as checking
    from pvbench_suite.judge.service import Ask, JudgeService

    with _one_line():
        settings = settings_from(url=url, model=model, concurrency=concurrency)
        if settings is None:
            raise UserError("check: say which judge: --pv-judge-url=URL [--pv-judge-model=NAME]")
        registry = load()
        with tempfile.TemporaryDirectory(prefix="pvbench-check-") as folder:
            service = JudgeService(settings, checking.digest_of, lambda _: [Path(folder)])
            try:
                service.connect()
                service.ask_ahead(
                    Ask(checking.video_of(k), k.clip, None, registry.get(k.dimension)) for k in checking.known()
                )
                results = checking.check(service, registry)
            finally:
                service.close()
            _say([*checking.lines(results), *service.lines()])
            service.remove()
    if not all(r.right for r in results):
        raise typer.Exit(EXIT_FINDINGS)


@app.command()
def agree(runs: Runs) -> None:
    """Write the pairwise Spearman between the judges of a run."""
    from pvbench_suite.judge import agree as agreeing
    from pvbench_suite.judge.journals import read

    with _one_line():
        _say(agreeing.lines(agreeing.agree(read(runs), load())))


@app.command()
def discriminability(
    run: Run,
    ratings: Annotated[
        Path | None, typer.Option(metavar="CSV", help="People's ratings: video, dimension, rating[, model].")
    ] = None,
) -> None:
    """Write entropy, variance between dimensions, share at 5 and Spearman with ratings, of numbers and judges."""
    from pvbench_suite.judge import discriminability as studying
    from pvbench_suite.judge.journals import read

    with _one_line():
        given = studying.read_ratings(ratings) if ratings else None
        _say(studying.lines(*studying.discriminability(read([run]), load(), given)))


@app.command()
def health(run: Run) -> None:
    """Write share at 5, entropy and failures of each judge and dimension; exit 1 if a judge has collapsed."""
    from pvbench_suite.judge.journals import needed, number, read
    from pvbench_suite.stats.health import health as measure

    with _one_line():
        found = measure(row for row in read([run]) if row.get("scorer") != "no-judge")
        needed(len(found), "health: no judge has scored anything here")
        for h in found:
            planned = h.n + h.failed
            note = f"; COLLAPSED: {h.mode} for {h.mode_share:.0%} of them" if h.collapsed else ""
            typer.echo(
                f"{h.judge} {h.dimension or 'all'}: {h.n} verdicts, {h.failed} of {planned} without one, "
                f"share at 5 {number(h.share_at_5)}, entropy {number(h.entropy)} bit{note}"
            )
    if any(h.collapsed for h in found):
        raise typer.Exit(EXIT_FINDINGS)
