"""Reports that somebody else wrote are told as they stand where the engine quotes: of an imported index above all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import little_tables
from sensegraph.cli.options import find_record_files
from sensegraph.cli.show import format_cited
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.views import view_answer
from sensegraph.graphs.interchange.importing import import_tables
from sensegraph.graphs.interchange.table_files import read_tables
from sensegraph.methods.graphrag.told_reports import NOTE, choose_findings, list_findings
from sensegraph.retrieval.signals import asks_to_be_told
from sensegraph.types import Answer, Cluster, Finding, Source, Statement

FIRST, SECOND = Source("c1", 0, 4), Source("c2", 5, 9)


def report(name: str, *findings: tuple[str, str], rating: float = 5.0, entities: int = 4) -> Cluster:
    told = tuple(Finding(head, (Statement(text, ("e",), (FIRST,)),)) for head, text in findings)
    members = tuple(f"{name}{i}" for i in range(entities))
    return Cluster(name, 0, 0, "", members, members, title=f"Report {name}", findings=told, rating=rating)


def heads(*clusters: Cluster, wanted: set[str], listed: frozenset[str] = frozenset()) -> list[str]:
    found, _ = choose_findings([f for c in clusters for f in list_findings(c)], frozenset(wanted), listed)
    return [f.headline for f in found]


LAMP = report("lamp", ("The lamp of Arle", "Ada trims the wick."), ("Barley", "It is sold at noon."))
MILL = report("mill", ("The mill", "It grinds barley."), ("Wages", "They are low at the mill."))


def test_findings_are_chosen_by_the_wanted_words_and_headlines_count_most() -> None:
    assert heads(LAMP, MILL, wanted={"barley"}) == ["Barley", "The mill"]
    assert heads(LAMP, MILL, wanted={"lamp"})[0] == "The lamp of Arle"


def test_nothing_is_told_where_the_reports_hold_too_little_of_what_is_wanted() -> None:
    assert heads(LAMP, MILL, wanted={"submarin"}) == []
    assert heads(wanted=set()) == []


def test_without_wanted_words_the_weightiest_reports_tell_one_finding_each() -> None:
    great, small = report("g", ("Great", "One."), ("More", "Two."), rating=8.0, entities=40), MILL
    assert heads(small, great, wanted=set()) == ["Great", "The mill"]


def test_a_report_on_many_entities_comes_before_one_that_is_rated_higher() -> None:
    """The weights are 9.0 · (1 + log 4 / log 16) / 2 = 6.75 of the small one, and its rating of the great one."""
    small = report("s", ("Small", "One."), rating=9.0, entities=3)
    for rating, first in ((6.74, "Small"), (6.76, "Great")):
        great = report("g", ("Great", "Two."), rating=rating, entities=15)
        assert heads(small, great, wanted=set())[0] == first


def test_a_finding_that_repeats_another_is_passed_over() -> None:
    again = report("again", ("The lamp of Arle", "Ada trims the wick."))
    assert heads(LAMP, again, wanted={"arl"}).count("The lamp of Arle") == 1


def test_a_short_finding_of_which_half_stands_in_a_long_one_repeats_it() -> None:
    long = report("long", ("The lamp of Arle", "Ada trims the wick of a tall light with oil from the north."))
    short = report("short", ("The lamp", "It shines."))
    assert heads(long, short, wanted={"lamp"}) == ["The lamp of Arle"]
    other = report("other", ("The lamp", "It shines over quiet water."))
    assert heads(long, other, wanted={"lamp"}) == ["The lamp of Arle", "The lamp"]


def test_where_things_are_listed_only_reports_on_them_speak() -> None:
    assert heads(LAMP, MILL, wanted=set(), listed=frozenset({"mill1"})) == ["The mill"]


def test_a_sentence_has_the_spans_that_stand_behind_it_and_else_those_before() -> None:
    statements = (
        Statement("Ada keeps it ", ("e",), (FIRST,)),
        Statement("and Bo helps her. ", ("e",), (SECOND,)),
        Statement("Nobody knows why."),
    )
    cluster = Cluster("c", 0, 0, "", ("e",), ("e",), findings=(Finding("The lamp", statements),))
    (found,) = list_findings(cluster)
    assert [(s.text, s.sources) for s in found.sentences] == [
        ("Ada keeps it and Bo helps her.", (FIRST,)),
        ("Nobody knows why.", (SECOND,)),
    ]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How does Ada change?", True), ("What role do the spirits play?", True), ("Why does Bram sail?", True),
        ("What is the significance of the lamp?", True), ("Who are the main characters?", True),
        ("Describe the harbour.", True), ("How many boats are there?", False), ("Who keeps the lamp?", False),
        ("What is the name of the boat?", False), ("When did Cora write?", False), ("How old is Ada?", False),
    ],
)  # fmt: skip
def test_a_question_asks_to_be_told_or_for_one_fact(question: str, told: bool) -> None:
    assert asks_to_be_told(question) is told


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("told")
    folder = little_tables.write(little_tables.tables(), root / "tables")
    with Corpus.open(root, settings={"engine": "offline"}) as corpus:
        import_tables(read_tables(folder), corpus.runtime(), corpus.settings.index, corpus.add)
    return root


def ask(root: Path, question: str, **how: object) -> Answer:
    with Corpus.open(root, create=False) as corpus:
        return corpus.query(question, **how)  # type: ignore[arg-type]


def test_an_imported_index_answers_from_its_reports_and_says_whose_prose_it_is(harbour: Path) -> None:
    heard: list[str] = []
    answer = ask(harbour, "What role does the lamp play?", hear=heard.append)
    assert answer.method == "graphrag"
    assert answer.text.startswith("From the index’s reports, which somebody else wrote")
    assert "**The lamp.** Ada keeps it" in answer.text
    assert NOTE in answer.notes
    assert {c.document for c in answer.citations} == {"story"}
    assert all(c.quote in little_tables.STORY for c in answer.citations)
    assert "".join(heard) == answer.text
    assert any("prose" in note and note.startswith("method: graphrag (") for note in answer.notes)


def test_a_document_that_is_called_by_a_hash_is_shown_by_its_title(tmp_path: Path) -> None:
    name = "77fd5668fcbeb8d240a7816bf00854bd"
    raw = json.dumps(little_tables.tables()).replace('"story"', f'"{name}"')
    folder = little_tables.write(json.loads(raw), tmp_path / "tables")
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as corpus:
        import_tables(read_tables(folder), corpus.runtime(), corpus.settings.index, corpus.add)
        answer = corpus.query("What role does the lamp play?")
        told = view_answer(answer, corpus.index())["citations"]
        shown = format_cited(answer, find_record_files(corpus, [c.document for c in answer.citations]))
    assert {(c["document"], c["title"]) for c in told} == {(name, "story.txt")}
    assert "[1] story.txt:" in shown
    assert name not in shown


def test_people_are_listed_with_the_words_of_their_descriptions(harbour: Path) -> None:
    answer = ask(harbour, "Who are the main characters?")
    assert "- **Ada**: Ada keeps a lamp. [" in answer.text
    assert "- **Bram**: Bram is a sailor. [" in answer.text


def test_what_the_reports_know_nothing_of_is_looked_for_in_the_passages(harbour: Path) -> None:
    answer = ask(harbour, "How does the submarine dive?", method="graphrag")
    assert answer.text
    assert "somebody else wrote" not in answer.text


def test_one_fact_is_still_looked_for_in_the_passages(harbour: Path) -> None:
    answer = ask(harbour, "Who keeps the lamp?")
    assert "somebody else wrote" not in answer.text
    assert "Ada" in answer.text
