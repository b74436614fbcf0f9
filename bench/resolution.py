"""Entity resolution by names: products, titles of papers, and what documents call one thing; one setting for all.

    python bench/resolution.py [--data DIR] [--sets er-abt-buy er-dblp-acm redocred growth] [--accept 0.85] [--wrong 0]

For two tables of records and their known matches, by names alone: precision, recall and F1 of the pairs across the
tables that are put in one group, first as a plain heap of names, then with each table as a list that names each thing
once. A pair counts as wrong where a known match has one of its names; pairs of names without a known match are not
judged. Beside them plain measures, each cut where it is best on this very set, over all candidates: token-set ratio,
TF-IDF cosine, Jaro-Winkler. The weights were fitted on these sets too; `bench/resolution_weights.py` measures them on
kinds of lists that they have not seen.

For documents with coreference: B³ of the names of each document, mentions weighing alike, with and without types; and
of all documents' names at once, judged within each document. `growth` times twice as many titles, again and again.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz
from rapidfuzz.distance import JaroWinkler

from sensegraph.algorithms.similar import similar_words
from sensegraph.language.text import fold, list_stems
from sensegraph.resolution import Mentioned, Resolution, Resolving, resolve
from sensegraph.resolution.comparison.scoring import prepare_collection
from sensegraph.resolution.judged_pairs import block_pairs

TABLES = {"er-abt-buy": "name", "er-dblp-acm": "title"}
SETS = (*TABLES, "redocred", "growth")
Pair = tuple[str, str]


@dataclass(frozen=True)
class Records:
    """Two tables as things to resolve, and their known matches."""

    items: list[Mentioned]
    matches: set[Pair]

    def known(self) -> set[str]:
        return {id for match in self.matches for id in match}


def records(folder: Path, column: str) -> Records:
    tables = {side: list(csv.DictReader((folder / f"{side}.csv").open())) for side in ("left", "right")}
    items = [
        Mentioned(f"{side}-{row['id']}", row[column], listed=side) for side, rows in tables.items() for row in rows
    ]
    rows = csv.DictReader((folder / "matches.csv").open())
    return Records(items, {(f"left-{r['left_id']}", f"right-{r['right_id']}") for r in rows})


def across(found: Resolution) -> set[Pair]:
    """Pairs of one group, one of either table."""
    pairs: set[Pair] = set()
    for group in found.groups:
        left = [m for m in group.members if m.startswith("left")]
        pairs.update((a, b) for a in left for b in group.members if b.startswith("right"))
    return pairs


def judged(pairs: Iterable[Pair], truth: Records) -> tuple[float, float, float, int]:
    """Precision, recall, F1 in percent, and how many pairs could not be judged."""
    known = truth.known()
    seen = set(pairs)
    told = {p for p in seen if p[0] in known or p[1] in known}
    right = len(told & truth.matches)
    precision, recall = right / max(1, len(told)), right / max(1, len(truth.matches))
    return 100 * precision, 100 * recall, 200 * precision * recall / max(1e-9, precision + recall), len(seen - told)


def line(label: str, figures: tuple[float, float, float, int], more: str = "") -> None:
    p, r, f, rest = figures
    print(f"  {label:<34} P {p:5.1f}  R {r:5.1f}  F1 {f:5.1f}   not judged {rest:>5,}   {more}", flush=True)


def tables(folder: Path, column: str, settings: Resolving, wrong: int) -> None:
    truth = records(folder, column)
    print(f"{folder.name}: {len(truth.items):,} names, {len(truth.matches):,} known matches")
    plain = [replace(item, listed="") for item in truth.items]
    for label, items in (("names alone", plain), ("names, each once in a table", truth.items)):
        begun = time.process_time()
        found = resolve(items, settings=settings)
        spent = time.process_time() - begun
        asked = sum(p.decision == "ask" for p in found.proposals)
        pairs = across(found)
        line(label, judged(pairs, truth), f"{spent:.1f} s CPU, {found.compared:,} compared, {asked:,} asked")
        shown(pairs, truth, wrong)
    for name, best in measure_baselines(truth, settings).items():
        print(f"  {name + ', cut where it is best':<34} {'':<15} F1 {best:5.1f}")


def shown(pairs: set[Pair], truth: Records, wrong: int) -> None:
    name, known = {item.id: item.name for item in truth.items}, truth.known()
    for a, b in sorted(p for p in pairs - truth.matches if p[0] in known or p[1] in known)[:wrong]:
        print(f"      wrong:  {name[a]} | {name[b]}")
    for a, b in sorted(truth.matches - pairs)[:wrong]:
        print(f"      missed: {name[a]} | {name[b]}")


def cut_best(pairs: Sequence[tuple[str, str]], alike: Sequence[float], truth: Records) -> float:
    """The best F1 that any cut of a measure reaches on these pairs, in percent."""
    known = truth.known()
    told = [(s, p in truth.matches) for s, p in zip(alike, pairs, strict=True) if p[0] in known or p[1] in known]
    told.sort(key=lambda pair: -pair[0])
    right, best = 0, 0.0
    for place, (score, match) in enumerate(told, 1):
        right += match
        if place == len(told) or told[place][0] != score:
            best = max(best, 200 * right / (place + len(truth.matches)))
    return best


def measure_baselines(truth: Records, settings: Resolving) -> dict[str, float]:
    items = sorted((replace(item, listed="") for item in truth.items), key=lambda item: item.id)
    near = block_pairs(prepare_collection(items, settings)).pairs
    alike = similar_words([list_stems(item.name) for item in items], 0.2, 30)
    ids = [item.id for item in items]
    rows = zip(alike.one.tolist(), alike.other.tolist(), alike.similarity.tolist(), strict=True)
    cosine = {(ids[a], ids[b]): s for a, b, s in rows}
    every = {*cosine, *((ids[a], ids[b]) for a, b in zip(near.one.tolist(), near.other.tolist(), strict=True))}
    pairs = sorted(p for p in every if p[0].startswith("left") and p[1].startswith("right"))
    name = {item.id: fold(item.name) for item in items}
    return {
        "token-set": cut_best(pairs, [fuzz.token_set_ratio(name[a], name[b]) for a, b in pairs], truth),
        "TF-IDF": cut_best(pairs, [cosine.get(pair, 0.0) for pair in pairs], truth),
        "Jaro-W.": cut_best(pairs, [JaroWinkler.similarity(name[a], name[b]) for a, b in pairs], truth),
    }


# ── documents with coreference ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Called:
    """A mention: its document, the text and type, and the thing that it truly is."""

    document: str
    text: str
    type: str
    truth: str


def mentions(path: Path) -> list[Called]:
    return [
        Called(document["id"], mention["text"], entity["type"], f"{document['id']} {entity['id']}")
        for document in map(json.loads, path.open())
        for entity in document["entities"]
        for mention in entity["mentions"]
    ]


def b_cubed(called: Sequence[Called], group: Sequence[Any]) -> tuple[float, float, float]:
    """B³ (Bagga and Baldwin 1998) of mentions put into groups, in percent, within each document."""
    both: dict[Any, int] = defaultdict(int)
    ours: dict[Any, int] = defaultdict(int)
    true: dict[Any, int] = defaultdict(int)
    for c, g in zip(called, group, strict=True):
        both[c.truth, g] += 1
        ours[c.document, g] += 1
        true[c.truth] += 1
    precision = sum(both[c.truth, g] / ours[c.document, g] for c, g in zip(called, group, strict=True)) / len(called)
    recall = sum(both[c.truth, g] / true[c.truth] for c, g in zip(called, group, strict=True)) / len(called)
    return 100 * precision, 100 * recall, 200 * precision * recall / (precision + recall)


def coreference(path: Path, settings: Resolving, wrong: int) -> None:
    called = mentions(path)
    print(f"redocred: {len(called):,} mentions of {len({c.truth for c in called}):,} things")
    for label, typed, apart in (
        ("each document, with types", True, True),
        ("each document, without types", False, True),
        ("all at once, with types", True, False),
    ):
        begun = time.process_time()
        group = resolved(called, settings, typed, apart)
        figures = b_cubed(called, group)
        print("  {:<34} P {:5.1f}  R {:5.1f}  B³ {:5.1f}".format(label, *figures), end="")
        print(f"   {time.process_time() - begun:.1f} s CPU", flush=True)
        if typed and apart:
            differences(called, group, wrong)
    for label, key in (
        ("equal folded names and types", lambda c: (fold(c.text), c.type)),
        ("one name, one thing", str),
    ):
        print("  {:<34} P {:5.1f}  R {:5.1f}  B³ {:5.1f}".format(label, *b_cubed(called, [key(c) for c in called])))


def resolved(called: Sequence[Called], settings: Resolving, typed: bool, apart: bool) -> list[str]:
    """The group of each mention: its names are resolved in each document by itself (`apart`), or all at once."""
    places: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    keys = [(c.document if apart else "", fold(c.text), c.type if typed else "") for c in called]
    text: dict[tuple[str, str, str], str] = {}
    for c, key in zip(called, keys, strict=True):
        places[key].append(c.document)
        text.setdefault(key, c.text)
    sets: dict[str, list[Mentioned]] = defaultdict(list)
    for key, where in places.items():
        item = Mentioned("\t".join(key), text[key], key[2], len(where), places=tuple(dict.fromkeys(where)))
        sets[key[0]].append(item)
    group: dict[str, str] = {}
    for items in sets.values():
        group.update((m, g.id) for g in resolve(items, settings=settings).groups for m in g.members)
    return [group["\t".join(key)] for key in keys]


def differences(called: Sequence[Called], group: Sequence[str], wrong: int) -> None:
    first: dict[str, tuple[Called, str]] = {}
    truth: dict[str, tuple[Called, str]] = {}
    lines = []
    for c, g in zip(called, group, strict=True):
        a, b = first.setdefault(g, (c, g)), truth.setdefault(c.truth, (c, g))
        if a[0].truth != c.truth:
            lines.append(f"      wrong:  {a[0].text} | {c.text}  ({c.type})")
        if b[1] != g:
            lines.append(f"      missed: {b[0].text} | {c.text}  ({c.type})")
    seen = sorted(set(lines))
    for each in seen[:: max(1, len(seen) // max(1, wrong))][:wrong]:
        print(each)


def growth(folder: Path, settings: Resolving) -> None:
    """CPU seconds for 5,000 names, and twice, four and eight times as many."""
    titles = [item.name for side in TABLES for item in records(folder / side, TABLES[side]).items]
    words = sorted({w for t in titles for w in t.split()})
    for times in (1, 2, 4, 8):
        items = [
            Mentioned(
                f"{n}-{i}",
                t if not n else f"{t} {words[(i * 31 + n) % len(words)]} {words[(i * 17 + n * 7919) % len(words)]}",
            )
            for n in range(times)
            for i, t in enumerate(titles)
        ]
        begun = time.process_time()
        found = resolve(items, settings=settings)
        spent = time.process_time() - begun
        print(
            f"growth: {len(items):>7,} names  {spent:6.1f} s CPU  {1e6 * spent / len(items):6.0f} µs a name  "
            f"{found.compared:>8,} compared",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--accept", type=float, default=Resolving().accept)
    parser.add_argument("--wrong", type=int, default=0, help="show so many wrong and missed pairs")
    args = parser.parse_args()
    settings = Resolving(accept=args.accept)
    for name in args.sets:
        if name in TABLES:
            tables(args.data / name, TABLES[name], settings, args.wrong)
        elif name == "redocred":
            coreference(args.data / name / "docs.dev.jsonl", settings, args.wrong)
        else:
            growth(args.data, settings)


if __name__ == "__main__":
    main()
