"""The counts of extractions are those of all, however they are cut into runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.index.extraction import Tally
from sensegraph.types import Extraction

counts = st.dictionaries(st.sampled_from("abc"), st.integers(1, 4)).map(lambda found: tuple(found.items()))
rounds = st.lists(st.integers(0, 3), max_size=3).map(tuple)
made = st.builds(lambda r, o, n: Extraction(rejected=r, outside=o, rounds=n), counts, counts, rounds)


@given(st.lists(made, max_size=8), st.integers(0, 8))
def test_counts_of_two_runs_add_up_to_those_of_both(extractions: list[Extraction], cut: int) -> None:
    assert Tally.of(extractions[:cut]) + Tally.of(extractions[cut:]) == Tally.of(extractions)


def test_a_tally_counts_chunks_rounds_and_what_they_found() -> None:
    found = Tally.of([Extraction(rounds=(2, 0)), Extraction(), Extraction(rejected=(("name", 3),), rounds=(1,))])
    assert found == Tally((("name", 3),), (), asked=2, rounds=3, gleaned=3)
