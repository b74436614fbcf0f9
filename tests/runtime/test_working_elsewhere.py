"""What is made from what a database holds is made by workers, which read and store it themselves, in every form."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("asyncpg", reason='asyncpg is not installed: pip install "sensegraph[postgres]"')

from databases import database_store
from sensegraph.errors import ItemFailed
from sensegraph.protocols import Store
from sensegraph.runtime.batches import ReadItems
from sensegraph.runtime.executors.processes import LocalExecutor, SerialExecutor
from sensegraph.runtime.keys import read_keys_below
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime

TEXTS = ["one", "three", "eleven", "of"]


@dataclass(frozen=True)
class Letter:
    id: str
    process: int


@dataclass(frozen=True)
class Letters:
    letters: Sequence[Letter] = ()


@dataclass(frozen=True)
class Measures:
    lengths: NDArray[Any]
    process: NDArray[Any]


@step("test.text", version=1)
def keep_texts(texts: Sequence[str]) -> list[str]:
    """The texts as they are."""
    return list(texts)


@step("test.value", version=1)
def tell_lengths(texts: Sequence[str]) -> list[tuple[int, int]]:
    """How long each text is, and which process says so."""
    if "bad" in texts:
        raise ItemFailed("a bad text")
    return [(len(text), os.getpid()) for text in texts]


@step("test.array", version=1, form="array")
def measure_texts(texts: Sequence[str]) -> list[NDArray[Any]]:
    """The same as arrays."""
    return [np.array([len(text), os.getpid()]) for text in texts]


@step("test.arrays", version=1, form="arrays")
def measure_apart(texts: Sequence[str]) -> list[Measures]:
    """The same as two arrays."""
    return [Measures(np.array([len(text)]), np.array([os.getpid()])) for text in texts]


@step("test.tables", version=1, form="tables")
def list_letters(texts: Sequence[str]) -> list[Letters]:
    """The letters of each text, and which process lists them."""
    return [Letters(tuple(Letter(f"{i}{c}", os.getpid()) for i, c in enumerate(text))) for text in texts]


def read_text(k: str, store: Store) -> str:
    """The text under a key."""
    return keep_texts.decode(store.read([k])[k])


def texts_of(rt: Runtime) -> tuple[ReadItems[str], list[tuple[str, ...]]]:
    """The texts, read where they are wanted, and what stands for each."""
    keys = rt.each(keep_texts, TEXTS).keys
    return ReadItems(rt.store, len(keys), lambda i: partial(read_text, keys[i])), [(k,) for k in keys]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Runtime]:
    """A runtime over a database whose work is done by other processes."""
    with closing(SqliteStore(tmp_path / "file")) as file, closing(database_store(tmp_path)) as store:
        yield replace(runtime(file), store=store, executor=LocalExecutor(2, 2, patience=0.0))


def test_results_of_every_form_are_made_and_stored_by_workers(elsewhere: Runtime) -> None:
    texts, names = texts_of(elsewhere)
    values = elsewhere.once_each(tell_lengths, texts, names)
    arrays = elsewhere.once_each(measure_texts, texts, names)
    apart = elsewhere.once_each(measure_apart, texts, names)
    tables = elsewhere.once_each(list_letters, texts, names)
    assert [found.value[0] for found in values] == [3, 5, 6, 2]
    assert [int(found.value[0]) for found in arrays] == [3, 5, 6, 2]
    assert [int(found.value.lengths[0]) for found in apart] == [3, 5, 6, 2]
    assert ["".join(x.id[-1] for x in found.value.letters) for found in tables] == TEXTS
    last = len(TEXTS) - 1  # what is left alone is done at once
    workers = {found.value[1] for found in values[:last]} | {int(found.value[1]) for found in arrays[:last]}
    workers |= {int(found.value.process[0]) for found in apart[:last]}
    workers |= {x.process for found in tables[:last] for x in found.value.letters}
    assert os.getpid() not in workers
    assert elsewhere.computed == {
        step.name: 4 for step in (keep_texts, tell_lengths, measure_texts, measure_apart, list_letters)
    }
    name = read_keys_below(elsewhere.store, [values[0].key])
    assert name


def test_two_results_are_enough_for_workers_and_one_is_made_at_once(elsewhere: Runtime) -> None:
    keys = elsewhere.each(keep_texts, ["one", "three"]).keys
    texts = ReadItems(elsewhere.store, len(keys), lambda i: partial(read_text, keys[i]))
    first, _ = elsewhere.once_each(tell_lengths, texts, [(k,) for k in keys])
    assert (first.value[0], first.value[1] != os.getpid()) == (3, True)
    (alone,) = elsewhere.once_each(tell_lengths, ["eleven"], [("eleven",)])
    assert alone.value == (6, os.getpid())


def test_the_keys_are_those_of_a_file_and_what_is_there_is_not_made_again(elsewhere: Runtime, tmp_path: Path) -> None:
    texts, names = texts_of(elsewhere)
    made = elsewhere.once_each(measure_texts, texts, names)
    before = dict(elsewhere.computed)
    assert [found.key for found in elsewhere.once_each(measure_texts, texts, names)] == [found.key for found in made]
    assert elsewhere.computed == before
    with closing(SqliteStore(tmp_path / "other")) as file:
        here = replace(runtime(file), executor=SerialExecutor())
        own, _ = texts_of(here)
        assert [found.key for found in here.once_each(measure_texts, own, names)] == [found.key for found in made]
        assert read_keys_below(file, [made[0].key]) == read_keys_below(elsewhere.store, [made[0].key])


def test_what_fails_there_says_why_and_the_rest_is_stored(elsewhere: Runtime) -> None:
    keys = elsewhere.each(keep_texts, ["one", "bad", "three", "four"]).keys
    texts = ReadItems(elsewhere.store, len(keys), lambda i: partial(read_text, keys[i]))
    with pytest.raises(ItemFailed, match="a bad text"):
        elsewhere.once_each(tell_lengths, texts, [(k,) for k in keys])
    assert elsewhere.computed[tell_lengths.name] == 3


def test_a_step_travels_by_the_name_of_its_function() -> None:
    assert pickle.loads(pickle.dumps(tell_lengths)) is tell_lengths
