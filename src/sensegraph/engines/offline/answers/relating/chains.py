"""Answers to questions of three or more hops: sentences that lead from one name of the question to another.

Sentences are joined by the names that they share. Where no sentence holds two names of the question, the shortest chain
of sentences between them is the answer, if together they hold most of what is asked.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from sensegraph.engines.offline.answers.asked import Asked, Written, list_shown, show_sentence
from sensegraph.engines.offline.answers.lists.weighing import Weigher
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.asking.answer_types import find_names
from sensegraph.language.text import fold

SHORTEST, LONGEST = 3, 5  # sentences of a chain; two are what facts find
HELD = 0.5  # share of the question, by weight, that the sentences of a chain hold together
OFTEN = 0.5  # what each doubling of the sentences that hold a name adds to the length of the way through it
MOST = 8  # names of one sentence beyond which it is an enumeration that joins nothing
_ASKED = re.compile(r"^\W*(?:which|what)\s+(?:of\s+[^?]*?['’]s?\s+)?(?P<noun>\w{3,}?)s?\b", re.IGNORECASE)
_JOINED = re.compile(r"\s(?:and|und|et|y|e)\s")
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Chain:
    """Names in order, and the sentence between each two of them."""

    names: tuple[str, ...]
    sentences: tuple[SourceSentence, ...]


def answer_chain(asked: Asked) -> Written | None:
    """The chain of sentences between two names of a question; None where there is none of several hops."""
    wanted = list(dict.fromkeys(_name_key(n.text) for n in find_names(asked.question)))
    if len(wanted) < 2:
        return None
    links = _Links(asked)
    ends = [name for name in wanted if name in links.bearing]
    found = [chain for one, other in combinations(ends, 2) if (chain := links.find_chain(one, other))]
    whole = links.weigher
    rated = [
        (whole.share(*(s.raw for s in c.sentences)), -len(c.names), c.names, c) for c in found if _needs_all(whole, c)
    ]
    best = max(rated, default=None)
    if best is None or best[0] < HELD:
        return None
    chain = best[-1]
    answer = _find_asked_name(asked.question, chain)
    shown = [(s, show_sentence(s)) for s in chain.sentences]
    return Written(tuple(list_shown(shown, f"**{links.written[answer]}**: " if answer else "")))


def _name_key(text: str) -> str:
    return fold(_POSSESSIVE.sub("", text))


class _Links:
    """The names of the sentences of a context, and which of them stand together."""

    def __init__(self, asked: Asked) -> None:
        self.weigher = Weigher(asked, asked.question)
        self.written: dict[str, str] = {}
        self.bearing: dict[str, list[int]] = defaultdict(list)
        self.sentences = [s for s in asked.sentences if not is_heading(s.raw) and not s.raw.endswith("?")]
        self.names: list[list[str]] = []
        for i, s in enumerate(self.sentences):
            texts = [text for n in find_names(s.raw) for text in dict.fromkeys((n.text, *_JOINED.split(n.text)))]
            own = {_name_key(text): _POSSESSIVE.sub("", text) for text in texts}
            self.names.append(sorted(own))
            for key, text in own.items():
                self.written.setdefault(key, text)
                self.bearing[key].append(i)

    def find_chain(self, start: str, end: str) -> Chain | None:
        """The shortest way from one name to another, of `SHORTEST` to `LONGEST` sentences; sentences that hold more of
        the question, and names that stand in few sentences, make a way shorter."""
        reached = set[str]()
        before: dict[str, tuple[str, int]] = {}
        queue = [(0.0, start, 0)]
        distance = {start: 0.0}
        while queue:
            length, name, hops = heapq.heappop(queue)
            if name in reached:
                continue
            reached.add(name)
            if name == end:
                return self._trace(start, end, before)
            if hops == LONGEST:
                continue
            crowded = OFTEN * math.log2(len(self.bearing[name]))
            for i in self.bearing[name]:
                if len(self.names[i]) > MOST:
                    continue
                further = length + 2.0 - self.weigher.share(self.sentences[i].raw) + crowded
                for other in self.names[i]:
                    if other not in reached and further < distance.get(other, math.inf):
                        distance[other], before[other] = further, (name, i)
                        heapq.heappush(queue, (further, other, hops + 1))
        return None

    def _trace(self, start: str, end: str, before: Mapping[str, tuple[str, int]]) -> Chain | None:
        names, places = [end], list[int]()
        while names[-1] != start:
            name, i = before[names[-1]]
            names.append(name)
            places.append(i)
        own = [self.sentences[i] for i in reversed(places)]
        if not SHORTEST <= len(own) <= LONGEST or len({s.source for s in own}) < len(own):
            return None
        return Chain(tuple(reversed(names)), tuple(own))


def _needs_all(whole: Weigher, chain: Chain) -> bool:
    """Whether each sentence of a chain holds a word of the question that no other one holds."""
    held = [whole.find_held(s.raw) for s in chain.sentences]
    times = Counter(stem for own in held for stem in own)
    return all(any(times[stem] == 1 for stem in own) for own in held)


def _find_asked_name(question: str, chain: Chain) -> str:
    """The name of the chain that stands in a sentence beside the noun that is asked for, first met from an end."""
    match = _ASKED.match(question)
    if match is None:
        return ""
    noun = re.compile(rf"\b{re.escape(match['noun'])}", re.IGNORECASE)
    holding = [i for i, s in enumerate(chain.sentences) if noun.search(s.raw)]
    if not holding:
        return ""
    pair = (chain.names[holding[0]], chain.names[holding[0] + 1])
    ends = {chain.names[0], chain.names[-1]}
    inner = [name for name in pair if name not in ends]
    return inner[0] if len(inner) == 1 else ""
