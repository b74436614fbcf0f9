"""A question as a short program of retrieval and calculation steps over variables: the values of a plan.

paper: Liang et al. 2024 (KAG), the logical form solver and its five functions; `logical_forms.py` reads them

Aliases stand without the mark `#`; in words, `#o1` is the value of the alias o1, `#1` that of a step without a name.
Nothing of a plan is ever executed: it is data, and its arithmetic is worked out by `calculation.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MARK = re.compile(r"#(\w+)")


@dataclass(frozen=True, slots=True)
class Term:
    """An end of a retrieval, or its edge: `alias:type[name]`, each part may be missing; a name may hold `#1`."""

    alias: str = ""
    type: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of a field of an alias: `o1.year > 1990`."""

    alias: str
    field: str
    operator: str
    value: str


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Bind whatever matches subject – predicate – object; `text` is the sub-question."""

    subject: Term
    predicate: Term
    object: Term
    where: tuple[Condition, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Sort:
    """The values of `alias` in order, the first `limit` of them (0: all)."""

    alias: str
    descending: bool = True
    limit: int = 0
    target: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Math:
    """A calculation over numbers, dates and sets: `content` is an expression, or words that name one over `inputs`."""

    content: str
    inputs: tuple[str, ...] = ()
    target: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Deduce:
    """A decision from what is bound: judgement, entailment, extract, choice or multiChoice."""

    operation: str
    content: str
    inputs: tuple[str, ...] = ()
    target: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """What the plan results in."""

    aliases: tuple[str, ...]
    text: str = ""


Form = Retrieval | Sort | Math | Deduce | Output
OPERATIONS = ("judgement", "entailment", "extract", "choice", "multiChoice")


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in an order in which every alias is bound before it is used; the last one is the output."""

    steps: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A plan, None where `errors` say why there is none; `repairs` are what was put right in it."""

    plan: Plan | None
    errors: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
