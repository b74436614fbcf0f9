"""How long `=~` takes where an expression can match in very many ways: RE2 beside the `re` of Python.

    python bench/regular_expressions.py

The expression is `(a+)+$`, the text `a` n times and a `!`, which does not match. CPU seconds of one match; `re` stops
at the longest text that is sensible.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from sensegraph.graphs.match.query_values import compile_matcher

EXPRESSION = "(a+)+$"
SHORT = (16, 18, 20, 22, 24)
LONG = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def measure_match(match: Callable[[str], object], length: int) -> float:
    text = "a" * length + "!"
    begun = time.process_time()
    if match(text):
        raise SystemExit(f"{EXPRESSION} must not match")
    return time.process_time() - begun


def main() -> None:
    print("| characters | `re`, CPU s | RE2, CPU s |\n|---|---|---|")
    linear, python = compile_matcher(EXPRESSION), re.compile(EXPRESSION).fullmatch
    for length in (*SHORT, *LONG):
        own = f"{measure_match(python, length):.3f}" if length in SHORT else ""
        print(f"| {length:,} | {own} | {measure_match(linear, length):.6f} |")


if __name__ == "__main__":
    main()
