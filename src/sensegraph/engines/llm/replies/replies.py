"""Values out of replies: summaries, reports, points and answers, whatever a model puts around or into its JSON.

A reading is a value, a problem, or both: a value with a problem is used only when asking again brings none better.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from sensegraph.engines.llm.replies import records
from sensegraph.engines.llm.replies.references import Cited, Records
from sensegraph.engines.llm.replies.streaming import spoken
from sensegraph.engines.llm.replies.thoughts import without_thoughts
from sensegraph.language.text import fold
from sensegraph.models.endpoint.client import Reply
from sensegraph.types import Draft, Finding, Lead, Point, Refinement, Report

T = TypeVar("T")

UNREADABLE_GRADE = 1
DECLINED = "it declines in words"

_FENCE = re.compile(r"```[a-z]*\s*\n?([\s\S]*?)(?:```|$)", re.IGNORECASE)
_HELPFULNESS = re.compile(r"<ANSWER[_ ]?HELPFULNESS>\s*([^<]*?)\s*</ANSWER[_ ]?HELPFULNESS>\.?", re.IGNORECASE)
_TOKEN = re.compile(r"""(?P<string>"(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+(?P<end>")?)|[{}\[\]]""")
_CLOSERS = {"{": "}", "[": "]"}
_ESCAPE = 6  # characters of the longest escape in a string
_DEEPEST = 50  # braces left open; our forms nest four deep
_DECLINES = re.compile(  # "I'm sorry, I can't help with that" and its like, at the beginning of a reply
    r"\W*(?:I|sorry|as an AI|unfortunately)\b[^\n]{0,60}?"
    r"\b(?:can(?:not|['’]?t| not)|unable to|not able to|won['’]t)\s+(?:\w+\s+)?"
    r"(?:help|assist|comply|do (?:that|this|it|so)|fulfil|provide|continue|discuss|process|summari[sz]e)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[\s\S]*[.!?。！？](?=\s|$)")


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """What a reply gave: `value` where it can be used, `problem` where it is worth asking again.

    `removed` counts what named nothing or could not be read; `mended` says what had to be changed in the value;
    `doubtful` is a value that may be none, such as a refusal in words; `instead` is what a run may go on with where no
    reply gives a value, though it is not the result.
    """

    value: T | None
    problem: str = ""
    removed: int = 0
    mended: tuple[str, ...] = ()
    doubtful: bool = False
    instead: T | None = None


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


def decoded(reply: Reply) -> Any:
    """The JSON value in a reply, repaired where it must be; None where there is none.

    Of a truncated reply, only what comes before the end of its last complete record is taken.
    """
    text = plain(reply.text)
    start = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
    if start < 0:
        return None
    try:
        return msgspec.json.decode(text[start:])
    except msgspec.DecodeError:
        whole = text.rfind("}") + 1 if truncated(reply) and text.count("{") > 1 else len(text)
        return _repaired(text[start:whole])
    except RecursionError:  # a model that runs on in brackets
        return None


def _repaired(text: str) -> Any:
    """The value of JSON that is cut off or otherwise broken; None where there is none."""
    if text.count("{") - text.count("}") > _DEEPEST:
        return None  # repairing what only opens takes the square of its length
    try:
        return msgspec.json.decode(_closed(text)) or None
    except (msgspec.DecodeError, RecursionError):
        pass
    from json_repair import loads

    try:
        return _characters(loads(text)) or None
    except (ValueError, RecursionError):
        return None


def _characters(value: Any) -> Any:
    """`value` with halves of characters, which no text may hold, put together or marked as lost."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_characters(v) for v in value]
    return {_characters(k): _characters(v) for k, v in value.items()} if isinstance(value, dict) else value


def _closed(text: str) -> str:
    """JSON that was cut off, with what it left open closed: all that most broken replies need, and quickly done."""
    open_: list[str] = []
    for token in _TOKEN.finditer(text):
        if token["string"] is not None:
            if token["end"] is None:
                cut = len(text) - token.end() < _ESCAPE  # else it is no JSON string, and a quote would not mend it
                return text[: token.end()] + '"' + "".join(reversed(open_)) if cut else text
        elif token[0] in _CLOSERS:
            open_.append(_CLOSERS[token[0]])
        elif open_:
            open_.pop()
    return text.rstrip(", \t\r\n") + "".join(reversed(open_))


def plain(text: str) -> str:
    """A reply without a model's thoughts and code fences."""
    text = without_thoughts(text)
    fenced = _FENCE.search(text)
    return fenced[1].strip() if fenced and ("{" in fenced[1] or "<|>" in fenced[1]) else text


def truncated(reply: Reply) -> bool:
    """Whether the endpoint cut the reply at its limit."""
    return reply.finish_reason == "length"


# ── summaries ──


def summary(reply: Reply) -> Reading[str]:
    """One description; plain words may be a refusal, so they are taken only when asking again brings no more."""
    text = only_text(reply, "summary")
    if not text or declines(reply):
        return Reading(None, DECLINED if text else "it holds no summary")
    problem = "" if "{" in plain(reply.text) else "it is no JSON object"
    return Reading(whole_sentences(text) if truncated(reply) else text, problem, doubtful=bool(problem))


# ── reports ──


def report(reply: Reply, cited: Records, least: int) -> Reading[Report]:
    """A report; it should have `least` findings, unless it was written from fewer records than that."""
    data = decoded(reply)
    if not isinstance(data, dict):
        return Reading(None, "it is no JSON object")
    try:
        head = msgspec.convert(data, Head, strict=False)
    except msgspec.ValidationError as e:
        return Reading(None, f"its form is wrong: {e}")
    made, dangling = composed(head, data, cited)
    if not made.title or not head.summary.strip():
        return Reading(None, "its title or summary is empty", len(dangling))
    problem = few(len(made.findings), min(least, len(cited.passages)), reply) or nameless(dangling)
    return Reading(made, problem, len(dangling))


def _finding(raw: Any) -> _Finding | None:
    try:
        return msgspec.convert(raw, _Finding, strict=False)
    except msgspec.ValidationError:
        return None


def composed(head: Head, data: dict[str, Any], cited: Records) -> tuple[Report, tuple[str, ...]]:
    """The report with the findings that `data` holds and all references resolved, and those that named nothing."""
    findings = [f for f in map(_finding, list_in(data, "findings")) if f]
    dangling: list[str] = []

    def read(text: str) -> Cited:
        got = cited.cited(text.strip())
        dangling.extend(got.dangling)
        return got

    title, whole = read(head.title).text.strip(), read(head.summary).statements
    made = tuple(Finding(read(f.summary).text.strip(), read(f.explanation).statements) for f in findings)
    why = read(head.rating_explanation or "").text.strip()
    rating = min(10.0, max(0.0, records.number(head.rating, 0.0)))
    return Report(title, whole, made, rating, why, len(dangling)), tuple(dangling)


def few(count: int, least: int, reply: Reply) -> str:
    """What is wrong with so many findings; empty where they are enough."""
    if count >= least:
        return ""
    return cut_off(reply) if truncated(reply) else f"it has {count} usable findings, and at least {least} are asked for"


def nameless(dangling: tuple[str, ...]) -> str:
    """What is wrong with references that name nothing; empty where there are none."""
    if not dangling:
        return ""
    return f"these references name no record of the tables: {', '.join(dict.fromkeys(dangling))}"


# ── points and answers ──


def points(reply: Reply, cited: Records) -> Reading[tuple[Point, ...]]:
    """Rated partial answers. One without a readable score is worth asking again for, else it scores 0."""
    if tag := _HELPFULNESS.search(without_thoughts(reply.text)):
        raws = [_Point(_HELPFULNESS.sub("", plain(reply.text)).strip(), tag[1])]
    else:
        data = decoded(reply)
        listed = data if isinstance(data, list) else list_in(data, "points")
        raws = [p for p in map(_point, listed) if p]
        if len(raws) < len(listed) / 2 or not (raws or lists_nothing(reply, data, "points")):
            return Reading(None, cut_off(reply) if truncated(reply) else "it holds no list of points with scores")
    read = [(cited.cited(p.text.strip()), _score(p.score)) for p in raws if p.text.strip()]
    made = tuple(Point(c.statements, score or 0.0) for c, score in read)
    unrated = sum(score is None for _, score in read)
    removed = sum(len(c.dangling) for c, _ in read)
    return Reading(made, f"{unrated} of its points have no score from 0 to 100" if unrated else "", removed)


def _point(raw: Any) -> _Point | None:
    try:
        return msgspec.convert(raw, _Point, strict=False)
    except msgspec.ValidationError:
        return None


def _score(value: str | float | None) -> float | None:
    """The score in a field, 0–100; None where there is no number."""
    found = records.number(value, float("nan"))
    return None if found != found else min(100.0, max(0.0, found))


def answer(reply: Reply, cited: Records) -> Reading[Draft]:
    """A final answer; one in plain words is taken as it is."""
    found = spoken(reply.text)
    text = only_text(reply, "answer") if found is None else found
    if not text:
        return Reading(None, "it holds no answer")
    got = cited.cited(text)
    notes = ["The answer was cut off at the limit of its length."] if truncated(reply) else []
    if got.dangling:
        notes.append(f"{len(got.dangling)} references of the answer named no record and were removed.")
    if not any(s.references for s in got.statements):
        notes.append("The answer cites nothing.")
    return Reading(Draft(got.statements, len(got.dangling), tuple(notes)), "", len(got.dangling))


# ── leads, refinements, grades ──


def lead(reply: Reply, cited: Records) -> Reading[Lead]:
    """A partial answer with its score, and the questions to follow up, each once."""
    data = decoded(reply)
    if not isinstance(data, dict) or not isinstance(data.get("answer"), str):
        return Reading(None, cut_off(reply) if truncated(reply) else "it is no JSON object with an answer")
    got = cited.cited(data["answer"].strip())
    questions, unusable = _texts(data, "follow_ups")
    score = _score(data.get("score"))
    problem = "its score is no number from 0 to 100" if score is None else cut_off(reply) if truncated(reply) else ""
    return Reading(Lead(got.statements, score or 0.0, questions), problem, len(got.dangling) + unusable)


def refinement(reply: Reply, question: str, most: int) -> Reading[Refinement]:
    """The question expanded, in at most `most` parts, and with an answer imagined; unusable where nothing is there."""
    data = decoded(reply)
    if not isinstance(data, dict):
        return Reading(None, "it is no JSON object")
    expanded, hypothesis = (str(data.get(n) or "").strip() for n in ("expanded_question", "hypothetical_answer"))
    questions, unusable = _texts(data, "sub_questions")
    if not (expanded or questions or hypothesis):
        return Reading(None, "it has no expanded question, no sub-questions and no hypothetical answer")
    problem = cut_off(reply) if truncated(reply) else ""
    return Reading(Refinement(expanded or question, questions[:most], hypothesis), problem, unusable)


def grade(reply: Reply) -> Reading[int]:
    """A relevance from 0 to 5; 1 instead of one that cannot be read (graphrag: dynamic selection)."""
    data = decoded(reply)
    found = records.number(data.get("rating") if isinstance(data, dict) else None, float("nan"))
    if found != found:
        return Reading(None, "it has no rating from 0 to 5", 1, instead=UNREADABLE_GRADE)
    return Reading(min(5, max(0, round(found))))


def _texts(data: dict[str, Any], name: str) -> tuple[tuple[str, ...], int]:
    """The distinct texts of a list, and how many of its parts are none."""
    listed = list_in(data, name)
    texts = [t.strip() for t in listed if isinstance(t, str) and t.strip()]
    return tuple({fold(t): t for t in texts}.values()), len(listed) - len(texts)


# ── shared ──


def only_text(reply: Reply, name: str) -> str:
    """The one text that a reply is about: a field of its JSON, or all of it when it is none."""
    text = plain(reply.text)
    if not text.startswith(("{", "[")) and f'"{name}"' not in text:
        return text
    data = decoded(reply)
    value = data.get(name) if isinstance(data, dict) else None
    return value.strip() if isinstance(value, str) else ""


def lists_nothing(reply: Reply, data: Any, *names: str) -> bool:
    """Whether `data`, read from a reply that nothing had to be closed in, holds empty lists under `names`.

    The first must be there, the others may be missing.
    """
    if not isinstance(data, dict) or data.get(names[0]) != [] or truncated(reply):
        return False
    text = plain(reply.text)
    return all(data.get(name, []) == [] for name in names) and all(
        text.count(a) == text.count(b) for a, b in ("{}", "[]")
    )


def declines(reply: Reply) -> bool:
    """Whether a reply in plain words declines to be one."""
    text = plain(reply.text)
    return "{" not in text and bool(_DECLINES.match(text))


def list_in(data: Any, name: str) -> list[Any]:
    """The list under `name`; empty where there is none."""
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, list) else []


def whole_sentences(text: str) -> str:
    """`text` up to the end of its last whole sentence."""
    match = _SENTENCE_END.match(text)
    return match[0] if match else text


def cut_off(reply: Reply) -> str:
    """What is wrong with a reply that ended at its limit."""
    return f"it was cut off after {reply.completion_tokens} tokens; write less, the most important first"
