"""Names in text without the usual capitals: the view has equal length, and cased text stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.engines.offline.extraction.page_reader import observe_document, split_spans
from sensegraph.language.truecase import recase_text
from sensegraph.types import Chunk

CASED = "At that time Martha Ostrevin moved from Portugal to the University of Oxford. She met Oswin there twice."


def view(text: str) -> str:
    return recase_text(text, split_spans(text))


def names_in(text: str) -> set[str]:
    seen = observe_document([Chunk("c", "d", 0, len(text), 0, text)])
    return {text[n.start : n.end].lower() for n in seen.names}


def test_text_with_its_capitals_is_left_as_it_is() -> None:
    assert view(CASED) == CASED


def test_names_of_a_text_in_lower_case_or_in_capitals_are_found_where_the_cased_text_has_them() -> None:
    wanted = {"martha ostrevin", "portugal", "university of oxford", "oswin"}
    assert names_in(CASED) == wanted
    assert names_in(CASED.lower()) == wanted
    assert names_in(CASED.upper()) == wanted


def test_a_text_with_openings_alone_is_raised_only_where_known_names_stand_in_lower_case() -> None:
    spoken = "So he went to portugal with them. Then they were in canada for a while. Later it was over."
    technical = "The tool reads stdin with chmod or grep. Then it writes the stdout of nroff. Later it ends."
    computing = "The tool reads ascii with posix or unix. Then it writes the vax of nasdaq. Later it ends."
    assert view(computing) == computing  # words that often have a capital, but name no place and nobody
    assert "Portugal" in view(spoken)
    assert "Canada" in view(spoken)
    assert view(technical) == technical


def test_a_heading_in_title_case_keeps_only_the_names_of_its_document() -> None:
    told = "The manual of Debian says how a new package comes, installing it first."
    text = f"Installing The New Package With Debian\n\n{told}"
    assert view(text).split("\n")[0] == "Installing the new package with Debian"
    assert view(text).split("\n")[2] == text.split("\n")[2]


def test_a_heading_in_capitals_is_read_like_the_rest_of_its_document() -> None:
    text = "HOW QUILLFEATHER CAME BACK\n\nThey say that Quillfeather came back late, and how it was, nobody knew of it."
    assert view(text).split("\n")[0] == "How Quillfeather came back"


def test_ordinal_words_and_short_texts_are_no_names() -> None:
    assert view("no more of this, please") == "no more of this, please"
    lower = view("the old committee met on monday and decided nothing about the budget of the next year.")
    assert lower == "The old committee met on Monday and decided nothing about the budget of the next year."


@pytest.mark.parametrize(
    "text", ["İSTANBUL ıs WHERE THE ßTRAẞE ﬁNDS ITS WAY TO THE OLD HARBOUR OF THE CITY", "ǆ " * 20]
)
def test_letters_whose_other_case_has_another_length_stay(text: str) -> None:
    assert len(view(text)) == len(text)


@given(st.text(alphabet="abcdeﬁßİıǆ .-'’\n1&", min_size=1, max_size=200))
def test_the_view_has_the_length_of_the_text_and_its_letters(text: str) -> None:
    shown = view(text)
    assert len(shown) == len(text)
    assert all(a == b or a.upper() == b.upper() or a.lower() == b.lower() for a, b in zip(shown, text, strict=True))
