"""The runtime that remembers: `each` runs a step per item, `once` over a whole, and both look in the store first.

So a second run computes nothing and an interrupted run goes on where it stopped. The key of a result hashes the step's
name and version, the fingerprint of the tool that it uses, its settings, and the item. What is computed travels to an
executor in batches that are ready for any process and can be stopped without loss.
"""

from __future__ import annotations

import threading
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from sensegraph.errors import (
    BatchPending,
    BudgetExceeded,
    EndpointDown,
    StepFailed,
    Stopped,
    StoreError,
    Unreadable,
    UnsupportedTask,
)
from sensegraph.protocols import Chunker, Embedder, Executor, LanguageEngine, Numbers, Reranker, Store, Task
from sensegraph.runtime.activity import check_stop
from sensegraph.runtime.batches import (
    Call,
    Doubts,
    GatheredResults,
    Keyed,
    SetAside,
    WholeRuns,
    Work,
    count_reasons,
    cut_batches,
    doubts_any,
    is_shared,
    load_results,
    put_aside,
    recall_aside,
    replace_doubted,
    run_batches,
)
from sensegraph.runtime.keys import NamedKeys, key, name_each, name_whole, note_keys_below
from sensegraph.runtime.results import Result, Results, Step, settle_result
from sensegraph.types import Usage

A = TypeVar("A")
B = TypeVar("B")
Progress = Callable[[str, int, int], None]

_SHARES = 16  # batches at least, where there are items enough
_LASTING = frozenset(("content refused", "declined"))  # kinds of failures that asking again seldom changes
_FATAL = (EndpointDown, BudgetExceeded, Stopped, StoreError)  # with the store away replies would be paid for and lost


@dataclass(frozen=True, slots=True)
class Runtime:
    """The tools and the memory, passed as one value; nothing is global.

    `computed` counts the items that each step computed in this run (not those found in the store). `hear` is told an
    answer while it is written. `reranker` orders what was found anew, where there is one. `chunker` cuts documents;
    without one they are cut into windows of tokens. `noted` counts what has to be said of how a question or a build was
    worked on. `most_failed` is the share of the items of a step that may fail for good where the step can go on without
    them, counted over all of them in this run (`begun`); they are listed in `aside`. What was refused is asked for
    again only where `retry` is set, all else in the next run. `inside` holds, for each input that is being made, the
    keys of the results that it was made from; `lacking` those of what stands for what failed or was cut off. `doubted`
    names the steps with results that the next run may make again. `numbers` says as which vectors are stored, `large`
    that a build is of very many documents. `whole` are the runs of results that the last build found in the store, and
    those that this one does.
    """

    engine: LanguageEngine
    embedder: Embedder
    store: Store
    executor: Executor
    progress: Progress = lambda step, done, total: None
    computed: Counter[str] = field(default_factory=Counter)
    hear: Callable[[str], None] | None = None
    reranker: Reranker | None = None
    chunker: Chunker | None = None
    noted: Counter[str] = field(default_factory=Counter)
    most_failed: float = 0.0
    retry: bool = False
    numbers: Numbers = "int16"
    large: bool = False
    whole: WholeRuns = field(default_factory=WholeRuns)
    aside: list[SetAside] = field(default_factory=list)
    begun: Counter[str] = field(default_factory=Counter)
    inside: list[list[str]] = field(default_factory=list)
    doubted: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)

    def check(self, name: str, requires: frozenset[Task]) -> None:
        """Raise UnsupportedTask, before any work, when the engine lacks a task that `name` needs."""
        if missing := frozenset(requires) - self.engine.tasks:
            raise UnsupportedTask(name, self.engine.name, missing)

    def keys(
        self, step: Step[A, B], items: Sequence[A], names: Sequence[str] | None = None, **settings: Any
    ) -> list[str]:
        """The key of each item's result; `names` are keys that already stand for the items."""
        found = list(self._name_results(step, items, names, settings))
        return replace_doubted(self.store, step, found) if step.doubts else found

    def _name_results(
        self, step: Step[A, B], items: Sequence[A], names: Sequence[str] | None, settings: Mapping[str, Any]
    ) -> Sequence[str]:
        """The key of each item's result, whether that is doubted or not."""
        held = {k: list(v.keys) for k, v in settings.items() if isinstance(v, Results)}  # which stand for them
        plain = {**settings, **held, **{k: v.key for k, v in settings.items() if isinstance(v, Result)}}
        recipe = key(step.name, step.version, self._fingerprint(step), plain)
        if isinstance(items, Keyed):
            return items.list_keys(recipe)
        if names is None and isinstance(items, Results):
            return NamedKeys(recipe, items.keys)
        return [key(recipe, step.sees(item)) for item in items] if names is None else name_each(recipe, names)

    def missing(
        self, step: Step[A, B], items: Sequence[A], *, names: Sequence[str] | None = None, **settings: Any
    ) -> list[int]:
        """Positions of the items that `each` would have to compute: the ground of an estimate."""
        keys = self.keys(step, items, names, **settings)
        present = self.store.has(keys)
        return sorted({k: i for i, k in reversed(list(enumerate(keys))) if k not in present}.values())

    def each(
        self,
        step: Step[A, B],
        items: Sequence[A],
        *,
        names: Sequence[str] | None = None,
        without: Callable[[A], B] | None = None,
        **settings: Any,
    ) -> Results[B]:
        """`step` on every item; what was computed before comes from the store.

        What could not be read but goes on with something instead has a key of its own, so that the next run asks again.
        An item that fails for good is set aside where `without` says what stands in its place, under a key of its own
        too. Raises StepFailed when others failed, or more than `most_failed` of all, after what did not is stored;
        EndpointDown and BudgetExceeded at once, after what had finished is stored; BatchPending where items wait.
        """
        every = self._name_results(step, items, names, settings)
        runs, digests = self.whole.cut(every)
        places = [i for run in runs for i in run]
        own = [k for run in runs for k in every[run.start : run.stop]]
        keys = replace_doubted(self.store, step, own) if step.doubts else own
        present = self.store.has(keys)
        missing = [k for k in dict.fromkeys(keys) if k not in present]
        known = recall_aside(self.store, missing) if without and not self.retry else {}
        known = {k: why for k, why in known.items() if why[0] in _LASTING}
        todo: dict[str, int] = {}
        for position, k in zip(places, keys, strict=True):
            if k not in present and k not in known:
                todo.setdefault(k, position)
        unread, failed = self._compute(step, items, todo, settings) if todo else ({}, {})
        if waiting := next((e for e in failed.values() if isinstance(e, BatchPending)), None):
            raise waiting  # what failed beside it fails again when the others have their replies
        if without:
            self.begun[step.name] += len(items)
        if failed:
            if without is None or self._too_many_failed(step, len(known) + len(failed)):
                raise StepFailed(step.name, len(failed), len(items), count_reasons(failed.values())) from next(
                    iter(failed.values())
                )
            known |= put_aside(self.store, step, items, todo, failed, without)
        self.lacking.extend(found.key for found in unread.values())
        self.aside.extend(unread.values() if without else ())
        keys = [unread[k].key if k in unread else k for k in self.list_aside(step, items, keys, known, places)]
        changed = {i: k for i, k, was in zip(places, keys, own, strict=True) if k != was}
        self.whole.note(runs, digests, changed)
        every = [changed.get(i, k) for i, k in enumerate(every)] if changed else every
        if self.inside:
            self.inside[-1].extend(every)
        return Results(self.store, step, every)

    def list_aside(
        self,
        step: Step[A, B],
        items: Sequence[A],
        keys: Sequence[str],
        known: Mapping[str, tuple[str, str]],
        places: Sequence[int],
    ) -> list[str]:
        """`keys`, with that of what stands in its place for each that is `known` to have failed, which is listed.

        `places` are the positions of the items.
        """
        for position, k in zip(places, keys, strict=True):
            if k in known:
                self.aside.append(SetAside(key(k, "aside"), step.task or step.name, items[position], *known[k]))
                self.lacking.append(key(k, "aside"))
        return [key(k, "aside") if k in known else k for k in keys]

    def key_without(self, k: str, known: int) -> str:
        """The key of a whole in which something else stands for what is lacking, beyond the first `known` of it."""
        lacking = self.lacking[known:]
        return key(k, "aside", lacking) if lacking else k

    def _too_many_failed(self, step: Step[Any, Any], now: int) -> bool:
        """Whether more items of a step failed for good than may; one may, however few they are."""
        before = sum(a.task == (step.task or step.name) and not a.partial for a in self.aside)
        return before + now > max(int(self.most_failed * self.begun[step.name]), self.most_failed > 0)

    def once(
        self, step: Step[A, B], whole: A | Callable[[], A], *, names: Sequence[str] = (), **settings: Any
    ) -> Result[B]:
        """`step` on the whole input as one item.

        `names` (the keys of its parts, or a `WholeName`) stand for it in the key; then `whole` may be a function that
        makes it, called only when the result is missing. What was made with items set aside, or not read, has a key of
        its own, so that the next run makes it again.
        """
        (k,) = self.keys(step, typing.cast(Sequence[A], [whole]), name_whole(names), **settings)
        if (stored := self._load(step, k)) is None:
            tool, known = self._tool(step), len(self.lacking)
            item, below = self._make(whole)
            k = self.key_without(k, known)
            if known < len(self.lacking) and (stored := self._load(step, k)) is not None:
                return stored
            before = tool.usage() if tool else Usage()
            self.progress(step.name, 0, 1)
            check_stop()
            try:
                (result,) = self._call(step, settings)([item])
            finally:
                if tool and (spent := tool.usage() - before) != Usage():
                    self.store.spend(step.name, spent)
            noted = callable(whole) and known == len(self.lacking)
            value = settle_result(self.store, step, k, result, note_keys_below({k: below}) if noted else {})
            self.computed[step.name] += 1
            self.progress(step.name, 1, 1)
            stored = Result(k, value)
        if self.inside:
            self.inside[-1].append(stored.key)
        return stored

    def once_each(
        self, step: Step[A, B], wholes: Sequence[A], names: Sequence[Sequence[str]], **settings: Any
    ) -> list[Result[B]]:
        """`once` on each of several inputs, which are read where they are missing, and made without any step.

        Those that are there are read together. Where the store is shared, workers make the others; what fails there is
        tried here, and says why.
        """
        tool = self._tool(step)
        keys = self.keys(step, wholes, [key(*of) for of in names], **settings)
        there = self.recall(step, keys)
        todo = {k: i for i, k in enumerate(keys) if k not in there}
        if todo and is_shared(self.store) and len(names) > 1 and not (tool and tool.waits):
            failed = self._run(step, wholes, todo, [[k] for k in todo], settings)
            self.store.write(note_keys_below(dict.fromkeys(todo.keys() - failed.keys(), ())), step.name)
        made = {
            i: partial(self.once, step, partial(wholes.__getitem__, i)) for i, k in enumerate(keys) if k not in there
        }
        return [made[i](names=names[i], **settings) if i in made else there[k] for i, k in enumerate(keys)]

    def recall(self, step: Step[A, B], keys: Sequence[str]) -> dict[str, Result[B]]:
        """Those of these results that are there, read together, as `once` gives them."""
        there = load_results(self.store, step, keys)
        if self.inside:
            self.inside[-1].extend(there)
        return there

    def _make(self, whole: A | Callable[[], A]) -> tuple[A, list[str]]:
        """The input of a step, and the keys of the results that it was made from."""
        if not callable(whole):
            return whole, []
        self.inside.append([])
        try:
            item = whole()
        finally:
            below = self.inside.pop()
        return item, list(dict.fromkeys(below))

    def rely_on(self, keys: Sequence[str]) -> None:
        """Say that the input that is being made rests on these results too: who collects must keep them."""
        if self.inside:
            self.inside[-1].extend(keys)

    def _load(self, step: Step[A, B], k: str) -> Result[B] | None:
        """The result under the key `k`; None where it is not there, or a part of it is missing."""
        return load_results(self.store, step, [k]).get(k)

    def made(self, step: Step[A, B], item: A, make: Callable[[], B], **settings: Any) -> B:
        """The result of `step` on `item` from the store, or of `make`, which does the step's work in another way.

        What could not be read but goes on with something instead is not stored.
        """
        (k,) = self.keys(step, [item], **settings)
        found = self.store.read([k])
        if k not in found:
            tool = self._tool(step)
            before = tool.usage() if tool else Usage()
            try:
                result = make()
            except Unreadable as e:
                return typing.cast(B, e.instead)
            finally:
                if tool and (spent := tool.usage() - before) != Usage():
                    self.store.spend(step.name, spent)
            self.store.write({k: step.encode(result)}, step.name)
            self.computed[step.name] += 1
            return result
        return step.decode(found[k])

    # ── computing ──

    def _compute(
        self, step: Step[A, B], items: Sequence[A], todo: dict[str, int], settings: dict[str, Any]
    ) -> tuple[dict[str, SetAside], dict[str, BaseException]]:
        """Compute and store all of `todo`; for what could not be read, what stands in its place.

        Last what failed, by key.
        """
        tool = self._tool(step)
        size = getattr(tool, "batch", step.batch)
        keys = list(todo)
        if not (tool and tool.waits):
            size = max(1, min(size, -(-len(keys) // _SHARES)))  # few large items are shared among workers too
        failures = self._run(step, items, todo, cut_batches(keys, size), settings)
        if size > 1 and failures:  # find out which items of a failed batch are to blame
            failures = self._run(step, items, todo, [[k] for k in failures], settings)
        unread = dict[str, SetAside]()
        for k, e in failures.items():
            if isinstance(e, Unreadable):
                name, why = key(k, "unread", value := step.encode(e.instead)), " ".join(str(e).split())
                self.store.write({name: value}, step.name)
                unread[k] = SetAside(name, step.task or step.name, items[todo[k]], e.kind, why, partial=True)
        return unread, {k: e for k, e in failures.items() if k not in unread}

    def _run(
        self,
        step: Step[A, B],
        items: Sequence[A],
        todo: dict[str, int],
        batches: list[list[str]],
        settings: dict[str, Any],
    ) -> dict[str, BaseException]:
        """Compute and store batches; the keys that failed, with the reason.

        After an error that no other call can escape nothing new begins; what is running ends, and is stored.
        """
        tool, failures, done = self._tool(step), dict[str, BaseException](), 0
        total, fatal, spent = sum(map(len, batches)), None, tool.usage() if tool else Usage()
        self.progress(step.name, 0, total)
        with GatheredResults(self.store, step.name, at_once=bool(tool and tool.waits)) as written:
            for position, result in self._results(step, items, todo, batches, settings, stopped := threading.Event()):
                batch = batches[position]
                if isinstance(result, BaseException):
                    failures.update(dict.fromkeys(batch, result))
                else:
                    if not isinstance(result, Doubts):  # else its worker stored it
                        written.add(dict(zip(batch, result, strict=True)))
                    self.doubted.extend([step.name] * doubts_any(step, result))
                    self.computed[step.name] += len(batch)
                if tool and (now := tool.usage()) != spent:
                    self.store.spend(step.name, now - spent)
                    spent = now
                if isinstance(result, _FATAL):
                    fatal = fatal or result
                    stopped.set()
                done += len(batch)
                self.progress(step.name, done, total)
                check_stop()
        if fatal:
            raise fatal
        return failures

    def _results(
        self,
        step: Step[Any, Any],
        items: Sequence[Any],
        todo: Mapping[str, int],
        batches: list[list[str]],
        settings: Mapping[str, Any],
        stopped: threading.Event,
    ) -> Iterator[tuple[int, Any]]:
        """Position and what came of every batch, or what went wrong with it, as the executor finishes it."""
        tool, work = self._tool(step), Work(items, todo, batches, stopped)
        call = self._call(step, settings)
        return run_batches(call, work, self.store, self.executor, waits=bool(tool and tool.waits))

    def _tool(self, step: Step[Any, Any]) -> LanguageEngine | Embedder | Reranker | None:
        return getattr(self, step.uses) if step.uses and step.uses != "chunker" else None

    def _fingerprint(self, step: Step[Any, Any]) -> str:
        if step.uses == "engine":
            return self.engine.fingerprint(step.task or "extract")
        tool: Embedder | Reranker | Chunker | None = getattr(self, step.uses) if step.uses else None
        return tool.fingerprint() if tool else ""

    def _call(self, step: Step[Any, Any], settings: Mapping[str, Any]) -> Call:
        tool: dict[str, Any] = {step.uses: getattr(self, step.uses)} if step.uses else {}
        plain = {k: v.value if isinstance(v, Result) else v for k, v in settings.items()}
        return Call(step.fn.__module__, step.fn.__name__, tool, plain)
