"""Tables of the reference implementation to an index that every method reads (N59; specs: graphrag §2, §10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sensegraph.errors import InputError
from sensegraph.graphs.interchange.exporting.listing import Listing
from sensegraph.graphs.interchange.exporting.rows import Deriver, late
from sensegraph.graphs.interchange.exporting.shelf import Shelf, blocks
from sensegraph.graphs.interchange.extras import Extra, differences, keep
from sensegraph.graphs.interchange.importing.hierarchies import Grouping, grouped, reported
from sensegraph.graphs.interchange.importing.knowledge import Knowledge, known
from sensegraph.graphs.interchange.importing.texts import Texts, placed
from sensegraph.graphs.interchange.tables import COLUMNS, Tables
from sensegraph.index.build import complete, store_documents
from sensegraph.index.chunks import chunk
from sensegraph.index.graph.merging import graph
from sensegraph.index.hierarchy.communities import Communities, communities, find_communities, structure
from sensegraph.index.hierarchy.reports import hierarchy, report_all
from sensegraph.index.index import Index, catalogue, document
from sensegraph.index.manifest import Manifest
from sensegraph.index.parts import Spine
from sensegraph.index.settings import IndexSettings
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Results, load, save
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Document, Graph, Hierarchy

_VERSION = 1  # raise it when the same tables come out differently


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: the index that readers see now, rows read by table, and what was made or left out."""

    manifest: Manifest
    rows: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Import:
    """Tables as values, under the key of the import."""

    key: str
    tables: Tables
    texts: Texts
    knowledge: Knowledge
    grouping: Grouping | None


def import_tables(
    tables: Tables,
    rt: Runtime,
    settings: IndexSettings,
    add: Callable[[Sequence[Document]], object] = lambda documents: None,
) -> Imported:
    """Make `tables` the index that readers see. Ids stay those of the tables.

    Where there are no communities they are found, and where there are no reports they are written, by this system's own
    steps: only then is a model asked. `add` is given the documents before the index is published, to make them
    documents of the corpus. Raises InputError for tables that contradict themselves, StepFailed when reports failed.
    """
    if not tables.entities:
        raise InputError(
            f"The table entities in {tables.folder or 'this import'} is empty; there is nothing to import."
        )
    made = _read(tables, settings)
    spine = _spine(made, rt, settings)
    add(list(made.texts.documents.values()))
    manifest = complete(spine, rt, settings)
    _keep_extras(made, manifest, rt)
    return Imported(manifest, tables.counts(), spine.notes)


def _read(tables: Tables, settings: IndexSettings) -> _Import:
    texts = placed(tables, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
    knowledge = known(tables, texts, orphans=settings.graph.orphans)
    grouping = grouped(tables, knowledge) if tables.communities else None
    rows = (key(table, row.raw) for table in COLUMNS for row in getattr(tables, table))
    name = key("import", _VERSION, settings.graph.orphans, settings.chunk_tokens, settings.chunk_overlap, *rows)
    return _Import(name, tables, texts, knowledge, grouping)


# ── parts of the index ──


def _spine(made: _Import, rt: Runtime, settings: IndexSettings) -> Spine:
    names = sorted(made.texts.documents)
    documents = Results(rt.store, document, store_documents([made.texts.documents[n] for n in names], rt))
    chunks = _chunks(made, names, rt)
    listed = rt.once(catalogue, (documents, chunks), names=(*documents.keys, *chunks.keys))
    known_graph = _stored_graph(made, rt)
    spine = Spine(listed, chunks, known_graph, quoted=False)
    notes = (*made.texts.notes, *made.knowledge.notes)
    if made.grouping and made.tables.community_reports:
        told = _stored_hierarchy(made, made.grouping, rt)
        return replace(spine, hierarchy=told, notes=(*notes, *told.value.notes))
    return _with_reports(replace(spine, notes=notes), made, known_graph, rt, settings)


def _chunks(made: _Import, names: Sequence[str], rt: Runtime) -> Results[tuple]:  # type: ignore[type-arg]
    """The chunks of each document, stored as what the step that cuts documents would have given."""
    keys = [key(made.key, "chunks", name) for name in names]
    for block in blocks(zip(keys, names, strict=True)):
        rt.store.write({k: chunk.encode(tuple(made.texts.chunks[name])) for k, name in block}, chunk.name)
    return Results(rt.store, chunk, keys)


def _stored_graph(made: _Import, rt: Runtime) -> Result[Graph]:
    name = key(made.key, "graph")
    if not rt.store.has([name]):
        save(rt.store, graph, name, made.knowledge.graph)
    return Result(name, load(rt.store, graph, name))


def _stored_hierarchy(made: _Import, grouping: Grouping, rt: Runtime) -> Result[Hierarchy]:
    name = key(made.key, "hierarchy")
    if not rt.store.has([name]):
        save(rt.store, hierarchy, name, reported(made.tables, grouping, made.knowledge, made.texts))
    return Result(name, load(rt.store, hierarchy, name))


def _with_reports(
    spine: Spine, made: _Import, known_graph: Result[Graph], rt: Runtime, settings: IndexSettings
) -> Spine:
    """The spine with reports written by the engine, on the communities of the tables or on our own."""
    shape = key(rt.once(structure, known_graph.value, names=(known_graph.key,)).value, settings.clusters)
    if made.grouping:
        name = key(made.key, "communities")
        save(rt.store, communities, name, Communities(made.grouping.groups, 0.0, made.grouping.notes))
        groups = Result(name, load(rt.store, communities, name))
    else:
        groups = find_communities(known_graph, None, rt, settings.clusters)
    told = report_all(groups, known_graph, spine.chunks, rt, settings.reports)
    found = {"structure": shape, "communities": groups} if not made.grouping else {}
    return replace(spine, hierarchy=told, notes=(*spine.notes, *told.value.notes), **found)  # type: ignore[arg-type]


# ── what our values do not hold ──


class _Provisional:
    """Extras of rows before their differences are known: order, numbers and names."""

    def __init__(self, tables: Mapping[str, list[Extra]]) -> None:
        self.tables = tables
        self._by_id = {table: {e.id: e for e in extras} for table, extras in tables.items()}

    def find(self, table: str, ids: Sequence[str]) -> dict[str, Extra]:
        """The extras of these records."""
        return {i: self._by_id[table][i] for i in ids if i in self._by_id[table]}

    def scan(self, table: str) -> Iterable[Extra]:
        """All extras of a table."""
        return self.tables[table]


def _keep_extras(made: _Import, manifest: Manifest, rt: Runtime) -> None:
    """Keep what a row says beyond what we would write for its record, so that an export gives it back."""
    plain = _Provisional({table: _extras(table, made) for table in COLUMNS})
    with Shelf() as shelf:
        deriver = Deriver(Listing(Index(rt.store), plain, shelf))
        tables = {table: list(_differing(table, plain.tables[table], deriver, made)) for table in COLUMNS}
    keep(rt.store, key(made.key, "beside", tables), manifest.chunks, tables)


def _extras(table: str, made: _Import) -> list[Extra]:
    """The rows of a table in order, each under the id of the record it became, then the records of no row."""
    of_row = _record_ids(table, made)
    found = []
    for row in getattr(made.tables, table):
        name = of_row.get(row.id)
        if name is None:
            found.append(Extra(f"row {row.id}", row.number, whole=dict(row.raw)))
        else:
            number = row.community if table.startswith("communit") else row.number
            found.append(Extra(name, number, row.id if name != row.id else ""))
    return found + [Extra(name, made=True) for name in _made(table, made)]


def _record_ids(table: str, made: _Import) -> dict[str, str]:
    """The record that each row of a table became."""
    g, t = made.knowledge.graph, made.texts
    kept = {
        "documents": t.documents,
        "entities": [e.id for e in g.entities],
        "relationships": [r.id for r in g.relations],
        "covariates": [c.id for c in g.claims],
        "communities": [g.id for g in made.grouping.groups] if made.grouping else (),
    }
    if table == "text_units":
        return dict(t.chunk_of)
    if table == "community_reports":
        groups = {g.id for g in made.grouping.groups} if made.grouping else set()
        community_of = {r.community: r.id for r in made.tables.communities if r.id in groups}
        of_row = {r.id: community_of.get(r.community, "") for r in made.tables.community_reports}
        return {row: cluster for row, cluster in of_row.items() if cluster}
    here = {row.id for row in getattr(made.tables, table)}
    return {name: name for name in kept[table] if name in here}


def _made(table: str, made: _Import) -> Iterable[str]:
    """Records that stand in no table."""
    if table == "documents":
        return made.texts.made
    if table == "text_units":
        told = set(made.texts.chunk_of.values())
        cut = () if made.tables.text_units else made.texts.documents.keys() - made.texts.made.keys()
        return (c.id for c in made.texts.all_chunks() if c.id not in told and c.document not in cut)
    if table == "entities":
        return made.knowledge.made
    single = made.grouping.made if made.grouping and made.tables.community_reports else ()
    return single if table.startswith("communit") else ()


def _differing(table: str, plain: Sequence[Extra], deriver: Deriver, made: _Import) -> Iterable[Extra]:
    raw = {row.id: row.raw for row in getattr(made.tables, table)}
    for block in blocks(plain):
        derived = deriver.derived(table, [e.id for e in block if e.whole is None and not e.made])
        for extra in block:
            if extra.id not in derived:
                yield extra
                continue
            original = raw[extra.name or extra.id]
            yield replace(extra, differences=differences(table, original, derived[extra.id], late))


__all__ = ["Imported", "import_tables"]
