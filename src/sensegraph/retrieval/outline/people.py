"""Who is in a corpus, and how its conversations open: where an outline looks for what somebody is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sensegraph.language.background import stem_of
from sensegraph.retrieval.outline.phrases import Gathered, Spot
from sensegraph.retrieval.outline.values import Sentence, Theme

MOST, LINES = 60, 12  # people, and lines of each, among which one may say who it is
OPENING, SHARED, SHOWN = 20, 0.4, 3  # lines of an opening; share of the conversations that have them; lines shown
LEAST_TALKS = 6  # conversations that may be a series


def list_speakers(gathered: Gathered) -> tuple[Theme, ...]:
    """Those who speak, each with the first lines that name them in full."""
    voices = sorted(gathered.voices.items(), key=lambda x: (-x[1], x[0]))
    stems = (tuple(map(stem_of, name.split())) for name, _ in voices)
    people: list[Theme] = []
    for phrase in (gathered.phrase(s) for s in dict.fromkeys(stems) if len(s) > 1 and s in gathered.forms):
        spots = sorted({s for s in phrase.spots if gathered.line(s).worth > 0}, key=gathered.place)
        if spots and len(people) < MOST:
            lines = tuple(gathered.sentence(s) for s in spots[:LINES])
            people.append(Theme(phrase.label, len(phrase.units), (), (), lines))
    return tuple(people)


def find_shared_opening(gathered: Gathered) -> tuple[Sentence, ...]:
    """What most of many conversations open with: their own words on what they are; nothing of other texts."""
    units = {gathered.unit[i] for i in gathered.talks}
    if len(units) < LEAST_TALKS or 2 * len(units) < len(gathered.titles):
        return ()
    opened = {unit: gathered.opening(unit, OPENING) for unit in sorted(units)}
    marks = Counter(m for spots in opened.values() for m in {m for s in spots for m in gathered.line(s).marks})
    often = {mark for mark, n in marks.items() if n >= SHARED * len(units)}

    def repeated(spots: Sequence[Spot]) -> list[Spot]:
        return [s for s in spots if not often.isdisjoint(gathered.line(s).marks) and gathered.line(s).worth > 0]

    longest = max((repeated(spots) for spots in opened.values()), key=len)
    return tuple(gathered.sentence(s) for s in longest[:SHOWN])
