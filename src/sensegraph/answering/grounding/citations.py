"""A written answer as statements with their references, and whether what they cite bears them: by whom, and how often.

Two forms are read: `[1]`, `[1, 2]` and `[1][2]`, and the papers' `[Data: Reports (3); Entities (5, 7, +more)]`
(Edge et al. 2024, appendix E.4). A statement is a sentence, or the part of one that closes with references of its own.

A model, the words alone, or a model of inference on this machine says whether texts bear a statement. Every figure that
rests on such judgements carries the name of who gave them, and they are never mixed.

paper: Gao et al. 2023 (ALCE), §3: a statement counts where its citations together bear it; a citation counts where its
statement is borne and it is not superfluous. Two things differ. Citations that lead nowhere stay in the denominator of
precision: an answer gains nothing by inventing them. And a part of a sentence that closes with citations of its own is
a statement of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from sensegraph.answering.grounding.lexical import LABEL, find_missing_in_texts
from sensegraph.errors import SettingsError, UnsupportedTask
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import collect_terms as _terms
from sensegraph.protocols import LanguageEngine
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.trials import Check, Support

_NUMBERS = r"\[\s*\d+(?:\s*[,;]\s*\d+)*\s*\]"
_DATA = r"\[\s*Data:[^\]]{0,5000}+\]"
_GROUP = re.compile(rf"(?:(?:(?<!\s)\s++)?(?:{_NUMBERS}|{_DATA}))+", re.IGNORECASE)
_ONE = re.compile(rf"{_NUMBERS}|{_DATA}", re.IGNORECASE)
_RECORDS = re.compile(r"(?<![\w -])[\d_ -]*+([^\W\d_][\w -]*+)\s*+\(([^)]*)\)")
_MORE = re.compile(r"\+\s*more", re.IGNORECASE)
_HEADING = re.compile(r"^[^\S\n]*+#+\s.*$|^[^\S\n]*+(?:\*\*|__)[^*_\n]{1,120}(?:\*\*|__)[:.]?[^\S\n]*+$", re.MULTILINE)
_LEAD = re.compile(r"(^|\n)[ \t]*\*\*([^*\n]{1,120}?)[.:]?\*\*(?=[.:]| \()[^\n“\"]{0,40}?[.:]\s+(?=[\"“*A-Z])")
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_ITEM = re.compile(r"^[^\S\n]*+(?:[-•–*]|\d+[.)])\s+", re.MULTILINE)
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


def remove_marks(text: str) -> str:
    """The text of an answer without its marks, emphasis and the marks of its lists."""
    bare = _EMPHASIS.sub("", _ITEM.sub("", _GROUP.sub("", text)))
    return _GROUP.sub("", bare)  # what emphasis had parted


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
    plain, found, held = remove_marks(text), list[str](), ""
    for part in (line[start:end] for line in plain.splitlines() for start, end in split_sentences(line)):
        held = f"{held} {part}".strip(_EDGE)
        if len(held) >= _SHORT and _terms(held):
            found.append(held)
            held = ""
    return [*found, held] if _terms(held) else found


By = Literal["auto", "model", "words"]


@runtime_checkable
class SupportingEngine(LanguageEngine, Protocol):
    """An engine that can judge whether texts bear a statement (task `support`)."""

    def support(self, checks: Sequence[Check]) -> list[Support]:
        """Whether the texts of each check bear its statement."""
        ...


class Supporter(Protocol):
    """Says of each check whether its texts bear its statement, in order; `holds` is None where it gave no verdict.

    `wide` says that it reads, and so may be given what stands around a quoted span.
    """

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    @property
    def wide(self) -> bool:
        """Whether what stands around a span helps it."""
        ...

    def supported(self, checks: Sequence[Check]) -> list[Support]:
        """Whether the texts of each check bear its statement."""
        ...


@step("entailment.support", version=1, uses="engine", task="support")
def support_statements(checks: Sequence[Check], *, engine: SupportingEngine) -> list[Support]:
    """Whether texts bear statements, by a model."""
    return engine.support(checks)


@dataclass(frozen=True, slots=True)
class ByWords:
    """Lexical support: all content words, numbers, negations and the order of names agree (see `lexical`)."""

    name: str = LABEL
    wide: bool = False

    def supported(self, checks: Sequence[Check]) -> list[Support]:
        """Whether the words of the texts hold those of the statement; the reason says what is lacking."""
        found = []
        for check in checks:
            if texts := [t for t in check.evidence if t.strip()]:
                lacking = find_missing_in_texts(check.statement, texts)
                found.append(Support(not lacking, "; ".join(map(str, lacking))))
            else:
                found.append(_NOTHING)
        return found


@dataclass(frozen=True, slots=True)
class ByEngine:
    """Support by the engine of a runtime; every verdict is stored, so that none is paid for twice."""

    rt: Runtime
    wide: bool = True

    @property
    def name(self) -> str:
        """Support, and by which engine."""
        return f"support by {self.rt.engine.name}"

    def supported(self, checks: Sequence[Check]) -> list[Support]:
        """Whether the engine says so. Texts that are all empty bear nothing, without a call."""
        asked = [c for c in checks if any(t.strip() for t in c.evidence)]
        told = iter(self.rt.each(support_statements, asked))
        return [next(told) if any(t.strip() for t in c.evidence) else _NOTHING for c in checks]


@dataclass(frozen=True)
class ByInference:
    """Support by a cross-encoder for natural language inference in a local folder: entailment above all else.

    Raises SettingsError when the extra is not installed, or the folder holds no such model with a label "entailment".
    """

    folder: str
    wide: bool = False
    name: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if find_spec("sentence_transformers") is None:
            raise SettingsError("Support by inference needs an extra: pip install 'sensegraph[rerank]'.")
        if not Path(self.folder).is_dir():
            raise SettingsError(f"{self.folder!r} is no folder with a model; fetch one, and name its folder.")
        object.__setattr__(self, "name", f"support by {Path(self.folder).name}")

    def supported(self, checks: Sequence[Check]) -> list[Support]:
        """Whether entailment is the likeliest of the labels, the texts joined being the premise."""
        if not checks:
            return []
        model, at = self._loaded
        scores = model.predict([("\n".join(c.evidence), c.statement) for c in checks], show_progress_bar=False)
        return [Support(int(row.argmax()) == at, "") for row in scores]

    @cached_property
    def _loaded(self) -> tuple[Any, int]:
        from sentence_transformers import CrossEncoder  # seconds to import: only where it is used

        model = CrossEncoder(self.folder, local_files_only=True)
        labels = {str(v).casefold(): int(k) for k, v in model.model.config.id2label.items()}
        if "entailment" not in labels:
            raise SettingsError(f"The model in {self.folder!r} has no label 'entailment'; name one for inference.")
        return model, labels["entailment"]


def choose_supporter(rt: Runtime, by: By = "auto") -> Supporter:
    """Who says it: the engine where it can (`auto`, `model`), else the words. Raises UnsupportedTask for `model`."""
    able = "support" in rt.engine.tasks
    if by == "model" and not able:
        raise UnsupportedTask("Support by a model", rt.engine.name, frozenset({"support"}))
    return ByEngine(rt) if able and by != "words" else ByWords()


_NOTHING = Support(False, "there is no text to bear it")


MOST = 3  # citations of one statement that are scored (ALCE)

Texts = Mapping[Reference, str]


@dataclass(frozen=True, slots=True)
class Citations:
    """What became of the statements of an answer and of its citations.

    `verdicts` are one a statement: whether all its citations together bear it; None for a statement without one that
    leads somewhere. `scored` counts the citations that precision is a share of: up to three a statement that lead
    somewhere, all that lead nowhere (`dangling`), and the lists that name more than they show (`more`).
    """

    verdicts: tuple[Support | None, ...]
    uncited: int
    scored: int
    precise: int
    dangling: tuple[Reference, ...]
    more: int
    unjudged: int

    @property
    def supported(self) -> int:
        """Statements that their citations bear."""
        return sum(bool(v and v.holds) for v in self.verdicts)

    @property
    def recall(self) -> float | None:
        """Borne statements ÷ statements, 0 to 1; None without a statement."""
        return self.supported / len(self.verdicts) if self.verdicts else None

    @property
    def precision(self) -> float | None:
        """Citations that count ÷ citations, 0 to 1; 0 where nothing is cited; None without a statement."""
        return (self.precise / self.scored if self.scored else 0.0) if self.verdicts else None


def score_citations(
    answers: Sequence[tuple[Sequence[CitedStatement], Texts]], by: Supporter, most: int = MOST
) -> list[Citations]:
    """Citations of each answer, given as its statements and the texts behind references.

    A reference without a text leads nowhere. Of those that do, the first `most` of a statement are scored.
    """
    flat = [(s, _scored_texts(s, texts, most)) for statements, texts in answers for s in statements]
    joint = iter(_ask_supporter([Check(s.text, tuple(t)) for s, t in flat if t], by))
    verdicts = [next(joint) if t else None for _, t in flat]
    alone = iter(_count_needed([(s.text, t) for (s, t), v in zip(flat, verdicts, strict=True) if v and v.holds], by))
    precise = [next(alone) if v and v.holds else 0 for v in verdicts]
    found, begin = [], 0
    for statements, texts in answers:
        end = begin + len(statements)
        own = tuple(verdicts[begin:end])
        dangling = tuple(r for s in statements for r in s.references if r not in texts)
        more = sum(s.more for s in statements)
        uncited = sum(not s.references and not s.more for s in statements)
        scored = sum(len(_scored_texts(s, texts, most)) for s in statements) + len(dangling) + more
        unjudged = sum(v is not None and v.holds is None for v in own)
        found.append(Citations(own, uncited, scored, sum(precise[begin:end]), dangling, more, unjudged))
        begin = end
    return found


def _scored_texts(statement: CitedStatement, texts: Texts, most: int) -> list[str]:
    return [texts[r] for r in statement.references if r in texts][:most]


def _ask_supporter(checks: Sequence[Check], by: Supporter) -> list[Support]:
    return by.supported(checks) if checks else []


def _count_needed(borne: Sequence[tuple[str, list[str]]], by: Supporter) -> list[int]:
    """Of each borne statement, how many of its texts are not superfluous: alone enough, or missed by the others."""
    places = [(i, j) for i, (_, texts) in enumerate(borne) for j in range(len(texts)) if len(texts) > 1]
    alone = _ask_supporter([Check(borne[i][0], (borne[i][1][j],)) for i, j in places], by)
    left = [place for place, found in zip(places, alone, strict=True) if not found.holds]
    others = [tuple(t for k, t in enumerate(borne[i][1]) if k != j) for i, j in left]
    without = _ask_supporter([Check(borne[i][0], rest) for (i, _), rest in zip(left, others, strict=True)], by)
    idle = {place for place, found in zip(left, without, strict=True) if found.holds}
    return [sum((i, j) not in idle for j in range(len(texts))) for i, (_, texts) in enumerate(borne)]
