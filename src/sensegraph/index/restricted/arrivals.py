"""Known time: since when the index has known a document, in which version, and until when (N90, §2, §3.6).

It is written when an index is made public, the same however often a document is indexed anew, and taken back only when
what was removed is collected.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import msgspec

from sensegraph.index.manifest import DocumentEntry
from sensegraph.language.dates.moments import first_instant, instant_after
from sensegraph.protocols import Store
from sensegraph.runtime.keys import encode_canonical
from sensegraph.runtime.results import take_records

PLACE = "arrival/"  # refs: the versions of a document
_EARLIER = "arrivals"
_FEW = 8  # of so many documents one is looked up: then each by itself


@dataclass(frozen=True, slots=True)
class Arrival:
    """The version `key` of a document was known from `known_from` until before `known_to` (empty: still)."""

    key: str
    known_from: str
    known_to: str = ""


Known = dict[str, tuple[Arrival, ...]]
_read_versions = msgspec.json.Decoder(tuple[Arrival, ...]).decode


@dataclass(frozen=True, slots=True)
class Then:
    """Documents `inside` were known then as they are now; `changed` counts those known in an earlier version.

    Of `unknown` it is not known when they came; `first` is when the first came.
    """

    inside: frozenset[str]
    changed: int = 0
    unknown: int = 0
    first: str = ""


def current_second() -> str:
    """This second, UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_arrivals(store: Store) -> Known:
    """The versions of every document by id, oldest first."""
    rows = store.refs(PLACE).items()
    return _read_earlier(store) | {name.removeprefix(PLACE): _read_versions(value) for name, value in rows}


def _read_earlier(store: Store) -> Known:
    """What a store of before 2026-12 has in one object."""
    name = store.ref(_EARLIER)
    found = store.read([name]) if name else {}
    return msgspec.json.decode(found[name], type=Known) if name and name in found else {}


def note_arrivals(
    store: Store, documents: Sequence[DocumentEntry], time: str, places: Sequence[int] = (), held: int = -1
) -> None:
    """Note which versions are known from `time` on, and which no longer; only what changed is written.

    Where the index before held so many documents, and all that are not at these `places` among them, it is read of
    these alone when they came, unless one has gone.
    """
    moved, few = _read_earlier(store), _FEW * len(places) < len(documents) and held >= 0
    some = take_records(documents, places) if few else documents
    there = {d.id: _read_versions(value) for d in some if (value := store.ref(PLACE + d.id))} if few else {}
    stayed = len(documents) - len(some) + sum(not versions[-1].known_to for versions in there.values())
    if moved or not few or stayed != held:
        some, there = documents, read_arrivals(store)
    keys = {d.id: d.key for d in some}
    changed: dict[str, str | None] = {_EARLIER: None} if moved else {}
    for name in {*there, *keys}:
        versions = there.get(name, ())
        last = versions[-1] if versions and not versions[-1].known_to else None
        if (last.key if last else None) != keys.get(name):
            closed = (*versions[:-1], replace(last, known_to=time)) if last else versions
            versions = (*closed, Arrival(keys[name], time)) if name in keys else closed
        elif name not in moved:
            continue
        changed[PLACE + name] = encode_canonical(versions).decode()
    if changed:
        store.set_refs(changed)


def forget_arrivals(store: Store, kept: Collection[str]) -> None:
    """Forget when documents came whose ids are not among `kept`."""
    gone = read_arrivals(store).keys() - set(kept)
    if gone and (moved := _read_earlier(store)):
        rows = {PLACE + name: encode_canonical(versions).decode() for name, versions in moved.items()}
        store.set_refs({**rows, _EARLIER: None})
    store.set_refs({PLACE + name: None for name in gone})


def known_then(known: Known, documents: Sequence[DocumentEntry], moment: str, unknown: bool) -> Then:
    """Which documents were known at `moment`; those whose arrival nobody noted are inside if `unknown`."""
    inside, changed, without = [], 0, 0
    for d in documents:
        versions = known.get(d.id, ())
        if not versions:
            without += 1
            inside += [d.id] if unknown else []
        elif any(v.key == d.key and _spans_moment(v, moment) for v in versions):
            inside.append(d.id)
        elif any(_spans_moment(v, moment) for v in versions):
            changed += 1
    first = min((v[0].known_from for v in known.values() if v), default="later")
    return Then(frozenset(inside), changed, without, first)


def _spans_moment(version: Arrival, moment: str) -> bool:
    """Whether a version was known at some instant of a moment."""
    still = (
        not version.known_to
        or instant_after(moment) <= first_instant(version.known_to)
        or first_instant(moment) < first_instant(version.known_to)
    )
    return first_instant(version.known_from) < instant_after(moment) and still
