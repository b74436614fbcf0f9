"""What a model is asked of groups, and what becomes of its replies (L07, L10, L11, L19)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_engine import COMMUNITY, ENTITIES, Body, engine, says
from scripted_groups import VIOLATIONS
from scripted_replies import reply
from sensegraph.engines.llm.group_tasks import TASKS
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.replies import group_replies
from sensegraph.errors import ItemFailed, SettingsError, Unreadable
from sensegraph.types import Brief, Context, Membership, Passage, Report, Statement

GROUP = Brief(COMMUNITY, types=("", "person", "geo", "person", "geo", "person"))
TWO = tuple(Passage("report", f"group-key-{i}", f"The ships of side {i}.", title=f"Side {i}") for i in range(2))
TIES = tuple(Passage("relation", f"tie-key-{i}", "one pays the other", title="Ada Hill — Bo Reed") for i in range(3))
PAIR = Brief(Context((*TWO, *TIES)), words=40)
CHUNKS = tuple(
    Passage("chunk", f"chunk-key-{i}", f"Chunk {i} tells of the harbour. " * 9, title="Doc") for i in range(3)
)
TEXTS = Brief(Context(CHUNKS), words=30)
BRIEFS = {"aggregate": GROUP, "relate": PAIR, "abstract": GROUP, "condense": TEXTS}


def done(made: LLMEngine, task: str) -> Any:
    """What `task` makes of its brief."""
    return getattr(made, task)([BRIEFS[task]])[0]


def aggregate_of(findings: int = 5, **changes: Any) -> Body:
    found = [{"summary": f"Finding {i}", "explanation": f"So [Data: Entities ({i + 1})]."} for i in range(findings)]
    return {
        "entity_name": "The lot",
        "entity_description": "Good [Data: Relationships (6)].",
        "findings": found,
    } | changes


def kind_of(*ids: Any, **changes: Any) -> Body:
    members = [{"id": i, "description": f"{i} is one.", "strength": 8} for i in ids]
    return {
        "name": "Kind",
        "type": "sort",
        "description": "All alike [Data: Entities (1)].",
        "members": members,
    } | changes


def kinds_of(*ids: Any, **changes: Any) -> Body:
    return {"summary_entities": [kind_of(*ids, **changes)]}


def objection(server: ScriptedServer) -> str:
    """What was said to the first reply."""
    return str(server.calls[1].body["messages"][3]["content"])


def asked(server: ScriptedServer) -> str:
    return str(server.calls[0].body["messages"][1]["content"])


# ── what is asked ──


def test_members_stand_in_a_table_with_their_types_before_their_relations() -> None:
    with says(aggregate_of()) as server:
        engine(server).aggregate([GROUP])
    assert asked(server).split("\n") == [
        "# Entities",
        "id,entity,type,description",
        *(f'{i + 1},T{i},{("person", "geo")[i % 2]},"Thing {i}, which is good"' for i in range(5)),
        "",
        "# Relationships",
        "id,source,target,description",
        '6,T0,T1,"they work, together"',
        "",
        "Write in English.",
    ]
    assert not any(hidden in asked(server) for hidden in ("key", COMMUNITY.title))


def test_without_types_there_is_no_column_for_them() -> None:
    with says(aggregate_of()) as server:
        engine(server).aggregate([Brief(COMMUNITY)])
    assert "\nid,entity,description\n1,T0," in asked(server)


def test_aggregates_of_aggregates_have_types_too() -> None:
    with says(aggregate_of()) as server:
        engine(server).aggregate([Brief(Context(TWO), types=("fleet", "fleet"))])
    assert "# Reports\nid,title,type,report\n1,Side 0,fleet,The ships of side 0." in asked(server)


def test_the_length_is_said_with_the_two_groups_and_what_links_them() -> None:
    with says({"link": "They pay each other [Data: Relationships (3)]."}) as server:
        engine(server).relate([PAIR])
    assert asked(server).startswith("Length: at most 40 words\n\n# Reports\nid,title,report\n1,Side 0,")
    assert "3,Ada Hill,Bo Reed,one pays the other" in asked(server)


@pytest.mark.parametrize(("task", "words"), [("relate", 360), ("condense", 600)])
@pytest.mark.parametrize("given", [0, 5000])
def test_no_more_words_are_asked_for_than_a_reply_has_room_for(task: str, words: int, given: int) -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        getattr(engine(server), task)([Brief(BRIEFS[task].context, given)])
    assert asked(server).startswith(f"Length: at most {words} words\n")


def test_instructions_name_limits_and_follow_the_settings() -> None:
    with says(aggregate_of()) as server:
        engine(server, findings_min=2, findings_max=3, aggregate_tokens=1000, language="German").aggregate([GROUP])
        sent = server.calls[0].body
    assert "2 to 3 insights" in sent["messages"][0]["content"]
    assert "at most 600 words" in sent["messages"][0]["content"]
    assert sent["messages"][1]["content"].endswith("\n\nWrite in German.")
    assert sent["max_tokens"] == 1000
    assert "{{" not in sent["messages"][0]["content"]


@pytest.mark.parametrize("task", TASKS)
def test_a_prompt_of_the_users_own_is_sent_and_changes_the_fingerprint_of_its_task_alone(
    tmp_path: Path, task: str
) -> None:
    (tmp_path / f"{task}.md").write_text("MY OWN WORDS {{language}}", "utf-8")
    with ScriptedServer(Script(keep_bodies=True)) as server:
        own, other = engine(server, prompts=str(tmp_path)), engine(server)
        changed = [t for t in sorted(own.tasks) if own.fingerprint(t) != other.fingerprint(t)]
        assert changed == [task]
        done(own, task)
    assert server.calls[0].body["messages"][0]["content"].startswith("MY OWN WORDS Write in")


def test_an_unknown_placeholder_in_a_prompt_about_groups_is_an_error_at_once(tmp_path: Path) -> None:
    (tmp_path / "condense.md").write_text("{{word_limit}}", "utf-8")
    with ScriptedServer() as server, pytest.raises(SettingsError, match=r"condense\.md .*word_limit"):
        engine(server, prompts=str(tmp_path))


@pytest.mark.parametrize("task", TASKS)
def test_a_limit_changes_the_fingerprint_of_its_task_alone(task: str) -> None:
    with ScriptedServer() as server:
        one, other = engine(server), engine(server, **{f"{task}_tokens": 333})
        assert [t for t in sorted(one.tasks) if one.fingerprint(t) != other.fingerprint(t)] == [task]
        assert other.max_tokens(task) == 333


# ── estimates (P01) ──


@pytest.mark.parametrize("task", TASKS)
def test_calls_and_tokens_are_foreseen_as_they_come(task: Any) -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        made = engine(server)
        foreseen = made.prompt_tokens(task, BRIEFS[task])
        assert made.calls(task, BRIEFS[task]) == 1
        done(made, task)
    sent = sum(len(m["content"]) for m in server.calls[0].body["messages"]) / 4
    assert 0.5 * sent < foreseen < 1.5 * sent


@pytest.mark.parametrize("task", TASKS)
def test_nothing_to_write_of_needs_no_call(task: Any) -> None:
    with ScriptedServer() as server:
        made, empty = engine(server), Brief(Context(()), 10)
        assert (made.calls(task, empty), made.prompt_tokens(task, empty)) == (0, 0)
        assert getattr(made, task)([empty, empty]) == [Report("", ()) if task == "aggregate" else ()] * 2
    assert server.calls == []


def test_two_groups_without_relations_have_no_link() -> None:
    with ScriptedServer() as server:
        assert engine(server).relate([Brief(Context(TWO), 40)]) == [()]
    assert server.calls == []


def test_one_passage_that_is_short_enough_is_its_own_condensation() -> None:
    short = Passage("chunk", "short-key", "The harbour is open.", title="Doc")
    with ScriptedServer() as server:
        made = engine(server)
        assert made.condense([Brief(Context((short,)), 4)]) == [(Statement(short.text, ("short-key",)),)]
        assert made.calls("condense", Brief(Context((short,)), 4)) == 0
        assert made.calls("condense", Brief(Context((short,)), 3)) == 1
    assert server.calls == []


# ── aggregates ──


def test_an_aggregate_has_name_description_and_findings_with_the_ids_of_records() -> None:
    with says(aggregate_of()) as server:
        (made,) = engine(server).aggregate([GROUP])
    assert (made.title, made.rating, made.dangling) == ("The lot", 0, 0)
    assert made.summary == (Statement("Good.", ("relation-key",)),)
    assert [f.statements[0].references for f in made.findings] == [(f"entity-key-{i}",) for i in range(5)]
    assert len(server.calls) == 1


@pytest.mark.parametrize("name", ["T3", " t3 ", "Ｔ３"])
def test_the_name_of_a_member_is_asked_about_once(name: str) -> None:
    with says(aggregate_of(entity_name=name), aggregate_of()) as server:
        made = engine(server)
        assert made.aggregate([GROUP])[0].title == "The lot"
    assert "is the name of a member" in objection(server)
    assert made.notes() == ("1 replies to aggregate were asked for again",)


def test_a_name_that_stays_a_members_gets_the_type_of_most_members_and_that_is_told() -> None:
    with says(aggregate_of(entity_name="T3")) as server:
        made = engine(server)
        assert made.aggregate([GROUP])[0].title == "T3 (person)"
    assert f"{group_replies.RENAMED} (1 ×)" in made.notes()


def test_a_name_without_any_type_is_still_no_members() -> None:
    named = Context((*ENTITIES, Passage("entity", "other-key", "Another", title="T3 (group)")), "")
    with says(aggregate_of(entity_name="T3")) as server:
        assert engine(server).aggregate([Brief(named)])[0].title == "T3 (group) (group)"


def test_two_few_findings_are_asked_about_unless_the_group_is_small() -> None:
    with says(aggregate_of(2, entity_description="Good."), aggregate_of()) as server:
        made = engine(server)
        assert len(made.aggregate([GROUP])[0].findings) == 5
        small = Brief(Context(ENTITIES[:4], "small"))
        server.script = Script(reply=lambda body: json.dumps(aggregate_of(1, entity_description="Good.")))
        assert len(made.aggregate([small])[0].findings) == 1
    assert "at least 5 are asked for" in objection(server)
    assert len(server.calls) == 3


def test_a_broken_aggregate_hears_of_all_that_is_wrong_with_it() -> None:
    bad = aggregate_of(1, entity_name="T0", entity_description="Good [Data: Reports (4)].")
    with says(bad, aggregate_of()) as server:
        engine(server).aggregate([GROUP])
    assert all(part in objection(server) for part in ("name of a member", "1 usable findings", "report 4"))


@pytest.mark.parametrize("changes", [{"entity_name": ""}, {"entity_description": " "}, {"entity_name": None}])
def test_an_aggregate_without_name_or_description_fails_and_names_its_group(changes: Body) -> None:
    with (
        says(aggregate_of(**changes)) as server,
        pytest.raises(ItemFailed, match=r"aggregate: .*the group 'T0 and others' of 6 records stays unusable"),
    ):
        engine(server).aggregate([GROUP])
    assert len(server.calls) == 2


# ── links ──

LINK = "Side 0 and Side 1 pay each other [Data: Relationships (3, 4)]."


def test_a_link_is_text_with_references() -> None:
    with says({"link": LINK}) as server:
        assert engine(server).relate([PAIR]) == [
            (Statement("Side 0 and Side 1 pay each other.", ("tie-key-0", "tie-key-1")),)
        ]
    assert len(server.calls) == 1


def test_a_link_that_is_too_long_is_asked_about_once_and_then_cut_at_a_sentence() -> None:
    long = "They pay each other every year [Data: Relationships (3)]. " * 9
    with says({"link": long}, {"link": LINK}) as server:
        made = engine(server)
        assert len(made.relate([PAIR])[0]) == 1
        assert made.notes() == ("1 replies to relate were asked for again",)
    assert "it has 54 words, and at most 40 are asked for" in objection(server)
    with says({"link": long}) as server:
        made = engine(server)
        (kept,) = made.relate([PAIR])
    assert [s.text.strip() for s in kept] == ["They pay each other every year."] * 6
    assert f"{group_replies.SHORTENED} (1 ×)" in made.notes()


@pytest.mark.parametrize(
    ("text", "wrong", "told"),
    [
        ("Ada Hill pays Side 1.", "names members of the groups: Ada Hill;", group_replies.NAMED),
        ("One community pays the other.", "speaks of a community", group_replies.CALLED),
        ("Both Communities pay.", "speaks of a community", group_replies.CALLED),
    ],
)
def test_a_link_speaks_of_groups_and_not_of_members_or_communities(text: str, wrong: str, told: str) -> None:
    with says({"link": text}) as server:
        made = engine(server)
        assert made.relate([PAIR]) == [(Statement(text),)]
    assert wrong in objection(server)
    assert f"{told} (1 ×)" in made.notes()
    with says({"link": text}, {"link": LINK}) as server:
        made = engine(server)
        assert made.relate([PAIR])[0][0].references == ("tie-key-0", "tie-key-1")
        assert made.notes() == ("1 replies to relate were asked for again",)


@pytest.mark.parametrize(
    ("groups", "ends", "text"),
    [
        (("Ada Hill's fleet", "Side 1"), "Ada Hill — Bo Reed", "Ada Hill's fleet pays."),  # the group is called so
        (("Side 0", "Side 1"), "trade — law", "They trade by law."),  # common words
        (("Side 0", "European Community"), "A1 — B1", "The European Community pays."),  # the sources' word
        (("Side 0", "Side 1"), "Reed — Bo Hill", "The Reeds and Hillbo pay."),  # other words
    ],
)
def test_words_that_only_look_like_a_breach_are_left(groups: tuple[str, str], ends: str, text: str) -> None:
    passages = [Passage("report", f"k{i}", "Ships.", title=name) for i, name in enumerate(groups)]
    with says({"link": text}) as server:
        engine(server).relate([Brief(Context((*passages, Passage("relation", "r", "pays", title=ends))), 40)])
    assert len(server.calls) == 1


@pytest.mark.parametrize(("ends", "text"), [("ADA HILL — X", "Ada Hill pays."), ("李明 — 张三", "因此李明付钱。")])
def test_members_are_found_in_capitals_and_in_scripts_without_blanks(ends: str, text: str) -> None:
    brief = Brief(Context((*TWO, Passage("relation", "r", "pays", title=ends))), 40)
    with says({"link": text}) as server:
        engine(server).relate([brief])
    assert "names members" in objection(server)


# ── summary entities ──


def test_summary_entities_have_members_by_the_ids_of_their_passages() -> None:
    with says({"summary_entities": [kind_of(1, 2), kind_of(2, 3, 4, 5, name="Other")]}) as server:
        (made,) = engine(server).abstract([GROUP])
    assert [(e.name, e.type) for e in made] == [("Kind", "sort"), ("Other", "sort")]
    assert made[0].description == (Statement("All alike.", ("entity-key-0",)),)
    assert made[0].members == (
        Membership("entity-key-0", "1 is one.", 8.0),
        Membership("entity-key-1", "2 is one.", 8.0),
    )
    assert [m.id for m in made[1].members] == [f"entity-key-{i}" for i in (1, 2, 3, 4)]


def test_a_member_that_is_left_out_is_asked_about_by_name_and_then_given_to_the_first() -> None:
    with says(kinds_of(1, 2, 4), kinds_of(1, 2, 3, 4, 5)) as server:
        made = engine(server)
        made.abstract([GROUP])
        assert made.notes() == ("1 replies to abstract were asked for again",)
    assert "these members belong to no summary entity: 3 (T2), 5 (T4)" in objection(server)
    with says(kinds_of(1, 2, 4)) as server:
        made = engine(server)
        ((kept,),) = made.abstract([GROUP])
    assert [m.id for m in kept.members] == [f"entity-key-{i}" for i in (0, 1, 3, 2, 4)]
    assert kept.members[-1] == Membership("entity-key-4", "", 1.0)
    assert f"{group_replies.ATTACHED} (2 ×)" in made.notes()


@pytest.mark.parametrize(
    "ids",
    [
        (1, 2, 3, 4, 5),
        ("1", "2", "3", "4", "5"),
        ("T0", "t1", "T2", "T3", "T4"),
        ("Entities (1)", "id 2", "#3", 4.0, "5."),
        (1, 1, 2, 3, 4, 5),
    ],
)
def test_members_are_understood_however_they_are_named(ids: tuple[Any, ...]) -> None:
    with says(kinds_of(*ids)) as server:
        ((made,),) = engine(server).abstract([GROUP])
    assert [m.id for m in made.members] == [f"entity-key-{i}" for i in range(5)]
    assert len(server.calls) == 1


@pytest.mark.parametrize("strange", [6, 7, 0, -8, "Apollo 1 mission", None, {"a": 1}, "", 1e300])
def test_a_member_that_is_none_is_asked_about_removed_and_counted(strange: Any) -> None:
    with says(kinds_of(1, 2, 3, 4, 5, strange)) as server:
        made = engine(server)
        ((kept,),) = made.abstract([GROUP])
    assert "name no record of the tables: member" in objection(server)
    assert len(kept.members) == 5
    assert "1 unusable parts of replies to abstract" in made.notes()


def test_a_bare_list_of_ids_will_do() -> None:
    with says(kinds_of(members=[1, 2, 3, 4, "T4"])) as server:
        ((kept,),) = engine(server).abstract([GROUP])
    assert kept.members == tuple(Membership(f"entity-key-{i}", "", 1.0) for i in range(5))


def test_a_description_that_cites_nothing_rests_on_the_members() -> None:
    with says([kind_of(2, 1, 3, 4, 5, description="All alike.")]) as server:  # a list without the object around it
        ((kept,),) = engine(server).abstract([GROUP])
    assert kept.description == (Statement("All alike.", tuple(f"entity-key-{i}" for i in (1, 0, 2, 3, 4))),)


@pytest.mark.parametrize(("given", "expected"), [("8/10", 8), (12, 10), (-1, 0), ("high", 1), (None, 1)])
def test_a_strength_is_held_to_its_scale(given: Any, expected: float) -> None:
    members = [{"id": i, "description": "", "strength": given} for i in range(1, 6)]
    with says(kinds_of(members=members)) as server:
        ((kept,),) = engine(server).abstract([GROUP])
    assert {m.strength for m in kept.members} == {expected}
    assert len(server.calls) == 1


@pytest.mark.parametrize("bad", [kind_of(1, name=" "), kind_of(1, description=""), kind_of(), "Kind", kind_of(9)])
def test_a_summary_entity_that_lacks_a_part_is_asked_about_left_out_and_counted(bad: Any) -> None:
    whole = kind_of(1, 2, 3, 4, 5, name="Whole")
    with says({"summary_entities": [bad, whole]}) as server:
        made = engine(server)
        ((kept,),) = made.abstract([GROUP])
    assert kept.name == "Whole"
    assert "1 of its summary entities have no name, no description or no member" in objection(server)
    assert any(n.endswith("unusable parts of replies to abstract") for n in made.notes())


def test_without_a_summary_entity_there_is_an_error_that_names_the_group() -> None:
    with (
        says(kinds_of()) as server,
        pytest.raises(ItemFailed, match=r"abstract: .*'T0 and others'.*no list of summary"),
    ):
        engine(server).abstract([GROUP])
    assert len(server.calls) == 2


# ── condensations ──

CONDENSED = "Three chunks tell of the harbour [Data: Sources (1, 2, 3)]."


def test_a_condensation_is_text_with_references() -> None:
    with says({"condensed": CONDENSED}) as server:
        (made,) = engine(server).condense([TEXTS])
    assert made == (Statement("Three chunks tell of the harbour.", tuple(f"chunk-key-{i}" for i in range(3))),)


def test_a_condensation_that_is_too_long_is_cut_at_a_sentence_without_another_call() -> None:
    with says({"condensed": f"{CONDENSED} " * 20}) as server:
        made = engine(server)
        (kept,) = made.condense([TEXTS])
    assert len(kept) == 5
    assert all(s.text.endswith(".") and len(s.references) == 3 for s in kept)
    assert made.notes() == (f"{group_replies.SHORTENED} (1 ×)",)
    assert len(server.calls) == 1


def test_where_the_endpoint_cuts_does_not_matter_beyond_the_words_asked_for() -> None:
    with says((json.dumps({"condensed": f"{CONDENSED} " * 20})[:900], "length")) as server:
        engine(server).condense([TEXTS])
    assert len(server.calls) == 1


def test_a_condensation_that_is_cut_off_too_early_is_asked_for_again() -> None:
    cut = ('{"condensed": "Chunks tell of it. And th', "length")
    with says(cut, {"condensed": CONDENSED}) as server:
        engine(server).condense([TEXTS])
    assert "cut off" in objection(server)
    with says(cut) as server, pytest.raises(Unreadable) as caught:
        engine(server).condense([TEXTS])
    assert caught.value.instead == (Statement("Chunks tell of it."),)


@pytest.mark.parametrize(
    ("task", "text"), [("condense", "Three chunks tell of the harbour."), ("relate", "They pay each other.")]
)
def test_plain_words_may_be_a_refusal_and_are_taken_when_they_come_again(task: str, text: str) -> None:
    with says(text) as server:
        assert done(engine(server), task) == (Statement(text),)
    assert "it is no JSON object" in objection(server)


def test_a_refusal_does_not_take_the_place_of_a_text_that_only_breaks_a_rule() -> None:
    with says({"link": f"{LINK} Ada Hill pays."}, "I am afraid that I cannot do that.") as server:
        made = engine(server)
        (kept,) = made.relate([PAIR])
    assert kept[0].references == ("tie-key-0", "tie-key-1")
    assert f"{group_replies.NAMED} (1 ×)" in made.notes()


# ── faults, and rules broken on purpose (see tests/models/endpoint/test_faults.py for whole builds) ──

MESSES: dict[str, Script] = {
    "malformed replies": Script(malformed_rate=1.0, times=1),
    "bodies that are no JSON": Script(garbled_rate=1.0, times=1),
    "fenced replies": Script(style="fenced"),
    "quotes that are not JSON's": Script(style="single"),
    "no schemas": Script(schemas="none"),
    "objects, no schemas": Script(schemas="json_object"),
    "rules broken once": Script(against=tuple(VIOLATIONS)),
}


@pytest.fixture(scope="module")
def calm() -> dict[str, Any]:
    with ScriptedServer() as server:
        return {task: done(engine(server), task) for task in TASKS}


@pytest.mark.parametrize("name", MESSES)
@pytest.mark.parametrize("task", TASKS)
def test_a_mess_that_can_be_mended_changes_nothing(calm: dict[str, Any], task: str, name: str) -> None:
    with ScriptedServer(MESSES[name]) as server:
        assert done(engine(server), task) == calm[task]


@pytest.mark.parametrize("task", TASKS)
def test_a_reply_that_is_cut_off_is_asked_for_again_and_else_read_as_far_as_it_goes(
    calm: dict[str, Any], task: str
) -> None:
    whole = scripted_reply(task)
    with says((whole[: len(whole) // 2], "length"), whole) as server:
        assert done(engine(server), task) == calm[task]
        assert len(server.calls) == 2
    with says((whole[: len(whole) * 4 // 5], "length")) as server, pytest.raises(Unreadable) as caught:
        done(engine(server), task)
    kept = repr(caught.value.instead)
    assert {"relate": "share 3 ties'"}.get(task, "key-1") in kept
    assert "[" not in kept


def scripted_reply(task: str) -> str:
    """What the scripted server says when it is asked for `task`."""
    with ScriptedServer(Script(keep_bodies=True)) as server:
        done(engine(server), task)
    return reply(server.calls[0].body, "json")


@pytest.mark.parametrize("task", ["aggregate", "abstract"])
def test_a_refusal_that_stays_is_an_error_and_no_value(task: str) -> None:
    with (
        ScriptedServer(Script(malformed_rate=1.0)) as server,
        pytest.raises(ItemFailed, match=f"{task}: the reply of m"),
    ):
        done(engine(server), task)
    assert len(server.calls) == 2


KEPT: dict[str, Callable[[Any], bool]] = {
    "aggregate": lambda made: made.title == "T0 (person)" and made.dangling == 1 and len(made.findings) == 2,
    "relate": lambda made: group_replies.estimate_words("".join(s.text for s in made)) <= 40,
    "abstract": lambda made: len({m.id for e in made for m in e.members}) == 5,
    "condense": lambda made: group_replies.estimate_words("".join(s.text for s in made)) <= 30,
}
TOLD = {
    "aggregate": (group_replies.RENAMED,),
    "relate": (group_replies.SHORTENED, group_replies.NAMED, group_replies.CALLED),
    "abstract": (group_replies.ATTACHED,),
    "condense": (group_replies.SHORTENED,),
}


@pytest.mark.parametrize("task", TASKS)
def test_rules_that_stay_broken_are_kept_as_well_as_can_be_and_told(task: str) -> None:
    with ScriptedServer(Script(against=tuple(VIOLATIONS), stubborn=True)) as server:
        made = engine(server)
        try:
            kept = done(made, task)
        except Unreadable as e:  # what is too long is also cut off
            kept = e.instead
    assert KEPT[task](kept)
    assert set(made.notes()) >= {f"{note} (1 ×)" for note in TOLD[task]}
    assert len(server.calls) <= 2
