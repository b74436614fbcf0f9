"""Work over the whole corpus that another process does, with a runtime of its own: what it reads never comes here.

That is a worker on another machine, or in a very large build a process of this one that ends with its work.
"""

from __future__ import annotations

import copyreg
import ctypes
import gc
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Generic, Literal, TypeVar, cast

from sensegraph.runtime.batches import SetAside, is_shared
from sensegraph.runtime.keys import WholeName, key
from sensegraph.runtime.results import Result, Step, load_result
from sensegraph.runtime.results import step as define_step
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.told_progress import ToldProgress

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")
Asks = Literal["", "engine", "embedder"]
_TOOLS = ("engine", "embedder", "reranker")
_KEPT = ("chunker", "store", "executor", "most_failed", "retry", "numbers", "large", "whole", "aside", "begun")
_CACHED = type(cache(key))
_MANY = 1 << 12  # results from which what a function remembers, or a build computed, takes room
_SOME = 1 << 4  # results that a function remembers from which a very large build forgets them
VERY_MANY = 1 << 18  # documents, or results that a build computed, from which it is very large


@dataclass(frozen=True, slots=True)
class Errand(Generic[T]):
    """Work for another process, with the runtime that it uses; `listed`: whether it is told what the work rests on."""

    rt: Runtime
    work: Callable[[], T]
    listed: bool


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What came of an errand, and what its runtime has counted and listed meanwhile."""

    value: T
    computed: Counter[str]
    begun: Counter[str]
    aside: list[SetAside]
    lacking: list[str]
    doubted: list[str]
    whole: set[str]
    inside: list[str]


def work_on_worker(rt: Runtime, work: Callable[[], T], asks: Asks = "") -> T:
    """What `work` gives: done by a worker on another machine, by a process of its own on this one, or here.

    A worker does it where the store is shared and workers are on other machines, so that one process is no limit to how
    many help; a process of its own in a very large build, so that what one step leaves in memory is not there beside
    the next. `work` travels with `rt`, which it uses, and changes nothing else; what it gives is small. Which tool it
    `asks`, if any: where that waits, calls are made here, where they are counted and written down. What fails elsewhere
    is tried here, and says why.
    """
    found: Any = None
    errand = Errand(rt, work, bool(rt.inside))
    if is_delegated(rt, asks):
        found = next((outcome for _, outcome in rt.executor.map(run_errand, [errand], waits=False)), None)
    elif needs_own_process(rt, asks):
        found = cast(Any, rt.executor).run_alone(run_errand, errand, rt.progress)
        if isinstance(found, BaseException):
            why = f"a process of its own ended with {type(found).__name__}"
            rt.noted[f"a part of the build was made in the process that builds, with more memory: {why}"] += 1
    if not isinstance(found, Outcome):
        return work()
    rt.computed.update(found.computed)
    rt.begun.update(found.begun)
    rt.aside.extend(found.aside)
    rt.lacking.extend(found.lacking)
    rt.doubted.extend(found.doubted)
    rt.whole.now.update(found.whole)
    if rt.inside:
        rt.inside[-1].extend(found.inside)
    return cast(T, found.value)


def once_on_worker(
    rt: Runtime,
    step: Step[A, B],
    whole: Callable[[], A],
    *,
    names: Sequence[str],
    asks: Asks = "",
    **settings: Any,
) -> Result[B]:
    """`Runtime.once` by `work_on_worker`, where its result is missing."""
    if not (is_delegated(rt, asks) or needs_own_process(rt, asks)):
        return rt.once(step, whole, names=names, **settings)
    names = WholeName(key(*names))  # of very many parts it alone is kept, and travels
    if not rt.missing(step, cast(Sequence[A], [whole]), names=[names], **settings):
        return rt.once(step, whole, names=names, **settings)
    rt.progress(step.name, 0, 1)
    k: str = work_on_worker(rt, lambda: rt.once(step, whole, names=names, **settings).key, asks)
    rt.progress(step.name, 1, 1)
    return Result(k, load_result(rt.store, step, k))


def store_separately(rt: Runtime, work: Callable[[], Any]) -> None:
    """Where a process of its own is to do such work, have it do this for what it stores: done again it reads that."""

    def store() -> None:
        work()

    if needs_own_process(rt):
        work_on_worker(rt, store)


def make_each(
    rt: Runtime,
    step: Step[A, B],
    find: Callable[[Sequence[int]], Sequence[A]],
    names: Sequence[Sequence[str]],
    **settings: Any,
) -> list[str]:
    """The keys of what `Runtime.once_each` gives under these names; what is there is not read.

    `find` gives the inputs at some positions.
    """
    named = [key(*of) for of in names]
    items = cast(Sequence[A], named)
    missing = rt.missing(step, items, names=named, **settings)
    for some in [missing] if is_shared(rt.store) else [[i] for i in missing]:  # here one after the other is made
        rt.once_each(step, find(some), [names[i] for i in some], **settings)
    keys = rt.keys(step, items, named, **settings)
    rt.rely_on(keys)
    return keys


@define_step("contents.digest", version=1)
def keep_digest(digests: Sequence[str]) -> list[str]:
    """What stands for all that something is made of."""
    return list(digests)


def once_by_content(
    rt: Runtime,
    step: Step[A, B],
    read: Callable[[], T],
    digest: Callable[[T], str],
    make: Callable[[T], A],
    *,
    names: Sequence[str],
    **settings: Any,
) -> str:
    """The key of the result of `step` on what is made of what is read, under a `digest` of this.

    So it stays where that says what it did, whatever else changed in what it was read from, for which `names` stand.
    """
    named, known = WholeName(key(step.name, *names)), list[str]()
    if is_delegated(rt) or needs_own_process(rt):
        known = keys_by_content(rt, step, names=names, **settings)[1:]
    del names  # of very many parts `named` alone is kept, and travels

    def find() -> str:
        content = cache(read)
        told = partial(rt.once, keep_digest, lambda: digest(content()), names=named)

        def whole() -> A:
            told()  # the result rests on what was read for that
            return_free_memory(rt)
            return make(content())

        return rt.once(step, whole, names=(told().value,), **settings).key

    if known and rt.store.has(known):  # no worker is asked for what is there
        rt.rely_on(known)
        return known[0]
    return work_on_worker(rt, find)


def keys_by_content(rt: Runtime, step: Step[Any, Any], *, names: Sequence[str], **settings: Any) -> list[str]:
    """The keys of what tells the content of these names, and of what `once_by_content` made of it if that is told."""
    asked = rt.keys(keep_digest, [""], [key(step.name, *names)])
    told = [found.value for found in rt.recall(keep_digest, asked).values()]
    return [*asked, *(k for digest in told for k in rt.keys(step, [None], [key(digest)], **settings))]


def is_delegated(rt: Runtime, asks: Asks = "") -> bool:
    """Whether a worker does what is work for one process and asks this tool."""
    elsewhere = is_shared(rt.store) and bool(getattr(rt.executor, "elsewhere", False))
    return elsewhere and not (asks and getattr(rt, asks).waits)


def needs_own_process(rt: Runtime, asks: Asks = "") -> bool:
    """Whether a process of its own on this machine is to do what is work for one process and asks this tool."""
    if not is_very_large(rt) or (asks and getattr(rt, asks).waits) or is_delegated(rt, asks):
        return False
    return bool(getattr(rt.store, "reopens", False)) and hasattr(rt.executor, "run_alone")


def run_errand(errand: Errand[T]) -> Outcome[T]:
    """Do the work with the runtime that came with it."""
    rt = errand.rt
    computed, begun, aside = Counter(rt.computed), Counter(rt.begun), len(rt.aside)
    rt.inside.append([])
    release_memory()
    try:
        value = errand.work()
    finally:
        release_memory()
    inside = rt.inside.pop() if errand.listed else []
    more = rt.computed - computed, rt.begun - begun
    return Outcome(value, *more, rt.aside[aside:], rt.lacking, rt.doubted, rt.whole.now, inside)


def release_between_parts(rt: Runtime) -> None:
    """Between the parts of a build that has computed much: what `release_memory` does, without looking for cycles.

    What one part took lies between what stays, and is seldom as large as what the next needs.
    """
    if sum(rt.computed.values()) > _MANY:
        _forget(_MANY)


def return_free_memory(rt: Runtime) -> None:
    """Within a very large build: forget what functions remember, in all threads, and give back what lies free."""
    if is_very_large(rt):
        _forget(_SOME)  # small as it is, it lies between what could go back


def is_very_large(rt: Runtime) -> bool:
    """Whether a build is of very many documents or results: then what can be read again is not kept in memory."""
    return rt.large or sum(rt.computed.values()) > VERY_MANY


def release_memory() -> None:
    """Forget what functions remember of many names or words, and give free memory back."""
    gc.collect()
    _forget(_MANY)


def _forget(most: int) -> None:
    for found in gc.get_referrers(_CACHED):  # its instances, and few others
        if type(found) is _CACHED and found.cache_info().currsize > most:
            found.cache_clear()
    with suppress(OSError, AttributeError):  # where the C library can
        ctypes.CDLL(None).malloc_trim(0)


def _reduce_runtime(rt: Runtime) -> tuple[Callable[[], Runtime], tuple[()]]:
    """A runtime for a worker: what failed so far, the same store, and the same tools but for those that wait.

    Where a process of its own works with it, the process that waits for that is told of progress; else nobody is.
    """
    given: dict[str, Any] = {name: getattr(rt, name) for name in (*_TOOLS, *_KEPT)}
    # as they are now: other threads add to them
    given |= {"computed": Counter(rt.computed), "begun": Counter(rt.begun), "aside": list(rt.aside)}
    given |= {"progress": ToldProgress()}
    given |= {name: None for name in _TOOLS if given[name] and given[name].waits}
    return partial(Runtime, **given), ()


copyreg.pickle(Runtime, _reduce_runtime)
