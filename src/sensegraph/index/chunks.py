"""Documents to chunks: token windows with exact spans (edge2024 §3.1.1; G01, G02, N01)."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from sensegraph.errors import InputError, SettingsError
from sensegraph.language.blocks import read_text
from sensegraph.language.collapsing import collapse_blanks
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import count_tokens, decode_tokens, encode_tokens
from sensegraph.protocols import Chunker
from sensegraph.runtime.keys import chunk_id
from sensegraph.runtime.results import Results, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Document

_SLACK = 0.15  # the last part of a window in which a sentence or word border is looked for
_FEW = 8  # characters a token: of a longer text it is not tried whether it is one window
_NEAR = 0.2  # the share of tokens besides the pieces up to which pieces are counted for tokens
_CHAIN = 64  # tokens that begin and end inside characters, one after another: of more it is not told which are where
_RUN = re.compile(r"\s*\S{1,32}|\s+")
_SPACE = re.compile(r"\s+")
_JOINED = re.compile(  # two characters of one grapheme: line ends, joiners, modifiers, tags, conjoining Hangul
    "\r\n|\u200d.|.[\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u1160-\u11ff\ud7b0-\ud7fb]"
    "|[\u1100-\u115f\ua960-\ua97c][\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3]",
    re.DOTALL,
)
_VIRAMA = 9  # its combining class
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")


def cut_documents(documents: Results[Document], rt: Runtime, *, size: int, overlap: int) -> Results[tuple[Chunk, ...]]:
    """The chunks of each document: by the chunker of the runtime, else windows of `size` tokens (see `chunk`)."""
    if rt.chunker is not None:
        return rt.each(chunk_by, documents)
    return rt.each(chunk_documents, documents, size=size, overlap=overlap)


@step("chunks.chunk_by", version=5, uses="chunker")
def chunk_by(documents: Sequence[Document], *, chunker: Chunker) -> list[tuple[Chunk, ...]]:
    """Cut each document where `chunker` says; spans of white space alone are left out.

    Raises InputError for spans that are not inside their document, or do not come in order.
    """
    split = [_split_at_figures(d) for d in documents]
    parts = [part for own in split for part in own]
    name, cut = type(chunker).__name__, chunker.chunk([replace(part.document, text=part.text) for part in parts])
    if len(cut) != len(parts):
        raise InputError(f"The chunker {name} cut {len(cut)} documents where {len(parts)} were given.")
    found: list[list[Chunk]] = []
    for part, spans in zip(parts, cut, strict=True):
        last = (0, 0)
        for start, end in spans:
            if not 0 <= start < end <= len(part.text) or (start, end) < last:
                raise InputError(
                    f"The chunker {name} gave the span {start}:{end} after {last[0]}:{last[1]} for "
                    f"{part.document.id!r}, which has {len(part.text)} characters; spans lie inside, in order."
                )
            last = start, end
        read = read_text(part.text)
        texts = [(start, end, read[start:end]) for start, end in dict.fromkeys(map(tuple, spans))]
        found.append([part.make_chunk(read, a, b, count_tokens(text)) for a, b, text in texts if text.strip()])
    made = iter(found)
    return [tuple(chunk for _ in own for chunk in next(made)) for own in split]


@step("chunks.chunk", version=7)
def chunk_documents(documents: Sequence[Document], *, size: int, overlap: int) -> list[tuple[Chunk, ...]]:
    """Cut each document into windows of at most `size` tokens that share about `overlap` tokens.

    A window ends at a sentence end, or else a word end, where one lies in its last 15 %. A rest of at most `overlap`
    tokens is no chunk of its own, which would say little new: the last window takes it in, so that it alone can hold
    `size + overlap` tokens. No grapheme is cut but one that is longer than a window. An empty document has no chunk.
    The text of a chunk is that of its span as it is read (see `language.blocks`), and of a run of blanks one counts:
    so a text gives the same chunks however it is wrapped. What a model told of a figure is cut by itself.
    """
    if not 0 <= overlap < size:
        raise SettingsError(f"chunk_overlap ({overlap}) must be at least 0 and below chunk_tokens ({size}).")
    made = []
    for document in documents:
        found: list[Chunk] = []
        for part in _split_at_figures(document):
            read = read_text(part.text)
            collapsed = collapse_blanks(read)
            windows = [w for w in _cut_windows(collapsed.text, size, overlap) if collapsed.text[w[0] : w[1]].strip()]
            found += (part.make_chunk(read, *collapsed.to_source(a, b), count) for a, b, count in windows)
        made.append(tuple(found))
    return made


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a document's text that is cut by itself: what the source says, or what a model told of a figure."""

    document: Document
    first: int
    text: str

    def make_chunk(self, read: str, start: int, end: int, count: int) -> Chunk:
        """The chunk of a span of this part, of which `read` is the text as it is read."""
        document, text, place = self.document, read[start:end], self.first + start
        return Chunk(
            chunk_id(document.id, place, text), document.id, place, self.first + end, count, text, document.title
        )


def _split_at_figures(document: Document) -> list[_Part]:
    """The text of the source, and what was told of each figure: no chunk holds words of both."""
    figures, text = document.figures, document.text
    heads = (f.head - 2 if text.endswith("\n\n", 0, f.head) else f.head for f in figures)  # an empty line before it
    starts, ends = [0, *(f.start for f in figures)], [*heads, len(text)]
    return [_Part(document, a, text[a:b]) for a, b in zip(starts, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A text in pieces: one token each, or the few that begin and end inside characters and are whole together.

    `ends` are the character offsets at which pieces end, `sums` the tokens up to there. Where nearly every piece is
    one token, pieces are counted for tokens, so that a few rare characters move no window.
    """

    ends: Sequence[int]
    sums: Sequence[int]

    def at(self, place: int) -> int:
        """The piece that holds the character at `place`."""
        return bisect_left(self.ends, place + 1)

    def after(self, first: int, room: int) -> int:
        """Where `room` tokens end that begin with the piece `first`, which counts in any case."""
        last = max(first, min(first + room, len(self.ends)) - 1)
        before = self.sums[first - 1] if first else 0
        if self.sums[last] - before > room * (1 + _NEAR):
            last = max(first, bisect_right(self.sums, before + room, first, last) - 1)
        return self.ends[last]

    def before(self, end: int, room: int) -> int:
        """Where `room` tokens begin that end at `end`."""
        last = bisect_left(self.ends, end)
        first = max(0, last - room)
        if self.sums[last] - self.sums[first] > room * (1 + _NEAR):
            first = bisect_left(self.sums, self.sums[last] - room, first, last)
        return min(end, self.ends[first])


def _cut_windows(text: str, size: int, overlap: int) -> Iterator[tuple[int, int, int]]:
    """(start, end, tokens) of each window."""
    if not text.strip():
        return
    whole = size + overlap
    if len(text) <= _FEW * whole and (count := count_tokens(text)) <= whole:
        yield 0, len(text), count
        return
    pieces = _pieces_of(text)
    start = reached = 0
    while True:
        if len(pieces.ends) - pieces.at(start) <= whole and (count := count_tokens(text[start:])) <= whole:
            yield start, len(text), count
            return
        end, count = _end_of_window(text, pieces, start, size)
        if end > reached:  # not what the window before holds already: small windows with a large overlap
            yield start, end, count
        if end >= len(text):
            return
        # the next begins about `overlap` tokens before, at the start of a word; one grapheme behind this one at least
        back = pieces.before(end, overlap) if overlap else end
        space = _SPACE.search(text, max(0, back - 1), end)
        place = space.end() if space and space.end() < end else back
        while inside_grapheme(text, place, start):
            place -= 1
        if place <= start:
            place = start + 1
            while place < end and inside_grapheme(text, place, start):
                place += 1
        reached, start = max(reached, end), place


def _end_of_window(text: str, pieces: _Pieces, start: int, size: int) -> tuple[int, int]:
    """Where the window from `start` ends, and its tokens (a slice can count more than it did in the whole)."""
    first, room = pieces.at(start), size
    while True:
        end = hard = pieces.after(first, room)
        if hard < len(text):
            soft = pieces.after(first, int(room * (1 - _SLACK)))
            end = _with_whole_graphemes(text, start, _last_border(text, soft, hard, start), size)
        count = count_tokens(text[start:end])
        if count <= size:
            return end, count
        if room <= 1:  # not even a piece fits: one grapheme
            end = _with_whole_graphemes(text, start, start + 1, size)
            return end, count_tokens(text[start:end])
        room -= max(1, count - size)


def _with_whole_graphemes(text: str, start: int, end: int, size: int) -> int:
    """`end`, or the next place before it that cuts no grapheme.

    Where one grapheme is all there is, its end; where that is more than `size` tokens, `end`.
    """
    place = end
    while inside_grapheme(text, place, start):
        place -= 1
    if place > start:
        return place
    whole = end
    while whole <= start + _FEW * size and inside_grapheme(text, whole, start):
        whole += 1
    return whole if count_tokens(text[start:whole]) <= size else end


def inside_grapheme(text: str, place: int, start: int = 0) -> bool:
    """Whether a cut before the character at `place` parts what readers see as one character (after UAX #29).

    `start` is a place where a grapheme begins: nothing before it is looked at.
    """
    if not start < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if before < "\u0300" and after < "\u0300":
        return before == "\r" and after == "\n"
    if unicodedata.category(after).startswith("M") or _JOINED.fullmatch(text, place - 1, place + 1):
        return True
    if unicodedata.combining(before) == _VIRAMA:  # a consonant without its vowel, joined to the next in Indic scripts
        return unicodedata.category(after) == "Lo"
    if not (_FLAG.match(before) and _FLAG.match(after)):
        return False
    first = place  # of the letters in a row, two and two of which are flags
    while first > start and _FLAG.match(text[first - 1]):
        first -= 1
    return (place - first) % 2 == 1


def _last_border(text: str, soft: int, hard: int, start: int) -> int:
    """The last sentence end in `soft:hard`, else the last word end there, else `hard`."""
    tail = max(start, soft - 400)
    stops = [tail + stop for _, stop in split_sentences(text[tail:hard])[:-1] if tail + stop > soft]
    if stops:
        return stops[-1]
    spaces = [m.start() for m in _SPACE.finditer(text, soft, hard)]
    return spaces[-1] if spaces else hard


def _pieces_of(text: str) -> _Pieces:
    """The pieces of `text` as it is encoded."""
    lengths: list[int] = []
    pending: list[int] = []
    joint: list[tuple[int, int]] = []  # the pieces that are more than one token, and their tokens
    for number in encode_tokens(text):
        piece = _decode_token(number) if not pending else None
        if piece is None:
            pending.append(number)
            if len(pending) > _CHAIN:
                return _spread_tokens(text)
            if (piece := decode_tokens(pending)) is None:
                continue
            if len(pending) > 1:
                joint.append((len(lengths), len(pending)))
            pending = []
        lengths.append(len(piece))
    ends = list(accumulate(lengths))
    if not joint:
        return _Pieces(ends, range(1, len(ends) + 1))
    counts = [1] * len(ends)
    for place, count in joint:
        counts[place] = count
    return _Pieces(ends, list(accumulate(counts)))


def _spread_tokens(text: str) -> _Pieces:
    """The pieces of `text` about as it is encoded: the tokens of each short run are spread over its characters."""
    ends: list[int] = []
    sums: list[int] = []
    for run in _RUN.finditer(text):
        start, length, count = run.start(), len(run[0]), count_tokens(run[0])
        before, parts = sums[-1] if sums else 0, min(length, count)
        ends += (start + length * i // parts for i in range(1, parts + 1))
        sums += (before + count * i // parts for i in range(1, parts + 1))
    return _Pieces(ends, sums)


@lru_cache(maxsize=200_000)
def _decode_token(number: int) -> str | None:
    return decode_tokens([number])
