"""The index of names: the same for any order of documents, mapped from the store, cut down by a filter (N43, N85)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from sensegraph.errors import SettingsError
from sensegraph.index.chunks import chunk_documents
from sensegraph.methods.walk import name_runs, naming, shown_names
from sensegraph.methods.walk.name_runs import count_mentions, name_run
from sensegraph.methods.walk.name_words import NamedDocuments, spell_documents
from sensegraph.methods.walk.naming import Names, NameSettings, hash_words, make_names, name_graph
from sensegraph.methods.walk.shown_names import ShownNames, ShownRun, join_shown, make_gazetteer, show_run
from sensegraph.runtime.results import recall_result
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Document
from wired import runtime

TEXTS = {
    "Ada Harrow": "Ada Harrow (born 1901) was a pilot. She sailed to Quay with Finn Stone.",
    "Quay (town)": "Quay is a town by the sea. Its mayor was Gwen Millar.",
    "Finn Stone": "Finn Stone was a painter. Stone lived in Quay. Stone knew Ada Harrow.",
    "Lighthouse": "The lighthouse stands alone. Nobody lives there, said Gwen Millar.",
}


def documents() -> list[Document]:
    return [Document(f"d{i}", text, title) for i, (title, text) in enumerate(TEXTS.items())]


def made(store: SqliteStore, given: list[Document], **settings: Any) -> Names:
    rt = runtime(store)
    key = name_graph(rt.each(chunk_documents, given, size=120, overlap=20), rt, NameSettings(**settings))
    return recall_result(store, make_names, key)


def made_elsewhere(folder: Any, given: list[Document]) -> Names:
    """The names of documents, made in a store of their own."""
    with closing(SqliteStore(folder / "other")) as store:
        return made(store, given)


def differing(one: Names, other: Names) -> list[str]:
    """The arrays in which two indexes of names differ."""
    return [f.name for f in fields(Names) if not np.array_equal(getattr(one, f.name), getattr(other, f.name))]


def ways(found: Names, chunk: int) -> dict[int, float]:
    """Where a walk goes from a chunk, chunks only."""
    part = slice(int(found.way[chunk]), int(found.way[chunk + 1]))
    to, share = found.to[part].tolist(), found.share[part].tolist()
    both: dict[int, float] = {}
    for t, s in zip(to, share, strict=True):
        if t < found.chunks:
            both[t] = both.get(t, 0.0) + s
    return both


def test_chunks_hold_the_names_that_they_mention_and_bear(store: SqliteStore) -> None:
    found = made(store, documents())
    ada, quay, stone, gone = found.find(["ada harrow", "quay", "finn stone", "zeppelin"]).tolist()
    assert gone == -1
    assert [a.tolist() for a in found.holding(quay)] == [[0, 1, 2], [False, True, False]]
    assert [a.tolist() for a in found.holding(ada)] == [[0, 2], [True, False]]
    held, bears = found.of(2)
    assert set(held.tolist()) == {ada, quay, stone}
    assert held[bears].tolist() == [stone]
    assert found.times[int(found.start[2]) + held.tolist().index(stone)] == 3


def test_a_chunk_leads_to_the_chunks_that_bear_what_it_mentions(store: SqliteStore) -> None:
    found = made(store, documents())
    assert set(ways(found, 0)) == {1, 2}
    assert set(ways(found, 3)) == set()
    assert ways(found, 0)[2] > ways(made(store, documents(), forward=0.5), 0)[2]
    assert set(ways(made(store, documents(), forward=0.0, backward=0.0), 0)) == set()


def test_a_name_that_many_documents_bear_leads_nowhere(store: SqliteStore) -> None:
    same = [Document(f"s{i}", f"Part {i} of it.", "Quay") for i in range(6)]
    found = made(store, [*same, Document("z", "They saw Quay.", "Other")])
    assert ways(found, 6) == {}
    assert set(ways(made(store, [*same, Document("z", "They saw Quay.", "Other")], owners=6), 6)) == set(range(6))


def test_all_chunks_of_a_document_bear_its_title(store: SqliteStore) -> None:
    long = Document("a", "The mill stood by the river for years and years. " * 40, "Old Mill")
    found = made(store, [long, Document("b", "She went to Old Mill.", "Visit")])
    (mill,) = found.find(["old mill"]).tolist()
    chunks, bears = found.holding(mill)
    assert len(chunks) > 3
    assert bears.tolist() == [True] * (len(chunks) - 1) + [False]
    assert found.bearers[mill] == 1


def test_the_order_of_documents_changes_nothing_but_the_numbers_of_chunks(store: SqliteStore) -> None:
    one, other = made(store, documents()), made(store, documents()[::-1])
    assert one.keys.tolist() == other.keys.tolist()
    assert one.salience.tolist() == other.salience.tolist()
    for i in range(4):
        assert [a.tolist() for a in one.of(i)] == [a.tolist() for a in other.of(3 - i)]
        turned = {3 - to: share for to, share in ways(other, 3 - i).items()}
        assert ways(one, i) == pytest.approx(turned)


def test_it_is_computed_once_and_recalled_from_the_store(store: SqliteStore) -> None:
    rt = runtime(store)
    chunks = rt.each(chunk_documents, documents(), size=120, overlap=20)
    first = name_graph(chunks, rt, NameSettings())
    again = runtime(store)
    assert name_graph(again.each(chunk_documents, documents(), size=120, overlap=20), again, NameSettings()) == first
    assert again.computed == {}
    assert recall_result(store, make_names, first).chunks > 0


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("Quay is a town by the sea. Its mayor is Gwen Millar.", True),
        ("Quay is a town by the water, and its mayor was Gwen Millar.", True),
        ("Quay is a town by the sea. Its mayor was Finn Stone.", False),
        ("Quay is a town by the sea. Its mayor was Gwen Millar. So said Gwen Millar.", False),
    ],
)
def test_a_text_that_mentions_what_it_did_leaves_the_index_of_names(
    store: SqliteStore, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, text: str, stays: bool
) -> None:
    monkeypatch.setattr(name_runs, "cut_keys", lambda keys: [range(len(keys))])  # else one may be cut elsewhere
    made(store, documents())
    rt, new = runtime(store), [replace(d, text=text) if d.id == "d1" else d for d in documents()]
    key = name_graph(rt.each(chunk_documents, new, size=120, overlap=20), rt, NameSettings())
    assert rt.computed["namewords.spelt"] == rt.computed["contents.digest"] == 1
    assert rt.computed["naming.names"] == (not stays)
    assert differing(recall_result(store, make_names, key), made_elsewhere(tmp_path, new)) == []


def test_an_update_reads_only_what_is_new_and_equals_a_rebuild(store: SqliteStore, tmp_path: Any) -> None:
    made(store, documents())
    rt = runtime(store)
    new = [*documents(), Document("e", "Gwen Millar wrote to Ada Harrow.", "A Letter")]
    key = name_graph(rt.each(chunk_documents, new, size=120, overlap=20), rt, NameSettings())
    updated = recall_result(store, make_names, key)
    assert rt.computed["namewords.spelt"] == 1
    assert rt.computed["namewords.mentions"] == 1
    fresh = made_elsewhere(tmp_path, new)
    assert differing(updated, fresh) == []


def test_a_run_is_made_anew_only_where_one_document_has_all_words_of_a_new_name(
    store: SqliteStore, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_runs, "cut_keys", lambda keys: [range(2), range(2, len(keys))])
    old = [Document("a", "They saw a pine there.", "One"), Document("b", "It lies under a ridge.", "Two")]
    old.append(Document("c", "We left.", "Three"))
    made(store, old)
    for title, runs in (("Pine Ridge", 1), ("Pine There", 2)):  # the words of the first stand in one run, but apart
        rt, new = runtime(store), [*old, Document("d", "It rains.", title)]
        key = name_graph(rt.each(chunk_documents, new, size=120, overlap=20), rt, NameSettings())
        assert (rt.computed["namewords.told"], rt.computed["namewords.run"]) == (2, runs)
        assert differing(recall_result(store, make_names, key), made_elsewhere(tmp_path / title, new)) == []


def test_of_the_runs_of_the_build_before_only_those_are_read_in_which_something_changed(
    store: SqliteStore, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_runs, "cut_keys", lambda keys: [range(i, i + 1) for i in range(len(keys))])
    made(store, documents())
    read, reader = [], name_runs._read_shown
    monkeypatch.setattr(name_runs, "_read_shown", lambda value: read.append(value) or reader(value))
    changed = [*documents()[:3], Document("d3", "The lighthouse stands alone. Nobody lives there.", "Lighthouse")]
    found = made(store, changed)
    assert len(read) == 2  # the run that went and the one that came, of which nothing else is known in the others
    assert differing(found, made_elsewhere(tmp_path / "changed", changed)) == []


def test_of_no_documents_there_are_no_names(store: SqliteStore) -> None:
    assert len(made(store, [])) == 0


def test_what_runs_show_is_stored_alike_whatever_was_known_before() -> None:
    noted = spell_documents.fn(chunk_documents.fn(documents(), size=120, overlap=20))
    runs = {f"{i}": show_run([document]) for i, document in enumerate(noted)}

    def read(keys: Sequence[str]) -> list[ShownRun]:
        return [runs[key] for key in keys]

    whole, told = join_shown([*runs], read)
    first, signs = join_shown(["3", "1"], read)
    again, _ = join_shown([*runs], read, first.pack(signs))
    assert again.pack(told) == whole.pack(told)


@pytest.mark.parametrize("lost", ["all together", "a run", "the version", "the form"])
def test_what_runs_showed_before_is_a_memory_and_no_input(lost: str, store: SqliteStore, tmp_path: Any) -> None:
    made(store, documents()[:3])
    version, kept = str(store.ref("shown")).split()
    assert version == f"{name_runs.keep_together.version}"
    (run, *_) = name_runs._read_together(store.read([kept])[kept]).runs
    store.set_refs({"shown": f"{'another' if lost == 'the version' else version} {kept}"})
    store.drop({"all together": [kept], "the form": [kept], "a run": [run]}.get(lost, []))
    if lost == "the form":
        store.write({kept: b"\xc4\x02\x93\x01"}, "namewords.together")
    found = made(store, documents())
    assert differing(found, made_elsewhere(tmp_path, documents())) == []
    assert store.ref("shown") not in (None, f"{version} {kept}")


@pytest.mark.parametrize("seed", range(6))
def test_documents_that_come_one_by_one_have_the_names_that_they_have_at_once(
    store: SqliteStore, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Whatever new names do to the words of the documents before, of which the pairs are known."""
    monkeypatch.setattr(shown_names, "_MANY", 1)
    draw = random.Random(seed)

    def say(count: int) -> str:
        words = draw.choices("oak elm ash fir yew".split(), k=count)
        return " ".join(draw.choice((word, word, word.title())) for word in words)

    given = [Document(f"d{i:02}", f"He saw {say(9)}. {say(6)}.", say(draw.randint(1, 3)).title()) for i in range(24)]
    for count in range(8, len(given)):
        found = made(store, given[:count])
    assert differing(found, made_elsewhere(tmp_path, given[:count])) == []


def test_however_many_chunks_are_looked_through_at_once_the_same_titles_are_found(
    store: SqliteStore, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = made(store, documents())
    assert len(whole.hints)
    monkeypatch.setattr(naming, "_LOOKED", 1)
    cut = made_elsewhere(tmp_path, documents())
    assert differing(whole, cut) == []


def test_what_runs_show_may_be_read_again_instead_of_kept(
    store: SqliteStore, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = made(store, documents())
    monkeypatch.setattr(name_runs, "_READ_AGAIN", 0)
    looks: list[int] = []
    change = ShownNames.change
    seen = lambda self, went, came: looks.append(isinstance(came, list)) or change(self, went, came)  # noqa: E731
    monkeypatch.setattr(ShownNames, "change", seen)
    again = made_elsewhere(tmp_path, documents())
    assert looks == [False]
    assert differing(kept, again) == []


def test_however_documents_are_cut_into_runs_the_index_is_the_same(store: SqliteStore) -> None:
    noted = spell_documents.fn(chunk_documents.fn(documents(), size=120, overlap=20))
    known, whole = make_gazetteer(noted), made(store, documents())
    for size in (1, 3, 4):
        runs = [noted[at : at + size] for at in range(0, len(noted), size)]
        shown = {f"{i}": show_run(run) for i, run in enumerate(runs)}
        assert join_shown([*shown], lambda keys, shown=shown: [shown[key] for key in keys])[0].known == known
        named = [name_run(run, [count_mentions(d, known) for d in run]) for run in runs]
        columns, names = [c for _, c in named], [own for own, _ in named]
        given = NamedDocuments(columns, names, [len(run) for run in runs], known)
        (found,) = make_names.fn([given], settings=NameSettings())
        for field in fields(Names):
            assert np.array_equal(getattr(found, field.name), getattr(whole, field.name)), field.name


def test_all_chunks_together_are_the_whole(store: SqliteStore) -> None:
    found = made(store, documents())
    same = found.within(np.arange(4))
    assert len(fields(Names)) > 3
    assert differing(found, same) == []


def test_within_chunks_nothing_leads_outside(store: SqliteStore) -> None:
    whole = made(store, documents())
    found = whole.within(np.array([1, 2]))
    ada, quay, millar = found.find(["ada harrow", "quay", "gwen millar"]).tolist()
    assert found.chunks == 2
    assert [a.tolist() for a in found.holding(ada)] == [[1], [False]]
    assert [a.tolist() for a in found.holding(quay)] == [[0, 1], [True, False]]
    assert found.bearers[ada] == 0
    assert ways(found, 1) == {0: pytest.approx(ways(found, 1)[0])}
    assert found.holding(millar)[0].tolist() == [0]
    assert found.salience.tolist() == whole.salience.tolist()
    assert max(found.to.tolist()) < 2 + len(found)
    assert set(found.hints.tolist()) <= {0, 1}
    assert found.asides[int(found.aside[0]) : int(found.aside[1])].tolist() == hash_words(["town"]).tolist()


def test_a_title_with_all_words_of_a_name_is_hinted_at(store: SqliteStore) -> None:
    texts = [
        Document("a", "It was held in Fredericton.", "Fair"),
        Document("b", "It is old.", "Diocese of Fredericton"),
    ]
    found = made(store, texts)
    (name,) = found.find(["fredericton"]).tolist()
    hinted = found.hints[int(found.hint[name]) : int(found.hint[name + 1])]
    assert hinted.tolist() == [1]


@pytest.mark.parametrize("texts", [["so it was."], ["", "  "], ["他来了。"]])
def test_a_corpus_without_names_has_an_empty_index_that_can_be_stored(store: SqliteStore, texts: list[str]) -> None:
    found = made(store, [Document(f"d{i}", text) for i, text in enumerate(texts)])
    assert len(found) == 0
    assert found.find(["harrow"]).tolist() == [-1]
    assert len(found.to) == 0


@pytest.mark.parametrize(
    "wrong", [{"owners": 0}, {"common": 0.0}, {"common": 1.5}, {"bears": -1.0}, {"forward": float("inf")}]
)
def test_settings_out_of_range_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        NameSettings(**wrong)
