"""Text without the usual capitals as it would be written with them: a view of equal length, in which names are found.

A word is raised when it is known with a capital alone (the tagger's lexicon, first names, places, nationalities), when
it is unknown and no regular form, or when it is a head or an opener beside such a word. After Lita, Ittycheriah, Roukos
and Kambhatla (2003), with lists in place of a trained model. English only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice, pairwise

from sensegraph.language.text import ONLY_LETTERS, blank_others, known_word, split_letters, tag_words
from sensegraph.language.word_lists import (
    ENGLISH_MONTHS,
    ENGLISH_WEEKDAYS,
    english_words,
    never_names,
    read_lexicon,
    read_list,
)

_WORD = re.compile(r"[^\W_]+(?:['’.\-&][^\W_]+)*")
_SURE, _DOUBTFUL = 0.5, 0.3
_SHARE, _SHOUTED = 0.01, 0.9  # of the words inside sentences; of all words
_LEAST, _LISTED = 8, 2  # words of a text that can be judged; listed names without capital in one that has openings
_LONGEST = 60  # characters of a word that is looked at: its parts are tried at each
_HEADING = 120  # characters of a heading, at most
_INNER = re.compile(r" (?<=[\w,;)] )([^\W\d_]{2,})")  # a blank is looked for first
_RAISED = re.compile(r" (?<=[\w,;)] )[A-Z][^\W\d_]")  # most of those with a capital, found sooner
_OPENING = re.compile(r"(?:^|(?<=[.!?]) )[a-z]", re.MULTILINE)
_DATED = frozenset(ENGLISH_MONTHS) | frozenset(ENGLISH_WEEKDAYS)
_DATE = re.compile(
    rf"\b(?:{'|'.join(sorted(_DATED - {'march', 'may'}))})\b|\b(?:march|may)(?= \d)|(?<=\d )(?:march|may)\b"
)
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers", "est", "ly", "r", "'s", "ies")
_FORM = re.compile(
    r"(?:ing|ed|ly|ness|ment|ments|tion|tions|able|ible|ful|less|ous|ity|ities|ize|ized|ise|ised|ists?|isms?|ers?|est"
    r"|ship|wise|wards?|hood|al|ally|ics?|ive|ology)$"
)
_PREFIX = re.compile(r"^(?:un|re|pre|non|anti|over|under|inter|multi|sub|super|mis|dis|out|co)-?(?=\w{4})")


def recase_text(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with likely capitals where it has none or only capitals, and where headings have too many; else itself.

    `spans` are its sentences.
    """
    blanked = blank_others(text, ONLY_LETTERS)
    first, most = take_first_words(blanked, 5) if blanked else ([], 0)
    usual = sum(1 for word in first if len(word) > 1 and not word.isupper()) > max(_LEAST, most // 8)
    every = [] if usual else split_letters(text)
    unshouted = (word for word in every if len(word) > 1 and not word.isupper())
    if not usual and next(islice(unshouted, max(_LEAST, len(every) // 8), None), None) is None:
        words = _split_long(text)
        if len(words) < _LEAST:
            return text
        if sum(map(str.isupper, words)) > _SHOUTED * len(words):
            return raise_names(lower_letters(text))
    capitals = (m for m in _INNER.finditer(text) if not m[1].islower())
    enough = int(_SHARE * text.count(" "))  # more than this are the share, however many words stand inside sentences
    plenty = next(islice(_RAISED.finditer(text), enough, None), None) or next(islice(capitals, enough, None), None)
    inner = [] if plenty else _INNER.findall(text)
    if len(inner) - sum(map(str.islower, inner)) < _SHARE * len(inner):
        words = _split_long(text)
        opened = len(words) - sum(map(str.islower, words))
        listed = sum(w in _listed_names() for w in inner) if opened >= _SHARE * len(words) else _LISTED
        return raise_names(text) if listed >= _LISTED else text
    headings = [(a, b) for a, b in spans if _has_heading_case(text, a, b)]
    if not headings:
        return text
    rest = text
    for a, b in headings:
        rest = rest[:a] + "\n" * (b - a) + rest[b:]
    raised = Counter(w.lower() for w in _INNER.findall(rest) if not w.islower())
    lowered = Counter(w for w in _split_long(rest) if w.islower())
    shown = {w: raised[w] > lowered[w] for w in {*raised, *lowered}}
    for a, b in headings:
        text = text[:a] + raise_names(lower_letters(text[a:b]), shown) + text[b:]
    return text


def take_first_words(blanked: str, part: int) -> tuple[list[str], int]:
    """The first words of what `blank_others` gives, about so large a part of them, and how many there are at most."""
    most = blanked.count(" ") + 1
    return blanked.split(None, most // part)[: most // part], most


def _split_long(text: str) -> list[str]:
    """The runs of two letters and more."""
    return [run for run in split_letters(text) if len(run) > 1]


def _has_heading_case(text: str, start: int, end: int) -> bool:
    """Whether a sentence has no end mark and capitals throughout, or on all its words but the small ones."""
    if end - start > _HEADING or text[end - 1] in '.?!:;,…"”’)':
        return False
    words = [w for w in _split_long(text[start:end]) if w.lower() not in never_names()]
    if len(words) < 2 or not all(w[0].isupper() for w in words):
        return False
    return all(map(str.isupper, words)) or (
        len(words) > 3 and sum(map(_is_common, map(str.lower, words))) > len(words) / 2
    )


def lower_letters(text: str) -> str:
    """The text in lower case, of the same length."""
    return text.lower() if len(text.lower()) == len(text) else "".join(_keep_length(c, c.lower()) for c in text)


def _keep_length(old: str, new: str) -> str:
    return new if len(new) == len(old) else old


@cache
def _listed_names() -> frozenset[str]:
    places, common = read_lexicon("places"), read_list("capitalised")
    listed = places["places"] | places["organisations"] | read_lexicon("people")["first"]
    return english_words("nationalities") | frozenset(w for w in listed & common if not known_word(w))


def raise_names(text: str, shown: Mapping[str, bool] | None = None) -> str:
    """Lower-case text with likely capitals; `shown` tells of words whether their document writes them with one."""
    found = list(_WORD.finditer(text))
    words = [m[0].lower().replace("’", "'") for m in found]
    told = shown or {}
    rated = (rate_capital(w) if len(w) <= _LONGEST else 0.0 for w in words)
    scores = [told[w] * (w not in never_names()) if w in told else rate for w, rate in zip(words, rated, strict=True)]
    up = [s >= _SURE for s in scores]
    joined = [text[a.end() : b.start()] == " " for a, b in pairwise(found)] + [False]
    for _ in range(2):
        for i in range(len(words)):
            up[i] = up[i] or _is_raised_by_neighbours(words, up, joined, scores[i], i)
    out = list(text)
    for match, word, raised in zip(found, words, up, strict=True):
        if raised:
            vowelless = len(word) < 5 and not known_word(word) and not re.search("[aeiouy]", word)
            end = match.end() if vowelless and word not in read_lexicon("people")["first"] else match.start() + 1
            out[match.start() : end] = [_keep_length(c, c.upper()) for c in out[match.start() : end]]
    dated = _DATE.sub(lambda m: m[0].capitalize(), "".join(out))
    return _OPENING.sub(lambda m: m[0][:-1] + m[0][-1].upper(), dated)


def _is_raised_by_neighbours(
    words: Sequence[str], up: Sequence[bool], joined: Sequence[bool], score: float, i: int
) -> bool:
    """Whether a word that is none by itself belongs to the name beside it: a head, a title, an opener, one in doubt."""
    word = words[i]
    if word in never_names() or word in _DATED or word[0].isdigit():
        return False
    nations = english_words("nationalities")
    left = i > 0 and up[i - 1] and joined[i - 1] and not words[i - 1].endswith("'s")
    people = left and words[i - 1] in nations
    right = joined[i] and up[i + 1]
    if word in english_words("titles") and right and words[i - 1 : i] != ["the"]:
        return True
    if any(word in english_words(f"{kind}-heads") for kind in ("organisation", "place", "event", "other")):
        if left and (not people or word in english_words("national-heads")):
            return True
        if joined[i] and words[i + 1] == "of" and joined[i + 1] and word not in english_words("loose-heads"):
            behind = i + 3 if words[i + 2] == "the" and joined[i + 2] else i + 2
            if up[behind]:
                return True
    openers = right and words[i + 1] not in nations
    if word in english_words("name-parts") and openers:
        return True
    return score >= _DOUBTFUL and ((left and not people) or openers)


@lru_cache(maxsize=1 << 15)
def rate_capital(word: str) -> float:
    """How likely a lower-case word is written with a capital, by lists and by its form alone."""
    bare = word[:-2] if word.endswith("'s") else word.rstrip("'")
    if not bare or bare[0].isdigit() or bare in _DATED or bare in never_names() or bare in english_words("general"):
        return 0.0
    places, first = read_lexicon("places"), bare in read_lexicon("people")["first"]
    common, capital = known_word(bare), bare in read_list("capitalised")
    listed = bare in places["places"] or bare in places["organisations"]
    if bare in english_words("nationalities") or (listed and (not common or (capital and len(bare) > 4))):
        return 1.0
    if not common and (first or capital):
        return 0.95
    if first and capital:
        return 0.6
    if _is_common(bare):
        return _DOUBTFUL if capital and tag_words([bare]) in "nNJX" else 0.0
    if len(bare) < 3:
        return _DOUBTFUL
    form = _FORM.search(bare)
    if form is None or (form[0] in ("er", "ers", "al", "ic", "ist") and not _is_common(bare[: form.start()])):
        return 0.85
    return _SURE


@lru_cache(maxsize=1 << 15)
def _is_common(word: str) -> bool:
    """Whether a word is a common one, a regular form of one, or put together from such words."""
    if known_word(word):
        return True
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            doubled = stem[:-1] if stem[-1] == stem[-2] else stem
            if any(map(known_word, (stem, f"{stem}e", f"{stem}y", doubled))):
                return True
    if "-" in word:
        return all(part.isdigit() or _is_common(part) for part in word.split("-") if part)
    if (prefix := _PREFIX.match(word)) and known_word(word[prefix.end() :]):
        return True
    return any(known_word(word[:cut]) and known_word(word[cut:]) for cut in range(4, len(word) - 3))
