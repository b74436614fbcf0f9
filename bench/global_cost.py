"""What a global question costs with a model: reports by size, and the calls and prompt tokens at each depth.

    python bench/global_cost.py [--data DIR] [--corpus FOLDER] [--questions FILE] [--most 3] [--keep DIR]

The scripted server keeps each request; tokens are those of the messages, counted as everywhere in the package
(cl100k). `least` is the smallest of the questions, `most` the largest. FILE has a question in each line. With
`--sparse` the server finds relations only between names of one sentence, so that most of the graph falls into pieces.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from client import chosen, options, table  # noqa: E402
from scripted import Script, ScriptedServer  # noqa: E402
from scripted_replies import reply, task_of  # noqa: E402
from sensegraph.corpus.corpus import Corpus  # noqa: E402
from sensegraph.language.text import count_tokens  # noqa: E402

USUAL = (
    "What are the main themes of these texts?",
    "Which risks are spoken of, and how are they met?",
    "How do people work together?",
)
WAYS: dict[str, dict[str, Any]] = {
    "the default": {},
    **{f"C{depth}": {"depth": depth} for depth in range(4)},
    **{f"all of C{depth}": {"depth": depth, "report_tokens": 0} for depth in range(4)},
    "dynamic": {"select": "dynamic"},
}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--questions", type=Path, help="a file with a question in each line")
    parser.add_argument("--most", type=int, default=3, help="how many questions are asked")
    parser.add_argument("--sparse", action="store_true")
    parser.add_argument("--keep", type=Path, help="where the index is kept, or is read from")
    given = parser.parse_args()
    asked = given.questions.read_text("utf-8").splitlines() if given.questions else USUAL
    with (
        ScriptedServer(Script(keep_bodies=True, reply=read_sparsely if given.sparse else None)) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        endpoint = {"base_url": server.base_url, "model": "scripted", "embedding_model": "hashed", "concurrency": 16}
        with Corpus.open(given.keep or Path(folder), settings={"endpoint": endpoint}) as corpus:
            if not corpus.document_keys():
                corpus.add(chosen(given))
            corpus.build()
            print(f"indexed: {spent(server)[0]} calls, {corpus.index().manifest.counts}\n")
            table(["depth", "reports", "of 1 entity", "of 2", "of 3 to 10", "of more"], list(sizes(corpus)))
            print()
            table(
                ["way", "calls", "prompt tokens", "least", "most", "CPU ms"],
                list(costs(corpus, server, asked[: given.most])),
            )


def read_sparsely(body: dict[str, Any]) -> str | None:
    """The scripted extraction without relations to what another sentence names; None for any other task."""
    if task_of(body) != "extraction":
        return None
    found = json.loads(reply(body, "json"))
    both = [r for r in found["relations"] if r["source"] in r["description"] and r["target"] in r["description"]]
    return json.dumps(found | {"relations": both})


def sizes(corpus: Corpus) -> Iterator[list[object]]:
    """How many reports there are at each depth, by the number of their entities."""
    index = corpus.index()
    for depth in range(index.depth):
        held = Counter(min(len(c.entities), 11) for c in index.clusters_at(depth))
        few = sum(n for size, n in held.items() if 2 < size < 11)
        yield [f"C{depth}", held.total(), held[1], held[2], few, held[11]]


def costs(corpus: Corpus, server: ScriptedServer, questions: Sequence[str]) -> Iterator[list[object]]:
    """The mean cost of the questions, by how they are asked."""
    for way, given in WAYS.items():
        corpus.query("What is said?", method="graphrag", **given)
        spent(server)
        found = []
        begun = time.process_time()
        for question in questions:
            corpus.query(question, method="graphrag", **given)
            found.append(spent(server))
        cpu = (time.process_time() - begun) / len(questions)
        calls, tokens = ([one[i] for one in found] for i in (0, 1))
        mean = sum(tokens) / len(tokens)
        yield [
            way,
            f"{sum(calls) / len(calls):.1f}",
            f"{mean:,.0f}",
            f"{min(tokens):,}",
            f"{max(tokens):,}",
            f"{1000 * cpu:.0f}",
        ]


def spent(server: ScriptedServer) -> tuple[int, int]:
    """The calls of a model since this was last asked, and the tokens of their prompts."""
    bodies = [call.body for call in server.done() if call.task != "embedding"]
    server.reset()
    return len(bodies), sum(count_tokens(m["content"]) for body in bodies for m in body["messages"])


if __name__ == "__main__":
    main()
