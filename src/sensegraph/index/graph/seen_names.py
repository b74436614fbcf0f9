"""What resolution reads of a graph, by runs: what names are called, where they are mentioned, what they are related to.

Texts and descriptions take most of the work of merging, and resolution needs none of them. What each run of documents
says of its names is a result of its own, so that one document more reads one run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sensegraph.index.extraction import Extracted
from sensegraph.index.graph.elements import entity_id, most_common
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.merged_parts import say_names
from sensegraph.index.graph.part_inputs import Runs
from sensegraph.index.graph.slicing import Pairs, Told, Uses, count_entity_uses, name_apart, read_run_rows, tell_runs
from sensegraph.resolution.aliases import Aliases, Name
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Entity, Graph, Relation


class SeenName(NamedTuple):
    """A name in a run, with its id: how it is written, how often each; the places of the chunks that list it, and of
    those in which only a relation or a claim names it.
    """

    id: str
    whose: Name
    written: tuple[tuple[str, int], ...]
    listed: tuple[int, ...]
    bound: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SeenRun:
    """The names of a run, pairs of their places that are related, and the uses of those that are called otherwise."""

    chunks: tuple[str, ...] = ()
    names: tuple[SeenName, ...] = ()
    related: tuple[tuple[int, int], ...] = ()
    uses: tuple[Uses, ...] = ()


@dataclass(frozen=True, slots=True)
class _Joined:
    """A name of all runs while it is gathered."""

    id: str
    written: dict[str, int] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)
    bound: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Name:
    """A name of one run while it is gathered."""

    written: Counter[str] = field(default_factory=Counter)
    listed: dict[str, None] = field(default_factory=dict)
    bound: dict[str, None] = field(default_factory=dict)


@step("graph.seen", version=1, batch=1)
def see_names(runs: Sequence[tuple[Pairs, Told]]) -> list[SeenRun]:
    """What each run says of its names."""
    return [_see_run(pairs, told) for pairs, told in runs]


def _see_run(pairs: Pairs, told: Told) -> SeenRun:
    rows, nodes = read_run_rows(pairs, told), dict[Name, _Name]()
    for listed, some in ((True, rows.mentions), (False, rows.bound)):
        for row in some:
            if (node := nodes.get(row.whose)) is None:
                node = nodes[row.whose] = _Name()
            if row.times:
                node.written[row.name] += row.times
                (node.listed if listed else node.bound)[row.chunk] = None
    chunks = list(dict.fromkeys(chunk for node in nodes.values() for chunk in (*node.listed, *node.bound)))
    at = {chunk: place for place, chunk in enumerate(chunks)}
    names = [
        SeenName(
            entity_id(whose),
            whose,
            tuple(node.written.items()),
            tuple(at[chunk] for chunk in node.listed),
            tuple(at[chunk] for chunk in node.bound),
        )
        for whose, node in nodes.items()
    ]
    place = {name.id: number for number, name in enumerate(names)}
    related = dict.fromkeys((place[row.first], place[row.second]) for row in rows.links)
    return SeenRun(tuple(chunks), tuple(names), tuple(related), tuple(count_entity_uses(rows, frozenset(told.apart))))


def graph_of_names(extracted: Extracted, rt: Runtime, settings: GraphSettings, aliases: Aliases) -> Graph:
    """The graph of extractions merged with these aliases, without descriptions, other names, claims and weights."""
    names, every = extracted.run_names, range(len(extracted.run_names))
    told = tell_runs(list(rt.each(say_names, Runs(extracted, every), names=names)), aliases, settings)
    runs = Runs(extracted, every, told)
    return join_seen(rt.each(see_names, runs, names=[key(names[i], key(told[i])) for i in every]), aliases)


def join_seen(runs: Iterable[SeenRun], aliases: Aliases) -> Graph:
    """The graph of the names of all runs."""
    nodes, pairs, uses = dict[Name, _Joined](), set[tuple[str, str]](), list[Uses]()
    for run in runs:
        chunks, ids = run.chunks, [seen.id for seen in run.names]
        for seen in run.names:
            if (node := nodes.get(seen.whose)) is None:
                node = nodes[seen.whose] = _Joined(seen.id)
            for written, times in seen.written:
                node.written[written] = node.written.get(written, 0) + times
            node.listed.extend(chunks[place] for place in seen.listed)
            node.bound.extend(chunks[place] for place in seen.bound)
        pairs.update((ids[a], ids[b]) for a, b in run.related)
        uses += run.uses
    called = name_apart(uses, aliases)
    renamed = {nodes[whose].id: entity_id(by.name) for whose, by in called.items()}
    ends = sorted((renamed.get(a, a), renamed.get(b, b)) for a, b in pairs)
    degrees = Counter(end for pair in ends for end in pair)
    entities = []
    for whose, node in nodes.items():
        by, name = called.get(whose), renamed.get(node.id, node.id)
        shown, kind = (by.shown, by.type) if by else (most_common(node.written), whose[1])
        places = tuple(dict.fromkeys((*node.listed, *node.bound)))
        entities.append(Entity(name, shown, kind, "", (), places, sum(node.written.values()), degrees[name]))
    relations = [Relation("", source, target, "", (), 0.0, ()) for source, target in ends]
    return Graph(tuple(sorted(entities, key=lambda e: e.id)), tuple(relations))
