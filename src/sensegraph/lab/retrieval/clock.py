"""The CPU time of a piece of work with all its workers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_PROCESSES = Path("/proc")


@dataclass(frozen=True, slots=True)
class Cost:
    """What an index took: CPU seconds of all processes, MB of text, the results computed (0: all were there)."""

    cpu_s: float
    megabytes: float
    computed: int

    @property
    def s_per_mb(self) -> float:
        """CPU seconds for one MB of text."""
        return self.cpu_s / self.megabytes if self.megabytes else 0.0


def cpu_seconds() -> float:
    """CPU of this process, its finished children, and, where /proc tells, of those that still run."""
    own = os.times()
    spent = own.user + own.system + own.children_user + own.children_system
    below: dict[int, list[tuple[int, float]]] = {}  # processes by their parent, with their CPU seconds
    for place in _PROCESSES.glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile, and its parent has counted it
        ticks = sum(int(n) for n in fields[11:15])  # its own, user and system, and those of its finished children
        below.setdefault(int(fields[1]), []).append((int(place.parent.name), ticks / os.sysconf("SC_CLK_TCK")))
    parents = [os.getpid()]
    while parents:
        for process, seconds in below.get(parents.pop(), []):
            parents.append(process)
            spent += seconds
    return spent
