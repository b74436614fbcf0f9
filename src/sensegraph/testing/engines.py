"""What engines and embedders keep."""

from __future__ import annotations

from typing import Any

import numpy as np

from sensegraph.protocols import Embedder, LanguageEngine, ResolvingEngine, StreamingEngine
from sensegraph.testing.judges import JudgeContract
from sensegraph.testing.paper_tasks import PaperTasksContract
from sensegraph.testing.samples import QUESTION, SAMPLE, sample_brief, sample_chunks, sample_context
from sensegraph.types import Inquiry, Statement, Usage

_BY = {"survey": "observe"}  # the methods that do tasks of other names


class EngineContract(PaperTasksContract, JudgeContract):
    """What every language engine keeps. Override `make`, and `make_other`: the same with another model or rule."""

    def make(self) -> LanguageEngine:
        """The engine under test."""
        raise NotImplementedError

    def make_other(self) -> LanguageEngine | None:
        """An engine whose results differ in some task, or None where there is none."""
        return None

    def test_an_engine_satisfies_the_protocol(self) -> None:
        """Names, batch and flags are there and of the right kind, and a method for every task."""
        engine = self.make()
        assert isinstance(engine, LanguageEngine)
        assert engine.name
        assert engine.batch >= 1
        assert [task for task in sorted(engine.tasks) if not callable(getattr(engine, _BY.get(task, task), None))] == []

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

    def test_names_that_are_one_thing_are_sets_of_what_was_given(self) -> None:
        """The sets hold ids of the brief, two or more each, and no id twice; one entity alone is no set."""
        engine, brief = self.make(), sample_brief()
        if isinstance(engine, ResolvingEngine) and "resolve" in engine.tasks:
            (sets,) = engine.resolve([brief])
            ids = [name for found in sets for name in found]
            assert len(ids) == len(set(ids))
            assert set(ids) <= {p.id for p in brief.context.passages}
            assert all(len(found) > 1 for found in sets)
            assert engine.resolve([]) == []

    def test_leads_refinements_and_tests_have_their_ranges(self) -> None:
        """Scores are 0–100, verdicts true or false; references are ids of what was given."""
        engine, context = self.make(), sample_context()
        inquiry = Inquiry(QUESTION, context, len(SAMPLE))
        if "ask" in engine.tasks:
            (lead,) = engine.ask([inquiry])
            assert 0 <= lead.score <= 100
            assert {name for s in lead.statements for name in s.references} <= {p.id for p in context.passages}
        if "refine" in engine.tasks:
            assert engine.refine([inquiry])[0].question.strip()
        if "test" in engine.tasks:
            assert engine.test([inquiry])[0] in (True, False)

    def test_what_is_told_while_it_is_written_is_what_would_be_answered(self) -> None:
        """Statements told, in order, are those of the draft, and the draft is that of `answer`."""
        engine, told = self.make(), list[Statement]()
        if isinstance(engine, StreamingEngine):
            inquiry = Inquiry(QUESTION, sample_context(), len(SAMPLE))
            draft = engine.stream(inquiry, told.append)
            assert tuple(told) == draft.statements
            assert draft.statements == engine.answer([inquiry])[0].statements

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
        spent = engine.usage() - before
        assert all(getattr(spent, name) >= 0 for name in Usage.__slots__)


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
