"""What a filter and a moment leave of small graphs, reports and answers, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import InputError
from sensegraph.index.manifest import Catalogue, ChunkEntry, DocumentEntry, Manifest
from sensegraph.index.restricted.arrivals import Arrival, known_then
from sensegraph.index.restricted.dates import Dates, Fact
from sensegraph.index.restricted.moment import Spans, TimedIndex, ends_before_it_begins, spans_of, time_notes, when_of
from sensegraph.index.restricted.scope import ScopedIndex, graph_inside, join_texts, scope_holds
from sensegraph.language.dates.intervals import span_through
from sensegraph.language.dates.stated_dates import When
from sensegraph.language.text import count_tokens
from sensegraph.questions import Condition, Scope
from sensegraph.types import (
    Answer,
    Chunk,
    Citation,
    Claim,
    Cluster,
    Description,
    Entity,
    Finding,
    Graph,
    Hierarchy,
    Relation,
    Source,
    Statement,
)


def said(*chunks: str) -> tuple[Description, ...]:
    return tuple(Description(f"So in {c}.", Source(c, 0, 8)) for c in chunks)


def entity(name: str, chunks: str, frequency: int, aliases: tuple[str, ...] = ()) -> Entity:
    return Entity(name, name.upper(), "p", f"All of {name}.", said(*chunks), tuple(chunks), frequency, 9, aliases)


def relation(ends: str, chunks: str, weight: float) -> Relation:
    return Relation(ends, ends[0], ends[1], f"All of {ends}.", said(*chunks), weight, tuple(chunks), "met")


def claim(about: str, chunk: str) -> Claim:
    return Claim(f"k{about}{chunk}", about, "o", "t", "TRUE", "so", "", "", Source(chunk, 0, 2))


# a, b and c are chunks of one document each; what is inside are a and b
GRAPH = Graph(
    (
        entity("x", "ab", 5, ("ex",)),
        entity("y", "abc", 10, ("why",)),
        entity("z", "c", 4),
        entity("u", "c", 1),
        entity("v", "bcdef", 5),
    ),
    (relation("xy", "ab", 4.0), relation("xz", "ac", 3.0), relation("yu", "c", 2.0)),
    (claim("x", "a"), claim("y", "c")),
)


def test_a_graph_inside_says_what_its_chunks_say() -> None:
    """y is told of in two of three chunks; z is in none, but a relation inside leads to it; u is not there."""
    inside = graph_inside(GRAPH, frozenset("ab"))
    assert [(e.id, e.frequency, e.degree, "".join(e.chunks), e.description, e.aliases) for e in inside.entities] == [
        ("x", 5, 2, "ab", "All of x.", ("ex",)),
        ("y", 7, 1, "ab", "So in a. So in b.", ()),
        ("z", 1, 1, "a", "", ()),
        ("v", 1, 0, "b", "So in b.", ()),
    ]
    assert [(r.id, r.weight, "".join(r.chunks), r.description, r.label) for r in inside.relations] == [
        ("xy", 4.0, "ab", "All of xy.", "met"),
        ("xz", 1.5, "a", "So in a.", ""),
    ]
    assert [c.id for c in inside.claims] == ["kxa"]
    assert graph_inside(GRAPH, frozenset()) == Graph()


def test_what_no_chunk_mentions_is_inside_where_a_relation_leads_to_it_and_else_nowhere() -> None:
    bare = (entity("s", "", 0), entity("t", "", 3), entity("x", "a", 1))
    graph = Graph(bare, (relation("st", "", 1.0), relation("tx", "ac", 2.0)))
    inside = graph_inside(graph, frozenset("a"))
    assert [(e.id, e.frequency, e.degree, e.chunks) for e in inside.entities] == [
        ("t", 1, 1, ("a",)),
        ("x", 1, 1, ("a",)),
    ]
    assert [r.id for r in inside.relations] == ["tx"]


def test_a_description_is_put_together_of_each_text_once_up_to_its_limit() -> None:
    def texts(*given: str) -> str:
        return join_texts([Description(text, Source("c", i, i + 1)) for i, text in enumerate(given)])

    assert texts(" One. ", "Two.", "One.", " ") == "One. Two."
    assert texts() == texts(" ") == ""
    long = "word " * 499 + "end"
    assert count_tokens(long) == 500
    assert texts(long, "more") == long
    assert texts(f"{long} end", "more") == f"{long} end"


# ── documents inside ──

ENTRY = DocumentEntry("minutes-1", "key", "The Minutes", "2020-06-01", (("year", 2020), ("final", True)))


@pytest.mark.parametrize(
    ("scope", "inside"),
    [
        ({"documents": ("minutes-1",)}, True),
        ({"documents": ("letter", "min*")}, True),
        ({"documents": ("letter",)}, False),
        ({"since": "2020-06-01"}, True),
        ({"since": "2020-06-02"}, False),
        ({"until": "2020"}, True),
        ({"until": "2020-06-01"}, True),
        ({"until": "2020-05"}, False),
        ({"since": "2020", "until": "2020"}, True),
        ({"where": (Condition("year", ">", 2019), Condition("year", "<=", 2020))}, True),
        ({"where": (Condition("year", ">", 2019), Condition("year", "<", 2020))}, False),
        ({"where": (Condition("title", "=", "the minutes"),)}, True),
        ({"where": (Condition("final", "=", "TRUE"),)}, True),
        ({"where": (Condition("year", "=", "2020"),)}, True),
        ({"where": (Condition("missing", "!=", 1),)}, False),
        ({"documents": ("min*",), "since": "2021"}, False),
    ],
)
def test_a_document_is_inside_when_all_tests_hold(scope: dict[str, Any], inside: bool) -> None:
    assert scope_holds(Scope(**scope), ENTRY) == inside
    timeless = replace(ENTRY, time="")
    assert scope_holds(Scope(**scope), timeless) == (inside and not {"since", "until"} & scope.keys())


# ── reports inside ──

CLUSTERS = (
    Cluster("g0", 0, 0, "", ("x",), ("x",), "X", (Statement("X is.", (), (Source("a", 0, 8),)),)),
    Cluster("g1", 0, 0, "", ("y", "z"), ("y", "z"), "Y and Z", (Statement("Y is."),), (Finding("f"),), 5.0, "why"),
    Cluster("g2", 1, 0, "", ("g0", "g1"), ("x", "y", "z"), "All", (Statement("All is."),)),
    Cluster("g3", 0, 0, "", ("u",), ("u",), "U", (Statement("U is."),)),
)


def whole(graph: Graph, clusters: tuple[Cluster, ...] = CLUSTERS, hierarchy: str = "h") -> Any:
    """An index of which chunk a is of document A, and so on."""
    chunks = {c: Chunk(c, c.upper(), 0, 20, 5, f"The text of chunk {c}.") for c in "abc"}
    documents = tuple(DocumentEntry(c.upper(), c, "", "", ()) for c in chunks)
    entries = tuple(ChunkEntry(c, c.upper(), "k", 0, 20) for c in chunks)
    return SimpleNamespace(
        notes=tuple,
        catalogue=Catalogue(documents, entries),
        graph=graph,
        hierarchy=Hierarchy(clusters),
        manifest=Manifest("", "", "", "", "", "", "", "", {"documents": 3}, hierarchy=hierarchy),
        chunks=lambda ids: {i: chunks[i] for i in ids if i in chunks},
        clusters_at=lambda depth: [c for c in clusters if c.depth == depth],
        given=None,
        store=None,
    )


def test_reports_that_draw_on_nothing_outside_stay_and_others_say_what_is_known_inside() -> None:
    graph = replace(GRAPH, relations=GRAPH.relations[:1], claims=())
    scoped = ScopedIndex(whole(graph), frozenset("AB"))
    kept = {c.id: c for c in scoped.hierarchy.clusters}
    assert list(kept) == ["g0", "g1", "g2"]
    assert kept["g0"] is CLUSTERS[0]
    partial = kept["g1"]
    assert (partial.title, partial.members, partial.entities) == ("Y", ("y",), ("y",))
    assert [(s.text, s.sources) for s in partial.summary] == [(f"So in {c}.\n", (Source(c, 0, 8),)) for c in "ab"]
    assert (partial.findings, partial.rating_explanation, partial.rating) == ((), "", 5.0)
    assert (partial.documents, partial.omitted) == (2, 0)
    assert partial.tokens == sum(count_tokens(s.text) for s in partial.summary)
    assert (kept["g2"].members, kept["g2"].entities, kept["g2"].title) == (("g0", "g1"), ("x", "y"), "Y, X")
    assert [c.id for c in scoped.clusters_at(0)] == ["g0", "g1", "g2"]
    left, lost = scoped.notes()
    assert left == "the filter leaves 2 of 3 documents"
    assert lost.startswith("2 of 3 reports drew on documents outside the filter")
    assert ScopedIndex(whole(graph, CLUSTERS[:1]), frozenset("AB")).notes() == (left,)
    assert ScopedIndex(whole(graph, hierarchy=""), frozenset("AB")).notes() == (left,)


@pytest.mark.parametrize("change", ["relation", "claim"])
def test_a_report_on_what_a_relation_or_a_claim_outside_speaks_of_is_left_out(change: str) -> None:
    graph = Graph(
        (entity("x", "a", 1), entity("y", "a", 1)),
        (relation("xy", "ac", 1.0),) if change == "relation" else (),
        (claim("x", "c"),) if change == "claim" else (),
    )
    found = (replace(CLUSTERS[0], entities=(name,), members=(name,)) for name in "xy")
    shown = [c.summary[0].text for c in ScopedIndex(whole(graph, tuple(found)), frozenset("A")).hierarchy.clusters]
    assert shown == (["So in a.\n"] * 2 if change == "relation" else ["So in a.\n", "X is."])


def test_a_community_is_called_by_three_names_by_degree_then_mentions_then_id() -> None:
    chunks = "ac"
    people = tuple(entity(n, chunks, f) for n, f in (("p", 4), ("q", 4), ("r", 8), ("s", 2), ("t", 2)))
    graph = Graph(people, (relation("st", "a", 1.0),))
    cluster = Cluster("g", 0, 0, "", tuple("pqrst"), tuple("pqrst"), "old")
    (made,) = ScopedIndex(whole(graph, (cluster,)), frozenset("A")).hierarchy.clusters
    assert made.title == "S, T, R"
    assert len(made.summary) == 1  # they all say the same
    long = tuple(replace(e, descriptions=(Description(f"{e.id} " * 300, Source("a", 0, 9)),)) for e in people[:3])
    (made,) = ScopedIndex(whole(Graph(long), (cluster,)), frozenset("A")).hierarchy.clusters
    assert (len(made.summary), made.omitted) == (1, 2)
    huge = (replace(people[0], descriptions=(Description("w " * 900, Source("a", 0, 9)),)), *long[1:])
    (made,) = ScopedIndex(whole(Graph(huge[:1]), (cluster,)), frozenset("A")).hierarchy.clusters
    assert (made.summary[0].text.split(), made.omitted) == (["w"] * 300, 0)


# ── a moment ──

SPANS = Spans({"a": [(0, 8)]}, {"b": [(0, 8)]}, span=span_through("2020", "2020"))


def timed(
    graph: Graph = GRAPH, clusters: tuple[Cluster, ...] = CLUSTERS, inside: str = "ABC", spans: Spans = SPANS
) -> TimedIndex:
    return TimedIndex(whole(graph, clusters), frozenset(inside), spans, ("then",))


def test_a_graph_at_a_moment_is_without_what_was_said_of_other_times() -> None:
    """What chunk b says is of another time: one of two texts of x — y, the only one of w, of which nothing else is."""
    graph = Graph(
        (entity("v", "b", 1), entity("w", "b", 1), entity("x", "ab", 5), entity("y", "ac", 2), entity("z", "b", 2)),
        (relation("vw", "b", 1.0), relation("xy", "ab", 4.0), relation("yz", "c", 2.0)),
        (claim("v", "b"), claim("y", "a")),
    )
    then = timed(graph).graph
    assert [(e.id, e.description, "".join(e.chunks)) for e in then.entities] == [
        ("x", "So in a.", "ab"),
        ("y", "All of y.", "ac"),
        ("z", "", "b"),
    ]
    assert [(r.id, r.weight, r.description, r.chunks, r.label) for r in then.relations] == [
        ("xy", 2.0, "So in a.", ("a",), ""),
        ("yz", 2.0, "All of yz.", ("c",), "met"),
    ]
    assert [c.id for c in then.claims] == ["kya"]


def test_reports_at_a_moment_lose_the_statements_that_rest_on_other_times_alone() -> None:
    here, there = Source("a", 0, 8), Source("b", 0, 8)
    told = Statement("T", (), (here,)), Statement("F", (), (there,)), Statement("M", (), (here, there)), Statement("N")
    findings = (Finding("whole", told[:1]), Finding("gone", told[1:2]), Finding("part", told), Finding("bare"))
    made = Cluster("g", 0, 0, "", ("x",), ("x",), "T", told, findings)
    then = timed().statements_that_hold(made)
    assert "".join(s.text for s in then.summary) == "TMN"
    assert [(f.summary, "".join(s.text for s in f.statements)) for f in then.findings] == [
        ("whole", "T"),
        ("part", "TMN"),
        ("bare", ""),
    ]
    same = replace(made, summary=told[:1], findings=findings[:1])
    assert timed().statements_that_hold(same) is same
    assert timed().statements_that_hold(replace(same, findings=findings[:2])).findings == findings[:1]


def test_the_notes_at_a_moment_count_the_reports_that_changed() -> None:
    past = Cluster("p", 0, 0, "", ("x",), ("x",), "P", (Statement("P", (), (Source("b", 0, 8),)),))
    rest = "in part on facts of other times: statements on these alone are left out"
    assert timed().notes() == ("then",)
    for clusters, said in (((past, CLUSTERS[0]), "1 report rests"), ((past, replace(past, id="q")), "2 reports rest")):
        index = timed(clusters=clusters)
        assert index.notes() == ("then",)  # none was read
        assert index.hierarchy.clusters
        assert index.notes() == ("then", f"{said} {rest}")
    assert timed(inside="AB", clusters=()).notes()[:2] == ("then", "the filter leaves 2 of 3 documents")


def cited(*places: tuple[str, int, int]) -> Answer:
    marks = tuple(Citation(i + 1, d, a, b, f"quote {i + 1}") for i, (d, a, b) in enumerate(places))
    return Answer("So.", marks)


@pytest.mark.parametrize(
    ("places", "notes"),
    [
        ([("A", 0, 8)], []),
        ([("A", 7, 12)], []),
        ([("A", 8, 12)], ["[1] does not say whether it held then"]),
        ([("B", 0, 8), ("A", 0, 3), ("A", 30, 40)], ["[1], [3] do not say whether it held then"]),
        ([("A", 16, 22)], ["[1] does not say whether it held then", "[1] is disputed; another source says: “No.”"]),
        ([("A", 12, 15)], ["[1] does not say whether it held then"]),
    ],
)
def test_citations_that_do_not_say_when_and_those_that_are_disputed_are_noted(
    places: list[tuple[str, int, int]], notes: list[str]
) -> None:
    spans = replace(SPANS, disputed={Source("a", 15, 20): ("No.", "quote 1", "No.")})
    assert list(time_notes(cited(*places), timed(spans=spans))) == notes


def test_without_a_moment_or_dates_there_is_nothing_to_note() -> None:
    bare: Any = SimpleNamespace()
    assert time_notes(cited(("A", 8, 12)), bare) == ()
    assert time_notes(cited(("A", 8, 12)), timed(spans=Spans({}, {}))) == ()
    assert len(time_notes(cited(("A", 8, 12)), timed(spans=Spans({}, {"b": [(0, 1)]})))) == 1
    assert len(time_notes(cited(("A", 18, 25)), timed(spans=Spans({"a": [(20, 22)]}, {})))) == 0


def fact(name: str, starts: str, ends: str, **changes: Any) -> Fact:
    place = (Source(name[0], 0, 4),)
    return Fact(name, "D", 0, 4, f"Text {name}.", starts, ends, starts, ends, place, **changes)


def test_what_holds_what_does_not_and_what_is_disputed_is_told_apart() -> None:
    held = {"type": "head", "thing": "firm", "disputed": True}
    facts = (
        fact("a", "2019", "2021", holder="Ada", **held),
        fact("b", "2010", "2012"),
        fact("c", "2020", "", holder="Bo", **held),
        fact("d", "2020", "2021", holder="Cy", **(held | {"thing": "ship"})),
        fact("e", "2019", "2021", holder="Dan", **(held | {"disputed": False})),
    )
    found = spans_of(Dates(facts), When("2020-06", "2020-06"))
    assert (sorted(found.holding), sorted(found.outside)) == (["a", "c", "d", "e"], ["b"])
    assert {s.chunk: texts for s, texts in found.disputed.items()} == {
        "a": ("Text c.",),
        "c": ("Text a.",),
        "d": (),
    }
    assert found.exclude is False
    assert spans_of(Dates(facts), When("2020", "2020", unknown="exclude")).exclude is True


def test_a_time_is_one_moment_or_a_stretch_in_order() -> None:
    assert when_of(Scope()) is None
    assert when_of(Scope(as_of="2020", unknown="exclude")) == When("2020", "2020", unknown="exclude")
    assert when_of(Scope(between=("2019", ""))) == When("2019", "", unknown="include")
    assert when_of(Scope(between=("", "2019"))) == When("", "2019", unknown="include")
    with pytest.raises(InputError, match="not for both"):
        when_of(Scope(as_of="2020", between=("2019", "")))
    with pytest.raises(InputError, match="2019 is before 2020"):
        when_of(Scope(between=("2020", "2019")))
    for first, last, wrong in [
        ("2020", "2019", True),
        ("2020", "2020", False),
        ("2020-06", "2020", False),
        ("2020", "2020-06", False),
        ("2020-02", "2020-01-31", True),
        ("", "2019", False),
        ("2020", "", False),
        ("soon", "2019", False),
        ("2020", "soon", False),
    ]:
        assert ends_before_it_begins(first, last) == wrong, (first, last)


# ── when documents were known ──

KNOWN = {
    "now": (Arrival("1", "2020-01-01T00:00:00Z"),),
    "old": (Arrival("0", "2019-01-01T00:00:00Z", "2021-01-01T00:00:00Z"), Arrival("1", "2021-01-01T00:00:00Z")),
    "gone": (Arrival("1", "2018-01-01T00:00:00Z", "2018-06-01T00:00:00Z"),),
}
LISTED = [DocumentEntry(name, "1", "", "", ()) for name in ("now", "old", "nobody")]


@pytest.mark.parametrize(
    ("moment", "unknown", "inside", "changed"),
    [
        ("2018", True, {"nobody"}, 0),
        ("2019-12-31", False, set(), 1),
        ("2020", False, {"now"}, 1),
        ("2020-12-31", True, {"now", "nobody"}, 1),
        ("2021", False, {"now", "old"}, 0),
        ("2021-01-01", False, {"now", "old"}, 0),
        ("2030", True, {"now", "old", "nobody"}, 0),
    ],
)
def test_documents_are_those_that_were_known_then_as_they_are_now(
    moment: str, unknown: bool, inside: set[str], changed: int
) -> None:
    then = known_then(KNOWN, LISTED, moment, unknown)
    assert (then.inside, then.changed, then.unknown, then.first) == (inside, changed, 1, "2018-01-01T00:00:00Z")
    assert known_then({}, [], moment, unknown).first == "later"
