"""How many files of the package one question enters, and one build: what a reader has to open to follow it.

    python bench/files_entered.py [--engine offline|scripted] [--list] [METHOD …]

A file is entered when one of its functions is called; importing it does not count. The book that the package holds is
built with all parts, then one question is asked by each method, each after another question that loads what it needs.
The build that is counted is of the parts that are built where nobody says anything else.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import sensegraph
from client import serving
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.parts import known_parts
from sensegraph.methods import METHODS

PACKAGE = Path(sensegraph.__file__).parent
BOOK = PACKAGE / "data" / "carol"
FIRST, QUESTION = "Who is Bob Cratchit?", "What has Scrooge to do with Jacob Marley?"
BUDGETS = {"bm25": 30, "leanrag": 40, "kag": 45, "building": 60}


def files_entered(work: Callable[[], Any]) -> list[str]:
    """The files of the package whose functions `work` calls, in any thread, by their places in the package."""
    entered: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            entered.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    paths = (Path(name) for name in entered)
    return sorted(p.relative_to(PACKAGE).as_posix() for p in paths if p.is_relative_to(PACKAGE))


def question_files(corpus: Corpus, method: str) -> list[str]:
    """The files that answering one question by a method enters."""
    corpus.query(FIRST, method=method)
    return files_entered(lambda: corpus.query(QUESTION, method=method))


def building_files(folder: Path, settings: dict[str, Any]) -> list[str]:
    """The files that building an index enters, after a build that has loaded what it needs."""
    with Corpus.open(folder / "loading", settings=settings) as corpus:
        corpus.add(BOOK)
        corpus.build()
    with Corpus.open(folder / "counted", settings=settings) as corpus:
        corpus.add(BOOK)
        return files_entered(corpus.build)


@contextmanager
def settings_of(engine: str) -> Iterator[dict[str, Any]]:
    """Settings of an engine: on this machine, or over the scripted server."""
    if engine == "offline":
        yield {"engine": "offline", "processes": 1}
        return
    with serving() as server:
        endpoint = {"base_url": server.url, "model": "scripted", "embedding_model": "hashed"}
        yield {"endpoint": endpoint, "processes": 1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", metavar="METHOD", help="default: all")
    parser.add_argument("--engine", choices=("offline", "scripted"), default="offline")
    parser.add_argument("--list", action="store_true", help="print the files as well")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, settings_of(given.engine) as settings:
        folder = Path(place)
        show("building", building_files(folder, settings), listed=given.list)
        every = {**settings, "index": {"parts": known_parts()}}
        with Corpus.open(folder / "all", settings=every) as corpus:
            corpus.add(BOOK)
            corpus.build()
            for method in given.methods or METHODS:
                show(method, question_files(corpus, method), listed=given.list)


def show(what: str, files: list[str], *, listed: bool) -> None:
    bound = f"   (≤ {BUDGETS[what]})" if what in BUDGETS else ""
    print(f"{what:<16}{len(files):4}{bound}")
    if listed:
        print(*(f"    {name}" for name in files), sep="\n")


if __name__ == "__main__":
    main()
