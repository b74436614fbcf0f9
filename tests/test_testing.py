"""The contracts hold for our own engines and embedders, and catch those that break them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripted import ScriptedServer
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.models.embedders import HashedTerms
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.runtime.executors.processes import SerialExecutor
from sensegraph.runtime.stores.packs import delete_objects, write_objects
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.testing import (
    CorpusStoreContract,
    EmbedderContract,
    EngineContract,
    ExecutorContract,
    JudgeContract,
    StoreContract,
    check_citations,
)
from sensegraph.testing.samples import sample_chunks
from sensegraph.trials import Check, Contrast, Excerpt, Support, Trial, Verdict, Wish
from sensegraph.types import (
    Answer,
    Brief,
    Chunk,
    Citation,
    Extraction,
    Inquiry,
    Mention,
    Point,
    Report,
    Statement,
    SummaryEntity,
)


class TestModelEngine(EngineContract):
    def make(self) -> LLMEngine:
        return LLMEngine(Endpoint(EndpointSettings(base_url=self.server.base_url, model="one")))

    def make_other(self) -> LLMEngine:
        return LLMEngine(Endpoint(EndpointSettings(base_url=self.server.base_url, model="another")))

    def setup_method(self) -> None:
        self.server = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.server.__exit__()


@pytest.mark.slow
class TestOfflineEngine(EngineContract):
    def make(self) -> ClassicalEngine:
        return ClassicalEngine()


class TestHashedTerms(EmbedderContract):
    def make(self) -> HashedTerms:
        return HashedTerms()


# ── a contract that cannot fail is none ──


class _Forgetful(SqliteStore):
    def write(self, objects: Mapping[str, bytes], step: str = "") -> None:
        super().write({k: v for k, v in objects.items() if v}, step)


class _Overwriting(SqliteStore):
    def write(self, objects: Mapping[str, bytes], step: str = "") -> None:
        with self.writing() as db:
            delete_objects(db, objects.keys())
            write_objects(db, objects, step)


class _HalfTables(SqliteStore):
    def write_rows(self, key: str, rows: Iterable[tuple[str, bytes]]) -> None:
        kept: list[tuple[str, bytes]] = []
        try:
            kept.extend(rows)
        finally:
            super().write_rows(key, kept)


class _Writable(SqliteStore):
    def array(self, key: str) -> Any:
        found = super().array(key)
        return None if found is None else np.array(found)


class _Raising(SerialExecutor):
    def map(self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool) -> Iterator[tuple[int, Any]]:
        return ((i, call(b)) for i, b in enumerate(batches))


class _Eager(SerialExecutor):
    def map(self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool) -> Iterator[tuple[int, Any]]:
        done = list(super().map(call, batches, waits=waits))
        yield from done


class _Long(HashedTerms):
    def embed(self, texts: Sequence[str], kind: Any) -> Any:
        return 2 * super().embed(texts, kind)


def _broken(store: type[SqliteStore], test: str, folder: Path) -> None:
    contract = StoreContract()
    contract.make = store  # type: ignore[method-assign]
    getattr(contract, test)(folder)


@pytest.mark.parametrize(
    ("store", "test"),
    [
        (_Forgetful, "test_objects_come_back_as_they_were_written"),
        (_Overwriting, "test_a_key_keeps_its_first_value"),
        (_HalfTables, "test_a_table_that_breaks_off_leaves_nothing"),
        (_Writable, "test_arrays_come_back_equal_and_read_only"),
    ],
)
def test_a_store_that_breaks_its_contract_is_found_out(store: type[SqliteStore], test: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        _broken(store, test, tmp_path)


class _Pinning(SqliteStore):
    """Never forgets who read an index."""

    def pinned(self) -> set[str]:
        return {key for (key,) in self.select("SELECT key FROM pin")}


def test_a_store_that_keeps_pins_that_have_run_out_is_found_out(tmp_path: Path) -> None:
    contract = CorpusStoreContract()
    contract.make = SqliteStore  # type: ignore[method-assign]
    contract.test_an_index_is_pinned_for_a_while(tmp_path / "right")
    contract.make = _Pinning  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        contract.test_an_index_is_pinned_for_a_while(tmp_path / "wrong")


@pytest.mark.parametrize(
    ("executor", "test"),
    [
        (_Raising, "test_an_exception_is_a_value_that_stops_no_other_batch"),
        (_Eager, "test_closing_stops_what_has_not_begun"),
    ],
)
def test_an_executor_that_breaks_its_contract_is_found_out(executor: type[SerialExecutor], test: str) -> None:
    contract = ExecutorContract()
    contract.make = executor  # type: ignore[method-assign]
    with pytest.raises((AssertionError, ValueError)):
        getattr(contract, test)()


def test_an_embedder_without_unit_vectors_is_found_out() -> None:
    contract = EmbedderContract()
    contract.make = _Long  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        contract.test_vectors_have_length_one_and_one_row_a_text()


class _Alone(HashedTerms):
    """Whose vectors are a little longer where a text is alone."""

    def embed(self, texts: Sequence[str], kind: Any) -> Any:
        return super().embed(texts, kind) + (5e-5 if len(texts) == 1 else 0.0)


class _Ordered(HashedTerms):
    """Whose vectors are a little longer where texts come in falling order of their length."""

    def embed(self, texts: Sequence[str], kind: Any) -> Any:
        first = sample_chunks()[0].text
        return super().embed(texts, kind) + (5e-5 if len(texts) > 1 and texts[0] != first else 0.0)


@pytest.mark.parametrize("embedder", [_Alone, _Ordered])
def test_an_embedder_whose_vectors_depend_on_their_neighbours_is_found_out(embedder: type[HashedTerms]) -> None:
    contract = EmbedderContract()
    contract.make = HashedTerms  # type: ignore[method-assign]
    contract.test_a_vector_does_not_depend_on_its_neighbours()
    contract.make = embedder  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        contract.test_a_vector_does_not_depend_on_its_neighbours()


GOOD = Answer("So it is. [1]", (Citation(1, "a", 0, 4, "So i"),))


@pytest.mark.parametrize(
    "answer",
    [
        replace(GOOD, citations=(Citation(1, "a", 1, 4, "So i"),)),
        replace(GOOD, citations=(Citation(1, "a", 2, 2, ""),)),
        replace(GOOD, citations=(Citation(2, "a", 0, 4, "So i"),)),
        replace(GOOD, text="So it is."),
        replace(GOOD, citations=()),
    ],
)
def test_a_citation_that_does_not_resolve_is_found_out(answer: Answer) -> None:
    check_citations(GOOD, {"a": "So it was."})
    with pytest.raises(AssertionError):
        check_citations(answer, {"a": "So it was."})


def test_an_answer_that_abstains_cites_nothing() -> None:
    check_citations(Answer("Nothing is said of it."), {}, abstains=True)
    with pytest.raises(AssertionError):
        check_citations(GOOD, {"a": "So it was."}, abstains=True)


class _Careless(ClassicalEngine):
    """Writes about groups, and breaks one rule after another."""

    rule = ""

    def aggregate(self, briefs: Sequence[Brief]) -> list[Report]:
        found = super().aggregate(briefs)
        if self.rule == "no name":
            return [replace(r, title=" ") for r in found]
        return [replace(r, summary=(replace(r.summary[-1], references=("foreign",)),)) for r in found]

    def relate(self, briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
        return [2 * found if self.rule == "words" else () for found in super().relate(briefs)]

    def abstract(self, briefs: Sequence[Brief]) -> list[tuple[SummaryEntity, ...]]:
        return [tuple(replace(e, members=e.members[1:]) for e in found) for found in super().abstract(briefs)]


@pytest.mark.parametrize(
    ("rule", "test"),
    [
        ("no name", "test_a_group_has_a_name_and_is_told_of_only_what_was_given"),
        ("foreign", "test_a_group_has_a_name_and_is_told_of_only_what_was_given"),
        ("members", "test_every_member_is_in_a_summary_entity"),
        ("words", "test_what_is_asked_for_in_so_many_words_has_no_more"),
        ("silent", "test_what_is_asked_for_in_so_many_words_has_no_more"),
    ],
)
def test_an_engine_that_breaks_a_rule_about_groups_is_found_out(rule: str, test: str) -> None:
    contract, broken = EngineContract(), type("Broken", (_Careless,), {"rule": rule, "__slots__": ()})
    contract.make = ClassicalEngine  # type: ignore[method-assign]
    getattr(contract, test)()
    contract.make = broken  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        getattr(contract, test)()


class _Miscounting(ClassicalEngine):
    """Counts otherwise where a document is told all entries."""

    __slots__ = ()

    def count(self, seen: Sequence[tuple[bytes, Mapping[str, str]]], look: int) -> list[Any]:
        return [*super().count(seen, look)][: len(seen) - any(known is seen[-1][1] for _, known in seen[:-1])]


class _Hasty(ClassicalEngine):
    """Learns from the first document alone."""

    __slots__ = ()

    def learn(self, counts: Iterable[bytes], look: int, known: Mapping[str, str]) -> Mapping[str, str]:
        return super().learn([*counts][:1], look, known)


@pytest.mark.parametrize("broken", [_Miscounting, _Hasty])
def test_an_engine_that_reads_by_more_than_its_own_terms_or_by_the_order_of_documents_is_found_out(
    broken: type[ClassicalEngine],
) -> None:
    test = "test_a_document_is_read_by_the_entries_of_its_own_terms"
    contract = EngineContract()
    contract.make = ClassicalEngine  # type: ignore[method-assign]
    getattr(contract, test)()
    contract.make = broken  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        getattr(contract, test)()


class _Partial(ClassicalEngine):
    """Judges, and breaks one rule after another."""

    __slots__ = ()
    tasks = frozenset({"judge", "score", "contrast", "propose", "claim", "support"})

    def judge(self, trials: Sequence[Trial]) -> list[Verdict]:
        return [Verdict(0) for _ in trials]

    def score(self, trials: Sequence[Trial]) -> list[Verdict]:
        return [Verdict(scores=(5.0,)) for _ in trials]

    def contrast(self, trials: Sequence[Trial]) -> list[Contrast]:
        return [Contrast(first=t.answers[:1]) for t in trials]

    def propose(self, wishes: Sequence[Wish]) -> list[tuple[str, ...]]:
        return [("Why?", "How?")[: w.count] for w in wishes]

    def claim(self, excerpts: Sequence[Excerpt]) -> list[tuple[str, ...]]:
        return [(e.sentence, e.sentence) for e in excerpts]

    def support(self, checks: Sequence[Check]) -> list[Support]:
        return [Support(True) for _ in checks]


@pytest.mark.parametrize("test", [name for name in vars(JudgeContract) if name.startswith("test_")])
def test_an_engine_that_judges_carelessly_is_found_out(test: str) -> None:
    contract = JudgeContract()
    contract.make = lambda: _Partial.__new__(_Partial)  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        getattr(contract, test)()


def _first(found: list[Any], **changes: Any) -> list[Any]:
    """The same, with the first one changed."""
    return [replace(found[0], **changes), *found[1:]]


class _Slipping(ClassicalEngine):
    """Extracts and rates, and breaks one rule at one place only: all else is as it should be."""

    slip = ""

    def extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        found = super().extract(chunks)
        assert min(len(found[0].entities), len(found[0].relations)) >= 1 < sum(len(x.entities) for x in found)
        one, link = found[0].entities[0], found[0].relations[0]
        beyond = len(chunks[0].text) + 1
        wrong: dict[str, dict[str, Any]] = {
            "entity": {"entities": (replace(one, name=" "), *found[0].entities[1:])},
            "source": {"relations": (replace(link, source=" "), replace(link, source="A"))},
            "target": {"relations": (replace(link, target=" "), replace(link, target="A"))},
            "start": {"relations": (replace(link, start=-1), replace(link, start=0))},
            "end": {"relations": (replace(link, end=beyond), replace(link, end=beyond - 1))},
            "mention": {
                "entities": (replace(one, mentions=(Mention("x", 0, 0), *one.mentions)), *found[0].entities[1:])
            },
        }
        return _first(found, **wrong.get(self.slip, {}))

    def rate(self, inquiries: Sequence[Inquiry]) -> list[tuple[Point, ...]]:
        said = Statement("So it is.", (inquiries[0].context.passages[0].id,))
        scores = {"above": 101.0, "below": -1.0}
        return [(Point((said,), scores.get(self.slip, 100.0)), Point((said,), 0.0)) for _ in inquiries]


_EXTRACTED = "test_what_is_extracted_has_names_and_spans_inside_the_chunk"
_RATED = "test_reports_points_and_answers_refer_only_to_what_they_were_given"


@pytest.mark.parametrize(
    ("slip", "test"),
    [
        *((s, _EXTRACTED) for s in ("entity", "source", "target", "start", "end", "mention")),
        ("above", _RATED),
        ("below", _RATED),
    ],
)
def test_an_engine_that_slips_once_is_found_out(slip: str, test: str) -> None:
    contract = EngineContract()
    contract.make = type("Sound", (_Slipping,), {"slip": "", "__slots__": ()})  # type: ignore[method-assign]
    getattr(contract, test)()
    contract.make = type("Broken", (_Slipping,), {"slip": slip, "__slots__": ()})  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        getattr(contract, test)()


class _Judging(ClassicalEngine):
    """Judges by the rules, but for what stands in `said`."""

    __slots__ = ()
    tasks = frozenset({"judge", "support"})
    said: Any = None

    def judge(self, trials: Sequence[Trial]) -> list[Verdict]:
        return [self.said or Verdict(1), Verdict(None, "none was given"), Verdict(2)][: len(trials)]

    def support(self, checks: Sequence[Check]) -> list[Support]:
        return [self.said or Support(True), Support(False)][: len(checks)]


@pytest.mark.parametrize(
    ("test", "right", "wrong"),
    [
        (
            "test_a_verdict_names_a_place_or_none",
            [Verdict(0), Verdict(2, "so"), Verdict(None, "so")],
            [Verdict(), Verdict(3)],
        ),
        (
            "test_a_statement_without_a_text_is_not_borne_out",
            [Support(False), Support(True, "so"), Support(None, "so")],
            [Support(None)],
        ),
    ],
)
def test_no_verdict_needs_a_reason(test: str, right: list[Any], wrong: list[Any]) -> None:
    contract, found_out = JudgeContract(), []
    for said in (None, *right, *wrong):
        made = type("Made", (_Judging,), {"said": said, "__slots__": ()})
        contract.make = lambda made=made: made.__new__(made)  # type: ignore[method-assign,misc]
        try:
            getattr(contract, test)()
        except AssertionError:
            found_out.append(said)
    assert found_out == wrong
