"""Which sentences of a passage a reader should see first: those that share rare words with the question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from sensegraph.language.text import collect_terms, split_sentences
from sensegraph.language.word_lists import STOP

_SHOWN = 2  # sentences of one passage
_SMALL = 0.05  # how much a function word counts: not nothing, since it may be a word of content in another language
_NEARLY = 0.6  # of the best sentence's weight, for a second one


def find_best_sentences(question: str, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """For each text the spans of its one or two best sentences, in order; the first one where none shares a word.

    A word weighs more the fewer sentences of all `texts` hold it; function words weigh little.
    """
    asked = collect_terms(question)
    spans = [split_sentences(text) for text in texts]
    shared = [[collect_terms(text[a:b]) & asked for a, b in found] for text, found in zip(texts, spans, strict=True)]
    known = Counter(word for rows in shared for words in rows for word in words)
    every = sum(map(len, spans))
    small = frozenset[str]().union(*STOP.values())
    weight = {w: log(1 + every / known[w]) * (_SMALL if w in small else 1.0) for w in sorted(known)}
    best = []
    for found, rows in zip(spans, shared, strict=True):
        scores = [sum(weight[word] for word in sorted(words)) for words in rows]
        ranked = sorted(range(len(found)), key=scores.__getitem__, reverse=True)[:_SHOWN]  # of equal ones the first
        kept = [i for i in ranked if scores[i] > 0 and scores[i] >= _NEARLY * scores[ranked[0]]]
        best.append([found[i] for i in sorted(kept or ranked[:1])])
    return best
