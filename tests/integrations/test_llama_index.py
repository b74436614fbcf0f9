"""LlamaIndex: the retriever in a query engine, and the graph of a corpus as a property graph store."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed: `make integrations` installs it")

from llama_index.core.graph_stores.types import EntityNode, Relation
from llama_index.core.indices.property_graph import CypherTemplateRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.vector_stores.types import VectorStoreQuery

from sensegraph.integrations.llama_index import SensegraphGraphStore, SensegraphRetriever

EXAMPLE = Path(__file__).parents[2] / "examples" / "integrations" / "llama_index_engine.py"
QUESTION = "Who voted for the offer of Ardent Marine?"


@pytest.fixture
def store(demo: Corpus) -> SensegraphGraphStore:
    return SensegraphGraphStore(demo)


def test_the_retriever_gives_nodes_that_lead_to_their_source(demo: Corpus):
    found = SensegraphRetriever(demo, similarity_top_k=2).retrieve(QUESTION)
    assert len(found) == 2
    node = found[0].node
    assert node.ref_doc_id == "2024-04-18-board-minutes.md"
    text = demo.index().document(node.ref_doc_id).text
    assert text[node.start_char_idx : node.end_char_idx].split() == node.text.split() != []
    assert found[0].score == node.metadata["score"]


def test_a_model_is_shown_the_source_and_not_the_numbers_of_the_metadata(demo: Corpus):
    (found,) = SensegraphRetriever(demo, similarity_top_k=1).retrieve(QUESTION)
    shown = found.node.get_content("llm")
    assert "source: 2024-04-18-board-minutes.md" in shown
    assert "spans" not in shown


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_retriever_can_be_awaited(demo: Corpus, anyio_backend: str):
    (found,) = await SensegraphRetriever(demo, method="bm25", similarity_top_k=1).aretrieve(QUESTION)
    assert "Ruth Adeyemi" in found.node.get_content()


def test_the_program_of_the_quick_start_answers_with_its_sources(capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert "2024-04-18-board-minutes.md, characters 0 to 1121: # Extraordinary board meeting" in printed
    assert " -> RELATED -> Priya Raman" in printed


# ── the graph ──


def test_an_entity_is_found_by_name_in_any_case_and_by_id(store: SensegraphGraphStore):
    (node,) = store.get(ids=["jonas weil"])
    assert isinstance(node, EntityNode)
    assert (node.id, node.label) == ("Jonas Weil", "person")
    assert store.get(ids=[node.properties["id"]]) == [node]
    assert store.get(properties={"name": "Jonas Weil"}) == [node]
    assert store.get(ids=["jonas weil"], properties={"degree": -1}) == []


def test_without_ids_all_entities_are_given(demo: Corpus, store: SensegraphGraphStore):
    assert len(store.get()) == len(demo.index().graph.entities) > 50


def test_relations_around_an_entity_name_it_and_state_their_source(demo: Corpus, store: SensegraphGraphStore):
    found = store.get_triplets(entity_names=["Jonas Weil"])
    ends = [(source.name, target.name) for source, _, target in found]
    assert len(ends) == demo.entity("Jonas Weil").entity.degree > 3
    assert all("Jonas Weil" in pair for pair in ends)
    source, relation, target = found[0]
    (chunk,) = store.get_llama_nodes([source.properties["triplet_source_id"]])
    assert source.name in chunk.get_content()
    assert target.name in chunk.get_content()
    assert relation.properties["description"]


def test_relations_are_chosen_by_label_and_by_property(store: SensegraphGraphStore):
    every = store.get_triplets()
    labels = {r.label for _, r, _ in every} - {"RELATED"}
    label = sorted(labels)[0]
    chosen = store.get_triplets(relation_names=[label])
    assert chosen
    assert {r.label for _, r, _ in chosen} == {label}
    own = every[0][1].properties["id"]
    assert [r.properties["id"] for _, r, _ in store.get_triplets(properties={"id": own})] == [own]
    assert store.get_triplets(entity_names=[]) == []


def test_a_map_of_relations_goes_no_further_than_asked_for(store: SensegraphGraphStore):
    nodes = store.get(ids=["Jonas Weil"])
    near = store.get_rel_map(nodes, depth=1, limit=1000)
    far = store.get_rel_map(nodes, depth=2, limit=1000)
    assert 0 < len(near) < len(far)
    assert all("Jonas Weil" in (s.name, t.name) for s, _, t in near)
    weights = [r.properties["weight"] for _, r, _ in near]
    assert weights == sorted(weights, reverse=True)
    assert [r.properties["id"] for _, r, _ in far[: len(near)]] == [r.properties["id"] for _, r, _ in near]
    assert len(store.get_rel_map(nodes, depth=2, limit=3)) == 3
    assert store.get_rel_map(nodes, ignore_rels=[r.label for _, r, _ in far]) == []
    assert len(store.get_rel_map([EntityNode(name="Jonas Weil")], depth=1, limit=1000)) == len(near)


def test_a_chunk_is_a_node_that_leads_to_its_document(demo: Corpus, store: SensegraphGraphStore):
    chunk = demo.index().graph.entities[0].chunks[0]
    (node,) = store.get(ids=[chunk])
    (text,) = store.get_llama_nodes([chunk, "none"])
    assert node.id == text.node_id == chunk
    assert text.ref_doc_id == node.properties["source"]
    whole = demo.index().document(text.ref_doc_id).text
    assert whole[text.start_char_idx : text.end_char_idx].split() == text.text.split() != []


def test_a_query_is_answered_in_rows(store: SensegraphGraphStore):
    rows = store.structured_query(
        "MATCH (a {name: $name})-[r]-(b:Person) RETURN b.name, r.weight ORDER BY r.weight DESC", {"name": "Jonas Weil"}
    )
    assert rows[0] == {"b.name": "Helge Strand", "r.weight": pytest.approx(0.961128)}
    with pytest.raises(InputError):
        store.structured_query("CREATE (a)")


def test_a_template_of_a_query_is_a_retriever(store: SensegraphGraphStore):
    from pydantic import BaseModel

    class Named(BaseModel):
        """The parameter."""

        name: str

    class Reads(MockLLM):
        """A model that reads the name out of the question."""

        def structured_predict(self, *args: object, **kwargs: object) -> Named:
            return Named(name="Jonas Weil")

    query = "MATCH (a {name: $name})-[r]-(b:Person) RETURN DISTINCT b.name AS name ORDER BY name"
    retriever = CypherTemplateRetriever(store, Named, query, llm=Reads())
    (found,) = retriever.retrieve("Whom does Jonas Weil know?")
    assert "{'name': 'Helge Strand'}" in found.node.get_content()


def test_the_schema_names_types_labels_and_properties(store: SensegraphGraphStore):
    schema = store.get_schema()
    assert {"person", "organization"} <= set(schema["entity types"])
    assert {"name", "type", "degree"} <= set(schema["entity properties"])
    assert len(schema["relation labels"]) > 10
    assert "entity types: concept, organization" in store.get_schema_str()


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.upsert_nodes([EntityNode(name="A")]),
        lambda s: s.upsert_relations([Relation(label="X", source_id="A", target_id="B")]),
        lambda s: s.delete(entity_names=["Jonas Weil"]),
    ],
)
def test_what_would_change_the_graph_says_how_to_change_it(change: object, store: SensegraphGraphStore):
    with pytest.raises(NotImplementedError, match=r"Corpus\.add"):
        change(store)  # type: ignore[operator]


def test_vectors_of_others_are_refused(store: SensegraphGraphStore):
    with pytest.raises(NotImplementedError, match="SensegraphRetriever"):
        store.vector_query(VectorStoreQuery(query_embedding=[0.0]))
