"""Sentences end where careful readers of several languages end them; the sets were written by different hands."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sensegraph.language.sentences import split_sentences
from sensegraph.language.word_lists import LANGUAGES

DATA = Path(__file__).parent.parent / "data"
UNSPACED = ("zh", "ja")


def read_set(name: str) -> list[tuple[str, str, set[int]]]:
    """The paragraphs of a set: language, text, and where sentences end inside of it."""
    found = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        language, text = line.split("|", 1)
        between = "" if language in UNSPACED else " "
        parts = [part.strip() for part in text.split("⏎")]
        ends = {len(between.join(parts[:i])) for i in range(1, len(parts))}
        found.append((language, between.join(parts), ends))
    assert len(found) > 20
    return found


def score_set(name: str) -> dict[str, float]:
    """F1 of the ends inside of paragraphs, for each language and for all ("")."""
    hits, false, missed = Counter[str](), Counter[str](), Counter[str]()
    for language, text, ends in read_set(name):
        found = {b for _, b in split_sentences(text)} - {len(text)}
        for key in ("", language):
            hits[key] += len(found & ends)
            false[key] += len(found - ends)
            missed[key] += len(ends - found)
    return {key: 200 * hits[key] / (2 * hits[key] + false[key] + missed[key]) for key in hits}


def test_the_set_that_the_rules_were_written_with_is_read_nearly_whole() -> None:
    scores = score_set("sentence-ends-second.txt")
    assert scores[""] >= 97
    assert {language: score for language, score in scores.items() if score < 90} == {}


def test_of_the_set_that_the_rules_have_not_seen_nine_in_ten_are_read() -> None:
    assert score_set("sentence-ends-third.txt")[""] >= 88


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("He met Dr. Smith at 5 p.m. on Friday. They left.", ["Friday.", "left."]),
        ("Brown v. Board, 347 U.S. 483, was decided. Id. at 495.", ["decided.", "495."]),
        ("See Eq. 5 and Sec. 4.1. As Fig. 2 shows, it holds.", ["4.1.", "holds."]),
        ("Tellus overturned Harlow v. [1] Dent. It was new.", ["Dent.", "new."]),
        ("Sales of the iPhone fell. iPads sold well.", ["fell.", "well."]),
        ("Plan B. It works. My friend and I. We went.", ["B.", "works.", "I.", "went."]),
        ("Am 3. Oktober 1990 war es so weit. Danach kam Art. 3 GG.", ["weit.", "GG."]),
        ("Urt. v. 12. 7. 2011 gilt. Es ist alt.", ["gilt.", "alt."]),
        ("« Qui est là ? » demanda-t-il. Personne.", ["demanda-t-il.", "Personne."]),
        ("Он жил на ул. Арбат, д. 5. В 1837 г. он умер.", ["5.", "умер."]),
        ("東京は首都です。大阪は違います！", ["首都です。", "違います！"]),
        ("The method works.[12] The next fails.[3,4] However, it is fast.", ["works.[12]", "fails.[3,4]", "fast."]),
    ],
)
def test_abbreviations_numbers_and_initials_end_no_sentence(text: str, ends: list[str]) -> None:
    found = [text[a:b] for a, b in split_sentences(text)]
    assert len(found) == len(ends)
    assert all(sentence.endswith(end) for sentence, end in zip(found, ends, strict=True))


def test_a_text_teaches_its_own_abbreviations() -> None:
    taught = "The abbr. qqv. stands for it. They wrote qqv. in small, and qqv. again."
    assert len(split_sentences(f"{taught} See qqv. Harlow.")) == len(split_sentences(f"{taught} See Harlow.")) == 3


def test_marks_of_lists_headings_and_quotations_belong_to_no_sentence() -> None:
    text = "## A heading\n- One item.\n* Another item.\n> A quotation.\n-----\n| a | b |"
    assert [text[a:b] for a, b in split_sentences(text)] == [
        "A heading", "One item.", "Another item.", "A quotation.", "a | b |",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ('<p align="center"><img src="a.png" alt="It runs. It stops."></p>\nIt runs.', ["It runs."]),
        ('<h1 align="center">Tidebell</h1>\n<!-- a note. Or two. -->\nIt runs.', ["Tidebell", "It runs."]),
        ('![A picture](a.png "of it") | ![Another](b.png)\nIt <b>runs</b>. <b>It</b> stops.', 2),
        ("<p> is the element of paragraphs.", ["<p> is the element of paragraphs."]),
        ("Write `<br>` there. `<hr>` is a rule.", ["Write `<br>` there.", "`<hr>` is a rule."]),
        ('```html\n<img alt="A boat">\n```', ["```html", '<img alt="A boat">']),
        ("If a <b and c> d it ends.", ["If a <b and c> d it ends."]),
    ],
)
def test_tags_and_pictures_of_markdown_are_no_sentences(text: str, sentences: list[str] | int) -> None:
    found = [text[a:b] for a, b in split_sentences(text)]
    assert (len(found) if isinstance(sentences, int) else found) == sentences


def test_there_are_lists_for_twelve_languages() -> None:
    assert len(LANGUAGES) == 12
    assert LANGUAGES[0] == "en"
