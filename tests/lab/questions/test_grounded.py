"""Questions on what an index holds: by template, and by a model whose questions are checked (N42)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harbour import papers
from scripted import Script, ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError, NotIndexed
from sensegraph.lab.questions.grounded_questions import GroundSettings, make_template_questions, word_question
from sensegraph.lab.questions.grounds import Material, find_grounds, find_looser_grounds, remove_date
from sensegraph.lab.questions.proposing import Proposer
from sensegraph.lab.questions.question_files import KINDS, Outcome
from sensegraph.lab.questions.question_making import (
    PersonaSettings,
    Posing,
    foresee_questions,
    make_model_questions,
    make_question_set,
    uses_model,
)
from sensegraph.lab.questions.stated_facts import (
    Told,
    find_gapped_sentences,
    find_stated_facts,
    find_tied_entities,
    speaks_english,
)
from sensegraph.types import Claim, Description, Document, Entity, Graph, Relation, Source
from wired import settings

ALL = GroundSettings(KINDS, 3)


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    given = {"engine": "offline", "index": {"parts": ["graph", "reports"]}}
    with Corpus.open(tmp_path_factory.mktemp("offline"), settings=given) as made:
        made.add(*papers())
        made.build()
        yield made


@pytest.fixture
def found(offline: Corpus) -> Outcome:
    return make_template_questions(offline.index(), Proposer(offline.runtime()), ALL)


# ── by template ──


def test_all_classes_occur_and_are_labelled_as_templates(found: Outcome):
    """N42."""
    assert set(found.counts) == set(KINDS)
    assert {q.made for q in found.questions} == {"template"}
    assert {q.needs for q in found.questions} == {"", "multi-hop", "global", "disambiguation"}


def test_each_question_says_what_it_needs(found: Outcome, offline: Corpus):
    chunks = {c.id: c.document for c in offline.index().catalogue.chunks}
    assert len(found.questions) > 3
    for question in found.questions:
        assert {chunks[c] for c in question.chunks} == set(question.documents)
        assert bool(question.chunks) == (question.kind != "adversarial")
        if question.needs == "multi-hop":
            assert len(question.chunks) > 1


def test_the_evidence_of_a_question_that_joins_holds_each_part_of_it(found: Outcome, offline: Corpus):
    joined = [q for q in found.questions if q.kind in ("bridge", "intersection")]
    assert joined
    for question in joined:
        texts = [c.text for c in offline.index().chunks(question.chunks).values()]
        assert question.hops == len(question.chunks) == len(texts)
        assert any(question.answers[0] in t for t in texts)
        assert question.answers[0] not in question.text


def test_local_questions_do_not_give_their_answer_away(found: Outcome):
    local = [q for q in found.questions if q.kind == "local"]
    assert local
    assert not [q for q in local if q.answers[0] in q.text]


def test_what_cannot_be_made_is_counted(offline: Corpus):
    asked = make_template_questions(
        offline.index(), Proposer(offline.runtime()), GroundSettings(("disambiguation",), 50)
    )
    assert dict(asked.missing)["disambiguation"] == 50 - len(asked.questions) > 0


def test_a_seed_gives_the_same_questions_and_another_one_others(offline: Corpus):
    by = Proposer(offline.runtime())
    one = make_template_questions(offline.index(), by, GroundSettings(("local",), 4))
    assert one == make_template_questions(offline.index(), by, GroundSettings(("local",), 4))
    assert one != make_template_questions(offline.index(), by, GroundSettings(("local",), 4, seed=1))


def test_an_adversarial_question_exchanges_what_a_sentence_names(found: Outcome, offline: Corpus):
    texts = " ".join(d.text for d in papers())
    asked = [q for q in found.questions if q.kind == "adversarial"]
    assert asked
    for question in asked:
        assert question.text.partition(" ")[2].rstrip("?") not in texts


def test_an_index_without_reports_has_no_global_questions(tmp_path: Path):
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["graph"]}}) as made:
        made.add(*papers())
        made.build()
        by = Proposer(made.runtime())
        with pytest.raises(NotIndexed, match="add 'reports' to"):
            make_template_questions(made.index(), by, GroundSettings(("global",)))
        local = make_template_questions(made.index(), by, GroundSettings(("local",), 2))
        assert (local.counts, local.notes) == ({"local": 2}, ())
        both = make_template_questions(made.index(), by, GroundSettings(("local", "global"), 2))
        assert both.counts == {"local": 2}
        assert both.missing == ()
        assert both.notes == (
            "global questions are left out: they are made of reports, which this index was built without",
        )


def test_in_another_language_sentences_get_a_gap(tmp_path: Path):
    text = "Die Werft baut Schiffe in Altenhafen. Der Rat von Altenhafen lobt die Werft und ihre Arbeit."
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["graph"]}}) as made:
        made.add(Document("a", text), Document("b", "Die Werft kauft Eichen aus dem Wald und das ist gut so."))
        made.build()
        asked = make_template_questions(made.index(), Proposer(made.runtime()), GroundSettings(("local", "bridge"), 5))
    assert asked.questions
    assert all("____" in q.text and "Which" not in q.text for q in asked.questions)
    assert dict(asked.missing)["bridge"] == 5


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="No class of questions is called 'hard'"):
        GroundSettings(("hard",))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one class"):
        GroundSettings(())
    with pytest.raises(InputError, match="need an index"):
        make_question_set(Posing(grounds=ALL), None, None)  # type: ignore[arg-type]


# ── what sentences tell ──


def graph_of(*said: str, kind: str = "person") -> Graph:
    """Ada Finch, Port Ellery, and what chunks say of the two."""
    ends = [Entity(n, n, t, "", (), (), 1, 1) for n, t in (("Ada Finch", kind), ("Port Ellery", "place"))]
    descriptions = tuple(Description(text, Source(f"c{i}", 0, 0)) for i, text in enumerate(said))
    return Graph(tuple(ends), (Relation("r", "Ada Finch", "Port Ellery", "", descriptions, 1.0, ("c0",)),))


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        ("Ada Finch keeps the lamp of Port Ellery.", "keeps the lamp of Port Ellery"),
        ("Ada sails to Port Ellery every week.", "sails to Port Ellery every week"),
        ("Ada Finch of Port Ellery keeps a lamp.", ""),
        ("Ada Finch, who left Port Ellery, came back.", ""),
        ("Ada Finch keeps it near Port Ellery.", ""),
        ("Ada Finch keeps bees.", ""),
        ("Ada Finch told Ada of Port Ellery.", ""),
        ("Did Ada Finch leave Port Ellery?", ""),
        ("Ada Finch said “Port Ellery is cold.", ""),
        ("Ada Finch is a keeper of Ellery.", ""),
        ("Ada Finch is a keeper of Port Ellery since 1902.", "is a keeper of Port Ellery since 1902"),
        ("Yesterday Ada Finch left Port Ellery.", ""),
    ],
)
def test_a_sentence_tells_when_it_begins_with_its_subject_and_stands_alone(sentence: str, rest: str):
    assert [t.rest for t in find_stated_facts(graph_of(sentence))] == ([rest] if rest else [])


def test_a_sentence_of_two_chunks_is_no_evidence_of_one():
    assert find_stated_facts(graph_of("Ada Finch left Port Ellery.", "Ada Finch left Port Ellery.")) == []


@pytest.mark.parametrize(
    ("sentence", "head", "after"),
    [
        ("Ada Finch left the Port Ellery.", "left", ""),
        ("Ada Finch left Port Ellery in May.", "left", "in May"),
        ("Ada Finch painted Old Port Ellery.", "", ""),
        ("Ada Finch gave Port Ellery a lamp.", "", ""),
        ("Ada Finch paints northern Port Ellery.", "", ""),
        ("Ada Finch lives near Port Ellery, Wales.", "", ""),
    ],
)
def test_a_name_can_give_way_where_a_description_can_stand(sentence: str, head: str, after: str):
    (told,) = find_stated_facts(graph_of(sentence))
    assert (told.head, told.after, told.linked) == (head, after, bool(head))


def test_a_thing_without_a_name_of_its_own_is_not_asked_for():
    graph = graph_of("The ferry left Port Ellery.")
    (ada, port) = graph.entities
    assert find_stated_facts(replace(graph, entities=(replace(ada, name="ferry"), port))) == []


def dated(name: str, said: str, starts: str, chunk: str) -> Claim:
    return Claim(name, "Ada Finch", "NONE", "FACT", "TRUE", said, starts, starts, Source(chunk, 0, 0))


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Ada Finch sailed in June 2019.", "Ada Finch sailed"),
        ("Ada Finch, in 1990, left Port Ellery.", "Ada Finch, left Port Ellery"),
        ("Ada Finch won the 1990 cup.", ""),
        ("Ada Finch saw him in 1990.", ""),
        ("Ada Finch won in the 1990 games.", ""),
    ],
)
def test_a_date_goes_where_the_sentence_is_whole_without_it(said: str, left: str):
    assert remove_date(dated("c", said, "1990-01-01", "c0")) == (left if len(left.split()) > 2 else "")


def test_which_of_two_dated_claims_came_first_is_asked_without_their_dates():
    claims = [
        dated("c1", "Ada Finch built a boat in 2019.", "2019-01-01", "c1"),
        dated("c2", "Ada Finch left Port Ellery in 1990.", "1990-01-01", "c2"),
    ]
    (found,) = find_grounds("temporal", Material((), entities=graph_of().entities, claims=claims))
    asked = word_question(found, ["d1", "d2"])
    assert asked.text == "Which came first: “Ada Finch built a boat”, or “Ada Finch left Port Ellery”?"
    assert asked.answers == ("Ada Finch left Port Ellery",)


def test_three_things_of_one_name_are_asked_for_apart():
    """N44."""
    names = (("country", "Amman"), ("river", "Galilee"), ("person", "Chicago"))
    jordans = [Entity(f"j{i}", "Jordan", kind, "", (), (f"c{i}",), 1, 1) for i, (kind, _) in enumerate(names)]
    marks = [Entity(f"m{i}", name, "place", "", (), (f"c{i}",), 1, 1) for i, (_, name) in enumerate(names)]
    told = [
        Told(j, m, f"Jordan {m.name}", m.name, f"c{i}") for i, (j, m) in enumerate(zip(jordans, marks, strict=True))
    ]
    asked = [
        word_question(g, ["d"]) for g in find_grounds("disambiguation", Material(told, entities=[*jordans, *marks]))
    ]
    assert sorted((q.text, q.chunks) for q in asked) == [
        ("What is said of Jordan, the country that has to do with Amman?", ("c0",)),
        ("What is said of Jordan, the person that has to do with Chicago?", ("c2",)),
        ("What is said of Jordan, the river that has to do with Galilee?", ("c1",)),
    ]


TALK = "Tom Reeve: Well, we all went down to {} that night, and it was very cold there, I tell you."


def test_where_few_sentences_tell_anything_a_name_is_left_out_of_one():
    said = TALK.format("Port Ellery")
    port = replace(graph_of().entities[1], descriptions=(Description(said, Source("c0", 0, 0)),))
    (gap,) = find_gapped_sentences(Graph((port,)))
    (found,) = find_looser_grounds("local", Material((), gaps=[gap]))
    asked = word_question(found, ["d"])
    assert asked.text == f"Which name is missing here: “{TALK.format('____').removeprefix('Tom Reeve: ')}”?"
    assert asked.answers == ("Port Ellery",)
    assert word_question(found, ["d"], english=False).text.startswith("Well, we all went down to ____")


def test_a_speaker_is_not_what_is_left_out():
    tom = Entity("t", "Tom Reeve", "person", "", (Description(TALK.format("Arle"), Source("c0", 0, 0)),), ("c0",), 1, 1)
    assert find_gapped_sentences(Graph((tom,))) == []


def test_what_is_tied_in_one_chunk_alone_links_two_others():
    names = {n: Entity(n, n, "place", "", (), (f"c{n}",), 1, 1) for n in ("Arle", "Brun", "Corv")}
    pairs = (("Arle", "Brun", "c0", "trades with"), ("Brun", "Corv", "c1", "fights"), ("Arle", "Corv", "c2", ""))
    graph = Graph(tuple(names.values()), tuple(Relation(c, a, b, "", (), 1.0, (c,), label) for a, b, c, label in pairs))
    found = find_looser_grounds("bridge", Material((), ties=find_tied_entities(graph)))
    asked = {word_question(g, ["d1", "d2"]).text: word_question(g, ["d1", "d2"]).answers for g in found}
    assert asked["What links Arle with Corv?"] == ("Brun",)
    assert all(answers == ("Brun",) for answers in asked.values())
    assert find_looser_grounds("temporal", Material(())) == []


def test_english_is_told_from_other_languages():
    assert speaks_english(d.text for d in papers())
    assert not speaks_english(["Der Rat von Altenhafen lobt die Werft und ihre Arbeit, und das ist gut so."])
    assert not speaks_english(["北京是中国的首都。"])


# ── by a model ──


def answering(support: Any, lines: Sequence[str] = ()) -> Script:
    """Questions that are all different, and verdicts by `support`, a function of statement and texts."""

    def reply(body: dict[str, Any]) -> str | None:
        name = body.get("response_format", {}).get("json_schema", {}).get("name")
        asked = body["messages"][1]["content"] if "messages" in body else ""
        if name == "grounded-questions":
            kind, first = asked.split("class ")[1].split("\n")[0], asked.partition("<text>\n")[2].split("\n")[0]
            mark = " ".join(first.split()[-4:])
            made = lines or [f"Of {kind}, what of {mark}?", f"For {kind}, {mark} and {mark[::-1]}, why?"]
            return json.dumps({"lines": list(made)})
        if name == "support":
            texts = asked.split("<text>")[1:]
            return json.dumps({"reason": "So.", "supported": support(asked, texts)})
        return None

    return Script(reply=reply, keep_bodies=True)


@pytest.fixture
def served(tmp_path: Path, offline: Corpus) -> Iterator[tuple[ScriptedServer, Corpus]]:
    """A corpus over the scripted server: read by it, small chunks, with graph and reports."""
    with ScriptedServer() as server:
        given = settings(server, index={"parts": ["graph", "reports"], "chunk_tokens": 60, "chunk_overlap": 0})
        with Corpus.open(tmp_path / "served", settings=given) as made:
            made.add(*papers())
            made.build()
            server.reset()
            yield server, made


def together(asked: str, texts: Sequence[str]) -> bool:
    """Several texts answer, and of a question that joins none does so alone; one on nothing is never answered."""
    if "adversarial" in asked:
        return False
    return len(texts) > 1 or not any(kind in asked for kind in ("bridge", "intersection", "comparison", "temporal"))


def test_a_models_questions_are_kept_where_their_texts_answer_them(served: tuple[ScriptedServer, Corpus]):
    server, made = served
    server.script = answering(together)
    kinds = ("local", "intersection", "comparison", "global", "adversarial")
    asked = make_model_questions(made.index(), Proposer(made.runtime()), GroundSettings(kinds, 2))  # type: ignore[arg-type]
    assert {q.made for q in asked.questions} == {"model"}
    assert {"local", "global", "adversarial"} <= set(asked.counts)
    assert all(n <= 2 for n in asked.counts.values())
    for question in asked.questions:
        assert bool(question.chunks) == (question.kind != "adversarial")
    paid = len(server.calls)
    assert make_model_questions(made.index(), Proposer(made.runtime()), GroundSettings(kinds, 2)) == asked  # type: ignore[arg-type]
    assert len(server.calls) == paid


def test_each_ground_is_asked_for_twice_as_many_as_are_wanted(served: tuple[ScriptedServer, Corpus]):
    server, made = served
    server.script = answering(together)
    make_model_questions(made.index(), Proposer(made.runtime()), GroundSettings(("local",), 3))
    wishes = [c for c in server.calls if c.task == "grounded-questions"]
    assert len(wishes) == 3
    assert all("Wanted: 2, of the class local" in c.body["messages"][1]["content"] for c in wishes)


def test_what_its_texts_do_not_answer_is_dropped_and_what_stays_missing_counted(
    served: tuple[ScriptedServer, Corpus],
):
    server, made = served
    server.script = answering(lambda asked, texts: False)
    asked = make_model_questions(made.index(), Proposer(made.runtime()), GroundSettings(("local",), 2, rounds=2))
    assert asked.questions == ()
    assert dict(asked.dropped)["its texts do not answer it"] > 0
    assert asked.missing == (("local", 2),)


def test_a_question_that_one_text_answers_joins_nothing(served: tuple[ScriptedServer, Corpus]):
    server, made = served
    server.script = answering(lambda asked, texts: True)
    kinds = ("intersection", "comparison", "bridge")
    asked = make_model_questions(made.index(), Proposer(made.runtime()), GroundSettings(kinds, 2))  # type: ignore[arg-type]
    assert asked.questions == ()
    assert dict(asked.dropped)["one text alone answers it"] > 0


def test_a_question_that_the_corpus_may_answer_is_not_adversarial(served: tuple[ScriptedServer, Corpus]):
    server, made = served
    server.script = answering(lambda asked, texts: True)
    asked = make_model_questions(made.index(), Proposer(made.runtime()), GroundSettings(("adversarial",), 2))
    assert asked.questions == ()
    assert dict(asked.dropped)["the corpus may answer it"] > 0


def test_the_estimate_foresees_the_calls_of_a_run_without_surprises(served: tuple[ScriptedServer, Corpus]):
    server, made = served
    server.script = answering(together)
    posing = Posing(grounds=GroundSettings(("local",), 2))
    steps = {s.step: s for s in foresee_questions(posing, made.index(), made.runtime())}
    assert server.calls == []
    make_question_set(posing, made.index(), made.runtime())
    assert steps["proposing.propose"].calls == len(server.done("grounded-questions")) == 2
    assert steps["entailment.support"].calls == 4
    assert steps["vectors.embed"].items == 4


def test_personas_and_the_graph_may_be_asked_together(served: tuple[ScriptedServer, Corpus]):
    _, made = served
    personas = PersonaSettings(1, 1, 1)
    both = make_question_set(
        Posing("Papers of a harbour.", personas, GroundSettings(("local",), 2), True), made.index(), made.runtime()
    )
    assert [q.made for q in both.questions] == ["persona", "template", "template"]


def test_templates_can_be_asked_for_though_there_is_a_model(served: tuple[ScriptedServer, Corpus]):
    _, made = served
    assert uses_model(Posing(grounds=ALL), made.runtime())
    assert not uses_model(Posing(grounds=ALL, templates=True), made.runtime())
