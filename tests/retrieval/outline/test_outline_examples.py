"""The outlines of small corpora are what they were: tests/outline_examples.py says how to write them again."""

from __future__ import annotations

import json

import pytest

import outline_examples

FOUND = json.loads(outline_examples.PINNED.read_text(encoding="utf-8"))


def test_the_examples_have_every_form() -> None:
    assert {found["form"] for found in FOUND.values()} == {"themes", "subjects", "story", ""}
    assert FOUND.keys() == outline_examples.corpora().keys()


@pytest.mark.parametrize("name", FOUND)
def test_the_outline_of_an_example_is_as_it_was(name: str) -> None:
    assert outline_examples.outline(name) == FOUND[name]
