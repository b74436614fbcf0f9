"""What was done to a corpus, and the state that it is in: what its façade returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sensegraph.index.hierarchy.communities import Fate
from sensegraph.personal.personal_settings import Tally
from sensegraph.types import Usage

if TYPE_CHECKING:
    from sensegraph.documents import Skipped
    from sensegraph.index.estimate import Estimate
    from sensegraph.types import Document

MASKED = "masked/"  # refs: under which rules a document was masked
ORIGIN = "origin/"  # refs: from which paths a document was read, to tell when it is no longer there


_NOTHING = Tally()


@dataclass(frozen=True, slots=True)
class Read:
    """What paths and values hold: documents as they are stored, what was skipped, what was found that is personal."""

    documents: Sequence[Document]
    skipped: tuple[Skipped, ...] = ()
    personal: Tally = _NOTHING


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` did: ids that are new, whose content changed, and that were there already; and what was skipped.

    `personal` counts the personal data that was found, where the settings ask for it.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    personal: Tally = _NOTHING


@dataclass(frozen=True, slots=True)
class Plan:
    """What paths hold against what the corpus has of them: ids that are new, whose content changed, that have another
    name now (old, new), that are gone, and that are as they were.

    `withheld` are documents that cannot be found, though it cannot be said that they are gone, because `unread` could
    not be read. `estimate` says what a build would compute then, where it was asked for.
    """

    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    personal: Tally = _NOTHING
    estimate: Estimate | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Built:
    """What `build` did: the index's counts, how many results each step computed, what it cost, and notes.

    `fates` tell what became of the communities of the build before; none where they are as they were.
    """

    counts: Mapping[str, int]
    clusters: tuple[int, ...]
    computed: Mapping[str, int]
    usage: Usage
    notes: tuple[str, ...] = ()
    fates: tuple[Fate, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a corpus: counts of the index (empty before the first build), spend by step, what waits."""

    documents: int
    indexed: int
    counts: Mapping[str, int]
    clusters: tuple[int, ...]
    engine: str
    embedder: str
    ledger: Mapping[str, Usage]
    pending: tuple[str, ...]
    size_bytes: int
