"""The blocks of prose that may be wrapped, in small worked examples."""

from __future__ import annotations

import textwrap

import pytest

from sensegraph.language.blocks import read_blocks


def list_blocks(text: str) -> list[tuple[str, str]]:
    """The kind of each block, and what it is read as, with runs of blanks as one."""
    found = read_blocks(text)
    return [(b.kind, "\n".join(" ".join(s.split()) for s in found.text[b.start : b.end].split("\n")).strip("\n"))
            for b in found.blocks]  # fmt: skip


PROSE = (
    "The keeper of the lamp went home by boat while Ada Finch wrote to Port Ellery about herring and oak, and when the "
    "storm came the council had not yet met to say what the harbour would need in the winter."
)

MORE = (
    "In the spring the boats came back and the harbour master counted them one by one before he let the crews go home "
    "to the farms."
)


def list_filled(width: int, first: str, behind: str, between: str) -> list[tuple[str, str, int]]:
    """The kind, the beginning and the length of the blocks of two paragraphs that were wrapped at a column."""
    text = between.join(
        textwrap.fill(t, width, initial_indent=first, subsequent_indent=behind, break_on_hyphens=False)
        for t in (PROSE, MORE)
    )
    return [(kind, told[:12], len(told)) for kind, told in list_blocks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "this is a line of forty column exactly n\nx y",
            [("paragraph", "this is a line of forty column exactly n x y")],
        ),
        (
            (
                "the long column of the text is cut-\n\nting here and it goes on in the next\n"
                "column of the page as it was printed\nin the book of the harbour master and\nso "
                "on it goes."
            ),
            [
                (
                    "paragraph",
                    (
                        "the long column of the text is cutting here and it goes on in the next column of "
                        "the page as it was printed in the book of the harbour master and so on it goes."
                    ),
                )
            ],
        ),
        ("  a\n\tb\n \tc\nd", [("paragraph", "a"), ("paragraph", "b"), ("paragraph", "c"), ("paragraph", "d")]),
        ("\n\n", []),
        (
            (
                "The keeper of the lamp went home by boat.\nf(x); g[y]; {z} = a | b; c < d > e & "
                "f\nWhile ada finch wrote to port ellery and\nabout herring and oak so that it was "
                "then\nall of it was gone in the end of the day."
            ),
            [
                ("paragraph", "The keeper of the lamp went home by boat."),
                ("row", "f(x); g[y]; {z} = a | b; c < d > e & f"),
                (
                    "paragraph",
                    (
                        "While ada finch wrote to port ellery and about herring and oak so that it was "
                        "then all of it was gone in the end of the day."
                    ),
                ),
            ],
        ),
        (
            (
                "the keeper of the lamp went home by boat\n  f(x); g[y]; {z} = a | b; c < d > e & "
                "f\nwhile ada finch wrote to port ellery and\nabout herring and oak so that it was "
                "then\nall of it was gone in the end of the day."
            ),
            [
                (
                    "paragraph",
                    (
                        "the keeper of the lamp went home by boat f(x); g[y]; {z} = a | b; c < d > e & f "
                        "while ada finch wrote to port ellery and about herring and oak so that it was "
                        "then all of it was gone in the end of the day."
                    ),
                )
            ],
        ),
        (
            (
                "f(x); g[y]; {z} = a | b; c < d > e & f a\nwhile ada finch wrote to port ellery "
                "and\nabout herring and oak so that it was then\nall of it was gone in the end of "
                "the day."
            ),
            [
                (
                    "paragraph",
                    (
                        "f(x); g[y]; {z} = a | b; c < d > e & f a while ada finch wrote to port ellery and "
                        "about herring and oak so that it was then all of it was gone in the end of the "
                        "day."
                    ),
                )
            ],
        ),
        (
            (
                "about herring and oak so that it was then\nall of it was gone in the end of the "
                "day\nwhile ada finch wrote to port ellery and\nf(x); g[y]; {z} = a | b; c < d > e "
                "& f a"
            ),
            [
                (
                    "paragraph",
                    (
                        "about herring and oak so that it was then all of it was gone in the end of the "
                        "day while ada finch wrote to port ellery and f(x); g[y]; {z} = a | b; c < d > e & "
                        "f a"
                    ),
                )
            ],
        ),
        (
            (
                "The lamp is old and was the\nBoat of the harbour and the\nOil of the pier that "
                "was in\nTown and all of it."
            ),
            [
                ("heading", "The lamp is old and was the"),
                ("heading", "Boat of the harbour and the"),
                ("heading", "Oil of the pier that was in"),
                ("paragraph", "Town and all of it."),
            ],
        ),
        (
            (
                "The lamp is old and it was a part of the\nBoat of the harbour and of all of the\n"
                "Oil of the pier that was once in the\nTown and all of it was well made."
            ),
            [
                (
                    "paragraph",
                    (
                        "The lamp is old and it was a part of the Boat of the harbour and of all of the "
                        "Oil of the pier that was once in the Town and all of it was well made."
                    ),
                )
            ],
        ),
        (
            (
                "The lamp is old and it was a part of it.\nThe Boat of the harbour and of all of "
                "it.\nthe oil of the pier that was once in it\nThe Town and all of it was well "
                "made."
            ),
            [
                ("paragraph", "The lamp is old and it was a part of it."),
                ("paragraph", "The Boat of the harbour and of all of it."),
                ("paragraph", "the oil of the pier that was once in it"),
                ("paragraph", "The Town and all of it was well made."),
            ],
        ),
        (
            (
                "The boat and the lamp were there when it\nwas all over and then the keeper went "
                "up\n2. and then he lit the lamp of the tower\nthat stood by the sea and shone for "
                "all\nof the men who were out there."
            ),
            [
                (
                    "paragraph",
                    (
                        "The boat and the lamp were there when it was all over and then the keeper went up "
                        "2. and then he lit the lamp of the tower that stood by the sea and shone for all "
                        "of the men who were out there."
                    ),
                )
            ],
        ),
        (
            (
                "The boat and the lamp were there when it\n- and then he lit the lamp of the "
                "tower\nwas all over and then the keeper went up\nthat stood by the sea and shone "
                "for all\nof the men who were out there."
            ),
            [
                ("heading", "The boat and the lamp were there when it"),
                (
                    "item",
                    (
                        "- and then he lit the lamp of the tower was all over and then the keeper went up "
                        "that stood by the sea and shone for all of the men who were out there."
                    ),
                ),
            ],
        ),
        (
            (
                "The boat and the lamp were there when it\nwas all over and then the keeper went "
                "-\n\nthat stood by the sea and shone for all\nof the men who were out there as it "
                "was\nthe end of the day and of the war."
            ),
            [
                ("paragraph", "The boat and the lamp were there when it was all over and then the keeper went -"),
                (
                    "paragraph",
                    (
                        "that stood by the sea and shone for all of the men who were out there as it was "
                        "the end of the day and of the war."
                    ),
                ),
            ],
        ),
        (
            (
                "港务委员会决定在港口建造一座新的码头因为\nabc 旧的码头在风暴中被毁坏了港务委员会决\n"
                "定在港口建造一座新的码头因为旧的码头在风\n"
                "暴中被毁坏了港务委员会决定在港口建造一座\n新的码头"
            ),
            [
                (
                    "paragraph",
                    (
                        "港务委员会决定在港口建造一座新的码头因为 abc "
                        "旧的码头在风暴中被毁坏了港务委员会决定在港口建造一座新的码头因为旧的码头在风暴中被毁坏了港务委员会决定在港口建造一座新的码头"
                    ),
                )
            ],
        ),
        (
            "    the boat (of a) went on to the sea = it was, so;\n\nx",
            [("code", "the boat (of a) went on to the sea = it was, so;"), ("paragraph", "x")],
        ),
        (
            "   the boat (of a) went on to the sea = it was, so;\n\nx",
            [("paragraph", "the boat (of a) went on to the sea = it was, so;"), ("paragraph", "x")],
        ),
        ("a|b|c\n\nq", [("paragraph", "a|b|c"), ("paragraph", "q")]),
        (
            (
                "ab\n\n\n\n\n\n\nCommon\nxb\n\n\n\n\n\n\n\x0cac\n\n\n\n\n\n\nCommon\n"
                "xc\n\n\n\n\n\n\n\x0cad\n\n\n\n\n\n\nCommon\nxd\n\n\n\n\n\n\n\x0cae\n\n\n\n\n\n\n"
                "Common\nxe\n\n\n\n\n\n\n\x0caf\n\n\n\n\n\n\nCommon\nxf\n\n\n\n\n\n\n"
                "\x0cag\n\n\n\n\n\n\nCommon\nxg\n\n\n\n\n\n\n\x0c"
            ),
            [("paragraph", "ab"), ("heading", "Common"), ("paragraph", "xb ac xc ad xd ae xe af xf ag xg")],
        ),
        (
            (
                "ab\nbb\nCommon\nxby\nCommun\nfoot b\nend b\n\x0cac\nbc\nCommon\nxcy\nCommun\nfoot "
                "c\nend c\n\x0cad\nbd\nCommon\nxdy\nCommun\nfoot d\nend d\n\x0cae\nbe\nCommon\n"
                "xey\nCommun\nfoot e\nend e\n\x0caf\nbf\nCommon\nxfy\nCommun\nfoot f\nend f\n"
                "\x0cag\nbg\nCommon\nxgy\nCommun\nfoot g\nend g\n\x0c"
            ),
            [
                ("paragraph", "ab"),
                ("paragraph", "bb"),
                ("heading", "Common"),
                ("paragraph", "xby"),
                ("heading", "Commun"),
                ("paragraph", "foot b"),
                ("paragraph", "end b ac"),
                ("paragraph", "bc"),
                ("heading", "Common"),
                ("paragraph", "xcy"),
                ("heading", "Commun"),
                ("paragraph", "foot c"),
                ("paragraph", "end c ad"),
                ("paragraph", "bd"),
                ("heading", "Common"),
                ("paragraph", "xdy"),
                ("heading", "Commun"),
                ("paragraph", "foot d"),
                ("paragraph", "end d ae"),
                ("paragraph", "be"),
                ("heading", "Common"),
                ("paragraph", "xey"),
                ("heading", "Commun"),
                ("paragraph", "foot e"),
                ("paragraph", "end e af"),
                ("paragraph", "bf"),
                ("heading", "Common"),
                ("paragraph", "xfy"),
                ("heading", "Commun"),
                ("paragraph", "foot f"),
                ("paragraph", "end f ag"),
                ("paragraph", "bg"),
                ("heading", "Common"),
                ("paragraph", "xgy"),
                ("heading", "Commun"),
                ("paragraph", "foot g"),
                ("paragraph", "end g"),
            ],
        ),
    ],
)
def test_lines_that_may_be_wrapped_are_read_as_blocks(text: str, expected: list[tuple[object, ...]]) -> None:
    assert list_blocks(text) == expected


@pytest.mark.parametrize(
    ("width", "first", "behind", "between", "expected"),
    [
        (24, "", "", "\n\n", [("paragraph", "The keeper o", 202), ("paragraph", "In the sprin", 126)]),
        (24, "> ", "> ", "\n", [("quote", "> The keeper", 331)]),
        (
            24,
            "",
            "",
            "\n*\n",
            [("paragraph", "The keeper o", 202), ("heading", "*", 1), ("paragraph", "In the sprin", 126)],
        ),
        (
            35,
            "",
            "",
            "\n*\n",
            [("paragraph", "The keeper o", 202), ("heading", "*", 1), ("paragraph", "In the sprin", 126)],
        ),
        (37, "", "", "\n", [("paragraph", "The keeper o", 329)]),
        (44, "", "", "\n", [("paragraph", "The keeper o", 329)]),
    ],
)
def test_wrapped_prose_is_joined(
    width: int, first: str, behind: str, between: str, expected: list[tuple[object, ...]]
) -> None:
    assert list_filled(width, first, behind, between) == expected
