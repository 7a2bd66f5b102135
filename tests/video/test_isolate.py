"""The decoder process gives what decoding here gives, and its death costs one video."""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from pvbench_suite.errors import BrokenVideo, UserError
from pvbench_suite.video.decode import decode_isolated, decode_with_probe, probe, probe_isolated
from pvbench_suite.video.isolate import DecoderError, Worker
from pvbench_suite.video.types import Limits
from tests.video.making import pictures, write, write_image

READY = "import sys, time, os; print('{\"ready\": true}', flush=True); sys.stdin.readline(); "


@pytest.fixture
def worker():
    """A worker with the real command."""
    worker = Worker()
    yield worker
    worker.close()


def fake(code):
    """Return a worker whose process says that it is ready, takes a request, and then runs `code`."""
    return Worker([sys.executable, "-c", READY + code])


def test_the_worker_returns_what_decoding_here_returns(tmp_path, worker):
    path = write(tmp_path / "a b'\n球.mp4", pictures(5), pts=[0, 10, 20, 40, 50], rotation=(90, False, False))
    expected_probe, expected = decode_with_probe(path, long_side=40)
    found, clip = decode_isolated(path, long_side=40, worker=worker)
    assert found == expected_probe
    np.testing.assert_array_equal(clip.frames, expected.frames)
    np.testing.assert_array_equal(clip.times, expected.times)
    assert (clip.hw, clip.warnings) == (expected.hw, expected.warnings)
    assert probe_isolated(path, worker=worker) == probe(path)
    assert probe_isolated(path, worker=worker, full=False) == probe(path, full=False)


def test_frames_outlive_the_next_video_and_the_worker(tmp_path, worker):
    first = decode_isolated(write(tmp_path / "a.mp4", pictures(3)), worker=worker)[1].frames
    before = first.copy()
    decode_isolated(write(tmp_path / "b.mp4", pictures(6)[3:]), worker=worker)
    worker.close()
    np.testing.assert_array_equal(first, before)
    first[:] = 0  # the array is the caller's own


def test_one_process_serves_many_videos_and_leaves_no_file(tmp_path, worker, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    path = write(tmp_path / "a.mp4", pictures(2))
    decode_isolated(path, worker=worker)
    pid = worker.pid
    (tmp_path / "text.mp4").write_text("no video")
    with pytest.raises(BrokenVideo, match=r"^text\.mp4: is no video"):
        decode_isolated(tmp_path / "text.mp4", worker=worker)
    decode_isolated(path, worker=worker)
    assert worker.pid == pid
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_folder_of_frames_passes_its_rate_on(tmp_path, worker):
    for k in range(2):
        write_image(tmp_path / f"{k}.png", pictures(1)[0])
    assert decode_isolated(tmp_path, fps=4, worker=worker)[1].times.tolist() == [0, 0.25]
    with pytest.raises(UserError, match="needs its rate"):
        decode_isolated(tmp_path, worker=worker)


def test_limits_reach_the_worker(tmp_path, worker):
    path = write(tmp_path / "a.mp4", pictures(6))
    with pytest.raises(BrokenVideo, match="--pv-max-frames"):
        decode_isolated(path, limits=Limits(max_frames=2), worker=worker)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the bound on memory is Linux's")
def test_a_video_that_needs_too_much_memory_is_broken_and_the_option_named(tmp_path, worker):
    small = write(tmp_path / "small.mp4", pictures(3))
    large = write(tmp_path / "large.mp4", [np.zeros((2048, 2048, 3), np.uint8)] * 4, options={"preset": "ultrafast"})
    assert len(decode_isolated(small, worker=worker)[1].frames) == 3
    pages = int(Path(f"/proc/{worker.pid}/statm").read_text(encoding="ascii").split()[5])
    tight = Limits(memory=(pages * resource.getpagesize() >> 20) + 16)  # one frame has 12 MiB
    with pytest.raises(BrokenVideo, match=r"^large\.mp4: decoding needs more than \d+ MiB of memory \(--pv-max-memory"):
        decode_isolated(large, limits=tight, worker=worker)
    assert len(decode_isolated(small, limits=tight, worker=worker)[1].frames) == 3, "only the large one is too large"
    assert len(decode_isolated(large, worker=worker)[1].frames) == 4, "the next bound is the next request's"


def test_a_crash_is_a_broken_video_that_names_the_signal(tmp_path):
    worker = fake("os.kill(os.getpid(), 11)")
    with pytest.raises(BrokenVideo, match=r"^a\.mp4: decoder crashed \(signal 11\)$"):
        decode_isolated(tmp_path / "a.mp4", worker=worker)
    worker.close()


def test_a_crash_costs_one_video(tmp_path, worker):
    path = write(tmp_path / "a.mp4", pictures(2))
    decode_isolated(path, worker=worker)
    first = worker.pid
    os.kill(first, signal.SIGSTOP)  # so that it dies after the request and before the answer
    killer = threading.Timer(0.3, lambda: (os.kill(first, signal.SIGSEGV), os.kill(first, signal.SIGCONT)))
    killer.start()
    with pytest.raises(BrokenVideo, match=r"^a\.mp4: decoder crashed \(signal 11\)$"):
        decode_isolated(path, worker=worker)
    killer.join()
    assert len(decode_isolated(path, worker=worker)[1].frames) == 2
    assert worker.pid != first


def test_a_decoder_that_hangs_is_killed_and_the_option_named(tmp_path, monkeypatch):
    monkeypatch.setattr("pvbench_suite.video.isolate.GRACE", 0.1)
    worker = fake("time.sleep(60)")
    start = time.monotonic()
    with pytest.raises(BrokenVideo, match=r"took longer than 0\.2 s \(--pv-decode-timeout\)"):
        decode_isolated(tmp_path / "a.mp4", limits=Limits(seconds=0.2), worker=worker)
    assert time.monotonic() - start < 10
    assert worker.pid is None
    worker.close()


def test_a_worker_that_does_not_start_is_no_broken_video(tmp_path):
    worker = Worker([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(DecoderError, match="does not start"):
        decode_isolated(tmp_path / "a.mp4", worker=worker)
    worker.close()


def test_a_fault_of_ours_is_no_broken_video(tmp_path):
    worker = fake("""print('{"bug": "KeyError: x"}', flush=True); time.sleep(9)""")
    with pytest.raises(DecoderError, match="KeyError: x"):
        decode_isolated(tmp_path / "a.mp4", worker=worker)
    worker.close()


def test_no_room_for_frames_is_the_users_to_repair(tmp_path):
    worker = fake("""print('{"disk": "No space left on device"}', flush=True); time.sleep(9)""")
    with pytest.raises(UserError, match="TMPDIR"):
        decode_isolated(tmp_path / "a.mp4", worker=worker)
    worker.close()
