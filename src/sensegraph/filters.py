"""Which documents a question may be answered from."""

from __future__ import annotations

from dataclasses import dataclass

from sensegraph.types import Scalar


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of one field of a document's metadata; `operator` is =, !=, <, <=, > or >=."""

    field: str
    operator: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents that a question may be answered from; an empty scope is the whole corpus.

    `documents` are ids or patterns with `*` and `?`, any of which may match; all conditions `where` must hold; `since`
    and `until` are ISO 8601 and bound a document's time, both included. A document without the field or the time that
    is asked for is outside.
    """

    documents: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    since: str = ""
    until: str = ""
