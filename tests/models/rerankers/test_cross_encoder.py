"""The cross-encoder: errors everywhere, scores of a tiny random model where the extra is installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import SettingsError
from sensegraph.models import rerankers
from sensegraph.models.rerankers import CrossEncoderReranker
from sensegraph.protocols import Reranker
from sensegraph.runtime.keys import key
from sensegraph.testing import RerankerContract

here = find_spec("sentence_transformers") is not None
needs_extra = pytest.mark.skipif(not here, reason="needs the extra rerank")
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] ada wrote to bram the harbour was empty who rows in may . ?".split()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rerankers, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"pip install 'sensegraph\[rerank\]'"):
        CrossEncoderReranker("some/model")


def test_without_a_model_it_says_what_to_set() -> None:
    with pytest.raises(SettingsError, match=r"needs rerank\.model"):
        CrossEncoderReranker("")


def test_the_fingerprint_is_of_what_is_in_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rerankers, "find_spec", lambda name: object())
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / "weights").write_bytes(b"1234")
    same = CrossEncoderReranker(str(one)).fingerprint()
    assert CrossEncoderReranker(str(other)).fingerprint() == same
    (other / "weights").write_bytes(b"1235")
    assert CrossEncoderReranker(str(other)).fingerprint() != same
    assert CrossEncoderReranker("a/name").fingerprint() != CrossEncoderReranker("another/name").fingerprint()
    assert CrossEncoderReranker("a/name").fingerprint() == key("cross-encoder", 1, "a/name")  # scores stay known
    assert (CrossEncoderReranker("a/name").top, CrossEncoderReranker("a/name").waits) == (50, False)


def test_nothing_is_loaded_for_no_texts_and_what_cannot_be_loaded_is_said_in_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(model: str) -> None:
        raise OSError("word " * 100)

    monkeypatch.setattr(rerankers, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(CrossEncoder=fail))
    reranker = CrossEncoderReranker("a/name")
    assert reranker.scores("Who?", []) == []
    with pytest.raises(SettingsError, match=rf"cannot be loaded: {'word ' * 40}\. Name another"):
        reranker.scores("Who?", ["Ada."])
    scored = SimpleNamespace(predict=lambda pairs, show_progress_bar: [len(text) for _, text in pairs])
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(CrossEncoder=lambda model: scored))
    found = CrossEncoderReranker("a/name").scores("Who?", ["Ada.", "Bo"])
    assert found == [4.0, 2.0]
    assert all(isinstance(score, float) for score in found)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a few random weights, with a vocabulary of a few words."""
    torch: Any = pytest.importorskip("torch")
    transformers: Any = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(WORDS), num_labels=1, max_position_embeddings=64, **sizes)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@needs_extra
@pytest.mark.slow
def test_a_tiny_model_scores_every_text_whatever_its_company(tiny: Path) -> None:
    reranker = CrossEncoderReranker(str(tiny), 9)
    assert isinstance(reranker, Reranker)
    texts = ["Ada wrote to Bram.", "", "The harbour was empty.", "Ada wrote in May, and the harbour was empty."]
    scores = reranker.scores("Who wrote to Bram?", texts)
    assert len(set(scores)) == len(texts)
    assert all(isinstance(s, float) for s in scores)
    alone = [reranker.scores("Who wrote to Bram?", [t])[0] for t in texts]
    assert scores == pytest.approx(alone, abs=1e-5)
    assert reranker.scores("Who?", []) == []
    assert reranker.usage().calls == 0


@needs_extra
@pytest.mark.slow
def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be loaded"):
        CrossEncoderReranker(str(tmp_path)).scores("Who?", ["Ada."])


@needs_extra
@pytest.mark.slow
class TestCrossEncoder(RerankerContract):
    """The contract with the tiny model."""

    @pytest.fixture(autouse=True)
    def folder(self, tiny: Path) -> None:
        self.tiny = tiny

    def make(self) -> CrossEncoderReranker:
        return CrossEncoderReranker(str(self.tiny))

    def make_other(self) -> CrossEncoderReranker:
        return CrossEncoderReranker("another/name")
