"""Themes: sentences that turn on the same phrase, which of them tell most, and how an answer words them.

A sentence is reported in indirect speech ("Ann Lee argues that wind farms need steady wind") only where it stays true
word for word: it speaks of a thing, not of its speaker or hearer, and points at nothing outside itself. All others are
quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sensegraph.engines.offline.answers.questions import WEAK, Phrase, find_key_phrases
from sensegraph.engines.offline.answers.source_sentences import (
    SourceSentence,
    choose_varied,
    differs_from,
)
from sensegraph.engines.offline.reports.sentence_quality import (
    introduces_person,
    join_with_and,
    quote_text,
    rate_generality,
    rate_soundness,
    spell_number,
)
from sensegraph.language.text import WORD, detect_language, known_form, tag_words
from sensegraph.language.word_lists import read_alternatives, read_lexicon, read_list
from sensegraph.types import Statement

SHORTEST, LONGEST = 7, 34  # words of a clause that is reported
GENERAL = 0.8  # generality from which a sentence states something
CUES = read_alternatives("cues")
_OPENING = re.compile(
    rf"^(?:(?:{CUES['asides']}),? |(?:I|we) (?:(?:really|also|do|always|strongly|just|still) )*"
    r"(?:think|believe|know|say|feel|argue|guess|suspect)(?: that)?,? (?!of\b|about\b|to\b|like\b|so\b))+",
    re.IGNORECASE,
)
_PERSONAL = re.compile(CUES["personal-clauses"], re.IGNORECASE)
_POINTS = re.compile(rf"^(?:{CUES['pointing-openings']})\b|{CUES['pointing']}", re.IGNORECASE)
_LOOSE = re.compile(rf"[“”\"‘:;?!…—–\[\]()]|\s-+\s|{CUES['loose-clauses']}", re.IGNORECASE)
_PAST = re.compile(CUES["past-clauses"], re.IGNORECASE)
_PREDICATE = re.compile(r"(?:[dsJ#pg]*|[dsJ#]+r[Jp])[nNXgJ](?:[nNXgJsp]|[ic](?=[dsJ#pg]*[nNXgJ])[dsJ#pg]*)*r*[mvb]")
_TOGETHER = frozenset("can cannot can't could should must need".split())  # what "we" of everybody do
_BE = re.compile(r"^(?:is|are|can|cannot|will|has|have|should|must|needs?|means?|makes?|requires?|allows?|may|might)$")


@lru_cache(maxsize=1 << 14)
def make_reported_clause(text: str) -> str:
    """The tidied sentence `text` as it follows "that"; "" where it cannot be said so (or is not English).

    It has no capital that only begins a sentence: names and acronyms keep theirs.
    """
    bare = _OPENING.sub("", text.strip())
    words = WORD.findall(bare)
    if not SHORTEST <= len(words) <= LONGEST or not bare.endswith(".") or detect_language(text) != "en":
        return ""
    bare = bare.rstrip(" .")
    barred = _PERSONAL.search(bare) or _POINTS.search(bare) or _LOOSE.search(bare) or introduces_person(bare)
    first, low = words[0], words[0].casefold()
    if barred or not _begins_with_predicate(words) or low.replace("’", "'").endswith("'s"):
        return ""
    common = first[1:].islower() and known_form(low) and low not in read_lexicon("people")["first"]
    return bare[:1].lower() + bare[1:] if low == "a" or common else bare


def make_general_clause(text: str) -> str:
    """`clause` of a sentence that states something general; "" for one that tells what happened."""
    found = make_reported_clause(text)
    return found if found and rate_generality(f"{found}.") >= GENERAL and not _PAST.search(found) else ""


def _begins_with_predicate(words: list[str]) -> bool:
    """Whether the words begin with a noun phrase that a finite verb or auxiliary follows ("we need" too)."""
    first = words[0].casefold()
    named = words[0][1:].islower() and first in read_lexicon("people")["first"]
    if named or (first == "we" and words[1].casefold() not in _TOGETHER):
        return False
    if first in ("we", "people"):
        return tag_words([words[1].casefold()]) in "mvb" and not words[1].endswith("ed")
    letters = tag_words([first if words[0][1:].islower() else words[0], *words[1:]])
    letters = "".join(
        "b" if i and letter == "n" and word in read_list("verbs") and words[i - 1].endswith("s") else letter
        for i, (letter, word) in enumerate(zip(letters, words, strict=True))
    )
    match = _PREDICATE.match(letters)
    if not match:
        return False
    at, before = match.end() - 1, words[match.end() - 2].casefold()
    plural = before.endswith("s") and not before.endswith(("ss", "us", "is"))
    fits = letters[at] != "b" or plural or before in ("people", "children", "and") or _BE.match(words[at]) is not None
    return fits and (words[at] == "need" or not words[at].endswith(("ing", "ed")))


# ── statements ───────────────────────────────────────────────────────────────────────────────────────────────────────

NOTE = "offline answer: sentences quoted from the sources, shortened"


_ROLE = re.compile(rf"\b(?:{CUES['roles']})\b", re.IGNORECASE)
_TONES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\?[\"”’]*$", ("asks", "wonders")),
    (r"\b(?:should|must|need to|needs to|have to|ought)\b", ("argues", "insists", "urges")),
    (r"\b(?:will|going to|gonna|in the future)\b", ("expects", "foresees", "predicts")),
    (r"\b(?:worry|worried|afraid|danger\w*|risk\w*|threat\w*|harm\w*|concern\w*)\b", ("warns", "cautions")),
    (r"\b(?:because|therefore|so that|which means|the reason)\b", ("explains", "reasons")),
    (r"\b(?:I|we|my|our)\b.*\b(?:was|were|had|did|went|started|began|used to|\w+ed)\b", ("recalls", "recounts")),
)
_PLAIN = ("says", "observes", "notes", "points out", "remarks", "puts it this way")


def spell_count(n: int, noun: str) -> str:
    """ "one passage", "14 passages"."""
    return f"{spell_number(n)} {noun}{'' if n == 1 else 's'}"


def refer_to(name: str) -> str:
    """A speaker as the subject of a clause: a role takes the article."""
    return f"the {name}" if _ROLE.search(name) else name


def begin_with(name: str) -> str:
    """A speaker as the first words of a sentence: a role takes the article, a name stays as its owner writes it."""
    return f"The {name}" if _ROLE.search(name) else name


def choose_reporting_verb(text: str, turn: int) -> str:
    """A reporting verb that suits `text`; `turn` varies it."""
    for pattern, verbs in _TONES:
        if re.search(pattern, text):
            return verbs[turn % len(verbs)]
    return _PLAIN[turn % len(_PLAIN)]


def write_reported_paragraph(sentences: Sequence[SourceSentence], turn: int = 0, bold: str = "") -> Iterator[Statement]:
    """A paragraph: at most two sentences in one that reports them, then the others quoted; `bold` comes first."""
    told = [(s, clause) for s in sentences if s.speaker and (clause := make_general_clause(s.text))][:2]
    if len(told) == 2 and told[0][0].speaker == told[1][0].speaker:
        told = told[:1]
    for i, (sentence, clause) in enumerate(told):
        says = ("argues", "holds", "points out", "says")[(turn + i) % 4]
        name = refer_to(sentence.speaker) if i else f"**{begin_with(bold)}**" if bold else begin_with(sentence.speaker)
        yield sentence.cite(f"{', while ' if i else ''}{name} {says} that {clause}{'.' if i == len(told) - 1 else ''}")
    rest = [s for s in sentences if all(s is not t for t, _ in told)]
    if told and rest:
        yield Statement(" ")
    yield from write_quoted_paragraph(rest, turn, bold="" if told else bold, last=told[-1][0].speaker if told else None)


def write_quoted_paragraph(
    sentences: Sequence[SourceSentence], turn: int = 0, *, bold: str = "", last: str | None = None
) -> Iterator[Statement]:
    """The sentences of a paragraph, each introduced by its speaker, with blanks between them.

    What nobody is known to have said is quoted by itself. `last` spoke before.
    """
    for i, sentence in enumerate(sentences):
        name = f"**{begin_with(sentence.speaker)}**" if bold and not i else begin_with(sentence.speaker)
        says = "adds" if sentence.speaker == last else choose_reporting_verb(sentence.text, turn + i)
        head = f"{name} {says}: " if sentence.speaker else ""
        yield sentence.cite(f"{' ' if i else ''}{head}{quote_text(sentence.text)}")
        last = sentence.speaker


# ── themes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Theme:
    """A title, its best sentences in the order to be read, all sentences behind it, and its weight."""

    title: str
    best: tuple[SourceSentence, ...]
    all: tuple[SourceSentence, ...]
    weight: float

    @property
    def passages(self) -> int:
        """The number of chunks behind it."""
        return len({s.chunk for s in self.all})


def group_by_phrase(
    sentences: Sequence[SourceSentence], scores: Sequence[float], avoid: frozenset[str], most: int, each: int
) -> tuple[list[Theme], list[SourceSentence]]:
    """At most `most` themes of at most `each` sentences, heaviest first, and the sentences in no theme.

    A theme is a key phrase (without a stem of `avoid`) that two sentences or more share; a sentence belongs to the
    heaviest of its phrases; a theme weighs the sum of its three best scores, a third more for a phrase of several
    words. Themes whose best score is less than half of the first one's are dropped: that is where answers drift.
    """
    phrases = find_key_phrases([s.text for s in sentences], 5 * most, avoid=avoid)
    phrases = [p for p in phrases if len(p.stems) > 1 or (len(p.hits) > 4 and p.text.casefold() not in WEAK)]

    def weight(phrase: Phrase) -> float:
        best = sorted((scores[i] for i in phrase.hits), reverse=True)[:3]
        return sum(best) * (1.33 if len(phrase.stems) > 1 else 1.0)

    themes: list[Theme] = []
    named: set[str] = set()
    several = len({s.chunk for s in sentences}) > 3
    free = dict(enumerate(sentences))
    shown: list[SourceSentence] = []
    for phrase in sorted(phrases, key=lambda p: (-weight(p), p.stems)):
        inside = sorted((i for i in phrase.hits if i in free), key=lambda i: (-scores[i], i))
        best = _vary_sources([free[i] for i in inside], shown, each)
        alone = len(best) < 2 or (several and len({free[i].chunk for i in inside}) < 2)
        if phrase.text in named or alone or (themes and scores[inside[0]] < 0.5 * themes[0].weight):
            continue
        # the title is the phrase, with the phrase that goes most with it
        hits, title = set(phrase.hits), [phrase.text]
        free_phrases = (p for p in phrases if p.text not in named and p is not phrase)
        others = [(len(hits & set(p.hits)), p.score, p.text) for p in free_phrases]
        shared, _, other = max(others, default=(0, 0.0, ""))
        title += [other] if shared >= max(2, len(hits) / 2) else []
        named.update(title)
        themes.append(Theme(join_with_and(title), best, tuple(free[i] for i in inside), scores[inside[0]]))
        shown += best
        free = {i: s for i, s in free.items() if i not in inside}
        if len(themes) == most:
            break
    return themes, list(free.values())


def _vary_sources(
    ranked: Sequence[SourceSentence], shown: Sequence[SourceSentence], each: int
) -> tuple[SourceSentence, ...]:
    """The first `each` that are not alike, at most two from one speaker and two from one chunk."""

    def is_crowded(one: SourceSentence, others: Sequence[SourceSentence]) -> bool:
        voices = sum(o.speaker == one.speaker for o in others) if one.speaker else 0
        return voices > 1 or sum(o.chunk == one.chunk for o in others) > 1

    return tuple(choose_varied((s for s in ranked if differs_from(s, shown)), each, is_crowded))


STATES = 1.6  # worth of a sentence that states something by itself
LEADING = 0.45  # worth of what a host says: the guests are asked for


def rate_sentence(sentence: SourceSentence, leads: frozenset[str]) -> float:
    """Quality and generality, more for what states something; less for a host's words and what is not sound."""
    value = sentence.quality * min(1.2, 0.15 + rate_generality(sentence.text)) * rate_soundness(sentence.text)
    value *= LEADING if sentence.speaker in leads else 1.0
    return value * (STATES if make_general_clause(sentence.text) else 1.0)
