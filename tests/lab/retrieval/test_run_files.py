"""Runs as files, and contexts that are wide enough for a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sensegraph.lab.retrieval.runs import Cost, Found, Run, widen_context, write_runs


def test_each_method_is_a_file_of_ranks_in_a_folder_that_is_made(tmp_path: Path) -> None:
    found = (Found("q1", ("d2", "d1"), 5, 0.1), Found("q2", (), 0, 0.1))
    folder = tmp_path / "some" / "where"
    paths = write_runs([Run("walk (k=5)", found), Run("bm25", found[1:])], folder, "set")
    assert [p.name for p in paths] == ["set.walk--k=5-.trec", "set.bm25.trec"]
    assert paths[0].read_text() == "q1 Q0 d2 1 1.000000 walk--k=5-\nq1 Q0 d1 2 0.500000 walk--k=5-\n"
    assert paths[1].read_text() == ""
    assert write_runs([Run("bm25", ())], folder, "again")[0].parent == folder


@dataclass(frozen=True)
class Given:
    """A method's fields."""

    top: int = 50
    k: int = 0
    context_tokens: int = 8_000
    other: int = 1


def test_a_context_is_widened_to_ten_chunks_a_document() -> None:
    assert widen_context(Given(), 7) == Given(70, 0, 1_000_000, 1)  # type: ignore[arg-type, comparison-overlap]
    assert widen_context(Given(k=90, context_tokens=2_000_000), 5) == Given(50, 90, 2_000_000)  # type: ignore[arg-type, comparison-overlap]


def test_a_cost_is_counted_for_one_megabyte() -> None:
    assert Cost(6.0, 2.0, 1).s_per_mb == 3.0
    assert Cost(6.0, 0.0, 1).s_per_mb == 0.0
