"""Map-reduce over passages: rated points from every batch of them, and the best of those (edge2024 §3.1.6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from sensegraph.answering.asking import gather_evidence, make_inquiry, rate_contexts
from sensegraph.answering.quoting import quote_sources
from sensegraph.index.index import Index
from sensegraph.index.passages import ground_statements, passage_tokens
from sensegraph.language.text import count_tokens, decode_tokens, encode_tokens, pack_batches, take_within
from sensegraph.runtime.keys import key
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Description, Evidence, Passage, Point, Question


def map_reduce(
    question: Question, passages: Iterable[Passage], index: Index, rt: Runtime, *, budget: int, seed: int, place: str
) -> Evidence:
    """Points from all passages, shuffled into batches of `budget` tokens; those above 0, best first, within `budget`.

    A passage that is larger than the budget is cut, alone in its batch, and counted in the notes; `place` says there
    where the passages are from.
    """
    listed = quote_sources(list(passages), index, rt)
    Random(seed).shuffle(listed)
    cut: list[Passage] = []
    for passage in listed:
        if passage_tokens(passage) > budget:  # its beginning, whole characters
            numbers = encode_tokens(passage.text)[: max(1, budget - count_tokens(passage.title))]
            while numbers and (text := decode_tokens(numbers)) is None:
                numbers = numbers[:-1]
            cut.append(replace(passage, text=text if numbers and text else ""))
        else:
            cut.append(passage)
    batches = pack_batches(cut, budget, passage_tokens)
    mapped = rt.each(rate_contexts, [make_inquiry(question, batch, index) for batch in batches])
    rated = [
        point_passage(p, batch) for batch, points in zip(batches, mapped, strict=True) for p in points if p.score > 0
    ]
    kept, omitted = take_within(sorted(rated, key=lambda p: -p.score), budget, passage_tokens)
    read = "1 batch" if len(batches) == 1 else f"{len(batches)} batches"
    notes = [f"{len(rated)} points from {len(listed)} {place}, read in {read}"]
    if short := sum(before is not after for before, after in zip(listed, cut, strict=True)):
        notes.append(f"{short} of the {place} are longer than context_tokens ({budget}) and were cut")
    return gather_evidence(kept, index, omitted=omitted, notes=notes)


def point_passage(point: Point, batch: Sequence[Passage]) -> Passage:
    """A point from `batch` as a passage that the final answer can cite, with the sentences it rests on."""
    statements = ground_statements(point.statements, batch)
    text = "".join(s.text for s in statements).strip()
    quotes = tuple(Description(s.text.strip(), source) for s in statements for source in s.sources)
    return Passage("point", key(point)[:20], text, point.score, point.title, quotes=quotes, documents=point.documents)
