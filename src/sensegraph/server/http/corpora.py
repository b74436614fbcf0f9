"""The corpora of a server, each under a name; and the threads that work on them."""

from __future__ import annotations

import re
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.views import SCHEMA
from sensegraph.errors import InputError, SensegraphError, StoreError
from sensegraph.runtime.activity import StopToken, begin_activity
from sensegraph.server.http.access import Limits, ServeOptions
from sensegraph.server.http.failures import Refused
from sensegraph.server.http.metrics import Metrics
from sensegraph.server.inputs import find_file, find_origin, list_origins
from sensegraph.types import Usage

R = TypeVar("R")
JSON = dict[str, Any]
_UNSAFE = re.compile(r"[^\w.-]+")
_CLIENTS = 1000  # whose places are remembered
_TRIES = 3


@dataclass(frozen=True, eq=False)
class ServedCorpus:
    """A corpus and its name in addresses."""

    name: str
    corpus: Corpus

    @property
    def masked(self) -> bool:
        """Whether personal data is masked: then no original is shown."""
        return self.corpus.privacy.masks()

    @property
    def input(self) -> Path:
        """The folder of its files."""
        return self.corpus.root / "input"

    def original(self, name: str) -> Path | None:
        """The file of a document, inside `input`; None where it is elsewhere, or not to be shown."""
        return None if self._hides(name) else find_file(self.corpus, name)

    def may_lie_elsewhere(self, name: str) -> bool:
        """Whether a file is there, outside `input`, from which the document may have been read."""
        return not self._hides(name) and bool(list_origins(self.corpus, name))

    def origin(self, name: str) -> Path | None:
        """The file outside `input` that gives this document, as it is now; None where there is none, or not shown."""
        return None if self._hides(name) else find_origin(self.corpus, name)

    def _hides(self, name: str) -> bool:
        return self.masked or "\0" in name or any(part.startswith(".") for part in name.split("/"))

    def tag(self) -> str:
        """What stands for all that a reader can be shown: the index, and the documents that wait for the next."""
        space = self.corpus.workspace
        return f"{space.index_key()[:32]}-{space.state()[:16]}"

    def read(self, view: Callable[[Corpus], JSON]) -> JSON:
        """What `view` shows of one index, with the key of it; again where another one took its place meanwhile."""
        for left in reversed(range(_TRIES)):
            key = self.corpus.workspace.index_key()
            try:
                found = view(self.corpus)
            except StoreError:
                if not left or key == self.corpus.workspace.index_key():
                    raise
                continue
            if key == self.corpus.workspace.index_key() or not left:
                break
        return {"schema": SCHEMA, "index": key, **found}

    def describe(self, writable: bool) -> JSON:
        """The corpus in the list of all."""
        space = self.corpus.workspace
        made = space.manifest()
        return {
            "name": self.name,
            "documents": len(space.document_keys()),
            "entities": made.counts.get("entities", 0) if made else 0,
            "engine": made.engine if made else "",
            "indexed_at": self.corpus.browser.indexed_at(),
            "pending": len(space.pending()),
            "writable": writable,
            "originals": not self.masked,
            "index": space.index_key(),
        }


def name_corpora(roots: Iterable[Path]) -> dict[str, Path]:
    """A name for each folder: its own. Raises InputError for two of one name, or a name that no address can hold."""
    found = dict[str, Path]()
    for root in roots:
        name = _UNSAFE.sub("-", root.resolve().name).strip("-.")
        if not name or name in found:
            raise InputError(f"{root} cannot be served beside the others: there is another named {name!r}; rename it.")
        found[name] = root
    return found


class Workers:
    """Threads: some for questions, of which each client has only so many at once, and some for what is only read."""

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self._limits, self._metrics = limits, metrics
        self._questions = anyio.CapacityLimiter(limits.at_once)
        self._reading = anyio.CapacityLimiter(limits.at_once)
        self._clients: OrderedDict[str, anyio.CapacityLimiter] = OrderedDict()
        self._waiting = Counter[str]()
        self._tokens = set[StopToken]()

    async def read(self, work: Callable[[], R]) -> R:
        """What `work` gives in a thread, or its error."""
        return await anyio.to_thread.run_sync(work, limiter=self._reading)

    @asynccontextmanager
    async def place_for(self, client: str, token: StopToken) -> AsyncIterator[None]:
        """A place for a question of a client, which `token` stops. Raises Refused where too many of it wait."""
        self._metrics.check_day()
        mine = self._clients.setdefault(client, anyio.CapacityLimiter(self._limits.questions))
        self._clients.move_to_end(client)
        for name in [n for n, c in self._clients.items() if not c.borrowed_tokens and not self._waiting[n]]:
            if len(self._clients) > _CLIENTS and name != client:
                del self._clients[name]
        me = object()
        try:
            mine.acquire_on_behalf_of_nowait(me)
        except anyio.WouldBlock:
            await self._wait_for(mine, me, client)
        self._tokens.add(token)
        self._metrics.running += 1
        try:
            yield
        finally:
            self._metrics.running -= 1
            self._tokens.discard(token)
            mine.release_on_behalf_of(me)

    async def _wait_for(self, place: anyio.CapacityLimiter, me: object, client: str) -> None:
        if self._waiting[client] >= self._limits.queue:
            raise Refused(429, f"{self._limits.queue} questions of yours wait already; ask when they are done.", 2)
        self._waiting[client] += 1
        try:
            await place.acquire_on_behalf_of(me)
        finally:
            self._waiting[client] -= 1
            self._waiting += Counter()  # without those that nobody waits for

    async def ask(
        self,
        work: Callable[[], R],
        token: StopToken,
        tell: Callable[[str, str], None] | None = None,
        spent: Callable[[], Usage] | None = None,
    ) -> R:
        """What `work` gives in a thread, as an activity of its own; where the request is given up, it is waited for.

        What it `spent`, also where it failed, counts for the day.
        """

        def run() -> R:
            with begin_activity(stop=token, tell=tell):
                begun = time.perf_counter()
                try:
                    return work()
                finally:
                    if spent:
                        with suppress(SensegraphError):  # the tools cannot be made: that is what failed
                            self._metrics.count_question(replace(spent(), seconds=time.perf_counter() - begun))

        return await anyio.to_thread.run_sync(run, limiter=self._questions)

    def stop(self) -> None:
        """Stop all questions: the server ends."""
        for token in list(self._tokens):
            token.stop()


class Library:
    """All that the routes of a server share."""

    def __init__(self, corpora: Mapping[str, Corpus], options: ServeOptions) -> None:
        self.options = options
        self.metrics = Metrics(options.limits)
        self.workers = Workers(options.limits, self.metrics)
        self.corpora = {name: ServedCorpus(name, corpus) for name, corpus in corpora.items()}

    def find(self, name: str) -> ServedCorpus:
        """The corpus of this name. Raises Refused where there is none."""
        if name not in self.corpora:
            raise Refused(404, f"There is no corpus {name!r}; there are: {', '.join(self.corpora)}.")
        return self.corpora[name]
