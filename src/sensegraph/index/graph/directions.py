"""Which end of a relation its texts name first: who acts, where they tell it one way.

Relations are stored without a direction. What is known of it is how the texts put it: a text that names one end before
the other tells the relation that way ("Ann founded Acme"; "Acme was founded by Ann" tells another). Where texts that
hold the relation's label name both ends, they alone count. Some tell it both ways, some name only one end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sensegraph.language.text import HAN, is_word_character
from sensegraph.types import Entity, Relation

FORTH, BACK = 1, 2  # texts name the source first, the target first; their sum for both, 0 where it is not known


def list_forms(entity: Entity) -> tuple[str, ...]:
    """What texts call an entity, in small letters, its name first."""
    return tuple(dict.fromkeys(form.lower() for form in (entity.name, *entity.aliases) if form.strip()))


def read_direction(relation: Relation, called: Mapping[str, tuple[str, ...]]) -> int:
    """How the texts of a relation tell it: a sum of FORTH and BACK."""
    texts = dict.fromkeys(d.text.lower() for d in relation.descriptions)
    ways = [_compare_positions(text, called[relation.source], called[relation.target]) for text in texts]
    if relation.label:
        label = relation.label.replace("_", " ").lower()
        saying = [way for text, way in zip(texts, ways, strict=True) if label in text]
        ways = saying if any(saying) else ways
    return (FORTH if FORTH in ways else 0) + (BACK if BACK in ways else 0)


def _compare_positions(text: str, source: tuple[str, ...], target: tuple[str, ...]) -> int:
    """Which of two entities a text names first; 0 where it does not name both.

    A name within a longer one of the other ("Berg" in "Anna Berg") is not counted, and what both are called counts
    for the one whose name it is.
    """
    first = list(_find_names(text, _distinct_forms(source, target)))
    second = list(_find_names(text, _distinct_forms(target, source)))
    first, second = _drop_contained(first, second), _drop_contained(second, first)
    if not first or not second:
        return 0
    return FORTH if min(first) < min(second) else BACK


def _distinct_forms(forms: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    """The names of one that are not another's; the first is what most texts call it."""
    return [f for f in forms if f not in others or (f == forms[0] and f != others[0])]


def _find_names(text: str, forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where a text has one of these names as whole words."""
    for form in forms:
        begin = text.find(form)
        while begin >= 0:
            end = begin + len(form)
            if not (_splits_word(text, begin) or _splits_word(text, end)):
                yield begin, end
            begin = text.find(form, end)


def _splits_word(text: str, border: int) -> bool:
    """Whether a word goes on across a border."""
    return 0 < border < len(text) and _is_spaced_letter(text[border - 1]) and _is_spaced_letter(text[border])


def _is_spaced_letter(c: str) -> bool:
    return is_word_character(c) and not HAN.match(c)


def _drop_contained(spans: list[tuple[int, int]], others: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [s for s in spans if not any(o[0] <= s[0] and s[1] <= o[1] for o in others)]
