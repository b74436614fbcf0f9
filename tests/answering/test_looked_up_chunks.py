"""Chunks that are looked up by a name or a kind: how many are read and given, and how much each tells of a name."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.answering.asking import count_words
from sensegraph.answering.looked_up_chunks import (
    _read_head,
    _span_document,
    find_files_called,
    find_identified_chunks,
    find_listed_chunks,
    find_named_chunks,
    list_search_stems,
    place_rare_chunks,
    positions_with,
    read_heads,
)
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.index.manifest import ChunkEntry
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.language.defining import BARE, rate_fitness, rate_statement
from sensegraph.questions import NameCounts, Question, Scope
from sensegraph.types import Document

FAR = "It rained on the old quay and nobody came by boat or by train for a very long time. " * 3
TEXTS = {
    "near": "Bo Isk is a diver from Orl. It rained.",
    "far": f"{FAR}Cy Dahl is a diver from Orl. It rained.",
    "four": "Di Moss came. Di Moss left. Di Moss slept. Di Moss is a diver from Orl.",
    "third": "Ed Falk came. Ed Falk left. Ed Falk is a diver from Orl. Ed Falk slept.",
    "labels": "FAY KERR: It is late.\n\nFAY KERR: It is cold.\n\nGUS LANG: So it is.\n\nGUS LANG: Yes, Fay Kerr.",
    "twice": "Hal Munro and Hal Munro's dog came to the quay at noon.",
    "Ida Brook": f"{FAR}Ida Brook slept in the boat.",
    "Jon Reh": "It rained. Jon Reh is a diver from Orl.",
    "small": "The kelp grew. Kelp grew on the quay.",
    "rowe": "Ada Rowe is a pilot from Orl. Later Rowe slept.",
    "rowe2": "Bea Rowe is a smith from Orl.",
}
PAID = 101  # documents that name one, of which 100 name another


@pytest.fixture(scope="module")
def quay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    documents = [Document(f"d-{name}", text, name) for name, text in TEXTS.items()]
    for i in range(PAID):
        told = f"Ola Finn paid a toll on the old quay. {'Una Falk paid too. ' if i else ''}The ferry left. "
        told += f"The boat LX-{i} sank. " if i < 63 else ""
        told += f"There were {i} lamps. " if i % 2 else ""
        documents.append(Document(f"p-{i:03}", told, f"Paper {i:03}"))
    documents.append(Document("z-last", "It rained. Ola Finn was born in Orl and worked as a ferryman.", "Last"))
    documents += [Document(f"f-{i}", f"At the toll Finn laughed {i} times.", f"Toll {i}") for i in range(61)]
    documents += [Document("v", "Vera Quist is a pilot from Orl.", "Vera")]
    documents += [Document(f"q-{i}", f"At the lock Quist wept {i} times.", f"Lock {i}") for i in range(60)]
    documents += [Document(f"m-{i}", f"The mast MX-{i} broke.", f"Mast {i}") for i in range(3)]
    documents += [Document(f"n-{i}", f"Nobody mended MX-{i} in {1990 + i}.", f"Mending {i}") for i in range(3, 5)]
    documents += [Document("k-1", "The keel\n\nKX-1 was old.", "Keel"), Document("k-2", "The keel KX-2 is new.", "K")]
    settings = {"engine": "offline", "index": {"parts": ["names"]}}
    with Corpus.open(tmp_path_factory.mktemp("quay"), settings=settings) as c:
        c.add(documents)
        c.build()
        yield c.index()


def score(index: Index, name: str) -> float:
    """How much the one chunk tells that a name is looked up in."""
    (passage,), counts = find_named_chunks(f"Who is {name}?", index)
    assert counts is not None
    return passage.score


def told(sentence: str) -> float:
    weight, _ = rate_statement(sentence)
    return weight * rate_fitness(sentence)


@pytest.fixture(scope="module")
def sign() -> str:
    from sensegraph.language.defining import SIGN

    return SIGN


def test_a_sentence_at_the_beginning_tells_a_tenth_more(quay: Index, sign: str) -> None:
    is_diver = told(f"{sign} is a diver from Orl.")
    assert is_diver > BARE
    assert score(quay, "Bo Isk") == pytest.approx(1.1 * is_diver + 0.01)
    assert score(quay, "Cy Dahl") == pytest.approx(is_diver + 0.01)


def test_three_sentences_of_a_chunk_are_looked_at(quay: Index, sign: str) -> None:
    came = max(told(f"{sign} {did}.") for did in ("came", "left", "slept"))
    assert score(quay, "Di Moss") == pytest.approx(1.1 * came + 0.03)
    assert score(quay, "Ed Falk") == pytest.approx(1.1 * told(f"{sign} is a diver from Orl.") + 0.03)


def test_a_name_twice_in_a_sentence_is_one_sentence(quay: Index, sign: str) -> None:
    assert score(quay, "Hal Munro") < 1.1 * told(f"{sign} came to the quay at noon.") + 0.02


def test_a_title_that_is_the_name_tells_two_more_and_three_where_the_text_says_what_it_is(
    quay: Index, sign: str
) -> None:
    assert score(quay, "Ida Brook") == pytest.approx(2 + told(f"{sign} slept in the boat.") + 0.01)
    assert score(quay, "Jon Reh") == pytest.approx(3 + 1.1 * told(f"{sign} is a diver from Orl.") + 0.01)


def test_who_speaks_again_is_no_other_sentence(quay: Index) -> None:
    fay, gus = score(quay, "Fay Kerr"), score(quay, "Gus Lang")
    assert fay > gus
    assert gus < 1


def test_a_hundred_chunks_are_read_and_twelve_given(quay: Index) -> None:
    passages, counts = find_named_chunks("Who is Una Falk?", quay)
    assert counts == NameCounts(100, 100, True, ("Una",))
    assert len(passages) == 12
    passages, counts = find_named_chunks("Who is Ola Finn?", quay)
    assert counts is not None
    assert (counts.chunks, counts.exact) == (100, False)
    assert "Last" in [p.title for p in passages]  # it presents him, and is read though it is the last


def test_a_part_of_a_name_stands_alone_where_nobody_else_bears_it(quay: Index) -> None:
    _, counts = find_named_chunks("Who is Ada Rowe?", quay)
    assert counts == NameCounts(1, 1, True, ("Ada",))
    _, counts = find_named_chunks("Who is Vera Quist?", quay)
    assert counts == NameCounts(1, 1, True, ("Vera", "Quist"))  # the part stands in sixty others
    _, counts = find_named_chunks("Who is Ola Finn?", quay)
    assert counts is not None
    assert counts.alone == ("Ola",)  # in sixty-one


def test_a_filter_keeps_its_chunks_out(quay: Index) -> None:
    inside = restrict_to_scope(quay, Scope(documents=("p-00*",)))
    passages, counts = find_named_chunks("Who is Una Falk?", inside)
    assert len(passages) == 9
    assert counts is not None
    assert (counts.chunks, counts.documents, counts.exact) == (9, 9, True)
    assert find_named_chunks("Who is Bo Isk?", inside) == ([], None)
    assert find_named_chunks("Where is Bo Isk?", quay) == ([], None)


def test_positions_hold_all_words_and_function_words_hold_nothing(quay: Index) -> None:
    both = positions_with(["Una", "Falk"], "Una Falk", quay)
    assert len(both) == 100
    assert len(positions_with(["Falk"], "Falk", quay)) == 101
    assert len(positions_with(["the", "Falk"], "the Falk", quay)) == 101
    assert len(positions_with(["the"], "the", quay)) == 0
    assert len(positions_with(["Una", "Zed"], "Una Zed", quay)) == 0
    assert list_search_stems(["the", "boats"], "the boats of Orl") == list_search_stems(["boats"], "the boats of Orl")


# ── of a kind ──


def test_sixty_chunks_of_a_kind_are_read_and_twenty_four_given(quay: Index) -> None:
    found, whole = find_listed_chunks("Which boats sank?", quay)
    assert len(found) == 24
    assert not whole
    inside = restrict_to_scope(quay, Scope(documents=("p-00*", "p-01*")))
    found, whole = find_listed_chunks("Which boats sank?", inside)
    assert len([p for p in found if "LX-" in p.text]) == 20
    few, whole = find_listed_chunks("Which masts broke?", quay)
    assert whole
    assert sorted(p.title for p in few) == ["Mast 0", "Mast 1", "Mast 2", "Mending 3", "Mending 4"]


def test_a_number_with_the_noun_is_looked_up_and_no_sentence_goes_on_over_a_blank_line(quay: Index) -> None:
    found, whole = find_listed_chunks("How many lamps were there?", quay)
    assert len(found) == 24
    assert not whole
    assert all("lamps" in p.text for p in found)
    found, whole = find_listed_chunks("Which keels are there?", quay)
    assert whole
    assert [p.title for p in found if "KX-2" in p.text] == ["K"]
    assert find_listed_chunks("Which zebras are there?", quay) == ([], True)
    assert find_listed_chunks("Who is Bo Isk?", quay) == ([], True)


def test_the_chunk_with_a_rare_word_that_the_first_ones_lack_stands_last_among_them(quay: Index) -> None:
    first = find_named_chunks("Who is Ola Finn?", quay)[0][:8]
    placed = place_rare_chunks("Did Kelp grow where Ola Finn lived?", first, quay)
    assert [p.id for p in placed[:4]] == [p.id for p in first[:4]]
    assert "kelp" in placed[4].text.lower()
    assert placed[4].score == first[3].score
    assert [p.id for p in placed[5:]] == [p.id for p in first[4:]]
    assert place_rare_chunks("Did Kelp grow where Ola Finn lived?", placed, quay) == placed  # it stands there now
    assert place_rare_chunks("Did kelp grow where Ola Finn lived?", first, quay) == first  # a common word
    assert place_rare_chunks("Who paid a toll?", first, quay) == first


def test_the_head_of_a_document_is_its_id_and_its_first_lines_where_these_are_no_prose(tmp_path) -> None:
    texts = {
        "a": f"The Quay License\nVersion 2\n\n{FAR}",
        "b": FAR,
    }
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": []}}) as corpus:
        corpus.add([Document(name, text) for name, text in texts.items()])
        corpus.build()
        found = corpus.search("quay", method="bm25").passages
        assert [head for _, head in read_heads(found, corpus.index())] == ["a The Quay License Version 2", "b"]


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("# One Heading\n\nTwo\nHeadings\n\nThree Headings\n\nIt rained.", "x T One Heading Two Headings"),
        (
            "A heading with no more than eight words\n\nIt rained.",
            "x T A heading with no more than eight words It rained.",
        ),
        ("A heading that has a little more than eight words\n\nIt rained.", "x T"),
        (f"One Heading\n\n{FAR}\n\nAnother", "x T One Heading"),
        ("", "x T"),
    ],
)
def test_two_blocks_of_eight_words_at_most_head_a_document_with_its_id_and_title(text: str, head: str) -> None:
    assert _read_head(Document("x", text, "T")) == head


def test_words_of_ids_and_titles_stand_in_the_sources(tmp_path) -> None:
    said = "The Tide Foundation may publish revised versions of this licence from time to time."
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": []}}) as corpus:
        corpus.add([
            Document("QPL-3", said, title="Quay Licence"),
            Document("b", "The tide turns at noon by the quay.", title="On Bluefins"),
        ])  # fmt: skip
        corpus.build()
        counted = count_words(Question("Who may publish revised versions of the QPL, bluefin or Kelp?"), corpus.index())
        assert counted.named == ("qpl",)  # search reads titles itself
        answer = corpus.query("Who may publish revised versions of the QPL?")
        assert said in answer.text
        assert not answer.abstained
        assert "nowhere" not in corpus.query("When did the tide turn at noon on a Bluefin?").text
        assert "“Kelp” stands nowhere" in corpus.query("When did Kelp grow by the quay?").text


def test_chunks_with_an_identifier_or_of_the_file_that_is_named_are_read(tmp_path) -> None:
    far = "The tide of the quay brings news of the reel and the loom. " * 40
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": []}}) as corpus:
        corpus.add([
            Document("reel-news.txt", f"{far}\n\nThe reel takes brass since the spring."),
            Document("loom-news.txt", f"{far}\n\nThe loom and the reel take brass. [LM-2021-7]"),
            *(Document(f"{n}.txt", f"Brass of the reel number {n} was counted. LM-2021-7{n}") for n in range(30)),
        ])  # fmt: skip
        corpus.build()
        index = corpus.index()
        assert find_files_called("Which reel and which loom take brass?", index) == {
            "reel": {"reel-news.txt"}, "loom": {"loom-news.txt"},
        }  # fmt: skip
        question = "Since when does the reel take brass?"
        placed = place_rare_chunks(question, corpus.search(question, method="bm25", top=10).passages, index)
        assert any("since the spring" in p.text for p in placed[:5])
        (found,) = find_identified_chunks("What is LM-2021-7?", (), index)
        assert "[LM-2021-7]" in found.text
        assert find_identified_chunks("Who counted LM-2021-7?", [found], index) == []  # it is read already
        assert "“LM-2021-8” stands nowhere" in corpus.query("What is LM-2021-8?").text


def test_who_bears_the_name_as_a_part_of_his_own_is_looked_up_too_where_it_is_a_persons(tmp_path) -> None:
    texts = {
        "a": "Sam Orr slept on the quay.",
        "b": "Samuel Orr is a pilot from Orl.",
        "c": "Orr is a village. The village is old.",
        "d": "It rained.",
    }
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["names"]}}) as c:
        c.add([Document(name, text) for name, text in texts.items()])
        c.build()
        passages, counts = find_named_chunks("Who is Sam Orr?", c.index())
        assert [p.text for p in passages] == [texts["b"], texts["a"]]
        assert counts is not None
        assert counts.chunks == 1


def test_of_a_sentence_without_an_end_two_hundred_and_forty_characters_behind_the_name_are_read(tmp_path, sign) -> None:
    behind = f" is a diver from Orl {'and so on ' * 40}"
    texts = {"kim": f"Kim Roe{behind}", "kelp": "The kelp grew on the quay.", "lamp": "The lamp of the quay broke."}
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["names"]}}) as c:
        c.add([Document(name, text) for name, text in texts.items()])
        c.build()
        index = c.index()
        assert score(index, "Kim Roe") == pytest.approx(1.1 * told(f"{sign}{behind[:240]}".strip()) + 0.01)
        passages = c.search("Who broke the lamp?", method="bm25", top=1).passages
        assert [p.text for p in passages] == [texts["lamp"]]
        assert place_rare_chunks("Did the Kelp break the lamp?", passages, index) == list(
            passages
        )  # so few are all read


def test_the_chunks_of_a_document_stand_beside_each_other_up_to_a_hundred() -> None:
    sizes = {"a": 3, "b": 2, "c": 150, "d": 1}
    entries = [ChunkEntry(f"{name}-{i}", name, "k", i, 9) for name, size in sizes.items() for i in range(size)]
    root: Any = SimpleNamespace(catalogue=SimpleNamespace(chunks=entries), words=entries)
    found = {place: _span_document(place, entries[place], root) for place in (0, 1, 2, 3, 4, 5, 60, 155)}
    assert found == {
        0: (0, 3), 1: (0, 3), 2: (0, 3), 3: (3, 5), 4: (3, 5), 5: (5, 105), 60: (5, 105), 155: (155, 156),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("question", "stems"),
    [("What does OpenFile do?", {"open", "file"}), ("WHO MENDS THE BOATS?", {"mend", "boat"})],
)
def test_words_that_are_written_as_one_are_counted_apart_but_for_capitals_alone(
    quay: Index, question: str, stems: set[str]
) -> None:
    counted = {stem for stem, _ in count_words(Question(question), quay).words}
    assert counted >= stems
    assert all(len(stem) > 1 for stem in counted)
