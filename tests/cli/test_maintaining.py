"""Commands around the index: what demo, init, documents pii and documents purge print and write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from sensegraph.cli import app, options, show
from sensegraph.cli.maintenance import QUESTIONS, _format_freed, _format_size, offer_servers
from sensegraph.cli.options import CommandRun
from sensegraph.corpus import views
from sensegraph.corpus.garbage import Collected
from sensegraph.models.endpoint import local_servers
from sensegraph.models.endpoint.local_servers import LocalServer
from sensegraph.personal.personal_settings import PersonalSettings
from sensegraph.runtime.stores.corpus_store import Freed


def run(*words: object, **given: Any) -> Result:
    return CliRunner().invoke(app, list(map(str, words)), **given)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("size", "told"),
    [(0, "0.0 kB"), (99_949, "99.9 kB"), (99_999, "100.0 kB"), (100_000, "0.1 MB"), (1_234_567_890, "1,234.6 MB")],
)
def test_a_size_is_told_in_kilobytes_below_a_tenth_of_a_megabyte(size: int, told: str) -> None:
    assert _format_size(size) == told


def test_what_was_freed_names_only_what_there_was() -> None:
    assert _format_freed(Freed()) == "nothing; 0.0 kB"
    assert _format_freed(Freed(1, 0, 2, 500)) == "1 object, 2 arrays; 0.5 kB"
    assert _format_freed(Freed(1_200, 1, 0, 3_000_000)) == "1,200 objects, 1 table; 3.0 MB"


def collect(monkeypatch: pytest.MonkeyPatch, found: Collected, *words: str) -> str:
    @contextmanager
    def opened(self: CommandRun) -> Iterator[Any]:
        yield SimpleNamespace(collect=lambda *, dry: found if dry == found.dry else None)

    monkeypatch.setattr(CommandRun, "corpus", opened)
    return run("documents", "purge", *words).stdout


def test_a_purge_says_what_went_and_how_much_smaller_the_store_is(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {"reports.report": Freed(objects=2, bytes=10), "": Freed(tables=1, bytes=5)}
    found = Collected(steps, Freed(2, 1, 0, 15), 2_000_000, 50_000, 1, False, ("a note",))
    assert collect(monkeypatch, found).splitlines() == [
        "removed 2 objects, 1 table; 0.0 kB",
        "removed names that no document holds from 1 operation",
        "on disk 2.0 MB before, 50.0 kB now",
        "- a note",
    ]
    told = json.loads(collect(monkeypatch, found, "--json"))
    assert {k: v for k, v in told.items() if k != "schema"} == json.loads(json.dumps(views.view_collected(found)))
    assert collect(monkeypatch, found, "--quiet") == ""


def test_a_dry_purge_lists_steps_by_size_and_then_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {
        "b.words_in": Freed(objects=1, bytes=700),
        "": Freed(arrays=1, bytes=700),
        "a.first": Freed(tables=3, bytes=900),
        "c.last": Freed(objects=2, bytes=1),
    }
    found = Collected(steps, Freed(3, 3, 1, 2_301), 9, 9, 0, True)
    assert collect(monkeypatch, found, "--dry-run").splitlines() == [
        "would remove 3 objects, 3 tables, 1 array; 2.3 kB",
        "  first     3 tables; 0.9 kB",
        "  others    1 array; 0.7 kB",
        "  words in  1 object; 0.7 kB",
        "  last      2 objects; 0.0 kB",
    ]
    empty = Collected({}, Freed(), 9, 9, 2, True)
    assert collect(monkeypatch, empty, "--dry-run").splitlines() == [
        "would remove nothing; 0.0 kB",
        "would remove names that no document holds from 2 operations",
    ]


# ── init ──


def test_servers_of_this_machine_are_named_with_the_lines_that_use_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    servers = [
        LocalServer("Ollama", "http://h:1", ("a", "b"), ("e",), 32_768),
        LocalServer("llama.cpp", "http://h:2", (), (), 0, ready=False),
    ]
    monkeypatch.setattr(local_servers, "find_local_servers", lambda: servers)
    lines = list(offer_servers(Path("x.toml")))
    assert lines == [
        "Ollama runs on this machine (a, b, e, window 32,768 tokens). It is not used unless x.toml says, under",
        "  [endpoint]",
        '  base_url = "http://h:1"',
        '  model = "a"',
        '  embedding_model = "e"',
        "llama.cpp runs on this machine (no model yet, still loading). It is not used unless x.toml says, under",
        "  [endpoint]",
        '  base_url = "http://h:2"',
    ]
    said = run("init", tmp_path / "one").stdout
    assert "Ollama runs on this machine" in said
    assert "Ollama" not in run("init", tmp_path / "two", "--set", "engine=offline").stdout
    assert "Ollama" not in run("init", tmp_path / "three", "--set", "endpoint.model=x").stdout


def test_a_folder_is_prepared_once_and_left_as_it_is_afterwards(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(local_servers, "find_local_servers", list)
    root = tmp_path / "mine"
    first = run("init", root, "--set", "engine=offline", "--json")
    told = json.loads(first.stdout)
    assert told == {
        "schema": 1, "root": str(root), "file": str(root / "sensegraph.toml"), "new": True,
        "told": [f"wrote {root / 'sensegraph.toml'}"],
    }  # fmt: skip
    assert (root / "input").is_dir()
    assert list((root / "prompts").iterdir())
    text = (root / "sensegraph.toml").read_text()
    assert 'engine = "offline"' in text
    assert 'prompts = "prompts"' in text
    again = run("init", "--root", root)
    assert again.stderr == f"{root / 'sensegraph.toml'} exists and was left as it is\n"
    assert again.stdout == f"put documents into {root / 'input'}, then: sensegraph index --root {root}\n"
    for words, said in ((("--set", "engine=model"), "--set"), (("--preset", "edge2024"), "--preset")):
        assert run("init", root, *words).stderr.endswith(f"was left as it is, without what {said} says\n")
    assert (root / "sensegraph.toml").read_text() == text
    assert run("init", tmp_path / "wrong", "--set", "engin=x").exit_code == 1
    assert not (tmp_path / "wrong").exists()


def test_a_preset_says_how_many_of_its_choices_cannot_be_set(tmp_path: Path, monkeypatch: Any) -> None:
    from sensegraph.corpus.presets import find_preset

    monkeypatch.setattr(local_servers, "find_local_servers", list)
    chosen = find_preset("edge2024")
    left = sum(not choice.setting for choice in chosen.choices)
    lines = run("init", tmp_path / "a", "--preset", "edge2024").stdout.splitlines()
    told = f"with the settings of {chosen.paper}; {left} of its choices cannot be set: "
    assert lines[1] == f"{told}sensegraph config presets {chosen.name}"
    assert 0 < left < len(chosen.choices)


def test_a_model_that_was_named_for_a_new_folder_is_approved(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    given = ("--set", "endpoint.base_url=https://example.org/v1", "--set", "endpoint.model=m")
    lines = run("init", tmp_path / "a", *given).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["wrote", "approved", "put"]
    assert "https://example.org" in lines[1]
    assert "approved" not in run("init", tmp_path / "b", *given).stdout  # it is known by now


# ── demo ──


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the demonstration asks of a corpus that is not built."""
    asked: list[Any] = []

    @contextmanager
    def opened(root: Path, given: dict[str, str], *, progress: Any, create: bool) -> Iterator[Any]:
        asked.append((root, given, create))
        yield SimpleNamespace(
            add=lambda *paths: asked.append([path.name for path in paths]), build=lambda: "built",
            query=lambda q: asked.append(q) or SimpleNamespace(text=f"of {q}", citations=()), index=lambda: "index",
        )  # fmt: skip

    monkeypatch.setattr(options, "open_corpus", opened)
    monkeypatch.setattr(show, "format_build", lambda built: f"({built})")
    monkeypatch.setattr(views, "view_answer", lambda answer, index: {"text": answer.text, "of": index})
    return asked


def test_the_demonstration_asks_six_questions_and_says_where_to_go_next(tmp_path: Path, demo: list[Any]) -> None:
    root = tmp_path / "demo"
    lines = run("demo", "--root", root).stdout.splitlines()
    assert demo[0] == (root, {"engine": "offline", "embedder": "offline"}, True)
    assert len(demo[1]) == 40
    assert demo[1] == sorted(demo[1])
    assert demo[2:] == list(QUESTIONS)
    assert lines[:3] == [
        f"Two years of Brackwater Labs, an invented company, indexed in {root} without a model.",
        "",
        "(built)",
    ]
    assert lines[4:9] == ["─" * len(QUESTIONS[0]), QUESTIONS[0], "", f"of {QUESTIONS[0]}", ""]
    assert f'  sensegraph query --root {root} "How many buoys had drifting sensors?"   a question of your own' in lines
    kept = sorted((root / "input").iterdir())[0]
    kept.write_text("mine")
    assert run("demo", "--root", root).exit_code == 0
    assert kept.read_text() == "mine"


def test_the_demonstration_as_json_holds_the_answers(tmp_path: Path, demo: list[Any]) -> None:
    told = json.loads(run("init", "--demo", tmp_path / "a", "--json").stdout)
    assert told["answers"] == [{"question": q, "text": f"of {q}", "of": "index"} for q in QUESTIONS]
    assert told["root"] == str(tmp_path / "a")
    assert "put documents" not in run("init", "--demo", tmp_path / "a").stdout
    assert not (tmp_path / "a" / "sensegraph.toml").exists()
    run("init", "--demo", "--root", tmp_path / "b")
    assert demo[-8][0] == tmp_path / "b"


def test_without_a_folder_the_demonstration_has_its_own(tmp_path: Path, demo: list[Any], monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "--demo").exit_code == 0
    assert demo[0][0] == Path("sensegraph-demo")
    assert (tmp_path / "sensegraph-demo" / "input").is_dir()


# ── documents pii ──


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "b.txt").write_text("Write to ann@example.org or to bob@example.org. Call ann@example.org.")
    (tmp_path / "input" / "a.txt").write_text("Write to eve@example.net.")
    (tmp_path / "input" / "c.txt").write_text("Nothing is said here.")
    (tmp_path / "input" / "dd.txt").write_text("Write to max@example.net.")
    return tmp_path


def test_personal_data_is_counted_by_kind_and_the_worst_documents_come_first(letters: Path) -> None:
    given = ("documents", "pii", "--root", letters, "--set", 'personal.kinds=["email"]')
    lines = run(*given).stdout.splitlines()
    assert lines[0] == "5 found in 3 of 4 documents"
    assert lines[1].startswith("email            5  ")
    assert "@" in lines[1]
    assert lines[2:5] == ["b.txt   3 email", "a.txt   1 email", "dd.txt  1 email"]
    assert lines[5] == "not found by design:"
    assert all(line.startswith("- ") for line in lines[6:])
    assert "example" not in "\n".join(lines)
    lines = run(*given, "--limit", 1).stdout.splitlines()
    assert lines[2:4] == ["b.txt  3 email", "… and 2 more documents (--limit, --json)"]
    lines = run(*given, "--limit", 3).stdout.splitlines()
    assert "more documents" not in "\n".join(lines)
    assert json.loads(run(*given, "--json").stdout)["counts"] == {"email": 5}
    one = run("documents", "pii", letters / "input" / "a.txt", *given[2:]).stdout.splitlines()
    assert one[0] == "1 found in 1 of 1 document"
    none = run("documents", "pii", letters / "input" / "c.txt", *given[2:]).stdout.splitlines()
    assert none[:2] == ["0 found in 0 of 1 document", "not found by design:"]


def test_where_nothing_can_be_read_it_is_said_of_what(letters: Path, tmp_path: Path) -> None:
    (tmp_path / "empty" / "input").mkdir(parents=True)
    done = run("documents", "pii", "--root", tmp_path / "empty")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "Nothing can be read from" in done.stderr


@pytest.mark.parametrize(
    ("mask", "text", "said"),
    [
        ("mask", "Write to ann@example.org.", ""),
        ("mask", "Write to nobody.", "nothing of the kinds email is found in it\n"),
        ("report", "Write to ann@example.org.", "personal.mask is report: texts stand as they are\n"),
    ],
)
def test_a_text_is_shown_as_it_would_stand(monkeypatch: pytest.MonkeyPatch, mask: str, text: str, said: str) -> None:
    @contextmanager
    def opened(self: CommandRun, *, silent: bool) -> Iterator[Any]:
        rules = PersonalSettings(mask=mask, kinds=("email",))  # type: ignore[arg-type]
        masked = text.replace("ann@example.org", "[e]") if mask == "mask" else text
        yield SimpleNamespace(settings=SimpleNamespace(personal=rules), masked=lambda given: masked)

    monkeypatch.setattr(CommandRun, "corpus", opened)
    done = run("documents", "pii", "--text", text)
    assert done.stderr == said
    assert ("ann@" in done.stdout) == (mask == "report")
