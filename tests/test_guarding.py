"""Personal data stays out of a corpus that masks (R28): no byte in its folder, no word in what leaves the machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from scripted import Script, ScriptedServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.workspace import MASKED
from sensegraph.errors import SettingsError
from sensegraph.personal.personal_settings import RULED
from sensegraph.types import Document, Question, Turn
from stored import read_files
from wired import content, settings, story

MAIL, PHONE, IBAN, CARD = (
    "martha.quill@mail.example.com",
    "+49 30 901820",
    "DE89370400440532013000",
    "4111 1111 1111 1111",
)
TEXT = (
    f"Martha Quill keeps the lighthouse of Skerry Point. She wrote from {MAIL} to the Harbour Board in March. "
    f"Martha Quill can be called at {PHONE}. The board paid {IBAN} and the card {CARD}. Martha Quill lives at "
    "12 Gannet Street, Skerry. She was born on 3 March 1985. Thomas Reeve, whose SSN is 536-90-4399, met Martha Quill "
    "at the harbour, and Thomas Reeve wrote a report on the lamp for the Harbour Board."
)
IN_FRONT_MATTER = "536904399"  # which is stored, but not read
PLANTED = (
    "martha",
    "quill",
    "reeve",
    "30 901820",
    "8937040044",
    "1111 1111",
    "gannet",
    "3 march",
    "536-90-",
    IN_FRONT_MATTER,
)
MASK = {"mask": "mask", "kinds": [*RULED, "person"]}


@pytest.fixture
def server() -> Any:
    with ScriptedServer(Script(keep_bodies=True)) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files with personal data in texts, names, titles, fields, and ids."""
    made = tmp_path / "texts"
    (made / "martha-quill").mkdir(parents=True)
    (made / "martha-quill" / "report.txt").write_text(TEXT)
    (made / f"{MAIL}.md").write_text(
        f"---\nauthor: Martha Quill\nssn: 536904399\n---\n# Martha Quill on the lamp\n\n{TEXT}"
    )
    row = {"text": TEXT, "phone": PHONE, "from": "Thomas Reeve"}
    (made / "rows.jsonl").write_text("\n".join(json.dumps(r) for r in (row, {**row, "_id": MAIL})))
    return made


def opened(root: Path, server: ScriptedServer, **personal: Any) -> Corpus:
    return Corpus.open(root, settings=settings(server, personal=personal))


def traces(folder: Path, words: tuple[str, ...] = PLANTED) -> list[tuple[str, str]]:
    """Files and planted words in them, in any case, byte by byte and in the values of the store."""
    held = [(name, data.lower()) for name, data in read_files(folder)]
    return [(name, w) for name, data in held for w in words if w.encode() in data]


def sent(server: ScriptedServer) -> str:
    return json.dumps([c.body for c in server.calls], ensure_ascii=False).lower()


def test_no_byte_of_what_was_planted_is_stored_or_sent(tmp_path: Path, folder: Path, server: ScriptedServer) -> None:
    with opened(tmp_path / "c", server, **MASK) as corpus:
        added = corpus.add(folder)
        corpus.mirror.record_origin([folder / "rows.jsonl", folder], added.new)
        corpus.build()
        history = (Turn("Who is Martha Quill?", f"She is at {MAIL}."),)
        for method in ("naive", "graphrag", "local"):
            answer = corpus.query(f"What did Martha Quill write from {MAIL}?", method=method, history=history)
            assert "the question was masked before it was used" in answer.notes
        corpus.search(f"Where is {PHONE}?")
        assert not list(corpus.store.root.glob("*.jsonl")) or traces(corpus.store.root) == []
    assert added.personal.masked
    assert added.personal.documents == 4
    assert set(added.personal.counts) == {"email", "phone", "iban", "card", "identity", "birthday", "address", "person"}
    assert traces(tmp_path / "c") == []
    assert len(server.calls) > 10
    assert [w for w in PLANTED if w in sent(server)] == []


def test_without_masking_all_of_it_is_there_so_that_the_test_above_can_fail(
    tmp_path: Path, folder: Path, server: ScriptedServer
) -> None:
    with opened(tmp_path / "c", server) as corpus:
        corpus.add(folder)
        corpus.build()
    assert {w for _, w in traces(tmp_path / "c")} >= set(PLANTED)
    assert [w for w in PLANTED if w in sent(server)] == [w for w in PLANTED if w != IN_FRONT_MATTER]


def test_equal_persons_are_one_entity_under_their_placeholder(tmp_path: Path, folder: Path) -> None:
    with Corpus.open(tmp_path / "c", settings={"personal": MASK}) as corpus:
        corpus.add(folder)
        corpus.build()
        martha = corpus.masked("Martha Quill")
        assert martha.startswith("PERSON-")
        named = [e for e in corpus.index().graph.entities if e.name == martha]
        assert len(named) == 1
        assert len({d.source.chunk for d in named[0].descriptions}) == 4  # she is named in every document
        answer = corpus.query("What did Martha Quill write to the Harbour Board?")
        assert martha in answer.text
        for c in answer.citations:
            (text,) = [d.text for d in corpus.documents() if d.id == c.document]
            assert text[c.start : c.end] == c.quote


def test_a_name_that_documents_were_masked_for_is_known_again_in_a_question(tmp_path: Path) -> None:
    text = "Mr. Xylo Brontz came late. The harbour was shut, and Mr. Xylo Brontz wrote a letter to the board."
    with Corpus.open(tmp_path, settings={"personal": MASK}) as corpus:
        corpus.add(
            Document("a", text), Document("b", "The harbour of Skerry Point is deep. The board met there in March.")
        )
        corpus.build()
        (name,) = {w for d in corpus.documents() for w in d.text.split() if w.startswith("PERSON-")}
        for question in ("What did Xylo Brontz write?", "who is xylo brontz"):
            asked, notes = corpus.privacy.mask_question(Question(question))
            assert name in asked.text
            assert "rontz" not in asked.text
            assert notes
        assert corpus.privacy.mask_question(Question("Who met at Skerry Point?")) == (
            Question("Who met at Skerry Point?"),
            (),
        )


def test_an_update_equals_a_fresh_build_with_the_same_secret(tmp_path: Path) -> None:
    documents = [Document(f"{i}.txt", story(i, i)) for i in range(4)]
    held = []
    for name, order in (("a", documents), ("b", documents[::-1])):
        with Corpus.open(tmp_path / name, settings={"personal": MASK}) as corpus:
            (corpus.store.root / "personal.secret").write_bytes(b"s" * 32)
            for d in order:
                corpus.add(d)
            corpus.build(fresh=True)
            held.append(content(corpus))
            assert all("PERSON-" in d.text for d in corpus.documents())
    assert held[0] == held[1]


def test_an_estimate_masks_once_and_foresees_what_is_built(tmp_path: Path, run: Callable[..., Result]) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("The Harbour Board of Skerry Point met in Ulm. The Harbour Board wrote to Port Ellery.")
    two.write_text(TEXT)
    mask = ("--set", "personal.mask=mask", "--set", 'personal.kinds=["person"]')
    assert run("index", one, "--root", tmp_path / "c", *mask).exit_code == 0
    assert run("index", "--dry-run", two, "--root", tmp_path / "c", *mask).exit_code == 0
    assert traces(tmp_path / "c", ("lighthouse",)) != []  # what an estimate reads is stored, but masked
    assert traces(tmp_path / "c", ("martha quill", "thomas reeve")) == []


def test_another_corpus_has_other_placeholders_unless_it_has_the_same_secret(tmp_path: Path, folder: Path) -> None:
    made = {}
    for name in ("a", "b", "c"):
        with Corpus.open(tmp_path / name, settings={"personal": MASK}) as corpus:
            if name == "c":
                (corpus.store.root / "personal.secret").write_bytes(
                    (tmp_path / "a" / ".sensegraph" / "personal.secret").read_bytes()
                )
            made[name] = corpus.masked(MAIL)
    assert made["a"] == made["c"] != made["b"]


def test_a_report_counts_and_masks_nothing(tmp_path: Path, folder: Path) -> None:
    with Corpus.open(tmp_path / "c", settings={"personal": {"mask": "report"}}) as corpus:
        added = corpus.add(folder)
        assert not added.personal.masked
        assert added.personal.counts["email"] >= 6
        assert TEXT in [d.text for d in corpus.documents()]
        assert not (corpus.store.root / "personal.secret").exists()


def test_what_was_added_before_masking_must_be_added_again_and_collect_removes_the_rest(
    tmp_path: Path, folder: Path, server: ScriptedServer
) -> None:
    with opened(tmp_path / "c", server) as corpus:
        corpus.sync(folder)
        corpus.build()
    calls = len(server.calls)
    with opened(tmp_path / "c", server, **MASK) as corpus:
        with pytest.raises(SettingsError, match="read them again"):
            corpus.build()
        with pytest.raises(SettingsError, match="was not made of documents that were masked"):
            corpus.query("Who keeps the lighthouse?")
        with pytest.raises(SettingsError, match="read them again"):
            corpus.sources.masked_documents()
        assert len(server.calls) == calls
        assert corpus.status().documents == 4
        old = list(corpus.document_keys())
        corpus.add(folder)
        corpus.remove(*(name for name in old if not corpus.store.ref(MASKED + name)))
        corpus.build()
        corpus.mirror.record_origin([folder], corpus.document_keys())
        assert traces(tmp_path / "c") != []  # earlier objects, until they are collected
        corpus.collect()
        assert corpus.search("Who keeps the lighthouse?").passages
    assert traces(tmp_path / "c") == []


def test_following_a_folder_replaces_what_came_from_it_before_masking(tmp_path: Path, folder: Path) -> None:
    with Corpus.open(tmp_path / "c") as corpus:
        corpus.sync(folder)
        corpus.build()
    with Corpus.open(tmp_path / "c", settings={"personal": MASK}) as corpus:
        plan = corpus.sync(folder)
        assert (len(plan.removed), len(corpus.document_keys())) == (4, 4)  # all four ids changed
        corpus.build()
        corpus.collect()
    assert traces(tmp_path / "c") == []


def test_other_rules_ask_for_the_documents_again(tmp_path: Path) -> None:
    document = Document("a", TEXT)
    with Corpus.open(tmp_path, settings={"personal": MASK}) as corpus:
        corpus.add(document)
        corpus.build()
    with Corpus.open(tmp_path, settings={"personal": {**MASK, "allow": ["*@mail.example.com"]}}) as corpus:
        with pytest.raises(SettingsError, match=r"1 document of this corpus is not masked under .*: 'a' was read"):
            corpus.build()
        corpus.add(document)
        corpus.build()
        assert MAIL in next(iter(corpus.documents())).text


def test_a_corpus_of_masked_documents_takes_no_originals_until_those_are_removed(tmp_path: Path, folder: Path) -> None:
    with Corpus.open(tmp_path / "c", settings={"personal": MASK}) as corpus:
        corpus.add(folder)
        corpus.build()
        before = corpus.document_keys()
    for off in ({}, {"personal": {"mask": "report"}}):
        with Corpus.open(tmp_path / "c", settings=off) as corpus:
            for took in (corpus.add, corpus.sync, corpus.plan, corpus.estimate):
                with pytest.raises(SettingsError, match="4 documents of this corpus are masked, and"):
                    took(folder)
            with pytest.raises(SettingsError, match=r"as they were: kinds \(then also person\)\. To have originals"):
                corpus.add(Document("a", TEXT))
            assert corpus.document_keys() == before
            corpus.build()  # as it is, there is nothing to refuse
    assert traces(tmp_path / "c") == []
    with Corpus.open(tmp_path / "c") as corpus:
        corpus.remove(*corpus.document_keys())
        corpus.add(Document("a", TEXT))
        assert not corpus.store.refs(MASKED)
    with (
        Corpus.open(tmp_path / "c", settings={"personal": MASK}) as corpus,
        pytest.raises(SettingsError, match="again"),
    ):
        corpus.build()


def test_a_masked_corpus_is_not_asked_a_question_as_it_is_typed(tmp_path: Path, folder: Path) -> None:
    with Corpus.open(tmp_path / "c", settings={"personal": MASK}) as corpus:
        corpus.add(folder)
        corpus.build()
    question = "What did Martha Quill write?"
    for off in ({}, {"personal": {"mask": "report"}}):
        with Corpus.open(tmp_path / "c", settings=off) as corpus:
            for asked in (corpus.query, corpus.search):
                with pytest.raises(SettingsError, match=r"a question would not find whom it names.*then also person"):
                    asked(question)
    assert traces(tmp_path / "c") == []
    with Corpus.open(tmp_path / "c") as corpus:
        corpus.remove(next(iter(corpus.document_keys())))
        corpus.build()
        with pytest.raises(SettingsError, match="The index was made of masked documents"):
            corpus.query(question)
        (corpus.store.root / "personal.secret").unlink()  # as in a copy that was given away
        assert "the corpus is here without its secret" in " ".join(corpus.query("Who keeps the lighthouse?").notes)
        assert not (corpus.store.root / "personal.secret").exists()


def test_a_refusal_names_the_document_and_the_settings_that_differ(tmp_path: Path) -> None:
    mine = {**MASK, "patterns": {"employee": "E-[0-9]{6}"}, "allow": ["Ada"], "regions": ["US", "DE"]}
    with Corpus.open(tmp_path, settings={"personal": mine}) as corpus:
        corpus.add(Document("a", TEXT), Document("b", TEXT))
        corpus.build()
    others = {
        "kinds (then also iban, now also name)": {"kinds": [k for k in (*RULED, "person", "name") if k != "iban"]},
        "kinds (in another order)": {"kinds": ["person", *RULED]},
        "style (then keyed, now kind)": {"style": "kind"},
        "allow; patterns": {"allow": [], "patterns": {}},
        "regions (now also FR)": {"regions": ["US", "DE", "FR"]},
    }
    for said, changed in others.items():
        with Corpus.open(tmp_path, settings={"personal": mine | changed}) as corpus:
            with pytest.raises(SettingsError) as asking:
                corpus.query("Who keeps the lighthouse?")
            assert f"'a' was read under others, which differ in {said}. Set that as it was, or run" in str(asking.value)
            assert "mask=off" not in str(asking.value)
            with pytest.raises(SettingsError) as building:
                corpus.build()
            assert str(building.value).startswith("2 documents of this corpus are not masked under the settings of")
            assert f"differ in {said}. The originals" in str(building.value)
    assert traces(tmp_path, ("e-[0-9]", '"ada"', "employee")) == []  # they may name somebody


def test_an_index_that_is_older_than_its_documents_is_told_from_one_of_other_settings(tmp_path: Path) -> None:
    with Corpus.open(tmp_path) as corpus:
        corpus.add(Document("a", TEXT))
        corpus.build()
    with Corpus.open(tmp_path, settings={"personal": MASK}) as corpus:
        with pytest.raises(SettingsError, match=r"'a' was read without masking; run .*mask=off"):
            corpus.query("Who keeps the lighthouse?")
        corpus.add(Document("a", TEXT))
        with pytest.raises(SettingsError, match=r"they were read again after it was built\. Run sensegraph index\."):
            corpus.query("Who keeps the lighthouse?")


def test_rules_of_which_the_settings_are_not_known_are_told_too(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"personal": MASK}) as corpus:
        corpus.add(Document("a", TEXT))
        corpus.store.set_refs({MASKED + "a": "older"})
        with pytest.raises(SettingsError, match="which differ in a way that is not known"):
            corpus.build()


def test_removing_and_collecting_take_the_marks_away(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"personal": MASK}) as corpus:
        corpus.add(Document("a", TEXT), Document("b", TEXT))
        corpus.remove("a")
        assert list(corpus.store.refs(MASKED)) == [MASKED + "b"]
        corpus.build()
        corpus.store.set_refs({MASKED + "gone": "x"})
        corpus.collect()
        assert list(corpus.store.refs(MASKED)) == [MASKED + "b"]
        assert corpus.query("Who keeps the lighthouse?").text


def test_a_folder_that_is_followed_is_masked_and_removals_are_known(tmp_path: Path, folder: Path) -> None:
    with Corpus.open(tmp_path / "c", settings={"personal": MASK}) as corpus:
        plan = corpus.sync(folder)
        corpus.build()
        assert plan.personal.counts["email"] >= 6
        (folder / "martha-quill" / "report.txt").unlink()
        again = corpus.plan(folder, estimate=True)
        assert (len(again.removed), len(again.same), again.added) == (1, 3, ())
        corpus.sync(folder)
        corpus.build()
        assert len(corpus.document_keys()) == 3
    assert traces(tmp_path / "c") == []


def test_adding_again_changes_nothing(tmp_path: Path, folder: Path) -> None:
    with Corpus.open(tmp_path / "c", settings={"personal": MASK}) as corpus:
        first = corpus.add(folder)
        again = corpus.add(folder)
        assert (set(again.same), again.new, again.changed) == (set(first.new), (), ())


def test_the_secret_is_needed_to_go_on(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"personal": {"mask": "mask"}}) as corpus:
        before = corpus.masked(MAIL)
        (corpus.store.root / "personal.secret").unlink()
        assert corpus.masked(MAIL) != before
        assert corpus.masked("nothing here") == "nothing here"
    with Corpus.open(tmp_path) as corpus:
        assert corpus.masked(MAIL) == MAIL


# ── on the command line ──


@pytest.fixture
def run() -> Callable[..., Result]:
    return lambda *words: CliRunner().invoke(app, [str(w) for w in words])


def test_personal_reports_files_and_writes_nothing(tmp_path: Path, folder: Path, run: Callable[..., Result]) -> None:
    root = tmp_path / "c"
    result = run("documents", "pii", folder, "--root", root)
    assert result.exit_code == 0
    assert "found in 4 of 4 documents" in result.stdout
    assert "aaaa.aaaaa@aaaa.aaaaaaa.aaa" in result.stdout
    assert "not found by design:\n- names of people: `person` is not among personal.kinds\n" in result.stdout
    named = run("documents", "pii", folder, "--root", root, "--set", 'personal.kinds=["person"]').stdout
    assert "not found by design:\n- of the names of people nicknames" in named
    assert "901820" not in result.stdout
    assert not root.exists()
    found = json.loads(
        run("documents", "pii", folder, "--root", root, "--json", "--set", 'personal.kinds=["iban"]').stdout
    )
    assert found["counts"] == {"iban": 4}
    assert found["read"] == 4
    assert found["unfound"]


def test_personal_without_a_path_reports_the_corpus_else_its_input(
    tmp_path: Path, folder: Path, run: Callable[..., Result]
) -> None:
    root = tmp_path / "c"
    nothing = run("documents", "pii", "--root", root)
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    assert "Nothing can be read from" in nothing.stderr
    (root / "input").mkdir(parents=True)
    (root / "input" / "a.txt").write_text(TEXT)
    assert "of 1 document" in run("documents", "pii", "--root", root).stdout
    assert run("index", folder, "--root", root, "--set", "personal.mask=mask", "-q").exit_code == 0
    after = run("documents", "pii", "--root", root).stdout
    assert "0 found in 0 of 4 documents" in after


def test_index_says_how_much_was_masked(tmp_path: Path, folder: Path, run: Callable[..., Result]) -> None:
    mask = ("--set", "personal.mask=mask", "--root", tmp_path / "c")
    assert "personal data: masked" in run("index", folder, *mask).stdout
    again = run("index", folder, "--sync", "--json", *mask)
    assert json.loads(again.stdout)["personal"]["counts"]["iban"] == 4
    plan = run("index", folder, "--sync", "--dry-run", "--json", *mask)
    assert json.loads(plan.stdout)["personal"]["masked"] is True
    text = run("documents", "pii", "--text", f"to {MAIL}", *mask).stdout
    assert text.startswith("to EMAIL-")
    plain = ("--set", "personal.mask=report", "--root", tmp_path / "d")
    assert "found and not masked" in run("index", folder, *plain).stdout
    refused = run("index", folder, "--root", tmp_path / "c")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert 'are masked, and personal.mask is "off" here' in " ".join(refused.stderr.split())


def test_a_text_that_stands_as_it_is_is_told_to(tmp_path: Path, folder: Path, run: Callable[..., Result]) -> None:
    mask = ("--set", "personal.mask=mask", "--set", 'personal.patterns={own="xyz"}')
    assert run("index", folder, "--root", tmp_path, *mask).exit_code == 0

    def shown(*flags: str) -> tuple[str, str]:
        result = run("documents", "pii", "--text", "Call Mr. Quill", "--root", tmp_path, *flags)
        assert result.exit_code == 0
        return result.stdout, result.stderr

    assert shown() == ("Call Mr. Quill\n", "personal.mask is off: texts stand as they are\n")
    kinds = ", ".join((*RULED, "own"))
    assert shown(*mask) == ("Call Mr. Quill\n", f"nothing of the kinds {kinds} is found in it\n")
    found, said = shown("--set", "personal.mask=mask", "--set", 'personal.kinds=["person"]')
    assert found.startswith("Call Mr. PERSON-")
    assert said == ""


def test_an_import_is_refused_while_masking(tmp_path: Path, run: Callable[..., Result]) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "entities.jsonl").write_text('{"id": "1", "title": "Martha Quill", "type": "person"}\n')
    (tables / "relationships.jsonl").write_text('{"id": "1", "source": "Martha Quill", "target": "Martha Quill"}\n')
    result = run("graph", "import", tables, "--root", tmp_path / "c", "--set", "personal.mask=mask")
    assert result.exit_code == 1
    assert "an import brings entities" in " ".join(result.stderr.split())
    assert traces(tmp_path / "c") == []


def test_a_wrong_setting_is_an_error(tmp_path: Path, run: Callable[..., Result]) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    result = run("index", tmp_path, "--root", tmp_path / "c", "--set", "personal.mask=all")
    assert "personal.mask cannot be 'all'; choose off, report or mask" in " ".join(result.stderr.split())
    wrong = {"personal": {"mask": "mask", "patterns": {"own": "("}}}
    with (
        Corpus.open(tmp_path / "d", settings=wrong) as corpus,
        pytest.raises(SettingsError, match=r"patterns\.own is no"),
    ):
        corpus.add(Document("a", "b"))
