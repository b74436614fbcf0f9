"""Embedders from a folder: random models made on the spot, end to end, and every way in which a folder is none."""

from __future__ import annotations

import json
import pickle
import shutil
import struct
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from sensegraph.cli import app
from sensegraph.errors import SettingsError
from sensegraph.models.folders import model_folder
from sensegraph.models.folders.folder_embedder import FolderEmbedder
from sensegraph.models.folders.model_folder import ModelFolder
from sensegraph.models.folders.tensors import read_tensors
from sensegraph.protocols import Embedder
from sensegraph.testing import EmbedderContract
from tiny_models import DIM, VOCABULARY, write_configs, write_encoder, write_table, write_tensors, write_tokenizer
from wired import stories

needs_extra = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("onnx", "onnxruntime", "tokenizers")), reason="needs the extra onnx"
)
TEXTS = ["Ada wrote to Bram.", "Das Wetter ist schön über der Förde.", "港口空空，船员写信给人。", "The harbour?"]


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_text("{}")
    monkeypatch.setattr(model_folder, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"onnxruntime and tokenizers: pip install 'sensegraph\[onnx\]'"):
        FolderEmbedder(str(tmp_path))
    (tmp_path / "model.onnx").rename(tmp_path / "model.safetensors")  # a table needs less
    with pytest.raises(SettingsError, match=r"embedding\.folder needs tokenizers: pip"):
        FolderEmbedder(str(tmp_path))
    with pytest.raises(SettingsError, match="is no folder"):
        FolderEmbedder(str(tmp_path / "none"))


@needs_extra
def test_vectors_are_those_of_the_model_pooled_as_the_folder_says(tmp_path: Path) -> None:
    import onnxruntime
    from tokenizers import Tokenizer

    folder = write_encoder(tmp_path / "e")
    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(TEXTS[0]).ids
    given = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)}
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    (whole,) = session.run(None, given)
    expected = {
        "mean": whole[0].mean(axis=0),
        "cls": whole[0, 0],
        "lasttoken": whole[0, -1],
        "max": whole[0].max(axis=0),
        "weightedmean": np.average(whole[0], axis=0, weights=np.arange(1, len(ids) + 1)),
    }
    names = {"cls": "pooling_mode_cls_token", "lasttoken": "pooling_mode_lasttoken"}
    found = {}
    for mode, vector in expected.items():
        write_configs(folder, **{"1_Pooling__config": {names.get(mode, f"pooling_mode_{mode}_tokens"): True}})
        embedder = FolderEmbedder(str(folder))
        assert isinstance(embedder, Embedder)
        found[mode] = embedder.embed([TEXTS[0]], "document")[0]
        assert np.allclose(found[mode], vector / np.linalg.norm(vector), atol=1e-6), mode
    assert not np.allclose(found["mean"], found["cls"], atol=1e-2)
    write_configs(folder, **{"1_Pooling__config": {"pooling_mode": "cls", "word_embedding_dimension": DIM}})
    assert np.array_equal(FolderEmbedder(str(folder)).embed([TEXTS[0]], "document")[0], found["cls"])


@needs_extra
def test_dense_layers_behind_the_pooling_are_applied(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "e")
    plain = FolderEmbedder(str(folder)).embed(TEXTS, "document")
    modules = [{"path": "1_Pooling", "type": "x.Pooling"}, {"path": "2_Dense", "type": "sentence_transformers.Dense"}]
    layer = np.random.default_rng(1).standard_normal((7, DIM)).astype(np.float32)
    write_configs(folder, modules=modules, **{"2_Dense__config": {"activation_function": "torch.nn.Identity"}})
    write_tensors(folder / "2_Dense" / "model.safetensors", {"linear.weight": layer})
    found = FolderEmbedder(str(folder))
    turned = plain @ layer.T
    assert np.allclose(found.embed(TEXTS, "document"), turned / np.linalg.norm(turned, axis=1)[:, None], atol=1e-5)
    assert found.dim == 7
    write_configs(folder, **{"2_Dense__config": {"activation_function": "torch.nn.GELU"}})
    with pytest.raises(SettingsError, match="dense layer of the kind GELU"):
        FolderEmbedder(str(folder)).embed(TEXTS, "document")


@needs_extra
def test_prompts_are_those_that_are_set_or_the_folders_or_its_names(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "multilingual-e5-tiny")
    assert FolderEmbedder(str(folder)).prefixes == ("query: ", "passage: ")
    write_configs(folder, config_sentence_transformers={"prompts": {"query": "ask ", "document": "told "}})
    own = FolderEmbedder(str(folder))
    assert own.prefixes == ("ask ", "told ")
    bare = FolderEmbedder(str(folder), ("", ""))
    asked = [f"ask {text}" for text in TEXTS]
    assert np.array_equal(own.embed(TEXTS, "query"), bare.embed(asked, "document"))
    assert not np.allclose(own.embed(TEXTS, "query"), own.embed(TEXTS, "document"), atol=1e-3)
    assert len({own.fingerprint(), bare.fingerprint(), FolderEmbedder(str(folder), ("x", "auto")).fingerprint()}) == 3


@needs_extra
def test_a_long_text_is_read_in_windows_and_its_end_counts(tmp_path: Path) -> None:
    embedder = FolderEmbedder(str(write_encoder(tmp_path / "e", window=32)))
    text = "harbour " * 30
    (one, other) = embedder.embed([text + "quay", text + "moor"], "document")
    assert not np.allclose(one, other, atol=1e-4)
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-5)
    model = embedder._model._onnx  # type: ignore[union-attr]
    owners, pieces = model.encode([text, "short", text], "")
    assert owners == sorted(owners)
    assert owners.count(0) == owners.count(2) > 5
    assert owners.count(1) == 1
    assert max(len(p.ids) for p in pieces) <= 32
    said = "".join(model.cut_text("0123456789abcdefghij", 8))
    assert set(said) == set("0123456789abcdefghij")
    assert len(said) > 20  # pieces overlap


@needs_extra
def test_a_model_that_is_quantised_while_it_runs_reads_each_text_alone(tmp_path: Path) -> None:
    embedder = FolderEmbedder(str(write_encoder(tmp_path / "e", more="quantised")))
    texts = [f"{word} wrote" for word in ("adda", "bram", "cora", "dirk", "elsa", "finn")]  # of equal length
    alone = np.concatenate([embedder.embed([text], "document") for text in texts])
    assert np.array_equal(embedder.embed(texts, "document"), alone)
    assert len({row.tobytes() for row in alone}) == len(texts)


@needs_extra
def test_a_fingerprint_is_of_the_files_that_are_read_and_of_no_others(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "one")
    before = FolderEmbedder(str(folder)).fingerprint()
    shutil.copytree(folder, tmp_path / "two")
    (tmp_path / "two" / "README.md").write_text("not read")
    assert FolderEmbedder(str(tmp_path / "two")).fingerprint() == before
    write_encoder(tmp_path / "two", seed=1)
    assert FolderEmbedder(str(tmp_path / "two")).fingerprint() != before
    write_encoder(tmp_path / "two")
    assert FolderEmbedder(str(tmp_path / "two")).fingerprint() == before
    write_configs(tmp_path / "two", **{"1_Pooling__config": {"pooling_mode_cls_token": True}})
    assert FolderEmbedder(str(tmp_path / "two")).fingerprint() != before


@needs_extra
def test_another_process_reads_the_same_vectors_from_the_folder(tmp_path: Path) -> None:
    for make in (write_encoder, write_table):
        embedder = FolderEmbedder(str(make(tmp_path / make.__name__)))
        vectors = embedder.embed(TEXTS, "document")
        copy = pickle.loads(pickle.dumps(embedder))
        assert np.array_equal(copy.embed(TEXTS, "document"), vectors)
        assert copy.fingerprint() == embedder.fingerprint()
        assert vectors.any(axis=1).all()


def make_foreign(folder: Path, wrong: str) -> None:
    """A folder with a model in which one thing is wrong."""
    if wrong == "torch":
        write_tokenizer(folder)
        write_tensors(folder / "model.safetensors", {"bert.layer.0.weight": np.ones((2, 2), np.float32)})
    elif wrong in ("cut", "no tensors", "short table"):
        write_table(folder)
        path = folder / "model.safetensors"
        data = path.read_bytes()
        length = 8 + struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:length])
        header["embeddings"]["shape"][0] = 3
        header["embeddings"]["data_offsets"][1] = 3 * DIM * 4
        head = json.dumps(header).encode()
        short = struct.pack("<Q", len(head)) + head + data[length:]
        path.write_bytes({"cut": data[:-5], "no tensors": b"\0" * 30, "short table": short}[wrong])
    else:
        write_encoder(folder, more="pixel_values" if wrong == "pixels" else "")
    if wrong == "several":
        (folder / "model.onnx").rename(folder / "a.onnx")
        shutil.copy(folder / "a.onnx", folder / "b.onnx")
    if wrong == "damaged":
        (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes()[:500])
    if wrong == "tokenizer":
        (folder / "tokenizer.json").write_text('{"model": 1}')
    if wrong == "no tokenizer":
        (folder / "tokenizer.json").unlink()
    if wrong == "config":
        (folder / "config.json").write_text("{")
    if wrong == "empty":
        (folder / "model.onnx").unlink()
    if wrong == "pooling":
        write_configs(folder, **{"1_Pooling__config": {"pooling_mode": "attention"}})


FOREIGN = {
    "torch": "holds the weights of a model and no table of vectors; export",
    "cut": r"damaged model\.safetensors \(it is shorter than its header says",
    "no tensors": r"damaged model\.safetensors \(it is no safetensors file",
    "short table": "table that is smaller than its tokenizer",
    "pixels": "asks for pixel_values",
    "several": r"several models \(a\.onnx, b\.onnx\)",
    "damaged": r"model\.onnx that cannot be loaded",
    "tokenizer": r"damaged tokenizer\.json",
    "no tokenizer": r"has no tokenizer\.json",
    "config": r"config\.json that is no JSON",
    "empty": r"neither model\.onnx nor a table",
    "pooling": "pooling of the kind attention",
}


@needs_extra
@pytest.mark.parametrize("wrong", FOREIGN)
def test_a_folder_that_is_damaged_or_of_another_kind_is_named_with_what_to_do(tmp_path: Path, wrong: str) -> None:
    folder = tmp_path / "foreign"
    make_foreign(folder, wrong)
    with pytest.raises(SettingsError, match=FOREIGN[wrong]) as caught:
        FolderEmbedder(str(folder)).embed(TEXTS, "document")
    assert str(folder) in str(caught.value)
    assert str(caught.value).startswith("embedding.folder")


@needs_extra
@pytest.mark.parametrize("kind", ["<f4", "<f2", "<f8", "<u2"])
def test_a_table_gives_the_mean_of_the_rows_of_known_tokens(tmp_path: Path, kind: str) -> None:
    words = ["harbour", "ada", "wrote"]
    folder = write_table(tmp_path / "t", words)
    rows = np.array(read_tensors(folder / "model.safetensors")["embeddings"])
    if kind == "<u2":  # bfloat16 is the upper half of a float32
        write_tensors(folder / "model.safetensors", {"embeddings": (rows.view("<u4") >> 16).astype("<u2")})
    else:
        write_tensors(folder / "model.safetensors", {"embeddings": rows.astype(kind)})
    embedder = FolderEmbedder(str(folder))
    at = {word: len(VOCABULARY) + i for i, word in enumerate(words)}
    mean = (rows[at["ada"]] + rows[at["wrote"]]) / 2
    (found, strange, nothing) = embedder.embed(["Ada ☃ wrote", "☃", " "], "document")
    assert np.allclose(found, mean / np.linalg.norm(mean), atol=1e-2)
    assert not strange.any()
    assert not nothing.any()
    assert embedder.dim == DIM


@needs_extra
def test_a_table_may_weigh_its_tokens_and_share_its_rows(tmp_path: Path) -> None:
    folder = write_table(tmp_path / "t", ["ada", "bram"])
    count = len(VOCABULARY) + 2
    rows = np.random.default_rng(3).standard_normal((4, DIM)).astype("<f2")
    weights, places = np.ones(count), np.zeros(count, np.int64)
    weights[-1], places[-2:] = 3.0, [2, 3]
    write_tensors(
        folder / "model.safetensors",
        {"embeddings": rows, "weights": weights.astype("<f8"), "mapping": places.astype("<i8")},
    )
    (found,) = FolderEmbedder(str(folder)).embed(["ada bram"], "query")
    mean = rows[2].astype(np.float32) + 3 * rows[3].astype(np.float32)
    assert np.allclose(found, mean / np.linalg.norm(mean), atol=1e-3)


@needs_extra
@pytest.mark.parametrize("make", [write_encoder, write_table])
def test_index_and_query_work_with_a_folder_that_the_settings_file_names(
    tmp_path: Path, make: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*words: str) -> Result:
        return CliRunner().invoke(app, [*words, "--root", str(root)])

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    root = tmp_path / "c"
    folder = make(root / "model")
    (root / "sensegraph.toml").write_text('[embedding]\nfolder = "model"\n')
    for document in stories(4):
        (root / f"{document.id}.txt").write_text(document.text)
    texts = [str(p) for p in root.glob("*.txt")]
    refused = run("index", *texts)
    assert refused.exit_code == 1
    assert f"load the model {folder}" in refused.output
    monkeypatch.setenv("SENSEGRAPH_TRUST", f"model:{folder}")
    built = run("index", *texts, "--json")
    assert built.exit_code == 0, built.output
    assert json.loads(built.stdout)["computed"]["vectors.embed"] > 0
    assert json.loads(run("index", "--json").stdout)["computed"] == {}
    asked = run("query", "Who wrote to Ada Harrow?", "--method", "naive", "--json")
    assert asked.exit_code == 0, asked.output
    assert json.loads(asked.stdout)["citations"]
    (folder / "model.onnx" if make is write_encoder else folder / "model.safetensors").write_bytes(b"damaged")
    broken = run("query", "Who wrote to Ada Harrow?", "--method", "naive")
    assert broken.exit_code == 1
    assert "embedding.folder" in broken.output


@needs_extra
class TestEncoder(EmbedderContract):
    """The contract with a model."""

    @pytest.fixture(autouse=True)
    def folders(self, tmp_path: Path) -> None:
        self.one, self.other = write_encoder(tmp_path / "one"), write_encoder(tmp_path / "other", seed=1)

    def make(self) -> FolderEmbedder:
        return FolderEmbedder(str(self.one))

    def make_other(self) -> FolderEmbedder:
        return FolderEmbedder(str(self.other))


@needs_extra
class TestTable(EmbedderContract):
    """The contract with a table."""

    @pytest.fixture(autouse=True)
    def folders(self, tmp_path: Path) -> None:
        self.one, self.other = write_table(tmp_path / "one"), write_table(tmp_path / "other", seed=1)

    def make(self) -> FolderEmbedder:
        return FolderEmbedder(str(self.one))

    def make_other(self) -> FolderEmbedder:
        return FolderEmbedder(str(self.other))


@needs_extra
@pytest.mark.parametrize(
    ("positions", "kind", "trained", "said", "window"),
    [
        (64, "bert", None, None, 64),
        (514, "roberta", None, None, 512),
        (512, "bert", 128, 64, 128),
        (512, "bert", None, 64, 64),
        (None, "bert", None, 999_999, 999_999),
        (512, "bert", None, 1_000_000, 512),
        (None, "bert", None, 1_000_000, 512),
        (4, "bert", None, None, 8),
        (None, "bert", None, None, 512),
    ],
)
def test_a_model_reads_as_many_tokens_as_it_was_trained_for_and_has_positions_for(
    tmp_path: Path, positions: int | None, kind: str, trained: int | None, said: int | None, window: int
) -> None:
    folder = write_encoder(tmp_path / "e")
    write_configs(
        folder,
        config={"model_type": kind, "max_position_embeddings": positions, "pad_token_id": 1},
        sentence_bert_config={"max_seq_length": trained},
        tokenizer_config={"model_max_length": said},
    )
    assert ModelFolder(folder, "models.embedder").window == window
