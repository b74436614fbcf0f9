"""From candidates to things: which names stand, which of them are one, and where each is mentioned.

What surrounds a text and is no part of it is left out: headers and footers that documents share, repeated show notes.
The second pass (counting pairs) and the third (reading) must agree on all this, so both use `resolve_mentions`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from sensegraph.engines.offline.extraction.german_names import cut_at_nouns
from sensegraph.engines.offline.extraction.names import link_document_names, strip_possessive
from sensegraph.engines.offline.extraction.observations import Candidate, Ends, Lexicon, Mentioned, Phrase
from sensegraph.engines.offline.extraction.page_reader import EDGE, find_codes
from sensegraph.engines.offline.extraction.sentence_words import TOKEN, count_capitals, find_opening_word
from sensegraph.engines.offline.stemming import load_stemmer
from sensegraph.language.speakers import find_labels, write_label
from sensegraph.language.text import fold
from sensegraph.language.word_lists import english_words

_LEAST, _DOCUMENTS = 15, 3
_SHORTEST = 5  # the name of a file may be shorter than `_LEAST`
_PART = 4  # a wrapper is at most this part of the documents that show it: copies of a text share more
_BORDER = re.compile(r"\n|(?<=\w{4})[.!?][\"”’)]*(?=\s)|\|\s|\.[A-Za-z]{2,4}\d?(?=\s)")
_CUT_FRONT = re.compile(r"\s*([A-ZÀ-Þ][A-ZÀ-Þ’'. \-]{0,38}):(?=\s)")
_CUT_BACK = re.compile(r"\n[ \t]*([A-ZÀ-Þ]{2}[A-ZÀ-Þ’'. \-]{0,38})$")


def find_wrappers(ends: Iterable[Ends]) -> tuple[frozenset[str], frozenset[str]]:
    """The beginnings and the ends that at least three documents share word for word, up to a natural border."""
    heads, tails = [], []
    for one in ends:
        size = measure_edge(one)
        heads.append(one.head[:size])
        tails.append(one.tail[::-1][:size])
    fronts, backs = set(), set()
    for front, n in _common_starts(heads):
        fronts.add(front[: max((m.end() for m in _BORDER.finditer(front) if m.end() <= n), default=0)])
    for reverse, n in _common_starts(tails):
        back = reverse[::-1]
        borders = (m.end() for m in _BORDER.finditer(back) if m.end() >= len(back) - n)
        backs.add(back[min(borders, default=len(back)) :])
    fronts = {front[: _find_turn(front)] for front in fronts}
    backs = {back for back in backs if _find_turn(back) == len(back)}
    return _keep_long(fronts), _keep_long(backs)


def _find_turn(text: str) -> int:
    """Where a speaker's turn begins: what someone says is no wrapper, however many say it."""
    return next((label.start for label in find_labels(text + " ") if label.named), len(text))


def _keep_long(found: Iterable[str]) -> frozenset[str]:
    return frozenset(w for w in found if len(w) >= _LEAST or find_codes(w, 0, len(w)))


def _common_starts(texts: Sequence[str]) -> list[tuple[str, int]]:
    """Texts with the length of what they share with two neighbours in the order of texts, where all three differ."""
    ordered = sorted(texts)
    found = []
    for one, other in zip(ordered, ordered[_DOCUMENTS - 1 :], strict=False):
        size = min(len(one), len(other))
        same = next((i for i in range(size) if one[i] != other[i]), size)
        if _SHORTEST <= same < size:
            found.append((one, same))
    return found


def measure_edge(one: Ends) -> int:
    """How many characters of a document's edge may be a wrapper, at most."""
    return min(EDGE, _measure_document(one) // _PART)


def _measure_document(one: Ends) -> int:
    return max(one.bounds, default=0)


@lru_cache(maxsize=4)
def _sort_longest_first(wrappers: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(wrappers, key=lambda w: (-len(w), w)))


def find_body(one: Mentioned, lexicon: Lexicon) -> tuple[int, int]:
    """Where a document's own text begins and ends; what a border left of a speaker's label is no part of it."""
    size = _measure_document(one)
    fronts, backs = _sort_longest_first(lexicon.fronts), _sort_longest_first(lexicon.backs)
    front = next(len(w) for w in fronts if one.head.startswith(w)) if one.head.startswith(fronts) else 0
    back = next(len(w) for w in backs if one.tail.endswith(w)) if one.tail.endswith(backs) else 0
    if one.work in lexicon.talks:
        if (cut := _CUT_FRONT.match(one.head, front)) and _is_label_part(cut[1], lexicon, lexicon.label_ends):
            front = cut.end()
        if not back and (cut := _CUT_BACK.search(one.tail)) and _is_label_part(cut[1], lexicon, lexicon.label_starts):
            back = len(one.tail) - cut.start(1)
    return min(front, size), max(size - back, front)


def _is_label_part(piece: str, lexicon: Lexicon, pieces: frozenset[str]) -> bool:
    key = fold(piece)
    return key not in lexicon.speakers and key in pieces


def list_label_pieces(one: Mentioned, lexicon: Lexicon) -> tuple[set[str], set[str]]:
    """The keys that may be what a border left of labels at the document's edges: at its beginning, and at its end."""
    fronts = _sort_longest_first(lexicon.fronts)
    front = next((len(w) for w in fronts if one.head.startswith(w)), 0)
    first, last = _CUT_FRONT.match(one.head, front), _CUT_BACK.search(one.tail)
    return {fold(cut[1]) for cut in (first,) if cut}, {fold(cut[1]) for cut in (last,) if cut}


def count_outside_words(one: Mentioned, lexicon: Lexicon) -> tuple[Counter[str], Counter[str]]:
    """The capitals and the lower-case words that the observation counts in the document's wrapper."""
    begin, end = find_body(one, lexicon)
    size = _measure_document(one)
    if not begin and end == size:
        return Counter(), Counter()
    words: list[str] = []
    opening: list[str] = []
    for a, b in zip(one.sentences[::2], one.sentences[1::2], strict=True):
        if a < begin:
            here = TOKEN.findall(one.head, a, min(b, begin))
            opening.append(find_opening_word(here))
            words += here
        elif b > end:
            shift = size - len(one.tail)
            here = TOKEN.findall(one.tail, max(a, end) - shift, b - shift)
            if a >= end:
                opening.append(find_opening_word(here))
            words += here
    return count_capitals(words, opening)


def find_notes(one: Mentioned, lexicon: Lexicon) -> frozenset[int]:
    """The sentences that most works of the corpus repeat (show notes), unless they are half of the document."""
    known = lexicon.boilerplate
    notes = frozenset(i // 3 for i, p in enumerate(one.prints) if p in known) if known else frozenset()
    notes = notes if 6 * len(notes) < len(one.prints) else frozenset()  # a copy of a document is no show note
    begin, end = find_body(one, lexicon)
    if not begin and end == _measure_document(one):
        return notes
    spans = zip(one.sentences[::2], one.sentences[1::2], strict=True)
    return notes | {n for n, (a, b) in enumerate(spans) if b <= begin or a >= end}


LONGEST_UNIT, LONGEST_TERM = 4, 6  # words of a concept; characters of one in a script without blanks
_EARLY, _LIKE = 12, 0.3  # among the first things of a document, one that shares words with its title
fold_name = lru_cache(maxsize=1 << 14)(fold)  # names and concepts come back
_HYPHEN = re.compile(r" ?([-–/]) ?")


class Spot(msgspec.Struct, frozen=True, gc=False):
    """One mention: sentence, span in the document, and the key of its thing."""

    sentence: int
    start: int
    end: int
    key: str


class Thing(msgspec.Struct, frozen=True, gc=False):
    """What is mentioned: `key` is its folded name."""

    key: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Scene:
    """The things of one document and their mentions, in order of place."""

    things: Mapping[str, Thing]
    spots: Sequence[Spot]

    def key_of_title(self, title: str) -> str:
        """The key of the thing that the document's title names, if the text mentions it."""
        key = make_name_key(title.split(" (")[0])
        if key in self.things:
            return key
        short = make_name_key(title.split(" (")[0].split(", ")[0])
        if not short or short in self.things:
            return short
        words, likeness = set(short.split()) - english_words("stop"), {}
        for order, (k, thing) in enumerate(self.things.items()):
            shared = words & set(k.split())
            if shared and thing.kind != "c" and order < _EARLY:
                likeness[k] = len(shared) / len(words | set(k.split())) + (k.split()[-1] == short.split()[-1])
        best = max(likeness, key=lambda k: (likeness[k], k), default="")
        return best if likeness.get(best, 0) >= _LIKE else ""


class Named(msgspec.Struct, frozen=True, gc=False):
    """A candidate that stands as a name."""

    candidate: Candidate
    start: int
    surface: str
    key: str


@lru_cache(maxsize=1 << 14)
def make_name_key(surface: str) -> str:
    """The form in which names are one: folded, without article, quotation blanks and possessive."""
    folded = _HYPHEN.sub(r"\1", fold(surface))
    for article in ("the ", "a ", "an "):
        folded = folded.removeprefix(article) if len(folded) > len(article) + 2 else folded
    return folded


def select_standing_names(seen: Mentioned, lexicon: Lexicon) -> list[Named]:
    """The candidates that are names in this corpus, cut where their first word is none."""
    out = []
    begin, end = find_body(seen, lexicon)
    runs = (p for c in seen.names for p in cut_at_nouns(c, lexicon.nouns)) if seen.language == "de" else seen.names
    for c in runs:
        start, surface = c.start, c.surface
        if start < begin or c.end > end:
            continue
        label = fold_name(surface) if "s" in c.marks else ""
        if label and label not in lexicon.speakers and label in lexicon.label_ends:
            continue  # what a border left of another label ("vin scott")
        if c.first:
            refused = not c.more and strip_possessive(c.first) in lexicon.refused
            if refused or c.first in lexicon.refused_runs:
                if c.inner < 0:
                    continue
                start, surface = c.inner, c.surface[c.inner - c.start :]
        key = make_name_key(surface)
        if lexicon.series and f"{c.before} {key}" in lexicon.series:
            continue  # the tail of a series' name, which says nothing
        out.append(Named(c, start, surface, key))
    return out


def link_same_person(names: Sequence[Named], kinds: Mapping[str, str] | None) -> dict[str, str]:
    """One-word keys of a document that stand for a longer name of a person in it; `kinds` where they are known."""
    spoken = {n.key for n in names if "s" in n.candidate.marks}
    return link_document_names(Counter(n.key for n in names), spoken, kinds)


@lru_cache(maxsize=100_000)
def stem_english(word: str) -> str:
    """The English stem of a folded word."""
    return str(load_stemmer("english").stemWord(word))


def stem_unit(words: Sequence[str]) -> str:
    """The stems of a phrase, by which its forms are one."""
    return " ".join(map(stem_english, words))


def find_longest_units(phrase: Phrase, units: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """Kept concepts in a phrase (first word, word after the last, unit), the longest at each place."""
    stems, at = [stem_english(w) for w in phrase.words], 0
    while at < len(stems):
        for size in range(min(LONGEST_UNIT, len(stems) - at), 0, -1):
            unit = " ".join(stems[at : at + size]) if size > 1 else stems[at]
            if unit in units:
                yield at, at + size, unit
                at += size
                break
        else:
            at += 1


def find_longest_terms(run: str, terms: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Kept terms in a run of characters, the longest at each place."""
    at = 0
    while at < len(run):
        size = next((n for n in range(min(LONGEST_TERM, len(run) - at), 1, -1) if run[at : at + n] in terms), 0)
        if size:
            yield at, at + size
        at += size or 1


def group_names(seen: Mentioned, lexicon: Lexicon) -> dict[str, list[Named]]:
    """The names of a document by the key of what they name."""
    names = select_standing_names(seen, lexicon)
    # what stands for a longer name: as the document says, else its work, else the corpus
    here = {n.key for n in names}
    wider = {**lexicon.same.get("", {}), **lexicon.same.get(seen.work, {})}
    same = {k: wider[k] for k in sorted(here & wider.keys())}
    same |= {k: wider.get(v, v) for k, v in link_same_person(names, lexicon.kinds).items()}
    grouped: dict[str, list[Named]] = defaultdict(list)
    for n in names:
        grouped[same.get(n.key, n.key)].append(n)
    return grouped


def resolve_mentions(seen: Mentioned, lexicon: Lexicon) -> Scene:
    """The things of a document and their mentions, hosts and concepts outside the corpus's list left out."""
    grouped, notes = group_names(seen, lexicon), find_notes(seen, lexicon)
    things: dict[str, Thing] = {}
    spots = []
    for key, members in grouped.items():
        told = [m for m in members if m.candidate.sentence not in notes]
        thing = make_named_thing(key, members, lexicon) if told else None
        if thing is None or thing.key in lexicon.hidden:
            continue
        things.setdefault(thing.key, thing)
        spots += [Spot(m.candidate.sentence, m.start, m.candidate.end, thing.key) for m in told]
    spots += _find_concepts(seen, lexicon, spots, things, notes)
    return Scene(things, sorted(spots, key=lambda s: (s.start, s.end, s.key)))


def make_named_thing(key: str, members: Sequence[Named], lexicon: Lexicon) -> Thing | None:
    """The thing that these names mention, under the name that is written most often; None where it is none."""
    kind = lexicon.kinds.get(key, "m")
    if kind == "-":
        return None
    if kind == "c":
        name = lexicon.units.get(stem_unit(key.split()), "")
        return Thing(fold(name), name, "c") if name else None
    if key in lexicon.full:
        name = lexicon.full[key]
        return Thing(fold(name), name, kind)
    surfaces = defaultdict[str, int](int)
    for member in members:
        if member.key == key:
            surface = _write_without_article(member.surface)
            own = write_label(surface) if "s" in member.candidate.marks else surface
            surfaces[lexicon.speakers.get(fold_name(surface), own)] += 1
    name = min(surfaces, key=lambda s: (s.isupper() and " " in s, -surfaces[s], s))
    return Thing(fold(name), name, kind)


@lru_cache(maxsize=1 << 14)
def _write_without_article(surface: str) -> str:
    """A name on one line, without the article that its key has not either."""
    line = " ".join(surface.split())
    for article in ("The ", "the ", "A ", "An "):
        if line.startswith(article) and make_name_key(line) == fold(line[len(article) :]):
            line = line[len(article) :]
    return line


def _find_concepts(
    seen: Mentioned, lexicon: Lexicon, names: Sequence[Spot], things: dict[str, Thing], notes: frozenset[int]
) -> list[Spot]:
    """Mentions of kept concepts that no name covers, show notes left out; adds the concepts to `things`."""
    begin, limit = find_body(seen, lexicon)
    taken = sorted((s.start, s.end) for s in names)
    starts = [a for a, _ in taken]
    spots = []
    known, chinese = lexicon.units, seen.language == "zh"
    for phrase in seen.phrases:
        words = phrase.words
        if chinese:
            terms, place = find_longest_terms(words[0], lexicon.terms), phrase.spans[0]
            found = [(place + a, place + b, words[0][a:b]) for a, b in terms]
        elif len(words) == 1:  # as most are, and no concept
            if (unit := stem_english(words[0])) not in known:
                continue
            start, end = phrase.spans
            found = [(start, end, known[unit])]
        else:
            places, units = phrase.spans, find_longest_units(phrase, known)
            found = [(places[2 * a], places[2 * b - 1], known[unit]) for a, b, unit in units]
        if phrase.sentence in notes:
            continue
        for start, end, name in found:
            if start < begin or end > limit:
                continue
            before = bisect_right(starts, start)
            if (before and taken[before - 1][1] > start) or (before < len(taken) and taken[before][0] < end):
                continue
            key = fold_name(name)
            if key not in things:
                things[key] = Thing(key, name, "c")
            spots.append(Spot(phrase.sentence, start, end, key))
    return spots
