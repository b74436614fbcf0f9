"""Order, steps and groups of examples: the same whatever came before, so that a run can be taken up anywhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.lab.finetuning.training import training_run
from sensegraph.lab.finetuning.training.training_recipes import Recipe
from sensegraph.lab.finetuning.training.training_run import compute_learning_rate


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 3), st.integers(0, 9))
def test_every_epoch_shows_every_example_once(count: int, each: int, epochs: int, seed: int):
    steps = training_run.count_steps(count, each, epochs)
    shown = [i for group in training_run.iterate_batches(count, each, seed, 0, steps) for i in group]
    assert len(shown) == count * epochs
    for epoch in range(epochs):
        assert sorted(shown[epoch * count : (epoch + 1) * count]) == list(range(count))


@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 20), st.integers(0, 9))
def test_a_run_that_goes_on_sees_what_it_would_have_seen(count: int, each: int, begin: int, seed: int):
    steps = training_run.count_steps(count, each, 3)
    whole = list(training_run.iterate_batches(count, each, seed, 0, steps))
    assert list(training_run.iterate_batches(count, each, seed, min(begin, steps), steps)) == whole[begin:]


def test_a_fraction_of_an_epoch_is_some_of_its_steps():
    assert training_run.count_steps(20_000, 8, 1.0) == 2_500
    assert training_run.count_steps(100, 10, 0.25) == 2
    assert training_run.count_steps(3, 10, 0.01) == 1


def test_the_rate_rises_over_the_warm_up_then_stays_or_falls_to_nothing():
    constant, falling = Recipe(warmup=4), Recipe(warmup=4, schedule="linear")
    assert [compute_learning_rate(constant, n, 8) / 2e-4 for n in (1, 2, 4, 5, 8)] == [0.25, 0.5, 1.0, 1.0, 1.0]
    assert [compute_learning_rate(falling, n, 8) / 2e-4 for n in (4, 5, 8)] == [1.0, 1.0, 0.25]
