"""What a question is reduced to before a graph is searched: its names, and its themes.

LightRAG calls them low-level and high-level keywords, FastGraphRAG named and generic entities. Both ask a model for two
lists; here the engine's task `refine`, which other methods share, splits the question, and rules tell the two apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sensegraph.answering.asking import make_inquiry, refine_questions
from sensegraph.errors import StepFailed
from sensegraph.index.index import Index
from sensegraph.language.text import WORD, fold
from sensegraph.language.word_lists import STOP
from sensegraph.retrieval.named_entities import entities_named_in
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Question, Refinement

_COMMON = "concept"  # the type of entities that are common nouns
_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w.’'-]*"
_NAME = re.compile(rf"{_CAPITAL}(?:\s+(?:(?:of|the|de|la|von|van|der|du)\s+)*{_CAPITAL})*")
_STOP = frozenset(word for words in STOP.values() for word in words)


@dataclass(frozen=True, slots=True)
class Keywords:
    """`low` are names and details, `high` themes; either may be empty.

    `called` are, for each of `low`, the positions of the entities of exactly this name, often none; `notes` say what
    was degraded.
    """

    low: tuple[str, ...]
    high: tuple[str, ...]
    called: tuple[tuple[int, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def entities(self) -> list[int]:
        """The entities that are named, each once, in the order of the question."""
        return list(dict.fromkeys(place for places in self.called for place in places))


def keywords_of(question: Question, index: Index, rt: Runtime, *, refined: bool = True) -> Keywords:
    """The keywords of a question; `refined` lets the engine expand and split it, which a model is asked once for.

    Low are the names that the index knows and other runs of capitals, of the question or, where it holds none, of the
    conversation before it. High are the parts that the engine finds beside them, else the words that are left; common
    nouns that the index knows as entities are high. A question without either is both. Where the engine cannot split
    the question, rules alone do, and the notes say so.
    """
    asked, notes = Refinement(question.text), list[str]()
    if refined:
        try:
            asked = rt.each(refine_questions, [make_inquiry(question, (), index)])[0]
        except StepFailed as e:
            why = "; ".join(sorted(e.reasons))
            notes.append(f"the engine could not split the question ({why}): rules alone did")
    text = question.text if fold(asked.question) == fold(question.text) else f"{question.text}\n{asked.question}"
    low, common = _split_names(text, index)
    if not low and question.history:
        low, _ = _split_names(question.sought, index)
    names = [fold(name) for name in low]
    themes = [part for part in asked.questions if not any(fold(part) in name for name in names)]
    if not themes:  # the words that are neither function words nor part of a name, in one phrase
        taken = _STOP.union(*(WORD.findall(name) for name in names))
        words = [w for w in WORD.findall(question.text) if w.casefold() not in taken and len(w) > 1]
        themes = [" ".join(words)] if words else []
    high = tuple({fold(theme): theme for theme in (*common, *themes)}.values())
    if not low and not high:
        low, high = {question.text: ()}, (question.text,)
    return Keywords(tuple(low), high, tuple(low.values()), tuple(notes))


def _split_names(text: str, index: Index) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """Names in a text with the entities so called, known ones first; and what is known but is no name as it is written.

    A word that the index knows as a name is one only with a capital, unless the text has none inside.
    """
    capitals = any(word[0].isupper() for word in WORD.findall(text)[1:])
    places = list(dict.fromkeys(entities_named_in(text, index)))
    types = [e.type for e in take_records(index.graph.entities, places)]
    known: dict[str, list[int]] = {}
    common: dict[str, None] = {}
    for place, kind in zip(places, types, strict=True):
        name = index.lookups.name(place)
        if kind == _COMMON or (capitals and len(WORD.findall(name)) == 1 and name not in text):
            common[name] = None
        else:
            known.setdefault(name, []).append(place)
    low = {name: tuple(found) for name, found in known.items()}
    folded = [fold(name) for name in low]
    for run in _NAME.finditer(text):  # runs of capitalised words, without the function words that they begin with
        words = run[0].split()
        while words and words[0].casefold() in _STOP:
            words.pop(0)
        name = " ".join(words).rstrip(".’'-").removesuffix("'s").removesuffix("’s")
        if name and not any(fold(name) in other or other in fold(name) for other in folded):
            low.setdefault(name, ())
    return low, list(common)
