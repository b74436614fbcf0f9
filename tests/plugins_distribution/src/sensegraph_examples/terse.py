"""An engine: the offline engine, but for answers, which are one statement long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.types import Draft, Inquiry


@dataclass(frozen=True)
class Terse(ClassicalEngine):
    """An engine of your own may as well implement `sensegraph.protocols.LanguageEngine` from nothing."""

    name: str = "terse"

    def fingerprint(self, task: str) -> str:
        """Everything that can change the result of a task; where nothing differs, what is stored is used again."""
        return ("terse 1 " if task == "answer" else "") + super().fingerprint(task)

    def answer(self, inquiries: Sequence[Inquiry]) -> list[Draft]:
        """The first statement of each answer, with what it cites."""
        return [replace(draft, statements=draft.statements[:1]) for draft in super().answer(inquiries)]
