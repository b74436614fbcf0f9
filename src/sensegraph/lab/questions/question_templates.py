"""Questions by rule, from what the graph is grounded in: no model, and labelled `template`.

They hold the words of the sentences that they are made from, so they are easier to find evidence for than a person's
questions, for methods that look for words most of all: compare methods by them, and never with other sets.
"""

from __future__ import annotations

from collections.abc import Sequence

from sensegraph.lab.questions.grounds import Ground, remove_date
from sensegraph.lab.questions.question_files import Kind, Posed
from sensegraph.lab.questions.stated_facts import GAP
from sensegraph.language.text import fold
from sensegraph.types import Entity

_ANSWERED = frozenset(("local", "bridge", "intersection"))  # classes of which the answer is known
_GAPPED = frozenset(("local", "intersection"))  # classes that need no words of ours


def word_question(ground: Ground, documents: Sequence[str], *, english: bool = True) -> Posed:
    """The question that a template makes of a ground, whose chunks are of `documents`.

    In other languages than English sentences get a gap, and only the classes that need no words of ours are asked.
    """
    if english:
        text = _word_in_english(ground)
    elif ground.kind == "local":
        (one,) = ground.told
        text = one.rest if GAP in one.rest else f"{GAP} {one.rest}?"
    else:
        text = " … ".join(f"{GAP} {one.rest}" for one in ground.told) + "?"
    answers = tuple(dict.fromkeys(e.name for e in ground.entities[:1])) if ground.kind in _ANSWERED else ()
    if ground.claims:
        answers = (remove_date(ground.claims[0]),)
    evidence = () if ground.kind == "adversarial" else ground.chunks
    return Posed(
        text,
        ground.kind,
        "template",
        evidence,
        tuple(dict.fromkeys(documents)) if evidence else (),
        answers,
        tuple(e.name for e in ground.entities),
        max(1, len(ground.told)) if ground.kind in ("bridge", "intersection") else 1,
    )


def _word_in_english(ground: Ground) -> str:
    """The question in English, by the class of the ground."""
    told, entities = ground.told, ground.entities
    match ground.kind:
        case "local":
            rest = told[0].rest
            return (
                f"Which name is missing here: “{rest}”?"
                if GAP in rest
                else f"{_question_word(told[0].subject)} {rest}?"
            )
        case "bridge" if ground.other:
            return f"What links {_name_in_sentence(entities[1])} with {_name_in_sentence(entities[2])}?"
        case "bridge":
            # each sentence but the last gives up the name of what the next one is about, which says what is meant
            text = told[-1].rest
            for one in told[-2::-1]:
                text = f"{one.head} the one that {text}{f', {one.after}' if one.after else ''}"
            return f"{_question_word(told[0].subject)} {text}?"
        case "intersection":
            first, second = told
            also = "" if "also" in second.rest.split() else "also "
            return f"{_question_word(first.subject)} {first.rest}, and {also}{second.rest}?"
        case "comparison":
            left, right, shared = entities
            return (
                f"How do {left.name} and {right.name} differ in what they have to do with {_name_in_sentence(shared)}?"
            )
        case "temporal" if ground.claims:
            sooner, later = sorted(map(remove_date, ground.claims))
            return f"Which came first: “{sooner}”, or “{later}”?"
        case "temporal":
            begin, end = ground.times
            return f"What changed in what is said of {_name_in_sentence(entities[0])} between {begin} and {end}?"
        case "disambiguation":
            meant, mark, *others = entities
            what = f"the {ground.other.title()}"
            if others and fold(meant.name) == fold(others[0].name) and fold(meant.type) != fold(others[0].type):
                what = f"{meant.name}, the {meant.type.casefold()}"
            return f"What is said of {what} that has to do with {_name_in_sentence(mark)}?"
        case "global":
            *names, last = map(_name_in_sentence, entities)
            listed = f"{', '.join(names)} and {last}"
            return f"What are the main themes in all that is said of {listed}, and how do they hang together?"
        case "adversarial":
            (sentence,) = told
            return f"{_question_word(sentence.subject)} {f'{sentence.head} {ground.other} {sentence.after}'.strip()}?"


def has_template(kind: Kind, *, english: bool) -> bool:
    """Whether there is a template of this class in the language."""
    return english or kind in _GAPPED


def _question_word(entity: Entity) -> str:
    return "Who" if fold(entity.type) == "person" else "What"


def _name_in_sentence(entity: Entity) -> str:
    """An entity inside a sentence: what is no name gets its article."""
    return entity.name if entity.name[:1] != entity.name[:1].lower() else f"the {entity.name}"
