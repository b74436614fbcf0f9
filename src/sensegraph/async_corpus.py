"""A corpus for programs that must not wait: every method of `Corpus` that computes, as one to await."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from sensegraph.corpus.asker import AnswerStream
from sensegraph.corpus.corpus import Corpus
from sensegraph.runtime.activity import StopToken, begin_activity
from sensegraph.types import Answer

P = ParamSpec("P")
T = TypeVar("T")
_END = ""  # no piece of an answer is empty


def await_method(
    method: Callable[Concatenate[Corpus, P], T],
) -> Callable[Concatenate[AsyncCorpus, P], Coroutine[Any, Any, T]]:
    """The method of `AsyncCorpus` that runs this one of `Corpus` in a thread, with its parameters and its docstring.

    Where the task that awaits it is cancelled, the work is asked to stop.
    """

    @wraps(method)
    async def run_in_thread(self: AsyncCorpus, /, *args: P.args, **kwargs: P.kwargs) -> T:
        token = StopToken()

        def work() -> T:
            with begin_activity(token):
                return method(self.corpus, *args, **kwargs)

        try:
            return await asyncio.to_thread(work)
        except asyncio.CancelledError:
            token.stop()
            raise

    return run_in_thread


def open_around(open: Callable[P, Corpus]) -> Callable[P, AsyncCorpus]:
    """The function that opens an `AsyncCorpus` as this one opens a `Corpus`."""

    @wraps(open)
    def open_corpus(*args: P.args, **kwargs: P.kwargs) -> AsyncCorpus:
        return AsyncCorpus(open(*args, **kwargs))

    return _returning(open_corpus, "AsyncCorpus")


def stream_around(
    stream: Callable[Concatenate[Corpus, P], AnswerStream],
) -> Callable[Concatenate[AsyncCorpus, P], AsyncAnswerStream]:
    """The method of `AsyncCorpus` that streams as this one of `Corpus` does."""

    @wraps(stream)
    def stream_pieces(self: AsyncCorpus, /, *args: P.args, **kwargs: P.kwargs) -> AsyncAnswerStream:
        return AsyncAnswerStream(stream(self.corpus, *args, **kwargs))

    return _returning(stream_pieces, "AsyncAnswerStream")


def _returning(function: Callable[P, T], kind: str) -> Callable[P, T]:
    """A function that wraps another, which tells `help` what it returns itself."""
    told = signature(function).replace(return_annotation=kind)
    function.__signature__ = told  # type: ignore[attr-defined]
    return function


class AsyncAnswerStream:
    """An answer while it is written: an asynchronous iterator of pieces of its text, to be left by `async with`.

    `await stream.answer()` is the whole answer. Leaving an `async with` and `close` ask for it to be given up.
    """

    def __init__(self, stream: AnswerStream) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncAnswerStream:
        return self

    async def __anext__(self) -> str:
        try:
            piece = await asyncio.to_thread(next, self._stream, _END)
        except asyncio.CancelledError:
            self._stream.close()
            raise
        if piece == _END:
            raise StopAsyncIteration
        return piece

    async def __aenter__(self) -> AsyncAnswerStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def answer(self) -> Answer:
        """The whole answer, when it is written. Raises what asking raised."""
        return await asyncio.to_thread(lambda: self._stream.answer)

    def close(self) -> None:
        """Ask for the answer to be given up, where it is not written yet."""
        self._stream.close()


class AsyncCorpus:
    """A corpus whose methods are awaited: each runs the method of `corpus`, a `Corpus`, of the same name in a thread.

    `AsyncCorpus.open` takes what `Corpus.open` takes and gives one for `async with`. Several may be awaited at once;
    where a task is cancelled, its work is asked to stop. What is read without computing (`root`, `settings`, `status`
    of a question) stands on `corpus`.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    async def __aenter__(self) -> AsyncCorpus:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    open = staticmethod(open_around(Corpus.open))
    close = await_method(Corpus.close)
    status = await_method(Corpus.status)

    add = await_method(Corpus.add)
    remove = await_method(Corpus.remove)
    plan = await_method(Corpus.plan)
    sync = await_method(Corpus.sync)
    build = await_method(Corpus.build)
    estimate = await_method(Corpus.estimate)
    collect = await_method(Corpus.collect)

    query = await_method(Corpus.query)
    ask = await_method(Corpus.ask)
    stream = stream_around(Corpus.stream)
    search = await_method(Corpus.search)
    check = await_method(Corpus.check)

    reports = await_method(Corpus.reports)
    report = await_method(Corpus.report)
    entities = await_method(Corpus.entities)
    entity = await_method(Corpus.entity)
    timeline = await_method(Corpus.timeline)
    changes = await_method(Corpus.changes)
    match = await_method(Corpus.match)
    graph = await_method(Corpus.graph)

    resolve = await_method(Corpus.resolve)
    merge = await_method(Corpus.merge)
    split = await_method(Corpus.split)
    rename = await_method(Corpus.rename)
    forbid = await_method(Corpus.forbid)
    undo = await_method(Corpus.undo)
