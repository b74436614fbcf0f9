from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hanging import not_hanging
from sensegraph.errors import SettingsError
from sensegraph.index.chunks import chunk_documents, inside_grapheme
from sensegraph.index.settings import IndexSettings
from sensegraph.language.blocks import read_blocks
from sensegraph.language.collapsing import collapse_blanks
from sensegraph.language.text import count_tokens
from sensegraph.types import Chunk, Document
from wired import story

words = st.lists(
    st.sampled_from(
        ["The", "lamp", "Ärger", "went.", "\n\n", "  ", "東京都は首都です。", "😀", "flibbertigibbet", "3.5"]
    ),
    max_size=120,
)


def cut(text: str, size: int = 20, overlap: int = 5) -> tuple[Chunk, ...]:
    return chunk_documents.fn([Document("d", text, "Title")], size=size, overlap=overlap)[0]


@given(words.map(" ".join), st.integers(3, 40), st.floats(0, 0.95))
@settings(max_examples=60)
def test_chunks_are_spans_within_the_size_that_cover_all_words(text: str, size: int, share: float) -> None:
    overlap = int(size * share)
    found = cut(text, size, overlap)
    assert bool(found) == bool(text.strip())
    assert all(c.text == text[c.start : c.end] for c in found)
    assert all(c.tokens == count_tokens(collapse_blanks(c.text).text) for c in found)
    assert all(c.tokens <= size + (overlap if c is found[-1] else 0) for c in found)
    assert all(c.text.strip() for c in found)
    assert all(a.start < b.start and a.end < b.end for a, b in itertools.pairwise(found))
    covered = {i for c in found for i in range(c.start, c.end)}
    assert all(i in covered for i, letter in enumerate(text) if not letter.isspace())
    assert len({c.id for c in found}) == len(found)


@pytest.mark.parametrize("overlap", [0, 15, 40])
@pytest.mark.parametrize("size", [60, 100, 300])
def test_every_chunk_of_prose_but_the_last_is_filled(size: int, overlap: int) -> None:
    """Up to a border of sentences or words in its last 15 %; the last says more than the one before has of it."""
    text = story(0, 1, 120)
    found = cut(text, size, overlap)
    assert len(found) > 5
    assert all(0.85 * size - 2 <= c.tokens <= size for c in found[:-1])
    assert overlap < found[-1].tokens <= size + overlap
    new = count_tokens(text) - overlap  # tokens; each chunk shares the overlap with the one before
    assert new / (size - overlap) - 1 <= len(found) <= new / (0.85 * size - overlap) + 1


def test_neighbours_share_about_the_overlap() -> None:
    found = cut(story(0, 1, 40), 100, 25)
    shared = [count_tokens(a.text[b.start - a.start :]) for a, b in itertools.pairwise(found)]
    assert len(shared) > 3
    assert all(10 <= n <= 30 for n in shared)


def test_without_overlap_chunks_follow_one_another() -> None:
    text = story(0, 1, 40)
    found = cut(text, 100, 0)
    assert len(found) > 3
    assert all(not text[a.end : b.start].strip() and a.end <= b.start for a, b in itertools.pairwise(found))


def test_a_chunk_ends_with_a_sentence_where_one_ends_in_its_last_part() -> None:
    sentence = "The keeper of the lamp went home. "
    found = cut(sentence * 40, 100, 20)
    assert len(found) > 3
    assert all(c.text.rstrip().endswith("home.") for c in found)


def test_a_chunk_ends_between_words_where_no_sentence_does() -> None:
    text = "lamp " * 300
    found = cut(text, 50, 10)
    assert len(found) > 5
    assert all(c.text.split() == ["lamp"] * len(c.text.split()) for c in found)


def test_no_character_is_cut() -> None:
    text = "😀𝔘👩‍👩‍👧" * 60
    assert "".join(c.text for c in cut(text, 7, 0)) == text


def test_the_rest_of_a_document_is_no_chunk_of_its_own_when_it_says_little() -> None:
    sentence = "The keeper of the lamp went home. "
    assert [c.tokens for c in cut(sentence * 12, 50, 10)][-1] > 10


@pytest.mark.parametrize("text", ["", "  \n\t ", "\u3000"])
def test_an_empty_document_has_no_chunk(text: str) -> None:
    assert cut(text) == ()


def test_a_short_document_is_one_chunk_whole() -> None:
    text = "  A short one.\n"
    (only,) = cut(text)
    assert (only.text, only.start, only.end, only.title) == (text, 0, len(text), "Title")


def test_a_long_run_of_white_space_makes_no_chunk_of_nothing() -> None:
    found = cut("One." + "\n \n" * 400 + "Two.", 10, 2)
    assert all(c.text.strip() for c in found)
    assert found[0].text.startswith("One.")
    assert found[-1].text.endswith("Two.")


def test_equal_texts_of_two_documents_are_chunks_of_two_ids() -> None:
    one, other = chunk_documents.fn([Document("a", "Same."), Document("b", "Same.")], size=20, overlap=5)
    assert one[0].id != other[0].id


def test_a_chunk_before_an_edit_keeps_its_id() -> None:
    text = story(1, 1, 40)
    before, after = cut(text, 60, 10), cut(text.replace("1835", "1836"), 60, 10)
    assert before[0].id == after[0].id


@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, 11), (0, 0), (10, -1)])
def test_an_overlap_that_leaves_no_step_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(SettingsError, match="overlap"):
        cut("text", size, overlap)
    with pytest.raises(SettingsError, match="overlap"):
        IndexSettings(chunk_tokens=size, chunk_overlap=overlap)


# ── every script ──

SCRIPTS = {  # the first and last letter or mark of what words are drawn from, and real words
    "Latin": ("a", "z", "the lamp, Ærøskøbing Łódź gęślą žluťoučký"),
    "Vietnamese": ("ạ", "ỹ", "Việt Nam là một quốc gia"),
    "IPA": ("ɐ", "ʯ", "ˈwɪkɪˌpiːdiə"),
    "Greek": ("α", "ω", "Η Αθήνα είναι η πρωτεύουσα"),
    "Cyrillic": ("а", "я", "Москва столица России"),
    "Armenian": ("ա", "ֆ", "Երևանը Հայաստանի մայրաքաղաքն է"),
    "Georgian": ("ა", "ჰ", "საქართველოს დედაქალაქი თბილისია"),
    "Hebrew": ("א", "ת", "יְרוּשָׁלַיִם היא עיר"),
    "Arabic": ("ا", "ي", "القاهرة عاصِمة مصر"),
    "Syriac": ("ܐ", "ܬ", "ܠܫܢܐ ܣܘܪܝܝܐ"),
    "Amharic": ("ሀ", "ፐ", "ሰላም ለዓለም አዲስ አበባ"),
    "Devanagari": ("क", "ौ", "दिल्ली भारत की राजधानी है"),
    "Bengali": ("ক", "হ", "ঢাকা বাংলাদেশের রাজধানী"),
    "Gurmukhi": ("ਕ", "ਨ", "ਪੰਜਾਬੀ ਭਾਸ਼ਾ"),
    "Gujarati": ("ક", "ન", "ગુજરાતી ભાષા"),
    "Odia": ("କ", "ନ", "ଓଡ଼ିଆ ଭାଷା"),
    "Tamil": ("ஜ", "ஹ", "தமிழ் மொழி தமிழர்களின் தாய்மொழி"),
    "Telugu": ("క", "హ", "తెలుగు భాష ఆంధ్ర ప్రదేశ్"),
    "Kannada": ("ಕ", "ನ", "ಕನ್ನಡ ಭಾಷೆ ಕರ್ನಾಟಕ"),
    "Malayalam": ("ക", "ഹ", "മലയാളം കേരളത്തിലെ ഭാഷ"),
    "Sinhala": ("ක", "ණ", "සිංහල ශ්‍රී ලංකාව"),
    "Thai": ("ก", "ฮ", "กรุงเทพมหานครเป็นเมืองหลวง"),
    "Lao": ("ກ", "ຂ", "ວຽງຈັນເປັນນະຄອນຫຼວງ"),
    "Tibetan": ("ཀ", "ག", "བོད་ཡིག་གི་སྐད"),
    "Burmese": ("က", "အ", "မြန်မာဘာသာစကား"),
    "Khmer": ("ក", "អ", "ភ្នំពេញជារាជធានី"),
    "Mongolian": ("ᠠ", "ᡂ", "ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ"),
    "Cherokee": ("Ꭰ", "Ᏼ", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ"),
    "Chinese": ("一", "龥", "北京是中华人民共和国的首都。"),
    "Japanese": ("ぁ", "ヶ", "東京都は日本の首都です。"),
    "Korean": ("가", "힣", "서울은 대한민국의 수도이다"),
    "Gothic": ("𐌰", "𐍊", "𐌲𐌿𐍄𐌹𐍃𐌺"),
    "emoji": ("😀", "🙏", "👩‍👩‍👧 🏳️‍🌈 👍🏽 🇩🇪🇫🇷 ❤️ 1️⃣"),
    "marks": ("\u0300", "\u0310", "e\u0301a\u0308o\u0302\u0323 s\u0323\u0307"),
}


@st.composite
def written(draw: st.DrawFn, scripts: st.SearchStrategy[str]) -> str:
    """A text of a few scripts: real words and words of letters of their ranges, said again until it is long."""
    found = []
    for name in draw(st.lists(scripts, min_size=1, max_size=4)):
        low, high, real = SCRIPTS[name]
        word = st.lists(st.characters(min_codepoint=ord(low), max_codepoint=ord(high)), min_size=1, max_size=12)
        drawn = ["".join(("a", *w) if name == "marks" else w) for w in draw(st.lists(word, min_size=1, max_size=8))]
        blank = draw(st.sampled_from([" ", "", ". ", "\r\n", "\n"]))
        found.append(blank.join([*real.split(" "), *drawn]) * draw(st.integers(1, 60)))
    return "".join(found)


SIZES = st.one_of(
    st.integers(300, 1_200).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, min(200, size // 2)))),
    st.integers(40, 300).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size // 3))),
)


def cuts_a_grapheme(text: str, place: int) -> bool:
    """The plain rule, written anew: marks, joiners, modifiers, halves of flags and of line ends."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    flags = len(text[:place]) - len(text[:place].rstrip("".join(map(chr, range(0x1F1E6, 0x1F200)))))
    return (
        unicodedata.category(after) in ("Mn", "Mc", "Me")
        or "\u200d" in (before, after)
        or "🏻" <= after <= "🏿"
        or before + after == "\r\n"
        or ("🇦" <= after <= "🇿" and flags % 2 == 1)
    )


def check(text: str, size: int, overlap: int) -> None:
    found = cut(text, size, overlap)
    assert len(found) <= 1.5 * count_tokens(text) / (size - overlap) + 2
    read = read_blocks(text).text
    assert all(c.text == read[c.start : c.end] for c in found)
    assert all(c.tokens == count_tokens(collapse_blanks(c.text).text) for c in found)
    assert all(c.tokens <= size + (overlap if c is found[-1] else 0) for c in found)
    assert not text[: found[0].start].strip()
    assert not text[found[-1].end :].strip()
    assert all(not text[a.end : b.start].strip() for a, b in itertools.pairwise(found))
    assert not [(c.start, c.end) for c in found if cuts_a_grapheme(read, c.start) or cuts_a_grapheme(read, c.end)]


@given(written(st.sampled_from(sorted(SCRIPTS))), SIZES)
@settings(max_examples=60 if settings.default.derandomize else 150, deadline=None)
def test_chunks_of_any_mix_of_scripts_are_as_many_as_their_tokens_ask_for(text: str, sizes: tuple[int, int]) -> None:
    check(text, *sizes)


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_chunks_of_each_script_are_as_many_as_their_tokens_ask_for(name: str) -> None:
    low, high, real = SCRIPTS[name]
    letters = [c for c in map(chr, range(ord(low), ord(high) + 1)) if unicodedata.category(c) != "Cn"]
    drawn = " ".join("a" * (name == "marks") + "".join(letters[i % 50 : i % 50 + 7]) for i in range(60))
    for text in (f"{real} " * 80, real.replace(" ", "") * 80, f"{drawn} {real} " * 4):
        for size, overlap in ((600, 100), (300, 150), (100, 20)):
            check(text, size, overlap)


@pytest.mark.parametrize("letter", ["ሰ", "త", "த", "ქ"])
def test_a_letter_of_several_tokens_counts_as_many(letter: str) -> None:
    """Every letter that is two or three tokens used to shorten its window by one or two letters more."""
    text = f"{letter * 7} " * 1_500
    assert 3 < len(cut(text, 600, 100)) <= 1.2 * count_tokens(text) / 500


def test_many_emoji_in_an_english_text_are_no_chunks_of_their_own() -> None:
    text = story(0, 1, 100) + "😀🎉" * 200 + story(1, 1, 100)
    found = cut(text, 600, 100)
    assert 3 < len(found) <= 1.2 * count_tokens(text) / 500 + 1


def test_an_english_text_is_cut_as_ever() -> None:
    found = [(c.start, c.end) for c in cut(story(0, 1, 60), 200, 40)]
    assert found == [(0, 652), (533, 1191), (1060, 1729), (1597, 2254), (2118, 2786), (2663, 3143)]


def test_a_few_emoji_leave_the_windows_as_they_were() -> None:
    """Where nearly every piece is one token, pieces are counted, so what was read and paid for stays as it is."""
    said = story(0, 1, 60).split(". ")
    text = ". ".join(f"{sentence} 🎸🎉" if i % 2 == 0 else sentence for i, sentence in enumerate(said))
    assert [(c.start, c.end) for c in cut(text, 200, 40)] == [
        *[(0, 517), (390, 949), (829, 1385), (1261, 1827), (1706, 2263), (2136, 2701), (2573, 3233)]
    ]


FAMILY = "👩\u200d👩\u200d👧"  # 13 tokens


@pytest.mark.parametrize(
    ("text", "size", "overlap", "ends"),
    [
        ("ሰላም ለዓለም " * 8, 60, 15, [(0, 21), (18, 39), (36, 57), (54, 72)]),
        ("東京都は首都です。" * 12, 30, 8, [(0, 27), (18, 45), (36, 63), (54, 81), (72, 108)]),
        (FAMILY * 4, 13, 0, [(0, 5), (5, 10), (10, 15), (15, 20)]),
        (FAMILY * 2, 12, 0, [(0, 4), (4, 5), (5, 9), (9, 10)]),
        (FAMILY * 6, 29, 13, [(0, 10), (5, 15), (10, 20), (15, 30)]),
        ("lamp " * 120, 50, 10, [(0, 244), (195, 439), (390, 600)]),
        ("กรุงเทพมหานครเป็นเมืองหลวง" * 6, 40, 10, [(0, 43), (33, 76), (65, 109), (96, 140), (129, 156)]),
        ((chr(0xD160) + chr(0xD1A0)) * 40, 40, 10, [(0, 19), (14, 33), (29, 48), (43, 62), (57, 80)]),
        (f"a{chr(0x301) * 30} lamp. b{chr(0x301) * 9}", 12, 3, [(0, 12), (12, 24), (24, 38), (32, 48)]),
        ("x" * 300, 20, 5, [(0, 160), (120, 300)]),
        ("东京都は首都です。 went. " + "a" * 16 + " The lamp " + "a" * 16, 9, 7, [(0, 9), (2, 15), (10, 58)]),
        ("\n".join(["word"] * 40), 20, 4, [(0, 49), (40, 89), (80, 129), (120, 169), (160, 199)]),
    ],
)
def test_windows_stay_where_they_were(text: str, size: int, overlap: int, ends: list[tuple[int, int]]) -> None:
    """What was read and paid for is found again: who moves a window raises the version of the step."""
    assert [(c.start, c.end) for c in cut(text, size, overlap)] == ends


def test_a_text_of_a_window_and_its_overlap_is_one_chunk_and_one_token_more_is_two() -> None:
    text = " lamp" * 60
    assert [c.tokens for c in cut(text, 50, 10)] == [60]
    assert len(cut(f"{text} lamp", 50, 10)) == 2


def test_a_grapheme_longer_than_a_window_is_cut_and_nothing_else() -> None:
    text = "One lamp. e" + "\u0301" * 400 + " Another lamp."
    found = cut(text, 50, 10)
    assert len(found) > 3
    assert all(c.tokens <= 50 for c in found[:-1])
    assert all(not text[a.end : b.start].strip() for a, b in itertools.pairwise(found))
    assert len(found) <= 1.5 * count_tokens(text) / 40 + 2


def test_a_chain_of_tokens_that_all_begin_inside_characters_is_cut_all_the_same() -> None:
    text = f"{story(0, 1, 40)} {chr(0xD160)}{chr(0xD1A0)}" + f"{chr(0xD160)}{chr(0xD1A0)}" * 2_000 + story(1, 1, 40)
    check(text, 300, 50)
    check(text, 50, 10)


@pytest.mark.parametrize("unit", ["\u0301", "🇩🇪", "👩\u200d", "ሰላም ", chr(0xD160) + chr(0xD1A0), "a" + "\u0301" * 50])
@pytest.mark.uncounted
def test_a_text_is_cut_to_its_end_where_its_square_would_take_minutes(unit: str) -> None:
    length = 64_000
    with not_hanging():
        found = cut((unit * (length // len(unit) + 1))[:length], 600, 100)
    assert found


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("e\u0301a", [1]),
        ("नि", [1]),
        ("क्ष", [1, 2]),
        ("\r\n\n", [1]),
        ("👩\u200d👧!", [1, 2]),
        ("❤\ufe0fx", [1]),
        ("👍🏽", [1]),
        ("🇩🇪🇫🇷", [1, 3]),
        ("\u1112\u1161\u11ab\u1100", [1, 2]),
        ("กำ", [1]),
        ("plain é", []),
    ],
)
def test_what_readers_see_as_one_character_is_known(text: str, inside: list[int]) -> None:
    assert [place for place in range(len(text) + 1) if inside_grapheme(text, place)] == inside
