"""Questions without capitals lead to the entities of documents with and without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sensegraph import Corpus, Document
from sensegraph.retrieval.signals import entities_named_in

TOLD = (
    "At that time Martha Ostrevin moved from Portugal to the University of Oxford. She met Oswin Tarnwick there twice."
)


@pytest.mark.parametrize("text", [TOLD, TOLD.lower(), TOLD.upper()])
@pytest.mark.parametrize(
    "question", ["When did Martha Ostrevin leave Portugal?", "when did martha ostrevin leave portugal?"]
)
def test_a_question_leads_to_what_it_names_however_both_are_written(tmp_path: Path, text: str, question: str) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as corpus:
        corpus.add([Document("a.txt", text)])
        corpus.build()
        index = corpus.builder.index()
        assert [index.lookups.name(p) for p in entities_named_in(question, index)] == ["Martha Ostrevin", "Portugal"]
