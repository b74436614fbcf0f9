"""What a corpus's settings file may not do: choose who gets keys and texts, or what is loaded."""

from __future__ import annotations

import base64
import io
import json
import os
import pickle
import re
import socket
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from scripted import Script, ScriptedServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import Settings, convert_settings, load_settings, locate_user_file
from sensegraph.corpus.tools import make_reranker, make_tools, needed_approvals
from sensegraph.errors import EndpointDown, SensegraphError, SettingsError, Unapproved
from sensegraph.models.endpoint.endpoint_settings import (
    USUAL,
    address_of,
    approval_of,
    is_approved,
    mask_urls,
    needs_no_approval,
    read_approvals,
    record_approval,
)
from sensegraph.types import Document

FAR = "https://llm.attacker.example/v1"
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI-aws-secret",
    "GITHUB_TOKEN": "ghp_16C7e42F292c6912E7-token",
    "ANTHROPIC_API_KEY": "sk-ant-0123456789abcdef",
    "DATABASE_URL": "postgres://me:swordfish-99@db.example/x",
    "SSH_AUTH_SOCK": "/tmp/ssh-agent-socket-4711",
    USUAL: "sk-usual-0123456789abcdef",
}
OTHERS = 4  # variables of this process that are named besides: no name but that of the usual key is known to the code
TEXT = Document("a", "Ada Lovelace wrote the first program. Charles Babbage built the engine.", "A")
Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with secrets in the environment and a home of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    for name in ("SENSEGRAPH_TRUST", "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    return tmp_path / "home"


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every attempt to find or reach a host; none may be made."""
    tried: list[object] = []

    def refuse(*given: object, **_: object) -> None:
        tried.append(given)
        raise AssertionError(f"a connection to {given} was tried")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tried


class Recorder(BaseHTTPRequestHandler):
    """Keeps all that it is sent, and refuses it; or sends to another address."""

    got: list[bytes]
    to = ""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append(f"{self.requestline}\n{self.headers}".encode() + body)
        self.send_response(307 if self.to else 404)
        if self.to:
            self.send_header("Location", self.to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def recorder() -> Iterator[Callable[[str], tuple[str, list[bytes]]]]:
    """Starts servers on this machine: each gives its address, and what it was sent."""
    running = []

    def start(to: str = "") -> tuple[str, list[bytes]]:
        got: list[bytes] = []
        made = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Recorder,), {"got": got, "to": to}))
        Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        running.append(made)
        return f"http://127.0.0.1:{made.server_port}/v1", got

    yield start
    for made in running:
        made.shutdown()
        made.server_close()


def _write_table(values: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name} = {json.dumps(value)}" for name, value in values.items()) + "}"


def foreign(folder: Path, endpoint: Mapping[str, Any], more: str = "") -> Path:
    """A folder of somebody else, with its settings file."""
    folder.mkdir(parents=True, exist_ok=True)
    given = {"model": "m", **endpoint}
    lines = [f"{n} = {_write_table(v) if isinstance(v, dict) else json.dumps(v)}" for n, v in given.items()]
    (folder / "sensegraph.toml").write_text("\n".join([more, "[endpoint]", *lines, "max_retries = 0"]))
    return folder


def build(root: Path, **settings: Any) -> None:
    with Corpus.open(root, settings=settings) as corpus:
        corpus.add(TEXT)
        corpus.build()


def refused(root: Path, **settings: Any) -> Unapproved:
    with pytest.raises(Unapproved) as caught:
        build(root, **settings)
    return caught.value


# ── no secret leaves ──


WAYS = {  # in which a file may name a variable, at the address `url`
    "key": lambda url, name: {"base_url": url, "api_key_env": name},
    "key for vectors": lambda url, name: {"embedding_base_url": url, "embedding_api_key_env": name},
    "key for scores": lambda url, name: {"rerank_base_url": url, "rerank_api_key_env": name},
    "header": lambda url, name: {"base_url": url, "headers": {"X-Team": f"env:{name}"}},
    "header with another text": lambda url, name: {"base_url": url, "headers": {"X-Team": f"a env:{name}"}},
    "address": lambda url, name: {"base_url": f"{url}/${name}/${{{name}}}?k=${name}&l=%{name}%&m=env:{name}"},
    "user of an address": lambda url, name: {"base_url": url.replace("://", f"://env:{name}@")},
    "model": lambda url, name: {"base_url": url, "model": f"${{{name}}}", "embedding_model": f"env:{name}"},
    "further field": lambda url, name: {"base_url": url, "extra_body": {"user": f"${name} env:{name}"}},
}


@pytest.mark.parametrize("way", WAYS)
def test_no_variable_of_the_process_reaches_a_server_that_a_file_names(tmp_path: Path, recorder: Any, way: str):
    url, got = recorder()
    tried = 0
    others = sorted(os.environ.keys() - SECRETS.keys())[:OTHERS]
    for number, variable in enumerate([*SECRETS, *others]):
        named = WAYS[way](url, variable)
        here = {"base_url": url, "embedding_model": "e", "rerank_model": "r"}  # where the usual key may go
        root = foreign(tmp_path / str(number), here | named, '[rerank]\nby = "endpoint"\n' if "scores" in way else "")
        with pytest.raises(SensegraphError):
            build(root)
        tried += 1
    assert tried == len(SECRETS) + OTHERS
    sent = b"".join(got)
    assert (TEXT.text.encode() in sent) == (
        not way.startswith("header")
    )  # asked with the usual key, unless the file names another
    for name, value in os.environ.items():
        if name != USUAL and len(value) > 7:
            assert value.encode() not in sent, name
            assert base64.b64encode(value.encode()).rstrip(b"=") not in sent, name


@pytest.mark.parametrize("variable", [*SECRETS, "NOT_SET"])
@pytest.mark.parametrize("role", ["model", "embedding_model", "rerank_model"])
def test_a_far_endpoint_of_a_file_is_refused_before_any_connection(
    tmp_path: Path, variable: str, role: str, unreachable: list[object]
):
    more = '[rerank]\nby = "endpoint"\n' if role == "rerank_model" else ""
    root = foreign(tmp_path / "x", {"base_url": FAR, "api_key_env": variable, "model": "", role: "m"}, more)
    loaded = load_settings(root)
    with pytest.raises(Unapproved) as caught:
        make_reranker(loaded, make_tools(loaded))
    assert not unreachable
    wanted = FAR if variable == USUAL else f"{variable}@{FAR}"
    for word in (FAR, variable, "--trust", f"SENSEGRAPH_TRUST={wanted}", f'"{wanted}" = true', str(locate_user_file())):
        assert word in str(caught.value)
    assert not any(secret in str(caught.value) for secret in SECRETS.values())


@pytest.mark.parametrize(
    "words",
    [
        ["index", "input"],
        ["index", "--dry-run", "input"],
        ["query", "Who?"],
        ["search", "Who?"],
        ["entities", "duplicates"],
        ["documents", "remove", "a.txt"],
        ["documents", "purge"],
        ["tune", "prompts", "input"],
        ["eval", "questions", "--about", "ships", "--out", "q.jsonl"],
        ["index", "--watch", "input", "--settle", "0"],
        ["eval", "papers", "edge2024", "--dry-run"],
    ],
)
def test_no_command_speaks_to_an_endpoint_that_a_file_names(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unreachable: list[object]
):
    root = foreign(tmp_path / "x", {"base_url": FAR, "embedding_model": "e", "api_key_env": "AWS_SECRET_ACCESS_KEY"})
    monkeypatch.chdir(root)
    (root / "input").mkdir()
    for name in "ab":
        (root / "input" / f"{name}.txt").write_text(TEXT.text)
    with Corpus.open(".", settings={"engine": "offline", "embedder": "offline"}) as corpus:
        corpus.add("input")
        corpus.build()
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, unreachable) == (1, [])
    assert f"SENSEGRAPH_TRUST=AWS_SECRET_ACCESS_KEY@{FAR}" in result.stderr


def test_what_needs_no_endpoint_goes_on_working_in_a_folder_of_others(tmp_path: Path):
    root = foreign(tmp_path / "x", {"base_url": FAR, "api_key_env": "AWS_SECRET_ACCESS_KEY"})
    build(root, engine="offline")
    assert CliRunner().invoke(app, ["status", "--root", str(root)]).exit_code == 0
    assert CliRunner().invoke(app, ["search", "Ada", "--engine", "offline", "--root", str(root)]).exit_code == 0


def test_a_redirect_takes_neither_key_nor_texts_to_another_server(tmp_path: Path, recorder: Any):
    other, taken = recorder()
    url, got = recorder(other + "/chat/completions")
    with pytest.raises(EndpointDown, match=re.escape(other)):
        build(foreign(tmp_path / "x", {"base_url": url}))
    assert len(got) == 1
    assert SECRETS[USUAL].encode() in got[0]
    assert taken == []


# ── who chose it ──


@pytest.mark.parametrize(
    ("endpoint", "given", "wanted"),
    [
        ({}, {}, ""),
        ({"base_url": "https://api.openai.com/v1", "api_key_env": USUAL}, {}, ""),
        ({"base_url": "http://localhost:11434/v1"}, {}, ""),
        ({"base_url": "http://[::1]:8000/v1"}, {}, ""),
        ({"base_url": "http://127.8.9.1/v1", "api_key_env": ""}, {}, ""),
        ({"base_url": FAR}, {"base_url": "https://mine.example/v1"}, ""),
        ({"base_url": FAR, "api_key_env": "GITHUB_TOKEN"}, {"base_url": "https://a.example", "api_key_env": "B"}, ""),
        ({"base_url": FAR}, {}, FAR),
        ({"base_url": FAR, "api_key_env": ""}, {}, FAR),
        ({"base_url": "http://api.openai.com/v1"}, {}, "http://api.openai.com/v1"),
        ({"base_url": "https://api.openai.com:8443/v1"}, {}, "https://api.openai.com:8443/v1"),
        ({"base_url": "https://api.openai.com.evil.example"}, {}, "https://api.openai.com.evil.example"),
        ({"base_url": "https://api.openai.com@evil.example/v1"}, {}, "https://evil.example/v1"),
        ({"base_url": "https://127.0.0.1.evil.example"}, {}, "https://127.0.0.1.evil.example"),
        ({"base_url": "https://LLM.example:443/v1/"}, {}, "https://llm.example/v1"),
        ({"api_key_env": "GITHUB_TOKEN"}, {}, "GITHUB_TOKEN@https://api.openai.com/v1"),
        ({"api_key_env": "GITHUB_TOKEN"}, {"base_url": "http://localhost"}, "GITHUB_TOKEN@http://localhost"),
        ({"base_url": "http://localhost"}, {"api_key_env": "MINE"}, "MINE@http://localhost"),
    ],
)
def test_what_a_file_chooses_needs_an_approval_and_what_the_user_chooses_none(
    endpoint: dict[str, str], given: dict[str, str], wanted: str, tmp_path: Path
):
    loaded = load_settings(foreign(tmp_path / "x", endpoint), {"endpoint": given})
    os.environ["B"] = os.environ["MINE"] = "x" * 9
    try:
        make_tools(loaded)
        found = ""
    except Unapproved as e:
        found = e.wanted
    finally:
        del os.environ["B"], os.environ["MINE"]
    assert found == wanted


@pytest.mark.parametrize("url", ["https://api.openai.com\\\\@evil.example", "https://аpi.openai.com", "ftp://x", "x"])
def test_an_address_of_a_file_that_can_be_read_in_two_ways_is_refused(url: str, tmp_path: Path):
    loaded = load_settings(foreign(tmp_path / "x", {"base_url": url}))
    with pytest.raises(SettingsError, match=r"endpoint\.base_url|attacker|evil") as caught:
        make_tools(loaded)
    assert not isinstance(caught.value, Unapproved) or "evil.example" in caught.value.wanted


def test_a_variable_that_is_no_name_is_refused(tmp_path: Path):
    with pytest.raises(SettingsError, match=r"endpoint\.api_key_env must"):
        make_tools(load_settings(foreign(tmp_path / "x", {"base_url": FAR, "api_key_env": "A,B@https://c"})))


@pytest.mark.parametrize("line", ["trust = true\n", "foreign = {}\n"])
def test_a_file_cannot_approve_itself(line: str, tmp_path: Path):
    with pytest.raises(SettingsError, match=r"trust cannot stand here|unknown setting foreign"):
        load_settings(foreign(tmp_path / "x", {"base_url": FAR}, line))


def test_settings_of_the_users_own_program_are_trusted(tmp_path: Path, unreachable: list[object]):
    given = {"endpoint": {"base_url": FAR, "model": "m", "api_key_env": "GITHUB_TOKEN"}}
    make_tools(load_settings(tmp_path, given))
    with pytest.raises(SettingsError, match="unknown setting foreign"):
        load_settings(tmp_path, {**given, "foreign": {}})


@pytest.mark.parametrize("kind", ["plan", "design"])
def test_the_settings_of_a_plan_or_a_design_are_not_the_users_own(kind: str, tmp_path: Path, unreachable: list[object]):
    build(tmp_path / "index", engine="offline")
    endpoint = f'{{ base_url = "{FAR}", model = "m", api_key_env = "GITHUB_TOKEN" }}'
    (tmp_path / "asked.txt").write_text("Who wrote it?\n")
    (tmp_path / "asked.jsonl").write_text('{"id": "1", "question": "Who?", "answer": "Ada", "type": "a", "topic": "b"}')
    (tmp_path / "plan.toml").write_text(
        'corpus = "index"\nquestions = "asked.txt"\nmetrics = ["claims"]\n'
        f'[conditions.A]\nmethod = "naive"\n[settings]\nendpoint = {endpoint}\n'
    )
    (tmp_path / "design.toml").write_text(
        f'corpus = "index"\nquestions = "asked.jsonl"\ngold = "x"\nbase = {{ endpoint = {endpoint} }}\n'
    )
    words = {
        "plan": ["eval", "run", "--dry-run", str(tmp_path / "plan.toml")],
        "design": ["tune", "compare", str(tmp_path / "design.toml"), "--out", str(tmp_path / "out")],
    }[kind]
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, unreachable) == (1, [])
    assert f"{kind}.toml would send" in result.stderr
    assert f"SENSEGRAPH_TRUST=GITHUB_TOKEN@{FAR}" in result.stderr


@pytest.mark.parametrize("table", ["local", "rerank"])
def test_a_model_that_a_file_names_is_not_loaded_unless_it_is_approved(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    head = 'engine = "local"\n[local]\n' if table == "local" else '[rerank]\nby = "cross-encoder"\n'
    root = tmp_path / "x"
    (root / "weights").mkdir(parents=True)
    (root / "sensegraph.toml").write_text(head + 'model = "weights"\n')
    loaded = load_settings(root)
    with pytest.raises(Unapproved, match="which may run a program") as caught:
        make_reranker(loaded, make_tools(loaded))
    assert caught.value.wanted == f"model:{root / 'weights'}"
    monkeypatch.setenv("SENSEGRAPH_TRUST", f"model:{root / 'weights'}")
    allowed(loaded)
    monkeypatch.delenv("SENSEGRAPH_TRUST")
    allowed(load_settings(root, {table: {"model": "weights"}}))


def allowed(settings: Settings) -> None:
    """The tools are made, or an extra is missing: nothing was refused."""
    try:
        make_reranker(settings, make_tools(settings))
    except Unapproved:
        raise
    except SensegraphError as e:
        assert "needs" in str(e)  # noqa: PT017


# ── the ways to approve ──


@pytest.mark.parametrize("way", ["flag", "program", "environment", "file"])
@pytest.mark.parametrize("variable", [USUAL, "GITHUB_TOKEN"])
def test_each_way_to_approve_lets_the_named_key_go_and_no_other(
    way: str, variable: str, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, recorder: Any
):
    url, got = recorder()
    monkeypatch.setattr("sensegraph.models.endpoint.endpoint_settings.is_this_machine", lambda url: False)
    root = foreign(tmp_path / "x", {"base_url": url, "api_key_env": variable})
    (root / "input").mkdir()
    (root / "input" / "a.txt").write_text(TEXT.text)
    wanted = refused(root).wanted
    assert got == []
    words = ["index", str(root / "input"), "--root", str(root)]
    if way == "flag":
        words.append("--trust")
    elif way == "program":
        with pytest.raises(EndpointDown):
            build(root, trust=True)
    elif way == "environment":
        monkeypatch.setenv("SENSEGRAPH_TRUST", f"https://other.example, {wanted}")
    else:
        record_approval(locate_user_file(), wanted)
    if way != "program":
        assert "No such model" in CliRunner().invoke(app, words).stderr
    sent = b"".join(got)
    assert SECRETS[variable].encode() in sent
    assert not any(value.encode() in sent for name, value in SECRETS.items() if name != variable)


@pytest.mark.parametrize(
    ("given", "wanted", "holds"),
    [
        ("https://h.example", "https://h.example/v1", True),
        ("https://h.example/v1/", "https://h.example/v1", True),
        ("https://me:pw@H.example:443/v1?x=1", "https://h.example/v1", True),
        ("https://h.example/v1", "https://h.example/v2", False),
        ("https://h.example/v1", "https://h.example/v12", False),
        ("https://h.example/mine", "https://h.example/mine/../theirs", False),
        ("https://h.example/mine", "https://h.example/mine/%2e%2e/theirs", False),
        ("https://h.example", "http://h.example", False),
        ("https://h.example", "https://h.example.evil.example", False),
        ("https://h.example", "https://h.example:8443", False),
        ("A@https://h.example", "A@https://h.example/v1", True),
        ("A@https://h.example", "https://h.example/v1", False),
        ("https://h.example", "A@https://h.example/v1", False),
        ("B@https://h.example", "A@https://h.example", False),
        ("A@https://h.example/@cf", "A@https://h.example/@cf/m", True),
        (f"{USUAL}@https://h.example", "https://h.example", True),
    ],
)
def test_an_approval_holds_for_one_variable_and_what_lies_below_an_address(given: str, wanted: str, holds: bool):
    assert is_approved(wanted, read_approvals(given, {}, Path("x"))) is holds


@pytest.mark.parametrize(
    "given", ["llm.example", "ftp://x.example", "A B@https://x", "model:", "https://me:pw-1234@", "store:x", "cluster:"]
)
def test_what_approves_nothing_is_an_error_without_a_password(given: str):
    with pytest.raises(SettingsError, match=r"SENSEGRAPH_TRUST: .* approves nothing") as caught:
        read_approvals(given, {}, Path("x"))
    assert "pw-1234" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "wanted", "holds"),
    [
        ("store:postgresql://me@db.example/library", "store:postgresql://db.example/library", True),
        ("store:postgresql://db.example/library?schema=x", "store:postgresql://db.example/library", True),
        ("store:postgresql://db.example", "store:postgresql://db.example/library", False),
        ("store:postgresql://db.example/other", "store:postgresql://db.example/library", False),
        ("https://db.example", "store:postgresql://db.example/library", False),
        ("cluster:HEAD.example:6379", "cluster:head.example:6379", True),
        ("cluster:ray://head.example:10001", "cluster:head.example:10001", True),
        ("cluster:head.example", "cluster:head.example:6379", False),
    ],
)
def test_an_approval_of_a_database_or_a_cluster_holds_for_that_one_alone(given: str, wanted: str, holds: bool):
    assert is_approved(wanted, read_approvals(given, {}, Path("x"))) is holds


def test_no_corpus_is_kept_in_a_database_that_a_file_chose(tmp_path: Path, unreachable: list[object]):
    (tmp_path / "sensegraph.toml").write_text('[store]\nurl = "postgresql://me@db.example/library?schema=taken"\n')
    with pytest.raises(Unapproved, match="keep all that is computed from this corpus") as caught:
        Corpus.open(tmp_path)
    assert caught.value.wanted == "store:postgresql://db.example/library"
    assert "SENSEGRAPH_TRUST=store:postgresql://db.example/library" in str(caught.value)
    assert unreachable == []


def test_no_work_is_sent_to_a_cluster_that_a_file_chose(tmp_path: Path, unreachable: list[object]):
    (tmp_path / "sensegraph.toml").write_text('[executor]\nkind = "ray"\naddress = "head.example:6379"\n')
    with (
        Corpus.open(tmp_path) as corpus,
        pytest.raises(Unapproved, match="whose machines can run programs as you") as caught,
    ):
        corpus.runtime()
    assert caught.value.wanted == "cluster:head.example:6379"
    assert unreachable == []


@pytest.mark.parametrize(("address", "free"), [("auto", True), ("127.0.0.1:6379", True), ("head.example:6379", False)])
def test_a_cluster_of_this_machine_needs_no_approval(address: str, free: bool):
    assert needs_no_approval(f"cluster:{address}") is free


def test_an_approval_that_is_taken_back_counts_no_more(tmp_path: Path, home: Path):
    root = foreign(tmp_path / "x", {"base_url": FAR})
    record_approval(locate_user_file(), refused(root).wanted)
    make_tools(load_settings(root))
    locate_user_file().write_text(f'[trust]\n"{FAR}" = false\n')
    refused(root)
    locate_user_file().write_text(f'[trust]\n"{FAR}" = "yes"\n')
    with pytest.raises(SettingsError, match=re.escape(str(locate_user_file()))):
        build(root)


@pytest.mark.parametrize(
    "before",
    ["", "# mine\n", '[trust]\n"https://a.example" = true # by hand\n', '\n[trust]  # here\n\n"A@http://b" = false\n'],
)
def test_recording_an_approval_keeps_what_stands_in_the_file(before: str, tmp_path: Path):
    path = tmp_path / "deep" / "settings.toml"
    path.parent.mkdir()
    path.write_text(before)
    record_approval(path, "KEY@https://b.example/v1")
    after = path.read_text()
    assert all(line in after.splitlines() for line in before.splitlines())
    old = tomllib.loads(before).get("trust", {})
    assert tomllib.loads(after) == {"trust": {**old, "KEY@https://b.example/v1": True}}
    assert [p.name for p in path.parent.iterdir()] == ["settings.toml"]


@pytest.mark.parametrize("before", ["no toml", "trust = 3\n", '[trust]\n"https://b.example" = false\n'])
def test_a_file_that_cannot_take_an_approval_is_left_as_it_is(before: str, tmp_path: Path):
    path = tmp_path / "settings.toml"
    path.write_text(before)
    with pytest.raises(SettingsError, match=r"put this under \[trust\]"):
        record_approval(path, "https://b.example")
    assert path.read_text() == before


@pytest.mark.parametrize(("name", "used"), [("XDG_CONFIG_HOME", True), ("APPDATA", sys.platform == "win32")])
def test_the_users_file_stands_outside_every_corpus(
    name: str, used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert locate_user_file().is_absolute()
    monkeypatch.setenv(name, str(tmp_path / "own"))
    assert (locate_user_file() == tmp_path / "own" / "sensegraph" / "settings.toml") is used


# ── on the terminal, and by init ──


class Keyboard(io.StringIO):
    def isatty(self) -> bool:
        return True


def typed(keys: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[Result, list[str]]:
    """A command on a terminal, and the questions that it asked."""
    asked: list[str] = []
    answers = iter(keys)

    def confirm(text: str, **_: Any) -> bool:
        asked.append(text)
        return next(answers) == "y"

    monkeypatch.setattr("typer.confirm", confirm)
    monkeypatch.setattr("sensegraph.cli.sys", type("Sys", (), {"stdin": Keyboard()}))
    return CliRunner().invoke(app, words), asked


def test_one_key_on_the_terminal_approves_for_good(
    tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sensegraph.models.endpoint.endpoint_settings.is_this_machine", lambda url: False)
    root = foreign(tmp_path / "x", {"base_url": server.base_url})
    (root / "input").mkdir()
    (root / "input" / "a.txt").write_text(TEXT.text)
    words = ["index", str(root / "input"), "--root", str(root)]
    result, asked = typed("n", words, monkeypatch)
    assert (result.exit_code, len(asked), server.calls) == (1, 1, [])
    assert server.base_url in result.stderr
    assert USUAL in result.stderr
    assert not locate_user_file().exists()
    result, asked = typed("y", words, monkeypatch)
    assert (result.exit_code, len(asked)) == (0, 1)
    assert server.calls
    result, asked = typed("", ["query", "Who?", "--root", str(root)], monkeypatch)
    assert (result.exit_code, asked) == (0, [])


def test_a_key_on_the_terminal_does_not_approve_what_the_file_says_later(
    tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
):
    root = foreign(tmp_path / "x", {"base_url": server.base_url, "api_key_env": "GITHUB_TOKEN"})
    words = ["tune-prompts", str(root), "--root", str(root)]
    typed("y", words, monkeypatch)
    assert is_approved(f"GITHUB_TOKEN@{server.base_url}", read_approvals("", kept(), locate_user_file()))
    foreign(root, {"base_url": server.base_url, "api_key_env": "AWS_SECRET_ACCESS_KEY"})
    assert refused(root).wanted == f"AWS_SECRET_ACCESS_KEY@{server.base_url}"


def kept() -> dict[str, bool]:
    return dict(tomllib.loads(locate_user_file().read_text())["trust"]) if locate_user_file().exists() else {}


def test_init_with_an_endpoint_writes_it_and_approves_it(tmp_path: Path):
    given = [f'endpoint.base_url="{FAR}"', "endpoint.model=large", "endpoint.api_key_env=GITHUB_TOKEN"]
    words = ["init", "--root", str(tmp_path / "notes"), *(w for pair in given for w in ("--set", pair))]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.stderr
    assert kept() == {f"GITHUB_TOKEN@{FAR}": True}
    assert f"approved GITHUB_TOKEN@{FAR}" in result.stdout
    loaded = load_settings(tmp_path / "notes")
    assert (loaded.endpoint.base_url, loaded.endpoint.model, loaded.endpoint.api_key_env) == (
        FAR,
        "large",
        "GITHUB_TOKEN",
    )
    assert loaded.model.prompts == str(tmp_path / "notes" / "prompts")
    make_tools(loaded)


def test_init_approves_nothing_of_a_file_that_is_there_already(tmp_path: Path):
    root = foreign(tmp_path / "x", {"base_url": FAR})
    result = CliRunner().invoke(app, ["init", "--root", str(root), "--set", "endpoint.model=large"])
    assert "left as it is, without what --set says" in result.stderr
    assert kept() == {}
    refused(root)


@pytest.mark.parametrize("pair", ["trust=true", "personal.patterns.x=y", "endpoint.modle=m"])
def test_init_writes_nothing_for_a_setting_that_it_cannot_write(pair: str, tmp_path: Path):
    result = CliRunner().invoke(app, ["init", "--root", str(tmp_path / "x"), "--set", pair])
    assert result.exit_code == 1
    assert not (tmp_path / "x").exists()


# ── passwords in addresses ──


def test_a_password_in_an_address_is_shown_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorder: Any):
    monkeypatch.delenv(USUAL)
    far = "https://me:pass-word@llm.example/v1?token=pass-word"
    root = foreign(tmp_path / "x", {"base_url": far})
    said = [str(refused(root)), repr(load_settings(root)), repr(load_settings(root).endpoint)]
    with pytest.raises(SettingsError, match=r"https://llm\.example/v1 needs a key") as caught:
        build(root, trust=True)
    said.append(str(caught.value))
    for words in (["index", str(root)], ["status"], ["query", "Who?"], ["init"]):
        result = CliRunner().invoke(app, [*words, "--root", str(root)])
        said.append(result.output + result.stderr)
    for pair in (f"endpoint.base_url={far}!", f"={far}", far):
        said.append(CliRunner().invoke(app, ["status", "--root", str(root), "--set", pair]).stderr)
        assert "--set" in said[-1]
    url, got = recorder()
    with pytest.raises(EndpointDown) as down:
        build(foreign(tmp_path / "y", {"base_url": url.replace("://", "://me:pass-word@")}))
    said.append(str(down.value))
    assert base64.b64encode(b"me:pass-word") in got[0]
    assert not [text for text in said if "pass-word" in text]


COMMANDS = [  # what speaks to the endpoint, or tells of it
    *(
        ["index", "input"],
        ["index", "input", "--json"],
        ["status"],
        ["status", "--json"],
        ["index", "--dry-run", "input"],
    ),
    *(["query", "Who wrote?", "--method", "naive"], ["query", "Who wrote?", "--method", "naive", "--json"]),
    *(["search", "Ada"], ["search", "Ada", "--json"], ["doctor"], ["doctor", "--json"], ["entities", "duplicates"]),
    *(
        ["show", "reports"],
        ["documents", "purge"],
        ["show", "methods"],
        ["config", "presets"],
        ["tune", "prompts", "input"],
    ),
]


@pytest.mark.parametrize("answers", ["calm", "an error that repeats the address", "a redirect", "nobody", "no proxy"])
def test_a_password_in_an_address_is_neither_printed_nor_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: str, recorder: Any
):
    word, token = "pass-word-4711", "token-in-the-query-4711"
    secret = f"http://me:{word}@127.0.0.1:1/v1?token={token}"
    monkeypatch.setenv(USUAL, "sk-usual-0123456789")
    with ScriptedServer() as server:
        if answers == "an error that repeats the address":
            server.script = Script(fail_rate=1.0, fail_status=400, fail_message=f"no such place: {secret}")
        url = {"a redirect": recorder(secret)[0], "nobody": "http://127.0.0.1:1/v1"}.get(answers, server.base_url)
        if answers == "no proxy":
            monkeypatch.setenv("http_proxy", f"http://me:{word}@127.0.0.1:1")
            monkeypatch.setenv("SENSEGRAPH_TRUST", "http://far.example/v1")
            url = "http://far.example/v1"
        url = url.replace("://", f"://me:{word}@") + f"?token={token}"
        root = foreign(tmp_path / "x", {"base_url": url, "embedding_model": "e", "embedding_base_url": url})
        (root / "input").mkdir()
        for name in "ab":
            (root / "input" / f"{name}.txt").write_text(f"{name} {TEXT.text}")
        monkeypatch.chdir(root)
        said = []
        for words in COMMANDS:
            result = CliRunner().invoke(app, words)
            assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit), words
            assert result.exit_code in (0, 1), words
            said.append(f"{words} {result.exit_code} {result.output} {result.stderr}")
        assert answers != "calm" or server.done("extraction")
    written = [p for p in root.rglob("*") if p.is_file() and p.name != "sensegraph.toml"]
    assert len(written) > 3
    said += [f"{p} {p.read_bytes().decode('latin-1')}" for p in written]
    coded = base64.b64encode(f"me:{word}".encode()).decode()
    assert not [text[:200] for text in said if word in text or coded in text or token in text]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:pw@Host.example:443/v1/?k=pw#pw", "https://host.example/v1/"),
        ("https://evil.example/@api.openai.com", "https://evil.example/@api.openai.com"),
        ("https://evil.example?@api.openai.com", "https://evil.example"),
        ("https://me:p#w@host.example", "an address that cannot be read"),
        ("https://h\u202eost.example/\u202e", "https://h\\u202eost.example/%E2%80%AE"),
        ("/v1/elsewhere", "/v1/elsewhere"),
    ],
)
def test_an_address_is_shown_in_plain_characters_and_without_secrets(url: str, shown: str):
    assert address_of(url) == shown


def test_passwords_within_a_text_are_masked():
    assert mask_urls("a https://me:pw@h/v1, b@c 'http://x/v?k=pw' d?") == "a https://***@h/v1, b@c 'http://x/v?***' d?"
    assert mask_urls("https://me:p/w@h") == "https://***@h"


def test_only_the_usual_variable_needs_no_approval_and_only_at_home():
    assert needs_no_approval(approval_of("https://api.openai.com/v1"))
    assert needs_no_approval(approval_of("http://127.0.0.1:8000/v1"))
    assert not needs_no_approval(approval_of("http://127.0.0.1:8000/v1", "GITHUB_TOKEN"))
    assert not needs_no_approval(approval_of("https://api.openai.com/v1", "GITHUB_TOKEN"))


def test_the_refusal_survives_pickling(tmp_path: Path):
    found = refused(foreign(tmp_path / "x", {"base_url": FAR}))
    copied = pickle.loads(pickle.dumps(found))
    assert (str(copied), copied.wanted, copied.question) == (str(found), found.wanted, found.question)


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        ({"engine": "offline"}, []),
        ({"engine": "offline", "rerank": {"by": "endpoint"}}, ["rerank"]),
        ({"engine": "offline", "endpoint": {"vision_model": "seer-1"}}, ["vision"]),
        ({"engine": "offline", "endpoint": {"model": "one", "embedding_model": "e"}}, []),
        ({"endpoint": {"model": "one"}}, ["chat"]),
        ({"endpoint": {"embedding_model": "e"}}, ["embedding"]),
        ({"endpoint": {"model": "one", "embedding_model": "e"}}, ["chat", "embedding"]),
        ({"endpoint": {"model": "one", "embedding_model": "e"}, "embedding": {"folder": "v"}}, ["chat", "folder"]),
        ({"engine": "model"}, ["chat"]),
        ({"engine": "offline", "embedder": "endpoint"}, ["embedding"]),
        ({"embedder": "offline", "endpoint": {"embedding_model": "e"}, "embedding": {"folder": "v"}}, []),
        ({"embedder": "folder"}, ["folder"]),
        ({"embedding": {"folder": "v"}}, ["folder"]),
        ({"engine": "local"}, ["local"]),
        ({"rerank": {"by": "folder"}}, ["cross-encoder"]),
        ({"rerank": {"by": "cross-encoder"}}, ["cross-encoder"]),
        ({"rerank": {"by": "engine"}}, []),
        ({"store": {"url": "postgresql://h/d"}}, ["store"]),
        ({"executor": {"kind": "ray", "address": "ray://h:1"}}, ["cluster"]),
        ({"executor": {"kind": "ray"}}, []),
        ({"executor": {"address": "ray://h:1"}}, []),
    ],
)
def test_only_what_the_settings_use_needs_an_approval(given: dict[str, Any], needed: list[str]) -> None:
    assert list(needed_approvals(convert_settings(given, Settings, "here"))) == needed
