"""What sentences tell of entities: the subject, and the rest that can be asked about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sensegraph.lab.scores.standard import split_words
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import HAN, WORD, detect_language, fold, known_form, tag_words
from sensegraph.types import Entity, Graph

_WORDS = (2, 25)  # of what is told, least and most
_POINTING = re.compile(  # what only the text around it explains
    r"(?i)\b(?:he|she|it|they|him|hers|them|this|these|those|there|then|here|former|latter|such|i|we|us|our|you|your|my)\b"
)
_KIND = re.compile(r"(?:is|was|are|were|has been|became)\s+(?:an?|one of)\s")
_CAPITAL = re.compile(r"\b[^\W\d_a-z]\w*(?:\s+[^\W\d_a-z]\w*)*")  # names, each as a whole
_AFTER = 4  # words behind a name that can give way
_SPEAKER = re.compile(r"^[^\W\d_][\w.’' -]{1,40}:\s+")  # who says it, in a transcript
_GAPPED = (8, 30)  # words of a sentence with a gap
_MOST = 4  # of these for one entity
GAP = "____"
_NAMED_BY_WORDS = frozenset(("person", "place", "organization"))
_LONGEST = 6  # words of a name
_SAMPLE = 50  # texts by which the language is told


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of `chunk` that begins with `subject`, and goes on with `rest`, which names `object`.

    Where the object's name can give way to a description of it, it stands between `head` and `after`; else `head` is
    empty. An article before it belongs to neither. `named` says that the name stands by itself, and is no part of
    another or of what a thing is like ("British" in "a British airline").
    """

    subject: Entity
    object: Entity
    sentence: str
    rest: str
    chunk: str
    head: str = ""
    after: str = ""
    named: bool = False

    @property
    def linked(self) -> bool:
        """Whether the object's name can give way to a description of it."""
        return bool(self.head)


def speaks_english(texts: Iterable[str]) -> bool:
    """Whether texts are English: the templates' own words are."""
    joined = " ".join(t for t, _ in zip(texts, range(_SAMPLE), strict=False))
    return not HAN.search(joined) and detect_language(joined) == "en"


def find_stated_facts(graph: Graph, *, english: bool = True) -> list[Told]:
    """What the sentences behind the relations of a graph tell, each sentence of one chunk only, in a fixed order.

    In English what follows the subject must begin with a verb. A sentence that only its surroundings explain (he, this,
    there) tells nothing by itself.
    """
    entities = {e.id: e for e in graph.entities}
    found = []
    for relation in graph.relations:
        one, other = entities[relation.source], entities[relation.target]
        for said in relation.descriptions:
            for start, end in split_sentences(said.text):
                sentence = " ".join(said.text[start:end].split())
                for subject, target in ((one, other), (other, one)):
                    if told := _parse_fact(sentence, subject, target, said.source.chunk, english=english):
                        found.append(told)
    return _keep_unique(found)


def find_tied_entities(graph: Graph) -> list[Told]:
    """What is linked in one chunk alone, by some words, both ways: where no sentence begins with its subject.

    They have no sentence; both ends have names of their own.
    """
    entities = {e.id: e for e in graph.entities}
    ties = []
    for r in graph.relations:
        one, other = entities[r.source], entities[r.target]
        if r.label and len(r.chunks) == 1 and has_proper_name(one) and has_proper_name(other):
            ties += [Told(a, b, "", "", r.chunks[0], named=True) for a, b in ((one, other), (other, one))]
    return ties


def find_gapped_sentences(graph: Graph) -> list[Told]:
    """Sentences of one chunk that name an entity once, with a gap in its place: `rest` is what is left."""
    found: list[Told] = []
    for entity in filter(has_proper_name, graph.entities):
        name, gapped = make_name_pattern(entity.name), list[Told]()
        spans = ((said, start, end) for said in entity.descriptions for start, end in split_sentences(said.text))
        for said, start, end in spans:
            sentence = _SPEAKER.sub("", " ".join(said.text[start:end].split()))
            if len(name.findall(sentence)) == 1 and _GAPPED[0] <= len(split_words(sentence)) <= _GAPPED[1]:
                gapped.append(Told(entity, entity, sentence, name.sub(GAP, sentence), said.source.chunk))
            if len(gapped) == _MOST:
                break
        found += gapped
    return _keep_unique(found)


def _keep_unique(found: Sequence[Told]) -> list[Told]:
    """Those whose sentence one chunk alone has, each once, in a fixed order."""
    places: dict[str, set[str]] = defaultdict(set)
    for one in found:
        places[fold(one.sentence)].add(one.chunk)
    unique = {(t.sentence, t.object.id): t for t in found if len(places[fold(t.sentence)]) == 1}
    return sorted(unique.values(), key=lambda t: (t.chunk, t.sentence, t.object.id))


def make_name_pattern(name: str) -> re.Pattern[str]:
    """A pattern for a name that is no part of a longer word."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _parse_fact(sentence: str, subject: Entity, target: Entity, chunk: str, *, english: bool) -> Told | None:
    """What a sentence that begins with `subject` tells with `target`; None where it does not stand by itself."""
    name = match_subject(sentence, subject) if has_proper_name(subject) else ""
    if not name:
        return None
    rest = sentence[len(name) :].strip().rstrip(".!。！ ")
    outside = rest.count('"') % 2 == 1 or any(rest.count(a) != rest.count(b) for a, b in ("“”", "()", "[]"))
    if "?" in rest or outside or not _WORDS[0] <= len(split_words(rest)) <= _WORDS[1]:
        return None
    if english and (_POINTING.search(rest) or not _begins_with_verb(rest)):
        return None
    # "is a journal" holds for many things, "is a journal of 1948" for few
    if english and _KIND.match(rest) and not re.search(r"\d", rest) and len(_CAPITAL.findall(rest)) < 2:
        return None
    there = next((m for n in _list_names(target) if (m := make_name_pattern(n).search(rest))), None)
    if not there or any(make_name_pattern(n).search(rest) for n in _list_names(subject)):
        return None
    # what stands before and after the name, without an article before it
    before = re.sub(r"\s+(?:the|a|an)$", "", rest[: there.start()].strip(), flags=re.IGNORECASE)
    head, after = (before, rest[there.end() :].strip()) if has_proper_name(target) else ("", "")
    # by itself a name stands behind a verb or a preposition, and before another one or the end
    nearest, following = WORD.findall(head), WORD.findall(after)
    fits = english and bool(nearest) and nearest[-1].islower() and tag_words(nearest)[-1] in "vbpit"
    alone = fits and (not after or not after[0].isalpha() or tag_words(following)[0] in "itcvmw")
    named = bool(head) and (not english or alone)
    short = not after or (english and after[0].isalpha() and len(following) <= _AFTER)
    if not (named and short):
        head = after = ""
    return Told(subject, target, sentence, rest, chunk, head, after, named)


def has_proper_name(entity: Entity) -> bool:
    """Whether an entity has a name of its own: what is written small (a station) is another thing in another text."""
    return not entity.name[:1].islower() or any(c.isupper() for c in entity.name)


def is_heading(entity: Entity) -> bool:
    """Whether what was taken for a name is rather a heading or words in capitals: INSTALL, Requirements, NO WARRANTY.

    A person or a place may be called by a word; of other things a single common word is no name, nor are several words
    in capitals, or many.
    """
    words = entity.name.split()
    capitals = len(words) > 1 and entity.name.isupper() and any(len(w) > 3 for w in words)
    common = len(words) == 1 and known_form(fold(entity.name)) and fold(entity.type) not in _NAMED_BY_WORDS
    return capitals or common or len(words) > _LONGEST or "," in entity.name


def depends_on_context(text: str) -> bool:
    """Whether only what stands around an English text explains it (he, this, there)."""
    return bool(_POINTING.search(text))


def match_subject(sentence: str, subject: Entity) -> str:
    """The subject's name with what may stand before it, where the sentence begins with it."""
    for name in _list_names(subject):
        for article in ("", "The ", "A ", "An "):
            end = len(article + name)
            if fold(sentence[:end]) == fold(article + name) and not sentence[end : end + 1].isalnum():
                return sentence[:end]
    return ""


def _list_names(entity: Entity) -> Sequence[str]:
    """What a sentence may call an entity; a person, by one of its names too."""
    parts = entity.name.split() if fold(entity.type) == "person" else ()
    single = [p for p in reversed(parts) if len(p) > 2 and p[0].isupper() and len(parts) > 1]
    return (entity.name, *entity.aliases, *single)


def _begins_with_verb(rest: str) -> bool:
    """Whether `rest` begins with a finite verb."""
    listed = WORD.findall(rest)
    if not listed or not rest[0].isalpha() or listed[0] != listed[0].lower():
        return False
    found = tag_words(listed)
    if found[0] in "vmb" or (found[0] == "p" and listed[1:2] != ["by"]):
        return True
    bare = listed[0].removesuffix("s")  # flows, borders: nouns to the lexicon
    return bare != listed[0] and tag_words([bare]) in ("n", "b") and found[1:2] in tuple("diNXs#tJ")
