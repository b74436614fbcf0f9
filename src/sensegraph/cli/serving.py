"""Commands that serve a corpus to other programs (mcp, serve), or exchange its graph with a server (push, pull)."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli.options import ROOT_VARIABLE, CommandRun, print_json, print_message, with_options
from sensegraph.corpus.views import view_counts
from sensegraph.errors import SettingsError

if TYPE_CHECKING:
    from sensegraph.graphs.interchange.neo4j_server import Server

Folders = Annotated[
    list[Path] | None,
    typer.Argument(metavar="ROOT", help="Folders of corpora; each is served under its name.",
                   show_default="SENSEGRAPH_ROOT, else this folder", envvar=ROOT_VARIABLE, show_envvar=False),
]  # fmt: skip


@with_options("* max_tokens max_cost engine wait settings trust")
def serve_tools(
    run: CommandRun,
    folder: Annotated[
        Path,
        typer.Argument(metavar="ROOT", help="The corpus's folder.", show_default="SENSEGRAPH_ROOT, else this folder",
                       envvar=ROOT_VARIABLE, show_envvar=False),
    ] = Path("."),
    write: Annotated[
        bool, typer.Option("--write", help="Also offer tools that add and remove documents, and follow input/.")
    ] = False,
) -> None:  # fmt: skip
    """Offer a corpus to assistants as tools of the Model Context Protocol, on stdin and stdout, until stdin ends."""
    if not find_spec("mcp"):
        raise SettingsError('`sensegraph mcp` needs an extra: pip install "sensegraph[mcp]".')
    run = replace(run, root=folder)
    with run.corpus(create=write, indexed=not write, silent=True) as corpus:
        from sensegraph.server.mcp import serve_stdio  # after the settings have been read: it takes a second

        serve_stdio(corpus, write=write)


@with_options("* max_tokens max_cost as_json quiet engine settings trust")
def serve_corpora(
    run: CommandRun,
    folders: Folders = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="0: any that is free.")] = 8123,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="Who may read and write; made where there is none."),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Nothing is changed, whoever asks.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Follow input/ of each corpus: what changes there is indexed by a job.")
    ] = False,
    hosts: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A name that this server is reached by, as behind a proxy."),
    ] = None,
    day_tokens: Annotated[
        int, typer.Option("--day-tokens", min=0, metavar="N", help="Tokens that the questions of a day may take.",
                          show_default="no limit")
    ] = 0,
    day_cost: Annotated[
        float, typer.Option("--day-cost", min=0.0, metavar="USD", help="What the questions of a day may cost.",
                            show_default="no limit")
    ] = 0.0,
    open_to_all: Annotated[
        bool, typer.Option("--insecure-no-token", help="Let everybody who reaches the address read and write.")
    ] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
) -> None:  # fmt: skip
    """Serve corpora over HTTP: a page, an API, the OpenAI API, and tools for assistants (MCP).

    Only this machine can reach it, unless another address is given, which needs tokens.
    """
    if missing := [name for name in ("starlette", "uvicorn", "python_multipart") if not find_spec(name)]:
        raise SettingsError(f'`sensegraph serve` needs {missing[0]}: pip install "sensegraph[server]".')
    from sensegraph.corpus.sources import Pace
    from sensegraph.server.http.access import Limits, ServeOptions
    from sensegraph.server.http.corpora import name_corpora
    from sensegraph.server.running import choose_tokens, make_server

    tokens, made = choose_tokens(token_file, host, open_to_all)
    if made:
        print_message(f"{token_file} holds a new token for reading and one for writing; keep it to yourself.")
    limits, pace = Limits(day_tokens=day_tokens, day_cost=day_cost), Pace() if watch else None
    options = ServeOptions(host, port, tokens, read_only, tuple(hosts or ()), limits, run.overrides(), pace)
    with ExitStack() as opened:
        corpora = {
            name: opened.enter_context(replace(run, root=root).corpus(create=not read_only, silent=True))
            for name, root in name_corpora(folders or [Path(".")]).items()
        }

        def tell(address: str) -> None:
            if run.as_json:
                print_json({"address": address, "corpora": list(corpora)})
            elif not run.quiet:
                print_message(f"sensegraph serves {', '.join(corpora)} at {address}; Ctrl-C ends it")
            if open_page:
                typer.launch(address)

        make_server(corpora, options, tell).run()  # until Ctrl-C or SIGTERM


# ── servers of Neo4j ──

_Url = Annotated[str, typer.Argument(metavar="URL", help="The server, such as bolt://localhost:7687 or neo4j+s://….")]
_User = Annotated[str, typer.Option("--user", metavar="NAME", help="The user of the server.")]
_Password = Annotated[
    str | None,
    typer.Option("--password", envvar="NEO4J_PASSWORD", metavar="TEXT", help="The password; asked for if missing."),
]
_Database = Annotated[str, typer.Option("--database", metavar="NAME", help="Which database of the server.")]


def _find_server(url: str, user: str, password: str | None, database: str) -> Server:
    from sensegraph.graphs.interchange.neo4j_server import Server

    if password is None:
        password = typer.prompt("Password", hide_input=True, err=True)
    return Server(url, user, password, database)


@with_options("root * as_json settings")
def push_index(
    run: CommandRun, url: _Url, user: _User = "neo4j", password: _Password = None, database: _Database = "",
    called: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="What the nodes call their corpus.", show_default="the folder's"),
    ] = None,
) -> None:  # fmt: skip
    """Write the graph into a database of Neo4j, in the place of an earlier push of this corpus; the rest stays."""
    from sensegraph.graphs.interchange.neo4j_server import push_graph

    server = _find_server(url, user, password, database)
    with run.corpus(indexed=True, silent=True) as corpus:
        done = push_graph(corpus.index(), server, called or run.root.resolve().name)
    sent = f"pushed {done.entities:,} entities, {done.relations:,} relations, {done.claims:,} claims"
    gone = f"removed {done.removed_nodes:,} nodes and {done.removed_edges:,} edges of an earlier push"
    run.print_result(lambda: view_counts(done), lambda: f"{sent}\n{gone}")


@with_options("* as_json")
def pull_tables(
    run: CommandRun, url: _Url,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write the tables; made when there is none.")],
    user: _User = "neo4j", password: _Password = None, database: _Database = "",
    called: Annotated[str, typer.Option("--name", metavar="NAME", help="Only what was pushed under this name.")] = "",
    named: Annotated[str, typer.Option("--name-property", metavar="KEY", help="What holds a node's name.")] = "name",
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that is not empty.")] = False,
) -> None:  # fmt: skip
    """Write a graph of Neo4j as two tables, which `sensegraph graph import DIR` makes an index of."""
    from sensegraph.graphs.interchange.neo4j_server import pull_graph

    server = _find_server(url, user, password, database)
    done = pull_graph(server, folder, corpus=called, name=named, force=force)
    counts = f"{done.entities:,} entities, {done.relations:,} relations"
    lines = [*map(str, done.files), counts, *(f"- {note}" for note in done.notes)]
    run.print_result(lambda: view_counts(done), lambda: "\n".join(lines))
