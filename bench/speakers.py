"""Which texts are called transcripts, and how much of what was attributed before still is.

    python bench/speakers.py                       # texts that are none, and the small texts of tests/data
    python bench/speakers.py --list                # and names every text that was looked at
    python bench/speakers.py --before ../other     # and turns beside those of another checkout of this repository
    python bench/speakers.py --company company.py  # and the offline engine on a made company's documents

The texts that are none come from this machine: manual pages as a terminal shows them, copyrights, change logs, READMEs
and other documentation. They are read each alone, all together, and together with the chats and meetings of `--data`,
whose speakers are then known. With `--before` every sentence of the measuring sets is looked at: who says it then, and
who says it now.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import pydoc_data.topics
import runpy
import subprocess
import sys
import textwrap
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sensegraph.engines.offline.extraction.corpus_reading import (
    observe_documents,
    read_documents,
    survey_documents,
)
from sensegraph.engines.offline.extraction.observations import read_entries
from sensegraph.language.blocks import read_blocks
from sensegraph.language.sentences import split_sentences
from sensegraph.language.speakers import read_turns
from sensegraph.language.transcripts import add_talks, find_corpus_speakers, find_speakers, observe_talk
from sensegraph.types import Chunk

SETS = ("qmsum", "lihua-world", "podcast")
PLAIN = Path(__file__).parents[1] / "tests" / "data" / "no_transcripts"
KINDS = {"manual": 120, "copyright": 70, "changelog": 60, "readme": 60, "text": 60, "python": 30}
_LONGEST = 200_000
_BEFORE = """
import json, sys
from collections import Counter, defaultdict
from sensegraph.language import speakers as s
rows = json.load(sys.stdin)
labels = defaultdict(Counter)
for row in rows:
    labels[row["work"]].update(s.count_labels(s.find_label_candidates(row["text"])))
known = {key: key for key in s.find_known_speakers(labels)}
said, own = [], 0
for row in rows:
    turns = s.read_turns(row["text"], known)
    sure = s.select_sure_labels(s.find_label_candidates(row["text"]))
    own += any(s.can_name_speaker(label.key) for label in sure)
    said.append({"turns": sum(map(bool, turns.names)), "who": [turns.at(place) for place in row["places"]]})
json.dump({"own": own, "said": said}, sys.stdout)
"""
Text = tuple[str, str]
"""What a text is called, and itself."""


# ── texts that are none ──────────────────────────────────────────────────────────────────────────────────────────────


def collect_texts() -> Iterator[Text]:
    """Documentation of this machine, of every kind as many as `KINDS` says, in an order that chance gives."""
    shared = Path("/usr/share")
    manuals = [p for p in shared.glob("man/**/*.[1-8]*.gz") if p.is_file() and not p.is_symlink()]
    documents = [p for p in (*shared.glob("doc/**/*"), *Path(sys.base_prefix).glob("lib/**/*")) if p.is_file()]
    licences = [p for p in shared.glob("common-licenses/*") if p.is_file() and not p.is_symlink()]
    found: dict[str, list[Path]] = {
        "manual": manuals,
        "copyright": [*licences, *(p for p in documents if p.name.startswith(("copyright", "LICENSE", "COPYING")))],
        "changelog": [p for p in documents if p.name.lower().startswith(("change", "news", "history", "release"))],
        "readme": [p for p in documents if p.name.upper().startswith(("README", "INSTALL", "FAQ", "HACKING"))],
        "text": [p for p in documents if p.name.endswith((".txt", ".txt.gz", ".md", ".rst", ".md.gz", ".rst.gz"))],
    }
    taken: set[str] = set()
    for kind, paths in found.items():
        left = KINDS[kind]
        for path in sorted(paths, key=lambda p: (zlib.crc32(str(p).encode()), p)):
            text = read_manual(path) if kind == "manual" else read_file(path)
            if left and len(text) > 600 and text not in taken:
                taken.add(text)
                left -= 1
                yield f"{kind} {path}", text
            if not left:
                break
    topics = sorted(pydoc_data.topics.topics.items(), key=lambda t: (zlib.crc32(t[0].encode()), t))
    yield from ((f"python {name}", text) for name, text in topics[: KINDS["python"]])


def read_file(path: Path) -> str:
    """The text of a file, unpacked; "" where it is none."""
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError):
        return ""
    return "" if b"\0" in data else data[:_LONGEST].decode(errors="replace")


def read_manual(path: Path) -> str:
    """A manual page as a terminal of 80 columns shows it."""
    env = os.environ | {"MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""}
    shown = subprocess.run(["man", "-l", str(path)], env=env, capture_output=True, text=True, check=False).stdout
    return shown[:_LONGEST]


def read_small_texts() -> Iterator[Text]:
    """The mails, minutes, forms and lists that the tests hold, each behind a line of equals signs."""
    for path in sorted(PLAIN.glob("*.txt")):
        for number, text in enumerate(path.read_text(encoding="utf-8").split("\n=====\n")):
            yield f"{path.stem} {number}", text.strip("\n") + "\n"


def count_transcripts(texts: Sequence[Text], others: Sequence[Text] = ()) -> dict[str, list[str]]:
    """The texts that are called transcripts, with who speaks in them: each alone, or all in one corpus with others."""
    talks = {name: observe_talk(read_blocks(text).text) for name, text in (*texts, *others)}
    names = {name for name, _ in texts}
    if not others:
        return {name: sorted(found) for name in sorted(names) if (found := find_speakers(talks[name]))}
    known, works = find_corpus_speakers(talks)
    return {name: sorted(known & talks[name].counts.keys()) for name in sorted(works & names)}


# ── what was attributed before ───────────────────────────────────────────────────────────────────────────────────────


def load_rows(folder: Path, joined: bool = False) -> list[dict[str, str]]:
    """The documents of a measuring set: `work` and `text`; `joined`, the segments of a meeting are one document."""
    lines = (json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines())
    rows = [(r["metadata"]["meeting"] if joined else r["_id"], r["title"], r["text"]) for r in lines]
    if joined:
        held: dict[str, list[str]] = {}
        for name, _, text in rows:
            held.setdefault(name, []).append(text)
        return [{"work": name, "text": "\n".join(texts)} for name, texts in held.items()]
    return [{"work": title or name, "text": text} for name, title, text in rows]


def compare(name: str, rows: Sequence[Mapping[str, str]], before: Path) -> None:
    """Prints transcripts, turns and attributed sentences, now and in the other checkout."""
    read = [read_blocks(row["text"]).text for row in rows]
    places = [[(a + b) // 2 for a, b in split_sentences(text)] for text in read]
    sent = [{**row, "places": p} for row, p in zip(rows, places, strict=True)]
    env = os.environ | {"PYTHONPATH": str(before / "src")}
    run = subprocess.run(
        [sys.executable, "-c", _BEFORE], env=env, input=json.dumps(sent), capture_output=True, text=True, check=True
    )
    then = json.loads(run.stdout)
    talks: dict[str, list[str]] = {}
    for row, text in zip(rows, read, strict=True):
        talks.setdefault(row["work"], []).append(text)
    known, works = find_corpus_speakers({w: add_talks(map(observe_talk, texts)) for w, texts in talks.items()})
    names = {key: key for key in known}
    turns, same, spoken = 0, Counter[bool](), 0
    held = 0
    for row, text, spots, old in zip(rows, read, places, then["said"], strict=True):
        now = read_turns(text, names if row["work"] in works else {})
        turns += sum(map(bool, now.names))
        held += any(now.names)
        for place, who in zip(spots, old["who"], strict=True):
            spoken += bool(now.at(place))
            if who:
                same[now.at(place) == who] += 1
    was = sum(old["turns"] for old in then["said"])
    said = sum(same.values())
    print(
        f"{name}: {len(rows)} documents, {held} with turns (before: {then['own']} that show a speaker by themselves); "
        f"turns {turns:,} of {was:,} ({turns / was:.1%}); of {said:,} sentences attributed before "
        f"{same[True] / said:.1%} to the same speaker; {spoken:,} attributed now"
    )


# ── a made company ───────────────────────────────────────────────────────────────────────────────────────────────────


def read_company(path: Path) -> dict[str, list[Text]]:
    """The documents of a file that holds them as `D`, in four forms."""
    held = runpy.run_path(str(path))["D"]
    front = [
        (f"{name}.md", f"---\ntitle: {title}\ndate: {date}\nkind: {kind}\n---\n\n{text}\n")
        for name, (date, kind, title, text) in held.items()
    ]
    plain = [(name, f"{title}\n\n{text}\n") for name, (_, _, title, text) in held.items()]
    return {
        "with front matter": front,
        "plain": plain,
        "fields as lines": [
            (name, f"Title: {title}\nDate: {date}\nKind: {kind}\n\n{text}\n")
            for name, (date, kind, title, text) in held.items()
        ],
        "wrapped at 72": [(name, "\n\n".join(map(textwrap.fill, text.split("\n\n")))) for name, text in plain],
    }


def read_offline(texts: Iterable[Text]) -> tuple[list[str], int]:
    """The speakers that the offline engine finds, and how many descriptions open with the name of one."""
    documents = []
    for name, text in texts:
        body = read_blocks(text).text
        documents.append((Chunk(name, name, 0, len(body), 0, body, name),))
    seen = observe_documents(documents)
    told, known = survey_documents(seen)
    names = sorted(read_entries(known).speakers.values())
    found = [e for xs in read_documents(list(zip(documents, seen, told, strict=True))) for x in xs for e in x.entities]
    return names, sum(e.description.startswith(tuple(f"{name}: " for name in names)) for e in found)


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the measuring sets")
    parser.add_argument("--before", type=Path, help="a checkout to compare with")
    parser.add_argument("--company", type=Path, help="the file of the made company")
    parser.add_argument("--list", action="store_true", help="name every text that was looked at")
    given = parser.parse_args()
    talk = []
    if given.data:
        talk = [(f"{name} {r['work']}", r["text"]) for name in SETS for r in load_rows(given.data / name)]
    for title, texts in (("texts of this machine", list(collect_texts())), ("small texts", list(read_small_texts()))):
        kinds = Counter(name.split(" ")[0] for name, _ in texts)
        print(f"{title}: {len(texts)} ({', '.join(f'{n} {kind}' for kind, n in sorted(kinds.items()))})")
        if given.list:
            print(*(f"    {name}" for name, _ in texts), sep="\n")
        for how, others in (("each alone", []), ("in one corpus with chats and meetings", talk)):
            if others or how == "each alone":
                wrong = count_transcripts(texts, others)
                print(
                    f"  {how}: {len(wrong)} called transcripts", *(f"    {n}: {w}" for n, w in wrong.items()), sep="\n"
                )
    if given.company:
        for form, texts in read_company(given.company).items():
            names, described = read_offline(texts)
            print(f"company {form}: {len(names)} speakers {names}, {described} descriptions under one's name")
    if given.before and given.data:
        for name in SETS:
            compare(name, load_rows(given.data / name), given.before)
        compare("qmsum by meeting", load_rows(given.data / "qmsum", joined=True), given.before)


if __name__ == "__main__":
    main()
