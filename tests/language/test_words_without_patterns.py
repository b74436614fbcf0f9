"""What is found without patterns, or on small letters, is what the patterns find (G2)."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.engines.offline.reports import sentence_quality
from sensegraph.language import text as texts
from sensegraph.language.asking import sentence_cues
from sensegraph.language.collapsing import collapse_blanks
from sensegraph.language.noun_phrases import _PARTED, _PLAIN, _RUN, _TOKEN, find_headings, list_title_names
from sensegraph.language.speakers import count_spellings
from sensegraph.language.word_lists import compile_lowered, lower_case

ODD = st.text(st.sampled_from("aBz09_ -'’“”—–‘…éßİıſKΣ中\u0301\u2028\x1c\n\t.,:!?[({~=\ud800"), max_size=30)


@given(ODD)
def test_runs_of_letters_are_those_that_a_pattern_finds(text: str) -> None:
    assert texts.split_letters(text) == re.findall(r"[^\W\d_]+", text)
    assert texts.split_small_letters(text) == re.findall(r"[^\W\d_]+", text.lower())


@given(ODD)
def test_runs_of_letters_and_digits_are_those_that_a_pattern_finds(text: str) -> None:
    assert texts.split_runs(text) == texts._TERM.findall(unicodedata.normalize("NFC", text))


@given(ODD)
def test_words_in_camel_case_are_parted_where_a_capital_follows(text: str) -> None:
    assert texts.part_camel_case(text) == re.sub(r"(?<=[a-zß-öø-ÿ])(?=[A-Z])|_", " ", text)


@given(ODD)
def test_blanks_are_collapsed_as_one_pattern_would_find_them(text: str) -> None:
    shown = re.sub(r"\s{2,}|[\t\v\r\xa0\u3000]", lambda m: "\n" * min(m[0].count("\n"), 2) or " ", text)
    assert collapse_blanks(text).text == shown


@given(st.text(st.sampled_from("skiKSIſıİK wW_1é-"), max_size=20))
def test_patterns_on_small_letters_find_what_patterns_without_case_find(text: str) -> None:
    for pattern in (r"\bI(?i:sk)\b", r"[^s\W]i", r"\Bk", r"S|\bWi", r"(?<=[k-])s", r"\S{3}i"):
        expected = re.search(pattern.replace("(?i:", "(?:"), text, re.IGNORECASE) is not None
        assert (compile_lowered(pattern).search(lower_case(text)) is not None) == expected


@given(st.text(st.sampled_from("NJPgpd,."), max_size=14))
def test_runs_of_nouns_are_those_with_what_may_come_before_them(letters: str) -> None:
    plain = re.compile(r"(?:(?<=d)[gp])?[NJP]+")
    assert [m.span() for m in _RUN.finditer(letters)] == [m.span() for m in plain.finditer(letters)]


@given(st.text(st.sampled_from("aBz1é中 -&'’s_.,!\n\t"), max_size=24))
def test_words_of_noun_phrases_are_those_that_one_alternative_each_finds(text: str) -> None:
    word = r"[^\W_]++(?:[-'’&](?!s\b)[^\W_]++)*+"
    assert _TOKEN.findall(text) == re.findall(rf"{word}|['’]s\b|\n(?=\s{{0,16}}[^a-z\s])|[^\w\s]|_", text)


@given(st.lists(st.sampled_from(("\n", " ", "\t", "Ada", "The Quay", "of", "no.", "It was so, as " * 5)), max_size=12))
def test_headings_begin_the_text_or_stand_below_an_empty_line(parts: list[str]) -> None:
    text = "".join(parts)
    found = re.findall(rf"(?:\A|{_PARTED.pattern.removesuffix(_PLAIN.pattern)}){_PLAIN.pattern}", text)
    names = [n for name in found if len(name.split()) <= 8 for n in list_title_names(name.strip(" *_"))]
    assert find_headings(text) == list(dict.fromkeys(names))


PIECES = (
    "so and the boat um uh, [1] [MUSIC] {noise} (laughs) ===== ------ ~~~~ ' 's n't N't don 't , . ; : ! ? ... - — -x "
    "-u $ % > | ` ‘ “ I we he it 5 x[0] .xz gzip 1.2: Well, Mm, mm hmm"
).split()


@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from((" ", " ", "", "  ", "\n"))), max_size=12))
def test_a_sentence_is_tidied_as_all_its_patterns_would(parts: list[tuple[str, str]]) -> None:
    text = " ".join("".join(word + gap for word, gap in parts).split())
    clitic, hesitation = sentence_quality._CLITIC, sentence_quality._HESITATION
    spaced = sentence_quality._SPACED
    trimmed = spaced.sub("", " ".join(hesitation.sub(" ", clitic.sub("", spaced.sub("", text))).split()))
    trimmed = sentence_quality._LED.sub("", trimmed)
    while (match := sentence_quality._OPENING.match(trimmed)) and match.end() < len(trimmed):
        trimmed = trimmed[match.end() :].lstrip(",; ")
    assert sentence_quality._trim_speech(text) == trimmed
    assert sentence_cues.is_command(text) == (sentence_cues._COMMAND.search(text) is not None)


@given(st.text(st.sampled_from("aAbBé xİ-_"), max_size=24), st.sampled_from(("A", "AB", "A B", "ÉA", "B-A")))
def test_spellings_are_counted_as_a_pattern_without_case_finds_them(text: str, name: str) -> None:
    found = [m[0] for m in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)]
    assert count_spellings(text, [name]) == {f: found.count(f) for f in sorted(set(found)) if not f.isupper()}
