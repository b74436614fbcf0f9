"""`[Data: Entities (1, 2); Relationships (3, +more)]`: the marks of a report's text to references, and back.

The numbers are those of the column human_readable_id of each table; of reports they are the communities'.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from types import MappingProxyType

from sensegraph.types import Source, Statement

Number = tuple[str, int]  # (table, number in it)

TABLE_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "entities": "Entities",
        "relationships": "Relationships",
        "covariates": "Claims",
        "communities": "Reports",
        "text_units": "Sources",
    }
)
"""What marks call each table."""

_CALLED = MappingProxyType(
    {
        **{name.casefold(): table for table, name in TABLE_NAMES.items()},
        "entity": "entities",
        "relationship": "relationships",
        "claim": "covariates",
        "covariates": "covariates",
        "report": "communities",
        "communities": "communities",
        "community": "communities",
        "text units": "text_units",
        "text unit": "text_units",
        "source": "text_units",
    }
)
_SOURCES = 8  # spans kept for one statement, as for reports of our own
_RUN = re.compile(r"\s*(?:\[\s*Data\s*:[^\[\]]*\]\s*)*\[\s*Data\s*:[^\[\]]*\](?P<stop>[.,;:!?。]?)", re.IGNORECASE)
_GROUP = re.compile(r"(?P<table>[A-Za-z][A-Za-z ]*?)\s*\((?P<numbers>[^()]*)\)")
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
            table = _CALLED.get(group["table"].casefold(), "")
            for number in map(int, _NUMBER.findall(group["numbers"])):
                name = self.ids.get((table, number))
                if name is not None and near(name):
                    ids[name] = None
                else:
                    lost = self.dangling if name is None else self.foreign
                    lost.append(f"{TABLE_NAMES.get(table, group['table'])} {number}")
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
        groups = [
            f"{TABLE_NAMES[table]} ({', '.join(str(n) for _, n in group)})"
            for table, group in groupby(cited, key=lambda n: n[0])
        ]
        text = statement.text.rstrip()
        stop = _STOP.search(text)
        cut = stop.start() if stop else len(text)
        parts.append(f"{text[:cut]} [Data: {'; '.join(groups)}]{text[cut:]}{statement.text[len(text) :]}")
    return "".join(parts)


__all__ = ["TABLE_NAMES", "Number", "Resolver", "write_marks"]
