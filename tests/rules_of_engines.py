"""Rules of the offline engine that are given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sensegraph.engines.offline.answers import questions
from sensegraph.engines.offline.extraction.link_words import find_link_words


def cover(question: str, code: str, *texts: str) -> list[Any]:
    """What the words of a question weigh, its names, and how much of it each text holds."""
    wanted = questions.read_wanted_words(question, code)
    return [dict(wanted.weights), wanted.names, [questions.measure_coverage(wanted, text, code) for text in texts]]


def find_key_phrases(texts: Sequence[str], top: int, avoid: Sequence[str] = (), least: int = 2) -> list[Any]:
    """The phrases that texts turn on, each with its stems, its score and the texts that hold it."""
    found = questions.find_key_phrases(texts, top, avoid=frozenset(avoid), least=least)
    return [[one.text, one.stems, one.score, one.hits] for one in found]


def link(text: str, first: str, second: str, begin: int = 0) -> str:
    """The words that lead from one thing of a text to another that stands behind it."""
    start = text.index(first)
    return find_link_words(text, (start, start + len(first)), text.rindex(second), begin)
