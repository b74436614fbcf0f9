"""Arguments that cannot be used are errors of ours that name them, before anything is read or stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sensegraph import Condition, Corpus, Document, Scope
from sensegraph.errors import InputError, SettingsError

OFFLINE: dict[str, Any] = {"engine": "offline", "index": {"parts": []}}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus.open(tmp_path_factory.mktemp("wrong"), settings=OFFLINE) as corpus:
        corpus.add(
            Document("gzip.txt", "The gzip module reads compressed files.", metadata=(("year", 2020),), time="2020-05"),
            Document("zlib.txt", "The zlib module compresses streams.", metadata=(("year", 2021),), time="2021-05"),
        )
        corpus.build()
        yield corpus


def test_one_pattern_is_one_pattern_and_not_its_letters(corpus: Corpus) -> None:
    found = corpus.search("Which module reads files?", scope=Scope(documents="gzip*"))  # type: ignore[arg-type]
    assert found.documents == ("gzip.txt",)
    one = Condition("year", ">", 2020)
    assert Scope(documents="gzip*", where=one) == Scope(documents=("gzip*",), where=(one,))  # type: ignore[arg-type]
    assert hash(Scope(documents=["a", "b"], where=[one])) == hash(Scope(("a", "b"), (one,)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"documents": (3,)}, "documents .* 3"),
        ({"documents": None}, "documents .* None"),
        ({"where": ("year>1",)}, "where .* 'year>1'"),
        ({"where": "year>1"}, "where .* 'year>1'"),
        ({"since": 2020}, "since .* int"),
        ({"as_of": None}, "as_of .* NoneType"),
        ({"between": "2015/2018"}, "between .* '2015/2018'"),
        ({"between": ("2015",)}, "between .*'2015'"),
        ({"between": (2015, 2018)}, "between .*2015, 2018"),
        ({"unknown": "maybe"}, "unknown .* 'maybe'"),
    ],
)
def test_a_scope_of_other_types_names_its_field(given: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        Scope(**given)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((1, "=", 2), "field .* int"),
        (("year", "==", 2), "year .* '=='"),
        (("year", "=", [2020]), "year .* list"),
        (("year", ">", None), "year .* NoneType"),
    ],
)
def test_a_condition_of_other_types_names_what_is_wrong(given: tuple[Any, ...], named: str) -> None:
    assert Condition("year", "!=", None).value is None
    with pytest.raises(InputError, match=named):
        Condition(*given)


@pytest.mark.parametrize(
    ("field", "given"),
    [("since", "soon"), ("until", "2020-02-30"), ("since", "-0044"), ("as_of", "soon"), ("known_at", "2020-13"),
     ("between", ("", "soon"))],
)  # fmt: skip
def test_a_date_of_a_scope_that_is_none_names_field_and_form(corpus: Corpus, field: str, given: Any) -> None:
    scope = Scope(**{field: given})
    for ask in (corpus.query, corpus.search):
        with pytest.raises(InputError, match=f"^{field} .*ISO 8601"):
            ask("Which module reads files?", scope=scope)


@pytest.mark.parametrize(
    ("question", "more", "named"),
    [
        (None, {}, "NoneType"),
        ("Which?", {"scope": "gzip*"}, "'gzip\\*'"),
        ("Which?", {"history": ["earlier"]}, "history .* str"),
        ("Which?", {"method": 3}, "method .* 3"),
    ],
)
def test_a_question_of_other_types_names_what_is_wrong(
    corpus: Corpus, question: Any, more: dict[str, Any], named: str
) -> None:
    with pytest.raises(InputError, match=named):
        corpus.query(question, **more)


@pytest.mark.parametrize("top", [0, "3", None])
def test_a_number_of_passages_that_is_none_is_named(corpus: Corpus, top: Any) -> None:
    with pytest.raises(InputError, match=f"top must be at least 1, not {top!r}"):
        corpus.search("Which?", top=top)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"engin": "offline"}, "^the argument settings: unknown setting engin; did you mean engine"),
        ({"processes": "many"}, "^the argument settings: .*processes"),
        (
            {"index.chunk_tokens": 400},
            r'^the argument settings: .* nest it, as in \{"index": \{"chunk_tokens": …\}\}\.$',
        ),
        ({"index": {"temporal.dates": True}}, r'setting index.temporal.dates; .*\{"temporal": \{"dates": …\}\}\.$'),
        ("offline", "^settings is a table .* 'offline'"),
    ],
)
def test_settings_of_a_program_that_cannot_be_are_not_blamed_on_the_file(
    tmp_path: Path, given: Any, named: str
) -> None:
    with pytest.raises(SettingsError, match=named):
        Corpus.open(tmp_path, settings=given)
    (tmp_path / "sensegraph.toml").write_text("[index]\nchunk_tokens = 300\n")
    with pytest.raises(SettingsError, match=named):
        Corpus.open(tmp_path, settings=given)


def test_a_file_that_cannot_be_is_blamed_though_settings_were_given(tmp_path: Path) -> None:
    (tmp_path / "sensegraph.toml").write_text("engin = 'offline'\n")
    with pytest.raises(SettingsError, match=r"sensegraph\.toml: unknown setting engin;"):
        Corpus.open(tmp_path, settings={"engine": "offline"})


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (3, "not 3"),
        (b"text", "not b'text'"),
        (None, "not None"),
        (["a.txt"], "'a.txt'; give paths one by one"),
        (Document(7, "Text."), "7 needs a text as its id, not int"),  # type: ignore[arg-type]
        (Document("x", 5), "'x' needs a text as its text, not int"),  # type: ignore[arg-type]
        (Document("x", "Text.", title=None), "'x' needs a text as its title"),  # type: ignore[arg-type]
        (Document("x", "Text.", time=2020), "'x' needs a text as its time, not int"),  # type: ignore[arg-type]
        (Document("x", "Text.", time="yesterday"), "time of the document 'x' is 'yesterday'.*ISO 8601"),
        (Document("x", "Text.", time="2020-02-30"), "time of the document 'x' is '2020-02-30'.*ISO 8601"),
        (Document("x", "Text.", metadata="year"), "'x' are pairs .* not a str"),  # type: ignore[arg-type]
        (Document("x", "Text.", metadata={1: "year"}), r"'x' are pairs .* not \(1, 'year'\)"),  # type: ignore[arg-type]
        (Document("x", "Text.", metadata=("year",)), "'x' are pairs .* 'year'"),  # type: ignore[arg-type]
        (Document("x", "Text.", metadata=(("by", {}),)), "by of the document 'x' .* dict"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_document_is_refused_by_its_id_before_anything_is_stored(
    tmp_path: Path, given: Any, named: str
) -> None:
    good = Document("good", "A text.", metadata=(("year", 2020), ("by", None)), time="2020-05-17T09:30:00+02:00")
    with Corpus.open(tmp_path, settings=OFFLINE) as corpus:
        for read in (corpus.add, corpus.estimate):
            with pytest.raises(InputError, match=named):
                read(good, [good], given)
        assert corpus.document_keys() == {}
        assert corpus.add(good).new == ("good",)


def test_metadata_may_be_a_mapping_and_are_pairs_then(tmp_path: Path) -> None:
    mapped = Document("x", "A text.", metadata={"year": 2020, "by": None})  # type: ignore[arg-type]
    assert mapped == Document("x", "A text.", metadata=(("by", None), ("year", 2020)))
    assert hash(mapped)
    with Corpus.open(tmp_path, settings=OFFLINE) as corpus:
        corpus.add(mapped)
        assert corpus.documents()[0] == mapped


@pytest.mark.parametrize(
    ("name", "value"), [("engine", "offline"), ("embedder", "offline"), ("chunker", "windows"), ("method", "walk")]
)
def test_the_name_of_a_tool_in_its_place_says_where_names_are_given(tmp_path: Path, name: str, value: str) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(InputError, match=f"{name} is the text '{value}'; .*settings={{'{name}': '{value}'}}"):
        Corpus.open(tmp_path / "c", **given)
    assert not (tmp_path / "c").exists()
    Corpus.open(tmp_path / "c", settings=given).close()


@pytest.mark.parametrize("name", ["reranker", "executor"])
def test_the_name_of_a_tool_that_settings_name_otherwise_is_refused_too(tmp_path: Path, name: str) -> None:
    given: dict[str, Any] = {name: "ray"}
    with pytest.raises(InputError, match=rf"^{name} is the text 'ray'; give the tool itself \(docs/plugins\.md\)\.$"):
        Corpus.open(tmp_path / "c", **given)


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ({"model": "m", "max_cost_usd": 1.0}, "max_cost_usd needs the prices"),
        ({"model": "m", "max_cost_usd": -1.0, "price_prompt": 1.0}, "max_cost_usd must be at least 0"),
        ({"max_tokens_total": -1}, "max_tokens_total must be at least 0"),
    ],
)
def test_a_limit_that_cannot_hold_is_refused_when_the_corpus_is_opened(
    tmp_path: Path, table: dict[str, Any], named: str
) -> None:
    with pytest.raises(SettingsError, match=named):
        Corpus.open(tmp_path, settings={"endpoint": table})
    Corpus.open(tmp_path, settings={"engine": "offline", "endpoint": {"max_cost_usd": 1.0}}).close()
