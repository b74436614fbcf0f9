"""The phrases that a corpus turns on: what it says often, in many of its units, and more than English at large.

A unit is what has one title: a document, or an episode or chapter that was cut into records. The score of a phrase is
units^.75 · log(1 + N/units) · log(1 + times) · (.5 + weirdness)^1.5 · min(2, PMI/4); weirdness is the mean logarithm of
how much oftener its words stand here than in English at large.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from weakref import proxy

from sensegraph.language.background import RAREST, read_background, stem_of
from sensegraph.language.speakers import write_label
from sensegraph.language.text import fold
from sensegraph.language.transcripts import find_corpus_speakers
from sensegraph.language.word_lists import ENGLISH_MONTHS, ENGLISH_WEEKDAYS, SHORT_MONTHS, read_lexicon, read_list
from sensegraph.retrieval.outline.notes import Line, Noted
from sensegraph.retrieval.outline.values import Sentence

Spot = tuple[int, int]  # a document and one of its lines
REPEATED, REPEATED_FEW = 0.06, 0.4  # share of the units from which a sentence is boilerplate; where units are few
FEW = 30  # units
COMMON = 0.75  # share of the units from which a phrase tells nothing apart
COMMON_ALONE, _BURST = 0.4, 1.8  # the same for a single word where no table helps; times a unit that it must come back
SINGLE = 2.2  # weirdness that a single word must have
NAMED = 0.8  # share of the writings with a capital from which a phrase is a name
BURST = 3.0  # most that coming back within a unit counts
PART = 0.6  # share of a phrase's places within a longer one from which it is a part of that
MOST = 400  # phrases that are kept
STANDS = 0.3  # worth of a line that stands alone
OWN = 0.2  # share of the titles up to which a word is one's own
_TIMES = frozenset((*ENGLISH_MONTHS, *SHORT_MONTHS, *ENGLISH_WEEKDAYS, "am", "pm")) - {"march", "may"}
_ENDINGS = frozenset("txt json html pdf docx".split())
_SMOOTHING = 300.0  # sentences
_ACRONYM = 6  # letters of one, at most
_OPENING = 5  # lines that begin a unit
_NUMERAL = re.compile(r"[ivxlc]+")


class Phrase:
    """A phrase by its stems: how it is written, and the units and lines that hold it."""

    def __init__(self, stems: tuple[str, ...], forms: Mapping[str, Sequence[int]], gathered: Gathered) -> None:
        self.stems, self.forms = stems, forms
        self.gathered = proxy(gathered)  # which holds it: so that both go at once when nobody has them
        self.documents = list(chain.from_iterable(forms.values()))
        self.short: Phrase | None = None
        self.score = 0.0

    @cached_property
    def units(self) -> set[int]:
        """The units that hold it."""
        unit = self.gathered.unit
        return {unit[i] for i in self.documents}

    @cached_property
    def named(self) -> bool:
        """Whether it is mostly written as a name; what stands in capitals from end to end is only loud."""
        capital = sum(len(held) for form, held in self.forms.items() if all(w[0].isupper() for w in form.split()))
        return capital > NAMED * sum(map(len, self.forms.values())) and not all(map(_is_loud, self.forms))

    @cached_property
    def label(self) -> str:
        """Its usual writing, with capitals only where they prevail."""
        best = min(self.forms, key=lambda form: (-len(self.forms[form]), form))
        lower = sum(len(held) for form, held in self.forms.items() if form == form.casefold() or _is_loud(form))
        return best.casefold() if 2 * lower >= sum(map(len, self.forms.values())) else best

    @cached_property
    def fit(self) -> bool:
        """Whether one of the lines that hold it stands alone."""
        return any(self.gathered.line(spot).worth >= STANDS for spot in self.spots)

    @cached_property
    def spots(self) -> list[Spot]:
        """The lines that hold it, or its initials."""
        notes, repeated = self.gathered.notes, self.gathered.repeated
        own = ((form, i) for form, held in self.forms.items() for i in dict.fromkeys(held))
        spots = [(i, place) for form, i in own for place in notes[i].phrases[form] if place not in repeated[i]]
        return spots + (self.short.spots if self.short else [])


def _is_loud(form: str) -> bool:
    return form.isupper() and (len(form) > _ACRONYM or " " in form)


class Gathered:
    """What the notes of all documents add up to."""

    def __init__(self, notes: Sequence[Noted]) -> None:
        notes = self.notes = [note for note in notes if note.lines]
        titles = [note.title for note in notes]
        self.titles = sorted(set(titles))
        number = {title: i for i, title in enumerate(self.titles)}
        self.unit = [number[title] for title in titles]
        self.english = 2 * sum(note.language == "en" for note in notes) >= len(notes)
        self.sentences = sum(len(note.lines) for note in notes)
        works = {str(i): note.talk for i, note in enumerate(notes)}
        known, talks = find_corpus_speakers(works)
        self.talks = frozenset(map(int, talks))
        labels = {key: name for note in notes for _, _, key, name in note.labels if key in known}
        self.speakers = {key: write_label(labels[key]) for key in sorted(labels)}

    @cached_property
    def have_titles(self) -> bool:
        """Whether most titles have a word that few others have: they tell units apart by more than a number."""
        words = [set(re.findall(r"[^\W\d_]{3,}", title)) - _ENDINGS for title in self.titles]
        often = Counter(chain.from_iterable(words))
        rare = max(2, OWN * len(words))
        return 2 * sum(any(often[w] <= rare for w in own) for own in words) > len(words)

    @cached_property
    def repeated(self) -> list[set[int]]:
        """The lines of each document that stand in many units."""
        marks: dict[int, set[int]] = defaultdict(set)
        for note, unit in zip(self.notes, self.unit, strict=True):
            marks[unit].update(*[line.marks for line in note.lines])
        n = len(self.titles)
        limit = max(3.0, (REPEATED if n >= FEW else REPEATED_FEW) * n)
        often = {mark for mark, units in Counter(chain.from_iterable(marks.values())).items() if units >= limit}
        return [{i for i, line in enumerate(note.lines) if not often.isdisjoint(line.marks)} for note in self.notes]

    def said_by(self, spot: Spot) -> tuple[str, int]:
        """Who says a line, and where in its chunk the words begin; nobody where that is not known."""
        document, place = spot
        line = self.notes[document].lines[place]
        name, start = "", line.start
        for at, behind, key, _ in self.notes[document].labels if document in self.talks else ():
            if at > place:
                break
            name = self.speakers.get(key, "")
            start = behind if at == place and name else line.start
        return name, start

    def line(self, spot: Spot) -> Line:
        """A line of a document."""
        return self.notes[spot[0]].lines[spot[1]]

    def place(self, spot: Spot) -> tuple[str, str, int]:
        """What orders lines: the title of the unit, the chunk, and the place in it."""
        note, line = self.notes[spot[0]], self.line(spot)
        return self.titles[self.unit[spot[0]]], note.chunks[line.chunk], line.start

    def sentence(self, spot: Spot) -> Sentence:
        """A line as it is shown: with who says it."""
        line = self.line(spot)
        name, start = self.said_by(spot)
        return Sentence(self.notes[spot[0]].chunks[line.chunk], start, line.end, name)

    def chunks(self, phrase: Phrase) -> set[Spot]:
        """The chunks that hold a phrase: each a document and its number there."""
        return {(i, self.notes[i].lines[place].chunk) for i, place in phrase.spots}

    def opening(self, unit: int, most: int = _OPENING) -> list[Spot]:
        """The first lines of a unit."""
        lines = ((i, place) for i in self._documents[unit] for place in range(len(self.notes[i].lines)))
        return list(islice(lines, most))

    @cached_property
    def _documents(self) -> list[list[int]]:
        """The documents of each unit."""
        found: list[list[int]] = [[] for _ in self.titles]
        for document, unit in enumerate(self.unit):
            found[unit].append(document)
        return found

    @cached_property
    def voices(self) -> Counter[str]:
        """In how many units each speaker speaks."""
        pairs = {
            (self.speakers[key], self.unit[i])
            for i in self.talks
            for _, _, key, _ in self.notes[i].labels
            if key in self.speakers
        }
        return Counter(name for name, _ in pairs)

    @cached_property
    def forms(self) -> dict[tuple[str, ...], dict[str, list[int]]]:
        """How each phrase is written, with the document of each of its places in what is not repeated."""
        places: dict[str, list[int]] = {}
        for i, (note, repeated) in enumerate(zip(self.notes, self.repeated, strict=True)):
            for form, held in note.phrases.items():
                times = len(held) if repeated.isdisjoint(held) else sum(place not in repeated for place in held)
                if form in places:
                    places[form] += [i] * times
                elif times:
                    places[form] = [i] * times
        found: dict[tuple[str, ...], dict[str, list[int]]] = {}
        for form, documents in places.items():  # most are written in one way
            stems = tuple(map(stem_of, form.split()))
            if stems in found:
                found[stems][form] = documents
            else:
                found[stems] = {form: documents}
        return found

    @cached_property
    def titled(self) -> dict[tuple[str, ...], list[int]]:
        """The documents whose titles hold each phrase."""
        found: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for i, note in enumerate(self.notes):
            for form in note.titled:
                found[tuple(map(stem_of, form.split()))].append(i)
        return found

    def phrase(self, stems: tuple[str, ...]) -> Phrase:
        """The phrase of these stems."""
        return Phrase(stems, self.forms[stems], self)

    @cached_property
    def phrases(self) -> dict[tuple[str, ...], Phrase]:
        """The phrases that come back; one that is written by its initials too ("AI") counts with them."""
        found = {}
        for stems, forms in self.forms.items():
            form, places = next(iter(forms.items()))
            if len(forms) > 1 or len(places) > 1 or form.isupper():
                found[stems] = Phrase(stems, forms, self)
        loud = [p for p in found.values() if len(p.stems) == 1 and any(map(str.isupper, p.forms))]
        short = {p.label: p for p in loud if p.label.isupper() and len(p.label) > 1}
        spelt: dict[str, list[Phrase]] = defaultdict(list)
        begun = {label[:2] for label in short}
        for stems in self.forms:
            if len(stems) < 2 or (stems[0][0] + stems[1][0]).upper()[:2] not in begun:
                continue
            if (initials := "".join([s[0] for s in stems]).upper()) in short:
                spelt[initials].append(found.get(stems) or self.phrase(stems))
        for initials, phrases in spelt.items():
            one, long = short[initials], max(phrases, key=lambda p: (len(p.documents), p.stems))
            fewer = min(len(one.units), len(long.units))
            if 2 * len(one.units & long.units) > fewer and 9 * len(long.documents) > len(one.documents):
                long.units |= one.units
                long.documents += one.documents
                long.short = found.pop(one.stems)
                found[long.stems] = long
        return found

    @cached_property
    def counts(self) -> Counter[str]:
        """In how many sentences each stem stands in a noun phrase."""
        words: dict[str, int] = {}
        for note in self.notes:  # most documents have most words
            for word, n in note.words.items():
                words[word] = words.get(word, 0) + n
        counts: Counter[str] = Counter()
        for word, n in words.items():
            counts[stem_of(word)] += n
        return counts

    @cached_property
    def says(self) -> Counter[tuple[str, ...]]:
        """How often the text says that somebody says something, by the stems of the name and by each of its words."""
        found: Counter[tuple[str, ...]] = Counter()
        for note in self.notes:
            for name, n in note.says.items():
                stems = tuple(stem_of(w.strip(".")) for w in name.split())
                for part in {stems, *((s,) for s in stems)}:
                    found[part] += n
        return found

    def weirdness(self, stem: str) -> float:
        """The logarithm of how much oftener a stem stands here than in English at large."""
        here = self.counts[stem] / (self.sentences + _SMOOTHING)
        return math.log(1 + here / (read_background().get(stem, 0.0) + RAREST))

    def best_phrases(self) -> list[Phrase]:
        """The phrases that tell most of the corpus, best first."""
        n = len(self.titles)
        total = sum(self.counts.values())
        least = min(3, 1 + n // 10)
        general = read_lexicon("question-words")["no-subject"] | read_list("general")
        names = {fold(w) for name in self.speakers.values() for w in name.split()}
        scored: dict[tuple[str, ...], Phrase] = {}
        for stems, phrase in self.phrases.items():
            times = len(phrase.documents)
            if times < 3 or (units := len(phrase.units)) < least or (n > FEW / 3 and units > COMMON * n):
                continue
            words = phrase.label.casefold().split()
            small = len(words) == 1 and (
                _NUMERAL.fullmatch(words[0]) or (len(words[0]) < 3 and not phrase.label.isupper())
            )
            if (
                small
                or not _TIMES.isdisjoint(words)
                or words[0] in general
                or words[-1] in general
                or not names.isdisjoint(words)
            ):
                continue
            if self.english:
                weird = [self.weirdness(s) for s in stems]
            else:  # where no table says what is common: what comes back in a unit is a matter of it
                weird = [min(3.0, times / units) if units < COMMON_ALONE * n or len(stems) > 1 else 0.0]
            if max(weird) < 1:
                continue
            if len(stems) > 1:
                pmi = math.log(times * total ** (len(stems) - 1) / math.prod(max(1, self.counts[s]) for s in stems))
                tied = min(2.0, pmi / 4) if pmi >= 3 or n < FEW else 0.0
            else:
                tied = 0.45 if weird[0] >= (SINGLE if self.english else _BURST) else 0.0
            mean = sum(weird) / len(weird)
            phrase.score = (
                units**0.75 * math.log(1 + n / units) * math.log(1 + times) * (0.5 + mean) ** 1.5 * max(tied, 0.0)
            )
            phrase.score *= min(BURST, math.sqrt(times / units))  # a matter is spoken of again where it is
            begun = min(held[0] for held in phrase.forms.values())
            titled = {self.unit[i] for i in self.titled.get(stems, ()) if i >= begun}
            phrase.score *= 1 + 0.5 * min(2.0, math.log(1 + len(titled)))
            if phrase.score:
                scored[stems] = phrase
        for stems in sorted(scored, key=lambda s: (-len(s), s)):
            for begin in range(len(stems)):
                for end in range(begin + 1, len(stems) + 1):
                    part = scored.get(stems[begin:end])
                    if part is None or end - begin == len(stems):
                        continue
                    if len(scored[stems].documents) > PART * len(part.documents):
                        part.score *= 0.1
                    elif len(part.stems) > 1 and part.score > scored[stems].score:
                        scored[stems].score *= 0.3
        return sorted(scored.values(), key=lambda p: (-p.score, p.stems))[:MOST]
