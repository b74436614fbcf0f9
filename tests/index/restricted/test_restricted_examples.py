"""What a filter and a moment leave of a graph, a chunk, a report; which documents are inside: worked examples."""

from __future__ import annotations

import pytest

from sensegraph.index.manifest import DocumentEntry
from sensegraph.index.restricted.arrivals import Arrival, known_then
from sensegraph.index.restricted.dates import (
    Dates,
    Dating,
    Fact,
    find_dated_sentences,
    settle_dates,
)
from sensegraph.index.restricted.moment import ends_before_it_begins, spans_of, when_of
from sensegraph.index.restricted.scope import graph_inside, join_texts, scope_holds
from sensegraph.index.restricted.timeline import describe_interval
from sensegraph.language.dates.stated_dates import When
from sensegraph.questions import Condition, Scope
from sensegraph.types import Chunk, Claim, Description, Document, Entity, Graph, Relation, Source


def make_entity(name: str, chunks: str, type: str = "person", frequency: int = 0) -> Entity:
    """An entity that each of these chunks (one letter each) describes."""
    told = tuple(Description(f"{name} in {c}.", Source(c, 0, 5)) for c in chunks)
    return Entity(
        name.lower(), name, type, told[0].text if told else "", told, tuple(chunks), frequency or len(chunks), 7
    )


def make_relation(one: str, other: str, chunks: str, weight: float = 6.0) -> Relation:
    told = tuple(Description(f"{one} {other} {c}.", Source(c, 0, 5)) for c in chunks)
    return Relation(f"{one}-{other}", one, other, "all", told, weight, tuple(chunks), "knows")


def make_claim(subject: str, chunk: str) -> Claim:
    return Claim(f"k-{subject}-{chunk}", subject, "", "t", "TRUE", "so", "", "", Source(chunk, 0, 5))


GRAPH = Graph(
    (
        make_entity("Ada", "abc", frequency=9),
        make_entity("Tom", "a"),
        make_entity("Bell", "c"),
        make_entity("Ida", "d"),
    ),
    (make_relation("ada", "tom", "ab"), make_relation("tom", "bell", "c"), make_relation("ada", "ida", "bc", 3.0)),
    (make_claim("ada", "a"), make_claim("bell", "c")),
)


def cut_graph(chunks: str) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]], list[str]]:
    found = graph_inside(GRAPH, frozenset(chunks))
    return (
        [(e.id, e.description, e.chunks, e.frequency, e.degree) for e in found.entities],
        [(r.id, r.description, r.weight, r.chunks, r.label) for r in found.relations],
        [c.id for c in found.claims],
    )


def join_told(texts: list[str]) -> tuple[str, int]:
    joined = join_texts([Description(text, Source("c", 0, 1)) for text in texts])
    return joined[:60], len(joined.split())


def holds_scope(documents: list[str], where: list[tuple[str, str, object]], since: str, until: str, time: str) -> bool:
    scope = Scope(tuple(documents), tuple(Condition(*c) for c in where), since, until)
    metadata = (("kind", "Letter"), ("year", 2020), ("open", True))
    return scope_holds(scope, DocumentEntry("doc-1", "k", "Pier", time, metadata))


def know(moment: str, unknown: bool, listed: list[tuple[str, str]]) -> tuple[list[str], int, int, str]:
    known = {
        "a": (Arrival("1", "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"), Arrival("2", "2021-01-01T00:00:00Z")),
        "b": (Arrival("1", "2019-06-01T00:00:00Z", "2020-06-01T00:00:00Z"),),
        "c": (),
    }
    found = known_then(known, [DocumentEntry(i, k, "", "", ()) for i, k in listed], moment, unknown)
    return sorted(found.inside), found.changed, found.unknown, found.first


def make_fact(starts: str, ends: str, first: str = "", last: str = "", **given: object) -> Fact:
    return Fact("f", "d", 0, 5, "so", first, last, starts, ends, (Source("c", 0, 5),), **given)  # type: ignore[arg-type]


def tell_interval(starts: str, ends: str, first: str, last: str, reason: str, flagged: bool) -> str:
    return describe_interval(make_fact(starts, ends, first, last, reason=reason, flagged=flagged))


def date_sentences(text: str, time: str) -> list[tuple[str, str, str, int]]:
    ((*found,),) = find_dated_sentences.fn([Document("d", text, "", (), time)])
    return [(s.text, s.first, s.last, s.unread) for s in found]


def settle_texts(texts: list[str], functional: list[str]) -> tuple[list[tuple[object, ...]], int]:
    """The facts of documents, each of which is two chunks that overlap."""
    documents = [Document(f"d{i}", t, "", (), "") for i, t in enumerate(texts)]
    listed = find_dated_sentences.fn(documents)
    chunks = [
        Chunk(f"{d.id}{k}", d.id, a, b, 1, d.text[a:b])
        for d in documents
        for k, (a, b) in enumerate(((0, len(d.text) * 2 // 3), (len(d.text) // 3, len(d.text))))
    ]
    dating = Dating({d.id: s for d, s in zip(documents, listed, strict=True)}, chunks, {})
    (found,) = settle_dates.fn([dating], functional=tuple(functional))
    facts = [
        (f.document, f.start, f.starts, f.ends, f.thing, f.holder, f.disputed, f.reason, f.flagged,
         [(s.chunk, s.start, s.end) for s in f.sources])
        for f in found.facts
    ]  # fmt: skip
    return facts, found.unread


def split_spans(first: str, last: str, unknown: str) -> tuple[object, ...]:
    facts = (
        make_fact("2010", "2015"),
        make_fact("2015", ""),
        make_fact("", "2018"),
        make_fact("2010", "2013", disputed=True, type="t", thing="x", holder="a"),
        make_fact("2011", "2014", disputed=True, type="t", thing="x", holder="b"),
    )
    found = spans_of(Dates(facts), When(first, last, unknown))  # type: ignore[arg-type]
    return len(found.holding.get("c", [])), len(found.outside.get("c", [])), dict(found.disputed), found.exclude


def read_when(as_of: str, between: tuple[str, str], unknown: str) -> tuple[str, str, str] | None:
    found = when_of(Scope(as_of=as_of, between=between, unknown=unknown))  # type: ignore[arg-type]
    return (found.first, found.last, found.unknown) if found else None


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (
            "b",
            (
                [
                    ("ada", "Ada in b.", ("b",), 3, 2),
                    ("tom", "", ("b",), 1, 1),
                    ("ida", "", ("b",), 1, 1),
                ],
                [("ada-tom", "ada tom b.", 3.0, ("b",), ""), ("ada-ida", "ada ida b.", 1.5, ("b",), "")],
                [],
            ),
        ),
    ],
)
def test_a_graph_is_cut_to_the_chunks_inside(chunks: str, expected: tuple[object, ...]) -> None:
    assert cut_graph(chunks) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a.", " a. ", "b.", ""], ("a. b.", 2)),
        (
            [
                (
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word word word word word "
                    "word word word word word word word word word word word word "
                ),
                (
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more more more more more "
                    "more more more more more more more more more more more more "
                ),
            ],
            ("word word word word word word word word word word word word ", 300),
        ),
    ],
)
def test_texts_are_joined_once_and_as_many_as_fit(texts: list[str], expected: tuple[object, ...]) -> None:
    assert join_told(texts) == expected


@pytest.mark.parametrize(
    ("documents", "where", "since", "until", "time", "expected"),
    [
        (["doc-2"], [], "", "", "", False),
        (["doc-*"], [], "", "", "", True),
        (["x", "doc-?"], [], "", "", "", True),
        ([], [], "", "2020", "2020-05-01", True),
        ([], [], "", "2020-04", "2020-05-01", False),
        ([], [], "", "2021", "", False),
        ([], [("kind", "=", "letter")], "", "", "2020", True),
        ([], [("year", "=", 2020)], "", "", "2020", True),
        ([], [("year", "=", "2020")], "", "", "2020", True),
    ],
)
def test_a_document_is_inside_a_scope(
    documents: list[str], where: list[tuple[object, ...]], since: str, until: str, time: str, expected: bool
) -> None:
    assert holds_scope(documents, where, since, until, time) == expected


@pytest.mark.parametrize(
    ("moment", "unknown", "listed", "expected"),
    [
        (
            "2019-06-01",
            True,
            [("a", "2"), ("b", "1"), ("c", "1"), ("e", "1")],
            (["b", "c", "e"], 0, 2, "2019-06-01T00:00:00Z"),
        ),
        ("2020", False, [("a", "2"), ("b", "1"), ("c", "1"), ("e", "1")], (["b"], 1, 2, "2019-06-01T00:00:00Z")),
        (
            "2020-06-01T00:00:00Z",
            False,
            [("a", "2"), ("b", "1"), ("c", "1"), ("e", "1")],
            ([], 1, 2, "2019-06-01T00:00:00Z"),
        ),
        ("2021", False, [("a", "2"), ("b", "1"), ("c", "1"), ("e", "1")], (["a"], 0, 2, "2019-06-01T00:00:00Z")),
    ],
)
def test_a_document_was_known_then(
    moment: str, unknown: bool, listed: list[tuple[object, ...]], expected: tuple[object, ...]
) -> None:
    assert know(moment, unknown, listed) == expected


@pytest.mark.parametrize(
    ("starts", "ends", "first", "last", "reason", "flagged", "expected"),
    [
        ("2011", "", "2011", "", "", False, "since 2011"),
        ("2011", "2012", "2011", "2011", "", False, "2011"),
    ],
)
def test_an_interval_is_told(
    starts: str, ends: str, first: str, last: str, reason: str, flagged: bool, expected: str
) -> None:
    assert tell_interval(starts, ends, first, last, reason, flagged) == expected


@pytest.mark.parametrize(
    ("text", "time", "expected"),
    [
        ("It was so yesterday.", "", [("It was so yesterday.", "", "", 1)]),
    ],
)
def test_sentences_with_dates_are_found(text: str, time: str, expected: list[tuple[object, ...]]) -> None:
    assert date_sentences(text, time) == expected


@pytest.mark.parametrize(
    ("texts", "functional", "expected"),
    [
        (
            [
                (
                    "Anna Berg became CEO of Nordwind in 2011. Bo Lind became CEO of Nordwind in 2015. "
                    "It was founded on 30 February 2020. Nothing else."
                ),
                (
                    "In 2013 Cora Dahl was CEO of Nordwind. Anna Berg became CEO of Nordwind in 2011. "
                    "It ended in 2010 and began in 2012."
                ),
            ],
            ["CEO of"],
            (
                [
                    ("d0", 0, "2011", "2013", "nordwind", "anna berg", False, "functional", False, [("d00", 0, 41)]),
                    ("d0", 42, "2015", "", "nordwind", "bo lind", False, "", False, [("d00", 42, 81), ("d01", 0, 38)]),
                    ("d1", 0, "2013", "2014", "nordwind", "cora dahl", False, "", False, [("d10", 0, 38)]),
                    (
                        "d1",
                        39,
                        "2011",
                        "2013",
                        "nordwind",
                        "anna berg",
                        False,
                        "functional",
                        False,
                        [("d10", 39, 77), ("d11", 1, 42)],
                    ),
                    ("d1", 81, "2012", "", "", "", False, "", False, [("d11", 43, 78)]),
                ],
                1,
            ),
        ),
    ],
)
def test_facts_lie_in_chunks_and_close_each_other(
    texts: list[str], functional: list[str], expected: tuple[object, ...]
) -> None:
    assert settle_texts(texts, functional) == expected


@pytest.mark.parametrize(
    ("first", "last", "unknown", "expected"),
    [
        ("2012", "2012", "exclude", (3, 1, {Source(chunk="c", start=0, end=5): ("so",)}, True)),
        ("2016", "2016", "include", (1, 3, {}, False)),
        ("2013", "2014", "include", (2, 2, {Source(chunk="c", start=0, end=5): ()}, False)),
    ],
)
def test_a_time_parts_what_holds_from_what_does_not(
    first: str, last: str, unknown: str, expected: tuple[object, ...]
) -> None:
    assert split_spans(first, last, unknown) == expected


@pytest.mark.parametrize(
    ("as_of", "between", "unknown", "expected"),
    [
        ("", ("2015", ""), "include", ("2015", "", "include")),
    ],
)
def test_a_scope_asks_for_a_time(
    as_of: str, between: tuple[object, ...], unknown: str, expected: tuple[object, ...]
) -> None:
    assert read_when(as_of, between, unknown) == expected


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("2015", "2014", True),
    ],
)
def test_a_stretch_ends_before_it_begins(first: str, last: str, expected: bool) -> None:
    assert ends_before_it_begins(first, last) == expected
