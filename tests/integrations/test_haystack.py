"""Haystack: the retriever in a pipeline."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError, NotIndexed
from sensegraph.questions import Condition

pytest.importorskip("haystack", reason="haystack-ai is not installed: `make integrations` installs it")

from haystack import Pipeline

from sensegraph.integrations.haystack import SensegraphRetriever, read_filters

EXAMPLE = Path(__file__).parents[2] / "examples" / "integrations" / "haystack_pipeline.py"
QUESTION = "Who voted for the offer of Ardent Marine?"


def test_the_component_gives_documents_that_lead_to_their_source(demo: Corpus):
    found = SensegraphRetriever(demo).run(QUESTION, top_k=2)["documents"]
    assert len(found) == 2
    given = found[0].meta
    assert given["source"] == "2024-04-18-board-minutes.md"
    text = demo.index().document(given["source"]).text
    assert text[given["start"] : given["end"]].split() == (found[0].content or "").split() != []
    assert (found[0].id, found[0].score) == (given["id"], given["score"])


def test_filters_leave_the_documents_whose_metadata_pass(demo: Corpus):
    filters = {"field": "meta.kind", "operator": "==", "value": "incident report"}
    found = SensegraphRetriever(demo).run("What happened to the ferry?", filters=filters)["documents"]
    assert len(found) > 1
    assert {d.meta["metadata"]["kind"] for d in found} == {"incident report"}


def test_filters_joined_by_and_are_conditions():
    parts = [{"field": "meta.year", "operator": ">=", "value": 2020}, {"field": "kind", "operator": "!=", "value": "a"}]
    assert read_filters({"operator": "AND", "conditions": parts}) == (
        Condition("year", ">=", 2020),
        Condition("kind", "!=", "a"),
    )
    assert read_filters(None) == ()


@pytest.mark.parametrize(
    "filters",
    [
        {"operator": "OR", "conditions": []},
        {"field": "meta.kind", "operator": "in", "value": ["a"]},
        {"field": "meta.kind", "operator": "==", "value": None},
        {"operator": "==", "value": "a"},
    ],
)
def test_a_filter_that_says_more_is_an_error(filters: dict[str, Any]):
    with pytest.raises(InputError, match="cannot be read; give a field"):
        read_filters(filters)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_component_can_be_awaited(demo: Corpus, anyio_backend: str):
    found = await SensegraphRetriever(demo, method="bm25", top_k=1).run_async(QUESTION)
    assert "Ruth Adeyemi" in found["documents"][0].content


def test_a_saved_pipeline_opens_the_corpus_again(demo: Corpus):
    pipeline = Pipeline()
    options = {"context_tokens": 2000}
    pipeline.add_component("retriever", SensegraphRetriever(demo, method="bm25", top_k=1, options=options))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["sensegraph.integrations.haystack"])
    (found,) = again.run({"retriever": {"query": QUESTION}})["retriever"]["documents"]
    assert found.meta["source"] == "2024-04-18-board-minutes.md"
    retriever = again.get_component("retriever")
    assert (retriever.method, retriever.top_k, retriever.options) == ("bm25", 1, options)
    retriever.corpus.close()


def test_a_folder_without_an_index_is_an_error(tmp_path: Path):
    with pytest.raises(NotIndexed):
        SensegraphRetriever(str(tmp_path)).run("Anything?")


def test_the_program_of_the_quick_start_answers_with_its_sources(capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert "Ruth Adeyemi" in printed
    assert "2024-04-18-board-minutes.md, characters 0 to 1121: # Extraordinary board meeting" in printed
