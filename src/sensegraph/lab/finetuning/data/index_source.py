"""An index as a source: its chunks are the passages, and its own retrieval gives the errors.

A file gives the questions, or they are made from the graph by rule: names left out of sentences, and what links two.
The latter are labelled `template`. Each is answered by the very words of its gold passage, so that it can be checked;
none asks for more than one or two sentences say, and a model that is trained on nothing else learns to look up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from sensegraph.answering.asking import answer_contexts, make_inquiry, quote_sources
from sensegraph.errors import InputError
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage
from sensegraph.lab.experiments.sheets import format_count
from sensegraph.lab.finetuning.data.example_types import DroppedQuestion, Passage, SourceQuestion
from sensegraph.lab.finetuning.data.examples import find_answer
from sensegraph.lab.finetuning.data.sources import LazyPassages, Source, check_topic, read_answers, stream_records
from sensegraph.lab.questions.stated_facts import make_name_pattern
from sensegraph.language.text import fold
from sensegraph.protocols import Method
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Entity, Question, Relation

_KEPT = 4096  # passages that stay in memory
_DEEP = 20  # documents or chunks of a ranking that are looked at


class ChunkPassages(LazyPassages):
    """The chunks of an index as passages, read when they are asked for."""

    def __init__(self, index: Index, topic: str = "") -> None:
        check_topic(topic, index.catalogue.documents)
        self._index, self._topic = index, topic
        self._entries = index.catalogue.chunks
        self._fields = {d.id: dict(d.metadata).get(topic, "") for d in index.catalogue.documents} if topic else {}
        read = lru_cache(maxsize=_KEPT)(lambda place: self.named([self._entries[place].id])[0])
        super().__init__(len(self._entries), read)

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

    A line is an object with `_id`, `text` (or `question`) and `answer` (or `parts`), there or in its `metadata`. Gold
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
    kind, (answers, parts) = str(fields.get("type") or ""), read_answers(record)
    named, documents = fields.get("chunks"), fields.get("documents")
    if isinstance(named, list):
        oracles = chunks.named([str(n) for n in named])
        reason = "" if len(oracles) == len(named) else "a chunk that it names is not in the index"
    elif isinstance(documents, list):
        oracles = []
        for name in documents:
            passages = chunks.named(by_document.get(str(name), []))  # the only one is gold whatever it holds
            holding = [p for p in passages if find_answer(p.text, parts or answers)]
            oracles += passages if len(passages) == 1 else holding
        reason = "" if oracles else "no chunk of its documents holds an answer"
    else:
        oracles, reason = [], "it names neither chunks nor documents"
    if reason:
        return DroppedQuestion(ident, reason, kind)
    gold = tuple(replace(p, oracle=True) for p in oracles)
    reasoning, made = str(fields.get("reasoning") or ""), str(fields.get("made") or "given")
    return SourceQuestion(ident, text, answers, gold, type=kind, reasoning=reasoning, made=made, parts=parts)


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
        if draft.abstained or not any(s.references or s.sources for s in draft.statements):
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


_SENTENCE = (40, 300)  # characters of a sentence to ask about
_SHORT = 3  # characters of a name that is asked for, at least
_SAME = 3  # questions with one answer, at most
_GAP = "____"


@dataclass(frozen=True, slots=True)
class _NamingSentence:
    """A sentence of a chunk that names an entity, with the entity's name as the sentence has it."""

    text: str
    name: str
    entity: str
    chunk: Chunk

    @property
    def gapped(self) -> str:
        """The sentence without the name."""
        return make_name_pattern(self.name).sub(_GAP, self.text)


def draw_graph_questions(index: Index, count: int, seed: int = 0, topic: str = "") -> Source:
    """Up to `count` questions over the relations of an index, drawn with `seed`, and how many more were asked for.

    `gap` leaves the rarer name out of a sentence that names two; `shared` leaves one name out of two sentences of
    different chunks; `link` asks for the one sentence that names two entities together. Raises InputError where no
    question can be made.
    """
    chunks = ChunkPassages(index, topic)
    made = tuple(islice(_draw_questions(index, chunks, Random(f"templates {seed}")), count))
    if count and not made:
        least, most = _SENTENCE
        relations = format_count(len(index.graph.relations), "relation")
        raise InputError(
            f"The graph gives no question: of {relations} none has a sentence of {least} to {most} characters that "
            "names both ends. Add documents, or give questions with --questions FILE."
        )
    missing = ((f"of {count:,} asked for, the graph gives no more", count - len(made)),) if len(made) < count else ()
    return Source("graph", made, chunks, missing, topics=chunks.topics())


def _draw_questions(index: Index, chunks: ChunkPassages, random: Random) -> Iterator[SourceQuestion]:
    """Questions relation by relation in a random order, each of the kind that is rarest so far.

    A question whose answer was asked for often enough is left out.
    """
    relations, entities = index.graph.relations, {e.id: e for e in index.graph.entities}
    earlier: dict[str, list[_NamingSentence]] = defaultdict(list)
    count: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for place in random.sample(range(len(relations)), len(relations)):
        relation = relations[place]
        ends = sorted((entities[relation.source], entities[relation.target]), key=lambda e: (e.degree, e.id))
        said = _find_sentence(relation, ends, index)
        if said:
            text, first = f"Which name is missing here: “{said[0].gapped}”?", said[0]
            oracles = _make_oracles(chunks, first.chunk)
            gap = SourceQuestion(f"gap-{relation.id}", text, (first.name,), oracles, type="gap", made="template")
            kinds = [_ask_shared_name(relation, said, earlier, chunks), gap]
            if len(relation.chunks) < 2:  # one chunk alone names the two together
                text = f"In which sentence are {ends[0].name} and {ends[1].name} named together?"
                link = SourceQuestion(f"link-{relation.id}", text, (first.text,), oracles, type="link", made="template")
                kinds.insert(1, link)
            made = min((q for q in kinds if q), key=lambda q: count[q.type])
            count[made.type] += 1
            answers[fold(made.answers[0])] += 1
            if answers[fold(made.answers[0])] <= _SAME:
                yield made
        for now in said:
            earlier[now.entity].append(now)


def _find_sentence(relation: Relation, ends: Sequence[Entity], index: Index) -> list[_NamingSentence]:
    """The first sentence behind a relation that names both of its ends, once for each name that can be asked for."""
    found = index.chunks([d.source.chunk for d in relation.descriptions])
    for description in relation.descriptions:
        source = description.source
        chunk = found.get(source.chunk)
        if chunk is None:
            continue
        text = " ".join(chunk.text[source.start : source.end].split())
        names = [next((n for n in (e.name, *e.aliases) if make_name_pattern(n).search(text)), "") for e in ends]
        if all(names) and _SENTENCE[0] <= len(text) <= _SENTENCE[1]:
            # a name can be asked for that is long enough, and written as a name where its script has capitals
            return [
                _NamingSentence(text, name, end.id, chunk)
                for name, end in zip(names, ends, strict=True)
                if len(name) >= _SHORT and (name[:1].isupper() or not name[:1].islower())
            ]
    return []


def _make_oracles(chunks: ChunkPassages, *found: Chunk) -> tuple[Passage, ...]:
    return tuple(replace(chunks.passage(c), oracle=True) for c in found)


def _ask_shared_name(
    relation: Relation,
    said: Sequence[_NamingSentence],
    earlier: Mapping[str, Sequence[_NamingSentence]],
    chunks: ChunkPassages,
) -> SourceQuestion | None:
    """The rarest name of the sentence that another chunk's sentence had before; None where there is none."""
    pairs = ((s, now) for now in said for s in earlier.get(now.entity, ()) if s.chunk.id != now.chunk.id)
    before, now = next(pairs, (None, None))
    if before is None or now is None:
        return None
    question = f"Which name is missing in both: “{before.gapped}” and “{now.gapped}”?"
    answers = tuple(dict.fromkeys((now.name, before.name)))
    oracles = _make_oracles(chunks, before.chunk, now.chunk)
    return SourceQuestion(f"shared-{relation.id}", question, answers, oracles, type="shared", made="template")
