"""BERTScore over a model in a folder (graft.md §7–8; R16, R23). The path with a model needs the extra `bertscore`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.scores import tokenmatch
from sensegraph.lab.scores.tokenmatch import BertScore, read_baseline

HERE = find_spec("torch") is not None and find_spec("transformers") is not None
NEEDS = pytest.mark.skipif(not HERE, reason="torch and transformers (the extra `bertscore`) are not installed")
VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] ada keeps the lamp tom sails a boat at dusk and bees ##s".split()
PAIRS = [("Ada keeps the lamp", ["Ada keeps a lamp at dusk"]), ("Tom sails", ["bees and boats", "Tom sails the boat"])]


@pytest.fixture(autouse=True)
def extras(monkeypatch: pytest.MonkeyPatch):
    """What is refused before a model is read is refused whether or not there is a library to read it."""
    if not HERE:
        monkeypatch.setattr("sensegraph.lab.scores.tokenmatch.find_spec", lambda name: name)


def baselines(folder: Path) -> Path:
    path = folder / "tiny.tsv"
    path.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.3,0.25\n2,-2,0,0\n", encoding="utf-8")
    return path


def test_a_model_must_be_a_folder_on_this_machine(tmp_path: Path):
    with pytest.raises(InputError, match="is no folder"):
        BertScore(tmp_path / "roberta-large", 17)


def test_rescaling_without_a_baseline_is_an_error_and_never_silent(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be rescaled without a baseline"):
        BertScore(tmp_path, 17, rescaled=True)


def test_scores_are_called_raw_or_rescaled(tmp_path: Path):
    assert BertScore(tmp_path, 1).how.endswith("layer 1, raw")
    assert BertScore(tmp_path, 1, baselines(tmp_path)).how.endswith("layer 1, rescaled by tiny.tsv, layer 1")
    assert BertScore(tmp_path, 1, baselines(tmp_path), rescaled=False, idf=True).how.endswith("layer 1, idf, raw")


def test_the_layer_has_a_number(tmp_path: Path):
    with pytest.raises(InputError, match="num_layers must be at least 1"):
        BertScore(tmp_path, 0)


def test_without_the_extra_the_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sensegraph.lab.scores.tokenmatch.find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"sensegraph\[bertscore\]"):
        BertScore(tmp_path, 1)


def test_a_baseline_is_read_by_its_layer(tmp_path: Path):
    found = read_baseline(baselines(tmp_path), 1)
    assert (found.precision, found.recall, found.f1) == (0.2, 0.3, 0.25)
    with pytest.raises(InputError, match="no line for layer 9"):
        read_baseline(baselines(tmp_path), 9)
    with pytest.raises(InputError, match="below 1"):
        read_baseline(baselines(tmp_path), 2)
    with pytest.raises(InputError, match="no file of baselines"):
        read_baseline(tmp_path / "none.tsv", 1)
    (tmp_path / "bad.tsv").write_text("LAYER,P,R,F\n1,a,b,c\n")
    with pytest.raises(InputError, match="needs numbers under P, R and F"):
        read_baseline(tmp_path / "bad.tsv", 1)


def tiny(folder: Path) -> Path:
    """A random BERT of two layers, with a vocabulary of these sentences."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=12,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=12).save_pretrained(folder)
    return folder


@NEEDS
@pytest.mark.slow
def test_equal_texts_score_1_and_others_less(tmp_path: Path):
    scorer = BertScore(tiny(tmp_path), 2)
    found = scorer.scores([("Ada keeps the lamp", ["Ada keeps the lamp"]), *PAIRS])
    assert found.matches[0].f1 == pytest.approx(1, abs=1e-5)
    assert all(m.f1 < 1 for m in found.matches[1:])
    assert (found.cut, found.empty) == (0, 0)


@NEEDS
@pytest.mark.slow
@pytest.mark.parametrize("idf", [False, True])
def test_the_scores_are_those_of_the_usual_library(tmp_path: Path, idf: bool):
    score = pytest.importorskip("bert_score", reason="bert-score, the oracle, is not installed").score
    folder = tiny(tmp_path)
    ours = BertScore(folder, 2, idf=idf).scores(PAIRS).matches
    flat = [(answer, g) for answer, gold in PAIRS for g in gold]
    theirs = score([a for a, _ in PAIRS], [g for _, g in PAIRS], model_type=str(folder), num_layers=2, idf=idf)
    assert len(flat) == 3
    assert [m.f1 for m in ours] == pytest.approx(theirs[2].tolist(), abs=1e-5)


@NEEDS
@pytest.mark.slow
def test_the_baseline_changes_the_scores(tmp_path: Path):
    folder = tiny(tmp_path)
    raw, by = BertScore(folder, 1), BertScore(folder, 1, baselines(tmp_path))
    one, other = raw.scores(PAIRS).matches[0], by.scores(PAIRS).matches[0]
    assert other.precision == pytest.approx((one.precision - 0.2) / 0.8)
    assert other.recall == pytest.approx((one.recall - 0.3) / 0.7)
    assert other.f1 == pytest.approx((one.f1 - 0.25) / 0.75)


@NEEDS
@pytest.mark.slow
def test_what_is_empty_or_too_long_is_counted(tmp_path: Path):
    found = BertScore(tiny(tmp_path), 2).scores([("", ["Ada"]), ("Ada " * 30, ["Ada"])])
    assert (found.empty, found.cut) == (1, 1)
    assert found.matches[0].f1 == 0


@NEEDS
@pytest.mark.slow
def test_a_layer_that_the_model_does_not_have_and_answers_without_gold_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="has 2 layers"):
        BertScore(tiny(tmp_path), 3).scores(PAIRS)
    with pytest.raises(InputError, match="1 answers have no gold"):
        BertScore(tmp_path, 2).scores([("Ada", [])])


def test_a_rare_token_counts_more_and_a_special_one_nothing() -> None:
    tokens = tokenmatch._Tokens((5, 7, 9), np.eye(3), np.array([0.0, 1.0, 1.0]))
    assert tokenmatch._weigh_tokens(tokens, None).tolist() == [0.0, 1.0, 1.0]
    assert tokenmatch._weigh_tokens(tokens, lambda number: number / 2).tolist() == [0.0, 3.5, 4.5]  # type: ignore[arg-type]
