"""The second ordering: dates, names written together, what is told of a document, neighbours, words of the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.methods.walk import second_order
from sensegraph.methods.walk.second_order import SIGNS, measure_signs, read_weights, with_neighbours
from sensegraph.methods.walk.walk import BY_WORDS, Walk
from sensegraph.methods.walk.wording import WORDING
from sensegraph.questions import Condition, Scope
from sensegraph.types import Document, Question

TALK = (
    "The boiler of the mill stands still again.",
    "It lacks a valve from Quay.",
    "Who cooks tonight? There is bread and cheese.",
    "The kettle is broken, and nobody wants tea.",
    "Then let us eat the cheese cold.",
    "Lamps are on sale at the harbour.",
)


@contextmanager
def indexed(folder: Path, documents: Sequence[Document], *parts: str) -> Iterator[Corpus]:
    settings: Any = {"engine": "offline", "index": {"parts": list(parts or ("names", "wording"))}}
    with Corpus.open(folder, settings=settings) as made:
        made.add(documents)
        made.build()
        yield made


def found(made: Corpus, question: str, index: Any = None) -> list[str]:
    index = index or made.index()
    ranked = Walk().rank(Question(question), index, made.runtime())
    return [index.catalogue.chunks[int(i)].document for i in ranked.positions]


def signs(made: Corpus, question: str) -> dict[str, dict[str, float]]:
    """Every sign of every document, which is one chunk each."""
    index = made.index()
    entries = index.catalogue.chunks
    here = np.arange(len(entries))
    values = measure_signs(question, here, index.part(WORDING), here.astype(np.int32))
    return {e.document: dict(zip(SIGNS, row, strict=True)) for e, row in zip(entries, values.tolist(), strict=True)}


def test_a_date_in_a_question_finds_what_was_written_then(tmp_path: Path) -> None:
    texts = [
        Document(f"note of {day}", "We met for lunch.", f"Note {day} 11:00") for day in ("2026-04-21", "2026-05-21")
    ]
    told = [Document("told", "We met for lunch.", "", (("published", "2025-05-03T10:00:00"),))]
    with indexed(tmp_path, [*texts, *told]) as made:
        assert found(made, "Where was lunch on 20260521?")[0] == "note of 2026-05-21"
        assert found(made, "Where was lunch on April 21, 2026?")[0] == "note of 2026-04-21"
        assert set(found(made, "Where was lunch in May?")[:2]) == {"note of 2026-05-21", "told"}
        assert found(made, "Where was lunch on 3 May 2025?")[0] == "told"


def test_names_written_together_are_found_by_their_words(tmp_path: Path) -> None:
    texts = [Document("ada", "AdaFinch: I am late."), Document("bo", "BoStone: I am late. Finches sing.")]
    with indexed(tmp_path, texts) as made:
        assert found(made, "Why was Ada Finch late?")[0] == "ada"
        assert found(made, "Why was BoStone late?")[0] == "bo"


def test_what_is_told_of_a_document_finds_it(tmp_path: Path) -> None:
    text = "The mill was sold to its workers."
    texts = [
        Document(paper, text, "", (("source", paper), ("url", f"https://a.b/{paper}"))) for paper in ("Courier", "Star")
    ]
    with indexed(tmp_path, texts) as made:
        assert found(made, "What does the Star say of the mill?")[0] == "Star"
        assert found(made, "What does the Courier say of the mill?")[0] == "Courier"


def test_what_stands_beside_the_words_of_a_question_in_a_series_comes_up(tmp_path: Path) -> None:
    question = "Why does the boiler of the mill stand still?"
    with indexed(tmp_path / "series", [Document(f"{c}-{i:02}", t) for c in "ab" for i, t in enumerate(TALK)]) as made:
        assert {"a-01", "b-01"} <= set(found(made, question)[:4])
        assert signs(made, question)["a-01"]["neighbours"] > signs(made, question)["a-03"]["neighbours"] > 0
    with indexed(tmp_path / "numbers", [Document(f"p{i:04}", t) for i, t in enumerate(TALK)]) as made:
        told = signs(made, question)
        assert told["p0000"]["words"] == 1
        assert not any(one["neighbours"] for one in told.values())


def test_only_parts_that_count_on_are_a_series_and_not_the_numbers_of_a_whole_corpus(tmp_path: Path) -> None:
    ids = ("a-1", "a-2", "a-4", "b-1", "b-2", "p0001", "p0002")
    for name, chosen, expected in (("some", ids, [0, 2, 0, 0, 2, 0, 0]), ("one", ids[:3], [0, 0, 0])):
        with indexed(
            tmp_path / name, [Document(i, t, "Of a mill") for i, t in zip(chosen, TALK * 2, strict=False)]
        ) as made:
            assert made.index().part(WORDING).follows.tolist() == expected


def test_neighbours_are_at_most_three_away_and_inside_of_a_filter(tmp_path: Path) -> None:
    texts = [Document(f"{c}-{i:02}", t, "", (("day", c),)) for c in "ab" for i, t in enumerate(TALK)]
    with indexed(tmp_path, texts) as made:
        index = made.index()
        assert with_neighbours(np.array([0, 7]), index.part(WORDING)).tolist() == [0, 1, 2, 3, 6, 7, 8, 9, 10]
        inside = restrict_to_scope(index, Scope(where=(Condition("day", "=", "b"),)))
        cut = inside.part(WORDING)
        assert cut.follows.tolist() == [0, 2, 2, 2, 2, 2]
        assert found(made, "Why does the boiler of the mill stand still?", inside)[:2] == ["b-00", "b-01"]
        whole = index.part(WORDING)
        assert cut.said.tolist() == whole.said[int(whole.at[6]) :].tolist()


def test_two_sentences_side_by_side_count_more_than_words_far_apart(tmp_path: Path) -> None:
    rest = "It rained. The road was wet. Nobody came."
    near = Document("near", f"Ada opened the gate. She used a hammer. {rest}")
    far = Document("far", f"Ada opened the letter. {rest} He sold a hammer and a gate.")
    with indexed(tmp_path, [near, far]) as made:
        told = signs(made, "Did Ada open the gate with a hammer?")
        assert told["near"]["sentences"] == pytest.approx(1)
        assert 0 < told["far"]["sentences"] < 0.9
        assert found(made, "Did Ada open the gate with a hammer?")[0] == "near"


def test_what_the_best_passages_say_is_added_to_the_question(tmp_path: Path) -> None:
    texts = [
        Document("ship", "The ferry is called Petrel. The Petrel sails under Captain Orme."),
        Document("captain", "Captain Orme likes the Petrel and pears."),
        Document("other", "A lamp hangs over the door of the inn."),
        Document("third", "The inn has nine rooms and a cellar."),
    ]
    with indexed(tmp_path, texts) as made:
        told = signs(made, "What is the ferry called?")
        assert told["captain"]["words"] == 0 == told["other"]["feedback"]
        assert told["captain"]["feedback"] > 0.3


def test_where_names_lead_nowhere_words_decide_and_no_note_troubles_the_reader(tmp_path: Path) -> None:
    with indexed(tmp_path / "talk", [Document(f"{i} said", t) for i, t in enumerate(TALK)]) as made:
        ranked = Walk().rank(Question("Who cooks tonight?"), made.index(), made.runtime())
        assert ranked.name == BY_WORDS
        assert Walk().retrieve(Question("Who cooks?"), made.index(), made.runtime()).notes == ()
    towns = ("Quay", "Millar", "Orme", "Finch")
    pages = [
        Document(a, f"{a} lies between {b} and {c}.", a)
        for a, b, c in zip(towns, towns[1:] + towns, towns[2:] + towns, strict=False)
    ]
    with indexed(tmp_path / "pages", pages) as made:
        ranked = Walk().rank(Question("Which towns is Quay between?"), made.index(), made.runtime())
        assert ranked.name == "walk"
        assert len(ranked) > 1
        assert not Walk().retrieve(Question("Where is Quay?"), made.index(), made.runtime()).notes
        assert Walk(linked=99).rank(Question("Where is Quay?"), made.index(), made.runtime()).name == BY_WORDS


def test_whether_names_lead_anywhere_is_asked_of_the_whole_corpus(tmp_path: Path) -> None:
    pair = [
        Document(a, f"{a} lies beside {b}.", a, (("kind", "page"),))
        for a, b in (("Quay", "Millar"), ("Millar", "Quay"))
    ]
    talk = [Document(f"{i} said", t) for i, t in enumerate(TALK * 3)]
    with indexed(tmp_path, [*pair, *talk]) as made:
        inside = restrict_to_scope(made.index(), Scope(where=(Condition("kind", "=", "page"),)))
        assert Walk().rank(Question("What is beside Quay?"), inside, made.runtime()).name == BY_WORDS


def test_an_index_without_the_wording_is_walked_as_before(tmp_path: Path) -> None:
    with indexed(tmp_path, [Document(f"{i} said", t) for i, t in enumerate(TALK)], "names") as made:
        ranked = Walk().rank(Question("Who cooks tonight?"), made.index(), made.runtime())
        assert ranked.name == "walk"
        assert made.index().catalogue.chunks[int(ranked.positions[0])].document == "2 said"


def test_the_best_of_a_walk_change_places_by_what_they_add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    towns = ("Quay", "Millar", "Orme", "Finch")
    pages = [
        Document(a, f"{a} lies between {b} and {c}. It has a mill.", a)
        for a, b, c in zip(towns, towns[1:] + towns, towns[2:] + towns, strict=False)
    ]
    with indexed(tmp_path, pages) as made:
        ranked = Walk().rank(Question("Where is Quay?"), made.index(), made.runtime())
        weights = second_order.Weights(read_weights().plain, 0.0)
        monkeypatch.setattr("sensegraph.methods.walk.walk.read_weights", lambda: weights)
        plain = Walk().rank(Question("Where is Quay?"), made.index(), made.runtime())
    assert sorted(ranked.positions.tolist()) == sorted(plain.positions.tolist())
    assert plain.scores.max() == pytest.approx(1)
    assert 1 < ranked.scores.max() <= 1 + read_weights().linked


def test_documents_in_another_order_are_ranked_alike(tmp_path: Path) -> None:
    texts = [Document(f"a-{i:02}", t) for i, t in enumerate(TALK)] + [Document("b-1", "Ada cooks bread.")]
    rankings = []
    for name, order in (("one", texts), ("other", texts[::-1])):
        with indexed(tmp_path / name, order) as made:
            rankings.append(found(made, "Who cooks bread and cheese?"))
    assert rankings[0] == rankings[1]
    assert len(rankings[0]) > 2


def test_a_question_of_unknown_words_finds_nothing_by_words(tmp_path: Path) -> None:
    with indexed(tmp_path, [Document(f"{i} said", t) for i, t in enumerate(TALK)]) as made:
        assert found(made, "Zyx?") == []
        assert found(made, "cheese")


def test_no_passage_is_read_that_says_what_one_before_it_says(tmp_path: Path) -> None:
    article = " ".join(
        f"The {word} of the mill was sold to the workers of Quay." for word in ("boiler", "roof", "gate", "wheel")
    )
    texts = [
        Document("first", article),
        Document("second", f"{article} It rained."),
        Document("third", "A mill is a house."),
    ]
    texts += [Document("short", "Yes, the mill."), Document("short too", "Yes, the mill.")]
    with indexed(tmp_path, texts) as made:
        evidence = Walk().retrieve(Question("To whom was the boiler of the mill sold?"), made.index(), made.runtime())
        chunks = [passage.id for passage in evidence.passages]
        read = set(made.index().documents_of(chunks).values())
    assert len({"first", "second"}.intersection(read)) == 1
    assert {"third", "short", "short too"} <= read
    assert {"first", "second"} <= set(evidence.documents)
    assert "1 passages that say what one before them says were not read again" in evidence.notes
