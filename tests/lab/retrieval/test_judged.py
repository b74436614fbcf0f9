"""Reading a test collection in BEIR's layout, and what is said when something is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from judged_towns import documents, qrels, queries, written
from sensegraph.errors import InputError
from sensegraph.lab.retrieval import read_set


def test_a_set_holds_its_documents_and_the_questions_that_were_judged(tmp_path: Path):
    found = read_set(written(tmp_path / "towns"))
    assert (found.name, found.split) == ("towns", "dev")
    assert [d.id for d in found.documents][:3] == ["k0", "f0", "k1"]
    assert dict(found.documents[0].metadata) == {"shore": "north"}
    assert [q.id for q in found.queries] == ["q0", "q1", "q2", "q9"]
    assert dict(found.queries[3].gold) == {"k4": 2, "f4": 1}
    assert found.queries[3].type == "two"
    assert found.dangling == found.skipped == ()


def test_questions_that_are_adversarial_or_not_judged_are_left_out_and_counted(tmp_path: Path):
    assert read_set(written(tmp_path)).left_out == (("adversarial", 1), ("not judged", 1))


def test_metadata_of_a_question_keep_what_is_no_list_and_not_nothing(tmp_path: Path):
    asked = [{**q, "metadata": {"hops": 2, "nothing": None, "parts": [1, 2]}} for q in queries()]
    assert {q.metadata for q in read_set(written(tmp_path, asked=asked)).queries} == {(("hops", 2),)}


def test_a_grade_of_0_is_no_relevant_document(tmp_path: Path):
    found = read_set(written(tmp_path, judged=[*qrels(), ("q0", "f0", 0), ("qn", "k3", 0)]))
    assert dict(found.queries[0].gold) == {"k0": 1}
    assert dict(found.left_out)["not judged"] == 1


def test_judgements_of_what_is_not_there_are_named_and_still_count(tmp_path: Path):
    found = read_set(written(tmp_path, judged=[*qrels(), ("q0", "gone", 1), ("nobody", "k0", 1)]))
    assert found.dangling == ("document gone of question q0", "question nobody")
    assert set(found.queries[0].gold) == {"k0", "gone"}


def test_a_document_that_cannot_be_read_is_named(tmp_path: Path):
    found = read_set(written(tmp_path, docs=[*documents(), {"_id": "void", "text": ""}]))
    assert found.skipped[0].reason.startswith("line 13")


def test_titles_can_be_taken_away(tmp_path: Path):
    folder = written(tmp_path)
    assert all(d.title for d in read_set(folder).documents)
    assert len(read_set(folder, titles=False).documents) == len(read_set(folder).documents) > 3
    assert not any(d.title for d in read_set(folder, titles=False).documents)


def test_judgements_without_a_header_are_read_too(tmp_path: Path):
    folder = written(tmp_path)
    (folder / "qrels" / "dev.tsv").write_text("q1\tk1\t1\r\nq2\tk2\t1\n")
    assert [q.id for q in read_set(folder).queries] == ["q1", "q2"]


def test_the_split_is_the_only_one_or_dev_or_test_or_named(tmp_path: Path):
    folder = written(tmp_path, split="train")
    assert read_set(folder).split == "train"
    written(tmp_path, split="test")
    assert read_set(folder).split == "test"
    written(tmp_path, split="dev")
    assert read_set(folder).split == "dev"
    assert read_set(folder, "train").split == "train"


def test_several_splits_of_other_names_must_be_chosen_from(tmp_path: Path):
    written(tmp_path, split="one")
    written(tmp_path, split="two")
    with pytest.raises(InputError, match=r"several files of judgements; name one of one, two by --split"):
        read_set(tmp_path)
    with pytest.raises(InputError, match="no judgements 'three'; name one of one, two"):
        read_set(tmp_path, "three")


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_a_missing_file_is_named(name: str, tmp_path: Path):
    (written(tmp_path) / name).unlink()
    with pytest.raises(InputError, match=f"There is no .*{name}"):
        read_set(tmp_path)


def test_a_set_without_judgements_cannot_be_measured(tmp_path: Path):
    (written(tmp_path) / "qrels" / "dev.tsv").unlink()
    with pytest.raises(InputError, match="has no judgements"):
        read_set(tmp_path)


def test_a_set_none_of_whose_questions_is_judged_cannot_either(tmp_path: Path):
    with pytest.raises(InputError, match=r"None of the 6 questions of .* is judged in dev.tsv"):
        read_set(written(tmp_path, judged=[("other", "k0", 1)]))


@pytest.mark.parametrize(
    ("line", "said"),
    [("q0\tk0", "line 2: 'q0.tk0' is not query-id"), ("q0\tk0\tyes", "line 2"), ("q0 k0 1", "line 2")],
)
def test_a_line_that_is_no_judgement_is_named(line: str, said: str, tmp_path: Path):
    (written(tmp_path) / "qrels" / "dev.tsv").write_text(f"query-id\tcorpus-id\tscore\n{line}\n")
    with pytest.raises(InputError, match=said.replace("'q0.tk0'", r"'q0\\tk0'")):
        read_set(tmp_path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: not valid JSON"),
        ('{"_id": "x"}', 'line 2: not a question; give an object with "_id" and "text"'),
        ('{"text": "Who?"}', "line 2: not a question"),
        ("[1]", "line 2: not a question"),
        ('{"_id": "q0", "text": "Who?"}', "line 2: the id 'q0' was given before"),
    ],
)
def test_a_line_that_is_no_question_is_named(line: str, said: str, tmp_path: Path):
    folder = written(tmp_path, asked=queries()[:1])
    with (folder / "queries.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match=said):
        read_set(folder)


def test_a_corpus_without_documents_is_an_error(tmp_path: Path):
    (written(tmp_path) / "corpus.jsonl").write_text("")
    with pytest.raises(InputError, match=r"corpus.jsonl holds no document"):
        read_set(tmp_path)
