"""What the outline of small corpora is, all of it as it is: themes, subjects, stories, talks, and another language.

The examples stand in tests/data/outline-examples.json. Where the outline was meant to change,
`python tests/outline_examples.py` writes what it finds again, so that every change shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sensegraph.retrieval.outline.evidence import write_head, write_line
from sensegraph.retrieval.outline.notes import note_documents
from sensegraph.retrieval.outline.part import make_outline
from sensegraph.retrieval.outline.phrases import Gathered
from sensegraph.retrieval.outline.values import Sentence, Theme
from sensegraph.types import Chunk

PINNED = Path(__file__).parent / "data" / "outline-examples.json"
SCORED = 25  # phrases whose scores are shown

_TOWNS = "Arnholm Bexley Corvik Dunmere Eskdale Farsund Gillby Hareid Ilmen".split()
_NOTICE = "This leaflet may be copied freely for teaching under the terms of the harbour library."
_TOPICS = (
    ("the wind turbine", "a rotor blade", "the wind turbine of {town}", "engineer Otto Brandt", "one rotor blade"),
    ("grey seals", "the seal hospital", "nurse Mara Holt", "Mara Holt", "some volunteers of {town}", "many grey seals"),
    ("tidal energy storage", "the TES", "a plant for tidal energy storage", "Otto Brandt", "the TES of {town}"),
    ("the library of {town}", "a ferry", "the old map", "bread from {town}", "the choir"),
)
_VERBS = (
    "paid for, broke near, stood beside, pleased, frightened, cost more than, hid behind, carried, reminded people of, "
    "will replace, needs, could not save, grew with, followed"
).split(", ")
_OBJECTS = (
    "the school roof; an old fishing boat; every farmer; the town council; a box of letters; the harbour wall; "
    "solar panels; the cod of the bay; two painters; a quiet beach; the price of power; Mara Holt; grey seals; "
    "its own garden; the children; salt and rope"
).split("; ")
_TIMES = (
    "in the spring of {year}; during the winter storms; while nobody looked; for a whole year; before the council met; "
    "after the flood of {year}; because the sea was calm; with great care; and so it ended; when the bell rang; "
    "until the ice came"
).split("; ")


def write_valley(count: int, lines: int = 7) -> dict[str, str]:
    """Papers of a valley: on wind, seals, storage and other things, some with a notice that returns."""
    found, turn = {}, 0
    for i in range(count):
        town, year, told = _TOWNS[i * 4 % 9], 1990 + i, []
        for k in range(lines):
            turn += 1
            topic = _TOPICS[i % 4 if k < lines - 2 else turn * turn % 4]
            parts = (topic[turn * 5 % len(topic)], _VERBS[turn * 3 % 14], _OBJECTS[(turn * 7 + i) % 16])
            said = f"{' '.join(parts)} {_TIMES[(turn * 5 + i * i) % 11]}.".format(town=town, year=year)
            said = f"and then {said}" if turn % 13 == 0 else said
            told.append(said[:1].upper() + said[1:])
        found[f"paper-{i:02}"] = " ".join([*told, *([_NOTICE] if i % 5 == 0 else [])])
    return found


_PEOPLE = "Cranbury,Tobin,Miss Avery,Edwin Marlow,Old Peg".split(",")
_SCENES = (
    "'You are late again, {a},' said {b}, and shut the heavy door of the counting house behind him. ",
    "{a} looked at the low fire and warmed his cold hands for a long while without a word. ",
    "'The coach broke down upon the hill,' answered {a}, 'and I walked here through all that snow.' ",
    "{b} thought of the money that he had lent to the coachman in the spring of that year. ",
    "'Nobody pays me,' cried {b}, 'and nobody ever means to pay me while the winter lasts.' ",
    "The lamp in the window of the counting house burned low while the clock struck eleven. ",
    "{a} told {b} of the lost letter, and they searched the room until the candle went out. ",
)


def write_story(chapters: Sequence[tuple[int, int]], length: int) -> list[str]:
    """Chapters, each on two of the people."""
    found = []
    for number, (one, other) in enumerate(chapters):
        a, b = _PEOPLE[one], _PEOPLE[other]
        lines = [_SCENES[(i * 3 + number) % len(_SCENES)] for i in range(length)]
        text = "".join(
            s.format(a=a if i % 5 else b, b=b if i % 7 else a) + ("\n\n" if i % 6 == 5 else "")
            for i, s in enumerate(lines)
        )
        found.append(text)
    return found


_GERMAN = (
    "Die Windräder an der Küste von {town} liefern seit vielen Jahren den Strom für die kleinen Dörfer.",
    "Der Leuchtturm von {town} wurde von den Fischern gebaut, weil viele Boote im Nebel verloren gingen.",
    "Im Leuchtturm wohnt noch immer ein Wärter, der die Windräder und die Boote jeden Morgen zählt.",
    "Niemand weiß genau, wie viele Boote der Hafen von {town} im letzten Winter verloren hat.",
    "Am Abend essen die Kinder Brot mit Käse und hören den alten Geschichten der Großmutter zu.",
)
_TALK = (
    "{a}: I think that wind turbines are good for the small farms of our valley, do you?\n"
    "{b}: The small farms of the valley need cheap power more than anything else this year.\n"
    "{a}: Cheap power comes from wind turbines, and the farmers of our valley own most of them.\n"
    "{b}: My neighbour sold a wind turbine to the school and bought grey sheep for the money.\n"
)
_SUBJECTS = (
    "copper basalt lichen trumpet walrus cinnamon glacier velvet mortar orchid falcon saffron granite violin".split()
)
_NATURE = {
    "copper": "ore mine smelter", "basalt": "lava rock cliff", "lichen": "forest bark moss",
    "trumpet": "brass concert band", "walrus": "ice tusk sea", "cinnamon": "spice bark kitchen",
    "glacier": "ice rock valley", "velvet": "cloth dye gown", "mortar": "brick lime mason",
    "orchid": "forest petal bee", "falcon": "cliff feather nest", "saffron": "spice dye kitchen",
    "granite": "rock quarry mason", "violin": "concert string maple",
}  # fmt: skip


def write_subjects() -> dict[str, str]:
    """Entries of a little encyclopedia, which share few words."""
    return {
        word: f"The {word} was long unknown to people of the inland towns and to their teachers. "
        f"Much was written on {word} when the {first} and the {second} were first described in books. "
        f"A famous {third} near the old {first} made the {word} known to every child of the land."
        for word in _SUBJECTS
        for first, second, third in [_NATURE[word].split()]
    }


def corpora() -> dict[str, tuple[Mapping[str, str], Mapping[str, str]]]:
    """The corpora by name: the texts of documents, and the titles of those that are called otherwise."""
    chapters = [(0, 1), (1, 0), (2, 1), (3, 0), (0, 2)]
    book = "\n\n".join(
        f"CHAPTER {n}\n\n{text}"
        for n, text in zip("ONE TWO THREE FOUR FIVE".split(), write_story(chapters, 60), strict=True)
    )
    parts = {f"part {i}": text for i, text in enumerate(write_story([(0, 1), (3, 4)], 190))}
    speakers = [("ANN LEE", "BOB RAY"), ("ANN LEE", "CY DAHL"), ("BOB RAY", "EVE HOLM"), ("ANN LEE", "DAN FOX")]
    talks = {f"talk {i}": _TALK.format(a=a, b=b) * 2 for i, (a, b) in enumerate(speakers)}
    valley = write_valley(12)
    shows = {
        f"show {name}": "\n".join(
            f"{('ANN LEE', 'BOB RAY', 'CY DAHL')[(i + n) % 3]}: {said}." if n % 3 < 2 else f"{said}."
            for n, said in enumerate(text.rstrip(".").split(". "))
        )
        for i, (name, text) in enumerate(valley.items())
    }
    german = {
        f"blatt {i}": " ".join(_GERMAN[(i + k) % 5].format(town=_TOWNS[i % 9]) for k in range(3)) for i in range(16)
    }
    few = write_valley(11, 5)
    return {
        "valley": (write_valley(36), {}),
        "few": (few, dict.fromkeys(list(few)[:3], "The wind papers")),
        "book": ({"book": book}, {}),
        "parts": (parts, {}),
        "talks": (talks, {}),
        "shows": (shows, {}),
        "german": (german, {}),
        "subjects": (write_subjects(), {}),
        "two": ({name: write_valley(3)[name] for name in ("paper-01", "paper-02")}, {}),
    }


def cut_chunks(name: str, text: str, title: str) -> tuple[Chunk, ...]:
    """A text in chunks of some 1,500 characters, each of which begins before the end of the one before it."""
    count = len(text) // 1500 + 1
    size = len(text) // count + 1
    spans = [(max(0, size * i - 120), min(size * (i + 1), len(text))) for i in range(count)]
    return tuple(Chunk(f"{name}-{a:06}", name, a, b, b - a, text[a:b], title) for a, b in spans)


def outline(name: str) -> dict[str, Any]:
    """All that an outline holds, its sentences in words, and the best phrases with their scores."""
    texts, titles = corpora()[name]
    documents = [cut_chunks(k, v, titles.get(k, k)) for k, v in texts.items()]
    notes = note_documents.fn(documents)
    found = make_outline.fn([notes])[0]
    chunks = {chunk.id: chunk for held in documents for chunk in held}

    def show(sentence: Sentence) -> str:
        return f"{sentence.speaker}: {chunks[sentence.chunk].text[sentence.start : sentence.end]} @ {sentence.chunk}"

    def tell(theme: Theme) -> list[Any]:
        return [theme.label, theme.units, theme.beside, theme.people, [*map(show, theme.sentences)]]

    phrases = Gathered(notes).best_phrases()
    shown = {
        "form": found.form, "units": found.units, "sentences": found.sentences, "voices": found.voices,
        "themes": [*map(tell, found.themes)], "cast": [*map(tell, found.cast)], "more": found.more,
        "talks": found.talks, "people": [*map(tell, found.people)], "opening": [*map(show, found.opening)],
        "lines": [write_head(found), *(write_line(theme, found) for theme in found.themes)],
        "phrases": [[p.label, len(p.units), len(p.documents), round(p.score, 3)] for p in phrases[:SCORED]],
        "count": len(phrases),
        "notes": [
            [n.language, n.size, n.spoken, len(n.lines), len(n.phrases), sum(n.words.values()), n.says, n.heads,
             sum(line.worth for line in n.lines), sum(len(line.marks) for line in n.lines), n.labels[:3], n.titled]
            for n in notes[:4]
        ],
    }  # fmt: skip
    return dict(json.loads(json.dumps(shown)))


if __name__ == "__main__":
    PINNED.write_text(
        json.dumps({name: outline(name) for name in corpora()}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
