"""What chunkers, embedders, rerankers and methods keep."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from sensegraph.index.index import Index
from sensegraph.protocols import Chunker, Embedder, Method, Reranker
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing.samples import QUESTION, SAMPLE, sample_chunks
from sensegraph.types import Answer, Document, Question

T = TypeVar("T", Chunker, Embedder, Reranker)


class _ToolContract(Generic[T]):
    def make(self) -> T:
        """What is under test."""
        raise NotImplementedError

    def make_other(self) -> T | None:
        """One with other results, or None."""
        return None

    def test_fingerprints_are_stable_and_sensitive(self) -> None:
        """Two that are made alike have equal fingerprints; another has another."""
        assert self.make().fingerprint() == self.make().fingerprint()
        if (other := self.make_other()) is not None:
            assert other.fingerprint() != self.make().fingerprint()


class ChunkerContract(_ToolContract[Chunker]):
    """What every chunker keeps. Override `make`, and `make_other` where there is another."""

    def test_a_chunker_satisfies_the_protocol(self) -> None:
        """It has a fingerprint, and cuts."""
        chunker = self.make()
        assert isinstance(chunker, Chunker)
        assert chunker.fingerprint()

    def test_spans_lie_inside_their_documents_in_order(self) -> None:
        """They begin where others end or later or overlap, none is empty, and a document without text has none."""
        documents = [*SAMPLE, Document("empty", ""), Document("one", "x")]
        cut = self.make().chunk(documents)
        assert len(cut) == len(documents)
        for document, spans in zip(documents, cut, strict=True):
            assert all(0 <= start < end <= len(document.text) for start, end in spans)
            assert sorted(spans) == list(spans)
        assert not cut[-2]
        assert cut[-1]

    def test_every_word_is_in_a_span(self) -> None:
        """What is in no chunk cannot be found."""
        for document, spans in zip(SAMPLE, self.make().chunk(SAMPLE), strict=True):
            held = {i for start, end in spans for i in range(start, end)}
            assert all(c.isspace() or i in held for i, c in enumerate(document.text))

    def test_a_document_never_changes_the_spans_of_another(self) -> None:
        """Alone, together, and in another order they are cut alike."""
        chunker, documents = self.make(), list(SAMPLE)
        together = chunker.chunk(documents)
        assert [chunker.chunk([d])[0] for d in documents] == together
        assert chunker.chunk(documents[::-1]) == together[::-1]


class EmbedderContract(_ToolContract[Embedder]):
    """What every embedder keeps. Override `make`, and `make_other` where there is another."""

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
        assert together.any()
        alone = np.concatenate([embedder.embed([t], "document") for t in texts])
        assert np.allclose(together, alone, atol=1e-5)
        assert np.allclose(embedder.embed(texts[::-1], "document"), together[::-1], atol=1e-5)

    def test_a_text_is_nearest_to_itself(self) -> None:
        """Of the sample's texts, each one's query is nearest to its own document vector."""
        embedder, texts = self.make(), [c.text for c in sample_chunks()]
        scores = embedder.embed(texts, "query") @ embedder.embed(texts, "document").T
        assert scores.argmax(axis=1).tolist() == list(range(len(texts)))


class RerankerContract(_ToolContract[Reranker]):
    """What every reranker keeps. Override `make`, and `make_other` where there is another."""

    def test_a_reranker_satisfies_the_protocol(self) -> None:
        """It has a name, and is given at least one text."""
        reranker = self.make()
        assert isinstance(reranker, Reranker)
        assert reranker.name
        assert reranker.top >= 1

    def test_there_is_one_finite_score_a_text(self) -> None:
        """Of no text there is none; an empty text has one too."""
        reranker, texts = self.make(), [*(c.text for c in sample_chunks()), ""]
        scores = reranker.scores(QUESTION, texts)
        assert len(scores) == len(texts)
        assert all(isinstance(s, float) and math.isfinite(s) for s in scores)
        assert reranker.scores(QUESTION, []) == []

    def test_scores_move_with_their_texts(self) -> None:
        """Turned around, the texts have the same scores turned around."""
        reranker, texts = self.make(), [c.text for c in sample_chunks()]
        there, back = reranker.scores(QUESTION, texts), reranker.scores(QUESTION, texts[::-1])[::-1]
        assert texts
        assert len(there) == len(texts)
        assert all(math.isclose(a, b, abs_tol=1e-4) for a, b in zip(there, back, strict=True))


class MethodContract:
    """What every method keeps. Override `make` and `build`: a runtime and an index of `SAMPLE` in `folder`."""

    def make(self) -> Method:
        """The method under test, with its default settings."""
        raise NotImplementedError

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        """A runtime and a finished index of the sample documents."""
        raise NotImplementedError

    def test_a_method_satisfies_the_protocol(self) -> None:
        """It has a name, names the tasks that it needs, and its settings are the fields of a frozen dataclass."""
        method = self.make()
        assert isinstance(method, Method)
        assert method.name
        assert all(task.isidentifier() for task in method.requires)
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


def check_citations(answer: Answer, texts: dict[str, str], *, abstains: bool = False) -> None:
    """Assert that there are citations, each the text at its span, marked in the answer, with a number of its own.

    Of an answer that `abstains`, because no document says anything about the question: that it cites nothing.
    """
    assert bool(answer.citations) != abstains, answer.text
    assert all(c.quote == texts[c.document][c.start : c.end] != "" for c in answer.citations)
    assert all(f"[{c.marker}]" in answer.text for c in answer.citations)
    assert [c.marker for c in answer.citations] == list(range(1, len(answer.citations) + 1))
