"""Plans of a model with variables, over the wire: worked plans are solved, plans that are none are asked for again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_methods import asked_in, message_of
from scripted_replies import task_of
from sensegraph.corpus.corpus import Corpus
from sensegraph.methods.kag.calculation import Number
from sensegraph.methods.kag.kag import KAG
from sensegraph.methods.kag.solving import Solved
from sensegraph.types import Document, Question
from wired import corpus

FACTS = (
    ("Ketoconazole", "inhibits", "CYP3A4"),
    ("Fluconazole", "inhibits", "CYP3A4"),
    ("Cimetidine", "inhibits", "CYP3A4"),
    ("Ketoconazole", "interacts with", "Warfarin"),
    ("Fluconazole", "interacts with", "Warfarin"),
    ("Aspirin", "interacts with", "Warfarin"),
    ("Acme Robotics", "employed", "Clara Dorn"),
    ("Clara Dorn", "founded", "Driftwood Labs"),
    ("Borealis Systems", "acquired", "Driftwood Labs"),
    ("Acme Robotics", "competes with", "Borealis Systems"),
    ("Acme Robotics", "competes with", "Halcyon Works"),
    ("Halcyon Works", "acquired", "Pebble Studio"),
)
TEXTS = {f"{n:02} {s}": f"{s} {p} {o}." for n, (s, p, o) in enumerate(FACTS)}
MEDICINE = Question("How many drugs inhibit CYP3A4 and interact with Warfarin?")  # N43
RIVALS = Question("Which competitor of Acme Robotics acquired a firm that a former employee of Acme founded?")  # N45
PLANS = {
    MEDICINE.text: [
        ("Which drugs inhibit CYP3A4?", "Retrieval(s=#1:drug, p=inhibits, o=[CYP3A4])"),
        ("Which drugs interact with Warfarin?", "Retrieval(s=#2:drug, p=interacts with, o=[Warfarin])"),
        ("Which drugs are among #1 and #2?", "Math(content=`both(#1, #2)`)"),
        ("How many are #3?", "Math(content=`count(#3)`)"),
        ("The number", "Output(#4)"),
    ],
    RIVALS.text: [
        ("Who was employed by Acme Robotics?", "Retrieval(s=organization[Acme Robotics], p=employed, o=#1:person)"),
        ("Which firm did #1 found?", "Retrieval(s=#1, p=founded, o=#2:organization)"),
        ("Which company acquired #2?", "Retrieval(s=#3:organization, p=acquired, o=#2)"),
        ("Who competes with Acme Robotics?", "Retrieval(s=[Acme Robotics], p=competes with, o=#4:organization)"),
        ("Which is among #3 and #4?", "Math(content=`both(#3, #4)`)"),
        ("The competitor", "Output(#5)"),
    ],
}


def written(plan: list[tuple[str, str]]) -> str:
    return json.dumps({"steps": [{"question": q, "action": a} for q, a in plan]})


def extraction(body: dict[str, Any]) -> str:
    """The fact of a text, its relation with the type that the settings list."""
    text = message_of(body).partition("Text:\n")[2]
    found = [f for f in FACTS if text.startswith(" ".join(f))]
    entities = [{"name": n, "type": "thing", "description": f"{n}."} for s, _, o in found for n in (s, o)]
    relations = [
        {"source": s, "target": o, "type": p, "description": f"{s} {p} {o}.", "strength": 5} for s, p, o in found
    ]
    return json.dumps({"entities": entities, "relations": relations})


def replies(body: dict[str, Any]) -> str | None:
    """The worked plans, and leads that look up facts by the words of a sub-question."""
    task, asked = task_of(body), asked_in(message_of(body))
    if task == "extraction":
        return extraction(body)
    if task == "plan":
        return written(PLANS[asked]) if asked in PLANS else None
    if task == "lead":
        enough = asked in PLANS  # the memory answers the question
        return json.dumps({"answer": "It is so.", "score": 90 if enough else 0, "follow_ups": []})
    return None


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Corpus, ScriptedServer]]:
    model = {"relation_types": sorted({p for _, p, _ in FACTS}), "max_gleanings": 0}
    tables: Any = {"model": model, "index": {"parts": ["graph"]}}
    folder = tmp_path_factory.mktemp("planned")
    with ScriptedServer(Script(reply=replies, keep_bodies=True)) as server, corpus(folder, server, **tables) as made:
        made.add([Document(name, text, name) for name, text in TEXTS.items()])
        made.build()
        yield made, server


@pytest.fixture
def asked(served: tuple[Corpus, ScriptedServer]) -> tuple[Corpus, ScriptedServer]:
    served[1].reset()
    served[1].script = Script(reply=replies, keep_bodies=True)
    return served


def steps(made: Corpus, question: Question) -> tuple[Solved, ...]:
    return KAG().steps(question, made.index(), made.runtime())


def test_n43_what_two_conditions_share_is_counted_by_a_plan_with_variables(
    asked: tuple[Corpus, ScriptedServer],
) -> None:
    one, two, both, count = steps(asked[0], MEDICINE)
    assert set(one.value) == {"Ketoconazole", "Fluconazole", "Cimetidine"}  # type: ignore[arg-type]
    assert set(two.value) == {"Ketoconazole", "Fluconazole", "Aspirin"}  # type: ignore[arg-type]
    assert set(both.value) == {"Ketoconazole", "Fluconazole"}  # type: ignore[arg-type]
    assert count.value == Number(2.0)
    assert [s.layer for s in (one, two, both, count)] == ["exact", "exact", "worked out", "worked out"]
    assert len(asked[1].done("plan")) == 1


def test_n45_a_path_of_four_hops_is_followed_by_a_plan_with_variables(asked: tuple[Corpus, ScriptedServer]) -> None:
    employee, firm, buyer, rivals, both = steps(asked[0], RIVALS)
    assert (employee.value, firm.value, buyer.value) == (("Clara Dorn",), ("Driftwood Labs",), ("Borealis Systems",))
    assert set(rivals.value) == {"Borealis Systems", "Halcyon Works"}  # type: ignore[arg-type]
    assert both.value == ("Borealis Systems",)
    assert (firm.question, buyer.question) == (
        "Which firm did Clara Dorn found?",
        "Which company acquired Driftwood Labs?",
    )
    answer = asked[0].query(RIVALS.text, method="kag")
    assert any("plan of the model: 5 steps" in n for n in answer.notes)
    assert answer.evidence.passages


def test_the_planner_is_shown_the_relations_of_the_graph_and_plans_as_turns(
    asked: tuple[Corpus, ScriptedServer],
) -> None:
    steps(asked[0], Question("Who competes with whom?"))
    (call,) = asked[1].done("plan")
    system, *turns, last = call.body["messages"]
    assert "Relations of the graph: acquired, competes with" in system["content"]
    assert last["content"] == "Question: Who competes with whom?"
    assert [t["role"] for t in turns] == ["user", "assistant"] * 5
    assert all(re.search(r"#\d", t["content"]) for t in turns[1::2])


# ── plans that are none ──


UNBOUND = written([("Who is #2?", "Retrieval(s=#2, p=is, o=#1)"), ("It", "Output(#9)")])
GOOD = written(
    [("Who acquired Pebble Studio?", "Retrieval(s=#1, p=acquired, o=[Pebble Studio])"), ("It", "Output(#1)")]
)


def plan_replies(*texts: str) -> Script:
    """A script that gives these plans in turn, the last again and again."""
    given: list[str] = []

    def reply(body: dict[str, Any]) -> str | None:
        if task_of(body) != "plan":
            return replies(body)
        given.append(texts[min(len(given), len(texts) - 1)])
        return given[-1]

    return Script(reply=reply, keep_bodies=True)


def test_a_plan_that_is_none_is_asked_for_again_with_what_is_wrong(asked: tuple[Corpus, ScriptedServer]) -> None:
    made, server = asked
    server.script = plan_replies(UNBOUND, GOOD)
    (one,) = steps(made, Question("Who is the owner of the studio?"))
    assert (one.layer, one.value) == ("exact", ("Halcyon Works",))
    first, second = (message_of(c.body) for c in server.done("plan"))
    assert second.startswith(first)
    assert "Retrieval(s=#2, p=is, o=#1)" in second
    assert "It cannot be used: " in second
    assert "never bound" in second


def test_after_two_plans_that_are_none_rules_plan_and_the_notes_say_why(asked: tuple[Corpus, ScriptedServer]) -> None:
    made, server = asked
    server.script = plan_replies(UNBOUND)
    found = KAG(rounds=1).retrieve(Question("Who owns the studio that Halcyon acquired?"), made.index(), made.runtime())
    assert len(server.done("plan")) == 2
    assert any(n.startswith("the plan of the model cannot be used: ") and "never bound" in n for n in found.notes)
    assert any(n.startswith("plan of rules") or "taken as one step" in n for n in found.notes)


@pytest.mark.parametrize("reply", ["", "I am not able to help.", "{}", '{"steps": []}', '{"steps": [', "[3]"])
def test_a_reply_without_steps_is_asked_for_again_and_then_rules_plan_with_a_note(
    asked: tuple[Corpus, ScriptedServer], reply: str
) -> None:
    made, server = asked
    server.script = plan_replies(reply)
    question = Question(f"Who founded Driftwood Labs ({len(reply)}{reply[:3]})?")
    found = KAG(rounds=1).retrieve(question, made.index(), made.runtime())
    assert len(server.done("plan")) >= 2
    assert "the model gave no plan that can be read" in found.notes
    assert any(n.startswith("plan of rules") for n in found.notes)
    assert any("failed and were not asked again: 1" in n and "plan: the reply of scripted" in n for n in found.notes)


OTHER_FORMS = [
    "Step1: Who acquired Pebble Studio?\nAction1: Retrieval(s=s1, p=acquired, o=o1[Pebble Studio])\nOutput(s1)",
    '{"steps": ["1. Who acquired Pebble Studio? | Retrieval(s=#1, p=acquired, o=[Pebble Studio])", "Output(#1)"]}',
    '{"steps": [{"question": "x?", "action": "Retrieval(s=company, p=acquired, o=[Pebble Studio])"}]}',
    '```json\n[{"question": "Who did?", "action": "Retrieval(s=#1, p=acquired, o=Pebble Studio)"}]\n```',
]


@pytest.mark.parametrize("number", range(len(OTHER_FORMS)))
def test_plans_in_other_forms_are_read(asked: tuple[Corpus, ScriptedServer], number: int) -> None:
    made, server = asked
    server.script = plan_replies(OTHER_FORMS[number])
    (one,) = steps(made, Question(f"Who is it, in form {number}?"))
    assert (one.layer, one.value) == ("exact", ("Halcyon Works",))
    assert len(server.done("plan")) == 1


def test_a_type_that_the_graph_does_not_know_is_no_condition(asked: tuple[Corpus, ScriptedServer]) -> None:
    made, server = asked
    server.script = plan_replies(GOOD.replace("s=#1,", "s=#1:enterprise,"))
    (one,) = steps(made, Question("Which enterprise has the studio?"))
    assert one.layer == "exact"
