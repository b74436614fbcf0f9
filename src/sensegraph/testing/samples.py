"""A few documents, as values that the contracts hand over."""

from __future__ import annotations

from itertools import combinations

from sensegraph.language.sentences import split_sentences
from sensegraph.types import Brief, Chunk, Context, Description, Document, Inquiry, Passage, Source

QUESTION = "Who keeps the lighthouse of Skerry Point?"
SAMPLE = (
    Document("keeper", "Ada Finch keeps the lighthouse of Skerry Point. She wrote to the Harbour Board in March."),
    Document("board", "The Harbour Board met in Port Ellery. Tom Reeve asked the Harbour Board to pay Ada Finch."),
    Document("storm", "In April a storm broke the lamp of Skerry Point. Tom Reeve sailed there from Port Ellery."),
)
_MEMBERS = {"Ada Finch": "person", "Harbour Board": "organization", "Port Ellery": "place", "Tom Reeve": "person"}


def sample_chunks() -> tuple[Chunk, ...]:
    """One chunk for each of the sample documents."""
    return tuple(Chunk(f"{d.id}-0", d.id, 0, len(d.text), len(d.text.split()), d.text, d.title) for d in SAMPLE)


def sample_context() -> Context:
    """The sample as passages that may be cited, with their sources and quotes."""
    passages = [
        Passage("chunk", c.id, c.text, 1.0, c.document, (Source(c.id, 0, len(c.text)),), documents=1)
        for c in sample_chunks()
    ]
    return Context(tuple(passages), "Skerry Point")


def sample_inquiry() -> Inquiry:
    """The question about the sample."""
    return Inquiry(QUESTION, sample_context(), len(SAMPLE))


def sample_brief(words: int = 0) -> Brief:
    """A group of the sample's names, by falling degree, then the relations among them, all with their quotes."""
    members = [
        Passage("entity", f"e-{name}", _join_sentences(said), float(len(said)), name, quotes=said, documents=len(said))
        for name in _MEMBERS
        for said in [_find_sentences(name)]
    ]
    members.sort(key=lambda p: (-p.score, p.id))
    relations = [
        Passage("relation", f"r-{a}-{b}", _join_sentences(said), float(len(said)), f"{a} — {b}", quotes=said)
        for a, b in combinations(_MEMBERS, 2)
        if (said := _find_sentences(a, b))
    ]
    types = (*(_MEMBERS[p.title] for p in members), *("" for _ in relations))
    return Brief(Context((*members, *relations), "Port Ellery"), words, types)


def sample_link(words: int = 40) -> Brief:
    """Two groups of the sample's names, described, and the relations between their members."""
    brief = sample_brief(words)
    people = [p for p, kind in zip(brief.context.passages, brief.types, strict=True) if kind == "person"]
    others = [p for p, kind in zip(brief.context.passages, brief.types, strict=True) if kind not in ("person", "")]
    groups = [
        Passage(
            "report", f"g-{name}", f"{name} of Port Ellery.", 1.0, name, quotes=tuple(q for p in own for q in p.quotes)
        )
        for name, own in (("Those who ask", people), ("Those who are asked", others))
    ]
    inside = {p.title for p in people}
    relations = (p for p in brief.context.passages if p.kind == "relation")
    passages = (*groups, *(p for p in relations if len(inside & set(p.title.split(" — "))) == 1))
    return Brief(Context(passages, "Those who ask — Those who are asked"), words, ("",) * len(passages))


def _find_sentences(*names: str) -> tuple[Description, ...]:
    """The sentences of the sample that hold all these names."""
    return tuple(
        Description(c.text[a:b], Source(c.id, a, b))
        for c in sample_chunks()
        for a, b in split_sentences(c.text)
        if all(name in c.text[a:b] for name in names)
    )


def _join_sentences(said: tuple[Description, ...]) -> str:
    return " ".join(d.text for d in said)
