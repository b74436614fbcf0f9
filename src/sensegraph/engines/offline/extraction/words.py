"""The first two looks at the corpus: what documents share at their edges, then what their words and labels show."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import count_distinct, keep_distinct
from sensegraph.algorithms.rounding import round_down
from sensegraph.engines.offline.extraction import mentions
from sensegraph.engines.offline.extraction.german_names import NounTally
from sensegraph.engines.offline.extraction.names import strip_possessive
from sensegraph.engines.offline.extraction.observations import Ends, Entry, Lexicon, Observation, pack_list
from sensegraph.language import speakers, transcripts
from sensegraph.language.text import fold, known_form

T = TypeVar("T")
_REPEATED_SHARE, _REPEATED_WORKS = 0.1, 10
_RUNNING_SHARE, _RUNNING_DOCUMENTS = 0.25, 12
_SERIES_SHARE = 0.5
_TITLE_WORD = re.compile(r"[^\W_]+")
_HOST_SHARE, _HOST_WORKS = 0.25, 8
_EDGE = 15  # characters by which what is shared at an edge is looked up; what is shorter is looked up as it is


def count_ends(one: Ends) -> tuple[set[str], Ends]:
    """The edges of one document, and what may begin or end so."""
    sizes = range(1, _EDGE + 1)
    terms = {f"{Entry.FRONT}{one.head[:n]}" for n in sizes} | {f"{Entry.BACK}{one.tail[-n:]}" for n in sizes}
    size = max(one.bounds, default=0)
    most = mentions.measure_edge(one)
    return terms, Ends("", "", "", (0, size), one.head[:most], one.tail[max(0, len(one.tail) - most) :])


def learn_ends(counts: Iterable[bytes]) -> dict[str, str]:
    """What documents share at their beginnings and ends."""
    decoder = msgspec.msgpack.Decoder(Ends)
    fronts, backs = mentions.find_wrappers(decoder.decode(data) for data in counts)
    held: dict[str, list[str]] = defaultdict(list)
    for front in sorted(fronts):
        held[f"{Entry.FRONT}{front[:_EDGE]}"].append(front)
    for back in sorted(backs):
        held[f"{Entry.BACK}{back[-_EDGE:]}"].append(back)
    return {term: pack_list(found) for term, found in held.items()}


class WordCount(msgspec.Struct, frozen=True, array_like=True):
    """What one document shows by its words, without what surrounds it. A work is all documents of one title.

    `prints` are three hashes a sentence, of 32 bits; `nouns` three counts of what German writes with a capital.
    """

    work: str
    title: tuple[str, ...]
    language: str
    openers: tuple[str, ...]
    capitals: dict[str, int]
    lowers: dict[str, int]
    prints: bytes
    talk: transcripts.Talk
    shown: dict[str, str]
    spellings: dict[str, int]
    nouns: tuple[dict[str, int], ...]


def count_words(one: Observation, lexicon: Lexicon) -> tuple[set[str], WordCount]:
    """The words of one document, and what its reading asks of them."""
    upper, lower = mentions.count_outside_words(one, lexicon)
    words = _TITLE_WORD.findall(one.title.casefold())
    nouns = NounTally()
    if one.language == "de":
        nouns.add(one.names)
    count = WordCount(
        one.work,
        tuple(sorted(set(map(" ".join, zip(words, words[1:], words[2:], strict=False))))),
        one.language,
        tuple(sorted({c.first for c in one.names if c.first})),
        _take_away(one.capitals, upper),
        _take_away(one.lowers, lower),
        np.array(one.prints, dtype="<u4").tobytes(),
        one.talk,
        one.shown,
        one.spellings,
        (nouns.uses, nouns.inside, nouns.weights) if one.language == "de" else (),
    )
    return _list_word_terms(one, lexicon), count


def _take_away(counts: Mapping[str, int], outside: Mapping[str, int]) -> dict[str, int]:
    """What is left of counts of words, of which so many stand outside."""
    left = dict(counts)
    for word in outside.keys() & counts.keys():
        left[word] -= outside[word]
        if not left[word]:
            del left[word]
    return left


def _list_word_terms(one: Observation, lexicon: Lexicon) -> set[str]:
    """What is asked of the words of a document."""
    starts, ends = mentions.list_label_pieces(one, lexicon)
    labels, nouns, folded = set(one.shown) | starts | ends, set[str](), mentions.fold_name
    for c in one.names:
        surfaces = {c.surface, c.surface[c.inner - c.start :]} if c.inner >= 0 else {c.surface}
        if "s" in c.marks:
            starts |= set(map(folded, surfaces))
        if one.language == "de":
            words = c.surface.split()
            nouns.update(form for w in words for form in _list_noun_forms(w.lower()))
            surfaces |= {" ".join(words[a:b]) for b in range(1, len(words) + 1) for a in range(b)}  # cut at nouns
        labels.update(*map(_fold_with_articles, surfaces))
    terms = {f"{Entry.TALK}{one.work}"}
    terms.update(f"{Entry.PRINT}{p}" for p in one.prints if p)
    for c in one.names:
        if c.first:
            terms.add(Entry.REFUSED_RUN + c.first)
            if not c.more:
                terms.add(Entry.REFUSED + strip_possessive(c.first))
        if c.before:
            terms.add(Entry.SERIES + c.before)
    terms.update(Entry.SPEAKER + label for label in labels)
    terms.update(Entry.LABEL_END + piece for piece in starts)
    terms.update(Entry.LABEL_START + piece for piece in ends)
    terms.update(Entry.NOUN + word for word in nouns)
    return terms


@lru_cache(maxsize=1 << 14)
def _fold_with_articles(surface: str) -> tuple[str, ...]:
    """The keys of what may be written so, on one line with and without an article."""
    line = " ".join(surface.split())
    bare = [line[len(a) :] for a in ("The ", "the ", "A ", "An ") if line.startswith(a)]
    return tuple(map(fold, [line, *bare]))


def _list_noun_forms(word: str) -> tuple[str, str, str]:
    return word, word.split("-")[0], mentions.make_name_key(word)


@dataclass(frozen=True, slots=True)
class _WordTally:
    """The sums of what documents show by their words."""

    capitals: Counter[str] = field(default_factory=Counter)
    lowers: Counter[str] = field(default_factory=Counter)
    openers: set[str] = field(default_factory=set)
    prints: dict[str, list[NDArray[np.uint32]]] = field(default_factory=lambda: defaultdict(list))
    titles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    talks: dict[str, list[transcripts.Talk]] = field(default_factory=lambda: defaultdict(list))
    shown: dict[str, str] = field(default_factory=dict)
    spellings: Counter[str] = field(default_factory=Counter)
    nouns: NounTally = field(default_factory=NounTally)

    def add(self, one: WordCount) -> None:
        """Count one document."""
        self.capitals.update(one.capitals)
        self.lowers.update(one.lowers)
        self.titles[one.work] = one.title
        self.openers.update(one.openers)
        self.prints[one.work].append(np.frombuffer(one.prints, dtype="<u4"))
        self.talks[one.work].append(one.talk)
        for key, label in one.shown.items():
            self.shown[key] = min(label, self.shown.get(key, label))
        self.spellings.update(one.spellings)
        for held, more in zip((self.nouns.uses, self.nouns.inside, self.nouns.weights), one.nouns, strict=False):
            held.update(more)

    def refuses(self, word: str) -> bool:
        """Whether a word that opens a sentence is no name by itself; unseen inside sentences, a common word is none."""
        upper, lower = self.capitals[word], self.lowers[word]
        return upper <= lower if upper or lower else known_form(word)

    def find_repeated(self) -> set[int]:
        """Sentences that a tenth of the works repeat, or a quarter of the documents of one work, where it has many."""
        found: set[int] = set()
        if len(self.prints) >= _REPEATED_WORKS:
            works = [keep_distinct(np.concatenate(held)) for held in self.prints.values()]
            prints, counts = count_distinct(np.concatenate(works))
            found.update(prints[counts >= max(_REPEATED_SHARE * round_down(len(works)), 3)].tolist())
        for held in self.prints.values():
            if len(held) >= _RUNNING_DOCUMENTS:
                lines = np.concatenate([keep_distinct(prints[::3]) for prints in held])
                prints, counts = count_distinct(lines)
                found.update(prints[counts >= _RUNNING_SHARE * round_down(len(held))].tolist())
        return found - {0}


def learn_words(counts: Iterable[bytes]) -> dict[str, str]:
    """Words that open sentences and are no names, what documents repeat, who speaks, and what are common nouns."""
    tally, decoder = _WordTally(), msgspec.msgpack.Decoder(WordCount)
    for data in counts:
        tally.add(decoder.decode(data))
    talk_of = {work: transcripts.add_talks(held) for work, held in tally.talks.items()}
    spoken, talks = transcripts.find_corpus_speakers(talk_of)
    heard = {w: spoken & talk.counts.keys() if w in talks else () for w, talk in talk_of.items()}
    hosts = _find_shared(heard, _HOST_SHARE, _HOST_WORKS, least=3)
    names = speakers.name_speakers(spoken, tally.shown, tally.spellings)
    series: dict[str, list[str]] = defaultdict(list)
    for words in sorted(_find_shared(tally.titles, _SERIES_SHARE, _REPEATED_WORKS, least=3)):
        series[words.rpartition(" ")[0]].append(words.rpartition(" ")[2])
    said: dict[str, Iterable[object]] = {
        Entry.REFUSED: (w for w in tally.openers if tally.refuses(w)),
        Entry.REFUSED_RUN: (w for w in tally.openers if tally.lowers[w] >= 5 * tally.capitals[w] + 3),
        Entry.PRINT: tally.find_repeated(),
        Entry.HIDDEN: map(mentions.make_name_key, hosts),
        Entry.LABEL_END: (key[i:] for key in names for i in range(len(key))),
        Entry.LABEL_START: (key[:i] for key in names for i in range(1, len(key) + 1)),
        Entry.ROLE: (mentions.make_name_key(k) for k in spoken if speakers.names_role(k)),
        Entry.TALK: talks,
        Entry.NOUN: tally.nouns.learn(tally.lowers),
    }
    table = {f"{kind}{term}": "" for kind, terms in said.items() for term in terms}
    table.update((f"{Entry.SPEAKER}{key}", name) for key, name in names.items())
    table.update((f"{Entry.SERIES}{two}", pack_list(last)) for two, last in series.items())
    return table


def _find_shared(held: Mapping[str, Collection[T]], share: float, works: int, least: int) -> frozenset[T]:
    """What at least `share` of the works hold; nothing when there are fewer than `works`."""
    if len(held) < works:
        return frozenset()
    counts = Counter(x for things in held.values() for x in things)
    return frozenset(x for x, n in counts.items() if n >= max(share * round_down(len(held)), least))
