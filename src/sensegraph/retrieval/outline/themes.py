"""The themes of a corpus: its best phrases that are not near each other, each with what goes with it and who."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sensegraph.language.background import stem_of
from sensegraph.language.text import known_word
from sensegraph.language.word_lists import english_words, read_lexicon
from sensegraph.retrieval.outline.phrases import FEW, Gathered, Phrase, Spot
from sensegraph.retrieval.outline.values import Sentence, Theme

THEMES, BESIDE, NAMES, MORE, CANDIDATES = 7, 5, 4, 8, 24
TURNS = 8  # lines of talk that count as one place
SEVERAL = 3  # documents of talk that must hold a phrase beside a theme
NEAR = 0.15  # NPMI from which a phrase belongs to a theme
NEAR_ALONE, OFTEN_ALONE = 0.3, 3  # the same for a single common word in talk, and chunks that hold both
ALONE_BESIDE = 0.5  # what such a word counts beside a theme
TELLING = 1.0  # weirdness that several common words must have there on average
APART = 2.2  # how much nearness to a chosen theme takes from another
ALIKE, SAME_TEXTS = 0.9, 0.3  # likeness of the texts that hold two phrases, and what it leaves of the second one
WIDE, LEAST = 0.08, 3.5  # share of the units, and units, that a theme must reach to count in full
ALONE = 18.0  # times in a unit that a single word must come back to be half as good as several
AGAIN = 4.0  # the same for several words, from which they count in full in talk
LEADS = 0.5  # share of the units from which a speaker leads the talks
PERSONAL = 0.3  # worth of who or where somebody is
_OFTEN = 3  # times
_ROWS = 128  # phrases whose nearness to all is measured at once
_FIRST = 50  # phrases that tell whether a corpus is one of names


def is_person(name: str) -> bool:
    """Whether a name of two words or three is taken for a person's: by a first name, or since no word is English."""
    words = [w.casefold().strip(".") for w in name.split()]
    if not 2 <= len(words) <= 3 or any(not w.isalpha() or w.isupper() for w in name.replace("-", "").split()):
        return False
    if words[-1] in english_words("organisation-heads") | english_words("place-heads") | english_words("name-parts"):
        return False
    if words[0] in english_words("name-parts") or words[0] in english_words("titles") | english_words("roles"):
        return False
    return words[0] in read_lexicon("people")["first"] or not any(known_word(w) for w in words)


class ThemeFinder:
    """Finds the themes among the best phrases."""

    def __init__(self, gathered: Gathered) -> None:
        self.gathered = gathered
        found = gathered.best_phrases()
        offices = english_words("titles") | english_words("roles")
        heads = {stem_of(word) for word in offices}
        long = (gathered.phrase(stems) for stems in gathered.forms if len(stems) == 3 and stems[0] in heads)
        held = {p.stems[1:] for p in long if p.label.split()[0].casefold() in offices}
        self.people = {p.stems for p in found if p.named and self._is_person(p, held)}
        self.named = 2.5 * sum(p.named for p in found[:_FIRST]) > len(found[:_FIRST])
        parts = {s for stems in self.people for s in stems}
        self.phrases = [p for p in found if len(p.stems) > 1 or not p.named or p.stems[0] not in parts]
        self.talk = 2 * len(gathered.talks) >= len(gathered.notes)
        chunks = [gathered.chunks(p) for p in self.phrases]
        self.near = measure_nearness(mark_places(chunks))
        self.places = [{(i, at // TURNS) for i, at in p.spots} for p in self.phrases] if self.talk else chunks
        self.beside = measure_nearness(mark_places(self.places)) if self.talk else self.near
        self.units = len(gathered.titles)

    def _is_person(self, phrase: Phrase, held: Container[tuple[str, ...]]) -> bool:
        """Whether a name is a person's: by its words, an office before it, or its last word as one who says things."""
        last = phrase.label.split()[-1]
        says = self.gathered.says
        said = says[phrase.stems[1:]] > 2 * says[phrase.stems] and last.istitle() and not known_word(last.casefold())
        return is_person(phrase.label) or (len(phrase.stems) == 2 and (said or phrase.stems in held))

    def themes(self) -> tuple[list[Theme], list[str], float]:
        """The themes, phrases that would come next, and the share of the units that the themes reach."""
        chosen: list[int] = []
        used: set[int] = set()
        beside: dict[int, list[int]] = {}
        alone = [self._gain(i) for i in range(len(self.phrases))]
        gains = alone
        while len(chosen) < THEMES and (best := self._best(used, gains)) is not None:
            chosen.append(best)
            beside[best] = self._beside(best, used)
            used |= self._like(best).union(beside[best][:BESIDE])
            gains = [self._lessen(gain, i, best) for i, gain in enumerate(gains)]
        more: list[int] = []
        while len(more) < MORE and (best := self._best(used, alone)) is not None:
            more.append(best)
            used |= self._like(best)
        themes = [self._theme(i, beside[i]) for i in chosen]
        return themes, [self.phrases[i].label for i in more], self._reach(chosen, beside)

    def _best(self, used: set[int], gains: Sequence[float]) -> int | None:
        """The phrase that would be the next theme; people are none."""
        left = [i for i, p in enumerate(self.phrases) if i not in used and p.stems not in self.people]
        return max(left, key=lambda i: (gains[i], -i), default=None)

    def _like(self, i: int) -> set[int]:
        """A phrase with those that share half of their words with it."""
        own = set(self.phrases[i].stems)
        return {i, *(j for j, p in enumerate(self.phrases) if 2 * len(own.intersection(p.stems)) >= len(p.stems))}

    def _reach(self, chosen: Sequence[int], beside: Mapping[int, Sequence[int]]) -> float:
        """The share of units of which a theme is a matter: that hold its phrase often, or with what goes with it."""
        reached: set[int] = set()
        for i in chosen:
            times = Counter(self.gathered.unit[d] for d, _ in self.phrases[i].spots)
            near = {u for j in beside[i][:BESIDE] for u in self.phrases[j].units}
            reached |= {u for u, n in times.items() if n >= _OFTEN or u in near}
        return len(reached) / max(1, self.units)

    def _beside(self, best: int, used: set[int]) -> list[int]:
        """The phrases that go with one, nearest first: in chunks of several units where there are many."""
        head = self.phrases[best]
        own, least = set(head.stems), 1 if self.units < FEW else SEVERAL if self.talk else 2
        found = []
        for i in np.flatnonzero(self.beside[best] > NEAR).tolist():
            phrase = self.phrases[i]
            together = self.places[best] & self.places[i]
            units = len({self.gathered.unit[d] for d, _ in together})
            if (
                i not in used
                and not (self.talk and self._is_who_or_where(phrase))
                and units >= least
                and own.isdisjoint(phrase.stems)
                and self._tells(best, i, len(together))
            ):
                plain = self.talk and len(phrase.stems) == 1 and not phrase.named
                worth = (len(together) * phrase.score) ** 0.5 * (ALONE_BESIDE if plain else 1.0)
                found.append((-float(self.beside[best, i]) * worth, i))
        return [i for _, i in sorted(found)]

    def _tells(self, theme: int, i: int, together: int) -> bool:
        """Whether a phrase tells something beside a theme: in what people say, common words often do not."""
        phrase = self.phrases[i]
        if phrase.named or not self.talk:
            return True
        if len(phrase.stems) == 1:
            return bool(self.beside[theme, i] >= NEAR_ALONE) and together >= OFTEN_ALONE
        return sum(map(self.gathered.weirdness, phrase.stems)) >= TELLING * len(phrase.stems)

    def _gain(self, i: int) -> float:
        """What a phrase is worth as the first theme."""
        phrase = self.phrases[i]
        value = phrase.score * (1.0 if phrase.fit else 0.4)
        value *= min(1.0, len(phrase.units) / min(max(LEAST, WIDE * self.units), self.units / 2))
        if not self.named and self.units >= FEW:
            value *= PERSONAL if self._is_who_or_where(phrase) else 0.6 if phrase.named else 1.0
            again = len(phrase.spots) / len(phrase.units)
            value *= (
                min(0.5, again / ALONE) if len(phrase.stems) == 1 else min(1.0, again / AGAIN) if self.talk else 1.0
            )
        return value

    def _is_who_or_where(self, phrase: Phrase) -> bool:
        """Whether a phrase is called by an office or a trade, or is a place: a theme is a matter."""
        last = phrase.label.split()[-1].casefold().removesuffix("s")
        return (not phrase.named and last in english_words("roles")) or (
            phrase.named and len(phrase.stems) > 1 and last in english_words("place-heads")
        )

    def _lessen(self, gain: float, i: int, theme: int) -> float:
        """What is left of the gain of a phrase beside a theme."""
        disjoint = set(self.phrases[i].stems).isdisjoint(self.phrases[theme].stems)
        left = gain * (1 - min(0.95, max(0.0, APART * float(self.near[i, theme])))) * (1.0 if disjoint else 0.4)
        return left * (SAME_TEXTS if self.units < FEW and self._share_texts(i, theme) else 1.0)

    def _share_texts(self, i: int, theme: int) -> bool:
        """Whether two phrases come back in the same texts, as the terms of two editions do."""
        one, other = (Counter(self.gathered.unit[d] for d, _ in self.phrases[p].spots) for p in (i, theme))
        shared = sum(n * other[unit] for unit, n in one.items())
        lengths = sum(n * n for n in one.values()) * sum(n * n for n in other.values())
        return len(one) > 1 and shared * shared > ALIKE * ALIKE * lengths

    def _theme(self, i: int, near: Sequence[int]) -> Theme:
        head = self.phrases[i]
        others: list[Phrase] = []
        for j in near:
            phrase = self.phrases[j]
            if not any(set(phrase.stems) & set(o.stems) for o in others):
                others.append(phrase)
        people = [o.label for o in others if o.stems in self.people and o.fit][:NAMES]
        rest = [o for o in others if o.stems not in self.people][:BESIDE]
        label = f"{head.label} ({head.short.label})" if head.short else head.label
        people = self._list_speakers(head) if self.talk else people
        return Theme(label, len(head.units), tuple(o.label for o in rest), tuple(people), self.sentences(head, rest))

    def _list_speakers(self, phrase: Phrase) -> list[str]:
        """Who says a phrase most, without those who lead the talks."""
        said = Counter(self.gathered.said_by(spot)[0] for spot in dict.fromkeys(phrase.spots))
        hosts = {"", *(name for name, n in self.gathered.voices.items() if n >= LEADS * self.units)}
        return [name for name, n in sorted(said.items(), key=lambda x: (-x[1], x[0])) if name not in hosts and n > 1][
            :NAMES
        ]

    def sentences(self, head: Phrase, others: Sequence[Phrase]) -> tuple[Sentence, ...]:
        """The likeliest sentences for a phrase, one a unit: those that stand alone, with what goes with it."""
        beside = Counter(spot for other in others for spot in other.spots)
        scored = []
        for spot in dict.fromkeys(head.spots):
            line = self.gathered.line(spot)
            scored.append((line.worth * (1 + 0.6 * beside[spot]), spot))
        return pick_sentences(self.gathered, scored, CANDIDATES)


def pick_sentences(gathered: Gathered, scored: Sequence[tuple[float, Spot]], most: int) -> tuple[Sentence, ...]:
    """The best of some lines, one of each unit before there are two, with who says them."""
    ranked = sorted((pair for pair in scored if pair[0]), key=lambda pair: (-pair[0], *gathered.place(pair[1])))
    units = Counter[int]()
    rounds = []
    for place, (_, spot) in enumerate(ranked):
        units[gathered.unit[spot[0]]] += 1
        rounds.append((units[gathered.unit[spot[0]]], place, spot))
    return tuple(gathered.sentence(spot) for _, _, spot in sorted(rounds)[:most])


def mark_places(places: Sequence[set[Spot]]) -> NDArray[np.float32]:
    """Rows that say which of all places each set has."""
    number = {spot: i for i, spot in enumerate(sorted(set().union(*places)))}
    rows = np.zeros((len(places), len(number)), np.float32)
    for row, own in zip(rows, places, strict=True):
        row[[number[spot] for spot in own]] = 1
    return rows


def measure_nearness(held: NDArray[np.float32]) -> NDArray[np.float32]:
    """The normalised pointwise mutual information of rows that say which chunks hold them; 0 for less than 2 shared."""
    alone, chunks = np.einsum("ij,ij->i", held, held), max(held.shape[1], 2)
    found = np.zeros((len(held), len(held)), np.float32)
    for at in range(0, len(held), _ROWS):
        together = held[at : at + _ROWS] @ held.T
        with np.errstate(divide="ignore", invalid="ignore"):
            pmi = np.log(together * chunks / np.outer(alone[at : at + _ROWS], alone))
            np.divide(pmi, -np.log(together / chunks - 1e-9), out=found[at : at + _ROWS], where=together >= 2)
    np.fill_diagonal(found, 0)
    return np.nan_to_num(found, copy=False)
