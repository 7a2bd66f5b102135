"""CPU of a run against bare pytest with as many items, in one go: ``python benchmarks/plugin_overhead.py [videos]``.

Nothing is perceived (the simulator profile without truth), so what is measured is planning, collection, recording,
journal and reports.
The budget of the design is 1.4 times bare CPU and 0.5 ms a pair.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pvbench_suite.dimensions import load  # noqa: E402
from tests.plugin.world import arguments, video  # noqa: E402


def cpu(command: list[str]) -> float:
    """Return the CPU seconds (user and system) of a child process."""
    # Without kept bytecode every run compiles, and pytest rewrites, all that it imports: 3 s that no installation pays.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def bare(folder: Path, files: int, items: int) -> list[str]:
    """Return the command of a bare pytest run of `files` modules with `items` parametrized tests each."""
    for k in range(files):
        (folder / f"test_{k:02}.py").write_text(
            "import pytest\n\n@pytest.fixture\ndef grade():\n    return print\n\n"
            f"@pytest.mark.parametrize('video', range({items}))\ndef test_x(video, grade):\n    pytest.skip('x')\n"
        )
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]


def main(videos: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "m"
        for k in range(videos):
            video(model / f"clip{k:04}.mp4", k)
        command = [sys.executable, "-m", "pytest", "-q", *arguments(model), "--pv-scope=all"]
        cpu(command)  # decodes and hashes once
        ours = cpu([*command, "--pv-no-resume"])
        again = cpu(command)
        planned = sum(d.expectation in ("none", "assumed") for d in load().dimensions)
        (folder / "bare").mkdir()
        theirs = cpu(bare(folder / "bare", planned, videos))
    pairs = planned * videos
    print(f"{pairs} pairs ({videos} videos x {planned} dimensions)")
    print(f"bare pytest            {theirs:7.2f} s CPU  {1000 * theirs / pairs:6.2f} ms a pair")
    print(f"suite, all pairs       {ours:7.2f} s CPU  {1000 * ours / pairs:6.2f} ms a pair  ratio {ours / theirs:.2f}")
    print(f"suite, once more       {again:7.2f} s CPU")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
