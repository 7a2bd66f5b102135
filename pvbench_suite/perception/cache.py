"""The perception cache: one safetensors file per (video, product), keyed by content.

It is written atomically and checked on read.

The key is the sha256 of the video's bytes, the product, the provider's identity (name with revision, parameters and
the identities of what
it reads), the decode specification and the schema version; never a path or a stem.  Two workers may race: both write
the same record beside the target and rename.  A file whose digest does not hold is reported and made again.  No pickle.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
from pydantic import TypeAdapter, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from pvbench_suite.files import write_atomic
from pvbench_suite.perception.protocol import Profile, Provider
from pvbench_suite.perception.types import RECORDS, SCHEMA_VERSION, Array, Record, RecordError

#: What a decoded clip is; a change of the decoder's output must change this.
DECODE_SPEC = "pyav-rgb-640@1"


def identity(profile: Profile, product: str) -> str:
    """Return the id of the provider of `product`: its name, and a digest of its parameters and of what it reads.

    Examples
    --------
    ``embedded-flow@1#5f0c9a1e``
    """
    provider: Provider = profile.providers[product]
    inputs = {need: identity(profile, need) for need in provider.needs}
    content = json.dumps([dict(provider.parameters), inputs, DECODE_SPEC, SCHEMA_VERSION], sort_keys=True)
    return f"{provider.name}#{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def key(digest: str, product: str, provider: str) -> str:
    """Return the cache key (sha256 hex) of one product of one video by one provider identity."""
    return hashlib.sha256("\n".join([digest, product, provider]).encode()).hexdigest()


def _content_digest(tensors: Mapping[str, Array], plain: str) -> str:
    state = hashlib.sha256(plain.encode())
    for name in sorted(tensors):
        array = tensors[name]
        state.update(f"{name}:{array.dtype}:{array.shape};".encode())
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def dump(record: Record, provenance: Mapping[str, str]) -> bytes:
    """Return the safetensors bytes of `record`; `provenance` goes into the metadata."""
    arrays = {name: getattr(record, name) for name in record.array_fields()}
    tensors = {name: np.ascontiguousarray(a) for name, a in arrays.items() if a is not None}
    plain = json.dumps({name: getattr(record, name) for name in record.plain_fields()}, sort_keys=True)
    meta = {
        **provenance,
        "product": record.product,
        "schema": str(SCHEMA_VERSION),
        "plain": plain,
        "digest": _content_digest(tensors, plain),
    }
    return bytes(save(tensors, metadata=meta))


def parse(path: Path, product: str) -> Record:
    """Return the record in the file at `path`.

    Raises
    ------
    RecordError
        If the file is not a whole record of that product: torn, altered, of another schema, or of wrong shapes.
    """
    kind = RECORDS[product]
    try:
        with safe_open(path, framework="numpy") as file:
            meta = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        if meta.get("product") != product or meta.get("schema") != str(SCHEMA_VERSION):
            raise RecordError(f"holds {meta.get('product')!r} of schema {meta.get('schema')!r}")
        if meta.get("digest") != _content_digest(tensors, meta.get("plain", "")):
            raise RecordError("its digest does not hold")
        hints = get_type_hints(kind)
        plain = json.loads(meta["plain"])
        values = {name: TypeAdapter(hints[name]).validate_python(_tuples(plain[name])) for name in kind.plain_fields()}
        return kind(**{name: tensors.get(name) for name in kind.array_fields()}, **values)
    except (SafetensorError, OSError, KeyError, ValueError, TypeError, ValidationError) as error:
        raise RecordError(f"cannot be read: {error}") from None


class Cache:
    """Folders that are read in order; the first is written.

    Parameters
    ----------
    folders : sequence of Path
        Read in this order.
    write : bool
        Whether the first folder may be written (a read-only model directory is read all the same).
    """

    def __init__(self, folders: Sequence[Path], *, write: bool = True) -> None:
        self.folders = tuple(folders)
        self.write = write
        self.hits = 0
        self.made = 0
        #: One line per corrupt file that was found, for the run's notes.
        self.notes: list[str] = []

    @staticmethod
    def relative(digest: str, product: str, provider: str) -> Path:
        """Return where a product stands inside a cache folder."""
        return Path(digest[:2]) / digest / f"{product}-{key(digest, product, provider)[:24]}.safetensors"

    def find(self, digest: str, product: str, provider: str) -> Path | None:
        """Return the file of a product, or None; nothing is read."""
        relative = self.relative(digest, product, provider)
        return next((folder / relative for folder in self.folders if (folder / relative).is_file()), None)

    def load(self, digest: str, product: str, provider: str) -> Record | None:
        """Return the cached record, or None where there is none or it is corrupt (noted)."""
        relative = self.relative(digest, product, provider)
        for folder in self.folders:
            path = folder / relative
            if not path.is_file():
                continue
            try:
                record = parse(path, product)
            except RecordError as error:
                self.notes.append(f"cache file {path} {error}; it is made again")
                continue
            self.hits += 1
            return record
        return None

    def store(self, digest: str, provider: str, record: Record) -> None:
        """Write `record` into the first folder (beside, then renamed)."""
        self.made += 1
        if not self.write or not self.folders:
            return
        path = self.folders[0] / self.relative(digest, record.product, provider)
        write_atomic(path, dump(record, {"provider": provider, "video": digest}))
