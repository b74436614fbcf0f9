"""The outline as passages: their order, their names, and what they tell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from outline_examples import write_valley
from sensegraph.corpus.corpus import Corpus
from sensegraph.retrieval.outline.evidence import list_passages
from sensegraph.retrieval.outline.part import OUTLINE
from sensegraph.types import Document


@pytest.fixture(scope="module")
def valley(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    settings = {"engine": "offline", "index": {"parts": ["outline"]}}
    with Corpus.open(tmp_path_factory.mktemp("valley"), settings=settings) as corpus:
        texts = write_valley(16)
        corpus.add([
            Document(name, text, f"{chr(65 + i)}eed of paper", (), f"20{10 + i}-03-04")
            for i, (name, text) in enumerate(texts.items())
        ])  # fmt: skip
        corpus.build()
        yield corpus


def test_the_passages_of_an_outline_are_its_head_its_themes_what_comes_next_and_the_order_of_time(
    valley: Corpus,
) -> None:
    index = valley.index()
    found = index.part(OUTLINE)
    assert found.form == "themes"
    assert found.more
    themes = len(found.themes)
    listed = list(list_passages(index))
    assert [p.id for p in listed] == [
        "outline-0", *(f"outline-{i}" for i in range(1, themes + 1)), "outline-more", "outline-time",
    ]  # fmt: skip
    assert [p.title for p in listed[1 : themes + 1]] == [t.label for t in found.themes]
    assert [p.documents for p in listed[1 : themes + 1]] == [t.units for t in found.themes]
    assert [len(p.quotes) for p in listed[1 : themes + 1]] == [len(t.sentences) for t in found.themes]
    assert listed[0].documents == 16
    assert listed[-2].text == f"Also: {', '.join(found.more)}."
    assert listed[-1].text.startswith("In the order of time: Aeed of paper (2010-03-04); Beed of paper (2011-03-04); ")


def test_the_documents_of_a_small_corpus_are_named_in_groups(tmp_path) -> None:
    texts = dict(zip(("arn-rules.txt", "bex-rules.txt", "cor-rules.txt"), write_valley(3).values(), strict=True))
    paper = next(iter(write_valley(4).values()))
    texts |= {"dun.txt": f"Dun Rules of 1990\n\n{paper}", "esk-map-2.1": f"A map.\n\n{paper}"}
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["outline"]}}) as corpus:
        corpus.add([Document(name, text) for name, text in texts.items()])
        corpus.build()
        listed = {p.id: p.text for p in list_passages(corpus.index())}
    assert listed["outline-documents"] == (
        "The documents:\n\n- rules: arn-rules · bex-rules · cor-rules · dun\n- others: esk-map-2.1"
    )


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (["manual"] * 15 + ["readme"] * 5 + ["a", "b"], "By their names: manual (15), readme (5), others (2)."),
        (["manual"] * 22, "By their names: manual (22)."),
        (["manual"] * 9 + [f"{chr(97 + i)}end" for i in range(13)], None),
        (["april"] * 22, None),
    ],
)
def test_of_many_documents_the_kinds_are_counted_by_their_names(tmp_path, ends: list[str], told: str | None) -> None:
    texts = write_valley(22).values()
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["outline"]}}) as corpus:
        corpus.add([Document(f"{i}-{end}.txt", text) for i, (end, text) in enumerate(zip(ends, texts, strict=True))])
        corpus.build()
        index = corpus.index()
        listed = {p.id: p.text for p in list_passages(index)}
    assert index.part(OUTLINE).form == "themes"
    assert listed.get("outline-kinds") == told


def test_documents_of_one_day_are_in_no_order_of_time(tmp_path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["outline"]}}) as corpus:
        corpus.add([
            Document(name, text, f"{chr(65 + i)}eed of paper", (), "2010-03-04")
            for i, (name, text) in enumerate(write_valley(6).items())
        ])  # fmt: skip
        corpus.build()
        listed = [p.id for p in list_passages(corpus.index())]
    assert "outline-1" in listed
    assert "outline-time" not in listed


@pytest.mark.parametrize("question", ["What are the main themes?", "What is this about?", "Worum geht es hier?"])
def test_of_a_corpus_too_small_for_themes_each_document_is_shown_with_what_it_begins_with(tmp_path, question) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as corpus:
        corpus.add([
            Document("keeper", "Ruth Adeyemi runs the harbour of Ostby.", "The keeper"),
            Document("pump.txt", "The pump of the dock failed on Monday. A new one comes in March."),
        ])  # fmt: skip
        corpus.build()
        answer = corpus.query(question)
    assert answer.text == (
        "**2 documents, 3 sentences.**\n\n**The keeper**\nRuth Adeyemi runs the harbour of Ostby. [1]\n\n"
        "**pump**\nThe pump of the dock failed on Monday. [2]"
    )
    assert [c.quote for c in answer.citations] == [
        "Ruth Adeyemi runs the harbour of Ostby.",
        "The pump of the dock failed on Monday.",
    ]
