"""Several processes of one run: slots, the cap, claims and usage are totals over all of them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pvbench_suite import suite
from pvbench_suite.judge.share import HOLE, Share
from pvbench_suite.judge.usage import Usage
from tests.judge.server import Reply, Server, completion, verdict
from tests.judge.world import settings

WORKER = """
import json, os, sys, time
from pathlib import Path
from pvbench_suite.errors import PVBenchError
from pvbench_suite.judge.service import JudgeService
from pvbench_suite.judge.settings import Settings
from tests.judge.world import PLAIN, ask, digest, planned
plain, share, cache, workers, mine, names = json.loads(sys.argv[1])
# Nobody starts before all are there, or one could do it all.
(Path(share) / "here").mkdir(parents=True, exist_ok=True)
(Path(share) / "here" / str(os.getpid())).touch()
while len(list((Path(share) / "here").iterdir())) < workers:
    time.sleep(0.01)
judge = JudgeService(Settings(**plain), digest, lambda _: [Path(cache)], share=Path(share), workers=workers)
judge.ask_ahead(planned(mine))
states = {}
for n in names:
    for d in PLAIN:
        try:
            states[n + d] = ask(judge, n, d).score
        except PVBenchError as error:
            states[n + d] = type(error).__name__
judge.close()
print(json.dumps([states, judge._asker.usage.to_plain()]))
"""


def run(server: Server, tmp_path: Path, count: int, **given: Any) -> list[Any]:
    """Run workers that each ask a part ahead and then wait for all pairs in their own order."""
    names = [f"v{k}" for k in range(6)]
    plain = settings(server, **given).to_plain()
    started = []
    for w in range(count):
        order = names[w:] + names[:w]
        job = [plain, str(tmp_path / "share"), str(tmp_path / "cache"), count, names[w::count], order]
        command = [sys.executable, "-c", WORKER, json.dumps(job)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=suite.root()))
    out = [process.communicate(timeout=60)[0] for process in started]
    assert all(process.returncode == 0 for process in started)
    return [json.loads(text) for text in out]


def test_two_workers_ask_each_judgement_once_and_keep_the_total_of_requests_at_a_time(
    server: Server, tmp_path: Path
) -> None:
    server.behave = lambda body, n: Reply(completion(verdict()), after=0.1)
    found = run(server, tmp_path, 2, concurrency=3)
    assert server.count == 30
    assert server.most <= 3
    assert all(set(states.values()) == {4} and len(states) == 30 for states, _ in found)
    assert Usage.total(usage for _, usage in found).judgements == 30
    assert all(usage["judgements"] > 0 for _, usage in found)


def test_two_workers_share_one_slot_and_both_get_on(server: Server, tmp_path: Path) -> None:
    server.behave = lambda body, n: Reply(completion(verdict()), after=0.02)
    found = run(server, tmp_path, 2, concurrency=1)
    assert (server.most, server.count) == (1, 30)
    assert all(usage["judgements"] > 0 for _, usage in found)


def test_the_cap_is_one_for_all_workers(server: Server, tmp_path: Path) -> None:
    found = run(server, tmp_path, 2, max_requests=11)
    assert server.count == 11
    for states, _ in found:
        assert set(states.values()) <= {4, "NotPerceived"}
    assert sum(usage["requests"] for _, usage in found) == 11


def test_a_judgement_that_failed_for_one_worker_is_not_asked_by_the_other(server: Server, tmp_path: Path) -> None:
    server.behave = lambda body, n: Reply(completion("no"))
    found = run(server, tmp_path, 2)
    assert server.count == 3 * 30
    assert all(set(states.values()) == {"NoVerdict"} for states, _ in found)


def test_the_controller_adds_up_what_all_processes_used(tmp_path: Path) -> None:
    share = Share(tmp_path, 1, None)
    (tmp_path / "usage").mkdir()
    for pid in (1, 2):
        (tmp_path / "usage" / f"{pid}.json").write_text(json.dumps(Usage(judgements=pid, seconds=0.5).to_plain()))
    (tmp_path / "usage" / "3.json").write_text("{torn")
    share.write_usage({"judgements": 100})
    assert Usage.total(share.others()) == Usage(judgements=3, seconds=1.0)
    share.close()


def test_slots_are_as_many_as_there_are_and_come_back(tmp_path: Path) -> None:
    share = Share(tmp_path, 2, None)
    slots = [share.take_slot(), share.take_slot()]
    assert sorted(s for s in slots if s is not None) == [0, 1]
    assert share.take_slot() is None
    share.give_slot(1)
    assert share.take_slot() == 1
    share.close()


def test_a_worker_beyond_its_fair_share_leaves_a_returned_slot_to_others_for_a_moment(tmp_path: Path) -> None:
    share = Share(tmp_path, 2, None, workers=2)
    first, second = share.take_slot(), share.take_slot()
    assert (first, second) == (0, 1)
    share.give_slot(1)
    assert share.take_slot() is None
    time.sleep(HOLE + 0.01)
    assert share.take_slot() == 1
    share.close()


HOLDER = """
import sys, time
from pathlib import Path
from pvbench_suite.judge.share import Share
share = Share(Path(sys.argv[1]), 1, None)
assert share.take_slot() == 0 and share.claim("q")
print("held", flush=True)
time.sleep(60)
"""


def test_what_a_dead_worker_held_is_free_again(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    share = Share(tmp_path, 1, None)
    assert share.take_slot() is None
    assert not share.claim("q")
    assert share.claim("other")
    holder.kill()
    holder.wait()
    assert share.take_slot() == 0
    assert share.claim("q")
    share.close()
