"""Open triples of the chunks, as a model writes them: entities first, then what is said of them.

The index of HippoRAG 2 (Gutiérrez et al. 2025, §3.1). They are the part `triples` of an index; where it is built, the
part `facts` is made from them in place of the relations that all methods share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from sensegraph.extractions import Triple
from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, NoSettings, Part, PartEstimate
from sensegraph.language.text import fold
from sensegraph.methods.hipporag.tasks import TriplesEngine
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import recall_result, step
from sensegraph.types import Chunk, Description, Entity, Graph, Relation, Source

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight
    from sensegraph.index.restricted.scope import ScopedIndex

Triples = tuple[tuple[Triple, ...], ...]
_WRITTEN = 0.8  # tokens of both replies for a token of a chunk, roughly


@step("hipporag.triples", version=1, uses="engine", task="triples", sees=attrgetter("text", "title"))
def write_triples(chunks: Sequence[Chunk], *, engine: TriplesEngine) -> list[tuple[Triple, ...]]:
    """What each chunk says in triples."""
    return engine.triples(chunks)


@step("hipporag.keep_triples", version=1)
def keep_triples(wholes: Sequence[Sequence[tuple[Triple, ...]]]) -> list[Triples]:
    """The triples of every chunk, in the order of the chunks."""
    return [tuple(whole) for whole in wholes]


def join_triples(graph: Graph, chunks: Sequence[str], triples: Triples) -> Graph:
    """The graph with triples as its relations; phrases that name no entity of it stand behind its entities."""
    entities = list(graph.entities)
    called: dict[str, int] = {}
    for place, entity in enumerate(entities):
        called.setdefault(fold(entity.name), place)
    for place, entity in enumerate(entities):
        for alias in entity.aliases:
            called.setdefault(fold(alias), place)
    mentioned: dict[int, dict[str, None]] = {}
    told: dict[tuple[int, str, int], dict[str, Triple]] = {}
    for chunk, said in zip(chunks, triples, strict=True):
        for triple in said:
            ends = []
            for phrase in (triple.subject, triple.object):
                place = called.setdefault(fold(phrase), len(entities))
                if place == len(entities):
                    entities.append(Entity(key("phrase", fold(phrase))[:20], phrase, "phrase", "", (), (), 0, 0))
                mentioned.setdefault(place, {})[chunk] = None
                ends.append(place)
            told.setdefault((ends[0], fold(triple.predicate), ends[1]), {}).setdefault(chunk, triple)
    for place, found in mentioned.items():
        entities[place] = replace(entities[place], chunks=tuple(dict.fromkeys([*entities[place].chunks, *found])))
    relations = []
    for (one, _, other), said_in in told.items():
        ends_of = (entities[one].id, entities[other].id)
        said_texts = tuple(
            Description(f"{t.subject} {t.predicate} {t.object}", Source(chunk, 0, 0)) for chunk, t in said_in.items()
        )
        label = next(iter(said_in.values())).predicate
        name = key("triple", *ends_of, label)[:20]
        relations.append(Relation(name, *ends_of, "", said_texts, float(len(said_in)), tuple(said_in), label))
    return replace(graph, entities=tuple(entities), relations=tuple(relations))


class TriplesPart(Part[Triples, NoSettings]):
    """The open triples of every chunk."""

    name = "triples"
    reader = "hipporag"
    settings = NoSettings

    def build(self, building: Building, settings: NoSettings) -> MadePart:
        """Raises UnsupportedTask where the engine writes no triples."""
        rt = building.rt
        rt.check("the triples of hipporag", frozenset({"triples"}))
        written = rt.each(write_triples, list(building.chunks()), without=lambda _: ())
        made = rt.once(keep_triples, written, names=(building.chunks_key, *written.keys))
        return MadePart(PartEntry(made.key), {"triples": sum(map(len, made.value))})

    def estimate(self, foresight: Foresight, settings: NoSettings) -> PartEstimate:
        """Two calls for each chunk that nobody has read yet."""
        rt, chunks = foresight.rt, foresight.chunks
        todo = [chunks[i] for i in rt.missing(write_triples, chunks)]
        sizes = [round(_WRITTEN * chunk.tokens) for chunk in todo]
        return PartEstimate((foresight.step(write_triples.name, "triples", todo, sizes),))

    def read(self, index: Index) -> Triples:
        """The triples of every chunk, in the order of the catalogue."""
        return recall_result(index.store, keep_triples, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Triples, index: ScopedIndex) -> Triples:
        """Those of the chunks inside."""
        return tuple(value[i] for i in index.places)


TRIPLES = TriplesPart()
