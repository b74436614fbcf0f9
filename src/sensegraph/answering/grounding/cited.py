"""A written answer as statements, each with the references that close it.

Two forms are read: `[1]`, `[1, 2]` and `[1][2]`, and the papers' `[Data: Reports (3); Entities (5, 7, +more)]`
(Edge et al. 2024, appendix E.4). A statement is a sentence, or the part of one that closes with references of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sensegraph.language.text import collect_terms as _terms
from sensegraph.language.text import split_sentences

_NUMBERS = r"\[\s*\d+(?:\s*[,;]\s*\d+)*\s*\]"
_DATA = r"\[\s*Data:[^\]]*\]"
_GROUP = re.compile(rf"(?:\s*(?:{_NUMBERS}|{_DATA}))+", re.IGNORECASE)
_ONE = re.compile(rf"{_NUMBERS}|{_DATA}", re.IGNORECASE)
_RECORDS = re.compile(r"([^\W\d_][\w -]*?)\s*\(([^)]*)\)")
_MORE = re.compile(r"\+\s*more", re.IGNORECASE)
_HEADING = re.compile(r"^\s*#+\s.*$|^\s*(?:\*\*|__)[^*_\n]{1,120}(?:\*\*|__)[:.]?\s*$", re.MULTILINE)
_LEAD = re.compile(r"(^|\n)[ \t]*\*\*([^*\n]{1,120}?)[.:]?\*\*(?=[.:]| \()[^\n“\"]{0,40}?[.:]\s+(?=[\"“*A-Z])")
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_ITEM = re.compile(r"^\s*(?:[-•–*]|\d+[.)])\s+", re.MULTILINE)
_RULE = re.compile(r"[ \t>]*(?=[^|]*\|)\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?\s*")  # below heads of columns
_ROW = re.compile(r"[ \t>]*\|.*\|\s*")
_BETWEEN = re.compile(r"(?<!\\)\||<br\s*/?>", re.IGNORECASE)
_ENDED = re.compile(r"[.!?…。！？][\"'”’)»*_]*$")
_EDGE = " \t\n,;:–—-"
_SHORT = 5  # characters below which a fragment belongs to what follows


@dataclass(frozen=True, slots=True)
class Reference:
    """What a mark refers to: a number, and the kind of record where the mark names one (lower-case, as written)."""

    number: int
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.number}" if self.kind else f"[{self.number}]"


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A statement without its marks, what it refers to, each once, and how many marks name more than they list."""

    text: str
    references: tuple[Reference, ...] = ()
    more: int = 0


def split_cited_statements(text: str) -> tuple[CitedStatement, ...]:
    """The statements of an answer in order; headings, heads of columns and what holds no word are none.

    References belong to the sentence, or the part of a sentence, right before them. What continues a sentence behind
    its marks is a statement of its own where it has marks too, or is long enough to say something.
    """
    plain = _LEAD.sub(r"\1", _HEADING.sub("", flatten_table_rows(text)))
    found, begin = list[CitedStatement](), 0
    for group in _GROUP.finditer(plain):
        # the statements of a stretch of text; the last has the marks behind it
        parts = _split_pieces(plain[begin : group.start()])
        found += map(CitedStatement, parts[:-1])
        references, more = parse_references(group[0])
        if references or more:
            found.append(CitedStatement(parts[-1] if parts else "", references, more))
        begin = group.end()
    return (*found, *map(CitedStatement, _split_pieces(plain[begin:])))


def parse_references(marks: str) -> tuple[tuple[Reference, ...], int]:
    """The references of a run of marks, each once in their order, and how many of the lists end with `+more`."""
    found: dict[Reference, None] = {}
    for mark in _ONE.findall(marks):
        lists = _RECORDS.findall(mark.partition(":")[2]) if ":" in mark else [("", mark)]
        for kind, listed in lists:
            numbers = re.findall(r"\d+", listed)
            found.update((Reference(int(n), kind.strip().casefold()), None) for n in numbers)
    return tuple(found), len(_MORE.findall(marks))


def flatten_table_rows(text: str) -> str:
    """The text with each row of a Markdown table as a line, its cells set apart by commas, without heads of columns.

    The marks of a row close it, wherever they stand in it, unless its cells hold whole sentences.
    """
    lines = text.split("\n")
    rules = {i for i, line in enumerate(lines) if _RULE.fullmatch(line)}
    if not rules and not any(map(_ROW.fullmatch, lines)):
        return text
    kept, inside = [], False
    for i, line in enumerate(lines):  # below a rule, every line with a bar is a row, elsewhere one between bars
        inside = i in rules or (inside and "|" in line)
        if i not in rules and not (i + 1 in rules and "|" in line):
            kept.append(_row_as_line(line) if inside or _ROW.fullmatch(line) else line)
    return "\n".join(kept)


def _row_as_line(line: str) -> str:
    """What a row of a table says."""
    cells = [cell for part in _BETWEEN.split(line.strip(" \t\r>")) if (cell := part.replace("\\|", "|").strip())]
    bare = [_GROUP.sub("", cell).strip() for cell in cells]
    if any(map(_ENDED.search, bare)):
        ends = [" " if _ENDED.search(plain) else ", " for plain in bare]
        return "".join(cell + end for cell, end in zip(cells, ends, strict=True)).strip(_EDGE)
    marks = "".join(mark[0].strip() for mark in _GROUP.finditer(" ".join(cells)))
    return f"{', '.join(filter(None, bare))} {marks}".strip()


def _split_pieces(text: str) -> list[str]:
    """Sentences without emphasis and marks of lists, line by line; a very short one goes with what follows."""
    plain, found, held = _EMPHASIS.sub("", _ITEM.sub("", text)), list[str](), ""
    for part in (line[start:end] for line in plain.splitlines() for start, end in split_sentences(line)):
        held = f"{held} {part}".strip(_EDGE)
        if len(held) >= _SHORT and _terms(held):
            found.append(held)
            held = ""
    return [*found, held] if _terms(held) else found
