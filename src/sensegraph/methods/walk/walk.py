"""A walk over passages and names: from what a question names to what that leads to. No model, no vectors needed.

paper: the walk with a weak text prior of HippoRAG 2 (Gutiérrez et al. 2025, §3), over names instead of triples; the
second hop over what a passage leaves open is our own
index: chunk → the names that it mentions and bears (part `names`), and the chunks' words
query: names and words of the question → a walk of a few steps → bridges to what the best passages leave open
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sensegraph.algorithms.graphs import Floats, Longs
from sensegraph.algorithms.ranking import Ranked, Ranking, hash_words, select_best
from sensegraph.algorithms.walks import gather_entries, walk_with_restart
from sensegraph.answering.asking import AnswersOnce
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.index.restricted.scope import ScopedIndex
from sensegraph.index.vectors import asked_vector, nearest_to
from sensegraph.language.text import list_stems
from sensegraph.methods import IT_MUST, check_fields
from sensegraph.methods.walk.name_words import Hashes, fold_words, write_letters
from sensegraph.methods.walk.naming import NAMES, Names
from sensegraph.methods.walk.second_order import feed_back, find_copies, measure_signs, read_weights, with_neighbours
from sensegraph.methods.walk.wording import WORDING, Wording
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.arms import Diversify, by_meaning, diversify_ranking, evidence_of
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Evidence, Question

_MOST = 12  # words of a name that is looked for


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question over chunks (n): `names` are those of the index that it has, in its order.

    For each of its distinct stems (t), in the order of `keys`, their hashes: `hits`, which chunks, ascending, score
    what by BM25, and `idf`. `words` (n) is the BM25 score of every chunk, `plain` the hashes of the folded words.
    """

    names: tuple[int, ...]
    keys: Hashes
    hits: tuple[Ranked, ...]
    idf: Floats
    words: Floats
    plain: Hashes

    def aside(self, chunk: int, names: Names) -> float:
        """How many words of the parenthesis in a chunk's title the question has, less 0.01 for each that it has not."""
        mine = names.asides[int(names.aside[chunk]) : int(names.aside[chunk + 1])]
        there = int(np.isin(mine, self.plain).sum())
        return there - 0.01 * (len(mine) - there)

    def uncovered(self, chunk: int, names: Names, inside: float) -> Floats:
        """The weight of every stem, shape (t,), once this chunk is known: 0 in its title, `inside` its text, else 1."""
        titled = np.isin(self.keys, names.stems[int(names.title[chunk]) : int(names.title[chunk + 1])])
        places = [(who, int(np.searchsorted(who, chunk))) for who, _ in self.hits]
        there = np.array([at < len(who) and int(who[at]) == chunk for who, at in places], bool)
        return np.where(titled, 0.0, np.where(there, inside, 1.0))

    def scores(self, pool: Longs) -> Floats:
        """The BM25 score of each stem in each chunk of `pool`, ascending, shape (t, len(pool))."""
        found = np.zeros((len(self.hits), len(pool)))
        for row, (who, score) in zip(found, self.hits, strict=True):
            if len(pool) == len(self.words):
                row[who] = score
            elif len(who):
                at = np.minimum(np.searchsorted(who, pool), len(who) - 1)
                row[:] = np.where(who[at] == pool, score[at], 0.0)
        return found


def ask_names(text: str, index: Index, k1: float, b: float) -> Asked:
    """What `text` says to the names and words of an index; BM25 with `k1` and `b`."""
    names, words = index.part(NAMES), replace(index.words, k1=k1, b=b)
    found = list_stems(text)
    distinct = sorted(set(found))
    places = np.asarray(index.places, np.int64) if isinstance(index, ScopedIndex) else None
    total, hits = np.zeros(names.chunks), list[Ranked]()
    for times, (who, score) in words.hits(found):
        if places is not None:  # the part of a hit that a filter leaves, on its own numbers
            at = np.minimum(np.searchsorted(places, who), len(places) - 1)
            there = places[at] == who
            who, score = at[there], score[there]
        total[who] += score if times == 1 else times * score
        hits.append((who, score))
    idf = np.array([words.idf(word) for word in distinct])
    plain = hash_words(fold_words(text))
    return Asked(tuple(names_in_question(text, names)), hash_words(distinct), tuple(hits), idf, total, plain)


def names_in_question(text: str, names: Names) -> list[int]:
    """The names of the index in a text, each once, in its order: the longest at each word, from left to right.

    A single word counts where it has a capital, or is a name in the corpus wherever it has one.
    """
    words, letters = write_letters(text)
    most = min(names.longest, _MOST)
    spans = [(i, j) for i in range(len(words)) for j in range(i + 1, min(i + most, len(words)) + 1)]
    places = names.find([" ".join(words[i:j]) for i, j in spans])
    known = {span: place for span, place in zip(spans, places.tolist(), strict=True) if place >= 0}
    found: list[int] = []
    reached = 0
    for begin, end in sorted(known, key=lambda span: (span[0], -span[1])):
        place = known[begin, end]
        if begin >= reached and (end - begin > 1 or letters[2 * begin] in "CAZ" or names.proper[place]):
            found.append(place)
            reached = end
    return list(dict.fromkeys(found))


_ALL = 20_000  # chunks up to which every one is looked at
_POOL = 2_000  # chunks that are looked at for their words in a larger corpus
BY_WORDS = "words"  # the name of a ranking in which names had no say
_READ = 50  # passages of which none is read twice
_TIE = 1e-6  # words decide among what the walk does not come to


@dataclass(frozen=True)
class Walk(AnswersOnce):
    """A walk over passages and names.

    It starts with `borne` at the passages that hold a name of the question, with `text` at the `first` best passages
    by words (score to the `power`), and with `named` at the names themselves; a share that leads nowhere goes to the
    others. It takes `steps` steps, with 1 − `damping` back to the start before each. Then the `bridges` best passages
    lead on, with the weight `bridge`, to passages that have what they leave open of the question - a word of their
    text counts `covered`, of their title nothing - and are tied to them by a name: that they bear it counts 1, that
    their title has its words `titled`, that they mention it `mentioned`, no tie at all `untied`. A passage with more
    than `spread` names lends less to each.

    What the best passages say is added to the question, and with it the `top` passages are ordered again. Where names
    lead nowhere, to less than `linked` other passages from each, there is no walk: words of the question, of
    neighbours in a series, and of the best passages decide.

    Where more than the share `dialogue` of all mentions are of names that are everywhere, as in conversations, walk
    and bridges count `hubbed`. An embedder that knows meaning has half of `text`. `diversify` says whether each passage
    is to add to those before it, and `balance` how much its score counts then.
    """

    borne: float = 0.6
    text: float = 0.3
    named: float = 0.1
    first: int = 50
    power: float = 3.0
    damping: float = 0.7
    steps: int = 8
    bridge: float = 1.0
    bridges: int = 5
    covered: float = 0.1
    titled: float = 0.8
    mentioned: float = 0.4
    untied: float = 0.05
    spread: int = 10
    dialogue: float = 0.5
    hubbed: float = 0.3
    linked: float = 0.25
    k1: float = 1.2
    b: float = 0.6
    top: int = 100
    context_tokens: int = 8_000
    diversify: Diversify = "none"
    balance: float = 0.7
    name: str = "walk"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"names", "wording"})
    can_miss: ClassVar[frozenset[PartName]] = frozenset({"wording"})

    def __post_init__(self) -> None:
        for name in ("first", "steps", "bridges", "spread", "top", "context_tokens"):
            if getattr(self, name) < (0 if name == "bridges" else 1):
                raise SettingsError(f"walk: {name} is {getattr(self, name)}; it must be at least 1.")
        check_fields(
            self, "borne text named bridge covered titled mentioned untied linked k1 power", "be 0 or more", IT_MUST
        )
        check_fields(self, "damping dialogue hubbed b balance", "be from 0 to 1", IT_MUST)

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The passages that the walk comes to, best first, within the context."""
        found = self.rank(question, index, rt)
        notes = list[str]()
        ranked = diversify_ranking(question, found, index, rt, self.diversify, self.balance)
        if WORDING.name not in index.manifest.part_names:
            return evidence_of(ranked, index, self.top, self.context_tokens, notes)
        new = np.ones(len(ranked), bool)
        new[:_READ] = ~np.array(find_copies(ranked.positions[:_READ], index.part(WORDING)), bool)
        if not new.all():
            notes.append(f"{int((~new).sum())} passages that say what one before them says were not read again")
        once = Ranking(ranked.name, ranked.positions[new], ranked.scores[new])
        named = tuple(
            dict.fromkeys(e.document for e in take_records(index.catalogue.chunks, ranked.positions.tolist()))
        )
        return replace(evidence_of(once, index, self.top, self.context_tokens, notes), documents=named)

    def rank(self, question: Question, index: Index, rt: Runtime) -> Ranking:
        """The `top` best chunks of the index; the ranking is called `BY_WORDS` where links had no say in it."""
        names, seen = index.part(NAMES), ask_names(question.sought, index, self.k1, self.b)
        worded = index.part(WORDING) if WORDING.name in index.manifest.part_names else None
        if worded is None or names.links >= self.linked:
            walked = self._walk(question, seen, names, index, rt)
            return self._ordered_again(question, walked, worded) if worded is not None else walked
        return self._by_words(question, seen, names, worded, index, rt)

    def _by_words(
        self, question: Question, seen: Asked, names: Names, worded: Wording, index: Index, rt: Runtime
    ) -> Ranking:
        """The best chunks where names lead nowhere: those with the words of the question, and their neighbours."""
        text = self._text(seen, question, index, rt)
        near = with_neighbours(text[0], worded)
        chunks = np.unique(np.concatenate((near, select_best(seen.words, self.top)[0])))
        if not len(chunks):
            return Ranking(BY_WORDS, chunks, np.zeros(0))
        signs = measure_signs(question.sought, chunks, worded, names.document)
        if by_meaning("auto", rt):  # meaning has half of what words tell
            meant = np.zeros(len(chunks))
            meant[np.searchsorted(chunks, text[0])] = text[1]
            signs[:, 0] = (signs[:, 0] + meant) / 2
        at, score = select_best(signs @ np.array(read_weights().plain), self.top)
        return Ranking(BY_WORDS, chunks[at], score)

    def _ordered_again(self, question: Question, walked: Ranking, worded: Wording) -> Ranking:
        """The chunks of a walk in the order of their scores and of what its first ones add to the question."""
        order = np.argsort(walked.positions)
        chunks, score = walked.positions[order], walked.scores[order]
        if not len(chunks):
            return walked
        added = feed_back(question.sought, (walked.positions, walked.scores), chunks, worded)
        at, score = select_best(score / walked.scores[0] + read_weights().linked * added, self.top)
        return Ranking(walked.name, chunks[at], score)

    def _walk(self, question: Question, seen: Asked, names: Names, index: Index, rt: Runtime) -> Ranking:
        """The chunks that the walk and its bridges come to."""
        talk = names.hubs > self.dialogue
        start = self._start(seen, self._text(seen, question, index, rt), names)
        here, p = self._walked(start, names, self.hubbed if talk else self.damping)
        at, mass = select_best(p, self.bridges)  # the chunks with the most mass
        hops = [(c, w, *self._bridge(c, names)) for c, w in zip(here[at].tolist(), mass.tolist(), strict=True)]
        pool = self._pool(here, [chunks for _, _, chunks, _ in hops], seen)
        score = np.zeros(len(pool))
        score[np.searchsorted(pool, here)] = p
        score += self.bridge * (self.hubbed if talk else 1.0) * self._bridged(hops, pool, seen, names)
        score += _TIE * seen.words[pool] / max(float(seen.words.max(initial=0)), _TIE)
        at, found = select_best(score, self.top)
        return Ranking("walk", pool[at], found)

    # ── where the walk starts ──

    def _start(self, seen: Asked, text: Ranked, names: Names) -> tuple[Longs, Floats]:
        """The nodes that the walk starts at, ascending, and its mass at each, which sums to 1."""
        borne: dict[int, float] = {}
        named: dict[int, float] = {}
        for name in seen.names:
            chunks, bears = names.holding(name)
            if len(chunks):
                alone = len(chunks) == 1  # such a name is no node that leads anywhere
                node = int(chunks[0]) if alone else names.chunks + name
                named[node] = named.get(node, 0.0) + 1 / len(chunks)
            if 0 < names.bearers[name] <= names.owners:
                for chunk, share in self._shared(chunks[bears].tolist(), seen, names):
                    borne[chunk] = borne.get(chunk, 0.0) + float(names.salience[name]) * share
        words = dict(zip(text[0].tolist(), (text[1] ** self.power).tolist(), strict=True))
        # each block of mass is scaled to its share, those without mass are left out; in all 1
        blocks = [(borne, self.borne), (words, self.text), (named, self.named)]
        mixed: dict[int, float] = {}
        there = [(block, share / sum(block.values())) for block, share in blocks if share and sum(block.values()) > 0]
        for block, scale in there:
            for node, some in block.items():
                mixed[node] = mixed.get(node, 0.0) + scale * some
        nodes = sorted(mixed)
        mass = np.array([mixed[node] for node in nodes])
        return np.array(nodes, np.int64), mass / max(float(mass.sum()), 1e-300)

    def _shared(self, chunks: list[int], seen: Asked, names: Names) -> list[tuple[int, float]]:
        """How chunks that bear the same name share it: by the parentheses of their titles, then by their words."""
        top = max(float(seen.words.max(initial=0)), _TIE)
        z = np.array([10 * seen.aside(chunk, names) + seen.words[chunk] / top for chunk in chunks])
        share = np.exp(z - z.max())
        return list(zip(chunks, (share / share.sum()).tolist(), strict=True))

    def _text(self, seen: Asked, question: Question, index: Index, rt: Runtime) -> Ranked:
        """The first chunks by words, or by words and meaning alike where the embedder knows meaning; scores up to 1."""
        at, score = select_best(seen.words, self.first)
        score = score / score[:1]
        if not by_meaning("auto", rt):
            return at, score
        near, cosine = nearest_to(asked_vector(question, rt), index, rt, 4 * self.first)
        cosine = (cosine - cosine[-1:]) / max(float(cosine[:1].sum() - cosine[-1:].sum()), _TIE)
        both = np.union1d(at, near)
        mean = np.zeros(len(both))
        mean[np.searchsorted(both, at)] += score / 2
        mean[np.searchsorted(both, near)] += cosine / 2
        found, score = select_best(mean, self.first)
        return both[found], score

    def _walked(self, start: tuple[Longs, Floats], names: Names, damping: float) -> Ranked:
        """The chunks that the walk comes to, ascending, and its mass there over the largest."""
        if not len(start[0]):
            return start
        here, mass = walk_with_restart(names.paths, *start, damping, self.steps)
        chunks = (here < names.chunks) & (mass > 0)
        return here[chunks], mass[chunks] / max(float(mass[chunks].max(initial=0)), 1e-300)

    # ── bridges to what is left open ──

    def _bridge(self, chunk: int, names: Names) -> Ranked:
        """Chunks that names lead to from this one, in any order and maybe twice, and how closely each is tied to it."""
        held, bears = names.of(chunk)
        common = max(3.0, min(0.1 * names.chunks, _POOL))
        mine = held[~bears & (names.chunks_of[held] <= common)]
        tie = names.salience[mine].astype(np.float64) * min(1.0, self.spread / max(len(mine), 1))
        holding, many = gather_entries(names.begin, mine)
        hinted, more = gather_entries(names.hint, mine)
        borne = np.where(names.borne[holding] > 0, 1.0, self.mentioned) * np.repeat(tie, many)
        chunks = np.concatenate((names.holders[holding], names.hints[hinted])).astype(np.int64)
        return chunks, np.concatenate((borne, self.titled * np.repeat(tie, more)))

    def _pool(self, here: Longs, bridged: list[Longs], seen: Asked) -> Longs:
        """The chunks that are scored, ascending: all of a small corpus; else what walk, bridges and words lead to."""
        if len(seen.words) <= _ALL:
            return np.arange(len(seen.words))
        return np.unique(np.concatenate([here, *bridged, select_best(seen.words, _POOL)[0]]))

    def _bridged(self, hops: list[tuple[int, float, Longs, Floats]], pool: Longs, seen: Asked, names: Names) -> Floats:
        """What the best chunks add to each chunk of the pool: Σ p · (share of what is left open) · (tie + untied)."""
        total, scores = np.zeros(len(pool)), seen.scores(pool)
        for chunk, p, chunks, ties in hops:
            weight = seen.uncovered(chunk, names, self.covered)
            left = (weight[:, None] * scores).sum(axis=0) / max(float(weight @ seen.idf), _TIE)
            tie = np.zeros(len(pool))
            np.maximum.at(tie, np.searchsorted(pool, chunks), ties)
            gain = p * left * (tie + self.untied)
            gain[np.searchsorted(pool, chunk)] = 0
            total += gain
        return total
