"""LightRAG: names of the question search the entities, its themes the relations; their links and chunks complete both.

paper: Guo et al. 2024, arXiv 2410.05779; the steps and defaults are those of the authors' package lightrag-hku, 1.5.7
       (preset `current`) and 1.0.0 (preset `paper`, the version that other papers compared with)
index: chunk → extract → merge; vectors of entities, of relations (part `relations`) and of chunks
query: keywords → entities and relations by cosine → what they touch → chunks → one call
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from sensegraph.answering.asking import conclude_answer
from sensegraph.errors import SettingsError
from sensegraph.index.graph.lookups import Ties, ties_of
from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, NoSettings, Part, PartEstimate
from sensegraph.index.passages import documents_behind
from sensegraph.index.restricted.scope import ScopedIndex, positions_among
from sensegraph.index.vectors import embed_records
from sensegraph.language.text import count_tokens
from sensegraph.methods import check_fields
from sensegraph.methods.lightrag.tasks import find_keywords
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.assembling import (
    Ends,
    Nearness,
    Ranking,
    Told,
    chunks_within,
    deal_chunks,
    ends_in_order,
    ends_of,
    entities_within,
    flatten_groups,
    interleave_lists,
    links_of,
    near_neighbours,
    nearest_records,
    ranked_links,
    relations_within,
    shared_out,
    unite_passages,
)
from sensegraph.retrieval.signals import keywords_of, words_task
from sensegraph.runtime.keys import key
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Evidence, Graph, Question, Relation

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight


class RelationsPart(Part[Sequence[Relation], NoSettings]):
    """The relations of the graph, and their vectors."""

    name = "relations"
    needs = ("graph",)
    reader = "lightrag"
    kinds = ("relation",)
    settings = NoSettings

    def build(self, building: Building, settings: NoSettings) -> MadePart:
        """The vectors of the relations' texts."""
        graph = building.graph
        made = embed_records(lambda: relation_texts(graph.value), building.rt, name=key("relations", graph.key))
        return MadePart(PartEntry(made.key, {"relation": made.key}))

    def estimate(self, foresight: Foresight, settings: NoSettings) -> PartEstimate:
        """The texts of the relations."""
        return PartEstimate(texts=relation_texts(foresight.graph))

    def read(self, index: Index) -> Sequence[Relation]:
        """The relations that the vectors are of."""
        return index.graph.relations

    def restrict_to_scope(self, value: Sequence[Relation], index: ScopedIndex) -> Sequence[Relation]:
        """The relations inside."""
        return index.graph.relations

    def positions(self, kind: str, index: ScopedIndex) -> Sequence[int]:
        """Where the relations inside are among all of them."""
        return positions_among(index.whole.graph.relations, index.graph.relations)


def relation_texts(graph: Graph) -> list[str]:
    """What is embedded of relations: the label where there is one, the names of the ends, the description."""
    names = {e.id: e.name for e in graph.entities}
    parts = ((r.label, names[r.source], names[r.target], r.description) for r in graph.relations)
    return ["\n".join(filter(None, told)) for told in parts]


RELATIONS = RelationsPart()


Mode = Literal["auto", "local", "global", "hybrid", "mix", "naive"]
Preset = Literal["current", "paper"]

_SPARE = 200  # tokens of the context that stay free
_ALL = 1 << 30  # tokens: no bound
_NUMBERS: Mapping[Preset, Mapping[str, int]] = MappingProxyType(
    {
        "current": {"top": 40, "entity_tokens": 6_000, "relation_tokens": 8_000, "text_tokens": 30_000},
        "paper": {"top": 60, "entity_tokens": 4_000, "relation_tokens": 4_000, "text_tokens": 4_000},
    }
)


@dataclass(frozen=True, slots=True)
class _Desk:
    """What a question is worked on with, and what it found: best first, with cosines, chunks with their nearness."""

    index: Index
    joins: Ends
    ties: Ties
    near: Nearness
    entities: dict[int, float]
    relations: dict[int, float]
    chunks: dict[int, float]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class LightRAG:
    """Dual-level retrieval. `mode` says what is searched: `local` entities by names, `global` relations by themes,
    `hybrid` both, `mix` both and the chunks, `naive` the chunks alone; `auto` is mix, and hybrid in preset `paper`.

    Numbers of 0 are the preset's: `top` entities and relations whose cosine is above `cosine_floor`; tokens of
    entities, of relations, and of text (in preset `current` of all together). `chunks` bounds the chunks that are read.
    `related` is how many are taken for an entity or relation, out of its first `sources`, by `selection`: their
    nearness to the question, or the rank of what they belong to. `ranking` says what is near: cosines (the paper), or
    BM25, which `auto` takes where vectors compare words alone. `keywords` are searched for joined into one text, or
    each by itself, fused by rank. `named` puts the entities first that bear names of the question. `refined` asks the
    engine for the keywords.
    """

    preset: Preset = "current"
    mode: Mode = "auto"
    top: int = 0
    entity_tokens: int = 0
    relation_tokens: int = 0
    text_tokens: int = 0
    chunks: int = 20
    cosine_floor: float = 0.2
    related: int = 5
    sources: int = 200
    selection: Literal["vector", "weight"] = "vector"
    ranking: Ranking = "auto"
    keywords: Literal["joined", "each"] = "joined"
    named: bool = True
    refined: bool = True
    name: str = "lightrag"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"graph", "relations"})

    def __post_init__(self) -> None:
        for field in ("top", "entity_tokens", "relation_tokens", "text_tokens"):
            if getattr(self, field) < 0:
                raise SettingsError(f"lightrag: {field} ({getattr(self, field)}) is below 0; 0 is the preset's own.")
        check_fields(self, "chunks related sources", "be at least 1")
        if not -1 <= self.cosine_floor < 1:
            raise SettingsError(f"lightrag: cosine_floor ({self.cosine_floor}) must lie in -1 to below 1.")
        if self.preset == "paper" and self.mode in ("mix", "naive"):
            raise SettingsError(f"lightrag: preset paper has no mode {self.mode}; take auto, local, global or hybrid.")

    def usual_calls(self, chunks: int) -> Mapping[Task, tuple[int, int]]:
        """Calls besides the last one, by task, with the tokens that each reads: one for the keywords."""
        return {"keywords": (1, 0)} if self.refined and self._mode != "naive" else {}

    @property
    def context_tokens(self) -> int:
        """The most that a question reads: `current` bounds all of it by `text_tokens`, `paper` each of its parts."""
        parts = ("entity_tokens", "relation_tokens") if self.preset == "paper" else ()
        return sum(map(self._number, ("text_tokens", *parts)))

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """Entities, relations and chunks, in this order, within the context; documents by their best chunk."""
        if self._mode == "naive":
            query = np.asarray(rt.embedder.embed([question.sought], "query"), np.float32)
            found = Nearness(question, query[0], index, rt, self.ranking).top(self.chunks)
            left = self._number("text_tokens") - count_tokens(question.text) - _SPARE
            text = chunks_within(list(found), found, index, left)
            return _evidence_of_parts(Told(), Told(), text, len(found), index, ())
        desk = self._desk(question, index, rt)
        return self._paper(desk) if self.preset == "paper" else self._current(desk, count_tokens(question.text))

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from these passages."""
        asks = self.refined and self._mode != "naive"
        rt.check(self.name, self.requires | ({words_task(rt, find_keywords)} if asks else frozenset()))
        return conclude_answer(question, self.retrieve(question, index, rt), index, rt)

    @property
    def can_miss(self) -> frozenset[PartName]:
        """The parts that it does without: both where the chunks alone are searched."""
        return self.reads if self._mode == "naive" else frozenset()

    @property
    def _mode(self) -> Mode:
        default: Mode = "hybrid" if self.preset == "paper" else "mix"
        return default if self.mode == "auto" else self.mode

    def _number(self, field: str) -> int:
        given: int = getattr(self, field)
        return given or _NUMBERS[self.preset][field]

    # ── search: lightrag §4, steps 2–6 ──

    def _desk(self, question: Question, index: Index, rt: Runtime) -> _Desk:
        """The question with what its keywords find; all are embedded at once."""
        mode, top, floor = self._mode, self._number("top"), self.cosine_floor
        words = keywords_of(question, index, rt, refined=self.refined, words=find_keywords)
        low = self._sought(words.low) if mode != "global" else []
        high = self._sought(words.high) if mode != "local" else []
        vectors = np.asarray(rt.embedder.embed([question.sought, *low, *high], "query"), np.float32)
        entities = nearest_records("entity", vectors[1 : 1 + len(low)], index, rt, top, floor)
        if self.named and mode != "global":
            entities = dict.fromkeys(words.entities[:top], 1.0) | entities
        near = Nearness(question, vectors[0], index, rt, self.ranking)
        return _Desk(
            index,
            ends_of(index, rt),
            ties_of(index, rt),
            near,
            dict(list(entities.items())[:top]),
            nearest_records("relation", vectors[1 + len(low) :], index, rt, top, floor),
            near.top(self.chunks) if mode == "mix" else {},
            words.notes,
        )

    def _sought(self, words: Sequence[str]) -> list[str]:
        return [", ".join(words)] if words and self.keywords == "joined" else list(words)

    # ── preset current: lightrag §4, steps 7–9 ──

    def _current(self, desk: _Desk, question: int) -> Evidence:
        """Both parts in turn, cut to their tokens; then chunks by vector, of entities and of relations in turn."""
        low, high = list(desk.entities), list(desk.relations)
        entities = interleave_lists([low, ends_in_order(high, desk.joins)])
        relations = interleave_lists([self._links(low, desk), high])
        told = self._entities(entities, desk)
        linked = self._relations(relations, desk)
        mine = deal_chunks(desk.ties.mentioning(e)[: self.sources].tolist() for e in entities[: len(told)])
        stating = (desk.ties.stating(r)[: self.sources].tolist() for r in relations[: len(linked)])
        theirs = deal_chunks(stating, flatten_groups(mine))
        ranked = interleave_lists([list(desk.chunks), self._chosen(mine, desk), self._chosen(theirs, desk)])
        left = self._number("text_tokens") - told.tokens - linked.tokens - question - _SPARE
        chunks = chunks_within(ranked[: self.chunks], desk.chunks, desk.index, left)
        behind = dict.fromkeys([*ranked, *flatten_groups(mine), *flatten_groups(theirs)])
        found = len(entities) + len(relations) + len(behind)
        return _evidence_of_parts(told, linked, chunks, found, desk.index, desk.notes)

    def _chosen(self, groups: Sequence[Sequence[int]], desk: _Desk) -> list[int]:
        """Of the chunks behind entities or relations those nearest to the question, or those of the first."""
        if self.selection == "weight":
            return shared_out(groups, self.related)
        places = flatten_groups(groups)
        order = np.argsort(-desk.near.of(places), kind="stable")[: self.related * len(groups) // 2]
        return [places[i] for i in order.tolist()]

    # ── preset paper: lightrag §3 ──

    def _paper(self, desk: _Desk) -> Evidence:
        """Each part with budgets of its own; then both, row by row, the relations' part first."""
        low = list(desk.entities)
        high = ranked_links(list(desk.relations), desk.index, desk.joins, desk.ties.weight)
        links, ends = self._links(low, desk), ends_in_order(high, desk.joins)
        behind = (
            deal_chunks(desk.ties.stating(r)[: self.sources].tolist() for r in high),
            near_neighbours(low, desk.index, desk.ties, self.sources),
        )
        everything = entities_within(low, desk.entities, desk.index, _ALL)
        entities = unite_passages([self._entities(ends, desk), everything])
        relations = unite_passages([self._relations(high, desk), self._relations(links, desk)])
        text = self._number("text_tokens")
        chunks = unite_passages([chunks_within(flatten_groups(b), desk.chunks, desk.index, text) for b in behind])
        texts = {*flatten_groups(behind[0]), *flatten_groups(behind[1])}
        found = len({*low, *ends}) + len({*high, *links}) + len(texts)
        return _evidence_of_parts(entities, relations, chunks, found, desk.index, desk.notes)

    # ── both ──

    def _links(self, entities: Sequence[int], desk: _Desk) -> list[int]:
        return ranked_links(links_of(entities, desk.index), desk.index, desk.joins, desk.ties.weight)

    def _entities(self, places: Sequence[int], desk: _Desk) -> Told:
        return entities_within(places, desk.entities, desk.index, self._number("entity_tokens"))

    def _relations(self, places: Sequence[int], desk: _Desk) -> Told:
        return relations_within(places, desk.relations, desk.index, desk.joins, self._number("relation_tokens"))


def _evidence_of_parts(
    entities: Told, relations: Told, chunks: Told, found: int, index: Index, notes: Sequence[str]
) -> Evidence:
    """What is read; `found` counts all that there was to read."""
    told = (*entities.passages, *relations.passages, *chunks.passages)
    documents = documents_behind([*chunks.passages, *entities.passages, *relations.passages], index)
    note = f"{len(entities)} entities, {len(relations)} relations and {len(chunks)} chunks read of {found} found"
    taken = entities.tokens + relations.tokens + chunks.tokens
    return Evidence(told, documents, taken, found - len(told), (note, *notes))
