"""A question that leans on the one before it, made whole: what "he" is, and what "and why?" goes on with (N58).

Lexical, and no more than that: words of the earlier question are added where the new one says nothing by itself, or
points to someone without a name. The pronouns are those of English, German, French, Spanish and Chinese.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sensegraph.engines.offline.answers.question_coverage import (
    EMPTY,
    NAME,
    TOKEN,
    WantedWords,
    find_han_runs,
    guess_language,
    read_wanted_words,
)
from sensegraph.engines.offline.reports.sentence_quality import stem_text
from sensegraph.language.text import HAN, WORD
from sensegraph.language.word_lists import read_alternatives
from sensegraph.types import Inquiry

_TURNS = 5  # earlier questions that are looked at
CUES = read_alternatives("cues")
_POINTS = re.compile(rf"\b(?:{CUES['pronouns']})\b|[他她它这那其]", re.IGNORECASE)
_PERSONS = re.compile(rf"\b(?:{CUES['personal-pronouns']})\b|[他她它]", re.IGNORECASE)
_IT = re.compile(r"\b(?:its?|es)\b", re.IGNORECASE)  # often stands for nothing: "when is it best to …"
_WHOLE = re.compile(rf"\b(?:{CUES['asking-for-themes']})\b|主题|主要内容|概述|总结", re.IGNORECASE)
_FEW = 1  # content words up to which "it" is taken to stand for something
_SHORT = 3  # words up to which a question without content goes on with the one before ("Why?", "And then?")


def resolve_history(inquiry: Inquiry) -> Inquiry:
    """The inquiry with a question that can be understood alone; the same where it could be before.

    Without words of its own it borrows all those of the question before it; with a pronoun but no name, its names, or
    all where it has none.
    """
    if not inquiry.history:
        return inquiry
    last = ""
    for question in (*(t.question for t in inquiry.history[-_TURNS:]), inquiry.question):
        own, earlier = (
            read_wanted_words(question, guess_language(question)),
            read_wanted_words(last, guess_language(last)),
        )
        named = any(weight == NAME for weight in own.weights.values())
        content = sum(weight > EMPTY for weight in own.weights.values())
        borrowed: list[str] = []
        if not content and not _WHOLE.search(question):
            # a question without content words means what was asked before, or else the whole corpus
            if _POINTS.search(question) or len(WORD.findall(question)) <= _SHORT:
                borrowed = _borrow_words(last, earlier, 0.0)
        elif content and not named and (_PERSONS.search(question) or (content <= _FEW and _IT.search(question))):
            borrowed = _borrow_words(last, earlier, NAME) or _borrow_words(last, earlier, 0.0)
        last = question
        if borrowed:
            comma, mark = ("，", "？") if HAN.search(question) else (", ", "?")
            last = comma.join([question.rstrip(" ?？.!。！"), *borrowed]) + mark
    return replace(inquiry, question=last)


def note_reading(asked: Inquiry, read: Inquiry) -> tuple[str, ...]:
    """What to say of an answer whose question was read otherwise than it was put; nothing where it was not."""
    if asked.question == read.question:
        return ()
    return (f"the question leans on the conversation, and was read as: {read.question}",)


def _borrow_words(question: str, wanted: WantedWords, least: float) -> list[str]:
    """The stretches of `question` whose words weigh `least` or more, as they are written."""
    code = guess_language(question)
    if HAN.search(question):
        return find_han_runs(question) if least < NAME else []
    runs: list[list[str]] = [[]]
    for word in TOKEN.findall(question):
        weight = max((wanted.weights.get(t, 0.0) for t in stem_text(word, code)), default=0.0)
        if weight and weight >= least:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return list(dict.fromkeys(" ".join(run) for run in runs if run))
