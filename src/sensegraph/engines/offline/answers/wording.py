"""How an answer is worded: sentences quoted or reported by who said them, connected by counts and plain text.

A sentence is reported in indirect speech ("Ann Lee argues that wind farms need steady wind") only where it stays true
word for word: it speaks of a thing, not of its speaker or hearer, and points at nothing outside itself. All others are
quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.general_sentences import rate_generality
from sensegraph.engines.offline.reports.sentence_quality import introduces_person, quote_text
from sensegraph.engines.offline.reports.shown_names import spell_number
from sensegraph.language.detection import detect_by_stop_words
from sensegraph.language.tagging import known_form, tag_words
from sensegraph.language.text import WORD
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
    if not SHORTEST <= len(words) <= LONGEST or not bare.endswith(".") or detect_by_stop_words(text) != "en":
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

NOTE = "extractive: every statement is a sentence of a source, quoted or reported in its own words, lightly trimmed"


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
