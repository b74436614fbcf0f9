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
from sensegraph.engines.offline.reports.quotes import introduces_person
from sensegraph.engines.offline.reports.shown_names import spell_number
from sensegraph.language.text import WORD, detect_by_stop_words, known_form, tag_words
from sensegraph.language.word_lists import read_lexicon, read_list
from sensegraph.types import Statement

SHORTEST, LONGEST = 7, 34  # words of a clause that is reported
GENERAL = 0.8  # generality from which a sentence states something
_OPENING = re.compile(
    r"^(?:(?:and|but|so|now|well|look|again|actually|basically|essentially|frankly|honestly|obviously|clearly|"
    r"of course|in fact|first of all|in a certain sense|in my opinion|in my view|to me|for me|today|"
    r"hopefully|ultimately|interestingly),? "
    r"|(?:I|we) (?:(?:really|also|do|always|strongly|just|still) )*"
    r"(?:think|believe|know|say|feel|argue|guess|suspect)(?: that)?,? (?!of\b|about\b|to\b|like\b|so\b))+",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"\b(?:I|me|my|mine|myself|you|your|yours|yourself|let's)\b|\b(?:I|you|we|they)['’]|"
    r"\bwe (?:just|really|actually)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"^(?:he|she|it|they|this|that|these|those|his|her|its|their|here|then|which|who|what|where|why|how|because|if|when|"
    r"as|or|and|so|like|also|another|such|some|yes|no|not|even|both|one|again|whereas|although|while|only|our|us|for|"
    r"there|in (?:this|that|the|our|his|her|their)|with|on|by|from|through|at|of|to|just|maybe|perhaps|sometimes|"
    r"the (?:other|same|first|second|third|next|last|latter|former|end|one|trick|answer|reason|thing))\b"
    r"|\b(?:this|these|those) (?:is|are|was|were|kind|sort|one|thing|stuff)\b|"
    r"(?:, |\b(?:and|but|so|because|if) )that (?:is|was|kind|sort|one|thing|stuff)\b|"
    r"\b(?:like that|here|episode|podcast|the book|conversation)\b|"
    r"\b(?:of|in|on|with|to|for|like|from) (?:this|that|these|those|it|them|him|her)\b",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"[“”\"‘:;?!…—–\[\]()]|\s-+\s|, (?:like|right|well|you know|in fact)\b|"
    r"\blike (?:super|really|just|whoa|we|they|how|what|an?,)|"
    r", (?:that|it)['’]s \w+$|\b(?:is|are|was) like\b|\bgonna\b|\bwanna\b|\bkinda\b|"
    r"\b(?:fuck|shit)\w*\b|\bholy\b|, so\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|said|went|came|told|got|made|became|began|spent|ran|used to)\b|"
    r"^\S+ \w{2,}ed (?:a|the|to|in|up)\b",
    re.IGNORECASE,
)
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


_ROLE = re.compile(
    r"\b(?:manager|designer|marketing|interface|professor|postdoc|grad|phd|chair\w*|speaker|interviewer|interviewee|"
    r"moderator|host|president|minister|director|secretary|doctor|teacher|student|user|customer|agent|officer)\b",
    re.I,
)
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


def write_text(text: str) -> Statement:
    """Connecting text, which rests on no source."""
    return Statement(text)


def cite_sentence(sentence: SourceSentence, text: str) -> Statement:
    """A sentence with its passage and its exact span."""
    return Statement(text, (sentence.reference,), (sentence.source,))


def end_sentence(text: str) -> str:
    """`text` with an end mark."""
    bare = text.rstrip(" ,;:-–—")
    closed = bare.rstrip("'\"’”)»」』").endswith((".", "!", "?", "…", "。", "！", "？"))
    return bare if closed else f"{bare}."


def quote_text(text: str) -> str:
    """`text` in quotation marks, those inside it made single."""
    inner = text.replace("“", "‘").replace("”", "’").replace('"', "'")
    return f"“{end_sentence(inner)}”"


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
        yield cite_sentence(
            sentence, f"{', while ' if i else ''}{name} {says} that {clause}{'.' if i == len(told) - 1 else ''}"
        )
    rest = [s for s in sentences if all(s is not t for t, _ in told)]
    if told and rest:
        yield write_text(" ")
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
        yield cite_sentence(sentence, f"{' ' if i else ''}{head}{quote_text(sentence.text)}")
        last = sentence.speaker
