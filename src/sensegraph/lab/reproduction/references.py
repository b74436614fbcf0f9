"""Entity references by the size of chunks and the rounds of gleaning (edge2024, Figure 3; G08)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from sensegraph.documents import load
from sensegraph.index.index import Index
from sensegraph.language.text import count_tokens
from sensegraph.types import Document

LEAST = 9_600
"""Tokens of a joined text at least: four of the largest chunks."""


def join_documents(file: Path) -> list[Document]:
    """The texts of a corpus, joined in their order to texts of at least 9,600 tokens (the last may be shorter).

    Paragraphs shorter than a chunk would be the same chunks at every size.
    """
    found: list[Document] = []
    held: list[Document] = []
    tokens = 0
    for document in (every := load([file]).documents):
        held.append(document)
        tokens += count_tokens(document.text)
        if tokens >= LEAST or document is every[-1]:
            text = "\n\n".join(f"{d.title}\n\n{d.text}" if d.title else d.text for d in held)
            found.append(replace(held[0], title="", text=text))
            held, tokens = [], 0
    return found


def vary_extraction(sizes: Sequence[str], rounds: Sequence[str]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Every size of chunks with every number of gleanings, and the settings that make it so."""
    for size, n in product(sizes, rounds):
        index = {"chunk_tokens": int(size), "chunk_overlap": 100, "resolve": {"automatic": False}}
        yield size, n, {"index": index, "model": {"max_gleanings": int(n), "gleaning": "check"}}


def count_references(index: Index) -> float:
    """In how many chunks an entity was found, over all entities."""
    return float(sum(len(e.chunks) for e in index.graph.entities))
