"""What methods keep."""

from __future__ import annotations

from pathlib import Path

from sensegraph.index.index import Index
from sensegraph.protocols import Method
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing.samples import QUESTION, SAMPLE
from sensegraph.types import Answer, Question


class MethodContract:
    """What every method keeps. Override `make` and `build`: a runtime and an index of `SAMPLE` in `folder`."""

    def make(self) -> Method:
        """The method under test, with its default settings."""
        raise NotImplementedError

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        """A runtime and a finished index of the sample documents."""
        raise NotImplementedError

    def test_a_method_satisfies_the_protocol(self) -> None:
        """It has a name, names the tasks that it needs, and its settings are the fields of a frozen dataclass."""
        method = self.make()
        assert isinstance(method, Method)
        assert method.name
        assert all(task.isidentifier() for task in method.requires)
        assert type(method).__dataclass_params__.frozen  # type: ignore[attr-defined]

    def test_evidence_names_documents_of_the_corpus(self, tmp_path: Path) -> None:
        """Documents and sources exist; documents do not repeat; retrieving twice gives the same."""
        rt, index = self.build(tmp_path)
        found = self.make().retrieve(Question(QUESTION), index, rt)
        assert set(found.documents) <= {d.id for d in SAMPLE}
        assert len(set(found.documents)) == len(found.documents)
        sources = {s.chunk for p in found.passages for s in p.sources}
        assert index.chunks(sorted(sources)).keys() == sources
        assert self.make().retrieve(Question(QUESTION), index, rt) == found

    def test_every_citation_is_a_quote_from_its_document(self, tmp_path: Path) -> None:
        """`quote == text[start:end]`, every marker stands in the text, and there is at least one."""
        rt, index = self.build(tmp_path)
        answer = self.make().answer(Question(QUESTION), index, rt)
        check_citations(answer, {d.id: d.text for d in SAMPLE})
        assert answer.citations


def check_citations(answer: Answer, texts: dict[str, str]) -> None:
    """Assert that each citation is the text at its span, is marked in the answer, and has a number of its own."""
    assert all(c.quote == texts[c.document][c.start : c.end] != "" for c in answer.citations)
    assert all(f"[{c.marker}]" in answer.text for c in answer.citations)
    assert [c.marker for c in answer.citations] == list(range(1, len(answer.citations) + 1))
