"""Where the pages of a document begin, as its reader knows them."""

from __future__ import annotations

from bisect import bisect_right

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from office_files import needs_docs, pdf, pptx
from sensegraph.documents.office import parse_office
from sensegraph.language.blocks import read_blocks
from sensegraph.personal.finding import Named, build_finder
from sensegraph.personal.masking import Masker
from sensegraph.personal.personal_settings import PersonalSettings
from sensegraph.types import Document

ROWS = st.lists(st.lists(st.sampled_from(("whales swim", "seals sing", "no stop")), max_size=3), min_size=1, max_size=6)
WHO, OFTEN = ("Ada", "Ben", "Cleo", "Dora", "Emil", "Finn"), ("once", "twice", "always")


def page_at(document: Document, place: int) -> int | None:
    return bisect_right(document.pages, place) or None


@needs_docs
@pytest.mark.parametrize(("make", "extension"), [(pdf, ".pdf"), (pptx, ".pptx")])
@settings(max_examples=30, deadline=None)
@given(rows=ROWS)
def test_every_line_stands_on_the_page_that_holds_it(make, extension, rows):
    pages = [
        [f"{who} says {said} {n}" for said, n in zip(lines, OFTEN, strict=False)]
        for lines, who in zip(rows, WHO, strict=False)
    ]
    if not any(pages):
        return
    document = parse_office("x", extension, make(pages))
    last = max(n for n, lines in enumerate(pages, 1) if lines)
    for n, lines in enumerate(pages, 1):
        for line in lines:
            assert page_at(document, document.text.index(line)) == (n if last > 1 else None)
    assert len(document.pages) == (last if last > 1 else 0)
    assert ("pages", len(pages)) in document.metadata


@given(st.text("ab \n\f", max_size=30))
def test_a_letter_of_a_text_stands_on_the_page_that_form_feeds_make(text):
    document = Document("x", text)
    for place, letter in enumerate(text):
        if letter in "ab":
            assert page_at(document, place) == (text.count("\f", 0, place) + 1 if "\f" in text else None)
    assert len(document.pages) == (text.rstrip().count("\f") + 1 if "\f" in text else 0)


def test_a_text_as_it_is_read_goes_on_over_the_end_of_a_page():
    read = read_blocks("The keeper wrote to the\n\fharbour board in June.\n\fThe board did not answer.").text
    assert " ".join(read.split("\n")[0].split()) == "The keeper wrote to the harbour board in June."
    assert "\f" not in read


def test_masking_moves_pages_with_their_text_and_loses_none():
    text = "Write to ada@finch.example.\n\fThe keeper is Ada\n\fFinch.\n\fThe board met."
    place = text.index("Ada\n")
    masker = Masker(build_finder(PersonalSettings(kinds=("email", "person"))), b"a" * 32)
    masked, _ = masker.document(Document("x", text), [Named(place, place + 10, "Ada Finch")])
    assert "Finch" not in masked.text
    assert page_at(masked, masked.text.index("The board")) == 4
