"""Answers before a judge over the wire: what it sees, what is paid, and what comes of it (N28, N29, G31, L21)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import EndpointError, InputError, StepFailed, UnsupportedTask
from sensegraph.lab.judging.bias import assess_bias
from sensegraph.lab.judging.criteria import Criterion, Rules, choose_rules, judging_presets, read_bands
from sensegraph.lab.judging.judge_calls import foresee_judging, judge_pairs, score_answers
from sensegraph.lab.judging.judgements import tally_all_pairs, tally_pair
from sensegraph.models.embedders import HashedTerms
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime

QUESTIONS = ("Who built the mill?", "Who sold it?", "Why did it fail?")
LONG = "Ada Quay built the mill in 1801 [1]. She had learnt it of Piet Stone [2]. It stood by the river for years."
SHORT = "Ada Quay did."
ANSWERS = {"graphrag-root": (LONG,) * 3, "naive-plain": (SHORT,) * 3}
PAIR = ("graphrag-root", "naive-plain")
FIRST = {name: told[:1] for name, told in ANSWERS.items()}
TWO = choose_rules("sensegraph", ("comprehensiveness", "directness"), replicates=2)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(Script(keep_bodies=True)) as running:
        yield running


# ── what is asked ──


def test_both_orders_of_every_replicate_are_sent_and_no_name_of_a_method(
    server: ScriptedServer, store: SqliteStore
) -> None:
    found = judge_pairs(ANSWERS, QUESTIONS, TWO, runtime(store, server, seed=1))
    assert len(found.verdicts) == len(server.done("judge")) == 3 * 2 * 2 * 2
    told = [c.body["messages"][1]["content"] for c in server.done()]
    assert sum(t.index(LONG) < t.index(SHORT) for t in told) == len(told) / 2
    assert not any(name in str(c.body) for c in server.done() for name in (*ANSWERS, "graphrag", "naive"))


def test_what_was_judged_is_not_paid_again_and_more_replicates_cost_only_themselves(
    server: ScriptedServer, store: SqliteStore
) -> None:
    rt = runtime(store, server, seed=1)
    first = judge_pairs(ANSWERS, QUESTIONS, TWO, rt)
    before = len(server.done())
    assert judge_pairs(ANSWERS, QUESTIONS, TWO, rt) == first
    assert len(server.done()) == before
    judge_pairs(ANSWERS, QUESTIONS, replace(TWO, replicates=3), rt)
    assert len(server.done()) == before * 3 // 2


def test_replicates_are_stored_apart_though_the_judge_sees_no_number(
    server: ScriptedServer, store: SqliteStore
) -> None:
    judge_pairs(FIRST, QUESTIONS[:1], TWO, runtime(store, server))
    assert len({c.sha for c in server.done()}) == 4  # two criteria, two orders
    assert len(server.done()) == 8


def test_one_order_is_drawn_by_the_seed_for_each_replicate(server: ScriptedServer, store: SqliteStore) -> None:
    how = choose_rules("edge2024", replicates=5)
    rt = runtime(store, server)
    one, again, other = (judge_pairs(ANSWERS, QUESTIONS, replace(how, seed=s), rt) for s in (0, 0, 1))
    firsts = [v.first for v in one.verdicts]
    assert one == again
    assert firsts != [v.first for v in other.verdicts]
    assert len(firsts) == 3 * 4 * 5
    assert 0.25 < firsts.count(PAIR[0]) / len(firsts) < 0.75
    turned = judge_pairs(dict(reversed(ANSWERS.items())), QUESTIONS, how, rt)
    assert [v.first for v in turned.verdicts] == firsts  # however the conditions are listed


def test_a_run_that_failed_goes_on_where_it_stopped(store: SqliteStore) -> None:
    with ScriptedServer(Script(fail_rate=0.3, fail_status=500, times=9, seed=5)) as server:
        rt = runtime(store, server, max_retries=0, seed=1)
        with pytest.raises((StepFailed, EndpointError)):
            judge_pairs(ANSWERS, QUESTIONS, TWO, rt)
        paid = {c.sha for c in server.done()}
    with ScriptedServer() as server:
        judge_pairs(ANSWERS, QUESTIONS, TWO, runtime(store, server, seed=1))
        assert paid
        assert not paid & {c.sha for c in server.done()}
        assert len(paid) + len(server.done()) == 24


# ── what comes of it ──


def test_the_longer_answer_wins_by_comprehensiveness_and_loses_by_directness(
    server: ScriptedServer, store: SqliteStore
) -> None:  # N29
    found = judge_pairs(ANSWERS, QUESTIONS, TWO, runtime(store, server))
    assert {t.criterion: t.mean for t in tally_all_pairs(found)} == {"comprehensiveness": 100.0, "directness": 0.0}
    report = assess_bias(found)
    assert (report.whole.first, report.whole.consistent, report.suspects, report.warnings) == (0.5, 1.0, (), ())
    assert found.words == {PAIR[0]: (23,) * 3, PAIR[1]: (3,) * 3}


def test_a_judge_that_likes_the_first_place_gives_ties_and_a_warning(store: SqliteStore) -> None:
    with ScriptedServer(Script(first_bias=1.0)) as server:
        found = judge_pairs(ANSWERS, QUESTIONS, TWO, runtime(store, server))
    assert {t.mean for t in tally_all_pairs(found)} == {50.0}
    assert {t.mean for t in tally_all_pairs(found.one_order())} == {100.0}
    report = assess_bias(found)
    assert (report.whole.first, report.whole.consistent) == (1.0, 0.0)
    assert len(report.warnings) == 1
    assert len(report.remarks) == 3


def test_a_reply_that_stays_unreadable_is_no_verdict_and_its_question_is_dropped(store: SqliteStore) -> None:
    def odd(body: dict[str, Any]) -> str | None:
        return "I like both." if QUESTIONS[1] in str(body) else None

    with ScriptedServer(Script(reply=odd)) as server:
        rt = runtime(store, server)
        found = judge_pairs(ANSWERS, QUESTIONS, TWO, rt)
        notes = rt.engine.notes()
    first = tally_pair(found, "comprehensiveness", PAIR)
    assert (first.scores, first.dropped, first.lost, found.missing) == ((100.0, None, 100.0), 1, 2, 8)
    assert assess_bias(found).whole.ties == 0.0
    assert "no verdict: the reply stayed unusable (8 ×)" in notes


def test_a_missing_answer_is_not_judged_and_an_empty_one_is(server: ScriptedServer, store: SqliteStore) -> None:
    answers = {"a": (LONG, None), "b": (SHORT, SHORT), "c": ("", "")}
    found = judge_pairs(answers, QUESTIONS[:2], TWO, runtime(store, server))
    assert tally_pair(found, "comprehensiveness", ("a", "b")).scores == (100.0, None)
    assert tally_pair(found, "comprehensiveness", ("a", "c")).scores == (100.0, None)
    assert tally_pair(found, "comprehensiveness", ("b", "c")).dropped == 0
    assert any("(The answer is empty.)" in str(c.body) for c in server.done())


def test_scored_verdicts_carry_a_score_for_each_answer(server: ScriptedServer, store: SqliteStore) -> None:  # N95
    found = judge_pairs(FIRST, QUESTIONS[:1], choose_rules("scored", replicates=1), runtime(store, server))
    assert {v.scores for v in found.verdicts} == {(4.0, 2.0), (2.0, 4.0)}
    assert "1: poor" in str(server.done()[0].body)


def test_without_a_tie_a_winner_is_named(server: ScriptedServer, store: SqliteStore) -> None:  # L22
    same = {"a": (LONG,), "b": (LONG,)}
    found = judge_pairs(same, QUESTIONS[:1], choose_rules("zhang2025", replicates=1), runtime(store, server))
    assert {v.winner for v in found.verdicts} == {1}


# ── only what differs ──


def test_only_what_differs_is_judged_so_that_repeating_wins_nothing(server: ScriptedServer, store: SqliteStore) -> None:
    shared = "The mill stood by the river. Ada Quay built it. Nobody knows when. It burnt down."
    answers = {"a": (f"{shared} Piet sold.",), "b": (f"{shared} Bram Harrow bought the whole of it in 1803.",)}
    how = replace(TWO, differential=True, replicates=1)
    found = judge_pairs(answers, QUESTIONS[:1], how, runtime(store, server))
    (contrast,) = server.done("contrast")
    assert "Criterion" not in contrast.body["messages"][1]["content"]
    assert all("stood by the river" not in str(c.body) for c in server.done("judge"))
    assert all("only what the other does not say" in str(c.body) for c in server.done("judge"))
    assert tally_pair(found, "comprehensiveness", ("a", "b")).mean == 0.0


def test_answers_that_say_the_same_tie_without_a_judge(server: ScriptedServer, store: SqliteStore) -> None:
    answers = {"a": ("One thing. Another.",), "b": ("Another.\nOne thing.",)}
    found = judge_pairs(answers, QUESTIONS[:1], replace(TWO, differential=True), runtime(store, server))
    assert not server.done("judge")
    assert {t.mean for t in tally_all_pairs(found)} == {50.0}


def test_a_contrast_that_cannot_be_read_gives_no_verdict(store: SqliteStore) -> None:
    with ScriptedServer(Script(reply=lambda body: "nothing")) as server:
        found = judge_pairs(FIRST, QUESTIONS[:1], replace(TWO, differential=True), runtime(store, server))
        assert not server.done("judge")
    assert found.missing == len(found.verdicts) == 8


# ── before it begins ──


def test_what_is_foreseen_is_what_is_asked(server: ScriptedServer, store: SqliteStore) -> None:
    rt = runtime(store, server, price_prompt=1.0, price_completion=2.0)
    told = foresee_judging(ANSWERS, QUESTIONS, TWO, rt)
    assert not server.calls
    before = rt.engine.usage()
    judge_pairs(ANSWERS, QUESTIONS, TWO, rt)
    spent = rt.engine.usage() - before
    assert (told.trials, told.stored, told.calls) == (24, 0, spent.calls)
    assert 0.7 < told.prompt_tokens / spent.prompt_tokens < 1.6
    assert told.cost_usd == pytest.approx((told.prompt_tokens + 2 * told.completion_tokens) / 1e6)
    after = foresee_judging(ANSWERS, QUESTIONS, TWO, rt)
    assert (after.stored, after.calls, after.cost_usd) == (24, 0, 0.0)


def test_scores_and_contrasts_are_foreseen_too(server: ScriptedServer, store: SqliteStore) -> None:
    rt = runtime(store, server)
    assert foresee_judging(ANSWERS, QUESTIONS, TWO, rt, singly=True).calls == 3 * 2 * 2 * 2
    assert foresee_judging(ANSWERS, QUESTIONS, replace(TWO, differential=True), rt).calls == 24 + 3


def test_an_engine_without_a_judge_is_refused_before_any_work(store: SqliteStore) -> None:
    rt = Runtime(ClassicalEngine(), HashedTerms(), store, LocalExecutor(1, 1))
    with pytest.raises(UnsupportedTask, match="judge"):
        judge_pairs(ANSWERS, QUESTIONS, TWO, rt)
    with pytest.raises(UnsupportedTask, match="score"):
        score_answers(ANSWERS, QUESTIONS, TWO, rt)


@pytest.mark.parametrize(
    ("answers", "said"),
    [({"a": ("x",), "b": ("x", "y", "z")}, "a has 1 answers to 3 questions"), ({"a": ("x",) * 3}, "at least two")],
)
def test_answers_have_to_fit_the_questions(answers: Any, said: str, store: SqliteStore, server: ScriptedServer) -> None:
    with pytest.raises(InputError, match=said):
        judge_pairs(answers, QUESTIONS, TWO, runtime(store, server))


# ── scores of single answers ──


def test_scores_vary_over_runs_and_over_questions_and_both_are_told(store: SqliteStore) -> None:  # L21
    def by_seed(body: dict[str, Any]) -> str:
        question = QUESTIONS.index(body["messages"][1]["content"].partition("\n")[0].removeprefix("Question: "))
        return f'{{"explanation": "It says so.", "score": {(4, 6, 40)[question] + body["seed"]}}}'

    how = choose_rules("zhang2025", ("overall",), replicates=2)
    with ScriptedServer(Script(reply=by_seed)) as server:
        found = score_answers({"a": (LONG,) * 3}, QUESTIONS, how, runtime(store, server, seed=0))
    (marked,) = found.marked()
    assert marked.questions == (4.5, 6.5, 10.0)  # 40 and 41 are clamped to 10
    assert marked.mean == pytest.approx(7.0)
    assert marked.over_runs == pytest.approx(0.4714, abs=1e-4)  # of 20/3 and 22/3
    assert marked.over_questions == pytest.approx(2.7839, abs=1e-4)


def test_the_bands_go_with_the_scale_and_a_missing_answer_has_no_score(
    server: ScriptedServer, store: SqliteStore
) -> None:
    found = score_answers(
        {"a": (LONG, None, LONG), "b": (SHORT,) * 3}, QUESTIONS, choose_rules("zhang2025"), runtime(store, server)
    )
    assert len(server.done("score")) == (2 + 3) * 4 * 5
    assert read_bands("zhang2025").splitlines()[-1] in server.done()[0].body["messages"][1]["content"]
    first = found.marked()[0]
    assert (first.condition, first.questions, first.missing) == ("a", (5.0, None, 5.0), 0)


def test_a_score_that_stays_unreadable_is_counted_as_missing(store: SqliteStore) -> None:
    with ScriptedServer(Script(reply=lambda body: "Splendid!")) as server:
        found = score_answers(
            {"a": (LONG,)}, QUESTIONS[:1], choose_rules("zhang2025", ("overall",)), runtime(store, server)
        )
    (marked,) = found.marked()
    assert (marked.mean, marked.missing, marked.over_runs, marked.over_questions) == (None, 5, None, None)


# ── criteria ──


def test_the_presets_judge_as_the_papers_say() -> None:
    found = judging_presets()
    names = ("comprehensiveness", "diversity", "empowerment", "directness")
    assert [c.name for c in found["edge2024"].criteria] == list(names)
    assert (found["edge2024"].replicates, found["edge2024"].both_orders, found["edge2024"].tie) == (5, False, True)
    assert {c.name for c in found["zhang2025"].criteria} == {*names[:3], "overall"}
    assert (found["zhang2025"].tie, found["zhang2025"].low, found["zhang2025"].high) == (False, 1, 10)
    assert (found["sensegraph"].both_orders, found["sensegraph"].control) == (True, "directness")
    assert len(read_bands("zhang2025").splitlines()) == 5


def test_a_wrong_name_is_met_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match="did you mean 'edge2024'"):
        choose_rules("edge2025")
    with pytest.raises(InputError, match="did you mean 'directness'"):
        choose_rules("edge2024", ("directnes",))
    with pytest.raises(InputError, match="at least 1"):
        choose_rules(replicates=-1)


def test_a_criterion_of_ones_own_can_be_given() -> None:
    own = Criterion("tone", "How friendly is it?")
    assert choose_rules("edge2024", (own, "diversity")).criteria[0] == own
    with pytest.raises(InputError, match="No criterion"):
        Rules("none", ())
    with pytest.raises(InputError, match="no room"):
        Rules("flat", (own,), low=5, high=5)


def test_which_of_two_answers_is_shown_first_is_drawn_by_the_seed_and_stays_as_it_was_drawn(
    server: ScriptedServer, store: SqliteStore
) -> None:
    """Else verdicts that were paid for would not be found again."""

    def first(seed: int) -> str:
        once = replace(TWO, replicates=1, both_orders=False, seed=seed)
        found = judge_pairs(ANSWERS, QUESTIONS, once, runtime(store, server, seed=1))
        return "".join(v.first[0] for v in found.verdicts)

    assert (first(0), first(1), first(2)) == ("ngnnng", "ggnngn", "gnngnn")
