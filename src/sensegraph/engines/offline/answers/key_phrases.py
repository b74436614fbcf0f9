"""Key phrases: the noun phrases that a set of sentences turns on (classical-engine §5.2)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from sensegraph.engines.offline.answers.question_rules import FRAME, SOFT
from sensegraph.engines.offline.reports.sentence_quality import stem_word
from sensegraph.language.text import tag_words
from sensegraph.language.word_lists import read_list

LONGEST = 3
_TOKEN = re.compile(r"\w+(?:['’\-]\w+)*|[^\s\w]")
_RUN = re.compile("[JnNX]+g?")
# Too general to name a subject.
_GENERAL = frozenset(
    """
    people person everyone group guy idea question answer problem issue reason fact example case point bit kind sort
    thing stuff place moment time week month minute hour second world life level number amount half couple rest end
    start beginning top bottom line piece area type difference sense feeling hand head eye face name word chance
    opportunity change part job work thought matter man woman men women folk individual member term view state today
    tomorrow yesterday morning night okay slide screen meeting conversation able different important interesting good
    bad new old big small little same other own sure true real whole great high low long short hard easy happy nice
    cool fun amazing incredible possible available ready right wrong certain clear basic general main major current
    previous next last first second third many few several various own additional particular specific obvious better
    best worse worst more less yeah hmm guest host everybody anybody crazy weird huge tons bunch dollar percent
    hundred thousand million billion zero two three four five six seven eight nine ten twenty thirty fifty
    mm mmhm mm-hmm mm-mm uh-huh yep nope wow gosh cause speaking talking back stuff person's whoa hmm
    vocalsound disfmarker     phenomenon trick spot mind background beginning career story theme book building challenge
    """.split()
)


# Nouns that name a subject only together with another word ("computer science", "machine learning").
WEAK = frozenset(
    """
    system systems machine machines future computer computers technology technologies tech company companies science
    industry industries world history mind business product products process project projects tool tools service work
    research field society community communities human humans information application applications experience model
    models code value values power market team teams organization impact goal goals thinking learning decision user
    users environment scale context language solution solutions engineer engineers scientist scientists kid kids
    student students school data price book books car cars dollars home house school program programs notion
    concept institute center centre university event events
    """.split()
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase as it is mostly written, its stems, its score, and the positions of the texts that hold it."""

    text: str
    stems: tuple[str, ...]
    score: float
    hits: tuple[int, ...]


@lru_cache(maxsize=1 << 14)
def list_noun_phrases(text: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The noun phrases of up to three words in an English `text`: (stems, words as written).

    They end in a noun, and neither begin nor end with a general word.
    """
    words = _TOKEN.findall(text)
    if not words:
        return ()
    letters = tag_words([words[0].casefold() if words[0][1:].islower() else words[0], *words[1:]])
    found: list[tuple[tuple[str, ...], str]] = []
    for start, stop in (match.span() for match in _RUN.finditer(letters)):
        for end in range(start + 1, stop + 1):
            for begin in range(max(start, end - LONGEST), end):
                headed = letters[end - 1] in "nNX" or (letters[end - 1] == "g" and end - begin > 1)
                phrase = words[begin:end]
                if headed and letters[begin] != "g" and not _is_general(phrase[0]) and not _is_general(phrase[-1]):
                    found.append((tuple(s for w in phrase for s in stem_word(w, "en")), " ".join(phrase)))
    return tuple(found)


@cache
def _is_general(word: str) -> bool:
    """Whether a word names no subject by itself: a stop word, a number, a word about the corpus or the talk."""
    folded = word.casefold()
    forms = (folded, folded.removesuffix("s"), folded.removesuffix("es"))
    short = len(word) < 2 or not word[0].isalpha() or folded in read_list("en") or "'" in word or "’" in word
    return (
        short
        or "_" in word
        or any(f in _GENERAL or f in FRAME or f in SOFT or f in read_list("general") for f in forms)
    )


def find_key_phrases(
    texts: Sequence[str], top: int, *, avoid: frozenset[str] = frozenset(), least: int = 2
) -> list[Phrase]:
    """The `top` phrases of `texts`, best first, no two of which share a stem and none with a stem of `avoid`.

    Score = f^.7 · (Σ tf·idf of the words)^.8 over phrases that occur `least` times or more. A phrase is written in the
    commonest way, with capitals only where they prevail.
    """
    spots: dict[tuple[str, ...], list[int]] = {}
    forms: dict[tuple[str, ...], Counter[str]] = {}
    for i, text in enumerate(texts):
        for own, words in list_noun_phrases(text):
            spots.setdefault(own, []).append(i)
            forms.setdefault(own, Counter())[words] += 1
    places: dict[str, list[int]] = {}  # of each stem
    for own, where in spots.items():
        for stem in own:
            places.setdefault(stem, []).extend(where)
    worth = {s: (1 + math.log(len(w))) * math.log(1 + len(texts) / len(set(w))) for s, w in places.items()}
    scored = []
    for own, where in spots.items():
        if len(set(where)) >= least and own and not avoid.intersection(own):
            best = max(sorted(forms[own]), key=lambda f: forms[own][f])
            lower = sum(n for form, n in forms[own].items() if form == form.casefold())
            shown = best.casefold() if 2 * lower >= sum(forms[own].values()) else best
            score = float(len(where) ** 0.7 * sum(worth[s] for s in own) ** 0.8)
            scored.append(Phrase(shown, own, score, tuple(dict.fromkeys(where))))
    taken: list[Phrase] = []
    used: set[str] = set()
    for phrase in sorted(scored, key=lambda p: (-p.score, p.stems)):
        if len(taken) == top:
            break
        if not used.intersection(phrase.stems):
            taken.append(phrase)
            used.update(phrase.stems)
    return taken
