"""Noun phrases by cheap rules, in English and other languages (lazygraphrag §2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.language.noun_phrases import Reader
from sensegraph.methods.lazygraphrag.concepts import note
from sensegraph.types import Chunk


def phrases(text: str) -> tuple[str, ...]:
    return Reader().phrases(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She studied machine learning and computer science.", ("machine learning", "computer science")),
        ("The growing labour market was quickly explained.", ("growing labour market",)),
        ("Ada Finch's old lighthouse keeper wrote letters.", ("ada finch", "lighthouse keeper")),
        ("New York is large. New companies came.", ("new york",)),
        ("Kevin Scott met the chief technology officer.", ("kevin scott", "chief technology officer")),
        ("We looked at it, then everyone laughed happily.", ()),
        ("Really good ideas came along in January 1987.", ()),
        ("a well-known problem in human-centered design", ("well-known problem", "human-centered design")),
        ("A hard-wrapped\nline keeps its phrase: neural\nnetworks.", ("hard-wrapped line", "neural networks")),
        ("One heading\n\nTidal power\nWind farms", ("tidal power", "wind farms")),
    ],
)
def test_english_phrases(text: str, expected: tuple[str, ...]) -> None:
    assert phrases(text) == expected


def test_a_phrase_is_folded_and_told_once() -> None:
    assert phrases("Machine Learning, machine learning and MACHINE LEARNING.") == ("machine learning",)


def test_a_name_stands_by_itself_in_a_longer_run() -> None:
    assert phrases("The Microsoft Azure cloud platform grew.") == ("microsoft azure", "cloud platform")


def test_a_list_without_commas_is_no_phrase() -> None:
    assert phrases("alpha beta gamma delta epsilon zeta") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Die künstliche Intelligenz und der Klimawandel sind nicht neu.", ("künstliche intelligenz", "klimawandel")),
        ("Der Hafen und das Boot sind klein, sie sind nicht neu.", ()),
        ("Le réseau de neurones et la santé publique sont dans les textes.", ("santé publique",)),
        ("La inteligencia artificial y el aprendizaje profundo", ("inteligencia artificial", "aprendizaje profundo")),
        ("Глубокое обучение меняет мир", ("глубокое обучение", "обучение меняет")),
        ("人工智能和机器学习是重要的。", ("人工智能", "机器学习")),
        ("人工知能の研究とプログラミング", ("人工知能", "プログラミング")),
    ],
)  # fmt: skip
def test_other_languages_degrade_sensibly(text: str, expected: tuple[str, ...]) -> None:
    assert phrases(text)[: len(expected)] == expected
    assert bool(phrases(text)) == bool(expected)


def test_single_proper_nouns_are_kept_on_request() -> None:
    text = "Yesterday Teutberga left Lotharingia in May. She saw tidal power."
    assert phrases(text) == ("tidal power",)
    assert Reader("proper").phrases(text) == ("tidal power", "teutberga", "lotharingia")


@given(st.text(max_size=300))
def test_any_text_is_read_and_phrases_are_distinct_and_folded(text: str) -> None:
    found = Reader("proper").phrases(text)
    assert len(set(found)) == len(found)
    assert all(p == p.casefold() and p.strip() for p in found)
    assert Reader("proper").phrases(text) == found


def test_a_chunk_is_read_by_itself() -> None:
    chunks = [
        Chunk(f"c{i}", "d", 0, 9, 9, f"{w} power in Port Ellery") for i, w in enumerate(("Tidal", "wind", "Tidal"))
    ]
    (noted,) = note.fn([tuple(chunks)], one_word="none")
    assert [n.phrases for n in noted] == [note.fn([(c,)], one_word="none")[0][0].phrases for c in chunks]
    assert noted[0].text == noted[2].text != noted[1].text  # the hash tells equal texts
