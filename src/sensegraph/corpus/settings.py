"""Settings: `sensegraph.toml`, secrets from the environment, flags on top.

Every setting has an effect or is an error: an unknown key is refused with the nearest known one.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from sensegraph.corpus.tables import EmbeddingTable, ExecutorTable, Names, RerankTable, StoreTable
from sensegraph.documents.document_files import DocumentSettings
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.local.local_model import LocalSettings
from sensegraph.engines.offline.own_names import OfflineSettings
from sensegraph.errors import SettingsError
from sensegraph.extractions import Shortened
from sensegraph.index.parts import Part, known_parts, settings_type
from sensegraph.index.settings import IndexSettings, take_part_settings
from sensegraph.methods import ALIASES, METHODS, method_class
from sensegraph.models.endpoint import endpoint_settings
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings, is_this_machine
from sensegraph.personal.personal_settings import PersonalSettings
from sensegraph.runtime.database_address import PASSWORD, DatabaseAddress, is_database

T = TypeVar("T")

ENGINES = Names("engines", ("auto", "offline", "model", "local"))
Guarded = Literal[
    "chat", "embedding", "rerank", "vision", "local", "folder", "cross-encoder", "store", "cluster"
]  # what an approval may be needed for
FILE = "sensegraph.toml"
FOLDER = ".sensegraph"  # where a corpus keeps its store, inside its own folder
# Fields that say what something is, not how it works:
FIXED = ("name", "requires", "reads", "foreign", "part_settings", "part_objects")
_GUARDED = (
    *("endpoint.base_url", "endpoint.api_key_env", "endpoint.embedding_base_url", "endpoint.embedding_api_key_env"),
    *("endpoint.rerank_base_url", "endpoint.rerank_api_key_env", "endpoint.vision_base_url"),
    *("endpoint.vision_api_key_env", "local.model", "embedding.folder", "rerank.model"),
    *("store.url", "store.replica", "store.arrays", "executor.address"),
)
_LINKS = "documents.follow_links"
_LONGEST = 100_000  # bytes of a file of settings; the library takes the square of a name: 5 s of so many
_HEADERS = "endpoint.headers"
_GIVEN = "the argument settings"


@dataclass(frozen=True, slots=True, repr=False)
class Settings(Shortened):
    """Everything that can be set. `methods` holds one table a method, whose settings are the method's fields.

    `foreign` are the settings that need an approval because a file chose them, and the file of each; `trust`, which no
    file may set, approves them for one run.
    """

    engine: Annotated[str, ENGINES] = "auto"
    embedder: Annotated[str, Names("embedders", ("auto", "offline", "endpoint", "folder"))] = "auto"
    method: str = "auto"
    processes: int = 0
    chunker: Annotated[str, Names("chunkers", ("windows",))] = "windows"
    endpoint: EndpointSettings = field(default_factory=EndpointSettings)
    model: LLMSettings = field(default_factory=LLMSettings)
    local: LocalSettings = field(default_factory=LocalSettings)
    offline: OfflineSettings = field(default_factory=OfflineSettings)
    documents: DocumentSettings = field(default_factory=DocumentSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    embedding: EmbeddingTable = field(default_factory=EmbeddingTable)
    rerank: RerankTable = field(default_factory=RerankTable)
    store: StoreTable = field(default_factory=StoreTable)
    executor: ExecutorTable = field(default_factory=ExecutorTable)
    personal: PersonalSettings = field(default_factory=PersonalSettings)
    methods: dict[str, dict[str, Any]] = field(default_factory=dict)
    trust: bool = False
    foreign: dict[str, str] = field(default_factory=dict, compare=False)

    def method_settings(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of the method `name`: its table with what was `given` laid over it.

        Raises SettingsError for a method that nobody knows, a setting that it does not have, or one of the wrong type.
        """
        table = {**self.methods.get(ALIASES.get(name, name), {}), **given}
        convert_settings(table, method_class(name), f"method {name}")
        return table


@dataclass(frozen=True, slots=True)
class UserSettings:
    """The user's own settings file, outside every corpus: what is approved (see `approvals`), each with `true`."""

    trust: dict[str, bool] = field(default_factory=dict)


def load_settings(
    root: Path,
    overrides: Mapping[str, Any] | None = None,
    plan: Mapping[str, Any] | None = None,
    plan_file: str = "",
    parts: Sequence[Part[Any, Any]] = (),
) -> Settings:
    """The settings of the corpus at `root`; `overrides` are nested tables laid over the file, the user's own.

    Between them stands `plan`, the settings in another file, `plan_file`. What these two files choose may need an
    approval. `parts` are parts of an index that no installed package brings. Raises SettingsError for a file that is no
    TOML, an unknown key or a value of the wrong type, naming it.
    """
    path, given = root / FILE, overrides or {}
    files = {str(path): read_toml_tables(path), plan_file: plan or {}}
    table: dict[str, Any] = {}
    for place, found in files.items():
        if "trust" in found:
            raise SettingsError(f"{place}: trust cannot stand here, only on the command line or in your own program.")
        if holds_name(found, _LINKS) and found["documents"]["follow_links"] is True:
            raise SettingsError(
                f"{place}: {_LINKS} cannot be true here, where it could open files of yours to a folder of somebody "
                f"else; say it yourself: --set {_LINKS}=true."
            )
        table = lay_tables(table, found)
    try:
        settings = convert_settings(lay_tables(table, given), Settings, str(path), parts)
    except SettingsError:
        convert_settings(table, Settings, str(path), parts)  # raises where the file is at fault, else what was given is
        settings = convert_settings(lay_tables(table, given), Settings, _GIVEN, parts)
    for name in [n for n, own in settings.methods.items() if own]:
        settings.method_settings(name, {})
    chosen = {
        n: place
        for place, found in files.items()
        for n in _GUARDED
        if holds_name(found, n) and not holds_name(given, n)
    }
    for place, found in files.items():  # each header that no flag gives is the choice of a file
        if set(_list_headers(found)) - set(_list_headers(given)):
            chosen[_HEADERS] = place
    # these files and folders are meant from the corpus's own folder, wherever the command runs
    prompts, reranker, listed = settings.model.prompts, settings.rerank.model, settings.offline.names_file
    embedder = settings.embedding.folder
    if listed:
        settings = replace(settings, offline=replace(settings.offline, names_file=str(root / listed)))
    if trained := settings.model.trained_prompt:
        settings = replace(settings, model=replace(settings.model, trained_prompt=str(root / trained)))
    if prompts:
        settings = replace(settings, model=replace(settings.model, prompts=str(root / prompts)))
    if reranker and (root / reranker).is_dir():  # else it is a name
        settings = replace(settings, rerank=replace(settings.rerank, model=str(root / reranker)))
    if embedder and (root / embedder).is_dir():
        settings = replace(settings, embedding=replace(settings.embedding, folder=str(root / embedder)))
    cache = settings.store.cache and str(root / settings.store.cache)
    return replace(
        settings, foreign=chosen, local=settings.local.rooted(root), store=replace(settings.store, cache=cache)
    )


def convert_settings(table: Mapping[str, Any], kind: type[T], where: str, parts: Sequence[Part[Any, Any]] = ()) -> T:
    """A settings value from a table. Raises SettingsError, naming the key and where it stands."""
    for own, prefix, name, hint, _ in _walk_table(table, kind, parts):
        if hint is None:
            plain = (f.name for f in fields(own) if f.name not in FIXED)
            names = list(dict.fromkeys([*plain, *table_types(own, parts)]))
            near = _suggest_setting(str(name), names, prefix, own)
            advice = f"did you mean {near}?" if near else f"known here: {', '.join(names)}."
            if f"{prefix}{name}" in re.split(", | or ", near):  # it is known, as a setting inside a table
                inner = str(name).split(".")
                nested = "".join(f'{{"{part}": ' for part in inner) + "…" + "}" * len(inner)
                advice = f"that is the setting {inner[-1]} inside a table: nest it, as in {nested}."
            raise SettingsError(f"{where}: unknown setting {prefix}{name!s}; {advice}")
    for _, prefix, name, hint, value in _walk_table(table, kind, parts):  # a word where one of a few others must stand
        words = find_allowed_words(hint)
        if words and isinstance(value, str) and value not in words.own and value not in (known := words.known()):
            raise SettingsError(f"{where}: {prefix}{name} cannot be {describe_choices(value, known)}")
    try:
        return msgspec.convert(take_part_settings(table, parts) if kind is Settings else table, kind)
    except msgspec.ValidationError as e:
        # the setting's dotted name instead of msgspec's path expression
        said = str(e).replace("`$.", "`")
        said = said.replace(" - at `", " (setting `") + ")" if " - at `" in said else said
        raise SettingsError(f"{where}: {said}.") from e


def table_types(kind: Any, parts: Sequence[Part[Any, Any]] = ()) -> dict[str, Any]:
    """The types of the tables inside a table of this type, by name; of an index those of its parts too."""
    found = {name: hint for name, hint in get_type_hints(kind).items() if is_dataclass(hint)}
    if kind is IndexSettings:
        found |= {name: own for name in known_parts(parts) if (own := settings_type(name, parts))}
    return found


def _walk_table(
    table: Mapping[str, Any], kind: Any, parts: Sequence[Part[Any, Any]], prefix: str = ""
) -> Iterator[tuple[Any, str, str, Any, Any]]:
    """Of each value of a table, and of the tables in it: the table's type and prefix, name, type (or None), value."""
    hints, known = get_type_hints(kind, include_extras=True), {f.name for f in fields(kind)} - {*FIXED}
    for name, value in table.items():
        hint = hints[name] if name in known else (settings_type(name, parts) if kind is IndexSettings else None)
        yield kind, prefix, name, hint, value
        if is_dataclass(hint) and isinstance(value, Mapping):
            yield from _walk_table(value, hint, parts, f"{prefix}{name}.")


def find_allowed_words(hint: Any) -> Names | None:
    """The words that a setting of this type may be; None where it may be any."""
    if get_origin(hint) is Literal:
        return Names("", get_args(hint))
    return next((n for n in getattr(hint, "__metadata__", ()) if isinstance(n, Names)), None)


def describe_choices(value: str, words: Sequence[str]) -> str:
    """What is said to a word that is none of `words`: itself, those, and the nearest of them."""
    near = get_close_matches(value.casefold(), words)
    return f"{value!r}; choose {_join_choices(words)}." + (f" Did you mean {near[0]}?" if near else "")


def _suggest_setting(name: str, names: Sequence[str], prefix: str, kind: Any) -> str:
    """The known settings most like `name`: of the same name elsewhere, nearly the same elsewhere, alike here, alike."""
    last = name.rpartition(".")[2]
    kinds: list[Any] = [Settings]  # the tables of the settings file, methods apart
    for table in kinds:
        kinds += table_types(table).values()
    everywhere: dict[str, str] = {}  # every setting by its dotted name, and the last part of that
    if kind in kinds:
        roots = [("", Settings), *((f"methods.{method}.", method_class(method)) for method in METHODS)]
        everywhere = {n: n.rpartition(".")[2] for start, root in roots for n in _walk_names(root, start)}
    same = [dotted for dotted, base in everywhere.items() if base == last]
    here = [] if same else [prefix + n for n in get_close_matches(name, names, 1)]
    alike = get_close_matches(last, list(everywhere.values()), 1, 0.9 if here else 0.6)
    return _join_choices(same or [dotted for dotted, base in everywhere.items() if base in alike] or here)


def _walk_names(kind: Any, prefix: str) -> Iterator[str]:
    tables = table_types(kind)
    for name in dict.fromkeys([*(f.name for f in fields(kind)), *tables]):
        if name in tables:
            yield from _walk_names(tables[name], f"{prefix}{name}.")
        elif name not in (*FIXED, "methods"):
            yield prefix + name


def _join_choices(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def read_api_key(endpoint: EndpointSettings) -> str:
    """The key from the environment. Raises SettingsError when a remote endpoint has none; a local one needs none."""
    found = os.environ.get(endpoint.api_key_env) or ("none" if is_this_machine(endpoint.base_url) else "")
    if not found:
        raise SettingsError(
            f"The endpoint {endpoint_settings.address_of(endpoint.base_url)} needs a key: set the environment variable "
            f"{endpoint.api_key_env}, or use the offline engine (--engine offline)."
        )
    return found


def read_store_password() -> str:
    """The password of the database from the environment; empty where it needs none, or the client finds its own."""
    return os.environ.get(PASSWORD, "")


def forbid_usage_reports() -> None:
    """See to it that Ray tells nobody that it is used, unless the user has set otherwise."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


def locate_caches() -> Path:
    """The folder of this machine for what can be fetched again: under XDG_CACHE_HOME, else under ~/.cache."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else Path.home() / ".cache") / "sensegraph"


def open_settings(
    root: str | Path, given: Mapping[str, Any] | None, parts: Sequence[Part[Any, Any]]
) -> tuple[Path, Settings]:
    """The folder of a corpus and its settings; of one in a database the folder is the user's, by its address.

    It is below XDG_DATA_HOME, else below ~/.local/share, and holds what a database does not. Raises SettingsError.
    """
    if not isinstance(given, Mapping | None):
        raise SettingsError(f'settings is a table such as {{"engine": "offline"}}, not {given!r}.')
    if not is_database(str(root)):
        return Path(root), load_settings(Path(root), given, parts=parts)
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    below = (named if named.is_absolute() else Path.home() / ".local" / "share") / "sensegraph"
    name = re.sub(r"[^a-z0-9]+", "-", str(DatabaseAddress.parse(str(root))).removeprefix("postgresql://").lower())
    folder = below / name.strip("-")
    return folder, load_settings(folder, lay_tables(given or {}, {"store": {"url": str(root)}}), parts=parts)


def read_environment() -> Mapping[str, str]:
    """The variables of the environment."""
    return os.environ


def _list_headers(tables: Mapping[str, Any]) -> list[str]:
    """The names of the headers that nested tables set."""
    return list(tables["endpoint"]["headers"]) if holds_name(tables, _HEADERS) else []


def read_headers(endpoint: EndpointSettings) -> dict[str, str]:
    """The further headers, with what the environment holds of them. Raises SettingsError where it lacks one."""
    if missing := [n for n in endpoint_settings.name_variables(endpoint.headers) if not os.environ.get(n)]:
        raise SettingsError(f"endpoint.headers names the environment variable {missing[0]}: set it.")
    return {
        name: os.environ[value.removeprefix(endpoint_settings.ENV)]
        if value.startswith(endpoint_settings.ENV)
        else value
        for name, value in endpoint.headers.items()
    }


# ── nested tables, as settings files hold them ──


def read_toml_tables(path: Path) -> dict[str, Any]:
    """The tables of a TOML file, none where it does not exist. Raises SettingsError for one that is no TOML or long."""
    if not path.is_file():
        return {}
    if path.stat().st_size > _LONGEST:
        raise SettingsError(f"{path} has more than {_LONGEST:,} bytes, as no file of settings has; shorten it.")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise SettingsError(f"{path} is not valid TOML: {e}.") from e


def lay_tables(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both as one; where both hold a value, the one of `above`."""
    both = dict(below)
    for name, value in above.items():
        old = both.get(name)
        both[name] = lay_tables(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return both


def holds_name(tables: Mapping[str, Any], name: str) -> bool:
    """Whether there is a value under a dotted name."""
    first, _, rest = name.partition(".")
    inner = tables.get(first)
    return first in tables if not rest else isinstance(inner, Mapping) and holds_name(inner, rest)


# ── what the user approved ──


def locate_user_file() -> Path:
    """The user's own settings file, outside every corpus."""
    return endpoint_settings.find_user_file(os.environ)


def check_approved(settings: Settings, *names: Guarded) -> None:
    """Raise Unapproved where files chose the endpoint or the model of one of these and nobody approved it."""
    for name in names:
        wanted, files, free = _find_wanted(settings, name)
        if settings.trust or not files:
            continue
        wanted = [w for w in wanted if not (free and endpoint_settings.needs_no_approval(w))]
        if not wanted:
            continue
        # what the user has approved, in the environment and in the own settings file
        kept = convert_settings(read_toml_tables(locate_user_file()), UserSettings, str(locate_user_file())).trust
        approved = endpoint_settings.read_approvals(os.environ.get("SENSEGRAPH_TRUST", ""), kept, locate_user_file())
        for one in wanted:
            if not endpoint_settings.is_approved(one, approved):
                raise endpoint_settings.refuse_unapproved(one, sorted(files), locate_user_file())


def _find_wanted(settings: Settings, name: Guarded) -> tuple[list[str], set[str], bool]:
    """The approvals that are needed if files chose it, these files, and whether some addresses need none.

    Headers that a file chose may lead texts into another account, so that with them no address goes without approval.
    """
    foreign = settings.foreign
    if name == "local" or name == "folder" or name == "cross-encoder":
        own = ("local.model", settings.local.model)
        field, model = own if name == "local" else ("embedding.folder", settings.embedding.folder)
        field, model = ("rerank.model", settings.rerank.model) if name == "cross-encoder" else (field, model)
        return [endpoint_settings.approval_of_model(model)], {foreign[field]} if field in foreign else set(), True
    if name == "cluster":
        files = {foreign["executor.address"]} if "executor.address" in foreign and settings.executor.address else set()
        return [endpoint_settings.approval_of_cluster(settings.executor.address)] if files else [], files, True
    if name == "store":
        places = {f"store.{name}": getattr(settings.store, name) for name in ("url", "replica", "arrays")}
        stores = [(n, url) for n, url in places.items() if n in foreign and url]
        return [endpoint_settings.approval_of_store(url) for _, url in stores], {foreign[n] for n, _ in stores}, True
    given, table = settings.endpoint, endpoint_settings.address_purpose(settings.endpoint, name)
    url, variable = (getattr(given, f"{name}_{field}", "") for field in ("base_url", "api_key_env"))
    chosen = [f"endpoint.{name}_base_url" if url else "endpoint.base_url"]
    if table.api_key_env not in ("", endpoint_settings.USUAL):
        chosen.append(f"endpoint.{name}_api_key_env" if variable else "endpoint.api_key_env")
    chosen += [_HEADERS] if table.headers else []
    files = {foreign[n] for n in chosen if n in foreign}
    keys = [table.api_key_env, *endpoint_settings.name_variables(table.headers)]
    wanted = [endpoint_settings.approval_of(table.base_url, v) for v in keys] if files else []
    return wanted, files, not (_HEADERS in chosen and _HEADERS in foreign)
