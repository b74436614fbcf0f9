"""The laws: what must stay of an answer when documents or the question are changed in a way that means nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from laws import corpora
from laws.asking import LEVELS, Asked, Seen, level_kept
from laws.corpora import COPY, CORPORA, new_names
from sensegraph.corpus.corpus import Corpus
from sensegraph.methods import METHODS
from sensegraph.questions import Scope

Observed = Callable[[Asked, str, str], str]
OFFLINE, BOTH = ("offline",), ("offline", "scripted")


@dataclass(frozen=True, slots=True)
class Law:
    """`keeps` is the level that every method keeps, `same` and `may` say so in a sentence each."""

    keeps: str
    same: str
    may: str
    observe: Observed
    engines: tuple[str, ...] = OFFLINE


@dataclass(frozen=True, slots=True)
class Weaker:
    """A method that keeps less, and why it need not keep more."""

    keeps: str
    why: str


# ── what is observed ──


def before(asked: Asked, name: str, method: str) -> Seen:
    """The answer from the documents as they are."""
    return asked.seen(asked.built(name, corpora.as_they_are), method, CORPORA[name].question)


def one_line(text: str) -> str:
    """`text` without its line ends and indents."""
    return " ".join(text.split())


def when_wrapped(change: corpora.Change) -> Observed:
    """What is kept when white space is not compared."""

    def observe(asked: Asked, name: str, method: str) -> str:
        after = asked.seen(asked.built(name, change), method, CORPORA[name].question)
        return level_kept(before(asked, name, method).told(one_line), after.told(one_line))

    return observe


def with_crlf(asked: Asked, name: str, method: str) -> str:
    """What is kept when line ends are compared as one character."""
    after = asked.seen(asked.built(name, corpora.with_crlf), method, CORPORA[name].question)
    return level_kept(before(asked, name, method), after.told(lambda text: text.replace("\r\n", "\n")))


def in_another_order(asked: Asked, name: str, method: str) -> str:
    """What is kept of everything."""
    after = asked.seen(asked.built(name, corpora.in_another_order), method, CORPORA[name].question)
    return level_kept(before(asked, name, method), after)


def under_other_ids(asked: Asked, name: str, method: str) -> str:
    """What is kept when each new id is read as the old one."""
    old = {new: old for old, new in new_names(CORPORA[name].documents).items()}
    after = asked.seen(asked.built(name, corpora.renamed), method, CORPORA[name].question)
    return level_kept(before(asked, name, method), after.told(name=lambda new: old[new]))


def when_doubled(asked: Asked, name: str, method: str) -> str:
    """What is kept when a copy is read as the first one."""
    after = asked.seen(asked.built(name, corpora.doubled), method, CORPORA[name].question)
    return level_kept(before(asked, name, method), after.told(name=lambda one: one.removesuffix(COPY)))


def beside_strangers(asked: Asked, name: str, method: str) -> str:
    """What is kept; nothing where a document of the other corpus is cited."""
    after = asked.seen(asked.built(name, corpora.with_strangers), method, CORPORA[name].question)
    own = {d.id for d in CORPORA[name].documents}
    return level_kept(before(asked, name, method), after) if {d for d, _ in after.cited} <= own else "none"


def added_and_removed(asked: Asked, name: str, method: str) -> str:
    """What is kept after a document came and went."""
    return level_kept(before(asked, name, method), asked.seen(visited(asked, name), method, CORPORA[name].question))


@cache
def visited(asked: Asked, name: str) -> Corpus:
    """A corpus that a document was added to and taken away from, with communities found afresh."""
    made, guest = asked.copied(f"{name}-visited", asked.built(name, corpora.as_they_are)), CORPORA[name].guest
    made.add(guest)
    made.build()
    assert len(made.index().catalogue.documents) == len(CORPORA[name].documents) + 1
    made.remove(guest.id)
    made.build(fresh=True)
    return made


def asked_in(case: Callable[[str], str]) -> Observed:
    """What is kept when the question is written in another case."""

    def observe(asked: Asked, name: str, method: str) -> str:
        after = asked.seen(asked.built(name, corpora.as_they_are), method, case(CORPORA[name].question))
        return level_kept(before(asked, name, method), after)

    return observe


def within_everything(asked: Asked, name: str, method: str) -> str:
    """What is kept within a filter that keeps everything; nothing where another note is added than that it does."""
    number = len(CORPORA[name].documents)
    made = asked.built(name, corpora.as_they_are)
    first, after = (
        before(asked, name, method),
        asked.seen(made, method, CORPORA[name].question, Scope(documents=("*",))),
    )
    noted = tuple(n for n in after.notes if n != f"the filter leaves {number} of {number} documents")
    return level_kept(first, after) if noted == first.notes else "none"


# ── the laws ──

LAWS: Mapping[str, Law] = MappingProxyType(
    {
        "wrapped at 40 columns": Law(
            "answer",
            "The answer has the same text and cites the same sentences, but for white space.",
            "Where chunks begin and end, and with that the order and the scores of the evidence.",
            when_wrapped(corpora.wrapped_at_40),
        ),
        "wrapped at 72 columns": Law(
            "answer",
            "As at 40 columns.",
            "As at 40 columns.",
            when_wrapped(corpora.wrapped_at_72),
        ),
        "CRLF": Law(
            "answer",
            "A file with CRLF is byte for byte the document that it is with LF, so that nothing is read or computed "
            "anew. A text that a program hands over with CRLF keeps it, for offsets are its own: the answer has the "
            "same text and cites the same sentences, but for the line ends.",
            "Of a text that is handed over: the order and the scores of the evidence.",
            with_crlf,
        ),
        "another order": Law(
            "all",
            "The index is the same, byte for byte, and so is every answer with its evidence, its order and its scores.",
            "Nothing.",
            in_another_order,
            BOTH,
        ),
        "other ids": Law(
            "all",
            "The index holds the same names, relations, claims, communities and vectors; every answer and its "
            "evidence, with order and scores, are the same under the new ids.",
            "The order in which what several documents say of one thing is listed.",
            under_other_ids,
            BOTH,
        ),
        "every document twice": Law(
            "some",
            "Every chunk and its vector stand there twice, and a sentence that was cited is still cited, from either "
            "copy.",
            "Half of what fits into a budget is a copy, the numbers of documents double, and the offline engine, which "
            "learns from the corpus what a name is, learns from more.",
            when_doubled,
        ),
        "beside strangers": Law(
            "some",
            "A question about one of two corpora that name nothing in common cites that one alone, and a sentence that "
            "it cited before.",
            "Weights of words, limits on what is common, communities, and what the offline engine learns from the "
            "corpus; with these the order of the evidence and which further sentences are cited.",
            beside_strangers,
        ),
        "added and taken away": Law(
            "all",
            "With communities found afresh the index is the same, byte for byte, and so is every answer.",
            "Nothing. (Without `--fresh`, communities begin from those that were there before.)",
            added_and_removed,
            BOTH,
        ),
        "lower case": Law(
            "sentences",
            "The same sentences are cited.",
            "The answer's own words where it repeats those of the question, and the order of the evidence.",
            asked_in(str.lower),
        ),
        "upper case": Law(
            "some",
            "A sentence that was cited is still cited.",
            "In capitals alone every word may be an abbreviation, so that none is left out as a function word (US, IT "
            "and WHO are none): “the” and “who” are sought too.",
            asked_in(str.upper),
        ),
        "a filter that keeps everything": Law(
            "all",
            "The answer and its evidence are the same, with order and scores.",
            "One note says that the filter leaves all documents.",
            within_everything,
            BOTH,
        ),
    }
)
ENGINES: Mapping[str, tuple[str, ...]] = MappingProxyType({"offline": tuple(CORPORA), "scripted": ("harbour",)})
_TABLE = tomllib.loads((Path(__file__).parent / "exceptions.toml").read_text(encoding="utf-8"))
REASONS: Mapping[str, str] = MappingProxyType(_TABLE.pop("reasons"))


def weaker(law: str, engine: str, method: str) -> Weaker | None:
    """What `method` keeps where it need not keep what the law says."""
    found = _TABLE.get(law, {}).get(engine, {}).get(method)
    return Weaker(*found) if found else None


def least(law: str, engine: str, method: str) -> str:
    """The level that `method` must keep."""
    found = weaker(law, engine, method)
    return found.keeps if found else LAWS[law].keeps


def reaches(level: str, wanted: str) -> bool:
    """Whether a level is the wanted one or above."""
    return LEVELS.index(level) <= LEVELS.index(wanted)


def exceptions() -> list[tuple[str, str, str, Weaker]]:
    """All of them as (law, engine, method, what it keeps and why)."""
    listed = [
        (law, engine, method) for law, engines in _TABLE.items() for engine, of in engines.items() for method in of
    ]
    return [(*one, found) for one in listed if (found := weaker(*one))]


def cells() -> list[tuple[str, str, str, str]]:
    """Every (law, engine, corpus, method) that is observed."""
    return [
        (law, engine, name, method)
        for law, one in LAWS.items()
        for engine in one.engines
        for name in ENGINES[engine]
        for method in METHODS
    ]
