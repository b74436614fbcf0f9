"""A sentence that shows no rag has none of the three things that are trimmed of speech."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.engines.offline.reports import sentence_quality

_PARTS = (
    " ",
    ",",
    ".",
    ";",
    "!",
    "?",
    "'",
    "’",
    "n't",
    "'s",
    "uh",
    "Um",
    "umm",
    "erm",
    "Hmm",
    "mm",
    "Mm-hmm",
    "word",
    "a",
    "-u",
    "xz",
)


@given(st.lists(st.sampled_from(_PARTS), max_size=10).map("".join))
def test_only_ragged_sentences_have_gaps_parted_endings_or_hesitations(parts: str) -> None:
    sentence = " ".join(parts.split())
    sounds = [sound for sound in sentence_quality._HESITANT if sound in f" {sentence.lower()}"]
    found = [sentence_quality._SPACED.search(sentence), sentence_quality._CLITIC.search(sentence), *sounds]
    assert sentence_quality._RAGGED.search(f" {sentence}") or found == [None, None]
