"""What other frameworks are given of a search leads back to documents and spans."""

from __future__ import annotations

import builtins
import json
import sys
from typing import Any

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.integrations.located import locate_passages, search_passages
from sensegraph.questions import Condition, Scope
from sensegraph.types import Passage, Source

QUESTION = "Who voted for the offer of Ardent Marine?"


def test_the_first_passage_of_a_question_is_a_span_of_the_document_that_answers_it(demo: Corpus):
    (found,) = search_passages(demo, QUESTION, top=1)
    given = found.metadata()
    text = demo.index().document(given["source"]).text
    assert given["source"] == "2024-04-18-board-minutes.md"
    assert "Ruth Adeyemi voted for the offer" in " ".join(text[given["start"] : given["end"]].split())
    assert text[given["start"] : given["end"]].split() == found.passage.text.split()
    assert given["spans"] == [
        {"document": given["source"], "start": given["start"], "end": given["end"], "page": None},
    ]
    assert given["title"] == "Extraordinary board meeting, 18 April 2024"


def test_passages_that_are_no_spans_bring_the_quotes_behind_them(demo: Corpus):
    found = search_passages(demo, QUESTION, method="local", top=5)
    spans = [span for f in found if f.passage.kind != "chunk" for span in f.metadata()["spans"]]
    assert spans
    for span in spans:
        text = demo.index().document(span["document"]).text
        assert span["quote"] == text[span["start"] : span["end"]] != ""


def test_the_metadata_are_plain_values_with_those_of_the_document(demo: Corpus):
    scope = Scope(where=(Condition("kind", "=", "incident report"),))
    found = [f.metadata() for f in search_passages(demo, "What happened to the ferry?", scope=scope)]
    assert len(found) > 1
    assert [f["metadata"]["kind"] for f in found] == ["incident report"] * len(found)
    assert json.loads(json.dumps(found)) == found


def test_the_options_of_a_method_reach_it(demo: Corpus):
    with pytest.raises(InputError, match="top must be at least 1"):
        search_passages(demo, QUESTION, top=0)
    few = search_passages(demo, QUESTION, method="bm25", options={"context_tokens": 300})
    assert 0 < len(few) < len(search_passages(demo, QUESTION, method="bm25", options={"context_tokens": 3000}))


def test_a_passage_whose_sources_are_gone_has_no_place(demo: Corpus):
    (found,) = locate_passages([Passage("report", "r", "Text", sources=(Source("gone", 0, 3),))], demo.index())
    assert (found.spans, found.title) == ((), "")
    told = found.metadata()
    assert (told["source"], told["start"], told["end"], told["page"], told["spans"]) == ("", 0, 0, None, [])


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("llama_index", "llama_index", "llama-index"),
        ("haystack", "haystack", "haystack"),
    ],
)
def test_a_missing_framework_is_an_error_that_names_the_extra(
    module: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
):
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == package:
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, f"sensegraph.integrations.{module}", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=rf"pip install 'sensegraph\[{extra}\]'"):
        __import__(f"sensegraph.integrations.{module}")
