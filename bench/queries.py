"""What a question costs by method: CPU without the model's own time, and the tokens of the context.

    python bench/queries.py [--data DIR] [--corpus multihop-news] [--questions 20] [--method NAME …] [--engine NAME]

One process, one index (warm: the files are mapped, the first question of each method is not counted), each question
once per method. `find` is the CPU of retrieving what the final answer is written from, less what the engine's tasks
took; `write` is the CPU of that engine in all, where it works in this process (offline). With `--engine scripted` the
replies come from a scripted server in another process: its time is not counted, the client's is.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from client import chosen, options, prepared, sensegraph, serving, table
from sensegraph.corpus.corpus import Corpus
from sensegraph.methods import METHODS, load_method
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Question

TASKS = ("rate", "answer", "ask", "refine", "test", "grade")


class Timed:
    """An engine that notes the CPU that its tasks take."""

    def __init__(self, engine: Any) -> None:
        self._engine, self.spent = engine, 0.0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._engine, name)
        return self._timed(found) if name in TASKS else found

    def _timed(self, task: Any) -> Any:
        def call(items: Sequence[Any]) -> Any:
            before = time.process_time()
            try:
                return task(items)
            finally:
                self.spent += time.process_time() - before

        return call


class Here:
    """An executor in this thread, so that all CPU is this process's."""

    def map(self, call: Any, batches: Sequence[Any], *, waits: bool) -> Iterator[tuple[int, Any]]:
        for i, batch in enumerate(batches):
            yield i, call(batch)


def main() -> None:
    parser = options(__doc__)
    parser.set_defaults(corpus="multihop-news")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--method", action="append", choices=list(METHODS))
    parser.add_argument("--engine", choices=["offline", "scripted"], default="offline")
    given = parser.parse_args()
    path = chosen(given)
    asked = questions(path, given.questions)
    with built(path, given.engine, given.method or list(METHODS)) as corpus:
        print(f"{len(asked)} questions, {given.engine} engine, {corpus.index().manifest.counts}")
        rows = [row(name, asked, corpus) for name in given.method or METHODS]
        table(["method", "CPU ms find", "CPU ms write", "context tokens", "answered"], rows)


def row(name: str, asked: Sequence[str], corpus: Corpus) -> list[object]:
    """The medians of one method."""
    rt = corpus.runtime()
    rt = replace(rt, engine=Timed(rt.engine), executor=Here()) if not rt.engine.waits else rt
    index, method = corpus.index(), load_method(name, **corpus.settings.method_settings(name, {}))
    cost(method, "Who is named in the first document?", index, rt)
    found = [cost(method, question, index, rt) for question in asked]
    find, write, size = (statistics.median(f[i] for f in found) for i in range(3))
    answered = sum(f[3] for f in found)
    return [name, f"{1000 * find:.1f}", f"{1000 * write:.1f}", f"{size:,.0f}", f"{answered} of {len(asked)}"]


def cost(method: Any, question: str, index: Any, rt: Runtime) -> tuple[float, float, int, bool]:
    """CPU seconds of finding and of the engine, tokens of the context, and whether it was answered with a citation."""
    spent = getattr(rt.engine, "spent", 0.0)
    before = time.process_time()
    answer = method.answer(Question(question), index, rt)
    whole = time.process_time() - before
    engine = getattr(rt.engine, "spent", 0.0) - spent
    return whole - engine, engine, answer.evidence.tokens, bool(answer.citations)


def questions(corpus: Path, most: int) -> list[str]:
    """The corpus's own questions, and after them its documents' titles as questions, until there are enough."""
    folder = corpus if corpus.is_dir() else corpus.parent
    asked = [json.loads(line)["text"] for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    titles = [json.loads(line).get("title", "") for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    asked += [f"What is reported on this: {title}?" for title in titles if title]
    return asked[:most]


@contextmanager
def built(path: Path, engine: str, methods: Sequence[str]) -> Iterator[Corpus]:
    """The corpus of `path`, indexed for these methods in a folder that goes again."""
    with tempfile.TemporaryDirectory() as folder, serving() as server:
        root = prepared(Path(folder) / "corpus", server) if engine == "scripted" else Path(folder) / "corpus"
        chosen = [part for name in methods for part in ("--method", name)]
        run = sensegraph("index", str(path), "--root", str(root), "--quiet", *chosen)
        if run.code:
            sys.exit(f"index ended with {run.code}: {run.err}")
        with Corpus.open(root, create=False) as corpus:
            yield corpus


if __name__ == "__main__":
    main()
