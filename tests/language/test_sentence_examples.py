"""Where sentences end, in small worked examples and in the sets that readers marked."""

from __future__ import annotations

from pathlib import Path

import pytest

from sensegraph.language.sentences import split_sentences

DATA = Path(__file__).parent.parent / "data"


def say(text: str) -> list[str]:
    return [text[a:b] for a, b in split_sentences(text)]


def list_misread(name: str) -> list[int]:
    """The numbers of the paragraphs of a set in which a sentence ends elsewhere than readers say."""
    found = []
    for number, line in enumerate((DATA / name).read_text(encoding="utf-8").splitlines()):
        language, text = line.split("|", 1)
        parts = [part.strip() for part in text.split("⏎")]
        if say(("" if language in ("zh", "ja") else " ").join(parts)) != parts:
            found.append(number)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Abc. The end is here for us. abc. the x", ["Abc.", "The end is here for us. abc. the x"]),
        (
            "We saw the xyzzy. it was. The xyzzy. it had. See xyzzy. Tom.",
            ["We saw the xyzzy. it was.", "The xyzzy. it had.", "See xyzzy. Tom."],
        ),
        (
            "x abcdefghijkl. a. abcdefghijkl. b. See abcdefghijkl. The x",
            ["x abcdefghijkl. a. abcdefghijkl. b.", "See abcdefghijkl.", "The x"],
        ),
        ("see qqv. a. See qqv. The x", ["see qqv. a.", "See qqv.", "The x"]),
        ("an ox is etc. Ox is. etc. Ox", ["an ox is etc.", "Ox is. etc.", "Ox"]),
        ("W. A. Tom left. A. The x", ["W. A. Tom left.", "A. The x"]),
        ("The 12345 1. The lamp. The 1234567890 1. Lamp", ["The 12345 1.", "The lamp.", "The 1234567890 1.", "Lamp"]),
        (
            "“A.” She. “Ab.” she. ‘K.’ He. “K.” Lamp left. “etc.” Lamp.",
            ["“A.”", "She.", "“Ab.” she.", "‘K.’", "He.", "“K.”", "Lamp left. “etc.”", "Lamp."],
        ),
        ("東。abc。The。 x.東. The", ["東。", "abc。", "The。", "x.東.", "The"]),
        ("字a. The end. 字Dr. Smith went. 字 Dr. Smith", ["字a.", "The end.", "字Dr. Smith went.", "字 Dr. Smith"]),
        (
            "Abcde. 5, x. Abcdef. 5, x. abcd. 5, x. Abc. 5 x",
            ["Abcde. 5, x. Abcdef.", "5, x. abcd.", "5, x. Abc.", "5 x"],
        ),
        (
            "12. Lamp. 123. Oktober. der und die. 12. Oktober",
            ["12. Lamp. 123.", "Oktober. der und die.", "12. Oktober"],
        ),
        ("One came. Two went! Who? Nobody…", ["One came.", "Two went!", "Who?", "Nobody…"]),
        ("No. 5 is here. No. Five. It is no. 3 now.", ["No. 5 is here.", "No. Five.", "It is no. 3 now."]),
        (
            "Plan B. It works. My friend and I. We went. Vitamin C. Oranges have it.",
            ["Plan B.", "It works.", "My friend and I.", "We went.", "Vitamin C. Oranges have it."],
        ),
        ("iPads sold well. iPhones too. eBay fell. iPad", ["iPads sold well.", "iPhones too.", "eBay fell.", "iPad"]),
        (
            ("He is Mr. No. It is Gen. Lee and Sen. Tom Smith Jr. The boy left. At Acme Inc. The boss left."),
            [
                "He is Mr.",
                "No.",
                "It is Gen. Lee and Sen. Tom Smith Jr.",
                "The boy left.",
                "At Acme Inc.",
                "The boss left.",
            ],
        ),
        ("Id. at 495. Cf. Tom v. Bell. Id. The court", ["Id. at 495.", "Cf. Tom v. Bell.", "Id. The court"]),
        (
            "v. Brown. He v. They. p. 5 and P. The end. c. 1900. s. The",
            ["v. Brown.", "He v. They. p. 5 and P.", "The end. c. 1900. s.", "The"],
        ),
        (
            "В 1837 г. он умер. В 1837 г. Он умер. Он жил на ул. Арбат, д. 5. И т. д. Он",
            ["В 1837 г. он умер.", "В 1837 г.", "Он умер.", "Он жил на ул. Арбат, д. 5.", "И т. д.", "Он"],
        ),
        ("§ 5. Das ist so und die Leute. §5a. Es ist die", ["§ 5. Das ist so und die Leute.", "§5a. Es ist die"]),
        (
            "The well-etc. The end. anti-dr. Smith. x-co. Tom’s",
            ["The well-etc.", "The end. anti-dr. Smith. x-co.", "Tom’s"],
        ),
        ("Tom. & Co. Tom. , x. Tom. ) x", ["Tom. & Co. Tom. , x. Tom. ) x"]),
        (" . . . x. Y", [". x. Y"]),
        ("It was there etc. 5 days of it.", ["It was there etc. 5 days of it."]),
        ("It was there vs. (The end) of it.", ["It was there vs. (The end) of it."]),
        ("It was there prof. The end of it.", ["It was there prof. The end of it."]),
        ("We all saw that it was 12. 5 of it was so.", ["We all saw that it was 12. 5 of it was so."]),
        ("We all saw that it was IV. 5 of it was so.", ["We all saw that it was IV.", "5 of it was so."]),
        ("We all saw that it was K.L. 5 of it was so.", ["We all saw that it was K.L. 5 of it was so."]),
    ],
)
def test_sentences_end_at_marks_that_end_them(text: str, expected: list[str]) -> None:
    assert say(text) == expected
