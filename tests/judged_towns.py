"""Small test collections: what tests of measuring share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TOWNS = ("Arle", "Brun", "Corv", "Dhal", "Esk", "Fenn")


def documents() -> list[dict[str, Any]]:
    """Two documents a town: one names its lamp keeper, one its ferry; each knows its shore."""
    found = []
    for i, town in enumerate(TOWNS):
        shore = "north" if i < 3 else "south"
        keeper = f"The keeper of {town} lights the great lamp at dusk and trims its wick."
        ferry = f"The ferry of {town} crosses the sound at noon with mail and barley."
        found += [
            {"_id": f"k{i}", "title": f"Keeper {i}", "text": keeper, "metadata": {"shore": shore}},
            {"_id": f"f{i}", "title": f"Ferry {i}", "text": ferry, "metadata": {"shore": shore}},
        ]
    return found


def queries() -> list[dict[str, Any]]:
    """A question on one document a town, one on two, an adversarial one, and one without judgements."""
    asked = [
        {"_id": f"q{i}", "text": f"Who lights the lamp of {town}?", "metadata": {"type": "one", "shore": "north"}}
        for i, town in enumerate(TOWNS[:3])
    ]
    both = {"_id": "q9", "text": "What do keeper and ferry of Esk do?", "metadata": {"type": "two", "shore": "south"}}
    never = {"_id": "qa", "text": "Who sank the moon?", "metadata": {"type": "adversarial"}}
    return [*asked, both, never, {"_id": "qn", "text": "Is it late?"}]


def qrels() -> list[tuple[str, str, int]]:
    return [("q0", "k0", 1), ("q1", "k1", 1), ("q2", "k2", 1), ("q9", "k4", 2), ("q9", "f4", 1), ("qa", "k0", 1)]


def written(
    folder: Path,
    docs: Sequence[Mapping[str, Any]] | None = None,
    asked: Sequence[Mapping[str, Any]] | None = None,
    judged: Sequence[tuple[str, str, Any]] | None = None,
    split: str = "dev",
) -> Path:
    """A test collection in `folder`; parts that are not given are the small ones of this module."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    for name, records in (("corpus", docs or documents()), ("queries", asked or queries())):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    rows = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in judged or qrels())]
    (folder / "qrels" / f"{split}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder
