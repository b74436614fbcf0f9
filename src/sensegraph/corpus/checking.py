"""Holding an answer against its sources: citations, quoted spans, and whether what is cited bears what is said."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sensegraph.answering.grounding.checking import Checked, check_answers
from sensegraph.answering.grounding.entailment import By, supporter
from sensegraph.errors import NotIndexed
from sensegraph.types import Answer, Document

if TYPE_CHECKING:
    from sensegraph.index.index import Index
    from sensegraph.runtime.runtime import Runtime


class Checking:
    """The part of a corpus that checks what was answered. Raises UnsupportedTask where a model is asked for in vain."""

    @abstractmethod
    def index(self) -> Index:
        """The index as the last build left it."""

    @abstractmethod
    def runtime(self) -> Runtime:
        """A runtime over this corpus's tools and store."""

    def check(self, answer: Answer, *, by: By = "auto") -> Checked:
        """`answer` against the documents of the index that it cites.

        Support is judged by the engine where it can (`auto`), by it alone (`model`), or by the words (`words`).
        """
        return self.check_all([answer], by=by)[0]

    def check_all(self, answers: Sequence[Answer], *, by: By = "auto") -> list[Checked]:
        """Several answers at once; what a model is asked is stored, so that no verdict is paid for twice."""
        return check_answers(answers, self._cited, supporter(self.runtime(), by))

    def _cited(self, name: str) -> Document | None:
        """A document of the index; None where there is none of this id."""
        try:
            return self.index().document(name)
        except NotIndexed:
            return None
