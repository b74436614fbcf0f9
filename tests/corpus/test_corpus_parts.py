"""The façade of a corpus and the parts behind it: what each is, what reading needs, and where tools are chosen."""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

import budgets
from sensegraph import Corpus, Document
from sensegraph.errors import InputError

OFFLINE = {"engine": "offline", "embedder": "offline", "endpoint": {"model": "", "embedding_model": ""}}
TEXTS = [
    Document(
        "one", "Ada Lovelace wrote to Charles Babbage about the Analytical Engine. Babbage answered Ada Lovelace."
    ),
    Document("two", "Charles Babbage built the Difference Engine in London. The Analytical Engine was never built."),
    Document("three", "Mary Somerville taught Ada Lovelace mathematics. Ada Lovelace met Charles Babbage in London."),
]


@pytest.fixture
def built(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus.open(tmp_path, settings=OFFLINE) as corpus:
        corpus.add(TEXTS)
        corpus.build()
        yield corpus


def test_a_corpus_is_one_class_whose_parts_are_attributes(built: Corpus):
    assert Corpus.__bases__ == (object,)
    for part in ("sources", "mirror", "privacy", "builder", "asker", "browser", "names", "garbage", "workspace"):
        assert type(getattr(built, part)).__doc__
        assert getattr(built, part) is getattr(built, part)


@pytest.fixture
def no_search() -> Iterator[None]:
    """No cycles of objects are looked for."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("method", ["walk", "local", "global", "drift", "bm25", "naive"])
def test_the_files_of_an_index_close_with_its_corpus_without_a_search_for_cycles(built: Corpus, method: str):
    with Corpus.open(built.root, settings=OFFLINE, create=False) as asked:
        assert asked.query("Who met Charles Babbage?", method=method).text
        index, workspace = weakref.ref(asked.index()), weakref.ref(asked.workspace)
    del asked
    assert (index(), workspace()) == (None, None)


def test_what_its_parts_share_is_not_set_on_the_facade(built: Corpus):
    for name in ("root", "settings", "store", "progress", "engine", "embedder", "reranker"):
        with pytest.raises(AttributeError):
            setattr(built, name, getattr(built.workspace, name, None))


def test_reports_are_listed_and_read_without_a_question(built: Corpus):
    rows = built.reports()
    assert rows == sorted(rows, key=lambda r: -r.rating)
    page = built.report(rows[0].id)
    assert page.report == rows[0]
    assert built.report(rows[0].id[:12]) == page
    assert {e.name for e in page.entities} <= {e.name for e in built.entities()}


def test_entities_are_listed_by_type_and_read_by_name(built: Corpus):
    every = built.entities()
    assert [e.degree for e in every] == sorted((e.degree for e in every), reverse=True)
    people = sorted(built.entities(type="Person"), key=lambda e: e.name)
    assert {"Ada Lovelace", "Charles Babbage"} <= {e.name for e in people} < {e.name for e in every}
    page = built.entity("ada lovelace")
    assert (page.entity.id, page.entity.degree) == (people[0].id, people[0].degree)
    assert page.neighbours
    with pytest.raises(InputError, match="no entity 'Ada Lovelase'; did you mean 'Ada Lovelace'"):
        built.entity("Ada Lovelase")


def test_store_and_executor_are_chosen_in_one_module():
    named = re.compile(r"\b(SqliteStore|LocalExecutor|stores\.sqlite)\b")
    opened = ("runtime/stores/", "runtime/executors/", "runtime/store_place.py")  # where they are, and are opened
    found = {name for name, text, _ in budgets.modules() if named.search(text)}
    assert {n for n in found if not n.startswith(opened)} == {"corpus/tools.py"}
