"""Which entities of a graph are one thing under different names: found by rules, the doubtful ones by the engine.

Steps 3–6 of entity resolution (N61, N77–N79). Nothing here changes a graph: see `aliases`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.linkage import connect_rows
from sensegraph.algorithms.similar import Candidates
from sensegraph.errors import InputError
from sensegraph.index.extraction import Extracted
from sensegraph.index.graph.compared_names import collect_names, compare_in_partitions, pair_names
from sensegraph.index.graph.elements import entity_id
from sensegraph.index.graph.graph_settings import GraphSettings, ResolveSettings
from sensegraph.index.graph.homonyms import find_senses, keep_candidates, list_candidates, with_senses
from sensegraph.index.graph.partitions import knowledge_graph
from sensegraph.index.graph.seen_names import NameGraph, SeenNames, see_graph
from sensegraph.index.graph.told_names import Sought, Texts, keep_sought
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import fold
from sensegraph.protocols import ResolvingEngine
from sensegraph.resolution import Group, Mentioned, Proposal, Resolution, Rule
from sensegraph.resolution.aliases import Aliases, Name, Operation, with_groups
from sensegraph.resolution.comparison.scoring import Collection
from sensegraph.resolution.resolver import decide, explain
from sensegraph.resolution.senses import NO_SENSES, Senses
from sensegraph.runtime.delegating import once_on_worker, return_free_memory, store_separately, work_on_worker
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Brief, Chunk, Context, Description, Entity, Graph, Passage, Source

_TOGETHER = 8  # entities that an engine is asked about at once
_SENTENCES = 3  # that it is shown of each
_CHUNKS = 5  # that are searched for them
_SHOWN = 5  # open names that a note tells


@dataclass(frozen=True, slots=True)
class Duplicates:
    """The proposals, surest first, and the groups of several entities that merging them would make.

    `asked` counts the pairs that an engine was asked about; `notes` say what was not done.
    """

    proposals: tuple[Proposal, ...] = ()
    groups: tuple[Group, ...] = ()
    asked: int = 0
    compared: int = 0
    notes: tuple[str, ...] = ()


@step("duplicates.same", version=1, uses="engine", task="resolve")
def judge_same_entities(briefs: Sequence[Brief], *, engine: ResolvingEngine) -> list[tuple[tuple[str, ...], ...]]:
    """Of each group of entities, the sets of ids that are one thing."""
    return engine.resolve(briefs)


@step("duplicates.bound", version=1)
def keep_aliases(tables: Sequence[Aliases]) -> list[Aliases]:
    """The aliases that a graph was merged with, under the key of the graph."""
    return list(tables)


@dataclass(frozen=True, slots=True)
class Joined:
    """What a build finds by itself: the names of each thing that has several, what else names are, and what to say.

    `merged` counts the entities that became others.
    """

    names: tuple[tuple[Name, ...], ...] = ()
    merged: int = 0
    senses: Senses = NO_SENSES
    notes: tuple[str, ...] = ()


@step("duplicates.automatic", version=11)
def keep_joined(found: Sequence[Joined], *, how: ResolveSettings) -> list[Joined]:
    """What a build found by itself, with these settings."""
    return list(found)


@step("duplicates.decided", version=2)
def keep_decided(found: Sequence[Joined], *, how: ResolveSettings) -> list[Joined]:
    """Which names of a graph are one, by rules and by themselves."""
    return list(found)


def find_duplicates(
    graph: Graph,
    rt: Runtime,
    settings: ResolveSettings,
    *,
    texts: Texts,
    apart: Sequence[tuple[str, str]] = (),
    vectors: NDArray[Any] | None = None,
) -> Duplicates:
    """The entities of `graph` that are one thing; `apart` are pairs of ids that are not.

    `texts` gives chunks by id, `vectors` are those of the entities in their order. Pairs in question go to the engine
    where it has the task, else they stay apart, and a note says so.
    """
    names = NameGraph.of(graph)
    rules = [*Sought.of(names, rt).find_rules(texts, rt), *_keep_apart(apart)]
    found = collect_names(names, rt, settings.rules())
    if vectors is not None:
        rows = {name: row for row, name in enumerate(names.ids)}
        found = replace(found, vectors=np.asarray(vectors)[[rows[name] for name in found.ids]])
    # only names beside which others stand than before are compared
    resolved = partial(decide, found, compare=partial(compare_in_partitions, rt=rt))
    first = explain(resolved(rules), least=2)
    grey = [p for p in first.proposals if p.decision == "ask"]
    if not grey or settings.engine == "none" or "resolve" not in rt.engine.tasks:
        return _rank_proposals(first, 0, _note_open_pairs(len(grey), rt, settings))
    said = _ask_engine(graph, grey, rt, texts)
    again = explain(resolved([*rules, *said]), least=2)
    return _rank_proposals(
        again, len(said), _note_open_pairs(sum(p.decision == "ask" for p in again.proposals), rt, settings)
    )


def _keep_apart(pairs: Sequence[tuple[str, str]]) -> list[Rule]:
    """What a user says of pairs that are two things."""
    return [Rule("apart", a, b, why="you said so") for a, b in pairs]


def _note_open_pairs(grey: int, rt: Runtime, settings: ResolveSettings) -> tuple[str, ...]:
    if not grey:
        return ()
    able = "resolve" in rt.engine.tasks
    why = "index.resolve.engine is none" if able and settings.engine == "none" else (
        "the engine left them open" if able else f"the engine {rt.engine.name} does not judge names"
    )  # fmt: skip
    return (f"{grey} uncertain pairs stay apart: {why}; `sensegraph entities merge` joins duplicates",)


def _rank_proposals(found: Resolution, asked: int, notes: tuple[str, ...]) -> Duplicates:
    order = sorted(found.proposals, key=lambda p: (p.decision, -p.score, p.names, p.one, p.other))
    ranked = sorted(order, key=lambda p: ("merge", "ask", "keep").index(p.decision))
    return Duplicates(tuple(ranked), found.groups, asked, found.compared, (*found.notes, *notes))


# ── asking the engine ──


def _ask_engine(graph: Graph, grey: Sequence[Proposal], rt: Runtime, texts: Texts) -> list[Rule]:
    """What the engine says of each pair in question."""
    ids = sorted({i for p in grey for i in (p.one, p.other)})
    wanted = set(ids)
    entities = {e.id: e for e in graph.entities if e.id in wanted}
    bundles = list(_bundle_pairs(ids, grey))
    chunks = texts(sorted({c for e in entities.values() for c in e.chunks[:_CHUNKS]}))
    briefs = []
    for bundle, _ in bundles:
        listed = [entities[i] for i in bundle]
        passages = (
            Passage("entity", e.id, e.description or " ".join(d.text for d in e.descriptions), title=e.name,
                    quotes=tuple(_naming_sentences(e, chunks)))
            for e in listed
        )  # fmt: skip
        briefs.append(Brief(Context(tuple(passages)), types=tuple(e.type for e in listed)))
    answers = rt.each(judge_same_entities, briefs)
    rules = []
    for (_, pairs), groups in zip(bundles, answers, strict=True):
        of = {i: number for number, members in enumerate(groups) for i in members}
        for one, other in pairs:
            joined = one in of and of[one] == of.get(other)
            why = (
                "read what is said of both, and found one thing" if joined else "read what is said of both: two things"
            )
            rules.append(Rule("merge" if joined else "apart", one, other, "engine", f"{rt.engine.name} {why}"))
    return rules


def _bundle_pairs(
    ids: Sequence[str], grey: Sequence[Proposal]
) -> Iterable[tuple[tuple[str, ...], list[tuple[str, str]]]]:
    """The ids to ask about at once, with the pairs in question among them."""
    at = {name: place for place, name in enumerate(ids)}
    asked = {(p.one, p.other) for p in grey}
    for rows in connect_rows(len(ids), [(at[a], at[b]) for a, b in sorted(asked)]):
        members = tuple(ids[row] for row in rows)
        pairs = [pair for pair in combinations(members, 2) if pair in asked]
        if len(members) <= _TOGETHER:
            yield members, pairs
        else:
            yield from ((pair, [pair]) for pair in pairs)


def _naming_sentences(entity: Entity, chunks: Mapping[str, Chunk]) -> list[Description]:
    """Sentences that name an entity."""
    shown: list[Description] = []
    names = [fold(n) for n in (entity.name, *entity.aliases)]
    for chunk in [chunks[name] for name in entity.chunks[:_CHUNKS] if name in chunks]:
        for start, end in split_sentences(chunk.text):
            said = chunk.text[start:end].strip()
            if any(name in fold(said) for name in names):
                shown.append(Description(said, Source(chunk.id, start, end)))
                break
    return shown[:_SENTENCES]


# ── applying ──


def names_by_id(aliases: Aliases) -> dict[str, tuple[Name, ...]]:
    """The names of each entity that has several, or another than its own, by every id that it may have."""
    alone = [name for name, _ in (*aliases.made, *aliases.shown)] + [to for *_, to in aliases.moved]
    single = [(name,) for name in alone]
    return {entity_id(name): names for names in (*single, *aliases.groups) for name in names}


def entity_names(entity: Entity | Mentioned, known: Mapping[str, tuple[Name, ...]]) -> tuple[Name, ...]:
    """What texts call an entity. Raises InputError for one that was not merged from texts here."""
    if entity.id in known:
        return known[entity.id]
    name = (fold(entity.name), fold(entity.type))
    if entity_id(name) != entity.id:
        raise InputError(
            f"{entity.name!r} was not read from texts by this index (it was imported); "
            "run `sensegraph index` to read its documents first."
        )
    return (name,)


def ids_apart(ids: Sequence[str], aliases: Aliases) -> list[tuple[str, str]]:
    """The pairs of entities of a graph, given by its ids, that a user, or a split, keeps apart."""
    there = set(ids) if aliases.apart else set()
    known = names_by_id(aliases)

    def id_of(name: Name) -> str:
        ids = (entity_id(n) for n in known.get(entity_id(name), (name,)))
        return next((i for i in ids if i in there), "")

    pairs = {(id_of(a), id_of(b)) for a, b in aliases.apart}
    return sorted({(min(p), max(p)) for p in pairs if p[0] and p[1] and p[0] != p[1]})


def merge_operations(
    found: Duplicates, entities: Mapping[str, Entity], known: Mapping[str, tuple[Name, ...]]
) -> list[Operation]:
    """The operations that make each group one entity, with what speaks for it."""
    made = []
    for group in found.groups:
        members = set(group.members)
        reasons = [p for p in found.proposals if p.decision == "merge" and {p.one, p.other} <= members]
        names = [name for i in group.members for name in entity_names(entities[i], known)]
        evidence = "; ".join(dict.fromkeys(f"{p.names[0]}, {p.names[1]}: {p.why}" for p in reasons))
        by: Literal["engine", "rule"] = "engine" if any(p.by == "engine" for p in reasons) else "rule"
        score = min((p.score for p in reasons), default=1.0)
        made.append(Operation("", "merge", tuple(sorted(names)), evidence=evidence, score=score, by=by))
    return made


def resolved_graph(
    extracted: Extracted, rt: Runtime, graph: GraphSettings, settings: ResolveSettings, aliases: Aliases, texts: Texts
) -> tuple[Result[Graph], tuple[str, ...]]:
    """The graph of the corpus, merged with the aliases of the log and, where so set, what is found at this build."""
    if graph.weight == "auto":
        graph = replace(graph, weight="strength" if "survey" in rt.engine.tasks else "count")
    notes: tuple[str, ...] = ()
    if settings.automatic:
        aliases, notes = _find_automatic(extracted, rt, graph, settings, aliases, texts)
        return_free_memory(rt)
    known = knowledge_graph(extracted, rt, graph, aliases)
    rt.once(keep_aliases, aliases, names=(known.key,))
    return known, notes


@dataclass(frozen=True)
class SameNames:
    """Which names of extractions are of one thing, found by rules alone before anything is summarised.

    `seen` holds the names, with their senses, from `list_rules` to `list_pairs`; it is empty where other processes do
    these, which then look for the names themselves.
    """

    extracted: Extracted
    rt: Runtime
    merging: GraphSettings
    settings: ResolveSettings
    aliases: Aliases
    texts: Texts
    seen: list[SeenNames] = field(default_factory=list)

    def find_joined(self) -> Joined:
        """The names that are joined, and the senses of names."""
        digest, senses, rules = work_on_worker(self.rt, self.list_rules)
        told = with_senses(self.aliases, senses)
        # a text may change and say of the same names the same
        names, join = (digest, told.key, key(rules)), partial(self.join_names, told, rules)
        return replace(once_on_worker(self.rt, keep_decided, join, names=names, how=self.settings).value, senses=senses)

    def list_rules(self) -> tuple[str, Senses, list[Rule]]:
        """What stands for the names, their senses, and what texts say of them.

        The senses come first: what is another thing elsewhere must not be merged for its name.
        """
        rt, aliases = self.rt, self.aliases
        plain = see_graph(self.extracted, rt, self.merging, aliases)
        asked = rt.once(
            keep_candidates, lambda: list_candidates(plain.numbered, names_by_id(aliases), rt), names=(plain.digest,)
        ).value
        senses = find_senses([one.place(plain.chunks) for one in asked], self.texts, rt)
        told = with_senses(aliases, senses)
        merged = see_graph(self.extracted, rt, self.merging, told) if senses.moved else plain
        sought = rt.once(keep_sought, lambda: Sought.of(merged.numbered, rt), names=(merged.digest,)).value
        rules = sought.place(merged.chunks).find_rules(self.texts, rt)
        if told.apart:
            rules += _keep_apart(ids_apart(merged.graph.ids, told))
        self.seen[:] = [merged]
        return sought.digest, senses, rules

    def list_pairs(self, told: Aliases) -> tuple[Collection, Candidates]:
        """The names, and which of them are compared."""
        seen = self.seen.pop() if self.seen else see_graph(self.extracted, self.rt, self.merging, told)
        graph = seen.graph
        del seen  # what it was made from takes much room
        return_free_memory(self.rt)
        return pair_names(collect_names(graph, self.rt, self.settings.rules()), self.rt)

    def join_names(self, told: Aliases, rules: Sequence[Rule]) -> Joined:
        """The names that are joined."""
        store_separately(self.rt, partial(self.list_pairs, told))
        found, paired = self.list_pairs(told)
        return_free_memory(self.rt)
        made = decide(found, rules, partial(compare_in_partitions, rt=self.rt, noted=True), paired)
        known, items = names_by_id(told), found.items
        names = [[n for row in rows for n in entity_names(items[row], known)] for rows in made.clusters]
        several = sum(len(rows) - 1 for rows in made.clusters)
        return Joined(tuple(tuple(sorted(group)) for group in names), several, notes=made.notes)


def _find_automatic(
    extracted: Extracted,
    rt: Runtime,
    merging: GraphSettings,
    settings: ResolveSettings,
    aliases: Aliases,
    texts: Texts,
) -> tuple[Aliases, tuple[str, ...]]:
    """The aliases with those that a build finds by itself, before anything is summarised."""
    alone = replace(settings, accept=max(settings.accept, settings.sure), engine="none")
    look = SameNames(extracted, rt, merging, alone, aliases, texts).find_joined
    decided = (aliases.key, apart_key(aliases))
    found = once_on_worker(rt, keep_joined, look, names=(*extracted.keys, *decided), how=alone).value
    unsure = [f"{name[0]!r} in {document} ({' or '.join(may)})" for name, document, may in found.senses.open]
    more = f", and {len(unsure) - _SHOWN} more" if len(unsure) > _SHOWN else ""
    said = f"it is open which of several is meant by {', '.join(unsure[:_SHOWN])}{more}"
    # pairs in question are told where somebody asks for proposals; what else was degraded is told here too
    notes = (*((said,) if unsure else ()), *found.notes)
    aliases = with_senses(aliases, found.senses)
    if not found.names:
        return aliases, notes
    note = f"{found.merged} entities were merged into others of another name (index.resolve.automatic)"
    return with_groups(aliases, found.names), (note, *notes)


def apart_key(aliases: Aliases) -> str:
    """What stands for the pairs that a table keeps apart."""
    return "; ".join(f"{a[0]}/{a[1]} {b[0]}/{b[1]}" for a, b in aliases.apart)


def aliases_of(rt: Runtime, graph: str) -> Aliases:
    """The aliases that the graph with this key was merged with."""
    return rt.once(keep_aliases, Aliases(), names=(graph,)).value
