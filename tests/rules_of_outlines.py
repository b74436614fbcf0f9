"""Rules of the outline that are given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

import outline_examples
from sensegraph.index.manifest import DocumentEntry
from sensegraph.language.transcripts import Talk
from sensegraph.retrieval.outline import evidence, forms, notes, part, phrases, themes
from sensegraph.retrieval.outline.values import Outline, Sentence, Theme
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


def _outline(texts: Mapping[str, str], titles: Mapping[str, str] | None = None) -> list[Any]:
    """What the outline of some texts is in short: themes, the cast, lines, and the best phrases."""
    documents = [
        outline_examples.cut_chunks(name, text, (titles or {}).get(name, name)) for name, text in texts.items()
    ]
    noted = notes.note_documents.fn(documents)
    found = part.make_outline.fn([noted])[0]
    gathered = phrases.Gathered(noted)
    best = gathered.best_phrases()
    return [
        found.form, found.units, found.sentences, found.voices, found.more,
        [[t.label, t.units, t.beside, t.people, [[s.chunk, s.start, s.end, s.speaker] for s in t.sentences]]
         for t in (*found.themes, *found.cast)],
        [[p.label, len(p.units), len(p.spots), round(p.score, 6)] for p in best[:40]], len(best),
        sum(map(len, gathered.repeated)),
    ]  # fmt: skip


def outline_valley(count: int, lines: int, tail: Sequence[str] = (), one_title: int = 0) -> list[Any]:
    """The outline of so many papers of a valley, to each of which in turn one of some sentences is added."""
    texts = outline_examples.write_valley(count, lines)
    if tail:
        texts = {name: f"{text} {tail[i % len(tail)]}" for i, (name, text) in enumerate(texts.items())}
    return _outline(texts, dict.fromkeys(list(texts)[:one_title], "The wind papers"))


def outline_texts(texts: Sequence[str], times: int = 1) -> list[Any]:
    """The outline of some texts, each written so many times."""
    return _outline({f"text {i:02}": " ".join([text] * times) for i, text in enumerate(texts)})


def outline_story(chapters: Sequence[tuple[int, int]], length: int, heads: Sequence[str] = ()) -> list[Any]:
    """The outline of a story: a book where its chapters have heads, else a file each."""
    texts = outline_examples.write_story(chapters, length)
    if heads:
        return _outline({"book": "\n\n".join(f"{h}\n\n{t}" for h, t in zip(heads, texts, strict=True))})
    return _outline({f"part {i}": text for i, text in enumerate(texts)})


def outline_subjects(count: int, more: Sequence[str] = ()) -> list[Any]:
    """The outline of so many entries of an encyclopedia, to each of which in turn one of some sentences is added."""
    texts = dict(list(outline_examples.write_subjects().items())[:count])
    return _outline(
        {name: f"{text} {more[i % len(more)]}" if more else text for i, (name, text) in enumerate(texts.items())}
    )


def outline_talks(speakers: Sequence[tuple[str, str]], times: int) -> list[Any]:
    """The outline of some talks of two."""
    return _outline({f"talk {i}": outline_examples._TALK.format(a=a, b=b) * times for i, (a, b) in enumerate(speakers)})


def group_rows(rows: Sequence[Sequence[float]], count: int) -> Any:
    """The groups of some rows, made as long as one another."""
    made = np.array(rows, np.float32)
    return forms.group_rows(made / np.linalg.norm(made, axis=1, keepdims=True), count)


def measure_nearness(*held: str) -> Any:
    """How near phrases are, by the chunks that hold them: a letter each."""
    chunks = sorted(set("".join(held)))
    return themes.measure_nearness(np.array([[float(c in own) for c in chunks] for own in held], np.float32))


def write(
    form: Any, units: int, sentences: int, told: Sequence[Any], voices: Sequence[tuple[str, int]] = ()
) -> list[str]:
    """The head and the lines of an outline: themes as label, units, what is beside and who."""
    made = tuple(Theme(label, n, tuple(beside), tuple(people), ()) for label, n, beside, people in told)
    found = Outline(form, units, sentences, themes=made, cast=made, voices=tuple(map(tuple, voices)))
    return [evidence.write_head(found), *(evidence.write_line(one, found) for one in made)]


def _index(documents: Sequence[Sequence[str]], found: Outline | None = None) -> Any:
    """What an outline needs of an index: documents written as id, title, time and text, a chunk each."""
    entries = [DocumentEntry(name, "", title, time, ()) for name, title, time, _ in documents]
    texts = {name: text for name, _, _, text in documents}
    chunks = {f"c-{name}": Chunk(f"c-{name}", name, 0, len(text), 9, text) for name, text in texts.items()}
    held = [SimpleNamespace(id=f"c-{name}", document=name, position=0) for name in texts]
    return SimpleNamespace(
        catalogue=SimpleNamespace(documents=entries, chunks=held),
        document=lambda name: SimpleNamespace(text=texts[name]),
        chunks=lambda ids: {i: chunks[i] for i in ids if i in chunks},
        manifest=SimpleNamespace(parts={"outline": None} if found else {}), part=lambda part: found,
    )  # fmt: skip


def list_events(count: int, days: int, title: str, ending: str, more: Sequence[Sequence[str]] = ()) -> list[str]:
    """The dated titles of so many documents on so many days, and of some others, in their order."""
    made = [
        (f"d{i}.{ending}", title.format(i, chr(65 + i % 26)), f"2020-01-{1 + i % days:02}", "x") for i in range(count)
    ]
    return evidence.list_events(_index([*made, *(tuple(row) for row in more)]))


def count_kinds(*titles: str) -> str:
    """How many documents of these titles each word ends the names of."""
    return evidence.count_kinds(_index([(f"{i}.txt", title, "", "x") for i, title in enumerate(titles)]))


def name_documents(*documents: Sequence[str]) -> str:
    """Documents by name."""
    return evidence.name_documents(_index(documents))


def list_passages(form: Any, more: Sequence[str], told: Sequence[Any], *documents: Sequence[str]) -> list[Any]:
    """The passages of an outline of some documents, its themes as label, units, what is beside, who, and a document."""
    made = tuple(
        Theme(label, n, tuple(beside), tuple(people), (Sentence(f"c-{name}", 0, 12, speaker),))
        for label, n, beside, people, name, speaker in told
    )
    found = Outline(form, len(documents), 3 * len(documents), themes=made, cast=made[:1], more=tuple(more))
    passages = list(evidence.list_passages(_index(documents, found)))
    none = list(evidence.list_passages(_index(documents)))
    return [[[p.id, p.text, p.title, [q.text for q in p.quotes], p.documents] for p in passages], none]
