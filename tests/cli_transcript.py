"""What commands print over a small corpus, all of it as it is: tests/data/cli-transcript.txt, method-transcript.txt.

Where what a command prints was meant to change, `python tests/cli_transcript.py` writes all of it again, so that every
change shows. Folders are written as ROOT, what differs from run to run (seconds, bytes, moments) as a mark.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from typer.testing import CliRunner

from harbour import papers
from sensegraph.cli import app

DATA = Path(__file__).parent / "data"
RULE = "=" * 60
NEW = (
    "Ada Finch became mayor of Port Ellery on 4 June 2024. The Harbour Council sold the old pier to Blythe Shipyard.\n"
)
GROUPS = """
status --root {root}/none
query Who --root {root}/none
init --root {root}/prepared --quiet
init --root {root}/prepared
status --root {root}/prepared
index --dry-run {root}/texts
index --dry-run {root}/texts --json --root {root}/none
index {root}/texts
status
status --documents
status --documents --json
show methods
show methods --json
documents pii
documents pii {root}/texts --json

query "What did Ada Finch ask the Harbour Council?"
query "What did Ada Finch ask the Harbour Council?" --json
query "What are the main themes?" --method graphrag
query "Who is Nora Blythe?" --method hybrid --check
query "Did the storm break the old pier of Port Ellery in 2019?" --check --json
query "What does Ivo Marsh own?" --method bm25 --set methods.bm25.k=3
query "What does Ivo Marsh own?" --method nothing
query "What does Ivo Marsh own?" --set query.nothing=1
query ""

search "What does Ivo Marsh own?"
search "What does Ivo Marsh own?" --method lightrag --json
search "pier" --method naive --document "letter*"
search "pier" --as-of 2019
search "pier" --method local
search "Zyzzyva"
show timeline "Harbour Council"
show timeline "Harbour Council" --since 2020 --json
show timeline "Ada Finch" --until 2019
show changes 2018 2020
show changes 2018 2020 --json
show changes 2020 2018

show reports
show reports --depth 1 --limit 2
show reports --json
show reports nothing
show reports d2a913ce6f
show reports d2a913ce6f --limit 1
show reports e121a1c9d3 --json
show entity "Ada Finch"
show entity "Ada Finch" --limit 2
show entity "Ada Finch" --json
show entity "Nobody"
show entity "pier"

graph query "(a:person)-[r]-(b)" --limit 3
graph query "(a:person)-[r]-(b)" --limit 3 --csv
graph query "(a:person)-[r]-(b)" --limit 2 --json
graph query "(a)-[r]-(b)" --where "a.degree > 2 AND a.name STARTS WITH 'A'" --return "a.name, count(*) AS times"
graph query "(a:person)" --return a.name --order a.name --skip 1 --limit 2 --cite
graph query "(a:person)-[r]-(b)" --return a.name --limit 1 --explain
graph query "(a"
graph draw --out {root}/picture.svg --limit 3
graph draw --out {root}/picture.txt

entities duplicates
entities duplicates --json
entities merge "Ada Finch" "Tom Reeve" --reason "a test"
entities log
entities undo
entities log --json
entities rename "Ivo Marsh" "Ivo Mersh"
show entity "Ivo Mersh" --limit 1
entities keep-apart "Ada Finch" "Tom Reeve"
entities split "Ada Finch" "Ada Lee"
entities log

graph export {root}/tables
graph export {root}/graph --format graphml --json
graph export {root}/graph --format nothing
graph import {root}/tables --root {root}/other
status --root {root}/other
graph import {root}/nothing --root {root}/third
graph import {root}/tables

index {root}/texts/new.txt
index {root}/nowhere
index {root}/texts --sync --dry-run
documents remove new
documents remove nothing
index
documents purge
documents purge --json
index {root}/texts --sync --dry-run --json
""".strip().split("\n\n")


METHODS = {  # and the part of the index that each reads besides
    "fastgraphrag": "graph", "hipporag": "facts", "hirag": "layers", "kag": "names", "lazygraphrag": "concepts",
    "leanrag": "aggregates", "lightrag": "relations", "linearrag": "sentences", "raptor": "tree",
}  # fmt: skip
OF_METHOD = """
index --dry-run {{root}}/texts --set 'index.parts=["graph","{part}"]' --json
index {{root}}/texts --method {method} --json
search "What did Ada Finch ask the Harbour Council?" --method {method} --json
index {{root}}/texts/new.txt --method {method} --json
search "Who is mayor of Port Ellery?" --method {method} --json
"""
METHOD_GROUPS = [OF_METHOD.strip().format(method=method, part=part) for method, part in METHODS.items()]


def mark_changing(text: str, root: Path) -> str:
    """A text with what differs from run to run as marks."""
    text = text.replace(str(root), "ROOT").replace(os.sep + root.name, "/ROOT")
    text = re.sub(r"\d+(?:\.\d+)? (?=m?s\b)|\d+(?:\.\d+)? (?=(?:kB|MB|GB|bytes?)\b)", "N ", text)
    text = re.sub(r"20[2-9]\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?", "MOMENT", text)
    text = re.sub(r'("(?:seconds|bytes\w*|size|size_bytes|freed|at|elapsed\w*)": )[\d.]+', r"\1N", text)
    text = re.sub(r"(\d\.\d{6})\d+", r"\1", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


def make_corpus(root: Path) -> None:
    """Texts in a folder, and a corpus of them that is indexed without a model."""
    (root / "texts").mkdir()
    for paper in papers():
        told = "".join(f"{name}: {value}\n" for name, value in paper.metadata)
        text = f"---\ntitle: {paper.title}\n{told}---\n\n{paper.text}\n"
        (root / "texts" / f"{paper.id}.md").write_text(text, encoding="utf-8")
    words = ["index", str(root / "texts"), "--root", str(root / "corpus"), "--engine", "offline"]
    assert CliRunner().invoke(app, words).exit_code == 0


def run_group(group: str, root: Path) -> str:
    """The commands of a group in order, each with its status, what it prints, and what it tells."""
    shown = []
    for line in group.splitlines():
        if "new.txt" in line:
            (root / "texts" / "new.txt").write_text(NEW, encoding="utf-8")
        words = shlex.split(line.format(root=root))
        place = [] if "--root" in words or words[:2] == ["show", "methods"] else ["--root", str(root / "corpus")]
        done = CliRunner().invoke(app, [*words, *place], terminal_width=100)
        told = f"told:\n{done.stderr.strip()}" if done.stderr.strip() else ""
        parts = [f"$ {line}", f"status {done.exit_code}", done.stdout.strip(), told]
        shown.append(mark_changing("\n".join(part for part in parts if part), root))
    return "\n\n".join(shown) + "\n"


def read_groups(name: str) -> list[str]:
    """What each group of commands did when the file was written."""
    return (DATA / f"{name}-transcript.txt").read_text(encoding="utf-8").split(f"{RULE}\n")


def write_groups(name: str, groups: Sequence[str]) -> None:
    """Write what each group of commands does now."""
    found = []
    for group in groups:
        with tempfile.TemporaryDirectory() as scratch:
            make_corpus(Path(scratch).resolve())
            found.append(run_group(group, Path(scratch).resolve()))
    (DATA / f"{name}-transcript.txt").write_text(f"{RULE}\n".join(found), encoding="utf-8")


if __name__ == "__main__":
    write_groups("cli", GROUPS)
    write_groups("method", METHOD_GROUPS)
