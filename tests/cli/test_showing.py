"""What commands print for people, from values: to the letter, so that every count and every limit is seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from sensegraph.cli import show
from sensegraph.cli.options import (
    explain_missing_index,
    format_root_flag,
    print_json,
    read_overrides,
    report_skipped,
    show_controls,
)
from sensegraph.cli.template import format_toml, settings_toml
from sensegraph.corpus import views
from sensegraph.corpus.sources import Added
from sensegraph.corpus.workspace import Built, Status
from sensegraph.documents.document_files import Skipped
from sensegraph.errors import SettingsError
from sensegraph.index.estimate import Estimate, StepEstimate
from sensegraph.index.hierarchy.communities import Fate
from sensegraph.index.question_costs import QuestionEstimate
from sensegraph.methods import Listing
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.personal.personal_settings import Tally
from sensegraph.plugins import Plugin
from sensegraph.types import Answer, Chunk, Citation, Evidence, Passage, Source, Usage

# ── words, lines and columns ──


@pytest.mark.parametrize(
    ("n", "thing", "said"),
    [
        (1, "entity", "1 entity"),
        (2, "entity", "2 entities"),
        (0, "retry", "0 retries"),
        (1_000, "reply", "1,000 replies"),
        (2, "leaf", "2 leaves"),
        (3, "day", "3 days"),
    ],
)
def test_a_number_of_things_is_said_in_the_plural_it_takes(n: int, thing: str, said: str) -> None:
    assert show.format_quantity(n, thing) == said


def test_a_line_is_cut_at_a_word_when_it_is_longer_than_the_most() -> None:
    assert show.shorten_line("one \n two", 7) == "one two"
    assert show.shorten_line("one two", 6) == "one …"
    assert show.shorten_line("a" * 160) == "a" * 160
    assert show.shorten_line(f"{'a' * 150} {'b' * 20}") == f"{'a' * 150} …"


def test_columns_are_as_wide_as_a_terminal_shows_them() -> None:
    rows = [("a", "10", "first"), ("東京", "9", ""), ("bcd", "100", "last")]
    assert list(show.pad_columns(rows, right={1})) == ["a      10  first", "東京    9", "bcd   100  last"]
    assert list(show.pad_columns(rows)) == ["a     10   first", "東京  9", "bcd   100  last"]


# ── answers and evidence ──


def test_an_answer_is_shown_with_its_sources_notes_and_cost() -> None:
    cited = (Citation(1, "a.txt", 3, 9, "so  it\nis"), Citation(2, "r7", 0, 4, "yes"))
    answer = Answer("It is so. [1]", cited, usage=Usage(calls=1, embedding_calls=2, embedding_tokens=30, seconds=0.25))
    answer = replace(answer, notes=("one", "two"), method="naive", engine="offline")
    assert show.format_answer(answer, {"r7": "rows.csv"}).splitlines() == [
        "It is so. [1]",
        "",
        "Sources",
        "[1] a.txt:3-9 “so it is”",
        "[2] r7:0-4 in rows.csv “yes”",
        "",
        "Notes",
        "- one",
        "- two",
        "",
        "method naive, engine offline: 3 calls, 30 tokens, 0.2 s",
        show.NOTICE,
    ]
    assert show.format_answer(Answer("No.", method="m", engine="e")).splitlines()[:3] == [
        "No.",
        "",
        "method m, engine e: no calls to a model",
    ]


TEXT = "Ada lit the lamp. Nothing else. The lamp was lit by Ada. A lamp."


class Shelf:
    """One chunk, which begins at 100 of its document; and an entity of many documents."""

    def chunks(self, ids: Any) -> dict[str, Chunk]:
        known = {f"x{i}": Chunk(f"x{i}", f"x{i}.txt", 0, 1, 1, "x") for i in range(5)}
        known["c"] = Chunk("c", "d.txt", 100, 100 + len(TEXT), 5, TEXT)
        return {i: known[i] for i in ids if i in known}

    def page(self, document: str, place: int) -> int | None:
        return None

    def figure(self, document: str, place: int) -> None:
        return None


def test_evidence_shows_the_best_sentences_with_their_places_and_counts_what_is_empty() -> None:
    whole = Passage("chunk", "c", TEXT, 1.5, "A title", (Source("c", 0, len(TEXT)),))
    sources = tuple(Source(f"x{i}", 0, 1) for i in range(5))
    entity = Passage("entity", "e", "Ada is a keeper. " * 20, 0.25, "Ada " * 20, sources)
    blank = replace(whole, text="  ")
    lines = show.format_evidence(
        Evidence((whole, blank, entity), notes=("a note",)), Shelf(), "Who lit the lamp?", {"d.txt": "rows.csv"}
    ).splitlines()
    assert lines[:3] == [
        "1. chunk 1.500  d.txt in rows.csv",
        "   d.txt:100-117 “Ada lit the lamp.”",
        "   d.txt:132-156 “The lamp was lit by Ada.”",
    ]
    assert lines[3] == f"2. entity 0.250  {'Ada ' * 14}Ada …  x0.txt, x1.txt, x2.txt and 2 more"
    assert lines[4].startswith("   Ada is a keeper. Ada")
    assert lines[4].endswith(" …")
    assert lines[5:] == ["- not shown: 1 passage without anything that held then", "- a note"]
    assert show.format_evidence(Evidence(), Shelf(), "Who?") == "Nothing was found."


def test_a_passage_that_is_not_the_text_of_its_span_is_shown_from_its_beginning() -> None:
    cut = Passage("chunk", "c", "The lamp.", 1.0, "", (Source("c", 0, len(TEXT)),))
    two = Passage("chunk", "c", TEXT, 1.0, "", (Source("c", 0, 5), Source("c", 5, len(TEXT))))
    gone = Passage("chunk", "g", "Lamp", 1.0, "", (Source("g", 0, 4),))
    lines = show.format_evidence(Evidence((cut, two, gone)), Shelf(), "lamp").splitlines()
    assert [line for line in lines if line.startswith("   ")] == ["   The lamp.", f"   {TEXT}", "   Lamp"]


def test_the_best_sentences_weigh_rare_words_most_and_function_words_little() -> None:
    text = "Lamp one. Lamp two. Harbour three. The four."
    assert show.find_best_sentences("the harbour lamp", [text, "Nothing. At all.", ""]) == [
        [(0, 9), (20, 34)],  # ln(1 + 6/2) is more than 0.6 of ln(1 + 6/1)
        [(0, 8)],
        [],
    ]
    more = "Lamp one. Lamp two. Lamp six. Lamp ten. Harbour. The end."
    assert show.find_best_sentences("the harbour lamp", [more]) == [[(40, 48)]]
    assert show.find_best_sentences("the", [more]) == [[(49, 57)]]
    both = show.find_best_sentences("lamp", [text])
    assert both == [[(0, 9), (10, 19)]]
    assert show.find_best_sentences("lamp", ["Lamp one. Lamp two. Lamp six."]) == [[(0, 9), (10, 19)]]


# ── builds and the state of a corpus ──


def test_a_build_is_told_by_its_counts_its_work_and_its_cost() -> None:
    counts = {"documents": 1, "chunks": 2_000, "entities": 3, "aggregate_relations": 1, "leaves": 2}
    fates = (Fate("kept", "a", ("a",), ("a",)), Fate("new", "b", (), ("b",)), Fate("new", "c", (), ("c",)))
    done = {"extraction.extract": 2, "reports.report": 1, "vectors.stack": 5}
    built = Built(counts, (4, 1_200), done, Usage(calls=1, prompt_tokens=5), ("a note",), fates)
    added = Added(("a", "b"), ("c",), (), (Skipped("x", "y"),), Tally({"email": 1_200, "phone": 1}, 2, True))
    assert show.format_build(built, added).splitlines() == [
        "1 document, 2,000 chunks, 3 entities, 1 aggregate relation, 2 leaves (2 new, 1 changed, 1 skipped)",
        "personal data: masked 1,201 in 2 documents (1,200 email, 1 phone)",
        "communities by depth: 4, 1,200 (since the last build 1 kept, 2 new)",
        "this run read 2 chunks, wrote 1 report",
        "1 call, 5 tokens",
        "- a note",
    ]
    plain = Built({"documents": 2}, (), {"vectors.stack": 1}, Usage())
    assert show.format_build(plain, Added()).splitlines() == [
        "2 documents (0 new, 0 changed, 0 skipped)",
        "communities by depth: none",
        "this run put known parts together",
        "no calls to a model",
    ]
    idle = show.format_build(replace(plain, computed={"vectors.stack": 0}))
    assert idle.splitlines()[0] == "2 documents"
    assert "nothing to do: all of it was there" in idle
    assert show.format_tally(Tally({"email": 1}, 1)) == "personal data: found and not masked 1 in 1 document (1 email)"


def test_the_state_of_a_corpus_is_told_line_by_line(tmp_path: Path) -> None:
    status = Status(
        1_200, 1_000, {"documents": 1_000, "summary_entities": 7}, (3, 2), "offline", "hashed-terms",
        {"extraction.extract": Usage(calls=1), "odd.some_step": Usage(calls=2), "idle.step": Usage()},
        ("a", "b", "c", "d"), 2_345_678,
    )  # fmt: skip
    assert show.format_status(status, tmp_path).splitlines() == [
        f"folder           {tmp_path.resolve()}",
        "documents        1,200 (1,000 indexed)",
        "summary entities 7",
        "communities      3, 2 (by depth, from the root)",
        "engine           offline",
        "embedder         hashed-terms",
        "waiting          4 documents for the next build: a, b, c and 1 more",
        "on disk          2.3 MB",
        "spent            to read chunks: 1 call, 0 tokens",
        "spent            some step: 2 calls, 0 tokens",
        "in all           3 calls, 0 tokens",
    ]
    empty = Status(0, 0, {}, (), "", "", {}, (), 0)
    assert show.format_status(empty, Path(".")).splitlines()[1:] == [
        "documents   0 (0 indexed)",
        "next        no documents yet; next: sensegraph index PATH",
        "on disk     0.0 MB",
    ]
    begun = replace(empty, documents=2, ledger={"extraction.extract": Usage(calls=1)})
    assert show.format_status(begun, tmp_path).splitlines()[2:] == [
        f"next        {explain_missing_index(2, True, tmp_path)}",
        "on disk     0.0 MB",
        "spent       to read chunks: 1 call, 0 tokens",
    ]


def test_a_missing_index_is_explained_with_the_command_that_makes_it() -> None:
    root = Path("my notes")
    assert format_root_flag(Path(".")) == ""
    assert format_root_flag(root) == " --root 'my notes'"
    assert explain_missing_index(1, False, Path(".")) == (
        "1 document waits to be indexed: no build has finished; run: sensegraph index"
    )
    assert explain_missing_index(2_000, True, root) == (
        "2,000 documents wait to be indexed: a build was begun and has not finished; "
        "run: sensegraph index --root 'my notes'"
    )


def test_methods_and_plug_ins_are_listed() -> None:
    table = {"one": Listing("p:C", "a paper", "answer", "questions")}
    own = "one\n  a paper\n  needs: answer\n  good for: questions"
    assert show.format_methods(table, []) == own
    plugins = [Plugin("parts", "x", "m:a", "dist", "1"), Plugin("engines", "longer", "m:b", "other", "")]
    assert show.format_methods(table, plugins[:1]) == f"{own}\n\nx\n  from: dist 1 (m:a)"
    assert show.format_plugins(plugins).splitlines() == [
        "parts    x       dist 1  m:a",
        "engines  longer  other   m:b",
    ]


# ── estimates ──


ESTIMATE = Estimate(
    2, 30, (StepEstimate("extraction.extract", 30, 30, 6_000, 900), StepEstimate("vectors.embed", 40),
            StepEstimate("own.step", 1), StepEstimate("reports.report", 0, 5)),
    30, 6_000, 900, 500, 1.234, 11_000,
)  # fmt: skip


def test_an_estimate_is_told_step_by_step_and_in_all() -> None:
    assert show.format_estimate(ESTIMATE, 90.0, 0.5).splitlines() == [
        "2 documents, 30 chunks",
        "read 30 chunks: 30 calls, 6,000 tokens in, 900 out",
        "embed 40 texts",
        "own.step 1 item",
        "in all about 30 calls, 7,400 tokens (500 to embed)",
        "a model may find and write more: a limit of --max-tokens 11000 should be enough",
        "about $1.23, or $0.62 with --batch where the endpoint offers batches",
        "about 1.5 minutes, at 5 s a call",
    ]
    free = show.format_estimate(replace(ESTIMATE, cost_usd=0.0, embedding_tokens=0), 60.0, 0.5).splitlines()
    assert free[-4] == "in all about 30 calls, 6,900 tokens"
    assert free[-2] == "cost not known: no prices are set (endpoint.price_…)"
    none = replace(ESTIMATE, calls=0, embedding_tokens=0)
    assert show.format_estimate(none, 0.0, 0.5).splitlines()[-1] == (
        "no calls to a model, no cost; the time is this machine's own"
    )
    assert show.format_estimate(replace(none, embedding_tokens=1), 0.0, 0.5).endswith("at 5 s a call")


def test_an_estimate_ends_with_what_a_question_costs_by_each_method() -> None:
    asked = (
        QuestionEstimate("walk", True, 1, 8_426, 400, 0.00151),
        QuestionEstimate("drift", False, 2, 9, 8, 0.0, True),
    )
    for found in (ESTIMATE, replace(ESTIMATE, calls=0, embedding_tokens=0)):
        told = show.format_estimate(found, 90.0, 0.5)
        assert show.format_estimate(replace(found, questions=asked), 90.0, 0.5).splitlines() == [
            *told.splitlines(),
            "then a question by walk (the usual method): about 1 call, 8,426 tokens in, 400 out, $0.0015",
            "then a question by drift: at least 2 calls, 9 tokens in, 8 out",
        ]


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        ({"concurrency": 1}, 150.0),
        ({"concurrency": 10}, 15.0),
        ({"concurrency": 100}, 5.0),
        ({"concurrency": 100, "tokens_per_minute": 3_700}, 120.0),
        ({"concurrency": 100, "requests_per_minute": 10}, 180.0),
        ({"concurrency": 100, "requests_per_minute": 10, "tokens_per_minute": 1_000}, 444.0),
    ],
)
def test_the_time_of_an_estimate_is_that_of_the_tightest_limit(limits: dict[str, int], seconds: float) -> None:
    assert views.estimate_seconds(ESTIMATE, EndpointSettings(**limits)) == pytest.approx(seconds)
    assert views.estimate_seconds(replace(ESTIMATE, calls=0), EndpointSettings(concurrency=3)) == 0.0


# ── flags ──


def test_flags_become_nested_tables_and_values_of_toml() -> None:
    pairs = ["index.chunk_tokens=400", "a.b = word", 'a.c="two words"', "d=true", "e=1.5", "f=[1, 2]", "g=a/b:c@d-e"]
    assert read_overrides(pairs, "offline", 5, 0.5, trust=True) == {
        "trust": True,
        "engine": "offline",
        "endpoint": {"max_tokens_total": 5, "max_cost_usd": 0.5},
        "index": {"chunk_tokens": 400},
        "a": {"b": "word", "c": "two words"},
        "d": True,
        "e": 1.5,
        "f": [1, 2],
        "g": "a/b:c@d-e",
    }
    assert read_overrides(None) == {}
    assert read_overrides(["x=inf"])["x"] == float("inf")


@pytest.mark.parametrize(
    "pair", ["novalue", "=5", "a b=5", "a=two words", "a=", "a=1\nb=2", ".a=1", "a=5x", "https://u:pw@h"]
)
def test_what_is_no_setting_is_refused_without_a_password(pair: str) -> None:
    with pytest.raises(typer.BadParameter) as caught:
        read_overrides([pair])
    assert "--set" in str(caught.value)
    assert "pw" not in str(caught.value)


def test_a_setting_inside_a_value_is_refused() -> None:
    with pytest.raises(typer.BadParameter, match="stands inside a"):
        read_overrides(["a=1", "a.b=2"])


def test_up_to_twenty_skipped_files_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    report_skipped([Skipped(f"f{i}", "why") for i in range(20)])
    assert capsys.readouterr().err.splitlines() == [f"skipped f{i}: why" for i in range(20)]
    report_skipped([Skipped(f"f{i}", "why") for i in range(22)])
    assert capsys.readouterr().err.splitlines()[19:] == [
        "skipped f19: why",
        "skipped 2 more; --json names all of them",
    ]


def test_json_is_written_with_escapes_where_a_terminal_is_not_utf_8(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for encoding, said in (("UTF-8", '"ü"'), ("utf8", '"ü"'), ("latin-1", '"\\u00fc"'), (None, '"\\u00fc"')):
        with monkeypatch.context() as patch:
            patch.setattr("sensegraph.cli.options.sys", SimpleNamespace(stdout=SimpleNamespace(encoding=encoding)))
            print_json({"said": "ü"})
        assert capsys.readouterr().out == f'{{"schema": 1, "said": {said}}}\n'
    assert show_controls("a\x07b\tc\x7fd\r\ne\x9ff") == "a\\x07b\tc\\x7fd\ne\\x9ff"


# ── the settings file ──


def test_values_are_written_as_toml_reads_them() -> None:
    values = [5, 1.5, True, 'a"b\x7fü', ("x", 1), frozenset({"b", "a"}), []]
    assert [format_toml(v) for v in values] == [
        *("5", "1.5", "true", '"a\\"b\\u007fü"', '["x", 1]', '["a", "b"]', "[]"),
    ]


def test_the_settings_file_says_the_common_settings_and_sets_those_that_are_given() -> None:
    text = settings_toml({"endpoint": {"model": "large", "seed": 7}, "method": "naive"})
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("method =")] == [
        line for line in lines if not line.startswith(("#", "[")) and line.startswith("method")
    ]
    assert any(line.startswith('model = "large"') for line in lines)
    assert any(line.startswith("seed = 7") for line in lines)
    assert any(line.startswith("# chunk_tokens = 600") for line in lines)
    assert [line for line in settings_toml().splitlines() if "backoff_s" in line] == []
    assert [
        line for line in settings_toml({"endpoint": {"backoff_s": 2.0}}).splitlines() if "backoff_s =" in line
    ] != []
    assert max(len(line) for line in lines if line.startswith("##")) <= 113
    assert [line for line in lines if "trust" in line] == []
    with pytest.raises(SettingsError, match=r"^endpoint\.modle cannot be written"):
        settings_toml({"endpoint": {"modle": 1}, "personal": {"patterns": {"x": "y"}}})
