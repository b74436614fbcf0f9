"""Chat requests of a build that are answered in batches: collected, sent together, waited for, and recalled.

A build is run again and again: a request whose reply is not there yet is set down and its item waits; what is there
is recalled, as from the journal. So a round of a build asks all that it can ask without the replies of that round. All
is kept in a folder beside the store until a build is whole: a run that was killed goes on, and pays for nothing twice.
"""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, TypeVar

import msgspec

from sensegraph.errors import BatchPending, BudgetExceeded, EndpointDown, EndpointError, InputError
from sensegraph.models.batches.batch_client import BatchClient, RemoteBatch
from sensegraph.models.batches.reply_files import ReplyStore, StoredReply, decode_replies, read_given_replies
from sensegraph.models.endpoint.calls import CHAT
from sensegraph.models.endpoint.limits import Journal
from sensegraph.runtime.activity import pause

if TYPE_CHECKING:
    from sensegraph.models.endpoint.client import Endpoint

T = TypeVar("T")
Progress = Callable[[str, int, int], None]

URL = f"/v1{CHAT}"
_MOST, _BYTES = 50_000, 100_000_000  # requests and bytes of one batch
_NAME = re.compile(r"[0-9a-f]{40}")
_TRIES = 3  # batches in which one request may go without a reply
_OVER = ("completed", "expired", "cancelled", "failed")


class _Request(msgspec.Struct, frozen=True):
    custom_id: str
    method: str
    url: str
    body: msgspec.Raw


class _Sent(msgspec.Struct):
    """A batch that was sent, or is about to be: `id` is empty until the endpoint has told it."""

    name: str
    file: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """How a build uses batches: by the endpoint's interface, or by a file to write requests to and one of replies."""

    write: Path | None = None
    read: Path | None = None


class BatchBox:
    """The requests and replies of one corpus, in `folder`. Safe to use from many threads while a build runs."""

    def __init__(self, folder: Path, endpoint: Endpoint, plan: BatchPlan, progress: Progress) -> None:
        self.folder, self.plan = folder, plan
        self.share = endpoint.settings.batch_price
        self._endpoint, self._progress = endpoint, progress
        self._lock = threading.Lock()
        self._replies = ReplyStore(folder / "replies.jsonl")
        self._counted, self._tries, self._why = set[str](), Counter[str](), dict[str, str]()
        self._open: dict[str, int] = {}
        self._live = frozenset[str]()
        self._most = _MOST
        self._file: IO[bytes] | None = None

    # ── while a build runs ──

    def recall(self, key: str) -> tuple[StoredReply, bool] | None:
        """The reply to a request, and whether it is recalled for the first time: only then it is counted."""
        with self._lock:
            found = self._replies.read(key)
            if found is None:
                return None
            first = key not in self._counted
            self._counted.add(key)
            if first:
                self._append("counted", key.encode())
            return found, first

    def may_ask(self, key: str, first: bool) -> bool:
        """Whether a request is sent at once: the `first` one, which shows what is taken, and those of a small round."""
        return not self.plan.write and (first or key in self._live)

    def defer(self, key: str, body: bytes, need: int) -> None:
        """Set a request down for the next batch; `need` are the most tokens that it can take.

        Raises EndpointError where it went without a reply in several batches.
        """
        with self._lock:
            if self._tries[key] >= _TRIES:
                why = f"no reply in {_TRIES} batches, last: {self._why[key]}"
                raise EndpointError(f"{self._endpoint.address} gave {why}. Run again to resume.", "broken", why)
            if key not in self._open and self._file is not None:
                self._open[key] = need
                self._file.write(msgspec.json.encode(_Request(key, "POST", URL, msgspec.Raw(body))) + b"\n")

    def keep_live(self, key: str, reply: bytes) -> None:
        """Keep the reply to a request that was sent at once, and counted."""
        with self._lock:
            self._counted.add(key)
            self._append("counted", key.encode())
            self._keep([StoredReply(key, 200, msgspec.Raw(reply))])

    # ── from round to round ──

    def repeat(self, build: Callable[[], T]) -> T:
        """What `build` makes, run again after each batch until no request is open.

        Raises BatchPending where the run does not wait for the end of a batch, and as `build` does.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._load()
        if self.plan.read:
            self._keep(read_given_replies(self.plan.read))
        while True:
            self._finish()
            self._open = {}
            with (self.folder / "open.jsonl").open("wb") as self._file:
                try:
                    made = build()
                except BatchPending:
                    if not self._open:
                        raise
                else:
                    shutil.rmtree(self.folder)
                    return made
                finally:
                    self._live, self._file = frozenset(), None
            self._send()

    def _send(self) -> None:
        """Send what is open: as batches, into a file, or, where it is little, one by one in the next round."""
        if self.plan.write:
            count = len(self._open)
            try:
                shutil.copyfile(self.folder / "open.jsonl", self.plan.write)
            except OSError as e:
                raise InputError(f"{self.plan.write} cannot be written: {e.strerror}; name another file.") from e
            raise BatchPending(
                f"{count} requests to a model stand in {self.plan.write}. Have them answered, and run: "
                f"sensegraph index --read-replies REPLIES --write-requests {self.plan.write}"
            )
        if len(self._open) < self._endpoint.settings.batch_least:
            self._live = frozenset(self._open)
            return
        allowed, one = self._affordable(), self._most < _MOST
        for number, lines in enumerate(self._cut(allowed)):
            if number and one:
                break
            name = Journal.key(URL, b"".join(lines) + str(sum(self._tries.values())).encode())
            (self.folder / f"{name}.jsonl").write_bytes(b"".join(lines))
            self._note(_Sent(name))

    def _cut(self, allowed: int) -> Iterator[list[bytes]]:
        """The open requests in batches of no more than the endpoint takes."""
        lines, size = list[bytes](), 0
        with (self.folder / "open.jsonl").open("rb") as file:
            for number, line in enumerate(file):
                if number >= allowed:
                    break
                if lines and (len(lines) >= self._most or size + len(line) > _BYTES):
                    yield lines
                    lines, size = [], 0
                lines.append(line)
                size += len(line)
        if lines:
            yield lines

    def _affordable(self) -> int:
        """How many of the open requests fit the limits of the run. Raises BudgetExceeded where none does."""
        s, spent = self._endpoint.settings, self._endpoint.usage()
        if not s.max_tokens_total and not s.max_cost_usd:
            return len(self._open)
        tokens, usd = spent.prompt_tokens + spent.completion_tokens + spent.embedding_tokens, spent.cost_usd
        for number, need in enumerate(self._open.values()):
            tokens += need
            usd += need * max(s.price_prompt, s.price_completion) / 1e6 * self.share
            if (s.max_tokens_total and tokens > s.max_tokens_total) or (s.max_cost_usd and usd > s.max_cost_usd):
                if not number:
                    raise BudgetExceeded(
                        "What is left of the limit of this run has no room for a batch. What was paid for is stored: "
                        "raise --max-tokens or --max-cost and run again to resume."
                    )
                return number
        return len(self._open)

    def _finish(self) -> None:
        """Send the batches that were set down, wait until all are over, and keep what they brought."""
        settings, began = self._endpoint.settings, time.monotonic()
        client: BatchClient | None = None
        while left := self._sent():
            if client is None:
                client = BatchClient(self._endpoint.calls)
                for one in left:
                    self._submit(client, one)
            told = {one.name: client.read(one.id) for one in left}
            for one in left:
                if told[one.name].status in _OVER:
                    self._take(client, one, told[one.name])
            running = [one for one in told.values() if one.status not in _OVER]
            done, total = sum(r.done + r.failed for r in running), sum(r.total for r in running)
            if not running:
                continue
            self._progress("batch", done, total)
            if settings.batch_wait_s and time.monotonic() - began >= settings.batch_wait_s:
                names = ", ".join(r.id for r in running)
                raise BatchPending(
                    f"The batch {names} is not done yet ({done} of {total} requests). Run again to go on; what it "
                    "answers is not paid for twice."
                )
            pause(settings.batch_poll_s)

    def _submit(self, client: BatchClient, one: _Sent) -> None:
        """Make a batch of the requests of `one`, unless an earlier run has."""
        if one.id:
            return
        if one.file and (found := client.find(one.name)):
            one.id = found.id
        else:
            one.file = client.upload(one.name, (self.folder / f"{one.name}.jsonl").read_bytes())
            self._note(one)  # from here on it may be there though nobody has told us
            one.id = client.create(one.file, one.name, URL).id
        self._note(one)

    def _take(self, client: BatchClient, one: _Sent, told: RemoteBatch) -> None:
        """Keep what a batch that is over has brought; what has no reply is asked for again by the next round."""
        requests = self.folder / f"{one.name}.jsonl"
        with requests.open("rb") as lines:
            asked = [msgspec.json.decode(line, type=_Request).custom_id for line in lines]
        known, size, before = set(asked), len(asked), dict(self._tries)
        for name in told.files:
            with TemporaryFile(dir=self.folder) as file:
                client.download(name, file)
                file.seek(0)
                self._keep(reply for reply in decode_replies(file) if reply.key in known)
        words = told.error or told.code or f"the batch was {told.status}"
        if told.status != "failed":  # then nothing of it was tried
            unsaid = [k for k in asked if k not in self._replies and self._tries[k] == before.get(k, 0)]
            self._keep([StoredReply(key, 0, msgspec.Raw(msgspec.json.encode(words))) for key in unsaid])
        self._note(one, over=True)
        requests.unlink(missing_ok=True)
        if told.status == "cancelled":
            raise BatchPending(f"The batch {told.id} was cancelled. Run again to ask for the rest of it.")
        if told.status == "failed":
            if "limit" not in f"{told.code} {told.error}".casefold() or size == 1:
                raise EndpointDown(f"The batch {told.id} failed: {words}. Run again without --batch, or later.")
            self._most = max(1, size // 2)  # more than may wait at once: half as many

    # ── what is kept in the folder ──

    def _keep(self, found: Iterable[StoredReply]) -> None:
        self._count_tries(self._replies.keep(found))

    def _count_tries(self, without: Iterable[tuple[str, str]]) -> None:
        for key, why in without:
            self._tries[key] += 1
            self._why[key] = why

    def _load(self) -> None:
        """What earlier runs left."""
        self._count_tries(self._replies.load())
        path = self.folder / "counted"
        self._counted = {line.decode() for line in path.read_bytes().splitlines()} if path.exists() else set()

    def _append(self, name: str, line: bytes) -> None:
        with (self.folder / name).open("ab") as file:
            file.write(line + b"\n")

    def _sent(self) -> list[_Sent]:
        """The batches that are not over."""
        path = self.folder / "batches.json"
        found = msgspec.json.decode(path.read_bytes(), type=list[_Sent]) if path.exists() else []
        return [one for one in found if _NAME.fullmatch(one.name)]  # a name is that of a file in this folder

    def _note(self, one: _Sent, over: bool = False) -> None:
        """Write down how a batch stands; all of the file or nothing."""
        path, others = self.folder / "batches.json", [s for s in self._sent() if s.name != one.name]
        unfinished = path.with_suffix(".part")
        unfinished.write_bytes(msgspec.json.encode(others if over else [*others, one]))
        unfinished.replace(path)
