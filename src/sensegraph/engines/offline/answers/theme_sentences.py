"""Which sentences tell most on a theme, and what to call it."""

from __future__ import annotations

from collections.abc import Sequence

from sensegraph.engines.offline.answers.key_phrases import find_key_phrases
from sensegraph.engines.offline.answers.sentence_relevance import rate_soundness
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from, select_presentable
from sensegraph.engines.offline.answers.wording import make_general_clause
from sensegraph.engines.offline.reports.general_sentences import rate_generality
from sensegraph.engines.offline.reports.sentence_choice import weigh_stems
from sensegraph.engines.offline.reports.sentence_quality import stem_text
from sensegraph.engines.offline.reports.shown_names import join_with_and, show_natural_case, split_title

STRONG = 6  # the heaviest terms besides the title: a sentence on the theme holds one of the title or two of these
BEHIND = 0.35  # share of the best score below which a sentence is not shown
FLOOR = 0.15  # score below which a sentence tells nothing on any theme
READABLE = 30  # words from which a sentence counts for less
STATES = 1.6  # worth of a sentence that states something by itself
LEADING = 0.45  # worth of what a host says: the guests are asked for
UNNAMED = 0.75  # worth of what nobody is known to have said, where speakers are known


def choose_telling_sentences(
    title: str, sentences: Sequence[SourceSentence], leads: frozenset[str], count: int
) -> list[SourceSentence]:
    """At most `count` presentable sentences that say most on the theme, best first, none far behind the best.

    Each comes from a document and a speaker of its own while there are such. A sentence is on the theme where it holds
    a word of the title; where few do, also where it holds two of the theme's heaviest terms.
    """
    titled = frozenset(stem_text(title, "en"))
    weights = weigh_stems(s.terms for s in sentences)
    strong = frozenset(sorted((t for t in weights if t not in titled), key=lambda t: (-weights[t], t))[:STRONG])
    on = select_presentable([s for s in sentences if titled & set(s.terms)])
    if len(on) < 2 * count:
        on = [s for s in select_presentable(sentences) if titled & set(s.terms) or len(strong & set(s.terms)) > 1]
    on = on or select_presentable(sentences)
    known = any(s.speaker for s in sentences)
    scores = []
    for s in on:
        # how far it is about the theme, 0.3 to 1.3: words of its title, other heavy terms, its length
        held, near = len(titled.intersection(s.terms)), len(strong.intersection(s.terms))
        focus = (0.3 + 0.3 * min(2, held) + 0.1 * min(4, near)) * min(1.0, READABLE / max(1, len(s.text.split())))
        scores.append(rate_sentence(s, leads) * focus * (UNNAMED if known and not s.speaker else 1.0))
    ranked = sorted(range(len(on)), key=lambda i: (-scores[i], on[i].order))
    near_best = [on[i] for i in ranked if scores[i] >= max(FLOOR, BEHIND * scores[ranked[0]])]
    return vary_speakers(near_best, count)


def vary_speakers(ranked: Sequence[SourceSentence], count: int) -> list[SourceSentence]:
    """The first `count` that are not alike, of a speaker and a document of their own while there are such."""
    chosen: list[SourceSentence] = []
    for fresh in (True, False):
        for sentence in ranked:
            if len(chosen) == count:
                return chosen
            heard = any((s.speaker and s.speaker == sentence.speaker) or s.origin == sentence.origin for s in chosen)
            crowded = any(s.chunk == sentence.chunk for s in chosen)
            if (
                not (heard if fresh else crowded)
                and all(s is not sentence for s in chosen)
                and differs_from(sentence, chosen)
            ):
                chosen.append(sentence)
    return chosen


def rate_sentence(sentence: SourceSentence, leads: frozenset[str]) -> float:
    """Quality and generality, more for what states something; less for a host's words and what is not sound."""
    value = sentence.quality * min(1.2, 0.15 + rate_generality(sentence.text)) * rate_soundness(sentence.text)
    value *= LEADING if sentence.speaker in leads else 1.0
    return value * (STATES if make_general_clause(sentence.text) else 1.0)


def retitle_theme(title: str, sentences: Sequence[SourceSentence], speakers: frozenset[str]) -> str:
    """The title without the names of those who speak, filled up with what their sentences turn on; "" if with nothing.

    A guest is no theme: "Chris Urmson, robots and images" is about robots and images.
    """
    texts = [s.text for s in sentences]
    kept = [show_natural_case(h, texts) for h in split_title(title) if h not in speakers]
    avoid = frozenset(t for name in (*kept, *sorted(speakers)) for t in stem_text(name, "en"))
    if len(kept) < min(2, len(split_title(title))):
        kept += [p.text for p in find_key_phrases(texts, 2, avoid=avoid)][: 2 - len(kept)]
    return join_with_and(kept)
