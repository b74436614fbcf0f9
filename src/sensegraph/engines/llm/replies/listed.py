"""Extractions out of replies: one without a record is believed only where it says in its form that there are none."""

from __future__ import annotations

from dataclasses import replace

from sensegraph.engines.llm.replies import records, replies
from sensegraph.engines.llm.replies.replies import Reading
from sensegraph.models.endpoint.client import Reply
from sensegraph.types import Chunk, Extraction

MAX_REJECTED = 0.5  # share of the records of a reply (graphrag: our choice)
_MARKS = (("entities", "name"), ("relations", "source"), ("claims", "subject"))  # what a bare record is of


def extraction(reply: Reply, chunk: Chunk, *, typed: bool = False) -> Reading[Extraction]:
    """Entities and relations of the chunk; `typed` says that relations were asked for with a type.

    A date whose year the chunk does not hold is removed and counted.

    Unusable when more than half of the records are, or when there are none and the reply does not say so in its form.
    """
    reading = _records(reply, chunk, typed, "entities", "relations", "relationships")
    if reading.value is None:
        return reading
    found, lost = records.dated(replace(reading.value, claims=()), f"{chunk.title} {chunk.text}")
    return replace(reading, value=found, removed=reading.removed + lost)


def claims(reply: Reply, chunk: Chunk) -> Reading[Extraction]:
    """Claims of the chunk, and nothing else; a date whose year the chunk does not hold is removed and counted."""
    reading = _records(reply, chunk, False, "claims")
    if reading.value is None:
        return reading
    found, lost = records.dated(reading.value, f"{chunk.title} {chunk.text}")
    only = Extraction(claims=found.claims, rejected=found.rejected)
    return replace(reading, value=only, removed=reading.removed + lost)


def _records(reply: Reply, chunk: Chunk, typed: bool, *wanted: str) -> Reading[Extraction]:
    text = replies.plain(reply.text)
    data = None if records.has_tuples(text) else replies.decoded(reply)
    empty = records.is_end_mark(text) if data is None else replies.lists_nothing(reply, data, *wanted)
    if isinstance(data, list):  # a bare list of records
        data = {name: [r for r in data if isinstance(r, dict) and mark in r] for name, mark in _MARKS}
    if isinstance(data, dict) and data.keys() & set(wanted):
        found = records.of_json(data, chunk.text)
    elif records.has_tuples(text):
        found = records.of_tuples(text, chunk.text, replies.truncated(reply), typed=typed)
    else:
        return Reading(None, f"it holds no list of {' and '.join(wanted[:2])}")
    reading = _usable(found, reply)
    if reading.value is None or empty or any(getattr(reading.value, name, ()) for name in wanted):
        return reading
    return Reading(None, f"it holds no {' and no '.join(wanted[:2])}, nor says in its form that there are none")


def _usable(found: records.Found, reply: Reply) -> Reading[Extraction]:
    """What was found, unless too little of it can be used; of a cut reply, with a problem."""
    got = found.extraction
    if found.rejected > MAX_REJECTED * found.offered:
        why = "; ".join(f"{n} × {reason}" for reason, n in got.rejected)
        return Reading(None, f"{found.rejected} of its {found.offered} records are unusable: {why}", found.rejected)
    if not replies.truncated(reply):
        return Reading(got, removed=found.rejected)
    if not (got.entities or got.claims):
        return Reading(None, replies.cut_off(reply), found.rejected)
    told = replace(got, rejected=(*got.rejected, ("a reply cut off at its limit, the rest of it lost", 1)))
    return Reading(told, replies.cut_off(reply), found.rejected)
