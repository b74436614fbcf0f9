"""The parts of a corpus one by one, over little: which method is taken, what is noted, masked, shown and made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harbour import papers
from sensegraph.answering.grounding.checking import Checked
from sensegraph.corpus.asker import Asker
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.privacy import Privacy, find_people
from sensegraph.corpus.settings import (
    Settings,
    convert_settings,
    describe_choices,
    holds_name,
    lay_tables,
    load_settings,
    read_api_key,
)
from sensegraph.corpus.sources import _may_be_unread
from sensegraph.corpus.tools import (
    estimate_only,
    make_chunker,
    make_endpoint,
    make_executor,
    make_reranker,
    make_tools,
    place_store,
)
from sensegraph.corpus.views import list_passage_documents, view_checks, view_evidence, view_status
from sensegraph.corpus.workspace import Status
from sensegraph.errors import InputError, NotIndexed, SettingsError
from sensegraph.index.index import Index
from sensegraph.methods import load_method, parts_needed
from sensegraph.methods.basic.bm25 import BM25
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.personal.personal_settings import PersonalSettings
from sensegraph.questions import Condition, Scope
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, Description, Document, Passage, Question, Source, Turn, Usage

OFFLINE = {"engine": "offline", "embedder": "offline"}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus.open(tmp_path_factory.mktemp("harbour"), settings=OFFLINE) as made:
        made.add(papers()[:3])
        made.build()
        yield made


# ── which method ──


def asker(own: Any = None, settings: Settings | None = None, **workspace: Any) -> Asker:
    space = SimpleNamespace(given=SimpleNamespace(method=own), settings=settings or Settings(), **workspace)
    builder = SimpleNamespace(index=lambda: pytest.fail("nobody needs the index"))
    return Asker(space, SimpleNamespace(), builder)  # type: ignore[arg-type]


def test_the_method_is_the_one_named_or_given_or_set_or_chosen(harbour: Corpus) -> None:
    assert asker().method("bm25") == (BM25(), None)
    own = BM25(k=77)
    assert asker(own).method()[0] is asker(own).method("bm25")[0] is own
    assert asker(own).method("auto", k=5, depth=None) == (BM25(k=5), None)
    assert asker(own).method("naive")[0].name == "naive"
    with pytest.raises(SettingsError, match="bm25 cannot take colour"):
        asker(own).method(colour="red")
    assert asker(settings=Settings(method="bm25")).method() == (BM25(), None)
    assert asker(settings=Settings(methods={"bm25": {"k": 9}})).method("bm25")[0] == BM25(k=9)
    assert asker(settings=Settings(methods={"bm25": {"k": 9}})).method("bm25", k=8)[0] == BM25(k=8)
    with pytest.raises(SettingsError, match="colour"):
        asker().method("bm25", colour="red")
    deep, why = asker().method(depth=1)
    assert why
    assert (deep.name, why.method, why.reason) == ("graphrag", "graphrag", "a depth was given")
    chosen, why = harbour.asker.method("auto", "Who keeps the lighthouse of Skerry Point?")
    assert why
    assert why.method == chosen.name
    made = asker(runtime=harbour.workspace.runtime)
    given, why = made.method("auto", "Who keeps the lighthouse of Skerry Point?", index=harbour.index())
    assert (given.name, bool(why)) == (chosen.name, True)


@pytest.mark.parametrize(
    ("reason", "by", "waiting", "notes"),
    [
        ("", "some", [], ["an index note"]),
        ("auto chose it", "some", [], ["auto chose it", "an index note"]),
        (
            "",
            "other",
            ["a", "b"],
            [
                "an index note",
                "the index was built by the engine other, the question answered by some",
                "2 documents were added, changed or removed since the last build",
            ],
        ),
    ],
)
def test_notes_say_why_who_built_it_and_what_waits(reason: str, by: str, waiting: list[str], notes: list[str]) -> None:
    index: Any = SimpleNamespace(manifest=SimpleNamespace(engine=by), notes=lambda: ("an index note",))
    made = asker(engine=SimpleNamespace(name="some"), pending=lambda: waiting)
    assert list(made._notes(reason, index)) == notes


@pytest.mark.parametrize("ask", ["query", "search"])
@pytest.mark.parametrize("method", ["bm25", "raptor"])
def test_the_parts_that_a_method_reads_are_asked_for_before_it_works(
    harbour: Corpus, monkeypatch: pytest.MonkeyPatch, ask: str, method: str
) -> None:
    needed: list[set[str]] = []

    def check(self: Index, names: Iterable[str]) -> None:
        needed.append(set(names))
        raise NotIndexed("it was not built")

    monkeypatch.setattr(Index, "check_parts", check)
    with pytest.raises(NotIndexed, match="it was not built"):
        getattr(harbour, ask)("Who keeps the pier?", method=method)
    assert needed == [set(parts_needed(load_method(method)))]


def test_questions_need_words_and_a_search_room_for_one(harbour: Corpus) -> None:
    for question in ("", " \n"):
        with pytest.raises(InputError, match="empty"):
            harbour.query(question)
        with pytest.raises(InputError, match="empty"):
            harbour.search(question)
    with pytest.raises(InputError, match="not 0"):
        harbour.search("pier", top=0)
    found = harbour.search("the pier of Nora Blythe", method="bm25", top=2)
    every = harbour.search("the pier of Nora Blythe", method="bm25", top=9)
    assert (len(found.passages), found.omitted) == (2, every.omitted + len(every.passages) - 2)
    assert found.documents == every.documents[:2]


def test_a_document_that_is_cited_is_looked_up_and_one_that_is_not_there_is_none(harbour: Corpus) -> None:
    cited = harbour.asker._cited("letter-2019")
    assert cited is not None
    assert "Quillfeather" not in cited.text
    assert "Sandglimmer" in cited.text
    nowhere = Asker(SimpleNamespace(), SimpleNamespace(), SimpleNamespace(index=raise_not_indexed))  # type: ignore[arg-type]
    assert nowhere._cited("letter-2019") is None


def raise_not_indexed() -> None:
    raise NotIndexed("there is no index")


# ── reading without a question ──


def test_entities_come_by_neighbours_then_name_and_by_type_in_any_case(harbour: Corpus) -> None:
    every = harbour.entities()
    assert [(-e.degree, e.name, e.id) for e in every] == sorted((-e.degree, e.name, e.id) for e in every)
    for kind in {e.type for e in every}:
        for written in (kind, kind.upper()):
            assert harbour.entities(type=written) == [e for e in every if e.type == kind]
    assert harbour.entities(type="no such type") == []
    (ada,) = harbour.entities("ada finch")
    assert harbour.entity("Ada Finch").entity.id == ada.id == harbour.entities(ada.id)[0].id


def test_patterns_are_looked_for_inside_the_filter_and_their_notes_follow_its_own(harbour: Corpus) -> None:
    query = "(a:person)-[r]-(b)"
    whole = harbour.match(query, cite=False)
    part = harbour.match(query, scope=Scope(where=(Condition("year", "=", 2020),)), cite=False)
    assert 0 < len(part.rows) < len(whole.rows)
    assert part.notes[0] == "the filter leaves 1 of 3 documents"
    assert whole.notes == ()
    cited = harbour.match(query, cite=True)
    assert cited.rows == whole.rows
    assert any(cited.citations)


# ── what is shown ──


def test_documents_behind_passages_come_once_in_the_order_of_sources_and_quotes() -> None:
    homes = {"c0": "b", "c1": "a", "c2": "b"}
    index: Any = SimpleNamespace(chunks=lambda ids: {i: Chunk(i, homes[i], 0, 9, 1, "text") for i in ids if i in homes})
    first = Passage("entity", "e", "", sources=(Source("c2", 0, 1), Source("gone", 0, 1), Source("c1", 0, 1)))
    second = Passage("entity", "f", "", quotes=(Description("so", Source("c0", 0, 1)),))
    assert list_passage_documents([first, second, Passage("chunk", "g", "")], index) == [["b", "a"], ["b"], []]


def test_places_of_passages_are_the_spans_of_the_documents_texts(harbour: Corpus) -> None:
    found = harbour.search("pier", top=5)
    shown = view_evidence(found, harbour.index())["evidence"]
    assert len(shown) == len(found.passages) > 1
    for passage, one in zip(found.passages, shown, strict=True):
        assert one["places"]
        assert one["documents"] == list(dict.fromkeys(p["document"] for p in one["places"]))
        (place,) = one["places"]
        assert harbour.index().document(place["document"]).text[place["start"] : place["end"]] == passage.text


def test_checks_and_the_state_of_a_corpus_are_plain_objects() -> None:
    checked = Checked("words", 2, 1, 0, ("It is.",), *([None] * (len(Checked.__dataclass_fields__) - 5)))
    told = view_checks(checked, Usage(3))["checks"]
    assert (told["by"], told["uncited"], told["usage"]["calls"]) == ("words", ["It is."], 3)
    state = Status(4, 3, {"documents": 3, "chunks": 7, "sentences": 2}, (1, 2), "e", "m", {"s": Usage(5)}, ("p",), 9)
    assert view_status(state, None) == {
        "documents": 4, "indexed": 3, "chunks": 7, "entities": 0, "relations": 0, "claims": 0, "sentences": 2,
        "clusters": [1, 2], "engine": "e", "embedder": "m", "pending": ["p"], "size_bytes": 9, "left_out": [],
        "spend": {"s": view_checks(checked, Usage(5))["checks"]["usage"]},
    }  # fmt: skip
    assert view_status(state, ["a"])["ids"] == ["a"]


# ── personal data ──


def privacy(folder: Path, settings: PersonalSettings, keys: dict[str, str] | None = None) -> Privacy:
    space = SimpleNamespace(
        settings=Settings(personal=settings), store=SqliteStore(folder), document_keys=lambda: keys or {}
    )
    return Privacy(space)  # type: ignore[arg-type]


def test_paths_and_texts_are_masked_where_that_is_set_and_keep_the_end_of_a_file(tmp_path: Path) -> None:
    masking, plain = (privacy(tmp_path, PersonalSettings(mask=m)) for m in ("mask", "report"))  # type: ignore[arg-type]
    assert plain.masked_path("/home/ada/mail.json") == "/home/ada/mail.json"
    masked = masking.masked_path("/home/ada/mail.json")
    assert masked.endswith(".json")
    assert "ada" not in masked
    assert masking.masked_path("/home/ada/a.1234567890").endswith(".1234567")
    assert masking.masked_path("/home/bo/mail.json") != masked
    text = "Write to ada@example.org today."
    assert plain.mask_text(text) == text
    assert "ada@example.org" not in masking.mask_text(text)


def test_documents_are_left_counted_or_masked_as_the_settings_say(tmp_path: Path) -> None:
    given = [Document("a", "Write to ada@example.org."), Document("b", "Nothing.")]
    for mask, masked, found in (("off", False, {}), ("report", False, {"email": 1}), ("mask", True, {"email": 1})):
        read, tally = privacy(tmp_path, PersonalSettings(mask=mask)).without_personal_data(given)  # type: ignore[arg-type]
        assert ([d.text == g.text for d, g in zip(read, given, strict=True)]) == [not masked, True]
        assert (dict(tally.counts), tally.masked, tally.documents) == (found, masked, len(found))


def test_what_documents_were_masked_by_is_marked_and_what_was_not_is_named(tmp_path: Path) -> None:
    settings, keys = PersonalSettings(mask="mask"), {"a": "1", "b": "2"}
    masking, plain = privacy(tmp_path, settings, keys), privacy(tmp_path, PersonalSettings(), keys)
    assert plain.marks(["a"]) == masking.marks([]) == {}
    with pytest.raises(SettingsError, match=r"2 documents of this corpus are not masked.*'a' was read without"):
        masking.require_masked_documents()
    plain.require_masked_documents()
    masking._store.set_refs(masking.marks(["a"]))
    with pytest.raises(SettingsError, match=r"1 document of this corpus is not masked.*'b' was read without"):
        masking.require_masked_documents()
    with pytest.raises(SettingsError, match="1 document of this corpus is masked"):
        plain.without_personal_data([Document("c", "New.")])
    assert plain.without_personal_data([])[0] == []
    masking._store.set_refs(masking.marks(["b"]))
    masking.require_masked_documents()
    other = privacy(tmp_path, PersonalSettings(mask="mask", style="kind"), keys)
    with pytest.raises(SettingsError, match=r"which differ in style \(then keyed, now kind\)"):
        other.require_masked_documents()


def test_a_question_is_masked_with_its_conversation_and_a_note_says_so(tmp_path: Path) -> None:
    masking = privacy(tmp_path, PersonalSettings(mask="mask"))
    plain = Question("Who wrote?", (Turn("So?", "Yes."),))
    assert masking.mask_question(plain) == (plain, ())
    asked = Question("Who wrote?", (Turn("To ada@example.org?", "To bo@example.org."),))
    made, notes = masking.mask_question(asked)
    assert (made.text, len(notes)) == ("Who wrote?", 1)
    assert "@" not in made.history[0].question + made.history[0].answer
    seeking = privacy(tmp_path, PersonalSettings(mask="mask", kinds=("person",)))  # there is no index to look into
    assert "Reeve" not in seeking.mask_question(Question("Did Mr. Tom Reeve write?"))[0].text
    with pytest.raises(SettingsError, match="and so it is"):
        masking.refuse_masking("so it is")
    privacy(tmp_path, PersonalSettings()).refuse_masking("so it is")


def test_people_are_looked_for_where_their_kind_is(tmp_path: Path) -> None:
    text = "Yesterday Mr. Tom Reeve met Nora Blythe. Tom Reeve said no. Nora Blythe laughed."
    assert find_people(text, PersonalSettings()) == []
    seeking = PersonalSettings(kinds=("person",))
    assert find_people(" \n", seeking) == []
    found = find_people(text, seeking)
    assert {text[n.start : n.end] for n in found} >= {"Tom Reeve", "Nora Blythe"}
    wider = find_people(text, PersonalSettings(kinds=("name",)))
    assert {text[n.start : n.end] for n in wider} >= {"Nora Blythe"}


@pytest.mark.parametrize(
    ("text", "people", "names"),
    [
        ("The sailor Brontz came late. The Skerry is a ship.", ["Brontz"], ["Brontz", "Skerry"]),
        ("The sailor Table came late. Table was tired.", [], ["Table", "Table"]),  # no name of a person by itself
        ("Mount Brontz is a mountain.", [], []),
    ],
)
def test_who_only_a_sentence_tells_is_a_person_and_other_things_are_where_all_names_are_looked_for(
    text: str, people: list[str], names: list[str]
) -> None:
    assert [n.name for n in find_people(text, PersonalSettings(kinds=("person",)))] == people
    assert [n.name for n in find_people(text, PersonalSettings(kinds=("person", "name")))] == names


# ── files that could not be read ──


@pytest.mark.parametrize(
    ("name", "unread", "maybe"),
    [
        ("notes/a.txt", ["/data/notes"], True),
        ("notes/a.txt", ["/data/notes/a.txt"], True),
        ("notes/a.txt", ["/data/notes/b.txt"], False),
        ("notes/a.txt", ["/data/note"], False),
        ("notes/a.txt", ["/data"], True),
        ("notes/a.txt", ["/data/mails.jsonl"], True),
        ("notes/a.txt", ["/else", "/data/notes"], True),
        ("notes/a.txt", [], False),
    ],
)
def test_what_was_not_found_may_be_in_what_was_not_read(name: str, unread: list[str], maybe: bool) -> None:
    assert _may_be_unread(name, ["/data"], unread) == maybe


# ── settings and tools ──


def test_tables_are_laid_over_each_other_and_dotted_names_found() -> None:
    below = {"a": {"x": 1, "y": {"z": 2}}, "b": 3, "c": {"d": 4}}
    both = lay_tables(below, {"a": {"y": {"w": 5}, "x": 6}, "b": {"e": 7}, "c": 8})
    assert both == {"a": {"x": 6, "y": {"z": 2, "w": 5}}, "b": {"e": 7}, "c": 8}
    assert below["a"] == {"x": 1, "y": {"z": 2}}
    for name, there in [("a", True), ("a.x", True), ("a.y.z", True), ("a.y.q", False), ("b.x", False), ("q", False)]:
        assert holds_name(below, name) == there, name


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("Sqlit", "'Sqlit'; choose memory, sqlite or other. Did you mean sqlite?"),
        ("zzz", "'zzz'; choose memory, sqlite or other."),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_ones(word: str, said: str) -> None:
    assert describe_choices(word, ("memory", "sqlite", "other")) == said
    assert describe_choices("q", ("one",)) == "'q'; choose one."
    assert describe_choices("q", ("one", "two")) == "'q'; choose one or two."


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"chunk_tokens": 9}, "unknown setting chunk_tokens; did you mean index.chunk_tokens?"),
        ({"index": {"chunk_tokns": 9}}, "did you mean index.chunk_tokens?"),
        ({"index": {"max_cluster_size": 9}}, "did you mean index.clusters.max_cluster_size or index."),
        ({"endpoint": {"modell": "m"}}, "did you mean endpoint.model, local.model or rerank.model?"),
        ({"rerank": {"qqqqqq": 1}}, "known here: by, top, model."),
        ({"store": {"kind": "paper"}}, "store.kind cannot be 'paper'; choose auto."),
        ({"processes": "two"}, "(setting `processes`)"),
    ],
)
def test_a_wrong_setting_is_named_with_the_one_that_is_meant(table: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        convert_settings(table, Settings, "file")
    assert str(caught.value).startswith("file: ")
    assert said in str(caught.value)


def test_the_table_of_a_part_is_read_as_its_settings() -> None:
    made = convert_settings({"index": {"concepts": {"max_cluster_size": 3}, "chunk_tokens": 199}}, Settings, "").index
    assert (made.part_settings["concepts"].max_cluster_size, made.chunk_tokens) == (3, 199)


def test_files_that_settings_name_are_meant_from_the_folder_of_the_corpus(tmp_path: Path) -> None:
    (tmp_path / "ranker").mkdir()
    table = {"offline": {"names_file": "names.txt"}, "model": {"prompts": "prompts"}, "rerank": {"model": "ranker"}}
    made = load_settings(tmp_path, table)
    assert made.offline.names_file == str(tmp_path / "names.txt")
    assert made.model.prompts == str(tmp_path / "prompts")
    assert made.rerank.model == str(tmp_path / "ranker")
    assert load_settings(tmp_path, {"rerank": {"model": "some/name"}}).rerank.model == "some/name"
    bare = load_settings(tmp_path)
    assert (bare.offline.names_file, bare.model.prompts, bare.rerank.model) == ("", "", "")


HERE = EndpointSettings(base_url="http://127.0.0.1:9/v1", model="m", embedding_model="v", rerank_model="r")


@pytest.mark.parametrize(
    ("given", "engine", "embedder"),
    [
        ({}, "model", True),
        ({"engine": "offline"}, "offline", False),
        ({"engine": "offline", "embedder": "endpoint"}, "offline", True),
        ({"embedder": "offline"}, "model", False),
        ({"endpoint": EndpointSettings()}, "offline", False),
        ({"endpoint": EndpointSettings(base_url=HERE.base_url, model="m")}, "model", False),
        ({"endpoint": EndpointSettings(base_url=HERE.base_url, embedding_model="v")}, "offline", True),
    ],
)
def test_tools_are_those_that_the_settings_name(given: dict[str, Any], engine: str, embedder: bool) -> None:
    made = make_tools(Settings(**{"endpoint": HERE, **given}))
    assert (made[0].quotes, made[1].waits) == (engine == "offline", embedder)
    assert make_tools(Settings(**{"endpoint": HERE, **given}), engine=made[0], embedder=made[1]) == made
    if engine == "model" and embedder:
        assert made[0].endpoint is made[1].endpoint  # type: ignore[attr-defined]


def test_what_a_tool_lacks_is_said() -> None:
    for given, lack in [
        ({"engine": "model"}, "endpoint.model"),
        ({"embedder": "endpoint"}, "endpoint.embedding_model"),
        ({"engine": "local"}, "local.model"),
    ]:
        with pytest.raises(SettingsError, match=lack):
            make_tools(Settings(**given))  # type: ignore[arg-type]
    tools = make_tools(Settings(endpoint=HERE))
    assert make_reranker(Settings(endpoint=HERE), tools) is None
    table = convert_settings({"rerank": {"by": "endpoint", "top": 3}}, Settings, "").rerank
    made: Any = make_reranker(Settings(endpoint=HERE, rerank=table), tools)
    assert made.endpoint is tools[0].endpoint  # type: ignore[attr-defined]
    with pytest.raises(SettingsError, match=r"endpoint\.rerank_model"):
        make_reranker(Settings(rerank=table), tools)
    none = convert_settings({"rerank": {"by": "endpoint", "top": 0}}, Settings, "").rerank
    with pytest.raises(SettingsError, match="at least 1, not 0"):
        make_reranker(Settings(endpoint=HERE, rerank=none), tools)
    assert make_chunker(Settings()) is None
    executor: Any = make_executor(Settings(processes=2, endpoint=EndpointSettings(concurrency=7)))
    assert (executor.threads, executor.processes) == (7, 2)


def test_a_remote_endpoint_needs_a_key_and_one_of_this_machine_none(monkeypatch: pytest.MonkeyPatch) -> None:
    remote = EndpointSettings(base_url="https://models.example.org/v1", api_key_env="KEY_OF_TEST")
    monkeypatch.delenv("KEY_OF_TEST", raising=False)
    assert read_api_key(HERE) == "none"
    with pytest.raises(SettingsError, match="KEY_OF_TEST"):
        read_api_key(remote)
    settings = Settings(endpoint=EndpointSettings(api_key_env="KEY_OF_TEST", model="one"))
    monkeypatch.setattr("sensegraph.corpus.tools.check_approved", lambda *_: None)
    with pytest.raises(SettingsError, match="KEY_OF_TEST"):
        make_endpoint(settings)
    with estimate_only():
        assert make_endpoint(settings).settings.model == "one"  # nobody is asked there
    with pytest.raises(SettingsError, match="KEY_OF_TEST"):
        make_endpoint(settings)
    monkeypatch.setenv("KEY_OF_TEST", "abc")
    assert read_api_key(remote) == "abc"


def test_runs_of_blanks_in_a_question_say_nothing(harbour: Corpus) -> None:
    plain = harbour.query("Who asked for a new pier?", method="walk")
    blank = harbour.query("Who asked" + " \n\t" * 2_000 + "for a new pier?", method="walk")
    assert plain.citations
    assert (blank.text, blank.citations) == (plain.text, plain.citations)


def test_copies_of_a_database_lie_where_the_settings_say_or_where_caches_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sensegraph.corpus.tools.locate_caches", lambda: tmp_path / "usual")
    monkeypatch.setattr("sensegraph.corpus.tools.check_approved", lambda *_: None)

    def place(**table: str) -> tuple[Path, Path, str, str]:
        made = place_store(convert_settings({"store": table}, Settings, "here"), tmp_path)
        return made.folder, made.cache, made.url, made.arrays

    url = "postgresql://h/d"
    assert place() == (tmp_path, tmp_path / "usual", "", "")
    assert place(url=url, cache=str(tmp_path / "own")) == (tmp_path, tmp_path / "own", url, "")
    assert place(url=url, arrays="s3://b") == (tmp_path, tmp_path / "usual", url, "s3://b")
    with pytest.raises(SettingsError, match=r"store\.arrays is for a corpus in a database"):
        place(arrays="s3://b")


def test_a_reranker_reads_one_passage_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sensegraph.corpus.tools.check_approved", lambda *_: None)
    made = list[Any]()
    monkeypatch.setattr(
        "sensegraph.models.folders.folder_reranker.FolderReranker",
        lambda model, top: made.append((model, top)) or "made",
    )

    def rerank(top: int) -> Any:
        table = {"rerank": {"by": "folder", "model": "m", "top": top}}
        return make_reranker(convert_settings(table, Settings, "here"), (None, None))  # type: ignore[arg-type]

    assert (rerank(1), made) == ("made", [("m", 1)])
    with pytest.raises(SettingsError, match=r"rerank\.top must be at least 1, not 0"):
        rerank(0)
