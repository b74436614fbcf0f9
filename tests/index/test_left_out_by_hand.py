"""What is listed of what failed for good, and the words that take its place: worked out by hand."""

from __future__ import annotations

import pytest

from sensegraph.index import left_out
from sensegraph.index.left_out import (
    list_left_out,
    quote_as_report,
    quote_as_text,
    quote_passages,
    recovered_chunks,
)
from sensegraph.index.manifest import LeftOut
from sensegraph.runtime.batches import SetAside
from sensegraph.types import (
    Brief,
    Chunk,
    Context,
    Description,
    Entity,
    Finding,
    Graph,
    Passage,
    Relation,
    Report,
    Source,
    Statement,
)

CHUNKS = [Chunk("c1", "d1", 10, 90, 20, "x" * 80), Chunk("c2", "d0", 100, 160, 20, "y" * 60, title="Second")]


def aside(item: object, task: str = "report", key: str = "k", partial: bool = False) -> SetAside:
    return SetAside(key, task, item, f"kind of {task}", f"why {task}", partial)


def passage(name: str, text: str = "", title: str = "", sources: tuple[Source, ...] = (), **more: object) -> Passage:
    return Passage("entity", name, text, title=title, sources=sources, **more)  # type: ignore[arg-type]


def graph_of(*told: tuple[str, Source]) -> Graph:
    entities = tuple(
        Entity(name, name.title(), "person", "", (Description(f"About {name}.", source),), ("c1",), 1, 1)
        for name, source in told
    )
    return Graph(entities)


def list_all(*given: SetAside, graph: Graph | None = None) -> tuple[LeftOut, ...]:
    return list_left_out(given, graph or Graph(()), lambda: CHUNKS)


def test_chunks_come_first_in_the_order_of_their_places_and_once_each() -> None:
    first, second = CHUNKS
    found = list_all(aside(first, "extract"), aside(second, "extract", partial=True), aside(first, "extract", "other"))
    assert found == (
        LeftOut("d0", 100, 160, "kind of extract", "why extract", partial=True),
        LeftOut("d1", 10, 90, "kind of extract", "why extract"),
    )
    assert [one.what for one in found] == ["chunk", "chunk"]


def test_what_else_failed_for_a_chunk_is_called_by_its_title_else_by_its_document() -> None:
    found = list_all(
        aside(CHUNKS[0], "describe"), aside(CHUNKS[1], "describe", partial=True), aside(CHUNKS[0], "extract")
    )
    assert found == (
        LeftOut("d1", 10, 90, "kind of extract", "why extract"),
        LeftOut("d0", 100, 160, "kind of describe", "why describe", "describe", "Second", True),
        LeftOut("d1", 10, 90, "kind of describe", "why describe", "describe", "d1"),
    )


@pytest.mark.parametrize(
    ("passages", "told", "place"),
    [
        ((passage("a", "One two"),), (), ("", 0, 0)),
        ((passage("a", sources=(Source("c1", 3, 7), Source("c2", 0, 9))),), (), ("d1", 13, 17)),
        ((passage("a"), passage("b", sources=(Source("c2", 1, 5),))), (), ("d0", 101, 105)),
        ((passage("a"), passage("b", sources=(Source("c2", 1, 5),))), (("a", Source("c1", 2, 4)),), ("d1", 12, 14)),
        ((passage("a", sources=(Source("c2", 1, 5),)),), (("a", Source("c1", 2, 4)),), ("d0", 101, 105)),
        ((passage("a"),), (("b", Source("c1", 2, 4)),), ("", 0, 0)),
        ((passage("a", sources=(Source("gone", 1, 5),)),), (), ("", 0, 0)),
        (
            (passage("a", quotes=(Description("said", Source("c2", 5, 6)),)),),
            (("a", Source("c1", 2, 4)),),
            ("d0", 105, 106),
        ),
    ],
)
def test_a_text_stands_where_the_first_of_what_it_rests_on_does(
    passages: tuple[Passage, ...], told: tuple[tuple[str, Source], ...], place: tuple[str, int, int]
) -> None:
    context = Context(passages, "A title")
    for item in (context, Brief(context)):
        (found,) = list_all(aside(item, partial=True), graph=graph_of(*told))
        assert found == LeftOut(*place, "kind of report", "why report", "report", "A title", True)


def test_a_text_about_a_relation_stands_where_the_relation_is_told_of() -> None:
    said = (Description("They met.", Source("c2", 4, 9)),)
    relation = Relation("r", "a", "b", "met", said, 1.0, ("c2",))
    (found,) = list_all(aside(Context((passage("r"),))), graph=Graph((), (relation,)))
    assert (found.document, found.start, found.end) == ("d0", 104, 109)
    bare = Relation("r", "a", "b", "met", (), 1.0, ("c2",))
    nothing = Entity("e", "E", "person", "", (), (), 1, 1)
    (found,) = list_all(aside(Context((passage("r"), passage("e")))), graph=Graph((nothing,), (bare,)))
    assert (found.document, found.start, found.end) == ("", 0, 0)


def test_texts_are_in_the_order_of_their_tasks_and_places_and_called_by_their_first_passages() -> None:
    words = "one two three four five six seven eight nine"
    named = [passage("a", words), passage("b", "text", "Title"), passage("c", "third"), passage("d", "fourth")]
    found = list_all(
        aside(Context(tuple(named)), "summarise"),
        aside(Context(tuple(named[1:])), "report"),
        aside(Context((passage("x", sources=(Source("c2", 9, 10),)),), "B"), "report"),
        aside(Context((passage("x", sources=(Source("c2", 9, 10),)),), "A"), "report"),
        aside(Context((passage("x", sources=(Source("c2", 2, 10),)),), "C"), "report"),
    )
    assert [(one.what, one.document, one.start, one.name) for one in found] == [
        ("report", "", 0, "Title, third, fourth"),
        ("report", "d0", 102, "C"),
        ("report", "d0", 109, "A"),
        ("report", "d0", 109, "B"),
        ("summarise", "", 0, "one two three four five six seven eight, Title, third"),
    ]


@pytest.mark.parametrize(
    ("before", "now", "recovered"),
    [
        ([], [], False),
        ([("d1", 10, 90, "chunk")], [], True),
        ([("d1", 10, 90, "chunk")], [CHUNKS[0]], False),
        ([("d1", 10, 91, "chunk")], [CHUNKS[0]], True),
        ([("d1", 11, 90, "chunk")], [CHUNKS[0]], True),
        ([("d2", 10, 90, "chunk")], [CHUNKS[0]], True),
        ([("d2", 10, 90, "report")], [CHUNKS[0]], False),
        ([("d1", 10, 90, "chunk"), ("d0", 100, 160, "chunk")], [CHUNKS[0]], True),
        ([("d1", 10, 90, "chunk"), ("d0", 100, 160, "chunk")], CHUNKS, False),
    ],
)
def test_a_chunk_is_recovered_where_it_was_missing_and_is_not_now(
    before: list[tuple[str, int, int, str]], now: list[Chunk], recovered: bool
) -> None:
    earlier = [LeftOut(document, start, end, "kind", "why", what) for document, start, end, what in before]
    assert recovered_chunks(earlier, [aside(chunk, "extract") for chunk in now]) is recovered


def test_a_report_is_replaced_by_its_first_passages_word_for_word() -> None:
    sources = (Source("c1", 0, 1), Source("c1", 0, 1))
    quotes = (Description("q", Source("c2", 3, 4)), Description("q", Source("c1", 0, 1)))
    first = passage("p0", "First text", "T0", sources, quotes=quotes)
    rest = [passage(f"p{i}", f"text {i}" if i != 2 else "", f"T{i}" if i != 3 else "") for i in range(1, 7)]
    context = Context((first, *rest), "Named")
    wanted = Report(
        "Named",
        (Statement("First text ", ("p0",), (Source("c1", 0, 1), Source("c2", 3, 4))),),
        (
            Finding("T1", (Statement("text 1 ", ("p1",), ()),)),
            Finding("T2", (Statement("T2 ", ("p2",), ()),)),
            Finding("text 3", (Statement("text 3 ", ("p3",), ()),)),
            Finding("T4", (Statement("text 4 ", ("p4",), ()),)),
        ),
        0.0,
        "the engine wrote no report; these are its sources' own words",
    )
    assert quote_as_report(context) == quote_as_report(Brief(context)) == wanted
    assert quote_as_report(Context(())).findings == quote_as_report(Context(())).summary == ()
    assert quote_as_report(Context((first,))).title == "T0"


@pytest.mark.parametrize(
    ("lengths", "kept"), [((599, 1, 1), 2), ((600, 1), 1), ((601, 1), 1), ((300, 301, 1), 1), ((200, 200, 200), 3)]
)
def test_a_summary_is_replaced_by_as_many_descriptions_as_have_600_tokens(lengths: tuple[int, ...], kept: int) -> None:
    texts = [" ".join(["word"] * length) for length in lengths]
    context = Context(tuple(passage(f"p{i}", text) for i, text in enumerate(texts)))
    assert quote_as_text(context) == " ".join(texts[:kept])


@pytest.mark.parametrize(
    ("words", "lengths", "kept"),
    [
        (5, (2, 3, 1), 2),
        (5, (5,), 1),
        (5, (6, 1), 1),
        (4, (2, 3, 1), 1),
        (0, (599, 1, 1), 2),
        (0, (601, 1), 1),
        (1, (), 0),
    ],
)
def test_a_text_is_replaced_by_as_many_passages_as_it_was_to_have_words(
    words: int, lengths: tuple[int, ...], kept: int
) -> None:
    passages = tuple(passage(f"p{i}", " ".join(["word"] * length)) for i, length in enumerate(lengths))
    found = quote_passages(Brief(Context(passages), words))
    assert [said.references for said in found] == [(f"p{i}",) for i in range(kept)]


def test_names_of_what_failed_are_of_eight_words_at_most() -> None:
    assert left_out._title_of(passage("a", "1 2 3 4  5\n6 7 8 9")) == "1 2 3 4 5 6 7 8"
    assert left_out._title_of(passage("a", "1 2", "Title")) == "Title"
