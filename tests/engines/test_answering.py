"""The offline engine's answers: what they count, whom they quote, and that every sentence leads to its span."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from sensegraph.engines.offline.answers.composing import answer_inquiries, compose_answer, rate_inquiries
from sensegraph.engines.offline.answers.questions import understand_question
from sensegraph.engines.offline.answers.themes import make_general_clause
from sensegraph.engines.offline.reports.tone import balance_tone
from sensegraph.types import Context, Description, Draft, Inquiry, Passage, Point, Source
from talks import TALKS


def chunks(texts: dict[str, str] = TALKS) -> tuple[Passage, ...]:
    return tuple(
        Passage("chunk", f"p-{name}", text, 1.0, f"Talk {name}", (Source(name, 0, len(text)),), (), 1)
        for name, text in texts.items()
    )


def report(name: str, title: str, rating: float, documents: int, *said: str) -> Passage:
    quotes = tuple(Description(s, Source(f"{name}-{i}", 0, len(s.split(": ")[-1]))) for i, s in enumerate(said))
    return Passage("report", name, " ".join(said), rating, title, (), quotes, documents)


REPORTS = (
    report(
        "r1",
        "Wind farms and coast",
        9.0,
        12,
        "Ann Lee: “We built the wind farms because the coast needed clean energy and the villages wanted it.”",
        "Bob Ray: “The wind farms destroyed the bird colonies and harmed the fishing villages along the coast.”",
        "The turbines stand in two rows of twelve between the lighthouse and the northern sand banks.",
    ),
    report(
        "r2",
        "Harbour museum",
        6.0,
        5,
        "Dan Fox: “The harbour museum opened with a collection of boats that families had kept for decades.”",
        "Eve Hall: “Visitors came back to the town in the summer because the museum had made it known.”",
    ),
    report(
        "r3",
        "The museum and the harbour",
        3.0,
        2,
        "The museum of the harbour also keeps the letters of the captains who sailed to the north.",
    ),
)


def asked(question: str, passages: tuple[Passage, ...] | None = None, corpus: int = 3) -> Inquiry:
    return Inquiry(question, Context(chunks() if passages is None else passages), corpus)


def text_of(draft: Draft) -> str:
    return "".join(s.text for s in draft.statements)


def as_passages(points: tuple[Point, ...]) -> tuple[Passage, ...]:
    return tuple(
        Passage(
            "point",
            f"pt{i}",
            "".join(s.text for s in p.statements),
            p.score,
            p.title,
            (),
            tuple(Description(s.text.strip(), source) for s in p.statements for source in s.sources),
            p.documents,
        )
        for i, p in enumerate(points)
    )


def reply(question: str, passages: tuple[Passage, ...] | None = None, corpus: int = 3) -> str:
    return text_of(answer_inquiries([asked(question, passages, corpus)])[0])


# ── the map step ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_question_off_the_subject_gets_no_point() -> None:
    assert rate_inquiries([asked("What is the boiling point of tungsten?")]) == [()]
    assert rate_inquiries([asked("What do guests say about quantum chromodynamics?", REPORTS)]) == [()]


def test_half_of_a_compound_is_not_the_compound() -> None:
    assert rate_inquiries([asked("What do guests say about museum taxation?")]) == [()]
    assert rate_inquiries([asked("What do guests say about the harbour museum?")])[0]


def test_a_name_that_nobody_mentions_gets_no_point() -> None:
    assert rate_inquiries([asked("What do guests say about wind farms in Portugal?")]) == [()]


def test_a_focused_point_carries_only_what_bears_on_the_question() -> None:
    (points,) = rate_inquiries([asked("What do guests say about wind farms?", REPORTS, 40)])
    assert [p.title for p in points] == ["Wind farms and coast"]
    said = "".join(s.text for s in points[0].statements)
    assert "destroyed the bird colonies" in said
    assert "lighthouse" not in said


def test_scores_are_between_0_and_100() -> None:
    for question in ("What are the main themes?", "What is said about wind farms?", "What about the museum?"):
        rated = rate_inquiries([asked(question, REPORTS), asked(question)])
        assert any(rated)
        for points in rated:
            assert all(0 < p.score <= 100 for p in points)


def test_a_point_names_its_report_and_the_exact_span() -> None:
    (points,) = rate_inquiries([asked("What do guests say about wind farms?", REPORTS)])
    for statement in points[0].statements:
        assert statement.references == ("r1",)
        assert len(statement.sources) == 1


def test_points_keep_the_speaker_for_the_reduce_step() -> None:
    (points,) = rate_inquiries([asked("What do guests say about wind farms?")])
    written = reply("What do guests say about wind farms?", as_passages(points))
    assert re.search(r"Bob Ray [a-z ]+: “", written)


# ── the reduce step: what is counted ─────────────────────────────────────────────────────────────────────────────────


def test_an_overview_of_passages_says_of_how_many_documents_they_are_and_which_themes() -> None:
    written = reply("What are the main themes across the conversations?", REPORTS, 40)
    first = written.split("\n")[0]
    assert first == "In two of the 40 documents, of which passages were read, one theme stands out: wind farms."
    assert "**Wind farms** (two passages). " in written


def test_a_question_whether_is_answered_with_a_counted_yes() -> None:
    texts = {f"d{i}": text for i, text in enumerate([TALKS["c1"]] * 6)}
    assert reply("Do guests discuss wind farms?", chunks(texts), 90).startswith(
        "Yes: at least six of the 90 documents speak of wind farms"
    )


def test_a_single_mention_is_hardly() -> None:
    assert reply("Do any guests discuss schools?", chunks({"c2": TALKS["c2"]}), 90).startswith(
        "Hardly: I find that only one of the 90 documents speaks of schools"
    )


def test_a_question_whether_about_what_nobody_says_finds_nothing() -> None:
    first = reply("Do guests discuss cryptography?").splitlines()[0]
    assert first == "The sources do not answer this. “cryptography” stands nowhere in them."


def test_who_speaks_is_known_to_the_sources() -> None:
    first = reply("What does Ann Lee think of cryptography and of violins?").splitlines()[0]
    assert first == "The sources do not answer this. “cryptography” and “violins” stand nowhere in them."


def test_how_often_is_answered_with_a_number() -> None:
    assert reply("How often do guests talk about wind farms?").startswith(
        "Wind farms comes up in at least two of the three documents"
    )


def test_a_comparison_that_was_not_counted_is_not_pretended() -> None:
    assert "no comparison is made" in reply("How often do wind farms come up compared to other topics?")


def test_a_count_of_what_was_handed_over_is_not_given_as_the_whole() -> None:
    assert reply("What are the perspectives on wind farms?").startswith("At least two of the three documents speak")


def test_who_speaks_most_is_ranked() -> None:
    texts = {**TALKS, "c4": TALKS["c1"].replace("ANN LEE", "BOB RAY").replace("coast", "shore")}
    written = reply("Which speakers talk the most about wind farms?", chunks(texts))
    assert written.startswith("Bob Ray speaks most (3)")


# ── stance ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_negative_impacts_leave_out_what_praises() -> None:
    written = reply("Do guests discuss the negative impacts of wind farms?")
    assert "destroyed the bird colonies" in written
    assert "good income" not in written


def test_positive_impacts_leave_out_what_blames() -> None:
    written = reply("Do guests discuss the positive impacts of wind farms?")
    assert "good income" in written
    assert "destroyed" not in written


def test_views_are_set_side_by_side() -> None:
    written = reply("What are the different perspectives on wind farms?")
    assert "**Ann Lee** " in written
    assert "**Bob Ray** " in written
    bare = {name: re.sub(r"(?m)^[A-Z ]+: ", "", text) for name, text in TALKS.items()}
    written = reply("What are the different perspectives on wind farms?", chunks(bare))
    assert "**Worries and limits**" in written
    assert "**Hopes and remedies**" in written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This was a terrible failure.", -1),
        ("It improved the lives of everyone.", 1),
        ("The station lies on the hill.", 0),
        ("That is not a danger.", 1),
        ("It never helped anyone.", -1),
    ],
)
def test_the_sign_of_a_sentence_follows_its_words_and_negations(text: str, expected: int) -> None:
    tone = balance_tone(text)
    assert (tone > 0) - (tone < 0) == expected


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("What are the main themes across the conversations?", "overview"),
        ("Summarize the whole meeting.", "overview"),
        ("Do guests discuss data privacy?", "whether"),
        ("Are there conversations about the digital divide?", "whether"),
        ("How often do tech leaders talk about sustainability?", "count"),
        ("Which guests speak the most about education?", "who"),
        ("What do guests say about education?", "open"),
        ("Which episodes deal primarily with regulation?", "open"),
        ("What are the different perspectives on data privacy?", "views"),
        ("Did Adam fix the fridge before Monday?", "decide"),
        ("Who opened the museum?", "lookup"),
        ("What company culture supports innovation?", "open"),
    ],
)
def test_the_shape_of_a_question_is_read_from_its_words(question: str, shape: str) -> None:
    assert understand_question(question).shape == shape


def test_the_subject_is_the_noun_phrase_that_is_asked_about() -> None:
    assert (
        understand_question("What are the different perspectives on data privacy shared by the guests?").subject
        == "data privacy"
    )
    assert understand_question("What do guests say about potential negative impacts of technology?").subject == (
        "potential negative impacts of technology"
    )


def test_adjoining_content_words_form_one_group() -> None:
    assert understand_question("What about data privacy and law?").groups == (("data", "privaci"), ("law",))


# ── what every answer keeps ──────────────────────────────────────────────────────────────────────────────────────────

QUESTIONS = (
    "What are the main themes?",
    "Summarize the meeting.",
    "Do guests discuss wind farms?",
    "Which guests speak about the museum?",
    "What are the perspectives on wind farms?",
    "Who restored the fishing boats?",
    "Why did the villages want clean energy?",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_shown_sentence_stands_in_its_span(question: str) -> None:
    draft = compose_answer(asked(question))
    assert any(s.sources for s in draft.statements)
    for statement in draft.statements:
        for reference, source in zip(statement.references, statement.sources, strict=True):
            assert reference == f"p-{source.chunk}"
            span = TALKS[source.chunk][source.start : source.end]
            mark = "“" if "“" in statement.text else " that "
            shown = statement.text.split(mark)[-1].split("” — ")[0].strip("” .\n-").partition(": ")[2] or ""
            shown = shown or statement.text.split(mark)[-1].split("” — ")[0].strip("” .\n-")
            shown = shown.lower()
            assert len(shown) > 30
            assert shown in span.lower()


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_two_shown_sentences_are_alike(question: str) -> None:
    twice = {**TALKS, "c9": TALKS["c1"].replace("badly", "greatly")}
    shown = [
        s.text.split("“")[-1].casefold().split()
        for s in compose_answer(asked(question, chunks(twice))).statements
        if s.sources
    ]
    assert shown
    assert all(LCSseq.normalized_similarity(a, b) <= 0.5 for a, b in combinations(shown, 2))


@pytest.mark.parametrize("question", QUESTIONS)
def test_sentences_end_with_a_mark_and_begin_with_the_blanks(question: str) -> None:
    draft = compose_answer(asked(question))
    assert any(s.sources for s in draft.statements)
    for statement in draft.statements:
        if statement.sources:
            assert re.search(r"[.!?][”’'\"]*(?: — [A-Z][a-z]+ [A-Z][a-z]+)?$", statement.text)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_says_that_it_is_quoted(question: str) -> None:
    assert any("offline answer" in note for note in compose_answer(asked(question)).notes)


def test_a_question_of_fact_is_answered_by_the_sentence_that_holds_it() -> None:
    first = next(
        s for s in compose_answer(asked("Who restored the fishing boats of the museum?")).statements if s.sources
    )
    assert "restored by students" in first.text


def test_an_answer_that_is_only_near_says_so() -> None:
    written = reply("List the villages.")
    assert written.startswith(("Most likely: “", "What comes nearest: “"))


def test_a_summary_of_about_so_many_words_has_about_so_many() -> None:
    short, long = (len(text_of(compose_answer(asked("Summarize the meeting."), words=n)).split()) for n in (40, 90))
    assert short < long <= 130


def test_a_short_answer_keeps_to_the_order_of_the_text_and_names_who_said_it() -> None:
    draft = compose_answer(asked("What did the group say about the wind farms on the coast?"), words=60)
    orders = [(s.sources[0].chunk, s.sources[0].start) for s in draft.statements]
    assert orders == sorted(orders)
    assert text_of(draft).startswith("Bob Ray said that “The wind farms destroyed")


def test_initials_and_clipped_words_stand_for_what_they_shorten() -> None:
    texts = {
        "a1": "The new AI reads every letter that the old clerks of the harbour wrote by hand.",
        "a2": "Nobody expected that tech would change the work of the fishing families so very quickly.",
        "a3": "The cook of the inn by the harbour bakes a dark bread with seeds every morning.",
    }
    found = reply("Are there conversations about artificial intelligence?", chunks(texts))
    assert "The new AI reads" in found
    assert "dark bread" not in found
    assert "tech would change" in reply("Are there conversations about technology?", chunks(texts))


def test_who_speaks_without_any_label_is_answered_with_what_is_said() -> None:
    bare = {name: re.sub(r"(?m)^[A-Z ]+: ", "", text) for name, text in TALKS.items()}
    assert "“The wind farms destroyed" in reply("Which guests speak about wind farms?", chunks(bare))


def test_a_role_takes_the_article_and_a_name_does_not() -> None:
    text = (
        "Project Manager: The remote control should have large rubber buttons for old people.\n"
        "Ada Byron: The remote control must not have more than twelve rubber buttons in all.\n"
        "Project Manager: We agreed on twenty-five euros as the price of the remote control.\n"
        "Ada Byron: That price of the remote control is too high for the young market.\n"
        "Project Manager: I see.\nAda Byron: We agree, then.\n"
    )
    written = reply("Do speakers discuss the remote control?", chunks({"m": text}))
    assert "The Project Manager" in written
    assert "Ada Byron" in written
    assert "The Ada" not in written


def test_sentences_without_a_speaker_are_quoted_without_one() -> None:
    bare = {name: re.sub(r"(?m)^[A-Z ]+: ", "", text) for name, text in TALKS.items()}
    written = reply("Do guests discuss wind farms?", chunks(bare))
    assert re.search(r"\n“[A-Z]", written)
    assert ": “" not in written
    assert "named voice" not in written


def test_quotation_marks_inside_a_sentence_stay_paired() -> None:
    text = 'The forester answered the young clerk: "We planted oaks for the beams of the college."'
    written = reply("What did the forester plant for the beams of the college?", chunks({"f": text}))
    assert written.count('"') % 2 == 0


def test_a_speaker_in_every_report_is_marked_as_a_host_and_not_counted_among_the_guests() -> None:
    guests = "Ann Lee,Bob Ray,Cara Doe,Dan Fox,Eve Hall,Fay Kerr,Gus Lang,Hal Munro".split(",")
    passages = tuple(
        report(
            f"r{i}",
            f"Wind farms {i}",
            5.0,
            3,
            f"{guest}: “Wind farms of number {i} bring the coast a steady income that nobody had foreseen.”",
            f"Kim West: “So the wind farms of place {i} are what everybody on the coast now talks about.”",
        )
        for i, guest in enumerate(guests)
    )
    question = "What do guests say about wind farms?"
    (points,) = rate_inquiries([asked(question, passages, 40)])
    assert any("Kim West (host): “" in s.text for p in points for s in p.statements)
    written = reply(question, as_passages(points), 40)
    assert "(host)" not in written
    assert "Kim West" not in written.splitlines()[0]


def test_documents_are_counted_and_not_their_passages() -> None:
    one, other = "0123456789ab", "ba9876543210"
    texts = {f"{one}aaaaaaaaaaa{i}": TALKS["c1"] for i in range(4)} | {f"{other}bbbbbbbbbbbb": TALKS["c1"]}
    assert "two of the nine documents speak of wind farms" in reply("Do guests discuss wind farms?", chunks(texts), 9)


def test_what_only_holds_a_part_of_the_question_is_said_to() -> None:
    written = reply("Do guests discuss the role of the winter in museums?")
    assert written.startswith("Only in part")


def test_a_thing_that_a_question_compares_with_is_counted() -> None:
    entities = tuple(
        Passage(
            "entity", f"e{i}", text, title=name, quotes=(Description(text, Source(f"c{i}", 0, len(text))),), documents=n
        )
        for i, (name, n, text) in enumerate(
            [
                ("wind farms", 30, "The wind farms destroyed the bird colonies along the whole of the northern coast."),
                ("museum", 12, "The harbour museum opened with a collection of boats that families had kept."),
            ]
        )
    )
    question = "How often do wind farms come up compared to other topics?"
    (points,) = rate_inquiries([asked(question, entities, 40)])
    assert reply(question, as_passages(points), 40).startswith(
        "Wind farms is named in 30 of the 40 documents, beside museum (12)"
    )


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("Machine learning is now a tool that they use.", "machine learning is now a tool that they use"),
        ("I think robots are going to change all of my old town.", ""),
        ("I believe that robots are changing every town on the coast.", "robots are changing every town on the coast"),
        ("NASA needs a new kind of rocket for the moon.", "NASA needs a new kind of rocket for the moon"),
        ("It is a wonderful thing for all of the children.", ""),
        (
            "We can build far better machines with far less power.",
            "we can build far better machines with far less power",
        ),
        ("We spend a lot of time just reading the papers.", ""),
        ("Grace has worked on compilers for more than thirty years.", ""),
        ("Is machine learning now a tool that everybody uses?", ""),
        ("Windräder liefern den Dörfern an der Küste den Strom.", ""),
    ],
)
def test_a_sentence_is_reported_only_where_it_stays_true_word_for_word(text: str, clause: str) -> None:
    assert make_general_clause(text) == clause


def test_an_empty_context_finds_nothing() -> None:
    assert answer_inquiries([asked("What are the main themes?", ())])[0].statements[0].sources == ()
    assert rate_inquiries([asked("What are the main themes?", ())]) == [()]


def test_answers_come_in_the_order_of_the_questions() -> None:
    both = answer_inquiries([asked(QUESTIONS[0]), asked(QUESTIONS[2])])
    assert both == [compose_answer(asked(QUESTIONS[0])), compose_answer(asked(QUESTIONS[2]))]


def test_chinese_text_is_found_by_pairs_of_characters() -> None:
    texts = {
        "z1": "风力发电场给沿海的村庄带来了收入和工作，居民们都很满意。港口博物馆收藏了许多渔船。",
        "z2": "有些居民说风力发电场的噪音影响了他们的睡眠，而且鸟类也离开了海岸地区。",
    }
    draft = compose_answer(asked("风力发电场的噪音", chunks(texts)))
    spans = [texts[s.chunk][s.start : s.end] for statement in draft.statements for s in statement.sources]
    assert any("噪音" in span for span in spans)
    assert not any("博物馆" in span for span in spans)


def test_a_chinese_text_is_summarised_in_its_own_sentences() -> None:
    text = "风力发电场给沿海的村庄带来了收入和工作，居民们都感到很满意。港口博物馆收藏了许多古老的渔船和船长的信件。"
    draft = compose_answer(asked("Summarize the meeting.", chunks({"z": text})))
    assert any("风力发电场" in s.text for s in draft.statements if s.sources)


def test_german_text_breaks_nothing() -> None:
    texts = {"g1": "Die Windräder an der Küste liefern seit Jahren den Strom für die kleinen Dörfer."}
    assert "Windräder" in reply("Was liefern die Windräder an der Küste?", chunks(texts))


words = st.sampled_from(
    "wind farm coast museum boat school child energy the a of and is was Ann Lee: not good bad 1990 .".split()
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(words, max_size=40).map(" ".join), max_size=4), st.sampled_from(QUESTIONS))
def test_any_text_gives_spans_inside_its_own_chunk(texts: list[str], question: str) -> None:
    passages = chunks({f"t{i}": t for i, t in enumerate(texts)})
    for draft in (compose_answer(asked(question, passages)), *rate_inquiries([asked(question, passages)])[0]):
        for statement in draft.statements:
            for source in statement.sources:
                assert 0 <= source.start < source.end <= len(texts[int(source.chunk[1:])])


@pytest.mark.slow
def test_equal_questions_give_equal_bytes_under_any_hash_seed() -> None:
    program = (
        "from tests.engines.test_answering import *\n"
        "print(repr([compose_answer(asked(q)) for q in QUESTIONS]))\n"
        "print(repr(rate_inquiries([asked(q, REPORTS) for q in QUESTIONS])))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ".:tests"},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Which satellites orbit Neptune?", "“satellites”, “orbit” and “Neptune” stand nowhere in them."),
        ("What is quantum chromodynamics?", "“quantum” and “chromodynamics” stand nowhere in them."),
    ],
)
def test_an_answer_that_is_none_names_the_words_that_stand_nowhere(asked: str, told: str) -> None:
    draft = compose_answer(Inquiry(asked, Context(chunks())))
    assert draft.abstained
    assert text_of(draft) == f"The sources do not answer this. {told}"
    assert [s.sources for s in draft.statements] == [()]


def test_what_comes_nearest_is_shown_where_something_is_near() -> None:
    draft = compose_answer(Inquiry("Did Portugal open the museum?", Context(chunks())))
    assert draft.abstained
    nothing, nearest = draft.statements
    assert "“Portugal” stands nowhere in them." in nothing.text
    assert nearest.text.startswith("\n\nWhat comes nearest: ")
    assert "museum" in nearest.text.lower()
    assert len(nearest.sources) == 1
    far = compose_answer(Inquiry("Did Portugal tax the museum of satellites?", Context(chunks())))
    assert text_of(far).endswith("stand nowhere in them.")  # one word of four is not near
