"""Two documents compared on one thing: a sentence of each that speaks of it, or none of this form."""

from __future__ import annotations

import pytest

from form_corpora import Texts, ask

RULES: Texts = {
    "Harbour Rules": (
        "Harbour Rules\n\nThe Harbour Rules were written for boats of all kinds.\n\n3. Grant of moorings.\n\n"
        "Every owner of a boat receives one mooring for a year from the harbour office. "
        "A lamp must burn on every boat at night."
    ),
    "Marina Rules": (
        "Marina Rules\n\nThe Marina Rules are for guests.\n\nMoorings; see the map.\n\n"
        "The marina office lets each of the moorings by the night, and no guest may keep one. Dogs stay on board."
    ),
}
LINES = [
    "**Harbour Rules**: Every owner of a boat receives one mooring for a year from the harbour office.",
    "**Marina Rules**: The marina office lets each of the moorings by the night, and no guest may keep one.",
]


@pytest.mark.parametrize(
    "question",
    [
        "Harbour Rules and Marina Rules on moorings",
        "How do the Harbour Rules and the Marina Rules differ on moorings?",
        "What do the Harbour Rules and the Marina Rules say about moorings?",
        "Compare the Harbour Rules and the Marina Rules in terms of moorings",
        "How do the Harbour Rules and the Marina Rules differ in moorings?",
    ],
)
def test_each_of_two_documents_has_a_sentence_on_what_is_asked(question: str) -> None:
    assert [s.text.strip() for s in ask(question, RULES)[1]] == LINES


def test_what_one_of_two_documents_says_nothing_of_is_not_compared() -> None:
    text = "".join(s.text for s in ask("Harbour Rules and Marina Rules on dogs", RULES)[1])
    assert "Dogs stay on board." in text
    assert "**Harbour Rules**" not in text
