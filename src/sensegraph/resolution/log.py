"""The log of operations on names, in a store: numbered, in order, never edited; an operation is only taken back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from sensegraph.errors import InputError, StoreError
from sensegraph.protocols import Store
from sensegraph.resolution.aliases import Name, Operation, replay_operations
from sensegraph.runtime.keys import encode_canonical, key

_REF = "operation/"


def read_operations(store: Store) -> tuple[Operation, ...]:
    """All operations in their order, those that were taken back included."""
    refs = store.refs(_REF)
    found = store.read(list(refs.values()))
    if missing := [name for name, k in refs.items() if k not in found]:
        raise StoreError(f"{len(missing)} operations are gone from the store; take them back and do them again.")
    return tuple(msgspec.json.decode(found[k], type=Operation) for k in refs.values())


def record_operations(store: Store, new: Sequence[Operation], time: str) -> tuple[Operation, ...]:
    """Write operations at the end of the log, all or none, numbered and with the time."""
    begin = max((int(o.id) for o in read_operations(store)), default=0) + 1
    numbered = tuple(replace(o, id=str(begin + i), time=o.time or time) for i, o in enumerate(new))
    rewrite_operations(store, {o.id: o for o in numbered})
    return numbered


def revert_operation(store: Store, name: str, time: str) -> Operation:
    """Take back the operation with this number; without one the last that stands. Raises InputError for none."""
    log = read_operations(store)
    standing = [o for o in log if not o.reverted]
    if not standing:
        raise InputError("No operation stands that could be taken back; `sensegraph entities log` lists all.")
    found = next((o for o in log if o.id == name), None) if name else standing[-1]
    if found is None:
        raise InputError(
            f"There is no operation {name!r}; the numbers go from 1 to {len(log)}: `sensegraph entities log`."
        )
    if found.reverted:
        raise InputError(f"Operation {found.id} was taken back on {found.reverted}; do it anew to have it again.")
    undone = replace(found, reverted=time)
    rewrite_operations(store, {undone.id: undone})
    return undone


def rewrite_operations(store: Store, changed: Mapping[str, Operation | None]) -> None:
    """Put operations, by their numbers, in the place of what they were; None takes one out for good."""
    made = {name: (key("operation", o), o) for name, o in changed.items() if o}
    store.write({k: encode_canonical(o) for k, o in made.values()}, "operation")
    store.set_refs({f"{_REF}{int(name):08}": made[name][0] if name in made else None for name in changed})


@dataclass(frozen=True, slots=True)
class Known:
    """What the documents of a corpus hold: folded names, and their own ids."""

    names: Collection[str]
    documents: Collection[str]


def forget_names(log: Sequence[Operation], known: Known) -> list[Operation | None]:
    """Each operation without the names and documents that are gone; None for one of which nothing is left.

    What the log makes of the names that are left stays as it is: an operation that others rest on is kept whole.
    """
    wanted = _find_effect(log, known)
    whole = [_reduce_operation(o, known, log) for o in log]
    if _find_effect([o for o in whole if o], known) == wanted:
        return whole
    found: list[Operation | None] = list(log)
    for place, less in enumerate(whole):
        tried = [*found[:place], less, *found[place + 1 :]]
        if less != log[place] and _find_effect([o for o in tried if o], known) == wanted:
            found = tried
    return found


def _reduce_operation(operation: Operation, known: Known, log: Sequence[Operation]) -> Operation | None:
    # Names that splits made of documents that are still there.
    made = {name for o in log if any(d in known.documents for d in o.documents) for name in o.others}

    def there(name: Name) -> bool:
        return name[0] in known.names or name in made

    names = tuple(n for n in operation.names if there(n))
    others = tuple(n for n in operation.others if there(n))
    documents = tuple(d for d in operation.documents if d in known.documents)
    if (names, others, documents) == (operation.names, operation.others, operation.documents):
        return operation
    if operation.documents and not documents and not operation.reverted and len(names) == len(others) == 1:
        # all that is left of it: the two names are two things, whatever mentions them
        return replace(operation, kind="forbid", names=names + others, others=(), documents=(), output="", evidence="")
    least = 2 if operation.kind in ("merge", "forbid") else 1
    parted = operation.kind == "split" and not (others and bool(documents) == bool(operation.documents))
    if operation.reverted or len(names) < least or parted:
        return None
    return replace(operation, names=names, others=others, documents=documents, evidence="")


def _find_effect(log: Sequence[Operation], known: Known) -> tuple[Any, ...]:
    """What a log makes of the names that are there."""
    aliases = replay_operations(log).aliases
    moved = tuple(m for m in aliases.moved if m[1] in known.documents and m[0][0] in known.names)
    made = {new for _, _, new in moved}

    def left(names: Sequence[Name]) -> tuple[Name, ...]:
        return tuple(n for n in names if n[0] in known.names or n in made)

    groups = sorted(g for g in map(left, aliases.groups) if len(g) > 1)
    shown = sorted((own[0], said) for name, said in aliases.shown if (own := left(aliases.group(name))))
    apart = [pair for pair in aliases.apart if len(left(pair)) == 2]
    return moved, groups, shown, apart, [m for m in aliases.made if m[0] in made]
