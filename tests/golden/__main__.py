"""``python -m tests.golden DIR``: print each failed case, then ``N passed, M failed``; exit 1 on any failure."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.golden.runner import run


def main(argv: list[str]) -> int:
    """Return the exit status: 0 when every case passed, 1 when one failed or none was found, 2 on wrong usage."""
    if len(argv) != 1 or not Path(argv[0]).is_dir():
        sys.stderr.write("usage: python -m tests.golden DIR\n")
        return 2
    passed = failed = 0
    for outcome in run(Path(argv[0])):
        if outcome is None:
            passed += 1
        else:
            failed += 1
            sys.stdout.write(outcome + "\n")
    sys.stdout.write(f"{passed} passed, {failed} failed\n")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
