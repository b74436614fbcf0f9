"""Values out of replies: summaries, reports, points, answers, leads, refinements, grades, verdicts, lines and claims.

What cannot be read is no verdict: never a tie, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from sensegraph.engines.llm.replies.cited_records import Cited, Records, read_streamed_answer
from sensegraph.engines.llm.replies.extracted_records import convert_record, read_number
from sensegraph.engines.llm.replies.reply_text import (
    Reading,
    declines_in_words,
    decode_json,
    describe_cut,
    is_truncated,
    keep_whole_sentences,
    list_in,
    lists_nothing,
    read_one_text,
    strip_wrapping,
)
from sensegraph.language.text import count_tokens, fold, take_within
from sensegraph.models.endpoint.bodies import without_thoughts
from sensegraph.models.endpoint.client import Reply
from sensegraph.trials import Contrast, Support, Trial, Verdict, Wish
from sensegraph.types import Draft, Finding, Lead, Point, Refinement, Report

UNREADABLE_GRADE = 1
DECLINED = "it declines in words"

_HELPFULNESS = re.compile(r"<ANSWER[_ ]?HELPFULNESS>([^<]*+)</ANSWER[_ ]?HELPFULNESS>\.?", re.IGNORECASE)


class _Finding(msgspec.Struct, frozen=True):
    summary: str
    explanation: str


class Head(msgspec.Struct, frozen=True):
    """A report without its findings, as a reply gives it."""

    title: str
    summary: str
    rating: str | float
    rating_explanation: str | None = ""


class _Point(msgspec.Struct, frozen=True):
    text: str
    score: str | float | None = None
    records: object = None

    def write(self) -> str:
        """The text with its records behind it, as marks."""
        listed = self.records if isinstance(self.records, list) else [self.records]
        numbers = [str(n) for n in listed if isinstance(n, int | str) and str(n).isascii() and str(n).isdecimal()]
        return f"{self.text.strip()} [{', '.join(numbers)}]" if numbers else self.text.strip()


# ── summaries ──


def read_summary(reply: Reply) -> Reading[str]:
    """One description; plain words may be a refusal, so they are taken only when asking again brings no more."""
    text = read_one_text(reply, "summary")
    if not text or declines_in_words(reply):
        return Reading(None, DECLINED if text else "it holds no summary")
    problem = describe_cut(reply) or ("" if "{" in strip_wrapping(reply.text) else "it is no JSON object")
    return Reading(keep_whole_sentences(text) if is_truncated(reply) else text, problem, doubtful=bool(problem))


# ── reports ──


def read_community_report(reply: Reply, cited: Records, least: int) -> Reading[Report]:
    """A report; it should have `least` findings, unless it was written from fewer records than that."""
    data = decode_json(reply)
    if not isinstance(data, dict):
        return Reading(None, "it is no JSON object")
    try:
        head = msgspec.convert(data, Head, strict=False)
    except msgspec.ValidationError as e:
        return Reading(None, f"its form is wrong: {e}")
    made, dangling = compose_report(head, data, cited)
    if not made.title or not head.summary.strip():
        return Reading(None, "its title or summary is empty", len(dangling))
    few = describe_missing_findings(len(made.findings), min(least, len(cited.passages)), reply)
    problem = few or describe_dangling(dangling)
    return Reading(made, problem, len(dangling))


def compose_report(head: Head, data: dict[str, Any], cited: Records) -> tuple[Report, tuple[str, ...]]:
    """The report with the findings that `data` holds and all references resolved, and those that named nothing."""
    findings = [f for raw in list_in(data, "findings") if (f := convert_record(raw, _Finding))]
    dangling: list[str] = []

    def read(text: str) -> Cited:
        got = cited.resolve(text.strip())
        dangling.extend(got.dangling)
        return got

    title, whole = read(head.title).text.strip(), read(head.summary).statements
    made = tuple(Finding(read(f.summary).text.strip(), read(f.explanation).statements) for f in findings)
    why = read(head.rating_explanation or "").text.strip()
    rating = min(10.0, max(0.0, read_number(head.rating, 0.0)))
    return Report(title, whole, made, rating, why, len(dangling)), tuple(dangling)


def describe_missing_findings(count: int, least: int, reply: Reply) -> str:
    """What is wrong with so many findings: the reply was cut off, or they are not enough; empty where nothing is."""
    few = f"it has {count} usable findings, and at least {least} are asked for" if count < least else ""
    return describe_cut(reply) or few


def describe_dangling(dangling: tuple[str, ...]) -> str:
    """What is wrong with references that name nothing; empty where there are none."""
    if not dangling:
        return ""
    return f"these references name no record of the tables: {', '.join(dict.fromkeys(dangling))}"


# ── points and answers ──


def read_points(reply: Reply, cited: Records) -> Reading[tuple[Point, ...]]:
    """Rated partial answers. One without a readable score is worth asking again for, else it scores 0."""
    if tag := _HELPFULNESS.search(without_thoughts(reply.text)):
        raws = [_Point(_HELPFULNESS.sub("", strip_wrapping(reply.text)).strip(), tag[1])]
    else:
        data = decode_json(reply)
        listed = data if isinstance(data, list) else list_in(data, "points")
        raws = [p for raw in listed if (p := convert_record(raw, _Point))]
        if len(raws) < len(listed) / 2 or not (raws or lists_nothing(reply, data, "points")):
            return Reading(None, describe_cut(reply) or "it holds no list of points with scores")
    read = [(cited.resolve(p.write()), _read_score_field(p.score)) for p in raws if p.text.strip()]
    made = tuple(Point(c.statements, score or 0.0) for c, score in read)
    unrated = sum(score is None for _, score in read)
    removed = sum(len(c.dangling) for c, _ in read)
    without = f"{unrated} of its points have no score from 0 to 100" if unrated else ""
    return Reading(made, describe_cut(reply) or without, removed)


def _read_score_field(value: str | float | None) -> float | None:
    """The score in a field, 0–100; None where there is no number."""
    found = read_number(value, float("nan"))
    return None if found != found else min(100.0, max(0.0, found))


def read_answer(reply: Reply, cited: Records) -> Reading[Draft]:
    """A final answer; one in plain words is taken as it is."""
    found = read_streamed_answer(reply.text)
    text = read_one_text(reply, "answer") if found is None else found
    if not text:
        return Reading(None, "it holds no answer")
    got = cited.resolve(text)
    notes = ["The answer was cut off at the limit of its length."] if is_truncated(reply) else []
    if got.dangling:
        notes.append(f"{len(got.dangling)} references of the answer named no record and were removed.")
    if not any(s.references for s in got.statements):
        notes.append("The answer cites nothing.")
    return Reading(Draft(got.statements, len(got.dangling), tuple(notes)), describe_cut(reply), len(got.dangling))


# ── leads, refinements, grades ──


def read_lead(reply: Reply, cited: Records) -> Reading[Lead]:
    """A partial answer with its score, and the questions to follow up, each once."""
    data = decode_json(reply)
    if not isinstance(data, dict) or not isinstance(data.get("answer"), str):
        return Reading(None, describe_cut(reply) or "it is no JSON object with an answer")
    got = cited.resolve(data["answer"].strip())
    questions, unusable = _list_distinct_texts(data, "follow_ups")
    score = _read_score_field(data.get("score"))
    problem = "its score is no number from 0 to 100" if score is None else describe_cut(reply)
    return Reading(Lead(got.statements, score or 0.0, questions), problem, len(got.dangling) + unusable)


def read_refinement(reply: Reply, question: str, most: int) -> Reading[Refinement]:
    """The question expanded, in at most `most` parts, and with an answer imagined; unusable where nothing is there."""
    data = decode_json(reply)
    if not isinstance(data, dict):
        return Reading(None, "it is no JSON object")
    expanded, hypothesis = (str(data.get(n) or "").strip() for n in ("expanded_question", "hypothetical_answer"))
    questions, unusable = _list_distinct_texts(data, "sub_questions")
    if not (expanded or questions or hypothesis):
        return Reading(None, "it has no expanded question, no sub-questions and no hypothetical answer")
    problem = describe_cut(reply)
    return Reading(Refinement(expanded or question, questions[:most], hypothesis), problem, unusable)


def read_grade(reply: Reply) -> Reading[int]:
    """A relevance from 0 to 5; 1 instead of one that cannot be read (graphrag: dynamic selection)."""
    data = decode_json(reply)
    found = read_number(data.get("rating") if isinstance(data, dict) else None, float("nan"))
    if found != found:
        return Reading(None, "it has no rating from 0 to 5", 1, instead=UNREADABLE_GRADE)
    return Reading(min(5, max(0, round(found))))


def _list_distinct_texts(data: dict[str, Any], name: str) -> tuple[tuple[str, ...], int]:
    """The distinct texts of a list, and how many of its parts are none."""
    listed = list_in(data, name)
    texts = [t.strip() for t in listed if isinstance(t, str) and t.strip()]
    return tuple({fold(t): t for t in texts}.values()), len(listed) - len(texts)


T = TypeVar("T")

PREFERENCES = ("judge", "judge-decided", "judge-scored")
NO_VERDICT = "no verdict: the reply stayed unusable"
_WINNER = re.compile(
    r"\A(?:the\s++)?(?:answer|winner)?[\s:_#]*+(0|1|2|a|b|tie|draw|neither|none|both|equal)\W*\Z", re.I
)
_PLACES = {"1": 1, "a": 1, "2": 2, "b": 2}  # whatever else a winner may be called means neither
_YES = {"true": True, "yes": True, "supported": True, "1": True}
_NO = {"false": False, "no": False, "unsupported": False, "not supported": False, "0": False}
_NOTHING = ("", "none", "null", "n/a", "cannot", "nothing")  # how models leave a sentence empty
_OUTSIDE = "scores outside their scale were taken as its end"


def read_winner(value: Any, tie: bool = True) -> int | None:
    """The place that a field names: 1, 2, or 0 for neither; None where it names none, or a tie that may not be."""
    if isinstance(value, bool) or value is None:
        return None
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip().strip("*\"'")
    found = _WINNER.match(text)
    if not found:
        return None
    place = _PLACES.get(found[1].lower(), 0)
    return place if place or tie else None


def read_preference(reply: Reply, trial: Trial) -> Reading[Verdict]:
    """Which of two answers is better; with `bands`, a score for each as well, where the reply holds both."""
    data, reason = _read_reasoned_object(reply)
    place = read_winner(data.get("winner"), trial.tie)
    if place is None:
        allowed = "1, 2 or 0" if trial.tie else "1 or 2"
        allowed = "A, B or tie" if trial.bands else allowed
        return _no_verdict(reply, f"its winner is not {allowed}", reason)
    if not trial.bands:
        return Reading(Verdict(place, reason))
    found = [_read_scaled_number(data.get(name), trial) for name in ("score_a", "score_b")]
    scores = tuple(s for s, _ in found if s is not None)
    if len(scores) < 2:
        return Reading(Verdict(place, reason), "its score_a or score_b is no number", doubtful=True)
    return Reading(Verdict(place, reason, scores), mended=_note_clamped(outside for _, outside in found))


def read_answer_score(reply: Reply, trial: Trial) -> Reading[Verdict]:
    """A score for one answer, clamped to its scale and never re-scaled."""
    data, reason = _read_reasoned_object(reply)
    value, outside = _read_scaled_number(data.get("score"), trial)
    if value is None:
        return _no_verdict(reply, f"its score is no number from {trial.low} to {trial.high}", reason)
    return Reading(Verdict(None, reason, (value,)), mended=_note_clamped([outside]))


def read_contrast(reply: Reply, most: int) -> Reading[Contrast]:
    """What is shared and what is not, each list at most `most` tokens, or one statement; empty if unreadable."""
    data, _ = _read_reasoned_object(reply)
    names = ("common", "first_only", "second_only")
    if not any(isinstance(data.get(name), list) for name in names):
        return _ask_again_or_take(Contrast(), reply, "it has no lists common, first_only and second_only")
    lists, left = [], 0
    for name in names:
        texts = _list_single_lines(data, name)
        kept = take_within(texts, most, count_tokens)[0] or texts[:1]
        lists.append(tuple(kept))
        left += len(texts) - len(kept)
    return Reading(Contrast(*lists), removed=left)


def read_proposed_lines(reply: Reply, wish: Wish) -> Reading[tuple[str, ...]]:
    """At most `count` lines, none twice and none that is known; none is an answer only to a `reverse` wish."""
    data, _ = _read_reasoned_object(reply)
    if not isinstance(data.get("lines"), list):
        return _ask_again_or_take((), reply, "it has no list of lines")
    known = {fold(k) for k in wish.known}
    texts = _list_single_lines(data, "lines")
    new = {fold(t): t for t in reversed(texts) if fold(t) not in known}  # the first of equal lines stays
    kept = tuple(list(reversed(new.values()))[: wish.count])
    problem = "" if kept or wish.wanted == "reverse" or wish.kind else "it has no line that is not known"
    return Reading(kept, problem, len(texts) - len(kept))


def read_claim_sentence(reply: Reply) -> Reading[tuple[str, ...]]:
    """The one sentence of a stage, or nothing."""
    data, _ = _read_reasoned_object(reply)
    if "sentence" not in data or not isinstance(data["sentence"], str | None):
        return _ask_again_or_take((), reply, "it has no sentence")
    text = " ".join((data["sentence"] or "").split())
    return Reading((text,) if text.strip(".!").casefold() not in _NOTHING else ())


def read_claim_statements(reply: Reply) -> Reading[tuple[str, ...]]:
    """The claims that a sentence makes, each once."""
    data, _ = _read_reasoned_object(reply)
    if not isinstance(data.get("statements"), list):
        return _ask_again_or_take((), reply, "it has no list of statements")
    texts = _list_single_lines(data, "statements")
    return Reading(tuple({fold(t): t for t in texts}.values()), removed=len(data["statements"]) - len(texts))


CLAIMS = {"select": read_claim_sentence, "disambiguate": read_claim_sentence, "decompose": read_claim_statements}
"""How the reply of each stage is read."""


def read_support(reply: Reply) -> Reading[Support]:
    """Whether texts bear a statement; without a readable yes or no, neither."""
    data, reason = _read_reasoned_object(reply)
    said = str(data.get("supported")).strip().casefold()
    holds = _YES.get(said, _NO.get(said))
    if holds is None:
        return _ask_again_or_take(Support(None, reason), reply, "its field supported is neither true nor false")
    return Reading(Support(holds, reason))


def _read_reasoned_object(reply: Reply) -> tuple[dict[str, Any], str]:
    """The JSON object of a reply, empty where there is none, and the reason that it gives."""
    data = decode_json(reply)
    found = data if isinstance(data, dict) else {}
    given = (found.get(name) for name in ("reasoning", "explanation", "reason"))
    return found, next((" ".join(g.split()) for g in given if isinstance(g, str)), "")


def _list_single_lines(data: dict[str, Any], name: str) -> list[str]:
    return [" ".join(t.split()) for t in list_in(data, name) if isinstance(t, str) and t.strip()]


def _read_scaled_number(value: Any, trial: Trial) -> tuple[float | None, bool]:
    """The number in a field, clamped, and whether it was outside the scale."""
    readable = isinstance(value, str | int | float) and not isinstance(value, bool)
    found = read_number(value if readable else None, float("nan"))
    if found != found:
        return None, False
    return min(float(trial.high), max(float(trial.low), found)), not trial.low <= found <= trial.high


def _note_clamped(outside: Iterable[bool]) -> tuple[str, ...]:
    return (_OUTSIDE,) * sum(outside)


def _no_verdict(reply: Reply, problem: str, reason: str) -> Reading[Verdict]:
    return _ask_again_or_take(Verdict(None, reason or f"No verdict: {problem}."), reply, problem)


def _ask_again_or_take(value: T, reply: Reply, problem: str) -> Reading[T]:
    """`value` instead of what stays unreadable: asked for again first, and counted then."""
    why = describe_cut(reply) or problem
    return Reading(None, why, mended=(NO_VERDICT,), instead=value)
