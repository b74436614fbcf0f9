"""The command line, as its users meet it; a model is a scripted server at the other end of the wire."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from scripted import Script, ScriptedServer
from sensegraph.cli import app, main, show
from sensegraph.cli.options import print_json, read_overrides, show_controls
from sensegraph.cli.progress import label_step, show_progress
from sensegraph.cli.show import find_best_sentences
from sensegraph.cli.template import (
    _HINTS,
    _TABLES,
    COMMON,
    flatten_tables,
    format_toml,
    list_defaults,
    list_settings_tables,
    settings_toml,
)
from sensegraph.corpus.settings import Settings, load_settings
from sensegraph.types import Answer, Citation, Usage

Run = Callable[..., Result]

ADA = "Ada Lovelace met Charles Babbage in London. Ada Lovelace wrote notes on the Analytical Engine.\n"
GRACE = "Grace Hopper joined the Navy in Boston. Grace Hopper wrote the first compiler for Remington Rand.\n"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in [n for n in os.environ if n.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    return lambda *words: CliRunner().invoke(app, [str(w) for w in words])


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "ada.txt").write_text(ADA)
    (folder / "grace.txt").write_text(GRACE)
    return folder


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(Script()) as running:
        yield running


def settings_of(server: ScriptedServer) -> str:
    return (
        "[model]\nmax_gleanings = 0\n"
        f'[endpoint]\nbase_url = "{server.base_url}"\nmodel = "scripted"\nembedding_model = "scripted"\n'
        "price_prompt = 1.0\nprice_completion = 2.0\n"
    )


@pytest.fixture
def root(tmp_path: Path, server: ScriptedServer) -> Path:
    """A corpus that asks the scripted model."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "sensegraph.toml").write_text(settings_of(server))
    return folder


@pytest.fixture
def indexed(root: Path, texts: Path, run: Run) -> Path:
    assert run("index", texts, "--root", root).exit_code == 0
    return root


def parsed(result: Result) -> Any:
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("\n") == 1  # one object on one line, nothing else
    return json.loads(result.stdout)


# ── beginning ──


def test_help_names_every_command(run: Run):
    found = run("--help").stdout
    names = re.findall(r"^  ([a-z]+) ", found.partition("Commands:\n")[2], re.MULTILINE)
    assert len(names) == 15
    assert {"init", "index", "query", "search", "show", "entities", "documents", "graph", "status", "config"} < {*names}
    assert {"doctor", "serve", "mcp", "eval", "tune"} < {*names}


def test_version_is_that_of_the_package(run: Run):
    from sensegraph import __version__

    assert run("--version").stdout == f"sensegraph {__version__}\n"


def test_init_writes_a_file_that_changes_no_setting_but_the_folder_of_prompts(tmp_path: Path, run: Run):
    assert run("init", "--root", tmp_path / "notes").exit_code == 0
    assert (tmp_path / "notes" / "input").is_dir()
    written = load_settings(tmp_path / "notes")
    assert not any(written.methods.values())
    assert replace(written, methods={}) == load_settings(tmp_path, {"model": {"prompts": "notes/prompts"}})


def test_every_default_of_the_written_file_is_the_real_one():
    active = re.sub(r"^# (\w+ = [^ ].*)$", r"\1", settings_toml(), flags=re.MULTILINE)
    written = tomllib.loads(active)
    assert written["endpoint"]["base_url"] == Settings().endpoint.base_url
    said, defaults = dict(flatten_tables(written)), list_defaults()
    assert set(said) == set(COMMON) <= set(defaults)
    assert said == {name: list(v) if isinstance(v := defaults[name], tuple) else v for name in said}
    assert 35 <= len(said) <= 45


def test_every_setting_stands_in_the_written_file():
    apart = {
        "endpoint",
        "model",
        "local",
        "documents",
        "index",
        "embedding",
        "rerank",
        "personal",
        "methods",
        "trust",
        "foreign",
        "offline",
        "store",
        "executor",
    }
    names = {f.name for f in fields(Settings)} - apart
    assert names < {setting for _, _, values in list_settings_tables() for setting in values}


def test_every_explanation_in_the_written_file_is_of_a_setting_or_table_that_exists():
    known = {name: values for name, _, values in list_settings_tables()}
    assert set(_TABLES) <= set(known)
    assert [h for h in _HINTS if h.rpartition(".")[2] not in known[h.rpartition(".")[0]]] == []


def test_the_written_file_uses_no_word_of_programmers():
    assert not re.search(r"None|tuple\[|edge2024|\bint\b|X2", settings_toml())


def test_init_copies_the_prompts_and_lets_the_settings_use_them(tmp_path: Path, run: Run):
    run("init", "--root", tmp_path)
    assert (tmp_path / "prompts" / "extract.md").read_text()
    assert load_settings(tmp_path).model.prompts == str(tmp_path / "prompts")


def test_init_overwrites_nothing(tmp_path: Path, run: Run):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "extract.md").write_text("mine")
    (tmp_path / "sensegraph.toml").write_text("method = 'naive'")
    result = run("init", "--root", tmp_path)
    assert "exists and was left as it is" in result.stderr
    assert (tmp_path / "prompts" / "extract.md").read_text() == "mine"
    assert (tmp_path / "sensegraph.toml").read_text() == "method = 'naive'"


def test_methods_lists_what_each_is_good_for(run: Run):
    assert "graphrag" in run("show", "methods").stdout
    assert {"name", "paper", "tasks", "good_for"} == set(parsed(run("show", "methods", "--json"))["methods"][0])


# ── building ──


def test_index_prints_counts_and_cost(root: Path, texts: Path, run: Run):
    result = run("index", texts, "--root", root)
    assert result.exit_code == 0
    assert re.search(r"^2 documents, 2 chunks, \d+ entities, \d+ relations, 0 claims \(2 new", result.stdout)
    assert "communities by depth: " in result.stdout
    assert re.search(r"^this run read 2 chunks, embedded \d+ texts, wrote \d reports?$", result.stdout, re.MULTILINE)
    assert re.search(r"\d+ calls, [\d,]+ tokens, \$0\.\d+", result.stdout)


def test_a_second_index_computes_nothing(indexed: Path, texts: Path, run: Run):
    found = parsed(run("index", texts, "--root", indexed, "--json"))
    assert (found["documents"], found["same"], found["new"], found["computed"]) == (2, 2, 0, {})
    assert found["usage"]["calls"] == 0


def test_fresh_clusters_again_and_finds_the_same_where_nothing_changed(indexed: Path, run: Run):
    before = parsed(run("status", "--root", indexed, "--json"))["clusters"]
    assert parsed(run("index", "--root", indexed, "--fresh", "--json"))["clusters"] == before


def test_index_without_a_path_reads_the_input_folder(root: Path, run: Run):
    (root / "input").mkdir()
    (root / "input" / "ada.txt").write_text(ADA)
    assert parsed(run("index", "--root", root, "--json"))["documents"] == 1


def test_index_without_a_path_keeps_what_was_added_before(indexed: Path, run: Run):
    assert parsed(run("index", "--root", indexed, "--json"))["documents"] == 2


def test_quiet_prints_nothing(root: Path, texts: Path, run: Run):
    result = run("index", texts, "--root", root, "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_a_skipped_file_is_named_and_the_rest_indexed(root: Path, texts: Path, run: Run):
    (texts / "bad.jsonl").write_text("no json\n")
    result = run("index", texts, "--root", root)
    assert result.exit_code == 0
    assert re.search(r"^skipped .*bad\.jsonl: ", result.stderr)
    assert "1 skipped" in result.stdout


def test_of_many_skipped_files_twenty_are_named_and_the_rest_counted(root: Path, texts: Path, run: Run):
    for i in range(25):
        (texts / f"bad{i:02}.json").write_text("{")
    lines = run("index", texts, "--root", root).stderr.splitlines()
    assert len(lines) == 21
    assert lines[-1].startswith("skipped 5 more")


def test_a_path_that_may_not_be_read_is_skipped_by_name_and_the_rest_indexed(
    root: Path, texts: Path, run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "access", lambda path, mode, **_: Path(path).name != "grace.txt")
    real = open

    def refused(path: Any, *rest: Any, **named: Any) -> Any:
        if str(path).endswith("grace.txt"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest, **named)

    monkeypatch.setattr("builtins.open", refused)
    result = run("index", texts / "grace.txt", texts / "ada.txt", "--root", root)
    assert result.exit_code == 0
    assert re.search(r"^skipped .*grace\.txt: cannot be read \(Permission denied\)", result.stderr)
    assert result.stdout.startswith("1 document,")


@pytest.mark.parametrize("before", [True, False])
def test_a_failed_index_of_an_empty_folder_leaves_things_as_they_were(tmp_path: Path, run: Run, before: bool):
    (tmp_path / "empty").mkdir()
    where = tmp_path / "corpus"
    if before:
        where.mkdir()
    assert run("index", tmp_path / "empty", "--root", where, "--engine", "offline").exit_code == 1
    assert where.exists() == before
    assert not (where / ".sensegraph").exists()


def test_nothing_readable_is_a_failure(root: Path, tmp_path: Path, run: Run):
    (tmp_path / "bad.json").write_text("{")
    result = run("index", tmp_path / "bad.json", "--root", root)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Nothing could be read from" in result.stderr


def test_a_document_whose_file_is_gone_stays_and_is_named_with_the_command_that_removes_it(
    indexed: Path, texts: Path, run: Run
):
    (texts / "ada.txt").unlink()
    result = run("index", texts, "--root", indexed)
    assert result.exit_code == 0
    assert f"sensegraph documents remove ada.txt --root {indexed}" in result.stderr
    assert result.stdout.startswith("2 documents")


def test_a_document_from_elsewhere_is_not_missed(indexed: Path, tmp_path: Path, run: Run):
    (tmp_path / "more.txt").write_text("Alan Turing worked at Bletchley Park with Joan Clarke.\n")
    result = run("index", tmp_path / "more.txt", "--root", indexed)
    assert (result.exit_code, result.stderr) == (0, "")


def test_estimate_foresees_calls_and_pays_nothing(root: Path, texts: Path, run: Run, server: ScriptedServer):
    before = len(server.calls)
    found = parsed(run("index", "--dry-run", texts, "--root", root, "--json"))
    assert (found["documents"], len(server.calls)) == (2, before)
    assert found["calls"] > 0
    assert found["cost_usd"] > 0
    assert found["seconds"] > 0
    assert parsed(run("status", "--root", root, "--json"))["documents"] == 0


def test_estimate_for_people_says_calls_money_and_time(root: Path, texts: Path, run: Run):
    found = run("index", "--dry-run", texts, "--root", root).stdout
    assert "\nread 2 chunks: 2 calls, " in found
    priced = r"about \$0\.\d+, or \$0\.\d+ with --batch .*"
    assert re.search(rf"in all about \d+ calls, .* tokens.*\n.*--max-tokens \d+.*\n{priced}\nabout ", found)


def test_the_limit_that_an_estimate_names_is_enough(root: Path, texts: Path, run: Run):
    found = parsed(run("index", "--dry-run", texts, "--root", root, "--json"))
    assert found["most_tokens"] > found["tokens"]
    assert run("index", texts, "--root", root, "--max-tokens", found["most_tokens"]).exit_code == 0


def test_an_estimate_names_what_would_be_skipped_and_leaves_nothing_behind(root: Path, texts: Path, run: Run):
    (texts / "bad.jsonl").write_text("no json\n")
    result = run("index", "--dry-run", texts, "--root", root)
    assert re.search(r"^skipped .*bad\.jsonl: ", result.stderr)
    assert "2 documents" in result.stdout
    assert run("index", "--dry-run", texts / "bad.jsonl", "--root", root).exit_code == 1
    assert not (root / ".sensegraph").exists()


def test_an_estimate_of_what_is_built_already_is_nothing(indexed: Path, run: Run):
    assert parsed(run("index", "--dry-run", "--root", indexed, "--json"))["calls"] == 0
    assert "no calls to a model" in run("index", "--dry-run", "--root", indexed).stdout


def test_an_estimate_knows_the_summaries_that_were_written_in_parts(root: Path, texts: Path, run: Run):
    (texts / "more.txt").write_text(
        "".join(f"Ada Lovelace wrote letter {i} to Mary Somerville.\n\n" for i in range(40))
    )
    small = ("chunk_tokens=40", "chunk_overlap=0", "graph.describe_above=20", "graph.summary_input=40")
    words = ("--root", root, "--json", *(w for s in small for w in ("--set", f"index.{s}")))
    assert parsed(run("index", texts, *words))["computed"]["graph.summarise"] > 4
    assert parsed(run("index", "--dry-run", *words))["calls"] == 0


def test_remove_makes_the_index_as_if_the_document_had_never_been_there(
    indexed: Path, texts: Path, tmp_path: Path, run: Run, server: ScriptedServer
):
    assert "removed 1 document\n1 document," in run("documents", "remove", "ada.txt", "--root", indexed).stdout
    other = tmp_path / "other"
    other.mkdir()
    (other / "sensegraph.toml").write_text(settings_of(server))
    run("index", texts / "grace.txt", "--root", other)
    left, fresh = (parsed(run("status", "--root", r, "--json")) for r in (indexed, other))
    names = ("documents", "chunks", "entities", "relations", "claims", "clusters")
    assert [left[n] for n in names] == [fresh[n] for n in names]


def test_when_the_last_document_is_removed_the_index_goes_too(indexed: Path, run: Run):
    assert "no index" in run("documents", "remove", "ada.txt", "grace.txt", "--root", indexed).stdout
    result = run("query", "Who?", "--root", indexed)
    assert result.exit_code == 1
    assert "There is no index here yet" in result.stderr


def test_to_remove_what_is_not_there_changes_nothing(indexed: Path, run: Run):
    result = run("documents", "remove", "ada.txt", "nobody.txt", "--root", indexed)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nobody.txt" in result.stderr
    assert run("status", "--documents", "--root", indexed).stdout == "ada.txt\ngrace.txt\n"


def test_to_remove_a_misspelt_document_names_the_nearest(indexed: Path, run: Run):
    result = run("documents", "remove", "adda.txt", "--root", indexed)
    assert result.exit_code == 1
    assert "did you mean 'ada.txt'?" in result.stderr


# ── asking ──


def test_query_shows_answer_citations_notes_cost_and_that_a_machine_wrote_it(indexed: Path, run: Run):
    found = run("query", "Who wrote what?", "--root", indexed).stdout
    assert re.search(r"^\[1\] (ada|grace)\.txt:\d+-\d+ “.+”$", found, re.MULTILINE)
    assert re.search(r"^- method: \w+ \(", found, re.MULTILINE)
    assert re.search(r"method \w+, engine scripted: \d calls?", found)
    assert found.endswith(show.NOTICE + "\n")


def test_every_quote_of_query_json_is_the_span_of_its_document(indexed: Path, texts: Path, run: Run):
    found = parsed(run("query", "Who wrote what?", "--root", indexed, "--json"))
    assert list(found) == ["schema", "answer", "method", "engine", "citations", "evidence", "usage", "notes"]
    assert found["citations"]
    for c in found["citations"]:
        assert f"[{c['marker']}]" in found["answer"]
        assert (texts / c["document"]).read_text()[c["start"] : c["end"]] == c["quote"]


def test_evidence_of_query_json_names_its_documents(indexed: Path, run: Run):
    found = parsed(run("query", "Who wrote what?", "--root", indexed, "--json", "--method", "graphrag", "--depth", 0))
    assert all(set(e) == {"kind", "id", "score", "text", "documents", "places"} for e in found["evidence"])
    assert {d for e in found["evidence"] for d in e["documents"]} <= {"ada.txt", "grace.txt"}
    usage = {"calls", "prompt_tokens", "completion_tokens", "embedding_tokens", "cost_usd", "seconds"}
    assert set(found["usage"]) == usage


def test_search_json_ranks_documents_and_writes_no_answer(indexed: Path, run: Run):
    found = parsed(run("search", "Who met Charles Babbage in London?", "--root", indexed, "--json", "--limit", 1))
    assert set(found) == {"schema", "documents", "evidence", "tokens"}
    assert found["documents"] == [found["evidence"][0]["documents"][0]]
    assert found["tokens"] > 0


def test_an_index_without_what_a_method_reads_names_the_whole_command(indexed: Path, run: Run):
    found = run("query", "Who wrote what?", "--root", indexed, "--method", "raptor")
    assert found.exit_code == 1
    assert "raptor needs a part that this index lacks (tree): about 0 calls" in found.stderr
    assert f"`sensegraph index --method raptor --root {indexed}`" in found.stderr


def test_what_a_method_lacks_is_built_at_once_where_that_costs_nothing(root: Path, texts: Path, run: Run):
    offline = ["--root", root, "--engine", "offline", "--set", "embedder=offline"]
    assert run("index", texts, *offline, "--set", 'index.parts=["graph"]').exit_code == 0
    found = run("query", "--method", "global", "--query", "What are the themes?", *offline, "--json")
    assert (found.exit_code, parsed(found)["method"]) == (0, "graphrag")
    assert "building what graphrag needs and this index lacks (reports), without a model" in found.stderr
    assert run("query", "Who?", "--query", "What?", *offline).exit_code == 2


def test_search_for_people_ranks_from_one(indexed: Path, run: Run):
    assert re.match(r"1\. chunk \d\.\d+  \w+\.txt\n   \w", run("search", "compiler", "--root", indexed).stdout)


def test_search_for_people_shows_the_sentence_that_matches_with_its_span(indexed: Path, run: Run):
    found = run("search", "Who wrote the first compiler?", "--root", indexed).stdout
    said = "Grace Hopper wrote the first compiler for Remington Rand."
    start = GRACE.index(said)
    assert f"grace.txt:{start}-{start + len(said)} “{said}”" in found
    assert "joined the Navy" not in found


def test_of_a_text_that_shares_no_word_the_first_sentence_is_shown():
    assert find_best_sentences("Zebra?", ["One thing. Another thing.", ""]) == [[(0, 10)], []]


def test_a_word_of_content_counts_more_than_many_function_words():
    text = "What was it that the others were about? Budgets fell."
    assert find_best_sentences("What was it that was said about the budgets?", [text]) == [[(40, 53)]]


def test_two_sentences_are_shown_where_both_match_well():
    text = "Apples are red. Dogs bark. Apples are green."
    assert [text[a:b] for a, b in find_best_sentences("apples", [text])[0]] == ["Apples are red.", "Apples are green."]


def test_a_setting_of_another_method_is_refused(indexed: Path, run: Run):
    result = run("query", "Who?", "--root", indexed, "--method", "naive", "--depth", 1)
    assert result.exit_code == 1
    assert "depth" in result.stderr


def test_an_empty_question_is_refused(indexed: Path, run: Run):
    result = run("query", "  ", "--root", indexed)
    assert result.exit_code == 1
    assert "question is empty" in result.stderr


def test_people_are_shown_the_file_of_a_record_beside_its_id(root: Path, tmp_path: Path, run: Run):
    records = tmp_path / "people.jsonl"
    records.write_text("".join(json.dumps({"id": str(i), "text": t}) + "\n" for i, t in enumerate((ADA, GRACE))))
    assert run("index", records, "--root", root).exit_code == 0
    asked = ("Who wrote the first compiler?", "--root", root)
    assert re.search(r"^1\. chunk \d\.\d+  1 in people\.jsonl$", run("search", *asked).stdout, re.MULTILINE)
    assert re.search(r"^\[1\] \d:\d+-\d+ in people\.jsonl “", run("query", *asked).stdout, re.MULTILINE)
    assert parsed(run("search", *asked, "--json"))["documents"][0] == "1"


# ── status ──


def test_status_shows_counts_and_spend(indexed: Path, run: Run):
    found = run("status", "--root", indexed).stdout
    assert re.search(r"^documents +2 \(2 indexed\)$", found, re.MULTILINE)
    assert re.search(r"^spent +to read chunks: 2 calls", found, re.MULTILINE)


def test_status_json_has_every_count_as_a_number(indexed: Path, run: Run):
    found = parsed(run("status", "--root", indexed, "--json", "--documents"))
    assert all(isinstance(found[n], int) for n in ("documents", "chunks", "entities", "relations", "claims"))
    assert sum(found["clusters"]) > 0
    assert found["ids"] == ["ada.txt", "grace.txt"]
    assert found["spend"]["extraction.extract"]["calls"] == 2


def test_status_counts_aggregates_where_they_are_built(indexed: Path, texts: Path, run: Run):
    before = parsed(run("status", "--root", indexed, "--json"))
    told = run("index", texts, "--root", indexed, "--method", "leanrag").stdout
    assert re.search(r"\d+ aggregates?, \d+ aggregate relations?", told)
    assert re.search(r"wrote \d+ aggregates?", told)
    found = parsed(run("status", "--root", indexed, "--json"))
    assert found["aggregates"] > 0
    assert "aggregates" not in before
    shown = run("status", "--root", indexed).stdout
    assert re.search(rf"^aggregates +{found['aggregates']}$", shown, re.MULTILINE)
    assert re.search(rf"^aggregate relations +{found['aggregate_relations']}$", shown, re.MULTILINE)
    assert run("query", "--root", indexed, "--method", "leanrag", "Who wrote programs?").exit_code == 0


def test_status_names_what_waits_for_a_build(indexed: Path, texts: Path, run: Run):
    from sensegraph import Corpus, Document

    with Corpus.open(indexed) as corpus:
        corpus.add(Document("new", "Something new."))
    assert re.search(r"^waiting +1 document for the next build: new$", run("status", "--root", indexed).stdout, re.M)


def test_status_of_a_folder_that_was_only_prepared_says_what_comes_next(tmp_path: Path, run: Run):
    run("init", "--root", tmp_path)
    result = run("status", "--root", tmp_path)
    assert result.exit_code == 0
    assert f"no documents yet; next: sensegraph index PATH --root {tmp_path}" in result.stdout
    assert parsed(run("status", "--root", tmp_path, "--json"))["documents"] == 0
    assert not (tmp_path / ".sensegraph").exists()


@pytest.mark.parametrize("words", [["query", "Who?"], ["search", "Who?"], ["status"]])
def test_documents_without_a_finished_build_are_told_with_the_command_that_builds(
    words: list[str], root: Path, texts: Path, run: Run
):
    assert run("index", texts, "--root", root, "--max-tokens", 50).exit_code == 5
    result = run(*words, "--root", root)
    assert result.exit_code == (0 if words == ["status"] else 1)
    assert "2 documents wait to be indexed" in result.output
    assert f"run: sensegraph index --root {root}" in result.output


def test_a_build_that_was_begun_is_told_apart(root: Path, texts: Path, run: Run, server: ScriptedServer):
    run("index", texts, "--root", root, "--max-tokens", 6500, "--set", "endpoint.concurrency=1")
    assert "a build was begun and has not finished" in run("query", "Who?", "--root", root).stderr


def test_a_limit_that_is_reached_names_the_flag_and_the_setting(root: Path, texts: Path, run: Run):
    tokens = run("index", texts, "--root", root, "--max-tokens", 50).stderr
    assert "raise --max-tokens (or endpoint.max_tokens_total) and run again to resume" in tokens
    money = run("index", texts, "--root", root, "--max-cost", 0.000001).stderr
    assert "raise --max-cost (or endpoint.max_cost_usd) and run again to resume" in money


# ── settings on the command line ──


def test_set_takes_toml_values_and_bare_words():
    pairs = ["index.chunk_tokens=400", "engine=offline", 'model.language="Old English"', "model.entity_types=['a']"]
    assert read_overrides(pairs) == {
        "index": {"chunk_tokens": 400},
        "engine": "offline",
        "model": {"language": "Old English", "entity_types": ["a"]},
    }


SETTABLE = st.one_of(
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)


@given(st.one_of(SETTABLE, st.lists(SETTABLE, max_size=3)))
def test_a_value_written_as_toml_is_the_value_that_set_reads(value: Any):
    assert read_overrides([f"methods.naive.x={format_toml(value)}"]) == {"methods": {"naive": {"x": value}}}


def test_limits_become_settings_of_the_endpoint():
    assert read_overrides(None, None, 5, 0.5) == {"endpoint": {"max_tokens_total": 5, "max_cost_usd": 0.5}}


@pytest.mark.parametrize("pair", ["engine", "=1", "a b=1", "x=[1", "x=1\ny=2", "x="])
def test_a_malformed_setting_is_wrong_usage(pair: str, tmp_path: Path, run: Run):
    assert run("status", "--root", tmp_path, "--set", pair).exit_code == 2


def test_a_setting_takes_effect(root: Path, texts: Path, run: Run):
    few = ("--set", "index.chunk_tokens=12", "--set", "index.chunk_overlap=0")
    assert parsed(run("index", texts, "--root", root, "--json", *few))["chunks"] > 2


def test_an_unknown_setting_is_blamed_on_the_command_line(tmp_path: Path, run: Run):
    result = run("status", "--root", tmp_path, "--set", "index.chunk_token=400")
    assert result.exit_code == 1
    assert "command line: unknown setting index.chunk_token; did you mean index.chunk_tokens?" in result.stderr


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("chunk_tokens=50", "unknown setting chunk_tokens; did you mean index.chunk_tokens?"),
        ("chunk_token=50", "did you mean index.chunk_tokens?"),
        ("endpoint.chunk_tokens=50", "did you mean index.chunk_tokens?"),
        ("endpoint.modle=1", "did you mean endpoint.model?"),
        ("zzz=1", "known here: engine, "),
        ("engine=offlin", "engine cannot be 'offlin'; choose auto, offline, model or local. Did you mean offline?"),
        ("index.graph.orphans=drp", "index.graph.orphans cannot be 'drp'; choose create or drop. Did you mean drop?"),
    ],
)
def test_a_mistaken_setting_is_refused_with_the_nearest(pair: str, said: str, tmp_path: Path, run: Run):
    result = run("status", "--root", tmp_path, "--set", pair)
    assert result.exit_code == 1
    assert said in result.stderr


def test_a_setting_in_the_wrong_table_of_the_file_is_named_where_it_belongs(tmp_path: Path, run: Run):
    (tmp_path / "sensegraph.toml").write_text("chunk_tokens = 50\n")
    assert "did you mean index.chunk_tokens?" in run("status", "--root", tmp_path).stderr


def test_an_engine_that_nobody_knows_is_wrong_usage_with_the_nearest(run: Run):
    result = run("index", "--engine", "offlin")
    assert result.exit_code == 2
    assert "choose auto, offline, model or local. Did you mean offline?" in result.stderr


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("methods.naiv.top=3", "did you mean 'naive'?"),
        ("methods.naive.tops=3", "unknown setting tops; did you mean top?"),
        ("methods.naive.top=three", "Expected `int`, got `str` (setting `top`)"),
        ("methods.naive.name=mine", "unknown setting name"),
    ],
)
def test_a_setting_that_no_method_has_is_refused_by_every_command(pair: str, said: str, indexed: Path, run: Run):
    result = run("status", "--root", indexed, "--set", pair)
    assert result.exit_code == 1
    assert said in result.stderr


# ── failures ──


def test_a_folder_without_an_index_is_explained_in_one_line(tmp_path: Path, run: Run):
    result = run("query", "Who?", "--root", tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert "sensegraph index" in result.stderr
    assert not (tmp_path / ".sensegraph").exists()


def test_a_path_that_does_not_exist_is_named(root: Path, run: Run):
    result = run("index", "nowhere", "--root", root)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nowhere" in result.stderr


@pytest.mark.parametrize(
    "words", [["nonsense"], ["query"], ["index", "--engine", "magic"], ["search", "x", "--limit", "0"]]
)
def test_wrong_usage_has_status_2(words: list[str], run: Run):
    assert run(*words).exit_code == 2


def test_a_remote_endpoint_without_a_key_says_which_variable_to_set(tmp_path: Path, texts: Path, run: Run):
    (tmp_path / "sensegraph.toml").write_text('[endpoint]\nmodel = "m"\n')
    result = run("index", texts, "--root", tmp_path)
    assert result.exit_code == 1
    assert "OPENAI_API_KEY" in result.stderr


def test_a_file_in_the_way_is_explained_without_a_traceback(tmp_path: Path, run: Run):
    (tmp_path / "input").write_text("a file")
    result = run("init", "--root", tmp_path)
    assert result.exit_code == 1
    assert str(tmp_path / "input") in result.stderr


def test_characters_that_steer_a_terminal_are_shown():
    assert show_controls("a\x1b[31mb\x9bc\td\u202e\n") == "a\\x1b[31mb\\x9bc\td\\u202e\n"


def test_a_long_quote_is_cut_for_people_only():
    quote = "word " * 100
    shown = show.format_answer(Answer("Text [1]", (Citation(1, "d", 0, len(quote), quote),), method="m", engine="e"))
    assert "word …”" in shown
    assert max(map(len, shown.splitlines())) < 200


def test_spending_is_said_in_full():
    usage = Usage(calls=2, prompt_tokens=1_000, completion_tokens=500, cost_usd=0.25, retries=1, seconds=2.0)
    assert show.format_usage(usage) == "2 calls, 1,500 tokens, $0.2500, 1 retry, 2.0 s"
    assert show.format_usage(Usage(calls=1, rejected=1)) == "1 call, 0 tokens, 1 reply asked for again"


def test_a_step_is_called_by_its_last_name():
    assert label_step("steps.reports.report_all") == "report all"


# ── a terminal, an interruption, a pipe ──


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_each_step_replaces_the_bar_of_the_step_before(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with show_progress() as report:
        report("extraction.extract", 1, 2)
        report("extraction.extract", 2, 2)
        report("reports.report", 0, 3)
    assert "report" in terminal.getvalue()
    assert "0/3" in terminal.getvalue()


def test_a_step_that_comes_back_has_a_bar_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with show_progress() as report:
        for step, total in (("vectors.embed", 5), ("reports.report", 6), ("vectors.embed", 7)):
            report(step, 1, total)
    assert "1/7" in terminal.getvalue()


def test_quiet_shows_no_bar_even_on_a_terminal(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with show_progress(quiet=True) as report:
        report("extraction.extract", 1, 2)
    assert terminal.getvalue() == ""


def test_the_program_ends_with_the_status_of_its_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["sensegraph", "nonsense"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2


def test_json_is_ascii_where_stdout_is_not_utf_8(monkeypatch: pytest.MonkeyPatch):
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    print_json({"quote": "“Humbug”"})
    narrow.flush()
    assert json.loads(narrow.buffer.getvalue()) == {"schema": 1, "quote": "“Humbug”"}


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "sensegraph", *map(str, words)]


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_and_vanishes(root: Path, texts: Path):
    leader, follower = pty.openpty()
    running = subprocess.Popen(
        command("index", texts, "--root", root), stdout=subprocess.PIPE, stderr=follower, text=True
    )
    os.close(follower)
    seen = b""
    while select.select([leader], [], [], 200)[0]:  # read while it runs: a terminal that is full would stop it
        try:
            seen += os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
    said, _ = running.communicate(timeout=200)
    assert running.returncode == 0
    assert b"extract" in seen
    assert said.startswith("2 documents")
    assert seen.rstrip().endswith((b"\x1b[2K", b"\x1b[?25h"))  # the last line is erased


@pytest.mark.slow
def test_ctrl_c_stops_with_status_130_and_running_again_resumes(tmp_path: Path, texts: Path):
    with ScriptedServer(Script(latency_s=0.4)) as slow:
        (tmp_path / "sensegraph.toml").write_text(settings_of(slow) + "concurrency = 1\n")
        words = command("index", texts, "--root", tmp_path)
        running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 200
        while len(slow.calls) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=200)
        assert (running.returncode, said.strip()) == (130, "stopped; run the same command to resume")
        paid = {c.sha for c in slow.calls if c.status == 200}
        again = subprocess.run(words, capture_output=True, text=True)
        assert again.returncode == 0
        assert len(slow.calls) - len({c.sha for c in slow.calls}) <= 1  # the call that was under way at most
        assert paid


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_failure_to_explain(indexed: Path):
    run = subprocess.run(
        f"{sys.executable} -m sensegraph status --root '{indexed}' | true", shell=True, capture_output=True, text=True
    )
    assert run.returncode == 0
    assert "Traceback" not in run.stderr


# ── without a model ──


@pytest.mark.slow
def test_the_demo_indexes_answers_and_says_where_to_go_next(tmp_path: Path, run: Run):
    where = tmp_path / "demo"
    first = run("demo", "--root", where)
    assert first.exit_code == 0, first.stderr
    told = first.stdout.split("\n─")
    assert len(told) == 7
    for answer, holds in zip(
        told[1:], ("Adeyemi", "Project Lantern", "Weil", "summer time", "do not answer", "themes"), strict=True
    ):
        assert holds in answer
        assert re.search(r"^\[1\] 202\d-\d\d-\d\d-[a-z0-9.-]+:\d+-\d+ “.+”$", answer, re.MULTILINE)
    assert first.stdout.count("\n  sensegraph ") == 4
    again = run("demo", "--root", where)
    assert "nothing to do" in again.stdout


@pytest.mark.slow
def test_the_offline_engine_ignores_a_model_that_is_set(root: Path, texts: Path, run: Run, server: ScriptedServer):
    before = len(server.calls)
    words = ("--root", root, "--engine", "offline", "--json")
    found = parsed(run("index", texts, *words))
    assert found["documents"] == 2
    assert parsed(run("query", "Who wrote the first compiler?", *words))["engine"] == "offline"
    assert len(server.calls) == before
