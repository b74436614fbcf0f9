"""Whether the templates' own language is that of a corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.lab.questions.grounded_questions import Grounds, GroundSettings
from sensegraph.types import Document

ENGLISH = "Ada Finch keeps the lighthouse of Skerry Point. She wrote to the Harbour Board, as we all know."
CHINESE = "今天天气很好,我们去公园散步。北京是中国的首都。"


@pytest.mark.parametrize(
    ("texts", "english"), [([ENGLISH, ENGLISH], True), ([CHINESE, ENGLISH], False), ([ENGLISH, CHINESE], False)]
)
def test_the_language_is_told_from_the_first_chunk_on(texts: list[str], english: bool, tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["graph"]}}) as made:
        made.add([Document(f"d{i}", text) for i, text in enumerate(texts)])
        made.build()
        assert Grounds(made.index(), GroundSettings()).english == english
