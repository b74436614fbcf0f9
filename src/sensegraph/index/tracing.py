"""What a build needs, found by building without computing: every key that it looks for (DESIGN §1)."""

from __future__ import annotations

import math
import re
import time
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from numpy.typing import NDArray

from sensegraph.errors import SensegraphError
from sensegraph.index.build import build_index
from sensegraph.index.chunks import cut_documents
from sensegraph.index.extraction import extract_all
from sensegraph.index.index import keep_documents
from sensegraph.index.manifest import Manifest, list_catalogue
from sensegraph.index.settings import IndexSettings
from sensegraph.language.text import fold
from sensegraph.protocols import Rows, Store
from sensegraph.runtime.batches import recall_aside, replace_doubted
from sensegraph.runtime.keys import name_whole, read_keys_below
from sensegraph.runtime.results import Result, Results, Step, load_result, recall_result
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Usage

A = TypeVar("A")
B = TypeVar("B")
_KEY = re.compile(rb"\b([0-9a-f]{40})\b(\.?)")  # with a point where a table is named, which leads nowhere
_DIGITS = b"0" * 40  # what every key is, where all its digits are 0: so it is quickly seen where there is none
_AS_DIGITS = bytes.maketrans(b"0123456789abcdef", b"0" * 16)
_LIST = 1 << 22  # bytes of an object that may be a list of keys; what is larger is none


class Untraced(SensegraphError):
    """A result that the rest depends on was never computed: what was found until then is all that there is."""


class TookTooLong(SensegraphError):
    """What a build needs was not found out in the time given."""


class KeyRecordingStore:
    """A store that only reads, and notes the keys that are looked for."""

    def __init__(self, store: Store, until: float = math.inf) -> None:
        self._store, self._until = store, until
        self.asked: dict[str, None] = {}

    def _note(self, keys: Iterable[str]) -> None:
        if time.monotonic() > self._until:
            raise TookTooLong("What the index needs was not found out in the time given; nothing was removed.")
        self.asked.update((k.partition(".")[0], None) for k in keys)

    def read(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The objects present."""
        self._note(keys)
        return self._store.read(keys)

    def has(self, keys: Sequence[str]) -> set[str]:
        """Which of these keys are present."""
        self._note(keys)
        return self._store.has(keys)

    def rows(self, key: str) -> Rows | None:
        """The table under `key`."""
        self._note([key])
        return self._store.rows(key)

    def array(self, key: str) -> NDArray[Any] | None:
        """The array under `key`."""
        self._note([key])
        return self._store.array(key)

    def ref(self, name: str) -> str | None:
        """The value that `name` stands for now."""
        return self._store.ref(name)

    def refs(self, prefix: str = "") -> dict[str, str]:
        """All names that begin with `prefix`."""
        return self._store.refs(prefix)

    def ledger(self) -> dict[str, Usage]:
        """The sums of the ledger by step."""
        return self._store.ledger()

    def write(self, objects: Mapping[str, bytes], step: str = "") -> None:
        """Note the keys; nothing is written."""
        self._note(objects)

    def write_rows(self, key: str, rows: Iterable[tuple[str, bytes]]) -> None:
        """Note the key; nothing is written."""
        self._note([key])

    def write_array(self, key: str, array: NDArray[Any]) -> None:
        """Note the key; nothing is written."""
        self._note([key])

    def set_refs(self, refs: Mapping[str, str | None]) -> None:
        """Nothing is set."""

    def spend(self, step: str, usage: Usage) -> None:
        """Nothing is spent."""


@dataclass(frozen=True, slots=True)
class Tracing(Runtime):
    """A runtime that computes nothing: it looks for results, and raises Untraced where one is missing.

    What the input of a result was made from is looked for as well: an update will want it one by one. Where that is not
    known the input is made.
    """

    def each(
        self,
        step: Step[A, B],
        items: Sequence[A],
        *,
        names: Sequence[str] | None = None,
        without: Callable[[A], B] | None = None,
        **settings: Any,
    ) -> Results[B]:
        """The results of `step`, all of which must be there, or have been set aside."""
        named = self._name_results(step, items, names, settings)
        own = list(named)
        keys = replace_doubted(self.store, step, own) if step.doubts else own
        if without and (missing := set(keys) - self.store.has(keys)):
            known = recall_aside(self.store, sorted(missing))
            keys = self.list_aside(step, items, keys, known, range(len(keys)))
        self._there(keys, step)
        return Results(self.store, step, named if keys == own else keys)

    def once(
        self, step: Step[A, B], whole: A | Callable[[], A], *, names: Sequence[str] = (), **settings: Any
    ) -> Result[B]:
        """The result of `step`, which must be there."""
        items, known = typing.cast(Sequence[A], [whole]), len(self.lacking)
        (k,) = self.keys(step, items, name_whole(names), **settings)
        if callable(whole) and not self._have_below(k):
            whole()
        k = self.key_without(k, known)
        self._there([k], step)
        return Result(k, load_result(self.store, step, k))

    def rely_on(self, keys: Sequence[str]) -> None:
        """Look for these results."""
        self.store.has(keys)

    def recall(self, step: Step[A, B], keys: Sequence[str]) -> dict[str, Result[B]]:
        """None: each is looked for by `once`, with what its input was made from."""
        return {}

    def _have_below(self, k: str) -> bool:
        """Whether it is known what the input of a result was made from, and all of that is there, down to the last."""
        found = waiting = dict.fromkeys(read_keys_below(self.store, [k]))
        while waiting:
            if self.store.has(list(waiting)) < waiting.keys():
                return False
            waiting = dict.fromkeys(x for x in read_keys_below(self.store, list(waiting)) if x not in found)
            found = found | waiting
        return bool(found)

    def _there(self, keys: Sequence[str], step: Step[Any, Any]) -> None:
        if missing := len(set(keys) - self.store.has(keys)):
            raise Untraced(f"{missing} of {len(keys)} results of {step.name} are missing; run `sensegraph index`.")


@dataclass(frozen=True, slots=True)
class Traced:
    """The keys that a build looks for, and whether all of them are there."""

    keys: tuple[str, ...]
    whole: bool


def trace_build(documents: Sequence[str], rt: Runtime, settings: IndexSettings, until: float = math.inf) -> Traced:
    """What a build of the documents with these keys looks for, in the order in which it does.

    Raises TookTooLong where that takes longer than `until`, by the monotonic clock.
    """
    store, whole = KeyRecordingStore(rt.store, until), False
    try:
        if documents:
            build_index(documents, _trace(rt, store), settings)
        whole = True
    except Untraced:
        pass  # an interrupted build: it has paid for what it looked for until here
    return Traced((*documents, *store.asked), whole)


def read_said_names(documents: Sequence[str], rt: Runtime, settings: IndexSettings) -> frozenset[str]:
    """The names, folded, that the extractions say of the documents with these keys, of which a build was whole."""
    if "graph" not in settings.parts:
        return frozenset()
    tracing, said = _trace(rt, rt.store), set[str]()
    texts = Results(rt.store, keep_documents, documents)
    chunks = cut_documents(texts, tracing, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
    for _, found in extract_all(chunks, tracing):
        said.update(e.name for e in found.entities)
        said.update(name for r in found.relations for name in (r.source, r.target))
        said.update(c.subject for c in found.claims)
    return frozenset(map(fold, said))


def _trace(rt: Runtime, store: Store) -> Tracing:
    given = {f.name: getattr(rt, f.name) for f in fields(Runtime)} | {"store": store, "aside": [], "lacking": []}
    return Tracing(**given)


def follow_keys(store: Store, name: str, known: Collection[str] = ()) -> dict[str, None]:
    """The keys that the object under the key `name` leads to, and itself; what is known leads no further."""
    found, opened = dict.fromkeys([name]), {*known}
    waiting = [name]
    while waiting:
        opened.update(waiting)
        values = store.read(waiting)
        lists = [v for v in values.values() if len(v) < _LIST and _DIGITS in v.translate(_AS_DIGITS)]
        named = dict.fromkeys((k.decode(), bool(table)) for v in lists for k, table in _KEY.findall(v))
        found.update(dict.fromkeys(k for k, _ in named if k not in known))
        waiting = [k for k, table in named if not table and k not in opened]
    return found


def keys_behind_index(store: Store, manifest: Manifest, name: str) -> list[str]:
    """The keys behind the index with this manifest, whose own key is `name`: parts, their parts, documents, chunks."""
    found = follow_keys(store, name)
    listed = recall_result(store, list_catalogue, manifest.documents)
    return [*found, *(d.key for d in listed.documents), *dict.fromkeys(c.key for c in listed.chunks)]


__all__ = [
    "KeyRecordingStore",
    "TookTooLong",
    "Traced",
    "Tracing",
    "Untraced",
    "follow_keys",
    "keys_behind_index",
    "read_said_names",
    "trace_build",
]
