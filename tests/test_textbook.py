"""The worked examples of the textbook (section-graphrag), from end to end: offline, and over a scripted server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import textbook
import wired
from scripted import ScriptedServer
from sensegraph import Answer, Corpus, Document

Open = Callable[[textbook.Texts], Corpus]


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Open:
    """The index of some texts, each built once."""
    made: dict[str, Corpus] = {}

    def opened(texts: textbook.Texts) -> Corpus:
        name = next(iter(texts))
        if name not in made:
            made[name] = Corpus.open(tmp_path_factory.mktemp("textbook"), settings={"engine": "offline"})
            made[name].add(list_documents(texts))
            made[name].build()
        return made[name]

    return opened


def list_documents(texts: textbook.Texts) -> list[Document]:
    return [Document(title, text, title) for title, text in texts.items()]


def cited(answer: Answer) -> set[str]:
    return {c.document for c in answer.citations}


@pytest.mark.parametrize(
    "question",
    [
        "What drugs interact with metformin?",
        "what drugs interact with metformin?",
        "Which drugs interact with Metformin?",
    ],
)
def test_all_that_interacts_with_a_drug_is_listed(offline: Open, question: str) -> None:
    answer = offline(textbook.DRUGS).query(question)
    listed = [line.partition(":")[0] for line in answer.text.splitlines()]
    assert sorted(listed) == ["- **Cimetidine**", "- **Furosemide**", "- **Warfarin**"]
    assert cited(answer) == {"Metformin and cimetidine", "Loop diuretics", "Case report: warfarin"}


def test_what_two_documents_say_of_one_drug_is_joined(offline: Open) -> None:
    answer = offline(textbook.DRUGS).query("Which drugs that inhibit CYP3A4 are also contraindicated with warfarin?")
    assert "Ketoconazole is contraindicated with warfarin" in answer.text.splitlines()[0]
    assert "Ketoconazole inhibits CYP3A4." in answer.text
    assert "Aspirin" not in answer.text


def test_side_effects_are_those_of_the_drug_that_is_named(offline: Open) -> None:
    answer = offline(textbook.DRUGS).query("What side effects does metformin cause?")
    assert "nausea and diarrhoea" in answer.text.splitlines()[0]
    assert "lactic acidosis" in answer.text
    assert cited(answer) == {"Side effects of metformin"}


@pytest.mark.parametrize(
    "question", ["What are the main research themes in this corpus?", "what are the main themes in this corpus?"]
)
def test_the_themes_of_a_corpus_are_those_of_several_documents(offline: Open, question: str) -> None:
    answer = offline(textbook.DRUGS).query(question)
    assert answer.text.startswith("**13 documents, 32 sentences.**")
    assert all(f"**{theme}**" in answer.text for theme in ("metformin", "GLP-1 agonists", "SGLT2 inhibitors"))
    assert len(cited(answer)) >= 4


def test_concerns_across_all_reports_are_found_in_each_of_them(offline: Open) -> None:
    answer = offline(textbook.DRUGS).query("What are the major drug safety concerns across all reports?")
    assert not answer.abstained
    assert all(said in answer.text for said in ("Gastrointestinal effects", "Lactic acidosis", "Ketoacidosis"))
    assert len(cited(answer)) == 3


def test_how_something_changed_is_told_in_order_of_time(offline: Open) -> None:
    answer = offline(textbook.DRUGS).query("How has the treatment landscape for diabetes changed since 2020?")
    places = [answer.text.index(said) for said in ("In 2018 most", "Since 2021 GLP-1", "In 2022 the guideline")]
    assert places == sorted(places)
    assert "warned in 2015" not in answer.text


@pytest.mark.parametrize(
    ("question", "first", "document"),
    [
        ("With whom did Jordan sign a treaty?", "Israel", "The kingdom"),
        ("How many points did Jordan score?", "**63**", "The player"),
        ("How long is the Jordan?", "**251 kilometres**", "The river"),
        ("What is the capital of Jordan?", "Amman", "The kingdom"),
    ],
)
def test_of_three_that_bear_a_name_the_one_that_is_meant_answers(
    offline: Open, question: str, first: str, document: str
) -> None:
    answer = offline(textbook.JORDAN).query(question)
    assert first in answer.text.splitlines()[0]
    assert answer.citations[0].document == document


def test_a_name_that_several_bear_shows_them(offline: Open) -> None:
    answer = offline(textbook.JORDAN).query("What is Jordan?")
    assert "kingdom" in answer.text
    assert "basketball player" in answer.text


@pytest.mark.parametrize("question", ["How is Einstein connected to Bohr?", "how is einstein connected to bohr?"])
def test_two_people_are_connected_by_the_sentences_that_name_both(offline: Open, question: str) -> None:
    answer = offline(textbook.PHYSICISTS).query(question)
    assert "Albert Einstein argued with Niels Bohr" in answer.text.splitlines()[0]


def test_a_short_name_is_that_of_the_full_one(offline: Open) -> None:
    index = offline(textbook.PHYSICISTS).index()
    assert [e.name for e in index.graph.entities if "Einstein" in e.name] == ["Albert Einstein"]
    answer = offline(textbook.PHYSICISTS).query("What did Einstein develop?")
    assert "the theory of general relativity" in answer.text.splitlines()[0]


@pytest.mark.parametrize(
    "question",
    [
        "Which of Asterion's competitors acquired a startup founded by an ex-employee of Brightline?",
        "Which competitor of Asterion acquired a start-up that was founded by a former employee of Brightline?",
    ],
)
def test_four_hops_are_shown_as_a_chain_of_sentences(offline: Open, question: str) -> None:
    answer = offline(textbook.COMPANIES).query(question)
    assert answer.text.startswith("**Calder Cells**: The competitors of Asterion are")
    assert [c.document for c in answer.citations] == [
        "The market for batteries",
        "Calder Cells buys a start-up",
        "A young company",
        "People",
    ]
    assert "Nimbus" not in answer.text


def test_precedents_come_from_the_sentences_that_cite_them(offline: Open) -> None:
    question = "What precedents have courts cited when overturning non-compete agreements in the technology sector?"
    answer = offline(textbook.COURTS).query(question)
    assert "Marsh v. Union Mills" in answer.text or "Reed v. Baxter" in answer.text
    assert "Bell v. Hart" not in answer.text


def test_names_of_one_company_become_one_node_that_holds_what_is_said_of_all(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as corpus:
        corpus.add(list_documents(textbook.DUPLICATES))
        corpus.build()
        names = [e.name for e in corpus.index().graph.entities]
        assert [n for n in names if "apple" in n.casefold() or n == "AAPL"] == ["Apple Inc."]
        assert corpus.query("From whom does Apple buy chips?").text.startswith("Apple also buys chips from TSMC.")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    """The index of some texts over a scripted server, each built once."""
    with ScriptedServer() as server:
        made: dict[str, Corpus] = {}

        def opened(texts: textbook.Texts) -> Corpus:
            name = next(iter(texts))
            if name not in made:
                made[name] = wired.corpus(tmp_path_factory.mktemp("served"), server)
                made[name].add(list_documents(texts))
                made[name].build()
            return made[name]

        yield opened
        for corpus in made.values():
            corpus.close()


@pytest.mark.parametrize(
    ("texts", "question", "method", "chosen", "needed"),
    [
        (
            textbook.DRUGS,
            "What drugs interact with Metformin?",
            "local",
            "local",
            {"Metformin and cimetidine", "Loop diuretics", "Case report: warfarin"},
        ),
        (
            textbook.DRUGS,
            "What are the major drug safety concerns across all reports?",
            "auto",
            "graphrag",
            {
                "Lactic acidosis: three cases",
                "Ketoacidosis under SGLT2 inhibitors",
            },
        ),
        (textbook.DRUGS, "What side effects does metformin cause?", "drift", "drift", {"Side effects of metformin"}),
        (textbook.PHYSICISTS, "How is Einstein connected to Bohr?", "auto", "walk", {"The Solvay debates"}),
        (textbook.JORDAN, "What is Jordan?", "auto", "local", {"The kingdom", "The player", "The river"}),
        (
            textbook.COMPANIES,
            "Which of Asterion's competitors acquired a startup founded by an ex-employee of Brightline?",
            "auto",
            "kag",
            {"The market for batteries", "Calder Cells buys a start-up", "A young company", "People"},
        ),
    ],
)
def test_a_model_is_given_the_documents_that_an_example_needs(
    served: Open, texts: textbook.Texts, question: str, method: str, chosen: str, needed: set[str]
) -> None:
    corpus = served(texts)
    answer = corpus.query(question, method=method)
    assert answer.method == chosen
    chunks = [source.chunk for passage in answer.evidence.passages for source in passage.sources]
    shown = set(corpus.index().documents_of(chunks).values())
    assert needed <= shown | cited(answer)
    assert answer.citations
