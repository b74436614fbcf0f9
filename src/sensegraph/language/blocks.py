"""Blocks of a text: paragraphs, headings, items, rows, code; with lines that were wrapped joined again.

A text as it is read has as many characters as its source, so that a span counts the same in both: where a line was
only wrapped, its end is blanks; where a block ends, it is a line end. So every other part of the package may take a
line end for the end of a block. What a word needs to be whole again moves to the left inside its paragraph (the
rest of a word behind a hyphen at a line's end; lines of Chinese and Japanese, which have no blanks between words), with
the blanks behind it: `collapsing.locate_in_source` finds such a span again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from sensegraph.language.lines import CLOSERS, MARKDOWN, Line, classify_lines, split_lines
from sensegraph.language.speakers import find_labels
from sensegraph.language.transcripts import find_speakers, observe_talk
from sensegraph.language.wrapping import SLACK, UNSPACED, Wrapping, measure_wrapping, mend_prose

_MARKED_UP = {  # what stands in every text that the pattern finds, for it is found sooner
    "\n#": re.compile(r"\n\s*\n#{1,6} \S[^\n]*\n\s*\n"),
    "```": re.compile(r"(?:\A|\n)```[\w+-]*\n"),
    "~~~": re.compile(r"(?:\A|\n)~~~[\w+-]*\n"),
    "](": re.compile(r"\]\([\w./#:][^\s()]*\)"),
}
_TITLED = re.compile(r"#{1,6} \S[^\n]*\n\s*\n")
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}\.? +[A-Z][a-z]+(?: \S+){0,8}$")
_COMPOUND = re.compile(r"\w+(?:-\w+)*")
_SUSPENDED = re.compile(r"(?:und|oder|bzw|sowie|and|or|to|nor|et|ou|y|o|e|ed|en|of|och|i|lub|и|или)\b")
_YAML = re.compile(r"\ufeff?---[ \t]*\r?\n(?:[^\n]*\n){0,2000}?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)")
_TOML = re.compile(r"\ufeff?\+\+\+[ \t]*\r?\n(?:[^\n]*\n){0,2000}?\+\+\+[ \t]*(?:\r?\n|$)")
_FIELD_LINE = re.compile(r"(?:[\w$-][\w .$-]*:(?:\s|$)|[ \t]|- |#|\[|\]|\r?$)|[\w.-]+ *=")
_MAIL_FIELD = re.compile(r"([A-Z][A-Za-z-]{1,40}):[ \t]")
_MAIL_FIELDS = frozenset(
    "from to cc bcc subject date reply-to message-id in-reply-to references sender received mime-version content-type "
    "content-transfer-encoding return-path list-id user-agent x-mailer newsgroups organization".split()
)
_ENDS = frozenset(".!?。！？؟۔।։;,:、，")
_HYPHENS = frozenset("-‐\u00ad")
_ENTRY = re.compile(r"\w[\w.+/-]*(?: [\w.+/-]+){0,2} ?: ")  # what begins a field, or an entry of a log: "build: …"
_SIGNED = re.compile(r"-{1,2} \S.*<\S+@\S+>|.*\d\d:\d\d")
_FIRST = re.compile(r"\S+")
_NUMBER = re.compile(r"\d")
_LABELLED = 0.1  # share of lines with a colon in front, and with labels that come back, of what may be a transcript
_LEAST_LABELS = 4
_LABEL = 60  # characters in which that colon stands
_UNJOINED: set[int] = set()  # hashes of texts no lines of which are to be joined: several steps of a build read them
_MOST_UNJOINED = 1 << 14


class Block(msgspec.Struct, frozen=True, gc=False):
    """One block of a text: `kind` is paragraph, turn, heading, item, quote, code, row or header; a span of the text."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is read, as long as its source, and its blocks in order."""

    text: str
    blocks: tuple[Block, ...]


def read_text(text: str) -> str:
    """The text of `read_blocks`, which is found sooner once it is known that no lines of `text` are to be joined."""
    mark = hash(text)
    if mark in _UNJOINED:
        return _blank_header(text)[0].replace("\f", "\n")
    read = read_blocks(text).text
    if read == _blank_header(text)[0].replace("\f", "\n"):
        if len(_UNJOINED) >= _MOST_UNJOINED:
            _UNJOINED.clear()
        _UNJOINED.add(mark)
    return read


def read_blocks(text: str) -> Reading:
    """`text` as it is read, and its blocks.

    The result has the length of `text`; its line ends are ends of blocks, and of lines of code and of tables.
    """
    body, header = _blank_header(text)
    lines = split_lines(body)
    if len(lines) < 2:
        return Reading(body, tuple(Block("paragraph", line.start, line.end) for line in lines if line.text))
    marked_up = any(sign in body and pattern.search(body, header) for sign, pattern in _MARKED_UP.items())
    form = MARKDOWN if marked_up or _TITLED.match(body) else ""
    classify_lines(lines, form)
    _find_turns(body, lines)
    wrapping = measure_wrapping(lines)
    if wrapping.wrapped and not form:
        mend_prose(lines, wrapping)
    found = list(_group_lines(lines, form, wrapping))
    blocks = [Block("header", 0, header)] if header else []
    fields = _find_fields(body, found)
    for number, (kind, held) in enumerate(found):
        first = held[0]
        if first.turn:
            kind = "turn"
        elif kind == "paragraph" and len(held) == 1 and number not in fields:
            short = len(first.text) < 80 and first.text.count(" ") < 12 and not first.text[0].islower()
            if short and first.text.rstrip(CLOSERS)[-1:] not in _ENDS:
                kind = "heading"
        blocks.append(Block(kind, first.start, held[-1].end))
    return Reading(_write_text(body, lines, found), tuple(blocks))


def _blank_header(text: str) -> tuple[str, int]:
    """`text` with usual line ends and blanks for what stands in front of it, and how long that is."""
    header = find_header(text)
    body = " " * header + text[header:] if header else text
    return body.replace("\r\n", " \n").replace("\r", "\n") if "\r" in body else body, header


def _find_fields(text: str, found: Sequence[tuple[str, Sequence[Line]]]) -> set[int]:
    """The blocks that are fields ("Name: value"), by number: they stand right below one another, headings alone."""
    starts = [kind == "paragraph" and _ENTRY.match(held[0].text) is not None for kind, held in found]
    beside = (
        (i, i + 1)
        for i, (one, other) in enumerate(pairwise(found))
        if starts[i] and starts[i + 1] and text.count("\n", one[1][-1].end, other[1][0].start) == 1
    )
    return {number for pair in beside for number in pair}


def find_header(text: str) -> int:
    """Where the front matter or the header fields of a mail end that a text begins with; 0 where there are none."""
    if text[:3] in ("---", "+++") or text[1:4] == "---":
        match = (_YAML if "-" in text[:4] else _TOML).match(text)
        if match and all(_FIELD_LINE.match(line) for line in match[0].split("\n")[1:-2]):
            return match.end()
        return 0
    if not _MAIL_FIELD.match(text):
        return 0
    known, place = 0, 0
    for line in text.split("\n", 200)[:200]:
        field_name = _MAIL_FIELD.match(line)
        if field_name:
            known += field_name[1].lower() in _MAIL_FIELDS
        elif not line.strip() or line[0] not in " \t":
            break
        place += len(line) + 1
    return min(place, len(text)) if known > 1 else 0


def _find_turns(text: str, lines: Sequence[Line]) -> None:
    """The lines that a label opens, where the text is a transcript: each begins a turn, however it is wrapped."""
    wide = text.count("：")
    full = len([1 for line in lines if line.text])
    least = max(_LEAST_LABELS, _LABELLED * full)
    if wide + text.count(":") < least:
        return
    labelled = [
        line
        for line in lines
        if line.kind == "text" and (":" in line.text[:_LABEL] or (wide and "：" in line.text[:_LABEL]))
    ]
    if len(labelled) < least:
        return
    labels = find_labels(text)
    counts = Counter(label.key for label in labels if label.named)
    if sum(n for n in counts.values() if n > 1) < _LABELLED * full:
        return
    if find_speakers(observe_talk(text)):
        starts = {label.start for label in labels if label.named}
        for line in labelled:
            line.turn = line.start in starts


def _goes_on(line: Line, behind: Line, form: str, wrapping: Wrapping, many: bool) -> bool:
    """Whether the line `behind` goes on with the paragraph of `line`, with nothing between them."""
    said = behind.said
    if not said:
        return False
    if form == MARKDOWN:
        return True
    small = said[0].islower()
    if _ENTRY.match(said) and line.indent == behind.indent and _ENTRY.match(line.text):
        return False
    if behind.indent > line.indent and line.stopped and not small and not line.mark:
        return False
    if said[0].isdecimal() and len(said) < 70 and said[-1] not in ".,;:" and line.stopped and _SECTION.match(said):
        return False
    if many and line.indent != behind.indent and not small:
        return False
    short = 2 * behind.column < wrapping.margin and said.rstrip(CLOSERS)[-1:] not in _ENDS
    if small and line.stopped and short:  # a heading in small letters: prose ends with a mark
        return False
    if wrapping.wrapped and wrapping.fills(line, said):
        return True
    if behind.indent > line.indent and not line.mark:  # what stands below a heading or an option
        return False
    return small and (wrapping.wrapped or line.column >= 40) and not line.stopped


def _joins(now: Sequence[Line], kind: str, line: Line, gap: bool, paged: bool, form: str, wrapping: Wrapping) -> bool:
    """Whether a line belongs to the block of the lines `now`; `gap` and `paged` say what lies between."""
    last = now[-1]
    if line.turn:
        return False
    if not gap:
        if line.kind == kind and kind in ("code", "row"):
            return True
        if kind not in ("paragraph", "item", "quote"):
            return False
        if line.kind == "text":
            return (kind != "quote" or form == MARKDOWN) and _goes_on(last, line, form, wrapping, len(now) > 1)
        if line.kind == "quote":
            return kind == "quote" and _goes_on(last, line, form, wrapping, len(now) > 1)
        if kind == "quote" or not wrapping.wrapped:
            return False
        if line.kind == "row":  # justified prose
            return line.text[0].islower() and last.column > wrapping.margin - 2 * SLACK and not last.stopped
        if line.kind == "item" and line.text[0] not in "-*+•‣◦▪·–":  # one that only happens to begin with "1999. "
            alike = last.indent == line.indent and last.kind == "text" and not last.stopped
            return alike and wrapping.fills(last, line.text)
        return False
    if line.kind != "text" or kind not in ("paragraph", "item") or not line.text[0].islower() or last.stopped:
        return False
    if paged:
        return True
    if form == MARKDOWN or not wrapping.wrapped:
        return False
    hyphen = last.text[-1] in "-‐" and last.text[-2:-1].isalpha()  # over the end of a column
    if len(now) == 1 and _SIGNED.match(last.text):  # who made an entry of a log; the next one begins behind it
        return False
    return hyphen or (last.text[-1].isalnum() and wrapping.fills(last, line.text))


def _group_lines(lines: Sequence[Line], form: str, wrapping: Wrapping) -> Iterator[tuple[str, list[Line]]]:
    """The lines of each block, with its kind."""
    now: list[Line] = []
    kind, gap, paged = "", False, False
    for line, behind in zip(lines, (*lines[1:], None), strict=True):
        paged = paged or line.paged
        if line.kind == "blank":
            gap = True
            continue
        if line.kind == "furniture":
            gap = paged = True
            continue
        if line.kind == "rule":
            if now:
                yield kind, now
            now, gap = [], False
            continue
        # a heading in small letters: "version 1.33 - Ann Lee, 2021-01-07"
        alone = gap and (behind is None or behind.kind == "blank") and not line.stopped and _NUMBER.search(line.text)
        if now and not (alone and paged) and _joins(now, kind, line, gap, paged, form, wrapping):
            if line.kind == "item":
                line.mark = 0
            now.append(line)
        else:
            if now:
                yield kind, now
            now, kind = [line], "paragraph" if line.kind == "text" else line.kind
        gap = paged = False
    if now:
        yield kind, now


# ── the text as it is read ───────────────────────────────────────────────────────────────────────────────────────────


def _write_text(text: str, lines: Sequence[Line], found: Sequence[tuple[str, Sequence[Line]]]) -> str:
    """`text` with blanks for what joins wrapped lines, and without furniture."""
    words: Counter[str] | None = None
    edits: list[tuple[int, int, str]] = [(li.start, li.end, "") for li in lines if li.kind == "furniture"]
    for kind, held in found:
        if len(held) < 2 or kind in ("code", "row"):
            continue
        start, moved = 0, ""
        for before, line in pairwise(held):
            said, last = line.said, before.text[-1]
            begin = line.end - len(said)
            joined = last > "\u3000" and UNSPACED.match(last) and UNSPACED.match(said)
            if moved or joined:
                if not moved:
                    start = before.end
                moved += said if joined else f" {said}"
                continue
            if last in _HYPHENS and before.text[-2:-1].isalpha() and said[:1].islower():
                if words is None:
                    words = count_compounds(text)
                first = _FIRST.match(said)
                assert first is not None
                dropped = last == "\u00ad" or drops_hyphen(before.text, said, words)
                if not _SUSPENDED.match(said):
                    edits.append((before.end - dropped, begin + first.end(), first[0]))
                    continue
            edits.append((before.end, begin, ""))
        if moved:
            edits.append((start, held[-1].end, moved))
    parts: list[str] = []
    place = 0
    for begin, end, what in sorted(edits):
        if begin >= place:
            parts += text[place:begin], what.ljust(end - begin)
            place = end
    parts.append(text[place:])
    return "".join(parts).replace("\f", "\n")


def count_compounds(text: str) -> Counter[str]:
    """How often a text writes each word, with the hyphens inside it."""
    return Counter(_COMPOUND.findall(text.lower()))


def drops_hyphen(before: str, behind: str, words: Counter[str]) -> bool:
    """Whether the hyphen at a line's end only parts a word: as the rest of the text writes it, else yes."""
    left, right = re.search(r"[\w-]+$", before[:-1]), re.match(r"\w+", behind)
    if left is None or right is None:
        return False
    head, tail = left[0].lower().lstrip("-"), right[0].lower()
    last = head.rpartition("-")[2]
    if words[last + tail]:
        return True
    if words[f"{head}-{tail}"]:
        return False
    return not (words[last] > 1 and words[tail] > 1 and len(last) > 2 and len(tail) > 2)
