"""Sentences as evidence: who says what, where, with its terms and its quality as reading matter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import LCSseq

from sensegraph.engines.offline.reports.quotes import introduces_person
from sensegraph.engines.offline.reports.sentence_quality import rate_quality, stem_word, tidy_sentence
from sensegraph.language.speakers import find_labels, recase_label
from sensegraph.language.text import HAN, WORD, detect_by_stop_words
from sensegraph.language.text import split_sentences as split_sentences
from sensegraph.runtime.keys import document_part
from sensegraph.types import Passage, Source

ALIKE = 0.5  # LCS similarity from which two sentences are not shown together (classical-engine §5.3)

LEAST_QUALITY = 0.3  # below this a sentence is not shown (classical-engine §4.1)

_NO_NAMES = frozenset("note time date title source sources summary example warning question answer".split())
_QUOTED = re.compile(r"((?:[^\W\d_][\w’'.\-]*)(?: [^\W\d_(][\w’'.\-]*){0,4}): (?=[\"“„«])")
_FULL = re.compile(
    r"([^\W\d_a-z][\w’'.\-]*(?: (?:[^\W\d_a-z][\w’'.\-]*|[a-z]{1,4}[A-Z]\w+|d[aeiu]|del|van|von|der|la|el|al)){1,4}): "
)
_ASIDES = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|\w{1,2}_")
HOST = " (host)"  # how a point marks the name of a speaker who leads the talk
_PAIRS = ("“”", '""', "„“", "«»", "»«", "「」")


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """One sentence: `raw` is the text of the span `source`; `order` is its place in the context.

    `weight` is the score of the passage `reference` that holds it, `document` the title of its document, if known;
    `host` says that the speaker leads the talk.
    """

    raw: str
    speaker: str
    source: Source
    reference: str
    terms: tuple[str, ...]
    order: int
    weight: float = 0.0
    document: str = ""
    host: bool = False

    @property
    def chunk(self) -> str:
        """The chunk that it stands in."""
        return self.source.chunk

    @property
    def origin(self) -> str:
        """What tells its document from others."""
        return document_part(self.source.chunk)

    @property
    def text(self) -> str:
        """The sentence as it is shown: lightly trimmed."""
        return tidy_sentence(self.raw)

    @property
    def quality(self) -> float:
        """How well it stands alone, in (0, 1]."""
        return rate_quality(self.text)


def select_presentable(sentences: Sequence[SourceSentence], least: float = LEAST_QUALITY) -> list[SourceSentence]:
    """The sentences that can be shown: of quality `least` or more, and 40 to 420 characters, Han ones from 12."""

    def fits(text: str) -> bool:
        return len(text) <= 420 and (len(text) >= 40 or (len(text) >= 12 and bool(HAN.search(text))))

    return [s for s in sentences if len(s.terms) > 3 and fits(s.raw) and s.quality >= least]


def detect_passage_language(passages: Sequence[Passage]) -> str:
    """The language that the first passages are written in."""
    return detect_by_stop_words(" ".join(p.text[:400] for p in passages[:10]))


def read_source_sentences(passages: Sequence[Passage], code: str) -> list[SourceSentence]:
    """The sentences of all passages in order; a span that several passages quote is kept once."""
    known = find_labelled_speakers(passages)
    found: list[SourceSentence] = []
    seen: set[Source] = set()
    for passage in passages:
        for name, text, source in _read_passage(passage, known):
            content = stem_content_words(text, code)
            if source in seen or not content:
                continue
            seen.add(source)
            title = passage.title if passage.kind == "chunk" else ""
            bare, host = name.removesuffix(HOST), name.endswith(HOST)
            found.append(
                SourceSentence(text, bare, source, passage.id, content, len(found), passage.score, title, host)
            )
    return found


def _read_passage(passage: Passage, known: frozenset[str]) -> Iterator[tuple[str, str, Source]]:
    """What a report or a point quotes, else the sentences of a chunk: (speaker, what is said, where).

    A quote may open with its speaker's name and a colon; a label in a chunk governs the sentences behind it.
    """
    for quote in passage.quotes:
        text = quote.text.strip()
        head, mark, rest = text.partition(f"{HOST}: ")
        if mark and len(head) < 60:
            yield clean_speaker_name(head) + HOST, strip_quotation_marks(rest), quote.source
            continue
        match = _QUOTED.match(text) or _FULL.match(text)
        name, speech = (match[1], text[match.end() :]) if match else _split_label(text, known)[:2]
        yield clean_speaker_name(name), strip_quotation_marks(speech), quote.source
    if passage.quotes or len(passage.sources) != 1:
        return
    base, name = passage.sources[0], ""
    for start, end in split_sentences(passage.text):
        new, speech, skipped = _split_label(passage.text[start:end], known)
        name = clean_speaker_name(new) or name
        if speech:
            yield name, speech, Source(base.chunk, base.start + start + skipped, base.start + end)


def group_by_reference(sentences: Sequence[SourceSentence]) -> dict[str, list[SourceSentence]]:
    """The sentences of each passage, by its id."""
    found: dict[str, list[SourceSentence]] = {}
    for s in sentences:
        found.setdefault(s.reference, []).append(s)
    return found


def find_hosts(sentences: Sequence[SourceSentence]) -> frozenset[str]:
    """Speakers who lead the talk: those marked so, and those who are everywhere where four or more people speak.

    Everywhere is a quarter of the documents, three at least; where documents are not known, two fifths of the chunks,
    which count as eight at least.
    """
    titled = len({s.document for s in sentences}) > 1
    places: dict[str, set[str]] = {}
    for s in sentences:
        if s.speaker:
            places.setdefault(s.speaker, set()).add(s.document if titled else s.chunk)
    size = len({s.document if titled else s.chunk for s in sentences})
    least = max(3.0, size / 4) if titled else 0.4 * max(size, 8)
    everywhere = {name for name, at in places.items() if len(places) >= 4 and len(at) >= least}
    return frozenset(everywhere | {s.speaker for s in sentences if s.host})


def find_report_hosts(sentences: Sequence[SourceSentence]) -> frozenset[str]:
    """Speakers who lead the talk, seen from many reports, where six or more people speak.

    Guests speak in the reports on their subject, hosts in all: in a fifth of eight reports or more; or in one of
    fourteen, seldom twice in one, and there they present others.
    """
    places: dict[str, set[str]] = {}
    times: Counter[str] = Counter()
    for s in sentences:
        if s.speaker:
            places.setdefault(s.speaker, set()).add(s.reference)
            times[s.speaker] += 1
    size = len({s.reference for s in sentences})
    if len(places) < 6 or size < 8:
        return frozenset()
    wide = {n for n, at in places.items() if len(at) >= max(4, 0.2 * size)}
    spread = {n for n, at in places.items() if len(at) >= max(6, size / 14) and len(at) >= 0.8 * times[n]}
    presents = {s.speaker for s in sentences if s.speaker in spread and introduces_person(s.raw)}
    return frozenset(wide | presents)


def stem_content_words(text: str, code: str) -> tuple[str, ...]:
    """The stems of the content words of `text`, in order; none of what stands in brackets."""
    bare = _ASIDES.sub(" ", text) if "{" in text or "[" in text or "_" in text else text
    return tuple(t for word in WORD.findall(bare) for t in stem_word(word, code))


def find_labelled_speakers(passages: Sequence[Passage]) -> frozenset[str]:
    """The names that label what is said, sure in at least one passage."""
    texts = [t for p in passages for t in ([q.text for q in p.quotes] if p.quotes else [p.text])]
    sure = (label.name for label in find_labels("\n".join(texts)) if label.sure)
    return frozenset(name for name in sure if name.casefold() not in _NO_NAMES)


def clean_speaker_name(name: str) -> str:
    """A speaker's name without what ran into it from a file name or the line before; "" if no name is left."""
    last = re.split(r"[/\t]|\.txt|(?<=\w{2})\. ", name)[-1].strip(" .")
    return "" if re.search(r"[\d_]", last) else last


def strip_quotation_marks(text: str) -> str:
    """`text` without the quotation marks that stand around the whole of it."""
    bare = text.strip()
    return bare[1:-1].strip() if len(bare) > 1 and bare[0] + bare[-1] in _PAIRS else bare


def _split_label(text: str, known: frozenset[str]) -> tuple[str, str, int]:
    """(speaker, what is said, where it begins) of a sentence that may open with a label."""
    head, colon, _ = text[:80].partition(":")
    if not colon or recase_label(head.strip()) not in known:
        return "", text, 0
    speech = text[len(head) + 1 :].lstrip()
    return recase_label(head.strip()), speech, len(text) - len(speech)


def is_near_repeat(one: SourceSentence, other: SourceSentence) -> bool:
    """Whether two sentences say nearly the same in the same words, or one holds most of the other."""
    a, b = _fold_words(one.text), _fold_words(other.text)
    shared = LCSseq.similarity(a, b)
    return shared > ALIKE * max(len(a), len(b)) or shared > 0.75 * min(len(a), len(b))


@lru_cache(maxsize=1 << 14)
def _fold_words(text: str) -> tuple[str, ...]:
    folded = text.casefold()
    return tuple(HAN.findall(folded)) if HAN.search(folded) else tuple(WORD.findall(folded))


def differs_from(sentence: SourceSentence, chosen: Sequence[SourceSentence]) -> bool:
    """Whether a sentence says something else than each of `chosen`."""
    return not any(is_near_repeat(sentence, c) for c in chosen)
