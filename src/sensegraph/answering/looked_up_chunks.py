"""Chunks that are looked up by their words, not by a search: for a question what something is, and for one for a list.

Who is everywhere in a corpus weighs nothing in a search; the sentence that says who that is, is still there. Of many
things of a kind the first passages of a search hold a few; every chunk with the noun is looked up, and read where they
are not too many.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import PurePath

import numpy as np

from sensegraph.algorithms.graphs import Longs
from sensegraph.index.index import Index
from sensegraph.index.manifest import ChunkEntry
from sensegraph.index.passages import chunk_passage
from sensegraph.language.asking.kinds import (
    NUMBER,
    find_series,
    list_opening_lines,
    read_asked_kind,
    read_document_kind,
)
from sensegraph.language.blocks import read_blocks
from sensegraph.language.defining import (
    BARE,
    CUE_WORDS,
    AskedName,
    Writing,
    find_longer_names,
    is_borne_otherwise,
    rate_fitness,
    rate_statement,
    read_asked_name,
    read_mentioned_name,
)
from sensegraph.language.text import (
    fold,
    known_word,
    name_stemmer,
    part_camel_case,
    split_runs,
    stem_run,
)
from sensegraph.language.word_lists import ENGLISH, SNOWBALL
from sensegraph.runtime.keys import document_part
from sensegraph.runtime.results import take_records
from sensegraph.types import Chunk, Document, NameCounts, Passage

READ = 100  # chunks that are read for a name
LISTED_READ = 60  # chunks that are read for a list
LISTED_KEPT = 24  # of them, chunks that are given to the engine
_SERIES = 2  # series of names that are looked up
RATED = 2000  # chunks that hold its words of which the best are chosen
KEPT = 12  # chunks that are given to the engine
_BORNE = 3  # of them for each longer name that a person's name is part of
_ALONE = 60  # chunks with a part of the name, above which it is no name of one
_SENTENCES = 3  # sentences with the name that are looked at in one chunk
_AROUND = 240  # characters on either side of a name that its sentence is looked for in
RARE, RARE_KEPT = 8, 2  # chunks with a word that is rare at most, and those with rare words that are added
HEADED, _FEW, _LONGEST = 40, 3, 100  # chunks and documents with a word that may head one; chunks of that
NAMES_READ, _BEGINS = (
    10_000,
    3,
)  # documents of which ids and titles are read, and letters of a stem that a word begins with
FIRST = 5  # chunks of which an engine reads all sentences
_HEAD, _HEADING_BLOCKS, _HEADING_WORDS = 2000, 2, 8  # characters, blocks and words of these that may name a document
_FILE = re.compile(r"(?:^|/)([^\W\d_]+)[^/]*\.\w{1,8}$")
_ENDS = re.compile(r"[.!?。！？][\"'”’)]?(?=\s|$)|\n\s*(?![\sa-z])|[。！？]")


def find_named_chunks(question: str, index: Index) -> tuple[list[Passage], NameCounts | None]:
    """The chunks that tell most of what a name stands for, best first, and how often it stands in the corpus.

    Nothing where the question asks for something else, or the name stands nowhere.
    """
    name = read_asked_name(question) or read_mentioned_name(question)
    if name is None:
        return [], None
    root = index.root
    held = positions_with(split_runs(name.text), name.text, root)
    rough = root.words.score(list_search_stems(split_runs(name.text), name.text))
    best, entries = take_entries(held[np.lexsort((held, -rough[held]))][:RATED], index)
    exact = len(entries) <= READ
    if not exact:  # where the name weighs most, beginnings of documents, and where people are presented
        score = rough[best] / max(float(rough[best].max()), 1e-9) + 0.5 * np.array([e.position == 0 for e in entries])
        for _, (who, _) in root.words.hits(list_search_stems(CUE_WORDS, "")):
            score = score + 0.25 * np.isin(best, who)
        entries = [entries[i] for i in np.lexsort((best, -score))[:READ]]
    found = list(index.chunks([e.id for e in entries]).values())
    rated, writing = _rate_chunks(name, found)
    words = name.text.split()
    others = (_read_others(words[-1], name, held, index, root) or []) if name.person else []
    several = find_longer_names(name, (c.text for c in [*found, *others])) if name.person else []
    front = [pair for n in several for pair in _rate_chunks(replace(name, text=n), [*found, *others])[0][:_BORNE]]
    if not rated and not front:
        return [], None
    best_first = [c for _, c in rated or front]
    documents = {c.heading or c.document for c in best_first}
    alone = []
    for part in name.parts if writing.capital else ():  # that nobody else of the corpus bears
        rest = _read_others(part, name, held, index, root)
        if rest is not None and not any(
            is_borne_otherwise(part, part == name.parts[0], words, c.text) for c in (*rest, *best_first)
        ):
            alone.append(part)
    counts = NameCounts(len(best_first), len(documents), exact, tuple(alone))
    passages = {c.id: replace(chunk_passage(c), score=r) for r, c in [*front, *rated]}
    return list(passages.values())[:KEPT], counts


def _read_others(part: str, name: AskedName, held: Longs, index: Index, root: Index) -> list[Chunk] | None:
    """The chunks with a part of the name that do not hold all of it; None where they are too many."""
    places = np.setdiff1d(positions_with([part], name.text, root), held)
    if len(places) > _ALONE:
        return None
    return list(index.chunks([e.id for e in take_records(root.catalogue.chunks, places.tolist())]).values())


def _rate_chunks(name: AskedName, chunks: Iterable[Chunk]) -> tuple[list[tuple[float, Chunk]], Writing]:
    """The chunks that name it or have it as title, with how much they tell of it, most first; how it is written."""
    places = [(c, list(name.pattern.finditer(c.text))) for c in chunks]
    writing = name.choose_writing(m for _, mentions in places for m in mentions)
    rated = ((_rate_chunk(c, mentions, writing), c) for c, mentions in places)
    return sorted(((r, c) for r, c in rated if r > 0), key=lambda pair: (-pair[0], pair[1].id)), writing


def list_search_stems(words: Iterable[str], text: str) -> list[str]:
    """The stems that search may have the words by, whose texts may be in another language; not of function words."""
    spoken = name_stemmer(text)
    told = [word for word in words if stem_run(word, spoken)]
    return sorted({stem for word in told for way in SNOWBALL.values() for stem in stem_run(word, way)})


def take_entries(places: Longs, index: Index) -> tuple[Longs, list[ChunkEntry]]:
    """What the catalogue of the whole index knows of chunks by their positions; only of those inside the filter."""
    root = index.root
    entries = take_records(root.catalogue.chunks, places.tolist())
    if index is root:
        return places, entries
    inside = index.documents_of([e.id for e in entries])
    kept = [i for i, e in enumerate(entries) if e.id in inside]
    return places[kept], [entries[i] for i in kept]


def positions_with(words: Sequence[str], text: str, root: Index) -> Longs:
    """The positions of the chunks that hold all of these words, but function words."""
    held: Longs | None = None
    for word in words:
        if not (forms := list_search_stems([word], text)):
            continue
        # np.unique would import numpy.ma, which no question needs
        found = np.flatnonzero(np.bincount(np.concatenate([who for _, (who, _) in root.words.hits(forms)])))
        held = found if held is None else np.intersect1d(held, found, assume_unique=True)
    return np.zeros(0, np.int64) if held is None else held


def _rate_chunk(chunk: Chunk, mentions: Sequence[re.Match[str]], writing: Writing) -> float:
    """How much a chunk tells of what the name stands for: its best sentence, more where the title is the name."""
    text, best, seen, end, labels = chunk.text, 0.0, 0, 0, 0
    for match in mentions:
        if match.start() < end or seen == _SENTENCES or not writing.admits(match[0]):
            continue
        labels += (label := text[match.end() : match.end() + 1] == ":")
        if label and labels > 1:  # who speaks
            continue
        begin = max(0, match.start() - _AROUND)
        before = [m.end() for m in _ENDS.finditer(text, begin, match.start())]
        after = _ENDS.search(text, match.end(), match.end() + _AROUND)
        start, end = (before or [begin])[-1], after.end() if after else match.end() + _AROUND
        sentence = text[start:end].strip()
        masked = writing.mask(sentence)
        weight, _ = rate_statement(masked)
        best = max(best, weight * rate_fitness(masked) * (1.1 if match.start() < _AROUND else 1.0))
        seen += 1
    titled = writing.name.entitles(chunk.heading)
    return best + 0.01 * (seen + labels) + (2.0 + (best > BARE) if titled else 0.0)


# ── identifiers ──


def find_identified_chunks(question: str, passages: Sequence[Passage], index: Index) -> list[Passage]:
    """The chunks with an identifier of the question as a whole, those first that hold most of the question.

    Where more is asked than what it is, a few, and none for one that the first passages have.
    """
    from sensegraph.language.asking.identifiers import (  # loaded where a question is asked
        asks_for_identifier,
        find_identifiers,
        write_identifier_pattern,
    )

    whole = asks_for_identifier(question)
    rough = index.root.words.score(list_search_stems(split_runs(question), question))
    first, found = [p.text for p in passages if p.kind == "chunk"][:FIRST], dict[str, Passage]()
    for name in find_identifiers(question):
        rule = write_identifier_pattern(name)
        if not whole and any(map(rule.search, first)):
            continue
        held = positions_with(split_runs(name), name, index.root)
        _, entries = take_entries(held[np.lexsort((held, -rough[held]))][:READ], index)
        chunks = index.chunks([e.id for e in entries]).values()
        holding = [c for c in chunks if rule.search(f"{c.heading} {c.text}")][: KEPT if whole else RARE_KEPT]
        found |= {c.id: chunk_passage(c) for c in holding}
    return list(found.values())


# ── lists ──


def find_listed_chunks(question: str, index: Index) -> tuple[list[Passage], bool]:
    """The chunks that name things of the kind that is asked for, or their number, and whether all were read.

    Nothing where the question asks for something else.
    """
    listed = read_document_kind(question)
    kind = listed or read_asked_kind(question)
    if kind is None:
        return [], True
    root = index.root
    held = positions_with([kind.series or kind.noun], question, root)
    if not len(held):
        return [], True
    if listed:  # the lines that documents of the kind open with
        entries = [e for e in take_entries(held, index)[1] if not e.position][:RATED]
        opening = [
            c for c in index.chunks([e.id for e in entries]).values()
            if any(map(listed.is_in, (c.heading, *list_opening_lines(c.text))))
        ]  # fmt: skip
        files = {e.id: PurePath(e.document).name for e in entries}
        named = [replace(chunk_passage(c), title=c.heading or files[c.id]) for c in opening[:LISTED_READ]]
        return named, len(opening) <= LISTED_READ
    rough = root.words.score(list_search_stems(split_runs(question), question))
    best = held[np.lexsort((held, -rough[held]))]
    _, entries = take_entries(best[: LISTED_READ + 1], index)
    telling = re.compile(rf"\b{NUMBER}\s+(?:[\w-]+\s+){{0,2}}?{kind.pattern}\b", re.IGNORECASE)
    chunks = index.chunks([e.id for e in entries[:LISTED_READ]]).values()
    found, series = [], dict[str, None]()
    for chunk in chunks:
        numbered = telling.search(chunk.text)
        # block by block: no sentence goes on over a blank line
        split = [] if kind.counts and numbered else re.split(r"\n\s*\n", chunk.text)
        blocks = filter(kind.mention.search, split)
        names = [name for block in blocks for name, _ in kind.find_names(" ".join(block.split()))]
        series |= dict.fromkeys(filter(None, map(find_series, names)))
        if names or numbered:
            found.append(chunk)
    for start in list(series)[:_SERIES]:  # others of the same series stand also where the noun does not
        _, entries = take_entries(positions_with([start.strip("-_ ")], question, root)[:LISTED_KEPT], index)
        found += list(index.chunks([e.id for e in entries]).values())
    passages = {chunk.id: chunk_passage(chunk) for chunk in found}
    return list(passages.values())[:LISTED_KEPT], len(best) <= LISTED_READ and len(passages) <= LISTED_KEPT


# ── rare words and heads of documents ──


def place_rare_chunks(question: str, passages: Sequence[Passage], index: Index) -> list[Passage]:
    """The passages of a question, and last among the first `FIRST` the chunks for rare names that these lack.

    A search by the graph or by meaning may pass over the one text that has a word; an answer cannot do without it. For
    each rare word that is written as a name, or is no common one, there is the chunk that holds most of the question
    with it, or, where the word heads a document, the one of that document.
    """
    chunks = [p for p in passages if p.kind == "chunk"]
    shown, root = {p.id for p in chunks[:FIRST]}, index.root
    most, heading = min(RARE, len(root.words) // 50), min(HEADED, len(root.words) // 10)
    if not chunks or not most:  # a few chunks are all found
        return list(passages)
    rough = root.words.score(list_search_stems(split_runs(question), question))
    found: dict[str, Passage] = {}
    words, files = split_runs(part_camel_case(question)), find_files_called(question, index)
    rare = (w for i, w in enumerate(words) if (i and w[:1].isupper()) or not known_word(fold(w)))
    for word in dict.fromkeys((*files, *rare)):
        forms = list_search_stems([word], question)
        places = positions_with([word], question, root) if forms else np.zeros(0, np.int64)
        if not 0 < len(places) <= (heading if word not in files else RATED):
            continue
        places, entries = take_entries(places[np.lexsort((places, -rough[places]))], index)
        called = (i for i, e in enumerate(entries) if e.document in files.get(word, ()))
        headed = _find_headed(entries, forms, index) if word not in files else next(called, None)
        if headed is not None:
            around = np.arange(*_span_document(int(places[headed]), entries[headed], root))
            _, own = take_entries(around[np.lexsort((around, -rough[around]))][:1], index)
        elif len(places) > most or not shown.isdisjoint(e.id for e in entries):
            continue
        else:
            own = entries[:1]
        found |= {c.id: chunk_passage(c) for c in index.chunks([e.id for e in own if e.id not in shown]).values()}
    added = list(found.values())[:RARE_KEPT]
    if not added:
        return list(passages)
    others = [p for p in passages if p.id not in found]
    front = [p for p in others if p.kind == "chunk"][: FIRST - len(added)]
    low = min(p.score for p in front)  # those first that are shown are none of what was found
    kept = {p.id for p in front}
    return [*front, *(replace(p, score=low) for p in added), *(p for p in others if p.id not in kept)]


def find_opening_chunks(question: str, passages: Sequence[Passage], index: Index) -> list[Passage]:
    """For a question who made something the chunks that the first documents open with: there stands who wrote them."""
    from sensegraph.language.asking.sentence_cues import asks_for_maker  # loaded where a question is asked

    chunks = [p.id for p in passages if p.kind == "chunk"][:FIRST]
    if not chunks or not asks_for_maker(question):
        return []
    documents = set(index.documents_of(chunks).values())
    rough = index.root.words.score(list_search_stems(split_runs(question), question))
    held = np.flatnonzero(rough)
    found = zip(*take_entries(held[np.lexsort((held, -rough[held]))][:RATED], index), strict=True)
    begins = {e.document: int(place) - e.position for place, e in found if e.document in documents}
    _, entries = take_entries(np.array(sorted(begins.values()), np.int64), index)
    return [chunk_passage(c) for c in index.chunks([e.id for e in entries]).values()]


def find_files_called(question: str, index: Index) -> dict[str, set[str]]:
    """By word of the question the documents whose file's name begins with it ("tar-news.pdf"), where these are few."""
    entries = index.catalogue.documents
    asked = {fold(w): w for w in split_runs(question) if list_search_stems([w], question)}
    found: dict[str, set[str]] = {}
    for entry in entries if len(entries) <= NAMES_READ else ():
        match = _FILE.search(entry.id)
        if match and (word := asked.get(fold(match[1]))):
            found.setdefault(word, set()).add(entry.id)
    return {word: held for word, held in found.items() if len(held) <= _FEW}


def _find_headed(entries: Sequence[ChunkEntry], forms: Sequence[str], index: Index) -> int | None:
    """The place of a chunk whose document a word heads, where it heads one only of a few that hold it."""
    first = {e.document: i for i, e in reversed(list(enumerate(entries)))}
    if not 0 < len(first) <= _FEW:
        return None
    stems = {i: set(list_search_stems(split_runs(_read_head(index.document(d))), "")) for d, i in first.items()}
    headed = [i for i, held in stems.items() if not held.isdisjoint(forms)]
    return headed[0] if len(headed) == 1 else None


def _span_document(place: int, entry: ChunkEntry, root: Index) -> tuple[int, int]:
    """Where the chunks of a document begin and end in the catalogue, of which one is at `place`; at most `_LONGEST`."""
    begin = place - entry.position
    near = take_records(root.catalogue.chunks, range(begin, min(begin + _LONGEST, len(root.words))))
    return begin, begin + sum(e.document == entry.document for e in near)


def _read_head(document: Document) -> str:
    """Id and title of a document, and its first blocks where these are short: a heading, however lines are wrapped."""
    read = read_blocks(document.text[:_HEAD])
    blocks = (" ".join(read.text[b.start : b.end].strip(" #=*-\t\n").split()) for b in read.blocks)
    named = list(takewhile(lambda block: len(block.split()) <= _HEADING_WORDS, filter(None, blocks)))
    return " ".join(filter(None, (document.id, document.title, *named[:_HEADING_BLOCKS])))


def read_heads(passages: Sequence[Passage], index: Index) -> tuple[tuple[str, str], ...]:
    """What heads each document of the first chunks, with the part of chunk ids that tells the document."""
    documents = index.documents_of([p.id for p in passages if p.kind == "chunk"][:FIRST])
    parts = {document: document_part(name) for name, document in documents.items()}
    heads = ((part, _read_head(index.document(document))) for document, part in parts.items())
    return tuple((part, head) for part, head in heads if head)


def find_naming_stems(stems: Collection[str], index: Index) -> tuple[str, ...]:
    """Those of the stems that ids or titles of documents hold; none in a corpus of more than `NAMES_READ` documents."""
    entries = index.catalogue.documents
    if not stems or len(entries) > NAMES_READ:
        return ()
    begins = tuple({stem[:_BEGINS] for stem in stems})
    names = (f"{entry.id} {entry.title}" for entry in entries)
    near = (name for name in names if any(begin in fold(name) for begin in begins))
    words = ((word, name_stemmer(name)) for name in near for word in split_runs(part_camel_case(name)))
    held = {stem for word, spoken in words for way in (spoken, ENGLISH) for stem in stem_run(word, way)}
    return tuple(stem for stem in stems if stem in held)
