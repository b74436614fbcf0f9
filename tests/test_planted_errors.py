"""What the figures of two programs rest on: planted errors are found, and labellings agree by the book."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from importlib.resources import files
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import duplicates
import planted_errors
from sensegraph.answering.grounding.citations import split_cited_statements
from sensegraph.answering.grounding.lexical import find_reporter, remove_speaker
from sensegraph.corpus.corpus import Corpus

ASKED = (
    "What did Scrooge see instead of the knocker?",
    "Who is Tiny Tim?",
    "What did Marley's Ghost tell Scrooge?",
    "What did Scrooge send to Bob Cratchit?",
    "Who was Fezziwig?",
    "What did Belle say to Scrooge?",
    "Where did Scrooge go to school?",
    "What happened at the house of Scrooge's nephew?",
)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[planted_errors.Case]:
    with Corpus.open(tmp_path_factory.mktemp("planted"), settings={"engine": "offline"}) as corpus:
        corpus.add(Path(str(files("sensegraph") / "data" / "carol")))
        corpus.build(parts=[])
        documents = {d.id: d for d in corpus.documents()}
        found = [corpus.query(q, method="naive") for q in ASKED]
    said = [s for a in found for s in split_cited_statements(a.text) if s.references]
    names = tuple(n for s in said for n in planted_errors.NAME.findall(remove_speaker(s.text)))
    speakers = tuple(w for s in said if (w := find_reporter(s.text)))
    return [planted_errors.Case(a, documents, names, speakers, tuple(s.text for s in said)) for a in found]


@pytest.mark.slow
def test_sound_answers_on_the_bundled_corpus_are_not_objected_to(cases: list[planted_errors.Case]) -> None:
    found = [planted_errors.checked(c.answer, c.documents) for c in cases]
    assert sum(f.citations for f in found) > 10
    assert sum(f.exact for f in found) == sum(f.citations for f in found)
    assert [p for f in found for p in f.problems] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["name", "negation", "dangling", "other source", "foreign", "misquoted", "shifted"])
def test_errors_that_are_planted_are_found(kind: str, cases: list[planted_errors.Case]) -> None:
    plant = planted_errors.KINDS[kind]
    tried = [planted_errors.planted(c, plant, random.Random(f"{kind} {i}")) for i, c in enumerate(cases)]
    told = [t for t in tried if t]
    assert len(told) >= 4
    assert sum(hit for hit, _ in told) >= len(told) - 1


# ── agreement of labellings ──


def information(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    n, a, b = len(one), Counter(one), Counter(other)
    return sum(c / n * log(c * n / (a[x] * b[y])) for (x, y), c in Counter(zip(one, other, strict=True)).items())


@given(st.lists(st.integers(0, 2), min_size=2, max_size=6), st.data())
def test_what_chance_gives_is_the_mean_over_all_orders(labels: list[int], data: st.DataObject) -> None:
    other = data.draw(st.lists(st.integers(0, 2), min_size=len(labels), max_size=len(labels)))
    every = [information(tuple(labels), order) for order in itertools.permutations(other)]
    sizes = [Counter(Counter(x).values()) for x in (labels, other)]
    assert duplicates.expected(*sizes, len(labels)) == pytest.approx(sum(every) / len(every), abs=1e-9)


def test_equal_labellings_agree_wholly_and_one_label_with_none() -> None:
    assert duplicates.ami("aabbc", "xxyyz") == pytest.approx(1.0)
    assert duplicates.ami("aaaa", "abcd") == pytest.approx(0.0)
