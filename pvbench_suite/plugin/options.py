"""The plugin's options, checked once in `pytest_configure`, so that a mistake is one clean line and exit 4."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pvbench_suite.errors import UserError
from pvbench_suite.judge import Settings, settings_from
from pvbench_suite.video.types import DEFAULT_LIMITS, Limits

#: The judge's options, in the order of `settings_from`.
JUDGE = ("url", "model", "concurrency", "max_requests", "frames", "dry_run")

CHOICES = {
    "pv_modality": ("t2v", "i2v", "both"),
    "pv_subset": ("mini", "core", "full"),
    "pv_scope": ("targeted", "all"),
}


def add(parser: pytest.Parser) -> None:
    """Register the options of the suite."""
    group = parser.getgroup("pvbench", "PVBench suite: score a folder of generated videos")
    add = group.addoption
    add("--model-dir", action="append", default=[], metavar="[NAME=]PATH",
        help="folder of one model's videos; repeat for several models; write the = form")  # fmt: skip
    add("--pv-modality", metavar="t2v|i2v|both", help="which videos to score (default: those that are there)")
    add("--pv-layout", default="auto", metavar="NAME", help="how the folder names its videos (default: auto)")
    add("--pv-prompts", metavar="FILE",
        help="prompt groups, JSONL or CSV (default: groups.jsonl in or beside the folder)")  # fmt: skip
    add("--pv-subset", default="full", metavar="mini|core|full", help="which of the suite's groups (default: full)")
    add("--pv-scope", default="targeted", metavar="targeted|all",
        help="a group's own dimensions and the perceptual ones, or all that apply (default: targeted)")  # fmt: skip
    add("--pv-perception", metavar="PROFILE", help="who perceives: embedded (default), simulator, ...")
    add("--pv-limit", type=str, metavar="N", help="run the first N videos only; the rest stays open in the report")
    add("--pv-videos", metavar="FILE", help="list of the videos to score, one a line, or a CSV of (file, prompt)")
    add("--pv-references", metavar="DIR", help="reference images of the I2V variants, <group id>.png")
    add("--pv-no-resume", action="store_true", help="run every pair again, also those that have a result")
    add("--pv-report-dir", metavar="DIR", help="where journals and reports go (default: <model dir>/pvbench)")
    add("--pv-cache-dir", metavar="DIR", help="where perception is kept (default: <model dir>/pvbench/cache)")
    add("--pv-gate", action="append", default=[], metavar="EXPR",
        help="exit 1 unless e.g. 'MC>=20', 'overall>=40', 'R22>=35' (percentile); repeatable")  # fmt: skip
    add("--pv-require-complete", action="store_true", help="exit 1 unless every planned pair is scored or unmeasurable")
    add("--pv-judge-url", metavar="URL", help="judge: base URL of an OpenAI-compatible server, or transformers")
    add("--pv-judge-model", metavar="NAME", help="model to judge with (default: Qwen/Qwen3.8-27B)")
    add("--pv-judge-concurrency", metavar="N", help="requests to the judge at a time, over all workers (default: 8)")
    add("--pv-judge-max-requests", metavar="N", help="most requests to the judge in this run, over all workers")
    add("--pv-judge-frames", metavar="N", help="most frames of a request (default: 32)")
    add("--pv-judge-dry-run", action="store_true", help="say what judging would cost, and ask nothing")
    add("--pv-max-pixels", type=str, metavar="N", help="largest frame that is decoded [px]")
    add("--pv-max-frames", type=str, metavar="N", help="longest video that is decoded [frames]")
    add("--pv-decode-timeout", type=str, metavar="S", help="longest time for decoding one video [s]")
    add("--pv-max-memory", type=str, metavar="MIB",
        help="most memory of the process that decodes, itself included [MiB] (default: 2048; Linux)")  # fmt: skip


@dataclass(frozen=True)
class ModelDir:
    """One ``--model-dir``: a name for tables and ids, and the folder."""

    name: str
    path: Path


@dataclass(frozen=True)
class Options:
    """The checked options of a run."""

    models: tuple[ModelDir, ...]
    modality: str | None
    layout: str
    prompts: Path | None
    subset: str
    scope: str
    profile: str
    limit: int | None
    videos: Path | None
    references: Path | None
    resume: bool
    report_dir: Path | None
    cache_dir: Path | None
    gates: tuple[str, ...]
    require_complete: bool
    limits: Limits
    judge: Settings | None


def model_dir(text: str, base: Path) -> ModelDir:
    """Return the parsed ``[NAME=]PATH``; the name is the folder's, unless given.

    Raises
    ------
    UserError
        If the folder is not there; names what was looked for.
    """
    name, mark, path_text = text.partition("=")
    if not mark or "/" in name:
        name, path_text = "", text
    path = Path(path_text).expanduser()
    path = path if path.is_absolute() else base / path
    if not path.is_dir():
        kind = "is a file, not a folder" if path.exists() else "is not there"
        raise UserError(
            f"--model-dir {path_text}: the folder {kind}; pass the folder that holds the videos of one model"
        )
    path = path.resolve()
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", name or path.name).strip(".")[:40] or "model"
    return ModelDir(name, path)


def _number(config: pytest.Config, key: str, least: float, kind: type[int] | type[float]) -> int | float | None:
    text = config.getoption(key)
    if text is None:
        return None
    option = "--" + key.replace("_", "-")
    try:
        value = kind(text)
    except ValueError:
        raise UserError(f"{option} {text}: is not a {'whole ' if kind is int else ''}number") from None
    if not value >= least:
        raise UserError(f"{option} {text}: must be at least {least}")
    return value


def _limits(config: pytest.Config) -> Limits:
    """Return what decoding one video may cost: the defaults, and what the options say."""
    given = {
        "max_pixels": _number(config, "pv_max_pixels", 1, int),
        "max_frames": _number(config, "pv_max_frames", 1, int),
        "seconds": _number(config, "pv_decode_timeout", 0.1, float),
        # Python, NumPy and FFmpeg alone take about 110 MiB.
        "memory": _number(config, "pv_max_memory", 256, int),
    }
    return replace(DEFAULT_LIMITS, **{k: v for k, v in given.items() if v is not None})  # type: ignore[arg-type]


def _file(text: str | None, option: str, base: Path) -> Path | None:
    if text is None:
        return None
    path = base / Path(text).expanduser()
    if not path.exists():
        raise UserError(f"{option} {text}: is not there")
    return path.resolve()


def _folder(text: str | None, option: str, base: Path) -> Path | None:
    path = _file(text, option, base)
    if path is not None and not path.is_dir():
        raise UserError(f"{option} {text}: is a file, not a folder of images <group id>.png")
    return path


def checked(config: pytest.Config, base: Path) -> Options:
    """Return the options of the run; relative paths are seen from `base`.

    Raises
    ------
    UserError
        At the first value that cannot be used.
    """
    from pvbench_suite.perception import profiles

    for key, choices in CHOICES.items():
        value = config.getoption(key)
        if value is not None and value not in choices:
            raise UserError(f"--{key.replace('_', '-')} {value}: is unknown; choose from {', '.join(choices)}")
    models = tuple(model_dir(text, base) for text in config.getoption("model_dir"))
    for k, model in enumerate(models):
        if any(model.name.casefold() == other.name.casefold() for other in models[:k]):
            raise UserError(
                f"--model-dir: two models are called {model.name!r}; give one another name: NAME={model.path}"
            )
    limit = _number(config, "pv_limit", 1, int)
    out, cache = config.getoption("pv_report_dir"), config.getoption("pv_cache_dir")
    return Options(
        models=models,
        modality=config.getoption("pv_modality"),
        layout=config.getoption("pv_layout"),
        prompts=_file(config.getoption("pv_prompts"), "--pv-prompts", base),
        subset=config.getoption("pv_subset"),
        scope=config.getoption("pv_scope"),
        profile=config.getoption("pv_perception") or profiles.DEFAULT,
        limit=None if limit is None else int(limit),
        videos=_file(config.getoption("pv_videos"), "--pv-videos", base),
        references=_folder(config.getoption("pv_references"), "--pv-references", base),
        resume=not config.getoption("pv_no_resume"),
        report_dir=(base / Path(out).expanduser()).resolve() if out else None,
        cache_dir=(base / Path(cache).expanduser()).resolve() if cache else None,
        gates=tuple(config.getoption("pv_gate")),
        require_complete=config.getoption("pv_require_complete"),
        limits=_limits(config),
        judge=settings_from(*(config.getoption(f"pv_judge_{key}") for key in JUDGE)),
    )
