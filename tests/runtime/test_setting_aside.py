"""Items of a step that fail for good, or could be read in part only: what is stored, listed, counted and raised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from sensegraph.errors import BatchPending, BudgetExceeded, ItemFailed, StepFailed, Stopped, StoreError, Unreadable
from sensegraph.runtime.activity import StopToken, begin_activity
from sensegraph.runtime.batches import SetAside, recall_aside
from sensegraph.runtime.executors.processes import SerialExecutor
from sensegraph.runtime.keys import key, read_keys_below
from sensegraph.runtime.results import load_result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.rows import delete_tables
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Usage
from wired import runtime

CALLED: list[list[str]] = []
FAILS: dict[str, BaseException] = {}


@step("test_aside.upper", version=1, task="rate", batch=2)
def upper(items: Sequence[str]) -> list[str]:
    CALLED.append(list(items))
    for item in items:
        if item in FAILS:
            raise FAILS[item]
    return [item.upper() for item in items]


@step("test_aside.lower", version=1)
def lower(items: Sequence[str]) -> list[str]:
    CALLED.append(list(items))
    for item in items:
        if item in FAILS:
            raise FAILS[item]
    return [item.lower() for item in items]


@pytest.fixture
def rt(store: SqliteStore) -> Runtime:
    CALLED.clear()
    FAILS.clear()
    return replace(runtime(store), most_failed=0.5)


def fresh(rt: Runtime, **given: Any) -> Runtime:
    """The runtime of the next run."""
    CALLED.clear()
    return replace(runtime(rt.store), most_failed=rt.most_failed, **given)  # type: ignore[arg-type]


def stand_in(item: str) -> str:
    return f"instead of {item}"


DECLINED = ItemFailed("it\n will  not", "declined")


def test_what_failed_for_good_is_stored_listed_and_not_asked_for_in_the_next_run(rt: Runtime) -> None:
    FAILS["b"] = DECLINED
    items = ["a", "b", "c", "d", "b"]
    plain = rt.keys(upper, items)
    found = rt.each(upper, items, without=stand_in)
    assert list(found) == ["A", "instead of b", "C", "D", "instead of b"]
    assert CALLED == [["a"], ["b"], ["c"], ["d"]]
    aside = key(plain[1], "aside")
    assert list(found.keys) == [plain[0], aside, plain[2], plain[3], aside]
    listed = SetAside(aside, "rate", "b", "declined", "it will not")
    assert rt.aside == [listed, listed]
    assert rt.lacking == [aside, aside]
    assert rt.begun == {"test_aside.upper": 5}
    assert recall_aside(rt.store, plain) == {plain[1]: ("declined", "it will not")}
    later = fresh(rt)
    assert list(later.each(upper, items, without=stand_in)) == list(found)
    assert (CALLED, later.aside, later.lacking) == ([], [listed, listed], [aside, aside])
    again = fresh(rt, retry=True)
    FAILS.clear()
    assert list(again.each(upper, items, without=stand_in)) == ["A", "B", "C", "D", "B"]
    assert (CALLED, again.aside, again.lacking) == ([["b"]], [], [])


@pytest.mark.parametrize(
    ("kind", "asked"), [("content refused", False), ("declined", False), ("", True), ("empty", True)]
)
def test_only_what_was_refused_is_not_asked_for_again(rt: Runtime, kind: str, asked: bool) -> None:
    FAILS["b"] = ItemFailed("no", kind)
    rt.each(upper, ["a", "b"], without=stand_in)
    later = fresh(rt)
    later.each(upper, ["a", "b"], without=stand_in)
    assert ([["b"]] if asked else []) == CALLED
    assert [a.kind for a in later.aside] == [kind]
    FAILS.clear()
    strict = fresh(rt)
    assert list(strict.each(upper, ["a", "b"])) == ["A", "B"]  # nothing can stand in its place here
    assert CALLED == [["b"]]


def test_a_step_without_a_stand_in_fails_counts_nothing_as_begun_and_keeps_the_rest(rt: Runtime) -> None:
    FAILS["b"] = DECLINED
    with pytest.raises(StepFailed) as raised:
        rt.each(upper, ["a", "b", "c"])
    assert "1 of 3" in str(raised.value)
    assert raised.value.__cause__ is DECLINED
    assert (rt.begun, rt.aside, rt.lacking) == ({}, [], [])
    FAILS.clear()
    CALLED.clear()
    assert list(rt.each(upper, ["a", "b", "c"])) == ["A", "B", "C"]
    assert CALLED == [["b"]]


@pytest.mark.parametrize(("failing", "fails"), [("a", False), ("ab", False), ("abc", True)])
def test_more_than_the_share_that_may_fail_fails_the_step(rt: Runtime, failing: str, fails: bool) -> None:
    FAILS.update(dict.fromkeys(failing, DECLINED))
    if fails:
        with pytest.raises(StepFailed, match="3 of 4"):
            rt.each(upper, list("abcd"), without=stand_in)
        assert rt.aside == []
        assert recall_aside(rt.store, rt.keys(upper, list("abcd"))) == {}
    else:
        assert rt.each(upper, list("abcd"), without=stand_in)[3] == "D"
        assert len(rt.aside) == len(failing)


def test_those_known_to_have_failed_count_with_those_that_fail_now(rt: Runtime) -> None:
    FAILS.update({"a": DECLINED, "b": DECLINED})
    rt.each(upper, list("abcd"), without=stand_in)
    FAILS["x"] = DECLINED
    later = fresh(rt)
    with pytest.raises(StepFailed, match="1 of 5"):
        later.each(upper, list("abcxy"), without=stand_in)
    later = fresh(rt)
    later.each(upper, list("abcxyz"), without=stand_in)
    assert [a.item for a in later.aside] == ["a", "b", "x"]


@pytest.mark.parametrize("stands", [False, True])
def test_what_was_read_in_part_has_a_key_of_its_own_and_is_asked_for_again(rt: Runtime, stands: bool) -> None:
    FAILS["b"] = Unreadable("cut\n off", "B in part", "length")
    given: dict[str, Callable[[str], str]] = {"without": stand_in} if stands else {}
    plain = rt.keys(upper, ["a", "b"])
    found = rt.each(upper, ["a", "b"], **given)
    assert list(found) == ["A", "B in part"]
    unread = key(plain[1], "unread", b'"B in part"')
    assert list(found.keys) == [plain[0], unread]
    assert rt.aside == ([SetAside(unread, "rate", "b", "length", "cut off", partial=True)] if stands else [])
    assert rt.lacking == [unread]
    assert rt.computed == {"test_aside.upper": 1}
    FAILS.clear()
    later = fresh(rt)
    assert list(later.each(upper, ["a", "b"], **given)) == ["A", "B"]
    assert CALLED == [["b"]]


def test_what_waits_for_a_batch_is_told_before_what_failed(rt: Runtime) -> None:
    waiting = BatchPending("later")
    FAILS.update({"a": DECLINED, "b": waiting})
    with pytest.raises(BatchPending) as raised:
        rt.each(lower, list("abc"), without=stand_in)
    assert raised.value is waiting
    assert (rt.aside, rt.begun) == ([], {})


def test_an_error_that_no_other_call_escapes_ends_the_step_at_once(rt: Runtime) -> None:
    FAILS["c"] = BudgetExceeded("spent")
    with pytest.raises(BudgetExceeded):
        rt.each(upper, list("abcdefgh"), without=stand_in)
    assert rt.aside == []
    assert rt.computed["test_aside.upper"] == len(CALLED) - 1 < 8


def test_a_step_without_a_task_lists_what_failed_under_its_name(rt: Runtime) -> None:
    FAILS["b"] = DECLINED
    rt.each(lower, ["a", "b"], without=stand_in)
    assert [(a.task, a.item) for a in rt.aside] == [("test_aside.lower", "b")]


def test_what_is_asked_to_stop_begins_nothing_more_and_keeps_what_is_done(rt: Runtime) -> None:
    with begin_activity(token := StopToken()):
        assert rt.once(lower, "A").value == "a"
        token.stop()
        assert rt.once(lower, "A").value == "a"  # it is there
        with pytest.raises(Stopped):
            rt.once(lower, "B")
    assert CALLED == [["A"]]
    CALLED.clear()
    progress: list[tuple[str, int, int]] = []

    def stop_after_two(step: str, done: int, total: int) -> None:
        progress.append((step, done, total))
        if done == 2:
            token.stop()

    stopping = replace(rt, progress=stop_after_two)
    with begin_activity(token := StopToken()), pytest.raises(Stopped):
        stopping.each(upper, list("abcdef"))
    assert progress == [("test_aside.upper", n, 6) for n in range(3)]
    assert CALLED == [["a"], ["b"]]
    assert list(rt.each(upper, list("abcdef"))) == list("ABCDEF")
    assert [[letter] for letter in "abcdef"] == CALLED


# ── the input of a whole ──


def test_a_whole_is_known_by_what_it_was_made_from_and_by_what_is_lacking(rt: Runtime) -> None:
    FAILS["b"] = ItemFailed("no")

    def make(rt: Runtime) -> Callable[[], str]:
        return lambda: " ".join(rt.each(upper, ["a", "b", "a"], without=stand_in))

    plain = rt.keys(upper, ["a", "b"])
    (whole,) = rt.keys(lower, [""], [key("names")])
    first = rt.once(lower, make(rt), names=["names"])
    aside = key(plain[1], "aside")
    assert first.value == "a instead of b a"
    assert first.key == key(whole, "aside", [aside])
    assert rt.inside == []
    later = fresh(rt)
    assert later.once(lower, make(later), names=["names"]) == first
    assert CALLED == [["b"]]
    FAILS.clear()
    sound = fresh(rt)
    sound.inside.append([])
    assert sound.once(lower, make(sound), names=["names"]).key == whole
    assert sound.inside == [[whole]]
    assert read_keys_below(rt.store, [whole]) == [key(whole, "below"), *plain]
    known = fresh(rt)
    known.inside.append([])
    assert known.once(lower, lambda: pytest.fail("it is there"), names=["names"]).value == "a b a"
    assert known.inside == [[whole]]
    known.rely_on(["x", "y"])
    assert known.inside == [[whole, "x", "y"]]
    known.inside.clear()
    known.rely_on(["x"])
    assert known.inside == []


def test_the_key_of_a_whole_changes_with_what_is_lacking_beyond_what_was_known(rt: Runtime) -> None:
    rt.lacking.extend(["x", "y"])
    assert rt.key_without("k", 2) == "k"
    assert rt.key_without("k", 1) == key("k", "aside", ["y"])
    assert rt.key_without("k", 0) == key("k", "aside", ["x", "y"])


@dataclass(frozen=True, slots=True)
class Row:
    id: str


@dataclass(frozen=True, slots=True)
class Rows:
    rows: Sequence[Row] = ()


@step("test_aside.rows", version=1, form="tables")
def rows_of(items: Sequence[str]) -> list[Rows]:
    CALLED.append(list(items))
    return [Rows([Row(letter) for letter in item]) for item in items]


def test_a_result_of_which_a_part_is_gone_is_made_again(rt: Runtime, store: SqliteStore) -> None:
    first = rt.once(rows_of, "ab")
    assert [row.id for row in first.value.rows] == ["a", "b"]
    assert rt.once(rows_of, "ab").key == first.key
    assert CALLED == [["ab"]]
    with store.writing() as db:
        delete_tables(db, [number for (number,) in db.execute("SELECT number FROM part").fetchall()])
        db.execute("DELETE FROM part")
    with pytest.raises(StoreError):
        load_result(store, rows_of, first.key)
    assert [row.id for row in rt.once(rows_of, "ab").value.rows] == ["a", "b"]
    assert CALLED == [["ab"], ["ab"]]


# ── what is made in another way ──


class Counting:
    """A tool that counts what it was asked."""

    def __init__(self) -> None:
        self.spent, self.waits = Usage(calls=5), False

    def usage(self) -> Usage:
        return self.spent

    def fingerprint(self) -> str:
        return "counting"


@step("test_aside.tell", version=1, uses="reranker")
def tell(items: Sequence[str], *, reranker: Any) -> list[str]:
    raise AssertionError("it is made in another way")


def test_what_is_made_in_another_way_is_stored_counted_and_paid_once(rt: Runtime) -> None:
    tool = Counting()
    rt = replace(rt, reranker=tool)  # type: ignore[arg-type]

    def make() -> str:
        tool.spent += Usage(calls=2)
        return "told"

    assert [rt.made(tell, "a", make), rt.made(tell, "a", lambda: pytest.fail("it is there"))] == ["told", "told"]
    assert rt.computed == {"test_aside.tell": 1}
    assert rt.store.ledger() == {"test_aside.tell": Usage(calls=2)}  # type: ignore[attr-defined]

    def cut() -> str:
        tool.spent += Usage(calls=3)
        raise Unreadable("cut off", "in part")

    assert rt.made(tell, "b", cut) == "in part"
    assert rt.computed == {"test_aside.tell": 1}
    assert rt.store.ledger() == {"test_aside.tell": Usage(calls=5)}  # type: ignore[attr-defined]
    assert rt.made(tell, "b", lambda: "whole") == "whole"
    assert rt.store.ledger() == {"test_aside.tell": Usage(calls=5)}  # type: ignore[attr-defined]


# ── several wholes ──


class Sending(SerialExecutor):
    """Runs here, and counts the batches that it is given."""

    def __init__(self) -> None:
        self.given: list[int] = []

    def map(self, call: Any, batches: Any, *, waits: bool) -> Any:
        self.given.append(len(batches))
        return super().map(call, batches, waits=waits)


@pytest.mark.parametrize(
    ("shared", "wholes", "waits", "given"),
    [
        (False, "AB", None, []),
        (True, "A", None, []),
        (True, "AB", None, [2]),
        (True, "AB", True, []),
        (True, "AB", False, [2]),
        (True, "", None, []),
    ],
)
def test_several_wholes_go_to_workers_where_the_store_is_shared_and_no_tool_waits(
    store: SqliteStore, shared: bool, wholes: str, waits: bool | None, given: list[int]
) -> None:
    CALLED.clear()
    executor, tool = Sending(), Counting()
    tool.waits = bool(waits)
    store.shared = shared
    rt = replace(runtime(store), executor=executor, reranker=tool)  # type: ignore[arg-type]
    chosen: Any = lower if waits is None else spell
    for _ in range(2):  # what is there is not sent again
        found = rt.once_each(chosen, list(wholes), [[whole] for whole in wholes])
        assert [one.value for one in found] == list(wholes.lower())
        assert [one.key for one in found] == [rt.keys(chosen, ["x"], [key(whole)])[0] for whole in wholes]
    assert executor.given == given


@step("test_aside.spell", version=1, uses="reranker")
def spell(items: Sequence[str], *, reranker: Any) -> list[str]:
    return [item.lower() for item in items]
