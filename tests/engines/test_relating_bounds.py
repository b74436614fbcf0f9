"""Where causes, authors, answers to the same question, changes and comparisons begin and end."""

from __future__ import annotations

import pytest

from form_corpora import Texts, passages
from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.lists.dating import Dated
from sensegraph.engines.offline.answers.lists.weighing import Weigher, list_by_document
from sensegraph.engines.offline.answers.relating.asked_before import answer_as_asked
from sensegraph.engines.offline.answers.relating.authors import find_author
from sensegraph.engines.offline.answers.relating.causes import (
    DENIED,
    LABELLED,
    SUPPOSED,
    TOLD,
    UNDER,
    answer_cause,
    answer_influence,
    find_causes,
    rate_mark,
)
from sensegraph.engines.offline.answers.relating.changes import answer_changes
from sensegraph.engines.offline.answers.relating.comparisons import answer_comparison, find_dated_side
from sensegraph.engines.offline.answers.relating.relations import answer_relation, write_verb_forms
from sensegraph.engines.offline.answers.relating.successions import answer_succession
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, read_source_sentences
from sensegraph.types import Passage, Source


def asked(question: str, texts: Texts, chunks: tuple[Passage, ...] | None = None) -> Asked:
    held = passages(texts) if chunks is None else chunks
    return Asked(question, held, tuple(read_source_sentences(held, "en")))


def lines_of(form: object, question: str, texts: Texts) -> list[str]:
    written = form(asked(question, texts))  # type: ignore[operator]
    return [line for line in "".join(s.text for s in written.statements).splitlines() if line] if written else []


def sentence(raw: str) -> SourceSentence:
    return SourceSentence(raw, "", Source("c-0", 0, len(raw)), "c", (), 0)


# ── causes ──


@pytest.mark.parametrize(
    ("raw", "below", "mark"),
    [
        ("Cause: a fuse.", False, LABELLED), ("Cause: a fuse.", True, LABELLED), ("A fuse burned.", True, UNDER),
        ("It failed because of a fuse.", False, TOLD), ("It failed because of a fuse.", True, UNDER),
        ("A fuse burned.", False, 0.0), ("It failed not because of a fuse.", True, DENIED),
        ("Perhaps a fuse burned.", True, UNDER * SUPPOSED), ("Cause: perhaps a fuse.", False, SUPPOSED),
        ("Did it fail because of a fuse?", True, 0.0),
    ],
)  # fmt: skip
def test_a_label_marks_a_cause_more_surely_than_a_heading_and_that_than_a_word(
    raw: str, below: bool, mark: float
) -> None:
    assert rate_mark(sentence(raw), below) == pytest.approx(mark)


def test_the_weights_of_the_marks_fall_from_label_to_denial() -> None:
    assert (LABELLED, UNDER, TOLD, DENIED, SUPPOSED) == (1.0, 0.9, 0.7, 0.3, 0.5)


FIRE = "Fire at the mill"
FILL = [f"The {w} was loud at noon." for w in ("bell", "crow", "saw", "wheel", "gate")]


def causes(*told: str, question: str = "Why did the mill burn?", title: str = FIRE) -> list[str]:
    return lines_of(answer_cause, question, {title: "\n\n".join([f"# {title}", "The mill did burn down.", *told])})


def test_three_sentences_below_a_heading_of_causes_may_give_one() -> None:
    cause = "A lamp had fallen in the mill and set it to burn."

    def marked(fill: int) -> list[str]:
        texts = {FIRE: "\n\n".join([f"# {FIRE}", "## Causes", *FILL[:fill], cause])}
        found = find_causes(asked("x", texts), "the mill burn", UNDER)
        return [c.sentences[0].raw for c in found]

    assert marked(0) == [cause]
    assert cause in marked(2)
    assert cause not in marked(3)
    assert "Causes" not in marked(1)
    parted = {FIRE: "\n\n".join([f"# {FIRE}", "## Causes", "## Weather", cause])}
    assert find_causes(asked("x", parted), "the mill burn", UNDER) == []


def test_a_cause_is_scored_by_its_mark_what_is_near_and_its_document() -> None:
    text = "The mill did burn. Rain fell. Snow fell. Hail fell. Cause: a lamp. It was Bo's. The end came. All left."
    (first, *_) = find_causes(asked("x", {"Notes": text}), "the mill burn")
    assert [s.raw for s in first.sentences] == ["Cause: a lamp.", "It was Bo's."]
    assert first.score == pytest.approx(0.4)  # nothing near, all of it in the document
    near = "Rain fell. Cause: a lamp. The mill did burn. All left."
    assert find_causes(asked("x", {"Notes": near}), "the mill burn")[0].score == pytest.approx(1.0)
    before = "Rain fell. The mill did burn. Cause: a lamp. All left."
    assert find_causes(asked("x", {"Notes": before}), "the mill burn")[0].score == pytest.approx(1.0)
    two = "Rain fell. Cause: a lamp. Snow fell. The mill did burn."
    assert find_causes(asked("x", {"Notes": two}), "the mill burn")[0].score == pytest.approx(0.4)
    half = "Rain fell. Cause: a lamp. The mill is old. All left. A stove did burn."
    assert find_causes(asked("x", {"Notes": half}), "the mill burn")[0].score == pytest.approx(0.3 + 0.4)
    assert find_causes(asked("x", {"Notes": "Cause: a lamp. Rain fell."}), "the mill burn") == []
    assert find_causes(asked("x", {"Notes": text}), "of the") == []


def test_the_surest_cause_comes_first_and_equal_ones_in_order() -> None:
    text = "The mill did burn because of rain. The mill did burn because of snow. "
    text += "Cause of the fire: mill. Reason: burn."
    found = find_causes(asked("x", {"Notes": text}), "the mill burn")
    assert [c.sentences[0].raw for c in found] == [
        "Reason: burn.", "The mill did burn because of rain.", "The mill did burn because of snow.",
    ]  # fmt: skip


def test_a_cause_that_a_label_or_a_heading_marks_answers_and_one_that_a_word_marks_does_not() -> None:
    assert causes("Cause: a lamp in the mill.") == ["Cause: a lamp in the mill."]
    assert causes("## Causes", "A lamp fell in the mill.") == ["A lamp fell in the mill."]
    assert causes("The mill did burn because a lamp fell.") == []
    assert causes("Cause: a lamp in the mill.", question="Why did the ship sink?") == []
    assert causes("Cause: a lamp in the mill.", question="Why did the mill burn, and who was there?") == []
    assert causes("Cause: a lamp in the mill.", question="Who was in the mill?") == []


def test_a_heading_behind_a_label_and_another_chunk_are_no_part_of_a_cause() -> None:
    assert causes("Cause: a lamp in the mill.", "## Repair", "It took a year.") == ["Cause: a lamp in the mill."]
    label = "Cause: a lamp in the mill."
    assert causes(label, "It had no glass.") == [label, "- It had no glass."]


def test_influence_is_told_by_a_sentence_with_all_names_in_a_text_on_half_of_the_event() -> None:
    def told(question: str, *texts: str) -> list[str]:
        return lines_of(answer_cause, question, {f"Note {chr(97 + i)}": text for i, text in enumerate(texts)})

    ask = "How did Bo Berg's lamp lead to the fire of the mill?"
    first = "The mill stood by the river. The lamp of Bo Berg fell at night. The fire of the mill took the roof."
    other = "Bo Berg sold a lamp in spring. Nobody bought it."
    assert told(ask, other, first) == ["The lamp of Bo Berg fell at night."]
    assert told(ask, other) == []
    assert told(ask, first.replace("Bo Berg", "Bo")) == []
    assert told("How did the lamp lead to the fire of the mill?", first) == []
    assert told(ask, first.replace("fire of the ", "")) == ["The lamp of Bo Berg fell at night."]  # half of the event
    both = first.replace("took the roof.", "took the roof because oil had run out. Rain fell.")
    assert told(ask, both)[1:] == ["- The fire of the mill took the roof because oil had run out."]
    near = "Bo Berg came home. It was cold. The lamp of Bo Berg stood by the mill. A fire broke out in the mill."
    assert told(ask, near)[0] == "The lamp of Bo Berg stood by the mill."
    assert answer_influence(asked("x", {"A": first}), "Bo Berg", "the fire of the mill") is not None


# ── authors ──


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("It rained. Yours truly,\n\nAnn Lee", "Ann Lee"),
        ("It rained.\n\nKind regards\n\nBo Berg, mayor of Elm", "Bo Berg"),
        ("Written by: Cy Dahl\n\nIt rained.", "Cy Dahl"),
        ("It rained. It snowed.\n\nMinutes: Di Moss", "Di Moss"),
        ("It rained. It snowed.\n\nEd Falk", "Ed Falk"),
        ("It rained. It snowed.", None),
        ("Ed Falk\n\nIt rained. It snowed.", None),
        ("Signed by Ann Lee\n\nIt rained.\n\nYours truly,\n\nBo Berg", "Bo Berg"),
        ("Written by Ann Lee\n\nIt rained.\n\nWritten by Bo Berg", "Ann Lee"),
        (f"{' '.join(FILL)} Signed by Bo Berg. {' '.join(FILL)} All went home.", None),
        (f"{' '.join(FILL)} Signed by Bo Berg. {' '.join(FILL)}", "Bo Berg"),
        (f"{' '.join(FILL[:4])} Signed by Bo Berg. {' '.join(FILL)} All went home.", "Bo Berg"),
    ],
)  # fmt: skip
def test_who_wrote_a_text_is_told_by_its_end_or_its_beginning(text: str, name: str | None) -> None:
    (held,) = list_by_document(asked("x", {"Letter": text}).sentences).values()
    found = find_author(held)
    assert (found[0] if found else None) == name
    if found:
        assert found[0] in found[1].raw


def test_no_text_has_no_author() -> None:
    assert find_author([]) is None


# ── the same question ──


def replies(question: str, *told: str) -> list[str]:
    return lines_of(answer_as_asked, question, {"Talk": "\n\n".join(told)})


def test_three_sentences_behind_a_question_are_its_answer_up_to_the_end_of_the_paragraph() -> None:
    question = "Why does honey crystallize in winter?"
    assert replies(question, question, "Cold air does it. It is sugar. It melts again. It stays good.") == [
        "Cold air does it.", "- It is sugar.", "- It melts again.",
    ]  # fmt: skip
    assert replies(question, question, "Cold air does it. It is sugar.", "It melts again.") == [
        "Cold air does it.", "- It is sugar.",
    ]  # fmt: skip
    assert replies(question, question, "Cold air does it. Do you like it? Yes.") == ["Cold air does it."]
    assert replies(question, question, "## Prices", "Cold air does it.") == []
    assert replies(question, f"{question} Cold air does it.") == ["Cold air does it."]
    assert replies(question, question, '"Cold air does it. It is sugar.') == ["Cold air does it.", "- It is sugar."]
    assert replies(question, question, "“Cold air does it. It is sugar.”")[0] == "Cold air does it."


def test_the_same_question_has_half_of_the_words_and_begins_the_same_way() -> None:
    told = "Why does honey crystallize in winter?", "Cold air does it."
    assert replies("Why does honey crystallize?", *told) == ["Cold air does it."]
    assert replies("What does honey crystallize in winter?", *told) == []
    assert replies("Does honey crystallize in winter?", *told) == []
    assert replies("Why does honey bread mould at sea?", *told) == []
    assert replies("Why does it rain in winter?", *told) == []
    assert replies("Why?", *told) == []
    which = "Which honey crystallizes in winter?", "Clover honey does."
    assert replies("What honey crystallizes in winter?", *which) == ["Clover honey does."]
    verbs = "Can honey crystallize in winter?", "It can."
    assert replies("Does honey crystallize in winter?", *verbs) == ["It can."]
    assert replies("What honey crystallizes in winter?", *verbs) == []


def test_the_likest_of_several_questions_is_taken() -> None:
    both = "Why does honey harden?", "It is old.", "Why does honey crystallize in cold winter?", "Cold air does it."
    assert replies("Why does honey crystallize in winter?", *both) == ["Cold air does it."]
    turned = both[2:] + both[:2]
    assert replies("Why does honey crystallize in winter?", *turned) == ["Cold air does it."]


def test_half_of_the_words_is_enough_for_questions_with_the_same_first_word_and_of_two_the_nearer_answers() -> None:
    far, near = ("Does honey crystallize in snowy winter?", "It does."), ("Does honey crystallize in jars?", "It may.")
    assert replies("Does honey crystallize quickly in jars?", *far) == ["It does."]
    assert replies("Can honey crystallize quickly in jars?", *far) == []
    assert replies("Can honey crystallize quickly in jars?", *near) == ["It may."]
    assert replies("Does honey crystallize quickly in jars?", *far, *near) == ["It may."]
    assert replies("Does honey crystallize quickly in jars?", *near, *far) == ["It may."]


def test_an_answer_is_cited_where_it_stands_and_of_one_span_only() -> None:
    text = "Why does honey crystallize in winter?\n\nCold air does it. It is sugar."
    chunk = Passage("chunk", "c", text, title="Talk", sources=(Source("d-1", 50, 50 + len(text)),))
    written = answer_as_asked(asked("Why does honey crystallize in winter?", {}, (chunk,)))
    assert written is not None
    spans = [text[s.start - 50 : s.end - 50] for one in written.statements for s in one.sources]
    assert spans == ["Cold air does it.", "It is sugar."]
    assert [one.text[:4] for one in written.statements] == ["Cold", "\n\n- "]


# ── changes ──

FEE = (
    "At the gate a parking fee is asked of all.", "Farmers refuse to give the parking fee in coins.",
    "The bishop halved what parking cost; his fee pleased many.", "Nobody knows where the parking fee goes.",
    "A machine takes the parking fee on market days.", "Visitors from Moss find every parking fee too dear.",
    "Only lorries owe a parking fee by new law.", "Cards and cheques now settle any parking fee quickly.",
    "With winter came free parking: no fee until Easter.",
)  # fmt: skip
FEES = {f"Minutes, 5 May {2001 + i}": f"# Minutes, 5 May {2001 + i}\n\n{said}" for i, said in enumerate(FEE)}


@pytest.mark.parametrize(
    ("when", "years"),
    [
        ("since 2005", [4, 5, 6, 7, 8, 9]), ("until 2003", [1, 2]), ("before 2003", [1, 2]), ("in 2003", [2, 3]),
        ("between 2003 and 2005", [2, 3, 4, 5]), ("from 2003 to 2004", [2, 3, 4]), ("before 2002", []),
        ("since May 2009", [8, 9]), ("since 2010", []),
    ],
)  # fmt: skip
def test_what_changed_is_told_within_the_time_and_the_last_of_before(when: str, years: list[int]) -> None:
    found = lines_of(answer_changes, f"How has the parking fee changed {when}?", FEES)
    assert [FEE.index(line.removeprefix("- ")) + 1 for line in found] == years


def test_six_sentences_of_a_change_are_shown() -> None:
    assert len(lines_of(answer_changes, "How has the parking fee changed?", FEES)) == 6
    assert lines_of(answer_changes, "How has the parking fee changed?", dict(list(FEES.items())[:1])) == []
    assert lines_of(answer_changes, "How is the parking fee paid?", FEES) == []


# ── comparisons ──


def test_days_between_two_dates_are_counted_where_both_are_days() -> None:
    def between(one: str, other: str) -> list[str]:
        texts = {"Book": f"Ann Lee left on {one}. Bo Berg came on {other}. Nobody else did."}
        return lines_of(answer_comparison, "Which was earlier, Ann Lee or Bo Berg?", texts)[3:]

    assert between("3 May 1920", "4 May 1920") == ["1 day lies between the two dates."]
    assert between("6 May 1920", "4 May 1920") == ["2 days lie between the two dates."]
    assert between("3 May 1910", "4 May 1920") == ["3,654 days lie between the two dates."]
    assert between("May 1910", "4 May 1920") == []


def test_what_stands_behind_the_second_of_two_versions_is_of_the_first_too() -> None:
    texts = {
        "Tide tables": "The short edition is printed for keepers. The long edition has the tides of nights too.",
        "Rope": "A short rope is tied to the post in front of the harbour gate by keepers.",
    }
    question = "What is the difference between the short and the long edition of the tide tables?"
    assert lines_of(answer_comparison, question, texts) == [
        "**Short edition of the tide tables**: The short edition is printed for keepers.",
        "**Long edition of the tide tables**: The long edition has the tides of nights too.",
    ]


def test_two_things_of_one_day_have_no_order() -> None:
    texts = {"Book": "Ann Lee left on 3 May 1920. Bo Berg came on 3 May 1920."}
    assert lines_of(answer_comparison, "Which was earlier, Ann Lee or Bo Berg?", texts) == []
    one = {"Book": "Ann Lee and Bo Berg left on 3 May 1920. It rained."}
    assert lines_of(answer_comparison, "Which was earlier, Ann Lee or Bo Berg?", one) == []


def test_a_side_is_dated_by_the_sentence_with_one_date_that_holds_its_name() -> None:
    def found(text: str, title: str = "Book") -> str:
        one = asked("Which was earlier, Ann Lee or Bo Berg?", {title: text})
        told = find_dated_side(one, "Ann Lee", Weigher(one, "born earlier"), Dated(one.sentences))
        return told[1] if told else ""

    assert found("Ann Lee left in 1920. Ann Lee was born in 1900.") == "1900"
    assert found("Ann Lee left in 1920 or 1921.") == ""
    assert found("Ann left in 1920.") == "1920"  # texts go on with one word of a name
    assert found("She left in 1920. It rained.", "Ann Lee") == "1920"
    assert found("It rained. It rained. Snow fell. Hail fell. Ice came. She left in 1920.", "Ann Lee") == ""
    assert found("Ann Lee slept.") == ""


# ── relations and successions ──


@pytest.mark.parametrize(
    ("verb", "holds", "not_these"),
    [
        ("founded", "found founds founded founding", "foundation"), ("wrote", "write writes wrote written", "writer"),
        ("planned", "plan plans planned planning", "plant"), ("carries", "carry carries carried", "car"),
        ("use", "use uses used using", "user"), ("teach", "teach teaches teaching taught", "teacher"),
    ],
)  # fmt: skip
def test_all_forms_of_a_verb_are_found(verb: str, holds: str, not_these: str) -> None:
    forms = write_verb_forms(verb)
    words = [*holds.split(), *not_these.split()]
    assert [w for w in words if forms.fullmatch(w)] == holds.split()


@pytest.mark.parametrize(
    ("question", "text", "names"),
    [
        ("Who founded Elm Press?", "Ann Lee founded Elm Press.", ["Ann Lee"]),
        ("Who founded Elm Press?", "Elm Press founded Moss Press.", []),
        ("What did Elm Press found?", "Elm Press founded Moss Press.", ["Moss Press"]),
        ("Who founded Elm Press?", "Elm Press was founded in 1901 by Ann Lee.", ["Ann Lee"]),
        ("Who founded Elm Press?", "Elm Press was founded.", []),
        ("Who founded Elm Press?", "Ann Lee founded a school; Elm Press printed.", []),
        ("Who founded Elm Press?", "Ann Lee founded it. Bo Berg founded Elm Press.", ["Bo Berg"]),
        ("Who founded Elm Press?", f"Ann Lee founded the {'very ' * 10}old and small Elm Press.", ["Ann Lee"]),
        ("Who founded Elm Press?", f"Ann Lee founded the {'very ' * 14}old and small Elm Press.", []),
        ("Who founded Elm Press?", f"Ann Lee, who came from {'x' * 12}, founded Elm Press.", ["Ann Lee"]),
        ("Who founded Elm Press?", f"Ann Lee, who came from {'x' * 13}, founded Elm Press.", []),
        ("What did Ann Lee found?", "Ann Lee founded, with the money of her aunt, Elm Press.", ["Elm Press"]),
        ("What did Ann Lee found?", "Ann Lee founded, with all the money of her dear aunt, Elm Press.", []),
        ("Who founded the old and big town hall press?", "Ann Lee founded the old and big town hall press.", []),
        ("Who founded presses?", "Ann Lee founded presses.", []),
        ("Which presses did Ann Lee found?", "Ann Lee founded Elm Press.", []),
        ("Which presses did Ann Lee found?", "Ann Lee founded Elm Press and Moss Press.", ["Elm Press, Moss Press"]),
        ("Who founded Elm Press, and when?", "Ann Lee founded Elm Press.", []),
        ("When was Elm Press founded?", "Ann Lee founded Elm Press.", []),
    ],
)  # fmt: skip
def test_the_other_end_of_a_relation_stands_close_and_the_right_way_round(
    question: str, text: str, names: list[str]
) -> None:
    assert [line.split("**")[1] for line in lines_of(answer_relation, question, {"Book": text})] == names


def test_twelve_ends_of_a_relation_are_shown() -> None:
    places = "Elm Moss Ash Oak Fir Yew Bay Fig Box Gum Ivy Rye Hop Hay".split()
    told = [f"Ann Lee founded {p} Hall {' '.join(f'{a}{p.lower()}{a}' for a in 'bdgkprt')}." for p in places]
    found = lines_of(answer_relation, "What did Ann Lee found?", {"Book": " ".join(told)})
    assert len(found) == 12
    assert found[0].startswith("- **Elm Hall**: ")


@pytest.mark.parametrize(
    ("question", "text", "next_one"),
    [
        ("Which bug came after BUG-7?", "BUG-7 is old. BUG-9 is odd. BUG-8 is new. BUG-6 is gone.", "BUG-8"),
        ("Which bug came before BUG-7?", "BUG-7 is old. BUG-5 is odd. BUG-6 is gone.", "BUG-6"),
        ("Which bug came after BUG-7?", "BUG-8 is new.", None),
        ("Which bug came after BUG-7?", "BUG-7 is old. LOG-8 is new.", None),
        ("Which version came after 1.9?", "Version 1.9 is old. Version 1.10 is new. Version 2 is far.", "1.10"),
        ("Which version came after 1.9?", "Versions 1.9, 1.10 and 2 are out.", "1.10"),
        ("Which version of Moss came after 1.9?",
         "Versions 1.9 and 2.0 of Fern are out. Versions 1.9 and 3.0 of Moss are out.", "3.0"),
        ("Which version of Kelp came after 1.9?", "Versions 1.9 and 2.0 of Fern are out.", "2.0"),
        ("Which bug came after BUG-7?", "BUG-7 is old. BUG-8 is new. After BUG-7 came BUG-8, as we know.", "BUG-8"),
    ],
)  # fmt: skip
def test_what_follows_has_the_nearest_number_of_the_same_series(question: str, text: str, next_one: str | None) -> None:
    found = lines_of(answer_succession, question, {"Book": text})
    assert (found[0].split("**")[1] if found else None) == next_one
    if next_one == "BUG-8" and "After BUG-7" in text:
        assert found[0].endswith("After BUG-7 came BUG-8, as we know.")
