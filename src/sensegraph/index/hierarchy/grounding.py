"""Written texts led back to what they were written from: references that lead nowhere go, spans are filled in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest

from sensegraph.protocols import LanguageEngine
from sensegraph.types import Finding, Report, Source, Statement

SOURCES = 8  # spans kept for one statement: the first of each record that it refers to, in turn

Spans = Callable[[str], Iterable[Source]]


def resolve_references(statements: Sequence[Statement], known: Collection[str]) -> tuple[tuple[Statement, ...], int]:
    """Statements without references to what they were not written from, and how many of those there were."""
    kept, lost = [], 0
    for statement in statements:
        references = tuple(name for name in statement.references if name in known)
        gone = len(statement.references) - len(references)
        kept.append(replace(statement, references=references) if gone else statement)
        lost += gone
    return tuple(kept), lost


def resolve_report(found: Report, known: Collection[str]) -> tuple[Report, int]:
    """A report without references to what it was not written from, and how many of those there were.

    What an engine made up leads nowhere.
    """
    summary, lost = resolve_references(found.summary, known)
    findings = list[Finding]()
    for finding in found.findings:
        said, gone = resolve_references(finding.statements, known)
        findings.append(replace(finding, statements=said))
        lost += gone
    return replace(found, summary=summary, findings=tuple(findings)), lost + found.dangling


def ground_statement(statement: Statement, spans: Spans) -> Statement:
    """The statement with the spans behind its references, where the engine did not give them."""
    if statement.sources or not statement.references:
        return statement
    found: dict[Source, None] = {}
    for row in zip_longest(*map(spans, statement.references)):
        found.update((source, None) for source in row if source)
        if len(found) >= SOURCES:
            break
    return replace(statement, sources=tuple(found)[:SOURCES])


def ground_unless_quoted(engine: LanguageEngine, statement: Statement, spans: Spans) -> Statement:
    """The statement of `engine` with the spans behind it; of one that quotes only its quotations have any."""
    return statement if engine.quotes else ground_statement(statement, spans)
