"""``pvbench prompts``: list, show, export, check, stats and schema.

Exit status: 0 when all is well, 1 when `check` has errors to tell, 4 when an input cannot be used.  Results go to
standard output, messages to standard error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pvbench_suite.errors import PVBenchError, UserError
from pvbench_suite.prompts import export as exporting
from pvbench_suite.prompts import stats as variety
from pvbench_suite.prompts.catalogue import dimension_ids, nearest_dimension
from pvbench_suite.prompts.loader import Suite, load
from pvbench_suite.prompts.reading import shown
from pvbench_suite.prompts.schema import json_schema
from pvbench_suite.prompts.validate import validate

EXIT_FINDINGS = 1
EXIT_INPUT = 4


class SubsetName(StrEnum):
    """The nested subsets."""

    MINI = "mini"
    CORE = "core"
    FULL = "full"


class ModalityName(StrEnum):
    """What is to be generated."""

    T2V = "t2v"
    I2V = "i2v"
    REFERENCE = "reference"


class FormatName(StrEnum):
    """How an export is written."""

    JSONL = "jsonl"
    CSV = "csv"
    TXT = "txt"


class TagName(StrEnum):
    """What makes a group hard."""

    EMBODIED = "embodied"
    OCCLUSION = "occlusion"
    CLUTTER = "clutter"
    CAMERA_MOTION = "camera_motion"


PromptFile = Annotated[Path | None, typer.Option("--prompts", metavar="FILE", help="Your own JSONL or CSV instead.")]
Subset = Annotated[SubsetName, typer.Option(help="Which groups.")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON.")]

app = typer.Typer(help="The prompt suite: what generators are asked for.", no_args_is_help=True)


@contextmanager
def _one_line() -> Iterator[None]:
    """Turn a mistake in the input into one line on standard error and exit status 4."""
    try:
        yield
    except PVBenchError as error:
        typer.echo(f"pvbench prompts: {error}", err=True)
        raise typer.Exit(EXIT_INPUT) from None


def _chosen(prompts: Path | None, subset: SubsetName) -> Suite:
    """Return the subset of the shipped or given suite; tells on standard error what of it is not there."""
    suite = load(prompts)
    if not suite.groups:
        raise UserError("the shipped suite has no groups yet; give your own with --prompts FILE")
    chosen = suite.subset(subset.value)
    if absent := suite.absent(subset.value):
        told = f"subset {subset.value}: {len(absent)} of {len(absent) + len(chosen)} groups are not there"
        typer.echo(f"{told} ({', '.join(absent[:3])} ...)", err=True)
    return chosen


@app.command("list")
def list_groups(
    prompts: PromptFile = None,
    subset: Subset = SubsetName.FULL,
    dimension: Annotated[str | None, typer.Option("-d", help="Only groups that target it, for example R22.")] = None,
    tag: Annotated[TagName | None, typer.Option(help="Only groups with this tag.")] = None,
) -> None:
    """Write one line per group: id, part, targets, tags and the start of the prompt."""
    with _one_line():
        if dimension is not None and dimension not in dimension_ids():
            raise UserError(f"{shown(dimension)!r} is no dimension; the nearest is {nearest_dimension(dimension)}")
        for group in _chosen(prompts, subset):
            if (dimension is None or dimension in group.dimensions) and (tag is None or tag.value in group.tags):
                targets, tags = "+".join(group.dimensions) or "-", ",".join(group.tags) or "-"
                typer.echo(f"{group.id}\t{group.part}\t{targets}\t{tags}\t{shown(' '.join(group.prompt.split()))}")


@app.command()
def show(group_id: Annotated[str, typer.Argument(metavar="ID")], prompts: PromptFile = None) -> None:
    """Write one group as JSON, with the file name that its video is expected to have."""
    with _one_line():
        suite = load(prompts)
        group = suite.get(group_id)
        if group is None:
            near = ", ".join(suite.nearest(group_id)) or "none"
            raise UserError(f"there is no group {shown(group_id)!r} in {shown(suite.source, 200)}; the nearest: {near}")
        data = {**group.model_dump(mode="json", exclude_defaults=True)}
        data |= {"digest": group.digest(), "video": suite.files.get(group.id, exporting.video_name(group.id))}
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))


@app.command()
def export(
    modality: Annotated[ModalityName, typer.Option(help="reference: first frames for an image generator.")],
    form: Annotated[FormatName, typer.Option("--format", help="txt: file name, tab, prompt.")] = FormatName.JSONL,
    prompts: PromptFile = None,
    subset: Subset = SubsetName.FULL,
    seed: Annotated[list[int] | None, typer.Option(help="One video per seed; repeat the option.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Write here instead of standard output.")] = None,
) -> None:
    """Write what a generator needs, with the expected file name of each video."""
    with _one_line():
        suite = _chosen(prompts, subset)
        rows = exporting.rows(suite, modality.value, seed or (), suite.files)
        text = exporting.render(rows, form.value)
        if out is None:
            typer.echo(text, nl=False)
            return
        try:
            out.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise UserError(f"{shown(str(out), 200)} cannot be written: {error.strerror}") from None
        typer.echo(f"wrote {len(rows)} lines to {shown(str(out), 200)}", err=True)


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Default: the shipped suite.")] = None,
    as_json: Json = False,
) -> None:
    """Check a prompt file by every rule; exit 1 when there are errors, 4 when the file cannot be read."""
    with _one_line():
        suite = load(file)
        found = validate(suite)
        if as_json:
            typer.echo(json.dumps([asdict(finding) for finding in found.findings], indent=2, ensure_ascii=False))
        else:
            for finding in (*found.errors, *found.notes):
                typer.echo(str(finding))
            typer.echo(f"{len(suite)} groups: {len(found.errors)} errors, {len(found.notes)} notes", err=True)
        if found.errors:
            raise typer.Exit(EXIT_FINDINGS)


@app.command()
def stats(prompts: PromptFile = None, subset: Subset = SubsetName.FULL, as_json: Json = False) -> None:
    """Write how varied the suite is, as Markdown or JSON."""
    with _one_line():
        data = variety.report(_chosen(prompts, subset))
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False) if as_json else variety.markdown(data), nl=as_json)


@app.command()
def schema() -> None:
    """Write the JSON schema of one line of a prompt file."""
    typer.echo(json.dumps(json_schema(), indent=2))
