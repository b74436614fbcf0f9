"""What the scripted server says to the tasks of single papers: plans, search words, facts that help, scores."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Body = dict[str, Any]

MARKS = (
    ("plan", '"steps"'),
    ("keywords", '"low_level"'),
    ("concepts", '"general"'),
    ("filter", '{"facts"'),
    ("triples", '"triples"'),
    ("triple-names", '"12,000 crowns"'),
    ("rank", '"scores"'),
)
_NAME = re.compile(r"[A-Z][\w’'-]*(?:\s+(?:of\s+)?[A-Z][\w’'-]*)*")
_ASKING = frozenset("Who Whom What Which When Where Why How Did Does Is Are Was Were And".split())


def message_of(body: Body) -> str:
    """What a call asks about: the last message of the user that objects to no reply."""
    said = [m["content"] for m in body["messages"] if m["role"] == "user"]
    return str(next(text for text in reversed(said) if not text.startswith("This reply cannot be used")))


def asked_in(message: str) -> str:
    """The question in a message, on whichever line it stands."""
    return next((line[10:] for line in message.split("\n") if line.startswith("Question: ")), "")


def listed_in(message: str) -> list[str]:
    """The numbered facts or passages of a message."""
    return re.findall(r"^\d+: (.+(?:\n(?!\n).*)*?)(?=\n\n|\n\d+: |\Z)", message, re.MULTILINE)


def is_about_methods(body: Body) -> str:
    """The task of a request without the name of a form, by what its instructions and its first example hold."""
    opening = " ".join(m["content"] for m in body["messages"][:3] if m["role"] != "user")
    return next((task for task, mark in MARKS if mark in opening), "")


def _names_and_themes(message: str) -> tuple[list[str], list[str]]:
    asked = asked_in(message)
    names = [n for n in dict.fromkeys(_NAME.findall(asked)) if n not in _ASKING]
    words = [w for w in re.findall(r"[a-z]{4,}", asked) if w not in ("what", "were", "that", "with")]
    return names, words


def _keywords(message: str) -> Body:
    names, themes = _names_and_themes(message)
    return {"high_level": themes, "low_level": names}


def _concepts(message: str) -> Body:
    names, themes = _names_and_themes(message)
    return {"named": names, "general": themes}


def _filter(message: str) -> Body:
    """The facts with a longer word of the question, four at most."""
    asked = set(re.findall(r"\w{4,}", asked_in(message).casefold()))
    said = [set(re.findall(r"\w{4,}", fact.casefold())) for fact in listed_in(message)]
    return {"facts": [n for n, words in enumerate(said, 1) if words & asked][:4]}


def _rank(message: str) -> Body:
    asked = set(re.findall(r"\w{4,}", asked_in(message).casefold()))
    said = [asked & set(re.findall(r"\w{4,}", text.casefold())) for text in listed_in(message)]
    return {"scores": [{"id": n, "score": min(10, 2 * len(words))} for n, words in enumerate(said, 1)]}


def _plan(message: str) -> Body:
    """A look-up for each of the first three longer words of the question."""
    asked = [w for w in re.findall(r"\w+", asked_in(message)) if len(w) > 3][:3] or ["it"]
    steps = [{"question": f"What is said of {w}?", "action": ""} for w in asked]
    return {"steps": [*steps, {"question": "The last", "action": f"Output(#{len(steps)})"}]}


def _triple_names(message: str) -> Body:
    text = message.partition("Text:\n")[2]
    return {"entities": [*dict.fromkeys(_NAME.findall(text)), *dict.fromkeys(re.findall(r"\b\d{4}\b", text))]}


def _triples(message: str) -> Body:
    """Of each sentence its first name, the word after it, and each further name or year."""
    triples = []
    for sentence in re.split(r"(?<=[.!?])\s+", message.partition("Text:\n")[2].partition("\n\nNamed entities:")[0]):
        ends = re.findall(rf"{_NAME.pattern}|\b\d{{4}}\b", sentence)
        verb = re.findall(r"\b[a-z]+\b", sentence)[:1]
        triples += [{"subject": ends[0], "predicate": v, "object": e} for e in ends[1:] for v in verb]
    return {"triples": triples}


ABOUT_METHODS: dict[str, Callable[[str], Body]] = {
    "keywords": _keywords,
    "concepts": _concepts,
    "filter": _filter,
    "rank": _rank,
    "plan": _plan,
    "triple-names": _triple_names,
    "triples": _triples,
}
