"""Map-reduce: every record is read once, in batches that are full, and what is too long is cut where it must be."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_replies import asked_in
from sensegraph.answering.asking import map_reduce
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.passages import passage_tokens
from sensegraph.language.text import count_tokens, decode_tokens, encode_tokens
from sensegraph.methods.graphrag.global_search import GraphRAG
from sensegraph.methods.graphrag.text_summaries import TS
from sensegraph.types import Evidence, Passage, Question
from wired import corpus

COUNT = itertools.count()


def question() -> Question:
    """A question that was never asked: no reply to it is stored."""
    return Question(f"Who wrote to whom, and who paid? ({next(COUNT)})")


@pytest.fixture
def asked(built: Corpus, server: ScriptedServer) -> Corpus:
    """The finished corpus, asked over a server whose calls can be counted."""
    server.script = Script(keep_bodies=True)
    return corpus(built.root, server)


def reduce(passages: Sequence[Passage], asked: Corpus, budget: int, seed: int = 0) -> Evidence:
    index, rt = asked.index(), asked.runtime()
    return map_reduce(question(), passages, index, rt, budget=budget, seed=seed, place="notes")


def prompts(server: ScriptedServer) -> list[str]:
    return [asked_in(c.body) for c in server.done("points")]


def notes(*sizes: int) -> list[Passage]:
    """Passages of so many tokens, each in words of its own."""
    found = []
    for i, size in enumerate(sizes):
        text = f"n{i:02}" + " word" * (size - count_tokens(f"n{i:02}"))
        assert count_tokens(text) == size
        found.append(Passage("chunk", f"note-{i}", text))
    return found


@pytest.mark.parametrize("budget", [40, 100, 101, 130, 1000])
def test_batches_are_as_few_as_their_order_allows(asked: Corpus, server: ScriptedServer, budget: int) -> None:
    """No batch is over the budget, and the first record of the next would not have gone into it."""
    passages = notes(*(10 + 7 * (i % 5) for i in range(20)))
    found = reduce(passages, asked, budget, seed=len(f"{budget}"))
    turned = list(passages)
    Random(len(f"{budget}")).shuffle(turned)
    expected: list[list[str]] = [[]]
    room = budget
    for passage in turned:
        if (size := passage_tokens(passage)) > room:
            expected, room = [*expected, []], budget
        expected[-1].append(passage.text[:3])
        room -= size
    assert sorted(re.findall(r"\bn\d\d\b", prompt) for prompt in prompts(server)) == sorted(expected)
    read = "1 batch" if len(expected) == 1 else f"{len(expected)} batches"
    assert re.fullmatch(rf"based on 20 notes: \d+ points, read in {read}", found.notes[0])
    assert len(found.notes) == 1


def test_a_record_that_is_too_long_is_cut_to_the_budget_alone_in_its_batch_and_counted(
    asked: Corpus, server: ScriptedServer
) -> None:
    passages = notes(30, 31, 95, 400)
    found = reduce(passages, asked, 30)
    shown = {re.findall(r"n\d\d", p)[0]: re.findall(r"n\d\d(?: word)*", p)[0] for p in prompts(server)}
    assert {name: count_tokens(text) for name, text in shown.items()} == {f"n0{i}": 30 for i in range(4)}
    assert all(p.text.startswith(shown[p.text[:3]]) for p in passages)
    assert found.notes[1:] == ("3 of the notes are longer than context_tokens (30) and were cut",)


def test_the_title_of_a_record_counts_with_its_text(asked: Corpus, server: ScriptedServer) -> None:
    (passage,) = notes(30)
    titled = replace(passage, title="The year of the lamp")
    spare = count_tokens(titled.title)
    assert len(reduce([titled], asked, 30 + spare).notes) == 1
    assert len(reduce([titled], asked, 29 + spare).notes) == 2
    assert [p.count(" word") - prompts(server)[1].count(" word") for p in prompts(server)] == [1, 0]


def test_what_is_cut_ends_with_a_whole_character(asked: Corpus, server: ScriptedServer) -> None:
    text = "𝔘" * 40
    each = len(encode_tokens("𝔘"))
    assert each > 1
    assert decode_tokens(encode_tokens(text)[: 5 * each + 1]) is None
    reduce([Passage("chunk", "note", text)], asked, 5 * each + 1)
    assert prompts(server)[0].count("𝔘") == 5


def test_of_the_points_as_many_are_kept_as_fit(asked: Corpus, server: ScriptedServer) -> None:
    points = [f'{{"text": "n{i:02}{" word" * 10} [Data: Sources (1)].", "score": {90 - i}}}' for i in range(9)]

    def reply(body: dict[str, Any]) -> str:
        return f'{{"points": [{", ".join(points)}]}}'

    server.script = Script(reply=reply)
    whole = reduce(notes(9), asked, 1000)
    sizes = [passage_tokens(p) for p in whole.passages]
    assert (len(sizes), whole.omitted) == (9, 0)
    for budget in (sum(sizes[:4]), sum(sizes[:4]) + 1, sum(sizes[:5]) - 1, sum(sizes[:5])):
        kept = reduce(notes(9), asked, budget)
        fitting = max(n for n in range(10) if sum(sizes[:n]) <= budget)
        assert kept.passages == whole.passages[:fitting]
        assert kept.omitted == 9 - fitting


READERS = [(TS(40), "chunks"), (GraphRAG(1, context_tokens=40, report_tokens=0), "reports at depth 1")]


@pytest.mark.parametrize(("method", "place"), READERS)
def test_both_methods_read_each_record_once_and_cut_what_is_over_their_context(
    asked: Corpus, server: ScriptedServer, method: Any, place: str
) -> None:
    index, rt = asked.index(), asked.runtime()
    found = method.retrieve(question(), index, rt)
    records = len(index.catalogue.chunks if place == "chunks" else index.clusters_at(1))
    read, cut = found.notes
    assert re.fullmatch(rf"based on {records} {place}: \d+ points, read in {records} batches", read)
    assert cut == f"{records} of the {place} are longer than context_tokens (40) and were cut"
    assert len(server.done("points")) == records > 4
