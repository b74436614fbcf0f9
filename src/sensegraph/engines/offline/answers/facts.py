"""Answers to questions of fact: the sentence that answers first, what leads to it, and no more than is needed.

What a rule is sure of stands before the sentence in bold: the one date or number of the asked kind. Where the passages
hold no answer, the answer says so, names the words of the question that stand nowhere, and shows what comes nearest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sensegraph.engines.offline.answers.asked import (
    Asked,
    Written,
    list_led_commands,
    list_led_in,
    list_sentences,
    show_sentence,
)
from sensegraph.engines.offline.answers.corrections import Preferred, list_preferred, prefer_corrections
from sensegraph.engines.offline.answers.dated import choose_dated, favour_dated, favour_ends
from sensegraph.engines.offline.answers.features import FEATURES, Floats, Read, read_evidence, stem_units
from sensegraph.engines.offline.answers.lists.identifiers import favour_identified, favour_numbered
from sensegraph.engines.offline.answers.lists.versions import find_version
from sensegraph.engines.offline.answers.question_text import split_question
from sensegraph.engines.offline.answers.ranking import TWO_HOPS, holds_answer, load_weights, rate_sentences
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.engines.offline.reports.sentence_quality import join_with_and
from sensegraph.language.asking.answer_types import Candidate, find_answer_type, find_candidates, find_names
from sensegraph.language.asking.kinds import is_plural
from sensegraph.language.asking.question_words import read_asked_type
from sensegraph.language.asking.sentence_cues import asks_for_maker, goes_on, names_maker
from sensegraph.language.text import WORD, name_stemmer
from sensegraph.language.word_lists import ENGLISH
from sensegraph.types import Statement

SURE, LIKELY = 0.6, 0.15  # chance of the best sentence from which it needs no word before it, or one
ENOUGH = 0.93  # chance of what is shown from which nothing more is
LEAST = 0.05  # share of the best sentence's chance below which another is not shown
NEAREST = 0.4  # share of the question that a sentence must hold by itself to be shown where nothing answers
MOST, DEPTH = 3, 5  # sentences shown, and those that they are taken from
WORDS, WORDS_BOTH = 110, 92  # most words shown, and for a question of two hops; the first sentence is shown whole
TIED, LONG = 0.6, 160  # share of the best sentence's chance from which one is as good; most words with such a one
LABEL, NAMED_FIRST = 4, 1.5  # words of a label; how it counts, as the best sentence, where it has the question's verb
_SUBSTANCE = re.compile(r"\d+|\b(?:not|no|never|cannot|neither)\b|n['’]t\b")
_ENDS = (".", "!", ":", "。", "！", "：", '."', ".”")
_WHO_DOES = re.compile(r"\bwho\s+(\w+)", re.IGNORECASE)
_POINTING = re.compile(r"\b(?:it|he|she|they|him|her|them|that|this|er|sie|es|il|elle|él|ella)\b", re.IGNORECASE)
_BOUND = re.compile(  # what stands before a date or a number and says that it is none
    r"(?:\b(?:(?:not\s+|just\s+|shortly\s+)?(?:before|after|by|until|since|around|about)|no\s+later\s+than|(?:more|less|fewer)\s+than|"
    r"at\s+(?:least|most)|up\s+to|over|under|nearly|almost|roughly|approximately|early|late|mid|(?:the\s+)?(?:very\s+)?(?:end|"
    r"beginning|start|middle|(?:first|second|third|fourth)\s+(?:half|quarter))\s+of|vor|nach|seit|bis|etwa|rund|über|mindestens)"
    r"(?:\s+(?:the|in))?[\s-]+)+$",
    re.IGNORECASE,
)
_WITHIN = re.compile(r"\b(?:in|of|for|with|by)\s+([a-z][\w-]*)\W*$")
_UNIT = re.compile(r"how many\s+(\w+)|wie ?viele?\s+(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found for one part of a question: sentences, best first, their chances, and whether they hold it."""

    read: Read
    order: tuple[int, ...]
    chances: Floats
    gate: float
    holds: bool

    @property
    def best(self) -> float:
        """The chance of the best sentence."""
        return float(self.chances[self.order[0]])


def answer_fact(asked: Asked) -> Written | None:
    """The answer to a question of fact, part by part where it asks for several; None where nothing can be compared."""
    parts = split_question(asked.question)[:MOST]
    found = [_find_part(asked, part) for part in parts]
    first = found[0]
    if first is None:
        return None
    if len(parts) == 1 or not any(one and one.holds for one in found):
        return _answer_part(asked, first)
    chosen: list[Preferred] = []
    unsaid = []
    for part, one in zip(parts, found, strict=True):
        if one and one.holds:
            said = choose_fact_sentences(one.read, one.order, one.chances, one.gate, most=2)
            shown = [p.sentence for p in chosen]
            chosen += [p for p in prefer_corrections(said, asked.sentences) if differs_from(p.sentence, shown)]
        else:
            unsaid.append(part.strip(" ,?"))
    silent = [Statement(f"\n\nThe sources do not say: {'; '.join(unsaid)}.")] if unsaid else []
    return Written((*list_preferred(chosen), *silent))


def _leans(part: str) -> bool:
    """Whether a part of a question cannot be understood without the one before it ("and why", "who announced it")."""
    return _POINTING.search(part) is not None or len(WORD.findall(part)) < 3


def _find_part(asked: Asked, part: str) -> _Found | None:
    """The sentences for one part of a question; one that leans is compared by the words of the whole."""
    weights = load_weights()
    text = asked.question if _leans(part) else part
    passages = choose_dated(asked)
    read = read_evidence(text, passages, asked.sentences, asked.counted, find_answer_type(part))
    if read is None:
        return None
    chances, gate = rate_sentences(read, weights)
    if text != asked.question:  # what answers a part speaks of the rest too
        together = read_evidence(asked.question, passages, asked.sentences, asked.counted)
        chances = _join_chances(chances, rate_sentences(together, weights)[0]) if together else chances
    chances = favour_numbered(text, read, favour_identified(text, read, favour_dated(asked, read, chances)))
    chances = _favour_labels(part, read, favour_ends(part, read, chances))
    order = prefer_statement(read, [int(i) for i in np.argsort(-chances, kind="stable")], chances)
    best = read.sentences[order[0]]
    timed = read_asked_type(part)[0] == "date"  # no sentence without a date says when
    dated = any(read.features[i, FEATURES.index("typed")] for i in order[:2] if read.sentences[i].origin == best.origin)
    within = _WITHIN.search(part)  # what is asked of "zsh" is told by no text that never names it
    lost = within is not None and within[1] in read.missing and not is_plural(within[1])
    holds = holds_answer(read, weights, gate) and (dated or not timed) and not lost
    if holds and asks_for_maker(part):
        held = ((read.sentences[i], *list_led_in(read.sentences, i)) for i in order[:2])  # a label with what it is of
        holds = any(names_maker(" ".join(one.raw for one in own), part) for own in held)
    return _Found(read, order, chances, gate, holds)


def _favour_labels(question: str, read: Read, chances: Floats) -> Floats:
    """The chances where somebody is asked for, most for the label with a word of the question ("Created by:")."""
    best = int(chances.argmax())
    asked = _WHO_DOES.search(question)
    held = read.stems.intersection(stem_units(asked[1], ENGLISH)) if asked else frozenset[str]()
    weighed = chances.copy()
    for i, one in enumerate(read.sentences):
        label = one.raw.rstrip().endswith(":") and len(WORD.findall(one.raw)) <= LABEL
        if label and one.origin == read.sentences[best].origin and held.intersection(stem_units(one.raw, ENGLISH)):
            weighed[i] = max(weighed[i], NAMED_FIRST * chances[best])
    return np.asarray(weighed / weighed.sum())


def _join_chances(one: Floats, other: Floats) -> Floats:
    """The geometric mean of two lots of chances for the same sentences, which add up to 1 again."""
    joined = np.sqrt(one * other)
    return np.asarray(joined / joined.sum())


def _answer_part(asked: Asked, found: _Found) -> Written:
    """The answer to a question that asks for one thing."""
    if not found.holds:
        own = found.read.features[:, FEATURES.index("own")]
        near = (found.read.sentences[i] for i in found.order[:DEPTH] if own[i] >= NEAREST)
        nearest = [one for one in near if _comes_near(one, asked.question, found.read)][:1]
        return Written((_tell_nothing(found.read), *list_sentences(nearest, "\n\nWhat comes nearest: ")), True)
    shown = choose_fact_sentences(found.read, found.order, found.chances, found.gate)
    chosen = prefer_corrections(shown, asked.sentences)
    sure = found.best >= SURE
    plain = sure and found.gate < TWO_HOPS and chosen[0].sentence is shown[0]
    bold = _find_answer(asked.question, found.read, found.order[0]) if plain else ""
    lead = "" if sure else "Most likely: " if found.best >= LIKELY else "What comes nearest: "
    first = chosen[0].sentence
    version = find_version(asked.question, found.read.sentences, found.order[0]) if first is shown[0] else None
    if version:
        named, heading = version
        told = f"**{named}**: {show_sentence(first)}"
        return Written((Statement(told, (first.reference,), (heading.source, first.source)),))
    lines = list_preferred(chosen[:1], f"**{bold}**: ") if bold else list_preferred(chosen, lead)
    return Written(tuple(lines), nearest=found.best < LIKELY)


def _comes_near(one: SourceSentence, question: str, read: Read) -> bool:
    """Whether a sentence holds two words of the question, or one that is a name, a number, or the only one."""
    spoken = name_stemmer(question)
    held = read.stems.intersection(stem_units(one.raw, spoken))
    telling = [word for word in WORD.findall(question)[1:] if word[0].isupper() or word.isdigit()]
    return len(held) >= min(2, len(read.stems)) or not held.isdisjoint(stem_units(" ".join(telling), spoken))


def _tell_nothing(read: Read) -> Statement:
    """That there is no answer, and which words of the question stand nowhere."""
    text = "The sources do not answer this."
    if read.missing:
        words = join_with_and([f"“{word}”" for word in read.missing[:3]])
        text += f" {words} {'stands' if len(read.missing) == 1 else 'stand'} nowhere in them."
    return Statement(text)


def choose_fact_sentences(
    read: Read, order: Sequence[int], chances: Floats, gate: float, most: int = MOST
) -> list[SourceSentence]:
    """The sentences to show, best first: with what leads to the best one behind it, none that says the same again."""
    best = order[0]
    chosen = [read.sentences[best], *list_led_in(read.sentences, best)]
    if read.kind == "person" and len(chosen) > 1:  # a label with the names below it is all that is asked for
        return chosen
    length, shown = sum(len(one.text.split()) for one in chosen), float(chances[best])
    most += len(chosen) - 1
    leads, room = (read.because[best], WORDS_BOTH) if gate >= TWO_HOPS else (-1, WORDS)
    follows = _find_follower(read, best) if most == MOST else -1
    for i in dict.fromkeys((*[i for i in (leads, follows) if i >= 0], *order[1:DEPTH])):
        one = read.sentences[i]
        asks = not one.speaker and one.raw.rstrip().endswith(("?", "？"))
        if i != leads and (asks or read.headings[i]):
            continue  # it only names or asks what others say
        size = len(one.text.split())
        said = len(chosen) - (leads >= 0 and read.sentences[leads] in chosen)
        far = shown >= ENOUGH or chances[i] < LEAST * chances[best]
        if said >= most or (far and i not in (leads, follows)):
            break
        tied = gate < TWO_HOPS and chances[i] >= TIED * chances[best]
        if length + size <= (LONG if tied else room) and (
            differs_from(one, chosen) or (tied and _differs_in_substance(one, chosen))
        ):
            commands = list_led_commands(read.sentences, i)[:1]
            chosen += [one, *(command for command in commands if command not in chosen)]
            length += size
            shown += float(chances[i]) * (i != leads)
    return chosen


def _differs_in_substance(one: SourceSentence, chosen: Sequence[SourceSentence]) -> bool:
    """Whether a sentence has a number or a denial that no chosen one has: much alike, it still says something else."""
    return not set(_SUBSTANCE.findall(one.text)) <= {n for other in chosen for n in _SUBSTANCE.findall(other.text)}


def prefer_statement(read: Read, order: Sequence[int], chances: Floats) -> tuple[int, ...]:
    """The order without a best one that only names what another, as likely, says as a whole sentence."""
    best = read.sentences[order[0]]
    for i in () if best.raw.rstrip().endswith(_ENDS) else order[1:DEPTH]:
        one = read.sentences[i]
        longer = len(one.raw) > len(best.raw) and one.raw.rstrip().endswith(_ENDS)
        if longer and chances[i] >= TIED * chances[order[0]] and not differs_from(one, [best]):
            return (i, *(other for other in order[1:] if other != i))
    return tuple(order)


def _find_follower(read: Read, best: int) -> int:
    """The sentence right behind the best one, where it goes on with it and adds words of the question; else −1."""
    i = best + 1
    if i == len(read.sentences) or read.sentences[i].reference != read.sentences[best].reference:
        return -1
    return i if goes_on(read.sentences[i].raw) and read.union[i] > read.union[best] else -1


def _find_answer(question: str, read: Read, best: int) -> str:
    """The date or number that answers, where the sentence has one only, or one only with the unit that is asked for."""
    if read.kind not in ("date", "number"):
        return ""
    text = read.sentences[best].text
    spoken = name_stemmer(question)
    found = [
        c for c in find_candidates(read.kind, text, find_names(text))
        if not frozenset(stem_units(c.text, spoken)) <= read.stems
    ]  # fmt: skip
    unit = _UNIT.search(question) if read.kind == "number" else None
    if unit:
        wanted = frozenset(stem_units(next(filter(None, unit.groups())), spoken))
        found = [c for c in found if wanted & frozenset(stem_units(" ".join(_words_behind(text, c)), spoken))]
    if len(found) != 1:
        return ""
    bound = _BOUND.search(text[: found[0].start])
    if bound and bound[0].split()[0].casefold() not in question.casefold().split():  # not in "Since when …?"
        return f"{bound[0]}{found[0].text}"
    return found[0].text


def _words_behind(text: str, found: Candidate) -> list[str]:
    """The two words behind a number, with those in it."""
    return WORD.findall(text[found.start : found.end + 40])[: len(WORD.findall(found.text)) + 2]
