from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_merge import merge_plainly

from drawn import drawn_aliases, drawn_extractions
from scripted import Script, ScriptedServer
from sensegraph.errors import SettingsError
from sensegraph.index.graph.describing import (
    crowded_elements,
    describe_elements,
    distinct_descriptions,
    summarise_crowded,
)
from sensegraph.index.graph.elements import entity_id, relation_id
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.homonyms import with_senses
from sensegraph.index.graph.merging import merge_extractions
from sensegraph.index.settings import IndexSettings
from sensegraph.resolution.aliases import NO_ALIASES, Aliases
from sensegraph.resolution.senses import Senses
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import (
    Chunk,
    Description,
    Entity,
    ExtractedClaim,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
    Graph,
    Mention,
    Source,
)
from wired import runtime

CREATE = GraphSettings()


def chunk(name: str, length: int = 100) -> Chunk:
    return Chunk(name, f"doc-{name}", 0, length, 20, "x" * length)


def entity(name: str, kind: str = "person", said: str = "") -> ExtractedEntity:
    return ExtractedEntity(name, kind, said)


def relation(source: str, target: str, said: str = "", strength: float = 1.0, label: str = "") -> ExtractedRelation:
    return ExtractedRelation(source, target, said, strength, label=label)


def merged(*extractions: Extraction, settings: GraphSettings = CREATE) -> Graph:
    return merge_extractions([(chunk(f"c{i}"), x) for i, x in enumerate(extractions)], settings)


def named(graph: Graph) -> dict[tuple[str, str], Entity]:
    return {(e.name, e.type): e for e in graph.entities}


def test_names_that_fold_alike_are_one_entity_with_all_its_descriptions() -> None:
    graph = merged(
        Extraction((entity("Ada  FINCH", "Person", "keeps the lamp"),)),
        Extraction((entity("ada finch", "person", "wrote a letter"), entity("Ada Finch", "PERSON", ""))),
    )
    (ada,) = graph.entities
    assert (ada.name, ada.type, ada.frequency, ada.chunks) == ("Ada  FINCH", "person", 3, ("c0", "c1"))
    assert [d.text for d in ada.descriptions] == ["keeps the lamp", "wrote a letter"]
    assert ada.id == entity_id(("ada finch", "person"))


def test_the_label_that_most_chunks_give_a_relation_is_its_label() -> None:
    people = (entity("Ada"), entity("Ben"))
    said = [Extraction(people, (relation("Ada", "Ben", label=label),)) for label in ("saw", "met", "met", "left")]
    assert [r.label for r in merged(*said).relations] == ["met"]
    assert [r.label for r in merged(*said[::-1]).relations] == ["met"]


def test_the_name_that_is_used_most_is_shown() -> None:
    graph = merged(*[Extraction((entity(n),)) for n in ("ADA", "Ada", "Ada")])
    assert graph.entities[0].name == "Ada"


def test_d11_the_same_name_with_two_types_is_two_entities_that_keep_all_their_mentions() -> None:
    graph = merged(
        Extraction((entity("Mercury", "planet", "is hot"), entity("Mercury", "person", "is a god"))),
        Extraction((entity("Mercury", "planet", "is small"),)),
    )
    texts = {kind: [d.text for d in e.descriptions] for (_, kind), e in named(graph).items()}
    assert texts == {"planet": ["is hot", "is small"], "person": ["is a god"]}


def test_a_relation_is_bound_to_the_entity_of_its_own_chunk() -> None:
    graph = merged(
        Extraction((entity("Mercury", "planet"), entity("Sun", "star")), (relation("Mercury", "Sun"),)),
        Extraction((entity("Mercury", "person"), entity("Jove", "person")), (relation("Mercury", "Jove"),)),
        Extraction((entity("Mercury", "person"),)),
    )
    ids = named(graph)
    ends = {(r.source, r.target) for r in graph.relations}
    assert (ids["Mercury", "planet"].id, ids["Sun", "star"].id) in ends
    assert (ids["Mercury", "person"].id, ids["Jove", "person"].id) in ends


@pytest.mark.parametrize(
    ("told", "ends", "label", "directed"),
    [
        ([("Ann", "Acme", "founded")], ("Ann", "Acme"), "founded", True),
        ([("Acme", "Ann", "was founded by")], ("Acme", "Ann"), "was founded by", True),
        # what the records with its label say counts, not the others
        ([("Acme", "Ann", "owes"), ("Ann", "Acme", "runs"), ("Ann", "Acme", "runs")], ("Ann", "Acme"), "runs", True),
        ([("Ann", "Acme", "met"), ("Ann", "Acme", "met"), ("Acme", "Ann", "met")], ("Ann", "Acme"), "met", False),
        ([("Ann", "Acme", "")], ("Ann", "Acme"), "", True),  # a model's record without a label has its direction
    ],
)
def test_a_relation_leads_from_the_subject_of_its_label(
    told: list[tuple[str, str, str]], ends: tuple[str, str], label: str, directed: bool
) -> None:
    records = tuple(relation(a, b, f"{a} {said} {b}.", label=said) for a, b, said in told)
    graph = merged(Extraction((entity("Ann"), entity("Acme")), records))
    names = {e.id: e.name for e in graph.entities}
    (found,) = graph.relations
    assert ((names[found.source], names[found.target]), found.label, found.directed) == (ends, label, directed)


def test_records_that_tell_no_direction_make_a_relation_without_one() -> None:
    record = replace(relation("Ann", "Acme"), directed=False)
    (found,) = merged(Extraction((entity("Ann"), entity("Acme")), (record,))).relations
    assert not found.directed
    assert found.source < found.target


def test_of_two_types_in_one_chunk_the_first_listed_is_meant() -> None:
    graph = merged(
        Extraction(
            (entity("Rose", "plant"), entity("Rose", "person"), entity("Bee", "animal")), (relation("Rose", "Bee"),)
        )
    )
    assert named(graph)["Rose", "plant"].degree == 1
    assert named(graph)["Rose", "person"].degree == 0


def test_an_end_of_another_chunk_is_the_most_frequent_entity_of_that_name() -> None:
    graph = merged(
        Extraction((entity("Rose", "plant"),)),
        Extraction((entity("Rose", "person"),)),
        Extraction((entity("Rose", "person"),)),
        Extraction((entity("Bee", "animal"),), (relation("Bee", "Rose"),)),
    )
    rose = named(graph)["Rose", "person"]
    assert rose.degree == 1
    assert (rose.frequency, rose.chunks) == (3, ("c1", "c2", "c3"))  # the chunk that only names it is a mention too


def test_an_end_that_nobody_describes_is_created_or_its_relation_dropped() -> None:
    one = Extraction((entity("Bee", "animal"),), (relation("Bee", "Rose"), relation("Rose", "Bee")))
    created = merged(one, one)
    rose = named(created)["Rose", "unknown"]
    assert (len(created.relations), created.relations[0].weight, rose.frequency) == (1, 4.0, 2)
    dropped = merged(one, settings=GraphSettings(orphans="drop"))
    assert (len(dropped.entities), len(dropped.relations)) == (1, 0)


def test_relations_are_undirected_and_weighed_by_their_mentions() -> None:
    ends = (entity("A"), entity("B"), entity("C"))
    texts = (relation("A", "B", "one", 3.0), relation("b", "a", "two", 4.0), relation("A", "C", "", 2.0))
    graph = merged(Extraction(ends, texts))
    weights = {w: sorted(r.weight for r in merged(Extraction(ends, texts), settings=GraphSettings(weight=w)).relations)
               for w in ("count", "normalised", "strength")}  # fmt: skip
    assert weights == {"count": [1.0, 2.0], "normalised": [0.5, 1.0], "strength": [2.0, 7.0]}
    both = next(r for r in graph.relations if r.weight == 2.0)
    assert [d.text for d in both.descriptions] == ["one", "two"]
    assert both.source < both.target
    assert both.id == relation_id(both.target, both.source)


def test_a_relation_of_a_thing_to_itself_is_text_about_it() -> None:
    graph = merged(Extraction((entity("Ada", said="keeps"),), (relation("Ada", "ADA", "knows herself"),)))
    assert graph.relations == ()
    assert [d.text for d in graph.entities[0].descriptions] == ["keeps", "knows herself"]
    assert graph.entities[0].degree == 0


def test_claims_are_kept_once_with_their_subject() -> None:
    claim = ExtractedClaim(
        "Ada", "none", "fraud", "SUSPECTED", "It is said that she lied.", "2020-01-01", start=3, end=9
    )
    graph = merged(
        Extraction((entity("Ada"),), claims=(claim, claim)), Extraction(claims=(replace(claim, subject="Bo"),))
    )
    by_subject = {c.subject: c for c in graph.claims}
    ids = {e.name: e.id for e in graph.entities}
    assert by_subject.keys() == {ids["Ada"], ids["Bo"]}
    assert by_subject[ids["Ada"]].source == Source("c0", 3, 9)
    assert by_subject[ids["Ada"]].starts == "2020-01-01"


def test_a_span_that_is_not_known_is_the_whole_chunk() -> None:
    known = ExtractedEntity("Ada", "person", "keeps", 5, 10, (Mention("Ada", 5, 8), Mention("Ada", 20, 23)))
    graph = merged(Extraction((known, entity("Bo", said="sails"))))
    assert named(graph)["Ada", "person"].descriptions[0].source == Source("c0", 5, 10)
    assert named(graph)["Ada", "person"].frequency == 2
    assert named(graph)["Bo", "person"].descriptions[0].source == Source("c0", 0, 100)


def test_descriptions_without_repeats_stay_in_the_order_of_the_documents() -> None:
    texts = ("b", "a", "b", "c", "a")
    said = [Description(t, Source(f"c{i}", 0, 1)) for i, t in enumerate(texts)]
    assert [(d.text, d.source.chunk) for d in distinct_descriptions(said)] == [("b", "c0"), ("a", "c1"), ("c", "c3")]


NAMES = st.sampled_from(["Ada", "ADA", "Bo", "Cy", "Dee", "E"])
EXTRACTIONS = st.lists(
    st.builds(
        lambda es, rs: Extraction(tuple(es), tuple(rs)),
        st.lists(
            st.builds(entity, NAMES, st.sampled_from(["person", "place"]), st.sampled_from(["", "x", "y"])), max_size=4
        ),
        st.lists(st.builds(relation, NAMES, NAMES, st.sampled_from(["", "met", "paid"])), max_size=4),
    ),
    max_size=6,
)


@given(EXTRACTIONS, st.randoms(use_true_random=False), st.sampled_from(["create", "drop"]))
@settings(max_examples=80)
def test_the_order_of_documents_changes_nothing_but_the_order_of_descriptions(
    extractions: list[Extraction], random: object, orphans: str
) -> None:
    pairs = [(chunk(f"c{i}"), x) for i, x in enumerate(extractions)]
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    rule = GraphSettings(orphans=orphans)  # type: ignore[arg-type]
    assert _unordered(merge_extractions(pairs, rule)) == _unordered(merge_extractions(shuffled, rule))


def _unordered(graph: Graph) -> list[object]:
    return [
        replace(x, descriptions=tuple(sorted(x.descriptions, key=str)), chunks=tuple(sorted(x.chunks)))
        for x in (*graph.entities, *graph.relations)
    ]


@given(EXTRACTIONS)
@settings(max_examples=80)
def test_the_laws_of_a_graph_hold(extractions: list[Extraction]) -> None:
    graph = merged(*extractions)
    ids = [e.id for e in graph.entities]
    assert ids == sorted(set(ids))
    assert [r.id for r in graph.relations] == sorted({r.id for r in graph.relations})
    assert all(r.source != r.target and {r.source, r.target} <= set(ids) for r in graph.relations)
    degree = {i: sum(i in (r.source, r.target) for r in graph.relations) for i in ids}
    assert {e.id: e.degree for e in graph.entities} == degree
    assert sum(r.weight for r in graph.relations) == sum(
        r.source.casefold() != r.target.casefold() for x in extractions for r in x.relations
    )
    said = {(d.source.chunk, d.text) for e in graph.entities for d in e.descriptions}
    assert said >= {(f"c{i}", e.description) for i, x in enumerate(extractions) for e in x.entities if e.description}
    assert all(d.source.chunk in e.chunks for e in graph.entities for d in e.descriptions)


# ── describing ──


def _said_much(count: int) -> Graph:
    texts = [f"Sentence number {i} tells something else about the harbour master of the town." for i in range(count)]
    return merged(*[Extraction((entity("Ada", said=t),)) for t in texts])


def test_few_descriptions_are_joined_without_a_call(store: SqliteStore) -> None:
    graph = _said_much(3)
    assert dict(crowded_elements(graph, CREATE)) == {}
    assert describe_elements(graph, {}).entities[0].description == " ".join(
        d.text for d in graph.entities[0].descriptions
    )


def test_a_description_alone_is_kept_as_it_is_however_long() -> None:
    assert dict(crowded_elements(merged(Extraction((entity("Ada", said="long " * 2000),))), CREATE)) == {}


def test_many_descriptions_are_summarised_in_document_order() -> None:
    graph = _said_much(60)
    ((name, context),) = crowded_elements(graph, CREATE)
    assert name == graph.entities[0].id
    assert [p.text for p in context.passages] == [d.text for d in graph.entities[0].descriptions]
    assert describe_elements(graph, {name: "In short."}).entities[0].description == "In short."


def test_too_much_for_one_prompt_is_summarised_in_parts_and_a_new_description_pays_for_its_part(
    store: SqliteStore, server: ScriptedServer
) -> None:
    server.script = Script(reply=lambda body: f"About {body['messages'][1]['content'][:60]!r}")
    rt = runtime(store, server)
    rule = GraphSettings(describe_above=100, summary_input=300)
    graph = _said_much(100)
    done = summarise_crowded(dict(crowded_elements(graph, rule)), rt, rule)
    first = len(server.done("summary"))
    assert done.keys() == {graph.entities[0].id}
    assert first >= 6
    summarise_crowded(dict(crowded_elements(_said_much(101), rule)), rt, rule)
    assert len(server.done("summary")) - first <= 2
    assert summarise_crowded(dict(crowded_elements(graph, rule)), rt, rule) == done


def test_settings_that_cannot_work_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"index\.graph\.summary_input \(0\)"):
        IndexSettings(graph=GraphSettings(summary_input=0))


def test_other_forms_of_a_name_are_kept_most_often_first_and_no_pronoun() -> None:
    from sensegraph.index.graph.elements import EntityNode, _other_forms

    node = EntityNode()
    node.surfaces.update(
        {"Ebenezer Scrooge": 3, "Scrooge": 9, "scrooge": 1, "Mr Scrooge": 2, "he": 40, "EBENEZER SCROOGE": 1}
    )
    assert _other_forms("ebenezer scrooge", node) == ("Scrooge", "Mr Scrooge")


def test_an_end_that_its_chunk_does_not_list_is_the_entity_mentioned_most() -> None:
    twice = [Extraction((entity("Ann", "person"),)) for _ in range(2)]  # without a span: each counts as one mention
    firm = ExtractedEntity("Ann", "firm", mentions=tuple(Mention("xxx", i, i + 3) for i in (0, 5, 9)))
    told = Extraction((entity("Bo"),), (relation("Ann", "Bo", "knows"),))
    graph = merged(*twice, Extraction((firm,)), told)
    (link,) = graph.relations
    assert {link.source, link.target} == {entity_id(("ann", "firm")), entity_id(("bo", "person"))}
    few = replace(firm, mentions=firm.mentions[:1])
    (link,) = merged(*twice, Extraction((few,)), told).relations
    assert {link.source, link.target} == {entity_id(("ann", "person")), entity_id(("bo", "person"))}


@given(drawn_extractions(), st.lists(drawn_aliases(), max_size=4), st.sampled_from(("count", "strength", "normalised")))
def test_what_is_merged_by_slices_is_what_is_merged_chunk_by_chunk(
    extracted: list[tuple[Chunk, Extraction]], tables: list[Aliases], weight: Any
):
    for orphans in ("create", "drop"):
        how = GraphSettings(weight=weight, orphans=orphans)
        for aliases in (NO_ALIASES, *tables):
            assert merge_extractions(extracted, how, aliases) == merge_plainly(extracted, how, aliases)


def test_a_mention_that_is_moved_twice_is_of_the_last_and_one_that_a_user_moved_stays_there() -> None:
    first, second, last = ("ann", "person"), ("bea", "person"), ("cleo", "person")
    extracted = [(chunk("c0"), Extraction((entity("Ann"),))), (chunk("c1"), Extraction((entity("Bea"),)))]
    document = extracted[0][0].document
    told = Aliases(moved=((first, document, second), (second, document, last)))
    graph = merge_extractions(extracted, CREATE, told)
    assert graph == merge_plainly(extracted, CREATE, told)
    assert {e.id: e.frequency for e in graph.entities} == {entity_id(last): 1, entity_id(second): 1}
    found = Senses(moved=((first, document, last), (last, document, second)), made=((last, "Cleo"), (second, "Bea")))
    mine = with_senses(Aliases(moved=((first, document, second),)), found)
    assert mine.moved == ((first, document, second), (last, document, second))
    assert mine.made == ((second, "Bea"),)
