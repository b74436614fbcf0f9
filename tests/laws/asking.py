"""Corpora built once and asked once, and how much of an answer another corpus keeps."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from laws.corpora import CORPORA, as_they_are
from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.methods import METHODS, load_method
from sensegraph.questions import Scope
from sensegraph.types import Document, Passage
from wired import settings

PARTS = sorted({part for name in METHODS for part in load_method(name).reads})
INDEX = {"chunk_tokens": 60, "chunk_overlap": 10, "parts": PARTS}
LEVELS = ("all", "answer", "sentences", "some", "none")  # what is kept, most first
SCORED = 9  # digits after the point to which scores are compared


@dataclass(frozen=True, slots=True)
class Seen:
    """An answer without ids of chunks: its text, its citations, its evidence in order, the scores of that.

    `cited` are (document, sentence), `ranked` are (kind, title, text, documents behind it), `documents` are those
    behind all of it, best first.
    """

    text: str
    cited: tuple[tuple[str, str], ...]
    ranked: tuple[tuple[str, str, str, tuple[str, ...]], ...]
    scores: tuple[float, ...]
    documents: tuple[str, ...]
    notes: tuple[str, ...]

    def told(self, text: Callable[[str], str] = str, name: Callable[[str], str] = str) -> Seen:
        """The same with every text and every id as these functions write them."""
        cited = tuple((name(d), text(quote)) for d, quote in self.cited)
        ranked = tuple((k, text(t), text(x), tuple(sorted(map(name, ds)))) for k, t, x, ds in self.ranked)
        return Seen(text(self.text), cited, ranked, self.scores, tuple(map(name, self.documents)), self.notes)

    @property
    def evidence(self) -> tuple[object, ...]:
        """What it was written from."""
        return self.ranked, self.scores, self.documents


def level_kept(before: Seen, after: Seen) -> str:
    """What of an answer is kept.

    all: answer and evidence, with order and scores; answer: its text and citations; sentences: the distinct sentences
    cited; some: one of them at least.
    """
    if (before.text, before.cited) == (after.text, after.cited):
        return "all" if before.evidence == after.evidence else "answer"
    one, other = ({quote for _, quote in seen.cited} for seen in (before, after))
    return "sentences" if one == other else "some" if one & other else "none"


class Asked:
    """Corpora under one folder with one engine, each built when it is first asked for and open until the end."""

    def __init__(self, folder: Path, engine: str) -> None:
        self.folder, self.engine, self._closing = folder, engine, ExitStack()
        self.server = self._closing.enter_context(ScriptedServer()) if engine == "scripted" else None
        self.built = cache(self._build)
        self.seen = cache(self._ask)

    def close(self) -> None:
        """Close the corpora, then the server."""
        self._closing.close()

    def open(self, name: str) -> Corpus:
        """The corpus of this folder, built or not."""
        offline = {"engine": "offline", "processes": 1, "index": INDEX}
        made = Corpus.open(self.folder / name, settings=settings(self.server, index=INDEX) if self.server else offline)
        return self._closing.enter_context(made)

    def copied(self, name: str, of: Corpus) -> Corpus:
        """A corpus that begins as `of` is."""
        shutil.copytree(of.workspace.root, self.folder / name)
        return self.open(name)

    def _build(self, name: str, change: Callable[[Sequence[Document]], Sequence[Document]]) -> Corpus:
        """The corpus `name` of `CORPORA` with its documents changed, added one by one."""
        documents = tuple(change(CORPORA[name].documents))
        if change is not as_they_are and documents == CORPORA[name].documents:
            return self.built(name, as_they_are)
        made = self.open(f"{name}-{change.__name__}")
        for document in documents:
            made.add(document)
        made.build()
        return made

    def _ask(self, corpus: Corpus, method: str, question: str, scope: Scope = Scope()) -> Seen:  # noqa: B008
        """What `method` answers."""
        answer = corpus.query(question, method=method, scope=scope)
        index = corpus.index()
        evidence = answer.evidence.passages
        return Seen(
            answer.text,
            tuple((c.document, c.quote) for c in answer.citations),
            tuple((p.kind, p.title, p.text, _documents_of(p, index)) for p in evidence),
            tuple(round(p.score, SCORED) for p in evidence),
            answer.evidence.documents,
            answer.notes,
        )


def _documents_of(passage: Passage, index: Index) -> tuple[str, ...]:
    chunks = {s.chunk for s in passage.sources} | {q.source.chunk for q in passage.quotes}
    return tuple(sorted(set(index.documents_of(sorted(chunks)).values())))
