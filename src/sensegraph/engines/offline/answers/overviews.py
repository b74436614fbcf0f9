"""Answers of several paragraphs: to questions about the whole (classical-engine §5.2), and about something (§5.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sensegraph.engines.offline.answers.questions import Question
from sensegraph.engines.offline.answers.source_sentences import (
    LEAST_QUALITY,
    RelevantSentence,
    SourceSentence,
    choose_varied,
    differs_from,
    find_hosts,
    select_presentable,
)
from sensegraph.engines.offline.answers.themes import (
    Theme,
    begin_with,
    group_by_phrase,
    rate_sentence,
    refer_to,
    spell_count,
    write_quoted_paragraph,
    write_reported_paragraph,
)
from sensegraph.engines.offline.reports.sentence_quality import capitalise, join_with_and, spell_number, stem_text
from sensegraph.types import Inquiry, Statement

MAIN_THEMES, EACH = 7, 3  # themes, sentences of each
MOST_LIKELY = 150  # sentences of a context that are read closely: the most central by their words


def find_chunk_themes(sentences: Sequence[SourceSentence]) -> list[Theme]:
    """Themes where no outline is at hand: the phrases that most sentences turn on."""
    weight = Counter(t for s in sentences for t in set(s.terms))

    def central(s: SourceSentence) -> float:
        return sum(weight[t] for t in set(s.terms)) / (len(s.terms) + 6)

    likely = sorted((s for s in sentences if len(s.terms) > 3), key=lambda s: (-central(s), s.order))[:MOST_LIKELY]
    good = select_presentable(sorted(likely, key=lambda s: s.order))
    leads = find_hosts(sentences)
    scores = [rate_sentence(s, leads) * central(s) for s in good]
    return group_by_phrase(good, scores, frozenset(), MAIN_THEMES, EACH)[0]


def write_overview(question: Question, inquiry: Inquiry, themes: Sequence[Theme]) -> Iterator[Statement]:
    """The answer: how much was read and which themes stand out, and a section on each."""
    held = len({s.origin for theme in themes for s in theme.all})
    read = f"In {_count_out_of(held, inquiry.corpus)}, of which passages were read"
    read = f"In this {question.unit or 'text'}" if inquiry.corpus == 1 else read
    stand = f"{spell_number(len(themes))} theme{' stands' if len(themes) == 1 else 's stand'} out"
    yield Statement(f"{read}, {stand}: {'; '.join(t.title for t in themes)}.")
    for i, theme in enumerate(themes):
        yield Statement(f"\n\n**{capitalise(theme.title)}** ({spell_count(theme.passages, 'passage')}). ")
        yield from write_reported_paragraph(theme.best, i)


POOL, MOST_THEMES, FIRST = 60, 4, 3
SEVERAL = 3  # documents that speak of all that is asked, from which those on a part are left out
NEAR_BEST, FEW = 0.45, 6  # sentences far behind the best are shown only where there are few
RARE, SOME = 2, 5  # documents up to which something is hardly, and rarely, spoken of


def write_focused_answer(
    question: Question, found: Sequence[RelevantSentence], corpus: int, named: int, others: Sequence[tuple[str, int]]
) -> Iterator[Statement]:
    """The answer: counts and voices first, then what is said, in themes, by speaker or by sign as the question asks.

    `named` counts the documents that name just what is asked about (0: not known), `others` those that name something
    else.
    """
    found = [r for r in found if r.sign == question.sign] or list(found) if question.sign else found
    whole = [r for r in found if r.whole]
    found = whole if len({r.sentence.origin for r in whole}) >= SEVERAL else found
    pool = [r for r in found if r.sentence.quality >= LEAST_QUALITY][:POOL] or list(found[:FIRST])
    near = sum(r.score >= NEAR_BEST * pool[0].score for r in pool)
    pool = pool[: max(near, FEW)]
    yield Statement(write_opening(question, found, corpus, named, others))
    ranks = count_voices(found)
    if not whole:
        yield Statement("\n\n")
        first = frozenset(question.groups[0])  # of "failure in innovation" what is said on failure
        on_first = [r.sentence for r in pool if first & set(r.sentence.terms)] or [r.sentence for r in pool]
        yield from write_reported_paragraph(_spread_speakers(on_first, FEW))
    elif question.shape == "who":
        yield from _write_by_speaker(pool, ranks)
    elif question.shape == "views" and len(count_voices(pool)) > 1:
        yield from _write_by_speaker(pool, count_voices(pool), rest=True)
    elif question.shape == "views" and len({r.sign for r in pool}) > 1:
        sentences: list[SourceSentence] = []
        for sign, head in ((-1, "Worries and limits"), (1, "Hopes and remedies"), (0, "In neutral words")):
            inside = [r.sentence for r in pool if r.sign == sign]
            best = _spread_speakers([s for s in inside if differs_from(s, sentences)], 4)
            sentences += best
            if best:
                yield Statement(f"\n\n**{head}** ({spell_count(len(inside), 'sentence')}). ")
                yield from write_quoted_paragraph(best, len(sentences))
    else:
        yield from _write_by_theme(question, pool)


# ── the opening: what can be counted ─────────────────────────────────────────────────────────────────────────────────


def write_opening(
    question: Question, found: Sequence[RelevantSentence], corpus: int, named: int, others: Sequence[tuple[str, int]]
) -> str:
    """The first sentence: how many documents speak of it and who does."""
    whole = [r for r in found if r.whole]
    about = question.subject or "this"
    ranks = count_voices(whole or found)
    n = len({r.sentence.origin for r in whole or found})
    speak = _count_out_of(n, corpus, "speak")
    part = len({r.sentence.origin for r in found} - {r.sentence.origin for r in whole}) if whole else 0
    if question.shape == "who" and len(ranks) > 1:
        documents = spell_count(n, "document" if corpus != 1 else "passage")
        (first, most), further = ranks[0], ranks[1:4]
        level = [refer_to(name) for name, n in further if n == most]
        behind = join_with_and([f"{refer_to(name)} ({n})" for name, n in further])
        who = f"{begin_with(first)} speaks most ({most}), before {behind},"
        if level:
            who = f"{capitalise(join_with_and([refer_to(first), *level]))} speak most ({spell_number(most)} each)"
        return f"{who} on {about}, by the {documents} that I found to speak of it."
    if not whole and question.shape == "whether":
        head = f"Only in part: at least {speak} of a part of what is asked ({about})"
    elif not whole:
        head = f"At least {speak} of a part of what is asked ({about})"
    elif question.shape == "count" and named > n:
        compared = f", beside {join_with_and([f'{name} ({n})' for name, n in others[:5]])}" if others else ""
        head = f"{capitalise(about)} is named in {_count_out_of(named, corpus)}{compared}"
    elif question.shape == "count":
        compares = "compar" in question.text.casefold()
        uncounted = " (other topics were not counted, so no comparison is made)" if compares else ""
        head = f"{capitalise(about)} comes up in at least {_count_out_of(n, corpus)}{uncounted}"
    else:
        start = "At least"  # what was not handed over is not counted
        if question.shape == "whether":
            start = "Hardly: I find that only" if n < RARE else "Yes, though I find it seldom: at least"
            start = "Yes: at least" if n >= SOME else start
        head = f"{start} {speak} of {about}"
    if part and question.shape not in ("count", "who"):
        head += f", and {spell_number(part)} more of a part of it"
    if ranks:
        lead = "most from" if len(ranks) > 4 else "the named voices are" if len(ranks) > 1 else "the one named voice is"
        voices = [f"{refer_to(name)} ({n})" if n > 1 else refer_to(name) for name, n in ranks[:4]]
        head += f"; {lead} {join_with_and(voices)}"
    # how many sentences stress the bad and the good, where views are asked for
    bad, good = (sum(r.sign == s for r in found) for s in (-1, 1))
    if question.shape != "views" or not bad or not good:
        return f"{head}."
    neither = len(found) - bad - good
    dwell = f"{spell_number(bad)} of their sentences dwell{'s' if bad == 1 else ''} on problems"
    rest = f"; {spell_number(neither)} on neither." if neither else "."
    return f"{head}. By their wording, {dwell} and {spell_number(good)} on benefits{rest}"


def _count_out_of(n: int, corpus: int, verb: str = "") -> str:
    """How many documents of the corpus, of passages where it is one, speak: "14 of the 1,669 documents speak"."""
    noun = "document" if corpus != 1 else "passage"
    what = f"{spell_number(n)} of the {spell_count(corpus, noun)}" if corpus > 1 else spell_count(n, noun)
    return f"{what} {verb}{'s' if n == 1 else ''}" if verb else what


def count_voices(found: Sequence[RelevantSentence]) -> list[tuple[str, int]]:
    """Speakers with the number of documents in which they speak of it, most first."""
    pairs = {(r.sentence.speaker, r.sentence.origin) for r in found if r.sentence.speaker and not r.host}
    return sorted(Counter(name for name, _ in pairs).items(), key=lambda x: (-x[1], x[0]))


# ── what is said ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _write_by_theme(question: Question, pool: Sequence[RelevantSentence]) -> Iterator[Statement]:
    """The most telling sentences first, then themes."""
    sentences, scores = [r.sentence for r in pool], [r.score for r in pool]
    first = _spread_speakers(sentences, FIRST)
    rest = [i for i, s in enumerate(sentences) if s not in first and differs_from(s, first)]
    names = stem_text(" ".join(sorted({s.speaker for s in sentences})), "en")
    initials = [a[0] + b[0] for a, b in pairwise(question.terms)]  # adjoining terms may be written so ("AI")
    avoid = frozenset([*question.terms, *initials, *names])
    themes, loose = group_by_phrase([sentences[i] for i in rest], [scores[i] for i in rest], avoid, MOST_THEMES, EACH)
    yield Statement("\n\n")
    yield from write_reported_paragraph(first)
    for i, theme in enumerate(themes):
        yield Statement(f"\n\n**On {theme.title}.** ")
        yield from write_reported_paragraph(theme.best, i + FIRST)
    shown = [*first, *(s for t in themes for s in t.best)]
    more = _spread_speakers([s for s in loose if differs_from(s, shown)], EACH) if len(shown) < 8 else []
    if more:
        yield Statement("\n\n**Also said.** " if themes else " ")
        yield from write_quoted_paragraph(more, len(themes) + FIRST)


def _write_by_speaker(
    pool: Sequence[RelevantSentence], ranks: Sequence[tuple[str, int]], *, rest: bool = False
) -> Iterator[Statement]:
    """A paragraph for each of the speakers who say most; with `rest` also the best of what others say."""
    shown: list[SourceSentence] = []
    for name, _ in ranks[:6]:
        best = [s for s in (r.sentence for r in pool if r.sentence.speaker == name) if differs_from(s, shown)]
        best = _spread_speakers(best, 2)
        if best:
            yield Statement("\n\n")
            yield from write_reported_paragraph(best, len(shown), bold=name)
        shown += best
    named = {name for name, _ in ranks[:6]}
    more = [s for s in (r.sentence for r in pool) if differs_from(s, shown) and s.speaker not in named]
    if not shown or (rest and more):
        yield Statement("\n\n**Also said.** " if shown else "\n\n")
        yield from write_reported_paragraph(_spread_speakers(more, 3 if shown else 5), len(shown))


def _spread_speakers(ranked: Sequence[SourceSentence], most: int) -> list[SourceSentence]:
    """The first `most` sentences that are not alike, one a speaker while there are others."""

    def is_crowded(one: SourceSentence, others: Sequence[SourceSentence]) -> bool:
        return sum(one.chunk == o.chunk for o in others) > 1

    def is_heard(one: SourceSentence, others: Sequence[SourceSentence]) -> bool:
        return is_crowded(one, others) or (bool(one.speaker) and any(one.speaker == o.speaker for o in others))

    return choose_varied(ranked, most, is_heard, is_crowded)
