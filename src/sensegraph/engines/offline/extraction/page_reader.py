"""The first pass: what one document shows by itself, read sentence by sentence from the text of its chunks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile
from zlib import crc32

from sensegraph.engines.offline.extraction.names import find_name_candidates
from sensegraph.engines.offline.extraction.observations import Candidate, Observation, Phrase, Value, Words
from sensegraph.engines.offline.extraction.unspaced_names import find_unspaced_names
from sensegraph.language import speakers, transcripts
from sensegraph.language.collapsing import Collapsed, collapse_blanks
from sensegraph.language.dates import stated_dates
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import (
    HAN,
    blank_others,
    detect_language,
    split_letters,
    split_small_letters,
    tag_words,
)
from sensegraph.language.truecase import recase_text
from sensegraph.language.word_lists import english_words, read_lexicon, stop_words
from sensegraph.types import Chunk

LONGEST = 1200  # characters of a sentence; longer ones (tables, text without stops) are cut at white space
_SCANNED = 40_000  # characters in which stop words are counted
_BLOCK = 20_000
_FILLING = (re.compile(r"[^\S\n][^\S\n]{39,}"), re.compile(r"[.!?…\"'”’»)\]][.!?…\"'”’»)\]]{39,}"))
# blanks and leaders: they split, and cost no time
TOKEN = re.compile(r"[^\W_]+(?:['’.\-&][^\W_]+)*|[^\w\s]|_+")
EDGE = 400  # characters of a document's beginning and end that are looked at
_CODED = re.compile(r"[\d/@_\\{\[.w](?:(?<![.w])|(?<=\.)\w{2,5}\b|(?<=w)ww)")  # one class first, as it is found soonest
_FILE = "txt|pdf|docx?|html?|mp[34]|wav|jpe?g|png|gif|csv|tsv|xlsx?|pptx?|json|xml|md|py|zip|srt|vtt"
_CODE = re.compile(
    rf"\b(?:https?://|www\.)[^\s<>\"”]{{1,300}}|[\w.+\-]{{1,60}}@[\w\-]{{1,60}}(?:\.\w{{2,20}}){{1,4}}\b"
    rf"|[\w.\-()]{{1,120}}\.(?:{_FILE})\b|\w{0, 60}[^\W_]_[^\W_]\w{0, 60}"
    r"|\{[^{}\n]{1,40}\}|\[(?-i:[A-Z ]){2,30}\]"  # marks of a transcript
    r"|(?<!\w)(?:[A-Za-z]{1,4}\d+[-_]\d+|[A-Za-z]{1,6}[-_]?0\d+|(?:ep|vol|fig|ref|id|rev|ver|doc|no)[-_.]?\d+)(?![\w])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Page:
    """A document as one text without runs of blanks; `spans` are its sentences."""

    text: str
    title: str
    language: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class JoinedChunks:
    """The text that chunks cover, without runs of blanks; in the document it begins at `base`."""

    collapsed: Collapsed
    base: int

    @property
    def text(self) -> str:
        """The text without runs of blanks."""
        return self.collapsed.text

    def bounds(self, chunk: Chunk) -> tuple[int, int]:
        """Where a chunk begins and ends in the text."""
        start = chunk.start - self.base
        return self.collapsed.from_source(start), self.collapsed.from_source(start + len(chunk.text))

    def span_in(self, chunk: Chunk, start: int, end: int) -> tuple[int, int]:
        """The span of the chunk's own text for a span of the text."""
        first, last = self.collapsed.to_source(start, end)
        return first - (chunk.start - self.base), last - (chunk.start - self.base)


def join_chunks(chunks: Sequence[Chunk]) -> JoinedChunks:
    """The text that the chunks cover."""
    ordered = sorted(chunks, key=lambda c: (c.start, c.end))
    base = end = ordered[0].start if ordered else 0
    parts = []
    for chunk in ordered:
        if chunk.start > end:
            parts.append("\n" * (chunk.start - end))
            end = chunk.start
        if chunk.start + len(chunk.text) > end:
            parts.append(chunk.text[end - chunk.start :])
            end = chunk.start + len(chunk.text)
    return JoinedChunks(collapse_blanks("".join(parts)), base)


def split_spans(text: str) -> list[tuple[int, int]]:
    """Sentences of `text`; long blanks and text without stops cost linear time."""
    for filling in _FILLING:
        text = filling.sub(lambda m: "\n" * len(m[0]), text)
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = _find_cut(text, start, _BLOCK)
        for a, b in split_sentences(text[start:end]):
            first, last = start + a, start + b
            while last - first > LONGEST:
                cut = _find_cut(text, first, LONGEST)
                found.append((first, cut))
                first = cut
            found.append((first, last))
        start = end
    return found


def _find_cut(text: str, start: int, size: int) -> int:
    """Where to end a block of about `size` characters: after a line end if there is one, else a blank, else there."""
    end = start + size
    if end >= len(text):
        return len(text)
    for mark in ("\n", " "):
        cut = text.rfind(mark, start + size // 2, end)
        if cut > 0:
            return cut + 1
    return end


def locate_words(text: str, start: int, end: int) -> Words:
    """Words and marks of one sentence."""
    texts = TOKEN.findall(text, start, end)
    starts, ends, place, find = list[int](), list[int](), start, text.find
    for word in texts:  # nothing but blanks stands between them
        place = find(word, place)
        starts.append(place)
        place += len(word)
        ends.append(place)
    raised = [i for i, w in enumerate(texts) if not w.islower() and (w[0].isupper() or len(w) > 2)]
    return Words(texts, starts, ends, raised)


def find_opening_word(words: Sequence[str]) -> str:
    """The word that has its capital from its place, first in a sentence; "" where there is none."""
    return next((w for w in words if w[0].isalpha()), "")


def count_capitals(words: Sequence[str], opening: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """How often words have a capital, but where they are `opening` a sentence, and how often they are in lower case."""
    counts, capitals = Counter(words), Counter[str]()
    long = [w for w in counts if len(w) > 1 and w[0].isalpha()]
    lowers = Counter({w: counts[w] for w in long if w.islower()})
    counts.subtract(opening)
    for word in long:
        if word[0].isupper() and counts[word]:
            capitals[word.lower()] += counts[word]
    return capitals, lowers


def find_codes(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of what machines read: addresses, names of files, identifiers ("EP-12"), marks ("{pause}", "[MUSIC]")."""
    return [m.span() for m in _CODE.finditer(text, start, end)] if _CODED.search(text, start, end) else []


def hash_sentence(parts: Sequence[str]) -> tuple[int, int, int]:
    """Hashes of a sentence, given as its words, of its first and of its last eight; 0 where it has too few words."""
    whole = _hash_words(parts) if len(parts) >= 4 else 0
    return whole, *((_hash_words(parts[:8]), _hash_words(parts[-8:])) if len(parts) > 8 else (0, 0))


def _hash_words(parts: Sequence[str]) -> int:
    return crc32(" ".join(parts).encode("utf-8", "surrogatepass")) or 1


def cut_edges(text: str) -> tuple[str, str]:
    """The beginning and the end of a document, in which a wrapper is looked for.

    Each half of a broken character, which no encoding holds, becomes a mark.
    """
    head, tail = (edge.encode("utf-8", "replace").decode() for edge in (text[:EDGE], text[-EDGE:]))
    return head, tail


_NOUNS = re.compile(r"[JnN]*[nN]+")
_HAN_RUN = re.compile(rf"(?:{HAN.pattern}|[·])+")
_TITLE_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_BETWEEN = r"[\s\-–&.,:!]{1,3}"
_LONGEST_WORD = 60
_PHRASE_WORDS = 4
_MOST_PHRASES = 40  # of one sentence: a word list is no sentence


class _PageReader:
    """Reads a page sentence by sentence, and holds what has been found so far."""

    def __init__(self, page: Page, segmenter: str) -> None:
        self.page, self.segmenter = page, segmenter
        self.names: list[Candidate] = []
        self.values: list[Value] = []
        self.phrases: list[Phrase] = []
        self.words: list[str] = []
        self.opening: list[str] = []
        self.subjects: list[tuple[int, int]] = []
        # where the text says the document's title of several words, as it is written or with other hyphens
        words = _TITLE_WORD.findall(page.title.split(" (")[0].split(", ")[0])
        if 1 < len(words) < 9 and words[0][0].isupper() and not find_codes(page.title, 0, len(page.title)):
            pattern = re.compile(rf"\b{_BETWEEN.join(map(re.escape, words))}\b")
            self.subjects = [m.span() for m in pattern.finditer(page.text)]

    def read(self, number: int, start: int, end: int, letters: Sequence[str]) -> None:
        """Read one sentence as its language asks for: names by capitals, phrases by tags or by words.

        `letters` are its runs of letters, in lower case.
        """
        language = self.page.language
        if language == "zh":
            self._read_chinese(number, start, end)
            return
        words = locate_words(self.page.text, start, end)
        taken = set[int]()
        if stated_dates.may_state_value(self.page.text[start:end], letters):
            taken = self._collect_values(number, start, end, words)
        for span in find_codes(self.page.text, start, end):
            taken.update(words.find_touched(*span))
        if language != "un":
            taken |= self._collect_names(number, start, end, words, taken)
            self.words += words.texts
            self.opening.append(find_opening_word(words.texts))
        if language == "en":
            self._collect_noun_phrases(number, words, taken)
        elif language != "de":
            self._collect_words(number, words, taken)

    def _read_chinese(self, number: int, start: int, end: int) -> None:
        text = self.page.text
        for a, b in find_unspaced_names(text, start, end, self.segmenter):
            self.names.append(Candidate(number, a, b, text[a:b]))
        for match in _HAN_RUN.finditer(text, start, end):
            if match.end() - match.start() > 1:
                self.phrases.append(Phrase(number, match.span(), (match[0],)))
        for a, b in stated_dates.find_times(text, start, end):
            self.values.append(Value(number, a, b, text[a:b], "time"))

    def _collect_values(self, number: int, start: int, end: int, words: Words) -> set[int]:
        """Times, then numbers beside them; returns the positions of the words of times."""
        text = self.page.text
        spans = list(stated_dates.find_times(text, start, end))
        values = [Value(number, a, b, text[a:b], "time") for a, b in spans]
        if self.page.language == "en" or any(w[0].isdigit() for w in words.texts):
            for a, b in stated_dates.find_numbers(text, start, end):
                if all(b <= c or d <= a for c, d in spans):
                    values.append(Value(number, a, b, text[a:b], "number"))
        self.values.extend(sorted(values, key=lambda v: v.start))
        return {i for a, b in spans for i in words.find_within(a, b)}

    def _collect_names(self, number: int, start: int, end: int, words: Words, barred: set[int]) -> set[int]:
        """Collects the candidates of a sentence; returns the positions of their words that surely are names."""
        if not words.raised:
            return set()
        near = self.subjects[bisect_left(self.subjects, (start, 0)) :] if self.subjects else ()
        subjects = tuple(takewhile(lambda span: span[1] <= end, near))
        made = find_name_candidates(words, self.page.text, number, barred, self.page.language, subjects)
        self.names.extend(made)
        sure = [c for c in made if not c.first or c.inner >= 0]
        return {i for c in sure for i in words.find_begun(c.inner if c.first else c.start, c.end)}

    def _collect_noun_phrases(self, number: int, words: Words, taken: set[int]) -> None:
        """Runs of adjectives and nouns of an English sentence, general words dropped at both ends."""
        lower = " ".join(words.texts).lower().split(" ") if words.texts else []  # at once: no word holds a blank
        letters = tag_words(lower)
        hidden = taken.union([i for i in words.raised if i and words.texts[i][0].isupper()])
        if hidden:
            shown = list(letters)
            for i in hidden:
                shown[i] = "X"
            letters = "".join(shown)
        general, stop, count = english_words("general"), stop_words("en"), 0
        for match in _NOUNS.finditer(letters):
            first, last = match.span()
            while first < last and (lower[first] in general or lower[first] in stop):
                first += 1
            while last > first and lower[last - 1] in general:
                last -= 1
            first = max(first, last - _PHRASE_WORDS)
            said = tuple(lower[first:last])
            if not said or not 2 <= min(sizes := list(map(len, said))) <= max(sizes) <= _LONGEST_WORD:
                continue
            spans = tuple(chain.from_iterable(zip(words.starts[first:last], words.ends[first:last], strict=True)))
            self.phrases.append(Phrase(number, spans, said))
            count += 1
            if count >= _MOST_PHRASES:
                return

    def _collect_words(self, number: int, words: Words, taken: set[int]) -> None:
        """In a language without a tagger every longer word that is no stop word may be a concept."""
        stops = stop_words(self.page.language)
        for i in [i for i in range(len(words.texts)) if i not in taken][: 4 * _MOST_PHRASES]:
            text = words.texts[i]
            folded = text.casefold()
            if 3 < len(text) <= _LONGEST_WORD and text.isalpha() and folded not in stops:
                self.phrases.append(Phrase(number, (words.starts[i], words.ends[i]), (folded,)))


def choose_name_rules(text: str) -> str:
    """`en`, `de`, `zh`, `xx` (another language of a script with capitals) or `un` (a script without).

    English and German are read by rules of their own where at least an eighth of the words are stop words; very short
    texts count as English.
    """
    code = detect_language(text)
    if code == "":
        letters = [c for c in text[:_SCANNED] if c.isalpha()]
        return "un" if 2 * sum(c.lower() != c.upper() for c in letters) < len(letters) else "xx"
    if code not in ("en", "de"):
        return "zh" if code == "zh" else "xx"
    words = split_small_letters(text[:_SCANNED])
    stops = read_lexicon("english" if code == "en" else "german")["stop"]
    small = next(islice(filter(stops.__contains__, words), len(words) // 8, None), "")  # more than an eighth
    return code if small or (code == "en" and len(words) < 20) else "xx"


def observe_document(chunks: Sequence[Chunk], segmenter: str = "rules") -> Observation:
    """The observation of the document with these chunks; `segmenter` finds the names in Chinese."""
    joined = join_chunks(chunks)
    text, title = joined.text, next((c.title for c in chunks if c.title), "")
    page = Page(text, title, choose_name_rules(text), tuple(split_spans(text)))
    labels = speakers.find_labels(page.text)
    talk = transcripts.observe_talk(page.text, labels)
    spoken = transcripts.find_speakers(talk)
    labelled = [label for label in labels if label.named and label.key in spoken]
    view = recase_text(page.text, page.spans) if page.language == "en" else page.text
    # sentences without the speaker labels that open them; a sentence that was only a label is dropped
    ends = {label.start: label.end for label in labelled}
    spans = []
    for start, end in page.spans:
        behind = ends.get(start, start)
        while behind < end and page.text[behind].isspace():
            behind += 1
        if behind < end:
            spans.append((behind, end))
    found = _PageReader(replace(page, text=view), segmenter)
    prints, blanked = list[int](), blank_others(page.text)
    for number, (start, end) in enumerate(spans):
        if blanked is None:
            letters = [part.lower() for part in split_letters(page.text[start:end])]
        else:
            letters = blanked[start:end].split()
        prints += hash_sentence(letters)
        found.read(number, start, end, letters)
    # every label is a mention, in the sentence that follows it
    starts = [a for a, _ in spans]
    for label in labelled:
        number = bisect_left(starts, label.end - 1)
        if number < len(spans):
            start, end = speakers.find_name_span(page.text, label)
            found.names.append(Candidate(number, start, end, page.text[start:end], marks="s"))
    named = sorted((x for x in labels if x.named), key=lambda x: (x.key, -x.start))
    shown = {x.key: page.text[x.start : x.name_end] for x in named}
    shouted = sorted({x for x in shown.values() if x.isupper()})
    capitals, lowers = count_capitals(found.words, found.opening)
    head, tail = cut_edges(page.text)
    return Observation(
        work=page.title or (chunks[0].document if chunks else ""),
        title=page.title,
        language=page.language,
        bounds=tuple(b for c in chunks for b in joined.bounds(c)),
        head=head,
        tail=tail,
        sentences=tuple(x for span in spans for x in span),
        prints=tuple(prints),
        names=tuple(sorted(found.names, key=lambda c: (c.start, c.end))),
        values=tuple(found.values),
        phrases=tuple(found.phrases),
        talk=talk,
        shown=shown,
        spellings=speakers.count_spellings(f"{page.title}\n{page.text}", shouted),
        capitals=dict(sorted(capitals.items())),
        lowers=dict(sorted(lowers.items())),
    )
