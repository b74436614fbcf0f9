"""Questions by template on texts that nobody chose, the documentation of a machine's packages; and their grades.

    python bench/template_questions.py [--from /usr/share/doc] [--each 37] [--kept FILE]     makes them, and prints them
    python bench/template_questions.py --grades                                    counts the grades that a reader gave

Copyrights, lists of changes and of people, and what is no prose are left out; of each package at most three texts.
The grades stand in `grades/template-questions.tsv`: class, question, answer, whether it is grammatical and whether the
texts answer it (1 or 0), and why not, by an independent reader. Those of another reader, from before the rules that
drop what that one found bad, stand in `template-questions-first.tsv`. Other packages give other questions.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from sensegraph import Corpus
from sensegraph.lab.questions.grounded_questions import GroundSettings
from sensegraph.lab.questions.question_files import Kind
from sensegraph.lab.questions.question_making import Posing, make_question_set

CLASSES: tuple[Kind, ...] = ("local", "bridge", "comparison", "intersection")
GRADES = Path(__file__).parent / "grades" / "template-questions.tsv"

KEPT = re.compile(
    r"(?:README|FAQ|INTRO|HOWTO|TUTORIAL|GUIDE|overview|manual)|\.(?:md|rst|html|txt)(?:\.gz)?$", re.IGNORECASE
)
LEFT = re.compile(r"copyright|change|news|authors|thanks|licen[cs]e|copying|todo|/examples?/|test", re.IGNORECASE)
SIZE = (1_500, 60_000)


def copy_documentation(source: Path, folder: Path, most: int) -> int:
    """Write the texts into `folder`, the same ones in the same order each time; how many."""
    folder.mkdir(parents=True, exist_ok=True)
    of, written = Counter[str](), 0
    for path in sorted(p for p in source.rglob("*") if p.is_file() and not p.is_symlink()):
        name = str(path.relative_to(source))
        package = name.split("/")[0]
        if written == most or of[package] == 3 or not KEPT.search(name) or LEFT.search(name):
            continue
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = raw.decode("utf-8", "replace")
        if not SIZE[0] <= len(text) <= SIZE[1] or "\ufffd" in text or sum(c.isalpha() for c in text) < 0.6 * len(text):
            continue
        ending = ".html" if ".html" in name else ".md" if re.search(r"\.(?:md|markdown)", name) else ".txt"
        plain = re.sub(r"\W+", "-", name.removesuffix(".gz").removesuffix(ending))
        (folder / f"{plain}{ending}").write_text(text, "utf-8")
        of[package], written = of[package] + 1, written + 1
    return written


def make(source: Path, each: int, kept: Path | None) -> None:
    """Index the texts offline, and print the questions: class, question, answer."""
    with tempfile.TemporaryDirectory() as folder:
        count = copy_documentation(source, Path(folder) / "texts", 400)
        with Corpus.open(Path(folder) / "corpus", settings={"engine": "offline"}) as corpus:
            corpus.add(Path(folder) / "texts")
            corpus.build()
            found = make_question_set(Posing(grounds=GroundSettings(CLASSES, each)), corpus.index(), corpus.runtime())
    rows = [f"{q.kind}\t{q.text}\t{' | '.join(q.answers or [forms[0] for forms in q.parts])}" for q in found.questions]
    print("\n".join(rows))
    print(f"{len(rows)} questions of {count} texts; dropped {dict(found.dropped)}, missing {dict(found.missing)}")
    if kept:
        kept.write_text("\n".join(rows) + "\n", "utf-8")


def count_grades() -> None:
    """Print how many are grammatical, answerable, and both; and of those how many join two texts."""
    rows = [line.split("\t") for line in GRADES.read_text("utf-8").splitlines() if not line.startswith("#")]
    good = [r for r in rows if r[3] == r[4] == "1"]
    joined = Counter(r[0] for r in good)
    print(
        f"{len(rows)} questions: {sum(r[3] == '1' for r in rows)} grammatical, "
        f"{sum(r[4] == '1' for r in rows)} answerable, {len(good)} both; of these {dict(joined)}"
    )
    for r in rows:
        if r not in good:
            print(f"  {r[1]}  ({r[5]})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--each", type=int, default=37)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--grades", action="store_true")
    given = parser.parse_args()
    if given.grades:
        count_grades()
    else:
        make(given.source, given.each, given.kept)


if __name__ == "__main__":
    sys.exit(main())
