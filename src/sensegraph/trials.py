"""What is put before a judge, and what it says of it: the values of the tasks that only the lab asks for.

Winners and scores are a model's: an engine without one has no such tasks, and never pretends to a preference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Wanted = Literal["persona", "task", "question", "reverse"]
Stage = Literal["select", "disambiguate", "decompose"]


@dataclass(frozen=True, slots=True)
class Trial:
    """Answers to one question, to be judged by one criterion: two to compare, or one to score from `low` to `high`.

    The judge never sees who wrote them. `replicate` tells repetitions apart in the store and nowhere else. `bands`
    says what scores mean; on a comparison they ask for a score of each answer as well. `tie` says whether a
    comparison may end without a winner (zhang2025, L22, allows none). Without a criterion it is only for `contrast`.
    """

    question: str
    criterion: str
    definition: str
    answers: tuple[str, ...]
    replicate: int = 0
    low: int = 1
    high: int = 10
    bands: str = ""
    tie: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said of a trial: `winner` is 1 or 2, 0 for a tie, and None without a verdict.

    `scores` are one for each answer where asked for. No verdict is not a tie: `reason` says why there is none.
    """

    winner: int | None = None
    reason: str = ""
    scores: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Contrast:
    """What two answers both say, and what only the first and only the second says, as short statements."""

    common: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """A request for `count` lines that are not among `known`: personas, tasks, or questions.

    edge2024, Algorithm 1: `about` describes a corpus (never its text), `persona` and `task` who asks and for what.
    `kind` names the class of a question that is grounded in the corpus, and `texts` are then what it is to be grounded
    in. For `reverse` they are an answer, and the lines are questions that it answers.
    """

    wanted: Wanted
    count: int
    about: str = ""
    persona: str = ""
    task: str = ""
    kind: str = ""
    texts: tuple[str, ...] = ()
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A sentence of an answer with its neighbours, for one stage of finding claims (Metropolitansky and Larson 2025).

    `sample` tells several completions apart in the store and nowhere else; `temperature` is what they are drawn at.
    """

    stage: Stage
    question: str
    sentence: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    sample: int = 0
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class Check:
    """A statement, and the texts of which it is asked whether they bear it."""

    statement: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Support:
    """Whether texts bear a statement; None where there is no verdict. `reason` says what does, or what is missing."""

    holds: bool | None
    reason: str = ""
