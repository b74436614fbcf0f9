"""What a report is written from, line by line: tokens, order and what is omitted are counted by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.index.hierarchy.packing import (
    Elements,
    Group,
    Line,
    ground_statement,
    ground_unless_quoted,
    list_elements,
    pack_community,
    report_passage,
    resolve_references,
    resolve_report,
    shown_to,
)
from sensegraph.language.text import count_tokens
from sensegraph.types import (
    Claim,
    Cluster,
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


def line(kind: str, name: str, tokens: int, ends: tuple[str, ...], rank: int = 0) -> Line:
    return Line(Passage(kind, name, "", title=name.upper()), tokens, ends, rank)


def elements(**changes: int) -> Elements:
    """Entities a, b and c of 10 tokens, a — b and a — c of 7, a claim on a and one on c of 5."""
    size = {"a": 10, "b": 10, "c": 10, "ab": 7, "ac": 7, "ka": 5, "kc": 5} | changes
    found = Elements()
    for name, degree in (("a", 3), ("b", 2), ("c", 1)):
        found.entity[name] = line("entity", name, size[name], (name,), degree)
    for ends, rank in (("ab", 5), ("ac", 4)):
        found.relations["a"].append(line("relation", ends, size[ends], tuple(ends), rank))
    for about in "ac":
        found.claims[about].append(line("claim", f"k{about}", size[f"k{about}"], (about,)))
    return found


TOP = Group("top", 0, "", ("g1", "g2"), ("a", "b", "c"))
G1, G2 = Group("g1", 1, "top", (), ("a", "b")), Group("g2", 1, "top", (), ("c",))


def told(context: Context | None) -> tuple[str, int]:
    assert context is not None
    return " ".join(p.id for p in context.passages), context.omitted


@pytest.mark.parametrize(
    ("budget", "kept", "omitted"),
    [
        (54, "a b c ab ac ka kc", 0),
        (53, "a b c ab ac ka", 1),
        (49, "a b c ab ac ka", 1),
        (48, "a b c ab ka", 2),
        (42, "a b c ab ka", 2),
        (41, "a b ab ka", 3),
        (32, "a b ab ka", 3),
        (31, "a b ab", 4),
        (27, "a b ab", 4),
        (26, "a b", 5),
        (20, "a b", 5),
        (19, "a", 6),
        (9, "", 7),
    ],
)
def test_source_target_relation_and_claims_fill_the_budget_in_turn(budget: int, kept: str, omitted: int) -> None:
    """a 10, b 20, a — b 27, the claim on a 32, c 42, a — c 49, the claim on c 54; shown by kind."""
    assert told(pack_community(TOP, elements(), (), budget)) == (kept, omitted)


def test_the_first_line_that_does_not_fit_ends_the_context_though_a_later_one_would_fit() -> None:
    assert told(pack_community(TOP, elements(kc=1, ac=1), (), 41)) == ("a b ab ka", 3)


def test_relations_of_one_rank_come_by_id_and_the_best_linked_come_first() -> None:
    found = elements()
    found.relations["b"].append(line("relation", "aa", 7, ("b", "c"), 4))
    found.relations["c"].append(line("relation", "out", 7, ("c", "elsewhere"), 9))
    nodes, links = found.inside(("c", "b", "a", "b"))
    assert [n.passage.id for n in nodes] == ["a", "b", "c"]
    assert [r.passage.id for r in links] == ["ab", "aa", "ac"]


def test_a_community_is_called_by_three_entities_by_rank_then_name() -> None:
    found = Elements()
    for name, rank in (("e", 1), ("d", 1), ("c", 1), ("b", 7)):
        found.entity[name] = line("entity", name, 1, (name,), rank)
    context = pack_community(Group("g", 0, "", (), tuple("edcb")), found, (), 9)
    assert context is not None
    assert context.title == "B, C, D"


def report(group: Group, tokens: int, *paragraphs: str) -> Cluster:
    """A report that is a line of so many tokens: six stand for its number and separators."""
    said = tuple(Statement(text) for text in paragraphs[:1])
    findings = tuple(Finding("", (Statement(text),)) for text in paragraphs[1:])
    return Cluster(group.id, 0, 1, "top", (), group.entities, "T", said, findings, tokens=tokens - 6)


BRIEF = count_tokens("T") + count_tokens("One.") + 6  # the tokens of a report's first paragraph as a line


@pytest.mark.parametrize(
    ("budget", "first", "second", "kept", "omitted"),
    [
        (54, 10, 10, "a b c ab ac ka kc", 0),  # it fits without reports
        (53, 10, 10, "g1 c ac kc", 0),  # 32 tokens of g1 become 10
        (32, 10, 10, "g1 c ac kc", 0),
        (31, 10, 14, "g1 g2 ac", 0),  # 31: what crosses stays
        (31, 10, 15, "g1 c ac", 1),  # a report as long as what it stands for is not used
        (53, 32, 10, "g2 a b ab ac ka", 0),  # 49: the first is as long, the second is not
        (53, 33, 15, "a b c ab ac ka", 1),  # neither
        (30, 10, 14, "g1 g2", 1),
        (24, 10, 14, "g1 g2", 1),
        (23, 10, 14, "g1 g2", 1),  # the second by its first paragraph
        (10 + BRIEF, 10, 14, "g1 g2", 1),
        (9 + BRIEF, 10, 14, "g1 ac", 1),
    ],
)
def test_reports_take_the_place_of_their_elements_largest_first(
    budget: int, first: int, second: int, kept: str, omitted: int
) -> None:
    reports = [(G2, report(G2, second, "One.", "Two.")), (G1, report(G1, first, "One.", "Two."))]
    assert told(pack_community(TOP, elements(), reports, budget)) == (kept, omitted)


def test_a_report_that_does_not_fit_is_shown_by_its_first_paragraph() -> None:
    reports = [(G1, report(G1, 10, "One.", "Two.")), (G2, report(G2, 14, "One.", "Two."))]
    for budget, expected in ((24, ["One.\n: Two.", "One.\n: Two."]), (23, ["One.\n: Two.", "One."])):
        context = pack_community(TOP, elements(), reports, budget)
        assert context is not None
        assert [p.text for p in context.passages] == expected


def test_children_of_one_size_are_replaced_by_id_and_one_without_report_stops_it() -> None:
    one, other = Group("g1", 1, "top", (), ("b",)), Group("g2", 1, "top", (), ("c",))
    found = elements(kc=0)
    reports = [(other, report(other, 8, "One.")), (one, report(one, 8, "One."))]
    assert told(pack_community(TOP, found, reports, 48)) == ("g1 a c ab ac ka kc", 0)
    assert pack_community(TOP, found, [reports[0], (one, None)], 48) is None
    assert pack_community(TOP, found, [(other, None), (one, None)], 49) is not None


# ── lines ──

ADA = Entity("a", "Ada", "person", "Ada keeps.", (Description("Ada kept.", Source("c0", 0, 9)),), ("c0", "c1"), 2, 3)
BO = Entity("b", "Bo", "person", "Bo pays.", (), ("c2", "lost"), 1, 4)
LINK = Relation("r", "a", "b", "They met.", (Description("They met.", Source("c1", 3, 9)),), 2.5, ("c1",), "met")
CLAIM = Claim("k", "b", "board", "debt", "TRUE", "Bo owes.", "2001", "2002", Source("c2", 1, 5))
WHOLE = Graph((ADA, BO), (LINK,), (CLAIM, replace(CLAIM, id="l", object="", ends="")))
DOCUMENTS = {"c0": "d0", "c1": "d0", "c2": "d1"}


def test_lines_say_what_an_engine_is_shown_and_what_it_takes() -> None:
    plain, quoting = (list_elements(WHOLE, DOCUMENTS, quotes=quotes) for quotes in (False, True))
    assert [made.relations["a"][0].passage.text for made in (plain, quoting)] == ["met: They met.", "They met."]
    unnamed = replace(WHOLE, relations=(replace(LINK, label=""),))
    assert list_elements(unnamed, DOCUMENTS, quotes=False).relations["a"][0].passage.text == "They met."
    assert [c.passage.text for c in plain.claims["b"]] == [
        "board | debt | TRUE | 2001 to 2002 | Bo owes.",
        "debt | TRUE | 2001 | Bo owes.",
    ]
    assert [c.passage.quotes for c in plain.claims["b"]] == [(), ()]
    assert quoting.claims["b"][0].passage.quotes == (Description("Bo owes.", Source("c2", 1, 5)),)
    (link,) = quoting.relations["a"]
    assert (link.rank, link.ends, link.passage.title) == (7, ("a", "b"), "Ada — Bo")
    assert link.tokens == count_tokens("Ada — Bo") + count_tokens("They met.") + 6
    shown = [quoting.entity[e].passage for e in "ab"] + [link.passage]
    assert [(p.score, p.documents, len(p.quotes)) for p in shown] == [(3.0, 1, 1), (4.0, 1, 0), (2.5, 1, 1)]
    assert [(p.score, p.documents, p.quotes) for p in (plain.entity["a"].passage,)] == [(0.0, 0, ())]


def quoted(*texts: str, documents: str = "") -> list[int]:
    """Which of an element's sentences an engine that quotes is given; one letter names the document of each."""
    listed = tuple(Description(text, Source(f"c{i}", 0, 9)) for i, text in enumerate(texts))
    home = {f"c{i}": letter for i, letter in enumerate(documents or "d" * len(texts))}
    made = list_elements(Graph((replace(ADA, descriptions=listed),)), home, quotes=True)
    chosen = made.entity["a"].passage.quotes
    return [listed.index(d) for d in chosen]


def sentence(number: int, length: int) -> str:
    return f"{number:03} ".ljust(length - 1, "x") + "."


def test_twenty_sentences_are_given_as_they_stand_and_of_more_twenty() -> None:
    assert quoted(*(["no"] * 20)) == list(range(20))
    short = [sentence(i, 61) for i in range(21)]
    assert len(quoted(*short[:20])) == len(quoted(*short)) == 20


@pytest.mark.parametrize(
    "whole", [sentence(900, 60), sentence(900, 240), "y" * 70 + "!", "y" * 70 + ".”", "y" * 60 + "。"]
)
@pytest.mark.parametrize("part", [sentence(900, 59), sentence(900, 241), "y" * 70 + "?", "y" * 70 + ",”", "y" * 70])
def test_a_sentence_stands_alone_that_ends_and_has_60_to_240_characters(whole: str, part: str) -> None:
    others = [sentence(i, 100) for i in range(19)]
    given = quoted(part, *others, whole)
    assert given[-1] == 20
    assert 0 not in given
    poor = [f"poor {i}" for i in range(20)]
    assert 20 in quoted(*poor, whole)


def test_documents_take_turns_and_a_text_comes_again_last() -> None:
    many = [sentence(i, 100) for i in range(30)]
    given = quoted(*many, documents="a" * 20 + "b" * 5 + "c" * 5)
    assert ([sum(a <= i < b for i in given) for a, b in ((0, 20), (20, 25), (25, 30))]) == [10, 5, 5]
    again = quoted(*([sentence(99, 100)] * 10), *many[:19])
    assert len(again) == 20
    assert set(again) > set(range(10, 29))


# ── what was written ──


def test_references_to_what_was_not_shown_go_and_are_counted() -> None:
    said = (Statement("One.", ("a", "x", "b", "y")), Statement("Two.", ("b",)), Statement("Three.", ("z",)))
    kept, lost = resolve_references(said, {"a", "b"})
    assert ([s.references for s in kept], lost) == ([("a", "b"), ("b",), ()], 3)
    assert kept[1] is said[1]
    found = Report("T", said, (Finding("F", said[:1]), Finding("G", said[2:])), dangling=4)
    cut, lost = resolve_report(found, {"a", "b"})
    assert (cut.summary, [f.statements for f in cut.findings]) == (kept, [kept[:1], kept[2:]])
    assert ([f.summary for f in cut.findings], lost) == (["F", "G"], 3 + 2 + 1 + 4)


def spans(name: str) -> list[Source]:
    return [Source(name, i, i + 1) for i in range(int(name[1:]))]


@pytest.mark.parametrize(
    ("references", "places"),
    [
        (("a1", "b2"), "a0 b0 b1"),
        (("a2", "a2"), "a0 a1"),
        (("a9",), "a0 a1 a2 a3 a4 a5 a6 a7"),
        (("a4", "b4", "c0"), "a0 b0 a1 b1 a2 b2 a3 b3"),
        (("a3", "b3", "c3"), "a0 b0 c0 a1 b1 c1 a2 b2"),
    ],
)
def test_a_statement_has_the_first_spans_of_each_reference_in_turn(references: tuple[str, ...], places: str) -> None:
    found = ground_statement(Statement("So.", references), spans)
    assert " ".join(f"{s.chunk[0]}{s.start}" for s in found.sources) == places


def test_a_statement_with_sources_or_without_references_stays_and_so_do_those_that_quote() -> None:
    sourced, bare = Statement("So.", ("a2",), (Source("z", 0, 1),)), Statement("So.")
    assert ground_statement(sourced, spans) is sourced
    assert ground_statement(bare, spans) is bare
    cited, quoting, writing = Statement("So.", ("a1",)), *(SimpleNamespace(quotes=q) for q in (True, False))
    given: Any = [ground_unless_quoted(engine, cited, spans).sources for engine in (quoting, writing)]  # type: ignore[arg-type]
    assert given == [(), (Source("a1", 0, 1),)]
    passage = Passage("entity", "a", "text", 2.0, "title", (Source("z", 0, 1),), documents=3)
    shown: Any = [shown_to(engine, passage) for engine in (quoting, writing)]  # type: ignore[arg-type]
    assert shown == [passage, Passage("entity", "a", "text", title="title")]


def test_details_stand_behind_a_report_but_not_where_it_has_them_already() -> None:
    said = (Statement(" One. ", (), (Source("c", 0, 5), Source("c", 9, 12))),)
    made = Cluster("g", 0, 0, "", (), (), "T", said, (Finding("F", (Statement("Two.", (), (Source("c", 6, 8),)),)),))
    details = [Description("again", Source("c", 6, 8)), Description("new", Source("c", 6, 9))]
    assert [(q.text, q.source.start, q.source.end) for q in report_passage(made, details).quotes] == [
        ("One.", 0, 5),
        ("One.", 9, 12),
        ("Two.", 6, 8),
        ("new", 6, 9),
    ]
