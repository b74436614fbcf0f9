"""A server from its start to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import uvicorn

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.server.http.access import ServeOptions, Tokens, is_loopback, make_token_file, read_token_file
from sensegraph.server.http.app import make_app

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


def make_server(corpora: Mapping[str, Corpus], options: ServeOptions, ready: Callable[[str], None]) -> uvicorn.Server:
    """A server, to be run; `ready` is told the address once requests are taken."""
    app = make_app(corpora, options)
    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_S,
        limit_concurrency=1000,
        ws="none",
    )
    server = uvicorn.Server(config)
    shown = f"[{options.host}]" if ":" in options.host else options.host
    begin, end = server.startup, server.shutdown

    async def startup(*args: Any, **kwargs: Any) -> None:
        await begin(*args, **kwargs)
        if server.started:
            ready(f"http://{shown}:{server.servers[0].sockets[0].getsockname()[1]}/")

    async def shutdown(*args: Any, **kwargs: Any) -> None:
        app.stop()  # else answers that are under way would be waited for
        await end(*args, **kwargs)

    server.startup = startup  # type: ignore[method-assign]
    server.shutdown = shutdown  # type: ignore[method-assign]
    return server
