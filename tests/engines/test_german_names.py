"""Names in German, where every noun has a capital."""

from __future__ import annotations

import pytest

from sensegraph.engines.offline.extraction.corpus_reading import read_together
from sensegraph.engines.offline.extraction.german_names import is_listed_noun
from sensegraph.types import Chunk


def names_in(*texts: str) -> list[set[str]]:
    documents = [(Chunk(f"c{i}", f"d{i}", 0, len(t), 0, t),) for i, t in enumerate(texts)]
    return [{e.name for e in one.entities if e.type != "concept"} for (one,) in read_together(documents)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Im Herbst kam der Dichter Oswin Tarnwick nach Ostrau und blieb dort.", {"Oswin Tarnwick", "Ostrau"}),
        ("Dort steht das Tarnwick-Museum, und die Chor-Leiterin Anna Berg singt.", {"Tarnwick-Museum", "Anna Berg"}),
        ("Er wohnte im Tarnwick House und fuhr mit dem Zug nach Frankreich.", {"Tarnwick House", "Frankreich"}),
        ("Die Verwaltung hat die Zeitungen und die Vorlesung nicht bezahlt.", set()),
    ],
)
def test_common_nouns_are_cut_from_names_and_are_none(text: str, names: set[str]) -> None:
    assert names_in(text)[0] == names


def test_the_corpus_shows_which_words_are_nouns() -> None:
    told = "Sie sah den Quorrel und keinen Quorrel mehr, und mit einem Quorrel ist es aus."
    asked = "Er war bei Quorrel zu Gast, und das war alles, was er von ihnen hat."
    assert names_in(asked) == [{"Quorrel"}]
    assert names_in(asked, told) == [set(), set()]


def test_inflected_words_are_nouns_and_names_take_only_an_s() -> None:
    text = "Er fand dort Plumpel und hat mit Plumpeln gespielt, aber nicht mit Ostrau und Ostraus Leuten."
    assert names_in(text)[0] == {"Ostrau", "Ostraus"}


@pytest.mark.parametrize("word", ["dichter", "dichtern", "vorlesung", "hauptgebäudes", "nachbarhaus", "kundschaften"])
def test_nouns_are_known_inflected_and_at_the_end_of_compounds(word: str) -> None:
    assert is_listed_noun(word)


@pytest.mark.parametrize("word", ["ostrau", "tarnwick", "anna"])
def test_names_are_no_nouns(word: str) -> None:
    assert not is_listed_noun(word)
