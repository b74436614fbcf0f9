"""Texts said shorter with no model: their most central sentences, whole, in the order of the text (RAPTOR)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sensegraph.engines.offline.reports.community import find_centre
from sensegraph.engines.offline.reports.group_lines import count_length, rate_clean_line, read_verbatim
from sensegraph.engines.offline.reports.sentence_choice import Candidate, choose_sentences
from sensegraph.engines.offline.reports.sentence_quality import rate_quality, stem_text
from sensegraph.language.text import detect_by_stop_words
from sensegraph.language.text import split_sentences as split_sentences
from sensegraph.types import Brief, Passage, Source, Statement

WORDS = 75  # where the brief sets no limit: about the hundred tokens of the paper's code
LEAST = 0.12  # quality below which a sentence is taken only where there is no other
SHORTEST, SPARE = 8, 12  # words of a sentence that stands alone; sentences ranked beyond those that could fit
MARK = " …"  # at the end of a sentence that is cut
_CLAUSE = re.compile(r"[,;:—–，；：、](?=\s|[^\x00-\x7f])|\s[–—-]{1,2}\s")


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence: its text word for word, its span where that is known, its passage, its stems.

    `order` is its place in the text, `speaker` who says it where the quote tells.
    """

    text: str
    source: Source | None
    passage: str
    terms: tuple[str, ...]
    order: tuple[int, int]
    speaker: str = ""

    @property
    def shown(self) -> str:
        """The sentence with its speaker."""
        return f"{self.speaker}: “{self.text}”" if self.speaker else self.text


def condense_texts(briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
    """The most central sentences of each brief's passages up to its words, in the order of the passages."""
    condensed = []
    for brief in briefs:
        passages, words = brief.context.passages, brief.words or WORDS
        code = detect_by_stop_words(" ".join(p.text[:400] for p in sorted(passages, key=lambda p: p.id)[:10]))
        sentences = _read_sentences(passages, code)
        chosen = sentences
        if sum(count_length(s.shown) for s in sentences) > words:  # those that stand alone first
            count = words // SHORTEST + SPARE
            pools = ([s for s in sentences if rate_quality(s.text) >= LEAST], sentences)
            chosen = []
            for pool in pools:
                room = words
                for one in _rank_central(pool, sentences, code, count) if not chosen else ():
                    if count_length(one.shown) <= room:
                        room -= count_length(one.shown)
                        chosen.append(one)
        ordered = sorted(chosen, key=lambda s: s.order)
        condensed.append(tuple(_state_sentence(s) for s in ordered) or _cut_best(sentences, words, code))
    return condensed


def _state_sentence(sentence: TextSentence, mark: str = "") -> Statement:
    sources = (sentence.source,) if sentence.source else ()
    return Statement(f"{sentence.shown}{mark} ", (sentence.passage,), sources)


def _read_sentences(passages: Sequence[Passage], code: str) -> list[TextSentence]:
    """The sentences of all passages, each text once: quotes that are their spans' own words, else the passage's text.

    They have no span where a passage's text is not that of one.
    """
    found: dict[tuple[str, str], TextSentence] = {}
    for place, passage in enumerate(passages):
        rows: list[tuple[str, str, Source | None]] = [q for quote in passage.quotes if (q := read_verbatim(quote))]
        if not passage.quotes:
            base = passage.sources[0] if len(passage.sources) == 1 else None
            exact = base is not None and base.end - base.start == len(passage.text)
            for a, b in split_sentences(passage.text):
                span = replace(base, start=base.start + a, end=base.start + b) if base is not None and exact else None
                rows.append(("", passage.text[a:b], span))
        for at, (speaker, text, source) in enumerate(rows):
            sentence = TextSentence(text, source, passage.id, tuple(stem_text(text, code)), (place, at), speaker)
            found.setdefault((speaker, text), sentence)
    return list(found.values())


def _rank_central(
    pool: Sequence[TextSentence], sentences: Sequence[TextSentence], code: str, count: int
) -> list[TextSentence]:
    """At most `count` sentences of `pool` near the centre of all, the best first, none alike to one before it."""
    ordered = sorted(pool, key=lambda s: (s.text, s.speaker))
    middle = find_centre([s.terms for s in sorted(sentences, key=lambda s: (s.text, s.speaker))], code)
    candidates = [
        Candidate(s.terms, max(1, count_length(s.text)), rate_clean_line(s.text, code) * middle.closeness(s.terms))
        for s in ordered
    ]
    return [ordered[i] for i in choose_sentences(candidates, middle.weights, count)]


def _cut_best(sentences: Sequence[TextSentence], words: int, code: str) -> tuple[Statement, ...]:
    """The most central sentence, cut at the last clause that fits, else at a word, and marked.

    It has at most `words` words, the speaker's and the mark counted.
    """
    best = next(iter([*_rank_central(sentences, sentences, code, 1), *sentences]), None)
    if best is None:
        return ()
    text, room = best.text, max(1, words - 1 - count_length(best.speaker))
    ends = [m.start() for m in _CLAUSE.finditer(text) if 0 < count_length(text[: m.start()]) <= room]
    if not ends:
        cuts = [i for i in range(1, len(text) + 1) if count_length(text[:i]) <= room]
        ends = [i for i in cuts if text[i : i + 1].isspace()] or cuts or [1]
    source = replace(best.source, end=best.source.start + ends[-1]) if best.source else None
    return (_state_sentence(replace(best, text=text[: ends[-1]], source=source), MARK),)
