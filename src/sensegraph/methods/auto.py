"""The choice of a method by the kind of question: `auto`.

The rules read the question and the names that the index knows, no more: the choice costs nothing, is made before
anything is paid, and is told in the answer's notes (N42–N46, N65; hybrid §6).

| kind | shows by | method |
|---|---|---|
| global | words for the whole, and no name | `graphrag`, over the reports |
| disambiguation | one name that entities of several types bear | `local`, and says which |
| multi-hop | two names, a relation to follow, a comparison | `hybrid`, whose walk goes from name to name |
| local | one name | `local`, its neighbourhood, for what it is; `hybrid` for a detail about it |
| plain | nothing of these | `hybrid` |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from sensegraph.errors import NotIndexed
from sensegraph.index.index import Index
from sensegraph.index.parts import SPINE
from sensegraph.methods import METHODS, load_method, parts_needed
from sensegraph.retrieval.signals import (
    Name,
    asks_what_it_is,
    count_capital_runs,
    names_in_question,
    relation_words,
    wholeness_signs,
    without_examples,
)

Kind = Literal["global", "disambiguation", "multi-hop", "local", "plain"]

CANDIDATES: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {
        "global": ("graphrag", "lazygraphrag", "walk", "hybrid", "bm25"),
        "disambiguation": ("local", "walk", "hybrid", "bm25"),
        "multi-hop": ("walk", "hybrid", "bm25"),
        "local": ("local", "walk", "hybrid", "bm25"),
        "plain": ("walk", "hybrid", "bm25"),
    }
)
"""The methods for each kind, the best first; the first that the index can serve is taken."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A method, why it was chosen, and the kind of question that it was chosen for."""

    method: str
    reason: str
    kind: Kind = "plain"


def choose_method(question: str, index: Index) -> Choice:
    """The method for `question`, of those that the index can serve. Raises NotIndexed where there is none."""
    names = [n for n in names_in_question(without_examples(question), index) if n.proper]
    kind, reason = kind_of(question, names)
    listed = CANDIDATES[kind]
    if kind == "local" and not asks_what_it_is(question, names[0]):  # measured: docs/design/014
        listed, reason = CANDIDATES["plain"], f"{reason}, and asks for a detail"
    able = next((m for m in listed if m in METHODS and _is_served(m, index)), "")
    if not able:
        raise NotIndexed(f"No method for a {kind} question can read this index; run `sensegraph index` again.")
    wanted = listed[0]
    if able != wanted:
        reason = f"{reason}; {wanted} cannot read this index"
    return Choice(able, reason, kind)


def find_names_with(index: Index) -> str:
    """The method that finds passages best, of those that the index can serve: the default of `search`."""
    return next(m for m in CANDIDATES["plain"] if m in METHODS and _is_served(m, index))


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
    return "plain", "it names nothing that the index knows as an entity; passages are searched for its words"


def _is_served(method: str, index: Index) -> bool:
    """Whether the index has what a method cannot miss, and of the graph and its reports what it reads."""
    loaded = load_method(method)
    return parts_needed(loaded) | (loaded.reads & set(SPINE)) <= index.manifest.part_names


def _quote_words(words: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(" ".join(w.split()) for w in words))[:3]
    return ", ".join(f"“{w}”" for w in distinct)
