"""Labels that name who speaks, and what a text shows of talk: worked examples."""

from __future__ import annotations

import pytest

from sensegraph.language.speakers import (
    count_spellings,
    find_labels,
    find_name_span,
    judge_label,
    name_speakers,
    names_role,
    read_turns,
    recase_label,
    split_spoken,
    write_label,
)
from sensegraph.language.transcripts import Talk, add_talks, find_speakers, knows_speakers, observe_talk


def list_labels(text: str) -> list[tuple[str, str, bool, bool, bool]]:
    found = find_labels(text)
    return [(text[a.start : a.name_end], text[a.name_end : a.end], a.named, a.sure, a.loud) for a in found]


def list_names_in_labels(text: str) -> list[str]:
    return [text[slice(*find_name_span(text, label))] for label in find_labels(text)]


def read_who(text: str, speakers: dict[str, str], breaks: list[int]) -> list[tuple[int, int, str]]:
    turns = read_turns(text, speakers, breaks)
    return [(place, turns.behind(place), turns.at(place)) for place in range(0, len(text), 4)]


def observe(text: str) -> tuple[object, ...]:
    talk = observe_talk(text)
    return (talk.lines, talk.counts, talk.sure, talk.loud, talk.others, talk.steps, talk.changes, talk.usual,
            talk.turns, talk.spoken)  # fmt: skip


def find_who(lines: int, counts: dict[str, int], numbers: list[int]) -> list[str]:
    """The speakers of a text of so many lines; the numbers are the rest of what `Talk` holds, in its order."""
    return sorted(find_speakers(Talk(lines, counts, *numbers)))


def knows(lines: int, counts: dict[str, int], loud: int, turns: int, spoken: int, known: list[str]) -> bool:
    return knows_speakers(Talk(lines, counts, loud=loud, turns=turns, spoken=spoken), frozenset(known))


def add(texts: list[str]) -> tuple[object, ...]:
    talk = add_talks([observe_talk(text) for text in texts])
    return talk.lines, talk.counts, talk.sure, talk.others, talk.steps, talk.turns


def hears_behind(gap: int) -> int:
    return observe_talk(f"Anna: a b c d e {'x' * gap} I").spoken


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna: hello\nTom Reeve : hi", [("Anna", ":", True, True, False), ("Tom Reeve", " :", True, True, False)]),
        (
            "he came. KEVIN SCOTT: I go",
            [("he came. KEVIN SCOTT", ":", False, False, False), ("KEVIN SCOTT", ":", True, True, True)],
        ),
        ("One Two Three Four Five: x", []),
        ("The Chair: x", [("The Chair", ":", True, True, False)]),
    ],
)
def test_labels_stand_at_lines_and_behind_stops(text: str, expected: list[tuple[object, ...]]) -> None:
    assert list_labels(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("王芳王芳王芳", (True, True)),
        ("王芳王芳王芳王", (False, False)),
        ("王a", (False, False)),
        ("Anna berg", (False, False)),
        ("The", (False, False)),
        ("Lamp", (True, False)),
        ("Speaker 2", (True, True)),
        ("Rana el Kaliouby", (True, True)),
        ("First Keeper", (False, False)),
        ("A", (False, False)),
        ("Question A", (True, True)),
    ],
)
def test_a_label_can_name_somebody_and_does_so_by_itself(name: str, expected: tuple[object, ...]) -> None:
    assert judge_label(name) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("professor e", True),
        ("lamp", True),
        ("mark", False),
        ("the mark", True),
        ("the lamp keeper", True),
        ("anna 1", False),
    ],
)
def test_a_role_may_be_that_of_many(key: str, expected: bool) -> None:
    assert names_role(key) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann Lee AM: x", ["Ann Lee"]),
        ("Mr Hon. Ann Lee: x", ["Ann Lee"]),
        ("Dr Lee: x", ["Dr Lee"]),
        ("Mr Ann QC: x", ["Ann QC"]),
    ],
)
def test_a_name_stands_between_titles_and_honours(text: str, expected: list[str]) -> None:
    assert list_names_in_labels(text) == expected


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("Tom. tom, TOM", ["TOM", "ANNA"], {"Tom": 1, "tom": 1}),
    ],
)
def test_spellings_but_capitals_are_counted(text: str, names: list[str], expected: dict[str, int]) -> None:
    assert count_spellings(text, names) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("FEI-FEI LI", "Fei-Fei Li"),
        ("KEVIN'S", "Kevin's"),
        ("MCDONALD", "McDonald"),
        ("MCD", "Mcd"),
        ("JJ ABRAMS", "JJ Abrams"),
        ("BERG VAN", "Berg Van"),
        ("D’ARCY LEE", "D’Arcy Lee"),
        ("ANN Y LEE", "Ann Y Lee"),
        ("XYZ DE LEE", "Xyz de Lee"),
    ],
)
def test_a_shouted_label_is_written_as_a_name(label: str, expected: str) -> None:
    assert write_label(label) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("2ND MATE", "2nd Mate"),
    ],
)
def test_a_label_is_recased(label: str, expected: str) -> None:
    assert recase_label(label) == expected


@pytest.mark.parametrize(
    ("keys", "labels", "forms", "expected"),
    [
        (["anna"], {"anna": "ANNA"}, {"Anna": 2, "anna": 3}, {"anna": "anna"}),
        (["anna"], {}, {"Anna": 2, "anna": 2}, {"anna": "Anna"}),
        (["tom", "anna"], {"tom": "Tom"}, {"Anna": 1}, {"anna": "Anna", "tom": "Tom"}),
    ],
)
def test_speakers_are_written_as_the_corpus_writes_them_most(
    keys: list[str], labels: dict[object, object] | dict[str, str], forms: dict[str, int], expected: dict[str, str]
) -> None:
    assert name_speakers(keys, labels, forms) == expected


@pytest.mark.parametrize(
    ("text", "speakers", "breaks", "expected"),
    [
        (
            "Hm.\nAnna: we go now.\nTom: I stay.\n",
            {"anna": "Anna"},
            [],
            [
                (0, 0, ""),
                (4, 9, "Anna"),
                (8, 9, "Anna"),
                (12, 12, "Anna"),
                (16, 16, "Anna"),
                (20, 20, "Anna"),
                (24, 24, ""),
                (28, 28, ""),
                (32, 32, ""),
            ],
        ),
        (
            "Anna: we go now and then.",
            {"anna": "Anna"},
            [12],
            [(0, 5, "Anna"), (4, 5, "Anna"), (8, 8, "Anna"), (12, 12, ""), (16, 16, ""), (20, 20, ""), (24, 24, "")],
        ),
    ],
)
def test_turns_lead_from_label_to_label(
    text: str, speakers: dict[str, str], breaks: list[int], expected: list[tuple[object, ...]]
) -> None:
    assert read_who(text, speakers, breaks) == expected


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("Anna: It works.", 9, ("Anna", "It works.")),
        ("Anna: It works.", 8, ("", "Anna: It works.")),
        ("Anna: “It works.”", 99, ("Anna", "“It works.”")),
        (
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA: x",
            1,
            ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "x"),
        ),
        (
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA: x",
            1,
            ("", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA: x"),
        ),
    ],
)
def test_what_is_said_stands_behind_its_speaker(text: str, size: int, expected: tuple[object, ...]) -> None:
    assert split_spoken(text, size) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                "Anna: Shall we light the lamp tonight?\nTom: I have no oil left, so you must "
                "wait.\nAnna: When do you get some?\nTom: On Friday, I think.\nAnna: Then we wait "
                "for you.\nTom: Thank you.\n"
            ),
            (6, {"anna": 3, "tom": 3}, 6, 0, 0, 5, 5, 5, 5, 5),
        ),
        ("王芳：你好你\n李明：我今天来\n", (2, {"李明": 1, "王芳": 1}, 2, 0, 0, 1, 1, 1, 1, 1)),
        (
            "Anna: q r s t\nTom: q r s t\nAnna: q r s t\nIda: q r s t\nAnna: q\nTom: q r s\n",
            (6, {"anna": 3, "ida": 1, "tom": 2}, 6, 0, 0, 5, 5, 4, 4, 0),
        ),
    ],
)
def test_a_text_shows_what_there_is_of_talk(text: str, expected: tuple[object, ...]) -> None:
    assert observe(text) == expected


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (388, 0),
    ],
)
def test_speech_is_looked_for_in_400_characters(gap: int, expected: int) -> None:
    assert hears_behind(gap) == expected


@pytest.mark.parametrize(
    ("lines", "counts", "numbers", "expected"),
    [
        (10, {"a": 3, "b": 2}, [6, 0, 0, 5, 5, 0, 4, 1], ["a"]),
        (10, {"a": 2, "b": 2}, [4, 2, 0, 5, 5, 0, 4, 1], []),
        (10, {"a": 2, "b": 2}, [4, 3, 0, 5, 5, 0, 4, 1], ["a", "b"]),
        (40, {"a": 3, "b": 3}, [6, 0, 0, 5, 5, 0, 4, 1], ["a", "b"]),
        (41, {"a": 3, "b": 3}, [6, 0, 0, 5, 5, 0, 4, 1], []),
        (10, {"a": 3, "b": 3}, [6, 0, 6, 5, 5, 0, 4, 1], ["a", "b"]),
        (10, {"a": 3, "b": 3}, [6, 0, 7, 5, 5, 0, 4, 1], []),
        (10, {"a": 3, "b": 3}, [1, 0, 0, 5, 5, 0, 4, 1], []),
        (10, {"a": 5, "b": 5}, [3, 0, 0, 5, 5, 0, 4, 1], ["a", "b"]),
        (10, {"a": 3, "b": 3}, [6, 0, 0, 5, 1, 0, 4, 1], ["a", "b"]),
        (10, {"a": 3, "b": 3}, [6, 0, 0, 5, 5, 0, 5, 1], []),
        (10, {"a": 4, "b": 4, "c": 4}, [12, 0, 0, 10, 10, 9, 4, 1], []),
        (10, {"a": 4, "b": 4, "c": 4}, [12, 0, 0, 10, 10, 8, 4, 1], ["a", "b", "c"]),
        (10, {"a": 4, "b": 4, "c": 4}, [12, 0, 0, 9, 9, 9, 4, 1], []),
        (10, {"a": 4, "b": 4, "c": 4}, [12, 0, 0, 8, 8, 8, 4, 1], ["a", "b", "c"]),
        (10, {"a": 6, "b": 6}, [12, 0, 0, 10, 10, 10, 4, 1], ["a", "b"]),
    ],
)
def test_speakers_come_back_change_and_speak(
    lines: int, counts: dict[str, int], numbers: list[int], expected: list[str]
) -> None:
    assert find_who(lines, counts, numbers) == expected


@pytest.mark.parametrize(
    ("lines", "counts", "loud", "turns", "spoken", "known", "expected"),
    [
        (10, {"a": 2, "b": 1}, 0, 4, 1, ["a"], True),
        (2, {"a": 1}, 0, 1, 1, ["a"], True),
        (3, {"a": 1}, 0, 1, 1, ["a"], False),
        (10, {"a": 2, "b": 3}, 0, 4, 1, ["a"], False),
        (10, {"a": 2, "b": 2}, 0, 4, 1, ["a"], True),
        (10, {"a": 2}, 0, 5, 1, ["a"], False),
        (10, {"a": 2}, 1, 4, 0, ["a"], False),
    ],
)
def test_talk_of_known_speakers_is_known(
    lines: int, counts: dict[str, int], loud: int, turns: int, spoken: int, known: list[str], expected: bool
) -> None:
    assert knows(lines, counts, loud, turns, spoken, known) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["Anna: I go to sea\nnote: b", "Tom: we go to sea"], (3, {"anna": 1, "tom": 1}, 2, 1, 0, 2)),
    ],
)
def test_talks_add_up(texts: list[str], expected: tuple[object, ...]) -> None:
    assert add(texts) == expected
