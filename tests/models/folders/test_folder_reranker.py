"""Rerankers from a folder: random models made on the spot, used by queries, and folders that hold no reranker."""

from __future__ import annotations

import pickle
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError, Unapproved
from sensegraph.models.folders.folder_embedder import FolderEmbedder
from sensegraph.models.folders.folder_reranker import FolderReranker
from sensegraph.protocols import Reranker
from sensegraph.testing import RerankerContract
from tiny_models import write_encoder, write_reranker, write_table
from wired import stories

needs_extra = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("onnx", "onnxruntime", "tokenizers")), reason="needs the extra onnx"
)
QUESTION = "Who wrote to Bram?"
TEXTS = ["Ada wrote to Bram.", "", "港口空空。", "Ada wrote in May, and the harbour was empty."]


def test_without_a_model_it_says_what_to_set() -> None:
    with pytest.raises(SettingsError, match=r"needs rerank\.model: a folder"):
        FolderReranker("")


def read_logits(folder: Path, text: str) -> list[float]:
    """What the model itself gives for the question with a text."""
    import onnxruntime
    from tokenizers import Tokenizer

    pair = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(QUESTION, text)
    given = {"input_ids": [pair.ids], "token_type_ids": [pair.type_ids], "attention_mask": [pair.attention_mask]}
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    (logits,) = session.run(None, {name: np.array(rows, np.int64) for name, rows in given.items()})
    return [float(number) for number in logits[0]]


@needs_extra
def test_scores_are_those_of_the_model_for_each_pair(tmp_path: Path) -> None:
    folder = write_reranker(tmp_path / "r")
    reranker = FolderReranker(str(folder), 9)
    assert isinstance(reranker, Reranker)
    assert reranker.top == 9
    scores = reranker.scores(QUESTION, TEXTS)
    assert scores == pytest.approx([read_logits(folder, text)[0] for text in TEXTS], abs=1e-6)
    assert len(set(scores)) == len(TEXTS)
    assert pickle.loads(pickle.dumps(reranker)).scores(QUESTION, TEXTS) == scores
    assert reranker.scores(QUESTION, []) == []


@needs_extra
def test_of_two_columns_the_second_counts_against_the_first(tmp_path: Path) -> None:
    folder = write_reranker(tmp_path / "two", columns=2)
    no, yes = read_logits(folder, TEXTS[0])
    assert FolderReranker(str(folder)).scores(QUESTION, TEXTS)[0] == pytest.approx(yes - no, abs=1e-6)
    with pytest.raises(SettingsError, match="embeds or labels"):
        FolderReranker(str(write_reranker(tmp_path / "three", columns=3))).scores(QUESTION, TEXTS)


@needs_extra
def test_of_a_long_text_the_best_piece_counts_and_a_long_question_is_cut(tmp_path: Path) -> None:
    reranker = FolderReranker(str(write_reranker(tmp_path / "r", window=64)))
    long = "ada wrote. " * 40
    owners, pieces = reranker._onnx.encode([long], QUESTION, pair=True)
    assert len(owners) > 5
    assert max(len(p.ids) for p in pieces) <= 64
    parts = reranker._onnx.cut_text(long, 64 - len(reranker._onnx.encode([""], QUESTION, pair=True)[1][0].ids))
    assert reranker.scores(QUESTION, [long])[0] == pytest.approx(max(reranker.scores(QUESTION, parts)), abs=1e-5)
    asked = reranker.scores("who wrote to whom and when? " * 30, TEXTS)
    assert len(set(asked)) == len(TEXTS)


@needs_extra
def test_folders_for_another_purpose_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"rerank\.model: .*embeds or labels"):
        FolderReranker(str(write_encoder(tmp_path / "e"))).scores(QUESTION, TEXTS)
    with pytest.raises(SettingsError, match=r"table of vectors; it may serve as embedding\.folder"):
        FolderReranker(str(write_table(tmp_path / "t")))
    for columns in (1, 2):
        folder = write_reranker(tmp_path / str(columns), columns=columns)
        with pytest.raises(SettingsError, match=r"scores pairs; it may serve as rerank\.model"):
            FolderEmbedder(str(folder)).embed(TEXTS, "document")


@needs_extra
def test_passages_stand_in_the_order_of_the_reranker_that_the_settings_file_names(tmp_path: Path) -> None:
    root, question = tmp_path / "c", "Who paid Ada Harrow?"
    folder = write_reranker(root / "ranker", window=512)
    (root / "sensegraph.toml").write_text('[rerank]\nby = "folder"\nmodel = "ranker"\n')
    with pytest.raises(Unapproved, match=f"load the model {folder}"), Corpus.open(root) as corpus:
        _ = corpus.reranker
    with Corpus.open(root, settings={"trust": True}) as corpus:
        corpus.add(*stories(6))
        corpus.build()
        found = [p for p in corpus.search(question, method="bm25", top=20).passages if p.kind == "chunk"]
        answer = corpus.query(question, method="bm25")
    own = FolderReranker(str(folder))
    assert len(found) > 2
    assert [p.score for p in found] == pytest.approx(sorted(own.scores(question, [p.text for p in found]))[::-1])
    assert answer.citations


@needs_extra
class TestFolderReranker(RerankerContract):
    """The contract with a tiny model."""

    @pytest.fixture(autouse=True)
    def folders(self, tmp_path: Path) -> None:
        self.one, self.other = write_reranker(tmp_path / "one"), write_reranker(tmp_path / "other", seed=1)

    def make(self) -> FolderReranker:
        return FolderReranker(str(self.one))

    def make_other(self) -> FolderReranker:
        return FolderReranker(str(self.other))
