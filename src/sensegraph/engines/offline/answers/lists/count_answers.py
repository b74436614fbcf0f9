"""Answers to how many there are: the number that a text of the time gives with the unit, else those that are named.

A number holds from the day of its text until a later text gives another. Where texts of the same time disagree, both
are shown. Where no text gives a number, the things are counted that the texts name: at least so many.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.corrections import Preferred, list_preferred, prefer_corrections
from sensegraph.engines.offline.answers.dated import find_asked_time
from sensegraph.engines.offline.answers.lists.dating import find_exact_date, is_within
from sensegraph.engines.offline.answers.lists.items import HELD, Gathering
from sensegraph.engines.offline.answers.lists.list_answers import FEWEST, are_sure, list_items
from sensegraph.engines.offline.answers.question_text import split_question
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.language.asking.kinds import NUMBER, AskedKind, read_asked_kind
from sensegraph.language.dates.moments import find_atoms, first_instant, instant_after
from sensegraph.language.text import WORD

WHOLE = 0.75  # share of the question's other words that must stand with a number where no time is asked about
STALE = 13  # months after which a number says nothing of a later time
_ABOUT = re.compile(
    r"\b(?:more\s+than|less\s+than|fewer\s+than|over|about|around|nearly|almost|some|up\s+to|at\s+least|roughly|"
    r"approximately|mehr\s+als|rund|etwa|über|fast)\s*$",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"^\s*(?:does|do|did|is|are)\s+(?P<who>.+?)\s+(?:agree|match|confirm|say\s+(?:so|the\s+same)|the\s+same|consistent)\b",
    re.IGNORECASE,
)
_BARE = re.compile(rf"(?<![\w.,-])({NUMBER})(?=\s*[.,;:)]|\s*$|\s+(?:and|or|und)\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with the unit that is asked for, in a sentence; `rough` says that it is about, or more than, so many."""

    text: str
    sentence: SourceSentence
    date: str
    rough: bool

    def is_from(self, words: set[str]) -> bool:
        """Whether it is from the text that these words name."""
        own = {w.casefold() for w in WORD.findall(f"{self.sentence.document} {self.sentence.raw}")}
        return bool(words) and words <= own

    def stands_alone(self) -> bool:
        """Whether no other number of the sentence may be the one: "116, of which 14 come back, which leaves 102"."""
        text = self.sentence.raw
        for atom in reversed(find_atoms(text)):
            text = text[: atom.start] + text[atom.end :]
        bare = (text[: m.start()] for m in _BARE.finditer(text))
        return all(re.search(r"\b[A-Z][\w-]*\s$", before) for before in bare)  # as in "Apollo 11"


def answer_count(asked: Asked) -> Written | None:
    """How many there are of what the question names; None for other questions, and where nothing dated tells."""
    parts = split_question(asked.question)
    kind = read_asked_kind(parts[0])
    if kind is None or not kind.counts:
        return None
    compared = next((m["who"] for part in parts[1:] if (m := _AGREES.match(part))), "")
    if len(parts) > 1 and not compared:
        return None
    reading = Gathering(kind, asked)
    if (figures := find_figures(kind, reading)) and (told := _tell_figure(figures, reading, asked, compared)):
        return told
    if figures or compared:
        return None
    items = reading.gather()
    if len(items) < FEWEST or not are_sure(items):
        return None
    least = "" if asked.counted and not asked.counted.partial else "At least "
    heading = f"{least}{len(items)} {' '.join(kind.words)} are named:"
    return Written(tuple(list_items(items, asked, heading)))


def find_figures(kind: AskedKind, reading: Gathering) -> list[Figure]:
    """The numbers that stand with the unit in the sentences of the context."""
    rule = re.compile(
        rf"(?<![\w.,-])({NUMBER})\s+(?:(?!of\b|and\b|in\b)[\w-]+\s+){{0,2}}?{kind.pattern}\b", re.IGNORECASE
    )
    found = []
    for s in reading.asked.sentences:
        if match := rule.search(s.raw):
            rough = _ABOUT.search(s.raw[: match.start()]) is not None
            found.append(Figure(" ".join(match[0].split()), s, reading.dated.date(s), rough))
    return found


def _tell_figure(figures: Sequence[Figure], reading: Gathering, asked: Asked, compared: str) -> Written | None:
    """The number of the time that is asked about, or the latest; None where the texts that give one have no dates."""
    other = set(WORD.findall(compared.casefold())) - {"the", "a", "an", "this", "that"}
    time = find_asked_time(asked.question) or find_exact_date(asked.question)  # of a day the number that held then
    least = HELD if time else WHOLE
    shares = {f.sentence.source: reading.share(f.sentence) for f in figures}
    fitting = [
        f for f in figures if f.date and not f.rough and shares[f.sentence.source] >= least and not f.is_from(other)
    ]  # fmt: skip
    end = instant_after(time) if time else None
    eligible = [f for f in fitting if end is None or first_instant(f.date) < end]
    if not eligible or (end is None and len({f.date for f in fitting}) < 2):
        return None
    latest = max(f.date for f in eligible)
    if time and _count_months(time) - _count_months(latest) > STALE:
        return None
    best = [f for f in eligible if f.date == latest]
    chosen = max(best, key=lambda f: (shares[f.sentence.source], -f.sentence.order))
    mended = prefer_corrections([chosen.sentence], asked.sentences)
    said = [p.sentence for p in mended]
    more = [
        f for f in figures
        if f.date and f.text.split()[0] not in chosen.sentence.raw and differs_from(f.sentence, said)
        and (compared or shares[f.sentence.source] >= HELD)
        and (is_within(f.date, [(first_instant(time), instant_after(time))]) if time else f.date == latest)
    ]  # fmt: skip
    lead = f"**{chosen.text}**: " if not mended[1:] and chosen.stands_alone() else ""
    statements = list_preferred([*mended, *(Preferred(f.sentence) for f in more[:1])], lead)
    if compared and not more:
        return None
    if compared:
        statements[-1] = more[0].sentence.cite(f"\n\nThe sources do not agree: {show_sentence(more[0].sentence)}")
    return Written(tuple(statements))


def _count_months(moment: str) -> int:
    return 12 * int(moment[:4]) + (int(moment[5:7]) - 1 if len(moment) > 4 else 11)
