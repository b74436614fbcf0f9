"""What rerankers keep."""

from __future__ import annotations

import math

from sensegraph.protocols import Reranker
from sensegraph.testing.samples import QUESTION, sample_chunks


class RerankerContract:
    """What every reranker keeps. Override `make`, and `make_other` where there is another."""

    def make(self) -> Reranker:
        """The reranker under test."""
        raise NotImplementedError

    def make_other(self) -> Reranker | None:
        """A reranker with other scores, or None."""
        return None

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
        assert all(math.isclose(a, b, abs_tol=1e-4) for a, b in zip(there, back, strict=True))

    def test_fingerprints_are_stable_and_sensitive(self) -> None:
        """Two rerankers made alike have equal fingerprints; another has another."""
        assert self.make().fingerprint() == self.make().fingerprint()
        if (other := self.make_other()) is not None:
            assert other.fingerprint() != self.make().fingerprint()
