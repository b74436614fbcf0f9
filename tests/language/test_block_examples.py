"""The blocks of a text in small worked examples."""

from __future__ import annotations

import pytest

from sensegraph.language.blocks import find_header, read_blocks


def list_blocks(text: str) -> list[tuple[str, str]]:
    """The kind of each block, and what it is read as, with runs of blanks as one."""
    found = read_blocks(text)
    return [(b.kind, "\n".join(" ".join(s.split()) for s in found.text[b.start : b.end].split("\n")).strip("\n"))
            for b in found.blocks]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One line\nAnother line", [("heading", "One line"), ("heading", "Another line")]),
        ("- one\n- two\n", [("item", "- one"), ("item", "- two")]),
        ("> a\n> b\n\nc", [("quote", "> a"), ("quote", "> b"), ("paragraph", "c")]),
        ("```\ncode(x)\n\nmore\n```\nProse.", [("code", "```\ncode(x)\n\nmore\n```"), ("paragraph", "Prose.")]),
        ("a | b | c\n1 | 2 | 3\nx", [("row", "a | b | c\n1 | 2 | 3"), ("paragraph", "x")]),
        (
            (
                "They call it a multi-hop question. Of course a multi-\nhop question needs more "
                "than one step,\nand each of the steps needs a\npassage of its own to be found\nby "
                "the method that asks.\n"
            ),
            [
                (
                    "paragraph",
                    ("They call it a multi-hop question. Of course a multi-hop question needs more than one step,"),
                ),
                ("paragraph", "and each of the steps needs a"),
                ("paragraph", "passage of its own to be found"),
                ("paragraph", "by the method that asks."),
            ],
        ),
        (
            (
                "港务委员会决定在港口建造一座新的码头因为旧的码头\n在风暴中被毁坏了港务委员会决定在港口建造一座新的\n码头因为旧的码头在风暴中被毁坏了港务委员会决定在\n"
                "港口建造一座新的码头因为旧的码头在风暴中被毁坏了\n港务委员会决定在港口建造一座新的码头因为旧的码头"
            ),
            [
                (
                    "paragraph",
                    (
                        "港务委员会决定在港口建造一座新的码头因为旧的码头在风暴中被毁坏了港务委员会决定在港口建造一座新的码头因为旧的码头在风暴中被毁坏了港务委员会决定在港口建造一座新的码头因为旧的码头在风暴中被毁坏了港务委员会决定在港口建造一座新的码头因为旧的码头"
                    ),
                )
            ],
        ),
        (
            "user@host:~$ ls\n  user@host:~$ ls\n  # make\nmake it so",
            [("code", "user@host:~$ ls\nuser@host:~$ ls"), ("heading", "# make"), ("paragraph", "make it so")],
        ),
        (
            "see http://a.b/c?d=e&f=g#h and tar(1) (2) now\n x",
            [("paragraph", "see http://a.b/c?d=e&f=g#h and tar(1) (2) now"), ("paragraph", "x")],
        ),
        ("name    value    other\none     two      three\n", [("row", "name value other\none two three")]),
        ("a\tb\tc\n1\t2\t3\n", [("row", "a b c\n1 2 3")]),
        (
            "one two three four   five six seven eight   nine ten eleven twelve\nx",
            [("paragraph", "one two three four five six seven eight nine ten eleven twelve x")],
        ),
        ("a   b\nc", [("paragraph", "a b"), ("paragraph", "c")]),
        ("a|b|c|d\ne", [("row", "a|b|c|d"), ("paragraph", "e")]),
        ("a) one\nb) two\n", [("item", "a) one"), ("item", "b) two")]),
        ("[1] ref\n[2] ref", [("item", "[1] ref"), ("item", "[2] ref")]),
        ("ix) nine\nx) ten", [("item", "ix) nine"), ("item", "x) ten")]),
        ("Text\n----\nmore\n----\n", [("heading", "Text"), ("heading", "more")]),
        ("Text one\ntwo\n---\nmore", [("heading", "Text one"), ("paragraph", "two"), ("paragraph", "more")]),
        ("--\nx", [("heading", "--"), ("paragraph", "x")]),
        (
            "###### six\n####### seven\n    # four\n   # three",
            [("heading", "###### six"), ("code", "####### seven\n# four"), ("heading", "# three")],
        ),
        ("# T\n\n> a\nb\n\nc\nd", [("heading", "# T"), ("quote", "> a b"), ("paragraph", "c d")]),
        (
            "# T\n\n- a\n  b\n\n      code\n\n    code here\n\nx\n    no code\n",
            [
                ("heading", "# T"),
                ("item", "- a b"),
                ("paragraph", "code"),
                ("paragraph", "code here"),
                ("paragraph", "x no code"),
            ],
        ),
        (
            "# T\n\n    code\n    more\n\n    again\n\ntext\n\n- i\n\n    cont\n\nx\n\n    code",
            [
                ("heading", "# T"),
                ("code", "code\nmore"),
                ("code", "again"),
                ("paragraph", "text"),
                ("item", "- i"),
                ("paragraph", "cont"),
                ("paragraph", "x"),
                ("code", "code"),
            ],
        ),
        ("+++\na = 1\n+++\nText\n", [("header", ""), ("heading", "Text")]),
        ("---\nNot a field\n---\n", [("heading", "Not a field")]),
        (
            ("From: ada@example.org\nTo: tom@example.org\nSubject: pier\n  and more\n\nDear Tom, it is done.\n"),
            [("header", ""), ("paragraph", "Dear Tom, it is done.")],
        ),
        ("From: a\n\nx", [("heading", "From: a"), ("paragraph", "x")]),
        ("From: a\nTo: b\nx\nCc: c", [("header", ""), ("paragraph", "x"), ("heading", "Cc: c")]),
        (
            (
                "Anna: Shall we light the lamp tonight?\nTom: I have no oil left, so you must\n"
                "wait.\nAnna: When do you get some?\nTom: On Friday, I think.\nAnna: Then we wait "
                "for you.\nTom: Thank you.\n"
            ),
            [
                ("turn", "Anna: Shall we light the lamp tonight?"),
                ("turn", "Tom: I have no oil left, so you must"),
                ("paragraph", "wait."),
                ("turn", "Anna: When do you get some?"),
                ("turn", "Tom: On Friday, I think."),
                ("turn", "Anna: Then we wait for you."),
                ("turn", "Tom: Thank you."),
            ],
        ),
        (
            (
                "Anna: do you go there now?\nTom: I go there with you.\nAnna: do you go there "
                "now?\nTom: I go there with you.\nplain line here.\nplain line here.\nplain line "
                "here.\nplain line here.\nplain line here.\nplain line here.\nplain line here.\n"
                "plain line here.\nplain line here.\nplain line here.\nplain line here.\nplain "
                "line here.\nplain line here.\nplain line here.\nplain line here.\nplain line "
                "here.\nplain line here.\nplain line here.\nplain line here.\nplain line here.\n"
                "plain line here.\nplain line here.\nplain line here.\nplain line here.\nplain "
                "line here.\nplain line here.\nplain line here.\nplain line here.\nplain line "
                "here.\nplain line here.\nplain line here.\nplain line here.\nplain line here.\n"
                "plain line here.\nplain line here.\nplain line here."
            ),
            [
                ("paragraph", "Anna: do you go there now?"),
                ("paragraph", "Tom: I go there with you."),
                ("paragraph", "Anna: do you go there now?"),
                ("paragraph", "Tom: I go there with you. " + " ".join(["plain line here."] * 36)),
            ],
        ),
        (
            (
                "On the lamp the keeper wrote\nwhat he saw of the lamp\n\n0\n\x0cOn the oil the "
                "keeper wrote\nwhat he saw of the oil\n\n1\n\x0cOn the boat the keeper wrote\nwhat "
                "he saw of the boat\n\n2\n\x0cOn the pier the keeper wrote\nwhat he saw of the "
                "pier\n\n3\n\x0c"
            ),
            [
                ("paragraph", "On the lamp the keeper wrote what he saw of the lamp"),
                ("paragraph", "On the oil the keeper wrote what he saw of the oil"),
                ("paragraph", "On the boat the keeper wrote what he saw of the boat"),
                ("paragraph", "On the pier the keeper wrote what he saw of the pier"),
            ],
        ),
        (
            (
                "Head\n\nOn the lamp the keeper wrote\n\n\x0cHead\n\nOn the oil the keeper "
                "wrote\n\n\x0cHead\n\nOn the boat the keeper wrote\n\n\x0c"
            ),
            [
                ("heading", "On the lamp the keeper wrote"),
                ("heading", "On the oil the keeper wrote"),
                ("heading", "On the boat the keeper wrote"),
            ],
        ),
        (
            (
                "Head\n\nOn the 0 keeper a wrote\n\n\x0cHead\n\nOn the 1 keeper b wrote\n\n"
                "\x0cHead\n\nOn the 2 keeper c wrote\n\n\x0c\nOn the 3 keeper d wrote\n\n\x0c\nOn "
                "the 4 keeper e wrote\n\n\x0c\nOn the 5 keeper f wrote\n\n\x0c\nOn the 6 keeper g "
                "wrote\n\n\x0c\nOn the 7 keeper h wrote\n\n\x0c\nOn the 8 keeper i wrote\n\n\x0c"
            ),
            [
                ("heading", "Head"),
                ("heading", "On the 0 keeper a wrote"),
                ("heading", "Head"),
                ("heading", "On the 1 keeper b wrote"),
                ("heading", "Head"),
                ("heading", "On the 2 keeper c wrote"),
                ("heading", "On the 3 keeper d wrote"),
                ("heading", "On the 4 keeper e wrote"),
                ("heading", "On the 5 keeper f wrote"),
                ("heading", "On the 6 keeper g wrote"),
                ("heading", "On the 7 keeper h wrote"),
                ("heading", "On the 8 keeper i wrote"),
            ],
        ),
        (
            (
                "T\n\n"
                "XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX\n\n"
                "YYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYY"
            ),
            [
                ("heading", "T"),
                ("heading", "XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX"),
                ("paragraph", "YYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYY"),
            ],
        ),
        (
            "A b c d e f g h i j k l\n\nA b c d e f g h i j k l m\n\nx",
            [("heading", "A b c d e f g h i j k l"), ("paragraph", "A b c d e f g h i j k l m"), ("paragraph", "x")],
        ),
    ],
)
def test_blocks_are_read_from_lines(text: str, expected: list[tuple[object, ...]]) -> None:
    assert list_blocks(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\ufeff---\na: b\n---\nText", 14),
    ],
)
def test_a_header_ends_where_its_fields_end(text: str, expected: int) -> None:
    assert find_header(text) == expected
