"""A corpus as a server of the Model Context Protocol: the one file that knows its SDK (the extra `mcp`)."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import unquote

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from sensegraph import __version__
from sensegraph.corpus import views
from sensegraph.errors import InputError, SensegraphError
from sensegraph.runtime.activity import StopToken, begin_activity
from sensegraph.server.paging import read_cursor
from sensegraph.server.texts import PROMPTS, write_result
from sensegraph.server.tools import READING, Tool, write_address
from sensegraph.server.writing import WRITING
from sensegraph.types import Usage

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from sensegraph.corpus.corpus import Corpus

R = TypeVar("R")
Context = ServerRequestContext[Any, Any]
_AT_ONCE = 8  # calls that are worked on at the same time; others wait
_LISTED = 100  # documents that are listed at once
_ADDRESS = "sensegraph://"
_KINDS = {"documents": "text/plain", "reports": "application/json"}


def describe_tool(tool: Tool) -> types.Tool:
    """A tool as the protocol lists it."""
    hints = types.ToolAnnotations(
        read_only_hint=tool.reads,
        destructive_hint=None if tool.reads else tool.destroys,
        idempotent_hint=True,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=hints,
    )


class Meter(Protocol):
    """Counts what questions cost, and says when a day has cost enough."""

    def check_day(self) -> None:
        """Raise BudgetExceeded where the questions of today have cost what a day may."""
        ...

    def count_question(self, usage: Usage) -> None:
        """A question was answered, at this cost."""
        ...


class CorpusServer:
    """The handlers of one corpus. Calls run in threads; what the client cancels is stopped there."""

    def __init__(self, corpus: Corpus, *, write: bool = False, meter: Meter | None = None) -> None:
        self._corpus, self._meter = corpus, meter
        self._tools = {tool.name: tool for tool in (*READING, *(WRITING if write else ()))}
        self._limiter: anyio.CapacityLimiter | None = None

    def make_server(self) -> Server[Any]:
        """The server of the SDK, with these handlers."""
        counts = self._corpus.status()
        held = f"{counts.documents} documents, {counts.counts.get('entities', 0)} entities"
        return Server(
            "sensegraph",
            version=__version__,
            instructions=(
                f"A corpus of {held}, with an exact source for every statement. Begin with overview for themes, ask "
                "for an answer, search for evidence. Cite as [document:start-end]. Results stay within max_tokens: "
                "cut says what was left out, next is the cursor of the next page."
            ),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    @asynccontextmanager
    async def open_over_http(self) -> AsyncIterator[ASGIApp]:
        """The server as an application over HTTP, every request of which stands for itself. It guards nothing."""
        manager = StreamableHTTPSessionManager(self.make_server(), stateless=True)
        async with manager.run():
            yield manager.handle_request

    async def _work(self, ctx: Context, work: Callable[[], R]) -> R:
        """What `work` gives in a thread; it is stopped when the request is cancelled, and its stages are told."""
        token, loop = StopToken(), asyncio.get_running_loop()
        send, receive = anyio.create_memory_object_stream[str](100)

        def push(message: str) -> None:
            with suppress(anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
                send.send_nowait(message)

        def tell(stage: str, detail: str) -> None:
            with suppress(RuntimeError):  # the loop has been closed: nobody listens
                loop.call_soon_threadsafe(push, f"{stage}: {detail}")

        def run() -> R:
            with begin_activity(stop=token, tell=tell):
                return work()

        async def forward() -> None:
            count = 0
            async for message in receive:
                count += 1
                await ctx.session.report_progress(count, message=message)

        self._limiter = self._limiter or anyio.CapacityLimiter(_AT_ONCE)
        async with anyio.create_task_group() as group:
            group.start_soon(forward)
            try:
                with send:
                    done = await anyio.to_thread.run_sync(
                        partial(_catch_errors, run), abandon_on_cancel=True, limiter=self._limiter
                    )
            except anyio.get_cancelled_exc_class():
                token.stop()
                raise
        if isinstance(done, SensegraphError):
            raise done
        return done

    # ── tools ──

    async def _list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[describe_tool(tool) for tool in self._tools.values()])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            if params.name not in self._tools:
                raise InputError(f"There is no tool {params.name!r}; there are {', '.join(self._tools)}.")
            tool = self._tools[params.name]
            if self._meter:
                self._meter.check_day()
            result = await self._work(ctx, lambda: tool.run(self._corpus, params.arguments or {}))
            if self._meter and "usage" in result and tool.reads:
                self._meter.count_question(Usage(**result["usage"]))
        except SensegraphError as e:
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(e))], is_error=True)
        text = write_result(tool.name, result)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=result)

    # ── resources ──

    async def _list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        first = _read_request(lambda: read_cursor((params.cursor if params else None) or ""))
        names = list(await self._work(ctx, self._corpus.document_keys))
        listed = [
            types.Resource(uri=write_address(name), name=name, mime_type="text/plain")
            for name in names[first : first + _LISTED]
        ]
        more = str(first + _LISTED) if first + _LISTED < len(names) else None
        return types.ListResourcesResult(resources=listed, next_cursor=more)

    async def _list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(uri_template=f"{_ADDRESS}{kind}/{{id}}", name=kind, mime_type=form)
            for kind, form in _KINDS.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        kind, slash, name = params.uri.removeprefix(_ADDRESS).partition("/")
        if not params.uri.startswith(_ADDRESS) or not slash or kind not in _KINDS:
            raise MCPError(types.INVALID_PARAMS, f"{params.uri} is no address of a document or report of this corpus.")

        def read() -> str:
            if kind == "documents":
                return self._corpus.index().document(unquote(name)).text
            return json.dumps(views.view_report(self._corpus.report(unquote(name))), ensure_ascii=False)

        try:
            text = await self._work(ctx, read)
        except SensegraphError as e:
            raise MCPError(types.INVALID_PARAMS, str(e)) from e
        held = types.TextResourceContents(uri=params.uri, mime_type=_KINDS[kind], text=text)
        return types.ReadResourceResult(contents=[held])

    # ── prompts ──

    async def _list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        listed = [
            types.Prompt(
                name=p.name,
                description=p.description,
                arguments=[types.PromptArgument(name=name, required=True) for name in p.arguments],
            )
            for p in PROMPTS
        ]
        return types.ListPromptsResult(prompts=listed)

    async def _get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        found = next((p for p in PROMPTS if p.name == params.name), None)
        if found is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name!r}.")
        text = _read_request(lambda: found.fill(params.arguments or {}))
        said = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=found.description, messages=[said])


def _catch_errors(work: Callable[[], R]) -> R | SensegraphError:
    """What `work` gives, or the error that it ended in, which then crosses threads and groups as a value."""
    try:
        return work()
    except SensegraphError as e:
        return e
    except OSError as e:
        return InputError(f"{e.filename or 'A file'} cannot be used ({e.strerror or e}).")


def _read_request(read: Callable[[], R]) -> R:
    """What `read` makes of a request that is no tool's; an error of ours as one of the protocol."""
    try:
        return read()
    except SensegraphError as e:
        raise MCPError(types.INVALID_PARAMS, str(e)) from e


def serve_stdio(corpus: Corpus, *, write: bool = False) -> None:
    """Answer on stdin and stdout until stdin ends. What else is printed meanwhile goes to stderr.

    Ctrl-C ends the process at once, as SIGTERM does: the thread that waits for stdin cannot be called back, and a
    store may be left at any moment.
    """

    async def serve() -> None:
        server = CorpusServer(corpus, write=write).make_server()
        async with stdio_server() as (read, written):
            await server.run(read, written, server.create_initialization_options())

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(serve)
