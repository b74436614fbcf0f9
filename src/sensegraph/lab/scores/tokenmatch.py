"""Two texts compared token by token through vectors: greedy matching, rescaling, token-match F1, and BERTScore.

    precision   the mean over the answer's tokens of the nearest token of the gold answer
    recall      the mean over the gold answer's tokens of the nearest token of the answer
    rescaled    (x − b) / (1 − b), with a baseline b of its own for precision, recall and F1

With the token vectors of one layer of a BERT, in a folder of this machine, this is BERTScore; with those of any
embedder, word by word, it is **token-match F1**, another figure under its own name: vectors of words know nothing of
the words beside them. Raw scores of a BERT crowd near 1, so published figures are rescaled (those of GRAFT are: they
fall below 0). A baseline belongs to one model and layer; without its file scores are raw and are called so. Nothing is
fetched.

source: Zhang et al. 2020, BERTScore, §3 and §5; GRAFT, section 5 (R16, R23). BERTScore needs the extra `bertscore`.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from math import fsum, log
from pathlib import Path
from typing import Any

import numpy as np

from sensegraph.errors import InputError, SettingsError
from sensegraph.index.vectors import embed_all
from sensegraph.lab.scores.standard import Floats, split_words
from sensegraph.language.sentences import split_sentences
from sensegraph.runtime.runtime import Runtime

Rarity = Callable[[int], float]

LABEL = "token-match F1"
PAIRS = 1_000  # random pairs of sentences behind a baseline
_BATCH = 16  # texts that a model reads at once


@dataclass(frozen=True, slots=True)
class Match:
    """How well two texts match: `precision`, `recall` and `f1`; raw at most 1, rescaled below 0 where chance is better.

    `empty` says that one of the texts has no token: then the three are 0, raw or rescaled.
    """

    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Baseline:
    """What texts that have nothing to do with each other reach: below 1, for precision, recall and F1 apart.

    `source` says where it comes from. Raises InputError for values that nothing can be rescaled by.
    """

    precision: float
    recall: float
    f1: float
    source: str = ""

    def __post_init__(self) -> None:
        if not all(-1 <= b < 1 for b in (self.precision, self.recall, self.f1)):
            raise InputError(f"The baseline {self.source or self} must lie from -1 to below 1 to rescale by; fix it.")

    def rescaled(self, match: Match) -> Match:
        """`match` on a scale where the baseline is 0 and equal texts are 1."""
        if match.empty:
            return match
        return Match(
            rescale_score(match.precision, self.precision),
            rescale_score(match.recall, self.recall),
            rescale_score(match.f1, self.f1),
        )


def rescale_score(value: float, baseline: float) -> float:
    """(x − b) / (1 − b)."""
    return (value - baseline) / (1 - baseline)


def match_tokens(
    ours: Floats, theirs: Floats, weights: Floats | None = None, their_weights: Floats | None = None
) -> Match:
    """Greedy matching of the unit vectors of an answer's tokens, shape (n, d), with those of a gold answer's, (m, d).

    Weights (n,) and (m,) say how much a token counts in the mean; one of weight 0 may still be what another is nearest
    to, as in BERTScore. Without weights all count alike. Texts without a token that counts do not match at all.
    """
    a = np.ones(len(ours)) if weights is None else weights
    b = np.ones(len(theirs)) if their_weights is None else their_weights
    if not a.sum() or not b.sum():
        return Match(empty=True)
    near = ours.astype(np.float64) @ theirs.astype(np.float64).T
    precision = float(near.max(axis=1) @ a / a.sum())
    recall = float(near.max(axis=0) @ b / b.sum())
    return Match(precision, recall, harmonic_mean(precision, recall))


def harmonic_mean(precision: float, recall: float) -> float:
    """The harmonic mean; 0 where the sum is 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def token_rarity(gold: Sequence[Sequence[int]]) -> Rarity:
    """How much a token counts by how few of the gold answers (token numbers) hold it: ln((1 + all) / (1 + those))."""
    held = Counter(n for tokens in gold for n in sorted(set(tokens)))
    return lambda token: log((len(gold) + 1) / (held[token] + 1))


def token_match(pairs: Sequence[tuple[str, str]], rt: Runtime, baseline: Baseline | None = None) -> tuple[Match, ...]:
    """Each answer matched with its gold answer by the vectors of their words; rescaled where a baseline is given.

    Every different word is embedded once, by the embedder of `rt`, and stored.
    """
    listed = [(split_words(answer), split_words(gold)) for answer, gold in pairs]
    known = sorted({w for both in listed for side in both for w in side})
    rows = np.asarray(embed_all(known, rt).value, np.float64) if known else np.zeros((0, 0))
    place = {w: i for i, w in enumerate(known)}
    found = (match_tokens(*(rows[[place[w] for w in side]] for side in both)) for both in listed)
    return tuple(baseline.rescaled(m) if baseline else m for m in found)


def corpus_baseline(texts: Sequence[str], rt: Runtime, pairs: int = PAIRS, seed: int = 0) -> Baseline:
    """The baseline of token-match F1: the mean over random pairs of sentences of `texts`, drawn by `seed`.

    Raises InputError where there are fewer than two different sentences.
    """
    listed = sorted({t[a:b] for t in texts for a, b in split_sentences(t) if split_words(t[a:b])})
    if len(listed) < 2:
        raise InputError("A baseline needs two different sentences at least; give more text.")
    random = np.random.default_rng(seed)
    first = random.integers(0, len(listed), pairs)
    second = (first + random.integers(1, len(listed), pairs)) % len(listed)  # never the same one
    found = token_match([(listed[i], listed[j]) for i, j in zip(first, second, strict=True)], rt)
    precision, recall, both = np.mean([(m.precision, m.recall, m.f1) for m in found], axis=0).tolist()
    told = f"{pairs:,} random pairs of {len(listed):,} sentences, vectors of {rt.embedder.name}, seed {seed}"
    return Baseline(precision, recall, both, told)


# ── BERTScore ──


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
        encoder, by_length = self._encoder, sorted(texts, key=len)  # texts of one length need no padding
        spoken: dict[str, _Tokens] = {}
        for begin in range(0, len(by_length), _BATCH):
            block = by_length[begin : begin + _BATCH]
            spoken.update(zip(block, encoder.tokens(block), strict=True))
        weights = token_rarity([spoken[g].ids for _, gold in pairs for g in gold]) if self.idf else None
        found = []
        for answer, gold in pairs:
            ours, counts = spoken[answer], _weigh_tokens(spoken[answer], weights)
            theirs = [spoken[g] for g in gold]
            raw = [match_tokens(ours.vectors, t.vectors, counts, _weigh_tokens(t, weights)) for t in theirs]
            found.append(max((by.rescaled(m) if by else m for m in raw), key=lambda m: m.f1))
        cut = sum(encoder.too_long(t) for t in texts)  # to what the model takes
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
