"""BERTScore from a model in a folder of this machine: our own matching over the vectors of one layer.

Raw scores of a BERT crowd near 1, so published figures are rescaled by a baseline (those of GRAFT are: they fall below
0). A baseline belongs to one model and layer; without its file scores are raw and are called so. Nothing is fetched.

source: Zhang et al. 2020, BERTScore, §3 and §5; GRAFT, section 5 (R16, R23). The extra `bertscore`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.scores.tokenmatch import Baseline, Match, Rarity, match_tokens, token_rarity
from sensegraph.lab.scores.word_overlap import Floats

_BATCH = 16


@dataclass(frozen=True, slots=True)
class Scores:
    """BERTScores of pairs, in order: of each pair the match with its best gold answer, by F1.

    `how` is what a table must say: model, layer, idf or not, raw or rescaled by which baseline. `cut` counts texts that
    were too long for the model, `empty` answers without a token.
    """

    matches: tuple[Match, ...]
    how: str
    cut: int = 0
    empty: int = 0

    @property
    def f1(self) -> float | None:
        """The mean F1; None without any pair."""
        return fsum(m.f1 for m in self.matches) / len(self.matches) if self.matches else None


@dataclass(frozen=True)
class BertScore:
    """A scorer over the model in the folder `model`, by the vectors of layer `num_layers` (1: after the first block).

    `baseline` is a file of baselines (`LAYER,P,R,F`, a line a layer); with it scores are rescaled unless `rescaled` is
    False, and `rescaled=True` without one is an error. `idf` weights tokens by how few of the gold answers hold them.
    Raises SettingsError where the extra is not installed, InputError for a folder, layer or baseline that is not there.
    """

    model: Path
    num_layers: int
    baseline: Path | None = None
    rescaled: bool | None = None
    idf: bool = False

    def __post_init__(self) -> None:
        if not self.model.is_dir():
            raise InputError(f"{self.model} is no folder; BERTScore needs a model's folder on this machine.")
        if self.num_layers < 1:
            raise InputError(f"num_layers must be at least 1, not {self.num_layers}.")
        if self.rescaled and self.baseline is None:
            raise InputError(
                f"BERTScore of {self.model} cannot be rescaled without a baseline: name the file that holds one for "
                f"layer {self.num_layers}, or ask for raw scores."
            )
        for needed in ("torch", "transformers"):
            if find_spec(needed) is None:
                raise SettingsError("BERTScore needs an extra: pip install 'sensegraph[bertscore]'.")

    def scores(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> Scores:
        """The score of every answer against its gold answers, of which each must have one at least."""
        if bare := sum(not gold for _, gold in pairs):
            raise InputError(f"{bare} answers have no gold answer to be scored by; leave them out.")
        by = self._baseline
        texts = list(dict.fromkeys(t for answer, gold in pairs for t in (answer, *gold)))
        spoken, cut = self._read(texts)
        weights = token_rarity([spoken[g].ids for _, gold in pairs for g in gold]) if self.idf else None
        found = []
        for answer, gold in pairs:
            ours, counts = spoken[answer], _weigh_tokens(spoken[answer], weights)
            raw = [
                match_tokens(ours.vectors, spoken[g].vectors, counts, _weigh_tokens(spoken[g], weights)) for g in gold
            ]
            found.append(max((by.rescaled(m) if by else m for m in raw), key=lambda m: m.f1))
        return Scores(tuple(found), self.how, cut, sum(m.empty for m in found))

    @property
    def how(self) -> str:
        """What a table must say beside the figures."""
        scale = f"rescaled by {self._baseline.source}" if self._baseline else "raw"
        return f"{self.model.name}, layer {self.num_layers}{', idf' if self.idf else ''}, {scale}"

    @cached_property
    def _baseline(self) -> Baseline | None:
        wanted = self.baseline if self.rescaled is not False else None
        return read_baseline(wanted, self.num_layers) if wanted else None

    def _read(self, texts: Sequence[str]) -> tuple[dict[str, _Tokens], int]:
        """The tokens of every text, and how many texts were cut to what the model takes."""
        encoder, listed = self._encoder, sorted(texts, key=len)  # texts of one length need no padding
        found: dict[str, _Tokens] = {}
        for begin in range(0, len(listed), _BATCH):
            block = listed[begin : begin + _BATCH]
            found.update(zip(block, encoder.tokens(block), strict=True))
        return found, sum(encoder.too_long(t) for t in texts)

    @cached_property
    def _encoder(self) -> _Encoder:
        return _Encoder(self.model, self.num_layers)


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The tokens of a text: their numbers, their unit vectors (n, d), and which of them are part of the text."""

    ids: tuple[int, ...]
    vectors: Floats
    own: Floats


class _Encoder:
    """A model in a folder, read whole up to one layer."""

    def __init__(self, folder: Path, layer: int) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        self.model: Any = AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
        config = self.model.config
        if layer > config.num_hidden_layers:
            raise InputError(f"The model in {folder} has {config.num_hidden_layers} layers, so none is number {layer}.")
        self.layer = layer
        self.special = frozenset((self.tokenizer.cls_token_id, self.tokenizer.sep_token_id))
        # RoBERTa counts places from the padding token's number on, so two of them are never used
        spare = 2 if "roberta" in config.model_type else 0
        self.most = min(int(self.tokenizer.model_max_length), int(config.max_position_embeddings) - spare)

    def too_long(self, text: str) -> bool:
        """Whether `text` has more tokens than the model takes."""
        return len(self.tokenizer(text.strip(), truncation=False, verbose=False)["input_ids"]) > self.most

    def tokens(self, texts: Sequence[str]) -> Iterator[_Tokens]:
        """The tokens of each text, special ones included."""
        import torch

        plain = [t.strip() for t in texts]
        asked = self.tokenizer(plain, truncation=True, max_length=self.most, padding=True, return_tensors="pt")
        with torch.no_grad():
            hidden = self.model(**asked, output_hidden_states=True).hidden_states[self.layer]
        unit = torch.nn.functional.normalize(hidden, dim=-1)
        for row, mask, ids in zip(unit, asked["attention_mask"], asked["input_ids"], strict=True):
            here = mask.bool()
            numbers = tuple(ids[here].tolist())
            own = np.array([n not in self.special for n in numbers], np.float64)
            yield _Tokens(numbers, row[here].numpy().astype(np.float64), own)


def _weigh_tokens(tokens: _Tokens, weights: Rarity | None) -> Floats:
    """How much each token counts; special ones do not."""
    return tokens.own * np.array([weights(i) for i in tokens.ids]) if weights else tokens.own


def read_baseline(path: Path, layer: int) -> Baseline:
    """The baseline of one layer from a file of them, `LAYER,P,R,F`. Raises InputError where it is not there."""
    if not path.is_file():
        raise InputError(f"There is no file of baselines {path}; without one BERTScores are raw.")
    for row in csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()):
        if row.get("LAYER") == str(layer):
            source = f"{path.name}, layer {layer}"
            try:
                return Baseline(float(row["P"]), float(row["R"]), float(row["F"]), source)
            except (KeyError, TypeError, ValueError) as e:
                raise InputError(f"{source} is no baseline: it needs numbers under P, R and F ({e}).") from e
    raise InputError(f"{path} has no line for layer {layer}; its columns must be LAYER, P, R, F.")
