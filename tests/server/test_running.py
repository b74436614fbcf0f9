"""How a server is run: for how long, and of how many, connections are kept."""

from __future__ import annotations

from pathlib import Path

from sensegraph.corpus.corpus import Corpus
from sensegraph.server.http.access import ServeOptions
from sensegraph.server.running import make_server


def test_a_connection_that_nobody_uses_is_closed_after_half_a_minute_and_a_thousand_are_open_at_most(
    tmp_path: Path,
) -> None:
    with Corpus.open(tmp_path) as corpus:
        config = make_server({"notes": corpus}, ServeOptions(port=0), lambda _: None).config
    assert (config.timeout_keep_alive, config.limit_concurrency) == (30, 1000)


def test_a_server_tells_neither_what_it_is_nor_believes_who_a_client_says_it_is_nor_logs_requests(
    tmp_path: Path,
) -> None:
    with Corpus.open(tmp_path) as corpus:
        config = make_server({"notes": corpus}, ServeOptions(port=0), lambda _: None).config
    assert (config.server_header, config.proxy_headers, config.access_log) == (False, False, False)
