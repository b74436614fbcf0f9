"""Faults of a server, a row each: what tests meet one by one, and what bench/faults.py prints as a table."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from scripted import Script
from scripted_harms import HARMS, WIRE
from sensegraph.errors import SensegraphError

ITEM = "Text:\\nJoss"  # stands in the requests of one chunk in two or so of wired.stories
_RATES: dict[str, tuple[str, dict[str, Any]]] = {
    "429, Retry-After": ("fail_rate", {}),
    "500": ("fail_rate", {"fail_status": 500}),
    "503, a date to retry at": ("fail_rate", {"fail_status": 503, "retry_after": "date:0"}),
    "dropped connection": ("drop_rate", {}),
    "hanging call": ("hang_rate", {"times": 1}),
    "body that is no JSON": ("garbled_rate", {}),
    "malformed reply": ("malformed_rate", {}),
    "reply cut off": ("truncate_rate", {}),
    **{harm: ("harm_rate", {"harm": harm}) for harm in HARMS},
}
_ALWAYS: dict[str, Script] = {
    "500 always": Script(fail_rate=1.0, fail_status=500),
    "malformed always": Script(malformed_rate=1.0),
    "gzip bomb always": Script(harm="gzip bomb", harm_rate=1.0),
    "an item that is declined": Script(harm="declines", harm_rate=1.0, only=ITEM),
    "an item that is filtered": Script(harm="content filter", harm_rate=1.0, only=ITEM),
}
FAULTS = (*_RATES, *_ALWAYS)
ON_THE_WIRE = tuple(WIRE)
ENDPOINT = {"timeout_s": 1.5, "max_retries": 3, "backoff_s": 0.01}


def script_fault(name: str, rate: float) -> Script:
    """A server that shows this fault in a share of its replies, or in all where its name says so."""
    if name in _ALWAYS:
        return _ALWAYS[name]
    field, given = _RATES[name]
    return replace(Script(**given), **{field: rate})


def build_here(url: str, folder: str) -> None:
    """Build a little corpus over a server: what a test does in a process of its own, whose memory it measures."""
    from wired import corpus, stories

    with corpus(Path(folder), url, endpoint=ENDPOINT) as made:
        made.add(stories(12))
        try:
            made.build()
        except SensegraphError as e:
            print(e)


if __name__ == "__main__":
    build_here(*sys.argv[1:])
