from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripted import ScriptedServer
from sensegraph.answering.asking import NOTHING
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed, SettingsError
from sensegraph.language.text import count_tokens
from sensegraph.methods.basic.naive import Naive
from sensegraph.testing import SAMPLE, check_citations
from sensegraph.types import Question
from served import ServedContract
from wired import corpus, stories

QUESTION = "Whom did Ada Harrow pay?"


class TestNaiveContract(ServedContract):
    def make(self) -> Naive:
        return Naive()


def test_chunks_come_by_falling_cosine(built: Corpus) -> None:
    rt, index = built.runtime(), built.index()
    found = Naive().retrieve(Question(QUESTION), index, rt)
    cosine = index.vectors @ rt.embedder.embed([QUESTION], "query")[0]
    ids = [e.id for e in index.catalogue.chunks]
    order = [ids[i] for i in np.argsort(-cosine, kind="stable") if cosine[i] > 0]
    assert [p.id for p in found.passages] == order
    assert [p.score for p in found.passages] == sorted((p.score for p in found.passages), reverse=True)
    assert all(p.kind == "chunk" for p in found.passages)


def test_chunks_fill_the_context_and_the_rest_is_counted(built: Corpus) -> None:
    rt, index = built.runtime(), built.index()
    all_ = Naive().retrieve(Question(QUESTION), index, rt)
    few = Naive(context_tokens=250).retrieve(Question(QUESTION), index, rt)
    assert few.passages == all_.passages[: len(few.passages)]
    assert 0 < few.tokens <= 250 < few.tokens + count_tokens(all_.passages[len(few.passages)].text)
    assert few.omitted == len(all_.passages) - len(few.passages)
    assert few.documents == all_.documents


def test_documents_are_ranked_by_their_best_chunk(built: Corpus) -> None:
    found = built.search(QUESTION, method="naive", top=50)
    index = built.index()
    chunks = index.chunks([p.id for p in found.passages])
    assert len(found.documents) > 1
    assert found.documents == tuple(dict.fromkeys(chunks[p.id].document for p in found.passages))


def test_an_answer_cites_spans_of_the_documents(built: Corpus) -> None:
    answer = built.query(QUESTION, method="naive")
    check_citations(answer, {d.id: d.text for d in stories(8)})
    assert answer.usage.embedding_calls == 1


def test_a_question_without_any_known_word_is_not_answered(tmp_path: Path, server: ScriptedServer) -> None:
    made = corpus(tmp_path, server)
    made.add(*SAMPLE)
    made.build()
    rt, index = made.runtime(), made.index()
    rt.embedder.embed = lambda texts, kind: np.zeros((len(texts), 64), np.float32)  # type: ignore[method-assign]
    server.reset()
    assert Naive().answer(Question("?"), index, rt).text == NOTHING
    assert server.done("answer") == []


def test_d7_another_embedding_model_is_not_compared_with_the_old_vectors(
    tmp_path: Path, server: ScriptedServer
) -> None:
    with corpus(tmp_path, server) as made:
        made.add(*SAMPLE)
        made.build()
    with corpus(tmp_path, server, endpoint={"embedding_model": "another"}) as made:
        with pytest.raises(NotIndexed, match="run `sensegraph index` again"):
            made.search(QUESTION)
        made.build()
        assert made.search(QUESTION).passages


@pytest.mark.parametrize("bad", [{"top": 0}, {"context_tokens": 0}])
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        Naive(**bad)
