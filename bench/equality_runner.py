"""One index in one tree: what `bench/equality.py` runs as a process of its own, once for each tree and case.

    PYTHONPATH=TREE/src python bench/equality_runner.py JOB.json

It runs against trees whose inner modules differ, so it uses only what users may rely on: `Corpus` (open, add, build,
query), and the command line by its arguments and its JSON. Commands have the names that both trees know. Everything is
written into the current folder, where the corpus stands under `corpus`: a file of lines for each step of the job (an
item a line, its name first), `exports/`, and `spent.json` (CPU seconds of this process and its workers by step).
Beside it stand `updated`, a copy from which a document was removed, built and collected, and `imported`, made of the
exported tables.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sensegraph import Corpus
from sensegraph.cli import main as command_line

ROOT = "corpus"
FORMATS = (
    ("graphrag", "--tables", "jsonl"),
    ("graphrag", "--tables", "parquet"),
    ("csv",),
    ("graphml",),
    ("cypher",),
    ("json",),
)
TABLES = "exports/graphrag-tables-jsonl"
DRAWN = ("svg", "html")
# wall-clock time, and sizes of files that SQLite lays out by the order of writes
FRESH = ("seconds", "size_bytes", "bytes_before", "bytes_after")


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    steps = {"build": build_index, "questions": ask_questions, "commands": show_index, "changes": change_index}
    spent = {}
    for name in job["steps"]:
        before = cpu_seconds()
        write_lines(f"{name}.jsonl", steps[name](job))
        spent[name] = cpu_seconds() - before
    Path("spent.json").write_text(json.dumps(spent), encoding="utf-8")


def build_index(job: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    with Corpus.open(ROOT) as corpus:
        yield "added", asdict(corpus.add(job["documents"]))
        yield from asdict(corpus.build()).items()
    yield run_command("estimate", job["documents"], "--root", ROOT, "--json")


def ask_questions(job: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every question by every method, in one order: what a question has cost is remembered for the next."""
    for method in job["methods"]:
        with Corpus.open(ROOT) as corpus:
            for number, question in enumerate(job["questions"]):
                try:
                    found: Any = asdict(corpus.query(question, method=method))
                except Exception as e:  # noqa: BLE001 - an error is an answer too: it must stay the same
                    found = {"error": type(e).__name__, "message": str(e)}
                yield f"{method} {number:02} {question}", found


def show_index(job: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What commands print or write about the index."""
    for form in FORMATS:
        yield run_command("export", f"exports/{'-'.join(form).replace('--', '')}", "--root", ROOT, "--format", *form)
    for form in DRAWN:
        yield run_command("draw", "--root", ROOT, "--format", form, "--out", f"exports/communities.{form}")
    yield run_command("methods", "--json")
    for arguments in (
        ("status", "--documents"),
        ("reports",),
        ("entity", job["subject"]),
        ("timeline", job["subject"]),
        ("match", "(a)-[r]-(b)", "--return", "a.name, b.name, r.weight", "--limit", "50"),
    ):
        yield run_command(*arguments, "--root", ROOT, "--json")
    question = job["questions"][-1]
    for arguments in job["options"]:
        yield run_command("query", question, *arguments, "--root", ROOT, "--json")
    for method in job["methods"]:
        inside, then = ("--document", job["scope"]), ("--as-of", job["moment"])
        yield run_command("search", question, "--method", method, "--root", ROOT, "--json")
        for scope in (inside, then):
            yield run_command("query", question, "--method", method, *scope, "--root", ROOT, "--json")


def change_index(job: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What becomes of the index without its last document, and of its exported tables when they are imported."""
    shutil.copytree(ROOT, "updated")
    _, listed = run_command("status", "--documents", "--root", "updated")
    with Corpus.open("updated") as corpus:
        corpus.remove(listed["printed"].splitlines()[-1])
        for name, value in asdict(corpus.build()).items():
            yield f"updated {name}", value
    yield run_command("collect", "--root", "updated", "--json")
    Path("imported").mkdir()
    shutil.copy(f"{ROOT}/sensegraph.toml", "imported")
    yield run_command("import", TABLES, "--root", "imported", "--json")
    yield run_command("export", "exports/imported", "--root", "imported")


def run_command(*arguments: str) -> tuple[str, Any]:
    """The command as its name, and what it printed; what it says on stderr only where it failed."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    before, sys.argv = sys.argv, ["sensegraph", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            command_line()
    except SystemExit as e:
        code = int(e.code or 0)
    finally:
        sys.argv = before
    printed: Any = out.getvalue()
    if "--json" in arguments and not code:
        printed = json.loads(printed)
        if isinstance(printed, dict) and printed.pop("schema", None):  # objects of before have no such number
            printed = printed["methods"] if arguments[0] == "methods" else printed
    return " ".join(arguments), {"code": code, "printed": printed, "error": err.getvalue() if code else ""}


def write_lines(name: str, items: Iterator[tuple[str, Any]]) -> None:
    with Path(name).open("w", encoding="utf-8") as file:
        for item, value in items:
            file.write(json.dumps([item, without_fresh(value)], ensure_ascii=False, sort_keys=True, default=list))
            file.write("\n")


def without_fresh(value: Any) -> Any:
    """The value without what differs from run to run whatever the code."""
    if isinstance(value, Mapping):
        return {str(k): without_fresh(v) for k, v in value.items() if k not in FRESH}
    if isinstance(value, list | tuple):
        return [without_fresh(v) for v in value]
    return value


def cpu_seconds() -> float:
    """User and system seconds of this process and of the workers that have ended."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in found)


if __name__ == "__main__":
    main()
