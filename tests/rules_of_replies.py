"""Rules of what a model replies, given texts that stand in a line of JSON."""

from __future__ import annotations

from typing import Any

from sensegraph.engines.llm.replies import answer_replies, extracted_records, group_replies, method_replies, reply_text
from sensegraph.engines.llm.replies.cited_records import Records, read_streamed_answer
from sensegraph.models.endpoint.client import Reply
from sensegraph.trials import Trial, Wish
from sensegraph.types import Brief, Chunk, Context, Passage

_TEXT = "Ada Finch (born 1901) met Tom Reeve in Port Ellery in June 2019. Tom Reeve's boat sank. The pier was new."
_CITED = Records((
    Passage("entity", "e1", "Ada.", title="Ada Finch"), Passage("entity", "e2", "Tom.", title="Tom Reeve"),
    Passage("relation", "r1", "They met.", title="Ada Finch, Tom Reeve"), Passage("chunk", "c1", _TEXT),
    Passage("report", "p1", "Piers.", title="Piers"), Passage("entity", "e3", "Pier.", title="Pier"),
    Passage("chunk", "c2", "The end."),
))  # fmt: skip
_BRIEF = Brief(Context(_CITED.passages), 12)
_CHUNK = Chunk("c1", "d", 0, len(_TEXT), 30, _TEXT)
_COMPARED, _SCORED = Trial("q", "depth", "How deep?", ("one", "two")), Trial("q", "depth", "How deep?", ("one",))
_BANDED = Trial("q", "depth", "How deep?", ("one", "two"), bands="1 little, 10 much", tie=False)


def _read(found: reply_text.Reading[Any]) -> Any:
    """The value of a reading, and what is not usual about it."""
    told = [found.problem, found.removed, found.mended, found.doubtful, found.instead]
    return [found.value, *(one for one in told if one)]


def read_records(text: str, cut: bool = False) -> Any:
    """The things, relations and claims that a reply names in a text."""
    reply = Reply(text, 1, 9, "length" if cut else "stop")
    return [
        _read(extracted_records.read_extraction(reply, _CHUNK)),
        _read(extracted_records.read_extraction(reply, _CHUNK, typed=True, further=True)),
        _read(extracted_records.read_claims(reply, _CHUNK)),
        _read(extracted_records.read_claims(reply, _CHUNK, further=True)),
        _read(method_replies.read_triples(reply, _TEXT)), _read(method_replies.read_names(reply)),
    ]  # fmt: skip


def read_answers(text: str, cut: bool = False) -> Any:
    """What a reply is as a summary, a report, points, an answer, a lead, a refinement and a grade."""
    reply = Reply(text, 1, 9, "length" if cut else "stop")
    return [
        _read(answer_replies.read_summary(reply)), _read(answer_replies.read_community_report(reply, _CITED, 2)),
        _read(answer_replies.read_points(reply, _CITED)), _read(answer_replies.read_answer(reply, _CITED)),
        _read(answer_replies.read_lead(reply, _CITED)), _read(answer_replies.read_refinement(reply, "Who met?", 2)),
        _read(answer_replies.read_grade(reply)), read_streamed_answer(text),
    ]  # fmt: skip


def read_verdicts(text: str, cut: bool = False) -> Any:
    """What a reply is as a verdict on answers, a contrast, proposed lines, claims and support."""
    reply = Reply(text, 1, 9, "length" if cut else "stop")
    return [
        *(_read(answer_replies.read_preference(reply, trial)) for trial in (_COMPARED, _BANDED)),
        _read(answer_replies.read_answer_score(reply, _SCORED)), _read(answer_replies.read_contrast(reply, 2)),
        _read(answer_replies.read_proposed_lines(reply, Wish("question", 2))),
        _read(answer_replies.read_claim_sentence(reply)), _read(answer_replies.read_claim_statements(reply)),
        _read(answer_replies.read_support(reply)),
    ]  # fmt: skip


def read_groups(text: str, cut: bool = False) -> Any:
    """What a reply is as a report on a group, a link, a condensed text, summary entities, and steps of methods."""
    reply = Reply(text, 1, 9, "length" if cut else "stop")
    return [
        _read(group_replies.read_aggregate(reply, _CITED, _BRIEF, 2)), _read(group_replies.read_link(reply, _CITED, 8)),
        _read(group_replies.read_condensed(reply, _CITED, 8)),
        _read(group_replies.read_summary_entities(reply, _CITED)), _read(method_replies.read_plan_lines(reply)),
        _read(method_replies.read_search_words(reply, "low", "high")),
        _read(method_replies.read_chosen(reply, ("red boat", "blue boat", "pier"), 2)),
        _read(method_replies.read_scores(reply, 3)),
    ]  # fmt: skip
