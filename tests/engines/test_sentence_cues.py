"""Cues that are sought by their words are found wherever their patterns are, and nowhere else."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.engines.offline.reports.sentence_cues import Cues
from sensegraph.engines.offline.reports.sentence_quality import CUES, NOTED, STATED
from sensegraph.engines.offline.stemming import list_folded_words
from sensegraph.language.text import WORD
from sensegraph.language.word_lists import lower_case

_WORDS = sorted({word for lines in CUES.values() for word in re.findall(r"[A-Za-z]+", lines)})
_BETWEEN = (" ", "  ", "-", ", ", "’", "'", ". ", "", " – ", "_", "\n", "--")
_OTHERS = ("In 1987", "19", "the 90s", "walked", "greener", "ſo", "İs", "ärmer", "don’t", "U.S.", "http://x.org", "2nd")


@st.composite
def drawn_sentences(draw: st.DrawFn) -> str:
    """Words of cues in any order, with what may stand between words."""
    words = st.one_of(st.sampled_from(_WORDS), st.sampled_from(_OTHERS))
    between = st.one_of(st.just(" "), st.sampled_from(_BETWEEN))
    return "".join(part for pair in draw(st.lists(st.tuples(words, between), max_size=8)) for part in pair)


def found_by_patterns(cues: Cues, sentence: str) -> list[str]:
    return [name for name, pattern in cues.patterns.items() if pattern.search(lower_case(sentence))]


def found_by_words(cues: Cues, sentence: str) -> list[str]:
    return [name for name in cues.patterns if cues.read(sentence).has(name)]


@given(drawn_sentences())
def test_cues_are_found_where_their_patterns_are(sentence: str) -> None:
    for cues in (STATED, NOTED):
        assert found_by_words(cues, sentence) == found_by_patterns(cues, sentence)


def test_each_cue_is_found_in_a_sentence() -> None:
    sentences = (
        "I remember that we talked about this.",
        "He was like, you know, going to ask you, because he has to.",
        "She is a professor of law and welcomed you in this episode.",
        "Ann walked.",
        "Let me see.",
        "This means a lot.",
        "This stuff.",
    )
    for cues in (STATED, NOTED):
        assert {name for said in sentences for name in found_by_words(cues, said)} == set(cues.patterns)


def test_each_part_of_a_pattern_is_known() -> None:
    """Groups, classes, optional parts, counts, what stands in front and behind, and parts that may be anything."""
    cues = Cues({
        "group": r"\b(?:red|blue) (?:hat|caps?)\b", "class": r"\bw[ie]n\b", "counted": r"\ba(?:b\s+){1,3}c\b",
        "beginning": r"^so\b", "end": r"\bby it$", "ahead": r"\bin(?= the)\b", "not ahead": r"\bof (?!these)\w+",
        "behind": r"(?<=no )matter\b", "any": r"\w+ly\b", "said again": r"\b(\w+), \1\b", "within": r"\Bth day\b",
        "figure": r"\b(?:in|of) (?:19|20)\d\d\b", "no letter": r"[^\w\s]\s*[!?]", "large": r"\bC[EF]O\b",
        "some": r"o+h", "between": r"\sthere\s",
    })  # fmt: skip
    sentences = (
        "a red hat", "a red cap", "blue caps", "a blue capsule", "infrared hat", "win", "wen", "wins", "twin", "ab c",
        "ab b c", "ab\nb c", "so it is", "and so it is", "done by it", "by it all", "in the end", "in these", "of them",
        "of these", "no matter", "a matter", "slowly", "lye", "no, no", "no, nobody", "5th day", "th day", "in 1987",
        "of 2024", "in 187", "well, !", "well!", "the CEO", "cfo", "ooh", "oh", "h", "there", "out there now",
    )  # fmt: skip
    found = {said: found_by_words(cues, said) for said in sentences}
    assert found == {said: found_by_patterns(cues, said) for said in sentences}
    assert {name for names in found.values() for name in names} == set(cues.patterns)


def test_marks_of_a_cue_spare_its_pattern() -> None:
    cues = Cues({"office": r"\b(?:is|was) (?:\w+ ){0,3}(?:judge|clerk)s?\b"}, {"office": r"\b(?:judge|clerk)s?\b"})
    for said in ("She is a judge", "They was once clerks", "a judge", "She is tall", "misjudge is"):
        assert found_by_words(cues, said) == found_by_patterns(cues, said), said
    assert not cues.read("She is tall").likely
    assert cues.read("She is a judge").likely == {"office"}


@given(st.one_of(drawn_sentences(), st.text(st.sampled_from("aB1_'’- –é.“ſß"), max_size=12)))
def test_words_are_folded_as_a_pattern_finds_them(text: str) -> None:
    assert list(list_folded_words(text)) == WORD.findall(text.casefold().replace("’", "'"))
