from __future__ import annotations

import json

import pytest

from scripted import Script, ScriptedServer
from scripted_engine import CHUNK, TEXT, Body, engine, says
from scripted_replies import talk_in
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.errors import ItemFailed
from sensegraph.types import Chunk

FIRST = {"entities": [{"name": "Ada Lovelace", "type": "person", "description": "first"}], "relations": []}
MORE = {
    "entities": [
        {"name": "ADA  LOVELACE", "type": "person", "description": "again"},
        {"name": "London", "type": "geo", "description": "new"},
    ],
    "relations": [{"source": "London", "target": "Ada Lovelace", "description": "new", "strength": 2}],
}

# ── gleaning (N05, N06, G07) ──


def test_one_round_of_gleaning_is_the_default() -> None:
    assert LLMSettings().max_gleanings == 1


def test_gleaning_stops_at_a_no() -> None:
    with says(FIRST, "No.") as server:
        (x,) = engine(server, max_gleanings=3, gleaning="check").extract([CHUNK])
    assert ([e.name for e in x.entities], x.rounds) == (["Ada Lovelace"], ())
    assert [c.task for c in server.calls] == ["extraction", "check"]


def test_gleaning_adds_what_is_new_keeps_what_was_found_and_counts_its_rounds() -> None:
    with says(FIRST, "YES", MORE, "yes", FIRST, "no") as server:
        (x,) = engine(server, max_gleanings=5, gleaning="check").extract([CHUNK])
    assert [(e.name, e.description) for e in x.entities] == [("Ada Lovelace", "first"), ("London", "new")]
    assert [(r.source, r.target) for r in x.relations] == [("London", "Ada Lovelace")]
    assert x.rounds == (1, 0)
    assert [c.task for c in server.calls] == ["extraction", "check"] * 3
    asked = talk_in(server.calls[2].body)
    assert [m["role"] for m in asked] == ["system", "user", "assistant", "user"]
    assert "MANY" in asked[3]["content"]


def test_gleaning_ends_after_its_last_round_and_without_it_nothing_is_asked() -> None:
    with says(FIRST, "yes", MORE, "yes", MORE) as server:
        engine(server, max_gleanings=2, gleaning="check").extract([CHUNK])
    assert len(server.calls) == 5
    with says(FIRST) as server:
        engine(server).extract([CHUNK])
    assert len(server.calls) == 1


def test_a_gleaning_that_cannot_be_read_is_asked_for_again() -> None:
    with says(FIRST, "yes", "I cannot.", MORE) as server:
        (x,) = engine(server, max_gleanings=1, gleaning="check").extract([CHUNK])
    assert ([e.name for e in x.entities], x.rounds) == (["Ada Lovelace", "London"], (1,))
    assert "no list of entities and relations" in server.calls[-1].body["messages"][-1]["content"]


def test_a_gleaning_that_stays_unreadable_fails_its_chunk_and_one_that_is_empty_does_not() -> None:
    with says(FIRST, "yes", "I cannot.") as server, pytest.raises(ItemFailed, match="what was missed of chunk"):
        engine(server, max_gleanings=1, gleaning="check").extract([CHUNK])
    with says(FIRST, "yes", {"entities": [], "relations": []}) as server:
        assert engine(server, max_gleanings=1, gleaning="check").extract([CHUNK])[0].rounds == (0,)


def test_the_least_that_a_chunk_needs_is_foreseen() -> None:
    with ScriptedServer(Script(usage=False)) as server:
        checked = {"max_gleanings": 1, "gleaning": "check"}
        claimed = {"max_gleanings": 1, "claims": True}
        variants = (({}, 1), ({"max_gleanings": 2}, 1), (checked, 2), (claimed, 3), (claimed | checked, 4))
        for settings, calls in variants:
            made = engine(server, **settings)
            made.extract([CHUNK])
            assert made.usage().calls == made.calls("extract", CHUNK) == calls
            assert 0.5 < made.prompt_tokens("extract", CHUNK) / made.usage().prompt_tokens < 2


# ── claims (N08, G06) ──

NAMES = ("NeoChip", "Quantum Systems")
PASSAGE = (
    "NeoChip fell by a fifth in its first week on the exchange, on 3 May 2021. Quantum Systems, which owned the maker "
    "of chips until 2016, says that the price is fair. Traders suspect that it sold its last shares in secret."
)
COMPANIES = Chunk("c-1", "doc-1", 0, len(PASSAGE), 50, PASSAGE, "Markets")
LISTED = {
    "entities": [{"name": n, "type": "organization", "description": f"{n} is a company."} for n in NAMES],
    "relations": [
        {"source": "Quantum Systems", "target": "NeoChip", "description": "It owned NeoChip until 2016.", "strength": 7}
    ],
}


def claim(subject: str, object_: str, kind: str, status: str, dates: tuple[str, str], said: str, quote: str) -> Body:
    names = ("subject", "object", "type", "status", "starts", "ends", "description", "quote")
    return dict(zip(names, (subject, object_, kind, status, *dates, said, quote), strict=True))


CLAIMS = [
    claim("NeoChip", "none", "loss", "TRUE", ("2021-05-03", ""), "NeoChip lost a fifth.", "fell by a fifth"),
    claim("Quantum Systems", "NeoChip", "ownership", "TRUE", ("", "2016"), "It owned it.", "owned the maker of chips"),
    claim("Quantum Systems", "NONE", "trade", "SUSPECTED", ("2019", "soon"), "It sold in secret.", "never said"),
]


def as_tuples(claims: list[Body]) -> str:
    return "\n##\n".join(f'("claim"<|>{"<|>".join(c.values())})' for c in claims) + "\n<|COMPLETE|>"


def entities_as_tuples() -> str:
    records = [f'("entity"<|>{e["name"]}<|>{e["type"]}<|>{e["description"]})' for e in LISTED["entities"]]
    link = LISTED["relations"][0]
    return "##".join([*records, f'("relationship"<|>{"<|>".join(map(str, link.values()))})<|COMPLETE|>'])


@pytest.mark.parametrize("form", ["json", "tuple"])
def test_two_companies_one_relation_and_three_claims_are_read_in_both_forms(form: str) -> None:
    tuples = form == "tuple"
    with says(*((entities_as_tuples(), as_tuples(CLAIMS)) if tuples else (LISTED, {"claims": CLAIMS}))) as server:
        made = engine(server, claims=True, extraction_format=form)
        (x,) = made.extract([COMPANIES])
    assert ([e.name for e in x.entities], len(x.relations), len(x.claims)) == (list(NAMES), 1, 3)
    assert [(c.subject, c.object.lower(), c.status) for c in x.claims] == [
        ("NeoChip", "none", "TRUE"),
        ("Quantum Systems", "neochip", "TRUE"),
        ("Quantum Systems", "none", "SUSPECTED"),
    ]
    assert [(c.starts, c.ends) for c in x.claims] == [("2021-05-03", ""), ("", "2016"), ("", "")]
    assert [PASSAGE[c.start : c.end] for c in x.claims] == ["fell by a fifth", "owned the maker of chips", ""]
    assert made.notes() == ("1 unusable parts of replies to extract",)  # 2019, which the passage does not say


def test_claims_have_their_own_prompt_which_names_the_entities() -> None:
    with says(LISTED, {"claims": []}) as server:
        engine(server, claims=True).extract([COMPANIES])
    first, second = (talk_in(c.body) for c in server.calls)
    assert "claim" not in first[0]["content"]
    assert first[0]["content"] != second[0]["content"]
    assert second[1]["content"].endswith("Entities: NeoChip; Quantum Systems")
    assert server.calls[1].task == "claims"


def test_claims_are_gleaned_by_themselves_and_what_that_finds_counts() -> None:  # D12
    with says(LISTED, "no", {"claims": CLAIMS[:1]}, "yes", {"claims": CLAIMS}) as server:
        (x,) = engine(server, claims=True, max_gleanings=1, gleaning="check").extract([COMPANIES])
    assert [c.description for c in x.claims] == [c["description"] for c in CLAIMS]
    assert [c.task for c in server.calls] == ["extraction", "check", "claims", "check", "claims"]
    assert x.rounds == ()  # no round asked for entities


def test_where_there_is_no_entity_there_is_no_claim_to_ask_for() -> None:
    with says({"entities": [], "relations": []}) as server:
        assert engine(server, claims=True).extract([CHUNK])[0].claims == ()
    assert [c.task for c in server.calls] == ["extraction"] * 2  # a passage with names is asked about once more


def test_claims_that_nobody_asked_for_are_left_out() -> None:
    with says(FIRST | {"claims": CLAIMS}) as server:
        assert engine(server).extract([CHUNK])[0].claims == ()


def test_a_reply_without_a_list_of_claims_is_asked_for_again() -> None:
    with says(LISTED, LISTED, {"claims": CLAIMS}) as server:
        assert len(engine(server, claims=True).extract([COMPANIES])[0].claims) == 3
    assert "no list of claims" in talk_in(server.calls[2].body)[3]["content"]


# ── a schema of one's own (N93) ──

LAW = {"entity_types": ("Case", "Judge", "Statute"), "relation_types": ("CITES", "OVERTURNS")}
RULING = {
    "entities": [
        {"name": "Ada Lovelace", "type": "JUDGE", "description": ""},
        {"name": "London", "type": "city", "description": ""},
        {"name": "Roe", "type": "case", "description": ""},
        {"name": "Doe", "type": "other", "description": ""},
    ],
    "relations": [
        {"source": "Roe", "target": "Doe", "type": "cites", "description": "It cites it.", "strength": 5},
        {"source": "Roe", "target": "London", "type": "HEARD_IN", "description": "Heard there.", "strength": 2},
        {"source": "Roe", "target": "Ada Lovelace", "description": "By her.", "strength": 1},
    ],
}


def law_as_tuples() -> str:
    lines = [f'("entity"<|>{e["name"]}<|>{e["type"]}<|>x)' for e in RULING["entities"]]
    for r in RULING["relations"]:
        kind = f"{r['type']}<|>" if "type" in r else ""
        lines.append(f'("relationship"<|>{r["source"]}<|>{r["target"]}<|>{kind}{r["description"]}<|>{r["strength"]})')
    return "\n##\n".join(lines)


@pytest.mark.parametrize("form", ["json", "tuple"])
def test_an_enforced_schema_makes_what_is_outside_it_other_and_counts_it(form: str) -> None:
    with says(law_as_tuples() if form == "tuple" else RULING) as server:
        (x,) = engine(server, **LAW, schema="enforced", extraction_format=form).extract([CHUNK])
    assert [e.type for e in x.entities] == ["judge", "other", "case", "other"]
    assert [r.label for r in x.relations] == ["CITES", "other", "other"]
    assert [r.description for r in x.relations] == ["It cites it.", "Heard there.", "By her."]
    assert x.outside == (("entity type city", 1), ("relation type (none)", 1), ("relation type HEARD_IN", 1))
    assert x.rejected == ()


@pytest.mark.parametrize("form", ["json", "tuple"])
def test_an_open_schema_keeps_what_is_outside_it_and_counts_it(form: str) -> None:
    with says(law_as_tuples() if form == "tuple" else RULING) as server:
        (x,) = engine(server, **LAW, extraction_format=form).extract([CHUNK])
    assert [e.type for e in x.entities] == ["judge", "city", "case", "other"]
    assert [r.label for r in x.relations] == ["CITES", "HEARD_IN", ""]
    assert [n for _, n in x.outside] == [1, 1, 1, 1]


def test_only_an_enforced_schema_is_demanded_of_the_endpoint() -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        for schema in ("open", "enforced"):
            engine(server, **LAW, schema=schema).extract([CHUNK])
    kinds = []
    for call in server.calls:
        form = call.body["response_format"]["json_schema"]["schema"]["properties"]
        parts = (form[name]["items"]["properties"]["type"] for name in ("entities", "relations"))
        kinds.append([part.get("enum") for part in parts])
    assert kinds == [[None, None], [["Case", "Judge", "Statute", "other"], ["CITES", "OVERTURNS", "other"]]]


@pytest.mark.parametrize("form", ["json", "tuple"])
def test_the_prompt_asks_for_types_of_relations_only_where_some_are_named(form: str) -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        engine(server, extraction_format=form).extract([CHUNK])
        engine(server, extraction_format=form, **LAW).extract([CHUNK])
    without, with_ = ("\n\n".join(m["content"] for m in c.body["messages"]) for c in server.calls)
    assert "\nRelation types: CITES, OVERTURNS\n" in with_
    assert "IN_CHARGE_OF" in with_
    assert "IN_CHARGE_OF" not in without
    assert "elation types" not in without
    assert "\n\n-" not in without  # no hole in a list


def test_types_that_nobody_asked_for_are_no_labels() -> None:
    with says(RULING) as server:
        (x,) = engine(server).extract([CHUNK])
    assert {r.label for r in x.relations} == {""}
    assert all("entity" in kind for kind, _ in x.outside)


def test_the_words_of_a_schema_survive_being_written_in_another_way() -> None:
    reply = {"entities": [{"name": "Equity", "type": "legal_principle", "description": ""}], "relations": []}
    with says(reply) as server:
        (x,) = engine(server, entity_types=("Legal Principle",), schema="enforced").extract([CHUNK])
    assert (x.entities[0].type, x.outside) == ("legal principle", ())


def test_what_an_extraction_holds_can_be_stored(server: ScriptedServer) -> None:
    (x,) = engine(server, claims=True, **LAW).extract([CHUNK])
    assert all(TEXT[c.start : c.end] for c in x.claims)
    assert json.loads(json.dumps(x.outside))
