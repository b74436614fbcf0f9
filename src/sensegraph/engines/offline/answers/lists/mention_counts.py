"""Answers to which documents mention something, or are of a kind: by their titles, each with a sentence or heading."""

from __future__ import annotations

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, group_by_reference
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.asking.kinds import read_document_kind
from sensegraph.language.defining import read_mentioned_name
from sensegraph.types import Statement

_OPENING, _LONGEST = 3, 80  # sentences that a document opens with, and characters of one that says of what kind it is


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


def answer_document_kind(asked: Asked) -> Written | None:
    """The documents of the kind that a question asks for, by their titles and headings; None where none is."""
    kind = read_document_kind(asked.question)
    if kind is None:
        return None
    first: dict[str, SourceSentence] = {}
    for held in group_by_reference(asked.sentences).values():
        opening = held[:_OPENING]
        lines = [s for s in opening if len(s.raw) <= _LONGEST and not s.raw.rstrip().endswith((".", "!", "?"))]
        heads = [s for s in lines if kind.is_in(s.raw)]
        if heads or kind.is_in(held[0].document):
            first.setdefault(held[0].origin, max(heads or opening[:1], key=lambda s: len(s.raw)))
    if not first:
        return None
    told = [Statement(f"**{len(first):,}** document{'' if len(first) == 1 else 's'}:\n")]
    told += [
        one.cite(f"\n- **{one.document}**: {show_sentence(one)}" if one.document else f"\n- {show_sentence(one)}")
        for one in sorted(first.values(), key=lambda s: s.document)
    ]
    return Written(tuple(told))
