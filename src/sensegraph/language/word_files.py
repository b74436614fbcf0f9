"""The word lists of the offline engine, read once from the package's own text files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType


@cache
def sections(name: str) -> Mapping[str, frozenset[str]]:
    """The lists of the file `name`: section → words, "_" read as a blank; lines with "#" are remarks."""
    lists: dict[str, set[str]] = {}
    current: set[str] = set()
    for line in (files(__package__) / "lexicons" / f"{name}.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            current = lists.setdefault(line.strip("[] "), set())
        elif not line.startswith("#"):
            current.update(w.replace("_", " ") for w in line.split())
    return MappingProxyType({k: frozenset(v) for k, v in lists.items()})


def english(section: str) -> frozenset[str]:
    """One list of the English file."""
    return sections("english")[section]


@cache
def never_names() -> frozenset[str]:
    """Words that neither begin, end nor make up a name in English text, whatever their capitals."""
    lists = sections("english")
    return lists["stop"] | lists["discourse"] | lists["discourse-more"]


@cache
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a document's language; of a language without a list, those of English and German."""
    if language == "en":
        return never_names()
    if language == "de":
        return sections("german")["stop"]
    return never_names() | sections("german")["stop"]


@cache
def connectors(language: str) -> frozenset[str]:
    """Lower-case words that may stand inside a name."""
    return sections("german")["connectors"] if language == "de" else english("connectors")
