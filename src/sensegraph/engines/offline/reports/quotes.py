"""The sentences behind the passages of a context, as one list of quotes that know which passages they support."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence

import msgspec

from sensegraph.engines.offline.reports.sentence_choice import Candidate, weigh_stems
from sensegraph.engines.offline.reports.sentence_quality import (
    FIRST_PERSON,
    introduces_person,
    is_hanging,
    rate_quality,
    stem_text,
    tidy_sentence,
)
from sensegraph.language.speakers import split_label
from sensegraph.language.text import WORD, fold
from sensegraph.types import Context, Description, Passage, Source

PLACES = 3  # spans kept for a text that stands in several
LIMIT = 240  # quotes looked at for one report: what follows is quadratic in them at worst


class Quote(msgspec.Struct, frozen=True):
    """A tidied sentence of the text, with its span, the ids of the passages it supports, and how it may be used.

    `members` counts the distinct entities in it; `introduces` says that it presents a person by office or career,
    `personal` that it speaks of its own speaker.
    """

    text: str
    speaker: str
    sources: tuple[Source, ...]
    owners: tuple[str, ...]
    members: int
    worth: float
    introduces: bool
    personal: bool
    candidate: Candidate

    @property
    def chunk(self) -> str:
        """The chunk it stands in, "" when its place is not known."""
        return self.sources[0].chunk if self.sources else ""


def list_quotes(passage: Passage) -> tuple[Description, ...]:
    """The passage's quotes; where it has none, its text with its first source."""
    if passage.quotes or not passage.text.strip():
        return passage.quotes
    source = passage.sources[0] if passage.sources else Source("", 0, 0)
    return (Description(passage.text, source),)


def split_relation_title(relation: Passage) -> tuple[str, str]:
    """The two names of a relation's title ("A — B")."""
    first, _, second = relation.title.partition(" — ")
    return first.strip(), second.strip()


def gather_quotes(context: Context, code: str) -> list[Quote]:
    """The quotes of all passages, each text once, at most LIMIT: first those that support most passages.

    Those of odd length, questions and what speakers say of themselves come last. Ties are broken by a hash of the
    place, so that no document is preferred for coming first.
    """
    owners: dict[str, dict[str, None]] = {}
    sources: dict[str, dict[Source, None]] = {}
    owned: dict[str, tuple[str, ...]] = {}  # passage id → the folded names of the entities that a quote of it holds
    for passage in context.passages:
        for quote in list_quotes(passage):
            owners.setdefault(quote.text, {})[passage.id] = None
            sources.setdefault(quote.text, {})[quote.source] = None
        if passage.kind == "entity":
            owned[passage.id] = (fold(passage.title),)
        elif passage.kind == "relation":
            owned[passage.id] = tuple(fold(name) for name in split_relation_title(passage))
        elif passage.kind == "report":  # what a report shows was chosen for holding several
            owned[passage.id] = (passage.id, fold(passage.title))
    places = {text: sorted(found, key=hash_place) for text, found in sources.items()}

    def rank(text: str) -> tuple[bool, int, tuple[int, str, int], str]:
        odd = not 40 <= len(text) <= 280 or text.rstrip().endswith("?") or FIRST_PERSON.search(text) is not None
        return odd, -len(owners[text]), hash_place(places[text][0]), text

    order = sorted(owners, key=rank)[:LIMIT]
    return [_make_quote(text, places[text][:PLACES], tuple(owners[text]), owned, code) for text in order]


def hash_place(source: Source) -> tuple[int, str, int]:
    """What orders places so that no document is preferred for coming first."""
    return zlib.crc32(f"{source.chunk}\0{source.start}".encode()), source.chunk, source.start


def _make_quote(
    raw: str, places: Sequence[Source], owners: tuple[str, ...], owned: dict[str, tuple[str, ...]], code: str
) -> Quote:
    speaker, said = split_label(raw)
    if any(place.chunk and not place.start for place in places):  # the label may be cut at the chunk's border
        speaker = speaker if (fold(speaker),) in owned.values() else ""
    text = tidy_sentence(said)
    terms = tuple(stem_text(text, code))
    members = len({name for owner in owners for name in owned.get(owner, ())})
    worth = rate_quality(text) * (0.6 if is_hanging(text) else 1.0)
    return Quote(
        text,
        speaker,
        tuple(place for place in places if place.chunk),
        owners,
        members,
        worth,
        introduces_person(text),
        FIRST_PERSON.search(text) is not None,
        Candidate(terms, max(1, len(WORD.findall(text))), worth * math.log1p(max(members, 1))),
    )


def weigh_salience(quotes: Iterable[Quote], names: Sequence[str], code: str) -> dict[str, float]:
    """Term weights of a community: by the chunks that hold a term, and more for words of its strongest names."""
    chunks: dict[str, dict[str, None]] = {}
    for quote in quotes:
        chunks.setdefault(quote.chunk, {}).update(dict.fromkeys(quote.candidate.terms))
    counts = weigh_stems((tuple(terms) for terms in chunks.values()), once=0.15)
    for i, name in enumerate(names):
        for stem in stem_text(name, code):
            if stem in counts:
                counts[stem] = max(counts[stem], 0.7) * (1 + 1.5 / (1 + i / 2))
    return counts
