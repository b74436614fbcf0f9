"""Commands that ask: query, search, show methods; with their options, and what `query --check` prints."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sensegraph.cli import show
from sensegraph.cli.options import (
    CHECK_FAILED,
    FILTERS,
    NOTHING_FOUND,
    TIME,
    CommandRun,
    ExitCode,
    Limit,
    find_record_files,
    limit_rows,
    print_message,
    print_piece,
    with_options,
)
from sensegraph.corpus import views
from sensegraph.errors import InputError, NotIndexed
from sensegraph.questions import Condition, Scope
from sensegraph.types import Turn

if TYPE_CHECKING:
    from sensegraph.answering.grounding.checking import Checked
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.types import Answer

_TEST = re.compile(r"\s*([^=!<>]+?)\s*(!=|<=|>=|=|<|>)\s*((?![=!<>]).*?)\s*")
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}([T ]\d{2}(:\d{2}(:\d{2}(\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_SAID = {
    "unsupported": "not supported",
    "dangling": "dangling citation",
    "misquoted": "not the source's words",
    "speaker": "unattributed speaker",
}

Question = Annotated[str | None, typer.Argument(metavar="QUESTION", help="What is asked.", show_default=False)]
AlsoQuestion = Annotated[
    str | None, typer.Option("--query", metavar="QUESTION", help="The question, in place of the argument.", hidden=True)
]
MethodName = Annotated[
    str, typer.Option("--method", "-m", metavar="NAME", help="One of `sensegraph show methods`, or auto.")
]


# ── which documents may be read, and the conversation before a question ──


@dataclass(frozen=True, slots=True)
class ScopeOptions:
    """Which documents may be read, and when facts must hold. Both methods raise BadParameter for what is unreadable."""

    documents: Annotated[
        list[str] | None,
        typer.Option(
            "--document",
            metavar="GLOB",
            help="Restrict to documents matching this glob (repeatable).",
            rich_help_panel=FILTERS,
        ),
    ] = None
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--where", metavar="TEST", help="Filter by metadata, e.g. year>=2020 (repeatable).", rich_help_panel=FILTERS
        ),
    ] = None
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DATE", help="Only documents of this date or later.", rich_help_panel=FILTERS),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(
            "--until", metavar="DATE", help="Only documents of this date or earlier.", rich_help_panel=FILTERS
        ),
    ] = None
    known_at: Annotated[
        str | None,
        typer.Option(
            "--known-at", metavar="DATE", help="Only documents that were indexed by this date.", rich_help_panel=FILTERS
        ),
    ] = None
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="DATE", help="Use only facts valid on this date.", rich_help_panel=TIME),
    ] = None
    during: Annotated[
        str | None,
        typer.Option("--during", metavar="FROM/TO", help="Use only facts valid in this period.", rich_help_panel=TIME),
    ] = None
    unknown: Annotated[
        Literal["include", "exclude"],
        typer.Option("--unknown", metavar="include|exclude", help="Include undated facts.", rich_help_panel=TIME),
    ] = "include"  # fmt: skip

    def read_filter(self) -> Scope:
        """The filter of documents."""
        conditions = tuple(map(_parse_condition, self.metadata or ()))
        since = _check_date(self.since, "--since", _is_calendar_date)
        until = _check_date(self.until, "--until", _is_calendar_date)
        return Scope(tuple(self.documents or ()), conditions, since, until)

    def add_times(self, scope: Scope) -> Scope:
        """The filter with the time that facts must hold at; of two times, or none for --unknown, there is an error."""
        from sensegraph.index.restricted.moment import ends_before_it_begins
        from sensegraph.language.dates.moments import is_readable

        during = self.during
        if self.as_of and during:
            raise typer.BadParameter("--as-of asks for one moment and --during for a stretch: choose one.")
        if self.unknown == "exclude" and not (self.as_of or during or self.known_at):
            raise typer.BadParameter("--unknown says what to do with facts without a date: name a time with --as-of.")
        first, slash, last = (during or "").partition("/")
        if during and not (slash and (first or last)):
            raise typer.BadParameter(f"--during {during!r} is no stretch such as 2015/2018, 2015/ or /2018.")
        flags = {"--as-of": self.as_of, "--known-at": self.known_at}
        as_of, known_at = (_check_date(moment, flag, is_readable) for flag, moment in flags.items())
        between = (_check_date(first, "--during", is_readable), _check_date(last, "--during", is_readable))
        if ends_before_it_begins(first, last):
            raise typer.BadParameter(f"--during {during!r} ends before it begins: give the earlier moment first.")
        return replace(scope, as_of=as_of, between=between, known_at=known_at, unknown=self.unknown)


def _check_date(text: str | None, flag: str, is_date: Callable[[str], bool]) -> str:
    if text and not is_date(text):
        raise typer.BadParameter(f"{flag} {text!r} is no ISO date such as 2023, 2023-05 or 2023-05-17.")
    return text or ""


def _is_calendar_date(text: str) -> bool:
    """Whether a text is a date or a time whose day the calendar has."""
    if not _DATE.fullmatch(text):
        return False
    year, month, day = (*map(int, text[:10].split("-")), 1, 1)[:3]
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _parse_condition(text: str) -> Condition:
    found = _TEST.fullmatch(text)
    if not found:
        raise typer.BadParameter(f"--where {text!r} is no test such as year>=2020, author=Ann or lang!=de.")
    value: str | int | float | bool = found[3]  # a number or a truth value where the text is one
    if found[3].casefold() in ("true", "false"):
        value = found[3].casefold() == "true"
    elif _NUMBER.fullmatch(found[3]):
        value = int(found[3]) if re.fullmatch(r"[+-]?\d+", found[3]) else float(found[3])
    return Condition(found[1], found[2], value)


def read_history(path: Path | None) -> tuple[Turn, ...]:
    """The conversation in a file of JSON lines. Raises InputError that names the line that cannot be read."""
    import msgspec

    found = list[Turn]()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path else (), 1):
        try:
            found += [msgspec.json.decode(line, type=Turn)] if line.strip() else []
        except msgspec.MsgspecError as e:
            raise InputError(f'{path}, line {number}: not of the form {{"question": "…", "answer": "…"}} ({e}).') from e
    return tuple(found)


# ── the commands ──


@with_options("* max_tokens max_cost as_json exit_code root engine settings trust")
def query_corpus(
    run: CommandRun,
    question: Question = None,
    *,
    also: AlsoQuestion = None,
    method: MethodName = "auto",
    depth: Annotated[
        int | None, typer.Option("--depth", min=0, metavar="N", help="Depth of the reports to read: 0 is the coarsest.")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=0, metavar="TOKENS", help="Tokens of reports to read, at most; 0: all."),
    ] = None,
    scope: ScopeOptions,
    history: Annotated[
        Path | None,
        typer.Option("--history", metavar="FILE", help='The conversation before: lines {"question": …, "answer": …}.'),
    ] = None,
    chat: Annotated[
        bool, typer.Option("--chat", help="Read questions from stdin, a line each, and keep the conversation.")
    ] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Print the answer while it is written.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Verify each statement against its citations.")] = False,
    exit_code: ExitCode = False,
) -> None:
    """Answer a question about the documents, with citations that lead to the exact span of the source.

    What the method needs and the index lacks is built first where that costs nothing; else it is estimated and named.
    """
    if stream and run.as_json:
        raise typer.BadParameter("--stream prints text as it is written and --json one object at the end: choose one.")
    first = None if chat and question is None and also is None else _choose_question(question, also)
    asking = _Asking(run, method, {"depth": depth, "report_tokens": budget}, stream, check)
    documents, turns = scope.read_filter(), read_history(history)
    within, status = scope.add_times(documents), 0
    with run.corpus(indexed=True, silent=stream) as corpus:
        build_missing_parts(corpus, method)
        for asked in chain([] if first is None else [first], _read_questions() if chat else []):
            answer, fails = asking.answer(corpus, asked, within, turns)
            turns = (*turns, Turn(asked, answer.text))
            status = NOTHING_FOUND if not answer.citations else CHECK_FAILED if fails else 0
    if exit_code and status:
        raise typer.Exit(status)


@dataclass(frozen=True, slots=True)
class _Asking:
    """How the questions of one run are asked and answers are printed."""

    run: CommandRun
    method: str
    bounds: dict[str, int | None]
    stream: bool
    check: bool

    def answer(self, corpus: Corpus, asked: str, scope: Scope, turns: tuple[Turn, ...]) -> tuple[Answer, bool]:
        """Answer a question and print it; the answer, and whether a check of it fails."""
        hear = print_piece if self.stream else None
        answer = corpus.query(asked, method=self.method, scope=scope, history=turns, hear=hear, **self.bounds)
        index, told, checks, fails = corpus.index(), dict[str, Any](), "", False
        if self.check:  # by the engine where it can, else by words
            before = corpus.engine.usage()
            found = corpus.check(answer, question=asked)
            usage = corpus.engine.usage() - before
            told = views.view_checks(found, usage)
            cost = f"\n- checking took {show.format_usage(usage)}" if usage.calls else ""
            checks, fails = f"\n\n{format_checks(found)}{cost}", bool(found.problems or found.unanswered)
        shown = replace(answer, text="") if self.stream else answer  # the text has been printed while it was written
        files = find_record_files(corpus, [c.document for c in answer.citations])
        self.run.print_result(
            lambda: views.view_answer(answer, index) | told, lambda: show.format_answer(shown, files) + checks
        )
        return answer, fails


def _read_questions() -> Iterator[str]:
    """The questions that are typed, or piped in, a line each, until the input ends; a terminal shows where to type."""
    while True:
        if sys.stdin.isatty():
            typer.echo("> ", nl=False, err=True)
        line = sys.stdin.readline()
        if not line:
            return
        if line.strip():
            yield line.strip()


def _choose_question(argument: str | None, option: str | None) -> str:
    """The question that was given in one of two ways. Raises BadParameter for both or none."""
    if argument is not None and option is not None:
        raise typer.BadParameter("the question is given twice, as an argument and with --query: choose one.")
    if argument is None and option is None:
        raise typer.BadParameter("the question is missing.")
    return argument or option or ""


def build_missing_parts(corpus: Corpus, name: str) -> None:
    """Build what the method of this name needs and the index lacks, where that costs nothing.

    Raises NotIndexed with an estimate where it costs. An index that was imported, or built by other tools than those
    of now, and one in a folder that cannot be written, stay as they are: asking says what they lack.
    """
    from sensegraph.methods import parts_needed

    made, readonly = corpus.manifest(), corpus.store.readonly
    if made is None or readonly or (name if name != "auto" else corpus.settings.method) == "auto":
        return
    method, _ = corpus.asker.method(name)
    lacking = sorted(parts_needed(method) - made.part_names)
    same = (made.engine, made.embedder) == (corpus.engine.name, corpus.embedder.name)
    if not lacking or not same or corpus.store.ref(f"interchange/{made.chunks}"):
        return
    found = corpus.builder.estimate_of(corpus.document_keys(), corpus.builder.index_settings(lacking))
    if found.calls or found.embedding_tokens:
        money = f", ${found.cost_usd:.2f}" if found.cost_usd else ""
        raise NotIndexed(
            f"{method.name} needs a part that this index lacks ({', '.join(lacking)}): about "
            f"{show.format_quantity(found.calls, 'call')}, {found.tokens:,} tokens{money}. Build it: "
            f"`sensegraph index --method {method.name}`."
        )
    print_message(f"building what {method.name} needs and this index lacks ({', '.join(lacking)}), without a model")
    corpus.build(parts=lacking)


@with_options("* as_json exit_code root engine settings trust")
def search_corpus(
    run: CommandRun,
    question: Question = None,
    *,
    also: AlsoQuestion = None,
    method: MethodName = "auto",
    limit: Limit = 10,
    scope: ScopeOptions,
    exit_code: ExitCode = False,
) -> None:
    """Show the evidence for a question, best first, without writing an answer."""
    asked, within = _choose_question(question, also), scope.add_times(scope.read_filter())
    with run.corpus(indexed=True) as corpus:
        build_missing_parts(corpus, method)
        found = corpus.search(asked, method=method, top=limit, scope=within)
        index = corpus.index()
        run.print_result(
            lambda: views.view_evidence(found, index),
            lambda: show.format_evidence(found, index, asked, find_record_files(corpus, found.documents)),
        )
    if exit_code and not found.passages:
        raise typer.Exit(NOTHING_FOUND)


@with_options("* as_json")
def list_methods(
    run: CommandRun,
    plugins: Annotated[
        bool, typer.Option("--plugins", help="List the plug-ins of every kind that are installed, with their origin.")
    ] = False,
    limit: Limit = 1000,
) -> None:
    """List the methods: name, paper, what each needs of an engine, and what it is good for; plug-ins last."""
    from sensegraph.methods import METHODS
    from sensegraph.plugins import list_plugins

    if plugins:
        every = list_plugins()
        lines = limit_rows(show.format_plugins(every).split("\n"), limit)
        run.print_result(lambda: views.view_plugins(every), lambda: "\n".join(lines))
        return
    found = [p for p in list_plugins("methods") if p.name not in METHODS]
    run.print_result(
        lambda: {"methods": views.view_methods(METHODS, found)},
        lambda: "\n\n".join(limit_rows(show.format_methods(METHODS, found).split("\n\n"), limit)),
    )


# ── what checks print ──


def format_checks(found: Checked) -> str:
    """The checks for people: what was checked by whom, the figures, and each problem."""
    lines = [f"Checks ({found.by})"]
    spans = f"- {found.exact:,} of {show.format_quantity(found.citations, 'quoted span')} read as in their documents"
    if found.abstained:
        nothing = ": there is nothing to check" if not found.citations else ", and cites what comes nearest"
        lines += [f"- the answer says that it has none{nothing}", *[spans] * bool(found.citations)]
    else:
        cited = found.statements - len(found.uncited)
        statements = show.format_quantity(found.statements, "statement")
        lines.append(f"- {statements}; {found.supported:,} of {cited:,} supported by their citations")
        if found.uncited:
            uncited = show.format_quantity(len(found.uncited), "statement")
            lines.append(f"- {uncited} without a source: “{show.shorten_line(found.uncited[0])}”")
        if found.unjudged:
            lines.append(f"- {show.format_quantity(found.unjudged, 'statement')} without a verdict")
        lines.append(spans)
        if found.recall is not None and found.precision is not None:
            lines.append(f"- citation recall {found.recall:.2f}, citation precision {found.precision:.2f}")
    lines += [f"! may answer another question\n  {reason}" for reason in found.unanswered]
    for p in found.problems:
        marks = "".join(m if m[:1] == "[" else f"[{m}]" for m in p.marks)
        lines.append(f"! {_SAID[p.kind]} {marks} “{show.shorten_line(p.statement)}”")
        lines += [f"  {p.reason}"] * bool(p.reason)
    return "\n".join(lines)
