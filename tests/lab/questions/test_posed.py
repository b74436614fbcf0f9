"""Questions as values and as files that `evaluate retrieval` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbour import papers
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.lab.experiments.conditions import read_asked_questions
from sensegraph.lab.questions.grounded_questions import cluster_vectors, take_turns
from sensegraph.lab.questions.proposing import first_of_each
from sensegraph.lab.questions.question_files import (
    GROUNDED,
    KINDS,
    NEEDS,
    Outcome,
    Posed,
    record_question,
    sum_counts,
    write_questions,
    write_test_collections,
)
from sensegraph.lab.retrieval import read_set

OFFLINE = {"engine": "offline", "index": {"parts": [], "chunk_tokens": 60, "chunk_overlap": 0}}


@pytest.fixture
def harbour(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus.open(tmp_path / "harbour", settings=OFFLINE) as made:
        made.add(*papers())
        made.build()
        yield made


def some(harbour: Corpus) -> list[Posed]:
    entry = harbour.index().catalogue.chunks[0]
    return [
        Posed("Who keeps the lamp?", "local", "template", (entry.id,), (entry.document,), ("Ada Finch",), ("lamp",)),
        Posed("Who sank the moon?", "adversarial", "template"),
        Posed("What are the themes?", "global", "persona", persona="A clerk", task="Filing"),
    ]


def test_the_three_things_that_vector_search_lacks_are_classes():
    """N42."""
    assert set(NEEDS.values()) == {"multi-hop", "global", "disambiguation"}
    assert set(NEEDS) < set(GROUNDED) < set(KINDS)
    assert Posed("Why?", "bridge").needs == "multi-hop"
    assert Posed("Why?", "local").needs == ""


def test_questions_stand_in_their_file_one_a_line(harbour: Corpus, tmp_path: Path):
    write_questions(tmp_path / "deep" / "q.jsonl", some(harbour))
    lines = (tmp_path / "deep" / "q.jsonl").read_text(encoding="utf-8").splitlines()
    assert lines
    assert [json.loads(line) for line in lines] == [record_question(q) for q in some(harbour)]


def test_a_record_holds_no_empty_field():
    assert record_question(Posed("Why?", "local"))["metadata"] == {"type": "local", "made": "given", "hops": 1}


def test_the_parts_of_an_answer_are_written_and_read_as_parts_and_never_as_alternatives(tmp_path: Path):
    posed = Posed("What does each do?", "comparison", "template", parts=(("A: reads", "reads"), ("B: writes",)))
    write_questions(tmp_path / "q.jsonl", [posed])
    (asked,) = read_asked_questions(tmp_path / "q.jsonl")
    assert (asked.references, asked.parts) == ((), (("A: reads", "reads"), ("B: writes",)))


def test_a_set_is_one_that_retrieval_is_measured_on_by_documents_and_by_chunks(harbour: Corpus, tmp_path: Path):
    asked = some(harbour)
    write_test_collections(tmp_path / "set", asked, harbour.index())
    by_document, by_chunk = read_set(tmp_path / "set"), read_set(tmp_path / "set" / "chunks")
    assert set(by_document.documents) == set(papers())
    assert len(by_chunk.documents) == len(harbour.index().catalogue.chunks) > len(papers())
    assert by_document.queries[0].gold == {asked[0].documents[0]: 1}
    assert by_chunk.queries[0].gold == {asked[0].chunks[0]: 1}
    assert dict(by_document.left_out) == {"adversarial": 1, "not judged": 1}
    assert by_document.dangling == by_chunk.dangling == ()
    with pytest.raises(InputError, match="is not empty"):
        write_test_collections(tmp_path / "set", asked, harbour.index())


def test_outcomes_add_up():
    one = Outcome((Posed("a", "local"),), (("x", 1),), (("local", 2),))
    other = Outcome((Posed("b", "bridge"),), (("x", 2), ("y", 1)))
    both = one + other
    assert both.dropped == (("x", 3), ("y", 1))
    assert both.missing == (("local", 2),)
    assert both.counts == {"local": 1, "bridge": 1}
    assert sum_counts([("z", 0)]) == ()


# ── what is new, and what is spread ──


def test_what_is_near_or_equal_is_not_new():
    rows = np.eye(3)[[0, 0, 1, 2]]
    assert first_of_each(["a", "b", "c", "d"], rows, 0, 0.9) == [0, 2, 3]
    assert first_of_each(["a", "b", "c", "d"], rows, 1, 0.9) == [1, 2]
    assert first_of_each(["A b", "a  B"], np.zeros((2, 3)), 0, 0.9) == [0]


@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 3))
def test_every_row_is_in_a_group_and_equal_rows_in_one(n: int, groups: int, seed: int):
    rows = np.eye(4, dtype=np.float32)[np.arange(n) % 4]
    found = cluster_vectors(rows, groups, seed)
    assert len(found) == n
    assert len(set(found.tolist())) <= min(groups, n, 4)
    assert all(found[i] == found[i % 4] for i in range(n))
    assert (found == cluster_vectors(rows, groups, seed)).all()


def test_no_rows_are_in_no_group():
    assert len(cluster_vectors(np.zeros((0, 4), np.float32))) == 0


@given(st.lists(st.text("abcd", min_size=1, max_size=3), unique=True), st.integers(0, 3))
def test_groups_take_turns(names: list[str], seed: int):
    turned = take_turns(names, lambda n: ord(n[0]), lambda n: n, seed)
    assert sorted(turned) == sorted(names)
    assert turned == take_turns(reversed(names), lambda n: ord(n[0]), lambda n: n, seed)
    groups = len({n[0] for n in names})
    assert len({n[0] for n in turned[:groups]}) == groups
