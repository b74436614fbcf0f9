"""Answers to how many documents mention something, and which: counted by their titles, each with a sentence."""

from __future__ import annotations

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.defining import read_mentioned_name
from sensegraph.types import Statement


def answer_mentions(asked: Asked) -> Written | None:
    """How many documents name what a question names; None for other questions, and where it was not looked up."""
    name = read_mentioned_name(asked.question)
    counts = asked.counted.name if asked.counted else None
    if name is None or counts is None or not counts.documents:
        return None
    naming = [s for s in asked.sentences if name.pattern.search(s.raw)]
    first: dict[str, SourceSentence] = {}
    for s in sorted(naming, key=lambda s: is_heading(s.raw)):
        first.setdefault(s.document or s.origin, s)
    if not first:
        return None
    told = sorted(first.values(), key=lambda s: s.order)
    least = "" if counts.exact else "At least "
    noun = "document names" if counts.documents == 1 else "documents name"
    lines = [Statement(f"{least}**{counts.documents:,}** {noun} {name.text}.")]
    for i, one in enumerate(told):
        title = f"**{one.document}**: " if one.document else ""
        lines.append(one.cite(("\n- " if i else "\n\n- ") + title + show_sentence(one)))
    if counts.documents > len(told):
        lines.append(Statement(f"\n\nAnd {counts.documents - len(told):,} more."))
    return Written(tuple(lines))
