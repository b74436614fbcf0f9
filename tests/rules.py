"""Rules that are given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import offline_examples
import outline_examples
from sensegraph.engines.llm import asker, llm
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.offline.extraction import (
    corpus_reading,
    german_names,
    kinds,
    mentions,
    names,
    observations,
    page_reader,
    sentence_words,
    unspaced_names,
)
from sensegraph.engines.offline.reports import sentence_choice
from sensegraph.errors import InputError, SettingsError
from sensegraph.language.text import split_small_letters
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.types import Chunk, Context, Passage

OUTLINES = ("valley", "few", "book", "parts", "shows", "german", "subjects")


def choose_by_cover(
    given: Sequence[list[Any]], weights: dict[str, float], count: int, used: Sequence[list[Any]] = ()
) -> list[int]:
    """Sentences chosen of some that are written as terms, words, worth and place."""
    made, before = (
        [sentence_choice.Candidate(tuple(terms.split()), *rest) for terms, *rest in rows] for rows in (given, used)
    )
    return sentence_choice.choose_sentences(made, weights, count, before)


def observe(text: str, title: str = "", times: int = 1) -> list[Any]:
    """What one text, written so many times, shows by itself: spans, names, values, phrases, words."""
    text *= times
    seen = page_reader.observe_document([Chunk("c", "d", 0, len(text), 0, text, title)])
    named = [[c.surface, c.sentence, c.start, text[c.inner : c.end] if c.inner >= 0 else "", c.first, c.more, c.left,
              c.before, c.right, c.marks] for c in seen.names]  # fmt: skip
    return [
        seen.work, seen.language, seen.bounds, len(seen.head), len(seen.tail), seen.sentences,
        [sum(map(bool, seen.prints)), len(set(seen.prints))], named,
        [[v.surface, v.start, v.kind] for v in seen.values],
        [[list(p.words), p.spans[0], p.spans[-1]] for p in seen.phrases], seen.shown, seen.spellings,
        dict(sorted(seen.capitals.items())), dict(sorted(seen.lowers.items())),
    ]  # fmt: skip


def hash_alike(*texts: str) -> list[list[int]]:
    """Which of the hashes of some sentences are alike: each as the place where it stands first, −1 for none."""
    found = [sentence_words.hash_sentence(split_small_letters(text)) for text in texts]
    every = [one for three in found for one in three]
    return [[every.index(one) if one else -1 for one in three] for three in found]


def split_long(text: str, times: int) -> list[tuple[int, int]]:
    """The spans of the sentences of a text that is written so many times."""
    return page_reader.split_spans(text * times)


def read_texts(corpus: str) -> dict[str, str]:
    """The texts of a corpus of examples."""
    return dict(outline_examples.corpora()[corpus][0]) if corpus in OUTLINES else offline_examples.CORPORA[corpus]


def _observe_corpus(corpus: str) -> tuple[list[tuple[Chunk, ...]], list[bytes]]:
    texts = read_texts(corpus)
    documents = [outline_examples.cut_chunks(name, text, name.title()) for name, text in texts.items()]
    return documents, corpus_reading.observe_documents(documents)


def learn(corpus: str) -> list[Any]:
    """What a corpus teaches those who read it."""
    _, seen = _observe_corpus(corpus)
    lexicon = observations.read_entries(corpus_reading.survey_documents(seen)[1])
    fields = (
        "refused",
        "refused_runs",
        "fronts",
        "backs",
        "series",
        "hidden",
        "speakers",
        "roles",
        "talks",
        "terms",
        "nouns",
    )
    types = sorted(f"{kind} {name}" for name, kind in lexicon.kinds.items())
    same = {work: found for work, found in lexicon.same.items() if found}
    strong = sorted(lexicon.strengths.values(), reverse=True)
    return [
        *(getattr(lexicon, name) for name in fields), types, same, lexicon.full, sorted(lexicon.units),
        len(lexicon.boilerplate), len(lexicon.strengths), sum(strong), strong[:20],
    ]  # fmt: skip


def read(corpus: str, values: bool, most: int) -> list[Any]:
    """What is read in the chunks of a corpus, of which the first are shown."""
    documents, seen = _observe_corpus(corpus)
    told, _ = corpus_reading.survey_documents(seen)
    found = corpus_reading.read_documents(list(zip(documents, seen, told, strict=True)), values=values)
    every = [one for document in found for one in document]
    shown = [
        [[f"{e.name} ({e.type}) {e.start}-{e.end}: {' '.join(str(m.start) for m in e.mentions)}" for e in one.entities],
         [f"{r.source} — {r.target} {r.strength:.6g} {r.start}-{r.end}" for r in one.relations],
         [f"{c.subject} {c.type} {c.start}-{c.end}" for c in one.claims]]
        for one in every[:most]
    ]  # fmt: skip
    counted = [[len(x.entities), len(x.relations), len(x.claims)] for x in every]
    return [counted, round(sum(r.strength for x in every for r in x.relations), 6), shown]


_TRIED = (
    -101,
    -2,
    -1.5,
    -1,
    -0.5,
    0,
    0.001,
    0.5,
    0.999,
    1,
    1.5,
    2,
    3,
    4,
    5,
    9,
    10,
    11,
    99,
    100,
    101,
    1000,
    float("inf"),
)


def accept(settings: str) -> dict[str, str]:
    """Which of some numbers each setting of a kind takes, the others left as they are."""
    module, _, name = settings.partition(":")
    kind = getattr(import_module(f"sensegraph.{module}"), name)
    found = {}
    for field in dataclasses.fields(kind):
        usual = field.default
        if field.init and isinstance(usual, int | float) and not isinstance(usual, bool):
            tried = [value for value in _TRIED if isinstance(usual, float) or isinstance(value, int)]
            taken = [str(value) for value in tried if _takes(kind, field.name, value)]
            found[field.name] = " ".join(taken)
    return found


def _takes(kind: Any, field: str, value: float) -> bool:
    try:
        kind(**{field: value})
    except (SettingsError, InputError, TypeError):
        return False
    return True


def choose_concepts(units: dict[str, Sequence[int]], chunks: int, tagged: bool = True) -> frozenset[str]:
    """The concepts of a corpus by how often each unit stands there, in how many chunks, and as the last word."""
    every, held, heads = (Counter({unit: n[i] for unit, n in units.items()}) for i in range(3))
    return kinds.select_concepts(kinds.Counts(every, held, heads), chunks, tagged)


def count_phrase_units(phrases: Sequence[tuple[int, Sequence[str]]]) -> list[Any]:
    """The units of phrases, each with its chunk."""
    counts = kinds.Counts()
    kinds.count_units(counts, phrases)
    return [sorted(one.items()) for one in (counts.all, counts.chunks, counts.heads)]


def link_works(works: dict[str, dict[str, int]], types: dict[str, str]) -> Any:
    """The short names of persons by work."""
    return names.link_corpus_names({work: Counter(counts) for work, counts in works.items()}, types)


def cut_german(surface: str, nouns: Sequence[str], inner: int = -1, first: str = "", marks: str = "") -> list[Any]:
    """The parts of a German run of capitals between its common nouns."""
    one = observations.Candidate(0, 0, len(surface), surface, inner, first, bool(first), "der", "mit der", "", marks)
    return [[c.surface, c.start, c.inner, c.first, c.more, c.left, c.before]
            for c in german_names.cut_at_nouns(one, frozenset(nouns))]  # fmt: skip


def find_unspaced(text: str) -> list[str]:
    """The names in a Chinese or Japanese text."""
    return [text[a:b] for a, b in unspaced_names.find_unspaced_names(text, 0, len(text))]


def shorten(share: float, *texts: str) -> list[Any]:
    """About this share of a context of some texts, and how many passages were left out."""
    made = Context(tuple(Passage("chunk", f"c{i}", text) for i, text in enumerate(texts)), omitted=1)
    found = asker.shorten_context(made, share)
    return [[passage.text for passage in found.passages], found.omitted]


def wrap(texts: Sequence[str]) -> Any:
    """The beginnings and ends that texts share."""
    seen = [page_reader.observe_document([Chunk(f"c{i}", f"d{i}", 0, len(t), 0, t)]) for i, t in enumerate(texts)]
    return mentions.find_wrappers(seen)


def fill_prompt_parts(settings: dict[str, Any]) -> Any:
    """What the placeholders of prompts stand for under some settings of a model."""
    return llm.list_placeholders(LLMSettings(**settings))


def plan_prompts(settings: dict[str, Any]) -> list[Any]:
    """The tasks of a model under some settings: how long replies and prompts are, and what else changes results."""
    endpoint = Endpoint(EndpointSettings(base_url="http://127.0.0.1:9/v1", model="m"))
    plans = llm.LLMEngine(endpoint, LLMSettings(**settings))._plans
    return [
        [task, plan.name, plan.max_tokens, plan.overhead, [str(m)[:200] for m in plan.matters], len(plan.turns)]
        for task, plan in plans.items()
    ]
