"""An answer about the whole corpus from its outline: each line with the sentence that says most on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sensegraph.engines.offline.answers.asked import show_sentence
from sensegraph.engines.offline.answers.source_sentences import (
    SourceSentence,
    differs_from,
    find_hosts,
    group_by_reference,
    read_source_sentences,
)
from sensegraph.engines.offline.reports.sentence_quality import rate_generality, rate_soundness
from sensegraph.types import Passage, Statement

DEFINES, LEADING, LATER = 1.5, 0.7, 0.04  # worth of a definition, of what a host says; lost by each place behind
LEAST = 0.05  # below this a sentence is not shown


def write_outline(passages: Sequence[Passage], code: str) -> Iterator[Statement]:
    """The lines of an outline in order, below each the best of its sentences that is not like one shown before."""
    by_reference = group_by_reference(read_source_sentences(passages, code))
    hosts = find_hosts([s for own in by_reference.values() for s in own])
    shown: list[SourceSentence] = []
    for i, passage in enumerate(passages):
        yield Statement(("\n\n" if i else "") + passage.text, (passage.id,) if passage.quotes else ())
        best = _choose_sentence(passage.title, by_reference.get(passage.id, ()), hosts, shown)
        if best:
            shown.append(best)
            yield best.cite(f"\n{show_sentence(best)}")


def _choose_sentence(
    title: str, sentences: Sequence[SourceSentence], hosts: frozenset[str], shown: Sequence[SourceSentence]
) -> SourceSentence | None:
    """The sentence that says most on a title by itself; one that defines it is worth more."""
    name = re.escape(title.partition(" (")[0])
    defines = re.compile(rf"^\W*(?:(?:an?|the)\s+)?{name}s?,?\s+(?:is|are|was|were|means?|refers?|has|have|can)\b", re.I)
    scored = []
    for place, one in enumerate(sentences):
        value = one.quality * rate_soundness(one.text) * (rate_generality(one.text) if one.speaker else 1.0)
        value *= (DEFINES if defines.search(one.text) else 1.0) * (LEADING if one.speaker in hosts else 1.0)
        scored.append((-value * (1 - LATER * place), one.order, one))
    ranked = (one for value, _, one in sorted(scored, key=lambda x: x[:2]) if -value >= LEAST)
    return next((one for one in ranked if differs_from(one, shown)), None)
