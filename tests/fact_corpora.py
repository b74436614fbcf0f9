"""Little corpora for questions of fact: a tower, a bridge, who built it, and a talk."""

from __future__ import annotations

from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.source_sentences import read_source_sentences
from sensegraph.types import Passage, Source

TOWER = (
    "The Orl Tower was finished in 1911. It has 214 steps and two bells. Ada Rowe designed it, because the old tower "
    "had burnt down."
)
BRIDGE = "The Vell Bridge crosses the Mere at Sund. It was built by Tom Hale, who later lived in Orl."
HALE = "Tom Hale was born in Kessel in 1870. He kept bees."
Texts = list[tuple[str, str]]
ALLT: Texts = [("Orl Tower", TOWER), ("Vell Bridge", BRIDGE), ("Tom Hale", HALE)]
SPK: Texts = [
    ("Talk", "ADA ROWE: The tower is old.\n\nBO ISK: Yes, it is.\n\nADA ROWE: Is the bridge new?"),
    (
        "Old tower",
        "# Old tower\n\nIt was built in 1911 by Tom Hale, Ann Lee, Ned Cole, Joe Firth and Max Uhl. Nobody knows. "
        "Is it? 1911.",
    ),
]


def passages(texts: Texts, scores: list[float] | None = None) -> tuple[Passage, ...]:
    usual = [1 - i / 10 for i in range(len(texts))]
    return tuple(
        Passage("chunk", f"p{i}", text, score, title, (Source(f"{i:012}-0", 0, len(text)),))
        for i, ((title, text), score) in enumerate(zip(texts, scores or usual, strict=True))
    )


def asking(question: str, texts: Texts, scores: list[float] | None = None) -> Asked:
    chunks = passages(texts, scores)
    return Asked(question, chunks, tuple(read_source_sentences(chunks, "en")))
