"""Forty questions of time over role changes and bounds, written before they were asked (time-questions.toml).

    python bench/time_questions.py [--all]        how many are right, by the way of asking; with --all every answer

Offline. An answer is right where it says what it must and nothing of what it must not; of `changes` and `timeline` the
texts of the events count. Intervals of a timeline and of changes begin at no bound.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from sensegraph import Corpus, Document
from sensegraph.questions import Scope

ASKED: dict[str, Any] = tomllib.loads((Path(__file__).parent / "time-questions.toml").read_text("utf-8"))


def answer_to(corpus: Corpus, asked: dict[str, Any]) -> str:
    """What is answered, with the ids of the documents that are cited."""
    if asked["how"] == "timeline":
        return "\n".join(f"{e.when}: {e.text}" for e in corpus.timeline(asked["of"]))
    if asked["how"] == "changes":
        changes = corpus.changes(asked["from"], asked["to"])
        return "\n".join(f"{c.what}: {e.text}" for c in changes for e in (c.before, c.after) if e)
    answer = corpus.query(asked["ask"], scope=Scope(as_of=asked.get("at", "")))
    return f"{answer.text}\n" + " ".join(sorted({c.document for c in answer.citations}))


def is_right(asked: dict[str, Any], said: str) -> bool:
    """Whether it says all that it must, and nothing of what it must not."""
    plain = " ".join(said.split())
    return all(s in plain for s in asked.get("says", ())) and not any(s in plain for s in asked.get("never", ()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    right, put = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, Corpus.open(folder) as corpus:
        corpus.add([Document(d["id"], d["text"].strip(), time=d["time"]) for d in ASKED["documents"]])
        corpus.build()
        for asked in ASKED["questions"]:
            said = answer_to(corpus, asked)
            put[asked["how"]] += 1
            right[asked["how"]] += (good := is_right(asked, said))
            if given.all or not good:
                place = {k: v for k, v in asked.items() if k not in ("says", "never")}
                print(f"{'right' if good else 'WRONG'} {place}\n    {said.strip()[:400]}\n")
    for how, n in put.items():
        print(f"{how:<10} {right[how]:3} of {n}")
    print(f"{'all':<10} {right.total():3} of {put.total()}")


if __name__ == "__main__":
    sys.exit(main())
