"""Answers to questions about the whole: its main themes, in the order of their weight (classical-engine §5.2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sensegraph.engines.classical.choosing import Candidate, choose, weigh
from sensegraph.engines.classical.grouping import Theme, by_phrase, merged
from sensegraph.engines.classical.keyphrases import key_phrases
from sensegraph.engines.classical.prose import stems
from sensegraph.engines.classical.questions import FRAME, Question
from sensegraph.engines.classical.said import Said, hosts, presentable, unquoted
from sensegraph.engines.classical.wording import capital, counted, introduced, listing, number, plain, who
from sensegraph.engines.classical.words_quotes import introduces
from sensegraph.types import Inquiry, Passage, Point, Statement

MOST_THEMES, EACH = 8, 3
MOST_LIKELY = 150  # sentences of a context that are read closely: the most central by their words
MOST_POINTS = 60  # points that are compared for near-duplicates: more than enough for the themes that are shown
_CAREER = re.compile(  # what a host says of a guest
    r"\b(?:started|began|spent|built) .{0,40}\b(?:career|years|tours)\b|\bpassionate about\b|\balso known as\b"
    r"|\bknown for\b|\b(?:has|have) (?:since |also )?(?:received|won|pioneered|led|been awarded)\b"
    r"|\bhelped (?:develop|build|found|create)\b|\bled the (?:team|group|effort)s?\b"
    r"|\b(?:originally|previously) (?:worked|was|served)\b|\bco-?(?:leads|founded)\b"
)
_ABOUT_SOMEONE = re.compile(
    r"(?:Dr\.|Prof\.|He|She|[A-Z][a-z]+(?: [A-Z][a-z]+)?) "
    r"(?:is|was|has|had|helped|led|spent|joined|started|also|briefly)\b"
)
_WORDS = re.compile(r"[^\W\d_][\w'’]+")
IN_POINT = 6  # sentences of a report that a point carries on


def themed_point(passage: Passage, said: Sequence[Said], corpus: int) -> Point | None:
    """A report as a point: its theme, its best sentences, and a score from rating and coverage.

    Score = 10 · rating · documents / (documents + 2): a theme of one document is no theme of a corpus.
    """
    good = telling(passage.title, presentable(said))
    documents = passage.documents or len({s.chunk for s in said})
    if not good or passage.score <= 0 or not named(passage.title):
        return None
    score = 10 * passage.score * documents / (documents + (2 if corpus > 1 else 0))
    return Point(
        as_statements(sorted(good, key=lambda s: s.order)), round(min(score, 100.0), 1), passage.title, documents
    )


def named(title: str) -> bool:
    """Whether a title says more than that it is a document of the corpus ("Episode 12")."""
    words = [w for w in _WORDS.findall(title) if w.casefold() not in FRAME]
    return bool(words) and title.casefold().partition(":")[0].strip() not in FRAME


def telling(title: str, said: Sequence[Said]) -> list[Said]:
    """The sentences that say most on the theme: those with words of its title, and of each other."""
    stemmed = set(stems(title, "en"))
    candidates = [
        Candidate(s.terms, len(s.text.split()), worth(s, frozenset()) * (1.6 if stemmed & set(s.terms) else 0.8))
        for s in said
    ]
    return [said[i] for i in choose(candidates, weigh(s.terms for s in said), IN_POINT)]


def worth(said: Said, host: frozenset[str]) -> float:
    """Quality, less for a host's words and for sentences that introduce someone: they say nothing on the subject."""
    presents = introduces(said.text) or _CAREER.search(said.text) is not None
    value = said.quality * (0.3 if presents else 1.0) * (0.5 if said.speaker in host else 1.0)
    return value * (0.6 if _ABOUT_SOMEONE.match(said.text) else 1.0)


def as_statements(said: Sequence[Said]) -> tuple[Statement, ...]:
    """Sentences as a point carries them: with the speaker's name, a line each."""
    lines = (f"{s.speaker}: “{unquoted(s.text)}”" if s.speaker else s.text for s in said)
    return tuple(
        Statement(("\n" if i else "") + line, (s.reference,), (s.source,))
        for i, (s, line) in enumerate(zip(said, lines, strict=True))
    )


def point_themes(passages: Sequence[Passage], said: Sequence[Said]) -> list[Theme]:
    """One theme a point, near-duplicates merged."""
    themes = []
    by_reference: dict[str, list[Said]] = {}
    for s in said:
        by_reference.setdefault(s.reference, []).append(s)
    for p in sorted(passages, key=lambda p: -p.score)[:MOST_POINTS]:
        own = tuple(by_reference.get(p.id, ()))
        if own:
            themes.append(
                Theme(p.title, tuple(telling(p.title, own)), own, p.score, p.documents or len({s.chunk for s in own}))
            )
    return merged(themes, EACH)[:MOST_THEMES]


def chunk_themes(said: Sequence[Said]) -> list[Theme]:
    """Themes of chunks: the phrases that most sentences turn on."""
    weight = Counter(t for s in said for t in set(s.terms))

    def central(s: Said) -> float:
        return sum(weight[t] for t in set(s.terms)) / (len(s.terms) + 6)

    likely = sorted((s for s in said if len(s.terms) > 3), key=lambda s: (-central(s), s.order))[:MOST_LIKELY]
    good = presentable(sorted(likely, key=lambda s: s.order))
    host = hosts(said)
    scores = [worth(s, host) * central(s) for s in good]
    return by_phrase(good, scores, frozenset(), MOST_THEMES, EACH)[0]


def overview(question: Question, inquiry: Inquiry, themes: Sequence[Theme]) -> Iterator[Statement]:
    """The answer: how much was read and which themes stand out, then a section on each."""
    yield plain(_opening(question, inquiry, themes))
    for i, theme in enumerate(themes):
        yield plain(f"\n\n**{capital(theme.title)}** ({_size(theme)}). {_turns_on(theme)}")
        yield from introduced(theme.best, i)


def _opening(question: Question, inquiry: Inquiry, themes: Sequence[Theme]) -> str:
    unit = question.unit if question.unit and question.unit != "podcast" else "document"
    read = f"Across {counted(inquiry.corpus, 'document')}" if inquiry.corpus else f"In the {unit}s that were read"
    one = len(themes) == 1
    names = listing([f"{t.title} ({_size(t)})" for t in themes[:3]])
    rest = f". Then come {'; '.join(t.title for t in themes[3:])}" if len(themes) > 3 else ""
    voices = [name for name, _ in Counter(v for t in themes for v in t.voices).most_common(4)]
    said_by = f" Among those who speak are {listing([who(v) for v in voices])}." if len(voices) > 1 else ""
    return f"{read}, {number(len(themes))} theme{' stands' if one else 's stand'} out: {names}{rest}.{said_by}"


def _size(theme: Theme) -> str:
    return counted(theme.documents, "document") if theme.documents else counted(theme.passages, "passage")


def _turns_on(theme: Theme) -> str:
    """What the talk turns on besides the words of the title."""
    found = key_phrases([s.text for s in theme.all], 4, avoid=frozenset(stems(theme.title, "en")))
    return f"The talk turns on {listing([p.text for p in found])}. " if len(found) > 1 else ""
