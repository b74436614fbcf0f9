"""Which sentences beside a cause count with it: one before and one behind, and those of its own chunk."""

from __future__ import annotations

import pytest

from form_corpora import passages
from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.relating.causes import Cause, answer_cause, find_causes
from sensegraph.engines.offline.answers.source_sentences import read_source_sentences


def asked(text: str, question: str = "x") -> Asked:
    chunks = passages({"Notes": text})
    return Asked(question, chunks, tuple(read_source_sentences(chunks, "en")))


def causes(text: str) -> list[Cause]:
    return find_causes(asked(text), "the mill burn")


def test_the_first_and_the_last_sentence_of_a_text_count_by_themselves() -> None:
    assert causes("The mill did burn because of oil. All left. Snow fell.")[0].score == pytest.approx(0.7)
    assert causes("All left. Snow fell. The mill did burn because of oil.")[0].score == pytest.approx(0.7)


def test_what_is_denied_stands_right_before_what_is_true() -> None:
    text = "It was not caused by rain. Hail fell. The mill did burn because of oil. All left."
    assert [s.raw for s in causes(text)[0].sentences] == ["The mill did burn because of oil."]
    text = "Hail fell. It was not caused by rain. The mill did burn because of oil. All left."
    (true, denied) = causes(text)[0].sentences
    assert (true.raw, denied.raw) == ("The mill did burn because of oil.", "It was not caused by rain.")
    first = "The mill did burn because of oil. All left. It was not caused by rain."
    assert [s.raw for s in causes(first)[0].sentences] == ["The mill did burn because of oil."]


def test_of_equal_sentences_on_an_influence_the_first_is_taken_with_one_cause() -> None:
    text = (
        "Bo Berg lit a lamp. The river rose. Bo Berg sold a lamp. The fire of the mill was seen. "
        "The fire of the mill spread because of oil. The fire of the mill grew because of wind."
    )
    written = answer_cause(asked(text, "How did Bo Berg lead to the fire of the mill?"))
    assert written is not None
    told = "".join(s.text for s in written.statements)
    assert told.startswith("Bo Berg sold a lamp.")  # beside it stands the fire
    assert len(written.statements) == 2
    even = "Bo Berg lit a lamp. The river rose. Bo Berg sold the hut. The river fell. A fire took the mill."
    written = answer_cause(asked(even, "How did Bo Berg lead to the fire of the mill?"))
    assert written is not None
    assert written.statements[0].text == "Bo Berg lit a lamp."
