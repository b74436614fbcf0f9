"""BLEU by the library sacrebleu, on a scale of 0 to 1, with everything stated that the name leaves open.

source: Papineni et al. 2002; Post 2018, A Call for Clarity in Reporting BLEU Scores. The extra `metrics`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, get_args

from sensegraph.errors import InputError, SettingsError

Tokenizer = Literal["13a", "intl", "char", "zh", "none"]
Smoothing = Literal["exp", "floor", "add-k", "none"]
Answers = Sequence[tuple[str, Sequence[str]]]


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
            lowercase=self.lowercase,
            tokenize=self.tokenizer,
            smooth_method=self.smoothing,
            effective_order=effective_order,
        )
