"""How examples are made (R02–R05, R29; graft §3, §10)."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finetuning_towns import NO_PAD, SMALL, asked, example, passage, pool
from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.finetuning.data.example_types import (
    DataSettings,
    DroppedQuestion,
    MadeExample,
    Passage,
    SourceQuestion,
    find_data_preset,
    format_example_line,
    format_prompt,
)
from sensegraph.lab.finetuning.data.examples import (
    find_answer,
    is_held_out,
    make_example,
    make_examples,
    overlaps_passage,
    split_held_out,
)
from sensegraph.language.text import count_tokens


def test_an_example_shows_all_gold_passages_and_three_or_four_distractors():
    """R02."""
    found = [example(make_example(asked(i, golds=1 + i % 2), pool(), NO_PAD)) for i in range(30)]
    assert [len(e.oracles) for e in found] == [1 + i % 2 for i in range(30)]
    assert {len(e.passages) - len(e.oracles) for e in found} == {3, 4}


def test_padding_fills_up_to_the_limit_and_never_over_it():
    """R03: what is shown and what is learnt together, and no room is left for one more passage."""
    for number in range(10):
        e = example(make_example(asked(number), pool(100), SMALL))
        size = count_tokens(format_prompt(e.question, e.passages)) + count_tokens(e.target)
        assert e.tokens == size <= SMALL.max_tokens
        assert size > SMALL.max_tokens - 60


def test_the_gold_passage_is_never_cut_and_a_question_whose_does_not_fit_is_dropped():
    long = Passage("long", "Odd 0 Finch trims it. " * 200, oracle=True)
    assert make_example(replace(asked(), oracles=(long,)), pool(), SMALL) == DroppedQuestion(
        "q0", "its gold passages do not fit", "keeper"
    )
    assert example(make_example(asked(), pool(), SMALL)).oracles[0].text == passage(0).text


def test_a_short_budget_gives_fewer_distractors_and_says_so():
    size = count_tokens(format_prompt(asked().question, asked().oracles)) + count_tokens("Odd 0 Finch")
    tight = make_example(asked(), pool(), DataSettings(max_tokens=size + 60))
    assert isinstance(tight, MadeExample)
    assert tight.short
    assert len(tight.example.passages) == 2
    assert not example_is_short(make_example(asked(), pool(), NO_PAD))


def example_is_short(item: MadeExample | DroppedQuestion) -> bool:
    assert isinstance(item, MadeExample)
    return item.short


def test_p_is_the_share_of_examples_that_keep_their_gold_passages_and_others_get_distractors_instead():
    """R29."""
    how = replace(NO_PAD, oracle_share=0.4, distractors=(3, 3))
    found = [example(e) for e in make_examples([asked(i) for i in range(35)], pool(), how)]
    without = [e for e in found if not e.oracles]
    assert 10 < len(without) < 30
    assert {len(e.passages) for e in found} == {4}  # what is left out is replaced
    assert all(not any(overlaps_passage(p, passage(int(e.id[1:]))) for p in e.passages) for e in without)
    assert all(e.oracles for e in build_examples(replace(how, oracle_share=1.0)))
    assert not any(e.oracles for e in build_examples(replace(how, oracle_share=0.0)))


def build_examples(how: DataSettings) -> list:
    return [example(e) for e in make_examples([asked(i) for i in range(35)], pool(), how)]


def test_the_presets_are_the_paper_and_raft():
    """R29: the paper keeps the oracle and learns plain answers; RAFT leaves out one in five and reasons."""
    assert (
        find_data_preset("graft").oracle_share,
        find_data_preset("graft").style,
        find_data_preset("graft").max_tokens,
    ) == (1.0, "plain", 2048)
    assert (find_data_preset("raft").oracle_share, find_data_preset("raft").style) == (0.8, "cot")
    with pytest.raises(SettingsError, match="No preset is called 'qlora'; there are graft, raft"):
        find_data_preset("qlora")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"oracle_share": 1.5}, "oracle_share"),
        ({"distractors": (4, 3)}, "distractors"),
        ({"style": "verse"}, "style cannot be 'verse'; it is one of plain, cot"),
        ({"answers": "last"}, "answers cannot be 'last'"),
        ({"leak_words": 0}, "leak_words"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(wrong: dict, said: str):
    with pytest.raises(SettingsError, match=said):
        DataSettings(**wrong)


def test_hard_distractors_come_first_and_no_more_of_them_than_wanted():
    near = tuple(passage(n, kind="hard") for n in (20, 21, 22, 23))
    e = example(make_example(asked(near=near), pool(), replace(NO_PAD, distractors=(4, 4))))
    assert sorted(p.id for p in e.passages if p.kind == "hard") == ["p20", "p21"]
    assert sum(p.kind == "random" for p in e.passages) == 2


def test_distractors_of_the_question_itself_all_come_before_drawn_ones():
    near = tuple(passage(n, kind="own") for n in (30, 31, 32))
    e = example(make_example(asked(near=near), pool(), replace(NO_PAD, distractors=(4, 4))))
    assert sorted(p.kind for p in e.passages if not p.oracle) == ["own", "own", "own", "random"]


def test_no_distractor_is_or_holds_a_gold_passage_or_a_long_answer_and_each_refusal_is_counted():
    text = passage(0).text
    near = (
        Passage("copy", text.upper(), kind="own"),
        Passage("holds", f"Before. {text} After.", kind="own"),
        Passage("part", text[:50], kind="own"),
        Passage("answer", "They say that Odd 0 Finch is old.", kind="own"),
        Passage("fine", "They say that somebody is old.", kind="own"),
        Passage("again", "They say that somebody is old.", kind="own"),
    )
    item = make_example(asked(near=near), pool(), NO_PAD)
    assert isinstance(item, MadeExample)
    assert dict(item.passed_over) == {
        "holds the answer": 1,
        "overlaps a gold passage": 3,
        "overlaps another distractor": 1,
    }
    assert [p.id for p in item.example.passages if p.kind == "own"] == ["fine"]


def test_two_stretches_of_one_document_overlap_only_where_they_share_characters():
    one, other = Passage("a", "x" * 10, document="d", start=0), Passage("b", "y" * 10, document="d", start=9)
    assert overlaps_passage(one, other)
    assert not overlaps_passage(one, replace(other, start=10))
    assert not overlaps_passage(one, replace(other, document="e"))


def test_a_short_answer_is_kept_apart_from_a_long_one():
    assert find_answer("Scrooge's nephew", ["Scrooge"]) == "Scrooge"
    assert find_answer("Scrooge's nephew", ["Scrooge"], least=2) == ""
    assert find_answer("In Columbus, Ohio!", ["columbus ohio"], least=2) == "columbus ohio"
    assert find_answer("no", ["no"]) == ""  # yes and no say nothing by standing there
    assert find_answer("他住在北京市。", ["北京"], least=2) == "北京"
    assert find_answer("a caterpillar", ["cat"]) == ""


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (asked(answers=()), "it has no answer"),
        (asked(golds=3), "it has more than 2 gold passages"),
        (SourceQuestion("q0", "Who?", ("Odd",), ()), "it has no gold passage"),
    ],
)
def test_a_question_without_an_example_says_why(question: SourceQuestion, reason: str):
    item = make_example(question, pool(), NO_PAD)
    assert isinstance(item, DroppedQuestion)
    assert item.reason == reason


def test_what_was_dropped_before_stays_dropped_in_its_place():
    gone = DroppedQuestion("q9", "it is gone")
    assert list(make_examples([asked(0), gone, asked(1)], pool(), NO_PAD))[1] == gone


def test_a_corpus_without_a_passage_is_an_error():
    with pytest.raises(InputError, match="has no passage"):
        list(make_examples([asked()], (), NO_PAD))


@given(count=st.integers(1, 12), seed=st.integers(0, 20), share=st.sampled_from((0.0, 0.8, 1.0)))
def test_a_corpus_of_any_size_gives_examples_each_with_a_passage(count: int, seed: int, share: float):
    how = replace(NO_PAD, oracle_share=share, seed=seed)
    found = [example(e) for e in make_examples([asked(i) for i in range(count)], pool(count), how)]
    assert len(found) == count
    assert all(e.passages for e in found)
    if count == 1:
        assert found[0].oracles  # with nothing beside the gold passage it stays, whatever was drawn


@given(
    golds=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 2)), min_size=2, max_size=14),
    seed=st.integers(0, 30),
    share=st.floats(0, 1),
)
def test_held_out_and_trained_questions_are_never_none_and_share_no_passage_where_that_can_be(
    golds: list[tuple[int, int]], seed: int, share: float
):
    questions = [replace(asked(first, many), id=f"q{i}") for i, (first, many) in enumerate(golds)]
    split = list(split_held_out(questions, share, replace(SMALL, seed=seed)))
    assert [q for q, _ in split] == questions
    apart, kept = ([q for q, held in split if held is wanted] for wanted in (True, False))
    assert apart
    assert kept
    trained = {p.text for q in kept for p in q.oracles}
    if len({q.oracles[0].text for q in questions}) > 1 and {many for _, many in golds} == {1}:
        assert not any(p.text in trained for q in apart for p in q.oracles)


def test_of_one_question_none_can_be_held_out_and_the_error_says_so():
    with pytest.raises(InputError, match="needs two that can be used, and there is 1"):
        list(split_held_out([asked(), DroppedQuestion("x", "gone")], 0.1, SMALL))


def test_questions_on_the_same_passage_are_parted_one_by_one():
    questions = [replace(asked(0), id=f"q{i}") for i in range(10)]
    assert sum(held for _, held in split_held_out(questions, 0.3, SMALL)) == 3
    assert sum(held for _, held in split_held_out(questions, 0.0, SMALL)) == 1
    assert sum(held for _, held in split_held_out(questions, 1.0, SMALL)) == 9


def test_of_several_answers_the_first_is_learnt_or_all():
    several = asked(answers=("Odd 0 Finch", "the old one"))
    assert example(make_example(several, pool(), NO_PAD)).target == "Odd 0 Finch"
    assert example(make_example(several, pool(), replace(NO_PAD, answers="all"))).target == "Odd 0 Finch; the old one"


def test_no_example_to_train_on_has_an_oracle_that_is_held_out_and_every_held_question_needs_one():
    questions = [asked(i, golds=1 + i % 2) for i in range(38)]
    apart = [q for q in questions if is_held_out(q, 0.3, 5)]
    kept = [q for q in questions if not is_held_out(q, 0.3, 5)]
    trained = {p.text for q in kept for p in q.oracles}
    assert 5 < len(apart) < 25
    assert all(any(p.text not in trained for p in q.oracles) for q in apart)
    assert [q.id for q in apart] != [q.id for q in questions if is_held_out(q, 0.3, 6)]
    assert not any(is_held_out(q, 0.0, 5) for q in questions)
    assert all(is_held_out(q, 1.0, 5) for q in questions)
    assert not is_held_out(DroppedQuestion("x", "gone"), 1.0, 5)


@given(seed=st.integers(0, 50), number=st.integers(0, 30), golds=st.integers(1, 2), share=st.floats(0, 1))
def test_every_example_keeps_what_the_settings_say(seed: int, number: int, golds: int, share: float):
    how = DataSettings(oracle_share=share, max_tokens=500, seed=seed)
    question = asked(number, golds)
    e = example(make_example(question, pool(), how))
    assert e.tokens <= how.max_tokens
    assert len({p.id for p in e.passages}) == len(e.passages)
    assert e.oracles == () or {p.id for p in e.oracles} == {p.id for p in question.oracles}
    assert not any(overlaps_passage(p, o) for p in e.passages if not p.oracle for o in question.oracles)
    assert make_example(question, pool(), how) == make_example(question, pool(), how)


def test_an_example_depends_on_its_id_and_the_seed_and_on_no_other_question():
    alone = list(make_examples([asked(3)], pool(), SMALL))
    among = list(make_examples([asked(i) for i in range(5)], pool(), SMALL))
    assert alone[0] == among[3]
    assert list(make_examples([asked(3)], pool(), replace(SMALL, seed=1))) != alone


PROGRAM = """
from finetuning_towns import SMALL, asked, pool
from sensegraph.lab.finetuning.data.examples import make_examples
from sensegraph.lab.finetuning.data.example_types import format_example_line
made = make_examples([asked(i) for i in range(3)], pool(), SMALL)
print("".join(format_example_line(m.example, "chat") for m in made), end="")
"""


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_for_any_hash_seed():
    here = Path(__file__).resolve().parents[2]
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            capture_output=True,
            env={"PYTHONPATH": str(here), "PYTHONHASHSEED": seed},
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    here_and_now = "".join(
        format_example_line(example(m), "chat") for m in make_examples([asked(i) for i in range(3)], pool(), SMALL)
    )
    assert runs[0] == runs[1] == here_and_now.encode()


def test_from_a_pool_too_large_to_shuffle_every_passage_can_be_drawn_once():
    from random import Random

    from sensegraph.lab.finetuning.data.examples import draw_positions

    drawn = list(draw_positions(5000, Random(1)))
    assert sorted(drawn) == list(range(5000))
    assert drawn != sorted(drawn)
