"""A small corpus whose facts change: officeholders, capitals, tolls, memberships, one of them disputed."""

from __future__ import annotations

from pathlib import Path

from sensegraph.corpus.corpus import Corpus

DATA = Path(__file__).parent / "data" / "officeholders" / "documents.jsonl"
FUNCTIONAL = ["chief executive of", "capital of", "mayor of", "toll of", "director of"]
PARTS = ["graph", "reports", "concepts", "names", "relations", "facts", "sentences", "aggregates", "layers", "tree"]


def officeholders(folder: Path, *, parts: list[str] | None = None, functional: list[str] | None = None) -> Corpus:
    """The corpus, built offline."""
    temporal = {"functional": FUNCTIONAL if functional is None else functional}
    index = {"temporal": temporal, **({"parts": parts} if parts else {})}
    corpus = Corpus.open(folder, settings={"index": index})
    corpus.add(DATA)
    corpus.build()
    return corpus
