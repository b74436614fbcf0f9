"""Extractions to one graph: merge by name, describe (edge2024 §3.1.3; specs: N09–N13, G09–G11, D11)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

from sensegraph.index.extraction import Extracted
from sensegraph.index.graph.describing import describe_elements, summarise_crowded
from sensegraph.index.graph.graph_settings import GraphSettings, Weight
from sensegraph.language.text import fold
from sensegraph.language.word_lists import STOP
from sensegraph.resolution.aliases import NO_ALIASES, Aliases, Binding, Called, Name, bind_aliases, name_entity
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import (
    Chunk,
    Claim,
    Description,
    Entity,
    ExtractedClaim,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
    Graph,
    Relation,
    Source,
)

_ALIASES = 8  # other names that are kept of one entity
_NO_NAMES = frozenset(word for words in STOP.values() for word in words)
Pairs = list[tuple[str, str, int, Extraction]]  # chunk, document, characters, what it says


@dataclass(frozen=True, slots=True)
class _Node:
    """An entity while it is gathered."""

    names: Counter[str] = field(default_factory=Counter)
    surfaces: Counter[str] = field(default_factory=Counter)
    descriptions: list[Description] = field(default_factory=list)
    chunks: dict[str, None] = field(default_factory=dict)
    own: Counter[Name] = field(default_factory=Counter)  # where it has aliases, the mentions of each of its names

    @property
    def frequency(self) -> int:
        """How often it is mentioned, under any of its names."""
        return self.names.total()


@dataclass(frozen=True, slots=True)
class _Link:
    """A relation while it is gathered."""

    descriptions: list[Description] = field(default_factory=list)
    labels: Counter[str] = field(default_factory=Counter)
    told: Counter[tuple[str, bool]] = field(default_factory=Counter)  # label, and whether the first end is its subject
    strengths: list[float] = field(default_factory=list)
    chunks: dict[str, None] = field(default_factory=dict)


def entity_id(name: Name) -> str:
    """The id of the entity with this (folded name, folded type)."""
    return key("entity", *name)[:20]


def relation_id(source: str, target: str) -> str:
    """The id of the relation between two entity ids."""
    return key("relation", *sorted((source, target)))[:20]


@step("graph.graph", version=3, form="tables")
def describe_graphs(
    parts: Sequence[tuple[Graph, dict[str, str]]], *, settings: GraphSettings, describer: str
) -> list[Graph]:
    """A merged graph with the summaries of its elements (by id) put in; `describer` is who wrote them."""
    return [describe_elements(merged, summaries) for merged, summaries in parts]


def knowledge_graph(
    extracted: Extracted, rt: Runtime, settings: GraphSettings, aliases: Aliases = NO_ALIASES
) -> Result[Graph]:
    """The graph of the corpus; merging and describing happen only when something changed."""

    if settings.weight == "auto":
        settings = replace(settings, weight="strength" if "survey" in rt.engine.tasks else "count")

    def parts() -> tuple[Graph, dict[str, str]]:
        merged = merge_extractions(extracted, settings, aliases)
        return merged, summarise_crowded(merged, rt, settings)

    describer = rt.engine.fingerprint("summarise")
    names = (*extracted.keys, aliases.key) if aliases.key else extracted.keys
    return rt.once(describe_graphs, parts, names=names, settings=settings, describer=describer)


# ── merging ──

_folded = lru_cache(maxsize=1 << 16)(fold)  # the same names come again with every chunk


def merge_extractions(
    extracted: Iterable[tuple[Chunk, Extraction]], settings: GraphSettings, aliases: Aliases = NO_ALIASES
) -> Graph:
    """Entities of equal name and type, or that `aliases` make one, become one; so do relations of equal ends.

    All descriptions stay. Ends are bound to the entity of that name in the same chunk (the first listed), else to the
    most frequent one of that name in the corpus, else created or dropped (§3.5 of the specification). The result does
    not depend on the order of documents beyond the order in which descriptions are listed.
    """
    pairs = [(c.id, c.document, len(c.text), x) for c, x in extracted]
    bound = bind_aliases(aliases)
    nodes: dict[Name, _Node] = {}
    seen: Counter[Name] = Counter()
    for chunk, document, length, extraction in pairs:
        for e in extraction.entities:
            name = (_folded(e.name), _folded(e.type))
            seen[name] += max(1, len(e.mentions))
            _gather_entity(nodes, name, document, bound, e, chunk, length)
    links, said = _bind_ends(pairs, nodes, seen, bound, settings)
    # those have aliases, another name, or mentions that were split from another's
    apart = {*bound.group.values(), *bound.moved.values(), *bound.shown, *bound.made}
    named = {n: name_entity(n, nodes[n].own, nodes[n].names, bound) for n in sorted(apart & nodes.keys())}
    return _finish_graph(nodes, links, said, named, settings)


def _gather_entity(
    nodes: dict[Name, _Node], name: Name, document: str, bound: Binding, e: ExtractedEntity, chunk: str, length: int
) -> Name:
    """Add a mention to the entity that it is of, and say which."""
    own = bound.own(name, document)
    whose = bound.group.get(own, own)
    node = nodes.setdefault(whose, _Node())
    count = max(1, len(e.mentions))
    if bound:
        node.own[own] += count
    node.names[e.name] += count
    node.surfaces.update(m.surface for m in e.mentions)
    node.chunks[chunk] = None
    if e.description:
        node.descriptions.append(Description(e.description, _source_span(chunk, e.start, e.end, length)))
    return whose


def _source_span(chunk: str, start: int, end: int, length: int) -> Source:
    """The span, or the whole chunk where the span is not known."""
    return Source(chunk, start, end) if end > start else Source(chunk, 0, length)


def _bind_ends(
    pairs: Pairs, nodes: dict[Name, _Node], seen: Counter[Name], bound: Binding, settings: GraphSettings
) -> tuple[dict[tuple[Name, Name], _Link], list[tuple[Name, ExtractedClaim, Source]]]:
    """Attach relations and claims to entities."""
    # for each name its most frequent type, ties to the type first in the alphabet
    usual: dict[str, Name] = {}
    for typed in sorted(seen, key=lambda n: (n[0], -seen[n], n[1])):
        usual.setdefault(typed[0], typed)
    links: dict[tuple[Name, Name], _Link] = defaultdict(_Link)
    claims: list[tuple[Name, ExtractedClaim, Source]] = []
    for chunk, document, length, extraction in pairs:
        here: dict[str, Name] = {}
        for e in extraction.entities:
            name = (_folded(e.name), _folded(e.type))
            here.setdefault(name[0], bound.of(name, document))
        find = partial(
            _bind_name, here=here, usual=usual, nodes=nodes, place=(chunk, document), bound=bound, how=settings
        )
        for r in extraction.relations:
            ends = [find(name) for name in (r.source, r.target)]
            if ends[0] and ends[1]:
                _gather_relation(links, nodes, (ends[0], ends[1]), r, _source_span(chunk, r.start, r.end, length))
        about = ((find(c.subject), c) for c in extraction.claims)
        claims += [(subject, c, _source_span(chunk, c.start, c.end, length)) for subject, c in about if subject]
    return links, claims


def _bind_name(
    surface: str,
    *,
    here: dict[str, Name],
    usual: dict[str, Name],
    nodes: dict[Name, _Node],
    place: tuple[str, str],
    bound: Binding,
    how: GraphSettings,
) -> Name | None:
    name = _folded(surface)
    if not name or name in here:
        return here.get(name)
    found = usual.get(name)
    if found is None and how.orphans == "create":
        found = usual[name] = (name, "unknown")
    if found is None:
        return None
    # this chunk names it without describing it: one mention
    here[name] = _gather_entity(nodes, found, place[1], bound, ExtractedEntity(surface, found[1]), place[0], 0)
    return here[name]


def _gather_relation(
    links: dict[tuple[Name, Name], _Link],
    nodes: dict[Name, _Node],
    ends: tuple[Name, Name],
    r: ExtractedRelation,
    source: Source,
) -> None:
    a, b = sorted(ends)
    said = Description(r.description, source, r.starts, r.ends)
    if a == b:  # a self-loop is text about the entity, not a link
        if r.description:
            nodes[a].descriptions.append(said)
        return
    link = links[a, b]
    link.strengths.append(r.strength)
    link.chunks[source.chunk] = None
    if r.description:
        link.descriptions.append(said)
    if r.label:
        link.labels[r.label] += 1
    if r.directed:
        link.told[r.label, ends[0] == a] += 1


def _finish_graph(
    nodes: dict[Name, _Node],
    links: dict[tuple[Name, Name], _Link],
    said: Sequence[tuple[Name, ExtractedClaim, Source]],
    named: Mapping[Name, Called],
    settings: GraphSettings,
) -> Graph:
    ids = {name: entity_id(named[name].name if name in named else name) for name in nodes}
    degree = Counter(end for pair in links for end in pair)
    most = max((len(link.strengths) for link in links.values()), default=1)
    entities = []
    for n, node in nodes.items():
        if called := named.get(n):
            shown, kind, main = called.shown, called.type, _folded(called.shown)
        else:
            (main, kind), shown = n, _most_common(node.names)
        entities.append(
            Entity(
                ids[n], shown, kind, "", tuple(node.descriptions), tuple(node.chunks), node.frequency, degree[n],
                _other_forms(main, node),
            )
        )  # fmt: skip
    relations = (_make_relation((ids[a], ids[b]), link, settings.weight, most) for (a, b), link in links.items())
    claims: dict[str, Claim] = {}
    for subject, c, source in said:
        made = Claim("", ids[subject], c.object, c.type, c.status, c.description, c.starts, c.ends, source)
        name = key(made)[:20]
        claims[name] = replace(made, id=name)
    return Graph(
        tuple(sorted(entities, key=lambda e: e.id)),
        tuple(sorted(relations, key=lambda r: r.id)),
        tuple(claims[name] for name in sorted(claims)),
    )


def _other_forms(name: str, node: _Node) -> tuple[str, ...]:
    """Other forms under which the texts mention an entity; a pronoun is no name."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    written = {_folded(surface) for surface in node.surfaces}
    names = [(surface, count) for surface, count in node.names.items() if _folded(surface) not in written]
    for surface, count in (*node.surfaces.items(), *names):
        folded = _folded(surface)
        if folded != name and len(folded) > 1 and folded not in _NO_NAMES:
            forms[folded][surface] += count
    ranked = sorted(forms.values(), key=lambda found: (-found.total(), _most_common(found)))
    return tuple(map(_most_common, ranked[:_ALIASES]))


def _make_relation(ends: tuple[str, str], link: _Link, weight: Weight, most: int) -> Relation:
    """The relation of two ends: the records with its label, or where none has one all, say which is the subject."""
    label = _most_common(link.labels)
    forth, back = link.told[label, True], link.told[label, False]
    source, target = sorted(ends) if forth == back else ends if forth > back else ends[::-1]
    count = len(link.strengths)
    strength = float(sum(sorted(link.strengths)))
    value = {"strength": strength, "normalised": count / most}.get(weight, float(count))
    return Relation(
        relation_id(source, target), source, target, "", tuple(link.descriptions), value, tuple(link.chunks),
        label, directed=bool(forth) != bool(back),
    )  # fmt: skip


def _most_common(names: Counter[str]) -> str:
    return min(names, key=lambda n: (-names[n], n), default="")


__all__ = [
    "describe_graphs", "entity_id", "knowledge_graph", "merge_extractions", "relation_id",
]  # fmt: skip
