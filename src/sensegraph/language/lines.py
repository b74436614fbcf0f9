"""The lines of a text: what each is by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

MARKDOWN = "markdown"
"""The form of a text with headings, fences or links as Markdown has them; other texts are plain."""

_BLANKS = " \t\r\v\xa0\u3000\ufeff"
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\u3000-\u303f]")
_ITEM = re.compile(r"(?:[-*+•‣◦▪·–]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]|\[\d{1,3}\])[ \t]+(?=\S)")
_HEADING = re.compile(r"#{1,6}[ \t]+(?=\S)")
_UNDERLINE = re.compile(r"([=\-~^\"'*+.`_#])\1{2,}[ \t]*$")
_FENCE = re.compile(r"```+|~~~+")
_QUOTED = re.compile(r"(?:>[ ]?)+")
_GAPS = re.compile(r" {3,}|\t+")
_SYMBOLS = r"{}()\[\];=<>|\\$&@#%*/_^`~+"
_SYMBOL, _THREE_SYMBOLS = re.compile(f"[{_SYMBOLS}]"), re.compile(f"(?:[^{_SYMBOLS}]*+[{_SYMBOLS}]){{3}}")
_COMMAND = re.compile(r"(?:\$|%|#|>>>|\.\.\.|[\w.-]+@[\w.-]+[:#$])[ \t]+\S")
_URL = re.compile(r"\S*://\S*")
_MANUAL = re.compile(r"\(\d\w{0,2}\)")  # of a manual: tar(1)
_PAGE_NUMBER = re.compile(r"[\W]*(?:Page )?#[\W]*")
_DIGITS = re.compile(r"\d+")
_STOPS = frozenset(".!?:;。！？；：؟۔।։")
CLOSERS = "\"'”’»)]*_`"
_RULED = frozenset("-=*_+~#.|: \t\r")


class Line(msgspec.Struct, gc=False):  # made for every line: a class with slots takes five times as long
    """A line without the blanks around it; `column` is where it ends, `mark` the length of the sign that opens it.

    `kind` is text, heading, item, quote, code, row, rule, furniture or blank; `turn` says that a speaker's label opens
    it, in a transcript.
    """

    start: int
    end: int
    text: str
    indent: int
    column: int
    paged: bool
    kind: str
    mark: int = 0
    fenced: bool = False
    turn: bool = False

    @property
    def said(self) -> str:
        """The line behind its mark."""
        return self.text[self.mark :].lstrip() if self.mark else self.text

    @property
    def stopped(self) -> bool:
        """Whether the line ends with a mark that ends a sentence or a clause."""
        text = self.text
        return text[-1:] in _STOPS or (text[-1:] in CLOSERS and text.rstrip(CLOSERS)[-1:] in _STOPS)


def split_lines(text: str) -> list[Line]:
    """The lines of a text; a form feed ends a line and begins a page."""
    found: list[Line] = []
    place, narrow = 0, text.isascii()
    for page, part in enumerate(text.split("\f")):
        first = page > 0
        for raw in part.split("\n"):
            body = raw.strip(_BLANKS)
            length, size = len(raw), len(body)
            start, indent = place, 0
            if size < length and body:
                indent = raw.find(body[0])
                start += indent
                if indent and "\t" in raw[:indent]:
                    indent = len(raw[:indent].expandtabs(8))
            column = indent + (size if narrow or body.isascii() else count_columns(body))
            found.append(Line(start, start + size, body, indent, column, first, "text" if body else "blank"))
            first = False
            place += length + 1
    return found


def count_columns(text: str) -> int:
    """Columns on a screen: two for each ideograph."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))


def classify_lines(lines: Sequence[Line], form: str) -> None:
    """What each line is by itself."""
    fence = ""
    for number, line in enumerate(lines):
        text = line.text
        if fence:
            line.kind, line.fenced = "code", True
            if text.startswith(fence):
                fence = ""
        elif not text:
            continue
        elif text[0].isalpha():
            line.kind = _take_shape(line, form)
        elif text[0] in "`~" and (match := _FENCE.match(text)):
            fence, line.kind, line.fenced = match[0], "code", True
        elif not _take_sign(lines, number):
            line.kind = _take_shape(line, form)
    _find_furniture(lines)
    if form == MARKDOWN:
        _find_indented_code(lines)


def _take_sign(lines: Sequence[Line], number: int) -> bool:
    """Mark a line that opens with the sign of a heading or a quotation, or is a rule; whether it was one."""
    line = lines[number]
    text, before = line.text, lines[number - 1] if number else line
    sign = text[0]
    if sign == "#" and line.indent < 4 and (match := _HEADING.match(text)):
        line.kind, line.mark = "heading", match.end()
    elif sign == ">" and (match := _QUOTED.match(text)):
        line.kind, line.mark = "quote", match.end()
    elif text.startswith(sign * 3) and number and before.kind in ("text", "item") and _UNDERLINE.match(text):
        line.kind = "rule"
        if not _RULED.issuperset(before.text) and (
            number < 2 or lines[number - 2].kind in ("blank", "rule", "heading")
        ):
            before.kind = "heading"
    elif text[-1] in _RULED and len(text) > 2 and _RULED.issuperset(text):
        line.kind = "rule"
    else:
        return False
    return True


def _take_shape(line: Line, form: str) -> str:
    """The kind of a line without such a sign: text, an item of a list (its mark is noted), a row of a table, code."""
    text, first = line.text, line.text[0]
    if "   " in text or "\t" in text:
        cells = [cell for cell in _GAPS.split(text) if cell]
        # justified prose has wide gaps too, but many words between them
        if len(cells) > 2 and sum(len(cell.split()) for cell in cells) <= 3.5 * len(cells):
            return "row"
    if "|" in text and (" | " in text or text.count("|") > 2):
        return "row"
    if (not first.isalpha() or first in "ivxIVX" or text[1:2] in ".)") and (match := _ITEM.match(text)):
        line.mark = match.end()
        return "item"
    return "code" if form != MARKDOWN and _is_code(line) else "text"


def _is_code(line: Line) -> bool:
    text = line.text
    if line.indent and (text[0] in "$%#>." or "@" in text) and _COMMAND.match(text):
        return True
    if not _THREE_SYMBOLS.match(text):
        return False
    if "://" in text:
        text = _URL.sub("", text) or "x"
    text = _MANUAL.sub("", text)
    signs = len(_SYMBOL.findall(text))
    if signs < 3:
        return False
    return signs > 0.12 * len(text) or (line.indent >= 4 and signs > 0.06 * len(text) and text[-1] in "{};\\)>,=")


def _find_furniture(lines: Sequence[Line]) -> None:
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


def _find_indented_code(lines: Sequence[Line]) -> None:
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
