"""Makes the small videos and folders that the tests of `pvbench_suite.video` read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np


@dataclass(frozen=True)
class Group:
    """A prompt group as the layouts see it."""

    id: str
    prompt: str = ""
    dimensions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    """A prompt suite as the layouts see it."""

    groups: tuple[Group, ...]
    files: Mapping[str, str] = field(default_factory=dict)

    def get(self, group_id: str) -> Group | None:
        return next((group for group in self.groups if group.id == group_id), None)


def suite(*ids: str, **prompts: str) -> Suite:
    """Return a suite of groups with the given ids, and of groups with the given prompts."""
    return Suite(tuple(Group(i, f"prompt of {i}") for i in ids) + tuple(Group(i, p) for i, p in prompts.items()))


def pictures(count: int = 6, size: tuple[int, int] = (48, 64)) -> list[np.ndarray]:
    """Return images (h, w, 3) whose brightness grows with the index, with a white mark in the upper left corner."""
    images = []
    for k in range(count):
        image = np.full((*size, 3), 20 + 20 * (k % 10), np.uint8)
        image[: size[0] // 4, : size[1] // 4] = 255
        images.append(image)
    return images


def write(
    path: Path,
    images: Sequence[np.ndarray],
    *,
    fps: int | Fraction = 10,
    pts: Iterable[int] | None = None,
    codec: str = "libx264",
    pix_fmt: str = "yuv444p",
    options: Mapping[str, str] = {"crf": "0", "preset": "ultrafast"},
    rotation: tuple[float, bool, bool] | None = None,
    aspect: Fraction | None = None,
    audio: bool = False,
    container_options: Mapping[str, str] = {},
) -> Path:
    """Write images as a video; `pts` in units of 1 / (10 fps) gives a variable rate."""
    with av.open(str(path), "w", options=dict(container_options)) as container:
        stream = container.add_stream(codec, rate=fps, options=dict(options) if codec == "libx264" else {})
        stream.height, stream.width = images[0].shape[:2]
        stream.pix_fmt = pix_fmt
        tick = Fraction(1, int(fps) * 10)
        stream.codec_context.time_base = tick
        if aspect:
            stream.codec_context.sample_aspect_ratio = aspect
        if rotation:
            stream.set_display_rotation(rotation[0], hflip=rotation[1], vflip=rotation[2])
        if audio:
            sound = container.add_stream("aac", rate=48000)
        stamps = list(pts) if pts is not None else [10 * k for k in range(len(images))]
        for k, image in enumerate(images):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
            frame.pts, frame.time_base = stamps[k], tick
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
        if audio:
            for k in range(60):
                silence = av.AudioFrame.from_ndarray(np.zeros((2, 1024), np.float32), format="fltp", layout="stereo")
                silence.sample_rate, silence.pts = 48000, k * 1024
                for packet in sound.encode(silence):
                    container.mux(packet)
            for packet in sound.encode():
                container.mux(packet)
    return path


def damage(path: Path) -> Path:
    """Spoil the length prefix of the 13th frame of an H.264 MP4; its container stays whole."""
    with av.open(str(path)) as container:
        packet = [p for p in container.demux(video=0) if p.size][12]
        at = packet.pos
    assert at is not None
    data = bytearray(path.read_bytes())
    data[at : at + 4] = b"\x7f\xff\xff\xff"
    path.write_bytes(data)
    return path


def write_sound(path: Path) -> Path:
    """Write an MP4 with sound only."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=48000)
        for k in range(20):
            frame = av.AudioFrame.from_ndarray(np.zeros((2, 1024), np.float32), format="fltp", layout="stereo")
            frame.sample_rate, frame.pts = 48000, k * 1024
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def write_image(path: Path, image: np.ndarray) -> Path:
    """Write one PNG or JPEG."""
    codec, pix_fmt = ("png", "rgb24") if path.suffix == ".png" else ("mjpeg", "yuvj444p")
    encoder = av.CodecContext.create(codec, "w")
    assert isinstance(encoder, av.VideoCodecContext)
    encoder.height, encoder.width = image.shape[:2]
    encoder.pix_fmt, encoder.time_base = pix_fmt, Fraction(1, 25)
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24").reformat(format=pix_fmt)
    frame.pts = 0
    path.write_bytes(b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode()]))
    return path


def fill(root: Path, names: Iterable[str], content: bytes = b"not looked at") -> Path:
    """Make a folder with files of the given names; layouts look at names only."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def by_id(manifest: Any) -> dict[str, Any]:
    """Return the videos of a manifest by id, which must be unique within a modality."""
    videos = {(video.modality, video.id): video for video in manifest.videos}
    assert len(videos) == len(manifest.videos)
    return {video.id: video for video in manifest.videos}
