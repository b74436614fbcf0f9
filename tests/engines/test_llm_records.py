from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.replies.dated_records import drop_foreign_dates
from sensegraph.engines.llm.replies.extracted_records import (
    Found,
    collect_json_records,
    collect_tuple_records,
    has_tuples,
)
from sensegraph.errors import SettingsError
from sensegraph.types import ExtractedClaim, ExtractedEntity, ExtractedRelation, Mention

TEXT = (
    "Mara Voss runs the harbour of Lindholm. It was built in 1904. Lindholm lies by the sea. Mara  voss was born there."
)


def pairs(found: Found) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str, float]]]:
    x = found.extraction
    entities = [(e.name, e.type, e.description) for e in x.entities]
    return entities, [(r.source, r.target, r.description, r.strength) for r in x.relations]


PERSON = ("Mara Voss", "person", "Mara Voss runs the harbour.")
PLACE = ("Lindholm", "geo", "A town (by the sea)")
LINK = ("Mara Voss", "Lindholm", "She works there.", 8.0)


@pytest.mark.parametrize(
    "reply",
    [
        # as asked for
        '("entity"<|>Mara Voss<|>person<|>Mara Voss runs the harbour.)\n##\n'
        '("entity"<|>Lindholm<|>geo<|>A town (by the sea))\n##\n'
        '("relationship"<|>Mara Voss<|>Lindholm<|>She works there.<|>8)\n<|COMPLETE|>',
        # no quotes, other kind word, one line, prose before and after
        "Sure:\n(entity<|>Mara Voss<|>PERSON<|>Mara Voss runs the harbour.)##"
        "(entity<|>Lindholm<|>GEO<|>A town (by the sea))##"
        "(relation<|>Mara Voss<|>Lindholm<|>She works there.<|>8.0)<|COMPLETE|> More? (entity<|>X<|>y<|>z)",
        # missing closing brackets, separated by line ends
        '("entity"<|>Mara Voss<|>person<|>Mara Voss runs the harbour.\n'
        '("ENTITY"<|>Lindholm<|>geo<|>A town (by the sea)\n'
        '("Relationship"<|>Mara Voss<|>Lindholm<|>She works there.<|>8',
        # quotes and brackets around fields, strength in words
        '("entity" <|> "Mara Voss" <|> [person] <|> "Mara Voss runs the harbour.")\n'
        '("entity" <|> (Lindholm) <|> {geo} <|> A town (by the sea))\n'
        "(\"relationship\" <|> 'Mara Voss' <|> “Lindholm” <|> She works there. <|> strength: 8 of 10)",
    ],
)
def test_tuples_are_read_in_all_the_shapes_that_models_give_them(reply: str) -> None:
    assert has_tuples(reply)
    found = collect_tuple_records(reply, TEXT)
    assert pairs(found) == ([PERSON, PLACE], [LINK])
    assert found.rejected == 0


def test_a_delimiter_inside_a_description_does_not_end_the_record() -> None:
    found = collect_tuple_records(
        '("entity"<|>Lindholm<|>geo<|>A town <|> and a harbour)\n("entity"<|>Mara<|>person<|>A woman)', TEXT
    )
    assert pairs(found)[0] == [("Lindholm", "geo", "A town and a harbour"), ("Mara", "person", "A woman")]


def test_names_of_any_script_survive() -> None:
    reply = (
        '("entity"<|>東京<|>geo<|>日本の首都。)##("entity"<|>Ярослава Новак<|>person<|>Учёный.)##'
        '("entity"<|>Müller & Söhne<|>organization<|>)'
    )
    found = collect_tuple_records(reply, "東京で会った。Ярослава Новак, Müller & Söhne")
    assert [e.name for e in found.extraction.entities] == ["東京", "Ярослава Новак", "Müller & Söhne"]
    assert [len(e.mentions) for e in found.extraction.entities] == [1, 1, 1]


def test_a_reply_that_is_only_complete_holds_nothing_and_rejects_nothing() -> None:
    assert has_tuples("<|COMPLETE|>")
    assert (collect_tuple_records("<|COMPLETE|>", TEXT).offered, collect_tuple_records("", TEXT).offered) == (0, 0)
    assert not has_tuples("I cannot do that.")


def test_unusable_records_are_counted_with_their_reason() -> None:
    found = collect_tuple_records(
        '("entity"<|><|>geo<|>nameless)\n("relationship"<|>A<|>a<|>itself<|>2)\n("relationship"<|>A<|><|>no end<|>2)\n'
        '("entity"<|>A<|>geo<|>good)',
        TEXT,
    )
    assert found.extraction.rejected == (
        ("a relation of an entity with itself", 1),
        ("a relation without source or target", 1),
        ("an entity without a name", 1),
    )
    assert (found.offered, found.rejected, len(found.extraction.entities)) == (4, 3, 1)


def test_the_last_record_of_a_truncated_reply_is_left_out_when_it_is_cut() -> None:
    whole = '("entity"<|>A<|>geo<|>good)\n##\n("entity"<|>B<|>geo<|>go'
    assert [e.name for e in collect_tuple_records(whole, "", truncated=True).extraction.entities] == ["A"]
    assert [e.name for e in collect_tuple_records(whole + "od)", "", truncated=True).extraction.entities] == ["A", "B"]


def test_a_strength_without_a_number_is_one() -> None:
    records = [{"source": "A", "target": "B", "strength": s} for s in (7, "about 6.5", "strong", None)]
    assert [r.strength for r in collect_json_records({"relations": records}, "").extraction.relations] == [7, 6.5, 1, 1]


def test_each_record_of_json_is_checked_by_itself() -> None:
    data = {
        "entities": [{"name": "Mara Voss", "type": "Person", "description": None}, {"type": "geo"}, "Lindholm", 7],
        "relationships": [{"source": "Mara Voss", "target": "Lindholm", "description": "works there"}, {"source": "X"}],
        "claims": "none",
    }
    found = collect_json_records(data, TEXT)
    assert [(e.name, e.type) for e in found.extraction.entities] == [("Mara Voss", "person")]
    assert len(found.extraction.relations) == 1
    assert (found.offered, found.rejected) == (6, 4)


def test_names_are_found_in_the_text_in_any_case_and_spacing() -> None:
    (entity,) = collect_json_records({"entities": [{"name": "Mara Voss", "type": "person"}]}, TEXT).extraction.entities
    assert entity.mentions == (Mention("Mara Voss", 0, 9), Mention("Mara  voss", 88, 98))
    assert all(TEXT[m.start : m.end] == m.surface for m in entity.mentions)
    assert TEXT[entity.start : entity.end] == "Mara Voss runs the harbour of Lindholm."


def test_a_part_of_a_word_is_no_mention() -> None:
    (entity,) = collect_json_records(
        {"entities": [{"name": "Ada", "type": "person"}]}, "Adam and Nevada"
    ).extraction.entities
    assert entity == ExtractedEntity("Ada", "person")


def test_a_relation_stands_where_its_ends_are_nearest() -> None:
    data = {"relations": [{"source": "Lindholm", "target": t, "description": "d"} for t in ("sea", "1904", "Oslo")]}
    spans = [(r.start, r.end) for r in collect_json_records(data, TEXT).extraction.relations]
    assert [TEXT[a:b] for a, b in spans] == [
        "Lindholm lies by the sea.",
        "It was built in 1904. Lindholm lies by the sea.",
        "",
    ]


def test_a_relation_stands_in_one_sentence_where_there_is_one() -> None:
    text = "They saw Oslo. Mara left. Mara, who was tired of the sea, moved to Oslo."
    (relation,) = collect_json_records({"relations": [{"source": "Mara", "target": "Oslo"}]}, text).extraction.relations
    assert text[relation.start : relation.end] == "Mara, who was tired of the sea, moved to Oslo."


def test_claims_carry_dates_status_and_the_place_of_their_quote() -> None:
    claim = {"subject": "Lindholm", "description": "The harbour was built in 1904.", "type": "date"}
    claims = [
        claim | {"object": "none", "status": "true", "starts": "1904", "ends": "unknown", "quote": "built  in 1904"},
        claim | {"object": "", "status": "maybe", "starts": "1904-05-01T00:00", "quote": "never said"},
        {"subject": "", "description": "about nothing"},
    ]
    first, second = collect_json_records({"claims": claims}, TEXT).extraction.claims
    assert first == ExtractedClaim("Lindholm", "none", "date", "TRUE", claim["description"], "1904", "", 47, 60)
    assert (second.status, second.starts, second.object, second.start, second.end) == (
        "SUSPECTED",
        "1904-05-01",
        "none",
        0,
        0,
    )


def test_two_companies_with_one_relation_and_three_claims_are_read() -> None:  # G06
    text = (
        "NeoChip fell in its first week on the exchange. Quantum Systems, its owner until 2016, called the price fair."
    )
    claim = {"object": "none", "type": "finance", "status": "TRUE", "starts": "", "ends": "", "quote": ""}
    data = {
        "entities": [{"name": n, "type": "organization", "description": ""} for n in ("NeoChip", "Quantum Systems")],
        "relations": [{"source": "Quantum Systems", "target": "NeoChip", "description": "Owned it.", "strength": 7}],
        "claims": [
            claim | {"subject": "NeoChip", "description": "Its shares fell in the first week of trading."},
            claim | {"subject": "NeoChip", "description": "It belonged to Quantum Systems until 2016.", "ends": "2016"},
            claim | {"subject": "Quantum Systems", "description": "It called the price fair."},
        ],
    }
    found = collect_json_records(data, text)
    x = found.extraction
    assert (len(x.entities), len(x.relations), len(x.claims), found.rejected) == (2, 1, 3, 0)
    assert x.relations[0] == ExtractedRelation("Quantum Systems", "NeoChip", "Owned it.", 7, 0, len(text))


@pytest.mark.parametrize(
    "body",
    [
        "Lindholm<|>none<|>date<|>TRUE<|>1904<|><|>It was built in 1904.<|>built in 1904",
        'Lindholm<|><|>date<|>true<|>1904<|>NONE<|>It was built in 1904.<|>"built in 1904"',
        "Lindholm<|>NONE<|>date<|>TRUE<|>It was built in 1904.<|>built in 1904",
        "Lindholm<|>NONE<|>date<|>TRUE<|>1904<|><|>It was built<|>in 1904.<|>built in 1904",
    ],
)
def test_claims_are_read_from_tuples_with_and_without_dates(body: str) -> None:
    (claim,) = collect_tuple_records(f'("claim"<|>{body})', TEXT).extraction.claims
    assert (claim.subject, claim.object.casefold(), claim.type, claim.status) == ("Lindholm", "none", "date", "TRUE")
    assert claim.description == "It was built in 1904."
    assert (claim.starts in ("1904", ""), claim.ends) == (True, "")
    assert TEXT[claim.start : claim.end] == "built in 1904"


@pytest.mark.parametrize("body", ["", "Lindholm", "Lindholm<|>none<|>date", "<|>none<|>date<|>TRUE<|>It was built."])
def test_a_claim_in_tuples_without_subject_or_description_is_rejected(body: str) -> None:
    found = collect_tuple_records(f'("claim"<|>{body})', TEXT)
    assert (found.offered, found.rejected, found.extraction.claims) == (1, 1, ())


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2019", "2019"),
        ("2019-02", "2019-02"),
        ("2019-02-30", "2019"),
        ("2019-13-01", "2019"),
        ("0000", ""),
        ("2019-05-01T10:00", "2019-05-01"),
        ("20190501", ""),
        ("May 2019", ""),
        ("NONE", ""),
        ("", ""),
    ],
)
def test_a_date_is_one_of_the_calendar_or_none(written: str, read: str) -> None:
    claim = {"subject": "Lindholm", "description": "It was.", "starts": written}
    assert collect_json_records({"claims": [claim]}, TEXT).extraction.claims[0].starts == read


def test_a_date_whose_year_is_not_said_is_removed_and_counted() -> None:
    claim = {"subject": "Lindholm", "description": "It was.", "starts": "1904-05-01", "ends": "1905"}
    found, lost = drop_foreign_dates(
        collect_json_records({"claims": [claim]}, TEXT).extraction, "Built in 19041, no: in ١٩٠٤."
    )
    assert ([(c.starts, c.ends) for c in found.claims], lost) == ([("1904-05-01", "")], 1)


@pytest.mark.parametrize(
    ("fields", "label", "said"),
    [
        ("CITES<|>It cites it.<|>3", "CITES", "It cites it."),
        ("It cites it.<|>3", "", "It cites it."),
        ("<|>It cites it.<|>3", "", "It cites it."),
        ("It cites it.", "", "It cites it."),
    ],
)
def test_the_type_of_a_relation_stands_before_its_description_where_it_was_asked_for(
    fields: str, label: str, said: str
) -> None:  # N93
    (relation,) = collect_tuple_records(f'("relationship"<|>A<|>B<|>{fields})', TEXT, typed=True).extraction.relations
    assert (relation.label, relation.description) == (label, said)


@given(st.text('("entity"<|>#)\n relationship,A1', max_size=120))
def test_nothing_that_a_model_writes_breaks_the_parser(reply: str) -> None:
    found = collect_tuple_records(reply, TEXT, truncated=True)
    assert all(e.name for e in found.extraction.entities)
    assert all(r.source != r.target for r in found.extraction.relations)
    assert found.offered == found.rejected + len(found.extraction.entities) + len(found.extraction.relations)


def test_a_relation_says_since_and_until_when_it_holds_by_dates_that_the_passage_has() -> None:
    ends = {"source": "Mara Voss", "target": "Lindholm", "description": "d"}
    given = [("1904", ""), ("1904-13", "2050"), ("once", "1904-05-02"), (None, "")]
    found = collect_json_records({"relations": [ends | {"starts": a, "ends": b} for a, b in given]}, TEXT).extraction
    kept, lost = drop_foreign_dates(found, TEXT)
    assert [(r.starts, r.ends) for r in kept.relations] == [("1904", ""), ("1904", ""), ("", "1904-05-02"), ("", "")]
    assert lost == 1


def test_the_smallest_counts_of_the_model_s_settings_are_taken() -> None:
    least = {"max_gleanings": 0, "findings_min": 1, "findings_max": 1, "follow_ups": 1, "sub_questions": 1}
    made = LLMSettings(**least, history_tokens=0)  # type: ignore[arg-type]
    assert {name: getattr(made, name) for name in least} == least
    for name, value in (("max_gleanings", -1), ("findings_min", 0), ("findings_min", 2), ("follow_ups", 0)):
        with pytest.raises(SettingsError, match="must be"):
            LLMSettings(**{**least, name: value})  # type: ignore[arg-type]
