"""Which chunks are worth a further round: those that name much that their list lacks.

This is ours: the paper asks the model whether it missed anything, and shows it all again (edge2024, §A.2).

Names are found by the rules of the offline engine, in the chunk alone, so that it costs no call and depends on nothing
else. A name counts as listed where its words are those of a listed one or some of them, or its initials. What is left
is often another name of what is listed, or of a type that nobody asked for, so a few names are no reason to ask.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from sensegraph.engines.offline.extraction.german_names import NounTally, cut_at_nouns, is_noun
from sensegraph.engines.offline.extraction.names import find_name_candidates, strip_possessive
from sensegraph.engines.offline.extraction.observations import Candidate
from sensegraph.engines.offline.extraction.page_reader import choose_name_rules, find_codes, split_spans
from sensegraph.engines.offline.extraction.sentence_words import count_capitals, find_opening_word, locate_words
from sensegraph.engines.offline.extraction.unspaced_names import find_unspaced_names
from sensegraph.language.dates import stated_dates
from sensegraph.language.text import fold, known_form
from sensegraph.language.truecase import recase_text
from sensegraph.language.word_lists import english_words

FINDER_VERSION = 1  # raise only where other chunks should be asked about: every chunk is then paid for again
LEAST, SHARE = 3, 0.1  # names that a list must lack, and of all that the chunk names: see docs/design/056
_MOST = 40  # names that one request asks about
_WORD = re.compile(r"[^\W\d_]{2,}|\d+")
_SMALL = frozenset("the of and in for de la le du van von der di da al el".split())


def can_find_names(text: str) -> bool:
    """Whether names can be found by rules: in scripts with capitals, and in Chinese."""
    return choose_name_rules(text) != "un"


def find_missing_names(text: str, listed: Collection[str]) -> tuple[str, ...]:
    """The names in `text` that the list lacks, in order; none where they are too few to ask about."""
    language = choose_name_rules(text)
    names = list(dict.fromkeys(find_passage_names(text, language)))
    whole = language == "zh"
    known = [_name_words(name, whole) for name in listed]
    initials = {"".join(w[0] for w in name.split() if w[0].isupper()).casefold() for name in listed if " " in name}
    found, lacking = 0, dict[frozenset[str], str]()
    for name in sorted(names, key=len, reverse=True):  # a short form counts with the name that holds it
        words = _name_words(name, whole)
        if not words or any(words <= longer for longer in lacking):
            continue
        if any(words <= one or one <= words for one in known if one) or (len(words) == 1 and words <= initials):
            found += 1
        elif whole or suggests_gap(name, words):
            found += 1
            lacking[words] = name
    if len(lacking) < LEAST or len(lacking) < SHARE * found:
        return ()
    left = set(lacking.values())
    return tuple(name for name in names if name in left)[:_MOST]


def _name_words(name: str, whole: bool) -> frozenset[str]:
    """The words of a name by which it is compared: folded, without possessives, plurals and small words."""
    if whole:
        return frozenset([fold(name)])
    words = (strip_possessive(w) for w in fold(name).split())
    found = frozenset(part for w in words for part in _WORD.findall(w)) - _SMALL
    return frozenset(w.removesuffix("s") if len(w) > 4 else w for w in found)


def suggests_gap(name: str, words: frozenset[str]) -> bool:
    """Whether a name that is not listed speaks for a gap: no nationality, number, common word or shouted heading."""
    folded = [strip_possessive(w) for w in fold(name).split()]
    if all(w in english_words("nationalities") or not w[:1].isalpha() for w in folded):
        return False
    if name.isupper() and len(folded) > 1:
        return False
    return len(words) > 1 or not known_form(folded[-1])


def find_passage_names(text: str, language: str) -> Iterator[str]:
    """The names in a text, as often as they stand there."""
    spans = split_spans(text)
    if language == "zh":
        yield from (text[a:b] for start, end in spans for a, b in find_unspaced_names(text, start, end))
        return
    view = recase_text(text, spans) if language == "en" else text
    candidates, texts, opening = list[Candidate](), list[str](), list[str]()
    every, bounds = locate_words(view, spans)
    for number, (start, end) in enumerate(spans):
        words = every.part(bounds[number], bounds[number + 1])
        no_names = [*stated_dates.find_times(view, start, end), *find_codes(view, start, end)]
        barred = {i for span in no_names for i in words.find_touched(*span)}
        candidates += find_name_candidates(words, view, number, barred, language)
        texts += words.texts
        opening.append(find_opening_word(words.texts))
    upper, lower = count_capitals(texts, opening)
    if language == "de":
        candidates = _cut_german_names(candidates, lower)
    for one in candidates:
        first = strip_possessive(one.first)
        opens = first and not one.more  # by its place alone it has a capital
        common = upper[first] <= lower[first] if upper[first] or lower[first] else known_form(first)
        if opens and common and one.inner < 0:
            continue
        yield one.surface[one.inner - one.start :] if opens and common else one.surface


def _cut_german_names(candidates: Sequence[Candidate], lowers: Counter[str]) -> list[Candidate]:
    """The names in runs of capitals, which in German common nouns have too."""
    tally = NounTally()
    tally.add(candidates)
    nouns = tally.learn(lowers)
    parts = (part for one in candidates for part in cut_at_nouns(one, nouns))
    return [p for p in parts if " " in p.surface or not is_noun(p.surface.lower(), nouns, alone=True)]
