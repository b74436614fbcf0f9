"""The seven tables of the reference implementation as values: what its users bring along (specs: graphrag §2).

A row holds the columns that mean something here under our names, and `raw`, the record as it was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sensegraph.types import Scalar

Raw = Mapping[str, Any]

COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "documents": ("id", "human_readable_id", "title", "text", "text_unit_ids", "creation_date", "raw_data"),
    "text_units": (
        "id", "human_readable_id", "text", "n_tokens", "document_id", "entity_ids", "relationship_ids",
        "covariate_ids",
    ),
    "entities": (
        "id", "human_readable_id", "title", "type", "description", "text_unit_ids", "frequency", "degree",
    ),
    "relationships": (
        "id", "human_readable_id", "source", "target", "description", "weight", "combined_degree", "text_unit_ids",
    ),
    "communities": (
        "id", "human_readable_id", "community", "level", "parent", "children", "title", "entity_ids",
        "relationship_ids", "text_unit_ids", "period", "size",
    ),
    "community_reports": (
        "id", "human_readable_id", "community", "level", "parent", "children", "title", "summary", "full_content",
        "rank", "rating_explanation", "findings", "full_content_json", "period", "size",
    ),
    "covariates": (
        "id", "human_readable_id", "covariate_type", "type", "description", "subject_id", "object_id", "status",
        "start_date", "end_date", "source_text", "text_unit_id",
    ),
})  # fmt: skip
"""The columns of each table in release 3.x, in order."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document; `units` are ids of its text units, `created` is a date as it was written."""

    raw: Raw
    id: str
    number: int
    title: str
    text: str
    units: tuple[str, ...]
    created: str
    metadata: tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, slots=True)
class UnitRow:
    """A text unit, which we call a chunk; `documents` are the ids of those that it was cut from."""

    raw: Raw
    id: str
    number: int
    text: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity; `frequency` is 0 where the table does not say."""

    raw: Raw
    id: str
    number: int
    name: str
    type: str
    description: str
    units: tuple[str, ...]
    frequency: int


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A relationship; `source` and `target` are names of entities (or ids, in tables made by hand)."""

    raw: Raw
    id: str
    number: int
    source: str
    target: str
    description: str
    weight: float
    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommunityRow:
    """A community; `parent` is the number of another, −1 at the root, None where the table does not say."""

    raw: Raw
    id: str
    number: int
    community: int
    level: int
    parent: int | None
    title: str
    entities: tuple[str, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A report on the community of that number; `findings` are pairs of a headline and its explanation."""

    raw: Raw
    id: str
    number: int
    community: int
    title: str
    summary: str
    findings: tuple[tuple[str, str], ...]
    rating: float
    explanation: str


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A covariate, which we call a claim; `subject` is the name of an entity, `unit` the id of a text unit."""

    raw: Raw
    id: str
    number: int
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
