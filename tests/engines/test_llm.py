from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_engine import CHUNK, COMMUNITY, ENTITIES, INQUIRY, RELATION, TASKS, TEXT, Body, engine, says
from scripted_replies import talk_in
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.errors import ItemFailed, SettingsError, Unreadable, UnsupportedTask
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.protocols import LanguageEngine, PricedEngine
from sensegraph.types import Context, Inquiry, Passage, Report

# ── extraction ──


@pytest.mark.parametrize("style", ["json", "tuple", "fenced", "single"])
@pytest.mark.parametrize("schemas", ["json_schema", "none"])
def test_an_extraction_is_read_whatever_the_model_puts_around_it(style: str, schemas: str) -> None:
    with ScriptedServer(Script(style=style, schemas=schemas)) as server:
        (x,) = engine(server).extract([CHUNK])
    assert [e.name for e in x.entities] == ["Ada Lovelace", "Charles Babbage", "London", "The Engine"]
    assert [(r.source, r.target) for r in x.relations] == [
        ("Ada Lovelace", "Charles Babbage"),
        ("Charles Babbage", "London"),
        ("The Engine", "Charles Babbage"),
    ]
    assert all(TEXT[m.start : m.end] == m.surface for e in x.entities for m in e.mentions)
    assert x.rejected == ()


def test_the_tuple_format_can_be_asked_for() -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        (x,) = engine(server, extraction_format="tuple").extract([CHUNK])
    assert len(x.entities) == 4
    assert "response_format" not in server.calls[0].body


def test_the_prompt_shows_title_text_and_types_but_no_id() -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        engine(server, entity_types=("drug", "enzyme"), language="French").extract([CHUNK])
    system, *examples, user = (m["content"] for m in server.calls[0].body["messages"])
    assert not [text for text in (system, *examples) if "drug" in text or "French" in text]
    assert user == f"Entity types: drug, enzyme\nWrite in French.\n\nTitle: A meeting\n\nText:\n{TEXT}"
    assert server.calls[0].task == "extraction"


def test_claims_are_asked_for_only_when_they_are_on() -> None:
    with ScriptedServer(Script()) as server:
        off, on = engine(server), engine(server, claims=True)
        assert off.extract([CHUNK])[0].claims == ()
        assert len(on.extract([CHUNK])[0].claims) == 3
    assert [c.task for c in server.calls] == ["extraction", "extraction", "claims"]


def test_a_reply_that_cannot_be_read_is_asked_for_again_with_the_reason() -> None:
    good = {"entities": [{"name": "Ada Lovelace", "type": "person", "description": "A."}], "relations": []}
    with says("I cannot do that.", good) as server:
        made = engine(server)
        (x,) = made.extract([CHUNK])
        assert made.usage().rejected == 1
        assert made.notes() == ("1 replies to extract were asked for again",)
    assert [e.name for e in x.entities] == ["Ada Lovelace"]
    asked = talk_in(server.calls[1].body)
    assert [m["role"] for m in asked] == ["system", "user", "assistant", "user"]
    assert asked[2]["content"] == "I cannot do that."
    assert "no list of entities and relations" in asked[3]["content"]


def test_a_reply_that_stays_unreadable_fails_that_item_and_names_it() -> None:
    with says("no") as server, pytest.raises(ItemFailed, match=r"extract: .*chunk chunk-key of document 'doc-1'"):
        engine(server).extract([CHUNK])
    assert len(server.calls) == 2


def test_a_chunk_most_of_whose_records_are_unusable_is_asked_for_again_and_then_fails() -> None:
    bad = {"entities": [{"name": "A", "type": "geo"}], "relations": [{"source": "A", "target": "A"}, {"source": "A"}]}
    with says(bad) as server, pytest.raises(ItemFailed, match="2 of its 3 records"):
        engine(server).extract([CHUNK])
    assert len(server.calls) == 2


def test_a_few_unusable_records_are_counted_and_the_rest_is_kept() -> None:
    mixed = {"entities": [{"name": "A", "type": "geo"}, {"name": "B", "type": "geo"}], "relations": [{"source": "A"}]}
    with says(mixed) as server:
        made = engine(server)
        (x,) = made.extract([CHUNK])
        assert made.usage().rejected == 0
        assert made.notes() == ("1 unusable parts of replies to extract",)
    assert len(x.entities) == 2
    assert x.rejected == (("a relation without ends or of another form", 1),)
    assert len(server.calls) == 1


def test_an_empty_list_is_an_answer() -> None:
    plain = replace(CHUNK, text="It rained all day, and nothing else happened.")
    with says({"entities": [], "relations": []}) as server:
        assert engine(server).extract([plain])[0].entities == ()
        assert len(server.calls) == 1


def test_an_empty_list_about_a_passage_with_names_is_asked_for_again_and_then_believed() -> None:
    with says({"entities": [], "relations": []}) as server:
        assert engine(server).extract([CHUNK])[0].entities == ()
    assert len(server.calls) == 2
    assert "the passage names Lovelace and Charles" in talk_in(server.calls[1].body)[3]["content"]


def test_of_a_truncated_extraction_the_complete_records_are_kept() -> None:
    whole = (
        '{"entities": [{"name": "A", "type": "geo"}], "relations": [{"source": "A", "target": "B"}, {"source": "A", "ta'
    )
    with says((whole, "length")) as server, pytest.raises(Unreadable, match="cut off") as caught:
        engine(server).extract([CHUNK])
    x = caught.value.instead
    assert (len(x.entities), len(x.relations)) == (1, 1)
    assert [reason for reason, _ in x.rejected] == ["a reply cut off at its limit, the rest of it lost"]
    assert len(server.calls) == 2  # a cut reply is asked for again


def test_a_truncated_extraction_without_relations_is_asked_for_again() -> None:
    half = '{"entities": [{"name": "A", "type": "geo"}, {"name": "B", "ty'
    with says((half, "length")) as server, pytest.raises(Unreadable, match="cut off") as caught:
        engine(server).extract([CHUNK])
    assert [e.name for e in caught.value.instead.entities] == ["A"]
    assert [c.body["max_tokens"] for c in server.calls] == [4000, 8000]
    assert "cut off" in talk_in(server.calls[1].body)[3]["content"]


# ── summaries ──


def test_one_description_is_kept_without_a_call() -> None:
    twice = Context((ENTITIES[0], ENTITIES[0]), "T0")
    with ScriptedServer() as server:
        assert engine(server).summarise([twice, Context((), "T")]) == [ENTITIES[0].text, ""]
    assert server.calls == []


def test_several_descriptions_become_one() -> None:
    with says({"summary": " All of it. "}) as server:
        assert engine(server, summary_words=77).summarise([Context(ENTITIES, "T0")]) == ["All of it."]
    system, user = (m["content"] for m in server.calls[0].body["messages"])
    assert "77 words" in system
    assert user.startswith("Name: T0\n\nDescriptions:\n- Thing 0, which is good\n- Thing 1")


def test_descriptions_beyond_one_prompt_are_added_batch_by_batch() -> None:
    many = Context(tuple(Passage("entity", str(i), f"word{i} " * 40) for i in range(6)), "T")
    with says({"summary": "first"}, {"summary": "second"}, {"summary": "third"}) as server:
        assert engine(server, summary_input_tokens=200).summarise([many]) == ["third"]
    users = [c.body["messages"][1]["content"] for c in server.calls]
    assert ["Description so far" in u for u in users] == [False, True, True]
    assert "Description so far:\nsecond" in users[2]


def test_a_summary_in_plain_words_is_taken() -> None:
    with says("Just this.", schemas="none") as server:
        assert engine(server).summarise([Context(ENTITIES, "T0")]) == ["Just this."]


def test_a_truncated_summary_ends_with_its_last_sentence() -> None:
    with (
        says(('{"summary": "First one. Second one. And the thi', "length")) as server,
        pytest.raises(Unreadable) as caught,
    ):
        engine(server).summarise([Context(ENTITIES, "T0")])
    assert caught.value.instead == "First one. Second one."


# ── fingerprints, prompts, settings ──


def fingerprints(endpoint: Body | None = None, **settings: Any) -> dict[str, str]:
    given = {"model": "m", **(endpoint or {})}
    made = LLMEngine(Endpoint(EndpointSettings(**given)), LLMSettings(**settings))
    return {task: made.fingerprint(task) for task in TASKS}


@pytest.mark.parametrize(
    ("endpoint", "settings", "changed"),
    [
        ({"model": "n"}, {}, set(TASKS)),
        ({"temperature": 0.5}, {}, set(TASKS)),
        ({"seed": 3}, {}, set(TASKS)),
        ({"base_url": "http://elsewhere.example/v1"}, {}, set()),
        ({"api_key_env": "ANOTHER_KEY"}, {}, set()),
        ({"concurrency": 2, "timeout_s": 9.0, "requests_per_minute": 5}, {}, set()),
        ({}, {"entity_types": ("drug",)}, {"extract"}),
        ({}, {"claims": True}, {"extract"}),
        ({}, {"extraction_format": "tuple"}, {"extract"}),
        ({}, {"extract_tokens": 10}, {"extract"}),
        ({}, {"max_gleanings": 2}, {"extract"}),
        ({}, {"relation_types": ("CITES",)}, {"extract"}),
        ({}, {"schema": "enforced"}, {"extract"}),
        ({}, {"summary_words": 10}, {"summarise"}),
        ({}, {"summary_input_tokens": 1000}, {"summarise"}),
        ({}, {"findings_min": 2}, {"report"}),
        ({}, {"findings_max": 20}, {"report"}),
        ({}, {"report_tokens": 999}, {"report"}),
        ({}, {"points": "answer"}, {"rate"}),
        ({}, {"response_type": "a list"}, {"answer"}),
        ({}, {"general_knowledge": True}, {"rate", "answer"}),
        ({}, {"language": "French"}, set(TASKS)),
    ],
)
def test_a_fingerprint_changes_with_what_can_change_the_result_and_with_nothing_else(
    endpoint: Body, settings: Body, changed: set[str]
) -> None:  # D7
    before, after = fingerprints(), fingerprints(endpoint, **settings)
    assert {t for t in TASKS if before[t] != after[t]} == changed


def test_a_prompt_of_the_user_is_the_one_that_is_sent(tmp_path: Path) -> None:  # D12
    (tmp_path / "answer.md").write_text("Reply as JSON with an {{response_type}} in {{ language }}", "utf-8")
    with ScriptedServer(Script(keep_bodies=True)) as server:
        made = engine(server, prompts=str(tmp_path), response_type="elegy", language="Greek")
        made.answer([INQUIRY])
    assert server.calls[0].body["messages"][0]["content"] == "Reply as JSON with an elegy in Write in Greek."
    before, after = fingerprints(), fingerprints(prompts=str(tmp_path))
    assert {t for t in TASKS if before[t] != after[t]} == {"answer"}


def test_an_unknown_placeholder_or_prompt_is_an_error_before_any_call(tmp_path: Path) -> None:
    end = Endpoint(EndpointSettings(model="m"))
    (tmp_path / "report.md").write_text("{{summry_words}}", "utf-8")
    with pytest.raises(SettingsError, match=r"report\.md has an unknown placeholder {{summry_words}}.*summary_words"):
        LLMEngine(end, LLMSettings(prompts=str(tmp_path)))
    (tmp_path / "report.md").rename(tmp_path / "reports.md")
    with pytest.raises(SettingsError, match=r"reports\.md.*extract, "):
        LLMEngine(end, LLMSettings(prompts=str(tmp_path)))
    with pytest.raises(SettingsError, match="does not exist"):
        LLMEngine(end, LLMSettings(prompts=str(tmp_path / "nowhere")))


def test_no_packaged_prompt_keeps_a_placeholder() -> None:
    for settings in (
        LLMSettings(),
        LLMSettings(claims=True, points="answer", relation_types=("CITES",), schema="enforced"),
        LLMSettings(extraction_format="tuple", claims=True),
    ):
        made = LLMEngine(Endpoint(EndpointSettings(model="m")), settings)
        for task in TASKS:
            system = made._plan(task).system
            assert len(system) > 200
            assert "{{" not in system
            assert "JSON" in system or settings.extraction_format == "tuple"


@pytest.mark.parametrize(
    "settings",
    [
        {"entity_types": ()},
        {"max_gleanings": -1},
        {"relation_types": ("CITES", " ")},
        {"findings_min": 0},
        {"findings_min": 6, "findings_max": 5},
        {"summary_input_tokens": 5},
    ],
)
def test_settings_that_cannot_work_are_refused(settings: Body) -> None:
    with pytest.raises(SettingsError, match=r"model\."):
        LLMSettings(**settings)


def test_the_engine_is_one_and_names_what_it_cannot_do() -> None:
    made = LLMEngine(Endpoint(EndpointSettings(model="m")))
    assert isinstance(made, LanguageEngine)
    assert isinstance(made, PricedEngine)
    assert (made.name, made.batch, made.waits) == ("m", 1, True)
    with pytest.raises(UnsupportedTask, match="survey"):
        made.fingerprint("survey")


# ── estimates ──


def test_prompt_tokens_are_near_what_is_sent_and_zero_where_nothing_is() -> None:
    with ScriptedServer(Script(usage=False)) as server:
        made = engine(server)
        items = {"extract": CHUNK, "summarise": COMMUNITY, "report": COMMUNITY, "rate": INQUIRY, "answer": INQUIRY}
        for task, item in items.items():
            before = made.usage().prompt_tokens
            getattr(made, task)([item])
            sent = made.usage().prompt_tokens - before
            schema = made.prompt_tokens(task, item) - sent  # the form is not part of the messages
            assert 0 <= schema < 250, task
    assert made.prompt_tokens("report", Context(ENTITIES[:1])) == 0
    assert made.prompt_tokens("summarise", Context(ENTITIES[:1])) == 0
    assert made.prompt_tokens("rate", Inquiry("Q", Context(()))) == 0
    assert made.overhead("answer") < made.prompt_tokens("answer", INQUIRY)


def test_a_price_is_that_of_the_endpoint() -> None:
    end = Endpoint(EndpointSettings(model="m", price_prompt=2.0, price_completion=8.0))
    assert LLMEngine(end).price(1_000_000, 500_000) == pytest.approx(6.0)
    assert LLMEngine(Endpoint(EndpointSettings(model="m"))).price(1000, 1000) == 0


# ── through a storm ──


def test_every_task_gets_through_a_storm_of_faults() -> None:
    rates = dict.fromkeys(("fail_rate", "drop_rate", "garbled_rate"), 0.2)
    with ScriptedServer(Script(**rates, times=3)) as server:
        made = engine(server)
        reports: list[Report] = []
        for i in range(8):
            context = Context((RELATION, *ENTITIES, Passage("entity", f"x{i}", f"Extra {i}", title=f"X{i}")), "T")
            reports += made.report([context])
            made.extract([CHUNK])
            made.answer([Inquiry(f"What {i}?", context)])
    assert len(reports) == 8
    assert made.usage().retries == sum(server.faults.values()) > 0
    assert all(s.references for r in reports for f in r.findings for s in f.statements)
