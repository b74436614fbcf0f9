"""The offline engine's asking half: leads with sources, parts of questions, verdicts, grades, and follow-ups."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.engines.offline.answers import asking_tasks, composing
from sensegraph.engines.offline.answers.asking_tasks import strip_asking_words
from sensegraph.engines.offline.answers.composing import resolve_history
from sensegraph.engines.offline.answers.questions import WantedWords, measure_coverage, read_wanted_words
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.types import Context, Description, Inquiry, Lead, Passage, Source, Turn

WIND = (
    "The wind farms of Northgate were built by Ann Lee because the coast needed clean energy. "
    "The fishing villages feared that the wind farms would drive the herring away from the coast. "
    "Ann Lee promised the fishing villages a share of the income of the wind farms."
)
MUSEUM = (
    "The harbour museum of Northgate was opened by Dan Fox with a collection of fishing boats. "
    "Dan Fox restored the boats together with students of the local school. "
    "Eve Hall wrote the letters of the captains down for the harbour museum."
)


def chunk(name: str, text: str, title: str = "") -> Passage:
    return Passage("chunk", name, text, 1.0, title, (Source(name, 0, len(text)),), (), 1)


def element(kind: str, title: str, text: str, score: float = 1.0) -> Passage:
    """An entity or a relation as a local context has it: the quote is the sentence that says it."""
    at = WIND.find(text)
    quotes = (Description(text, Source("c-wind", at, at + len(text))),) if at >= 0 else ()
    return Passage(kind, f"{kind}-{title}", text, score, title, (), quotes, 1)


def report(name: str, title: str, rating: float, text: str) -> Passage:
    parts = [f"{part.rstrip('.')}." for part in text.split(". ")]
    quotes = tuple(Description(p, Source(f"{name}-{i}", 0, len(p))) for i, p in enumerate(parts))
    return Passage("report", name, text, rating, title, (), quotes, 4)


CHUNKS = (chunk("c-wind", WIND), chunk("c-museum", MUSEUM))
REPORTS = (
    report("r1", "Wind farms, fishing villages and Ann Lee", 8.0, WIND),
    report("r2", "Harbour museum and Dan Fox", 5.0, MUSEUM),
)
LOCAL = (
    element("entity", "Ann Lee", "Ann Lee promised the fishing villages a share of the income of the wind farms.", 3.0),
    element("entity", "herring", "", 1.0),
    element("relation", "Ann Lee — Northgate", "", 2.0),
    element("relation", "herring — fishing villages", "", 1.0),
    *CHUNKS,
)


def asked(question: str, passages: tuple[Passage, ...] = CHUNKS, *before: str) -> Inquiry:
    return Inquiry(question, Context(passages), 2, tuple(Turn(q) for q in before))


def lead(question: str, passages: tuple[Passage, ...] = CHUNKS, *before: str) -> Lead:
    return asking_tasks.find_leads([asked(question, passages, *before)])[0]


def verdict(question: str, *passages: Passage, before: tuple[str, ...] = ()) -> bool:
    return asking_tasks.test_passages([asked(question, passages, *before)])[0]


def graded(question: str, *passages: Passage, before: tuple[str, ...] = ()) -> int:
    return asking_tasks.grade_reports([asked(question, passages, *before)])[0]


def parts(question: str, *before: str) -> tuple[str, ...]:
    return asking_tasks.refine_questions([asked(question, (), *before)])[0].questions


# ── ask ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_engine_says_that_it_can_ask_refine_test_and_grade() -> None:
    engine = ClassicalEngine()
    assert {"ask", "refine", "test", "grade"} <= engine.tasks
    inquiry = asked("Who built the wind farms?")
    assert engine.ask([inquiry]) == asking_tasks.find_leads([inquiry])
    assert engine.refine([inquiry]) == asking_tasks.refine_questions([inquiry])
    assert engine.test([inquiry]) == [True]
    assert engine.grade([inquiry]) == asking_tasks.grade_reports([inquiry])


@pytest.mark.parametrize("passages", [CHUNKS, REPORTS, LOCAL])
def test_a_lead_tells_relevant_sentences_with_their_sources(passages: tuple[Passage, ...]) -> None:
    found = lead("What did the fishing villages fear of the wind farms?", passages)
    assert 0 < found.score <= 100
    assert "herring away" in found.statements[0].text
    for statement in found.statements:
        assert statement.sources
        assert set(statement.references) <= {p.id for p in passages}
    assert not any("captains" in s.text for s in found.statements)


def test_a_question_off_the_subject_has_score_zero_and_no_statement() -> None:
    for passages in (CHUNKS, REPORTS, LOCAL):
        found = lead("What is the boiling point of tungsten?", passages)
        assert found.score == 0
        assert found.statements == ()
        assert found.questions  # what stands there may still lead on, last in the order of scores


def test_a_question_about_the_whole_is_led_by_the_weightiest_theme() -> None:
    found = lead("What are the main themes?", REPORTS)
    assert found.score > 0
    assert found.statements[0].references == ("r1",)
    assert {r for s in found.statements for r in s.references} == {"r1", "r2"}


def test_follow_ups_ask_for_links_and_things_that_the_question_does_not_mention() -> None:
    found = lead("What did the fishing villages fear of the wind farms?", LOCAL)
    assert 1 <= len(found.questions) <= 5
    assert found.questions[0] == "How are the fishing villages and the herring related?"
    assert "What is said about Ann Lee?" in found.questions
    assert not any(q == "What is said about the fishing villages?" for q in found.questions)
    assert len(set(found.questions)) == len(found.questions)
    assert all(q.endswith("?") for q in found.questions)


def test_a_link_between_two_things_that_the_question_does_not_mention_is_asked_about() -> None:
    link = element("relation", "Eve Hall — Dan Fox", "", 2.0)
    assert "How are Eve Hall and Dan Fox related?" in lead("What are the main themes?", (link, CHUNKS[1])).questions


def test_a_title_that_is_a_clause_names_no_things() -> None:
    clause = report("r1", "Xavi and Iniesta were unplayable", 8.0, WIND)
    questions = lead("What are the main themes?", (clause,)).questions
    assert questions
    assert not any("unplayable" in q for q in questions)


def test_what_the_question_names_is_asked_about_only_with_something_else() -> None:
    found = lead("Who is Ann Lee?", LOCAL)
    assert found.questions
    assert all("Ann Lee" not in q or "related" in q for q in found.questions)


def test_the_names_in_a_report_s_title_are_followed_up() -> None:
    found = lead("Who opened the harbour museum?", REPORTS)
    assert any("wind farms" in q for q in found.questions)
    assert any("Dan Fox" in q for q in found.questions)


def test_things_in_the_sentences_that_answer_come_before_stronger_ones_elsewhere() -> None:
    strong = element("entity", "Zebra Street", "", 9.0)
    weak = element("entity", "herring", "", 1.0)
    found = lead("What did the fishing villages fear?", (strong, weak, *CHUNKS))
    about = [q for q in found.questions if "herring" in q or "Zebra" in q]
    assert about
    assert "herring" in about[0]


@pytest.mark.parametrize(
    ("text", "question", "needle"),
    [
        (
            "Die Windparks wurden von Anna Lehmann gebaut, weil die Küste Strom brauchte. "
            "Die Fischer fürchteten die Windparks, denn sie leben vom Hering und von der Küste.",
            "Wer hat die Windparks gebaut?",
            "Was wird über ",
        ),
        ("尼古拉·特斯拉发明了交流电动机。爱迪生反对特斯拉的交流电系统。", "特斯拉发明了什么？", "关于爱迪生说了什么？"),
    ],
)
def test_follow_ups_are_in_the_language_of_the_sources(text: str, question: str, needle: str) -> None:
    entity = Passage("entity", "e", "", 1.0, "爱迪生" if "特" in text else "Anna Lehmann")
    found = lead(question, (entity, chunk("c", text)))
    assert found.score > 0
    assert any(q.startswith(needle) for q in found.questions)


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("How are Ann Lee and the wind farms related?", "Ann Lee, the wind farms?"),
        ("What is said about Dan Fox?", "Dan Fox?"),
        ("Wie hängt Tesla mit Edison zusammen?", "Tesla, Edison?"),
        ("特斯拉与爱迪生有什么关系？", "特斯拉, 爱迪生?"),
        ("Who built the wind farms?", "Who built the wind farms?"),
    ],
)
def test_its_own_follow_ups_are_read_without_their_words_of_asking(question: str, things: str) -> None:
    assert strip_asking_words(question) == things


def test_a_follow_up_finds_what_it_asks_for() -> None:
    questions = lead("What did the fishing villages fear of the wind farms?", LOCAL).questions
    assert len(questions) > 1
    for question in questions[:2]:
        assert lead(question, LOCAL).score > 0


# ── refine ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_question_is_split_into_its_names_and_noun_phrases_names_first() -> None:
    assert parts("Do David Elliot and Eustace William Ferguson share the same nationality?")[:2] == (
        "Eustace William Ferguson",
        "David Elliot",
    )
    assert "True To The Navy" in parts("Which film was made earlier, The Korean Wedding Chest or True To The Navy?")


def test_a_question_of_one_part_has_no_sub_question_and_no_answer_is_imagined() -> None:
    refined = asking_tasks.refine_questions([asked("What is differential privacy?", ())])[0]
    assert refined.question == "What is differential privacy?"
    assert refined.questions == ()
    assert refined.hypothesis == ""


def test_parts_are_found_in_other_languages() -> None:
    assert "Saint-Pierre" in parts("Wie viele Männer wurden von Duquesne entsandt, um Saint-Pierre zu entlasten?")
    assert "杜肯派" in parts("杜肯派了多少人去营救圣皮埃尔？")


# ── test ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_passage_helps_that_holds_enough_of_the_question() -> None:
    assert verdict("What did the fishing villages fear?", CHUNKS[0])
    assert not verdict("What did the fishing villages fear?", chunk("c", "Villages may be small."))
    assert not verdict("What is the boiling point of tungsten?", *CHUNKS)


def test_a_whole_name_is_enough_and_a_speaker_s_label_is_not() -> None:
    question = "Who is older, Cheryl Saban or Dmitry Grigorieff, by birth and by the calendar of the church?"
    assert verdict(question, chunk("c", "Cheryl Saban is a novelist from San Diego."))
    assert not verdict(question, chunk("c", "CherylSaban: Hello there!\nTomSmith: See you at the game."))


def test_words_far_apart_count_less_than_words_together() -> None:
    far = "The herring came. " + "Nothing was said of it in the whole long year. " * 12 + "The villages slept."
    wanted = read_wanted_words("What did the herring mean to the fishing villages?", "en")
    assert measure_coverage(wanted, far, "en").near < measure_coverage(wanted, far, "en").whole
    assert measure_coverage(wanted, "The herring fed the fishing villages.", "en").near == pytest.approx(1.0, abs=0.25)


def test_less_is_enough_beside_a_concept_linked_to_the_question() -> None:
    question = "How did the herring trade shape the island prisons?"
    passage = chunk("c", "The trade with salted fish shaped the coast, and the market square was built of it.")
    linked = Passage("concept", "k", "market square", title="market square")
    other = Passage("concept", "k", "iron ore", title="iron ore")
    wanted = read_wanted_words(question, "en")
    assert (
        asking_tasks.ENOUGH - asking_tasks.LINKED
        <= measure_coverage(wanted, passage.text, "en").near
        < asking_tasks.ENOUGH
    )
    assert verdict(question, passage, linked)
    assert not verdict(question, passage, other)
    assert not verdict("Who bred the zebra?", passage, linked)


def test_a_question_about_the_whole_is_helped_by_any_text() -> None:
    assert verdict("What are the main themes?", CHUNKS[0])
    assert not verdict("What are the main themes?", chunk("c", "  "))


def test_verdicts_in_german_and_chinese() -> None:
    german = chunk("c", "Die Normannen zogen mit Oursel bis in das Tal des Euphrat, wo die Franken sie erwarteten.")
    assert verdict("Wer war der Anführer der Normannen im Tal des Euphrat?", german)
    assert not verdict("Wie hoch ist der Siedepunkt von Wolfram?", german)
    chinese = chunk("c", "法兰克人进入幼发拉底河流域时，奥赛尔是他们的领导者。")
    assert verdict("当法兰克人进入幼发拉底河流域时，谁是领导者？", chinese)
    assert not verdict("杜肯派了多少人去营救圣皮埃尔？", chinese)


words = st.lists(st.sampled_from("herring Northgate villages Ann Lee boats 1953 school the of".split()), max_size=12)


@given(words, words)
@settings(max_examples=60, deadline=None)
def test_what_is_held_is_a_share_and_more_text_never_holds_less(question: list[str], text: list[str]) -> None:
    wanted = read_wanted_words(" ".join(["x", *question]), "en")
    one, more = (
        measure_coverage(wanted, " ".join(text), "en"),
        measure_coverage(wanted, " ".join([*text, *question]), "en"),
    )
    assert 0.0 <= one.near <= one.whole + 1e-9 <= 1.0 + 2e-9
    assert more.whole >= one.whole - 1e-9
    assert more.near >= one.near - 1e-9
    assert more.near == pytest.approx(float(bool(wanted)))


def test_nothing_wanted_is_nothing_held() -> None:
    assert measure_coverage(WantedWords({}), WIND, "en").whole == 0.0


# ── grade ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_grades_rise_with_what_a_report_holds_of_the_question() -> None:
    question = "What did the fishing villages fear of the wind farms?"
    assert graded(question, REPORTS[0]) == 5
    assert graded(question, REPORTS[0]) > graded(question, REPORTS[1]) > 0
    assert graded("What is the boiling point of tungsten?", *REPORTS) == 0
    assert graded(question, *REPORTS) == 5


def test_a_question_about_the_whole_loses_no_report() -> None:
    assert [graded("What are the main themes?", report("r", "T", rating, WIND)) for rating in (0, 1, 5, 8, 10)] == [
        1,
        1,
        2,
        4,
        5,
    ]


# ── conversations ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("question", "before", "read"),
    [
        ("Why?", ("What did Ann Lee promise?",), "Why, Ann Lee promise?"),
        ("When was she born?", ("Who is Marie Curie?",), "When was she born, Marie Curie?"),
        ("And where?", ("Who is Marie Curie?", "When was she born?"), "And where, born, Marie Curie?"),
        ("How much does it cost?", ("What is a wind farm?",), "How much does it cost, wind farm?"),
        ("What are the main themes?", ("Who is Marie Curie?",), "What are the main themes?"),
        ("Who is Dan Fox?", ("Who is Marie Curie?",), "Who is Dan Fox?"),
        ("When is it best to plant old roses?", ("Who is Marie Curie?",), "When is it best to plant old roses?"),
        ("他说了什么？", ("特斯拉发明了什么？",), "他说了什么，特斯拉发明？"),
    ],
)
def test_a_question_that_leans_on_the_one_before_borrows_its_words(
    question: str, before: tuple[str, ...], read: str
) -> None:
    assert resolve_history(asked(question, (), *before)).question == read


def test_a_question_without_conversation_is_read_as_it_is() -> None:
    inquiry = asked("And what did he say about it?")
    assert resolve_history(inquiry) is inquiry


def test_every_task_reads_a_follow_up_with_what_it_borrows() -> None:
    before = ("What did Ann Lee promise the fishing villages?",)
    question = "And what did she say about it?"
    assert lead(question, CHUNKS, *before).score > 0
    assert not verdict(question, CHUNKS[1], before=before)
    assert verdict(question, CHUNKS[0], before=before)
    assert graded(question, REPORTS[0], before=before) > graded(question, REPORTS[1], before=before)
    assert "Ann Lee" in asking_tasks.refine_questions([asked(question, (), *before)])[0].question
    assert "Ann Lee" in str(composing.rate_inquiries([asked(question, REPORTS, *before)]))


def test_an_answer_says_how_it_read_a_follow_up() -> None:
    draft = composing.answer_inquiries([asked("Why?", CHUNKS, "What did the fishing villages fear?")])[0]
    assert any("read as: Why, fishing villages fear?" in note for note in draft.notes)
    alone = composing.answer_inquiries([asked("What did the fishing villages fear?")])[0]
    assert not any("read as" in note for note in alone.notes)


# ── the same for every hash seed ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_results_are_the_same_for_any_hash_seed() -> None:
    program = (
        "import test_asking_offline as t\n"
        "from sensegraph.engines.offline.answers import asking_tasks as work\n"
        "asked = [t.asked(q, p) for q in ('What did the villages fear?', 'What are the main themes?') "
        "for p in (t.CHUNKS, t.REPORTS, t.LOCAL)]\n"
        "import sys\n"
        "tasks = (work.find_leads, work.refine_questions, work.test_passages, work.grade_reports)\n"
        "sys.stdout.write(repr([task(asked) for task in tasks]))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": __file__.rpartition("/")[0]},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(seen) == 1
    assert next(iter(seen))
