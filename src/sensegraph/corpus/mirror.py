"""A corpus that follows its files: what is new, edited, renamed or gone in the paths that it was read from ."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sensegraph.corpus.outcomes import ORIGIN, Plan
from sensegraph.documents.folders import RECORDS
from sensegraph.errors import InputError
from sensegraph.index.index import keep_documents
from sensegraph.resolution.log import read_operations
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Results

if TYPE_CHECKING:
    from sensegraph.corpus.builder import Builder
    from sensegraph.corpus.privacy import Privacy
    from sensegraph.corpus.sources import Sources
    from sensegraph.corpus.workspace import Workspace
    from sensegraph.index.estimate import Estimate
    from sensegraph.runtime.stores.corpus_store import CorpusStore
    from sensegraph.types import Document


class Mirror:
    """Compares a corpus with the files that it was read from. Raises InputError where no document can be read."""

    def __init__(self, workspace: Workspace, privacy: Privacy, sources: Sources, builder: Builder) -> None:
        self._workspace, self._privacy, self._sources, self._builder = workspace, privacy, sources, builder

    @property
    def _store(self) -> CorpusStore:
        return self._workspace.store

    def plan(self, *paths: str | Path, estimate: bool = False) -> Plan:
        """What `sync` would do; with `estimate` also what the next build would compute and cost then.

        The corpus stays as it is, and nothing is paid.
        """
        plan, keys = self._planned(paths)
        return replace(plan, estimate=self._estimate(plan, keys)) if estimate else plan

    def sync(self, *paths: str | Path) -> Plan:
        """Make the corpus hold what the paths hold: documents that were read from them and are gone are removed.

        A file that only has another name is known by its content. Documents that came from elsewhere stay. What could
        not be read whole removes nothing. The index follows with the next `build`.
        """
        plan, keys = self._planned(paths)
        gone = [*plan.removed, *(old for old, _ in plan.renamed)]
        self._sources.set_keys(keys, gone)
        self.record_origin(paths, keys)
        return plan

    def record_origin(self, paths: Sequence[str | Path], ids: Iterable[str]) -> None:
        """Remember that these documents were read from these paths."""
        here, before = "\n".join(self._places(paths)), self._store.refs(ORIGIN)
        self._store.set_refs({ORIGIN + name: here for name in sorted(ids) if before.get(ORIGIN + name) != here})

    def find_missing(self, paths: Sequence[str | Path], read: Iterable[str]) -> list[str]:
        """Documents of the corpus that came from these paths, or some of them, and are not among those just `read`."""
        plain = (str(Path(p).resolve()) for p in paths)  # as it was written before paths were masked, maybe
        here, have = {*self._places(paths), *plain}, {*self._workspace.document_keys()} - {*read}
        came = {name.removeprefix(ORIGIN): where.split("\n") for name, where in self._store.refs(ORIGIN).items()}
        return [name for name, where in came.items() if name in have and here.issuperset(where)]

    def _planned(self, paths: Sequence[str | Path]) -> tuple[Plan, dict[str, str]]:
        """The plan, and the key of every document that was read."""
        read = self._sources.read(paths)
        documents, skipped = read.documents, read.skipped
        if not documents:
            raise InputError(
                f"Nothing could be read from {', '.join(map(str, paths)) or 'nothing'}; the index is as it was."
            )
        keys = self._sources.store_keys(documents)
        now, gone = self._workspace.document_keys(), self.find_missing(paths, keys)
        # Of what is unread it is not known what it holds. A folder holds nothing at all where its disk is not there.
        folders = [p for p in paths if os.path.isdir(p) and _can_list(p)]
        empty = [str(p) for p in folders if all(n.startswith(".") for n in os.listdir(p))]
        closed = [s.path for s in skipped if not os.path.isdir(s.path) or not _can_list(s.path)]
        unread = tuple(dict.fromkeys([*empty, *closed]))
        withheld = [name for name in gone if _may_be_unread(name, paths, unread)]
        renamed = self._renamed([n for n in gone if n not in withheld], [d for d in documents if d.id not in now], now)
        new = {b for _, b in renamed}
        plan = Plan(
            added=tuple(n for n in keys if n not in now and n not in new),
            edited=tuple(n for n, k in keys.items() if now.get(n, k) != k),
            renamed=tuple(renamed),
            removed=tuple(n for n in gone if n not in {*withheld, *(a for a, _ in renamed)}),
            same=tuple(n for n, k in keys.items() if now.get(n) == k),
            withheld=tuple(withheld),
            unread=unread if withheld else (),
            skipped=skipped,
            personal=read.personal,
        )
        return replace(plan, notes=self._moved(plan)), keys

    def _places(self, paths: Sequence[str | Path]) -> list[str]:
        return sorted(self._privacy.masked_path(str(Path(p).resolve())) for p in paths)

    def _renamed(self, gone: Sequence[str], new: Sequence[Document], now: Mapping[str, str]) -> list[tuple[str, str]]:
        """Pairs of a document that is gone and a new one of equal content; of several, those of one file name first."""
        had: dict[str, list[str]] = defaultdict(list)
        for name, found in zip(gone, Results(self._store, keep_documents, [now[n] for n in gone]), strict=True):
            had[_content_key(found)].append(name)
        pairs: list[tuple[str, str]] = []
        for same_name in (True, False):
            for d in sorted(new, key=lambda d: d.id):
                if d.id in {b for _, b in pairs}:
                    continue
                old = [n for n in had.get(_content_key(d), ()) if not same_name or _file_name(n) == _file_name(d.id)]
                if old:
                    had[_content_key(d)].remove(old[0])
                    pairs.append((old[0], d.id))
        return sorted(pairs)

    def _moved(self, plan: Plan) -> tuple[str, ...]:
        """Decisions about names that speak of documents under names that these no longer have."""
        moved = {old for old, _ in plan.renamed}
        numbers = [o.id for o in read_operations(self._store) if not o.reverted and moved & {*o.documents}]
        said = ", ".join(numbers)
        return (f"operation {said} speaks of a document that was renamed: split it anew",) if numbers else ()

    def _estimate(self, plan: Plan, keys: Mapping[str, str]) -> Estimate:
        gone = {*plan.removed, *(old for old, _ in plan.renamed)}
        left = {n: k for n, k in self._workspace.document_keys().items() if n not in gone} | dict(keys)
        return self._builder.estimate_of(left, self._builder.index_settings())


def _content_key(d: Document) -> str:
    return key(d.text, d.title, d.metadata, d.time)


def _file_name(name: str) -> str:
    return name.rpartition("/")[2]


def _can_list(path: str | Path) -> bool:
    try:
        os.listdir(path)
    except OSError:
        return False
    return True


def _may_be_unread(name: str, paths: Sequence[str | Path], unread: Sequence[str]) -> bool:
    """Whether a document that was not found may be in what was not read; of a file of records it is not known."""
    places = {os.path.abspath(p): os.path.abspath(os.path.join(p, name)) for p in paths}
    for path in unread:
        where, known = os.path.abspath(path), Path(path).suffix.lower() in RECORDS
        if known or where in places or any(p == where or p.startswith(where + os.sep) for p in places.values()):
            return True
    return False
