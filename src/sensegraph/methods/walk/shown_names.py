"""What runs of documents show of names, and all of them together: the names that documents bear, how words are written.

What all show together is kept. After a change, the runs that came are added to it and those that went are taken away;
the others are looked at only for words and names of which something else is known than before.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensegraph.algorithms.graphs import Ints, Longs, cut_ranges, keep_distinct, order_numbers, order_pairs
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.walks import gather_entries, run_offsets
from sensegraph.methods.walk.name_words import MARK, Gazetteer, Noted

_PAIR = re.compile(rf"\{MARK}([^ \n]+)(?= \{MARK}?([^ \n]+))")  # a word that may begin a name, and the next
_MANY = 64  # documents of a run of which it pays to know the pairs of words: fewer are read as soon
_CELLS = 1 << 20  # words, or names, of so many documents that are told at once
_LETTERS = 1 << 20  # of texts of which the words are parted at once
_FEW = 16  # words: so many or fewer are looked for in a text as they are, for more it is parted
_BITS = 4  # that are set for a pair of words
_SIGNS = 1 << 64  # what stands for what is known of words is below it


@dataclass(frozen=True, slots=True)
class ShownRun:
    """What some documents show by themselves: the names that they bear, and how they write words inside sentences.

    `capitals` counts the words that have a capital there; `words` are those that have none, whatever their place,
    parted by blanks, by how often they stand there; `rest` are the other words, and `begun` those that begin a
    sentence. Of many documents `pairs` has bits for each word that may begin a name with the next one (Bloom 1970).
    """

    names: tuple[str, ...]
    capitals: dict[str, int]
    words: dict[int, str]
    rest: tuple[str, ...]
    begun: tuple[str, ...]
    pairs: bytes

    def list_words(self) -> set[str]:
        """All words of the documents."""
        return set(self.capitals).union(self.rest, *(words.split(" ") for words in self.words.values()))

    def find_words(self, wanted: frozenset[str]) -> dict[str, int]:
        """Those of these words that the documents have, with how often they have no capital inside a sentence."""
        found = dict.fromkeys(wanted.intersection(self.rest), 0) | dict.fromkeys(self.capitals.keys() & wanted, 0)
        for count, words in self.words.items():
            if len(wanted) > _FEW:
                found |= dict.fromkeys(wanted.intersection(words.split(" ")), count)
            else:
                text = f" {words} "
                found |= {word: count for word in wanted if f" {word} " in text}
        return found


def hash_pairs(pairs: Iterable[str]) -> Longs:
    """Numbers that stand for pairs of words with a blank between them; for names of other sizes they are not used."""
    return np.array([crc32(pair.encode("utf-8", "surrogatepass")) for pair in pairs], np.int64)


def place_bits(hashes: Longs, room: ArrayLike) -> Iterator[Longs]:
    """The places of the `_BITS` bits of each pair, given by hash, shape (n,), among so many bits, a power of two.

    The first of all pairs come first, shape (n,). All are set by chance for one pair in forty at most.
    """
    step = hashes >> 16 | 1
    for number in range(_BITS):
        yield (hashes + number * step) & (np.asarray(room) - 1)


def cut_texts(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Texts in ranges of which the words are in memory at once."""
    return cut_ranges(np.array(list(map(len, texts)), np.int64), _LETTERS)


def show_run(documents: Sequence[Noted]) -> ShownRun:
    """What these documents show by themselves."""
    names = set[str]()
    for document in documents:
        names.update(document.bears, document.quoted, *(chunk.bears for chunk in document.chunks))
    texts = ["\n".join([chunk.words for chunk in document.chunks]) for document in documents]
    pairs, openers, counts = set[tuple[str, str]](), Counter[str](), Counter[str]()
    for first, last in cut_texts(texts):
        lines = "\n".join(texts[first:last])
        pairs.update(_PAIR.findall(lines) if len(documents) >= _MANY else ())
        openers.update([line.partition(" ")[0] for line in lines.split("\n")])
        counts.update(lines.replace("\n", " ").split(" "))
    for word, count in openers.items():  # their capitals say nothing
        counts[word] -= count
    capitals = {word[1:]: count for word, count in counts.items() if count and word.startswith(MARK)}
    words = {word: count for word, count in counts.items() if count and MARK not in word}
    rest = {word.replace(MARK, "") for word in counts} - words.keys() - capitals.keys()
    listed = defaultdict[int, list[str]](list)
    for word in sorted(words):
        listed[words[word]].append(word)
    by_count = {count: " ".join(listed[count]) for count in sorted(listed)}
    bits = np.zeros(8 << (len(pairs)).bit_length() if pairs else 0, np.bool_)
    for places in place_bits(hash_pairs(map(" ".join, pairs)), len(bits)):
        bits[places] = True
    begun = tuple(sorted({word.replace(MARK, "") for word in openers}))
    return ShownRun(tuple(sorted(names)), capitals, by_count, tuple(sorted(rest)), begun, np.packbits(bits).tobytes())


@dataclass(frozen=True, slots=True)
class StoredNames:
    """What some runs show together, as it is stored: `ShownNames` in columns, numbers in eight bytes.

    `runs` are their keys, `told` says for each what stands for what is known of its words.
    """

    runs: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    names: str = ""
    borne: bytes = b""
    words: str = ""
    shown: bytes = b""
    counts: bytes = b""


NOTHING = StoredNames()


@dataclass(frozen=True)
class ShownNames:
    """What some runs show together: in how many runs documents bear each name (`borne`).

    And of each word with a capital inside a sentence, in how many runs it has one (`shown`), and how much more often it
    has one than none (`counts`).
    """

    borne: dict[str, int] = field(default_factory=dict)
    shown: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    @classmethod
    def unpack(cls, stored: StoredNames) -> ShownNames:
        """What was stored. Raises ValueError where its columns do not fit together."""
        names, words = (
            said.split(parting) if said else [] for said, parting in ((stored.names, "\n"), (stored.words, " "))
        )
        listed = (names, stored.borne), (words, stored.shown), (words, stored.counts)
        return cls(*(dict(zip(some, np.frombuffer(many, "<i8").tolist(), strict=True)) for some, many in listed))

    def pack(self, told: Mapping[str, str]) -> StoredNames:
        """This to be stored, with what stands for what is known of the words of each run."""
        names, words = sorted(self.borne), sorted(self.shown)
        listed = (self.borne, names), (self.shown, words), (self.counts, words)
        borne, shown, counts = (np.array([of[name] for name in some], "<i8").tobytes() for of, some in listed)
        return StoredNames((*told,), (*told.values(),), "\n".join(names), borne, " ".join(words), shown, counts)

    @cached_property
    def known(self) -> Gazetteer:
        """The names that documents bear, and how they write their words."""
        return Gazetteer(frozenset(self.borne), self.counts)

    @cached_property
    def words(self) -> ToldWords:
        """What tells what is known of words."""
        return ToldWords(self.known)

    def change(self, went: Sequence[ShownRun], came: Sequence[ShownRun]) -> tuple[ShownNames, frozenset[str]]:
        """This without the runs that went and with those that came, all read twice.

        And the words that begin to have a capital: how often others of the runs write them without is not counted yet.
        """
        borne, shown, counts = dict(self.borne), dict(self.shown), dict(self.counts)
        for sign, runs in ((-1, went), (1, came)):
            for run in runs:
                _add(borne, dict.fromkeys(run.names, sign))
                _add(shown, dict.fromkeys(run.capitals, sign))
                _add(counts, run.capitals, sign)
        fresh = frozenset(shown.keys() - self.shown.keys())
        for sign, runs, words in ((1, went, frozenset(self.shown)), (-1, came, fresh.union(self.shown))):
            for run in runs:
                _add(counts, run.find_words(words), sign)
        for name in {name for run in went for name in run.names if not borne[name]}:
            del borne[name]
        for word in {word for run in went for word in run.capitals if not shown[word]}:
            del shown[word], counts[word]
        return ShownNames(borne, shown, counts), fresh


def join_shown(
    keys: Sequence[str], read: Callable[[Sequence[str]], Sequence[ShownRun]], before: StoredNames = NOTHING
) -> tuple[ShownNames, dict[str, str]]:
    """What the runs with these keys show together, and what stands for what is known of the words of each.

    `read` gives what the runs with some keys show by themselves. Of those that were there `before` and stay, only those
    are read of whose words something else is known than before.
    """
    then, now = set(before.runs), set(keys)
    stay, came = [k for k in before.runs if k in now], [k for k in dict.fromkeys(keys) if k not in then]
    old, more = ShownNames.unpack(before), read(came)
    new, fresh = old.change(read([k for k in before.runs if k not in now]), more)
    told = {k: sign for k, sign in zip(before.runs, before.told, strict=True) if k in now}
    names = old.borne.keys() ^ new.borne.keys()
    wanted = fresh.union(
        (word for word, many in old.counts.items() if _sign(many) != _sign(new.counts.get(word, 0))),
        *(name.split(" ") for name in names),
    )
    if stay and wanted:
        found = [(run.find_words(wanted), wanted.intersection(run.begun), run.pairs) for run in read(stay)]
        for words, *_ in found:
            _add(new.counts, {word: words[word] for word in fresh.intersection(words)}, -1)
        changes = []
        for some in (old, new):
            counts = {word: some.counts.get(word, 0) for word in wanted}
            changed = ToldWords(Gazetteer(frozenset(names & some.borne.keys()), counts))
            changes.append(changed.sum_up(*_number_words(changed, found)))
        for k, less, plus in zip(stay, *changes, strict=True):
            told[k] = f"{(int(told[k], 16) - less + plus) % _SIGNS:x}"
    if more:
        held = [(run.list_words(), run.begun, run.pairs) for run in more]
        told |= zip(came, new.words.tell(*_number_words(new.words, held)), strict=True)
    return new, {k: told[k] for k in keys}


def _number_words(
    words: ToldWords, held: Iterable[tuple[Iterable[str], Iterable[str], bytes]]
) -> tuple[list[Ints], list[Ints], list[bytes]]:
    """The words that runs have, and those that begin their sentences, by their numbers; and pairs."""
    listed = [(words.number(own), words.number(begun), pairs) for own, begun, pairs in held]
    return [own for own, *_ in listed], [begun for _, begun, _ in listed], [pairs for *_, pairs in listed]


def make_gazetteer(documents: Sequence[Noted]) -> Gazetteer:
    """The names that `documents` bear, and how they write their words."""
    return join_shown([""], lambda keys: [show_run(documents) for _ in keys])[0].known


def _add(counts: dict[str, int], more: Mapping[str, int], sign: int = 1) -> None:
    for word, many in more.items():
        counts[word] = counts.get(word, 0) + sign * many


def _sign(count: int) -> int:
    return (count > 0) - (count < 0)


def _look_up(kept: NDArray[Any], places: NDArray[Any], make: Callable[[Longs], NDArray[Any]]) -> NDArray[Any]:
    """What is kept at these places; each is made when it is first asked for."""
    new = keep_distinct(places[kept[places] == 0])
    kept[new] = make(new)
    found: NDArray[Any] = kept[places]
    return found


class ToldWords:
    """Tells what stands for what is known of words: how they are written, and the names that are made of them.

    Words have numbers. Names stand by that of their words which fewest of them have, each with the `second` and the
    `others` of these, of which there are so many `more`.
    """

    def __init__(self, known: Gazetteer) -> None:
        names = list(known.names)
        parts = " ".join(names).split(" ") if names else []
        self.listed = list(dict.fromkeys(chain(known.capitals, parts)))
        self.numbers = dict(zip(self.listed, range(len(self.listed)), strict=True))
        sizes = np.array([name.count(" ") for name in names], np.int64) + 1
        words = np.fromiter(map(self.numbers.__getitem__, parts), np.int64, len(parts))
        many, first = np.bincount(words, minlength=len(self.listed)), run_offsets(sizes)[:-1]
        # of each name its rarest word first
        words = words[order_pairs(np.repeat(np.arange(len(names)), sizes), many[words])]
        order, seconds = order_numbers(words[first]), np.minimum(first + 1, first + sizes - 1)
        self.counts, self.signs = np.zeros(len(self.listed), np.int64), np.zeros(len(self.listed), np.uint64)
        self.counts[: len(known.capitals)] = list(known.capitals.values())
        self.start = run_offsets(np.bincount(words[first], minlength=len(self.listed)))
        self.names, self.order, self.hashes = names, order, np.zeros(len(names), np.uint64)
        self.second = words[seconds][order]  # the only word where there is one
        self.pairs, self.paired = np.zeros(len(names), np.int64), (sizes == 2)[order]
        more = np.maximum(sizes - 2, 0)
        places, self.more = gather_entries(run_offsets(more), order)
        self.others, self.begin = np.delete(words, np.concatenate((first, seconds)))[places], run_offsets(self.more)

    def _hash_names(self, places: Longs) -> NDArray[np.uint64]:
        return _look_up(self.hashes, places, lambda new: hash_words(self.names[i] for i in self.order[new].tolist()))

    def _hash_pairs(self, places: Longs) -> Longs:
        return _look_up(self.pairs, places, lambda new: hash_pairs(self.names[i] for i in self.order[new].tolist()))

    def _hash_words(self, words: Ints) -> NDArray[np.uint64]:
        """The hashes of words that are written one way more often, with that way."""
        written = self.counts > 0
        return _look_up(
            self.signs, words, lambda new: hash_words(f"{self.listed[i]} {written[i]}" for i in new.tolist())
        )

    def number(self, words: Iterable[str]) -> Ints:
        """The numbers of those of the words that have any."""
        return np.array([number for number in map(self.numbers.get, words) if number is not None], np.int32)

    def number_each(self, several: Sequence[Sequence[str]]) -> list[Ints]:
        """The numbers of those of the words in each list that have any, ascending, each once."""
        every = chain.from_iterable(several)
        numbers = np.fromiter(map(self.numbers.get, every, repeat(-1)), np.int64, sum(map(len, several)))
        row = np.repeat(np.arange(len(several)), list(map(len, several)))[numbers >= 0]
        pairs = keep_distinct(row << 32 | numbers[numbers >= 0])
        ends = np.searchsorted(pairs, np.arange(1, len(several)) << 32)
        return np.split((pairs & (1 << 32) - 1).astype(np.int32), ends)

    def tell(self, several: Sequence[Ints], begun: Sequence[Ints], pairs: Sequence[bytes] = ()) -> list[str]:
        """For each of `several` lists of numbers of words, each once: what stands for what is known of these words.

        Texts of which it is the same mention the same names: how a word is written is asked only of those that have
        `begun` a sentence. Where the `pairs` of a list are given, a name of two words counts only if it may be one of
        them.
        """
        return [f"{sign:x}" for sign in self.sum_up(several, begun, pairs)]

    def sum_up(self, several: Sequence[Ints], begun: Sequence[Ints], pairs: Sequence[bytes] = ()) -> list[int]:
        """What `tell` tells as numbers of 64 bits: sums over words and names."""
        bits = np.unpackbits(np.frombuffer(b"".join(pairs), np.uint8)).view(np.bool_)  # each is a byte, 0 or 1
        room = np.array([8 * len(own) for own in pairs] or [0] * len(several), np.int64)
        first = run_offsets(room)
        told, width = list[int](), len(self.numbers)
        step = max(1, _CELLS // max(width, len(self.names), 1))
        for at in range(0, len(several), step):
            some = several[at : at + step]
            row, word = np.repeat(np.arange(len(some)), list(map(len, some))), np.concatenate(some)
            there = np.zeros((len(some), width), np.bool_)
            there[row, word] = True
            made, sizes = gather_entries(self.start, word)
            owner = np.repeat(row, sizes)
            fits = there[owner, self.second[made]]
            longer = np.flatnonzero(fits & (self.more[made] > 0))
            places, sizes = gather_entries(self.begin, made[longer])
            missed = ~there[np.repeat(owner[longer], sizes), self.others[places]]
            fits[np.repeat(longer, sizes)[missed]] = False
            paired = np.flatnonzero(fits & self.paired[made] & (room[at + owner] > 0))
            which = at + owner[paired]
            for place in place_bits(self._hash_pairs(made[paired]), room[which]):
                fits[paired] &= bits[first[which] + place]
            sums = np.zeros(len(some), np.uint64)
            opened = begun[at : at + step]
            row, word = np.repeat(np.arange(len(some)), list(map(len, opened))), np.concatenate(opened)
            written = np.flatnonzero(self.counts[word])
            np.add.at(sums, row[written], self._hash_words(word[written]))
            np.add.at(sums, owner[fits], self._hash_names(made[fits]))
            told += sums.tolist()
        return told
