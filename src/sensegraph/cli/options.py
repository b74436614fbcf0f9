"""Options that several commands share, and how a command opens its corpus."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from sensegraph.cli.progress import show_progress
from sensegraph.corpus.views import SCHEMA
from sensegraph.models.endpoint.endpoint_settings import mask_urls

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.settings import Settings
    from sensegraph.documents import Skipped


ROOT_VARIABLE = "SENSEGRAPH_ROOT"  # the environment variable that names the corpus's folder


def _check_engine(name: str | None) -> str | None:
    """The engine's name as given. Raises BadParameter, with the nearest, for one that nobody knows."""
    if name is not None and name not in ("auto", "offline", "model", "local"):
        from sensegraph.corpus.settings import ENGINES, describe_choices

        if name not in ENGINES.known():
            raise typer.BadParameter(f"the engine cannot be {describe_choices(name, ENGINES.known())}")
    return name


# the headings under which help lists options
FILTERS, TIME, COST, OUTPUT, SETUP = "Filters", "Time", "Cost", "Output", "Corpus and settings"

Root = Annotated[
    Path,
    typer.Option("--root", "-C", envvar=ROOT_VARIABLE, show_envvar=False, metavar="DIR", help="The corpus's folder.",
                 show_default="SENSEGRAPH_ROOT, else this folder", rich_help_panel=SETUP),
]  # fmt: skip
Engine = Annotated[
    str | None,
    typer.Option("--engine", callback=_check_engine, metavar="NAME", help="auto, offline, model, local, or a plug-in.",
                 rich_help_panel=SETUP),
]  # fmt: skip
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting for this run, as in --set index.chunk_tokens=400.",
                 rich_help_panel=SETUP),
]  # fmt: skip
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Approve the endpoint or model that the settings file names, for this run.",
                 rich_help_panel=SETUP),
]  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=OUTPUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no counts.", rich_help_panel=OUTPUT)]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", min=1, metavar="N", help="Stop at this number of tokens.", rich_help_panel=COST),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", min=0.0, metavar="USD", help="Stop at this cost in USD (requires prices).",
                 rich_help_panel=COST),
]  # fmt: skip
Wait = Annotated[
    float,
    typer.Option("--wait", min=0.0, metavar="SECONDS", help="How long to wait for another build's end.",
                 rich_help_panel=SETUP),
]  # fmt: skip
ExitCode = Annotated[
    bool,
    typer.Option("--exit-code", help="End with 3 where nothing is found, 4 where a check fails.",
                 rich_help_panel=OUTPUT),
]  # fmt: skip
Limit = Annotated[
    int,
    typer.Option("--limit", "-n", min=1, metavar="N", help="Rows of each list, at most; --json gives all.",
                 rich_help_panel=OUTPUT),
]  # fmt: skip
Paths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH", readable=False, help="Files and folders (default: input/)."),
]  # one that may not be read is skipped by name, like one inside a folder

HERE = Path(".")
NOTHING_FOUND, CHECK_FAILED, LIMIT_REACHED = 3, 4, 5  # statuses besides 0, 1, 2 and 130
_NAMED = 20  # skipped files that are named one by one
# what steers a terminal or turns the direction of what follows; marks of direction that reach no farther may stay
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_WORD = re.compile(r"[^\W\d][\w./:@-]*")


def show_controls(text: str) -> str:
    """`text` with the characters that steer a terminal written as escapes, such as `\\x1b` and `\\u202e`."""
    return _CONTROL.sub(
        lambda m: m[0].encode("ascii", "backslashreplace").decode() if m[0] > "\x7f" else f"\\x{ord(m[0]):02x}",
        text.replace("\r\n", "\n"),
    )


def print_message(message: str) -> None:
    """One message on stderr."""
    typer.echo(show_controls(message), err=True)


def print_text(text: str) -> None:
    """What was asked for, on stdout, for people."""
    typer.echo(show_controls(text))


def print_piece(text: str) -> None:
    """A piece of an answer, on stdout, while it is written."""
    typer.echo(show_controls(text), nl=False)


def print_json(value: Mapping[str, Any]) -> None:
    """What was asked for, on stdout, for programs: one object on one line, with escapes where stdout is not UTF-8.

    Its first member is the number of its schema.
    """
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    written = json.dumps({"schema": SCHEMA, **value}, ensure_ascii=not utf8)
    typer.echo(_CONTROL.sub(lambda m: f"\\u{ord(m[0]):04x}", written))  # the same value, shown and not executed


def read_overrides(
    pairs: Sequence[str] | None,
    engine: str | None = None,
    max_tokens: int | None = None,
    max_cost: float | None = None,
    *,
    trust: bool = False,
) -> dict[str, Any]:
    """The settings that the environment and, laid over it, the flags of one command give, as nested tables."""
    from sensegraph.cli.variables import tables_of_variables
    from sensegraph.corpus.settings import lay_tables, read_environment

    given = tables_of_variables(read_environment(), parse_value)
    return lay_tables(given, read_flags(pairs, engine, max_tokens, max_cost, trust=trust))


def read_flags(
    pairs: Sequence[str] | None,
    engine: str | None = None,
    max_tokens: int | None = None,
    max_cost: float | None = None,
    *,
    trust: bool = False,
) -> dict[str, Any]:
    """The settings that the flags of one command give, as nested tables."""
    given: dict[str, Any] = {"trust": True} if trust else {}
    flags = {"engine": engine, "endpoint.max_tokens_total": max_tokens, "endpoint.max_cost_usd": max_cost}
    named = [(name, value) for name, value in flags.items() if value is not None]
    for name, value in (*named, *map(_parse_setting, pairs or ())):
        *tables, last = name.split(".")
        place = given
        for table in tables:
            place = place.setdefault(table, {})
            if not isinstance(place, dict):
                raise typer.BadParameter(f"{name} stands inside {table}, which has been given a value.")
        place[last] = value
    return given


def _parse_setting(text: str) -> tuple[str, Any]:
    """`key.sub=value`: the value in TOML's syntax, or a bare word, which is a string."""
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not _NAME.fullmatch(name):
        raise typer.BadParameter(
            f"--set {mask_urls(text)!r} is not of the form key=value, such as --set index.chunk_tokens=400."
        )
    try:
        return name, parse_value(value)
    except tomllib.TOMLDecodeError as e:
        raise typer.BadParameter(
            f"--set {name}: {mask_urls(value)!r} is no TOML value; quote a text: {name}='\"…\"'."
        ) from e


def parse_value(text: str) -> Any:
    """A value in TOML's syntax, or a bare word, which is a string. Raises TOMLDecodeError for what is neither."""
    bare = _WORD.fullmatch(text) and text not in ("true", "false", "inf", "nan")
    table = {"value": text} if bare else tomllib.loads(f"value = {text}")
    if len(table) > 1:
        raise tomllib.TOMLDecodeError("more than one value")
    return table["value"]


def open_settled(
    root: Path,
    settings: Settings,
    *,
    readonly: bool = False,
    progress: Callable[[str, int, int], None] = lambda step, done, total: None,
) -> Corpus:
    """The corpus at `root` under settings that have been read already."""
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.settings import FOLDER
    from sensegraph.corpus.tools import make_store

    return Corpus(root, settings, make_store(settings, root / FOLDER, readonly=readonly), progress)


def skip_progress(step: str, done: int, total: int) -> None:
    """No progress."""


@contextmanager
def open_corpus(
    root: Path,
    given: Mapping[str, Any],
    *,
    progress: Callable[[str, int, int], None] = skip_progress,
    create: bool = False,
) -> Iterator[Corpus]:
    """The corpus of this command, with the settings that were `given` as flags laid over its file.

    A folder that this made, and that no document came into, goes again. Where the index lacks something, the commands
    that the error names are for this root.
    """
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.settings import FOLDER, Settings, convert_settings
    from sensegraph.errors import NotIndexed

    convert_settings(given, Settings, "command line")  # so that a mistake in a flag is not blamed on the file
    made = [p for p in (root / FOLDER, root) if not p.exists()] if create else []
    with Corpus.open(root, settings=given, progress=progress, create=create, mend=create) as corpus:
        try:
            yield corpus
        except NotIndexed as e:
            flag = format_root_flag(root)
            named = re.sub(r"`(sensegraph [^`]*)`", lambda m: f"`{m[1]}{flag}`", str(e))
            raise NotIndexed(named) from e
        finally:
            empty = not corpus.document_keys()
            corpus.close()
            if empty and made:
                rmtree(made[0])
                for folder in made[1:]:  # the root, where nothing else is in it
                    if not any(folder.iterdir()):
                        folder.rmdir()


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One run of a command: the options that most commands share; those that a command has not, say nothing."""

    root: Root = HERE
    engine: Engine = None
    wait: Wait = 0.0
    max_tokens: MaxTokens = None
    max_cost: MaxCost = None
    quiet: Quiet = False
    as_json: Json = False
    settings: Set = None
    trust: Trust = False

    def overrides(self) -> dict[str, Any]:
        """The settings that the flags give, as nested tables."""
        return read_overrides(self.settings, self.engine, self.max_tokens, self.max_cost, trust=self.trust)

    @contextmanager
    def corpus(self, *, create: bool = False, indexed: bool = False, silent: bool = False) -> Iterator[Corpus]:
        """The corpus; with progress, unless `silent`. Raises NotIndexed where it is to be `indexed` and is not."""
        with (
            show_progress(silent or self.quiet) as report,
            open_corpus(self.root, self.overrides(), progress=report, create=create) as corpus,
        ):
            corpus.wait = self.wait
            if indexed:
                require_index(corpus, self.root)
            yield corpus

    def print_result(self, view: Callable[[], Any], text: Callable[[], str]) -> None:
        """Print what was found or done: for programs with --json, else for people, unless they want no counts."""
        if self.as_json:
            print_json(view())
        elif not self.quiet:
            print_text(text())


def with_options(order: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command its options in this order: those of CommandRun by their names, and `*` for its other ones.

    A parameter whose type is a dataclass, such as `run: CommandRun`, stands for the fields of that, each an option.
    """

    def list_options(source: Any) -> dict[str, Parameter]:
        found, types = dict[str, Parameter](), get_type_hints(source, include_extras=True)
        for name, p in signature(source).parameters.items():
            own = p.replace(kind=Parameter.KEYWORD_ONLY, annotation=types[name])
            found |= list_options(types[name]) if is_dataclass(types[name]) else {name: own}
        return found

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        known, named = list_options(command), order.split()
        own = [name for name in known if name not in (*named, *CommandRun.__dataclass_fields__)]
        groups: dict[str, Any] = {n: kind for n, kind in get_type_hints(command).items() if is_dataclass(kind)}

        @wraps(command)
        def run_command(**given: Any) -> None:
            for name, kind in groups.items():
                given[name] = kind(**{f.name: given.pop(f.name) for f in fields(kind) if f.name in given})
            command(**given)

        chosen = [name for word in named for name in (own if word == "*" else [word])]
        run_command.__signature__ = Signature([known[name] for name in chosen])  # type: ignore[attr-defined]
        run_command.__annotations__ = {}  # all is said by the signature
        return run_command

    return decorate


def limit_rows(lines: Sequence[str], limit: int) -> list[str]:
    """The first lines of a list, and how many more there are."""
    more = len(lines) - limit
    return [*lines[:limit], *[f"… and {more:,} more (--limit, --json)"] * (more > 0)]


def format_root_flag(root: Path) -> str:
    """` --root DIR` as a command that is shown needs it; nothing for the current folder."""
    return "" if root == Path(".") else f" --root {shlex.quote(str(root))}"


def find_record_files(corpus: Corpus, documents: Iterable[str]) -> dict[str, str]:
    """What says where a document is from: the file that it is one record of, or its title where its name is a hash."""
    from sensegraph.corpus.views import find_document_titles
    from sensegraph.corpus.workspace import ORIGIN
    from sensegraph.documents.document_files import RECORDS

    places = {name: corpus.store.ref(ORIGIN + name) or "" for name in documents}
    files = {n: Path(p).name for n, p in places.items() if Path(p).suffix.lower() in RECORDS and Path(p).name not in n}
    return files | find_document_titles(places, corpus.index())


def require_index(corpus: Corpus, root: Path) -> None:
    """Raise NotIndexed, with the command that helps, where documents wait and no build has finished."""
    from sensegraph.errors import NotIndexed
    from sensegraph.index.manifest import REF

    if not corpus.store.ref(REF) and (waiting := len(corpus.document_keys())):
        raise NotIndexed(explain_missing_index(waiting, bool(corpus.store.ledger()), root))


def explain_missing_index(waiting: int, begun: bool, root: Path) -> str:
    """What is said of documents without an index."""
    them = "1 document waits" if waiting == 1 else f"{waiting:,} documents wait"
    state = "a build was begun and has not finished" if begun else "no build has finished"
    return f"{them} to be indexed: {state}; run: sensegraph index{format_root_flag(root)}"


def choose_paths(paths: Sequence[Path] | None, root: Path) -> list[Path]:
    """The paths to read: those given, or `input/` under the root, unless it is missing or was never used."""
    if paths:
        return list(paths)
    place = root / "input"
    if not place.is_dir():
        return []
    if place.is_symlink() and not place.resolve().is_relative_to(root.resolve()):
        from sensegraph.errors import InputError

        raise InputError(f"{place} is a link that leads to {place.resolve()}; name that as a path to read it.")
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.settings import FOLDER, load_settings
    from sensegraph.corpus.tools import has_store

    with suppress(OSError):  # one that may not be listed is named where it is read
        if not any(not p.name.startswith(".") for p in place.iterdir()) and has_store(
            load_settings(root), root / FOLDER
        ):
            with Corpus.open(root, create=False) as corpus:  # which may have documents, all of them from elsewhere
                if corpus.document_keys() and not corpus.mirror.find_missing([place], ()):
                    return []
    return [place]


def report_skipped(skipped: Sequence[Skipped]) -> None:
    """Name on stderr what was skipped."""
    for item in skipped[:_NAMED]:
        print_message(f"skipped {item.path}: {item.reason}".replace("\n", "\\n"))
    if len(skipped) > _NAMED:
        print_message(f"skipped {len(skipped) - _NAMED} more; --json names all of them")
