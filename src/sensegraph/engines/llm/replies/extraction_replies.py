"""Extractions out of replies: one without a record is believed only where it says in its form that there are none."""

from __future__ import annotations

from dataclasses import replace

from sensegraph.engines.llm.replies import extracted_records
from sensegraph.engines.llm.replies.reply_text import (
    Reading,
    decode_json,
    describe_cut,
    is_truncated,
    lists_nothing,
    strip_wrapping,
)
from sensegraph.models.endpoint.client import Reply
from sensegraph.types import Chunk, Extraction

MAX_REJECTED = 0.5  # share of the records of a reply (graphrag: our choice)
_MARKS = (("entities", "name"), ("relations", "source"), ("claims", "subject"))  # what a bare record is of


def read_extraction(reply: Reply, chunk: Chunk, *, typed: bool = False) -> Reading[Extraction]:
    """Entities and relations of the chunk; `typed` says that relations were asked for with a type.

    A date whose year the chunk does not hold is removed and counted.

    Unusable when more than half of the records are, or when there are none and the reply does not say so in its form.
    """
    reading = _read_listed_records(reply, chunk, typed, "entities", "relations", "relationships")
    if reading.value is None:
        return reading
    found, lost = extracted_records.drop_foreign_dates(replace(reading.value, claims=()), f"{chunk.title} {chunk.text}")
    return replace(reading, value=found, removed=reading.removed + lost)


def read_claims(reply: Reply, chunk: Chunk) -> Reading[Extraction]:
    """Claims of the chunk, and nothing else; a date whose year the chunk does not hold is removed and counted."""
    reading = _read_listed_records(reply, chunk, False, "claims")
    if reading.value is None:
        return reading
    found, lost = extracted_records.drop_foreign_dates(reading.value, f"{chunk.title} {chunk.text}")
    only = Extraction(claims=found.claims, rejected=found.rejected)
    return replace(reading, value=only, removed=reading.removed + lost)


def _read_listed_records(reply: Reply, chunk: Chunk, typed: bool, *wanted: str) -> Reading[Extraction]:
    text = strip_wrapping(reply.text)
    data = None if extracted_records.has_tuples(text) else decode_json(reply)
    empty = extracted_records.is_end_mark(text) if data is None else lists_nothing(reply, data, *wanted)
    if isinstance(data, list):  # a bare list of records
        data = {name: [r for r in data if isinstance(r, dict) and mark in r] for name, mark in _MARKS}
    if isinstance(data, dict) and data.keys() & set(wanted):
        found = extracted_records.collect_json_records(data, chunk.text)
    elif extracted_records.has_tuples(text):
        found = extracted_records.collect_tuple_records(text, chunk.text, is_truncated(reply), typed=typed)
    else:
        return Reading(None, f"it holds no list of {' and '.join(wanted[:2])}")
    got = found.extraction
    if found.rejected > MAX_REJECTED * found.offered:
        why = "; ".join(f"{n} × {reason}" for reason, n in got.rejected)
        return Reading(None, f"{found.rejected} of its {found.offered} records are unusable: {why}", found.rejected)
    problem = describe_cut(reply)
    if problem and not (got.entities or got.claims):
        return Reading(None, problem, found.rejected)
    if not (empty or any(getattr(got, name, ()) for name in wanted)):
        return Reading(None, f"it holds no {' and no '.join(wanted[:2])}, nor says in its form that there are none")
    if problem:
        got = replace(got, rejected=(*got.rejected, ("a reply cut off at its limit, the rest of it lost", 1)))
    return Reading(got, problem, found.rejected)
