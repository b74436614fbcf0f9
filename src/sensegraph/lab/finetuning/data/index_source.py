"""An index as a source: its chunks are the passages, a file gives the questions, and its own retrieval the errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, overload

from sensegraph.answering.asking import answer_contexts, make_inquiry, quote_sources
from sensegraph.errors import InputError
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage
from sensegraph.lab.finetuning.data.answer_containment import find_answer
from sensegraph.lab.finetuning.data.example_types import DroppedQuestion, Passage, SourceQuestion
from sensegraph.lab.finetuning.data.sources import Source, check_topic, read_answers, stream_records
from sensegraph.protocols import Method
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Question

_KEPT = 4096  # passages that stay in memory
_DEEP = 20  # documents or chunks of a ranking that are looked at


class ChunkPassages(Sequence[Passage]):
    """The chunks of an index as passages, read when they are asked for."""

    def __init__(self, index: Index, topic: str = "") -> None:
        check_topic(topic, index.catalogue.documents)
        self._index, self._topic = index, topic
        self._entries = index.catalogue.chunks
        self._fields = {d.id: dict(d.metadata).get(topic, "") for d in index.catalogue.documents} if topic else {}
        self._at = lru_cache(maxsize=_KEPT)(self._read)

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, place: int) -> Passage: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Passage]: ...

    def __getitem__(self, place: int | slice) -> Passage | Sequence[Passage]:
        if isinstance(place, slice):
            return [self._at(i) for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._at(place % len(self))

    def _read(self, place: int) -> Passage:
        name = self._entries[place].id
        return self.passage(self._index.chunks([name])[name])

    def passage(self, chunk: Chunk) -> Passage:
        """A chunk as a passage."""
        topic = str(self._fields.get(chunk.document, "")) if self._topic else chunk.title or chunk.document
        return Passage(chunk.id, chunk.text, chunk.title, document=chunk.document, start=chunk.start, topic=topic)

    def topics(self) -> tuple[tuple[str, int], ...]:
        """How many chunks each topic has, by topic; no text is read for it."""
        titles = {d.id: d.title or d.id for d in self._index.catalogue.documents}
        shown = self._fields if self._topic else titles
        return tuple(sorted(Counter(str(shown.get(e.document, "")) for e in self._entries).items()))

    def named(self, ids: Sequence[str]) -> list[Passage]:
        """The chunks with these ids, in their order; one that does not exist is absent."""
        found = self._index.chunks(ids)
        return [self.passage(found[name]) for name in ids if name in found]


def read_question_source(index: Index, questions: Path, name: str, topic: str = "") -> Source:
    """Questions of a file over an index, such as `evaluate questions` writes.

    A line is an object with `_id`, `text` (or `question`) and `answer`, the latter there or in its `metadata`. Gold
    passages are the `chunks` that it names, or of the `documents` that it names those chunks that hold an answer
    (of a document with one chunk, that). Raises InputError for a line without id or question.
    """
    chunks = ChunkPassages(index, topic)
    by_document: dict[str, list[str]] = {}
    for entry in index.catalogue.chunks:
        by_document.setdefault(entry.document, []).append(entry.id)

    def read_questions() -> Iterator[SourceQuestion | DroppedQuestion]:
        seen = set[str]()
        for number, record in enumerate(stream_records(questions), 1):
            ident, text = str(record.get("_id", record.get("id", ""))), record.get("text", record.get("question"))
            if not ident or not isinstance(text, str) or not text.strip():
                raise InputError(
                    f'{questions}, record {number}: not a question; give an object with "_id", "text" and "answer".'
                )
            if ident in seen:
                raise InputError(
                    f"{questions}, record {number}: the id {ident!r} was given before; each needs its own."
                )
            seen.add(ident)
            yield _read_index_question(ident, text, record, chunks, by_document)

    return Source(name, read_questions(), chunks, topics=chunks.topics())


def _read_index_question(
    ident: str, text: str, record: Mapping[str, Any], chunks: ChunkPassages, by_document: Mapping[str, list[str]]
) -> SourceQuestion | DroppedQuestion:
    metadata = record.get("metadata")
    fields = {**(metadata if isinstance(metadata, dict) else {}), **record}
    kind, answers = str(fields.get("type") or ""), read_answers(record)
    named, documents = fields.get("chunks"), fields.get("documents")
    if isinstance(named, list):
        oracles = chunks.named([str(n) for n in named])
        reason = "" if len(oracles) == len(named) else "a chunk that it names is not in the index"
    elif isinstance(documents, list):
        oracles = []
        for name in documents:
            passages = chunks.named(by_document.get(str(name), []))  # the only one is gold whatever it holds
            oracles += passages if len(passages) == 1 else [p for p in passages if find_answer(p.text, answers)]
        reason = "" if oracles else "no chunk of its documents holds an answer"
    else:
        oracles, reason = [], "it names neither chunks nor documents"
    if reason:
        return DroppedQuestion(ident, reason, kind)
    gold = tuple(replace(p, oracle=True) for p in oracles)
    reasoning, made = str(fields.get("reasoning") or ""), str(fields.get("made") or "given")
    return SourceQuestion(ident, text, answers, gold, type=kind, reasoning=reasoning, made=made)


# ── errors of retrieval ──


def add_wrong_chunks(source: Source, method: Method, index: Index, rt: Runtime) -> Source:
    """`source` with the errors of a method beside each question: chunks that it ranks high and that are not gold."""
    chunks = source.pool if isinstance(source.pool, ChunkPassages) else ChunkPassages(index)

    def add_near(asked: SourceQuestion | DroppedQuestion) -> SourceQuestion | DroppedQuestion:
        if isinstance(asked, DroppedQuestion) or asked.near:
            return asked
        found = method.retrieve(Question(asked.question), index, rt)
        gold = {p.id for p in asked.oracles}
        ids = [p.id for p in found.passages if p.kind == "chunk" and p.id not in gold][:_DEEP]
        return replace(asked, near=tuple(replace(p, kind="hard") for p in chunks.named(ids)))

    return replace(source, questions=map(add_near, source.questions), near=method.name)


def answer_questions(source: Source, index: Index, rt: Runtime) -> Source:
    """`source` with an answer to each question that has none, written by the engine from the gold passages alone.

    A question of which the engine finds nothing in them is dropped. Raises UnsupportedTask before any work.
    """
    rt.check("answering from gold passages", frozenset({"answer"}))

    def answer_question(asked: SourceQuestion | DroppedQuestion) -> SourceQuestion | DroppedQuestion:
        if isinstance(asked, DroppedQuestion) or asked.answers or not asked.oracles:
            return asked
        chunks = index.chunks([p.id for p in asked.oracles])
        shown = quote_sources([chunk_passage(chunks[p.id]) for p in asked.oracles if p.id in chunks], index, rt)
        (draft,) = rt.each(answer_contexts, [make_inquiry(Question(asked.question), shown, index)])
        if not any(s.references or s.sources for s in draft.statements):
            return DroppedQuestion(asked.id, "the engine finds no answer in its gold passages", asked.type)
        text = " ".join("".join(s.text for s in draft.statements).split())
        return replace(asked, answers=(text,), written=True)

    return replace(source, questions=map(answer_question, source.questions))


def rank_documents(
    questions: Mapping[str, str], method: Method, index: Index, rt: Runtime
) -> dict[str, tuple[str, ...]]:
    """The first documents that a method finds for each question, by the question's id."""
    found = {}
    for done, (ident, text) in enumerate(questions.items(), 1):
        evidence = method.retrieve(Question(text), index, rt)
        found[ident] = tuple(dict.fromkeys(evidence.documents))[:_DEEP]
        rt.progress("questions", done, len(questions))
    return found
