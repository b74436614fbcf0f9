"""Tokens of the prompts: the constant part of each task, and all that the demo corpus is read and asked with.

    python bench/prompt_tokens.py [--claims]

The scripted server keeps each request. The constant part is what all requests of a task begin with, byte for byte: what
a provider may keep in its cache. `schema` is the form that goes beside the messages. Tokens are counted as everywhere
in the package (cl100k); a request of a task that was asked once has no constant part to compare, and none is told.
"""

from __future__ import annotations

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
HEAD = ["task", "calls", "constant", "schema", "prompt of a call", "all prompts", "cached at 50 %", "at 10 %"]
_LEAST, _STEP = 1024, 128  # tokens that are cached at least, and in steps of which
_TURN = "\x00"  # between messages


def main() -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server, tempfile.TemporaryDirectory() as folder:
        endpoint = {"base_url": server.base_url, "model": "scripted", "embedding_model": "hashed"}
        model = {"claims": "--claims" in sys.argv}
        given = {"endpoint": endpoint, "model": model, "methods": {"lazygraphrag": {"budget": 10}}}
        with Corpus.open(Path(folder), settings=given) as corpus:
            texts = sorted(files("sensegraph").joinpath("data", "demo").iterdir(), key=lambda item: item.name)
            corpus.add([Document(item.name, item.read_text("utf-8"), item.name) for item in texts])
            corpus.build(parts=PARTS)
            for method in METHODS:
                for question in QUESTIONS:
                    corpus.query(question, method=method)
        asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for call in server.done():
            if call.task != "embedding":
                of = " of claims" if "what it claims" in call.body["messages"][0]["content"] else " of extraction"
                asked[call.task + (of if call.task == "check" else "")].append(call.body)
    rows = [row_of(task, bodies) for task, bodies in sorted(asked.items())]
    rows.append(["together", sum(r[1] for r in rows), "", "", "", *(sum(r[n] for r in rows) for n in (5, 6, 7))])
    table(HEAD, rows)


def row_of(task: str, bodies: Sequence[dict[str, Any]]) -> list[Any]:
    """What the requests of a task have in common, and what they are."""
    talks = sorted({_TURN.join(m["content"] for m in body["messages"]) for body in bodies})
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(talks[0], talks[-1], strict=False)))
    constant = count_tokens(talks[0][:same].replace(_TURN, "\n")) if len(talks) > 1 else "-"
    form = bodies[0].get("response_format", {}).get("json_schema", {}).get("schema")
    schema = count_tokens(msgspec.json.encode(form).decode()) if form else 0
    sizes = [sum(count_tokens(m["content"]) for m in body["messages"]) for body in bodies]
    start = schema + (constant if isinstance(constant, int) else 0)
    kept = start // _STEP * _STEP if start >= _LEAST else 0
    whole = sum(sizes) + schema * len(bodies)
    cached = [round(whole - (1 - price) * kept * (len(bodies) - 1)) for price in (0.5, 0.1)]
    return [task, len(bodies), constant, schema, round(sum(sizes) / len(sizes)), sum(sizes), *cached]


if __name__ == "__main__":
    main()
