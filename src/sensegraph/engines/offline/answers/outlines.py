"""An answer about the whole corpus from its outline: each line with the sentence that says most on it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from sensegraph.engines.offline.answers.asked import show_sentence
from sensegraph.engines.offline.answers.source_sentences import (
    SourceSentence,
    differs_from,
    find_hosts,
    group_by_reference,
    read_source_sentences,
)
from sensegraph.engines.offline.reports.sentence_quality import rate_generality, rate_soundness
from sensegraph.language.word_lists import read_lexicon
from sensegraph.types import Passage, Statement

DEFINES, BEGINS, LEADING, UNNAMED = 1.5, 1.1, 0.7, 0.6  # worth of what defines, begins with it, of a host, of nobody
OTHERWISE = 0.8  # what is left where the title stands there with other capitals, or in parts
LATE = 0.4  # what a sentence loses that comes to the title at its end
SAYS_WHAT = 1.3  # worth of a sentence that says within what it is
LATER, LATER_SAID = 0.9, 0.97  # what each place behind leaves; of what is said
POINTS, OPENED = 0.85, 0.5  # what each word that points elsewhere leaves, and an opening that leans on what was before
EARLY, BEGINNING = 0.4, 30  # what one leaves in so many first characters of what is said: it stands for nothing in it
PRESENTS = 0.6  # worth of a sentence that presents somebody by the full name
UNKNOWN = 0.5  # what a person leaves there who was not named before
LEAST, LEAST_SAID = 0.005, 0.1  # below this a sentence is not shown; one that somebody says
_POINTING = re.compile(r"\b(?:it|this|that|they|them|he|she|him|her|those|these|there|here)\b", re.IGNORECASE)
_COUNTED = re.compile(
    r" – [\d,]+ of [\d,]+ (?:documents|conversations)"
)  # the line of a theme, not of a part or a group
_PERSON = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
_FULL_NAME = re.compile(r"(?:Dr\.? )?[A-Z][\w'’-]+ [A-Z][\w'’-]+,? (?:is|was)\b")
_FIRST_NAME = re.compile(r"([A-Z][a-z]+)(?:['’]s)?,? [a-z]")
_NAMED = re.compile(r"\s[A-Z][a-z]")
_OPENED = re.compile(
    r"\W*(?:and|but|so|or|like|well|yeah|right|you know|i mean|i don['’]t know|of course|instead|for example|"
    r"in any case|because|whereas|"
    r"(?:it|this|that|there|here|what)(?:['’]s| is| was)|(?:tell|let)\b|a lot of people|people)\b",
    re.IGNORECASE,
)


def write_outline(passages: Sequence[Passage], code: str) -> Iterator[Statement]:
    """The lines of an outline in order, below each the best of its sentences that is not like one shown before."""
    by_reference = group_by_reference(read_source_sentences(passages, code))
    every = [s for own in by_reference.values() for s in own]
    hosts, talk = find_hosts(every), any(s.speaker for s in every)
    shown: list[SourceSentence] = []
    for i, passage in enumerate(passages):
        if not passage.title and passage.quotes:  # each of them tells something
            yield Statement(f"\n\n{passage.text}\n")
            for one in by_reference.get(passage.id, ()):
                shown.append(one)
                yield one.cite(f"\n- {show_sentence(one)}")
            continue
        best = _choose_sentence(passage.title, by_reference.get(passage.id, ()), hosts, talk, shown)
        if best is None and _COUNTED.search(passage.text):
            continue  # a theme on which no sentence says anything
        yield Statement(("\n\n" if i else "") + passage.text)
        if best:
            shown.append(best)
            yield best.cite(f"\n{show_sentence(best)}")


def _choose_sentence(
    title: str,
    sentences: Sequence[SourceSentence],
    hosts: frozenset[str],
    talk: bool,
    shown: Sequence[SourceSentence],
) -> SourceSentence | None:
    """The sentence that says most on a title by itself; one that defines it is worth more."""
    name = re.escape(title.partition(" (")[0])
    defines = re.compile(
        rf"^\W*(?:(?:an?|the)\s+)?{name}s?,?\s+(?:is|are|was|were|means?|refers?|has|have|can)\b",
        re.I,
    )
    says_what = re.compile(rf"\b{name}s?\s+(?:is|are)\s+(?:an?|the|about|not|more|what|how|kind|like|all)\b", re.I)
    begins = re.compile(rf"^\W*(?:(?:an?|the)\s+)?{name}", re.IGNORECASE)
    stands = re.compile(name, re.IGNORECASE)
    later, least = (LATER_SAID, LEAST_SAID) if talk else (LATER, LEAST)
    scored = []
    for place, one in enumerate(sentences):
        sound = rate_soundness(one.text)
        presents = talk and sound < 1 and _FULL_NAME.match(one.text)
        value = one.quality * (PRESENTS if presents else sound)
        value *= rate_generality(one.text) if talk and not presents else 1.0
        value *= OPENED if _OPENED.match(one.raw) else 1.0
        value *= math.prod(EARLY if talk and m.start() < BEGINNING else POINTS for m in _POINTING.finditer(one.text))
        person = _PERSON.search(one.text)
        unknown = person and not _NAMED.search(one.text, 0, person.start())
        first = _FIRST_NAME.match(one.text)
        unknown = unknown or (first and first[1].casefold() in read_lexicon("people")["first"])
        value *= UNKNOWN if talk and unknown else 1.0
        value *= (
            DEFINES if defines.search(one.text) else SAYS_WHAT if says_what.search(one.text)
            else BEGINS if begins.search(one.text) else 1.0
        )  # fmt: skip
        value *= LEADING if one.speaker in hosts else 1.0
        found = stands.search(one.text)
        written = f"{one.text[:1].lower()}{one.text[1:]} {one.text}"  # a sentence has a capital from its place there
        value *= 1.0 if title.partition(" (")[0] in written else OTHERWISE
        value *= 1 - LATE * (found.start() / len(one.text) if found else 1.0)
        value *= UNNAMED if talk and not one.speaker else 1.0
        scored.append((-value * later**place, one.order, one))
    ranked = (one for value, _, one in sorted(scored, key=lambda x: x[:2]) if -value >= least)
    return next((one for one in ranked if differs_from(one, shown)), None)
