"""Saying what a source says in indirect speech: "Ann Lee argues that wind farms need steady wind".

Only sentences that stay true word for word are turned: they speak of a thing, not of their speaker or hearer, and
point at nothing outside themselves. All others are quoted.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sensegraph.engines.offline.reports.general_sentences import generality
from sensegraph.engines.offline.reports.prose import language
from sensegraph.engines.offline.reports.quotes import introduces
from sensegraph.language.tagging import known_form, tags
from sensegraph.language.text import WORD
from sensegraph.language.word_lists import listed, sections

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
def clause(text: str) -> str:
    """The tidied sentence `text` as it follows "that"; "" where it cannot be said so (or is not English)."""
    bare = _OPENING.sub("", text.strip())
    words = WORD.findall(bare)
    if not SHORTEST <= len(words) <= LONGEST or not bare.endswith(".") or language(text) != "en":
        return ""
    bare = bare.rstrip(" .")
    barred = _PERSONAL.search(bare) or _POINTS.search(bare) or _LOOSE.search(bare) or introduces(bare)
    if barred or not _predicated(words) or words[0].casefold().replace("’", "'").endswith("'s"):
        return ""
    return _lowered(bare, words[0])


def stated(text: str) -> str:
    """`clause` of a sentence that states something general; "" for one that tells what happened."""
    found = clause(text)
    return found if found and generality(f"{found}.") >= GENERAL and not _PAST.search(found) else ""


def _predicated(words: list[str]) -> bool:
    """Whether the words begin with a noun phrase that a finite verb or auxiliary follows ("we need" too)."""
    first = words[0].casefold()
    named = words[0][1:].islower() and first in sections("people")["first"]
    if named or (first == "we" and words[1].casefold() not in _TOGETHER):
        return False
    if first in ("we", "people"):
        return tags([words[1].casefold()]) in "mvb" and not words[1].endswith("ed")
    letters = tags([first if words[0][1:].islower() else words[0], *words[1:]])
    letters = "".join(
        "b" if i and letter == "n" and word in listed("verbs") and words[i - 1].endswith("s") else letter
        for i, (letter, word) in enumerate(zip(letters, words, strict=True))
    )
    match = _PREDICATE.match(letters)
    if not match:
        return False
    at, before = match.end() - 1, words[match.end() - 2].casefold()
    plural = before.endswith("s") and not before.endswith(("ss", "us", "is"))
    fits = letters[at] != "b" or plural or before in ("people", "children", "and") or _BE.match(words[at]) is not None
    return fits and (words[at] == "need" or not words[at].endswith(("ing", "ed")))


def _lowered(text: str, first: str) -> str:
    """`text` without the capital that only begins a sentence: names and acronyms keep theirs."""
    low = first.casefold()
    if low == "a" or (first[1:].islower() and known_form(low) and low not in sections("people")["first"]):
        return text[:1].lower() + text[1:]
    return text
