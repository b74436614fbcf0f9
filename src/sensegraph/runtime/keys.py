"""Content keys: equal content, equal key, on every machine and in every run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import msgspec

from sensegraph.protocols import Store

_SIZE = 20  # bytes of a key
_MANY = 1 << 16  # keys from which they are packed
_AT_ONCE = 1 << 12  # packed keys that are made texts at once
_DIGITS = re.compile("[0-9a-f]*").fullmatch
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
    if not "".join(names).encode("utf-8", "surrogatepass").isalnum():  # what JSON writes as it is
        return [key(first, name) for name in names]
    begun, keys = hashlib.blake2b(encode_canonical((first, ""))[:-2], digest_size=20), list[str]()
    for name in names:
        made = begun.copy()
        made.update(name.encode() + b'"]')
        keys.append(made.hexdigest())
    return keys


class PackedKeys(Sequence[str]):
    """Keys as a tuple has them, but held as 20 bytes each: as texts of their own many would take five times that."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    def __len__(self) -> int:
        return len(self._packed) // _SIZE

    def __iter__(self) -> Iterator[str]:
        for at in range(0, len(self), _AT_ONCE):
            yield from self[at : at + _AT_ONCE]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedKeys):
            return self._packed == other._packed
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        places = range(len(self))[index]
        if isinstance(places, int):
            return self._packed[_SIZE * places : _SIZE * (places + 1)].hex()
        if places.step != 1:
            return tuple(self[place] for place in places)
        digits = self._packed[_SIZE * places.start : _SIZE * places.stop].hex()
        return tuple([digits[at : at + 2 * _SIZE] for at in range(0, len(digits), 2 * _SIZE)])


def pack_keys(keys: Sequence[str]) -> Sequence[str]:
    """These keys: very many packed, few as a tuple, and as they are where they are made or packed already."""
    if isinstance(keys, NamedKeys | PackedKeys):
        return keys
    if len(keys) >= _MANY:
        digits = "".join(keys)
        if len(digits) == 2 * _SIZE * len(keys) and all(len(k) == 2 * _SIZE for k in keys) and _DIGITS(digits):
            return PackedKeys(bytes.fromhex(digits))
    return tuple(keys)


class NamedKeys(Sequence[str]):
    """`key(first, name)` of each name, as a tuple has them, but made when they are asked for."""

    def __init__(self, first: str, names: Sequence[str]) -> None:
        self.first, self.names = first, names

    @cached_property
    def _every(self) -> Sequence[str]:
        return pack_keys(name_each(self.first, self.names))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._every)

    def __eq__(self, other: object) -> bool:
        return self._every == (tuple(other) if isinstance(other, NamedKeys) else other)

    def __hash__(self) -> int:
        return hash(self._every)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if "_every" in vars(self):
            found: str | tuple[str, ...] = self._every[index]  # type: ignore[assignment]
            return found
        if isinstance(index, slice):
            return tuple(name_each(self.first, self.names[index]))
        return key(self.first, self.names[index])


class WholeName(str):
    """`key` of the keys of the parts of a whole, where it is given in the place of these."""


def name_whole(names: Sequence[str] | WholeName) -> list[str] | None:
    """What stands for a whole of parts with these keys."""
    if not names:
        return None
    return [names if isinstance(names, WholeName) else key(*names)]


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
