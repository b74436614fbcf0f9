"""What a corpus does about personal data, over documents that are only keys: whom it refuses, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.corpus import privacy
from sensegraph.corpus.privacy import Privacy
from sensegraph.corpus.settings import Settings
from sensegraph.documents.images import MASKED, NO_MODEL
from sensegraph.engines.llm import figure_task
from sensegraph.errors import SettingsError
from sensegraph.language.text import split_runs, stem_run
from sensegraph.language.word_lists import SNOWBALL
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.personal import finding, masking
from sensegraph.personal.finding import Named
from sensegraph.personal.masking import read_secret
from sensegraph.personal.personal_settings import PersonalSettings, fingerprint_settings
from sensegraph.types import Document, Question

KEYED, KINDS = PersonalSettings(mask="mask"), PersonalSettings(mask="mask", style="kind")
NOW, THEN = fingerprint_settings(KEYED), fingerprint_settings(KINDS)


class Refs:
    """A store of refs alone."""

    def __init__(self, root: Path, refs: Mapping[str, str]) -> None:
        self.root, self.held = root, dict(refs)

    def ref(self, name: str) -> str | None:
        return self.held.get(name)

    def refs(self, prefix: str = "") -> dict[str, str]:
        return {name: value for name, value in self.held.items() if name.startswith(prefix)}

    def set_refs(self, refs: Mapping[str, str]) -> None:
        self.held.update(refs)


def make(
    folder: Path,
    settings: PersonalSettings = KEYED,
    refs: Mapping[str, str] | None = None,
    names: str = "ab",
    **space: Any,
) -> Privacy:
    store: Any = Refs(folder, refs or {})
    keys = {name: f"key of {name}" for name in names}
    given = {"settings": Settings(personal=settings), "document_keys": lambda: keys, "journal": "the journal"}
    return Privacy(SimpleNamespace(store=store, **(given | space)))  # type: ignore[arg-type]


def refuse(made: Privacy, what: str) -> str:
    """What a refusal says; nothing where it does not come."""
    try:
        getattr(made, what)()
    except SettingsError as e:
        return str(e)
    return ""


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ({"a": NOW, "b": NOW}, ""),
        ({"a": NOW}, "1 document of this corpus is not masked under the settings of [personal]: 'b' was read without"),
        ({"b": NOW}, "1 document of this corpus is not masked under the settings of [personal]: 'a' was read without"),
        (
            {},
            "2 documents of this corpus are not masked under the settings of [personal]: 'a' was read without masking",
        ),
        ({"a": NOW, "b": THEN}, "'b' was read under others, which differ in a way that is not known. The originals"),
    ],
)
def test_documents_that_were_not_masked_as_now_are_named_the_first_of_them(
    tmp_path: Path, marks: dict[str, str], said: str
) -> None:
    refs = {f"masked/{name}": mark for name, mark in marks.items()}
    found = refuse(make(tmp_path, refs=refs), "require_masked_documents")
    assert said in found
    assert bool(found) is bool(said)
    assert refuse(make(tmp_path, PersonalSettings(), refs), "require_masked_documents") == ""


@pytest.mark.parametrize(
    ("built", "marks", "said"),
    [
        ("", {}, ""),  # there is no index
        (f"{NOW} i", {}, ""),
        (f"{NOW} j", {"a": NOW, "b": NOW}, "they were read again after it was built. Run sensegraph index."),
        (f"{THEN} i", {"a": THEN, "b": NOW}, "[personal]: 'a' was read under others, which differ in a way that is not "
         "known. Set that as it was, or run sensegraph index PATH, which reads them again."),
        ("x", {"a": NOW}, "[personal]: 'b' was read without masking; run sensegraph index PATH, which reads them again"
         ", or use it as it is with --set personal.mask=off."),
        ("x", {"b": NOW}, "[personal]: 'a' was read without masking; run"),
    ],
)  # fmt: skip
def test_an_index_that_was_made_of_others_is_refused_with_what_to_do(
    tmp_path: Path, built: str, marks: dict[str, str], said: str
) -> None:
    refs = {f"masked/{name}": mark for name, mark in marks.items()}
    refs |= {"index": "i", "personal/index": built} if built else {}
    found = refuse(make(tmp_path, refs=refs), "require_masked_index")
    assert said in found
    assert bool(found) is bool(said)
    assert refuse(make(tmp_path, PersonalSettings(), refs), "require_masked_index") == ""


@pytest.mark.parametrize(
    ("marks", "kept"),
    [({}, None), ({"a": NOW, "b": NOW}, f"{NOW} i"), ({"a": NOW, "b": THEN}, None), ({"a": NOW}, None),
     ({"a": THEN, "b": THEN}, f"{THEN} i"), ({"other": NOW}, None)],
)  # fmt: skip
def test_an_index_is_remembered_as_masked_where_all_were_masked_alike(
    tmp_path: Path, marks: dict[str, str], kept: str | None
) -> None:
    made = make(tmp_path, refs={"index": "i"} | {f"masked/{name}": mark for name, mark in marks.items()})
    made.remember_masked_index()
    assert made._store.ref("personal/index") == kept


def test_originals_do_not_come_in_beside_masked_documents(tmp_path: Path) -> None:
    off = PersonalSettings(mask="report")
    new = [Document("c", "New.")]
    made = make(tmp_path, off, {"masked/b": NOW})
    with pytest.raises(
        SettingsError, match=r'1 document of this corpus is masked, and personal\.mask is "report" here'
    ):
        made.without_personal_data(new)
    with pytest.raises(SettingsError, match=r"2 documents of this corpus are masked"):
        make(tmp_path, off, {"masked/b": NOW, "masked/a": NOW}).without_personal_data(new)
    assert make(tmp_path, off, {"masked/gone": NOW}).without_personal_data(new)[0] == new
    assert made.without_personal_data([])[0] == []
    put_back = (
        r'Put mask = "mask" under \[personal\] of sensegraph.toml, and the settings there that differ as they were'
    )
    written = make(tmp_path, KINDS).marks(["b"])
    with pytest.raises(SettingsError, match=put_back + r": style \(then kind, now keyed\)"):
        make(tmp_path, off, {k: v for k, v in written.items() if v}).without_personal_data(new)


@pytest.mark.parametrize(
    ("index", "built", "secret", "said"),
    [
        ("", f"{NOW} i", True, None),
        ("i", "", True, None),
        ("i", f"{NOW} j", True, None),
        ("i", f"{NOW} i", False, "the documents are masked and the question was not: the corpus is here without its"),
        ("i", f"{NOW} i", True, "raised"),
    ],
)
def test_an_unmasked_question_to_a_masked_index_is_noted_or_refused(
    tmp_path: Path, index: str, built: str, secret: bool, said: str | None
) -> None:
    if secret:
        assert read_secret(tmp_path, make=True)
    refs = {name: value for name, value in {"index": index, "personal/index": built}.items() if value}
    made, asked = make(tmp_path, PersonalSettings(), refs), Question("Who?")
    if said == "raised":
        with pytest.raises(SettingsError, match=r"The index was made of masked documents, and personal.mask is"):
            made.mask_question(asked)
        return
    same, notes = made.mask_question(asked)
    assert same is asked
    assert len(notes) == (said is not None)
    assert (notes or ("",))[0].startswith(said or "")


@pytest.mark.parametrize("looking", ["", "foreseen", "paid"])
@pytest.mark.parametrize(
    ("model", "mask", "unmasked", "why"),
    [
        ("", "off", False, NO_MODEL),
        ("v", "off", False, ""),
        ("v", "off", True, ""),
        ("v", "mask", False, MASKED),
        ("v", "mask", True, ""),
    ],
)
def test_images_are_described_where_a_model_sees_and_masked_ones_only_where_that_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looking: Any, model: str, mask: Any, unmasked: bool, why: str
) -> None:
    asked: list[Any] = []
    settings = Settings(
        personal=PersonalSettings(mask=mask),
        endpoint=replace(EndpointSettings(), vision_model=model, vision_unmasked=unmasked),
    )
    beside: list[str] = []

    @contextmanager
    def note(what: str) -> Any:
        beside.append(what)
        yield

    journal = SimpleNamespace(beside=lambda: note("journal"))
    made = make(
        tmp_path, settings=settings.personal, asking_runtime=lambda: "rt", tools="tools", wait=3.0, journal=journal
    )
    made._workspace.settings = settings
    made._store.exclusive = lambda wait: note(f"exclusive {wait}")  # type: ignore[method-assign, assignment]
    monkeypatch.setattr(privacy, "make_describer", lambda *given: asked.append(given) or "describer")
    monkeypatch.setattr(figure_task, "FigureReader", lambda by, rt, **given: SimpleNamespace(by=by, rt=rt, **given))
    reader, told = made.figure_reader(looking)
    masks = mask == "mask"
    if why == NO_MODEL or not looking:
        assert (reader, told, asked) == (None, NO_MODEL, [])
        return
    if why:
        assert (reader, told, asked) == (None, MASKED, [])
        return
    assert told == ""
    ((used, tools, kept, text, by),) = asked
    assert (used, tools) == (settings, "tools")
    assert kept is (None if masks else journal)
    assert text == (made.mask_text if masks else str)
    assert by == (fingerprint_settings(settings.personal) if masks else "")
    found: Any = reader
    assert (found.by, found.rt, found.paid) == ("describer", "rt", looking == "paid")
    with found.kept():
        assert beside == ["exclusive 3.0", *([] if masks else ["journal"])]
    made.figure_reader(looking)
    assert len(asked) == 1


def test_the_secret_is_made_where_something_is_masked_and_only_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bool] = []
    read = masking.read_secret

    def note(root: Path, *, make: bool) -> bytes:
        made.append(make)
        return read(root, make=make)

    monkeypatch.setattr(masking, "read_secret", note)
    make(tmp_path, PersonalSettings(mask="report")).without_personal_data([Document("a", "To ada@example.org.")])
    assert made == []
    make(tmp_path)._written()
    assert made == [False]
    make(tmp_path).without_personal_data([Document("a", "To ada@example.org.")])
    make(tmp_path).mask_text("To ada@example.org.")
    assert made == [False, True, True]


@pytest.mark.parametrize("name", ["Nora B16", "Nora B44", "Nora Blythe"])
@pytest.mark.parametrize("of", [min, max])
def test_a_name_that_documents_know_by_its_code_is_masked_in_a_question_in_whatever_language_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, of: Any
) -> None:
    settings = PersonalSettings(mask="mask", kinds=("person",))
    monkeypatch.setattr(masking, "read_secret", lambda root, *, make: b"x" * 32)
    monkeypatch.setattr(privacy, "find_people", lambda text, settings: [])
    monkeypatch.setattr(finding, "find_possible_names", lambda text: [Named(8, 8 + len(name), name)])
    refs = {"index": "i", "personal/index": f"{fingerprint_settings(settings)} i"}
    held: set[str] = set()
    words = SimpleNamespace(idf=lambda stem: 1.0 if stem in held else 2.0)
    made = make(tmp_path, settings, refs, open_index=lambda: SimpleNamespace(words=words))
    plain, masker = f"letters {name} march", made._masker()
    *_, code = split_runs(masker.person(name))
    assert made._mask_question_text(plain) == plain
    stems = {stem for by in SNOWBALL.values() for stem in stem_run(code, by)}
    assert (len(stems) > 1) == (name != "Nora Blythe")
    held.add(of(stems))
    assert made._mask_question_text(plain) == f"letters {masker.person(name)} march"
    other = make(tmp_path, settings, refs | {"personal/index": "x"}, open_index=lambda: SimpleNamespace(words=words))
    with pytest.raises(SettingsError, match="The index was not made of documents that were masked"):
        other._mask_question_text(plain)
    assert make(tmp_path, settings)._mask_question_text(plain) == plain  # there is no index
