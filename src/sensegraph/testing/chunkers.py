"""What chunkers keep."""

from __future__ import annotations

from sensegraph.protocols import Chunker
from sensegraph.testing.samples import SAMPLE
from sensegraph.types import Document


class ChunkerContract:
    """What every chunker keeps. Override `make`, and `make_other` where there is another."""

    def make(self) -> Chunker:
        """The chunker under test."""
        raise NotImplementedError

    def make_other(self) -> Chunker | None:
        """A chunker that cuts otherwise, or None."""
        return None

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

    def test_fingerprints_are_stable_and_sensitive(self) -> None:
        """Two chunkers made alike have equal fingerprints; another has another."""
        assert self.make().fingerprint() == self.make().fingerprint()
        if (other := self.make_other()) is not None:
            assert other.fingerprint() != self.make().fingerprint()
