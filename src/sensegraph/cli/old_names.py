"""Names that commands and options had before: each goes on working, with one line on stderr that says the new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

COMMANDS: Mapping[str, str] = MappingProxyType({
    "presets": "config presets",
    "tune-prompts": "tune prompts",
    "watch": "index --watch",
    "estimate": "index --dry-run",
    "personal": "documents pii",
    "remove": "documents remove",
    "collect": "documents purge",
    "reports": "show reports",
    "entity": "show entity",
    "timeline": "show timeline",
    "changes": "show changes",
    "methods": "show methods",
    "match": "graph query",
    "draw": "graph draw",
    "import": "graph import",
    "export": "graph export",
    "resolve": "entities duplicates",
    "merge": "entities merge",
    "split": "entities split",
    "rename": "entities rename",
    "forbid": "entities keep-apart",
    "undo": "entities undo",
    "operations": "entities log",
    "evaluate": "eval",
    "repro": "eval papers",
    "tune evaluate": "tune eval",
    "tune factorial": "tune compare",
    "tune world": "tune sample",
})  # fmt: skip
"""The words that began a command, and those that begin it now."""

OPTIONS: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "index": {"--plan": "--dry-run"},
    "search": {"--top": "--limit"},
    "show reports": {"--top": "--limit"},
    "show report": {"--top": "--limit"},
    "show entity": {"--top": "--limit"},
    "entities show": {"--top": "--limit"},
    "entities duplicates": {"--top": "--limit"},
    "graph draw": {"--top": "--limit"},
    "eval run": {"--estimate": "--dry-run"},
    "eval questions": {"--estimate": "--dry-run"},
    "eval retrieval": {"--top": "--cutoffs"},
    "eval papers": {"--questions": "--limit"},
})  # fmt: skip
"""Of a command of now: the options that had another name."""


def replace_old_names(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a command line with the names of now, and a message for each that was another."""
    found, messages = list(words), list[str]()
    for length in (2, 1):
        old = " ".join(found[:length])
        if new := COMMANDS.get(old):
            found[:length] = new.split()
            messages.append(f"`sensegraph {old}` is now `sensegraph {new}`; the old name goes with version 0.3.")
            break
    plan = found[:1] == ["eval"] and len(found) > 1 and found[1].endswith(".toml")  # `eval PLAN.toml`: of `eval run`
    place = next((p for p in (" ".join(found[:2]), "eval run" * plan, *found[:1]) if p in OPTIONS), "")
    end = found.index("--") if "--" in found else len(found)
    for i in range(end):
        name, equals, value = found[i].partition("=")
        if new := OPTIONS.get(place, {}).get(name):
            found[i] = new + equals + value
            messages.append(f"`{name}` of `sensegraph {place}` is now `{new}`; the old name goes with version 0.3.")
    return found, messages
