"""Answers to questions about the whole: its main themes, in the order of their weight (classical-engine §5.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sensegraph.engines.offline.answers.question_rules import Question, says_subject
from sensegraph.engines.offline.answers.source_sentences import (
    SourceSentence,
    find_hosts,
    group_by_reference,
    select_presentable,
    state_sentences,
)
from sensegraph.engines.offline.answers.theme_sentences import choose_telling_sentences, rate_sentence, retitle_theme
from sensegraph.engines.offline.answers.themes import Theme, group_by_phrase, merge_themes
from sensegraph.engines.offline.answers.wording import spell_count, write_reported_paragraph
from sensegraph.engines.offline.reports.shown_names import capitalise, spell_number
from sensegraph.types import Inquiry, Passage, Point, Statement

MOST_THEMES, EACH, MORE = 7, 3, 6  # themes, sentences of each, smaller themes that are named
MOST_LIKELY = 150  # sentences of a context that are read closely: the most central by their words
MOST_POINTS = 60  # points that are compared for near-duplicates: more than enough for the themes that are shown
IN_POINT = 10  # sentences of a report that a point carries on
_MANY = 20  # documents from which counts of them say something
HALF = 0.02  # share of the corpus of which a theme must be to score half of its rating
LEAST_DOCUMENTS = 3  # documents of which a theme of a large corpus must be


def make_themed_point(
    passage: Passage, sentences: Sequence[SourceSentence], corpus: int, leads: frozenset[str], speakers: frozenset[str]
) -> Point | None:
    """A report as a point: its theme, its best sentences, and a score from rating and coverage.

    Score = 10 · rating · documents / (documents + h), h a fiftieth of the corpus, two at least: a theme of one document
    is no theme of a corpus. `leads` are the speakers who lead the talk, `speakers` all.
    """
    good = choose_telling_sentences(passage.title, sentences, leads, IN_POINT)
    documents = passage.documents or len({s.origin for s in sentences})
    if not good or passage.score <= 0 or not says_subject(passage.title):
        return None
    title = capitalise(retitle_theme(passage.title, good, speakers))
    half = max(2.0, corpus * HALF) if corpus > 1 else 0.0
    score = 10 * passage.score * documents / (documents + half)
    return Point(state_sentences(good, leads), round(min(score, 100.0), 1), title, documents) if title else None


def find_point_themes(passages: Sequence[Passage], sentences: Sequence[SourceSentence]) -> list[Theme]:
    """One theme a point, near-duplicates merged, heaviest first."""
    themes = []
    leads = find_hosts(sentences)
    speakers = frozenset(s.speaker for s in sentences if s.speaker)
    by_reference = group_by_reference(sentences)
    for p in sorted(passages, key=lambda p: -p.score)[:MOST_POINTS]:
        own = tuple(by_reference.get(p.id, ()))
        if own:
            title = retitle_theme(p.title, own, speakers)
            best = tuple(choose_telling_sentences(title, own, leads, 2 * EACH))
            themes.append(Theme(title, best, own, p.score, p.documents or len({s.origin for s in own})))
    return merge_themes([t for t in themes if t.title and t.best], EACH)


def find_chunk_themes(sentences: Sequence[SourceSentence]) -> list[Theme]:
    """Themes of chunks: the phrases that most sentences turn on."""
    weight = Counter(t for s in sentences for t in set(s.terms))

    def central(s: SourceSentence) -> float:
        return sum(weight[t] for t in set(s.terms)) / (len(s.terms) + 6)

    likely = sorted((s for s in sentences if len(s.terms) > 3), key=lambda s: (-central(s), s.order))[:MOST_LIKELY]
    good = select_presentable(sorted(likely, key=lambda s: s.order))
    leads = find_hosts(sentences)
    scores = [rate_sentence(s, leads) * central(s) for s in good]
    return group_by_phrase(good, scores, frozenset(), MOST_THEMES, EACH)[0]


def write_overview(question: Question, inquiry: Inquiry, themes: Sequence[Theme]) -> Iterator[Statement]:
    """The answer: how much was read and which themes stand out, a section on each, and what smaller ones there are."""
    corpus = inquiry.corpus
    weighty = [t for t in themes if corpus < _MANY or not t.documents or t.documents >= LEAST_DOCUMENTS] or themes
    main, rest = weighty[:MOST_THEMES], weighty[MOST_THEMES:]
    unit = question.unit if question.unit and question.unit != "podcast" else "document"
    read = f"Across {spell_count(corpus, 'document')}" if corpus else f"In the {unit}s that were read"
    read = f"In this {question.unit or 'text'}" if corpus == 1 else read
    stand = f"{spell_number(len(main))} theme{' stands' if len(main) == 1 else 's stand'} out"
    counting = any(t.documents for t in main) and corpus >= _MANY
    how = " Each count is of the documents that bring main terms of the theme together." if counting else ""
    yield Statement(f"{read}, {stand}: {'; '.join(t.title for t in main)}.{how}")
    for i, theme in enumerate(main):
        behind = f" ({spell_count(theme.passages, 'passage')})"
        if theme.documents and corpus:  # a count of documents, where it says something
            says = corpus >= _MANY and theme.documents < corpus
            behind = f" ({spell_count(theme.documents, 'document')})" if says else ""
        yield Statement(f"\n\n**{capitalise(theme.title)}**{behind}. ")
        yield from write_reported_paragraph(theme.best, i)
    if rest:
        yield Statement(f"\n\nSmaller themes: {'; '.join(t.title for t in rest[:MORE])}.")
