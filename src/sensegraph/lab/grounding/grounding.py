"""Whether answers are grounded: in what was retrieved, in what they cite, and in what was asked.

papers: Es et al. 2023 (RAGAS: faithfulness, relevance, precision and recall of contexts, relevancy of answers); Gao et
al. 2023 (ALCE: citations); N94. "Context relevance" is three measures in the literature; they have three names here. A
measure is None where it is not defined for an answer, which `means` counts apart, and is never taken as 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import accumulate
from types import MappingProxyType

import numpy as np

from sensegraph.answering.asking import test
from sensegraph.answering.grounding.abstaining import abstains
from sensegraph.answering.grounding.citations import MOST, Citations, citations_of
from sensegraph.answering.grounding.cited import Reference, cited_statements
from sensegraph.answering.grounding.entailment import By, Supporter, supporter
from sensegraph.errors import SettingsError
from sensegraph.index.vectors import embed_all
from sensegraph.lab.grounding.claimify import ClaimSettings, claims_of
from sensegraph.lab.grounding.claims import sentences_of
from sensegraph.lab.judging import judging
from sensegraph.lab.questions import proposing
from sensegraph.language.stems import stems
from sensegraph.language.text import sentences
from sensegraph.runtime.runtime import Runtime
from sensegraph.trials import Check, Trial, Wish
from sensegraph.types import Answer, Context, Inquiry, Passage

Values = list[float | None]

_RATED = "context relevance"
_DEFINITION = "How far do these passages hold what is needed to answer the question?"
_BANDS = "0: nothing of it\n1: a part of it, or only near it\n2: all of it"
_RATINGS = 2  # of one context; their mean counts
_QUESTIONS = 3  # asked back from an answer
_HALF = 0.5  # of a sentence's terms, or of a statement's, from which the one rests on the other


@dataclass(frozen=True, slots=True)
class Grounded:
    """An answer with what it was written from, and what it should have been written from where that is known.

    `context` are the texts retrieved, best first; `texts` what stands behind references in the answer; `found` the ids
    retrieved, best first, and `gold` those that were to be; `reference` an answer by somebody who knows.
    """

    question: str
    text: str
    context: tuple[str, ...] = ()
    texts: tuple[tuple[Reference, str], ...] = ()
    reference: str = ""
    found: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroundingSettings:
    """Which measures (of `METRICS`), who judges support and how claims are found, citations scored of a statement.

    Raises SettingsError for an unknown measure.
    """

    metrics: tuple[str, ...] = (
        "faithfulness", "used_share", "statement_recall", "document_recall", "citation_recall", "citation_precision"
    )  # fmt: skip
    by: By = "auto"
    claims: ClaimSettings = field(default_factory=ClaimSettings)
    most: int = MOST

    def __post_init__(self) -> None:
        for name in self.metrics:
            if name not in METRICS:
                near = get_close_matches(name, METRICS, 1)
                raise SettingsError(
                    f"There is no measure {name!r}; {f'try {near[0]!r}' if near else ', '.join(METRICS)}."
                )


@dataclass(frozen=True, slots=True)
class Grounding:
    """The measures of one answer, each 0 to 1 or None; `by` judged support, and `claimed` says how claims were found.

    `dangling` counts references that lead nowhere, `unresolved` lists that end with "+more".
    """

    values: Mapping[str, float | None]
    by: str
    claimed: str
    abstained: bool
    dangling: int
    unresolved: int


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a measure over the `n` answers for which it is defined; None where there are none."""

    metric: str
    mean: float | None
    n: int
    undefined: int


def grounded(
    question: str, answer: Answer, *, reference: str = "", gold: Sequence[str] = (), found: Sequence[str] = ()
) -> Grounded:
    """An answer of ours, with its evidence and what it quotes; `found` are the evidence's documents if not given."""
    return Grounded(
        question,
        answer.text,
        tuple(p.text for p in answer.evidence.passages),
        tuple((Reference(c.marker), c.quote) for c in answer.citations),
        reference,
        tuple(found) or answer.evidence.documents,
        tuple(gold),
    )


def ground(answers: Sequence[Grounded], how: GroundingSettings, rt: Runtime) -> list[Grounding]:
    """The measures of each answer. An answer that abstains has no statement: what is about statements is None."""
    desk = _Desk(answers, how, rt, supporter(rt, how.by))
    columns = {name: METRICS[name](desk) for name in how.metrics}
    cited = desk.cited() if {"citation_recall", "citation_precision"} & set(how.metrics) else [None] * len(answers)
    claimed = desk.claimed()
    return [
        Grounding(
            MappingProxyType({name: values[i] for name, values in columns.items()}),
            desk.by.name,
            claimed,
            desk.silent[i],
            len(c.dangling) if c else 0,
            c.more if c else 0,
        )
        for i, c in enumerate(cited)
    ]


def means(found: Sequence[Grounding]) -> tuple[Mean, ...]:
    """The mean of every measure over the answers for which it is defined, and how many those are not."""
    rows = []
    for name in found[0].values if found else ():
        told = [v for g in found if (v := g.values[name]) is not None]
        rows.append(Mean(name, float(np.mean(told)) if told else None, len(told), len(found) - len(told)))
    return tuple(rows)


def precision_at_k(useful: Sequence[bool]) -> float:
    """Σ_k precision@k · v_k ÷ Σ_k v_k over the places k of a ranking, 0 to 1; 0 where nothing is useful."""
    hits = list(accumulate(map(int, useful)))
    total = sum(useful)
    return sum(h / (k + 1) for k, (h, v) in enumerate(zip(hits, useful, strict=True)) if v) / total if total else 0.0


class _Desk:
    """The answers with the tools; what several measures need is worked out once."""

    def __init__(self, answers: Sequence[Grounded], how: GroundingSettings, rt: Runtime, by: Supporter) -> None:
        self.answers, self.how, self.rt, self.by = answers, how, rt, by
        self.silent = [abstains(a.text) for a in answers]
        self._cited: list[Citations] = []

    def able(self, task: str) -> bool:
        return task in self.rt.engine.tasks

    def claimed(self) -> str:
        """How claims are found, by name."""
        return claims_of([("", "")], self.how.claims, self.rt)[0].by

    def cited(self) -> list[Citations]:
        if not self._cited:
            said = [() if s else cited_statements(a.text) for a, s in zip(self.answers, self.silent, strict=True)]
            texts = [dict(a.texts) for a in self.answers]
            self._cited = citations_of(list(zip(said, texts, strict=True)), self.by, self.how.most)
        return self._cited

    def shares(self, statements: Sequence[Sequence[str]]) -> Values:
        """Of each answer's statements, the share that its context bears; None without a statement."""
        checks = [Check(s, a.context) for a, own in zip(self.answers, statements, strict=True) for s in own]
        told = iter(self.by.supported(checks))
        return [sum(bool(next(told).holds) for _ in own) / len(own) if own else None for own in statements]

    def useful(self, texts: Sequence[Sequence[str]]) -> list[list[bool]]:
        """Whether each text helps with its answer's question, by the engine."""
        asked = [
            Inquiry(a.question, Context((Passage("chunk", str(i), t),)))
            for a, own in zip(self.answers, texts, strict=True)
            for i, t in enumerate(own)
        ]
        told = iter(self.rt.each(test, asked))
        return [[next(told) for _ in own] for own in texts]


def _faithfulness(desk: _Desk) -> Values:
    asked = [("", "") if s else (a.question, a.text) for a, s in zip(desk.answers, desk.silent, strict=True)]
    return desk.shares([c.claims for c in claims_of(asked, desk.how.claims, desk.rt)])


def _statement_recall(desk: _Desk) -> Values:
    """Statements of the reference that the context bears; a reference without a claim counts by its sentences."""
    found = claims_of([(a.question, a.reference) for a in desk.answers], desk.how.claims, desk.rt)
    return desk.shares([c.claims or sentences_of(a.reference) for a, c in zip(desk.answers, found, strict=True)])


def _document_recall(desk: _Desk) -> Values:
    return [len(set(a.gold) & set(a.found)) / len(set(a.gold)) if a.gold else None for a in desk.answers]


def _relevant_share(desk: _Desk) -> Values:
    """(a) Sentences of the context that help with the question ÷ its sentences; an empty context is 0."""
    if not desk.able("test"):
        return [None] * len(desk.answers)
    told = desk.useful([_sentences(a.context) for a in desk.answers])
    return [sum(own) / len(own) if own else 0.0 for own in told]


def _relevance_rating(desk: _Desk) -> Values:
    """(b) The mean of two ratings of the context, 0 to 2, halved; an empty context is 0."""
    if not desk.able("score"):
        return [None] * len(desk.answers)
    full = [a for a in desk.answers if any(t.strip() for t in a.context)]
    trials = [
        Trial(a.question, _RATED, _DEFINITION, ("\n\n".join(a.context),), replicate, 0, 2, _BANDS)
        for a in full
        for replicate in range(_RATINGS)
    ]
    told = iter(desk.rt.each(judging.score, trials))
    rated = {id(a): [v.scores[0] for v in (next(told) for _ in range(_RATINGS)) if v.scores] for a in full}
    return [_mean([s / 2 for s in rated[id(a)]]) if id(a) in rated else 0.0 for a in desk.answers]


def _used_share(desk: _Desk) -> Values:
    """(c) Sentences of the context that the answer rests on, by its quotes and its words ÷ its sentences (N94)."""
    return [_used(a) for a in desk.answers]


def _used(answer: Grounded) -> float:
    context = _sentences(answer.context)
    said = [frozenset(stems(s.text)) for s in cited_statements(answer.text)]
    quotes = [" ".join(text.split()) for _, text in answer.texts]
    used = [_rests(" ".join(sentence.split()), said, quotes) for sentence in context]
    return sum(used) / len(used) if used else 0.0


def _rests(sentence: str, said: Sequence[frozenset[str]], quotes: Sequence[str]) -> bool:
    terms = frozenset(stems(sentence))
    if any(sentence in quote or quote in sentence for quote in quotes if quote):
        return True
    return any(
        min(len(terms & own) / len(own), len(terms & own) / len(terms)) >= _HALF for own in said if own and terms
    )


def _precision_at_k(desk: _Desk) -> Values:
    """Of the ranking of ids where it is judged, else of the texts of the context, by the engine."""
    judged = [bool(a.gold) for a in desk.answers]
    able = desk.able("test")
    told = desk.useful([() if j or not able else a.context for a, j in zip(desk.answers, judged, strict=True)])
    return [
        precision_at_k([name in a.gold for name in a.found]) if j else precision_at_k(v) if able else None
        for a, j, v in zip(desk.answers, judged, told, strict=True)
    ]


def _relevancy(desk: _Desk) -> Values:
    """The mean cosine of the question with three that the answer answers; 0 where it abstains or nothing is asked."""
    if not desk.able("propose"):
        return [None] * len(desk.answers)
    wishes = [
        Wish("reverse", 0 if s else _QUESTIONS, texts=(a.text,)) for a, s in zip(desk.answers, desk.silent, strict=True)
    ]
    asked = list(desk.rt.each(proposing.propose, wishes))
    texts = [t for a, own in zip(desk.answers, asked, strict=True) for t in (a.question, *own)]
    vectors, found, begin = np.asarray(embed_all(texts, desk.rt).value), Values(), 0
    for own in asked:
        rows = vectors[begin : begin + 1 + len(own)]
        found.append(float((rows[1:] @ rows[0]).mean()) if own else 0.0)
        begin += len(rows)
    return found


def _citation_recall(desk: _Desk) -> Values:
    return [c.recall for c in desk.cited()]


def _citation_precision(desk: _Desk) -> Values:
    return [c.precision for c in desk.cited()]


def _sentences(texts: Sequence[str]) -> list[str]:
    return [text[a:b] for text in texts for a, b in sentences(text)]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


METRICS: Mapping[str, Callable[[_Desk], Values]] = MappingProxyType({
    "faithfulness": _faithfulness,
    "relevant_share": _relevant_share,
    "relevance_rating": _relevance_rating,
    "used_share": _used_share,
    "precision_at_k": _precision_at_k,
    "statement_recall": _statement_recall,
    "document_recall": _document_recall,
    "relevancy": _relevancy,
    "citation_recall": _citation_recall,
    "citation_precision": _citation_precision,
})  # fmt: skip
