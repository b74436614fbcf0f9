"""A corpus of masked documents: what it refuses and says, by what its documents were masked and what holds now."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.privacy import find_people, survey_documents
from sensegraph.errors import SettingsError
from sensegraph.personal.personal_settings import PersonalSettings
from sensegraph.types import Document, Question, Turn

LETTERS = (
    Document("one", "Ada Lovelace lives in Oslo. Write to ada@velm.example or call +49 30 123456-78.", "A letter"),
    Document("two", "The ferry of Velm leaves at noon. Its harbour was built of stone.", "The harbour"),
)
Made = Callable[..., Corpus]


@pytest.fixture
def make(tmp_path: Path) -> Made:
    """A corpus of the letters in one folder under these settings of [personal]."""

    def opened(mask: str = "mask", **personal: Any) -> Corpus:
        table = {"mask": mask, "kinds": ["email", "phone", "person"], **personal}
        return Corpus.open(tmp_path / "c", settings={"engine": "offline", "personal": table})

    return opened


def refusal(act: Callable[[], Any]) -> str:
    """What is said by what refuses, empty where nothing does."""
    with suppress(SettingsError):
        act()
        return ""
    try:
        act()
    except SettingsError as e:
        return str(e)
    raise AssertionError("It refuses once only.")


def test_documents_are_masked_as_they_come_in_and_questions_as_they_are_asked(make: Made) -> None:
    with make() as corpus:
        corpus.add(LETTERS)
        corpus.build()
        text = corpus.index().document("one").text
        assert "Lovelace" not in text
        assert "ada@velm.example" not in text
        privacy: Any = corpus.privacy
        asked, notes = privacy.mask_question(Question("Where does Ada Lovelace live?"))
        assert "Lovelace" not in asked.text
        assert notes == ("the question was masked before it was used",)
        plain = Question("When does the ferry leave?")
        assert privacy.mask_question(plain) == (plain, ())
        told = Question("And then?", history=(Turn("Who is ada@velm.example?", "Ask bo@velm.example."),))
        (turn,) = privacy.mask_question(told)[0].history
        assert "@velm" not in turn.question + turn.answer
        assert privacy.masked_path("letters/ada.csv").endswith(".csv")
        assert "ada" not in privacy.masked_path("letters/ada.csv")
        assert privacy.masked_path("x.averylongsuffix")[-8:] == ".averylo"


def test_a_name_without_a_sentence_is_masked_where_documents_know_it(make: Made) -> None:
    with make() as corpus:
        corpus.add(LETTERS)
        corpus.build()
        privacy: Any = corpus.privacy
        assert "Lovelace" not in privacy.mask_question(Question("ada lovelace address?"))[0].text.title()


def test_masked_documents_stay_alone(make: Made) -> None:
    with make() as corpus:
        corpus.add(LETTERS[:1])
    with make("off") as corpus:
        said = refusal(lambda: corpus.add(LETTERS[1:]))
        assert said.startswith(
            '1 document of this corpus is masked, and personal.mask is "off" here: documents would come in unmasked. '
            'Put mask = "mask" under [personal] of sensegraph.toml.'
        )
    with make() as corpus:
        corpus.add(LETTERS[1:])
    with make("report") as corpus:
        assert refusal(lambda: corpus.add(LETTERS)).startswith(
            '2 documents of this corpus are masked, and personal.mask is "report" here'
        )
        corpus.remove("one", "two")
        corpus.add(LETTERS)


def test_documents_that_were_read_unmasked_are_not_built_masked(make: Made) -> None:
    with make("off") as corpus:
        corpus.add(LETTERS)
    with make() as corpus:
        privacy: Any = corpus.privacy
        said = refusal(privacy.require_masked_documents)
        assert said.startswith("2 documents of this corpus are not masked under the settings of [personal]: 'one' was")
        assert "was read without masking. The originals are not kept" in said
        assert refusal(corpus.build) == said


def test_documents_that_were_masked_under_other_rules_are_named_with_what_differs(make: Made) -> None:
    with make() as corpus:
        corpus.add(LETTERS)
        corpus.build()
    with make(kinds=["email"]) as corpus:
        privacy: Any = corpus.privacy
        said = refusal(privacy.require_masked_documents)
        assert "was read under others, which differ in " in said
        assert "kinds" in said
        index = refusal(privacy.require_masked_index)
        assert index.startswith("The index was not made of documents that were masked under the settings of [personal]")
        assert index.endswith("Set that as it was, or run sensegraph index PATH, which reads them again.")


def test_an_index_of_unmasked_documents_is_not_asked_masked(make: Made) -> None:
    with make("off") as corpus:
        corpus.add(LETTERS)
        corpus.build()
    with make() as corpus:
        privacy: Any = corpus.privacy
        said = refusal(privacy.require_masked_index)
        assert "'one' was read without masking; run sensegraph index PATH" in said
        assert said.endswith("or use it as it is with --set personal.mask=off.")


def test_an_index_that_is_older_than_its_masked_documents_is_built_again(make: Made) -> None:
    with make("off") as corpus:
        corpus.add(LETTERS)
        corpus.build()
    with make() as corpus:
        corpus.add(LETTERS)
        privacy: Any = corpus.privacy
        assert refusal(privacy.require_masked_index).endswith(
            "they were read again after it was built. Run sensegraph index."
        )
        corpus.build()
        assert refusal(privacy.require_masked_index) == ""


def test_a_question_to_a_masked_corpus_is_refused_unmasked_where_its_secret_is(make: Made, tmp_path: Path) -> None:
    with make() as corpus:
        corpus.add(LETTERS)
        assert corpus.privacy._note_unmasked_question() == ()  # there is no index yet
        corpus.build()
    with make("off") as corpus:
        privacy: Any = corpus.privacy
        asked = Question("Where does Ada Lovelace live?")
        assert refusal(lambda: privacy.mask_question(asked)).startswith(
            'The index was made of masked documents, and personal.mask is "off" here: a question would not find whom'
        )
        for path in (tmp_path / "c").rglob("*secret*"):
            path.unlink()
        assert privacy.mask_question(asked) == (
            asked, ("the documents are masked and the question was not: the corpus is here without its secret",)
        )  # fmt: skip


def test_what_cannot_be_masked_is_refused_only_where_the_settings_mask(make: Made) -> None:
    with make("off") as corpus:
        assert refusal(lambda: corpus.privacy.refuse_masking("a table comes in")) == ""
        assert corpus.privacy.marks(["one"]) == {}
        assert corpus.privacy.masked_path("a/b.csv") == "a/b.csv"
    with make() as corpus:
        assert "a table comes in, unmasked" in refusal(lambda: corpus.privacy.refuse_masking("a table comes in"))
        assert corpus.privacy.marks([]) == {}
        assert len(corpus.privacy.marks(["one", "two"])) == 3


def test_people_are_found_only_where_they_are_sought() -> None:
    text = "Ada Lovelace lives in Oslo. Ada Lovelace met Bo Holt, and Holt left."
    found = find_people(text, PersonalSettings(kinds=("person",)))
    assert {text[one.start : one.end] for one in found} >= {"Ada Lovelace", "Bo Holt"}
    assert "Oslo" not in {text[one.start : one.end] for one in found}
    assert find_people(text, PersonalSettings(kinds=("email",))) == []
    assert find_people("  \n ", PersonalSettings(kinds=("person",))) == []
    every = find_people("The Velm Report and Ada Lovelace came.", PersonalSettings(kinds=("name",)))
    assert len(every) >= 1


def test_a_survey_counts_what_is_personal_and_changes_nothing() -> None:
    found = survey_documents(LETTERS, PersonalSettings())
    assert found == survey_documents(iter(LETTERS), PersonalSettings())
    assert found != survey_documents(LETTERS[1:], PersonalSettings())
