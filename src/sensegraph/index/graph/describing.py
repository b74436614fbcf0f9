"""What is said of the elements of a graph: descriptions joined, or summarised where they are too long (N13, G10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.left_out import quote_as_text
from sensegraph.language.text import count_tokens, pack_batches
from sensegraph.protocols import LanguageEngine
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Context, Description, Entity, Graph, Passage, Relation

_count_sentence = lru_cache(maxsize=1 << 14)(count_tokens)  # one sentence describes several elements


@step("graph.summarise", version=1, uses="engine", task="summarise")
def summarise_descriptions(contexts: Sequence[Context], *, engine: LanguageEngine) -> list[str]:
    """One description from several."""
    return engine.summarise(contexts)


def distinct_descriptions(descriptions: Sequence[Description]) -> list[Description]:
    """Descriptions without repeats of the same text, in order."""
    first: dict[str, Description] = {}
    for d in descriptions:
        first.setdefault(d.text, d)
    return list(first.values())


def summarise_crowded(
    crowded: Mapping[str, Context], rt: Runtime, settings: GraphSettings, rests: dict[str, list[str]] | None = None
) -> dict[str, str]:
    """Summaries, by id, of the elements that several descriptions say too much about, which are given by id.

    Too much for one prompt is summarised in parts, then the parts' summaries: a tree, not a chain, so that the parts
    run at once and a new description pays only for its part. In `rests` are put the keys of what each summary rests on.
    """
    todo = dict(crowded)
    done: dict[str, str] = {}
    while todo:
        parts = [
            (name, part) for name, context in todo.items() for part in split_context(context, settings.summary_input)
        ]
        texts = rt.each(summarise_descriptions, [part for _, part in parts], without=quote_as_text)
        gathered: dict[str, list[Passage]] = defaultdict(list)
        for (name, part), text in zip(parts, texts, strict=True):
            sources = tuple(s for p in part.passages for s in p.sources)
            gathered[name].append(Passage("description", "", text, sources=sources))
        if rests is not None:
            for (name, _), made in zip(parts, texts.keys, strict=True):
                rests.setdefault(name, []).append(made)
        done |= {name: ps[0].text for name, ps in gathered.items() if len(ps) == 1}
        todo = {name: Context(tuple(ps), todo[name].title) for name, ps in gathered.items() if len(ps) > 1}
    return done


def crowded_elements(merged: Graph, settings: GraphSettings) -> Iterator[tuple[str, Context]]:
    """The ids of the elements whose distinct descriptions together exceed the limit, with what they say."""
    names = {e.id: e.name for e in merged.entities}
    titled: list[tuple[Entity | Relation, str]] = [(e, e.name) for e in merged.entities]
    titled += [(r, f"{names[r.source]} — {names[r.target]}") for r in merged.relations]
    for element, title in titled:
        if is_crowded(distinct_descriptions(element.descriptions), settings.describe_above):
            yield element.id, context_of(element, title)


def context_of(element: Entity | Relation, title: str) -> Context:
    """What is said of an element, to be summarised."""
    said = distinct_descriptions(element.descriptions)
    return Context(tuple(Passage("description", "", d.text, sources=(d.source,)) for d in said), title)


def is_crowded(said: Sequence[Description], limit: int) -> bool:
    """Whether these distinct descriptions together have more than `limit` tokens."""
    text = "\n".join([d.text for d in said]) if len(said) > 1 else ""
    if len(text.encode()) <= limit:  # no token is shorter than a byte
        return False
    return len(text.split()) > limit or count_tokens(text) > limit  # and none holds two words


def split_context(context: Context, budget: int) -> list[Context]:
    """The texts of a context in parts of at most `budget` tokens; two texts at least in each where there are two."""
    if sum(len(p.text.encode()) for p in context.passages) <= budget:
        return [context]  # no token is shorter than a byte
    batches = pack_batches(context.passages, budget, lambda p: _count_sentence(p.text))
    if len(batches) == len(context.passages) > 1:  # every text fills a prompt: pair them, so that the tree narrows
        batches = [list(context.passages[i : i + 2]) for i in range(0, len(context.passages), 2)]
    return [Context(tuple(batch), context.title) for batch in batches]


def describe_elements(merged: Graph, summaries: dict[str, str]) -> Graph:
    """The graph with each element's summary as its description, or its descriptions joined where there is none."""
    return Graph(
        tuple(
            replace(e, description=summaries.get(e.id) or _join_descriptions(e.descriptions)) for e in merged.entities
        ),
        tuple(
            replace(r, description=summaries.get(r.id) or _join_descriptions(r.descriptions)) for r in merged.relations
        ),
        merged.claims,
    )


def _join_descriptions(descriptions: Sequence[Description]) -> str:
    return " ".join(d.text for d in distinct_descriptions(descriptions))
