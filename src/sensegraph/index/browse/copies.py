"""Documents of an index that hold the same text, by a hash of it; texts that are only alike are not looked for."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter

from sensegraph.algorithms.segments import cut_keys
from sensegraph.index.index import Index, keep_documents
from sensegraph.runtime.batches import ReadItems
from sensegraph.runtime.results import Result, Results, recall_result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Document

Copies = tuple[tuple[str, ...], ...]
_NAMED = 5  # groups that a note names
_IDS = 3  # documents of a group that it names


Hashed = tuple[str, str]  # the id of a document and the hash of its text, which is empty where there is no text


@step("documents.hash", version=1, batch=256)
def hash_texts(documents: Sequence[Document]) -> list[Hashed]:
    """The id and the hash of the text of each document."""
    return [
        (d.id, hashlib.blake2b(d.text.encode(), digest_size=16).hexdigest() if d.text.strip() else "")
        for d in documents
    ]


@step("documents.hashes", version=1)
def keep_hashes(runs: Sequence[Iterable[Hashed]]) -> list[tuple[Hashed, ...]]:
    """Of each run of documents, those that have a text."""
    return [tuple(row for row in run if row[1]) for run in runs]


@step("documents.copies", version=1)
def group_copies(hashed: Sequence[Iterable[Hashed]]) -> list[Copies]:
    """The ids of documents with the same text, in groups of two and more, all in the order of ids."""
    made = list[Copies]()
    for rows in hashed:
        groups, listed = defaultdict[str, list[str]](list), list(rows)
        many = Counter(map(itemgetter(1), listed))
        for name, digest in listed if len(many) < len(listed) else ():
            if many[digest] > 1:
                groups[digest].append(name)
        made.append(tuple(sorted(tuple(sorted(names)) for names in groups.values())))
    return made


def find_same_texts(keys: Sequence[str], rt: Runtime) -> Result[Copies]:
    """Which documents, by their keys, hold the same text; of an update, only what is new is read."""
    hashed = rt.each(hash_texts, Results(rt.store, keep_documents, keys))
    runs = cut_keys(keys)
    items = ReadItems(rt.store, len(runs), lambda i: hashed.reader(runs[i]))
    kept = rt.once_each(keep_hashes, items, list(map(hashed.tell_run, runs)))
    return rt.once(group_copies, lambda: [row for run in kept for row in run.value], names=[run.key for run in kept])


def note_copies(copies: Copies) -> tuple[str, ...]:
    """A note that names documents with the same text; none where there are none."""
    if not copies:
        return ()
    number = sum(map(len, copies))
    groups = [
        " = ".join(group[:_IDS]) + (f" and {len(group) - _IDS:,} more" if len(group) > _IDS else "")
        for group in copies[:_NAMED]
    ]
    rest = f"; and {len(copies) - _NAMED:,} more groups" if len(copies) > _NAMED else ""
    return (
        f"{number:,} documents hold the same text as another: {'; '.join(groups)}{rest}. Each is indexed and cited; "
        "`sensegraph documents list` marks them, `sensegraph documents remove` removes one",
    )


def find_originals(index: Index) -> dict[str, str]:
    """Of each document with the text of another, the first of these by id; none of the first ones."""
    if not (made := index.manifest.copies):
        return {}
    copies = recall_result(index.store, group_copies, made)
    return {name: group[0] for group in copies for name in group[1:]}
