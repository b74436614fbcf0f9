"""KAG: plans, the order of the layers, what variables are bound to, calculation, reflection (kag; N43, N45)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_methods import asked_in, message_of
from scripted_replies import task_of
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.methods.kag import solving
from sensegraph.methods.kag.calculation import Moment, Number, Unknown
from sensegraph.methods.kag.forms import Plan
from sensegraph.methods.kag.kag import KAG
from sensegraph.methods.kag.logical_forms import parse_plan
from sensegraph.methods.kag.solving import Solved, Solver, Solving, name_likeness
from sensegraph.testing import check_citations
from sensegraph.types import Document, Question
from served import ServedContract
from wired import corpus

TEXTS = {
    "ketoconazole": "Ketoconazole inhibits CYP3A4. Ketoconazole is contraindicated with Warfarin.",
    "fluconazole": "Fluconazole inhibits CYP3A4. Fluconazole is contraindicated with Warfarin. "
    "Fluconazole was patented in 1981.",
    "aspirin": "Aspirin is contraindicated with Warfarin. Aspirin was patented in 1899.",
    "cimetidine": "Cimetidine inhibits CYP3A4. Cimetidine was made in Welwyn.",
    "acme": "Acme Robotics competes with Borealis Systems. Acme Robotics employed Clara Dorn until 2015.",
    "dorn": "Clara Dorn founded Driftwood Labs in 2016. Clara Dorn was born in Lisbon.",
    "borealis": "Borealis Systems acquired Driftwood Labs in 2019. Borealis Systems is based in Oslo.",
    "oslo": "Oslo is the capital of Norway. Oslo lies on the Oslofjord.",
    "halcyon": "Halcyon Works competes with Acme Robotics. Halcyon Works acquired Pebble Studio.",
}
BRIDGE = Question("Where is the company that acquired Driftwood Labs based?")
MEDICINE = Question("Which drugs inhibit CYP3A4 and are contraindicated with Warfarin?")
KEPT: Any = {"keep_bodies": True}
PATH = """Retrieval(s=s1[Acme Robotics], p=p1:employed, o=o1)
Retrieval(s=o1, p=p2:founded, o=o2)
Retrieval(s=s3, p=p3:acquired, o=o2)
Retrieval(s=s1[Acme Robotics], p=p4:competes with, o=o4)
Math(content=`both(s3, o4)`, target=m)
Output(m)"""


class TestKAGContract(ServedContract):
    def make(self) -> KAG:
        return KAG()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """The texts, read without a model: its relations are labelled by their verbs."""
    settings = {"engine": "offline", "index": {"parts": ["graph"]}}
    with Corpus.open(tmp_path_factory.mktemp("small"), settings=settings) as made:
        made.add([Document(name, text, name) for name, text in TEXTS.items()])
        made.build()
        yield made


def plan(text: str) -> Plan:
    parsed = parse_plan(text)
    assert parsed.plan is not None, parsed.errors
    return parsed.plan


def solved(made: Corpus, text: str, **settings: Any) -> list[Solved]:
    solver = Solver(Question("?"), made.index(), made.runtime(), Solving(**settings))
    return solver.solve(plan(text))


def steps(made: Corpus, question: Question, **settings: Any) -> tuple[Solved, ...]:
    return KAG(**settings).steps(question, made.index(), made.runtime())


# ── the exact graph ──


def test_a_relation_that_is_called_so_is_followed_and_no_chunk_is_searched(
    small: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def searched(*_: object, **__: object) -> None:
        raise AssertionError("a chunk was searched although the graph knows")

    for name in ("rank_by_walk", "rank_by_words", "rank_by_vectors"):
        monkeypatch.setattr(solving, name, searched)
    (one,) = solved(small, "Retrieval(s=s1[Borealis Systems], p=p1:is based in, o=o1)")
    assert (one.layer, one.value) == ("exact", ("Oslo",))
    assert [p.kind for p in one.read] == ["relation"]
    assert "Borealis Systems is based in Oslo" in one.passage.text
    assert one.passage.quotes


def test_the_unknown_end_may_be_the_subject(small: Corpus) -> None:
    (one,) = solved(small, "Retrieval(s=s1, p=p1:inhibits, o=o1[CYP3A4])\nOutput(s1)")
    assert one.layer == "exact"
    assert set(one.value) == {"Fluconazole", "Cimetidine", "Ketoconazole"}  # type: ignore[arg-type]


def test_what_more_of_the_bound_names_lead_to_comes_first(tmp_path: Path) -> None:
    texts = TEXTS | {"more": "Cimetidine is contraindicated with Aspirin."}
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["graph"]}}) as made:
        made.add([Document(name, text, name) for name, text in texts.items()])
        made.build()
        harmful = "Retrieval(s=s1, p=p2:is contraindicated with, o=o2)"
        found = solved(made, f"Retrieval(s=s1, p=p1:inhibits, o=o1[CYP3A4])\n{harmful}")[-1]
    assert (found.layer, found.value) == ("exact", ("Warfarin", "Aspirin"))
    assert [c.score for c in found.found] == pytest.approx([2 / 3, 1 / 3])


def test_n43_what_two_relations_share_is_joined(small: Corpus) -> None:
    *_, last = solved(
        small,
        "Retrieval(s=s1, p=p1:inhibits, o=o1[CYP3A4])\nRetrieval(s=s2, p=p2:is contraindicated with, o=o2[Warfarin])\n"
        "Math(content=`both(s1, s2)`, target=m)\nMath(content=`count(m)`, target=n)",
    )
    assert last.value == Number(2.0)


def test_n45_a_path_of_four_hops_is_followed(small: Corpus) -> None:
    employee, firm, buyer, rivals, both = solved(small, PATH)
    assert (employee.value, firm.value, buyer.value) == (("Clara Dorn",), ("Driftwood Labs",), ("Borealis Systems",))
    assert set(rivals.value) == {"Borealis Systems", "Halcyon Works"}  # type: ignore[arg-type]
    assert both.value == ("Borealis Systems",)
    assert all(s.layer == "exact" for s in (employee, firm, buyer, rivals))
    assert all(s.read for s in (employee, firm, buyer, rivals, both))


def test_a_type_that_does_not_fit_is_not_taken(small: Corpus) -> None:
    fits = solved(small, "Retrieval(s=s1[Borealis Systems], p=p1:is based in, o=o1:place)")[0]
    not_so = solved(small, "Retrieval(s=s1[Borealis Systems], p=p1:is based in, o=o1:person)")[0]
    assert (fits.layer, not_so.layer != "exact") == ("exact", True)


def test_a_name_that_is_written_a_little_otherwise_is_linked(small: Corpus) -> None:
    assert name_likeness("Borealis System", "borealis systems") >= 0.9 > name_likeness("Borealis", "Borealis Systems")
    near = solved(small, "Retrieval(s=s1[Borealis System], p=p1:is based in, o=o1)")[0]
    far = solved(small, "Retrieval(s=s1[Borealis], p=p1:is based in, o=o1)")[0]
    assert (near.layer, near.value) == ("exact", ("Oslo",))
    assert far.layer == "chunks"


# ── the graph around, and the chunks ──


def test_a_bridge_is_crossed_by_the_value_of_the_first_step(small: Corpus) -> None:
    first, second = steps(small, BRIDGE)
    assert (first.question, first.found[0].value) == ("Which company acquired Driftwood Labs?", "Borealis Systems")
    assert (second.question, second.found[0].value) == ("Where is Borealis Systems based?", "Oslo")
    assert all(s.layer == "chunks" and s.read for s in (first, second))


def test_a_layer_that_is_useful_enough_ends_the_search(small: Corpus) -> None:
    (one,) = solved(small, "Where was Clara Dorn born?", enough=0.0)
    assert (one.layer, one.found[0].value) == ("graph", "Lisbon")


def test_a_plan_finds_what_the_question_alone_ranks_lower(small: Corpus) -> None:
    index, rt = small.index(), small.runtime()
    places = {
        kind: KAG(plan=kind).retrieve(BRIDGE, index, rt).documents.index("borealis")  # type: ignore[arg-type]
        for kind in ("rules", "none")
    }
    assert places["rules"] == 0 <= places["none"]


def test_values_fan_out_over_branches_with_their_shares(small: Corpus) -> None:
    solver = Solver(Question("?"), small.index(), small.runtime(), Solving(branches=2))
    made = solver.solve(plan("Which firm acquired another?\nWhere is #1 based?"))
    shares = [c.score for c in made[0].found]
    assert len(shares) > 1
    assert sum(shares) == pytest.approx(1)
    assert len(solver.searched) == 3  # the first question, and the second with each of two values


def test_values_may_be_fixed_to_measure_the_rest(small: Corpus) -> None:
    found, made = KAG().follow(
        Question("?"), plan("Who is it?\nWhere is #1 based?"), small.index(), small.runtime(), {"1": "Borealis Systems"}
    )
    assert made[1].question == "Where is Borealis Systems based?"
    assert "borealis" in found.documents[:2]


def test_what_no_passage_says_is_unknown_and_the_plan_goes_on(small: Corpus) -> None:
    first, second = solved(small, "Zzyzx qwrt?\nWhat of #1?")
    assert isinstance(first.value, Unknown)
    assert first.layer in ("chunks", "none")
    assert second.question == "What of ?"


# ── calculation and decision ──


def test_a_comparison_chooses_by_dates(small: Corpus) -> None:
    *_, choice = steps(small, Question("Which was patented first, Fluconazole or Aspirin?"))
    assert choice.value == ("Aspirin",)
    *_, choice = steps(small, Question("Which was patented later, Fluconazole or Aspirin?"))
    assert choice.value == ("Fluconazole",)


def test_what_is_missing_makes_a_choice_unknown(small: Corpus) -> None:
    *_, choice = steps(small, Question("Which was painted first, Cimetidine or Oslo?"))
    assert isinstance(choice.value, Unknown)
    notes = (
        KAG().retrieve(Question("Which was painted first, Cimetidine or Oslo?"), small.index(), small.runtime()).notes
    )
    assert any(n.startswith("unknown: ") for n in notes)


def test_values_are_sorted_by_the_numbers_that_they_are(small: Corpus) -> None:
    *_, last = solved(
        small,
        "When was Fluconazole patented?\nWhen was Aspirin patented?\nMath(content=`union(#1, #2)`, target=u)\n"
        "Sort(set=u, direction=ascending, limit=1, target=t)",
    )
    assert last.value == (Moment(1899),)
    *_, last = solved(small, "Where is Oslo?\nSort(set=#1, direction=desc, target=t)")
    assert isinstance(last.value, Unknown)


def test_code_in_a_calculation_is_unknown(small: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (one,) = solved(small, "Math(content=`open('touched', 'w')`, target=m)")
    assert isinstance(one.value, Unknown)
    assert not Path("touched").exists()


# ── with a model ──


Reply = Callable[[dict[str, Any]], str | None]


def replies(parts: list[str], answers: dict[str, tuple[str, int, list[str]]]) -> Reply:
    """A plan, and a sub-answer for each question."""

    def reply(body: dict[str, Any]) -> str | None:
        asked = asked_in(message_of(body))
        if task_of(body) == "plan":
            calls = [part if "(" in part else "" for part in parts]
            steps = [{"question": "" if c else p, "action": c} for p, c in zip(parts, calls, strict=True)]
            return json.dumps({"steps": steps})
        if task_of(body) == "lead":
            text, score, more = answers.get(asked, ("Nothing.", 0, []))
            return json.dumps({"answer": text, "score": score, "follow_ups": more})
        return None

    return reply


@pytest.fixture
def wired(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with corpus(tmp_path, server) as made:
        made.add([Document(name, text, name) for name, text in TEXTS.items()])
        made.build()
        server.reset()
        yield made


def questions(server: ScriptedServer) -> list[str]:
    return [asked_in(message_of(c.body)) for c in server.done("lead")]


def test_a_model_plans_answers_each_step_and_concludes(wired: Corpus, server: ScriptedServer) -> None:
    server.script = Script(
        **KEPT,
        reply=replies(
            ["Which company acquired Driftwood Labs?", "Where is #1 based?"],
            {
                "Which company acquired Driftwood Labs?": ("Borealis Systems did [Data: Sources (1)].", 90, []),
                "Where is Borealis Systems based?": ("In Oslo [Data: Sources (1)].", 90, []),
                BRIDGE.text: ("Oslo.", 95, []),
            },
        ),
    )
    answer = wired.query(BRIDGE.text, method="kag")
    check_citations(answer, TEXTS)
    assert questions(server) == [
        "Which company acquired Driftwood Labs?", "Where is Borealis Systems based?", BRIDGE.text,
    ]  # fmt: skip
    assert answer.usage.calls == 5  # a plan, two steps, one reflection, the answer
    assert [p.title for p in answer.evidence.passages if p.kind == "point"] == questions(server)[:2]
    assert any("plan of the model: 2 steps" in n for n in answer.notes)
    assert any("asked 4 times before the answer" in n for n in answer.notes)


def test_a_layer_that_does_not_help_leads_to_the_next(wired: Corpus, server: ScriptedServer) -> None:
    server.script = Script(**KEPT, reply=replies(["Where is Borealis Systems based?"], {}))
    (one,) = steps(wired, BRIDGE, rounds=1)
    assert one.layer == "none" or one.score == 0
    assert questions(server) == ["Where is Borealis Systems based?"] * 2


def test_one_more_question_a_round_until_it_is_solved(wired: Corpus, server: ScriptedServer) -> None:
    told = {
        "Who bought Driftwood Labs?": ("Borealis Systems [Data: Sources (1)].", 90, []),
        BRIDGE.text: ("Borealis Systems, wherever it is.", 20, ["Where is Borealis Systems?", "And why?"]),
        "Where is Borealis Systems?": ("In Oslo [Data: Sources (1)].", 90, []),
    }
    server.script = Script(**KEPT, reply=replies(["Who bought Driftwood Labs?"], told))
    made = steps(wired, BRIDGE)
    assert [s.question for s in made] == ["Who bought Driftwood Labs?", "Where is Borealis Systems?"]
    assert [s.question for s in steps(wired, BRIDGE, rounds=1)] == ["Who bought Driftwood Labs?"]


def test_a_plan_that_is_none_is_noted_and_rules_take_its_place(wired: Corpus, server: ScriptedServer) -> None:
    server.script = Script(**KEPT, reply=replies(["Who is #2?", "Who is #1?"], {}))
    notes = KAG(rounds=1).retrieve(BRIDGE, wired.index(), wired.runtime()).notes
    assert any("the plan of the model cannot be used" in n and "need it themselves" in n for n in notes)
    assert any("plan of rules (bridge): 2 steps" in n for n in notes)


def test_a_model_that_fails_to_plan_does_not_end_the_search(wired: Corpus, server: ScriptedServer) -> None:
    server.script = Script(**KEPT, reply=lambda b: "no" if task_of(b) in ("plan", "lead") else None)
    answer = wired.query(BRIDGE.text, method="kag")
    assert answer.text
    assert any("failed and were not asked again" in n for n in answer.notes)


def test_a_value_that_the_graph_does_not_know_is_taken_as_it_is_told(wired: Corpus, server: ScriptedServer) -> None:
    told = {"How many?": ("35 of them [Data: Sources (1)].", 90, []), "What of 35 of them?": ("x", 90, [])}
    server.script = Script(**KEPT, reply=replies(["How many?", "What of #1?"], told))
    steps(wired, Question("How many of what?"), rounds=1)
    assert questions(server)[1].startswith("What of 35")


def test_without_a_plan_a_question_is_one_step(small: Corpus) -> None:
    assert [s.question for s in steps(small, BRIDGE, plan="none")] == [BRIDGE.text]


def test_an_engine_without_a_model_may_plan_by_the_parts_that_it_names(small: Corpus) -> None:
    found = KAG(plan="model").retrieve(BRIDGE, small.index(), small.runtime())
    assert any("plan of" in n or "taken as one step" in n for n in found.notes)
    assert "borealis" in found.documents[:3]


def test_conditions_of_a_plan_are_sought_by_their_words_and_counted(wired: Corpus, server: ScriptedServer) -> None:
    parts = ["Retrieval(s=s1[Oslo], p=p1:mayor, o=o1:person, o1.year>1990)"]
    server.script = Script(**KEPT, reply=replies(parts, {}))
    notes = KAG(rounds=1).retrieve(BRIDGE, wired.index(), wired.runtime()).notes
    assert "conditions of the plan, sought by their words: 1" in notes
    assert questions(server)[0].endswith("year > 1990")


@pytest.mark.parametrize(
    "bad",
    [{"rounds": 0}, {"chunks": 0}, {"branches": 0}, {"free": 0.95}, {"share": 1.5}, {"damping": 1.0}, {"whole": -1}],
)
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        KAG(**bad)
