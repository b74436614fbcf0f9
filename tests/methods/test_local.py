"""Local search: seeds, budgets, relations, chunks (graphrag §4.3; N56, N58, N62, N63, D5, D6)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harbour import papers
from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.index.passages import passage_tokens
from sensegraph.language.text import count_tokens
from sensegraph.methods.graphrag.local_search import Local, find_seed_entities
from sensegraph.retrieval.signals import entities_named_in
from sensegraph.types import Document, Question, Turn
from served import ServedContract
from wired import corpus

ASKED = Question("What has Tom Reeve to do with the Harbour Council?")


class TestLocalContract(ServedContract):
    def make(self) -> Local:
        return Local()


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    settings: dict[str, Any] = {"index": {"chunk_tokens": 60, "chunk_overlap": 10}, "model": {"claims": True}}
    with ScriptedServer() as server, corpus(tmp_path_factory.mktemp("local"), server, **settings) as made:
        made.add(papers())
        made.build()
        yield made


def kinds(passages: Any) -> list[str]:
    return list(dict.fromkeys(p.kind for p in passages))


def test_sections_come_in_their_order(harbour: Corpus) -> None:
    found = Local().retrieve(ASKED, harbour.index(), harbour.runtime())
    assert kinds(found.passages) == ["report", "entity", "relation", "claim", "chunk"]


def test_entities_that_the_question_names_come_first_and_in_its_order(harbour: Corpus) -> None:
    index = harbour.index()
    names = [index.lookups.name(place) for place in entities_named_in(ASKED.text, index)]
    assert names == ["Tom Reeve", "The Harbour Council"]  # two names to the scripted model
    seeds = find_seed_entities(ASKED, index, harbour.runtime(), 5)
    assert [e.name for e in seeds.entities][:2] == names


def test_of_overlapping_names_the_longest_is_meant(harbour: Corpus) -> None:
    index = harbour.index()
    assert [index.lookups.name(p) for p in entities_named_in("who runs blythe shipyard?", index)] == ["Blythe Shipyard"]


@pytest.mark.parametrize("top", [1, 3, 10])
def test_d6_exactly_as_many_seeds_as_asked_for(harbour: Corpus, top: int) -> None:
    found = Local(top_entities=top).retrieve(ASKED, harbour.index(), harbour.runtime())
    assert sum(p.kind == "entity" for p in found.passages) == top


def test_relations_between_seeds_come_before_those_that_lead_outside(harbour: Corpus) -> None:
    index = harbour.index()
    found = Local(top_entities=3, context_tokens=40_000).retrieve(ASKED, index, harbour.runtime())
    seeds = {p.title for p in found.passages if p.kind == "entity"}
    inside = [set(p.title.split(" — ")) <= seeds for p in found.passages if p.kind == "relation"]
    assert any(inside)
    assert not all(inside)
    assert inside == sorted(inside, reverse=True)


def test_relations_to_entities_outside_are_bounded(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    for most in (0, 1, 2):
        found = Local(top_entities=2, top_relations=most, context_tokens=40_000).retrieve(ASKED, index, rt)
        seeds = {p.title for p in found.passages if p.kind == "entity"}
        outside = [p for p in found.passages if p.kind == "relation" and not set(p.title.split(" — ")) <= seeds]
        assert seeds
        assert len(outside) <= 2 * most


def test_two_hops_reach_relations_between_entities_that_are_no_seeds(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()

    def beyond(hops: int) -> int:
        found = Local(top_entities=1, hops=hops, context_tokens=40_000).retrieve(ASKED, index, rt)
        (seed,) = {p.title for p in found.passages if p.kind == "entity"}
        return sum(seed not in p.title.split(" — ") for p in found.passages if p.kind == "relation")

    assert beyond(1) == 0 < beyond(2)


@pytest.mark.parametrize("tokens", [80, 200, 500, 1500])
def test_the_context_is_filled_up_to_its_budget_and_what_is_cut_off_is_counted(harbour: Corpus, tokens: int) -> None:
    found = Local(context_tokens=tokens).retrieve(ASKED, harbour.index(), harbour.runtime())
    assert sum(passage_tokens(p) for p in found.passages if p.kind != "chunk") <= tokens
    assert found.tokens <= tokens
    whole = Local(context_tokens=40_000).retrieve(ASKED, harbour.index(), harbour.runtime())
    chunks = [p for p in whole.passages if p.kind == "chunk"]
    read = sum(p.kind == "chunk" for p in found.passages)
    assert read == len(chunks) or found.tokens > tokens - max(count_tokens(p.text) for p in chunks)
    assert whole.omitted == 0
    assert found.omitted == len(whole.passages) - len(found.passages) > 0


def test_chunks_that_tell_of_the_first_seed_come_first(harbour: Corpus) -> None:
    found = Local(top_entities=2).retrieve(ASKED, harbour.index(), harbour.runtime())
    first = next(p.title for p in found.passages if p.kind == "entity")
    told = [first in p.text for p in found.passages if p.kind == "chunk"]
    assert told == sorted(told, reverse=True)


def test_no_report_is_read_beside_one_that_holds_it(harbour: Corpus) -> None:
    index = harbour.index()
    found = Local(context_tokens=40_000, reports=0.5, text=0.2).retrieve(ASKED, index, harbour.runtime())
    members = [set(c.entities) for c in index.clusters([p.id for p in found.passages if p.kind == "report"]).values()]
    assert members
    assert all(a is b or a.isdisjoint(b) for a in members for b in members)


def test_a_conversation_changes_the_seeds(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    alone = find_seed_entities(Question("What was bought there?"), index, rt, 3)
    history = (Turn("Who owns Marrow Wood?", "Ivo Marsh owns Marrow Wood."),)
    after = find_seed_entities(Question("What was bought there?", history), index, rt, 3)
    assert [e.id for e in alone.entities] != [e.id for e in after.entities]


def test_the_latest_turns_are_kept_within_their_share(harbour: Corpus) -> None:
    from sensegraph.methods.graphrag.local_search import Shares, read_around

    turns = tuple(Turn(f"Question {i}?", "word " * 40) for i in range(20))
    shares = Shares(context_tokens=1_000, history=0.2)
    kept = read_around(Question("Who is Tom Reeve?", turns), harbour.index(), harbour.runtime(), shares).history
    assert 0 < len(kept) < 20
    assert kept == turns[-len(kept) :]


@pytest.mark.parametrize(
    "bad",
    [
        {"text": 0.9, "reports": 0.1, "history": 0.0},
        {"text": -0.1},
        {"text": 0.7, "history": 0.4},
        {"top_entities": 0},
        {"hops": 3},
        {"context_tokens": 0},
    ],
)
def test_d5_shares_that_leave_no_room_for_entities_and_relations_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="local: "):
        Local(**bad)


def test_n63_what_a_drug_interacts_with_is_found_around_it(tmp_path: Path) -> None:
    text = (
        "Metformin interacts with Warfarin, which raises the risk of bleeding. The kidneys clear Metformin more slowly "
        "where Cimetidine interacts with it. Furosemide interacts with Metformin and raises its level in the plasma."
    )
    other = "Aspirin was sold by the Lowmouth Pharmacy. Ibuprofen was sold by the Lowmouth Pharmacy too."
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as made:
        made.add(Document("drugs", text), Document("shops", other))
        made.build()
        answer = made.query("Which drugs interact with Metformin?", method="local")
    relations = " ".join(p.title.casefold() for p in answer.evidence.passages if p.kind == "relation")
    assert all(f"{drug}" in relations for drug in ("warfarin", "cimetidine", "furosemide"))
    assert sum(any(drug in c.quote for c in answer.citations) for drug in ("Warfarin", "Cimetidine", "Furosemide")) >= 2
    assert not any("Aspirin" in c.quote for c in answer.citations)
