"""How many dates the rules find, and whether they begin or end what the text says: on ReDocRED's dated relations.

Ground truth: spans of times in the text, and relations to them (start time, end time, point in time, and others that
begin or end). `python bench/dates.py [--data DIR]`; also prints the speed. Figures are of the development half.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sensegraph.language.dates.moments import are_same_moment, find_atoms
from sensegraph.language.dates.stated_dates import stated_in
from sensegraph.language.sentences import split_sentences

BEGINS = {"P580": "start time", "P571": "inception", "P569": "date of birth", "P577": "publication date"}
ENDS = {"P582": "end time", "P570": "date of death", "P576": "dissolved"}
POINT = {"P585": "point in time"}


def documents(data: Path) -> Iterator[dict[str, Any]]:
    """ReDocRED's documents."""
    with (data / "redocred" / "docs.dev.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def spans(listed: list[dict[str, Any]]) -> Counter[str]:
    """How many times of the ground truth are found, and how many that were found are none."""
    count: Counter[str] = Counter()
    for d in listed:
        found = [(a.start, a.end, a.first) for a in find_atoms(d["text"])]
        truth = [(m["start"], m["end"]) for e in d["entities"] if e["type"] == "TIME" for m in e["mentions"]]
        count["true"] += len(truth)
        count["true with a year"] += sum(any(c.isdigit() for c in d["text"][s:e]) and e - s > 3 for s, e in truth)
        count["hit"] += sum(any(s < b and a < e for a, b, _ in found) for s, e in truth)
        count["found"] += len(found)
        count["right"] += sum(any(s < b and a < e for s, e in truth) for a, b, _ in found)
        count["unread"] += sum(not first for _, _, first in found)
    return count


def relations(listed: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """For every kind of dated relation how often the sentence's interval begins, or ends, at its time."""
    count: dict[str, Counter[str]] = {}
    for d in listed:
        entities = {e["id"]: e for e in d["entities"]}
        places = split_sentences(d["text"])
        for r in d["relations"]:
            kind = {**BEGINS, **ENDS, **POINT}.get(r["pid"])
            told = [m for m in entities[r["tail"]]["mentions"] if m["sent"] in r["evidence"]]
            if kind and told:
                count.setdefault(kind, Counter()).update(_told(d["text"], places, told[0], r["pid"]))
    return count


def _told(text: str, places: list[tuple[int, int]], mention: dict[str, Any], pid: str) -> list[str]:
    value = next((a for a in find_atoms(mention["text"]) if a.first), None)
    place = next(((a, b) for a, b in places if a <= mention["start"] < b), None)
    if value is None or place is None:
        return ["all", "no date"]
    found = stated_in(text[place[0] : place[1]])
    begins, ends = are_same_moment(found.first, value.first), are_same_moment(found.last, value.last)
    right = begins if pid in BEGINS else ends if pid in ENDS else begins and ends
    within = bool(found.first or found.last)
    return ["all", *(["right"] if right else []), *(["dated"] if within else [])]


def main() -> None:
    """Print both tables and the speed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    listed = list(documents(parser.parse_args().data))
    n = spans(listed)
    print(f"{len(listed)} documents, {n['true']} times in the ground truth")
    print(f"found {n['hit'] / n['true']:.3f} of them; {n['right'] / n['found']:.3f} of {n['found']} found are times")
    print(f"{n['unread']} found have no value (relative, and these texts have no time)")
    for kind, c in sorted(relations(listed).items(), key=lambda x: -x[1]["all"]):
        shares = f"bound right {c['right'] / c['all']:.3f}  sentence dated {c['dated'] / c['all']:.3f}"
        print(f"{kind:<18}{c['all']:>6}  {shares}")
    texts = [d["text"] for d in listed]
    size, begin = sum(map(len, texts)), time.process_time()
    count = sum(bool(stated_in(t[a:b]).first) for t in texts for a, b in split_sentences(t))
    seconds = time.process_time() - begin
    print(f"{count} sentences begin something; {size / 1e6 / seconds:.2f} million characters a second")


if __name__ == "__main__":
    main()
