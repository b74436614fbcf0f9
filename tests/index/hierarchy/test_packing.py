from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import Small, cluster, small, words

from sensegraph.index.hierarchy.packing import (
    Elements,
    Line,
    list_elements,
    pack_community,
    report_line,
    report_passage,
)
from sensegraph.language.text import count_tokens
from sensegraph.types import Cluster, Context, Passage, Statement

SEEDS = st.integers(0, 10**6)
PLENTY = 10**6


def lines(made: Small, *, quotes: bool = False) -> Elements:
    return list_elements(made.graph, made.documents, quotes=quotes)


def packed(made: Small, budget: int, seed: int = 1) -> Context:
    context = pack_community(made.parent, lines(made), made.reports(seed), budget)
    assert context is not None
    return context


def ids(context: Context, kind: str) -> list[str]:
    return [p.id for p in context.passages if p.kind == kind]


def size(passages: tuple[Passage, ...]) -> int:
    return sum(count_tokens(p.title) + count_tokens(p.text) + 6 for p in passages)


@given(SEEDS, st.integers(20, 800))
@settings(max_examples=60)
def test_a_context_never_exceeds_its_budget(seed: int, budget: int) -> None:
    made = small(seed)
    assert size(packed(made, budget, seed).passages) <= budget
    leaf = pack_community(made.parent, lines(made), (), budget)
    assert leaf is not None
    assert size(leaf.passages) <= budget


@given(SEEDS, st.integers(20, 800))
@settings(max_examples=60)
def test_a_context_is_filled_in_the_order_of_the_paper_up_to_the_first_line_that_does_not_fit(
    seed: int, budget: int
) -> None:
    """Source, target, relation and claims by falling combined degree, then what has no relation (edge2024 §3.1.5)."""
    made = small(seed)
    found = lines(made)
    nodes, links = found.inside(made.parent.entities)
    offered = [
        line for link in links for line in (*(found.entity[e] for e in link.ends), link, *told(found, link.ends))
    ]
    offered += [line for node in nodes for line in (node, *told(found, node.ends))]
    unique = list(dict.fromkeys(line.passage.id for line in offered))
    sizes = {line.passage.id: line.tokens for line in offered}
    fitting = [n for n in range(len(unique) + 1) if sum(sizes[name] for name in unique[:n]) <= budget]
    leaf = pack_community(made.parent, found, (), budget)
    assert leaf is not None
    assert {p.id for p in leaf.passages} == set(unique[: max(fitting)])


def told(found: Elements, ends: tuple[str, ...]) -> list[Line]:
    return [claim for end in ends for claim in found.claims.get(end, ())]


@given(SEEDS, st.integers(20, 800))
@settings(max_examples=60)
def test_lines_are_whole_or_left_out_and_counted(seed: int, budget: int) -> None:
    made = small(seed)
    found = lines(made)
    whole = {line.passage for line in found.entity.values()}
    whole |= {line.passage for many in (*found.relations.values(), *found.claims.values()) for line in many}
    leaf = pack_community(made.parent, found, (), budget)
    everything = pack_community(made.parent, found, (), PLENTY)
    assert leaf is not None
    assert everything is not None
    assert set(leaf.passages) <= whole
    assert leaf.omitted == len(everything.passages) - len(leaf.passages)
    assert everything.omitted == 0


@given(SEEDS)
@settings(max_examples=60)
def test_d1_all_inner_relations_are_offered_and_no_foreign_one(seed: int) -> None:
    made = small(seed)
    for group in (made.parent, *made.children):
        context = pack_community(group, lines(made), (), PLENTY)
        assert context is not None
        assert set(ids(context, "relation")) == made.inner(group)
        assert set(ids(context, "entity")) == set(group.entities)
        assert set(ids(context, "claim")) == {c.id for c in made.graph.claims if c.subject in group.entities}


@given(SEEDS, st.integers(20, 800))
@settings(max_examples=60)
def test_relations_stand_in_the_order_of_combined_degree(seed: int, budget: int) -> None:
    made = small(seed)
    degree = {e.id: e.degree for e in made.graph.entities}
    ends = {r.id: (r.source, r.target) for r in made.graph.relations}
    order = [(-sum(degree[e] for e in ends[r]), r) for r in ids(packed(made, budget, seed), "relation")]
    assert bool(order) >= (budget > 600)
    assert order == sorted(order)


@given(SEEDS, st.integers(20, 800))
@settings(max_examples=60)
def test_what_fits_first_is_the_best_linked(seed: int, budget: int) -> None:
    made = small(seed)
    found = lines(made)
    few, all_ = pack_community(made.parent, found, (), budget), pack_community(made.parent, found, (), PLENTY)
    assert few is not None
    assert all_ is not None
    kept = ids(few, "relation")
    assert kept == ids(all_, "relation")[: len(kept)]


@given(SEEDS, st.integers(60, 700))
@settings(max_examples=60)
def test_what_a_report_stands_for_is_not_told_twice_and_what_crosses_stays(seed: int, budget: int) -> None:
    made = small(seed)
    context = packed(made, budget, seed)
    told = {g.id: g for g in made.children if g.id in ids(context, "report")}
    covered = {e for g in told.values() for e in g.entities}
    assert not covered & set(ids(context, "entity"))
    hidden = {r for g in told.values() for r in made.inner(g)}
    offered = made.inner(made.parent) - hidden
    assert set(ids(context, "relation")) <= offered
    if not context.omitted:
        assert set(ids(context, "relation")) == offered


def test_d2_a_parent_that_overflows_contains_the_reports_of_its_children() -> None:
    made = small(3, nodes=30, links=90)
    whole = packed(made, PLENTY)
    assert ids(whole, "report") == []
    context = packed(made, size(whole.passages) - 1)
    assert ids(context, "report")
    assert context.omitted == 0


def test_the_largest_child_is_replaced_first() -> None:
    made = small(3, nodes=30, links=90)
    whole = packed(made, PLENTY)
    sizes = {g.id: size(_alone(made, g.id)) for g in made.children}
    context = packed(made, size(whole.passages) - 1)
    assert ids(context, "report") == [max(sizes, key=lambda g: sizes[g])]


def _alone(made: Small, name: str) -> tuple[Passage, ...]:
    group = next(g for g in made.children if g.id == name)
    context = pack_community(group, lines(made), (), PLENTY)
    assert context is not None
    return context.passages


def test_a_parent_that_needs_reports_waits_for_them() -> None:
    made = small(3, nodes=30, links=90)
    nothing = [(g, None) for g in made.children]
    assert pack_community(made.parent, lines(made), nothing, 100) is None
    assert pack_community(made.parent, lines(made), nothing, PLENTY) is not None


def test_a_report_that_is_longer_than_what_it_stands_for_is_not_used() -> None:
    made = small(5)
    budget = size(packed(made, PLENTY).passages) - 1
    long = [(g, cluster(g, Random(1))) for g in made.children]
    longer = [(g, _with_text(c, 2000)) for g, c in long]
    context = pack_community(made.parent, lines(made), longer, budget)
    assert context is not None
    assert ids(context, "report") == []
    assert context.omitted > 0


def _with_text(made: Cluster | None, count: int) -> Cluster:
    assert made is not None
    text = words(Random(1), count) * 40
    return replace(made, summary=(Statement(text),), tokens=count_tokens(text))


def test_a_report_that_does_not_fit_is_cut_to_its_first_paragraph() -> None:
    made = small(3, nodes=60, links=200)
    full = [report_passage(c) for _, c in made.reports(1) if c is not None]
    context = packed(made, size(tuple(full)) - 1)
    texts = [p.text for p in context.passages if p.kind == "report"]
    cut = [f for f in full if f.text not in texts]
    assert (len(texts), len(cut)) == (3, 1)
    assert cut[0].text.partition("\n")[0] in texts
    assert context.omitted > 0


def test_the_omitted_are_counted_with_their_claims() -> None:
    made = small(3, nodes=30, links=90, claims=40)
    reports = made.reports(1)
    whole = size(packed(made, PLENTY).passages)
    context = pack_community(made.parent, lines(made), reports, whole // 2)
    assert context is not None
    covered = {e for g, _ in reports if g.id in ids(context, "report") for e in g.entities}
    hidden = {r for g in made.children if g.id in ids(context, "report") for r in made.inner(g)}
    offered = (
        len(ids(context, "report"))
        + len(set(made.parent.entities) - covered)
        + len(made.inner(made.parent) - hidden)
        + len([c for c in made.graph.claims if c.subject in set(made.parent.entities) - covered])
    )
    assert context.omitted == offered - len(context.passages)


# ── what engines are given ──


def test_an_engine_that_quotes_is_given_quotes_scores_and_documents() -> None:
    made = small(1)
    told = pack_community(made.parent, lines(made, quotes=True), (), PLENTY)
    assert told is not None
    assert all(p.quotes and p.documents == 1 for p in told.passages if p.kind in ("entity", "relation"))


def test_any_other_engine_is_asked_again_only_when_a_text_changes() -> None:
    made = small(1)
    before = pack_community(made.children[0], lines(made), (), PLENTY)
    busier = replace(made.graph, entities=tuple(replace(e, degree=e.degree + 7) for e in made.graph.entities))
    after = pack_community(made.children[0], list_elements(busier, {}, quotes=False), (), PLENTY)
    assert before == after


def test_a_community_is_called_by_its_best_linked_entities() -> None:
    made = small(1)
    ranked = sorted(made.parent.entities, key=lambda e: (-next(x.degree for x in made.graph.entities if x.id == e), e))
    assert packed(made, PLENTY).title == ", ".join(f"Name {e}" for e in ranked[:3])


def test_a_report_is_a_passage_with_the_sources_of_its_statements() -> None:
    made = cluster(small(1).children[0], Random(2))
    passage = report_passage(made)
    assert (passage.kind, passage.id, passage.score) == ("report", made.id, 5.0)
    assert passage.text == made.text
    assert [q.source.chunk for q in passage.quotes] == ["c0", "c1"]
    assert report_line(made).tokens == count_tokens("Report") + count_tokens(made.text) + 6


@pytest.mark.parametrize("budget", [0, 1, 5])
def test_a_budget_without_room_gives_an_empty_context_and_says_so(budget: int) -> None:
    context = packed(small(1), budget)
    assert context.passages == ()
    assert context.omitted > 0
