"""Bytes made shorter by zstd, and read again; also what versions before this one made shorter by zlib."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence

from backports import zstd

LONGEST = 1 << 28  # bytes that are made shorter, so that what is read back cannot become much more than that
_FRAME = b"\x28\xb5\x2f\xfd"  # how zstd begins
_LEAST_START = 8  # bytes of a beginning that zstd takes
_LITTLE = 1 << 15  # bytes up to which to begin anew costs much of what there is to do


class _Kept(threading.local):
    """Of each thread what has made little shorter, by its level: it can do so again."""

    def __init__(self) -> None:
        self.by_level: dict[int, zstd.ZstdCompressor] = {}


_KEPT = _Kept()


class Unreadable(Exception):
    """Bytes that were not made shorter here, or not all of them."""


def shorten(content: bytes, level: int, start: bytes = b"") -> bytes:
    """`content` made shorter, the slower the higher the level (1 to 19); `start` is read as if it stood before it."""
    if start or len(content) > _LITTLE:
        return zstd.compress(content, level, zstd_dict=_stand_before(start))
    return shorten_each([content], level)


def shorten_each(parts: Sequence[bytes], level: int) -> bytes:
    """What lies together made shorter, each part by what is frequent in it; to be read again as a whole."""
    if (again := _KEPT.by_level.pop(level, None)) is None:
        again = zstd.ZstdCompressor(level)
    again.set_pledged_input_size(whole := sum(map(len, parts)))
    found = [again.compress(part, again.FLUSH_BLOCK) for part in parts[:-1]]
    found.append(again.compress(parts[-1], again.FLUSH_FRAME))
    if whole <= _LITTLE:  # what has shortened more holds more memory
        _KEPT.by_level[level] = again  # one that failed is not used again
    return b"".join(found)


def lengthen(shorter: bytes, start: bytes = b"", most: int | None = None) -> bytes:
    """What was made shorter, of at most `most` bytes (else LONGEST). Raises Unreadable."""
    most = LONGEST if most is None else most
    opened = zstd.ZstdDecompressor(_stand_before(start)) if shorter[:4] == _FRAME else zlib.decompressobj(zdict=start)
    try:
        content = opened.decompress(shorter, most + 1)
    except (zstd.ZstdError, zlib.error) as e:
        raise Unreadable(str(e)) from e
    if not opened.eof or opened.unused_data or len(content) > most:
        raise Unreadable(f"cut, or more than {most} bytes")
    return content


def _stand_before(start: bytes) -> tuple[zstd.ZstdDict, int] | None:
    return zstd.ZstdDict(start, is_raw=True).as_prefix if len(start) >= _LEAST_START else None
