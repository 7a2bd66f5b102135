"""500 judgements of real frames against a server that takes one second each, 32 at a time: rate and memory.

    python benchmarks/judge_rate.py [FOLDER] [--judgements 500] [--concurrency 32] [--seconds 1.0] [--decode]

FOLDER holds videos; without it, drawn clips are judged.  Frames are sampled, encoded and sent within the measured time;
with --decode the videos are decoded within it as well, as a run does it whose tests do not need their pixels.  The
server runs in a process of its own and speaks the OpenAI wire format on loopback.  Ideal = judgements / concurrency *
seconds; the target is at least 85 % of that rate, with memory flat: its peak over the second half of the run against
that over the first.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np

from pvbench_suite.dimensions import load
from pvbench_suite.errors import BrokenVideo
from pvbench_suite.judge.sampling import sample
from pvbench_suite.judge.service import Ask, JudgeService
from pvbench_suite.judge.settings import settings_from
from pvbench_suite.video.decode import decode_isolated
from pvbench_suite.video.types import Clip, Video

VERDICT = {"observable": True, "score": 4, "reason": "a gap under the cup for three frames", "frames": [2, 3]}
MODEL = "bench/judge"


async def serve(seconds: float) -> None:
    """Answer every request after `seconds`; print the port first."""
    choice = {"index": 0, "message": {"role": "assistant", "content": json.dumps(VERDICT)}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5000, "completion_tokens": 60}
    body = json.dumps({"object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage}).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = head.decode("latin-1").split("\r\n")
                length = next((int(x.split(":")[1]) for x in lines if x.lower().startswith("content-length:")), 0)
                await reader.readexactly(length)
                if lines[0].startswith("POST"):
                    await asyncio.sleep(seconds)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 22, backlog=128)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def rss() -> float:
    """Return the resident memory of this process [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


class Watch(threading.Thread):
    """Samples memory ten times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.samples: list[float] = []
        self.over = threading.Event()

    def run(self) -> None:
        """Sample until told to stop."""
        while not self.over.wait(0.1):
            self.samples.append(rss())


def sampled(path: Path) -> Clip:
    """Return the frames of a video that a judge sees, and no others, so that twenty clips fit into memory."""
    clip = decode_isolated(path)[1]
    chosen = sample(clip.times, 32, 16)
    return Clip(clip.frames[chosen].copy(), clip.times[chosen], clip.hw)


def drawn(seed: int) -> Clip:
    """Return ten seconds of blotches that move."""
    small = np.random.default_rng(seed).integers(0, 255, (20, 36, 3), dtype=np.uint8)
    frame = np.asarray(cv2.resize(small, (640, 360), interpolation=cv2.INTER_CUBIC))
    return Clip(np.stack([np.roll(frame, 6 * k, axis=1) for k in range(21)]), np.linspace(0.0, 10.0, 21), (720, 1280))


def videos(folder: Path | None, wanted: int, decode: bool) -> Iterator[tuple[Video, Callable[[], Clip]]]:
    """Yield videos with what gives their clips: real ones first, then drawn ones."""
    count = 0
    for path in [p for p in sorted(folder.rglob("*")) if p.is_file()] if folder else []:
        try:
            clip = sampled(path)
        except BrokenVideo:
            continue
        give = (lambda path=path: decode_isolated(path)[1]) if decode else (lambda clip=clip: clip)
        yield Video(path.stem, path, "bench", "t2v", prompt=path.stem), give
        count += 1
        if count == wanted:
            return
    for k in range(count, wanted):
        yield Video(f"drawn{k}", Path(f"drawn{k}"), "bench", "t2v", prompt="blotches"), lambda k=k: drawn(k)


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--judgements", type=int, default=500)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--decode", action="store_true")
    parser.add_argument("--serve", action="store_true")
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(given.seconds))
        return
    command = [sys.executable, __file__, "--serve", "--seconds", str(given.seconds)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    cache = Path(tempfile.mkdtemp(prefix="pvbench-bench-"))
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        measure(given, url, cache)
    finally:
        server.terminate()
        shutil.rmtree(cache, ignore_errors=True)


def measure(given: argparse.Namespace, url: str, cache: Path) -> None:
    """Ask ahead, collect in order as a test run would, and print what was measured."""
    dimensions = [d for d in load().dimensions if d.rubric is not None and d.expectation != "reference"]
    sources = list(videos(given.folder, -(-given.judgements // len(dimensions)), given.decode))
    pairs = [(v, clip, d) for v, clip in sources for d in dimensions][: given.judgements]
    settings = settings_from(url=url, model=MODEL, concurrency=given.concurrency)
    assert settings is not None
    service = JudgeService(settings, lambda v: hashlib.sha256(v.id.encode()).hexdigest(), lambda v: [cache])
    service.connect()
    watch = Watch()
    watch.start()
    start, cpu = time.monotonic(), time.process_time()
    service.ask_ahead(Ask(v, clip, None, d) for v, clip, d in pairs)
    for video, clip, dimension in pairs:
        assert service(video, clip, None, dimension).score == 4
    seconds, used = time.monotonic() - start, time.process_time() - cpu
    watch.over.set()
    watch.join()
    service.close()
    ideal = len(pairs) / given.concurrency * given.seconds
    half = len(watch.samples) // 2
    first, second = max(watch.samples[:half]), max(watch.samples[half:])
    print(
        f"{len(pairs)} judgements of {len(sources)} videos, {len(dimensions)} dimensions, {given.concurrency} at a time"
    )
    print(f"{seconds:.1f} s against an ideal of {ideal:.1f} s: {ideal / seconds:.0%} of the ideal rate (target 85 %)")
    print(f"{used:.1f} s of CPU in this process, {1000 * used / len(pairs):.0f} ms a judgement")
    print(f"memory: peak {first:.0f} MB in the first half, {second:.0f} MB in the second (target: within 10 %)")
    print("\n".join(service.lines()))
    service.remove()


if __name__ == "__main__":
    main()
