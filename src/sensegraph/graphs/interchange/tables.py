"""The seven tables of the reference implementation as values, and the marks of its reports (specs: graphrag §2).

A row holds the columns that mean something here under our names, and `raw`, the record as it was read. Marks such as
`[Data: Entities (1, 2); Relationships (3, +more)]` in the text of a report become references, and back: their numbers
are those of the column human_readable_id of each table; of reports they are the communities'.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from typing import Any

from sensegraph.types import Scalar, Source, Statement

Raw = Mapping[str, Any]

_COLUMNS = {
    "documents": "id human_readable_id title text text_unit_ids creation_date raw_data",
    "text_units": "id human_readable_id text n_tokens document_id entity_ids relationship_ids covariate_ids",
    "entities": "id human_readable_id title type description text_unit_ids frequency degree",
    "relationships": "id human_readable_id source target description weight combined_degree text_unit_ids",
    "communities": "id human_readable_id community level parent children title entity_ids relationship_ids "
    "text_unit_ids period size",
    "community_reports": "id human_readable_id community level parent children title summary full_content rank "
    "rating_explanation findings full_content_json period size",
    "covariates": "id human_readable_id covariate_type type description subject_id object_id status start_date "
    "end_date source_text text_unit_id",
}
COLUMNS: Mapping[str, tuple[str, ...]] = {table: tuple(names.split()) for table, names in _COLUMNS.items()}
"""The columns of each table in release 3.x, in order."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of any table: the record as it was read, its id and its number."""

    raw: Raw
    id: str
    number: int


@dataclass(frozen=True, slots=True)
class DocumentRow(TableRow):
    """A document; `units` are ids of its text units, `created` is a date as it was written."""

    title: str
    text: str
    units: tuple[str, ...]
    created: str
    metadata: tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, slots=True)
class UnitRow(TableRow):
    """A text unit, which we call a chunk; `documents` are the ids of those that it was cut from."""

    text: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntityRow(TableRow):
    """An entity; `frequency` is 0 where the table does not say."""

    name: str
    type: str
    description: str
    units: tuple[str, ...]
    frequency: int


@dataclass(frozen=True, slots=True)
class RelationRow(TableRow):
    """A relationship; `source` and `target` are names of entities (or ids, in tables made by hand)."""

    source: str
    target: str
    description: str
    weight: float
    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommunityRow(TableRow):
    """A community; `parent` is the number of another, −1 at the root, None where the table does not say."""

    community: int
    level: int
    parent: int | None
    title: str
    entities: tuple[str, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportRow(TableRow):
    """A report on the community of that number; `findings` are pairs of a headline and its explanation."""

    community: int
    title: str
    summary: str
    findings: tuple[tuple[str, str], ...]
    rating: float
    explanation: str


@dataclass(frozen=True, slots=True)
class ClaimRow(TableRow):
    """A covariate, which we call a claim; `subject` is the name of an entity, `unit` the id of a text unit."""

    subject: str
    object: str
    type: str
    status: str
    description: str
    starts: str
    ends: str
    quote: str
    unit: str


@dataclass(frozen=True, slots=True)
class Tables:
    """All seven; those that were not there are empty. `folder` is where they were read."""

    folder: str = ""
    documents: Sequence[DocumentRow] = ()
    text_units: Sequence[UnitRow] = ()
    entities: Sequence[EntityRow] = ()
    relationships: Sequence[RelationRow] = ()
    communities: Sequence[CommunityRow] = ()
    community_reports: Sequence[ReportRow] = ()
    covariates: Sequence[ClaimRow] = ()

    def counts(self) -> dict[str, int]:
        """Rows by table."""
        return {name: len(getattr(self, name)) for name in COLUMNS}


Number = tuple[str, int]  # (table, number in it)

TABLE_NAMES: Mapping[str, str] = {
    "entities": "Entities",
    "relationships": "Relationships",
    "covariates": "Claims",
    "communities": "Reports",
    "text_units": "Sources",
}
"""What marks call each table."""

_SPELLINGS = {
    "entities": ("entities", "entity"),
    "relationships": ("relationships", "relationship"),
    "covariates": ("claims", "claim", "covariates"),
    "communities": ("reports", "report", "communities", "community"),
    "text_units": ("sources", "source", "text units", "text unit"),
}
_CALLED = {name: table for table, names in _SPELLINGS.items() for name in names}
_SOURCES = 8  # spans kept for one statement, as for reports of our own
_RUN = re.compile(
    r"(?:(?<!\s)\s++)?(?:\[\s*Data\s*:[^\[\]]*\]\s*)*\[\s*Data\s*:[^\[\]]*\](?P<stop>[.,;:!?。]?)", re.IGNORECASE
)
_GROUP = re.compile(r"(?<![A-Za-z ]) *+(?P<table>[A-Za-z][A-Za-z ]*+)\s*+\((?P<numbers>[^()]*)\)")
_NUMBER = re.compile(r"\d{1,9}")
_STOP = re.compile(r"[.,;:!?。](?=\s*$)")


@dataclass(frozen=True, slots=True)
class Resolver:
    """From numbers to records: `ids` of what the tables number, `sources` of a record's text.

    What is left out is listed: `dangling` numbers that no record bears, `foreign` records that a report on its
    community cannot have been written from.
    """

    ids: Mapping[Number, str]
    sources: Callable[[str], Sequence[Source]]
    dangling: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def statements(self, text: str, near: Callable[[str], bool] = lambda record: True) -> tuple[Statement, ...]:
        """`text` cut after each run of marks; joined again the statements are the text without marks.

        References to what is not `near` are left out, like those to nothing.
        """
        found: list[Statement] = []
        at = 0
        for run in _RUN.finditer(text):
            references = self._references(run[0], near)
            found.append(self._grounded(text[at : run.start()] + run["stop"], references))
            at = run.end()
        if text[at:] or not found:
            found.append(Statement(text[at:]))
        return tuple(s for s in found if s.text or s.references)

    def _references(self, run: str, near: Callable[[str], bool]) -> tuple[str, ...]:
        ids: dict[str, None] = {}
        for group in _GROUP.finditer(run):
            called = group["table"].strip()
            table = _CALLED.get(called.casefold(), "")
            for number in map(int, _NUMBER.findall(group["numbers"])):
                name = self.ids.get((table, number))
                if name is not None and near(name):
                    ids[name] = None
                else:
                    lost = self.dangling if name is None else self.foreign
                    lost.append(f"{TABLE_NAMES.get(table, called)} {number}")
        return tuple(ids)

    def _grounded(self, text: str, references: tuple[str, ...]) -> Statement:
        """The statement with the first span of each record, then the second, up to eight."""
        rows = zip_longest(*(self.sources(name) for name in references))
        spans = dict.fromkeys(source for row in rows for source in row if source is not None)
        return Statement(text, references, tuple(spans)[:_SOURCES])


def write_marks(statements: Sequence[Statement], numbers: Mapping[str, Number]) -> str:
    """The text of `statements` with the marks of their references; `numbers` of what is not in a table are left out."""
    parts = list[str]()
    for statement in statements:
        cited = [numbers[r] for r in statement.references if r in numbers]
        if not cited:
            parts.append(statement.text)
            continue
        by_table = groupby(cited, key=lambda n: n[0])
        groups = [f"{TABLE_NAMES[table]} ({', '.join(str(n) for _, n in group)})" for table, group in by_table]
        text = statement.text.rstrip()
        stop = _STOP.search(text)
        cut = stop.start() if stop else len(text)
        parts.append(f"{text[:cut]} [Data: {'; '.join(groups)}]{text[cut:]}{statement.text[len(text) :]}")
    return "".join(parts)
