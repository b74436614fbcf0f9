"""Where a model is and how it is treated, and what a user approves outside a corpus's folder: endpoints and models.

The table `[endpoint]` of the settings says where a model is; the key itself is no setting. An approval is one line of
text: `https://host/v1` (with the usual variable), `VARIABLE@https://host/v1`, `model:FOLDER`, or
`store:postgresql://host/database`. The environment, the user's settings file and messages all use this form.
"""

from __future__ import annotations

import base64
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from sensegraph.errors import SettingsError, Unapproved
from sensegraph.runtime.database_address import DatabaseAddress

USUAL = "OPENAI_API_KEY"  # the variable that needs no approval at its vendor's own address, nor on this machine
MODEL = "model:"
STORE = "store:"
BUCKETS = ("s3:", "gs:", "az:", "file:")  # how the places of arrays begin
CLUSTER = "cluster:"
_WHOLE = (MODEL, STORE, CLUSTER)  # what is approved as a whole, not with all below it
ENV = "env:"  # before the name of a variable, as the value of a header
FORMS = "write https://HOST/PATH, VARIABLE@https://HOST/PATH, model:FOLDER, store:URL or cluster:HOST:PORT"

_VENDOR = "https://api.openai.com"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACE = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d+)?")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_HEADERS = ("host", "content-length", "content-type", "transfer-encoding", "connection")  # are set by the request
_SECRET_HEADER = re.compile(r"auth|cookie|token|secret|key|password", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
_UNREADABLE = "an address that cannot be read"


# ── addresses ──


def is_address(url: str) -> bool:
    """Whether `url` is http or https and names a host, and its port is a number."""
    try:
        parts = urlsplit(url)
        return parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_this_machine(url: str) -> bool:
    """Whether `url` leads to the machine that this runs on."""
    host = (urlsplit(url).hostname or "") if is_address(url) else ""
    try:
        found = ip_address(host)
    except ValueError:
        return host == "localhost"
    return found.is_loopback or host == "0.0.0.0"


def address_of(url: str) -> str:
    """The URL in plain characters, without anything that may be secret: user, password, query."""
    try:
        parts = urlsplit(url)
        place = _host_and_port(parts)
    except ValueError:
        return _UNREADABLE
    path = quote(parts.path, safe="/%:@!$&'()*+,;=~")
    return f"{parts.scheme}://{place}{path}" if place else path


def _host_and_port(parts: SplitResult) -> str:
    """Host and port, the port only where it is not the usual one. Raises ValueError for a port that is none."""
    host = parts.netloc.rpartition("@")[2].lower()
    if parts.port is None or parts.port == _PORTS.get(parts.scheme):
        host = re.sub(r":\d*$", "", host)
    return host.encode("ascii", "backslashreplace").decode()


def list_secrets(url: str) -> list[tuple[str, int]]:
    """What may be secret in `url`, in each form in which it may come back; with how long it has to be to be masked."""
    try:
        parts = urlsplit(url)
        user, password = parts.username or "", parts.password or ""
    except ValueError:
        return []
    both = f"{unquote(user)}:{unquote(password)}"
    query = [(value, 8) for _, value in parse_qsl(parts.query)]
    return [(unquote(password), 4), (password, 4), (base64.b64encode(both.encode()).decode(), 8), *query]


def mask_urls(text: str) -> str:
    """`text` without what may be secret in its URLs: all before an @, all from a ? or # on."""
    return re.sub(r"(://[^\s?#]*)[?#][^\s'\"]*", r"\1?***", re.sub(r"(://)\S*@", r"\1***@", text))


# ── approvals ──


def approval_of(url: str, variable: str = USUAL) -> str:
    """What has to be approved before texts, and the key in `variable`, go to `url`.

    Raises SettingsError for what is no address or no name of a variable.
    """
    if not is_address(url) or not _PLACE.fullmatch(_host_and_port(urlsplit(url))):
        raise SettingsError(
            "endpoint.base_url must be http:// or https:// and a host in plain characters; it usually ends with /v1."
        )
    if variable in ("", USUAL):
        return address_of(url).rstrip("/")
    if not _VARIABLE.fullmatch(variable):
        raise SettingsError("endpoint.api_key_env must be the name of an environment variable: letters, digits and _.")
    return f"{variable}@{address_of(url).rstrip('/')}"


def approval_of_model(model: str) -> str:
    """What has to be approved before a model is loaded: its folder, or the name of one that is no folder."""
    return MODEL + str(Path(model).resolve() if Path(model).is_dir() else model)


def approval_of_store(url: str) -> str:
    """What has to be approved before a corpus is kept in a database, or its arrays in a bucket.

    Raises SettingsError for what is neither.
    """
    return STORE + (url.rstrip("/") if url.startswith(BUCKETS) else DatabaseAddress.parse(url).place)


def approval_of_cluster(address: str) -> str:
    """What has to be approved before work is sent to a cluster."""
    return CLUSTER + address.strip().lower().removeprefix("ray://")


def needs_no_approval(wanted: str) -> bool:
    """Whether no approval is needed: for the usual variable, at its vendor's address or on this machine; for a database
    or a cluster on this machine.
    """
    if wanted.startswith(STORE):
        place = wanted.removeprefix(STORE)
        return place.startswith("file:") if place.startswith(BUCKETS) else DatabaseAddress.parse(place).is_here
    if wanted.startswith(CLUSTER):
        place = wanted.removeprefix(CLUSTER)
        return place in ("auto", "local") or is_this_machine(f"http://{place}")
    variable, url = _variable_and_url(wanted)
    return not variable and (is_approved(url, [_VENDOR]) or is_this_machine(url))


def read_approvals(named: str, kept: Mapping[str, bool], path: Path) -> list[str]:
    """The approvals `named` in the environment, with commas between them, and those `kept` in the file at `path`.

    They have the form that `approval_of` gives. Raises SettingsError, saying where it stands, for what is none.
    """
    found = [(text.strip(), "SENSEGRAPH_TRUST") for text in named.split(",") if text.strip()]
    found += [(text, f"{path}, [trust]") for text, holds in kept.items() if holds]
    approvals: list[str] = []
    for text, where in found:
        if text.startswith(MODEL) and text != MODEL:
            approvals.append(approval_of_model(text.removeprefix(MODEL)))
            continue
        try:
            if text.startswith(CLUSTER) and text != CLUSTER:
                approvals.append(approval_of_cluster(text.removeprefix(CLUSTER)))
                continue
            if text.startswith(STORE):
                approvals.append(approval_of_store(text.removeprefix(STORE)))
                continue
            approvals.append(approval_of(*reversed(_variable_and_url(text))))
        except SettingsError as e:
            raise SettingsError(f"{where}: {mask_urls(text)!r} approves nothing; {FORMS}.") from e
    return approvals


def _variable_and_url(approval: str) -> tuple[str, str]:
    """The two parts of an endpoint's approval; the variable is empty where it is the usual one."""
    before, _, _ = approval.partition("://")
    variable, at, _ = before.rpartition("@")
    return variable, approval[len(variable) + len(at) :]


def is_approved(wanted: str, approvals: Iterable[str]) -> bool:
    """Whether one of `approvals` covers what is `wanted`: the same, or an address above it with the same variable.

    An address with steps upwards in its path lies below nothing.
    """
    for given in approvals:
        if given == wanted:
            return True
        if wanted.startswith(given) and not wanted.startswith(_WHOLE):
            below = unquote(unquote(wanted[len(given) :])).replace("\\", "/")
            if below.startswith("/") and not {".", ".."} & set(below.split("/")):
                return True
    return False


def refuse_unapproved(wanted: str, files: Iterable[str], kept: Path) -> Unapproved:
    """What is said where `files` chose what is `wanted` and nobody approved it; `kept` is the user's settings file."""
    if wanted.startswith(MODEL):
        what = f"load the model {wanted.removeprefix(MODEL)}, which may run a program"
    elif wanted.startswith(STORE):
        what = f"keep all that is computed from this corpus, its texts too, in {wanted.removeprefix(STORE)}"
    elif wanted.startswith(CLUSTER):
        where = wanted.removeprefix(CLUSTER)
        what = f"send texts of this corpus to the cluster {where}, whose machines can run programs as you"
    else:
        variable, url = _variable_and_url(wanted)
        what = f"send texts of this corpus to {url} with the key in {variable or USUAL}"
    ways = (
        f"If you trust it, add --trust for one run, or set SENSEGRAPH_TRUST={wanted} in the environment, or put "
        f"{_write_approval_line(wanted)} under [trust] in {kept}."
    )
    return Unapproved(f"{' and '.join(files)} would {what}.", wanted, ways)


def find_user_file(environment: Mapping[str, str]) -> Path:
    """The user's settings file: under XDG_CONFIG_HOME, on Windows under APPDATA, else under ~/.config."""
    names = ("XDG_CONFIG_HOME", "APPDATA") if sys.platform == "win32" else ("XDG_CONFIG_HOME",)
    named = (Path(environment[name]) for name in names if environment.get(name))
    base = next((path for path in named if path.is_absolute()), Path.home() / ".config")
    return base / "sensegraph" / "settings.toml"


def record_approval(path: Path, wanted: str) -> None:
    """Add `wanted` to the table [trust] of the user's settings file, and make the file where there is none.

    What else stands in the file stays. Raises SettingsError where the line cannot be put there.
    """
    line = _write_approval_line(wanted)
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    text, heads = re.subn(r"^\[trust\][^\n]*$", lambda found: f"{found[0]}\n{line}", before, count=1, flags=re.M)
    text = text if heads else f"{before.rstrip()}\n\n[trust]\n{line}\n".lstrip()
    try:
        written = tomllib.loads(text)["trust"][wanted]
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        written = None
    if written is not True:
        raise SettingsError(f"{path} could not be added to; put this under [trust]: {line}")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _write_approval_line(wanted: str) -> str:
    """An approval as a line of the user's settings file."""
    quoted = f"'{wanted}'" if '"' in wanted or "\\" in wanted else f'"{wanted}"'
    return f"{quoted} = true"


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Any OpenAI-compatible endpoint. It is used when `model` is set; without it everything stays on this machine.

    Prices are in US dollars per million tokens; limits of 0 mean none. A call waits `first_byte_s` for the first sign
    of a reply, as a queue is no failure, and then `silence_s` from one to the next; `timeout_s` bounds all of an
    attempt. Before the next it waits as long as the endpoint asks, else about `backoff_s`, doubled
    each time. `concurrency` is the most calls at once; fewer are made where the endpoint asks for a pause.

    `thoughts` says how much a model may think, where it can be told. `temperature = "default"` leaves the model's own.
    `window` is the model's context where it is known better than the endpoint tells; 0 learns it. `extra_body` are
    further fields of each chat request. `auth` is the header that holds the key. `headers` are further headers to
    `base_url`; a value `env:NAME` is read from that variable, which is the only way to write a secret. What stands
    before texts that are embedded, for queries and for documents, is taken from the model's name where it is `auto`;
    `embedding_batch` is the most texts in one call, `embedding_dimensions` the length of vectors where a model can
    shorten them. Embeddings, reranking and vision may have a `…_base_url` of their own, and a variable with its key.

    `vision_model` describes the images in documents; without one they are not sent. Its prices are those of `model`
    where its own are 0. Where personal data is masked it is not asked either, as no image can be masked, unless
    `vision_unmasked` says so.

    With `batch` a build asks in batches, each request at the share `batch_price` of its price; fewer than `batch_least`
    are asked at once. A batch is looked at every `batch_poll_s`, for at most `batch_wait_s` in a run (0: to its end).
    """

    base_url: str = field(default="https://api.openai.com/v1", repr=False)  # may hold a password
    model: str = ""
    embedding_model: str = ""
    rerank_model: str = ""
    vision_model: str = ""
    api_key_env: str = USUAL
    temperature: float | Literal["default"] | None = 0.0
    seed: int | None = None
    thoughts: Literal["auto", "off", "low", "medium", "high"] = "auto"
    window: int = 0
    extra_body: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    auth: Literal["bearer", "api-key", "none"] = "bearer"
    concurrency: int = 16
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    first_byte_s: float = 600.0
    silence_s: float = 120.0
    timeout_s: float = 14400.0
    max_retries: int = 6
    backoff_s: float = 0.5
    embedding_query_prefix: str = "auto"
    embedding_document_prefix: str = "auto"
    embedding_batch: int = 64
    embedding_dimensions: int = 0
    embedding_base_url: str = field(default="", repr=False)
    embedding_api_key_env: str = ""
    rerank_base_url: str = field(default="", repr=False)
    rerank_api_key_env: str = ""
    vision_base_url: str = field(default="", repr=False)
    vision_api_key_env: str = ""
    vision_unmasked: bool = False
    batch: bool = False
    batch_price: float = 0.5
    batch_least: int = 20
    batch_poll_s: float = 60.0
    batch_wait_s: float = 0.0
    price_prompt: float = 0.0
    price_completion: float = 0.0
    price_embedding: float = 0.0
    price_rerank: float = 0.0
    price_vision_prompt: float = 0.0
    price_vision_completion: float = 0.0
    max_tokens_total: int = 0
    max_cost_usd: float = 0.0


Purpose = Literal["chat", "embedding", "rerank", "vision"]
_PLACE_NAMES = ("base_url", "api_key_env")  # of the settings of a purpose of its own


def address_purpose(table: EndpointSettings, purpose: Purpose) -> EndpointSettings:
    """The settings of the endpoint that serves a purpose; `table` itself where that has no address or key of its own.

    At an address of its own the key is the usual one, unless another variable is named, and no header of `base_url`
    goes there. For vision its model is the model, and its prices those of chat.
    """
    url, variable = (getattr(table, f"{purpose}_{name}", "") for name in _PLACE_NAMES)
    if purpose == "vision":
        prompt = table.price_vision_prompt or table.price_prompt
        completion = table.price_vision_completion or table.price_completion
        table = replace(table, model=table.vision_model, price_prompt=prompt, price_completion=completion)
    if not url and not variable:
        return table
    places: dict[str, Any] = {f"{p}_{n}": "" for p in ("embedding", "rerank", "vision") for n in _PLACE_NAMES}
    return replace(
        table,
        base_url=url or table.base_url,
        api_key_env=variable or (USUAL if url else table.api_key_env),
        headers={} if url else table.headers,
        **places,
    )


def name_variables(headers: Mapping[str, str]) -> list[str]:
    """The environment variables that the values of headers name. Raises SettingsError for a header that cannot be."""
    found = []
    for name, value in headers.items():
        variable = value.removeprefix(ENV) if value.startswith(ENV) else ""
        if not _HEADER.fullmatch(name) or name.casefold() in _OWN_HEADERS or not value.isprintable():
            raise SettingsError(f"endpoint.headers: {name!r} cannot be set; take it out.")
        if value.startswith(ENV) and not _VARIABLE.fullmatch(variable):
            raise SettingsError(
                f"endpoint.headers: {name} must name a variable after {ENV} with letters, digits and _."
            )
        if not variable and _SECRET_HEADER.search(name):
            raise SettingsError(
                f"endpoint.headers: {name} holds a secret: put it into a variable and write {ENV}VARIABLE."
            )
        found += [variable] if variable else []
    return found


def check_endpoint(settings: EndpointSettings, api_key: str) -> None:
    """Raise SettingsError for settings that cannot work together, or a key that no header can hold.

    Called when an endpoint is made and not when settings are read: one table may complete another before that.
    """
    from sensegraph.models.endpoint.limits import check_limits

    if not is_address(settings.base_url):
        raise SettingsError("endpoint.base_url must be http:// or https:// and a host; it usually ends with /v1.")
    if min(settings.concurrency, settings.embedding_batch) < 1 or min(settings.first_byte_s, settings.silence_s) <= 0:
        raise SettingsError(
            "endpoint.concurrency and endpoint.embedding_batch must be at least 1, endpoint.first_byte_s and "
            "endpoint.silence_s above 0."
        )
    check_limits(settings)
    if not all("!" <= c <= "~" for c in api_key):
        raise SettingsError("The API key holds a space or a character that no key has: copy it again.")


def set_temperature(settings: EndpointSettings) -> float | None:
    """The temperature that is asked for; None for the model's own."""
    return None if settings.temperature == "default" else settings.temperature
