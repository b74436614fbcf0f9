"""What the commands of the lab print and write, pinned: evaluations, measured retrieval, data, the 2 × 2 design.

A row is a command with what it prints, or a file that it writes: its size, its beginning, and a digest of all of it.
Clocks stand still, and numbers are rounded. Where it was meant to change, `python tests/lab_commands.py` writes all
rows again.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from typer.testing import CliRunner

from judged_towns import documents, queries, written
from pinned_rows import PinnedRows
from scripted import ScriptedServer
from sensegraph.cli import app
from whole_runs import FRACTION, PINNED, show_value
from wired import stories

STOPPED: Any = SimpleNamespace(perf_counter=lambda: 0.0, process_time=lambda: 0.0)
SECONDS = re.compile(r"\b[\d.,]+ s\b")
SHORT = 90  # characters of what is printed that are shown, with a digest of all
OFFLINE = """
corpus = "towns.jsonl"
questions = "keepers.jsonl"
metrics = ["claims", "grounding", "reference"]
draws = 50
answer_words = 20
[conditions.words]
method = "bm25"
[conditions.vectors]
method = "naive"
top = 1
[conditions.walk]
method = "walk"
context_tokens = 90
"""
WIRED = """
corpus = "stories.jsonl"
questions = "posed.jsonl"
metrics = ["claims", "judge", "scores", "grounding", "reference"]
draws = 60
examples = 2
baseline = "SS"
[conditions.C0]
method = "graphrag"
depth = 0
[conditions.SS]
method = "naive"
[conditions.B]
method = "bm25"
k = 2
[judge]
criteria = ["comprehensiveness", "diversity", "directness"]
replicates = 2
[scores]
criteria = ["overall"]
runs = 2
[settings.endpoint]
base_url = "{url}"
model = "scripted"
seed = 1
[settings.index]
chunk_tokens = 120
[settings.model]
max_gleanings = 0
"""
DESIGN = """
corpus = "index"
questions = "designed.jsonl"
gold = "made up"
draws = 100
metrics = ["rouge-1", "semantic"]
base = {{ engine = "offline" }}
tuned = {{ engine = "model", endpoint = {{ base_url = "{url}", model = "scripted", max_retries = 0 }} }}
"""
POSED = (
    {"id": "1", "text": "Whom did Kara Harrow hire?", "answer": "Lino Stone", "type": "local", "topic": "work"},
    {"id": "2", "text": "What did Elsa Harrow buy?", "answers": ["a boat", "wood"], "type": "global", "topic": "sea"},
    {"id": "3", "text": "Who wrote to Iris Harrow?", "answer": "Bram Harrow", "type": "local", "topic": "letters"},
    {"id": "4", "text": "Who paid Ada Harrow?", "answer": "Bram Harrow", "type": "local", "topic": "letters"},
)
COMMANDS = {
    "offline": ("eval offline.toml", "eval offline.toml --json"),
    "wired": ("eval wired.toml --dry-run", "eval wired.toml --dry-run --json", "eval wired.toml --yes"),
    "retrieval": (
        "eval retrieval --data towns --methods naive,naive:top=1,bm25,walk --draws 50 --cutoffs 1,2 --out report"
        " --picture means.svg --runs runs",
        "eval retrieval --data towns --methods naive,walk --draws 50 --json",
    ),
    "data": (
        "tune data towns --out train.jsonl --report report.md --engine offline",
        "tune data towns --out held.jsonl --form evaluation --no-pad --near bm25 --engine offline --json",
    ),
    "design": (
        "index stories.jsonl --root index --engine offline",
        "tune compare design.toml --out out --sheet sheet.csv",
        "tune compare design.toml --out out --json",
    ),
    "papers": ("eval papers cpm --json", "eval papers edge2024 --table sizes --dry-run"),
}
"""What is run in one folder, one after the other."""


def write_inputs(folder: Path, url: str) -> None:
    """The documents, the questions and the plans."""
    answered = [{**q, "answer": f"keeper of {q['text'].split()[-1].rstrip('?')}"} for q in queries()]
    written(folder / "towns", asked=answered)
    tales = [{"_id": d.id, "title": d.title, "text": d.text} for d in stories(4)]
    keepers = [{"text": q["text"], "answer": q["answer"], "type": q["text"][:5]} for q in answered]
    listed = {"towns": documents(), "stories": tales, "posed": POSED, "keepers": keepers}
    listed["designed"] = [{"question": q["text"], **q} for q in POSED]
    for name, rows in listed.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for name, text in {"offline": OFFLINE, "wired": WIRED.format(url=url), "design": DESIGN.format(url=url)}.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")


@contextlib.contextmanager
def stop_clocks() -> Iterator[None]:
    """Where the lab measures time, nothing takes any."""
    with (
        patch("sensegraph.lab.experiments.conditions.time", STOPPED),
        patch("sensegraph.lab.retrieval.runs.time", STOPPED),
        patch("sensegraph.cli.lab.retrieval_measuring.cpu_seconds", lambda: 0.0),
    ):
        yield


def tell_text(text: str, folder: Path, url: str) -> str:
    """A text without what differs from run to run, fractions to six digits."""
    for one in {str(folder), str(folder.resolve())}:
        text = text.replace(one, "FOLDER")
    text = SECONDS.sub("SECONDS", text.replace(url, "URL"))
    return FRACTION.sub(lambda m: f"{float(m[0]):.6g}", text)


@cache
def find_rows(group: str) -> list[Any]:
    """What the commands of a group print, and the files that there are then."""
    rows: list[Any] = []
    with TemporaryDirectory() as place, ScriptedServer() as server, contextlib.chdir(place), stop_clocks():
        folder, url = Path(place), server.base_url
        write_inputs(folder, url)
        before = set(folder.rglob("*"))
        for command in COMMANDS[group]:
            found = CliRunner().invoke(app, command.split())
            said = tell_text(found.output, folder, url)
            rows.append([command, found.exit_code, said[:SHORT], len(said), show_value(said.encode())])
        for path in sorted(set(folder.rglob("*.*")) - before):
            name = path.relative_to(folder).as_posix()
            if path.is_dir() or {"index", "store", ".sensegraph"} & set(Path(name).parts):
                continue
            text = "" if path.suffix == ".png" else tell_text(path.read_text(encoding="utf-8"), folder, url)
            rows.append([name, len(text), show_value(text.encode())])
    return rows


def read_statuses(group: str) -> dict[str, int]:
    """How each command of a group ended."""
    return {row[0]: row[1] for row in find_rows(group) if row[0] in COMMANDS[group]}


COMMAND_ROWS = PinnedRows(PINNED / "lab-commands.jsonl", tuple(COMMANDS), find_rows)

if __name__ == "__main__":
    COMMAND_ROWS.write()
