"""Answers to questions of fact: the sentence that answers first, what leads to it, and no more than is needed.

What a rule is sure of stands before the sentence in bold: the one date or number of the asked kind. Where the passages
hold no answer, the answer says so, names the words of the question that stand nowhere, and shows what comes nearest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from sensegraph.engines.offline.answers.answer_types import Candidate, find_candidates, find_names
from sensegraph.engines.offline.answers.asked import Asked, Written, list_sentences
from sensegraph.engines.offline.answers.ranking import (
    Floats,
    Read,
    load_weights,
    rate_holding,
    rate_sentences,
    read_evidence,
    stem_units,
)
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.engines.offline.reports.sentence_quality import join_with_and
from sensegraph.language.text import WORD, name_stemmer
from sensegraph.types import Statement

HOLDS = 0.29  # chance that the passages hold an answer, below which the answer abstains
SURE, LIKELY = 0.6, 0.15  # chance of the best sentence from which it needs no word before it, or one
ENOUGH = 0.92  # chance of what is shown from which nothing more is
MOST, DEPTH = 3, 5  # sentences shown, and those that they are taken from
WORDS = 100  # most words shown; the first sentence is shown whole
TWO_HOPS = 0.5  # value of the gate from which a question is one of two hops
_UNIT = re.compile(r"how many\s+(\w+)|wie ?viele?\s+(\w+)", re.IGNORECASE)


def answer_fact(asked: Asked) -> Written | None:
    """The answer to a question of fact; None where question or chunks hold no word."""
    question, weights = asked.question, load_weights()
    read = read_evidence(question, asked.chunks, asked.sentences, asked.counted)
    if read is None:
        return None
    chances, gate = rate_sentences(read, weights)
    order = [int(i) for i in np.argsort(-chances, kind="stable")]
    best = order[0]
    if rate_holding(read, weights) < HOLDS and gate < TWO_HOPS:
        return Written((_tell_nothing(read), *list_sentences([read.sentences[best]], "\n\nWhat comes nearest: ")), True)
    chosen = _choose_sentences(read, order, chances, gate)
    lead = "" if chances[best] >= SURE else "Most likely: " if chances[best] >= LIKELY else "What comes nearest: "
    bold = _find_answer(question, read, best) if chances[best] >= SURE and gate < TWO_HOPS else ""
    return Written(tuple(list_sentences(chosen, f"**{bold}.** " if bold else lead)))


def _tell_nothing(read: Read) -> Statement:
    """That there is no answer, and which words of the question stand nowhere."""
    text = "The sources do not answer this."
    if read.missing:
        words = join_with_and([f"“{word}”" for word in read.missing[:3]])
        text += f" {words} {'stands' if len(read.missing) == 1 else 'stand'} nowhere in them."
    return Statement(text)


def _choose_sentences(read: Read, order: Sequence[int], chances: Floats, gate: float) -> list[SourceSentence]:
    """The sentences to show, best first: with what leads to the best one behind it, none that says the same again."""
    best = order[0]
    chosen = [read.sentences[best]]
    length, shown = len(chosen[0].text.split()), float(chances[best])
    leads = read.because[best] if gate >= TWO_HOPS else -1
    left = MOST - 1
    for i in ([leads] if leads >= 0 else []) + list(order[1:DEPTH]):
        one = read.sentences[i]
        size = len(one.text.split())
        if left == 0 or (shown >= ENOUGH and i != leads):
            break
        if length + size > WORDS or not differs_from(one, chosen):
            continue
        chosen.append(one)
        length += size
        if i != leads:
            left -= 1
            shown += float(chances[i])
    return chosen


def _find_answer(question: str, read: Read, best: int) -> str:
    """The date or number that answers, where the sentence has only one: else the one with the unit that is asked for."""
    if read.kind not in ("date", "number"):
        return ""
    text = read.sentences[best].text
    spoken = name_stemmer(question)
    found = [
        c for c in find_candidates(read.kind, text, find_names(text))
        if not frozenset(stem_units(c.text, spoken)) <= read.stems
    ]  # fmt: skip
    unit = _UNIT.search(question) if read.kind == "number" else None
    if unit:
        wanted = frozenset(stem_units(next(filter(None, unit.groups())), spoken))
        found = [c for c in found if wanted & frozenset(stem_units(" ".join(_words_behind(text, c)), spoken))]
    return found[0].text if len(found) == 1 else ""


def _words_behind(text: str, found: Candidate) -> list[str]:
    """The two words behind a number, with those in it."""
    return WORD.findall(text[found.start : found.end + 40])[: len(WORD.findall(found.text)) + 2]
