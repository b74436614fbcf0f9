"""Recipes: the paper's settings under its name (R11, R12), and what cannot be meant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sensegraph.errors import SettingsError
from sensegraph.lab.finetuning.training.models import choose_layers
from sensegraph.lab.finetuning.training.training_recipes import Recipe, find_recipe

PHI = ("dense", "fc1", "fc2", "k_proj", "q_proj", "v_proj")
PAPER = ("q_proj", "k_proj", "v_proj", "out_proj", "dense")


def test_the_preset_graft_is_the_papers_table_r11_r12():
    found = find_recipe("graft")
    assert (found.rank, found.alpha, found.dropout, found.quantisation) == (32, 32, 0.05, "4bit")
    assert (found.epochs, found.batch, found.accumulation, found.samples) == (1.0, 1, 8, 20_000)
    assert (found.learning_rate, found.schedule, found.optimiser) == (2e-4, "constant", "paged_adamw_8bit")
    assert (found.max_tokens, found.loss) == (2048, "answer")
    assert found.samples / (found.batch * found.accumulation) == 2_500


def test_auto_takes_the_papers_layers_that_phi_has_r11():
    assert set(choose_layers(("auto",), PHI)) == set(PAPER) - {"out_proj"}


def test_auto_takes_the_equivalents_of_another_family():
    there = ("down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj")
    assert set(choose_layers(("auto",), there)) == {"q_proj", "k_proj", "v_proj", "o_proj"}


def test_a_layer_that_the_model_does_not_have_is_an_error_that_lists_those_it_has_r11():
    with pytest.raises(SettingsError, match=r"no layer out_proj; it has dense, fc1, fc2, k_proj, q_proj, v_proj"):
        choose_layers(PAPER, PHI)


def test_auto_that_knows_no_layer_says_which_there_are():
    with pytest.raises(SettingsError, match=r"knows none .* name some of mixer"):
        choose_layers(("auto",), ("mixer",))


@pytest.mark.parametrize(
    "wrong",
    [{"rank": 0}, {"dropout": 1.0}, {"learning_rate": 0.0}, {"epochs": 0.0}, {"samples": -1}, {"targets": ()}],
    ids=str,
)
def test_settings_out_of_range_are_refused(wrong: dict[str, object]):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        replace(Recipe(), **wrong)


def test_weights_in_4_bits_cannot_all_be_trained():
    with pytest.raises(SettingsError, match="freezes"):
        Recipe(adapter="full", quantisation="4bit")


def test_an_unknown_preset_names_those_there_are():
    with pytest.raises(SettingsError, match="graft, lora, full"):
        find_recipe("grafted")
