"""What single rules find in many small examples, all of it as it is: one file for each package in tests/data/rules.

A line is an example: which rule (a function of the package, or one of tests/rules.py), what it is given, and what it
finds. Where a rule was meant to change, `python tests/rule_examples.py` writes what is found again, so that every
change shows; a new example is a line without "found".
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

HOMES = {  # where rules of tests stand
    "": "rules", "said": "rules_of_language", "outline": "rules_of_outlines", "answer": "rules_of_answers",
    "names": "rules_of_names", "file": "rules_of_files", "image": "rules_of_images", "method": "rules_of_methods",
    "model": "rules_of_models", "graph": "rules_of_graphs", "algorithm": "rules_of_algorithms",
    "questions": "rules_of_questions", "pictures": "rules_of_pictures", "lab": "rules_of_lab",
    "arrays": "rules_of_arrays", "index": "rules_of_indexes", "command": "rules_of_commands",
    "reply": "rules_of_replies", "engine": "rules_of_engines", "walk": "rules_of_walks",
    "report": "rules_of_reports", "reading": "rules_of_reading", "part": "rules_of_answer_parts",
    "offline": "rules_of_offline_answers", "task": "rules_of_llm_tasks", "way": "offline_examples",
}  # fmt: skip
PINNED = Path(__file__).parent / "data" / "rules"


@cache
def read_examples(package: str) -> dict[str, list[dict[str, Any]]]:
    """The examples of a package by the rule that they are of."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in (PINNED / f"{package}.jsonl").read_text(encoding="utf-8").strip().split("\n"):
        example = json.loads(line)
        found.setdefault(example["of"], []).append(example)
    return found


def find_rule(name: str) -> Callable[..., Any]:
    """The function of a rule: of one of the modules beside this one, else of the package."""
    module, _, function = name.rpartition(":")
    home = HOMES.get(module, f"sensegraph.{module}")
    return getattr(import_module(home), function)  # type: ignore[no-any-return]


def show_found(value: Any) -> Any:
    """What a rule finds as JSON has it; fractions to nine places."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, set | frozenset):
        return sorted(map(show_found, value))
    if isinstance(value, dict):
        return [[show_found(k), show_found(v)] for k, v in value.items()]
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, msgspec.Struct):
        return show_found(list(msgspec.structs.asdict(value).values()))
    if hasattr(value, "__dataclass_fields__"):
        return show_found([getattr(value, name) for name in value.__dataclass_fields__])
    return [show_found(one) for one in value]


def run_rule(example: dict[str, Any]) -> Any:
    """What the rule of an example finds."""
    return show_found(find_rule(example["of"])(*example["given"]))


def write_examples(package: str) -> None:
    """Write a file of examples again with what is found now."""
    rows = [row | {"found": run_rule(row)} for rows in read_examples(package).values() for row in rows]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (PINNED / f"{package}.jsonl").write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for path in sorted(PINNED.glob("*.jsonl")):
        write_examples(path.stem)
