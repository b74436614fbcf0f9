"""Rules of the outline that are given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sensegraph.language.transcripts import Talk
from sensegraph.retrieval.outline import forms, notes, phrases
from sensegraph.types import Chunk


def read(text: str) -> list[Any]:
    """The phrases, the words and the parts of speech of an English sentence."""
    found, words, letters = notes.read_english(notes._TOKEN.findall(text))
    return [found, sorted(words), letters]


def find_sayers(text: str) -> list[str]:
    """Who a text names as saying something."""
    return list(notes.find_sayers(text))


def note(title: str, *texts: str) -> list[Any]:
    """What a document of these chunks adds, each of which begins where the one before it ends."""
    starts = [sum(map(len, texts[:i])) for i in range(len(texts))]
    places = zip(starts, texts, strict=True)
    chunks = tuple(Chunk(f"c{i}", "d", a, a + len(t), 0, t, title) for i, (a, t) in enumerate(places))
    (one,) = notes.note_documents.fn([chunks])
    lines = [[line.chunk, line.start, line.end, len(line.marks), line.worth] for line in one.lines]
    return [
        one.title, one.titled, one.language, lines, one.phrases, one.words, one.size, one.spoken, one.labels,
        one.says, one.heads,
    ]  # fmt: skip


def find_people(names: dict[str, Sequence[int]], says: dict[str, int], documents: int = 3) -> list[Any]:
    """Who a story is about, by the lines in each of some documents that hold each name."""
    lines = tuple(notes.Line(0, 10 * i, 10 * i + 9, (), 1.0) for i in range(99))
    held = {name: tuple(places) for name, places in names.items()}
    one = [
        notes.Noted(f"t{i}", (), "en", ("c",), lines, held, {}, 9, 0, Talk(), (), says, ()) for i in range(documents)
    ]
    return [[p.label, len(p.spots)] for p in forms.find_people(phrases.Gathered(one))]
