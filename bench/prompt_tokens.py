"""Tokens of the prompts by task: what a build sends, and what asking sends; of each task also the constant part.

    python bench/prompt_tokens.py --corpus ../shared/bench/texts/MX [--gleaning names|check|none] [--claims]
    python bench/prompt_tokens.py [--claims]        the demonstration, with all parts and three questions by method

The scripted server keeps each request; its replies leave nothing out, and its checks say so. `share` is that of all
prompts, `reported` what the server's usage says (characters ÷ 4, without schemas): what the ledger holds. The constant
part is what all requests of a task begin with, byte for byte: what a provider may keep in its cache. `schema` is the
form that goes beside the messages. Tokens are counted as everywhere in the package (cl100k); a request of a task that
was asked once has no constant part to compare, and none is told.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from importlib.resources import files
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from client import table  # noqa: E402
from scripted import Script, ScriptedServer  # noqa: E402
from sensegraph.corpus.corpus import Corpus  # noqa: E402
from sensegraph.language.text import count_tokens  # noqa: E402
from sensegraph.types import Document  # noqa: E402

METHODS = ("graphrag", "drift", "lazygraphrag", "leanrag", "hirag", "raptor", "naive")
PARTS = ("graph", "reports", "concepts", "names", "wording", "outline", "tree", "aggregates", "layers")
QUESTIONS = (
    "What are the main themes of these two years?",
    "Which risks did the company run, and how were they met?",
    "How did the staff change?",
)
HEAD = ["task", "calls", "constant", "schema", "prompt of a call", "all prompts", "share", "reported"]
HEAD += ["cached at 50 %", "at 10 %"]
GLEANING = {"names": {"gleaning": "names"}, "check": {"gleaning": "check"}, "none": {"max_gleanings": 0}}
_LEAST, _STEP = 1024, 128  # tokens that are cached at least, and in steps of which
_TURN = "\x00"  # between messages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="a folder of texts, of which an index of the usual parts is built")
    parser.add_argument("--gleaning", choices=GLEANING, default="names")
    parser.add_argument("--claims", action="store_true")
    given = parser.parse_args()
    model = {"claims": given.claims, **GLEANING[given.gleaning]}
    with ScriptedServer(Script(keep_bodies=True)) as server, tempfile.TemporaryDirectory() as folder:
        endpoint = {"base_url": server.base_url, "model": "scripted", "embedding_model": "hashed"}
        settings = {"endpoint": endpoint, "model": model, "methods": {"lazygraphrag": {"budget": 10}}}
        with Corpus.open(Path(folder), settings=settings) as corpus:
            if given.corpus:
                corpus.add(given.corpus)
                corpus.build()
            else:
                ask_demonstration(corpus)
        asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for call in server.done():
            if call.task != "embedding":
                asked[name_task(call.task, call.body)].append(call.body)
    whole = sum(count_prompt(body) for bodies in asked.values() for body in bodies)
    rows = [row_of(task, bodies, whole) for task, bodies in sorted(asked.items())]
    rows.append(["together", sum(r[1] for r in rows), "", "", "", whole, "100 %", *column_sums(rows, 7, 8, 9)])
    table(HEAD, rows)


def ask_demonstration(corpus: Corpus) -> None:
    """The demonstration with every part that asks a model, and the questions by each method."""
    texts = sorted(files("sensegraph").joinpath("data", "demo").iterdir(), key=lambda item: item.name)
    corpus.add([Document(item.name, item.read_text("utf-8"), item.name) for item in texts])
    corpus.build(parts=PARTS)
    for method in METHODS:
        for question in QUESTIONS:
            corpus.query(question, method=method)


def name_task(task: str, body: dict[str, Any]) -> str:
    """The task of a request, with what it is about where several are asked alike."""
    first, last = body["messages"][0]["content"], body["messages"][-1]["content"]
    if task == "check":
        return "check of claims" if "what it claims" in first else "check of extraction"
    if task == "extraction" and "and the list lacks: " in last:
        return "extraction, names that were missed"
    return f"{task}, what was missed" if "still missing" in last else task


def count_prompt(body: dict[str, Any]) -> int:
    """Tokens of the messages of a request."""
    return sum(count_tokens(m["content"]) for m in body["messages"])


def column_sums(rows: Sequence[Sequence[Any]], *columns: int) -> list[int]:
    """The sums of these columns."""
    return [sum(row[n] for row in rows) for n in columns]


def row_of(task: str, bodies: Sequence[dict[str, Any]], all_prompts: int) -> list[Any]:
    """What the requests of a task have in common, and what they are."""
    talks = sorted({_TURN.join(m["content"] for m in body["messages"]) for body in bodies})
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(talks[0], talks[-1], strict=False)))
    constant = count_tokens(talks[0][:same].replace(_TURN, "\n")) if len(talks) > 1 else "-"
    form = bodies[0].get("response_format", {}).get("json_schema", {}).get("schema")
    schema = count_tokens(msgspec.json.encode(form).decode()) if form else 0
    sizes = list(map(count_prompt, bodies))
    reported = sum(sum(len(m["content"]) for m in body["messages"]) // 4 for body in bodies)
    start = schema + (constant if isinstance(constant, int) else 0)
    kept = start // _STEP * _STEP if start >= _LEAST else 0
    whole = sum(sizes) + schema * len(bodies)
    cached = [round(whole - (1 - price) * kept * (len(bodies) - 1)) for price in (0.5, 0.1)]
    share = f"{100 * sum(sizes) / all_prompts:.0f} %"
    mean = round(sum(sizes) / len(sizes))
    return [task, len(bodies), constant, schema, mean, sum(sizes), share, reported, *cached]


if __name__ == "__main__":
    main()
