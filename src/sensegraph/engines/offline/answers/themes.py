"""Themes: sentences that turn on the same phrase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.engines.offline.answers.key_phrases import WEAK, Phrase, find_key_phrases
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.engines.offline.reports.sentence_quality import stem_text
from sensegraph.engines.offline.reports.shown_names import join_with_and


@dataclass(frozen=True, slots=True)
class Theme:
    """A title, its best sentences in the order to be read, all sentences behind it, and its weight."""

    title: str
    best: tuple[SourceSentence, ...]
    all: tuple[SourceSentence, ...]
    weight: float
    documents: int = 0

    @property
    def voices(self) -> tuple[str, ...]:
        """Who speaks in the sentences that are shown, in order."""
        return tuple(dict.fromkeys(s.speaker for s in self.best if s.speaker))

    @property
    def passages(self) -> int:
        """The number of chunks behind it."""
        return len({s.chunk for s in self.all})


def group_by_phrase(
    sentences: Sequence[SourceSentence], scores: Sequence[float], avoid: frozenset[str], most: int, each: int
) -> tuple[list[Theme], list[SourceSentence]]:
    """At most `most` themes of at most `each` sentences, heaviest first, and the sentences in no theme.

    A theme is a key phrase (without a stem of `avoid`) that two sentences or more share; a sentence belongs to the
    heaviest of its phrases; a theme weighs the sum of its three best scores, a third more for a phrase of several
    words. Themes whose best score is less than half of the first one's are dropped: that is where answers drift.
    """
    phrases = find_key_phrases([s.text for s in sentences], 5 * most, avoid=avoid)
    phrases = [p for p in phrases if len(p.stems) > 1 or (len(p.hits) > 4 and p.text.casefold() not in WEAK)]

    def weight(phrase: Phrase) -> float:
        best = sorted((scores[i] for i in phrase.hits), reverse=True)[:3]
        return sum(best) * (1.33 if len(phrase.stems) > 1 else 1.0)

    themes: list[Theme] = []
    named: set[str] = set()
    several = len({s.chunk for s in sentences}) > 3
    free = dict(enumerate(sentences))
    shown: list[SourceSentence] = []
    for phrase in sorted(phrases, key=lambda p: (-weight(p), p.stems)):
        inside = sorted((i for i in phrase.hits if i in free), key=lambda i: (-scores[i], i))
        best = _vary_sources([free[i] for i in inside], shown, each)
        alone = len(best) < 2 or (several and len({free[i].chunk for i in inside}) < 2)
        if phrase.text in named or alone or (themes and scores[inside[0]] < 0.5 * themes[0].weight):
            continue
        # the title is the phrase, with the phrase that goes most with it
        hits, title = set(phrase.hits), [phrase.text]
        others = [
            (len(hits & set(p.hits)), p.score, p.text) for p in phrases if p.text not in named and p is not phrase
        ]
        shared, _, other = max(others, default=(0, 0.0, ""))
        title += [other] if shared >= max(2, len(hits) / 2) else []
        named.update(title)
        themes.append(Theme(join_with_and(title), best, tuple(free[i] for i in inside), scores[inside[0]]))
        shown += best
        free = {i: s for i, s in free.items() if i not in inside}
        if len(themes) == most:
            break
    return themes, list(free.values())


def _vary_sources(
    ranked: Sequence[SourceSentence], shown: Sequence[SourceSentence], each: int
) -> tuple[SourceSentence, ...]:
    """The first `each` that are not alike, at most two from one speaker and two from one chunk."""
    chosen: list[SourceSentence] = []
    voices: Counter[str] = Counter()
    for sentence in ranked:
        if len(chosen) == each:
            break
        marks = [f"chunk {sentence.chunk}", *([f"speaker {sentence.speaker}"] if sentence.speaker else [])]
        if all(voices[m] < 2 for m in marks) and differs_from(sentence, [*shown, *chosen]):
            chosen.append(sentence)
            voices.update(marks)
    return tuple(chosen)


def merge_themes(themes: Sequence[Theme], each: int) -> list[Theme]:
    """Themes in order of weight, near-duplicates joined into the heavier one, no sentence shown twice."""
    kept: list[Theme] = []
    for theme in sorted(themes, key=lambda t: (-t.weight, t.title)):
        at = next((i for i, k in enumerate(kept) if is_same_theme(k, theme)), None)
        if at is None:
            kept.append(theme)
        else:
            kept[at] = join_themes(kept[at], theme)
    shown: list[SourceSentence] = []
    result = []
    for theme in kept:
        best = _vary_sources(theme.best, shown, each)
        shown += best
        if best:
            result.append(Theme(theme.title, best, theme.all, theme.weight, theme.documents))
    return result


def is_same_theme(one: Theme, other: Theme) -> bool:
    """Whether two themes are nearly the same: by title, by shared sentences, or by the terms of their sentences."""
    first, second = (set(stem_text(theme.title, "en")) for theme in (one, other))
    if first and second and len(first & second) >= 0.5 * min(len(first), len(second)):
        return True
    shared = {s.source for s in one.all} & {s.source for s in other.all}
    if len(shared) >= 0.5 * min(len(one.all), len(other.all)):
        return True
    a, b = (Counter(t for s in theme.all for t in s.terms) for theme in (one, other))
    dot = sum(n * b[t] for t, n in a.items())
    size = sum(n * n for n in a.values()) * sum(n * n for n in b.values())
    return bool(size) and dot / size**0.5 > 0.6  # the cosine


def join_themes(one: Theme, other: Theme) -> Theme:
    """Two themes as one, under the first one's title; the counts of documents may overlap, so the larger stands."""
    best = (*one.best, *(s for s in other.best if s not in one.best))
    every = tuple(dict.fromkeys((*one.all, *other.all)))
    return Theme(one.title, best, every, one.weight, max(one.documents, other.documents))
