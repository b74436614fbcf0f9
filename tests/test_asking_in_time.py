"""Questions about a time are answered from what held then, offline, by every method (N90; valid time §4, §8)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asked_in_time import PARTS, officeholders
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError, NotIndexed
from sensegraph.language.dates.intervals import holds_during, span_through
from sensegraph.methods import METHODS
from sensegraph.questions import Scope

ASKED = [
    ("Who was chief executive of Nordwind in 2007?", "Anna Berg", ("Bo Lind", "Cora Dahl")),
    ("Who was chief executive of Nordwind in 2015?", "Bo Lind", ("Anna Berg", "Cora Dahl")),
    ("Who is chief executive of Nordwind now?", "Cora Dahl", ("Anna Berg", "Bo Lind")),
    ("What was the capital of Norland in 2000?", "Altstad", ("Ostby became",)),
    ("What was the capital of Norland in 2012?", "Ostby became the capital", ("Altstad became",)),
    ("Who was mayor of Ostby in 2005?", "Dora Frey", ("Emil Gran", "Frida Holm")),
    ("Who was mayor of Ostby in 2013?", "Emil Gran", ("Dora Frey", "Frida Holm")),
    ("Who was mayor of Ostby in 2018?", "Frida Holm", ("Dora Frey", "Emil Gran")),
    ("What was the toll of the Arn Bridge in 2008?", "2 crowns", ("4 crowns",)),
    ("What was the toll of the Arn Bridge in 2015?", "4 crowns", ("2 crowns",)),
    ("Who was director of the Sea Museum in 2015?", "director of the Sea Museum", ()),
    ("Wer war Leiter des Hafenamts im Jahr 2016?", "Karl Moos", ("Lena Nord",)),
    ("Who was keeper of the lighthouse of Ostby in 2015?", "Olaf Prin", ()),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with officeholders(tmp_path_factory.mktemp("time")) as made:
        yield made


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with officeholders(tmp_path_factory.mktemp("whole"), parts=PARTS) as made:
        yield made


@pytest.mark.parametrize("method", ["local", "auto"])
@pytest.mark.parametrize(("question", "wanted", "others"), ASKED)
def test_the_answer_is_what_held_then(
    corpus: Corpus, method: str, question: str, wanted: str, others: tuple[str, ...]
) -> None:
    answer = corpus.query(question, method=method)
    assert wanted in answer.text
    assert not [name for name in others if name in answer.text]
    assert any(note.startswith("facts as of") for note in answer.notes)


def read_by(corpus: Corpus, question: str, method: str, scope: Scope) -> list[str]:
    """All texts of an answer and of the evidence for it."""
    answer = corpus.query(question, method=method, scope=scope)
    passages = (*corpus.search(question, method=method, scope=scope, top=50).passages, *answer.evidence.passages)
    return [answer.text, *(p.text for p in passages), *(q.text for p in passages for q in p.quotes)]


@pytest.mark.parametrize("question", ["Who was chief executive of Nordwind?", "What are the main themes?"])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_reads_only_what_may_have_held_then(whole: Corpus, method: str, question: str) -> None:
    texts = read_by(whole, question, method, Scope(as_of="2015"))
    assert texts
    assert not [t for t in texts if "Anna Berg became" in t or "Cora Dahl became" in t]


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"graphrag", "ts", "graft"}))  # these read reports
def test_every_method_that_looks_for_facts_finds_the_one_that_held_then(whole: Corpus, method: str) -> None:
    texts = read_by(whole, "Who was chief executive of Nordwind?", method, Scope(as_of="2015"))
    assert any("Bo Lind became" in t for t in texts)


@pytest.mark.parametrize(
    ("question", "all_times"),
    [
        ("Who was chief executive of Nordwind in 2015?", True),  # what ended and began tells who held it
        ("What did Nordwind do in 2015?", False),
    ],
)
def test_where_the_answer_is_found_by_its_dates_what_is_of_other_times_is_read_too(
    corpus: Corpus, question: str, all_times: bool
) -> None:
    passages = corpus.query(question, method="local").evidence.passages
    assert passages
    assert any("Anna Berg became" in p.text for p in passages) is all_times


def test_quotes_are_the_documents_own_words_all_the_same(corpus: Corpus) -> None:
    answer = corpus.query("Who was chief executive of Nordwind in 2015?", method="local")
    assert answer.citations
    for c in answer.citations:
        assert c.quote == corpus.index().document(c.document).text[c.start : c.end]


def test_a_disputed_fact_is_told_with_what_is_said_against_it(corpus: Corpus) -> None:
    answer = corpus.query("Who was director of the Sea Museum in 2015?", method="local")
    said = answer.text + " ".join(n for n in answer.notes if "disputed" in n)
    assert "Gerda Ivers became" in said
    assert "Hugo Jahn became" in said
    assert "is disputed" in said


def test_what_states_no_date_is_marked_or_left_out(corpus: Corpus) -> None:
    asked = "Who is keeper of the lighthouse of Ostby?"
    marked = corpus.query(asked, method="local", scope=Scope(as_of="2015"))
    assert any("not say whether it held then" in n for n in marked.notes)
    left = corpus.query(asked, method="local", scope=Scope(as_of="2015", unknown="exclude"))
    assert "Olaf Prin" not in left.text


@pytest.mark.parametrize(("cut", "said"), [(1, "1 report rests in part"), (2, "2 reports rest in part")])
def test_reports_that_rest_on_other_times_are_counted(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, cut: int, said: str
) -> None:
    from sensegraph.index.restricted.moment import TimedIndex, restrict_to_time

    inside = restrict_to_time(corpus.index(), Scope(as_of="2015"))
    assert isinstance(inside, TimedIndex)
    monkeypatch.setattr(TimedIndex, "_marked", lambda _: cut)
    assert not any("on facts of other times" in note for note in inside.notes())  # no report was read
    assert inside.hierarchy.clusters
    assert any(note.startswith(f"{said} on facts of other times") for note in inside.notes())


def test_a_stretch_reads_all_that_held_in_it(corpus: Corpus) -> None:
    found = " ".join(read_by(corpus, "Who was mayor of Ostby?", "naive", Scope(between=("2009", "2013"))))
    assert "Dora Frey" in found
    assert "Emil Gran" in found
    assert "In 2017 Frida Holm" not in found


def test_the_filter_comes_before_the_ranking(corpus: Corpus) -> None:
    for method in ("local", "naive"):
        found = corpus.search("mayor of Ostby", method=method, scope=Scope(as_of="2018"), top=1)
        whole = corpus.search("mayor of Ostby", method=method, scope=Scope(as_of="2018"), top=50)
        assert found.passages == whole.passages[:1]


def test_relations_and_claims_of_other_times_are_gone_and_entities_stay_where_something_names_them(
    corpus: Corpus,
) -> None:
    from sensegraph.index.restricted.moment import restrict_to_time

    then = restrict_to_time(corpus.index(), Scope(as_of="2015")).graph
    said = [d.text for e in (*then.entities, *then.relations) for d in e.descriptions]
    assert not [t for t in said if "Anna Berg became" in t]
    assert not [c for c in then.claims if "Anna Berg became" in c.description]
    assert "Nordwind" in {e.name for e in then.entities}


def test_what_a_model_wrote_of_a_whole_chunk_is_dated_by_its_own_words() -> None:
    from sensegraph.index.restricted.dates import Dates
    from sensegraph.index.restricted.moment import spans_of
    from sensegraph.language.dates.stated_dates import When
    from sensegraph.types import Description, Source

    spans = spans_of(Dates(), When("2015", "2015"))
    strict = spans_of(Dates(), When("2015", "2015", unknown="exclude"))
    chunk = Source("c", 0, 2_000)
    texts = ("She led it from 2004 to 2011.", "She became its head in 2011.", "She led it.")
    assert [spans.elsewhere(Description(t, chunk)) for t in texts] == [True, False, False]
    assert [strict.elsewhere(Description(t, chunk)) for t in texts] == [True, False, True]


def test_what_a_model_says_of_the_time_of_a_relation_or_claim_counts_more_than_the_words() -> None:
    from sensegraph.index.restricted.dates import Dates
    from sensegraph.index.restricted.moment import spans_of
    from sensegraph.language.dates.stated_dates import When
    from sensegraph.types import Claim, Description, Source

    spans = spans_of(Dates(), When("2015", "2015"))
    strict = spans_of(Dates(), When("2015", "2015", unknown="exclude"))
    place = Source("c", 0, 40)
    dates = [("2004", "2011"), ("2004", ""), ("2016", ""), ("", "2014"), ("", "2020")]
    said = [Description("She led it in 1999.", place, *d) for d in dates]
    claims = [Claim("k", "e", "none", "t", "TRUE", "She led it.", *d, place) for d in dates]
    assert [spans.elsewhere(d) for d in said] == [spans.beyond(c) for c in claims] == [True, False, True, True, False]
    assert [strict.elsewhere(d) for d in said] == [strict.beyond(c) for c in claims] == [True, False, True, True, True]


def test_a_model_is_asked_for_dates_where_that_is_set_and_they_are_the_filter(tmp_path: Path) -> None:
    from scripted import ScriptedServer
    from sensegraph.types import Document
    from wired import corpus as over

    text = "Mara Voss led Lindholm Ferries from 2004 to 2011. Joss Quay led Lindholm Ferries from 2012 to 2019."
    with ScriptedServer() as server, over(tmp_path, server, model={"max_gleanings": 0, "dates": True}) as corpus:
        corpus.add([Document("ferries", text)])
        corpus.build()
        found = {d.text[:4]: (d.starts, d.ends) for r in corpus.index().graph.relations for d in r.descriptions}
        assert found == {"Mara": ("2004", "2011"), "Joss": ("2012", "2019")}
        evidence = corpus.search("Who led Lindholm Ferries?", method="local", scope=Scope(as_of="2015"))
        told = " ".join(p.text for p in evidence.passages)
        assert "Joss" in told
        assert "Mara" not in told


def test_tuples_have_no_place_for_dates() -> None:
    from sensegraph.engines.llm.llm_settings import LLMSettings
    from sensegraph.errors import SettingsError

    with pytest.raises(SettingsError, match="dates needs"):
        LLMSettings(dates=True, extraction_format="tuple")


def test_dates_that_say_which_thing_is_meant_are_no_filter(corpus: Corpus) -> None:
    for asked in ("Who runs the bridge built in 1890?", "When did Norland join the Coast League?", "Who is Bo Lind?"):
        answer = corpus.query(asked, method="local")
        assert answer.text
        assert not any(n.startswith("facts") for n in answer.notes)


def test_an_own_time_outranks_the_question_and_two_times_are_an_error(corpus: Corpus) -> None:
    asked = "Who was chief executive of Nordwind in 2015?"
    assert "Anna Berg" in corpus.query(asked, method="local", scope=Scope(as_of="2007")).text
    with pytest.raises(InputError, match="not for both"):
        corpus.query(asked, scope=Scope(as_of="2007", between=("2001", "")))


def test_a_stretch_that_is_turned_round_is_an_error_and_one_within_a_year_is_none(corpus: Corpus) -> None:
    asked = "Who was chief executive of Nordwind?"
    for read in (corpus.query, corpus.search, lambda _, scope: corpus.match("(a)", scope=scope)):
        with pytest.raises(InputError, match="2009 is before 2013; give the earlier moment first"):
            read(asked, scope=Scope(between=("2013", "2009")))
    assert "Anna Berg" in corpus.query(asked, method="local", scope=Scope(between=("2007-05", "2007"))).text
    with pytest.raises(InputError, match="earlier moment first"):
        corpus.timeline("Nordwind", since="2012", until="2000")


def test_without_dates_in_the_index_a_time_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"index": {"temporal": {"dates": False}}}) as corpus:
        corpus.add(Path(__file__).parent / "data" / "officeholders" / "documents.jsonl")
        corpus.build()
        with pytest.raises(NotIndexed, match=r"index\.temporal\.dates"):
            corpus.query("Who was mayor of Ostby?", scope=Scope(as_of="2015"))
        assert corpus.query("Who was mayor of Ostby in 2015?").text


def test_without_functional_types_nothing_closes_anything(tmp_path: Path) -> None:
    with officeholders(tmp_path, functional=[]) as corpus:
        found = " ".join(read_by(corpus, "Who was chief executive of Nordwind?", "naive", Scope(as_of="2015")))
        assert "Anna Berg became" in found
        assert "Bo Lind became" in found
        assert "Cora Dahl became" not in found


# ── time line and changes ──


def test_a_time_line_tells_each_fact_with_its_interval_and_its_place(corpus: Corpus) -> None:
    events = corpus.timeline("Nordwind")
    assert [e.when for e in events[:3]] == ["2004 – before 2011-03", "2011-03 – before 2018-09-01", "since 2018-09-01"]
    assert "Bo Lind became" in events[0].ended_by
    for e in events:
        assert corpus.index().document(e.document).text[e.start : e.end] == e.text
    assert [e.text for e in corpus.timeline("Nordwind", until="2003")] == []


def test_changes_between_two_moments(corpus: Corpus) -> None:
    found = corpus.changes("2010", "2012")
    changed = [(c.before.text, c.after.text) for c in found if c.what == "changed" and c.before and c.after]
    assert [(a[:17], b[:20]) for a, b in changed] == [("In 2004 Anna Berg", "In March 2011 Bo Lin")]
    assert "Since 2012 the toll of the Arn Bridge is 4 crowns." in [c.after.text for c in found if c.after]
    with pytest.raises(InputError, match="earlier moment first"):
        corpus.changes("2012", "2010")


@pytest.mark.parametrize("moment", ["2009", "2009-07-01", "2011-03", "2026"])
def test_nothing_changes_between_a_moment_and_itself(corpus: Corpus, moment: str) -> None:
    assert corpus.changes(moment, moment) == []


def test_what_began_holds_only_after_and_what_ended_only_before(corpus: Corpus) -> None:
    from sensegraph.index.restricted.moment import dates_of

    facts = {f.text: f for f in dates_of(corpus.index()).facts}
    changes = corpus.changes("2008", "2014")
    assert {"began", "ended"} <= {change.what for change in changes}
    assert len(changes) > 1
    for change in changes:
        if change.after and change.what in ("began", "changed"):
            assert holds_during(facts[change.after.text].interval, span_through("2008", "2008")) is False
        if change.before and change.what in ("ended", "changed"):
            assert holds_during(facts[change.before.text].interval, span_through("2014", "2014")) is False


# ── updates ──


def facts_of(corpus: Corpus) -> list[tuple[object, ...]]:
    from sensegraph.index.restricted.moment import dates_of

    return [(f.id, f.starts, f.ends, f.disputed, f.superseded_by) for f in dates_of(corpus.index()).facts]


@pytest.mark.slow
def test_taking_a_document_out_and_putting_it_back_gives_the_same_intervals(tmp_path: Path) -> None:
    with officeholders(tmp_path) as corpus:
        before, document = facts_of(corpus), corpus.index().document("nordwind-2011")
        corpus.remove("nordwind-2011")
        corpus.build()
        assert ("2004 – before 2018-09-01") in [e.when for e in corpus.timeline("Nordwind")]
        corpus.add(document)
        corpus.build()
        assert facts_of(corpus) == before


def test_what_was_not_known_yet_is_not_read(tmp_path: Path) -> None:
    from sensegraph.index.restricted.arrivals import note_arrivals, read_arrivals

    with officeholders(tmp_path) as corpus:
        entries = corpus.index().catalogue.documents
        assert {v[-1].key for v in read_arrivals(corpus.store).values()} == {d.key for d in entries}
        corpus.store.set_refs(dict.fromkeys(corpus.store.refs("arrival/")))
        note_arrivals(corpus.store, [d for d in entries if d.id != "nordwind-2018"], "2020-01-01T00:00:00Z")
        note_arrivals(corpus.store, entries, "2021-01-01T00:00:00Z")
        asked, early = "Who is chief executive of Nordwind?", Scope(known_at="2020-06")
        assert "Cora Dahl" not in corpus.query(asked, method="local", scope=early).text
        assert "Cora Dahl" in corpus.query(asked, method="local", scope=Scope(known_at="2021")).text
        before = corpus.query(asked, method="local", scope=early)
        assert any(n.startswith("known at 2020-06: 15 of 16 documents") for n in before.notes)
        corpus.build()
        again = corpus.query(asked, method="local", scope=early)
        assert (again.text, again.citations) == (before.text, before.citations)
        with pytest.raises(InputError, match="the first came 2020-01-01"):
            corpus.query(asked, scope=Scope(known_at="2019"))
