"""The offline engine's reading: spans, sharing of text, order, languages, and what no text may do to it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hanging import not_hanging
from sensegraph.engines.offline.extraction.corpus_reading import (
    observe_documents,
    read_documents,
    read_together,
    survey_documents,
)
from sensegraph.types import Chunk, ExtractedEntity, Extraction

LETTER = (
    "Ada Lovelace (born 10 December 1815 in London) was an English mathematician. She worked with Charles Babbage. "
    "In 1843 Lovelace published notes on the Analytical Engine. Babbage praised her notes. "
    "Charles Babbage founded the Analytical Society in Cambridge. Lovelace never visited the city of Paris in France."
)


def whole(text: str, name: str = "d", title: str = "") -> tuple[Chunk, ...]:
    return (Chunk(name, name, 0, len(text), 0, text, title),)


def cut(text: str, size: int, overlap: int, name: str = "d") -> tuple[Chunk, ...]:
    starts = range(0, max(1, len(text) - overlap), size - overlap)
    return tuple(Chunk(f"{name}-{a}", name, a, min(a + size, len(text)), 0, text[a : a + size]) for a in starts)


def corpus(*documents: tuple[Chunk, ...], values: bool = False) -> list[tuple[Extraction, ...]]:
    return read_together(documents, values=values)


def one(text: str, title: str = "", values: bool = False) -> Extraction:
    return corpus(whole(text, title=title), values=values)[0][0]


def named(x: Extraction, name: str) -> ExtractedEntity:
    return next(e for e in x.entities if e.name == name)


def told(description: str, span: str) -> None:
    """A description is its span on one line, behind the name of the speaker where one is known."""
    said = " ".join(span.split())
    assert description == said or (description.endswith(f": {said}") and said)


def sound(chunk: Chunk, x: Extraction) -> None:
    """Every span lies in the chunk and says what it is said to say."""
    names = {e.name for e in x.entities}
    for e in x.entities:
        told(e.description, chunk.text[e.start : e.end])
        assert e.mentions
        assert all(m.surface == chunk.text[m.start : m.end] and m.surface for m in e.mentions)
    for r in x.relations:
        told(r.description, chunk.text[r.start : r.end])
        assert {r.source, r.target} <= names
        assert r.source != r.target
        assert r.strength > 0
    for c in x.claims:
        assert c.description == " ".join(chunk.text[c.start : c.end].split())
        assert c.subject in names


def test_names_are_found_with_their_spans_and_a_sentence_that_defines_them() -> None:
    x = one(LETTER)
    sound(whole(LETTER)[0], x)
    ada = named(x, "Ada Lovelace")
    assert ada.type == "person"
    assert ada.description.startswith("Ada Lovelace (born 10 December 1815")
    assert [m.surface for m in ada.mentions] == ["Ada Lovelace", "Lovelace", "Lovelace"]


def test_a_last_name_alone_is_the_person_of_the_document() -> None:
    names = [e.name for e in one(LETTER).entities]
    assert "Charles Babbage" in names
    assert "Babbage" not in names


def test_a_company_is_not_short_for_its_laboratory() -> None:
    x = one("Microsoft grew. He left Microsoft Research in June. Then Microsoft bought GitHub.")
    assert {"Microsoft", "Microsoft Research"} <= {e.name for e in x.entities}


def test_two_names_of_a_sentence_are_related_by_the_sentence_that_says_so() -> None:
    x = one(LETTER)
    pair = {"Charles Babbage", "Analytical Society"}
    found = next(r for r in x.relations if {r.source, r.target} == pair)
    assert found.description == "Charles Babbage founded the Analytical Society in Cambridge."
    assert found.label == "founded"
    assert (found.source, found.target) == ("Charles Babbage", "Analytical Society")


def test_what_the_title_names_is_related_to_the_other_names() -> None:
    text = "Mercury is near. Nobody knew Freddie Mercury well.\n\nHe was born. Queen Elizabeth came to Wembley Stadium."
    with_title, without = one(text, title="Freddie Mercury"), one(text)

    def ends(x: Extraction) -> set[frozenset[str]]:
        return {frozenset((r.source, r.target)) for r in x.relations}

    assert frozenset(("Freddie Mercury", "Wembley Stadium")) in ends(with_title) - ends(without)


def test_times_and_numbers_are_entities_only_when_asked_for() -> None:
    assert not {e.type for e in one(LETTER).entities} & {"time", "number"}
    x = one(LETTER, values=True)
    sound(whole(LETTER)[0], x)
    assert named(x, "10 December 1815").type == "time"


def test_a_claim_states_its_dates_and_is_false_when_the_sentence_denies() -> None:
    claims = {c.description: c for c in one(LETTER).claims}
    published = next(c for text, c in claims.items() if "published" in text)
    assert (published.type, published.status) == ("RELEASE", "TRUE")
    assert (published.starts, published.ends) == ("1843-01-01", "1843-12-31")
    never = next(c for text, c in claims.items() if "never" in text)
    assert (never.status, never.starts, never.ends) == ("FALSE", "", "")


def test_text_that_chunks_share_counts_once_and_is_found_in_both() -> None:
    text = " ".join(f"{LETTER} Part {i} ends here." for i in range(4))
    overlapped, apart = cut(text, 400, 120), whole(text)
    (found,), ((alone,),) = corpus(overlapped), corpus(apart)
    for chunk, x in zip(overlapped, found, strict=True):
        sound(chunk, x)
    spans = {
        (e.name, c.start + m.start, c.start + m.end)
        for c, x in zip(overlapped, found, strict=True)
        for e in x.entities
        if e.type != "concept"
        for m in e.mentions
    }
    assert spans
    assert spans == {(e.name, m.start, m.end) for e in alone.entities if e.type != "concept" for m in e.mentions}


def test_a_name_has_one_type_in_the_whole_corpus() -> None:
    texts = ["He lives in Jordan, near Amman.", "Michael Jordan said so. Jordan played well.", "Jordan is a country."]
    found = corpus(*(whole(t, f"d{i}") for i, t in enumerate(texts)))
    types: dict[str, set[str]] = {}
    for (x,) in found:
        for e in x.entities:
            types.setdefault(e.name.casefold(), set()).add(e.type)
    assert {"jordan", "amman"} <= types.keys()
    assert len(types) > 2
    assert all(len(kinds) == 1 for kinds in types.values())


def test_the_order_of_documents_changes_nothing() -> None:
    documents = [whole(f"{LETTER} {i} Moscow and Kyiv traded grain with Odessa.", f"d{i}") for i in range(5)]
    seen = observe_documents(documents)
    told, known = survey_documents(seen)
    again, backwards = survey_documents(seen[::-1])
    assert (told, known) == (again[::-1], backwards)
    assert observe_documents(documents[::-1]) == seen[::-1]


@pytest.mark.slow
def test_the_hash_seed_changes_nothing() -> None:
    program = (
        "import hashlib, sys; from tests.engines.test_reading import *; "
        "d = [whole(LETTER + ' Berlin met Rome.' * i, f'd{i}') for i in range(9)]; "
        "o = observe_documents(d); t, l = survey_documents(o); read = read_documents(list(zip(d, o, t))); "
        "print(hashlib.sha256(b''.join(o) + repr(sorted(l.items())).encode() + repr(read).encode()).hexdigest())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_speakers_are_people_and_hosts_of_all_works_are_left_out() -> None:
    def episode(guest: str, i: int) -> tuple[Chunk, ...]:
        lines = [
            f"HOST PERSON: Question {i}{k} about rivers?\n{guest}: I built a model of Lake {k}.\n" for k in range(4)
        ]
        return whole("".join(lines), f"e{i}", f"Episode {i}")

    guests = [
        "MAYA LIN",
        "RUTH ASAWA",
        "EVA HESSE",
        "AGNES MARTIN",
        "LEE KRASNER",
        "JOAN MITCHELL",
        "ALMA THOMAS",
        "ANNI ALBERS",
    ]
    found = corpus(*(episode(g, i) for i, g in enumerate(guests)))
    first = found[0][0]
    assert named(first, "Maya Lin").type == "person"
    assert len(named(first, "Maya Lin").mentions) == 4
    assert all(e.name != "Host Person" for (x,) in found for e in x.entities)


def test_a_phrase_that_the_corpus_repeats_is_a_concept_under_its_usual_form() -> None:
    texts = [f"Item {i}: we trained neural networks on images. A neural network learns {i} tasks." for i in range(4)]
    texts += [f"On day {i} it rained over the {i}. hill." for i in range(30)]
    found = corpus(*(whole(t, f"d{i}") for i, t in enumerate(texts)))
    concept = next(e for e in found[0][0].entities if e.name in ("neural network", "neural networks"))
    assert concept.type == "concept"
    assert sorted(m.surface for m in concept.mentions) == ["neural network", "neural networks"]


def test_german_nouns_are_concepts_and_german_names_are_names() -> None:
    text = "Die Universität von Wien ist alt. Angela Merkel besuchte die Universität und die Stadt im Mai."
    found = corpus(*(whole(f"{text} Nummer {i} war nicht dabei.", f"d{i}") for i in range(3)))
    x = found[0][0]
    assert "Angela Merkel" in {e.name for e in x.entities}
    assert named(x, "Universität").type == "concept"
    assert not x.claims


def test_chinese_terms_are_found_by_how_they_recur() -> None:
    texts = [
        "学生喜欢人工智能的课程。",
        "他研究人工智能，也写小说。",
        "人工智能改变世界！我们看见了。",
        "关于人工智能有很多书。",
    ]
    found = corpus(*(whole(t, f"d{i}") for i, t in enumerate(texts)))
    for text, (x,) in zip(texts, found, strict=True):
        sound(whole(text)[0], x)
        assert any("人工智能" in e.name for e in x.entities)


def test_a_script_without_capitals_gives_repeated_words() -> None:
    text = "القاهرة مدينة كبيرة. زار الرجل القاهرة. القاهرة جميلة والنيل طويل."
    assert "القاهرة" in {e.name for e in one(text).entities}


@pytest.mark.parametrize("text", ["", " \n\t ", "\x00\x01", "123 456", "...", "\ud800", "''\"\"((", "a", "A."])
def test_text_without_words_gives_nothing_and_does_no_harm(text: str) -> None:
    x = one(text)
    assert not x.relations
    assert not x.claims


def test_nothing_to_read_gives_nothing() -> None:
    assert observe_documents([]) == []
    assert survey_documents([]) == ([], {})
    assert read_documents([]) == []
    assert corpus(()) == [()]


@pytest.mark.slow
@pytest.mark.uncounted
@pytest.mark.parametrize("unit", ["Abc ", "1,", "A-", '" Abc ', "ab: x\n", ".", " ", "x.X ", "中文字符很"])
def test_a_text_is_read_to_its_end_where_its_square_would_take_minutes(unit: str) -> None:
    with not_hanging():
        found = one(unit * (80_000 // len(unit)))
    assert found


WORDS = st.sampled_from(
    [
        "Anna Berg",
        "the",
        "river",
        "went to",
        "Oslo",
        ".",
        "\n",
        "In 1999",
        ",",
        '"',
        "NATO",
        "deep model",
        "(",
        "ä",
        "的",
        "Mr.",
    ]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS, max_size=60), st.integers(20, 90), st.integers(0, 15))
def test_any_cut_of_any_text_gives_sound_spans(words: list[str], size: int, overlap: int) -> None:
    chunks = cut(" ".join(words), size, overlap)
    (found,) = corpus(chunks, values=True)
    assert len(found) == len(chunks)
    for chunk, x in zip(chunks, found, strict=True):
        sound(chunk, x)


@pytest.mark.parametrize(
    "text",
    [
        "The {} bridge stands here. Every {} bridge is old, and the {} bridge is closed.",
        "La {} est vieille et la {} est ici. Nous avons vu la {} dans la ville avec le maire.",
    ],
)
def test_a_word_of_more_than_sixty_letters_is_no_concept(text: str) -> None:
    sixty = "z" * 60
    assert any(sixty in e.name for e in one(text.format(*[sixty] * 3)).entities)
    assert not any("z" in e.name for e in one(text.format(*[sixty + "z"] * 3)).entities)
