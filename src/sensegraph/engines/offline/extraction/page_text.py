"""A document put together from its chunks, its language, its sentences and their words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import msgspec

from sensegraph.language.text import detect_script, split_sentences
from sensegraph.types import Chunk

LONGEST = 1200  # characters of a sentence; longer ones (tables, text without stops) are cut at white space
_BLOCK = 20_000
_FILLING = re.compile(r"[^\S\n]{40,}|[.!?…\"'”’»)\]]{40,}")  # blanks and leaders: they split, and cost no time
_LETTERS = re.compile(r"[^\W\d_]+")
TOKEN = re.compile(r"[^\W_]+(?:['’.\-&][^\W_]+)*|[^\w\s]|_+")
_SCANNED = 40_000
_CODED = re.compile(r"[\d/@_\\{\[]|\.\w{2,5}\b|www")
_FILE = "txt|pdf|docx?|html?|mp[34]|wav|jpe?g|png|gif|csv|tsv|xlsx?|pptx?|json|xml|md|py|zip|srt|vtt"
_CODE = re.compile(
    rf"\b(?:https?://|www\.)[^\s<>\"”]{{1,300}}|[\w.+\-]{{1,60}}@[\w\-]{{1,60}}(?:\.\w{{2,20}}){{1,4}}\b"
    rf"|[\w.\-()]{{1,120}}\.(?:{_FILE})\b|\w{0, 60}[^\W_]_[^\W_]\w{0, 60}"
    r"|\{[^{}\n]{1,40}\}|\[(?-i:[A-Z ]){2,30}\]"  # marks of a transcript
    r"|(?<!\w)(?:[A-Za-z]{1,4}\d+[-_]\d+|[A-Za-z]{1,6}[-_]?0\d+|(?:ep|vol|fig|ref|id|rev|ver|doc|no)[-_.]?\d+)(?![\w])",
    re.IGNORECASE,
)


class Word(msgspec.Struct, frozen=True, gc=False):  # made for every word: a dataclass takes five times as long
    """A word or mark with its place in the document."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Page:
    """A document as one text; `base` is where it begins in the source, `spans` its sentences."""

    text: str
    base: int
    title: str
    language: str
    spans: tuple[tuple[int, int], ...]


def make_page(chunks: Sequence[Chunk]) -> Page:
    """The document behind `chunks`: text that chunks share appears once, missing text as line ends."""
    text, base = join_chunks(chunks)
    title = next((c.title for c in chunks if c.title), "")
    return Page(text, base, title, detect_script(text), tuple(split_spans(text)))


def join_chunks(chunks: Sequence[Chunk]) -> tuple[str, int]:
    """The text that the chunks cover, and where it begins in the document."""
    ordered = sorted(chunks, key=lambda c: (c.start, c.end))
    base = end = ordered[0].start if ordered else 0
    parts = []
    for chunk in ordered:
        if chunk.start > end:
            parts.append("\n" * (chunk.start - end))
            end = chunk.start
        if chunk.start + len(chunk.text) > end:
            parts.append(chunk.text[end - chunk.start :])
            end = chunk.start + len(chunk.text)
    return "".join(parts), base


def split_spans(text: str) -> list[tuple[int, int]]:
    """Sentences of `text`; long blanks and text without stops cost linear time."""
    text = _FILLING.sub(lambda m: "\n" * len(m[0]), text)
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = _find_cut(text, start, _BLOCK)
        for a, b in split_sentences(text[start:end]):
            first, last = start + a, start + b
            while last - first > LONGEST:
                cut = _find_cut(text, first, LONGEST)
                found.append((first, cut))
                first = cut
            found.append((first, last))
        start = end
    return found


def _find_cut(text: str, start: int, size: int) -> int:
    """Where to end a block of about `size` characters: after a line end if there is one, else a blank, else there."""
    end = start + size
    if end >= len(text):
        return len(text)
    for mark in ("\n", " "):
        cut = text.rfind(mark, start + size // 2, end)
        if cut > 0:
            return cut + 1
    return end


def locate_words(text: str, start: int, end: int) -> list[Word]:
    """Words and marks of one sentence."""
    return [Word(m[0], *m.span()) for m in TOKEN.finditer(text, start, end)]


def lower_words(words: Sequence[Word]) -> list[str]:
    """The words in lower case."""
    return " ".join(w.text for w in words).lower().split(" ") if words else []  # at once: no word holds a blank


def count_capitals(words: Sequence[Word], capitals: list[str], lowers: list[str], inside: bool = False) -> None:
    """Lists the capitals inside a sentence and its lower-case words; `inside` says that the words do not open it."""
    texts = [t for w in words if (t := w.text)[0].isalpha()]
    lowers += [t for t in texts if t.islower() and len(t) > 1]
    capitals += [t.lower() for t in texts[0 if inside else 1 :] if t[0].isupper() and len(t) > 1]


def find_codes(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of what machines read: addresses, names of files, identifiers ("EP-12"), marks ("{pause}", "[MUSIC]")."""
    return [m.span() for m in _CODE.finditer(text, start, end)] if _CODED.search(text, start, end) else []


def hash_sentence(text: str) -> tuple[int, int, int]:
    """Hashes of a sentence, of its first and of its last eight words; 0 where it has too few words."""
    parts = _LETTERS.findall(text)
    whole = _hash_words(parts) if len(parts) >= 4 else 0
    return whole, *((_hash_words(parts[:8]), _hash_words(parts[-8:])) if len(parts) > 8 else (0, 0))


def _hash_words(parts: Sequence[str]) -> int:
    return crc32(" ".join(parts).lower().encode("utf-8", "surrogatepass")) or 1
