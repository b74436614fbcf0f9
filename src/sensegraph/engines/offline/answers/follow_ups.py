"""Questions to ask next: about the things and links of a context that the question does not mention (drift §7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sensegraph.engines.offline.answers.coverage import NAME, Sought, held, rarity
from sensegraph.engines.offline.answers.focusing import Relevant
from sensegraph.engines.offline.answers.overview import named
from sensegraph.engines.offline.answers.said import Said
from sensegraph.engines.offline.reports.key_phrases import key_phrases
from sensegraph.engines.offline.reports.prose import stems
from sensegraph.engines.offline.reports.shown_names import heads, natural, unnamed
from sensegraph.language.detection import detect_by_stop_words as language
from sensegraph.language.tagging import tags
from sensegraph.language.text import HAN, WORD
from sensegraph.types import Passage

MOST = 5  # questions of one context (drift §3)
PAIRS = 3  # of them on how two things are related
PHRASES = 6  # key phrases of the text that count as things of it
LONGEST = 6  # words of a thing's name; a longer title is a clause
READ = 40  # sentences in which things are looked for: the most relevant
BEARING = 3.0  # what standing in the sentences that bear on the question counts, beside strength
LINK = 0.25  # what a link's weight adds to the worth of its ends, and as much if the question names one
STRONGER = 0.7  # share of the worthier end in the worth of a link
BETWEEN = " — "  # stands between the ends in the title of a relation

Ranked = tuple[tuple[str, ...], float]  # one name or two, and what asking about them is worth

_ASKS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "en": ("How are {0} and {1} related?", "What is said about {0}?"),
        "de": ("Wie hängt {0} mit {1} zusammen?", "Was wird über {0} gesagt?"),
        "fr": ("Quel est le lien entre {0} et {1} ?", "Que dit-on de {0} ?"),
        "es": ("¿Cómo se relaciona {0} con {1}?", "¿Qué se dice de {0}?"),
        "it": ("Che rapporto c'è tra {0} e {1}?", "Che cosa si dice di {0}?"),
        "nl": ("Hoe hangt {0} samen met {1}?", "Wat wordt er over {0} gezegd?"),
        "pt": ("Como se relaciona {0} com {1}?", "O que se diz de {0}?"),
        "zh": ("{0}与{1}有什么关系？", "关于{0}说了什么？"),
    }
)
_OWN = tuple(
    re.compile("^" + re.escape(ask).replace(r"\{0\}", "(.+?)").replace(r"\{1\}", "(.+)") + "$")
    for asks in _ASKS.values()
    for ask in asks
)
_ARTICLE = re.compile(r"^(?:the|an?) (?=[^\W_])", re.IGNORECASE)
_PROPER = re.compile(r"(?<=[\w,] )[^\W\d_a-zß-öø-ÿ][\w’'\-]+(?: (?:of |de |van |von )?[^\W\d_a-zß-öø-ÿ][\w’'\-]+){0,3}")


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that may be asked about: its name, its stems, its strength in the context (0–1)."""

    name: str
    stems: tuple[str, ...]
    strength: float


def bare(question: str) -> str:
    """The things that a question of ours names, without its words of asking; any other question as it is."""
    match = next((m for own in _OWN if (m := own.match(question.strip()))), None)
    return f"{', '.join(match.groups())}?" if match else question


def follow_ups(
    wanted: Sought, passages: Sequence[Passage], found: Sequence[Relevant], said: Sequence[Said], code: str
) -> tuple[str, ...]:
    """At most five questions, most useful first, no thing in two: what is not mentioned, and how things link to it.

    A thing is useful by its strength in the context (degree, rating, order), and by how much the sentences that hold
    it bear on the question. One that the question names is asked about only together with another.
    """
    told = {id(r.said) for r in found}
    read = [*found[:READ], *(Relevant(s, 0.0) for s in said if id(s) not in told)][:READ]
    share = {p.id: _share(wanted, p, code) for p in passages}
    things = {t.name: t for t in _things(passages, share, read, code)}
    worth = {name: t.strength + BEARING * _bearing(t, read) for name, t in things.items()}
    known = {name for name, t in things.items() if _mentioned(t, wanted)}
    ranked: list[Ranked] = [((name,), worth[name]) for name in things if name not in known]
    ranked += _links(passages, share, things, worth, known)
    asked: dict[tuple[str, ...], str] = {}
    taken: set[str] = set()
    for names, _ in sorted(ranked, key=lambda item: (-item[1], item[0])):
        own = {stem for name in names if name not in known for stem in things[name].stems}
        full = len(asked) == MOST or (len(names) > 1 and sum(len(n) > 1 for n in asked) == PAIRS)
        if not full and taken.isdisjoint(own):
            taken |= own
            asked[names] = _ask(names, read, code)
    return tuple(asked.values())


def _ask(names: tuple[str, ...], read: Sequence[Relevant], code: str) -> str:
    """The question about one thing or two."""
    how, what = _ASKS.get(code, _ASKS["en"])
    return (how if len(names) > 1 else what).format(*(_shown(name, read, code) for name in names))


def _share(wanted: Sought, passage: Passage, code: str) -> float:
    """0.4–1: how far a passage's own strength counts, by what it holds of the question."""
    texts = (passage.title, passage.text, *(q.text for q in passage.quotes))
    return 0.4 + 0.6 * held(wanted, "\n".join(texts), code).whole if wanted else 1.0


def _shown(name: str, read: Sequence[Relevant], code: str) -> str:
    """A name as the sentences mostly have it: in its own case, and with its article in English."""
    texts = [r.said.raw for r in read]
    form = natural(name, texts) if code == "en" else name
    if code != "en" or form[:1].isupper():
        return form
    alone = re.compile(rf"(\bthe )?\b{re.escape(form)}\b", re.IGNORECASE)
    uses = [match[1] for text in texts for match in alone.finditer(text)]
    return f"the {form}" if 2 * sum(map(bool, uses)) > len(uses) else form


def _mentioned(thing: Thing, wanted: Sought) -> bool:
    """Whether the question speaks of a thing: of all its words, or of a part of it by name."""
    weights = [wanted.weights.get(stem, 0.0) for stem in thing.stems]
    return all(weights) or any(weight == NAME for weight in weights)


def _bearing(thing: Thing, read: Sequence[Relevant]) -> float:
    """The mean relevance of the two best sentences that hold the thing."""
    own = set(thing.stems)
    best = sorted((r.score for r in read if own <= set(r.said.terms)), reverse=True)[:2]
    return sum(best) / 2


def _links(
    passages: Sequence[Passage],
    share: Mapping[str, float],
    things: Mapping[str, Thing],
    worth: Mapping[str, float],
    known: set[str],
) -> list[Ranked]:
    """Pairs that the context links and the question does not both name, with their worth."""
    pairs: dict[tuple[str, ...], float] = {}
    for a, b, weight in _pairs(passages, share, _tidied(things)):
        if not {a, b} <= known and things[a].stems != things[b].stems:
            pair = (b, a) if b in known else (a, b)
            less, more = sorted((worth[a], worth[b]))
            value = STRONGER * more + (1 - STRONGER) * less + LINK * weight + LINK * (pair[0] in known)
            pairs[pair] = max(pairs.get(pair, 0.0), value)
    return list(pairs.items())


def _tidied(things: Mapping[str, Thing]) -> Mapping[str, str]:
    """Every name as a passage may write it → the name of its thing."""
    return {name.casefold(): name for name in things}


def _pairs(
    passages: Sequence[Passage], share: Mapping[str, float], names: Mapping[str, str]
) -> Iterator[tuple[str, str, float]]:
    """The ends of relations, and the first two names of a report's title, with a weight of 0–1."""
    most = max((p.score for p in passages if p.kind == "relation"), default=0.0) or 1.0
    for p in passages:
        ends = p.title.split(BETWEEN, 1) if p.kind == "relation" else _titled(p) if p.kind == "report" else []
        both = [names.get(_clean(end).casefold(), "") for end in ends[:2]]
        if len(both) == 2 and all(both) and both[0] != both[1]:
            yield both[0], both[1], share[p.id] * (p.score / most if p.kind == "relation" else p.score / 10)


def _titled(passage: Passage) -> list[str]:
    """The names that a report's title lists; none where the title is a clause."""
    names = heads(passage.title)
    words = WORD.findall(passage.title)
    clause = language(passage.title) == "en" and not set("vmo").isdisjoint(tags([w.casefold() for w in words]))
    return [] if clause or any(len(name.split()) > LONGEST for name in names) else names


def _things(
    passages: Sequence[Passage], share: Mapping[str, float], read: Sequence[Relevant], code: str
) -> Iterator[Thing]:
    """The entities, the ends of relations, the names in titles of reports, and names and phrases of the sentences."""
    seen: set[tuple[str, ...]] = set()
    for name, strength in _named_things(passages, share, read, code):
        clean = _clean(name)
        own = tuple(dict.fromkeys(stems(clean, code)))
        if own and own not in seen and _tellable(clean):
            seen.add(own)
            yield Thing(clean, own, strength * max(rarity(stem, code) for stem in own))


def _clean(name: str) -> str:
    """A name without marks around it, and without an English article."""
    return _ARTICLE.sub("", name.strip(" .,;:'\"“”"))


def _named_things(
    passages: Sequence[Passage], share: Mapping[str, float], read: Sequence[Relevant], code: str
) -> Iterator[tuple[str, float]]:
    most = max((p.score for p in passages if p.kind == "entity"), default=0.0) or 1.0
    for p in passages:
        if p.kind == "entity":
            yield p.title, share[p.id] * (0.5 + 0.5 * p.score / most)
        elif p.kind == "relation" and BETWEEN in p.title:
            yield from ((end, share[p.id] * 0.4) for end in p.title.split(BETWEEN, 1))
        elif p.kind == "report":
            yield from ((name, share[p.id] * (0.5 + p.score / 20 - 0.1 * i)) for i, name in enumerate(_titled(p)))
    texts = [r.said.text for r in read]
    yield from ((name, 0.2) for text in texts for name in _proper(text, code))
    if code == "en":
        yield from ((phrase.text, 0.3) for phrase in key_phrases(texts, PHRASES))


def _proper(text: str, code: str) -> Iterable[str]:
    """Names written with capitals inside a sentence; in German only those of several words."""
    found = _PROPER.findall(text)
    return [name for name in found if " " in name] if code == "de" else found


def _tellable(name: str) -> bool:
    """Whether a name says enough to be asked about: no number, no span of time, no word about the corpus."""
    long = len(name.split()) > LONGEST or (len(name) > 20 and HAN.search(name) is not None)
    return not long and not unnamed(name) and (HAN.search(name) is not None or named(name))
