"""Chunks to extractions: what each chunk says, by whichever engine (edge2024 §3.1.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sensegraph.keys import key
from sensegraph.protocols import LanguageEngine, SurveyingEngine
from sensegraph.runtime import Results, Runtime, step
from sensegraph.types import Chunk, Extraction


def _what_is_read(chunk: Chunk) -> tuple[str, str]:
    return chunk.text, chunk.title


@step(version=1, uses="engine", task="extract", sees=_what_is_read)
def extract(chunks: Sequence[Chunk], *, engine: LanguageEngine) -> list[Extraction]:
    """Entities, relations and claims of each chunk, from its text alone."""
    return engine.extract(chunks)


@step(version=1, uses="engine", task="survey")
def observe(documents: Sequence[tuple[Chunk, ...]], *, engine: SurveyingEngine) -> list[bytes]:
    """What each document shows by itself."""
    return engine.observe(documents)


@step(version=1, uses="engine", task="survey")
def learn(corpora: Sequence[Results[bytes]], *, engine: SurveyingEngine) -> list[bytes]:
    """What the whole corpus shows."""
    return [engine.learn(observations) for observations in corpora]


@step(version=1, uses="engine", task="survey")
def read(
    documents: Sequence[tuple[tuple[Chunk, ...], bytes]], *, engine: SurveyingEngine, lexicon: bytes
) -> list[tuple[Extraction, ...]]:
    """The extractions of each document, given what the corpus shows."""
    return engine.read(documents, lexicon)


@dataclass(frozen=True)
class Extracted:
    """Every chunk with its extraction, in order; `keys` stand for all of it."""

    chunks: Results[tuple[Chunk, ...]]
    extractions: Results[Any]
    by_document: bool

    @property
    def keys(self) -> tuple[str, ...]:
        """What this depends on."""
        return (*self.chunks.keys, *self.extractions.keys)

    def __iter__(self) -> Iterator[tuple[Chunk, Extraction]]:
        if self.by_document:
            for chunks, found in zip(self.chunks, self.extractions, strict=True):
                yield from zip(chunks, found, strict=True)
        else:
            yield from zip((c for chunks in self.chunks for c in chunks), self.extractions, strict=True)


@step(version=1)
def rejected(wholes: Sequence[Iterable[tuple[Chunk, Extraction]]]) -> list[tuple[tuple[str, int], ...]]:
    """The records of replies that could not be used, by reason."""
    return [tuple(sorted(_rejected(whole).items())) for whole in wholes]


def _rejected(whole: Iterable[tuple[Chunk, Extraction]]) -> Counter[str]:
    found = Counter[str]()
    for _, extraction in whole:
        found.update(dict(extraction.rejected))
    return found


def what_was_rejected(extracted: Extracted, rt: Runtime) -> tuple[str, ...]:
    """A note on the records that extraction could not use, or none: they are no part of the index."""
    found = rt.once(rejected, extracted, names=extracted.keys).value
    if not found:
        return ()
    why = "; ".join(f"{n} × {reason}" for reason, n in found)
    return (f"{sum(n for _, n in found)} records of extraction could not be used: {why}",)


def extract_all(chunks: Results[tuple[Chunk, ...]], rt: Runtime) -> Extracted:
    """Run the engine's way of reading over all documents."""
    if "survey" not in rt.engine.tasks:
        return Extracted(chunks, rt.each(extract, [c for document in chunks for c in document]), by_document=False)
    observations = rt.each(observe, chunks)
    lexicon = rt.once(learn, observations, names=sorted(observations.keys))
    names = [key(*pair) for pair in zip(chunks.keys, observations.keys, strict=True)]
    pairs = _Pairs(chunks, observations)
    return Extracted(chunks, rt.each(read, pairs, names=names, lexicon=lexicon), by_document=True)


@dataclass(frozen=True)
class _Pairs(Sequence[tuple[tuple[Chunk, ...], bytes]]):
    """Documents with their observations, read from the store when a batch is about to run."""

    chunks: Results[tuple[Chunk, ...]]
    observations: Results[bytes]

    def __len__(self) -> int:
        return len(self.chunks)

    def __getitem__(self, index: Any) -> Any:
        return self.chunks[index], self.observations[index]
