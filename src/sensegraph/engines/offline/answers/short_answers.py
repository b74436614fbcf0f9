"""Short answers: a summary of one meeting or document, and a few sentences that answer a narrow question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from sensegraph.engines.offline.answers.key_phrases import find_key_phrases
from sensegraph.engines.offline.answers.question_rules import Question
from sensegraph.engines.offline.answers.sentence_relevance import term_weights
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from, select_presentable
from sensegraph.engines.offline.answers.wording import (
    begin_with,
)
from sensegraph.engines.offline.reports.sentence_quality import end_sentence, quote_text
from sensegraph.engines.offline.reports.shown_names import join_with_and
from sensegraph.types import Statement

OPENING = 16  # key phrases in the opening of a summary (classical-engine §5.2)
WINDOW, DECAY = 6, 0.8  # sentences on either side that lend relevance, and how it fades (§5.3)
BEHIND = 0.6  # share of the best score below which a sentence adds nothing to a direct answer
LEAST_HERE = 0.05  # quality from which a sentence may stand in a short answer: what answers is often short
FEEDBACK_FROM, FEEDBACK_TERMS = 25, 12


def summarise_text(question: Question, sentences: Sequence[SourceSentence], words: int) -> Iterator[Statement]:
    """A summary of about `words` words: what it was about, then covering sentences in the order of the text."""
    unit = question.unit or "text"
    phrases = [p.text for p in find_key_phrases([s.text for s in sentences], OPENING)]
    opening = ""
    if len(phrases) > 2:
        actors = "group" if sum(bool(s.speaker) for s in sentences) * 2 > len(sentences) else "text"
        opening = (
            f"The {unit} was about {join_with_and(phrases[:2])}. The {actors} discussed {join_with_and(phrases[2:])}."
        )
        yield Statement(opening)
    chosen = choose_covering(sentences, words - len(opening.split()))
    yield from report_speech(chosen, bool(opening))


def choose_covering(sentences: Sequence[SourceSentence], words: int) -> list[SourceSentence]:
    """Sentences that together cover the terms of the text, up to about `words` words, in its order."""
    counts = Counter(t for s in sentences for t in set(s.terms))
    good = select_presentable(sentences)
    covered: Counter[str] = Counter()
    chosen: list[SourceSentence] = []
    length = 0

    def gain(s: SourceSentence) -> float:
        worth = sum(counts[t] * math.log(1 + len(sentences) / counts[t]) * 0.4 ** covered[t] for t in set(s.terms))
        return worth / (math.sqrt(len(s.terms)) + 2) * s.quality

    while good and length < words:
        best = max(good, key=lambda s: (gain(s), -s.order))
        good = [s for s in good if s is not best]
        if differs_from(best, chosen):
            chosen.append(best)
            covered.update(set(best.terms))
            length += len(best.text.split()) + 3
    return sorted(chosen, key=lambda s: s.order)


def choose_narrow_sentences(
    question: Question, sentences: Sequence[SourceSentence], words: int
) -> list[SourceSentence]:
    """The sentences that answer a narrow question, up to about `words` words, in the order of the text."""
    chosen: list[SourceSentence] = []
    length = 0
    for one, _ in _rank_sentences(question, sentences):
        if length >= words:
            break
        if one.quality >= LEAST_HERE and differs_from(one, chosen):
            chosen.append(one)
            length += len(one.text.split()) + 4
    return sorted(chosen, key=lambda s: s.order)


def choose_direct_sentences(question: Question, sentences: Sequence[SourceSentence], most: int) -> list[SourceSentence]:
    """The at most `most` sentences that answer a question of fact, best first; none far behind the best."""
    ranked = _rank_sentences(question, sentences)
    chosen: list[SourceSentence] = []
    for one, score in ranked:
        if len(chosen) == most or score < BEHIND * ranked[0][1]:
            break
        if differs_from(one, chosen):
            chosen.append(one)
    return chosen


def _rank_sentences(question: Question, sentences: Sequence[SourceSentence]) -> list[tuple[SourceSentence, float]]:
    scores = score_sentences(question, sentences)
    pairs = [(s, x) for s, x in zip(sentences, scores, strict=True) if x > 0]
    return sorted(pairs, key=lambda p: (-p[1], p[0].order))


def score_sentences(question: Question, sentences: Sequence[SourceSentence]) -> list[float]:
    """How much each sentence bears on the question: its terms, its surroundings, feedback, speaker, quality (§5.3)."""
    weights = term_weights(question, sentences, strict=False)
    if not weights:
        return [0.0] * len(sentences)
    forms = {v: w * f for w, vs in weights.values() for v, f in vs.items()}
    own = [sum(forms.get(t, 0.0) for t in set(s.terms)) / (math.sqrt(len(s.terms)) + 2) for s in sentences]
    nearby = (range(max(0, i - WINDOW), min(len(own), i + WINDOW + 1)) for i in range(len(own)))
    around = [sum(own[j] * DECAY ** abs(j - i) for j in near) for i, near in enumerate(nearby)]
    base = [a + 0.6 * b for a, b in zip(_scale_to_one(own), _scale_to_one(around), strict=True)]
    # feedback: overlap with the terms that mark the best sentences off from the rest
    counts = Counter(t for s in sentences for t in set(s.terms))
    best = sorted(range(len(sentences)), key=lambda i: (-base[i], i))[:FEEDBACK_FROM]
    inside = Counter(t for i in best for t in set(sentences[i].terms))
    worth = {t: n * math.log(1 + len(sentences) / counts[t]) for t, n in inside.items() if n > 1}
    top = dict(sorted(worth.items(), key=lambda x: (-x[1], x[0]))[:FEEDBACK_TERMS])
    overlap = [sum(top.get(t, 0.0) for t in set(s.terms)) / (math.sqrt(len(s.terms)) + 2) for s in sentences]
    named = question.text.casefold()
    return [
        (b + 0.3 * f) * (1.8 if s.speaker and s.speaker.casefold() in named else 1.0) * (0.25 + 0.75 * s.quality)
        for s, b, f in zip(sentences, base, _scale_to_one(overlap), strict=True)
    ]


def _scale_to_one(values: Sequence[float]) -> list[float]:
    most = max(values, default=0.0)
    return [v / most for v in values] if most else list(values)


def report_speech(chosen: Sequence[SourceSentence], after: bool) -> Iterator[Statement]:
    """Sentences with their speakers, one after another: “… said that …”, “and that …” where one speaker goes on."""
    last = ""
    for sentence in chosen:
        asks = sentence.text.endswith(("?", "？"))
        text = end_sentence(sentence.text)
        if sentence.speaker and sentence.speaker == last:
            text = f"and {'asked:' if asks else 'that'} {quote_text(sentence.text)}"
        elif sentence.speaker:
            text = f"{begin_with(sentence.speaker)} {'asked:' if asks else 'said that'} {quote_text(sentence.text)}"
        yield sentence.cite(f"{' ' if after else ''}{text}")
        after, last = True, sentence.speaker
