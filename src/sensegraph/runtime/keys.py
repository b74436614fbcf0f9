"""Content keys: equal content, equal key, on every machine and in every run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sensegraph.protocols import Store

_encode = msgspec.json.Encoder(order="deterministic").encode


def encode_canonical(value: Any) -> bytes:
    """The canonical form of plain values and dataclasses: JSON with sorted keys, UTF-8.

    Raises TypeError for what has no canonical form, naming its type.
    """
    try:
        return _encode(value)
    except (TypeError, msgspec.MsgspecError) as e:
        raise TypeError(f"{type(value).__name__} has no canonical form; pass plain values or dataclasses ({e})") from e


def key(*parts: Any) -> str:
    """40 hex digits of BLAKE2b over the canonical form of `parts`."""
    return hashlib.blake2b(encode_canonical(parts), digest_size=20).hexdigest()


def name_each(first: str, names: Sequence[str]) -> list[str]:
    """`key(first, name)` of each name."""
    if not "".join(names).isalnum():  # what JSON writes as it is
        return [key(first, name) for name in names]
    begun, keys = hashlib.blake2b(encode_canonical((first, ""))[:-2], digest_size=20), list[str]()
    for name in names:
        made = begun.copy()
        made.update(name.encode() + b'"]')
        keys.append(made.hexdigest())
    return keys


def hash_files(folder: Path, pattern: str = "*") -> str:
    """40 hex digits of BLAKE2b over the files of a folder that match: their places, their sizes and their bytes."""
    found = hashlib.blake2b(digest_size=20)
    for path in sorted(p for p in folder.glob(pattern) if p.is_file()):
        found.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\n".encode())
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def chunk_id(document: str, start: int, text: str) -> str:
    """The id of a chunk: 12 hex digits that all chunks of its document share, and 12 of its own."""
    return key("document", document)[:12] + key(start, text)[:12]


def document_part(chunk: str) -> str:
    """What tells the documents of two chunk ids apart, without looking them up."""
    return chunk[:12]


def note_keys_below(below: Mapping[str, Sequence[str]]) -> dict[str, bytes]:
    """What is stored to note of results, by their keys, those that their inputs were made from at first hand."""
    return {key(k, "below"): "".join(keys).encode() for k, keys in below.items()}


def read_keys_below(store: Store, keys: Sequence[str]) -> list[str]:
    """The keys of the results that the inputs of these results were made from, and of what says so, where it is."""
    found = store.read([key(k, "below") for k in keys])
    size = len(keys[0]) if keys else 1
    return [*found, *(below[i : i + size].decode() for below in found.values() for i in range(0, len(below), size))]
