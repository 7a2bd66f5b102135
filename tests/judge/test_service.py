"""Asking ahead, the cache, the cap, outages: each judgement is asked once, kept if valid, and never invented."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pvbench_suite.errors import BrokenVideo, JudgeFailed, NotPerceived, Unmeasurable
from pvbench_suite.judge.evidence import Evidence, NotReady
from pvbench_suite.judge.service import Ask, JudgeService
from pvbench_suite.judge.settings import settings_from
from pvbench_suite.prompts.schema import Group
from tests.judge.server import Reply, Server, completion, verdict, well
from tests.judge.world import CLIP, PLAIN, REGISTRY, ask, digest, planned, service, settings, video


def wait_for(condition: Any, seconds: float = 10.0) -> None:
    """Wait until a condition holds, or fail."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def collect(judge: JudgeService, names: list[str]) -> list[int]:
    return [ask(judge, n, d).score for n in names for d in PLAIN]


NAMES = [f"v{k}" for k in range(6)]


def test_what_is_asked_ahead_is_asked_once_and_many_at_a_time(server: Server, tmp_path: Path) -> None:
    server.behave = lambda body, n: Reply(completion(verdict(1 + n % 5)), after=0.1)
    with service(server, tmp_path, concurrency=8) as judge:
        judge.ask_ahead(planned(NAMES))
        collect(judge, NAMES)
        usage = judge.usage()
    assert server.count == usage.judgements == len(NAMES) * len(PLAIN)
    assert 2 <= server.most <= 8
    assert usage.cached == 0


def test_a_verdict_that_was_asked_ahead_in_this_run_does_not_count_as_cached(server: Server, tmp_path: Path) -> None:
    with service(server, tmp_path) as judge:
        judge.ask_ahead(planned(["a"]))
        wait_for(lambda: len(list(tmp_path.rglob("judgement-*.json"))) == len(PLAIN))
        assert [ask(judge, "a", d).cached for d in PLAIN] == [False] * len(PLAIN)


def test_a_second_run_asks_nothing_twice(server: Server, tmp_path: Path) -> None:
    with service(server, tmp_path) as judge:
        first = collect(judge, NAMES[:2])
    before = server.count
    with service(server, tmp_path) as judge:
        judge.ask_ahead(planned(NAMES[:2]))
        assert collect(judge, NAMES[:2]) == first
        assert ask(judge, NAMES[0]).cached
        usage = judge.usage()
    assert server.count == before
    assert usage.judgements == usage.requests == 0


def test_a_kept_judgement_needs_no_frames(server: Server, tmp_path: Path) -> None:
    def never() -> Any:
        raise AssertionError("the video was decoded for a judgement that is there")

    with service(server, tmp_path) as judge:
        ask(judge)
    with service(server, tmp_path) as judge:
        assert ask(judge, clip=never).score == 4


@pytest.mark.parametrize(
    "change",
    [{"dimension": "R10"}, {"prompt": "Another prompt."}, {"evidence": Evidence(("size drifts by 0.2",))},
     {"group": Group(id="g", prompt="A third prompt.")}, {"name": "another"}],
)  # fmt: skip
def test_another_question_is_asked_anew(server: Server, tmp_path: Path, change: dict[str, Any]) -> None:
    with service(server, tmp_path) as judge:
        ask(judge)
        ask(judge, **change)
    assert server.count == 2


def test_another_judge_asks_anew_and_has_another_id(server: Server, tmp_path: Path) -> None:
    server.models = {"data": [{"id": "test/judge"}, {"id": "second/judge"}]}
    ids = set()
    for model in ("test/judge", "second/judge"):
        found = settings_from(url=server.url, model=model)
        assert found is not None
        judge = JudgeService(found, digest, lambda _: [tmp_path])
        judge.connect()
        assert ask(judge).cached is False
        ids.add(judge.id(REGISTRY.get("R04")))
        judge.close()
    assert server.count == len(ids) == 2


def test_the_frames_of_a_video_are_made_once_for_all_its_dimensions(server: Server, tmp_path: Path) -> None:
    made: list[str] = []
    with service(server, tmp_path) as judge:
        judge.ask_ahead(planned(NAMES, made=made))
        collect(judge, NAMES)
    # The first may have been given by the test that waited for it.
    assert sorted(made) in (NAMES, NAMES[1:])


def test_what_a_test_waits_for_overtakes_what_is_asked_ahead(server: Server, tmp_path: Path) -> None:
    server.behave = lambda body, n: Reply(completion(verdict()), after=0.1)
    with service(server, tmp_path, concurrency=1) as judge:
        judge.ask_ahead(planned([f"w{k}" for k in range(40)]))
        wait_for(lambda: server.count >= 1)
        ask(judge, "urgent")
        assert server.count < 12
        last = planned(["w1"])[-1]
        judge(last.video, last.clip, None, last.dimension)
        assert server.count < 20


def test_the_cap_is_kept_and_the_rest_is_not_perceived(server: Server, tmp_path: Path) -> None:
    with service(server, tmp_path, max_requests=7) as judge:
        judge.ask_ahead(planned(NAMES))
        states = []
        for n in NAMES:
            for d in PLAIN:
                try:
                    states.append(ask(judge, n, d).score)
                except NotPerceived as gone:
                    states.append(str(gone))
    assert server.count == 7
    assert sum(s == 4 for s in states) == 7
    assert {s for s in states if s != 4} == {
        "the judge may not be asked any more: --pv-judge-max-requests 7 is used up; raise it and run again: what is "
        "scored is kept"
    }


def test_repeated_requests_count_for_the_cap(server: Server, tmp_path: Path) -> None:
    server.behave = lambda body, n: Reply({}, 500, headers={"retry-after-ms": "1"})
    with service(server, tmp_path, max_requests=3, retries=10) as judge, pytest.raises(NotPerceived, match="used up"):
        ask(judge)
    assert server.count == 3


def test_invalid_answers_count_for_the_cap(server: Server, tmp_path: Path) -> None:
    server.behave = lambda body, n: Reply(completion("5"))
    with service(server, tmp_path, max_requests=2) as judge, pytest.raises(NotPerceived, match="used up"):
        ask(judge)
    assert server.count == 2


def test_after_an_outage_nobody_waits_for_every_pair(server: Server, tmp_path: Path) -> None:
    server.behave = lambda body, n: Reply(closed=True)
    with service(server, tmp_path, retries=0) as judge:
        for name in NAMES:
            with pytest.raises(NotPerceived, match="does not answer"):
                ask(judge, name)
    assert server.count == 3


def test_a_refused_key_ends_the_asking_at_once(server: Server, tmp_path: Path) -> None:
    server.behave = lambda body, n: Reply({}, 401)
    with service(server, tmp_path) as judge:
        for name in NAMES:
            with pytest.raises(NotPerceived, match="refuses the key"):
                ask(judge, name)
    assert server.count == 1


def test_a_pair_that_failed_is_not_asked_again_in_the_same_run(server: Server, tmp_path: Path) -> None:
    server.behave = lambda body, n: Reply(completion("no"))
    with service(server, tmp_path) as judge:
        judge.ask_ahead(planned(["a"], ("R04",)))
        for _ in range(2):
            with pytest.raises(JudgeFailed):
                ask(judge, "a")
        assert judge.usage().failed == 1
    assert server.count == 3


def test_a_broken_video_is_broken_for_its_test_and_harmless_ahead(server: Server, tmp_path: Path) -> None:
    def broken() -> Any:
        raise BrokenVideo("clip.mp4: is torn")

    with service(server, tmp_path) as judge:
        judge.ask_ahead([Ask(video("a"), broken, None, REGISTRY.get("R04")), *planned(["b"])])
        assert collect(judge, ["b"]) == [4] * len(PLAIN)
        with pytest.raises(BrokenVideo, match="is torn"):
            ask(judge, "a", clip=broken)


def test_evidence_that_is_not_measured_yet_leaves_the_pair_to_its_test(server: Server, tmp_path: Path) -> None:
    def later() -> Evidence:
        raise NotReady("bodies are not in the cache")

    one = Ask(video("a"), lambda: CLIP, None, REGISTRY.get("R06"), later)
    ready = replace(one, video=video("b"), evidence=lambda: Evidence(("drifts by 0.3",)))
    with service(server, tmp_path) as judge:
        judge.ask_ahead([one, ready, *planned(["c"], ("R04",))])
        ask(judge, "c")
        found = ask(judge, "b", "R06", evidence=Evidence(("drifts by 0.3",)))
        assert server.count == 2
        ask(judge, "a", "R06", evidence=Evidence(("drifts by 0.1",)))
    assert server.count == 3
    assert found.evidence == ("drifts by 0.3",)
    assert "- drifts by 0.1" in server.texts[2]


def test_an_image_to_video_pair_without_a_reference_image_is_not_asked(server: Server, tmp_path: Path) -> None:
    with service(server, tmp_path) as judge, pytest.raises(Unmeasurable, match="no reference image"):
        ask(judge, dimension="IF-10")
    assert server.count == 0


def test_the_reference_image_is_sent_and_identifies_the_question(server: Server, tmp_path: Path) -> None:
    import cv2

    image = tmp_path / "reference.png"
    with service(server, tmp_path / "cache") as judge:
        for shade in (40, 200):
            cv2.imwrite(str(image), np.full((90, 160, 3), shade, dtype=np.uint8))
            one = replace(video("i"), modality="i2v", reference=image)
            judge(one, CLIP, None, REGISTRY.get("IF-10"))
        missing = replace(one, reference=tmp_path / "gone.png")
        with pytest.raises(BrokenVideo, match="is not there"):
            judge(missing, CLIP, None, REGISTRY.get("IF-10"))
    assert server.count == 2
    assert "The reference image" in server.texts[0]
    content = server.requests[0]["messages"][1]["content"]
    assert sum(p["type"] == "image_url" for p in content) == 17


def test_an_estimate_asks_and_decodes_nothing(server: Server, tmp_path: Path) -> None:
    made: list[str] = []
    with service(server, tmp_path, max_requests=5) as judge:
        collect(judge, ["v0"])
        later = Ask(video("v1"), lambda: CLIP, None, REGISTRY.get("R06"), lambda: _raise(NotReady("later")))
        found = judge.estimate([*planned(["v0", "v1"], made=made), later])
    assert made == []
    assert server.count == len(PLAIN)
    assert (found.judgements, found.cached, found.waiting) == (len(PLAIN) + 1, len(PLAIN), 1)
    assert 4000 < found.tokens_in / found.judgements < 8000
    assert found.lines()[0].startswith("judge estimate: 6 judgements to ask, 5 in the cache; 6 to 18 requests")
    assert "leaves at least 1 unasked" in found.lines()[-1]


def _raise(error: Exception) -> Any:
    raise error


def test_an_estimate_needs_no_server(tmp_path: Path) -> None:
    dry = settings_from(dry_run=True)
    assert dry is not None
    judge = JudgeService(dry, digest, lambda _: [tmp_path])
    assert judge.estimate(planned(NAMES)).judgements == len(NAMES) * len(PLAIN)
    judge.close()
    judge.remove()


def test_the_lines_at_the_end_say_what_it_cost(server: Server, tmp_path: Path) -> None:
    with service(server, tmp_path) as judge:
        collect(judge, ["v0"])
    with service(server, tmp_path) as judge:
        collect(judge, ["v0", "v1"])
        judge.close()
        lines = judge.lines()
    assert lines[0] == "judge http:test/judge: 5 judgements asked, 5 from the cache"
    assert lines[1].startswith(
        "judge cost: 5 requests (0 repeated after errors, 0 invalid answers), 5000 tokens in, 250"
    )


def test_closing_ends_what_is_under_way_and_may_be_done_twice(server: Server, tmp_path: Path) -> None:
    server.behave = lambda body, n: Reply(completion(verdict()), after=3.0)
    with service(server, tmp_path) as judge:
        judge.ask_ahead(planned(NAMES))
        wait_for(lambda: server.count >= 4)
        start = time.monotonic()
        judge.close()
        judge.close()
        assert time.monotonic() - start < 2.0
    wait_for(lambda: not [t for t in threading.enumerate() if t.name.startswith("pvbench-")])


def test_nothing_is_left_in_memory_of_the_frames_that_were_sent(server: Server, tmp_path: Path) -> None:
    """Frames of the last few videos are kept for their next dimension, whatever the length of the run."""
    server.keep = False
    with service(server, tmp_path) as judge:
        judge.ask_ahead(planned([f"m{k}" for k in range(40)], ("R04",)))
        for k in range(40):
            ask(judge, f"m{k}")
        assert len(judge._material._frames) <= 4
        assert judge._asker._entries == {}
        assert judge._asker._outcomes == {}


def test_a_cache_that_cannot_be_written_costs_a_note_and_no_verdict(server: Server, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    with service(server, blocked) as judge:
        assert ask(judge).score == ask(judge).score == 4
        assert any("not kept" in line for line in judge.lines())
    assert server.count == 1


def test_a_judgement_that_was_tampered_with_is_asked_again(server: Server, tmp_path: Path) -> None:
    with service(server, tmp_path) as judge:
        ask(judge)
    (file,) = tmp_path.rglob("judgement-*.json")
    content = json.loads(file.read_text())
    content["raw"] = content["raw"].replace("4", "5")
    file.write_text(json.dumps(content))
    with service(server, tmp_path) as judge:
        found = ask(judge)
        assert any("does not hold" in line for line in judge.lines())
    assert (found.score, found.cached, server.count) == (4, False, 2)


def test_settings_reach_a_worker_as_plain_values_and_make_the_same_ids(server: Server, tmp_path: Path) -> None:
    from pvbench_suite.judge.settings import Settings

    server.models = {"data": [{"id": "test/judge", "root": "rev1"}]}
    with service(server, tmp_path) as judge:
        judge.connect()
        again = Settings(**json.loads(json.dumps(judge.settings.to_plain())))
        assert again == judge.settings
        assert again.id(REGISTRY.get("R04")) == judge.id(REGISTRY.get("R04"))


def test_asking_from_several_threads_is_sound(server: Server, tmp_path: Path) -> None:
    server.behave = well
    with service(server, tmp_path) as judge:
        scores: list[int] = []
        threads = [threading.Thread(target=lambda: scores.extend(collect(judge, NAMES[:2]))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(scores) == 4 * 2 * len(PLAIN)
    assert server.count == 2 * len(PLAIN)
    assert settings(server).concurrency == 4
