"""Which chain of sentences is taken, how long it may be; and more bounds of changes, comparisons and relations."""

from __future__ import annotations

import pytest

from form_corpora import passages
from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.relating.chains import answer_chain
from sensegraph.engines.offline.answers.relating.changes import answer_changes
from sensegraph.engines.offline.answers.relating.comparisons import answer_comparison
from sensegraph.engines.offline.answers.relating.parts import answer_parts
from sensegraph.engines.offline.answers.relating.relations import answer_relation
from sensegraph.engines.offline.answers.relating.successions import answer_succession
from sensegraph.engines.offline.answers.source_sentences import read_source_sentences

NAMES = "Arn Belk,Cor Dunn,Eda Falk,Gil Hart,Ivo Jost,Kai Lund,Mia Nord,Oda Prus,Rik Senn,Tea Ulm".split(",")
VERBS = "hired taught painted robbed cured sold".split()
ASKED = "Did Arn Belk, by whom somebody was hired, taught, painted, robbed, cured and sold, know {}?"


def lines_of(form: object, question: str, *told: str, **titled: str) -> list[str]:
    texts = {"Book": " ".join(told)} if told else {k.replace("_", " "): v for k, v in titled.items()}
    chunks = passages(texts)
    written = form(Asked(question, chunks, tuple(read_source_sentences(chunks, "en"))))  # type: ignore[operator]
    text = "".join(s.text for s in written.statements) if written else ""
    return [line.removeprefix("- ") for line in text.splitlines() if line]


def link(count: int) -> list[str]:
    """So many sentences, each of which leads from one name to the next by a verb of the question."""
    return [f"{NAMES[i]} {VERBS[i]} {NAMES[i + 1]}." for i in range(count)]


@pytest.mark.parametrize(("count", "found"), [(1, False), (2, False), (3, True), (4, True), (5, True), (6, False)])
def test_a_chain_has_three_to_five_sentences(count: int, found: bool) -> None:
    assert lines_of(answer_chain, ASKED.format(NAMES[count]), *link(count)) == (link(count) if found else [])


def test_each_sentence_of_a_chain_holds_a_word_that_no_other_holds() -> None:
    told = link(4)
    told[2] = f"{NAMES[2]} met {NAMES[3]}."
    assert lines_of(answer_chain, ASKED.format(NAMES[4]), *told) == []


def test_a_name_that_stands_in_many_sentences_makes_a_way_longer() -> None:
    def way(crowd: int) -> list[str]:
        short = ["Arn Belk hired Big Hub.", "Big Hub taught Gil Hart.", "Gil Hart painted Ivo Jost."]
        long = ["Arn Belk robbed Kai Lund.", "Kai Lund cured Mia Nord.", "Mia Nord sold Oda Prus.",
                "Oda Prus hired and painted Ivo Jost."]  # fmt: skip
        fill = [f"Big Hub slept on day number {chr(97 + i % 26)}{chr(97 + i // 26)}." for i in range(crowd)]
        return lines_of(answer_chain, ASKED.format("Ivo Jost"), *short, *long, *fill)

    assert way(0)[0] == "Arn Belk hired Big Hub."
    assert way(4)[0] == "Arn Belk hired Big Hub."
    assert way(250)[0] == "Arn Belk robbed Kai Lund."


def test_of_ways_as_long_the_one_that_holds_more_of_the_question_is_taken() -> None:
    poor = ["Arn Belk hired Cor Dunn.", "Cor Dunn taught Eda Falk.", "Eda Falk painted Ivo Jost."]
    rich = [
        "Arn Belk hired and sold Kai Lund.",
        "Kai Lund taught and robbed Mia Nord.",
        "Mia Nord painted and cured Ivo Jost.",
    ]
    for told in ([*poor, *rich], [*rich, *poor]):
        assert lines_of(answer_chain, ASKED.format("Ivo Jost"), *told) == rich


def test_a_sentence_of_more_than_eight_names_joins_nothing() -> None:
    def told(names: int) -> list[str]:
        crowd = ", ".join(["Cor Dunn", *[f"Xan {w}" for w in "Ab Ec Id Of Ug Yh Ej".split()][: names - 2]])
        return [f"Arn Belk hired {crowd}.", "Cor Dunn taught Eda Falk.", "Eda Falk painted Ivo Jost."]

    assert len(lines_of(answer_chain, ASKED.format("Ivo Jost"), *told(6))) == 3
    assert lines_of(answer_chain, ASKED.format("Ivo Jost"), *told(9)) == []


def test_a_question_in_the_text_is_no_link() -> None:
    told = link(3)
    assert lines_of(answer_chain, ASKED.format(NAMES[3]), *told[:2], told[2].replace(".", "?")) == []
    assert lines_of(answer_chain, "Who hired, taught and painted Arn Belk?", *told) == []


def test_a_chain_holds_half_of_what_is_asked() -> None:
    more = ASKED.format(NAMES[3]).replace(
        "hired", "hired, seen in Rome, Paris, Vienna, Prague, Oslo, Bern and Turin, hired"
    )
    assert lines_of(answer_chain, more, *link(3)) == []


# ── changes ──


def test_what_holds_most_of_the_thing_is_shown_of_many_sentences() -> None:
    told = [
        "In 1990 the toll of the old bridge was a penny.", "In 1991 people cursed any toll on that old bridge.",
        "In 1992 cars had to give a bridge toll, old men said.", "In 1993 thieves took an old box with bridge toll.",
        "In 1994 snow fell; the old bridge asked no toll.", "In 1995 nobody on the old bridge would collect toll.",
        "In 1996 an old bridge clerk doubled what toll cost.", "In 1997 the old mill was sold to a bishop.",
    ]  # fmt: skip
    found = lines_of(answer_changes, "How has the toll of the old bridge changed?", *told)
    assert found == [t for t in told if t in found]
    assert len(found) > 3
    assert told[7] not in found
    assert (
        lines_of(
            answer_changes, "How has the toll of the old bridge changed?", told[0], "In 1990 the old bridge took toll."
        )
        == []
    )
    weak = "In 1989 a toll was new."
    assert weak not in lines_of(answer_changes, "How has the toll of the old bridge changed?", *told[:3], weak)
    assert lines_of(answer_changes, "How has the wine changed?", *told) == []


# ── comparisons ──


def test_two_things_are_told_apart_by_their_words_or_numbers() -> None:
    told = [
        "Fern 1.9 draws maps of the sea.",
        "Fern 2.0 prints big tables quickly.",
        "The hen lays eggs.",
        "The duck swims.",
    ]
    assert len(lines_of(answer_comparison, "How do Fern 1.9 and Fern 2.0 differ?", *told)) == 2
    assert lines_of(answer_comparison, "How do Fern and Fern Pro differ?", *told) == []
    assert lines_of(answer_comparison, "How do Fern Pro and Fern differ?", *told) == []
    assert lines_of(answer_comparison, "How do the hen and the duck differ?", *told) == [
        "**Hen**: The hen lays eggs.", "**Duck**: The duck swims.",
    ]  # fmt: skip
    assert lines_of(answer_comparison, "How do the hen and the goose differ?", *told) == []
    assert lines_of(answer_comparison, "How do the hen and the of differ?", *told) == []


def test_of_sentences_on_both_things_the_one_with_a_contrast_is_shown() -> None:
    both = [
        "The hen and the duck eat corn.",
        "The hen lays eggs daily, while the duck rests.",
        "The hen and the duck drink.",
    ]
    found = lines_of(answer_comparison, "How do the hen and the duck differ?", *both)
    assert found == [both[1]]
    same = ["The hen and the duck eat corn.", "A fox took the hen and the duck."]
    assert lines_of(answer_comparison, "How do the hen and the duck differ?", *same) == same[:1]


# ── relations ──


@pytest.mark.parametrize(
    ("question", "text", "names"),
    [
        ("Who taught Ann Lee?", "Ann Lee was taught by Bo Berg.", ["Bo Berg"]),
        ("Who taught Ann Lee?", "Ann Lee taught Bo Berg.", []),
        ("Who did Ann Lee teach?", "Bo Berg was taught by Ann Lee.", ["Bo Berg"]),
        ("Who did Ann Lee teach?", "Ann Lee was taught by Bo Berg.", []),
        ("Who did Ann Lee teach?", "Ann Lee was taught in Rome.", []),
        ("Who did Ann Lee marry?", "Ann Lee was married to Bo Berg.", ["Bo Berg"]),
        ("Who married Ann Lee?", "Ann Lee married Bo Berg.", ["Bo Berg"]),
        ("Who married Ann Lee?", "Bo Berg married Ann Lee.", ["Bo Berg"]),
        ("Who taught Ann Lee?", "Rain fell. Cy Dahl sang. Bo Berg taught Ann Lee.", ["Bo Berg"]),
        ("Who taught Ann Lee?", "Cy Dahl sang; Bo Berg taught Ann Lee.", ["Bo Berg"]),
        ("Who taught Ann Lee?", "Bo Berg taught maths, but Ann Lee sang.", []),
        ("Who taught Ann Lee?", "Bo Berg taught Ann Lee and Cy Dahl. Bo Berg often taught Ann Lee.", ["Bo Berg"]),
        ("Who taught Ann Lee?", "Cy Dahl and Bo Berg taught Ann Lee. Bo Berg taught Ann Lee in a cold room in "
         "May.", ["Cy Dahl, Bo Berg"]),
    ],
)  # fmt: skip
def test_who_acts_stands_before_an_active_verb_and_behind_by(question: str, text: str, names: list[str]) -> None:
    assert [line.split("**")[1] for line in lines_of(answer_relation, question, text)] == names


def test_a_name_of_five_words_is_looked_for_and_a_longer_one_not() -> None:
    five, six = "School of Art of Elm", "Old School of Art of Elm"
    assert len(lines_of(answer_relation, f"Who founded {five}?", f"Ann Lee founded {five}.")) == 1
    assert lines_of(answer_relation, f"Who founded {six}?", f"Ann Lee founded {six}.") == []


# ── what follows, and parts ──


def test_titles_that_differ_by_a_number_only_are_versions_of_one_thing() -> None:
    texts = {
        "Moss_1.9": "It draws.",
        "Moss_2.0": "It prints.",
        "Kelp_1.95": "It sings.",
        "Notes": "There were 3.5 litres.",
    }
    (line,) = lines_of(answer_succession, "Which release came after 1.9?", **{
        k: f"# {k.replace('_', ' ')}\n\n{k.replace('_', ' ')} is out. {v}" for k, v in texts.items()
    })  # fmt: skip
    assert line.startswith("**2.0**: ")
    plain = "Version 1.9 is out. It weighs 1.95 kilos. Version 2.1 is planned."
    assert lines_of(answer_succession, "Which version came after 1.9?", plain)[0].startswith("**2.1**: ")
    assert (
        lines_of(answer_succession, "Which version came after 1.9?", "It weighs 1.9 kilos. Version 2.1 is planned.")
        == []
    )


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who painted the gate, and who wrote it?", 2), ("Who painted the gate, and why?", 2),
        ("Who painted the gate, and where is it?", 0), ("Who painted the gate?", 0),
        ("Who painted the gate, and why, and who wrote it?", 0),
    ],
)  # fmt: skip
def test_a_question_of_two_parts_asks_why_or_who_told(question: str, parts: int) -> None:
    text = "Bo Berg painted the gate.\n\nCause: the gate had rust.\n\nYours truly,\n\nAnn Lee"
    assert len(lines_of(answer_parts, question, text)) == parts
