"""Answers on identifiers ("What is INC-014?"): the sentences with the identifier as a whole, and that it is nowhere."""

from __future__ import annotations

import re

import numpy as np

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.definitions import answer_definition
from sensegraph.engines.offline.answers.features import Floats, Read
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.engines.offline.reports.sentence_quality import is_heading, join_with_and
from sensegraph.language.asking.identifiers import (
    asks_for_identifier,
    find_identifiers,
    write_identifier_pattern,
)
from sensegraph.language.text import WORD
from sensegraph.types import Statement

MOST = 6  # sentences that are shown
_OTHERS = 0.02  # what is left of the chance of a sentence whose text and title lack the identifier
_ENTRY, _UNNUMBERED = 1.5, 0.3  # how a line counts, as the best one, that begins with a number of the question; without
_NUMBERED = re.compile(
    r"\b(?:status|code|error|signal|version|release|section|clause|rule|step|article|chapter|level|paragraph|page)"
    r"(?: (?:code|status|number|no\.))? v?(\d+(?:\.\d+)*)\b",
    re.IGNORECASE,
)
_ASKS_MEANING = re.compile(r"\bmeans?\b|\bstands? for\b|^\W*(?:what|which)(?:['’]s| is| are)\b", re.IGNORECASE)
_LETTERS = re.compile(r"\D*")  # that identifiers of one series begin with
_BEFORE, _FEW = 3, 6  # sentences before one that says little but the identifier, and the words of such a one
_BLOCK = re.compile(r"\n\s*\n|\n\s*[-*•+–]+\s")


def answer_identifier(asked: Asked) -> Written | None:
    """What the texts say of an identifier, or that it is nowhere; None where the question asks more of one."""
    names = find_identifiers(asked.question)
    rules = [write_identifier_pattern(name) for name in names]
    held = [s for s in asked.sentences if any(rule.search(s.raw) for rule in rules)]
    heads = [head for _, head in asked.counted.heads] if asked.counted else []
    texts = (*heads, *(f"{p.title} {p.text}" for p in asked.chunks))
    titled = any(rule.search(text) for text in texts for rule in rules)
    if names and asked.counted and not held and not titled:
        listed = join_with_and([f"“{name}”" for name in names])
        verb = "stands" if len(names) == 1 else "stand"
        return Written((Statement(f"The sources do not answer this. {listed} {verb} nowhere in them."),), True)
    if not held or not asks_for_identifier(asked.question):
        return None
    told = answer_definition(asked)
    if told and told.statements[0].sources:
        return told
    lines: list[Statement] = []
    shown: list[SourceSentence] = []
    for one in sorted(held, key=lambda s: is_heading(s.raw)):
        block = [s for s in (*_read_before(one, asked), one) if s not in shown]
        if len(shown) < MOST and one in block and differs_from(one, shown):
            shown += block
            text = " ".join(map(show_sentence, block))
            sources = tuple(s.source for s in block)
            lines.append(Statement(("\n- " if lines else "- ") + text, (one.reference,), sources))
    return Written(tuple(lines))


def _read_before(one: SourceSentence, asked: Asked) -> list[SourceSentence]:
    """The sentences of the same paragraph or bullet before one that says little but the identifier."""
    if len(WORD.findall(re.sub(r"\[[^]]*\]|\([^)]*\)", " ", one.raw))) > _FEW:
        return []
    base = next(p for p in asked.chunks if p.id == one.reference)
    offset = base.sources[0].start
    opens = [m.end() for m in _BLOCK.finditer(base.text, 0, one.source.start - offset)]
    begin = offset + (opens[-1] if opens else 0)
    near = [s for s in asked.sentences if s.reference == one.reference and begin <= s.source.start < one.source.start]
    return near[-_BEFORE:]


def favour_numbered(question: str, read: Read, chances: Floats) -> Floats:
    """The chances of sentences for a question with a numbered thing ("exit status 101", "version 15.4").

    Most where a line of the same text begins with the number, as in a table, and less where the number is not.
    """
    numbers = [m[1] for m in _NUMBERED.finditer(question)]
    if not numbers:
        return chances
    own = re.compile("|".join(rf"(?<![\w.-]){re.escape(n)}(?![\w-]|\.\d)" for n in numbers))
    entry = re.compile(rf"\W*(?:{own.pattern})\)?(?:\s*[-–—:=.]|\s\s)\s*\S")
    holding = [bool(own.search(s.raw)) for s in read.sentences]
    if not any(holding):
        return chances
    means = _ASKS_MEANING.search(question)
    weighed = chances * np.array([1.0 if held else _UNNUMBERED for held in holding])
    best = int(weighed.argmax())
    for i, one in enumerate(read.sentences):  # in the same text: elsewhere the number is another thing's
        if means and entry.match(one.raw) and one.origin == read.sentences[best].origin:
            weighed[i] = max(weighed[i], _ENTRY * weighed[best])
    return np.asarray(weighed / weighed.sum())


def favour_identified(question: str, read: Read, chances: Floats) -> Floats:
    """The chances of sentences for a question with identifiers, less where neither passage nor title has one.

    Less, too, for a sentence on another one of the series, where a sentence has that of the question.
    """
    rules = [write_identifier_pattern(name) for name in find_identifiers(question)]
    texts: dict[str, str] = {}
    for s in read.sentences:
        texts[s.reference] = f"{texts.get(s.reference, s.document)} {s.raw}"
    holding = {name for name, text in texts.items() if any(rule.search(text) for rule in rules)}
    if not holding:
        return chances
    own = [any(rule.search(s.raw) for rule in rules) for s in read.sentences]
    series = tuple(m[0] for m in map(_LETTERS.match, find_identifiers(question)) if m and m[0]) if any(own) else ()
    kept = [
        s.reference in holding and (held or not any(name.startswith(series) for name in find_identifiers(s.raw)))
        for s, held in zip(read.sentences, own, strict=True)
    ]
    weighed = chances * np.array([1.0 if one else _OTHERS for one in kept])
    return np.asarray(weighed / weighed.sum())
