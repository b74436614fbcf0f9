"""Questions for all things of a kind, and the names that texts put beside its noun; lists as texts set them."""

from __future__ import annotations

import pytest

from sensegraph.language.asking.enumerations import read_enumerations
from sensegraph.language.asking.kinds import asks_for_several, find_list, read_asked_kind

KINDS = [
    ("Which bridges were closed in 2019?", ("bridges",), "were closed in 2019", False),
    ("which well-known choirs sing in the hall", ("well-known", "choirs"), "sing in the hall", False),
    ("How many church bells are there?", ("church", "bells"), "are there", True),
    ("List all the parish meetings", ("parish", "meetings"), "", False),
    ("What are the rules of the library?", ("rules",), "of the library", False),
    ("Who are our patrons?", ("patrons",), "", False),
    ("Welche Brücken wurden gesperrt?", ("Brücken",), "wurden gesperrt", False),
    ("Wie viele Stimmen gab es?", ("Stimmen",), "gab es", True),
]


@pytest.mark.parametrize(("question", "words", "rest", "counts"), KINDS)
def test_a_question_names_a_kind(question: str, words: tuple[str, ...], rest: str, counts: bool) -> None:
    kind = read_asked_kind(question)
    assert kind is not None
    assert (kind.words, kind.rest, kind.counts) == (words, rest, counts)
    assert asks_for_several(question)


@pytest.mark.parametrize(
    "question",
    ["Which lake feeds the canal?", "Which was there first?", "Who is the vicar?", "Which bus runs?"],
)
def test_other_questions_name_none(question: str) -> None:
    assert read_asked_kind(question) is None


NAMES = [
    ("choirs", "The choirs of the valley, Alder and Marsh Voices, sing today.", ["Alder", "Marsh Voices"]),
    ("choirs", "Alder Voices is our third choir.", ["Alder Voices"]),
    ("choirs", "The parish has three choirs: Alder, Marsh and the Cole Singers.", ["Alder", "Marsh", "Cole Singers"]),
    ("choirs", "Marsh Voices, a small choir, sings on Sundays.", ["Marsh Voices"]),
    ("choirs", "With Alder, the parish has four choirs again.", ["Alder"]),
    ("choirs", "Anna Berg sang for the choirs.", []),
    ("choirs", "Marsh Hall is the choir master, and Cole the Choir Agreement. All choirs are Anglican.", []),
    ("cases", "Both follow from case LX-7 of May.", ["LX-7"]),
    ("options", "The options are “fast”, “slow” and “off”.", ["fast", "slow", "off"]),
    ("ports", "The port of Skerry is closed.", ["Skerry"]),
    ("choirs", "Choirs such as: Alder, from the hill; Marsh, from the fen; and Cole.", ["Alder", "Marsh", "Cole"]),
]


@pytest.mark.parametrize(("noun", "text", "names"), NAMES)
def test_names_stand_beside_their_kind(noun: str, text: str, names: list[str]) -> None:
    kind = read_asked_kind(f"Which {noun} are there?")
    assert kind is not None
    assert [name for name, _ in kind.find_names(text)] == names


def test_a_long_list_of_names_is_read_in_time() -> None:
    """Names that could be parted in many ways took minutes."""
    kind = read_asked_kind("Which works are there?")
    assert kind is not None
    names = [f"Name{i} van Der{i}, {i}A de la Cole" for i in range(60)]
    text = (
        f"Other artists with works in the hall include: {', '.join(names)} and so on, which were never shown as work."
    )
    assert len(list(find_list(text))) > 0
    assert list(kind.find_names(text)) == []


def test_lists_are_read_with_what_leads_in() -> None:
    text = (
        "Rules of the library:\n\n- Books are kept dry.\n- Dogs wait outside,\n  also small ones.\n- Nobody sings.\n\n"
        "1. First of two.\n2. Second of two.\n\nThe rooms are:\n\nnave\n    where people sit\n"
        "tower\n    with the bells\ncrypt\n    closed\n"
    )
    found = [(text[slice(*e.lead)], [text[a:b] for a, b in e.entries]) for e in read_enumerations(text)]
    assert found == [
        (
            "Rules of the library:",
            ["Books are kept dry.", "Dogs wait outside,\n  also small ones.", "Nobody sings."],
        ),
        ("The rooms are:", ["nave\n    where people sit", "tower\n    with the bells", "crypt\n    closed"]),
    ]
