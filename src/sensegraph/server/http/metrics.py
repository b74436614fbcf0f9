"""What a server counts, and tells at /metrics in the text format of Prometheus."""

from __future__ import annotations

import os
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from sensegraph.errors import BudgetExceeded
from sensegraph.server.http.access import Limits
from sensegraph.types import Usage

_BOUNDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # seconds


class Metrics:
    """Counts of requests and questions, and what questions cost; safe to use from many threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._lock = limits, Lock()
        self._requests, self._took = Counter[tuple[str, str, int]](), Counter[float]()
        self._spent, self._today, self._day = Usage(), Usage(), ""
        self._seconds, self._questions = 0.0, 0
        self.running, self.jobs = 0, Counter[str]()
        self._started = time.time()

    def count_request(self, method: str, route: str, status: int) -> None:
        """A request was answered."""
        with self._lock:
            self._requests[method, route, status] += 1

    def count_question(self, usage: Usage) -> None:
        """A question was answered, at this cost."""
        with self._lock:
            self._begin_day()
            self._spent, self._today = self._spent + usage, self._today + usage
            self._questions += 1
            self._seconds += usage.seconds
            for bound in _BOUNDS:
                self._took[bound] += usage.seconds <= bound

    def check_day(self) -> None:
        """Raise BudgetExceeded where the questions of today have cost what a day may."""
        limits = self._limits
        with self._lock:
            self._begin_day()
            tokens = self._today.prompt_tokens + self._today.completion_tokens + self._today.embedding_tokens
            if limits.day_tokens and tokens >= limits.day_tokens:
                raise BudgetExceeded(f"The questions of today have taken {tokens:,} tokens; ask again tomorrow (UTC).")
            if limits.day_cost and self._today.cost_usd >= limits.day_cost:
                cost = f"${self._today.cost_usd:.2f}"
                raise BudgetExceeded(f"The questions of today have cost {cost}; ask again tomorrow (UTC).")

    def _begin_day(self) -> None:
        if (day := datetime.now(UTC).date().isoformat()) != self._day:
            self._today, self._day = Usage(), day

    def render(self) -> str:
        """All counts as text."""
        with self._lock:
            lines = ["# TYPE sensegraph_requests_total counter"]
            for (method, route, status), n in sorted(self._requests.items()):
                told = f'method="{method}",route="{route}",status="{status}"'
                lines.append(f"sensegraph_requests_total{{{told}}} {n}")
            lines.append("# TYPE sensegraph_question_seconds histogram")
            lines += [f'sensegraph_question_seconds_bucket{{le="{b}"}} {self._took[b]}' for b in _BOUNDS]
            lines.append(f'sensegraph_question_seconds_bucket{{le="+Inf"}} {self._questions}')
            lines.append(f"sensegraph_question_seconds_sum {self._seconds:.3f}")
            lines.append(f"sensegraph_question_seconds_count {self._questions}")
            spent, times = self._spent, os.times()
            gauges = {
                "calls_total": ("counter", spent.calls),
                "prompt_tokens_total": ("counter", spent.prompt_tokens),
                "completion_tokens_total": ("counter", spent.completion_tokens),
                "embedding_tokens_total": ("counter", spent.embedding_tokens),
                "cost_usd_total": ("counter", spent.cost_usd),
                "questions_running": ("gauge", self.running),
                "resident_memory_bytes": ("gauge", read_memory()),
                "cpu_seconds_total": ("counter", round(times.user + times.system, 3)),
                "up_seconds": ("gauge", round(time.time() - self._started, 1)),
            }
            for name, (kind, value) in gauges.items():
                lines += [f"# TYPE sensegraph_{name} {kind}", f"sensegraph_{name} {value}"]
            lines.append("# TYPE sensegraph_jobs_total counter")
            lines += [f'sensegraph_jobs_total{{state="{s}"}} {n}' for s, n in sorted(self.jobs.items())]
        return "\n".join(lines) + "\n"


def read_memory() -> int:
    """The memory of this process in bytes; 0 where the system does not say it in a file."""
    place = Path("/proc/self/statm")
    return int(place.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if place.exists() else 0
