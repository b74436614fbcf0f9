"""Rows that are pinned in a file of tests/data/runs by their group, and how what is found now differs from them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from whole_runs import is_same


@cache
def read_rows(path: Path) -> dict[str, list[Any]]:
    """The rows of a file by their group."""
    rows: dict[str, list[Any]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").strip().split("\n"):
        group, row = json.loads(line)
        rows[group].append(row)
    return dict(rows)


@dataclass(frozen=True)
class PinnedRows:
    """A file, the groups that stand in it, and what finds the rows of a group as JSON has them."""

    path: Path
    groups: Sequence[str]
    find: Callable[[str], list[Any]]

    def groups_of(self, *kinds: str) -> list[str]:
        """The groups whose name begins with one of these words."""
        return [group for group in self.groups if group.partition(" ")[0] in kinds]

    def name_differences(self, group: str) -> list[str]:
        """The rows of a group that differ from those that are pinned."""
        found, pinned = self.find(group), read_rows(self.path).get(group, [])
        if len(found) != len(pinned):
            return [f"{group}: {len(found)} rows are found, {len(pinned)} are pinned"]
        pairs = zip(found, pinned, strict=True)
        return [f"{group}: found {one}\npinned {other}" for one, other in pairs if not is_same(one, other)]

    def write(self) -> None:
        """Write what is found now; a group whose numbers differ in their last digits alone stays as it was."""
        before = read_rows(self.path) if self.path.exists() else {}
        lines: list[str] = []
        for group in self.groups:
            rows, old = self.find(group), before.get(group, [])
            kept = old if is_same(rows, old) else rows
            lines += [json.dumps([group, row], ensure_ascii=False, separators=(",", ":")) for row in kept]
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
