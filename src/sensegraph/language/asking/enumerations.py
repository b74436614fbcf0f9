"""Lists as texts set them: bullets, numbered clauses, terms with an explanation set in below, and what leads in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.language.sentences import split_sentences

_MARK = re.compile(r"(?:[-*•+–]|\d{1,2}[.)]|\([a-z0-9]{1,2}\)|[a-z]\))\s+(?=\S)")
_HEAD = re.compile(r"#{1,6}\s+(?=\S)")
_END = re.compile(r"[.!?;,]\W*$")
_QUOTED = r"(?:“[^“”]{1,40}”|\"[^\"]{1,40}\"|‘[^‘’]{1,40}’|`[^`']{1,40}['`]|'[^'\s]{1,40}')"
_SET = re.compile(
    rf"{_QUOTED}(?P<aside>(?:\s[^,;.“\"‘`']{{1,40}}|\s\([^()]{{1,60}}\))?)(?=\s*[,;.]|\s+(?:and|or)\b|\s*$)"
)
_EITHER = re.compile(r"[\[({]?(?:[^\s|\[\](){}]+[ =])?([\w@.+-]+(?:\s*\|\s*[\w@.+-]+){2,})")
_BETWEEN = re.compile(r"\s*[,;]?\s*(?:and|or)?\s*")
FEWEST = 3  # entries that make a list
_MOST_STEPS = 20  # times that a line is looked at as part of a list of terms, on average
_TERM = 6  # words of a term

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Enumeration:
    """A list in a text: the span of the line that leads in (empty where none does), and those of its entries."""

    lead: Span
    entries: tuple[Span, ...]
    terms: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    start: int
    end: int
    indent: int
    marked: int  # characters of its mark; 0 for none


def read_enumerations(text: str) -> list[Enumeration]:
    """The lists of a text in order: each of three entries at least."""
    rows, at = list[_Row](), 0
    for line in text.split("\n"):
        if bare := line.strip():
            begin, match = at + line.index(bare), _MARK.match(bare)
            rows.append(_Row(begin, begin + len(bare), begin - at, match.end() if match else 0))
        at += len(line) + 1
    return [*_find_marked(text, rows), *_find_terms(text, rows)]


def _find_marked(text: str, rows: Sequence[_Row]) -> list[Enumeration]:
    """Lists whose entries have marks of the same kind, at the same depth."""
    found, i = [], 0
    while i < len(rows):
        if not rows[i].marked:
            i += 1
            continue
        first, kind = rows[i], _kind_of_mark(text, rows[i])
        entries, j = [], i
        while j < len(rows):
            row = rows[j]
            if row.marked and row.indent == first.indent and _kind_of_mark(text, row) == kind:
                entries.append((row.start + row.marked, _end_entry(text, rows, j)))
            elif row.indent <= first.indent and not row.marked:
                parted = "\n\n" in text[rows[j - 1].end : row.start]  # else it goes on with the row before it
                if parted or _HEAD.match(text, row.start):
                    break
            j += 1
        if len(entries) >= FEWEST:
            before = rows[i - 1] if i else None
            found.append(Enumeration((before.start, before.end) if before else (0, 0), tuple(entries)))
        i = max(j, i + 1)
    return found


def _find_terms(text: str, rows: Sequence[_Row]) -> list[Enumeration]:
    """Lists of terms alone in a line, each with its explanation set in below, behind a line that ends with a colon."""
    found, left = [], _MOST_STEPS * len(rows)
    for i, lead in enumerate(rows):
        if not text.endswith(":", lead.start, lead.end) or i + 2 >= len(rows):
            continue
        depth, entries, j = rows[i + 1].indent, [], i + 1
        while left > 0 and j + 1 < len(rows) and rows[j].indent == depth and rows[j + 1].indent > depth:
            term = text[rows[j].start : rows[j].end]
            if len(term.split()) > _TERM or _END.search(term):
                break
            k = j + 1
            while k + 1 < len(rows) and rows[k + 1].indent > depth:
                k += 1
            entries.append((rows[j].start, rows[j + 1].end))
            left -= k + 1 - j
            j = k + 1
        if len(entries) >= FEWEST:
            found.append(Enumeration((lead.start, lead.end), tuple(entries), True))
    return found


def _end_entry(text: str, rows: Sequence[_Row], i: int) -> int:
    """Where the first sentence of an entry ends, which may go on in the lines below that are set in."""
    end, k = rows[i].end, i + 1
    while (
        k < len(rows)
        and not rows[k].marked
        and rows[k].indent > rows[i].indent
        and "\n\n" not in text[end : rows[k].start]
    ):
        end, k = rows[k].end, k + 1
    start = rows[i].start + rows[i].marked
    spans = split_sentences(text[start:end].replace("\n", " "))
    return start + spans[0][1] if spans else end


def _kind_of_mark(text: str, row: _Row) -> str:
    mark = text[row.start : row.start + row.marked].strip()
    return "1" if mark.rstrip(".)").isdigit() else "a" if mark.strip("()").isalnum() else mark


def list_choices(text: str) -> list[str]:
    """The choices that a sentence lists: quoted values one after another, or words with bars between; three or more."""
    either = max((m[1] for m in _EITHER.finditer(text)), key=len, default="")
    if either:
        return list(dict.fromkeys(part.strip() for part in either.split("|")))
    best: list[str] = []
    run: list[re.Match[str]] = []
    for match in _SET.finditer(text):
        joined = run and _BETWEEN.fullmatch(text, run[-1].end(), match.start())
        run = [*run, match] if joined else [match]
        if len(run) > len(best):
            best = [m[0].removesuffix(m["aside"]) for m in run]
    return list(dict.fromkeys(best)) if len(best) >= FEWEST else []
