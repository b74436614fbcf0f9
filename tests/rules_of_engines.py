"""Rules of the offline engine that are given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from offline_examples import cut_text
from sensegraph.engines.llm.judging_tasks import name_item
from sensegraph.engines.offline.answers import outlines, questions
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.extraction import corpus_reading, kinds, relating
from sensegraph.engines.offline.extraction.link_words import find_link_words
from sensegraph.engines.offline.extraction.observations import Candidate
from sensegraph.engines.offline.reports import community, community_reports
from sensegraph.trials import Check
from sensegraph.types import Passage, Source


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


def vote(key: str, left: str = "", right: str = "", marks: str = "") -> list[float]:
    """The votes of one mention of a name by what stands before and after it."""
    return kinds._vote_by_context(key, Candidate(0, 0, len(key), key, left=left, right=right, marks=marks))


def quote(raw: str, code: str, owners: Sequence[str], label: int = 0) -> list[Any]:
    """A quote of a community with the passages that it supports: its text, and what it is worth."""
    made = community._make_quote(raw, [Source("c", label, len(raw)), Source("", 0, 9)], tuple(owners), code)
    return [made.text, made.speaker, len(made.sources), made.worth, made.candidate.words]


def rate_community(documents: Sequence[int], weights: Sequence[float], reports: Sequence[float] = ()) -> Any:
    """How important a group is by the documents of its members, the weights of its relations, and reports below."""
    entities = tuple(Passage("entity", f"e{i}", "", documents=n) for i, n in enumerate(documents))
    relations = tuple(Passage("relation", f"r{i}", "", score=n) for i, n in enumerate(weights))
    below = tuple(Passage("report", f"p{i}", "", score=n) for i, n in enumerate(reports))
    centre = community.find_centre([], "en")
    made = community.Community("en", (), entities, relations, below, (), (), centre, {})
    return community_reports.rate_community(made)


def choose_line(title: str, texts: Sequence[str], talk: bool = False, hosts: Sequence[str] = ()) -> str:
    """Which sentence an outline shows for a title; in a talk each has its speaker before a bar."""
    told = [text.partition("|")[::2] if talk else ("", text) for text in texts]
    sentences = [
        SourceSentence(text, speaker, Source("c", i, i), "p", tuple(text.casefold().split()), i)
        for i, (speaker, text) in enumerate(told)
    ]
    best = outlines._choose_sentence(title, sentences, frozenset(hosts), talk, ())
    return best.raw if best else ""


def select_pairs(rows: Sequence[tuple[int, int, float]], seen: Sequence[int], named: Sequence[int], count: int) -> Any:
    """Which pairs of things stay, given as two numbers and a weight, and the strength of one unit of weight."""
    pairs = np.array([low << 32 | high for low, high, _ in rows], np.int64)
    weight = np.array([weight for _, _, weight in rows])
    is_named = np.isin(np.arange(len(seen)), named)
    return relating.select_pairs(pairs, weight, np.array(seen, np.int64), is_named, count)


def weigh_pairs(*sentences: Sequence[str]) -> list[Any]:
    """What things and pairs of them weigh in some sentences."""
    return [sorted(found.items()) for found in relating.weigh_pairs(sentences)]


def find_centre(sentences: Sequence[Sequence[str]], code: str, *near: Sequence[str]) -> list[Any]:
    """The centre of sentences given as stems, and how close others are to it."""
    found = community.find_centre(sentences, code)
    return [sorted(found.weights.items()), sorted(found.themes), [found.closeness(terms) for terms in near]]


def extend_name(name: str, *texts: str) -> str:
    """A name with the word that mostly follows it."""
    return community_reports.extend_name(name, texts)


def name_check(statement: str) -> str:
    """What errors call a statement that is checked."""
    return name_item(Check(statement, ()))


def ask_terms(texts: Sequence[str], parts: int = 2) -> list[Any]:
    """Of what each document asks the corpus at each look, and what is known then: how much it is, and a digest."""
    documents = [cut_text(f"d{i}", text, parts) for i, text in enumerate(texts)]
    seen = corpus_reading.observe_documents(documents)
    told: list[dict[str, str]] = [{} for _ in seen]
    known: dict[str, str] = {}
    found: list[Any] = []
    for look in range(corpus_reading.LOOKS):
        counted = corpus_reading.count_documents(list(zip(seen, told, strict=True)), look)
        known |= corpus_reading.learn_corpus([count for _, count in counted], look, known, {})
        for one, (terms, _) in zip(told, counted, strict=True):
            one.update((term, known[term]) for term in terms if term in known)
        found += [[len(one), zlib.crc32("\n".join(sorted(one)).encode())] for one in (*(t for t, _ in counted), known)]
    return found
