"""Tables of the reference implementation to an index that every method reads (N59; specs: graphrag §2, §10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sensegraph.errors import InputError
from sensegraph.graphs.interchange.exporting import Deriver, derive_late_columns
from sensegraph.graphs.interchange.extras import Extra, Extras, find_differences, store_extras
from sensegraph.graphs.interchange.hierarchies import Grouping, build_hierarchy, group_communities
from sensegraph.graphs.interchange.knowledge import Knowledge, Texts, build_graph, place_text_units
from sensegraph.graphs.interchange.listing import Listing, PairFile, split_blocks
from sensegraph.graphs.interchange.tables import COLUMNS, Tables
from sensegraph.index.build import complete_index, store_documents
from sensegraph.index.chunks import chunk_documents
from sensegraph.index.graph.merging import describe_graphs
from sensegraph.index.hierarchy.communities import Communities, cluster_graphs
from sensegraph.index.hierarchy.gathering import group_graph
from sensegraph.index.hierarchy.reports import keep_hierarchy, report_all
from sensegraph.index.index import Index, keep_documents
from sensegraph.index.manifest import Manifest, catalogue_of
from sensegraph.index.parts import Spine
from sensegraph.index.settings import IndexSettings
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Results, load_result, save_result
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Document

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
        place = tables.folder or "this import"
        raise InputError(f"The table entities in {place} is empty; there is nothing to import.")
    texts = place_text_units(tables, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
    knowledge = build_graph(tables, texts, orphans=settings.graph.orphans)
    grouping = group_communities(tables, knowledge) if tables.communities else None
    rows = (key(table, row.raw) for table in COLUMNS for row in getattr(tables, table))
    name = key("import", _VERSION, settings.graph.orphans, settings.chunk_tokens, settings.chunk_overlap, *rows)
    made = _Import(name, tables, texts, knowledge, grouping)
    spine = _store_spine(made, rt, settings)
    add(list(made.texts.documents.values()))
    manifest = complete_index(spine, rt, settings)
    _keep_extras(made, manifest, rt)
    return Imported(manifest, tables.counts(), spine.notes)


# ── parts of the index ──


def _store_spine(made: _Import, rt: Runtime, settings: IndexSettings) -> Spine:
    names = sorted(made.texts.documents)
    documents = Results(rt.store, keep_documents, store_documents([made.texts.documents[n] for n in names], rt))
    # the chunks of each document, stored as what the step that cuts documents would have given
    keys = [key(made.key, "chunks", name) for name in names]
    for block in split_blocks(zip(keys, names, strict=True)):
        encoded = {k: chunk_documents.encode(tuple(made.texts.chunks[name])) for k, name in block}
        rt.store.write(encoded, chunk_documents.name)
    chunks = Results(rt.store, chunk_documents, keys)
    listed = catalogue_of(documents, chunks, rt)
    graph_key = key(made.key, "graph")
    if not rt.store.has([graph_key]):
        save_result(rt.store, describe_graphs, graph_key, made.knowledge.graph)
    known_graph = Result(graph_key, load_result(rt.store, describe_graphs, graph_key))
    spine = Spine(listed, documents.keys, chunks, known_graph, quoted=False)
    notes = (*made.texts.notes, *made.knowledge.notes)
    if made.grouping and made.tables.community_reports:
        hierarchy_key = key(made.key, "hierarchy")
        if not rt.store.has([hierarchy_key]):
            reported = build_hierarchy(made.tables, made.grouping, made.knowledge, made.texts)
            save_result(rt.store, keep_hierarchy, hierarchy_key, reported)
        told = Result(hierarchy_key, load_result(rt.store, keep_hierarchy, hierarchy_key))
        return replace(spine, hierarchy=told, notes=(*notes, *told.value.notes))
    # reports written by the engine, on the communities of the tables or on our own
    shape = ""
    if made.grouping:
        name = key(made.key, "communities")
        save_result(rt.store, cluster_graphs, name, Communities(made.grouping.groups, 0.0, made.grouping.notes))
        groups = Result(name, load_result(rt.store, cluster_graphs, name))
    else:
        shape, groups = group_graph(known_graph, None, rt, settings.clusters)
    told = report_all(groups, known_graph, spine.chunks, rt, settings.reports)
    found = {"structure": shape, "communities": groups} if not made.grouping else {}
    return replace(spine, hierarchy=told, notes=(*notes, *told.value.notes), **found)  # type: ignore[arg-type]


# ── what our values do not hold ──


class _Provisional(Extras):
    """Extras of rows before their differences are known: order, numbers and names."""

    def __init__(self, tables: Mapping[str, list[Extra]]) -> None:
        self.tables = tables
        self._by_id = {table: {e.id: e for e in extras} for table, extras in tables.items()}

    def find(self, table: str, ids: Sequence[str]) -> dict[str, Extra]:
        """The extras of these records."""
        return {i: self._by_id[table][i] for i in ids if i in self._by_id[table]}

    def scan(self, table: str) -> Iterator[Extra]:
        """All extras of a table."""
        return iter(self.tables[table])


def _keep_extras(made: _Import, manifest: Manifest, rt: Runtime) -> None:
    """Keep what a row says beyond what we would write for its record, so that an export gives it back."""
    listed: dict[str, list[Extra]] = {table: [] for table in COLUMNS}
    for table, extras in listed.items():
        # rows in order, each under the id of the record it became, then the records of no row
        of_row, beside = _match_records(table, made)
        for row in getattr(made.tables, table):
            record = of_row.get(row.id)
            if record is None:
                extras.append(Extra(f"row {row.id}", row.number, whole=dict(row.raw)))
            else:
                number = row.community if table.startswith("communit") else row.number
                extras.append(Extra(record, number, row.id if record != row.id else ""))
        extras += [Extra(name, made=True) for name in beside]
    plain = _Provisional(listed)
    with PairFile() as pairs:
        deriver = Deriver(Listing(Index(rt.store), plain, pairs))
        tables: dict[str, list[Extra]] = {table: [] for table in COLUMNS}
        for table, kept in tables.items():
            raw = {row.id: row.raw for row in getattr(made.tables, table)}
            for block in split_blocks(plain.tables[table]):
                derived = deriver.derived(table, [e.id for e in block if e.whole is None and not e.made])
                for extra in block:
                    if extra.id not in derived:
                        kept.append(extra)
                        continue
                    found = find_differences(table, raw[extra.name or extra.id], derived[extra.id], derive_late_columns)
                    kept.append(replace(extra, differences=found))
    store_extras(rt.store, key(made.key, "beside", tables), manifest.chunks, tables)


def _match_records(table: str, made: _Import) -> tuple[Mapping[str, str], Iterable[str]]:
    """The record that each row of a table became, and the records that stand in no row of it."""
    texts, knowledge, grouping = made.texts, made.knowledge, made.grouping
    groups = [g.id for g in grouping.groups] if grouping else []
    singles = grouping.made if grouping and made.tables.community_reports else ()
    if table == "text_units":
        told = set(texts.chunk_of.values())
        cut = () if made.tables.text_units else texts.documents.keys() - texts.made.keys()
        beside = (c.id for c in texts.all_chunks() if c.id not in told and c.document not in cut)
        return texts.chunk_of, beside
    if table == "community_reports":
        there = set(groups)
        community_of = {r.community: r.id for r in made.tables.communities if r.id in there}
        reports = made.tables.community_reports
        return {r.id: community_of[r.community] for r in reports if r.community in community_of}, singles
    graph_records: Mapping[str, tuple[Iterable[str], Iterable[str]]] = {
        "documents": (texts.documents, texts.made),
        "entities": ([e.id for e in knowledge.graph.entities], knowledge.made),
        "relationships": ([r.id for r in knowledge.graph.relations], ()),
        "covariates": ([c.id for c in knowledge.graph.claims], ()),
        "communities": (groups, singles),
    }
    names, beside_them = graph_records[table]
    here = {row.id for row in getattr(made.tables, table)}
    return {name: name for name in names if name in here}, beside_them
