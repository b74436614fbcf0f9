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
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from sensegraph.errors import BudgetExceeded, StoreError
from sensegraph.runtime.activity import Tally, wait_for_change
from sensegraph.types import Usage

if TYPE_CHECKING:
    from sensegraph.models.batches.batch_box import BatchBox
    from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
    from sensegraph.runtime.stores.replies import Replies

MINUTE = 60.0


class Admission:
    """A place in the minute: when a call may start, and how many tokens are held for it."""

    __slots__ = ("counted", "start", "tokens")

    def __init__(self, start: float, tokens: int) -> None:
        self.start, self.tokens, self.counted = start, tokens, True


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


class Budget:
    """A hard limit on tokens and dollars; 0 means no limit.

    Before a call the most that it can take is reserved. A call that fits only if the calls in flight take less than
    they reserved waits for them; one that can never fit is refused before it costs anything.
    """

    def __init__(self, tokens: int = 0, usd: float = 0.0) -> None:
        self.limit = Amount(tokens, usd)
        self._changed = threading.Condition()
        self._spent, self._reserved = Amount(), Amount()

    def reserve(self, most: Amount) -> None:
        """Hold `most`. Raises BudgetExceeded when what is spent leaves no room for it."""
        with self._changed:
            while self._over(self._spent + self._reserved + most):
                if self._over(self._spent + most):
                    raise BudgetExceeded(self._refusal(most))
                wait_for_change(self._changed)
            self._reserved += most

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

    def _refusal(self, most: Amount) -> str:
        by_tokens = self.limit.tokens and self._spent.tokens + most.tokens > self.limit.tokens
        spent, limit, need = (
            (f"{self._spent.tokens:,} tokens", f"{self.limit.tokens:,}", f"{most.tokens:,}")
            if by_tokens
            else (f"${self._spent.usd:.4f}", f"${self.limit.usd:.4f}", f"${most.usd:.4f}")
        )
        raised = "--max-tokens (or endpoint.max_tokens_total)" if by_tokens else "--max-cost (or endpoint.max_cost_usd)"
        return (
            f"This run has spent {spent} of its limit of {limit}, and the next call may need {need}. What was paid "
            f"for is stored: raise {raised} and run again to resume."
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

    `replies` is where they are kept; in `folder`, where there is one, stands what is known of endpoints.
    """

    def __init__(self, replies: Replies, folder: Path | None = None) -> None:
        self.folder, self._replies = folder, replies
        self.batch: BatchBox | None = None  # of a build whose chat requests are answered in batches
        self._open = False
        self._left: dict[str, bytes] = {}

    def left_behind(self) -> bool:
        """Whether a build was interrupted and left replies."""
        return self._replies.any()

    def __enter__(self) -> Journal:
        self._left = self._replies.read()
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open, self._left, self.batch = False, {}, None
        if kind is None or (issubclass(kind, Exception) and not issubclass(kind, StoreError)):
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
