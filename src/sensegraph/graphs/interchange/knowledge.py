"""From tables to text and a graph: text units to chunks, each row to what its chunks say of it (N59)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from sensegraph.documents.metadata import read_iso_date
from sensegraph.graphs.interchange.tables import ClaimRow, EntityRow, RelationRow, Tables, UnitRow
from sensegraph.index.chunks import chunk_documents
from sensegraph.language.blocks import read_text
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import count_tokens, fold
from sensegraph.runtime.keys import key
from sensegraph.types import Chunk, Claim, Description, Document, Entity, Graph, Relation, Source

_HEAD = re.compile(r"[^\n:]{1,80}: [^\n]*\n")  # a field of the document, which may be put before the text of each unit
_HEADS = 12  # lines of it at most
_WRAP = re.compile(r"(?<=\S)[ \t\r]*\n(?=[ \t]*\S)")  # a line that ends inside a paragraph
_JOINED = re.compile(r"(?:(?<!\s)\s++)?(?:;|\.\.\.|…)\s+")  # between the parts of a quote
_STATUS = ("TRUE", "FALSE", "SUSPECTED")
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Texts:
    """Documents by id and their chunks in order; `chunk_of` leads from text units to chunks.

    `made` are ids of documents that no table holds. `lines` gathers what no text unit says (see `told`). `readings` are
    the texts of some documents as they are read.
    """

    documents: dict[str, Document] = field(default_factory=dict)
    chunks: dict[str, list[Chunk]] = field(default_factory=lambda: defaultdict(list))
    chunk_of: dict[str, str] = field(default_factory=dict)
    made: dict[str, None] = field(default_factory=dict)
    readings: dict[str, str] = field(default_factory=dict)
    lines: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    notes: list[str] = field(default_factory=list)

    def told(self, table: str, name: str, text: str) -> str:
        """The id of a chunk that says `text`: for what an element says where no text unit of the tables does."""
        self.lines[table].append((make_chunk_id(_descriptions_title(table), name), text.strip() or name))
        return self.lines[table][-1][0]

    def all_chunks(self) -> Iterable[Chunk]:
        """All chunks, by document, then place."""
        return (c for name in sorted(self.documents) for c in self.chunks[name])


def make_chunk_id(document: str, unit: str) -> str:
    """The id of a chunk: the mark that all chunks of its document share, then the text unit's own id."""
    return key("document", document)[:12] + unit


def place_text_units(tables: Tables, *, size: int, overlap: int) -> Texts:
    """Documents and chunks of the tables.

    A text unit is the span of its document that equals it, or does as it is read, without the lines of metadata that
    may stand before it. One that is no span (the join of several documents, say) becomes a document of its own.
    Documents without any text unit are cut as an index cuts them, into `size` tokens with an `overlap`.
    """
    texts = Texts()
    for row in tables.documents:
        texts.documents[row.id] = Document(row.id, row.text, row.title, row.metadata, read_iso_date(row.created))
    owners: dict[str, list[str]] = defaultdict(list)  # the documents that list each text unit
    for row in tables.documents:
        for listed in row.units:
            owners[listed].append(row.id)
    reached: dict[str, int] = {}
    alone = [u for u in tables.text_units if not _place_text_unit(u, owners.get(u.id, ()), texts, reached)]
    for unit in alone:
        title = next((texts.documents[d].title for d in unit.documents if d in texts.documents), "")
        name = unit.id if unit.id not in texts.documents else f"text unit {unit.id}"
        texts.documents[name] = Document(name, unit.text, title)
        texts.made[name] = None
        _add_chunk(unit.id, texts.documents[name], 0, len(unit.text), texts)
    if alone and tables.documents:
        moved = "text units are no span of their document and became documents of their own"
        note_names(texts.notes, [u.id for u in alone], moved)
    if not tables.text_units:
        documents = list(texts.documents.values())
        for document, cut in zip(documents, chunk_documents.fn(documents, size=size, overlap=overlap), strict=True):
            texts.chunks[document.id].extend(cut)
    for chunks in texts.chunks.values():
        chunks.sort(key=lambda c: (c.start, c.end, c.id))
    return texts


def finish_texts(texts: Texts) -> Texts:
    """The texts with one document for each table whose elements said what no text unit does."""
    for table, lines in texts.lines.items():
        name = _descriptions_title(table)
        texts.documents[name] = Document(name, "\n".join(text for _, text in lines), name)
        texts.made[name] = None
        start = 0
        for chunk_id, text in lines:
            texts.chunks[name].append(_make_chunk(chunk_id, texts.documents[name], start, start + len(text)))
            start += len(text) + 1
        said = f"name no text unit; their own descriptions stand in as document {name!r}"
        texts.notes.append(f"{len(lines)} {table} {said}")
    return texts


def list_few_names(names: Iterable[str], most: int = 3) -> str:
    """A few of many names, for a message."""
    listed = list(dict.fromkeys(names))
    return ", ".join(map(repr, listed[:most])) + (f" and {len(listed) - most} more" if len(listed) > most else "")


def note_names(notes: list[str], names: Sequence[str], what: str) -> None:
    """Note how many names are `what`, and a few of them; nothing where there are none."""
    if names:
        notes.append(f"{len(names)} {what}: {list_few_names(names)}")


def _descriptions_title(table: str) -> str:
    return f"descriptions of {table}"


def _place_text_unit(unit: UnitRow, owners: Iterable[str], texts: Texts, reached: dict[str, int]) -> bool:
    """Make the chunk of a text unit that is a span of one of its documents; whether it is."""
    for name in dict.fromkeys((*unit.documents, *owners)):
        document = texts.documents.get(name)
        for whole in _list_readings(document, texts) if document else ():
            if document and (span := _find_span(unit.text, whole, reached.get(name, 0))):
                reached[name] = span[0] + 1  # the next one begins later, where the same words come twice
                _add_chunk(unit.id, document, *span, texts, whole)
                return True
    return False


def _list_readings(document: Document, texts: Texts) -> Iterator[str]:
    """The text of a document, and that as it is read, which is as long and which the chunks of an index hold."""
    yield document.text
    if document.id not in texts.readings:
        texts.readings[document.id] = read_text(document.text)
    yield texts.readings[document.id]


def _find_span(text: str, whole: str, after: int) -> tuple[int, int] | None:
    """Where `text` stands in `whole`, first from `after` on; up to a dozen lines of metadata before it are left out."""
    begin = 0
    for _ in range(_HEADS):
        if begin >= len(text):
            return None
        rest = text[begin:]
        if (at := whole.find(rest, after)) >= 0 or (at := whole.find(rest)) >= 0:
            return at, at + len(rest)
        if not (head := _HEAD.match(text, begin)):
            return None
        begin = head.end()
    return None


def _add_chunk(unit: str, document: Document, start: int, end: int, texts: Texts, whole: str = "") -> None:
    made = _make_chunk(make_chunk_id(document.id, unit), document, start, end, whole)
    texts.chunks[document.id].append(made)
    texts.chunk_of[unit] = made.id


def _make_chunk(name: str, document: Document, start: int, end: int, whole: str = "") -> Chunk:
    text = (whole or document.text)[start:end]
    return Chunk(name, document.id, start, end, count_tokens(text), text, document.title)


class SentenceFinder:
    """The sentences of chunks, found by the names that they hold."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self.chunks = {c.id: c for c in chunks}
        self._sentences = cache(self._split)

    def about(self, names: Sequence[str], chunk_ids: Sequence[str], otherwise: str) -> tuple[Description, ...]:
        """What each chunk says about something: its first sentence with all `names`, else with one of them.

        A chunk that never names it says `otherwise`, the whole of it being the source.
        """
        wanted = [f for name in names if (f := fold(name))]
        return tuple(self._said(self.chunks[c], wanted, otherwise) for c in chunk_ids)

    def quoted(self, quote: str, chunk_id: str) -> Source:
        """The span of `quote`, or of its first part that stands there, whatever its white space; else the chunk."""
        text = self.chunks[chunk_id].text
        for part in (quote, *_JOINED.split(quote)):
            words = part.strip(" \"'“”").split()
            if words and (found := re.search(r"\s+".join(map(re.escape, words)), text)):
                return Source(chunk_id, found.start(), found.end())
        return Source(chunk_id, 0, len(text))

    def _said(self, chunk: Chunk, wanted: Sequence[str], otherwise: str) -> Description:
        counted = [(sum(name in folded for name in wanted), a, b) for a, b, folded in self._sentences(chunk.id)]
        held, start, end = max(counted, key=lambda count: count[0], default=(0, 0, 0))
        if not held:
            return Description(otherwise, Source(chunk.id, 0, len(chunk.text)))
        return Description(" ".join(chunk.text[start:end].split()), Source(chunk.id, start, end))

    def _split(self, chunk_id: str) -> tuple[tuple[int, int, str], ...]:
        text = self.chunks[chunk_id].text
        flowing = _WRAP.sub(lambda m: " " * len(m[0]), text)  # as long as the text, so that the spans hold
        return tuple((start, end, fold(flowing[start:end])) for start, end in split_sentences(flowing))


@dataclass(frozen=True, slots=True)
class _BoundRows:
    """The rows with what they name found: entity ids for ends and subjects, chunk ids for text units."""

    entities: dict[str, EntityRow] = field(default_factory=dict)
    relations: list[tuple[RelationRow, str, str]] = field(default_factory=list)
    claims: list[tuple[ClaimRow, str]] = field(default_factory=list)
    chunks: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by the id of the entity, relation or claim
    made: dict[str, EntityRow] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A graph from tables; `made` are ids of entities that no row of theirs describes, `number` those of rows."""

    graph: Graph
    made: tuple[str, ...]
    notes: tuple[str, ...]


def build_graph(tables: Tables, texts: Texts, *, orphans: Literal["create", "drop"]) -> Knowledge:
    """The graph of the tables, on the chunks of `texts`, which are finished by this.

    A relation's end or a claim's subject that no entity bears is made an entity of type unknown, or its row is left
    out, as `orphans` says (§3.5 of the specification). Rows that say nothing are left out. Two rows between the same
    two entities stay two relations: their ids are the caller's.
    """
    notes: list[str] = []
    bound = _bind_rows(tables, orphans, notes)
    _find_chunks(bound, texts, notes)
    finish_texts(texts)
    sayings = SentenceFinder(texts.all_chunks())
    every = {**bound.entities, **bound.made}
    relations = list[Relation]()
    for relation, a, b in bound.relations:
        chunks = bound.chunks[relation.id]
        said = sayings.about([every[a].name, every[b].name], chunks, relation.description)
        relations.append(Relation(relation.id, a, b, relation.description, said, relation.weight, chunks))
    degree = Counter(
        end for pair in {frozenset((r.source, r.target)) for r in relations} for end in pair
    )  # distinct neighbours
    entities = list[Entity]()
    for entity in every.values():
        chunks = bound.chunks[entity.id]
        said = sayings.about([entity.name], chunks, entity.description or entity.name)
        kind, frequency = fold(entity.type) or _UNKNOWN, entity.frequency or len(chunks)
        told = (entity.description, said, chunks, frequency, degree[entity.id])
        entities.append(Entity(entity.id, entity.name, kind, *told))
    claims = list[Claim]()
    for c, subject in bound.claims:
        (chunk,) = bound.chunks[c.id]
        status = c.status.strip().upper() if c.status.strip().upper() in _STATUS else "SUSPECTED"
        quote = sayings.quoted(c.quote, chunk)
        starts, ends = read_iso_date(c.starts), read_iso_date(c.ends)
        claims.append(Claim(c.id, subject, c.object, c.type, status, c.description, starts, ends, quote))
    graph = Graph(
        tuple(sorted(entities, key=lambda e: e.id)),
        tuple(sorted(relations, key=lambda r: r.id)),
        tuple(sorted(claims, key=lambda c: c.id)),
    )
    return Knowledge(graph, tuple(bound.made), tuple(notes))


# ── binding ──


def _bind_rows(tables: Tables, orphans: str, notes: list[str]) -> _BoundRows:
    """Ends and subjects by name: exactly as written first, then folded; of several the most frequent, ties by type."""
    bound = _BoundRows({e.id: e for e in tables.entities})
    lost: list[str] = []
    rarest_first = sorted(tables.entities, key=lambda e: (-max(e.frequency, len(e.units)), fold(e.type), e.id))[::-1]
    exact, folded = {e.name: e.id for e in rarest_first}, {fold(e.name): e.id for e in rarest_first}

    def end(name: str) -> str | None:
        found = exact.get(name) or folded.get(fold(name)) or (name if name in bound.entities else None)
        if found is None and fold(name):
            lost.append(name)
            if orphans == "create":
                found = key("imported", fold(name))[:20]
                bound.made.setdefault(found, EntityRow({}, found, -1, name, _UNKNOWN, "", (), 0))
        return found

    loops = 0
    for row in tables.relationships:
        a, b = end(row.source), end(row.target)
        if a and b and a != b:
            bound.relations.append((row, a, b))
        loops += bool(a and a == b)
    _note_orphans(notes, lost, orphans, "ends of relationships", "relations")
    if loops:
        notes.append(f"{loops} relationships join an entity with itself and are kept beside the graph")
    lost.clear()
    silent = [c for c in tables.covariates if not (c.description or c.type)]
    for claim in tables.covariates:
        if (claim.description or claim.type) and (subject := end(claim.subject)):
            bound.claims.append((claim, subject))
    _note_orphans(notes, lost, orphans, "subjects of covariates", "claims")
    if silent:
        notes.append(f"{len(silent)} covariates have neither type nor description and are kept beside the graph")
    return bound


def _note_orphans(notes: list[str], lost: Sequence[str], orphans: str, what: str, dropped: str) -> None:
    if lost:
        fate = "became entities of type unknown" if orphans == "create" else f"were dropped with their {dropped}"
        distinct = len(dict.fromkeys(map(fold, lost)))
        notes.append(f"{distinct} {what} are no entity of the tables and {fate}: {list_few_names(lost)}")


def _find_chunks(bound: _BoundRows, texts: Texts, notes: list[str]) -> None:
    """The chunks behind each element; one without gets a line of its own in a document of descriptions."""
    lost: list[str] = []

    def chunks(units: Iterable[str]) -> tuple[str, ...]:
        listed = tuple(dict.fromkeys(units))
        lost.extend(u for u in listed if u not in texts.chunk_of)
        return tuple(texts.chunk_of[u] for u in listed if u in texts.chunk_of)

    names = {e.id: e.name for e in (*bound.entities.values(), *bound.made.values())}
    through: dict[str, dict[str, None]] = defaultdict(dict)
    for relation, a, b in bound.relations:
        said = f"{names[a]} — {names[b]}: {relation.description}"
        found = bound.chunks[relation.id] = chunks(relation.units) or (texts.told("relationships", relation.id, said),)
        for e in (a, b):
            through[e].update(dict.fromkeys(found))
    for claim, subject in bound.claims:
        said = f"{names[subject]}: {claim.description}"
        units = [claim.unit] if claim.unit else []
        found = bound.chunks[claim.id] = chunks(units) or (texts.told("covariates", claim.id, said),)
        through[subject].update(dict.fromkeys(found))
    for row in bound.entities.values():
        bound.chunks[row.id] = chunks(row.units) or (texts.told("entities", row.id, f"{row.name}: {row.description}"),)
    for made in bound.made:
        bound.chunks[made] = tuple(through[made])
    note_names(notes, list(dict.fromkeys(lost)), "text units that elements name are not in the tables")
