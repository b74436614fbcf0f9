"""Why an answer does not seem to answer its question, by the words of both: it may be supported and answer another.

Only what is sure is told. The question is held against what the answer says, what it quotes with what stands around
that, and the titles of what it cites. A question for what a whole corpus holds ("What are the main themes?") names
nothing to look for; nothing is told of words and names where question and texts are of two languages.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from sensegraph.answering.grounding.citations import remove_marks
from sensegraph.answering.grounding.lexical import find_denied_words
from sensegraph.language.asking.answer_types import find_names
from sensegraph.language.asking.causing import asks_cause
from sensegraph.language.asking.kinds import read_asked_kind
from sensegraph.language.asking.question_words import (
    asks_whether,
    gives_type,
    is_question_word,
    read_asked_type,
    stem_asking_words,
)
from sensegraph.language.dates.intervals import holds_during, make_interval, span_through
from sensegraph.language.dates.stated_dates import find_expressions, stated_in
from sensegraph.language.naming_words import COUNTRY, HONORIFICS, NICKNAMES
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import (
    WORD,
    detect_language,
    fold,
    is_unspaced,
    list_stems,
    part_camel_case,
    split_runs,
    stem_run,
)
from sensegraph.language.word_lists import (
    COMMON,
    ENGLISH,
    MONTHS,
    SNOWBALL,
    VERY_COMMON,
    languages_by_word,
    read_cues,
)
from sensegraph.types import WordCounts

_WHOLE = re.compile(read_cues("strong"), re.IGNORECASE | re.VERBOSE)
_NAME, _NUMBER, _RARE, _USUAL, _EMPTY = 2.0, 1.5, 1.0, 0.6, 0.3  # what a word of the question weighs
_LEAST = 0.35  # share of that weight below which nearly none of the question stands in the texts
_LEAST_OF_NAMED = 0.55  # the same where none of its names does
_LEAST_OF_COUNTED = 0.75  # the same where what is to be counted does not
_AROUND = 0.5  # what a word counts that only stands around a quote
_EVERYWHERE = 0.2  # share of the corpus that holds a name from which it tells nothing apart
_SMALL = 50  # texts that a corpus is taken to have at least: in a few, what all of them hold may still be rare
_NAMED = 1.5  # how much more the words of names tell
_NOWHERE = 0.2  # what a word tells that stands nowhere in the corpus: it may be another for the same
_FEWEST = 4  # terms that texts hold at least where words that are not there tell something
_BEGINNING, _ALIKE = 4, 0.65  # letters, and share of the longer one, that two forms of a word begin with
_TERSE = 10  # stems that an answer has at most which says no more than what is asked for
_SHOWN = 6  # words that a reason shows
_NUMBERED = re.compile(r"([^\W\d_]{2,})[ -](\d+(?:[.,]\d+)*)(?![\w%])")
_SENTENCE_END = re.compile(r"(?<=\w{4})\.\s+")
_OWN = re.compile(r"['’]s?\b")
_CAPITAL_NOUNS = frozenset({"german"})
_DATED = frozenset(name for names in MONTHS.values() for name in names)


@dataclass(frozen=True, slots=True)
class AnswerTexts:
    """What an answer says, the spans that it quotes, `titles` with times of the documents that it cites.

    `around` are the sentences around each span, `near` what is more or less near it.
    """

    said: str
    quotes: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PosedQuestion:
    """A question that was answered, and how rare its words are in the corpus, where that is known."""

    text: str
    counted: WordCounts | None = None


def is_terse(text: str) -> bool:
    """Whether an answer may say no more than what is asked for: what stands around its quotes then tells of what."""
    return len(list_stems(remove_marks(text))) <= _TERSE


def find_unanswered(posed: PosedQuestion, texts: AnswerTexts) -> tuple[str, ...]:
    """The reasons why an answer does not seem to answer a question, in sentences; none where it does."""
    plain = " ".join(posed.text.split())
    capitals = [word[:1].isupper() for word in WORD.findall(plain)]
    if plain.isupper() or (len(capitals) > 3 and sum(capitals) > 0.8 * len(capitals)):
        plain = plain.lower()  # a title, of which capitals say nothing
    read = _Comparison(plain, posed.counted, texts)
    if not plain or (_WHOLE.search(plain) and not read.names):
        return ()
    return tuple(read.find_reasons())


@cache
def _stem_rarity(spoken: str) -> Mapping[str, float]:
    """The weights of common words of English; other languages have no list of theirs."""
    listed = ((COMMON, _USUAL), (VERY_COMMON, _EMPTY)) if spoken == ENGLISH else ()
    return {stem: weight for words, weight in listed for word in words.split() for stem in stem_run(word, spoken)}


class _Comparison:
    """A question beside the texts of an answer, both as stems of the language of the texts."""

    def __init__(self, question: str, counted: WordCounts | None, texts: AnswerTexts) -> None:
        self.question, self.texts, self.said = question, texts, remove_marks(texts.said)
        self.size, self.counts = (counted.chunks, dict(counted.words)) if counted else (0, {})
        self.shown = (self.said, *texts.quotes, *texts.titles)
        self.every = (*self.shown, *texts.around, *texts.near)
        code, tellers = detect_language(" ".join(self.every[1:]) or self.said), languages_by_word()
        told = Counter(c for word in WORD.findall(question.casefold()) for c in tellers.get(word, ()))
        self.comparable = told[code] >= max(told.values(), default=0)  # a short question may be of several languages
        self.spoken = SNOWBALL.get(code, ENGLISH)
        self.held = self._stem_all(self.shown)
        self.near = self._stem_all(self.every)
        around = self.near if is_terse(self.said) else self._stem_all(texts.around)
        own = 1.0 if is_terse(self.said) else _AROUND
        self.counting = ((self.held, 1.0), (around, own))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the question, without what asks and what only says when."""
        if self.spoken in _CAPITAL_NOUNS:  # there all nouns have capitals
            return ()
        found = []
        for name in find_names(self.question):
            for part in _SENTENCE_END.split(name.text):
                words = _OWN.sub("", part).split()
                while words and (is_question_word(words[0]) or (not name.start and len(words) == 1)):
                    words = words[1:]
                if any(len(w) > 1 and w.casefold() not in _DATED | HONORIFICS for w in words):
                    found.append(" ".join(words))
        return tuple(dict.fromkeys(found))

    def _stem_all(self, texts: Iterable[str]) -> frozenset[str]:
        return frozenset(stem for text in texts for stem in self._stem(text))

    def _stem(self, text: str) -> list[str]:
        return [t for word in split_runs(part_camel_case(text)) for t in stem_run(word, self.spoken)]

    def find_reasons(self) -> Iterator[str]:
        """The reasons, each a sentence."""
        kind, asking = read_asked_type(self.question)
        known = frozenset(WORD.findall(self.question.casefold()))
        if not gives_type(kind, self.said, known):
            yield f"the question asks for a {kind} (“{asking}”), and the answer gives none"
        if kind != "date":
            yield from self._find_other_times()
        yield from self._find_other_numbers()
        if not self.comparable or len(self.near - self._stem_all([self.question])) < _FEWEST:
            return
        listed = read_asked_kind(self.question)
        counted = listed if listed and listed.counts else None
        weights = self._weigh_words()
        if listed and not counted and weights.keys() <= set(self._stem(listed.noun)):
            weights = {}  # a list has the things, and need not say what they are
        speaks = counted and any(map(counted.mention.search, (self.said, *self.texts.quotes)))
        if counted and not speaks and not is_terse(self.said) and self._share(weights) < _LEAST_OF_COUNTED:
            yield f"the question asks for a number of {counted.noun}, and the answer speaks of none"
        telling = [name for name in self.names if not self._is_everywhere(name)]
        lost = [name for name in telling if not self._names(name)]
        own = {w: self._stem(w) for w in split_runs(part_camel_case(self.question))}
        words = {word: dict.fromkeys(weights.keys() & stems, 1.0) for word, stems in own.items()}
        missing = [word for word, stems in words.items() if stems and not self._share(stems)][:_SHOWN]
        if lost and len(lost) == len(telling) and self._share(weights, ((self.near, 1.0),)) < _LEAST_OF_NAMED:
            yield f"names of the question stand neither in the answer nor in what it cites: {', '.join(lost)}"
        elif missing and self._share(weights) < (_LEAST if not is_unspaced(missing[0]) else 0.01):
            yield f"most words of the question stand neither in the answer nor in what it cites: {', '.join(missing)}"
        denied = () if asks_whether(self.question) or asks_cause(self.question) else self._find_denied()
        if denied:
            yield f"the answer denies what the question takes as given: {', '.join(denied)}"

    def _is_everywhere(self, name: str) -> bool:
        """Whether each word of a name stands in so much of the corpus that it tells nothing apart."""
        counts = [self.counts.get(stem, 0) for stem in self._stem(name)]
        return bool(self.size and counts) and min(counts) > _EVERYWHERE * self.size

    def _weigh(self, stem: str, named: bool) -> float:
        """How much a word of the question tells: by its rarity in the corpus, else by lists of common words."""
        if self.size and stem in self.counts:
            n, size = self.counts[stem], max(self.size, _SMALL)
            if not n and not named:
                return _NOWHERE
            return (_NAMED if named else 1.0) * math.log1p((size - n + 0.5) / (n + 0.5)) / math.log1p(2 * size)
        return _NAME if named else _NUMBER if stem.isdigit() else _stem_rarity(self.spoken).get(stem, _RARE)

    def _names(self, name: str) -> bool:
        """Whether the texts hold a part of a name, in a form of it, or its initials, or what it has the initials of."""
        words = [w for w in split_runs(part_camel_case(name)) if w.casefold() not in HONORIFICS]
        forms = [f for w in words for f in (w, *NICKNAMES.get(w.casefold(), ()), COUNTRY.get(w.casefold(), ""))]
        if any(_holds_form(self.near, t) for f in (*forms, COUNTRY.get(fold(name), "")) for t in self._stem(f)):
            return True
        text = " ".join(self.every)
        full = {f for word in split_runs(text) for f in NICKNAMES.get(word.casefold(), ())}
        if not full.isdisjoint(w.casefold() for w in words):
            return True
        initials = name if name.isupper() else "".join(w[0] for w in words if w[0].isupper())
        if len(initials) < 2 or not initials.isalpha():
            return False
        spelt = r"\w*\s(?:of\s|the\s|and\s)*".join(initials) if name.isupper() else r"\.?".join(initials) + r"\b"
        return re.search(rf"\b{spelt}", text) is not None

    def _weigh_words(self) -> dict[str, float]:
        """The stems of the question that tell what it is about, each with how much it tells."""
        weights: dict[str, float] = {}
        for i, word in enumerate(split_runs(part_camel_case(self.question))):
            named = bool(i) and word[:1].isupper() and self.spoken not in _CAPITAL_NOUNS
            for stem in stem_run(word, self.spoken):
                if stem not in stem_asking_words(self.spoken):
                    weights[stem] = max(self._weigh(stem, named), weights.get(stem, 0.0))
        return weights

    def _share(self, weights: Mapping[str, float], counts: Iterable[tuple[frozenset[str], float]] = ()) -> float:
        """The share of the weights whose stems the texts hold, 0 to 1; what stands around the quotes counts less."""
        listed = [*(counts or self.counting)]
        held = sum(w * next((c for stems, c in listed if _holds_form(stems, s)), 0.0) for s, w in weights.items())
        return held / (sum(weights.values()) or held or 1.0)

    def _find_other_times(self) -> Iterator[str]:
        """That the question names a time, and the answer only others."""
        asked = [e for e in find_expressions(self.question) if e.first or e.last]
        told = [stated_in(self.said[a:b]) for a, b in split_sentences(self.said)]
        if not asked or not told or not (told[0].first or told[0].last):
            return
        times = [self.question[e.start : e.end].strip() for e in asked]
        spans = [span_through(e.first, e.last) for e in asked]
        named = [span_through(e.first, e.last) for text in self.shown for e in find_expressions(text) if not e.unread]
        dated = [s for s in (*told, *map(stated_in, self.texts.quotes)) if s.first or s.last]
        if any(time in text for time in times for text in self.shown):
            return
        if any(one[0] < other[1] and other[0] < one[1] for one in spans for other in named):
            return
        if all(holds_during(make_interval(s.first, s.last), span) is False for s in dated for span in spans):
            others = ", ".join(dict.fromkeys(s.first or s.last for s in dated))
            yield f"the question is about {', '.join(times)}, and the answer only about {others}"

    def _find_other_numbers(self) -> Iterator[str]:
        """That the question names something with a number, and the answer only such things with others."""
        text = " ".join((self.said, *self.texts.quotes))
        every = " ".join(self.every)
        for word, number in _NUMBERED.findall(self.question):
            stems = self._stem(word)
            if not stems or re.search(rf"(?<![\d.,]){re.escape(number)}(?!\d)", every):
                continue
            others = [f"{w} {n}" for w, n in _NUMBERED.findall(text) if self._stem(w) == stems]
            if others:
                found = ", ".join(dict.fromkeys(others))
                yield f"the question is about {word} {number}, and the answer only about {found}"

    def _find_denied(self) -> list[str]:
        """The words of the question that the answer only denies."""
        asking = stem_asking_words(self.spoken)
        found = find_denied_words(self.question, (self.said, *self.texts.quotes))
        return [word for word in found if not asking.issuperset(self._stem(word)) and not is_question_word(word)]


def _holds_form(held: frozenset[str], stem: str) -> bool:
    """Whether stems hold a form of a word: the same stem, a long beginning, or a part of a compound."""
    if stem in held or len(stem) < _BEGINNING or is_unspaced(stem) or stem.isdigit():
        return stem in held
    for other in held:
        shorter, longer = sorted((stem, other), key=len)
        begins = max(_BEGINNING, math.ceil(_ALIKE * len(longer)))
        if len(shorter) >= begins and shorter[:begins] == longer[:begins]:
            return True
        if len(shorter) > _BEGINNING and shorter in longer:
            return True
    return False
