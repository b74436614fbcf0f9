"""What runs of neighbouring documents show of names, so that one document more reads one run anew.

Which names there are, and how words are written, follows from all documents. So each run says first what it shows by
itself; all of that together, which is kept, is the gazetteer. Then each run says which names it mentions, under a key
of its documents and of what the gazetteer says of their words.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from typing import Any

import msgspec
import numpy as np

from sensegraph.algorithms.graphs import Ints, keep_distinct
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.segments import cut_keys
from sensegraph.language.naming_words import COUNTRY
from sensegraph.language.text import list_stems
from sensegraph.methods.walk.name_words import (
    MARK,
    Gazetteer,
    NamedDocuments,
    NamedRun,
    Noted,
)
from sensegraph.methods.walk.shown_names import (
    NOTHING,
    ShownNames,
    ShownRun,
    StoredNames,
    ToldWords,
    cut_texts,
    join_shown,
    show_run,
)
from sensegraph.runtime.columns import pack_columns, unpack_columns
from sensegraph.runtime.keys import NamedKeys, key
from sensegraph.runtime.results import Result, Results, step
from sensegraph.runtime.runtime import Runtime

_TOGETHER = 2048  # documents that are recognised at once
_READ_AGAIN = 1 << 16  # documents of more than so many are read again for each look at their words: they take much room
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(tuple[tuple[str, ...], bytes]).decode
_read_shown = msgspec.msgpack.Decoder(ShownRun).decode
_read_together = msgspec.msgpack.Decoder(StoredNames).decode
_SHOWN = "shown"  # ref: the version, and the key, of what all runs of the last build show together


@step("namewords.shown", version=6, batch=1)
def show_names(runs: Sequence[Sequence[Noted]]) -> list[bytes]:
    """What each run of documents shows of names by itself."""
    return [_pack(show_run(run)) for run in runs]


@step("namewords.together", version=3)
def keep_together(found: Sequence[StoredNames]) -> list[bytes]:
    """What all runs show together; another version where words are told otherwise."""
    return list(map(_pack, found))


@step("namewords.told", version=3)
def keep_known_words(digests: Sequence[str]) -> list[str]:
    """What stands for what is known of the words of each document of a run.

    It may tell of names that the run has not, as of those that were known when it was made: its mentions are the same.
    """
    return list(digests)


@step("namewords.run", version=2)
def name_runs(runs: Sequence[tuple[Sequence[Noted], Sequence[Sequence[dict[str, int]]]]]) -> list[bytes]:
    """The names of each run, given its documents and what their chunks mention, and its columns."""
    found = (name_run(documents, counts) for documents, counts in runs)
    return [_pack((names, pack_columns(columns))) for names, columns in found]


@dataclass(frozen=True)
class _Runs(Sequence[Sequence[Noted]]):
    """Runs of documents, read when they are asked for."""

    noted: Results[Noted]
    runs: Sequence[range]

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, index: Any) -> Any:
        return self.noted[self.runs[index].start : self.runs[index].stop]


@dataclass(frozen=True)
class _ReadAgain(Sequence[ShownRun]):
    """What each run shows, read whenever it is asked for, one after the other."""

    found: Results[bytes]

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: Any) -> Any:
        return _read_shown(self.found[index])


def count_mentions(document: Noted, known: Gazetteer) -> list[dict[str, int]]:
    """For each chunk of a document the names that it mentions, with the number of its sentences that do.

    A last name alone, which no document bears, stands for the longer name that was met last in this document. Where
    something is called Danish, or of the US, the country is mentioned too.
    """
    ending: dict[str, str] = {}  # the longer names met so far, by their last words
    results: list[dict[str, int]] = []
    for chunk in document.chunks:
        runs: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for place in range(0, len(chunk.runs), 3):
            sentence, begin, end = chunk.runs[place : place + 3]
            runs[sentence].append((begin, end))
        counts: dict[str, int] = defaultdict(int)
        plain = chunk.words.replace(MARK, "").split("\n")
        for number, (line, words) in enumerate(zip(chunk.words.split("\n"), plain, strict=True)):
            here: dict[str, None] = {}
            for name in names_in_sentence(line, words.split(" "), runs.get(number, ()), known):
                _, blank, last = name.rpartition(" ")
                if blank:
                    ending[last] = name
                elif name not in known.names:
                    name = ending.get(name, name)
                here[name] = None
            for name in here | {COUNTRY[name]: None for name in here if name in COUNTRY} if here else ():
                counts[name] += 1
        results.append(dict(counts))
    return results


def names_in_sentence(
    marked: str, words: Sequence[str], runs: Sequence[tuple[int, int]], known: Gazetteer
) -> list[str]:
    """The names of one sentence in their order: those known, and runs of capitals that none at least as long covers."""
    borne = [] if known.lengths.keys().isdisjoint(words) else list(known.found(marked.split(" "), words))
    spans = [*borne]
    for run in runs:
        begin, end = trim_run(run, words, known)
        if end > begin and not any(b < end and begin < e and e - b >= end - begin for b, e in borne):
            spans.append((begin, end))
    return [" ".join(words[b:e]) for b, e in sorted(spans)]


def trim_run(run: tuple[int, int], words: Sequence[str], known: Gazetteer) -> tuple[int, int]:
    """A run without a word at its beginning that has its capital from the sentence; empty where nothing is left."""
    begin, end = run
    if begin > 0:
        return run
    if end == 1:
        return (0, 1) if known.proper(words[0]) else (0, 0)
    if known.capitals.get(words[0], 0) >= 0:
        return run
    return (1, end)


@step("namewords.mentions", version=1, batch=32)
def recognise_names(items: Sequence[tuple[Noted, Gazetteer]]) -> list[tuple[dict[str, int], ...]]:
    """For each chunk of each document the names that it mentions, from what is known of the document's words."""
    return [tuple(count_mentions(document, known)) for document, known in items]


@dataclass(frozen=True)
class Recognising(Sequence[tuple[Noted, Gazetteer]]):
    """Documents, each with what is known of its own words, and of those read with it, of which it asks nothing.

    One more document changes what is known of the own words of few.
    """

    names: Sequence[str]  # what stands for each document
    documents: Sequence[Noted]
    held: Sequence[Ints]  # the numbers of the words of each of which something may be known
    begun: Sequence[Ints]  # and of those that begin its sentences
    known: Gazetteer
    words: ToldWords

    @classmethod
    def of(cls, names: Sequence[str], documents: Sequence[Noted], known: Gazetteer, words: ToldWords) -> Recognising:
        """Documents, each under what stands for it."""
        texts = ["\n".join(chunk.words for chunk in document.chunks).replace(MARK, "") for document in documents]
        held, begun = list[Ints](), list[Ints]()
        for some in (texts[first:last] for first, last in cut_texts(texts)):
            held += words.number_each([text.replace("\n", " ").split(" ") for text in some])
            begun += words.number_each([[line.partition(" ")[0] for line in text.split("\n")] for text in some])
        return cls(names, documents, held, begun, known, words)

    @classmethod
    def join(cls, several: Sequence[Recognising]) -> Recognising:
        """The documents of several together."""
        names = [name for one in several for name in one.names]
        documents = [document for one in several for document in one.documents]
        held = [numbers for one in several for numbers in one.held]
        begun = [numbers for one in several for numbers in one.begun]
        return cls(names, documents, held, begun, several[0].known, several[0].words)

    @cached_property
    def keys(self) -> list[str]:
        """What stands for each document and for what is known of its words."""
        return [key(*both) for both in zip(self.names, self.words.tell(self.held, self.begun), strict=True)]

    def __len__(self) -> int:
        return len(self.documents)

    def __getitem__(self, index: Any) -> Any:
        return self.at([index])[0]

    def at(self, positions: Sequence[int]) -> list[tuple[Noted, Gazetteer]]:
        """The documents at these positions, each with what is known of its words."""
        held = keep_distinct(np.concatenate([self.held[i] for i in positions]))
        known = self.known.within({self.words.listed[number] for number in held.tolist()})
        return [(self.documents[i], known) for i in positions]


def name_documents(noted: Results[Noted], rt: Runtime) -> NamedDocuments:
    """The names of all documents; runs are read that changed, or of whose words something else is known.

    Of these only those are made anew in which that concerns a document: most know words that others name things by.
    """
    # keys of documents that are read are made alone, where what they are made of is known
    runs = cut_keys(noted.keys.names if isinstance(noted.keys, NamedKeys) else noted.keys)
    held = _Runs(noted, runs)
    keys = [key(*noted.tell_run(run)) for run in runs]
    showing = rt.each(show_names, held, names=keys)
    shown, signs = _put_together(showing, rt, len(noted) > _READ_AGAIN)
    known = shown.known
    names = list(zip(keys, signs, strict=True))
    asked = rt.keys(keep_known_words, names, [key(*name) for name in names])
    recalled = rt.recall(keep_known_words, asked)
    told = {i: recalled[k].value for i, k in enumerate(asked) if k in recalled}
    stored, named, waiting = dict[int, str](), dict[str, Result[bytes]](), dict[int, Recognising]()

    def read_run(i: int) -> Recognising:
        """The documents of a run."""
        return Recognising.of(noted.keys[runs[i].start : runs[i].stop], held[i], known, shown.words)

    def look_up(some: Sequence[int]) -> None:
        """Take the runs that are there, of some of which it is known what their documents are told."""
        stored.update(zip(some, rt.keys(name_runs, some, [key(keys[i], told[i]) for i in some]), strict=True))
        named.update(rt.recall(name_runs, [stored[i] for i in some]))

    def make() -> None:
        """Make the runs that wait: what their documents mention is recognised at once."""
        every = list(waiting.values())
        items = Recognising.join(every)
        mentions = rt.each(recognise_names, items, names=[k for one in every for k in one.keys])
        begin = 0
        for i, own in waiting.items():
            places = range(begin, begin := begin + len(own))
            read = partial(_read_mentions, own, mentions, places, rt)
            named[stored[i]] = rt.once(name_runs, read, names=(keys[i], told[i]))
        waiting.clear()

    look_up(list(told))
    for i in range(len(runs)):
        own = None
        if i not in told:
            own = read_run(i)
            told[i] = rt.once(keep_known_words, key(*own.keys), names=names[i]).value
            look_up([i])
        if stored[i] not in named:
            waiting[i] = own or read_run(i)
        if sum(map(len, waiting.values())) >= _TOGETHER:
            make()
    if waiting:
        make()
    columns, every, one, digest = list[NamedRun](), list[list[str]](), dict[str, str](), blake2b(digest_size=20)
    for i, run in enumerate(runs):
        value = named[stored[i]].value
        spelt, packed = _unpack(value)
        digest.update(f"{len(run)} {len(value)} ".encode() + value)
        columns.append(NamedRun(*unpack_columns(packed)))
        every.append(list(map(one.setdefault, spelt, spelt)))  # many runs mention a name: it is kept once
    digest.update(bytes(map(known.proper, one)))
    return NamedDocuments(columns, every, [len(run) for run in runs], known, digest.hexdigest())


def _put_together(found: Results[bytes], rt: Runtime, again: bool) -> tuple[ShownNames, list[str]]:
    """What all runs show together, and what stands for what is known of the words of each.

    What the runs of the last build showed is a memory and no input: without it, or where most of them went, all are
    read. Runs are kept in memory, or read `again` whenever they are asked for.
    """
    joined: ShownNames | None = None

    def read(keys: Sequence[str]) -> Sequence[ShownRun]:
        some = Results(rt.store, show_names, keys)
        return _ReadAgain(some) if again else list(map(_read_shown, some))

    def join() -> StoredNames:
        nonlocal joined
        joined, told = join_shown(found.keys, read, _recall_shown(found.keys, rt))
        rt.rely_on(found.keys)
        return joined.pack(told)

    made = rt.once(keep_together, join, names=found.keys or ("",))
    if joined is not None:  # with the version before it, the ref is no key that has to be kept
        rt.store.set_refs({_SHOWN: f"{keep_together.version} {made.key}"})
    together = _read_together(made.value)
    signs = dict(zip(together.runs, together.told, strict=True))
    return joined or ShownNames.unpack(together), [signs[k] for k in found.keys]


def _recall_shown(keys: Sequence[str], rt: Runtime) -> StoredNames:
    """What the runs of the last build showed together; nothing where it cannot be changed into what these show."""
    version, *last = (rt.store.ref(_SHOWN) or "0").split()
    if version != f"{keep_together.version}":
        return NOTHING
    now = set(keys)
    for kept in replace(rt, inside=[]).recall(keep_together, last).values():
        with suppress(msgspec.DecodeError):  # it is of another form
            before = _read_together(kept.value)
            gone = [k for k in before.runs if k not in now]
            if 2 * len(gone) <= len(before.runs) and len(rt.store.has(gone)) == len(gone):
                return before
    return NOTHING


def _read_mentions(
    own: Recognising, mentions: Results[tuple[dict[str, int], ...]], places: range, rt: Runtime
) -> tuple[Sequence[Noted], list[tuple[dict[str, int], ...]]]:
    """Documents, and what their chunks mention."""
    rt.rely_on(mentions.keys[places.start : places.stop])
    return own.documents, mentions[places.start : places.stop]


def name_run(
    documents: Iterable[Noted], counts: Iterable[Sequence[dict[str, int]]]
) -> tuple[tuple[str, ...], NamedRun]:
    """The names of a run, and its columns."""
    numbers: dict[str, int] = {}
    pairs, places, titles, asides = array("i"), list[int](), list[list[str]](), list[tuple[str, ...]]()
    for place, (document, counted) in enumerate(zip(documents, counts, strict=True)):
        for chunk, found in zip(document.chunks, counted, strict=True):
            bears = dict.fromkeys((*document.bears, *chunk.bears))
            for name in dict.fromkeys((*found, *bears)):
                number = numbers.setdefault(name, len(numbers))
                pairs.extend((len(places), number, found.get(name, 0), name in bears))
            places.append(place)
            titles.append(sorted(set(list_stems(" \n ".join(bears)))) if bears else [])
            asides.append(document.aside)
    stems = list(map(_stem_name, numbers))
    columns = np.ascontiguousarray(np.asarray(pairs, np.int32).reshape(-1, 4).T)
    return tuple(numbers), NamedRun(
        hash_words(list(numbers)),
        hash_words([stem for own in stems for stem in own]),
        _count(stems),
        columns[0],
        columns[1],
        columns[2],
        columns[3],
        np.asarray(places, np.int32),
        hash_words([stem for own in titles for stem in own]),
        _count(titles),
        hash_words([word for own in asides for word in own]),
        _count(asides),
    )


@lru_cache(maxsize=1 << 16)  # the same names come again in every run
def _stem_name(name: str) -> list[str]:
    return sorted(set(list_stems(name)))


def _count(lists: Sequence[Sequence[str]]) -> Ints:
    return np.array([len(own) for own in lists], np.int32)
