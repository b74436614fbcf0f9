from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scripted import Script, ScriptedServer
from sensegraph.answering.asking import Candidates, score_candidates
from sensegraph.errors import (
    BudgetExceeded,
    EndpointDown,
    ItemFailed,
    StepFailed,
    StoreError,
    Unreadable,
    UnsupportedTask,
)
from sensegraph.index.extraction import extract_records
from sensegraph.index.vectors import embed_texts
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.rerankers import EndpointReranker
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Results, Table, recall_result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, Usage
from wired import runtime, story

SEEN: Counter[Any] = Counter()


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    SEEN.clear()


@dataclass(frozen=True, slots=True)
class Item:
    id: str
    size: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    left: Sequence[Item] = ()
    right: Sequence[Item] = ()
    total: int = 0


@step("test_runtime.sized", version=1, batch=4)
def sized(items: Sequence[int]) -> list[int]:
    SEEN.update([f"batch of {len(items)}"])
    return list(items)


def _what_matters(item: Item) -> tuple[str, int]:
    return item.id, item.size


@step("test_runtime.double", version=1, batch=4)
def double(items: Sequence[int], *, by: int = 2) -> list[int]:
    SEEN.update(items)
    if bad := [i for i in items if i == 13]:
        raise ValueError(f"unlucky {bad[0]}")
    return [i * by for i in items]


@step("test_runtime.measured", version=1, sees=_what_matters)
def measured(items: Sequence[Item]) -> list[int]:
    SEEN.update(i.id for i in items)
    return [i.size for i in items]


@step("test_runtime.summed", version=1)
def summed(wholes: Sequence[Sequence[int]], *, start: int = 0) -> list[int]:
    SEEN.update(["summed"])
    return [sum(w) + start for w in wholes]


@step("test_runtime.split", version=1, form="tables")
def split(wholes: Sequence[list[Item]]) -> list[Pair]:
    return [Pair(w[::2], w[1::2], len(w)) for w in wholes]


@step("test_runtime.counted", version=1, form="array")
def counted(wholes: Sequence[int]) -> list[NDArray[Any]]:
    return [np.arange(w) for w in wholes]


@step("test_runtime.one_too_few", version=1)
def one_too_few(items: Sequence[int]) -> list[int]:
    return list(items)[1:]


@step("test_runtime.refused", version=1, batch=1)
def refused(items: Sequence[int]) -> list[int]:
    raise ItemFailed(f"no reply about chunk {items[0]:016x} of document 'd{items[0]}'")


@step("test_runtime.cut_off", version=1, batch=1)
def cut_off(items: Sequence[int]) -> list[int]:
    SEEN.update(items)
    if SEEN[items[0]] < items[0]:
        raise Unreadable("it was cut off", instead=10 * SEEN[items[0]])
    return list(items)


@step("test_runtime.half_a_character", version=1, batch=1)
def half_a_character(items: Sequence[int]) -> list[str]:
    return ["\ud83d" if i == 2 else str(i) for i in items]


@pytest.fixture
def rt(store: SqliteStore) -> Runtime:
    return runtime(store)


def chunks(count: int) -> list[Chunk]:
    return [Chunk(f"c{i}", "d", 0, 1, 1, story(i, i, 3)) for i in range(count)]


# ── each ──


def test_results_come_in_the_order_of_the_items(rt: Runtime) -> None:
    found = rt.each(double, [5, 3, 9, 3])
    assert list(found) == [10, 6, 18, 6]
    assert (found[1], found[-1], found[1:3]) == (6, 6, [6, 18])


def test_equal_items_are_computed_once(rt: Runtime) -> None:
    rt.each(double, [7, 7, 7, 1])
    assert Counter({7: 1, 1: 1}) == SEEN
    assert rt.computed == {"test_runtime.double": 2}


def test_a_second_run_computes_nothing(rt: Runtime, store: SqliteStore) -> None:
    rt.each(double, range(10))
    again = runtime(store)
    assert list(again.each(double, range(10))) == [2 * i for i in range(10)]
    assert again.computed == {}
    assert max(SEEN.values()) == 1


def test_only_new_items_are_computed(rt: Runtime) -> None:
    rt.each(double, [1, 2])
    rt.each(double, [0, 1, 2, 3])
    assert Counter({1: 1, 2: 1, 0: 1, 3: 1}) == SEEN


def test_a_setting_is_part_of_the_key(rt: Runtime) -> None:
    assert list(rt.each(double, [1], by=3)) == [3]
    assert list(rt.each(double, [1], by=4)) == [4]


def test_a_new_version_of_a_step_computes_again(rt: Runtime) -> None:
    assert rt.keys(double, [1]) != rt.keys(replace(double, version=2), [1])


def test_steps_of_different_names_share_nothing(rt: Runtime) -> None:
    assert rt.keys(double, [1]) != rt.keys(one_too_few, [1])


def test_what_a_step_does_not_see_is_not_in_the_key(rt: Runtime) -> None:
    rt.each(measured, [Item("a", 1, "first"), Item("a", 1, "second"), Item("a", 2)])
    assert Counter({"a": 2}) == SEEN


def test_keys_that_stand_for_items_take_their_place(rt: Runtime) -> None:
    rt.each(double, [1, 2], names=["one", "two"])
    assert list(rt.each(double, [8, 9], names=["two", "one"])) == [4, 2]


def test_results_stand_for_themselves_by_their_keys(rt: Runtime) -> None:
    first = rt.each(double, [1, 2])
    second = rt.each(double, first)
    assert list(second) == [4, 8]
    assert rt.keys(double, first) == list(second.keys) != rt.keys(double, [2, 4])


def test_missing_tells_what_would_be_computed_and_computes_nothing(rt: Runtime) -> None:
    rt.each(double, [2])
    assert rt.missing(double, [1, 2, 1, 3]) == [0, 3]
    assert Counter({2: 1}) == SEEN


def test_nothing_to_do_is_no_trouble(rt: Runtime) -> None:
    assert list(rt.each(double, [])) == []


def test_progress_counts_items_up_to_all_of_them(store: SqliteStore) -> None:
    told: list[tuple[str, int, int]] = []
    rt = replace(runtime(store), progress=lambda *now: told.append(now))
    rt.each(double, range(10))
    assert told[0] == ("test_runtime.double", 0, 10)
    assert told[-1] == ("test_runtime.double", 10, 10)
    assert [n for _, n, _ in told] == sorted(n for _, n, _ in told)


@pytest.mark.parametrize(
    ("count", "size"),
    [(1, 1), (16, 1), (17, 2), (33, 3), (48, 3), (49, 4), (63, 4), (64, 4), (203, 4)],
)
def test_batches_are_as_large_as_set_but_shared_among_sixteen(rt: Runtime, count: int, size: int) -> None:
    """Few items are spread, so that all workers have something; many go in full batches, and one rest."""
    rt.each(sized, range(count))
    full, rest = divmod(count, size)
    expected = Counter({f"batch of {size}": full}) + Counter({f"batch of {rest}": int(rest > 0)})
    assert expected == SEEN


@pytest.mark.parametrize("count", [1, 64, 65, 150])
def test_calls_that_wait_are_sent_in_full_batches(store: SqliteStore, server: ScriptedServer, count: int) -> None:
    server.script = Script(keep_bodies=True)
    runtime(store, server).each(embed_texts, [f"text {i}" for i in range(count)])
    sizes = sorted((len(c.body["input"]) for c in server.calls), reverse=True)
    assert sizes == [64] * (count // 64) + [count % 64] * (count % 64 > 0)


# ── failures ──


def test_a_failed_item_does_not_sink_the_others(rt: Runtime) -> None:
    with pytest.raises(StepFailed, match=r"1 of 30 items failed \(1 × ValueError: unlucky 13\).*run the same command"):
        rt.each(double, range(30))
    assert rt.missing(double, range(30)) == [13]
    assert rt.computed == {"test_runtime.double": 29}


def test_reasons_that_differ_only_in_the_item_are_counted_together(rt: Runtime) -> None:
    with pytest.raises(StepFailed, match=r"\(3 × ItemFailed: no reply about chunk … of document …\)"):
        rt.each(refused, range(3))
    with pytest.raises(StepFailed, match=r"\(1 × ItemFailed: no reply about chunk 0{15}7 of document 'd7'\)"):
        rt.each(refused, [7])


def test_the_failed_item_alone_is_done_again(rt: Runtime) -> None:
    with pytest.raises(StepFailed):
        rt.each(double, range(30))
    SEEN.clear()
    with pytest.raises(StepFailed, match="1 of 30"):
        rt.each(double, range(30))
    assert set(SEEN) == {13}


def test_a_tool_that_gives_too_few_results_is_a_failure(rt: Runtime) -> None:
    with pytest.raises(StepFailed, match="0 results for 1 items"):
        rt.each(one_too_few, [1, 2, 3])


def test_what_cannot_be_stored_fails_its_item_alone(rt: Runtime) -> None:
    with pytest.raises(StepFailed, match="1 of 4 items failed"):
        rt.each(half_a_character, range(4))
    assert rt.missing(half_a_character, range(4)) == [2]


def test_results_that_are_gone_are_named(rt: Runtime, store: SqliteStore) -> None:
    lost = Results(store, double, ["no such key"])
    with pytest.raises(StoreError, match=r"1 results of test_runtime\.double are gone"):
        list(lost)
    with pytest.raises(StoreError, match="is gone from the store"):
        recall_result(store, split, "no such key")


# ── once ──


def test_a_whole_is_computed_once(rt: Runtime) -> None:
    one, two = rt.once(summed, [1, 2, 3]), rt.once(summed, [1, 2, 3])
    assert one == two
    assert (one.value, SEEN["summed"]) == (6, 1)
    assert rt.once(summed, [1, 2, 3], start=1).value == 7


def test_a_whole_of_what_could_not_be_read_is_made_again_until_it_can_be(rt: Runtime) -> None:
    def build(items: list[int]) -> tuple[int, str]:
        made = rt.once(summed, lambda: list(rt.each(cut_off, items)), names=["whole"])
        return made.value, made.key

    found = [build([1, 3]) for _ in range(4)]
    assert [value for value, _ in found] == [1 + 10, 1 + 20, 1 + 3, 1 + 3]
    assert len({k for _, k in found}) == 3  # one half-read whole never stands for another
    assert (SEEN[1], SEEN[3]) == (1, 3)


def test_a_whole_is_made_only_when_its_result_is_missing(rt: Runtime) -> None:
    made: list[int] = []

    def whole() -> list[int]:
        made.append(1)
        return [1, 2]

    values = [rt.once(summed, whole, names=names).value for names in (["a", "b"], ["a", "b"], ["b", "a"])]
    assert (values, len(made)) == ([3, 3, 3], 2)


def test_a_result_as_a_setting_is_named_by_its_key(rt: Runtime) -> None:
    start = rt.once(summed, [4])
    assert rt.once(summed, [1], start=start).value == 5
    assert rt.keys(summed, [[1]], start=start) != rt.keys(summed, [[1]], start=4)


def test_tables_are_read_by_position_by_id_and_in_order(rt: Runtime, store: SqliteStore) -> None:
    items = [Item(f"i{n}", n) for n in range(7)]
    pair = rt.once(split, items)
    left = pair.value.left
    assert isinstance(left, Table)
    assert list(left) == items[::2]
    assert (left[-1], left[1:3], len(left)) == (items[6], items[2:6:2], 4)
    assert left.find(["i2", "i3"]) == {"i2": items[2]}
    assert left.ids() == ["i0", "i2", "i4", "i6"]
    again = recall_result(store, split, pair.key)
    assert (list(again.right), again.total) == (items[1::2], 7)


def test_a_table_whose_last_part_was_not_written_is_made_again(rt: Runtime, store: SqliteStore) -> None:
    items = [Item("a"), Item("b")]
    (k,) = rt.keys(split, [items])
    store.write_rows(f"{k}.left", [("a", b'{"id":"a"}')])  # what a killed run leaves behind
    assert list(rt.once(split, items).value.right) == [Item("b")]


def test_an_array_is_mapped_and_read_only(rt: Runtime) -> None:
    found = rt.once(counted, 5).value
    assert isinstance(found, np.memmap)
    assert found.tolist() == [0, 1, 2, 3, 4]
    assert not found.flags.writeable


def test_what_is_made_in_another_way_is_made_once_and_told_as_the_step_would(rt: Runtime) -> None:
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return 10

    assert [rt.made(double, 5, make), rt.made(double, 5, make), *rt.each(double, [5])] == [10, 10, 10]
    assert (len(made), SEEN[5], rt.computed["test_runtime.double"]) == (1, 0, 1)


# ── tools ──


def test_a_task_that_the_engine_lacks_is_refused_before_any_work(rt: Runtime) -> None:
    with pytest.raises(UnsupportedTask, match="graft needs survey, which the engine 'scripted' does not do"):
        rt.check("graft", frozenset({"answer", "survey"}))
    rt.check("naive", frozenset({"answer"}))


def test_what_a_step_costs_is_in_the_ledger(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    rt.each(extract_records, chunks(3))
    rt.each(embed_texts, ["one", "two"])
    ledger = store.ledger()
    assert ledger["extraction.extract"].calls == 3 == len(server.done("extraction"))
    assert ledger["vectors.embed"].embedding_calls == 1
    assert ledger["extraction.extract"] + ledger["vectors.embed"] == rt.engine.usage() + rt.embedder.usage()


def test_every_way_to_a_result_puts_what_it_cost_and_nothing_else_into_the_ledger(
    store: SqliteStore, server: ScriptedServer
) -> None:
    rt = runtime(store, server)
    one, two = chunks(2)
    rt.made(extract_records, one, lambda: rt.engine.extract([one])[0])
    first = rt.engine.usage()
    assert first.calls == 1
    assert store.ledger() == {"extraction.extract": first}
    rt.made(extract_records, one, lambda: rt.engine.extract([one])[0])
    rt.made(extract_records, two, lambda: rt.engine.extract([two])[0])
    assert store.ledger() == {"extraction.extract": rt.engine.usage()}
    assert rt.engine.usage().calls == 2
    rt.once(summed, [1, 2])  # no tool, no cost
    rt.once(embed_texts, "one")
    ledger = store.ledger()
    assert ledger == {"extraction.extract": rt.engine.usage(), "vectors.embed": rt.embedder.usage()}
    assert rt.embedder.usage().embedding_calls == 1


def test_what_costs_nothing_leaves_no_line_in_the_ledger(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    (chunk,) = chunks(1)
    found = rt.engine.extract([chunk])[0]
    rt.made(extract_records, chunk, lambda: found)
    rt.once(embed_texts, "")
    rt.each(embed_texts, [" "])
    assert store.ledger() == {}


def test_what_was_paid_for_in_vain_is_in_the_ledger_too(store: SqliteStore) -> None:
    with ScriptedServer(Script(malformed_rate=1.0)) as server, pytest.raises(StepFailed):
        runtime(store, server).each(extract_records, chunks(2))
    assert store.ledger()["extraction.extract"].calls == 4  # each was asked twice


def test_equal_texts_cost_one_call(store: SqliteStore, server: ScriptedServer) -> None:
    first = chunks(1)[0]
    rt = runtime(store, server)
    rt.each(extract_records, [first, replace(first, id="other", document="elsewhere", start=9, end=10)])
    assert len(server.done("extraction")) == 1


def test_an_endpoint_that_is_down_stops_the_run(store: SqliteStore, server: ScriptedServer) -> None:
    server.script = Script(api_key="right")
    with pytest.raises(EndpointDown, match="key is not accepted"):
        runtime(store, server).each(extract_records, chunks(50))
    assert len(server.calls) < 20


def test_calls_that_run_when_the_budget_ends_are_kept(store: SqliteStore, server: ScriptedServer) -> None:
    server.script = Script(latency_s=0.02)
    rt = runtime(store, server, max_tokens_total=30_000)
    with pytest.raises(BudgetExceeded, match="of its limit"):
        rt.each(extract_records, chunks(60))
    kept = 60 - len(rt.missing(extract_records, chunks(60)))
    assert kept == len(server.done()) == store.ledger()["extraction.extract"].calls > 0


def test_calls_that_run_when_the_endpoint_refuses_are_kept(store: SqliteStore, server: ScriptedServer) -> None:
    server.script = Script(latency_s=0.05)

    def refuse(name: str, done: int, total: int) -> None:
        if done == 1:  # other calls are on their way, and those that are answered from here on are refused
            server.script = replace(server.script, api_key="changed")

    rt = replace(runtime(store, server), progress=refuse)
    with pytest.raises(EndpointDown):
        rt.each(extract_records, chunks(40))
    assert 40 - len(rt.missing(extract_records, chunks(40))) == len(server.done()) >= 1


def test_usage_adds_and_subtracts_field_by_field() -> None:
    one = Usage(calls=2, cost_usd=0.5)
    assert one + one - one == one
    assert key(Usage()) == key(one - one)


def test_what_a_reranker_says_is_stored_under_its_fingerprint_and_paid_once(
    store: SqliteStore, server: ScriptedServer
) -> None:
    asked = [Candidates("Who lit the lamp?", ("The lamp was lit.", f"Rain {i}.")) for i in range(3)]
    made = [EndpointReranker(Endpoint(EndpointSettings(base_url=server.base_url, rerank_model=m))) for m in "ab"]
    for calls, reranker in zip((3, 6, 6), (*made, made[0]), strict=True):
        rt = replace(runtime(store), reranker=reranker)
        found = list(rt.each(score_candidates, asked))
        assert all(one > other for one, other in found)
        assert rt.once(score_candidates, asked[0]).value == found[0]
        assert (store.ledger()["reranking.score"].calls, len(server.done("rerank"))) == (calls, calls)
