import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.engines.offline.reports.community import read_community as seen
from sensegraph.engines.offline.reports.community_reports import extend_name, report_communities, summarise_contexts
from sensegraph.engines.offline.reports.report_parts import (
    choose_distinct_names,
    find_headline,
    find_link_clause,
    join_title_names,
    mentions_name,
    show_natural_case,
    split_title,
)
from sensegraph.engines.offline.reports.sentence_quality import introduces_person, rate_generality, stem_text
from sensegraph.types import Context, Description, Passage, Source

# Sentences of several chunks: (chunk, text); each entity and relation quotes those that hold its names.
SAID = [
    ("c1", "And so, you know, the spike protein binds to a receptor on the surface of the cell."),
    ("c1", "Researchers designed a small protein that blocks the virus before it enters the cell."),
    ("c1", "Kevin Scott: The sequence of a protein determines its structure in three dimensions."),
    ("c2", "Ann Lee is a professor of biology and director of the protein institute at Harvard."),
    ("c2", "A new vaccine teaches the immune system to recognise the virus within two weeks."),
    ("c2", "Welcome to the show, where we talk about the virus and the vaccine with our guest."),
    ("c3", "The virus mutates quickly, so that every vaccine needs a new sequence each winter."),
    ("c3", "Computers predict the structure of a protein from its sequence within an hour."),
    ("c3", "Did the virus change the vaccine and the protein?"),
    ("c4", "Most of the cost of a vaccine is the trial that shows it to be safe for children."),
]
NAMES = ["protein", "virus", "vaccine", "cell", "sequence", "structure"]


def span(i):
    return Source(SAID[i][0], 100 * i, 100 * i + len(SAID[i][1].removeprefix("Kevin Scott: ")))


def quotes(*names, said=SAID):
    return tuple(
        Description(text, Source(chunk, 100 * i, 100 * i + len(text.removeprefix("Kevin Scott: "))))
        for i, (chunk, text) in enumerate(said)
        if all(name in text.casefold() for name in names)
    )


def community(names=NAMES, said=SAID, claims=()):
    entities = [
        Passage("entity", f"e{i}", "", float(len(names) - i), name, (), quotes(name, said=said), documents=3)
        for i, name in enumerate(names)
    ]
    relations = [
        Passage("relation", f"r-{a}-{b}", "", float(len(found)), f"{a} — {b}", (), found)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if (found := quotes(a, b, said=said))
    ]
    return Context((*entities, *relations, *claims), ", ".join(names[:3]))


def written(found):
    return [*found.summary, *(s for f in found.findings for s in f.statements)]


@pytest.fixture(scope="module")
def made():
    return report_communities([community()])[0]


def test_every_statement_leads_to_the_span_that_it_shows(made):
    spans = {span(i): text for i, (_, text) in enumerate(SAID)}
    assert len(written(made)) > 3
    for statement in written(made):
        (source,) = statement.sources
        words = set(statement.text.casefold().replace("“", " ").replace("”", " ").split())
        assert len(words & set(spans[source].casefold().split())) >= len(words) - 2


def test_every_statement_refers_to_passages_that_quote_it(made):
    quoted = {p.id: {q.source for q in p.quotes} for p in community().passages}
    assert len(written(made)) > 3
    for statement in written(made):
        assert statement.references
        assert all(statement.sources[0] in quoted[name] for name in statement.references)


def test_no_sentence_is_shown_twice(made):
    shown = [statement.sources for statement in written(made)]
    assert len(shown) > 3
    assert len(shown) == len(set(shown))


def test_a_report_has_a_title_a_summary_and_three_findings(made):
    assert made.title[0].isupper()
    assert sum(name in made.title.casefold() for name in NAMES) >= 2
    assert 2 <= len(made.summary) <= 4
    assert len(made.findings) >= 3
    assert all(f.summary[0].isupper() and len(f.summary.split()) <= 12 for f in made.findings)
    assert len({f.summary for f in made.findings}) == len(made.findings)


def test_greetings_questions_and_introductions_stay_out_of_the_summary(made):
    text = "".join(s.text for s in made.summary)
    assert text
    assert "Welcome" not in text
    assert "?" not in text
    assert "professor" not in text


def test_a_finding_holds_what_its_headline_names(made):
    assert made.findings
    for finding in made.findings:
        terms = set(stem_text(finding.summary, "en"))
        assert all(2 * len(terms & set(stem_text(s.text, "en"))) >= len(terms) for s in finding.statements), finding


def test_a_summary_names_two_strong_members_or_one_and_two_themes(made):
    found = seen(community())
    shown = [q for q in found.quotes if q.sources[0] in [s.sources[0] for s in made.summary]]
    assert shown
    assert len(shown) == len(made.summary)
    assert all(found.central(q) for q in shown)


def test_a_headline_states_what_a_sentence_says(made):
    headlines = [f.summary for f in made.findings]
    assert any(" binds " in h or " determines " in h or " predict " in h or " mutates " in h for h in headlines), (
        headlines
    )


def test_a_speaker_is_named_only_where_the_quote_has_a_label():
    only = Context((Passage("entity", "e", "", 1.0, "protein", (), quotes("protein")),), "protein")
    text = "".join(s.text for s in written(report_communities([only])[0]))
    assert "Kevin Scott: “The sequence of a protein determines its structure in three dimensions.”" in text
    assert text.count("“") == 1


def test_a_label_inside_the_span_of_a_quote_names_nobody():
    text = "Kevin Scott: The sequence of a protein determines its structure."
    entity = Passage("entity", "e", "", 1.0, "protein", (), (Description(text, Source("c1", 0, len(text))),))
    assert report_communities([Context((entity,))])[0].summary[0].text.strip() == text


def test_the_rating_lies_within_its_scale_and_says_its_numbers(made):
    assert 0 <= made.rating <= 10
    assert "6 entities" in made.rating_explanation
    assert "3.0 documents" in made.rating_explanation


def test_more_documents_and_weight_rate_higher(made):
    context = community()
    heavier = tuple(replace(p, documents=p.documents * 4, score=p.score * 4) for p in context.passages)
    assert report_communities([Context(heavier)])[0].rating > made.rating


def test_a_parent_is_rated_no_lower_than_its_sub_report_and_shows_it():
    child = Passage("report", "c-1", "…", 9.5, "Protein, virus and cell", (), quotes("protein"))
    (found,) = report_communities([Context((child, *community(NAMES[2:4]).passages))])
    assert found.rating == 9.5
    assert found.findings[0].summary == "Protein, virus and cell"
    assert found.findings[0].statements[0].references[0] == "c-1"
    assert found.title.startswith("Protein")


def test_large_communities_do_not_all_rate_the_highest():
    context = community()
    tenfold = tuple(replace(p, documents=p.documents * 10, score=p.score * 10) for p in context.passages)
    assert report_communities([Context(tenfold)])[0].rating < 9


def test_a_parent_covers_its_sub_reports_by_weight():
    first = Passage("report", "c1", "", 8.0, "Protein and cell", (), quotes("protein"), 30)
    second = Passage("report", "c2", "", 4.0, "Vaccine and trial", (), quotes("vaccine"), 10)
    (found,) = report_communities([Context((second, first))])
    assert [f.summary for f in found.findings] == ["Protein and cell", "Vaccine and trial"]
    assert {s.references[0] for s in found.summary} == {"c1", "c2"}


def test_a_person_stands_in_no_title_unless_the_community_is_about_that_person():
    said = [*SAID, ("c5", "He is why Ann Lee and the protein institute came to design a small protein first.")]
    assert "Ann" not in report_communities([community([*NAMES, "Ann Lee"], said)])[0].title
    about = [(c, t.replace("protein", "idea of Ann Lee, as she said,")) for c, t in SAID]
    assert "Ann Lee" in report_communities([community(["Ann Lee", "virus"], about[:3] + about[7:8])])[0].title


def test_a_sentence_that_stands_in_several_places_is_shown_once_with_its_places():
    twice = [Description(SAID[0][1], Source(chunk, 0, 80)) for chunk in ("a", "b")]
    (found,) = report_communities([Context((Passage("entity", "e", "", 1.0, "protein", (), tuple(twice)),))])
    assert [{s.chunk for s in x.sources} for x in written(found)] == [{"a", "b"}]


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_the_order_of_the_passages_changes_nothing(seed):
    passages = list(community().passages)
    random.Random(seed).shuffle(passages)
    mixed = report_communities([Context(tuple(passages))])[0]
    same = report_communities([community()])[0]
    assert [s.sources for s in written(mixed)] == [s.sources for s in written(same)]
    assert (mixed.title, mixed.rating) == (same.title, same.rating)


def test_reports_come_back_in_the_order_of_their_contexts():
    first, second = community(), community(NAMES[2:])
    assert report_communities([first, second]) == [*report_communities([first]), *report_communities([second])]
    assert report_communities([]) == []


def test_one_entity_with_one_sentence_is_reported():
    (found,) = report_communities(
        [Context((Passage("entity", "e", "", 1.0, "virus", (), quotes("mutates")),), "virus")]
    )
    assert found.title == "Virus"
    assert found.summary[0].references == ("e",)


def test_a_passage_without_quotes_is_shown_by_its_text():
    plain = Passage("entity", "e", "A virus is a very small thing that enters living cells.", 1.0, "virus", (span(1),))
    (found,) = report_communities([Context((plain,))])
    assert found.summary[0].text.startswith("A virus is a very small thing")
    assert found.summary[0].sources == (span(1),)


def test_an_empty_context_gives_a_report_without_statements():
    (found,) = report_communities([Context((), "nothing here")])
    assert (found.title, found.summary, found.findings) == ("nothing here", (), ())


def test_claims_make_findings_where_relations_do_not():
    claim = Passage("claim", "k1", "protein | cost | TRUE", 0.0, "trial", (), quotes("vaccine"))
    (found,) = report_communities([Context((Passage("entity", "e", "", 1.0, "virus", (), quotes("mutates")), claim))])
    assert "k1" in [f.statements[0].references[0] for f in found.findings]


GERMAN = [
    ("c1", "Die Universität wurde im Jahr 1810 in der Stadt Berlin von dem König gegründet."),
    ("c1", "Der König hat der Stadt Berlin eine neue Bibliothek und einen Garten geschenkt."),
    ("c2", "In der Bibliothek der Universität sind heute mehr als sechs Millionen Bücher."),
    ("c2", "Die Stadt Berlin ist nicht nur für die Universität bekannt, sondern auch für den Garten."),
]


def test_a_german_report_holds_no_english():
    (found,) = report_communities([community(["berlin", "universität", "bibliothek", "könig"], GERMAN)])
    text = " ".join([found.title, *(f.summary for f in found.findings), *(s.text for s in written(found))])
    assert not {"and", "the", "of"} & set(text.casefold().split())
    assert len(found.findings) >= 1
    assert "Berlin" in found.title


def test_a_chinese_report_shows_whole_sentences():
    said = [("c1", "北京是中国的首都也是全国的政治文化中心。"), ("c2", "长城位于北京的北部是中国最有名的古代建筑。")]
    (found,) = report_communities([community(["北京", "中国", "长城"], said)])
    assert all(s.text.strip() in {text for _, text in said} for s in written(found))
    assert "and" not in found.title


# ── descriptions ──


def described(name, *texts):
    return summarise_contexts([Context(tuple(Passage("entity", "e", text, title=name) for text in texts), name)])[0]


def test_what_says_what_a_thing_is_comes_first():
    text = described(
        "Kafka",
        "LinkedIn moved all of its streams of events to Kafka within one year.",
        "So, um, Kafka is a distributed log that keeps streams of events in order.",
        "Every team at the company now reads its events from Kafka without asking.",
    )
    assert text.startswith("Kafka is a distributed log")


def test_a_description_has_three_sentences_at_most_and_no_repeats():
    said = [text for _, text in SAID]
    text = described("virus", *said, *said)
    assert "virus" in text
    assert sum(one in text for one in ("binds", "blocks", "determines", "teaches", "mutates", "predict", "cost")) <= 3
    assert text.count("virus") <= 3


def test_a_single_poor_description_is_kept():
    assert described("Kafka", "yeah, Kafka") == "Kafka"


def test_nothing_to_describe_gives_the_name():
    assert summarise_contexts([Context((), "Kafka")]) == ["Kafka"]


# ── titles and headlines ──


@pytest.mark.parametrize(
    ("sentence", "headline"),
    [
        ("I think that the spike protein binds to a receptor.", "The spike protein binds to a receptor"),
        ("What we learned is that LinkedIn made it easy to open source Kafka.", ""),
        ("It turns out that proteins block the virus in the cell.", "Proteins block the virus in the cell"),
        ("If proteins block the virus, the cell survives.", ""),
        ("I don't think that proteins block the virus.", ""),
        ("It binds the protein to the cell.", ""),
        ("To bind a protein is hard.", ""),
        ("Does the protein block the virus", ""),
    ],
)
def test_a_clause_stands_alone_or_is_not_taken(sentence, headline):
    assert find_headline(sentence, ["protein", "proteins"], "en")[1] == headline


def test_a_clause_is_never_cut_before_what_could_reverse_it():
    long = "The protein blocks the virus in the cells of mice and rats and men only if it is given at once."
    assert find_headline(long, ["protein"], "en")[1] == ""


def test_subject_verb_and_object_are_read_between_two_names():
    assert find_link_clause("Later that year Intel bought the small firm Altera for cash.", "Intel", "Altera") == ""
    assert find_link_clause("Then Scrooge visited Fred.", "Fred", "Scrooge") == "Scrooge visited Fred"
    assert find_link_clause("She never said that Scrooge visited Fred.", "Scrooge", "Fred") == ""


@given(st.text(max_size=80), st.sampled_from(["a", "protein", "virus"]))
def test_a_clause_is_short_and_in_the_sentence(sentence, name):
    merit, shown = find_headline(sentence, [name], "en")
    assert (merit > 0) == bool(shown)
    assert len(shown.split()) <= 12


def test_names_are_written_as_in_the_text():
    texts = ["They went to School and to school, then the school closed."]
    assert show_natural_case("School", texts) == "school"
    assert show_natural_case("Berlin", ["In Berlin it rains."]) == "Berlin"


def test_a_name_grows_by_the_word_that_mostly_follows_it():
    texts = [
        "Machine learning is hard.",
        "Of machine learning we know.",
        "Machine learning it is.",
        "Machine learning.",
    ]
    assert extend_name("machine", texts) == "machine learning"
    assert extend_name("machine", [*texts[:2], "A machine.", "The machine is."]) == "machine"


def test_an_abbreviation_is_not_listed_beside_what_it_stands_for():
    assert choose_distinct_names(["AI", "artificial intelligence", "data"], 3, "en") == ["AI", "data"]


@given(st.lists(st.sampled_from(["protein", "virus", "spike protein", "AI"]), min_size=1, max_size=4, unique=True))
def test_the_names_of_a_title_are_found_again(names):
    assert [name.casefold() for name in split_title(join_title_names(names, "en"))] == [
        name.casefold() for name in names
    ]


def test_names_are_found_as_whole_words_and_in_the_plural():
    assert mentions_name("Two proteins bind.", "protein")
    assert not mentions_name("Two proteinases bind.", "protein")
    assert mentions_name("我在北京。", "北京")


def test_names_that_share_a_stem_are_listed_once():
    assert choose_distinct_names(["protein", "proteins", "2019", "virus"], 3, "en") == ["protein", "virus"]


def test_titles_have_english_words_in_english_only():
    assert join_title_names(["boom", "bust"], "en") == "Boom and bust"
    assert join_title_names(["Bibliothek", "König"], "de") == "Bibliothek, König"
    assert join_title_names(["北京", "长城"], "zh") == "北京、长城"
    assert join_title_names(["protein", "virus", "cell"], "en") == "Protein, virus and cell"
    assert join_title_names([], "en") == ""


@pytest.mark.parametrize(
    ("general", "personal"),
    [
        ("Every vaccine needs a trial because children must be safe.", "I remember when we started with vaccines."),
        ("A culture of innovation is hard to build.", "My first job was in a culture of innovation."),
        ("Models need more data than people do.", "You mentioned that models need more data."),
        ("The key is to test the code early.", "They were like, this code is the key."),
        ("Schools prepare students for work.", "In 2015 Drew helped launch two schools at MIT and Stanford."),
    ],
)
def test_what_holds_in_general_is_told_from_what_once_happened(general, personal):
    assert rate_generality(general) >= 0.9 > 0.6 > rate_generality(personal)


def test_other_languages_are_not_judged_by_english_cues():
    assert rate_generality("Ich war damals in Berlin.", "de") == 1.0


@pytest.mark.parametrize(
    ("sentence", "presents"),
    [
        ("Percy is an associate professor of computer science at Stanford.", True),
        ("She received her Ph.D. from MIT.", True),
        ("That was Kevin's conversation with a writer.", True),
        ("The protein is a chain of acids.", False),
        ("Computers predict structures.", False),
    ],
)
def test_introductions_of_people_are_known(sentence, presents):
    assert introduces_person(sentence) is presents
