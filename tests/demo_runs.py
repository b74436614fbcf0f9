"""What each method finds in the bundled documents, pinned: a corpus large enough that its bounds leave something out.

In tests/whole_runs.py corpora have 15 chunks at most. Here are 128 chunks and 29 communities. Of what is found a row
says how many passages it is, which (a digest), what their scores come to, and what is told with them. Where it was
meant to change, `python tests/demo_runs.py` writes all rows again.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_type_hints

import numpy as np

import harbour
from laws.asking import INDEX, PARTS
from pinned_rows import PinnedRows
from scripted import ScriptedServer
from sensegraph.built_in_parts import BUILT_IN
from sensegraph.corpus.corpus import Corpus
from sensegraph.documents import load
from sensegraph.errors import SettingsError
from sensegraph.index.parts import find_part
from sensegraph.index.restricted.moment import restrict_to_time
from sensegraph.methods import METHODS, load_method, method_class
from sensegraph.methods.graphrag.told_reports import answer_from_told_reports
from sensegraph.questions import Scope
from sensegraph.types import Context, Question
from whole_runs import PINNED, TRIED, list_other_values, list_settings, open_run, show_value
from wired import corpus as scripted_corpus

DEMO = Path(str(files("sensegraph"))) / "data" / "demo"
QUESTIONS = (
    "Who leads hardware at Brackwater Labs?",
    "Which people are called Alex Chen, and what do they do?",
    "What is Project Lantern?",
    "Who was CTO in May 2023?",
    "Who succeeded Mara Voss as CEO, and what was he before?",
    "How many buoys were in the water in February 2024, and does the brochure agree?",
    "What did Quillon change in the QP-7 sensor in batch Q-2302, and who announced it?",
    "How did the departure of Idris Kalloway contribute to the outage of January 2024?",
    "Which former CTO of Brackwater works for the company that wanted to buy it?",
    "Which incidents were reported?",
    "What are the main themes of these two years?",
    "What was the revenue in 2021?",
)
DEEP = (QUESTIONS[8], QUESTIONS[10])  # asked with each setting of each method changed by itself
NARROW = (60, 200, 900)  # tokens
TOLD = (
    "What happened to the pier and the oak?",
    "Which places and which people does the harbour have?",
    "Who are the people?",
    "Which locations are there?",
    "Which organizations and events?",
    "What did the council decide on the pier, the storm, the lighthouse and the wood?",
    "Which persons sold oak to the shipyard?",
    "What is a submarine?",
    "Story of the ribbon",
)
SCOPES = (Scope(since="2023-06", until="2024-03"), Scope(as_of="2024"), Scope(documents=("2023-*",)))
ARRANGED = tuple(name for name in BUILT_IN if name in PARTS and name not in ("relations", "layers"))


@cache
def open_demo() -> Corpus:
    """The corpus of the bundled documents, made once and open until the end of the process."""
    folder = TemporaryDirectory(prefix="demo-runs-")
    settings = {"engine": "offline", "processes": 1, "index": INDEX | {"chunk_tokens": 100}}
    corpus = Corpus.open(Path(folder.name), settings=settings)
    atexit.register(folder.cleanup)
    atexit.register(corpus.close)
    for document in load(sorted(DEMO.iterdir())).documents:
        corpus.add(document)
    corpus.build()
    return corpus


def tell_context(found: Context) -> list[Any]:
    """How many passages of which kinds are found, which and with what text, what their scores come to, and the rest."""
    kinds = sorted({passage.kind for passage in found.passages})
    told = "\n".join(f"{p.kind} {p.id} {p.title} {p.text} {p.sources} {p.quotes}" for p in found.passages)
    scores = sum(passage.score / (1 + i) for i, passage in enumerate(found.passages))
    counted = [[kind, sum(p.kind == kind for p in found.passages)] for kind in kinds]
    return [counted, show_value(told.encode()), found.tokens, found.omitted, float(scores), show_value(found.notes)]


def list_leaves(value: Any) -> Iterator[str | float | None]:
    """The texts and the numbers of which a value consists."""
    if isinstance(value, list):
        for one in value:
            yield from list_leaves(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from list_leaves(one)
    else:
        yield value


def condense(value: Any) -> list[Any]:
    """How many texts and numbers a value has, a digest of the texts, and what the numbers and their squares come to.

    Of whole numbers in an array a digest, as they are the same on every machine.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "iub":
        return [list(value.shape), show_value(repr(value.tolist()).encode())]
    leaves = list(list_leaves(show_value(value)))
    texts = [leaf for leaf in leaves if isinstance(leaf, str)]
    numbers = [float(leaf) for leaf in leaves if isinstance(leaf, int | float)]
    placed = sum(number * number * place for place, number in enumerate(numbers, 1)) / (len(numbers) or 1)
    return [
        len(texts),
        show_value("\n".join(texts).encode()),
        len(numbers),
        show_value(sum(numbers)),
        show_value(placed),
    ]


def list_narrow(name: str) -> list[Any]:
    """What a method finds where its context is narrow; of `graphrag` also where few tokens of reports are read."""
    rows: list[Any] = []
    corpus = open_demo()
    fields = [f.name for f in dataclasses.fields(method_class(name)) if f.name.endswith("tokens")]
    given: list[dict[str, Any]] = [{field: tokens} for field in fields for tokens in NARROW]
    if name == "graphrag":
        options = list_other_values(get_type_hints(method_class(name))["select"], "")
        given += [{"select": way, "report_tokens": most} for way in options for most in (0, *NARROW, 4000)]
    for settings in given:
        method = load_method(name, **settings)
        for question in (QUESTIONS[6], DEEP[0]):
            found = method.retrieve(Question(question), corpus.index(), corpus.runtime())
            rows.append([settings, *tell_context(found)])
    return rows


def list_calls(name: str) -> list[Any]:
    """How many calls a method foresees with each of its settings, for few chunks and for many."""
    kind, given = method_class(name), list[dict[str, Any]]([{}])
    hints = get_type_hints(kind)
    for field in (f for f in dataclasses.fields(kind) if f.init and f.name != "name"):
        given += [{field.name: value} for value in list_other_values(hints[field.name], field.default)]
    rows: list[Any] = []
    for settings in given:
        with contextlib.suppress(SettingsError):
            method = kind(**settings)
            rows.append([settings, [dict(method.usual_calls(chunks)) for chunks in (0, 3, 500)]])
    return rows


def list_told(depth: int) -> list[Any]:
    """What an engine that quotes tells of reports that a model wrote."""
    corpus = open_run("harbour-scripted").corpus
    index, rt = corpus.index(), replace(corpus.runtime(), engine=open_demo().runtime().engine)
    answers = [answer_from_told_reports(Question(q), index.clusters_at(depth), index, rt) for q in TOLD]
    return [[answer.text, answer.citations, answer.evidence.notes] if answer else "" for answer in answers]


def list_foreseen() -> list[Any]:
    """What a build with all parts would take over a model, of documents that are new, and where a part is added."""
    rows: list[Any] = []
    first, more = harbour.papers()[:4], harbour.papers()[4:]
    with ScriptedServer() as server, TemporaryDirectory() as folder:
        for parts in ([*PARTS, "triples"], ["graph", "layers"]):
            index = {"chunk_tokens": 60, "chunk_overlap": 10, "parts": parts, "layers": {"cluster_size": 4}}
            with scripted_corpus(Path(folder) / str(len(parts)), server, index=index) as made:
                rows.append(made.estimate(first))
                made.add(first)
                made.build()
                rows.append(made.estimate(more))
    return rows


@cache
def find_rows(group: str) -> list[Any]:
    """What is found of one group, as JSON has it."""
    corpus, (kind, _, name) = open_demo(), group.partition(" ")
    index = corpus.index()
    if kind == "part":
        part = index.part(find_part(name))
        fields = getattr(part, "__dataclass_fields__", None) or getattr(part, "__struct_fields__", ())
        return [[field, condense(getattr(part, field))] for field in fields if field[0] != "_"] or [condense(part)]
    if kind == "settings":
        return [show_value(row) for question in DEEP for row in list_settings(corpus, name, question)]
    if kind == "narrow":
        return [show_value(row) for row in list_narrow(name)]
    if kind == "calls":
        return [show_value(row) for row in list_calls(name)]
    if kind == "foreseen":
        return [show_value(row) for row in list_foreseen()]
    if kind == "told":
        return [show_value(row) for row in list_told(int(name))]
    method, posed = load_method(name), Question(QUESTIONS[8])
    asked = [(Question(question), index) for question in QUESTIONS]
    asked += [(posed, restrict_to_time(index, scope)) for scope in SCOPES]
    return [show_value(tell_context(method.retrieve(one, inside, corpus.runtime()))) for one, inside in asked]


DEMO_ROWS = PinnedRows(
    PINNED / "demo-offline.jsonl",
    (
        *(f"questions {name}" for name in TRIED),
        *(f"settings {name}" for name in TRIED),
        *(f"narrow {name}" for name in TRIED),
        *(f"calls {name}" for name in METHODS if hasattr(method_class(name), "usual_calls")),
        *("told 0", "told 1", "foreseen"),
        *(f"part {name}" for name in ARRANGED),
    ),
    find_rows,
)

if __name__ == "__main__":
    DEMO_ROWS.write()
