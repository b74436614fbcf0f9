"""Names in texts: by capitals, by what documents bear, by quotes, and what a document is called."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.language.naming_words import COUNTRY
from sensegraph.language.noun_phrases import find_aliases, find_headings, find_lead_name, list_title_names
from sensegraph.language.sentences import split_sentences
from sensegraph.methods.walk import shown_names
from sensegraph.methods.walk.name_runs import count_mentions
from sensegraph.methods.walk.name_words import (
    Gazetteer,
    Noted,
    find_name_spans,
    fold_written_name,
    spell_documents,
    write_letters,
)
from sensegraph.methods.walk.shown_names import (
    ShownRun,
    StoredNames,
    ToldWords,
    hash_pairs,
    join_shown,
    make_gazetteer,
    place_bits,
    show_run,
)
from sensegraph.types import Chunk


def noted(*texts: tuple[str, str]) -> list[Noted]:
    """Documents of one chunk each, given as title and text."""
    chunks = [(Chunk(f"c{i}", f"d{i}", 0, len(t), 1, t, title),) for i, (title, t) in enumerate(texts)]
    return spell_documents.fn(chunks)


def found(*texts: tuple[str, str]) -> list[dict[str, int]]:
    """The names of each document and the number of their sentences."""
    documents = noted(*texts)
    return [count_mentions(document, make_gazetteer(documents))[0] for document in documents]


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("He met John F. Kennedy and Ludwig van Beethoven.", ["john f kennedy", "ludwig van beethoven"]),
        ("the Treaty of Paris, Texas", ["treaty of paris", "texas"]),
        ("he left on Apollo 13 with Jean-Luc Picard's crew", ["apollo 13", "jean luc picard"]),
        ("St. Maurice's Abbey stood in São Paulo", ["st maurice abbey", "sao paulo"]),
        ("and I saw Henry VIII then", ["henry viii"]),
        ("nothing of note at all", []),
    ],
)
def test_runs_of_capitals_are_names(sentence: str, names: list[str]) -> None:
    words, letters = write_letters(sentence)
    assert [" ".join(words[a:b]) for a, b in find_name_spans(letters)] == names


def test_a_name_is_compared_without_case_accents_article_and_possessive() -> None:
    assert fold_written_name("The Café’s  Owner") == fold_written_name("cafe owner")
    assert fold_written_name("the") == "the"


def test_one_word_at_the_beginning_of_a_sentence_is_a_name_only_if_the_corpus_writes_it_so() -> None:
    (names,) = found(("", "Rivers ran dry. We saw rivers. Harrow left. They asked Harrow."))
    assert names == {"harrow": 2}


def test_words_stand_for_the_names_that_are_made_of_them_and_for_how_they_are_mostly_written() -> None:
    def tell(count: int, *names: str, words: str = "harrow hill") -> str:
        told = ToldWords(Gazetteer(frozenset(names), {"harrow": count}))
        return told.tell(*[[told.number(words.split())]] * 2)[0]

    assert tell(3) == tell(1)
    assert tell(-3) == tell(-1)
    assert tell(0) == tell(0, "harrow farm") == tell(1, "harrow hill", words="hill") == "0"
    every = {tell(1), tell(-1), tell(1, "harrow"), tell(-1, "harrow"), tell(0, "harrow"), tell(0, "harrow hill")}
    assert len({*every, tell(0, "harrow hill", "hill")}) == 7
    assert tell(0, "harrow over hill") == "0" != tell(0, "harrow over hill", words="over hill harrow")
    # what is told is kept: another value asks for another version of `keep_together`
    assert (tell(1, "harrow hill"), tell(-1, "harrow hill")) == ("3232b0811d4debf2", "8b7866d23d2a5581")


def test_how_a_word_is_written_is_asked_only_where_it_begins_a_sentence() -> None:
    def tell(count: int, text: str) -> str:
        run = show_run(noted(("", text)))
        told = ToldWords(Gazetteer(frozenset(), {"harrow": count}))
        return told.tell([told.number(run.list_words())], [told.number(run.begun)])[0]

    assert tell(1, "We saw Harrow. A harrow lay there.") == tell(-1, "We saw Harrow. A harrow lay there.") == "0"
    assert tell(1, "Harrow left.") != tell(-1, "Harrow left.")


def test_words_of_many_documents_are_told_as_those_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    names = frozenset({"harrow", "harrow hill", "hill over farm", "farm farm", "over the hill"})
    told = ToldWords(Gazetteer(names, {"harrow": 1, "the": -1}))
    every = [told.number(some) for size in range(6) for some in combinations(told.numbers, size)]
    begun = [some[:1] for some in every]
    assert len(set(whole := told.tell(every, begun))) > 8
    assert whole == [told.tell([one], [first])[0] for one, first in zip(every, begun, strict=True)]
    monkeypatch.setattr(shown_names, "_CELLS", 12)
    assert whole == told.tell(every, begun)


@pytest.mark.parametrize(("text", "known"), [
    ("We saw Harrow hill.", True), ("We saw harrow Hill.", False), ("We saw Harrow. Hill lies there.", False),
    ("We saw Harrow. The hill over Farm.", True), ("We saw Harrow and Harrow Hill.", True),
])  # fmt: skip
def test_a_name_of_two_words_is_told_where_the_first_may_begin_it_and_the_next_follows(
    text: str, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell(documents: list[Noted], *names: str) -> str:
        run = show_run(documents)
        told = ToldWords(Gazetteer(frozenset(names), {}))
        return told.tell([told.number(run.list_words())], [told.number(run.begun)], [run.pairs])[0]

    documents, names = noted(("", text)), ("harrow hill", "farm hill over harrow")
    assert tell(documents, *names) != "0"
    monkeypatch.setattr(shown_names, "_MANY", 1)
    assert (tell(documents, *names) != "0") == known


@pytest.mark.parametrize("size", [1, 300, 511, 512, 5000])
def test_all_pairs_of_a_run_are_found_among_its_bits_and_few_others(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_names, "_MANY", 1)
    pairs = [f"a{i} b{i}" for i in range(size)]
    run = show_run(noted(("", ". ".join(pair.title() for pair in pairs) + ".")))
    bits = np.unpackbits(np.frombuffer(run.pairs, np.uint8))

    def find(asked: list[str]) -> int:
        places = place_bits(hash_pairs(asked), len(bits))
        return int(np.logical_and.reduce([bits[of] > 0 for of in places]).sum())

    assert 8 * size < len(bits) <= 16 * size
    assert find(pairs) == size
    assert find([f"a{i} b{i + 1}" for i in range(4000)]) < 120


@pytest.mark.parametrize("seed", range(40))
def test_what_runs_show_together_is_the_same_whatever_was_known_of_other_runs_before(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown_names, "_MANY", 1)
    draw = random.Random(seed)

    def say(count: int) -> str:
        return " ".join(
            draw.choice((word, word.title())) for word in draw.choices("oak elm ash fir yew".split(), k=count)
        )

    texts = [(say(draw.randint(1, 3)).title(), f"He saw {say(draw.randint(1, 4))}. {say(3)}.") for _ in range(9)]
    shown = {f"{i}": show_run(noted(text)) for i, text in enumerate(texts)}
    reads = list[int]()

    def read(keys: Sequence[str]) -> list[ShownRun]:
        reads.append(len(keys))
        return [shown[key] for key in keys]

    some, others = (draw.sample(sorted(shown), draw.randint(0, 9)) for _ in range(2))
    first, signs = join_shown(some, read)
    before = msgspec.msgpack.decode(msgspec.msgpack.encode(first.pack(signs)), type=StoredNames)
    updated, fresh = join_shown(others, read, before), join_shown(others, read)
    assert updated == fresh
    assert (updated[0].known, updated[1]) == (fresh[0].known, fresh[1])
    reads.clear()
    assert join_shown(some, read, before) == (first, signs)
    assert reads == [0, 0]  # neither went nor came any, and nothing was asked of the others


def test_what_a_document_bears_is_found_in_others_and_the_longest_counts() -> None:
    texts = ("Dark River (film)", "It is long."), ("", "He saw the Dark River once."), ("dark river valley", "It lies.")
    third = found(*texts, ("", "They went to see the dark river valley and Dark River Valley Farm."))[3]
    assert third == {"dark river valley": 1, "dark river valley farm": 1}
    assert found(*texts)[1] == {"dark river": 1}


def test_a_last_name_alone_stands_for_the_longer_name_before_it() -> None:
    (names,) = found(("", "It was Ada Harrow who came. Then Harrow left, and Stone came."))
    assert names == {"ada harrow": 2, "stone": 1}


def test_what_is_said_of_a_country_in_another_form_mentions_it_too() -> None:
    (names,) = found(("", "He met a Danish painter of the US army. In the US he was asked by Danish friends."))
    assert names["denmark"] == names["united states"] == names["danish"] == 2
    (again,) = found(("", "Then Denmark was a Danish kingdom, and polish was used in Denmark."))
    assert again == {"denmark": 1, "danish": 1}  # in one sentence; what is polished is not from Poland


def test_forms_of_countries_are_folded_and_lead_to_no_other_form() -> None:
    for form, country in COUNTRY.items():
        assert (fold_written_name(form), fold_written_name(country)) == (form, country)
        assert country not in COUNTRY


def test_a_title_bears_its_name_without_parenthesis_and_before_a_comma() -> None:
    assert list_title_names("Dark River (2017 film)") == ["Dark River"]
    assert list_title_names("Lambert, Margrave of Tuscany") == ["Lambert, Margrave of Tuscany", "Lambert"]
    assert list_title_names("") == []
    assert noted(("Dark River (2017 film)", "It is."))[0].aside == ("2017", "film")


def test_the_first_sentences_give_other_names() -> None:
    assert find_aliases("Ada Mary Harrow (born 3 May 1901), also known as A. B. Stone, was a pilot.") == [
        "Ada Mary Harrow",
        "Ada Harrow",
        "A. B. Stone",
    ]
    assert find_aliases("The sea (cold in winter) is known.") == []


@pytest.mark.parametrize(
    ("opening", "name"),
    [
        ("The Quay Company is a firm.", "The Quay Company"),
        ("Ada Harrow (born 1901) was", "Ada Harrow"),
        ("Der Hafen war voll.", "Der Hafen"),
        ("In 1945, there was peace.", ""),
        ("Professor E: So . OK", ""),
        ("and so it was", ""),
    ],
)
def test_a_text_without_a_title_is_called_by_its_first_subject(opening: str, name: str) -> None:
    assert find_lead_name(opening) == name
    assert noted(("", opening))[0].bears == ((fold_written_name(name),) if name else ())
    assert noted(("Quay", opening))[0].bears[0] == "quay"


def test_headings_are_borne_by_the_chunks_that_they_stand_over() -> None:
    text = "# Ada Harrow\n\nShe sailed.\n\nThe Storm\n" + "It came in the night and took the roofs off the houses. " * 2
    assert find_headings(text) == ["Ada Harrow", "The Storm"]
    assert find_headings("Ada: hello!\nFinn: so it is, and it will be so for a long time to come, I think.") == []
    chunks = tuple(Chunk(f"c{i}", "d", 0, 1, 1, t, "Tales") for i, t in enumerate((text, "No more.", "# End\n\nDone.")))
    (document,) = spell_documents.fn([chunks])
    assert document.bears == ("tales",)
    assert [chunk.bears for chunk in document.chunks] == [("ada harrow", "storm"), ("storm",), ("storm", "end")]


def test_chinese_names_are_those_in_quotes_wherever_they_are_written() -> None:
    first, second = found(("", "他读了《红楼梦》。"), ("", "红楼梦很长。"))
    assert first == second == {"红 楼 梦": 1}


@pytest.mark.parametrize(
    ("sentence", "letters"),
    [
        ("Dr. John F. Kennedy", "A.C_I.C-"), ("the Treaty of Paris", "K_C_K_C-"), ("It was NASA and IT", "F_x_C_x_C-"),
        ("in 1984, or 19845", "x_D|x_H-"), ("Jean-Luc’s own", "C-C_x-"), ("Ada; Bo", "C|C-"), ("李明", "Z-Z-"),
        ("Of Mice", "F_C-"), ("Ch. Dove", "C.C-"),
    ],
)  # fmt: skip
def test_words_become_letters_and_gaps(sentence: str, letters: str) -> None:
    assert write_letters(sentence)[1] == letters


PIECES = [
    "Ada",
    "J.",
    "the",
    "of",
    "-",
    "–",
    "",
    "(Bo)",
    "_x",
    "-Kell",
    "1984",
    "Dr.",
    "Cy's",
    "x_y",
    "Orde,",
    "'",
    "~",
]


@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map(" ".join), min_size=1, max_size=4))
def test_texts_are_spelt_by_pieces_as_their_sentences_are_whole(lines: list[str]) -> None:
    text = "\n".join(lines)
    words: list[str] = []
    runs: list[int] = []
    for begin, end in split_sentences(text):
        known, letters = write_letters(text[begin:end])
        for first, last in find_name_spans(letters):
            runs += (len(words), first, last)
        words.append(" ".join(w if kind in "xK" else f"^{w}" for w, kind in zip(known, letters[::2], strict=True)))
    (spelt,) = noted(("", text))[0].chunks
    assert (spelt.words, spelt.runs) == ("\n".join(words), tuple(runs))


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("Kennedy, John F. spoke", ["kennedy", "john f"]),
        ("the Bank of the North and Sea", ["bank of the north", "sea"]),
        ("Harbour of the of the Sea", ["harbour", "sea"]),
        ("Apollo 13 1970 flew", ["apollo 13 1970"]),
        ("Apollo 19845 flew", ["apollo"]),
        ("13 Apollo", ["apollo"]),
        ("J. R. R. Tolkien wrote", ["j r r tolkien"]),
        ("Ada. Bo came", ["ada", "bo"]),
        ("x Y z", []),
    ],
)
def test_a_name_goes_on_over_two_small_words_and_numbers(sentence: str, names: list[str]) -> None:
    words, letters = write_letters(sentence)
    assert [" ".join(words[a:b]) for a, b in find_name_spans(letters)] == names


def test_a_word_is_proper_where_inside_sentences_it_has_a_capital_more_often_than_not() -> None:
    known = make_gazetteer(noted(("", "Oak fell. An Oak stood. The oak fell. We saw Elm. An elm, an Elm.")))
    assert (known.capitals["oak"], known.capitals["elm"]) == (0, 1)
    assert [known.proper(word) for word in ("oak", "elm", "ash")] == [False, True, False]


def test_names_that_are_borne_are_found_longest_first_and_need_a_capital_below_three_words() -> None:
    known = make_gazetteer(noted(("dark river", "x"), ("dark river valley", "x"), ("moss", "x")))
    assert known.lengths == {"dark": (3, 2), "moss": (1,)}

    def spans(text: str, asked: bool = False) -> list[tuple[int, int]]:
        marked = text.split(" ")
        return list(known.found(marked, [word.replace("^", "") for word in marked], asked=asked))

    assert spans("the dark river valley is") == [(1, 4)]
    assert spans("the dark river is") == []
    assert spans("the ^dark river is") == [(1, 3)]
    assert spans("the dark river is", asked=True) == [(1, 3)]
    assert spans("the ^dark ^river ^dark river valley") == [(1, 3), (3, 6)]
    assert spans("the ^dark") == []
    assert spans("^moss grows") == []  # one word, and the corpus writes it no otherwise inside a sentence
    assert spans("on ^moss grows") == [(1, 2)]


def test_a_run_of_capitals_yields_to_a_borne_name_that_is_as_long() -> None:
    def names(borne: str, sentence: str) -> list[str]:
        documents = noted((borne, "x"), ("", sentence))
        return list(count_mentions(documents[1], make_gazetteer(documents))[0])

    assert names("Dark River", "We saw the Dark River Valley there.") == ["dark river", "dark river valley"]
    assert names("Dark River Valley", "We saw the dark River Valley there.") == ["dark river valley"]
    assert names("Old Dark River", "We saw the Old Dark River there.") == ["old dark river"]


def test_a_last_name_that_a_document_bears_stands_for_itself() -> None:
    third = found(("Harrow", "A town."), ("", "It was Ada Harrow who came. Then Harrow left."))[1]
    assert third == {"ada harrow": 1, "harrow": 2}


def test_each_mention_is_counted_once_a_sentence_and_by_chunk() -> None:
    texts = ("We met Ada Harrow and Ada Harrow.", "Then Harrow left.", "")
    chunks = tuple(Chunk(f"c{i}", "d", 0, len(t), 1, t, "") for i, t in enumerate(texts))
    (document,) = spell_documents.fn([chunks])
    assert count_mentions(document, make_gazetteer([document])) == [{"ada harrow": 1}, {"ada harrow": 1}, {}]
    assert spell_documents.fn([()]) == [Noted()]


def test_of_some_words_a_gazetteer_keeps_the_names_that_begin_with_one() -> None:
    whole = Gazetteer(frozenset({"ada harrow", "ada", "bo"}), {"ada": 2, "harrow": 1})
    assert whole.within(["ada", "harrow"]) == Gazetteer(frozenset({"ada harrow", "ada"}), {"ada": 2, "harrow": 1})
    assert whole.lengths == {"ada": (2, 1), "bo": (1,)}
