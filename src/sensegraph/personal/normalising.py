"""A text as it is searched for personal data: signs as they are usually written, lines joined; and the way back.

A number that is written in full-width digits, with a percent sign for each blank, with signs of no width inside it or
over two lines is the same number. It is found in a view of the text, and its place in the text itself is known.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ENCODED = re.compile(
    r"(?P<percent>(?:%[0-9A-Fa-f]{2})+)|&#(?:(?P<decimal>[0-9]{2,7})|[xX](?P<hex>[0-9A-Fa-f]{2,6}));"
    r"|(?P<joined>[A-Za-z][\u0300-\u036f]+)|(?P<other>[^\x00-\x7f][\u0300-\u036f]*)"
)
_HYPHENS = frozenset("\u2010\u2011\u2212\ufe63\uff0d")
_KEPT = ("<super>", "<sub>", "<fraction>")  # x² is not x2
_BREAK = re.compile(r"(?<=\S)[ \t]*\r?\n[ \t>|]*(?=[^\s>|])")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class TextView:
    """A text, and for each of its characters where in the original it begins and ends; empty where nothing differs.

    `breaks` are the places at which two lines were joined.
    """

    text: str
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()
    breaks: Sequence[int] = ()

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of the view, which is not empty, stands in the original."""
        return (self.starts[start], self.ends[end - 1]) if self.starts else (start, end)

    def crosses(self, start: int, end: int) -> bool:
        """Whether two lines were joined inside this stretch."""
        first = bisect_left(self.breaks, start)
        return first < len(self.breaks) and self.breaks[first] < end

    def stands_alone(self, start: int, end: int) -> bool:
        """Whether nothing but this stretch stands in its lines: rows of a table, maybe."""
        first, last = bisect_left(self.breaks, start), bisect_left(self.breaks, end)
        before = self.text[self.breaks[first - 1] if first else 0 : start].rpartition("\n")[2]
        behind = self.text[end : self.breaks[last] if last < len(self.breaks) else None].partition("\n")[0]
        return not _LETTER.search(before + behind)


def normalise_signs(text: str) -> TextView:
    """The text with signs as they are usually written: NFKC, percent signs and entities decoded, none without width."""
    if text.isascii() and "%" not in text and "&#" not in text:
        return TextView(text)
    parts, starts, ends, at, changed = list[str](), list[int](), list[int](), 0, False
    for match in _ENCODED.finditer(text):
        if (made := list(_decode(match))) == [(match[0], *match.span())]:
            continue
        parts.append(text[at : match.start()])
        starts.extend(range(at, match.start()))
        ends.extend(range(at + 1, match.start() + 1))
        for sign, start, end in made:
            parts.append(sign)
            starts.extend([start] * len(sign))
            ends.extend([end] * len(sign))
        at, changed = match.end(), True
    if not changed:
        return TextView(text)
    starts.extend(range(at, len(text)))
    ends.extend(range(at + 1, len(text) + 1))
    return TextView("".join((*parts, text[at:])), starts, ends)


def join_lines(view: TextView) -> TextView:
    """The view with the lines of each paragraph joined by a blank, and words that were divided at their ends whole."""
    parts, starts, ends, breaks, at = list[str](), list[int](), list[int](), list[int](), 0
    text, size = view.text, 0

    def keep(start: int, end: int) -> None:
        nonlocal size
        parts.append(text[start:end])
        starts.extend(view.starts[start:end] if view.starts else range(start, end))
        ends.extend(view.ends[start:end] if view.starts else range(start + 1, end + 1))
        size += end - start

    for match in _BREAK.finditer(text):
        before, behind = text[match.start() - 1], text[match.end()]
        divided = before == "-" and behind.islower() and text[match.start() - 2 : match.start() - 1].isalpha()
        keep(at, match.start() - divided)
        breaks.append(size)
        if not divided and before not in "@-_" and behind != "@":
            parts.append(" ")
            start, end = view.place(*match.span())
            starts.append(start)
            ends.append(end)
            size += 1
        at = match.end()
    if not breaks:
        return view
    keep(at, len(text))
    return TextView("".join(parts), starts, ends, breaks)


def _decode(match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    """The signs that something written otherwise stands for, each with its place in the original."""
    start, end = match.span()
    if percent := match["percent"]:
        try:
            decoded = bytes.fromhex(percent.replace("%", "")).decode()
        except UnicodeDecodeError:
            decoded = ""
        if decoded.isprintable() and decoded:
            for sign in decoded:
                end = start + 3 * len(sign.encode())
                yield from ((made, start, end) for made in [_usual(sign)] if made)
                start = end
        else:
            yield percent, start, end
    elif match["decimal"] or match["hex"]:
        number = int(match["decimal"] or match["hex"], 10 if match["decimal"] else 16)
        sign = chr(number) if 32 <= number < 0x110000 and not 0xD800 <= number < 0xE000 else match[0]
        yield (sign if sign == match[0] else _usual(sign)), start, end
    elif made := _usual(match[0]):
        yield made, start, end


def _usual(sign: str) -> str:
    """A character, with its marks, as it is usually written; nothing for one that has no width."""
    if sign in _HYPHENS:
        return "-"
    kind = unicodedata.category(sign[0])
    if kind == "Cf" or sign[0] == "\u034f" or "\ufe00" <= sign[0] <= "\ufe0f":
        return sign[1:]
    if kind == "Zs":
        return " "
    return sign if unicodedata.decomposition(sign[0]).startswith(_KEPT) else unicodedata.normalize("NFKC", sign)
