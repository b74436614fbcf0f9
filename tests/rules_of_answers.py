"""Rules of answers that are given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from offline_examples import CORPORA
from sensegraph.answering import looked_up_chunks
from sensegraph.answering.grounding import unanswered
from sensegraph.answering.grounding.checking import check_answer
from sensegraph.answering.grounding.citations import ByWords
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.questions import Scope
from sensegraph.types import Answer, Citation, Document, Passage, WordCounts


def leave_unanswered(
    question: str, said: str, quotes: Sequence[str] = (), titles: Sequence[str] = (), counted: Any = None, *beside: Any
) -> Any:
    """Why an answer does not seem to answer a question; `counted` are the chunks of a corpus and its words."""
    counts = WordCounts(counted[0], tuple(map(tuple, counted[1]))) if counted else None
    texts = unanswered.AnswerTexts(said, tuple(quotes), tuple(titles), *map(tuple, beside))
    return unanswered.find_unanswered(unanswered.PosedQuestion(question, counts), texts)


def check(
    answer: str, text: str, quotes: Sequence[str], question: str = "", title: str = "", wide: bool = False
) -> Any:
    """An answer held against a document of which it cites these quotes; `wide`: with what stands around them."""
    document = Document("d", text, title)
    places = [max(0, text.find(quote)) for quote in quotes]
    cited = tuple(
        Citation(number, "d", at, at + len(quote), quote)
        for number, at, quote in zip(range(1, 99), places, quotes, strict=False)
    )
    by = Wide() if wide else ByWords()
    posed = unanswered.PosedQuestion(question) if question else None
    found = check_answer(Answer(answer, cited), {"d": document}.get, by, posed=posed)
    return [
        found.statements, found.supported, found.citations, found.exact, found.uncited, found.abstained, found.recall,
        found.precision, [[p.kind, p.statement, p.reason] for p in found.problems], found.unanswered,
    ]  # fmt: skip


class Wide(ByWords):
    """Rules that are given what stands around a quote too."""

    wide = True


@cache
def _index_corpora() -> Index:
    """The words of all corpora of examples, cut into small chunks."""
    folder = TemporaryDirectory(prefix="looked-up-")
    settings = {"engine": "offline", "index": {"parts": [], "chunk_tokens": 40, "chunk_overlap": 0}}
    corpus = Corpus.open(Path(folder.name), settings=settings)
    atexit.register(folder.cleanup)
    atexit.register(corpus.close)
    corpus.add(
        Document(f"{name}/{title}.md", text, title) for name, texts in CORPORA.items() for title, text in texts.items()
    )
    corpus.build()
    return corpus.index()


def look_up(question: str, within: str = "*", first: int = 0, most: int = 8) -> list[Any]:
    """What is looked up for a question in the corpora of examples, inside some documents of them.

    Beside it there are passages of a search, of which the `first` are left out.
    """
    index = restrict_to_scope(_index_corpora(), Scope(documents=(within,))) if within != "*" else _index_corpora()
    stems = looked_up_chunks.list_search_stems(question.split(), question)
    score = index.root.words.score(stems)
    places, entries = looked_up_chunks.take_entries(np.lexsort((np.arange(len(score)), -score)), index)
    ids = [entry.id for entry in entries[first : first + most]]
    given = zip(index.chunks(ids).values(), score[places[first:]].tolist(), strict=False)
    passages = [chunk_passage(chunk, worth) for chunk, worth in given]
    named, counts = looked_up_chunks.find_named_chunks(question, index)
    listed, whole = looked_up_chunks.find_listed_chunks(question, index)
    return [
        _show(named), counts, _show(listed), whole,
        _show(looked_up_chunks.find_identified_chunks(question, passages, index)),
        _show(looked_up_chunks.place_rare_chunks(question, passages, index)),
        _show(looked_up_chunks.find_opening_chunks(question, passages, index)),
        {word: sorted(held) for word, held in looked_up_chunks.find_files_called(question, index).items()},
        looked_up_chunks.read_heads(passages, index), looked_up_chunks.find_naming_stems(stems, index),
    ]  # fmt: skip


def _show(passages: Iterable[Passage]) -> list[str]:
    """Passages in short: where they begin, how they begin, and what they are worth."""
    return [f"{p.title} {p.sources[0].start} {p.text[:16]!r} {p.score:.6g}" for p in passages]
