"""Whether texts bear a statement by its words: numbers, names, denials, and the order of names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.answering.grounding.lexical import (
    _terms_in_order,
    choose_window,
    find_missing_in_texts,
    find_missing_words,
    find_reporter,
    remove_speaker,
)

SOURCE = "In 1842 Ada Lovelace hired Charles Babbage for 1,200 pounds. She was not rich, and paid him in three parts."


def kinds(statement: str, *texts: str) -> list[str]:
    return [x.kind for x in find_missing_words(statement, texts or (SOURCE,))]


@pytest.mark.parametrize(
    "statement",
    [
        "Ada Lovelace hired Charles Babbage in 1842.",
        "Ada Lovelace paid 1200 pounds.",
        "Ada Lovelace paid in 3 parts.",
        "She was not rich.",
        "She wasn't rich.",
        "Charles Babbage was hired by Ada Lovelace.",
        "Bo Lind notes that Ada Lovelace was not rich.",
        "Bo Lind puts it this way: “Ada Lovelace was not rich.”",
    ],
)
def test_what_the_words_of_a_text_say_is_borne(statement: str) -> None:
    assert kinds(statement) == []


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("Ada Lovelace hired Charles Babbage in 1843.", "number"),
        ("Ada Lovelace paid 12,000 pounds.", "number"),
        ("She paid him in four parts.", "number"),
        ("Ada Byron hired Charles Babbage.", "name"),
        ("She was rich.", "negation"),
        ("Ada Lovelace didn't hire Charles Babbage.", "negation"),
        ("Charles Babbage hired Ada Lovelace.", "order"),
        ("Ada Lovelace admired Charles Babbage.", "words"),
        ("She said so.", "words"),
        ("", "words"),
    ],
)
def test_what_they_do_not_say_is_told_by_its_kind(statement: str, kind: str) -> None:
    assert kind in kinds(statement)


@pytest.mark.parametrize(
    ("statement", "lacks"),
    [
        ("According to Bo Lind, Ada Lovelace was not rich.", [("name", ("Bo Lind",))]),
        ("Recently she paid him.", [("words", ("Recently",))]),
        ("She was not rich. Despite this Ada Lovelace paid.", [("words", ("Despite",))]),
        ("Grace hired Charles Babbage.", [("name", ("Grace",))]),
        ("Ada Lovelace Recently hired Charles Babbage.", [("name", ("Ada Lovelace Recently",))]),
    ],
)
def test_a_verb_or_preposition_that_opens_a_sentence_is_no_name(
    statement: str, lacks: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert [(x.kind, x.words) for x in find_missing_words(statement, [SOURCE])] == lacks


def test_what_is_missing_is_named() -> None:
    (found,) = find_missing_words("Ada Byron hired Charles Babbage.", [SOURCE])
    assert str(found) == "names that what is cited does not hold: Ada Byron"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("She cheerily moved three geese.", "words that what is cited does not hold: cheerily, moved, geese"),
        ("She bought Mr. Babbage's.", "names that what is cited does not hold: Mr. Babbage"),
        ("He is from the U.S.", "names that what is cited does not hold: U.S."),
        ("She was paid rich.", "denied on one side only: rich"),
        ("Babbage hired Lovelace.", "names that have changed places: Babbage, Lovelace"),
    ],
)
def test_what_is_missing_is_told_as_the_statement_writes_it(statement: str, said: str) -> None:
    assert said in map(str, find_missing_words(statement, [SOURCE]))


TOLD = "“I'll send it to Bob Cratchit's!” whispered Scrooge, rubbing his hands."


@pytest.mark.parametrize("text", [TOLD, TOLD.replace("“", "'").replace("”", "'")])
def test_who_speaks_may_stand_behind_what_is_said(text: str) -> None:
    assert kinds("Scrooge whispered, rubbing his hands, that he would send it to Bob Cratchit's.", text) == []
    assert kinds("“I'll send it to Scrooge's!” whispered Bob Cratchit, rubbing his hands.", text) == ["order"]


def test_names_that_change_places_around_what_is_done_are_not_taken_for_speech() -> None:
    assert kinds("Ada hired Carl.", "“Carl hired me,” said Ada.") == ["order"]
    sequel = "A sequel to “The Doctor of Blood Island”, it was directed for years by Eddie Romero."
    turned = "A sequel to “The Doctor of Eddie Romero”, it was directed for years by Blood Island."
    assert (kinds(sequel, sequel), kinds(turned, sequel)) == ([], ["order"])


def test_names_of_a_list_may_stand_in_any_order() -> None:
    assert kinds("Moss, Bergen and Oslo cut prices.", "Oslo, Bergen and Moss cut prices.") == []


def test_a_denial_ends_with_its_sentence_and_an_answer_of_no_denies_nothing() -> None:
    assert kinds("There was a boy.", "'Nothing. There was a boy.'") == []
    assert kinds("The rent is due.", "No, the rent is due.") == []
    assert (
        kinds("No, no, the rent is due, or not, but anyway.", "No , no , the rent is due , or not , but anyway .") == []
    )


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("Der Hafen ist nicht groß.", "Der Hafen ist groß."),
        ("Le port n'est pas grand.", "Le port est grand."),
        ("奥斯陆不大。", "奥斯陆很大。"),
    ],
)
def test_other_languages_are_read_too(statement: str, text: str) -> None:
    assert kinds(text, text) == []
    assert kinds(statement, text) != []


def test_the_time_of_day_is_one_number() -> None:
    assert kinds("They meet at 2:20.", "They meet at 2:30.") == ["number"]


def test_two_texts_bear_together_what_neither_bears_alone() -> None:
    texts = ["Oslo cut prices in 1911.", "Bergen cut prices too."]
    assert find_missing_in_texts("Oslo and Bergen cut prices.", texts) == ()
    assert all(find_missing_in_texts("Oslo and Bergen cut prices.", [t]) for t in texts)


def test_words_that_stand_pages_apart_bear_nothing_together() -> None:
    filler = "The harbour was quiet on most days of that long year. " * 30
    text = f"Oslo cut the price. {filler} Bergen built ships in 1911."
    assert find_missing_in_texts("Bergen built ships in 1911.", [text]) == ()
    assert find_missing_in_texts("Oslo built ships in 1911.", [text]) != ()


def test_of_many_texts_one_must_bear_it_alone() -> None:
    texts = ["Oslo is large.", "Bergen is wet.", "Moss is small.", "Hamar is far."]
    assert find_missing_in_texts("Bergen is wet.", texts) == ()
    assert find_missing_in_texts("Oslo is wet.", texts) != ()


def test_who_says_it_is_told_apart_from_what_is_said() -> None:
    said = "while the Grad B points out that the disk is full."
    assert (find_reporter(said), remove_speaker(said)) == ("Grad B", "the disk is full.")
    assert find_reporter("danah boyd says: “The disk is full.”") == "danah boyd"
    assert (find_reporter("The disk is full."), remove_speaker("The disk is full.")) == ("", "The disk is full.")


WORDS = st.lists(st.sampled_from("Oslo Bergen harbour not 1911 built the ships, rain. never".split()), max_size=12)


@given(WORDS)
def test_every_text_bears_itself(words: list[str]) -> None:
    assert find_missing_words(" ".join(words), [""]) != ()  # of another text it is missed
    found = find_missing_words(" ".join(words), [" ".join(words)])
    assert [x.kind for x in found] in ([], ["words"])  # without a content word there is nothing to bear


@given(WORDS, st.integers(2000, 2999))
def test_a_number_that_is_nowhere_is_always_found(words: list[str], number: int) -> None:
    assert "number" in [x.kind for x in find_missing_words(f"Oslo built {number} ships", [" ".join(words)])]


@given(st.lists(st.sampled_from(["Oslo is large.", "It rained.", "Bergen is wet in 1911."]), max_size=60))
def test_a_window_is_a_part_of_its_text(parts: list[str]) -> None:
    text = " ".join(parts)
    assert choose_window("Bergen is wet", text) in text


def test_a_speaker_has_eight_words_at_most() -> None:
    eight = "Ann Lee of the Harbour Board of Ellery"
    assert len(eight.split()) == 8
    assert find_reporter(f"{eight} says that it rains.") == eight
    assert find_reporter(f"{eight} Town says that it rains.") == ""


def test_of_a_long_text_the_three_sentences_are_read_that_hold_most_of_a_statement() -> None:
    filler = [f"The boats of pier {n} were painted in white and blue by nobody in particular." for n in range(20)]
    told = ["Ada Finch kept the lamp.", "The storm broke it.", "Tom Reeve mended the lamp."]
    statement = "Ada Finch kept the lamp that Tom Reeve mended."
    for at in (0, 1, 7, 19, 20):
        text = " ".join([*filler[:at], *told, *filler[at:]])
        assert choose_window(statement, text) == " ".join(told)
    assert choose_window(statement, " " * 700) == " " * 700
    short = "x" * 600
    assert choose_window(statement, short) == short
    assert choose_window("Tom Reeve mended the lamp", f"{'x' * 590}. Tom Reeve mended the lamp.").endswith("the lamp.")


def test_terms_come_in_order_with_the_places_of_names_among_them() -> None:
    assert _terms_in_order("keeper Ada Finch wrote, Bo", "english") == (
        ["keeper", "ada", "finch", "wrote", "bo"],
        [(1, 3, "Ada Finch"), (4, 5, "Bo")],
    )


def test_up_to_three_texts_bear_a_statement_together_and_of_more_one_alone() -> None:
    statement = "Ada Finch kept the lamp, Tom Reeve mended the pier and Bo Berg sold the boat."
    texts = ["Ada Finch kept the lamp.", "Tom Reeve mended the pier.", "Bo Berg sold the boat."]
    assert find_missing_in_texts(statement, texts) == ()
    assert find_missing_in_texts(statement, [*texts, "It rained."]) != ()
    assert find_missing_in_texts(statement, [*texts, statement]) == ()
