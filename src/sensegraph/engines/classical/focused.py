"""Answers to questions about something: how much is said, by whom, and what (classical-engine §5.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sensegraph.engines.classical.focusing import Relevant
from sensegraph.engines.classical.grouping import by_phrase
from sensegraph.engines.classical.prose import stems
from sensegraph.engines.classical.questions import Question
from sensegraph.engines.classical.said import LEAST_QUALITY, Said, apart
from sensegraph.engines.classical.wording import capital, counted, introduced, listing, number, plain, subject, who
from sensegraph.types import Statement

POOL, MOST_THEMES, EACH, FIRST = 60, 5, 3, 2
NEAR_BEST, FEW = 0.45, 6  # sentences far behind the best are shown only where there are few
RARE, SOME = 2, 5  # passages up to which something is hardly, and rarely, spoken of


def focused(question: Question, found: Sequence[Relevant], corpus: int) -> Iterator[Statement]:
    """The answer: counts and voices first, then what is said, in themes, by speaker or by sign as the question asks."""
    found = [r for r in found if r.sign == question.sign] or list(found) if question.sign else found
    pool = [r for r in found if r.said.quality >= LEAST_QUALITY][:POOL] or list(found[:FIRST])
    near = sum(r.score >= NEAR_BEST * pool[0].score for r in pool)
    pool = pool[: max(near, FEW)]
    yield plain(opening(question, found, corpus))
    if question.shape == "who":
        yield from _by_speaker(pool, voices(found))
    elif question.shape == "views" and len({r.sign for r in pool}) > 1:
        yield from _by_sign(pool)
    else:
        yield from _by_theme(question, pool)


# ── the opening: what can be counted ─────────────────────────────────────────────────────────────────────────────────


def opening(question: Question, found: Sequence[Relevant], corpus: int) -> str:
    """The first sentence: how many passages speak of it and who does."""
    n = len({r.said.chunk for r in found})
    about = question.subject or "this"
    where = f" in this corpus of {counted(corpus, 'document')}" if corpus > 1 else ""
    ranks = voices(found)
    if question.shape == "who" and len(ranks) > 1:
        return f"{_ranking(ranks)} on {about}, by the {counted(n, 'passage')} that I found{where}."
    head = _verdict(question, n, about, where)
    return f"{head}{_by(ranks)}.{_balance(question, found)}"


def _verdict(question: Question, n: int, about: str, where: str) -> str:
    speak = "speaks" if n == 1 else "speak"
    count = counted(n, "passage")
    if question.shape == "whether":
        start = "Hardly: only" if n < RARE else "Yes, though seldom: I found" if n < SOME else "Yes: at least"
        return (
            f"{start} {count}{where} that {speak} of {about}"
            if n >= RARE and n < SOME
            else f"{start} {count}{where} {speak} of {about}"
        )
    if question.shape == "count":
        return f"{capital(about)} comes up in at least {count}{where}{_uncounted(question)}"
    return f"{capital(count)}{where} {speak} of {about}"


def _uncounted(question: Question) -> str:
    """What an answer says where a comparison was asked for that was not counted."""
    return " (other topics were not counted, so no comparison is made)" if "compar" in question.text.casefold() else ""


def voices(found: Sequence[Relevant]) -> list[tuple[str, int]]:
    """Speakers with the number of passages in which they speak of it, most first."""
    pairs = {(r.said.speaker, r.said.chunk) for r in found if r.said.speaker and not r.host}
    return sorted(Counter(name for name, _ in pairs).items(), key=lambda x: (-x[1], x[0]))


def _by(ranks: Sequence[tuple[str, int]]) -> str:
    if not ranks:
        return ""
    names = listing([f"{who(name)} ({n})" if n > 1 else who(name) for name, n in ranks[:4]])
    lead = "the one named voice is" if len(ranks) == 1 else "most from" if len(ranks) > 4 else "the named voices are"
    return f"; {lead} {names}"


def _ranking(ranks: Sequence[tuple[str, int]]) -> str:
    (first, most), rest = ranks[0], ranks[1:4]
    level = [name for name, n in rest if n == most]
    if level:
        return f"{capital(listing([who(first), *map(who, level)]))} speak most ({number(most)} each)"
    return f"{subject(first)} speaks most ({most}), before {listing([f'{who(v)} ({n})' for v, n in rest])},"


def _balance(question: Question, found: Sequence[Relevant]) -> str:
    """How many sentences stress the bad and the good, where views are asked for."""
    bad, good = (sum(r.sign == s for r in found) for s in (-1, 1))
    if question.shape != "views" or not bad or not good:
        return ""
    rest = len(found) - bad - good
    return (
        f" By their wording, {number(bad)} of their sentences dwell{'s' if bad == 1 else ''} on problems and"
        f" {number(good)} on benefits" + (f"; {number(rest)} on neither." if rest else ".")
    )


# ── what is said ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _by_theme(question: Question, pool: Sequence[Relevant]) -> Iterator[Statement]:
    """The most telling sentences first, then themes."""
    said, scores = [r.said for r in pool], [r.score for r in pool]
    first = _spread(said, FIRST)
    rest = [i for i, s in enumerate(said) if s not in first and apart(s, first)]
    names = stems(" ".join(sorted({s.speaker for s in said})), "en")
    avoid = frozenset([*question.terms, *_initials(question.terms), *names])
    themes, loose = by_phrase([said[i] for i in rest], [scores[i] for i in rest], avoid, MOST_THEMES, EACH)
    yield plain("\n\n")
    yield from introduced(first)
    for i, theme in enumerate(themes):
        yield plain(f"\n\n**Tied to {theme.title}** ({counted(theme.passages, 'passage')}). ")
        yield from introduced(theme.best, i + FIRST)
    shown = [*first, *(s for t in themes for s in t.best)]
    more = _spread([s for s in loose if apart(s, shown)], EACH) if len(shown) < 8 else []
    if more:
        yield plain("\n\n**Also said.** " if themes else " ")
        yield from introduced(more, len(themes) + FIRST)


def _initials(terms: Sequence[str]) -> list[str]:
    """The abbreviations that adjoining terms may be written with ("AI")."""
    return [a[0] + b[0] for a, b in pairwise(terms)]


def _by_sign(pool: Sequence[Relevant]) -> Iterator[Statement]:
    """Statements that dwell on the bad, on the good, and on neither, side by side."""
    shown: list[Said] = []
    for sign, head in ((-1, "Worries and limits"), (1, "Hopes and remedies"), (0, "In neutral words")):
        inside = [r.said for r in pool if r.sign == sign]
        best = _spread([s for s in inside if apart(s, shown)], 4)
        shown += best
        if best:
            yield plain(f"\n\n**{head}** ({counted(len(inside), 'sentence')}). ")
            yield from introduced(best, len(shown))


def _by_speaker(pool: Sequence[Relevant], ranks: Sequence[tuple[str, int]]) -> Iterator[Statement]:
    """A paragraph for each of the speakers who say most."""
    shown: list[Said] = []
    for name, n in ranks[:6]:
        best = [s for s in (r.said for r in pool if r.said.speaker == name) if apart(s, shown)]
        best = _spread(best, 2)
        shown += best
        if best:
            yield plain(f"\n\n**{subject(name)}** ({counted(n, 'passage')}). ")
            yield from introduced(best, len(shown))
    if not shown:
        yield plain("\n\n")
        yield from introduced(_spread([r.said for r in pool], 5))


def _spread(ranked: Sequence[Said], most: int) -> list[Said]:
    """The first `most` sentences that are not alike, one a speaker while there are others."""
    chosen: list[Said] = []
    for fresh in (True, False):
        for said in ranked:
            if len(chosen) == most:
                return chosen
            heard = bool(said.speaker) and any(said.speaker == c.speaker for c in chosen)
            crowded = sum(said.chunk == c.chunk for c in chosen) > 1
            if not crowded and not (fresh and heard) and said not in chosen and apart(said, chosen):
                chosen.append(said)
    return chosen
