"""Reading without a model, in three passes: what a document shows, what the corpus shows, what each chunk says.

Entities are names (runs of capitals, typed by self-training), speakers, and concepts (noun phrases that the corpus
comes back to). Relations are pairs of things in one sentence or two neighbouring ones that the corpus holds to be
related, and links to the thing that a document's title names. Claims are sentences that state a checkable fact.

Times and numbers are found too, but are no entities by default: they would tie everything of one year together.
`read(…, values=True)` gives them, with the types "time" and "number".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sensegraph.engines.offline.extraction.document_reader import DocumentReader
from sensegraph.engines.offline.extraction.lexicon_learning import learn_lexicon
from sensegraph.engines.offline.extraction.observations import decode_lexicon, decode_observation, encode_record
from sensegraph.engines.offline.extraction.page_reader import observe_document
from sensegraph.types import Chunk, Extraction

VALUE_TYPES = frozenset({"time", "number"})


def observe_documents(documents: Sequence[tuple[Chunk, ...]]) -> list[bytes]:
    """What each document shows by itself, one observation a document; text that its chunks share counts once."""
    return [encode_record(observe_document(chunks)) for chunks in documents]


def learn_corpus(observations: Iterable[bytes]) -> bytes:
    """The lexicon of the corpus: equal observations in any order give equal bytes.

    They are read several times: hand over a sequence that can be read again (a stored one), and one observation at a
    time is held; of an iterator all bytes are kept.
    """
    return encode_record(learn_lexicon(observations))


def read_documents(
    items: Sequence[tuple[tuple[Chunk, ...], bytes]], lexicon: bytes, *, values: bool = False
) -> list[tuple[Extraction, ...]]:
    """The extractions of each document (chunks, observation), one per chunk, in order; spans count in the chunk."""
    known = decode_lexicon(lexicon)
    return [DocumentReader(chunks, decode_observation(seen), known, values).read() for chunks, seen in items]
