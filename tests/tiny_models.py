"""Folders with tiny models of random weights, made on the spot: encoders and rerankers in ONNX form, static tables."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIM = 24
_LETTERS = "abcdefghijklmnopqrstuvwxyzäöüß0123456789.,?!'’:;()-äéñ港口空船员写信给人年"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
VOCABULARY = [*SPECIAL, *dict.fromkeys(_LETTERS), *(f"##{c}" for c in dict.fromkeys(_LETTERS))]


def write_tokenizer(folder: Path, words: Sequence[str] = ()) -> None:
    """A tokenizer of letters and `words`, which sets [CLS] and [SEP] around a text and between two."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    known = {word: i for i, word in enumerate([*VOCABULARY, *words])}
    made = Tokenizer(models.WordPiece(known, unk_token="[UNK]", max_input_chars_per_word=1000))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", known["[CLS]"]), ("[SEP]", known["[SEP]"])]
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ends)
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))


def write_configs(folder: Path, **files: Any) -> None:
    """JSON files of a folder; `__` in a name stands for a folder in it."""
    for name, value in files.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")


def write_encoder(folder: Path, seed: int = 0, file: str = "model.onnx", window: int = 64, more: str = "") -> Path:
    """An embedding model: each token's vector, a little of its neighbours' mean, through one layer.

    `more` names an input that no embedding model has, or is `quantised`: it rounds by the largest number of a batch.
    """
    rounded = [
        ("Gather", ["words", "input_ids"], "whole"),
        ("DynamicQuantizeLinear", ["whole"], "bytes scale zero"),
        ("DequantizeLinear", ["bytes", "scale", "zero"], "own"),
    ]
    nodes = [
        *(rounded if more == "quantised" else [("Gather", ["words", "input_ids"], "own")]),
        ("ReduceMean", ["own", "axis"], "mean"),
        ("Add", ["own", "mean"], "both"),
        ("MatMul", ["both", "layer"], "bent"),
        ("Tanh", ["bent"], "last_hidden_state"),
    ]
    inputs = ["input_ids", "attention_mask", *([more] if more not in ("", "quantised") else [])]
    _write_onnx(folder / file, nodes, inputs, ["batch", "length", DIM], seed)
    write_tokenizer(folder)
    write_configs(folder, config={"model_type": "bert", "max_position_embeddings": window})
    return folder


def write_reranker(folder: Path, seed: int = 0, columns: int = 1, window: int = 64) -> Path:
    """A model of pairs: it multiplies the mean of the whole with a layer, and gives so many numbers."""
    nodes = [
        ("Gather", ["words", "input_ids"], "one"),
        ("Gather", ["kinds", "token_type_ids"], "kind"),
        ("Mul", ["one", "kind"], "own"),
        ("ReduceMean", ["own", "axis"], "mean"),
        ("MatMul", ["mean", "head"], "tall"),
        ("Squeeze", ["tall", "axis"], "logits"),
    ]
    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    _write_onnx(folder / "model.onnx", nodes, inputs, ["batch", columns], seed, columns)
    write_tokenizer(folder)
    write_configs(folder, config={"model_type": "bert", "max_position_embeddings": window})
    return folder


def _write_onnx(
    path: Path, nodes: Sequence[tuple[str, list[str], str]], inputs: Sequence[str], shape: list[Any], seed: int,
    columns: int = 1,
) -> None:  # fmt: skip
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    draw = np.random.default_rng(seed)
    arrays = {
        "words": draw.standard_normal((len(VOCABULARY), DIM)),
        "kinds": draw.standard_normal((2, DIM)),
        "layer": draw.standard_normal((DIM, DIM)) / 3,
        "head": draw.standard_normal((DIM, columns)),
    }
    used = {name for _, given, _ in nodes for name in given}
    held = [numpy_helper.from_array(a.astype(np.float32), n) for n, a in arrays.items() if n in used]
    held += [numpy_helper.from_array(np.array([1], np.int64), "axis")]
    made = [helper.make_node(kind, given, out.split()) for kind, given, out in nodes]
    wanted = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs]
    graph = helper.make_graph(
        made, "tiny", wanted, [helper.make_tensor_value_info(nodes[-1][2], TensorProto.FLOAT, shape)], held
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))


_NAMES = {"<f4": "F32", "<f2": "F16", "<f8": "F64", "<i8": "I64", "<u2": "BF16", "|i1": "I8"}


def write_tensors(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """A safetensors file; of unsigned 16 bits it says that they are bfloat16."""
    header: dict[str, Any] = {"__metadata__": {"format": "np"}}
    at = 0
    for name, array in arrays.items():
        header[name] = {
            "dtype": _NAMES[array.dtype.str],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    head = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"".join(a.tobytes() for a in arrays.values()))


def write_table(folder: Path, words: Sequence[str] = (), seed: int = 0, kind: str = "<f4") -> Path:
    """A static table with a row for each letter and each of `words`."""
    rows = np.random.default_rng(seed).standard_normal((len(VOCABULARY) + len(words), DIM))
    write_tokenizer(folder, words)
    write_tensors(folder / "model.safetensors", {"embeddings": rows.astype(kind)})
    return folder
