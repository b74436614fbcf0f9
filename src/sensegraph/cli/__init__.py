"""The command line: `sensegraph COMMAND`. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from sensegraph import __version__
from sensegraph.cli import asking, browsing, configuring, curating, doctor, graphs, indexing, maintenance, serving
from sensegraph.cli.lab import evaluate, evaluate_questions, repro, tune, tune_prompts
from sensegraph.cli.old_names import replace_old_names
from sensegraph.cli.options import LIMIT_REACHED, print_message
from sensegraph.errors import BudgetExceeded, SensegraphError, Unapproved

HELP = """Ask questions about a collection of documents and get answers that cite the exact sentence.

Works offline, or with any OpenAI-compatible model. Begin with: sensegraph demo"""

_ORDER = "init index query search show entities documents graph status config doctor serve mcp eval tune".split()
_LAST = ("Filters", "Time", "Cost", "Output", "Corpus and settings")  # headings, after the options of the command
_WORDS = "sensegraph.words"  # where a context keeps what the command line said


class Commands(TyperGroup):
    """The commands. A failure that is foreseen ends in one sentence on stderr and status 1; Ctrl-C in status 130."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Replace old names, and keep the words too, to run them once more."""
        words, messages = replace_old_names(move_command_first(self, ctx, args))
        if not ctx.resilient_parsing:  # as while a shell completes a line
            for message in messages:
                print_message(message)
        ctx.meta[_WORDS] = list(words)
        return super().parse_args(ctx, words)

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands in the order in which people meet them."""
        return sorted(super().list_commands(ctx), key=lambda name: _ORDER.index(name) if name in _ORDER else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return self._approved(ctx)
        except SensegraphError as e:
            print_message(str(e))
            raise typer.Exit(LIMIT_REACHED if isinstance(e, BudgetExceeded) else 1) from e
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


class SectionedCommand(TyperCommand):
    """A command whose help lists options under the headings that they name."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options of the command alone, then those of each heading."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], **{name: [] for name in _LAST}}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections[getattr(parameter, "rich_help_panel", None) or usual].append(record)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def move_command_first(group: TyperGroup, ctx: Any, args: list[str]) -> list[str]:
    """The words with the command before the options that stand before it, as in `documents --root DIR purge`.

    Options of the group itself stay where they are. What follows an option that takes a value is no command.
    """
    own = {*ctx.help_option_names, *(name for p in group.params for name in p.opts)}
    if not args or not args[0].startswith("-") or args[0].partition("=")[0] in own:
        return args
    takes_value = dict[str, bool]()
    for command in _list_commands_below(group):
        for p in command.params:
            takes_value |= {name: not getattr(p, "is_flag", False) for name in (*p.opts, *p.secondary_opts)}
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] != "--":
        at += 2 if takes_value.get(args[at]) else 1
    return args if args[at : at + 1] in ([], ["--"]) else [args[at], *args[:at], *args[at + 1 :]]


def _list_commands_below(group: TyperGroup) -> Iterator[Any]:
    for command in group.commands.values():
        yield from _list_commands_below(command) if isinstance(command, TyperGroup) else (command,)


class OrderedGroup(TyperGroup):
    """A group whose commands may be named behind their options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command first, unless a shell completes the words."""
        return super().parse_args(ctx, args if ctx.resilient_parsing else move_command_first(self, ctx, args))


class ListingGroup(OrderedGroup):
    """A group that runs its command `usual` where none is named."""

    usual = "list"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the usual command where the words name none and ask for no help, unless a shell completes them."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        args = move_command_first(self, ctx, args)
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = [self.usual, *args]
        return super().parse_args(ctx, args)


class ShowGroup(ListingGroup):
    """The group `show`, which lists the reports where nothing is named."""

    usual = "reports"


class EvaluationGroup(evaluate.PlanGroup, OrderedGroup):
    """The group `eval`, for which a plan stands for `run` with it."""


class ConfigGroup(ListingGroup):
    """The group `config`, which shows the settings where no command is named."""

    usual = "show"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sensegraph {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
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


def _make_group(parent: typer.Typer, name: str, text: str, kind: type[TyperGroup]) -> typer.Typer:
    group = typer.Typer(cls=kind, help=text, no_args_is_help=kind is OrderedGroup)
    group.callback()(lambda: None)
    parent.add_typer(group, name=name, help=text, short_help=text)
    return group


def _add_command(
    group: typer.Typer, name: str, run: Callable[..., None], short_help: str = "", *, hidden: bool = False
) -> None:
    group.command(name, cls=SectionedCommand, short_help=short_help, hidden=hidden)(run)


_add_command(app, "init", maintenance.set_up_folder, "Prepare a folder: settings, prompts, input.")
_add_command(app, "demo", maintenance.run_demo, hidden=True)
_add_command(app, "index", indexing.index_documents, "Add or update documents and build the index.")
_add_command(app, "query", asking.query_corpus, "Answer a question, with citations (also: ask).")
_add_command(app, "ask", asking.query_corpus, hidden=True)
_add_command(app, "search", asking.search_corpus, "Show the evidence for a question, without an answer.")

show_group = _make_group(app, "show", "Browse the index: reports, entities, time, methods.", ShowGroup)
_add_command(show_group, "reports", browsing.browse_reports, "List the reports, or read one down to its sources.")
_add_command(show_group, "report", browsing.browse_reports, hidden=True)
_add_command(show_group, "entity", browsing.browse_entity, "Show an entity: description, relations, sources.")
_add_command(show_group, "timeline", browsing.show_timeline, "Show the dated statements on an entity.")
_add_command(show_group, "changes", browsing.show_changes, "Show what changed between two moments.")
_add_command(show_group, "methods", asking.list_methods, "List the retrieval methods.")

entities = _make_group(app, "entities", "List entities; find and merge duplicates.", ListingGroup)
_add_command(entities, "list", browsing.list_entities, "List the entities, those with most neighbours first.")
_add_command(entities, "show", browsing.browse_entity, "Show an entity: description, relations, sources.")
_add_command(entities, "duplicates", curating.resolve_entities, "Find duplicate entities and explain each match.")
_add_command(entities, "merge", curating.merge_entities, "Merge entities.")
_add_command(entities, "split", curating.split_entity, "Split an entity: move aliases or documents to a new one.")
_add_command(entities, "rename", curating.rename_entity, "Rename an entity.")
_add_command(entities, "keep-apart", curating.forbid_merge, "Never merge these entities.")
_add_command(entities, "log", curating.list_operations, "Show the edit log.")
_add_command(entities, "undo", curating.undo_operation, "Undo a merge, split or rename.")

documents = _make_group(app, "documents", "List, read and remove documents; find personal data.", ListingGroup)
_add_command(documents, "list", browsing.list_documents, "List the documents.")
_add_command(documents, "show", browsing.show_document, "Print the text of a document.")
_add_command(documents, "remove", indexing.remove_documents, "Remove documents from the index.")
_add_command(documents, "pii", maintenance.report_personal_data, "Report personal data in documents.")
_add_command(documents, "purge", maintenance.collect_garbage, "Delete unreferenced data from the store.")

graph = _make_group(app, "graph", "Query, draw, export and import the graph.", OrderedGroup)
_add_command(graph, "query", graphs.match_pattern, "Find what matches a pattern (a subset of Cypher).")
_add_command(graph, "draw", graphs.draw_index, "Draw the communities: a picture, or an HTML page.")
_add_command(graph, "export", graphs.export_index, "Write the index as tables, CSV, GraphML, Cypher or JSON.")
_add_command(graph, "import", graphs.import_index, "Make an index of the tables of another one.")
_add_command(graph, "push", serving.push_index, "Write the graph into a database of Neo4j.")
_add_command(graph, "pull", serving.pull_tables, "Write a graph of Neo4j as tables that can be imported.")

_add_command(app, "status", indexing.show_status, "Show what the corpus holds and has cost.")

config = _make_group(app, "config", "Show, change and check settings.", ConfigGroup)
_add_command(config, "show", configuring.show_settings, "Show the settings that differ from the defaults.")
_add_command(config, "get", configuring.get_setting, "Print one setting.")
_add_command(config, "set", configuring.set_setting, "Write a setting into the settings file.")
_add_command(config, "check", configuring.check_settings, "Check the settings file and the environment.")
_add_command(config, "schema", configuring.print_schema, "Print the JSON schema of the settings.")
_add_command(config, "presets", configuring.show_presets, "Show the settings that papers chose, beside ours.")

_add_command(app, "doctor", doctor.diagnose, "Check this installation, the corpus and the endpoint.")
_add_command(app, "serve", serving.serve_corpora, "Serve corpora over HTTP: a page, an API, MCP.")
_add_command(app, "mcp", serving.serve_tools, "Offer a corpus to assistants as tools (MCP).")

evaluation = _make_group(app, "eval", evaluate.HELP, EvaluationGroup)
_add_command(evaluation, "run", evaluate.run_evaluation, "Compare methods by their answers, as a plan says.")
_add_command(evaluation, "retrieval", evaluate.measure_retrieval, "Compare methods by the documents that they find.")
_add_command(evaluation, "questions", evaluate_questions.make_questions, "Make questions to measure with.")
_add_command(evaluation, "papers", repro.reproduce_paper, "Measure tables of papers beside what was published.")

tuning = _make_group(app, "tune", "Fit prompts to a corpus; fine-tune a model.", OrderedGroup)
_add_command(tuning, "prompts", tune_prompts.tune_prompts, "Fit the prompts to a corpus, with a model.")
_add_command(tuning, "data", tune.make_training_data, "Make training data from a corpus with questions.")
_add_command(tuning, "train", tune.train_model, "Train a model on examples; resumes where it was stopped.")
_add_command(tuning, "merge", tune.merge_model, "Write a tuned model as one folder of weights.")
_add_command(tuning, "eval", tune.evaluate_models, "Ask models the questions of an evaluation file.")
_add_command(tuning, "serve", tune.serve_model, "Serve a local model as an endpoint.")
_add_command(tuning, "compare", tune.run_factorial, "Compare base and tuned model over chunks and summaries.")
_add_command(tuning, "sample", tune.write_world, "Create a toy dataset and a tiny model.")


def main() -> None:
    """Run the command line with the arguments of this process."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character shows its number
    gc.set_threshold(10_000)  # new objects: from 700 on, what modules are made of is looked through again and again
    atexit.register(gc.freeze)  # what is left then goes with the process, and need not be looked through for cycles
    app(prog_name="sensegraph")


__all__ = ["app", "main"]
