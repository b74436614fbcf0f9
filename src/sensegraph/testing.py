"""Contract tests for engines, embedders, stores, executors and methods: what every plugin must keep.

Each contract is a class of tests for pytest. A plugin's test suite inherits it and says how its thing is made:

    class TestMyStore(StoreContract):
        def make(self, folder): return MyStore(folder)

The tests need nothing but pytest's `tmp_path`; no fixture, plugin or mark of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from sensegraph.protocols import Embedder, Executor, LanguageEngine, Method, Store, Task
from sensegraph.runtime import Runtime
from sensegraph.steps.index import Index
from sensegraph.types import Answer, Chunk, Context, Document, Inquiry, Passage, Question, Source, Usage

QUESTION = "Who keeps the lighthouse of Skerry Point?"
SAMPLE = (
    Document("keeper", "Ada Finch keeps the lighthouse of Skerry Point. She wrote to the Harbour Board in March."),
    Document("board", "The Harbour Board met in Port Ellery. Tom Reeve asked the Harbour Board to pay Ada Finch."),
    Document("storm", "In April a storm broke the lamp of Skerry Point. Tom Reeve sailed there from Port Ellery."),
)
_TASKS = frozenset(get_args(Task))


def sample_chunks() -> tuple[Chunk, ...]:
    """One chunk for each of the sample documents."""
    return tuple(
        Chunk(f"{d.id}-0", d.id, 0, len(d.text), len(d.text.split()), d.text, d.title) for d in SAMPLE
    )  # fmt: skip


def sample_context() -> Context:
    """The sample as passages that may be cited, with their sources and quotes."""
    passages = [
        Passage("chunk", c.id, c.text, 1.0, c.document, (Source(c.id, 0, len(c.text)),), documents=1)
        for c in sample_chunks()
    ]
    return Context(tuple(passages), "Skerry Point")


class EngineContract:
    """What every language engine keeps. Override `make`, and `make_other`: the same with another model or rule."""

    def make(self) -> LanguageEngine:
        """The engine under test."""
        raise NotImplementedError

    def make_other(self) -> LanguageEngine | None:
        """An engine whose results differ in some task, or None where there is none."""
        return None

    def test_an_engine_satisfies_the_protocol(self) -> None:
        """Names, tasks, batch and flags are there and of the right kind."""
        engine = self.make()
        assert isinstance(engine, LanguageEngine)
        assert engine.name
        assert engine.tasks <= _TASKS
        assert engine.batch >= 1

    def test_fingerprints_are_stable_and_one_for_each_task(self) -> None:
        """Two engines made alike have equal fingerprints; two tasks have different ones."""
        one, other = self.make(), self.make()
        prints = {task: one.fingerprint(task) for task in sorted(one.tasks)}
        assert prints == {task: other.fingerprint(task) for task in sorted(other.tasks)}
        assert len(set(prints.values())) == len(prints)

    def test_another_engine_has_another_fingerprint(self) -> None:
        """What can change a result changes the fingerprint."""
        engine, other = self.make(), self.make_other()
        if other is not None:
            assert any(engine.fingerprint(t) != other.fingerprint(t) for t in sorted(engine.tasks & other.tasks))

    def test_results_have_the_length_and_order_of_the_items(self) -> None:
        """Each result belongs to its own item, whatever stands beside it in the batch."""
        engine, chunks = self.make(), sample_chunks()
        alone = [engine.extract([c])[0] for c in chunks]
        assert engine.extract(chunks) == alone
        assert engine.extract(chunks[::-1]) == alone[::-1]
        assert engine.extract([]) == []

    def test_what_is_extracted_has_names_and_spans_inside_the_chunk(self) -> None:
        """Names are not empty; a mention is the text at its span; ends of relations differ."""
        engine, chunks = self.make(), sample_chunks()
        for chunk, found in zip(chunks, engine.extract(chunks), strict=True):
            assert all(e.name.strip() for e in found.entities)
            assert all(r.source.strip() and r.target.strip() for r in found.relations)
            spans: list[Any] = [*found.entities, *found.relations, *found.claims]
            assert all(0 <= s.start <= s.end <= len(chunk.text) for s in spans)
            assert all(m.surface == chunk.text[m.start : m.end] for e in found.entities for m in e.mentions)

    def test_reports_points_and_answers_refer_only_to_what_they_were_given(self) -> None:
        """A reference is the id of a passage of the context; ratings are 0–10, scores 0–100."""
        engine, context = self.make(), sample_context()
        known = {p.id for p in context.passages}
        inquiry = Inquiry(QUESTION, context, len(SAMPLE))
        said = []
        if "report" in engine.tasks:
            (report,) = engine.report([context])
            assert 0 <= report.rating <= 10
            said += [*report.summary, *(s for f in report.findings for s in f.statements)]
        if "rate" in engine.tasks:
            (points,) = engine.rate([inquiry])
            assert all(0 <= p.score <= 100 for p in points)
            said += [s for p in points for s in p.statements]
        if "answer" in engine.tasks:
            (draft,) = engine.answer([inquiry])
            said += draft.statements
        assert {name for s in said for name in s.references} <= known

    def test_an_engine_travels_to_another_process(self) -> None:
        """A copy by pickle does the same work."""
        import pickle

        engine = self.make()
        copy = pickle.loads(pickle.dumps(engine))
        assert [copy.fingerprint(t) for t in sorted(engine.tasks)] == [
            engine.fingerprint(t) for t in sorted(engine.tasks)
        ]

    def test_usage_never_falls(self) -> None:
        """Each figure of usage stays or rises with work."""
        engine = self.make()
        before = engine.usage()
        engine.extract(sample_chunks()[:1])
        assert _none_below_zero(engine.usage() - before)


class EmbedderContract:
    """What every embedder keeps. Override `make`, and `make_other` where there is another."""

    def make(self) -> Embedder:
        """The embedder under test."""
        raise NotImplementedError

    def make_other(self) -> Embedder | None:
        """An embedder with other vectors, or None."""
        return None

    def test_vectors_have_length_one_and_one_row_a_text(self) -> None:
        """Shape (n, dim), float32, unit length; an empty text is a zero row."""
        embedder, texts = self.make(), [c.text for c in sample_chunks()]
        vectors = embedder.embed([*texts, ""], "document")
        assert vectors.shape == (len(texts) + 1, embedder.dim)
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors[:-1], axis=1), 1, atol=1e-4)
        assert not vectors[-1].any()

    def test_a_vector_does_not_depend_on_its_neighbours(self) -> None:
        """A text has the same vector alone, in a batch, and in another order."""
        embedder, texts = self.make(), [c.text for c in sample_chunks()]
        together = embedder.embed(texts, "document")
        alone = np.concatenate([embedder.embed([t], "document") for t in texts])
        assert np.allclose(together, alone, atol=1e-5)
        assert np.allclose(embedder.embed(texts[::-1], "document"), together[::-1], atol=1e-5)

    def test_a_text_is_nearest_to_itself(self) -> None:
        """Of the sample's texts, each one's query is nearest to its own document vector."""
        embedder, texts = self.make(), [c.text for c in sample_chunks()]
        scores = embedder.embed(texts, "query") @ embedder.embed(texts, "document").T
        assert scores.argmax(axis=1).tolist() == list(range(len(texts)))

    def test_fingerprints_are_stable_and_sensitive(self) -> None:
        """Two embedders made alike have equal fingerprints; another has another."""
        assert self.make().fingerprint() == self.make().fingerprint()
        if (other := self.make_other()) is not None:
            assert other.fingerprint() != self.make().fingerprint()


class StoreContract:
    """What every store keeps. Override `make`; `make` on the same folder again opens what is there."""

    def make(self, folder: Path) -> Store:
        """The store in `folder`, created when it is not there."""
        raise NotImplementedError

    def test_objects_come_back_as_they_were_written(self, tmp_path: Path) -> None:
        """A missing key is absent; bytes are kept to the last, also the empty ones; a second opening finds them."""
        store = self.make(tmp_path)
        objects = {"a": b"", "b": bytes(range(256)), "ü": "ü".encode()}
        store.write(objects, "step")
        assert store.read(["b", "missing", "a", "ü"]) == objects
        assert self.make(tmp_path).read(list(objects)) == objects
        assert store.has(["a", "missing"]) == {"a"}

    def test_a_key_keeps_its_first_value(self, tmp_path: Path) -> None:
        """Writing a key that exists changes nothing: its content is its name."""
        store = self.make(tmp_path)
        store.write({"a": b"first"})
        store.write({"a": b"second", "b": b"new"})
        assert store.read(["a", "b"]) == {"a": b"first", "b": b"new"}

    def test_many_keys_are_read_at_once(self, tmp_path: Path) -> None:
        """Thousands of keys are no trouble."""
        store = self.make(tmp_path)
        objects = {f"k{i}": str(i).encode() for i in range(3000)}
        store.write(objects)
        assert store.read(list(objects)) == objects
        assert store.has([*objects, "missing"]) == set(objects)

    def test_a_table_is_read_by_position_and_by_id(self, tmp_path: Path) -> None:
        """Order is kept; positions may repeat; an id that does not exist is absent."""
        store = self.make(tmp_path)
        rows = [(f"id{i:04}", f"record {i}".encode()) for i in range(1200)]
        store.write_rows("t", iter(rows))
        table = store.rows("t")
        assert table is not None
        assert len(table) == len(rows)
        assert table.at([1199, 0, 7, 0]) == [rows[i][1] for i in (1199, 0, 7, 0)]
        assert table.find(["id0003", "missing"]) == {"id0003": b"record 3"}
        assert list(table.scan()) == [r for _, r in rows]
        assert list(table.ids()) == [n for n, _ in rows]
        assert store.has(["t"]) == {"t"}

    def test_an_empty_table_is_a_table(self, tmp_path: Path) -> None:
        """It is there, and has no rows; a table that was never written is None."""
        store = self.make(tmp_path)
        store.write_rows("t", [])
        table = store.rows("t")
        assert table is not None
        assert (len(table), list(table.scan()), store.rows("missing")) == (0, [], None)

    def test_a_table_that_breaks_off_leaves_nothing(self, tmp_path: Path) -> None:
        """When the rows end in an error, none is stored, and the table can be written afterwards."""

        def broken() -> Iterator[tuple[str, bytes]]:
            yield "a", b"1"
            raise RuntimeError("no more")

        store = self.make(tmp_path)
        assert _raises(RuntimeError, lambda: store.write_rows("t", broken()))
        assert store.rows("t") is None
        assert store.has(["t"]) == set()
        store.write_rows("t", [("a", b"1")])
        assert len(store.rows("t") or ()) == 1

    def test_arrays_come_back_equal_and_read_only(self, tmp_path: Path) -> None:
        """Shape, type and values are kept, also of an array without rows; nobody can write into a stored array."""
        store = self.make(tmp_path)
        arrays = {"a": np.arange(12, dtype=np.float32).reshape(3, 4), "empty": np.zeros((0, 4), np.float32)}
        for name, array in arrays.items():
            store.write_array(name, array)
            found = store.array(name)
            assert found is not None
            assert (found.shape, found.dtype) == (array.shape, array.dtype)
            assert np.array_equal(found, array)
            assert not found.flags.writeable
        assert store.array("missing") is None
        assert store.has(["a", "missing"]) == {"a"}

    def test_refs_are_set_together_listed_in_order_and_deleted(self, tmp_path: Path) -> None:
        """A prefix lists only what begins with it; None deletes."""
        store = self.make(tmp_path)
        store.set_refs({"doc/b": "2", "doc/a": "1", "index": "x"})
        assert list(store.refs("doc/").items()) == [("doc/a", "1"), ("doc/b", "2")]
        store.set_refs({"doc/a": None, "doc/b": "3"})
        assert store.refs() == {"doc/b": "3", "index": "x"}
        assert (self.make(tmp_path).ref("doc/b"), store.ref("doc/a")) == ("3", None)

    def test_the_ledger_adds_up_by_step(self, tmp_path: Path) -> None:
        """Whole numbers stay whole."""
        store = self.make(tmp_path)
        for _ in range(2):
            store.spend("one", Usage(calls=1, prompt_tokens=10, cost_usd=0.5))
        store.spend("two", Usage(embedding_calls=1))
        expected = {"one": Usage(calls=2, prompt_tokens=20, cost_usd=1.0), "two": Usage(embedding_calls=1)}
        assert store.ledger() == expected
        assert isinstance(store.ledger()["one"].calls, int)


def _double(batch: Sequence[int]) -> list[int]:
    if 13 in batch:
        raise ValueError("thirteen")
    return [2 * i for i in batch]


class ExecutorContract:
    """What every executor keeps. Override `make`."""

    def make(self) -> Executor:
        """The executor under test."""
        raise NotImplementedError

    def test_every_position_comes_once_with_its_own_result(self) -> None:
        """Waiting and working alike, for none, one and many batches."""
        for waits in (True, False):
            for count in (0, 1, 40):
                found = list(self.make().map(_double, [[i, i + 100] for i in range(count)], waits=waits))
                expected = {i: [2 * i, 2 * i + 200] for i in range(count) if i != 13}
                assert sorted(p for p, _ in found) == list(range(count))
                assert {p: r for p, r in found if p != 13} == expected

    def test_an_exception_is_a_value_that_stops_no_other_batch(self) -> None:
        """The one bad batch yields its exception, the others their results."""
        for waits in (True, False):
            found = dict(self.make().map(_double, [[i] for i in range(30)], waits=waits))
            assert isinstance(found.pop(13), ValueError)
            assert len(found) == 29

    def test_closing_stops_what_has_not_begun(self) -> None:
        """After the iterator is closed, most of the batches were never asked for."""
        asked = _Asked(500)
        results = self.make().map(_double, asked, waits=True)
        next(iter(results))
        results.close()  # type: ignore[attr-defined]
        assert asked.most < 250


class _Asked(Sequence[list[int]]):
    """Batches that remember how far they were asked for."""

    def __init__(self, count: int) -> None:
        self.size, self.most = count, 0

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: Any) -> Any:
        if index >= self.size:
            raise IndexError(index)
        self.most = max(self.most, index)
        return [1000 + index]


class MethodContract:
    """What every method keeps. Override `make` and `build`: a runtime and an index of `SAMPLE` in `folder`."""

    def make(self) -> Method:
        """The method under test, with its default settings."""
        raise NotImplementedError

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        """A runtime and a finished index of the sample documents."""
        raise NotImplementedError

    def test_a_method_satisfies_the_protocol(self) -> None:
        """It has a name, names known tasks, and its settings are the fields of a frozen dataclass."""
        method = self.make()
        assert isinstance(method, Method)
        assert method.name
        assert method.requires <= _TASKS
        assert type(method).__dataclass_params__.frozen  # type: ignore[attr-defined]

    def test_evidence_names_documents_of_the_corpus(self, tmp_path: Path) -> None:
        """Documents and sources exist; documents do not repeat; retrieving twice gives the same."""
        rt, index = self.build(tmp_path)
        found = self.make().retrieve(Question(QUESTION), index, rt)
        assert set(found.documents) <= {d.id for d in SAMPLE}
        assert len(set(found.documents)) == len(found.documents)
        sources = {s.chunk for p in found.passages for s in p.sources}
        assert index.chunks(sorted(sources)).keys() == sources
        assert self.make().retrieve(Question(QUESTION), index, rt) == found

    def test_every_citation_is_a_quote_from_its_document(self, tmp_path: Path) -> None:
        """`quote == text[start:end]`, every marker stands in the text, and there is at least one."""
        rt, index = self.build(tmp_path)
        answer = self.make().answer(Question(QUESTION), index, rt)
        check_citations(answer, {d.id: d.text for d in SAMPLE})
        assert answer.citations


def check_citations(answer: Answer, texts: dict[str, str]) -> None:
    """Assert that each citation is the text at its span, is marked in the answer, and has a number of its own."""
    assert all(c.quote == texts[c.document][c.start : c.end] != "" for c in answer.citations)
    assert all(f"[{c.marker}]" in answer.text for c in answer.citations)
    assert [c.marker for c in answer.citations] == list(range(1, len(answer.citations) + 1))


def _none_below_zero(usage: Usage) -> bool:
    return all(getattr(usage, name) >= 0 for name in Usage.__slots__)


def _raises(kind: type[BaseException], call: Callable[[], object]) -> bool:
    try:
        call()
    except kind:
        return True
    return False
