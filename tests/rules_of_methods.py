"""Rules of methods, given values that stand in a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from little_graphs import Given
from sensegraph.index.manifest import DocumentEntry
from sensegraph.methods import auto
from sensegraph.methods.graphrag import global_search
from sensegraph.methods.kag import calculation, logical_forms, question_steps
from sensegraph.methods.raptor import growing, raptor, tree
from sensegraph.methods.walk import name_runs, name_words, second_order, shown_names, wording
from sensegraph.types import Chunk, Cluster, Entity, Graph

VALUES: dict[str, calculation.Value] = {
    "a": calculation.Number(3, "km"), "b": calculation.Number(4.5, "km"), "n": calculation.Number(2),
    "zero": calculation.Number(0), "d": calculation.Moment(2020, 1, 30), "e": calculation.Moment(2020, 3, 1),
    "y": calculation.Moment(2020), "s": ("Oslo", "Rome", "Oslo"), "t": ("rome", "Bern"), "one": ("Oslo",),
    "none": calculation.Unknown("no date is known"), "word": "green", "born": "born on 4 May 1950",
    "many": ("3 km", "about 1,200 people"),
}  # fmt: skip


def calculate(*expressions: str) -> list[str]:
    """What expressions come to, and what words for them do."""
    return [calculation.write_value(calculation.calculate_expression(one, VALUES)) for one in expressions]


def calculate_words(words: str, *names: str) -> str:
    """What words make of some values."""
    return calculation.write_value(calculation.calculate_words(words, [VALUES[name] for name in names]))


def read_scalars(*texts: str) -> list[Any]:
    """The date, the number, and what either is as a value, of texts."""
    return [
        [calculation.read_date(t), calculation.read_number(t), calculation.order_of_value(calculation.read_scalar(t))]
        for t in texts
    ]  # fmt: skip


def plan(*lines: str) -> Any:
    """The plan that some lines are: its steps, what is wrong with them, and what was mended."""
    parsed = logical_forms.parse_plan(list(lines))
    steps = parsed.plan.steps if parsed.plan else ()
    used = [[logical_forms.aliases_used(s), logical_forms.aliases_bound(s), logical_forms.target_of(s)] for s in steps]
    return [[repr(step) for step in steps], parsed.errors, parsed.repairs, used]


def sketch(question: str) -> Any:
    """The steps that a question is worked on in, what each asks for, and the words that stand near an answer."""
    made = question_steps.sketch_plan(question)
    return [
        made.rule,
        [[line, question_steps.kind_wanted(line), question_steps.list_cues(line)] for line in made.lines],
    ]


def read_clause(text: str) -> list[str]:
    """The beginning of a text that is one clause: of a question as it is, of one turned round, and behind a verb."""
    kinds = ((False, False), (True, False), (False, True), (True, True))
    return [question_steps._read_clause(text, inverted=turned, verbless=behind) for turned, behind in kinds]


def _cut(texts: Sequence[str], titles: Sequence[str], size: int) -> list[tuple[Chunk, ...]]:
    """Documents in chunks of so many characters."""
    return [
        tuple(Chunk(f"d{i}-{a}", f"d{i}", a, min(a + size, len(t)), 9, t[a : a + size], titles[i] if titles else "")
              for a in range(0, max(len(t), 1), size))
        for i, t in enumerate(texts)
    ]  # fmt: skip


def name_texts(texts: Sequence[str], titles: Sequence[str] = (), size: int = 400) -> Any:
    """The words and the names of texts: what each writes, which names it bears, and how often it mentions which."""
    noted = name_words.spell_documents.fn(_cut(texts, titles, size))
    known = shown_names.make_gazetteer(noted)
    mentions = [[sorted(found.items()) for found in name_runs.count_mentions(one, known)] for one in noted]
    return [noted, mentions]


def word_texts(question: str, texts: Sequence[str], titles: Sequence[str] = (), size: int = 90) -> Any:
    """The signs by which the chunks of some texts fit a question, which are neighbours, and which are copies."""
    documents = _cut(texts, titles, size)
    entries = [
        DocumentEntry(chunks[0].document, "", chunks[0].title, f"2020-0{i % 9 + 1}-03", (("kind", "note"),))
        for i, chunks in enumerate(documents)
    ]
    found = wording.make_wording.fn([wording.word_runs.fn([(wording.word_documents.fn(documents), entries)])])[0]
    count = len(found.lengths)
    owner = np.repeat(np.arange(len(documents), dtype=np.int32), list(map(len, documents)))
    here = np.arange(count)
    signs = second_order.measure_signs(question, here, found, owner)
    near = [second_order.with_neighbours(np.array([place]), found) for place in range(count)]
    fed = second_order.feed_back(question, (here[:2], np.array([1.0, 0.5])), here, found)
    part = found.within(here[count // 2 :])
    return [
        np.round(signs, 4), near, second_order.find_copies(here, found), np.round(fed, 4), found.follows, found.lengths,
        part.lengths, part.follows, np.round(part.find(question.casefold().split())[1], 4),
    ]  # fmt: skip


def cut_leaves(text: str, times: int, size: int, chunk: int) -> Any:
    """The leaves of a text in chunks: where each begins and ends, and its tokens."""
    (chunks,) = _cut([text * times], [], chunk)
    (found,) = tree.make_leaves.fn([chunks], size=size)
    texts = tree.leaf_texts(found, chunks)
    return [
        [leaf.chunk, leaf.start, leaf.end, leaf.tokens, said[:9]]
        for leaf, said in zip(found.leaves, texts, strict=True)
    ]


def cut_pieces(text: str, times: int, size: int) -> Any:
    """The pieces of a long sentence."""
    return list(tree.cut_pieces(text * times, size))


def group_nodes(count: int, groups: int, settings: dict[str, Any]) -> Any:
    """Which nodes one summary tells of, by their vectors and in order."""
    i, j = np.arange(count)[:, None], np.arange(6)
    rows = (np.sin(i * (j + 1.7)) * 0.3 + np.cos((i % groups) * (j + 1) * 2.1) * 2).astype(np.float32)
    sizes = [20 + 7 * (n % 5) for n in range(count)]
    made = tree.TreeSettings(**settings)
    return [growing.group_nodes(rows, sizes, made), growing.group_in_order(sizes, made)]


class _Named(Given):
    """An index of nothing but entities, in which rarer words are those with more letters."""

    words: Any = SimpleNamespace(idf=lambda stem: len(stem) / 4)


def values(
    question: str, types: dict[str, str], said: Sequence[Sequence[Any]], told: bool = False, most: int = 5
) -> Any:
    """What passages (title, text, weight) offer as answers to a question, where entities have these types."""
    entities = tuple(Entity(name, name, kind, "", (), ("c",), 1, 1) for name, kind in types.items())
    passages = question_steps.split_passages([(title, text, weight) for title, text, weight in said])
    found = question_steps.find_values(question, passages, _Named(Graph(entities)), told=told, most=most)
    return [[one.value, one.score] for one in found]


def judge_kind(question: str, *names: Sequence[Any]) -> list[Any]:
    """What kind a question is of that holds names, each with its types and its entities, and what it asks for."""
    found: list[Any] = [
        SimpleNamespace(
            surface=surface, types=types, entities=[SimpleNamespace(name=one) for one in called],
            start=question.find(surface), end=question.find(surface) + len(surface),
        )
        for surface, types, called in names
    ]  # fmt: skip
    kind, why = auto.kind_of(question, found)
    return [kind, why, *(auto.find_aspect(question, kind, found, model=model) for model in (False, True))]


def fit_nodes(tokens: Sequence[int], below: Sequence[Sequence[int]], ranked: Sequence[int], budget: int) -> list[Any]:
    """Which nodes fit in a budget, of which those behind the leaves each stand for some leaves; so without overlap."""
    leaves = len(tokens) - len(below)
    nodes: Any = SimpleNamespace(tokens=tokens, leaves=leaves, below=lambda i: frozenset(below[i - leaves]))
    return [raptor.fit_nodes(ranked, nodes, budget, no_overlap=alone) for alone in (False, True)]


def fit_reports(levels: Sequence[Sequence[Sequence[Any]]], rank: dict[str, int], bound: int) -> list[str]:
    """Which reports of some levels, each as id, parent, members, entities and tokens, are read within a bound."""
    made = [
        [
            Cluster(name, 0, depth, parent, tuple(members), tuple(entities), tokens=tokens)
            for name, parent, members, entities, tokens in level
        ]
        for depth, level in enumerate(levels)
    ]
    return [one.id for one in global_search.fit_reports(made, rank, bound)]
