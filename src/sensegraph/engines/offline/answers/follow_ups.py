"""Questions to ask next: about the things and links of a context that the question does not mention (drift §7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sensegraph.engines.offline.answers.key_phrases import find_key_phrases
from sensegraph.engines.offline.answers.overviews import says_subject
from sensegraph.engines.offline.answers.question_coverage import NAME, WantedWords, measure_coverage, weigh_rarity
from sensegraph.engines.offline.answers.sentence_relevance import RelevantSentence
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import stem_text
from sensegraph.engines.offline.reports.shown_names import names_nothing, show_natural_case, split_title
from sensegraph.language.text import HAN, WORD, detect_by_stop_words, tag_words
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
class Topic:
    """Something that may be asked about: its name, its stems, its strength in the context (0–1)."""

    name: str
    stems: tuple[str, ...]
    strength: float


def strip_asking_words(question: str) -> str:
    """The things that a question of ours names, without its words of asking; any other question as it is."""
    match = next((m for own in _OWN if (m := own.match(question.strip()))), None)
    return f"{', '.join(match.groups())}?" if match else question


def suggest_follow_ups(
    wanted: WantedWords,
    passages: Sequence[Passage],
    found: Sequence[RelevantSentence],
    sentences: Sequence[SourceSentence],
    code: str,
) -> tuple[str, ...]:
    """At most five questions, most useful first, no thing in two: what is not mentioned, and how things link to it.

    A thing is useful by its strength in the context (degree, rating, order), and by how much the sentences that hold
    it bear on the question. One that the question names is asked about only together with another.
    """
    told = {id(r.sentence) for r in found}
    read = [*found[:READ], *(RelevantSentence(s, 0.0) for s in sentences if id(s) not in told)][:READ]
    share = {p.id: 1.0 for p in passages}  # how far a passage's strength counts, by what it holds of the question
    for p in passages if wanted else ():
        texts = (p.title, p.text, *(q.text for q in p.quotes))
        share[p.id] = 0.4 + 0.6 * measure_coverage(wanted, "\n".join(texts), code).whole
    things = {t.name: t for t in _find_things(passages, share, read, code)}
    worth: dict[str, float] = {}
    known: set[str] = set()  # of which the question speaks: of all their words, or of a part of them by name
    for name, thing in things.items():
        own = set(thing.stems)
        best = sorted((r.score for r in read if own <= set(r.sentence.terms)), reverse=True)[:2]
        worth[name] = thing.strength + BEARING * (sum(best) / 2)
        weights = [wanted.weights.get(stem, 0.0) for stem in thing.stems]
        if all(weights) or any(weight == NAME for weight in weights):
            known.add(name)
    ranked: list[Ranked] = [((name,), worth[name]) for name in things if name not in known]
    ranked += _rank_links(passages, share, things, worth, known)
    how, what = _ASKS.get(code, _ASKS["en"])
    asked: dict[tuple[str, ...], str] = {}
    taken: set[str] = set()
    for names, _ in sorted(ranked, key=lambda item: (-item[1], item[0])):
        own = {stem for name in names if name not in known for stem in things[name].stems}
        full = len(asked) == MOST or (len(names) > 1 and sum(len(n) > 1 for n in asked) == PAIRS)
        if not full and taken.isdisjoint(own):
            taken |= own
            asked[names] = (how if len(names) > 1 else what).format(*(_show_name(name, read, code) for name in names))
    return tuple(asked.values())


def _show_name(name: str, read: Sequence[RelevantSentence], code: str) -> str:
    """A name as the sentences mostly have it: in its own case, and with its article in English."""
    texts = [r.sentence.raw for r in read]
    form = show_natural_case(name, texts) if code == "en" else name
    if code != "en" or form[:1].isupper():
        return form
    alone = re.compile(rf"(\bthe )?\b{re.escape(form)}\b", re.IGNORECASE)
    uses = [match[1] for text in texts for match in alone.finditer(text)]
    return f"the {form}" if 2 * sum(map(bool, uses)) > len(uses) else form


def _rank_links(
    passages: Sequence[Passage],
    share: Mapping[str, float],
    things: Mapping[str, Topic],
    worth: Mapping[str, float],
    known: set[str],
) -> list[Ranked]:
    """Pairs that the context links and the question does not both name, with their worth.

    They are the ends of relations, and the first two names of a report's title.
    """
    written = {name.casefold(): name for name in things}  # as a passage may write it → the name of its thing
    most = max((p.score for p in passages if p.kind == "relation"), default=0.0) or 1.0
    pairs: dict[tuple[str, ...], float] = {}
    for p in passages:
        ends = p.title.split(BETWEEN, 1) if p.kind == "relation" else _list_title(p) if p.kind == "report" else []
        both = [written.get(_strip_marks(end).casefold(), "") for end in ends[:2]]
        if len(both) < 2 or not all(both) or things[both[0]].stems == things[both[1]].stems or known.issuperset(both):
            continue
        weight = share[p.id] * (p.score / most if p.kind == "relation" else p.score / 10)
        pair = (both[1], both[0]) if both[1] in known else (both[0], both[1])
        less, more = sorted((worth[both[0]], worth[both[1]]))
        value = STRONGER * more + (1 - STRONGER) * less + LINK * weight + LINK * (pair[0] in known)
        pairs[pair] = max(pairs.get(pair, 0.0), value)
    return list(pairs.items())


def _list_title(passage: Passage) -> list[str]:
    """The names that a report's title lists; none where the title is a clause."""
    names = split_title(passage.title)
    words = WORD.findall(passage.title)
    clause = detect_by_stop_words(passage.title) == "en" and not set("vmo").isdisjoint(
        tag_words([w.casefold() for w in words])
    )
    return [] if clause or any(len(name.split()) > LONGEST for name in names) else names


def _find_things(
    passages: Sequence[Passage], share: Mapping[str, float], read: Sequence[RelevantSentence], code: str
) -> Iterator[Topic]:
    """The entities, the ends of relations, the names in titles of reports, and names and phrases of the sentences.

    Left out is what says too little to be asked about: a number, a span of time, a word about the corpus.
    """
    most = max((p.score for p in passages if p.kind == "entity"), default=0.0) or 1.0
    names: list[tuple[str, float]] = []
    for p in passages:
        if p.kind == "entity":
            names.append((p.title, share[p.id] * (0.5 + 0.5 * p.score / most)))
        elif p.kind == "relation" and BETWEEN in p.title:
            names += ((end, share[p.id] * 0.4) for end in p.title.split(BETWEEN, 1))
        elif p.kind == "report":
            names += ((n, share[p.id] * (0.5 + p.score / 20 - 0.1 * i)) for i, n in enumerate(_list_title(p)))
    texts = [r.sentence.text for r in read]
    # names written with capitals inside a sentence; in German only those of several words
    names += ((name, 0.2) for t in texts for name in _PROPER.findall(t) if code != "de" or " " in name)
    if code == "en":
        names += ((phrase.text, 0.3) for phrase in find_key_phrases(texts, PHRASES))
    seen: set[tuple[str, ...]] = set()
    for name, strength in names:
        clean = _strip_marks(name)
        own = tuple(dict.fromkeys(stem_text(clean, code)))
        han = HAN.search(clean) is not None
        if not own or own in seen or len(clean.split()) > LONGEST or (len(clean) > 20 and han):
            continue
        if not names_nothing(clean) and (han or says_subject(clean)):
            seen.add(own)
            yield Topic(clean, own, strength * max(weigh_rarity(stem, code) for stem in own))


def _strip_marks(name: str) -> str:
    """A name without marks around it, and without an English article."""
    return _ARTICLE.sub("", name.strip(" .,;:'\"“”"))
