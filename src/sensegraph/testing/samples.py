"""A few documents, as values that the contracts hand over."""

from __future__ import annotations

from typing import get_args

from sensegraph.protocols import Task
from sensegraph.types import Chunk, Context, Document, Passage, Source

QUESTION = "Who keeps the lighthouse of Skerry Point?"
SAMPLE = (
    Document("keeper", "Ada Finch keeps the lighthouse of Skerry Point. She wrote to the Harbour Board in March."),
    Document("board", "The Harbour Board met in Port Ellery. Tom Reeve asked the Harbour Board to pay Ada Finch."),
    Document("storm", "In April a storm broke the lamp of Skerry Point. Tom Reeve sailed there from Port Ellery."),
)
TASKS = frozenset(get_args(Task))


def sample_chunks() -> tuple[Chunk, ...]:
    """One chunk for each of the sample documents."""
    return tuple(
        Chunk(f"{d.id}-0", d.id, 0, len(d.text), len(d.text.split()), d.text, d.title) for d in SAMPLE
    )  # fmt: skip


def sample_context() -> Context:
    """The sample as passages that may be cited, with their sources and quotes."""
    passages = [
        Passage("chunk", c.id, c.text, 1.0, c.document, (Source(c.id, 0, len(c.text)),), documents=1)
        for c in sample_chunks()
    ]
    return Context(tuple(passages), "Skerry Point")
