"""What fails for good in a step: it is listed, and reasons that are alike are counted as one."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

_NAMES = re.compile(r"\b[0-9a-f]{12,}\b|(?<!\w)'[^']*'|\b\d+(?= records\b)")  # of items, in messages


@dataclass(frozen=True, slots=True)
class SetAside:
    """An item that failed for good: the task that it was for, of what kind the failure was, and why.

    `key` is that of what stands in its place.
    """

    key: str
    task: str
    item: Any
    kind: str
    why: str


def count_reasons(errors: Collection[BaseException]) -> dict[str, int]:
    """How often each reason occurs; reasons that differ only in the item that they name are one."""
    alike: dict[str, list[str]] = {}
    for error in errors:
        text = " ".join(str(error).split())
        reason = f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
        alike.setdefault(_NAMES.sub("…", reason), []).append(reason)
    return {name if len(set(same)) > 1 else same[0]: len(same) for name, same in alike.items()}
