"""A folder with a model: which of its files are read, what they say of it, and the model that they hold.

The libraries are those of the extra `onnx`; they are imported when the model is first used. Nothing is ever fetched.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import SettingsError
from sensegraph.models.folders.tensors import read_tensors
from sensegraph.runtime.executors.processes import attempt

Form = Literal["onnx", "table"]

TOKENIZER = "tokenizer.json"
_CONFIGS = (
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "tokenizer_config.json",
)
_TABLES = ("model.safetensors", "0_StaticEmbedding/model.safetensors")
_BEHIND = ("roberta", "xlm-roberta", "camembert", "mpnet")  # positions of these models begin behind that of padding
_TOKENS = 4096  # of one run of the model
_USUAL_WINDOW = 512
_ALONE = b"DynamicQuantizeLinear"  # one scale for a whole batch: what stands beside a text would change its numbers


@dataclass(frozen=True)
class ModelFolder:
    """The model in `path`; `setting` is what named it, for messages.

    Raises SettingsError where the extra is not installed or the folder holds no model of a known form.
    """

    path: Path
    setting: str

    def __post_init__(self) -> None:
        if not self.path.is_dir():
            raise SettingsError(f"{self.setting}: {str(self.path)!r} is no folder; fetch a model, and name its folder.")
        needed = ("tokenizers",) if self.form == "table" else ("onnxruntime", "tokenizers")
        if missing := [name for name in needed if find_spec(name) is None]:
            raise SettingsError(f"{self.setting} needs {' and '.join(missing)}: pip install 'sensegraph[onnx]'.")
        if not self._tokenizer_file.is_file():
            raise self.refuse(f"has no {TOKENIZER}", "a model saved by a fast tokenizer has one")

    # ── files ──

    @cached_property
    def form(self) -> Form:
        """Whether it holds a model in ONNX form, or a table of vectors."""
        return "onnx" if self.weights.suffix == ".onnx" else "table"

    @cached_property
    def weights(self) -> Path:
        """The file of the model: `model.onnx`, else the one that there is, else a table of vectors."""
        usual = [self.path / "model.onnx", self.path / "onnx" / "model.onnx"]
        others = sorted([*self.path.glob("*.onnx"), *self.path.glob("onnx/*.onnx")])
        found = [p for p in usual if p.is_file()] or [p for p in others if "quantized" in p.name] or others
        tables = [self.path / name for name in _TABLES if (self.path / name).is_file()]
        if len(found) > 1 and found[0] not in usual:
            listed = ", ".join(p.relative_to(self.path).as_posix() for p in found)
            raise self.refuse(f"has several models ({listed})", "keep one, or name it model.onnx")
        if not found and not tables:
            raise self.refuse(
                "holds neither model.onnx nor a table model.safetensors",
                "export the model to ONNX (`optimum-cli export onnx`), or fetch one that has that form",
            )
        return (found or tables)[0]

    @property
    def _tokenizer_file(self) -> Path:
        beside = self.weights.parent / TOKENIZER
        return beside if beside.is_file() else self.path / TOKENIZER

    def read_json(self, name: str) -> Any:
        """What a file in JSON says; an empty object where there is none. Raises SettingsError for what is no JSON."""
        file = self.path / name
        try:
            return json.loads(file.read_text("utf-8")) if file.is_file() else {}
        except ValueError as e:
            raise self.refuse(f"has a {name} that is no JSON", "fetch it again") from e

    def read_arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays in a safetensors file. Raises SettingsError where there is none or it is damaged."""
        try:
            return read_tensors(self.path / name)
        except (ValueError, OSError) as e:
            raise self.refuse(f"has a damaged {name} ({e})", "fetch it again") from e

    @cached_property
    def content(self) -> str:
        """A hash of the files that are read: their places and their bytes."""
        found = hashlib.blake2b(digest_size=20)
        beside = [p for p in self.weights.parent.glob(f"{self.weights.name}?data") if p.is_file()]
        modules = sorted([*self.path.glob("*_Pooling/config.json"), *self.path.glob("*_Dense/*")])
        configs = [self.path / name for name in _CONFIGS]
        for path in [self.weights, *sorted(beside), self._tokenizer_file, *configs, *modules]:
            if path.is_file():
                found.update(f"{path.relative_to(self.path).as_posix()} {path.stat().st_size}\n".encode())
                with path.open("rb") as file:
                    while block := file.read(1 << 20):
                        found.update(block)
        return found.hexdigest()

    @cached_property
    def window(self) -> int:
        """The tokens that the model reads at once: as it was trained, and no more than it has positions for."""
        config, limits = self.read_json("config.json"), []
        if positions := config.get("max_position_embeddings"):
            behind = config.get("model_type") in _BEHIND
            limits.append(int(positions) - (int(config.get("pad_token_id") or 0) + 1 if behind else 0))
        trained = self.read_json("sentence_bert_config.json").get("max_seq_length")
        said = trained or self.read_json("tokenizer_config.json").get("model_max_length")
        if said and said < 1_000_000:  # where nobody knew, a number of thirty digits stands there
            limits.append(int(said))
        return max(8, min(limits, default=_USUAL_WINDOW))

    def refuse(self, what: str, then: str) -> SettingsError:
        """The error that the folder `what`, and what to do `then`."""
        return SettingsError(f"{self.setting}: {str(self.path)!r} {what}; {then}.")

    # ── the model ──

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer, which neither cuts nor pads."""
        from tokenizers import Tokenizer

        found = self.tried(Tokenizer.from_file, str(self._tokenizer_file), f"has a damaged {TOKENIZER}")
        found.no_truncation()
        found.no_padding()
        return found

    def tried(self, call: Callable[[Any], Any], given: Any, what: str) -> Any:
        """What `call` makes of what is `given`. Raises SettingsError where the library cannot: the folder `what`."""
        found = attempt(call, given)
        if isinstance(found, BaseException):
            raise self.refuse(f"{what} ({' '.join(str(found).split())[:200]})", "fetch it again") from found
        return found


class OnnxModel:
    """The model of a folder, run on pieces of text by as many threads as there are cores; one run at a time."""

    def __init__(self, folder: ModelFolder) -> None:
        self.folder = folder
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str], before: str = "", *, pair: bool = False) -> tuple[list[int], list[Any]]:
        """The tokens of texts with `before` in front, or as the first of a pair; and the number of each one's text.

        A text that is longer than the window is several pieces, which overlap by an eighth.
        """
        tokenizer, window = self.folder.tokenizer, self.folder.window
        own = len(tokenizer.encode(before, add_special_tokens=False).ids) + tokenizer.num_special_tokens_to_add(pair)
        if window - own < 4:
            raise self.folder.refuse(f"reads {window} tokens at once, of which {own} are taken", "shorten what is set")
        whole = [(before, text) if pair else before + text for text in texts]
        owners, pieces = list[int](), list[Any]()
        for number, tokens in enumerate(tokenizer.encode_batch(whole)):
            if len(tokens.ids) <= window:
                owners.append(number)
                pieces.append(tokens)
                continue
            parts = self.cut_text(texts[number], window - own)
            pieces += tokenizer.encode_batch([(before, part) if pair else before + part for part in parts])
            owners += [number] * len(parts)
        for tokens in pieces:
            tokens.truncate(window)  # a piece alone may have a token more than it had inside its text
        return owners, pieces

    def cut_text(self, text: str, room: int) -> list[str]:
        """Pieces of `text` of about `room` tokens that overlap by an eighth."""
        spans = self.folder.tokenizer.encode(text, add_special_tokens=False).offsets
        shared = room // 8
        starts = range(0, max(1, len(spans) - shared), room - shared)
        return [text[spans[at][0] : spans[min(at + room, len(spans)) - 1][1]] for at in starts] if spans else [text]

    def run(self, pieces: Sequence[Any]) -> Iterator[tuple[list[int], NDArray[Any]]]:
        """Positions of pieces and what the model gives for them, batch by batch.

        Pieces of equal length run together, so that nothing is padded and no vector depends on its neighbours.
        """
        session, alone = self._loaded
        order = sorted(range(len(pieces)), key=lambda i: len(pieces[i].ids))
        for length, same in groupby(order, key=lambda i: len(pieces[i].ids)):
            positions = list(same)
            size = 1 if alone else max(1, _TOKENS // max(1, length))
            for at in range(0, len(positions), size):
                batch = positions[at : at + size]
                with self._lock:
                    found = self._ask(session, [pieces[i] for i in batch])
                yield batch, found

    def _ask(self, session: Any, batch: Sequence[Any]) -> NDArray[Any]:
        """The model's output for pieces of equal length: what is one vector a piece, else its first output."""
        ids = np.array([tokens.ids for tokens in batch], np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.array([tokens.type_ids for tokens in batch], np.int64),
            "position_ids": np.broadcast_to(np.arange(ids.shape[1], dtype=np.int64), ids.shape),
        }
        wanted = {one.name: one.type for one in session.get_inputs()}
        if strange := [name for name in wanted if name not in given]:
            listed = ", ".join(strange[:3])
            raise self.folder.refuse(f"holds a model that asks for {listed}", "it is no model for embedding or ranking")
        made = {n: given[n].astype(np.int32) if "int32" in kind else given[n] for n, kind in wanted.items()}
        outputs = [one.name for one in session.get_outputs()]
        name = next((n for n in ("sentence_embedding", "logits", "last_hidden_state") if n in outputs), outputs[0])
        (found,) = self.folder.tried(lambda inputs: session.run([name], inputs), made, "holds a model that fails")
        return np.asarray(found, np.float32)

    @cached_property
    def _loaded(self) -> tuple[Any, bool]:
        """The session, and whether its model takes one piece at a time."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
        weights = self.folder.weights

        def load(path: Path) -> Any:
            return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

        session = self.folder.tried(load, weights, f"has a {weights.name} that cannot be loaded")
        return session, _ALONE in weights.read_bytes()
