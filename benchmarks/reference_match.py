"""How well a first frame is told from another picture: ``python benchmarks/reference_match.py FOLDER...``.

Every picture or video in the folders gives one picture.  Its own: re-made as a generator would, with the kind that is
known, against itself.  Others: each against each of another scene; pictures whose names are alike up to the first
digit, or that the pairs at the end show to be one scene, are told apart by a person, so the highest are named.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pvbench_suite.video.decode import first
from pvbench_suite.video.placing import SAME_PICTURE, match
from pvbench_suite.video.types import First

SUFFIXES = (".png", ".mp4", ".webm", ".mov")


def remade(image: np.ndarray, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (kind, picture): what generators make of a reference (h, w, 3) uint8."""
    noise = np.random.default_rng(seed)
    high, wide = image.shape[:2]
    half = cv2.resize(image, (wide // 2, high // 2), interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(half, (0, 0), 1.2).astype(np.float32)
    worn = np.clip(soft * (0.8, 0.9, 0.7) + 20 + noise.normal(0, 6, soft.shape), 0, 255).astype(np.uint8)
    yield "same", image
    yield "scaled", half
    yield "scaled", worn
    for share in (0.05, 0.1, 0.2):
        dy, dx = round(high * share / 2), round(wide * share / 2)
        yield "cropped", cv2.resize(image[dy : high - dy, dx : wide - dx], (wide, high))
    yield "cropped", image[: round(high * 0.7), : round(wide * 0.7)]
    yield "cropped", image[:, wide // 2 - high // 3 : wide // 2 + high // 3]
    if wide < 1.1 * high:
        return  # what follows would leave a square as it is
    yield "stretched", cv2.resize(image, (high, high), interpolation=cv2.INTER_AREA)
    boxed = np.zeros((wide, wide, 3), np.uint8)
    boxed[(wide - high) // 2 : (wide - high) // 2 + high] = image[:, :wide]
    yield "letterboxed", boxed


def as_first(image: np.ndarray) -> First:
    """Return a picture as decoding gives it."""
    return First(np.ascontiguousarray(image), image.shape[:2], still=True)


def main(folders: list[str]) -> None:
    """Print the two distributions."""
    paths = [p for f in folders for p in sorted(Path(f).iterdir()) if p.suffix in SUFFIXES]
    pictures = {p.stem: first(p) for p in paths}
    right: Counter[str] = Counter()
    own: list[tuple[float, str, str]] = []
    for seed, (name, found) in enumerate(pictures.items()):
        if found.hw[0] > found.hw[1]:
            continue  # the ways above are written for landscape
        for kind, image in remade(found.image, seed):
            got = match(found, as_first(image))
            if got.similarity is not None:
                own.append((got.similarity, name, f"{kind} -> {got.label}"))
            right[f"{kind} -> {got.kind}"] += 1
    others = [
        (got.similarity, a, b)
        for a, one in pictures.items()
        for b, two in pictures.items()
        if a != b and (got := match(one, two)).similarity is not None
    ]
    print(f"{len(pictures)} pictures; threshold {SAME_PICTURE}")
    print("own, kinds:", dict(sorted(right.items())))
    print("own, lowest:", *(f"  {s:.3f} {n} {k}" for s, n, k in sorted(own)[:12]), sep="\n")
    values = [s for s, _, _ in others]
    print(f"others: {len(values)} pairs, median {np.median(values):.3f}, 95 % below {np.percentile(values, 95):.3f}")
    print("others, highest:", *(f"  {s:.3f} {a} {b}" for s, a, b in sorted(others)[::-1][:40]), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
