from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.index.index import Index
from sensegraph.index.passages import (
    Room,
    Teller,
    answer_from_draft,
    chunk_passage,
    cite_statements,
    claim_passage,
    documents_behind,
    entity_passage,
    ground_statements,
    passage_tokens,
    relation_passage,
)
from sensegraph.language.text import count_tokens
from sensegraph.testing import check_citations
from sensegraph.types import (
    Chunk,
    Claim,
    Description,
    Document,
    Draft,
    Entity,
    Evidence,
    Passage,
    Relation,
    Source,
    Statement,
)

TEXTS = {
    "keeper": "Ada Finch keeps the lamp. She wrote to the Board in March. The Board did not answer.",
    "storm": "In April a storm broke the lamp. " + "Tom Reeve sailed from Port Ellery to mend it, and was late. " * 9,
}


@dataclass(frozen=True, slots=True)
class GraphReader:
    """What citing needs of an index: chunks and documents by id. Each document is two chunks, cut at 20."""

    def chunks(self, ids: list[str]) -> dict[str, Chunk]:
        made = {}
        for name, text in TEXTS.items():
            for start, end in ((0, 20), (20, len(text))):
                made[f"{name}@{start}"] = Chunk(f"{name}@{start}", name, start, end, 1, text[start:end])
        return {i: made[i] for i in ids if i in made}

    def documents_of(self, ids: list[str]) -> dict[str, str]:
        return {i: c.document for i, c in self.chunks(ids).items()}

    def document(self, name: str) -> Document:
        return Document(name, TEXTS[name])

    def page(self, name: str, place: int) -> int | None:
        return None if name == "storm" else 1 + (place >= 20)

    def figure(self, name: str, place: int) -> None:
        return None


SHELF: Index = GraphReader()  # type: ignore[assignment]


PLACES = st.integers(-2, 30)


def said(text: str, *sources: Source, references: tuple[str, ...] = ()) -> Statement:
    return Statement(text, references, sources)


def test_a_citation_is_the_text_at_its_span_of_the_document() -> None:
    text, citations, lost = cite_statements(
        [said("She wrote. ", Source("keeper@20", 6, 39)), said("No answer.")], SHELF
    )
    assert text == "She wrote. [1] No answer."
    (only,) = citations
    assert (only.document, only.start, only.end, lost) == ("keeper", 26, 59, 0)
    assert (only.quote, only.page) == (TEXTS["keeper"][26:59], 2)


def test_one_number_stands_for_one_span_and_numbers_rise_with_the_text() -> None:
    one, two = Source("keeper@0", 0, 9), Source("storm@0", 3, 8)
    text, citations, _ = cite_statements([said("a", one, two), said(" b", two), said(" c\n", one, one)], SHELF)
    assert text == "a [1][2] b [2] c [1]"
    assert [c.marker for c in citations] == [1, 2]


@pytest.mark.parametrize(
    "source", [Source("missing", 0, 5), Source("keeper@0", 5, 5), Source("keeper@0", 0, 21), Source("keeper@0", -1, 4)]
)
def test_a_source_that_leads_nowhere_is_removed_and_counted(source: Source) -> None:
    assert cite_statements([said("a.", source)], SHELF) == ("a.", (), 1)


def test_a_long_source_is_narrowed_to_the_sentence_that_says_it() -> None:
    whole = Source("storm@20", 0, len(TEXTS["storm"]) - 20)
    _, (only,), _ = cite_statements([said("Tom Reeve sailed from Port Ellery.", whole)], SHELF)
    assert only.quote == "Tom Reeve sailed from Port Ellery to mend it, and was late."


def test_blanks_alone_need_no_citation() -> None:
    source = Source("keeper@0", 0, 4)
    assert cite_statements([said("", source), said("a", source), said(" \n", source)], SHELF)[0] == "a [1]"
    assert cite_statements([said("", source)], SHELF) == ("", (), 0)


@given(
    st.lists(
        st.builds(
            said,
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="[]"), max_size=12),
            st.builds(Source, st.sampled_from(["keeper@0", "storm@20", "none"]), PLACES, PLACES),
        ),
        max_size=8,
    )
)  # fmt: skip
def test_every_citation_resolves_whatever_is_cited(statements: list[Statement]) -> None:
    text, citations, lost = cite_statements(statements, SHELF)
    assert all(c.quote == TEXTS[c.document][c.start : c.end] != "" for c in citations)
    assert all(f"[{c.marker}]" in text for c in citations)
    assert bool(text.strip()) == any(s.text.strip() for s in statements)
    assert len(citations) + lost <= len(statements)


# ── grounding ──

QUOTES = tuple(
    Description(text, Source("keeper@20", i, i + 5))
    for i, text in enumerate(["The lamp broke.", "She wrote to the Board in March.", "Nothing was said.", "He wrote."])
)


def test_a_statement_rests_on_the_quotes_that_share_its_words() -> None:
    (made,) = ground_statements(
        [Statement("In March she wrote to the Board.", ("p",))], [Passage("report", "p", "…", quotes=QUOTES)]
    )
    assert made.sources[0] == QUOTES[1].source
    assert len(made.sources) == 3


def test_exact_sources_of_an_engine_are_kept() -> None:
    statement = said("a", Source("keeper@0", 0, 3), references=("p",))
    assert ground_statements([statement], [Passage("report", "p", "…", quotes=QUOTES)]) == [statement]


def test_a_passage_without_quotes_is_its_own_source() -> None:
    passage = Passage("chunk", "c", "some text", sources=(Source("keeper@0", 0, 9),))
    (made,) = ground_statements([Statement("a", ("c", "unknown"))], [passage])
    assert made.sources == passage.sources


def test_a_statement_without_references_has_no_sources() -> None:
    assert ground_statements([Statement("a")], [Passage("report", "p", "…", quotes=QUOTES)]) == [Statement("a")]


def test_of_quotes_that_say_as_much_the_shorter_and_then_the_first_come_first() -> None:
    texts = ["Ada lit it and then went home by boat.", "Ada lit it.", "Nobody came.", "Ada lit it!", "Bram lit it."]
    quotes = tuple(Description(text, Source("c", i, i + 1)) for i, text in enumerate(texts))
    (made,) = ground_statements([Statement("Ada lit it", ("p",))], [Passage("report", "p", "…", quotes=quotes)])
    assert [s.start for s in made.sources] == [1, 3, 0]


# ── passages ──

SAID = tuple(Description(f"It is {i}.", Source("c", i, i + (i > 0))) for i in range(30))


def test_records_are_passages_with_the_first_twenty_sentences_that_stand_somewhere() -> None:
    entity = Entity("e", "Ada", "person", "Ada is so.", SAID, ("a#1", "b#1", "a#2"), 3, 1)
    made = entity_passage(entity, 0.5)
    assert (made.kind, made.id, made.text, made.title, made.score) == ("entity", "e", "Ada is so.", "Ada", 0.5)
    assert made.quotes == SAID[1:21]
    plain = Relation("r", "e", "f", "Ada knew Bo.", SAID[:2], 1.0, ("a#1",))
    named = Relation("r", "e", "f", "Ada knew Bo.", SAID[:2], 1.0, ("a#1",), "knew")
    assert relation_passage(plain, "Ada", "Bo").text == "Ada knew Bo."
    assert relation_passage(named, "Ada", "Bo").text == "knew: Ada knew Bo."
    assert relation_passage(named, "Ada", "Bo", 2.0).title == "Ada — Bo"
    assert relation_passage(named, "Ada", "Bo").quotes == SAID[1:2]
    assert [p.score for p in (entity_passage(entity), relation_passage(plain, "", ""))] == [0.0, 0.0]


def test_a_chunk_and_a_claim_are_passages_of_one_document() -> None:
    chunk = Chunk("c", "d", 5, 9, 1, "text", "Title")
    assert chunk_passage(chunk) == Passage("chunk", "c", "text", 0.0, "Title", (Source("c", 0, 4),), documents=1)
    source = Source("c", 0, 4)
    claim = Claim("k", "e", "Bo", "FACT", "TRUE", "She paid.", "1835", "1836", source)
    made = claim_passage(claim, "Ada")
    assert (made.text, made.title, made.documents) == ("Bo | FACT | TRUE | 1835 to 1836 | She paid.", "Ada", 1)
    assert made.quotes == (Description("She paid.", source),)
    short = claim_passage(Claim("k", "e", "", "FACT", "", "She paid.", "", "1836", source), "Ada")
    assert short.text == "FACT | 1836 | She paid."


def test_a_room_takes_what_fits_to_the_last_token_and_nothing_after_the_first_that_does_not() -> None:
    room = Room(10)
    assert room.filled([4, 6, 0, 1, 0], lambda n: n) == [4, 6, 0]
    assert room.left == 0
    assert Room(3).filled([4, 1], lambda n: n) == []
    passage = Passage("chunk", "c", "some text", title="A title")
    assert passage_tokens(passage) == count_tokens("some text") + count_tokens("A title")


def test_what_is_told_is_the_text_and_blanks_wait_for_what_follows() -> None:
    heard: list[str] = []
    teller = Teller([Passage("chunk", "p", "x", sources=(Source("keeper@0", 0, 9),))], SHELF, heard.append)
    for text in ("  ", " She wrote. ", "\n", "No answer.\n", " "):
        teller.tell(Statement(text, ("p",) if text.strip() else ()))
    assert heard == ["She wrote. [1]", " \nNo answer. [1]"]
    assert teller.count == 5


@pytest.mark.parametrize(("length", "whole"), [(400, True), (401, False)])
def test_a_source_of_up_to_four_hundred_characters_is_cited_whole(length: int, whole: bool) -> None:
    source = Source("storm@20", 0, length)
    _, (only,), _ = cite_statements([said("Tom Reeve sailed.", source)], SHELF)
    assert (only.end - only.start == length) is whole
    assert only.quote.startswith("ke the lamp" if whole else "Tom Reeve")


# ── answers ──


def evidence() -> Evidence:
    return Evidence((Passage("report", "p", "…", quotes=QUOTES),), ("keeper",), 3, notes=("from the evidence",))


def test_what_got_lost_is_said_in_the_notes() -> None:
    draft = Draft((said("a", Source("missing", 0, 1)), Statement(" b", ("p",))), dangling=2, notes=("from the engine",))
    answer = answer_from_draft(draft, evidence(), SHELF)
    assert answer.notes == ("from the evidence", "from the engine", "removed 3 invalid citations")
    check_citations(answer, TEXTS)


def test_an_answer_without_any_citation_says_so() -> None:
    long = Statement("I think so. The wall was built. It fell down again.")
    assert "the model cited no source" in answer_from_draft(Draft((long,)), evidence(), SHELF).notes[-1]


def test_more_than_two_sentences_need_a_citation() -> None:
    two, three = "I think so. It fell.", "I think so. It fell. It rose."
    assert answer_from_draft(Draft((Statement(two),)), evidence(), SHELF).notes == ("from the evidence",)
    assert len(answer_from_draft(Draft((Statement(three),)), evidence(), SHELF).notes) == 2


def test_a_short_refusal_is_no_answer_without_citations() -> None:
    answer = answer_from_draft(Draft((Statement("The sources say nothing on it."),)), evidence(), SHELF)
    assert answer.text == "The sources say nothing on it."
    assert not any("cited no source" in note for note in answer.notes)


def test_the_documents_behind_passages_come_best_first_and_once() -> None:
    passages = [
        Passage("chunk", "1", "", sources=(Source("storm@0", 0, 1), Source("gone", 0, 1))),
        Passage("report", "2", "", quotes=QUOTES),
        Passage("chunk", "3", "", sources=(Source("storm@20", 0, 1),)),
    ]
    assert documents_behind(passages, SHELF) == ("storm", "keeper")


def test_a_citation_has_the_page_and_the_figure_of_where_it_begins() -> None:
    class Placed(GraphReader):
        def figure(self, name: str, place: int) -> Any:
            return name, place

    shelf: Any = Placed()
    _, (first, second), _ = cite_statements([said("a", Source("keeper@0", 4, 20), Source("keeper@20", 0, 3))], shelf)
    assert (first.start, first.end, first.page, first.figure) == (4, 20, 1, ("keeper", 4))
    assert (second.start, second.end, second.page, second.figure) == (20, 23, 2, ("keeper", 20))
