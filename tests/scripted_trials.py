"""What the scripted server says of answers: read off the answers alone, so that it has no liking for a place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from scripted_tables import Row

Body = dict[str, Any]

MARKS = (  # what tells the tasks apart where no schema is sent
    ("judge-scored", "`score_a`"),
    ("judge", "`winner`"),
    ("contrast", "`first_only`"),
    ("questions", "`lines`"),
    ("claim-select", "`sentence`"),
    ("claim-decompose", "`statements`"),
    ("support", "`supported`"),
    ("score", "`score`"),
)
_ANSWER = re.compile(r"<(answer(?:_\w)?)>\n(.*?)\n</\1>", re.DOTALL)
_TEXT = re.compile(r"<text>\n(.*?)\n</text>", re.DOTALL)
_NAME = re.compile(r"[A-Z][\w’'-]+(?:\s+[A-Z][\w’'-]+)*")
_REFERENCE = re.compile(r"\[[^\]]*\]")
_WORD = re.compile(r"\w+")
_SMALL = frozenset("a an the is was are were of in on at to and or by for with from as that this it its he she".split())
_NEGATION = frozenset("no not never none cannot".split())


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def merit(criterion: str, answer: str) -> float:
    """How good an answer is by a criterion: more words, more different ones, fewer, or more names and references."""
    said = words_of(answer)
    if criterion.startswith("direct"):
        return -float(len(said))
    if criterion.startswith("divers"):
        return float(len(set(said)))
    if criterion.startswith("empower"):
        return float(len(_REFERENCE.findall(answer)) * 5 + len(_NAME.findall(answer)))
    return float(len(said))


def _shown(data: str) -> tuple[str, list[str]]:
    """The criterion, and the answers in their order."""
    found = re.search(r"^Criterion: (\w+)", data, re.MULTILINE)
    return found[1].casefold() if found else "", [text for _, text in _ANSWER.findall(data)]


def _preferred(data: str) -> tuple[int, list[float]]:
    criterion, answers = _shown(data)
    merits = [merit(criterion, a) for a in answers]
    return (0 if merits[0] == merits[1] else 1 if merits[0] > merits[1] else 2), merits


def _judge(rows: list[Row], data: str) -> Body:
    place, merits = _preferred(data)
    why = f"Answer {place} is better: {max(merits):g} against {min(merits):g}." if place else "They are alike."
    return {"reasoning": why, "winner": place}


def _judge_decided(rows: list[Row], data: str) -> Body:
    said = _judge(rows, data)
    return said | {"winner": said["winner"] or 1}


def _judge_scored(rows: list[Row], data: str) -> Body:
    place, _ = _preferred(data)
    scores = {0: (3, 3), 1: (4, 2), 2: (2, 4)}[place]
    return {
        "reasoning": "By what they say.", "score_a": scores[0], "score_b": scores[1], "winner": ("tie", "A", "B")[place]
    }  # fmt: skip


def _score(rows: list[Row], data: str) -> Body:
    _, (answer,) = _shown(data)
    return {"explanation": f"It begins with {answer[:20]!r}.", "score": 1 + min(9, len(set(words_of(answer))) // 5)}


def sentences_of(text: str) -> list[str]:
    return [s.strip() for s in re.split(r"(?<=[.!?])\s+|\n+", text) if s.strip()]


def _contrast(rows: list[Row], data: str) -> Body:
    _, answers = _shown(data)
    first, second = (sentences_of(a) for a in answers)
    return {
        "common": [s for s in first if s in second],
        "first_only": [s for s in first if s not in second],
        "second_only": [s for s in second if s not in first],
    }


def _wanted(data: str) -> int:
    return int(re.search(r"^Wanted: (\d+)", data, re.MULTILINE)[1])  # type: ignore[index]


def _new(data: str, lines: list[str]) -> Body:
    known = set(re.findall(r"^- (.*)$", data.partition("Known:\n")[2], re.MULTILINE))
    return {"lines": [line for line in lines if line not in known][: _wanted(data)]}


def _field(data: str, name: str) -> str:
    found = re.search(rf"^{name}: (.*)$", data, re.MULTILINE)
    return found[1] if found else ""


_WHO = "teacher lawyer nurse banker sailor painter editor farmer judge pilot clerk baker".split()
_AIM = "costs trends risks people places conflicts changes causes habits plans duties words".split()
_ASKED = "grow differ matter repeat change agree clash fade spread return weigh last".split()


def _personas(rows: list[Row], data: str) -> Body:
    about = " ".join(words_of(_field(data, "Collection"))[:4])
    return _new(data, [f"A {who} who wants to know about {about}." for who in _WHO])


def _tasks(rows: list[Row], data: str) -> Body:
    who = (words_of(_field(data, "Person")) or ["person", "reader"])[1]
    return _new(data, [f"Finding {aim} that a {who} has to know." for aim in _AIM])


def _questions(rows: list[Row], data: str) -> Body:
    who, aim = words_of(_field(data, "Person"))[1:2], words_of(_field(data, "Task"))[1:2]
    return _new(data, [f"How do the {' '.join(aim)} of a {' '.join(who)} {verb} overall?" for verb in _ASKED])


def _grounded(rows: list[Row], data: str) -> Body:
    """A question about each name of the texts, with the words that follow it there."""
    texts = _TEXT.findall(data)
    names = list(dict.fromkeys(n for t in texts for n in _NAME.findall(t) if n.casefold() not in _SMALL))
    return _new(data, [f"What do we learn of {name}?" for name in names])


def _reverse(rows: list[Row], data: str) -> Body:
    """Questions from the words of the answer; none where it says that it does not know."""
    (answer,) = [text for _, text in _ANSWER.findall(data)]
    if "not know" in answer or not answer.strip():
        return {"lines": []}
    said = " ".join(w for w in words_of(answer)[:8] if w not in _SMALL)
    return _new(data, [f"{word} {said}?" for word in ("What of", "Who or what is", "How about", "Why", "When")])


def _sentence(data: str) -> str:
    return _field(data, "Sentence")


def _select(rows: list[Row], data: str) -> Body:
    """Sentences with a name or a number, without references; others are nothing."""
    plain = " ".join(_REFERENCE.sub("", _sentence(data)).replace(" .", ".").split())
    inner = plain.partition(" ")[2]
    found = bool(re.search(r"\d", plain) or _NAME.search(inner)) and not plain.endswith("?")
    return {"reason": "It names somebody or something." if found else "Nothing to check.", "sentence": plain * found}


def _disambiguate(rows: list[Row], data: str) -> Body:
    """A pronoun at the beginning takes the first name of the sentences before; without one it cannot be told."""
    sentence = _sentence(data)
    pronoun = re.match(r"(?:He|She|It|They)\b", sentence)
    if not pronoun:
        return {"reason": "It is clear.", "sentence": sentence}
    before = data.partition("Sentences before:\n")[2].partition("\n\n")[0]
    names = _NAME.findall(before)
    whole = names[0] + sentence[pronoun.end() :] if names else ""
    return {"reason": "The name stands before." if names else "Who is meant is not said.", "sentence": whole}


def _decompose(rows: list[Row], data: str) -> Body:
    """One claim for each part that is joined by a semicolon or ", and"."""
    parts = re.split(r";\s+|,\s+and\s+", _sentence(data).rstrip("."))
    return {"statements": [f"{p.strip()}." for p in parts if p.strip()]}


def _support(rows: list[Row], data: str) -> Body:
    """Borne out where the texts have all longer words and all numbers of the statement, and it denies no more."""
    stated = words_of(_REFERENCE.sub("", _field(data, "Statement")))
    there = set(words_of(" ".join(_TEXT.findall(data))))
    needed = [w for w in stated if w not in _SMALL and (len(w) > 2 or w.isdigit())]
    missing = [w for w in needed if w not in there] + [w for w in stated if w in _NEGATION and w not in there]
    return {"reason": f"Missing: {missing[0]}." if missing else "All of it is there.", "supported": not missing}


ABOUT_ANSWERS: Mapping[str, Callable[[list[Row], str], Body]] = MappingProxyType(
    {
        "judge": _judge,
        "judge-decided": _judge_decided,
        "judge-scored": _judge_scored,
        "score": _score,
        "contrast": _contrast,
        "personas": _personas,
        "tasks": _tasks,
        "questions": _questions,
        "grounded-questions": _grounded,
        "reverse-questions": _reverse,
        "claim-select": _select,
        "claim-disambiguate": _disambiguate,
        "claim-decompose": _decompose,
        "support": _support,
    }
)
_FIRST = {
    "judge": {"reasoning": "Answer 1 reads well.", "winner": 1},
    "judge-decided": {"reasoning": "Answer 1 reads well.", "winner": 1},
    "judge-scored": {"reasoning": "Answer A reads well.", "score_a": 4, "score_b": 3, "winner": "A"},
}


def biased(task: str, share: float, draw: Callable[[str], float]) -> str | None:
    """A verdict for the first answer, in `share` of the requests; None where merit decides."""
    return json.dumps(_FIRST[task]) if task in _FIRST and draw("first answer") < share else None
