"""Rules of the questions that are made of what sentences say outright, given documents as names with their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sensegraph.lab.questions import described_things
from sensegraph.lab.questions.described_things import PlainFacts
from sensegraph.types import Chunk


def plain_facts(*documents: Sequence[str]) -> list[Any]:
    """What is described as what, and what does what."""
    facts = _read_facts(documents)
    return [
        [[d.name, d.what, d.head, d.how, d.clause, d.chunk] for d in facts.described],
        [[a.name, a.verb, a.object, a.purpose, a.chunk] for a in facts.acting],
    ]


def plain_questions(*documents: Sequence[str]) -> list[Any]:
    """The questions on one sentence, on two that hang together, and on two things of one kind."""
    facts = _read_facts(documents)
    return [
        [[w.text, w.answers, w.chunks, w.parts] for w in asked]
        for asked in (facts.ask_local(), facts.ask_bridges(), facts.ask_comparisons())
    ]


def stands_alone(sentence: str) -> bool:
    """Whether a sentence is whole and plain."""
    return described_things._stands_alone(sentence)


def is_name(name: str, document: str = "") -> bool:
    """Whether it is a name of its own."""
    return described_things._is_name(name, document)


def are_adjectives(base: str) -> bool:
    """Whether what stands before the last words of a kind are single adjectives."""
    return described_things._are_adjectives(base)


def _read_facts(documents: Sequence[Sequence[str]]) -> PlainFacts:
    chunks = [Chunk(f"{name}-{i}", name, 0, len(text), 1, text) for i, (name, text) in enumerate(documents)]
    return PlainFacts.of(chunks)
