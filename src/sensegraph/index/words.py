"""The word index of the chunks, for BM25: titles and texts as stems, in arrays that are mapped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sensegraph.algorithms.ranking import Bm25
from sensegraph.language.stems import stems
from sensegraph.runtime.results import Result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk


@step("words.words", version=1, form="arrays")
def words(wholes: Sequence[Iterable[Chunk]]) -> list[Bm25]:
    """The word index of chunks, in their order; the title of its document counts as words of every chunk."""
    return [Bm25.build(stems(f"{c.title}\n{c.text}") for c in chunks) for chunks in wholes]


def find_words(chunks: Callable[[], Iterable[Chunk]], names: Sequence[str], rt: Runtime) -> Result[Bm25]:
    """The word index, made anew only when the chunks, whose keys are `names`, changed."""
    return rt.once(words, chunks, names=names)
