"""Deciding which names are one entity: proposals, merging, splitting, forbidding, and taking any of it back.

Nothing edits an entity: an operation is written into the log, and the index is built anew from the documents and the
log, which computes only what changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

from sensegraph.errors import InputError
from sensegraph.extractions import Shortened
from sensegraph.index.browse.elements import entities_called
from sensegraph.index.graph.duplicates import (
    Duplicates,
    aliases_of,
    entity_names,
    find_duplicates,
    ids_apart,
    merge_operations,
    names_by_id,
)
from sensegraph.index.vectors import adds_meaning, open_stack
from sensegraph.language.text import fold
from sensegraph.resolution.aliases import Name, Operation, replay_operations
from sensegraph.resolution.log import read_operations, record_operations, revert_operation
from sensegraph.runtime.results import Table
from sensegraph.types import Entity

if TYPE_CHECKING:
    from sensegraph.corpus.workspace import Builder, Built, Workspace
    from sensegraph.index.index import Index


@dataclass(frozen=True, slots=True, repr=False)
class Applied(Shortened):
    """What operations did to the index: how many entities, relations and reports are new or changed since before.

    `computed` of `built` counts what was computed for that; all else was there.
    """

    operations: tuple[Operation, ...]
    built: Built
    entities: int
    relations: int
    reports: int


@dataclass(frozen=True, slots=True, repr=False)
class Resolved(Shortened):
    """Proposals, and what applying them did; `types` are those of the entities by id."""

    found: Duplicates
    types: Mapping[str, str]
    applied: Applied | None = None


class NameDecisions:
    """Decides which names are one entity. Raises InputError for names that are unknown or ambiguous."""

    def __init__(self, workspace: Workspace, builder: Builder) -> None:
        self._workspace, self._builder = workspace, builder

    def operations(self) -> tuple[Operation, ...]:
        """The log of operations in their order, those that were taken back included."""
        return read_operations(self._workspace.store)

    def resolve(self, apply: bool = False, *, ask: bool = True) -> Resolved:
        """Which entities of the index are one thing; with `apply` they become one, and the index is brought up to date.

        Pairs in question go to the engine where it can judge them, unless `ask` is False; else they stay apart.
        """
        index, rt = self._builder.index(), self._workspace.runtime()
        aliases, graph = aliases_of(rt, index.manifest.graph), index.graph
        settings = self._workspace.settings.index.resolve
        meant = index.manifest.entity_vectors if adds_meaning(rt.embedder) else ""  # words are compared already
        found = find_duplicates(
            graph,
            rt,
            settings if ask else replace(settings, engine="none"),
            texts=index.chunks,
            apart=ids_apart(
                [e.id for e in graph.entities],
                replace(aliases, apart=replay_operations(self.operations()).aliases.apart),
            ),
            vectors=open_stack(self._workspace.store, meant)[:] if meant else None,
        )
        wanted = {i for p in found.proposals for i in (p.one, p.other)} | {i for g in found.groups for i in g.members}
        entities = index.entities(sorted(wanted))
        types = {name: e.type for name, e in entities.items()}
        made = merge_operations(found, entities, names_by_id(aliases)) if apply else []
        return Resolved(found, types, self._apply(made) if made else None)

    def merge(self, *names: str, called: str = "") -> Applied:
        """Make the entities of these names one, called `called` where given: else as most texts call it."""
        wanted = self._all(names)
        if len({e.id for e in wanted}) < 2:
            raise InputError(f"{_join_quoted(names)} are one entity already; name two that are not.")
        return self._apply([Operation("", "merge", self._names(wanted), output=called)])

    def split(
        self, name: str, others: Sequence[str] = (), *, documents: Sequence[str] = (), called: str = ""
    ) -> Applied:
        """Take `others`, which are aliases of an entity, out of it; or what `documents` mention under its name.

        What the documents mention is `called` so, else as before with a number.
        """
        (entity,) = self._all([name])
        names = self._names([entity])
        if bool(others) == bool(documents):
            known = _join_quoted([n for n, _ in names])
            raise InputError(f"Name the aliases ({known}) or documents to split off {entity.name!r}.")
        if documents:
            return self._apply(self._split_documents(entity, names, documents, called))
        return self._apply(_split_names(entity, names, others, called))

    def rename(self, name: str, called: str) -> Applied:
        """Call an entity `called`; its other names stay aliases."""
        (entity,) = self._all([name])
        if not called.strip():
            raise InputError(f"Say what {entity.name!r} is to be called.")
        return self._apply([Operation("", "rename", self._names([entity]), output=called.strip())])

    def forbid(self, *names: str) -> Applied:
        """Keep the entities, or the aliases, of these names apart, whatever is found later."""
        wanted = self._all(names)
        if len({e.id for e in wanted}) < 2:
            raise InputError(f"{_join_quoted(names)} are one entity; `split` takes names out of it.")
        return self._apply([Operation("", "forbid", tuple(self._names([e])[0] for e in wanted))])

    def undo(self, operation: str = "") -> Applied:
        """Take back the operation with this number, or the last that stands: the index is as if it had not been."""
        before = self._builder.index()
        undone = revert_operation(self._workspace.store, operation, _format_now())
        return self._built((undone,), before)

    def _apply(self, made: Sequence[Operation]) -> Applied:
        before = self._builder.index()
        return self._built(record_operations(self._workspace.store, made, _format_now()), before)

    def _built(self, done: tuple[Operation, ...], before: Index) -> Applied:
        """Bring the index up to date, and count what is not as it was."""
        built = self._builder.build()
        after = self._builder.index()
        reported = bool(after.manifest.hierarchy and before.manifest.hierarchy)
        return Applied(
            done,
            built,
            _count_new_records(before.graph.entities, after.graph.entities),
            _count_new_records(before.graph.relations, after.graph.relations),
            _count_new_records(before.hierarchy.clusters, after.hierarchy.clusters) if reported else 0,
        )

    def _all(self, names: Sequence[str]) -> list[Entity]:
        """The one entity of each name. Raises InputError where there are several, naming them."""
        index = self._builder.index()
        wanted = []
        for name in names:
            found = entities_called(index, name)
            if len(found) > 1:
                kinds = ", ".join(repr(f"{e.name} ({e.type})") for e in found[:10])
                raise InputError(f"{name!r} may be any of {len(found)} entities; say which: {kinds}, or its id.")
            wanted.append(found[0])
        return wanted

    def _names(self, entities: Sequence[Entity]) -> tuple[Name, ...]:
        known = names_by_id(aliases_of(self._workspace.runtime(), self._builder.index().manifest.graph))
        return tuple(dict.fromkeys(name for e in entities for name in entity_names(e, known)))

    def _split_documents(
        self, entity: Entity, names: tuple[Name, ...], documents: Sequence[str], called: str
    ) -> list[Operation]:
        """The mentions of an entity in these documents under a name of their own."""
        homes = sorted(set(self._builder.index().documents_of(entity.chunks).values()))
        if wrong := [d for d in documents if d not in homes]:
            raise InputError(
                f"{entity.name!r} is not mentioned in {_join_quoted(wrong)}; it is in {_join_quoted(homes[:10])}."
            )
        if set(homes) <= set(documents):
            raise InputError(f"Cannot split off every document of {entity.name!r}; keep at least one.")
        # names that were made, or that the graph has
        taken = {n for o in self.operations() for n in (*o.names, *o.others)}
        taken |= {(fold(e.name), e.type) for e in self._builder.index().graph.entities}
        folded = {name for name, _ in taken}
        numbered = (f"{entity.name} ({n})" for n in count(2))
        shown = called.strip() or next(name for name in numbered if fold(name) not in folded)
        new = (fold(shown), entity.type)
        if new in taken:
            raise InputError(f"There is an entity {shown!r} already; choose another name for what is split off.")
        return [Operation("", "split", names, (new,), tuple(sorted(set(documents))), shown)]


def _split_names(entity: Entity, names: tuple[Name, ...], others: Sequence[str], called: str) -> list[Operation]:
    """The split that takes other names out of an entity."""
    known = {folded for folded, _ in names}
    if wrong := [o for o in others if fold(o) not in known]:
        raise InputError(
            f"{entity.name!r} was not merged from {_join_quoted(wrong)}; its names are {_join_quoted(sorted(known))}. "
            "What texts themselves call one thing can be split by --document."
        )
    away = {fold(o) for o in others}
    gone = tuple(n for n in names if n[0] in away)
    if len(gone) == len(names):
        raise InputError(f"Cannot split off every alias of {entity.name!r}; keep at least one.")
    kept = tuple(n for n in names if n[0] not in away)
    rename = [Operation("", "rename", gone, output=called)] if called else []
    return [Operation("", "split", kept, gone), *rename]


def _count_new_records(before: Any, after: Any) -> int:
    """How many records of a table another table did not have."""
    old = set(before.scan_json() if isinstance(before, Table) else before)
    return sum(record not in old for record in (after.scan_json() if isinstance(after, Table) else after))


def _join_quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _format_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
