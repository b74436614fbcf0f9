"""Places of a graph that questions can be grounded in, by class: the chunks that an answer needs, and what they tell.

    local            one sentence on an entity
    bridge           a chain of sentences of different chunks: each names what the next one begins with; or what links
                     two things that no chunk names together
    intersection     two sentences of different chunks on one entity
    comparison       two entities of one type, each told of in a chunk of its own, with something in common
    temporal         two dated claims, or one entity in documents of different times
    disambiguation   one of several entities with the same name, or with a part of the name in common
    global           a cluster of the hierarchy
    adversarial      a sentence whose object is exchanged, so that nothing tells it

papers: section 35 of the survey (N42–N46); the classes of Edge et al. (2025)
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice

from sensegraph.lab.questions.question_files import Kind
from sensegraph.lab.questions.stated_facts import Told, depends_on_context, has_proper_name, is_heading, match_subject
from sensegraph.lab.scores.standard import rouge_1
from sensegraph.language.naming_words import COUNTRY
from sensegraph.language.text import fold, known_form
from sensegraph.language.word_lists import ABBREVIATED_MONTHS, ENGLISH_MONTHS
from sensegraph.runtime.keys import key
from sensegraph.types import Claim, Cluster, Entity

_VAGUE = frozenset(("", "other", "concept"))  # types that make two things no pair
_SHARED = 12  # things of a type that may share something that still tells of each
_ALIKE = 0.4  # ROUGE-1 from which two sentences tell much the same
_HUB = 50  # facts of one thing that are looked through for a link
_EACH = 8  # grounds from one entity at most, before they are drawn from
_MOST = 12  # chunks of evidence at most
_LONG = 25  # words of a sentence that is asked about
_LEAST = 3  # entities of a cluster that a question can be asked of
_MONTH = rf"(?:{'|'.join(map(str.title, (*ENGLISH_MONTHS, *ABBREVIATED_MONTHS)))})\.?"
_DATE = re.compile(  # with its preposition, where the sentence is whole without it
    r",?\s*\b(?:in|on|since|by|during|until|from|around)\s+(?:the\s+)?(?:(?:early|late|mid)\s+)?"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s+)?(?:{_MONTH}\s+)?(?:\d{{1,2}},\s+)?\d{{4}}\b"
    r"(?=\s*(?:[.,;)]|$)|\s+(?:and|at|in|by|with|to|for|from|as|when|after|before|of|on)\b)"
)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a question can be grounded in. `told` are sentences, `claims` dated ones, `entities` what it is about.

    `chunks` are the evidence that an answer needs, `texts` what it is to be asked of where that is not the chunks.
    """

    kind: Kind
    chunks: tuple[str, ...]
    entities: tuple[Entity, ...] = ()
    told: tuple[Told, ...] = ()
    claims: tuple[Claim, ...] = ()
    times: tuple[str, ...] = ()
    other: str = ""
    texts: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """A key of what the question is grounded in."""
        parts = [e.id for e in self.entities], [t.sentence for t in self.told], [c.id for c in self.claims]
        return key(self.kind, self.chunks, *parts, self.times, self.other)


@dataclass(frozen=True, slots=True)
class Material:
    """What grounds are found in: sentences, entities, claims, clusters, the time of every chunk's document.

    `ties` and `gaps` stand in for sentences that begin with what they are about, where texts have few of these.
    """

    told: Sequence[Told]
    ties: Sequence[Told] = ()
    gaps: Sequence[Told] = ()
    entities: Sequence[Entity] = ()
    claims: Sequence[Claim] = ()
    clusters: Sequence[Cluster] = ()
    times: Mapping[str, str] = field(default_factory=dict)
    hops: int = 4

    def find_local(self) -> Iterator[Ground]:
        """One sentence on an entity."""
        for one in _unique_sentences(self.told):
            yield Ground("local", (one.chunk,), (one.subject, one.object), (one,))

    def find_bridges(self) -> Iterator[Ground]:
        """Chains of sentences of different chunks, and what alone links two things."""
        facts, about = _group_by_subject(self.told), _rank_partners(self.told)
        for name in sorted(facts):
            chains = (c for one in facts[name] for c in _extend_chain((one,), facts, self.hops))
            for chain in islice(chains, _EACH):
                yield Ground("bridge", tuple(t.chunk for t in chain), (chain[0].subject, chain[-1].object), chain)
        # what alone links two things that no chunk names together: a fact on the one, and one on what it names
        near = {name: {e.id for e in found} for name, found in about.items()}
        for one in self.told:
            if not one.named:
                continue
            for after in islice((t for t in facts.get(one.object.id, ()) if t.named), _HUB):
                ends = one.subject, after.object
                shared = near[ends[0].id] & near[ends[1].id]
                if shared == {one.object.id} and not set(ends[0].chunks) & set(ends[1].chunks):
                    yield Ground("bridge", (one.chunk, after.chunk), (one.object, *ends), (one, after), other="link")
                    break

    def find_intersections(self) -> Iterator[Ground]:
        """Two sentences of different chunks on one entity."""
        by = _group_by_subject(_unique_sentences(self.told))
        for name in sorted(by):
            pairs = (  # of different chunks, which tell different things
                (one, other)
                for one, other in combinations(by[name], 2)
                if one.chunk != other.chunk
                and one.object.id != other.object.id
                and rouge_1(one.rest, other.rest) < _ALIKE
            )
            for pair in islice(pairs, _EACH):
                yield Ground("intersection", tuple(t.chunk for t in pair), (pair[0].subject,), pair)

    def find_comparisons(self) -> Iterator[Ground]:
        """Two entities of one type that have something in common."""
        by: dict[tuple[str, str], list[Told]] = defaultdict(list)
        for one in self.told:
            if one.named and fold(one.subject.type) not in _VAGUE:
                by[one.object.id, fold(one.subject.type)].append(one)
        for place in sorted(by):
            two = combinations(by[place] if len(by[place]) <= _SHARED else (), 2)
            pairs = (p for p in two if p[0].subject.id != p[1].subject.id and p[0].chunk != p[1].chunk)
            for pair in islice(pairs, _EACH):
                both = (pair[0].subject, pair[1].subject)
                yield Ground("comparison", tuple(t.chunk for t in pair), (*both, pair[0].object), pair)

    def find_temporal(self) -> Iterator[Ground]:
        """Two dated claims, or one entity in documents of different times."""
        # claims of different chunks that do not overlap in time: pairs that share an entity, and some that do not
        named = {e.id: e for e in self.entities}
        complete = (c for c in self.claims if c.starts and c.ends and c.subject in named and remove_date(c))
        about = ((c, named[c.subject]) for c in complete)
        whole = (c for c, entity in about if has_proper_name(entity) and match_subject(c.description, entity))
        known = sorted(whole, key=lambda c: (c.starts, c.id))
        sharing = defaultdict[str, list[Claim]](list)
        for claim in known:
            for name in dict.fromkeys((claim.subject, fold(claim.object))):
                sharing[name].append(claim)
        pairs = [islice(filter(_are_apart_in_time, combinations(sharing[n], 2)), _EACH) for n in sorted(sharing)]
        far = filter(_are_apart_in_time, zip(known, known[len(known) // 2 :], strict=False))
        for group in (*pairs, far):
            for pair in group:
                subjects = tuple(dict.fromkeys(named[c.subject] for c in pair))
                yield Ground("temporal", tuple(c.source.chunk for c in pair), subjects, claims=pair)
        for entity in (e for e in self.entities if not is_heading(e)):
            dated = sorted((self.times[c], c) for c in entity.chunks if self.times.get(c))
            if len(dated) > 1 and dated[0][0][:4] != dated[-1][0][:4]:
                first, last = dated[0], dated[-1]
                yield Ground("temporal", (first[1], last[1]), (entity,), times=(first[0][:4], last[0][:4]))

    def find_ambiguous_names(self) -> Iterator[Ground]:
        """Entities that share a whole name, and after them those that share the name of a person."""
        named = [e for e in self.entities if has_proper_name(e) and not is_heading(e)]
        whole, part = defaultdict[str, list[Entity]](list), defaultdict[str, list[Entity]](list)
        for entity in named:
            for name in dict.fromkeys(map(fold, (entity.name, *entity.aliases))):
                whole[name].append(entity)
            for word in _name_parts(entity):
                part[word].append(entity)
        surnames = {_name_parts(e)[-1] for e in named if fold(e.type) == "person" and _name_parts(e)}
        about = _rank_partners(self.told)
        for shared, names in ((whole, set(whole)), (part, surnames)):
            for name in sorted(names):
                yield from islice(_tell_apart(name, shared[name], about), _EACH)

    def find_themes(self) -> Iterator[Ground]:
        """Clusters of the hierarchy."""
        named = {e.id: e for e in self.entities}
        for cluster in self.clusters:
            members = [named[n] for n in cluster.entities if n in named and not is_heading(named[n])]
            members.sort(key=lambda e: (not has_proper_name(e), -e.degree, e.id))
            statements = (*cluster.summary, *(s for f in cluster.findings for s in f.statements))
            cited = tuple(dict.fromkeys(source.chunk for s in statements for source in s.sources))
            chunks = cited or tuple(dict.fromkeys(c for e in members[:_LEAST] for c in e.chunks))[:_MOST]
            if len(members) >= _LEAST and len(chunks) > 1:
                yield Ground("global", chunks, tuple(members[:_LEAST]), texts=(f"{cluster.title}\n{cluster.text}",))

    def find_adversarial(self) -> Iterator[Ground]:
        """A sentence with another object than any sentence on its subject, or of its wording, names."""
        with_subject, with_head = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for one in self.told:
            with_subject[one.subject.id].add(one.object.id)
            with_subject[one.object.id].add(one.subject.id)
            with_head[fold(one.head)].add(one.object.id)
        by_type: dict[str, list[Entity]] = defaultdict(list)
        for _, entity in sorted({t.object.id: t.object for t in self.told if t.linked}.items()):
            by_type[fold(entity.type)].append(entity)
        for one in (t for t in _unique_sentences(self.told) if t.linked):
            listed = by_type[fold(one.object.type)]
            turn = int(key(one.sentence)[:8], 16) % len(listed)
            taken = with_subject[one.subject.id] | with_head[fold(one.head)] | {one.subject.id}
            turned = (e for e in (*listed[turn:], *listed[:turn]) if e.id not in taken)
            other = next((e for e in turned if not set(one.subject.chunks) & set(e.chunks)), None)
            if other:
                yield Ground("adversarial", (one.chunk,), (one.subject, other), (one,), other=other.name)


def find_grounds(kind: Kind, material: Material) -> list[Ground]:
    """All grounds of a class that the material gives, each once; long lists are cut by entity, not by place."""
    return list({g.id: g for g in _FIND[kind](material)}.values())


def find_looser_grounds(kind: Kind, material: Material) -> list[Ground]:
    """Grounds of a class where sentences do not give enough: what is tied in a chunk, and sentences with a gap."""
    if kind == "local":
        return find_grounds(kind, replace(material, told=material.gaps))
    if kind in ("bridge", "comparison", "disambiguation"):
        return find_grounds(kind, replace(material, told=material.ties))
    return []


def _group_by_subject(told: Iterable[Told]) -> dict[str, list[Told]]:
    found: dict[str, list[Told]] = defaultdict(list)
    for one in told:
        found[one.subject.id].append(one)
    return found


def _unique_sentences(told: Iterable[Told]) -> list[Told]:
    """The sentences, each once, with the object that can be described instead of named where there is one."""
    best: dict[tuple[str, str], Told] = {}
    for one in told:
        place = (one.subject.id, one.sentence)
        if place not in best or (one.linked and not best[place].linked):
            best[place] = one
    return list(best.values())


def _extend_chain(begun: tuple[Told, ...], by: Mapping[str, list[Told]], most: int) -> Iterator[tuple[Told, ...]]:
    """Chains that go on from `begun`, the longest first: each sentence of a chunk of its own, no entity twice."""
    if not begun[-1].linked or len(begun) >= most:
        return
    seen, used = {t.subject.id for t in begun}, {t.chunk for t in begun}
    for after in _unique_sentences(by.get(begun[-1].object.id, ())):
        if after.chunk in used or after.object.id in seen:
            continue
        if any(fold(t.subject.name) in fold(after.rest) for t in begun):  # it names what the question asks for
            continue
        yield from _extend_chain((*begun, after), by, most)
        yield (*begun, after)


def _are_apart_in_time(pair: tuple[Claim, Claim]) -> bool:
    """Whether the first claim ends before the second begins, and another chunk makes it."""
    return pair[0].ends < pair[1].starts and pair[0].source.chunk != pair[1].source.chunk


def remove_date(claim: Claim) -> str:
    """What a claim says, without its date; empty where a year stays in it, or where it is no one sentence."""
    text = " ".join(_DATE.sub("", claim.description).split()).rstrip(". ")
    whole = 3 <= len(text.split()) <= _LONG and ". " not in text and not depends_on_context(text)
    return text if whole and not re.search(r"\d{4}", text) else ""


def _name_parts(entity: Entity) -> list[str]:
    """The first and the last word of a name of several, where they are names themselves."""
    listed = entity.name.split()
    ends = dict.fromkeys((listed[0], listed[-1]) if len(listed) > 1 else ())
    found = [fold(w) for w in ends if w[:1].isupper() and len(w) > 2 and w.isalpha()]
    return [w for w in found if not known_form(w) and w not in COUNTRY]


def _tell_apart(name: str, alike: Sequence[Entity], about: Mapping[str, Sequence[Entity]]) -> Iterator[Ground]:
    """Each of some entities that a name may mean, told from the others by what only it is told with."""
    for one in alike:
        others = [
            e for e in alike if e.id != one.id and (fold(e.name) == fold(one.name) or not _shares_name(e.name, [one]))
        ]
        if not others:
            continue
        taken = {c for e in others for c in e.chunks}
        foreign = {p.id for e in others for p in about.get(e.id, ())} | {e.id for e in alike}
        mark = next((p for p in about.get(one.id, ()) if p.id not in foreign and not _shares_name(p.name, alike)), None)
        chunks = tuple(c for c in one.chunks if c not in taken)
        if mark and chunks and len(chunks) <= _MOST:
            yield Ground("disambiguation", chunks, (one, mark, *others[:1]), other=name)


def _shares_name(name: str, alike: Sequence[Entity]) -> bool:
    return any(fold(name) in fold(e.name) or fold(e.name) in fold(name) for e in alike)


def _rank_partners(told: Iterable[Told]) -> dict[str, list[Entity]]:
    """What each entity is told with, most often first."""
    count: dict[str, Counter[str]] = defaultdict(Counter)
    entities: dict[str, Entity] = {}
    for one in told:
        for a, b in ((one.subject, one.object), (one.object, one.subject)):
            count[a.id][b.id] += 1
            entities[b.id] = b
    return {a: [entities[b] for b, _ in sorted(n.items(), key=lambda p: (-p[1], p[0]))] for a, n in count.items()}


_FIND: Mapping[Kind, Callable[[Material], Iterator[Ground]]] = {
    "local": Material.find_local,
    "bridge": Material.find_bridges,
    "intersection": Material.find_intersections,
    "comparison": Material.find_comparisons,
    "temporal": Material.find_temporal,
    "disambiguation": Material.find_ambiguous_names,
    "global": Material.find_themes,
    "adversarial": Material.find_adversarial,
}
