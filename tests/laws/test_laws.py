"""Changes of documents or a question that mean nothing: what every method keeps of its answer, and what an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laws import corpora
from laws.asking import Asked, Seen, level_kept
from laws.corpora import COPY, CORPORA, new_names, wrap_text
from laws.lawbook import ENGINES, LAWS, REASONS, before, cells, exceptions, least, one_line, reaches, visited
from laws.table import PAGE, exceptions_markdown, laws_markdown, read_table
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.methods import METHODS
from wired import content

slow = pytest.mark.slow
Cell = tuple[str, str, str, str]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Asked]]:
    """The corpora of each engine, which all tests share."""
    made = {engine: Asked(tmp_path_factory.mktemp(engine), engine) for engine in ENGINES}
    yield made
    for asked in made.values():
        asked.close()


def _marked(cell: Cell) -> Any:
    return pytest.param(*cell, id="-".join(cell), marks=slow)


# cells of one corpus stand together: each worker of a parallel run builds only what it asks
CELLS = sorted(cells(), key=lambda c: (list(ENGINES).index(c[1]), list(CORPORA).index(c[2])))
PLACES = [
    pytest.param(engine, name, id=f"{engine}-{name}", marks=slow) for engine, of in ENGINES.items() for name in of
]


@pytest.mark.parametrize(("law", "engine", "name", "method"), [_marked(c) for c in CELLS])
def test_every_method_keeps_the_law(running: dict[str, Asked], law: str, engine: str, name: str, method: str) -> None:
    asked = running[engine]
    assert before(asked, name, method).cited, "an answer that cites nothing shows nothing"
    kept = LAWS[law].observe(asked, name, method)
    assert reaches(kept, least(law, engine, method)), f"{method} keeps {kept} of {least(law, engine, method)}"


@slow
@pytest.mark.parametrize(("law", "engine", "method"), [e[:3] for e in exceptions()])
def test_an_exception_is_still_needed(running: dict[str, Asked], law: str, engine: str, method: str) -> None:
    kept = [LAWS[law].observe(running[engine], name, method) for name in ENGINES[engine]]
    assert not all(reaches(level, LAWS[law].keeps) for level in kept), f"{method} keeps the law {law!r}: {kept}"
    assert least(law, engine, method) in kept, f"{method} keeps more than its exception says: {kept}"


# ── the index ──


@pytest.mark.parametrize(("engine", "name"), PLACES)
def test_in_another_order_the_index_is_the_same(running: dict[str, Asked], engine: str, name: str) -> None:
    asked = running[engine]
    first, other = (asked.built(name, how) for how in (corpora.as_they_are, corpora.in_another_order))
    assert content(first) == content(other)
    assert first.index().manifest == other.index().manifest


@pytest.mark.parametrize(("engine", "name"), PLACES)
def test_what_came_and_went_leaves_the_index_as_it_was(running: dict[str, Asked], engine: str, name: str) -> None:
    first, other = running[engine].built(name, corpora.as_they_are), visited(running[engine], name)
    assert content(first) == content(other)


@pytest.mark.parametrize(("engine", "name"), PLACES)
def test_under_other_ids_the_index_holds_the_same(running: dict[str, Asked], engine: str, name: str) -> None:
    asked = running[engine]
    first, other = (asked.built(name, how).index() for how in (corpora.as_they_are, corpora.renamed))
    old = {new: old for old, new in new_names(CORPORA[name].documents).items()}
    assert _stated(first) == _stated(other)
    assert _chunks(first) == {(old[d], text): row for (d, text), row in _chunks(other).items()}
    partitions = ({(c.depth, frozenset(c.entities)) for c in index.hierarchy.clusters} for index in (first, other))
    assert next(partitions) == next(partitions) != set()


def _stated(index: Index) -> tuple[list[Any], ...]:
    """Entities, relations and claims without the order in which documents are listed."""
    graph = index.graph
    entities = [(e.id, e.name, e.frequency, e.degree, sorted(d.text for d in e.descriptions)) for e in graph.entities]
    relations = [(r.id, round(r.weight, 6), r.label, sorted(d.text for d in r.descriptions)) for r in graph.relations]
    claims = sorted((c.subject, c.object, c.description, c.starts, c.ends) for c in graph.claims)
    assert entities
    assert relations
    return entities, relations, claims


def _chunks(index: Index) -> dict[tuple[str, str], bytes]:
    """The vector of every chunk, by document and text."""
    entries = index.catalogue.chunks
    texts = index.chunks([c.id for c in entries])
    rows = np.asarray(index.vectors)
    return {(c.document, texts[c.id].text): rows[i].tobytes() for i, c in enumerate(entries)}


@pytest.mark.parametrize(("engine", "name"), PLACES)
def test_twice_every_document_is_twice_every_chunk(running: dict[str, Asked], engine: str, name: str) -> None:
    asked = running[engine]
    first, both = (asked.built(name, how).index() for how in (corpora.as_they_are, corpora.doubled))
    once = _chunks(first)
    assert _chunks(both) == once | {(d + COPY, text): row for (d, text), row in once.items()}


@pytest.mark.parametrize(("engine", "name"), PLACES)
def test_beside_strangers_a_chunk_is_what_it_was(running: dict[str, Asked], engine: str, name: str) -> None:
    asked = running[engine]
    first, both = (asked.built(name, how).index() for how in (corpora.as_they_are, corpora.with_strangers))
    assert _chunks(first).items() < _chunks(both).items()


@slow
def test_a_model_that_reads_chunk_by_chunk_finds_the_same_names_twice(running: dict[str, Asked]) -> None:
    asked = running["scripted"]
    once, twice = (asked.built("harbour", how).index().graph for how in (corpora.as_they_are, corpora.doubled))
    assert once.entities
    assert {e.id: 2 * e.frequency for e in once.entities} == {e.id: e.frequency for e in twice.entities}
    assert {r.id: 2 * r.weight for r in once.relations} == {r.id: r.weight for r in twice.relations}


@slow
def test_a_model_that_reads_chunk_by_chunk_finds_beside_strangers_what_it_found(running: dict[str, Asked]) -> None:
    asked = running["scripted"]
    once, both = (asked.built("harbour", how).index().graph for how in (corpora.as_they_are, corpora.with_strangers))
    assert {(e.id, e.frequency, e.degree) for e in once.entities} < {
        (e.id, e.frequency, e.degree) for e in both.entities
    }
    assert {(r.id, r.weight) for r in once.relations} < {(r.id, r.weight) for r in both.relations}


@pytest.mark.parametrize("change", [corpora.wrapped_at_40, corpora.wrapped_at_72])
@pytest.mark.parametrize("name", list(CORPORA))
@slow
def test_wrapped_texts_name_the_same_things(running: dict[str, Asked], name: str, change: corpora.Change) -> None:
    asked = running["offline"]
    one, other = (asked.built(name, how).index().graph for how in (corpora.as_they_are, change))
    assert one.entities
    assert {e.id for e in one.entities} == {e.id for e in other.entities}
    assert {r.id for r in one.relations} == {r.id for r in other.relations}


@pytest.mark.parametrize("name", ["office", "rathaus"])
def test_a_file_with_crlf_is_the_document_that_it_is_with_lf(tmp_path: Path, name: str) -> None:
    folder, documents = tmp_path / "texts", CORPORA[name].documents
    folder.mkdir()
    with Corpus.open(tmp_path / "corpus", settings={"engine": "offline", "processes": 1}) as corpus:
        for ends in ("\n", "\r\n"):
            for d in documents:
                (folder / f"{d.id}.txt").write_bytes(d.text.replace("\n", ends).encode())
            added = corpus.add(folder)
            assert len(added.new if ends == "\n" else added.same) == len(documents)
        assert not added.changed


# ── the suite itself ──


@pytest.mark.parametrize("name", list(CORPORA))
def test_what_is_done_to_documents_is_what_the_laws_say(name: str) -> None:
    documents = CORPORA[name].documents
    for width in (40, 72):
        lines = [line for d in documents for line in wrap_text(d.text, width).split("\n")]
        assert all(len(line) <= width for line in lines)
        assert len(lines) > 2 * sum(d.text.count("\n") + 1 for d in documents) or name != "harbour"
        assert [one_line(wrap_text(d.text, width)) for d in documents] == [one_line(d.text) for d in documents]
    names = new_names(documents)
    assert [names[d.id] for d in sorted(documents, key=lambda d: d.id, reverse=True)] == sorted(names.values())
    assert CORPORA[name].guest.id not in names
    assert len({d.id for d in corpora.with_strangers(documents)}) == len(documents) + 3
    assert Counter(d.text for d in corpora.doubled(documents)).most_common()[-1][1] == 2


def test_levels_are_told_apart() -> None:
    whole = Seen("A [1] B [2]", (("d", "A"), ("e", "B")), (("chunk", "t", "A B", ("d",)),), (1.0,), ("d",), ())
    changed = {
        "all": whole,
        "answer": Seen(whole.text, whole.cited, whole.ranked, (0.5,), ("d",), ()),
        "sentences": Seen("B [1] A [2]", (("e", "B"), ("x", "A")), whole.ranked, (1.0,), ("d",), ()),
        "some": Seen("A [1]", (("d", "A"),), whole.ranked, (1.0,), ("d",), ()),
        "none": Seen("C [1]", (("d", "C"),), whole.ranked, (1.0,), ("d",), ()),
    }
    assert {level: level_kept(whole, other) for level, other in changed.items()} == {level: level for level in changed}


def test_the_page_says_what_the_suite_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for part in (laws_markdown(), exceptions_markdown()):
        assert "\n".join(part) in text, "run `python tests/laws/table.py`"
    shown = read_table(text)
    assert shown.keys() == set(cells())
    weak = [c for c, level in shown.items() if not reaches(level, least(c[0], c[1], c[3]))]
    assert weak == []


def test_every_exception_has_a_law_a_method_and_a_reason() -> None:
    found = exceptions()
    assert found
    for law, engine, method, weaker in found:
        assert engine in LAWS[law].engines
        assert method in METHODS
        assert not reaches(weaker.keeps, LAWS[law].keeps)
    assert {weaker.why for *_, weaker in found} == REASONS.keys()
