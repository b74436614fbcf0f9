"""How a tree grows, group by group: where it ends, what a summary is asked for and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.language.text import count_tokens
from sensegraph.methods.raptor import growing
from sensegraph.methods.raptor.growing import Grower, Node, group_in_order
from sensegraph.methods.raptor.tree import TreeSettings
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Brief, Chunk, Passage, Source, Statement


@pytest.fixture(scope="module")
def rt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder: Path = tmp_path_factory.mktemp("grower")
    with Corpus.open(folder, settings={"engine": "offline"}) as made:
        yield made.runtime()


@pytest.mark.parametrize(
    ("sizes", "children", "most", "groups"),
    [
        ([10] * 5, 2, 1000, [(0, 1), (2, 3), (4,)]),
        ([10] * 5, 0, 1000, [(0, 1, 2, 3, 4)]),
        ([10] * 5, 3, 20, [(0, 1), (2, 3), (4,)]),
        ([10] * 5, 1, 20, [(0,), (1,), (2,), (3,), (4,)]),
        ([10] * 4, 2, 30, [(0, 1), (2,), (3,)]),  # runs that fit first, then groups inside each
        ([], 2, 30, []),
    ],
)
def test_without_vectors_nodes_are_grouped_as_they_follow(
    sizes: list[int], children: int, most: int, groups: list[tuple[int, ...]]
) -> None:
    assert group_in_order(sizes, TreeSettings(children=children, input_tokens=most)) == groups


CHUNKS = [Chunk(f"c{i}", f"d{i % 3}", 0, 30, 8, "Some text.", title=f"Title {'ABA'[i % 3]}") for i in range(6)]


def leaf(i: int, text: str = "one two three", tokens: int = 6) -> Node:
    source = Source(f"c{i}", 0, 4)
    shown = Passage("chunk", f"l{i}", text, sources=(source,))
    return Node(f"l{i}", (Statement(text, (f"l{i}",), (source,)),), tokens, (f"c{i}",), shown)


def grower(
    rt: Runtime, asked: list[Brief], text: str = "Said.", names: tuple[str, ...] = (), **settings: Any
) -> Grower:
    """One whose summaries all say `text` of what it `names`."""

    def write(briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
        asked.extend(briefs)
        return [(Statement(text, names),) if text else () for _ in briefs]

    usual: dict[str, Any] = {"children": 2, "stop": 1, "layers": 9, "summary_tokens": 50}
    return Grower(rt, TreeSettings(**usual | settings), CHUNKS, write, lambda _: None)


def tree(made: Grower, count: int = 5) -> list[tuple[int, int, int, bool]]:
    """Level, depth, members and whether promoted, of each cluster."""
    found = made.grown([leaf(i) for i in range(count)], None).clusters
    assert [c.id for c in found] == [c.id for c in sorted(found, key=lambda c: (c.depth, c.id))]
    of = {c.id: c for c in found}
    for c in found:
        if c.depth:
            assert c.id in of[c.parent].members
            assert of[c.parent].depth == c.depth - 1
        else:
            assert c.parent == ""
    return sorted((c.level, c.depth, len(c.members), bool(c.promoted)) for c in found)


def test_layers_are_added_until_one_is_small_enough(rt: Runtime) -> None:
    asked: list[Brief] = []
    whole = tree(grower(rt, asked))
    assert whole == [
        (0, 2, 1, True), (0, 2, 2, False), (0, 2, 2, False), (1, 1, 1, True), (1, 1, 2, False), (2, 0, 2, False),
    ]  # fmt: skip
    assert len(asked) == 4  # a group of one says what its member says
    assert tree(grower(rt, [], stop=2)) == [(level, depth - 1, *rest) for level, depth, *rest in whole[:5]]
    assert len(tree(grower(rt, [], stop=3))) == 3
    assert len(tree(grower(rt, [], stop=4))) == 3
    assert tree(grower(rt, [], stop=5)) == []
    assert len(tree(grower(rt, [], layers=1))) == 3
    assert len(tree(grower(rt, [], layers=2))) == 5
    assert tree(grower(rt, [], children=1)) == []  # as many groups as nodes: nothing would be smaller


def test_a_cluster_is_called_by_its_documents_and_rests_on_its_chunks(rt: Runtime) -> None:
    (top,) = [
        c for c in grower(rt, [], text="They said so.").grown([leaf(i) for i in range(4)], None).clusters if not c.depth
    ]
    assert top.title == "Title A, Title B"  # three chunks are of A, one of B
    assert top.chunks == ("c0", "c1", "c2", "c3")
    assert top.documents == 4
    assert top.tokens == count_tokens(top.text) > 0
    assert [s.text for s in top.summary] == ["They said so."]


@pytest.mark.parametrize(
    ("text", "tokens", "summary", "words"),
    [
        ("one two three", 6, 50, 22),  # 0.9 · 6 words / 12 tokens · 50
        ("one two three", 3, 50, 45),
        ("one two three", 0, 50, 270),  # no tokens count as one
        ("one", 60, 5, 1),  # one word at least
        ("张三住在北京", 6, 50, 30),  # two characters of a script without blanks are one word, and a run is another
    ],
)
def test_a_summary_is_asked_for_in_words_of_its_own_texts(
    rt: Runtime, text: str, tokens: int, summary: int, words: int
) -> None:
    made = grower(rt, [], summary_tokens=summary)
    brief = made._brief([leaf(0, text, tokens), leaf(1, text, tokens)])
    assert brief.words == words
    assert [p.id for p in brief.context.passages] == ["l0", "l1"]


def test_three_documents_are_named_those_of_most_chunks_first(rt: Runtime) -> None:
    made = grower(rt, [])
    made.chunks = {f"c{i}": Chunk(f"c{i}", "d", 0, 1, 1, "x", title=t) for i, t in enumerate("ABBCCCD")}
    nodes = [leaf(i) for i in range(7)]
    assert made._title(nodes) == "C, B, A"
    assert made._title(nodes[:1]) == "A"
    made.chunks = {"c0": Chunk("c0", "d", 0, 1, 1, "x")}
    assert made._title(nodes[:1]) == ""


@pytest.mark.parametrize(
    ("text", "names", "references", "sources", "lost"),
    [
        ("Said.", ("l1",), ("l1",), ["c1"], {}),
        ("Said.", ("l1", "x", "y"), ("l1",), ["c1"], {"references": 2}),
        ("Said.", (), (), ["c0", "c1"], {"unnamed": 1}),
        ("Said.", ("x",), (), ["c0", "c1"], {"references": 1, "unnamed": 1}),
        ("", (), (), [], {"empty": 1}),
        ("word " * 60, ("l0",), ("l0",), ["c0"], {"cut": 1}),
    ],
)
def test_what_was_written_is_kept_with_what_it_rests_on_and_counted(
    rt: Runtime,
    text: str,
    names: tuple[str, ...],
    references: tuple[str, ...],
    sources: list[str],
    lost: dict[str, int],
) -> None:
    made = grower(rt, [], text, names)
    found = made.grown([leaf(0), leaf(1)], None)
    statements = [s for c in found.clusters for s in c.summary]
    assert [s.references for s in statements] == ([references] if text else [])
    assert [source.chunk for s in statements for source in s.sources] == sources
    assert {what: n for what, n in made.lost.items() if n} == lost
    assert len(found.notes) == len(lost)
    assert count_tokens("".join(s.text for s in statements)) <= 50


@pytest.mark.parametrize(("n", "said"), [(1, "1 reference in summaries named"), (2, "2 references in summaries named")])
def test_one_is_told_of_as_one_and_more_as_many(rt: Runtime, n: int, said: str) -> None:
    made = grower(rt, [])
    made.lost["references"] = n
    assert [note[: len(said)] for note in made._notes()] == [said]


def test_what_is_shortened_ends_with_the_sentence_that_fits() -> None:
    def kept(texts: list[str], most: int) -> list[str]:
        return [s.text for s in growing._shorten_statements([Statement(t) for t in texts], most)]

    one, two = "One two three four. ", "Five six seven. Eight nine ten. "
    whole = count_tokens(one) + count_tokens(two)
    assert kept([one, two], whole) == [one, two]
    room = count_tokens(one) + count_tokens("Five six seven.")
    part = kept([one, two], room)
    assert part[0] == one
    assert part[1].startswith("Five six seven.")
    assert "ten" not in part[1]
    assert kept([one, two, "And. "], room) == part  # nothing comes after what was cut
    assert kept([one, two], count_tokens(one)) == [one]
    assert kept([one], 1)[0] in one  # what has no sentence that fits is cut inside it where nothing was kept before
    assert kept([], 5) == []
