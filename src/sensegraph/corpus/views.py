"""The JSON shapes: from values to plain objects, as the command line prints them with --json and servers send them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sensegraph.answering.grounding.checking import Checked
    from sensegraph.corpus.diagnosis import Diagnosis
    from sensegraph.corpus.garbage import Collected
    from sensegraph.corpus.names import Applied, Resolved
    from sensegraph.corpus.presets import Preset
    from sensegraph.corpus.sources import Added, Plan
    from sensegraph.corpus.workspace import Built, Status
    from sensegraph.documents import Skipped
    from sensegraph.documents.images import FiguresRead
    from sensegraph.graphs.drawing.community_map import CommunityInside, DepthMap, EntityDot
    from sensegraph.graphs.interchange.exporting import Exported
    from sensegraph.graphs.interchange.importing import Imported
    from sensegraph.graphs.interchange.neo4j_server import Pulled, Pushed
    from sensegraph.graphs.match.matches import Matches
    from sensegraph.index.browse.pages import (
        DocumentPage,
        DocumentRow,
        EntityPage,
        EntityRow,
        ReportPage,
        ReportRow,
    )
    from sensegraph.index.estimate import Estimate
    from sensegraph.index.index import Index
    from sensegraph.index.restricted.timeline import Change, Event
    from sensegraph.methods import Listing
    from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
    from sensegraph.personal.masking import Survey
    from sensegraph.plugins import Plugin
    from sensegraph.resolution.aliases import Operation
    from sensegraph.types import Answer, Citation, Evidence, Passage, Usage

SCHEMA = 1  # of these objects; raised when one changes so that a program has to change
JSON = dict[str, Any]
Place = tuple[str, int, int]  # document, and begin and end of a span of its text, in characters
HASH = re.compile(r"[0-9a-f]{32,}")  # the name of a document that says nothing to a reader
CALL_SECONDS = 5.0  # assumed for one call to a model, where an estimate needs a time
_USAGE = ("calls", "prompt_tokens", "completion_tokens", "embedding_tokens", "cost_usd", "seconds")  # told of an answer


def _view_fields(value: object) -> JSON:
    """The fields of a value by name, and those of the values inside it; `figure` only where there is one."""
    from msgspec import to_builtins  # not when help is shown

    found: JSON = _leave_out_no_figure(to_builtins(value))
    return found


def _leave_out_no_figure(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_leave_out_no_figure(v) for v in value]
    if not isinstance(value, dict):
        return value
    return {n: _leave_out_no_figure(v) for n, v in value.items() if v is not None or n != "figure"}


# ── answers and evidence ──


def view_answer(found: Answer, index: Index) -> JSON:
    """An answer with its citations, its evidence, what it cost, and notes."""
    titles = find_document_titles({c.document for c in found.citations}, index)
    return {
        "answer": found.text,
        "method": found.method,
        "engine": found.engine,
        "citations": [_view_citation(c, titles) for c in found.citations],
        "evidence": _view_passages(found.evidence.passages, index),
        "usage": {name: getattr(found.usage, name) for name in _USAGE},
        "notes": list(found.notes),
    }


def find_document_titles(documents: Iterable[str], index: Index) -> dict[str, str]:
    """The titles of those documents whose names are hashes, as an imported index has them; others say what they are."""
    hashes = sorted(name for name in documents if HASH.fullmatch(name))
    return {name: found.title for name in hashes if (found := index.document(name)).title}


def _view_citation(citation: Citation, titles: Mapping[str, str]) -> JSON:
    title = titles.get(citation.document)
    return _view_fields(citation) | ({"title": title} if title else {})


def view_evidence(found: Evidence, index: Index) -> JSON:
    """The evidence for a question."""
    passages = _view_passages(found.passages, index)
    return {"documents": list(found.documents), "evidence": passages, "tokens": found.tokens}


def _view_passages(passages: Sequence[Passage], index: Index) -> list[JSON]:
    from sensegraph.index.browse.pages import place_span  # not when help is shown

    return [
        {
            "kind": p.kind,
            "id": p.id,
            "score": p.score,
            "text": p.text,
            "documents": list(dict.fromkeys(document for document, _, _ in where)),
            "places": [_view_fields(place_span(index, *span)) for span in where],
        }
        for p, where in zip(passages, list_passage_places(passages, index), strict=True)
    ]


def list_passage_places(passages: Sequence[Passage], index: Index) -> list[list[Place]]:
    """The spans behind each passage, each once, in the order of its sources."""
    sources = [[*p.sources, *(q.source for q in p.quotes)] for p in passages]
    chunks = index.chunks(sorted({s.chunk for found in sources for s in found}))
    placed = [[(chunks[s.chunk], s) for s in found if s.chunk in chunks] for found in sources]
    return [list(dict.fromkeys((c.document, c.start + s.start, c.start + s.end) for c, s in one)) for one in placed]


def list_passage_documents(passages: Sequence[Passage], index: Index) -> list[list[str]]:
    """The documents behind each passage, each once, in the order of its sources."""
    places = list_passage_places(passages, index)
    return [list(dict.fromkeys(document for document, _, _ in where)) for where in places]


def view_checks(found: Checked, usage: Usage) -> JSON:
    """The checks of an answer, as the member `checks` of its object, with what checking cost."""
    return {"checks": _view_fields(found) | {"usage": _view_fields(usage)}}


# ── the index and its documents ──


def view_built(found: Built, added: Added, gone: Sequence[str]) -> JSON:
    """What a build did; `gone` are documents that can no longer be read where they were."""
    return {
        **found.counts,
        "clusters": list(found.clusters),
        "new": len(added.new),
        "changed": len(added.changed),
        "same": len(added.same),
        "skipped": [_view_fields(s) for s in added.skipped],
        "figures": view_figures(added.figures),
        "gone": list(gone),
        "personal": _view_fields(added.personal),
        "computed": dict(found.computed),
        "communities": [_view_fields(f) for f in found.fates],
        "usage": _view_fields(found.usage),
        "notes": list(found.notes),
        "left_out": [_view_fields(c) for c in found.left_out],
    }


def view_figures(found: FiguresRead) -> JSON:
    """How many images were described, and how many in which files were not, and why."""
    return {"described": found.described, "unread": [_view_fields(item) for item in found.unread]}


def view_estimate(found: Estimate, seconds: float, skipped: Sequence[Skipped], batch_price: float) -> JSON:
    """What a build would compute, what it costs in batches, how long it takes at least, and what could not be read."""
    left, less = [_view_fields(s) for s in skipped], found.cost_usd * batch_price
    return {**_view_fields(found), "tokens": found.tokens, "batch_cost_usd": less, "seconds": seconds, "skipped": left}


def estimate_seconds(found: Estimate, endpoint: EndpointSettings) -> float:
    """How long the calls take at least: 5 s each, as many at once as are allowed, within the limits per minute."""
    told = found.tokens / endpoint.tokens_per_minute * 60 if endpoint.tokens_per_minute else 0.0
    asked = found.calls / endpoint.requests_per_minute * 60 if endpoint.requests_per_minute else 0.0
    return max(found.calls * CALL_SECONDS / max(1, min(endpoint.concurrency, found.calls)), told, asked)


def view_plan(plan: Plan, seconds: float) -> JSON:
    """What following files would do, and how long the build after it takes at least."""
    return {**_view_fields(plan), "figures": view_figures(plan.figures), "seconds": seconds}


def view_status(found: Status, ids: Sequence[str] | None) -> JSON:
    """The state of a corpus; `ids` of its documents are listed where they were asked for."""
    counts = {k: found.counts.get(k, 0) for k in ("chunks", "entities", "relations", "claims")}
    counts |= {k: n for k, n in found.counts.items() if k != "documents"}
    return {
        "documents": found.documents,
        "indexed": found.indexed,
        **counts,
        "clusters": list(found.clusters),
        "engine": found.engine,
        "embedder": found.embedder,
        "pending": list(found.pending),
        "size_bytes": found.size_bytes,
        "left_out": [_view_fields(c) for c in found.left_out],
        "spend": {step: _view_fields(u) for step, u in found.ledger.items()},
        **({} if ids is None else {"ids": list(ids)}),
    }


def view_collected(found: Collected) -> JSON:
    """What garbage collection deleted, or would delete."""
    return {
        "dry_run": found.dry,
        "by_step": {step: _view_fields(freed) for step, freed in found.by_step.items()},
        **_view_fields(found.total),
        "operations": found.operations,
        "bytes_before": found.before,
        "bytes_after": found.after,
        "notes": list(found.notes),
    }


def view_survey(found: Survey) -> JSON:
    """The personal data in documents: counts and shapes, never the data."""
    return _view_fields(found)


def view_methods(table: Mapping[str, Listing], plugins: Sequence[Plugin]) -> list[JSON]:
    """The methods: ours, and those of plug-ins with where they come from."""
    own = [{"name": n, "paper": m.paper, "tasks": m.tasks, "good_for": m.good_for} for n, m in table.items()]
    return [*own, *({"name": p.name, "from": p.origin, "place": p.place} for p in plugins)]


def view_presets(presets: Mapping[str, Preset]) -> list[JSON]:
    """The presets, without what they hold."""
    return [{"name": p.name, "paper": p.paper, "source": p.source, "also": list(p.also)} for p in presets.values()]


def view_preset(preset: Preset) -> JSON:
    """The settings of a paper beside ours, and what of it cannot be set."""
    return _view_fields(preset)


def view_plugins(plugins: Sequence[Plugin]) -> JSON:
    """The plug-ins that are installed."""
    return {"plugins": [_view_fields(p) for p in plugins]}


# ── reading an index ──


def view_reports(rows: Sequence[ReportRow], depth: int, depths: int) -> JSON:
    """The reports of one of so many depths."""
    return {"depth": depth, "depths": depths, "reports": [_view_fields(r) for r in rows]}


def view_report(page: ReportPage) -> JSON:
    """A report with all that is below it."""
    return _view_fields(page)


def view_entities(pages: Sequence[EntityPage]) -> JSON:
    """All that is known of each entity of a name."""
    return {"entities": [_view_fields(page) for page in pages]}


def view_timeline(entity: str, events: Sequence[Event]) -> JSON:
    """The dated statements on an entity."""
    return {"entity": entity, "events": [_view_fields(e) for e in events]}


def view_changes(first: str, last: str, found: Sequence[Change]) -> JSON:
    """What changed between two moments."""
    return {"from": first, "to": last, "changes": [_view_fields(c) for c in found]}


def view_matches(found: Matches) -> JSON:
    """The rows of a graph query, each by the names of its columns."""
    rows = [dict(zip(found.columns, map(_view_value, row), strict=True)) for row in found.rows]
    view = {"columns": found.columns, "rows": rows, "found": found.found, "notes": found.notes}
    if found.marks:
        view |= {"marks": found.marks, "citations": [_view_fields(c) for c in found.citations]}
    return view


def _view_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_view_value(v) for v in value]
    return _view_fields(value) if is_dataclass(value) else value


# ── what a page shows ──


def view_documents(rows: Sequence[DocumentRow], found: int) -> JSON:
    """A part of the list of documents, of so many."""
    return {"documents": [_view_fields(row) | {"metadata": dict(row.metadata)} for row in rows], "found": found}


def view_document(page: DocumentPage, original: bool) -> JSON:
    """A document, or a part of it, and whether its file can be had."""
    own = {name: value for name, value in _view_fields(page).items() if value is not None}
    return {**own, "metadata": dict(page.metadata), "original": original}


def view_entity_rows(rows: Sequence[EntityRow], found: int) -> JSON:
    """A part of the list of entities, of so many."""
    return {"entities": [_view_fields(row) for row in rows], "found": found}


def view_map(found: DepthMap) -> JSON:
    """The communities of a depth with their places."""
    return _view_fields(found)


def view_community(found: CommunityInside) -> JSON:
    """A community from inside, with places."""
    members = [{k: v for k, v in _view_fields(dot).items() if k != "communities"} for dot in found.members]
    inside = {k: v for k, v in _view_fields(found).items() if k != "disc"}
    return {**_view_fields(found.disc), **inside, "members": members}


def view_dots(found: Sequence[EntityDot]) -> JSON:
    """Where entities are on the map."""
    return {"entities": [_view_fields(dot) for dot in found]}


# ── decisions on names ──


def view_resolved(found: Resolved) -> JSON:
    """Which entities are one thing, and what merging them did."""
    proposals = [
        {
            "names": list(p.names),
            "decision": p.decision,
            "score": p.score,
            "why": p.why,
            "by": p.by,
            "types": [found.types[p.one], found.types[p.other]],
            "ids": [p.one, p.other],
        }
        for p in found.found.proposals
    ]
    groups = [
        {"name": g.name, "type": g.type, "ids": list(g.members), "aliases": sorted({a.name for a in g.aliases})}
        for g in found.found.groups
    ]
    return {
        "proposals": proposals,
        "groups": groups,
        "applied": found.applied and view_applied(found.applied),
        "asked": found.found.asked,
        "compared": found.found.compared,
        "notes": list(found.found.notes),
    }


def view_applied(done: Applied) -> JSON:
    """What operations on names did to the index."""
    return {
        "operations": [_view_operation(o) for o in done.operations],
        "entities": done.entities,
        "relations": done.relations,
        "reports": done.reports,
        "computed": dict(done.built.computed),
        "usage": _view_fields(done.built.usage),
        "notes": list(done.built.notes),
    }


def view_operations(log: Sequence[Operation]) -> JSON:
    """The log of operations on names."""
    return {"operations": [_view_operation(o) for o in log]}


def _view_operation(o: Operation) -> JSON:
    def named(names: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
        return [{"name": name, "type": kind} for name, kind in names]

    return {**_view_fields(o), "names": named(o.names), "others": named(o.others)}


# ── import and export ──


def view_imported(done: Imported) -> JSON:
    """What an import read, and the index that it made."""
    manifest = done.manifest
    counts, clusters = dict(manifest.counts), list(manifest.clusters)
    return {"rows": dict(done.rows), **counts, "clusters": clusters, "notes": list(done.notes)}


def view_counts(found: Pushed | Pulled) -> JSON:
    """What went to a server of Neo4j, or came from one."""
    files = {"files": [str(path) for path in found.files]} if hasattr(found, "files") else {}
    return {name: getattr(found, name) for name in found.__slots__ if name != "files"} | files


def view_exported(done: Exported) -> JSON:
    """What an export wrote."""
    return {"files": list(map(str, done.files)), "counts": dict(done.counts), "notes": list(done.notes)}


def view_diagnosis(found: Diagnosis) -> JSON:
    """What a corpus works with, or what its endpoint takes, line by line."""
    lines = [_view_fields(f) for f in found.findings]
    return {"endpoint": found.address, "tokens": found.tokens, "fails": found.fails, "findings": lines}
