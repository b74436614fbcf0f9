"""How fast, how much and how patiently: requests and tokens a minute, the budget of a run, waits; and what was paid.

Pace and budget are asked before a call and told afterwards what it really took. Waiting happens in the thread that
waits; no lock is held meanwhile, so that other calls go on. The journal keeps replies that were paid for but are not
stored yet: what a killed run leaves behind for the next.
"""

from __future__ import annotations

import hashlib
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sensegraph.errors import BudgetExceeded, SettingsError, StoreError
from sensegraph.runtime.activity import Tally, pause, wait_for_change
from sensegraph.types import Usage

if TYPE_CHECKING:
    from sensegraph.models.batches.batch_box import BatchBox
    from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
    from sensegraph.runtime.stores.corpus_store import SharedLimits
    from sensegraph.runtime.stores.replies import Replies

MINUTE = 60.0
_LATE = 1 / 60  # of a minute by which a call may begin after its moment without being too close to those that follow
_LOOK_S = 0.2  # between two looks at a budget whose room others hold


class Admission:
    """A place in the minute: when a call may start, and how many tokens are held for it.

    `number` is that of a place that processes share.
    """

    __slots__ = ("counted", "number", "start", "tokens")

    def __init__(self, start: float, tokens: int, number: int = 0) -> None:
        self.start, self.tokens, self.number, self.counted = start, tokens, number, True


class Pace:
    """At most `requests` calls and `tokens` tokens in any 60 seconds; 0 means no limit.

    Calls are admitted in the order in which they ask. A call larger than the whole limit waits for an empty minute.
    """

    def __init__(self, requests: int = 0, tokens: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.requests, self.tokens = requests, tokens
        self._clock, self._lock = clock, threading.Lock()
        self._recent: deque[Admission] = deque()
        self._held = 0

    def admit(self, tokens: int) -> Admission:
        """A place for a call of about `tokens`; the caller waits until its `start`."""
        need = min(tokens, self.tokens) if self.tokens else tokens
        with self._lock:
            start = max(self._clock(), self._recent[-1].start if self._recent else 0.0)
            while self._recent and (self._recent[0].start + MINUTE <= start or not self._fits(need)):
                start = max(start, self._leave().start + MINUTE)
            admission = Admission(start, need)
            self._recent.append(admission)
            self._held += need
        return admission

    def wait(self, admission: Admission) -> float:
        """The seconds from now until the call may start."""
        return max(0.0, admission.start - self._clock())

    def missed(self, admission: Admission) -> bool:
        """Whether the call is so late that it needs another place."""
        return False

    def settle(self, admission: Admission, tokens: int) -> None:
        """Replace what was held for a call by what it took."""
        with self._lock:
            if admission.counted:
                self._held += tokens - admission.tokens
                admission.tokens = tokens

    def _fits(self, need: int) -> bool:
        if self.requests and len(self._recent) >= self.requests:
            return False
        return not self.tokens or self._held + need <= self.tokens

    def _leave(self) -> Admission:
        oldest = self._recent.popleft()
        oldest.counted = False
        self._held -= oldest.tokens
        return oldest


class SharedPace(Pace):
    """A pace that holds over all processes that use a store, by a name; `window` is its minute, in seconds.

    Processes begin calls later than they were told, each by another time. So places are a little further apart than a
    minute, and a call that is later than by that much takes another one.
    """

    def __init__(self, shared: SharedLimits, name: str, requests: int, tokens: int, window: float = MINUTE) -> None:
        super().__init__(requests, tokens)
        self._shared, self._name, self._window = shared, name, window

    def admit(self, tokens: int) -> Admission:
        """A place for a call of about `tokens`; the caller waits until its `start`, by the clock of this machine."""
        need = min(tokens, self.tokens) if self.tokens else tokens
        window = self._window * (1 + _LATE)
        number, seconds = self._shared.admit(self._name, need, self.requests, self.tokens, window)
        return Admission(self._clock() + seconds, need, number)

    def missed(self, admission: Admission) -> bool:
        """Whether the call is so late that it needs another place."""
        return self._clock() > admission.start + self._window * _LATE

    def settle(self, admission: Admission, tokens: int) -> None:
        """Replace what was held for a call by what it took."""
        self._shared.settle_place(admission.number, tokens)


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens and US dollars."""

    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.tokens - other.tokens, self.usd - other.usd)


def price_usage(table: EndpointSettings, usage: Usage) -> Usage:
    """`usage` of chat and embedding calls with what it costs by the prices of the settings."""
    cost = usage.prompt_tokens * table.price_prompt + usage.completion_tokens * table.price_completion
    return replace(usage, cost_usd=(cost + usage.embedding_tokens * table.price_embedding) / 1e6)


def price_reading(table: EndpointSettings, embeds: bool, count: int) -> Usage:
    """What a call that read `count` tokens took: one that embeds, or one that ranks."""
    if embeds:
        return price_usage(table, Usage(embedding_calls=1, embedding_tokens=count))
    return Usage(1, count, cost_usd=count * table.price_rerank / 1e6)


@dataclass(frozen=True, slots=True)
class Held(Amount):
    """What is held for a call in a budget that processes share, by its number there."""

    number: int = 0


class Budget:
    """A hard limit on tokens and dollars; 0 means no limit.

    Before a call the most that it can take is reserved. A call that fits only if the calls in flight take less than
    they reserved waits for them; one that can never fit is refused before it costs anything.
    """

    def __init__(self, tokens: int = 0, usd: float = 0.0) -> None:
        self.limit = Amount(tokens, usd)
        self._changed = threading.Condition()
        self._spent, self._reserved = Amount(), Amount()

    def reserve(self, most: Amount) -> Amount:
        """Hold `most`; what `settle` is to be told. Raises BudgetExceeded when what is spent leaves no room for it."""
        with self._changed:
            while self._over(self._spent + self._reserved + most):
                if self._over(self._spent + most):
                    raise BudgetExceeded(self._refuse(self._spent, most))
                wait_for_change(self._changed)
            self._reserved += most
        return most

    def settle(self, most: Amount, used: Amount) -> None:
        """Give back what `reserve` held, and count what was used."""
        with self._changed:
            self._reserved -= most
            self._spent += used
            if self._reserved.tokens <= 0:  # nothing in flight: forget what rounding left behind
                self._reserved = Amount()
            self._changed.notify_all()

    def _over(self, amount: Amount) -> bool:
        return bool(
            (self.limit.tokens and amount.tokens > self.limit.tokens)
            or (self.limit.usd and amount.usd > self.limit.usd + 1e-12)
        )

    def _refuse(self, before: Amount, most: Amount) -> str:
        by_tokens = self.limit.tokens and before.tokens + most.tokens > self.limit.tokens
        spent, limit, need = (
            (f"{before.tokens:,} tokens", f"{self.limit.tokens:,}", f"{most.tokens:,}")
            if by_tokens
            else (f"${before.usd:.4f}", f"${self.limit.usd:.4f}", f"${most.usd:.4f}")
        )
        raised = "--max-tokens (or endpoint.max_tokens_total)" if by_tokens else "--max-cost (or endpoint.max_cost_usd)"
        return (
            f"This run has spent {spent} of its limit of {limit}, and the next call may need {need}. What was paid "
            f"for is stored: raise {raised} and run again to resume. In a program a run lasts as long as the corpus is "
            "open: open it anew."
        )


class SharedBudget(Budget):
    """A budget that holds over all processes that use a store, by the name of a run.

    What is spent and held is in the store: a process that begins later begins from there, and what one held that was
    killed counts as spent.
    """

    def __init__(self, shared: SharedLimits, run: str, tokens: int = 0, usd: float = 0.0) -> None:
        super().__init__(tokens, usd)
        self._shared, self._run = shared, run

    def reserve(self, most: Amount) -> Amount:
        """Hold `most`; what `settle` is to be told. Raises BudgetExceeded when what is spent leaves no room for it."""
        limit = (self.limit.tokens, self.limit.usd)
        while any(limit):
            number, spent = self._shared.reserve(self._run, (most.tokens, most.usd), limit)
            if number:
                return Held(most.tokens, most.usd, number)
            if spent.leaves_no_room(limit, most.tokens, most.usd):
                raise BudgetExceeded(self._refuse(Amount(spent.tokens, spent.usd), most))
            pause(_LOOK_S)
        return most

    def settle(self, most: Amount, used: Amount) -> None:
        """Give back what `reserve` held, and count what was used."""
        if isinstance(most, Held):
            self._shared.settle(self._run, most.number, (most.tokens, most.usd), (used.tokens, used.usd))


def make_pace(table: EndpointSettings, shared: SharedLimits | None, name: str) -> Pace:
    """The pace that the settings ask for: over all processes by this name where limits are `shared`."""
    requests, tokens = table.requests_per_minute, table.tokens_per_minute
    return SharedPace(shared, name, requests, tokens) if shared and (requests or tokens) else Pace(requests, tokens)


def make_budget(table: EndpointSettings, shared: SharedLimits | None, run: str) -> Budget:
    """The budget that the settings ask for: over all processes of this run where limits are `shared`."""
    limit = (table.max_tokens_total, table.max_cost_usd)
    return SharedBudget(shared, run, *limit) if shared and any(limit) else Budget(*limit)


def check_limits(table: EndpointSettings, *, priced: bool = True) -> None:
    """Raise SettingsError for a limit, wait or price below 0; and, of a model that is `priced`, for a limit of cost
    without any price.
    """
    prices = [f.name for f in fields(table) if f.name.startswith("price_")]
    numbers = (
        *("requests_per_minute", "tokens_per_minute", "max_tokens_total", "max_cost_usd", *prices),
        *("timeout_s", "backoff_s", "max_retries", "window", "embedding_dimensions"),
        *("batch_price", "batch_least", "batch_poll_s", "batch_wait_s"),
    )
    if under := [f"endpoint.{name}" for name in numbers if getattr(table, name) < 0]:
        raise SettingsError(f"{under[0]} must be at least 0.")
    if priced and table.max_cost_usd and not any(getattr(table, name) for name in prices):
        raise SettingsError(
            "endpoint.max_cost_usd needs the prices of the models, in US dollars for a million tokens: set what is not "
            f"free of {', '.join(f'endpoint.{name}' for name in prices)}."
        )


def check_copied(table: EndpointSettings, journal: Journal | None, who: str) -> None:
    """Raise SettingsError where an endpoint with these settings would have limits or a journal of its own as a copy."""
    limited = (table.requests_per_minute, table.tokens_per_minute, table.max_tokens_total, table.max_cost_usd)
    if (journal or any(limited)) and not (journal and journal.limits):
        raise SettingsError(
            f"{who} cannot be copied to another process, where its limits and its journal would not hold. Keep the "
            "corpus in a database (store.url), or use an executor that runs what waits in threads."
        )


class Notes:
    """What was degraded, each with how often; safe to write to from many threads. Each activity reads its own."""

    def __init__(self) -> None:
        self._counts = Tally(Counter[str]())

    def add(self, *notes: str) -> None:
        """Count each of these once more."""
        self._counts.add(Counter(notes))

    def read(self) -> tuple[str, ...]:
        """The notes in order, each with how often."""
        return tuple(f"{note} ({n} ×)" for note, n in sorted(self._counts.read().items()))


def choose_pause(attempt: int, after: float | None, first: float = 0.5) -> float:
    """Seconds before the next attempt: as asked, else doubling from `first` to 30; with jitter so that callers part."""
    if after is not None:
        return after + random.uniform(0, 0.1 * after)
    return float(min(30.0, first * 2**attempt) * random.uniform(0.5, 1.0))


class Journal:
    """Used as a context around a build; outside of one it keeps and recalls nothing. Safe to use from many threads.

    `replies` is where they are kept; in `folder`, where there is one, stands what is known of endpoints. `limits` are
    those that hold over all processes which keep replies there; then a copy in another process keeps them there too.
    """

    def __init__(self, replies: Replies, folder: Path | None = None, limits: SharedLimits | None = None) -> None:
        self.folder, self.limits, self._replies = folder, limits, replies
        self.batch: BatchBox | None = None  # of a build whose chat requests are answered in batches
        self._open = self._stays = False
        self._left: dict[str, bytes] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _copy_journal, (self._replies, self.folder, self.limits, self._open)

    def left_behind(self) -> bool:
        """Whether a build was interrupted and left replies."""
        return self._replies.any()

    def beside(self) -> Journal:
        """The same, to be used as a context around calls before a build: what an earlier build left behind stays."""
        self._stays = self.left_behind()
        return self

    def __enter__(self) -> Journal:
        self._left = self._replies.read()
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stays, self._stays = self._stays, False
        self._open, self._left, self.batch = False, {}, None
        if not stays and (kind is None or (issubclass(kind, Exception) and not issubclass(kind, StoreError))):
            self._replies.clear()
        else:  # after Ctrl-C, or with the store away, what was running may not be stored
            self._replies.rest()

    @staticmethod
    def key(path: str, body: bytes) -> str:
        """What a request is known by: its path and its body, which holds model, prompt, schema and limits."""
        return hashlib.blake2b(path.encode() + b"\n" + body, digest_size=20).hexdigest()

    def recall(self, key: str) -> bytes | None:
        """The reply to a request that an earlier run did not live to store."""
        return self._left.get(key)

    def keep(self, key: str, reply: bytes) -> None:
        """Write down a reply (JSON)."""
        if self._open:
            self._replies.keep(key, reply)


def _copy_journal(replies: Replies, folder: Path | None, limits: SharedLimits | None, is_open: bool) -> Journal:
    """A journal of a build that runs in another process."""
    copy = Journal(replies, folder, limits)
    return copy.__enter__() if is_open else copy
