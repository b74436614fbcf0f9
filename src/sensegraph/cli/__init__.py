"""The command line: `sensegraph COMMAND`. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sensegraph import __version__
from sensegraph.cli import asking, browsing, curating, doctor, graphs, indexing, maintenance, serving
from sensegraph.cli.lab import evaluate, repro, tune, tune_prompts
from sensegraph.cli.options import print_message
from sensegraph.errors import SensegraphError, Unapproved

HELP = """Make sense of a whole body of text: one knowledge graph, a hierarchy of reports, answers with citations.

Works on this machine alone, or with any OpenAI-compatible model once one is set. Begin with: sensegraph demo"""

_WORDS = "sensegraph.words"  # where a context keeps what the command line said


class Commands(TyperGroup):
    """The commands. A failure that is foreseen ends in one sentence on stderr and status 1; Ctrl-C in status 130."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words too, to run them once more."""
        ctx.meta[_WORDS] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return self._approved(ctx)
        except SensegraphError as e:
            print_message(str(e))
            raise typer.Exit(1) from e
        except KeyboardInterrupt as e:
            print_message("stopped; run the same command to resume")
            raise typer.Exit(130) from e
        except BrokenPipeError:
            raise  # the reader has gone: there is nobody to tell
        except OSError as e:
            print_message(
                f"{e.filename or 'A file'} cannot be used ({e.strerror or e}); check that it may be read and written."
            )
            raise typer.Exit(1) from e

    def _approved(self, ctx: Any) -> Any:
        """Run the command, and run it again where the user approves on the terminal what it was refused for."""
        try:
            return super().invoke(ctx)
        except Unapproved as e:
            from sensegraph.corpus.settings import locate_user_file
            from sensegraph.models.endpoint.endpoint_settings import record_approval

            if not sys.stdin.isatty():
                raise
            print_message(e.question)
            if not typer.confirm(f"Approve it, and keep that in {locate_user_file()}?", err=True):
                raise
            record_approval(locate_user_file(), e.wanted)
        with self.make_context(ctx.info_name, ctx.meta[_WORDS], parent=ctx.parent) as again:
            return self._approved(again)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sensegraph {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,  # a traceback with the values of variables could show a key
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def _read_global_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Options that stand before a command."""


app.command("demo", short_help="Index 40 bundled documents offline and ask six questions.")(maintenance.run_demo)
app.command("init", short_help="Prepare a folder: settings, prompts, input.")(maintenance.set_up_folder)
app.command("doctor", short_help="Say what works, and what the endpoint takes.")(doctor.diagnose)
app.command("presets", short_help="Show the settings of papers beside ours.")(maintenance.show_presets)
app.command(short_help="Fit the prompts to a corpus, with a model.")(tune_prompts.tune_prompts)
app.command("index", short_help="Add or update documents and build the index.")(indexing.index_documents)
app.command("watch", short_help="Keep the index up to date with its files.")(indexing.watch_files)
app.command("estimate", short_help="Say what `index` would compute and cost.")(indexing.estimate_index)
app.command("personal", short_help="Report personal data in documents.")(maintenance.report_personal_data)
app.command("remove", short_help="Remove documents from the index.")(indexing.remove_documents)
app.command("collect", short_help="Remove what the index no longer needs.")(maintenance.collect_garbage)
app.command("query", short_help="Answer a question, with citations.")(asking.query_corpus)
app.command("search", short_help="Show the evidence for a question, without an answer.")(asking.search_corpus)
app.command("status", short_help="Show what the corpus holds and has cost.")(indexing.show_status)
app.command("reports", short_help="List the reports, or read one down to its sources.")(browsing.browse_reports)
app.command("entity", short_help="Show all that is known of an entity.")(browsing.browse_entity)
app.command("match", short_help="Find what matches a pattern in the graph.")(graphs.match_pattern)
app.command("timeline", short_help="Show what is said of an entity, in the order of time.")(browsing.show_timeline)
app.command("changes", short_help="Show what changed between two moments.")(browsing.show_changes)
app.command("resolve", short_help="Find entities that are one thing under different names.")(curating.resolve_entities)
app.command("merge", short_help="Make entities one.")(curating.merge_entities)
app.command("split", short_help="Take out of an entity what is not it.")(curating.split_entity)
app.command("rename", short_help="Call an entity by another name.")(curating.rename_entity)
app.command("forbid", short_help="Keep entities apart.")(curating.forbid_merge)
app.command("undo", short_help="Take back what was decided about names.")(curating.undo_operation)
app.command("operations", short_help="List what was decided about names.")(curating.list_operations)
app.command("draw", short_help="Draw the communities: a picture, or a page to look around in.")(graphs.draw_index)
app.command("import", short_help="Make an index of the tables of one made elsewhere.")(graphs.import_index)
app.command("export", short_help="Write the index as tables, CSV, GraphML, Cypher or JSON.")(graphs.export_index)
app.command("push", short_help="Write the graph into a database of Neo4j.")(serving.push_index)
app.command("pull", short_help="Write a graph of Neo4j as tables that can be imported.")(serving.pull_tables)
app.command("mcp", short_help="Offer a corpus to assistants as tools (MCP).")(serving.serve_tools)
app.command("serve", short_help="Serve corpora over HTTP: a page, an API, MCP.")(serving.serve_corpora)
app.command("methods", short_help="List the methods.")(asking.list_methods)
app.add_typer(evaluate.app, name="evaluate", short_help="Compare methods by answers, or by judged documents.")
app.command(short_help="Measure tables of papers, beside what was published.")(repro.repro)
app.add_typer(tune.app, name="tune", short_help="Fine-tune a model: data, training, serving.")


def main() -> None:
    """Run the command line with the arguments of this process."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character shows its number
    app(prog_name="sensegraph")


__all__ = ["app", "main"]
