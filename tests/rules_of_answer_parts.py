"""Rules of the parts that offline answers are made of, given in a form that stands in a line of JSON.

Passages are given as in tests/rules_of_offline_answers.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rules_of_offline_answers import Given, make_inquiry
from sensegraph.engines.offline.answers import corrections, facts, features, question_text
from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.relating import causes, comparisons, relations
from sensegraph.engines.offline.answers.source_sentences import choose_language, read_source_sentences


def choose_facts(question: str, given: Sequence[Given], worth: Sequence[float], gate: float, most: int) -> Any:
    """Which sentences answer a question of fact where their chances are as given, in turn and again."""
    asked = _ask(question, given)
    read = features.read_evidence(question, asked.chunks, asked.sentences, None)
    if read is None:
        return None
    chances = np.resize(np.array(worth, np.float64), len(read.sentences))
    order = [int(i) for i in np.argsort(-chances, kind="stable")]
    chosen = facts.choose_fact_sentences(read, order, chances, gate, most)
    return [[s.order for s in chosen], facts.prefer_statement(read, order, chances)]


def find_fact(question: str, given: Sequence[Given]) -> Any:
    """The sentences that answer a part of a question, their chances, and whether they do."""
    found = facts._find_part(_ask(question, given), question)
    return found and [found.order, found.chances, found.gate, found.holds]


def correct(given: Sequence[Given]) -> list[Any]:
    """What each sentence of a context is corrected by."""
    asked = _ask("What is wrong?", given)
    found = (corrections.prefer_corrections([s], asked.sentences) for s in asked.sentences)
    return [[[p.sentence.order, p.replaced] for p in preferred] for preferred in found]


def explain(event: str, given: Sequence[Given], thing: str = "") -> list[Any]:
    """The sentences that give a cause of an event, how surely, and how a thing led to it."""
    asked = _ask(f"Why did {event}?", given)
    found = [[[s.order for s in one.sentences], one.score] for one in causes.find_causes(asked, event)]
    told = causes.answer_influence(asked, thing, event) if thing else None
    return [found, told and [s.text for s in told.statements]]


def compare(one: str, other: str, aspect: str, given: Sequence[Given]) -> list[Any]:
    """Two things side by side: how they differ, what is said of both on something, and which came first."""
    asked = _ask(f"How do {one} and {other} differ in {aspect}?", given)
    found = (
        comparisons.show_difference(asked, one, other), comparisons.show_aspect(asked, one, other, aspect),
        comparisons.show_order(asked, one, other, aspect),
    )  # fmt: skip
    return [written and [s.text for s in written.statements] for written in found]


def restore(question: str, *texts: str) -> str:
    """A question with its names as texts write them."""
    asked = _ask(question, [["chunk", "", text, 1.0] for text in texts])
    return question_text.restore_names(question, asked.sentences)


def find_end(question: str, text: str) -> Any:
    """What a question about a relation asks for, and the other end of it in a sentence."""
    relation = relations.read_asked_relation(question)
    sentences = _ask(question, [["chunk", "", text, 1.0]]).sentences
    return relation and [relations.find_other_end(relation, one) for one in sentences]


def _ask(question: str, given: Sequence[Given]) -> Asked:
    passages = make_inquiry(question, given).context.passages
    return Asked(question, passages, tuple(read_source_sentences(passages, choose_language(question, passages))))
