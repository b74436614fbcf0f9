"""Small numbers for citing inside a prompt, and the way back from a reply to the records that it cites.

Records are numbered through, over all tables of a prompt, so that a number alone says which record is meant. A reply
cites `[1, 3]`; the papers' `[Data: Reports (1, 3); Entities (5, +more)]` (edge2024, app. E), and what models make of
either, is accepted too.

An answer is read while it is written, from the pieces of a reply to whole statements with their references. Whole
replies are read in the same way (`read_streamed_answer`), so that a streamed answer is the one that would come whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sensegraph.models.endpoint.bodies import TAGS
from sensegraph.types import Passage, Statement

PER_REFERENCE = 5  # ids that one reference may name (edge2024, app. E)

_KINDS = {
    **dict.fromkeys(("report", "reports", "community", "communities"), "report"),
    **dict.fromkeys(("entity", "entities"), "entity"),
    **dict.fromkeys(("relation", "relations", "relationship", "relationships"), "relation"),
    **dict.fromkeys(("claim", "claims", "covariate", "covariates"), "claim"),
    **dict.fromkeys(("point", "points"), "point"),
    **dict.fromkeys(("source", "sources", "chunk", "chunks"), "chunk"),
}
_TABLE = "|".join(sorted([*_KINDS, "records?", "ids?"], key=len, reverse=True))
_BRACKETED = (
    r"[\[【]\s*data\b[^\[\]【】]*(?:[\]】]|$)"  # [Data: …], cut off at the end of the text or not
    # [Reports (1)], [1, 2]
    rf"|[\[【](?=[^\[\]【】]*\d)(?:\b(?:{_TABLE})\b|\d+|\+?more\b|\band\b|[\s,;:.()+&#–-])++[\]】]"
    r"|\(\s*data\s*:(?:[^()]|\([^()]*\))*\)"  # (Data: Reports (1))
)
_RUN = re.compile(
    rf"(?<!\s)\s*+(?:{_BRACKETED})(?:[\s,;]*(?:{_BRACKETED}))*(?P<stop>[.,;:!?…。，；：！？]?)", re.IGNORECASE
)
_MARK = re.compile(_BRACKETED, re.IGNORECASE)
_PART = re.compile(r"(?P<word>[^\W\d_]+)|(?P<first>\d+)(?:\s*[-–]\s*(?P<last>\d+))?")
_CLOSER = re.compile(r"[\]】)]")
_OPEN = re.compile(r"[\[【][^\[\]【】]*\Z|\(\s*(?:d(?:a(?:t(?:a\s*)?)?)?)?\Z", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\(\s*data\s*:", re.IGNORECASE)
_STOPS = ".!?…。！？"


@dataclass(frozen=True, slots=True)
class Cited:
    """A text as statements; `dangling` lists the references that named no record, as they were written."""

    statements: tuple[Statement, ...]
    dangling: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole text without reference marks."""
        return "".join(s.text for s in self.statements)


@dataclass(frozen=True, slots=True)
class Records:
    """The records of one prompt: number n stands for `passages[n - 1]`."""

    passages: Sequence[Passage] = ()

    def find(self, number: int, kind: str = "") -> str | None:
        """The id of record `number`, which must be of `kind` where that is known."""
        if not 1 <= number <= len(self.passages):
            return None
        passage = self.passages[number - 1]
        return passage.id if kind in ("", passage.kind) else None

    def resolve(self, text: str) -> Cited:
        """`text` cut into statements, each with the ids of the records that it rests on.

        A statement ends with its references; the texts of all statements, joined, are `text` without marks. At most
        five ids of a reference are kept.
        """
        statements, _, dangling = self._split_statements(text)
        return Cited(tuple(statements), tuple(dangling))

    def resolve_beginning(self, text: str) -> tuple[list[Statement], int]:
        """The first statements of a text that is still being written, as far as nothing that may follow changes them.

        With them the place where they end; the text from there on has the rest of the statements.
        """
        if not _CLOSER.search(text):
            return [], 0
        begun = _OPEN.search(text)  # only the text before every mark that has not ended is certain
        unfinished = (m.start() for m in _IN_BRACKETS.finditer(text) if not _MARK.match(text, m.start()))
        certain = min([begun.start() if begun else len(text), *unfinished])
        statements, starts, _ = self._split_statements(text[:certain])
        if len(statements) < 2 or not re.search(r"\w", _MARK.sub("", statements[-1].text)):
            return [], 0
        return statements[:-1], starts[-1]

    def _split_statements(self, text: str) -> tuple[list[Statement], list[int], list[str]]:
        """The statements of `text`, where each begins, and the references that named nothing."""
        statements: list[Statement] = []
        starts: list[int] = []
        dangling: list[str] = []
        at, carried = 0, tuple[str, ...]()
        for run in _RUN.finditer(text):
            ids, lost = self._resolve_marks(run[0])
            if lost is None:
                continue  # a year in brackets, say: part of the text
            dangling += lost
            begin, piece, stop, at = at, text[at : run.start()], run["stop"], run.end()
            if not (stop and piece[-1:] in _STOPS):
                piece += stop  # the punctuation that follows a mark belongs to the text before it
            if piece.strip():
                starts.append(begin)
                statements.append(Statement(piece, _drop_repeats(carried + ids)))
                carried = ()
            elif statements:
                before = statements.pop()
                statements.append(Statement(before.text + piece, _drop_repeats(before.references + ids)))
            else:
                carried += ids  # a mark that precedes its text
        if text[at:]:
            starts.append(at)
            statements.append(Statement(text[at:].lstrip() if carried else text[at:], _drop_repeats(carried)))
        return statements, starts, dangling

    def _resolve_marks(self, run: str) -> tuple[tuple[str, ...], list[str] | None]:
        """The ids that a run of marks names, and what names nothing; None when it is no reference at all."""
        found: list[str] = []
        lost: list[str] = []
        for mark in _MARK.findall(run):
            numbers = _read_numbers(mark)
            ids = [(kind, n, self.find(n, kind)) for kind, n in numbers]
            found += [i for _, _, i in ids if i is not None][:PER_REFERENCE]
            lost += [f"{kind} {n}".strip() for kind, n, i in ids if i is None] or ([] if numbers else [mark])
        bare = not any(c.isalpha() for c in run)
        if bare and not found and all(_read_number_of_record(n) > 999 for n in re.findall(r"\d+", run)):
            return (), None
        return tuple(found), lost


def _read_numbers(mark: str) -> list[tuple[str, int]]:
    """The (kind, number) pairs of one mark; kind is empty where no known table is named."""
    kind, pairs = "", []
    for part in _PART.finditer(mark):
        if word := part["word"]:
            if word.casefold() not in ("data", "more", "and"):
                kind = _KINDS.get(word.casefold(), "")
            continue
        first = _read_number_of_record(part["first"])
        last = _read_number_of_record(part["last"] or part["first"])
        pairs += [(kind, n) for n in range(first, min(last, first + 20) + 1)]
    return pairs


def _read_number_of_record(digits: str) -> int:
    """The number, or one that no record has where a model runs on in digits."""
    return int(digits[:9])


def _drop_repeats(ids: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


_START = re.compile(  # thoughts in their tags, a fence, and the form that was asked for
    rf'\A\s*(?:<({TAGS})>[\s\S]*?</\1>\s*|\[THINK\][\s\S]*?\[/THINK\]\s*)?(?:```[a-z]*\s*)?\{{\s*"answer"\s*:\s*"',
    re.IGNORECASE,
)
_OPENING = 65_536  # characters in which a reply that comes in pieces begins to be one
_PLAIN = re.compile(r'[^"\\]+')
_CLOSES = re.compile(r'\s*(?:\}|,\s*"[^"\\\n]{0,60}"\s*:)')  # what follows the end of a text, and not a quote in it
_MAY_CLOSE = re.compile(r'\s*(?:,\s*(?:"[^"\\\n]{0,60}(?:"\s*)?)?)?\Z')
_UNIT = re.compile(r"\\u([0-9a-fA-F]{4})")
_UNIT_BEGUN = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LOST = "\ufffd"  # for half a character


class AnswerText:
    """The text of `{"answer": "…"}`, as far as it is known; what does not begin like that has none."""

    def __init__(self) -> None:
        self._raw, self._blank = "", ""
        self._begun = self._spoken = self.closed = False

    @property
    def begun(self) -> bool:
        """Whether the reply has the form that can be read while it comes."""
        return self._begun

    def feed(self, piece: str, *, last: bool = False) -> str:
        """What `piece` adds to the text, without white space around the text; `last` says that no other comes."""
        self._raw += piece
        if (
            not self._begun
            and '"' in piece
            and (last or len(self._raw) <= _OPENING)
            and (start := _START.match(self._raw))
        ):
            self._begun, self._raw = True, self._raw[start.end() :]
        if not self._begun or self.closed:
            return ""
        text, at, self.closed = _read_json_text(self._raw, last)
        self._raw = self._raw[at:]
        return self._without_ends(text)

    def _without_ends(self, text: str) -> str:
        """`text` after the blanks that were held back; its own last blanks are held back until more follows."""
        text = self._blank + text if self._spoken else text.lstrip()
        kept = text.rstrip()
        self._spoken = self._spoken or bool(kept)
        self._blank = text[len(kept) :]
        return kept


def read_streamed_answer(reply: str) -> str | None:
    """The text of a whole reply in the form `{"answer": "…"}`, however it is cut off; None for any other form."""
    reading = AnswerText()
    text = reading.feed(reply, last=True)
    return text if reading.begun else None


class AnswerStream:
    """Tells the statements of an answer as its pieces come; each is told when nothing that follows can change it."""

    def __init__(self, cited: Records, tell: Callable[[Statement], None]) -> None:
        self._cited, self._tell = cited, tell
        self._reading, self._text = AnswerText(), ""
        self.count = 0

    def hear(self, piece: str) -> None:
        """Take the next piece of the reply."""
        self._text += self._reading.feed(piece)
        statements, at = self._cited.resolve_beginning(self._text)
        self._text = self._text[at:]
        self.tell(statements)

    def tell(self, statements: Sequence[Statement]) -> None:
        """Tell these."""
        self.count += len(statements)
        for statement in statements:
            self._tell(statement)


# ── a text in JSON ──


def _read_json_text(raw: str, last: bool) -> tuple[str, int, bool]:
    """The text at the beginning of `raw`, how much of `raw` it takes, and whether it has ended.

    As far as it is certain: what could yet turn out otherwise is left, unless this is the `last` of it. A quote that
    nothing of the form follows belongs to the text, and so does a backslash that begins no escape.
    """
    parts: list[str] = []
    at = 0
    while at < len(raw):
        if plain := _PLAIN.match(raw, at):
            parts.append(plain[0])
            at = plain.end()
        elif raw[at] == "\\":
            character, size = _read_escape(raw, at, last)
            if not size:
                break
            parts.append(character)
            at += size
        elif _CLOSES.match(raw, at + 1) or (last and _MAY_CLOSE.match(raw, at + 1)):
            return "".join(parts), len(raw), True
        elif not last and _MAY_CLOSE.match(raw, at + 1):
            break
        else:
            parts.append('"')
            at += 1
    return "".join(parts), at, False


def _read_escape(raw: str, at: int, last: bool) -> tuple[str, int]:
    """The character of the escape at `at` and its length in `raw`; length 0 where more of it is to come."""
    if _UNIT_BEGUN.match(raw, at):
        return "", 0
    if not (unit := _UNIT.match(raw, at)):
        known = _ESCAPES.get(raw[at + 1])
        return (known, 2) if known else ("\\", 1)
    code = int(unit[1], 16)
    if not 0xD800 <= code < 0xE000:
        return chr(code), 6
    if code >= 0xDC00:
        return _LOST, 6
    other = _UNIT.match(raw, at + 6)  # a character that two halves make; the first alone is lost
    if other and 0xDC00 <= (low := int(other[1], 16)) < 0xE000:
        return chr(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00), 12
    unknown = not last and not other and (at + 6 == len(raw) or _UNIT_BEGUN.match(raw, at + 6))
    return ("", 0) if unknown else (_LOST, 6)
