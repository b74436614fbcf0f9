"""Pace and budget hold over all processes that share a store, and go on from where they were when one is killed."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("asyncpg", reason='asyncpg is not installed: pip install "sensegraph[postgres]"')

from databases import corpus_url, database_store
from scripted import Script, ScriptedServer
from sensegraph.errors import BudgetExceeded, SettingsError
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.limits import Amount, Budget, Held, Journal, Pace, SharedBudget, SharedPace
from sensegraph.runtime.stores.corpus_store import Spent
from sensegraph.runtime.stores.postgres import PostgresStore
from sensegraph.runtime.stores.postgres_limits import LimitTable
from sensegraph.runtime.stores.replies import ReplyFile
from shared_limits import count_most, spend_together


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PostgresStore]:
    with closing(database_store(tmp_path)) as store:
        yield store


@pytest.fixture
def table(made: PostgresStore) -> LimitTable:
    assert made.limits is not None
    return made.limits


def starts(made: PostgresStore, name: str) -> list[tuple[float, int]]:
    """When the calls of a pace may start, in seconds after the first, and their tokens."""
    query = "SELECT extract(epoch FROM start)::double precision, tokens FROM admission WHERE name = $1 ORDER BY start"
    found = made._ask(query, name)
    return [(start - found[0][0], tokens) for start, tokens in found]


# ── pace ──


def test_no_window_holds_more_requests_and_none_that_has_room_waits(made: PostgresStore, table: LimitTable) -> None:
    paces = [SharedPace(table, "here", 10, 0, window=1000.0) for _ in range(3)]
    waits = [paces[i % 3].wait(paces[i % 3].admit(1)) for i in range(35)]
    begun = [start for start, _ in starts(made, "here")]
    assert len(begun) == 35
    assert all(b >= a + 1016.6 for a, b in zip(begun, begun[10:], strict=False))  # a minute, and a second more
    assert begun[9] < 100.0
    assert 1000.0 <= begun[10] < 1100.0
    assert 3000.0 <= begun[34] < 3100.0
    assert waits[:10] == [0.0] * 10
    assert 900.0 < waits[10] <= 1016.7
    assert paces[0].wait(SharedPace(table, "elsewhere", 10, 0, window=1000.0).admit(1)) == 0.0


def test_tokens_are_held_to_their_limit_and_what_a_call_did_not_take_is_given_back(
    made: PostgresStore, table: LimitTable
) -> None:
    pace = SharedPace(table, "here", 0, 100, window=1000.0)
    first, second = pace.admit(60), pace.admit(60)
    assert (pace.wait(first), pace.wait(second) > 900.0) == (0.0, True)
    again = SharedPace(table, "again", 0, 100, window=1000.0)
    first = again.admit(60)
    again.settle(first, 40)
    assert again.wait(again.admit(60)) == 0.0
    assert again.wait(again.admit(1)) > 900.0
    large = SharedPace(table, "large", 0, 100, window=1000.0)
    assert large.wait(large.admit(5000)) == 0.0  # larger than the whole limit: it waits for an empty window
    assert large.wait(large.admit(1)) > 900.0
    assert [tokens for _, tokens in starts(made, "again")] == [40, 60, 1]


def test_places_that_have_passed_are_removed(made: PostgresStore, table: LimitTable) -> None:
    pace = SharedPace(table, "here", 0, 10**9, window=0.001)
    for _ in range(300):
        pace.admit(1)
    assert 0 < len(starts(made, "here")) < 300


@pytest.mark.parametrize(("number", "cleared"), [(255, False), (256, True), (257, False), (512, True)])
def test_at_every_256th_place_those_of_its_name_are_removed_that_passed_two_windows_ago(
    made: PostgresStore, table: LimitTable, number: int, cleared: bool
) -> None:
    for name, ago in (("here", 15), ("here", 19), ("here", 21), ("here", 29), ("there", 90)):
        query = "INSERT INTO admission (name, start, tokens) VALUES ($1, clock_timestamp() - $2 * interval '1 s', $2)"
        made._ask(query, name, ago)
    made._ask(f"ALTER TABLE admission ALTER number RESTART WITH {number}")
    assert table.admit("here", 7, 10, 0, 10.0) == (number, 0.0)
    left = [tokens for (tokens,) in made._ask("SELECT tokens FROM admission ORDER BY tokens")]
    assert left == ([7, 15, 19, 90] if cleared else [7, 15, 19, 21, 29, 90])


def test_places_and_reservations_follow_their_limits_number_by_number(table: LimitTable) -> None:
    assert table.admit("a", 5, 0, 0, 10.0)[1] == 0.0
    first, wait = table.admit("b", 5, 1, 0, 10.0)
    assert wait == 0.0
    second, wait = table.admit("b", 5, 1, 0, 10.0)
    assert (second, 9.0 < wait <= 10.0) == (first + 1, True)
    assert table.reserve("run", (10, 0.25), (0, 0.0)) == (1, Spent(0, 0.0))
    assert table.reserve("run", (10, 0.25), (20, 0.5)) == (2, Spent(0, 0.0))
    assert table.reserve("run", (1, 0.0), (20, 0.0)) == (0, Spent(0, 0.0))
    assert table.reserve("run", (0, 0.01), (0, 0.5)) == (0, Spent(0, 0.0))
    table.settle("run", 1, (10, 0.25), (4, 0.125))
    assert table.reserve("run", (6, 0.0), (20, 0.0)) == (3, Spent(4, 0.125))
    assert table.reserve("run", (1, 0.0), (20, 0.0)) == (0, Spent(4, 0.125))
    table.settle("run", 99, (3, 0.0625), (1, 0.0))  # it was counted as spent
    assert table.reserve("run", (1, 0.0), (0, 0.0)) == (4, Spent(2, 0.0625))
    assert table.reserve("other", (1, 0.0), (1, 0.0)) == (5, Spent(0, 0.0))


# ── budget ──


def test_threads_spend_a_budget_to_its_end_and_not_one_call_more(made: PostgresStore, table: LimitTable) -> None:
    spent, said = [], []

    def work() -> None:
        budget = SharedBudget(table, "run", tokens=1000)
        while not said:
            try:
                budget.settle(budget.reserve(Amount(10)), Amount(10))
                spent.append(10)
            except BudgetExceeded as e:
                said.append(str(e))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sum(spent) == 1000
    assert all("has spent 1,000 tokens of its limit of 1,000" in text for text in said)
    assert isinstance(SharedBudget(table, "other", tokens=10).reserve(Amount(10)), Held)


def test_a_call_that_fits_only_when_others_take_less_waits_for_them(made: PostgresStore, table: LimitTable) -> None:
    budget = SharedBudget(table, "run", usd=1.0)
    held = budget.reserve(Amount(0, 0.9))
    threading.Timer(0.3, budget.settle, (held, Amount(0, 0.2))).start()
    assert budget.reserve(Amount(0, 0.5)) == Held(0, 0.5, held.number + 1)  # type: ignore[attr-defined]
    with pytest.raises(BudgetExceeded, match=r"has spent \$0.2000 of its limit of \$1.0000"):
        budget.reserve(Amount(0, 0.9))


_HOLDER = """
import sys, time
sys.path[:0] = sys.argv[3:]
from pathlib import Path
from sensegraph.models.endpoint.limits import Amount, SharedBudget
from sensegraph.runtime.stores.postgres import PostgresStore
store = PostgresStore(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[2]) / "copies")
SharedBudget(store.limits, "run", tokens=100).reserve(Amount(40))
print("held", flush=True)
time.sleep(60)
"""


def test_what_a_process_held_that_was_killed_counts_as_spent(
    made: PostgresStore, table: LimitTable, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", _HOLDER, corpus_url(tmp_path), str(tmp_path), *sys.path]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        budget = SharedBudget(table, "run", tokens=100)
        budget.settle(budget.reserve(Amount(60)), Amount(50))
        holder.send_signal(signal.SIGKILL)
    until = time.monotonic() + 10
    living = "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory'"
    dead = f"SELECT 1 FROM reservation WHERE holder NOT IN ({living})"
    while not made._ask(dead) and time.monotonic() < until:
        time.sleep(0.02)
    later = SharedBudget(table, "run", tokens=100)
    with pytest.raises(BudgetExceeded, match="has spent 90 tokens"):
        later.reserve(Amount(11))
    later.settle(later.reserve(Amount(10)), Amount(10))
    with pytest.raises(BudgetExceeded, match="has spent 100 tokens"):
        later.reserve(Amount(1))


def test_what_was_counted_as_spent_is_given_back_when_its_call_ends_after_all(table: LimitTable) -> None:
    """A process whose connection is cut seems to be gone; then its call comes to an end, and took less."""
    budget = SharedBudget(table, "run", tokens=100, usd=1.0)
    held = budget.reserve(Amount(40, 0.4))
    assert table._alive is not None
    table._alive.close()
    budget.settle(budget.reserve(Amount(10, 0.1)), Amount(10, 0.1))  # which counts the 40 as spent
    budget.settle(held, Amount(15, 0.05))
    with pytest.raises(BudgetExceeded, match="has spent 25 tokens"):
        budget.reserve(Amount(76))
    with pytest.raises(BudgetExceeded, match=r"\$0.1500"):
        budget.reserve(Amount(1, 0.9))
    assert isinstance(budget.reserve(Amount(75, 0.8)), Held)


# ── endpoints in other processes ──

_WORKER = """
import pickle, sys
sys.path[:0] = sys.argv[2:]
from sensegraph.errors import BudgetExceeded
endpoint = pickle.load(sys.stdin.buffer)
print("ready", flush=True)
try:
    for i in range(1000):
        endpoint.chat([{"role": "user", "content": f"say {sys.argv[1]} {i}"}], max_tokens=20)
except BudgetExceeded as e:
    print(e)
"""


def test_copies_of_an_endpoint_in_other_processes_share_one_budget_and_one_journal(
    made: PostgresStore, tmp_path: Path
) -> None:
    limit = 1500
    with ScriptedServer(Script(latency_s=0.01)) as server, Journal(made.replies, tmp_path, made.limits) as journal:
        table = EndpointSettings(server.base_url, "scripted", max_tokens_total=limit, requests_per_minute=5000)
        endpoint = Endpoint(table, journal)
        sent = pickle.dumps(endpoint)

        def work(number: int) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-c", _WORKER, str(number), *sys.path]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(sent)
            process.stdin.close()
            process.stdin = None
            return process

        workers = [work(n) for n in range(3)]
        while len(server.done()) < 10:
            time.sleep(0.001)
        workers[0].kill()
        said = [worker.communicate(timeout=60)[0].decode() for worker in [*workers[1:], work(0)]]
        assert all("This run has spent" in text for text in said)
        used = sum(_tokens(body) for _, body in made._ask("SELECT key, body FROM reply"))
        (spent,) = made._ask("SELECT tokens FROM budget")
        assert used <= spent[0] <= limit
        assert len(made._ask("SELECT key FROM reply")) in (len(server.done()), len(server.done()) - 1)
        assert made._ask("SELECT count(*) FROM admission")[0][0] >= len(server.done())
        with pytest.raises(BudgetExceeded):
            endpoint.chat([{"role": "user", "content": "say here"}], max_tokens=limit - int(spent[0]) + 1)


@pytest.mark.slow
def test_three_processes_keep_to_one_minute_and_one_budget_over_a_kill_and_a_restart(tmp_path: Path) -> None:
    url, limit = corpus_url(tmp_path), 500
    found = spend_together(
        url, tmp_path, workers=3, requests=40, window=1.5, counted=1.0, budget=limit, killed_after=40
    )
    assert found.calls > 40
    assert found.most <= 40
    assert limit - 6 * 60 < found.tokens <= limit  # what the killed one held counts as spent
    assert found.after_end == 0
    assert all("This run has spent" in text for text in found.said)
    assert len(found.said) == 4


def test_the_most_calls_in_any_window_are_counted() -> None:
    assert count_most([0.0, 0.5, 0.9, 1.0, 1.4, 3.0], 1.0) == 4
    assert count_most([], 1.0) == 0


def test_a_call_that_comes_too_late_to_its_place_takes_another(table: LimitTable) -> None:
    now = [1000.0]
    pace = SharedPace(table, "late", 10, 0, window=60.0)
    pace._clock = lambda: now[0]
    place = pace.admit(1)
    assert not pace.missed(place)
    now[0] += 0.9  # a second of a minute is kept between calls a minute apart
    assert not pace.missed(place)
    now[0] += 0.2
    assert pace.missed(place)
    assert not Pace(10, 0, lambda: now[0] + 100.0).missed(place)


def _tokens(body: bytes) -> int:
    import msgspec

    return int(msgspec.json.decode(body)["usage"]["total_tokens"])


@pytest.mark.parametrize(
    "limits",
    [{"requests_per_minute": 600}, {"tokens_per_minute": 9}, {"max_tokens_total": 9}, {"max_cost_usd": 1.0}, {}],
)
def test_an_endpoint_with_limits_or_a_journal_of_this_process_is_not_copied(
    limits: dict[str, float], tmp_path: Path
) -> None:
    table = EndpointSettings("http://127.0.0.1:9/v1", "m", price_prompt=1.0, **limits)  # type: ignore[arg-type]
    journal = None if limits else Journal(ReplyFile(tmp_path / "replies.jsonl"))
    with pytest.raises(SettingsError, match="cannot be copied to another process, where its limits"):
        pickle.dumps(Endpoint(table, journal))
    assert pickle.loads(pickle.dumps(Endpoint(EndpointSettings("http://127.0.0.1:9/v1", "m")))).settings.model == "m"


def test_without_limits_nothing_is_asked_of_the_database(made: PostgresStore, tmp_path: Path) -> None:
    journal = Journal(made.replies, tmp_path, made.limits)
    plain = Endpoint(EndpointSettings("http://127.0.0.1:9/v1", "m"), journal)
    assert (type(plain._budget), type(plain.calls._pace)) == (Budget, Pace)
    limited = Endpoint(
        EndpointSettings("http://127.0.0.1:9/v1", "m", requests_per_minute=1, max_tokens_total=1), journal
    )
    assert (type(limited._budget), type(limited.calls._pace)) == (SharedBudget, SharedPace)
