"""The command line: `sensegraph COMMAND`. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sensegraph import __version__
from sensegraph.cli.approving import ask_approval
from sensegraph.cli.ask import ask, browse, history, match
from sensegraph.cli.corpus import build, collect, personal, start, watch
from sensegraph.cli.graph import curate, draw, interchange
from sensegraph.cli.lab import evaluate, repro, tune_prompts, tune_training
from sensegraph.cli.options import say
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
            say(str(e))
            raise typer.Exit(1) from e
        except KeyboardInterrupt as e:
            say("stopped; run the same command to resume")
            raise typer.Exit(130) from e
        except BrokenPipeError:
            raise  # the reader has gone: there is nobody to tell
        except OSError as e:
            say(f"{e.filename or 'A file'} cannot be used ({e.strerror or e}); check that it may be read and written.")
            raise typer.Exit(1) from e

    def _approved(self, ctx: Any) -> Any:
        """Run the command, and run it again where the user approves on the terminal what it was refused for."""
        try:
            return super().invoke(ctx)
        except Unapproved as e:
            if not ask_approval(e):
                raise
        with self.make_context(ctx.info_name, ctx.meta[_WORDS], parent=ctx.parent) as again:
            return self._approved(again)


def _version(wanted: bool) -> None:
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
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Options that stand before a command."""


app.command(short_help="Index a bundled book offline and ask what it is about.")(start.demo)
app.command(short_help="Prepare a folder: settings, prompts, input.")(start.init)
app.command(short_help="Fit the prompts to a corpus, with a model.")(tune_prompts.tune_prompts)
app.command(short_help="Add or update documents and build the index.")(build.index)
app.command(short_help="Keep the index up to date with its files.")(watch.watch)
app.command(short_help="Say what `index` would compute and cost.")(build.estimate)
app.command(short_help="Report personal data in documents.")(personal.personal)
app.command(short_help="Remove documents from the index.")(build.remove)
app.command(short_help="Remove what the index no longer needs.")(collect.collect)
app.command(short_help="Answer a question, with citations.")(ask.query)
app.command(short_help="Show the evidence for a question, without an answer.")(ask.search)
app.command(short_help="Show what the corpus holds and has cost.")(build.status)
app.command(short_help="List the reports, or read one down to its sources.")(browse.reports)
app.command(short_help="Show all that is known of an entity.")(browse.entity)
app.command(short_help="Find what matches a pattern in the graph.")(match.match)
app.command(short_help="Show what is said of an entity, in the order of time.")(history.timeline)
app.command(short_help="Show what changed between two moments.")(history.changes)
app.command(short_help="Find entities that are one thing under different names.")(curate.resolve)
app.command(short_help="Make entities one.")(curate.merge)
app.command(short_help="Take out of an entity what is not it.")(curate.split)
app.command(short_help="Call an entity by another name.")(curate.rename)
app.command(short_help="Keep entities apart.")(curate.forbid)
app.command(short_help="Take back what was decided about names.")(curate.undo)
app.command(short_help="List what was decided about names.")(curate.operations)
app.command(short_help="Draw the communities: a picture, or a page to look around in.")(draw.draw)
app.command("import", short_help="Make an index of the tables of one made elsewhere.")(interchange.import_tables)
app.command(short_help="Write the index as tables, CSV, GraphML, Cypher or JSON.")(interchange.export)
app.command(short_help="List the methods.")(ask.methods)
app.add_typer(evaluate.app, name="evaluate", short_help="Compare methods by answers, or by judged documents.")
app.command(short_help="Measure tables of papers, beside what was published.")(repro.repro)
app.add_typer(tune_training.app, name="tune", short_help="Fine-tune a model: data, training, serving.")


def main() -> None:
    """Run the command line with the arguments of this process."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character shows its number
    app(prog_name="sensegraph")


__all__ = ["app", "main"]
