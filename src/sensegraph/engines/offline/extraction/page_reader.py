"""The first pass: what one document shows by itself, read sentence by sentence from the text of its chunks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise, takewhile

import msgspec

from sensegraph.engines.offline.extraction.names import QUOTE, find_name_candidates, may_be_name_word
from sensegraph.engines.offline.extraction.observations import Candidate, Observation, Phrase, Value
from sensegraph.engines.offline.extraction.sentence_words import (
    Words,
    count_capitals,
    find_opening_word,
    hash_sentence,
    locate_words,
)
from sensegraph.engines.offline.extraction.unspaced_names import find_unspaced_names
from sensegraph.language import speakers, transcripts
from sensegraph.language.collapsing import Collapsed, collapse_blanks
from sensegraph.language.dates import stated_dates
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import (
    BEGINNING,
    HAN,
    blank_others,
    detect_language,
    split_letters,
    split_small_letters,
    tag_words,
)
from sensegraph.language.truecase import recase_text, take_first_words
from sensegraph.language.word_lists import english_words, read_lexicon, stop_words
from sensegraph.types import Chunk

LONGEST = 1200  # characters of a sentence; longer ones (tables, text without stops) are cut at white space
_SCANNED = 40_000  # characters in which stop words are counted
_BLOCK = 20_000
_FILLED = 40  # characters of filling, at least
_FILLING = (re.compile(r"[^\S\n][^\S\n]{39,}"), re.compile(r"[.!?…\"'”’»)\]][.!?…\"'”’»)\]]{39,}"))
# blanks and leaders: they split, and cost no time
EDGE = 400  # characters of a document's beginning and end that are looked at
_CODED = re.compile(r"[\d/@_\\{\[.w](?:(?<![.w])|(?<=\.)\w{2,5}\b|(?<=w)ww)")  # one class first, as it is found soonest
_SIGN = re.compile(r"[\d/@_\\{\[.w](?:(?<![.w])|(?<=\.)(?=\w\w)|(?<=w)(?=ww))")  # each place where that may be found
_FILE = "txt|pdf|docx?|html?|mp[34]|wav|jpe?g|png|gif|csv|tsv|xlsx?|pptx?|json|xml|md|py|zip|srt|vtt"
_LONG_CODES = (
    rf"\b(?:https?://|www\.)[^\s<>\"”]{{1,300}}|[\w.+\-]{{1,60}}@[\w\-]{{1,60}}(?:\.\w{{2,20}}){{1,4}}\b"
    rf"|[\w.\-()]{{1,120}}\.(?:{_FILE})\b|\b\w{{0,60}}[^\W_]_[^\W_]\w{{0,60}}"
)
_SHORT_CODES = (
    r"\{[^{}\n]{1,40}\}|\[(?-i:[A-Z ]){2,30}\]"  # marks of a transcript
    r"|(?<!\w)(?!(?-i:(?<=[A-Z]-)[a-f][\da-f]{9}\b))"  # but not what stands for something personal that was masked
    r"(?:[A-Za-z]{1,4}\d+[-_]\d+|[A-Za-z]{1,6}[-_]?0\d+|(?:ep|vol|fig|ref|id|rev|ver|doc|no)[-_.]?\d+)(?![\w])"
)
_CODE, _SHORT_CODE, _LONG_SIGN = (  # the last stands in every long code
    re.compile(pattern, re.IGNORECASE)
    for pattern in (f"{_LONG_CODES}|{_SHORT_CODES}", _SHORT_CODES, rf"://|www\.|@|_|\.(?:{_FILE})\b")
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
        shift = chunk.start - self.base
        return first - shift, last - shift


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
    blanked = blank_others(text)
    if blanked is None or " " * _FILLED in blanked:  # else there is none
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


def find_codes(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of what machines read: addresses, names of files, identifiers ("EP-12"), marks ("{pause}", "[MUSIC]")."""
    if not _CODED.search(text, start, end):
        return []
    pattern = _CODE if _LONG_SIGN.search(text, start, end) else _SHORT_CODE
    return [m.span() for m in pattern.finditer(text, start, end)]


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
    """Reads the sentences of a page, which lie at `spans`, and holds what has been found so far."""

    def __init__(self, page: Page, spans: Sequence[tuple[int, int]], segmenter: str) -> None:
        self.page, self.spans, self.segmenter = page, spans, segmenter
        self.names: list[Candidate] = []
        self.values: list[Value] = []
        self.phrases: list[Phrase] = []
        words, self.bounds = locate_words(page.text, () if page.language == "zh" else spans)
        self.capitals = words.raised
        able = [i for i in words.raised if may_be_name_word(words.texts[i], page.language)]
        self.words = msgspec.structs.replace(words, raised=able)
        self.subjects: list[tuple[int, int]] = []
        # where the text says the document's title of several words, as it is written or with other hyphens
        title = page.title.replace("_", " ")
        titled = _TITLE_WORD.findall(title.split(" (")[0].split(", ")[0])
        if 1 < len(titled) < 9 and titled[0][0].isupper() and not find_codes(title, 0, len(title)):
            pattern = re.compile(rf"\b{_BETWEEN.join(map(re.escape, titled))}\b")
            self.subjects = [m.span() for m in pattern.finditer(page.text)]

    @property
    def opening(self) -> list[str]:
        """The word that opens each sentence."""
        return [find_opening_word(self.words.texts[a:b]) for a, b in pairwise(self.bounds)]

    def read(self, letters: Sequence[Sequence[str]], plain: bool) -> None:
        """Read all sentences as their language asks for: names by capitals, phrases by tags or by words.

        `letters` are the runs of letters of each, in lower case; `plain` says that the text has but those of ASCII.
        """
        language, text, taken, able = self.page.language, self.page.text, set[int](), self.words.raised
        signs = [m.start() for m in _SIGN.finditer(text)]
        others = sorted([*(m.start() for m in QUOTE.finditer(text)), *(a for a, _ in self.subjects)])
        for number, (start, end) in enumerate(self.spans):
            if language == "zh":
                self._read_chinese(number, start, end)
                continue
            first, last = self.bounds[number], self.bounds[number + 1]
            here = set[int]()
            place = bisect_left(signs, start)
            signed = place < len(signs) and signs[place] < end  # of most sentences nothing else can state a value
            if stated_dates.may_state_value("" if plain and not signed else text[start:end], letters[number]):
                here = self._collect_values(number, start, end)
            if signed and (codes := find_codes(text, start, end)):
                here.update(i - first for span in codes for i in self.words.find_touched(*span))
            place = bisect_left(able, first)
            named = place < len(able) and able[place] < last
            if not named and others:
                place = bisect_left(others, start)
                named = place < len(others) and others[place] < end
            if named and language != "un":  # else nothing of it can be a name: most sentences of talk
                here |= self._collect_names(number, start, end, here)
            if language == "en":
                if here:
                    taken.update([first + i for i in here])
            elif language != "de":
                self._collect_words(number, self.words.part(first, last), here)
        if language == "en":
            self._collect_noun_phrases(taken)

    def _read_chinese(self, number: int, start: int, end: int) -> None:
        text = self.page.text
        for a, b in find_unspaced_names(text, start, end, self.segmenter):
            self.names.append(Candidate(number, a, b, text[a:b]))
        for match in _HAN_RUN.finditer(text, start, end):
            if match.end() - match.start() > 1:
                self.phrases.append(Phrase(number, match.span(), (match[0],)))
        for a, b in stated_dates.find_times(text, start, end):
            self.values.append(Value(number, a, b, text[a:b], "time"))

    def _collect_values(self, number: int, start: int, end: int) -> set[int]:
        """Times, then numbers beside them; returns the positions of the words of times."""
        text, first, last = self.page.text, *self.bounds[number : number + 2]
        spans = list(stated_dates.find_times(text, start, end))
        values = [Value(number, a, b, text[a:b], "time") for a, b in spans]
        if self.page.language == "en" or any(w[0].isdigit() for w in self.words.texts[first:last]):
            for a, b in stated_dates.find_numbers(text, start, end):
                if all(b <= c or d <= a for c, d in spans):
                    values.append(Value(number, a, b, text[a:b], "number"))
        self.values.extend(sorted(values, key=lambda v: v.start) if len(values) > 1 else values)
        return {i - first for a, b in spans for i in self.words.find_within(a, b)}

    def _collect_names(self, number: int, start: int, end: int, barred: set[int]) -> set[int]:
        """Collects the candidates of a sentence; returns the positions of their words that surely are names."""
        subjects = list[tuple[int, int]]()
        if self.subjects:
            near = self.subjects[bisect_left(self.subjects, (start, 0)) :]
            subjects = list(takewhile(lambda span: span[1] <= end, near))
        words = self.words.part(self.bounds[number], self.bounds[number + 1])
        made = find_name_candidates(words, self.page.text, number, barred, self.page.language, subjects)
        self.names.extend(made)
        sure = [c for c in made if not c.first or c.inner >= 0]
        return {i for c in sure for i in words.find_begun(c.inner if c.first else c.start, c.end)}

    def _collect_noun_phrases(self, taken: set[int]) -> None:
        """Runs of adjectives and nouns of English sentences, general words dropped at both ends."""
        words, bounds = self.words, self.bounds
        texts, starts, ends = words.texts, words.starts, words.ends
        lower = words.lower
        shown = list(tag_words(lower, bounds))
        openings = set(bounds)
        for i in taken.union([i for i in self.capitals if i not in openings and texts[i][0].isupper()]):
            shown[i] = "X"
        letters, general = "".join(shown), english_words("general")
        loose = general | stop_words("en")
        for number, (begin, until) in enumerate(pairwise(bounds)):
            found = 0
            for match in _NOUNS.finditer(letters, begin, until):
                first, last = match.span()
                while first < last and lower[first] in loose:
                    first += 1
                while last > first and lower[last - 1] in general:
                    last -= 1
                if last - first < 2:  # as most are
                    if first == last or not 2 <= len(word := lower[first]) <= _LONGEST_WORD:
                        continue
                    self.phrases.append(Phrase(number, (starts[first], ends[first]), (word,)))
                else:
                    first = max(first, last - _PHRASE_WORDS)
                    said = tuple(lower[first:last])
                    if not 2 <= min(map(len, said)) <= max(map(len, said)) <= _LONGEST_WORD:
                        continue
                    spans = tuple(chain.from_iterable(zip(starts[first:last], ends[first:last], strict=True)))
                    self.phrases.append(Phrase(number, spans, said))
                found += 1
                if found >= _MOST_PHRASES:
                    break

    def _collect_words(self, number: int, words: Words, taken: set[int]) -> None:
        """In a language without a tagger every longer word that is no stop word may be a concept."""
        stops = stop_words(self.page.language)
        for i in [i for i in range(len(words.texts)) if i not in taken][: 4 * _MOST_PHRASES]:
            text = words.texts[i]
            folded = text.casefold()
            if 3 < len(text) <= _LONGEST_WORD and text.isalpha() and folded not in stops:
                self.phrases.append(Phrase(number, (words.starts[i], words.ends[i]), (folded,)))


def choose_name_rules(text: str, source: str = "") -> str:
    """`en`, `de`, `zh`, `xx` (another language of a script with capitals) or `un` (a script without).

    English and German are read by rules of their own where at least an eighth of the words are stop words; very short
    texts count as English. `source` is the same text with all its white space, of which other steps ask too.
    """
    code = detect_language(source if 0 < len(source) <= BEGINNING else text)
    if code == "":
        letters = [c for c in text[:_SCANNED] if c.isalpha()]
        return "un" if 2 * sum(c.lower() != c.upper() for c in letters) < len(letters) else "xx"
    if code not in ("en", "de"):
        return "zh" if code == "zh" else "xx"
    stops = read_lexicon("english" if code == "en" else "german")["stop"]
    if blanked := blank_others(text[:_SCANNED]):
        first, most = take_first_words(blanked, 3)
        if sum(map(stops.__contains__, first)) > most // 8:  # sooner known than how many words there are
            return code
    words = split_small_letters(text[:_SCANNED])
    small = next(islice(filter(stops.__contains__, words), len(words) // 8, None), "")  # more than an eighth
    return code if small or (code == "en" and len(words) < 20) else "xx"


def observe_document(chunks: Sequence[Chunk], segmenter: str = "rules") -> Observation:
    """The observation of the document with these chunks; `segmenter` finds the names in Chinese."""
    joined = join_chunks(chunks)
    text, title = joined.text, next((c.title for c in chunks if c.title), "")
    source = chunks[0].text if len(chunks) == 1 else ""
    page = Page(text, title, choose_name_rules(text, source), tuple(split_spans(text)))
    labels = speakers.find_labels(page.text)
    talk = transcripts.observe_talk(page.text)
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
    blanked = blank_others(page.text)
    if blanked is None:
        letters = [[part.lower() for part in split_letters(page.text[a:b])] for a, b in spans]
    else:
        letters = [blanked[a:b].split() for a, b in spans]
    found = _PageReader(replace(page, text=view), spans, segmenter)
    found.read(letters, blanked is not None)
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
    named_words = () if page.language in ("zh", "un") else found.words.texts
    capitals, lowers = count_capitals(named_words, found.opening if named_words else ())
    head, tail = cut_edges(page.text)
    return Observation(
        work=page.title or (chunks[0].document if chunks else ""),
        title=page.title,
        language=page.language,
        bounds=tuple(b for c in chunks for b in joined.bounds(c)),
        head=head,
        tail=tail,
        sentences=tuple(x for span in spans for x in span),
        prints=tuple(chain.from_iterable(map(hash_sentence, letters))),
        names=tuple(sorted(found.names, key=lambda c: (c.start, c.end))),
        values=tuple(found.values),
        phrases=tuple(found.phrases),
        talk=talk,
        shown=shown,
        spellings=speakers.count_spellings(f"{page.title}\n{page.text}", shouted),
        capitals=capitals,
        lowers=lowers,
    )
