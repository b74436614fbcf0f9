"""`sensegraph tune data`, as its users meet it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from finetuning_towns import hops
from harbour import papers
from judged_towns import queries, written
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.lab.finetuning.data.index_source import ChunkPassages
from sensegraph.types import Document

Run = Callable[..., Result]
ANSWERED = [{**q, "answer": f"keeper of {q['text'].split()[-1].rstrip('?')}"} for q in queries()]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["tune", "data", *map(str, words)])


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    return written(tmp_path / "towns", asked=ANSWERED)


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("harbour-tuned")
    index = {"chunk_tokens": 60, "chunk_overlap": 10, "parts": ["graph", "names"]}
    with Corpus.open(folder, settings={"engine": "offline", "index": index}) as made:
        made.add(papers())
        made.build()
    return folder


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_test_collection_becomes_data_with_a_report(run: Run, towns: Path, tmp_path: Path):
    result = run(towns, "--out", "train.jsonl", "--report", "report.md", "--engine", "offline")
    assert result.exit_code == 0, result.stderr
    assert "towns: 4 examples of 4 questions" in result.stdout
    assert "left out before: 1 adversarial; 1 not judged" in result.stdout
    assert "distractors near the question by: walk" in result.stdout
    assert "FAILS" not in result.stdout
    assert result.stderr == "written: train.jsonl, report.md\n"
    assert [sorted(row) for row in lines(tmp_path / "train.jsonl")] == [["completion", "prompt"]] * 4
    assert "| check | figures |" in (tmp_path / "report.md").read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.md", "towns", "train.jsonl"]


def test_hard_distractors_are_what_the_retrieval_gets_wrong(run: Run, towns: Path, tmp_path: Path):
    flags = ("--form", "evaluation", "--no-pad", "--engine", "offline")
    assert run(towns, "--out", "near.jsonl", "--near", "bm25", *flags).exit_code == 0
    hard = [[p["id"] for p in row["passages"] if p["kind"] == "hard"] for row in lines(tmp_path / "near.jsonl")]
    assert all(1 <= len(ids) <= 2 for ids in hard)
    assert all(ids[0] not in (f"k{i}", *ids[1:]) for i, ids in enumerate(hard[:3]))  # not the gold one
    assert run(towns, "--out", "far.jsonl", "--near", "none", *flags).exit_code == 0
    kinds = [p["kind"] for row in lines(tmp_path / "far.jsonl") for p in row["passages"] if not p["oracle"]]
    assert set(kinds) == {"random"}


def test_flags_are_laid_over_the_preset_and_the_object_tells_all(run: Run, towns: Path):
    flags = ("--preset", "raft", "--oracle-share", "1", "--distractors", "2", "--no-pad", "--length", "900")
    result = run(towns, "--out", "t.jsonl", *flags, "--near", "none", "--oracles", "1", "--seed", "7", "--json")
    found = json.loads(result.stdout)
    given = found["settings"]
    assert (given["oracle_share"], given["style"], given["distractors"], given["pad"]) == (1.0, "cot", [2, 2], False)
    assert (given["max_tokens"], given["most_oracles"], given["seed"]) == (900, 1, 7)
    assert (found["file"], found["form"], found["examples"], found["sound"]) == ("t.jsonl", "completion", 3, True)
    assert found["dropped"] == [["it has more than 1 gold passages", 1]]


def test_what_is_held_out_goes_to_a_file_of_its_own_with_all_its_oracles(run: Run, tmp_path: Path):
    rows = [hops(n, answer=f"{n}-1 two") for n in range(60)]
    (tmp_path / "hops.json").write_text(json.dumps(rows))
    flags = ("--held-out", "held.jsonl", "--held-share", "0.2", "--preset", "raft", "--report", "r.md")
    result = run("hops.json", "--out", "t.jsonl", "--form", "evaluation", *flags)
    assert result.exit_code == 0, result.stderr
    train, apart = lines(tmp_path / "t.jsonl"), lines(tmp_path / "held.jsonl")
    assert len(train) + len(apart) == 60
    assert 10 < len(apart) < 35  # two gold passages: 1 − 0.8² of the questions
    assert all(sum(p["oracle"] for p in row["passages"]) == 2 for row in apart)
    assert any(not any(p["oracle"] for p in row["passages"]) for row in train)
    assert f"hops, held out: {len(apart)} examples of {len(apart)} questions; P 1" in result.stdout
    rest = "(asked for: those of 20 % of the gold passages)"
    assert re.search(rf"holds +needs a passage held out +0 of {len(apart)} questions do not", result.stdout)
    assert result.stdout.endswith(f"\n\nheld out: {len(apart)} of 60 questions {rest}\n")
    assert result.stderr == "written: t.jsonl, held.jsonl, r.md\n"
    assert (tmp_path / "r.md").read_text().count("# Training data of hops") == 2
    found = json.loads(run("hops.json", "--out", "t.jsonl", *flags, "--json").stdout)
    assert (found["examples"], found["held_out"]["examples"]) == (len(train), len(apart))


def test_a_check_that_fails_is_told_on_stderr_too(run: Run, towns: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sensegraph.lab.finetuning.data.report._CHANCE", 1.1)  # no draw is likely enough
    result = run(towns, "--out", "t.jsonl", "--near", "none")
    assert result.exit_code == 0
    assert "FAILS  oracle positions uniform" in result.stdout
    assert result.stderr.startswith("not all checks hold: oracle positions uniform; read the report")


def test_of_few_questions_one_is_held_out_whatever_the_share(run: Run, towns: Path, tmp_path: Path):
    result = run(towns, "--out", "t.jsonl", "--near", "none", "--held-out", "h.jsonl", "--held-share", "0")
    assert result.exit_code == 0, result.stderr
    assert (len(lines(tmp_path / "t.jsonl")), len(lines(tmp_path / "h.jsonl"))) == (3, 1)


def test_where_one_question_is_all_there_is_none_is_held_out_and_no_file_is_changed(run: Run, tmp_path: Path):
    written(tmp_path / "towns", asked=ANSWERED[:1], judged=[("q0", "k0", 1)])
    result = run("towns", "--out", "t.jsonl", "--near", "none", "--held-out", "h.jsonl")
    assert result.exit_code == 1
    assert "Holding questions out needs two that can be used, and there is 1" in result.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["towns"]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 5, 7, 20])
def test_an_index_of_any_size_gives_examples_and_held_out_questions(run: Run, tmp_path: Path, count: int):
    settings = {"engine": "offline", "index": {"parts": []}}
    with Corpus.open(tmp_path / "notes", settings=settings) as corpus:
        corpus.add([Document(f"d{n}", f"Bo Hale {n} runs Mill {n}, which lies at Arle {n}.") for n in range(count)])
        corpus.build()
    asked = [(f"Who runs Mill {n}?", f"Bo Hale {n}", n) for n in range(count)]
    asked += [(f"Where does Mill {n} lie?", f"Arle {n}", n) for n in range(count)]
    rows = [{"_id": str(i), "text": q, "answer": a, "documents": [f"d{n}"]} for i, (q, a, n) in enumerate(asked)]
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    flags = ("--questions", "asked.jsonl", "--out", "t.jsonl", "--held-out", "h.jsonl", "--form", "evaluation")
    result = run("notes", *flags, "--near", "none")
    assert result.exit_code == 0, result.output
    assert len(lines(tmp_path / "t.jsonl")) + len(lines(tmp_path / "h.jsonl")) == 2 * count
    made = lines(tmp_path / "t.jsonl") + lines(tmp_path / "h.jsonl")
    assert all(row["passages"] for row in made)
    # of one document both questions rest on one passage
    assert ("needs a passage held out" in result.stderr) is (count == 1)
    assert ("1 of 1 questions do not: training shows all that they rest on; add documents" in result.stdout) is (
        count == 1
    )


def test_a_graph_without_a_sentence_to_ask_about_says_what_is_missing(run: Run, tmp_path: Path):
    with Corpus.open(tmp_path / "notes", settings={"engine": "offline", "index": {"parts": ["graph"]}}) as corpus:
        corpus.add([Document("d", "Bo Hale runs Arle Mill.")])
        corpus.build()
    result = run("notes", "--from-graph", "9", "--out", "t.jsonl", "--held-out", "h.jsonl")
    assert result.exit_code == 1
    assert "of 1 relation none has a sentence of 40 to 300 characters that names both ends" in result.stderr
    assert "Add documents, or give questions with --questions FILE" in result.stderr


def test_the_settings_of_a_method_are_those_that_are_given(run: Run, towns: Path):
    result = run(towns, "--out", "a.jsonl", "--near", "bm25", "--engine", "offline", "--set", "methods.bm25.k=0")
    assert result.exit_code == 1
    assert "bm25: k (0)" in result.stderr


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(run: Run, towns: Path, tmp_path: Path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert run(towns, "--out", name, "--seed", seed, "--near", "bm25", "--engine", "offline").exit_code == 0
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c


def test_a_file_in_the_form_of_hotpotqa_has_distractors_of_its_own(run: Run, tmp_path: Path):
    (tmp_path / "hops.json").write_text(json.dumps([hops(n, answer=f"{n}-1 two") for n in range(9)]))
    result = run("hops.json", "--out", "h.jsonl", "--form", "evaluation", "--no-pad")
    assert result.exit_code == 0, result.stderr
    rows = lines(tmp_path / "h.jsonl")
    assert len(rows) == 9
    assert all(sum(p["kind"] == "own" for p in row["passages"]) == 3 for row in rows)
    assert "near the question by: the file" in result.stdout


def test_an_index_takes_questions_of_a_file(run: Run, harbour: Path, tmp_path: Path):
    row = {"_id": "q", "text": "Who keeps the lamp?", "answer": "Ada Finch", "documents": ["minutes-2019"]}
    (tmp_path / "asked.jsonl").write_text(json.dumps(row))
    result = run(harbour, "--questions", "asked.jsonl", "--out", "i.jsonl", "--form", "chat", "--no-pad")
    assert result.exit_code == 0, result.stderr
    assert "Ada Finch" in lines(tmp_path / "i.jsonl")[0]["messages"][1]["content"]
    assert "near the question by: walk" in result.stdout


def test_an_index_gives_questions_from_its_graph_and_says_that_a_rule_made_them(
    run: Run, harbour: Path, tmp_path: Path
):
    result = run(harbour, "--from-graph", 6, "--preset", "raft", "--out", "g.jsonl", "--form", "evaluation")
    assert result.exit_code == 0, result.stderr
    assert "questions: 6 template" in result.stdout
    assert {row["made"] for row in lines(tmp_path / "g.jsonl")} == {"template"}


def test_questions_without_answers_are_answered_where_that_is_asked_for(run: Run, harbour: Path, tmp_path: Path):
    with Corpus.open(harbour, create=False) as corpus:
        gold = [p.id for p in ChunkPassages(corpus.index()) if "lighthouse of Skerry Point" in p.text]
    row = {
        "_id": "q",
        "text": "Who keeps the lighthouse of Skerry Point?",
        "metadata": {"chunks": gold[:1], "made": "model"},
    }
    (tmp_path / "asked.jsonl").write_text(json.dumps(row))
    flags = (harbour, "--questions", "asked.jsonl", "--out", "w.jsonl", "--form", "evaluation", "--no-pad")
    refused = run(*flags)
    assert refused.exit_code == 1
    assert "1 × it has no answer" in refused.stderr
    result = run(*flags, "--write-answers")
    assert result.exit_code == 0, result.stderr
    assert "answers written by an engine from the gold passages: 1" in result.stdout
    assert "questions: 1 model" in result.stdout
    (made,) = lines(tmp_path / "w.jsonl")
    assert (made["written"], made["made"]) == (True, "model")
    assert "Ada Finch" in made["answer"]


@pytest.mark.parametrize("kind", ["collection", "file", "index"])
def test_personal_data_are_replaced_on_demand_wherever_they_come_from(run: Run, tmp_path: Path, towns: Path, kind: str):
    """R28."""
    mail = "keeper@arle.example.org"
    if kind == "collection":
        path = towns / "corpus.jsonl"
        path.write_text(path.read_text().replace("trims its wick.", f"trims its wick. Write to {mail}."))
        words: tuple = (towns, "--near", "none")
    elif kind == "file":
        rows = [hops(n, answer=f"{n}-1 two") for n in range(9)]
        rows[0]["context"][1][1].append(f" Write to {mail}.")
        (tmp_path / "hops.json").write_text(json.dumps(rows))
        words = ("hops.json",)
    else:
        with Corpus.open(tmp_path / "notes", settings={"engine": "offline", "index": {"parts": []}}) as corpus:
            corpus.add([Document(f"d{n}", f"Town {n} has a lamp. Write to {mail} about lamp {n}.") for n in range(9)])
            corpus.build()
        row = {"_id": "q", "text": f"Where does {mail} live?", "answer": "Town 3", "documents": ["d3"]}
        (tmp_path / "asked.jsonl").write_text(json.dumps(row))
        words = ("notes", "--questions", "asked.jsonl")
    open_, masked = run(*words, "--out", "open.jsonl"), run(*words, "--out", "masked.jsonl", "--mask")
    assert (open_.exit_code, masked.exit_code) == (0, 0), masked.output
    assert mail in (tmp_path / "open.jsonl").read_text()
    assert mail not in (tmp_path / "masked.jsonl").read_text()
    assert "[EMAIL]" in (tmp_path / "masked.jsonl").read_text()
    assert "personal data replaced: " in masked.stdout
    assert "personal data" not in open_.stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("nowhere",), 1, "nowhere does not exist"),
        (("empty",), 1, "holds no test collection"),
        (("towns", "--from-graph", 3), 2, "go with an index"),
        (("hops.json", "--near", "walk"), 2, "has distractors of its own"),
        (("towns", "--write-answers"), 2, "goes with --questions"),
        (("towns", "--distractors", "few"), 2, "is no number and no pair"),
        (("towns", "--distractors", "5,3"), 1, "must ascend"),
        (("towns", "--preset", "lora"), 1, "No preset is called 'lora'"),
        (("towns", "--form", "alpaca"), 1, "No form is called 'alpaca'"),
        (("towns", "--style", "verse"), 1, "style cannot be 'verse'"),
        (("towns", "--near", "psychic"), 1, "No method is called 'psychic'"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence_and_leaves_no_file(
    run: Run, towns: Path, tmp_path: Path, words: tuple, status: int, said: str
):
    (tmp_path / "empty").mkdir()
    (tmp_path / "hops.json").write_text(json.dumps([hops(n) for n in range(9)]))
    result = run(*words, "--out", "x.jsonl")
    assert result.exit_code == status, result.output
    assert said in " ".join(result.stderr.split())
    assert not list(tmp_path.glob("x.jsonl*"))


def test_an_index_without_questions_is_refused_with_both_ways_out(run: Run, harbour: Path):
    result = run(harbour, "--out", "x.jsonl")
    assert result.exit_code == 2
    assert "--questions FILE or --from-graph N" in " ".join(result.stderr.split())


def test_where_no_example_can_be_made_the_reasons_are_told_and_an_older_file_stays(
    run: Run, tmp_path: Path, towns: Path
):
    (tmp_path / "old.jsonl").write_text("old\n")
    result = run(towns, "--out", "old.jsonl", "--length", "10", "--near", "none")
    assert result.exit_code == 1
    assert "No example could be made of the questions of towns: 4 × its gold passages do not fit" in result.stderr
    assert (tmp_path / "old.jsonl").read_text() == "old\n"


def test_the_group_lists_what_can_be_done():
    assert "data" in CliRunner().invoke(app, ["tune", "--help"]).stdout
