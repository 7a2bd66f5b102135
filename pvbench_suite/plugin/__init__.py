"""The pytest plugin: options, planning, parametrization, scheduling, recording.

Loaded by the suite's root conftest.  Every hook is inert unless ``--model-dir`` is given, so that loading it in another
project changes nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pvbench_suite import suite as place
from pvbench_suite.dimensions import LAYER_NAMES, load
from pvbench_suite.errors import UserError
from pvbench_suite.judge import Settings
from pvbench_suite.judge.service import JudgeService
from pvbench_suite.plugin import access, allure, finish, options, pair
from pvbench_suite.plugin.build import build, test_id
from pvbench_suite.plugin.keys import CONTROLLER, DONE, ESTIMATE, RUN
from pvbench_suite.plugin.run import Run, key_of
from pvbench_suite.prompts.loader import load as load_prompts


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the suite's options."""
    options.add(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Check the options, build the run (or take it from the controller), register the markers."""
    if not config.getoption("model_dir"):
        _refuse_bare_dimensions(config)
        return
    _register_markers(config)
    config.stash[DONE] = 0
    worker = getattr(config, "workerinput", None)
    try:
        if worker is not None:
            config.stash[RUN] = _from_controller(config, worker["pvbench"])
            return
        if config.rootpath.resolve() != place.root():
            raise UserError(
                f"pytest took {config.rootpath} for the project instead of the suite in {place.root()}; write "
                "--model-dir=PATH with the = sign, add --rootdir and -c of the suite, or use: pvbench run PATH"
            )
        controller = build(config)
    except UserError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[CONTROLLER] = controller
    config.stash[RUN] = controller.run


def _refuse_bare_dimensions(config: pytest.Config) -> None:
    """End ``pytest dimensions/`` without a model by one line; leave every other session alone."""
    top = place.root() / "dimensions"
    for argument in config.args:
        path = (config.invocation_params.dir / argument.split("::")[0]).resolve()
        if path == top or top in path.parents:
            raise pytest.UsageError(
                "pass the videos to score: pytest dimensions/ --model-dir=PATH (try: pvbench demo runs/demo)"
            )


def _register_markers(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "dimension(id): the dimension that a test measures")
    registry = load()
    for dimension in registry.dimensions:
        for name in dict.fromkeys((dimension.id, dimension.marker)):
            config.addinivalue_line("markers", f"{name}: {dimension.name}")
    for domain in registry.domains.values():
        for name in (domain.code, domain.folder):
            config.addinivalue_line("markers", f"{name}: domain {domain.name}")
    for layer, name in LAYER_NAMES.items():
        for marker in (layer, name):
            config.addinivalue_line("markers", f"{marker}: the {name} layer")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand the run to an xdist worker."""
    run = node.config.stash.get(RUN, None)
    if run is not None:
        prompts = run.suite.source if Path(run.suite.source).is_file() else ""
        node.workerinput["pvbench"] = {
            "jobs": run.to_text(), "base": str(node.config.invocation_params.dir),
            "prompts": prompts, "subset": run.options.subset, "judge": _judge_to_plain(run),
        }  # fmt: skip


def _judge_to_plain(run: Run) -> dict[str, Any] | None:
    """Return the judge's settings with the served revision, and the folder that the workers share; never the key."""
    return None if run.judge is None else {"settings": run.judge.settings.to_plain(), "share": str(run.judge.folder)}


def _from_controller(config: pytest.Config, sent: dict[str, Any]) -> Run:
    suite = load_prompts(Path(sent["prompts"]) if sent["prompts"] else None)
    suite = suite.subset(sent["subset"]) if sent["subset"] != "full" else suite
    run = Run(options.checked(config, Path(sent["base"])), suite)
    run.load_text(sent["jobs"])
    if (judge := sent["judge"]) is not None:
        workers = int(config.workerinput["workercount"])  # type: ignore[attr-defined]
        run.hire(Settings(**judge["settings"]), Path(judge["share"]), workers)
    return run


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep a video on one worker, unless another distribution was asked for."""
    if config.stash.get(RUN, None) is None or config.getoption("dist") != "load":
        return None
    from pvbench_suite.plugin.schedule import VideoScheduling

    return VideoScheduling(config, log)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over the files of dimensions for which nothing is planned."""
    run = config.stash.get(RUN, None)
    if run is None or collection_path.suffix != ".py":
        return None
    return True if collection_path.stem in run.idle_stems else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each dimension test the videos that are planned for it."""
    run = metafunc.config.stash.get(RUN, None)
    mark = metafunc.definition.get_closest_marker("dimension")
    if run is None or mark is None or "video" not in metafunc.fixturenames:
        return
    jobs = [job for job in run.jobs.values() if mark.args[0] in job.planned.dimensions]
    metafunc.parametrize("video", jobs, ids=[test_id(job.video) for job in jobs])


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark each pair by dimension, domain and layer, exactly."""
    mark = item.get_closest_marker("dimension")
    if item.config.stash.get(RUN, None) is None or mark is None:
        return
    dimension = load().get(mark.args[0])
    domain = load().domains[dimension.domain]
    for name in (dimension.id, dimension.marker, domain.code, domain.folder, domain.layer, LAYER_NAMES[domain.layer]):
        item.add_marker(name)
    item.extra_keyword_matches.update({dimension.id, dimension.id.replace("-", "")})
    allure.mark(item, dimension, domain)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order by video, then dimension, and leave out what has a result already (after -k and -m chose)."""
    run = config.stash.get(RUN, None)
    if run is None:
        return
    videos = {key: k for k, key in enumerate(run.jobs)}
    order = {d.id: k for k, d in enumerate(run.registry.dimensions)}
    open_pairs: list[tuple[int, int, pytest.Item]] = []
    for item in items:
        job, mark = pair.job_of(item), item.get_closest_marker("dimension")
        if job is None or mark is None:
            continue
        if mark.args[0] in job.todo:
            open_pairs.append((videos[key_of(job.video)], order[mark.args[0]], item))
        else:
            config.stash[DONE] += 1
    items[:] = [item for *_, item in sorted(open_pairs, key=lambda entry: entry[:2])]
    if run.judge is not None and not config.option.collectonly:
        _judge_ahead(config, run, run.judge, items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what was collected out of garbage collection: passing over 27,000 items again and again costs a sixth."""
    if session.config.stash.get(RUN, None) is not None:
        gc.freeze()


def _judge_ahead(config: pytest.Config, run: Run, judge: JudgeService, items: list[pytest.Item]) -> None:
    """Have the planned judgements asked in the background; a dry run estimates them and runs nothing."""
    judged = [
        (pair.job_of(i), pair.dimension_of(i, run)) for i in items if pair.dimension_of(i, run).rubric is not None
    ]
    asks = [access.ahead(run, job, dimension) for job, dimension in judged if job is not None]
    worker = getattr(config, "workerinput", None)
    if judge.settings.dry_run:
        config.stash[ESTIMATE] = judge.estimate(asks).lines()
        items[:] = []
        return
    count, mine = (int(worker["workercount"]), int(worker["workerid"].removeprefix("gw"))) if worker else (1, 0)
    order = {key: k for k, key in enumerate(dict.fromkeys(key_of(ask.video) for ask in asks))}
    judge.ask_ahead(ask for ask in asks if order[key_of(ask.video)] % count == mine % count)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Prepare a pair, and settle it if its products are not there."""
    return (yield from pair.guarded(item, "setup"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Settle a pair by what its test graded, or by why it could not."""
    return (yield from pair.guarded(item, "call"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the pair's row to the report of the phase that decides it."""
    report = yield
    pair.report(item, call, report)
    return report


def pytest_sessionstart(session: pytest.Session) -> None:
    """Register the controller's recorder, and keep the progress on one line (items alternate between files)."""
    controller = session.config.stash.get(CONTROLLER, None)
    if controller is not None:
        reporter = session.config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None and session.config.get_verbosity() == 0:
            reporter.showfspath = False
        session.config.pluginmanager.register(finish.Recorder(session.config, controller), "pvbench-recorder")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the controller how many selected pairs had a result already; let go of the judge."""
    run = session.config.stash.get(RUN, None)
    if run is not None:
        gc.unfreeze()
    output = getattr(session.config, "workeroutput", None)
    if output is not None and run is not None:
        output["pvbench_done"] = session.config.stash[DONE]
        if run.judge is not None:
            run.judge.close()


def pytest_report_header(config: pytest.Config) -> list[str] | None:
    """Say who is scored, by whom, and with what."""
    controller = config.stash.get(CONTROLLER, None)
    return finish.header(controller) if controller is not None else None
