"""What the sources say beside what the reports show of them: for engines that answer in quotations.

A model reads a report and understands what it stands for; an engine that quotes can only show sentences that it is
given. A question with rare words gets the sentences behind a community's entities and relations that hold them, and
the entities that it names; a question about the whole gets, for the weightiest communities, the sentences that name
most of their members, and a count of the documents that are really about them.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.full_text import WordRows
from sensegraph.algorithms.graphs import Ints, Longs
from sensegraph.answering.asking import for_quoting
from sensegraph.index.hierarchy.packing import report_passage
from sensegraph.index.index import Index
from sensegraph.language.text import HAN, WORD, collect_terms, fold
from sensegraph.language.word_lists import SAID_FOR, read_words
from sensegraph.runtime.keys import document_part
from sensegraph.runtime.results import Table, step, take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Cluster, Description, Entity, Graph, Hierarchy, Passage

_COMMON = 0.05  # a word in more than this share of the elements tells nothing apart
_MOST, _ALL = 40, 400  # sentences added to one report, and to all together
_SHORT = 4  # letters; shorter words are seldom content
_ROOT = 5  # letters that the forms of a word have in common
_BROAD = 14  # communities whose central sentences a question about the whole is given
_CENTRAL = 400  # of those sentences, how many for each at most
_READABLE = (40, 300)  # characters of a sentence that may be shown
_STRONG, _TOGETHER = 10, 3  # a document is about a community where three of its ten best-linked members share a chunk
_LONGEST = 3  # words of a name in a question
_ASKING = read_words("words/asking")  # words of asking, of any corpus: they find nothing
_COMPARES = re.compile(r"\b(?:compar\w+|versus|than|other)\b", re.IGNORECASE)
_BESIDE = 8  # entities that a question which compares is given besides

Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class _Found:
    """Sentences of one community by their place, with what each weighs; of those with the same words the first."""

    said: dict[Place, Description] = field(default_factory=dict)
    weight: dict[Place, float] = field(default_factory=dict)

    def best(self, most: int) -> list[Description]:
        """The `most` heaviest, heaviest first; equal ones in the order in which they were found."""
        order = {place: i for i, place in enumerate(self.said)}
        ranked = sorted(self.said, key=lambda place: (-self.weight[place], order[place]))
        return list({self.said[place].text: self.said[place] for place in reversed(ranked)}.values())[::-1][:most]


def report_passages(
    question: str, index: Index, clusters: Sequence[Cluster], rt: Runtime, *, speaking: bool = False
) -> list[Passage]:
    """The reports of `clusters` as passages; for an engine that quotes, as `detail_reports` has them."""
    quoted = for_quoting(rt, lambda: [detail_reports(question, index, clusters, rt, speaking=speaking)])
    return quoted[0] if quoted else [report_passage(c) for c in clusters]


def detail_reports(
    question: str, index: Index, clusters: Sequence[Cluster], rt: Runtime, *, speaking: bool = False
) -> list[Passage]:
    """The reports of `clusters` as passages with what the sources say beside them, and the entities asked about.

    With `speaking`, of a question about something only those with a word of it, in any form.
    """
    words = _search_words(question)
    if not words:  # about the whole: the number of documents, and for the weightiest their central sentences
        top = sorted(clusters, key=lambda c: (-c.rating, c.id))[:_BROAD]
        said, about = central_sentences(index, top), count_documents_about(index, clusters)
        return [replace(report_passage(c, said.get(c.id, ())), documents=max(1, about[c.id])) for c in clusters]
    said = rare_sentences(question, index, clusters, rt)
    if speaking:
        speak = find_speaking_reports(question, words, index, rt)
        clusters = [c for c in clusters if c.id in speak or c.id in said]
    reports = [report_passage(c, said.get(c.id, ())) for c in clusters]
    asked = find_asked_entities(question, index, words)
    return reports + asked + (most_mentioned_entities(index, asked) if _COMPARES.search(question) else [])


# ── the words of what an index tells ──


@dataclass(frozen=True)
class Told:
    """The distinct sentences that tell of the elements of a graph, by their words, and of which elements they tell.

    Elements are the entities and then the relations; sentence i tells of `elements[first[i]:first[i + 1]]`.
    """

    letters: NDArray[np.uint8]
    begin: Longs
    start: Longs
    rows: Ints
    first: Longs
    elements: Ints

    def find(self, word: str) -> Ints:
        """The elements of which a sentence tells that has these letters in a word, ascending."""
        sentences = WordRows(self.letters, self.begin, self.start, self.rows).find(word)
        parts = [self.elements[self.first[i] : self.first[i + 1]] for i in sentences.tolist()]
        return np.unique(np.concatenate([np.zeros(0, np.int32), *parts]))


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of an element."""

    descriptions: tuple[Description, ...] = ()


@step("details.told", version=1, form="arrays")
def index_elements(graphs: Sequence[Graph]) -> list[Told]:
    """The words of all that is said of the elements of each graph."""
    found = []
    for graph in graphs:
        whose: dict[tuple[Place, str], list[int]] = defaultdict(list)
        for i, element in enumerate(_read_said(graph)):
            for said in element.descriptions:
                whose[_span_of(said), said.text].append(i)
        words = WordRows.build(WORD.findall(text.casefold()) for _, text in whose)
        first = np.cumsum([0, *map(len, whose.values())], dtype=np.int64)
        elements = np.asarray([i for own in whose.values() for i in own], np.int32)
        found.append(Told(words.letters, words.begin, words.start, words.rows, first, elements))
    return found


def _read_said(graph: Graph) -> Iterator[Any]:
    """The elements of a graph, of stored ones no more than what is said of them."""
    for table in (graph.entities, graph.relations):
        yield from table.lightly(_Said) if isinstance(table, Table) else table


@step("details.reports", version=1, form="arrays")
def index_reports(hierarchies: Sequence[Hierarchy]) -> list[WordRows]:
    """The words of the reports of each hierarchy."""
    return [
        WordRows.build(WORD.findall(f"{c.title}\n{c.text}".casefold()) for c in hierarchy.clusters)
        for hierarchy in hierarchies
    ]


def find_speaking_reports(question: str, words: Sequence[str], index: Index, rt: Runtime) -> frozenset[str]:
    """The ids of the reports with a word that begins as one of `words`, is often said for it, or is its initials."""
    marks = [w[:_ROOT] for w in words]
    marks += [
        f"\n{said}" for known, others in SAID_FOR.items() for said in others if any(known[:_ROOT] == m for m in marks)
    ]
    asked = [w for w in WORD.findall(question.casefold()) if w not in _ASKING and w.isascii()]
    marks += [f"\n{a[0]}{b[0]}\n" for a, b in pairwise(asked)]
    clusters = index.hierarchy.clusters
    if isinstance(clusters, Table):
        told = rt.once(index_reports, lambda: index.hierarchy, names=(index.manifest.hierarchy,)).value
        ids = clusters.ids()
    else:  # under a filter they are in memory
        told, ids = index_reports.fn([index.hierarchy])[0], [c.id for c in clusters]
    return frozenset(ids[i] for mark in marks for i in told.find(mark).tolist())


# ── a question about something ──


def rare_sentences(
    question: str, index: Index, clusters: Sequence[Cluster], rt: Runtime
) -> dict[str, list[Description]]:
    """Sentences by cluster id that hold a rare word of `question`, those with most and rarest words first."""
    home = {e: c.id for c in clusters for e in c.entities}
    found: dict[str, _Found] = defaultdict(_Found)
    for kept, ends, descriptions in _search_elements(index, _search_words(question), rt):
        place = min((home[e] for e in ends if e in home), default="")
        for said in descriptions if place else ():
            low = said.text.casefold()
            weight = sum(worth for word, worth in kept.items() if word in low)
            if weight:
                found[place].said.setdefault(_span_of(said), said)
                found[place].weight[_span_of(said)] = weight
    # the best of each community, and of all of them together no more than `_ALL`
    best = {name: f.best(_MOST) for name, f in found.items()}
    quoted = ((name, i, said) for name, quotes in best.items() for i, said in enumerate(quotes))
    ranked = sorted((-found[name].weight[_span_of(said)], name, i) for name, i, said in quoted)[:_ALL]
    count = Counter(name for _, name, _ in ranked)
    return {name: best[name][:n] for name, n in sorted(count.items())}


def _span_of(said: Description) -> Place:
    return said.source.chunk, said.source.start, said.source.end


def _search_elements(
    index: Index, words: Sequence[str], rt: Runtime
) -> Iterator[tuple[dict[str, float], tuple[str, ...], Sequence[Description]]]:
    """Entities and relations that hold a rare word: those words with their worth, the entities, the descriptions."""
    graph = index.graph
    entities, total = len(graph.entities), len(graph.entities) + len(graph.relations)
    if isinstance(graph.entities, Table):
        told = rt.once(index_elements, lambda: graph, names=(index.manifest.graph,)).value
    else:  # under a filter they are in memory
        told = index_elements.fn([graph])[0]
    held: dict[int, dict[str, float]] = defaultdict(dict)
    for word in words:
        places = told.find(word).tolist()
        if 0 < len(places) <= max(3, _COMMON * total):
            for place in places:
                held[place][word] = math.log(1 + total / len(places))
    order = sorted(held)
    split = bisect_left(order, entities)
    records = take_records(graph.entities, order[:split])
    relations = take_records(graph.relations, [place - entities for place in order[split:]])
    yield from ((held[i], (e.id,), e.descriptions) for i, e in zip(order[:split], records, strict=True))
    ends = ((held[i], (r.source, r.target), r) for i, r in zip(order[split:], relations, strict=True))
    yield from ((kept, both, r.descriptions) for kept, both, r in ends)


def _search_words(question: str) -> list[str]:
    """The question's longer words without the endings that vary, none of asking, and its pairs of characters."""
    found = (w if HAN.search(w) else w[: max(_SHORT, len(w) - 2)] for w in collect_terms(question) if w not in _ASKING)
    return sorted({w for w in found if len(w) >= _SHORT or HAN.search(w)})


def find_asked_entities(question: str, index: Index, words: Sequence[str]) -> list[Passage]:
    """The entities that the question names, each with the documents that mention it and what is said of it.

    A name is found as it is written or by its initials; a name inside a longer one that is found is left out.
    """
    spans = _spans_of_names(question)
    found: dict[tuple[int, int], Entity] = {}
    for entity in _entities_by_name(index, spans):
        for span in spans[fold(entity.name)]:
            if span not in found or (len(entity.chunks), entity.id) > (len(found[span].chunks), found[span].id):
                found[span] = entity
    whole = [s for s in sorted(found) if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in found)]
    return [_entity_passage(found[s], words) for s in whole]


def _entities_by_name(index: Index, names: Collection[str]) -> Iterable[Entity]:
    """The entities with one of these folded names, not with them as another name."""
    table = index.graph.entities
    if isinstance(table, Table):
        table = take_records(table, sorted({i for own in index.lookups.called_each(sorted(names)) for i in own}))
    yield from (e for e in table if fold(e.name) in names)


def _spans_of_names(question: str) -> dict[str, list[tuple[int, int]]]:
    """Stretches of up to three words of the question, none of them of asking, and their initials, with their places."""
    words = [fold(w) for w in WORD.findall(question)]
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for a in range(len(words)):
        for b in range(a + 1, min(len(words), a + _LONGEST) + 1):
            if any(w in _ASKING or len(w) < 2 for w in words[a:b]):
                break
            spans[" ".join(words[a:b])].append((a, b))
            if b - a > 1 and all(len(w) > _SHORT for w in words[a:b]):
                spans["".join(w[0] for w in words[a:b])].append((a, b))
    return spans


def _entity_passage(entity: Entity, words: Sequence[str]) -> Passage:
    """An entity with the sentences about it that hold most words of the question."""
    hits = [sum(w in d.text.casefold() for w in words) for d in entity.descriptions]
    order = sorted(range(len(hits)), key=lambda i: (-hits[i], i))[:_MOST]
    quotes = tuple(entity.descriptions[i] for i in order)
    documents = len({document_part(c) for c in entity.chunks})
    return Passage("entity", entity.id, entity.description, title=entity.name, quotes=quotes, documents=documents)


def most_mentioned_entities(index: Index, asked: Sequence[Passage]) -> list[Passage]:
    """The entities that most documents name, besides those asked about, to compare with."""
    known = {p.id for p in asked}
    counts = [(len({document_part(c) for c in e.chunks}), e) for e in index.graph.entities if e.id not in known]
    top = sorted(counts, key=lambda pair: (-pair[0], pair[1].id))[:_BESIDE]
    return [replace(_entity_passage(e, ()), quotes=e.descriptions[:1]) for _, e in top]


# ── a question about the whole ──


def central_sentences(index: Index, clusters: Sequence[Cluster]) -> dict[str, list[Description]]:
    """By cluster id the sentences that name most of its members, each member weighing the log of its mentions."""
    home = {e: c.id for c in clusters for e in c.entities}
    found: dict[str, _Found] = defaultdict(_Found)
    for entity in index.graph.entities:
        if entity.id in home:
            _weigh_sentences(found[home[entity.id]], entity.descriptions, math.log1p(entity.frequency))
    for relation in index.graph.relations:
        if home.get(relation.source, "") == home.get(relation.target):
            _weigh_sentences(found[home[relation.source]], relation.descriptions, math.log1p(relation.weight))
    return {name: f.best(_CENTRAL) for name, f in sorted(found.items())}


def _weigh_sentences(found: _Found, descriptions: Iterable[Description], weight: float) -> None:
    for said in descriptions:
        if _READABLE[0] <= len(said.text) <= _READABLE[1]:
            found.said.setdefault(_span_of(said), said)
            found.weight[_span_of(said)] = found.weight.get(_span_of(said), 0.0) + weight


def count_documents_about(index: Index, clusters: Sequence[Cluster]) -> dict[str, int]:
    """By cluster id the documents of which one chunk names three of its ten best-linked members, or all if fewer."""
    entities = {e.id: e for e in index.graph.entities}
    counts = {}
    for cluster in clusters:
        strong = sorted((entities[e] for e in cluster.entities if e in entities), key=lambda e: (-e.degree, e.id))
        held = Counter(chunk for e in strong[:_STRONG] for chunk in e.chunks)
        least = min(_TOGETHER, len(strong))
        counts[cluster.id] = len({document_part(chunk) for chunk, n in held.items() if n >= least})
    return counts
