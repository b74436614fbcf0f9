"""Rules of reading without a model that are given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any
from unittest import mock

import msgspec
import numpy as np

from sensegraph.engines.offline.extraction import (
    corpus_reading,
    document_reader,
    german_names,
    kinds,
    mentions,
    names,
    naming,
    observations,
    page_reader,
    sentence_words,
    unspaced_names,
    words,
)
from sensegraph.engines.offline.extraction.observations import Candidate, Phrase
from sensegraph.language.transcripts import Talk
from sensegraph.types import Chunk


def _cut_chunks(texts: Sequence[str], parts: int) -> list[tuple[Chunk, ...]]:
    """Documents of texts, each with its title before a bar if it has one, in so many chunks that overlap."""
    documents = []
    for i, given in enumerate(texts):
        title, _, text = given.rpartition("|")
        size = len(text) // parts + 1
        spans = [(max(0, size * n - 20), min(size * (n + 1), len(text))) for n in range(parts)]
        documents.append(tuple(Chunk(f"d{i}-{a}", f"d{i}", a, b, b - a, text[a:b], title) for a, b in spans))
    return documents


def learn_corpus(texts: Sequence[str], types: Mapping[str, str], guesses: bool = False) -> list[Any]:
    """What a corpus of some texts teaches."""
    seen = corpus_reading.observe_documents(_cut_chunks(texts, 1))
    found = observations.read_entries(corpus_reading.survey_documents(seen, types, guesses=guesses)[1])
    strong = sorted((f"{a} / {b}", unit) for (a, b), unit in found.strengths.items())
    pieces = [len(found.label_ends), len(found.label_starts), len(found.boilerplate)]
    return [
        found.refused, found.refused_runs, found.fronts, found.backs, found.series, found.hidden,
        sorted(found.speakers.items()),
        found.roles, found.talks, found.nouns, sorted(found.kinds.items()),
        sorted((work, sorted(short.items())) for work, short in found.same.items()), sorted(found.full.items()),
        sorted(found.units.items()), found.terms, pieces, strong,
    ]  # fmt: skip


def read_corpus(texts: Sequence[str], parts: int = 1, values: bool = False, guesses: bool = False) -> list[Any]:
    """What is read in each chunk of a corpus of some texts."""
    found = corpus_reading.read_together(_cut_chunks(texts, parts), values=values, guesses=guesses)
    return [
        [
            [[e.name, e.type, e.description, e.start, e.end, [[m.start, m.end] for m in e.mentions]]
             for e in one.entities],
            [[r.source, r.label, r.target, r.strength, r.directed, r.start, r.end] for r in one.relations],
            [[c.subject, c.object, c.type, c.status, c.starts, c.ends, c.start, c.end] for c in one.claims],
        ]
        for document in found
        for one in document
    ]  # fmt: skip


def show_body(texts: Sequence[str]) -> list[Any]:
    """Where the own text of each document begins and ends, what its labels left, its notes, and the words outside."""
    seen = [msgspec.msgpack.decode(one, type=observations.Observation)
            for one in corpus_reading.observe_documents(_cut_chunks(texts, 1))]  # fmt: skip
    known = corpus_reading.survey_documents(list(map(msgspec.msgpack.encode, seen)))[1]
    lexicon = observations.read_entries(known)
    return [
        [mentions.find_body(one, lexicon), mentions.list_label_pieces(one, lexicon), mentions.find_notes(one, lexicon),
         mentions.count_outside_words(one, lexicon), [n.key for n in mentions.select_standing_names(one, lexicon)]]
        for one in seen
    ]  # fmt: skip


def type_names(rows: Sequence[Sequence[Any]]) -> list[Any]:
    """The types of some names, each given as what is known of its uses, and what the classifier adds to no votes."""
    uses = [kinds.NameUses(*row) for row in rows]
    keys = sorted({u.key for u in uses})
    of = np.array([keys.index(u.key) for u in uses], dtype=np.int64)
    votes = np.array([next(u.votes for u in uses if u.key == key) for key in keys], dtype=np.float64) / 10
    return [kinds.learn_name_types(uses), kinds.train_classifier(votes, keys, of, uses) if uses else 0]


def count_uses(key: str, rows: Sequence[Sequence[str]]) -> kinds.NameUses:
    """What the uses of a name say, each given as it is written and as what stands around it."""
    made = [(row[0], Candidate(0, 0, 0, row[0], -1, "", False, *row[1:])) for row in rows]
    return kinds.count_uses(key, made)


def select_claims(rows: Sequence[Sequence[Any]]) -> list[Any]:
    """The claims of some sentences, each given as its text, names, times and count of numbers."""
    sentences = [document_reader.StatedSentence(text, 300 * i, 300 * i + len(text), *rest)
                 for i, (text, *rest) in enumerate(rows)]  # fmt: skip
    found = document_reader.select_claims(sentences)
    return [[c.subject, c.object, c.type, c.status, c.description, c.starts, c.ends, c.start, c.end] for c in found]


def find_title(title: str, things: Sequence[Sequence[str]]) -> str:
    """The key of the thing that a title names, of things given as key and kind."""
    held = {key: mentions.Thing(key, key.title(), kind) for key, kind in things}
    return mentions.Scene(held, ()).key_of_title(title)


def find_units(phrase: Sequence[str], units: Sequence[str]) -> list[Any]:
    """The kept concepts in a phrase, and the kept terms in it as one run."""
    made = Phrase(0, (), tuple(phrase))
    return [
        list(mentions.find_longest_units(made, {unit: unit for unit in units})),
        list(mentions.find_longest_terms("".join(phrase), frozenset(units))),
    ]


def learn_nouns(rows: Sequence[Sequence[str]], lowers: Mapping[str, int]) -> list[Any]:
    """The common nouns of German names, given as surface, opening word, and the words before; what each use weighs."""
    found = [Candidate(0, 0, len(s), s, -1, first, bool(first), left, before) for s, first, left, before in rows]
    tally = german_names.NounTally()
    tally.add(found)
    return [tally.learn(Counter(lowers)), [german_names.weigh_noun_use(one) for one in found], tally.weights]


def join(rows: Sequence[Sequence[Any]], spans: Sequence[Sequence[int]] = ()) -> list[Any]:
    """The text of chunks that begin at some places, their bounds in it, and where spans of it lie in the first."""
    chunks = [Chunk("c", "d", start, start + len(text), 0, text, "") for start, text in rows]
    made = page_reader.join_chunks(chunks)
    places = [made.span_in(chunks[0], *span) for span in spans]
    return [made.text, made.base, [made.bounds(chunk) for chunk in chunks], places]


def find_shared(held: Mapping[str, Sequence[str]], share: float, works: int, least: int) -> Any:
    """What at least a share of some works hold."""
    return words._find_shared(held, share, works, least)


def make_thing(key: str, surfaces: Sequence[Sequence[str]], kind: str, speakers: Mapping[str, str]) -> list[str]:
    """The thing that names mention, each given as it is written and its marks."""
    named = [
        mentions.Named(Candidate(0, 0, 0, s, marks=marks), 0, s, mentions.make_name_key(s)) for s, marks in surfaces
    ]
    lexicon = observations.Lexicon(kinds={key: kind}, units={"boat": "boats"}, speakers=dict(speakers))
    made = mentions.make_named_thing(key, named, lexicon)
    return [made.key, made.name, made.kind] if made else []


def list_forms(text: str) -> Any:
    """The stems of all that may be a concept in a text, with how each is written."""
    seen = page_reader.observe_document([Chunk("c", "d", 0, len(text), 0, text, "")])
    named = mentions.select_standing_names(seen, observations.Lexicon())
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for unit, written in naming.list_units(seen, named):
        forms[unit][written] += 1
    return forms


def join_tagged(words: Sequence[Sequence[str]], marks: str = "") -> list[str]:
    """The names in Chinese text that stands behind some marks, cut into words with their tags by somebody else."""
    text = marks + "".join(word for word, _ in words)
    cutter = SimpleNamespace(cut=lambda _: iter(words))
    with mock.patch.object(unspaced_names, "load_jieba", return_value=cutter):
        found = unspaced_names.find_unspaced_names(text, len(marks), len(text), "jieba")
    return [text[a:b] for a, b in found]


def judge_noun(word: str, known: Sequence[str], alone: bool) -> bool:
    """Whether a German word is a common noun of a corpus that knows some."""
    return german_names.is_noun(word, frozenset(known), alone=alone)


def find_names(
    text: str, language: str = "en", barred: Sequence[int] = (), subjects: Sequence[Sequence[int]] = ()
) -> list[Any]:
    """What may be a name in a text that is read as one sentence; some of its words are inside a time."""
    read = sentence_words.locate_words(text, [(0, len(text))])[0]
    found = names.find_name_candidates(read, text, 0, barred, language, [(a, b) for a, b in subjects])
    return [[c.surface, c.start, text[c.inner : c.end] if c.inner >= 0 else "", c.first, c.more, c.left, c.before,
             c.right, c.marks] for c in found]  # fmt: skip


def show_edges(seen: dict[str, Any], known: dict[str, Any]) -> list[Any]:
    """Where the own text of a document begins and ends, by what is known; its notes, and the words outside of it."""
    fields: dict[str, Any] = {"work": "", "title": "", "language": "en"}
    fields |= {name: tuple(value) if isinstance(value, list) else value for name, value in seen.items()}
    one = observations.Observation(**fields)
    lexicon = msgspec.convert(known, observations.Lexicon)
    return [
        mentions.measure_edge(one), mentions.find_body(one, lexicon), mentions.list_label_pieces(one, lexicon),
        mentions.find_notes(one, lexicon), mentions.count_outside_words(one, lexicon),
    ]  # fmt: skip


def learn_words(rows: Sequence[Sequence[Any]]) -> list[str]:
    """What words teach that are counted by document: its work, title words, openers, capitals, lowers and hashes."""
    counts = [
        words.WordCount(
            work,
            tuple(title),
            "en",
            tuple(openers),
            capitals,
            lowers,
            np.array(prints, "<u4").tobytes(),
            Talk(),
            {},
            {},
            (),
        )
        for work, title, openers, capitals, lowers, prints in rows
    ]
    return sorted(f"{term}={entry}" for term, entry in words.learn_words(map(msgspec.msgpack.encode, counts)).items())


def list_standing(rows: Sequence[Sequence[Any]], known: dict[str, Any]) -> list[list[Any]]:
    """Which candidates are names by what is known: each its surface, place, inner place, opening word, marks."""
    found = [Candidate(0, at, at + len(s), s, inner, first, more, "", before, "", marks)
             for s, at, inner, first, more, before, marks in rows]  # fmt: skip
    seen = observations.Observation("", "", "en", (0, 500), names=tuple(found))
    lexicon = msgspec.convert(known, observations.Lexicon)
    return [[n.start, n.surface, n.key] for n in mentions.select_standing_names(seen, lexicon)]
