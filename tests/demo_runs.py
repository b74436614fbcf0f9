"""What each method finds in the bundled documents, pinned: a corpus large enough that its bounds leave something out.

In tests/whole_runs.py corpora have 15 chunks at most. Here are 128 chunks and 29 communities. Of what is found a row
says how many passages it is, which (a digest), what their scores come to, and what is told with them. Where it was
meant to change, `python tests/demo_runs.py` writes all rows again.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from laws.asking import INDEX, PARTS
from pinned_rows import PinnedRows
from sensegraph.built_in_parts import BUILT_IN
from sensegraph.corpus.corpus import Corpus
from sensegraph.documents import load
from sensegraph.index.parts import find_part
from sensegraph.index.restricted.moment import restrict_to_time
from sensegraph.methods import load_method
from sensegraph.questions import Scope
from sensegraph.types import Context, Question
from whole_runs import PINNED, TRIED, list_settings, show_value

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
    method, posed = load_method(name), Question(QUESTIONS[8])
    asked = [(Question(question), index) for question in QUESTIONS]
    asked += [(posed, restrict_to_time(index, scope)) for scope in SCOPES]
    return [show_value(tell_context(method.retrieve(one, inside, corpus.runtime()))) for one, inside in asked]


DEMO_ROWS = PinnedRows(
    PINNED / "demo-offline.jsonl",
    (
        *(f"questions {name}" for name in TRIED),
        *(f"settings {name}" for name in TRIED),
        *(f"part {name}" for name in ARRANGED),
    ),
    find_rows,
)

if __name__ == "__main__":
    DEMO_ROWS.write()
