"""Events that a browser or a program reads while they happen (server-sent events)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import CancelledError
from contextlib import aclosing, suppress
from typing import Any, TypeVar

import anyio
import msgspec
from anyio.streams.memory import MemoryObjectSendStream
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sensegraph.errors import SensegraphError, Stopped
from sensegraph.runtime.activity import StopToken
from sensegraph.server.http.access import Limits

R = TypeVar("R")
Event = tuple[str, Any]
_WAITING = 32  # events that a slow reader is behind at most: what tells them waits
_SLICE_S = 0.2


def format_event(name: str, data: Any, number: int | None = None) -> bytes:
    """An event as it is sent; without a name, data alone."""
    head = (f"id: {number}\n" if number is not None else "") + (f"event: {name}\n" if name else "")
    return head.encode() + b"data: " + (data if isinstance(data, bytes) else msgspec.json.encode(data)) + b"\n\n"


async def wait_for_leaving(receive: Receive) -> None:
    """Come back when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


class EventResponse(Response):
    """An answer in pieces of bytes: it ends when they end, or when the client leaves or reads nothing for long.

    `leave` is called when it ends in another way than by the end of the pieces.
    """

    def __init__(self, pieces: AsyncGenerator[bytes], limits: Limits, leave: Callable[[], None]) -> None:
        super().__init__(None, 200, {"X-Accel-Buffering": "no"}, "text/event-stream")
        self._pieces, self._limits, self._leave = pieces, limits, leave
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all pieces."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                await wait_for_leaving(receive)
                self._leave()
                group.cancel_scope.cancel()

            group.start_soon(watch)
            try:
                async with aclosing(self._pieces) as pieces:
                    async for piece in pieces:
                        with anyio.fail_after(self._limits.unread):
                            await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            except (TimeoutError, OSError):
                self._leave()
            except anyio.get_cancelled_exc_class():
                self._leave()
                raise
            finally:
                group.cancel_scope.cancel()


class Teller:
    """What a thread tells of its work, event by event; it waits where the reader is slow, until it is stopped."""

    def __init__(self, send: MemoryObjectSendStream[Event], token: StopToken) -> None:
        self._send, self._token, self._loop = send, token, asyncio.get_running_loop()

    async def say(self, name: str, data: Any) -> None:
        """Tell an event, from the loop."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._send.send((name, data))

    def tell_stage(self, name: str, detail: str) -> None:
        """Tell a stage, from a thread."""
        self.tell("stage", {"name": name, "detail": detail})

    def tell(self, name: str, data: Any) -> None:
        """Tell an event, from a thread. Raises Stopped where nobody listens any more."""
        future = asyncio.run_coroutine_threadsafe(self._send.send((name, data)), self._loop)
        while True:
            try:
                return future.result(_SLICE_S)
            except TimeoutError:
                if self._token.is_stopped():
                    future.cancel()
                    raise Stopped("Nobody listens any more.") from None
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, CancelledError) as e:
                raise Stopped("Nobody listens any more.") from e


async def stream_events(
    work: Callable[[Teller], Awaitable[None]], token: StopToken, heartbeat: float
) -> AsyncGenerator[Event | None]:
    """What `work` tells, and None where it was silent for as long as a heartbeat. What it raises is raised."""
    send, receive = anyio.create_memory_object_stream[Event](_WAITING)

    async def run() -> None:
        with send:
            await work(Teller(send, token))

    running = asyncio.ensure_future(run())
    try:
        with receive:
            while True:
                event = None
                with anyio.move_on_after(heartbeat):
                    try:
                        event = await receive.receive()
                    except anyio.EndOfStream:
                        break
                yield event
        await running
    finally:
        token.stop()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([running])


async def run_while_there(request: Request, token: StopToken, work: Callable[[], Awaitable[R]]) -> R:
    """What `work` gives; it is stopped and given up when the client leaves meanwhile. An error of ours is raised."""
    found: R | Exception = Stopped("The client has left.")

    async with anyio.create_task_group() as group:

        async def watch() -> None:
            try:
                await wait_for_leaving(request.receive)
                group.cancel_scope.cancel()
            finally:
                token.stop()

        group.start_soon(watch)
        try:
            found = await work()
        except (SensegraphError, HTTPException, OSError) as e:  # raised outside of the group, which would wrap it
            found = e
        group.cancel_scope.cancel()
    if isinstance(found, Exception):
        raise found
    return found
