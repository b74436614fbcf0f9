"""The first pass: what one document shows by itself."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sensegraph.engines.offline.extraction import scan, wrapping
from sensegraph.engines.offline.extraction.names import Sentence, candidates
from sensegraph.engines.offline.extraction.records import Candidate, Observation, Phrase, Value
from sensegraph.engines.offline.extraction.scan import Page, Word
from sensegraph.language import speakers, times
from sensegraph.language.speakers import Label
from sensegraph.language.tagging import tags
from sensegraph.language.text import HAN
from sensegraph.language.word_lists import english, stop_words
from sensegraph.types import Chunk

_NOUNS = re.compile(r"[JnN]*[nN]+")
_LATIN_NAME = re.compile(r"[A-Z][A-Za-z0-9&.\-]*[A-Za-z0-9](?: [A-Z][A-Za-z0-9&.\-]*[A-Za-z0-9])*")
_HAN_RUN = re.compile(rf"(?:{HAN.pattern}|[·])+")
_TITLE_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_BETWEEN = r"[\s\-–&.,:!]{1,3}"
_LONGEST_WORD = 60
_PHRASE_WORDS = 4
_MOST_PHRASES = 40  # of one sentence: a word list is no sentence


@dataclass(slots=True, frozen=True)
class _Gathered:
    """What has been found so far; `subjects` are the mentions of the title, known from the start."""

    subjects: Sequence[tuple[int, int]] = ()

    names: list[Candidate] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    phrases: list[Phrase] = field(default_factory=list)
    capitals: list[str] = field(default_factory=list)
    lowers: list[str] = field(default_factory=list)


def observed(chunks: Sequence[Chunk]) -> Observation:
    """The observation of the document with these chunks."""
    page = scan.page(chunks)
    subjects = _title_spans(page)
    labels = speakers.openings(page.text) if page.language in ("en", "de", "xx") else []
    labelled = speakers.sure(labels)
    spans = _unlabelled(page, labelled)
    found = _Gathered(subjects=subjects)
    reader = _READERS[page.language]
    for number, (start, end) in enumerate(spans):
        reader(page, number, start, end, found)
    found.names.extend(_speaking(page, spans, labelled))
    shown = {x.key: page.text[x.start : x.name_end] for x in sorted(labelled, key=lambda x: (x.key, -x.start))}
    head, tail = wrapping.edges(page.text)
    return Observation(
        work=page.title or (chunks[0].document if chunks else ""),
        title=page.title,
        language=page.language,
        bounds=tuple(b - page.base for c in chunks for b in (c.start, c.start + len(c.text))),
        head=head,
        tail=tail,
        sentences=tuple(x for span in spans for x in span),
        prints=tuple(p for a, b in spans for p in scan.prints(page.text[a:b])),
        names=tuple(sorted(found.names, key=lambda c: (c.start, c.end))),
        values=tuple(found.values),
        phrases=tuple(found.phrases),
        labels=speakers.counted(labels),
        shown=shown,
        spellings=speakers.spellings(f"{page.title}\n{page.text}", sorted({x for x in shown.values() if x.isupper()})),
        capitals=dict(sorted(Counter(found.capitals).items())),
        lowers=dict(sorted(Counter(found.lowers).items())),
    )


def _unlabelled(page: Page, labelled: Sequence[Label]) -> list[tuple[int, int]]:
    """Sentences without the speaker labels that open them; a sentence that was only a label is dropped."""
    ends = {label.start: label.end for label in labelled}
    spans = []
    for start, end in page.spans:
        behind = ends.get(start, start)
        while behind < end and page.text[behind].isspace():
            behind += 1
        if behind < end:
            spans.append((behind, end))
    return spans


def _speaking(page: Page, spans: Sequence[tuple[int, int]], labelled: Sequence[Label]) -> list[Candidate]:
    """A mention for every label, in the sentence that follows it."""
    starts = [a for a, _ in spans]
    made = []
    for label in labelled:
        number = bisect_left(starts, label.end - 1)
        if number < len(spans) and speakers.speaks(label.key):
            start, end = speakers.person(page.text, label)
            made.append(Candidate(number, start, end, page.text[start:end], marks="s"))
    return made


def _read_english(page: Page, number: int, start: int, end: int, found: _Gathered) -> None:
    words = scan.words(page.text, start, end)
    taken = _values(page, number, start, end, words, found)
    named = _names(page, number, words, taken, found)
    scan.count(words, found.capitals, found.lowers)
    _noun_phrases(number, words, named | taken, found)


def _read_cased(page: Page, number: int, start: int, end: int, found: _Gathered) -> None:
    words = scan.words(page.text, start, end)
    taken = _values(page, number, start, end, words, found)
    named = _names(page, number, words, taken, found)
    scan.count(words, found.capitals, found.lowers)
    if page.language == "xx":
        _words_as_phrases(page, number, [w for i, w in enumerate(words) if i not in named | taken], found)


def _read_uncased(page: Page, number: int, start: int, end: int, found: _Gathered) -> None:
    words = scan.words(page.text, start, end)
    taken = _values(page, number, start, end, words, found)
    _words_as_phrases(page, number, [w for i, w in enumerate(words) if i not in taken], found)


def _read_chinese(page: Page, number: int, start: int, end: int, found: _Gathered) -> None:
    for match in _LATIN_NAME.finditer(page.text, start, end):
        if match.end() - match.start() > 1:
            found.names.append(Candidate(number, *match.span(), match[0]))
    for match in _HAN_RUN.finditer(page.text, start, end):
        if match.end() - match.start() > 1:
            found.phrases.append(Phrase(number, match.span(), (match[0],)))
    for a, b in times.times(page.text, start, end):
        found.values.append(Value(number, a, b, page.text[a:b], "time"))


_READERS: dict[str, Callable[[Page, int, int, int, _Gathered], Any]] = {
    "en": _read_english,
    "de": _read_cased,
    "xx": _read_cased,
    "un": _read_uncased,
    "zh": _read_chinese,
}


def _values(page: Page, number: int, start: int, end: int, words: Sequence[Word], found: _Gathered) -> set[int]:
    """Times, then numbers beside them; returns the positions of the words of times and amounts with letters."""
    spans = list(times.times(page.text, start, end))
    values = [Value(number, a, b, page.text[a:b], "time") for a, b in spans]
    if page.language == "en" or any(w.text[0].isdigit() for w in words):
        for a, b in times.numbers(page.text, start, end):
            if all(b <= c or d <= a for c, d in spans):
                values.append(Value(number, a, b, page.text[a:b], "number"))
    found.values.extend(sorted(values, key=lambda v: v.start))
    inside = {i for i, w in enumerate(words) for a, b in spans if a <= w.start and w.end <= b} if spans else set()
    if codes := scan.codes(page.text, start, end):
        inside |= {i for i, w in enumerate(words) for a, b in codes if a < w.end and w.start < b}
    return inside


def _names(page: Page, number: int, words: Sequence[Word], barred: set[int], found: _Gathered) -> set[int]:
    """Collects the candidates of a sentence; returns the positions of their words that surely are names."""
    made = candidates(_sentence(page, number, words, barred, found))
    found.names.extend(made)
    inside = [(c.inner if c.first and c.inner >= 0 else c.start, c.end) for c in made if not (c.first and c.inner < 0)]
    if not inside:
        return set()
    return {i for i, w in enumerate(words) for a, b in inside if a <= w.start < b}


def _sentence(page: Page, number: int, words: Sequence[Word], barred: set[int], found: _Gathered) -> Sentence:
    start, end = (words[0].start, words[-1].end) if words else (0, 0)
    subjects = tuple(s for s in found.subjects if start <= s[0] and s[1] <= end)
    return Sentence(page.text, number, words, barred, page.language, subjects)


def _title_spans(page: Page) -> list[tuple[int, int]]:
    """Where the text says the document's title of several words, as it is written or with other hyphens."""
    words = _TITLE_WORD.findall(page.title.split(" (")[0].split(", ")[0])
    if not 1 < len(words) < 9 or not words[0][0].isupper() or scan.codes(page.title, 0, len(page.title)):
        return []
    pattern = re.compile(rf"\b{_BETWEEN.join(map(re.escape, words))}\b")
    return [m.span() for m in pattern.finditer(page.text)]


def _noun_phrases(number: int, words: Sequence[Word], taken: set[int], found: _Gathered) -> None:
    """Runs of adjectives and nouns of an English sentence, general words dropped at both ends."""
    lower = scan.lower(words)
    letters = tags(lower)
    hidden = {i for i, w in enumerate(words) if i and w.text[0].isupper()} | taken
    if hidden:
        shown = list(letters)
        for i in hidden:
            shown[i] = "X"
        letters = "".join(shown)
    general, count = english("general"), 0
    for match in _NOUNS.finditer(letters):
        first, last = match.span()
        while first < last and (lower[first] in general or lower[first] in stop_words("en")):
            first += 1
        while last > first and lower[last - 1] in general:
            last -= 1
        first = max(first, last - _PHRASE_WORDS)
        if first == last or any(len(w) < 2 or len(w) > _LONGEST_WORD for w in lower[first:last]):
            continue
        spans = tuple(x for w in words[first:last] for x in (w.start, w.end))
        found.phrases.append(Phrase(number, spans, tuple(lower[first:last])))
        count += 1
        if count >= _MOST_PHRASES:
            return


def _words_as_phrases(page: Page, number: int, words: Sequence[Word], found: _Gathered) -> None:
    """In a language without a tagger every longer word that is no stop word may be a concept."""
    stops = stop_words(page.language)
    for w in words[: 4 * _MOST_PHRASES]:
        folded = w.text.casefold()
        if 3 < len(w.text) <= _LONGEST_WORD and w.text.isalpha() and folded not in stops:
            found.phrases.append(Phrase(number, (w.start, w.end), (folded,)))
