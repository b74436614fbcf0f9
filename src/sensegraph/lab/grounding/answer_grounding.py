"""Whether answers are grounded: in what was retrieved, in what they cite, and in what was asked.

papers: Es et al. 2023 (RAGAS: faithfulness, relevance, precision and recall of contexts, relevancy of answers); Gao et
al. 2023 (ALCE: citations); N94. "Context relevance" is three measures in the literature; they have three names here. A
measure is None where it is not defined for an answer, which `average_measures` counts apart, and is never taken as 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from itertools import accumulate, islice
from types import MappingProxyType

import numpy as np

from sensegraph.answering.asking import test_contexts
from sensegraph.answering.grounding.checking import says_no_answer
from sensegraph.answering.grounding.citations import (
    MOST,
    By,
    Citations,
    Reference,
    Supporter,
    choose_supporter,
    score_citations,
    split_cited_statements,
)
from sensegraph.errors import SettingsError
from sensegraph.index.vectors import embed_all
from sensegraph.lab.grounding.claims import ClaimSettings, find_claims, split_answer
from sensegraph.lab.tasks import propose_lines, score_trials
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import list_stems
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
                near = get_close_matches(name, METRICS)
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


def collect_evidence(
    question: str, answer: Answer, *, reference: str = "", gold: Sequence[str] = (), found: Sequence[str] = ()
) -> Grounded:
    """An answer of ours, with its evidence and what it quotes; `found` are the evidence's documents if not given."""
    context = tuple(p.text for p in answer.evidence.passages)
    quoted = tuple((Reference(c.marker), c.quote) for c in answer.citations)
    ids = tuple(found) or answer.evidence.documents
    return Grounded(question, answer.text, context, quoted, reference, ids, tuple(gold))


def measure_grounding(answers: Sequence[Grounded], how: GroundingSettings, rt: Runtime) -> list[Grounding]:
    """The measures of each answer. An answer that abstains has no statement: what is about statements is None."""
    measured = _Answers(answers, how, rt, choose_supporter(rt, how.by))
    columns = {name: METRICS[name](measured) for name in how.metrics}
    by_citations = {"citation_recall", "citation_precision"} & set(how.metrics)
    cited = measured.citations if by_citations else [None] * len(answers)
    claimed = find_claims([("", "")], how.claims, rt)[0].by  # how claims are found, by name
    found = []
    for i, c in enumerate(cited):
        values = MappingProxyType({name: column[i] for name, column in columns.items()})
        dangling, unresolved = (len(c.dangling), c.more) if c else (0, 0)
        found.append(Grounding(values, measured.by.name, claimed, measured.silent[i], dangling, unresolved))
    return found


def average_measures(found: Sequence[Grounding]) -> tuple[Mean, ...]:
    """The mean of every measure over the answers for which it is defined, and how many those are not."""
    rows = []
    for name in found[0].values if found else ():
        told = [v for g in found if (v := g.values[name]) is not None]
        rows.append(Mean(name, float(np.mean(told)) if told else None, len(told), len(found) - len(told)))
    return tuple(rows)


def average_precision(useful: Sequence[bool]) -> float:
    """Σ_k precision@k · v_k ÷ Σ_k v_k over the places k of a ranking, 0 to 1; 0 where nothing is useful."""
    hits = list(accumulate(map(int, useful)))
    total = sum(useful)
    return sum(h / (k + 1) for k, (h, v) in enumerate(zip(hits, useful, strict=True)) if v) / total if total else 0.0


class _Answers:
    """The answers with the tools, and their measures; what several measures need is worked out once."""

    def __init__(self, answers: Sequence[Grounded], how: GroundingSettings, rt: Runtime, by: Supporter) -> None:
        self.answers, self.how, self.rt, self.by = answers, how, rt, by
        self.silent = [says_no_answer(a.text) for a in answers]

    @cached_property
    def citations(self) -> list[Citations]:
        """What became of the citations of each answer."""
        said = [() if s else split_cited_statements(a.text) for a, s in zip(self.answers, self.silent, strict=True)]
        texts = [dict(a.texts) for a in self.answers]
        return score_citations(list(zip(said, texts, strict=True)), self.by, self.how.most)

    def shares(self, statements: Sequence[Sequence[str]]) -> Values:
        """Of each answer's statements, the share that its context bears; None without a statement."""
        checks = [Check(s, a.context) for a, own in zip(self.answers, statements, strict=True) for s in own]
        told = iter(self.by.supported(checks))
        return [sum(bool(next(told).holds) for _ in own) / len(own) if own else None for own in statements]

    def useful(self, texts: Sequence[Sequence[str]]) -> list[list[bool]]:
        """Whether each text helps with its answer's question, by the engine."""
        pairs = [(a.question, i, t) for a, own in zip(self.answers, texts, strict=True) for i, t in enumerate(own)]
        asked = [Inquiry(question, Context((Passage("chunk", str(i), t),))) for question, i, t in pairs]
        told = iter(self.rt.each(test_contexts, asked))
        return [[next(told) for _ in own] for own in texts]

    def faithfulness(self) -> Values:
        """Claims of the answer that its context bears."""
        asked = [("", "") if s else (a.question, a.text) for a, s in zip(self.answers, self.silent, strict=True)]
        return self.shares([c.claims for c in find_claims(asked, self.how.claims, self.rt)])

    def statement_recall(self) -> Values:
        """Statements of the reference that the context bears; a reference without a claim counts by its sentences."""
        found = find_claims([(a.question, a.reference) for a in self.answers], self.how.claims, self.rt)
        return self.shares([c.claims or split_answer(a.reference) for a, c in zip(self.answers, found, strict=True)])

    def document_recall(self) -> Values:
        """Gold ids that were retrieved."""
        return [len(set(a.gold) & set(a.found)) / len(set(a.gold)) if a.gold else None for a in self.answers]

    def relevant_share(self) -> Values:
        """(a) Sentences of the context that help with the question ÷ its sentences; an empty context is 0."""
        if "test" not in self.rt.engine.tasks:
            return [None] * len(self.answers)
        told = self.useful([_split_sentences(a.context) for a in self.answers])
        return [sum(own) / len(own) if own else 0.0 for own in told]

    def relevance_rating(self) -> Values:
        """(b) The mean of two ratings of the context, 0 to 2, halved; an empty context is 0."""
        if "score" not in self.rt.engine.tasks:
            return [None] * len(self.answers)
        full = [any(t.strip() for t in a.context) for a in self.answers]
        trials = [
            Trial(a.question, _RATED, _DEFINITION, ("\n\n".join(a.context),), replicate, 0, 2, _BANDS)
            for a, rated in zip(self.answers, full, strict=True)
            for replicate in range(_RATINGS if rated else 0)
        ]
        verdicts = iter(self.rt.each(score_trials, trials))
        found: Values = []
        for rated in full:
            ratings = [v.scores[0] / 2 for v in islice(verdicts, _RATINGS if rated else 0) if v.scores]
            found.append(sum(ratings) / len(ratings) if ratings else None if rated else 0.0)
        return found

    def used_share(self) -> Values:
        """(c) Sentences of the context that the answer rests on, by its quotes and its words ÷ its sentences (N94)."""
        found: Values = []
        for answer in self.answers:
            said = [frozenset(list_stems(s.text)) for s in split_cited_statements(answer.text)]
            quotes = [" ".join(text.split()) for _, text in answer.texts]
            used = []
            for sentence in (" ".join(s.split()) for s in _split_sentences(answer.context)):
                terms = frozenset(list_stems(sentence))
                quoted = any(sentence in quote or quote in sentence for quote in quotes if quote)
                shares = (len(terms & own) / max(len(own), len(terms)) for own in said if own and terms)
                used.append(quoted or any(share >= _HALF for share in shares))
            found.append(sum(used) / len(used) if used else 0.0)
        return found

    def precision_at_k(self) -> Values:
        """Of the ranking of ids where it is judged, else of the texts of the context, by the engine."""
        judged = [bool(a.gold) for a in self.answers]
        able = "test" in self.rt.engine.tasks
        told = self.useful([() if j or not able else a.context for a, j in zip(self.answers, judged, strict=True)])
        return [
            average_precision([name in a.gold for name in a.found]) if j else average_precision(v) if able else None
            for a, j, v in zip(self.answers, judged, told, strict=True)
        ]

    def relevancy(self) -> Values:
        """The mean cosine of the question with three that the answer answers; 0 where it abstains or none is asked."""
        if "propose" not in self.rt.engine.tasks:
            return [None] * len(self.answers)
        counts = [0 if s else _QUESTIONS for s in self.silent]
        wishes = [Wish("reverse", n, texts=(a.text,)) for a, n in zip(self.answers, counts, strict=True)]
        asked = list(self.rt.each(propose_lines, wishes))
        texts = [t for a, own in zip(self.answers, asked, strict=True) for t in (a.question, *own)]
        vectors, found, begin = np.asarray(embed_all(texts, self.rt).value), Values(), 0
        for own in asked:
            rows = vectors[begin : begin + 1 + len(own)]
            found.append(float((rows[1:] @ rows[0]).mean()) if own else 0.0)
            begin += len(rows)
        return found

    def citation_recall(self) -> Values:
        """Statements that their citations bear."""
        return [c.recall for c in self.citations]

    def citation_precision(self) -> Values:
        """Citations that their statements need."""
        return [c.precision for c in self.citations]


def _split_sentences(texts: Sequence[str]) -> list[str]:
    return [text[a:b] for text in texts for a, b in split_sentences(text)]


_MEASURES = (
    *(_Answers.faithfulness, _Answers.relevant_share, _Answers.relevance_rating, _Answers.used_share),
    *(_Answers.precision_at_k, _Answers.statement_recall, _Answers.document_recall, _Answers.relevancy),
    *(_Answers.citation_recall, _Answers.citation_precision),
)
METRICS: Mapping[str, Callable[[_Answers], Values]] = MappingProxyType({m.__name__: m for m in _MEASURES})
