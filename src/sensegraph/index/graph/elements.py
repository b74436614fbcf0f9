"""An entity and a relation while they are gathered, and the records that are made of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from sensegraph.index.graph.graph_settings import Weight
from sensegraph.language.text import fold
from sensegraph.language.word_lists import STOP
from sensegraph.resolution.aliases import Called, Name
from sensegraph.runtime.keys import key
from sensegraph.types import Description, Entity, Relation, Source

_ALIASES = 8  # other names that are kept of one entity
_NO_NAMES = frozenset(word for words in STOP.values() for word in words)
fold_name = lru_cache(maxsize=1 << 16)(fold)  # the same names come again with every chunk


@dataclass(frozen=True, slots=True)
class EntityNode:
    """An entity while it is gathered."""

    names: Counter[str] = field(default_factory=Counter)
    surfaces: Counter[str] = field(default_factory=Counter)
    descriptions: list[Description] = field(default_factory=list)
    chunks: dict[str, None] = field(default_factory=dict)

    @property
    def frequency(self) -> int:
        """How often it is mentioned, under any of its names."""
        return self.names.total()


@dataclass(frozen=True, slots=True)
class RelationLink:
    """A relation while it is gathered."""

    descriptions: list[Description] = field(default_factory=list)
    labels: Counter[str] = field(default_factory=Counter)
    told: Counter[tuple[str, bool]] = field(default_factory=Counter)  # label, and whether the first end is its subject
    strengths: list[float] = field(default_factory=list)
    chunks: dict[str, None] = field(default_factory=dict)


@lru_cache(1 << 12)  # those of a run are asked for again
def entity_id(name: Name) -> str:
    """The id of the entity with this (folded name, folded type)."""
    return key("entity", *name)[:20]


def relation_id(source: str, target: str) -> str:
    """The id of the relation between two entity ids."""
    return key("relation", *sorted((source, target)))[:20]


def source_span(chunk: str, start: int, end: int, length: int) -> Source:
    """The span, or the whole chunk where the span is not known."""
    return Source(chunk, start, end) if end > start else Source(chunk, 0, length)


def make_entity(name: str, whose: Name, node: EntityNode, degree: int, called: Called | None) -> Entity:
    """The entity with the id `name`, whose own name is `whose`, or that is `called` otherwise."""
    if called:
        shown, kind, main = called.shown, called.type, fold_name(called.shown)
    else:
        (main, kind), shown = whose, most_common(node.names)
    return Entity(
        name, shown, kind, "", tuple(node.descriptions), tuple(node.chunks), node.frequency, degree,
        _other_forms(main, node),
    )  # fmt: skip


def _other_forms(name: str, node: EntityNode) -> tuple[str, ...]:
    """Other forms under which the texts mention an entity; a pronoun is no name."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    written = {fold_name(surface) for surface in node.surfaces}
    names = [(surface, count) for surface, count in node.names.items() if fold_name(surface) not in written]
    for surface, count in (*node.surfaces.items(), *names):
        folded = fold_name(surface)
        if folded != name and len(folded) > 1 and folded not in _NO_NAMES:
            forms[folded][surface] += count
    ranked = sorted(forms.values(), key=lambda found: (-found.total(), most_common(found)))
    return tuple(map(most_common, ranked[:_ALIASES]))


def make_relation(ends: tuple[str, str], link: RelationLink, weight: Weight, most: int) -> Relation:
    """The relation of two ends: the records with its label, or where none has one all, say which is the subject."""
    label = most_common(link.labels)
    forth, back = link.told[label, True], link.told[label, False]
    source, target = sorted(ends) if forth == back else ends if forth > back else ends[::-1]
    count = len(link.strengths)
    strength = float(sum(sorted(link.strengths)))
    value = {"strength": strength, "normalised": count / most}.get(weight, float(count))
    return Relation(
        relation_id(source, target), source, target, "", tuple(link.descriptions), value, tuple(link.chunks),
        label, directed=bool(forth) != bool(back),
    )  # fmt: skip


def most_common(names: Mapping[str, int]) -> str:
    """The most frequent name, of equal ones the first in order; empty where there is none."""
    return min(names, key=lambda n: (-names[n], n), default="")
