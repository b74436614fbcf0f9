"""The log of operations on names, in a store: numbered, in order, never edited; an operation is only taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from sensegraph.errors import InputError, StoreError
from sensegraph.protocols import Store
from sensegraph.resolution.aliases import Operation
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
    _write_operations(store, numbered)
    return numbered


def revert_operation(store: Store, name: str, time: str) -> Operation:
    """Take back the operation with this number; without one the last that stands. Raises InputError for none."""
    log = read_operations(store)
    standing = [o for o in log if not o.reverted]
    if not standing:
        raise InputError("No operation stands that could be taken back; `sensegraph operations` lists all.")
    found = next((o for o in log if o.id == name), None) if name else standing[-1]
    if found is None:
        raise InputError(
            f"There is no operation {name!r}; the numbers go from 1 to {len(log)}: `sensegraph operations`."
        )
    if found.reverted:
        raise InputError(f"Operation {found.id} was taken back on {found.reverted}; do it anew to have it again.")
    undone = replace(found, reverted=time)
    _write_operations(store, [undone])
    return undone


def rewrite_operations(store: Store, changed: Mapping[str, Operation | None]) -> None:
    """Put operations, by their numbers, in the place of what they were; None takes one out for good."""
    made = {name: (key("operation", o), o) for name, o in changed.items() if o}
    store.write({k: encode_canonical(o) for k, o in made.values()}, "operation")
    store.set_refs({f"{_REF}{int(name):08}": made[name][0] if name in made else None for name in changed})


def _write_operations(store: Store, operations: Sequence[Operation]) -> None:
    keys = [key("operation", o) for o in operations]
    store.write({k: encode_canonical(o) for k, o in zip(keys, operations, strict=True)}, "operation")
    store.set_refs({f"{_REF}{int(o.id):08}": k for k, o in zip(keys, operations, strict=True)})
