"""Taking names that no document holds any more out of the log of operations, where nothing rests on them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sensegraph.resolution.aliases import Name, Operation, replay_operations


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
