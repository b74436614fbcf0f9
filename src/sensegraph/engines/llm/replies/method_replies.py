"""Values out of the replies to what single papers ask: plans, search words, facts that help, scores, triples.

An empty list is believed where the reply has the form that was asked for and the task allows it; else it is no value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sensegraph.engines.llm.replies.extracted_records import read_number
from sensegraph.engines.llm.replies.reply_text import (
    Reading,
    decode_json,
    describe_cut,
    lists_nothing,
    strip_wrapping,
)
from sensegraph.extractions import Triple
from sensegraph.language.text import WORD, fold
from sensegraph.models.endpoint.client import Reply
from sensegraph.questions import SearchWords

MOST_WORDS = 12  # search words of one kind that are taken: more are no choice
_LABEL = re.compile(r"^\(?(?:(?:step|question|q)\s*)?\d+\s*[.):]\s+", re.IGNORECASE)
_CALL = re.compile(r"^\s*[A-Za-z_]\w*\s*\(")
_WRITTEN_PLAN = re.compile(
    r"^\W{0,20}(?:(?:step|action)\s*\d+\s*[:.)]|(?:retrieval|math|deduce|sort|output)\s*\()",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"\A\s*\W{0,2}(\d{1,6})\W*\Z")


# ── plans ──


def read_plan_lines(reply: Reply) -> Reading[tuple[str, ...]]:
    """The lines of a plan: for each step its question (`Step1: …`), then its action (`Action1: …`).

    What the lines mean is not read here. A plan that a model wrote as lines in place of JSON is taken as it is.
    """
    text = strip_wrapping(reply.text)
    if not text.startswith(("{", "[")) and '"steps"' not in text and _WRITTEN_PLAN.search(text):
        return Reading(tuple(line for line in text.splitlines() if line.strip()), describe_cut(reply))
    data = decode_json(reply)
    listed = _list_of_reply(reply, data, "steps") or []
    steps = [step for raw in listed if any(step := _split_step(raw))]
    lines = [
        f"{label}{number}: {text}"
        for number, step in enumerate(steps, 1)
        for label, text in zip(("Step", "Action"), step, strict=True)
        if text
    ]
    if not lines:
        return Reading(None, describe_cut(reply) or "it has no list of steps with a question and an action each")
    return Reading(tuple(lines), describe_cut(reply), len(listed) - len(steps))


def _split_step(raw: Any) -> tuple[str, str]:
    """The question and the action of a step, whichever way it was written; what is no call is no action."""
    if isinstance(raw, dict):
        question, action = _first_text(raw, "question", "sub_question"), _first_text(raw, "action", "call", "function")
        return (question, action if _CALL.match(action) else "") if question else ("", action)
    whole = " ".join(raw.split()) if isinstance(raw, str) else ""
    question, _, action = _LABEL.sub("", whole).rpartition(" | ")
    return (question, action) if _CALL.match(action) else (whole, "")


def _first_text(data: dict[str, Any], *names: str) -> str:
    """The first of these fields that holds a text, on one line."""
    return next((" ".join(text.split()) for n in names if isinstance(text := data.get(n), str) and text.strip()), "")


def _list_of_reply(reply: Reply, data: Any, name: str) -> list[Any] | None:
    """The list under `name`, or a reply that is a list itself; none where brackets stand in a sentence."""
    if isinstance(data, list):
        return data if strip_wrapping(reply.text).startswith("[") else None
    found = data.get(name) if isinstance(data, dict) else None
    return found if isinstance(found, list) else None


# ── search words ──


def read_search_words(reply: Reply, names: str, themes: str) -> Reading[SearchWords]:
    """The lists under `names` and `themes`, each phrase once; both are empty only where the reply says so in form."""
    data = decode_json(reply)
    if not isinstance(data, dict) or not data.keys() & {names, themes}:
        return Reading(None, describe_cut(reply) or f"it has no lists {names} and {themes}")
    low, lost = _distinct_phrases(data.get(names))
    high, more = _distinct_phrases(data.get(themes))
    told = {fold(phrase) for phrase in low}
    high = [phrase for phrase in high if fold(phrase) not in told]
    if not (low or high) and not lists_nothing(reply, data, names, themes):
        return Reading(None, describe_cut(reply) or f"its lists {names} and {themes} hold no phrase")
    found = SearchWords(tuple(low[:MOST_WORDS]), tuple(high[:MOST_WORDS]))
    return Reading(found, describe_cut(reply), lost + more)


def _distinct_phrases(listed: Any) -> tuple[list[str], int]:
    """The distinct phrases of a list, or of a text with commas, and how many of its parts are none."""
    parts = listed.split(",") if isinstance(listed, str) else listed if isinstance(listed, list) else []
    texts = [" ".join(str(part).split()) for part in parts if isinstance(part, str | int | float)]
    kept: dict[str, str] = {}
    for text in texts:
        if any(map(str.isalnum, text)):
            kept.setdefault(fold(text), text)
    return list(kept.values()), len(parts) - sum(map(bool, texts))


# ── facts that help, scores of passages ──


def read_chosen(reply: Reply, texts: Sequence[str], most: int) -> Reading[tuple[int, ...]]:
    """The places, from 0, of the texts that a reply chose by their numbers or their words: `most` at most, or none."""
    data = decode_json(reply)
    listed = _list_of_reply(reply, data, "facts")
    if listed is None:
        return Reading(None, describe_cut(reply) or "it has no list of the numbers of facts")
    words = {fold(text): place for place, text in enumerate(texts)}
    places = [_place_of(part, words, len(texts)) for part in listed]
    found = list(dict.fromkeys(place for place in places if place is not None))
    lost = sum(place is None for place in places)
    if lost and not found:
        return Reading(None, "its numbers name no fact of the list", lost)
    if not found and not _is_empty(reply, data, "facts"):
        return Reading(None, describe_cut(reply) or "its list of facts is broken", lost)
    return Reading(tuple(found[:most]), describe_cut(reply), lost + max(0, len(found) - most))


def _place_of(part: Any, words: dict[str, int], count: int) -> int | None:
    """The place that an entry of a list names: its number, its `id`, or the words of the text."""
    part = part.get("id") if isinstance(part, dict) else part
    number = _NUMBER.match(str(part)) if isinstance(part, str | int) and not isinstance(part, bool) else None
    if number:
        return int(number[1]) - 1 if 0 < int(number[1]) <= count else None
    return words.get(fold(part)) if isinstance(part, str) else None


def read_scores(reply: Reply, count: int) -> Reading[tuple[float, ...]]:
    """A score from 0 to 10 for each of `count` passages; what lacks one is asked for again, and scores 0 then."""
    data = decode_json(reply)
    listed = _list_of_reply(reply, data, "scores") or []
    found: dict[int, float] = {}
    for position, raw in enumerate(listed):
        entry = raw if isinstance(raw, dict) else {"id": position + 1, "score": raw}
        place, score = _place_of(entry, {}, count), read_number(entry.get("score"), float("nan"))
        if place is not None and score == score:
            found.setdefault(place, min(10.0, max(0.0, score)))
    if not found:
        return Reading(None, describe_cut(reply) or "it has no list of scores")
    missing = count - len(found)
    problem = f"{missing} of {count} passages have no score" if missing else ""
    scores = tuple(found.get(place, 0.0) for place in range(count))
    return Reading(scores, describe_cut(reply) or problem, len(listed) - len(found))


# ── triples ──


def read_names(reply: Reply) -> Reading[tuple[str, ...]]:
    """The names of a passage, each once; none only where the reply says so in its form."""
    data = decode_json(reply)
    listed = _list_of_reply(reply, data, "entities")
    if listed is None:
        return Reading(None, describe_cut(reply) or "it has no list of entities")
    names, lost = _distinct_phrases([_first_text(e, "name", "entity") if isinstance(e, dict) else e for e in listed])
    if not names and not _is_empty(reply, data, "entities"):
        return Reading(None, describe_cut(reply) or "its list of entities holds no name", lost)
    return Reading(tuple(names), describe_cut(reply), lost)


def read_triples(reply: Reply, text: str) -> Reading[tuple[Triple, ...]]:
    """The triples of a passage, each once; one neither end of which has a word of the passage is no triple of it."""
    data = decode_json(reply)
    listed = _list_of_reply(reply, data, "triples")
    if listed is None:
        return Reading(None, describe_cut(reply) or "it has no list of triples")
    words = frozenset(fold(word) for word in WORD.findall(text))
    read = [triple for raw in listed if (triple := _read_triple(raw))]
    known = [t for t in read if any(fold(w) in words for w in WORD.findall(f"{t.subject} {t.object}"))]
    found = {(fold(t.subject), fold(t.predicate), fold(t.object)): t for t in reversed(known)}
    if not found and not _is_empty(reply, data, "triples"):
        return Reading(None, describe_cut(reply) or "it has no triple that the passage says", len(listed))
    return Reading(tuple(reversed(found.values())), describe_cut(reply), len(listed) - len(known))


def _read_triple(raw: Any) -> Triple | None:
    """A triple of three parts, in fields or in a list; none where a part is missing or both ends are one."""
    parts = [raw.get(name) for name in ("subject", "predicate", "object")] if isinstance(raw, dict) else raw
    if not isinstance(parts, list) or len(parts) != 3:
        return None
    subject, predicate, target = (" ".join(str(p).split()) if isinstance(p, str | int | float) else "" for p in parts)
    whole = subject and predicate and target and fold(subject) != fold(target)
    return Triple(subject, predicate, target) if whole else None


def _is_empty(reply: Reply, data: Any, name: str) -> bool:
    """Whether a reply says in its form that there is nothing."""
    return lists_nothing(reply, {name: data} if isinstance(data, list) else data, name)
