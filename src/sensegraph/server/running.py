"""A server from its start to its end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.server.app import make_app
from sensegraph.server.http.access import ServeOptions, Tokens, is_loopback, make_token_file, read_token_file
from sensegraph.server.http.guard import Guard

_GRACE_S = 5  # for which answers that are under way may go on when the server is told to end


def choose_tokens(path: Path | None, host: str, open_to_all: bool) -> tuple[Tokens, bool]:
    """The tokens of a file, which is made where it is not there, and whether it was.

    Raises SettingsError for an address that others reach, without a file of tokens.
    """
    if path is None:
        if not is_loopback(host) and not open_to_all:
            raise SettingsError(
                f"{host} is reached from other machines: say who may read and write with --token-file FILE (it is made "
                "where there is none), or say --insecure-no-token if everybody may."
            )
        return Tokens(), False
    made = not path.exists()
    if made:
        make_token_file(path)
    return read_token_file(path), made


class CorporaServer(uvicorn.Server):
    """The server of uvicorn; it says where it is reached, and ends what runs when it is told to end."""

    def __init__(self, config: uvicorn.Config, app: Guard, ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._guard, self._ready = app, ready

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Begin to take requests, and say so."""
        await super().startup(sockets)
        if self.started:
            host = self.config.host
            shown = f"[{host}]" if ":" in host else host
            self._ready(f"http://{shown}:{self.servers[0].sockets[0].getsockname()[1]}/")

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        """Stop what is being asked: else it would be waited for."""
        self._guard.stop()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on Ctrl-C and SIGTERM, which is what was wanted, and no error."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def make_server(corpora: Mapping[str, Corpus], options: ServeOptions, ready: Callable[[str], None]) -> CorporaServer:
    """A server, to be run; `ready` is told the address once requests are taken."""
    app = make_app(corpora, options)
    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_S,
        limit_concurrency=1000,
        ws="none",
    )
    return CorporaServer(config, app, ready)
