"""Answers scored against gold answers, without a judge: exact match, token F1, ROUGE, BLEU, nearness of vectors.

    pairs ─▶ score_pairs(pairs, metrics, [rt]) ─▶ Table: of every metric each pair's value, the mean, what is undefined

Every score lies between 0 and 1 (a cosine between −1 and 1), and an answer with several gold answers gets its best one.
Parts of one gold answer are something else: a right answer says each of them. Containment and token recall are then the
mean over the parts, and every other score compares with all parts as one text.
A pair without a gold answer has no score: it is counted apart, never as 0. An empty answer is a wrong one. BLEU is that
of the library sacrebleu (the extra `metrics`), with everything stated that the name leaves open.

ROUGE is for any script: on ASCII text the words are those of the usual library (runs of letters and digits, without
regard to case); elsewhere they are Unicode words with their accents and vowel signs, and each character of a script
that is written without spaces is one. The usual library sees nothing but a-z and 0-9: other scripts score 0 there, and
"Zürich" falls in two.

source: Rajpurkar et al. 2016 (exact match, F1); Lin 2004 (ROUGE); Papineni et al. 2002; Post 2018, A Call for Clarity
in Reporting BLEU Scores; GRAFT, section 5 (R16)
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from math import fsum
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel, LCSseq
from rapidfuzz.process import cdist

from sensegraph.errors import InputError, SettingsError
from sensegraph.index.vectors import embed_all
from sensegraph.runtime.runtime import Runtime

Floats = NDArray[np.float64]
Tokenizer = Literal["13a", "intl", "char", "zh", "none"]
Smoothing = Literal["exp", "floor", "add-k", "none"]
Answers = Sequence[tuple[str, Sequence[str]]]
SEMANTIC, BLEU = "semantic", "bleu"
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")

_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_SIGNS = (  # accents, points and vowel signs that stand apart from their letter, and the joiners inside words
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06ed\u0900-\u0903\u093a-\u0963\u0981-\u0df3\u200c\u200d"
)
_WORD = re.compile(rf"[{_UNSPACED}]|(?![{_UNSPACED}])[^\W_](?:(?![{_UNSPACED}])[^\W_]|[{_SIGNS}])*")


# ── words that two texts share ──


def split_words(text: str) -> list[str]:
    """The words of `text`, in order, without regard to case; composed and decomposed letters are the same."""
    return _WORD.findall(unicodedata.normalize("NFC", text.lower()))


def rouge_1(candidate: str, reference: str) -> float:
    """F1 of the words that the two share, each as often as both have it; 0 where one has none."""
    ours, theirs = split_words(candidate), split_words(reference)
    return _shared_f1((Counter(ours) & Counter(theirs)).total(), len(ours), len(theirs))


def rouge_2(candidate: str, reference: str) -> float:
    """F1 of the pairs of neighbouring words that the two share; 0 where one has none."""
    ours, theirs = list(pairwise(split_words(candidate))), list(pairwise(split_words(reference)))
    return _shared_f1((Counter(ours) & Counter(theirs)).total(), len(ours), len(theirs))


def rouge_l(candidate: str, reference: str) -> float:
    """F1 of the longest common sequence of words; 0 where one has none."""
    ours, theirs = split_words(candidate), split_words(reference)
    return _shared_f1(LCSseq.similarity(ours, theirs), len(ours), len(theirs))


def rouge_distances(texts: Sequence[str]) -> Floats:
    """1 − ROUGE-L of every pair, shape (n, n); two texts without a word are as far apart as can be."""
    listed = [split_words(t) for t in texts]
    if not listed:
        return np.zeros((0, 0))
    apart: Floats = cdist(listed, listed, scorer=Indel.normalized_distance, dtype=np.float64)
    empty = np.array([not found for found in listed])
    apart[np.ix_(empty, empty)] = 1.0
    np.fill_diagonal(apart, 0.0)
    return apart


def _shared_f1(shared: int, ours: int, theirs: int) -> float:
    return 2 * shared / (ours + theirs) if ours and theirs else 0.0


@dataclass(frozen=True, slots=True)
class Bleu:
    """How BLEU is taken: n-grams up to 4, the words of `tokenizer`, `smoothing` of orders without a match.

    `13a` is the tokenizer of published tables and knows ASCII punctuation only; `intl` parts at any, `char` and `zh`
    are for scripts without spaces. Of one answer orders that it is too short for are left out, as sacrebleu's sentence
    score does. Raises SettingsError where the extra is not installed, InputError for an unknown choice.
    """

    tokenizer: Tokenizer = "13a"
    smoothing: Smoothing = "exp"
    lowercase: bool = False

    def __post_init__(self) -> None:
        for given, known in ((self.tokenizer, get_args(Tokenizer)), (self.smoothing, get_args(Smoothing))):
            if given not in known:
                raise InputError(f"BLEU knows no {given!r}; choose one of {', '.join(known)}.")

    @property
    def told(self) -> str:
        """What a table must say beside the figure."""
        case = "lower case" if self.lowercase else "as written"
        return f"mean over answers; tokenizer {self.tokenizer}, smoothing {self.smoothing}, {case}"

    def each(self, answers: Answers) -> list[float]:
        """The BLEU of every answer by itself, against all of its references."""
        if not answers:
            return []
        scorer = self._scorer(effective_order=True)
        return [scorer.sentence_score(answer, list(gold)).score / 100 for answer, gold in answers]

    def corpus(self, answers: Answers) -> float | None:
        """The BLEU of all answers at once, which is no mean of theirs; None without any.

        An answer with fewer references than another is compared with those that it has.
        """
        if not answers:
            return None
        most = max(len(gold) for _, gold in answers)
        streams = [[gold[i] if i < len(gold) else None for _, gold in answers] for i in range(most)]
        found: float = self._scorer(effective_order=False).corpus_score([a for a, _ in answers], streams).score
        return found / 100

    def _scorer(self, *, effective_order: bool) -> Any:
        if find_spec("sacrebleu") is None:
            raise SettingsError("BLEU needs an extra: pip install 'sensegraph[metrics]'.")
        from sacrebleu.metrics.bleu import BLEU

        return BLEU(
            self.lowercase, tokenize=self.tokenizer, smooth_method=self.smoothing, effective_order=effective_order
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """An answer and the gold answers that it may equal; `type` tells kinds of question apart.

    `parts` are what a right answer says, each of them, each with the forms that it may have.
    """

    answer: str
    gold: tuple[str, ...]
    type: str = ""
    parts: tuple[tuple[str, ...], ...] = ()

    @property
    def whole(self) -> tuple[str, ...]:
        """The gold answers as whole texts: those that are given, else all parts as one."""
        return self.gold or join_parts(self.parts)


@dataclass(frozen=True, slots=True)
class Column:
    """One metric over all pairs: each pair's value (None: undefined), and their mean (None: all are undefined).

    `how` says what the name leaves open: the words of BLEU, the embedder of a cosine. `corpus` is the value of a metric
    that is also taken over all pairs at once (BLEU), else None.
    """

    metric: str
    values: tuple[float | None, ...]
    how: str = ""
    corpus: float | None = None

    @property
    def mean(self) -> float | None:
        """The mean of the values that there are."""
        found = [v for v in self.values if v is not None]
        return fsum(found) / len(found) if found else None

    @property
    def undefined(self) -> int:
        """How many pairs have no value."""
        return sum(v is None for v in self.values)


@dataclass(frozen=True, slots=True)
class Table:
    """A column a metric; `empty` counts the answers without a word, `ungolded` the pairs without a gold answer."""

    pairs: tuple[Pair, ...]
    columns: tuple[Column, ...]
    empty: int
    ungolded: int

    def column(self, metric: str) -> Column:
        """The column of a metric. Raises InputError for one that was not asked for."""
        found = {c.metric: c for c in self.columns}
        if metric not in found:
            raise InputError(f"{metric!r} was not measured; the table has {', '.join(found)}.")
        return found[metric]

    def by_type(self, metric: str) -> dict[str, float | None]:
        """The mean of a metric for every type of question."""
        column, kinds = self.column(metric), sorted({p.type for p in self.pairs})
        chosen = {k: tuple(v for p, v in zip(self.pairs, column.values, strict=True) if p.type == k) for k in kinds}
        return {kind: Column(metric, values).mean for kind, values in chosen.items()}


# ── one answer ──


def join_parts(parts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The parts of a gold answer as one text, each in its first form; nothing where there is no part."""
    return ("; ".join(forms[0] for forms in parts),) if parts else ()


def normalise_answer(text: str) -> str:
    """`text` in the form in which short answers are compared.

    Lower case; punctuation and symbols out, whatever their script; English articles out; white space collapsed
    (Rajpurkar et al. 2016, here for Unicode; on ASCII the same). Composed and decomposed letters are the same.
    """
    plain = unicodedata.normalize("NFKC", text).lower()
    kept = "".join(c for c in plain if unicodedata.category(c)[0] not in "PS")
    return " ".join(_ARTICLES.sub(" ", kept).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """1 where the answer equals one of the gold answers, normalised; else 0."""
    return float(normalise_answer(answer) in {normalise_answer(g) for g in gold})


def token_f1(answer: str, gold: Sequence[str]) -> float:
    """F1 of the words shared with the gold answer that shares most: whole words, so that "know" holds no "no".

    Where the answer or the gold answer has no word left, 1 if both have none, else 0.
    """
    ours, best = _answer_tokens(answer), 0.0
    for theirs in map(_answer_tokens, gold):
        if ours and theirs:
            best = max(best, 2 * (Counter(ours) & Counter(theirs)).total() / (len(ours) + len(theirs)))
        else:
            best = max(best, float(ours == theirs))
    return best


def containment(answer: str, gold: Sequence[str]) -> float:
    """1 where the answer holds one of the gold answers, normalised, as whole words in a row; else 0."""
    ours = _answer_tokens(answer)
    for theirs in map(_answer_tokens, gold):
        starts = range(len(ours) - len(theirs) + 1)
        if any(ours[i : i + len(theirs)] == theirs for i in starts) if theirs else not ours:
            return 1.0
    return 0.0


def token_recall(answer: str, gold: Sequence[str]) -> float:
    """The share of a gold answer's words that the answer has, of the gold answer of which it has most."""
    ours, best = Counter(_answer_tokens(answer)), 0.0
    for theirs in map(_answer_tokens, gold):
        shared = (ours & Counter(theirs)).total() / len(theirs) if theirs else float(not ours)
        best = max(best, shared)
    return best


def _answer_tokens(text: str) -> list[str]:
    """The words of a normalised text: what blanks part and, where none are written, characters."""
    return [
        token for part in normalise_answer(text).split() for token in ([part] if part.isascii() else split_words(part))
    ]


def _best_of_gold(score: Callable[[str, str], float]) -> Callable[[str, Sequence[str]], float]:
    return lambda answer, gold: max(score(answer, g) for g in gold)


_OVERLAPS = {"rouge-1": rouge_1, "rouge-2": rouge_2, "rouge-l": rouge_l}
METRICS: Mapping[str, Callable[[str, Sequence[str]], float]] = MappingProxyType(
    {
        "exact-match": exact_match,
        "token-f1": token_f1,
        "containment": containment,
        "token-recall": token_recall,
        **{n: _best_of_gold(f) for n, f in _OVERLAPS.items()},
    }
)
BY_PART = frozenset(("containment", "token-recall"))  # metrics that are the mean over the parts of a gold answer
NAMES = (*METRICS, BLEU, SEMANTIC)


# ── all answers ──


def score_pairs(
    pairs: Sequence[Pair], metrics: Sequence[str] = tuple(METRICS), rt: Runtime | None = None, bleu: Bleu | None = None
) -> Table:
    """The scores of `pairs` by `metrics` (some of `NAMES`).

    `semantic` needs a runtime, whose embedder makes the vectors (stored, so made once); `bleu` the extra `metrics`. Its
    values are of single answers, its `corpus` of all at once. Raises InputError for a metric that does not exist.
    """
    if unknown := [m for m in metrics if m not in NAMES]:
        raise InputError(f"No metric is called {unknown[0]!r}; there are {', '.join(NAMES)}.")
    golded = [p for p in pairs if p.whole]
    columns = []
    for metric in dict.fromkeys(metrics):
        how, corpus = "", None
        if metric == BLEU:
            by, answers = bleu or Bleu(), [(p.answer, p.whole) for p in golded]
            values, how, corpus = by.each(answers), by.told, by.corpus(answers)
        elif metric != SEMANTIC:
            score = METRICS[metric]
            wanted = [p.parts if metric in BY_PART and p.parts else (p.whole,) for p in golded]
            values = [fsum(score(p.answer, one) for one in w) / len(w) for p, w in zip(golded, wanted, strict=True)]
        elif rt is None:
            raise InputError(
                "The metric 'semantic' compares vectors: give the runtime of a corpus, whose embedder it takes."
            )
        else:
            values, how = semantic_similarity(golded, rt), f"cosine of {rt.embedder.name}"
        own = iter(values)
        columns.append(Column(metric, tuple(next(own) if p.whole else None for p in pairs), how, corpus))
    empty = sum(not split_words(p.answer) for p in pairs)
    return Table(tuple(pairs), tuple(columns), empty, len(pairs) - len(golded))


def semantic_similarity(pairs: Sequence[Pair], rt: Runtime) -> list[float]:
    """The cosine of each answer and the nearest of its gold answers, by the embedder of `rt`; 0 for an empty text."""
    texts = [t for p in pairs for t in (p.answer, *p.whole)]
    rows = np.asarray(embed_all(texts, rt).value) if texts else np.zeros((0, 0), np.float32)
    found, at = [], 0
    for pair in pairs:
        end = at + 1 + len(pair.whole)
        found.append(float(np.clip(rows[at + 1 : end] @ rows[at], -1.0, 1.0).max()))
        at = end
    return found
