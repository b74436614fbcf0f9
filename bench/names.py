"""Figures of the names that the offline engine finds: `python bench/names.py [--data DIR] [--only PART]`.

types: redocred, documents at odd positions; how many of the gold names found are called a person, a place or an
organization, and how many of these rightly. case: the same corpus as it is, in lower case and in capitals; names alone
(no times, no numbers). languages: questions of xquad-en whose answer is a name; whether the parallel answer is a name
of the parallel passage. pages: 100 names with a type, drawn with a fixed seed from the man pages and licences of this
machine, against the verdicts of a reader (`name_types.tsv`); `--write FILE` writes them with their sentences instead.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from offline_extraction import (
    GOLD_TYPES,
    OTHER,
    Half,
    Score,
    extracted,
    gold_spans,
    lines,
    score,
    summed,
    trimmed,
    whole,
)
from sensegraph.engines.offline.extraction.corpus_reading import VALUE_TYPES
from sensegraph.language.text import fold
from sensegraph.language.word_lists import ENGLISH_MONTHS
from sensegraph.types import Chunk, Extraction

VERDICTS = Path(__file__).with_name("name_types.tsv")
TYPED = ("person", "place", "organization")
MAN, LICENCES = Path("/usr/share/man"), Path("/usr/share/common-licenses")
PAGES, DRAWN, SEED = 240, 100, 20
LANGUAGES = ("en", "de", "zh")
_WORD = re.compile(r"[^\W\d_][\w’'.-]*")
_SMALL = frozenset("the of a an and in to for on at by".split())
_ARTICLE = re.compile(r"^(?:the|a|an|der|die|das|dem|den|des|ein|eine|einer) ", re.IGNORECASE)


def show_types(data: Path) -> None:
    """Prints how many names of redocred have a type, how many of these are right, and what reading is worth."""
    records = lines(data / "redocred" / "docs.dev.jsonl")
    found, _, _ = extracted([whole(r) for r in records], values=True)
    half = Half()
    for record, x in list(zip(records, found, strict=True))[1::2]:
        score(half, record, x)
    total = sum(half.types.values())
    typed = {pair: n for pair, n in half.types.items() if pair[1] != "other"}
    right = sum(n for (gold, ours), n in typed.items() if GOLD_TYPES[gold] == ours)
    share, said = 100 * sum(typed.values()) / total, 100 * right / sum(typed.values())
    print(f"types: typed {share:.1f} % of the gold names found, right {said:.1f} % of them")
    for ours in TYPED:
        print(f"  {ours:12} { ({kind: typed.get((kind, ours), 0) for kind in GOLD_TYPES}) }")
    entities, covered, pairs = summed(half.entities), summed(half.covered), summed(half.pairs)
    print(f"  mentions {summed(half.mentions)}")
    precision, recall = entities.right / entities.found, covered.right / covered.gold
    print(f"  entities F1 {200 * precision * recall / (precision + recall):5.1f}")
    print(f"  gold pairs {100 * pairs.right / pairs.gold:.1f} %, precision {100 * pairs.right / pairs.found:.1f} %")


def show_case(data: Path) -> None:
    """Prints how well names are found in redocred as it is, in lower case, and in capitals."""
    records = lines(data / "redocred" / "docs.dev.jsonl")
    for name, change in (("as it is", str), ("lower case", lower_letters), ("capitals", raise_letters)):
        changed = [{**r, "text": change(r["text"]), "title": change(r["title"])} for r in records]
        found, seconds, _ = extracted([whole(r) for r in changed])
        score, hits = Score(), Counter[tuple[str, bool]]()
        for record, x in list(zip(changed, found, strict=True))[1::2]:
            gold = {s: kind for s, (_, kind) in gold_spans(record).items() if kind in GOLD_TYPES}
            ours = {
                trimmed(record["text"], m.start, m.end)
                for e in x.entities
                if e.type != "concept" and e.type not in VALUE_TYPES
                for m in e.mentions
            }
            score += Score(len(ours & gold.keys()), len(ours), len(gold))
            hits.update((kind, s in ours) for s, kind in gold.items())
        recall = {k: round(100 * hits[k, True] / (hits[k, True] + hits[k, False])) for k in GOLD_TYPES}
        print(f"names, {name:10}  {score}  recall {recall}  {sum(seconds):.1f} s of CPU")


def lower_letters(text: str) -> str:
    """The text in lower case, of the same length."""
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)


def raise_letters(text: str) -> str:
    """The text in capitals, of the same length."""
    return "".join(up if len(up := c.upper()) == 1 else c for c in text)


def find_parallel_answers(data: Path) -> tuple[list[tuple[int, dict[str, str]]], dict[str, list[dict[str, Any]]]]:
    """The passages of each language, and for each question that a name answers its passage and its answers."""
    asked = {code: {q["_id"]: q for q in lines(data / f"xquad-{code}" / "queries.jsonl")} for code in LANGUAGES}
    passages = {code: lines(data / f"xquad-{code}" / "corpus.jsonl") for code in LANGUAGES}
    place = {p["_id"]: i for i, p in enumerate(passages["en"])}
    judged = [row.split("\t") for row in (data / "xquad-en" / "qrels" / "dev.tsv").read_text("utf-8").splitlines()]
    held = {row[0]: place[row[1]] for row in judged if row[1] in place}
    found = []
    for id, question in asked["en"].items():
        answers = {code: asked[code][id]["metadata"]["answer"][0] for code in LANGUAGES if id in asked[code]}
        text = passages["en"][held[id]]["text"] if id in held else ""
        if len(answers) == len(LANGUAGES) and text and is_name_inside(question["metadata"]["answer"][0], text):
            found.append((held[id], answers))
    return found, passages


def is_name_inside(answer: str, text: str) -> bool:
    """Whether an answer is written as a name somewhere inside a sentence of the text."""
    words = _WORD.findall(answer)
    if not 0 < len(words) <= 5 or re.search(r"\d", answer) or {w.lower() for w in words} & set(ENGLISH_MONTHS):
        return False
    capitals = [w[0].isupper() for w in words]
    if not any(capitals) or not all(up or w.lower() in _SMALL for w, up in zip(words, capitals, strict=True)):
        return False
    bare = re.escape(_ARTICLE.sub("", answer))
    inside = re.search(r"(?<=[\w,;(“\"] )" + re.escape(answer), text)
    return bool(inside or re.search(r"[a-z,] [“\"(]?" + bare, text))


def show_languages(data: Path) -> None:
    """Prints in how many of the parallel passages the parallel name is found."""
    questions, passages = find_parallel_answers(data)
    ways = [(language, "rules") for language in LANGUAGES]
    for language, way in [*ways, ("zh", "jieba")] if find_spec("jieba") else ways:
        found, seconds, _ = extracted([whole(r) for r in passages[language]], segmenter=way)
        names = [
            {fold_answer(e.name) for e in x.entities if e.type not in OTHER - {"other", "event", "work"}} for x in found
        ]
        exact = near = 0
        for place, answers in questions:
            answer = fold_answer(answers[language])
            exact += answer in names[place]
            near += any(answer in n or (n in answer and len(n) >= max(2, len(answer) // 2)) for n in names[place])
        print(
            f"xquad-{language}, {way}: {len(questions)} names, exact {100 * exact / len(questions):.1f} %, "
            f"overlap {100 * near / len(questions):.1f} %, names a passage {sum(map(len, names)) / len(names):.1f}, "
            f"{sum(seconds):.1f} s of CPU"
        )


def fold_answer(text: str) -> str:
    """An answer or a name without article and marks, as it is compared."""
    return fold(_ARTICLE.sub("", text.strip(' .,"“”„«»《》')))


def read_pages() -> Iterator[dict[str, str]]:
    """Man pages drawn with a fixed seed, one of each family of commands, as plain text; and the licences."""
    listed = sorted(p for p in MAN.glob("man*/*.gz") if not p.is_symlink())
    random.Random(SEED).shuffle(listed)
    families = {re.split(r"[^a-z0-9]", path.name.lower())[0]: path for path in listed}  # one page of each
    for path in sorted(list(families.values())[:PAGES]):
        roff = gzip.decompress(path.read_bytes())
        if roff.startswith(b".so "):
            continue
        shown = subprocess.run(
            ["groff", "-mandoc", "-Tutf8", "-P-c", "-P-b", "-P-u", "-k"], input=roff, capture_output=True, check=False
        )
        yield {"_id": path.name.removesuffix(".gz"), "text": shown.stdout.decode("utf-8", "replace")}
    for path in sorted(p for p in LICENCES.iterdir() if p.is_file() and not p.is_symlink()):
        yield {"_id": path.name, "text": path.read_text("utf-8", "replace")}


def draw_typed_names(found: Sequence[Extraction], documents: Sequence[tuple[Chunk, ...]]) -> list[tuple[str, str, str]]:
    """Names with their types and one place where they stand, `DRAWN` of them, in the order of the alphabet."""
    shown: dict[tuple[str, str], str] = {}
    every: set[str] = set()
    for (chunk,), x in zip(documents, found, strict=True):
        for e in (e for e in x.entities if e.type != "concept"):
            every.add(fold(e.name))
            if e.type in TYPED:
                shown.setdefault((e.name, e.type), f"{chunk.id}: {' '.join(e.description.split())[:160]}")
    print(f"pages: {len(documents)} pages, {len(every)} names, {len(shown)} typed: {Counter(t for _, t in shown)}")
    drawn = random.Random(SEED).sample(sorted(shown), min(DRAWN, len(shown)))
    return [(name, kind, shown[name, kind]) for name, kind in sorted(drawn)]


def show_pages(write: Path | None) -> None:
    """Prints how many of the names drawn are right by the verdicts, or writes them for a reader."""
    documents = [whole(r) for r in read_pages()]
    found, _, _ = extracted(documents)
    drawn = draw_typed_names(found, documents)
    verdicts = (
        {(n, t): v for n, t, v, *_ in (row.split("\t") for row in VERDICTS.read_text("utf-8").splitlines()[1:])}
        if VERDICTS.exists()
        else {}
    )
    if write:
        rows = [f"{n}\t{t}\t{verdicts.get((n, t), '?')}\t{where}" for n, t, where in drawn]
        write.write_text("\n".join(["name\ttype\tverdict\twhere", *rows, ""]), "utf-8")
        return
    said = Counter(verdicts.get((n, t), "not read") for n, t, _ in drawn)
    print(f"  of {len(drawn)} drawn with a type: {dict(sorted(said.items()))}")


def main() -> None:
    """Parses the arguments and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--only", default="", choices=["", "types", "case", "languages", "pages"])
    parser.add_argument("--write", type=Path, default=None, help="where to write the names drawn, for a reader")
    chosen = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "types": lambda: show_types(chosen.data),
        "case": lambda: show_case(chosen.data),
        "languages": lambda: show_languages(chosen.data),
        "pages": lambda: show_pages(chosen.write),
    }
    for name, show in parts.items():
        if chosen.only in ("", name):
            show()


if __name__ == "__main__":
    main()
