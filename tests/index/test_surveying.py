"""What a section is told of its corpus: the entries of its own terms, as many as they are, and nothing of the rest."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from hashlib import blake2b
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.algorithms.rounding import round_count, round_down
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.engines.offline.extraction import corpus_reading
from sensegraph.index import surveying
from sensegraph.index.chunks import chunk_documents
from sensegraph.index.extraction import Extracted, extract_all
from sensegraph.index.surveying import Look, Survey, Table, Told, hash_terms, pack_count, unpack_data, unpack_terms
from sensegraph.models.embedders import HashedTerms
from sensegraph.runtime.executors.processes import SerialExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, Document
from wired import story

GERMAN = "Im Herbst kam der Dichter Oswin Tarnwick nach Ostrau. Die Vorlesung von Tarnwick war im alten Turm."
CHINESE = "北京大学的学生在图书馆读书。图书馆在北京大学里。学生读书很多。"
TALK = "ANN LEE: I saw the boat. Did you?\nBO RAY: No, I saw the lamp, you know.\n" * 4
NOTES = "Read more about the lighthouse on our own pages tomorrow. "
TEXTS = (
    *(story(i, i, 8) for i in range(6)),
    GERMAN,
    f"{GERMAN} Der Turm von Ostrau ist ein Museum. Das Tarnwick House steht in Ostrau.",
    CHINESE,
    f"{CHINESE}老师在图书馆。",
    TALK,
    f"{TALK}ANN LEE: Then Ann and Bo went to Gouda, as you said.\n",
    *(f"{NOTES}{story(i, 9 + i, 3)} Uncle Fenwick saw a white lamp; the white lamp was old." for i in range(4)),
    "",
)


def run_in(store: SqliteStore) -> Runtime:
    return Runtime(ClassicalEngine(), HashedTerms(), store, SerialExecutor())


def extract(texts: Sequence[str], rt: Runtime) -> Extracted:
    documents = [Document(f"d{i}", text, f"Story {i}") for i, text in enumerate(texts)]
    return extract_all(rt.each(chunk_documents, documents, size=60, overlap=10), rt)


@given(st.lists(st.sampled_from(TEXTS), max_size=14))
@settings(max_examples=40, deadline=None)
def test_the_entries_of_its_own_terms_give_the_reading_of_all_entries(texts: list[str]) -> None:
    documents = [(Chunk(f"c{i}", f"d{i}", 0, len(t), 0, t, f"Story {i % 5}"),) for i, t in enumerate(texts)]
    seen = corpus_reading.observe_documents(documents)
    told, known = corpus_reading.survey_documents(seen)
    own = corpus_reading.read_documents(list(zip(documents, seen, told, strict=True)))
    every = corpus_reading.read_documents([(*pair, known) for pair in zip(documents, seen, strict=True)])
    assert own == every
    assert all(known[term] == entry for one in told for term, entry in one.items())


def test_sections_are_told_by_number_what_they_would_be_told_by_term(store: SqliteStore) -> None:
    rt = run_in(store)
    found = extract(TEXTS, rt)
    documents = list(found.chunks)
    seen = corpus_reading.observe_documents(documents)
    told, _ = corpus_reading.survey_documents(seen)
    read = corpus_reading.read_documents(list(zip(documents, seen, told, strict=True)))
    assert list(found.extractions) == read
    assert sum(len(x.relations) for section in read for x in section) > 20


ENTRIES = st.dictionaries(st.text("abcäß中\ud800", max_size=3), st.text("xyz", max_size=2))


def tell(entries: dict[str, str], codes: Any) -> dict[str, str]:
    """What a table of these entries tells of these numbers."""
    return {term: entry for _, term, entry in Table(entries).tell(codes)}


@given(ENTRIES, st.sets(st.text("abcäß中\ud800", max_size=3)))
def test_a_table_tells_the_entries_of_the_terms_that_are_asked_for(entries: dict[str, str], terms: set[str]) -> None:
    told = tell(entries, hash_terms(sorted(terms)))
    assert {t: e for t, e in told.items() if t in terms} == {t: e for t, e in entries.items() if t in terms}
    codes = set(hash_terms(sorted(terms)).tolist())
    assert all(crc32(t.encode("utf-8", "surrogatepass")) in codes and entries[t] == e for t, e in told.items())


@given(ENTRIES, ENTRIES, st.sets(st.text("abcäß中\ud800", max_size=3)))
def test_digests_are_equal_where_what_is_told_is(one: dict[str, str], other: dict[str, str], terms: set[str]) -> None:
    codes = hash_terms(sorted(terms))
    first, second = (Table(entries) for entries in (one, other))
    with np.errstate(over="ignore"):
        same = first.add_up(*first.find(codes)).sum() == second.add_up(*second.find(codes)).sum()
    assert same == (tell(one, codes) == tell(other, codes))
    assert (first.content == second.content) == (one == other)


@given(st.sets(st.text(max_size=4)), st.binary(max_size=9))
def test_a_count_comes_back_from_its_stored_form(terms: set[str], data: bytes) -> None:
    stored = pack_count(sorted(terms), data)
    assert unpack_data(stored) == data
    assert unpack_terms(stored).tolist() == hash_terms(sorted(terms)).tolist()


def test_two_terms_of_one_number_are_told_together() -> None:
    assert crc32(b"plumless") == crc32(b"buckeroo")
    assert tell({"plumless": "1", "buckeroo": "2"}, hash_terms(["plumless"])) == {
        "plumless": "1",
        "buckeroo": "2",
    }


@pytest.mark.parametrize(("count", "rounded"), [(0, 0), (16, 16), (17, 18), (31, 32), (60, 60), (61, 60), (1000, 1024)])
def test_counts_are_rounded_to_four_binary_digits(count: int, rounded: int) -> None:
    assert round_count(count) == rounded
    assert round_count(np.array([count])).tolist() == [rounded]


@pytest.mark.parametrize(("count", "rounded"), [(0, 0), (7, 7), (10, 10), (11, 10), (30, 28), (31, 28), (60, 56)])
def test_counts_of_which_a_share_is_a_bound_are_rounded_down(count: int, rounded: int) -> None:
    assert round_down(count) == rounded


def test_one_document_more_reads_few_again(store: SqliteStore) -> None:
    texts = [story(i % 9, i, 40) for i in range(60)]
    extract(texts, run_in(store))
    rt = run_in(store)
    extract([*texts, "A farmer from Dorset met Ada Harrow and bought an old wheel before winter."], rt)
    assert rt.computed["extraction.observe"] == 1
    assert rt.computed["extraction.learn"] == 5
    assert rt.computed["extraction.read"] <= 4
    assert rt.computed["extraction.count"] <= 5 * 4


def test_nothing_is_looked_at_where_nothing_changed(store: SqliteStore) -> None:
    found = extract(TEXTS, run_in(store))
    rt = run_in(store)
    again = extract(TEXTS, rt)
    assert not rt.computed
    assert again.keys == found.keys


def test_an_interrupted_reading_goes_on(store: SqliteStore) -> None:
    found = extract(TEXTS, run_in(store))
    read = list(found)
    store.forget(list(found.extractions.keys))  # as if the run had ended before the last step
    rt = run_in(store)
    assert list(extract(TEXTS, rt)) == read
    assert set(rt.computed) == {"extraction.read"}


def test_what_travels_with_a_section_does_not_grow_with_the_corpus(store: SqliteStore) -> None:
    texts = [story(i % 9, i, 12) for i in range(120)]
    sizes = []
    for n in (30, 120):
        rt = run_in(store)
        observations = extract_observations(texts[:n], rt)
        survey = Survey(rt, ClassicalEngine(), observations)
        assert len(survey.names) == n
        sizes.append(max(len(pickle.dumps(one)) for one in Told(survey, (observations,), 5).at(range(30))))
    assert sizes[1] < 1.25 * sizes[0]


def extract_observations(texts: Sequence[str], rt: Runtime):  # type: ignore[no-untyped-def]
    from sensegraph.index.extraction import Sections, observe_documents

    documents = [Document(f"d{i}", text, f"Story {i}") for i, text in enumerate(texts)]
    sections = Sections.of(rt.each(chunk_documents, documents, size=60, overlap=10))
    return rt.each(observe_documents, sections, names=sections.keys)


def test_a_document_about_other_things_is_read_alone_and_one_that_shares_terms_has_others_read_again(
    store: SqliteStore,
) -> None:
    def read_anew(texts: Sequence[str]) -> int:
        rt = run_in(store)
        extract(texts, rt)
        return rt.computed["extraction.read"]

    related = [story(i, i, 12) for i in range(12)]
    assert read_anew(related) == 12
    assert read_anew([*related, "Quince jam tastes sweet."]) == 1
    assert read_anew(related[:-2]) == 10


def test_the_digest_of_a_section_is_the_sum_of_the_hashes_of_what_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two looks; terms that nobody knows add nothing, and what was read first is kept."""
    asked, read = [["ada", "bo"], [], ["bo", "nobody", "cy"], ["ada"]], list[int]()

    def hash_entry(term: str, entry: str) -> int:
        return int.from_bytes(blake2b(f"{term}\0{entry}".encode(), digest_size=8).digest(), "little")

    packed = [pack_count(terms, b"rest") for terms in asked]
    counts: Any = SimpleNamespace(at=lambda places: read.extend(places) or [packed[i] for i in places])
    engine: Any = SimpleNamespace(learn=lambda data, look, known: {"cy": "w"} if look else {"ada": "x", "bo": "y"})
    first = Look(engine, counts, ())
    monkeypatch.setattr(surveying, "_KEPT", 2)
    then, both = Look(engine, counts, (first,)), {"ada": "x", "bo": "y", "cy": "w"}
    for look, known in ((first, {"ada": "x", "bo": "y"}), (then, both)):
        sums = [sum(hash_entry(t, known[t]) for t in terms if t in known) % (1 << 64) for terms in asked]
        assert np.frombuffer(look.digest(0, 4), "<u8").tolist() == sums
        assert np.frombuffer(look.digest(1, 3), "<u8").tolist() == sums[1:3]
        assert look.tell([0, 2]) == [{t: known[t] for t in asked[i] if t in known} for i in (0, 2)]
    assert read == [0, 1, 2, 3, 2, 2] * 2
