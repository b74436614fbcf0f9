"""Listening to an answer while it is written."""

from __future__ import annotations

import re
from collections.abc import Callable

_CITED = re.compile(r"\[\d+\]")


class Patient:
    """Listens in somebody's place until an answer cites a source: one that cites nothing is asked for elsewhere."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear, self._heard, self._open = hear, "", False

    def __call__(self, text: str) -> None:
        """Hear the next piece; pass it on as soon as something was cited."""
        self._heard += text
        self._open = self._open or _CITED.search(self._heard) is not None
        if self._open:
            self._hear(self._heard)
            self._heard = ""
