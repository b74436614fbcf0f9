"""What sentences tell of entities: the subject, and the rest that can be asked about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sensegraph.engines.classical.tagging import tags
from sensegraph.evaluation.overlap import words
from sensegraph.stems import ENGLISH, language
from sensegraph.text import HAN, WORD, fold, sentences
from sensegraph.types import Entity, Graph, Relation

_WORDS = (2, 25)  # of what is told, least and most
_POINTING = re.compile(  # what only the text around it explains
    r"\b(?:he|she|it|they|him|hers|them|this|these|those|there|then|here|former|latter|such|i|we|us|our|you|your|my)\b",
    re.IGNORECASE,
)
_AFTER = 4  # words behind a name that can give way
_SAMPLE = 50  # texts by which the language is told


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of `chunk` that begins with `subject`, and goes on with `rest`, which names `object`.

    Where the object's name can give way to a description of it, it stands between `head` and `after`; else `head` is
    empty. An article before it belongs to neither.
    """

    subject: Entity
    object: Entity
    sentence: str
    rest: str
    chunk: str
    head: str = ""
    after: str = ""

    @property
    def linked(self) -> bool:
        """Whether the object's name can give way to a description of it."""
        return bool(self.head)


def speaks_english(texts: Iterable[str]) -> bool:
    """Whether texts are English: the templates' own words are."""
    joined = " ".join(t for t, _ in zip(texts, range(_SAMPLE), strict=False))
    return not HAN.search(joined) and language(words(joined)) == ENGLISH


def told_in(graph: Graph, *, english: bool = True) -> list[Told]:
    """What the sentences behind the relations of a graph tell, each sentence of one chunk only, in a fixed order.

    In English what follows the subject must begin with a verb. A sentence that only its surroundings explain (he, this,
    there) tells nothing by itself.
    """
    entities = {e.id: e for e in graph.entities}
    found = [
        t for r in graph.relations for t in _of_relation(r, entities[r.source], entities[r.target], english=english)
    ]
    places: dict[str, set[str]] = defaultdict(set)
    for one in found:
        places[fold(one.sentence)].add(one.chunk)
    unique = {(t.sentence, t.object.id): t for t in found if len(places[fold(t.sentence)]) == 1}
    return sorted(unique.values(), key=lambda t: (t.chunk, t.sentence, t.object.id))


def _of_relation(relation: Relation, one: Entity, other: Entity, *, english: bool) -> Iterator[Told]:
    for said in relation.descriptions:
        for start, end in sentences(said.text):
            sentence = " ".join(said.text[start:end].split())
            for subject, target in ((one, other), (other, one)):
                if made := _told(sentence, subject, target, said.source.chunk, english=english):
                    yield made


def _told(sentence: str, subject: Entity, target: Entity, chunk: str, *, english: bool) -> Told | None:
    name = _first(sentence, subject)
    if not name:
        return None
    rest = sentence[len(name) :].strip().rstrip(".!。！ ")
    if "?" in rest or not _WORDS[0] <= len(words(rest)) <= _WORDS[1]:
        return None
    if english and (_POINTING.search(rest) or not _predicate(rest)):
        return None
    there = next((m for n in _names(target) if (m := _word(n).search(rest))), None)
    if not there or any(_word(n).search(rest) for n in _names(subject)):
        return None
    head, after = _around(rest, there, english=english)
    return Told(subject, target, sentence, rest, chunk, head, after)


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _around(rest: str, there: re.Match[str], *, english: bool) -> tuple[str, str]:
    """What stands before and after a name, where something else can stand in its place; else nothing."""
    before, after = rest[: there.start()].strip(), rest[there.end() :].strip()
    listed = WORD.findall(after)
    short = not after or (english and len(listed) <= _AFTER and after[0].isalpha() and tags(listed)[0] in "it")
    head = re.sub(r"\s+(?:the|a|an)$", "", before, flags=re.IGNORECASE)
    inside = head.rpartition(" ")[2][:1].isupper()  # the name is part of a longer one
    return (head, after) if short and not inside else ("", "")


def _first(sentence: str, subject: Entity) -> str:
    """The subject's name with what may stand before it, where the sentence begins with it."""
    for name in _names(subject):
        for article in ("", "The ", "A ", "An "):
            end = len(article + name)
            if fold(sentence[:end]) == fold(article + name) and not sentence[end : end + 1].isalnum():
                return sentence[:end]
    return ""


def _names(entity: Entity) -> Sequence[str]:
    """What a sentence may call an entity; a person, by one of its names too."""
    parts = entity.name.split() if fold(entity.type) == "person" else ()
    single = [p for p in reversed(parts) if len(p) > 2 and p[0].isupper() and len(parts) > 1]
    return (entity.name, *entity.aliases, *single)


def _predicate(rest: str) -> bool:
    """Whether `rest` begins with a finite verb."""
    listed = WORD.findall(rest)
    if not listed or not rest[0].isalpha() or listed[0] != listed[0].lower():
        return False
    found = tags(listed)
    if found[0] in "vmb" or (found[0] == "p" and listed[1:2] != ["by"]):
        return True
    bare = listed[0].removesuffix("s")  # flows, borders: nouns to the lexicon
    return bare != listed[0] and tags([bare]) in ("n", "b") and found[1:2] in tuple("diNXs#tJ")
