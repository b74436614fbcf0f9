"""Blocks of a text: paragraphs, headings, items, rows, code; with lines that were wrapped joined again.

A text as it is read has as many characters as its source, so that a span counts the same in both: where a line was
only wrapped, its end is blanks; where a block ends, it is a line end. So every other part of the package may take a
line end for the end of a block. What a word needs to be whole again moves to the left inside its paragraph (the
rest of a word behind a hyphen at a line's end; lines of Chinese and Japanese, which have no blanks between words), with
the blanks behind it: `locate_in_source` finds such a span again.

Whether a text is wrapped is told by one statistic. A program that fills lines up to a width W leaves, for a line and
the one behind it, len(line) <= W < len(line) + 1 + len(first word behind). The W that fits most pairs is the right
margin. A text is wrapped when that W explains many pairs, and many of the second lines begin with a small letter.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sensegraph.language.speakers import find_labels
from sensegraph.language.transcripts import find_speakers, observe_talk

MARKDOWN = "markdown"
"""The form of a text with headings, fences or links as Markdown has them; other texts are plain."""

_BLANKS = " \t\r\v\xa0\u3000\ufeff"
_MARKED_UP = re.compile(r"(?:\A|\n\s*\n)#{1,6} \S[^\n]*\n\s*\n|(?:\A|\n)(?:```|~~~)[\w+-]*\n|\]\([\w./#:][^\s()]*\)")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\u3000-\u303f]")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\u3001-\u303f]")
_ITEM = re.compile(r"(?:[-*+•‣◦▪·–]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]|\[\d{1,3}\])[ \t]+(?=\S)")
_HEADING = re.compile(r"#{1,6}[ \t]+(?=\S)")
_UNDERLINE = re.compile(r"([=\-~^\"'*+.`_#])\1{2,}[ \t]*$")
_FENCE = re.compile(r"```+|~~~+")
_QUOTED = re.compile(r"(?:>[ ]?)+")
_GAPS = re.compile(r" {3,}|\t+")
_SYMBOL = re.compile(r"[{}()\[\];=<>|\\$&@#%*/_^`~+]")
_COMMAND = re.compile(r"(?:\$|%|#|>>>|\.\.\.|[\w.-]+@[\w.-]+[:#$])[ \t]+\S")
_URL = re.compile(r"\S*://\S*")
_MANUAL = re.compile(r"\(\d\w{0,2}\)")  # of a manual: tar(1)
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}\.? +[A-Z][a-z]+(?: \S+){0,8}$")
_PAGE_NUMBER = re.compile(r"[\W]*(?:Page )?#[\W]*")
_DIGITS = re.compile(r"\d+")
_FIRST = re.compile(r"\S+")
_COMPOUND = re.compile(r"\w+(?:-\w+)*")
_SUSPENDED = re.compile(r"(?:und|oder|bzw|sowie|and|or|to|nor|et|ou|y|o|e|ed|en|of|och|i|lub|и|или)\b")
_YAML = re.compile(r"\ufeff?---[ \t]*\r?\n(?:[^\n]*\n){0,2000}?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)")
_TOML = re.compile(r"\ufeff?\+\+\+[ \t]*\r?\n(?:[^\n]*\n){0,2000}?\+\+\+[ \t]*(?:\r?\n|$)")
_LABELLED = 0.1  # share of lines with a colon in front, and with labels that come back, of what may be a transcript
_LABEL = 60  # characters in which that colon stands
_FIELD_LINE = re.compile(r"(?:[\w$-][\w .$-]*:(?:\s|$)|[ \t]|- |#|\[|\]|\r?$)|[\w.-]+ *=")
_MAIL_FIELD = re.compile(r"([A-Z][A-Za-z-]{1,40}):[ \t]")
_MAIL_FIELDS = frozenset(
    "from to cc bcc subject date reply-to message-id in-reply-to references sender received mime-version content-type "
    "content-transfer-encoding return-path list-id user-agent x-mailer newsgroups organization".split()
)
_STOPS = frozenset(".!?:;。！？；：؟۔।։")
_ENDS = frozenset(".!?。！？؟۔।։;,:、，")
_CLOSERS = "\"'”’»)]*_`"
_RULED = frozenset("-=*_+~#.|: \t\r")
_HYPHENS = ("-", "‐", "\u00ad")
_SLACK = 8  # columns by which a line may fall short of the margin
_LEAST_PAIRS = 4
_LEAST_WRAPPED = 0.15  # of (share explained by the margin) × (share that begins with a small letter)
_PROSE = frozenset(("text", "item", "quote"))


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a text: `kind` is paragraph, turn, heading, item, quote, code, row or header; a span of the text."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is read, as long as its source, and its blocks in order."""

    text: str
    blocks: tuple[Block, ...]


@dataclass(slots=True)
class _Line:
    """A line without the blanks around it; `column` is where it ends, `mark` the length of the sign that opens it.

    `turn` says that a speaker's label opens it, in a transcript.
    """

    start: int
    text: str
    indent: int
    column: int
    paged: bool
    kind: str = "text"
    mark: int = 0
    fenced: bool = False
    turn: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def said(self) -> str:
        """The line behind its mark."""
        return self.text[self.mark :].lstrip() if self.mark else self.text

    @property
    def stopped(self) -> bool:
        """Whether the line ends with a mark that ends a sentence or a clause."""
        return self.text.rstrip(_CLOSERS)[-1:] in _STOPS


def read_blocks(text: str) -> Reading:
    """`text` as it is read, and its blocks.

    The result has the length of `text`; its line ends are ends of blocks, and of lines of code and of tables.
    """
    header = find_header(text)
    body = " " * header + text[header:] if header else text
    if "\r" in body:
        body = body.replace("\r\n", " \n").replace("\r", "\n")
    lines = _split_lines(body)
    if len(lines) < 2:
        return Reading(body, tuple(Block("paragraph", line.start, line.end) for line in lines if line.text))
    form = MARKDOWN if _MARKED_UP.search(body, header) else ""
    _classify(lines, form)
    _find_turns(body, lines)
    wrapping = _measure_wrapping(lines)
    if wrapping.wrapped and not form:
        _mend_prose(lines, wrapping)
    found = list(_group_lines(lines, form, wrapping))
    return Reading(_write_text(body, lines, found), tuple(_list_blocks(header, found, wrapping)))


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


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _split_lines(text: str) -> list[_Line]:
    """The lines of a text; a form feed ends a line and begins a page."""
    found: list[_Line] = []
    place = 0
    for page, part in enumerate(text.split("\f")):
        first = page > 0
        for raw in part.split("\n"):
            body = raw.strip(_BLANKS)
            lead = len(raw) - len(raw.lstrip(_BLANKS)) if body else 0
            indent = len(raw[:lead].expandtabs(8)) if "\t" in raw[:lead] else lead
            found.append(_Line(place + lead, body, indent, indent + _width(body), first))
            first = False
            place += len(raw) + 1
    return found


def _width(text: str) -> int:
    """Columns on a screen: two for each ideograph."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))


def _classify(lines: Sequence[_Line], form: str) -> None:
    """What each line is by itself."""
    fence = ""
    for number, line in enumerate(lines):
        text = line.text
        if fence:
            line.kind, line.fenced = "code", True
            if text.startswith(fence):
                fence = ""
        elif not text:
            line.kind = "blank"
        elif not text[0].isalpha() and (match := _FENCE.match(text)):
            fence, line.kind, line.fenced = match[0], "code", True
        else:
            _classify_line(lines, number, form)
    _find_furniture(lines)
    if form == MARKDOWN:
        _find_indented_code(lines)


def _classify_line(lines: Sequence[_Line], number: int, form: str) -> None:
    line, text = lines[number], lines[number].text
    if not text[0].isalpha():
        if line.indent < 4 and (match := _HEADING.match(text)):
            line.kind, line.mark = "heading", match.end()
            return
        before = lines[number - 1] if number else line
        if number and before.text and before.kind in ("text", "item") and _UNDERLINE.match(text):
            line.kind = "rule"
            if not _RULED.issuperset(before.text) and (
                number < 2 or lines[number - 2].kind in ("blank", "rule", "heading")
            ):
                before.kind = "heading"
            return
        if len(text) > 2 and not text[0].isalnum() and _RULED.issuperset(text):
            line.kind = "rule"
            return
        if match := _QUOTED.match(text):
            line.kind, line.mark = "quote", match.end()
            return
    if ("|" in text and (" | " in text or text.count("|") > 2)) or (
        ("   " in text or "\t" in text) and _in_columns(text)
    ):
        line.kind = "row"
    elif (not text[0].isalpha() or text[1:2] in (".", ")") or text[:6].lower().strip("ivx")[:1] in (".", ")")) and (
        match := _ITEM.match(text)
    ):
        line.kind, line.mark = "item", match.end()
    elif form != MARKDOWN and _is_code(line):
        line.kind = "code"


def _in_columns(text: str) -> bool:
    """Whether a line has three cells or more; justified prose has wide gaps too, but many words between them."""
    cells = [cell for cell in _GAPS.split(text) if cell]
    return len(cells) > 2 and sum(len(cell.split()) for cell in cells) <= 3.5 * len(cells)


def _is_code(line: _Line) -> bool:
    text = line.text
    if line.indent and _COMMAND.match(text):
        return True
    if "://" in text:
        text = _URL.sub("", text) or "x"
    text = _MANUAL.sub("", text)
    signs = len(_SYMBOL.findall(text))
    if signs < 3:
        return False
    return signs > 0.12 * len(text) or (line.indent >= 4 and signs > 0.06 * len(text) and text[-1] in "{};\\)>,=")


def _find_furniture(lines: Sequence[_Line]) -> None:
    """Heads and feet of pages: lines beside a page break that repeat but for their digits."""
    pages = [number for number, line in enumerate(lines) if line.paged]
    if len(pages) < 3:
        return
    where: dict[str, set[int]] = {}
    for page in pages:
        behind = [n for n in range(page, min(page + 8, len(lines))) if lines[n].text][:2]
        before = [n for n in range(page - 1, max(page - 9, -1), -1) if lines[n].text][:2]
        for number in (*behind, *before):
            where.setdefault(_DIGITS.sub("#", " ".join(lines[number].text.split())), set()).add(number)
    for shape, numbers in where.items():
        if len(numbers) >= max(3, 0.4 * len(pages)) or _PAGE_NUMBER.fullmatch(shape):
            for number in numbers:
                lines[number].kind = "furniture"


def _find_indented_code(lines: Sequence[_Line]) -> None:
    """Code of Markdown: lines indented by four behind a blank line, outside of lists."""
    before, item = "blank", -1
    for line in lines:
        if line.kind == "text" and line.indent >= 4 and before in ("blank", "code") and not -1 < item < line.indent:
            line.kind = "code"
        if line.kind == "item":
            item = line.indent
        elif line.kind == "text" and line.indent == 0:
            item = -1
        if line.kind != "blank":
            before = "code" if line.kind == "code" else "other"
        elif before != "code":
            before = "blank"


def _find_turns(text: str, lines: Sequence[_Line]) -> None:
    """The lines that a label opens, where the text is a transcript: each begins a turn, however it is wrapped."""
    full = [line for line in lines if line.text]
    labelled = [
        line for line in full if line.kind == "text" and (":" in line.text[:_LABEL] or "：" in line.text[:_LABEL])
    ]
    if len(labelled) < max(_LEAST_PAIRS, _LABELLED * len(full)):
        return
    labels = find_labels(text)
    counts = Counter(label.key for label in labels if label.named)
    if sum(n for n in counts.values() if n > 1) < _LABELLED * len(full):
        return
    if find_speakers(observe_talk(text, labels)):
        starts = {label.start for label in labels if label.named}
        for line in labelled:
            line.turn = line.start in starts


# ── wrapping ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Wrapping:
    """The right margin of a text, and whether its lines are wrapped there."""

    margin: int = 0
    wrapped: bool = False

    def fills(self, line: _Line, behind: str) -> bool:
        """Whether the first word of `behind` had no room in the line any more."""
        return line.column + 1 + _first_width(behind) > self.margin - _SLACK


def _first_width(text: str) -> int:
    match = _FIRST.match(text)
    if match is None:
        return 0
    return 2 if _UNSPACED.match(match[0]) else _width(match[0])


def _measure_wrapping(lines: Sequence[_Line]) -> _Wrapping:
    """The margin that explains most pairs of lines, and whether enough pairs speak for it."""
    steps: Counter[int] = Counter()
    pairs = small = cased = marked = 0
    for line, behind in pairwise(lines):
        if line.kind not in _PROSE or behind.kind not in ("text", "quote") or (behind.kind == "quote" != line.kind):
            continue
        said = behind.said
        pairs += 1
        steps[line.column] += 1
        steps[line.column + 1 + _first_width(said) + _SLACK] -= 1
        small += said[:1].islower()
        cased += said[:1].lower() != said[:1].upper()
        marked += line.stopped
    if pairs < _LEAST_PAIRS:
        return _Wrapping()
    best = now = margin = 0
    for column in sorted(steps):
        now += steps[column]
        if now > best:
            best, margin = now, column
    share = best / pairs
    enough = share * small / max(1, cased) >= _LEAST_WRAPPED
    if small > 0.9 * cased and marked < 0.05 * pairs:  # a chat without capitals and marks begins every line small
        enough = share >= 0.8
    return _Wrapping(margin, enough or (cased < 0.2 * pairs and share >= 0.6))


def _mend_prose(lines: Sequence[_Line], wrapping: _Wrapping) -> None:
    """Take lines of a wrapped paragraph that look like code or a table by their signs for what they are."""
    for number, line in enumerate(lines):
        if line.kind not in ("code", "row") or line.fenced or line.text.count(" ") < 2:
            continue
        near = [lines[n] for n in (number - 1, number + 1) if 0 <= n < len(lines)]
        alike = [one for one in near if one.kind == "text" and one.indent == line.indent]
        before = number > 0 and lines[number - 1] in alike and not lines[number - 1].stopped
        behind = number + 1 < len(lines) and lines[number + 1] in alike and lines[number + 1].text[0].islower()
        if (before and wrapping.fills(lines[number - 1], line.text)) or (
            behind and not line.stopped and wrapping.fills(line, lines[number + 1].text)
        ):
            line.kind = "text"


def _goes_on(line: _Line, behind: _Line, form: str, wrapping: _Wrapping, many: bool) -> bool:
    """Whether the line `behind` goes on with the paragraph of `line`, with nothing between them."""
    said = behind.said
    if not said:
        return False
    if form == MARKDOWN:
        return True
    small, stopped = said[0].islower(), line.stopped
    if stopped and len(said) < 70 and said[-1] not in ".,;:" and _SECTION.match(said):
        return False
    if many and line.indent != behind.indent and not small:
        return False
    if wrapping.wrapped and wrapping.fills(line, said):
        return True
    return small and not stopped and (wrapping.wrapped or line.column >= 40)


def _joins(
    now: Sequence[_Line], kind: str, line: _Line, gap: bool, paged: bool, form: str, wrapping: _Wrapping
) -> bool:
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
        if kind == "quote" or not wrapping.wrapped or last.stopped:
            return False
        small = line.text[0].islower()
        if line.kind == "row":  # justified prose
            return small and last.column > wrapping.margin - 2 * _SLACK
        if line.kind == "item":  # a wrapped line that only happens to begin with "1999. " or "a) "
            alike = line.text[0] not in "-*+•‣◦▪·–" and last.indent == line.indent and last.kind == "text"
            return alike and wrapping.fills(last, line.text)
        return False
    if line.kind != "text" or kind not in ("paragraph", "item") or not line.text[0].islower() or last.stopped:
        return False
    if paged:
        return True
    if form == MARKDOWN or not wrapping.wrapped:
        return False
    hyphen = last.text[-1] in "-‐" and last.text[-2:-1].isalpha()  # over the end of a column
    return hyphen or (last.text[-1].isalnum() and wrapping.fills(last, line.text))


def _group_lines(lines: Sequence[_Line], form: str, wrapping: _Wrapping) -> Iterator[tuple[str, list[_Line]]]:
    """The lines of each block, with its kind."""
    now: list[_Line] = []
    kind, gap, paged = "", False, False
    for line in lines:
        paged = paged or line.paged or line.kind == "furniture"
        if line.kind in ("blank", "furniture"):
            gap = True
            continue
        if line.kind == "rule":
            if now:
                yield kind, now
            now, gap = [], False
            continue
        if now and _joins(now, kind, line, gap, paged, form, wrapping):
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


def _list_blocks(header: int, found: Sequence[tuple[str, Sequence[_Line]]], wrapping: _Wrapping) -> Iterator[Block]:
    if header:
        yield Block("header", 0, header)
    for kind, lines in found:
        single = kind == "paragraph" and len(lines) == 1 and _is_title(lines[0].text)
        yield Block("turn" if lines[0].turn else "heading" if single else kind, lines[0].start, lines[-1].end)


def _is_title(text: str) -> bool:
    """Whether a line that stands alone is a heading: short, without a mark at its end, not beginning small."""
    return len(text) < 80 and text.rstrip(_CLOSERS)[-1:] not in _ENDS and not text[0].islower() and text.count(" ") < 12


# ── the text as it is read ───────────────────────────────────────────────────────────────────────────────────────────


def _write_text(text: str, lines: Sequence[_Line], found: Sequence[tuple[str, Sequence[_Line]]]) -> str:
    """`text` with blanks for what joins wrapped lines, and without furniture."""
    words: Counter[str] | None = None
    parts: list[str] = []
    place = 0

    def put(start: int, end: int, what: str) -> None:
        nonlocal place
        parts.append(text[place:start])
        parts.append(what.ljust(end - start))
        place = end

    edits: list[tuple[int, int, str]] = [(li.start, li.end, "") for li in lines if li.kind == "furniture"]
    for kind, held in found:
        if len(held) < 2 or kind in ("code", "row"):
            continue
        shifted = start = 0
        moved = ""
        for before, line in pairwise(held):
            begin = line.start + len(line.text) - len(line.said)
            last = before.text[-1]
            if moved or (_UNSPACED.match(last) and _UNSPACED.match(line.said)):
                if not moved:
                    start, shifted = before.end, 1
                glue = "" if _UNSPACED.match(last) and _UNSPACED.match(line.said) else " "
                moved += glue + line.said
                continue
            if last in _HYPHENS and before.text[-2:-1].isalpha() and line.said[:1].islower():
                if words is None:
                    words = Counter(m[0] for m in _COMPOUND.finditer(text.lower()))
                first = _FIRST.match(line.said)
                assert first is not None
                dropped = last == "\u00ad" or _drops_hyphen(before.text, line.said, words)
                if not _SUSPENDED.match(line.said):
                    edits.append((before.end - dropped, begin + first.end(), first[0]))
                    continue
            edits.append((before.end, begin, ""))
        if shifted:
            edits.append((start, held[-1].end, moved))
    for begin, end, what in sorted(edits):
        if begin >= place:
            put(begin, end, what)
    parts.append(text[place:])
    return "".join(parts).replace("\f", "\n")


def _drops_hyphen(before: str, behind: str, words: Counter[str]) -> bool:
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


def locate_in_source(source: str, start: int, read: str, first: int, last: int) -> tuple[int, int]:
    """The span of `source` for `read[first:last]`, where `read` is a part of it as it is read, from `start` on.

    Nearly always `start + first, start + last`; where characters moved to the left, the place where they stand.
    """
    if source[start + first : start + last] == read[first:last]:
        return start + first, start + last
    line = read.rfind("\n", 0, first) + 1  # what moves, moves inside its block
    places = _align(source, start + line, read[line:last])
    inside = [places[i] for i in range(first - line, last - line) if i in places]
    return (inside[0], inside[-1] + 1) if inside else (start + first, start + last)


def _align(source: str, start: int, read: str) -> dict[int, int]:
    """For each character of `read` but blanks its place in `source`; what was dropped there is passed over."""
    places: dict[int, int] = {}
    here = start
    for i, character in enumerate(read):
        if character in " \n":
            continue
        here = max(here, start + i)
        found = source.find(character, here)
        if found < 0:
            return places
        places[i] = found
        here = found + 1
    return places


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A text with every run of white space as one blank, one line end or two; `places` lead to where it comes from.

    `starts` are where pieces begin in `text`, `places` where they begin in the source.
    """

    text: str
    starts: Sequence[int] = (0,)
    places: Sequence[int] = (0,)

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """The span of the source for a span of the text."""
        return self._back(start), self._back(end)

    def from_source(self, place: int) -> int:
        """The place in the text for a place in the source; inside of a run of blanks, the end of what is left of it."""
        piece = bisect_right(self.places, place) - 1
        here = self.starts[piece] + place - self.places[piece]
        return min(here, self.starts[piece + 1]) if piece + 1 < len(self.starts) else here

    def _back(self, place: int) -> int:
        piece = bisect_right(self.starts, place) - 1
        return self.places[piece] + place - self.starts[piece]


def collapse_blanks(text: str) -> Collapsed:
    """`text` without its runs of white space: what it is whatever columns it was wrapped at."""
    starts, places, parts = [0], [0], []
    place = size = 0
    for match in _RUNS.finditer(text):
        what = "\n" * min(match[0].count("\n"), 2) or " "
        if what == match[0]:
            continue
        parts += [text[place : match.start()], what]
        size += match.start() - place + len(what)
        place = match.end()
        starts.append(size)
        places.append(place)
    if not parts:
        return Collapsed(text)
    parts.append(text[place:])
    return Collapsed("".join(parts), starts, places)


_RUNS = re.compile(r"\s{2,}|[\t\v\r\xa0\u3000]")
