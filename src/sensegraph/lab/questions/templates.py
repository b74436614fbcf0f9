"""Questions by rule, from what the graph is grounded in: no model, and labelled `template`.

They hold the words of the sentences that they are made from, so they are easier to find evidence for than a person's
questions, for methods that look for words most of all: compare methods by them, and never with other sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from sensegraph.lab.questions.grounds import Ground, undated
from sensegraph.lab.questions.posed import Kind, Posed
from sensegraph.lab.questions.told import GAP
from sensegraph.language.text import fold
from sensegraph.types import Entity


def posed(ground: Ground, documents: Sequence[str], *, english: bool = True) -> Posed:
    """The question that a template makes of a ground, whose chunks are of `documents`.

    In other languages than English sentences get a gap, and only the classes that need no words of ours are asked.
    """
    wording = _WORDINGS[ground.kind] if english else _GAPPED[ground.kind]
    answers = tuple(dict.fromkeys(e.name for e in ground.entities[:1])) if ground.kind in _ANSWERED else ()
    if ground.claims:
        answers = (undated(ground.claims[0]),)
    evidence = () if ground.kind == "adversarial" else ground.chunks
    return Posed(
        wording(ground),
        ground.kind,
        "template",
        evidence,
        tuple(dict.fromkeys(documents)) if evidence else (),
        answers,
        tuple(e.name for e in ground.entities),
        max(1, len(ground.told)) if ground.kind in ("bridge", "intersection") else 1,
    )


_ANSWERED = frozenset(("local", "bridge", "intersection"))


def worded(kind: Kind, *, english: bool) -> bool:
    """Whether there is a template of this class in the language."""
    return english or kind in _GAPPED


def _who(entity: Entity) -> str:
    return "Who" if fold(entity.type) == "person" else "What"


def _local(ground: Ground) -> str:
    (one,) = ground.told
    return f"Which name is missing here: “{one.rest}”?" if GAP in one.rest else f"{_who(one.subject)} {one.rest}?"


def _bridge(ground: Ground) -> str:
    """Each sentence but the last gives up the name of what the next one is about, which says what is meant."""
    if ground.other:
        return f"What links {_called(ground.entities[1])} with {_called(ground.entities[2])}?"
    text = ground.told[-1].rest
    for one in ground.told[-2::-1]:
        text = f"{one.head} the one that {text}{f', {one.after}' if one.after else ''}"
    return f"{_who(ground.told[0].subject)} {text}?"


def _intersection(ground: Ground) -> str:
    one, other = ground.told
    also = "" if "also" in other.rest.split() else "also "
    return f"{_who(one.subject)} {one.rest}, and {also}{other.rest}?"


def _comparison(ground: Ground) -> str:
    one, other, shared = ground.entities
    return f"How do {one.name} and {other.name} differ in what they have to do with {_called(shared)}?"


def _temporal(ground: Ground) -> str:
    if ground.claims:
        first, second = sorted(map(undated, ground.claims))
        return f"Which came first: “{first}”, or “{second}”?"
    first, last = ground.times
    return f"What changed in what is said of {_called(ground.entities[0])} between {first} and {last}?"


def _disambiguation(ground: Ground) -> str:
    one, mark, *others = ground.entities
    if others and fold(one.name) == fold(others[0].name) and fold(one.type) != fold(others[0].type):
        return f"What is said of {one.name}, the {one.type.casefold()} that has to do with {_called(mark)}?"
    return f"What is said of the {ground.other.title()} that has to do with {_called(mark)}?"


def _called(entity: Entity) -> str:
    """An entity inside a sentence: what is no name gets its article."""
    return entity.name if entity.name[:1] != entity.name[:1].lower() else f"the {entity.name}"


def _global(ground: Ground) -> str:
    *first, last = map(_called, ground.entities)
    return (
        f"What are the main themes in all that is said of {', '.join(first)} and {last}, and how do they hang together?"
    )


def _adversarial(ground: Ground) -> str:
    (one,) = ground.told
    return f"{_who(one.subject)} {f'{one.head} {ground.other} {one.after}'.strip()}?"


def _gap(ground: Ground) -> str:
    (one,) = ground.told
    return one.rest if GAP in one.rest else f"{GAP} {one.rest}?"


def _gaps(ground: Ground) -> str:
    return " … ".join(f"{GAP} {one.rest}" for one in ground.told) + "?"


_WORDINGS: Mapping[Kind, Callable[[Ground], str]] = MappingProxyType(
    {
        "local": _local,
        "bridge": _bridge,
        "intersection": _intersection,
        "comparison": _comparison,
        "temporal": _temporal,
        "disambiguation": _disambiguation,
        "global": _global,
        "adversarial": _adversarial,
    }
)
_GAPPED: Mapping[Kind, Callable[[Ground], str]] = MappingProxyType({"local": _gap, "intersection": _gaps})
