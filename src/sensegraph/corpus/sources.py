"""The documents of a corpus: read from paths or given as values, stored, listed, removed; and following their files."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from sensegraph.corpus.garbage import keep_descriptions
from sensegraph.corpus.tools import estimate_only
from sensegraph.corpus.workspace import DOCUMENT, MASKED, ORIGIN, STATE, Builder, Built, Workspace
from sensegraph.documents.document_files import RECORDS, PartlyRead, name_inside
from sensegraph.documents.images import FiguresRead
from sensegraph.documents.values import check_storable, list_values
from sensegraph.errors import InputError
from sensegraph.extractions import Shortened
from sensegraph.index.build import store_documents
from sensegraph.index.index import keep_documents
from sensegraph.index.manifest import REF
from sensegraph.personal.personal_settings import Tally
from sensegraph.resolution.log import read_operations
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Results
from sensegraph.types import Document, Usage

if TYPE_CHECKING:
    from sensegraph.corpus.privacy import Looking, Privacy
    from sensegraph.documents.document_files import DocumentSettings, Skipped
    from sensegraph.index.estimate import Estimate
    from sensegraph.runtime.stores.corpus_store import CorpusStore

T = TypeVar("T")
Items = Sequence[str | Path | Document | Iterable[Document]]
_NOTHING, _UNSEEN, _FREE = Tally(), FiguresRead(), Usage()
_NO_KEYS: Mapping[str, Sequence[str]] = MappingProxyType({})
_SHOWN = 20  # things that were not read which the notes of a build name


@dataclass(frozen=True, slots=True)
class Read:
    """What paths and values hold: documents as they are stored, what was skipped, what was found that is personal."""

    documents: Sequence[Document]
    skipped: tuple[Skipped, ...] = ()
    personal: Tally = _NOTHING
    figures: FiguresRead = _UNSEEN
    described: Mapping[str, Sequence[str]] = field(default_factory=dict)  # keys of what was told of figures, by id
    to_describe: Usage = _FREE  # what the descriptions that are missing would take


@dataclass(frozen=True, slots=True, repr=False)
class Added(Shortened):
    """What `add` did: ids that are new, whose content changed, and that were there already; and what was skipped.

    `personal` counts the personal data that was found, where the settings ask for it; `figures` the images.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    personal: Tally = _NOTHING
    figures: FiguresRead = _UNSEEN


@dataclass(frozen=True, slots=True, repr=False)
class Plan(Shortened):
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
    figures: FiguresRead = _UNSEEN

    def as_added(self) -> Added:
        """What was done where the plan was carried out; a document of another name is a new one."""
        new = (*self.added, *(name for _, name in self.renamed))
        return Added(new, self.edited, self.same, self.skipped, self.personal, self.figures)


class Sources:
    """The documents of a corpus. The index follows with the next build."""

    def __init__(self, workspace: Workspace, privacy: Privacy) -> None:
        self._workspace, self._privacy = workspace, privacy
        self._unread: tuple[Skipped, ...] = ()  # since the last build that said so

    def note_skipped(self, built: Built) -> Built:
        """What a build did, with notes on what was not read for it."""
        unread, self._unread = self._unread, ()
        notes = [f"skipped {s.path}: {s.reason}" for s in unread[:_SHOWN]]
        notes += [f"skipped {len(unread) - _SHOWN:,} more, which `add` named"] * (len(unread) > _SHOWN)
        return replace(built, notes=(*notes, *built.notes)) if notes else built

    def remember_skipped(self, skipped: Sequence[Skipped]) -> None:
        """Keep in mind what was not read, for the notes of the next build."""
        self._unread = (*self._unread, *skipped)

    def add(self, *items: str | Path | Document | Iterable[Document], base: str | Path = "") -> Added:
        """Add or update documents: files and folders by path, or values.

        A document with the id of an earlier one takes its place. Files are named as in the folder `base`, where one is
        given. Images in files are described where a model that sees is set. Raises InputError for a path that does not
        exist, before anything is stored; BudgetExceeded and EndpointDown, after what was paid for is.
        """
        self._workspace.mend_store()
        read = self.read(items, base, "paid")
        self.remember_skipped(read.skipped)
        return replace(self._store(read), skipped=read.skipped, personal=read.personal, figures=read.figures)

    def read(self, items: Items, base: str | Path = "", looking: Looking = "") -> Read:
        """The documents of paths and values, masked where the settings say so, and what could not be read.

        `looking` says what becomes of images. Raises InputError for documents that cannot be stored, before any is.
        """
        from sensegraph.documents import load as load_documents

        paths, values = [i for i in items if isinstance(i, str | Path)], list_values(items)
        vision, reason = self._privacy.figure_reader(looking if paths else "")
        how = self._reading([base] if base else paths)
        loaded = load_documents(paths, settings=how, base=base, vision=vision, reason=reason)
        documents = [*loaded.documents, *values]
        check_storable(documents)
        kept, personal = self._privacy.without_personal_data(documents)
        found = Read(kept, loaded.skipped, personal, loaded.figures)
        shown = [(new.id, loaded.figures.digests.get(old.id, ())) for old, new in zip(documents, kept, strict=True)]
        keys = {name: vision.list_keys(digests) for name, digests in shown if digests} if vision else {}
        return replace(found, described=keys, to_describe=vision.estimate()) if vision else found

    def _reading(self, paths: Sequence[str | Path]) -> DocumentSettings:
        """The settings for reading `paths`: where one is this corpus's own folder, its prompts are no documents."""
        settings, root = self._workspace.settings, self._workspace.root.resolve()
        reading = settings.documents
        prompts = Path(settings.model.prompts).resolve() if settings.model.prompts else root
        if prompts == root or not prompts.is_relative_to(root) or root not in {Path(p).resolve() for p in paths}:
            return reading
        return replace(reading, exclude=(*reading.exclude, f"{prompts.relative_to(root).as_posix()}/*"))

    def _store(self, read: Read) -> Added:
        before = self._workspace.store.refs(DOCUMENT)
        keys = self.store_keys(read.documents)
        self.set_keys(keys, described=read.described)
        old = {name: before.get(DOCUMENT + name) for name in keys}
        return Added(
            new=tuple(n for n in keys if old[n] is None),
            changed=tuple(n for n, k in keys.items() if old[n] not in (None, k)),
            same=tuple(n for n, k in keys.items() if old[n] == k),
        )

    def store_keys(self, documents: Sequence[Document]) -> dict[str, str]:
        """Store the contents of documents, which makes none of them part of the corpus; their keys by id."""
        return dict(zip((d.id for d in documents), store_documents(documents, self._workspace.runtime()), strict=True))

    def set_keys(
        self, keys: dict[str, str], gone: Collection[str] = (), described: Mapping[str, Sequence[str]] = _NO_KEYS
    ) -> None:
        """Make documents with these keys part of the corpus, and those that are `gone` not."""
        refs: dict[str, str | None] = dict.fromkeys(p + name for p in (DOCUMENT, ORIGIN, MASKED) for name in gone)
        refs |= {DOCUMENT + name: k for name, k in keys.items()}
        store = self._workspace.store
        if gone or any(store.ref(DOCUMENT + name) != k for name, k in keys.items()):
            refs[STATE] = uuid4().hex
        store.set_refs(refs | self._privacy.marks(keys) | keep_descriptions(store, {*keys, *gone}, described))

    def remove(self, *ids: str) -> None:
        """Remove documents; the next build makes the index as if they had never been there.

        Without any document there is nothing to build: then the index goes at once. Raises InputError when one is not
        in the corpus; then none is removed.
        """
        have = self._workspace.document_keys()
        if missing := [name for name in ids if name not in have]:
            near = get_close_matches(missing[0], list(have))
            more = f"did you mean {near[0]!r}? " if near else f"the corpus holds {len(have)}: "
            raise InputError(
                f"Not in the corpus: {', '.join(map(repr, missing[:5]))}; {more}`sensegraph documents list` shows all "
                "(in Python: `corpus.document_keys()`)."
            )
        index = {} if have.keys() - set(ids) else {REF: None}
        gone = [place + name for place in (DOCUMENT, ORIGIN, MASKED) for name in ids]
        self._workspace.store.set_refs({**dict.fromkeys(gone), **index, STATE: uuid4().hex})

    def masked_documents(self) -> Sequence[Document]:
        """The documents of the corpus, for a model to see. Raises SettingsError where they ought to be masked first."""
        self._privacy.require_masked_documents()
        return self.documents()

    def documents(self) -> Sequence[Document]:
        """All documents in the order of ids, read when they are asked for."""
        return self._workspace.read_documents(list(self._workspace.document_keys().values()))


# ── following files ──


class Mirror:
    """Compares a corpus with the files that it was read from. Raises InputError where no document can be read."""

    def __init__(self, workspace: Workspace, privacy: Privacy, sources: Sources, builder: Builder) -> None:
        self._workspace, self._privacy, self._sources, self._builder = workspace, privacy, sources, builder

    @property
    def _store(self) -> CorpusStore:
        return self._workspace.store

    @estimate_only()
    def plan(self, *paths: str | Path, estimate: bool = False, base: str | Path = "") -> Plan:
        """What `sync` would do; with `estimate` also what the next build would compute and cost then.

        The corpus stays as it is, and nothing is paid.
        """
        plan, keys, read = self._planned(paths, base, "foreseen")
        if not estimate:
            return plan
        gone = {*plan.removed, *(old for old, _ in plan.renamed)}
        left = {n: k for n, k in self._workspace.document_keys().items() if n not in gone} | keys
        found = self._builder.estimate_of(left, self._builder.index_settings())
        return replace(plan, estimate=found.with_step("figures.describe", read.to_describe))

    def sync(self, *paths: str | Path, base: str | Path = "") -> Plan:
        """Make the corpus hold what the paths hold: documents that were read from them and are gone are removed.

        With `base`, a folder that holds the paths, it is as if that were followed, and had nothing else in it. A file
        that only has another name is known by its content. Documents that came from elsewhere stay. What could not be
        read whole removes nothing. The index follows with the next `build`.
        """
        self._workspace.mend_store()
        plan, keys, read = self._planned(paths, base, "paid")
        gone = [*plan.removed, *(old for old, _ in plan.renamed)]
        self._sources.set_keys(keys, gone, read.described)
        self._sources.remember_skipped(plan.skipped)
        self.record_origin([base] if base else paths, keys)
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

    def _planned(
        self, paths: Sequence[str | Path], base: str | Path, looking: Looking
    ) -> tuple[Plan, dict[str, str], Read]:
        """The plan, the key of every document that was read, and what was read."""
        read = self._sources.read(paths, base, looking)
        documents, skipped = read.documents, read.skipped
        if not documents:
            raise InputError(
                f"Nothing could be read from {', '.join(map(str, paths)) or 'nothing'}; the index is as it was."
            )
        keys = self._sources.store_keys(documents)
        now, gone = self._workspace.document_keys(), self.find_missing([base] if base else paths, keys)
        if base:
            inside = [name_inside(str(p), str(base)) for p in paths]
            gone = [name for name in gone if any(not part or name.startswith(f"{part}/") for part in inside)]
        # Of what is unread it is not known what it holds. A folder holds nothing at all where its disk is not there.
        folders = [p for p in paths if _can_list(p)]
        empty = [str(p) for p in folders if all(n.startswith(".") for n in os.listdir(p))]
        closed = [s.path for s in skipped if isinstance(s, PartlyRead) or not _can_list(s.path)]
        unread = tuple(dict.fromkeys([*empty, *closed]))
        withheld = [name for name in gone if _may_be_unread(name, [base] if base else paths, unread)]
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
            figures=read.figures,
        )
        # decisions about names that speak of documents under names that these no longer have
        moved = {old for old, _ in renamed}
        numbers = [o.id for o in read_operations(self._store) if not o.reverted and moved & {*o.documents}]
        note = f"operation {', '.join(numbers)} speaks of a document that was renamed: split it anew"
        return replace(plan, notes=(note,) * bool(numbers)), keys, read

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
                old = [
                    n
                    for n in had.get(_content_key(d), ())
                    if not same_name or os.path.basename(n) == os.path.basename(d.id)
                ]
                if old:
                    had[_content_key(d)].remove(old[0])
                    pairs.append((old[0], d.id))
        return sorted(pairs)


def _content_key(d: Document) -> str:
    return key(d.text, d.title, d.metadata, d.time)


def _can_list(path: str | Path) -> bool:
    """Whether this is a folder whose names can be read."""
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


# ── watching for changes ──


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: between two looks (`every`); without a change before files count as written (`settle`); before a round
    that failed is tried again (`again`, doubled each time up to `most`)."""

    every: float = 2.0
    settle: float = 2.0
    again: float = 30.0
    most: float = 600.0


def follow_changes(
    look: Callable[[], T],
    act: Callable[[], bool],
    pace: Pace,
    *,
    pause: Callable[[float], None],
    now: Callable[[], float],
    rounds: int = 0,
) -> None:
    """Call `act` at first and whenever what `look` sees has changed and stayed so; until an exception ends it.

    `act` says whether it succeeded; where it did not it is called again after a while, or after the next change. Only
    one call runs at a time, and what changes meanwhile is seen by the next look. With `rounds`, so many looks.
    """
    done: T | None = None
    seen, since, wait = look(), now() - pace.settle, pace.again
    looks, retry = 0, float("inf")
    while True:
        due = seen != done or now() >= retry
        if due and now() - since >= pace.settle:
            done = seen
            if act():
                wait, retry = pace.again, float("inf")
            else:
                wait, retry = min(pace.most, 2 * wait), now() + wait
        looks += 1
        if looks == rounds:
            return
        pause(pace.every)
        if (latest := look()) != seen:
            seen, since = latest, now()
