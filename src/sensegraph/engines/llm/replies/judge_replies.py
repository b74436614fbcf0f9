"""Verdicts, scores, lines and claims out of replies. What cannot be read is no verdict: never a tie, never a guess."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

from sensegraph.engines.llm.replies.extracted_records import read_number
from sensegraph.engines.llm.replies.reply_text import Reading, decode_json, describe_cut, list_in
from sensegraph.language.text import count_tokens, fold, take_within
from sensegraph.models.endpoint.client import Reply
from sensegraph.trials import Contrast, Support, Trial, Verdict, Wish

T = TypeVar("T")

PREFERENCES = ("judge", "judge-decided", "judge-scored")
NO_VERDICT = "no verdict: the reply stayed unusable"
_WINNER = re.compile(r"\A(?:the\s+)?(?:answer|winner)?[\s:_#]*(0|1|2|a|b|tie|draw|neither|none|both|equal)\W*\Z", re.I)
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
