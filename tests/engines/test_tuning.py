from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from scripted import ScriptedServer
from scripted_engine import CHUNK, TEXT, Body, engine, says
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.prompt_tuning import EXAMPLES, Tuned, fit_prompts, list_fitted_templates
from sensegraph.engines.llm.prompts import TEMPLATES, read_packaged_template
from sensegraph.engines.llm.replies.extracted_records import collect_json_records, collect_tuple_records, has_tuples
from sensegraph.engines.llm.templates import split_template
from sensegraph.errors import ItemFailed
from sensegraph.types import Chunk

PROFILE = {
    "domain": "letters between engineers of the 1840s.",
    "persona": "a historian of computing",
    "language": "English",
    "entity_types": ["Engineer", "machine", " MACHINE", "other", ""],
}
FOUND = {
    "entities": [{"name": "Ada Lovelace", "type": "engineer", "description": "She {{wrote}} it."}],
    "relations": [{"source": "Ada Lovelace", "target": "London", "description": "She met him there.", "strength": 3}],
}
CLAIMED = {"claims": [{"subject": "Ada Lovelace", "description": "She met him.", "quote": "met Charles", "starts": ""}]}


def passages(count: int) -> list[Chunk]:
    return [replace(CHUNK, id=f"chunk-{i}", document=f"doc-{i}") for i in range(count)]


def made(server: ScriptedServer, count: int = 2, language: str = "", **settings: Any) -> tuple[Tuned, dict[str, str]]:
    found = fit_prompts(engine(server, **settings), passages(count), language)
    return found, dict(found.templates)


def test_the_model_names_domain_persona_language_and_types() -> None:  # G05
    with says(PROFILE, FOUND) as server:
        found, _ = made(server)
    p = found.profile
    assert (p.domain, p.persona, p.language) == (PROFILE["domain"][:-1], PROFILE["persona"], "English")
    assert p.entity_types == ("engineer", "machine")
    user = server.calls[0].body["messages"][1]["content"]
    assert user.count(TEXT) == 2
    assert found.usage.calls == 3


def test_every_template_but_its_own_is_written_and_can_be_used(tmp_path: Any) -> None:
    with says(PROFILE, FOUND, FOUND) as server:
        found, texts = made(server)
        assert tuple(texts) == list_fitted_templates()
        assert set(TEMPLATES) - set(list_fitted_templates()) >= {"tune", "references", "test"}
        for name, text in found.templates:
            (tmp_path / f"{name}.md").write_text(text, "utf-8")
        for form in ("json", "tuple"):  # every placeholder is known
            settings = LLMSettings(prompts=str(tmp_path), claims=True, extraction_format=form)
            assert LLMEngine(engine(server).endpoint, settings)._plan("extract").system.startswith("You are a histor")
    assert texts["report"].startswith(
        "You are a historian of computing. The corpus holds letters between engineers of the 1840s.\n\nYou write"
    )
    assert texts["report"].endswith(read_packaged_template("report"))


def test_what_was_found_in_the_sample_becomes_the_examples() -> None:
    with says(PROFILE, FOUND) as server:
        _, texts = made(server)
    for name in ("extract", "extract-tuple"):
        assert "Edda Kroll" not in texts[name]
        assert texts[name].count("Example, from this corpus.\n\n{{types}}\nWrite in English.\n\nText:\n") == 2
        found = split_template(name, texts[name])
        assert [asked.partition(",")[2].split(".")[0] for asked, _ in found.turns] == [
            " from this corpus",
            " from this corpus",
            " from another corpus",
        ]
        text, reply = found.turns[0]
        assert text.endswith(TEXT)
        read = (
            collect_tuple_records(reply, TEXT) if has_tuples(reply) else collect_json_records(json.loads(reply), TEXT)
        )
        assert [(e.name, e.type) for e in read.extraction.entities] == [("Ada Lovelace", "engineer")]
        assert [r.strength for r in read.extraction.relations] == [3]
        assert "{{wrote}}" not in texts[name]
    assert "Edda Kroll" in texts["claims"]  # none was asked for


def test_the_reader_of_examples_looks_for_the_types_that_were_named() -> None:
    with says(PROFILE, FOUND) as server:
        made(server)
    assert "Entity types: engineer, machine\n" in server.calls[1].body["messages"][-1]["content"]


def test_claims_have_examples_where_they_are_wanted() -> None:
    with says(PROFILE, FOUND, CLAIMED) as server:
        _, texts = made(server, 1, claims=True)
    assert '"quote":"met Charles"' in texts["claims"]
    assert "Entities: Ada Lovelace" in texts["claims"]
    reply = split_template("claims-tuple", texts["claims-tuple"]).turns[0][1]
    assert [(c.subject, c.description) for c in collect_tuple_records(reply, TEXT).extraction.claims] == [
        ("Ada Lovelace", "She met him.")
    ]


def test_types_of_relations_stand_in_the_examples_where_some_are_named() -> None:
    typed = FOUND | {"relations": [FOUND["relations"][0] | {"type": "met"}]}
    with says(PROFILE, typed) as server:
        _, texts = made(server, relation_types=("MET",))
    assert '"type":"MET"' in texts["extract"]
    assert "London<|>MET<|>She met him there.<|>3" in texts["extract-tuple"]


def test_a_few_passages_give_the_examples_and_only_their_first_sentences() -> None:
    long = replace(CHUNK, text=f"{TEXT} " * 50)
    with says(PROFILE, FOUND) as server:
        found = fit_prompts(engine(server), [long] * 10)
    assert len(found.examples) == EXAMPLES == len(server.calls) - 1
    assert all(50 < e.passage.tokens <= 200 for e in found.examples)
    assert all(e.passage.text == long.text[: len(e.passage.text)] for e in found.examples)


def test_an_example_does_not_begin_inside_a_sentence() -> None:
    later = replace(CHUNK, start=100, end=100 + len(TEXT))
    with says(PROFILE, FOUND) as server:
        (example,) = fit_prompts(engine(server), [later]).examples
    assert example.passage.text == "The Engine was designed by Charles Babbage."
    assert TEXT[example.passage.start - 100 : example.passage.end - 100] == example.passage.text


def test_a_sample_that_names_nothing_leaves_the_packaged_examples_and_says_so() -> None:
    with says(PROFILE, {"entities": [], "relations": []}) as server:
        found, texts = made(server, 9)
    assert (len(found.examples), len(server.calls)) == (0, 1 + 4 * EXAMPLES)
    assert "Edda Kroll" in texts["extract"]
    assert "packaged" in found.notes[0]


def test_a_language_is_asked_for_where_one_is_wanted() -> None:
    with says(PROFILE, FOUND) as server:
        made(server, 1, language="German")
    assert len(server.calls) > 1
    assert all("Write in German." in c.body["messages"][-1]["content"] for c in server.calls)


@pytest.mark.parametrize(
    "bad", [PROFILE | {"entity_types": ["other"]}, PROFILE | {"domain": " "}, {"domain": "x"}, "I cannot."]
)
def test_an_account_that_stays_unusable_is_an_error_before_anything_else(bad: Body | str) -> None:
    with says(bad) as server, pytest.raises(ItemFailed, match="tune-prompts: the reply of m about 2 passages"):
        made(server)
    assert len(server.calls) == 2
