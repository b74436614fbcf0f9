"""Reading without a model: what a document shows, what the corpus shows of its terms, what each chunk says.

Entities are names (runs of capitals, typed by self-training), speakers, and concepts (noun phrases that the corpus
comes back to). Relations are pairs of things in one sentence or two neighbouring ones that the corpus holds to be
related (`relating`), and links to the thing that a document's title names. Claims are sentences that state a checkable
fact. Times and numbers are found too, but are no entities by default: they would tie everything of one year together.

The corpus is looked through several times, because each look needs what the one before has shown: what documents share
at their edges, their words and labels, their names and phrases, how concepts are written, which things are related. A
look counts every document by itself, and learns from the counts entries by term. A document is told the entries of its
own terms alone, so that one document more changes little of what the others are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from types import MappingProxyType
from typing import Any

import msgspec

from sensegraph.engines.offline.extraction import kinds, naming, relating, words
from sensegraph.engines.offline.extraction.document_reader import DocumentReader
from sensegraph.engines.offline.extraction.observations import Ends, Mentioned, Observation, read_entries
from sensegraph.engines.offline.extraction.page_reader import observe_document
from sensegraph.types import Chunk, Extraction

LOOKS = 5
VALUE_TYPES = frozenset({"time", "number"})
_ENDS, _WORDS, _NAMES, _FORMS, _PAIRS = range(LOOKS)
_encoder = msgspec.msgpack.Encoder(order="deterministic")
_decoder = msgspec.msgpack.Decoder(Observation)
_mentioned_decoder = msgspec.msgpack.Decoder(Mentioned)
_ends_decoder = msgspec.msgpack.Decoder(Ends)
_Told = Mapping[str, str]


def observe_documents(documents: Sequence[tuple[Chunk, ...]], segmenter: str = "rules") -> list[bytes]:
    """What each document shows by itself, one observation a document; text that its chunks share counts once."""
    return [_encoder.encode(observe_document(chunks, segmenter)) for chunks in documents]


def count_documents(items: Sequence[tuple[bytes, _Told]], look: int) -> list[tuple[Sequence[str], bytes]]:
    """What each document (observation, entries of earlier looks) counts for a look, and the terms that it asks for."""
    counted: list[tuple[Sequence[str], bytes]] = []
    terms: set[str]
    count: Any
    for seen, told in items:
        if look == _ENDS:
            terms, count = words.count_ends(_ends_decoder.decode(seen))
        elif look == _WORDS:
            terms, count = words.count_words(_decoder.decode(seen), read_entries(told))
        elif look == _NAMES:
            digest = blake2b(seen, digest_size=16).digest()
            terms, count = naming.count_names(_mentioned_decoder.decode(seen), read_entries(told), digest)
        else:
            ask = naming.count_forms if look == _FORMS else relating.count_pairs
            terms, count = ask(_mentioned_decoder.decode(seen), read_entries(told))
        counted.append((list(terms), _encoder.encode(count)))
    return counted


def learn_corpus(
    counts: Iterable[bytes],
    look: int,
    known: _Told,
    given: Mapping[str, str] = MappingProxyType({}),
    *,
    guesses: bool = False,
) -> dict[str, str]:
    """The entries, by term, that a look at the corpus teaches: equal counts in any order give equal entries.

    `known` are all entries of the looks before, `given` the types by name that the user lists. `guesses` tells
    guessed types too.
    """
    if look == _ENDS:
        return words.learn_ends(counts)
    if look == _WORDS:
        return words.learn_words(counts)
    if look == _NAMES:
        return naming.learn_names(counts, known, given, guesses)
    return naming.learn_forms(counts, known) if look == _FORMS else relating.learn_pairs(counts)


def read_documents(
    items: Sequence[tuple[tuple[Chunk, ...], bytes, _Told]], *, values: bool = False, guesses: bool = False
) -> list[tuple[Extraction, ...]]:
    """The extractions of each document (chunks, observation, entries), one per chunk, in order; spans in the chunk.

    `values` tells times and numbers too; `guesses` the types that little speaks for, which are "other" else.
    """
    found = []
    for chunks, seen, told in items:
        known = read_entries(told)
        if guesses:
            guessed = {k: kinds.guess_of_kind(kind) for k, kind in known.kinds.items()}
            known = msgspec.structs.replace(known, kinds=guessed)
        found.append(DocumentReader(chunks, _mentioned_decoder.decode(seen), known, values).read())
    return found


def survey_documents(
    observations: Sequence[bytes], given: Mapping[str, str] = MappingProxyType({}), *, guesses: bool = False
) -> tuple[list[dict[str, str]], dict[str, str]]:
    """The entries that each of a few documents is told when they are the corpus, and all entries."""
    told: list[dict[str, str]] = [{} for _ in observations]
    known: dict[str, str] = {}
    for look in range(LOOKS):
        counted = [count_documents([item], look)[0] for item in zip(observations, told, strict=True)]
        known |= learn_corpus([count for _, count in counted], look, known, given, guesses=guesses)
        for one, (terms, _) in zip(told, counted, strict=True):
            one.update((t, known[t]) for t in sorted(terms) if t in known)
    return told, known


def read_together(
    documents: Sequence[tuple[Chunk, ...]],
    given: Mapping[str, str] = MappingProxyType({}),
    segmenter: str = "rules",
    *,
    values: bool = False,
    guesses: bool = False,
) -> list[tuple[Extraction, ...]]:
    """The extractions of a few documents that are the corpus."""
    seen = observe_documents(documents, segmenter)
    items = list(zip(documents, seen, survey_documents(seen, given, guesses=guesses)[0], strict=True))
    return read_documents(items, values=values, guesses=guesses)
