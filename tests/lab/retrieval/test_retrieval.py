"""Measuring methods over an index: rankings, groups, scores, comparisons, and settings chosen without the set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judged_towns import written
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.lab.retrieval import JudgedSet, Measured, Measuring, Named, measure, read_set
from sensegraph.lab.retrieval.retrieval_scores import choose_held_out, score_run
from sensegraph.lab.retrieval.runs import Found, Run, group_queries, widen_context, write_runs
from sensegraph.methods.basic.naive import Naive
from sensegraph.types import Document

DEEP, NARROW = Named("deep", Naive()), Named("narrow", Naive(top=1))


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> JudgedSet:
    return read_set(written(tmp_path_factory.mktemp("towns")))


@pytest.fixture(scope="module")
def corpus(towns: JudgedSet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    settings = {"engine": "offline", "index": {"parts": []}}
    with Corpus.open(tmp_path_factory.mktemp("corpus"), settings=settings) as made:
        made.add(towns.documents)
        made.build()
        yield made


@pytest.fixture(scope="module")
def found(towns: JudgedSet, corpus: Corpus) -> Measured:
    return measure(towns, [DEEP, NARROW], corpus.index(), corpus.runtime(), Measuring((1, 2), draws=200))


def test_every_question_has_a_ranking_and_scores_of_every_method(found: Measured):
    assert [r.method for r in found.runs] == ["deep", "narrow"]
    assert [f.query for f in found.runs[0].found] == ["q0", "q1", "q2", "q9"]
    deep = found.scores[0]
    assert deep.values["recall@1"] == (1, 1, 1, 0.5)
    assert deep.values["recall@2"] == (1, 1, 1, 1)
    assert deep.means["recall@1"].mean == pytest.approx(3.5 / 4)
    assert deep.cpu_ms > 0


def test_context_tokens_are_those_of_the_method_as_it_is_set(found: Measured, corpus: Corpus):
    longest = max(c.tokens for c in corpus.index().catalogue.chunks)
    assert 0 < found.scores[1].context_tokens <= longest
    assert found.scores[0].context_tokens > 2 * longest


def test_a_ranking_that_settings_cut_short_is_made_again_with_room(found: Measured):
    assert found.scores[1].wide == 4
    assert found.scores[1].values == found.scores[0].values
    assert found.scores[0].wide == 0


def test_equal_methods_differ_in_nothing(found: Measured):
    told = {c.metric: c for c in found.comparisons}
    assert set(told) == set(found.scores[0].values)
    one = told["recall@2"]
    assert (one.method, one.baseline) == ("narrow", "deep")
    assert (one.difference.mean, one.p, one.p_holm, one.wins, one.ties, one.losses) == (0, 1, 1, 0, 4, 0)


def test_scores_are_told_by_type_of_question(found: Measured):
    by_type = found.by_type(found.scores[0])
    assert {kind: len(places) for kind, places in found.types.items()} == {"one": 3, "two": 1}
    assert by_type["one"]["recall@1"] == 1
    assert by_type["two"]["recall@1"] == 0.5


def test_a_field_keeps_each_question_to_its_documents(towns: JudgedSet, corpus: Corpus):
    inside = measure(towns, [DEEP], corpus.index(), corpus.runtime(), Measuring((2,), within="shore", draws=50))
    shore = {d.id: dict(d.metadata)["shore"] for d in towns.documents}
    for query, one in zip(inside.queries, inside.runs[0].found, strict=True):
        assert {shore[d] for d in one.documents} == {dict(query.metadata)["shore"]}
    assert inside.unplaced == 0


def test_questions_without_a_document_to_be_asked_of_are_counted(towns: JudgedSet, corpus: Corpus):
    queries = [*towns.queries[:3], towns.queries[3].__class__("far", "Who?", {"k0": 1}, "", (("shore", "west"),))]
    groups, unplaced = group_queries(
        [*queries, queries[0].__class__("bare", "Who?", {"k0": 1})], "shore", corpus.index()
    )
    assert [len(g.queries) for g in groups] == [3]
    assert unplaced == 2


def test_a_field_that_nothing_shares_is_an_error(towns: JudgedSet, corpus: Corpus):
    with pytest.raises(InputError, match="No question and document have the same 'coast'"):
        group_queries(towns.queries, "coast", corpus.index())


def test_bm25_is_the_baseline_where_it_is_there_and_else_the_first(towns: JudgedSet, corpus: Corpus):
    index, rt, how = corpus.index(), corpus.runtime(), Measuring((2,), draws=20)
    assert measure(towns, [NARROW, Named("bm25", Naive())], index, rt, how).baseline == "bm25"
    assert measure(towns, [NARROW, DEEP], index, rt, how).baseline == "narrow"


def test_a_baseline_that_is_no_method_is_an_error(towns: JudgedSet, corpus: Corpus):
    with pytest.raises(InputError, match="'other' is not among the methods deep"):
        measure(towns, [DEEP], corpus.index(), corpus.runtime(), Measuring(baseline="other"))
    with pytest.raises(InputError, match="each once; not deep, deep"):
        measure(towns, [DEEP, DEEP], corpus.index(), corpus.runtime())


@pytest.mark.parametrize("wrong", [{"cuts": (0, 5)}, {"cuts": ()}, {"draws": 0}, {"metric": "recall@3"}])
def test_a_measuring_that_makes_no_sense_is_an_error(wrong: dict[str, object]):
    with pytest.raises(InputError):
        Measuring(**wrong)  # type: ignore[arg-type]


def test_the_metric_that_is_compared_is_recall_at_5_or_at_the_deepest_cut():
    assert Measuring().primary == "recall@5"
    assert Measuring((2, 3)).primary == "recall@3"
    assert Measuring(metric="mrr").primary == "mrr"


def test_widening_leaves_more_room_and_keeps_all_else():
    wide = widen_context(Naive(top=3, context_tokens=50), 10)
    assert wide == Naive(top=100, context_tokens=1_000_000)
    assert widen_context(Naive(top=500), 10) == Naive(top=500, context_tokens=1_000_000)


def test_a_method_that_names_no_document_scores_0_and_is_counted(towns: JudgedSet):
    run = Run("mute", tuple(Found(q.id, (), 0, 0.0) for q in towns.queries))
    scores = score_run(run, towns.queries, Measuring((2,), draws=20))
    assert scores.empty == 4
    assert scores.means["recall@2"].mean == 0


def test_runs_are_written_as_trec_reads_them(tmp_path: Path):
    run = Run("hybrid:k=3", (Found("q1", ("a", "b"), 5, 0.1), Found("q2", (), 0, 0.1)))
    (path,) = write_runs([run], tmp_path / "runs", "towns")
    assert path.name == "towns.hybrid-k=3.trec"
    assert path.read_text() == "q1 Q0 a 1 1.000000 hybrid-k=3\nq1 Q0 b 2 0.500000 hybrid-k=3\n"


def test_a_long_document_ranks_by_its_best_chunk(tmp_path: Path):
    long = " ".join(f"Sentence {i} speaks of grain and of rope." for i in range(60)) + " Obsidian mirror." * 20
    documents = (Document("long", long), Document("short", "A mirror hangs in the hall, beside lamps and chairs."))
    queries = ({"_id": "q", "text": "Where is the obsidian mirror?"},)
    records = [{"_id": d.id, "text": d.text} for d in documents]
    judged = read_set(written(tmp_path / "set", docs=records, asked=queries, judged=[("q", "long", 1)]))
    settings = {"engine": "offline", "index": {"parts": [], "chunk_tokens": 60, "chunk_overlap": 0}}
    with Corpus.open(tmp_path / "corpus", settings=settings) as corpus:
        corpus.add(judged.documents)
        corpus.build()
        assert corpus.index().manifest.counts["chunks"] > 5
        found = measure(judged, [DEEP], corpus.index(), corpus.runtime(), Measuring((1,), draws=20))
    assert found.runs[0].found[0].documents == ("long", "short")


def results(towns: JudgedSet, table: dict[str, list[float]]) -> list[Measured]:
    """One result a column, in which the first k of four questions have a right answer, for the share k / 4."""
    made = []
    for i in range(len(next(iter(table.values())))):
        how, scores = Measuring((2,), draws=10), []
        for name, means in table.items():
            right = round(4 * means[i])
            found = [Found(q.id, tuple(q.gold) if n < right else (), 0, 0.0) for n, q in enumerate(towns.queries)]
            scores.append(score_run(Run(name, tuple(found)), towns.queries, how))
        made.append(Measured(towns, towns.queries, (), tuple(scores), (), "x"))
    return made


def test_a_setting_is_chosen_on_the_other_sets_alone(towns: JudgedSet):
    table = {"x": [1.0, 0.25, 0.5], "y": [0.0, 1.0, 0.75]}
    held = choose_held_out(results(towns, table), "recall@2", ["x", "y"])
    assert [h.method for h in held] == ["y", "x", "x"]
    assert [h.mean for h in held] == [0, 0.25, 0.5]
    assert [h.best for h in held] == [1, 1, 0.75]


def test_leaving_one_set_out_needs_two_sets_and_methods_that_were_measured(towns: JudgedSet):
    with pytest.raises(InputError, match="two sets at least"):
        choose_held_out(results(towns, {"x": [1.0]}), "recall@2", ["x"])
    with pytest.raises(InputError, match="'z' was not measured"):
        choose_held_out(results(towns, {"x": [1.0, 0.5]}), "recall@2", ["z"])
