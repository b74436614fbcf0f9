"""The first pass: what one document shows by itself."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from sensegraph.engines.offline.extraction import boilerplate, page_text
from sensegraph.engines.offline.extraction.name_candidates import Sentence, find_name_candidates
from sensegraph.engines.offline.extraction.observations import Candidate, Observation, Phrase, Value
from sensegraph.engines.offline.extraction.page_text import Page, Word
from sensegraph.language import speakers
from sensegraph.language.dates import stated_dates
from sensegraph.language.text import HAN, tag_words
from sensegraph.language.word_lists import english_words, stop_words
from sensegraph.types import Chunk

_NOUNS = re.compile(r"[JnN]*[nN]+")
_LATIN_NAME = re.compile(r"[A-Z][A-Za-z0-9&.\-]*[A-Za-z0-9](?: [A-Z][A-Za-z0-9&.\-]*[A-Za-z0-9])*")
_HAN_RUN = re.compile(rf"(?:{HAN.pattern}|[·])+")
_TITLE_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_BETWEEN = r"[\s\-–&.,:!]{1,3}"
_LONGEST_WORD = 60
_PHRASE_WORDS = 4
_MOST_PHRASES = 40  # of one sentence: a word list is no sentence


class _PageReader:
    """Reads a page sentence by sentence, and holds what has been found so far."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.names: list[Candidate] = []
        self.values: list[Value] = []
        self.phrases: list[Phrase] = []
        self.capitals: list[str] = []
        self.lowers: list[str] = []
        self.subjects: list[tuple[int, int]] = []
        # where the text says the document's title of several words, as it is written or with other hyphens
        words = _TITLE_WORD.findall(page.title.split(" (")[0].split(", ")[0])
        if 1 < len(words) < 9 and words[0][0].isupper() and not page_text.find_codes(page.title, 0, len(page.title)):
            pattern = re.compile(rf"\b{_BETWEEN.join(map(re.escape, words))}\b")
            self.subjects = [m.span() for m in pattern.finditer(page.text)]

    def read(self, number: int, start: int, end: int) -> None:
        """Read one sentence as its language asks for: names by capitals, phrases by tags or by words."""
        language = self.page.language
        if language == "zh":
            self._read_chinese(number, start, end)
            return
        words = page_text.locate_words(self.page.text, start, end)
        taken = self._collect_values(number, start, end, words)
        if language != "un":
            named = self._collect_names(number, words, taken)
            page_text.count_capitals(words, self.capitals, self.lowers)
            taken |= named
        if language == "en":
            self._collect_noun_phrases(number, words, taken)
        elif language != "de":
            self._collect_words(number, [w for i, w in enumerate(words) if i not in taken])

    def _read_chinese(self, number: int, start: int, end: int) -> None:
        text = self.page.text
        for match in _LATIN_NAME.finditer(text, start, end):
            if match.end() - match.start() > 1:
                self.names.append(Candidate(number, *match.span(), match[0]))
        for match in _HAN_RUN.finditer(text, start, end):
            if match.end() - match.start() > 1:
                self.phrases.append(Phrase(number, match.span(), (match[0],)))
        for a, b in stated_dates.find_times(text, start, end):
            self.values.append(Value(number, a, b, text[a:b], "time"))

    def _collect_values(self, number: int, start: int, end: int, words: Sequence[Word]) -> set[int]:
        """Times, then numbers beside them; returns the positions of the words of times and amounts with letters."""
        text = self.page.text
        spans = list(stated_dates.find_times(text, start, end))
        values = [Value(number, a, b, text[a:b], "time") for a, b in spans]
        if self.page.language == "en" or any(w.text[0].isdigit() for w in words):
            for a, b in stated_dates.find_numbers(text, start, end):
                if all(b <= c or d <= a for c, d in spans):
                    values.append(Value(number, a, b, text[a:b], "number"))
        self.values.extend(sorted(values, key=lambda v: v.start))
        inside = {i for i, w in enumerate(words) for a, b in spans if a <= w.start and w.end <= b} if spans else set()
        if codes := page_text.find_codes(text, start, end):
            inside |= {i for i, w in enumerate(words) for a, b in codes if a < w.end and w.start < b}
        return inside

    def _collect_names(self, number: int, words: Sequence[Word], barred: set[int]) -> set[int]:
        """Collects the candidates of a sentence; returns the positions of their words that surely are names."""
        start, end = (words[0].start, words[-1].end) if words else (0, 0)
        subjects = tuple(s for s in self.subjects if start <= s[0] and s[1] <= end)
        made = find_name_candidates(Sentence(self.page.text, number, words, barred, self.page.language, subjects))
        self.names.extend(made)
        sure = [c for c in made if not c.first or c.inner >= 0]
        inside = [(c.inner if c.first else c.start, c.end) for c in sure]
        if not inside:
            return set()
        return {i for i, w in enumerate(words) for a, b in inside if a <= w.start < b}

    def _collect_noun_phrases(self, number: int, words: Sequence[Word], taken: set[int]) -> None:
        """Runs of adjectives and nouns of an English sentence, general words dropped at both ends."""
        lower = page_text.lower_words(words)
        letters = tag_words(lower)
        hidden = {i for i, w in enumerate(words) if i and w.text[0].isupper()} | taken
        if hidden:
            shown = list(letters)
            for i in hidden:
                shown[i] = "X"
            letters = "".join(shown)
        general, count = english_words("general"), 0
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
            self.phrases.append(Phrase(number, spans, tuple(lower[first:last])))
            count += 1
            if count >= _MOST_PHRASES:
                return

    def _collect_words(self, number: int, words: Sequence[Word]) -> None:
        """In a language without a tagger every longer word that is no stop word may be a concept."""
        stops = stop_words(self.page.language)
        for w in words[: 4 * _MOST_PHRASES]:
            folded = w.text.casefold()
            if 3 < len(w.text) <= _LONGEST_WORD and w.text.isalpha() and folded not in stops:
                self.phrases.append(Phrase(number, (w.start, w.end), (folded,)))


def observe_document(chunks: Sequence[Chunk]) -> Observation:
    """The observation of the document with these chunks."""
    page = page_text.make_page(chunks)
    labels = speakers.find_label_candidates(page.text) if page.language in ("en", "de", "xx") else []
    labelled = speakers.select_sure_labels(labels)
    # sentences without the speaker labels that open them; a sentence that was only a label is dropped
    ends = {label.start: label.end for label in labelled}
    spans = []
    for start, end in page.spans:
        behind = ends.get(start, start)
        while behind < end and page.text[behind].isspace():
            behind += 1
        if behind < end:
            spans.append((behind, end))
    found = _PageReader(page)
    for number, (start, end) in enumerate(spans):
        found.read(number, start, end)
    # every label is a mention, in the sentence that follows it
    starts = [a for a, _ in spans]
    for label in labelled:
        number = bisect_left(starts, label.end - 1)
        if number < len(spans) and speakers.can_name_speaker(label.key):
            start, end = speakers.find_name_span(page.text, label)
            found.names.append(Candidate(number, start, end, page.text[start:end], marks="s"))
    shown = {x.key: page.text[x.start : x.name_end] for x in sorted(labelled, key=lambda x: (x.key, -x.start))}
    head, tail = boilerplate.cut_edges(page.text)
    return Observation(
        work=page.title or (chunks[0].document if chunks else ""),
        title=page.title,
        language=page.language,
        bounds=tuple(b - page.base for c in chunks for b in (c.start, c.start + len(c.text))),
        head=head,
        tail=tail,
        sentences=tuple(x for span in spans for x in span),
        prints=tuple(p for a, b in spans for p in page_text.hash_sentence(page.text[a:b])),
        names=tuple(sorted(found.names, key=lambda c: (c.start, c.end))),
        values=tuple(found.values),
        phrases=tuple(found.phrases),
        labels=speakers.count_labels(labels),
        shown=shown,
        spellings=speakers.count_spellings(
            f"{page.title}\n{page.text}", sorted({x for x in shown.values() if x.isupper()})
        ),
        capitals=dict(sorted(Counter(found.capitals).items())),
        lowers=dict(sorted(Counter(found.lowers).items())),
    )
