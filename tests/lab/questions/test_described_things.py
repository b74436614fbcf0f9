"""Questions on what English sentences say outright: what a thing is, and what it does."""

from __future__ import annotations

import pytest

from sensegraph.lab.questions.described_things import PlainFacts, reads_well
from sensegraph.types import Chunk


def facts(*texts: str, document: str = "notes") -> PlainFacts:
    return PlainFacts.of(Chunk(f"c{i}", f"{document}{i}", 0, len(t), 0, t) for i, t in enumerate(texts))


def asked(found: PlainFacts) -> list[tuple[str, tuple[str, ...]]]:
    return [(w.text, w.answers) for w in (*found.ask_local(), *found.ask_bridges(), *found.ask_comparisons())]


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        (
            "JsonCpp is a C++ library that allows reading and writing of JSON values.",
            "Which C++ library allows reading and writing of JSON values?",
            "JsonCpp",
        ),
        (
            "Libxcrypt (a fork) is a modern library for one-way hashing of passwords.",
            "Which modern library is for one-way hashing of passwords?",
            "Libxcrypt",
        ),
        (
            "Hesiod is a name service based on the Berkeley daemon.",
            "What is Hesiod?",
            "a name service based on the Berkeley daemon",
        ),
        ("Zstd is the reference implementation of its format.", None, None),  # whose
        ("JsonCpp is a C++ library that allows reading of values, but writing is slow.", None, None),
        ("JsonCpp is a C++ library that allows reading of values and is small.", None, None),
        ("JsonCpp is a C++ library that allows reading of maps, lists, texts, numbers, dates.", None, None),
        (
            "JsonCpp is a C++ library that allows reading of maps, lists, texts, numbers.",
            "Which C++ library allows reading of maps, lists, texts, numbers?",
            "JsonCpp",
        ),
        (
            "JsonCpp is a modern small fast portable free C++ library that allows reading of values.",
            "Which modern small fast portable free C++ library allows reading of values?",
            "JsonCpp",
        ),
        ("JsonCpp is a modern small fast portable simple free C++ library that allows reading of values.", None, None),
        (
            "Zstd is the reference implementation of Zeta coding.",
            "What is Zstd?",
            "the reference implementation of Zeta coding",
        ),
        (
            "Fontconfig provides a simple interface for listing the fonts of a machine.",
            "What does Fontconfig provide for listing the fonts of a machine?",
            "a simple interface",
        ),
        (
            "LZMA is based on range encoding and dictionaries.",
            "What is LZMA based on?",
            "range encoding and dictionaries",
        ),
        ("Qdb searches all of the tables at once.", "What does Qdb search?", "all of the tables at once"),
        ("Bashlet allows users to perform integer arithmetic at once.", None, None),
        ("This is a library that allows reading of values.", None, None),
        ("The file is a library that allows reading of values.", None, None),
        ("JsonCpp is a library that it allows reading of values.", None, None),
        ("JsonCpp is a library that `reads` values of all kinds.", None, None),
        ("JsonCpp is a set of tools that reads values of all kinds.", None, None),
        ("JsonCpp is a library that reads values as described in the.", None, None),
        ("Is JsonCpp a library that reads values of all kinds?", None, None),
        ("Tkx is a freely available open-source package.", None, None),  # how it may be had
        ("Tkx is a freely available toolkit of widgets.", "What is Tkx?", "a freely available toolkit of widgets"),
        ("Qdx provides several methods for synchronizing drawing with events.", None, None),  # which
        (
            "Qdx provides several locks with timers for synchronizing drawing with events.",
            "What does Qdx provide for synchronizing drawing with events?",
            "several locks with timers",
        ),
        ("Gccx is the default compiler for all frontends.", None, None),  # of which release
    ],
)
def test_a_sentence_makes_a_question_where_its_parts_stand_by_themselves(
    sentence: str, question: str | None, answer: str | None
) -> None:
    assert asked(facts(sentence)) == ([(question, (answer,))] if question else [])


def test_a_capital_makes_a_name_of_a_common_word_where_its_document_is_called_so() -> None:
    text = "Bash is a shell that reads commands from the terminal."
    assert asked(facts(text)) == []
    assert asked(facts(text, document="bash-readme-")) == [("Which shell reads commands from the terminal?", ("Bash",))]


def test_a_bridge_leads_from_a_thing_to_the_description_of_another() -> None:
    found = facts(
        "Qfetch uses Zlibx for unpacking the lists of packages.",
        "Zlibx is a small library that reads streams of bytes.",
    )
    (bridge,) = found.ask_bridges()
    assert bridge.text == (
        "What uses the small library that reads streams of bytes for unpacking the lists of packages?"
    )
    assert (bridge.answers, bridge.chunks) == (("Qfetch",), ("c0", "c1"))


def test_two_things_of_a_kind_are_compared_by_what_they_do() -> None:
    found = facts(
        "JsonCpp is a C++ library that reads values from text.",
        "Zlibx is a small library that writes streams of bytes.",
        "Qdb is a library for storing rows in a single file.",
        "Xdm is a toolkit for drawing windows on a screen.",
    )
    texts = [w.text for w in found.ask_comparisons()]
    assert texts == [
        "JsonCpp and Zlibx are both described as libraries: what does each of them do?",
        "JsonCpp and Qdb are both described as libraries: what is each of them for?",
        "Zlibx and Qdb are both described as libraries: what is each of them for?",
    ]
    first = next(found.ask_comparisons())
    assert first.answers == ()
    assert first.parts == (
        ("JsonCpp: reads values from text", "reads values from text"),
        ("Zlibx: writes streams of bytes", "writes streams of bytes"),
    )
    assert first.chunks == ("c0", "c1")


@pytest.mark.parametrize(
    ("question", "well"),
    [
        ("Who wrote to the one that bought oak from Ivo Marsh, in June 2019?", True),
        ("What is used by the library to draw?", True),
        ("Which came first: “file the digest of the”, or “that”?", True),
        ("What file in the above directory has instructions?", False),
        ("What digest algorithm used in FIPS mode?", False),
        ("What is not strictly compliant, as described in the?", False),
        ("What reads `names` of users?", False),
        ("What helped to polish the language of the book?", False),  # a person
        ("Who helped to polish the language of the book?", True),
        ("Who polished the language of the first revisions in August 2022?", False),  # of what
        ("Who polished the language of the first edition of Faust in 1808?", True),
        ("What will sign its messages with SHA-256?", False),  # from when on
        ("What slows down Quick by 10%, Small by 9%?", False),
        ("What slows down Quick by 10%, and Small by 9%?", True),
        ("What is copyright by the one that may publish new versions of the licence?", False),
    ],
)
def test_a_question_reads_well_with_a_finite_verb_and_an_end(question: str, well: bool) -> None:
    assert reads_well(question) is well
