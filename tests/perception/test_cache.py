"""The perception cache: content keys, atomic writes, checked reads, racing workers."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pvbench_suite.errors import NotPerceived
from pvbench_suite.perception.cache import Cache, dump, identity, parse
from pvbench_suite.perception.engine import Perception
from pvbench_suite.perception.protocol import Profile
from pvbench_suite.perception.types import RECORDS, Bodies, Interpolation, Masks, Record, RecordError, Tracks
from pvbench_suite.video.types import Clip, Video

SHA = "ab" * 32


def interpolation(scale: float = 1.0) -> Interpolation:
    """Return a small record."""
    return Interpolation(np.arange(3.0), np.array([1.0, np.nan, 2.0]) * scale, np.ones(3), (4, 6))


@dataclass
class Counted:
    """A provider that counts its calls."""

    product: str = "interpolation"
    name: str = "counted@1"
    needs: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 0

    def __call__(self, clip: Clip, records: Mapping[str, Any]) -> Record:
        self.calls += 1
        return interpolation()


def profile(*providers: Counted) -> Profile:
    """Return a profile of the given providers."""
    return Profile("test", {p.product: p for p in providers}, None, "a test", remedy="none")


def perception(folder: Path, made: Profile) -> Perception:
    """Return a perception over one video whose clip must not be needed."""

    def clip(video: Video) -> Clip:
        raise AssertionError("decoded without need")

    return Perception(made, Cache([folder]), clip, lambda video: SHA)


VIDEO = Video("v", Path("v.mp4"), "m", "t2v")


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    """Arrays bit for bit, NaN and None included; plain fields with their types."""
    dense = np.random.default_rng(1).random((4, 2, 9, 7)) > 0.5
    masks = Masks.from_dense(np.arange(4.0), dense, ("ball", "box"), (90, 70))
    tracks = Tracks(np.arange(2.0), np.zeros((2, 0, 2)), np.zeros((2, 0), bool), np.zeros(0, int), (), (4, 5))
    for record in (masks, tracks, interpolation()):
        path = tmp_path / "x.safetensors"
        path.write_bytes(dump(record, {"provider": "p"}))
        back = parse(path, record.product)
        for name in record.array_fields():
            np.testing.assert_array_equal(getattr(back, name), getattr(record, name))
        assert [getattr(back, n) for n in record.plain_fields()] == [getattr(record, n) for n in record.plain_fields()]
    back = parse(_written(tmp_path, masks), "masks")
    assert isinstance(back, Masks)
    assert (back.dense(3, 1) == dense[3, 1]).all()


def _written(folder: Path, record: Record) -> Path:
    path = folder / "y.safetensors"
    path.write_bytes(dump(record, {}))
    return path


def test_a_record_refuses_wrong_shapes_and_says_wanted_and_got() -> None:
    """The message names record, field, wanted and got."""
    with pytest.raises(RecordError, match=r"Interpolation.error: wanted shape \(M\) = \(3\), got \(2,\)"):
        Interpolation(np.arange(3.0), np.zeros(2), np.zeros(3), (4, 6))
    n, t = np.zeros((2, 1)), np.arange(2.0)
    three, two = np.zeros((2, 1, 3)), np.zeros((2, 1, 2))
    with pytest.raises(RecordError, match=r"Bodies.diameter: wanted shape \(N\) = \(1\)"):
        Bodies(t, three, two, n, n, n.astype(bool), np.ones(2), ("a",), ("sphere",), (4, 5))


def test_a_product_is_made_once_and_then_read(tmp_path: Path) -> None:
    """Read-through: a second perception finds the file."""
    provider = Counted()
    for _ in range(2):
        perception(tmp_path, profile(provider)).get(VIDEO, "interpolation")
    assert provider.calls == 1


@pytest.mark.parametrize(
    "change",
    [{"name": "counted@2"}, {"parameters": {"levels": 4}}],
    ids=["another revision", "another parameter"],
)
def test_a_changed_provider_has_another_key(tmp_path: Path, change: dict[str, Any]) -> None:
    """Nothing made by one provider is taken for another's."""
    provider = Counted()
    perception(tmp_path, profile(provider)).get(VIDEO, "interpolation")
    changed = replace(provider, calls=0, **change)
    perception(tmp_path, profile(changed)).get(VIDEO, "interpolation")
    assert changed.calls == 1


def test_a_changed_input_changes_what_is_derived_from_it() -> None:
    """Identities chain through `needs`."""
    derived = Counted(product="bodies", needs=("interpolation",))
    before = identity(profile(Counted(), derived), "bodies")
    after = identity(profile(Counted(name="counted@2"), derived), "bodies")
    assert before != after


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "text", "other product"])
def test_a_corrupt_file_is_made_again_and_said(tmp_path: Path, damage: str) -> None:
    """A damaged file never reaches a kernel."""
    provider = Counted()
    perception(tmp_path, profile(provider)).get(VIDEO, "interpolation")
    (path,) = tmp_path.rglob("*.safetensors")
    raw = bytearray(path.read_bytes())
    if damage == "flip":
        raw[-3] ^= 0x40
    contents = {"cut": bytes(raw[:-9]), "flip": bytes(raw), "empty": b"", "text": b"not a tensor file"}
    path.write_bytes(contents.get(damage) or dump(Tracks(
        np.arange(2.0), np.zeros((2, 1, 2)), np.ones((2, 1), bool), np.zeros(1, int), ("a",), (4, 5)
    ), {}) if damage != "empty" else b"")  # fmt: skip
    again = perception(tmp_path, profile(provider))
    np.testing.assert_array_equal(again.get(VIDEO, "interpolation").outer, np.ones(3))
    assert provider.calls == 2
    assert len(again.cache.notes) == 1
    assert "made again" in again.cache.notes[0]
    assert perception(tmp_path, profile(provider)).get(VIDEO, "interpolation") is not None
    assert provider.calls == 2


def _write_many(folder: str) -> None:
    cache = Cache([Path(folder)])
    for _ in range(60):
        cache.store(SHA, "counted@1", interpolation())


def test_two_workers_may_race(tmp_path: Path) -> None:
    """Both write beside and rename: a reader never sees half a file, and nothing is left over."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_write_many, args=(str(tmp_path),)) for _ in range(2)]
    for worker in workers:
        worker.start()
    cache = Cache([tmp_path])
    seen = 0
    while any(worker.is_alive() for worker in workers):
        seen += cache.load(SHA, "interpolation", "counted@1") is not None
    assert not cache.notes
    assert seen
    assert [p.suffix for p in tmp_path.rglob("*") if p.is_file()] == [".safetensors"]


def test_the_second_folder_is_read_and_not_written(tmp_path: Path) -> None:
    """Ground truth that a model folder ships is found behind another cache folder."""
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    Cache([shipped]).store(SHA, "counted@1", interpolation())
    cache = Cache([own, shipped])
    assert cache.load(SHA, "interpolation", "counted@1") is not None
    cache.store(SHA, "counted@2", interpolation())
    assert len(list(shipped.rglob("*.safetensors"))) == 1


def test_a_product_that_the_profile_lacks_says_the_remedy(tmp_path: Path) -> None:
    """Not perceived is a state with a way out."""
    with pytest.raises(NotPerceived, match="does not make 'depth'; none"):
        perception(tmp_path, profile(Counted())).get(VIDEO, "depth")


@pytest.mark.parametrize("product", sorted(RECORDS))
def test_every_record_promises_shapes_for_its_arrays(product: str) -> None:
    """The cache knows a record by its two kinds of field."""
    kind = RECORDS[product]
    assert kind.array_fields()
    assert set(kind.array_fields()) | set(kind.plain_fields()) == {f.name for f in fields(kind)}
