"""Embedders from a folder of the user's: a model in ONNX form, or a static table of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.models.embedders import guess_prefixes
from sensegraph.models.folders.model_folder import ModelFolder, OnnxModel
from sensegraph.protocols import Vectors
from sensegraph.runtime.keys import key
from sensegraph.types import Usage

SETTING = "embedding.folder"
_TABLES = ("embeddings", "embedding.weight", "embedding")  # what the one array of a static model is called
_QUERY, _DOCUMENT = ("query", "search_query", "Retrieval-query"), ("document", "passage", "search_document", "corpus")


class FolderEmbedder:
    """The embedder in `folder`: its own pooling, dense layers, prompts and window; vectors have length 1.

    A text that is longer than the window is the mean of its pieces. `prefixes` stand before queries and documents;
    `auto` takes the prompts that the folder names, else those that models of its name learned with. Raises
    SettingsError where the folder holds no such model, or the extra `onnx` is not there.
    """

    batch = 128
    lexical = False

    def __init__(self, folder: str, prefixes: tuple[str, str] = ("auto", "auto")) -> None:
        self._given = (folder, prefixes)
        self.folder = ModelFolder(Path(folder), SETTING)
        self.waits = self.folder.form == "onnx"  # whose own threads work; and what is slow is stored text by text
        self.prefixes = choose_prompts(self.folder, prefixes)
        self.name = f"folder {self.folder.path.name}"
        self._model = OnnxEncoder(self.folder) if self.waits else StaticTable(self.folder)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._given

    @property
    def dim(self) -> int:
        """The length of a vector; 0 until the model was first used."""
        return self._model.dim

    def fingerprint(self) -> str:
        """What is in the folder, and what stands before texts; where the folder lies changes no vector."""
        return key("folder embedder", 1, self.folder.content, *self.prefixes)

    def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """Unit vectors, shape `(n, dim)` float32, one row a text; an empty text is a zero row."""
        asked = [i for i, text in enumerate(texts) if text.strip()]
        found = self._model.embed([texts[i] for i in asked], self.prefixes[kind == "document"])
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        if asked:
            lengths = np.linalg.norm(found, axis=1, keepdims=True)
            rows[asked] = np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)
        return rows

    def usage(self) -> Usage:
        """Nothing: it calls no one."""
        return Usage()


def choose_prompts(folder: ModelFolder, given: tuple[str, str]) -> tuple[str, str]:
    """What stands before queries and before documents: as `given`, as the folder says, or as its name suggests."""
    said = folder.read_json("config_sentence_transformers.json")
    prompts = {n: t for n, t in (said.get("prompts") or {}).items() if isinstance(t, str)}
    usual = prompts.get(str(said.get("default_prompt_name")), "")
    query, document = (next((prompts[n] for n in names if prompts.get(n)), usual) for names in (_QUERY, _DOCUMENT))
    if not query and not document:
        query, document = guess_prefixes(folder.path.name)
    return (query if given[0] == "auto" else given[0], document if given[1] == "auto" else given[1])


class OnnxEncoder:
    """Texts to vectors by a model in ONNX form, with the pooling and the dense layers that its folder names."""

    def __init__(self, folder: ModelFolder) -> None:
        self.folder, self.dim = folder, 0
        self._onnx = OnnxModel(folder)
        self._modes = read_pooling(folder)

    def embed(self, texts: Sequence[str], before: str) -> NDArray[np.float32]:
        """The mean of the vectors of each text's pieces."""
        owners, pieces = self._onnx.encode(texts, before)
        found = np.zeros((len(pieces), 0), np.float32)
        for positions, output in self._onnx.run(pieces):
            vectors = self._pool(output)
            found = found if found.shape[1] else np.zeros((len(pieces), vectors.shape[1]), np.float32)
            found[positions] = vectors
        sums = np.zeros((len(texts), found.shape[1] or self.dim), np.float32)
        np.add.at(sums, owners, found)
        self.dim = sums.shape[1]
        return sums

    def _pool(self, output: NDArray[Any]) -> NDArray[Any]:
        if output.ndim == 2 and output.shape[1] > 2:
            return output  # the model does it by itself
        if output.ndim != 3:
            raise self.folder.refuse("holds a model that scores pairs", "it may serve as rerank.model")
        pooled = np.concatenate([pool_tokens(output, mode) for mode in self._modes], axis=1)
        for weight, bias, bent in self._layers:
            pooled = pooled @ weight.T + bias
            pooled = np.tanh(pooled) if bent else pooled
        return pooled

    @cached_property
    def _layers(self) -> list[tuple[NDArray[Any], Any, bool]]:
        """Of each dense layer the weights, the bias, and whether tanh follows."""
        modules, found = self.folder.read_json("modules.json") or [], []
        for path in (str(m.get("path")) for m in modules if str(m.get("type")).endswith(".Dense")):
            arrays = self.folder.read_arrays(f"{path}/model.safetensors")
            activation = str(self.folder.read_json(f"{path}/config.json").get("activation_function", "Tanh"))
            form = activation.rsplit(".", 1)[-1]
            if form not in ("Identity", "Tanh") or "linear.weight" not in arrays:
                raise self.folder.refuse(f"has a dense layer of the kind {form}", "such a model cannot be used here")
            bias = np.asarray(arrays["linear.bias"], np.float32) if "linear.bias" in arrays else 0.0
            found.append((np.asarray(arrays["linear.weight"], np.float32), bias, form == "Tanh"))
        return found


def pool_tokens(output: NDArray[Any], mode: str) -> NDArray[np.float32]:
    """One vector of those of tokens, shape `(n, tokens, dim)`."""
    count = output.shape[1]
    match mode:
        case "cls":
            found = output[:, 0]
        case "lasttoken":
            found = output[:, -1]
        case "max":
            found = output.max(axis=1)
        case "weightedmean":
            found = np.average(output, axis=1, weights=np.arange(1, count + 1))
        case _:
            found = output.mean(axis=1) * (np.sqrt(count) if mode == "mean_sqrt_len" else 1.0)
    return np.asarray(found, np.float32)


def read_pooling(folder: ModelFolder) -> list[str]:
    """How the vectors of tokens become one: as the folder says, else their mean."""
    said = folder.read_json("1_Pooling/config.json")
    modes = [
        n.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for n, on in said.items()
        if n.startswith("pooling_mode_") and on is True
    ]
    modes = modes or [str(said.get("pooling_mode") or "mean")]
    known = ("cls", "mean", "max", "lasttoken", "mean_sqrt_len", "weightedmean")
    if strange := [m for m in modes if m not in known]:
        raise folder.refuse(f"asks for a pooling of the kind {strange[0]}", f"known here: {', '.join(known)}")
    if said.get("include_prompt") is False:
        raise folder.refuse("leaves its prompt out of the pooling", "such a model cannot be used here")
    return modes


class StaticTable:
    """Texts to the means of the vectors of their tokens: a table without a model, as model2vec and others make it."""

    def __init__(self, folder: ModelFolder) -> None:
        self.folder = folder
        arrays = folder.read_arrays(folder.weights.relative_to(folder.path).as_posix())
        name = next((n for n in _TABLES if n in arrays and arrays[n].ndim == 2), "")
        if not name:
            raise folder.refuse(
                "holds the weights of a model and no table of vectors",
                "export the model to ONNX (`optimum-cli export onnx`), or fetch one that has that form",
            )
        self._rows, self._weights, self._places = arrays[name], arrays.get("weights"), arrays.get("mapping")
        self.dim = int(self._rows.shape[1])

    def embed(self, texts: Sequence[str], before: str) -> NDArray[np.float32]:
        """The weighted mean of the rows of each text's known tokens."""
        found = np.zeros((len(texts), self.dim), np.float32)
        encoded = self.folder.tokenizer.encode_batch([before + text for text in texts], add_special_tokens=False)
        for row, tokens in zip(found, encoded, strict=True):
            if ids := [i for i in tokens.ids if i != self._unknown]:
                row[:] = self._mean(np.array(ids, np.int64))
        return found

    def _mean(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        places = ids if self._places is None else np.asarray(self._places)[ids].astype(np.int64)
        if places.max() >= len(self._rows):
            raise self.folder.refuse("has a table that is smaller than its tokenizer", "they belong to two models")
        rows = self._rows[places].astype(np.float32)
        weights = np.ones(len(ids)) if self._weights is None else np.asarray(self._weights)[ids]
        return np.asarray((rows * weights[:, None]).mean(axis=0), np.float32)

    @cached_property
    def _unknown(self) -> int | None:
        tokenizer = self.folder.tokenizer
        names = (getattr(tokenizer.model, "unk_token", None), "[UNK]", "<unk>")
        return next((i for n in names if n and (i := tokenizer.token_to_id(n)) is not None), None)
