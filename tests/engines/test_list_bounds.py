"""Where lists and counts begin and end: how many are shown, which time a number is of, what dates a thing."""

from __future__ import annotations

import pytest

from form_corpora import Texts, answer_lines, passages
from sensegraph.engines.offline.answers.asked import Asked, show_sentence, write_date
from sensegraph.engines.offline.answers.lists.count_answers import answer_count
from sensegraph.engines.offline.answers.lists.dating import (
    Dated,
    find_asked_stretches,
    find_exact_date,
    find_year,
    is_within,
)
from sensegraph.engines.offline.answers.lists.list_answers import answer_list
from sensegraph.engines.offline.answers.lists.mention_counts import answer_mentions
from sensegraph.engines.offline.answers.lists.set_lists import answer_set_list
from sensegraph.engines.offline.answers.lists.weighing import Weigher
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, choose_language, read_source_sentences
from sensegraph.types import NameCounts, Passage, Source, WordCounts


def asked(
    question: str, texts: Texts, counted: WordCounts | None = None, chunks: tuple[Passage, ...] | None = None
) -> Asked:
    held = passages(texts) if chunks is None else chunks
    return Asked(question, held, tuple(read_source_sentences(held, choose_language(question, held))), counted)


def lines_of(form: object, one: Asked) -> list[str]:
    """What a form writes, line by line; nothing where it takes no such question."""
    written = form(one)  # type: ignore[operator]
    return [line for line in "".join(s.text for s in written.statements).splitlines() if line] if written else []


def sentence(raw: str, document: str = "", speaker: str = "") -> SourceSentence:
    return SourceSentence(raw, speaker, Source("c-0", 0, len(raw)), "c", (), 0, document)


# ── how sentences and dates are shown ──


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("The *mill* of **Elm** burned.", "The *mill* of **Elm** burned."),
        ("The mill of **Elm burned.", "The mill of Elm burned."),
        ("**The mill of Elm burned.", "The mill of Elm burned."),
        ("*The mill of Elm burned.", "The mill of Elm burned."),
        ("***The mill of Elm burned.", "The mill of Elm burned."),
        ("**The mill** of Elm burned.", "**The mill** of Elm burned."),
        ("*The* mill of *Elm* burned.", "*The* mill of *Elm* burned."),
    ],
)
def test_what_opens_an_emphasis_that_does_not_end_is_left_out(raw: str, shown: str) -> None:
    assert show_sentence(sentence(raw)) == shown


def test_what_somebody_says_is_quoted_with_other_marks_inside() -> None:
    assert show_sentence(sentence('He said  “no” and "yes".', speaker="Ann")) == "“He said ‘no’ and 'yes'.” — Ann"


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2023-06-30", "30 June 2023"), ("2023-06", "June 2023"), ("0987", "987"), ("2023-01-05T10", "5 January 2023"),
        ("", ""), ("-44", "-44"), ("1-2-3-4", "1-2-3-4"), ("2023-12-01", "1 December 2023"),
    ],
)  # fmt: skip
def test_a_moment_is_written_in_words(moment: str, words: str) -> None:
    assert write_date(moment) == words


# ── what dates a sentence ──


def test_a_document_is_dated_by_a_short_line_among_its_first_five() -> None:
    def written(*lines: str) -> str:
        texts = {"Leaflet": "\n\n".join([*lines, "The mill stands by the river and grinds corn."])}
        return Dated(asked("x", texts).sentences).written["000000000000"]

    issued, plain = "Printed in May 2019.", "The choir sang in the old hall."
    fill = [f"{w} came to the hall." for w in ("Ann", "Bo", "Cy", "Di", "Ed")]
    assert written(issued) == "2019-05"
    assert written(*fill[:4], issued) == "2019-05"
    assert written(*fill, issued) == ""
    assert written(plain) == ""
    line = "Printed in May 2019 for everybody who lives in the valley, on both of its sides, and for those who only go "
    line += "there by rail."
    assert len(line) == 121
    assert written(line) == ""
    assert written(line.replace("only go", "onlygo")) == "2019-05"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("On 3 May 2019 it burned.", "2019-05-03"), ("In May 2019 it burned.", "2019-05"), ("In 2019 it burned.", ""),
        ("In 2018 and on 3 May 2019.", "2019-05-03"), ("In the 1990s and in July 2020.", "2020-07"),
        ("It burned.", ""),
    ],
)  # fmt: skip
def test_an_exact_date_is_a_month_or_a_day(text: str, date: str) -> None:
    assert find_exact_date(text) == date


def test_the_year_of_a_sentence_is_the_only_one_that_it_or_its_title_names() -> None:
    assert find_year(sentence("It burned in 1920.")) == "1920"
    assert find_year(sentence("It burned in 1920 and 1921.", "Year 1950")) == ""
    assert find_year(sentence("It burned.", "Year 1950")) == "1950"
    assert find_year(sentence("It burned in the 1920s.", "Year 1950")) == "1950"
    assert find_year(sentence("It burned.")) == ""
    assert find_year(sentence("It burned on 3 May 1920.")) == ""


def test_a_moment_is_within_a_stretch_from_its_first_day_to_before_its_end() -> None:
    two = find_asked_stretches("Which mills burned in 1920 and in May 1950?")
    assert len(two) == 2
    assert [is_within(d, two) for d in ("1920", "1920-12-31", "1921-01-01", "1950-05", "1950-06", "")] == [
        True, True, False, True, False, False,
    ]  # fmt: skip
    assert is_within("", [])


# ── lists ──


def repairs(count: int) -> Texts:
    return {f"Note {i}": f"The repair RX-{i} was paid by treasurer {chr(65 + i % 26)}x." for i in range(count)}


def test_thirty_things_are_shown_and_the_rest_is_counted() -> None:
    thirty, more = (lines_of(answer_list, asked("Which repairs were paid?", repairs(n))) for n in (30, 32))
    assert len(thirty) == 30
    assert thirty[-1].startswith("- **RX-29**: ")
    assert len(more) == 31
    assert more[-1] == "And 2 more."


def test_what_was_not_read_is_told_below_a_list_and_before_a_number() -> None:
    for partial, least in ((True, "At least "), (False, "")):
        counted = WordCounts(100, (("repair", 2), ("paid", 2)), partial=partial)
        listed = lines_of(answer_list, asked("Which repairs were paid?", repairs(3), counted))
        assert len(listed) == 3 + partial
        assert ("Not all passages" in listed[-1]) is partial
        counts = lines_of(answer_count, asked("How many repairs were paid?", repairs(3), counted))
        assert counts[0] == f"{least}3 repairs are named:"
    (first, *_) = lines_of(answer_count, asked("How many repairs were paid?", repairs(3)))
    assert first == "At least 3 repairs are named:"


def test_two_things_of_two_sentences_are_a_list_and_of_one_sentence_only_three() -> None:
    assert len(lines_of(answer_list, asked("Which repairs were paid?", repairs(2)))) == 2
    assert lines_of(answer_list, asked("Which repairs were paid?", repairs(1))) == []
    assert lines_of(answer_count, asked("How many repairs were paid?", repairs(2)))[0].startswith("At least 2 repairs")
    assert lines_of(answer_count, asked("How many repairs were paid?", repairs(1))) == []
    three = {"Note": "The singers Ann Lee, Bo Berg and Cy Dahl came to Elm."}
    assert lines_of(answer_list, asked("Which singers came to Elm?", three)) == [
        "**Ann Lee, Bo Berg and Cy Dahl**: The singers Ann Lee, Bo Berg and Cy Dahl came to Elm."
    ]
    assert lines_of(answer_list, asked("Which singers came to Moss by boat?", three)) == []
    assert lines_of(answer_count, asked("How many singers came to Elm?", three)) == []
    two = {"Note": "The singers Ann Lee and Bo Berg came to Elm."}
    assert lines_of(answer_list, asked("Which singers came to Elm?", two)) == []
    joined = {"Note": "The singers Ann Lee, Bo Berg and Cy Dahl joined."}
    assert len(lines_of(answer_list, asked("Which singers joined?", joined))) == 1
    assert lines_of(answer_list, asked("Which singers are there?", three)) == []


def test_half_of_what_is_asked_stands_with_a_thing_or_beside_it() -> None:
    texts = {
        "A": "The ferry was late. The repair RX-1 was dear. The storm took the roof. The mayor frowned at Elm.",
        "B": "The repair RX-2 was done in Moss. Nobody came. It rained for days. The mayor of Elm paid in gold.",
        "C": "The repair RX-3 was paid by the mayor.",
    }
    assert [x.split("**")[1] for x in lines_of(answer_list, asked("Which repairs did the mayor pay?", texts))] == []
    texts["D"] = "The mayor of Elm came. The repair RX-4 was paid there."
    found = lines_of(answer_list, asked("Which repairs were paid by the mayor?", texts))
    assert [x.split("**")[1] for x in found] == ["RX-3", "RX-4"]


def test_words_that_stand_nearly_everywhere_say_nothing_of_one_thing() -> None:
    texts = {"A": "The repair RX-1 was done.", "B": "The repair RX-2 was done.", "C": "The repair RX-3 was in Elm."}

    def found(held: int) -> int:
        counted = WordCounts(100, (("elm", held), ("repair", 3)))
        return len(lines_of(answer_list, asked("Which repairs are in Elm?", texts, counted)))

    assert found(31) == 3
    assert found(30) == 0


def test_a_thing_is_presented_by_its_own_line_then_by_one_that_names_it_alone_then_by_the_earliest() -> None:
    texts = {
        "Minutes, 5 May 2014": "# Minutes, 5 May 2014\n\nThe repairs RX-1 and RX-2 are done. The repair RX-3 is done.",
        "Minutes, 6 June 2012": "# Minutes, 6 June 2012\n\nThe repair RX-1 has begun. The repair RX-3 has begun.",
        "List": "RX-2: the old gutter of the hall.\n\nThe repair of RX-2 was dear.",
    }
    assert lines_of(answer_list, asked("Which repairs are there?", texts)) == [
        "- **RX-1** (6 June 2012): The repair RX-1 has begun.",
        "- **RX-3** (6 June 2012): The repair RX-3 has begun.",
        "- **RX-2**: the old gutter of the hall.",
    ]


def test_a_short_name_is_put_to_the_one_longer_name_that_holds_it() -> None:
    texts = {
        "A": "The singer Ann Lee came. The singer Lee sang.",
        "B": "The singer Bo Berg came. The singer Cy Berg came. The singer Berg left.",
    }
    found = [x.split("**")[1] for x in lines_of(answer_list, asked("Which singers are there?", texts))]
    assert found == ["Ann Lee", "Bo Berg", "Cy Berg", "Berg"]


def test_a_document_without_a_date_has_the_first_that_its_text_names() -> None:
    texts = {
        "RX-1": "# RX-1\n\nThe repair of the gutter. It was begun on 4 May 2011 and done on 5 June 2012.",
        "Notes": "The repair RX-1 was dear. The repair RX-2 was cheap.",
    }
    first = lines_of(answer_list, asked("Which repairs are there?", texts))
    assert any("RX-2" in line and "(" not in line for line in first)


# ── lists of the texts themselves ──

RULES = "Rules for tenants:\n\n{}"


def rules(count: int) -> Texts:
    lines = [f"- Rule number {chr(97 + i)}{chr(98 + i)} holds." for i in range(count)]
    return {"House": RULES.format("\n".join(lines))}


def test_twelve_entries_are_shown_and_the_rest_is_counted() -> None:
    question = "Which rules are there for tenants?"
    assert len(lines_of(answer_set_list, asked(question, rules(12)))) == 13
    assert lines_of(answer_set_list, asked(question, rules(14)))[-2:] == ["- Rule number lm holds.", "And 2 more."]
    assert lines_of(answer_set_list, asked(question, rules(2))) == []


def test_an_entry_is_cited_where_it_stands_in_its_document() -> None:
    text = rules(3)["House"]
    chunk = Passage("chunk", "c", text, title="House", sources=(Source("doc-1", 100, 100 + len(text)),))
    written = answer_set_list(asked("Which rules are there for tenants?", {}, chunks=(chunk,)))
    assert written is not None
    spans = [(s.start - 100, s.end - 100) for one in written.statements for s in one.sources]
    assert [text[a:b] for a, b in spans] == [
        "Rules for tenants:", *(f"Rule number {n} holds." for n in ("ab", "bc", "cd")),
    ]  # fmt: skip
    assert [one.text[:4] for one in written.statements] == ["Rule", "\n\n- ", "\n- R", "\n- R"]
    two = Passage("chunk", "c", text, title="House", sources=(Source("d-1", 0, 9), Source("d-2", 0, 9)))
    assert answer_set_list(asked("Which rules are there for tenants?", {}, chunks=(two,))) is None


def test_only_the_first_twelve_chunks_are_looked_through_for_lists() -> None:
    fill = {f"Rules {i}": "The rules of tenants were read aloud." for i in range(12)}
    question = "Which rules are there for tenants?"
    first = dict(list(fill.items())[:11]) | rules(3)
    assert len(lines_of(answer_set_list, asked(question, first))) == 4
    assert lines_of(answer_set_list, asked(question, fill | rules(3))) == []


def test_the_list_whose_lead_holds_most_of_the_question_is_shown() -> None:
    texts = {
        "A": "The tenants came.\n\nRules for cooks:\n\n- Cooks wash.\n- Cooks salt.\n- Cooks taste.",
        "B": "The cooks came.\n\nWe write. Rules for tenants:\n\n- Tenants rest.\n- Tenants pay.\n- Tenants leave.",
    }
    assert lines_of(answer_set_list, asked("Which rules are there for tenants?", texts))[:2] == [
        "Rules for tenants:", "- Tenants rest.",
    ]  # fmt: skip
    assert lines_of(answer_set_list, asked("Which rules are there for pilots and drivers?", texts)) == []
    assert lines_of(answer_set_list, asked("Which rules are there, and why?", texts)) == []


PACT = "{who} has promised much to the city.{fill}\n\n- Elm paints the gate.\n- Moss digs the well.\n- Elm buys a bell."


def test_clauses_of_a_promise_stand_below_the_verb_and_begin_with_who_promises_where_two_do() -> None:
    def found(question: str, **given: str) -> list[str]:
        return lines_of(answer_set_list, asked(question, {"Pact": PACT.format(**{"who": "Elm", "fill": ""} | given)}))

    assert found("What did Elm promise to the city?") == ["- Elm paints the gate.", "- Elm buys a bell."]
    assert len(found("What did Moss promise to the city?")) == 3
    assert found("What did the promise?") == []
    assert found("What did Bexley promise to the city?") == []
    far = " It rained on the long way home from town." * 10
    assert found("What did Elm promise to the city?", fill=far) == []
    assert found("What did Elm promise to the city?", fill=far[:300]) != []
    assert found("What did Elm grant to the city?") == []


def test_the_words_of_a_day_weigh_without_their_year() -> None:
    assert "2019" not in Weigher(asked("x", {"A": "Ann."}), "Which mill burned in June 2019").weights
    assert "2019" in Weigher(asked("x", {"A": "Ann."}), "Which mill burned in 2019").weights
    whole = Weigher(asked("x", {"A": "The mill."}, WordCounts(100, (("mill", 50), ("burn", 1)))), "mill burned")
    assert whole.weights["burn"] > whole.weights["mill"]
    assert whole.share("The mill", "burned") == pytest.approx(1.0)
    assert 0 < whole.share("The mill") < 0.5
    assert Weigher(asked("x", {"A": "The mill."}), "the of").share("the mill") == 0.0


# ── counts ──


def beds(*told: tuple[str, str]) -> Texts:
    return {f"Report, {day}": f"# Report, {day}\n\n{said}" for day, said in told}


IN_2016 = "How many beds did the ward have in 2016?"
BOTH = (("4 March 2015", "The ward has 40 beds."), ("4 March 2016", "The ward has 50 beds."))


@pytest.mark.parametrize(
    ("question", "told", "first"),
    [
        ("How many beds does the ward have?", BOTH, "**50 beds**"),
        ("How many beds does the ward have?", BOTH[:1], None),  # of one time only
        ("How many beds did the ward have in March 2015?", BOTH, "**40 beds**"),
        ("How many beds did the ward have in 2015?", BOTH, "**40 beds**"),
        ("How many beds did the ward have in 2014?", BOTH, None),
        ("How many beds did the ward have in April 2017?", BOTH, "**50 beds**"),  # 13 months later
        ("How many beds did the ward have in May 2017?", BOTH, None),  # 14 months later
        ("How many beds did the ward have on 4 March 2016?", BOTH, "**50 beds**"),
        ("How many beds did the ward have on 3 March 2016?", BOTH, "**40 beds**"),
        ("How many beds did the ward have in 2017?", (("4 November 2016", "The ward has 60 beds."),), "**60 beds**"),
        ("How many beds did the ward have in 2017?", (("4 October 2016", "The ward has 60 beds."),), None),
        (IN_2016, (("4 May 2016", "The ward has about 60 beds."),), None),
        (IN_2016, (("4 May 2016", "The ward has 60 clean new beds."),), "**60 clean new beds**"),
        (IN_2016, (("4 May 2016", "The ward has 60 of our beds."),), None),
        (IN_2016, (("4 May 2016", "The ward has 60 very clean new beds."),), None),
        (IN_2016, (("4 May 2016", "Of 60 beds in the ward, 4 were free."),), "**60 beds**"),
        (IN_2016, (("4 May 2016", "Of 60 beds, the ward lost 4."),), "Of 60 beds"),
        (IN_2016, (("4 May 2016", "The ward has 60 beds in Block 7."),), "**60 beds**"),
    ],
)  # fmt: skip
def test_a_number_holds_from_its_text_until_thirteen_months_later(
    question: str, told: tuple[tuple[str, str], ...], first: str | None
) -> None:
    found = lines_of(answer_count, asked(question, beds(*told)))
    assert (found[0][: len(first)] if first and found else (found[0] if found else None)) == first


def test_texts_of_one_time_that_disagree_are_both_shown() -> None:
    texts = beds(*BOTH, ("4 May 2016", "The ward has 55 beds. The inspector saw 52 beds in the ward, as he wrote."))
    found = lines_of(answer_count, asked("How many beds did the ward have in May 2016?", texts))
    assert len(found) == 2
    assert "55" in found[0]
    assert "52" in found[1]
    same = beds(*BOTH, ("4 May 2016", "The ward has 55 beds. The inspector saw 55 beds in the ward, as he wrote."))
    assert len(lines_of(answer_count, asked("How many beds did the ward have in May 2016?", same))) == 1


def test_a_source_that_a_question_names_is_set_against_the_others() -> None:
    texts = beds(*BOTH) | {"Poster": "# Poster\n\n*Printed in March 2016.*\n\nMore than 70 beds wait for you!"}
    question = "How many beds did the ward have in March 2016, and does the poster agree?"
    assert lines_of(answer_count, asked(question, texts)) == [
        "**50 beds**: The ward has 50 beds.",
        "The sources do not agree: More than 70 beds wait for you!",
    ]
    assert lines_of(answer_count, asked(question, beds(*BOTH))) == []
    assert lines_of(answer_count, asked(question.replace("does the poster agree", "why"), texts)) == []


# ── how many documents name something ──


MENTION = "How many documents mention the mill?"


def mentions(name: NameCounts | None, texts: Texts, question: str = MENTION) -> list[str]:
    return lines_of(answer_mentions, asked(question, texts, WordCounts(10, (), name=name)))


def test_documents_that_name_something_are_counted_and_shown_by_their_titles() -> None:
    texts = {"Elm": "# The mill\n\nIt rains. The mill of Elm burned.", "": "The mill was sold.", "Moss": "None."}
    assert mentions(NameCounts(2, 2, True), texts) == [
        "**2** documents name mill.", "- **Elm**: The mill of Elm burned.", "- The mill was sold.",
    ]  # fmt: skip
    many = mentions(NameCounts(9, 1204, False), texts)
    assert many[::3] == ["At least **1,204** documents name mill.", "And 1,202 more."]
    assert mentions(NameCounts(1, 1, True), {"Elm": texts["Elm"]}) == [
        "**1** document names mill.", "- **Elm**: The mill of Elm burned.",
    ]  # fmt: skip
    assert mentions(NameCounts(0, 0, True), texts) == []
    assert mentions(None, texts) == []
    assert mentions(NameCounts(2, 2, True), {"Moss": "Nothing here."}) == []
    assert mentions(NameCounts(2, 2, True), texts, "Who owns the mill?") == []
    assert lines_of(answer_mentions, asked("How many documents mention the mill?", texts)) == []
    written = answer_mentions(asked(MENTION, texts, WordCounts(9, (), name=NameCounts(2, 2, True))))
    assert written is not None
    assert [s.text[:4] for s in written.statements[1:]] == ["\n\n- ", "\n- T"]


def test_no_line_of_a_list_repeats_a_date_that_its_sentence_names() -> None:
    texts = {"A": "The repair RX-1 of 2012-05-04 was dear.", "B": "The repair RX-2 was paid on 4 June 2012."}
    (first, *_) = answer_lines("Which repairs are there?", texts)[1]
    assert first == "- **RX-1**: The repair RX-1 of 2012-05-04 was dear."
