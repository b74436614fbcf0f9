"""Engines whose every result is given, to try the tests of a contract on; and whether such a test holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sensegraph.testing import EngineContract

OTHERS = (
    "extract",
    "summarise",
    "report",
    "rate",
    "ask",
    "refine",
    "test",
    "answer",
    "resolve",
    "stream",
    "usage",
    "notes",
)


def engine(found: Mapping[str, Callable[..., Any]], **more: Any) -> Any:
    """An engine with these tasks; what else an engine has is there, and is not asked for."""

    def unasked(self: Any, *given: Any) -> Any:
        raise AssertionError("not asked for")

    methods = {name: lambda self, *given, call=call: call(*given) for name, call in found.items()}
    flags = {"name": "canned", "batch": 1, "waits": False, "quotes": False, "tasks": frozenset(found)}
    prints = {"fingerprint": lambda self, task: task}
    return type("Canned", (), dict.fromkeys(OTHERS, unasked) | prints | flags | methods | more)()


def holds(test: str, made: Callable[..., Any], *more: Any, of: type[Any] = EngineContract) -> bool:
    """Whether a test of a contract holds of what is made."""
    contract = of()
    contract.make = made
    try:
        getattr(contract, test)(*more)
    except (AssertionError, TypeError, ValueError):
        return False
    return True


def keeps(test: str, /, **found: Any) -> bool:
    """Whether a test holds of an engine that gives one result for each item, the same for all."""
    return holds(
        test, lambda: engine({name: lambda items, r=result: [r] * len(items) for name, result in found.items()})
    )
