"""The report on data: what it counts, and that each of its checks can fail (graft §10; R28)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from finetuning_towns import NO_PAD, SMALL, asked, passage, source
from sensegraph.lab.finetuning.data.example_types import (
    DataSettings,
    DroppedQuestion,
    Example,
    MadeExample,
    Passage,
    SourceQuestion,
)
from sensegraph.lab.finetuning.data.examples import BEGIN, END, make_examples
from sensegraph.lab.finetuning.data.report import (
    DataReport,
    Reporter,
    format_data_report,
    record_data_report,
    render_data_page,
)

QUESTIONS = [asked(i, golds=1 + i % 2) for i in range(38)]


def reported(items: Iterable[MadeExample | DroppedQuestion], how: DataSettings = NO_PAD) -> DataReport:
    reporter = Reporter(source(QUESTIONS), how)
    for item in items:
        reporter.add(item)
    return reporter.report()


def examples(
    how: DataSettings = NO_PAD, questions: Iterable[SourceQuestion | DroppedQuestion] = QUESTIONS
) -> list[MadeExample | DroppedQuestion]:
    found = source(list(questions))
    return list(make_examples(found.questions, found.pool, how))


def failing(report: DataReport) -> list[str]:
    return [c.name for c in report.checks if not c.holds]


def broken(**given: object) -> list[MadeExample | DroppedQuestion]:
    """Good examples, of which the first has these fields instead."""
    first, *others = examples()
    assert isinstance(first, MadeExample)
    return [replace(first, example=replace(first.example, **given)), *others]  # type: ignore[arg-type]


def first_of(items: list[MadeExample | DroppedQuestion]) -> Example:
    assert isinstance(items[0], MadeExample)
    return items[0].example


@pytest.mark.parametrize(
    "how", [NO_PAD, SMALL, replace(NO_PAD, oracle_share=0.8, style="cot"), replace(SMALL, oracle_share=0.0)]
)
def test_of_examples_as_they_are_made_every_check_holds(how: DataSettings):
    report = reported(examples(how), how)
    assert failing(report) == []
    assert report.sound
    assert report.examples == report.questions == 38


def test_counts_are_those_of_the_examples():
    items = examples(
        questions=[
            *QUESTIONS,
            asked(3, golds=3),
            DroppedQuestion("x", "it is gone"),
            DroppedQuestion("y", "it is gone"),
        ]
    )
    report = reported(items)
    kept = [i.example for i in items if isinstance(i, MadeExample)]
    assert (report.questions, report.examples) == (41, 38)
    assert report.dropped == (("it is gone", 2), ("it has more than 2 gold passages", 1))
    assert report.oracles == ((1, 19), (2, 19))
    assert report.types == (("keeper", 38),)
    assert dict(report.distractors) == {"random": sum(len(e.passages) - len(e.oracles) for e in kept)}
    assert (report.tokens.least, report.tokens.most) == (min(e.tokens for e in kept), max(e.tokens for e in kept))
    assert report.answered == (38, 38)
    assert sum(report.positions.seen) == 19 + 2 * 19
    assert report.made == (("given", 38),)


def test_a_share_of_oracles_that_was_not_drawn_so_is_noticed():
    assert failing(reported(examples(), replace(NO_PAD, oracle_share=0.5))) == ["oracle share as set"]
    assert "oracle share as set" in failing(reported(broken(passages=(passage(9),))))


def test_oracles_that_always_come_first_are_noticed():
    first = [
        replace(i, example=replace(i.example, passages=tuple(sorted(i.example.passages, key=lambda p: not p.oracle))))
        for i in examples()
        if isinstance(i, MadeExample)
    ]
    assert failing(reported(first)) == ["oracle positions uniform"]
    assert not reported(first).sound  # one check that does not hold is enough


def test_a_distractor_that_overlaps_an_oracle_is_noticed():
    e = first_of(examples())
    copy = replace(e.oracles[0], id="copy", document="elsewhere", oracle=False)
    assert "no distractor overlaps an oracle" in failing(reported(broken(passages=(*e.passages, copy))))


def test_a_distractor_that_holds_a_long_answer_is_noticed_and_a_short_one_is_counted():
    e = first_of(examples())
    leak = Passage("leak", "Some say Odd 0 Finch, some say nobody.")
    report = reported(broken(passages=(*e.passages, leak)))
    assert failing(report) == ["no distractor holds a long answer"]
    short = reported(broken(passages=(*e.passages, leak), answers=("nobody",), answer="nobody"))
    assert failing(short) == []
    assert (short.leaks.examples, short.leaks.passages, short.leaks.long) == (1, 1, 0)
    assert reported(broken(answers=("yes",))).leaks.polar == 1


def test_a_quote_that_is_not_verbatim_is_noticed():
    how = replace(NO_PAD, style="cot")
    items = examples(how)
    assert reported(items, how).quotes == 19 + 2 * 19
    false = replace(first_of(items), target=f"{BEGIN} never said {END}\n##Answer: x")
    assert failing(reported([MadeExample(false), *items[1:]], how)) == ["quotes verbatim"]


def test_too_long_an_example_and_too_many_oracles_and_a_repetition_are_noticed():
    assert failing(reported(examples(), replace(NO_PAD, max_tokens=100))) == ["tokens within the limit"]
    assert failing(reported(examples(), replace(NO_PAD, most_oracles=1))) == ["oracle passages as set"]
    items = examples()
    assert failing(reported([*items, items[0]])) == ["no example twice"]
    assert failing(reported([DroppedQuestion("x", "gone")])) == ["there are examples"]


def test_the_audit_sets_topics_of_the_pool_beside_what_is_asked_and_shown():
    """R28."""
    items = examples()
    report = reported(items)
    shown = [p for i in items if isinstance(i, MadeExample) for p in i.example.passages]
    assert {t.name for t in report.topics} == {"t0", "t1", "t2"}
    assert sum(t.pool for t in report.topics) == 40
    assert {t.name: t.oracle for t in report.topics} == {
        t: sum(p.oracle and p.topic == t for p in shown) for t in ("t0", "t1", "t2")
    }
    assert sum(t.distractor for t in report.topics) == sum(not p.oracle for p in shown)


def test_many_topics_are_cut_to_the_leading_ones_and_one_row_for_the_rest():
    passages = [replace(passage(i), topic=f"topic {i}") for i in range(40)]
    reporter = Reporter(source(QUESTIONS, passages), NO_PAD)
    for item in make_examples(QUESTIONS, passages, NO_PAD):
        reporter.add(item)
    topics = reporter.report().topics
    assert len(topics) == 21
    assert (topics[-1].name, sum(t.pool for t in topics)) == ("23 others", 40)  # 40 of the pool, 3 of what is asked


def test_how_often_one_passage_was_drawn_is_told():
    few = [passage(i) for i in range(32, 40)]
    made = list(make_examples([asked(i) for i in range(30)], few, NO_PAD))
    reporter = Reporter(source([], few), NO_PAD)
    for item in made:
        reporter.add(item)
    shown = [p.text for i in made if isinstance(i, MadeExample) for p in i.example.passages if p.kind == "random"]
    assert reporter.report().reused == max(map(shown.count, shown)) > 10


def test_topics_that_are_known_are_not_read_from_the_pool():
    found = replace(source(QUESTIONS), topics=(("a", 3), ("b", 4), ("a", 1)))
    assert {t.name: t.pool for t in Reporter(found, NO_PAD).report().topics} == {"a": 4, "b": 4}


def test_people_read_the_same_figures_as_text_and_as_a_page():
    several = [asked(i, answers=(f"Odd {i} Finch", "another")) for i in range(30)]
    report = reported([*examples(questions=several), DroppedQuestion("x", "it is gone")])
    for said in (format_data_report(report), render_data_page(report)):
        assert "towns: 30 examples of 31 questions; P 1, style plain, up to 2,048 tokens, seed 0" in said
        assert "dropped: 1 it is gone" in said
        assert "oracle positions uniform" in said
        assert "several answers: 30 examples, of which the first is learnt" in said
    assert "FAILS" not in format_data_report(report)
    assert "| t0 | 14 |" in render_data_page(report)
    bad = reported(examples(), replace(NO_PAD, max_tokens=100))
    assert "FAILS  tokens within the limit" in format_data_report(bad)
    assert "**fails** | tokens within the limit" in render_data_page(bad)


def test_one_is_said_as_one_and_equal_sizes_once():
    (first, *_) = examples()
    said = format_data_report(reported([first]))
    assert ": 1 example of 1 question; P " in said
    assert f"passages of an example: {len(first_of([first]).passages)}; " in said
    leak = Passage("leak", "Some say nobody.")
    e = first_of(examples())
    said = format_data_report(reported(broken(passages=(*e.passages, leak), answers=("nobody",), answer="nobody")))
    assert "leaks: 1 distractor of 1 example holds a short answer" in said


def test_programs_read_one_plain_object():
    found = record_data_report(reported(examples()))
    assert found["sound"] is True
    assert found["settings"]["pad"] is False
    assert found["checks"][0] == {"name": "there are examples", "holds": True, "said": "38 of 38 questions"}
