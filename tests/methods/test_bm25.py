import numpy as np
import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.methods.basic.bm25 import BM25
from sensegraph.types import Question
from served import ServedContract

QUESTION = "Whom did Ada Harrow pay?"


class TestBM25Contract(ServedContract):
    def make(self) -> BM25:
        return BM25()


def test_chunks_come_by_falling_scores_of_their_words(built: Corpus) -> None:
    index = built.index()
    found = BM25(k=5).retrieve(Question(QUESTION), index, built.runtime())
    scores = index.scores_of_words(QUESTION)
    ids = [e.id for e in index.catalogue.chunks]
    assert [p.id for p in found.passages] == [ids[i] for i in np.argsort(-scores, kind="stable")[:5]]
    assert [p.score for p in found.passages] == sorted((p.score for p in found.passages), reverse=True)


def test_a_question_none_of_whose_words_is_known_is_not_answered(built: Corpus) -> None:
    assert built.search("Zeppelin?", method="bm25").passages == ()


@pytest.mark.parametrize("bad", [{"k": 0}, {"context_tokens": 0}])
def test_settings_that_cannot_work_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        BM25(**bad)
