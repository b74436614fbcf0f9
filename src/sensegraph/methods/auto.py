"""The choice of a method by the kind of question: `auto`.

The rules read the question and the names that the index knows, no more: the choice costs nothing, is made before
anything is paid, and is told in the answer's notes. How well each method serves which
question is data: the marks in `methods.toml`, one set for a model that answers, one for none. The best that the index
and the engine can serve is taken.

| kind | aspect | shows by |
|---|---|---|
| global | whole | words for the whole, and no name |
| disambiguation | ambiguous | one name that entities of several types bear |
| multi-hop | path | two names |
| | steps | a relation to follow, a comparison |
| | shared | what several things have in common |
| local | what | one name, and the question what it is |
| | detail | one name, and a detail about it |
| all of these | around | names, and words for the whole as well, where a model answers |
| plain | plain | nothing of these |
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from sensegraph.errors import NotIndexed
from sensegraph.index.index import Index
from sensegraph.index.parts import SPINE
from sensegraph.methods import METHODS, load_method, parts_needed
from sensegraph.protocols import Task
from sensegraph.retrieval.signals import (
    Name,
    asks_to_be_told,
    asks_what_is_shared,
    asks_what_it_is,
    count_capital_runs,
    names_in_question,
    relation_words,
    wholeness_signs,
    without_examples,
)

Kind = Literal["global", "disambiguation", "multi-hop", "local", "plain"]
Aspect = Literal["whole", "ambiguous", "path", "steps", "shared", "what", "detail", "around", "plain"]

ASPECTS: Mapping[Aspect, str] = MappingProxyType(
    {
        "whole": "questions about all of a corpus",
        "ambiguous": "names of several things",
        "path": "what leads from one name to another",
        "steps": "questions that are answered in steps",
        "shared": "what several things have in common",
        "what": "what something is",
        "detail": "a detail of one thing",
        "around": "themes around a name",
        "plain": "facts in a few passages",
    }
)
"""What each aspect means, as it is told."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A method, why it was chosen, and the kind of question that it was chosen for.

    `others` are the methods that could serve it too, the best first.
    """

    method: str
    reason: str
    kind: Kind = "plain"
    aspect: Aspect = "plain"
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Able:
    """What is at hand for an answer: whether a model writes it, and the engine's tasks (None: all that are needed)."""

    model: bool = False
    tasks: Collection[Task] | None = None


def rank_methods(aspect: Aspect, *, model: bool) -> list[str]:
    """The methods that serve an aspect, the best first; of equal marks the one that the table names first."""
    marks = {name: (m.fits if model else m.alone).get(aspect, 0) for name, m in METHODS.items()}
    return sorted((name for name, mark in marks.items() if mark), key=lambda name: -marks[name])


def choose_method(question: str, index: Index, able: Able | None = None) -> Choice:
    """The method for `question`, of those that the index can serve. Raises NotIndexed where there is none.

    Without saying what is `able`, no model answers.
    """
    able = able or Able()
    names = [n for n in names_in_question(without_examples(question), index) if n.proper]
    kind, reason = kind_of(question, names)
    told = not able.model and bool(index.manifest.hierarchy) and not index.manifest.quoted
    if told and kind != "global" and asks_to_be_told(question):
        kind, reason = "global", "it asks to be told, and the reports of this index are prose that does"
    aspect = find_aspect(question, kind, names, model=able.model)
    if kind == "local" and aspect == "detail":  # measured: docs/design/014
        reason = f"{reason}, and asks for a detail"
    listed = rank_methods(aspect, model=able.model)
    served = [m for m in listed if _is_served(m, index, able)]
    if not served:
        raise NotIndexed(
            f"No method for a {kind} question can read this index; run `sensegraph index` again (in Python: "
            "`corpus.build()`)."
        )
    wanted, chosen = listed[0], served[0]
    if able.model:
        reason = f"{reason}; of what this index serves, {chosen} is best for {ASPECTS[aspect]}"
    if chosen != wanted:
        reason = f"{reason}; {wanted} cannot read this index"
    return Choice(chosen, reason, kind, aspect, tuple(served[1:]))


def find_names_with(index: Index) -> str:
    """The method that finds passages best, of those that the index can serve: the default of `search`."""
    return next(m for m in rank_methods("plain", model=False) if _is_served(m, index, Able()))


def find_aspect(question: str, kind: Kind, names: Sequence[Name], *, model: bool) -> Aspect:
    """What a question of this kind asks for, which decides among the methods."""
    if model and names and kind in ("global", "local", "multi-hop") and 1 <= wholeness_signs(question)[0] < math.inf:
        return "around"
    if kind == "local":
        return "what" if asks_what_it_is(question, names[0]) else "detail"
    if kind == "multi-hop":
        if asks_what_is_shared(question):
            return "shared"
        return "steps" if relation_words(question) else "path"
    only: Mapping[Kind, Aspect] = {"global": "whole", "disambiguation": "ambiguous", "plain": "plain"}
    return only[kind]


def kind_of(question: str, names: Sequence[Name]) -> tuple[Kind, str]:
    """The kind of a question that holds these names, and what shows it."""
    weight, whole = wholeness_signs(question)
    if weight >= 1 + max(len(names), count_capital_runs(question)):
        return "global", f"{_quote_words(whole)} asks about the whole corpus"
    if shared := [n for n in names if len(n.types) > 1 and len({e.name.casefold() for e in n.entities}) == 1]:
        name = shared[0]
        kinds = " and ".join(name.types)
        return "disambiguation", (
            f"“{name.surface}” is the name of {len(name.entities)} entities ({kinds}): all are read; "
            "ask again with the kind that is meant if the answer mixes them"
        )
    if len(names) > 1:
        return "multi-hop", f"it ties {_quote_words([n.surface for n in names])} together"
    if relation := relation_words(question):
        return "multi-hop", f"{_quote_words(relation)} leads from one thing to another"
    if names:
        return "local", f"it is about {_quote_words([names[0].surface])}"
    return "plain", "no known entity in the question; full-text search"


def _is_served(method: str, index: Index, able: Able) -> bool:
    """Whether the index has what a method cannot miss, and of the graph and its reports what it reads.

    So has the engine its tasks, and the corpus is no larger than it is chosen for.
    """
    loaded, most = load_method(method), METHODS[method].most_tokens
    if able.tasks is not None and not loaded.requires <= set(able.tasks):
        return False
    if most and sum(c.tokens for c in index.catalogue.chunks) > most:
        return False
    return parts_needed(loaded) | (loaded.reads & set(SPINE)) <= index.manifest.part_names


def _quote_words(words: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(" ".join(w.split()) for w in words))[:3]
    return ", ".join(f"“{w}”" for w in distinct)
